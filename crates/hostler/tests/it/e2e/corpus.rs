//! Workflows of our own, one for each thing that the language can do, in each dialect. Every file says in comments at its
//! top what is expected of it:
//!
//! ```text
//! -- about: what it shows
//! -- verb: run | validate | show        (run)
//! -- args: more arguments
//! -- with: files of `with/` that lie beside it
//! -- needs: programs without which it is left out
//! -- covers: task NAME... | workflow NAME... | module NAME...
//! -- expect: exit N
//! -- expect: out | err | not-out | not-err TEXT
//! -- expect: out-bytes N
//! -- expect: steps NAME=STATUS... | tries NAME=N... | message NAME TEXT | order NAME... | outputs NAME=VALUE
//! -- expect: file NAME TEXT | no-file NAME
//! ```
//!
//! Each is run by the real binary in a directory of its own, and every disappointment is told at once. They touch nothing
//! outside that directory.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::rig::{Cli, Output, Rig};

const AT_ONCE: usize = 3;
const LEAST: usize = 80;

struct Case {
    path: PathBuf,
    verb: String,
    args: Vec<String>,
    beside: Vec<String>,
    needs: Vec<String>,
    covers: Vec<(String, String)>,
    expects: Vec<(String, String)>,
}

struct Seen {
    code: i32,
    out: Vec<u8>,
    err: String,
    folder: PathBuf,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// Every file, by name.
fn files() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for group in std::fs::read_dir(folder()).unwrap().flatten() {
        let entries = std::fs::read_dir(group.path()).into_iter().flatten().flatten();
        found.extend(entries.map(|entry| entry.path()).filter(|path| {
            let ending = path.extension().and_then(|ending| ending.to_str());
            matches!(ending, Some("sloth" | "lua" | "luau"))
        }));
    }
    found.sort();
    found
}

fn read(path: &Path) -> Result<Case, String> {
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let mut case = Case {
        path: path.to_owned(),
        verb: "run".to_owned(),
        args: Vec::new(),
        beside: Vec::new(),
        needs: Vec::new(),
        covers: Vec::new(),
        expects: Vec::new(),
    };
    let mut is_about = false;
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for line in text.lines().skip_while(|line| line.starts_with("#!")) {
        let Some(said) = line.strip_prefix("-- ") else { break };
        let (key, value) = said.split_once(": ").ok_or_else(|| format!("what is `{line}`?"))?;
        match key {
            "about" => is_about = true,
            "verb" => value.clone_into(&mut case.verb),
            "args" => case.args.extend(words(value)),
            "with" => case.beside.extend(words(value)),
            "needs" => case.needs.extend(words(value)),
            "covers" => {
                let mut words = words(value).into_iter();
                let kind = words.next().unwrap_or_default();
                case.covers.extend(words.map(|word| (kind.clone(), word)));
            }
            "expect" => {
                let (kind, rest) = value.split_once(' ').unwrap_or((value, ""));
                case.expects.push((kind.to_owned(), rest.to_owned()));
            }
            other => return Err(format!("there is no `{other}`")),
        }
    }
    let exits = case.expects.iter().filter(|(kind, _)| kind == "exit").count();
    match (is_about, exits) {
        (true, 1) => Ok(case),
        (false, _) => Err("it does not say what it is about".to_owned()),
        _ => Err("it does not say with what it exits".to_owned()),
    }
}

fn carry_out(rig: &Rig, case: &Case, number: usize, more: &[&str]) -> Seen {
    let folder = rig.path(&format!("{number}{}", more.join("")));
    std::fs::create_dir(&folder).unwrap();
    let name = case.path.file_name().unwrap();
    std::fs::copy(&case.path, folder.join(name)).unwrap();
    for beside in &case.beside {
        let place = folder.join(beside);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::copy(case.path.with_file_name("with").join(beside), place).unwrap();
    }
    let mut words: Vec<String> = match case.verb.as_str() {
        "run" => vec!["run".to_owned()],
        verb => vec!["workflow".to_owned(), verb.to_owned()],
    };
    words.push(name.to_string_lossy().into_owned());
    words.extend(case.args.clone());
    words.extend(more.iter().map(|word| (*word).to_owned()));
    let home = |name: &str| folder.join(name).display().to_string();
    let cli = Cli::new(rig)
        .at(&folder)
        .with("HOME", &home("home"))
        .with("XDG_CONFIG_HOME", &home("config"))
        .with("XDG_DATA_HOME", &home("data"))
        .with("XDG_STATE_HOME", &home("state"));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Output { code, out, err } = cli.run(&words);
    Seen { code, out, err, folder }
}

/// What was not as expected.
fn disappointments(rig: &Rig, case: &Case, number: usize) -> Vec<String> {
    let seen = carry_out(rig, case, number, &[]);
    let told = |kind: &str| matches!(kind, "steps" | "tries" | "message" | "order" | "outputs");
    let report = match case.expects.iter().any(|(kind, _)| told(kind)) {
        true => {
            let again = carry_out(rig, case, number, &["-o", "json"]);
            serde_json::from_slice(&again.out).unwrap_or(Value::Null)
        }
        false => Value::Null,
    };
    let reports: Vec<&Value> = match &report {
        Value::Array(several) => several.iter().collect(),
        one => vec![one],
    };
    let tasks: Vec<&Value> =
        reports.iter().filter_map(|report| report["tasks"].as_array()).flatten().collect();
    let task = |name: &str| tasks.iter().find(|task| task["name"] == name).copied();
    let out = String::from_utf8_lossy(&seen.out);
    let pairs = |text: &str| -> Vec<(String, String)> {
        let pair = |word: &str| word.rsplit_once('=').map(|(a, b)| (a.to_owned(), b.to_owned()));
        text.split_whitespace().filter_map(pair).collect()
    };
    let text_of = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
    let holds = |kind: &str, rest: &str| -> bool {
        match kind {
            "exit" => rest.parse() == Ok(seen.code),
            "out" => out.contains(rest),
            "err" => seen.err.contains(rest),
            "not-out" => !out.contains(rest),
            "not-err" => !seen.err.contains(rest),
            "out-bytes" => rest.parse::<usize>().is_ok_and(|least| seen.out.len() >= least),
            "steps" => pairs(rest)
                .iter()
                .all(|(name, status)| task(name).is_some_and(|task| task["status"] == **status)),
            "tries" => pairs(rest).iter().all(|(name, tries)| {
                task(name).is_some_and(|task| text_of(&task["attempts"]) == *tries)
            }),
            "message" => {
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                task(name).is_some_and(|task| text_of(&task["message"]).contains(text))
            }
            "order" => {
                let began: Vec<Option<u64>> = rest
                    .split_whitespace()
                    .map(|name| task(name).and_then(|task| task["began"].as_u64()))
                    .collect();
                began.iter().all(Option::is_some) && began.is_sorted()
            }
            "outputs" => {
                let (name, value) = rest.split_once('=').unwrap_or((rest, ""));
                text_of(&reports[0]["outputs"][name]) == value
            }
            "file" => {
                let (name, text) = rest.split_once(' ').unwrap_or((rest, ""));
                let found = std::fs::read(seen.folder.join(name)).ok();
                found.is_some_and(|found| String::from_utf8_lossy(&found).contains(text))
            }
            "no-file" => !seen.folder.join(rest).exists(),
            other => panic!("nothing can be expected of `{other}`"),
        }
    };
    let mut wrong: Vec<String> = case
        .expects
        .iter()
        .filter(|(kind, rest)| !holds(kind, rest))
        .map(|(kind, rest)| format!("expected {kind} {rest}"))
        .collect();
    if !wrong.is_empty() {
        let short = |text: &str| text.chars().take(2000).collect::<String>();
        wrong.push(format!("exit {}\n{}\n{}\n{report}", seen.code, short(&out), short(&seen.err)));
    }
    wrong
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

#[test]
fn every_file_does_what_it_says() {
    let rig = Rig::new();
    let files = files();
    assert!(files.len() >= LEAST, "there are {}", files.len());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(path) = files.get(number) else { break };
                    let found = match read(path) {
                        Err(why) => vec![why],
                        Ok(case) if case.needs.iter().any(|name| !is_there(name)) => Vec::new(),
                        Ok(case) => disappointments(&rig, &case, number),
                    };
                    if !found.is_empty() {
                        let name = path.strip_prefix(folder()).unwrap().display().to_string();
                        wrong.lock().unwrap().push(format!("{name}:\n{}", found.join("\n")));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n\n"));
}

/// What the guide says of tasks is shown by a file.
#[test]
fn every_method_of_the_guide_is_used() {
    let guide = include_str!("../../../../../docs/workflows.md");
    let (_, tasks) = guide.split_once("| method or key | what it says |").unwrap();
    let rows = tasks.lines().skip(2).take_while(|line| line.starts_with('|'));
    let methods: Vec<String> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split(','))
        .map(|word| word.trim().trim_matches('`').split('(').next().unwrap_or("").to_owned())
        .filter(|word| !word.is_empty() && !word.contains([' ', ')']))
        .collect();
    assert!(methods.len() > 20, "{methods:?}");
    let texts: Vec<String> = files()
        .iter()
        .map(|path| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned())
        .collect();
    let is_used = |method: &str| {
        let forms = [format!(":{method}("), format!("{method} ="), format!(":{method} ")];
        texts.iter().any(|text| forms.iter().any(|form| text.contains(form)))
    };
    let unused: Vec<&String> = methods.iter().filter(|method| !is_used(method)).collect();
    assert!(unused.is_empty(), "no file uses {unused:?}");
    for path in files() {
        let case = read(&path).unwrap();
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for (kind, word) in &case.covers {
            assert!(text.matches(word.as_str()).count() > 1, "{}: {kind} {word}", path.display());
        }
    }
}
