//! What the runner does about files: inputs are there before a run starts, and outputs are at the server
//! before its end is told.

use std::path::PathBuf;
use std::time::Duration;

use hostler_base::chain;
use hostler_model::{Exit, ExitReason, Input, RunId};
use nix::unistd::{Gid, Group, Uid, User};

use super::attend::Attendant;
use super::containers::Unready;
use super::{Runner, Shared, Started, blocking};
use crate::blobs::{Blobs, Progress};
use crate::files::{self, Doing, Files, KEPT};
use crate::rundir::{self, Request, RunDir};
use crate::sys;
use crate::wire::Command;

const RETRY_MIN: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_mins(1);
const TELL_EVERY: Duration = Duration::from_secs(10);
const OUTPUTS: &str = "its outputs";

/// What has to be there before a run starts.
pub struct Furnishing {
    files: Files,
    user: Option<String>,
    group: Option<String>,
    /// Whoever a container runs as has to get along in the directory.
    is_container: bool,
}

impl Furnishing {
    /// `None` when nothing has to.
    pub fn of(request: &Request) -> Option<Furnishing> {
        let (files, is_container) = (request.files.clone(), request.container.is_some());
        let is_needed = !files.inputs.is_empty() || is_container && !files.is_none();
        let (user, group) = (request.user.clone(), request.group.clone());
        is_needed.then_some(Furnishing { files, user, group, is_container })
    }

    /// Whom the files go to; nobody else when an account is not known, which the start then says.
    fn owner(&self) -> Option<(Uid, Gid)> {
        owner_of(self.user.as_deref(), self.group.as_deref())
    }
}

/// Whom a run's files go to; nobody else when it names nobody else, or nobody who is known.
pub(super) fn owner_of(user: Option<&str>, group: Option<&str>) -> Option<(Uid, Gid)> {
    let user = user.and_then(|name| User::from_name(name).ok().flatten());
    let group = group.and_then(|name| Group::from_name(name).ok().flatten());
    match (user, group) {
        (None, None) => None,
        (Some(user), None) => Some((user.uid, user.gid)),
        (None, Some(group)) => Some((Uid::effective(), group.gid)),
        (Some(user), Some(group)) => Some((user.uid, group.gid)),
    }
}

impl Attendant {
    /// Puts the inputs in their places. A stop that comes meanwhile is obeyed at once.
    pub(super) async fn furnish(&mut self, furnishing: Furnishing) -> Result<(), Unready> {
        let (shared, run_id) = (self.shared(), self.run_id());
        let furnished = shared.furnish(run_id, furnishing);
        let mut furnished = std::pin::pin!(furnished);
        loop {
            tokio::select! {
                () = shared.cancel.cancelled() => {
                    return Err(Unready::Later("the agent is shutting down".to_owned()));
                }
                asked = self.asked() => {
                    if matches!(asked.map(|asked| asked.command), Some(Command::Stop { .. })) {
                        let words = "stopped before it ran".to_owned();
                        return Err(never(ExitReason::Stopped, words));
                    }
                }
                furnished = &mut furnished => return furnished,
            }
        }
    }

    /// Has the server what the run left, once it is over; false when the agent stops meanwhile, and the
    /// next one has to go on.
    pub(super) async fn keep_outputs(&mut self, exit: &Exit) -> bool {
        let shared = self.shared();
        tokio::select! {
            () = shared.cancel.cancelled() => false,
            () = shared.keep_outputs(self.run_id(), exit) => true,
        }
    }

    /// Goes on with a run that has ended, but not all of it is told.
    pub(super) async fn conclude(mut self, exit: Exit, started: Option<Started>) {
        self.no_reply();
        self.end(exit, started).await;
    }
}

fn never(reason: ExitReason, message: String) -> Unready {
    let message = Some(message);
    Unready::Never(Exit { reason, code: None, signal: None, message, time: sys::now() })
}

impl Shared {
    fn work_of(&self, run_id: RunId) -> PathBuf {
        self.runs.join(run_id.to_string()).join(rundir::WORK)
    }

    async fn furnish(&self, run_id: RunId, furnishing: Furnishing) -> Result<(), Unready> {
        let work = self.work_of(run_id);
        let mut told = sys::boottime();
        let (owner, mode) = match furnishing.is_container {
            true => (None, 0o777),
            false => (furnishing.owner(), 0o700),
        };
        let inputs = &furnishing.files.inputs;
        let tell = |input: &Input, doing: Doing| {
            let say = |doing| {
                let what = format!("input {}", input.path);
                self.waits.say(run_id, &what, doing, sys::now());
            };
            match doing {
                Doing::Asking => say("is being fetched"),
                Doing::Placing => say("is being put in its place"),
                Doing::Fetching(Progress { bytes, total, .. }) => {
                    self.waits.amount(run_id, bytes, total);
                    if sys::boottime() - told > TELL_EVERY {
                        told = sys::boottime();
                        tracing::info!(run = %run_id, path = input.path, bytes, total, "input is being fetched");
                    }
                }
            }
        };
        let furnished =
            files::furnish(&self.blobs, run_id, (&work, mode), inputs, owner, tell).await;
        furnished.map_err(|e| match e.is_passing() {
            true => Unready::Later(chain(&e).to_string()),
            false => never(ExitReason::StartFailed, chain(&e).to_string()),
        })
    }

    /// What is to be kept of a run that ended so, unless it has been kept already.
    pub(super) async fn to_keep(&self, run_id: RunId, exit: &Exit) -> Vec<hostler_model::Output> {
        let (path, exit) = (self.runs.join(run_id.to_string()), exit.clone());
        let look = move || {
            let dir = RunDir::open_path(&path)?;
            if dir.has(KEPT) || !dir.has(rundir::STARTED) {
                return Ok(Vec::new());
            }
            let request: Option<Request> = dir.read_json(rundir::SPEC)?;
            Ok(request.map(|request| request.files.kept_after(&exit)).unwrap_or_default())
        };
        blocking(look).await.unwrap_or_default()
    }

    async fn keep_outputs(&self, run_id: RunId, exit: &Exit) {
        let outputs = self.to_keep(run_id, exit).await;
        if outputs.is_empty() {
            return;
        }
        let (work, mut wait) = (self.work_of(run_id), RETRY_MIN);
        self.waits.say(run_id, OUTPUTS, "are being kept", sys::now());
        let count = loop {
            match files::keep(&self.blobs, run_id, &work, outputs.clone()).await {
                Ok(kept) => break kept.len(),
                Err(e) if e.is_passing() => {
                    tracing::warn!(run = %run_id, error = %e, "outputs wait for a server");
                    self.waits.failed(run_id, chain(&e).to_string(), sys::now());
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(RETRY_MAX);
                }
                Err(e) => {
                    tracing::warn!(run = %run_id, error = %e, "outputs cannot be kept");
                    break 0;
                }
            }
        };
        self.waits.over(run_id);
        let path = self.runs.join(run_id.to_string());
        let note = move || RunDir::open_path(&path)?.write(KEPT, count.to_string().as_bytes());
        if let Err(error) = blocking(note).await {
            tracing::warn!(run = %run_id, %error, "it cannot be noted that outputs are kept");
        }
    }
}

impl Runner {
    /// Content by its digest.
    pub fn blobs(&self) -> &Blobs {
        &self.shared().blobs
    }
}
