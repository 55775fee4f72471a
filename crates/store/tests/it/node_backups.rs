//! Backups of nodes: their rows, what they need, and objects in stores that are not the database.

use std::time::Duration;

use hostler_model::*;
use hostler_store::{Chunk, Committed, NodeBackupFilter, Update};

use crate::world::*;

crate::conformance!(
    a_backup_is_listed_found_changed_and_removed,
    what_only_a_backup_needs_goes_with_it,
    no_object_is_forgotten_and_none_is_removed_that_is_needed,
);

fn digest(n: u8) -> Digest {
    Digest::from_bytes([n; 32])
}

fn s3() -> BackupStore {
    "s3".parse().unwrap()
}

fn backup(node: NodeId, label: &str, seconds: i64) -> NodeBackup {
    NodeBackup {
        id: NodeBackupId::from_uuid(next_uuid()),
        node_id: node,
        node_name: "web-1".parse().unwrap(),
        label: label.to_owned(),
        store: s3(),
        spec: NodeBackupSpec {
            paths: vec!["/etc".into()],
            exclude: vec!["*.tmp".into()],
            cross_filesystems: true,
        },
        state: NodeBackupState::Waiting,
        operation_id: OperationId::from_uuid(next_uuid()),
        outcome: None,
        error: None,
        verdict: None,
        created_by: Actor { kind: ActorKind::User, name: "ada".into() },
        generation: Generation::FIRST,
        time_created: at(seconds),
        time_ended: None,
    }
}

fn outcome(volumes: &[u8]) -> NodeBackupOutcome {
    NodeBackupOutcome {
        manifest: BackupVolume { digest: digest(100), size: 7 },
        volumes: volumes.iter().map(|n| BackupVolume { digest: digest(*n), size: 100 }).collect(),
        files: 3,
        directories: 2,
        links: 1,
        bytes: Bytes::new(100),
        bytes_sent: Bytes::new(10),
        changed: 0,
        vanished: 0,
        unreadable: 0,
        special: 0,
        troubles: Vec::new(),
    }
}

async fn insert(world: &World, backup: &NodeBackup) {
    world.tx("test", |tx| Box::pin(tx.node_backup_insert(backup))).await.unwrap();
}

async fn a_backup_is_listed_found_changed_and_removed(world: World) {
    let (one, other) = (NodeId::from_uuid(next_uuid()), NodeId::from_uuid(next_uuid()));
    let first = backup(one, "nightly", 1);
    let second = backup(one, "nightly", 2);
    let third = backup(other, "", 3);
    for one in [&first, &second, &third] {
        insert(&world, one).await;
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.node_backup_get(first.id).await.unwrap(), Some(first.clone()));
    assert_eq!(read.node_backup_find("nightly").await.unwrap(), Some(second.clone()));
    assert_eq!(read.node_backup_find("weekly").await.unwrap(), None);
    let limit = Limit::new(2).unwrap();
    let all = NodeBackupFilter::default();
    let page = read.node_backup_list(&all, None, limit).await.unwrap().unwrap();
    assert_eq!(page.items, [third.clone(), second.clone()]);
    let next = page.next.unwrap();
    let rest = read.node_backup_list(&all, Some(&next), limit).await.unwrap().unwrap();
    assert_eq!((rest.items, rest.next), (vec![first.clone()], None));
    assert_eq!(read.node_backup_list(&all, Some("x"), limit).await.unwrap(), None);
    let of = NodeBackupFilter { node: Some(one), label: Some("nightly".into()), ..all.clone() };
    let found = read.node_backup_list(&of, None, limit).await.unwrap().unwrap();
    assert_eq!(found.items, [second.clone(), first.clone()]);

    let done = &NodeBackup {
        state: NodeBackupState::Complete,
        outcome: Some(outcome(&[1])),
        verdict: Some(BackupVerdict { time: at(9), problem: Some("a chunk is gone".into()) }),
        generation: first.generation.next(),
        time_ended: Some(at(8)),
        ..first.clone()
    };
    let update = async |expected| {
        world.tx("test", |tx| Box::pin(tx.node_backup_update(done, expected))).await.unwrap()
    };
    assert_eq!(update(first.generation).await, Update::Updated);
    let current = done.generation;
    assert_eq!(update(first.generation).await, Update::Stale { current });
    assert_eq!(read.node_backup_get(first.id).await.unwrap().as_ref(), Some(done));
    let complete = NodeBackupFilter { state: Some(NodeBackupState::Complete), ..all };
    let found = read.node_backup_list(&complete, None, limit).await.unwrap().unwrap();
    assert_eq!(found.items, std::slice::from_ref(done));
    let counts = read.node_backup_counts().await.unwrap();
    let counts: Vec<_> = counts.iter().map(|one| (one.state, one.count)).collect();
    assert_eq!(counts, [(NodeBackupState::Complete, 1), (NodeBackupState::Waiting, 2)]);

    let delete = async |expected| {
        let id = first.id;
        world.tx("test", |tx| Box::pin(tx.node_backup_delete(id, expected))).await.unwrap()
    };
    assert_eq!(delete(first.generation).await, Update::Stale { current });
    assert_eq!(delete(current).await, Update::Updated);
    assert_eq!(delete(current).await, Update::Missing);
    assert_eq!(read.node_backup_get(first.id).await.unwrap(), None);
}

fn chunk(n: u8, packed: &str) -> Chunk {
    Chunk { digest: digest(n), size: 100, packed: packed.as_bytes().to_vec() }
}

/// A blob of one chunk that is there, needed by a holder.
async fn keep(world: &World, scope: BlobScope, n: u8, holder: &str) -> Committed {
    let blob = &Blob {
        scope,
        digest: digest(n),
        size: 100,
        kind: BlobKind::Backup,
        label: "volume".into(),
        chunk_count: 1,
        created_by: None,
        time_created: at(0),
        time_used: at(0),
    };
    let chunks = &[ChunkRef { digest: digest(n), size: 100 }];
    let uses = &[(scope, digest(n), holder.to_owned())];
    world
        .tx("test", |tx| {
            Box::pin(async move {
                let committed = tx.blob_commit(blob, chunks).await?;
                tx.blob_use(uses, at(0)).await?;
                Ok::<_, hostler_store::Error>(committed)
            })
        })
        .await
        .unwrap()
}

async fn what_only_a_backup_needs_goes_with_it(world: World) {
    let scope = BlobScope::Backup(BackupStore::server());
    let node = NodeId::from_uuid(next_uuid());
    let (one, other) = (backup(node, "a", 1), backup(node, "b", 2));
    insert(&world, &one).await;
    insert(&world, &other).await;
    for n in [1, 2, 3] {
        let chunk = &chunk(n, "sealed");
        world.tx("test", |tx| Box::pin(tx.chunk_put(scope, chunk, at(0)))).await.unwrap();
    }
    let (first, second) = (one.id.to_string(), other.id.to_string());
    assert_eq!(keep(&world, scope, 1, &first).await, Committed::New);
    assert_eq!(keep(&world, scope, 2, &first).await, Committed::New);
    assert!(matches!(keep(&world, scope, 2, &second).await, Committed::Before(_)));
    assert_eq!(keep(&world, scope, 3, &first).await, Committed::New);
    let mut read = world.read().await.unwrap();
    let blob = read.blob_get(scope, digest(1)).await.unwrap().unwrap();
    assert_eq!((blob.scope, blob.kind), (scope, BlobKind::Backup));
    assert!(read.blob_use_has(scope, digest(1), &first).await.unwrap());
    assert!(!read.blob_use_has(scope, digest(1), &second).await.unwrap());
    // Nothing that a backup needs goes by itself, however old it is.
    let collect = async || {
        world
            .tx("test", |tx| {
                Box::pin(async move {
                    tx.blob_use_delete_left(100).await?;
                    let blobs = tx.blob_delete_unused(at(1_000_000), 100).await?;
                    let chunks = tx.chunk_delete_unused(at(1_000_000), 100).await?;
                    Ok::<_, hostler_store::Error>((blobs, chunks))
                })
            })
            .await
            .unwrap()
    };
    assert_eq!(collect().await, (0, 0));
    let drop = async |holder: &str, but: &[Digest], limit| {
        world.tx("test", |tx| Box::pin(tx.blob_use_drop(scope, holder, but, limit))).await.unwrap()
    };
    assert_eq!(drop(&first, &[digest(1), digest(2)], 9).await, 1);
    assert!(read.blob_get(scope, digest(3)).await.unwrap().is_none());
    assert_eq!(drop(&first, &[], 1).await, 1);
    assert_eq!(drop(&first, &[], 9).await, 1);
    assert_eq!(drop(&first, &[], 9).await, 0);
    assert!(read.blob_get(scope, digest(1)).await.unwrap().is_none());
    assert!(read.blob_get(scope, digest(2)).await.unwrap().is_some(), "the other needs it");
    assert_eq!(collect().await, (0, 2));
    // A row that went alone leaves its needs over; they go too.
    let generation = other.generation;
    let id = other.id;
    let deleted = world.tx("test", |tx| Box::pin(tx.node_backup_delete(id, generation))).await;
    assert_eq!(deleted.unwrap(), Update::Updated);
    assert_eq!(collect().await, (1, 1));
}

async fn no_object_is_forgotten_and_none_is_removed_that_is_needed(world: World) {
    let (store, scope) = (s3(), BlobScope::Backup(s3()));
    let left = async |seconds| {
        let mut read = world.read().await.unwrap();
        let found = read.backup_object_left(at(seconds), 10).await.unwrap();
        found.into_iter().map(|(_, name)| name).collect::<Vec<_>>()
    };
    let note = async |name: &str, seconds| {
        let noted =
            world.tx("test", |tx| Box::pin(tx.backup_object_note(store, name, at(seconds)))).await;
        noted.unwrap();
    };
    let put = async |n: u8, name: &str| {
        let chunk = &chunk(n, name);
        world.tx("test", |tx| Box::pin(tx.chunk_put_object(store, chunk, 1 << 40, at(5)))).await
    };
    note("o1", 1).await;
    note("o2", 2).await;
    assert_eq!(left(9).await, ["o1", "o2"]);
    assert_eq!(left(2).await, ["o1"]);
    assert!(put(1, "o1").await.unwrap());
    assert_eq!(left(9).await, ["o2"], "a chunk names the other");
    assert!(!put(1, "o2").await.unwrap(), "it is there already");
    assert_eq!(left(9).await, ["o2"]);
    let mut read = world.read().await.unwrap();
    let found = read.chunk_get_batch(scope, &[digest(1)]).await.unwrap();
    assert_eq!(found[0].packed, b"o1");
    assert_eq!(read.chunk_totals().await.unwrap().bytes, 0, "it takes no room here");
    let forgot = world.tx("test", |tx| Box::pin(tx.backup_object_forget(store, "o2"))).await;
    assert!(forgot.unwrap());
    // A chunk that nobody needs leaves its object over; so does one that is damaged.
    let gone = world.tx("test", |tx| Box::pin(tx.chunk_delete_unused(at(100), 10))).await.unwrap();
    assert_eq!((gone, left(1_000_000).await), (1, vec!["o1".to_owned()]));
    assert!(put(2, "o3").await.unwrap());
    let now = at(0).plus(Duration::from_secs(50));
    let dropped = world.tx("test", |tx| Box::pin(tx.chunk_drop(scope, digest(2), now))).await;
    assert!(dropped.unwrap());
    let mut names = left(1_000_000).await;
    names.sort();
    assert_eq!(names, ["o1", "o3"]);
}
