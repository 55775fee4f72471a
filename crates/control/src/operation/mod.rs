//! The steps of operations. Each is idempotent: it looks at the rows, does what is missing, and says
//! whether it is done, has to wait, or cannot succeed.

mod image;
mod node;

use hostler_model::{Error, Operation, OperationPlan};

use crate::Control;

/// What came of looking at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StepOutcome {
    Done(String),
    /// Look again later; the text says what is waited for.
    Wait(String),
    Failed(String),
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
            (
                OperationPlan::NodeDrain { .. }
                | OperationPlan::NodeRemove { .. }
                | OperationPlan::ImageSync { .. }
                | OperationPlan::ImageTake { .. },
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
        }
    }
}
