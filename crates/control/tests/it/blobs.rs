//! Content for nodes: what each may fetch and put, and what becomes of content that nobody needs.

use std::time::Duration;

use hostler_control::{BlobLimits, ControlConfig, NewBlob, NewTask, NodeFetch, NodePut};
use hostler_model::{
    BlobKind, BlobScope, ChunkRef, Code, Digest, Generation, Input, KeptOutput, Output, OutputWhen,
    Report, ReportState, RunId, RunOutput, WorkloadSpec,
};
use hostler_store::Store;
use hostler_testkit::{SimAgent, World};

fn digest(bytes: &[u8]) -> Digest {
    Digest::from_bytes(*blake3::hash(bytes).as_bytes())
}

async fn upload(world: &World, scope: BlobScope, text: &str) -> Digest {
    let bytes = text.as_bytes().to_vec();
    let (digest, size) = (digest(&bytes), u32::try_from(bytes.len()).unwrap());
    world.control.chunk_put(scope, digest, bytes.into()).await.unwrap();
    let chunks = vec![ChunkRef { digest, size }];
    let new = NewBlob { scope, digest, kind: BlobKind::File, label: text.into(), chunks };
    world.control.blob_commit(&world.cx, new).await.unwrap().blob.digest
}

async fn connected(world: &World, name: &str) -> SimAgent {
    let mut agent = world.join(name).await;
    agent.connect(&world.control).await;
    agent
}

/// Submits a task for a node and gives it to that; which run it is.
async fn placed(world: &World, node: &str, spec: WorkloadSpec) -> RunId {
    let mut spec = spec;
    spec.placement.node = Some(node.parse().unwrap());
    let name = format!("on-{node}");
    let new = vec![NewTask { name: Some(name.parse().unwrap()), spec }];
    world.control.task_submit(&world.cx, &world.project, new).await.unwrap();
    world.control.place_pending().await.unwrap();
    let task = world.control.task_get(&world.cx, &world.project, &name).await.unwrap();
    task.run.unwrap().id
}

fn fetch(run: Option<RunId>) -> NodeFetch {
    run.map_or(NodeFetch::Shared, NodeFetch::Input)
}

fn with_input(blob: Digest) -> WorkloadSpec {
    let input = Input { blob, path: "x".into(), mode: None, unpack: false };
    WorkloadSpec { inputs: vec![input], ..WorkloadSpec::command(["true"]) }
}

#[tokio::test]
async fn a_node_gets_what_its_runs_name_and_what_belongs_to_everybody() {
    let world = World::new(61).await;
    let (one, two) = (connected(&world, "n1").await, connected(&world, "n2").await);
    let scope = BlobScope::Project(world.project.id);
    let (mine, other) = (upload(&world, scope, "mine").await, upload(&world, scope, "other").await);
    let shared = upload(&world, BlobScope::Shared, "shared").await;
    let run = placed(&world, "n1", with_input(mine)).await;
    let control = &world.control;
    let code = async |node: &SimAgent, blob, run| {
        control.node_blob(node.node_id, blob, fetch(run)).await.map_err(|e| e.code).map(|_| ())
    };
    assert_eq!(code(&one, mine, Some(run)).await, Ok(()));
    assert_eq!(code(&one, other, Some(run)).await, Err(Code::Forbidden), "it is not named");
    assert_eq!(code(&two, mine, Some(run)).await, Err(Code::Forbidden), "not its run");
    assert_eq!(code(&one, mine, None).await, Err(Code::NotFound), "not everybody's");
    assert_eq!(code(&two, shared, None).await, Ok(()));
    assert_eq!(code(&one, shared, Some(run)).await, Err(Code::Forbidden));
    let chunks =
        control.node_chunks(one.node_id, mine, NodeFetch::Input(run), &[mine]).await.unwrap();
    assert_eq!(chunks[0].digest, mine);
    let foreign = control.node_chunks(one.node_id, mine, NodeFetch::Input(run), &[other]).await;
    assert_eq!(foreign.unwrap_err().code, Code::NotFound, "a chunk of something else");

    let put = NodePut::Output(run);
    let refused = control.node_chunks_missing(one.node_id, &put, &[mine]).await;
    assert_eq!(refused.unwrap_err().code, Code::Forbidden, "nothing of it is to be kept");
    assert!(control.node_admit(one.node_id, one.serial()).await.is_ok());
    assert!(control.node_admit(two.node_id, one.serial()).await.is_err());
}

#[tokio::test]
async fn a_node_puts_what_its_runs_leave_and_what_it_was_asked_for() {
    let world = World::new(62).await;
    let (one, two) = (connected(&world, "n1").await, connected(&world, "n2").await);
    let output = Output { path: "x".into(), name: None, when: OutputWhen::Success };
    let spec = WorkloadSpec { outputs: vec![output], ..WorkloadSpec::command(["true"]) };
    let run = placed(&world, "n1", spec).await;
    let (control, put) = (&world.control, NodePut::Output(run));
    let bytes = b"what it left".to_vec();
    let (id, size) = (digest(&bytes), u32::try_from(bytes.len()).unwrap());
    let packed = hostler_blob::pack(&bytes);
    let foreign = control.node_chunk_put(two.node_id, &put, id, packed.clone()).await;
    assert_eq!(foreign.unwrap_err().code, Code::Forbidden);
    let wrong = control.node_chunk_put(one.node_id, &put, digest(b"z"), packed.clone()).await;
    assert_eq!(wrong.unwrap_err().code, Code::Invalid);
    control.node_chunk_put(one.node_id, &put, id, packed).await.unwrap();
    let kept = KeptOutput::File { digest: id, size: bytes.len() as u64 };
    let told = [RunOutput { run_id: run, name: "x".into(), kept, time: world.now() }];
    let early = control.node_outputs(one.node_id, run, &told).await;
    assert_eq!(early.unwrap_err().code, Code::NotFound, "the blob comes first");
    let chunks = vec![ChunkRef { digest: id, size }];
    control.node_blob_commit(one.node_id, &put, id, "x".into(), chunks.clone()).await.unwrap();
    for _ in 0..2 {
        control.node_outputs(one.node_id, run, &told).await.unwrap();
    }
    let (_, left) = control.task_outputs(&world.project, "on-n1").await.unwrap();
    assert_eq!(left, told);

    let grant = NodePut::Grant(control.blob_grant(one.node_id, BlobKind::Image).await.unwrap());
    assert!(control.node_chunks_missing(two.node_id, &grant, &[id]).await.is_err());
    let missing = control.node_chunks_missing(one.node_id, &grant, &[id]).await.unwrap();
    assert_eq!(missing, [id], "what a project has is not everybody's");
    world.advance(Duration::from_hours(2));
    assert!(control.node_chunks_missing(one.node_id, &grant, &[id]).await.is_err());
}

#[tokio::test]
async fn a_run_that_is_over_gets_nothing_more() {
    let world = World::new(63).await;
    let one = connected(&world, "n1").await;
    let mine = upload(&world, BlobScope::Project(world.project.id), "mine").await;
    let run = placed(&world, "n1", with_input(mine)).await;
    let task = world.control.task_get(&world.cx, &world.project, "on-n1").await.unwrap();
    let exit = hostler_model::Exit {
        reason: hostler_model::ExitReason::Exited,
        code: Some(0),
        signal: None,
        message: None,
        time: world.now(),
    };
    let report = Report {
        run_id: run,
        placement_id: task.run.unwrap().placement_id,
        generation: Generation::FIRST,
        state: ReportState::Exited { started: None, pid: None, exit },
        origin: None,
    };
    world.control.node_report(one.node_id, &[report]).await.unwrap();
    let refused = world.control.node_blob(one.node_id, mine, NodeFetch::Input(run)).await;
    assert_eq!(refused.unwrap_err().code, Code::Forbidden);
}

#[tokio::test]
async fn there_is_only_so_much_room() {
    let store =
        Store::open("sqlite::memory:", hostler_store::OpenOptions::default()).await.unwrap();
    let mib = hostler_model::Bytes::mib;
    let blobs = BlobLimits { size_max: mib(1), total_max: mib(3), ..BlobLimits::default() };
    let config = ControlConfig { blobs, ..ControlConfig::default() };
    let world = World::configured(store, 64, config).await;
    let mut noise = blake3::Hasher::new().finalize_xof();
    let mut chunks = Vec::new();
    let full = loop {
        let mut bytes = vec![0; 1 << 19];
        noise.fill(&mut bytes);
        let (digest, size) = (digest(&bytes), 1 << 19);
        match world.control.chunk_put(BlobScope::Shared, digest, bytes.into()).await {
            Ok(()) => chunks.push(ChunkRef { digest, size }),
            Err(error) => break error,
        }
        assert!(chunks.len() < 20);
    };
    assert_eq!((full.code, chunks.len()), (Code::QuotaExceeded, 5));
    assert!(full.detail.contains("3MiB"), "{}", full.detail);
    let new = NewBlob {
        scope: BlobScope::Shared,
        digest: digest(b""),
        kind: BlobKind::File,
        label: String::new(),
        chunks: chunks[..3].to_vec(),
    };
    let large = world.control.blob_commit(&world.cx, new).await.unwrap_err();
    assert_eq!(large.code, Code::QuotaExceeded, "{}", large.detail);
}
