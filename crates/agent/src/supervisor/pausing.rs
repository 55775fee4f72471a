//! Freezing runs and letting them go on, one request at a time for each run.
//!
//! That a run is to be frozen is in the ledger before its driver is asked (`Record::Freezing`), and that it
//! is frozen, or goes on, once the driver has said so. A request that failed is not repeated before the
//! wish changes: what cannot be frozen here will not be a moment later either. A new agent tries again.

use std::collections::HashMap;

use hostler_base::chain;
use hostler_model::{Generation, RunId};

use super::owner::{Batch, Done, Owner};
use crate::runner::PauseError;

/// What was asked of the driver and has not succeeded.
#[derive(Default)]
pub(super) struct Pauses(HashMap<RunId, Asked>);

struct Asked {
    /// Of the assignment that it was asked for.
    generation: Generation,
    is_under_way: bool,
}

impl Pauses {
    pub(super) fn forget(&mut self, run: RunId) {
        self.0.remove(&run);
    }
}

impl Owner {
    pub(super) fn want_frozen(&mut self, run: RunId, is_frozen: bool, batch: &mut Batch) {
        let Some(held) = self.state.placement_of(run) else { return };
        let generation = held.assignment.generation;
        let known = self.pauses.0.get(&run);
        if known.is_some_and(|asked| asked.is_under_way || asked.generation >= generation) {
            return;
        }
        self.pauses.0.insert(run, Asked { generation, is_under_way: true });
        batch.pauses.push((run, is_frozen));
    }

    pub(super) fn ask_to_freeze(&self, run: RunId, is_frozen: bool) {
        let runner = self.runner.clone();
        self.jobs.push(Box::pin(async move {
            Done::Frozen(run, is_frozen, runner.pause(run, is_frozen).await)
        }));
    }

    pub(super) fn take_frozen(
        &mut self,
        run: RunId,
        is_frozen: bool,
        outcome: Result<(), PauseError>,
        batch: &mut Batch,
    ) {
        match outcome {
            Ok(()) => {
                self.pauses.forget(run);
                if let Some(record) = self.state.frozen_record(run, is_frozen) {
                    self.note(record, batch);
                }
            }
            Err(error) => {
                tracing::warn!(%run, is_frozen, error = %chain(&error), "run not frozen or thawed");
                if let Some(asked) = self.pauses.0.get_mut(&run) {
                    asked.is_under_way = false;
                }
            }
        }
        self.touch(run, batch);
    }
}
