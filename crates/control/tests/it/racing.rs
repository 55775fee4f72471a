//! Two servers on one PostgreSQL that do the same things at the same time.

use futures::future::join_all;
use hostler_model::{
    Code, Desired, Generation, Limit, Mode, Name, Phase, PlacementStatus, Report, ReportState,
    RunCause, StatusReport, Timestamp, WorkloadSpec,
};
use hostler_testkit::World;

use crate::postgres::Schema;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn servers_that_race_come_to_the_same() {
    let Some(schema) = Schema::create("racing") else { return };
    let world = World::on(schema.open().await, 1).await;
    let mut agents = Vec::new();
    for n in 1..=4 {
        let mut agent = world.join(&format!("n{n}")).await;
        agent.connect(&world.control).await;
        agents.push(agent);
    }
    let servers = [world.control.clone(), world.another_server().await];
    let (cx, project) = (&world.cx, &world.project);
    let spec = |count: u32| {
        let mut spec = WorkloadSpec::command(["serve"]);
        spec.mode = Mode::Forever;
        spec.placement.count = Some(count);
        spec
    };
    let names: Vec<Name> = (0..6).map(|n| format!("s{n}").parse().unwrap()).collect();

    // The same name applied through both: one makes it, the other finds it.
    let three = spec(3);
    let applied = join_all(names.iter().flat_map(|name| {
        servers.iter().map(|server| server.workload_apply(cx, project, name, &three, None))
    }))
    .await;
    for outcome in &applied {
        let is_taken = |e: &hostler_model::Error| e.code == Code::AlreadyExists;
        assert!(outcome.is_ok() || outcome.as_ref().is_err_and(is_taken));
    }
    let place = async || {
        for outcome in join_all(servers.iter().map(|s| s.place_services(Timestamp::EPOCH))).await {
            outcome.unwrap();
        }
    };
    place().await;
    let list = async || {
        let query = hostler_control::WorkloadQuery::default();
        servers[0].workload_list(cx, project, &query, None, Limit::DEFAULT).await.unwrap().items
    };
    let placed = list().await;
    assert_eq!(placed.len(), names.len());
    for detail in &placed {
        assert_eq!(detail.placements.len(), 3, "{}", detail.service.name);
    }
    let again = servers[1].place_services(Timestamp::EPOCH).await.unwrap();
    assert_eq!((again.added, again.told, again.leaving), (0, 0, 0));

    // The same reports through both: one row each, and one event.
    let node = agents[0].node_id;
    let here: Vec<_> = placed
        .iter()
        .flat_map(|detail| &detail.placements)
        .filter(|p| p.placement.node_id == node)
        .map(|p| p.placement.clone())
        .collect();
    let reports: Vec<Report> = here
        .iter()
        .map(|placement| Report {
            run_id: hostler_base::ids::Ids::system().fresh(),
            placement_id: placement.id,
            generation: Generation::FIRST,
            state: ReportState::Running { pid: 7, since: world.now() },
            origin: Some(hostler_model::Origin {
                number: 1,
                cause: RunCause::Start,
                fire: None,
                revision: placement.revision,
            }),
        })
        .collect();
    let status = |phase, number| -> Vec<StatusReport> {
        here.iter()
            .map(|placement| StatusReport {
                placement_id: placement.id,
                generation: Generation::from_u64(number),
                status: PlacementStatus::new(phase, placement.revision),
            })
            .collect()
    };
    for acks in join_all(servers.iter().map(|s| s.node_report(node, &reports))).await {
        assert!(acks.unwrap().iter().all(|ack| !ack.is_unknown));
    }
    let running = status(Phase::Running, 1);
    for acks in join_all(servers.iter().map(|s| s.node_status(node, &running))).await {
        assert!(acks.unwrap().iter().all(|ack| !ack.is_unknown));
    }
    let query = hostler_control::EventQuery {
        kind: Some(hostler_model::EventKind::WorkloadStarted.into()),
        ..Default::default()
    };
    let started = servers[0].event_list(cx, &query, None, Limit::DEFAULT).await.unwrap();
    assert_eq!(started.items.len(), here.len());

    // Removed through both while both place: everything leaves, and goes when it is let go of.
    join_all(names.iter().flat_map(|name| {
        servers.iter().map(|server| server.workload_remove(cx, project, name.as_str(), None))
    }))
    .await
    .into_iter()
    .for_each(|outcome| assert_eq!(outcome.unwrap().service.desired, Desired::Remove));
    place().await;
    for agent in &agents {
        let node = agent.node_id;
        let held = world.store.read().await.unwrap().service_placements_on(node).await.unwrap();
        let gone: Vec<StatusReport> = held
            .iter()
            .map(|placement| StatusReport {
                placement_id: placement.id,
                generation: Generation::from_u64(9),
                status: PlacementStatus::new(Phase::Removed, placement.revision),
            })
            .collect();
        assert!(held.iter().all(|placement| placement.desired == Desired::Remove));
        for acks in join_all(servers.iter().map(|s| s.node_status(node, &gone))).await {
            acks.unwrap();
        }
    }
    place().await;
    assert_eq!(list().await.len(), 0);
    world.store.close().await;
}
