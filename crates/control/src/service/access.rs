//! The authoriser in words: who may do what, what decided, and what would have to be otherwise.
//!
//! The decision itself is [`Caller::verdict`], pure and in `model`; here it is asked about others, and
//! told. Also here are the two rules that keep people from getting further than they are: nobody gives a
//! role that allows what they do not hold themselves in that scope, and nobody changes the account of
//! somebody who holds more.

use hostler_model::{
    Caller, Code, Credential, Error, Grant, Name, Narrowing, Need, Permission, PermissionSet,
    Principal, PrincipalKind, Project, Reach, RoleName, Scope, TokenId, Verdict, WebSessionId,
};
use hostler_store::Conn;

use super::user;
use crate::{Control, Cx};

/// The answer to whether somebody may do something.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessDetail {
    pub is_allowed: bool,
    pub reason: String,
    pub who: Name,
    pub permission: Permission,
    pub project: Option<Name>,
    pub grants: Vec<AccessGrant>,
    /// The limit of a token that stands in the way.
    pub limit: Option<String>,
    /// What would have to be done.
    pub needed: Option<String>,
}

/// Something that gives a permission.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessGrant {
    pub role: RoleName,
    pub group: Option<Name>,
    pub project: Option<Name>,
}

/// Names a token in place of a user.
const TOKEN: &str = "token:";

/// Whom a question is about, and why they can do nothing at all, if so.
struct Asked {
    caller: Caller,
    barred: Option<(String, String)>,
}

impl Control {
    /// Whether the caller, or somebody else, may do something, and why.
    pub async fn access_explain(
        &self,
        cx: &Cx,
        permission: Permission,
        project: Option<&str>,
        who: Option<&str>,
    ) -> Result<AccessDetail, Error> {
        let asked = self.access_asked(cx, who).await?;
        let project = project.filter(|_| permission.reach() == Reach::Project);
        let project = match project {
            None => None,
            Some(given) => match self.access_project(cx, given).await? {
                Some(project) => Some(project),
                None => return Ok(unknown(&asked.caller, permission, given)),
            },
        };
        let need = Need::of(permission, project.as_ref().map(|project| project.id));
        let caller = &asked.caller;
        let verdict = caller.verdict(need);
        let grants = match &verdict {
            Verdict::Granted(grants) | Verdict::Narrowed(_, grants) => grants.as_slice(),
            Verdict::Everybodys | Verdict::NotGranted => &[],
        };
        let mut named = Vec::with_capacity(grants.len());
        for grant in grants {
            named.push(self.access_grant(grant).await?);
        }
        let told = Told { caller, need, project: project.as_ref().map(|p| &p.name) };
        let limit = match &verdict {
            Verdict::Narrowed(narrowing, _) => Some(limit_words(caller, *narrowing)),
            Verdict::Everybodys | Verdict::Granted(_) | Verdict::NotGranted => None,
        };
        let (is_allowed, reason, needed) = match asked.barred.clone() {
            Some((reason, needed)) => (false, reason, Some(needed)),
            None => {
                let is_allowed = verdict.is_allowed();
                let reason = told.reason(&verdict, named.first(), limit.as_deref());
                (is_allowed, reason, told.needed(&verdict))
            }
        };
        Ok(AccessDetail {
            is_allowed,
            reason,
            who: caller.name.clone(),
            permission,
            project: project.map(|project| project.name),
            grants: named,
            limit,
            needed,
        })
    }

    /// Oneself with one's own credential; others without one, or as one of their tokens.
    async fn access_asked(&self, cx: &Cx, who: Option<&str>) -> Result<Asked, Error> {
        let own = |given: &str| {
            given == cx.caller.name.as_str() || given == cx.caller.principal_id.to_string()
        };
        let Some(given) = who.filter(|given| !own(given)) else {
            return Ok(Asked { caller: cx.caller.clone(), barred: None });
        };
        let inspects = cx.caller.may(Need::of(Permission::AccessInspect, None));
        let mut read = self.store.read().await?;
        if let Some(id) = given.strip_prefix(TOKEN) {
            let id: TokenId = id.parse().map_err(|_| Error::not_found("token", id))?;
            let token = read.token_get(id).await?;
            let token = token.filter(|t| inspects || t.principal_id == cx.caller.principal_id);
            let token = token.ok_or_else(|| Error::not_found("token", id))?;
            let is_live = token.is_live(self.now());
            let principal = user::find(&mut read, &token.principal_id.to_string()).await?;
            let credential = Credential::Token { id, limits: token.limits };
            let mut asked = asked(&mut read, principal, credential).await?;
            if !is_live {
                let reason = format!("the token {} is revoked or has expired", token.name);
                let needed = "make another with `hostler token create`".to_owned();
                asked.barred = Some((reason, needed));
            }
            return Ok(asked);
        }
        if !inspects {
            return Err(Error::forbidden("only an admin asks what somebody else may do"));
        }
        let principal = user::find(&mut read, given).await?;
        let any = Credential::WebSession(WebSessionId::from_uuid(principal.id.uuid()));
        asked(&mut read, principal, any).await
    }

    /// A project that the caller does not see is like one that does not exist: nobody may do anything
    /// there, as far as it is told.
    async fn access_project(&self, cx: &Cx, given: &str) -> Result<Option<Project>, Error> {
        let inspects = cx.caller.may(Need::of(Permission::AccessInspect, None));
        match self.project_resolve(given).await {
            Ok(project) if inspects || cx.caller.sees(Scope::Project(project.id)) => {
                Ok(Some(project))
            }
            Ok(_) => Ok(None),
            Err(error) if error.code == Code::NotFound && !inspects => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn access_grant(&self, grant: &Grant) -> Result<AccessGrant, Error> {
        let project = match grant.scope {
            Scope::Global => None,
            Scope::Project(id) => {
                self.store.read().await?.project_get(id).await?.map(|project| project.name)
            }
        };
        Ok(AccessGrant { role: grant.role.clone(), group: grant.group.clone(), project })
    }
}

async fn asked(
    read: &mut Conn,
    principal: Principal,
    credential: Credential,
) -> Result<Asked, Error> {
    let barred = principal.is_disabled.then(|| {
        let name = &principal.name;
        (format!("the account {name} is disabled"), format!("`hostler user enable {name}`"))
    });
    let grants = read.grants_of(principal.id).await?;
    let caller = Caller {
        principal_id: principal.id,
        name: principal.name,
        kind: principal.kind,
        grants,
        credential,
    };
    Ok(Asked { caller, barred })
}

fn unknown(caller: &Caller, permission: Permission, project: &str) -> AccessDetail {
    let project: String = project.chars().take(64).collect();
    AccessDetail {
        is_allowed: false,
        reason: format!("{} holds no role in a project `{project}`, if there is one", caller.name),
        who: caller.name.clone(),
        permission,
        project: None,
        grants: Vec::new(),
        limit: None,
        needed: Some("a role in the project; its admins give them".to_owned()),
    }
}

struct Told<'a> {
    caller: &'a Caller,
    need: Need,
    project: Option<&'a Name>,
}

impl Told<'_> {
    fn place(&self) -> String {
        match self.project {
            Some(project) => format!("in project {project}"),
            None => "on the whole installation".to_owned(),
        }
    }

    fn reason(
        &self,
        verdict: &Verdict<'_>,
        by: Option<&AccessGrant>,
        limit: Option<&str>,
    ) -> String {
        let (name, permission) = (&self.caller.name, self.need.permission);
        match verdict {
            Verdict::Everybodys => format!("everybody who is logged in has {permission}"),
            Verdict::Granted(_) => {
                let held = by.map(held_words).unwrap_or_default();
                format!("{name} {held}, which has {permission}")
            }
            Verdict::NotGranted => {
                let place = self.place();
                let holds = self.caller.grants.iter().any(|g| g.holds_in(self.need.scope));
                match holds {
                    true => format!("no role that {name} holds {place} has {permission}"),
                    false => format!("{name} holds no role {place}"),
                }
            }
            Verdict::Narrowed(..) => {
                format!("{name} has {permission}, but {}", limit.unwrap_or_default())
            }
        }
    }

    fn needed(&self, verdict: &Verdict<'_>) -> Option<String> {
        let (name, permission) = (&self.caller.name, self.need.permission);
        match verdict {
            Verdict::Everybodys | Verdict::Granted(_) => None,
            Verdict::Narrowed(..) if self.caller.kind == PrincipalKind::Workload => {
                Some("a role that allows it, as `identity.role` in its spec".to_owned())
            }
            Verdict::Narrowed(..) => {
                Some("another token, without that limit: `hostler token create --help`".to_owned())
            }
            Verdict::NotGranted => permission.least().map(|role| {
                let command = match self.project {
                    Some(project) => format!("hostler project grant {project} {name} {role}"),
                    None => format!("hostler user role {name} {role}"),
                };
                let place = self.place();
                format!("the role {role} {place}, or a custom role with {permission}: `{command}`")
            }),
        }
    }
}

fn held_words(grant: &AccessGrant) -> String {
    let place = match &grant.project {
        Some(project) => format!("in project {project}"),
        None => "on the whole installation".to_owned(),
    };
    match &grant.group {
        Some(group) => format!("holds the role {} {place} through the group {group}", grant.role),
        None => format!("holds the role {} {place}", grant.role),
    }
}

fn limit_words(caller: &Caller, narrowing: Narrowing) -> String {
    let limits = match &caller.credential {
        Credential::WebSession(_) => return String::new(),
        Credential::Token { limits, .. } => limits,
        Credential::Workload(_) => {
            return match narrowing {
                Narrowing::Project => "what runs acts in its own project only".to_owned(),
                Narrowing::Role(_) | Narrowing::Permission => {
                    "the role of its identity does not allow it".to_owned()
                }
            };
        }
    };
    match narrowing {
        Narrowing::Project => "the token works in other projects only".to_owned(),
        Narrowing::Role(role) => format!("the token never does more than the role {role}"),
        Narrowing::Permission => {
            let can = limits.can.map_or_else(String::new, few_words);
            format!("the token is for {can} only")
        }
    }
}

/// The refusal of somebody who may not.
pub(super) fn refusal(caller: &Caller, need: Need) -> Error {
    let Need { permission, scope } = need;
    if let Verdict::Narrowed(narrowing, _) = caller.verdict(need) {
        let hint = match &caller.credential {
            Credential::Workload(_) => {
                "give it a role that does: `identity.role` in its spec, at most what you hold yourself"
            }
            Credential::WebSession(_) | Credential::Token { .. } => {
                "use a token without that limit; `hostler token ls -o wide` shows the limits"
            }
        };
        let words = format!("this needs {permission}, and {}", limit_words(caller, narrowing));
        return Error::new(Code::Forbidden, words, hint);
    }
    let place = match scope {
        Scope::Global => "on the whole installation",
        Scope::Project(_) => "in this project",
    };
    let role = permission.least().map(|role| format!(" (the role {role} has it)"));
    Error::forbidden(format!("this needs {permission} {place}{}", role.unwrap_or_default()))
}

/// Refuses to give, or to take, what the caller does not hold itself in that scope.
pub(super) fn require_holding(
    caller: &Caller,
    what: &str,
    permissions: PermissionSet,
    scope: Scope,
) -> Result<(), Error> {
    let lacking = caller.lacks(permissions, scope);
    if lacking.is_empty() {
        return Ok(());
    }
    let place = match scope {
        Scope::Global => "on the whole installation",
        Scope::Project(_) => "in this project",
    };
    let lacking = few_words(lacking);
    Err(Error::forbidden(format!(
        "{what} allows {lacking}, which you do not hold {place} yourself"
    )))
}

/// The same for a role, which has to exist.
pub(super) async fn require_giving(
    read: &mut Conn,
    caller: &Caller,
    role: &RoleName,
    scope: Scope,
) -> Result<(), Error> {
    let permissions = read.role_permissions(role).await?;
    let permissions = permissions.ok_or_else(|| Error::not_found("role", role))?;
    require_holding(caller, &format!("the role {role}"), permissions, scope)
}

/// Refuses to touch the account of somebody who holds more than the caller.
pub(super) async fn require_not_above(
    read: &mut Conn,
    caller: &Caller,
    principal: &Principal,
) -> Result<(), Error> {
    for grant in read.grants_of(principal.id).await? {
        let what = format!("the role {} of {}", grant.role, principal.name);
        require_holding(caller, &what, grant.permissions, grant.scope)?;
    }
    Ok(())
}

/// The first few of many.
fn few_words(permissions: PermissionSet) -> String {
    const FEW: usize = 5;
    let first: PermissionSet = permissions.iter().take(FEW).collect();
    match permissions.len().saturating_sub(FEW) {
        0 => first.words(),
        more => format!("{} and {more} more", first.words()),
    }
}
