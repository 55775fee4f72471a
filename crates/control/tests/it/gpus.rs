//! GPUs that fail and work again: told once, and given to nobody meanwhile.

use hostler_control::{Attach, Attached, EventQuery, HelloFacts, NewTask};
use hostler_model::{
    Cores, Facts, Generation, GpuFact, GpuRequest, Limit, TaskStateKind, WorkloadSpec,
};
use hostler_testkit::{SimAgent, World};

const LOST: &str = "Xid 79: GPU has fallen off the bus";

fn machine(trouble: Option<&str>) -> Facts {
    let trouble = trouble.map(str::to_owned);
    let gpu = GpuFact { model: "A100".to_owned(), trouble, ..GpuFact::default() };
    Facts { cores: Cores::from_millis(4000), gpus: vec![gpu], ..Facts::default() }
}

async fn attach(world: &World, agent: &SimAgent, epoch: u64, facts: Facts) -> Attached {
    let hello = HelloFacts {
        agent_version: "t".into(),
        session_epoch: Generation::from_u64(epoch),
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

async fn told(world: &World) -> Vec<String> {
    let query = EventQuery::default();
    let page = world.control.event_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap();
    let mut events: Vec<_> = page.items.into_iter().collect();
    events.sort_by_key(|event| event.sequence);
    let about = events.into_iter().filter(|event| event.event.kind.label().contains("gpu"));
    about.map(|event| format!("{}: {}", event.event.kind, event.event.message)).collect()
}

#[tokio::test]
async fn a_gpu_that_fails_is_given_to_nobody_until_it_works_again() {
    let world = World::new(51).await;
    let agent = world.join("n1").await;
    let session = attach(&world, &agent, 1, machine(None)).await;
    world.control.node_facts(&session, &machine(Some(LOST))).await.unwrap();
    world.control.node_facts(&session, &machine(Some(LOST))).await.unwrap();
    let trouble = format!("node.gpu-trouble: GPU 0 (A100) is out of service: {LOST}");
    assert_eq!(told(&world).await, [trouble.as_str()]);

    let mut spec = WorkloadSpec::command(["true"]);
    spec.resources.gpus = GpuRequest::count(1);
    let new = vec![NewTask { name: Some("train".parse().unwrap()), spec }];
    world.control.task_submit(&world.cx, &world.project, new).await.unwrap();
    world.control.place_pending().await.unwrap();
    let explained = world.control.task_explain(&world.cx, &world.project, "train").await.unwrap();
    assert_eq!(explained.state, TaskStateKind::Pending);
    let reason = format!("0 of 1 GPUs are free, asks for 1; GPU 0 is out of service: {LOST}");
    assert_eq!(explained.nodes[0].reasons, [reason]);

    let newer = attach(&world, &agent, 2, machine(Some(LOST))).await;
    world.control.node_facts(&session, &machine(None)).await.unwrap();
    assert_eq!(told(&world).await.len(), 1, "what an older session says is not heard");
    world.control.node_facts(&newer, &machine(None)).await.unwrap();
    let well = "node.gpu-well: GPU 0 (A100) is in service again";
    assert_eq!(told(&world).await, [trouble.as_str(), well]);
    world.control.place_pending().await.unwrap();
    let task = world.control.task_get(&world.cx, &world.project, "train").await.unwrap();
    assert_eq!(task.workload.state.kind(), TaskStateKind::Assigning);
}

#[tokio::test]
async fn trouble_that_came_while_nobody_listened_is_told_with_the_hello() {
    let world = World::new(52).await;
    let agent = world.join("n1").await;
    attach(&world, &agent, 1, machine(None)).await;
    attach(&world, &agent, 2, machine(Some(LOST))).await;
    attach(&world, &agent, 3, machine(Some(LOST))).await;
    attach(&world, &agent, 4, machine(None)).await;
    let said = told(&world).await;
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("node.gpu-trouble") && said[1].starts_with("node.gpu-well"));
}
