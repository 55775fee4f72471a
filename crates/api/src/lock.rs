//! Locks: mutexes and semaphores with a fair queue, leases and fencing tokens.
//!
//! Who asks for a lock chooses the id of its hold, a UUID, and repeats the same request until it holds or
//! gives up; however often it is repeated, it is one hold with one place in the queue.

use hostler_model::{
    LOCK_SLOTS_MAX, LOCK_TTL_DEFAULT, LockEnd, LockForced, LockHoldId, LockHolder, LockId,
    LockName, LockOutcome, Role, Span, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, ProjectPath};

crate::endpoints! { "locks"
    /// List locks by name, with those who hold them.
    LockList = "lock_list" GET "/api/v1/projects/{project}/locks", Access::Project(Role::Viewer), LockRead, 200,
        path: ProjectPath, query: LockListQuery, reply: Listing<LockView>, errors: [NotFound];
    /// Show a lock: who holds it, who waits, and who held it before.
    LockGet = "lock_get" GET "/api/v1/projects/{project}/locks/{lock}", Access::Project(Role::Viewer), LockRead, 200,
        path: LockPath, reply: LockDetailView, errors: [NotFound];
    /// Acquire a lock under an id of your own, or find again what a request with this id did; waits for it if asked to.
    LockAcquire = "lock_acquire" PUT "/api/v1/projects/{project}/locks/{lock}/holds/{hold}", Access::Project(Role::User), LockUse, 200,
        path: LockHoldPath, body: LockAcquireBody, reply: LockAcquired, errors: [NotFound, Invalid, Conflict, QuotaExceeded];
    /// Say that a holder is still there; its time counts from now on.
    LockRenew = "lock_renew" POST "/api/v1/projects/{project}/locks/{lock}/holds/{hold}/renew", Access::Project(Role::User), LockUse, 200,
        path: LockHoldPath, body: LockRenewBody, reply: LockHoldView, errors: [NotFound, Invalid, Conflict];
    /// Release a lock, or give a place in its queue back.
    LockRelease = "lock_release" DELETE "/api/v1/projects/{project}/locks/{lock}/holds/{hold}", Access::Project(Role::User), LockUse, 204,
        path: LockHoldPath, errors: [NotFound, Conflict];
    /// Take a lock away from who holds it, with a reason; who waits longest is next.
    LockForceRelease = "lock_force_release" POST "/api/v1/projects/{project}/locks/{lock}/force-release", Access::Project(Role::Operator), LockForce, 200,
        path: LockPath, body: LockForceBody, reply: LockDetailView, errors: [NotFound, Invalid, Conflict, ApprovalRequired, KeyReused, Stale];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LockPath {
    /// Name or id of the project.
    pub project: String,
    /// Name of the lock; a `/` in it is written `%2F`.
    pub lock: LockName,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LockHoldPath {
    /// Name or id of the project.
    pub project: String,
    /// Name of the lock; a `/` in it is written `%2F`.
    pub lock: LockName,
    /// Id of the hold, chosen by who asks: a fresh UUID for every time that the lock is wanted.
    pub hold: LockHoldId,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LockListQuery {
    /// Also those that nobody holds or waits for, as long as they are remembered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<bool>,
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

crate::paged!(LockListQuery);

fn one() -> u32 {
    1
}

fn ttl_default() -> Span {
    LOCK_TTL_DEFAULT
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LockAcquireBody {
    /// How many may hold it at once; all who use it at the same time say the same (default 1).
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = LOCK_SLOTS_MAX))]
    pub slots: u32,
    /// How long the holder may be silent before the lock is free again: 1s to 1d (default 30s).
    #[serde(default = "ttl_default")]
    pub ttl: Span,
    /// How long to wait now, up to 30s: repeat the request to wait longer. Absent is not to queue at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Span>,
    /// Who this is, for people who look.
    #[serde(default)]
    pub holder: LockHolder,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct LockRenewBody {
    /// Another TTL from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LockForceBody {
    /// Why it is taken away: 1 to 1000 characters.
    pub reason: String,
    /// Only from this hold; from all who hold it when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<LockHoldId>,
}

/// What became of asking for a lock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockAcquired {
    pub outcome: LockOutcome,
    pub lock: LockName,
    /// What you have; absent where it is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<LockHoldView>,
    /// How many wait before you.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Who holds it, where you do not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<LockHoldView>,
}

/// Somebody who holds a lock, or waits for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockHoldView {
    pub id: LockHoldId,
    /// The fencing token: it only grows. Absent while it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<u64>,
    /// The user, service account or workload.
    pub by: String,
    pub holder: LockHolder,
    pub ttl: Span,
    pub time_asked: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_granted: Option<Timestamp>,
    /// When it was heard of last.
    pub time_renewed: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockView {
    pub id: LockId,
    pub name: LockName,
    pub slots: u32,
    pub held: u32,
    pub waiting: u32,
    /// The last fencing token that was given.
    pub token: u64,
    pub holders: Vec<LockHoldView>,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockDetailView {
    #[serde(flatten)]
    pub lock: LockView,
    /// The first hundred of those who wait, in their order.
    pub queue: Vec<LockHoldView>,
    /// Those who held it before, newest first.
    pub past: Vec<LockPastView>,
}

/// Somebody who held a lock before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockPastView {
    pub id: LockHoldId,
    pub token: u64,
    pub by: String,
    pub holder: LockHolder,
    pub end: LockEnd,
    /// Who took it away and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced: Option<LockForced>,
    pub time_granted: Timestamp,
    pub time_ended: Timestamp,
}
