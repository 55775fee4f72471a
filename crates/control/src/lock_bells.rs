//! Who waits for a lock on a request to this server, and what this server has done with locks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hostler_model::LockHoldId;
use tokio::sync::Notify;

use crate::Control;

/// What was done with locks since this server started, and how many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockCounts {
    pub granted: u64,
    pub released: u64,
    pub expired: u64,
    pub forced: u64,
    /// Who waited and was not heard of any more.
    pub waiters_lost: u64,
    pub held: u64,
    pub waiting: u64,
}

#[derive(Default)]
pub(crate) struct LockTally {
    pub(crate) granted: AtomicU64,
    pub(crate) released: AtomicU64,
    pub(crate) expired: AtomicU64,
    pub(crate) forced: AtomicU64,
    pub(crate) waiters_lost: AtomicU64,
    pub(crate) held: AtomicU64,
    pub(crate) waiting: AtomicU64,
}

/// Those who wait on a request to this server.
#[derive(Default)]
pub(crate) struct LockBells(Mutex<HashMap<LockHoldId, Arc<Notify>>>);

impl LockBells {
    pub(crate) fn listen(&self, id: LockHoldId) -> Arc<Notify> {
        let mut bells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bells.retain(|_, bell| Arc::strong_count(bell) > 1);
        Arc::clone(bells.entry(id).or_default())
    }

    pub(crate) fn ring(&self, ids: impl IntoIterator<Item = LockHoldId>) {
        let bells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if bells.is_empty() {
            return;
        }
        for bell in ids.into_iter().filter_map(|id| bells.get(&id)) {
            bell.notify_waiters();
        }
    }

    /// Rings for all of whom `is_news` holds.
    pub(crate) fn ring_if(&self, is_news: impl Fn(LockHoldId) -> bool) {
        let bells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, bell) in bells.iter().filter(|(id, _)| is_news(**id)) {
            bell.notify_waiters();
        }
    }
}

impl Control {
    /// What was done with locks since this server started.
    pub fn lock_counts(&self) -> LockCounts {
        let tally = &self.lock_tally;
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        LockCounts {
            granted: of(&tally.granted),
            released: of(&tally.released),
            expired: of(&tally.expired),
            forced: of(&tally.forced),
            waiters_lost: of(&tally.waiters_lost),
            held: of(&tally.held),
            waiting: of(&tally.waiting),
        }
    }
}
