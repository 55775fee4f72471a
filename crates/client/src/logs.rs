//! Output of tasks as a stream of [`LogLine`]s.
//!
//! A connection that breaks is made again after the last cursor seen, so every byte comes once. With
//! `follow`, an end that is not the true end (the server is going down, the node is away) is resumed
//! as well, for the time the [`ResumePolicy`](crate::ResumePolicy) allows; then the end is handed on
//! as it came.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::stream::{self, BoxStream, StreamExt};
use hostler_api::task::{LogLine, LogsQuery, TaskLogs, TaskPath};
use hostler_api::{Nothing, Problem};
use tokio::time::Instant;
use tracing::debug;

use crate::request::Parts;
use crate::stream::{Lines, Trouble};
use crate::{Client, Error, retry};

/// The bytes of a [`LogLine::Data`].
pub fn decode_data(data: &str) -> Result<Vec<u8>, Error> {
    STANDARD.decode(data).map_err(|error| Error::Unexpected {
        address: "the server".to_owned(),
        detail: "output that is not base64".to_owned(),
        source: Some(error.into()),
    })
}

impl Client {
    pub fn logs(
        &self,
        path: &TaskPath,
        query: &LogsQuery,
    ) -> Result<BoxStream<'static, Result<LogLine, Error>>, Error> {
        let logs = Logs {
            trouble: self.trouble(),
            client: self.clone(),
            parts: Parts::of::<TaskLogs>(path, query, &Nothing {})?,
            is_following: query.follow == Some(true),
            open: None,
        };
        let step = |logs: Option<Logs>| async {
            let mut logs = logs?;
            match logs.next().await {
                Ok(end @ LogLine::End { .. }) => Some((Ok(end), None)),
                Ok(line) => Some((Ok(line), Some(logs))),
                Err(error) => Some((Err(error), None)),
            }
        };
        Ok(stream::unfold(Some(logs), step).boxed())
    }
}

struct Logs {
    client: Client,
    parts: Parts,
    is_following: bool,
    open: Option<Lines>,
    trouble: Trouble,
}

impl Logs {
    async fn next(&mut self) -> Result<LogLine, Error> {
        loop {
            let Some(lines) = &mut self.open else {
                self.connect().await?;
                continue;
            };
            match lines.next().await {
                Ok(line) if line.trim().is_empty() => self.trouble.over(),
                Ok(line) => match self.read(&line)? {
                    LogLine::End { complete: false } if self.is_following => {
                        self.open = None;
                        if !self.paused().await {
                            return Ok(LogLine::End { complete: false });
                        }
                    }
                    line => {
                        if let LogLine::Data { cursor, .. } = &line {
                            self.trouble.over();
                            self.parts.set("cursor", cursor);
                            self.parts.unset("tail");
                        }
                        return Ok(line);
                    }
                },
                Err(dropped) => {
                    debug!(error = %dropped, "output stream is resumed");
                    self.open = None;
                    if !self.paused().await {
                        return Err(Error::Unreachable {
                            address: self.client.address().to_owned(),
                            source: dropped.into(),
                        });
                    }
                }
            }
        }
    }

    /// Once it has worked, a node that is away is waited for as well.
    async fn connect(&mut self) -> Result<(), Error> {
        let sent =
            self.client.send::<TaskLogs>(&self.parts, None, "", "application/x-ndjson").await;
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

    fn read(&self, line: &str) -> Result<LogLine, Error> {
        serde_json::from_str(line).map_err(|error| match serde_json::from_str::<Problem>(line) {
            Ok(problem) => Error::Problem(Box::new(problem)),
            Err(_) => Error::Unexpected {
                address: self.client.address().to_owned(),
                detail: "a line of the output stream has another shape".to_owned(),
                source: Some(error.into()),
            },
        })
    }
}
