//! What happened to a stack and its resources, as Heat tells of it.

use serde_json::Value;

use super::{ResourceAction, StackAction, StackStatus};
use crate::{StackEventId, StackId, StackResourceId, Timestamp};

/// One line of a stack's history. In the order of their ids.
#[derive(Clone, Debug, PartialEq)]
pub struct StackEvent {
    pub id: StackEventId,
    pub stack_id: StackId,
    /// None where it is about the stack as a whole.
    pub resource_id: Option<StackResourceId>,
    /// Of the resource, or of the stack.
    pub name: String,
    /// The type of the resource.
    pub kind: String,
    pub physical: Option<String>,
    pub status: StackEventStatus,
    pub reason: String,
    /// Properties without what is secret; only of what failed.
    pub properties: Option<Value>,
    pub time: Timestamp,
}

/// Action and status, of a stack or of a resource; or a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackEventStatus {
    Stack(StackAction, StackStatus),
    Resource(ResourceAction, StackStatus),
    /// A signal came in.
    Signal(StackStatus),
}

impl StackEventStatus {
    /// As Heat writes the action.
    pub fn action(self) -> String {
        match self {
            StackEventStatus::Stack(action, _) => action.heat(),
            StackEventStatus::Resource(action, _) => action.heat(),
            StackEventStatus::Signal(_) => "SIGNAL".to_owned(),
        }
    }

    /// As Heat writes the status.
    pub fn status(self) -> String {
        match self {
            StackEventStatus::Stack(_, status)
            | StackEventStatus::Resource(_, status)
            | StackEventStatus::Signal(status) => status.heat(),
        }
    }
}
