//! What kinds of events are called: ours, and those that users, tasks and steps of workflows make up.
//!
//! Kinds of one's own are `custom.NAME` and nothing else, so that they can never be taken for one of ours, whatever
//! kinds there will be. In the journal they are of the kind [`EventKind::Custom`] about the object `custom/NAME`:
//! deliveries about the same name keep their order.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::EventKind;

/// What is before the name of a kind of one's own.
const SPACE: &str = "custom.";
/// The largest payload of an event of one's own, in bytes of JSON.
pub const CUSTOM_PAYLOAD_MAX: usize = 16 << 10;
/// The longest sentence of one, in characters.
pub const CUSTOM_MESSAGE_MAX: usize = 1000;

/// The name of a kind of one's own, without `custom.`: 1 to 120 characters, words of letters, digits, `_` and `-` with
/// dots between them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CustomName(String);

/// Error of reading such a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is no name of an event: use 1 to 120 characters, words of letters, digits, `_` and `-` with dots between them, such as `custom.deploy.started`"
)]
pub struct ParseCustomNameError {
    given: String,
}

impl CustomName {
    pub const MAX: usize = 120;
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CustomName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for CustomName {
    type Err = ParseCustomNameError;
    fn from_str(text: &str) -> Result<CustomName, ParseCustomNameError> {
        let is_word = |word: &str| {
            !word.is_empty()
                && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        };
        if text.len() <= CustomName::MAX && text.split('.').all(is_word) {
            return Ok(CustomName(text.to_owned()));
        }
        Err(ParseCustomNameError { given: text.chars().take(80).collect() })
    }
}

/// A kind of event as it is told and asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventName {
    Ours(EventKind),
    Custom(CustomName),
}

/// Error of reading the name of a kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseEventNameError {
    #[error(transparent)]
    Ours(#[from] crate::label::UnknownLabel),
    #[error(transparent)]
    Custom(#[from] ParseCustomNameError),
}

impl EventName {
    pub const fn kind(&self) -> EventKind {
        match self {
            EventName::Ours(kind) => *kind,
            EventName::Custom(_) => EventKind::Custom,
        }
    }

    pub const fn custom(&self) -> Option<&CustomName> {
        match self {
            EventName::Ours(_) => None,
            EventName::Custom(name) => Some(name),
        }
    }
}

impl From<EventKind> for EventName {
    fn from(kind: EventKind) -> EventName {
        EventName::Ours(kind)
    }
}

impl From<CustomName> for EventName {
    fn from(name: CustomName) -> EventName {
        EventName::Custom(name)
    }
}

impl PartialEq<EventKind> for EventName {
    fn eq(&self, other: &EventKind) -> bool {
        matches!(self, EventName::Ours(kind) if kind == other)
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventName::Ours(kind) => f.pad(kind.label()),
            EventName::Custom(name) => f.pad(&format!("{SPACE}{name}")),
        }
    }
}

impl FromStr for EventName {
    type Err = ParseEventNameError;
    fn from_str(text: &str) -> Result<EventName, ParseEventNameError> {
        match text.strip_prefix(SPACE) {
            Some(name) => Ok(EventName::Custom(name.parse()?)),
            None => Ok(EventName::Ours(text.parse()?)),
        }
    }
}

impl Serialize for EventName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EventName, D::Error> {
        Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for EventName {
    fn schema_name() -> Cow<'static, str> {
        "EventName".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let ours = generator.subschema_for::<EventKind>();
        schemars::json_schema!({
            "description": "A kind of event: one of ours, or `custom.NAME`.",
            "anyOf": [
                ours,
                {
                    "type": "string",
                    "maxLength": CustomName::MAX + SPACE.len(),
                    "pattern": "^custom\\.[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$",
                },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_ours_or_in_the_space_of_users() {
        for (text, read) in [
            ("task.failed", Some(EventName::Ours(EventKind::TaskFailed))),
            ("custom", Some(EventName::Ours(EventKind::Custom))),
            ("custom.deploy", Some(EventName::Custom(CustomName("deploy".into())))),
            ("custom.a.B_c-1", Some(EventName::Custom(CustomName("a.B_c-1".into())))),
            ("custom.task.failed", Some(EventName::Custom(CustomName("task.failed".into())))),
            ("custom.", None),
            ("custom..a", None),
            ("custom.a.", None),
            ("custom.a b", None),
            ("custom.ä", None),
            ("custom.a/b", None),
            ("deploy", None),
            ("task.deployed", None),
        ] {
            let found = text.parse::<EventName>();
            assert_eq!(found.clone().ok(), read, "{text}");
            if let Ok(name) = found {
                assert_eq!(name.to_string(), text);
                let json = serde_json::to_string(&name).unwrap();
                assert_eq!(serde_json::from_str::<EventName>(&json).unwrap(), name);
            }
        }
        let longest = "x".repeat(CustomName::MAX);
        assert!(longest.parse::<CustomName>().is_ok());
        assert!(format!("{longest}x").parse::<CustomName>().is_err());
    }
}
