//! What this server counted of schedules since it started.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hostler_model::schedule::FireState;

/// Up to how many milliseconds of lateness each bucket holds; the last is everything beyond.
pub const LATENESS_BOUNDS: [u64; 10] =
    [10, 50, 100, 250, 500, 1000, 5000, 30_000, 300_000, 3_600_000];

const ENDS: [FireState; 4] =
    [FireState::Done, FireState::Failed, FireState::Uncertain, FireState::Missed];

#[derive(Debug, Default)]
pub(crate) struct ScheduleTally {
    ends: [AtomicU64; ENDS.len()],
    late: [AtomicU64; LATENESS_BOUNDS.len() + 1],
    late_micros: AtomicU64,
}

/// The counts at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScheduleCounts {
    /// Schedules, and those of them that are paused.
    pub schedules: u64,
    pub paused: u64,
    pub fires: Vec<(FireState, u64)>,
    /// How many fires were how late, bucket by bucket, not added up.
    pub lateness: Vec<u64>,
    pub lateness_micros: u64,
}

impl ScheduleTally {
    pub(crate) fn ended(&self, state: FireState, count: u64) {
        if let Some(at) = ENDS.iter().position(|known| *known == state) {
            self.ends[at].fetch_add(count, Ordering::Relaxed);
        }
    }

    pub(crate) fn late(&self, late: Duration) {
        let millis = u64::try_from(late.as_millis()).unwrap_or(u64::MAX);
        let bucket = LATENESS_BOUNDS.partition_point(|bound| *bound < millis);
        self.late[bucket].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(late.as_micros()).unwrap_or(u64::MAX);
        self.late_micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self, schedules: u64, paused: u64) -> ScheduleCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ScheduleCounts {
            schedules,
            paused,
            fires: ENDS.into_iter().zip(self.ends.iter().map(read)).collect(),
            lateness: self.late.iter().map(read).collect(),
            lateness_micros: read(&self.late_micros),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_falls_into_its_bucket() {
        let tally = ScheduleTally::default();
        for millis in [0, 10, 11, 999, 1000, 4_000_000] {
            tally.late(Duration::from_millis(millis));
        }
        let counts = tally.counts(3, 1);
        assert_eq!(counts.lateness, [2, 1, 0, 0, 0, 2, 0, 0, 0, 0, 1]);
        assert_eq!(counts.lateness_micros, 4_002_020_000);
        tally.ended(FireState::Missed, 5);
        tally.ended(FireState::Begun, 9);
        assert_eq!(tally.counts(3, 1).fires[3], (FireState::Missed, 5));
    }
}
