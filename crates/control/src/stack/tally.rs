//! Stacks in numbers: what this server did since it started, and how all of them stand, which is in rows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hostler_model::Error;
use hostler_model::stack::{Stack, StackAction, StackEvent, StackEventStatus, StackStatus};

use crate::Control;

/// Up to how many milliseconds each bucket of the length of changes holds; the last is everything beyond.
pub const STACK_LENGTH_BOUNDS: [u64; 10] =
    [100, 500, 1000, 5000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 14_400_000];
/// What stands for types that are templates or that users brought along.
pub const OTHER_TYPE: &str = "other";

/// How long changes of one kind took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StackLengths {
    /// Bucket by bucket, not added up.
    pub buckets: [u64; STACK_LENGTH_BOUNDS.len() + 1],
    pub micros: u64,
}

/// What this server did with stacks since it started.
#[derive(Debug, Default)]
pub(crate) struct StackTally {
    pub(crate) passes: AtomicU64,
    pub(crate) deeds: AtomicU64,
    pub(crate) errors: AtomicU64,
    pub(crate) under_way: AtomicU64,
    ended: Mutex<BTreeMap<(StackAction, StackStatus), StackLengths>>,
}

/// The same, as it is now, and what the rows say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackCounts {
    /// By action and status; what was deleted is left out.
    pub stacks: Vec<(String, String, u64)>,
    /// By type and status.
    pub resources: BTreeMap<(String, String), u64>,
    /// Of which it was found last that objects are not as they say.
    pub drifted: u64,
    /// How long what is under way the longest has been so; nothing while nothing is.
    pub oldest: Duration,
    /// How long the lock of a stack has been held, of those that are held the longest.
    pub lock_oldest: Duration,
    /// Changes of stacks that came to an end here, by what was done and how it ended.
    pub ended: BTreeMap<(StackAction, StackStatus), StackLengths>,
    /// Transactions that carried a stack on.
    pub passes: u64,
    /// Deeds outside that came to an end, or to a wait.
    pub deeds: u64,
    /// Passes over a stack that failed.
    pub errors: u64,
    /// Deeds under way.
    pub under_way: u64,
}

impl StackLengths {
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    fn add(&mut self, took: Duration) {
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.buckets[STACK_LENGTH_BOUNDS.partition_point(|bound| *bound < millis)] += 1;
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros = self.micros.saturating_add(micros);
    }
}

impl StackTally {
    /// Counts the changes that came to an end with these events. Those of stacks that are resources of others are part of
    /// the change of the other.
    pub(crate) fn told(&self, stack: &Stack, events: &[StackEvent]) {
        if stack.parent.is_some() {
            return;
        }
        for event in events {
            let StackEventStatus::Stack(action, status) = event.status else { continue };
            if status != StackStatus::InProgress {
                let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
                let took = event.time.since(stack.time_begun);
                ended.entry((action, status)).or_default().add(took);
            }
        }
    }
}

impl Control {
    /// For metrics.
    pub async fn stack_counts(&self) -> Result<StackCounts, Error> {
        let mut read = self.store.read().await?;
        let stacks = read.stack_count_by_standing().await?;
        let kinds = read.stack_resource_count_by_kind().await?;
        let drifted = read.stack_drift_count().await?;
        let (begun, locked) =
            (read.stack_begun_first().await?, read.stack_lock_granted_first().await?);
        drop(read);
        let mut resources: BTreeMap<(String, String), u64> = BTreeMap::new();
        for (kind, status, count) in kinds {
            let known = self.stack_catalog.schema_of(&kind);
            let kind = known.map_or(OTHER_TYPE, |schema| schema.type_name.as_str()).to_owned();
            *resources.entry((kind, status)).or_default() += count;
        }
        let tally = &self.stack_tally;
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let now = self.now();
        Ok(StackCounts {
            stacks,
            resources,
            drifted,
            oldest: begun.map(|since| now.since(since)).unwrap_or_default(),
            lock_oldest: locked.map(|since| now.since(since)).unwrap_or_default(),
            ended: tally.ended.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            passes: read(&tally.passes),
            deeds: read(&tally.deeds),
            errors: read(&tally.errors),
            under_way: read(&tally.under_way),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_is_in_the_bucket_that_it_fits_in() {
        let mut lengths = StackLengths::default();
        for millis in [0, 100, 101, 20_000_000] {
            lengths.add(Duration::from_millis(millis));
        }
        assert_eq!((lengths.buckets[0], lengths.buckets[1], lengths.buckets[10]), (2, 1, 1));
        assert_eq!((lengths.count(), lengths.micros), (4, 20_000_201_000));
    }
}
