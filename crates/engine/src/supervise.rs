//! Supervision: everything an agent decides, as a state folded from its ledger.
//!
//! The agent writes a [`Record`] to its ledger before it acts on it, and folds the same record into
//! its [`AgentState`]; after a crash it folds them again and is where it was. The simulated agents of
//! the tests use this very code.
//!
//! What keeps a run from happening twice: a run begins with [`Record::Starting`], which names the
//! present boot. The driver can tell whether the program was ever executed (its `started` mark is
//! written before the program is released). So after a crash: executed and alive is re-attached;
//! executed and gone has its exit status on disk, or has vanished with its supervisor or machine; not
//! executed in this boot may be started; begun in an earlier boot is never started again.

use std::collections::BTreeMap;

use hostler_model::{
    Assignment, Desired, Exit, ExitReason, Generation, PlacementId, Report, ReportState, RunId,
    Timestamp,
};
use serde::{Deserialize, Serialize};

/// What the ledger holds, one change each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// The server's wishes up to a generation.
    Accepted { generation: Generation, assignments: Vec<Assignment> },
    /// The run is about to be handed to the driver.
    Starting { run: RunId, boot_id: String },
    /// The run's state as it was seen; numbered for the report.
    Observed { run: RunId, generation: Generation, state: ReportState },
    /// The server has the report.
    Acknowledged { run: RunId, generation: Generation },
    /// Nothing is held of this placement any more.
    Forgotten { placement: PlacementId },
    /// A session was opened with this number.
    Session { epoch: Generation },
}

/// Where a run stands on this node.
#[derive(Clone, Debug, PartialEq)]
pub enum Local {
    Waiting,
    Starting { boot_id: String },
    Running { pid: u32, since: Timestamp },
    Exited { started: Option<Timestamp>, pid: Option<u32>, exit: Exit },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    pub assignment: Assignment,
    pub local: Local,
    /// Of the newest observation.
    pub report_generation: Generation,
    pub acknowledged: Generation,
}

impl Held {
    /// What is to be said of it; `None` before there is anything.
    pub fn report(&self) -> Option<Report> {
        let state = match &self.local {
            Local::Waiting | Local::Starting { .. } => return None,
            Local::Running { pid, since } => ReportState::Running { pid: *pid, since: *since },
            Local::Exited { started, pid, exit } => {
                ReportState::Exited { started: *started, pid: *pid, exit: exit.clone() }
            }
        };
        Some(Report {
            run_id: self.assignment.run_id,
            placement_id: self.assignment.placement_id,
            generation: self.report_generation,
            state,
        })
    }
}

/// What the performer is to do.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "most actions are starts, and none is kept")]
pub enum Action {
    /// Write `Starting`, then hand the run to the driver.
    Start { assignment: Assignment },
    /// Ask the driver to stop the run.
    Stop { run: RunId },
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

/// What the driver found of a run after a restart of the agent.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    Live {
        pid: u32,
        since: Timestamp,
    },
    Exited {
        started: Option<Timestamp>,
        pid: Option<u32>,
        exit: Exit,
    },
    /// There is no sign that the program was ever executed.
    NeverStarted,
    /// It was executed, but what became of it cannot be known.
    Vanished {
        started: Option<Timestamp>,
        pid: Option<u32>,
        why: String,
    },
}

/// The agent's whole durable state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentState {
    pub applied: Generation,
    pub session_epoch: Generation,
    pub held: BTreeMap<PlacementId, Held>,
    by_run: BTreeMap<RunId, PlacementId>,
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
                if let Some(held) = self.by_run_mut(*run)
                    && matches!(held.local, Local::Waiting | Local::Starting { .. })
                {
                    held.local = Local::Starting { boot_id: boot_id.clone() };
                }
            }
            Record::Observed { run, generation, state } => {
                if let Some(held) = self.by_run_mut(*run)
                    && *generation > held.report_generation
                    && !matches!(held.local, Local::Exited { .. })
                {
                    held.report_generation = *generation;
                    held.local = match state {
                        ReportState::Running { pid, since } => {
                            Local::Running { pid: *pid, since: *since }
                        }
                        ReportState::Exited { started, pid, exit } => {
                            Local::Exited { started: *started, pid: *pid, exit: exit.clone() }
                        }
                    };
                }
            }
            Record::Acknowledged { run, generation } => {
                if let Some(held) = self.by_run_mut(*run) {
                    held.acknowledged = held.acknowledged.max(*generation);
                }
            }
            Record::Forgotten { placement } => {
                if let Some(held) = self.held.remove(placement) {
                    self.by_run.remove(&held.assignment.run_id);
                }
            }
            Record::Session { epoch } => self.session_epoch = self.session_epoch.max(*epoch),
        }
    }

    fn accept_one(&mut self, assignment: &Assignment) {
        match self.held.get_mut(&assignment.placement_id) {
            Some(held) => {
                if assignment.generation > held.assignment.generation {
                    held.assignment = assignment.clone();
                }
            }
            None => {
                self.by_run.insert(assignment.run_id, assignment.placement_id);
                let held = Held {
                    assignment: assignment.clone(),
                    local: Local::Waiting,
                    report_generation: Generation::ZERO,
                    acknowledged: Generation::ZERO,
                };
                self.held.insert(assignment.placement_id, held);
            }
        }
    }

    pub fn by_run(&self, run: RunId) -> Option<&Held> {
        self.by_run.get(&run).and_then(|placement| self.held.get(placement))
    }

    fn by_run_mut(&mut self, run: RunId) -> Option<&mut Held> {
        self.by_run.get(&run).and_then(|placement| self.held.get_mut(placement))
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

    /// Everything that is to be done now. Called again after each change; what was asked of the driver
    /// already is repeated, and the performer keeps track of what is under way.
    pub fn actions(&self, now: Timestamp) -> Vec<Action> {
        self.held.values().filter_map(|held| self.action(held, now)).collect()
    }

    /// The same for one placement.
    pub fn action_for(&self, placement: PlacementId, now: Timestamp) -> Option<Action> {
        self.held.get(&placement).and_then(|held| self.action(held, now))
    }

    fn action(&self, held: &Held, now: Timestamp) -> Option<Action> {
        let run = held.assignment.run_id;
        match (&held.local, held.assignment.desired) {
            (Local::Waiting, Desired::Run) => {
                Some(Action::Start { assignment: held.assignment.clone() })
            }
            (Local::Waiting, Desired::Stop) => Some(Action::Write(self.exit_record(
                run,
                None,
                None,
                Exit {
                    reason: ExitReason::Stopped,
                    code: None,
                    signal: None,
                    message: Some("stopped before it ran".into()),
                    time: now,
                },
            )?)),
            (Local::Starting { .. } | Local::Running { .. }, Desired::Stop) => {
                Some(Action::Stop { run })
            }
            (Local::Starting { .. } | Local::Running { .. }, Desired::Run) => None,
            (Local::Exited { .. }, _) => (held.acknowledged >= held.report_generation).then_some(
                Action::Write(Record::Forgotten { placement: held.assignment.placement_id }),
            ),
        }
    }

    /// The record of a run having been seen to run.
    pub fn running_record(&self, run: RunId, pid: u32, since: Timestamp) -> Option<Record> {
        let held = self.by_run(run)?;
        Some(Record::Observed {
            run,
            generation: held.report_generation.next(),
            state: ReportState::Running { pid, since },
        })
    }

    /// The record of a run's end. `None` when the run is not held.
    pub fn exit_record(
        &self,
        run: RunId,
        started: Option<Timestamp>,
        pid: Option<u32>,
        exit: Exit,
    ) -> Option<Record> {
        let held = self.by_run(run)?;
        Some(Record::Observed {
            run,
            generation: held.report_generation.next(),
            state: ReportState::Exited { started, pid, exit },
        })
    }

    /// Reports that the server has not acknowledged.
    pub fn reports(&self) -> Vec<Report> {
        self.held
            .values()
            .filter(|held| held.report_generation > held.acknowledged)
            .filter_map(Held::report)
            .collect()
    }

    /// What a restart of the agent makes of a run that had begun. `None` means nothing is to be written.
    pub fn recover(
        &self,
        run: RunId,
        finding: Finding,
        boot_id: &str,
        now: Timestamp,
    ) -> Option<Record> {
        let held = self.by_run(run)?;
        let vanished = |why: String| Exit {
            reason: ExitReason::Vanished,
            code: None,
            signal: None,
            message: Some(why),
            time: now,
        };
        match (&held.local, finding) {
            (Local::Exited { .. }, _) => None,
            (Local::Waiting | Local::Starting { .. }, Finding::Live { pid, since }) => {
                self.running_record(run, pid, since)
            }
            (Local::Running { .. }, Finding::Live { .. }) => None,
            (
                Local::Waiting | Local::Starting { .. } | Local::Running { .. },
                Finding::Exited { started, pid, exit },
            ) => self.exit_record(run, started, pid, exit),
            (Local::Waiting, Finding::NeverStarted) => None,
            (Local::Starting { boot_id: begun }, Finding::NeverStarted) if begun == boot_id => None,
            (Local::Starting { .. }, Finding::NeverStarted) => self.exit_record(
                run,
                None,
                None,
                vanished("the node rebooted while the run was being started".into()),
            ),
            (Local::Running { pid, since }, Finding::NeverStarted) => self.exit_record(
                run,
                Some(*since),
                Some(*pid),
                vanished("its records are gone from the node".into()),
            ),
            (
                Local::Waiting | Local::Starting { .. } | Local::Running { .. },
                Finding::Vanished { started, pid, why },
            ) => self.exit_record(run, started, pid, vanished(why)),
        }
    }

    /// The fewest records that fold to this state: what the ledger is rewritten to.
    pub fn compacted(&self) -> Vec<Record> {
        let assignments = self.held.values().map(|held| held.assignment.clone()).collect();
        let mut records = vec![
            Record::Session { epoch: self.session_epoch },
            Record::Accepted { generation: self.applied, assignments },
        ];
        for held in self.held.values() {
            let run = held.assignment.run_id;
            if let Local::Starting { boot_id } = &held.local {
                records.push(Record::Starting { run, boot_id: boot_id.clone() });
            }
            if let Some(report) = held.report() {
                records.push(Record::Observed {
                    run,
                    generation: report.generation,
                    state: report.state,
                });
            }
            if held.acknowledged > Generation::ZERO {
                records.push(Record::Acknowledged { run, generation: held.acknowledged });
            }
        }
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{WorkloadId, WorkloadSpec};
    use proptest::prelude::*;
    use uuid::Uuid;

    fn assignment(n: u128, generation: u64, desired: Desired) -> Assignment {
        Assignment {
            placement_id: PlacementId::from_uuid(Uuid::from_u128(n)),
            run_id: RunId::from_uuid(Uuid::from_u128(1000 + n)),
            desired,
            generation: Generation::from_u64(generation),
            workload_id: WorkloadId::from_uuid(Uuid::from_u128(n)),
            workload_name: "w".parse().unwrap(),
            project_name: "default".parse().unwrap(),
            spec: WorkloadSpec::command(["true"]),
            grace: None,
        }
    }

    fn run(n: u128) -> RunId {
        RunId::from_uuid(Uuid::from_u128(1000 + n))
    }

    fn exit(code: i32) -> Exit {
        Exit {
            reason: ExitReason::Exited,
            code: Some(code),
            signal: None,
            message: None,
            time: Timestamp::from_micros(9),
        }
    }

    fn gen_(n: u64) -> Generation {
        Generation::from_u64(n)
    }

    const NOW: Timestamp = Timestamp::from_micros(50);

    #[test]
    fn newer_is_taken_equal_is_known_and_a_gap_is_refused() {
        let mut state = AgentState::default();
        let first = state.judge(gen_(0), gen_(2), vec![assignment(1, 2, Desired::Run)]);
        let Acceptance::Write(record) = first else { panic!("{first:?}") };
        state.apply(&record);
        assert_eq!(state.judge(gen_(0), gen_(2), vec![]), Acceptance::Known);
        assert_eq!(state.judge(gen_(1), gen_(1), vec![]), Acceptance::Known);
        assert_eq!(state.judge(gen_(3), gen_(4), vec![]), Acceptance::Gap);
    }

    #[test]
    fn a_run_goes_from_wish_to_forgotten() {
        let mut state = AgentState::default();
        state.apply(&Record::Accepted {
            generation: gen_(1),
            assignments: vec![assignment(1, 1, Desired::Run)],
        });
        assert!(matches!(state.actions(NOW).as_slice(), [Action::Start { .. }]));
        state.apply(&Record::Starting { run: run(1), boot_id: "b".into() });
        assert_eq!(state.actions(NOW), []);
        let running = state.running_record(run(1), 7, Timestamp::from_micros(5)).unwrap();
        state.apply(&running);
        assert_eq!(state.reports().len(), 1);
        state.apply(&Record::Accepted {
            generation: gen_(2),
            assignments: vec![assignment(1, 2, Desired::Stop)],
        });
        assert_eq!(state.actions(NOW), [Action::Stop { run: run(1) }]);
        let ended = state.exit_record(run(1), None, None, exit(0)).unwrap();
        state.apply(&ended);
        assert_eq!(state.actions(NOW), [], "not before it is acknowledged");
        state.apply(&Record::Acknowledged { run: run(1), generation: gen_(2) });
        assert_eq!(state.reports(), []);
        let [Action::Write(forget)] = &state.actions(NOW)[..] else { panic!() };
        state.apply(forget);
        assert!(state.held.is_empty() && state.by_run.is_empty());
    }

    #[test]
    fn stop_before_start_never_runs() {
        let mut state = AgentState::default();
        state.apply(&Record::Accepted {
            generation: gen_(1),
            assignments: vec![assignment(1, 1, Desired::Stop)],
        });
        let [Action::Write(record)] = &state.actions(NOW)[..] else { panic!() };
        state.apply(record);
        assert!(
            matches!(&state.reports()[0].state, ReportState::Exited { started: None, exit, .. } if exit.reason == ExitReason::Stopped)
        );
    }

    #[test]
    fn recovery_starts_again_only_what_certainly_never_ran() {
        let mut state = AgentState::default();
        state.apply(&Record::Accepted {
            generation: gen_(1),
            assignments: vec![assignment(1, 1, Desired::Run)],
        });
        state.apply(&Record::Starting { run: run(1), boot_id: "boot-1".into() });
        assert_eq!(state.recover(run(1), Finding::NeverStarted, "boot-1", NOW), None);
        let other_boot = state.recover(run(1), Finding::NeverStarted, "boot-2", NOW).unwrap();
        assert!(
            matches!(other_boot, Record::Observed { state: ReportState::Exited { exit, .. }, .. } if exit.reason == ExitReason::Vanished)
        );
    }

    proptest! {
        /// Any sequence of records folds to the same state as its compaction, and a repeat changes nothing.
        #[test]
        fn folding_is_idempotent_and_compaction_is_faithful(steps in prop::collection::vec((0u8..6, 1u128..4, 1u64..8), 0..60)) {
            let mut state = AgentState::default();
            for (kind, n, g) in steps {
                let record = match kind {
                    0 => Record::Accepted { generation: gen_(g), assignments: vec![assignment(n, g, if g % 2 == 0 { Desired::Run } else { Desired::Stop })] },
                    1 => Record::Starting { run: run(n), boot_id: "b".into() },
                    2 => Record::Observed { run: run(n), generation: gen_(g), state: ReportState::Running { pid: 1, since: NOW } },
                    3 => Record::Observed { run: run(n), generation: gen_(g), state: ReportState::Exited { started: None, pid: None, exit: exit(0) } },
                    4 => Record::Acknowledged { run: run(n), generation: gen_(g) },
                    _ => Record::Session { epoch: gen_(g) },
                };
                let before = state.clone();
                state.apply(&record);
                prop_assert!(state.applied >= before.applied && state.session_epoch >= before.session_epoch);
                let once = state.clone();
                state.apply(&record);
                prop_assert_eq!(&state, &once);
            }
            let mut again = AgentState::default();
            for record in state.compacted() {
                again.apply(&record);
            }
            prop_assert_eq!(again, state);
        }
    }
}
