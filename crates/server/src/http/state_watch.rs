//! Watching state: every change, in order, none left out.
//!
//! Unlike other watches, which tell how objects are now, this one tells of each change that was made. The
//! cursor is the revision; the changes of one transaction share it, so all but the last of them carry the
//! revision before, and resuming between them repeats some. A watch that is further behind than the log is
//! kept ends, and the reader gets `cursor-gone` when it comes back.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hostler_api::state::{StateEntryView, StateList};
use hostler_api::{Listing, WatchKind, WatchMessage};
use hostler_control::{Cx, StateFollower, StateSeen};
use hostler_model::{Error, StateChangeKind};
use tracing::debug;

use super::app::StreamPermit;
use super::gate::{Gate, Presented};
use super::watch::{HEARTBEAT, RECHECK, RETRY_MILLIS, frame, is_unchanged};
use super::{Answer, App, Call, page, state_body};

struct Watch {
    app: App,
    cx: Cx,
    presented: Presented,
    follower: StateFollower,
    ready: VecDeque<Bytes>,
    time_beat: Duration,
    time_checked: Duration,
    _permit: StreamPermit,
}

pub(crate) async fn open(
    app: App,
    call: Call<StateList>,
) -> Result<Answer<Listing<StateEntryView>>, Error> {
    let permit = app.stream_permit()?;
    let asked = call.last_event_id.clone().or(call.query.cursor.clone());
    let after = page::watch_after(asked.as_deref())?;
    let prefix = call.query.prefix.clone().unwrap_or_default();
    let namespace = call.path.namespace.clone();
    let mut follower = app.control().state_follow(call.project(), namespace, prefix, after).await?;
    let first = follower.next(Duration::ZERO).await?;
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
                    debug!("watch of state ended, its credential has changed");
                    return None;
                }
            }
            match seen {
                Ok(seen) => self.take(seen),
                Err(error) => {
                    debug!(error = %error, "watch of state ended");
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
        let cursor = self.follower.cursor().to_string();
        self.ready.extend(frame(&WatchMessage::<()> {
            kind: WatchKind::Bookmark,
            cursor,
            object: None,
            id: None,
        }));
    }

    fn take(&mut self, seen: Vec<StateSeen>) {
        let mut seen = seen.into_iter().peekable();
        while let Some(one) = seen.next() {
            self.time_beat = self.app.clock().instant();
            let revision = one.change.revision;
            let is_shared = seen.peek().is_some_and(|next| next.change.revision == revision);
            let cursor = if is_shared { revision - 1 } else { revision };
            let kind = match one.change.kind {
                StateChangeKind::Put if one.change.version == 1 => WatchKind::Added,
                StateChangeKind::Put | StateChangeKind::Touched => WatchKind::Modified,
                StateChangeKind::Deleted | StateChangeKind::Expired => WatchKind::Deleted,
            };
            let id = (kind == WatchKind::Deleted).then(|| one.change.at.key.to_string());
            let object = Some(state_body::change(one));
            let message = WatchMessage { kind, cursor: cursor.to_string(), object, id };
            self.ready.extend(frame(&message));
        }
    }
}
