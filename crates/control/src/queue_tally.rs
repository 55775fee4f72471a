//! How long tasks wait for a node, what keeps them waiting, and how they end: counted by the server that
//! places them or hears of their ends, in memory, since it started.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hostler_model::{Hindrance, TaskStateKind};

/// Upper ends of the classes that waits are counted in, in seconds; one more class has no end.
pub const WAIT_CLASSES: [f64; 12] =
    [0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0];

/// Everything that was counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueCounts {
    /// Tasks in each class of waiting, of those with an end and of the one without.
    pub waits: [u64; WAIT_CLASSES.len() + 1],
    pub wait_seconds: f64,
    /// Tasks that were looked at in vain, by what stood in their way.
    pub failures: [u64; Hindrance::ALL.len()],
    /// Tasks that ended, by how.
    pub ended: BTreeMap<TaskStateKind, u64>,
    /// The longest wait since somebody last took it.
    pub wait_most: f64,
}

impl QueueCounts {
    pub fn placed(&self) -> u64 {
        self.waits.iter().sum()
    }

    pub fn failures(&self) -> impl Iterator<Item = (Hindrance, u64)> + '_ {
        Hindrance::ALL.iter().copied().zip(self.failures.iter().copied())
    }
}

/// How often it is asked what keeps tasks waiting: an answer looks at every node.
const ASK_EVERY: Duration = Duration::from_secs(5);

#[derive(Default)]
pub(crate) struct QueueTally(Mutex<QueueCounts>, Mutex<Option<Duration>>);

impl QueueTally {
    pub(crate) fn placed(&self, waits: &[Duration]) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for wait in waits {
            let seconds = wait.as_secs_f64();
            let class = WAIT_CLASSES.iter().position(|end| seconds <= *end);
            counts.waits[class.unwrap_or(WAIT_CLASSES.len())] += 1;
            counts.wait_seconds += seconds;
            counts.wait_most = counts.wait_most.max(seconds);
        }
    }

    pub(crate) fn left(&self, hindrances: &[Hindrance]) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for hindrance in hindrances {
            counts.failures[*hindrance as usize] += 1;
        }
    }

    pub(crate) fn ended(&self, states: &[TaskStateKind]) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for state in states {
            *counts.ended.entry(*state).or_default() += 1;
        }
    }

    pub(crate) fn counts(&self) -> QueueCounts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it is time again to ask what keeps tasks waiting.
    pub(crate) fn is_time_to_ask(&self, now: Duration) -> bool {
        let mut asked = self.1.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = asked.is_none_or(|asked| now.saturating_sub(asked) >= ASK_EVERY);
        if is_time {
            *asked = Some(now);
        }
        is_time
    }

    /// The longest wait since this was last asked.
    pub(crate) fn take_most(&self) -> f64 {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut counts.wait_most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_fall_into_their_classes() {
        let tally = QueueTally::default();
        let waits = [0, 10, 11, 60_000, 20_000_000].map(Duration::from_millis);
        tally.placed(&waits);
        tally.left(&[Hindrance::Gpus, Hindrance::Queue, Hindrance::Gpus]);
        tally.ended(&[TaskStateKind::Completed, TaskStateKind::Failed, TaskStateKind::Completed]);
        let counts = tally.counts();
        assert_eq!(counts.ended[&TaskStateKind::Completed], 2);
        assert_eq!(counts.waits, [2, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]);
        assert_eq!((counts.placed(), counts.wait_seconds.round()), (5, 20_060.0));
        let failures: Vec<_> = counts.failures().filter(|(_, count)| *count > 0).collect();
        assert_eq!(failures, [(Hindrance::Gpus, 2), (Hindrance::Queue, 1)]);
        assert_eq!((tally.take_most(), tally.take_most()), (20_000.0, 0.0));
    }
}
