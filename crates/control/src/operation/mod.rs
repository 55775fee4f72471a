//! The steps of operations. Each is idempotent: it looks at the rows, does what is missing, and says
//! whether it is done, has to wait, or cannot succeed.

mod host;
mod image;
mod node;
mod node_backup;

use hostler_model::{Error, NewAuditEntry, NewEvent, Operation, OperationPlan};

use crate::Control;

pub(crate) use node_backup::Verification;

/// What came of looking at a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StepOutcome {
    Done(String),
    /// Look again later; the text says what is waited for.
    Wait(String),
    Failed(String),
    /// It has ended, and more is to be told of that than words.
    Ended(Box<Ended>),
}

/// How a step ended, with what is written down together with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    pub is_well: bool,
    pub message: String,
    /// For programs.
    pub result: Option<serde_json::Value>,
    pub event: NewEvent,
    pub audit: NewAuditEntry,
}

impl Control {
    pub(crate) async fn operation_step(
        &self,
        operation: &Operation,
        index: usize,
    ) -> Result<StepOutcome, Error> {
        let step = operation.steps[index].name.as_str();
        match (&operation.plan, step) {
            (OperationPlan::NodeDrain { node, reason, .. }, "cordon") => {
                self.step_cordon(*node, reason, true).await
            }
            (OperationPlan::NodeDrain { node, deadline, .. }, "empty") => {
                self.step_empty(*node, *deadline).await
            }
            (OperationPlan::NodeRemove { node, reason }, "cordon") => {
                self.step_cordon(*node, reason, true).await
            }
            (OperationPlan::NodeRemove { node, .. }, "stop") => self.step_stop(*node).await,
            (OperationPlan::NodeRemove { node, .. }, "revoke") => self.step_revoke(*node).await,
            (OperationPlan::NodeRemove { node, .. }, "remove") => self.step_remove(*node).await,
            (OperationPlan::ImageSync { image, nodes }, "load") => {
                self.step_load(operation, *image, nodes).await
            }
            (OperationPlan::ImageTake { name, node, source }, "take") => {
                self.step_take(operation, name, *node, source).await
            }
            (OperationPlan::NodeDeed { node, deed, until }, "do") => {
                self.step_deed(operation, *node, deed, *until).await
            }
            (OperationPlan::NodeBackup { node, backup, until, keep }, "copy") => {
                self.step_backup(operation, *node, *backup, *until, *keep).await
            }
            (OperationPlan::NodeBackupVerify { backup, .. }, "verify") => {
                self.step_verify(operation, *backup).await
            }
            (OperationPlan::NodeRestore { node, backup, spec, until }, "restore") => {
                self.step_restore(operation, (*node, *backup), spec, *until).await
            }
            (
                OperationPlan::NodeDrain { .. }
                | OperationPlan::NodeRemove { .. }
                | OperationPlan::ImageSync { .. }
                | OperationPlan::ImageTake { .. }
                | OperationPlan::NodeDeed { .. }
                | OperationPlan::NodeBackup { .. }
                | OperationPlan::NodeBackupVerify { .. }
                | OperationPlan::NodeRestore { .. },
                other,
            ) => Ok(StepOutcome::Failed(format!(
                "this version of Hostler does not know the step `{other}`"
            ))),
        }
    }

    /// What is left to do when an operation is cancelled between steps.
    pub(crate) async fn operation_cancelled(&self, operation: &Operation) -> Result<(), Error> {
        match &operation.plan {
            OperationPlan::NodeDrain { node, .. } | OperationPlan::NodeRemove { node, .. } => {
                self.drain_over(*node).await
            }
            // What nodes do meanwhile they finish; nothing is left to put right.
            OperationPlan::ImageSync { .. } | OperationPlan::ImageTake { .. } => Ok(()),
            OperationPlan::NodeDeed { node, .. } | OperationPlan::NodeRestore { node, .. } => {
                self.host_forget(*node, operation.id).await;
                Ok(())
            }
            OperationPlan::NodeBackup { node, backup, .. } => {
                self.backup_cancelled(operation, *node, *backup).await
            }
            OperationPlan::NodeBackupVerify { .. } => {
                self.verification_forget(operation);
                Ok(())
            }
        }
    }
}
