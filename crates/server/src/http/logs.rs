//! Output of a task as newline-delimited JSON.
//!
//! The reader pulls: a slow one holds the node's stream back, never memory here. Until the output is
//! open, errors are answers; afterwards the stream says what is missing in a `gap` line and ends with
//! `end`. An `end` that is not `complete`, or none at all, means: come back with the last cursor. As
//! with watches, the credential is looked at again while the stream lives.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::future::BoxFuture;
use hostler_api::task::{LogLine, TaskLogs};
use hostler_control::{Cx, OutputQuery, OutputReceiver};
use hostler_model::Error;

use super::app::StreamPermit;
use super::gate::{Gate, Presented};
use super::watch::{RECHECK, is_unchanged};
use super::{Answer, App, Call, view};

/// How long to wait for the output before the answer begins without it.
const OPENING: Duration = Duration::from_secs(5);

struct Logs {
    app: App,
    cx: Cx,
    presented: Presented,
    source: Source,
    time_checked: Duration,
    _permit: StreamPermit,
}

enum Source {
    /// The task has not started yet.
    Opening(BoxFuture<'static, Result<OutputReceiver, Error>>),
    Open(OutputReceiver),
    Over,
}

pub(crate) async fn open(
    app: App,
    call: Call<TaskLogs>,
    query: OutputQuery,
) -> Result<Answer<LogLine>, Error> {
    let permit = app.stream_permit()?;
    let mut opening = opening(&app, &call, query);
    let source = tokio::select! {
        opened = &mut opening => Source::Open(opened?),
        () = app.clock().sleep(OPENING) => Source::Opening(opening),
    };
    let logs = Logs {
        time_checked: app.clock().instant(),
        cx: call.cx,
        presented: call.presented,
        source,
        _permit: permit,
        app,
    };
    let stream = futures::stream::unfold(logs, |mut logs| async move {
        let line = logs.next().await?;
        Some((Ok::<_, Infallible>(line), logs))
    });
    Ok(Answer::stream("application/x-ndjson", Body::from_stream(stream)))
}

fn opening(
    app: &App,
    call: &Call<TaskLogs>,
    query: OutputQuery,
) -> BoxFuture<'static, Result<OutputReceiver, Error>> {
    let (control, cx) = (app.control().clone(), call.cx.clone());
    let (project, task) = (call.project().clone(), call.path.task.clone());
    Box::pin(async move { control.task_output(&cx, &project, &task, query).await })
}

impl Logs {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let now = self.app.clock().instant();
            if now.saturating_sub(self.time_checked) >= RECHECK {
                self.time_checked = now;
                if !is_unchanged(&self.app, &self.presented, &self.cx).await {
                    return None;
                }
            }
            let app = self.app.clone();
            tokio::select! {
                () = app.stopping() => return None,
                () = app.clock().sleep(RECHECK) => {}
                step = self.source.step() => if let Some(line) = step { return line; },
            }
        }
    }
}

impl Source {
    /// A line, `Some(None)` at the end, or nothing yet. Cancel-safe.
    async fn step(&mut self) -> Option<Option<Bytes>> {
        match self {
            Source::Over => Some(None),
            Source::Opening(opening) => match opening.await {
                Ok(receiver) => {
                    *self = Source::Open(receiver);
                    None
                }
                Err(error) => Some(Some(self.broken(&error))),
            },
            Source::Open(receiver) => Some(Some(match receiver.recv().await {
                Some(Ok(item)) => {
                    if item.is_last() {
                        *self = Source::Over;
                    }
                    line(&view::log_line(item))
                }
                Some(Err(error)) => self.broken(&error),
                None => self.ended(false),
            })),
        }
    }

    fn broken(&mut self, error: &Error) -> Bytes {
        let detail = format!("{}; {}", error.detail, error.hint);
        let mut text = line(&LogLine::Gap { detail }).to_vec();
        text.extend_from_slice(&self.ended(false));
        text.into()
    }

    fn ended(&mut self, complete: bool) -> Bytes {
        *self = Source::Over;
        line(&LogLine::End { complete })
    }
}

fn line(line: &LogLine) -> Bytes {
    let mut text = serde_json::to_vec(line).unwrap_or_default();
    text.push(b'\n');
    text.into()
}
