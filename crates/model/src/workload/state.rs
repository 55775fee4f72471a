//! States of a task.
//!
//! ```text
//!             placed               started              exited
//!   pending ----------> assigning ---------> running ------------> completed | failed | killed
//!      |  ^                |  |                 |                        ^
//!      |  '-- returned ----'  '---- lost -------+-----> lost ------------'
//!      '---- cancelled ----> killed                      '-- found --> running
//! ```
//!
//! Owner and deadline of each: `pending` is owned by the placement reconciler and waits for as long
//! as the user lets it, always with its reasons on record; `assigning` and `running` are owned by the
//! node's agent, and by the liveness reconciler once the node is quiet; `lost` is a verdict of the
//! control plane that an agent which comes back may still correct. The rest are final.

use serde::{Deserialize, Serialize};

use super::{Desired, Exit, ExitReason};
use crate::{PlacementId, RunId, Timestamp};

crate::labels! {
    pub enum TaskStateKind ("task state") {
        Pending = "pending",
        Assigning = "assigning",
        Running = "running",
        Completed = "completed",
        Failed = "failed",
        Killed = "killed",
        Lost = "lost",
    }
}

impl TaskStateKind {
    /// Nothing further will happen unless an agent that was thought lost comes back.
    pub const SETTLED: &'static [TaskStateKind] = &[
        TaskStateKind::Completed,
        TaskStateKind::Failed,
        TaskStateKind::Killed,
        TaskStateKind::Lost,
    ];
    /// States that hold resources of a node.
    pub const OCCUPYING: &'static [TaskStateKind] =
        &[TaskStateKind::Assigning, TaskStateKind::Running];

    pub fn is_settled(self) -> bool {
        Self::SETTLED.contains(&self)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum TaskState {
    Pending,
    Assigning {
        placement: PlacementId,
    },
    Running {
        placement: PlacementId,
        run: RunId,
    },
    Completed {
        run: RunId,
        exit: Exit,
    },
    Failed {
        run: RunId,
        exit: Exit,
    },
    /// Stopped because somebody asked; `exit` is absent when it never started.
    Killed {
        run: Option<RunId>,
        exit: Option<Exit>,
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
    Placed {
        placement: PlacementId,
    },
    /// The placement was withdrawn before anything ran; the task waits again.
    Returned,
    Started {
        placement: PlacementId,
        run: RunId,
    },
    Exited {
        run: RunId,
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
            TaskEvent::Placed { .. } => "placed",
            TaskEvent::Returned => "returned",
            TaskEvent::Started { .. } => "started",
            TaskEvent::Exited { .. } => "exited",
            TaskEvent::Cancelled => "cancelled",
            TaskEvent::Lost { .. } => "lost",
        }
    }
}

impl TaskState {
    pub const fn kind(&self) -> TaskStateKind {
        match self {
            TaskState::Pending => TaskStateKind::Pending,
            TaskState::Assigning { .. } => TaskStateKind::Assigning,
            TaskState::Running { .. } => TaskStateKind::Running,
            TaskState::Completed { .. } => TaskStateKind::Completed,
            TaskState::Failed { .. } => TaskStateKind::Failed,
            TaskState::Killed { .. } => TaskStateKind::Killed,
            TaskState::Lost { .. } => TaskStateKind::Lost,
        }
    }

    pub fn is_settled(&self) -> bool {
        self.kind().is_settled()
    }

    pub fn exit(&self) -> Option<&Exit> {
        match self {
            TaskState::Completed { exit, .. } | TaskState::Failed { exit, .. } => Some(exit),
            TaskState::Killed { exit, .. } => exit.as_ref(),
            TaskState::Pending
            | TaskState::Assigning { .. }
            | TaskState::Running { .. }
            | TaskState::Lost { .. } => None,
        }
    }

    /// The placement that may still change this task.
    pub const fn placement(&self) -> Option<PlacementId> {
        match self {
            TaskState::Assigning { placement }
            | TaskState::Running { placement, .. }
            | TaskState::Lost { placement, .. } => Some(*placement),
            TaskState::Pending
            | TaskState::Completed { .. }
            | TaskState::Failed { .. }
            | TaskState::Killed { .. } => None,
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
        let illegal =
            |event: &TaskEvent| Err(IllegalTransition { state: self.kind(), event: event.label() });
        match (self, event) {
            (S::Pending, E::Placed { placement }) => Ok(S::Assigning { placement }),
            (S::Pending, E::Cancelled) => Ok(S::Killed { run: None, exit: None }),
            (S::Assigning { .. }, E::Returned) => Ok(match desired {
                Desired::Run => S::Pending,
                Desired::Stop | Desired::Remove => S::Killed { run: None, exit: None },
            }),
            (
                S::Assigning { placement: held } | S::Lost { placement: held, .. },
                E::Started { placement, run },
            ) if *held == placement => Ok(S::Running { placement, run }),
            (S::Assigning { .. } | S::Running { .. } | S::Lost { .. }, E::Exited { run, exit }) => {
                Ok(ended(desired, run, exit))
            }
            (S::Assigning { placement } | S::Running { placement, .. }, E::Lost { why, time }) => {
                Ok(S::Lost { placement: *placement, why, time })
            }
            (
                S::Pending
                | S::Assigning { .. }
                | S::Running { .. }
                | S::Completed { .. }
                | S::Failed { .. }
                | S::Killed { .. }
                | S::Lost { .. },
                event,
            ) => illegal(&event),
        }
    }
}

/// A run that ended because its user asked is killed, whatever its code; otherwise the code decides.
fn ended(desired: Desired, run: RunId, exit: Exit) -> TaskState {
    match (desired, exit.reason) {
        (_, ExitReason::Stopped) => TaskState::Killed { run: Some(run), exit: Some(exit) },
        _ if exit.is_success() => TaskState::Completed { run, exit },
        (Desired::Stop | Desired::Remove, ExitReason::Vanished) => {
            TaskState::Killed { run: Some(run), exit: Some(exit) }
        }
        _ => TaskState::Failed { run, exit },
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
            TaskState::Pending,
            TaskState::Assigning { placement },
            TaskState::Running { placement, run },
            TaskState::Completed { run, exit: ok.clone() },
            TaskState::Failed { run, exit: exit(ExitReason::Exited, Some(3)) },
            TaskState::Killed { run: None, exit: None },
            TaskState::Lost { placement, why: "gone".into(), time },
        ];
        let events = vec![
            TaskEvent::Placed { placement },
            TaskEvent::Returned,
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
        for desired in [Desired::Run, Desired::Stop] {
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
                        "{:<5} {:<10} {detail:<18} {next}\n",
                        desired.label(),
                        state.kind()
                    ));
                }
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn final_states_never_change() {
        let (states, events) = samples();
        for state in states.iter().filter(|s| s.is_settled() && s.kind() != TaskStateKind::Lost) {
            for event in &events {
                assert!(state.apply(Desired::Run, event.clone()).is_err(), "{state:?} {event:?}");
            }
        }
    }
}
