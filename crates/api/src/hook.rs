//! Event hooks: what is done whenever something happens.

use std::collections::BTreeMap;

use hostler_model::{DeliveryState, EventHookSpec, HookId, Name, ObjectRef, Role, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "hooks"
    /// List the event hooks of the whole installation, by name.
    HookList = "hook_list" GET "/api/v1/hooks", Access::Global(Role::Admin), HookGlobal, 200,
        query: PageQuery, reply: Listing<HookView>;
    /// Show an event hook of the whole installation.
    HookGet = "hook_get" GET "/api/v1/hooks/{hook}", Access::Global(Role::Admin), HookGlobal, 200,
        path: HookPath, reply: HookView, errors: [NotFound];
    /// Make or change an event hook of the whole installation. It acts in the name of the caller.
    HookSet = "hook_set" PUT "/api/v1/hooks/{hook}", Access::Global(Role::Admin), HookGlobal, 200,
        path: HookPath, body: EventHookSpec, reply: HookView, errors: [NotFound, Invalid, AlreadyExists, QuotaExceeded], if_match: IfPresent;
    /// Let an event hook of the whole installation hear events again, from now on.
    HookEnable = "hook_enable" POST "/api/v1/hooks/{hook}/enable", Access::Global(Role::Admin), HookGlobal, 200,
        path: HookPath, reply: HookView, errors: [NotFound, Conflict, KeyReused];
    /// Keep an event hook of the whole installation from hearing events.
    HookDisable = "hook_disable" POST "/api/v1/hooks/{hook}/disable", Access::Global(Role::Admin), HookGlobal, 200,
        path: HookPath, reply: HookView, errors: [NotFound, Conflict, KeyReused];
    /// Deliver one event now, and tell what happened.
    HookTest = "hook_test" POST "/api/v1/hooks/{hook}/test", Access::Global(Role::Admin), HookGlobal, 200,
        path: HookPath, body: HookTestBody, reply: HookTestView, errors: [NotFound, KeyReused];
    /// List what an event hook of the whole installation delivered, or is about to, newest first.
    HookDeliveryList = "hook_delivery_list" GET "/api/v1/hooks/{hook}/deliveries", Access::Global(Role::Admin), HookGlobal, 200,
        path: HookPath, query: DeliveryQuery, reply: Listing<DeliveryView>, errors: [NotFound];
    /// Deliver again what an event hook of the whole installation gave up.
    HookReplay = "hook_replay" POST "/api/v1/hooks/{hook}/replay", Access::Global(Role::Admin), HookGlobal, 200,
        path: HookPath, body: DeadLetterBody, reply: DeadLetterReply, errors: [NotFound, KeyReused];
    /// Forget what an event hook of the whole installation gave up.
    HookDiscard = "hook_discard" POST "/api/v1/hooks/{hook}/discard", Access::Global(Role::Admin), HookGlobal, 200,
        path: HookPath, body: DeadLetterBody, reply: DeadLetterReply, errors: [NotFound, KeyReused];
    /// Remove an event hook of the whole installation, with what it had not delivered.
    HookRemove = "hook_remove" DELETE "/api/v1/hooks/{hook}", Access::Global(Role::Admin), HookGlobal, 204,
        path: HookPath, errors: [NotFound], if_match: Always;
    /// List the event hooks of a project, by name.
    ProjectHookList = "project_hook_list" GET "/api/v1/projects/{project}/hooks", Access::Project(Role::Viewer), HookRead, 200,
        path: ProjectPath, query: PageQuery, reply: Listing<HookView>, errors: [NotFound];
    /// Show an event hook of a project.
    ProjectHookGet = "project_hook_get" GET "/api/v1/projects/{project}/hooks/{hook}", Access::Project(Role::Viewer), HookRead, 200,
        path: ProjectHookPath, reply: HookView, errors: [NotFound];
    /// Make or change an event hook of a project. It acts in the name of the caller.
    ProjectHookSet = "project_hook_set" PUT "/api/v1/projects/{project}/hooks/{hook}", Access::Project(Role::User), HookWrite, 200,
        path: ProjectHookPath, body: EventHookSpec, reply: HookView, errors: [NotFound, Invalid, AlreadyExists, QuotaExceeded], if_match: IfPresent;
    /// Let an event hook of a project hear events again, from now on.
    ProjectHookEnable = "project_hook_enable" POST "/api/v1/projects/{project}/hooks/{hook}/enable", Access::Project(Role::User), HookWrite, 200,
        path: ProjectHookPath, reply: HookView, errors: [NotFound, Conflict, KeyReused];
    /// Keep an event hook of a project from hearing events.
    ProjectHookDisable = "project_hook_disable" POST "/api/v1/projects/{project}/hooks/{hook}/disable", Access::Project(Role::User), HookWrite, 200,
        path: ProjectHookPath, reply: HookView, errors: [NotFound, Conflict, KeyReused];
    /// Deliver one event of a project now, and tell what happened.
    ProjectHookTest = "project_hook_test" POST "/api/v1/projects/{project}/hooks/{hook}/test", Access::Project(Role::User), HookWrite, 200,
        path: ProjectHookPath, body: HookTestBody, reply: HookTestView, errors: [NotFound, KeyReused];
    /// List what an event hook of a project delivered, or is about to, newest first.
    ProjectHookDeliveryList = "project_hook_delivery_list" GET "/api/v1/projects/{project}/hooks/{hook}/deliveries", Access::Project(Role::Viewer), HookRead, 200,
        path: ProjectHookPath, query: DeliveryQuery, reply: Listing<DeliveryView>, errors: [NotFound];
    /// Deliver again what an event hook of a project gave up.
    ProjectHookReplay = "project_hook_replay" POST "/api/v1/projects/{project}/hooks/{hook}/replay", Access::Project(Role::User), HookWrite, 200,
        path: ProjectHookPath, body: DeadLetterBody, reply: DeadLetterReply, errors: [NotFound, KeyReused];
    /// Forget what an event hook of a project gave up.
    ProjectHookDiscard = "project_hook_discard" POST "/api/v1/projects/{project}/hooks/{hook}/discard", Access::Project(Role::User), HookWrite, 200,
        path: ProjectHookPath, body: DeadLetterBody, reply: DeadLetterReply, errors: [NotFound, KeyReused];
    /// Remove an event hook of a project, with what it had not delivered.
    ProjectHookRemove = "project_hook_remove" DELETE "/api/v1/projects/{project}/hooks/{hook}", Access::Project(Role::User), HookWrite, 204,
        path: ProjectHookPath, errors: [NotFound], if_match: Always;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookPath {
    /// Name of the hook.
    pub hook: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectHookPath {
    /// Name or id of the project.
    pub project: String,
    /// Name of the hook.
    pub hook: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookView {
    pub id: HookId,
    pub name: Name,
    /// Name of the project; absent for the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Name>,
    /// Values of headers and of environments are shown to the owner, and to who may manage hooks.
    pub spec: EventHookSpec,
    /// What it does, in a few words.
    pub summary: String,
    pub is_enabled: bool,
    /// In whose name it acts.
    pub owner: String,
    /// How many deliveries are in each state.
    pub deliveries: BTreeMap<DeliveryState, u64>,
    pub generation: u64,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DeliveryQuery {
    /// Only those in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<DeliveryState>,
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

crate::paged!(DeliveryQuery);

/// One event for one hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryView {
    /// What the receiver knows it by; the same however often it is tried.
    pub id: String,
    /// Of the event.
    pub sequence: u64,
    pub event: serde_json::Value,
    pub state: DeliveryState,
    /// Tries that failed.
    pub attempts: u32,
    /// Why the last try failed, or what came of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What the receiver answered with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What was begun and is not over yet, or how it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<ObjectRef>,
    /// When it is tried or looked at next, while it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_due: Option<Timestamp>,
    pub time_created: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ended: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookTestBody {
    /// Number of the event.
    pub sequence: u64,
}

/// What a test did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookTestView {
    /// Whether the hook would have taken the event by itself.
    pub is_match: bool,
    pub is_done: bool,
    /// What came of it, or why not.
    pub note: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<ObjectRef>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DeadLetterBody {
    /// Number of the event; all dead letters when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeadLetterReply {
    /// How many dead letters; more may be left when it is 10,000.
    pub count: u64,
}
