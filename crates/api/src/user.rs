//! Users and service accounts, and the roles they hold.

use hostler_model::{Name, PrincipalId, PrincipalKind, Role, RoleName, Subject, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "users"
    /// List users and service accounts.
    UserList = "user_list" GET "/api/v1/users", Access::Global(Role::Admin), UserRead, 200, query: PageQuery, reply: Listing<UserView>;
    /// Create a user or service account.
    UserCreate = "user_create" POST "/api/v1/users", Access::Global(Role::Admin), UserCreate, 201,
        body: UserCreateBody, reply: UserView, errors: [NotFound, AlreadyExists, KeyReused];
    /// Show a user.
    UserGet = "user_get" GET "/api/v1/users/{user}", Access::Global(Role::Admin), UserRead, 200,
        path: UserPath, reply: UserView, errors: [NotFound];
    /// Change a user: disable or enable, set a password, set the role on the whole installation.
    UserUpdate = "user_update" PATCH "/api/v1/users/{user}", Access::Global(Role::Admin), UserUpdate, 200,
        path: UserPath, body: UserUpdateBody, reply: UserView, errors: [NotFound, Conflict], if_match: Always;
    /// Remove a user with its tokens, sessions and roles.
    UserRemove = "user_remove" DELETE "/api/v1/users/{user}", Access::Global(Role::Admin), UserRemove, 204,
        path: UserPath, errors: [NotFound, Conflict], if_match: Always;
    /// List who holds a role in a project.
    MemberList = "member_list" GET "/api/v1/projects/{project}/members", Access::Project(Role::Viewer), MemberRead, 200,
        path: ProjectPath, query: PageQuery, reply: Listing<MemberView>, errors: [NotFound];
    /// Give a user or a group a role in a project, in place of the one held there before.
    MemberSet = "member_set" PUT "/api/v1/projects/{project}/members/{user}", Access::Project(Role::Admin), MemberSet, 200,
        path: MemberPath, body: MemberSetBody, reply: MemberView, errors: [NotFound];
    /// Take a user's or a group's role in a project away.
    MemberRemove = "member_remove" DELETE "/api/v1/projects/{project}/members/{user}", Access::Project(Role::Admin), MemberRemove, 204,
        path: MemberPath, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserPath {
    /// Name or id of the user.
    pub user: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserCreateBody {
    pub name: Name,
    /// `user` needs a password, `service` cannot have one.
    pub kind: PrincipalKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// Role on the whole installation, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct UserUpdateBody {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_disabled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password: Option<String>,
    /// New role on the whole installation; `none` takes it away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<GlobalRole>,
}

/// A role on the whole installation, or none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobalRole {
    None,
    Role(RoleName),
}

impl GlobalRole {
    const NONE: &'static str = "none";

    pub fn role(self) -> Option<RoleName> {
        match self {
            GlobalRole::None => None,
            GlobalRole::Role(role) => Some(role),
        }
    }
}

impl std::fmt::Display for GlobalRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GlobalRole::None => f.pad(GlobalRole::NONE),
            GlobalRole::Role(role) => role.fmt(f),
        }
    }
}

impl std::str::FromStr for GlobalRole {
    type Err = hostler_model::ParseNameError;
    fn from_str(text: &str) -> Result<GlobalRole, Self::Err> {
        match text {
            GlobalRole::NONE => Ok(GlobalRole::None),
            other => other.parse().map(GlobalRole::Role),
        }
    }
}

impl Serialize for GlobalRole {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for GlobalRole {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for GlobalRole {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "GlobalRole".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RoleName::json_schema(generator)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserView {
    pub id: PrincipalId,
    pub name: Name,
    pub kind: PrincipalKind,
    /// Role on the whole installation that is bound to the user itself; groups may give more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleName>,
    pub is_disabled: bool,
    pub generation: u64,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberPath {
    pub project: String,
    /// Name or id of the user, or `group:` and the name of a group.
    pub user: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberSetBody {
    /// A built-in role, or the name of a custom one.
    pub role: RoleName,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberView {
    /// Name of the user, or `group:` and the name of the group.
    pub user: Subject,
    /// Id of the user or of the group.
    pub id: String,
    pub role: RoleName,
}
