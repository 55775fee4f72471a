//! Which runs are to be started, are being started, or will be tried again. Pure bookkeeping: at most
//! [`IN_FLIGHT_MAX`] starts are under way at once, in the order in which they were asked for.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::time::Duration;

use hostler_base::fs::is_disk_full;
use hostler_model::RunId;

use crate::runner::StartError;

const IN_FLIGHT_MAX: usize = 64;
/// How often a start is tried before the run is given up.
const ATTEMPTS_MAX: u32 = 7;
const RETRY_MIN: Duration = Duration::from_millis(250);
const RETRY_MAX: Duration = Duration::from_secs(15);

/// What to do about a start that did not succeed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It was started before: find out how it stands.
    Examine,
    TryAgain(Duration),
    GiveUp,
    /// The agent is stopping; the next one will see.
    Leave,
}

#[derive(Default)]
pub(super) struct Starts {
    queue: VecDeque<RunId>,
    in_flight: HashSet<RunId>,
    /// Not in the queue before their time comes.
    delayed: HashSet<RunId>,
    attempts: HashMap<RunId, u32>,
}

impl Starts {
    pub fn queue(&mut self, run: RunId) {
        self.queue.push_back(run);
    }

    /// The next run to hand to the runner; it counts as under way from here on.
    pub fn next(&mut self) -> Option<RunId> {
        if self.in_flight.len() >= IN_FLIGHT_MAX {
            return None;
        }
        let run = self.queue.pop_front()?;
        self.in_flight.insert(run);
        Some(run)
    }

    /// Whether [`Starts::next`] has one.
    pub fn is_any_waiting(&self) -> bool {
        !self.queue.is_empty() && self.in_flight.len() < IN_FLIGHT_MAX
    }

    pub fn is_in_flight(&self, run: RunId) -> bool {
        self.in_flight.contains(&run)
    }

    /// Takes a run back that was not handed to the runner; false when there is none such.
    pub fn withdraw(&mut self, run: RunId) -> bool {
        if self.in_flight.contains(&run) {
            return false;
        }
        let was_delayed = self.delayed.remove(&run);
        let queued = self.queue.len();
        if !was_delayed {
            self.queue.retain(|other| *other != run);
        }
        self.attempts.remove(&run);
        was_delayed || self.queue.len() < queued
    }

    /// The start succeeded, or the run has come to its end some other way.
    pub fn done(&mut self, run: RunId) {
        self.in_flight.remove(&run);
        self.attempts.remove(&run);
    }

    /// The start did not succeed.
    pub fn failed(&mut self, run: RunId, error: &StartError) -> Verdict {
        self.in_flight.remove(&run);
        match error {
            StartError::AlreadyStarted(_) => Verdict::Examine,
            StartError::ShuttingDown => Verdict::Leave,
            StartError::Failed { .. } => Verdict::GiveUp,
            StartError::Refused(_)
            | StartError::Lacking(_)
            | StartError::Prepare(_)
            | StartError::ExecutorGone => {
                let attempts = self.attempts.entry(run).or_default();
                *attempts += 1;
                if *attempts >= ATTEMPTS_MAX && !is_waited_for(error) {
                    self.attempts.remove(&run);
                    return Verdict::GiveUp;
                }
                let delay = RETRY_MIN.saturating_mul(2u32.saturating_pow(*attempts - 1));
                self.delayed.insert(run);
                Verdict::TryAgain(delay.min(RETRY_MAX))
            }
        }
    }

    /// The time to try again has come; nothing happens when the run was withdrawn.
    pub fn due(&mut self, run: RunId) {
        if self.delayed.remove(&run) {
            self.queue.push_back(run);
        }
    }
}

/// For want of space, or of something that is not here yet.
fn is_waited_for(error: &StartError) -> bool {
    let is_full: fn(&io::Error) -> bool = is_disk_full;
    match error {
        StartError::Lacking(_) => true,
        StartError::Prepare(source) => is_full(source),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn run(n: usize) -> RunId {
        RunId::from_uuid(Uuid::from_u128(n as u128))
    }

    #[test]
    fn starts_are_bounded_and_in_order() {
        let mut starts = Starts::default();
        for n in 0..100 {
            starts.queue(run(n));
        }
        let first: Vec<_> = std::iter::from_fn(|| starts.next()).collect();
        assert_eq!(first, (0..IN_FLIGHT_MAX).map(run).collect::<Vec<_>>());
        starts.done(run(3));
        assert_eq!(starts.next(), Some(run(IN_FLIGHT_MAX)));
        assert_eq!(starts.next(), None);
    }

    #[test]
    fn what_is_not_under_way_can_be_withdrawn() {
        let mut starts = Starts::default();
        starts.queue(run(1));
        starts.queue(run(2));
        assert_eq!(starts.next(), Some(run(1)));
        assert!(!starts.withdraw(run(1)));
        assert!(starts.withdraw(run(2)));
        assert!(!starts.withdraw(run(2)));
        let verdict = starts.failed(run(1), &StartError::Refused("no".into()));
        assert_eq!(verdict, Verdict::TryAgain(RETRY_MIN));
        assert!(starts.withdraw(run(1)));
        starts.due(run(1));
        assert_eq!(starts.next(), None);
    }

    #[test]
    fn refusals_are_given_up_but_space_and_secrets_are_waited_for() {
        let mut starts = Starts::default();
        let full = || StartError::Prepare(io::Error::from(io::ErrorKind::StorageFull));
        let lacking = || StartError::Lacking("no server".into());
        for _ in 0..50 {
            assert!(matches!(starts.failed(run(1), &full()), Verdict::TryAgain(_)));
            assert!(matches!(starts.failed(run(3), &lacking()), Verdict::TryAgain(_)));
        }
        let refused = || StartError::Refused("no".into());
        let verdicts: Vec<_> =
            (0..ATTEMPTS_MAX).map(|_| starts.failed(run(2), &refused())).collect();
        assert_eq!(verdicts.last(), Some(&Verdict::GiveUp));
        assert_eq!(verdicts.iter().filter(|v| **v == Verdict::GiveUp).count(), 1);
    }
}
