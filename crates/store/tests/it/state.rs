//! State: rows, sums, the log, and what becomes of all of it.

use std::collections::HashMap;

use hostler_model::*;
use hostler_store::{Conn, StateListing};

use crate::world::*;

crate::conformance!(
    entries_are_what_was_written,
    a_row_without_a_value_keeps_the_one_it_has,
    keys_are_listed_in_order_by_their_beginning,
    what_is_gone_or_past_its_time_is_not_listed,
    what_is_due_is_found_in_order,
    sums_and_quotas_belong_to_their_projects,
    the_log_is_read_from_any_revision_and_cut,
    two_batches_at_once_come_one_after_the_other,
    a_project_with_state_stays,
);

fn at(project: &Project, namespace: &str, key: &str) -> StateAddress {
    StateAddress { project_id: project.id, namespace: name(namespace), key: key.parse().unwrap() }
}

fn row(at: StateAddress, revision: u64, value: &[u8]) -> StateRecord {
    StateRecord {
        at,
        is_gone: false,
        revision,
        create_revision: revision,
        version: 1,
        size: value.len() as u64,
        value: Some(value.into()),
        owner: Actor { kind: ActorKind::User, name: "ann smith".to_owned() },
        time_created: Timestamp::from_micros(5),
        time_modified: Timestamp::from_micros(6),
        time_expires: None,
    }
}

fn gone(row: &StateRecord, revision: u64) -> StateRecord {
    StateRecord { is_gone: true, value: None, size: 0, time_expires: None, revision, ..row.clone() }
}

fn change(row: &StateRecord) -> StateChange {
    StateChange {
        kind: if row.is_gone { StateChangeKind::Deleted } else { StateChangeKind::Put },
        at: row.at.clone(),
        revision: row.revision,
        previous: 0,
        create_revision: row.create_revision,
        version: row.version,
        value: row.value.clone(),
        time_expires: row.time_expires,
        owner: row.owner.clone(),
    }
}

/// Writes rows as one batch with the revisions after the head.
async fn write(world: &World, rows: &[StateRecord], sums: &[StateSum]) -> StateBatch {
    let written: Result<StateBatch> = world
        .tx("test", |tx| {
            Box::pin(async move {
                let (before, _) = tx.state_head_lock([]).await?;
                let head = StateHead {
                    revision: before.revision + rows.len() as u64,
                    time: Timestamp::from_micros(before.time.micros() + 10),
                    ..before
                };
                let batch = StateBatch {
                    first: before.revision + 1,
                    last: head.revision,
                    time: head.time,
                    changes: rows.iter().map(change).collect(),
                };
                tx.state_write(head, rows, sums, &batch).await?;
                Ok(batch)
            })
        })
        .await;
    written.unwrap()
}

async fn read_one(conn: &mut Conn, at: &StateAddress) -> Option<StateRecord> {
    conn.state_rows(&[at.to_string()], true).await.unwrap().into_iter().next()
}

async fn entries_are_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let plain = row(at(&project, "app", "a/b"), 1, b"\0\xff any bytes");
    let mut brief = row(at(&project, "app", "ü x"), 2, b"");
    brief.time_expires = Some(Timestamp::from_micros(99));
    write(&world, &[plain.clone(), brief.clone()], &[]).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read_one(&mut read, &plain.at).await, Some(plain.clone()));
    assert_eq!(read_one(&mut read, &brief.at).await, Some(brief.clone()));
    assert_eq!(read_one(&mut read, &at(&project, "app", "other")).await, None);
    assert_eq!(read_one(&mut read, &at(&project, "prod", "a/b")).await, None);
    let ids: Vec<String> =
        (0..600).map(|n| at(&project, "app", &n.to_string()).to_string()).collect();
    let ids: Vec<String> = ids.into_iter().chain([plain.at.to_string()]).collect();
    let found = read.state_rows(&ids, false).await.unwrap();
    assert_eq!(found, [StateRecord { value: None, ..plain.clone() }]);
    assert_eq!(read.state_rows(&[], true).await.unwrap(), []);
    let head = read.state_head().await.unwrap();
    assert_eq!((head.revision, head.time.micros()), (2, 10));
    assert!(head.logged > 0);
    drop(read);

    let large = row(at(&project, "app", "large"), 3, &vec![7; STATE_VALUE_MAX]);
    let swapped = StateRecord { version: 2, ..row(plain.at.clone(), 4, b"new") };
    write(&world, &[large.clone(), swapped.clone()], &[]).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read_one(&mut read, &plain.at).await, Some(swapped));
    assert_eq!(read_one(&mut read, &large.at).await, Some(large));
}

async fn a_row_without_a_value_keeps_the_one_it_has(world: World) {
    let project = world.project("alpha").await;
    let first = row(at(&project, "app", "a"), 1, b"value");
    write(&world, std::slice::from_ref(&first), &[]).await;
    let touched = StateRecord {
        value: None,
        revision: 2,
        version: 2,
        time_expires: Some(Timestamp::from_micros(50)),
        ..first.clone()
    };
    write(&world, std::slice::from_ref(&touched), &[]).await;
    let mut read = world.read().await.unwrap();
    let found = read_one(&mut read, &first.at).await.unwrap();
    assert_eq!(found, StateRecord { value: first.value.clone(), ..touched });
    drop(read);
    let ended = gone(&found, 3);
    write(&world, std::slice::from_ref(&ended), &[]).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read_one(&mut read, &first.at).await, Some(ended), "and of what is gone none");
}

fn listing<'a>(project: &Project, namespace: &'a Name, prefix: &'a str) -> StateListing<'a> {
    StateListing {
        project: project.id,
        namespace,
        prefix,
        after: None,
        with_values: false,
        now: Timestamp::from_micros(100),
    }
}

fn keys(page: &Page<StateRecord>) -> Vec<&str> {
    page.items.iter().map(|record| record.at.key.as_str()).collect()
}

async fn keys_are_listed_in_order_by_their_beginning(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let mut rows = Vec::new();
    for (n, key) in ["b", "a/2", "a/1", "a/10", "a", "a0", "ä", "a/\u{10ffff}x"].iter().enumerate()
    {
        rows.push(row(at(&alpha, "app", key), n as u64 + 1, b"v"));
    }
    rows.push(row(at(&alpha, "app-2", "a/3"), 9, b"v"));
    rows.push(row(at(&beta, "app", "a/4"), 10, b"v"));
    write(&world, &rows, &[]).await;
    let mut read = world.read().await.unwrap();
    let app = name("app");
    let all = read.state_list(listing(&alpha, &app, ""), Limit::DEFAULT).await.unwrap();
    assert_eq!(keys(&all), ["a", "a/1", "a/10", "a/2", "a/\u{10ffff}x", "a0", "b", "ä"]);
    let below = listing(&alpha, &app, "a/");
    let some = read.state_list(below, Limit::DEFAULT).await.unwrap();
    assert_eq!(keys(&some), ["a/1", "a/10", "a/2", "a/\u{10ffff}x"]);
    let page = read.state_list(below, Limit::new(2).unwrap()).await.unwrap();
    assert_eq!((keys(&page), page.next.as_deref()), (vec!["a/1", "a/10"], Some("a/10")));
    let rest = StateListing { after: page.next.as_deref(), with_values: true, ..below };
    let rest = read.state_list(rest, Limit::DEFAULT).await.unwrap();
    assert_eq!(keys(&rest), ["a/2", "a/\u{10ffff}x"]);
    assert_eq!(rest.items[0].value.as_deref(), Some(&b"v"[..]));
    assert_eq!(some.items[0].value, None);
    let none = read.state_list(listing(&alpha, &app, "%"), Limit::DEFAULT).await.unwrap();
    assert!(none.items.is_empty());
}

async fn what_is_gone_or_past_its_time_is_not_listed(world: World) {
    let project = world.project("alpha").await;
    let app = name("app");
    let until = |key: &str, revision, micros| StateRecord {
        time_expires: Some(Timestamp::from_micros(micros)),
        ..row(at(&project, "app", key), revision, b"v")
    };
    let ended = gone(&row(at(&project, "app", "gone"), 1, b"v"), 1);
    let rows = [ended, until("past", 2, 99), until("now", 3, 100), until("later", 4, 101)];
    write(&world, &rows, &[]).await;
    let mut read = world.read().await.unwrap();
    let found = read.state_list(listing(&project, &app, ""), Limit::DEFAULT).await.unwrap();
    assert_eq!(keys(&found), ["later"]);
    drop(read);

    let forgotten = async |before| {
        let result: Result<u64> =
            world.tx("test", |tx| Box::pin(tx.state_forget_gone(before, 10))).await;
        result.unwrap()
    };
    assert_eq!(forgotten(1).await, 0, "its last change is still in the log");
    assert_eq!(forgotten(2).await, 1);
    assert_eq!(forgotten(100).await, 0, "what only expired is not gone yet");
}

async fn what_is_due_is_found_in_order(world: World) {
    let project = world.project("alpha").await;
    assert_eq!(world.read().await.unwrap().state_next_due().await.unwrap(), None);
    let rows: Vec<StateRecord> = [(30, "c"), (10, "a"), (20, "b")]
        .iter()
        .enumerate()
        .map(|(n, (micros, key))| StateRecord {
            time_expires: Some(Timestamp::from_micros(*micros)),
            ..row(at(&project, "app", key), n as u64 + 1, b"v")
        })
        .collect();
    write(&world, &rows, &[]).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.state_next_due().await.unwrap(), Some(Timestamp::from_micros(10)));
    let mut due = async |micros, limit| {
        let due = read.state_due(Timestamp::from_micros(micros), limit).await.unwrap();
        due.into_iter().map(|at| at.key.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(due(9, 10).await, Vec::<String>::new());
    assert_eq!(due(20, 10).await, ["a", "b"]);
    assert_eq!(due(99, 2).await, ["a", "b"]);
}

async fn sums_and_quotas_belong_to_their_projects(world: World) {
    let alpha = world.project("alpha").await;
    let mut beta = project("beta");
    beta.quota.state = Some(Bytes::new(5000));
    world.tx("test", |tx| Box::pin(tx.project_insert(&beta))).await.unwrap();
    let sum = |project: &Project, namespace: Option<&str>, entries, bytes| StateSum {
        project_id: project.id,
        namespace: namespace.map(name),
        entries,
        bytes,
    };
    let sums = [
        sum(&alpha, None, 3, 30),
        sum(&alpha, Some("app"), 2, 20),
        sum(&alpha, Some("prod"), 1, 10),
        sum(&alpha, Some("empty"), 0, 0),
        sum(&beta, None, 1, 7),
        sum(&beta, Some("app"), 1, 7),
    ];
    let entry = row(at(&alpha, "app", "a"), 1, b"v");
    write(&world, std::slice::from_ref(&entry), &sums).await;
    write(&world, &[StateRecord { revision: 2, ..entry }], &[sum(&alpha, None, 3, 31)]).await;
    let mut read = world.read().await.unwrap();
    let app = name("app");
    let asked = [(alpha.id, None), (alpha.id, Some(&app))];
    let mut found = read.state_sums(asked).await.unwrap();
    found.sort_by_key(|sum| sum.bytes);
    assert_eq!(found, [sum(&alpha, Some("app"), 2, 20), sum(&alpha, None, 3, 31)]);
    let page = read.state_namespaces(alpha.id, None, Limit::new(1).unwrap()).await.unwrap();
    assert_eq!(
        (page.items, page.next.as_deref()),
        (vec![sum(&alpha, Some("app"), 2, 20)], Some("app"))
    );
    let rest = read.state_namespaces(alpha.id, Some("app"), Limit::DEFAULT).await.unwrap();
    assert_eq!(rest.items, [sum(&alpha, Some("prod"), 1, 10)]);
    let nobody = ProjectId::from_uuid(next_uuid());
    let head = read.state_head().await.unwrap();
    let locked: Result<_> =
        world.tx("test", |tx| Box::pin(tx.state_head_lock([alpha.id, beta.id, nobody]))).await;
    assert_eq!(locked.unwrap(), (head, [(alpha.id, None), (beta.id, Some(5000))].into()));
    let locked: Result<_> = world.tx("test", |tx| Box::pin(tx.state_head_lock([nobody]))).await;
    assert_eq!(locked.unwrap(), (head, HashMap::new()));
    let usage = read.project_usage_all().await.unwrap();
    assert_eq!((usage[&alpha.id].state, usage[&beta.id].state), (Bytes::new(31), Bytes::new(7)));
}

async fn the_log_is_read_from_any_revision_and_cut(world: World) {
    let project = world.project("alpha").await;
    let mut batches = Vec::new();
    for (n, count) in [(0, 2_u64), (2, 1), (3, 3)] {
        let rows: Vec<StateRecord> =
            (1..=count).map(|i| row(at(&project, "app", &i.to_string()), n + i, b"v")).collect();
        batches.push(write(&world, &rows, &[]).await);
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.state_log_after(0, 10).await.unwrap(), batches);
    assert_eq!(read.state_log_after(0, 1).await.unwrap(), batches[..1]);
    assert_eq!(read.state_log_after(1, 10).await.unwrap(), batches, "in the middle of a batch");
    assert_eq!(read.state_log_after(2, 10).await.unwrap(), batches[1..]);
    assert_eq!(read.state_log_after(6, 10).await.unwrap(), []);
    for revision in 1..=6 {
        let batch = read.state_log_at(revision).await.unwrap().unwrap();
        assert!((batch.first..=batch.last).contains(&revision));
    }
    assert_eq!(read.state_log_at(7).await.unwrap(), None);
    assert_eq!(read.state_log_first().await.unwrap(), Some(1));
    let marks = read.state_log_oldest(10).await.unwrap();
    assert_eq!(marks.iter().map(|mark| mark.last).collect::<Vec<_>>(), [2, 3, 6]);
    assert!(marks.windows(2).all(|pair| pair[0].logged < pair[1].logged));
    assert_eq!(marks[2].logged, read.state_head().await.unwrap().logged);
    drop(read);

    let cut: Result<u64> = world.tx("test", |tx| Box::pin(tx.state_log_cut(3))).await;
    assert_eq!(cut.unwrap(), 2);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.state_log_first().await.unwrap(), Some(4));
    assert_eq!(read.state_log_at(2).await.unwrap(), None);
    assert_eq!(read.state_log_after(0, 10).await.unwrap(), batches[2..]);
}

async fn two_batches_at_once_come_one_after_the_other(world: World) {
    let project = &world.project("alpha").await;
    let counter = &at(project, "app", "n");
    let add = async || {
        let done: Result<()> = world
            .tx("test", |tx| {
                Box::pin(async move {
                    let (before, _) = tx.state_head_lock([]).await?;
                    let found = tx.state_rows(&[counter.to_string()], true).await?;
                    let has: u64 = found
                        .first()
                        .and_then(|row| row.value.as_deref())
                        .map_or(0, |value| std::str::from_utf8(value).unwrap().parse().unwrap());
                    let revision = before.revision + 1;
                    let row = row(counter.clone(), revision, (has + 1).to_string().as_bytes());
                    let batch = StateBatch {
                        first: revision,
                        last: revision,
                        time: before.time,
                        changes: vec![change(&row)],
                    };
                    let head = StateHead { revision, ..before };
                    tx.state_write(head, std::slice::from_ref(&row), &[], &batch).await
                })
            })
            .await;
        done.unwrap();
    };
    let adding = || async {
        for _ in 0..10 {
            add().await;
        }
    };
    tokio::join!(adding(), adding(), adding());
    let mut read = world.read().await.unwrap();
    let entry = read_one(&mut read, counter).await.unwrap();
    assert_eq!(entry.value.as_deref(), Some(&b"30"[..]));
    assert_eq!(read.state_head().await.unwrap().revision, 30);
    let log = read.state_log_after(0, 100).await.unwrap();
    assert!(log.iter().map(|batch| batch.first).eq(1..=30));
}

async fn a_project_with_state_stays(world: World) {
    let project = world.project("alpha").await;
    let other = world.project("beta").await;
    let entry = row(at(&project, "app", "a"), 1, b"v");
    let sum = |entries, bytes| {
        [None, Some(name("app"))].map(|namespace| StateSum {
            project_id: project.id,
            namespace,
            entries,
            bytes,
        })
    };
    write(&world, std::slice::from_ref(&entry), &sum(1, 2)).await;
    write(&world, &[row(at(&other, "app", "a"), 2, b"v")], &[]).await;
    let delete = async || {
        let result: Result<hostler_store::Update> = world
            .tx("test", |tx| Box::pin(tx.project_delete(project.id, project.generation)))
            .await;
        result
    };
    let refused = delete().await.unwrap_err();
    assert!(matches!(refused, hostler_store::Error::Conflict { .. }), "{refused:?}");
    write(&world, &[gone(&entry, 3)], &sum(0, 0)).await;
    assert_eq!(delete().await.unwrap(), hostler_store::Update::Updated);
    let mut read = world.read().await.unwrap();
    assert_eq!(read_one(&mut read, &entry.at).await, None, "nothing is left of it");
    assert!(read_one(&mut read, &at(&other, "app", "a")).await.is_some());
    assert_eq!(read.state_sums([(project.id, None)]).await.unwrap(), []);
}
