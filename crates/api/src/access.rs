//! Asking the authoriser: may somebody do something, and why.

use hostler_model::{Name, Permission, Role, RoleName};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Access;

crate::endpoints! { "access"
    /// Ask whether the caller, or (as admin) somebody else, may do something.
    AccessCheck = "access_check" GET "/api/v1/access/check", Access::LoggedIn, Own, 200,
        query: AccessQuery, reply: AccessCheckView, errors: [NotFound];
    /// Ask the same, and which role, group and limit decide.
    AccessExplain = "access_explain" GET "/api/v1/access/explain", Access::LoggedIn, Own, 200,
        query: AccessQuery, reply: AccessExplanation, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AccessQuery {
    /// Such as `task.submit`.
    pub permission: Permission,
    /// Name or id of the project; absent for the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Name or id of a user, or `token:` and the id of a token; the caller when absent.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessCheckView {
    pub is_allowed: bool,
    /// One sentence.
    pub reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccessExplanation {
    pub is_allowed: bool,
    /// One sentence.
    pub reason: String,
    pub who: Name,
    pub permission: Permission,
    /// What the permission allows.
    pub meaning: String,
    /// Name of the project; absent for the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Name>,
    /// What gives the permission to them.
    pub grants: Vec<AccessGrantView>,
    /// The limit of a token that stands in the way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The first built-in role that has the permission; absent where everybody has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed_role: Option<Role>,
    /// What would have to be done for it to be allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AccessGrantView {
    pub role: RoleName,
    /// The group that the role is bound to; absent where it is bound to the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<Name>,
    /// Name of the project that the role is bound in; absent for the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Name>,
}
