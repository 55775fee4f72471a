//! What workflows are carried out with: the order of a job and what it tells, journals, artifacts of other machines;
//! and the indenting of their files.

use std::collections::BTreeMap;
use std::path::Path;

use hostler_control::fuzz::REPORT_BOUNDS;
use hostler_lua::modules::services::codec;
use hostler_model::workflow::{JobOrder, JobReport};
use serde_json::Value as Json;

use crate::{scratch, text};

/// Formatting a file changes nothing but the space around its lines: the same program, line by line, and once is
/// as good as twice.
pub fn indent(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let once = match hostler_lua::indented("fuzz.sloth", text) {
        Ok(once) => once,
        Err(mistakes) => {
            assert!(!mistakes.to_string().is_empty());
            return;
        }
    };
    let is_space = |c: char| matches!(c, ' ' | '\t'..='\r');
    let lines = |text: &str| -> Vec<String> {
        let text = text.trim_end_matches(is_space);
        text.split('\n').map(|line| line.trim_matches(is_space).to_owned()).collect()
    };
    assert_eq!(lines(text), lines(&once));
    let meaning = hostler_lua::fuzz::meaning(text);
    assert!(meaning.is_some(), "it could be read");
    assert_eq!(meaning, hostler_lua::fuzz::meaning(&once), "{text:?} became {once:?}");
    let twice = hostler_lua::indented("fuzz.sloth", &once);
    assert_eq!(twice.ok().as_deref(), Some(once.as_str()));
}

/// What a server takes from a report is bounded and leads nowhere, and is read again as the same.
pub fn job_report(bytes: &[u8]) {
    let Some(report) = hostler_control::fuzz::job_report(bytes) else { return };
    let JobReport { result, artifacts, .. } = &report;
    let is_text = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    assert!(result.message.chars().all(is_text), "{:?}", result.message);
    assert!(result.message.chars().count() <= REPORT_BOUNDS.message);
    assert!(artifacts.len() <= REPORT_BOUNDS.artifacts);
    for name in artifacts {
        assert!(name.len() <= REPORT_BOUNDS.name && is_below(name), "{name:?}");
    }
    assert!(result.exported.to_string().len() <= REPORT_BOUNDS.exported);
    let written = serde_json::to_vec(&report).expect("a report can be written");
    let again = hostler_control::fuzz::job_report(&written).expect("a report that was written");
    let told = |report: &JobReport| {
        let result = &report.result;
        [&result.output, &result.exported, &report.outputs].map(|it| without_fractions(it.clone()))
    };
    assert_eq!(told(&again), told(&report));
    assert_eq!(again.artifacts, report.artifacts);
    let rest = |report: &JobReport| {
        (report.result.end, report.result.message.clone(), report.result.changed)
    };
    assert_eq!(rest(&again), rest(&report));
}

/// What a node is told to do is read again as the same.
pub fn job_order(bytes: &[u8]) {
    let Ok(order) = serde_json::from_slice::<JobOrder>(bytes) else { return };
    let written = serde_json::to_vec(&order).expect("an order can be written");
    let again: JobOrder = serde_json::from_slice(&written).expect("an order that was written");
    let values = |order: &JobOrder| without_fractions(order.values.clone());
    assert_eq!(values(&again), values(&order));
    assert_eq!(JobOrder { values: order.values.clone(), ..again }, order);
}

/// A journal that can be read can be read wherever it was cut off, and what is under way in it has not ended.
pub fn journal(bytes: &[u8]) {
    let Some((past, whole)) = hostler_flow::fuzz::journal(bytes) else { return };
    let whole = usize::try_from(whole).expect("no longer than the journal");
    let (lines, rest) = bytes.split_at(whole);
    assert!(lines.last().is_none_or(|end| *end == b'\n') && !rest.contains(&b'\n'));
    assert!(past.open.keys().all(|step| !past.results.contains_key(step)), "{past:?}");
    let (again, length) = hostler_flow::fuzz::journal(lines).expect("the same lines");
    assert_eq!(length, lines.len() as u64);
    assert_eq!(format!("{again:?}"), format!("{past:?}"));
    for part in 1..=CUTS {
        let cut = bytes.len() * part / (CUTS + 1);
        let cut_off = hostler_flow::fuzz::journal(&bytes[..cut]);
        assert!(cut_off.is_some_and(|(_, length)| length <= cut as u64), "cut off at {cut}");
    }
}

/// At how many places a journal is cut off.
const CUTS: usize = 7;

/// Artifacts of another machine: whatever their table says, nothing else than one of them is placed, and nowhere
/// else.
pub fn artifact_table(bytes: &[u8]) {
    const KEPT: &str = "kept";
    const OUTSIDE: &str = "outside";
    let dir = scratch();
    let [left, work, outside] = ["left", "work", OUTSIDE].map(|name| dir.path().join(name));
    for folder in [&left, &work] {
        std::fs::create_dir(folder).expect("a directory can be made");
    }
    let kept = left.join("0".repeat(64));
    for (path, content) in [
        (left.join("names.json"), bytes),
        (kept, KEPT.as_bytes()),
        (outside.clone(), OUTSIDE.as_bytes()),
    ] {
        std::fs::write(path, content).expect("a file can be written");
    }
    let table: BTreeMap<String, Json> = serde_json::from_slice(bytes).unwrap_or_default();
    for name in table.keys().take(8) {
        let last = name.rsplit('/').next().unwrap_or(name);
        for asked in [name.as_str(), last] {
            let _is_there = hostler_flow::fuzz::artifact(&left, asked, &work);
        }
    }
    assert_eq!(std::fs::read_to_string(outside).expect("the file is there"), OUTSIDE);
    let mut beside = names(dir.path());
    beside.sort();
    assert_eq!(beside, ["left", OUTSIDE, "work"]);
    every_file_is(&work, KEPT);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the directory is there");
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
}

fn every_file_is(folder: &Path, content: &str) {
    for entry in std::fs::read_dir(folder).expect("the directory is there") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            every_file_is(&path, content);
        } else {
            let found = std::fs::read_to_string(&path).expect("a file that was placed");
            assert_eq!(found, content, "{}", path.display());
        }
    }
}

fn is_below(name: &str) -> bool {
    name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// The last digit of a fraction may be another one after it was read.
fn without_fractions(value: Json) -> Json {
    match value {
        Json::Number(number) if number.is_f64() => Json::Null,
        Json::Array(items) => items.into_iter().map(without_fractions).collect(),
        Json::Object(entries) => {
            entries.into_iter().map(|(key, value)| (key, without_fractions(value))).collect()
        }
        other => other,
    }
}

/// What a step asks for can be said again; and whatever bytes are kept as state, a step reads and keeps them: a text as
/// it is, bytes as they are.
pub fn step_ask(bytes: &[u8]) {
    hostler_control::fuzz::step_ask(bytes);
    let value = codec::decode(bytes);
    let kept = codec::encode(&value);
    let is_plain = std::str::from_utf8(bytes)
        .map_or(true, |text| serde_json::from_str::<serde_json::Value>(text).is_err());
    if is_plain {
        assert_eq!(kept, bytes);
    }
    if value.is_string() || value.is_i64() {
        assert_eq!(codec::decode(&kept), value);
    }
}
