//! What happened, and where: events, servers.

use hostler_model::{
    Error, Event, Limit, Page, Permission, ProjectId, ServerRegistration, TaskStateKind,
};
use hostler_store::EventFilter;

use crate::{Control, Cx, EventFollower, EventQuery};

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
        let kinds: Vec<_> = query.kind.into_iter().collect();
        let filter = filter(query, visible.as_deref(), &kinds);
        Ok(self.store.read().await?.event_list_recent(filter, before, limit).await?)
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

fn filter<'a>(
    query: &'a EventQuery,
    visible: Option<&'a [ProjectId]>,
    kinds: &'a [hostler_model::EventKind],
) -> EventFilter<'a> {
    EventFilter {
        visible,
        include_global: visible.is_none(),
        project: query.project,
        kinds,
        object_kinds: query.object.as_slice(),
        object_id: query.id.as_deref(),
    }
}
