//! Tasks in the queue: gangs, giving way, what is shown of the queue, what was used.

use std::time::Duration;

use hostler_control::{AccountQuery, EventQuery, NewArray, NewTask, TaskDetail};
use hostler_model::{
    Code, Cores, Desired, EventKind, EventPayload, Limit, TaskStateKind, WorkloadSpec,
};
use hostler_testkit::{Random, SimAgent, Truth, World};

fn cores(millis: u32) -> WorkloadSpec {
    let mut spec = WorkloadSpec::command(["true"]);
    spec.resources.cores = Cores::from_millis(millis);
    spec
}

async fn submit(world: &World, spec: WorkloadSpec, count: usize) -> Vec<TaskDetail> {
    let new = (0..count).map(|_| NewTask { name: None, spec: spec.clone() }).collect();
    world.control.task_submit(&world.cx, &world.project, new).await.unwrap()
}

async fn joined(world: &World, count: usize) -> Vec<SimAgent> {
    let mut agents = Vec::new();
    for n in 0..count {
        let mut agent = world.join(&format!("n{n}")).await;
        agent.connect(&world.control).await;
        agents.push(agent);
    }
    agents
}

async fn task(world: &World, detail: &TaskDetail) -> TaskDetail {
    let id = detail.workload.id.to_string();
    world.control.task_get(&world.cx, &world.project, &id).await.unwrap()
}

/// Carries out what the nodes are told, without anything going wrong.
async fn work(world: &World, agents: &mut [SimAgent], truth: &mut Truth) {
    let mut random = Random::new(7);
    for _ in 0..30 {
        for agent in agents.iter_mut() {
            let now = world.now();
            agent.connect(&world.control).await;
            agent.start(now);
            agent.pull(&world.control, &mut random).await;
            agent.act(now, &mut random, truth);
            agent.report(&world.control, &mut random).await;
        }
    }
}

#[tokio::test]
async fn only_what_tells_of_an_end_says_how_it_ended() {
    let world = World::new(31).await;
    let mut agents = joined(&world, 2).await;
    submit(&world, cores(100), 20).await;
    world.control.place_pending().await.unwrap();
    let (mut random, mut truth) = (Random::new(3), Truth::default());
    for _ in 0..30 {
        for agent in &mut agents {
            let now = world.now();
            agent.connect(&world.control).await;
            agent.start(now);
            agent.pull(&world.control, &mut random).await;
            agent.act(now, &mut random, &mut truth);
            agent.run_programs(now, &mut random, &mut truth);
            agent.report(&world.control, &mut random).await;
        }
    }
    let of = async |kinds: &[EventKind]| {
        let mut found = Vec::new();
        for kind in kinds {
            let query = EventQuery { kind: Some((*kind).into()), ..EventQuery::default() };
            let page = world.control.event_list(&world.cx, &query, None, Limit::LARGEST).await;
            found.extend(page.unwrap().items.into_iter().map(|event| match event.event.payload {
                Some(EventPayload::Run(payload)) => payload,
                other => panic!("{other:?}"),
            }));
        }
        found
    };
    let started = of(&[EventKind::TaskStarted]).await;
    assert!(started.len() >= 10, "{}", started.len());
    for payload in started {
        assert!(payload.run.is_some() && payload.node.is_some(), "{payload:?}");
        let end = (payload.exit_code, payload.signal, payload.reason);
        assert_eq!(end, (None, None, None), "it has only begun");
    }
    let ended = of(&[EventKind::TaskCompleted, EventKind::TaskFailed]).await;
    assert!(ended.len() >= 10, "{}", ended.len());
    assert!(ended.iter().all(|payload| payload.reason.is_some()), "{ended:?}");
}

/// More waits than is looked at in one go, with the gang's members on both sides of the cut.
#[tokio::test]
async fn a_gang_is_looked_at_whole() {
    let world = World::new(1).await;
    let _agents = joined(&world, 3).await;
    submit(&world, cores(64_000), 62).await;
    let mut spec = cores(500);
    spec.queue.nodes = Some(3);
    let new = NewArray { name: None, spec, range: None };
    let made = world.control.task_array_submit(&world.cx, &world.project, new).await.unwrap();
    world.control.fill_arrays().await.unwrap();
    let (report, _) = world.control.place_pending().await.unwrap();
    assert_eq!((report.looked_at, report.placed), (65, 3));
    let array = made.array.id.to_string();
    let page = world
        .control
        .task_list(&world.cx, &world.project, &[], Some(&array), None, Limit::DEFAULT)
        .await
        .unwrap();
    let states: Vec<_> = page.items.iter().map(|task| task.workload.state.kind()).collect();
    assert_eq!(states, [TaskStateKind::Assigning; 3]);
}

#[tokio::test]
async fn who_names_an_array_where_a_task_is_meant_is_told() {
    let world = World::new(1).await;
    let new = NewArray { name: None, spec: cores(500), range: Some("1-3".parse().unwrap()) };
    let made = world.control.task_array_submit(&world.cx, &world.project, new).await.unwrap();
    for called in [made.array.id.to_string(), made.array.name.to_string()] {
        let error =
            world.control.task_explain(&world.cx, &world.project, &called).await.unwrap_err();
        assert_eq!(error.code, Code::NotFound);
        assert!(error.detail.contains("is an array of tasks"), "{error}");
        assert!(error.hint.contains(&format!("task array get|wait|kill {called}")), "{error:?}");
    }
}

/// Paused tasks at the head of the queue do not hide what is behind them.
#[tokio::test]
async fn what_is_held_back_hides_nothing() {
    let world = World::new(2).await;
    let _agents = joined(&world, 1).await;
    let (cx, project) = (&world.cx, &world.project);
    let mut held = submit(&world, cores(100), 1000).await;
    held.extend(submit(&world, cores(100), 24).await);
    for detail in &held {
        let id = detail.workload.id.to_string();
        world.control.task_pause(cx, project, &id).await.unwrap();
    }
    let behind = submit(&world, cores(100), 1).await;
    world.control.place_pending().await.unwrap();
    let state = task(&world, &behind[0]).await.workload.state.kind();
    assert_eq!(state, TaskStateKind::Assigning);
    let first = task(&world, &held[0]).await.workload;
    assert_eq!((first.state.kind(), first.desired), (TaskStateKind::Pending, Desired::Pause));
}

#[tokio::test]
async fn what_is_of_no_priority_takes_the_room_of_what_is_of_less() {
    let world = World::new(3).await;
    let mut agents = joined(&world, 1).await;
    let mut truth = Truth::default();
    let mut low = cores(2000);
    low.queue.priority = -5;
    low.queue.preemptible = true;
    let low = submit(&world, low, 1).await;
    world.control.place_pending().await.unwrap();
    work(&world, &mut agents, &mut truth).await;
    assert_eq!(task(&world, &low[0]).await.workload.state.kind(), TaskStateKind::Running);

    let plain = submit(&world, cores(1000), 1).await;
    let (report, _) = world.control.place_pending().await.unwrap();
    assert_eq!((report.placed, report.preempted), (0, 1), "at once, without having waited");
    work(&world, &mut agents, &mut truth).await;
    agents[0].run_programs(world.now(), &mut Random::new(1), &mut truth);
    work(&world, &mut agents, &mut truth).await;
    let given_way = task(&world, &low[0]).await.workload;
    assert_eq!((given_way.state.kind(), given_way.attempts), (TaskStateKind::Pending, 0));
    world.control.place_pending().await.unwrap();
    assert_eq!(task(&world, &plain[0]).await.workload.state.kind(), TaskStateKind::Assigning);
}

#[tokio::test]
async fn the_queue_says_what_waits_in_which_order_and_why() {
    let world = World::new(4).await;
    let _agents = joined(&world, 2).await;
    let large = submit(&world, cores(64_000), 1).await;
    let mut urgent = cores(32_000);
    urgent.queue.priority = 3;
    let urgent = submit(&world, urgent, 1).await;
    let small = submit(&world, cores(100), 1).await;
    let shown = world.control.queue_show(&world.cx).await.unwrap();
    let line = shown.iter().find(|line| line.project.id == world.project.id).unwrap();
    assert_eq!(line.counts["pending"], 3);
    let order: Vec<_> = line.next.iter().map(|task| (task.position, task.id)).collect();
    let expected = [&urgent, &large, &small].map(|task| task[0].workload.id);
    assert_eq!(order, [(1, expected[0]), (2, expected[1]), (3, expected[2])]);
    let reasons: Vec<&str> = line.next.iter().map(|task| task.reason.as_str()).collect();
    assert!(
        reasons[0].contains("none of 2 nodes can run it, and waiting does not help"),
        "{reasons:?}"
    );
    assert!(reasons[1].contains("asks for 64 cores"), "{reasons:?}");
    assert!(reasons[2].starts_with("it goes to node"), "{reasons:?}");
    let waiting = task(&world, &small[0]).await.workload.state.kind();
    assert_eq!(waiting, TaskStateKind::Pending, "asking decides nothing");
    world.control.place_pending().await.unwrap();
    let shown = world.control.queue_show(&world.cx).await.unwrap();
    let line = shown.iter().find(|line| line.project.id == world.project.id).unwrap();
    assert_eq!((line.next.len(), line.held.cores), (2, 100));
}

#[tokio::test]
async fn what_was_reserved_is_accounted_for_as_long_as_it_was() {
    let world = World::new(5).await;
    let mut agents = joined(&world, 1).await;
    let mut truth = Truth::default();
    let query = AccountQuery::default();
    assert_eq!(world.control.account_report(&world.cx, &query).await.unwrap(), []);
    let done = submit(&world, cores(500), 1).await;
    world.control.place_pending().await.unwrap();
    work(&world, &mut agents, &mut truth).await;
    world.advance(Duration::from_secs(100));
    let mut random = Random::new(1);
    while agents[0].running() > 0 {
        agents[0].run_programs(world.now(), &mut random, &mut truth);
    }
    work(&world, &mut agents, &mut truth).await;
    assert!(task(&world, &done[0]).await.workload.state.is_settled());
    let report = world.control.account_report(&world.cx, &query).await.unwrap();
    assert_eq!(report.len(), 1);
    let (line, used) = (&report[0], report[0].used);
    assert_eq!(line.project, world.project.name.to_string());
    assert_eq!((used.tasks, used.run_milliseconds, used.core_milliseconds), (1, 100_000, 50_000));
    let past = AccountQuery { to: Some("2001-01-01".to_owned()), ..AccountQuery::default() };
    assert_eq!(world.control.account_report(&world.cx, &past).await.unwrap(), []);
    let wrong = AccountQuery {
        from: Some("2002-01-01".to_owned()),
        to: Some("2001-01-01".to_owned()),
        ..AccountQuery::default()
    };
    assert!(world.control.account_report(&world.cx, &wrong).await.is_err());
}
