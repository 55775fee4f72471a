//! The event feed: lets readers wait for what happens next, on this server or another.
//!
//! A change made here rings the bell at once; a change made elsewhere is noticed by the `event_feed`
//! reconciler, which looks at the newest sequence number a few times a second. Either way a reader
//! only wakes up and reads the rows.

use std::time::Duration;

use hostler_base::clock::Clock;
use hostler_model::{Code, Error, Event, ObjectKind};
use hostler_store::{EventFilter, Store};
use tokio::sync::watch;

use crate::EventQuery;

/// Rings when events were written.
#[derive(Debug)]
pub(crate) struct Feed {
    bell: watch::Sender<u64>,
}

impl Feed {
    pub(crate) fn new() -> Feed {
        Feed { bell: watch::Sender::new(0) }
    }

    pub(crate) fn ring(&self) {
        self.bell.send_modify(|n| *n += 1);
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
    /// Cancel-safe: the cursor moves only when events are returned.
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
            let events = read.event_list(self.filter(), self.cursor, BATCH).await?;
            drop(read);
            if let Some(last) = events.last() {
                self.cursor = last.sequence;
                return Ok(events);
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
    fn filter(&self) -> EventFilter<'_> {
        let query = &self.query;
        let filter = EventFilter {
            visible: self.visible.as_deref(),
            include_global: self.visible.is_none(),
            project: query.project,
            kinds: query.kind.as_slice(),
            object_kinds: query.object.as_slice(),
            object_id: query.id.as_deref(),
        };
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
