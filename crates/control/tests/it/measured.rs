//! What is counted and remembered for those who measure.

use std::time::Duration;

use hostler_base::reconcile::Reconciler as _;
use hostler_control::{Attach, Attached, FleetServices, HelloFacts, NewTask};
use hostler_model::{
    Bytes, Cores, Facts, Generation, Hindrance, Mode, NodeMetrics, NodeState, PlacementId,
    TaskStateKind, Timestamp, WorkloadSpec, WorkloadUsage,
};
use hostler_testkit::World;

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

/// A service that is placed on one node.
async fn service(world: &World, node: &Attached) -> PlacementId {
    let mut spec = WorkloadSpec::command(["serve"]);
    spec.mode = Mode::Forever;
    spec.placement.node = Some(node.node_name.clone());
    let (control, name) = (&world.control, "web".parse().unwrap());
    control.workload_apply(&world.cx, &world.project, &name, &spec, None).await.unwrap();
    control.place_services(Timestamp::EPOCH).await.unwrap();
    let batch = control.node_desired(node.node_id, Generation::ZERO).await.unwrap().unwrap();
    batch.assignments[0].placement_id
}

async fn tells(world: &World, node: &Attached, usage: Vec<WorkloadUsage>) -> FleetServices {
    let metrics = NodeMetrics { cpu_ratio: 0.5, ..NodeMetrics::default() };
    world.control.node_heartbeat(node, Generation::ZERO, Some(metrics), Some(usage));
    world.control.flush_leases().await.unwrap();
    world.control.fleet_services().await.unwrap()
}

#[tokio::test]
async fn a_node_speaks_for_what_is_placed_on_it_and_for_a_while() {
    let world = World::new(91).await;
    let (first, second) = (attach(&world, "n1").await, attach(&world, "n2").await);
    let placement = service(&world, &first).await;
    let usage = |cpu| WorkloadUsage { placement, cpu, memory: Bytes::mib(7) };
    let fleet = tells(&world, &second, vec![usage(9.0)]).await;
    assert_eq!(fleet.placements[0].node.as_str(), "n1");
    assert_eq!(fleet.placements[0].usage, None, "another node cannot say");
    let fleet = tells(&world, &first, vec![usage(0.25), usage(f64::NAN)]).await;
    assert_eq!(fleet.placements[0].usage, Some((0.25, Bytes::mib(7))));
    assert_eq!(fleet.services[0].workload.as_str(), "web");
    world.advance(Duration::from_secs(600));
    let later = world.control.fleet_services().await.unwrap();
    assert_eq!(later.placements[0].usage, None, "that was long ago");

    let nodes = world.control.fleet_nodes().await.unwrap();
    assert_eq!(nodes.len(), 2);
    assert!(nodes.iter().all(|known| known.certificate_ends > Some(world.now())));
}

#[tokio::test]
async fn waits_reasons_and_ends_are_counted() {
    let world = World::new(92).await;
    attach(&world, "n1").await;
    let control = &world.control;
    let submit = async |spec: WorkloadSpec| {
        let tasks = vec![NewTask { name: None, spec }];
        let made = control.task_submit(&world.cx, &world.project, tasks).await.unwrap();
        made[0].workload.id
    };
    submit(WorkloadSpec::command(["true"])).await;
    let mut large = WorkloadSpec::command(["true"]);
    large.resources.memory = Bytes::mib(1 << 20);
    let large = submit(large).await;
    world.advance(Duration::from_secs(3));
    control.place_pending().await.unwrap();
    control.place_pending().await.unwrap();
    let counts = control.queue_counts();
    assert_eq!((counts.placed(), counts.wait_seconds), (1, 3.0));
    let failures: Vec<_> = counts.failures().filter(|(_, count)| *count > 0).collect();
    assert_eq!(failures, [(Hindrance::Memory, 1)], "asked once within five seconds");
    world.advance(Duration::from_secs(6));
    control.place_pending().await.unwrap();
    let again: u64 = control.queue_counts().failures().map(|(_, count)| count).sum();
    assert_eq!(again, 2);

    let before = world.now();
    control.task_kill(&world.cx, &world.project, &large.to_string(), None).await.unwrap();
    let ended = control.queue_counts().ended;
    assert_eq!(ended.values().sum::<u64>(), 1, "{ended:?}");
    let standing = control.fleet_standing(before).await.unwrap();
    assert_eq!(standing.ended, 1);
    assert_eq!(
        (standing.wait_most, control.fleet_standing(before).await.unwrap().wait_most),
        (3.0, 0.0)
    );
    assert_eq!(standing.fleet.nodes.get(&NodeState::Online), Some(&1));
    assert_eq!(standing.fleet.cpu_total, 4.0);
    assert!(standing.tasks.contains(&(TaskStateKind::Assigning, 1)), "{:?}", standing.tasks);
}

#[tokio::test]
async fn the_audit_chain_is_watched() {
    let world = World::new(93).await;
    let control = &world.control;
    assert_eq!(control.is_audit_chain_ok(), None, "nobody has looked");
    let mut watch = control.audit_watch_reconciler();
    watch.reconcile().await;
    assert_eq!(control.is_audit_chain_ok(), Some(true));
    world.join("n1").await;
    world.advance(Duration::from_hours(25));
    let pass = watch.reconcile().await;
    assert!(pass.report.followed > 0 && pass.report.problem.is_none(), "{:?}", pass.report);
    assert_eq!(control.is_audit_chain_ok(), Some(true));
}
