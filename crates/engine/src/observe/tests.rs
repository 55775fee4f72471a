use std::sync::Arc;

use hostler_model::{
    Exit, ExitReason, Generation, NodeId, PlacementId, PrincipalId, ProjectId, Reservation,
    RetryPolicy, RunId, RunState, WorkloadId, WorkloadSpec,
};
use uuid::Uuid;

use super::*;

fn world() -> (Run, Placement, Workload) {
    let id = Uuid::from_u128;
    let (t, project_id, node_id) =
        (Timestamp::from_micros(1), ProjectId::from_uuid(id(1)), NodeId::from_uuid(id(2)));
    let (workload_id, placement_id, run_id) =
        (WorkloadId::from_uuid(id(3)), PlacementId::from_uuid(id(4)), RunId::from_uuid(id(5)));
    let run = Run {
        id: run_id,
        placement_id,
        workload_id,
        project_id,
        node_id,
        attempt: 1,
        cause: None,
        fire: None,
        state: RunState::Assigned,
        report_generation: Generation::ZERO,
        time_created: t,
        time_started: None,
        time_ended: None,
    };
    let placement = Placement {
        id: placement_id,
        workload_id,
        project_id,
        node_id,
        run_id: Some(run_id),
        desired: Desired::Run,
        desired_generation: Generation::FIRST,
        stop_grace: None,
        reservation: Reservation::default(),
        is_released: false,
        revision: Generation::ZERO,
        status: None,
        status_generation: Generation::ZERO,
        time_created: t,
        time_modified: t,
    };
    let workload = Workload {
        id: workload_id,
        project_id,
        name: "w".parse().unwrap(),
        spec: Arc::new(WorkloadSpec::command(["true"])),
        desired: Desired::Run,
        state: TaskState::Assigning { placement: placement_id },
        seat: None,
        attempts: 1,
        time_ready: Some(t),
        trace: None,
        time_give_up: None,
        generation: Generation::FIRST,
        created_by: PrincipalId::from_uuid(id(6)),
        time_created: t,
        time_modified: t,
        time_ended: None,
    };
    (run, placement, workload)
}

fn exited(run: &Run, generation: u64, code: i32) -> Report {
    let exit = Exit {
        reason: ExitReason::Exited,
        code: Some(code),
        signal: None,
        message: None,
        time: Timestamp::from_micros(9),
    };
    let state =
        ReportState::Exited { started: Some(Timestamp::from_micros(5)), pid: Some(7), exit };
    Report {
        run_id: run.id,
        placement_id: run.placement_id,
        generation: Generation::from_u64(generation),
        state,
        origin: None,
    }
}

fn changed(outcome: Outcome) -> Change {
    match outcome {
        Outcome::Changed(change) => *change,
        Outcome::Known => panic!("expected a change"),
    }
}

#[test]
fn a_short_run_that_reports_only_its_end_still_tells_its_whole_story() {
    let (run, placement, workload) = world();
    let change = changed(report(
        &run,
        &placement,
        &workload,
        &exited(&run, 2, 3),
        Timestamp::from_micros(10),
    ));
    let kinds: Vec<_> = change.events.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [EventKind::TaskStarted, EventKind::TaskFailed]);
    assert_eq!(change.run.time_started, Some(Timestamp::from_micros(5)));
    assert!(change.placement.is_released);
    assert_eq!(change.workload.unwrap().state.kind(), TaskStateKind::Failed);
}

#[test]
fn repeats_and_latecomers_change_nothing() {
    let (run, placement, workload) = world();
    let first = changed(report(
        &run,
        &placement,
        &workload,
        &exited(&run, 2, 0),
        Timestamp::from_micros(10),
    ));
    let after = first.workload.unwrap();
    for generation in [1, 2] {
        let again = report(
            &first.run,
            &first.placement,
            &after,
            &exited(&run, generation, 1),
            Timestamp::from_micros(11),
        );
        assert_eq!(again, Outcome::Known);
    }
}

#[test]
fn what_was_lost_can_be_found() {
    let (run, placement, workload) = world();
    let gone = lost(&run, &placement, &workload, "the node went away", Timestamp::from_micros(10))
        .unwrap();
    let task = gone.workload.unwrap();
    assert_eq!(task.state.kind(), TaskStateKind::Lost);
    assert!(lost(&gone.run, &gone.placement, &task, "again", Timestamp::from_micros(11)).is_none());
    let back = changed(report(
        &gone.run,
        &gone.placement,
        &task,
        &exited(&run, 2, 0),
        Timestamp::from_micros(12),
    ));
    let kinds: Vec<_> = back.events.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [EventKind::TaskFound, EventKind::TaskStarted, EventKind::TaskCompleted]);
    assert_eq!(back.workload.unwrap().state.kind(), TaskStateKind::Completed);
}

#[test]
fn a_replaced_placement_does_not_touch_the_task() {
    let (run, placement, mut workload) = world();
    workload.state =
        TaskState::Assigning { placement: PlacementId::from_uuid(Uuid::from_u128(99)) };
    let change = changed(report(
        &run,
        &placement,
        &workload,
        &exited(&run, 2, 0),
        Timestamp::from_micros(10),
    ));
    assert!(change.workload.is_none() && change.events.is_empty());
    assert!(change.placement.is_released);
}

#[test]
fn stopping_is_asked_once() {
    let (_, placement, mut workload) = world();
    let Stop { workload: task, placement: stopped, .. } =
        stop(&workload, Some(&placement), None, Timestamp::from_micros(10)).unwrap();
    assert_eq!(stopped.unwrap().desired, Desired::Stop);
    assert!(stop(&task, Some(&placement), None, Timestamp::from_micros(11)).is_none());
    workload.state = TaskState::Pending;
    let Stop { workload: task, placement: none, .. } =
        stop(&workload, None, None, Timestamp::from_micros(10)).unwrap();
    assert!(none.is_none());
    assert_eq!(task.state.kind(), TaskStateKind::Killed);
}

fn with_retries(times: u32, on: &[RetryOn]) -> (Run, Placement, Workload) {
    let (run, placement, mut workload) = world();
    let spec = Arc::make_mut(&mut workload.spec);
    spec.queue.retry = RetryPolicy { times, on: on.to_vec(), ..RetryPolicy::default() };
    (run, placement, workload)
}

#[test]
fn a_failed_task_is_tried_again_in_the_same_step_until_it_was_often_enough() {
    let now = Timestamp::from_micros(10);
    let (run, placement, mut workload) = with_retries(1, &[RetryOn::Failed]);
    let change = changed(report(&run, &placement, &workload, &exited(&run, 2, 3), now));
    let task = change.workload.unwrap();
    assert_eq!((task.state.kind(), task.time_ended), (TaskStateKind::Pending, None));
    assert_eq!(task.time_ready, Some(now.plus(std::time::Duration::from_secs(1))));
    let kinds: Vec<_> = change.events.iter().map(|(kind, _)| *kind).collect();
    let all = [EventKind::TaskStarted, EventKind::TaskFailed, EventKind::TaskRetried];
    assert_eq!(kinds, all);
    workload.attempts = 2;
    let change = changed(report(&run, &placement, &workload, &exited(&run, 2, 3), now));
    assert_eq!(change.workload.unwrap().state.kind(), TaskStateKind::Failed);
    let change = changed(report(&run, &placement, &workload, &exited(&run, 2, 0), now));
    assert_eq!(change.workload.unwrap().state.kind(), TaskStateKind::Completed);
}

#[test]
fn a_lost_task_is_tried_elsewhere_and_its_old_run_cannot_touch_it_any_more() {
    let now = Timestamp::from_micros(10);
    let (run, placement, workload) = with_retries(3, &[RetryOn::Lost]);
    let gone = lost(&run, &placement, &workload, "away", now).unwrap();
    let mut task = gone.workload.unwrap();
    assert_eq!(task.state.kind(), TaskStateKind::Pending);
    task.state = TaskState::Assigning { placement: PlacementId::from_uuid(Uuid::from_u128(77)) };
    let late = report(&gone.run, &gone.placement, &task, &exited(&run, 2, 0), now);
    assert!(changed(late).workload.is_none());
}

#[test]
fn a_node_that_comes_back_in_time_takes_the_task_back() {
    let now = Timestamp::from_micros(10);
    let (run, placement, workload) = with_retries(3, &[RetryOn::Lost]);
    let gone = lost(&run, &placement, &workload, "away", now).unwrap();
    let task = gone.workload.unwrap();
    let back = changed(report(&gone.run, &gone.placement, &task, &exited(&run, 2, 0), now));
    assert_eq!(back.workload.unwrap().state.kind(), TaskStateKind::Completed);
    assert_eq!(back.events[0].0, EventKind::TaskFound);
}

#[test]
fn who_made_room_gets_its_turn_again_and_who_was_killed_does_not() {
    let now = Timestamp::from_micros(10);
    let (run, mut placement, mut workload) = world();
    Arc::make_mut(&mut workload.spec).queue.preemptible = true;
    placement.desired = Desired::Stop;
    let mut stopped = exited(&run, 2, 0);
    if let ReportState::Exited { exit, .. } = &mut stopped.state {
        exit.reason = ExitReason::Stopped;
    }
    let task = changed(report(&run, &placement, &workload, &stopped, now)).workload.unwrap();
    assert_eq!((task.state.kind(), task.attempts), (TaskStateKind::Pending, 0));
    workload.desired = Desired::Stop;
    let task = changed(report(&run, &placement, &workload, &stopped, now)).workload.unwrap();
    assert_eq!(task.state.kind(), TaskStateKind::Killed);
}

#[test]
fn pausing_and_going_on_are_followed() {
    let now = Timestamp::from_micros(10);
    let (run, placement, workload) = world();
    let say = |generation, state| Report {
        generation: Generation::from_u64(generation),
        state,
        ..exited(&run, 1, 0)
    };
    let since = Timestamp::from_micros(5);
    let frozen = say(2, ReportState::Paused { pid: 7, since });
    let change = changed(report(&run, &placement, &workload, &frozen, now));
    let task = change.workload.unwrap();
    assert_eq!(task.state.kind(), TaskStateKind::Paused);
    let on = say(3, ReportState::Running { pid: 7, since });
    let change = changed(report(&change.run, &placement, &task, &on, now));
    assert_eq!(change.workload.unwrap().state.kind(), TaskStateKind::Running);
    assert_eq!(change.events[0].0, EventKind::TaskResumed);
}
