//! Resync: what becomes of a node's placements when the database was put back to an earlier moment, and the
//! node has lived on.
//!
//! Wishes are numbered, and an agent says up to which number it has accepted them. A restore leaps over all
//! numbers that may have been given since, so a placement's number still tells whether the agent has ever
//! heard of it: then it is either held, or it has ended and was forgotten, and must not be begun again under
//! the same run id. A database that was put back by other means is noticed when an agent has accepted more
//! than there is; numbers prove nothing then, and what was not seen to begin is told again.
//!
//! Services have no run of the control plane's: what should run is told again, whatever the node holds.

use std::collections::BTreeSet;

use hostler_model::{Generation, PlacementId, RunId};

/// How the database came to know less than a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// By a restore of ours.
    Restored,
    /// The agent has accepted more than there is.
    Ahead,
}

/// A placement that is not released, as the rows say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub placement: PlacementId,
    /// Absent for a service.
    pub run: Option<RunId>,
    /// Of the newest wish for it.
    pub number: Generation,
    /// The run was seen to begin.
    pub is_begun: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The node has not heard of it, and will with everything else that is newer.
    Leave,
    /// The wish gets a new number, so that it reaches the node whatever it heard before.
    TellAgain,
    /// It was on the node and is not any more: how it ended nobody knows.
    Gone,
}

pub fn verdict(
    cause: Cause,
    applied: Generation,
    placed: &Placed,
    held: &BTreeSet<RunId>,
) -> Verdict {
    match (placed.run, cause) {
        (_, Cause::Restored) if placed.number > applied => Verdict::Leave,
        (None, _) => Verdict::TellAgain,
        (Some(run), _) if held.contains(&run) => Verdict::TellAgain,
        (Some(_), Cause::Ahead) if !placed.is_begun => Verdict::TellAgain,
        (Some(_), _) => Verdict::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn what_was_forgotten_is_not_begun_again() {
        use Cause::{Ahead, Restored};
        use Verdict::{Gone, Leave, TellAgain};
        let run = |n: u128| RunId::from_uuid(Uuid::from_u128(n));
        let held = BTreeSet::from([run(1)]);
        let applied = Generation::from_u64(10);
        // cause, run, number, begun: verdict
        let table = [
            (Restored, Some(1), 5, true, TellAgain),
            (Restored, Some(1), 5, false, TellAgain),
            (Restored, Some(2), 5, true, Gone),
            (Restored, Some(2), 5, false, Gone),
            (Restored, Some(2), 10, false, Gone),
            (Restored, Some(2), 11, false, Leave),
            (Restored, None, 5, false, TellAgain),
            (Restored, None, 11, false, Leave),
            (Ahead, Some(1), 5, true, TellAgain),
            (Ahead, Some(2), 5, true, Gone),
            (Ahead, Some(2), 5, false, TellAgain),
            (Ahead, None, 5, false, TellAgain),
        ];
        for (cause, id, number, is_begun, expected) in table {
            let placed = Placed {
                placement: PlacementId::from_uuid(Uuid::from_u128(9)),
                run: id.map(run),
                number: Generation::from_u64(number),
                is_begun,
            };
            let found = verdict(cause, applied, &placed, &held);
            assert_eq!(found, expected, "{cause:?} {id:?} {number} {is_begun}");
        }
    }
}
