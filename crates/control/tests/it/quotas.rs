//! Quotas on workloads, secrets and blobs: what is beyond is refused, what is there stays. And on output, which
//! is divided between nodes.

use hostler_control::{Attach, Attached, HelloFacts, NewBlob, NewTask, ProjectChange};
use hostler_model::{
    BlobKind, BlobScope, Bytes, ChunkRef, Code, Cores, Digest, Error, Facts, Generation,
    NodeMetrics, OutputKept, Project, ProjectUsage, Quota, WorkloadSpec,
};
use hostler_testkit::World;
use hostler_trust::SecretBytes;

async fn project(world: &World, quota: Quota) -> Project {
    let change = ProjectChange { quota: Some(quota), ..ProjectChange::default() };
    world.control.project_create(&world.cx, "lab".parse().unwrap(), change).await.unwrap()
}

async fn apply(world: &World, project: &Project, name: &str, program: &str) -> Result<(), Error> {
    let (name, spec) = (name.parse().unwrap(), WorkloadSpec::command([program]));
    let applied = world.control.workload_apply(&world.cx, project, &name, &spec, None).await;
    applied.map(|_| ())
}

async fn set(world: &World, project: &Project, name: &str, value: &str) -> Result<(), Error> {
    let (name, value) = (name.parse().unwrap(), SecretBytes::new(value));
    world.control.secret_set(&world.cx, project, &name, &value, false).await.map(|_| ())
}

async fn upload(world: &World, scope: BlobScope, text: &str) -> Result<(), Error> {
    let bytes = text.as_bytes().to_vec();
    let digest = Digest::from_bytes(*blake3::hash(&bytes).as_bytes());
    let size = u32::try_from(bytes.len()).unwrap();
    world.control.chunk_put(scope, digest, bytes.into()).await.unwrap();
    let chunks = vec![ChunkRef { digest, size }];
    let new = NewBlob { scope, digest, kind: BlobKind::File, label: String::new(), chunks };
    world.control.blob_commit(&world.cx, new).await.map(|_| ())
}

fn over(result: Result<(), Error>, words: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.code, Code::QuotaExceeded, "{error:?}");
    assert!(error.detail.contains(words), "{error:?}");
    assert!(error.hint.contains("hostler project quota"), "{error:?}");
}

async fn usage(world: &World, project: &Project) -> ProjectUsage {
    let shown = world.control.queue_show(&world.cx).await.unwrap();
    shown.into_iter().find(|line| line.project.id == project.id).unwrap().usage
}

#[tokio::test]
async fn workloads_and_secrets_are_counted() {
    let world = World::new(81).await;
    let quota = Quota { workloads: Some(2), secrets: Some(1), ..Quota::default() };
    let lab = &project(&world, quota).await;
    assert_eq!(usage(&world, lab).await, ProjectUsage::default());
    apply(&world, lab, "a", "true").await.unwrap();
    apply(&world, lab, "b", "true").await.unwrap();
    over(apply(&world, lab, "c", "true").await, "may have 2 workloads, and has 2");
    apply(&world, lab, "b", "false").await.unwrap();
    apply(&world, &world.project, "c", "true").await.unwrap();

    set(&world, lab, "db", "one").await.unwrap();
    set(&world, lab, "db", "two").await.unwrap();
    over(set(&world, lab, "prod/db", "one").await, "may have 1 secrets, and has 1");
    let made = world.control.secret_generate(&world.cx, lab, &"key".parse().unwrap(), 32).await;
    over(made.map(|_| ()), "1 secrets");
    let used = usage(&world, lab).await;
    assert_eq!((used.workloads, used.secrets), (2, 1));
    world.control.secret_remove(&world.cx, lab, &"db".parse().unwrap()).await.unwrap();
    set(&world, lab, "prod/db", "one").await.unwrap();
}

#[tokio::test]
async fn a_smaller_quota_takes_nothing_away_and_a_larger_one_counts_at_once() {
    let world = World::new(82).await;
    let lab = project(&world, Quota::default()).await;
    for name in ["a", "b", "c"] {
        apply(&world, &lab, name, "true").await.unwrap();
    }
    let change = |workloads| ProjectChange {
        quota: Some(Quota { workloads: Some(workloads), ..Quota::default() }),
        ..ProjectChange::default()
    };
    let edit = async |workloads: u64, generation: Generation| {
        let edited = world.control.project_update(&world.cx, &lab, change(workloads), generation);
        edited.await.unwrap().generation
    };
    let generation = edit(1, lab.generation).await;
    over(apply(&world, &lab, "d", "true").await, "may have 1 workloads, and has 3");
    apply(&world, &lab, "a", "false").await.unwrap();
    assert_eq!(usage(&world, &lab).await.workloads, 3);
    edit(4, generation).await;
    apply(&world, &lab, "d", "true").await.unwrap();
}

#[tokio::test]
async fn blobs_are_counted_by_their_sizes() {
    let world = World::new(83).await;
    let quota = Quota { blobs: Some(Bytes::new(10)), ..Quota::default() };
    let lab = project(&world, quota).await;
    let scope = BlobScope::Project(lab.id);
    upload(&world, scope, "six bt").await.unwrap();
    over(
        upload(&world, scope, "seven b").await,
        "may have 10B of blobs, and has 6B; this is 7B more",
    );
    upload(&world, scope, "six bt").await.unwrap();
    upload(&world, scope, "four").await.unwrap();
    over(upload(&world, scope, "1").await, "and has 10B");
    upload(&world, BlobScope::Shared, "of no project").await.unwrap();
    assert_eq!(usage(&world, &lab).await.blobs, Bytes::new(10));
}

async fn attach(world: &World, name: &str) -> Attached {
    let agent = world.join(name).await;
    let cores = Cores::from_millis(4000);
    let hello = HelloFacts {
        agent_version: "t".into(),
        session_epoch: Generation::FIRST,
        applied_generation: Generation::ZERO,
        facts: Some(Facts { cores, memory: Bytes::mib(4096), ..Facts::default() }),
        heartbeat_wish: None,
        can_tell_holdings: true,
    };
    match world.control.node_attach(agent.node_id, agent.serial(), &hello).await.unwrap() {
        Attach::Attached(attached) => attached,
        refused => panic!("{refused:?}"),
    }
}

/// The share of the project as the node is told of it.
async fn told(world: &World, node: &Attached) -> Option<(u64, Generation)> {
    let batch = world.control.node_desired(node.node_id, Generation::ZERO).await.unwrap()?;
    let share = batch.log_shares.into_iter().find(|share| share.project_name.as_str() == "lab")?;
    Some((share.bytes.get(), share.generation))
}

/// The node says which share is in force, and what it keeps; then it is divided again.
async fn says(world: &World, node: &Attached, generation: Generation, bytes: u64) {
    let project = "lab".parse().unwrap();
    let outputs = vec![OutputKept { project, generation, bytes: Bytes::new(bytes) }];
    let metrics = NodeMetrics { outputs, ..NodeMetrics::default() };
    world.control.node_heartbeat(node, Generation::ZERO, Some(metrics), None);
    world.control.flush_leases().await.unwrap();
    world.control.divide_logs().await.unwrap();
}

#[tokio::test]
async fn output_that_may_be_kept_is_divided_between_nodes() {
    let world = World::new(85).await;
    let quota = Quota { logs: Some(Bytes::new(800)), ..Quota::default() };
    let lab = project(&world, quota).await;
    let one = attach(&world, "n1").await;
    world.control.divide_logs().await.unwrap();
    let (bytes, first) = told(&world, &one).await.unwrap();
    assert_eq!(bytes, 700);
    says(&world, &one, first, 100).await;
    assert_eq!(told(&world, &one).await, Some((700, first)), "nothing has changed");
    assert_eq!(usage(&world, &lab).await.logs, Bytes::new(100));

    let two = attach(&world, "n2").await;
    world.control.divide_logs().await.unwrap();
    let (bytes, lowered) = told(&world, &one).await.unwrap();
    assert!(bytes == 350 && lowered > first, "{bytes}");
    assert_eq!(told(&world, &two).await.unwrap().0, 0, "the other has not made room");
    says(&world, &one, first, 100).await;
    assert_eq!(told(&world, &two).await.unwrap().0, 0, "that was the share before");
    says(&world, &one, lowered, 100).await;
    let (bytes, raised) = told(&world, &two).await.unwrap();
    assert_eq!(bytes, 350);

    says(&world, &two, raised, 0).await;
    let (bytes, gone) = told(&world, &two).await.unwrap();
    assert_eq!(bytes, 0, "nothing of the project is there");
    assert_eq!(told(&world, &one).await.unwrap().0, 350);
    says(&world, &two, gone, 0).await;
    assert_eq!(told(&world, &one).await.unwrap().0, 700);

    let change = ProjectChange { quota: Some(Quota::default()), ..ProjectChange::default() };
    world.control.project_update(&world.cx, &lab, change, lab.generation).await.unwrap();
    world.control.divide_logs().await.unwrap();
    assert_eq!(told(&world, &one).await, None);
    assert_eq!(world.control.divide_logs().await.unwrap().projects, 0);
}

#[tokio::test]
async fn a_node_has_a_share_before_it_is_told_to_run_something() {
    let world = World::new(86).await;
    let quota = Quota { logs: Some(Bytes::new(800)), ..Quota::default() };
    let lab = project(&world, quota).await;
    let one = attach(&world, "n1").await;
    let new = vec![NewTask { name: None, spec: WorkloadSpec::command(["true"]) }];
    world.control.task_submit(&world.cx, &lab, new).await.unwrap();
    world.control.place_pending().await.unwrap();
    let batch = world.control.node_desired(one.node_id, Generation::ZERO).await.unwrap().unwrap();
    assert_eq!(batch.assignments.len(), 1);
    assert_eq!(batch.log_shares.len(), 1);
    assert_eq!(batch.log_shares[0].bytes, Bytes::new(400), "half of what is free");
    world.control.divide_logs().await.unwrap();
    assert_eq!(told(&world, &one).await.unwrap().0, 700);
}
