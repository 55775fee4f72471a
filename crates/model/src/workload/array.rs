//! Task arrays: many tasks with one spec.
//!
//! A *gang* is an array whose tasks run at the same time on as many nodes, or not at all; when one of
//! them fails, the others are stopped.

use serde::{Deserialize, Serialize};

use crate::{
    ArrayId, ArrayRange, Generation, Name, PrincipalId, ProjectId, Timestamp, TraceContext,
    WorkloadSpec,
};

/// Many tasks with one spec.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskArray {
    pub id: ArrayId,
    pub project_id: ProjectId,
    pub name: Name,
    pub spec: WorkloadSpec,
    pub range: ArrayRange,
    pub is_gang: bool,
    /// No more tasks are made of it.
    pub is_stopped: bool,
    /// The trace that it was submitted in; its tasks are part of it.
    pub trace: Option<TraceContext>,
    /// Of this row.
    pub generation: Generation,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// The place of a task in its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TaskSeat {
    pub array: ArrayId,
    pub index: u32,
}
