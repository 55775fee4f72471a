//! What happened, and where: events, servers.

use std::collections::{HashMap, HashSet};

use hostler_model::{
    Code, Error, Event, Limit, Name, Page, Permission, ProjectId, ServerRegistration,
    TaskStateKind, Timestamp,
};

use crate::{Control, Cx, EventFollower, EventQuery};

/// Large pages of events that one request looks through with a filter.
const SCANS: usize = 10;

impl Control {
    /// Events the caller may see, newest first.
    pub async fn event_list(
        &self,
        cx: &Cx,
        query: &EventQuery,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<Event>, Error> {
        let visible = cx.caller.projects_with(Permission::EventRead);
        let terms = query.terms();
        let filter = query.wanted(&terms, visible.as_deref());
        let mut read = self.store.read().await?;
        let Some(expression) = &query.filter else {
            return Ok(read.event_list_recent(filter, before, limit).await?);
        };
        let (mut items, mut before) = (Vec::new(), before);
        for _ in 0..SCANS {
            let page = read.event_list_recent(filter, before, Limit::LARGEST).await?;
            for event in page.items {
                before = Some(event.sequence);
                if expression.matches(&event.document()) {
                    items.push(event);
                }
                if items.len() >= limit.get() as usize {
                    return Ok(Page { items, next: before.map(|number| number.to_string()) });
                }
            }
            if page.next.is_none() {
                return Ok(Page { items, next: None });
            }
        }
        Ok(Page { items, next: before.map(|number| number.to_string()) })
    }

    /// Oldest first and without a gap: every event after number `after`, or from the first that is not before the
    /// query's `since`. The page's key is the number to go on after. Refused where some of it is gone: what
    /// is answered is everything that was asked for.
    ///
    /// Numbers are given in the order of commits, so nothing comes later that has a smaller one.
    pub async fn event_export(
        &self,
        cx: &Cx,
        query: &EventQuery,
        after: Option<u64>,
        limit: Limit,
    ) -> Result<Page<Event>, Error> {
        let visible = cx.caller.projects_with(Permission::EventRead);
        let terms = query.terms();
        let filter = query.wanted(&terms, visible.as_deref());
        let mut read = self.store.read().await?;
        let (floor, head) = read.event_bounds().await?;
        let kept = read.event_kept_since().await?;
        let mut after = match (after, query.since) {
            (Some(after), _) if after < floor => return Err(gone(kept)),
            (Some(after), _) => after,
            (None, Some(since)) if kept.is_some_and(|kept| since < kept) => return Err(gone(kept)),
            (None, _) => floor,
        };
        let mut items = Vec::new();
        for _ in 0..SCANS {
            let events = read.event_list(filter, after, Limit::LARGEST).await?;
            let is_all = events.len() < Limit::LARGEST.get() as usize;
            for event in events {
                after = event.sequence;
                if query.filter.as_ref().is_none_or(|filter| filter.matches(&event.document())) {
                    items.push(event);
                }
                if items.len() >= limit.get() as usize {
                    return Ok(Page { items, next: Some(after.to_string()) });
                }
            }
            if is_all {
                return Ok(Page { items, next: None });
            }
        }
        Ok(Page { items, next: Some(after.min(head).to_string()) })
    }

    /// The names of the projects that these events belong to; of those that are gone there are none.
    pub async fn event_projects(
        &self,
        events: &[Event],
    ) -> Result<HashMap<ProjectId, Name>, Error> {
        let ids: HashSet<ProjectId> =
            events.iter().filter_map(|event| event.event.project_id).collect();
        let mut names = HashMap::with_capacity(ids.len());
        if !ids.is_empty() {
            let mut read = self.store.read().await?;
            for id in ids {
                names.extend(read.project_get(id).await?.map(|project| (id, project.name)));
            }
        }
        Ok(names)
    }

    /// When the oldest event happened that is kept, if older ones are gone.
    pub async fn event_kept_since(&self) -> Result<Option<Timestamp>, Error> {
        Ok(self.store.read().await?.event_kept_since().await?)
    }

    /// Follows events from a point on.
    pub fn event_follow(&self, cx: &Cx, query: EventQuery, after: u64) -> EventFollower {
        EventFollower {
            store: self.store.clone(),
            clock: self.clock.clone(),
            bell: self.feed.listen(),
            query,
            visible: cx.caller.projects_with(Permission::EventRead),
            cursor: after,
        }
    }

    /// Sequence number of the newest event.
    pub async fn event_head(&self) -> Result<u64, Error> {
        Ok(self.store.read().await?.event_bounds().await?.1)
    }

    pub async fn server_list(&self, _: &Cx) -> Result<Vec<ServerRegistration>, Error> {
        Ok(self.store.read().await?.server_list().await?)
    }

    /// How many tasks are in each state; for metrics.
    pub async fn task_counts(&self) -> Result<Vec<(TaskStateKind, u64)>, Error> {
        Ok(self.store.read().await?.workload_count_by_state().await?)
    }
}

fn gone(kept: Option<Timestamp>) -> Error {
    let next = match kept {
        Some(kept) => format!("from {kept} on there is everything: export since then"),
        None => "export without saying from where".to_owned(),
    };
    Error::new(
        Code::CursorGone,
        "some of the events that were asked for are not kept any more",
        next,
    )
}
