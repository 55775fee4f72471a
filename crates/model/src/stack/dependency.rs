//! Which stacks use what others give.

use super::StackName;
use crate::{ProjectId, StackId};

/// A stack uses outputs of another one, which it knows by its name. That one may not be there yet, or not any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackDependency {
    /// Who uses them.
    pub stack_id: StackId,
    pub project_id: ProjectId,
    /// Whose they are: a stack of the same project.
    pub on: StackName,
    /// Which ones, in their order.
    pub outputs: Vec<String>,
}
