//! Ends that are wanted from here: a task is asked to stop, or is given up while it waits.

use hostler_model::{
    Desired, EventKind, Exit, ExitReason, Placement, Span, TaskEvent, TaskStateKind, Timestamp,
    Workload,
};

use super::describe;

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
