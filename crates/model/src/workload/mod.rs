//! Workloads, their placements and runs. A task is a workload with mode once.

mod assignment;
mod exit;
mod run;
mod state;

pub use assignment::Assignment;
pub use exit::{Exit, ExitReason};
pub use run::{Desired, Placement, Report, ReportState, Run, RunEvent, RunState, RunStateKind};
pub use state::{IllegalTransition, TaskEvent, TaskState, TaskStateKind};

use crate::{Generation, Name, PrincipalId, ProjectId, Timestamp, WorkloadId, WorkloadSpec};

crate::labels! {
    /// Where a program writes.
    pub enum OutputStream ("output stream") {
        Stdout = "stdout",
        Stderr = "stderr",
    }
}

/// A workload as stored and reasoned about.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    pub id: WorkloadId,
    pub project_id: ProjectId,
    pub name: Name,
    pub spec: WorkloadSpec,
    /// What its user wants; written by the service.
    pub desired: Desired,
    /// How it stands; written from placement decisions and agents' reports through one function.
    pub state: TaskState,
    /// Of this row.
    pub generation: Generation,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
    pub time_ended: Option<Timestamp>,
}
