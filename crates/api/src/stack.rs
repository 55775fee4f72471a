//! Stacks: templates whose objects are made, changed and taken down together.
//!
//! What a stack is made of is told as texts ([`StackFormBody`]). The ETag of a stack is its *traversal*, which grows
//! with every change that is asked for; whoever changes it says which one is known. Templates are wrong in many places
//! at once: the `errors` of the answer name each with its file, line and column, and the line with a caret.

use std::collections::BTreeMap;

use hostler_model::stack::{
    STACK_DEPTH_MAX, StackAction, StackName, StackOptions, StackStanding, StackStatus,
};
use hostler_model::{Actor, Generation, Role, Span, StackEventId, StackId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Access, Listing, ProjectPath};

crate::endpoints! { "stacks"
    /// List stacks, newest first.
    StackList = "stack_list" GET "/api/v1/projects/{project}/stacks", Access::Project(Role::Viewer), StackRead, 200,
        path: ProjectPath, query: StackListQuery, reply: Listing<StackView>, errors: [NotFound];
    /// Begin to make a stack.
    StackCreate = "stack_create" POST "/api/v1/projects/{project}/stacks", Access::Project(Role::User), StackApply, 201,
        path: ProjectPath, body: StackCreateBody, reply: StackView,
        errors: [NotFound, AlreadyExists, Conflict, QuotaExceeded, ApprovalRequired, KeyReused];
    /// Show a stack: how it stands, its parameters, its outputs.
    StackGet = "stack_get" GET "/api/v1/projects/{project}/stacks/{stack}", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, reply: StackView, errors: [NotFound];
    /// Begin to change a stack to what is given as a whole. Of options, what is absent stays as it is.
    StackUpdate = "stack_update" PUT "/api/v1/projects/{project}/stacks/{stack}", Access::Project(Role::User), StackApply, 200,
        path: StackPath, body: StackUpdateBody, reply: StackView,
        errors: [NotFound, Conflict, ApprovalRequired], if_match: Always;
    /// Begin to change a stack in what is given; what is absent stays as it is.
    StackPatch = "stack_patch" PATCH "/api/v1/projects/{project}/stacks/{stack}", Access::Project(Role::User), StackApply, 200,
        path: StackPath, body: StackPatchBody, reply: StackView,
        errors: [NotFound, Conflict, ApprovalRequired], if_match: Always;
    /// Begin to take a stack down with everything that it has made, whatever is under way.
    StackRemove = "stack_remove" DELETE "/api/v1/projects/{project}/stacks/{stack}", Access::Project(Role::User), StackRemove, 200,
        path: StackPath, query: StackRemoveQuery, reply: StackView, errors: [NotFound, Conflict, ApprovalRequired, Stale];
    /// Suspend everything of a stack that can be suspended.
    StackSuspend = "stack_suspend" POST "/api/v1/projects/{project}/stacks/{stack}/suspend", Access::Project(Role::User), StackApply, 200,
        path: StackPath, reply: StackView, errors: [NotFound, Conflict, KeyReused, Stale];
    /// Have a suspended stack go on.
    StackResume = "stack_resume" POST "/api/v1/projects/{project}/stacks/{stack}/resume", Access::Project(Role::User), StackApply, 200,
        path: StackPath, reply: StackView, errors: [NotFound, Conflict, KeyReused, Stale];
    /// Look whether every resource of a stack is there and well.
    StackCheck = "stack_check" POST "/api/v1/projects/{project}/stacks/{stack}/check", Access::Project(Role::User), StackApply, 200,
        path: StackPath, reply: StackView, errors: [NotFound, Conflict, KeyReused, Stale];
    /// Cancel what is under way: leave the stack as far as it is, or undo an update.
    StackCancel = "stack_cancel" POST "/api/v1/projects/{project}/stacks/{stack}/cancel", Access::Project(Role::User), StackApply, 200,
        path: StackPath, body: StackCancelBody, reply: StackView, errors: [NotFound, Conflict, ApprovalRequired, KeyReused, Stale];
    /// Read what a stack gives to others.
    StackOutputList = "stack_output_list" GET "/api/v1/projects/{project}/stacks/{stack}/outputs", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, reply: Listing<StackOutputView>, errors: [NotFound];
    /// List what happened to a stack and its resources, the oldest first; with `watch=true`, stream it as it happens.
    StackEventList = "stack_event_list" GET "/api/v1/projects/{project}/stacks/{stack}/events", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, query: StackEventQuery, reply: Listing<StackEventView>, errors: [NotFound, CursorGone], stream: Watch;
    /// Read the template of a stack with its environment and files, as they are or as they were in a revision.
    StackDefinitionGet = "stack_definition" GET "/api/v1/projects/{project}/stacks/{stack}/definition", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, query: StackDefinitionQuery, reply: StackDefinitionView, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackPath {
    /// Name or id of the project.
    pub project: String,
    /// Name or id of the stack.
    pub stack: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct StackListQuery {
    /// Only the one of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Only those with this tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Only those to which this is done, or was done last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<StackAction>,
    /// Only those that stand so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<StackStatus>,
    /// Also those that are resources of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nested: Option<bool>,
    /// Also those that are gone, as long as they are remembered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
    /// Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
    /// be empty although more follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

crate::paged!(StackListQuery);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackRemoveQuery {
    /// Also when other stacks use its outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// Why; it stands in events and in the audit trail.
    #[schemars(length(max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackDefinitionQuery {
    /// Number of the revision; what the stack is or goes towards when absent.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct StackEventQuery {
    /// Also of stacks that are resources of this one, so many below each other.
    #[schemars(range(max = STACK_DEPTH_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Only of the resource with this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Only those that stand so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<StackStatus>,
    /// The newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newest: Option<bool>,
    /// Id of an event: only what happened after it, or, with `newest`, before it. Instead of `cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<StackEventId>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before; with `watch`, the id of an event that is known, such as the cursor of the last message
    /// seen: what happened after it is told, and without one everything that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Keep the connection open and stream what happens, the oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<bool>,
}

/// What a stack is to be made of: YAML or JSON, as texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct StackFormBody {
    /// Of at most 512 KiB. It may be absent only where that says that it stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
    /// Parameters, defaults, and which types are which others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    /// Names of `files` that are environments, each merged over those before; `environment` does not count then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environment_files: Vec<String>,
    /// Texts that templates and environments name, by the name that they have there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Values of parameters; they win over those of environments.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackCreateBody {
    pub name: StackName,
    pub form: StackFormBody,
    #[serde(default)]
    pub options: StackOptions,
    /// Why; it stands at the revision, in events and in the audit trail.
    #[schemars(length(max = 1000))]
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What is chosen anew; what is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct StackOptionsBody {
    /// A change that fails is undone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_rollback_enabled: Option<bool>,
    /// How long a change may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// What was changed behind its back is found and put right by an update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converges: Option<bool>,
    /// How many resources are worked on at once.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// How often it is looked at by itself whether its objects are as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift_every: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackUpdateBody {
    pub form: StackFormBody,
    #[serde(default)]
    pub options: StackOptionsBody,
    /// Why; it stands at the revision, in events and in the audit trail.
    #[schemars(length(max = 1000))]
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct StackPatchBody {
    pub form: StackFormBody,
    /// Names of parameters whose values are forgotten.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clear_parameters: Vec<String>,
    pub options: StackOptionsBody,
    /// Why; it stands at the revision, in events and in the audit trail.
    #[schemars(length(max = 1000))]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackCancelBody {
    /// Undo what the update has done.
    pub rollback: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackView {
    pub id: StackId,
    pub name: StackName,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What is done to it, or was done last; how far that is, and why.
    pub standing: StackStanding,
    /// Grows with every change that is asked for; the ETag.
    pub traversal: Generation,
    /// Number of its newest revision; 0 before there is one.
    pub revision: u32,
    pub options: StackOptions,
    /// The stack that it is a resource of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<StackId>,
    /// How many stacks are above it.
    #[serde(default)]
    pub depth: u32,
    /// In whose name it acts; not in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// With those that every template has; hidden ones hidden. Not in lists.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
    /// Not in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<StackOutputView>,
    /// Why what it is to be cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    pub time_created: Timestamp,
    /// When the last change but its creation was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_updated: Option<Timestamp>,
    /// When what is under way, or was last, was asked for.
    pub time_begun: Timestamp,
    /// When what is under way is given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_deadline: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_deleted: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackOutputView {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub value: Value,
    /// Why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Something that happened to a stack or to one of its resources.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackEventView {
    pub id: StackEventId,
    pub time: Timestamp,
    /// The stack that it is of: this one, or one that is a resource of it.
    pub stack: StackId,
    /// Name of the resource; absent where it is about the stack as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The type of the resource, or of the stack.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<String>,
    /// `create`, `update`, `delete`... or `signal`.
    pub action: String,
    pub status: StackStatus,
    pub reason: String,
    /// Of what failed; without what is secret.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub properties: Value,
}

/// What a stack is made of, or was. Values of hidden parameters are hidden from who may not change the stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackDefinitionView {
    /// As a document.
    pub template: Value,
    /// Merged from everything that was given.
    pub environment: Value,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub files: Map<String, Value>,
    pub created_by: Actor,
    pub time_created: Timestamp,
}
