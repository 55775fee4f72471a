//! Entries, where they are, and what happened to them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{Actor, Name, ProjectId, Timestamp};

/// How large a value may be.
pub const STATE_VALUE_MAX: usize = 1 << 20;
/// How long a key may be, in bytes.
pub const STATE_KEY_MAX: usize = 512;

/// Any bytes; shared between the row, the log and whoever watches.
pub type StateValue = Arc<[u8]>;

/// What an entry is called in its namespace: 1 to 512 bytes of text without control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct StateKey(String);

/// Error of reading a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a key: use 1 to {STATE_KEY_MAX} bytes of text without control characters"
)]
pub struct ParseStateKeyError {
    given: String,
}

impl StateKey {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn check(text: &str) -> Result<(), ParseStateKeyError> {
        let fits = (1..=STATE_KEY_MAX).contains(&text.len()) && !text.chars().any(char::is_control);
        if fits {
            return Ok(());
        }
        let given = text.chars().take(80).flat_map(char::escape_default).collect();
        Err(ParseStateKeyError { given })
    }
}

impl TryFrom<String> for StateKey {
    type Error = ParseStateKeyError;
    fn try_from(text: String) -> Result<StateKey, ParseStateKeyError> {
        StateKey::check(&text)?;
        Ok(StateKey(text))
    }
}

impl FromStr for StateKey {
    type Err = ParseStateKeyError;
    fn from_str(text: &str) -> Result<StateKey, ParseStateKeyError> {
        text.to_owned().try_into()
    }
}

impl fmt::Display for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for StateKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StateKey, D::Error> {
        String::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for StateKey {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StateKey".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "minLength": 1, "maxLength": STATE_KEY_MAX })
    }
}

/// Where an entry is. Written as one text it is `PROJECT/NAMESPACE/KEY`, which is what rows are found
/// by: neither of the first two has a slash, and all keys of a namespace stand together in their order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateAddress {
    pub project_id: ProjectId,
    pub namespace: Name,
    pub key: StateKey,
}

impl StateAddress {
    /// What it counts for in the quota, with a value of this length.
    pub fn weight(&self, size: u64) -> u64 {
        self.key.0.len() as u64 + size
    }
}

impl fmt::Display for StateAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.project_id, self.namespace, self.key)
    }
}

/// Error of reading an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an entry is found by PROJECT/NAMESPACE/KEY")]
pub struct ParseStateAddressError;

impl FromStr for StateAddress {
    type Err = ParseStateAddressError;
    fn from_str(text: &str) -> Result<StateAddress, ParseStateAddressError> {
        let mut parts = text.splitn(3, '/');
        let mut next = || parts.next().ok_or(ParseStateAddressError);
        Ok(StateAddress {
            project_id: next()?.parse().map_err(|_| ParseStateAddressError)?,
            namespace: next()?.parse().map_err(|_| ParseStateAddressError)?,
            key: next()?.parse().map_err(|_| ParseStateAddressError)?,
        })
    }
}

/// The row of an entry; of one that is gone too, while its history is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateRecord {
    pub at: StateAddress,
    pub is_gone: bool,
    /// Of the transaction that changed it last.
    pub revision: u64,
    /// Of the transaction that made it.
    pub create_revision: u64,
    /// How often it was changed since it was made, that included.
    pub version: u64,
    pub size: u64,
    /// Absent where it was not asked for, and of what is gone.
    pub value: Option<StateValue>,
    /// Who changed it last.
    pub owner: Actor,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
    pub time_expires: Option<Timestamp>,
}

impl StateRecord {
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.time_expires.is_some_and(|time| time <= now)
    }

    /// Whether anybody may see it at this time.
    pub fn is_there(&self, now: Timestamp) -> bool {
        !self.is_gone && !self.is_expired(now)
    }

    /// What it counts for in the quota.
    pub fn weight(&self) -> u64 {
        if self.is_gone { 0 } else { self.at.weight(self.size) }
    }
}

crate::labels! {
    /// What happened to an entry.
    pub enum StateChangeKind ("kind of change") {
        /// It has a new value.
        Put = "put",
        /// It has the same value, and another time to go or none.
        Touched = "touched",
        /// Somebody deleted it.
        Deleted = "deleted",
        /// Its time had come.
        Expired = "expired",
    }
}

impl StateChangeKind {
    /// Whether the entry is gone after it.
    pub const fn is_end(self) -> bool {
        matches!(self, StateChangeKind::Deleted | StateChangeKind::Expired)
    }
}

/// One change of one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateChange {
    pub kind: StateChangeKind,
    pub at: StateAddress,
    pub revision: u64,
    /// Of the change of this entry before; 0 when there was none. So a history is a walk back.
    pub previous: u64,
    pub create_revision: u64,
    pub version: u64,
    /// Of a `put`.
    pub value: Option<StateValue>,
    pub time_expires: Option<Timestamp>,
    pub owner: Actor,
}

/// Changes that were committed together, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateBatch {
    pub first: u64,
    pub last: u64,
    pub time: Timestamp,
    pub changes: Vec<StateChange>,
}

/// The newest revision that was given, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateHead {
    pub revision: u64,
    /// Never goes back, whatever clocks do.
    pub time: Timestamp,
    /// Bytes of changes that were ever logged.
    pub logged: u64,
}

/// What a project, or a namespace of it, holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSum {
    pub project_id: ProjectId,
    /// Absent for all of the project together.
    pub namespace: Option<Name>,
    pub entries: u64,
    /// Keys and values.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_text_without_surprises() {
        for good in ["a", "a/b/c", "ä ö", "..", "/", &"k".repeat(512), "emoji \u{1f980}"] {
            assert!(good.parse::<StateKey>().is_ok(), "{good}");
        }
        for bad in ["", "a\0b", "a\nb", "\u{7f}", "\u{9b}", &"k".repeat(513), &"ä".repeat(257)] {
            let error = bad.parse::<StateKey>().unwrap_err().to_string();
            assert!(error.contains("1 to 512 bytes"), "{error}");
            assert!(!error.contains(['\0', '\n']), "{error:?}");
        }
        assert!(serde_json::from_str::<StateKey>("\"a\\u0000\"").is_err());
    }

    #[test]
    fn an_address_is_one_text_and_back() {
        let at = StateAddress {
            project_id: ProjectId::from_uuid(uuid::Uuid::from_u128(7)),
            namespace: "app".parse().unwrap(),
            key: "a/b//c".parse().unwrap(),
        };
        assert_eq!(at.to_string().parse(), Ok(at.clone()));
        assert_eq!(at.to_string(), "00000000-0000-0000-0000-000000000007/app/a/b//c");
        for bad in ["", "x/y/z", "00000000-0000-0000-0000-000000000007/app"] {
            assert!(bad.parse::<StateAddress>().is_err());
        }
    }
}
