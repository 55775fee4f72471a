//! Workflows that a server keeps, and their executions.
//!
//! ```text
//!   preparing --> beginning --its first handlers are done--> running --nothing is left--> settling --> finishing --> ended
//!                     '------------------ nothing is called first ---^        '-- nothing is called last --^
//! ```
//!
//! `preparing` and `settling` are there for what is done for a stack ([`StackCare`]), where something is.
//!
//! An execution is a row, its steps are rows, and whatever it has done on nodes (a try of a step, what undoes one,
//! what is called at its beginning and end) is a job: a task that was submitted in the same transaction that says so.
//! Owner and deadline: every state but `ended` is owned by the reconciler `execution`, which looks whenever a job has
//! ended and when `time_due` has come.

use serde::{Deserialize, Serialize};

use super::{ExecutionOutcome, ModuleRef, StackCare, Standing, StepEnd, Workflow};
use crate::{
    ApprovalId, Digest, ExecutionId, Generation, Name, PrincipalId, ProjectId, SecretRef,
    Timestamp, TraceContext, WorkflowId, WorkloadId,
};

/// One version of a workflow. Versions are numbered by name and never change.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowVersion {
    pub id: WorkflowId,
    pub project_id: ProjectId,
    pub name: String,
    pub version: u32,
    /// The text of the file and of what it imports.
    pub bundle: Digest,
    /// The name of the file.
    pub file: String,
    /// As it was when it was kept, with the values of then.
    pub graph: Workflow,
    /// Modules of the project that are part of the text, as they were then.
    pub modules: Vec<ModuleRef>,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
}

/// One execution of a version.
#[derive(Clone, Debug, PartialEq)]
pub struct Execution {
    pub id: ExecutionId,
    pub project_id: ProjectId,
    pub workflow: String,
    pub version: u32,
    pub bundle: Digest,
    /// As it is with these values.
    pub graph: Workflow,
    pub values: serde_json::Value,
    pub options: ExecutionOptions,
    pub state: ExecutionState,
    /// What is done for its stack, where something is.
    pub care: Option<StackCare>,
    pub is_cancel_requested: bool,
    /// The trace that it was begun in; the tasks of its steps are part of it.
    pub trace: Option<TraceContext>,
    pub generation: Generation,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
    /// Times of steps count from here; later than its creation when it was retried.
    pub time_begun: Timestamp,
    /// When somebody has to look at it, besides when a job of it ends.
    pub time_due: Option<Timestamp>,
    pub time_ended: Option<Timestamp>,
}

/// What an execution was asked for with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct ExecutionOptions {
    /// Only these steps and what they depend on; all when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Nodes on which steps run that do not say it themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delegate_to: Vec<String>,
    /// Secrets that bodies can ask for by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<SecretRef>,
    /// How many steps run at once where the workflow does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// Name of the stack that it is about, instead of the one that the workflow names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExecutionState {
    /// Its stack is locked, looked at and kept.
    Preparing,
    /// What is called first is being called.
    Beginning,
    Running,
    /// Its stack is looked at again, and becomes as it was where that is wanted.
    Settling(ExecutionOutcome),
    /// What is called last is being called.
    Finishing(ExecutionOutcome),
    Ended(ExecutionOutcome),
}

impl ExecutionState {
    pub const fn label(self) -> &'static str {
        match self {
            ExecutionState::Preparing => "preparing",
            ExecutionState::Beginning => "beginning",
            ExecutionState::Running => "running",
            ExecutionState::Settling(_) => "settling",
            ExecutionState::Finishing(_) => "finishing",
            ExecutionState::Ended(_) => "ended",
        }
    }

    pub const fn outcome(self) -> Option<ExecutionOutcome> {
        match self {
            ExecutionState::Settling(outcome)
            | ExecutionState::Finishing(outcome)
            | ExecutionState::Ended(outcome) => Some(outcome),
            ExecutionState::Preparing | ExecutionState::Beginning | ExecutionState::Running => None,
        }
    }

    pub const fn is_over(self) -> bool {
        matches!(self, ExecutionState::Ended(_))
    }

    /// From how it is stored.
    pub fn of(label: &str, outcome: Option<ExecutionOutcome>) -> Option<ExecutionState> {
        match (label, outcome) {
            ("preparing", None) => Some(ExecutionState::Preparing),
            ("beginning", None) => Some(ExecutionState::Beginning),
            ("running", None) => Some(ExecutionState::Running),
            ("settling", Some(outcome)) => Some(ExecutionState::Settling(outcome)),
            ("finishing", Some(outcome)) => Some(ExecutionState::Finishing(outcome)),
            ("ended", Some(outcome)) => Some(ExecutionState::Ended(outcome)),
            _ => None,
        }
    }
}

/// One step of an execution.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionStep {
    pub execution_id: ExecutionId,
    /// In the order of the definition, from 0.
    pub position: u32,
    pub name: String,
    pub standing: Standing,
    /// How often it was begun, in all.
    pub tries: u32,
    pub message: String,
    /// False when it found nothing to do.
    pub changed: Option<bool>,
    /// What was given out with `export`.
    pub exported: serde_json::Value,
    /// What it told at its end; one for every node that it ran on.
    pub results: Vec<StepTold>,
    /// Names of files that it left for others, and the archives that hold them.
    pub artifacts: Vec<StepArtifact>,
    pub is_undone: bool,
    /// What it waits for, or waited for.
    pub approval_id: Option<ApprovalId>,
    pub time_started: Option<Timestamp>,
    pub time_ended: Option<Timestamp>,
}

/// What a step told on one node: the content of its report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTold {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Name>,
    pub report: Digest,
}

/// A file that a step left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepArtifact {
    pub name: String,
    pub archive: Digest,
}

impl ExecutionStep {
    pub fn new(execution_id: ExecutionId, position: u32, name: &str) -> ExecutionStep {
        ExecutionStep {
            execution_id,
            position,
            name: name.to_owned(),
            standing: Standing::Waiting,
            tries: 0,
            message: String::new(),
            changed: None,
            exported: serde_json::Value::Null,
            results: Vec::new(),
            artifacts: Vec::new(),
            is_undone: false,
            approval_id: None,
            time_started: None,
            time_ended: None,
        }
    }
}

crate::labels! {
    /// What an execution has a node do.
    pub enum JobKind ("kind of a job") {
        /// Calls what the workflow wants called first.
        Before = "before",
        /// Tries a step.
        Try = "try",
        /// Undoes a step.
        Undo = "undo",
        /// Calls what the workflow wants called last.
        After = "after",
    }
}

/// A task that an execution submitted.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionJob {
    pub workload_id: WorkloadId,
    pub execution_id: ExecutionId,
    pub kind: JobKind,
    /// Of the step; nothing for what is about the whole.
    pub position: Option<u32>,
    /// Which try of the step, counted in all.
    pub tries: u32,
    /// The node that was named, where one was.
    pub node: Option<Name>,
    /// How it is to be reported once it was stopped.
    pub wanted: Option<StepEnd>,
    /// How it ended; nothing while it is under way.
    pub end: Option<StepEnd>,
    pub message: String,
    /// What it told at its end.
    pub result: Option<Digest>,
}
