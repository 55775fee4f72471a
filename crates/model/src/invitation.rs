//! Ways in that are handed to people: an invitation makes an account, a reset sets a new password.
//!
//! Both are links with a secret that works once and expires. Only the hash of the secret is kept, so
//! a copy of the database invites nobody.

use crate::{InvitationId, Name, PrincipalId, Role, Scope, Timestamp};

/// A right to make one account, with one role in one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    pub id: InvitationId,
    pub secret_hash: Vec<u8>,
    /// Where the new account has its role...
    pub scope: Scope,
    /// ...and which.
    pub role: Role,
    /// The only name that can be taken with it, when bound.
    pub user_name: Option<Name>,
    /// Whom it is meant for, in the words of who made it. Nothing is sent there.
    pub email: String,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
    pub time_expires: Timestamp,
    pub time_used: Option<Timestamp>,
    pub used_by: Option<PrincipalId>,
    pub time_revoked: Option<Timestamp>,
}

crate::labels! {
    pub enum InvitationState ("invitation state") {
        Unused = "unused",
        Used = "used",
        Expired = "expired",
        Revoked = "revoked",
    }
}

impl Invitation {
    pub fn state(&self, now: Timestamp) -> InvitationState {
        match (self.time_used, self.time_revoked) {
            (Some(_), _) => InvitationState::Used,
            (None, Some(_)) => InvitationState::Revoked,
            (None, None) if now >= self.time_expires => InvitationState::Expired,
            (None, None) => InvitationState::Unused,
        }
    }
}

/// A right to set the password of one account. There is at most one of an account at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PasswordReset {
    pub principal_id: PrincipalId,
    pub secret_hash: Vec<u8>,
    pub created_by: PrincipalId,
    pub time_created: Timestamp,
    pub time_expires: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn an_invitation_has_one_state_at_a_time() {
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        let unused = Invitation {
            id: InvitationId::from_uuid(Uuid::from_u128(1)),
            secret_hash: vec![1],
            scope: Scope::Global,
            role: Role::User,
            user_name: None,
            email: String::new(),
            created_by: PrincipalId::from_uuid(Uuid::from_u128(2)),
            time_created: at(0),
            time_expires: at(10),
            time_used: None,
            used_by: None,
            time_revoked: None,
        };
        assert_eq!(unused.state(at(9)), InvitationState::Unused);
        assert_eq!(unused.state(at(10)), InvitationState::Expired);
        let revoked = Invitation { time_revoked: Some(at(3)), ..unused.clone() };
        assert_eq!(revoked.state(at(20)), InvitationState::Revoked);
        let used = Invitation { time_used: Some(at(2)), ..revoked };
        assert_eq!(used.state(at(20)), InvitationState::Used);
    }
}
