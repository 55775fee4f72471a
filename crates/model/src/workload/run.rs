//! Placements (one workload on one node) and runs (one execution attempt), and what agents report.
//!
//! ```text
//!   assigned --started--> running <--paused, started--> paused
//!      |                     |                             |
//!      '--------+------------+----------- exited ----------+----> exited
//!               '------------+------------- lost ----------+----> lost
//!                                                                  '-- as above: the node came back
//! ```

use serde::{Deserialize, Serialize};

use super::{Exit, PlacementStatus, Reservation};
use crate::{Generation, NodeId, PlacementId, ProjectId, RunId, Span, Timestamp, WorkloadId};

crate::labels! {
    /// What should become of a workload or placement.
    pub enum Desired ("desired state") {
        Run = "run",
        /// Started, but frozen.
        Pause = "pause",
        /// Not running, but kept.
        Stop = "stop",
        /// Not running, and nothing is kept of it but its output for a while.
        Remove = "remove",
    }
}

/// One workload on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub id: PlacementId,
    pub workload_id: WorkloadId,
    pub project_id: ProjectId,
    pub node_id: NodeId,
    /// The one run to make of it, for a task; absent for a service, whose agent makes the runs.
    pub run_id: Option<RunId>,
    pub desired: Desired,
    /// The node's `desired_generation` at which this placement last changed.
    pub desired_generation: Generation,
    /// Overrides the spec's grace period when it is to stop.
    pub stop_grace: Option<Span>,
    /// What it holds of its node until it is released.
    pub reservation: Reservation,
    /// Set once the agent has reported the end and holds nothing of it any more.
    pub is_released: bool,
    /// The service's revision that its node was told of; zero for a task.
    pub revision: Generation,
    /// How it stands, as its agent last said; for a service only.
    pub status: Option<PlacementStatus>,
    /// Of the newest status applied; older ones are ignored.
    pub status_generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// One execution attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub id: RunId,
    pub placement_id: PlacementId,
    pub workload_id: WorkloadId,
    pub project_id: ProjectId,
    pub node_id: NodeId,
    /// The how-manieth run of its placement it is, from 1 on.
    pub attempt: u32,
    /// Why its agent made it; absent for the run of a task.
    pub cause: Option<RunCause>,
    /// The time it was scheduled for.
    pub fire: Option<Timestamp>,
    pub state: RunState,
    /// Of the newest report applied; older ones are ignored.
    pub report_generation: Generation,
    pub time_created: Timestamp,
    pub time_started: Option<Timestamp>,
    pub time_ended: Option<Timestamp>,
}

crate::labels! {
    pub enum RunStateKind ("run state") {
        Assigned = "assigned",
        Running = "running",
        Paused = "paused",
        Exited = "exited",
        Lost = "lost",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum RunState {
    /// Given to a node that has not started it yet.
    Assigned,
    Running {
        pid: u32,
        since: Timestamp,
    },
    /// Frozen; `since` is when it was started.
    Paused {
        pid: u32,
        since: Timestamp,
    },
    Exited {
        exit: Exit,
    },
    /// A verdict of the control plane: the node has been gone too long.
    Lost {
        why: String,
        time: Timestamp,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEvent {
    Started { pid: u32, time: Timestamp },
    Paused { pid: u32, time: Timestamp },
    Exited { exit: Exit },
    Lost { why: String, time: Timestamp },
}

impl RunState {
    pub const fn kind(&self) -> RunStateKind {
        match self {
            RunState::Assigned => RunStateKind::Assigned,
            RunState::Running { .. } => RunStateKind::Running,
            RunState::Paused { .. } => RunStateKind::Paused,
            RunState::Exited { .. } => RunStateKind::Exited,
            RunState::Lost { .. } => RunStateKind::Lost,
        }
    }

    /// The next state; `None` where the event changes nothing.
    pub fn apply(&self, event: RunEvent) -> Option<RunState> {
        match (self, event) {
            (RunState::Exited { .. }, _)
            | (RunState::Running { .. }, RunEvent::Started { .. })
            | (RunState::Paused { .. }, RunEvent::Paused { .. })
            | (RunState::Lost { .. }, RunEvent::Lost { .. }) => None,
            (_, RunEvent::Started { pid, time }) => Some(RunState::Running { pid, since: time }),
            (_, RunEvent::Paused { pid, time }) => Some(RunState::Paused { pid, since: time }),
            (_, RunEvent::Exited { exit }) => Some(RunState::Exited { exit }),
            (_, RunEvent::Lost { why, time }) => Some(RunState::Lost { why, time }),
        }
    }
}

/// What an agent says of one run: always its latest state, numbered by the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    pub run_id: RunId,
    pub placement_id: PlacementId,
    /// Grows with every change the agent sees in this run.
    pub generation: Generation,
    pub state: ReportState,
    /// Where the run came from, when the agent made it.
    pub origin: Option<Origin>,
}

crate::labels! {
    /// Why an agent made a run.
    pub enum RunCause ("run cause") {
        /// The first one, or the first after it was stopped or changed.
        Start = "start",
        /// The one before it had ended.
        Restart = "restart",
        /// Its time had come.
        Schedule = "schedule",
    }
}

/// Where a run came from that an agent made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The how-manieth run of the placement it is, from 1 on.
    pub number: u64,
    pub cause: RunCause,
    /// The time it was scheduled for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fire: Option<Timestamp>,
    /// Of the assignment it was made under.
    pub revision: Generation,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ReportState {
    Running {
        pid: u32,
        since: Timestamp,
    },
    /// Frozen; `since` is when it was started.
    Paused {
        pid: u32,
        since: Timestamp,
    },
    /// `started` is absent when it never ran.
    Exited {
        started: Option<Timestamp>,
        pid: Option<u32>,
        exit: Exit,
    },
}
