//! Supervision: everything an agent decides, as a state folded from its ledger.
//!
//! The agent writes a [`Record`] to its ledger before it acts on it, and folds the same record into
//! its [`AgentState`]; after a crash it folds them again and is where it was. The simulated agents of
//! the tests use this very code.
//!
//! A placement is either a task, whose one run the control plane made (`task`), or a *service*, whose
//! runs the agent makes itself as the workload's mode, schedule and restart policy say (`service`,
//! `mode`). Both share how a run lives: a [`HeldRun`] and what is folded into it.
//!
//! What keeps a run from happening twice: a run begins with [`Record::Starting`] or
//! [`Record::Launched`], which name the present boot. The driver can tell whether the program was ever
//! executed (its `started` mark is written before the program is released). So after a crash: executed
//! and alive is re-attached; executed and gone has its exit status on disk, or has vanished with its
//! supervisor or machine; not executed in this boot may be started; begun in an earlier boot is never
//! started again.
//!
//! What must not be written down, because it would cost a write each time and is found out again
//! anyway, is [`Volatile`]: when a restart is due, what the health checks say. A new agent waits the
//! full delay again and asks the checks again.

mod mode;
mod recover;
mod service;
mod status;
mod task;
#[cfg(test)]
mod tests;
mod volatile;

pub use mode::{is_complete, restart_delay, should_restart};
pub use recover::Finding;
pub use service::{Past, Service};
pub use volatile::{Moment, Vitals, Volatile};

use std::collections::BTreeMap;

use hostler_model::{
    Assignment, Desired, Exit, Generation, Origin, PlacementId, Report, ReportState, RunCause,
    RunId, Timestamp,
};
use serde::{Deserialize, Serialize};

use crate::schedule::FireLog;

/// What the ledger holds, one change each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// The wishes for this node up to a generation.
    Accepted { generation: Generation, assignments: Vec<Assignment> },
    /// The run of a task is about to be handed to the driver.
    Starting { run: RunId, boot_id: String },
    /// A run was made for a service and is about to be handed to the driver.
    Launched {
        placement: PlacementId,
        run: RunId,
        boot_id: String,
        cause: RunCause,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fired: Option<Fired>,
    },
    /// The schedule has handled times without a run.
    Fired { placement: PlacementId, fires: FireLog, missed: u64 },
    /// Somebody on the node itself asked for this.
    Commanded { placement: PlacementId, command: Command },
    /// It failed too often; it is left alone until somebody asks.
    GaveUp { placement: PlacementId, why: String },
    /// The run of a task is about to be frozen.
    Freezing { run: RunId },
    /// The run's state as it was seen; numbered for the report.
    Observed { run: RunId, generation: Generation, state: ReportState },
    /// The server has the report.
    Acknowledged { run: RunId, generation: Generation },
    /// Nothing is held of a service's run any more but its line in the history.
    Dropped { run: RunId, is_untold: bool },
    /// Nothing is held of this placement any more.
    Forgotten { placement: PlacementId },
    /// A session was opened with this number.
    Session { epoch: Generation },
    /// All that is held of a placement: what the records about it come to.
    Restored { held: Box<Held>, runs: Vec<(RunId, HeldRun)> },
}

/// The time a run is made for, and what its schedule has handled with that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fired {
    pub fire: Timestamp,
    pub fires: FireLog,
    /// Times that were left out before it.
    pub missed: u64,
}

/// What somebody on the node can ask of a service. It holds until its assignment changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    Start,
    Stop,
    Restart,
}

/// Where a run stands on this node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "local", rename_all = "kebab-case")]
pub enum Local {
    Waiting,
    Starting {
        boot_id: String,
    },
    Running {
        pid: u32,
        since: Timestamp,
    },
    /// Frozen; `since` is when it was started.
    Paused {
        pid: u32,
        since: Timestamp,
    },
    Exited {
        started: Option<Timestamp>,
        pid: Option<u32>,
        exit: Exit,
    },
}

/// One run of a placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeldRun {
    pub placement: PlacementId,
    pub local: Local,
    /// Of the newest observation.
    pub report_generation: Generation,
    pub acknowledged: Generation,
    /// Absent for the run of a task.
    pub origin: Option<Origin>,
    /// Of its service, when it was made.
    round: u64,
    /// It was, or was about to be, frozen, and was not seen to run since.
    #[serde(default)]
    may_be_frozen: bool,
}

impl HeldRun {
    pub fn is_over(&self) -> bool {
        matches!(self.local, Local::Exited { .. })
    }

    /// The end is known, here and to the server.
    fn is_done(&self) -> bool {
        self.is_over() && self.acknowledged >= self.report_generation
    }

    /// What is to be said of it; `None` before there is anything.
    pub fn report(&self, run_id: RunId) -> Option<Report> {
        let state = match &self.local {
            Local::Waiting | Local::Starting { .. } => return None,
            Local::Running { pid, since } => ReportState::Running { pid: *pid, since: *since },
            Local::Paused { pid, since } => ReportState::Paused { pid: *pid, since: *since },
            Local::Exited { started, pid, exit } => {
                ReportState::Exited { started: *started, pid: *pid, exit: exit.clone() }
            }
        };
        Some(Report {
            run_id,
            placement_id: self.placement,
            generation: self.report_generation,
            state,
            origin: self.origin,
        })
    }
}

/// One placement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    pub assignment: Assignment,
    /// Runs that are not forgotten yet, oldest first.
    pub runs: Vec<RunId>,
    /// Absent for a task.
    pub service: Option<Box<Service>>,
}

/// What the performer is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Write this record, then hand the run to the driver.
    Start { run: RunId, record: Record },
    /// Ask the driver to stop these runs.
    Stop { runs: Vec<RunId> },
    /// Ask the driver to freeze a run, and note that it is paused.
    Freeze { run: RunId },
    /// Ask the driver to let a frozen run go on, and note that it runs.
    Thaw { run: RunId },
    /// Write this record; nothing else is needed.
    Write(Record),
}

/// Whether to take what the server sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Acceptance {
    /// Write this record, then look for actions.
    Write(Record),
    /// Already known.
    Known,
    /// Something before it is missing: open a new session, which says where this node stands.
    Gap,
}

/// The agent's whole durable state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentState {
    pub applied: Generation,
    pub session_epoch: Generation,
    pub held: BTreeMap<PlacementId, Held>,
    runs: BTreeMap<RunId, HeldRun>,
}

impl AgentState {
    /// Folds a record in. Records that no longer apply are ignored, so folding is idempotent.
    pub fn apply(&mut self, record: &Record) {
        match record {
            Record::Accepted { generation, assignments } => {
                self.applied = self.applied.max(*generation);
                for assignment in assignments {
                    self.accept_one(assignment);
                }
            }
            Record::Starting { run, boot_id } => {
                if let Some(held) = self.runs.get_mut(run)
                    && matches!(held.local, Local::Waiting | Local::Starting { .. })
                {
                    held.local = Local::Starting { boot_id: boot_id.clone() };
                }
            }
            Record::Launched { placement, run, boot_id, cause, fired } => {
                if self.runs.contains_key(run) {
                    return;
                }
                let Some(held) = self.held.get_mut(placement) else { return };
                let revision = held.assignment.revision;
                let Some(service) = &mut held.service else { return };
                let number = service.launch(*cause, fired.as_ref());
                let fire = fired.as_ref().map(|fired| fired.fire);
                held.runs.push(*run);
                let origin = Origin { number, cause: *cause, fire, revision };
                let launched = HeldRun {
                    placement: *placement,
                    local: Local::Starting { boot_id: boot_id.clone() },
                    report_generation: Generation::ZERO,
                    acknowledged: Generation::ZERO,
                    origin: Some(origin),
                    round: service.round,
                    may_be_frozen: false,
                };
                self.runs.insert(*run, launched);
            }
            Record::Freezing { run } => {
                if let Some(held) = self.runs.get_mut(run) {
                    held.may_be_frozen = true;
                }
            }
            Record::Observed { run, generation, state } => self.observe(*run, *generation, state),
            Record::Acknowledged { run, generation } => {
                if let Some(held) = self.runs.get_mut(run) {
                    held.acknowledged = held.acknowledged.max(*generation);
                }
            }
            Record::Dropped { run, is_untold } => {
                if let Some(gone) = self.runs.remove(run)
                    && let Some(held) = self.held.get_mut(&gone.placement)
                {
                    held.runs.retain(|other| other != run);
                    if let (true, Some(service)) = (is_untold, &mut held.service) {
                        service.untold += 1;
                    }
                }
            }
            Record::Forgotten { placement } => {
                for run in self.held.remove(placement).into_iter().flat_map(|held| held.runs) {
                    self.runs.remove(&run);
                }
            }
            Record::Session { epoch } => self.session_epoch = self.session_epoch.max(*epoch),
            Record::Restored { held, runs } => {
                let placement = held.assignment.placement_id;
                for run in
                    self.held.insert(placement, (**held).clone()).into_iter().flat_map(|h| h.runs)
                {
                    self.runs.remove(&run);
                }
                self.runs.extend(runs.iter().cloned());
            }
            Record::Commanded { placement, command: Command::Start } => self.start(*placement),
            Record::Fired { placement, .. }
            | Record::Commanded { placement, .. }
            | Record::GaveUp { placement, .. } => {
                let service = self.held.get_mut(placement).and_then(|held| held.service.as_mut());
                if let Some(service) = service {
                    service.apply(record);
                }
            }
        }
    }

    fn accept_one(&mut self, assignment: &Assignment) {
        match self.held.get_mut(&assignment.placement_id) {
            Some(held) => {
                if assignment.generation > held.assignment.generation {
                    if let Some(service) = &mut held.service {
                        service.change(&held.assignment, assignment);
                    }
                    held.assignment = assignment.clone();
                }
            }
            None => {
                let service = assignment.run_id.is_none().then(Box::<Service>::default);
                let runs = assignment.run_id.into_iter().collect();
                if let Some(run) = assignment.run_id {
                    let waiting = HeldRun {
                        placement: assignment.placement_id,
                        local: Local::Waiting,
                        report_generation: Generation::ZERO,
                        acknowledged: Generation::ZERO,
                        origin: None,
                        round: 0,
                        may_be_frozen: false,
                    };
                    self.runs.insert(run, waiting);
                }
                let held = Held { assignment: assignment.clone(), runs, service };
                self.held.insert(assignment.placement_id, held);
            }
        }
    }

    fn start(&mut self, placement: PlacementId) {
        let Some(held) = self.held.get_mut(&placement) else { return };
        let Some(service) = &mut held.service else { return };
        let runs = held.runs.iter().filter_map(|id| self.runs.get(id));
        let is_live = runs.filter(|run| run.round == service.round).any(|run| !run.is_over());
        service.start(&held.assignment.spec.mode, is_live);
    }

    fn observe(&mut self, id: RunId, generation: Generation, state: &ReportState) {
        let Some(run) = self.runs.get_mut(&id) else { return };
        if generation <= run.report_generation || run.is_over() {
            return;
        }
        run.report_generation = generation;
        run.may_be_frozen = matches!(state, ReportState::Paused { .. });
        run.local = match state {
            ReportState::Running { pid, since } => Local::Running { pid: *pid, since: *since },
            ReportState::Paused { pid, since } => Local::Paused { pid: *pid, since: *since },
            ReportState::Exited { started, pid, exit } => {
                Local::Exited { started: *started, pid: *pid, exit: exit.clone() }
            }
        };
        if let ReportState::Exited { started, exit, .. } = state
            && let Some(held) = self.held.get_mut(&run.placement)
            && let Some(service) = &mut held.service
        {
            service.end(&held.assignment.spec, id, run, *started, exit);
        }
    }

    /// Nothing more is to be learned or said of a run.
    pub fn is_over_and_told(&self, run: RunId) -> bool {
        self.by_run(run).is_some_and(HeldRun::is_done)
    }

    pub fn by_run(&self, run: RunId) -> Option<&HeldRun> {
        self.runs.get(&run)
    }

    /// The placement that a run belongs to.
    pub fn placement_of(&self, run: RunId) -> Option<&Held> {
        self.held.get(&self.runs.get(&run)?.placement)
    }

    pub fn runs(&self) -> impl Iterator<Item = (RunId, &HeldRun)> {
        self.runs.iter().map(|(id, run)| (*id, run))
    }

    /// The runs of a placement that are not over.
    pub fn live<'a>(&'a self, held: &'a Held) -> impl Iterator<Item = (RunId, &'a HeldRun)> {
        let runs = held.runs.iter().filter_map(|id| Some((*id, self.runs.get(id)?)));
        runs.filter(|(_, run)| !run.is_over())
    }

    /// Judges what the server sent: everything that changed after `from`, up to `to`.
    pub fn judge(
        &self,
        from: Generation,
        to: Generation,
        assignments: Vec<Assignment>,
    ) -> Acceptance {
        if from > self.applied {
            Acceptance::Gap
        } else if to <= self.applied {
            Acceptance::Known
        } else {
            Acceptance::Write(Record::Accepted { generation: to, assignments })
        }
    }

    /// What is to be done next for a placement. Asked again after each record; what was asked of the
    /// driver already is repeated, and the performer keeps track of what is under way.
    pub fn action_for(
        &self,
        placement: PlacementId,
        now: Moment<'_>,
        volatile: &mut Volatile,
    ) -> Option<Action> {
        let held = self.held.get(&placement)?;
        match &held.service {
            None => self.task_action(held, now),
            Some(service) => self.service_action(held, service, now, volatile),
        }
    }

    /// The record of a run having been seen to run.
    pub fn running_record(&self, run: RunId, pid: u32, since: Timestamp) -> Option<Record> {
        let generation = self.by_run(run)?.report_generation.next();
        Some(Record::Observed { run, generation, state: ReportState::Running { pid, since } })
    }

    /// The record of a run having been frozen, or of its going on. `None` when it does not live, or when
    /// that is known.
    pub fn frozen_record(&self, run: RunId, is_frozen: bool) -> Option<Record> {
        let held = self.by_run(run)?;
        let (pid, since) = match held.local {
            Local::Running { pid, since } if is_frozen || held.may_be_frozen => (pid, since),
            Local::Paused { pid, since } if !is_frozen => (pid, since),
            _ => return None,
        };
        let state = match is_frozen {
            true => ReportState::Paused { pid, since },
            false => ReportState::Running { pid, since },
        };
        let generation = held.report_generation.next();
        Some(Record::Observed { run, generation, state })
    }

    /// The record of a run's end. `None` when the run is not held.
    pub fn exit_record(
        &self,
        run: RunId,
        started: Option<Timestamp>,
        pid: Option<u32>,
        exit: Exit,
    ) -> Option<Record> {
        let generation = self.by_run(run)?.report_generation.next();
        Some(Record::Observed {
            run,
            generation,
            state: ReportState::Exited { started, pid, exit },
        })
    }

    /// Reports that the server has not acknowledged.
    pub fn reports(&self) -> Vec<Report> {
        self.runs
            .iter()
            .filter(|(_, run)| run.report_generation > run.acknowledged)
            .filter_map(|(id, run)| run.report(*id))
            .collect()
    }

    /// What there is to be said of every run that is held, acknowledged or not.
    pub fn all_reports(&self) -> Vec<Report> {
        self.runs.iter().filter_map(|(id, run)| run.report(*id)).collect()
    }

    /// The fewest records that fold to this state: what the ledger is rewritten to.
    pub fn compacted(&self) -> Vec<Record> {
        let mut records = vec![
            Record::Session { epoch: self.session_epoch },
            Record::Accepted { generation: self.applied, assignments: Vec::new() },
        ];
        for held in self.held.values() {
            let runs = held.runs.iter().filter_map(|id| Some((*id, self.runs.get(id)?.clone())));
            records.push(Record::Restored { runs: runs.collect(), held: Box::new(held.clone()) });
        }
        records
    }

    /// What is wanted of a placement, by the server and by those on the node. Services are not paused.
    pub fn wants(held: &Held) -> Desired {
        match (held.assignment.desired, &held.service) {
            (Desired::Run | Desired::Pause, Some(service)) if service.is_down => Desired::Stop,
            (Desired::Pause, Some(_)) => Desired::Run,
            (desired, _) => desired,
        }
    }
}
