//! Operations: durable, resumable, cancellable changes with steps a person can watch.
//!
//! ```text
//!   pending --claimed--> running --all steps done--> succeeded
//!      |                   |  '--a step failed-----> failed
//!      '--cancel----> cancelled <--cancel, between steps--'
//! ```
//!
//! Any server may carry an operation on: it claims it with a lease and an adoption number, and every
//! later write names that number, so that a server which lost the lease can change nothing.

use serde::{Deserialize, Serialize};

use crate::host::HostDeed;
use crate::node_backup::RestoreSpec;
use crate::{
    Actor, Generation, ImageId, ImageSource, Name, NodeBackupId, NodeId, OperationId, ProjectId,
    ServerId, Timestamp,
};

crate::labels! {
    pub enum OperationState ("operation state") {
        Pending = "pending",
        Running = "running",
        Succeeded = "succeeded",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl OperationState {
    pub const SETTLED: &'static [OperationState] =
        &[OperationState::Succeeded, OperationState::Failed, OperationState::Cancelled];
    pub fn is_settled(self) -> bool {
        Self::SETTLED.contains(&self)
    }

    /// The next state; `None` where the event changes nothing or is not allowed.
    pub const fn apply(self, event: OperationEvent) -> Option<OperationState> {
        use OperationEvent as E;
        use OperationState as S;
        match (self, event) {
            (S::Pending, E::Claimed) => Some(S::Running),
            (S::Running, E::Finished) => Some(S::Succeeded),
            (S::Running, E::StepFailed) => Some(S::Failed),
            (S::Pending | S::Running, E::Cancelled) => Some(S::Cancelled),
            (S::Pending, E::Finished | E::StepFailed)
            | (S::Running, E::Claimed)
            | (S::Succeeded | S::Failed | S::Cancelled, _) => None,
        }
    }
}

crate::labels! {
    /// What can happen to an operation.
    pub enum OperationEvent ("operation event") {
        /// A server took it up.
        Claimed = "claimed",
        /// Its last step is done.
        Finished = "finished",
        /// A step failed for good.
        StepFailed = "step-failed",
        /// It stopped on request, before or between steps.
        Cancelled = "cancelled",
    }
}

crate::labels! {
    pub enum StepState ("step state") {
        Waiting = "waiting",
        Running = "running",
        Succeeded = "succeeded",
        Failed = "failed",
        Skipped = "skipped",
    }
}

/// What an operation does, with every choice made when it was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum OperationPlan {
    /// Keep new work away from a node and wait until it is empty; after `deadline` what still runs is stopped.
    NodeDrain { node: NodeId, reason: String, deadline: Option<Timestamp> },
    /// Drain a node at once, then revoke its certificates and take it out.
    NodeRemove { node: NodeId, reason: String },
    /// Have a version of an image on nodes before anything needs it there.
    ImageSync { image: ImageId, nodes: Vec<NodeId> },
    /// Make a new version of an image from what a node has.
    ImageTake { name: Name, node: NodeId, source: ImageSource },
    /// Do something to a node's machine; after `until` nobody waits for its answer any more.
    NodeDeed { node: NodeId, deed: HostDeed, until: Timestamp },
    /// Keep what is on paths of a node; after `until` it is given up. Once it is complete, only so many of
    /// the backups of this node with its name are kept.
    NodeBackup {
        node: NodeId,
        backup: NodeBackupId,
        until: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep: Option<u32>,
    },
    /// Read a backup of a node through.
    NodeBackupVerify { node: NodeId, backup: NodeBackupId },
    /// Put a backup back, on the node that it is of or on another; after `until` nobody waits any more.
    NodeRestore { node: NodeId, backup: NodeBackupId, spec: RestoreSpec, until: Timestamp },
}

impl OperationPlan {
    pub const fn label(&self) -> &'static str {
        match self {
            OperationPlan::NodeDrain { .. } => "node-drain",
            OperationPlan::NodeRemove { .. } => "node-remove",
            OperationPlan::ImageSync { .. } => "image-sync",
            OperationPlan::ImageTake { .. } => "image-take",
            OperationPlan::NodeDeed { .. } => "node-deed",
            OperationPlan::NodeBackup { .. } => "node-backup",
            OperationPlan::NodeBackupVerify { .. } => "node-backup-verify",
            OperationPlan::NodeRestore { .. } => "node-restore",
        }
    }

    /// Names of the steps, in order.
    pub const fn steps(&self) -> &'static [&'static str] {
        match self {
            OperationPlan::NodeDrain { .. } => &["cordon", "empty"],
            OperationPlan::NodeRemove { .. } => &["cordon", "stop", "revoke", "remove"],
            OperationPlan::ImageSync { .. } => &["load"],
            OperationPlan::ImageTake { .. } => &["take"],
            OperationPlan::NodeDeed { .. } => &["do"],
            OperationPlan::NodeBackup { .. } => &["copy"],
            OperationPlan::NodeBackupVerify { .. } => &["verify"],
            OperationPlan::NodeRestore { .. } => &["restore"],
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub id: OperationId,
    /// `None` for operations on what belongs to no project.
    pub project_id: Option<ProjectId>,
    pub plan: OperationPlan,
    pub state: OperationState,
    pub steps: Vec<Step>,
    pub error: Option<String>,
    pub is_cancel_requested: bool,
    pub created_by: Actor,
    pub owner: Option<OperationOwner>,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
    pub time_ended: Option<Timestamp>,
}

/// The server that carries an operation on at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationOwner {
    pub server_id: ServerId,
    /// Grows with every change of owner; every write of a step names it.
    pub adoption: Generation,
    pub time_lease: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    pub name: String,
    pub state: StepState,
    /// Progress in words while it runs, the result afterwards.
    pub message: String,
    /// What came of it, for programs; the kind of the operation says what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<serde_json::Value>,
    pub time_started: Option<Timestamp>,
    pub time_ended: Option<Timestamp>,
}

impl Step {
    pub fn waiting(name: &str) -> Step {
        Step {
            name: name.to_owned(),
            state: StepState::Waiting,
            message: String::new(),
            result: None,
            time_started: None,
            time_ended: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_operations_never_change() {
        for state in OperationState::ALL {
            let moves = OperationEvent::ALL.iter().any(|e| state.apply(*e).is_some());
            assert_eq!(moves, !state.is_settled(), "{state}");
        }
    }

    #[test]
    fn an_operation_runs_before_it_ends_unless_cancelled() {
        use OperationEvent as E;
        use OperationState as S;
        assert_eq!(S::Pending.apply(E::Claimed), Some(S::Running));
        assert_eq!(S::Pending.apply(E::Finished), None);
        assert_eq!(S::Pending.apply(E::Cancelled), Some(S::Cancelled));
        assert_eq!(S::Running.apply(E::StepFailed), Some(S::Failed));
    }
}
