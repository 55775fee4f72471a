//! The event feed: lets readers wait for what happens next, on this server or another.
//!
//! A change made here rings the bell at once; a change made elsewhere is noticed by the `event_feed`
//! reconciler, which looks at the newest sequence number a few times a second. Either way a reader
//! only wakes up and reads the rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hostler_base::clock::Clock;
use hostler_base::reconcile::Waker;
use hostler_model::{Code, Error, Event, ObjectKind};
use hostler_store::{EventFilter, Store};
use tokio::sync::watch;

use crate::EventQuery;
use crate::detail::EventTerms;

/// Rings when events were written; hooks hear it too.
#[derive(Debug)]
pub(crate) struct Feed {
    bell: watch::Sender<u64>,
    hooks: Waker,
    has_hooks: Arc<AtomicBool>,
}

impl Feed {
    pub(crate) fn new(hooks: Waker, has_hooks: Arc<AtomicBool>) -> Feed {
        Feed { bell: watch::Sender::new(0), hooks, has_hooks }
    }

    pub(crate) fn ring(&self) {
        self.bell.send_modify(|n| *n += 1);
        if self.has_hooks.load(Ordering::Relaxed) {
            self.hooks.wake();
        }
    }

    pub(crate) fn listen(&self) -> watch::Receiver<u64> {
        self.bell.subscribe()
    }
}

/// Reads events in order from a point on, waiting for more.
pub struct EventFollower {
    pub(crate) store: Store,
    pub(crate) clock: Clock,
    pub(crate) bell: watch::Receiver<u64>,
    pub(crate) query: EventQuery,
    pub(crate) visible: Option<Vec<hostler_model::ProjectId>>,
    pub(crate) cursor: u64,
}

impl EventFollower {
    /// The sequence number up to which everything was seen.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// What happened since the last call; an empty list when nothing did within `patience`.
    ///
    /// Cancel-safe: the cursor moves only over events that are returned, or that the filter leaves out.
    pub async fn next(&mut self, patience: Duration) -> Result<Vec<Event>, Error> {
        const BATCH: hostler_model::Limit = match hostler_model::Limit::new(500) {
            Some(limit) => limit,
            None => hostler_model::Limit::DEFAULT,
        };
        let deadline = self.clock.instant() + patience;
        loop {
            self.bell.mark_unchanged();
            let mut read = self.store.read().await?;
            let (floor, head) = read.event_bounds().await?;
            if self.cursor < floor {
                return Err(cursor_gone());
            }
            let terms = self.query.terms();
            let mut events = read.event_list(self.filter(&terms), self.cursor, BATCH).await?;
            drop(read);
            if let Some(last) = events.last() {
                self.cursor = last.sequence;
                if let Some(filter) = &self.query.filter {
                    events.retain(|event| filter.matches(&event.document()));
                }
                match events.is_empty() {
                    true => continue,
                    false => return Ok(events),
                }
            }
            self.cursor = self.cursor.max(head);
            let left = deadline.saturating_sub(self.clock.instant());
            if left.is_zero() {
                return Ok(Vec::new());
            }
            // The bell cannot be dropped while the application lives; after that, waiting ends.
            tokio::select! {
                rung = self.bell.changed() => if rung.is_err() { return Ok(Vec::new()) },
                () = self.clock.sleep(left) => {}
            }
        }
    }
}

impl EventFollower {
    fn filter<'a>(&'a self, terms: &'a EventTerms) -> EventFilter<'a> {
        let query = &self.query;
        let filter = query.wanted(terms, self.visible.as_deref());
        match &query.project {
            Some(project) if query.with_nodes => EventFilter {
                visible: Some(std::slice::from_ref(project)),
                include_global: true,
                project: None,
                object_kinds: &[ObjectKind::Workload, ObjectKind::Node],
                ..filter
            },
            _ => filter,
        }
    }
}

pub(crate) fn cursor_gone() -> Error {
    Error::new(
        Code::CursorGone,
        "what this cursor points at is no longer kept",
        "list again without a cursor, and watch from the `watchCursor` of that list",
    )
}
