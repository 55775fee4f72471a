//! How a workload stands on one node, when the agent makes its runs.
//!
//! ```text
//!   waiting --> starting --> running --+--> backoff --> starting ..
//!      ^           |            |      +--> idle (a schedule, until its next time)
//!      |           |            |      +--> completed | failed
//!      |           '------------+--> stopping --> stopped | removed
//!      '--- started again, or changed ---'
//! ```
//!
//! Nothing rests without an owner: the node's agent owns all of them. `waiting` ends when what it
//! waits for is there, `backoff` and `idle` at a time that is told, `starting` and `stopping` by their
//! own deadlines; `stopped`, `completed` and `failed` last until somebody starts or changes it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Exit, ExitReason};
use crate::{Generation, PlacementId, Timestamp};

crate::labels! {
    pub enum Phase ("phase") {
        /// Another workload has to be there first.
        Waiting = "waiting",
        Starting = "starting",
        Running = "running",
        /// It ended and will be started again.
        Backoff = "backoff",
        /// It will run when its next time comes.
        Idle = "idle",
        Stopping = "stopping",
        Stopped = "stopped",
        Completed = "completed",
        /// It will not be started again by itself.
        Failed = "failed",
        /// Nothing is held of it any more.
        Removed = "removed",
    }
}

impl Phase {
    /// There is a process, or there is about to be one or to be none.
    pub const LIVE: &'static [Phase] = &[Phase::Starting, Phase::Running, Phase::Stopping];
    /// Nothing further happens unless somebody asks for it.
    pub const SETTLED: &'static [Phase] =
        &[Phase::Stopped, Phase::Completed, Phase::Failed, Phase::Removed];
}

crate::labels! {
    /// What the health checks of a run say.
    pub enum Health ("health") {
        Healthy = "healthy",
        Unhealthy = "unhealthy",
    }
}

/// How a workload stands on one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlacementStatus {
    pub phase: Phase,
    /// Why, where that needs words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Absent before the checks have said anything, and where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// What should be looked at although it runs: memory that runs short, limits that the node cannot
    /// put into force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// When it will be started next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Timestamp>,
    /// Runs so far, since it was last changed or started by hand.
    pub runs: u64,
    /// Failures in a row.
    pub failures: u32,
    /// Scheduled times that were left out, ever.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// Ended runs that could not be told of, ever: too many ended while no server was there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untold: u64,
    /// How often it was started again by itself, ever, by how the run before had ended.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub restarts: BTreeMap<ExitReason, u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_exit: Option<Exit>,
    /// Of the assignment it stands under.
    pub revision: Generation,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl PlacementStatus {
    pub fn new(phase: Phase, revision: Generation) -> PlacementStatus {
        PlacementStatus {
            phase,
            reason: None,
            health: None,
            warning: None,
            next: None,
            runs: 0,
            failures: 0,
            missed: 0,
            untold: 0,
            restarts: BTreeMap::new(),
            last_exit: None,
            revision,
        }
    }
}

/// What an agent says of one placement: always how it stands now, numbered by the agent.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusReport {
    pub placement_id: PlacementId,
    pub generation: Generation,
    pub status: PlacementStatus,
}
