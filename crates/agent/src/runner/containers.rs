//! What the runner does for runs in containers: having their image there before they start, freezing
//! them, and removing what was left behind.

use std::io;
use std::path::Path;
use std::time::Duration;

use hostler_model::{Exit, ExitReason, Hooks, RunId};

use super::attend::Attendant;
use super::{PauseError, Runner, Shared, blocking, settle};
use crate::container::{self, Engine, EngineError, Plan, PullProgress};
use crate::sys;
use crate::wire::Command;

/// How long ending a container may hold up whoever found it.
const END_MAX: Duration = Duration::from_secs(30);
const TELL_EVERY: Duration = Duration::from_secs(10);

/// Why a container cannot be started.
pub enum Unready {
    /// It may be tried again.
    Later(String),
    /// Nothing was executed, and nothing will be.
    Never(Exit),
}

impl Attendant {
    /// Makes sure that the image is there. A stop that comes meanwhile is obeyed at once.
    pub(super) async fn ready(&mut self, plan: &Plan, hooks: &Hooks) -> Result<(), Unready> {
        let shared = self.shared();
        let mut readied = std::pin::pin!(shared.ready(plan, hooks));
        loop {
            tokio::select! {
                () = shared.cancel.cancelled() => {
                    return Err(Unready::Later("the agent is shutting down".to_owned()));
                }
                asked = self.asked() => {
                    if matches!(asked.map(|asked| asked.command), Some(Command::Stop { .. })) {
                        return Err(never(ExitReason::Stopped, "stopped before it ran".to_owned()));
                    }
                }
                readied = &mut readied => return readied,
            }
        }
    }
}

fn never(reason: ExitReason, message: String) -> Unready {
    let message = Some(message);
    Unready::Never(Exit { reason, code: None, signal: None, message, time: sys::now() })
}

impl Shared {
    async fn ready(&self, plan: &Plan, hooks: &Hooks) -> Result<(), Unready> {
        let failed = |why: String| never(ExitReason::StartFailed, why);
        let (planned, hooks) = (plan.clone(), hooks.clone());
        let checked = blocking(move || Ok(container::check(&planned, &hooks))).await;
        match checked {
            Ok(checked) => checked.map_err(failed)?,
            Err(e) => return Err(Unready::Later(e.to_string())),
        }
        let mut told = sys::boottime();
        let tell = |progress: &PullProgress| {
            if sys::boottime() - told > TELL_EVERY {
                told = sys::boottime();
                tracing::info!(
                    run = %plan.run_id,
                    image = %plan.spec.image,
                    layers = progress.layers,
                    layers_done = progress.layers_done,
                    bytes = progress.bytes,
                    bytes_total = progress.bytes_total,
                    "image is being fetched"
                );
            }
        };
        let limit = self.config.containers.pull_timeout;
        let ensured = self.engine.ensure_image(&plan.spec.image, plan.spec.pull, limit, tell).await;
        ensured.map_err(|e| match e {
            EngineError::Away { .. } => Unready::Later(e.to_string()),
            e => failed(e.to_string()),
        })
    }

    /// Ends the container of a run whose shim is gone, if it has one. What cannot be ended now is swept
    /// away later.
    pub(super) async fn end_container(&self, run_id: RunId) {
        let path = self.runs.join(run_id.to_string());
        let is_container = blocking(move || Ok(settle::is_container(&path))).await;
        if !is_container.unwrap_or(false) {
            return;
        }
        let name = container::container_name(run_id);
        let removed = self.engine.remove_container(&name);
        match tokio::time::timeout(END_MAX, removed).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(run = %run_id, %error, "container not removed yet"),
            Err(_) => tracing::warn!(run = %run_id, "container engine does not remove a container"),
        }
    }
}

impl Runner {
    /// The container engine of this node.
    pub fn engine(&self) -> &Engine {
        &self.shared().engine
    }

    /// Removes the containers of this agent that nothing acts for any more; how many.
    pub async fn sweep_containers(&self) -> Result<usize, EngineError> {
        let shared = self.shared();
        let is_live = |run| shared.live().contains_key(&run);
        container::sweep(&shared.engine, &shared.config.data_dir, is_live).await
    }

    /// Freezes a run, or lets it go on; it is no mistake when it is so already.
    pub async fn pause(&self, run_id: RunId, is_paused: bool) -> Result<(), PauseError> {
        if !self.live().contains(&run_id) {
            return Err(PauseError::NotRunning(run_id));
        }
        let path = self.run_dir(run_id);
        let record = blocking(move || settle::record_at(&path)).await.map_err(PauseError::Io)?;
        let record = record.ok_or(PauseError::NotRunning(run_id))?;
        if record.is_container {
            return Ok(self.engine().pause(run_id, is_paused).await?);
        }
        let group = record.cgroup.ok_or(PauseError::NoFreezer(run_id))?;
        let frozen = blocking(move || freeze(Path::new(&group), is_paused)).await;
        frozen.map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => PauseError::NoFreezer(run_id),
            _ => PauseError::Io(e),
        })
    }

    /// Lets a frozen run go on, so that it can hear that it is to end.
    pub(super) async fn thaw(&self, run_id: RunId) {
        let path = self.run_dir(run_id);
        let thaw = move || {
            let Some(record) = settle::record_at(&path)? else { return Ok(()) };
            match record.cgroup.filter(|_| !record.is_container) {
                Some(group) if is_frozen(Path::new(&group)) => freeze(Path::new(&group), false),
                _ => Ok(()),
            }
        };
        if let Err(error) = blocking(thaw).await {
            tracing::debug!(run = %run_id, %error, "run not thawed");
        }
    }
}

const FREEZER: &str = "cgroup.freeze";

fn is_frozen(group: &Path) -> bool {
    std::fs::read_to_string(group.join(FREEZER)).is_ok_and(|text| text.trim() == "1")
}

fn freeze(group: &Path, is_frozen: bool) -> io::Result<()> {
    let file = group.join(FREEZER);
    if !file.exists() {
        return Err(io::ErrorKind::NotFound.into());
    }
    std::fs::write(file, if is_frozen { "1" } else { "0" })
}
