//! What the start of an agent does: compares what the ledger intended with what the runs' directories
//! say happened, and goes on from there.

use std::collections::HashSet;
use std::time::Duration;

use hostler_engine::supervise::{Finding, Local};
use hostler_model::RunId;

use super::owner::{Batch, EXAMINE_AGAIN, Owner};
use crate::ledger::Stopped;
use crate::runner::RecoveredState;

impl Owner {
    pub(super) async fn recover(&mut self) -> Result<(), Stopped> {
        let mut batch = Batch::default();
        let begun: Vec<RunId> =
            (self.state.runs()).filter(|(_, held)| !held.is_over()).map(|(run, _)| run).collect();
        let mut live = 0usize;
        for run in begun {
            live += usize::from(self.recover_one(run, &mut batch).await);
        }
        batch.touched.extend(self.state.held.keys());
        self.recover_unknown().await;
        tracing::info!(
            held = self.state.held.len(),
            live,
            applied = %self.state.applied,
            "runs recovered"
        );
        self.commit(batch).await
    }

    /// One run that the ledger knows; says whether it lives.
    async fn recover_one(&mut self, run: RunId, batch: &mut Batch) -> bool {
        let found = match self.runner.recover_one(run).await {
            Ok(Some(found)) => found,
            Ok(None) => return false,
            Err(error) => {
                tracing::error!(%run, %error, "run cannot be examined, it is tried again");
                batch.examine.push((run, EXAMINE_AGAIN));
                return false;
            }
        };
        let is_live = matches!(found, RecoveredState::Live(_));
        self.take_found(run, found, batch);
        is_live
    }

    /// What was found of a run: the engine says what is to be written. What certainly never ran is
    /// started.
    pub(super) fn take_found(&mut self, run: RunId, found: RecoveredState, batch: &mut Batch) {
        self.touch(run, batch);
        let may_start = matches!(found, RecoveredState::NeverStarted);
        if self.state.by_run(run).is_none() || self.is_disowned(run) {
            return match found {
                RecoveredState::Live(started) => self.run_runs(run, started, batch),
                RecoveredState::Exited { exit, started } => self.end(run, started, exit, batch),
                RecoveredState::NeverStarted => {}
            };
        }
        if !may_start {
            self.pending.remove(run);
        }
        let now = self.clock.now();
        match self.state.recover(run, finding(found), &self.boot_id, now) {
            Some(record) => self.note(record, batch),
            None if may_start && self.is_starting(run) => {
                self.pending.insert(run);
                self.starts.queue(run);
            }
            None => {}
        }
    }

    fn is_starting(&self, run: RunId) -> bool {
        let held = self.state.by_run(run);
        held.is_some_and(|held| matches!(held.local, Local::Starting { .. }))
    }

    /// Directories of runs that the ledger does not know, or knows to be over.
    async fn recover_unknown(&mut self) {
        let found = match self.runner.recover().await {
            Ok(found) => found,
            Err(error) => {
                tracing::error!(%error, "runs directory cannot be read, old runs are not cleared away");
                return;
            }
        };
        let held: HashSet<RunId> = self.state.runs().map(|(run, _)| run).collect();
        for recovered in found {
            let run = recovered.run_id;
            if held.contains(&run) {
                continue;
            }
            match recovered.state {
                RecoveredState::Live(started) => {
                    tracing::warn!(%run, pid = started.pid, "run lives that the ledger does not know");
                    self.take_in(run, recovered.placement_id, started);
                }
                RecoveredState::Exited { exit, .. } => self.retention.keep(run, exit.time),
                RecoveredState::NeverStarted => {
                    let now = self.clock.now();
                    self.retention.keep(run, now.minus(Duration::from_hours(1)));
                }
            }
        }
    }
}

fn finding(found: RecoveredState) -> Finding {
    match found {
        RecoveredState::Live(started) => Finding::Live { pid: started.pid, since: started.time },
        RecoveredState::Exited { exit, started } => {
            let (started, pid) = started.map(|s| (s.time, s.pid)).unzip();
            Finding::Exited { started, pid, exit }
        }
        RecoveredState::NeverStarted => Finding::NeverStarted,
    }
}
