//! Ending what nobody keeps any more.

use std::os::fd::AsFd;
use std::path::Path;

use hostler_model::RunId;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::data_label;
use super::engine::{Engine, EngineError};
use super::record::Process;
use crate::rundir::{self, RunDir};

/// Removes the containers of this agent that no shim acts for; how many. A container is made by a keeper,
/// and a keeper has a shim, so one that was listed and has none will never have one again.
pub(crate) async fn sweep(
    engine: &Engine,
    data_dir: &Path,
    is_live: impl Fn(RunId) -> bool,
) -> Result<usize, EngineError> {
    if !engine.is_installed() {
        return Ok(0);
    }
    let mut removed = 0;
    for row in engine.own_containers(&data_label(data_dir)).await? {
        if row.run_id.is_some_and(|run| is_live(run) || has_shim(data_dir, run)) {
            continue;
        }
        engine.remove_container(&row.id).await?;
        tracing::info!(container = %row.name, state = %row.state, "left container removed");
        removed += 1;
    }
    Ok(removed)
}

fn has_shim(data_dir: &Path, run: RunId) -> bool {
    let path = data_dir.join(rundir::RUNS).join(run.to_string());
    RunDir::open_path(&path).is_ok_and(|dir| matches!(dir.try_lock(), Ok(false)))
}

/// Signals a process on this node, if it is still the very one.
pub fn signal_directly(process: Process, signal: i32) {
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
    let pidfd = pid.and_then(|pid| rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok());
    if let (Some(pidfd), Some(signal)) = (pidfd, Signal::from_named_raw(signal))
        && rundir::start_ticks(process.pid) == Some(process.start_ticks)
    {
        let _ = rustix::process::pidfd_send_signal(pidfd.as_fd(), signal);
    }
}
