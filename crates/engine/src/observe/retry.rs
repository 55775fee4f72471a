//! Whether a task that has just ended is tried again, and when.
//!
//! What gave way to another gets its turn again at once and without counting; anything else is as the
//! task's own policy says.

use hostler_model::{
    Desired, EventKind, Exit, ExitReason, Placement, RetryOn, RetryPolicy, Span, TaskEvent,
    TaskState, Timestamp, Workload,
};

/// An end after which a task may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// As its own policy says.
    Policy(RetryOn),
    /// It was stopped for another one, and gets its turn again without counting.
    Preempted,
}

pub(super) fn end_kind(task: &Workload, placement: &Placement, exit: &Exit) -> Option<End> {
    let is_ours = exit.reason == ExitReason::Stopped && placement.desired == Desired::Stop;
    if is_ours && task.spec.queue.preemptible {
        return Some(End::Preempted);
    }
    RetryPolicy::kind_of(exit).map(End::Policy)
}

/// Puts a task that has just ended back into the queue, if it is to be tried again.
pub(super) fn retry(
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
