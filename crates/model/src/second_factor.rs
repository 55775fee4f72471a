//! The second factor of a person: a time-based code (RFC 6238) besides the password.
//!
//! The shared secret is sealed with the master key. It counts only once a code made with it was shown
//! (`time_confirmed`), so a mistake while enrolling locks nobody out. `step_last` is the newest time
//! step whose code was used; no code of that step or an older one is taken again.

use crate::{PrincipalId, Timestamp};

#[derive(Clone, PartialEq, Eq)]
pub struct SecondFactor {
    pub principal_id: PrincipalId,
    /// Sealed with the master key, for this principal.
    pub secret_sealed: Vec<u8>,
    pub step_last: u64,
    pub time_created: Timestamp,
    pub time_confirmed: Option<Timestamp>,
}

impl SecondFactor {
    /// Whether a login needs a code.
    pub fn is_on(&self) -> bool {
        self.time_confirmed.is_some()
    }
}

impl std::fmt::Debug for SecondFactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecondFactor")
            .field("principal_id", &self.principal_id)
            .field("is_on", &self.is_on())
            .finish_non_exhaustive()
    }
}

crate::labels! {
    /// How a person stands with the second factor.
    #[derive(Default)]
    pub enum SecondFactorState ("second factor state") {
        /// The password is enough.
        #[default]
        Off = "off",
        /// A login needs a code.
        On = "on",
        /// Its roles need one and there is none yet: nothing is allowed but to enrol.
        Required = "required",
    }
}
