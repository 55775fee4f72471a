//! The output of a placement over its runs, line by line: what matches, with a mark where a run begins
//! or has ended.
//!
//! When nothing is said of which part is wanted, it is that of the newest run; followed, of all runs that
//! live, and then of those that come, until the placement is gone from this node.

use std::time::Duration;

use hostler_base::Clock;
use hostler_model::{Code, PlacementId, RunId, Timestamp};
use hostler_proto::v1;
use regex::bytes::Regex;
use tokio::sync::watch;

use super::outlet::{Gone, Outlet};
use super::run::streams;
use super::{End, Failure, blocking, gap_words};
use crate::door::{runs_of, service_of};
use crate::output::{
    LogBatch, LogCursor, LogItem, Progress, Query, RunLog, WorkloadFollower, WorkloadReader,
};
use crate::runner::Runner;
use crate::supervisor::{ServiceView, Supervisor};

const READ_BYTES: usize = 128 * 1024;
/// How long a placement that the node was just given may take to be known here.
const APPEARANCE: Duration = Duration::from_secs(10);

/// Which runs are wanted.
#[derive(Clone, Copy)]
enum Wanted {
    All,
    Only(RunId),
    /// Those from this number on.
    From(u64),
}

impl Wanted {
    fn of(self, service: &ServiceView, runner: &Runner) -> Vec<RunLog> {
        let mut runs = runs_of(service, runner);
        runs.retain(|run| match self {
            Wanted::All => true,
            Wanted::Only(wanted) => run.run_id == wanted,
            Wanted::From(number) => run.number >= number,
        });
        runs
    }
}

pub(super) async fn send(
    request: &v1::OutputRequest,
    runner: &Runner,
    supervisor: &Supervisor,
    clock: &Clock,
    outlet: &mut Outlet,
) -> Result<End, Failure> {
    let placement: PlacementId =
        request.placement_id.parse().map_err(|e| Failure::malformed(&e))?;
    let query = query(request)?;
    let cursor = match request.cursor.as_str() {
        "" => None,
        text => Some(text.parse::<LogCursor>().map_err(|e| Failure::malformed(&e))?),
    };
    let service = appeared(supervisor, placement, request.follow, clock).await?;
    let wanted = wanted(request, &query, cursor.is_some(), &service, runner)?;
    let runs = wanted.of(&service, runner);
    if matches!(wanted, Wanted::Only(_)) && runs.is_empty() {
        return Err(Failure::new(
            Code::NotFound,
            "the node keeps no output of this run (any more)",
        ));
    }
    if request.follow {
        let (sender, receiver) = watch::channel(runs);
        let follower = WorkloadFollower::new(runner.clone(), receiver, query, cursor);
        let runs = (!matches!(wanted, Wanted::Only(_))).then_some(sender);
        return follow(follower, runs, wanted, supervisor, runner, placement, outlet).await;
    }
    let mut reader = blocking(move || match cursor {
        Some(cursor) => Ok(WorkloadReader::open_at(runs, query, &cursor)),
        None => WorkloadReader::open(runs, query),
    })
    .await?;
    loop {
        let (back, batch) = blocking(move || {
            let batch = reader.read(READ_BYTES)?;
            Ok((reader, batch))
        })
        .await?;
        reader = back;
        let progress = batch.progress;
        if send_batch(batch, outlet).await.is_err() {
            return Ok(End::Gone);
        }
        if progress != Progress::More {
            return Ok(End::Sent { is_over: true });
        }
    }
}

fn query(request: &v1::OutputRequest) -> Result<Query, Failure> {
    let grep = match request.grep.as_str() {
        "" => None,
        pattern => Some(Regex::new(pattern).map_err(|problem| {
            let detail = format!("the pattern is not a regular expression: {problem}");
            Failure::new(Code::Malformed, detail)
        })?),
    };
    Ok(Query {
        since: request.since_micros.map(Timestamp::from_micros),
        until: request.until_micros.map(Timestamp::from_micros),
        grep,
        streams: streams(&request.stream)?,
        tail: request.tail_lines.map(|lines| usize::try_from(lines).unwrap_or(usize::MAX)),
        ..Query::default()
    })
}

fn wanted(
    request: &v1::OutputRequest,
    query: &Query,
    has_cursor: bool,
    service: &ServiceView,
    runner: &Runner,
) -> Result<Wanted, Failure> {
    if !request.run_id.is_empty() {
        return Ok(Wanted::Only(request.run_id.parse().map_err(|e| Failure::malformed(&e))?));
    }
    let is_chosen = query.since.is_some()
        || query.until.is_some()
        || query.grep.is_some()
        || query.tail.is_some()
        || has_cursor;
    let oldest_live = service.others.first().filter(|_| request.follow).map(|other| other.number);
    let newest = runs_of(service, runner).last().map(|run| run.number);
    Ok(match oldest_live.or(newest) {
        Some(first) if !is_chosen => Wanted::From(first),
        _ => Wanted::All,
    })
}

/// The placement as it stands. One that is followed is waited for: the server may be ahead of us.
async fn appeared(
    supervisor: &Supervisor,
    placement: PlacementId,
    is_patient: bool,
    clock: &Clock,
) -> Result<std::sync::Arc<ServiceView>, Failure> {
    let mut changes = supervisor.board().changes();
    let appearance = async {
        loop {
            if let Some(service) = service_of(supervisor, placement) {
                return Some(service);
            }
            changes.changed().await.ok()?;
        }
    };
    let patience = if is_patient { APPEARANCE } else { Duration::ZERO };
    let found = match service_of(supervisor, placement) {
        Some(service) => Some(service),
        None => clock.timeout(patience, appearance).await.ok().flatten(),
    };
    found.ok_or_else(|| {
        Failure::new(Code::NotFound, "the node has nothing of this workload (yet, or any more)")
    })
}

async fn follow(
    mut follower: WorkloadFollower,
    mut runs: Option<watch::Sender<Vec<RunLog>>>,
    wanted: Wanted,
    supervisor: &Supervisor,
    runner: &Runner,
    placement: PlacementId,
    outlet: &mut Outlet,
) -> Result<End, Failure> {
    let mut changes = supervisor.board().changes();
    loop {
        let batch = {
            let mut next = std::pin::pin!(follower.next(READ_BYTES));
            loop {
                tokio::select! {
                    batch = &mut next => break batch?,
                    changed = changes.changed(), if runs.is_some() => {
                        let now = service_of(supervisor, placement).filter(|_| changed.is_ok());
                        match (now, &runs) {
                            (Some(service), Some(sender)) => {
                                let newest = wanted.of(&service, runner);
                                sender.send_if_modified(|known| {
                                    let is_news = *known != newest;
                                    *known = newest;
                                    is_news
                                });
                            }
                            _ => runs = None,
                        }
                    }
                }
            }
        };
        let Some(batch) = batch else {
            return Ok(End::Sent { is_over: true });
        };
        if send_batch(batch, outlet).await.is_err() {
            return Ok(End::Gone);
        }
    }
}

async fn send_batch(batch: LogBatch, outlet: &mut Outlet) -> Result<(), Gone> {
    for entry in batch.entries {
        let cursor = entry.cursor.to_string();
        match entry.item {
            LogItem::Line(line) => {
                let cut = line.cut_words().unwrap_or_default();
                let mut bytes = line.bytes;
                bytes.extend_from_slice(cut.as_bytes());
                bytes.push(b'\n');
                outlet.whole(line.stream, line.time.micros(), bytes, cursor).await?;
            }
            LogItem::Gap { bytes } => outlet.gap(gap_words(bytes), cursor).await?,
            LogItem::Mark(mark) => {
                let time = mark.time.map_or(0, Timestamp::micros);
                outlet.mark(time, mark.words, cursor).await?;
            }
        }
    }
    outlet.flush().await
}
