//! Workloads, placements, runs.

use hostler_model::*;
use hostler_store::{ConflictReason, Error, NodeUsage, QueueCursor, Update, WorkloadFilter};

use crate::world::*;

crate::conformance!(
    a_workload_is_what_was_written,
    workload_names_are_unique_in_a_project,
    a_failed_batch_leaves_nothing,
    large_batches_are_written_whole,
    workloads_are_listed_newest_first_in_pages,
    pending_workloads_come_oldest_first,
    workload_updates_name_the_generation_they_saw,
    updates_at_the_same_time_leave_one_winner,
    settled_workloads_are_counted_found_and_deleted,
    the_feed_gives_what_an_agent_needs,
    the_feed_goes_on_where_it_stopped,
    usage_counts_what_is_not_released,
    placements_only_go_forward,
    runs_take_only_the_report_they_were_compared_with,
    runs_of_a_node_are_found_by_state,
    a_batch_of_reports_is_written_whole_or_not_at_all,
    runs_that_were_never_begun_are_found_by_age,
);

async fn a_workload_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let workload = world.workload(&project, "job").await;
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.workload_get(workload.id).await.unwrap(), Some(workload.clone()));
    let found = reader.workload_by_name(project.id, &workload.name).await.unwrap();
    assert_eq!(found, Some(workload));
    let none = reader.workload_by_name(project.id, &name("other")).await.unwrap();
    assert_eq!(none, None);
}

async fn workload_names_are_unique_in_a_project(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    world.workload(&alpha, "job").await;
    world.workload(&beta, "job").await;
    let twin = workload(alpha.id, "job");
    let error: Error =
        world.tx("test", |tx| Box::pin(tx.workload_insert(&twin))).await.unwrap_err();
    assert!(
        matches!(&error, Error::Conflict { reason: ConflictReason::NameTaken, object, .. } if object == "workload"),
        "{error:?}"
    );
    let orphan = workload(ProjectId::from_uuid(next_uuid()), "job");
    let error: Error =
        world.tx("test", |tx| Box::pin(tx.workload_insert(&orphan))).await.unwrap_err();
    assert!(
        matches!(error, Error::Conflict { reason: ConflictReason::Reference, .. }),
        "{error:?}"
    );
}

async fn a_failed_batch_leaves_nothing(world: World) {
    let project = world.project("alpha").await;
    let mut batch: Vec<Workload> =
        (0..250).map(|i| workload(project.id, &format!("job-{i}"))).collect();
    batch[240].name = name("job-1");
    let error: Error =
        world.tx("test", |tx| Box::pin(tx.workload_insert_batch(&batch))).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error:?}");
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.workload_count_by_state().await.unwrap(), vec![]);
}

async fn large_batches_are_written_whole(world: World) {
    let project = world.project("alpha").await;
    let batch: Vec<Workload> =
        (0..1234).map(|i| workload(project.id, &format!("job-{i}"))).collect();
    world.tx("test", |tx| Box::pin(tx.workload_insert_batch(&batch))).await.unwrap();
    world.tx("test", |tx| Box::pin(tx.workload_insert_batch(&[]))).await.unwrap();
    let mut reader = world.read().await.unwrap();
    let mut seen = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = reader
            .workload_list(WorkloadFilter::default(), after.as_deref(), limit(500))
            .await
            .unwrap();
        seen.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    seen.reverse();
    assert!(seen == batch);
}

async fn workloads_are_listed_newest_first_in_pages(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let mut all = Vec::new();
    for i in 0..12 {
        let project = if i % 3 == 0 { &beta } else { &alpha };
        let mut workload =
            workload(project.id, &format!("{}-{i}", if i < 6 { "web" } else { "webz" }));
        if i % 2 == 0 {
            workload.state = TaskState::Killed { run: None, exit: None };
        }
        world.tx("test", |tx| Box::pin(tx.workload_insert(&workload))).await.unwrap();
        all.push(workload);
    }
    all.reverse();
    let mut reader = world.read().await.unwrap();
    let (only_beta, both, none) = ([beta.id], [alpha.id, beta.id], []);
    let killed = [TaskStateKind::Killed, TaskStateKind::Failed, TaskStateKind::Lost];
    type Keep = fn(&Workload) -> bool;
    let cases: [(WorkloadFilter<'_>, Keep); 6] = [
        (WorkloadFilter::default(), |_| true),
        (WorkloadFilter { projects: Some(&both), ..WorkloadFilter::default() }, |_| true),
        (WorkloadFilter { projects: Some(&none), ..WorkloadFilter::default() }, |_| false),
        (WorkloadFilter { states: &killed, ..WorkloadFilter::default() }, |w| {
            w.state.kind() == TaskStateKind::Killed
        }),
        (WorkloadFilter { name_prefix: Some("web-"), ..WorkloadFilter::default() }, |w| {
            w.name.as_str().starts_with("web-")
        }),
        (WorkloadFilter { name_prefix: Some("webz"), ..WorkloadFilter::default() }, |w| {
            w.name.as_str().starts_with("webz")
        }),
    ];
    for (filter, keep) in cases {
        let expected: Vec<_> = all.iter().filter(|w| keep(w)).map(|w| w.id).collect();
        for size in [1, 4, 100] {
            let mut seen = Vec::new();
            let mut after: Option<String> = None;
            loop {
                let page =
                    reader.workload_list(filter, after.as_deref(), limit(size)).await.unwrap();
                seen.extend(page.items.iter().map(|w| w.id));
                match page.next {
                    Some(next) => after = Some(next),
                    None => break,
                }
            }
            assert_eq!(seen, expected, "{filter:?} by {size}");
        }
    }
    let filter = WorkloadFilter {
        projects: Some(&only_beta),
        states: &killed,
        name_prefix: Some("web-"),
        array: None,
    };
    let page = reader.workload_list(filter, None, limit(10)).await.unwrap();
    assert_eq!(page.items.len(), 1);
}

async fn pending_workloads_come_oldest_first(world: World) {
    let project = world.project("alpha").await;
    let mut ids = Vec::new();
    for i in 0..5 {
        let mut workload = workload(project.id, &format!("job-{i}"));
        if i == 2 {
            workload.state = TaskState::Killed { run: None, exit: None };
        } else {
            ids.push(workload.id);
        }
        world.tx("test", |tx| Box::pin(tx.workload_insert(&workload))).await.unwrap();
    }
    let mut reader = world.read().await.unwrap();
    let mut queue =
        async |after, limit| reader.workload_queue(project.id, at(0), after, limit).await.unwrap();
    let first = queue(None, 3).await;
    assert_eq!(first.iter().map(|w| w.id).collect::<Vec<_>>(), ids[..3]);
    assert_eq!(queue(None, 100).await.len(), 4);
    let rest = queue(Some(QueueCursor::of(&first[2])), 100).await;
    assert_eq!(rest.iter().map(|w| w.id).collect::<Vec<_>>(), ids[3..]);
}

fn exit(code: i32) -> Exit {
    Exit {
        reason: ExitReason::Exited,
        code: Some(code),
        signal: None,
        message: Some("said \u{0} something".to_owned()),
        time: at(9),
    }
}

async fn workload_updates_name_the_generation_they_saw(world: World) {
    let project = world.project("alpha").await;
    let mut workload = world.workload(&project, "job").await;
    workload.state = TaskState::Completed { run: RunId::from_uuid(next_uuid()), exit: exit(0) };
    workload.desired = Desired::Stop;
    workload.time_ended = Some(at(9));
    let update =
        world.tx("test", |tx| Box::pin(tx.workload_update(&workload, Generation::FIRST))).await;
    assert_eq!(update.unwrap(), Update::Updated);
    workload.generation = Generation::from_u64(2);
    let stored = world.read().await.unwrap().workload_get(workload.id).await.unwrap();
    assert_eq!(stored, Some(workload.clone()));
    let stale =
        world.tx("test", |tx| Box::pin(tx.workload_update(&workload, Generation::FIRST))).await;
    assert_eq!(stale.unwrap(), Update::Stale { current: Generation::from_u64(2) });
    let ghost = self::workload(project.id, "ghost");
    let missing =
        world.tx("test", |tx| Box::pin(tx.workload_update(&ghost, Generation::FIRST))).await;
    assert_eq!(missing.unwrap(), Update::Missing);
}

async fn updates_at_the_same_time_leave_one_winner(world: World) {
    let project = world.project("alpha").await;
    let workload = world.workload(&project, "job").await;
    let store = world.store.clone();
    let outcomes: Vec<Result<Update>> = together(12, move |_| {
        let (store, workload) = (store.clone(), workload.clone());
        async move {
            store
                .tx("update", |tx| Box::pin(tx.workload_update(&workload, Generation::FIRST)))
                .await
        }
    })
    .await;
    let won = outcomes.into_iter().filter(|u| u.as_ref().unwrap().is_updated()).count();
    assert_eq!(won, 1);
}

async fn settled_workloads_are_counted_found_and_deleted(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let mut settled = Vec::new();
    for i in 0..4 {
        let mut workload = workload(project.id, &format!("job-{i}"));
        if i > 0 {
            workload.state = TaskState::Killed { run: None, exit: None };
            workload.time_ended = Some(at(100 - i));
            settled.push(workload.id);
        }
        let (placement, run) = placement(&workload, node.id, 1);
        let batch = [placement];
        let (workload, batch, run) = (&workload, &batch, &[run]);
        world
            .tx("test", |tx| {
                Box::pin(async move {
                    tx.workload_insert(workload).await?;
                    tx.placement_insert_batch(batch).await?;
                    tx.run_insert_batch(run).await
                })
            })
            .await
            .unwrap();
    }
    settled.reverse();
    let mut reader = world.read().await.unwrap();
    assert_eq!(
        reader.workload_count_by_state().await.unwrap(),
        [(TaskStateKind::Killed, 3), (TaskStateKind::Pending, 1)]
    );
    assert_eq!(reader.workload_settled_before(at(98), 10).await.unwrap(), settled[..1]);
    assert_eq!(reader.workload_settled_before(at(1000), 2).await.unwrap(), settled[..2]);
    let delete = async |id| world.tx("test", |tx| Box::pin(tx.workload_delete(id))).await.unwrap();
    assert_eq!(delete(settled[0]).await, Update::Updated);
    assert_eq!(delete(settled[0]).await, Update::Missing);
    assert_eq!(reader.run_list(settled[0]).await.unwrap(), vec![]);
    assert_eq!(reader.placement_by_workload(settled[0]).await.unwrap(), vec![]);
    let pending = reader.workload_queue(project.id, at(0), None, 1).await.unwrap().remove(0);
    assert_eq!(delete(pending.id).await, Update::Stale { current: Generation::FIRST });
    assert_eq!(reader.run_list(pending.id).await.unwrap().len(), 1);
}

/// Places `count` workloads of a project on a node, at generations from 1 on.
async fn placed(
    world: &World,
    project: &Project,
    node: &Node,
    count: u64,
) -> Vec<(Workload, Placement, Run)> {
    let all: Vec<(Workload, Placement, Run)> = (1..=count)
        .map(|generation| {
            let workload = workload(project.id, &format!("{}-{generation}", node.name));
            let (mut placement, run) = placement(&workload, node.id, generation);
            placement.reservation = reservation(250, 64);
            (workload, placement, run)
        })
        .collect();
    let workloads: Vec<_> = all.iter().map(|(w, ..)| w.clone()).collect();
    let placements: Vec<_> = all.iter().map(|(_, p, _)| p.clone()).collect();
    let runs: Vec<_> = all.iter().map(|(.., r)| r.clone()).collect();
    let (workloads, placements, runs) = (&workloads, &placements, &runs);
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.workload_insert_batch(workloads).await?;
                tx.placement_insert_batch(placements).await?;
                tx.run_insert_batch(runs).await
            })
        })
        .await
        .unwrap();
    all
}

async fn the_feed_gives_what_an_agent_needs(world: World) {
    let project = world.project("alpha").await;
    let (n1, n2) = (world.node("n1").await, world.node("n2").await);
    let mine = placed(&world, &project, &n1, 3).await;
    placed(&world, &project, &n2, 2).await;
    let mut released = mine[1].1.clone();
    released.is_released = true;
    let mut stopping = mine[0].1.clone();
    stopping.desired = Desired::Stop;
    stopping.stop_grace = Some(Span::from_millis(1500));
    stopping.desired_generation = Generation::from_u64(4);
    for placement in [&released, &stopping] {
        let update = world.tx("test", |tx| Box::pin(tx.placement_update(placement))).await;
        assert_eq!(update.unwrap(), Update::Updated);
    }
    let mut reader = world.read().await.unwrap();
    let feed = reader.placement_feed(n1.id, Generation::ZERO, 100).await.unwrap();
    assert_eq!(feed.len(), 2);
    assert_eq!(feed[0].placement, mine[2].1);
    assert_eq!(feed[0].revision, Generation::ZERO);
    assert_eq!(feed[0].workload_name, mine[2].0.name);
    assert_eq!(feed[0].project_name, project.name);
    assert_eq!(feed[0].spec, mine[2].0.spec);
    assert_eq!(feed[1].placement, stopping);
    let newer = reader.placement_feed(n1.id, Generation::from_u64(3), 100).await.unwrap();
    assert_eq!(newer.len(), 1);
    let active = reader.placement_active_on(n1.id).await.unwrap();
    assert_eq!(active, [stopping.clone(), mine[2].1.clone()]);
    assert_eq!(reader.placement_get(released.id).await.unwrap(), Some(released));
    let of_workload = reader.placement_by_workload(mine[0].0.id).await.unwrap();
    assert_eq!(of_workload, [stopping]);
}

async fn the_feed_goes_on_where_it_stopped(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let all = placed(&world, &project, &node, 25).await;
    let mut reader = world.read().await.unwrap();
    let mut seen = Vec::new();
    let mut after = Generation::ZERO;
    loop {
        let part = reader.placement_feed(node.id, after, 10).await.unwrap();
        let Some(last) = part.last() else { break };
        after = last.placement.desired_generation;
        seen.extend(part.iter().map(|e| e.placement.id));
    }
    assert_eq!(seen, all.iter().map(|(_, p, _)| p.id).collect::<Vec<_>>());
}

async fn usage_counts_what_is_not_released(world: World) {
    let project = world.project("alpha").await;
    let (n1, n2) = (world.node("n1").await, world.node("n2").await);
    world.node("n3").await;
    let mine = placed(&world, &project, &n1, 4).await;
    placed(&world, &project, &n2, 1).await;
    let mut released = mine[0].1.clone();
    released.is_released = true;
    let update = world.tx("test", |tx| Box::pin(tx.placement_update(&released))).await;
    assert!(update.unwrap().is_updated());
    let usage = world.read().await.unwrap().placement_usage().await.unwrap();
    let of = |node: &Node, count: u32| NodeUsage {
        node_id: node.id,
        cores: Cores::from_millis(250 * count),
        memory: Bytes::mib(64 * u64::from(count)),
        disk: Bytes::ZERO,
        placements: u64::from(count),
        time_given: at(1),
    };
    assert_eq!(usage, [of(&n1, 3), of(&n2, 1)]);
}

async fn placements_only_go_forward(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let mut placement = placed(&world, &project, &node, 2).await.remove(1).1;
    placement.desired_generation = Generation::FIRST;
    let stale = world.tx("test", |tx| Box::pin(tx.placement_update(&placement))).await;
    assert_eq!(stale.unwrap(), Update::Stale { current: Generation::from_u64(2) });
    placement.id = PlacementId::from_uuid(next_uuid());
    let missing = world.tx("test", |tx| Box::pin(tx.placement_update(&placement))).await;
    assert_eq!(missing.unwrap(), Update::Missing);
}

async fn runs_take_only_the_report_they_were_compared_with(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let (workload, _, mut run) = placed(&world, &project, &node, 1).await.remove(0);
    run.state = RunState::Running { pid: 42, since: at(5) };
    run.report_generation = Generation::from_u64(3);
    run.time_started = Some(at(5));
    let update = world.tx("test", |tx| Box::pin(tx.run_update(&run, Generation::ZERO))).await;
    assert_eq!(update.unwrap(), Update::Updated);
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.run_get(run.id).await.unwrap(), Some(run.clone()));
    assert_eq!(reader.run_list(workload.id).await.unwrap(), [run.clone()]);
    let stale = world.tx("test", |tx| Box::pin(tx.run_update(&run, Generation::ZERO))).await;
    assert_eq!(stale.unwrap(), Update::Stale { current: Generation::from_u64(3) });
    run.id = RunId::from_uuid(next_uuid());
    let missing = world.tx("test", |tx| Box::pin(tx.run_update(&run, Generation::ZERO))).await;
    assert_eq!(missing.unwrap(), Update::Missing);
}

async fn runs_of_a_node_are_found_by_state(world: World) {
    let project = world.project("alpha").await;
    let (n1, n2) = (world.node("n1").await, world.node("n2").await);
    let all = placed(&world, &project, &n1, 4).await;
    placed(&world, &project, &n2, 1).await;
    let states = [
        RunState::Running { pid: 1, since: at(1) },
        RunState::Exited { exit: exit(1) },
        RunState::Lost { why: "gone".to_owned(), time: at(2) },
    ];
    for ((.., run), state) in all.iter().zip(states) {
        let run = Run { state, ..run.clone() };
        let update = world.tx("test", |tx| Box::pin(tx.run_update(&run, Generation::ZERO))).await;
        assert!(update.unwrap().is_updated());
    }
    let mut reader = world.read().await.unwrap();
    let ids = |runs: Vec<Run>| runs.iter().map(|r| r.id).collect::<Vec<_>>();
    let unsettled = reader.run_unsettled_on(n1.id).await.unwrap();
    assert_eq!(ids(unsettled), [all[0].2.id, all[3].2.id]);
    let lost = reader.run_lost_on(n1.id).await.unwrap();
    assert_eq!(ids(lost), [all[2].2.id]);
}

/// More than one statement takes, with and without the values that may be absent.
async fn a_batch_of_reports_is_written_whole_or_not_at_all(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let all = placed(&world, &project, &node, 130).await;
    let ids: Vec<RunId> = all.iter().map(|(.., run)| run.id).collect();
    let mut contexts = world.read().await.unwrap().run_context(&ids).await.unwrap();
    contexts.sort_by_key(|context| context.run.id);
    assert_eq!(contexts.len(), 130);
    let mut runs = Vec::new();
    let mut workloads = Vec::new();
    for (i, context) in contexts.iter().enumerate() {
        let mut run = context.run.clone();
        run.report_generation = Generation::from_u64(2);
        run.state = RunState::Exited { exit: exit(1) };
        run.time_started = (i % 3 != 0).then(|| at(5));
        run.time_ended = Some(at(6));
        runs.push(run);
        let mut workload = context.workload.clone();
        workload.generation = workload.generation.next();
        workload.time_ended = (i % 2 == 0).then(|| at(6));
        workloads.push(workload);
    }
    let placements: Vec<PlacementId> = contexts.iter().map(|c| c.placement.id).collect();
    let write = async || {
        world
            .tx("test", |tx| {
                Box::pin(async {
                    tx.run_save_batch(&runs).await?;
                    tx.placement_release_batch(&placements, at(7)).await?;
                    tx.workload_save_batch(&workloads).await
                })
            })
            .await
    };
    write().await.unwrap();
    let mut after = world.read().await.unwrap().run_context(&ids).await.unwrap();
    after.sort_by_key(|context| context.run.id);
    for ((context, run), workload) in after.iter().zip(&runs).zip(&workloads) {
        assert_eq!(context.run, *run);
        assert_eq!(context.workload, *workload);
        assert!(context.placement.is_released);
    }
    // What was read is no longer as it was: nothing of the second batch may be written.
    assert!(matches!(write().await.unwrap_err(), Error::Missing { .. }));
}

async fn runs_that_were_never_begun_are_found_by_age(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let all = placed(&world, &project, &node, 2).await;
    let begun = Run { state: RunState::Running { pid: 1, since: at(1) }, ..all[0].2.clone() };
    let update = world.tx("test", |tx| Box::pin(tx.run_update(&begun, Generation::ZERO))).await;
    assert!(update.unwrap().is_updated());
    let mut reader = world.read().await.unwrap();
    let later = all[1].2.time_created.plus(std::time::Duration::from_secs(1));
    let found = reader.run_assigned_before(later, 10).await.unwrap();
    assert_eq!(found.iter().map(|r| r.id).collect::<Vec<_>>(), [all[1].2.id]);
    assert!(reader.run_assigned_before(all[1].2.time_created, 10).await.unwrap().is_empty());
}
