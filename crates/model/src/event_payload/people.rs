//! People, what they may, and how they come in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::forms;
use crate::{
    ApprovalId, ApprovalRule, ApprovalState, Digest, Invitation, Name, Permission, PermissionSet,
    Project, Quota, Timestamp,
};

/// A request for an approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalPayload {
    /// Of the request.
    pub id: ApprovalId,
    /// What somebody wants to do.
    pub verb: Permission,
    /// Of exactly what will be done.
    pub digest: Digest,
    /// How it stands.
    pub state: ApprovalState,
    /// Until when it can be decided on, and used.
    pub time_expires: Timestamp,
}

forms! {
    /// A policy of approvals.
    ApprovalPolicyPayload {
        /// What needs an approval.
        verbs: Vec<Permission>,
        /// How many people have to agree.
        approvals: u32,
    }

    /// A group.
    GroupPayload {
        /// Who is in it from the beginning.
        members: Vec<Name>,
        /// Who came in.
        joined: Vec<Name>,
        /// Who went.
        left: Vec<Name>,
        /// Where a user came in, as the identity provider says.
        joined_groups: Vec<Name>,
        /// Where a user went, as the identity provider says.
        left_groups: Vec<Name>,
        /// Which role it has on the whole installation from now on; empty for none.
        role: String,
    }

    /// An invitation.
    InvitationPayload {
        /// Which role it gives.
        role: String,
        /// Who made an account with it.
        user: Name,
        /// Until when it can be used.
        time_expires: Timestamp,
        /// Why it was refused.
        reason: String,
    }

    /// A join token that was refused.
    JoinPayload {
        /// What the node called itself.
        node: Name,
        /// Why it was refused.
        reason: String,
    }

    /// Logins that failed.
    LoginPayload {
        /// What is counted: `name`, `source` or `pair`.
        counted: String,
        /// How many failed.
        failures: u64,
        /// The address that the last one came from.
        source: String,
        /// After how many seconds the next is looked at.
        wait_seconds: u64,
    }

    /// A project.
    ProjectPayload {
        /// Its part of the fleet when others want it too.
        weight: u32,
        /// How much it may hold at once.
        quota: Quota,
    }

    /// A custom role.
    RolePayload {
        /// What it allows.
        permissions: PermissionSet,
        /// What it did not allow before.
        added: PermissionSet,
        /// What it does not allow any more.
        removed: PermissionSet,
    }

    /// A token or a session that is no secret any more.
    TokenPayload {
        /// What it is: `token`, `web-session` or `run`.
        credential: String,
        /// The address that the request came from.
        source: String,
    }

    /// A user.
    UserPayload {
        /// Who did it, where it was somebody else.
        by: Name,
        /// The provider of an identity.
        issuer: String,
        /// What the provider knows the user by.
        subject: String,
        /// Recovery codes that are left.
        codes_left: u64,
        /// Until when a link can be used.
        time_expires: Timestamp,
        /// How many sessions ended.
        sessions_ended: u64,
    }
}

impl From<&ApprovalRule> for ApprovalPolicyPayload {
    fn from(rule: &ApprovalRule) -> ApprovalPolicyPayload {
        ApprovalPolicyPayload { verbs: Some(rule.verbs.clone()), approvals: Some(rule.approvals) }
    }
}

impl From<&Invitation> for InvitationPayload {
    fn from(invitation: &Invitation) -> InvitationPayload {
        InvitationPayload {
            role: Some(invitation.role.to_string()),
            time_expires: Some(invitation.time_expires),
            ..InvitationPayload::default()
        }
    }
}

impl From<&Project> for ProjectPayload {
    fn from(project: &Project) -> ProjectPayload {
        ProjectPayload { weight: Some(project.weight), quota: Some(project.quota.clone()) }
    }
}
