//! Health checks of services' runs: begun when a run is seen to run, ended with it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use hostler_base::Clock;
use hostler_engine::supervise::Local;
use hostler_model::{RunId, Span};
use rustix::fs::MemfdFlags;
use tokio::sync::mpsc;

use super::owner::{Done, Owner};
use crate::health::{Beside, Checker, CheckerHandle, ExecEnd, HealthEvent, Lines, Subject};
use crate::output::{Item, Start, Stream, Streams};
use crate::runner::{Exec, Runner};
use crate::secrets::Forms;

const EVENTS_QUEUED: usize = 64;
/// How long a command may take that runs because a run is unhealthy.
const HOOK_TIMEOUT: Duration = Duration::from_secs(60);
/// The last of what a command printed, kept for people.
const PRINTED: usize = 500;
/// The same, before secrets are taken out of it.
const LOOKED_AT: usize = 256 << 10;

/// The checks of all runs.
pub(super) struct Checks {
    checker: Checker,
    pub events: mpsc::Receiver<HealthEvent>,
    watched: HashMap<RunId, CheckerHandle>,
}

impl Checks {
    pub fn new(runner: &Runner, clock: &Clock) -> Checks {
        let (sender, events) = mpsc::channel(EVENTS_QUEUED);
        let beside = Arc::new(BesideRun(runner.clone()));
        let lines = Arc::new(LinesOfRun(runner.clone()));
        let checker = Checker::new(clock.clone(), beside, lines, sender);
        Checks { checker, events, watched: HashMap::new() }
    }

    pub fn is_watched(&self, run: RunId) -> bool {
        self.watched.contains_key(&run)
    }
}

impl Owner {
    /// Asks the checks of a run from now on.
    pub(super) fn begin_checks(&mut self, run: RunId) {
        let Some(held) = self.state.placement_of(run) else { return };
        let checks = held.assignment.spec.health.clone();
        let pid = match self.state.by_run(run).map(|held| &held.local) {
            Some(Local::Running { pid, .. }) => *pid,
            _ => return,
        };
        if checks.is_empty() || self.checks.is_watched(run) {
            return;
        }
        let subject = Subject::new(run, pid, None, &self.clock);
        let (handle, questions) = self.checks.checker.watch(subject, checks);
        self.checks.watched.insert(run, handle);
        self.jobs.push(questions.map(|()| Done::Nothing).boxed());
    }

    pub(super) fn end_checks(&mut self, run: RunId) {
        self.checks.watched.remove(&run);
    }

    /// Runs what its user wants to be run when a run is unhealthy.
    pub(super) fn run_hook(&mut self, run: RunId, command: Vec<String>) {
        let beside = BesideRun(self.runner.clone());
        self.jobs.push(Box::pin(async move {
            match beside.run(run, &command, HOOK_TIMEOUT).await {
                Ok(end) if end.code == Some(0) => {}
                Ok(end) => tracing::warn!(%run, code = ?end.code, signal = ?end.signal, printed = end.output, "unhealthy hook failed"),
                Err(why) => tracing::warn!(%run, why, "unhealthy hook could not be run"),
            }
            Done::Nothing
        }));
    }
}

/// Commands beside runs, through their shims.
struct BesideRun(Runner);

impl Beside for BesideRun {
    fn run<'a>(
        &'a self,
        run: RunId,
        argv: &'a [String],
        timeout: Duration,
    ) -> BoxFuture<'a, Result<ExecEnd, String>> {
        Box::pin(async move {
            let forms = self.0.forms(run).await.map_err(|error| error.to_string())?;
            let (stdout, stderr, printed) = printing().map_err(|error| error.to_string())?;
            let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
            let exec = Exec {
                argv: argv.to_vec(),
                env: Default::default(),
                stdin: None,
                stdout,
                stderr,
                timeout: Some(Span::from_millis(millis)),
            };
            let end = self.0.exec(run, exec).await.map_err(|error| error.to_string())?;
            Ok(ExecEnd {
                code: end.code,
                signal: end.signal,
                is_timed_out: end.is_timed_out,
                output: last_of(printed, forms.as_ref()),
            })
        })
    }
}

/// A place for a command to print to, and to read from afterwards.
fn printing() -> std::io::Result<(OwnedFd, OwnedFd, File)> {
    let file = File::from(rustix::fs::memfd_create("hostler-beside", MemfdFlags::CLOEXEC)?);
    Ok((file.try_clone()?.into(), file.try_clone()?.into(), file))
}

/// Without secrets: these are taken out of far more than is kept, so that none is cut in two.
fn last_of(mut printed: File, forms: Option<&Arc<Forms>>) -> String {
    let mut bytes = Vec::new();
    let length = printed.metadata().map_or(0, |meta| meta.len());
    let looked_at = if forms.is_some() { LOOKED_AT } else { PRINTED };
    let start = length.saturating_sub(looked_at as u64);
    let read =
        printed.seek(std::io::SeekFrom::Start(start)).and_then(|_| printed.read_to_end(&mut bytes));
    if read.is_err() {
        return String::new();
    }
    if let Some(forms) = forms {
        bytes = forms.clean(&bytes);
        bytes.drain(..bytes.len().saturating_sub(PRINTED));
    }
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

/// Lines of runs' output.
struct LinesOfRun(Runner);

impl Lines for LinesOfRun {
    fn follow(&self, run: RunId) -> BoxStream<'static, Vec<u8>> {
        let follower = self.0.follow(run, Start::Beginning, Streams::Both);
        let batches = futures::stream::unfold(follower, |mut follower| async move {
            let batch = follower.next().await.ok().flatten()?;
            Some((batch, follower))
        });
        let mut unfinished: [Vec<u8>; 2] = Default::default();
        let lines = batches.flat_map(move |batch| {
            let mut lines = Vec::new();
            for item in batch.items {
                if let Item::Output(frame) = item {
                    let stream = usize::from(frame.stream != Stream::Stdout);
                    split(&mut unfinished[stream], &frame.bytes, &mut lines);
                }
            }
            futures::stream::iter(lines)
        });
        lines.boxed()
    }
}

const LINE_MAX: usize = 64 * 1024;

fn split(unfinished: &mut Vec<u8>, bytes: &[u8], lines: &mut Vec<Vec<u8>>) {
    for part in bytes.split_inclusive(|byte| *byte == b'\n') {
        match part.strip_suffix(b"\n") {
            Some(end) => {
                unfinished.extend_from_slice(end);
                lines.push(std::mem::take(unfinished));
            }
            None if unfinished.len() + part.len() <= LINE_MAX => unfinished.extend_from_slice(part),
            None => {}
        }
    }
}
