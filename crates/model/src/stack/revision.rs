//! Numbered states of a stack, snapshots of its objects, and plans of changes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{StackAction, StackStatus};
use crate::{
    Actor, Digest, Generation, ProjectId, StackDefinitionId, StackId, StackPlanId, StackSnapshotId,
    Timestamp,
};

/// What a stack was as a whole, under a number. Made whenever a change is complete.
#[derive(Clone, Debug, PartialEq)]
pub struct StackRevision {
    pub stack_id: StackId,
    /// From 1.
    pub number: u32,
    pub definition: StackDefinitionId,
    /// What led to it.
    pub action: StackAction,
    /// Why somebody made it.
    pub reason: String,
    /// How many resources there were.
    pub resources: u32,
    /// A [`SnapshotBody`], sealed with the key of the stack.
    pub sealed: Vec<u8>,
    pub created_by: Actor,
    pub time_created: Timestamp,
}

/// The objects of a stack as they were when somebody asked for it.
#[derive(Clone, Debug, PartialEq)]
pub struct StackSnapshot {
    pub id: StackSnapshotId,
    pub stack_id: StackId,
    pub name: String,
    pub status: StackStatus,
    pub reason: String,
    pub definition: StackDefinitionId,
    /// A [`SnapshotBody`], sealed with the key of the stack.
    pub sealed: Vec<u8>,
    pub created_by: Actor,
    pub time_created: Timestamp,
}

/// What is sealed of a snapshot or a revision: the document that Heat exports, without what can be found elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SnapshotBody {
    /// By name: type, physical id, action, status, metadata, data, properties.
    pub resources: serde_json::Map<String, Value>,
    pub outputs: serde_json::Map<String, Value>,
}

/// How a stack is or was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackPoint {
    Now,
    Revision(u32),
    Snapshot(StackSnapshotId),
}

/// Error of parsing a point in the history of a stack.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a point of a stack: write `now`, `v3` for a revision, or the id of a snapshot"
)]
pub struct ParseStackPointError {
    given: String,
}

impl fmt::Display for StackPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StackPoint::Now => f.write_str("now"),
            StackPoint::Revision(number) => write!(f, "v{number}"),
            StackPoint::Snapshot(id) => write!(f, "{id}"),
        }
    }
}

impl FromStr for StackPoint {
    type Err = ParseStackPointError;
    fn from_str(text: &str) -> Result<StackPoint, ParseStackPointError> {
        if text == "now" {
            return Ok(StackPoint::Now);
        }
        let number = text.strip_prefix('v').unwrap_or(text);
        if let Ok(number) = number.parse() {
            return Ok(StackPoint::Revision(number));
        }
        match text.parse() {
            Ok(id) => Ok(StackPoint::Snapshot(id)),
            Err(_) => Err(ParseStackPointError { given: text.chars().take(80).collect() }),
        }
    }
}

/// A change that somebody looked at before it is made.
#[derive(Clone, Debug, PartialEq)]
pub struct StackPlan {
    pub id: StackPlanId,
    pub project_id: ProjectId,
    pub stack_id: StackId,
    /// Of the stack when it was made; it is refused when that has moved. Zero where there was no stack.
    pub base: Generation,
    /// Of everything that would be done, as it was shown.
    pub digest: Digest,
    /// What the stack would go towards: a [`super::DefinitionBody`] and what was chosen with it, sealed with the master key.
    pub sealed: Vec<u8>,
    /// What was shown, without secrets.
    pub changes: Value,
    pub created_by: Actor,
    pub time_created: Timestamp,
    pub time_expires: Timestamp,
    /// When it was carried out.
    pub time_used: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_as_they_are_written() {
        let id = "00000000-0000-0000-0000-000000000001".parse().unwrap();
        for point in [StackPoint::Now, StackPoint::Revision(3), StackPoint::Snapshot(id)] {
            assert_eq!(point.to_string().parse(), Ok(point));
        }
        assert_eq!("7".parse(), Ok(StackPoint::Revision(7)));
        assert!("yesterday".parse::<StackPoint>().is_err());
    }
}
