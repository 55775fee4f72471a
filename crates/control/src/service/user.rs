//! Users, service accounts, and the roles they hold.
//!
//! Nobody can take away the last way in: the last enabled global admin by a binding of its own cannot be
//! disabled, demoted or removed. And nobody gets further than they are: roles are given up to what one
//! holds oneself, and those who hold more are not to be changed, for who sets somebody's password is that
//! somebody.

use hostler_model::{
    Diagnostic, Error, Generation, Group, Limit, Name, ObjectKind, ObjectRef, Page, Principal,
    PrincipalId, PrincipalKind, Project, RoleName, Scope, Subject,
};
use hostler_store::{Conn, Member, Tx};
use serde_json::json;

use super::access::{require_giving, require_not_above};
use super::group;
use super::project::{settled, taken};
use super::session::end_sessions;
use crate::audit_state;
use crate::{Control, Cx, NewUser, UserDetail, UserPatch};

impl Control {
    pub async fn user_list(
        &self,
        _: &Cx,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<UserDetail>, Error> {
        let mut read = self.store.read().await?;
        let page = read.principal_list(after, limit).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for principal in page.items {
            let role = global_role(&mut read, principal.id).await?;
            items.push(UserDetail { principal, role });
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn user_get(&self, _: &Cx, name_or_id: &str) -> Result<UserDetail, Error> {
        let mut read = self.store.read().await?;
        let principal = find(&mut read, name_or_id).await?;
        let role = global_role(&mut read, principal.id).await?;
        Ok(UserDetail { principal, role })
    }

    pub async fn user_create(&self, cx: &Cx, new: NewUser) -> Result<UserDetail, Error> {
        let password_hash = match (new.kind, &new.password) {
            (PrincipalKind::User, Some(password)) => {
                let source = &cx.request.source;
                Some(self.checked_password_hash(source, password, &new.name, "/password").await?)
            }
            (PrincipalKind::User, None) => {
                return Err(Error::invalid(vec![Diagnostic::new(
                    "/password",
                    "a user needs a password; a service account has none",
                )]));
            }
            (PrincipalKind::Service, None) => None,
            (PrincipalKind::Service, Some(_)) => {
                return Err(Error::invalid(vec![Diagnostic::new(
                    "/password",
                    "a service account has tokens, not a password",
                )]));
            }
            (PrincipalKind::Workload, _) => {
                return Err(Error::invalid(vec![Diagnostic::new(
                    "/kind",
                    "an account is a user's or a service's; what runs has an identity in its spec",
                )]));
            }
        };
        let now = self.now();
        let principal = Principal {
            id: self.ids.fresh(),
            name: new.name,
            kind: new.kind,
            password_hash,
            is_disabled: false,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let audit = self.audit(
            cx,
            "user.create",
            &object,
            None,
            json!({ "kind": principal.kind, "role": new.role }),
        );
        let audit =
            audit.with_states(None, Some(&audit_state::user(&principal, new.role.as_ref())));
        let (principal_ref, object, audit, role) = (&principal, &object, &audit, &new.role);
        let replay = self
            .store
            .tx("user_create", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return Ok(Some(made));
                    }
                    tx.principal_insert(principal_ref)
                        .await
                        .map_err(|e| taken(e, "user", &principal_ref.name))?;
                    if let Some(role) = role {
                        require_giving(tx, &cx.caller, role, Scope::Global).await?;
                        tx.role_binding_set(principal_ref.id, Scope::Global, role.clone()).await?;
                    }
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok::<_, Error>(None)
                })
            })
            .await?;
        match replay {
            Some(made) => self.user_get(cx, &made.id).await,
            None => Ok(UserDetail { principal, role: new.role }),
        }
    }

    pub async fn user_update(
        &self,
        cx: &Cx,
        name_or_id: &str,
        patch: UserPatch,
        expected: Generation,
    ) -> Result<UserDetail, Error> {
        let current = self.user_get(cx, name_or_id).await?;
        let mut changed = current.principal.clone();
        if let Some(password) = &patch.password {
            if changed.kind == PrincipalKind::Service {
                return Err(Error::invalid(vec![Diagnostic::new(
                    "/password",
                    "a service account has tokens, not a password",
                )]));
            }
            let source = &cx.request.source;
            let hash = self.checked_password_hash(source, password, &changed.name, "/password");
            changed.password_hash = Some(hash.await?);
        }
        changed.is_disabled = patch.is_disabled.unwrap_or(changed.is_disabled);
        changed.generation = expected.next();
        changed.time_modified = self.now();
        let is_role_new = patch.role.is_some();
        let role = patch.role.unwrap_or_else(|| current.role.clone());
        let object = ObjectRef::new(ObjectKind::User, changed.id, &changed.name);
        let detail = json!({ "isDisabled": patch.is_disabled, "role": role, "passwordChanged": patch.password.is_some() });
        let old = audit_state::user(&current.principal, current.role.as_ref());
        let new = audit_state::user(&changed, role.as_ref());
        let audit = self
            .audit(cx, "user.update", &object, None, detail)
            .with_states(Some(&old), Some(&new));
        let ends_sessions = patch.password.is_some() || changed.is_disabled;
        let (changed_ref, audit, role_ref) = (&changed, &audit, &role);
        self.store
            .tx("user_update", |tx| {
                Box::pin(async move {
                    require_not_above(tx, &cx.caller, changed_ref).await?;
                    settled(
                        tx.principal_update(changed_ref, expected).await?,
                        "user",
                        &changed_ref.name,
                    )?;
                    match role_ref {
                        _ if !is_role_new => {}
                        Some(role) => {
                            require_giving(tx, &cx.caller, role, Scope::Global).await?;
                            tx.role_binding_set(changed_ref.id, Scope::Global, role.clone())
                                .await?;
                        }
                        None => {
                            tx.role_binding_remove(changed_ref.id, Scope::Global).await?;
                        }
                    }
                    if ends_sessions {
                        end_sessions(tx, changed_ref.id, None, changed_ref.time_modified).await?;
                        tx.password_reset_delete(changed_ref.id).await?;
                        self.login_tally_clear(tx, &changed_ref.name).await?;
                    }
                    require_an_admin(tx).await?;
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        Ok(UserDetail { principal: changed, role })
    }

    pub async fn user_remove(
        &self,
        cx: &Cx,
        name_or_id: &str,
        expected: Generation,
    ) -> Result<(), Error> {
        let UserDetail { principal, role } = self.user_get(cx, name_or_id).await?;
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let audit = self
            .audit(cx, "user.remove", &object, None, json!({}))
            .with_states(Some(&audit_state::user(&principal, role.as_ref())), None);
        let (principal, audit) = (&principal, &audit);
        self.store
            .tx("user_remove", |tx| {
                Box::pin(async move {
                    require_not_above(tx, &cx.caller, principal).await?;
                    settled(
                        tx.principal_delete(principal.id, expected).await?,
                        "user",
                        &principal.name,
                    )?;
                    require_an_admin(tx).await?;
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        Ok(())
    }

    pub async fn member_list(
        &self,
        _: &Cx,
        project: &Project,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Member>, Error> {
        let scope = Scope::Project(project.id);
        Ok(self.store.read().await?.member_list(scope, after, limit).await?)
    }

    /// Gives a user or a group a role in a project, in place of the one held there before.
    pub async fn member_set(
        &self,
        cx: &Cx,
        project: &Project,
        who: &str,
        role: RoleName,
    ) -> Result<Member, Error> {
        let found = Holder::find(&mut *self.store.read().await?, who).await?;
        let object = found.object();
        let audit =
            self.audit(cx, "member.set", &object, Some(project.id), json!({ "role": role }));
        let (found_ref, audit, role_ref) = (&found, &audit, &role);
        let scope = Scope::Project(project.id);
        self.store
            .tx("member_set", |tx| {
                Box::pin(async move {
                    found_ref.require_taking(tx, cx, scope).await?;
                    require_giving(tx, &cx.caller, role_ref, scope).await?;
                    let old = found_ref.state(tx, scope).await?;
                    match found_ref {
                        Holder::User(principal) => {
                            tx.role_binding_set(principal.id, scope, role_ref.clone()).await?;
                        }
                        Holder::Group(group) => {
                            group::touch(tx, group, self.now()).await?;
                            tx.group_binding_set(group.id, scope, role_ref).await?;
                        }
                    }
                    let new = audit_state::member(&found_ref.subject(), role_ref);
                    let audit = audit.clone().with_states(old.as_ref(), Some(&new));
                    tx.journal_append(&[], &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        Ok(Member { subject: found.subject(), id: object.id, role })
    }

    pub async fn member_remove(&self, cx: &Cx, project: &Project, who: &str) -> Result<(), Error> {
        let found = Holder::find(&mut *self.store.read().await?, who).await?;
        let object = found.object();
        let audit = self.audit(cx, "member.remove", &object, Some(project.id), json!({}));
        let (found, audit) = (&found, &audit);
        let scope = Scope::Project(project.id);
        self.store
            .tx("member_remove", |tx| {
                Box::pin(async move {
                    found.require_taking(tx, cx, scope).await?;
                    let old = found.state(tx, scope).await?;
                    let is_gone = match found {
                        Holder::User(principal) => {
                            tx.role_binding_remove(principal.id, scope).await?
                        }
                        Holder::Group(group) => {
                            group::touch(tx, group, self.now()).await?;
                            tx.group_binding_remove(group.id, scope).await?
                        }
                    };
                    if !is_gone {
                        return Err(Error::not_found("member", found.subject()));
                    }
                    let audit = audit.clone().with_states(old.as_ref(), None);
                    tx.journal_append(&[], &[audit]).await?;
                    Ok(())
                })
            })
            .await?;
        self.callers.clear();
        Ok(())
    }

    pub(super) async fn principal_find(&self, name_or_id: &str) -> Result<Principal, Error> {
        find(&mut *self.store.read().await?, name_or_id).await
    }
}

/// Somebody or some group that a role can be bound to.
enum Holder {
    User(Principal),
    Group(Group),
}

impl Holder {
    /// By name or id, or as `group:NAME`.
    async fn find(read: &mut Conn, who: &str) -> Result<Holder, Error> {
        match who.strip_prefix(Subject::GROUP) {
            Some(name) => group::find(read, name).await.map(Holder::Group),
            None => find(read, who).await.map(Holder::User),
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Holder::User(principal) => Subject::User(principal.name.clone()),
            Holder::Group(group) => Subject::Group(group.name.clone()),
        }
    }

    fn object(&self) -> ObjectRef {
        match self {
            Holder::User(principal) => {
                ObjectRef::new(ObjectKind::Member, principal.id, &principal.name)
            }
            Holder::Group(group) => ObjectRef::new(ObjectKind::Member, group.id, self.subject()),
        }
    }

    /// The role that is held in this place itself.
    async fn held(&self, read: &mut Conn, scope: Scope) -> Result<Option<RoleName>, Error> {
        Ok(match self {
            Holder::User(principal) => read.role_binding_get(principal.id, scope).await?,
            Holder::Group(group) => {
                let bound = read.group_bindings(group.id).await?;
                bound.into_iter().find(|(at, _)| *at == scope).map(|(_, role)| role)
            }
        })
    }

    /// What audit entries have a digest of.
    async fn state(
        &self,
        read: &mut Conn,
        scope: Scope,
    ) -> Result<Option<serde_json::Value>, Error> {
        let held = self.held(read, scope).await?;
        Ok(held.map(|role| audit_state::member(&self.subject(), &role)))
    }

    /// Nobody takes away what they could not give.
    async fn require_taking(&self, tx: &mut Conn, cx: &Cx, scope: Scope) -> Result<(), Error> {
        match self.held(tx, scope).await? {
            Some(role) => require_giving(tx, &cx.caller, &role, scope).await,
            None => Ok(()),
        }
    }
}

pub(super) async fn find(read: &mut Conn, name_or_id: &str) -> Result<Principal, Error> {
    let found = match (name_or_id.parse::<PrincipalId>(), name_or_id.parse::<Name>()) {
        (Ok(id), _) => read.principal_get(id).await?,
        (_, Ok(name)) => read.principal_by_name(&name).await?,
        _ => None,
    };
    found.ok_or_else(|| Error::not_found("user", name_or_id))
}

async fn global_role(read: &mut Conn, principal: PrincipalId) -> Result<Option<RoleName>, Error> {
    Ok(read.role_binding_get(principal, Scope::Global).await?)
}

async fn require_an_admin(tx: &mut Tx<'_>) -> Result<(), Error> {
    if tx.admin_count().await? == 0 {
        return Err(Error::conflict(
            "this would leave nobody who can administer the installation",
            "make somebody else admin first with `hostler user role`",
        ));
    }
    Ok(())
}
