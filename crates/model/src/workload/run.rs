//! Placements (one workload on one node) and runs (one execution attempt), and what agents report.
//!
//! ```text
//!   assigned --started--> running --exited--> exited
//!      |  \______________exited_______________/  ^
//!      '------lost------> lost <---lost-- running |
//!                           '--started--> running  (the node came back with it)
//!                           '--exited-------------'
//! ```

use serde::{Deserialize, Serialize};

use super::Exit;
use crate::{Generation, NodeId, PlacementId, ProjectId, RunId, Span, Timestamp, WorkloadId};

crate::labels! {
    /// What should become of a workload or placement.
    pub enum Desired ("desired state") {
        Run = "run",
        Stop = "stop",
    }
}

/// One workload on one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub id: PlacementId,
    pub workload_id: WorkloadId,
    pub project_id: ProjectId,
    pub node_id: NodeId,
    /// The run the agent is to make of it (mode once makes exactly one).
    pub run_id: RunId,
    pub desired: Desired,
    /// The node's `desired_generation` at which this placement last changed.
    pub desired_generation: Generation,
    /// Overrides the spec's grace period when it is to stop.
    pub stop_grace: Option<Span>,
    /// Set once the agent has reported the end and holds nothing of it any more.
    pub is_released: bool,
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
    pub attempt: u32,
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
    Exited { exit: Exit },
    Lost { why: String, time: Timestamp },
}

impl RunState {
    pub const fn kind(&self) -> RunStateKind {
        match self {
            RunState::Assigned => RunStateKind::Assigned,
            RunState::Running { .. } => RunStateKind::Running,
            RunState::Exited { .. } => RunStateKind::Exited,
            RunState::Lost { .. } => RunStateKind::Lost,
        }
    }

    /// The next state; `None` where the event changes nothing.
    pub fn apply(&self, event: RunEvent) -> Option<RunState> {
        match (self, event) {
            (RunState::Assigned | RunState::Lost { .. }, RunEvent::Started { pid, time }) => {
                Some(RunState::Running { pid, since: time })
            }
            (
                RunState::Assigned | RunState::Running { .. } | RunState::Lost { .. },
                RunEvent::Exited { exit },
            ) => Some(RunState::Exited { exit }),
            (RunState::Assigned | RunState::Running { .. }, RunEvent::Lost { why, time }) => {
                Some(RunState::Lost { why, time })
            }
            (RunState::Running { .. } | RunState::Exited { .. }, RunEvent::Started { .. })
            | (RunState::Exited { .. }, RunEvent::Exited { .. })
            | (RunState::Exited { .. } | RunState::Lost { .. }, RunEvent::Lost { .. }) => None,
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
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ReportState {
    Running {
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
