//! Which step of a workflow a process is.

use hostler_model::{PlacementId, RunId};

use super::{Runner, STEP, Shared, blocking, usage};
use crate::proc;
use crate::rundir::{self, Request, RunDir};

impl Runner {
    /// The live run whose program this very process is, where it is a step of a workflow, and its placement.
    pub(crate) async fn step_of(&self, pid: u32) -> Option<(RunId, PlacementId)> {
        let (shared, live) = (self.shared().clone(), self.live());
        blocking(move || Ok(live.into_iter().find_map(|run| step(&shared, run, pid)))).await.ok()?
    }

    /// Whether it is in the environment of a run that is being started: its record comes in a moment.
    pub(crate) async fn is_starting(&self, pid: u32) -> bool {
        let (shared, live) = (self.shared().clone(), self.live());
        let is_new =
            move |run: RunId| usage::record_of(&shared, run).is_none() && proc::is_marked(pid, run);
        blocking(move || Ok(live.into_iter().any(is_new))).await.unwrap_or_default()
    }
}

fn step(shared: &Shared, run: RunId, pid: u32) -> Option<(RunId, PlacementId)> {
    let record = usage::record_of(shared, run).filter(|record| record.pid == pid)?;
    // A number that another process has by now is not it.
    let stat = proc::stat(pid).filter(|stat| stat.start_ticks == record.start_ticks)?;
    if stat.state == 'Z' || record.is_container {
        return None;
    }
    let dir = RunDir::open_path(&shared.runs.join(run.to_string())).ok()?;
    let request: Request = dir.read_json(rundir::SPEC).ok().flatten()?;
    let placement = request.placement_id?;
    (request.argv == argv()).then_some((run, placement))
}

/// What steps are started with.
pub(super) fn argv() -> Vec<String> {
    vec!["/proc/self/exe".to_owned(), STEP.to_owned()]
}
