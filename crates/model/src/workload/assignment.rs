//! What a node is told about one placement, and what its agent keeps of it.

use serde::{Deserialize, Serialize};

use super::Desired;
use crate::{Generation, Name, PlacementId, RunId, Span, WorkloadId, WorkloadSpec};

/// One placement as its node needs to know it: everything to run it without asking again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    pub placement_id: PlacementId,
    pub run_id: RunId,
    pub desired: Desired,
    /// The node's desired generation at which this last changed.
    pub generation: Generation,
    pub workload_id: WorkloadId,
    pub workload_name: Name,
    pub project_name: Name,
    pub spec: WorkloadSpec,
    /// Overrides the spec's grace period when it is to stop.
    pub grace: Option<Span>,
}
