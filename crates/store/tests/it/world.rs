//! What a test gets: a migrated store, its address, and records to put into it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::FutureExt as _;
use hostler_model::*;
use hostler_store::{OpenOptions, Store};
use sqlx::Connection as _;
use uuid::Uuid;

pub type Result<T> = std::result::Result<T, hostler_store::Error>;

#[derive(Clone)]
pub struct World {
    pub store: Store,
    pub url: String,
}

impl std::ops::Deref for World {
    type Target = Store;
    fn deref(&self) -> &Store {
        &self.store
    }
}

/// Runs a test, and cleans up whether it panics or not.
async fn run<F: Future<Output = ()>>(
    url: String,
    test: impl FnOnce(World) -> F,
    cleanup: impl AsyncFnOnce(),
) {
    let outcome = AssertUnwindSafe(async {
        let store = Store::open(&url, options()).await.unwrap();
        store.migrate().await.unwrap();
        let world = World { store: store.clone(), url: url.clone() };
        test(world).await;
        store.close().await;
    })
    .catch_unwind()
    .await;
    cleanup().await;
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

pub fn options() -> OpenOptions {
    OpenOptions { connections_max: 12, ..OpenOptions::default() }
}

pub async fn on_sqlite<F: Future<Output = ()>>(test: impl FnOnce(World) -> F) {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", dir.path().join("store.db").display());
    run(url, test, async || {}).await;
}

pub async fn on_postgres<F: Future<Output = ()>>(test: impl FnOnce(World) -> F) {
    let Ok(base) = std::env::var("HOSTLER_TEST_POSTGRES") else {
        println!("SKIPPED: set HOSTLER_TEST_POSTGRES to the address of a PostgreSQL to run this");
        return;
    };
    let schema = format!("t_{}", Uuid::new_v4().simple());
    postgres(&base, &format!("CREATE SCHEMA {schema}")).await;
    let mark = if base.contains('?') { '&' } else { '?' };
    let url = format!("{base}{mark}options=-c%20search_path%3D{schema}");
    run(url, test, async || {
        postgres(&base, &format!("DROP SCHEMA {schema} CASCADE")).await;
    })
    .await;
}

async fn postgres(url: &str, sql: &str) {
    let mut conn = sqlx::PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
}

impl World {
    /// Runs SQL behind the store's back.
    pub async fn raw(&self, sql: &str) {
        if self.url.starts_with("sqlite") {
            let mut conn = sqlx::SqliteConnection::connect(&self.url).await.unwrap();
            sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut conn).await.unwrap();
            conn.close().await.unwrap();
        } else {
            postgres(&self.url, sql).await;
        }
    }

    /// Writes a project and returns it.
    pub async fn project(&self, name: &str) -> Project {
        let project = project(name);
        self.tx("test", |tx| Box::pin(tx.project_insert(&project))).await.unwrap();
        project
    }

    pub async fn principal(&self, name: &str) -> Principal {
        let principal = principal(name);
        self.tx("test", |tx| Box::pin(tx.principal_insert(&principal))).await.unwrap();
        principal
    }

    pub async fn node(&self, name: &str) -> Node {
        let node = node(name);
        self.tx("test", |tx| Box::pin(tx.node_insert(&node))).await.unwrap();
        node
    }

    pub async fn workload(&self, project: &Project, name: &str) -> Workload {
        let workload = workload(project.id, name);
        self.tx("test", |tx| Box::pin(tx.workload_insert(&workload))).await.unwrap();
        workload
    }

    pub async fn service(&self, project: &Project, name: &str) -> Service {
        let service = service(project.id, name);
        self.tx("test", |tx| Box::pin(tx.service_insert(&service))).await.unwrap();
        service
    }

    pub async fn seat(&self, service: &Service, node: &Node, generation: u64) -> Placement {
        let seat = seat(service, node.id, generation);
        let batch = std::slice::from_ref(&seat);
        self.tx("test", |tx| Box::pin(tx.placement_insert_batch(batch))).await.unwrap();
        seat
    }

    pub async fn release(&self, placement: PlacementId, seconds: i64) {
        let batch = [placement];
        self.tx("test", |tx| Box::pin(tx.placement_release_batch(&batch, at(seconds))))
            .await
            .unwrap();
    }

    pub async fn operation(&self) -> Operation {
        let operation = operation(None);
        self.tx("test", |tx| Box::pin(tx.operation_insert(&operation))).await.unwrap();
        operation
    }
}

/// Ids grow, as UUIDv7 do.
pub fn next_uuid() -> Uuid {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u128(u128::from(NEXT.fetch_add(1, Ordering::SeqCst)) << 16)
}

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + seconds * 1_000_000)
}

pub fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub fn limit(n: u32) -> Limit {
    Limit::new(n).unwrap()
}

pub fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
}

pub fn project(text: &str) -> Project {
    Project {
        id: ProjectId::from_uuid(next_uuid()),
        name: name(text),
        description: format!("the {text} project"),
        quota: Quota::default(),
        weight: 1,
        generation: Generation::FIRST,
        time_created: at(0),
        time_modified: at(0),
    }
}

pub fn principal(text: &str) -> Principal {
    Principal {
        id: PrincipalId::from_uuid(next_uuid()),
        name: name(text),
        kind: PrincipalKind::User,
        password_hash: Some("$argon2id$x".to_owned()),
        is_disabled: false,
        generation: Generation::FIRST,
        time_created: at(0),
        time_modified: at(0),
    }
}

pub fn node(text: &str) -> Node {
    Node {
        id: NodeId::from_uuid(next_uuid()),
        name: name(text),
        labels: labels(&[("zone", "a")]),
        state: NodeState::Joined,
        cordon: None,
        facts: None,
        agent_version: "0.1.0".to_owned(),
        generation: Generation::FIRST,
        desired_generation: Generation::ZERO,
        time_created: at(0),
        time_modified: at(0),
        time_state: at(0),
        lease: None,
    }
}

pub fn workload(project_id: ProjectId, text: &str) -> Workload {
    Workload {
        id: WorkloadId::from_uuid(next_uuid()),
        project_id,
        name: name(text),
        spec: Arc::new(WorkloadSpec::command(["/bin/echo", "grüße\u{1F600}"])),
        desired: Desired::Run,
        state: TaskState::Pending,
        seat: None,
        attempts: 0,
        time_ready: Some(at(0)),
        time_give_up: None,
        trace: None,
        generation: Generation::FIRST,
        created_by: PrincipalId::from_uuid(next_uuid()),
        time_created: at(0),
        time_modified: at(0),
        time_ended: None,
    }
}

pub fn service(project_id: ProjectId, text: &str) -> Service {
    let mut spec = WorkloadSpec::command(["/bin/serve", "\u{1F600}"]);
    spec.mode = Mode::Forever;
    Service {
        id: WorkloadId::from_uuid(next_uuid()),
        project_id,
        name: name(text),
        spec,
        desired: Desired::Run,
        revision: Generation::FIRST,
        trace: None,
        generation: Generation::FIRST,
        created_by: PrincipalId::from_uuid(next_uuid()),
        time_created: at(0),
        time_modified: at(0),
    }
}

/// Mere amounts: thousandths of cores, MiB.
pub fn reservation(cores: u32, memory: u64) -> Reservation {
    Reservation {
        cores: Cores::from_millis(cores),
        memory: Bytes::mib(memory),
        ..Reservation::default()
    }
}

/// A placement of a service on a node.
pub fn seat(service: &Service, node: NodeId, generation: u64) -> Placement {
    Placement {
        id: PlacementId::from_uuid(next_uuid()),
        workload_id: service.id,
        project_id: service.project_id,
        node_id: node,
        run_id: None,
        desired: Desired::Run,
        desired_generation: Generation::from_u64(generation),
        stop_grace: None,
        reservation: reservation(20, 0),
        is_released: false,
        revision: service.revision,
        status: None,
        status_generation: Generation::ZERO,
        time_created: at(1),
        time_modified: at(1),
    }
}

/// A run that the agent of a service's placement made.
pub fn agent_run(seat: &Placement, number: u32) -> Run {
    Run {
        id: RunId::from_uuid(next_uuid()),
        placement_id: seat.id,
        workload_id: seat.workload_id,
        project_id: seat.project_id,
        node_id: seat.node_id,
        attempt: number,
        cause: Some(RunCause::Schedule),
        fire: Some(at(i64::from(number))),
        state: RunState::Running { pid: number, since: at(2) },
        report_generation: Generation::FIRST,
        time_created: at(2),
        time_started: Some(at(2)),
        time_ended: None,
    }
}

/// A placement of a workload on a node with its run.
pub fn placement(workload: &Workload, node: NodeId, generation: u64) -> (Placement, Run) {
    let run_id = RunId::from_uuid(next_uuid());
    let placement = Placement {
        id: PlacementId::from_uuid(next_uuid()),
        workload_id: workload.id,
        project_id: workload.project_id,
        node_id: node,
        run_id: Some(run_id),
        desired: Desired::Run,
        desired_generation: Generation::from_u64(generation),
        stop_grace: None,
        reservation: reservation(20, 0),
        is_released: false,
        revision: Generation::ZERO,
        status: None,
        status_generation: Generation::ZERO,
        time_created: at(1),
        time_modified: at(1),
    };
    let run = Run {
        id: run_id,
        placement_id: placement.id,
        workload_id: workload.id,
        project_id: workload.project_id,
        node_id: node,
        attempt: 1,
        cause: None,
        fire: None,
        state: RunState::Assigned,
        report_generation: Generation::ZERO,
        time_created: at(1),
        time_started: None,
        time_ended: None,
    };
    (placement, run)
}

pub fn actor() -> Actor {
    Actor { kind: ActorKind::User, name: "ada".to_owned() }
}

pub fn operation(project_id: Option<ProjectId>) -> Operation {
    Operation {
        id: OperationId::from_uuid(next_uuid()),
        project_id,
        plan: OperationPlan::NodeDrain {
            node: NodeId::from_uuid(next_uuid()),
            reason: "new disk".to_owned(),
            deadline: Some(at(100)),
        },
        state: OperationState::Pending,
        steps: vec![Step::waiting("cordon"), Step::waiting("empty")],
        error: None,
        is_cancel_requested: false,
        created_by: actor(),
        owner: None,
        generation: Generation::FIRST,
        time_created: at(0),
        time_modified: at(0),
        time_ended: None,
    }
}

pub fn event(kind: EventKind, project_id: Option<ProjectId>, id: &str, seconds: i64) -> NewEvent {
    NewEvent {
        kind,
        project_id,
        object: ObjectRef::new(ObjectKind::Task, id, "job"),
        actor: actor(),
        message: "it happened".to_owned(),
        payload: None,
        correlation: None,
        time: at(seconds),
    }
}

pub fn audit(action: &str) -> NewAuditEntry {
    NewAuditEntry {
        time: at(0),
        actor: actor(),
        action: action.to_owned(),
        object: ObjectRef::new(ObjectKind::Task, "t1", "job"),
        project_id: None,
        request_id: "req-1".to_owned(),
        source: "127.0.0.1".to_owned(),
        detail: serde_json::json!({ "b": 1, "a": [1.5, null, "x\u{0}y"] }),
        digest_before: None,
        digest_after: None,
    }
}

pub fn server_id() -> ServerId {
    ServerId::from_uuid(next_uuid())
}

/// Runs `count` copies of a task at the same time and collects what they return.
pub async fn together<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    count: usize,
    task: impl Fn(usize) -> F,
) -> Vec<T> {
    let barrier = Arc::new(tokio::sync::Barrier::new(count));
    let mut set = tokio::task::JoinSet::new();
    for i in 0..count {
        let (work, barrier) = (task(i), barrier.clone());
        set.spawn(async move {
            barrier.wait().await;
            work.await
        });
    }
    set.join_all().await
}
