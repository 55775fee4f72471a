//! Counters of the transaction wrapper, for the metrics endpoint.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What one named transaction has cost so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TxStats {
    pub name: &'static str,
    /// Times the closure was run.
    pub attempts: u64,
    /// Times it was run again after a serialisation failure.
    pub retries: u64,
    /// Times it was given up because every attempt met a serialisation failure.
    pub conflicts: u64,
}

/// A moment's copy of all counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// By name.
    pub transactions: Vec<TxStats>,
    /// Commits that reached the database; on SQLite one may carry many transactions.
    pub commits: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    by_name: Mutex<BTreeMap<&'static str, TxStats>>,
    pub(crate) commits: Arc<AtomicU64>,
}

impl Counters {
    fn with(&self, name: &'static str, change: impl FnOnce(&mut TxStats)) {
        let mut map = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        change(map.entry(name).or_insert_with(|| TxStats { name, ..TxStats::default() }));
    }

    pub(crate) fn attempt(&self, name: &'static str, number: u32) {
        self.with(name, |stats| {
            stats.attempts += 1;
            stats.retries += u64::from(number > 1);
        });
    }

    pub(crate) fn conflict(&self, name: &'static str) {
        self.with(name, |stats| stats.conflicts += 1);
    }

    pub(crate) fn snapshot(&self) -> Stats {
        let map = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        Stats {
            transactions: map.values().cloned().collect(),
            commits: self.commits.load(Ordering::Relaxed),
        }
    }
}
