//! Logging in at the identity provider, and which identities there are whose.
//!
//! A login that was begun is a ticket in the hands of whoever began it, bound to the provider as it is set here.
//! It is good for ten minutes and for one login: the one that ends well spends it, on every server. What fails
//! counts to the address it comes from, as wrong passwords do. The session or token at the end is made exactly as
//! for a password. A second factor is the provider's matter, and is not asked for again here.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hostler_model::{
    Code, Error, EventKind, Generation, GroupPayload, Name, ObjectKind, ObjectRef, Principal,
    PrincipalId, PrincipalKind, Scope, UserIdentity, UserPayload,
};
use hostler_store::{Claim, Tx};
use hostler_trust::jwt;
use hostler_trust::keyring::random_text;
use hostler_trust::secret::constant_time_eq;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::access::require_not_above;
use super::group;
use super::login::user_actor;
use super::login_guard::Looked;
use super::oidc_provider::refused;
use super::user::find;
use crate::identity::seconds;
use crate::oidc::{Expected, Person, encoded, person};
use crate::{Control, Cx, LoginGrant, LoginKind, OidcConfig, RequestMeta, audit_state};

/// How long a login may take, with everything that the provider asks.
const TICKET_LIFE: Duration = Duration::from_mins(10);
const CODE_MAX: usize = 4096;

/// A login that was begun.
#[derive(Clone, PartialEq, Eq)]
pub struct OidcBegun {
    /// Where the person goes with a browser.
    pub url: String,
    /// What finishes it, together with what the provider says at the end.
    pub ticket: String,
}

#[derive(Serialize, Deserialize)]
struct Ticket {
    state: String,
    nonce: String,
    verifier: String,
    expires: i64,
}

impl Control {
    fn oidc(&self) -> Result<&OidcConfig, Error> {
        self.config.oidc.as_ref().ok_or_else(|| {
            Error::new(
                Code::NotFound,
                "this installation has no identity provider",
                "log in with a password; an admin can set one in the section [oidc] of the configuration",
            )
        })
    }

    /// Begins a login.
    pub async fn oidc_begin(&self) -> Result<OidcBegun, Error> {
        let config = self.oidc()?;
        let provider = self.oidc_provider(config).await?;
        let text = || random_text(32).expose().to_owned();
        let ticket = Ticket {
            state: text(),
            nonce: text(),
            verifier: text(),
            expires: seconds(self.now().plus(TICKET_LIFE)),
        };
        let (scopes, challenge) = (config.scopes.join(" "), jwt::challenge(&ticket.verifier));
        let query = encoded(&[
            ("response_type", "code"),
            ("client_id", config.client_id.as_str()),
            ("redirect_uri", config.redirect_uri.as_str()),
            ("scope", scopes.as_str()),
            ("state", ticket.state.as_str()),
            ("nonce", ticket.nonce.as_str()),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
        ]);
        let joint = if provider.authorization_endpoint.contains('?') { '&' } else { '?' };
        let url = format!("{}{joint}{query}", provider.authorization_endpoint);
        let bytes = serde_json::to_vec(&ticket).map_err(Error::internal)?;
        let sealed = self.keyring.seal(&bytes, &belongs_to(config)).map_err(Error::internal)?;
        Ok(OidcBegun { url, ticket: URL_SAFE_NO_PAD.encode(sealed) })
    }

    /// Finishes a login with what the provider gave to the browser.
    pub async fn oidc_finish(
        &self,
        request: &RequestMeta,
        ticket: &str,
        state: &str,
        code: &str,
        kind: LoginKind,
    ) -> Result<LoginGrant, Error> {
        let config = self.oidc()?;
        let look = Box::pin(self.oidc_look(request, config, ticket, state, code));
        let (principal, subject) = self.guarded_nameless(request, look).await?;
        self.callers.clear();
        self.feed.ring();
        let detail = json!({ "issuer": config.issuer, "subject": subject });
        self.grant_told(request, principal, kind, detail).await
    }

    /// Who it is, here and at the provider. Who is kept out counts like who brings something wrong.
    async fn oidc_look(
        &self,
        request: &RequestMeta,
        config: &OidcConfig,
        ticket: &str,
        state: &str,
        code: &str,
    ) -> Looked<(Principal, String)> {
        match self.oidc_enter(request, config, ticket, state, code).await {
            Ok(entered) => Ok(Ok(entered)),
            Err(error) if matches!(error.code, Code::Unauthenticated | Code::Forbidden) => {
                Ok(Err(error))
            }
            Err(error) => Err(error),
        }
    }

    async fn oidc_enter(
        &self,
        request: &RequestMeta,
        config: &OidcConfig,
        ticket: &str,
        state: &str,
        code: &str,
    ) -> Result<(Principal, String), Error> {
        let ticket = self.oidc_ticket(config, ticket)?;
        if !constant_time_eq(ticket.state.as_bytes(), state.as_bytes()) {
            return Err(refused("what the provider gave belongs to another login"));
        }
        if code.is_empty() || code.len() > CODE_MAX {
            return Err(refused("the provider gave no code"));
        }
        let provider = self.oidc_provider(config).await?;
        let token = self.oidc_exchange(config, &provider, &ticket.verifier, code).await?;
        let said = self.oidc_verify(config, &provider, &token).await?;
        let expected = Expected {
            issuer: &config.issuer,
            client_id: &config.client_id,
            nonce: &ticket.nonce,
            now: seconds(self.now()),
        };
        let person = person(&said, &expected)
            .map_err(|why| refused(&format!("the provider's token is not good: {why}")))?;
        if let Some(why) = person.problem(config) {
            return Err(Error::new(
                Code::Forbidden,
                format!("{} knows you, but {why}", config.label),
                "log in there as somebody else, or ask an admin of this installation",
            ));
        }
        let principal = self.oidc_account(request, config, &ticket, &person).await?;
        Ok((principal, person.subject))
    }

    fn oidc_ticket(&self, config: &OidcConfig, text: &str) -> Result<Ticket, Error> {
        let unreadable = || refused("this login was not begun here");
        let sealed = URL_SAFE_NO_PAD.decode(text).map_err(|_| unreadable())?;
        let opened = self.keyring.open(&sealed, &belongs_to(config)).map_err(|_| unreadable())?;
        let ticket: Ticket = serde_json::from_slice(&opened).map_err(|_| unreadable())?;
        match ticket.expires > seconds(self.now()) {
            true => Ok(ticket),
            false => Err(refused("this login was begun too long ago")),
        }
    }

    /// The account of somebody whom the provider vouches for; one is made where the installation says so.
    async fn oidc_account(
        &self,
        request: &RequestMeta,
        config: &OidcConfig,
        ticket: &Ticket,
        person: &Person,
    ) -> Result<Principal, Error> {
        let now = self.now();
        let fresh = self.oidc_fresh(config, person);
        let fresh = fresh.as_ref();
        self.store
            .tx("oidc_account", |tx| {
                Box::pin(async move {
                    let (issuer, subject) = (&config.issuer, &person.subject);
                    let principal = match tx.user_identity_get(issuer, subject).await? {
                        Some(known) => {
                            tx.user_identity_use(issuer, subject, &person.email, now).await?;
                            let found = tx.principal_get(known.principal_id).await?;
                            found.filter(|principal| !principal.is_disabled).ok_or_else(|| {
                                let words = "the account is disabled or gone";
                                Error::new(Code::Unauthenticated, words, "ask an admin")
                            })?
                        }
                        None => {
                            let fresh = fresh.ok_or_else(|| unlinked(person))?;
                            self.oidc_create(tx, request, config, person, fresh).await?;
                            fresh.clone()
                        }
                    };
                    self.oidc_spend(tx, ticket, &principal).await?;
                    self.oidc_groups(tx, request, config, person, &principal).await?;
                    Ok::<_, Error>(principal)
                })
            })
            .await
    }

    /// A ticket lets one login end well, whatever the provider says of codes. It is remembered as requests are
    /// that must not be carried out twice, for much longer than a ticket is good.
    async fn oidc_spend(
        &self,
        tx: &mut Tx<'_>,
        ticket: &Ticket,
        principal: &Principal,
    ) -> Result<(), Error> {
        let context = "hostler 2026 login at a provider that was finished";
        let hash = blake3::derive_key(context, ticket.state.as_bytes());
        let (nobody, key) = (PrincipalId::from_uuid(Uuid::nil()), URL_SAFE_NO_PAD.encode(hash));
        let key = format!("oidc-login {key}");
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        match tx.idempotency_claim(nobody, &key, &hash, &object, self.now()).await? {
            Claim::Fresh => Ok(()),
            Claim::Replay(_) | Claim::Mismatch => Err(refused("this login was finished already")),
        }
    }

    /// An account for somebody whom nobody knows; `None` where there is to be none, or no name for it.
    fn oidc_fresh(&self, config: &OidcConfig, person: &Person) -> Option<Principal> {
        let name = person.account_name(&config.name_claim).filter(|_| config.creates_accounts)?;
        let now = self.now();
        Some(Principal {
            id: self.ids.fresh(),
            name,
            kind: PrincipalKind::User,
            password_hash: None,
            is_disabled: false,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        })
    }

    async fn oidc_create(
        &self,
        tx: &mut Tx<'_>,
        request: &RequestMeta,
        config: &OidcConfig,
        person: &Person,
        fresh: &Principal,
    ) -> Result<(), Error> {
        if tx.principal_by_name(&fresh.name).await?.is_some() {
            let name = &fresh.name;
            return Err(Error::conflict(
                format!(
                    "an account `{name}` is there already, and is not linked with this identity"
                ),
                format!(
                    "if that account is yours, ask an admin for `hostler user identity add {name} {}`",
                    word(person)
                ),
            ));
        }
        tx.principal_insert(fresh).await?;
        if let Some(role) = &config.role {
            if tx.role_permissions(role).await?.is_none() {
                return Err(Error::conflict(
                    format!("new accounts should have the role `{role}`, which is not there"),
                    "an admin makes it with `hostler role create`, or changes `oidc.role`",
                ));
            }
            tx.role_binding_set(fresh.id, Scope::Global, role.clone()).await?;
        }
        let now = self.now();
        tx.user_identity_insert(&UserIdentity {
            issuer: config.issuer.clone(),
            subject: person.subject.clone(),
            principal_id: fresh.id,
            email: person.email.clone(),
            time_created: now,
            time_last_used: Some(now),
        })
        .await?;
        let object = ObjectRef::new(ObjectKind::User, fresh.id, &fresh.name);
        let actor = user_actor(&fresh.name);
        let words = format!("made for {} of {}", person.subject, config.issuer);
        let event = self
            .event(EventKind::UserLinked, None, &object, actor.clone(), words)
            .with_payload(UserPayload {
                issuer: Some(config.issuer.clone()),
                subject: Some(person.subject.clone()),
                ..UserPayload::default()
            });
        let detail = json!({
            "issuer": config.issuer, "subject": person.subject, "role": config.role,
        });
        let state = audit_state::user(fresh, config.role.as_ref());
        let audit = self
            .audit_by(actor, request, "user.create", &object, None, detail)
            .with_states(None, Some(&state));
        Ok(tx.journal_append(&[event], &[audit]).await?)
    }

    /// Groups that are the provider's matter: members there are members here, and nobody else of theirs is.
    async fn oidc_groups(
        &self,
        tx: &mut Tx<'_>,
        request: &RequestMeta,
        config: &OidcConfig,
        person: &Person,
        principal: &Principal,
    ) -> Result<(), Error> {
        let (mut joined, mut left): (Vec<&Name>, Vec<&Name>) = (Vec::new(), Vec::new());
        let (actor, mut audit) = (user_actor(&principal.name), Vec::new());
        for (index, (_, own)) in config.groups.iter().enumerate() {
            if config.groups[..index].iter().any(|(_, before)| before == own) {
                continue;
            }
            let Some(group) = tx.group_by_name(own).await? else {
                tracing::warn!(group = %own, "a group that `oidc.groups` names is not there");
                continue;
            };
            let is_member = config
                .groups
                .iter()
                .filter(|(_, name)| name == own)
                .any(|(theirs, _)| person.has(&config.groups_claim, theirs));
            let before = group::state(tx, group.id).await?;
            let is_changed = match is_member {
                true => tx.group_member_add(group.id, principal.id).await?,
                false => tx.group_member_remove(group.id, principal.id).await?,
            };
            if is_changed {
                tx.group_touch(group.id, self.now()).await?;
                if is_member {
                    joined.push(own)
                } else {
                    left.push(own)
                }
                let action = if is_member { "group.add" } else { "group.remove-member" };
                let detail = json!({ "user": principal.name, "issuer": config.issuer });
                let (object, after) = (group::object(&group), group::state(tx, group.id).await?);
                audit.push(
                    self.audit_by(actor.clone(), request, action, &object, None, detail)
                        .with_states(before.as_ref(), after.as_ref()),
                );
            }
        }
        if joined.is_empty() && left.is_empty() {
            return Ok(());
        }
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let words =
            format!("groups as the provider says: {} joined, {} left", joined.len(), left.len());
        let event = self.event(EventKind::GroupChanged, None, &object, actor, words).with_payload(
            GroupPayload {
                joined_groups: Some(joined.into_iter().cloned().collect()),
                left_groups: Some(left.into_iter().cloned().collect()),
                ..GroupPayload::default()
            },
        );
        Ok(tx.journal_append(&[event], &audit).await?)
    }

    /// Whether somebody has to log in at the provider.
    pub(super) async fn oidc_only(&self, principal: &Principal) -> Result<bool, Error> {
        match &self.config.oidc {
            Some(config) if config.is_password_off => {
                let own = self.store.read().await?.user_identity_list(principal.id).await?;
                Ok(own.iter().any(|identity| identity.issuer == config.issuer))
            }
            Some(_) | None => Ok(false),
        }
    }

    pub async fn user_identity_list(&self, _: &Cx, user: &str) -> Result<Vec<UserIdentity>, Error> {
        let mut read = self.store.read().await?;
        let principal = find(&mut read, user).await?;
        Ok(read.user_identity_list(principal.id).await?)
    }

    /// Lets whom the provider calls so log in as a user.
    pub async fn user_identity_add(
        &self,
        cx: &Cx,
        user: &str,
        subject: &str,
    ) -> Result<UserIdentity, Error> {
        let issuer = self.oidc()?.issuer.clone();
        if subject.is_empty() || subject.len() > 255 || subject.chars().any(char::is_control) {
            let words = "a subject has 1 to 255 characters on one line";
            let problem = hostler_model::Diagnostic::new("/subject", words);
            return Err(Error::invalid(vec![problem]));
        }
        let (issuer, now) = (&issuer, self.now());
        self.store
            .tx("user_identity_add", |tx| {
                Box::pin(async move {
                    let principal = find(tx, user).await?;
                    if principal.kind != PrincipalKind::User {
                        return Err(Error::conflict(
                            "a service account does not log in at a provider",
                            "give it a token with `hostler token create`",
                        ));
                    }
                    require_not_above(tx, &cx.caller, &principal).await?;
                    let identity = UserIdentity {
                        issuer: issuer.clone(),
                        subject: subject.to_owned(),
                        principal_id: principal.id,
                        email: String::new(),
                        time_created: now,
                        time_last_used: None,
                    };
                    if !tx.user_identity_insert(&identity).await? {
                        return Err(Error::conflict(
                            "this identity belongs to an account already",
                            "take it from there first with `hostler user identity rm`",
                        ));
                    }
                    let kind = EventKind::UserLinked;
                    self.identity_told(tx, cx, &principal, &identity, kind).await?;
                    Ok(identity)
                })
            })
            .await
    }

    pub async fn user_identity_remove(
        &self,
        cx: &Cx,
        user: &str,
        issuer: &str,
        subject: &str,
    ) -> Result<(), Error> {
        self.store
            .tx("user_identity_remove", |tx| {
                Box::pin(async move {
                    let principal = find(tx, user).await?;
                    require_not_above(tx, &cx.caller, &principal).await?;
                    let absent = || {
                        let name = &principal.name;
                        Error::new(
                            Code::NotFound,
                            format!("{name} has no identity `{subject}` of {issuer}"),
                            format!("list them with `hostler user identity ls {name}`"),
                        )
                    };
                    let found = tx.user_identity_get(issuer, subject).await?;
                    let identity = found.ok_or_else(absent)?;
                    if !tx.user_identity_delete(principal.id, issuer, subject).await? {
                        return Err(absent());
                    }
                    let kind = EventKind::UserUnlinked;
                    self.identity_told(tx, cx, &principal, &identity, kind).await
                })
            })
            .await?;
        self.feed.ring();
        Ok(())
    }

    async fn identity_told(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        principal: &Principal,
        identity: &UserIdentity,
        kind: EventKind,
    ) -> Result<(), Error> {
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let words = format!("{} of {}", identity.subject, identity.issuer);
        let event = self.event(kind, None, &object, cx.actor(), words).with_payload(UserPayload {
            by: Some(cx.caller.name.clone()),
            issuer: Some(identity.issuer.clone()),
            subject: Some(identity.subject.clone()),
            ..UserPayload::default()
        });
        let action = if kind == EventKind::UserLinked { "user.link" } else { "user.unlink" };
        let detail = json!({ "issuer": identity.issuer, "subject": identity.subject });
        let state = Some(audit_state::user_identity(identity));
        let (before, after) = match kind {
            EventKind::UserLinked => (None, state),
            _ => (state, None),
        };
        let audit = self
            .audit(cx, action, &object, None, detail)
            .with_states(before.as_ref(), after.as_ref());
        Ok(tx.journal_append(&[event], &[audit]).await?)
    }
}

/// What a ticket is good for: this provider, as it is set here.
fn belongs_to(config: &OidcConfig) -> Vec<u8> {
    let OidcConfig { issuer, client_id, redirect_uri, .. } = config;
    format!("oidc-login\0{issuer}\0{client_id}\0{redirect_uri}").into_bytes()
}

/// The subject so that a shell reads it as it stands: some have a `|`.
fn word(person: &Person) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match person.subject.chars().all(is_plain) {
        true => person.subject.clone(),
        false => format!("'{}'", person.subject.replace('\'', "'\\''")),
    }
}

fn unlinked(person: &Person) -> Error {
    Error::new(
        Code::Forbidden,
        format!("no account here is linked with your identity `{}`", person.subject),
        format!(
            "ask an admin for an account, and then for `hostler user identity add NAME {}`",
            word(person)
        ),
    )
}
