//! Who may do what: principals, roles, bindings, tokens, web sessions.

use serde::{Deserialize, Serialize};

use crate::{Generation, Name, PrincipalId, ProjectId, Timestamp, TokenId, WebSessionId};

crate::labels! {
    /// Roles, each including those before it. Bound per project, or on the whole installation.
    pub enum Role ("role") {
        /// Sees everything in the scope.
        Viewer = "viewer",
        /// Runs things in the scope.
        User = "user",
        /// Tends nodes and everybody's workloads in the scope.
        Operator = "operator",
        /// Gives roles and changes the scope itself.
        Admin = "admin",
    }
}

crate::labels! {
    pub enum PrincipalKind ("principal kind") {
        /// A person, with a password.
        User = "user",
        /// A program, with tokens only.
        Service = "service",
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleBinding {
    pub principal_id: PrincipalId,
    pub scope: Scope,
    pub role: Role,
}

/// An API token. Only the hash of its secret is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    pub principal_id: PrincipalId,
    pub name: Name,
    /// SHA-256 of the 256-bit random secret.
    pub secret_hash: Vec<u8>,
    /// The token can never do more than this role...
    pub role_max: Role,
    /// ...nor act outside this project.
    pub project_id: Option<ProjectId>,
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

/// The caller of a service method, with everything the authoriser asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub principal_id: PrincipalId,
    pub name: Name,
    pub kind: PrincipalKind,
    pub bindings: Vec<RoleBinding>,
    pub credential: Credential,
}

/// How the caller proved who it is; a token narrows what its principal may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    WebSession(WebSessionId),
    Token { id: TokenId, role_max: Role, project_id: Option<ProjectId> },
}

/// What an action needs: at least this role in this scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    pub role: Role,
    pub scope: Scope,
}

impl Caller {
    /// The role held in a scope, after the token's own limits. `None` is no access at all.
    pub fn role_in(&self, scope: Scope) -> Option<Role> {
        let held = self
            .bindings
            .iter()
            .filter(|b| b.scope == Scope::Global || b.scope == scope)
            .map(|b| b.role)
            .max()?;
        match &self.credential {
            Credential::WebSession(_) => Some(held),
            Credential::Token { role_max, project_id, .. } => match (project_id, scope) {
                (None, _) => Some(held.min(*role_max)),
                (Some(only), Scope::Project(asked)) if *only == asked => Some(held.min(*role_max)),
                (Some(_), _) => None,
            },
        }
    }

    /// The one question every transport asks. Deny is the default: no binding, no access.
    pub fn may(&self, need: Need) -> bool {
        self.role_in(need.scope).is_some_and(|role| role >= need.role)
    }

    /// Projects the caller has any role in; `None` means all of them.
    pub fn visible_projects(&self) -> Option<Vec<ProjectId>> {
        if self.role_in(Scope::Global).is_some() {
            return None;
        }
        let of = |b: &RoleBinding| match b.scope {
            Scope::Global => None,
            Scope::Project(id) => Some(id),
        };
        let bound = match &self.credential {
            // A token tied to a project sees that one, even where its principal sees all.
            Credential::Token { project_id: Some(only), .. } => vec![*only],
            Credential::Token { .. } | Credential::WebSession(_) => {
                self.bindings.iter().filter_map(of).collect()
            }
        };
        Some(bound.into_iter().filter(|id| self.role_in(Scope::Project(*id)).is_some()).collect())
    }
}

/// A reference to who did something, as kept in events and audit entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Actor {
    /// `user`, `service`, `node` or `system`.
    pub kind: ActorKind,
    /// Name of the principal or node; the server's own name for `system`.
    pub name: String,
}

crate::labels! {
    pub enum ActorKind ("actor kind") {
        User = "user",
        Service = "service",
        Node = "node",
        System = "system",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn project(n: u128) -> ProjectId {
        ProjectId::from_uuid(Uuid::from_u128(n))
    }

    fn caller(bindings: &[(Scope, Role)], credential: Credential) -> Caller {
        let principal_id = PrincipalId::from_uuid(Uuid::from_u128(9));
        Caller {
            principal_id,
            name: "ada".parse().unwrap(),
            kind: PrincipalKind::User,
            bindings: bindings
                .iter()
                .map(|(scope, role)| RoleBinding { principal_id, scope: *scope, role: *role })
                .collect(),
            credential,
        }
    }

    fn web() -> Credential {
        Credential::WebSession(WebSessionId::from_uuid(Uuid::from_u128(1)))
    }

    fn token(role_max: Role, project_id: Option<ProjectId>) -> Credential {
        Credential::Token { id: TokenId::from_uuid(Uuid::from_u128(1)), role_max, project_id }
    }

    #[test]
    fn nothing_is_allowed_without_a_binding() {
        let nobody = caller(&[], web());
        for role in Role::ALL {
            assert!(!nobody.may(Need { role: *role, scope: Scope::Global }));
            assert!(!nobody.may(Need { role: *role, scope: Scope::Project(project(1)) }));
        }
        assert_eq!(nobody.visible_projects(), Some(vec![]));
    }

    #[test]
    fn a_global_role_holds_in_every_project_but_not_the_other_way() {
        let global = caller(&[(Scope::Global, Role::User)], web());
        assert!(global.may(Need { role: Role::User, scope: Scope::Project(project(7)) }));
        let local = caller(&[(Scope::Project(project(1)), Role::Admin)], web());
        assert!(local.may(Need { role: Role::Admin, scope: Scope::Project(project(1)) }));
        assert!(!local.may(Need { role: Role::Viewer, scope: Scope::Global }));
        assert!(!local.may(Need { role: Role::Viewer, scope: Scope::Project(project(2)) }));
    }

    #[test]
    fn a_token_only_narrows() {
        let admin = [(Scope::Global, Role::Admin)];
        let narrow = caller(&admin, token(Role::Viewer, Some(project(1))));
        assert!(narrow.may(Need { role: Role::Viewer, scope: Scope::Project(project(1)) }));
        assert!(!narrow.may(Need { role: Role::User, scope: Scope::Project(project(1)) }));
        assert!(!narrow.may(Need { role: Role::Viewer, scope: Scope::Project(project(2)) }));
        assert!(!narrow.may(Need { role: Role::Viewer, scope: Scope::Global }));
        assert_eq!(narrow.visible_projects(), Some(vec![project(1)]));
        let wide = caller(&[(Scope::Global, Role::Viewer)], token(Role::Admin, None));
        assert!(!wide.may(Need { role: Role::User, scope: Scope::Global }));
    }
}
