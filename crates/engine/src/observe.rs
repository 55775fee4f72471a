//! Observation: what an agent's report, or a verdict of ours, does to run, placement and task.
//!
//! A report is applied only when it is newer than the last one applied to its run. The task follows
//! its run only while the run's placement is the one the task points at, so that a placement that was
//! replaced can still be observed without touching the task. Whether a task is tried again after an end
//! is decided here too ([`retry`]), in the same step: it never rests in a state from which it would have to be
//! fetched back.
//!
//! What agents say of services is taken in [`service`].

mod retry;
pub mod service;
mod stop;

use hostler_model::{
    Desired, EventKind, Freshness, Placement, Report, ReportState, RetryOn, Run, RunEvent,
    RunStateKind, TaskEvent, TaskState, TaskStateKind, Timestamp, Workload,
};

pub use retry::again;
pub use stop::{Stop, give_up, stop};

use retry::{End, end_kind, retry};

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
mod tests;
