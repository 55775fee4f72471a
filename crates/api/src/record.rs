//! What happened (events) and who did it (audit).

use hostler_model::{
    Actor, AuditVerdict, EventKind, ObjectKind, ObjectRef, ProjectId, Role, Timestamp,
};
pub use hostler_model::{AuditAnchorRecord as AuditAnchorView, AuditRecord as AuditView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery};

crate::endpoints! { "records"
    /// List events, newest first; with `watch=true`, stream them as they happen.
    EventList = "event_list" GET "/api/v1/events", Access::LoggedIn, EventRead, 200,
        query: EventListQuery, reply: Listing<EventView>, errors: [NotFound, CursorGone], stream: Watch;
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
    /// Only events of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<EventKind>,
    /// Only events about this kind of object...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectKind>,
    /// ...with this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventView {
    pub sequence: u64,
    pub kind: EventKind,
    pub time: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    pub object: ObjectRef,
    pub actor: Actor,
    pub message: String,
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
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

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
