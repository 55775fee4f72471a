//! What happened (events) and who did it (audit).

use hostler_model::{
    Actor, AuditVerdict, CUSTOM_MESSAGE_MAX, EventName, EventPattern, Name, ObjectKind, ObjectRef,
    ProjectId, Role, Timestamp,
};
pub use hostler_model::{AuditAnchorRecord as AuditAnchorView, AuditRecord as AuditView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "records"
    /// List events, newest first; with `watch=true`, stream them as they happen.
    EventList = "event_list" GET "/api/v1/events", Access::LoggedIn, EventRead, 200,
        query: EventListQuery, reply: Listing<EventView>, errors: [NotFound, CursorGone], stream: Watch;
    /// List events, oldest first and without a gap, to be kept elsewhere.
    EventExport = "event_export" GET "/api/v1/events/export", Access::LoggedIn, EventRead, 200,
        query: EventExportQuery, reply: Listing<EventView>, errors: [NotFound, CursorGone];
    /// Tell of an event of one's own, `custom.NAME`.
    EventEmit = "event_emit" POST "/api/v1/projects/{project}/events", Access::Project(Role::User), EventEmit, 201,
        path: ProjectPath, body: EventEmitBody, reply: EventView, errors: [NotFound, Invalid, Conflict, KeyReused];
    /// List or search audit entries, newest first.
    AuditList = "audit_list" GET "/api/v1/audit", Access::Global(Role::Admin), AuditRead, 200,
        query: AuditListQuery, reply: Listing<AuditView>, errors: [NotFound];
    /// List audit entries, oldest first and without a gap, to be kept elsewhere.
    AuditExport = "audit_export" GET "/api/v1/audit/export", Access::Global(Role::Admin), AuditRead, 200,
        query: AuditExportQuery, reply: Listing<AuditView>;
    /// Recompute the whole audit chain, and hold its anchors against it.
    AuditVerify = "audit_verify" GET "/api/v1/audit/verify", Access::Global(Role::Admin), AuditRead, 200, reply: AuditVerdict;
    /// List signed anchors of the audit chain, newest first.
    AuditAnchorList = "audit_anchor_list" GET "/api/v1/audit/anchors", Access::Global(Role::Admin), AuditRead, 200,
        query: PageQuery, reply: Listing<AuditAnchorView>;
    /// Sign the audit chain as it is now.
    AuditAnchorCreate = "audit_anchor_create" POST "/api/v1/audit/anchors", Access::Global(Role::Admin), AuditAnchor, 201,
        reply: AuditAnchorView;
    /// List the sinks that audit entries are delivered to, and how far each has been told.
    AuditSinkList = "audit_sink_list" GET "/api/v1/audit/sinks", Access::Global(Role::Admin), AuditRead, 200,
        reply: Listing<AuditSinkView>;
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EventListQuery {
    /// Only events of this project (name or id).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only events of this kind, such as `task.failed` or `custom.deploy`, or of all of a noun: `lock.*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<EventPattern>,
    /// Only events about this kind of object...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectKind>,
    /// ...with this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Only events about objects with this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Only what was caused by this: the id of a request, `execution/ID`, `task/ID`, `workload/ID`, `fire/ID/TIME` or
    /// `hook/ID/NUMBER`; by all that begin so, where it ends with a `/`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Not before this time; not with `watch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Before this time; not with `watch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Only events of which this holds, such as `payload.exitCode > 1 and object.name startsWith "web"`. A page
    /// may be empty although more follow: go on with `nextCursor`.
    #[schemars(length(max = 4096))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before; with `watch`, the `watchCursor` of a list or of the last message seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Stream events instead of listing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EventExportQuery {
    /// Only events of this project (name or id).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only events of this kind, such as `task.failed` or `custom.deploy`, or of all of a noun: `lock.*`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<EventPattern>,
    /// Only events about this kind of object...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectKind>,
    /// ...with this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Only events about objects with this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Only what was caused by this, as in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Only events of which this holds, as in a list.
    #[schemars(length(max = 4096))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Not before this time; from the oldest that is kept when absent. Refused when some since then are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Only events after this number. Refused when some after it are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// At most this many items (1 to 1000, default 100). A page may be empty although more follow.
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What somebody tells of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventEmitBody {
    /// `custom.NAME`: up to 120 characters, words of letters, digits, `_` and `-` with dots between them.
    pub kind: EventName,
    /// One sentence for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = CUSTOM_MESSAGE_MAX))]
    pub message: String,
    /// Anything for programs, of up to 16 KiB as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<serde_json::Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventView {
    pub sequence: u64,
    pub kind: EventName,
    pub time: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Name of the project, while there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_name: Option<Name>,
    pub object: ObjectRef,
    pub actor: Actor,
    pub message: String,
    /// The same for programs, and more; what there is depends on the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<serde_json::Value>,
    /// What caused it: the id of a request, or an execution, a task or a delivery of a hook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuditListQuery {
    /// Only entries of this actor (name).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Only this action, such as `task.create`; `task.` or `task.*` for all that begin so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Only about this kind of object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ObjectKind>,
    /// Only about the object with this id or name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Only of this project (name or id).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Only of requests from this address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Not before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Only with this text in names, action, request id, address or detail, whatever the case. A page
    /// may be empty although more follow: go on with `nextCursor`.
    #[schemars(length(max = 200))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
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

crate::paged!(AuditListQuery);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuditExportQuery {
    /// From the first entry that is not before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Only entries after this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditSinkView {
    pub name: String,
    /// Where it is, without what may be secret in its address.
    pub to: String,
    /// Every entry up to this one was delivered.
    pub sequence: u64,
    /// Entries that wait to be delivered.
    pub lag: u64,
    /// Why the last delivery failed; absent when it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// When it was last told, or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_modified: Option<Timestamp>,
}
