//! States of a task.
//!
//! ```text
//!  pending_approval --approved--> pending     rejected, or killed, before that: final
//!             placed               started              exited
//!   pending ----------> assigning ---------> running ------------> completed | failed | killed
//!    ^ |  ^                |  |               |   ^                | killed_oom | stopped
//!    | |  '-- returned ----'  |         paused|   |resumed
//!    | |                      '-- lost --+--- v --'
//!    | '-- gave-up --> failed            |  paused
//!    |  '- cancelled -> killed           v
//!    '------ requeued ------ any end, lost ---- found --> running
//! ```
//!
//! Owner and deadline of each: `pending_approval` is owned by who may approve, until it expires;
//! `pending` is owned by the placement reconciler and waits for as long as the user lets it, always
//! with its reasons on record; `assigning`, `running` and `paused` are owned by the node's agent, and
//! by the liveness reconciler once the node is quiet; `lost` is a verdict of the control plane that an
//! agent which comes back may still correct. The rest are final: only a retry, which is decided in the
//! same step as the end itself, puts a task back into the queue.

use serde::{Deserialize, Serialize};

use super::{Desired, Exit, ExitReason};
use crate::{PlacementId, RunId, Timestamp};

crate::labels! {
    pub enum TaskStateKind ("task state") {
        PendingApproval = "pending_approval",
        Rejected = "rejected",
        Pending = "pending",
        Assigning = "assigning",
        Running = "running",
        Paused = "paused",
        Completed = "completed",
        Failed = "failed",
        Killed = "killed",
        KilledOom = "killed_oom",
        Stopped = "stopped",
        Lost = "lost",
    }
}

impl TaskStateKind {
    /// Nothing further will happen unless an agent that was thought lost comes back.
    pub const SETTLED: &'static [TaskStateKind] = &[
        TaskStateKind::Rejected,
        TaskStateKind::Completed,
        TaskStateKind::Failed,
        TaskStateKind::Killed,
        TaskStateKind::KilledOom,
        TaskStateKind::Stopped,
        TaskStateKind::Lost,
    ];
    /// States that hold resources of a node.
    pub const OCCUPYING: &'static [TaskStateKind] =
        &[TaskStateKind::Assigning, TaskStateKind::Running, TaskStateKind::Paused];
    /// States in which nothing was given to a node yet.
    pub const WAITING: &'static [TaskStateKind] =
        &[TaskStateKind::PendingApproval, TaskStateKind::Pending];

    pub fn is_settled(self) -> bool {
        Self::SETTLED.contains(&self)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TaskState {
    /// Somebody has to agree first.
    PendingApproval,
    Rejected {
        why: String,
        time: Timestamp,
    },
    Pending,
    Assigning {
        placement: PlacementId,
    },
    Running {
        placement: PlacementId,
        run: RunId,
    },
    /// Frozen on its node: it keeps what it holds but gets no processor time.
    Paused {
        placement: PlacementId,
        run: RunId,
    },
    Completed {
        run: RunId,
        exit: Exit,
    },
    /// `run` is absent when it was given up before it ran.
    Failed {
        #[serde(default)]
        run: Option<RunId>,
        exit: Exit,
    },
    /// Stopped because somebody asked; `exit` is absent when it never started.
    Killed {
        run: Option<RunId>,
        exit: Option<Exit>,
    },
    /// The kernel killed it for memory.
    KilledOom {
        run: RunId,
        exit: Exit,
    },
    /// Stopped by Hostler itself, for others or for its node, and not put back into the queue.
    Stopped {
        run: RunId,
        exit: Exit,
    },
    Lost {
        placement: PlacementId,
        why: String,
        time: Timestamp,
    },
}

/// What can happen to a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEvent {
    Approved,
    Rejected {
        why: String,
        time: Timestamp,
    },
    Placed {
        placement: PlacementId,
    },
    /// It waits to be tried again after it was lost, and its node came back with it first.
    Found {
        placement: PlacementId,
    },
    /// The placement was withdrawn before anything ran; the task waits again.
    Returned,
    Started {
        placement: PlacementId,
        run: RunId,
    },
    Paused {
        placement: PlacementId,
        run: RunId,
    },
    Exited {
        run: RunId,
        exit: Exit,
    },
    /// It is to be tried again after an end, or after it was lost.
    Requeued,
    /// It will never run: too late, or what it waited for ended otherwise.
    GaveUp {
        exit: Exit,
    },
    /// Killed while nothing was assigned.
    Cancelled,
    Lost {
        why: String,
        time: Timestamp,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a task that is {state} cannot take the event {event}")]
pub struct IllegalTransition {
    pub state: TaskStateKind,
    pub event: &'static str,
}

impl TaskEvent {
    pub const fn label(&self) -> &'static str {
        match self {
            TaskEvent::Approved => "approved",
            TaskEvent::Rejected { .. } => "rejected",
            TaskEvent::Placed { .. } => "placed",
            TaskEvent::Found { .. } => "found",
            TaskEvent::Returned => "returned",
            TaskEvent::Started { .. } => "started",
            TaskEvent::Paused { .. } => "paused",
            TaskEvent::Exited { .. } => "exited",
            TaskEvent::Requeued => "requeued",
            TaskEvent::GaveUp { .. } => "gave-up",
            TaskEvent::Cancelled => "cancelled",
            TaskEvent::Lost { .. } => "lost",
        }
    }
}

impl TaskState {
    pub const fn kind(&self) -> TaskStateKind {
        match self {
            TaskState::PendingApproval => TaskStateKind::PendingApproval,
            TaskState::Rejected { .. } => TaskStateKind::Rejected,
            TaskState::Pending => TaskStateKind::Pending,
            TaskState::Assigning { .. } => TaskStateKind::Assigning,
            TaskState::Running { .. } => TaskStateKind::Running,
            TaskState::Paused { .. } => TaskStateKind::Paused,
            TaskState::Completed { .. } => TaskStateKind::Completed,
            TaskState::Failed { .. } => TaskStateKind::Failed,
            TaskState::Killed { .. } => TaskStateKind::Killed,
            TaskState::KilledOom { .. } => TaskStateKind::KilledOom,
            TaskState::Stopped { .. } => TaskStateKind::Stopped,
            TaskState::Lost { .. } => TaskStateKind::Lost,
        }
    }

    pub fn is_settled(&self) -> bool {
        self.kind().is_settled()
    }

    pub fn exit(&self) -> Option<&Exit> {
        match self {
            TaskState::Completed { exit, .. }
            | TaskState::Failed { exit, .. }
            | TaskState::KilledOom { exit, .. }
            | TaskState::Stopped { exit, .. } => Some(exit),
            TaskState::Killed { exit, .. } => exit.as_ref(),
            TaskState::PendingApproval
            | TaskState::Rejected { .. }
            | TaskState::Pending
            | TaskState::Assigning { .. }
            | TaskState::Running { .. }
            | TaskState::Paused { .. }
            | TaskState::Lost { .. } => None,
        }
    }

    /// The placement that may still change this task.
    pub const fn placement(&self) -> Option<PlacementId> {
        match self {
            TaskState::Assigning { placement }
            | TaskState::Running { placement, .. }
            | TaskState::Paused { placement, .. }
            | TaskState::Lost { placement, .. } => Some(*placement),
            TaskState::PendingApproval
            | TaskState::Rejected { .. }
            | TaskState::Pending
            | TaskState::Completed { .. }
            | TaskState::Failed { .. }
            | TaskState::Killed { .. }
            | TaskState::KilledOom { .. }
            | TaskState::Stopped { .. } => None,
        }
    }

    /// The run that it is, or was, about.
    pub const fn run(&self) -> Option<RunId> {
        match self {
            TaskState::Running { run, .. }
            | TaskState::Paused { run, .. }
            | TaskState::Completed { run, .. }
            | TaskState::KilledOom { run, .. }
            | TaskState::Stopped { run, .. } => Some(*run),
            TaskState::Failed { run, .. } | TaskState::Killed { run, .. } => *run,
            TaskState::PendingApproval
            | TaskState::Rejected { .. }
            | TaskState::Pending
            | TaskState::Assigning { .. }
            | TaskState::Lost { .. } => None,
        }
    }

    /// The one place where a task changes state.
    pub fn apply(
        &self,
        desired: Desired,
        event: TaskEvent,
    ) -> Result<TaskState, IllegalTransition> {
        use TaskEvent as E;
        use TaskState as S;
        let is_wanted = matches!(desired, Desired::Run | Desired::Pause);
        match (self, event) {
            (S::PendingApproval, E::Approved) => Ok(S::Pending),
            (S::PendingApproval, E::Rejected { why, time }) => Ok(S::Rejected { why, time }),
            (S::PendingApproval | S::Pending, E::Cancelled) => {
                Ok(S::Killed { run: None, exit: None })
            }
            (S::PendingApproval | S::Pending, E::GaveUp { exit }) => {
                Ok(S::Failed { run: None, exit })
            }
            (S::Pending, E::Placed { placement } | E::Found { placement }) => {
                Ok(S::Assigning { placement })
            }
            (S::Assigning { .. }, E::Returned) if is_wanted => Ok(S::Pending),
            (S::Assigning { .. }, E::Returned) => Ok(S::Killed { run: None, exit: None }),
            (
                S::Assigning { placement: held }
                | S::Paused { placement: held, .. }
                | S::Lost { placement: held, .. },
                E::Started { placement, run },
            ) if *held == placement => Ok(S::Running { placement, run }),
            (
                S::Assigning { placement: held }
                | S::Running { placement: held, .. }
                | S::Lost { placement: held, .. },
                E::Paused { placement, run },
            ) if *held == placement => Ok(S::Paused { placement, run }),
            (
                S::Assigning { .. } | S::Running { .. } | S::Paused { .. } | S::Lost { .. },
                E::Exited { run, exit },
            ) => Ok(ended(desired, run, exit)),
            (
                S::Assigning { placement }
                | S::Running { placement, .. }
                | S::Paused { placement, .. },
                E::Lost { why, time },
            ) => Ok(S::Lost { placement: *placement, why, time }),
            (
                S::Failed { .. }
                | S::Killed { .. }
                | S::KilledOom { .. }
                | S::Stopped { .. }
                | S::Lost { .. },
                E::Requeued,
            ) if is_wanted => Ok(S::Pending),
            (_, event) => Err(IllegalTransition { state: self.kind(), event: event.label() }),
        }
    }
}

/// A run that ended because its user asked is killed, whatever its code; otherwise the code decides.
fn ended(desired: Desired, run: RunId, exit: Exit) -> TaskState {
    let is_wanted = matches!(desired, Desired::Run | Desired::Pause);
    match exit.reason {
        ExitReason::Stopped if is_wanted => TaskState::Stopped { run, exit },
        ExitReason::Stopped => TaskState::Killed { run: Some(run), exit: Some(exit) },
        ExitReason::OutOfMemory => TaskState::KilledOom { run, exit },
        _ if exit.is_success() => TaskState::Completed { run, exit },
        ExitReason::Vanished if !is_wanted => {
            TaskState::Killed { run: Some(run), exit: Some(exit) }
        }
        _ => TaskState::Failed { run: Some(run), exit },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn samples() -> (Vec<TaskState>, Vec<TaskEvent>) {
        let placement = PlacementId::from_uuid(Uuid::from_u128(1));
        let run = RunId::from_uuid(Uuid::from_u128(2));
        let time = Timestamp::EPOCH;
        let exit = |reason, code| Exit { reason, code, signal: None, message: None, time };
        let ok = exit(ExitReason::Exited, Some(0));
        let states = vec![
            TaskState::PendingApproval,
            TaskState::Rejected { why: "no".into(), time },
            TaskState::Pending,
            TaskState::Assigning { placement },
            TaskState::Running { placement, run },
            TaskState::Paused { placement, run },
            TaskState::Completed { run, exit: ok.clone() },
            TaskState::Failed { run: Some(run), exit: exit(ExitReason::Exited, Some(3)) },
            TaskState::Killed { run: None, exit: None },
            TaskState::KilledOom { run, exit: exit(ExitReason::OutOfMemory, None) },
            TaskState::Stopped { run, exit: exit(ExitReason::Stopped, None) },
            TaskState::Lost { placement, why: "gone".into(), time },
        ];
        let events = vec![
            TaskEvent::Approved,
            TaskEvent::Rejected { why: "no".into(), time },
            TaskEvent::Placed { placement },
            TaskEvent::Found { placement },
            TaskEvent::Returned,
            TaskEvent::Paused { placement, run },
            TaskEvent::Requeued,
            TaskEvent::GaveUp { exit: exit(ExitReason::GivenUp, None) },
            TaskEvent::Exited { run, exit: exit(ExitReason::OutOfMemory, None) },
            TaskEvent::Started { placement, run },
            TaskEvent::Started { placement: PlacementId::from_uuid(Uuid::from_u128(99)), run },
            TaskEvent::Exited { run, exit: ok },
            TaskEvent::Exited { run, exit: exit(ExitReason::Exited, Some(3)) },
            TaskEvent::Exited { run, exit: exit(ExitReason::Stopped, None) },
            TaskEvent::Exited { run, exit: exit(ExitReason::Vanished, None) },
            TaskEvent::Cancelled,
            TaskEvent::Lost { why: "gone".into(), time },
        ];
        (states, events)
    }

    #[test]
    fn transition_table() {
        let (states, events) = samples();
        let mut table = String::new();
        for desired in [Desired::Run, Desired::Pause, Desired::Stop] {
            for state in &states {
                for event in &events {
                    let detail = match event {
                        TaskEvent::Exited { exit, .. } => format!(
                            "exited({})",
                            exit.code.map_or(exit.reason.label().to_owned(), |c| c.to_string())
                        ),
                        TaskEvent::Started { placement, .. }
                            if placement.uuid().as_u128() == 99 =>
                        {
                            "started(other)".to_owned()
                        }
                        other => other.label().to_owned(),
                    };
                    let next = state
                        .apply(desired, event.clone())
                        .map_or("-".to_owned(), |s| s.kind().to_string());
                    table.push_str(&format!(
                        "{:<5} {:<16} {detail:<18} {next}\n",
                        desired.label(),
                        state.kind()
                    ));
                }
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn final_states_never_change_but_by_a_retry() {
        let (states, events) = samples();
        for state in states.iter().filter(|s| s.is_settled() && s.kind() != TaskStateKind::Lost) {
            for event in events.iter().filter(|event| **event != TaskEvent::Requeued) {
                assert!(state.apply(Desired::Run, event.clone()).is_err(), "{state:?} {event:?}");
            }
        }
    }
}
