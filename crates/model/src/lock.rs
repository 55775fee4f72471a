//! Locks: who may go on, when several want the same.
//!
//! A lock belongs to a project and has a name. It has *slots*: one makes it a mutex, more a semaphore. Who
//! asks for it makes a [`LockHold`], with an id of its own choosing, so that a request whose answer was lost
//! finds what it did. A hold waits in the order of arrival ([`LockHold::place`]) until it is granted, and then
//! has a *fencing token*: a number that only grows and is never given twice under one name, so that whatever
//! the lock protects can refuse who held it before.
//!
//! A hold lives as long as it is heard of: each renewal raises its generation, and a server that has seen the
//! same generation for the whole of [`LockHold::patience`] ends it. What has ended is remembered for a while
//! in [`Lock::past`]. A lock is made by being asked for, and goes when it was idle for long enough; the token
//! that its name had last is kept in a floor under all tokens.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{Diagnostic, Generation, LockHoldId, LockId, PrincipalId, ProjectId, Span, Timestamp};

/// The shortest and the longest time after which a holder that is silent loses its lock.
pub const LOCK_TTL: std::ops::RangeInclusive<Span> = Span::from_secs(1)..=Span::from_secs(86_400);
/// How long one may be silent without being thought gone, where nothing else is said.
pub const LOCK_TTL_DEFAULT: Span = Span::from_secs(30);
/// The longest that one request waits; who wants to wait longer asks again and keeps its place.
pub const LOCK_WAIT_MAX: Span = Span::from_secs(30);
/// Who waits and does not ask for so long loses its place; and who was granted a lock and does not ask for it.
pub const LOCK_WAITER_TTL: Span = Span::from_secs(60);
/// How many may hold a lock at once.
pub const LOCK_SLOTS_MAX: u32 = 1000;
/// How many may wait for one lock.
pub const LOCK_WAITERS_MAX: u32 = 1000;
/// How many locks a project may have in use, or remember.
pub const LOCKS_MAX: u64 = 10_000;
/// How many of those who held a lock are remembered.
pub const LOCK_PAST_MAX: usize = 10;

const WORD_MAX: usize = 128;
const WHY_MAX: usize = 256;

/// What a lock is called: 1 to 128 letters, digits, `-`, `_`, `.` and `:`, in parts with `/` between them,
/// each of which begins with a letter or a digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct LockName(String);

/// Error of parsing the name of a lock.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not the name of a lock: use 1 to 128 letters, digits, `-`, `_`, `.` or `:`, in parts with `/` between them that begin with a letter or digit"
)]
pub struct ParseLockNameError {
    given: String,
}

impl LockName {
    pub const MAX: usize = 128;
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for LockName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for LockName {
    type Err = ParseLockNameError;
    fn from_str(text: &str) -> Result<LockName, ParseLockNameError> {
        let is_part = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphanumeric())
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.:".contains(&b))
        };
        if text.len() <= LockName::MAX && text.split('/').all(is_part) {
            return Ok(LockName(text.to_owned()));
        }
        Err(ParseLockNameError { given: text.chars().take(80).collect() })
    }
}

impl<'de> Deserialize<'de> for LockName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for LockName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LockName".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "maxLength": LockName::MAX,
            "pattern": "^[A-Za-z0-9][A-Za-z0-9_.:-]*(/[A-Za-z0-9][A-Za-z0-9_.:-]*)*$",
        })
    }
}

crate::labels! {
    /// What became of asking for a lock.
    pub enum LockOutcome ("lock outcome") {
        /// It is held from now on.
        Held = "held",
        /// It is not held; a place in the queue is.
        Waiting = "waiting",
        /// It is not held, and there was no wish to wait.
        Busy = "busy",
    }
}

crate::labels! {
    /// How somebody came to hold a lock no longer.
    pub enum LockEnd ("lock end") {
        /// It was given back.
        Released = "released",
        /// Its holder was not heard of for as long as it had said.
        Expired = "expired",
        /// Somebody else took it away.
        Forced = "forced",
    }
}

/// A lock without those who hold it or wait for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    pub id: LockId,
    pub project_id: ProjectId,
    pub name: LockName,
    /// How many may hold it at once; agreed on by those who use it, and free when nobody does.
    pub slots: u32,
    pub held: u32,
    pub waiting: u32,
    /// The last place that was given in the order of arrival.
    pub place_last: u64,
    /// The last fencing token that was given.
    pub token_last: u64,
    /// Those who held it before, newest first.
    pub past: Vec<PastHold>,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

impl Lock {
    /// One that nobody has asked for yet; `floor` is the largest token that any lock that is gone had.
    pub fn fresh(
        id: LockId,
        project_id: ProjectId,
        name: LockName,
        floor: u64,
        now: Timestamp,
    ) -> Lock {
        Lock {
            id,
            project_id,
            name,
            slots: 1,
            held: 0,
            waiting: 0,
            place_last: 0,
            token_last: floor,
            past: Vec::new(),
            generation: Generation::ZERO,
            time_created: now,
            time_modified: now,
        }
    }

    pub fn is_idle(&self) -> bool {
        self.held == 0 && self.waiting == 0
    }

    /// What became of a hold that is over, as far as it is remembered.
    pub fn past_of(&self, id: LockHoldId) -> Option<&PastHold> {
        self.past.iter().find(|past| past.id == id)
    }
}

/// Who holds a lock or waits for it, for people who look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LockHolder {
    /// The machine it is on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// The process there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// What it runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl LockHolder {
    /// Every mistake, with where it is below `at`.
    pub fn problems(&self, at: &str) -> Vec<Diagnostic> {
        let fields = [
            ("host", &self.host, WORD_MAX),
            ("command", &self.command, WHY_MAX),
            ("why", &self.why, WHY_MAX),
        ];
        let is_wrong =
            |text: &str, max| text.chars().count() > max || text.contains(char::is_control);
        fields
            .into_iter()
            .filter(|(_, text, max)| is_wrong(text, *max))
            .map(|(field, _, max)| {
                let text =
                    format!("at most {max} characters, none of which is a control character");
                Diagnostic::new(format!("{at}/{field}"), text)
            })
            .collect()
    }
}

/// Somebody who holds a lock, or waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockHold {
    /// Chosen by who asks.
    pub id: LockHoldId,
    pub lock_id: LockId,
    /// Only the same principal renews and releases it.
    pub principal_id: PrincipalId,
    /// As events name that principal.
    pub by: String,
    pub holder: LockHolder,
    /// In the order of arrival.
    pub place: u64,
    /// Given with the lock; absent while it waits.
    pub token: Option<u64>,
    /// Whether it has asked since it was granted: only then can it know that it holds.
    pub is_taken: bool,
    pub ttl: Span,
    /// Grows whenever it is heard of.
    pub generation: Generation,
    pub time_asked: Timestamp,
    pub time_granted: Option<Timestamp>,
    pub time_renewed: Timestamp,
}

impl LockHold {
    pub fn is_held(&self) -> bool {
        self.token.is_some()
    }

    /// How long it may be silent. Who does not know yet that it holds is waited for as in the queue.
    pub fn patience(&self) -> Span {
        patience(self.is_held(), self.is_taken, self.ttl)
    }
}

fn patience(is_held: bool, is_taken: bool, ttl: Span) -> Span {
    match (is_held, is_taken) {
        (false, _) => LOCK_WAITER_TTL,
        (true, false) => ttl.min(LOCK_WAITER_TTL),
        (true, true) => ttl,
    }
}

/// What a server that watches needs to know of a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockSighting {
    pub id: LockHoldId,
    pub generation: Generation,
    pub is_held: bool,
    pub patience: Span,
}

impl LockSighting {
    pub fn new(
        id: LockHoldId,
        generation: Generation,
        is_held: bool,
        is_taken: bool,
        ttl: Span,
    ) -> LockSighting {
        LockSighting { id, generation, is_held, patience: patience(is_held, is_taken, ttl) }
    }
}

/// Somebody who held a lock before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastHold {
    pub id: LockHoldId,
    pub principal_id: PrincipalId,
    pub by: String,
    pub holder: LockHolder,
    pub token: u64,
    pub time_granted: Timestamp,
    pub time_ended: Timestamp,
    pub end: LockEnd,
    /// Who took it away and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced: Option<LockForced>,
}

/// Who took a lock away from its holder, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LockForced {
    pub by: String,
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_locks_are_paths_of_words() {
        let longest = "a".repeat(128);
        for good in ["a", "resource_x", "deploy/web", "A.b:c-d_e", "9", "a/b/c", &longest] {
            let name: LockName = good.parse().unwrap();
            assert_eq!(name.to_string(), good);
            let json = serde_json::to_string(&name).unwrap();
            assert_eq!(serde_json::from_str::<LockName>(&json).unwrap(), name);
        }
        let long = "a".repeat(129);
        for bad in [
            "", "/", "a/", "/a", "a//b", ".", "..", "a/..", "-a", "_a", "a b", "ä", "a\0", "a%2F",
            &long,
        ] {
            let error = bad.parse::<LockName>().unwrap_err().to_string();
            assert!(error.contains("use 1 to 128 letters"), "{bad}: {error}");
        }
    }

    #[test]
    fn words_about_a_holder_are_short_and_printable() {
        let holder =
            LockHolder { host: "web-1".into(), why: "é".repeat(256), ..LockHolder::default() };
        assert_eq!(holder.problems("/holder"), []);
        let bad = LockHolder {
            host: "x".repeat(129),
            pid: Some(1),
            command: "a\nb".into(),
            why: "y".repeat(257),
        };
        let places: Vec<_> = bad.problems("/holder").into_iter().map(|d| d.pointer).collect();
        assert_eq!(places, ["/holder/host", "/holder/command", "/holder/why"]);
    }

    #[test]
    fn who_has_not_asked_since_the_grant_is_waited_for_no_longer_than_in_the_queue() {
        let day = Span::from_secs(86_400);
        for (is_held, is_taken, ttl, expected) in [
            (false, false, day, LOCK_WAITER_TTL),
            (true, false, day, LOCK_WAITER_TTL),
            (true, false, Span::from_secs(5), Span::from_secs(5)),
            (true, true, day, day),
        ] {
            assert_eq!(patience(is_held, is_taken, ttl), expected);
        }
    }
}
