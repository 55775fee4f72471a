//! Watching: a list that stays open and says what changes.
//!
//! A watch follows the journal from a cursor. Events are turned into messages about the objects as
//! they are *now* (several events of one object in a batch make one message), so a slow reader skips
//! what is already past and misses nothing that still holds. The cursor of a message is the sequence
//! number up to which everything was told; resuming there repeats nothing and loses nothing, on any
//! server. A cursor older than what is kept is answered `cursor-gone` before the stream begins.
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
use hostler_model::{
    Code, Error, Event, EventKind, NodeState, ObjectKind, Project, TaskStateKind, selector_matches,
};
use serde::Serialize;
use tracing::debug;

use super::app::StreamPermit;
use super::gate::{Gate, Presented};
use super::{Answer, App, Call, page, standing, view, workload_view};

/// How often an idle stream looks at its credential.
pub(crate) const RECHECK: Duration = Duration::from_secs(3);
/// How often an idle stream says that it is alive.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How soon a browser that lost the stream comes back.
const RETRY_MILLIS: u32 = 2000;

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
            Watched::Workloads { project, .. } => EventQuery {
                project: Some(project.id),
                object: Some(ObjectKind::Workload),
                ..EventQuery::default()
            },
        }
    }
}

struct Watch {
    app: App,
    cx: Cx,
    presented: Presented,
    watched: Watched,
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
        if let Ok(data) = serde_json::to_string(message) {
            let (cursor, kind) = (&message.cursor, message.kind);
            let frame = format!("id: {cursor}\nevent: {kind}\ndata: {data}\n\n");
            self.ready.push_back(frame.into());
        }
    }

    /// Turns a batch of events into messages.
    async fn take(&mut self, events: Vec<Event>) -> Result<(), Error> {
        if let Watched::Events(_) = self.watched {
            for event in events {
                let cursor = event.sequence;
                self.tell(WatchKind::Added, cursor, Some(view::event(event)), None);
            }
            return Ok(());
        }
        for told in newest_of_each(events) {
            self.tell_object(told).await?;
        }
        Ok(())
    }

    async fn tell_object(&mut self, told: Told) -> Result<(), Error> {
        let Told { event, is_new } = told;
        let (cursor, id) = (event.sequence, event.event.object.id.clone());
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
                match fits {
                    Some(node) => self.tell(here, cursor, Some(view::node(node)), None),
                    None => self.tell::<()>(WatchKind::Deleted, cursor, None, Some(id)),
                }
            }
            Watched::Tasks { project, state } => {
                let found = found(self.app.control().task_get(&self.cx, project, &id).await)?;
                let fits =
                    found.filter(|task| state.is_none_or(|s| task.workload.state.kind() == s));
                match fits {
                    Some(task) => self.tell(here, cursor, Some(view::task(task)), None),
                    None => self.tell::<()>(WatchKind::Deleted, cursor, None, Some(id)),
                }
            }
            Watched::Workloads { project, query, phase } => {
                let found = found(self.app.control().workload_get(&self.cx, project, &id).await)?;
                let fits = found.filter(|detail| {
                    let spec = &detail.service.spec;
                    query.mode.is_none_or(|mode| spec.mode.kind() == mode)
                        && query.tag.as_ref().is_none_or(|tag| spec.tags.contains(tag))
                        && phase.is_none_or(|phase| standing::status(detail).phase == phase)
                });
                match fits {
                    Some(detail) => {
                        let shown = workload_view::workload(detail);
                        self.tell(here, cursor, Some(shown), None)
                    }
                    None => self.tell::<()>(WatchKind::Deleted, cursor, None, Some(id)),
                }
            }
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

fn found<T>(result: Result<T, Error>) -> Result<Option<T>, Error> {
    match result {
        Ok(object) => Ok(Some(object)),
        Err(error) if error.code == Code::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

struct Told {
    event: Event,
    /// Whether its creation is in the same batch.
    is_new: bool,
}

/// The last event of every object, in order.
fn newest_of_each(events: Vec<Event>) -> Vec<Told> {
    let is_creation = |event: &Event| {
        matches!(
            event.event.kind,
            EventKind::NodeJoined | EventKind::TaskCreated | EventKind::WorkloadCreated
        )
    };
    let created: HashSet<String> = events
        .iter()
        .filter(|event| is_creation(event))
        .map(|event| event.event.object.id.clone())
        .collect();
    let mut seen = HashSet::new();
    let mut newest: Vec<Told> = events
        .into_iter()
        .rev()
        .filter(|event| seen.insert(event.event.object.id.clone()))
        .map(|event| Told { is_new: created.contains(&event.event.object.id), event })
        .collect();
    newest.reverse();
    newest
}

/// Whether the caller of a stream is still who it was, with the same roles.
pub(crate) async fn is_unchanged(app: &App, presented: &Presented, cx: &Cx) -> bool {
    matches!(presented.caller(app).await, Ok(caller) if caller == cx.caller)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{Actor, ActorKind, NewEvent, ObjectRef, Timestamp};

    fn event(sequence: u64, kind: EventKind, id: &str) -> Event {
        let actor = Actor { kind: ActorKind::System, name: "test".into() };
        Event {
            sequence,
            event: NewEvent {
                kind,
                project_id: None,
                object: ObjectRef::new(ObjectKind::Task, id, id),
                actor,
                message: String::new(),
                time: Timestamp::EPOCH,
            },
        }
    }

    #[test]
    fn one_message_per_object_and_batch() {
        let told = newest_of_each(vec![
            event(1, EventKind::TaskStarted, "a"),
            event(2, EventKind::TaskCreated, "b"),
            event(3, EventKind::TaskCompleted, "a"),
            event(4, EventKind::TaskAssigned, "b"),
        ]);
        let told: Vec<(u64, bool)> = told.iter().map(|t| (t.event.sequence, t.is_new)).collect();
        assert_eq!(told, [(3, false), (4, true)]);
    }
}
