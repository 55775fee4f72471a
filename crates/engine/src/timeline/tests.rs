use hostler_model::{ObjectKind, ObjectRef};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

fn at(n: i64) -> Timestamp {
    Timestamp::from_micros(n)
}

fn row(source: TimelineSource, key: u64, time: i64) -> Row {
    let entry = TimelineEntry {
        time: at(time),
        source,
        what: format!("{source}-{key}"),
        object: ObjectRef::new(ObjectKind::Task, "t", "t"),
        message: String::new(),
        actor: None,
        cause: None,
        id: key.to_string(),
    };
    Row { key: key.to_string(), time: at(time), entry: Some(entry) }
}

/// Sources as they are stored: for each the times of its rows, the newest first.
type Stored = Vec<(TimelineSource, Vec<Option<i64>>)>;

fn page(stored: &Stored, places: &Places, limit: usize) -> (Vec<TimelineEntry>, Option<Places>) {
    let parts = stored.iter().filter_map(|(source, times)| {
        let before = places.before(*source).ok()?.map(|key| key.parse::<u64>().unwrap());
        let count = times.len() as u64;
        let all = (1..=count).rev().zip(times);
        let wanted = all.filter(|(key, _)| before.is_none_or(|before| *key < before));
        let mut rows: Vec<Row> = wanted
            .map(|(key, time)| match time {
                Some(time) => row(*source, key, *time),
                None => Row { entry: None, ..row(*source, key, 50) },
            })
            .collect();
        let is_all = rows.len() <= limit + 1;
        rows.truncate(limit + 1);
        Some(Part { source: *source, rows, is_all })
    });
    merge(parts.collect(), places.clone(), limit)
}

fn whole(stored: &Stored, limit: usize) -> Vec<String> {
    let mut places = Places::default();
    let mut told = Vec::new();
    loop {
        let (entries, next) = page(stored, &places, limit);
        assert!(entries.len() <= limit);
        told.extend(entries.into_iter().map(|entry| entry.what));
        match next {
            Some(next) => {
                assert_ne!(next, places, "a page that goes nowhere");
                let text = serde_json::to_string(&next).unwrap();
                places = serde_json::from_str(&text).unwrap();
            }
            None => return told,
        }
    }
}

#[test]
fn rows_come_by_their_time_and_what_follows_comes_before_its_cause() {
    use TimelineSource as S;
    let stored = vec![
        (S::Event, vec![Some(9), Some(5), None, Some(1)]),
        (S::Fire, vec![Some(5)]),
        (S::Audit, vec![Some(7)]),
        (S::Run, vec![]),
    ];
    let told = ["event-4", "audit-1", "event-3", "fire-1", "event-1"];
    for limit in 1..7 {
        assert_eq!(whole(&stored, limit), told, "{limit}");
    }
}

#[test]
fn of_many_questions_only_what_all_know_is_taken() {
    let union = |found| union(found, |number: &u64| *number);
    assert_eq!(union(vec![]), (vec![], true));
    assert_eq!(union(vec![(vec![9, 5], true), (vec![7, 5, 2], true)]), (vec![9, 7, 5, 2], true));
    assert_eq!(union(vec![(vec![9, 5], false), (vec![7, 2], true)]), (vec![9, 7, 5], false));
    assert_eq!(union(vec![(vec![9, 5], false), (vec![8, 7], false)]), (vec![9, 8, 7], false));
}

#[test]
fn stays_on_a_node_are_united() {
    let node = |n| NodeId::from_uuid(Uuid::from_u128(n));
    let stay =
        |n, from, until: Option<i64>| Stay { node: node(n), from: at(from), until: until.map(at) };
    let given = vec![
        stay(1, 5, Some(9)),
        stay(2, 1, Some(2)),
        stay(1, 1, Some(6)),
        stay(1, 20, None),
        stay(1, 30, Some(40)),
    ];
    let united = stays(given);
    assert_eq!(united, [stay(1, 20, None), stay(1, 1, Some(9)), stay(2, 1, Some(2))]);
    let many = (0..100_u8).map(|n| stay(n.into(), n.into(), Some(i64::from(n) + 1))).collect();
    let newest = stays(many);
    assert_eq!(newest.len(), STAYS_MAX);
    assert_eq!(newest[0], stay(99, 99, Some(100)));
}

proptest! {
    #[test]
    fn every_row_is_on_one_page_whatever_clocks_say(
        events in prop::collection::vec(prop::option::weighted(0.8, 0i64..100), 0..30),
        nodes in prop::collection::vec(prop::option::weighted(0.8, 0i64..100), 0..30),
        audit in prop::collection::vec(prop::option::weighted(0.8, 0i64..100), 0..30),
        limit in 1usize..12,
    ) {
        let stored = vec![
            (TimelineSource::Event, events),
            (TimelineSource::Node, nodes),
            (TimelineSource::Audit, audit),
        ];
        let told = whole(&stored, limit);
        let mut sorted = told.clone();
        sorted.sort();
        let mut expected: Vec<String> = stored
            .iter()
            .flat_map(|(source, times)| {
                let all = (1..=times.len()).rev().zip(times);
                all.filter(|(_, time)| time.is_some()).map(move |(key, _)| format!("{source}-{key}"))
            })
            .collect();
        expected.sort();
        prop_assert_eq!(sorted, expected);
        prop_assert_eq!(told, whole(&stored, 1000), "pages of any size come to the same");
    }
}
