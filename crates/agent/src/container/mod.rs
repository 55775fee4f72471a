//! Runs in containers, and the images they need, through the Docker Engine's API.
//!
//! A container run is a run like any other: it has a directory, a shim that owns its output, its
//! timeout, its stopping and its exit, and an agent that may die. Only the program that the shim starts
//! is another one: the *keeper*, our own binary again (`keeper`), as the agent's own user. It makes the
//! container, starts it, copies what it says to its own standard output and error, passes signals on,
//! waits, writes down how it ended and removes it. The engine does the rest: limits, devices, mounts,
//! network.
//!
//! What each file in the run's directory proves (`record`):
//!
//! | file | meaning |
//! |---|---|
//! | `container.image` | which image the engine is to use, where the workload's is one that Hostler keeps |
//! | `container.begun` | from here on a container may have been made; written before it is |
//! | `container.json` | it was started: which process it is |
//! | `container.seen` | how much of its output has been passed on |
//! | `container.end` | how it ended; written before the container is removed |
//!
//! What holds, whatever is killed:
//!
//! 1. *At most one start.* The name of the container is that of the run, so there cannot be two. A keeper
//!    that finds `container.begun` makes none; one that finds a container which was never started removes
//!    it and says so, as a start that is still on its way to the engine then finds nothing to start.
//! 2. *The truth at the end.* Only `container.end` ends a run in order. When the keeper is killed, the shim
//!    starts another, which goes on where the output stopped (the engine keeps a record of it, see `logs`).
//!    When the engine goes, the keeper waits for it: a container that lived on (live restore) is followed
//!    again, one that did not has its exit status.
//! 3. *Nothing stays.* When the shim has to kill, it kills the keeper and has another one end and remove
//!    the container; where the engine does not answer, that kills the container's first process itself.
//!    What still stays, because the shim was killed or the machine lost power, carries labels, and the
//!    agent removes what no shim acts for (`sweep`): at its start, when it finds a shim gone, and every
//!    minute.
//!
//! Commands beside a run and hooks run in the container too (`exec`), never on the node.
//!
//! A user says what may be said in a `WorkloadSpec`, nothing else reaches the engine: `body` makes its
//! request from a [`Plan`], and `policy` decides about mounts and privileges. Image names and container
//! names are checked before they become part of an address.

mod body;
mod engine;
mod exec;
mod image;
mod keeper;
mod life;
mod logs;
mod policy;
mod record;
mod sweep;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hostler_model::{Container, Hooks, Limits, Reservation, RunId, WorkloadSpec};
use serde::{Deserialize, Serialize};

use crate::{gpu, rundir};

pub use engine::{ContainerRow, ContainerState, Engine, EngineError};
pub use image::{Exported, ImageRow, Imported, PullProgress};
pub use keeper::Keeper;
pub(crate) use keeper::{Task, VERB};
pub(crate) use logs::split_time;
pub(crate) use record::{BEGUN, END, IMAGE, Outcome, Process};
pub(crate) use sweep::sweep;

/// Where engines usually listen.
pub const SOCKET: &str = "/var/run/docker.sock";

/// On every container of ours.
pub(crate) const LABEL_RUN: &str = "hostler.run";
/// Whose it is: the data directory of its agent.
pub(crate) const LABEL_DATA: &str = "hostler.data";

/// What an agent allows of its node's container engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerConfig {
    pub socket: PathBuf,
    /// Containers may mount these and what is below them; nothing else.
    pub mounts: Vec<PathBuf>,
    pub allow_privileged: bool,
    /// How long fetching an image may take.
    pub pull_timeout: Duration,
    /// How long versions of images that the installation keeps stay here when there are newer ones and
    /// nobody uses them.
    pub image_retention: Duration,
}

impl Default for ContainerConfig {
    fn default() -> ContainerConfig {
        ContainerConfig {
            socket: SOCKET.into(),
            mounts: Vec::new(),
            allow_privileged: false,
            pull_timeout: Duration::from_mins(30),
            image_retention: Duration::from_hours(7 * 24),
        }
    }
}

/// Everything a keeper must know, as part of the run's `spec.json`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub run_id: RunId,
    pub socket: PathBuf,
    pub labels: BTreeMap<String, String>,
    pub spec: Container,
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub workdir: Option<String>,
    pub user: Option<String>,
    pub group: Option<String>,
    pub limits: Limits,
    pub reservation: Reservation,
    pub rules: policy::Rules,
    /// The run's working directory, where files are put into it or kept of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<PathBuf>,
    /// The directory with the files of its secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<PathBuf>,
}

/// Where a container finds its run's working directory, when it has one.
pub(crate) const WORK_TARGET: &str = "/hostler/work";

/// Where a container finds the files of its secrets.
pub(crate) const SECRETS_TARGET: &str = "/run/secrets";

/// Names of devices on the node mean nothing in a container, which sees only its own. That it has none
/// means something: an image may ask for all, and some engines then give them.
fn is_for_containers(key: &str, value: &str) -> bool {
    match key {
        "CUDA_VISIBLE_DEVICES" | "CUDA_DEVICE_ORDER" => false,
        gpu::NVIDIA => value == gpu::NOTHING,
        _ => true,
    }
}

impl Plan {
    /// `None` for a workload that is no container. `about` is what Hostler adds to the environment.
    pub fn of(
        run_id: RunId,
        spec: &WorkloadSpec,
        reservation: &Reservation,
        about: BTreeMap<String, String>,
        config: &ContainerConfig,
        data_dir: &Path,
    ) -> Option<Plan> {
        let container = spec.container.clone()?;
        let mut env = spec.env.clone();
        env.extend(about.into_iter().filter(|(key, value)| is_for_containers(key, value)));
        let has_files = !spec.inputs.is_empty() || !spec.outputs.is_empty();
        let work = has_files.then(|| rundir::work_of(data_dir, run_id));
        let labels = BTreeMap::from([
            (LABEL_RUN.to_owned(), run_id.to_string()),
            (LABEL_DATA.to_owned(), data_label(data_dir)),
        ]);
        Some(Plan {
            run_id,
            socket: config.socket.clone(),
            labels,
            command: spec.argv().into_owned(),
            env,
            workdir: spec.workdir.clone().or_else(|| work.as_ref().map(|_| WORK_TARGET.to_owned())),
            work,
            secrets: None,
            user: spec.user.clone(),
            group: spec.group.clone(),
            limits: spec.limits.clone(),
            reservation: reservation.clone(),
            rules: policy::Rules {
                allowed: config.mounts.clone(),
                forbidden: vec![config.socket.clone(), SOCKET.into(), data_dir.to_owned()],
                allow_privileged: config.allow_privileged,
            },
            spec: container,
        })
    }

    /// Limits that no container engine knows, in words.
    pub fn unenforced(&self) -> Vec<String> {
        body::unenforced(&self.limits)
    }

    pub fn name(&self) -> String {
        container_name(self.run_id)
    }
}

pub(crate) fn container_name(run_id: RunId) -> String {
    format!("hostler-{run_id}")
}

/// What marks the containers of the agent with this data directory.
pub(crate) fn data_label(data_dir: &Path) -> String {
    let canonical = std::fs::canonicalize(data_dir).unwrap_or_else(|_| data_dir.to_owned());
    canonical.to_string_lossy().into_owned()
}

/// Everything that can be said against a run before the engine is asked.
pub(crate) fn check(plan: &Plan, hooks: &Hooks) -> Result<(), String> {
    let outside = [("preStart", &hooks.pre_start), ("postStop", &hooks.post_stop)];
    if let Some((name, _)) = outside.into_iter().find(|(_, hook)| hook.is_some()) {
        return Err(format!(
            "hooks of a container run inside it, so there is no {name}; use the image's entry point"
        ));
    }
    policy::mounts(plan)?;
    body::too_long(plan).map_or(Ok(()), Err)
}
