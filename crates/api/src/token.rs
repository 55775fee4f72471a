//! API tokens: shown once, stored hashed, scoped, expiring.

use hostler_model::{Name, Network, PermissionSet, Role, Span, Timestamp, TokenId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, PageQuery};

crate::endpoints! { "tokens"
    /// List the caller's tokens; admins see everybody's.
    TokenList = "token_list" GET "/api/v1/tokens", Access::LoggedIn, TokenRead, 200, query: PageQuery, reply: Listing<TokenView>;
    /// Create a token for the caller, or (as admin) for a service account.
    TokenCreate = "token_create" POST "/api/v1/tokens", Access::LoggedIn, TokenCreate, 201,
        body: TokenCreateBody, reply: TokenCreatedView, errors: [NotFound, Conflict, KeyReused];
    /// Show a token.
    TokenGet = "token_get" GET "/api/v1/tokens/{token}", Access::LoggedIn, TokenRead, 200, path: TokenPath, reply: TokenView, errors: [NotFound];
    /// Revoke a token at once.
    TokenRevoke = "token_revoke" DELETE "/api/v1/tokens/{token}", Access::LoggedIn, TokenRevoke, 204, path: TokenPath, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenPath {
    /// Id of the token.
    pub token: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenCreateBody {
    pub name: Name,
    /// For whom; the caller when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The token can never do more than this role; may be left out where `can` says what it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The token works in this project only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The token works in these projects only.
    #[schemars(length(max = 100))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<String>>,
    /// The token is for these permissions only, such as `task.submit`, or `task.*` for all of tasks.
    #[schemars(length(max = 200))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can: Option<Vec<String>>,
    /// The token works from these addresses only, such as `10.0.0.0/8`.
    #[schemars(length(max = 100))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Vec<Network>>,
    /// How long it is valid; 90 days when absent, at most 10 years.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenView {
    pub id: TokenId,
    pub name: Name,
    pub user: String,
    pub role: Role,
    /// The one project it works in, where there is one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The projects it works in; absent for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<String>>,
    /// What it is for; absent where only its role narrows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can: Option<PermissionSet>,
    /// Where it may be used from; absent for anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Vec<Network>>,
    pub is_revoked: bool,
    pub time_created: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_expires: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_last_used: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenCreatedView {
    pub token: TokenView,
    /// Shown this once.
    pub secret: String,
}
