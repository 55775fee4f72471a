//! Users and service accounts, and the roles they hold.

use hostler_model::{Name, PrincipalId, PrincipalKind, Role, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "users"
    /// List users and service accounts.
    UserList = "user_list" GET "/api/v1/users", Access::Global(Role::Admin), 200, query: PageQuery, reply: Listing<UserView>;
    /// Create a user or service account.
    UserCreate = "user_create" POST "/api/v1/users", Access::Global(Role::Admin), 201,
        body: UserCreateBody, reply: UserView, errors: [AlreadyExists, KeyReused];
    /// Show a user.
    UserGet = "user_get" GET "/api/v1/users/{user}", Access::Global(Role::Admin), 200,
        path: UserPath, reply: UserView, errors: [NotFound];
    /// Change a user: disable or enable, set a password, set the role on the whole installation.
    UserUpdate = "user_update" PATCH "/api/v1/users/{user}", Access::Global(Role::Admin), 200,
        path: UserPath, body: UserUpdateBody, reply: UserView, errors: [NotFound, Conflict], if_match: Always;
    /// Remove a user with its tokens, sessions and roles.
    UserRemove = "user_remove" DELETE "/api/v1/users/{user}", Access::Global(Role::Admin), 204,
        path: UserPath, errors: [NotFound, Conflict], if_match: Always;
    /// List who holds a role in a project.
    MemberList = "member_list" GET "/api/v1/projects/{project}/members", Access::Project(Role::Viewer), 200,
        path: ProjectPath, query: PageQuery, reply: Listing<MemberView>, errors: [NotFound];
    /// Give a user a role in a project.
    MemberSet = "member_set" PUT "/api/v1/projects/{project}/members/{user}", Access::Project(Role::Admin), 200,
        path: MemberPath, body: MemberSetBody, reply: MemberView, errors: [NotFound];
    /// Take a user's role in a project away.
    MemberRemove = "member_remove" DELETE "/api/v1/projects/{project}/members/{user}", Access::Project(Role::Admin), 204,
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
    pub role: Option<Role>,
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

hostler_model::labels! {
    pub enum GlobalRole ("role") {
        None = "none",
        Viewer = "viewer",
        User = "user",
        Operator = "operator",
        Admin = "admin",
    }
}

impl GlobalRole {
    pub const fn role(self) -> Option<Role> {
        match self {
            GlobalRole::None => None,
            GlobalRole::Viewer => Some(Role::Viewer),
            GlobalRole::User => Some(Role::User),
            GlobalRole::Operator => Some(Role::Operator),
            GlobalRole::Admin => Some(Role::Admin),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserView {
    pub id: PrincipalId,
    pub name: Name,
    pub kind: PrincipalKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    pub is_disabled: bool,
    pub generation: u64,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberPath {
    pub project: String,
    /// Name or id of the user.
    pub user: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberSetBody {
    pub role: Role,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemberView {
    pub user: Name,
    pub id: PrincipalId,
    pub role: Role,
}
