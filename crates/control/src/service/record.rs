//! What happened and who did it: events, audit, servers.

use hostler_model::{
    AuditEntry, AuditVerdict, Error, Event, Limit, Page, ProjectId, ServerRegistration,
    TaskStateKind,
};
use hostler_store::{AuditFilter, EventFilter};

use crate::{AuditQuery, Control, Cx, EventFollower, EventQuery};

impl Control {
    /// Events the caller may see, newest first.
    pub async fn event_list(
        &self,
        cx: &Cx,
        query: &EventQuery,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<Event>, Error> {
        let visible = cx.caller.visible_projects();
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
            visible: cx.caller.visible_projects(),
            cursor: after,
        }
    }

    /// Sequence number of the newest event.
    pub async fn event_head(&self) -> Result<u64, Error> {
        Ok(self.store.read().await?.event_bounds().await?.1)
    }

    pub async fn audit_list(
        &self,
        _: &Cx,
        query: &AuditQuery,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<AuditEntry>, Error> {
        let filter = AuditFilter { actor: query.actor.as_deref(), action: query.action.as_deref() };
        Ok(self.store.read().await?.audit_list(filter, before, limit).await?)
    }

    pub async fn audit_verify(&self, _: &Cx) -> Result<AuditVerdict, Error> {
        Ok(self.store.read().await?.audit_verify().await?)
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
