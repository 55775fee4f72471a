//! Searching audit entries, anchors of the chain, and sinks that follow it.

use std::time::Duration;

use hostler_model::*;
use hostler_store::AuditFilter;

use crate::world::*;

crate::conformance!(
    entries_are_found_by_everything_they_have,
    digests_are_kept_and_chained,
    rare_words_are_found_page_by_page,
    anchors_are_kept_once_and_held_against_their_entries,
    sinks_go_forward_only_from_where_they_were,
);

async fn append(world: &World, audit: &[NewAuditEntry]) {
    world.tx("append", |tx| Box::pin(tx.journal_append(&[], audit))).await.unwrap();
}

async fn found(world: &World, filter: AuditFilter<'_>) -> Vec<u64> {
    let mut reader = world.read().await.unwrap();
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = reader.audit_list(filter, before, limit(2)).await.unwrap();
        seen.extend(page.items.iter().map(|entry| entry.sequence));
        match page.next {
            Some(next) => before = Some(next.parse().unwrap()),
            None => return seen,
        }
    }
}

async fn entries_are_found_by_everything_they_have(world: World) {
    let project = ProjectId::from_uuid(next_uuid());
    let mut entries: Vec<_> = (0..6).map(|i| audit(&format!("task.a{i}"))).collect();
    for (seconds, entry) in (0..).zip(&mut entries) {
        entry.time = at(seconds * 10);
    }
    entries[1].object = ObjectRef::new(ObjectKind::Node, "n-1", "web");
    entries[2].object = ObjectRef::new(ObjectKind::Node, "n-2", "100%_sure");
    entries[3].project_id = Some(project);
    entries[4].source = "10.1.2.3".to_owned();
    entries[5].detail = serde_json::json!({ "reason": "Broken FAN" });
    // A server whose clock is behind.
    entries[5].time = at(15);
    append(&world, &entries).await;
    let all = AuditFilter::default();
    for (filter, expected) in [
        (AuditFilter { object: Some("n-1"), ..all }, vec![2]),
        (AuditFilter { action: Some("task.a1"), ..all }, vec![2]),
        (AuditFilter { action: Some("task."), ..all }, vec![6, 5, 4, 3, 2, 1]),
        (AuditFilter { action: Some("task.*"), source: Some("10.1.2.3"), ..all }, vec![5]),
        (AuditFilter { action: Some("task.a3*"), ..all }, vec![4]),
        (AuditFilter { action: Some("task"), ..all }, vec![]),
        (AuditFilter { action: Some("tas.*"), ..all }, vec![]),
        (AuditFilter { object: Some("web"), ..all }, vec![2]),
        (AuditFilter { object_kind: Some(ObjectKind::Node), ..all }, vec![3, 2]),
        (AuditFilter { object_kind: Some(ObjectKind::Task), object: Some("web"), ..all }, vec![]),
        (AuditFilter { project: Some(project), ..all }, vec![4]),
        (AuditFilter { source: Some("10.1.2.3"), ..all }, vec![5]),
        (AuditFilter { since: Some(at(15)), ..all }, vec![6, 5, 4, 3]),
        (AuditFilter { since: Some(at(41)), ..all }, vec![]),
        (AuditFilter { until: Some(at(20)), ..all }, vec![6, 2, 1]),
        (AuditFilter { since: Some(at(10)), until: Some(at(16)), ..all }, vec![6, 2]),
        (AuditFilter { text: Some("fan"), ..all }, vec![6]),
        (AuditFilter { text: Some("BROKEN f"), ..all }, vec![6]),
        (AuditFilter { text: Some("0%_S"), ..all }, vec![3]),
        (AuditFilter { text: Some("0%e"), ..all }, vec![]),
        (AuditFilter { text: Some("TASK.A4"), ..all }, vec![5]),
        (AuditFilter { text: Some("a4\\"), ..all }, vec![]),
        (AuditFilter { text: Some("' OR 1=1 --"), ..all }, vec![]),
    ] {
        assert_eq!(found(&world, filter).await, expected, "{filter:?}");
    }
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.audit_first_since(at(15)).await.unwrap(), 3);
    assert_eq!(reader.audit_first_since(at(1000)).await.unwrap(), 7);
    let after = reader.audit_after(4, 10).await.unwrap();
    assert_eq!(after.iter().map(|e| e.sequence).collect::<Vec<_>>(), [5, 6]);
}

async fn digests_are_kept_and_chained(world: World) {
    let (old, new) = (serde_json::json!({ "n": 1 }), serde_json::json!({ "n": 2 }));
    let entries = [audit("a.b"), audit("a.b").with_states(Some(&old), Some(&new)), audit("a.c")];
    append(&world, &entries).await;
    let mut reader = world.read().await.unwrap();
    let kept = reader.audit_after(0, 10).await.unwrap();
    let kept: Vec<_> = kept.into_iter().map(|entry| entry.entry).collect();
    assert_eq!(kept, entries);
    assert!(reader.audit_verify().await.unwrap().is_intact);
    drop(reader);
    world.raw("UPDATE audit_entry SET digest_after = digest_before WHERE sequence = 2").await;
    let verdict = world.read().await.unwrap().audit_verify().await.unwrap();
    assert_eq!(verdict.first_bad, Some(2), "{verdict:?}");
}

async fn rare_words_are_found_page_by_page(world: World) {
    let mut entries: Vec<_> = (0..20).map(|_| audit("task.create")).collect();
    entries[0].actor.name = "needle".to_owned();
    append(&world, &entries).await;
    // As if a great many had come since.
    world
        .raw("UPDATE audit_entry SET sequence = sequence + 120000 WHERE sequence > 1; UPDATE journal_head SET audit_sequence = 120020")
        .await;
    let mut reader = world.read().await.unwrap();
    let filter = AuditFilter { text: Some("needle"), ..AuditFilter::default() };
    let (mut pages, mut before, mut seen) = (0, None, Vec::new());
    loop {
        let page = reader.audit_list(filter, before, limit(5)).await.unwrap();
        seen.extend(page.items.iter().map(|entry| entry.sequence));
        pages += 1;
        match page.next {
            Some(next) => before = Some(next.parse().unwrap()),
            None => break,
        }
    }
    assert_eq!((seen, pages), (vec![1], 3));
}

fn anchor(sequence: u64, hash: Vec<u8>) -> AuditAnchor {
    AuditAnchor {
        sequence,
        hash,
        time: at(1),
        authority: "sha256:00".to_owned(),
        signature: vec![1, 2, 3],
    }
}

async fn anchors_are_kept_once_and_held_against_their_entries(world: World) {
    let entries: Vec<_> = (0..5).map(|_| audit("a.b")).collect();
    append(&world, &entries).await;
    let head = world.read().await.unwrap().audit_head().await.unwrap();
    assert_eq!(head.0, 5);
    assert_eq!(world.read().await.unwrap().audit_anchor_last().await.unwrap(), None);
    let (good, other) = (anchor(5, head.1.clone()), anchor(2, vec![9; 32]));
    let (good_ref, other_ref) = (&good, &other);
    for (given, is_new) in [(good_ref, true), (other_ref, true), (good_ref, false)] {
        let done = world.tx("anchor", |tx| Box::pin(tx.audit_anchor_insert(given))).await.unwrap();
        assert_eq!(done, is_new);
    }
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.audit_anchor_last().await.unwrap(), Some(good.clone()));
    let page = reader.audit_anchor_list(None, limit(1)).await.unwrap();
    assert_eq!((page.items, page.next.as_deref()), (vec![good.clone()], Some("5")));
    let page = reader.audit_anchor_list(Some(5), limit(1)).await.unwrap();
    assert_eq!((page.items, page.next), (vec![other.clone()], None));
    assert_eq!(reader.audit_anchors_between(2, 5, 9).await.unwrap(), std::slice::from_ref(&good));
    assert_eq!(reader.audit_anchors_between(0, 4, 9).await.unwrap(), std::slice::from_ref(&other));
    let held = reader.audit_anchors_held(0, 10).await.unwrap();
    assert_eq!(held.len(), 2);
    assert_ne!(held[0].1.as_ref(), Some(&other.hash));
    assert_eq!(held[1].1.as_ref(), Some(&good.hash));
}

async fn sinks_go_forward_only_from_where_they_were(world: World) {
    let fresh = AuditSinkState {
        name: "siem".to_owned(),
        sequence: 0,
        anchor_sequence: 0,
        problem: None,
        time_modified: at(0),
    };
    let fresh = &fresh;
    let insert = || world.tx("insert", |tx| Box::pin(tx.audit_sink_insert(fresh)));
    assert!(insert().await.unwrap());
    assert!(!insert().await.unwrap());
    let problem = |text: &'static str| {
        world.tx("problem", move |tx| Box::pin(tx.audit_sink_problem("siem", text, at(1))))
    };
    assert!(problem("no answer").await.unwrap());
    assert!(!problem("another").await.unwrap());
    let held = world.read().await.unwrap().audit_sink_get("siem").await.unwrap().unwrap();
    assert_eq!(held.problem.as_deref(), Some("another"));
    let advance = |from: AuditSinkState, to: u64| {
        let world = &world;
        async move {
            let from = &from;
            world
                .tx("advance", |tx| Box::pin(tx.audit_sink_advance(from, to, to / 2, at(2))))
                .await
                .unwrap()
        }
    };
    assert!(advance(held.clone(), 10).await);
    assert!(!advance(held, 20).await);
    let now = world.read().await.unwrap().audit_sink_list().await.unwrap();
    assert_eq!(now.len(), 1);
    assert_eq!((now[0].sequence, now[0].anchor_sequence, &now[0].problem), (10, 5, &None));
    assert!(advance(now[0].clone(), 3).await);
    let kept = world.read().await.unwrap().audit_sink_get("siem").await.unwrap().unwrap();
    assert_eq!((kept.sequence, kept.time_modified.since(at(0))), (10, Duration::from_secs(2)));
}
