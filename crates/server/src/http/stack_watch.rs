//! Watching a stack: what happens to it and its resources, in order, none left out.
//!
//! The cursor is the id of the event. The stream goes on when the stack is gone, as long as it is remembered: the reader
//! knows the end when it sees it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hostler_api::stack::{StackEventList, StackEventView};
use hostler_api::{Listing, WatchKind, WatchMessage};
use hostler_control::{Cx, StackEventQuery, StackFollower};
use hostler_model::stack::StackEvent;
use hostler_model::{Error, StackEventId};
use tracing::debug;

use super::app::StreamPermit;
use super::gate::{Gate, Presented};
use super::watch::{HEARTBEAT, RECHECK, RETRY_MILLIS, frame, is_unchanged};
use super::{Answer, App, Call, page, stack};

struct Watch {
    app: App,
    cx: Cx,
    presented: Presented,
    follower: StackFollower,
    ready: VecDeque<Bytes>,
    time_beat: Duration,
    time_checked: Duration,
    _permit: StreamPermit,
}

pub(crate) async fn open(
    app: App,
    call: Call<StackEventList>,
    query: StackEventQuery,
    after: Option<StackEventId>,
) -> Result<Answer<Listing<StackEventView>>, Error> {
    let permit = app.stream_permit()?;
    let asked = call.last_event_id.clone().or(call.query.cursor.clone());
    let asked = asked.filter(|cursor| !cursor.is_empty());
    let seen = asked.map(|cursor| cursor.parse().map_err(|_| page::bad_cursor())).transpose()?;
    let (control, path) = (app.control(), &call.path.stack);
    let followed =
        control.stack_follow(&call.cx, call.project(), path, query, seen.or(after)).await;
    let mut follower = followed.map_err(Error::from)?;
    let first = follower.next(Duration::ZERO).await.map_err(Error::from)?;
    let now = app.clock().instant();
    let mut watch = Watch {
        time_beat: now,
        time_checked: now,
        cx: call.cx,
        presented: call.presented,
        follower,
        ready: VecDeque::from([format!("retry: {RETRY_MILLIS}\n\n").into()]),
        _permit: permit,
        app,
    };
    watch.take(first);
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
            let seen = tokio::select! {
                () = app.stopping() => return None,
                seen = self.follower.next(RECHECK) => seen,
            };
            let now = self.app.clock().instant();
            if now.saturating_sub(self.time_checked) >= RECHECK {
                self.time_checked = now;
                if !is_unchanged(&self.app, &self.presented, &self.cx).await {
                    debug!("watch of a stack ended, its credential has changed");
                    return None;
                }
            }
            match seen {
                Ok(seen) => self.take(seen),
                Err(refused) => {
                    debug!(error = %Error::from(refused), "watch of a stack ended");
                    return None;
                }
            }
            if self.ready.is_empty() && now.saturating_sub(self.time_beat) >= HEARTBEAT {
                self.bookmark();
            }
        }
    }

    fn bookmark(&mut self) {
        self.time_beat = self.app.clock().instant();
        let cursor = self.follower.cursor().map(|id| id.to_string()).unwrap_or_default();
        let message =
            WatchMessage::<()> { kind: WatchKind::Bookmark, cursor, object: None, id: None };
        self.ready.extend(frame(&message));
    }

    fn take(&mut self, seen: Vec<StackEvent>) {
        for event in seen {
            self.time_beat = self.app.clock().instant();
            let (kind, cursor) = (WatchKind::Added, event.id.to_string());
            let object = Some(stack::event(event));
            self.ready.extend(frame(&WatchMessage { kind, cursor, object, id: None }));
        }
    }
}
