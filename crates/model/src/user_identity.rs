//! Who somebody is at the identity provider.

use crate::{PrincipalId, Timestamp};

/// An identity at a provider that logs in as a user. What names it is the issuer together with the subject;
/// an e-mail address may be given to somebody else, and is kept for people to read only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserIdentity {
    pub issuer: String,
    pub subject: String,
    pub principal_id: PrincipalId,
    /// As the provider last said, if it has checked it.
    pub email: String,
    pub time_created: Timestamp,
    pub time_last_used: Option<Timestamp>,
}
