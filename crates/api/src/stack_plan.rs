//! Plans of changes to stacks, and how far their objects have drifted from what they say.
//!
//! A plan is what would be done, kept for an hour: who applies it does exactly that, or is refused because the stack has
//! moved since.

use hostler_model::stack::{StackChanges, StackDriftItem, StackName};
use hostler_model::{Actor, Digest, Generation, Role, StackId, StackPlanId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stack::{StackCreateBody, StackFormBody, StackOptionsBody, StackPath, StackView};
use crate::{Access, Listing, ProjectPath};

crate::endpoints! { "stacks"
    /// List the plans that are kept, newest first.
    StackPlanList = "stack_plan_list" GET "/api/v1/projects/{project}/stack-plans", Access::Project(Role::Viewer), StackRead, 200,
        path: ProjectPath, query: StackPlanListQuery, reply: Listing<StackPlanView>, errors: [NotFound];
    /// Say what a change would do, resource by resource and property by property, and keep that as a plan.
    StackPlanCreate = "stack_plan_create" POST "/api/v1/projects/{project}/stack-plans", Access::Project(Role::User), StackApply, 201,
        path: ProjectPath, body: StackPlanBody, reply: StackPlanView,
        errors: [NotFound, AlreadyExists, Conflict, QuotaExceeded, Stale, KeyReused];
    /// Show a plan.
    StackPlanGet = "stack_plan_get" GET "/api/v1/projects/{project}/stack-plans/{plan}", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPlanPath, reply: StackPlanView, errors: [NotFound];
    /// Forget a plan.
    StackPlanRemove = "stack_plan_remove" DELETE "/api/v1/projects/{project}/stack-plans/{plan}", Access::Project(Role::User), StackApply, 204,
        path: StackPlanPath, errors: [NotFound];
    /// Begin to do what a plan says, once, unless the stack has moved since or the plan has expired.
    StackPlanApply = "stack_plan_apply" POST "/api/v1/projects/{project}/stack-plans/{plan}/apply", Access::Project(Role::User), StackApply, 200,
        path: StackPlanPath, reply: StackView,
        errors: [NotFound, AlreadyExists, Invalid, Conflict, QuotaExceeded, ApprovalRequired, Stale, KeyReused];
    /// Look at the objects of a stack as they are now, and keep how far they are from what it says.
    StackDriftDetect = "stack_drift_detect" POST "/api/v1/projects/{project}/stacks/{stack}/drift", Access::Project(Role::User), StackApply, 200,
        path: StackPath, reply: StackDriftView, errors: [NotFound, Conflict, Stale, KeyReused];
    /// Show what was found when somebody looked last.
    StackDriftGet = "stack_drift_get" GET "/api/v1/projects/{project}/stacks/{stack}/drift", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, reply: StackDriftView, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackPlanPath {
    /// Name or id of the project.
    pub project: String,
    pub plan: StackPlanId,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackPlanListQuery {
    /// Only of this stack, by name or by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
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

crate::paged!(StackPlanListQuery);

/// What would be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum StackPlanBody {
    /// A stack is made.
    Create(StackCreateBody),
    /// A stack is changed to what is given as a whole.
    Update {
        /// Name or id of the stack.
        stack: String,
        form: StackFormBody,
        #[serde(default)]
        options: StackOptionsBody,
        /// Why; it stands at the revision, in events and in the audit trail.
        #[schemars(length(max = 1000))]
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// A stack is changed in what is given.
    Patch {
        /// Name or id of the stack.
        stack: String,
        form: StackFormBody,
        /// Names of parameters whose values are forgotten.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        clear_parameters: Vec<String>,
        #[serde(default)]
        options: StackOptionsBody,
        /// Why; it stands at the revision, in events and in the audit trail.
        #[schemars(length(max = 1000))]
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// A stack is taken down.
    Remove {
        /// Name or id of the stack.
        stack: String,
        /// Also when other stacks use its outputs.
        #[serde(default)]
        force: bool,
        /// Why; it stands at the revision, in events and in the audit trail.
        #[schemars(length(max = 1000))]
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// A stack goes back to what it was.
    Restore {
        /// Name or id of the stack.
        stack: String,
        /// A revision, such as `v3`, or the id of a snapshot.
        point: String,
        /// Why; it stands at the revision, in events and in the audit trail.
        #[schemars(length(max = 1000))]
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// What has drifted is put right.
    Fix {
        /// Name or id of the stack.
        stack: String,
        /// Why; it stands at the revision, in events and in the audit trail.
        #[schemars(length(max = 1000))]
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackPlanView {
    pub id: StackPlanId,
    pub stack: StackName,
    pub stack_id: StackId,
    /// Of the stack when the plan was made; 0 where there was none.
    pub base: Generation,
    /// Of everything that would be done.
    pub digest: Digest,
    /// What would be done, without secrets.
    pub changes: StackChanges,
    pub created_by: Actor,
    pub time_created: Timestamp,
    pub time_expires: Timestamp,
    /// When it was applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_used: Option<Timestamp>,
}

/// How far the objects of a stack are from what it says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackDriftView {
    /// Whether there is something to put right.
    pub is_drifted: bool,
    /// Nothing was changed since it was looked at.
    pub is_current: bool,
    /// How many objects were looked at.
    pub looked: u32,
    /// How many of them are not as the stack says.
    pub changed: u32,
    /// How many are not there at all.
    pub missing: u32,
    /// How many could not be looked at.
    pub unknown: u32,
    /// Each of them, without secrets.
    pub items: Vec<StackDriftItem>,
    /// When it was looked at.
    pub time: Timestamp,
}
