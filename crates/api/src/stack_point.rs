//! What stacks were: numbered revisions, snapshots, comparisons, and the way back; and stacks as documents that are
//! taken elsewhere.

use hostler_model::stack::{
    StackAction, StackName, StackOptions, StackResourceChange, StackStatus, StackValueChange,
};
use hostler_model::{Actor, Role, StackSnapshotId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::stack::{StackFormBody, StackPath, StackView};
use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "stacks"
    /// List the revisions of a stack, newest first: one for every change that was complete.
    StackRevisionList = "stack_revision_list" GET "/api/v1/projects/{project}/stacks/{stack}/revisions", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, query: PageQuery, reply: Listing<StackRevisionView>, errors: [NotFound];
    /// Show a revision with the resources and outputs of then, secrets too.
    StackRevisionGet = "stack_revision_get" GET "/api/v1/projects/{project}/stacks/{stack}/revisions/{revision}", Access::Project(Role::User), StackApply, 200,
        path: StackRevisionPath, reply: StackRevisionView, errors: [NotFound];
    /// List the snapshots of a stack.
    StackSnapshotList = "stack_snapshot_list" GET "/api/v1/projects/{project}/stacks/{stack}/snapshots", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, query: PageQuery, reply: Listing<StackSnapshotView>, errors: [NotFound];
    /// Begin to take a snapshot of a stack.
    StackSnapshotCreate = "stack_snapshot_create" POST "/api/v1/projects/{project}/stacks/{stack}/snapshots", Access::Project(Role::User), StackApply, 201,
        path: StackPath, body: StackSnapshotBody, reply: StackSnapshotView, errors: [NotFound, Conflict, QuotaExceeded, Stale, KeyReused];
    /// Show a snapshot with the resources and outputs of then, secrets too.
    StackSnapshotGet = "stack_snapshot_get" GET "/api/v1/projects/{project}/stacks/{stack}/snapshots/{snapshot}", Access::Project(Role::User), StackApply, 200,
        path: StackSnapshotPath, reply: StackSnapshotView, errors: [NotFound];
    /// Remove a snapshot.
    StackSnapshotRemove = "stack_snapshot_remove" DELETE "/api/v1/projects/{project}/stacks/{stack}/snapshots/{snapshot}", Access::Project(Role::User), StackApply, 204,
        path: StackSnapshotPath, errors: [NotFound, Conflict];
    /// Compare two points in time of a stack; values that are secret are hidden.
    StackCompare = "stack_compare" GET "/api/v1/projects/{project}/stacks/{stack}/compare", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, query: StackCompareQuery, reply: StackComparisonView, errors: [NotFound, Invalid, Conflict];
    /// Begin to bring a stack back to what it was in a revision or in a snapshot.
    StackRestore = "stack_restore" POST "/api/v1/projects/{project}/stacks/{stack}/restore", Access::Project(Role::User), StackApply, 200,
        path: StackPath, body: StackRestoreBody, reply: StackView, errors: [NotFound, Conflict, ApprovalRequired, Stale, KeyReused];
    /// Read a stack as one document, secrets too, with which it can be taken over elsewhere.
    StackExport = "stack_export" GET "/api/v1/projects/{project}/stacks/{stack}/export", Access::Project(Role::User), StackApply, 200,
        path: StackPath, reply: StackDocumentView, errors: [NotFound, Conflict];
    /// Forget a stack and leave everything that it has made; what is answered is the document to take it over with.
    StackAbandon = "stack_abandon" POST "/api/v1/projects/{project}/stacks/{stack}/abandon", Access::Project(Role::User), StackRemove, 200,
        path: StackPath, reply: StackDocumentView, errors: [NotFound, Conflict, ApprovalRequired, Stale, KeyReused];
    /// Make a stack of what another one left: its resources are taken over instead of being made.
    StackAdopt = "stack_adopt" POST "/api/v1/projects/{project}/stack-adopt", Access::Project(Role::User), StackApply, 201,
        path: ProjectPath, body: StackAdoptBody, reply: StackView,
        errors: [NotFound, AlreadyExists, Conflict, QuotaExceeded, ApprovalRequired, KeyReused];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackRevisionPath {
    /// Name or id of the project.
    pub project: String,
    /// Name or id of the stack.
    pub stack: String,
    /// Number of the revision.
    #[schemars(range(min = 1))]
    pub revision: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackSnapshotPath {
    /// Name or id of the project.
    pub project: String,
    /// Name or id of the stack.
    pub stack: String,
    pub snapshot: StackSnapshotId,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackCompareQuery {
    /// A revision, such as `v3`, the id of a snapshot, or `now`.
    pub from: String,
    /// The same; `now` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackSnapshotBody {
    /// To find it again.
    #[schemars(length(max = 255))]
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackRestoreBody {
    /// A revision, such as `v3`, or the id of a snapshot.
    pub point: String,
    /// Why; it stands at the revision, in events and in the audit trail.
    #[schemars(length(max = 1000))]
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackAdoptBody {
    pub name: StackName,
    /// What export or abandon answered, or its text.
    pub document: Value,
    /// Lies over what is in the document.
    #[serde(default)]
    pub form: StackFormBody,
    #[serde(default)]
    pub options: StackOptions,
    /// Why; it stands at the revision, in events and in the audit trail.
    #[schemars(length(max = 1000))]
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What a stack was as a whole, under a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackRevisionView {
    pub number: u32,
    /// What led to it.
    pub action: StackAction,
    /// Why somebody made it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// How many resources there were.
    pub count: u32,
    pub created_by: Actor,
    pub time_created: Timestamp,
    /// By name: type, physical id, state, metadata, data, properties. Not in lists.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub resources: Map<String, Value>,
    /// Not in lists.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub outputs: Map<String, Value>,
}

/// The objects of a stack as they were when somebody asked for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackSnapshotView {
    pub id: StackSnapshotId,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    pub status: StackStatus,
    pub reason: String,
    pub created_by: Actor,
    pub time_created: Timestamp,
    /// By name: type, physical id, state, metadata, data, properties. Not in lists.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub resources: Map<String, Value>,
    /// Not in lists.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub outputs: Map<String, Value>,
}

/// In what two points in time differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackComparisonView {
    /// `now`, `v3`, or the id of a snapshot.
    pub from: String,
    pub to: String,
    pub resources: Vec<StackResourceChange>,
    pub parameters: Vec<StackValueChange>,
    pub outputs: Vec<StackValueChange>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackDocumentView {
    pub document: Value,
}
