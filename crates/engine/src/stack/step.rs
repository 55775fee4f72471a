//! What a course says and what it is told.

use hostler_model::stack::{DeedKind, StackHook};
use hostler_model::{StackResourceId, Timestamp};

use super::Failure;

/// A deed, by its row and the number it has there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeedRef {
    pub row: StackResourceId,
    pub number: u32,
}

/// What can be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Everything that it requires is there: compare what it is with what it is to be, and answer
    /// [`examined`](super::Course::examined).
    Examine { row: StackResourceId },
    /// The deed is written into the row. When that is committed do it, and answer [`told`](super::Course::told). What has
    /// no effect outside may be done, and told, before that.
    Begin { deed: DeedRef, kind: DeedKind },
    /// Somebody began it, and it is our turn to go on with it, or to look at it.
    Carry { deed: DeedRef, kind: DeedKind },
    /// The resource stopped at a hook. There is nothing to answer.
    Pause { row: StackResourceId, hook: StackHook },
}

/// What somebody may have forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restriction {
    Update,
    Replace,
}

impl Restriction {
    pub const fn label(self) -> &'static str {
        match self {
            Restriction::Update => "update",
            Restriction::Replace => "replace",
        }
    }
}

/// What a row is compared with what is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is nothing yet.
    Create,
    /// It is as wanted.
    Unchanged,
    /// It can be changed into what is wanted.
    Update,
    /// Another object has to take its place.
    Replace,
    /// It would have to be changed, and that is forbidden.
    Refused(Restriction),
    /// It cannot even be said what it is to be, or there is no way from one to the other.
    Impossible(Failure),
}

/// What came of a deed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// Nobody has it in hand; look again at that time, or when a signal comes. What is idle takes no place among those
    /// that are worked on at once.
    Waiting {
        until: Option<Timestamp>,
        is_idle: bool,
    },
    Failed(Failure),
    /// The object is not there.
    Gone,
}
