//! What the runner does for runs in containers: having their image there before they start, freezing
//! them, and removing what was left behind.

use std::io;
use std::path::Path;
use std::time::Duration;

use hostler_model::{Exit, ExitReason, Hooks, ImageRef, RunId};

use super::attend::Attendant;
use super::{PauseError, Runner, Shared, blocking, settle};
use crate::container::{self, Engine, EngineError, Plan, PullProgress};
use crate::images::{Images, LoadFailure, LoadState, Unresolved, engine_name};
use crate::rundir::{self, RunDir};
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

fn pull_words(image: &str, progress: &PullProgress) -> (String, String) {
    let PullProgress { layers, layers_done, .. } = progress;
    let doing = format!("is being fetched, {layers_done} of {layers} layers");
    (format!("image {image}"), doing)
}

/// Which image a run's keeper is to use, where it was noted.
fn given_image(run: &Path) -> Option<String> {
    let name = RunDir::open_path(run).ok()?.read(container::IMAGE).ok()??;
    String::from_utf8(name).ok()
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
        match ImageRef::of_spec(&plan.spec.image) {
            Some(Ok(reference)) => return self.ready_kept(plan, &reference).await,
            Some(Err(e)) => return Err(failed(e.to_string())),
            None => {}
        }
        let mut told = sys::boottime();
        let tell = |progress: &PullProgress| {
            let (what, doing) = pull_words(&plan.spec.image, progress);
            self.waits.say(plan.run_id, &what, &doing, sys::now());
            self.waits.amount(plan.run_id, progress.bytes, progress.bytes_total);
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

    /// Has an image here that the installation keeps, and notes for the run's keeper which it is.
    async fn ready_kept(&self, plan: &Plan, reference: &ImageRef) -> Result<(), Unready> {
        let failed = |why: String| never(ExitReason::StartFailed, why);
        let say = |what: &str, doing| self.waits.say(plan.run_id, what, doing, sys::now());
        say(&format!("image hostler://{reference}"), "is looked up");
        let image = self.images.resolve(reference, plan.spec.pull).await;
        let image = image.map_err(|unresolved| match unresolved {
            Unresolved::Later(why) => Unready::Later(why),
            Unresolved::Never(why) => failed(why),
        })?;
        let (_pinned, what) = (self.images.pin(&image).await, format!("image {image}"));
        let mut state = self.images.load(&image);
        let loaded = async {
            loop {
                let now = state.borrow_and_update().clone();
                match now {
                    LoadState::Here => return Ok(()),
                    LoadState::Failed(LoadFailure::Later(why)) => return Err(Unready::Later(why)),
                    LoadState::Failed(LoadFailure::Never(why)) => return Err(failed(why)),
                    LoadState::Fetching { bytes, total } => {
                        say(&what, "is being fetched");
                        self.waits.amount(plan.run_id, bytes, total);
                    }
                    LoadState::Loading => say(&what, "is being taken in by the engine"),
                }
                if state.changed().await.is_err() {
                    return Err(Unready::Later("the agent is shutting down".to_owned()));
                }
            }
        };
        let limit = self.config.containers.pull_timeout;
        match tokio::time::timeout(limit, loaded).await {
            Ok(loaded) => loaded?,
            Err(_) => {
                let seconds = limit.as_secs();
                return Err(failed(format!("{image} could not be fetched within {seconds} s")));
            }
        }
        let (path, name) = (self.runs.join(plan.run_id.to_string()), engine_name(&image));
        let note = move || {
            RunDir::open_path(&path)?.write(container::IMAGE, name.as_bytes())?;
            Ok(())
        };
        blocking(note).await.map_err(|e| Unready::Later(e.to_string()))
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

    /// Images that the installation keeps, here.
    pub(crate) fn images(&self) -> &Images {
        &self.shared().images
    }

    /// Removes the containers of this agent that nothing acts for any more; how many.
    pub async fn sweep_containers(&self) -> Result<usize, EngineError> {
        let shared = self.shared();
        let is_live = |run| shared.live().contains_key(&run);
        let removed = container::sweep(&shared.engine, &shared.config.data_dir, is_live).await?;
        if shared.engine.is_installed() {
            shared.images.sweep().await?;
        }
        Ok(removed)
    }

    /// Removes versions of images that nobody needs, when workloads on this node ask for `wanted`; false
    /// when it is worth trying again soon.
    pub(crate) async fn tidy_images(&self, wanted: &[ImageRef]) -> Result<bool, EngineError> {
        let shared = self.shared();
        if !shared.engine.is_installed() {
            return Ok(true);
        }
        let Some(look) = shared.images.look().await else { return Ok(true) };
        let dirs: Vec<_> = self.live().into_iter().map(|run| self.run_dir(run)).collect();
        let given = move || Ok(dirs.iter().filter_map(|dir| given_image(dir)).collect());
        let Ok(given) = blocking(given).await else { return Ok(false) };
        shared.images.tidy(look, wanted, given).await
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
        let path = self.run_dir(run_id);
        let freeze = move || {
            freeze(Path::new(&group), is_paused)?;
            // Its cgroup may be the next run's by now.
            let is_over = has_ended(&path);
            if is_over && is_paused {
                freeze(Path::new(&group), false)?;
            }
            Ok(is_over)
        };
        match blocking(freeze).await {
            Ok(false) => Ok(()),
            Ok(true) => Err(PauseError::NotRunning(run_id)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Err(PauseError::NoFreezer(run_id)),
            Err(e) => Err(PauseError::Io(e)),
        }
    }

    /// Lets a frozen run go on, so that it can hear that it is to end.
    pub(super) async fn thaw(&self, run_id: RunId) {
        let path = self.run_dir(run_id);
        let thaw = move || {
            let Some(record) = settle::record_at(&path)? else { return Ok(()) };
            match record.cgroup.filter(|_| !record.is_container) {
                Some(group) if is_frozen(Path::new(&group)) && !has_ended(&path) => {
                    freeze(Path::new(&group), false)
                }
                _ => Ok(()),
            }
        };
        if let Err(error) = blocking(thaw).await {
            tracing::debug!(run = %run_id, %error, "run not thawed");
        }
    }
}

/// Whether a run has ended, or is even forgotten.
fn has_ended(path: &Path) -> bool {
    RunDir::open_path(path).map_or(true, |dir| dir.has(rundir::EXIT))
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
