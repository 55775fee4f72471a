//! Following what happens to a stack: its events in order, from one that is known on, waiting for more.
//!
//! What is written here rings the bell of the feed; what another server writes is found when the waiting is over, so it is
//! not longer than [`LOOK_EVERY`].

use std::time::Duration;

use hostler_model::stack::StackEvent;
use hostler_model::{Limit, Permission, Project, StackEventId};
use tokio::sync::watch;

use super::stack_look::StackEventQuery;
use super::stack_refusal::StackRefusal;
use crate::feed::cursor_gone;
use crate::{Control, Cx};

const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Reads events of a stack in order, waiting for more.
pub struct StackFollower {
    control: Control,
    cx: Cx,
    project: Project,
    /// Its id, so that a stack is followed until it is forgotten, and not one that is called like it.
    stack: String,
    query: StackEventQuery,
    after: Option<StackEventId>,
    bell: watch::Receiver<u64>,
}

impl Control {
    /// Follows a stack from an event on, or from the first that is kept.
    pub async fn stack_follow(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        query: StackEventQuery,
        after: Option<StackEventId>,
    ) -> Result<StackFollower, StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackRead).await?;
        let is_own = query.depth == 0;
        if let Some(known) = after.filter(|_| is_own)
            && read.stack_event_get(stack.id, known).await?.is_none()
        {
            return Err(cursor_gone().into());
        }
        drop(read);
        Ok(StackFollower {
            control: self.clone(),
            cx: cx.clone(),
            project: project.clone(),
            stack: stack.id.to_string(),
            query: StackEventQuery { is_descending: false, ..query },
            after,
            bell: self.feed.listen(),
        })
    }
}

impl StackFollower {
    /// The event up to which everything was seen.
    pub fn cursor(&self) -> Option<StackEventId> {
        self.after
    }

    /// What happened since the last call; an empty list when nothing did within `patience`.
    ///
    /// Cancel-safe: the cursor moves only over events that are returned.
    pub async fn next(&mut self, patience: Duration) -> Result<Vec<StackEvent>, StackRefusal> {
        let clock = self.control.clock.clone();
        let deadline = clock.instant() + patience;
        loop {
            self.bell.mark_unchanged();
            let after = self.after.map(|id| id.to_string());
            let page = (after.as_deref(), Limit::LARGEST);
            let control = &self.control;
            let found =
                control.stack_events(&self.cx, &self.project, &self.stack, &self.query, page);
            let events = found.await?.items;
            if let Some(last) = events.last() {
                self.after = Some(last.id);
                return Ok(events);
            }
            let left = deadline.saturating_sub(clock.instant());
            if left.is_zero() {
                return Ok(Vec::new());
            }
            // The bell cannot be dropped while the application lives; after that, waiting ends.
            tokio::select! {
                rung = self.bell.changed() => if rung.is_err() { return Ok(Vec::new()) },
                () = clock.sleep(left.min(LOOK_EVERY)) => {}
            }
        }
    }
}
