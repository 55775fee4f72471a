//! Events and the audit chain.

use std::collections::BTreeSet;
use std::time::Duration;

use hostler_model::*;
use hostler_store::{AuditFilter, EventFilter};

use crate::world::*;

crate::conformance!(
    events_are_numbered_and_listed_both_ways,
    events_are_filtered,
    compaction_raises_the_floor,
    fifty_writers_leave_no_gap_and_a_reader_misses_nothing,
    a_failed_transaction_uses_no_number,
    audit_entries_are_listed_and_filtered,
    an_untouched_chain_is_intact,
    a_changed_entry_shows,
    an_unreadable_entry_shows,
    a_missing_entry_shows,
    a_cut_off_end_shows,
    a_rewritten_chain_shows_in_the_head,
);

async fn append(world: &World, events: &[NewEvent], audit: &[NewAuditEntry]) {
    world.tx("append", |tx| Box::pin(tx.journal_append(events, audit))).await.unwrap();
}

async fn events_are_numbered_and_listed_both_ways(world: World) {
    let events: Vec<_> =
        (0..7).map(|i| event(EventKind::TaskCreated, None, &format!("t{i}"), i)).collect();
    append(&world, &events[..3], &[]).await;
    append(&world, &events[3..], &[]).await;
    append(&world, &[], &[]).await;
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.event_bounds().await.unwrap(), (0, 7));
    let all = EventFilter::default();
    let mut seen = Vec::new();
    loop {
        let after = seen.last().map_or(0, |e: &Event| e.sequence);
        let part = reader.event_list(all, after, limit(3)).await.unwrap();
        if part.is_empty() {
            break;
        }
        seen.extend(part);
    }
    let expected: Vec<_> = (1..)
        .zip(&events)
        .map(|(sequence, event)| Event { sequence, event: event.clone() })
        .collect();
    assert_eq!(seen, expected);
    let mut back = Vec::new();
    let mut before = None;
    loop {
        let page = reader.event_list_recent(all, before, limit(3)).await.unwrap();
        back.extend(page.items);
        match page.next {
            Some(next) => before = Some(next.parse().unwrap()),
            None => break,
        }
    }
    back.reverse();
    assert_eq!(back, expected);
}

async fn events_are_filtered(world: World) {
    let (alpha, beta) = (world.project("alpha").await.id, world.project("beta").await.id);
    let node = NewEvent {
        object: ObjectRef::new(ObjectKind::Node, "n1", "n1"),
        ..event(EventKind::NodeOnline, None, "", 0)
    };
    append(
        &world,
        &[
            event(EventKind::TaskCreated, Some(alpha), "t1", 0),
            event(EventKind::TaskCreated, Some(beta), "t2", 0),
            node,
            event(EventKind::TaskKilled, Some(alpha), "t1", 0),
        ],
        &[],
    )
    .await;
    let all = EventFilter::default();
    let (a, both) = ([alpha], [alpha, beta]);
    for (filter, expected) in [
        (all, vec![1, 2, 3, 4]),
        (EventFilter { visible: Some(&a), ..all }, vec![1, 4]),
        (EventFilter { visible: Some(&a), include_global: true, ..all }, vec![1, 3, 4]),
        (EventFilter { visible: Some(&both), ..all }, vec![1, 2, 4]),
        (EventFilter { visible: Some(&[]), ..all }, vec![]),
        (EventFilter { visible: Some(&[]), include_global: true, ..all }, vec![3]),
        (EventFilter { project: Some(beta), ..all }, vec![2]),
        (EventFilter { project: Some(beta), visible: Some(&a), ..all }, vec![]),
        (EventFilter { kinds: &[EventKind::TaskKilled, EventKind::NodeOnline], ..all }, vec![3, 4]),
        (EventFilter { object_kinds: &[ObjectKind::Node], ..all }, vec![3]),
        (
            EventFilter { object_kinds: &[ObjectKind::Node, ObjectKind::Task], ..all },
            vec![1, 2, 3, 4],
        ),
        (EventFilter { object_id: Some("t1"), ..all }, vec![1, 4]),
    ] {
        let mut reader = world.read().await.unwrap();
        let found = reader.event_list(filter, 0, limit(10)).await.unwrap();
        let numbers: Vec<_> = found.iter().map(|e| e.sequence).collect();
        assert_eq!(numbers, expected, "{filter:?}");
        let recent = reader.event_list_recent(filter, None, limit(10)).await.unwrap();
        let mut numbers: Vec<_> = recent.items.iter().map(|e| e.sequence).collect();
        numbers.reverse();
        assert_eq!(numbers, expected, "{filter:?}");
    }
}

async fn compaction_raises_the_floor(world: World) {
    let events: Vec<_> =
        (1..=10).map(|i| event(EventKind::TaskCreated, None, "t", i * 10)).collect();
    append(&world, &events, &[]).await;
    let compact = async |before, keep| {
        world.tx("compact", |tx| Box::pin(tx.event_compact(at(before), keep))).await.unwrap()
    };
    let bounds = async || world.read().await.unwrap().event_bounds().await.unwrap();
    assert_eq!(compact(10, 0).await, 0);
    assert_eq!(bounds().await, (0, 10));
    assert_eq!(compact(40, 0).await, 3);
    assert_eq!(bounds().await, (3, 10));
    assert_eq!(compact(40, 0).await, 0);
    assert_eq!(compact(1000, 4).await, 3);
    assert_eq!(bounds().await, (6, 10));
    assert_eq!(compact(1000, 0).await, 4);
    assert_eq!(bounds().await, (10, 10));
    assert_eq!(compact(1000, 0).await, 0);
    append(&world, &events[..1], &[]).await;
    let mut reader = world.read().await.unwrap();
    let left = reader.event_list(EventFilter::default(), 0, limit(10)).await.unwrap();
    assert_eq!(left.iter().map(|e| e.sequence).collect::<Vec<_>>(), [11]);
}

async fn fifty_writers_leave_no_gap_and_a_reader_misses_nothing(world: World) {
    const WRITERS: usize = 50;
    let again = world.clone();
    let writers = together(WRITERS, move |i| {
        let world = again.clone();
        async move {
            let events = [
                event(EventKind::TaskCreated, None, &format!("w{i}-a"), 0),
                event(EventKind::TaskCreated, None, &format!("w{i}-b"), 0),
            ];
            append(&world, &events, &[audit(&format!("task.create-{i}"))]).await;
        }
    });
    let follower = async {
        let mut ids = Vec::new();
        let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
        while ids.len() < WRITERS * 2 {
            assert!(tokio::time::Instant::now() < deadline, "saw {} events", ids.len());
            let mut reader = world.read().await.unwrap();
            let part = reader
                .event_list(EventFilter::default(), ids.len() as u64, limit(7))
                .await
                .unwrap();
            for found in part {
                assert_eq!(found.sequence, ids.len() as u64 + 1);
                ids.push(found.event.object.id);
            }
        }
        ids
    };
    let (_, ids) = tokio::join!(writers, follower);
    for pair in ids.chunks(2) {
        assert_eq!(pair[0].replace("-a", "-b"), pair[1]);
    }
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), WRITERS * 2);
    let verdict = world.read().await.unwrap().audit_verify().await.unwrap();
    assert!(verdict.is_intact, "{verdict:?}");
    assert_eq!(verdict.entries, WRITERS as u64);
}

async fn a_failed_transaction_uses_no_number(world: World) {
    let (events, entries) = ([event(EventKind::TaskCreated, None, "t", 0)], [audit("a.b")]);
    let (events, entries) = (&events, &entries);
    let failed: std::result::Result<(), Refused> = world
        .tx("fail", |tx| {
            Box::pin(async move {
                tx.journal_append(events, entries).await?;
                Err(Refused)
            })
        })
        .await;
    assert!(failed.is_err());
    append(&world, events, entries).await;
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.event_bounds().await.unwrap(), (0, 1));
    let verdict = reader.audit_verify().await.unwrap();
    assert!(verdict.is_intact && verdict.entries == 1, "{verdict:?}");
}

#[derive(Debug)]
struct Refused;

impl From<hostler_store::Error> for Refused {
    fn from(_: hostler_store::Error) -> Refused {
        Refused
    }
}

async fn audit_entries_are_listed_and_filtered(world: World) {
    let mut entries: Vec<_> =
        ["task.create", "task.kill", "node.cordon", "task.create"].into_iter().map(audit).collect();
    entries[1].actor.name = "bob".to_owned();
    append(&world, &[], &entries).await;
    let mut reader = world.read().await.unwrap();
    let all = AuditFilter::default();
    for (filter, expected) in [
        (all, vec![4, 3, 2, 1]),
        (AuditFilter { actor: Some("ada"), ..all }, vec![4, 3, 1]),
        (AuditFilter { action: Some("task.create"), ..all }, vec![4, 1]),
        (AuditFilter { actor: Some("bob"), action: Some("task.create"), ..all }, vec![]),
    ] {
        let mut seen = Vec::new();
        let mut before = None;
        loop {
            let page = reader.audit_list(filter, before, limit(2)).await.unwrap();
            for found in page.items {
                let index = usize::try_from(found.sequence).unwrap() - 1;
                assert_eq!(found.entry, entries[index]);
                seen.push(found.sequence);
            }
            match page.next {
                Some(next) => before = Some(next.parse().unwrap()),
                None => break,
            }
        }
        assert_eq!(seen, expected, "{filter:?}");
    }
}

/// A chain of a few entries, longer than one multi-row insert.
async fn chain(world: &World) {
    let mut entries: Vec<_> = (0..150).map(|i| audit(&format!("task.a{i}"))).collect();
    entries[3].actor.name = "nul \u{0} inside".to_owned();
    append(world, &[], &entries[..1]).await;
    append(world, &[], &entries[1..]).await;
}

async fn verdict(world: &World) -> AuditVerdict {
    world.read().await.unwrap().audit_verify().await.unwrap()
}

async fn an_untouched_chain_is_intact(world: World) {
    let empty = verdict(&world).await;
    assert!(empty.is_intact && empty.entries == 0);
    assert_eq!(empty.head, "00".repeat(32));
    chain(&world).await;
    let full = verdict(&world).await;
    assert!(full.is_intact, "{full:?}");
    assert_eq!((full.entries, full.head.len()), (150, 64));
}

async fn broken_at(world: &World, sql: &str, number: u64) {
    chain(world).await;
    world.raw(sql).await;
    let found = verdict(world).await;
    assert!(!found.is_intact);
    assert_eq!(found.first_bad, Some(number), "{found:?}");
    assert!(found.problem.is_some());
}

async fn a_changed_entry_shows(world: World) {
    broken_at(&world, "UPDATE audit_entry SET actor_name = 'adb' WHERE sequence = 77", 77).await;
}

async fn an_unreadable_entry_shows(world: World) {
    broken_at(&world, "UPDATE audit_entry SET detail = '{' WHERE sequence = 5", 5).await;
}

async fn a_missing_entry_shows(world: World) {
    broken_at(&world, "DELETE FROM audit_entry WHERE sequence = 100", 100).await;
}

async fn a_cut_off_end_shows(world: World) {
    broken_at(&world, "DELETE FROM audit_entry WHERE sequence > 140", 141).await;
}

async fn a_rewritten_chain_shows_in_the_head(world: World) {
    let sql = "DELETE FROM audit_entry WHERE sequence = 150; UPDATE journal_head SET audit_sequence = 149";
    broken_at(&world, sql, 150).await;
}
