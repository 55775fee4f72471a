//! The queue, arrays, what tasks wait for, what they hold and what they used.

use std::sync::Arc;

use hostler_model::*;
use hostler_store::{Account, ArrayChange, ArrayStanding, PassedOver, QueueCursor, Used, Waiting};

use crate::world::*;

crate::conformance!(
    a_project_keeps_its_quota_and_weight,
    the_queue_is_by_priority_then_age_and_only_of_what_is_ready,
    what_was_looked_at_in_vain_is_left_out,
    what_waited_too_long_is_found,
    an_array_is_what_was_written_and_counts,
    tasks_of_an_array_share_its_spec,
    an_array_is_stopped_and_goes_with_its_last_task,
    who_waits_for_whom,
    what_is_held_is_told_apart,
    the_lowest_that_holds_something_is_known,
    accounts_add_up,
    shares_of_output_are_what_was_written,
);

async fn insert(world: &World, task: &Workload) {
    world.tx("test", |tx| Box::pin(tx.workload_insert(task))).await.unwrap();
}

fn with_priority(project: ProjectId, text: &str, priority: i32) -> Workload {
    let mut spec = WorkloadSpec::command(["true"]);
    spec.queue.priority = priority;
    Workload { spec: Arc::new(spec), ..workload(project, text) }
}

fn array(project: ProjectId, text: &str, range: &str) -> TaskArray {
    TaskArray {
        id: ArrayId::from_uuid(next_uuid()),
        project_id: project,
        name: name(text),
        spec: WorkloadSpec::command(["/bin/echo", "\u{1F600}"]),
        range: range.parse().unwrap(),
        is_gang: false,
        is_stopped: false,
        trace: None,
        generation: Generation::FIRST,
        created_by: PrincipalId::from_uuid(next_uuid()),
        time_created: at(0),
        time_modified: at(0),
    }
}

fn member(array: &TaskArray, index: u32) -> Workload {
    Workload {
        spec: Arc::new(array.spec.clone()),
        seat: Some(TaskSeat { array: array.id, index }),
        ..workload(array.project_id, &format!("{}-{index}", array.name))
    }
}

async fn made(world: &World, array: &TaskArray, count: u32) -> Vec<Workload> {
    let tasks: Vec<Workload> = (1..=count).map(|index| member(array, index)).collect();
    let batch = &tasks;
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.task_array_insert(array).await?;
                tx.workload_insert_batch(batch).await?;
                tx.task_array_made(array.id, u64::from(count)).await
            })
        })
        .await
        .unwrap();
    tasks
}

fn ids(tasks: &[Workload]) -> Vec<WorkloadId> {
    tasks.iter().map(|task| task.id).collect()
}

async fn a_project_keeps_its_quota_and_weight(world: World) {
    let quota = Quota {
        cores: Some(Cores::from_millis(2500)),
        memory: Some(Bytes::mib(7)),
        gpus: Some(2),
        tasks: Some(100_000),
        workloads: Some(7),
        secrets: Some(8),
        blobs: Some(Bytes::mib(9)),
        logs: Some(Bytes::mib(10)),
        state: Some(Bytes::mib(8)),
        stacks: Some(11),
    };
    let project = Project { quota, weight: 3, ..project("alpha") };
    world.tx("test", |tx| Box::pin(tx.project_insert(&project))).await.unwrap();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.project_get(project.id).await.unwrap(), Some(project.clone()));
    assert!(read.project_list_all().await.unwrap().contains(&project));
}

async fn shares_of_output_are_what_was_written(world: World) {
    let quota = Quota { logs: Some(Bytes::mib(8)), ..Quota::default() };
    let lab = Project { quota, ..project("lab") };
    let other = Project { description: "\"logs\"".to_owned(), ..project("other") };
    for project in [&lab, &other] {
        world.tx("test", |tx| Box::pin(tx.project_insert(project))).await.unwrap();
    }
    let share = |project: &Project, node, granted, ceiling, generation| LogShare {
        project_id: project.id,
        node_id: node,
        granted: Bytes::new(granted),
        ceiling: Bytes::new(ceiling),
        generation: Generation::from_u64(generation),
    };
    let (one, two) = (NodeId::from_uuid(next_uuid()), NodeId::from_uuid(next_uuid()));
    let (first, second) = (share(&lab, one, 5, 7, 1), share(&lab, two, 0, u64::from(u32::MAX), 2));
    let elsewhere = share(&other, one, 1, 1, 3);
    for share in [&first, &second, &elsewhere] {
        world.tx("test", |tx| Box::pin(tx.log_share_put(share))).await.unwrap();
    }
    let mut read = world.read().await.unwrap();
    let quotas = read.log_quotas().await.unwrap();
    assert_eq!(quotas, [(lab.id, lab.name.clone(), Bytes::mib(8))]);
    let mut both = vec![first.clone(), second.clone()];
    both.sort_by_key(|share| share.node_id);
    assert_eq!(read.log_share_of_project(lab.id).await.unwrap(), both);
    assert_eq!(read.log_share_of_node(one).await.unwrap().len(), 2);
    assert_eq!(read.log_share_projects().await.unwrap().len(), 2);
    assert!(read.placement_nodes_of(lab.id).await.unwrap().is_empty());
    drop(read);
    let lowered = first.regranted(Bytes::new(2), Generation::from_u64(9));
    assert_eq!(lowered, share(&lab, one, 2, 7, 9));
    assert_eq!(lowered.acknowledged(Generation::FIRST), lowered);
    let in_force = lowered.acknowledged(Generation::from_u64(9));
    world.tx("test", |tx| Box::pin(tx.log_share_put(&in_force))).await.unwrap();
    world.tx("test", |tx| Box::pin(tx.log_share_delete(&second))).await.unwrap();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.log_share_of_project(lab.id).await.unwrap(), [share(&lab, one, 2, 2, 9)]);
    drop(read);
    let gone = world.tx("test", |tx| Box::pin(tx.project_delete(other.id, other.generation)));
    assert!(gone.await.unwrap().is_updated());
    let mut read = world.read().await.unwrap();
    assert_eq!(read.log_share_projects().await.unwrap(), [lab.id]);
}

async fn the_queue_is_by_priority_then_age_and_only_of_what_is_ready(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let priorities = [0, 5, -3, 5, 0, 5];
    let mut tasks: Vec<Workload> = (0..)
        .zip(priorities)
        .map(|(n, priority)| with_priority(alpha.id, &format!("job-{n}"), priority))
        .collect();
    tasks[3].time_ready = Some(at(9));
    tasks[4].time_ready = None;
    for task in &tasks {
        insert(&world, task).await;
    }
    let mut read = world.read().await.unwrap();
    assert_eq!(read.workload_queue_projects().await.unwrap(), [alpha.id]);
    let expected = [1, 5, 0, 2].map(|n| tasks[n].id);
    for size in [1, 2, 3, 10] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let part = read.workload_queue(alpha.id, at(8), after, size).await.unwrap();
            let Some(last) = part.last() else { break };
            after = Some(QueueCursor::of(last));
            seen.extend(ids(&part));
        }
        assert_eq!(seen, expected, "by {size}");
    }
    assert_eq!(read.workload_queue(beta.id, at(8), None, 9).await.unwrap(), []);
    assert_eq!(read.workload_queue(alpha.id, at(9), None, 9).await.unwrap().len(), 5);
    assert_eq!(read.workload_next_ready(at(8)).await.unwrap(), Some(at(9)));
    assert_eq!(read.workload_next_ready(at(9)).await.unwrap(), None);
    let counted = read.workload_count_open_by_project().await.unwrap();
    assert_eq!(counted, [(alpha.id, TaskStateKind::Pending, 6)]);
    assert_eq!(read.workload_count_open(alpha.id).await.unwrap(), 6);
}

async fn what_was_looked_at_in_vain_is_left_out(world: World) {
    let project = world.project("alpha").await;
    let sized = |text: &str, millis: u32| {
        let mut spec = WorkloadSpec::command(["true"]);
        spec.resources.cores = Cores::from_millis(millis);
        Workload { spec: Arc::new(spec), ..workload(project.id, text) }
    };
    let plain = [sized("a-1", 100), sized("b-1", 200), sized("a-2", 100), sized("c-1", 300)];
    for task in &plain {
        insert(&world, task).await;
    }
    let array = array(project.id, "many", "1-2");
    let members = made(&world, &array, 2).await;
    let mut read = world.read().await.unwrap();
    let mut left = async |arrays: &[ArrayId], classes: &[i64]| {
        let passed_over = PassedOver {
            arrays: arrays.iter().copied().collect(),
            classes: classes.iter().copied().collect(),
        };
        let found = read.workload_queue_beside(project.id, at(8), None, &passed_over, 9).await;
        ids(&found.unwrap())
    };
    let class = |task: &Workload| task.spec.queue_class();
    let all: Vec<WorkloadId> = ids(&plain).into_iter().chain(ids(&members)).collect();
    assert_eq!(left(&[], &[]).await, all);
    assert_eq!(left(&[array.id], &[]).await, ids(&plain));
    let some = [all[1], all[3], all[4], all[5]];
    assert_eq!(left(&[], &[class(&plain[0])]).await, some);
    assert_eq!(left(&[array.id], &[class(&plain[0]), class(&plain[3]), 0]).await, [all[1]]);
    assert_eq!(left(&[], &[class(&members[0])]).await, ids(&plain));
}

async fn what_waited_too_long_is_found(world: World) {
    let project = world.project("alpha").await;
    let mut late = workload(project.id, "late");
    late.time_give_up = Some(at(5));
    insert(&world, &late).await;
    world.workload(&project, "patient").await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.workload_next_give_up().await.unwrap(), Some(at(5)));
    assert_eq!(read.workload_overdue(at(4), 9).await.unwrap(), []);
    assert_eq!(read.workload_overdue(at(5), 9).await.unwrap(), [late]);
}

async fn an_array_is_what_was_written_and_counts(world: World) {
    let project = world.project("alpha").await;
    let array = TaskArray { is_gang: true, ..array(project.id, "many", "1-10:3,40%2") };
    world.tx("test", |tx| Box::pin(tx.task_array_insert(&array))).await.unwrap();
    let mut read = world.read().await.unwrap();
    let standing = ArrayStanding { array: array.clone(), made: 0, unsettled: 5, unsuccessful: 0 };
    assert_eq!(read.task_array_get(array.id).await.unwrap(), Some(standing.clone()));
    let named = read.task_array_by_name(project.id, &array.name).await.unwrap();
    assert_eq!(named, Some(standing.clone()));
    assert_eq!(read.task_array_unmade(9).await.unwrap(), std::slice::from_ref(&standing));
    let page = read.task_array_list(project.id, None, limit(9)).await.unwrap();
    assert_eq!((page.items, page.next), (vec![standing.clone()], None));
    let change = ArrayChange { unsettled: -2, unsuccessful: 1 };
    let id = array.id;
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.task_array_made(id, 5).await?;
                tx.task_array_count(&[(id, change)]).await
            })
        })
        .await
        .unwrap();
    let counted = ArrayStanding { made: 5, unsettled: 3, unsuccessful: 1, ..standing };
    assert_eq!(read.task_array_get_batch(&[id]).await.unwrap(), [counted]);
    assert_eq!(read.task_array_unmade(9).await.unwrap(), []);
    let twin = self::array(project.id, "many", "1");
    let taken = world.tx("test", |tx| Box::pin(tx.task_array_insert(&twin))).await;
    assert!(matches!(taken.unwrap_err(), hostler_store::Error::Conflict { .. }));
}

async fn tasks_of_an_array_share_its_spec(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let array = array(project.id, "many", "1-4");
    let tasks = made(&world, &array, 4).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.workload_get(tasks[1].id).await.unwrap(), Some(tasks[1].clone()));
    let queue = read.workload_queue_of_array(array.id, at(0)).await.unwrap();
    assert_eq!(queue, tasks);
    assert!(Arc::ptr_eq(&queue[0].spec, &queue[3].spec), "read once");
    let (placement, run) = placement(&tasks[2], node.id, 1);
    let running = Workload {
        state: TaskState::Running { placement: placement.id, run: run.id },
        generation: tasks[2].generation.next(),
        attempts: 1,
        ..tasks[2].clone()
    };
    let (saved, placements, runs) = (&[running], &[placement], &[run]);
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.workload_save_batch(saved).await?;
                tx.placement_insert_batch(placements).await?;
                tx.run_insert_batch(runs).await
            })
        })
        .await
        .unwrap();
    let feed = read.placement_feed(node.id, Generation::ZERO, 9).await.unwrap();
    assert_eq!((feed[0].seat, &feed[0].spec), (tasks[2].seat, &tasks[2].spec));
    assert_eq!(read.task_array_running(&[array.id]).await.unwrap(), [(array.id, 1)]);
    let counts = read.task_array_counts(array.id).await.unwrap();
    assert_eq!(counts, [("pending".to_owned(), 3), ("running".to_owned(), 1)]);
    assert_eq!(read.workload_queue_of_array(array.id, at(0)).await.unwrap().len(), 3);
}

async fn an_array_is_stopped_and_goes_with_its_last_task(world: World) {
    let project = world.project("alpha").await;
    let array = array(project.id, "many", "1-5");
    let tasks = made(&world, &array, 3).await;
    let id = array.id;
    let stop = async || {
        world
            .tx("test", |tx| {
                Box::pin(async move {
                    let is_first = tx.task_array_stop(id, 2).await?;
                    Ok::<_, hostler_store::Error>((
                        is_first,
                        tx.task_array_kill_waiting(id, at(7)).await?,
                    ))
                })
            })
            .await
            .unwrap()
    };
    assert_eq!(stop().await, (true, 3));
    assert_eq!(stop().await, (false, 0));
    let changes = [(id, ArrayChange { unsettled: -3, unsuccessful: 3 })];
    world.tx("test", |tx| Box::pin(tx.task_array_count(&changes))).await.unwrap();
    let standing = world.read().await.unwrap().task_array_get(id).await.unwrap().unwrap();
    assert_eq!((standing.unsettled, standing.unsuccessful), (0, 5));
    assert!(standing.array.is_stopped);
    let clean =
        async || world.tx("test", |tx| Box::pin(tx.task_array_delete_empty(9))).await.unwrap();
    assert_eq!(clean().await, 0, "its tasks are still there");
    for task in &tasks {
        let gone = world.tx("test", |tx| Box::pin(tx.workload_delete(task.id))).await;
        assert!(gone.unwrap().is_updated());
    }
    assert_eq!(clean().await, 1);
    assert_eq!(world.read().await.unwrap().task_array_get(id).await.unwrap(), None);
}

async fn who_waits_for_whom(world: World) {
    let project = world.project("alpha").await;
    let (first, second) =
        (world.workload(&project, "first").await, world.workload(&project, "second").await);
    let waits =
        |on: &str, condition| Waiting { task_id: second.id, on_id: on.to_owned(), condition };
    let on_task = waits(&first.id.to_string(), AfterCondition::Ok);
    let on_array = waits(&next_uuid().to_string(), AfterCondition::Any);
    let both = [on_task.clone(), on_array.clone()];
    world.tx("test", |tx| Box::pin(tx.task_after_insert_batch(&both))).await.unwrap();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.task_after_of(second.id).await.unwrap().len(), 2);
    assert_eq!(read.task_after_of(first.id).await.unwrap(), []);
    let found = read.task_after_on(&[first.id.to_string()]).await.unwrap();
    assert_eq!(found, std::slice::from_ref(&on_task));
    let done = [on_task];
    world.tx("test", |tx| Box::pin(tx.task_after_delete_batch(&done))).await.unwrap();
    assert_eq!(read.task_after_of(second.id).await.unwrap(), [on_array]);
}

async fn what_is_held_is_told_apart(world: World) {
    let project = world.project("alpha").await;
    let node = world.node("n1").await;
    let service = world.service(&project, "web").await;
    world.seat(&service, &node, 1).await;
    let tasks: Vec<Workload> = (0..3).map(|n| workload(project.id, &format!("job-{n}"))).collect();
    let (mut placements, mut runs) = (Vec::new(), Vec::new());
    for (task, generation) in tasks.iter().zip(2..) {
        let (placement, run) = placement(task, node.id, generation);
        placements.push(placement);
        runs.push(run);
    }
    placements[0].reservation = reservation(1000, 5);
    placements[1].reservation = Reservation {
        gpus: vec![GpuHold { index: 1, share: GpuShareSize::from_millis(500) }],
        cpus: "0-1".parse().unwrap(),
        ..reservation(2000, 7)
    };
    placements[1].time_created = at(9);
    placements[2].is_released = true;
    let (batch, placed, begun) = (&tasks, &placements, &runs);
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.workload_insert_batch(batch).await?;
                tx.placement_insert_batch(placed).await?;
                tx.run_insert_batch(begun).await
            })
        })
        .await
        .unwrap();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.placement_get(placements[1].id).await.unwrap(), Some(placements[1].clone()));
    let usage = read.placement_usage().await.unwrap();
    let (cores, count) = (usage[0].cores.millis(), usage[0].placements);
    assert_eq!((cores, count, usage[0].time_given), (1020, 2, at(1)), "plain ones only");
    let particular = read.placement_particular().await.unwrap();
    assert_eq!((particular.len(), particular[0].time_given), (1, at(9)));
    assert_eq!(particular[0].reservation, placements[1].reservation);
    let by_project = read.placement_usage_by_project().await.unwrap();
    assert_eq!((by_project[0].cores, by_project[0].memory), (3020, Bytes::mib(12)));
    let lasting = read.placement_lasting().await.unwrap();
    assert_eq!(lasting, [(node.id, reservation(20, 0))]);
    let held = read.placement_held().await.unwrap();
    let held: Vec<_> = held.iter().map(|held| held.placement.workload_id).collect();
    assert_eq!(held, [tasks[0].id, tasks[1].id]);
    let words = read.placement_words().await.unwrap();
    let families: Vec<&str> = words.iter().map(|word| word.family.as_str()).collect();
    assert_eq!(families, ["web", "job-0", "job-1"]);
}

async fn the_lowest_that_holds_something_is_known(world: World) {
    let project = world.project("alpha").await;
    let lowest = async || world.read().await.unwrap().workload_lowest_placed().await.unwrap();
    insert(&world, &with_priority(project.id, "waits", -9)).await;
    assert_eq!(lowest().await, None);
    for (text, priority) in [("a", 4), ("b", -2)] {
        let placement = PlacementId::from_uuid(next_uuid());
        let state = TaskState::Assigning { placement };
        insert(&world, &Workload { state, ..with_priority(project.id, text, priority) }).await;
    }
    assert_eq!(lowest().await, Some(-2));
}

async fn accounts_add_up(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let (ada, bob) = (PrincipalId::from_uuid(next_uuid()), PrincipalId::from_uuid(next_uuid()));
    let used = |n: u64| Used {
        tasks: n,
        core_milliseconds: 10 * n,
        gpu_milliseconds: 20 * n,
        memory_mib_seconds: 30 * n,
        wait_milliseconds: 40 * n,
        run_milliseconds: 50 * n,
    };
    let line = |project: &Project, principal_id, day, n| Account {
        project_id: project.id,
        principal_id,
        day,
        used: used(n),
    };
    let lines = [
        line(&alpha, ada, 5, 1),
        line(&alpha, ada, 5, 2),
        line(&alpha, bob, 6, 4),
        line(&beta, ada, 7, 8),
    ];
    world.tx("test", |tx| Box::pin(tx.account_add(&lines))).await.unwrap();
    let mut read = world.read().await.unwrap();
    let of_alpha = read.account_list(Some(alpha.id), 0, 99).await.unwrap();
    assert_eq!(of_alpha, [line(&alpha, ada, 5, 3), line(&alpha, bob, 6, 4)]);
    assert_eq!(read.account_list(None, 6, 7).await.unwrap().len(), 2);
    assert_eq!(read.account_list(None, 8, 9).await.unwrap(), []);
}
