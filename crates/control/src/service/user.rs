//! Users, service accounts, and the roles they hold.
//!
//! Nobody can take away the last way in: the last enabled global admin cannot be disabled, demoted or
//! removed.

use hostler_model::{
    Diagnostic, Error, Generation, Limit, Name, ObjectKind, ObjectRef, Page, Principal,
    PrincipalId, PrincipalKind, Project, Role, Scope,
};
use hostler_store::{Conn, Tx};
use serde_json::json;

use super::login::checked_password_hash;
use super::project::{settled, taken};
use crate::{Control, Cx, MemberDetail, NewUser, UserDetail, UserPatch};

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
                Some(checked_password_hash(password, &new.name, "/password").await?)
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
        let (principal_ref, object, audit, role) = (&principal, &object, &audit, new.role);
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
                        tx.role_binding_set(principal_ref.id, Scope::Global, role).await?;
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
            changed.password_hash =
                Some(checked_password_hash(password, &changed.name, "/password").await?);
        }
        changed.is_disabled = patch.is_disabled.unwrap_or(changed.is_disabled);
        changed.generation = expected.next();
        changed.time_modified = self.now();
        let role = patch.role.unwrap_or(current.role);
        let object = ObjectRef::new(ObjectKind::User, changed.id, &changed.name);
        let detail = json!({ "isDisabled": patch.is_disabled, "role": role, "passwordChanged": patch.password.is_some() });
        let audit = self.audit(cx, "user.update", &object, None, detail);
        let ends_sessions = patch.password.is_some() || changed.is_disabled;
        let (changed_ref, audit) = (&changed, &audit);
        self.store
            .tx("user_update", |tx| {
                Box::pin(async move {
                    settled(
                        tx.principal_update(changed_ref, expected).await?,
                        "user",
                        &changed_ref.name,
                    )?;
                    match role {
                        Some(role) => {
                            tx.role_binding_set(changed_ref.id, Scope::Global, role).await?
                        }
                        None => {
                            tx.role_binding_remove(changed_ref.id, Scope::Global).await?;
                        }
                    }
                    if ends_sessions {
                        for session in tx.web_session_list(changed_ref.id).await? {
                            tx.web_session_delete(session.id).await?;
                        }
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
        let principal = self.user_get(cx, name_or_id).await?.principal;
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let audit = self.audit(cx, "user.remove", &object, None, json!({}));
        let (principal, audit) = (&principal, &audit);
        self.store
            .tx("user_remove", |tx| {
                Box::pin(async move {
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
    ) -> Result<Page<MemberDetail>, Error> {
        let page = self
            .store
            .read()
            .await?
            .role_binding_list(Some(Scope::Project(project.id)), after, limit)
            .await?;
        Ok(page.map(|(principal, binding)| MemberDetail { principal, role: binding.role }))
    }

    pub async fn member_set(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        role: Role,
    ) -> Result<MemberDetail, Error> {
        let principal = self.principal_find(name_or_id).await?;
        let object = ObjectRef::new(ObjectKind::Member, principal.id, &principal.name);
        let audit =
            self.audit(cx, "member.set", &object, Some(project.id), json!({ "role": role }));
        let (principal_ref, audit) = (&principal, &audit);
        self.store
            .tx("member_set", |tx| {
                Box::pin(async move {
                    tx.role_binding_set(principal_ref.id, Scope::Project(project.id), role).await?;
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        Ok(MemberDetail { principal, role })
    }

    pub async fn member_remove(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<(), Error> {
        let principal = self.principal_find(name_or_id).await?;
        let object = ObjectRef::new(ObjectKind::Member, principal.id, &principal.name);
        let audit = self.audit(cx, "member.remove", &object, Some(project.id), json!({}));
        let (principal, audit) = (&principal, &audit);
        self.store
            .tx("member_remove", |tx| {
                Box::pin(async move {
                    if !tx.role_binding_remove(principal.id, Scope::Project(project.id)).await? {
                        return Err(Error::not_found("member", &principal.name));
                    }
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
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

async fn find(read: &mut Conn, name_or_id: &str) -> Result<Principal, Error> {
    let found = match (name_or_id.parse::<PrincipalId>(), name_or_id.parse::<Name>()) {
        (Ok(id), _) => read.principal_get(id).await?,
        (_, Ok(name)) => read.principal_by_name(&name).await?,
        _ => None,
    };
    found.ok_or_else(|| Error::not_found("user", name_or_id))
}

async fn global_role(read: &mut Conn, principal: PrincipalId) -> Result<Option<Role>, Error> {
    let bindings = read.role_bindings_of(principal).await?;
    Ok(bindings.iter().find(|b| b.scope == Scope::Global).map(|b| b.role))
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
