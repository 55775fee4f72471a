//! Changes as they happen, for who watches.
//!
//! The newest batches of the log are in memory here, one after the other without gaps. Who watches has a
//! cursor, the revision up to which it was told everything: it takes what is newer from here, or from the
//! log where it is further behind than memory goes. Nothing is kept for a watcher, so a slow one costs
//! nothing; one that is behind even the log is told that it missed something.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_base::clock::Clock;
use hostler_model::{Code, Error, Name, ProjectId, StateBatch, StateChange, Timestamp};
use hostler_store::Store;
use tokio::sync::watch;

/// Changes, and bytes of values, that are in memory.
const CHANGES_MAX: usize = 10_000;
const BYTES_MAX: usize = 16 << 20;
/// Batches that are read from the log at once.
const READ_MAX: u32 = 16;

/// The newest batches, and who rings when there are more.
pub(crate) struct StateFeed {
    kept: Mutex<Kept>,
    /// The newest revision that is in memory.
    bell: watch::Sender<u64>,
}

#[derive(Default)]
struct Kept {
    batches: VecDeque<Arc<StateBatch>>,
    changes: usize,
    bytes: usize,
    /// Everything up to here was put in; 0 before the first.
    last: u64,
}

fn weight(batch: &StateBatch) -> usize {
    batch.changes.iter().map(|change| change.value.as_ref().map_or(0, |value| value.len())).sum()
}

impl Kept {
    fn push(&mut self, batch: StateBatch) {
        self.last = batch.last;
        self.changes += batch.changes.len();
        self.bytes += weight(&batch);
        self.batches.push_back(Arc::new(batch));
        while self.batches.len() > 1 && (self.changes > CHANGES_MAX || self.bytes > BYTES_MAX) {
            let Some(oldest) = self.batches.pop_front() else { return };
            self.changes -= oldest.changes.len();
            self.bytes -= weight(&oldest);
        }
    }
}

enum Newer {
    /// These, in order.
    Batches(Vec<Arc<StateBatch>>),
    Nothing,
    /// The log has to be read.
    Behind,
}

impl StateFeed {
    pub(crate) fn new() -> StateFeed {
        StateFeed { kept: Mutex::default(), bell: watch::Sender::new(0) }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest revision that is known here; 0 before anything is.
    pub(crate) fn last(&self) -> u64 {
        self.kept().last
    }

    /// Nothing is known yet, and what was before this revision is of no interest.
    pub(crate) fn begin(&self, revision: u64) {
        let mut kept = self.kept();
        if kept.last == 0 {
            kept.last = revision;
        }
    }

    /// What was before this revision cannot be had any more.
    pub(crate) fn skip_to(&self, first: u64) {
        let mut kept = self.kept();
        if kept.last + 1 < first {
            *kept = Kept { last: first - 1, ..Kept::default() };
        }
    }

    /// Takes a batch that was committed. False when others before it are missing.
    pub(crate) fn push(&self, batch: StateBatch) -> bool {
        let mut kept = self.kept();
        if batch.last <= kept.last {
            return true;
        }
        if kept.last != 0 && batch.first > kept.last + 1 {
            return false;
        }
        kept.push(batch);
        let last = kept.last;
        drop(kept);
        self.bell.send_replace(last);
        true
    }

    pub(crate) fn listen(&self) -> watch::Receiver<u64> {
        self.bell.subscribe()
    }

    fn after(&self, cursor: u64) -> Newer {
        let kept = self.kept();
        match kept.batches.front() {
            None if kept.last == 0 || cursor < kept.last => Newer::Behind,
            None => Newer::Nothing,
            Some(_) if cursor >= kept.last => Newer::Nothing,
            Some(front) if front.first > cursor + 1 => Newer::Behind,
            Some(_) => {
                let newer = kept.batches.iter().rev().take_while(|batch| batch.last > cursor);
                let mut newer: Vec<_> = newer.cloned().collect();
                newer.reverse();
                Newer::Batches(newer)
            }
        }
    }
}

/// A change, and when it was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSeen {
    pub change: StateChange,
    pub time: Timestamp,
}

/// Changes of the entries whose keys begin with something, from a revision on.
pub struct StateFollower {
    pub(crate) control: crate::Control,
    pub(crate) bell: watch::Receiver<u64>,
    pub(crate) project: ProjectId,
    pub(crate) namespace: Name,
    pub(crate) prefix: String,
    pub(crate) cursor: u64,
}

impl StateFollower {
    /// The revision up to which everything was seen.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    fn store(&self) -> &Store {
        &self.control.store
    }

    fn clock(&self) -> &Clock {
        &self.control.clock
    }

    /// What changed since the last call; an empty list when nothing did within `patience`.
    ///
    /// Cancel-safe: the cursor moves only when something is returned or nothing of it is meant.
    pub async fn next(&mut self, patience: Duration) -> Result<Vec<StateSeen>, Error> {
        let deadline = self.clock().instant() + patience;
        loop {
            self.bell.mark_unchanged();
            let newer = match self.control.state.feed.after(self.cursor) {
                Newer::Batches(batches) => batches,
                Newer::Nothing => Vec::new(),
                Newer::Behind => self.read_log().await?,
            };
            if !newer.is_empty() {
                let seen = self.take(&newer);
                if !seen.is_empty() {
                    return Ok(seen);
                }
                continue;
            }
            let left = deadline.saturating_sub(self.clock().instant());
            if left.is_zero() {
                return Ok(Vec::new());
            }
            let sleep = self.clock().sleep(left);
            // The bell cannot be dropped while the application lives; after that, waiting ends.
            tokio::select! {
                rung = self.bell.changed() => if rung.is_err() { return Ok(Vec::new()) },
                () = sleep => {}
            }
        }
    }

    async fn read_log(&self) -> Result<Vec<Arc<StateBatch>>, Error> {
        let mut read = self.store().read().await?;
        let batches = read.state_log_after(self.cursor, READ_MAX).await?;
        match batches.first() {
            Some(first) if first.first > self.cursor + 1 => Err(gone(self.cursor, first.first)),
            Some(_) => Ok(batches.into_iter().map(Arc::new).collect()),
            None => {
                let head = read.state_head().await?.revision;
                if head > self.cursor { Err(gone(self.cursor, head + 1)) } else { Ok(Vec::new()) }
            }
        }
    }

    fn take(&mut self, batches: &[Arc<StateBatch>]) -> Vec<StateSeen> {
        let mut seen = Vec::new();
        for batch in batches {
            let meant = batch.changes.iter().filter(|change| self.is_meant(change));
            seen.extend(meant.map(|change| StateSeen { change: change.clone(), time: batch.time }));
        }
        self.cursor = batches.last().map_or(self.cursor, |batch| batch.last.max(self.cursor));
        seen
    }

    fn is_meant(&self, change: &StateChange) -> bool {
        change.revision > self.cursor
            && change.at.project_id == self.project
            && change.at.namespace == self.namespace
            && change.at.key.as_str().starts_with(&self.prefix)
    }
}

pub(crate) fn gone(cursor: u64, first: u64) -> Error {
    Error::new(
        Code::CursorGone,
        format!(
            "changes after revision {cursor} were missed: those before {first} are no longer kept"
        ),
        "list the entries again, and watch from the `watchCursor` of that list; \
         `[state] log_retention` and `log_max` of the servers say what is kept",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(first: u64, last: u64) -> StateBatch {
        StateBatch { first, last, time: Timestamp::EPOCH, changes: Vec::new() }
    }

    fn after(feed: &StateFeed, cursor: u64) -> Option<Vec<u64>> {
        match feed.after(cursor) {
            Newer::Batches(batches) => Some(batches.iter().map(|batch| batch.last).collect()),
            Newer::Nothing => Some(Vec::new()),
            Newer::Behind => None,
        }
    }

    #[test]
    fn batches_follow_each_other_or_are_not_taken() {
        let feed = StateFeed::new();
        assert_eq!(after(&feed, 0), None, "nothing is known before the first");
        feed.begin(10);
        assert_eq!(after(&feed, 10), Some(vec![]));
        assert_eq!(after(&feed, 9), None);
        assert!(feed.push(batch(11, 12)));
        assert!(!feed.push(batch(14, 14)), "13 is missing");
        assert!(feed.push(batch(13, 13)) && feed.push(batch(14, 14)));
        assert!(feed.push(batch(13, 13)), "again is nothing new");
        feed.skip_to(12);
        for (cursor, expected) in [
            (9, None),
            (10, Some(vec![12, 13, 14])),
            (11, Some(vec![12, 13, 14])),
            (12, Some(vec![13, 14])),
            (14, Some(vec![])),
            (99, Some(vec![])),
        ] {
            assert_eq!(after(&feed, cursor), expected, "{cursor}");
        }
        feed.skip_to(20);
        assert_eq!((after(&feed, 14), after(&feed, 19)), (None, Some(vec![])));
        assert!(feed.push(batch(20, 20)));
    }

    #[test]
    fn memory_is_bounded() {
        let feed = StateFeed::new();
        let change = |revision| StateChange {
            kind: hostler_model::StateChangeKind::Put,
            at: format!("{}/app/a", uuid::Uuid::from_u128(1)).parse().unwrap(),
            revision,
            previous: 0,
            create_revision: 1,
            version: 1,
            value: Some(vec![0; 1 << 20].into()),
            time_expires: None,
            owner: hostler_model::Actor {
                kind: hostler_model::ActorKind::User,
                name: "ann".to_owned(),
            },
        };
        for revision in 1..=40 {
            feed.push(StateBatch { changes: vec![change(revision)], ..batch(revision, revision) });
        }
        assert_eq!(after(&feed, 0), None);
        assert_eq!(after(&feed, 24).unwrap().len(), 16);
    }
}
