//! Groups: named sets of users and service accounts that roles can be bound to.

use hostler_model::{GroupId, Name, Role, RoleName, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::user::GlobalRole;
use crate::{Access, Listing, PageQuery};

crate::endpoints! { "groups"
    /// List groups.
    GroupList = "group_list" GET "/api/v1/groups", Access::Global(Role::Admin), GroupRead, 200, query: PageQuery, reply: Listing<GroupView>;
    /// Create a group.
    GroupCreate = "group_create" POST "/api/v1/groups", Access::Global(Role::Admin), GroupCreate, 201,
        body: GroupCreateBody, reply: GroupView, errors: [AlreadyExists, NotFound, KeyReused];
    /// Show a group with its members and the roles bound to it.
    GroupGet = "group_get" GET "/api/v1/groups/{group}", Access::Global(Role::Admin), GroupRead, 200,
        path: GroupPath, reply: GroupView, errors: [NotFound];
    /// Change a group: its description, its role on the whole installation.
    GroupUpdate = "group_update" PATCH "/api/v1/groups/{group}", Access::Global(Role::Admin), GroupUpdate, 200,
        path: GroupPath, body: GroupUpdateBody, reply: GroupView, errors: [NotFound], if_match: Always;
    /// Put a user into a group; it counts from their next request.
    GroupMemberAdd = "group_member_add" PUT "/api/v1/groups/{group}/members/{user}", Access::Global(Role::Admin), GroupUpdate, 200,
        path: GroupMemberPath, reply: GroupView, errors: [NotFound];
    /// Take a user out of a group; it counts from their next request.
    GroupMemberRemove = "group_member_remove" DELETE "/api/v1/groups/{group}/members/{user}", Access::Global(Role::Admin), GroupUpdate, 200,
        path: GroupMemberPath, reply: GroupView, errors: [NotFound];
    /// Remove a group with the roles bound to it.
    GroupRemove = "group_remove" DELETE "/api/v1/groups/{group}", Access::Global(Role::Admin), GroupRemove, 204,
        path: GroupPath, errors: [NotFound], if_match: Always;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupPath {
    /// Name or id of the group.
    pub group: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupMemberPath {
    /// Name or id of the group.
    pub group: String,
    /// Name or id of the user.
    pub user: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupCreateBody {
    pub name: Name,
    #[schemars(length(max = 1000))]
    #[serde(default)]
    pub description: String,
    /// Names or ids of those who are in it from the start.
    #[schemars(length(max = 1000))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
}

/// What is absent stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroupUpdateBody {
    #[schemars(length(max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// New role on the whole installation; `none` takes it away.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<GlobalRole>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupView {
    pub id: GroupId,
    pub name: Name,
    pub description: String,
    /// Names of those who are in it.
    pub members: Vec<Name>,
    /// Roles bound to it.
    pub roles: Vec<GroupRoleView>,
    pub generation: u64,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GroupRoleView {
    pub role: RoleName,
    /// Name of the project; absent for the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Name>,
}
