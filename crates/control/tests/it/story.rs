//! Short stories about one thing each, with simulated agents.

use std::time::Duration;

use hostler_base::ids::Ids;
use hostler_control::{Attach, EventQuery, HelloFacts, Idempotency, NewJoinToken, NewTask};
use hostler_model::{
    Code, Cores, EventKind, Facts, Generation, Labels, NodeState, OperationState, Role, Span,
    TaskStateKind, WorkloadSpec,
};
use hostler_testkit::{Random, SimAgent, Truth, World, caller_cx};
use hostler_trust::NodeKey;

/// A random source that never drops a message (its first draws are all large).
struct Calm {
    random: Random,
    truth: Truth,
}

impl Calm {
    fn new() -> Calm {
        Calm { random: Random::new(1), truth: Truth::default() }
    }

    /// Lets everything that can happen without faults happen.
    async fn settle(&mut self, world: &World, agent: &mut SimAgent, rounds: u32) {
        for _ in 0..rounds {
            world.control.place_pending().await.unwrap();
            let now = world.now();
            agent.start(now);
            agent.connect(&world.control).await;
            agent.heartbeat(&world.control);
            agent.pull(&world.control, &mut self.random).await;
            agent.act(now, &mut self.random, &mut self.truth);
            agent.run_programs(now, &mut self.random, &mut self.truth);
            agent.report(&world.control, &mut self.random).await;
            agent.disconnect();
            world.control.flush_leases().await.unwrap();
        }
    }
}

fn task(cores: u32) -> NewTask {
    let mut spec = WorkloadSpec::command(["true"]);
    spec.resources.cores = Cores::from_millis(cores);
    NewTask { name: None, spec }
}

async fn submit(world: &World, cores: u32) -> String {
    let made =
        world.control.task_submit(&world.cx, &world.project, vec![task(cores)]).await.unwrap();
    made[0].workload.id.to_string()
}

async fn state(world: &World, id: &str) -> TaskStateKind {
    world.control.task_get(&world.cx, &world.project, id).await.unwrap().workload.state.kind()
}

async fn node_state(world: &World, agent: &SimAgent) -> NodeState {
    world.control.node_get(&world.cx, &agent.node_id.to_string()).await.unwrap().state
}

#[tokio::test]
async fn a_task_runs_to_its_end() {
    let world = World::new(1).await;
    let mut agent = world.join("n1").await;
    let id = submit(&world, 100).await;
    Calm::new().settle(&world, &mut agent, 40).await;
    assert!(matches!(state(&world, &id).await, TaskStateKind::Completed | TaskStateKind::Failed));
    let query = EventQuery { id: Some(id), ..EventQuery::default() };
    let page = world
        .control
        .event_list(&world.cx, &query, None, hostler_model::Limit::DEFAULT)
        .await
        .unwrap();
    let kinds: Vec<EventKind> = page.items.iter().rev().map(|e| e.event.kind).collect();
    assert_eq!(
        kinds[..3],
        [EventKind::TaskCreated, EventKind::TaskAssigned, EventKind::TaskStarted]
    );
    assert_eq!(kinds.len(), 4);
}

#[tokio::test]
async fn the_same_key_makes_one_task_and_another_body_is_refused() {
    let world = World::new(2).await;
    let mut cx = world.cx.clone();
    cx.request.idempotency = Some(Idempotency { key: "k".into(), request_hash: [1; 32] });
    let first = world.control.task_submit(&cx, &world.project, vec![task(1)]).await.unwrap();
    let again = world.control.task_submit(&cx, &world.project, vec![task(1)]).await.unwrap();
    assert_eq!(first[0].workload.id, again[0].workload.id);
    cx.request.idempotency = Some(Idempotency { key: "k".into(), request_hash: [2; 32] });
    let refused = world.control.task_submit(&cx, &world.project, vec![task(2)]).await.unwrap_err();
    assert_eq!(refused.code, Code::KeyReused);
    let all = world
        .control
        .task_list(&world.cx, &world.project, &[], None, None, hostler_model::Limit::DEFAULT)
        .await
        .unwrap();
    assert_eq!(all.items.len(), 1);
}

#[tokio::test]
async fn a_waiting_task_is_killed_at_once_and_for_good() {
    let world = World::new(3).await;
    let id = submit(&world, 1).await;
    let detail = world.control.task_kill(&world.cx, &world.project, &id, None).await.unwrap();
    assert_eq!(detail.workload.state.kind(), TaskStateKind::Killed);
    world.control.task_kill(&world.cx, &world.project, &id, None).await.unwrap();
    world.control.place_pending().await.unwrap();
    assert_eq!(state(&world, &id).await, TaskStateKind::Killed);
}

#[tokio::test]
async fn only_the_owner_or_an_operator_kills() {
    let world = World::new(4).await;
    let id = submit(&world, 1).await;
    let stranger = caller_cx(&Ids::seeded(99), "eve", Role::User);
    let refused = world.control.task_kill(&stranger, &world.project, &id, None).await.unwrap_err();
    assert_eq!(refused.code, Code::Forbidden);
    let operator = caller_cx(&Ids::seeded(98), "ops", Role::Operator);
    world.control.task_kill(&operator, &world.project, &id, None).await.unwrap();
}

#[tokio::test]
async fn explain_gives_every_reason_for_every_node() {
    let world = World::new(5).await;
    let mut agent = world.join("n1").await;
    agent.connect(&world.control).await;
    world.control.node_cordon(&world.cx, "n1", "disk swap".into()).await.unwrap();
    let id = submit(&world, 5000).await;
    world.control.place_pending().await.unwrap();
    let why = world.control.task_explain(&world.cx, &world.project, &id).await.unwrap();
    assert_eq!(why.nodes.len(), 1);
    let reasons = why.nodes[0].reasons.join("; ");
    assert!(reasons.contains("disk swap") && reasons.contains("5 cores"), "{reasons}");
}

#[tokio::test]
async fn a_join_token_works_once_however_many_try() {
    let world = World::new(6).await;
    let new = NewJoinToken { name: None, labels: Labels::new(), ttl: None };
    let (_, ticket) = world.control.join_token_create(&world.cx, new).await.unwrap();
    let token = ticket.expose().split('.').next().unwrap().to_owned();
    let csr = NodeKey::generate().unwrap().csr_pem().unwrap();
    let tries = (0..8).map(|i| {
        let name = format!("n{i}").parse().unwrap();
        world.control.join(&world.cx.request, &token, name, &csr)
    });
    let results = futures::future::join_all(tries).await;
    assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 1);
    for refused in results.iter().filter_map(|r| r.as_ref().err()) {
        assert_eq!(refused.code, Code::Unauthenticated, "{refused}");
    }
}

#[tokio::test]
async fn join_tokens_that_are_bound_expired_or_revoked_are_refused() {
    let world = World::new(7).await;
    let csr = NodeKey::generate().unwrap().csr_pem().unwrap();
    let make = async |name: Option<&str>, ttl: Option<Span>| {
        let new =
            NewJoinToken { name: name.map(|n| n.parse().unwrap()), labels: Labels::new(), ttl };
        let (token, ticket) = world.control.join_token_create(&world.cx, new).await.unwrap();
        (token.id, ticket.expose().split('.').next().unwrap().to_owned())
    };
    let join = async |token: &str| {
        let result =
            world.control.join(&world.cx.request, token, "n1".parse().unwrap(), &csr).await;
        result.map(|_| ()).map_err(|e| e.detail)
    };
    let (_, bound) = make(Some("other"), None).await;
    assert!(join(&bound).await.unwrap_err().contains("another node name"));
    let (_, brief) = make(None, Some(Span::from_secs(5))).await;
    let (id, revoked) = make(None, None).await;
    world.control.join_token_revoke(&world.cx, id).await.unwrap();
    assert!(join(&revoked).await.unwrap_err().contains("revoked"));
    world.advance(Duration::from_secs(6));
    assert!(join(&brief).await.unwrap_err().contains("expired"));
    assert!(join("hst_join_nonsense").await.unwrap_err().contains("not a join token"));
}

#[tokio::test]
async fn silence_makes_a_node_stale_then_offline_and_its_runs_lost_and_found() {
    let world = World::new(8).await;
    let mut agent = world.join("n1").await;
    let since = world.now();
    agent.connect(&world.control).await;
    let id = submit(&world, 100).await;
    world.control.place_pending().await.unwrap();
    assert_eq!(state(&world, &id).await, TaskStateKind::Assigning);
    agent.is_cut_off = true;
    agent.disconnect();
    for (seconds, expected) in
        [(10, NodeState::Online), (15, NodeState::Stale), (100, NodeState::Offline)]
    {
        world.advance(Duration::from_secs(seconds));
        world.control.judge_nodes(since).await.unwrap();
        assert_eq!(node_state(&world, &agent).await, expected);
    }
    world.advance(Duration::from_secs(700));
    world.control.judge_nodes(since).await.unwrap();
    assert_eq!(state(&world, &id).await, TaskStateKind::Lost);
    agent.is_cut_off = false;
    Calm::new().settle(&world, &mut agent, 40).await;
    assert_eq!(node_state(&world, &agent).await, NodeState::Online);
    assert!(matches!(state(&world, &id).await, TaskStateKind::Completed | TaskStateKind::Failed));
}

#[tokio::test]
async fn a_run_that_its_node_never_begins_is_lost_in_the_end() {
    let world = World::new(9).await;
    let mut agent = world.join("n1").await;
    let since = world.now();
    agent.connect(&world.control).await;
    let id = submit(&world, 100).await;
    world.control.place_pending().await.unwrap();
    for _ in 0..13 {
        agent.heartbeat(&world.control);
        world.control.flush_leases().await.unwrap();
        world.control.judge_nodes(since).await.unwrap();
        assert_eq!(node_state(&world, &agent).await, NodeState::Online);
        world.advance(Duration::from_secs(50));
    }
    world.control.judge_nodes(since).await.unwrap();
    assert_eq!(state(&world, &id).await, TaskStateKind::Lost);
}

#[tokio::test]
async fn an_older_session_is_fenced_and_a_removed_node_refused() {
    let world = World::new(10).await;
    let agent = world.join("n1").await;
    let hello = |epoch: u64| HelloFacts {
        agent_version: "t".into(),
        session_epoch: Generation::from_u64(epoch),
        applied_generation: Generation::ZERO,
        facts: Some(Facts::default()),
        heartbeat_wish: None,
        can_tell_holdings: true,
    };
    let serial = agent.serial().to_owned();
    let attach = async |epoch| {
        world.control.node_attach(agent.node_id, &serial, &hello(epoch)).await.unwrap()
    };
    assert!(matches!(attach(5).await, Attach::Attached(_)));
    assert!(matches!(attach(5).await, Attach::Refused { may_return: true, .. }));
    assert!(matches!(attach(4).await, Attach::Refused { .. }));
    let foreign = world.control.node_attach(agent.node_id, "abcd", &hello(9)).await.unwrap();
    assert!(matches!(foreign, Attach::Refused { may_return: false, .. }));
}

#[tokio::test]
async fn an_agent_ahead_of_a_restored_database_gets_its_wishes_again() {
    let world = World::new(11).await;
    let mut agent = world.join("n1").await;
    agent.connect(&world.control).await;
    let id = submit(&world, 100).await;
    world.control.place_pending().await.unwrap();
    agent.disconnect();
    // The agent has seen generation 40 of a history that the database lost.
    agent.accept_foreign(Generation::from_u64(40));
    Calm::new().settle(&world, &mut agent, 40).await;
    assert!(matches!(state(&world, &id).await, TaskStateKind::Completed | TaskStateKind::Failed));
    let node = world.control.node_get(&world.cx, "n1").await.unwrap();
    assert!(node.desired_generation > Generation::from_u64(40));
}

#[tokio::test]
async fn a_drain_survives_the_death_of_its_server() {
    let mut world = World::new(12).await;
    let mut agent = world.join("n1").await;
    agent.connect(&world.control).await;
    let id = submit(&world, 100).await;
    world.control.place_pending().await.unwrap();
    let deadline = Some(Span::from_secs(30));
    let operation =
        world.control.node_drain(&world.cx, "n1", "maintenance".into(), deadline).await.unwrap();
    let mut first = world.operations();
    first.pass().await;
    let seen = world.control.operation_get(&world.cx, operation.id).await.unwrap();
    assert_eq!(seen.state, OperationState::Running);
    assert!(
        world
            .control
            .node_get(&world.cx, "n1")
            .await
            .unwrap()
            .cordon
            .is_some_and(|c| c.is_draining)
    );
    // The server dies with the drain half done; another one takes it up when the lease is over.
    drop(first);
    world.restart_server().await;
    let mut second = world.operations();
    second.pass().await;
    assert_eq!(
        world.control.operation_get(&world.cx, operation.id).await.unwrap().owner,
        seen.owner
    );
    world.advance(Duration::from_secs(60));
    let mut calm = Calm::new();
    for _ in 0..30 {
        second.pass().await;
        calm.settle(&world, &mut agent, 2).await;
        world.advance(Duration::from_secs(1));
    }
    let done = world.control.operation_get(&world.cx, operation.id).await.unwrap();
    assert_eq!(done.state, OperationState::Succeeded, "{done:?}");
    assert!(
        world
            .control
            .task_get(&world.cx, &world.project, &id)
            .await
            .unwrap()
            .workload
            .state
            .is_settled()
    );
    let node = world.control.node_get(&world.cx, "n1").await.unwrap();
    assert!(node.cordon.is_some_and(|c| !c.is_draining), "the node stays cordoned");
}

#[tokio::test]
async fn a_removed_node_cannot_come_back_with_its_old_certificate() {
    let world = World::new(13).await;
    let mut agent = world.join("n1").await;
    agent.connect(&world.control).await;
    let node = world.control.node_get(&world.cx, "n1").await.unwrap();
    let operation = world.control.node_remove(&world.cx, "n1", node.generation).await.unwrap();
    let mut operations = world.operations();
    for _ in 0..5 {
        operations.pass().await;
    }
    let done = world.control.operation_get(&world.cx, operation.id).await.unwrap();
    assert_eq!(done.state, OperationState::Succeeded, "{done:?}");
    let hello = HelloFacts {
        agent_version: "t".into(),
        session_epoch: Generation::from_u64(99),
        applied_generation: Generation::ZERO,
        facts: Some(Facts::default()),
        heartbeat_wish: None,
        can_tell_holdings: true,
    };
    let back = world.control.node_attach(agent.node_id, agent.serial(), &hello).await.unwrap();
    assert!(matches!(back, Attach::Refused { may_return: false, .. }));
    // The name is free again.
    world.join("n1").await;
}

#[tokio::test]
async fn a_cancelled_drain_stops_between_steps() {
    let world = World::new(14).await;
    let mut agent = world.join("n1").await;
    agent.connect(&world.control).await;
    submit(&world, 100).await;
    world.control.place_pending().await.unwrap();
    let operation = world.control.node_drain(&world.cx, "n1", "oops".into(), None).await.unwrap();
    let mut operations = world.operations();
    operations.pass().await;
    world.control.operation_cancel(&world.cx, operation.id).await.unwrap();
    operations.pass().await;
    let done = world.control.operation_get(&world.cx, operation.id).await.unwrap();
    assert_eq!(done.state, OperationState::Cancelled, "{done:?}");
    let again = world.control.operation_cancel(&world.cx, operation.id).await.unwrap_err();
    assert_eq!(again.code, Code::Conflict);
}

#[tokio::test]
async fn a_follower_sees_events_in_order_and_is_told_when_they_are_gone() {
    let world = World::new(15).await;
    let mut follower = world.control.event_follow(&world.cx, EventQuery::default(), 0);
    let ids = [submit(&world, 1).await, submit(&world, 1).await];
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let events = follower.next(Duration::from_secs(5)).await.unwrap();
        seen.extend(
            events
                .into_iter()
                .filter(|e| e.event.kind == EventKind::TaskCreated)
                .map(|e| e.event.object.id),
        );
    }
    assert_eq!(seen, ids);
    let until = world.now().plus(Duration::from_secs(10));
    let removed: Result<u64, hostler_store::Error> = world
        .store
        .tx("compact", |tx| Box::pin(async move { tx.event_compact(until, 0).await }))
        .await;
    assert!(removed.unwrap() > 0);
    let mut late = world.control.event_follow(&world.cx, EventQuery::default(), 0);
    assert_eq!(late.next(Duration::from_secs(1)).await.unwrap_err().code, Code::CursorGone);
}

#[tokio::test]
async fn what_cannot_be_placed_does_not_block_what_can() {
    let world = World::new(16).await;
    let mut agent = world.join("n1").await;
    agent.connect(&world.control).await;
    let mut hopeless = task(10);
    hopeless.spec.placement.node = Some("nowhere".parse().unwrap());
    let many = vec![hopeless; 900];
    world.control.task_submit(&world.cx, &world.project, many).await.unwrap();
    let id = submit(&world, 10).await;
    let (report, is_full) = world.control.place_pending().await.unwrap();
    assert_eq!((report.placed, report.looked_at, is_full), (1, 65, false));
    assert_eq!(state(&world, &id).await, TaskStateKind::Assigning);
}
