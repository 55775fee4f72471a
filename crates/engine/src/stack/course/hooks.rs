//! Resources stop at hooks until somebody lets them go on.

use hostler_model::stack::{
    HookStanding, ResourceAction, Stack, StackEventStatus, StackHook, StackResource, StackStatus,
};
use hostler_model::{StackResourceId, Timestamp};

use super::super::{Happening, Step, described};
use super::{Course, Mode, Role};

/// Nothing waits at the hook that somebody wants to clear.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The \"{hook}\" hook is not defined on {resource}")]
pub struct HookRefusal {
    pub hook: StackHook,
    pub resource: String,
}

/// Lets a resource that waits at a hook go on, and says what is told of it.
pub fn clear_hook(
    stack: &Stack,
    resource: &mut StackResource,
    hook: StackHook,
    now: Timestamp,
) -> Result<Happening, HookRefusal> {
    let standing = resource.hooks.get_mut(&hook);
    match standing.filter(|at| at.traversal == stack.traversal && !at.is_cleared) {
        Some(at) => at.is_cleared = true,
        None => return Err(HookRefusal { hook, resource: described(resource, stack) }),
    }
    resource.time_modified = now;
    let status = StackEventStatus::Resource(resource.standing.action, resource.standing.status);
    Ok(Happening::of_resource(resource, status, hook.cleared()))
}

impl Course {
    /// Lets a resource that waits at a hook go on.
    pub fn cleared(&mut self, row: StackResourceId, hook: StackHook) -> Result<(), HookRefusal> {
        let Some(i) = self.position.get(&row).copied() else {
            return Err(HookRefusal { hook, resource: row.to_string() });
        };
        let told = clear_hook(&self.stack, &mut self.rows[i].resource, hook, self.now)?;
        self.happenings.push(told);
        self.touch(i);
        self.is_drained = false;
        if !self.is_paused(i) {
            self.paused.remove(&i);
            match self.rows[i].role {
                Role::Node(node) if self.is_as_goal_says(i) && self.is_past_hook(i) => {
                    self.done(node);
                }
                Role::Node(node) => self.try_ready(node),
                Role::Unwanted => self.try_clear(i),
                Role::Aside | Role::Gone => {}
            }
        }
        Ok(())
    }

    fn is_as_goal_says(&self, row: usize) -> bool {
        let resource = &self.rows[row].resource;
        self.mode == Mode::Converge
            && resource.deed.is_none()
            && resource.standing.status == StackStatus::Complete
            && resource.definition.is_some()
            && resource.definition == self.goal.definition
    }

    /// It stands at a hook in this traversal, and nobody has cleared it.
    pub(super) fn is_paused(&self, row: usize) -> bool {
        let hooks = &self.rows[row].resource.hooks;
        hooks.values().any(|at| at.traversal == self.stack.traversal && !at.is_cleared)
    }

    /// What was done to it last was followed by a hook, and somebody cleared that in this traversal.
    pub(super) fn is_past_hook(&self, row: usize) -> bool {
        let resource = &self.rows[row].resource;
        let hook = match resource.standing.action {
            ResourceAction::Create | ResourceAction::Adopt => StackHook::PostCreate,
            ResourceAction::Update => StackHook::PostUpdate,
            ResourceAction::Delete => StackHook::PostDelete,
            _ => return false,
        };
        let standing = resource.hooks.get(&hook);
        standing.is_some_and(|at| at.traversal == self.stack.traversal && at.is_cleared)
    }

    /// Whether a row has to wait here. It is told of once in a traversal.
    pub(super) fn stops_at(&mut self, row: usize, hook: StackHook) -> bool {
        let resource = &self.rows[row].resource;
        if !self.goal.has_hook(&resource.name, hook) {
            return false;
        }
        let traversal = self.stack.traversal;
        if let Some(at) = resource.hooks.get(&hook).filter(|at| at.traversal == traversal) {
            return !at.is_cleared;
        }
        let (action, status) = (resource.standing.action, resource.standing.status);
        self.tell(row, action, status, hook.paused());
        let row_id = self.rows[row].resource.id;
        let at = HookStanding { traversal, is_cleared: false };
        self.rows[row].resource.hooks.insert(hook, at);
        self.paused.insert(row);
        self.touch(row);
        self.steps.push_back(Step::Pause { row: row_id, hook });
        true
    }
}
