//! The keeper's bounds.

use std::path::Path;
use std::time::Duration;

use hostler_model::{Bytes, LogPolicy, Span};

use super::shelf::{EXIT_ONE, at, end, segment};
use crate::output::{
    Item, Keeper, KeptWorkload, Packed, Reader, Start, Stream, Streams, packed_name,
    segment as seg, segment_name,
};

const KIB: u64 = 1 << 10;

/// A run with segments of 20 KiB that do not shrink much, one every hundred seconds.
fn run(dir: &Path, begin: i64, segments: u32, is_over: bool) {
    std::fs::create_dir_all(dir).unwrap();
    let mut seed = u32::try_from(begin).unwrap();
    for number in 1..=segments {
        let noise: String = (0..20 * KIB)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                char::from(u8::try_from(seed >> 25).unwrap())
            })
            .collect();
        let time = begin + i64::from(number) * 100;
        let base = u64::from(number - 1) * 20 * KIB;
        segment(dir, number, base, true, &[(Stream::Stdout, time, &noise)]);
    }
    if is_over {
        end(dir, EXIT_ONE);
    }
}

fn policy(kib: u64, seconds: u64) -> LogPolicy {
    LogPolicy { max_bytes: Bytes::new(kib * KIB), max_age: Span::from_secs(seconds) }
}

fn keeper(total_kib: u64) -> Keeper {
    Keeper { total: Bytes::new(total_kib * KIB), ..Keeper::default() }
}

fn numbers(dir: &Path) -> Vec<u32> {
    seg::list(dir).unwrap()
}

fn on_disk(dir: &Path) -> u64 {
    let files = std::fs::read_dir(dir).unwrap().flatten();
    files
        .filter(|file| file.file_name().to_string_lossy().starts_with("out."))
        .map(|file| file.metadata().unwrap().len())
        .sum()
}

const AGES: u64 = 1_000_000;

#[test]
fn a_pass_packs_what_has_rested_and_the_next_has_nothing_to_do() {
    let data = tempfile::tempdir().unwrap();
    let dirs = ["a", "b"].map(|name| data.path().join(name));
    run(&dirs[0], 1000, 4, true);
    run(&dirs[1], 1400, 4, false);
    let kept = [KeptWorkload { policy: policy(1000, AGES), runs: dirs.to_vec() }];
    let keeper = keeper(10_000);
    let pass = keeper.pass(&kept, at(1760));
    assert_eq!((pass.compressed.segments, pass.removed), (7, 0), "{pass:?}");
    assert_eq!(pass.problems, [""; 0]);
    assert_eq!(pass.bytes_kept, on_disk(&dirs[0]) + on_disk(&dirs[1]));
    assert!(dirs[1].join(segment_name(4)).exists());
    let again = keeper.pass(&kept, at(9000));
    assert_eq!((again.compressed, again.removed), (Packed::default(), 0));
    assert_eq!(again.bytes_kept, pass.bytes_kept);
}

#[test]
fn what_was_just_written_is_not_packed_and_a_pass_has_a_limit() {
    let data = tempfile::tempdir().unwrap();
    let dir = data.path().join("a");
    run(&dir, 1000, 6, true);
    let kept = [KeptWorkload { policy: policy(1000, AGES), runs: vec![dir.clone()] }];
    let keeper = Keeper { pack_at_most: Bytes::new(30 * KIB), ..keeper(10_000) };
    assert_eq!(keeper.pass(&kept, at(1159)).compressed.segments, 0);
    assert_eq!(keeper.pass(&kept, at(1460)).compressed.segments, 2);
    assert_eq!(keeper.pass(&kept, at(1460)).compressed.segments, 2);
    assert_eq!(keeper.pass(&kept, at(1460)).compressed.segments, 0);
    assert!(dir.join(packed_name(4)).exists());
    assert!(dir.join(segment_name(5)).exists());
}

#[test]
fn age_takes_closed_segments_and_leaves_a_trace_of_a_whole_run() {
    let data = tempfile::tempdir().unwrap();
    let dirs = ["a", "b"].map(|name| data.path().join(name));
    run(&dirs[0], 1000, 2, true);
    run(&dirs[1], 1000, 3, false);
    let kept = [KeptWorkload { policy: policy(1000, 150), runs: dirs.to_vec() }];
    let pass = keeper(1000).pass(&kept, at(1300));
    assert_eq!((pass.removed, pass.removed_bytes), (2, 2 * (20 * KIB + 32)));
    assert_eq!((numbers(&dirs[0]), numbers(&dirs[1])), (vec![2], vec![2, 3]));
    let pass = keeper(1000).pass(&kept, at(9000));
    assert_eq!(pass.removed, 2);
    assert_eq!((numbers(&dirs[0]), numbers(&dirs[1])), (vec![3], vec![3]));
    let read = Reader::open(&dirs[0], Start::Beginning, Streams::Both).unwrap().read(1 << 20);
    assert_eq!(read.unwrap().items, [Item::Gap { bytes: Some(40 * KIB) }]);
    assert_eq!(keeper(0).pass(&kept, at(99_000)).removed, 0);
}

#[test]
fn a_workload_is_held_to_its_own_bounds_and_the_node_to_the_total() {
    let data = tempfile::tempdir().unwrap();
    let dirs = ["a1", "a2", "b1"].map(|name| data.path().join(name));
    run(&dirs[0], 1000, 4, true);
    run(&dirs[1], 2000, 4, false);
    run(&dirs[2], 500, 4, true);
    let kept = [
        KeptWorkload { policy: policy(90, AGES), runs: dirs[..2].to_vec() },
        KeptWorkload { policy: policy(1000, AGES), runs: dirs[2..].to_vec() },
    ];
    let keeper = |total| Keeper { pack_after: Duration::from_secs(AGES), ..keeper(total) };
    let pass = keeper(10_000).pass(&kept, at(2500));
    assert_eq!(pass.removed, 4);
    assert_eq!((numbers(&dirs[0]), numbers(&dirs[1])), (vec![5], vec![1, 2, 3, 4]));
    assert_eq!(numbers(&dirs[2]), [1, 2, 3, 4]);

    let pass = keeper(70).pass(&kept, at(2500));
    assert_eq!((numbers(&dirs[1]), numbers(&dirs[2])), (vec![2, 3, 4], vec![5]));
    assert!(pass.bytes_kept <= 70 * KIB);
    let pass = keeper(0).pass(&kept, at(2500));
    assert_eq!(numbers(&dirs[1]), [4]);
    assert_eq!(pass.bytes_kept, dirs.iter().map(|dir| on_disk(dir)).sum::<u64>());
    std::fs::remove_dir_all(&dirs[0]).unwrap();
    assert_eq!(keeper(0).pass(&kept, at(2500)).problems, [""; 0]);
}
