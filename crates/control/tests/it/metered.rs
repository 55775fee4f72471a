//! Nodes that are heard of seldom, and that do not repeat what is known.

use std::time::Duration;

use hostler_control::{Attach, Attached, HelloFacts};
use hostler_model::{Bytes, Facts, Generation, NodeState};
use hostler_testkit::{SimAgent, World};

async fn attach(
    world: &World,
    agent: &SimAgent,
    epoch: u64,
    facts: Option<Facts>,
    wish: Option<Duration>,
) -> Attach {
    let hello = HelloFacts {
        agent_version: "t".into(),
        session_epoch: Generation::from_u64(epoch),
        applied_generation: Generation::ZERO,
        facts,
        heartbeat_wish: wish,
        can_tell_holdings: true,
    };
    world.control.node_attach(agent.node_id, agent.serial(), &hello).await.unwrap()
}

async fn attached(world: &World, agent: &SimAgent, epoch: u64, wish: Option<u64>) -> Attached {
    let wish = wish.map(Duration::from_secs);
    match attach(world, agent, epoch, Some(Facts::default()), wish).await {
        Attach::Attached(attached) => attached,
        Attach::Refused { detail, .. } => panic!("{detail}"),
    }
}

#[tokio::test]
async fn a_wish_to_be_heard_of_seldom_is_granted_within_reason() {
    let world = World::new(31).await;
    let agent = world.join("n1").await;
    for (epoch, (wish, granted)) in
        (1..).zip([(None, 5), (Some(1), 5), (Some(30), 30), (Some(60), 60), (Some(3600), 60)])
    {
        let attached = attached(&world, &agent, epoch, wish).await;
        assert_eq!(attached.heartbeat, Duration::from_secs(granted), "{wish:?}");
    }
}

#[tokio::test]
async fn a_node_that_keeps_to_what_it_was_allowed_stays_online_and_one_that_does_not_goes_away() {
    let world = World::new(32).await;
    let agent = world.join("n1").await;
    let since = world.now();
    let session = attached(&world, &agent, 1, Some(60)).await;
    let state = async || {
        world.control.flush_leases().await.unwrap();
        world.control.judge_nodes(since).await.unwrap();
        world.control.node_get(&world.cx, "n1").await.unwrap().state
    };
    let usual = world.control.heartbeat();
    let mut quiet = Duration::ZERO;
    for _ in 0..60 {
        world.advance(usual);
        quiet += usual;
        if quiet >= session.heartbeat {
            quiet = Duration::ZERO;
            world.control.node_heartbeat(&session, Generation::ZERO, None, None);
        }
        world.control.node_vouch(&session, Generation::ZERO, quiet);
        assert_eq!(state().await, NodeState::Online);
    }
    let mut seen = Vec::new();
    for _ in 0..60 {
        world.advance(usual);
        quiet += usual;
        world.control.node_vouch(&session, Generation::ZERO, quiet);
        let now = state().await;
        if seen.last().is_none_or(|(state, _)| *state != now) {
            seen.push((now, quiet.as_secs()));
        }
    }
    assert_eq!(seen, [(NodeState::Online, 5), (NodeState::Stale, 90), (NodeState::Offline, 160)]);
}

#[tokio::test]
async fn facts_that_are_not_repeated_are_kept_and_asked_for_where_there_are_none() {
    let world = World::new(33).await;
    let agent = world.join("n1").await;
    let refused = attach(&world, &agent, 1, None, None).await;
    assert!(matches!(refused, Attach::Refused { may_return: true, .. }));
    let facts = Facts { memory: Bytes::mib(512), is_metered: true, ..Facts::default() };
    assert!(matches!(
        attach(&world, &agent, 2, Some(facts.clone()), None).await,
        Attach::Attached(_)
    ));
    assert!(matches!(attach(&world, &agent, 3, None, None).await, Attach::Attached(_)));
    let node = world.control.node_get(&world.cx, "n1").await.unwrap();
    assert_eq!(node.facts, Some(facts));
}
