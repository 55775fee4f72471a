//! What a node is told about one placement, and what its agent keeps of it.

use serde::{Deserialize, Serialize};

use super::{Desired, Reservation, TaskSeat};
use crate::{Generation, Name, PlacementId, RunId, Span, TraceContext, WorkloadId, WorkloadSpec};

/// One placement as its node needs to know it: everything to run it without asking again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    pub placement_id: PlacementId,
    /// The one run to make of it, for a task; absent where the agent makes runs as the mode says.
    pub run_id: Option<RunId>,
    pub desired: Desired,
    /// The node's desired generation at which this last changed.
    pub generation: Generation,
    pub workload_id: WorkloadId,
    pub workload_name: Name,
    pub project_name: Name,
    pub spec: WorkloadSpec,
    /// Overrides the spec's grace period when it is to stop.
    pub grace: Option<Span>,
    /// Which cores and devices are its own.
    #[serde(default)]
    pub reservation: Reservation,
    /// Its place in an array, for a task of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<TaskSeat>,
    /// The trace that it was asked for in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
    /// Grows when the spec changes, and when what runs is to be replaced by a new run. What was started
    /// under an older one is stopped, and counting starts anew.
    #[serde(default)]
    pub revision: Generation,
}
