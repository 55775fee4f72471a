//! Output of tasks and workloads as a stream of lines.
//!
//! A connection that breaks is made again after the last cursors seen, so every byte comes once. With
//! `follow`, an end that is not the true end (the server is going down, the node is away) is resumed
//! as well, for the time the [`ResumePolicy`](crate::ResumePolicy) allows; then the end is handed on
//! as it came.
//!
//! The output of a command run beside a workload is never resumed: it would be run again.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::stream::{self, BoxStream, StreamExt};
use hostler_api::task::{LogLine, LogsQuery, TaskLogs, TaskPath};
use hostler_api::workload::{
    ExecLine, WorkloadExec, WorkloadExecBody, WorkloadLogLine, WorkloadLogs, WorkloadLogsQuery,
    WorkloadPath,
};
use hostler_api::{Endpoint, Nothing, Problem};
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tracing::debug;

use crate::request::Parts;
use crate::stream::{Lines, Trouble};
use crate::{Client, Error, retry};

/// The bytes of a [`LogLine::Data`] and its like.
pub fn decode_data(data: &str) -> Result<Vec<u8>, Error> {
    STANDARD.decode(data).map_err(|error| Error::Unexpected {
        address: "the server".to_owned(),
        detail: "output that is not base64".to_owned(),
        source: Some(error.into()),
    })
}

/// Bytes as they travel in JSON.
pub fn encode_data(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// An endpoint whose answer can be gone on with behind a line of it.
trait Resumable: Endpoint<Body = Nothing> {
    /// What an end says, and `None` of every other line.
    fn complete(line: &Self::Reply) -> Option<bool>;
    /// Makes the next request go on behind this line; false where it says nothing of that.
    fn remember(line: &Self::Reply, parts: &mut Parts) -> bool;
}

impl Resumable for TaskLogs {
    fn complete(line: &LogLine) -> Option<bool> {
        match line {
            LogLine::End { complete } => Some(*complete),
            LogLine::Data { .. } | LogLine::Gap { .. } => None,
        }
    }

    fn remember(line: &LogLine, parts: &mut Parts) -> bool {
        let LogLine::Data { cursor, .. } = line else {
            return false;
        };
        parts.set("cursor", cursor);
        parts.unset("tail");
        true
    }
}

impl Resumable for WorkloadLogs {
    fn complete(line: &WorkloadLogLine) -> Option<bool> {
        match line {
            WorkloadLogLine::End { complete } => Some(*complete),
            WorkloadLogLine::Data { .. }
            | WorkloadLogLine::Mark { .. }
            | WorkloadLogLine::Gap { .. } => None,
        }
    }

    /// Every node goes on behind its own line; `tail` still holds for those that have said nothing.
    fn remember(line: &WorkloadLogLine, parts: &mut Parts) -> bool {
        let (WorkloadLogLine::Data { cursor, .. } | WorkloadLogLine::Mark { cursor, .. }) = line
        else {
            return false;
        };
        let node = |cursor: &str| cursor.split('=').next().unwrap_or_default().to_owned();
        let known = parts.query.iter().find(|(key, _)| key == "cursor");
        let known = known.map(|(_, value)| value.clone()).unwrap_or_default();
        let others = known.split(',').filter(|one| !one.is_empty() && node(one) != node(cursor));
        let all: Vec<&str> = others.chain([cursor.as_str()]).collect();
        parts.set("cursor", &all.join(","));
        true
    }
}

impl Client {
    pub fn logs(
        &self,
        path: &TaskPath,
        query: &LogsQuery,
    ) -> Result<BoxStream<'static, Result<LogLine, Error>>, Error> {
        let parts = Parts::of::<TaskLogs>(path, query, &Nothing {})?;
        Ok(self.resumed::<TaskLogs>(parts, query.follow == Some(true)))
    }

    pub fn workload_logs(
        &self,
        path: &WorkloadPath,
        query: &WorkloadLogsQuery,
    ) -> Result<BoxStream<'static, Result<WorkloadLogLine, Error>>, Error> {
        let parts = Parts::of::<WorkloadLogs>(path, query, &Nothing {})?;
        Ok(self.resumed::<WorkloadLogs>(parts, query.follow == Some(true)))
    }

    /// Runs a command beside a workload. When the stream breaks off, nobody knows how it ended.
    pub async fn exec(
        &self,
        path: &WorkloadPath,
        body: &WorkloadExecBody,
    ) -> Result<BoxStream<'static, Result<ExecLine, Error>>, Error> {
        let parts = Parts::of::<WorkloadExec>(path, &Nothing {}, body)?;
        let key = uuid::Uuid::new_v4().to_string();
        let sent = self.send::<WorkloadExec>(&parts, None, &key, "application/x-ndjson").await;
        let lines = Lines::new(sent.map_err(|failed| failed.error)?, None);
        let client = self.clone();
        let step = |state: Option<(Client, Lines)>| async {
            let (client, mut lines) = state?;
            let line = match lines.next().await {
                Ok(line) => client.line::<ExecLine>(&line),
                Err(dropped) => Err(client.broken(dropped)),
            };
            let is_last =
                matches!(line, Err(_) | Ok(ExecLine::Exit { .. } | ExecLine::Broken { .. }));
            Some((line, (!is_last).then_some((client, lines))))
        };
        Ok(stream::unfold(Some((client, lines)), step).boxed())
    }

    fn resumed<E: Resumable>(
        &self,
        parts: Parts,
        is_following: bool,
    ) -> BoxStream<'static, Result<E::Reply, Error>> {
        let logs = Logs {
            trouble: self.trouble(),
            client: self.clone(),
            parts,
            is_following,
            open: None,
            of: std::marker::PhantomData::<fn() -> E>,
        };
        let step = |logs: Option<Logs<E>>| async {
            let mut logs = logs?;
            match logs.next().await {
                Ok(line) if E::complete(&line).is_some() => Some((Ok(line), None)),
                Ok(line) => Some((Ok(line), Some(logs))),
                Err(error) => Some((Err(error), None)),
            }
        };
        stream::unfold(Some(logs), step).boxed()
    }

    fn line<T: DeserializeOwned>(&self, line: &str) -> Result<T, Error> {
        serde_json::from_str(line).map_err(|error| match serde_json::from_str::<Problem>(line) {
            Ok(problem) => Error::Problem(Box::new(problem)),
            Err(_) => Error::Unexpected {
                address: self.address().to_owned(),
                detail: "a line of the output stream has another shape".to_owned(),
                source: Some(error.into()),
            },
        })
    }

    fn broken(&self, dropped: crate::stream::Dropped) -> Error {
        Error::Unreachable { address: self.address().to_owned(), source: dropped.into() }
    }
}

struct Logs<E> {
    client: Client,
    parts: Parts,
    is_following: bool,
    open: Option<Lines>,
    trouble: Trouble,
    of: std::marker::PhantomData<fn() -> E>,
}

impl<E: Resumable> Logs<E> {
    async fn next(&mut self) -> Result<E::Reply, Error> {
        loop {
            let Some(lines) = &mut self.open else {
                self.connect().await?;
                continue;
            };
            match lines.next().await {
                Ok(line) if line.trim().is_empty() => self.trouble.over(),
                Ok(line) => {
                    let line = self.client.line::<E::Reply>(&line)?;
                    if E::complete(&line) == Some(false) && self.is_following {
                        self.open = None;
                        if !self.paused().await {
                            return Ok(line);
                        }
                        continue;
                    }
                    if E::remember(&line, &mut self.parts) {
                        self.trouble.over();
                    }
                    return Ok(line);
                }
                Err(dropped) => {
                    debug!(error = %dropped, "output stream is resumed");
                    self.open = None;
                    if !self.paused().await {
                        return Err(self.client.broken(dropped));
                    }
                }
            }
        }
    }

    /// Once it has worked, a node that is away is waited for as well.
    async fn connect(&mut self) -> Result<(), Error> {
        let sent = self.client.send::<E>(&self.parts, None, "", "application/x-ndjson").await;
        match sent {
            Ok(response) => {
                self.trouble.connected();
                self.open = Some(Lines::new(response, None));
                Ok(())
            }
            Err(failed) if failed.error.is_transient() => {
                if self.paused().await {
                    Ok(())
                } else {
                    Err(failed.error)
                }
            }
            Err(failed) => Err(failed.error),
        }
    }

    async fn paused(&mut self) -> bool {
        match self.trouble.delay(Instant::now(), retry::random()) {
            None => false,
            Some(delay) => {
                tokio::time::sleep(delay).await;
                true
            }
        }
    }
}
