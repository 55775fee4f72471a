//! Secrets: values that workloads need and that nobody is to see on the way.
//!
//! A secret has a name in an *environment* (a word such as `prod`; `default` where none is said) of a
//! project, and versions, counted from 1 and never changed. One of them is current, the newest that was
//! not destroyed. Of a version that is destroyed the number is left and nothing else.
//!
//! Records carry what is sealed, never a value: the value of a version is sealed with a key of its own,
//! and that key with the installation's master key ([`Envelope`]). A workload names secrets with
//! [`SecretRef`]s; its nodes get the values when a run starts.
//!
//! A secret can be a *link* instead ([`SecretLink`]): it has no versions here, and its value is asked for in
//! a vault outside whenever it is needed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Actor, Generation, Name, PrincipalId, ProjectId, SecretId, SecretLink, Timestamp};

/// How large a value may be.
pub const SECRET_MAX: usize = 64 << 10;
/// The environment of secrets that name none.
pub const DEFAULT_ENVIRONMENT: &str = "default";

crate::labels! {
    /// Where the value of a secret is kept.
    pub enum SecretSource ("secret source") {
        /// Here, sealed.
        Kept = "kept",
        /// In a vault outside; it is asked for when it is needed.
        Linked = "linked",
    }
}

/// A secret without its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    pub id: SecretId,
    pub project_id: ProjectId,
    pub environment: Name,
    pub name: Name,
    pub source: SecretSource,
    /// Where it is, if it is linked.
    pub link: Option<SecretLink>,
    /// What is meant when no version is named; 0 when all are destroyed, and for a link.
    pub version_current: u32,
    /// The last number that was given.
    pub version_last: u32,
    /// Of this row.
    pub generation: Generation,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

impl Secret {
    /// As people and workloads call it.
    pub fn called(&self) -> String {
        self.reference(None).to_string()
    }

    pub fn reference(&self, version: Option<u32>) -> SecretRef {
        SecretRef { environment: self.environment.clone(), name: self.name.clone(), version }
    }

    /// What the value of a version belongs to: it opens nowhere else, also not in another secret that
    /// got the same name later.
    pub fn binding(&self, version: u32) -> Vec<u8> {
        let Secret { id, project_id, environment, name, .. } = self;
        format!("hostler.secret.v1/{project_id}/{environment}/{name}/{id}/{version}").into_bytes()
    }
}

/// A version without what is sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretVersion {
    pub secret_id: SecretId,
    pub version: u32,
    /// Of the value, in bytes.
    pub size: u32,
    /// Which master key its own key is sealed with; absent once it is destroyed.
    pub key_id: Option<KeyId>,
    pub created_by: Actor,
    pub time_created: Timestamp,
    pub time_destroyed: Option<Timestamp>,
}

impl SecretVersion {
    pub fn is_destroyed(&self) -> bool {
        self.time_destroyed.is_some()
    }
}

/// A value, sealed with a key of its own, and that key, sealed with a master key.
#[derive(Clone, PartialEq, Eq)]
pub struct Envelope {
    pub sealed: Vec<u8>,
    pub wrapped_key: Vec<u8>,
    /// Of the master key.
    pub key_id: KeyId,
}

impl fmt::Debug for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Envelope({}, {} bytes)", self.key_id, self.sealed.len())
    }
}

/// Which master key: the beginning of a hash of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 4]);

/// Error of parsing the id of a master key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the id of a master key is 8 hexadecimal digits")]
pub struct ParseKeyIdError;

impl KeyId {
    pub const fn from_bytes(bytes: [u8; 4]) -> KeyId {
        KeyId(bytes)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key:{self}")
    }
}

impl FromStr for KeyId {
    type Err = ParseKeyIdError;
    fn from_str(text: &str) -> Result<KeyId, ParseKeyIdError> {
        let is_hex = text.len() == 8 && text.bytes().all(|b| b.is_ascii_hexdigit());
        let number = u32::from_str_radix(text, 16).ok().filter(|_| is_hex);
        number.map(|number| KeyId(number.to_be_bytes())).ok_or(ParseKeyIdError)
    }
}

/// Which secret is meant: `[ENVIRONMENT/]NAME[:VERSION]`. Without a version, the one that is current
/// when it is needed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SecretRef {
    pub environment: Name,
    pub name: Name,
    pub version: Option<u32>,
}

/// Error of parsing a reference to a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret is called NAME, ENVIRONMENT/NAME, or either with :VERSION, such as `db` or `prod/db:3`"
)]
pub struct ParseSecretRefError;

impl SecretRef {
    /// A version of the same secret.
    pub fn at(&self, version: u32) -> SecretRef {
        SecretRef { version: Some(version), ..self.clone() }
    }
}

/// The environment that is meant when none is named.
pub fn default_environment() -> Name {
    DEFAULT_ENVIRONMENT.parse().expect("`default` is a name")
}

impl fmt::Display for SecretRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.environment.as_str() != DEFAULT_ENVIRONMENT {
            write!(f, "{}/", self.environment)?;
        }
        write!(f, "{}", self.name)?;
        match self.version {
            Some(version) => write!(f, ":{version}"),
            None => Ok(()),
        }
    }
}

impl FromStr for SecretRef {
    type Err = ParseSecretRefError;
    fn from_str(text: &str) -> Result<SecretRef, ParseSecretRefError> {
        let name = |name: &str| name.parse::<Name>().map_err(|_| ParseSecretRefError);
        let (named, version) = match text.split_once(':') {
            None => (text, None),
            Some((named, digits)) => {
                let is_plain = digits.bytes().all(|b| b.is_ascii_digit());
                let version = digits.parse().ok().filter(|n| is_plain && *n > 0);
                (named, Some(version.ok_or(ParseSecretRefError)?))
            }
        };
        let (environment, named) = match named.split_once('/') {
            None => (default_environment(), named),
            Some((environment, named)) => (name(environment)?, named),
        };
        Ok(SecretRef { environment, name: name(named)?, version })
    }
}

impl Serialize for SecretRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SecretRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for SecretRef {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SecretRef".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?/)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(:[1-9][0-9]{0,9})?$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn secrets_are_called_by_name_environment_and_version() {
        for (text, environment, name, version) in [
            ("db", "default", "db", None),
            ("db:3", "default", "db", Some(3)),
            ("prod/db", "prod", "db", None),
            ("prod/db:12", "prod", "db", Some(12)),
        ] {
            let read: SecretRef = text.parse().unwrap();
            assert_eq!(
                (read.environment.as_str(), read.name.as_str(), read.version),
                (environment, name, version)
            );
            assert_eq!(read.to_string(), text);
            let json = serde_json::to_string(&read).unwrap();
            assert_eq!(serde_json::from_str::<SecretRef>(&json).unwrap(), read);
        }
        assert_eq!("default/db".parse::<SecretRef>().unwrap().to_string(), "db");
        for bad in
            ["", ":", "db:", "db:0", "db:x", "db:+3", "DB", "a/b/c", "/db", "prod/", "db:1:2"]
        {
            assert!(bad.parse::<SecretRef>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ids_of_keys_are_eight_digits() {
        let id = KeyId::from_bytes([0, 0xab, 1, 2]);
        assert_eq!(id.to_string(), "00ab0102");
        assert_eq!("00ab0102".parse(), Ok(id));
        for bad in ["", "00ab010", "00ab01022", "+0ab0102", "00ab010g"] {
            assert!(bad.parse::<KeyId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_binding_names_one_version_of_one_secret() {
        let secret = |id, environment: &str, name: &str| Secret {
            id: SecretId::from_uuid(Uuid::from_u128(id)),
            project_id: ProjectId::from_uuid(Uuid::from_u128(7)),
            environment: environment.parse().unwrap(),
            name: name.parse().unwrap(),
            source: SecretSource::Kept,
            link: None,
            version_current: 1,
            version_last: 1,
            generation: Generation::FIRST,
            created_by: PrincipalId::from_uuid(Uuid::from_u128(8)),
            time_created: Timestamp::from_micros(1),
            time_modified: Timestamp::from_micros(1),
        };
        let bindings = [
            secret(1, "default", "db").binding(1),
            secret(1, "default", "db").binding(2),
            secret(2, "default", "db").binding(1),
            secret(1, "prod", "db").binding(1),
            secret(1, "default", "db1").binding(1),
        ];
        for (i, one) in bindings.iter().enumerate() {
            assert!(bindings[i + 1..].iter().all(|other| other != one));
        }
    }
}
