//! Getting in: callers from credentials, the authoriser, setup, login, sessions.

use std::sync::PoisonError;
use std::time::Duration;

use base64::Engine as _;
use hostler_model::{
    Caller, Code, Credential, Diagnostic, Error, Generation, Name, Need, ObjectKind, ObjectRef,
    Principal, PrincipalId, PrincipalKind, Role, Scope, Token, TokenLimits, WebSession,
    WebSessionId,
};
use hostler_store::Conn;
use hostler_trust::{SecretString, SecretToken, TokenKind, jwt, password, secret};
use serde_json::json;

use super::login_guard::Looked;
use super::second_factor::{Proof, code_needed};
use super::session::{LOGIN_TOKEN, Rekeyed, end_sessions, fresh_session_secret, rekey};
use super::workload_caller::refuse_workloads;
use crate::bootstrap::{SETUP_CODE, SETUP_DONE};
use crate::{Control, Cx, LoginGrant, LoginKind, RequestMeta, audit_state};

/// How long a token made by `hostler login` lives.
const LOGIN_TOKEN_TTL: Duration = Duration::from_secs(30 * 86_400);

impl Control {
    /// The one question every transport asks. Deny is the default.
    pub fn authorise(&self, caller: &Caller, need: Need) -> Result<(), Error> {
        if caller.may(need) {
            return Ok(());
        }
        Err(super::access::refusal(caller, need))
    }

    /// Who holds this API token, or which run was given it.
    pub async fn caller_by_token(&self, text: &str) -> Result<Caller, Error> {
        if jwt::looks_like(text) {
            let caller = Box::pin(self.caller_by_workload(text)).await;
            let is_refused = caller.as_ref().is_err_and(|e| e.code == Code::Unauthenticated);
            self.identity_tally.presented(!is_refused);
            return caller;
        }
        let refused =
            || Error::unauthenticated("the token is not valid (unknown, expired or revoked)");
        let token = SecretToken::parse(text, TokenKind::Personal).map_err(|_| refused())?;
        let hash = token.hash();
        if let Some(caller) = self.callers.get(&hash, self.clock.instant()) {
            return Ok(caller);
        }
        let mut read = self.store.read().await?;
        let now = self.now();
        let token =
            read.token_by_hash(&hash).await?.filter(|t| t.is_live(now)).ok_or_else(refused)?;
        let credential = Credential::Token { id: token.id, limits: token.limits };
        let caller = caller(&mut read, token.principal_id, credential).await?;
        let caller = self.second_factor_bound(&mut read, caller).await?;
        self.touched.lock().unwrap_or_else(PoisonError::into_inner).tokens.insert(token.id, now);
        self.callers.put(hash, caller.clone(), self.clock.instant());
        Ok(caller)
    }

    /// Somebody as they are now, who came with nothing.
    pub(crate) async fn caller_present(
        &self,
        id: PrincipalId,
        credential: Credential,
    ) -> Result<Caller, Error> {
        let mut read = self.store.read().await?;
        let caller = caller(&mut read, id, credential).await?;
        self.second_factor_bound(&mut read, caller).await
    }

    /// Who holds this browser session.
    pub async fn caller_by_session(&self, text: &str) -> Result<Caller, Error> {
        let caller = self.caller_by_session_unused(text).await?;
        if let Credential::WebSession(id) = &caller.credential {
            let mut touched = self.touched.lock().unwrap_or_else(PoisonError::into_inner);
            touched.sessions.insert(*id, self.now());
        }
        Ok(caller)
    }

    /// The same, for streams that ask again while they live: nobody uses the session by that.
    pub async fn caller_by_session_unused(&self, text: &str) -> Result<Caller, Error> {
        let refused = || Error::unauthenticated("the session has ended");
        let hash = SecretToken::parse(text, TokenKind::Session).map_err(|_| refused())?.hash();
        if let Some(caller) = self.callers.get(&hash, self.clock.instant()) {
            return Ok(caller);
        }
        let mut read = self.store.read().await?;
        let now = self.now();
        let session = read
            .web_session_by_hash(&hash)
            .await?
            .filter(|session| now < self.session_end(session))
            .ok_or_else(refused)?;
        let caller =
            caller(&mut read, session.principal_id, Credential::WebSession(session.id)).await?;
        let caller = self.second_factor_bound(&mut read, caller).await?;
        self.callers.put(hash, caller.clone(), self.clock.instant());
        Ok(caller)
    }

    /// The CSRF token that goes with a session. Derived from the session's secret, which scripts cannot read.
    pub fn csrf_token(&self, session_secret: &str) -> String {
        let hash = blake3::derive_key(
            "hostler 2026 csrf token of a browser session",
            session_secret.as_bytes(),
        );
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(hash)
    }

    /// Makes the first admin.
    pub async fn setup(
        &self,
        request: &RequestMeta,
        code: &str,
        name: Name,
        new_password: &SecretString,
        kind: LoginKind,
    ) -> Result<LoginGrant, Error> {
        let hash = secret::hash_secret(code);
        let source = &request.source;
        let password_hash =
            self.checked_password_hash(source, new_password, &name, "/password").await?;
        let now = self.now();
        let principal = Principal {
            id: self.ids.fresh(),
            name,
            kind: PrincipalKind::User,
            password_hash: Some(password_hash),
            is_disabled: false,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        let (principal_ref, hash) = (&principal, &hash);
        self.store
            .tx("setup", |tx| {
                Box::pin(async move {
                    if tx.setting_get(SETUP_DONE).await?.is_some() {
                        return Err(Error::conflict("the first admin exists already", "log in, or ask an admin for an account"));
                    }
                    let expected = tx.setting_get(SETUP_CODE).await?.unwrap_or_default();
                    if !secret::constant_time_eq(&expected, hash) {
                        return Err(Error::new(
                            Code::Unauthenticated,
                            "the setup code is not the one that the server printed",
                            "take the code from the server's newest start; each start prints a fresh one",
                        ));
                    }
                    tx.principal_insert(principal_ref).await?;
                    tx.role_binding_set(principal_ref.id, Scope::Global, Role::Admin).await?;
                    tx.setting_insert(SETUP_DONE, b"1").await?;
                    tx.setting_delete(SETUP_CODE).await?;
                    let object = ObjectRef::new(ObjectKind::User, principal_ref.id, &principal_ref.name);
                    let state = audit_state::user(principal_ref, Some(&Role::Admin.into()));
                    let audit = self
                        .audit_by(user_actor(&principal_ref.name), request, "setup", &object, None, json!({ "role": "admin" }))
                        .with_states(None, Some(&state));
                    tx.journal_append(&[], &[audit]).await?;
                    Ok(())
                })
            })
            .await?;
        self.grant(request, principal, kind).await
    }

    /// Logs in with a password, and a code where there is a second factor. The answer takes as long
    /// for a name that does not exist.
    pub async fn login(
        &self,
        request: &RequestMeta,
        name: &str,
        given: &SecretString,
        code: Option<&SecretString>,
        kind: LoginKind,
    ) -> Result<LoginGrant, Error> {
        let look = Box::pin(self.login_look(request, name, given, code));
        let principal = self.guarded(request, name, look).await?;
        self.grant(request, principal, kind).await
    }

    async fn login_look(
        &self,
        request: &RequestMeta,
        name: &str,
        given: &SecretString,
        code: Option<&SecretString>,
    ) -> Looked<Principal> {
        let wrong = |what: &str| {
            Error::new(
                Code::Unauthenticated,
                what.to_owned(),
                "try again; an admin can make a link for a new password with `hostler user reset`",
            )
        };
        let principal = match name.parse::<Name>() {
            Ok(name) => self.store.read().await?.principal_by_name(&name).await?,
            Err(_) => None,
        };
        let stored =
            principal.as_ref().filter(|p| !p.is_disabled).and_then(|p| p.password_hash.clone());
        let is_right = self.password_verify(&request.source, given, stored).await?;
        let Some(principal) = principal.filter(|_| is_right) else {
            return Ok(Err(wrong("name or password is wrong")));
        };
        if self.oidc_only(&principal).await? {
            return Err(Error::new(
                Code::Forbidden,
                format!("{} logs in at the identity provider, not with a password", principal.name),
                "use the button on the login page, or `hostler login --oidc`",
            ));
        }
        match self.second_factor_prove(&principal, code).await? {
            Proof::Enough => Ok(Ok(principal)),
            Proof::Missing => Err(code_needed(&principal.name)),
            Proof::Wrong => Ok(Err(wrong("the code is wrong, too old, or was used already"))),
        }
    }

    pub(super) async fn grant(
        &self,
        request: &RequestMeta,
        principal: Principal,
        kind: LoginKind,
    ) -> Result<LoginGrant, Error> {
        self.grant_told(request, principal, kind, json!({})).await
    }

    /// The same, with how they came in for the audit trail.
    pub(super) async fn grant_told(
        &self,
        request: &RequestMeta,
        principal: Principal,
        kind: LoginKind,
        detail: serde_json::Value,
    ) -> Result<LoginGrant, Error> {
        let now = self.now();
        let (token_kind, ttl) = match kind {
            LoginKind::Cookie => (TokenKind::Session, self.config.web_session_ttl),
            LoginKind::Token => (TokenKind::Personal, LOGIN_TOKEN_TTL),
        };
        let fresh = SecretToken::generate(token_kind);
        let time_expires = now.plus(ttl);
        let session = WebSession {
            id: self.ids.fresh(),
            principal_id: principal.id,
            secret_hash: fresh.hash().to_vec(),
            user_agent: request.user_agent.chars().take(200).collect(),
            time_created: now,
            time_expires,
            time_last_used: now,
        };
        let token = Token {
            id: self.ids.fresh(),
            principal_id: principal.id,
            name: LOGIN_TOKEN.parse().expect("`login` is a name"),
            secret_hash: fresh.hash().to_vec(),
            limits: TokenLimits::role(Role::Admin),
            time_created: now,
            time_expires: Some(time_expires),
            time_last_used: None,
            time_revoked: None,
        };
        let (object, state) = match kind {
            LoginKind::Cookie => (
                ObjectRef::new(ObjectKind::WebSession, session.id, &principal.name),
                audit_state::web_session(&session),
            ),
            LoginKind::Token => (
                ObjectRef::new(ObjectKind::Token, token.id, &token.name),
                audit_state::token(&token, false),
            ),
        };
        let audit = self
            .audit_by(user_actor(&principal.name), request, "login", &object, None, detail)
            .with_states(None, Some(&state));
        let (session, token, audit) = (&session, &token, &audit);
        self.store
            .tx("login", |tx| {
                Box::pin(async move {
                    match kind {
                        LoginKind::Cookie => tx.web_session_insert(session).await?,
                        LoginKind::Token => tx.token_insert(token).await?,
                    }
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        Ok(LoginGrant { principal, kind, secret: SecretString::new(fresh.expose()), time_expires })
    }

    /// Ends the session or revokes the token that makes this call.
    pub async fn logout(&self, cx: &Cx) -> Result<(), Error> {
        refuse_workloads(&cx.caller)?;
        let object = match &cx.caller.credential {
            Credential::WebSession(id) => {
                ObjectRef::new(ObjectKind::WebSession, id, &cx.caller.name)
            }
            Credential::Token { id, .. } => ObjectRef::new(ObjectKind::Token, id, &cx.caller.name),
            Credential::Workload(_) => return Ok(()),
        };
        let audit = self.audit(cx, "logout", &object, None, json!({}));
        let (credential, audit) = (&cx.caller.credential, &audit);
        self.store
            .tx("logout", |tx| {
                Box::pin(async move {
                    let (before, after) = match credential {
                        Credential::WebSession(id) => {
                            let Some(session) = tx.web_session_get(*id).await? else {
                                return Ok(());
                            };
                            tx.web_session_delete(*id).await?;
                            (audit_state::web_session(&session), None)
                        }
                        Credential::Token { id, .. } => {
                            let Some(token) = tx.token_get(*id).await? else { return Ok(()) };
                            if !tx.token_revoke(*id, self.now()).await? {
                                return Ok(());
                            }
                            let [was, is] =
                                [false, true].map(|revoked| audit_state::token(&token, revoked));
                            (was, Some(is))
                        }
                        Credential::Workload(_) => return Ok(()),
                    };
                    let audit = audit.clone().with_states(Some(&before), after.as_ref());
                    tx.journal_append(&[], &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        Ok(())
    }

    /// Changes the caller's own password. Its other sessions end; this one goes on under a new secret.
    pub async fn password_change(
        &self,
        cx: &Cx,
        current: &SecretString,
        new: &SecretString,
    ) -> Result<Option<Rekeyed>, Error> {
        let principal = self.store.read().await?.principal_get(cx.caller.principal_id).await?;
        let principal = principal.ok_or_else(|| Error::unauthenticated("the caller is gone"))?;
        if principal.password_hash.is_none() {
            return Err(Error::conflict(
                "a service account has no password",
                "give it a token with `hostler token create`",
            ));
        }
        self.guarded(&cx.request, principal.name.as_str(), async {
            let is_right = self.verify(cx, current, principal.password_hash.clone()).await?;
            let words = "this is not the current password";
            let wrong = || Error::invalid(vec![Diagnostic::new("/current", words)]);
            Ok(if is_right { Ok(()) } else { Err(wrong()) })
        })
        .await?;
        let mut changed = principal.clone();
        let source = &cx.request.source;
        changed.password_hash =
            Some(self.checked_password_hash(source, new, &principal.name, "/new").await?);
        changed.generation = principal.generation.next();
        changed.time_modified = self.now();
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let audit = self.audit(cx, "user.password-change", &object, None, json!({}));
        let fresh = fresh_session_secret();
        let (principal, changed, audit, fresh) = (&principal, &changed, &audit, &fresh);
        let credential = &cx.caller.credential;
        let rekeyed = self
            .store
            .tx("password_change", |tx| {
                Box::pin(async move {
                    tx.principal_update(changed, principal.generation)
                        .await?
                        .required("user", &changed.name)?;
                    tx.password_reset_delete(changed.id).await?;
                    end_sessions(tx, changed.id, Some(credential), changed.time_modified).await?;
                    let rekeyed = rekey(tx, credential, fresh).await?;
                    let before = audit_state::user_now(tx, principal).await?;
                    let after = audit_state::user_now(tx, changed).await?;
                    let audit = audit.clone().with_states(Some(&before), Some(&after));
                    tx.journal_append(&[], &[audit]).await?;
                    Ok::<_, Error>(rekeyed)
                })
            })
            .await?;
        self.callers.clear();
        Ok(rekeyed)
    }

    pub async fn web_session_list(&self, cx: &Cx) -> Result<Vec<WebSession>, Error> {
        let now = self.now();
        let sessions = self.store.read().await?.web_session_list(cx.caller.principal_id).await?;
        Ok(sessions.into_iter().filter(|session| now < self.session_end(session)).collect())
    }

    pub async fn web_session_end(&self, cx: &Cx, id: WebSessionId) -> Result<(), Error> {
        let object = ObjectRef::new(ObjectKind::WebSession, id, &cx.caller.name);
        let audit = self.audit(cx, "web-session.end", &object, None, json!({}));
        let audit = &audit;
        self.store
            .tx("web_session_end", |tx| {
                Box::pin(async move {
                    let session = tx
                        .web_session_get(id)
                        .await?
                        .filter(|s| s.principal_id == cx.caller.principal_id);
                    let session = session.ok_or_else(|| Error::not_found("session", id))?;
                    tx.web_session_delete(id).await?;
                    let state = audit_state::web_session(&session);
                    let audit = audit.clone().with_states(Some(&state), None);
                    tx.journal_append(&[], &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.callers.clear();
        Ok(())
    }
}

pub(super) async fn caller(
    read: &mut Conn,
    principal: hostler_model::PrincipalId,
    credential: Credential,
) -> Result<Caller, Error> {
    let principal = read.principal_get(principal).await?.filter(|p| !p.is_disabled);
    let principal =
        principal.ok_or_else(|| Error::unauthenticated("the account is disabled or gone"))?;
    let grants = read.grants_of(principal.id).await?;
    Ok(Caller {
        principal_id: principal.id,
        name: principal.name,
        kind: principal.kind,
        grants,
        credential,
    })
}

pub(super) fn user_actor(name: &Name) -> hostler_model::Actor {
    hostler_model::Actor { kind: hostler_model::ActorKind::User, name: name.to_string() }
}

impl Control {
    /// Checks and hashes a new password, in its turn.
    pub(super) async fn checked_password_hash(
        &self,
        source: &str,
        new: &SecretString,
        user: &Name,
        pointer: &str,
    ) -> Result<String, Error> {
        if let Some(problem) = password::problem(new.expose(), user.as_str()) {
            return Err(Error::invalid(vec![Diagnostic::new(pointer, problem)]));
        }
        let new = new.clone();
        let hashed = self.password_work.run(source, move || password::hash(&new)).await?;
        hashed.map_err(Error::internal)
    }

    async fn password_verify(
        &self,
        source: &str,
        given: &SecretString,
        stored: Option<String>,
    ) -> Result<bool, Error> {
        let given = given.clone();
        let looked = move || password::verify(&given, stored.as_deref());
        self.password_work.run(source, looked).await?.map_err(Error::internal)
    }

    /// Whether somebody who is logged in knows the password too.
    pub(super) async fn verify(
        &self,
        cx: &Cx,
        given: &SecretString,
        stored: Option<String>,
    ) -> Result<bool, Error> {
        self.password_verify(&cx.request.source, given, stored).await
    }
}
