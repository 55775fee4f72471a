//! What is told of a stack while it changes.

use hostler_model::StackResourceId;
use hostler_model::stack::{Stack, StackEventStatus, StackResource};

/// The type of a stack in its own events.
const STACK_KIND: &str = "OS::Heat::Stack";

/// Something that happened to a stack or to one of its resources: an event without its id and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    /// None where it is about the stack as a whole.
    pub resource_id: Option<StackResourceId>,
    pub name: String,
    pub kind: String,
    pub physical: Option<String>,
    pub status: StackEventStatus,
    pub reason: String,
}

impl Happening {
    /// How the stack stands now.
    pub fn of_stack(stack: &Stack) -> Happening {
        let standing = &stack.standing;
        Happening {
            resource_id: None,
            name: stack.name.to_string(),
            kind: STACK_KIND.to_owned(),
            physical: Some(stack.id.to_string()),
            status: StackEventStatus::Stack(standing.action, standing.status),
            reason: standing.reason.clone(),
        }
    }

    /// Something about a resource.
    pub fn of_resource(
        resource: &StackResource,
        status: StackEventStatus,
        reason: impl Into<String>,
    ) -> Happening {
        Happening {
            resource_id: Some(resource.id),
            name: resource.name.clone(),
            kind: resource.kind.clone(),
            physical: resource.physical.clone(),
            status,
            reason: reason.into(),
        }
    }
}

/// A resource as Heat names it in its sentences: `TestResource "a" [phys] Stack "s" [id]`.
pub fn described(resource: &StackResource, stack: &Stack) -> String {
    let class = resource.kind.rsplit("::").next().unwrap_or(&resource.kind);
    let physical = resource.physical.as_ref().map_or(String::new(), |id| format!(" [{id}]"));
    format!("{class} \"{}\"{physical} Stack \"{}\" [{}]", resource.name, stack.name, stack.id)
}
