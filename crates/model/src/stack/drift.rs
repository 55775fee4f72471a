//! How far the objects of a stack are from what it says of them.

use serde_json::Value;

use crate::{Generation, StackId, Timestamp};

/// What was found when somebody looked last. There is one for each stack: the newest.
#[derive(Clone, Debug, PartialEq)]
pub struct StackDrift {
    pub stack_id: StackId,
    /// Of the stack when it was looked at: with a newer one, what was found may be put right already.
    pub traversal: Generation,
    /// How many objects were looked at.
    pub looked: u32,
    /// How many of them are not as the stack says.
    pub changed: u32,
    /// How many are not there at all.
    pub missing: u32,
    /// How many could not be looked at.
    pub unknown: u32,
    /// What was found of each, without secrets.
    pub report: Value,
    pub time: Timestamp,
}

impl StackDrift {
    /// Whether there is something to put right.
    pub const fn is_drifted(&self) -> bool {
        self.changed > 0 || self.missing > 0
    }
}
