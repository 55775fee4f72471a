//! What a stack is called.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, de};

/// A letter, and then up to 254 letters, digits, `_`, `-` and `.`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct StackName(#[schemars(regex(pattern = r"^[a-zA-Z][a-zA-Z0-9_.-]{0,254}$"))] String);

/// Error of parsing the name of a stack.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Invalid stack name {given} must contain only alphanumeric or \"_-.\" characters, must start with alpha and must be 255 characters or less."
)]
pub struct ParseStackNameError {
    given: String,
}

impl StackName {
    pub const MAX: usize = 255;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for StackName {
    type Err = ParseStackNameError;
    fn from_str(text: &str) -> Result<StackName, ParseStackNameError> {
        let is_rest = |c: u8| c.is_ascii_alphanumeric() || b"_-.".contains(&c);
        let is_name = text.len() <= StackName::MAX
            && text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.bytes().all(is_rest);
        if is_name {
            return Ok(StackName(text.to_owned()));
        }
        Err(ParseStackNameError { given: text.chars().take(300).collect() })
    }
}

impl<'de> Deserialize<'de> for StackName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<StackName, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_heat_takes() {
        for good in ["a", "web.prod_1-x", &"a".repeat(255)] {
            assert_eq!(good.parse::<StackName>().unwrap().as_str(), good);
        }
        for bad in ["", "1bad", "-a", "a b", "ü", "a/b", &"a".repeat(256)] {
            assert!(bad.parse::<StackName>().is_err(), "{bad}");
        }
    }
}
