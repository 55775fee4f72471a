//! Slowing down who guesses: `engine::throttle` performed on the rows, and the count of how logins
//! ended.
//!
//! The counts are in the database, so several servers make the same people wait, and a restart
//! forgives nothing. Whoever has to wait costs one read; the first refusal of a wait writes an event.
//! While a wait lasts a right password is refused like a wrong one.
//!
//! Who logs in at an identity provider names nobody here. What fails there counts to where it comes from,
//! and to no name: one that all share would let anybody keep everybody out.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hostler_base::chain;
use hostler_engine::throttle::network;
use hostler_model::{
    Code, Error, EventKind, LoginOutcome, LoginPayload, LoginTally, Name, ObjectKind, ObjectRef,
    TallyKind, Timestamp,
};
use hostler_store::{Conn, Tx};
use serde_json::json;

use crate::{Control, RequestMeta, Stateless};

/// How many logins ended how, on this server.
#[derive(Default)]
pub(crate) struct LoginCounts([AtomicU64; LoginOutcome::ALL.len()]);

impl LoginCounts {
    fn add(&self, outcome: LoginOutcome) {
        if let Some(count) = self.0.get(outcome as usize) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// What came of looking at a secret: outside, that it could not be looked at; inside, whether it was
/// right.
pub(super) type Looked<T> = Result<Result<T, Error>, Error>;

/// Whose failures an attempt counts to.
struct Subjects {
    name: Vec<u8>,
    pair: Vec<u8>,
    source: Vec<u8>,
    /// Whether there is a name at all; only the source counts otherwise.
    is_named: bool,
}

impl Subjects {
    fn of(name: Option<&str>, source: &str) -> Subjects {
        let is_named = name.is_some();
        let name = name.unwrap_or_default().to_lowercase();
        let source = network(source);
        let hash = |words: &[&str]| {
            let text = words.join("\0");
            blake3::derive_key("hostler 2026 subject of a login tally", text.as_bytes()).to_vec()
        };
        Subjects {
            name: hash(&["name", &name]),
            pair: hash(&["pair", &name, &source]),
            source: hash(&["source", &source]),
            is_named,
        }
    }

    fn of_kind(&self, kind: TallyKind) -> &[u8] {
        match kind {
            TallyKind::Name => &self.name,
            TallyKind::Pair | TallyKind::Known => &self.pair,
            TallyKind::Source => &self.source,
        }
    }
}

/// An attempt that counts as a failure until it turns out to be none.
struct Attempt {
    subjects: Subjects,
    /// `Name`, or `Pair` where the name is known from the address; `Source` where there is no name.
    kind: TallyKind,
}

/// What the rows say of an attempt.
struct Standing {
    kind: TallyKind,
    name: Option<LoginTally>,
    source: Option<LoginTally>,
}

impl Control {
    /// How logins ended since this server started.
    pub fn login_counts(&self) -> Vec<(LoginOutcome, u64)> {
        let of = |outcome: LoginOutcome| {
            self.logins.0.get(outcome as usize).map_or(0, |count| count.load(Ordering::Relaxed))
        };
        LoginOutcome::ALL.iter().map(|outcome| (*outcome, of(*outcome))).collect()
    }

    /// Looks at what somebody claims to know of `name`, and remembers whether it was right.
    pub(super) async fn guarded<T>(
        &self,
        request: &RequestMeta,
        name: &str,
        look: impl Future<Output = Looked<T>>,
    ) -> Result<T, Error> {
        self.guarded_as(request, Some(name), look).await
    }

    /// The same for somebody whom others vouch for, and who names nobody.
    pub(super) async fn guarded_nameless<T>(
        &self,
        request: &RequestMeta,
        look: impl Future<Output = Looked<T>>,
    ) -> Result<T, Error> {
        self.guarded_as(request, None, look).await
    }

    async fn guarded_as<T>(
        &self,
        request: &RequestMeta,
        name: Option<&str>,
        look: impl Future<Output = Looked<T>>,
    ) -> Result<T, Error> {
        let attempt = match self.attempt_begin(request, name).await {
            Ok(attempt) => attempt,
            Err(error) => {
                if error.code == Code::RateLimited {
                    self.logins.add(LoginOutcome::Waiting);
                }
                return Err(error);
            }
        };
        match look.await {
            Ok(Ok(found)) => {
                self.logins.add(LoginOutcome::Ok);
                self.attempt_end(&attempt, true).await;
                Ok(found)
            }
            Ok(Err(wrong)) => {
                self.logins.add(LoginOutcome::Wrong);
                Err(wrong)
            }
            Err(error) => {
                match error.code {
                    Code::SecondFactorRequired => self.logins.add(LoginOutcome::CodeNeeded),
                    Code::Unavailable if name.is_some() => self.logins.add(LoginOutcome::Busy),
                    _ => {}
                }
                self.attempt_end(&attempt, false).await;
                Err(error)
            }
        }
    }

    async fn attempt_begin(
        &self,
        request: &RequestMeta,
        name: Option<&str>,
    ) -> Result<Attempt, Error> {
        let subjects = Subjects::of(name, &request.source);
        let now = self.now();
        let seen = self.standing(&mut *self.store.read().await?, &subjects, now).await?;
        if let Some((wait, untold)) = self.must_wait(&seen, now)
            && untold.is_empty()
        {
            return Err(wait_first(wait));
        }
        let subjects_ref = &subjects;
        let begun = self
            .store
            .tx("login_attempt", |tx| {
                Box::pin(async move {
                    let seen = self.standing(tx, subjects_ref, now).await?;
                    if let Some((wait, untold)) = self.must_wait(&seen, now) {
                        for tally in untold {
                            self.tell(tx, request, name, tally, wait).await?;
                        }
                        return Ok::<_, Error>(Err(wait));
                    }
                    let rules = &self.config.login_rules;
                    let named = subjects_ref.is_named.then_some((seen.kind, seen.name));
                    let source = (TallyKind::Source, seen.source);
                    for (kind, tally) in named.into_iter().chain([source]) {
                        let subject = subjects_ref.of_kind(kind).to_vec();
                        tx.login_tally_set(&rules.counted(tally, kind, subject, now)).await?;
                    }
                    Ok(Ok(seen.kind))
                })
            })
            .await?;
        begun.map(|kind| Attempt { subjects, kind }).map_err(wait_first)
    }

    async fn standing(
        &self,
        read: &mut Conn,
        subjects: &Subjects,
        now: Timestamp,
    ) -> Result<Standing, Error> {
        let source = read.login_tally_get(TallyKind::Source, &subjects.source).await?;
        if !subjects.is_named {
            return Ok(Standing { kind: TallyKind::Source, name: None, source });
        }
        let known = read.login_tally_get(TallyKind::Known, &subjects.pair).await?;
        let kind = match self.config.login_rules.is_known(known.as_ref(), now) {
            true => TallyKind::Pair,
            false => TallyKind::Name,
        };
        Ok(Standing {
            kind,
            name: read.login_tally_get(kind, subjects.of_kind(kind)).await?,
            source,
        })
    }

    /// How long an attempt has to wait, and the tallies whose wait nobody was told of.
    fn must_wait(&self, seen: &Standing, now: Timestamp) -> Option<(Duration, Vec<LoginTally>)> {
        let left = |tally: &LoginTally| self.config.login_rules.remaining(tally, now);
        let waiting: Vec<&LoginTally> = [&seen.name, &seen.source]
            .into_iter()
            .flatten()
            .filter(|t| !left(t).is_zero())
            .collect();
        let longest = waiting.iter().map(|tally| left(tally)).max()?;
        let untold = waiting.into_iter().filter(|tally| !tally.is_told).cloned();
        Some((longest, untold.collect()))
    }

    async fn tell(
        &self,
        tx: &mut Tx<'_>,
        request: &RequestMeta,
        name: Option<&str>,
        tally: LoginTally,
        wait: Duration,
    ) -> Result<(), Error> {
        let principal = match name.unwrap_or_default().parse::<Name>() {
            Ok(name) if tally.kind != TallyKind::Source => tx.principal_by_name(&name).await?,
            _ => None,
        };
        let here = || ObjectRef::new(ObjectKind::Server, self.server_id, &self.server_name);
        let user = |p: hostler_model::Principal| ObjectRef::new(ObjectKind::User, p.id, &p.name);
        let whose = match (&principal, tally.kind) {
            (_, TallyKind::Source) => "of this address",
            (Some(_), _) => "with this name",
            (None, _) => "with a name that does not exist",
        };
        let object = principal.map_or_else(here, user);
        let message = format!(
            "{} logins {whose} failed, lately from {}; the next is looked at in {} s",
            tally.failures,
            if request.source.is_empty() { "an unknown address" } else { &request.source },
            seconds(wait)
        );
        let event = self
            .event(EventKind::LoginThrottled, None, &object, self.system_actor(), message)
            .with_payload(LoginPayload {
                counted: Some(tally.kind.label().to_owned()),
                failures: Some(tally.failures),
                source: (!request.source.is_empty()).then(|| request.source.clone()),
                wait_seconds: Some(seconds(wait)),
            });
        let detail = json!({ "counted": tally.kind, "failures": tally.failures });
        let (actor, action) = (self.system_actor(), Stateless::LoginThrottle);
        let audit = self.audit_by(actor, request, action, &object, None, detail);
        tx.login_tally_set(&LoginTally { is_told: true, ..tally }).await?;
        tx.journal_append(&[event], &[audit]).await?;
        Ok(())
    }

    /// The attempt was no failure; after a right one the name begins anew, and is known from here.
    async fn attempt_end(&self, attempt: &Attempt, is_right: bool) {
        let now = self.now();
        let (subjects, kind) = (&attempt.subjects, attempt.kind);
        let ended: Result<(), Error> = self
            .store
            .tx("login_attempt_end", |tx| {
                Box::pin(async move {
                    tx.login_tally_refund(TallyKind::Source, &subjects.source).await?;
                    if !subjects.is_named {
                        return Ok(());
                    }
                    if !is_right {
                        return Ok(tx.login_tally_refund(kind, subjects.of_kind(kind)).await?);
                    }
                    tx.login_tally_delete(kind, subjects.of_kind(kind)).await?;
                    let known = LoginTally {
                        kind: TallyKind::Known,
                        subject: subjects.pair.clone(),
                        failures: 0,
                        time_last: now,
                        is_told: false,
                    };
                    Ok(tx.login_tally_set(&known).await?)
                })
            })
            .await;
        if let Err(error) = ended {
            tracing::warn!(error = %chain(&error), "a login that did not fail stays counted as failed");
        }
    }

    /// Begins anew for a name whose password was set by who may do that.
    pub(super) async fn login_tally_clear(
        &self,
        tx: &mut Tx<'_>,
        name: &Name,
    ) -> Result<(), Error> {
        let subjects = Subjects::of(Some(name.as_str()), "");
        Ok(tx.login_tally_delete(TallyKind::Name, &subjects.name).await?)
    }
}

fn seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

fn wait_first(wait: Duration) -> Error {
    let seconds = seconds(wait).max(1);
    Error::new(
        Code::RateLimited,
        "too many logins failed",
        format!(
            "wait {seconds} s and try again; until then not even the right password is looked at"
        ),
    )
    .with_retry_after(seconds)
}
