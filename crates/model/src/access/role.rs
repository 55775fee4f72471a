//! Roles: the four built-in ones, custom ones, what they are called, and groups.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::PermissionSet;
use crate::{Generation, GroupId, Name, ParseNameError, RoleId, Timestamp};

crate::labels! {
    /// Roles, each including those before it. Bound per project, or on the whole installation.
    pub enum Role ("role") {
        /// Sees everything in the scope.
        Viewer = "viewer",
        /// Runs things in the scope.
        User = "user",
        /// Tends nodes and everybody's workloads in the scope.
        Operator = "operator",
        /// Gives roles and changes the scope itself.
        Admin = "admin",
    }
}

impl Role {
    pub const fn permissions(self) -> PermissionSet {
        PermissionSet::of_role(self)
    }
}

/// A role by what it is called. No custom role has the name of a built-in one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleName {
    BuiltIn(Role),
    Custom(Name),
}

impl RoleName {
    pub fn as_str(&self) -> &str {
        match self {
            RoleName::BuiltIn(role) => role.label(),
            RoleName::Custom(name) => name.as_str(),
        }
    }
}

impl From<Role> for RoleName {
    fn from(role: Role) -> RoleName {
        RoleName::BuiltIn(role)
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for RoleName {
    type Err = ParseNameError;
    fn from_str(text: &str) -> Result<RoleName, ParseNameError> {
        match text.parse::<Role>() {
            Ok(role) => Ok(RoleName::BuiltIn(role)),
            Err(_) => text.parse().map(RoleName::Custom),
        }
    }
}

/// A role that somebody made: a named set of permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomRole {
    pub id: RoleId,
    pub name: Name,
    pub description: String,
    pub permissions: PermissionSet,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// A named set of principals, which roles can be bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub id: GroupId,
    pub name: Name,
    pub description: String,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// Whom a role is bound to: a user or service account by its name, or `group:NAME`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    User(Name),
    Group(Name),
}

impl Subject {
    pub const GROUP: &'static str = "group:";
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::User(name) => f.pad(name.as_str()),
            Subject::Group(name) => f.pad(&format!("{}{name}", Subject::GROUP)),
        }
    }
}

impl FromStr for Subject {
    type Err = ParseNameError;
    fn from_str(text: &str) -> Result<Subject, ParseNameError> {
        match text.strip_prefix(Subject::GROUP) {
            Some(name) => name.parse().map(Subject::Group),
            None => text.parse().map(Subject::User),
        }
    }
}

/// Serde and JSON schema of what is written as one word.
macro_rules! as_text {
    ($type:ident, $pattern:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                std::borrow::Cow::<'de, str>::deserialize(deserializer)?
                    .parse()
                    .map_err(de::Error::custom)
            }
        }
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn inline_schema() -> bool {
                true
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    };
}

as_text!(RoleName, "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$");
as_text!(Subject, "^(group:)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_roles_and_subjects_are_read_back() {
        for text in ["viewer", "admin", "deployer"] {
            let name: RoleName = text.parse().unwrap();
            assert_eq!(name.to_string(), text);
            assert_eq!(matches!(name, RoleName::BuiltIn(_)), text != "deployer");
        }
        for text in ["ada", "group:ops"] {
            let subject: Subject = serde_json::from_value(text.into()).unwrap();
            assert_eq!(serde_json::to_value(&subject).unwrap(), text);
        }
        assert!("Not A Role".parse::<RoleName>().is_err());
        assert!("group:".parse::<Subject>().is_err());
        assert!("team:ops".parse::<Subject>().is_err());
    }
}
