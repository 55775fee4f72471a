//! How a change of a stack begins.

use hostler_model::stack::{STACK_TIMEOUT_DEFAULT, Stack, StackAction, StackStanding};
use hostler_model::{StackDefinitionId, Timestamp};

use super::Happening;

/// Gives a stack a new traversal towards a definition, or nothing, and says what is told of it. Whatever is under way is
/// superseded.
pub fn begin(
    stack: &mut Stack,
    action: StackAction,
    wanted: Option<StackDefinitionId>,
    now: Timestamp,
) -> Happening {
    let timeout = stack.options.timeout.filter(|timeout| !timeout.is_zero());
    stack.standing = StackStanding::begun(action);
    stack.traversal = stack.traversal.next();
    stack.wanted = wanted;
    stack.failure = None;
    stack.time_begun = now;
    stack.time_deadline = Some(now.plus(timeout.unwrap_or(STACK_TIMEOUT_DEFAULT).duration()));
    stack.time_due = Some(now);
    if !matches!(action, StackAction::Create | StackAction::Adopt) {
        stack.time_updated = Some(now);
    }
    Happening::of_stack(stack)
}
