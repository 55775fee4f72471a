//! Locks of stacks: the lock `stack/NAME` of the project, which keeps every change of others out while somebody holds it.

use hostler_model::{LockHoldId, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Access;
use crate::lock::{LockAcquireBody, LockAcquired, LockDetailView, LockHoldView, LockRenewBody};
use crate::stack::StackPath;

crate::endpoints! { "stacks"
    /// Show who holds the lock of a stack.
    StackLockGet = "stack_lock_get" GET "/api/v1/projects/{project}/stacks/{stack}/lock", Access::Project(Role::Viewer), StackRead, 200,
        path: StackPath, reply: StackLockView, errors: [NotFound];
    /// Acquire the lock of a stack under an id of your own, or find again what a request with this id did.
    StackLockAcquire = "stack_lock_acquire" PUT "/api/v1/projects/{project}/stacks/{stack}/lock/holds/{hold}", Access::Project(Role::User), StackApply, 200,
        path: StackLockPath, body: LockAcquireBody, reply: LockAcquired, errors: [NotFound, Invalid, Conflict, QuotaExceeded];
    /// Say that who holds the lock of a stack is still there; its time counts from now on.
    StackLockRenew = "stack_lock_renew" POST "/api/v1/projects/{project}/stacks/{stack}/lock/holds/{hold}/renew", Access::Project(Role::User), StackApply, 200,
        path: StackLockPath, body: LockRenewBody, reply: LockHoldView, errors: [NotFound, Invalid, Conflict, KeyReused];
    /// Release the lock of a stack that the caller holds.
    StackLockRelease = "stack_lock_release" DELETE "/api/v1/projects/{project}/stacks/{stack}/lock", Access::Project(Role::User), StackApply, 204,
        path: StackPath, query: StackLockReleaseQuery, errors: [NotFound, Conflict];
    /// Take the lock of a stack away from who holds it, with a reason.
    StackLockForceRelease = "stack_lock_force_release" POST "/api/v1/projects/{project}/stacks/{stack}/lock/force-release", Access::Project(Role::Operator), StackUnlock, 200,
        path: StackPath, body: StackLockForceBody, reply: LockDetailView, errors: [NotFound, Invalid, Conflict, ApprovalRequired, KeyReused, Stale];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackLockPath {
    /// Name or id of the project.
    pub project: String,
    /// Name or id of the stack.
    pub stack: String,
    /// Id of the hold, chosen by who asks: a fresh UUID for every time that the lock is wanted.
    pub hold: LockHoldId,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StackLockReleaseQuery {
    /// Id of the hold; the caller's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<LockHoldId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StackLockForceBody {
    /// Why it is taken away: 1 to 1000 characters.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackLockView {
    pub is_held: bool,
    /// Absent where nobody used it lately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<LockDetailView>,
}
