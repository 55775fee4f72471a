//! Roles: the four built-in ones, and custom ones that admins make.

use hostler_model::{Name, PermissionSet, Role, RoleId, RoleName, Subject, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery};

crate::endpoints! { "roles"
    /// List roles: the built-in ones first, then the custom ones by name.
    RoleList = "role_list" GET "/api/v1/roles", Access::LoggedIn, RoleRead, 200, query: PageQuery, reply: Listing<RoleView>;
    /// Create a custom role, which allows no more than the caller may do on the whole installation.
    RoleCreate = "role_create" POST "/api/v1/roles", Access::Global(Role::Admin), RoleCreate, 201,
        body: RoleCreateBody, reply: RoleView, errors: [AlreadyExists, KeyReused, Conflict];
    /// Show a role.
    RoleGet = "role_get" GET "/api/v1/roles/{role}", Access::LoggedIn, RoleRead, 200,
        path: RolePath, reply: RoleView, errors: [NotFound];
    /// Show who holds a custom role, and where.
    RoleHolders = "role_holders" GET "/api/v1/roles/{role}/holders", Access::Global(Role::Admin), UserRead, 200,
        path: RolePath, reply: Listing<RoleHolderView>, errors: [NotFound];
    /// Change a custom role: what it allows, its description. It counts from the next request of everybody who holds it.
    RoleUpdate = "role_update" PATCH "/api/v1/roles/{role}", Access::Global(Role::Admin), RoleUpdate, 200,
        path: RolePath, body: RoleUpdateBody, reply: RoleView, errors: [NotFound, Conflict], if_match: Always;
    /// Remove a custom role that nobody holds.
    RoleRemove = "role_remove" DELETE "/api/v1/roles/{role}", Access::Global(Role::Admin), RoleRemove, 204,
        path: RolePath, errors: [NotFound, Conflict], if_match: Always;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RolePath {
    /// Name of the role.
    pub role: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoleCreateBody {
    pub name: Name,
    #[schemars(length(max = 1000))]
    #[serde(default)]
    pub description: String,
    /// Such as `task.submit`, or `task.*` for all of tasks.
    #[schemars(length(min = 1, max = 200))]
    pub permissions: Vec<String>,
}

/// What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoleUpdateBody {
    #[schemars(length(max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Everything that it allows from now on.
    #[schemars(length(min = 1, max = 200))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleView {
    /// Absent for built-in roles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<RoleId>,
    pub name: RoleName,
    pub description: String,
    pub is_built_in: bool,
    pub permissions: PermissionSet,
    pub generation: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_created: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_modified: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleHolderView {
    /// Name of the user, or `group:` and the name of the group.
    pub holder: Subject,
    /// Name of the project; absent for the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Name>,
}
