//! A service: a workload that somebody applied by name, to be kept as its spec says.
//!
//! Two numbers grow with it. The *generation* is of the row and fences updates. The *revision* is what
//! its agents follow: it grows when what runs has to be replaced, and not when only the number or
//! place of its placements, or the words to find it by, are changed.

use super::Desired;
use crate::{
    Generation, Name, PlacementRules, PrincipalId, ProjectId, Timestamp, TraceContext, WorkloadId,
    WorkloadSpec,
};

#[derive(Clone, Debug, PartialEq)]
pub struct Service {
    pub id: WorkloadId,
    pub project_id: ProjectId,
    pub name: Name,
    pub spec: WorkloadSpec,
    /// `Remove` is final: the row goes when nothing is left of it on any node.
    pub desired: Desired,
    pub revision: Generation,
    /// The trace of the request that last had something begun.
    pub trace: Option<TraceContext>,
    /// Of this row.
    pub generation: Generation,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

impl Service {
    /// Whether what runs has to be replaced when the spec becomes this one.
    pub fn is_replaced_by(&self, spec: &WorkloadSpec) -> bool {
        let what_runs = |spec: &WorkloadSpec| WorkloadSpec {
            placement: PlacementRules::default(),
            tags: Vec::new(),
            ..spec.clone()
        };
        what_runs(&self.spec) != what_runs(spec)
    }
}
