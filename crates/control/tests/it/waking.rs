//! The placement reconciler under its driver, on a clock that only moves when told: what is due is looked
//! at when it is due, and nothing in the queue hides what is behind it.

use std::time::Duration;

use hostler_base::clock::Clock;
use hostler_base::reconcile::Driver;
use hostler_base::shutdown::{Phase, Shutdown};
use hostler_control::{ControlConfig, NewTask, TaskDetail};
use hostler_model::{Bytes, Cores, Name, Span, TaskStateKind, WorkloadSpec};
use hostler_store::{OpenOptions, Store};
use hostler_testkit::{SimAgent, World};

/// Much less than a period of the reconciler.
const STEP: Duration = Duration::from_millis(20);

struct Driven {
    world: World,
    _agent: SimAgent,
    _shutdown: Shutdown,
}

impl Driven {
    async fn new(config: ControlConfig) -> Driven {
        let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
        let world = World::configured(store, 1, config).await;
        let mut agent = world.join("n0").await;
        agent.connect(&world.control).await;
        let shutdown = Shutdown::new(Clock::system());
        let tasks = shutdown.tasks(Phase::Reconcilers);
        world.control.start(Driver::new(tasks, world.clock.clock()));
        let driven = Driven { world, _agent: agent, _shutdown: shutdown };
        driven.rest().await;
        driven
    }

    /// Waits until every reconciler has done what it was woken for.
    async fn rest(&self) {
        for _ in 0..16 {
            tokio::task::yield_now().await;
        }
        let all = self.world.control.reconcilers().len();
        let resting = self.world.clock.wait_for_sleepers(all);
        tokio::time::timeout(Duration::from_secs(60), resting).await.expect("it comes to rest");
    }

    async fn submit(&self, spec: WorkloadSpec, count: usize) -> Vec<TaskDetail> {
        let new = (0..count).map(|_| NewTask { name: None, spec: spec.clone() }).collect();
        let World { control, cx, project, .. } = &self.world;
        control.task_submit(cx, project, new).await.unwrap()
    }

    async fn state(&self, task: &TaskDetail) -> TaskStateKind {
        let World { control, cx, project, .. } = &self.world;
        let id = task.workload.id.to_string();
        control.task_get(cx, project, &id).await.unwrap().workload.state.kind()
    }

    /// Moves the clock in small steps until the task is in a state; says how long that took.
    async fn until(&self, task: &TaskDetail, state: TaskStateKind) -> Duration {
        let begun = self.world.now();
        for _ in 0..500 {
            self.rest().await;
            if self.state(task).await == state {
                return self.world.now().since(begun);
            }
            self.world.advance(STEP);
        }
        panic!("it never was {state}");
    }
}

fn spec(millis: u32) -> WorkloadSpec {
    let mut spec = WorkloadSpec::command(["true"]);
    spec.resources.cores = Cores::from_millis(millis);
    spec
}

#[tokio::test]
async fn a_delay_is_as_long_as_was_asked_for() {
    let driven = Driven::new(ControlConfig::default()).await;
    for millis in [300, 740, 1260] {
        let mut later = spec(10);
        later.queue.delay = Some(Span::from_millis(millis));
        let task = driven.submit(later, 1).await.remove(0);
        let waited = driven.until(&task, TaskStateKind::Assigning).await;
        let asked = Duration::from_millis(millis);
        assert!(waited >= asked && waited <= asked + 2 * STEP, "{waited:?} instead of {asked:?}");
    }
}

#[tokio::test]
async fn what_cannot_begin_in_time_is_given_up_in_time() {
    let driven = Driven::new(ControlConfig::default()).await;
    let mut hopeless = spec(64_000);
    hopeless.queue.start_within = Some(Span::from_millis(500));
    let task = driven.submit(hopeless, 1).await.remove(0);
    let waited = driven.until(&task, TaskStateKind::Failed).await;
    assert!(waited >= Duration::from_millis(500), "{waited:?}");
    assert!(waited <= Duration::from_millis(500) + 2 * STEP, "{waited:?}");
}

#[tokio::test]
async fn tasks_that_are_alike_are_looked_at_once() {
    let driven = Driven::new(ControlConfig::default()).await;
    for _ in 0..3 {
        driven.submit(spec(64_000), 1000).await;
    }
    let behind = driven.submit(spec(10), 1).await.remove(0);
    let (report, _) = driven.world.control.place_pending().await.unwrap();
    assert!(report.looked_at <= 1025, "{report:?}");
    assert_eq!(driven.state(&behind).await, TaskStateKind::Assigning);
}

#[tokio::test]
async fn what_is_behind_more_than_a_pass_looks_at_is_found_by_the_next() {
    let config = ControlConfig { placement_looks: 1024, ..ControlConfig::default() };
    let driven = Driven::new(config).await;
    let World { control, cx, project, .. } = &driven.world;
    for part in 0..4u64 {
        let each = |n: u64| {
            let mut spec = spec(64_000);
            spec.resources.memory = Bytes::new(part * 1000 + n);
            let name: Name = format!("hopeless-{part}-{n}").parse().unwrap();
            NewTask { name: Some(name), spec }
        };
        control.task_submit(cx, project, (0..1000).map(each).collect()).await.unwrap();
    }
    let behind = driven.submit(spec(10), 1).await.remove(0);
    let (report, _) = control.place_pending().await.unwrap();
    assert!(report.looked_at < 3000, "{report:?}");
    let waited = driven.until(&behind, TaskStateKind::Assigning).await;
    assert!(waited <= STEP, "the passes of one sweep follow each other: {waited:?}");
}
