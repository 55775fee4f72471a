//! Tokens, what they are limited to, and how a caller proved who it is.

use super::{Network, Permission, PermissionSet, Role, Scope};
use crate::{Name, PrincipalId, ProjectId, RunId, Timestamp, TokenId, WebSessionId};

/// An API token. Only the hash of its secret is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub principal_id: PrincipalId,
    pub name: Name,
    /// SHA-256 of the 256-bit random secret.
    pub secret_hash: Vec<u8>,
    pub limits: TokenLimits,
    pub time_created: Timestamp,
    pub time_expires: Option<Timestamp>,
    pub time_last_used: Option<Timestamp>,
    pub time_revoked: Option<Timestamp>,
}

impl Token {
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.time_revoked.is_none() && self.time_expires.is_none_or(|t| now < t)
    }
}

/// What a token is for. It never does more than its owner; where a limit is absent, that one does not
/// narrow it, and an empty list allows nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenLimits {
    /// Nothing beyond this role...
    pub role_max: Role,
    /// ...nor outside these projects...
    pub projects: Option<Vec<ProjectId>>,
    /// ...nor anything but this...
    pub can: Option<PermissionSet>,
    /// ...and only from these addresses.
    pub sources: Option<Vec<Network>>,
}

impl TokenLimits {
    /// No limit but a role.
    pub const fn role(role_max: Role) -> TokenLimits {
        TokenLimits { role_max, projects: None, can: None, sources: None }
    }

    /// Whether it works there at all.
    pub fn reaches(&self, scope: Scope) -> bool {
        match (&self.projects, scope) {
            (None, _) => true,
            (Some(only), Scope::Project(asked)) => only.contains(&asked),
            (Some(_), Scope::Global) => false,
        }
    }

    /// Whether it allows no more than another in any way.
    pub fn is_within(&self, other: &TokenLimits) -> bool {
        let projects = match (&self.projects, &other.projects) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(most)) => own.iter().all(|project| most.contains(project)),
        };
        let can = match (self.can, other.can) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(most)) => own.is_within(most),
        };
        let sources = match (&self.sources, &other.sources) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(most)) => {
                own.iter().all(|range| most.iter().any(|wide| range.is_within(wide)))
            }
        };
        self.role_max <= other.role_max && projects && can && sources
    }
}

/// How the caller proved who it is; a token narrows what its principal may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    WebSession(WebSessionId),
    Token {
        id: TokenId,
        limits: TokenLimits,
    },
    /// Something that runs, for whoever submitted it.
    Workload(WorkloadIdentity),
}

/// What runs, and what of its submitter's permissions it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadIdentity {
    pub run_id: RunId,
    /// It acts here and nowhere else.
    pub project_id: ProjectId,
    /// `project:NAME:workload:NAME`, or `task` in place of `workload`.
    pub subject: String,
    /// Of the role that its spec names; nothing without one.
    pub can: PermissionSet,
}

impl Credential {
    /// Whether it is for this permission, if it is for some only.
    pub fn allows(&self, permission: Permission) -> bool {
        match self {
            Credential::WebSession(_) => true,
            Credential::Token { limits, .. } => limits.can.is_none_or(|can| can.has(permission)),
            Credential::Workload(identity) => identity.can.has(permission),
        }
    }
}
