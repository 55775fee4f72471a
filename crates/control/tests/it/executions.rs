//! Executions that two servers carry on at the same time.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::join_all;
use hostler_control::{Bundle, Control, EventQuery, ExecutionDetail, NewExecution, NewWorkflow};
use hostler_model::workflow::{ExecutionOutcome, ExecutionState, JobKind, StepEnd};
use hostler_model::{EventKind, Limit, Span};
use hostler_testkit::World;

use crate::postgres::Schema;

const TEXT: &str = r#"
    local steps = {}
    for n = 1, 30 do
        steps[n] = task("first-" .. n):command("true"):build()
        steps[30 + n] = task("then-" .. n):depends_on("first-" .. n):command("true"):build()
    end
    workflow.define("wide"):tasks(steps)
"#;

struct Race {
    world: World,
    servers: [Control; 2],
}

impl Race {
    async fn begin(world: World) -> (Race, ExecutionDetail) {
        Box::pin(Race::begin_with(world, "wide", TEXT)).await
    }

    async fn begin_with(world: World, name: &str, text: &str) -> (Race, ExecutionDetail) {
        let servers = [world.control.clone(), world.another_server().await];
        let bundle =
            Bundle { name: format!("{name}.sloth"), text: text.into(), files: BTreeMap::new() };
        let new = NewWorkflow { bundle, values: serde_json::Value::Null, is_strict: false };
        servers[0].workflow_push(&world.cx, &world.project, new).await.unwrap();
        let new = NewExecution::default();
        let begun = servers[1].workflow_run(&world.cx, &world.project, name, new).await.unwrap();
        (Race { world, servers }, begun)
    }

    /// Both do what they find to do, until neither finds anything.
    async fn advance(&self) {
        for _ in 0..20 {
            let passes = join_all(self.servers.iter().map(Control::advance_executions)).await;
            let moved: usize = passes.into_iter().map(|pass| pass.unwrap().0.moved).sum();
            if moved == 0 {
                return;
            }
        }
        panic!("they do not come to rest");
    }

    async fn look(&self, begun: &ExecutionDetail) -> ExecutionDetail {
        self.servers[0].execution_get(&self.world.project, begun.execution.id).await.unwrap()
    }

    async fn events(&self, kind: EventKind) -> usize {
        let query = EventQuery { kind: Some(kind.into()), ..Default::default() };
        let most = Limit::new(500).unwrap();
        self.servers[0].event_list(&self.world.cx, &query, None, most).await.unwrap().items.len()
    }
}

async fn each_step_is_begun_once(world: World) {
    let (race, begun) = Race::begin(world).await;
    race.advance().await;
    let found = race.look(&begun).await;
    let positions: BTreeSet<_> = found.jobs.iter().map(|job| job.position).collect();
    assert_eq!((found.jobs.len(), positions.len()), (30, 30), "one task for each");
    let (cx, project) = (&race.world.cx, &race.world.project);
    let tasks = race.servers[0].task_list(cx, project, &[], None, None, Limit::new(500).unwrap());
    assert_eq!(tasks.await.unwrap().items.len(), 30);

    // Somebody kills every task: what followed is skipped, and the end is told once.
    for job in &found.jobs {
        let id = job.workload_id.to_string();
        race.servers[1].task_kill(cx, project, &id, None).await.unwrap();
    }
    race.advance().await;
    let found = race.look(&begun).await;
    assert_eq!(found.execution.state, ExecutionState::Ended(ExecutionOutcome::Cancelled));
    assert_eq!(found.jobs.len(), 30);
    assert!(found.jobs.iter().all(|job| job.end == Some(StepEnd::Cancelled)));
    assert_eq!(race.events(EventKind::ExecutionFailed).await, 1);
    assert_eq!(race.events(EventKind::ExecutionStepEnded).await, 60, "each once");
    race.world.store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_step_is_begun_once_by_two_servers_on_postgres() {
    let Some(schema) = Schema::create("executions") else { return };
    Box::pin(each_step_is_begun_once(World::on(schema.open().await, 1).await)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_step_is_begun_once_by_two_servers_on_sqlite() {
    Box::pin(each_step_is_begun_once(World::new(1).await)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whoever_is_asked_an_execution_ends_at_once_where_nothing_runs() {
    let (race, begun) = Race::begin(World::new(2).await).await;
    let (cx, project) = (&race.world.cx, &race.world.project);
    let id = begun.execution.id;
    let asked = join_all(race.servers.iter().map(|s| s.execution_cancel(cx, project, id))).await;
    assert!(asked.iter().any(Result::is_ok), "{asked:?}");
    race.advance().await;
    let found = race.look(&begun).await;
    assert_eq!(found.execution.state, ExecutionState::Ended(ExecutionOutcome::Cancelled));
    assert_eq!(found.jobs.len(), 0, "nothing is begun that is not wanted");
}

#[tokio::test]
async fn what_is_called_last_has_its_time_and_ends_when_somebody_wants_it() {
    let text = r#"workflow.define("last", { tasks = { { name = "t" } },
        config = { timeout = "2s" }, on_complete = function() while true do end end })"#;
    let (race, begun) = Box::pin(Race::begin_with(World::new(3).await, "last", text)).await;
    race.advance().await;
    let found = race.look(&begun).await;
    let [job] = found.jobs.as_slice() else { panic!("{:?}", found.jobs) };
    assert_eq!((job.kind, job.end), (JobKind::After, None));
    assert!(matches!(found.execution.state, ExecutionState::Finishing(_)), "{found:?}");
    let (cx, project) = (&race.world.cx, &race.world.project);
    let id = job.workload_id.to_string();
    let task = race.servers[0].task_get(cx, project, &id).await.unwrap();
    assert_eq!(task.workload.spec.timeout, Some(Span::from_secs(2 * 5 + 30)));

    race.servers[1].execution_cancel(cx, project, begun.execution.id).await.unwrap();
    race.advance().await;
    let found = race.look(&begun).await;
    assert!(matches!(found.execution.state, ExecutionState::Ended(_)), "{:?}", found.execution);
    assert_eq!(found.jobs[0].end, Some(StepEnd::Cancelled));
}
