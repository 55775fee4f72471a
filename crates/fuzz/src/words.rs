//! Single words: names, amounts, constraints, schedules, targets, addresses, formats; and command lines
//! made of them.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use hostler_api::filter::fields_of;
use hostler_api::task::TaskList;
use hostler_cli::output::Format;
use hostler_control::SinkAddress;
use hostler_egress::Destination;
use hostler_engine::timeline::Places;
use hostler_model::filter::{Fields, Filter, TEXT_MAX};
use hostler_model::schedule::read_moment;
use hostler_model::{
    ApprovalParty, ArrayRange, Bytes, Constraint, Cores, CpuSet, Cron, Digest, EVENT_FIELDS,
    EventName, EventPattern, ImageRef, KeyId, LockName, Mode, Name, Network, PermissionSet,
    RoleName, Schedule, SecretRef, Span, Subject, Target, Timestamp, TraceContext, WorkloadId,
    WorkloadSpec, compare_versions, image_problem, label_problem,
};
use jiff::civil::DateTime;
use serde_json::json;

use crate::text;

/// Of a command line.
const WORDS_MAX: usize = 40;

/// What was read is printed so that it is read again, and printed the same.
fn round<T: FromStr<Err: Debug> + Display>(text: &str) -> Option<T> {
    let read: T = text.parse().ok()?;
    let printed = read.to_string();
    match printed.parse::<T>() {
        Ok(again) => assert_eq!(again.to_string(), printed, "read from {text:?}"),
        Err(error) => panic!("{text:?} is printed as {printed:?}, which is not read: {error:?}"),
    }
    Some(read)
}

/// Filters of events and of lists: what is read holds or does not, twice the same; what is not says where.
pub fn filter(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    round::<EventPattern>(text);
    if let Some(name) = round::<EventName>(text) {
        let pattern = EventPattern::from_str(text);
        assert!(pattern.is_err() || pattern.is_ok_and(|pattern| pattern.takes(&name)), "{text}");
    }
    // Of cursors: what is read is what is sent.
    if let Ok(places) = serde_json::from_str::<Places>(text) {
        let sent = serde_json::to_string(&places).expect("it was read");
        assert_eq!(serde_json::from_str::<Places>(&sent).expect("it was sent"), places);
    }
    let document = json!({
        "sequence": 7, "kind": "task.failed", "object": { "kind": "task", "name": "web" },
        "message": text.chars().take(100).collect::<String>(),
        "payload": { "exitCode": 3, "tags": ["a"], "labels": { "zone": "eu" } },
    });
    for fields in [&EVENT_FIELDS, &Fields::ANY, fields_of::<TaskList>()] {
        match Filter::read(text, fields) {
            Ok(filter) => {
                assert!(text.len() <= TEXT_MAX, "longer than a filter may be");
                assert_eq!(filter.matches(&document), filter.matches(&document));
            }
            Err(mistake) => {
                assert!(mistake.line <= text.split('\n').count(), "{mistake}");
                assert!(mistake.column <= mistake.shown.chars().count() + 1, "{mistake}");
                assert!(!mistake.to_string().is_empty());
            }
        }
    }
}

/// Names of everything that has one.
pub fn name(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Some(name) = round::<Name>(text) {
        assert_eq!(name.as_str(), text);
        assert!(text.len() <= 63 && text.is_ascii(), "{text:?}");
    }
    if let Some(name) = round::<LockName>(text) {
        assert_eq!(name.as_str(), text);
        let is_part = |part: &str| !part.is_empty() && !part.starts_with('.');
        assert!(text.len() <= 128 && text.is_ascii() && text.split('/').all(is_part), "{text:?}");
    }
    round::<RoleName>(text);
    round::<Subject>(text);
    round::<ApprovalParty>(text);
    round::<SecretRef>(text);
    round::<ImageRef>(text);
    round::<KeyId>(text);
    round::<Digest>(text);
    round::<WorkloadId>(text);
    if let Ok(set) = PermissionSet::read(text.split(',')) {
        let words = set.words();
        if !words.is_empty() {
            let again = PermissionSet::read(words.split(", ")).expect("what it says of itself");
            assert_eq!(again.words(), words);
        }
    }
    let _problem = image_problem(text);
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    let _problem = label_problem(key, value);
}

/// How much, how many, how long and when.
pub fn amount(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    round::<Cores>(text);
    round::<Span>(text);
    round::<Timestamp>(text);
    round::<CpuSet>(text);
    if let Some(range) = round::<ArrayRange>(text) {
        assert!(range.len() <= 1_000_000, "{text:?} is longer than a range may be");
    }
    // Sizes are printed rounded for people, and stored exactly.
    if let Ok(size) = text.parse::<Bytes>() {
        let stored = serde_json::to_value(size).expect("a size can be stored");
        let again: Bytes = serde_json::from_value(stored).expect("what was stored is read");
        assert_eq!(again, size);
    }
}

/// Conditions on nodes.
pub fn constraint(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    round::<Constraint>(text);
    let (left, right) = text.split_once('\n').unwrap_or((text, "6.1.0"));
    assert_eq!(compare_versions(left, right), compare_versions(right, left).reverse());
    assert!(compare_versions(left, left).is_eq());
}

/// Schedules, and the next of their times.
pub fn cron(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let (expression, zone) = text.split_once('\n').unwrap_or((text, "UTC"));
    if let Some(cron) = round::<Cron>(expression) {
        let mut face = DateTime::constant(2026, 2, 28, 23, 59, 59, 0);
        for _ in 0..3 {
            let Some(next) = cron.next_after(face) else { break };
            assert!(next > face, "{expression:?} goes back from {face} to {next}");
            face = next;
        }
    }
    if let Err(mistake) = expression.parse::<Cron>() {
        let said = mistake.marked(expression);
        assert!(said.starts_with(&mistake.to_string()), "{said:?}");
    }
    let _moment = read_moment(expression, zone);
    let schedule = Schedule { timezone: zone.to_owned(), ..Schedule::new(expression) };
    let spec = WorkloadSpec { mode: Mode::Schedule(schedule), ..WorkloadSpec::command(["true"]) };
    let _problems = spec.problems("");
}

/// Where exactly something is to run.
pub fn target(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Ok(target) = text.parse::<Target>() {
        let mut spec = WorkloadSpec::command(["true"]);
        target.apply(&mut spec);
        assert_eq!(spec.placement.node.as_ref(), Some(&target.node));
        let _problems = spec.problems("");
    }
}

/// Networks, and addresses of what may be called.
pub fn address(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Some(network) = round::<Network>(text) {
        assert!(network.is_within(&network));
    }
    let _destination = text.parse::<Destination>();
    let _sink = text.parse::<SinkAddress>();
}

/// Command lines, a word on each line.
pub fn command_line(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let words = std::iter::once("hostler").chain(text.lines().take(WORDS_MAX));
    if let Err(refused) = hostler_cli::parse_from(words) {
        assert!(!refused.to_string().is_empty());
    }
}

/// `-o`: paths and templates.
pub fn format(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let document = json!({
        "items": [
            { "name": "web", "labels": { "a/b": "c" }, "status": { "state": "running", "pid": 7 } },
            { "name": "db", "labels": {}, "status": null },
        ],
    });
    match text.parse::<Format>() {
        Ok(Format::JsonPath(path)) => drop(path.render(&document)),
        Ok(Format::Template(template)) => drop(template.render(&document)),
        _ => {}
    }
}

/// What a caller says of the trace that its request is part of.
pub fn traceparent(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Ok(context) = text.parse::<TraceContext>() {
        let printed = context.to_string();
        assert_eq!(printed.parse(), Ok(context));
        assert_eq!((printed.len(), context.trace_id().len()), (55, 32));
    }
}
