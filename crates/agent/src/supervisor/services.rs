//! What is special about services: times at which they are to be looked at again, those that wait for
//! others, how they stand, commands from the node itself, and runs found without a ledger.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use hostler_engine::schedule::node_salt;
use hostler_engine::supervise::{Command, Moment, Record, Volatile};
use hostler_model::{
    Generation, Phase, PlacementId, PlacementStatus, RunCause, RunId, StatusReport,
};

use super::StatusAck;
use super::board::ServiceView;
use super::owner::{Batch, Owner};
use crate::health::{Action as HealthAction, Health, HealthEvent};
use crate::runner::Started;
use crate::zone;

/// However far the next time is, the wall's clock is looked at this often: it may be set.
const LONGEST_WAKE: Duration = Duration::from_secs(30);
/// How long after the first wishes a run that no ledger knew waits to be heard of.
const FOUNDLING_PATIENCE: Duration = Duration::from_secs(60);

/// When which placement is to be looked at.
#[derive(Default)]
pub(super) struct Wakes {
    by_time: BTreeSet<(Duration, PlacementId)>,
    of: HashMap<PlacementId, Duration>,
}

impl Wakes {
    fn set(&mut self, placement: PlacementId, at: Option<Duration>) {
        if let Some(old) = self.of.remove(&placement) {
            self.by_time.remove(&(old, placement));
        }
        if let Some(at) = at {
            self.of.insert(placement, at);
            self.by_time.insert((at, placement));
        }
    }

    pub fn next(&self) -> Option<Duration> {
        self.by_time.first().map(|(at, _)| *at)
    }

    pub fn take_due(&mut self, now: Duration) -> Vec<PlacementId> {
        let mut due = Vec::new();
        while let Some((at, placement)) = self.by_time.first().copied()
            && at <= now
        {
            self.set(placement, None);
            due.push(placement);
        }
        due
    }
}

/// What the owner knows of services besides its state.
#[derive(Default)]
pub(super) struct Services {
    pub wakes: Wakes,
    /// Those that depend on others.
    dependents: BTreeSet<PlacementId>,
    /// How they stood when that was last told.
    told: HashMap<PlacementId, (Generation, PlacementStatus)>,
    numbers: u64,
    /// Runs that are stopped because their checks failed, and why.
    pub condemned: HashMap<RunId, String>,
    /// Runs that live and that no ledger knows, with the placement they say they belong to.
    foundlings: HashMap<RunId, (Option<PlacementId>, Started)>,
    /// When those that are still unknown are given up.
    give_up_at: Option<Duration>,
}

impl Owner {
    pub(super) fn moment(&self) -> Moment<'_> {
        Moment {
            wall: self.clock.now(),
            mono: self.clock.instant(),
            boot_id: &self.boot_id,
            fresh_run: self.ids.fresh(),
        }
    }

    /// Those that depend on others are looked at whenever anything else about services changes.
    pub(super) fn touch_dependents(&mut self, batch: &mut Batch) {
        let is_service = |placement: &PlacementId| {
            self.state.held.get(placement).is_some_and(|held| held.service.is_some())
        };
        if !self.services.dependents.is_empty() && batch.touched.iter().any(is_service) {
            batch.touched.extend(&self.services.dependents);
        }
    }

    /// After everything was decided for a placement: when to look again, and what to tell.
    pub(super) fn settle_service(&mut self, placement: PlacementId, batch: &mut Batch) {
        let Some(held) = self.state.held.get(&placement) else {
            self.forget_service(placement);
            return;
        };
        if held.service.is_none() {
            return;
        }
        let now = self.moment();
        let wake = self.state.wake_in(held, now, &self.volatile);
        let at = wake.map(|wait| now.mono + wait.min(LONGEST_WAKE));
        match held.assignment.spec.depends.is_empty() {
            true => self.services.dependents.remove(&placement),
            false => self.services.dependents.insert(placement),
        };
        self.services.wakes.set(placement, at);
        batch.settled.insert(placement);
    }

    fn forget_service(&mut self, placement: PlacementId) {
        self.services.wakes.set(placement, None);
        self.services.dependents.remove(&placement);
        self.services.told.remove(&placement);
        self.volatile.forget(placement);
        self.runner.forget_secrets(placement);
        self.board.put(placement, None);
    }

    /// Puts on the board, and into the outbox, how services stand now that this is durable.
    pub(super) fn tell_statuses(&mut self, placements: impl IntoIterator<Item = PlacementId>) {
        let mut reports = Vec::new();
        for placement in placements {
            let Some(held) = self.state.held.get(&placement) else {
                self.forget_service(placement);
                continue;
            };
            let Some(view) = ServiceView::of(&self.state, held, &self.volatile) else { continue };
            let status = view.status.clone();
            self.board.put(placement, Some(view));
            let told = self.services.told.get(&placement);
            if told.is_none_or(|(_, told)| *told != status) {
                reports.push(self.numbered(placement, status));
            }
        }
        if !self.is_alone {
            self.outbox.put_statuses(reports);
        }
    }

    /// Numbers grow within a session, and sessions' own numbers are larger than any before.
    fn numbered(&mut self, placement: PlacementId, status: PlacementStatus) -> StatusReport {
        self.services.numbers += 1;
        let epoch = self.state.session_epoch.get();
        let generation = Generation::from_u64((epoch << 24).saturating_add(self.services.numbers));
        self.services.told.insert(placement, (generation, status.clone()));
        StatusReport { placement_id: placement, generation, status }
    }

    /// How everything stands, for a session that begins.
    pub(super) fn all_statuses(&mut self) -> Vec<StatusReport> {
        let told: Vec<_> =
            self.services.told.iter().map(|(id, (_, status))| (*id, status.clone())).collect();
        told.into_iter().map(|(placement, status)| self.numbered(placement, status)).collect()
    }

    /// The server knows how a placement stands. What was removed is forgotten then.
    pub(super) fn take_status_ack(&mut self, ack: StatusAck, batch: &mut Batch) {
        let StatusAck { placement, generation, is_unknown } = ack;
        let Some(held) = self.state.held.get(&placement) else { return };
        let is_removed =
            self.services.told.get(&placement).is_some_and(|(told, status)| {
                *told <= generation && status.phase == Phase::Removed
            }) && self.state.phase(held, &self.volatile) == Phase::Removed;
        let live: Vec<RunId> = self.state.live(held).map(|(run, _)| run).collect();
        match (is_removed, is_unknown, live.is_empty()) {
            (true, _, _) | (false, true, true) => self.note(Record::Forgotten { placement }, batch),
            (false, true, false) => {
                tracing::warn!(%placement, "server does not know a workload of this node, it is given up");
                for run in live {
                    self.disown(run, batch);
                }
            }
            (false, false, _) => {}
        }
        batch.touched.push(placement);
    }

    /// Alone, nobody has to be told before something removed is forgotten.
    pub(super) fn forget_removed(&mut self, placement: PlacementId, batch: &mut Batch) {
        let is_removed = self.state.held.get(&placement).is_some_and(|held| {
            held.service.is_some() && self.state.phase(held, &self.volatile) == Phase::Removed
        });
        if self.is_alone && is_removed {
            self.note(Record::Forgotten { placement }, batch);
        }
    }

    pub(super) fn take_command(
        &mut self,
        placement: PlacementId,
        command: Command,
        batch: &mut Batch,
    ) -> bool {
        let is_service = self.state.held.get(&placement).is_some_and(|held| held.service.is_some());
        if is_service {
            self.note(Record::Commanded { placement, command }, batch);
            batch.touched.push(placement);
        }
        is_service
    }

    pub(super) fn take_health(&mut self, event: HealthEvent, batch: &mut Batch) {
        let HealthEvent { run, health, action } = event;
        let Some(held) = self.state.by_run(run) else { return };
        if held.is_over() {
            return;
        }
        let placement = held.placement;
        let known = health.known();
        let why = match health {
            Health::Healthy => None,
            Health::Unhealthy { check, why } => Some(format!("{check}: {why}")),
        };
        let reason = why.clone().unwrap_or_default();
        if self.state.note_health(run, known, why, &mut self.volatile) {
            batch.touched.push(placement);
        }
        match action {
            Some(HealthAction::Restart) => {
                self.services.condemned.insert(run, reason);
                let (signal, grace) = self.stop_policy(run);
                batch.stops.push((run, signal, grace));
            }
            Some(HealthAction::Hook(command)) => self.run_hook(run, command),
            None => {}
        }
    }

    /// A run was found that no ledger knows: it waits for its placement to be heard of.
    pub(super) fn take_in(&mut self, run: RunId, placement: Option<PlacementId>, started: Started) {
        self.services.foundlings.insert(run, (placement, started));
    }

    /// The run that was found for a placement becomes its run again, instead of a new one.
    pub(super) fn adopt(&mut self, placement: PlacementId, batch: &mut Batch) {
        if self.services.foundlings.is_empty() {
            return;
        }
        let Some(held) = self.state.held.get(&placement) else { return };
        let foundlings = &self.services.foundlings;
        let found = match held.assignment.run_id {
            Some(run) => foundlings.contains_key(&run).then_some(run),
            None => foundlings
                .iter()
                .find(|(_, (claimed, _))| *claimed == Some(placement))
                .map(|(run, _)| *run),
        };
        let Some(run) = found else { return };
        let boot_id = self.boot_id.clone();
        let begun = match held.assignment.run_id {
            Some(_) => Record::Starting { run, boot_id },
            None => {
                Record::Launched { placement, run, boot_id, cause: RunCause::Start, fired: None }
            }
        };
        let Some((_, started)) = self.services.foundlings.remove(&run) else { return };
        tracing::info!(%run, %placement, pid = started.pid, "run that no ledger knew is adopted");
        self.note(begun, batch);
        if let Some(record) = self.state.running_record(run, started.pid, started.time) {
            self.note(record, batch);
        }
    }

    /// Wishes have come: soon everything that should be here has been heard of.
    pub(super) fn expect_foundlings(&mut self) {
        if !self.services.foundlings.is_empty() {
            self.services.give_up_at.get_or_insert(self.clock.instant() + FOUNDLING_PATIENCE);
        }
    }

    /// What was found and is still not known to anybody is stopped.
    pub(super) fn give_up_foundlings(&mut self, batch: &mut Batch) {
        if self.services.give_up_at.is_none_or(|at| at > self.clock.instant()) {
            return;
        }
        self.services.give_up_at = None;
        for (run, (_, started)) in std::mem::take(&mut self.services.foundlings) {
            tracing::warn!(%run, pid = started.pid, "run lives that nobody knows, it is stopped");
            let (signal, grace) = self.stop_policy(run);
            batch.stops.push((run, signal, grace));
        }
    }

    /// Placements whose time has come.
    pub(super) fn take_due(&mut self, batch: &mut Batch) {
        let now = self.clock.instant();
        batch.touched.extend(self.services.wakes.take_due(now));
    }

    /// Waits of a node differ from those of others.
    pub(super) fn salted(node: &hostler_model::NodeId) -> Volatile {
        Volatile::new(node_salt(*node), zone::local())
    }
}
