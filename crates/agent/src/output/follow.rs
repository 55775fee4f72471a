//! Following a workload: its runs' output as it comes, and from one run into the next.
//!
//! The caller says which runs there are, and goes on saying it through a `watch`; the follower ends
//! when that is closed and everything has been read. Of runs that live at the same time, lines come as
//! they are written, those that were written in between two looks in the order of their times.

use std::io;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::watch;

use super::{LogBatch, LogCursor, Progress, Query, RunLog, WorkloadReader};
use crate::runner::Runner;

const LOOK_AGAIN: Duration = Duration::from_millis(200);

pub struct WorkloadFollower {
    runner: Runner,
    runs: watch::Receiver<Vec<RunLog>>,
    start: Option<(Query, Option<LogCursor>)>,
    reader: Option<WorkloadReader>,
}

impl WorkloadFollower {
    /// Follows the runs (oldest first) from a cursor, or from where the query begins.
    pub fn new(
        runner: Runner,
        runs: watch::Receiver<Vec<RunLog>>,
        query: Query,
        cursor: Option<LogCursor>,
    ) -> WorkloadFollower {
        WorkloadFollower { runner, runs, start: Some((query, cursor)), reader: None }
    }

    /// The next lines, waiting for them; `None` when there will be no more. Not to be dropped half
    /// way and then called again.
    pub async fn next(&mut self, limit: usize) -> io::Result<Option<LogBatch>> {
        loop {
            let batch = self.read(limit).await?;
            let progress = batch.progress;
            if !batch.entries.is_empty() {
                return Ok(Some(batch));
            }
            match progress {
                Progress::More => {}
                Progress::Idle => self.wait_for_output().await,
                Progress::End => {
                    if self.runs.changed().await.is_err() {
                        return Ok(None);
                    }
                }
            }
        }
    }

    async fn read(&mut self, limit: usize) -> io::Result<LogBatch> {
        let runs = self.runs.borrow_and_update().clone();
        let mut reader = match (self.reader.take(), self.start.take()) {
            (Some(mut reader), _) => {
                reader.add_runs(&runs);
                reader
            }
            (None, Some((query, cursor))) => {
                let open = move || match cursor {
                    Some(cursor) => Ok(WorkloadReader::open_at(runs, query, &cursor)),
                    None => WorkloadReader::open(runs, query),
                };
                let mut reader = blocking(open).await?;
                reader.follow();
                reader
            }
            (None, None) => return Err(io::Error::other("reading this output failed before")),
        };
        let (reader, batch) = blocking(move || {
            let batch = reader.read(limit)?;
            Ok((reader, batch))
        })
        .await?;
        self.reader = Some(reader);
        Ok(batch)
    }

    /// Waits until one of the runs that are being read may have more, or there is another one. A run
    /// that nobody attends to, though it is not over, is not waited for.
    async fn wait_for_output(&mut self) {
        let Some(reader) = &mut self.reader else { return };
        let mut waits: FuturesUnordered<_> = reader
            .waits_for()
            .into_iter()
            .map(|(run, position)| {
                let runner = self.runner.clone();
                async move { (run, runner.wait_for_output(run, position).await) }
            })
            .collect();
        let runs = &mut self.runs;
        let mut another = std::pin::pin!(async move {
            if runs.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        });
        loop {
            tokio::select! {
                biased;
                Some((run, is_attended)) = waits.next() => {
                    reader.set_attended(run, is_attended);
                    if is_attended {
                        return;
                    }
                }
                () = &mut another => return,
            }
            if waits.is_empty() {
                break;
            }
        }
        let _ = tokio::time::timeout(LOOK_AGAIN, another).await;
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) => Err(io::Error::other(e)),
    }
}
