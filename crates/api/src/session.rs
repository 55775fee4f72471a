//! Getting in and out: first setup, login, sessions of browsers, who am I.

use hostler_model::{Name, PrincipalId, PrincipalKind, ProjectId, Role, Timestamp, WebSessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing};

crate::endpoints! { "sessions"
    /// Create the first admin with the one-time code that the first start printed.
    Setup = "setup" POST "/api/v1/setup", Access::Public, 201,
        body: SetupBody, reply: LoginView, errors: [Unauthenticated, Conflict, AlreadyExists, RateLimited];
    /// Log in with name and password.
    Login = "login" POST "/api/v1/login", Access::Public, 200,
        body: LoginBody, reply: LoginView, errors: [Unauthenticated, RateLimited];
    /// End the session or revoke the token that makes this call.
    Logout = "logout" POST "/api/v1/logout", Access::LoggedIn, 204;
    /// Show the caller and its roles.
    Whoami = "whoami" GET "/api/v1/whoami", Access::LoggedIn, 200, reply: WhoamiView;
    /// Change the caller's own password; every other session of the caller ends.
    PasswordChange = "password_change" POST "/api/v1/whoami/password", Access::LoggedIn, 204,
        body: PasswordChangeBody, errors: [Conflict, RateLimited];
    /// List the caller's browser sessions.
    WebSessionList = "web_session_list" GET "/api/v1/sessions", Access::LoggedIn, 200, reply: Listing<WebSessionView>;
    /// End one of the caller's browser sessions.
    WebSessionEnd = "web_session_end" DELETE "/api/v1/sessions/{session}", Access::LoggedIn, 204,
        path: WebSessionPath, errors: [NotFound];
}

hostler_model::labels! {
    /// What a login gives.
    pub enum LoginKind ("login kind") {
        /// A session cookie, for browsers.
        Cookie = "cookie",
        /// An API token, for programs.
        Token = "token",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetupBody {
    pub code: String,
    /// Name of the first admin.
    pub name: Name,
    pub password: String,
    pub kind: LoginKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginBody {
    pub name: String,
    pub password: String,
    pub kind: LoginKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoginView {
    pub name: Name,
    /// Shown once; for `kind: token`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// To be sent in `x-hostler-csrf` with every change; for `kind: cookie`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf_token: Option<String>,
    pub time_expires: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordChangeBody {
    pub current: String,
    pub new: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WhoamiView {
    pub id: PrincipalId,
    pub name: Name,
    pub kind: PrincipalKind,
    /// Role on the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    pub projects: Vec<ProjectRole>,
    /// Given to browsers again, so that a reloaded page can make changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf_token: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRole {
    pub project: ProjectId,
    pub role: Role,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebSessionPath {
    pub session: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebSessionView {
    pub id: WebSessionId,
    pub user_agent: String,
    pub is_current: bool,
    pub time_created: Timestamp,
    pub time_last_used: Timestamp,
    pub time_expires: Timestamp,
}
