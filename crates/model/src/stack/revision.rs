//! Numbered states of a stack, snapshots of its objects, and plans of changes.

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
