//! Links: secrets whose values are kept elsewhere, in a vault that the servers can ask.
//!
//! A link names a vault of the servers' configuration, a path in it, and where there are several fields
//! at that path, one of them; a version of the vault's own counting where not the newest is meant. The path
//! is below whatever the configuration gives the project: what is here is only ever joined to that, so a
//! path has no way up ([`VaultPath`]), and the vault's paths of one project are out of reach of another.
//!
//! [`VaultPrefix`] is that other part: what the configuration says, with the project's name in it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Diagnostic, Name};

/// How long the name of a field may be.
const FIELD_MAX: usize = 128;
/// What stands for the name of the project in a prefix.
const PROJECT: &str = "{project}";

/// Where the value of a secret is, outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretLink {
    /// Name of the vault in the configuration of the servers.
    pub provider: Name,
    /// Below what the vault has for the project, such as `db/app`.
    pub path: VaultPath,
    /// Which field of what is there; it can be left out where there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// As the vault counts versions; the newest when absent.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

impl SecretLink {
    /// Reads `PATH[#FIELD][@VERSION]`.
    pub fn parse(provider: Name, text: &str) -> Result<SecretLink, ParseVaultPathError> {
        let (text, version) = match text.rsplit_once('@') {
            None => (text, None),
            Some((text, digits)) => {
                let is_plain = digits.bytes().all(|b| b.is_ascii_digit());
                let version = digits.parse().ok().filter(|n| is_plain && *n > 0);
                (text, Some(version.ok_or(ParseVaultPathError)?))
            }
        };
        let (path, field) = match text.split_once('#') {
            None => (text, None),
            Some((path, field)) => (path, Some(field.to_owned())),
        };
        Ok(SecretLink { provider, path: path.parse()?, field, version })
    }

    /// What is wrong with it besides the path.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        if let Some(field) = &self.field {
            let is_fine = (1..=FIELD_MAX).contains(&field.len())
                && field.chars().all(|c| !c.is_control() && !matches!(c, '#' | '@'));
            if !is_fine {
                let text = format!("a field has 1 to {FIELD_MAX} characters, and no `#` or `@`");
                problems.push(Diagnostic::new("/field", text));
            }
        }
        if self.version == Some(0) {
            problems.push(Diagnostic::new("/version", "versions are counted from 1"));
        }
        problems
    }
}

impl fmt::Display for SecretLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.provider, self.path)?;
        if let Some(field) = &self.field {
            write!(f, "#{field}")?;
        }
        match self.version {
            Some(version) => write!(f, "@{version}"),
            None => Ok(()),
        }
    }
}

/// Segments between slashes, each of letters, digits and `. _ : = ~ -`, none of them `.` or `..`: it leads
/// down and nowhere else, and stands in a URL as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VaultPath(String);

/// Error of parsing a path in a vault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a path in a vault is PATH[#FIELD][@VERSION], such as `db/app#password@3`; the path has letters, digits and `. _ : = ~ -` between single slashes, and no `..`"
)]
pub struct ParseVaultPathError;

impl VaultPath {
    pub const MAX: usize = 512;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_segment(text: &str) -> bool {
    let is_known = |b: u8| b.is_ascii_alphanumeric() || b"._:=~-".contains(&b);
    !text.is_empty() && text != "." && text != ".." && text.bytes().all(is_known)
}

impl FromStr for VaultPath {
    type Err = ParseVaultPathError;
    fn from_str(text: &str) -> Result<VaultPath, ParseVaultPathError> {
        let is_path = text.len() <= VaultPath::MAX && text.split('/').all(is_segment);
        if is_path { Ok(VaultPath(text.to_owned())) } else { Err(ParseVaultPathError) }
    }
}

impl fmt::Display for VaultPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Serialize for VaultPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for VaultPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for VaultPath {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "VaultPath".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "maxLength": 512,
            "pattern": "^[A-Za-z0-9._:=~-]+(/[A-Za-z0-9._:=~-]+)*$",
        })
    }
}

/// What a vault has for projects: segments like those of a path, of which one may be `{project}`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VaultPrefix(Vec<String>);

/// Error of parsing a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a prefix has segments between single slashes, such as `teams/{{project}}`; `{{project}}` is a whole one of them"
)]
pub struct ParseVaultPrefixError;

impl VaultPrefix {
    /// Whether every project has its own.
    pub fn is_per_project(&self) -> bool {
        self.0.iter().any(|segment| segment == PROJECT)
    }

    /// What the project has, with a slash at its end; empty where the prefix is.
    pub fn of(&self, project: &Name) -> String {
        let mut text = String::new();
        for segment in &self.0 {
            text.push_str(if segment == PROJECT { project.as_str() } else { segment });
            text.push('/');
        }
        text
    }
}

impl FromStr for VaultPrefix {
    type Err = ParseVaultPrefixError;
    fn from_str(text: &str) -> Result<VaultPrefix, ParseVaultPrefixError> {
        let text = text.strip_suffix('/').unwrap_or(text);
        if text.is_empty() {
            return Ok(VaultPrefix::default());
        }
        let segments: Vec<String> = text.split('/').map(str::to_owned).collect();
        let is_prefix = text.len() <= VaultPath::MAX
            && segments.iter().all(|segment| segment == PROJECT || is_segment(segment));
        if is_prefix { Ok(VaultPrefix(segments)) } else { Err(ParseVaultPrefixError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        text.parse().unwrap()
    }

    #[test]
    fn a_link_is_read_as_it_is_shown() {
        for (text, path, field, version) in [
            ("db/app", "db/app", None, None),
            ("db/app#password", "db/app", Some("password"), None),
            ("db/app#password@3", "db/app", Some("password"), Some(3)),
            ("db@12", "db", None, Some(12)),
            ("a.b/c_d:e=f~g-h#two words", "a.b/c_d:e=f~g-h", Some("two words"), None),
        ] {
            let link = SecretLink::parse(name("corp"), text).unwrap();
            assert_eq!(
                (link.path.as_str(), link.field.as_deref(), link.version),
                (path, field, version)
            );
            assert_eq!(link.to_string(), format!("corp:{text}"));
            assert!(link.problems().is_empty());
            let json = serde_json::to_string(&link).unwrap();
            assert_eq!(serde_json::from_str::<SecretLink>(&json).unwrap(), link);
        }
        for bad in ["", "/db", "db/", "a//b", "db@", "db@0", "db@+1", "db@x", "#f"] {
            assert!(SecretLink::parse(name("corp"), bad).is_err(), "{bad}");
        }
        let empty = SecretLink::parse(name("corp"), "db#").unwrap();
        assert_eq!(empty.problems()[0].pointer, "/field");
    }

    #[test]
    fn no_path_leads_up_or_out_of_a_url() {
        for bad in [
            "..",
            "a/..",
            "../a",
            "a/../b",
            ".",
            "a/./b",
            "a%2f..",
            "%2e%2e/a",
            "a?version=1",
            "a#b",
            "a b",
            "a\\b",
            "a\nb",
            "{project}",
            "ü",
        ] {
            assert!(bad.parse::<VaultPath>().is_err(), "{bad}");
            assert!(serde_json::from_value::<VaultPath>(bad.into()).is_err(), "{bad}");
        }
        assert!("...".parse::<VaultPath>().is_ok());
        assert!("a".repeat(VaultPath::MAX).parse::<VaultPath>().is_ok());
        assert!("a".repeat(VaultPath::MAX + 1).parse::<VaultPath>().is_err());
    }

    #[test]
    fn a_prefix_has_the_name_of_the_project_in_it() {
        for (text, of, is_per_project) in [
            ("", "", false),
            ("shared", "shared/", false),
            ("teams/{project}", "teams/alpha/", true),
            ("{project}/secrets/", "alpha/secrets/", true),
        ] {
            let prefix: VaultPrefix = text.parse().unwrap();
            assert_eq!(
                (prefix.of(&name("alpha")).as_str(), prefix.is_per_project()),
                (of, is_per_project)
            );
        }
        for bad in ["a//b", "/a", "..", "a/../{project}", "x-{project}", "{other}", "a?b"] {
            assert!(bad.parse::<VaultPrefix>().is_err(), "{bad}");
        }
    }
}
