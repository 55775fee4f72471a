//! Resources of stacks: what they are, what depends on what, and what is said to them from outside.

use hostler_model::stack::{
    DeedKind, DeletionPolicy, ResourceAction, STACK_DEPTH_MAX, StackHook, StackName, StackStatus,
};
use hostler_model::{Role, StackId, StackResourceId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::stack::StackPath;
use crate::{Access, Listing};

/// How long the reason of a mark may be, in characters.
pub const STACK_REASON_MAX: usize = 1000;

crate::endpoints! { "stacks"
    /// List the resources of a stack in the order of its template, and those of stacks below it.
    StackResourceList = "stack_resource_list" GET "/api/v1/projects/{project}/stacks/{stack}/resources", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, query: StackResourceListQuery, reply: Listing<StackResourceView>, errors: [NotFound];
    /// Show a resource with its properties and attributes; what came from hidden parameters is hidden.
    StackResourceGet = "stack_resource_get" GET "/api/v1/projects/{project}/stacks/{stack}/resources/{resource}", Access::Project(Role::Viewer), StackRead, 200,
        path: StackResourcePath, reply: StackResourceView, errors: [NotFound];
    /// Show which resources of a stack need which others.
    StackGraph = "stack_graph" GET "/api/v1/projects/{project}/stacks/{stack}/graph", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, reply: StackGraphView, errors: [NotFound];
    /// Signal a resource that waits for it, or that does something when it is signalled.
    StackSignal = "stack_signal" POST "/api/v1/projects/{project}/stacks/{stack}/resources/{resource}/signal", Access::Project(Role::User), StackSignal, 200,
        path: StackResourcePath, body: StackSignalBody, reply: StackSignalView, errors: [NotFound, Conflict, Stale, KeyReused];
    /// Say that a resource is broken, so that the next update replaces it, or that it is not.
    StackMark = "stack_mark" POST "/api/v1/projects/{project}/stacks/{stack}/resources/{resource}/mark", Access::Project(Role::User), StackSignal, 204,
        path: StackResourcePath, body: StackMarkBody, errors: [NotFound, Conflict, Stale, KeyReused];
    /// List the hooks at which resources of a stack, and of stacks below it, wait.
    StackHookList = "stack_hook_list" GET "/api/v1/projects/{project}/stacks/{stack}/hooks", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, reply: Listing<StackHookView>, errors: [NotFound];
    /// Let a resource go on that waits at a hook.
    StackHookClear = "stack_hook_clear" POST "/api/v1/projects/{project}/stacks/{stack}/resources/{resource}/hooks/{hook}/clear", Access::Project(Role::User), StackSignal, 204,
        path: StackHookPath, errors: [NotFound, Invalid, Conflict, Stale, KeyReused];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackResourcePath {
    /// Name or id of the project.
    pub project: String,
    /// Name or id of the stack.
    pub stack: String,
    /// Name of the resource, or what it is in the world.
    pub resource: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackHookPath {
    /// Name or id of the project.
    pub project: String,
    /// Name or id of the stack.
    pub stack: String,
    /// Name of the resource, or what it is in the world.
    pub resource: String,
    pub hook: StackHook,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackResourceListQuery {
    /// Also of stacks that are resources of this one, so many below each other.
    #[schemars(range(max = STACK_DEPTH_MAX))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
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

crate::paged!(StackResourceListQuery);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackSignalBody {
    /// What is told to it: any document that it understands.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackSignalView {
    /// What it answers to whoever waits for that.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub answer: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackMarkBody {
    /// Whether it is broken.
    pub unhealthy: bool,
    /// Why.
    #[schemars(length(max = STACK_REASON_MAX))]
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackResourceView {
    pub id: StackResourceId,
    /// In the template.
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// The stack that it is of: this one, or one below it.
    pub stack: StackName,
    pub stack_id: StackId,
    /// The resource of the stack above that its stack is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_resource: Option<String>,
    /// The stack that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<StackId>,
    /// What it is in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<String>,
    /// What is done to it, or was done last.
    pub action: ResourceAction,
    pub status: StackStatus,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What somebody has in hand now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under_way: Option<DeedKind>,
    /// Where it waits for somebody to let it go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<StackHook>,
    /// Names of those that need it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_by: Vec<String>,
    /// What becomes of the object when the resource goes.
    pub deletion_policy: DeletionPolicy,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
    /// Not in lists.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub metadata: Value,
    /// As it was made or last changed with. Not in lists.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub properties: Value,
    /// What others may ask of it. Not in lists.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub attributes: Map<String, Value>,
}

/// Resources, and which of them need which others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackGraphView {
    /// In the order of the template.
    pub nodes: Vec<StackGraphNode>,
    pub edges: Vec<StackGraphEdge>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackGraphNode {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub action: ResourceAction,
    pub status: StackStatus,
    /// The stack that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<StackId>,
}

/// One resource needs another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StackGraphEdge {
    /// The one that needs...
    pub from: String,
    /// ...the other, which is there before it and goes after it.
    pub to: String,
}

/// A resource that waits at a hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackHookView {
    /// The stack that the resource is of: this one, or one below it.
    pub stack: StackName,
    pub stack_id: StackId,
    pub resource: String,
    pub hook: StackHook,
}
