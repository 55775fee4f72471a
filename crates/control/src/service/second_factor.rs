//! The second factor: enrolling, proving, and the rule who must have one.
//!
//! A secret is made and shown, and counts from the moment a code of it was shown back. From then on a
//! login needs the password and a code; each code works once, on whichever server. Ten recovery codes
//! stand in for a device that is lost, once each. Switching it off takes the password and a code;
//! an admin can take it off somebody whose device and codes are gone.
//!
//! Where the configuration says from which role on a second factor is needed, a person with such a
//! role and without one has no role at all until it is there: whatever asks the authoriser refuses,
//! and says what to do. Programs (service accounts) are not asked.

use std::sync::PoisonError;

use hostler_model::{
    Caller, Code, Diagnostic, Error, EventKind, Name, ObjectKind, ObjectRef, PermissionSet,
    Principal, PrincipalId, PrincipalKind, Role, SecondFactor, SecondFactorState, Timestamp,
    UserPayload,
};
use hostler_store::Conn;
use hostler_trust::{SecretString, TotpSecret, totp};
use serde_json::json;

use super::access::require_not_above;
use super::login_guard::Looked;
use super::session::{Rekeyed, end_sessions, fresh_session_secret, rekey};
use crate::{Control, Cx, audit_state};

/// What authenticators show the account under.
const ISSUER: &str = "Hostler";

/// How the caller stands with the second factor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondFactorDetail {
    pub state: SecondFactorState,
    pub recovery_codes_left: u64,
    pub time_confirmed: Option<Timestamp>,
}

/// A secret for an authenticator, shown once.
#[derive(Debug)]
pub struct Enrolment {
    pub secret: SecretString,
    pub uri: SecretString,
}

/// What a login shows besides the password.
pub(super) enum Proof {
    /// None is needed, or it is right.
    Enough,
    Missing,
    Wrong,
}

impl Control {
    pub async fn second_factor_show(&self, cx: &Cx) -> Result<SecondFactorDetail, Error> {
        if cx.caller.kind == PrincipalKind::Workload {
            let state = SecondFactorState::Off;
            return Ok(SecondFactorDetail { state, recovery_codes_left: 0, time_confirmed: None });
        }
        let id = cx.caller.principal_id;
        let mut read = self.store.read().await?;
        let factor = read.second_factor_get(id).await?.filter(SecondFactor::is_on);
        let state = match (&factor, self.is_unproven(id)) {
            (Some(_), _) => SecondFactorState::On,
            (None, true) => SecondFactorState::Required,
            (None, false) => SecondFactorState::Off,
        };
        Ok(SecondFactorDetail {
            state,
            recovery_codes_left: read.recovery_code_count(id).await?,
            time_confirmed: factor.and_then(|factor| factor.time_confirmed),
        })
    }

    /// Makes a secret for the caller; it counts once [`Control::second_factor_confirm`] saw a code.
    pub async fn second_factor_enrol(
        &self,
        cx: &Cx,
        password: &SecretString,
    ) -> Result<Enrolment, Error> {
        let principal = self.person(cx).await?;
        self.guarded(&cx.request, principal.name.as_str(), async {
            let is_right = self.verify(cx, password, principal.password_hash.clone()).await?;
            Ok(if is_right { Ok(()) } else { Err(wrong("/password", "password")) })
        })
        .await?;
        let secret = TotpSecret::generate();
        let sealed = self
            .keyring
            .seal(secret.bytes(), &belongs_to(principal.id))
            .map_err(Error::internal)?;
        let factor = SecondFactor {
            principal_id: principal.id,
            secret_sealed: sealed,
            step_last: 0,
            time_created: self.now(),
            time_confirmed: None,
        };
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let audit = self.audit(cx, "second-factor.enrol", &object, None, json!({}));
        let (factor, audit, principal_ref) = (&factor, &audit, &principal);
        self.store
            .tx("second_factor_enrol", |tx| {
                Box::pin(async move {
                    let before = audit_state::second_factor_now(tx, principal_ref).await?;
                    if !tx.second_factor_begin(factor).await? {
                        return Err(Error::conflict(
                            "you have a second factor already",
                            "switch it off first: `hostler auth totp disable`",
                        ));
                    }
                    let after = audit_state::second_factor_now(tx, principal_ref).await?;
                    let audit = audit.clone().with_states(before.as_ref(), after.as_ref());
                    tx.journal_append(&[], &[audit]).await?;
                    Ok(())
                })
            })
            .await?;
        Ok(Enrolment { secret: secret.base32(), uri: secret.uri(ISSUER, principal.name.as_str()) })
    }

    /// Makes the caller's new secret count, and gives the recovery codes, this once. Other sessions,
    /// which got in with the password alone, end.
    pub async fn second_factor_confirm(
        &self,
        cx: &Cx,
        code: &SecretString,
    ) -> Result<(Vec<SecretString>, Option<Rekeyed>), Error> {
        let principal = self.person(cx).await?;
        let factor = self.store.read().await?.second_factor_get(principal.id).await?;
        let factor = match factor {
            Some(factor) if factor.is_on() => {
                return Err(Error::conflict(
                    "your second factor is confirmed already",
                    "where its recovery codes are lost: `hostler auth totp disable`, then enrol again",
                ));
            }
            Some(factor) => factor,
            None => {
                return Err(Error::conflict(
                    "there is no second factor to confirm",
                    "begin with `hostler auth totp enrol`",
                ));
            }
        };
        let secret = self.totp_secret(&factor)?;
        let step = self
            .guarded(&cx.request, principal.name.as_str(), async {
                let found = secret.find_step(&totp::plain(code.expose()), self.unix_seconds(), 0);
                Ok(found.ok_or_else(|| wrong("/code", "code")))
            })
            .await?;
        let codes = totp::recovery_codes();
        let account = principal.id.to_string();
        let hashes: Vec<[u8; 32]> =
            codes.iter().map(|code| totp::recovery_hash(&account, code.expose())).collect();
        let (object, actor) =
            (ObjectRef::new(ObjectKind::User, principal.id, &principal.name), cx.actor());
        let event =
            self.event(EventKind::UserSecondFactorOn, None, &object, actor, "on").with_payload(
                UserPayload { codes_left: Some(hashes.len() as u64), ..UserPayload::default() },
            );
        let audit = self.audit(cx, "second-factor.confirm", &object, None, json!({}));
        let (fresh, now) = (fresh_session_secret(), self.now());
        let (factor, hashes, event, audit, fresh) = (&factor, &hashes, &event, &audit, &fresh);
        let principal = &principal;
        let rekeyed = self
            .store
            .tx("second_factor_confirm", |tx| {
                Box::pin(async move {
                    let before = audit_state::second_factor_now(tx, principal).await?;
                    if !tx.second_factor_confirm(factor, step, now).await? {
                        return Err(Error::conflict(
                            "the second factor was changed meanwhile",
                            "look at `hostler auth totp show`, and begin again where it is off",
                        ));
                    }
                    tx.recovery_codes_set(factor.principal_id, hashes).await?;
                    let credential = &cx.caller.credential;
                    end_sessions(tx, factor.principal_id, Some(credential), now).await?;
                    let rekeyed = rekey(tx, credential, fresh).await?;
                    let after = audit_state::second_factor_now(tx, principal).await?;
                    let audit = audit.clone().with_states(before.as_ref(), after.as_ref());
                    tx.journal_append(std::slice::from_ref(event), &[audit]).await?;
                    Ok(rekeyed)
                })
            })
            .await?;
        self.callers.clear();
        Ok((codes, rekeyed))
    }

    /// Switches the caller's second factor off.
    pub async fn second_factor_disable(
        &self,
        cx: &Cx,
        password: &SecretString,
        code: &SecretString,
    ) -> Result<Option<Rekeyed>, Error> {
        let principal = self.person(cx).await?;
        let principal_ref = &principal;
        let look = async || -> Looked<()> {
            if !self.verify(cx, password, principal_ref.password_hash.clone()).await? {
                return Ok(Err(wrong("/password", "password")));
            }
            Ok(match self.second_factor_prove(principal_ref, Some(code)).await? {
                Proof::Enough => Ok(()),
                Proof::Missing | Proof::Wrong => Err(wrong("/code", "code")),
            })
        };
        self.guarded(&cx.request, principal.name.as_str(), Box::pin(look())).await?;
        self.second_factor_off(cx, &principal, "second-factor.disable", "off").await
    }

    /// Takes the second factor off somebody who cannot show a code any more.
    pub async fn second_factor_reset(&self, cx: &Cx, name_or_id: &str) -> Result<(), Error> {
        let principal = self.principal_find(name_or_id).await?;
        let words = format!("taken off by {}", cx.caller.name);
        require_not_above(&mut *self.store.read().await?, &cx.caller, &principal).await?;
        self.second_factor_off(cx, &principal, "second-factor.reset", &words).await?;
        Ok(())
    }

    async fn second_factor_off(
        &self,
        cx: &Cx,
        principal: &Principal,
        action: &str,
        message: &str,
    ) -> Result<Option<Rekeyed>, Error> {
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let event = self
            .event(EventKind::UserSecondFactorOff, None, &object, cx.actor(), message)
            .with_payload(UserPayload {
                by: (cx.caller.principal_id != principal.id).then(|| cx.caller.name.clone()),
                ..UserPayload::default()
            });
        let audit = self.audit(cx, action, &object, None, json!({}));
        let fresh = fresh_session_secret();
        let (event, audit, fresh) = (&event, &audit, &fresh);
        let rekeyed = self
            .store
            .tx("second_factor_off", |tx| {
                Box::pin(async move {
                    let before = audit_state::second_factor_now(tx, principal).await?;
                    if !tx.second_factor_delete(principal.id).await? {
                        return Err(Error::conflict(
                            format!("{} has no second factor", principal.name),
                            "there is nothing to do",
                        ));
                    }
                    let rekeyed = match principal.id == cx.caller.principal_id {
                        true => rekey(tx, &cx.caller.credential, fresh).await?,
                        false => None,
                    };
                    let audit = audit.clone().with_states(before.as_ref(), None);
                    tx.journal_append(std::slice::from_ref(event), &[audit]).await?;
                    Ok(rekeyed)
                })
            })
            .await?;
        self.callers.clear();
        Ok(rekeyed)
    }

    /// Whether what was shown is enough besides the password; uses a right code up.
    pub(super) async fn second_factor_prove(
        &self,
        principal: &Principal,
        code: Option<&SecretString>,
    ) -> Result<Proof, Error> {
        let factor = self.store.read().await?.second_factor_get(principal.id).await?;
        let Some(factor) = factor.filter(SecondFactor::is_on) else { return Ok(Proof::Enough) };
        let Some(code) = code.map(|code| totp::plain(code.expose())).filter(|c| !c.is_empty())
        else {
            return Ok(Proof::Missing);
        };
        let is_right = if totp::is_device_code(&code) {
            let secret = self.totp_secret(&factor)?;
            match secret.find_step(&code, self.unix_seconds(), factor.step_last) {
                Some(step) => self.step_use(principal.id, step).await?,
                None => false,
            }
        } else {
            self.recovery_code_use(principal, &code).await?
        };
        Ok(if is_right { Proof::Enough } else { Proof::Wrong })
    }

    async fn step_use(&self, principal: PrincipalId, step: u64) -> Result<bool, Error> {
        self.store
            .tx("second_factor_use", |tx| {
                Box::pin(async move { Ok(tx.second_factor_use(principal, step).await?) })
            })
            .await
    }

    async fn recovery_code_use(&self, principal: &Principal, code: &str) -> Result<bool, Error> {
        let hash = totp::recovery_hash(&principal.id.to_string(), code);
        let object = ObjectRef::new(ObjectKind::User, principal.id, &principal.name);
        let (hash, object) = (&hash, &object);
        self.store
            .tx("recovery_code_use", |tx| {
                Box::pin(async move {
                    let before = audit_state::second_factor_now(tx, principal).await?;
                    if !tx.recovery_code_use(principal.id, hash).await? {
                        return Ok::<_, Error>(false);
                    }
                    let left = tx.recovery_code_count(principal.id).await?;
                    let event = self.event(
                        EventKind::UserRecoveryCodeUsed,
                        None,
                        object,
                        super::login::user_actor(&principal.name),
                        format!("{left} are left"),
                    );
                    let codes_left = Some(left);
                    let event =
                        event.with_payload(UserPayload { codes_left, ..UserPayload::default() });
                    let after = audit_state::second_factor_now(tx, principal).await?;
                    let audit = self
                        .audit_system("recovery-code.use", object, None, json!({ "left": left }))
                        .with_states(before.as_ref(), after.as_ref());
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok(true)
                })
            })
            .await
    }

    /// Takes every role from a person who must have a second factor and has none.
    pub(super) async fn second_factor_bound(
        &self,
        read: &mut Conn,
        mut caller: Caller,
    ) -> Result<Caller, Error> {
        let id = caller.principal_id;
        let must = self.config.second_factor_from.is_some_and(|least| {
            let lesser = Role::ALL.iter().filter(|role| **role < least);
            let allowed = lesser
                .fold(PermissionSet::of_everybody(), |all, role| all.union(role.permissions()));
            caller.kind == PrincipalKind::User
                && caller.grants.iter().any(|grant| !grant.permissions.is_within(allowed))
        });
        let is_unproven = must
            && !read.second_factor_get(id).await?.is_some_and(|factor| factor.is_on())
            && !is_proven_elsewhere(read, id).await?;
        let mut unproven = self.unproven.lock().unwrap_or_else(PoisonError::into_inner);
        if is_unproven {
            unproven.insert(id);
            caller.grants.clear();
        } else {
            unproven.remove(&id);
        }
        Ok(caller)
    }

    fn is_unproven(&self, id: PrincipalId) -> bool {
        self.unproven.lock().unwrap_or_else(PoisonError::into_inner).contains(&id)
    }

    /// Refuses, in words, a caller who has no role because the second factor is missing.
    pub fn require_second_factor(&self, caller: &Caller) -> Result<(), Error> {
        if !self.is_unproven(caller.principal_id) {
            return Ok(());
        }
        Err(Error::new(
            Code::SecondFactorRequired,
            "your role needs a second factor, and you have none yet",
            "enrol with `hostler auth totp enrol`, or log in to the dashboard",
        ))
    }

    /// The caller, who must be a person with a password.
    async fn person(&self, cx: &Cx) -> Result<Principal, Error> {
        super::workload_caller::refuse_workloads(&cx.caller)?;
        let principal = self.store.read().await?.principal_get(cx.caller.principal_id).await?;
        let principal = principal.ok_or_else(|| Error::unauthenticated("the caller is gone"))?;
        if principal.password_hash.is_none() {
            return Err(Error::conflict(
                "a service account has no password, and so no second factor",
                "give it tokens that may do little: `hostler token create`",
            ));
        }
        Ok(principal)
    }

    fn totp_secret(&self, factor: &SecondFactor) -> Result<TotpSecret, Error> {
        let opened = self.keyring.open(&factor.secret_sealed, &belongs_to(factor.principal_id));
        Ok(TotpSecret::from_bytes(&opened.map_err(Error::internal)?))
    }

    fn unix_seconds(&self) -> u64 {
        self.now().since(Timestamp::EPOCH).as_secs()
    }
}

/// Whoever has no password and logs in at the identity provider proves it all there.
async fn is_proven_elsewhere(read: &mut Conn, id: PrincipalId) -> Result<bool, Error> {
    let principal = read.principal_get(id).await?;
    let has_password = principal.is_none_or(|principal| principal.password_hash.is_some());
    Ok(!has_password && !read.user_identity_list(id).await?.is_empty())
}

/// What a login without a code is answered.
pub(super) fn code_needed(name: &Name) -> Error {
    Error::new(
        Code::SecondFactorRequired,
        format!("the password of {name} is right; a code of the second factor is needed too"),
        "send it as `code`: six digits of your authenticator, or a recovery code",
    )
}

/// A sealed secret opens for the principal it was made for only.
pub(super) fn belongs_to(principal: PrincipalId) -> Vec<u8> {
    format!("second-factor:{principal}").into_bytes()
}

fn wrong(pointer: &str, what: &str) -> Error {
    let detail = match what {
        "code" => "the code is wrong, too old, or was used already".to_owned(),
        _ => format!("this is not the {what}"),
    };
    Error::invalid(vec![Diagnostic::new(pointer, detail)])
}
