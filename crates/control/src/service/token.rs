//! API tokens. A token can never do more than its principal, its own role and its own project allow.

use std::time::Duration;

use hostler_model::{
    Code, Diagnostic, Error, Limit, ObjectKind, ObjectRef, Page, PrincipalKind, Role, Scope, Span,
    Token, TokenId,
};
use hostler_trust::{SecretString, SecretToken, TokenKind};
use serde_json::json;

use crate::{Control, Cx, NewToken, TokenDetail};

const TTL_DEFAULT: Duration = Duration::from_secs(90 * 86_400);
const TTL_MAX: Span = Span::from_secs(3653 * 86_400);

impl Control {
    pub async fn token_list(
        &self,
        cx: &Cx,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<TokenDetail>, Error> {
        let only = if is_admin(cx) { None } else { Some(cx.caller.principal_id) };
        let page = self.store.read().await?.token_list(only, after, limit).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for token in page.items {
            items.push(self.token_detail(token).await?);
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn token_get(&self, cx: &Cx, id: TokenId) -> Result<TokenDetail, Error> {
        let token = self.store.read().await?.token_get(id).await?;
        let token = token.filter(|t| t.principal_id == cx.caller.principal_id || is_admin(cx));
        self.token_detail(token.ok_or_else(|| Error::not_found("token", id))?).await
    }

    /// Makes a token. Its secret is returned this once.
    pub async fn token_create(
        &self,
        cx: &Cx,
        new: NewToken,
    ) -> Result<(TokenDetail, SecretString), Error> {
        let ttl = new.ttl.map_or(TTL_DEFAULT, Span::duration);
        if new.ttl.is_some_and(|t| t > TTL_MAX || t == Span::from_millis(0)) {
            return Err(Error::invalid(vec![Diagnostic::new(
                "/ttl",
                "a token lives at least 1ms and at most ten years",
            )]));
        }
        let principal = match &new.user {
            None => self.principal_find(&cx.caller.principal_id.to_string()).await?,
            Some(user) => {
                let found = self.principal_find(user).await;
                if !is_admin(cx) {
                    return Err(Error::forbidden("only an admin makes tokens for somebody else"));
                }
                let found = found?;
                if found.kind != PrincipalKind::Service && found.id != cx.caller.principal_id {
                    return Err(Error::conflict(
                        "a token for another person would let you act in their name",
                        "make a service account with `hostler user create --service`, or let them make their own token",
                    ));
                }
                found
            }
        };
        let project = match &new.project {
            None => None,
            Some(project) => Some(self.project_resolve(project).await?),
        };
        let scope = project.as_ref().map_or(Scope::Global, |p| Scope::Project(p.id));
        // A token never reaches further than the credential that makes it.
        if principal.id == cx.caller.principal_id
            && project.is_some()
            && cx.caller.role_in(scope).is_none()
        {
            return Err(Error::not_found("project", new.project.as_deref().unwrap_or_default()));
        }
        if let hostler_model::Credential::Token { role_max, project_id, .. } = &cx.caller.credential
            && (new.role > *role_max
                || project_id.is_some() && *project_id != project.as_ref().map(|p| p.id))
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
            role_max: new.role,
            project_id: project.as_ref().map(|p| p.id),
            time_created: now,
            time_expires: Some(now.plus(ttl)),
            time_last_used: None,
            time_revoked: None,
        };
        let object = ObjectRef::new(ObjectKind::Token, token.id, &token.name);
        let detail = json!({ "user": principal.name, "role": token.role_max, "project": new.project, "expires": token.time_expires });
        let audit = self.audit(cx, "token.create", &object, token.project_id, detail);
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
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok(())
                })
            })
            .await?;
        let detail = TokenDetail {
            token,
            user: principal.name.to_string(),
            project: project.map(|p| p.name),
        };
        Ok((detail, SecretString::new(secret.expose())))
    }

    pub async fn token_revoke(&self, cx: &Cx, id: TokenId) -> Result<(), Error> {
        let detail = self.token_get(cx, id).await?;
        let object = ObjectRef::new(ObjectKind::Token, id, &detail.token.name);
        let audit = self.audit(
            cx,
            "token.revoke",
            &object,
            detail.token.project_id,
            json!({ "user": detail.user }),
        );
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
        let project = match token.project_id {
            Some(id) => read.project_get(id).await?.map(|p| p.name),
            None => None,
        };
        Ok(TokenDetail { token, user, project })
    }
}

fn is_admin(cx: &Cx) -> bool {
    cx.caller.role_in(Scope::Global) == Some(Role::Admin)
}
