//! Who may do what: principals, roles, bindings, tokens, web sessions.
//!
//! Reading order: permissions and sets of them, roles that are such sets, and the decision about a
//! caller.

mod caller;
mod network;
mod permission;
mod role;
mod token;

pub use caller::{Caller, Grant, Narrowing, Need, Verdict};
pub use network::{Network, ParseNetworkError};
pub use permission::{Permission, PermissionSet, Reach, Unreadable};
pub use role::{CustomRole, Group, Role, RoleName, Subject};
pub use token::{Credential, Token, TokenLimits, WorkloadIdentity};

use serde::{Deserialize, Serialize};

use crate::{Generation, Name, PrincipalId, ProjectId, Timestamp, WebSessionId};

crate::labels! {
    pub enum PrincipalKind ("principal kind") {
        /// A person, with a password.
        User = "user",
        /// A program, with tokens only.
        Service = "service",
        /// Something that runs here, with the token it is given while it runs. It has no account.
        Workload = "workload",
    }
}

/// Somebody who can act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub id: PrincipalId,
    pub name: Name,
    pub kind: PrincipalKind,
    /// Argon2id PHC string; `None` cannot log in with a password.
    pub password_hash: Option<String>,
    pub is_disabled: bool,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// Where a role holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The whole installation: every project, and what belongs to none (nodes, users, servers).
    Global,
    Project(ProjectId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleBinding {
    pub principal_id: PrincipalId,
    pub scope: Scope,
    pub role: RoleName,
}

/// A browser that is logged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebSession {
    pub id: WebSessionId,
    pub principal_id: PrincipalId,
    pub secret_hash: Vec<u8>,
    pub user_agent: String,
    pub time_created: Timestamp,
    pub time_expires: Timestamp,
    pub time_last_used: Timestamp,
}

/// A reference to who did something, as kept in events and audit entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Actor {
    /// `user`, `service`, `workload`, `node` or `system`.
    pub kind: ActorKind,
    /// Name of the principal or node; the server's own name for `system`; `project:NAME:workload:NAME`
    /// for what runs.
    pub name: String,
}

crate::labels! {
    pub enum ActorKind ("actor kind") {
        User = "user",
        Service = "service",
        Workload = "workload",
        Node = "node",
        System = "system",
    }
}

#[cfg(test)]
mod tests;
