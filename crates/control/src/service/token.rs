//! API tokens. A token can never do more than its principal and its own limits allow, and never makes one
//! that reaches further than itself.

use std::time::Duration;

use hostler_model::{
    Code, Credential, Diagnostic, Error, Limit, Need, ObjectKind, ObjectRef, Page, Permission,
    PermissionSet, PrincipalKind, ProjectId, Role, Scope, Span, Token, TokenId, TokenLimits,
};
use hostler_trust::{SecretString, SecretToken, TokenKind};
use serde_json::json;

use super::access::require_not_above;
use crate::{Control, Cx, NewToken, TokenDetail, audit_state};

const TTL_DEFAULT: Duration = Duration::from_secs(90 * 86_400);
const TTL_MAX: Span = Span::from_secs(3653 * 86_400);
const LIST_MAX: usize = 200;

impl Control {
    pub async fn token_list(
        &self,
        cx: &Cx,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<TokenDetail>, Error> {
        let only = if manages(cx) { None } else { Some(cx.caller.principal_id) };
        let page = self.store.read().await?.token_list(only, after, limit).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for token in page.items {
            items.push(self.token_detail(token).await?);
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn token_get(&self, cx: &Cx, id: TokenId) -> Result<TokenDetail, Error> {
        let token = self.store.read().await?.token_get(id).await?;
        let token = token.filter(|t| t.principal_id == cx.caller.principal_id || manages(cx));
        self.token_detail(token.ok_or_else(|| Error::not_found("token", id))?).await
    }

    /// Makes a token. Its secret is returned this once.
    pub async fn token_create(
        &self,
        cx: &Cx,
        new: NewToken,
    ) -> Result<(TokenDetail, SecretString), Error> {
        let ttl = new.ttl.map_or(TTL_DEFAULT, Span::duration);
        let (role_max, can) = checked(&new)?;
        let principal = match &new.user {
            None => self.principal_find(&cx.caller.principal_id.to_string()).await?,
            Some(user) => {
                let found = self.principal_find(user).await;
                if !manages(cx) {
                    return Err(Error::forbidden("only an admin makes tokens for somebody else"));
                }
                let found = found?;
                require_not_above(&mut *self.store.read().await?, &cx.caller, &found).await?;
                if found.kind != PrincipalKind::Service && found.id != cx.caller.principal_id {
                    return Err(Error::conflict(
                        "a token for another person would let you act in their name",
                        "make a service account with `hostler user create --service`, or let them make their own token",
                    ));
                }
                found
            }
        };
        let projects = match &new.projects {
            None => None,
            Some(given) => Some(self.token_projects(cx, given).await?),
        };
        let ids = projects.as_ref().map(|all| all.iter().map(|(id, _)| *id).collect());
        let limits = TokenLimits { role_max, projects: ids, can, sources: new.sources };
        super::workload_caller::refuse_workloads(&cx.caller)?;
        // A token never reaches further than the credential that makes it.
        if let Credential::Token { limits: own, .. } = &cx.caller.credential
            && !limits.is_within(own)
        {
            return Err(Error::forbidden("a token cannot make one that may do more than itself"));
        }
        let now = self.now();
        let secret = SecretToken::generate(TokenKind::Personal);
        let token = Token {
            id: self.ids.fresh(),
            principal_id: principal.id,
            name: new.name,
            secret_hash: secret.hash().to_vec(),
            limits,
            time_created: now,
            time_expires: Some(now.plus(ttl)),
            time_last_used: None,
            time_revoked: None,
        };
        let object = ObjectRef::new(ObjectKind::Token, token.id, &token.name);
        let names = projects.map(|all| all.into_iter().map(|(_, name)| name).collect::<Vec<_>>());
        let detail = json!({
            "user": principal.name,
            "role": token.limits.role_max,
            "projects": names,
            "can": token.limits.can,
            "from": token.limits.sources,
            "expires": token.time_expires,
        });
        let audit = self
            .audit(cx, "token.create", &object, only_project(&token.limits), detail)
            .with_states(None, Some(&audit_state::token(&token, false)));
        let (token_ref, object, audit) = (&token, &object, &audit);
        self.store
            .tx("token_create", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return Err(Error::new(
                            Code::Conflict,
                            format!("an earlier request with this Idempotency-Key made the token {}", made.id),
                            "its secret was shown once; if it was lost, revoke that token and make another with a fresh key",
                        ));
                    }
                    tx.token_insert(token_ref).await?;
                    if token_ref.principal_id != cx.caller.principal_id {
                        tx.token_maker_add(token_ref.principal_id, cx.caller.principal_id).await?;
                    }
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok(())
                })
            })
            .await?;
        let detail = TokenDetail { token, user: principal.name.to_string(), projects: names };
        Ok((detail, SecretString::new(secret.expose())))
    }

    pub async fn token_revoke(&self, cx: &Cx, id: TokenId) -> Result<(), Error> {
        let detail = self.token_get(cx, id).await?;
        let object = ObjectRef::new(ObjectKind::Token, id, &detail.token.name);
        let audit = self.audit(
            cx,
            "token.revoke",
            &object,
            only_project(&detail.token.limits),
            json!({ "user": detail.user }),
        );
        let [before, after] =
            [false, true].map(|is_revoked| audit_state::token(&detail.token, is_revoked));
        let audit = audit.with_states(Some(&before), Some(&after));
        let audit = &audit;
        self.store
            .tx("token_revoke", |tx| {
                Box::pin(async move {
                    if tx.token_revoke(id, self.now()).await? {
                        tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    }
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        Ok(())
    }

    async fn token_detail(&self, token: Token) -> Result<TokenDetail, Error> {
        let mut read = self.store.read().await?;
        let user = read
            .principal_get(token.principal_id)
            .await?
            .map_or_else(|| "(removed)".to_owned(), |p| p.name.to_string());
        let projects = match &token.limits.projects {
            None => None,
            Some(ids) => {
                let mut names = Vec::with_capacity(ids.len());
                for id in ids {
                    let found = read.project_get(*id).await?;
                    names.push(found.map_or_else(|| id.to_string(), |p| p.name.to_string()));
                }
                Some(names)
            }
        };
        Ok(TokenDetail { token, user, projects })
    }

    /// Projects that the caller may know of, each once, with their names.
    async fn token_projects(
        &self,
        cx: &Cx,
        given: &[String],
    ) -> Result<Vec<(ProjectId, String)>, Error> {
        let mut projects: Vec<(ProjectId, String)> = Vec::with_capacity(given.len());
        for name_or_id in given {
            let found = self.project_resolve(name_or_id).await?;
            if !cx.caller.sees(Scope::Project(found.id)) {
                return Err(Error::not_found("project", name_or_id));
            }
            if projects.iter().all(|(id, _)| *id != found.id) {
                projects.push((found.id, found.name.to_string()));
            }
        }
        Ok(projects)
    }
}

/// The project that the audit trail files a token under.
fn only_project(limits: &TokenLimits) -> Option<ProjectId> {
    match limits.projects.as_deref() {
        Some([one]) => Some(*one),
        Some(_) | None => None,
    }
}

/// Whether the tokens of others are the caller's business.
fn manages(cx: &Cx) -> bool {
    cx.caller.may(Need::of(Permission::TokenManage, None))
}

/// Every mistake in what a token is to be limited to; with what it may do, where nothing is wrong.
fn checked(new: &NewToken) -> Result<(Role, Option<PermissionSet>), Error> {
    let mut wrong = Vec::new();
    if new.ttl.is_some_and(|t| t > TTL_MAX || t == Span::from_millis(0)) {
        let text = "a token lives at least 1ms and at most ten years";
        wrong.push(Diagnostic::new("/ttl", text));
    }
    if new.role.is_none() && new.can.is_none() {
        let text = "say what the token is for: a role that it never exceeds, or permissions";
        wrong.push(Diagnostic::new("/role", text));
    }
    let lists = [
        ("/projects", new.projects.as_ref().map(Vec::len)),
        ("/can", new.can.as_ref().map(Vec::len)),
        ("/from", new.sources.as_ref().map(Vec::len)),
    ];
    for (pointer, length) in lists {
        if length.is_some_and(|length| !(1..=LIST_MAX).contains(&length)) {
            let text = format!("name 1 to {LIST_MAX}, or leave it out for no such limit");
            wrong.push(Diagnostic::new(pointer, text));
        }
    }
    let can = match new.can.as_ref().map(PermissionSet::read) {
        None => None,
        Some(Ok(can)) => Some(can),
        Some(Err(error)) => {
            wrong.push(Diagnostic::new(format!("/can/{}", error.index), error.to_string()));
            None
        }
    };
    if !wrong.is_empty() {
        return Err(Error::invalid(wrong));
    }
    Ok((new.role.unwrap_or(Role::Admin), can))
}
