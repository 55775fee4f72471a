//! Services, where they are, and the runs their agents made.

use hostler_model::*;
use hostler_store::{ConflictReason, Error, RUNS_KEPT, ServiceFilter, Update, WorkloadFilter};

use crate::world::*;

crate::conformance!(
    a_service_is_what_was_written,
    a_name_belongs_to_a_task_or_a_service,
    tasks_and_services_do_not_see_each_other,
    services_are_listed_by_name_in_pages,
    service_updates_name_the_generation_they_saw,
    a_service_goes_when_nothing_of_it_is_left,
    the_feed_tells_of_services_with_the_revision_of_their_spec,
    what_a_node_is_told_only_goes_forward,
    a_status_is_taken_over_an_older_one_only,
    placements_of_services_are_found,
    a_reported_run_is_made_or_found,
    the_same_run_reported_at_the_same_time_is_one_row,
    runs_are_listed_newest_first_in_pages,
    old_runs_go_and_live_ones_stay,
    placements_that_were_left_go_with_their_runs,
);

async fn a_service_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let service = world.service(&project, "web").await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.service_get(service.id).await.unwrap(), Some(service.clone()));
    let found = read.service_by_name(project.id, &service.name).await.unwrap();
    assert_eq!(found, Some(service));
    assert_eq!(read.service_by_name(project.id, &name("other")).await.unwrap(), None);
}

async fn a_name_belongs_to_a_task_or_a_service(world: World) {
    let project = world.project("alpha").await;
    world.service(&project, "web").await;
    world.workload(&project, "job").await;
    let (task, twin, double) =
        (workload(project.id, "web"), service(project.id, "web"), service(project.id, "job"));
    let outcomes: [Result<()>; 3] = [
        world.tx("test", |tx| Box::pin(tx.workload_insert(&task))).await,
        world.tx("test", |tx| Box::pin(tx.service_insert(&twin))).await,
        world.tx("test", |tx| Box::pin(tx.service_insert(&double))).await,
    ];
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        let is_taken = matches!(error, Error::Conflict { reason: ConflictReason::NameTaken, .. });
        assert!(is_taken, "{error:?}");
    }
}

async fn tasks_and_services_do_not_see_each_other(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let service = world.service(&project, "web").await;
    let seat = world.seat(&service, &node, 1).await;
    let run = agent_run(&seat, 1);
    let put = [run.clone()];
    world.tx("test", |tx| Box::pin(tx.service_run_put_batch(&put))).await.unwrap();
    let task = world.workload(&project, "job").await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.workload_get(service.id).await.unwrap(), None);
    assert_eq!(read.workload_by_name(project.id, &service.name).await.unwrap(), None);
    let listed = read.workload_list(WorkloadFilter::default(), None, limit(9)).await.unwrap();
    assert_eq!(listed.items.iter().map(|w| w.id).collect::<Vec<_>>(), [task.id]);
    let pending = read.workload_queue(project.id, at(9), None, 9).await.unwrap();
    assert_eq!(pending.iter().map(|w| w.id).collect::<Vec<_>>(), [task.id]);
    assert_eq!(read.workload_count_by_state().await.unwrap(), [(TaskStateKind::Pending, 1)]);
    assert_eq!(read.workload_settled_before(at(9999), 9).await.unwrap(), vec![]);
    assert_eq!(read.run_context(&[run.id]).await.unwrap(), vec![]);
    assert_eq!(read.run_unsettled_on(node.id).await.unwrap(), vec![]);
    assert_eq!(read.service_get(task.id).await.unwrap(), None);
    assert_eq!(read.service_by_name(project.id, &task.name).await.unwrap(), None);
    assert_eq!(read.service_list_all().await.unwrap(), std::slice::from_ref(&service));
    let delete = world.tx("test", |tx| Box::pin(tx.workload_delete(service.id))).await;
    assert_eq!(delete.unwrap(), Update::Missing);
    let delete =
        world.tx("test", |tx| Box::pin(tx.service_delete(task.id, Generation::FIRST))).await;
    assert_eq!(delete.unwrap(), Update::Missing);
    let usage = read.placement_usage().await.unwrap();
    assert_eq!(usage[0].cores, service.spec.resources.cores);
}

async fn services_are_listed_by_name_in_pages(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let mut all = Vec::new();
    for i in 0..7 {
        let mut service = service(alpha.id, &format!("s{i}"));
        if i % 2 == 0 {
            service.spec.mode = Mode::Times(3);
            service.spec.tags = vec!["even".to_owned()];
        }
        if i == 3 {
            service.desired = Desired::Stop;
        }
        world.tx("test", |tx| Box::pin(tx.service_insert(&service))).await.unwrap();
        all.push(service);
    }
    let other = world.service(&beta, "s0").await;
    let mut read = world.read().await.unwrap();
    type Keep = fn(&Service) -> bool;
    let cases: [(ServiceFilter<'_>, Keep); 5] = [
        (ServiceFilter::default(), |_| true),
        (ServiceFilter { mode: Some(ModeKind::Times), ..ServiceFilter::default() }, |s| {
            s.spec.mode.kind() == ModeKind::Times
        }),
        (ServiceFilter { tag: Some("even"), ..ServiceFilter::default() }, |s| {
            !s.spec.tags.is_empty()
        }),
        (ServiceFilter { tag: Some("odd"), ..ServiceFilter::default() }, |_| false),
        (ServiceFilter { desired: Some(Desired::Stop), ..ServiceFilter::default() }, |s| {
            s.desired == Desired::Stop
        }),
    ];
    for (filter, keep) in cases {
        let expected: Vec<_> = all.iter().filter(|s| keep(s)).map(|s| s.id).collect();
        for size in [1, 2, 100] {
            let mut seen = Vec::new();
            let mut after: Option<String> = None;
            loop {
                let page = read
                    .service_list(alpha.id, filter, after.as_deref(), limit(size))
                    .await
                    .unwrap();
                seen.extend(page.items.iter().map(|s| s.id));
                match page.next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
            assert_eq!(seen, expected, "{filter:?} by {size}");
        }
    }
    let counts = read.service_count_by_desired().await.unwrap();
    assert_eq!(counts, [(Desired::Run, 7), (Desired::Stop, 1)]);
    let everything = read.service_list_all().await.unwrap();
    assert_eq!(everything.len(), 8);
    assert_eq!(everything.last().map(|s| s.id), Some(other.id));
}

async fn service_updates_name_the_generation_they_saw(world: World) {
    let project = world.project("alpha").await;
    let mut service = world.service(&project, "web").await;
    service.spec.command.push("--more".to_owned());
    service.desired = Desired::Stop;
    service.revision = Generation::from_u64(2);
    let update = async |service: &Service, expected| {
        world.tx("test", |tx| Box::pin(tx.service_update(service, expected))).await.unwrap()
    };
    assert_eq!(update(&service, Generation::FIRST).await, Update::Updated);
    service.generation = Generation::from_u64(2);
    let stored = world.read().await.unwrap().service_get(service.id).await.unwrap();
    assert_eq!(stored.as_ref(), Some(&service));
    let stale = update(&service, Generation::FIRST).await;
    assert_eq!(stale, Update::Stale { current: Generation::from_u64(2) });
    let ghost = self::service(project.id, "ghost");
    assert_eq!(update(&ghost, Generation::FIRST).await, Update::Missing);
}

async fn a_service_goes_when_nothing_of_it_is_left(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let service = world.service(&project, "web").await;
    let seat = world.seat(&service, &node, 1).await;
    let runs = [agent_run(&seat, 1), agent_run(&seat, 2)];
    world.tx("test", |tx| Box::pin(tx.service_run_put_batch(&runs))).await.unwrap();
    let delete = async |expected| {
        world.tx("test", |tx| Box::pin(tx.service_delete(service.id, expected))).await.unwrap()
    };
    assert_eq!(delete(Generation::FIRST).await, Update::Stale { current: Generation::FIRST });
    world.release(seat.id, 5).await;
    assert_eq!(delete(Generation::ZERO).await, Update::Stale { current: Generation::FIRST });
    assert_eq!(delete(Generation::FIRST).await, Update::Updated);
    assert_eq!(delete(Generation::FIRST).await, Update::Missing);
    let mut read = world.read().await.unwrap();
    assert_eq!(read.placement_get(seat.id).await.unwrap(), None);
    assert_eq!(read.run_get(runs[0].id).await.unwrap(), None);
}

async fn the_feed_tells_of_services_with_the_revision_of_their_spec(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let mut service = world.service(&project, "web").await;
    let seat = world.seat(&service, &node, 1).await;
    service.revision = Generation::from_u64(7);
    service.spec.command = vec!["other".to_owned()];
    let update =
        world.tx("test", |tx| Box::pin(tx.service_update(&service, Generation::FIRST))).await;
    assert!(update.unwrap().is_updated());
    let mut read = world.read().await.unwrap();
    let feed = read.placement_feed(node.id, Generation::ZERO, 10).await.unwrap();
    assert_eq!(feed.len(), 1);
    assert_eq!(feed[0].placement, seat);
    assert_eq!((feed[0].revision, &feed[0].spec), (Generation::from_u64(7), &service.spec.into()));
}

async fn what_a_node_is_told_only_goes_forward(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let service = world.service(&project, "web").await;
    let mut seat = world.seat(&service, &node, 4).await;
    seat.desired = Desired::Stop;
    seat.revision = Generation::from_u64(3);
    seat.reservation = Reservation { disk: Bytes::mib(7), ..reservation(700, 5) };
    let save = async |seat: &Placement| {
        let batch = std::slice::from_ref(seat);
        world.tx("test", |tx| Box::pin(tx.service_placement_save_batch(batch))).await
    };
    let same: Result<()> = save(&seat).await;
    assert!(matches!(same.unwrap_err(), Error::Missing { .. }));
    seat.desired_generation = Generation::from_u64(5);
    save(&seat).await.unwrap();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.placement_get(seat.id).await.unwrap(), Some(seat.clone()));
    let usage = read.placement_usage().await.unwrap();
    let used = (usage[0].cores, usage[0].memory, usage[0].disk);
    let Reservation { cores, memory, disk, .. } = seat.reservation;
    assert_eq!(used, (cores, memory, disk));
}

async fn a_status_is_taken_over_an_older_one_only(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let service = world.service(&project, "web").await;
    let seat = world.seat(&service, &node, 1).await;
    let status = |phase| PlacementStatus::new(phase, Generation::FIRST);
    let save = async |generation, phase| {
        let batch = [(seat.id, Generation::from_u64(generation), status(phase))];
        world.tx("test", |tx| Box::pin(tx.service_status_save_batch(&batch))).await.unwrap()
    };
    assert_eq!(save(3, Phase::Running).await, 1);
    assert_eq!(save(3, Phase::Failed).await, 0);
    assert_eq!(save(2, Phase::Failed).await, 0);
    let read = async || {
        let context = world
            .read()
            .await
            .unwrap()
            .service_placement_context(&[seat.id])
            .await
            .unwrap()
            .remove(0);
        assert_eq!(context.workload_name, service.name);
        (context.placement.status.unwrap(), context.placement.status_generation.get())
    };
    assert_eq!(read().await, (status(Phase::Running), 3));
    assert_eq!(save(9, Phase::Backoff).await, 1);
    assert_eq!(read().await, (status(Phase::Backoff), 9));
}

async fn placements_of_services_are_found(world: World) {
    let project = world.project("alpha").await;
    let (n1, n2) = (world.node("n1").await, world.node("n2").await);
    let (web, db) = (world.service(&project, "web").await, world.service(&project, "db").await);
    let seats = [
        world.seat(&web, &n1, 1).await,
        world.seat(&web, &n2, 1).await,
        world.seat(&db, &n1, 2).await,
    ];
    let task = world.workload(&project, "job").await;
    let (placement, _) = placement(&task, n1.id, 3);
    let batch = [placement.clone()];
    world.tx("test", |tx| Box::pin(tx.placement_insert_batch(&batch))).await.unwrap();
    world.release(seats[1].id, 5).await;
    let mut read = world.read().await.unwrap();
    let ids = |found: Vec<Placement>| found.iter().map(|p| p.id).collect::<Vec<_>>();
    assert_eq!(ids(read.service_placements(&[web.id]).await.unwrap()), [seats[0].id]);
    let both = [seats[0].id, seats[2].id];
    assert_eq!(ids(read.service_placements(&[db.id, web.id]).await.unwrap()), both);
    assert_eq!(ids(read.service_placements_all().await.unwrap()), both);
    assert_eq!(ids(read.service_placements_on(n1.id).await.unwrap()), both);
    assert_eq!(ids(read.service_placements_on(n2.id).await.unwrap()), []);
    let mut nodes =
        read.node_get_many(&[n2.id, n1.id, NodeId::from_uuid(next_uuid())]).await.unwrap();
    nodes.sort_by_key(|node| node.id);
    assert_eq!(nodes, [n1.clone(), n2.clone()]);
    let counts = read.service_counts_by_node().await.unwrap();
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [(n1.id, 2)]);
    let asked = [seats[1].id, placement.id];
    let context = read.service_placement_context(&asked).await.unwrap();
    assert_eq!(context.len(), 1);
    assert!(context[0].placement.is_released);
}

async fn a_reported_run_is_made_or_found(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let service = world.service(&project, "web").await;
    let seat = world.seat(&service, &node, 1).await;
    let put = async |runs: &[Run]| {
        let runs = runs.to_vec();
        let runs = &runs;
        let done: Result<()> =
            world.tx("test", |tx| Box::pin(tx.service_run_put_batch(runs))).await;
        done.unwrap();
    };
    let get = async |id| world.read().await.unwrap().run_get(id).await.unwrap().unwrap();
    let mut runs: Vec<Run> = (1..=130).map(|n| agent_run(&seat, n)).collect();
    put(&runs).await;
    assert_eq!(get(runs[7].id).await, runs[7]);
    let older = Run { state: RunState::Assigned, ..runs[7].clone() };
    put(&[older]).await;
    assert_eq!(get(runs[7].id).await, runs[7]);
    runs[7].report_generation = Generation::from_u64(2);
    runs[7].state = RunState::Lost { why: "gone".to_owned(), time: at(8) };
    runs[7].time_ended = Some(at(8));
    let fresh = agent_run(&seat, 131);
    put(&[runs[7].clone(), fresh.clone()]).await;
    assert_eq!(get(runs[7].id).await, runs[7]);
    let mut read = world.read().await.unwrap();
    let ids = [runs[0].id, fresh.id, RunId::from_uuid(next_uuid())];
    assert_eq!(read.service_runs_get(&ids).await.unwrap(), [runs[0].clone(), fresh]);
    let newest = read.service_runs_newest(&[seat.id]).await.unwrap();
    assert_eq!(newest.into_iter().collect::<Vec<_>>(), [(seat.id, 131)]);
    assert_eq!(read.service_runs_live(seat.id).await.unwrap().len(), 130);
}

async fn the_same_run_reported_at_the_same_time_is_one_row(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let service = world.service(&project, "web").await;
    let seat = world.seat(&service, &node, 1).await;
    let run = agent_run(&seat, 1);
    let (again, id) = (world.clone(), run.id);
    let outcomes: Vec<Result<()>> = together(8, move |i| {
        let (world, mut run) = (again.clone(), run.clone());
        run.report_generation = Generation::from_u64(1 + i as u64);
        async move {
            let runs = [run];
            world
                .tx("put", |tx| {
                    let runs = &runs;
                    Box::pin(async move {
                        tx.service_runs_get(&[runs[0].id]).await?;
                        tx.service_run_put_batch(runs).await
                    })
                })
                .await
        }
    })
    .await;
    for outcome in outcomes {
        outcome.unwrap();
    }
    let stored = world.read().await.unwrap().run_get(id).await.unwrap().unwrap();
    assert_eq!(stored.report_generation, Generation::from_u64(8));
}

async fn runs_are_listed_newest_first_in_pages(world: World) {
    let project = world.project("alpha").await;
    let (n1, n2) = (world.node("n1").await, world.node("n2").await);
    let service = world.service(&project, "web").await;
    let seats = [world.seat(&service, &n1, 1).await, world.seat(&service, &n2, 1).await];
    let mut runs: Vec<Run> = (0..9).map(|n| agent_run(&seats[n as usize % 2], n)).collect();
    world.tx("test", |tx| Box::pin(tx.service_run_put_batch(&runs))).await.unwrap();
    runs.reverse();
    let mut read = world.read().await.unwrap();
    for (node, size) in [(None, 2), (None, 50), (Some(n2.id), 2)] {
        let mut seen = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = read
                .service_run_list(service.id, node, after.as_deref(), limit(size))
                .await
                .unwrap();
            seen.extend(page.items);
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let expected: Vec<Run> =
            runs.iter().filter(|r| node.is_none_or(|n| r.node_id == n)).cloned().collect();
        assert_eq!(seen, expected);
    }
}

async fn old_runs_go_and_live_ones_stay(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let service = world.service(&project, "web").await;
    let (busy, quiet) =
        (world.seat(&service, &node, 1).await, world.seat(&service, &node, 2).await);
    let ended =
        |run: Run| Run { state: RunState::Lost { why: "gone".to_owned(), time: at(3) }, ..run };
    let mut runs: Vec<Run> = (1..=130).map(|n| ended(agent_run(&busy, n))).collect();
    runs[2].state = RunState::Running { pid: 3, since: at(2) };
    runs.extend((1..=RUNS_KEPT).map(|n| ended(agent_run(&quiet, n))));
    world.tx("test", |tx| Box::pin(tx.service_run_put_batch(&runs))).await.unwrap();
    let prune = async || world.tx("test", |tx| Box::pin(tx.service_run_prune(10))).await.unwrap();
    assert_eq!(prune().await, (1, 79));
    assert_eq!(prune().await, (0, 0));
    let mut read = world.read().await.unwrap();
    let left = read.service_run_list(service.id, None, None, limit(1000)).await.unwrap().items;
    let of_busy: Vec<u32> =
        left.iter().rev().filter(|r| r.placement_id == busy.id).map(|r| r.attempt).collect();
    let expected: Vec<u32> = std::iter::once(3).chain(81..=130).collect();
    assert_eq!(of_busy, expected);
    assert_eq!(left.len() - of_busy.len(), RUNS_KEPT as usize);
}

async fn placements_that_were_left_go_with_their_runs(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let service = world.service(&project, "web").await;
    let seats = [world.seat(&service, &node, 1).await, world.seat(&service, &node, 2).await];
    let runs: Vec<Run> = seats.iter().map(|seat| agent_run(seat, 1)).collect();
    world.tx("test", |tx| Box::pin(tx.service_run_put_batch(&runs))).await.unwrap();
    world.release(seats[0].id, 50).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.service_placements_left_before(at(50), 9).await.unwrap(), vec![]);
    let left = read.service_placements_left_before(at(51), 9).await.unwrap();
    assert_eq!(left, [seats[0].id]);
    let both = [seats[0].id, seats[1].id];
    let gone =
        world.tx("test", |tx| Box::pin(tx.service_placement_delete_batch(&both))).await.unwrap();
    assert_eq!(gone, 1);
    assert_eq!(read.run_get(runs[0].id).await.unwrap(), None);
    assert!(read.run_get(runs[1].id).await.unwrap().is_some());
    assert!(read.placement_get(seats[1].id).await.unwrap().is_some());
}
