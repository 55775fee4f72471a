//! Observation: what an agent's report, or a verdict of ours, does to run, placement and task.
//!
//! A report is applied only when it is newer than the last one applied to its run. The task follows
//! its run only while the run's placement is the one the task points at, so that a placement that was
//! replaced can still be observed without touching the task. Whether a task is tried again after an end
//! is decided here too, in the same step: it never rests in a state from which it would have to be
//! fetched back.
//!
//! What agents say of services is taken in [`service`].

pub mod service;

use hostler_model::{
    Desired, EventKind, Exit, ExitReason, Freshness, Placement, Report, ReportState, RetryOn,
    RetryPolicy, Run, RunEvent, RunStateKind, Span, TaskEvent, TaskState, TaskStateKind, Timestamp,
    Workload,
};

/// What is to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub run: Run,
    pub placement: Placement,
    /// The task, when it changes too.
    pub workload: Option<Workload>,
    /// What happened to the task, for the record.
    pub events: Vec<(EventKind, String)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Older than, or the same as, what is known.
    Known,
    Changed(Box<Change>),
}

/// Applies a report of an agent.
pub fn report(
    run: &Run,
    placement: &Placement,
    workload: &Workload,
    report: &Report,
    now: Timestamp,
) -> Outcome {
    match report.generation.freshness_over(run.report_generation) {
        Freshness::Older | Freshness::Equal => return Outcome::Known,
        Freshness::Newer => {}
    }
    let mut change = Change {
        run: run.clone(),
        placement: placement.clone(),
        workload: None,
        events: Vec::new(),
    };
    change.run.report_generation = report.generation;
    let mut task = workload.clone();
    find_again(&mut task, &mut change.events, run, placement);
    match &report.state {
        ReportState::Running { pid, since } => {
            step(&mut change.run, RunEvent::Started { pid: *pid, time: *since });
            change.run.time_started = Some(*since);
            change.run.time_ended = None;
            follow(
                &mut task,
                &mut change.events,
                TaskEvent::Started { placement: placement.id, run: run.id },
                placement,
            );
        }
        ReportState::Paused { pid, since } => {
            step(&mut change.run, RunEvent::Paused { pid: *pid, time: *since });
            change.run.time_started = Some(*since);
            change.run.time_ended = None;
            follow(
                &mut task,
                &mut change.events,
                TaskEvent::Paused { placement: placement.id, run: run.id },
                placement,
            );
        }
        ReportState::Exited { started, pid, exit } => {
            if let (Some(since), Some(pid)) = (started, pid)
                && run.time_started.is_none()
            {
                change.run.time_started = Some(*since);
                step(&mut change.run, RunEvent::Started { pid: *pid, time: *since });
                follow(
                    &mut task,
                    &mut change.events,
                    TaskEvent::Started { placement: placement.id, run: run.id },
                    placement,
                );
            }
            step(&mut change.run, RunEvent::Exited { exit: exit.clone() });
            change.run.time_ended = Some(exit.time);
            change.placement.is_released = true;
            follow(
                &mut task,
                &mut change.events,
                TaskEvent::Exited { run: run.id, exit: exit.clone() },
                placement,
            );
            if task.state.run() == Some(run.id) && task.state.is_settled() {
                let end = end_kind(&task, placement, exit);
                retry(&mut task, &mut change.events, end, now);
            }
        }
    }
    finish(change, task, workload, now)
}

/// Applies the verdict that a run's node has been away for too long; `None` when the run is settled.
pub fn lost(
    run: &Run,
    placement: &Placement,
    workload: &Workload,
    why: &str,
    now: Timestamp,
) -> Option<Change> {
    let state = run.state.apply(RunEvent::Lost { why: why.to_owned(), time: now })?;
    let mut change = Change {
        run: run.clone(),
        placement: placement.clone(),
        workload: None,
        events: Vec::new(),
    };
    change.run.state = state;
    change.run.time_ended = Some(now);
    let mut task = workload.clone();
    follow(
        &mut task,
        &mut change.events,
        TaskEvent::Lost { why: why.to_owned(), time: now },
        placement,
    );
    if task.state.kind() == TaskStateKind::Lost && workload.state.kind() != TaskStateKind::Lost {
        retry(&mut task, &mut change.events, Some(End::Policy(RetryOn::Lost)), now);
    }
    match finish(change, task, workload, now) {
        Outcome::Changed(change) => Some(*change),
        Outcome::Known => None,
    }
}

/// A node came back with a run that was given up as lost, before the task was placed anywhere else:
/// it takes the task back.
fn find_again(
    task: &mut Workload,
    events: &mut Vec<(EventKind, String)>,
    run: &Run,
    placement: &Placement,
) {
    let is_next = run.attempt == task.attempts && run.state.kind() == RunStateKind::Lost;
    if !is_next || placement.is_released || placement.desired == Desired::Stop {
        return;
    }
    let found = TaskEvent::Found { placement: placement.id };
    if let Ok(state) = task.state.apply(task.desired, found) {
        task.state = state;
        events.push((EventKind::TaskFound, "found again on its node".to_owned()));
    }
}

/// An end after which a task may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// As its own policy says.
    Policy(RetryOn),
    /// It was stopped for another one, and gets its turn again without counting.
    Preempted,
}

fn end_kind(task: &Workload, placement: &Placement, exit: &Exit) -> Option<End> {
    let is_ours = exit.reason == ExitReason::Stopped && placement.desired == Desired::Stop;
    if is_ours && task.spec.queue.preemptible {
        return Some(End::Preempted);
    }
    RetryPolicy::kind_of(exit).map(End::Policy)
}

/// Puts a task that has just ended back into the queue, if it is to be tried again.
fn retry(
    task: &mut Workload,
    events: &mut Vec<(EventKind, String)>,
    end: Option<End>,
    now: Timestamp,
) {
    let wait = match end {
        Some(End::Preempted) => Some(Span::from_millis(0)),
        Some(End::Policy(end)) => task.spec.queue.retry.wait_after(task.attempts, end),
        None => None,
    };
    let Some(wait) = wait else { return };
    let Ok(state) = task.state.apply(task.desired, TaskEvent::Requeued) else { return };
    if end == Some(End::Preempted) {
        task.attempts = task.attempts.saturating_sub(1);
    }
    task.state = state;
    let ready = now.plus(wait.duration());
    task.time_ready = Some(ready);
    task.time_give_up = task.spec.queue.start_within.map(|within| ready.plus(within.duration()));
    let message = match end {
        Some(End::Preempted) => "back in the queue: it made room for another task".to_owned(),
        _ => format!("back in the queue, to be tried again in {wait}"),
    };
    events.push((EventKind::TaskRetried, message));
}

/// The state of a task that somebody wants to be tried again; `None` where it cannot be.
pub fn again(workload: &Workload) -> Option<TaskState> {
    workload.state.apply(Desired::Run, TaskEvent::Requeued).ok()
}

/// Gives a task up that waits; `None` when it does not wait any more.
pub fn give_up(
    workload: &Workload,
    why: &str,
    now: Timestamp,
) -> Option<(Workload, (EventKind, String))> {
    let exit = Exit {
        reason: ExitReason::GivenUp,
        code: None,
        signal: None,
        message: Some(why.to_owned()),
        time: now,
    };
    let state = workload.state.apply(workload.desired, TaskEvent::GaveUp { exit }).ok()?;
    let event = describe(&state);
    let given_up = Workload {
        state,
        generation: workload.generation.next(),
        time_modified: now,
        time_ended: Some(now),
        ..workload.clone()
    };
    Some((given_up, event))
}

/// What asking for a stop changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    pub workload: Workload,
    /// To be given the node's next desired generation; absent when nothing is placed.
    pub placement: Option<Placement>,
    pub events: Vec<(EventKind, String)>,
}

/// Asks for a task to stop. `None` when it has ended or was asked already.
pub fn stop(
    workload: &Workload,
    placement: Option<&Placement>,
    grace: Option<Span>,
    now: Timestamp,
) -> Option<Stop> {
    if workload.desired == Desired::Stop
        || workload.state.is_settled() && workload.state.kind() != TaskStateKind::Lost
    {
        return None;
    }
    let mut task = workload.clone();
    task.desired = Desired::Stop;
    task.generation = workload.generation.next();
    task.time_modified = now;
    let mut events = vec![(EventKind::TaskKillRequested, "asked to stop".to_owned())];
    if let Ok(state) = workload.state.apply(Desired::Stop, TaskEvent::Cancelled) {
        task.state = state;
        task.time_ended = Some(now);
        events.push((EventKind::TaskKilled, "stopped before it was given to a node".to_owned()));
        return Some(Stop { workload: task, placement: None, events });
    }
    let placement = placement.filter(|p| !p.is_released).map(|p| Placement {
        desired: Desired::Stop,
        stop_grace: grace,
        time_modified: now,
        ..p.clone()
    });
    Some(Stop { workload: task, placement, events })
}

fn step(run: &mut Run, event: RunEvent) {
    if let Some(next) = run.state.apply(event) {
        run.state = next;
    }
}

fn follow(
    task: &mut Workload,
    events: &mut Vec<(EventKind, String)>,
    event: TaskEvent,
    placement: &Placement,
) {
    if task.state.placement() != Some(placement.id) {
        return;
    }
    let was_lost = task.state.kind() == TaskStateKind::Lost;
    let Ok(next) = task.state.apply(task.desired, event) else {
        return;
    };
    if was_lost {
        events.push((EventKind::TaskFound, "found again on its node".to_owned()));
    }
    let is_resumed =
        task.state.kind() == TaskStateKind::Paused && next.kind() == TaskStateKind::Running;
    events.push(match is_resumed {
        true => (EventKind::TaskResumed, "goes on".to_owned()),
        false => describe(&next),
    });
    task.state = next;
}

fn describe(state: &TaskState) -> (EventKind, String) {
    match state {
        TaskState::PendingApproval => {
            (EventKind::TaskApprovalRequested, "waits for somebody to agree".to_owned())
        }
        TaskState::Rejected { why, .. } => (EventKind::TaskRejected, why.clone()),
        TaskState::Pending => (EventKind::TaskCreated, "waits to be placed".to_owned()),
        TaskState::Assigning { .. } => (EventKind::TaskAssigned, "given to a node".to_owned()),
        TaskState::Running { .. } => (EventKind::TaskStarted, "running".to_owned()),
        TaskState::Paused { .. } => (EventKind::TaskPaused, "paused".to_owned()),
        TaskState::KilledOom { exit, .. } => (EventKind::TaskOom, exit.to_string()),
        TaskState::Stopped { exit, .. } => (EventKind::TaskStopped, exit.to_string()),
        TaskState::Completed { exit, .. } => (EventKind::TaskCompleted, exit.to_string()),
        TaskState::Failed { exit, .. } => (EventKind::TaskFailed, exit.to_string()),
        TaskState::Killed { exit, .. } => (
            EventKind::TaskKilled,
            exit.as_ref().map_or_else(|| "stopped before it ran".to_owned(), ToString::to_string),
        ),
        TaskState::Lost { why, .. } => (EventKind::TaskLost, why.clone()),
    }
}

fn finish(mut change: Change, mut task: Workload, before: &Workload, now: Timestamp) -> Outcome {
    change.placement.time_modified = now;
    if task.state != before.state {
        task.generation = before.generation.next();
        task.time_modified = now;
        task.time_ended = match task.state.is_settled() {
            true => Some(task.state.exit().map_or(now, |exit| exit.time)),
            false => None,
        };
        change.workload = Some(task);
    }
    Outcome::Changed(Box::new(change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use hostler_model::{
        Generation, NodeId, PlacementId, PrincipalId, ProjectId, Reservation, RunId, RunState,
        WorkloadId, WorkloadSpec,
    };
    use uuid::Uuid;

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
        let gone =
            lost(&run, &placement, &workload, "the node went away", Timestamp::from_micros(10))
                .unwrap();
        let task = gone.workload.unwrap();
        assert_eq!(task.state.kind(), TaskStateKind::Lost);
        assert!(
            lost(&gone.run, &gone.placement, &task, "again", Timestamp::from_micros(11)).is_none()
        );
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
        task.state =
            TaskState::Assigning { placement: PlacementId::from_uuid(Uuid::from_u128(77)) };
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
}
