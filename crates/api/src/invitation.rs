//! How people come to have an account, and how they get a new password. Secrets stand in bodies and in
//! the fragment of links, never in a path or a query.

use hostler_model::{InvitationId, InvitationState, Name, Role, Span, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::{LoginKind, LoginView};
use crate::user::UserPath;
use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "invitations"
    /// List all invitations, newest first.
    InvitationList = "invitation_list" GET "/api/v1/invitations", Access::Global(Role::Admin), UserInvite, 200,
        query: PageQuery, reply: Listing<InvitationView>;
    /// Invite somebody to a role on the whole installation.
    InvitationCreate = "invitation_create" POST "/api/v1/invitations", Access::Global(Role::Admin), UserInvite, 201,
        body: InvitationCreateBody, reply: InvitationCreatedView, errors: [AlreadyExists, Conflict, KeyReused];
    /// Revoke an invitation that was not used.
    InvitationRevoke = "invitation_revoke" DELETE "/api/v1/invitations/{invitation}", Access::Global(Role::Admin), UserInvite, 204,
        path: InvitationPath, errors: [NotFound];
    /// List the invitations to a project, newest first.
    ProjectInvitationList = "project_invitation_list" GET "/api/v1/projects/{project}/invitations", Access::Project(Role::Admin), InvitationRead, 200,
        path: ProjectPath, query: PageQuery, reply: Listing<InvitationView>, errors: [NotFound];
    /// Invite somebody to a role in a project.
    ProjectInvitationCreate = "project_invitation_create" POST "/api/v1/projects/{project}/invitations", Access::Project(Role::Admin), InvitationCreate, 201,
        path: ProjectPath, body: InvitationCreateBody, reply: InvitationCreatedView, errors: [NotFound, AlreadyExists, Conflict, KeyReused];
    /// Revoke an invitation to a project that was not used.
    ProjectInvitationRevoke = "project_invitation_revoke" DELETE "/api/v1/projects/{project}/invitations/{invitation}", Access::Project(Role::Admin), InvitationRevoke, 204,
        path: ProjectInvitationPath, errors: [NotFound];
    /// Show what an invitation is for, to whoever holds it.
    InvitationShow = "invitation_show" POST "/api/v1/accept/show", Access::Public, Nobody, 200,
        body: InvitationShowBody, reply: InvitationOfferView, errors: [Unauthenticated, RateLimited];
    /// Make an account with an invitation, and log in.
    InvitationAccept = "invitation_accept" POST "/api/v1/accept", Access::Public, Nobody, 201,
        body: InvitationAcceptBody, reply: LoginView, errors: [Unauthenticated, AlreadyExists, RateLimited];
    /// Make a link with which a user can set a new password, in place of any earlier one.
    PasswordResetIssue = "password_reset_issue" POST "/api/v1/users/{user}/password-reset", Access::Global(Role::Admin), UserUpdate, 201,
        path: UserPath, body: PasswordResetIssueBody, reply: PasswordResetView, errors: [NotFound, Conflict, KeyReused];
    /// Set a new password with such a link; every session of the user ends.
    PasswordResetUse = "password_reset_use" POST "/api/v1/password-reset", Access::Public, Nobody, 200,
        body: PasswordResetUseBody, reply: PasswordResetUsedView, errors: [Unauthenticated, RateLimited];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationPath {
    /// Id of the invitation.
    pub invitation: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectInvitationPath {
    /// Name or id of the project.
    pub project: String,
    /// Id of the invitation.
    pub invitation: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationCreateBody {
    /// At most the role that the caller holds there.
    pub role: Role,
    /// The only name that can be taken with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// Whom it is meant for, as a note; nothing is sent there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 254))]
    pub email: String,
    /// How long it is valid; three days when absent, at most 30 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationView {
    pub id: InvitationId,
    pub role: Role,
    /// Absent: on the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub email: String,
    pub state: InvitationState,
    pub created_by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_by: Option<String>,
    pub time_created: Timestamp,
    pub time_expires: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationCreatedView {
    pub invitation: InvitationView,
    /// Shown this once: to be opened in a browser, or given to `hostler login --invitation`.
    pub link: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationShowBody {
    /// The secret of the link.
    pub invitation: String,
}

/// What somebody is invited to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationOfferView {
    pub role: Role,
    /// Absent: on the whole installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Name>,
    /// The name that it is bound to; otherwise choose one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    pub created_by: String,
    pub time_expires: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationAcceptBody {
    /// The secret of the link.
    pub invitation: String,
    /// The name to have; may be absent where the invitation is bound to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    pub password: String,
    pub kind: LoginKind,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PasswordResetIssueBody {
    /// How long the link is valid; one hour when absent, at most 7 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Span>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasswordResetView {
    pub user: Name,
    /// Shown this once: to be opened in a browser, or given to `hostler login --reset`.
    pub link: String,
    pub time_expires: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PasswordResetUseBody {
    /// The secret of the link.
    pub reset: String,
    pub password: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PasswordResetUsedView {
    /// Whose password it is.
    pub user: Name,
}
