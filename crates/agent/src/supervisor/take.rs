//! What each kind of event means for the state: which records follow from it, and what is to be done
//! once they are durable. Nothing here waits or touches the world.

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use hostler_base::chain;
use hostler_engine::supervise::{Acceptance, HeldRun, Local, Record};
use hostler_model::{
    Desired, Exit, ExitReason, Generation, ImageRef, RunId, Span, StopSignal, Timestamp,
};
use tokio::sync::oneshot;

use super::owner::{Batch, EXAMINE_AGAIN, Owner};
use super::starts::Verdict;
use super::{Ack, Opening, Taken, Wishes};
use crate::runner::{RecoveredState, StartError, Started};

impl Owner {
    pub(super) fn take_wishes(
        &mut self,
        wishes: Wishes,
        reply: oneshot::Sender<Taken>,
        batch: &mut Batch,
    ) {
        let Wishes { from, to, assignments, unreadable } = wishes;
        let all = assignments
            .into_iter()
            .chain(unreadable.iter().map(|bad| bad.assignment.clone()))
            .collect();
        let taken = match self.state.judge(from, to, all) {
            Acceptance::Gap => Taken::Gap,
            Acceptance::Known => Taken::Durable(self.state.applied),
            Acceptance::Write(record) => {
                if let Record::Accepted { assignments, .. } = &record {
                    let placements = assignments.iter().map(|one| one.placement_id);
                    batch.touched.extend(placements);
                }
                self.note(record, batch);
                self.expect_foundlings();
                for bad in unreadable {
                    let Some(run) = bad.assignment.run_id else { continue };
                    let is_waiting =
                        self.state.by_run(run).is_some_and(|held| held.local == Local::Waiting);
                    if is_waiting {
                        let exit = self.start_failed(format!(
                            "this node's agent ({}) cannot understand the spec, upgrade it: {}",
                            env!("CARGO_PKG_VERSION"),
                            bad.problem
                        ));
                        self.end(run, None, exit, batch);
                    }
                }
                Taken::Durable(self.state.applied)
            }
        };
        batch.taken.push((reply, taken));
    }

    pub(super) fn take_ack(&mut self, ack: Ack, batch: &mut Batch) {
        let Some(held) = self.state.by_run(ack.run) else {
            return;
        };
        let placement = held.placement;
        if ack.is_unknown {
            tracing::warn!(run = %ack.run, "server does not know a run of this node, it is given up");
            self.disown(ack.run, batch);
            return;
        }
        if ack.generation <= held.acknowledged {
            return;
        }
        let record = Record::Acknowledged { run: ack.run, generation: ack.generation };
        self.state.apply(&record);
        batch.touched.push(placement);
        let is_forgotten_next = self.state.is_over_and_told(ack.run);
        if !is_forgotten_next {
            batch.records.push(record);
        }
    }

    /// The server has no such run: what lives of it is stopped, and then nothing is held of it.
    pub(super) fn disown(&mut self, run: RunId, batch: &mut Batch) {
        let Some(held) = self.state.by_run(run) else {
            return;
        };
        let is_over = matches!(held.local, Local::Exited { .. } | Local::Waiting);
        let gone = gone(run, held);
        if is_over || self.starts.withdraw(run) {
            self.note(gone, batch);
        } else {
            self.disowned.insert(run);
            self.want_stop(run, batch);
        }
    }

    pub(super) fn take_session(&mut self, reply: oneshot::Sender<Opening>, batch: &mut Batch) {
        let seconds = self.clock.now().since(Timestamp::EPOCH).as_secs();
        let epoch = (self.state.session_epoch.next()).max(Generation::from_u64(seconds));
        self.note(Record::Session { epoch }, batch);
        batch.opened.push(reply);
    }

    /// Which images that the installation keeps are asked for here.
    pub(super) fn images_wanted(&self) -> Vec<ImageRef> {
        let held = self.state.held.values().map(|held| &held.assignment);
        let staying = held.filter(|assignment| assignment.desired != Desired::Remove);
        let asked = staying.filter_map(|one| Some(one.spec.container.as_ref()?.image.as_str()));
        let distinct: HashSet<&str> = asked.collect();
        distinct.into_iter().filter_map(|image| ImageRef::of_spec(image)?.ok()).collect()
    }

    pub(super) fn take_start(
        &mut self,
        run: RunId,
        outcome: Result<Started, StartError>,
        batch: &mut Batch,
    ) {
        let error = match outcome {
            Ok(started) => {
                self.starts.done(run);
                self.pending.remove(run);
                return self.run_runs(run, started, batch);
            }
            Err(StartError::Failed { exit }) => {
                self.starts.done(run);
                return self.end(run, None, exit, batch);
            }
            Err(error) => error,
        };
        match self.starts.failed(run, &error) {
            Verdict::Examine => batch.examine.push((run, Duration::ZERO)),
            Verdict::TryAgain(delay) => {
                tracing::warn!(%run, error = %chain(&error), retry_in = ?delay, "start did not succeed");
                batch.delays.push((run, delay));
                let held = self.state.by_run(run).filter(|held| held.origin.is_some());
                if let Some(placement) = held.map(|held| held.placement) {
                    self.volatile.of(placement).lacking = match error {
                        StartError::Lacking(why) => Some(why),
                        _ => None,
                    };
                }
                self.touch(run, batch);
            }
            Verdict::GiveUp => {
                let exit = self.start_failed(chain(&error).to_string());
                self.end(run, None, exit, batch);
            }
            Verdict::Leave => {}
        }
    }

    /// The run was seen to run. Not worth a record when its end is already here.
    pub(super) fn run_runs(&mut self, run: RunId, started: Started, batch: &mut Batch) {
        let Some(held) = self.state.by_run(run) else {
            tracing::warn!(%run, "run lives that is not held, it is stopped");
            batch.stops.push((run, StopSignal::Term, Span::from_secs(10)));
            return;
        };
        let placement = held.placement;
        batch.touched.push(placement);
        if held.origin.is_some() {
            let vitals = self.volatile.of(placement);
            vitals.unenforced.clone_from(&started.unenforced);
            vitals.lacking = None;
            vitals.memory_warning = None;
        }
        if self.disowned.contains(&run) {
            return self.want_stop(run, batch);
        }
        let is_news = matches!(held.local, Local::Waiting | Local::Starting { .. });
        if is_news
            && !batch.ended.contains(&run)
            && let Some(record) = self.state.running_record(run, started.pid, started.time)
        {
            self.note(record, batch);
        }
    }

    pub(super) fn take_finding(
        &mut self,
        run: RunId,
        found: io::Result<Option<RecoveredState>>,
        batch: &mut Batch,
    ) {
        match found {
            Ok(Some(found)) => self.take_found(run, found, batch),
            Ok(None) if self.runner.live().contains(&run) => {}
            Ok(None) => batch.examine.push((run, EXAMINE_AGAIN)),
            Err(error) => {
                tracing::error!(%run, %error, "run cannot be examined, it is tried again");
                batch.examine.push((run, EXAMINE_AGAIN));
            }
        }
    }

    /// The run is over.
    pub(super) fn end(
        &mut self,
        run: RunId,
        started: Option<Started>,
        exit: Exit,
        batch: &mut Batch,
    ) {
        self.pending.remove(run);
        let Some(held) = self.state.by_run(run) else {
            self.retention.keep(run, exit.time);
            return;
        };
        if matches!(held.local, Local::Exited { .. }) {
            return;
        }
        let placement = held.placement;
        if self.disowned.contains(&run) {
            let gone = gone(run, held);
            return self.note(gone, batch);
        }
        batch.touched.push(placement);
        self.end_checks(run);
        let exit = match self.services.condemned.remove(&run) {
            Some(why) if exit.reason == ExitReason::Stopped => {
                Exit { reason: ExitReason::Unhealthy, message: Some(why), ..exit }
            }
            _ => exit,
        };
        let (time, pid) = started.map(|s| (s.time, s.pid)).unzip();
        if let Some(record) = self.state.exit_record(run, time, pid, exit) {
            self.note(record, batch);
        }
    }

    pub(super) fn start_failed(&self, message: String) -> Exit {
        Exit {
            reason: ExitReason::StartFailed,
            code: None,
            signal: None,
            message: Some(message),
            time: self.clock.now(),
        }
    }
}

/// The record that ends what is held of a run: of a task with its placement, of a service alone.
fn gone(run: RunId, held: &HeldRun) -> Record {
    match held.origin {
        None => Record::Forgotten { placement: held.placement },
        Some(_) => Record::Dropped { run, is_untold: false },
    }
}
