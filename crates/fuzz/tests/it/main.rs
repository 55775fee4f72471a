//! Every target holds for its corpus and for what is near it, and no target lacks a part.

use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use hostler_fuzz::{TARGETS, Target};

/// No seed is longer: a fuzzer makes long ones of short ones, and not the other way round.
const SEED_MAX: usize = 64 << 10;
/// How many neighbours of a seed are tried.
const NEIGHBOURS: u64 = 24;
/// Of longer seeds the neighbours are left to the fuzzer.
const NEAR_MAX: usize = 16 << 10;
/// What parsers stumble over.
const NASTY: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xc3\x28",
    b"-1",
    b"99999999999999999999",
    b"\n---\n",
    b"{{",
    b"%00",
    b"../",
];

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// Files of a folder by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{} cannot be listed: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files
}

fn seeds(target: &Target) -> Vec<PathBuf> {
    files(&fuzz().join("corpus").join(target.name))
}

/// Whether the target holds; what it said is on standard error.
fn holds(target: &Target, bytes: &[u8]) -> bool {
    let check = target.check;
    catch_unwind(|| check(bytes)).is_ok()
}

#[test]
fn targets_hold_for_their_corpus() {
    let mut broken = Vec::new();
    for target in TARGETS {
        for seed in seeds(target) {
            if !holds(target, &std::fs::read(&seed).unwrap()) {
                broken.push(seed);
            }
        }
        assert!(holds(target, b""), "{} does not hold for nothing at all", target.name);
    }
    assert!(broken.is_empty(), "what must hold does not hold for {broken:#?}");
}

#[test]
fn targets_hold_for_what_is_near_their_corpus() {
    let mut broken = Vec::new();
    for target in TARGETS {
        for seed in seeds(target) {
            let bytes = std::fs::read(&seed).unwrap();
            if bytes.len() > NEAR_MAX {
                continue;
            }
            for number in 0..NEIGHBOURS {
                let near = neighbour(&bytes, number);
                if !holds(target, &near) {
                    broken.push((seed.clone(), near.escape_ascii().to_string()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "what must hold does not hold near {broken:#?}");
}

/// The bytes with something changed, the same for the same number.
fn neighbour(bytes: &[u8], number: u64) -> Vec<u8> {
    let random = |salt: u64, below: usize| {
        let mixed =
            (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt.wrapping_mul(0xff51_afd7);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33;
        usize::try_from(mixed).unwrap_or(0) % below.max(1)
    };
    let at = random(1, bytes.len() + 1);
    let nasty = NASTY[random(2, NASTY.len())];
    let (before, after) = bytes.split_at(at);
    match number % 6 {
        0 => before.to_vec(),
        1 => after.to_vec(),
        2 => [before, nasty, after].concat(),
        3 => [before, nasty, after.get(nasty.len()..).unwrap_or_default()].concat(),
        4 => {
            let mut flipped = bytes.to_vec();
            if let Some(byte) = flipped.get_mut(at) {
                *byte ^= 1 << random(3, 8);
            }
            flipped
        }
        _ => [bytes, after].concat(),
    }
}

#[test]
fn nothing_of_a_target_is_forgotten() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    let known: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
    assert!(names.is_sorted() && known.len() == names.len(), "targets are listed by name, once");

    let stems = |folder: &str| -> BTreeSet<String> {
        let stem = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        files(&fuzz().join(folder)).iter().map(stem).collect()
    };
    assert_eq!(stems("fuzz_targets"), known, "fuzz/fuzz_targets has a file for every target");
    assert_eq!(stems("corpus"), known, "fuzz/corpus has a folder for every target");

    let manifest = std::fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for target in TARGETS {
        let name = target.name;
        let bin = format!("[[bin]]\nname = \"{name}\"\npath = \"fuzz_targets/{name}.rs\"\n");
        assert!(manifest.contains(&bin), "fuzz/Cargo.toml lacks the binary `{name}`");
        let source = fuzz().join("fuzz_targets").join(format!("{name}.rs"));
        let source = std::fs::read_to_string(source).unwrap();
        assert!(source.contains(&format!("hostler_fuzz::{name}(bytes)")), "{name}: {source}");
        let seeds = seeds(target);
        assert!(seeds.len() >= 2, "`{name}` has hardly any seed");
        for seed in seeds {
            let length = std::fs::metadata(&seed).unwrap().len();
            assert!(length <= SEED_MAX as u64, "{} is too long for a seed", seed.display());
        }
    }
}
