//! What the agent and its shims write to disk in a day, against a budget that was declared for it.
//! Memory cards and soldered flash die of writes, so somebody who runs nodes on them wants to know the
//! number, to be warned, and to have fewer of them when it is too large.
//!
//! Counted is what is handed to the file system, where it is handed over: frames of output and the
//! files of a run by its shim (which tells its agent, now and then and at the end), appended and
//! rewritten ledger, packed segments, and this count itself. Whatever is synced or small by nature
//! (the ledger, a run's few records) counts as the whole blocks that it touches, for a device writes
//! nothing smaller; output counts as it is, because the kernel gathers it before it writes. What the
//! file system adds for itself (its journal, directories) and what flash adds inside is not seen, and
//! neither is what programs write themselves: that is in their usage. The kernel's own count of a
//! process (`/proc/PID/io`) was not taken because it dies with the process, is not kept by every
//! kernel, and does not say what for.
//!
//! Days are those of UTC. The count is kept in a small file, written at most once an hour and when the
//! agent stops, so a killed agent forgets at most an hour of its own; what a shim has not told yet it
//! tells the next agent.
//!
//! When the budget is used up the agent goes on with all that it must do, and does the rest later: see
//! `defer` for the ledger; segments are packed on another day; the ledger is rewritten less often.
//! Never is output dropped for it, or a program not started.

mod day;
mod defer;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_base::{Clock, chain, fs};
use hostler_model::{Bytes, WriteMetrics};
use tokio_util::sync::CancellationToken;

pub(crate) use day::What;
use day::{Day, Level, day_of};
pub(crate) use defer::may_wait;

const FILE: &str = "writes.json";
const SAVE_EVERY: Duration = Duration::from_secs(3600);
/// The least that a device writes.
pub(crate) const BLOCK: u64 = 4096;

/// The whole blocks that bytes from one place in a file to another touch.
pub(crate) fn blocks(from: u64, to: u64) -> u64 {
    if to <= from {
        return 0;
    }
    (to.div_ceil(BLOCK) - from / BLOCK) * BLOCK
}

/// Counts what is written; shared by all that write.
pub(crate) struct Tally {
    budget: Option<Bytes>,
    clock: Clock,
    path: PathBuf,
    /// What was on disk.
    opened: Day,
    day: Mutex<Day>,
    /// Bytes since this agent started, and lines of output that could not be written.
    written: AtomicU64,
    lost: AtomicU64,
}

impl Tally {
    /// Goes on with the count of today, where there is one.
    pub fn open(data_dir: &Path, budget: Option<Bytes>, clock: Clock) -> Tally {
        let path = data_dir.join(FILE);
        let kept = fs::read_optional(&path).ok().flatten();
        let opened: Day =
            kept.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let day = Mutex::new(opened.clone());
        let (written, lost) = (AtomicU64::new(0), AtomicU64::new(0));
        Tally { budget, clock, path, day, opened, written, lost }
    }

    pub fn count(&self, what: What, bytes: u64) {
        self.written.fetch_add(bytes, Ordering::Relaxed);
        let today = day_of(self.clock.now());
        let (level, written) = {
            let mut day = self.lock();
            (day.add(today, what, bytes, self.budget), day.total())
        };
        let (Some(level), Some(budget)) = (level, self.budget) else { return };
        let written = Bytes::new(written);
        match level {
            Level::Within => {}
            Level::Near => {
                tracing::warn!(%written, %budget, "write budget of the day is nearly used up");
            }
            Level::Over => tracing::warn!(
                %written,
                %budget,
                "write budget of the day is used up, what can wait is written later"
            ),
        }
    }

    /// Whether to write as little as possible.
    pub fn is_saving(&self) -> bool {
        self.budget.is_some() && self.today().level(self.budget) == Level::Over
    }

    /// Lines of output that a shim could not write.
    pub fn count_lost(&self, lines: u64) {
        self.lost.fetch_add(lines, Ordering::Relaxed);
    }

    pub fn lost_lines(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub fn metrics(&self) -> WriteMetrics {
        WriteMetrics {
            today: Bytes::new(self.today().total()),
            total: Bytes::new(self.written.load(Ordering::Relaxed)),
            budget: self.budget,
        }
    }

    pub fn by_what(&self) -> Vec<(What, u64)> {
        let day = self.today();
        What::ALL.iter().map(|what| (*what, day.of(*what))).collect()
    }

    /// Keeps the count on disk until the agent stops.
    pub async fn keep(&self, token: CancellationToken) {
        let mut kept = self.opened.clone();
        loop {
            let wait = self.clock.sleep(SAVE_EVERY);
            let is_last = token.run_until_cancelled(wait).await.is_none();
            let today = self.today();
            if today != kept && today.total() > 0 {
                self.save();
                kept = self.today();
            }
            if is_last {
                return;
            }
        }
    }

    fn save(&self) {
        self.count(What::Records, BLOCK);
        let bytes = serde_json::to_vec(&self.today()).expect("a count is made of what JSON has");
        if let Err(error) = fs::write_atomic(&self.path, &bytes, 0o600) {
            tracing::debug!(error = %chain(&error), "count of what was written cannot be kept");
        }
    }

    fn today(&self) -> Day {
        let today = day_of(self.clock.now());
        let mut day = self.lock();
        day.turn(today);
        day.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Day> {
        self.day.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_base::ManualClock;
    use hostler_model::Timestamp;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn blocks_are_whole() {
        for (from, to, touched) in [
            (0, 0, 0),
            (0, 1, 1),
            (0, 4096, 1),
            (4095, 4097, 2),
            (5000, 5100, 1),
            (8192, 4096, 0),
            (100, 9000, 3),
        ] {
            assert_eq!(blocks(from, to), touched * BLOCK, "{from}..{to}");
        }
    }

    #[test]
    fn a_budget_is_used_up_until_the_day_is_over() {
        let folder = tempfile::tempdir().unwrap();
        let manual = ManualClock::new(Timestamp::EPOCH);
        let tally = Tally::open(folder.path(), Some(Bytes::new(100)), manual.clock());
        tally.count(What::Output, 99);
        assert!(!tally.is_saving());
        tally.count(What::Ledger, 1);
        assert!(tally.is_saving());
        assert_eq!(tally.metrics().percent(), Some(100));
        manual.advance(DAY);
        assert!(!tally.is_saving(), "another day, without anything written");
        assert_eq!(tally.metrics().today, Bytes::ZERO);
        assert_eq!(tally.metrics().total, Bytes::new(100), "goes on from day to day");
        let unlimited = Tally::open(folder.path(), None, manual.clock());
        unlimited.count(What::Output, u64::MAX);
        assert!(!unlimited.is_saving());
    }

    #[tokio::test]
    async fn the_count_of_today_outlives_the_agent() {
        let folder = tempfile::tempdir().unwrap();
        let manual = ManualClock::new(Timestamp::EPOCH);
        let open = || Tally::open(folder.path(), None, manual.clock());
        let stopped = CancellationToken::new();
        stopped.cancel();
        let first = open();
        first.keep(stopped.clone()).await;
        assert!(!folder.path().join(FILE).exists(), "nothing was written, so nothing is");
        first.count(What::Output, 1000);
        first.save();
        assert_eq!(open().by_what()[1], (What::Output, 1000));
        assert_eq!(open().metrics().today, first.metrics().today);
        manual.advance(DAY);
        assert_eq!(open().metrics().today, Bytes::ZERO);
        std::fs::write(folder.path().join(FILE), "nonsense").unwrap();
        assert_eq!(open().metrics().today, Bytes::ZERO);
    }
}
