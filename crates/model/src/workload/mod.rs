//! Workloads, their placements and runs.
//!
//! A *task* is submitted, runs once and is a record then. A *service* is applied by name and kept as
//! its spec says, on one node or many, until it is removed; its agents make its runs.

mod array;
mod assignment;
mod exit;
mod reservation;
mod run;
mod service;
mod state;
mod status;

pub use array::{TaskArray, TaskSeat};
pub use assignment::Assignment;
pub use exit::{Exit, ExitReason};
pub use reservation::{CpuSet, GangSeat, GpuHold, Reservation};
pub use run::{
    Desired, Origin, Placement, Report, ReportState, Run, RunCause, RunEvent, RunState,
    RunStateKind,
};
pub use service::Service;
pub use state::{IllegalTransition, TaskEvent, TaskState, TaskStateKind};
pub use status::{Health, Phase, PlacementStatus, StatusReport};

use std::sync::Arc;

use crate::{
    Generation, Name, PrincipalId, ProjectId, Timestamp, TraceContext, WorkloadId, WorkloadSpec,
};

crate::labels! {
    /// Where a program writes.
    pub enum OutputStream ("output stream") {
        Stdout = "stdout",
        Stderr = "stderr",
    }
}

/// A task as stored and reasoned about.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    pub id: WorkloadId,
    pub project_id: ProjectId,
    pub name: Name,
    /// Shared with the other tasks of an array.
    pub spec: Arc<WorkloadSpec>,
    /// What its user wants; written by the service.
    pub desired: Desired,
    /// How it stands; written from placement decisions and agents' reports through one function.
    pub state: TaskState,
    /// Its place in an array.
    pub seat: Option<TaskSeat>,
    /// How often it was given to a node.
    pub attempts: u32,
    /// From when on it may be placed; absent while it waits for other tasks.
    pub time_ready: Option<Timestamp>,
    /// When it is given up if it has not been placed.
    pub time_give_up: Option<Timestamp>,
    /// The trace that it was submitted in.
    pub trace: Option<TraceContext>,
    /// Of this row.
    pub generation: Generation,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
    pub time_ended: Option<Timestamp>,
}
