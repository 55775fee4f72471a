//! Keeping the directories of ended runs for a while, because their output is there, and removing
//! them in order: the oldest first, when there are too many or they are too old.

use std::collections::VecDeque;
use std::time::Duration;

use hostler_base::chain;
use hostler_model::{RunId, Timestamp};
use tokio::sync::mpsc;

use crate::runner::Runner;

const DOOMED_QUEUED: usize = 256;

pub(super) struct Retention {
    keep_runs: usize,
    keep_for: Duration,
    /// Ended and forgotten runs that have a directory, oldest first.
    kept: VecDeque<(Timestamp, RunId)>,
    janitor: mpsc::Sender<RunId>,
}

impl Retention {
    pub fn new(keep_runs: usize, keep_for: Duration) -> (Retention, mpsc::Receiver<RunId>) {
        let (janitor, doomed) = mpsc::channel(DOOMED_QUEUED);
        let retention = Retention { keep_runs, keep_for, kept: VecDeque::new(), janitor };
        (retention, doomed)
    }

    pub fn keep(&mut self, run: RunId, time: Timestamp) {
        let place = self.kept.partition_point(|(other, _)| *other <= time);
        self.kept.insert(place, (time, run));
    }

    /// Hands over to the janitor what is not to be kept any longer. What the janitor cannot take now
    /// waits for the next time.
    pub fn sweep(&mut self, now: Timestamp) {
        while let Some((time, run)) = self.kept.front() {
            let is_due = self.kept.len() > self.keep_runs || now.since(*time) > self.keep_for;
            if !is_due || self.janitor.try_send(*run).is_err() {
                return;
            }
            self.kept.pop_front();
        }
    }
}

/// Removes directories, as many at a time as have come.
pub(super) async fn clear_away(runner: Runner, mut doomed: mpsc::Receiver<RunId>) {
    let mut runs = Vec::new();
    while doomed.recv_many(&mut runs, DOOMED_QUEUED).await > 0 {
        for error in runner.forget_all(&runs).await {
            tracing::warn!(error = %chain(&error), "run directory could not be removed");
        }
        runs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * 1_000_000)
    }

    fn run(n: u128) -> RunId {
        RunId::from_uuid(Uuid::from_u128(n))
    }

    fn swept(doomed: &mut mpsc::Receiver<RunId>) -> Vec<RunId> {
        std::iter::from_fn(|| doomed.try_recv().ok()).collect()
    }

    #[test]
    fn the_oldest_go_first_by_number_and_by_age() {
        let (mut retention, mut doomed) = Retention::new(3, Duration::from_secs(100));
        for (n, time) in [(2, 20), (1, 10), (3, 30), (4, 40)] {
            retention.keep(run(n), at(time));
        }
        retention.sweep(at(41));
        assert_eq!(swept(&mut doomed), [run(1)]);
        retention.sweep(at(121));
        assert_eq!(swept(&mut doomed), [run(2)]);
        retention.sweep(at(1000));
        assert_eq!(swept(&mut doomed), [run(3), run(4)]);
    }

    #[test]
    fn a_busy_janitor_loses_nothing() {
        let (mut retention, mut doomed) = Retention::new(0, Duration::ZERO);
        for n in 0..600 {
            retention.keep(run(n), at(1));
        }
        let mut seen = Vec::new();
        for _ in 0..3 {
            retention.sweep(at(2));
            seen.extend(swept(&mut doomed));
        }
        assert_eq!(seen.len(), 600);
    }
}
