//! State: small values that programs share, by namespace and key of a project.
//!
//! An *entry* has a value of any bytes, and numbers that say which change it is at: its *revision* is
//! that of the transaction that wrote it last, `create_revision` of the one that made it, and `version`
//! counts its changes from 1. Revisions come from one counter of the whole installation, so that they
//! order everything that happened.
//!
//! Whatever is done is a [`StateTxn`]: conditions, what to do when all of them hold, and what otherwise.
//! A single operation is one without conditions. A transaction happens as a whole or not at all, and has
//! one revision for all that it changes.
//!
//! An entry can have a time at which it is gone. From that moment nobody sees it, though its row may be
//! there for a little longer. Of an entry that is gone, a row without a value stays for as long as its
//! history is kept, so that the history can be found.
//!
//! What a transaction does to entries is decided in `engine::state`.

mod entry;
mod list;
mod transaction;

pub use entry::{
    ParseStateKeyError, STATE_KEY_MAX, STATE_VALUE_MAX, StateAddress, StateBatch, StateChange,
    StateChangeKind, StateHead, StateKey, StateRecord, StateSum, StateValue,
};
pub use list::{NotAList, StateList};
pub use transaction::{
    STATE_OPS_MAX, STATE_TTL_MAX, STATE_TXN_BYTES_MAX, StateAct, StateAnswer, StateCompare,
    StateCondition, StateEnd, StateMark, StateOp, StateRelation, StateResult, StateTtl, StateTxn,
};

use crate::Name;

/// The namespace that is meant when none is named.
pub const DEFAULT_NAMESPACE: &str = "default";

/// The same as a name.
pub fn default_namespace() -> Name {
    DEFAULT_NAMESPACE.parse().expect("`default` is a name")
}
