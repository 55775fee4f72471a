//! Sessions of people: browsers that are logged in, and command lines (whose sessions are tokens named
//! `login`).
//!
//! A session ends by itself when it is too old or nobody used it for a while. Whenever what it proves
//! changes (a new password, a second factor) it goes on under a new secret and the others end, so
//! that a secret that somebody saw before is worth nothing after.

use hostler_model::{
    Credential, Error, EventKind, Limit, ObjectKind, ObjectRef, Principal, PrincipalId, Timestamp,
    Token, TokenId, UserPayload, WebSession, WebSessionId,
};
use hostler_store::Tx;
use hostler_trust::{SecretString, SecretToken, TokenKind};
use serde_json::json;

use super::access::require_not_above;
use crate::{Control, Cx, audit_state};

/// What tokens made by `hostler login` are called.
pub(super) const LOGIN_TOKEN: &str = "login";

/// A browser session that goes on under another secret.
#[derive(Debug)]
pub struct Rekeyed {
    pub secret: SecretString,
    pub time_expires: Timestamp,
}

/// How many sessions were ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionsEnded {
    pub browsers: u64,
    pub command_lines: u64,
}

impl Control {
    /// When a session ends by itself if nobody uses it any more.
    pub(super) fn session_end(&self, session: &WebSession) -> Timestamp {
        let touched = self.touched.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let used = touched.sessions.get(&session.id).copied().unwrap_or(session.time_last_used);
        let idle = used.max(session.time_last_used).plus(self.config.web_session_idle);
        idle.min(session.time_expires)
    }

    /// The browser sessions of a user.
    pub async fn user_session_list(
        &self,
        _: &Cx,
        name_or_id: &str,
    ) -> Result<Vec<WebSession>, Error> {
        let principal = self.principal_find(name_or_id).await?;
        let now = self.now();
        let sessions = self.store.read().await?.web_session_list(principal.id).await?;
        Ok(sessions.into_iter().filter(|session| now < self.session_end(session)).collect())
    }

    /// Ends one browser session of a user.
    pub async fn user_session_end(
        &self,
        cx: &Cx,
        name_or_id: &str,
        id: WebSessionId,
    ) -> Result<(), Error> {
        let principal = self.principal_find(name_or_id).await?;
        let object = ObjectRef::new(ObjectKind::WebSession, id, &principal.name);
        let audit = self.audit(cx, "web-session.end", &object, None, json!({}));
        let event = self.sessions_event(cx, &principal, "one session");
        let (principal, event, audit) = (&principal, &event, &audit);
        self.store
            .tx("user_session_end", |tx| {
                Box::pin(async move {
                    require_not_above(tx, &cx.caller, principal).await?;
                    let session = tx.web_session_get(id).await?;
                    let session = session
                        .filter(|session| session.principal_id == principal.id)
                        .ok_or_else(|| Error::not_found("session", id))?;
                    tx.web_session_delete(id).await?;
                    let state = audit_state::web_session(&session);
                    let audit = audit.clone().with_states(Some(&state), None);
                    tx.journal_append(std::slice::from_ref(event), &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        Ok(())
    }

    /// Ends every session of a user: browsers, and command lines that logged in.
    pub async fn user_sessions_end(
        &self,
        cx: &Cx,
        name_or_id: &str,
    ) -> Result<SessionsEnded, Error> {
        let principal = self.principal_find(name_or_id).await?;
        require_not_above(&mut *self.store.read().await?, &cx.caller, &principal).await?;
        let event = self.sessions_event(cx, &principal, "all sessions");
        self.sessions_end_all(cx, &principal, None, Some(event)).await
    }

    /// Ends every session of the caller but the one that makes this call.
    pub async fn own_sessions_end(&self, cx: &Cx) -> Result<SessionsEnded, Error> {
        let principal = self.principal_find(&cx.caller.principal_id.to_string()).await?;
        self.sessions_end_all(cx, &principal, Some(&cx.caller.credential), None).await
    }

    async fn sessions_end_all(
        &self,
        cx: &Cx,
        principal: &Principal,
        but: Option<&Credential>,
        event: Option<hostler_model::NewEvent>,
    ) -> Result<SessionsEnded, Error> {
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let (object, event) = (&object, event.as_slice());
        let ended = self
            .store
            .tx("sessions_end", |tx| {
                Box::pin(async move {
                    let now = self.now();
                    let before = sessions(tx, principal.id, now).await?;
                    let ended = end_sessions(tx, principal.id, but, now).await?;
                    let after = sessions(tx, principal.id, now).await?;
                    let detail =
                        json!({ "browsers": ended.browsers, "commandLines": ended.command_lines });
                    let audit = self
                        .audit(cx, "user.end-sessions", object, None, detail)
                        .with_states(Some(&before), Some(&after));
                    tx.journal_append(event, &[audit]).await?;
                    Ok::<_, Error>(ended)
                })
            })
            .await?;
        self.callers.clear();
        Ok(ended)
    }

    fn sessions_event(
        &self,
        cx: &Cx,
        principal: &Principal,
        which: &str,
    ) -> hostler_model::NewEvent {
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let message = format!("{which} ended by {}", cx.caller.name);
        let by = Some(cx.caller.name.clone());
        self.event(EventKind::UserSessionsEnded, None, &object, cx.actor(), message)
            .with_payload(UserPayload { by, ..UserPayload::default() })
    }
}

/// Ends the sessions of a principal, but the one that `but` is.
pub(super) async fn end_sessions(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    but: Option<&Credential>,
    now: Timestamp,
) -> Result<SessionsEnded, Error> {
    let mut ended = SessionsEnded::default();
    for session in tx.web_session_list(principal).await? {
        if but != Some(&Credential::WebSession(session.id))
            && tx.web_session_delete(session.id).await?
        {
            ended.browsers += 1;
        }
    }
    let kept: Option<TokenId> = match but {
        Some(Credential::Token { id, .. }) => Some(*id),
        _ => None,
    };
    ended.command_lines = tx.token_revoke_named(principal, LOGIN_TOKEN, kept, now).await?;
    Ok(ended)
}

/// What somebody is logged in with, for the record.
async fn sessions(
    tx: &mut Tx<'_>,
    principal: PrincipalId,
    now: Timestamp,
) -> Result<serde_json::Value, Error> {
    let browsers = tx.web_session_list(principal).await?;
    let browsers: Vec<_> = browsers.iter().map(|session| session.id).collect();
    let (mut command_lines, mut after) = (Vec::new(), None);
    loop {
        let page = tx.token_list(Some(principal), after.as_deref(), Limit::LARGEST).await?;
        let is_meant = |token: &&Token| token.name.as_str() == LOGIN_TOKEN && token.is_live(now);
        command_lines.extend(page.items.iter().filter(is_meant).map(|token| token.id));
        after = page.next;
        if after.is_none() {
            return Ok(json!({ "browsers": browsers, "commandLines": command_lines }));
        }
    }
}

/// Lets the session that `credential` is go on under a new secret, where it is a browser's.
pub(super) async fn rekey(
    tx: &mut Tx<'_>,
    credential: &Credential,
    fresh: &SecretToken,
) -> Result<Option<Rekeyed>, Error> {
    let Credential::WebSession(id) = credential else { return Ok(None) };
    let Some(session) = tx.web_session_get(*id).await? else { return Ok(None) };
    tx.web_session_rekey(*id, &fresh.hash()).await?;
    let secret = SecretString::new(fresh.expose());
    Ok(Some(Rekeyed { secret, time_expires: session.time_expires }))
}

pub(super) fn fresh_session_secret() -> SecretToken {
    SecretToken::generate(TokenKind::Session)
}
