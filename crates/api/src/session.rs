//! Getting in and out: first setup, login, sessions of browsers, who am I.

use hostler_model::{
    Name, PermissionSet, PrincipalId, PrincipalKind, ProjectId, Role, SecondFactorState, Timestamp,
    WebSessionId,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::user::UserPath;
use crate::{Access, Listing};

crate::endpoints! { "sessions"
    /// Create the first admin with the one-time code that the first start printed.
    Setup = "setup" POST "/api/v1/setup", Access::Public, Nobody, 201,
        body: SetupBody, reply: LoginView, errors: [Unauthenticated, Conflict, AlreadyExists, RateLimited];
    /// Log in with name and password, and a code where there is a second factor.
    Login = "login" POST "/api/v1/login", Access::Public, Nobody, 200,
        body: LoginBody, reply: LoginView, errors: [Unauthenticated, SecondFactorRequired, RateLimited];
    /// End the session or revoke the token that makes this call.
    Logout = "logout" POST "/api/v1/logout", Access::LoggedIn, Own, 204;
    /// Show the caller and its roles.
    Whoami = "whoami" GET "/api/v1/whoami", Access::LoggedIn, Own, 200, reply: WhoamiView;
    /// Change the caller's own password; every other session of the caller ends, and a browser's own goes on under a new cookie.
    PasswordChange = "password_change" POST "/api/v1/whoami/password", Access::LoggedIn, PasswordChange, 204,
        body: PasswordChangeBody, errors: [Conflict, RateLimited];
    /// List the caller's browser sessions.
    WebSessionList = "web_session_list" GET "/api/v1/sessions", Access::LoggedIn, SessionRead, 200, reply: Listing<WebSessionView>;
    /// End one of the caller's browser sessions.
    WebSessionEnd = "web_session_end" DELETE "/api/v1/sessions/{session}", Access::LoggedIn, SessionEnd, 204,
        path: WebSessionPath, errors: [NotFound];
    /// End every session of the caller but the one that makes this call.
    WebSessionEndOthers = "web_session_end_others" DELETE "/api/v1/sessions", Access::LoggedIn, SessionEnd, 200, reply: SessionsEndedView;
    /// List a user's browser sessions.
    UserSessionList = "user_session_list" GET "/api/v1/users/{user}/sessions", Access::Global(Role::Admin), UserRead, 200,
        path: UserPath, reply: Listing<WebSessionView>, errors: [NotFound];
    /// End one of a user's browser sessions.
    UserSessionEnd = "user_session_end" DELETE "/api/v1/users/{user}/sessions/{session}", Access::Global(Role::Admin), UserUpdate, 204,
        path: UserSessionPath, errors: [NotFound];
    /// End every session of a user: browsers, and command lines that logged in.
    UserSessionEndAll = "user_session_end_all" DELETE "/api/v1/users/{user}/sessions", Access::Global(Role::Admin), UserUpdate, 200,
        path: UserPath, reply: SessionsEndedView, errors: [NotFound];
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
    /// Of the second factor, where there is one: six digits, or a recovery code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
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
    /// The greatest built-in role that allows no more than the caller may do on the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// What the caller may do on the whole installation, and so in every project.
    #[serde(default)]
    pub permissions: PermissionSet,
    pub projects: Vec<ProjectRole>,
    /// `required` means that nothing is allowed before there is one.
    #[serde(default)]
    pub second_factor: SecondFactorState,
    /// Given to browsers again, so that a reloaded page can make changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf_token: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProjectRole {
    pub project: ProjectId,
    /// The project's name; absent where it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// The greatest built-in role that allows no more than the caller may do in the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// What the caller may do in the project.
    #[serde(default)]
    pub permissions: PermissionSet,
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

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserSessionPath {
    /// Name or id of the user.
    pub user: String,
    pub session: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionsEndedView {
    pub browsers: u64,
    /// Tokens that `hostler login` had made.
    pub command_lines: u64,
}
