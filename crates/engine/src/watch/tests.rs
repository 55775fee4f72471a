use std::collections::BTreeMap;

use hostler_model::{Span, Watch, WatcherId};
use serde_json::json;

use super::*;

fn order(watch: serde_json::Value, cooldown: u64) -> WatcherOrder {
    let watch: Watch = serde_json::from_value(watch).unwrap();
    WatcherOrder {
        id: WatcherId::from_uuid(uuid::Uuid::from_u128(1)),
        revision: Generation::FIRST,
        interval: watch.usual_interval(),
        watch,
        cooldown: Span::from_secs(cooldown),
    }
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::EPOCH.plus(std::time::Duration::from_secs(seconds))
}

fn said(told: &[WatcherTold]) -> String {
    let one = |told: &WatcherTold| {
        let what = told.condition.map_or(String::new(), |condition| format!(" {condition}"));
        let more = if told.count > 1 { format!(" x{}", told.count) } else { String::new() };
        let skipped = match told.skipped {
            0 => String::new(),
            n => format!(" ({n} skipped)"),
        };
        format!("{}{what}{more}{skipped}", told.word)
    };
    told.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What is told when a watcher sees one thing after the other, a second apart.
fn story(watch: serde_json::Value, cooldown: u64, seen: Vec<Seen>) -> Vec<String> {
    let (order, mut memory) = (order(watch, cooldown), Memory::default());
    let mut stories = Vec::new();
    for (second, seen) in seen.into_iter().enumerate() {
        let told = judge(&order, &mut memory, Ok(seen), at(1000 + second as u64));
        stories.push(said(&told));
        // What is remembered is what is written down.
        let since = memory.since;
        let text = serde_json::to_string(&memory).unwrap();
        memory = serde_json::from_str(&text).unwrap();
        memory.since = since;
    }
    stories
}

fn ran(code: i32, output: u64, is_match: bool) -> Seen {
    Seen::Command(Ran { code: Some(code), output, is_match })
}

fn entries(all: &[(&str, u64)]) -> Seen {
    Seen::Entries(all.iter().map(|(name, mark)| ((*name).to_owned(), *mark)).collect())
}

#[test]
fn edges_need_two_looks() {
    use UnitState::{Failed, Running, Stopped};
    let lines = |count| Seen::Lines { count, first: "x".into() };
    let cases: Vec<(serde_json::Value, Vec<Seen>, Vec<&str>)> = vec![
        (
            json!({ "file": { "path": "/a" } }),
            vec![
                Seen::File(Some(1)),
                Seen::File(Some(1)),
                Seen::File(Some(2)),
                Seen::File(None),
                Seen::File(None),
                Seen::File(Some(2)),
            ],
            vec!["", "", "fired changed", "fired removed", "", "fired created"],
        ),
        (
            json!({ "file": { "path": "/a", "on": ["removed"] } }),
            vec![Seen::File(None), Seen::File(Some(2)), Seen::File(Some(3)), Seen::File(None)],
            vec!["", "", "", "fired removed"],
        ),
        (
            json!({ "directory": { "path": "/a" } }),
            vec![
                entries(&[("a", 1), ("b", 1)]),
                entries(&[("a", 2), ("c", 1), ("d", 1)]),
                entries(&[]),
            ],
            vec!["", "fired created x2, fired changed, fired removed", "fired removed x3"],
        ),
        (
            json!({ "process": { "name": "a", "count": 2 } }),
            vec![
                Seen::Processes(1),
                Seen::Processes(2),
                Seen::Processes(3),
                Seen::Processes(1),
                Seen::Processes(0),
            ],
            vec!["", "fired started", "", "fired ended", ""],
        ),
        (
            json!({ "port": { "port": 1, "on": ["closed"] } }),
            vec![Seen::Port(false), Seen::Port(true), Seen::Port(false), Seen::Port(false)],
            vec!["", "", "fired closed", ""],
        ),
        (
            json!({ "service": { "unit": "a" } }),
            vec![
                Seen::Unit(Failed),
                Seen::Unit(Running),
                Seen::Unit(Stopped),
                Seen::Unit(Failed),
                Seen::Unit(Failed),
            ],
            vec!["", "fired started", "fired stopped", "fired failed", ""],
        ),
        (
            json!({ "command": { "command": ["a"] } }),
            vec![ran(0, 1, false), ran(1, 2, false), ran(2, 2, true), ran(0, 1, false)],
            vec!["", "fired failed", "", "fired recovered"],
        ),
        (
            json!({ "command": { "command": ["a"], "pattern": "x", "on": ["changed", "output-changed", "matches"] } }),
            vec![
                ran(0, 1, true),
                ran(0, 1, true),
                ran(1, 2, false),
                ran(1, 1, true),
                Seen::Command(Ran { code: None, output: 1, is_match: true }),
            ],
            vec![
                "",
                "",
                "fired changed, fired output-changed",
                "fired output-changed, fired matches",
                "fired changed",
            ],
        ),
        (
            json!({ "log": { "path": "/var/log/a", "pattern": "x" } }),
            vec![lines(0), lines(3), lines(1), lines(0)],
            vec!["", "fired matches x3", "fired matches", ""],
        ),
    ];
    for (watch, seen, expected) in cases {
        assert_eq!(story(watch.clone(), 0, seen), expected, "{watch}");
    }
}

#[test]
fn within_the_cooldown_edges_are_counted() {
    let seen = [false, true, false, true, false, true, true, false];
    let seen = seen.into_iter().map(Seen::Port).collect();
    let told = story(json!({ "port": { "port": 1 } }), 3, seen);
    let fired = "fired opened";
    assert_eq!(
        told,
        ["", fired, "", "", "fired closed (2 skipped)", "", "", "fired closed (1 skipped)"]
    );
}

#[test]
fn levels_begin_and_are_over() {
    let cases: Vec<(serde_json::Value, u64, &[f64], &[&str])> = vec![
        // So at the first look; in between it goes on; over five below.
        (
            json!({ "cpu": { "above": 90 } }),
            0,
            &[95.0, 99.0, 88.0, 91.0, 85.0, 89.0, 91.0],
            &["fired above", "", "", "", "cleared above", "", "fired above"],
        ),
        (
            json!({ "memory": { "below": 10, "clear": 20 } }),
            0,
            &[10.0, 9.9, 15.0, 19.9, 20.0, 5.0],
            &["", "fired below", "", "", "cleared below", "fired below"],
        ),
        // For a while: a moment of less begins it anew.
        (
            json!({ "disk": { "above": 80, "for": "2s" } }),
            0,
            &[81.0, 82.0, 80.0, 81.0, 82.0, 83.0, 84.0],
            &["", "", "", "", "", "fired above", ""],
        ),
        (
            json!({ "load": { "above": 10 } }),
            0,
            &[11.0, 9.5, 9.0],
            &["fired above", "", "cleared above"],
        ),
        // Thresholds at the ends can be over too.
        (json!({ "cpu": { "above": 3 } }), 0, &[4.0, 0.0], &["fired above", "cleared above"]),
        (json!({ "cpu": { "below": 98 } }), 0, &[4.0, 100.0], &["fired below", "cleared below"]),
        // What is so when the cooldown is over fires then; what was over before is counted.
        (
            json!({ "cpu": { "above": 90 } }),
            4,
            &[95.0, 50.0, 95.0, 95.0, 95.0, 50.0, 95.0, 50.0, 95.0],
            &[
                "fired above",
                "cleared above",
                "",
                "",
                "fired above",
                "cleared above",
                "",
                "",
                "fired above (1 skipped)",
            ],
        ),
    ];
    for (watch, cooldown, figures, expected) in cases {
        let seen = figures.iter().copied().map(Seen::Figure).collect();
        assert_eq!(story(watch.clone(), cooldown, seen), expected, "{watch}");
    }
}

#[test]
fn certificates_are_told_once_before_they_end() {
    let day = |n: u64| Seen::Certificate(at(n * 86_400));
    let told = story(
        json!({ "certificate": { "path": "/a", "within": "30d" } }),
        0,
        vec![day(100), day(29), day(1), day(0), day(90), day(2)],
    );
    assert_eq!(told, ["", "fired expires", "", "", "cleared expires", "fired expires"]);
    let order = order(json!({ "certificate": { "path": "/a" } }), 0);
    let mut memory = Memory::default();
    let told = judge(&order, &mut memory, Ok(day(2)), at(0));
    assert_eq!((told[0].value, told[0].threshold), (Some(2.0), Some(30.0)));
    assert!(told[0].words.starts_with("/a ends in 2 days"), "{}", told[0].words);
    assert!(in_words(&order, &day(0), at(5 * 86_400)).starts_with("ended 5 days ago"));
}

#[test]
fn trouble_is_told_when_it_begins_and_not_often() {
    let order = order(json!({ "port": { "port": 1 } }), 0);
    let mut memory = Memory::default();
    let mut look = |second, seen: Result<Seen, &str>| {
        said(&judge(&order, &mut memory, seen.map_err(str::to_owned), at(second)))
    };
    assert_eq!(look(0, Ok(Seen::Port(true))), "");
    assert_eq!(look(1, Err("no")), "trouble");
    assert_eq!(look(2, Err("no")), "");
    assert_eq!(look(3, Ok(Seen::Port(false))), "fired closed", "as before the trouble");
    assert_eq!(look(4, Err("no")), "", "it was told a moment ago");
    assert_eq!(look(5, Ok(Seen::Port(false))), "");
    assert_eq!(look(700, Err("no")), "trouble");
    assert_eq!(memory.trouble.as_deref(), Some("no"));
}

#[test]
fn a_clock_that_was_put_back_keeps_nobody_quiet() {
    let order = order(json!({ "cpu": { "above": 90, "for": "10s" } }), 600);
    let mut memory = Memory::default();
    let mut look =
        |second, value| said(&judge(&order, &mut memory, Ok(Seen::Figure(value)), at(second)));
    assert_eq!(look(5000, 95.0), "");
    assert_eq!(look(1000, 95.0), "", "it counts from here");
    assert_eq!(look(1009, 95.0), "");
    assert_eq!(look(1010, 95.0), "fired above");
    assert_eq!(look(1011, 0.0), "cleared above");
    assert_eq!(look(500, 95.0), "");
    assert_eq!(look(510, 95.0), "fired above", "it fired at a time that is still to come");
}

#[test]
fn a_level_that_was_told_is_remembered_and_its_beginning_is_not() {
    let order = order(json!({ "cpu": { "above": 90, "for": "10s" } }), 0);
    let memory = Memory { is_firing: true, since: Some(at(1)), ..Memory::default() };
    let text = serde_json::to_string(&memory).unwrap();
    let mut read: Memory = serde_json::from_str(&text).unwrap();
    assert_eq!((read.is_firing, read.since), (true, None));
    assert!(judge(&order, &mut read, Ok(Seen::Figure(95.0)), at(5)).is_empty());
    assert_eq!(said(&judge(&order, &mut read, Ok(Seen::Figure(5.0)), at(6))), "cleared above");
}

#[test]
fn many_entries_are_not_all_named() {
    let order = order(json!({ "directory": { "path": "/a" } }), 0);
    let mut memory = Memory { before: Some(entries(&[])), ..Memory::default() };
    let all: BTreeMap<String, Mark> = (0..12).map(|n| (format!("f{n:02}"), 1)).collect();
    let told = judge(&order, &mut memory, Ok(Seen::Entries(all)), at(1));
    assert_eq!((told[0].count, told[0].subject.as_str()), (12, "f00"));
    assert_eq!(told[0].words, "created: f00, f01, f02, f03, f04 and 7 more");
}

#[test]
fn another_interval_keeps_what_is_known_and_another_subject_does_not() {
    let one = order(json!({ "port": { "port": 1 } }), 0);
    let later =
        WatcherOrder { interval: Span::from_secs(99), cooldown: Span::from_secs(1), ..one.clone() };
    assert!(goes_on(&one, &later));
    assert!(!goes_on(&one, &order(json!({ "port": { "port": 2 } }), 0)));
    let generation = Generation::from_u64;
    for (held, given, is_taken) in [(0, 1, true), (5, 5, false), (5, 4, false), (5, 9, true)] {
        assert_eq!(accepts(generation(held), generation(given)), is_taken);
    }
}
