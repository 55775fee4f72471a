//! Content: chunks, blobs, who needs them, what runs left, and what goes when.

use hostler_model::*;
use hostler_store::{BlobGrant, Chunk, Committed};

use crate::world::*;

crate::conformance!(
    a_blob_is_entered_when_all_its_chunks_are_there,
    scopes_share_nothing,
    blobs_are_listed_newest_first,
    what_nobody_needs_goes_and_its_chunks_after_it,
    a_chunk_that_was_asked_for_stays,
    outputs_are_kept_with_their_task,
    a_grant_is_for_one_node_and_a_while,
);

fn digest(n: u8) -> Digest {
    Digest::from_bytes([n; 32])
}

fn chunk(n: u8) -> Chunk {
    Chunk { digest: digest(n), size: 100, packed: vec![n; 10] }
}

fn reference(n: u8) -> ChunkRef {
    ChunkRef { digest: digest(n), size: 100 }
}

fn blob(scope: BlobScope, n: u8, chunks: u32, seconds: i64) -> Blob {
    Blob {
        scope,
        digest: digest(n),
        size: u64::from(chunks) * 100,
        kind: BlobKind::File,
        label: "data \u{1F600}".into(),
        chunk_count: chunks,
        created_by: Some(PrincipalId::from_uuid(next_uuid())),
        time_created: at(seconds),
        time_used: at(seconds),
    }
}

async fn put(world: &World, scope: BlobScope, n: u8, seconds: i64) {
    let chunk = &chunk(n);
    world.tx("test", |tx| Box::pin(tx.chunk_put(scope, chunk, at(seconds)))).await.unwrap();
}

async fn commit(world: &World, blob: &Blob, chunks: &[u8]) -> Committed {
    let chunks: &Vec<ChunkRef> = &chunks.iter().map(|n| reference(*n)).collect();
    world.tx("test", |tx| Box::pin(tx.blob_commit(blob, chunks))).await.unwrap()
}

async fn missing(world: &World, scope: BlobScope, digests: &[u8], seconds: i64) -> Vec<Digest> {
    let digests: &Vec<Digest> = &digests.iter().map(|n| digest(*n)).collect();
    world.tx("test", |tx| Box::pin(tx.chunk_missing(scope, digests, at(seconds)))).await.unwrap()
}

async fn a_blob_is_entered_when_all_its_chunks_are_there(world: World) {
    let scope = BlobScope::Project(world.project("p").await.id);
    put(&world, scope, 1, 0).await;
    let whole = blob(scope, 9, 3, 5);
    assert_eq!(commit(&world, &whole, &[1, 2, 1]).await, Committed::Lacking(vec![digest(2)]));
    let mut read = world.read().await.unwrap();
    assert_eq!(read.blob_get(scope, whole.digest).await.unwrap(), None);
    assert!(read.blob_chunks(scope, whole.digest, 0, 10).await.unwrap().is_empty());
    assert_eq!(missing(&world, scope, &[2, 1, 3], 0).await, [digest(2), digest(3)]);
    put(&world, scope, 2, 0).await;
    put(&world, scope, 2, 1).await;
    assert_eq!(commit(&world, &whole, &[1, 2, 1]).await, Committed::New);
    assert_eq!(read.blob_get(scope, whole.digest).await.unwrap(), Some(whole.clone()));
    let chunks = read.blob_chunks(scope, whole.digest, 1, 10).await.unwrap();
    assert_eq!(chunks, [reference(2), reference(1)]);
    let again = Blob { label: "other".into(), ..whole.clone() };
    let before = commit(&world, &again, &[1, 2, 1]).await;
    assert_eq!(before, Committed::Before(Box::new(whole.clone())));
    let asked = [digest(2), digest(3), digest(1)];
    let mut among = read.blob_chunks_among(scope, whole.digest, &asked).await.unwrap();
    among.sort();
    assert_eq!(among, [digest(1), digest(2)]);
    let found = read.chunk_get_batch(scope, &[digest(2), digest(7)]).await.unwrap();
    assert_eq!(found, [chunk(2)]);
    let wrong = blob(scope, 8, 1, 0);
    let size = [ChunkRef { size: 99, ..reference(1) }];
    let lacking = world.tx("test", |tx| Box::pin(tx.blob_commit(&wrong, &size))).await;
    let lacking: Committed = lacking.unwrap();
    assert_eq!(lacking, Committed::Lacking(vec![digest(1)]));
    let empty = blob(scope, 7, 0, 0);
    assert_eq!(commit(&world, &empty, &[]).await, Committed::New);
}

async fn scopes_share_nothing(world: World) {
    let one = BlobScope::Project(world.project("one").await.id);
    let two = BlobScope::Project(world.project("two").await.id);
    put(&world, one, 1, 0).await;
    for scope in [two, BlobScope::Shared] {
        assert_eq!(missing(&world, scope, &[1], 0).await, [digest(1)]);
        let lacking = commit(&world, &blob(scope, 9, 1, 0), &[1]).await;
        assert_eq!(lacking, Committed::Lacking(vec![digest(1)]));
    }
    put(&world, BlobScope::Shared, 1, 0).await;
    let shared = blob(BlobScope::Shared, 9, 1, 0);
    assert_eq!(commit(&world, &shared, &[1]).await, Committed::New);
    assert_eq!(commit(&world, &blob(one, 9, 1, 0), &[1]).await, Committed::New);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.blob_get(BlobScope::Shared, digest(9)).await.unwrap(), Some(shared));
    assert_eq!(read.blob_get(two, digest(9)).await.unwrap(), None);
    let totals = read.chunk_totals().await.unwrap();
    assert_eq!((totals.chunks, totals.bytes), (2, 20));
    let BlobScope::Project(id) = one else { unreachable!() };
    let gone = world.tx("test", |tx| Box::pin(tx.project_delete(id, Generation::FIRST))).await;
    let gone: hostler_store::Update = gone.unwrap();
    assert!(gone.is_updated());
    assert_eq!(read.chunk_totals().await.unwrap().chunks, 1);
    assert_eq!(read.blob_get(one, digest(9)).await.unwrap(), None);
}

async fn blobs_are_listed_newest_first(world: World) {
    let scope = BlobScope::Project(world.project("p").await.id);
    for n in 1..=5 {
        put(&world, scope, n, 0).await;
        let kind = if n == 3 { BlobKind::Output } else { BlobKind::File };
        let blob = Blob { kind, ..blob(scope, n + 10, 1, i64::from(n) / 2) };
        assert_eq!(commit(&world, &blob, &[n]).await, Committed::New);
    }
    let mut read = world.read().await.unwrap();
    let mut seen = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = read.blob_list(scope, None, after.as_deref(), limit(2)).await.unwrap().unwrap();
        seen.extend(page.items.iter().map(|blob| blob.digest));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, [15, 14, 13, 12, 11].map(digest));
    let outputs = read.blob_list(scope, Some(BlobKind::Output), None, limit(9)).await.unwrap();
    assert_eq!(outputs.unwrap().items.len(), 1);
    assert!(read.blob_list(scope, None, Some("nonsense"), limit(9)).await.unwrap().is_none());
}

async fn delete_unused(world: &World, seconds: i64) -> (u64, u64) {
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.blob_use_delete_left(100).await?;
                let blobs = tx.blob_delete_unused(at(seconds), 100).await?;
                let chunks = tx.chunk_delete_unused(at(seconds), 100).await?;
                Ok::<_, hostler_store::Error>((blobs, chunks))
            })
        })
        .await
        .unwrap()
}

async fn what_nobody_needs_goes_and_its_chunks_after_it(world: World) {
    let project = world.project("p").await;
    let task = world.workload(&project, "t").await;
    let scope = BlobScope::Project(project.id);
    for n in 1..=3 {
        put(&world, scope, n, 0).await;
    }
    assert_eq!(commit(&world, &blob(scope, 11, 2, 0), &[1, 2]).await, Committed::New);
    assert_eq!(commit(&world, &blob(scope, 12, 2, 0), &[2, 3]).await, Committed::New);
    let uses = &[(scope, digest(12), task.id.to_string()), (scope, digest(12), "gone".into())];
    world.tx("test", |tx| Box::pin(tx.blob_use(uses, at(0)))).await.unwrap();
    world.tx("test", |tx| Box::pin(tx.blob_use(uses, at(0)))).await.unwrap();
    assert_eq!(delete_unused(&world, 0).await, (0, 0), "not old enough");
    assert_eq!(delete_unused(&world, 1).await, (1, 1), "what the task needs stays");
    let mut read = world.read().await.unwrap();
    assert!(read.blob_is_used(scope, digest(12)).await.unwrap());
    assert_eq!(read.chunk_totals().await.unwrap().chunks, 2);
    let ended = &Workload {
        state: TaskState::Killed { run: None, exit: None },
        time_ended: Some(at(1)),
        ..task.clone()
    };
    let id = task.id;
    world
        .tx("test", |tx| {
            Box::pin(async move {
                let updated = tx.workload_update(ended, Generation::FIRST).await?;
                assert!(updated.is_updated());
                let deleted = tx.workload_delete(id).await?;
                assert!(deleted.is_updated());
                Ok::<_, hostler_store::Error>(())
            })
        })
        .await
        .unwrap();
    assert_eq!(delete_unused(&world, 1).await, (1, 2));
    assert_eq!(read.chunk_totals().await.unwrap().chunks, 0);
}

async fn a_chunk_that_was_asked_for_stays(world: World) {
    let hours = |n: i64| n * 3600;
    put(&world, BlobScope::Shared, 1, 0).await;
    put(&world, BlobScope::Shared, 2, 0).await;
    assert!(missing(&world, BlobScope::Shared, &[1], hours(20)).await.is_empty());
    assert_eq!(delete_unused(&world, hours(10)).await, (0, 1));
    assert_eq!(missing(&world, BlobScope::Shared, &[1, 2], hours(20)).await, [digest(2)]);
}

async fn outputs_are_kept_with_their_task(world: World) {
    let project = world.project("p").await;
    let (task, node) = (world.workload(&project, "t").await, world.node("n").await);
    let (placement, run) = placement(&task, node.id, 1);
    let run_id = run.id;
    let output = |name: &str, kept| RunOutput { run_id, name: name.into(), kept, time: at(3) };
    let outputs = vec![
        output("a", KeptOutput::File { digest: digest(1), size: 7 }),
        output("b", KeptOutput::Archive { digest: digest(2), size: 8 }),
        output("c", KeptOutput::Nothing("there is no such file".into())),
    ];
    let (placement, run, told) = (&placement, &run, &outputs);
    for _ in 0..2 {
        world
            .tx("test", |tx| {
                Box::pin(async move {
                    if tx.run_get(run.id).await?.is_none() {
                        tx.placement_insert_batch(std::slice::from_ref(placement)).await?;
                        tx.run_insert_batch(std::slice::from_ref(run)).await?;
                    }
                    for output in told {
                        tx.run_output_put(task.project_id, task.id, output).await?;
                    }
                    Ok::<_, hostler_store::Error>(())
                })
            })
            .await
            .unwrap();
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.run_outputs(task.id).await.unwrap(), outputs);
    assert!(read.blob_is_used(BlobScope::Project(project.id), digest(2)).await.unwrap());
    assert!(!read.blob_is_used(BlobScope::Shared, digest(2)).await.unwrap());
}

async fn a_grant_is_for_one_node_and_a_while(world: World) {
    let node = world.node("n").await;
    let grant = &BlobGrant {
        id: "g".into(),
        node_id: node.id,
        kind: BlobKind::Image,
        time_expires: at(10),
    };
    world.tx("test", |tx| Box::pin(tx.blob_grant_insert(grant))).await.unwrap();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.blob_grant_get("g").await.unwrap().as_ref(), Some(grant));
    assert_eq!(read.blob_grant_get("other").await.unwrap(), None);
    let gone = world.tx("test", |tx| Box::pin(tx.blob_grant_delete_expired(at(11)))).await;
    assert_eq!(gone.unwrap_or_else(|e: hostler_store::Error| panic!("{e}")), 1);
}
