//! What is remembered of logins that failed, so that guessing gets slower: for how long whom to make
//! wait is decided in `engine::throttle`.
//!
//! A subject is never kept in clear: what people type as a name is sometimes their password.

use crate::Timestamp;

crate::labels! {
    /// What failures are counted of.
    pub enum TallyKind ("login tally") {
        /// A name, from addresses that it never logged in from.
        Name = "name",
        /// An address, whatever names were tried.
        Source = "source",
        /// A name from an address that it is known from.
        Pair = "pair",
        /// Not failures: a name that logged in from an address.
        Known = "known",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginTally {
    pub kind: TallyKind,
    /// A hash of what is counted.
    pub subject: Vec<u8>,
    pub failures: u64,
    /// Of the newest attempt that counted.
    pub time_last: Timestamp,
    /// Whether the wait was made known with an event.
    pub is_told: bool,
}

crate::labels! {
    /// How a login ended.
    pub enum LoginOutcome ("login outcome") {
        Ok = "ok",
        /// Name, password or code is wrong.
        Wrong = "wrong",
        /// The password is right, and a code is needed.
        CodeNeeded = "code-needed",
        /// Refused unseen: too many failed before.
        Waiting = "waiting",
        /// Refused unseen: too many at once.
        Busy = "busy",
    }
}
