//! Watch streams: every change of a list after a cursor, for as long as it is wanted.
//!
//! Begin with the `watchCursor` of a list and nothing in between is missed. A connection that breaks,
//! closes or goes silent is made again from the last cursor seen. The stream ends with an error when
//! the cursor is gone (list again), when the caller may no longer see it, or when no server could be
//! reached for the time the [`ResumePolicy`](crate::ResumePolicy) allows.

use std::time::Duration;

use futures::stream::{self, BoxStream, StreamExt};
use hostler_api::{Endpoint, Problem, WatchMessage};
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use tracing::debug;

use crate::request::Parts;
use crate::sse::{Event, Parser};
use crate::stream::{Lines, Trouble};
use crate::{Client, Error, retry};

pub type WatchStream<T> = BoxStream<'static, Result<WatchMessage<T>, Error>>;

/// Servers say something at least every fifteen seconds.
const IDLE_MAX: Duration = Duration::from_secs(60);

impl Client {
    /// Streams the changes of the list that `E` is. `watch` is set here; `cursor` says where to
    /// begin.
    pub fn watch<E: Endpoint, T: DeserializeOwned + Send + 'static>(
        &self,
        path: &E::Path,
        query: &E::Query,
        body: &E::Body,
    ) -> Result<WatchStream<T>, Error> {
        let mut parts = Parts::of::<E>(path, query, body)?;
        parts.set("watch", "true");
        parts.unset("limit");
        let watch = Watch { trouble: self.trouble(), client: self.clone(), parts, open: None };
        let step = |watch: Option<Watch>| async {
            let mut watch = watch?;
            match watch.next::<E, T>().await {
                Ok(message) => Some((Ok(message), Some(watch))),
                Err(error) => Some((Err(error), None)),
            }
        };
        Ok(stream::unfold(Some(watch), step).boxed())
    }
}

struct Watch {
    client: Client,
    parts: Parts,
    open: Option<(Lines, Parser)>,
    trouble: Trouble,
}

impl Watch {
    async fn next<E: Endpoint, T: DeserializeOwned>(&mut self) -> Result<WatchMessage<T>, Error> {
        loop {
            let Some((lines, parser)) = &mut self.open else {
                self.connect::<E>().await?;
                continue;
            };
            match lines.next().await {
                Ok(line) => {
                    self.trouble.over();
                    if let Some(event) = parser.line(&line) {
                        let message = self.message(&event)?;
                        self.parts.set("cursor", &message.cursor);
                        return Ok(message);
                    }
                }
                Err(dropped) => {
                    debug!(endpoint = E::NAME, error = %dropped, "watch stream is resumed");
                    self.open = None;
                    let gone = Error::Unreachable {
                        address: self.client.address().to_owned(),
                        source: dropped.into(),
                    };
                    self.pause(gone).await?;
                }
            }
        }
    }

    async fn connect<E: Endpoint>(&mut self) -> Result<(), Error> {
        let sent = self.client.send::<E>(&self.parts, None, "", "text/event-stream").await;
        match sent {
            Ok(response) => {
                self.trouble.connected();
                self.open = Some((Lines::new(response, Some(IDLE_MAX)), Parser::default()));
                Ok(())
            }
            Err(failed) if failed.error.is_transient() => self.pause(failed.error).await,
            Err(failed) => Err(failed.error),
        }
    }

    async fn pause(&mut self, error: Error) -> Result<(), Error> {
        match self.trouble.delay(Instant::now(), retry::random()) {
            None => Err(error),
            Some(delay) => {
                tokio::time::sleep(delay).await;
                Ok(())
            }
        }
    }

    fn message<T: DeserializeOwned>(&self, event: &Event) -> Result<WatchMessage<T>, Error> {
        serde_json::from_str(&event.data).map_err(|error| {
            match serde_json::from_str::<Problem>(&event.data) {
                Ok(problem) => Error::Problem(Box::new(problem)),
                Err(_) => Error::Unexpected {
                    address: self.client.address().to_owned(),
                    detail: format!(
                        "a `{}` message of the watch stream has another shape",
                        event.name
                    ),
                    source: Some(error.into()),
                },
            }
        })
    }
}
