//! The decision: what a caller holds, and whether that is enough.
//!
//! A caller holds *grants*, its own and those of its groups; what it may do in a scope is their union,
//! and a grant on the whole installation holds in every project. A token takes away from that, by role,
//! by project and by permission, and never adds. What runs has of its submitter's grants what its role
//! names, in its own project. Nothing is allowed that no grant gives, except what is
//! everybody's own.
//!
//! All of it is pure: [`Caller::verdict`] decides and says why, and [`Caller::may`] is that without the
//! reasons.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::{Credential, Permission, PermissionSet, PrincipalKind, Reach, Role, RoleName, Scope};
use crate::{Name, PrincipalId, ProjectId};

/// The caller of a service method, with everything the authoriser asks about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub principal_id: PrincipalId,
    pub name: Name,
    pub kind: PrincipalKind,
    pub grants: Vec<Grant>,
    pub credential: Credential,
}

/// A role that somebody holds somewhere, with what it allows now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub scope: Scope,
    pub role: RoleName,
    pub permissions: PermissionSet,
    /// Through this group; `None` is by a binding of one's own.
    pub group: Option<Name>,
}

impl Grant {
    /// A built-in role of one's own.
    pub fn built_in(scope: Scope, role: Role) -> Grant {
        Grant { scope, role: role.into(), permissions: role.permissions(), group: None }
    }
}

/// What an action needs: this permission in this scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    pub permission: Permission,
    pub scope: Scope,
}

impl Need {
    /// In a project where the permission is about one, otherwise on the whole installation.
    pub fn of(permission: Permission, project: Option<ProjectId>) -> Need {
        let scope = match (permission.reach(), project) {
            (Reach::Project, Some(project)) => Scope::Project(project),
            (Reach::Project, None) | (Reach::Global, _) => Scope::Global,
        };
        Need { permission, scope }
    }
}

/// A decision with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// Everybody who is logged in may.
    Everybodys,
    /// By each of these.
    Granted(Vec<&'a Grant>),
    /// Nothing that the caller holds gives it.
    NotGranted,
    /// The caller holds it by these, but the token it came with, or the role it runs with, does not let it.
    Narrowed(Narrowing, Vec<&'a Grant>),
}

impl Verdict<'_> {
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Verdict::Everybodys | Verdict::Granted(_))
    }
}

/// Which limit of a token stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrowing {
    /// It works in some projects only.
    Project,
    /// It never does more than this role.
    Role(Role),
    /// It is for some permissions only.
    Permission,
}

impl Caller {
    /// What the grants alone give in a scope.
    fn granted(&self, scope: Scope) -> PermissionSet {
        self.grants
            .iter()
            .filter(|grant| grant.holds_in(scope))
            .fold(PermissionSet::EMPTY, |set, grant| set.union(grant.permissions))
    }

    /// What the caller may do in a scope, after the token's own limits; without what is everybody's.
    pub fn permissions_in(&self, scope: Scope) -> PermissionSet {
        let granted = self.granted(scope);
        match &self.credential {
            Credential::WebSession(_) => granted,
            Credential::Token { limits, .. } => {
                if !limits.reaches(scope) {
                    return PermissionSet::EMPTY;
                }
                let most = limits.role_max.permissions();
                let narrowed = granted.intersection(most);
                limits.can.map_or(narrowed, |can| narrowed.intersection(can))
            }
            Credential::Workload(identity) => match scope == Scope::Project(identity.project_id) {
                true => granted.intersection(identity.can),
                false => PermissionSet::EMPTY,
            },
        }
    }

    /// The one question every transport asks. Deny is the default: no grant, no access.
    pub fn may(&self, need: Need) -> bool {
        if need.permission.is_everybodys() {
            return self.credential.allows(need.permission);
        }
        self.permissions_in(need.scope).has(need.permission)
    }

    /// The same with what decided.
    pub fn verdict(&self, need: Need) -> Verdict<'_> {
        let Need { permission, scope } = need;
        if permission.is_everybodys() {
            return match self.credential.allows(permission) {
                true => Verdict::Everybodys,
                false => Verdict::Narrowed(Narrowing::Permission, Vec::new()),
            };
        }
        let grants: Vec<&Grant> = self
            .grants
            .iter()
            .filter(|grant| grant.holds_in(scope) && grant.permissions.has(permission))
            .collect();
        if grants.is_empty() {
            return Verdict::NotGranted;
        }
        match &self.credential {
            Credential::WebSession(_) => return Verdict::Granted(grants),
            Credential::Token { limits, .. } => {
                if !limits.reaches(scope) {
                    return Verdict::Narrowed(Narrowing::Project, grants);
                }
                if !limits.role_max.permissions().has(permission) {
                    return Verdict::Narrowed(Narrowing::Role(limits.role_max), grants);
                }
            }
            Credential::Workload(identity) => {
                if scope != Scope::Project(identity.project_id) {
                    return Verdict::Narrowed(Narrowing::Project, grants);
                }
            }
        }
        if !self.credential.allows(permission) {
            return Verdict::Narrowed(Narrowing::Permission, grants);
        }
        Verdict::Granted(grants)
    }

    /// What of a set has an effect in a scope: permissions on the whole installation have none in a
    /// project, and what is everybody's needs no role.
    fn effect(permissions: PermissionSet, scope: Scope) -> PermissionSet {
        let given = permissions.without(PermissionSet::of_everybody());
        match scope {
            Scope::Global => given,
            Scope::Project(_) => given.intersection(PermissionSet::of_projects()),
        }
    }

    /// What of a set the caller does not hold in a scope, and so may not give to others there.
    pub fn lacks(&self, permissions: PermissionSet, scope: Scope) -> PermissionSet {
        Caller::effect(permissions, scope).without(self.permissions_in(scope))
    }

    /// The greatest built-in role that allows no more than the caller may do. `None` is less than any.
    pub fn role_in(&self, scope: Scope) -> Option<Role> {
        let mut roles = Role::ALL.iter().rev().copied();
        roles.find(|role| self.lacks(role.permissions(), scope).is_empty())
    }

    /// Whether the caller may know of the scope: it may do something there.
    pub fn sees(&self, scope: Scope) -> bool {
        let own = self.permissions_in(scope);
        match scope {
            Scope::Global => !own.is_empty(),
            Scope::Project(_) => !own.intersection(PermissionSet::of_projects()).is_empty(),
        }
    }

    /// Projects in which the caller has this permission; `None` means all of them.
    pub fn projects_with(&self, permission: Permission) -> Option<Vec<ProjectId>> {
        if self.may(Need { permission, scope: Scope::Global }) {
            return None;
        }
        let may = |id: &ProjectId| self.may(Need { permission, scope: Scope::Project(*id) });
        Some(self.candidates().into_iter().filter(may).collect())
    }

    /// Projects the caller may know of; `None` means all of them.
    pub fn visible_projects(&self) -> Option<Vec<ProjectId>> {
        let everywhere = self.permissions_in(Scope::Global);
        if !everywhere.intersection(PermissionSet::of_projects()).is_empty() {
            return None;
        }
        let sees = |id: &ProjectId| self.sees(Scope::Project(*id));
        Some(self.candidates().into_iter().filter(sees).collect())
    }

    /// Projects that are worth a look: those that a token names, or else those with a grant.
    fn candidates(&self) -> BTreeSet<ProjectId> {
        match &self.credential {
            // A token tied to projects sees those, even where its principal sees all.
            Credential::Token { limits, .. } if limits.projects.is_some() => {
                limits.projects.iter().flatten().copied().collect()
            }
            Credential::Workload(identity) => BTreeSet::from([identity.project_id]),
            Credential::Token { .. } | Credential::WebSession(_) => {
                let project = |grant: &Grant| match grant.scope {
                    Scope::Global => None,
                    Scope::Project(id) => Some(id),
                };
                self.grants.iter().filter_map(project).collect()
            }
        }
    }

    /// Whether the caller may see what needs `permission` in a project, or made the thing itself. A token
    /// that is for some permissions only shows no more than those, whoever made it.
    pub fn may_or_made(&self, need: Need, created_by: PrincipalId) -> bool {
        let is_own = created_by == self.principal_id && self.credential.allows(need.permission);
        is_own || self.may(need)
    }

    /// Whether the credential may be used from there. An address that is not known is no address of a list.
    pub fn may_come_from(&self, source: Option<IpAddr>) -> bool {
        match &self.credential {
            Credential::WebSession(_) | Credential::Workload(_) => true,
            Credential::Token { limits, .. } => match &limits.sources {
                None => true,
                Some(ranges) => {
                    source.is_some_and(|source| ranges.iter().any(|range| range.contains(source)))
                }
            },
        }
    }
}

impl Grant {
    /// One on the whole installation holds in every project.
    pub fn holds_in(&self, scope: Scope) -> bool {
        self.scope == Scope::Global || self.scope == scope
    }
}
