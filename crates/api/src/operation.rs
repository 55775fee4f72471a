//! Operations: long changes that can be watched and cancelled.

use hostler_model::{
    Actor, OperationId, OperationPlan, OperationState, Role, Span, Step, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing};

crate::endpoints! { "operations"
    /// List operations, newest first.
    OperationList = "operation_list" GET "/api/v1/operations", Access::Global(Role::Viewer), OperationRead, 200,
        query: OperationListQuery, reply: Listing<OperationView>;
    /// Show an operation; with `wait`, answer when it has ended or the time is over.
    OperationGet = "operation_get" GET "/api/v1/operations/{operation}", Access::Global(Role::Viewer), OperationRead, 200,
        path: OperationPath, query: OperationGetQuery, reply: OperationView, errors: [NotFound];
    /// Ask for an operation to stop after its present step.
    OperationCancel = "operation_cancel" POST "/api/v1/operations/{operation}/cancel", Access::Global(Role::Operator), OperationCancel, 200,
        path: OperationPath, reply: OperationView, errors: [NotFound, Conflict, KeyReused];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationPath {
    /// Id of the operation.
    pub operation: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OperationListQuery {
    /// Only operations in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<OperationState>,
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

crate::paged!(OperationListQuery);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OperationGetQuery {
    /// Wait at most this long (up to 60s) for the operation to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperationView {
    pub id: OperationId,
    pub plan: OperationPlan,
    pub state: OperationState,
    pub steps: Vec<Step>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub is_cancel_requested: bool,
    pub created_by: Actor,
    pub generation: u64,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ended: Option<Timestamp>,
}
