//! Names and labels that people give to things.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de};

/// A DNS-1123 label: lowercase letters, digits and `-`, at most 63, starting and ending with a letter or digit.
///
/// Nothing else can name an object, so a name can stand in a path, a host name, a cgroup or a log
/// line without being escaped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Name(String);

/// Error of parsing a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a name: use 1 to 63 lowercase letters, digits or `-`, beginning and ending with a letter or digit"
)]
pub struct ParseNameError {
    given: String,
}

impl Name {
    pub const MAX: usize = 63;
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Name {
    type Err = ParseNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = (1..=Name::MAX).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !text.starts_with('-')
            && !text.ends_with('-');
        if fits {
            Ok(Name(text.to_owned()))
        } else {
            Err(ParseNameError { given: text.chars().take(80).collect() })
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for Name {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Name".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$" })
    }
}

/// Key and value pairs on nodes, and the selector that matches them (every pair must be present).
pub type Labels = BTreeMap<String, String>;

/// Why a label pair is not acceptable, or `None`.
///
/// Keys are 1 to 63 of letters, digits, `-`, `_`, `.`, `/`; values up to 63 without `/`.
pub fn label_problem(key: &str, value: &str) -> Option<String> {
    let word = |text: &str, extra: &[u8]| {
        text.len() <= 63
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b) || extra.contains(&b))
    };
    if key.is_empty() || !word(key, b"/") {
        return Some(format!(
            "label key `{key}` must be 1 to 63 letters, digits, `-`, `_`, `.` or `/`"
        ));
    }
    if !word(value, b"/") {
        return Some(format!(
            "label value `{value}` of `{key}` must be at most 63 letters, digits, `-`, `_`, `.` or `/`"
        ));
    }
    None
}

/// Whether every pair of `selector` is among `labels`.
pub fn selector_matches(selector: &Labels, labels: &Labels) -> bool {
    selector.iter().all(|(k, v)| labels.get(k) == Some(v))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_dns_labels() {
        for good in ["a", "web-1", "0x", &"a".repeat(63)] {
            assert!(good.parse::<Name>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a_b", "a/b", "..", "a b", "ä", &"a".repeat(64)] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }
}
