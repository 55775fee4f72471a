//! Executions, their steps and their jobs: what is written comes back, and who has to be looked at is found.

use hostler_model::workflow::*;
use hostler_model::*;
use hostler_store::{Error, ExecutionFilter, Update};
use serde_json::json;

use crate::workflows::{delete_old, digest, ended, execution, insert, insert_jobs, job, somebody};
use crate::world::*;

crate::conformance!(
    an_execution_is_what_was_written,
    an_execution_is_changed_from_what_was_read,
    executions_are_listed_page_by_page,
    steps_are_saved_again_and_again,
    jobs_are_saved_again_and_again,
    executions_whose_time_has_come_are_wanting,
    executions_whose_task_ended_are_wanting,
    old_executions_go_with_all_they_have,
);

async fn update(world: &World, execution: &Execution, expected: Generation) -> Update {
    let done: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.execution_update(execution, expected))).await;
    done.unwrap()
}

async fn save_jobs(world: &World, jobs: &[ExecutionJob]) -> Result<()> {
    world.tx("test", |tx| Box::pin(tx.execution_job_save_batch(jobs))).await
}

async fn save_steps(world: &World, steps: &[ExecutionStep]) -> Result<()> {
    world.tx("test", |tx| Box::pin(tx.execution_step_save_batch(steps))).await
}

async fn wanting(world: &World, seconds: i64) -> Vec<ExecutionId> {
    world.read().await.unwrap().execution_wanting(at(seconds), 100).await.unwrap()
}

fn care() -> StackCare {
    let standing = CareStanding::Held { since: at(5), renewed: at(6) };
    StackCare {
        stack: "web".parse().unwrap(),
        stack_id: StackId::from_uuid(next_uuid()),
        mandate: Mandate { principal: somebody(), can: Some(PermissionSet::OF_STEPS) },
        hold: LockHoldId::from_uuid(next_uuid()),
        patience: Span::from_secs(60),
        snapshot: StackSnapshotId::from_uuid(next_uuid()),
        revision: 4,
        phases: vec![CarePhase { kind: CareKind::Lock, standing, message: "held".to_owned() }],
        way: Some(CareWay::Begun(Generation::FIRST)),
        failure: Some("why".to_owned()),
    }
}

async fn an_execution_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let plain = execution(&project, "deploy");
    let full = Execution {
        values: json!({ "b": null, "a": [1.5, "x\u{0}y", { "c": {} }] }),
        options: ExecutionOptions {
            only: vec!["build".to_owned()],
            delegate_to: vec!["n1".to_owned()],
            secrets: vec!["prod/db:3".parse().unwrap()],
            at_once: Some(4),
            stack: Some("web".to_owned()),
        },
        state: ExecutionState::Settling(ExecutionOutcome::TimedOut),
        care: Some(care()),
        is_cancel_requested: true,
        trace: Some("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse().unwrap()),
        generation: Generation::from_u64(9),
        time_modified: at(2),
        time_begun: at(22),
        time_due: Some(at(3)),
        time_ended: Some(at(4)),
        ..execution(&project, "deploy \u{1F600}")
    };
    let begun = Execution { state: ExecutionState::Beginning, ..execution(&project, "x") };
    let all = [plain, full, begun];
    for one in &all {
        insert(&world, one, &[]).await;
    }
    let mut read = world.read().await.unwrap();
    for one in all {
        assert_eq!(read.execution_get(one.id).await.unwrap(), Some(one));
    }
    let none = ExecutionId::from_uuid(next_uuid());
    assert_eq!(read.execution_get(none).await.unwrap(), None);
    let counts = read.execution_count_by_state().await.unwrap();
    assert_eq!(counts, ["beginning", "running", "settling"].map(|label| (label.to_owned(), 1)));
    drop(read);
    let twice = execution(&project, "deploy");
    insert(&world, &twice, &[]).await;
    let again: Result<()> = world.tx("test", |tx| Box::pin(tx.execution_insert(&twice, &[]))).await;
    assert!(matches!(again.unwrap_err(), Error::Conflict { .. }));
}

async fn an_execution_is_changed_from_what_was_read(world: World) {
    let project = world.project("alpha").await;
    let first = execution(&project, "deploy");
    insert(&world, &first, &[]).await;
    let mut next = Execution {
        state: ExecutionState::Ended(ExecutionOutcome::Failed),
        is_cancel_requested: true,
        options: ExecutionOptions { at_once: Some(2), ..ExecutionOptions::default() },
        time_modified: at(5),
        time_begun: at(4),
        time_due: Some(at(6)),
        time_ended: Some(at(7)),
        ..first.clone()
    };
    let stale = Generation::FIRST.next();
    assert_eq!(update(&world, &next, stale).await, Update::Stale { current: Generation::FIRST });
    assert_eq!(world.read().await.unwrap().execution_get(first.id).await.unwrap(), Some(first));
    assert_eq!(update(&world, &next, Generation::FIRST).await, Update::Updated);
    next.generation = stale;
    let found = world.read().await.unwrap().execution_get(next.id).await.unwrap();
    assert_eq!(found.as_ref(), Some(&next));
    let lost = Update::Stale { current: stale };
    assert_eq!(update(&world, &next, Generation::FIRST).await, lost);
    let fixed = Execution { workflow: "other".to_owned(), values: json!(1), ..next.clone() };
    assert_eq!(update(&world, &fixed, stale).await, Update::Updated);
    next.generation = stale.next();
    let found = world.read().await.unwrap().execution_get(next.id).await.unwrap();
    assert_eq!(found, Some(next), "what it executes does not change");
    let nobody = execution(&project, "deploy");
    assert_eq!(update(&world, &nobody, Generation::FIRST).await, Update::Missing);
}

async fn executions_are_listed_page_by_page(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let all = [
        execution(&alpha, "deploy"),
        execution(&alpha, "test"),
        ended(&execution(&alpha, "deploy"), 5),
        execution(&beta, "deploy"),
        execution(&alpha, "deploy"),
        ended(&execution(&alpha, "test"), 6),
    ];
    for one in &all {
        insert(&world, one, &[]).await;
    }
    let mut read = world.read().await.unwrap();
    let every = ExecutionFilter { project: alpha.id, workflow: None, is_open: None };
    let deploy = ExecutionFilter { workflow: Some("deploy"), ..every };
    for (filter, meant) in [
        (every, vec![5, 4, 2, 1, 0]),
        (deploy, vec![4, 2, 0]),
        (ExecutionFilter { is_open: Some(true), ..every }, vec![4, 1, 0]),
        (ExecutionFilter { is_open: Some(false), ..every }, vec![5, 2]),
        (ExecutionFilter { is_open: Some(true), ..deploy }, vec![4, 0]),
        (ExecutionFilter { is_open: Some(false), ..deploy }, vec![2]),
        (ExecutionFilter { workflow: Some("other"), ..every }, vec![]),
        (ExecutionFilter { project: beta.id, ..deploy }, vec![3]),
    ] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = read.execution_list(filter, after.as_deref(), limit(2)).await.unwrap();
            assert!(page.items.len() <= 2);
            seen.extend(page.items);
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let meant: Vec<Execution> = meant.into_iter().map(|i: usize| all[i].clone()).collect();
        assert_eq!(seen, meant, "{filter:?}");
    }
    let counts = read.execution_count_by_state().await.unwrap();
    assert_eq!(counts, [("ended".to_owned(), 2), ("running".to_owned(), 4)]);
}

async fn steps_are_saved_again_and_again(world: World) {
    let project = world.project("alpha").await;
    let (one, other) = (execution(&project, "deploy"), execution(&project, "deploy"));
    let steps: Vec<ExecutionStep> = (0..12)
        .rev()
        .map(|position| ExecutionStep::new(one.id, position, &format!("step {position}")))
        .collect();
    insert(&world, &one, &steps).await;
    let untouched = ExecutionStep::new(other.id, 1, "ship");
    insert(&world, &other, std::slice::from_ref(&untouched)).await;
    let mut sorted = steps.clone();
    sorted.reverse();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.execution_steps(one.id).await.unwrap(), sorted);
    drop(read);
    let standings = [
        Standing::Running { attempt: 2, since: Span::from_secs(7) },
        Standing::Resting { attempt: 3, until: Span::from_secs(8) },
        Standing::Ended(StepEnd::TimedOut),
        Standing::Skipped(SkipReason::NoFailure),
    ];
    for (step, standing) in sorted.iter_mut().zip(standings) {
        step.standing = standing;
        step.tries = 3;
        step.message = "no \u{1F600}".to_owned();
        step.changed = Some(step.position % 2 == 0);
        step.exported = json!({ "z": null, "a": [0.5] });
        step.results = vec![
            StepTold { node: Some("node-1".parse().unwrap()), report: digest(1) },
            StepTold { node: None, report: digest(2) },
        ];
        step.artifacts = vec![StepArtifact { name: "a.tar".to_owned(), archive: digest(3) }];
        step.is_undone = true;
        step.approval_id = Some(ApprovalId::from_uuid(next_uuid()));
        step.time_started = Some(at(3));
        step.time_ended = Some(at(4));
    }
    for _ in 0..2 {
        save_steps(&world, &sorted[..4]).await.unwrap();
        let mut read = world.read().await.unwrap();
        assert_eq!(read.execution_steps(one.id).await.unwrap(), sorted);
        assert_eq!(read.execution_steps(other.id).await.unwrap(), std::slice::from_ref(&untouched));
    }
    let blank = ExecutionStep::new(one.id, 0, "step 0");
    save_steps(&world, std::slice::from_ref(&blank)).await.unwrap();
    sorted[0] = blank;
    assert_eq!(world.read().await.unwrap().execution_steps(one.id).await.unwrap(), sorted);
    save_steps(&world, &[]).await.unwrap();
    let lost = ExecutionStep::new(ExecutionId::from_uuid(next_uuid()), 0, "of none");
    save_steps(&world, &[lost]).await.unwrap_err();
}

async fn jobs_are_saved_again_and_again(world: World) {
    let project = world.project("alpha").await;
    let one = execution(&project, "deploy");
    let other = execution(&project, "deploy");
    insert(&world, &one, &[]).await;
    insert(&world, &other, &[]).await;
    let id = || WorkloadId::from_uuid(next_uuid());
    let mut jobs: Vec<ExecutionJob> = JobKind::ALL
        .iter()
        .map(|kind| ExecutionJob { kind: *kind, ..job(&one, id()) })
        .chain([
            ExecutionJob { position: None, ..job(&one, id()) },
            ExecutionJob {
                position: Some(u32::MAX),
                tries: 7,
                node: Some(name("n1")),
                wanted: Some(StepEnd::TimedOut),
                end: Some(StepEnd::Cancelled),
                message: "stopped \u{1F600}".to_owned(),
                result: Some(digest(4)),
                ..job(&one, id())
            },
        ])
        .collect();
    jobs.sort_by_key(|job| job.workload_id);
    let untouched = job(&other, id());
    insert_jobs(&world, &jobs).await;
    insert_jobs(&world, std::slice::from_ref(&untouched)).await;
    assert_eq!(world.read().await.unwrap().execution_jobs(one.id).await.unwrap(), jobs);
    for (job, end) in jobs.iter_mut().zip(StepEnd::ALL) {
        job.wanted = (*end != StepEnd::Failed).then_some(StepEnd::Cancelled);
        job.end = Some(*end);
        job.message = format!("ended {end}");
        job.result = Some(digest(9));
    }
    for _ in 0..2 {
        save_jobs(&world, &jobs).await.unwrap();
        let mut read = world.read().await.unwrap();
        assert_eq!(read.execution_jobs(one.id).await.unwrap(), jobs);
        assert_eq!(read.execution_jobs(other.id).await.unwrap(), std::slice::from_ref(&untouched));
    }
    let mut back = jobs[0].clone();
    (back.wanted, back.end, back.result, back.message) = (None, None, None, String::new());
    save_jobs(&world, std::slice::from_ref(&back)).await.unwrap();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.execution_job_of(back.workload_id).await.unwrap(), Some(back.clone()));
    assert_eq!(read.execution_job_of(untouched.workload_id).await.unwrap(), Some(untouched));
    assert_eq!(read.execution_job_of(id()).await.unwrap(), None);
    drop(read);
    let lost = save_jobs(&world, &[back.clone(), job(&one, id())]).await.unwrap_err();
    assert!(matches!(lost, Error::Missing { .. }), "{lost:?}");
    let twice: Result<()> =
        world.tx("test", |tx| Box::pin(tx.execution_job_insert_batch(&jobs[..1]))).await;
    assert!(matches!(twice.unwrap_err(), Error::Conflict { .. }), "a task is done for one thing");
}

async fn executions_whose_time_has_come_are_wanting(world: World) {
    let project = world.project("alpha").await;
    let due = |seconds, state| Execution {
        state,
        time_due: Some(at(seconds)),
        ..execution(&project, "deploy")
    };
    let failed = ExecutionOutcome::Failed;
    let all = [
        due(30, ExecutionState::Running),
        due(10, ExecutionState::Beginning),
        due(20, ExecutionState::Finishing(failed)),
        due(1, ExecutionState::Ended(failed)),
        execution(&project, "deploy"),
    ];
    for one in &all {
        insert(&world, one, &[]).await;
    }
    let [third, first, second, ..] = all.each_ref().map(|one| one.id);
    assert_eq!(wanting(&world, 9).await, []);
    assert_eq!(wanting(&world, 10).await, [first]);
    assert_eq!(wanting(&world, 29).await, [first, second]);
    assert_eq!(wanting(&world, 99).await, [third, first, second], "oldest first");
    let mut read = world.read().await.unwrap();
    let two = read.execution_wanting(at(99), 2).await.unwrap();
    assert_eq!(two, [first, second], "of many, those that wait the longest");
    drop(read);
    let later = Execution { time_due: None, ..all[1].clone() };
    assert_eq!(update(&world, &later, Generation::FIRST).await, Update::Updated);
    assert_eq!(wanting(&world, 29).await, [second]);
}

async fn executions_whose_task_ended_are_wanting(world: World) {
    let project = world.project("alpha").await;
    let one = execution(&project, "deploy");
    let other = execution(&project, "deploy");
    let over = ended(&execution(&project, "deploy"), 1);
    let idle = execution(&project, "deploy");
    for execution in [&one, &other, &over, &idle] {
        insert(&world, execution, &[]).await;
    }
    let tasks = [
        world.workload(&project, "t1").await,
        world.workload(&project, "t2").await,
        world.workload(&project, "t3").await,
    ];
    world.workload(&project, "of-nobody").await;
    let [first, second, third] = tasks.each_ref().map(|task| task.id);
    let gone = WorkloadId::from_uuid(next_uuid());
    let jobs = [job(&one, first), job(&one, second), job(&other, third), job(&over, gone)];
    insert_jobs(&world, &jobs).await;
    assert_eq!(wanting(&world, 99).await, []);
    for state in TaskStateKind::ALL {
        world
            .raw(&format!("UPDATE workload SET state = '{}' WHERE id = '{first}'", state.label()))
            .await;
        let meant = if state.is_settled() { vec![one.id] } else { vec![] };
        assert_eq!(wanting(&world, 99).await, meant, "{state}");
    }
    world.raw("UPDATE workload SET state = 'completed'").await;
    assert_eq!(wanting(&world, 99).await, [one.id, other.id], "each once");
    let mut read = world.read().await.unwrap();
    assert_eq!(read.execution_wanting(at(99), 1).await.unwrap(), [one.id]);
    drop(read);
    let known = jobs.clone().map(|job| ExecutionJob { end: Some(StepEnd::Succeeded), ..job });
    save_jobs(&world, &known[..1]).await.unwrap();
    assert_eq!(wanting(&world, 99).await, [one.id, other.id], "its other job is open");
    save_jobs(&world, &known).await.unwrap();
    assert_eq!(wanting(&world, 99).await, []);
    insert_jobs(&world, &[job(&idle, WorkloadId::from_uuid(next_uuid()))]).await;
    assert_eq!(wanting(&world, 99).await, [idle.id], "a task that is gone");
    let due = Execution { time_due: Some(at(5)), ..idle.clone() };
    assert_eq!(update(&world, &due, Generation::FIRST).await, Update::Updated);
    assert_eq!(wanting(&world, 99).await, [idle.id], "for both reasons, once");
}

async fn old_executions_go_with_all_they_have(world: World) {
    let project = world.project("alpha").await;
    let all = [
        ended(&execution(&project, "deploy"), 30),
        ended(&execution(&project, "deploy"), 10),
        ended(&execution(&project, "deploy"), 20),
        execution(&project, "deploy"),
    ];
    for one in &all {
        let steps = [0, 1].map(|position| ExecutionStep::new(one.id, position, "s"));
        insert(&world, one, &steps).await;
        insert_jobs(&world, &[job(one, WorkloadId::from_uuid(next_uuid()))]).await;
    }
    assert_eq!(delete_old(&world, 10, 9).await, 0);
    assert_eq!(delete_old(&world, 99, 1).await, 1, "no more than asked");
    let left = async || -> Vec<bool> {
        let mut read = world.read().await.unwrap();
        let mut left = Vec::new();
        for one in &all {
            let is_there = read.execution_get(one.id).await.unwrap().is_some();
            let steps = read.execution_steps(one.id).await.unwrap().len();
            let jobs = read.execution_jobs(one.id).await.unwrap().len();
            assert_eq!((steps, jobs), if is_there { (2, 1) } else { (0, 0) });
            left.push(is_there);
        }
        left
    };
    assert_eq!(left().await, [true, false, true, true], "the longest ago first");
    assert_eq!(delete_old(&world, 30, 9).await, 1);
    assert_eq!(left().await, [true, false, false, true]);
    assert_eq!(delete_old(&world, 99, 9).await, 1);
    assert_eq!(left().await, [false, false, false, true], "what goes on stays");
}
