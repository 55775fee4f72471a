//! Approvals: what needs others to agree, what waits for that, and deciding.

use hostler_model::{
    ApprovalId, ApprovalParty, ApprovalPolicyId, ApprovalRule, ApprovalState, ArrayId, Digest,
    Name, Permission, Role, Timestamp, WorkloadId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "approvals"
    /// List requests for approvals, newest first: those of projects in which the caller sees them, its own, or those that it can decide on.
    ApprovalList = "approval_list" GET "/api/v1/approvals", Access::LoggedIn, ApprovalRead, 200,
        query: ApprovalListQuery, reply: Listing<ApprovalView>;
    /// Show a request for an approval, with what will be done.
    ApprovalGet = "approval_get" GET "/api/v1/approvals/{approval}", Access::LoggedIn, ApprovalRead, 200,
        path: ApprovalPath, reply: ApprovalView, errors: [NotFound];
    /// Agree to what somebody else wants to do. Tasks go on at once; anything else is repeated by who asked, with the header `Hostler-Approval`.
    ApprovalApprove = "approval_approve" POST "/api/v1/approvals/{approval}/approve", Access::LoggedIn, ApprovalDecide, 200,
        path: ApprovalPath, body: ApprovalApproveBody, reply: ApprovalView, errors: [NotFound, Conflict, KeyReused];
    /// Do not agree. Tasks that wait for it are rejected.
    ApprovalDeny = "approval_deny" POST "/api/v1/approvals/{approval}/deny", Access::LoggedIn, ApprovalDecide, 200,
        path: ApprovalPath, body: ApprovalDenyBody, reply: ApprovalView, errors: [NotFound, Conflict, KeyReused];
    /// Take a request back that the caller made.
    ApprovalWithdraw = "approval_withdraw" POST "/api/v1/approvals/{approval}/withdraw", Access::LoggedIn, ApprovalWithdraw, 200,
        path: ApprovalPath, reply: ApprovalView, errors: [NotFound, Conflict, KeyReused];
    /// List what needs an approval on the whole installation, by name.
    ApprovalPolicyList = "approval_policy_list" GET "/api/v1/approval-policies", Access::Global(Role::Admin), ApprovalPolicyGlobal, 200,
        query: PageQuery, reply: Listing<ApprovalPolicyView>;
    /// Show a policy of the whole installation.
    ApprovalPolicyGet = "approval_policy_get" GET "/api/v1/approval-policies/{policy}", Access::Global(Role::Admin), ApprovalPolicyGlobal, 200,
        path: ApprovalPolicyPath, reply: ApprovalPolicyView, errors: [NotFound];
    /// Say what needs an approval on the whole installation.
    ApprovalPolicySet = "approval_policy_set" PUT "/api/v1/approval-policies/{policy}", Access::Global(Role::Admin), ApprovalPolicyGlobal, 200,
        path: ApprovalPolicyPath, body: ApprovalRule, reply: ApprovalPolicyView, errors: [NotFound, AlreadyExists], if_match: IfPresent;
    /// Remove a policy of the whole installation. What waits already goes on waiting.
    ApprovalPolicyRemove = "approval_policy_remove" DELETE "/api/v1/approval-policies/{policy}", Access::Global(Role::Admin), ApprovalPolicyGlobal, 204,
        path: ApprovalPolicyPath, errors: [NotFound], if_match: Always;
    /// List what needs an approval in a project, by name.
    ProjectApprovalPolicyList = "project_approval_policy_list" GET "/api/v1/projects/{project}/approval-policies", Access::Project(Role::Viewer), ApprovalPolicyRead, 200,
        path: ProjectPath, query: PageQuery, reply: Listing<ApprovalPolicyView>, errors: [NotFound];
    /// Show a policy of a project.
    ProjectApprovalPolicyGet = "project_approval_policy_get" GET "/api/v1/projects/{project}/approval-policies/{policy}", Access::Project(Role::Viewer), ApprovalPolicyRead, 200,
        path: ProjectApprovalPolicyPath, reply: ApprovalPolicyView, errors: [NotFound];
    /// Say what needs an approval in a project.
    ProjectApprovalPolicySet = "project_approval_policy_set" PUT "/api/v1/projects/{project}/approval-policies/{policy}", Access::Project(Role::Admin), ApprovalPolicySet, 200,
        path: ProjectApprovalPolicyPath, body: ApprovalRule, reply: ApprovalPolicyView, errors: [NotFound, AlreadyExists], if_match: IfPresent;
    /// Remove a policy of a project. What waits already goes on waiting.
    ProjectApprovalPolicyRemove = "project_approval_policy_remove" DELETE "/api/v1/projects/{project}/approval-policies/{policy}", Access::Project(Role::Admin), ApprovalPolicySet, 204,
        path: ProjectApprovalPolicyPath, errors: [NotFound], if_match: Always;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalPath {
    /// Id of the request.
    pub approval: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalPolicyPath {
    /// Name of the policy.
    pub policy: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectApprovalPolicyPath {
    /// Name or id of the project.
    pub project: String,
    /// Name of the policy.
    pub policy: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct ApprovalListQuery {
    /// Only those that the caller made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mine: Option<bool>,
    /// Only those that the caller can decide on now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_decide: Option<bool>,
    /// Only those in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<ApprovalState>,
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

crate::paged!(ApprovalListQuery);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalApproveBody {
    /// Why, for the record.
    #[schemars(length(max = 1000))]
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// What was looked at: it is only agreed to if the request is for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalDenyBody {
    /// Why not; who asked is told.
    #[schemars(length(min = 1, max = 1000))]
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalView {
    pub id: ApprovalId,
    /// Name of the project; absent for the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Name>,
    /// What somebody wants to do...
    pub verb: Permission,
    /// ...to what.
    pub name: String,
    pub state: ApprovalState,
    pub requested_by: String,
    /// BLAKE3 of exactly what will be done.
    pub digest: Digest,
    /// What will be done, without the values of environments.
    pub what: serde_json::Value,
    /// Tasks that wait for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<WorkloadId>,
    /// The array that waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayId>,
    pub needs: Vec<ApprovalNeedView>,
    pub decisions: Vec<ApprovalDecisionView>,
    /// Why it ended, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Whether the caller can decide on it now.
    pub is_decidable: bool,
    pub generation: u64,
    pub time_created: Timestamp,
    /// Until when it can be decided on, and, once it is approved, used.
    pub time_expires: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ended: Option<Timestamp>,
}

/// What one policy asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalNeedView {
    /// Name of the policy.
    pub policy: Name,
    /// How many people have to agree.
    pub approvals: u32,
    /// How many did.
    pub agreed: u32,
    /// Who may; empty is whoever has `approval.decide`.
    pub by: Vec<ApprovalParty>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalDecisionView {
    pub by: Name,
    pub is_approval: bool,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    pub time: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalPolicyView {
    pub id: ApprovalPolicyId,
    pub name: Name,
    /// Name of the project; absent for the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Name>,
    pub rule: ApprovalRule,
    pub created_by: String,
    pub generation: u64,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}
