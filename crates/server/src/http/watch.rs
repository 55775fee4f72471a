//! Watching: a list that stays open and says what changes.
//!
//! A watch follows the journal from a cursor. Events are turned into messages about the objects as
//! they are *now* (several events of one object in a batch make one message), so a slow reader skips
//! what is already past and misses nothing that still holds. The cursor of a message is the sequence
//! number up to which everything was told; resuming there repeats nothing and loses nothing, on any
//! server. A cursor older than what is kept is answered `cursor-gone` before the stream begins.
//!
//! How a workload stands follows from its nodes too, so a node that is heard of no more, or again, makes
//! a message about each workload on it. These share one event: all but the last carry the cursor before
//! it, and resuming between them repeats some.
//!
//! With a filter, what it does not hold of (any more) is told as if it were gone; it is asked of objects as
//! they are told.
//!
//! Nothing is buffered but one batch: the stream is pulled by the connection. Before every batch, and
//! every few seconds in between, the credential is looked at again; a revoked token, an ended session
//! or a changed role ends the stream, and the reader gets the reason when it comes back.

use std::collections::{HashSet, VecDeque};
use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hostler_api::workload::WorkloadPhase;
use hostler_api::{Endpoint, WatchKind, WatchMessage};
use hostler_control::{Cx, EventFollower, EventQuery, NodeFilter, WorkloadQuery};
use hostler_model::filter::Filter;
use hostler_model::{
    Code, Error, Event, EventKind, NodeState, ObjectKind, Project, TaskStateKind, WorkloadId,
    selector_matches,
};
use serde::Serialize;
use tracing::debug;

use super::app::StreamPermit;
use super::gate::{Gate, Presented};
use super::{Answer, App, Call, gather, page, standing, view, workload_view};

/// How often an idle stream looks at its credential.
pub(crate) const RECHECK: Duration = Duration::from_secs(3);
/// How often an idle stream says that it is alive.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(15);
/// How soon a browser that lost the stream comes back.
pub(crate) const RETRY_MILLIS: u32 = 2000;

/// What is watched.
pub(crate) enum Watched {
    Events(EventQuery),
    Nodes(NodeFilter),
    Tasks { project: Project, state: Option<TaskStateKind> },
    Workloads { project: Project, query: WorkloadQuery, phase: Option<WorkloadPhase> },
}

impl Watched {
    fn query(&self) -> EventQuery {
        match self {
            Watched::Events(query) => query.clone(),
            Watched::Nodes(_) => {
                EventQuery { object: Some(ObjectKind::Node), ..EventQuery::default() }
            }
            Watched::Tasks { project, .. } => EventQuery {
                project: Some(project.id),
                object: Some(ObjectKind::Task),
                ..EventQuery::default()
            },
            Watched::Workloads { project, .. } => {
                EventQuery { project: Some(project.id), with_nodes: true, ..EventQuery::default() }
            }
        }
    }
}

struct Watch {
    app: App,
    cx: Cx,
    presented: Presented,
    watched: Watched,
    /// What has to hold of an object; events have theirs in the query.
    filter: Option<Filter>,
    follower: EventFollower,
    ready: VecDeque<Bytes>,
    time_beat: Duration,
    _permit: StreamPermit,
}

/// Answers with a stream of changes after `cursor`, or after now.
pub(crate) async fn open<E: Endpoint>(
    app: App,
    call: Call<E>,
    cursor: Option<String>,
    watched: Watched,
    filter: Option<Filter>,
) -> Result<Answer<E::Reply>, Error> {
    let permit = app.stream_permit()?;
    let asked = call.last_event_id.or(cursor);
    let after = match page::watch_after(asked.as_deref())? {
        Some(after) => after,
        None => app.control().event_head().await?,
    };
    let mut follower = app.control().event_follow(&call.cx, watched.query(), after);
    let first = follower.next(Duration::ZERO).await?;
    let mut watch = Watch {
        time_beat: app.clock().instant(),
        cx: call.cx,
        presented: call.presented,
        watched,
        filter,
        follower,
        ready: VecDeque::from([format!("retry: {RETRY_MILLIS}\n\n").into()]),
        _permit: permit,
        app,
    };
    watch.take(first).await?;
    watch.bookmark();
    let stream = futures::stream::unfold(watch, |mut watch| async move {
        let frame = watch.next().await?;
        Some((Ok::<_, Infallible>(frame), watch))
    });
    Ok(Answer::stream("text/event-stream", Body::from_stream(stream)))
}

impl Watch {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            let app = self.app.clone();
            let events = tokio::select! {
                () = app.stopping() => return None,
                events = self.follower.next(RECHECK) => events,
            };
            if !is_unchanged(&self.app, &self.presented, &self.cx).await {
                debug!("watch ended, its credential has changed");
                return None;
            }
            let told = match events {
                Ok(events) => self.take(events).await,
                Err(error) => Err(error),
            };
            if let Err(error) = told {
                debug!(error = %error, "watch ended");
                return None;
            }
            let now = self.app.clock().instant();
            if self.ready.is_empty() && now.saturating_sub(self.time_beat) >= HEARTBEAT {
                self.bookmark();
            }
        }
    }

    fn bookmark(&mut self) {
        let message = WatchMessage::<()> {
            kind: WatchKind::Bookmark,
            cursor: self.follower.cursor().to_string(),
            object: None,
            id: None,
        };
        self.say(&message);
    }

    fn say<T: Serialize>(&mut self, message: &WatchMessage<T>) {
        self.time_beat = self.app.clock().instant();
        self.ready.extend(frame(message));
    }

    /// Turns a batch of events into messages.
    async fn take(&mut self, events: Vec<Event>) -> Result<(), Error> {
        if let Watched::Events(_) = self.watched {
            let projects = self.app.control().event_projects(&events).await?;
            for event in events {
                let (cursor, event) = (event.sequence, view::event(event, &projects));
                self.tell(WatchKind::Added, cursor, Some(event), None);
            }
            return Ok(());
        }
        let mut changes = Vec::with_capacity(events.len());
        for event in events {
            match &self.watched {
                Watched::Workloads { project, .. }
                    if event.event.object.kind == ObjectKind::Node =>
                {
                    let project = project.clone();
                    changes.extend(self.of_node(&project, &event).await?);
                }
                _ => changes.push(Change::of(event)),
            }
        }
        for told in newest_of_each(changes) {
            self.tell_object(told).await?;
        }
        Ok(())
    }

    /// What a change of a node is for the workloads on it.
    async fn of_node(&self, project: &Project, event: &Event) -> Result<Vec<Change>, Error> {
        let Event { sequence, event } = event;
        let is_heard_otherwise = matches!(
            event.kind,
            EventKind::NodeOnline | EventKind::NodeStale | EventKind::NodeOffline
        );
        let Some(node) = event.object.id.parse().ok().filter(|_| is_heard_otherwise) else {
            return Ok(Vec::new());
        };
        let workloads = self.app.control().workloads_on(project, node).await?;
        let change =
            |id: WorkloadId| Change { sequence: *sequence, id: id.to_string(), is_creation: false };
        Ok(workloads.into_iter().map(change).collect())
    }

    async fn tell_object(&mut self, told: Told) -> Result<(), Error> {
        let Told { cursor, id, is_new } = told;
        let here = match is_new {
            true => WatchKind::Added,
            false => WatchKind::Modified,
        };
        match &self.watched {
            Watched::Events(_) => {}
            Watched::Nodes(filter) => {
                let found = found(self.app.control().node_get(&self.cx, &id).await)?;
                let fits = found.filter(|node| {
                    let is_wanted = match filter.state {
                        Some(state) => node.state == state,
                        None => node.state != NodeState::Removed,
                    };
                    is_wanted && selector_matches(&filter.selector, &node.labels)
                });
                self.tell_fitting(here, cursor, id, fits.map(view::node))?;
            }
            Watched::Tasks { project, state } => {
                let found = found(self.app.control().task_get(&self.cx, project, &id).await)?;
                let fits =
                    found.filter(|task| state.is_none_or(|s| task.workload.state.kind() == s));
                let shown = fits.map(|task| view::task(&self.cx.caller, task));
                self.tell_fitting(here, cursor, id, shown)?;
            }
            Watched::Workloads { project, query, phase } => {
                let found = found(self.app.control().workload_get(&self.cx, project, &id).await)?;
                let fits = found.filter(|detail| {
                    let spec = &detail.service.spec;
                    query.mode.is_none_or(|mode| spec.mode.kind() == mode)
                        && query.tag.as_ref().is_none_or(|tag| spec.tags.contains(tag))
                        && phase.is_none_or(|phase| standing::status(detail).phase == phase)
                });
                let shown = fits.map(|detail| workload_view::workload(&self.cx.caller, detail));
                self.tell_fitting(here, cursor, id, shown)?;
            }
        }
        Ok(())
    }

    /// What is asked for as it is now, and that anything else is none of it.
    fn tell_fitting<T: Serialize>(
        &mut self,
        kind: WatchKind,
        cursor: u64,
        id: String,
        object: Option<T>,
    ) -> Result<(), Error> {
        let is_wanted = match &object {
            Some(shown) => gather::holds(self.filter.as_ref(), shown)?,
            None => false,
        };
        match is_wanted {
            true => self.tell(kind, cursor, object, None),
            false => self.tell::<()>(WatchKind::Deleted, cursor, None, Some(id)),
        }
        Ok(())
    }

    fn tell<T: Serialize>(
        &mut self,
        kind: WatchKind,
        cursor: u64,
        object: Option<T>,
        id: Option<String>,
    ) {
        self.say(&WatchMessage { kind, cursor: cursor.to_string(), object, id });
    }
}

/// A message as it is sent.
pub(crate) fn frame<T: Serialize>(message: &WatchMessage<T>) -> Option<Bytes> {
    let data = serde_json::to_string(message).ok()?;
    let (cursor, kind) = (&message.cursor, message.kind);
    Some(format!("id: {cursor}\nevent: {kind}\ndata: {data}\n\n").into())
}

fn found<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(object) => Ok(Some(object)),
        Err(error) if error.code == Code::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Something happened to an object.
struct Change {
    sequence: u64,
    id: String,
    is_creation: bool,
}

impl Change {
    fn of(event: Event) -> Change {
        let is_creation = matches!(
            event.event.kind,
            EventKind::NodeJoined | EventKind::TaskCreated | EventKind::WorkloadCreated
        );
        Change { sequence: event.sequence, id: event.event.object.id, is_creation }
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Told {
    cursor: u64,
    id: String,
    /// Whether its creation is in the same batch.
    is_new: bool,
}

/// The last change of every object, in order.
fn newest_of_each(changes: Vec<Change>) -> Vec<Told> {
    let created: HashSet<String> = changes
        .iter()
        .filter(|change| change.is_creation)
        .map(|change| change.id.clone())
        .collect();
    let mut seen = HashSet::new();
    let mut following = None;
    let mut newest: Vec<Told> = changes
        .into_iter()
        .rev()
        .filter(|change| seen.insert(change.id.clone()))
        .map(|Change { sequence, id, .. }| {
            let is_shared = following.replace(sequence) == Some(sequence);
            let cursor = if is_shared { sequence - 1 } else { sequence };
            Told { cursor, is_new: created.contains(&id), id }
        })
        .collect();
    newest.reverse();
    newest
}

/// Whether the caller of a stream is still who it was, with the same roles.
pub(crate) async fn is_unchanged(app: &App, presented: &Presented, cx: &Cx) -> bool {
    let found = match presented.session() {
        Some(session) => app.control().caller_by_session_unused(session.expose()).await,
        None => presented.caller(app).await,
    };
    matches!(found, Ok(caller) if caller == cx.caller)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(sequence: u64, id: &str, is_creation: bool) -> Change {
        Change { sequence, id: id.to_owned(), is_creation }
    }

    fn told(changes: Vec<Change>) -> Vec<(u64, String, bool)> {
        let told = newest_of_each(changes).into_iter();
        told.map(|told| (told.cursor, told.id, told.is_new)).collect()
    }

    #[test]
    fn one_message_per_object_and_batch() {
        let told = told(vec![
            change(1, "a", false),
            change(2, "b", true),
            change(3, "a", false),
            change(4, "b", false),
        ]);
        assert_eq!(told, [(3, "a".to_owned(), false), (4, "b".to_owned(), true)]);
    }

    #[test]
    fn only_the_last_of_those_that_share_an_event_carries_its_number() {
        let told = told(vec![
            change(5, "a", false),
            change(5, "b", false),
            change(5, "c", false),
            change(6, "b", false),
        ]);
        let expected = [(4, "a"), (5, "c"), (6, "b")];
        assert_eq!(told, expected.map(|(cursor, id)| (cursor, id.to_owned(), false)));
    }
}
