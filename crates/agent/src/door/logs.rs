//! The output of a workload: that of its runs, one after the other as it stands, or as it comes.

use std::io;
use std::sync::Arc;

use hostler_model::{PlacementId, Timestamp};
use regex::bytes::Regex;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::Door;
use super::view::{LogRecord, Refusal, RefusalCode};
use crate::output::{
    Level, LogBatch, LogItem, Progress, Query, RunLog, Stream, Streams, WorkloadFollower,
    WorkloadReader,
};
use crate::runner::Runner;
use crate::supervisor::{ServiceView, Supervisor};

const READ_BYTES: usize = 128 * 1024;

/// What somebody wants to see of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogAsk {
    pub name: String,
    /// Go on with what comes, and into the next runs.
    pub follow: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// A regular expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grep: Option<String>,
    /// Lines in which it is not found instead.
    pub invert: bool,
    /// The last so many lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
    /// Structured lines of this level or graver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
}

impl LogAsk {
    fn query(&self) -> Result<Query, Refusal> {
        let grep = self.grep.as_deref().map(Regex::new).transpose().map_err(|error| {
            let detail = format!("the pattern is not a regular expression: {error}");
            Refusal::new(RefusalCode::Malformed, detail)
        })?;
        Ok(Query {
            since: self.since,
            until: self.until,
            grep,
            invert: self.invert,
            streams: self.stream.map_or(Streams::Both, Streams::Only),
            level: self.level,
            tail: self.tail,
        })
    }
}

/// Output on its way to whoever asked for it.
pub(crate) struct LogStream(Kind);

enum Kind {
    /// What there is; absent when all was read.
    Reader(Option<Box<WorkloadReader>>),
    Follower(Box<Following>),
}

struct Following {
    follower: WorkloadFollower,
    /// Gone when the workload is.
    runs: Option<watch::Sender<Vec<RunLog>>>,
    board_changes: watch::Receiver<u64>,
    supervisor: Supervisor,
    runner: Runner,
    placement: PlacementId,
}

impl Door {
    pub(crate) async fn logs(&self, ask: &LogAsk) -> Result<LogStream, Refusal> {
        let query = ask.query()?;
        let service = self.service(&ask.name).await?;
        let runner = self.parts.runner.clone();
        let runs = runs_of(&service, &runner);
        if !ask.follow {
            let open = move || WorkloadReader::open(runs, query);
            let reader = blocking(open).await.map_err(unreadable)?;
            return Ok(LogStream(Kind::Reader(Some(Box::new(reader)))));
        }
        let supervisor = self.parts.supervisor.clone();
        let board_changes = supervisor.board().changes();
        let (sender, receiver) = watch::channel(runs);
        let follower = WorkloadFollower::new(runner.clone(), receiver, query, None);
        let placement = service.assignment.placement_id;
        Ok(LogStream(Kind::Follower(Box::new(Following {
            follower,
            runs: Some(sender),
            board_changes,
            supervisor,
            runner,
            placement,
        }))))
    }
}

impl LogStream {
    /// The next of it, waiting where something may come; `None` when that was all.
    pub async fn next(&mut self) -> Result<Option<Vec<LogRecord>>, Refusal> {
        let batch = match &mut self.0 {
            Kind::Reader(reader) => read(reader).await,
            Kind::Follower(following) => following.next().await,
        };
        let batch = batch.map_err(unreadable)?;
        let records = |batch: LogBatch| batch.entries.into_iter().map(|e| record(e.item)).collect();
        Ok(batch.map(records))
    }
}

async fn read(kept: &mut Option<Box<WorkloadReader>>) -> io::Result<Option<LogBatch>> {
    let Some(mut reader) = kept.take() else { return Ok(None) };
    loop {
        let (back, batch) = blocking(move || {
            let batch = reader.read(READ_BYTES)?;
            Ok((reader, batch))
        })
        .await?;
        if batch.progress != Progress::More {
            return Ok(Some(batch));
        }
        if !batch.entries.is_empty() {
            *kept = Some(back);
            return Ok(Some(batch));
        }
        reader = back;
    }
}

impl Following {
    async fn next(&mut self) -> io::Result<Option<LogBatch>> {
        let Following { follower, runs, board_changes, supervisor, runner, placement } = self;
        let mut next = std::pin::pin!(follower.next(READ_BYTES));
        loop {
            tokio::select! {
                batch = &mut next => return batch,
                changed = board_changes.changed(), if runs.is_some() => {
                    let now = service_of(supervisor, *placement).filter(|_| changed.is_ok());
                    match (now, &*runs) {
                        (Some(service), Some(sender)) => {
                            let newest = runs_of(&service, runner);
                            sender.send_if_modified(|known| {
                                let is_news = *known != newest;
                                *known = newest;
                                is_news
                            });
                        }
                        _ => *runs = None,
                    }
                }
            }
        }
    }
}

pub(crate) fn service_of(
    supervisor: &Supervisor,
    placement: PlacementId,
) -> Option<Arc<ServiceView>> {
    let services = supervisor.board().services();
    services.into_iter().find(|one| one.assignment.placement_id == placement)
}

/// The runs that there is output of, oldest first. One that has not begun yet may have no directory,
/// and would be taken for one that is gone.
pub(crate) fn runs_of(service: &ServiceView, runner: &Runner) -> Vec<RunLog> {
    let past = service.history.iter().map(|past| (past.run, past.origin.number));
    let live = service.others.iter().chain(&service.live).filter(|live| live.pid.is_some());
    let log = |(run_id, number)| RunLog { run_id, number, dir: runner.run_dir(run_id) };
    let mut runs: Vec<RunLog> =
        past.chain(live.map(|live| (live.run, live.number))).map(log).collect();
    runs.sort_by_key(|run| run.number);
    runs
}

fn record(item: LogItem) -> LogRecord {
    match item {
        LogItem::Line(line) => {
            let cut = line.cut_words().unwrap_or_default();
            let text = String::from_utf8_lossy(&line.bytes).into_owned() + &cut;
            LogRecord::Line { time: line.time, stream: line.stream, text }
        }
        LogItem::Gap { bytes } => LogRecord::Gap { bytes },
        LogItem::Mark(mark) => LogRecord::Mark { time: mark.time, text: mark.words },
    }
}

fn unreadable(error: io::Error) -> Refusal {
    Refusal::new(RefusalCode::Internal, format!("the output cannot be read: {error}"))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) => Err(io::Error::other(e)),
    }
}
