//! What happened (events) and who did it (audit).

use hostler_model::{
    Actor, AuditVerdict, EventKind, ObjectKind, ObjectRef, ProjectId, Role, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing};

crate::endpoints! { "records"
    /// List events, newest first; with `watch=true`, stream them as they happen.
    EventList = "event_list" GET "/api/v1/events", Access::LoggedIn, 200,
        query: EventListQuery, reply: Listing<EventView>, errors: [NotFound, CursorGone], stream: Watch;
    /// List audit entries, newest first.
    AuditList = "audit_list" GET "/api/v1/audit", Access::Global(Role::Admin), 200,
        query: AuditListQuery, reply: Listing<AuditView>;
    /// Recompute the whole audit chain.
    AuditVerify = "audit_verify" GET "/api/v1/audit/verify", Access::Global(Role::Admin), 200, reply: AuditVerdict;
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
    /// Only this action, such as `task.create`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
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
pub struct AuditView {
    pub sequence: u64,
    pub time: Timestamp,
    pub actor: Actor,
    pub action: String,
    pub object: ObjectRef,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    pub request_id: String,
    pub source: String,
    pub detail: serde_json::Value,
    /// Hex.
    pub hash: String,
}
