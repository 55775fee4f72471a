//! Commands beside a workload, their output as newline-delimited JSON.
//!
//! What cannot be begun is an answer of its own; once the stream has begun, its last line says how the
//! command ended. When whoever asked goes away, or may not ask any more, the stream is dropped, the
//! node is told, and the command is killed there with everything it started.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hostler_api::workload::{ExecLine, WorkloadExec};
use hostler_control::{Cx, NewExec, OutputItem, OutputReceiver};
use hostler_model::{Diagnostic, Error};

use super::app::StreamPermit;
use super::gate::{Gate, Presented};
use super::watch::{RECHECK, is_unchanged};
use super::{Answer, App, Call};

/// How long to wait for a first word before the answer begins.
const OPENING: Duration = Duration::from_secs(2);

struct Running {
    app: App,
    cx: Cx,
    presented: Presented,
    receiver: Option<OutputReceiver>,
    first: Option<OutputItem>,
    time_checked: Duration,
    _permit: StreamPermit,
}

pub(crate) async fn open(app: App, call: Call<WorkloadExec>) -> Result<Answer<ExecLine>, Error> {
    let permit = app.stream_permit()?;
    let stdin = call.body.stdin.as_deref().map(|text| STANDARD.decode(text)).transpose();
    let stdin = stdin.map_err(|_| {
        Error::invalid(vec![Diagnostic::new("/stdin", "what the command reads is not base64")])
    })?;
    let new = NewExec {
        argv: call.body.command.clone(),
        node: call.body.node.clone(),
        stdin: stdin.unwrap_or_default(),
        timeout: call.body.timeout,
    };
    let (project, name) = (call.project().clone(), call.path.workload.clone());
    let mut receiver = app.control().workload_exec(&call.cx, &project, &name, new).await?;
    let first = tokio::select! {
        item = receiver.recv() => item.transpose()?,
        () = app.clock().sleep(OPENING) => None,
    };
    let running = Running {
        time_checked: app.clock().instant(),
        cx: call.cx,
        presented: call.presented,
        receiver: Some(receiver),
        first,
        _permit: permit,
        app,
    };
    let stream = futures::stream::unfold(running, |mut running| async move {
        let line = running.next().await?;
        Some((Ok::<_, Infallible>(line), running))
    });
    Ok(Answer::stream("application/x-ndjson", Body::from_stream(stream)))
}

impl Running {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(self.told(Some(Ok(first))));
        }
        loop {
            let now = self.app.clock().instant();
            if now.saturating_sub(self.time_checked) >= RECHECK {
                self.time_checked = now;
                if !is_unchanged(&self.app, &self.presented, &self.cx).await {
                    return None;
                }
            }
            let app = self.app.clone();
            let receiver = self.receiver.as_mut()?;
            let item = tokio::select! {
                () = app.stopping() => None,
                () = app.clock().sleep(RECHECK) => continue,
                item = receiver.recv() => item,
            };
            return Some(self.told(item));
        }
    }

    fn told(&mut self, item: Option<Result<OutputItem, Error>>) -> Bytes {
        let line = match item {
            Some(Ok(OutputItem::Data { stream, time, bytes, .. })) => {
                ExecLine::Data { stream, time, data: STANDARD.encode(bytes) }
            }
            Some(Ok(OutputItem::Gap(detail) | OutputItem::Mark { words: detail, .. })) => {
                ExecLine::Gap { detail }
            }
            Some(Ok(OutputItem::Exit { code, signal, is_timed_out })) => {
                ExecLine::Exit { code, signal, is_timed_out }
            }
            Some(Ok(OutputItem::End { .. })) => {
                ExecLine::Broken { detail: "the node did not say how the command ended".into() }
            }
            Some(Err(error)) => ExecLine::Broken { detail: error.detail },
            None => ExecLine::Broken { detail: "this server does not go on with it".into() },
        };
        if matches!(line, ExecLine::Exit { .. } | ExecLine::Broken { .. }) {
            self.receiver = None;
        }
        let mut text = serde_json::to_vec(&line).unwrap_or_default();
        text.push(b'\n');
        text.into()
    }
}
