//! What goes wrong with tasks where there is no queue, no memory of what was promised and nobody who
//! looks after what is left over: each of these is shown not to happen, with simulated agents.
//!
//! `docs/conformance/kohakuriver-tasks.md` says which test answers which weakness.

use std::time::Duration;

use hostler_control::{Attach, Attached, HelloFacts, NewArray, NewTask, TaskDetail};
use hostler_model::{
    Bytes, Cores, Exit, ExitReason, Facts, Generation, GpuFact, GpuRequest, NumaFact, Report,
    ReportState, RetryOn, Target, TaskStateKind, WorkloadSpec,
};
use hostler_testkit::{Random, SimAgent, Truth, World};

fn cores(millis: u32) -> WorkloadSpec {
    let mut spec = WorkloadSpec::command(["true"]);
    spec.resources.cores = Cores::from_millis(millis);
    spec
}

async fn submit(world: &World, spec: WorkloadSpec) -> String {
    submit_all(world, vec![spec]).await.remove(0)
}

async fn submit_all(world: &World, specs: Vec<WorkloadSpec>) -> Vec<String> {
    let new = specs.into_iter().map(|spec| NewTask { name: None, spec }).collect();
    let made = world.control.task_submit(&world.cx, &world.project, new).await.unwrap();
    made.iter().map(|task| task.workload.id.to_string()).collect()
}

async fn task(world: &World, id: &str) -> TaskDetail {
    world.control.task_get(&world.cx, &world.project, id).await.unwrap()
}

async fn state(world: &World, id: &str) -> TaskStateKind {
    task(world, id).await.workload.state.kind()
}

/// Thousandths of cores that are reserved, on all nodes.
async fn held(world: &World) -> u32 {
    let held = world.control.node_held_list(&world.cx).await.unwrap();
    held.iter().map(|node| node.cores.millis()).sum()
}

async fn why(world: &World, id: &str) -> String {
    let why = world.control.task_explain(&world.cx, &world.project, id).await.unwrap();
    let nodes = why.nodes.iter().flat_map(|node| node.reasons.iter());
    format!("{}: {}", why.summary, nodes.cloned().collect::<Vec<_>>().join("; "))
}

/// A node and everything that happens on it.
struct Node {
    agent: SimAgent,
    random: Random,
    truth: Truth,
}

impl Node {
    async fn new(world: &World, name: &str) -> Node {
        let mut agent = world.join(name).await;
        agent.connect(&world.control).await;
        Node { agent, random: Random::new(3), truth: Truth::default() }
    }

    /// Carries out what it is told, again and again, until all of it has arrived.
    async fn work(&mut self, world: &World) {
        for _ in 0..30 {
            let now = world.now();
            self.agent.connect(&world.control).await;
            self.agent.start(now);
            self.agent.pull(&world.control, &mut self.random).await;
            self.agent.act(now, &mut self.random, &mut self.truth);
            self.agent.report(&world.control, &mut self.random).await;
            // What was lost on the way is told again on the next connection.
            self.agent.disconnect();
        }
    }

    /// Some of what runs ends.
    fn end_some(&mut self, world: &World) {
        self.agent.run_programs(world.now(), &mut self.random, &mut self.truth);
    }

    /// Works until nothing runs any more, and everybody knows.
    async fn finish(&mut self, world: &World) {
        self.work(world).await;
        while self.agent.running() > 0 {
            self.end_some(world);
            self.work(world).await;
        }
    }
}

#[tokio::test]
async fn a_task_waits_when_no_node_has_room() {
    let world = World::new(101).await;
    let mut node = Node::new(&world, "n1").await;
    let tasks = submit_all(&world, vec![cores(1000); 20]).await;
    for round in 0..200 {
        world.control.place_pending().await.unwrap();
        node.work(&world).await;
        assert!(node.agent.running() <= 2, "two cores, two tasks");
        assert!(held(&world).await <= 2000);
        if round == 0 {
            assert_eq!(held(&world).await, 2000);
            let reason = why(&world, &tasks[19]).await;
            assert!(reason.contains("asks for 1 cores, 0 of 2 are free"), "{reason}");
        }
        node.end_some(&world);
    }
    for id in &tasks {
        let ended = state(&world, id).await;
        assert!(matches!(ended, TaskStateKind::Completed | TaskStateKind::Failed), "{ended}");
    }
    assert!(node.truth.executed.values().all(|times| *times == 1));
    assert_eq!((node.truth.executed.len(), held(&world).await), (20, 0));
}

/// However long it is, and although there is room for others.
#[tokio::test]
async fn an_array_that_runs_as_many_as_it_may_is_not_gone_through_again_and_again() {
    let world = World::new(100).await;
    let _node = Node::new(&world, "n1").await;
    let range = Some("1-5000%2".parse().unwrap());
    let new = NewArray { name: None, spec: cores(100), range };
    world.control.task_array_submit(&world.cx, &world.project, new).await.unwrap();
    while world.control.fill_arrays().await.unwrap().made > 0 {}
    let behind = submit(&world, cores(100)).await;
    let (report, _) = world.control.place_pending().await.unwrap();
    assert_eq!((report.placed, report.looked_at), (3, 65), "two, and the one behind it");
    assert_eq!(state(&world, &behind).await, TaskStateKind::Assigning);
    let (report, _) = world.control.place_pending().await.unwrap();
    assert_eq!((report.placed, report.looked_at), (0, 64));
}

#[tokio::test]
async fn a_waiting_task_is_placed_when_room_comes_however_late() {
    let world = World::new(102).await;
    let large = submit(&world, cores(2000)).await;
    world.control.place_pending().await.unwrap();
    world.advance(Duration::from_secs(7 * 86_400));
    world.control.place_pending().await.unwrap();
    assert_eq!(state(&world, &large).await, TaskStateKind::Pending, "a week is not too long");
    let _node = Node::new(&world, "late").await;
    world.control.place_pending().await.unwrap();
    assert_eq!(state(&world, &large).await, TaskStateKind::Assigning);
}

/// Killed after so many steps of its life: nothing runs, nothing is held, and it is known.
#[tokio::test]
async fn a_kill_at_any_moment_leaves_nothing_running_and_nothing_held() {
    for step in 0..7 {
        let world = World::new(110 + step).await;
        let mut node = Node::new(&world, "n1").await;
        let id = submit(&world, cores(2000)).await;
        let (control, now) = (&world.control, world.now());
        if step >= 1 {
            control.place_pending().await.unwrap();
        }
        if step >= 2 {
            node.agent.pull(control, &mut Random::new(2)).await;
        }
        if step >= 3 {
            node.agent.act(now, &mut node.random, &mut node.truth);
        }
        if step >= 4 {
            node.work(&world).await;
        }
        if step == 5 {
            control.task_pause(&world.cx, &world.project, &id).await.unwrap();
            node.work(&world).await;
            assert_eq!(state(&world, &id).await, TaskStateKind::Paused);
        }
        if step == 6 {
            node.agent.crash();
        }
        control.task_kill(&world.cx, &world.project, &id, None).await.unwrap();
        control.place_pending().await.unwrap();
        node.finish(&world).await;
        assert_eq!(state(&world, &id).await, TaskStateKind::Killed, "killed at step {step}");
        assert_eq!((node.agent.running(), held(&world).await), (0, 0), "step {step}");
        let next = submit(&world, cores(2000)).await;
        control.place_pending().await.unwrap();
        assert_eq!(state(&world, &next).await, TaskStateKind::Assigning, "the room is free");
    }
}

#[tokio::test]
async fn a_paused_task_keeps_what_it_holds() {
    let world = World::new(103).await;
    let mut node = Node::new(&world, "n1").await;
    let (cx, project) = (&world.cx, &world.project);
    let first = submit(&world, cores(2000)).await;
    world.control.place_pending().await.unwrap();
    node.work(&world).await;
    let second = submit(&world, cores(2000)).await;
    world.control.task_pause(cx, project, &first).await.unwrap();
    node.work(&world).await;
    world.control.place_pending().await.unwrap();
    assert_eq!(state(&world, &first).await, TaskStateKind::Paused);
    assert_eq!((state(&world, &second).await, held(&world).await), (TaskStateKind::Pending, 2000));
    world.control.task_resume(cx, project, &first).await.unwrap();
    node.work(&world).await;
    world.control.place_pending().await.unwrap();
    assert_eq!(state(&world, &first).await, TaskStateKind::Running);
    assert_eq!((state(&world, &second).await, held(&world).await), (TaskStateKind::Pending, 2000));
    node.finish(&world).await;
    world.control.place_pending().await.unwrap();
    assert_eq!(
        (state(&world, &second).await, held(&world).await),
        (TaskStateKind::Assigning, 2000)
    );
}

/// Loading an image takes as long as it takes; a node that is there and has the task is trusted.
#[tokio::test]
async fn a_start_that_takes_minutes_is_waited_for() {
    let world = World::new(104).await;
    let mut node = Node::new(&world, "n1").await;
    let since = world.now();
    let id = submit(&world, cores(1000)).await;
    world.control.place_pending().await.unwrap();
    for _ in 0..10 {
        node.agent.heartbeat(&world.control);
        world.control.flush_leases().await.unwrap();
        world.control.judge_nodes(since).await.unwrap();
        assert_eq!(state(&world, &id).await, TaskStateKind::Assigning);
        world.advance(Duration::from_secs(50));
    }
    node.work(&world).await;
    assert_eq!(state(&world, &id).await, TaskStateKind::Running);
    assert_eq!(held(&world).await, 1000);
}

/// A task that was lost runs somewhere else; its first node comes back with it and has to let it go.
#[tokio::test]
async fn a_task_that_was_tried_again_elsewhere_runs_there_only() {
    let world = World::new(105).await;
    let (mut first, since) = (Node::new(&world, "n1").await, world.now());
    let mut spec = cores(2000);
    spec.queue.retry.times = 1;
    spec.queue.retry.on = vec![RetryOn::Lost];
    let id = submit(&world, spec).await;
    world.control.place_pending().await.unwrap();
    first.work(&world).await;
    assert_eq!(state(&world, &id).await, TaskStateKind::Running);
    first.agent.is_cut_off = true;
    first.agent.disconnect();
    let mut second = Node::new(&world, "n2").await;
    for _ in 0..100 {
        world.advance(Duration::from_secs(20));
        second.agent.heartbeat(&world.control);
        world.control.flush_leases().await.unwrap();
        world.control.judge_nodes(since).await.unwrap();
        world.control.place_pending().await.unwrap();
    }
    second.work(&world).await;
    let moved = task(&world, &id).await;
    assert_eq!(moved.workload.state.kind(), TaskStateKind::Running);
    assert_eq!((moved.node.unwrap().as_str(), moved.workload.attempts), ("n2", 2));
    assert_eq!((first.agent.running(), second.agent.running()), (1, 1), "nobody could tell it yet");

    first.agent.is_cut_off = false;
    first.finish(&world).await;
    assert_eq!((first.agent.running(), second.agent.running()), (0, 1));
    let still = task(&world, &id).await;
    assert_eq!(still.workload.state.kind(), TaskStateKind::Running, "what the first says is past");
    assert_eq!(held(&world).await, 2000);
    second.finish(&world).await;
    assert!(state(&world, &id).await.is_settled());
    assert_eq!(held(&world).await, 0);
}

async fn attach(world: &World, agent: &SimAgent, facts: Facts) -> Attached {
    let hello = HelloFacts {
        agent_version: "t".into(),
        session_epoch: Generation::FIRST,
        applied_generation: Generation::ZERO,
        facts: Some(facts),
        heartbeat_wish: None,
        can_tell_holdings: true,
    };
    match world.control.node_attach(agent.node_id, agent.serial(), &hello).await.unwrap() {
        Attach::Attached(attached) => attached,
        Attach::Refused { detail, .. } => panic!("{detail}"),
    }
}

fn gpu(index: u32) -> GpuFact {
    GpuFact { index, model: "A100".to_owned(), memory: Bytes::mib(40_000), ..GpuFact::default() }
}

#[tokio::test]
async fn gpus_are_found_and_given_without_naming_a_node() {
    let world = World::new(106).await;
    let (plain, rich) = (world.join("plain").await, world.join("rich").await);
    attach(&world, &plain, Facts { cores: Cores::from_millis(64_000), ..Facts::default() }).await;
    let mut train = cores(100);
    train.resources.gpus = GpuRequest::count(1);
    let early = submit(&world, train.clone()).await;
    world.control.place_pending().await.unwrap();
    assert_eq!(state(&world, &early).await, TaskStateKind::Pending);
    let reason = why(&world, &early).await;
    assert!(reason.contains("GPU"), "{reason}");

    let facts =
        Facts { cores: Cores::from_millis(4000), gpus: vec![gpu(0), gpu(1)], ..Facts::default() };
    attach(&world, &rich, facts).await;
    let tasks = submit_all(&world, vec![train; 2]).await;
    world.control.place_pending().await.unwrap();
    assert_eq!(state(&world, &early).await, TaskStateKind::Assigning);
    assert_eq!(state(&world, &tasks[0]).await, TaskStateKind::Assigning);
    assert_eq!(state(&world, &tasks[1]).await, TaskStateKind::Pending, "both are in use");
    let node = task(&world, &early).await.node.unwrap();
    assert_eq!(node.as_str(), "rich");
    let held = world.control.node_held_list(&world.cx).await.unwrap();
    let rich = held.iter().find(|node| node.name.as_str() == "rich").unwrap();
    assert_eq!(rich.gpus.iter().map(|hold| hold.index).collect::<Vec<_>>(), [0, 1]);
}

#[tokio::test]
async fn memory_counts_wherever_a_task_goes() {
    let world = World::new(107).await;
    let _node = Node::new(&world, "n1").await;
    let mut hungry = cores(100);
    hungry.resources.memory = Bytes::mib(600);
    let tasks = submit_all(&world, vec![hungry; 2]).await;
    world.control.place_pending().await.unwrap();
    let states = [state(&world, &tasks[0]).await, state(&world, &tasks[1]).await];
    assert_eq!(states, [TaskStateKind::Assigning, TaskStateKind::Pending]);
    let reason = why(&world, &tasks[1]).await;
    assert!(reason.contains("memory"), "{reason}");
}

#[tokio::test]
async fn a_target_names_node_numa_node_and_gpus() {
    let world = World::new(108).await;
    let agent = world.join("box").await;
    let numa = |index: u32, cpus: &str| NumaFact {
        index,
        cpus: cpus.to_owned(),
        memory: Bytes::mib(1024),
    };
    let facts = Facts {
        cores: Cores::from_millis(8000),
        numa: vec![numa(0, "0-3"), numa(1, "4-7")],
        gpus: vec![gpu(0), gpu(1), gpu(2)],
        ..Facts::default()
    };
    attach(&world, &agent, facts).await;
    let mut spec = cores(2000);
    spec.resources.exclusive = true;
    "box:1::2,0".parse::<Target>().unwrap().apply(&mut spec);
    let id = submit(&world, spec).await;
    world.control.place_pending().await.unwrap();
    assert_eq!(state(&world, &id).await, TaskStateKind::Assigning);
    let held = world.control.node_held_list(&world.cx).await.unwrap().remove(0);
    assert_eq!((held.cpus.to_string().as_str(), held.gpus.len()), ("4-5", 2));
    assert_eq!(held.gpus.iter().map(|hold| hold.index).collect::<Vec<_>>(), [0, 2]);
    let mut wrong = cores(100);
    "box:7".parse::<Target>().unwrap().apply(&mut wrong);
    let wrong = submit(&world, wrong).await;
    world.control.place_pending().await.unwrap();
    let reason = why(&world, &wrong).await;
    assert!(reason.contains("NUMA"), "{reason}");
}

/// What has ended stays as it ended, whatever comes late, twice, or in the wrong order.
#[tokio::test]
async fn an_end_is_not_written_over() {
    let world = World::new(109).await;
    let agent = world.join("n1").await;
    attach(&world, &agent, Facts { cores: Cores::from_millis(2000), ..Facts::default() }).await;
    let id = submit(&world, cores(1000)).await;
    world.control.place_pending().await.unwrap();
    let batch = world.control.node_desired(agent.node_id, Generation::ZERO).await.unwrap();
    let assignment = batch.unwrap().assignments.remove(0);
    let say = async |generation: u64, state: ReportState| {
        let report = Report {
            run_id: assignment.run_id.unwrap(),
            placement_id: assignment.placement_id,
            generation: Generation::from_u64(generation),
            state,
            origin: None,
        };
        world.control.node_report(agent.node_id, &[report]).await.unwrap();
    };
    let exited = |code| ReportState::Exited {
        started: Some(world.now()),
        pid: Some(7),
        exit: Exit {
            reason: ExitReason::Exited,
            code: Some(code),
            signal: None,
            message: None,
            time: world.now(),
        },
    };
    say(3, exited(0)).await;
    assert_eq!((state(&world, &id).await, held(&world).await), (TaskStateKind::Completed, 0));
    say(2, ReportState::Running { pid: 7, since: world.now() }).await;
    say(4, exited(1)).await;
    say(5, ReportState::Running { pid: 7, since: world.now() }).await;
    world.control.task_kill(&world.cx, &world.project, &id, None).await.unwrap();
    assert_eq!((state(&world, &id).await, held(&world).await), (TaskStateKind::Completed, 0));
}
