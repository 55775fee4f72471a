//! A new password for somebody who lost theirs: an admin makes a link, its holder chooses.
//!
//! So no admin ever knows another's password. The link works once, for an hour unless told otherwise,
//! and replaces any earlier one. The old password goes on until the link is used; then every session
//! ends. A second factor stays: whoever finds the link cannot log in with it alone.

use std::time::Duration;

use hostler_model::{
    Code, Diagnostic, Error, EventKind, Name, ObjectKind, ObjectRef, PasswordReset, PrincipalKind,
    Span, UserPayload,
};
use hostler_trust::{SecretString, SecretToken, TokenKind};
use serde_json::json;

use super::access::require_not_above;
use super::login::user_actor;
use super::session::end_sessions;
use crate::{Control, Cx, RequestMeta, audit_state};

const TTL_DEFAULT: Duration = Duration::from_secs(3600);
const TTL_MAX: Span = Span::from_secs(7 * 86_400);

impl Control {
    /// Makes a link with which a user can set a new password. The secret is returned this once.
    pub async fn password_reset_issue(
        &self,
        cx: &Cx,
        name_or_id: &str,
        ttl: Option<Span>,
    ) -> Result<(PasswordReset, Name, SecretToken), Error> {
        let principal = self.principal_find(name_or_id).await?;
        if principal.kind == PrincipalKind::Service {
            return Err(Error::conflict(
                "a service account has no password",
                "give it a token with `hostler token create`",
            ));
        }
        if ttl.is_some_and(|t| t > TTL_MAX || t.is_zero()) {
            let words = "a reset lives at least 1ms and at most 7d";
            return Err(Error::invalid(vec![Diagnostic::new("/ttl", words)]));
        }
        let now = self.now();
        let secret = SecretToken::generate(TokenKind::Reset);
        let reset = PasswordReset {
            principal_id: principal.id,
            secret_hash: secret.hash().to_vec(),
            created_by: cx.caller.principal_id,
            time_created: now,
            time_expires: now.plus(ttl.map_or(TTL_DEFAULT, Span::duration)),
        };
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let message = format!("by {}", cx.caller.name);
        let event = self
            .event(EventKind::UserResetIssued, None, &object, cx.actor(), message)
            .with_payload(UserPayload {
                by: Some(cx.caller.name.clone()),
                time_expires: Some(reset.time_expires),
                ..UserPayload::default()
            });
        let detail = json!({ "expires": reset.time_expires });
        let audit = self
            .audit(cx, "password-reset.issue", &object, None, detail)
            .with_states(None, Some(&audit_state::password_reset(&reset)));
        let (reset_ref, principal_ref, event, audit) = (&reset, &principal, &event, &audit);
        self.store
            .tx("password_reset_issue", |tx| {
                Box::pin(async move {
                    require_not_above(tx, &cx.caller, principal_ref).await?;
                    tx.password_reset_set(reset_ref).await?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        Ok((reset, principal.name, secret))
    }

    /// Sets a new password with the secret of such a link; gives the name it is for.
    pub async fn password_reset_use(
        &self,
        request: &RequestMeta,
        secret: &str,
        new: &SecretString,
    ) -> Result<Name, Error> {
        let secret = SecretToken::parse(secret, TokenKind::Reset).map_err(|_| refused())?;
        let hash = secret.hash();
        let now = self.now();
        let mut read = self.store.read().await?;
        let reset = read.password_reset_by_hash(&hash).await?;
        let reset = reset.filter(|reset| now < reset.time_expires).ok_or_else(refused)?;
        let principal = read.principal_get(reset.principal_id).await?.ok_or_else(refused)?;
        drop(read);
        let source = &request.source;
        let hashed = self.checked_password_hash(source, new, &principal.name, "/password").await?;
        let actor = user_actor(&principal.name);
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let (hash, hashed, object, actor) = (&hash, &hashed, &object, &actor);
        let name = self
            .store
            .tx("password_reset_use", |tx| {
                Box::pin(async move {
                    if !tx.password_reset_consume(hash, now).await? {
                        return Err(refused());
                    }
                    let mut changed =
                        tx.principal_get(reset.principal_id).await?.ok_or_else(refused)?;
                    let (before, expected) =
                        (audit_state::user_now(tx, &changed).await?, changed.generation);
                    changed.password_hash = Some(hashed.clone());
                    changed.generation = expected.next();
                    changed.time_modified = now;
                    tx.principal_update(&changed, expected)
                        .await?
                        .required("user", &changed.name)?;
                    let ended = end_sessions(tx, changed.id, None, now).await?;
                    self.login_tally_clear(tx, &changed.name).await?;
                    let kind = EventKind::UserResetUsed;
                    let event = self
                        .event(kind, None, object, actor.clone(), "a new password")
                        .with_payload(UserPayload {
                            sessions_ended: Some(ended.browsers + ended.command_lines),
                            ..UserPayload::default()
                        });
                    let detail = json!({ "sessionsEnded": ended.browsers + ended.command_lines });
                    let action = "password-reset.use";
                    let after = audit_state::user_now(tx, &changed).await?;
                    let audit = self
                        .audit_by(actor.clone(), request, action, object, None, detail)
                        .with_states(Some(&before), Some(&after));
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok(changed.name)
                })
            })
            .await?;
        self.callers.clear();
        Ok(name)
    }
}

fn refused() -> Error {
    Error::new(
        Code::Unauthenticated,
        "this link sets no password (any more): it was used, replaced, or has expired",
        "ask an admin for another: `hostler user reset`",
    )
}
