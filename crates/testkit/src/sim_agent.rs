//! A simulated agent: the real decisions (`engine::supervise`) over a pretended disk and pretended
//! processes, advanced one step at a time so that every order of events can be tried.
//!
//! What it pretends: `disk` is the ledger file (survives crashes), `started` and `exits` are the marks
//! that shims leave in run directories (survive crashes of the agent, and reboots), `alive` are
//! processes (survive crashes of the agent, not reboots), `volatile` and `told` are its memory.

use std::collections::BTreeMap;
use std::time::Duration;

use hostler_base::ids::Ids;
use hostler_control::{Attach, Attached, Control, HelloFacts, Holdings};
use hostler_engine::supervise::{
    Acceptance, Action, AgentState, Finding, Local, Moment, Record, Volatile,
};
use hostler_model::{
    Bytes, Cores, Exit, ExitReason, Facts, Generation, Mode, NodeId, Phase, PlacementId,
    PlacementStatus, Report, RunId, StatusReport, Timestamp,
};

use crate::Random;

/// What really happened, as a god would know it.
#[derive(Clone, Debug, Default)]
pub struct Truth {
    /// How often each run's program was executed.
    pub executed: BTreeMap<RunId, u32>,
    /// How each run's program ended.
    pub ended: BTreeMap<RunId, Exit>,
    /// Runs whose program was cut off by a reboot.
    pub vanished: BTreeMap<RunId, ()>,
}

#[derive(Clone, Debug)]
struct Process {
    placement: Option<PlacementId>,
    pid: u32,
    since: Timestamp,
    is_stopping: bool,
    is_frozen: bool,
}

pub struct SimAgent {
    pub node_id: NodeId,
    serial: String,
    ids: Ids,
    disk: Vec<Record>,
    pub state: AgentState,
    volatile: Volatile,
    /// How placements stood when that was last told, under which number, and whether it was taken.
    told: BTreeMap<PlacementId, (PlacementStatus, Generation, bool)>,
    statuses: u64,
    alive: BTreeMap<RunId, Process>,
    started: BTreeMap<RunId, (u32, Timestamp)>,
    exits: BTreeMap<RunId, Exit>,
    boot: u32,
    next_pid: u32,
    /// Begun before a crash, certainly never executed: to be started.
    unstarted: Vec<RunId>,
    session: Option<Attached>,
    /// A report that the network held back and may deliver again, long after.
    delayed: Vec<Report>,
    delayed_statuses: Vec<StatusReport>,
    sent: Generation,
    is_up: bool,
    pub is_cut_off: bool,
    /// Programs of services that are to run for ever do.
    pub is_calm: bool,
    /// Runs that a server did not know, and that were stopped for it.
    pub disowned: u32,
}

impl SimAgent {
    pub fn new(node_id: NodeId, serial: String, ids: Ids) -> SimAgent {
        SimAgent {
            node_id,
            serial,
            ids,
            disk: Vec::new(),
            state: AgentState::default(),
            volatile: Volatile::default(),
            told: BTreeMap::new(),
            statuses: 0,
            alive: BTreeMap::new(),
            started: BTreeMap::new(),
            exits: BTreeMap::new(),
            boot: 1,
            next_pid: 100,
            unstarted: Vec::new(),
            session: None,
            delayed: Vec::new(),
            delayed_statuses: Vec::new(),
            sent: Generation::ZERO,
            is_up: true,
            is_cut_off: false,
            is_calm: false,
            disowned: 0,
        }
    }

    pub fn serial(&self) -> &str {
        &self.serial
    }

    /// Accepts a generation of a history that no database knows any more.
    pub fn accept_foreign(&mut self, generation: Generation) {
        self.write(Record::Accepted { generation, assignments: Vec::new() });
    }

    /// Its ledger and what it runs are gone, as after its disk was replaced; what it had accepted stays.
    pub fn lose_everything(&mut self) {
        let placements: Vec<PlacementId> = self.state.held.keys().copied().collect();
        for placement in placements {
            self.write(Record::Forgotten { placement });
        }
        self.alive.clear();
    }

    /// Directories of runs that are over and forgotten are cleared away, and with them what shows that they
    /// were executed.
    pub fn clear_away(&mut self) {
        let held: Vec<RunId> = self.state.runs().map(|(run, _)| run).collect();
        self.started.retain(|run, _| held.contains(run) || self.alive.contains_key(run));
        self.exits.retain(|run, _| held.contains(run));
    }

    pub fn running(&self) -> usize {
        self.alive.len()
    }

    /// How many programs run for a placement.
    pub fn running_of(&self, placement: PlacementId) -> usize {
        self.alive.values().filter(|process| process.placement == Some(placement)).count()
    }

    /// Placements that programs run for.
    pub fn busy(&self) -> impl Iterator<Item = PlacementId> {
        self.alive.values().filter_map(|process| process.placement)
    }

    fn write(&mut self, record: Record) {
        self.state.apply(&record);
        self.disk.push(record);
    }

    fn boot_id(&self) -> String {
        format!("boot-{}", self.boot)
    }

    /// Opens a session if there is none and nothing is in the way.
    pub async fn connect(&mut self, control: &Control) {
        if !self.is_up || self.is_cut_off || self.session.is_some() {
            return;
        }
        let epoch = self.state.session_epoch.next();
        self.write(Record::Session { epoch });
        let facts =
            Facts { cores: Cores::from_millis(2000), memory: Bytes::mib(1024), ..Facts::default() };
        let hello = HelloFacts {
            agent_version: "sim".into(),
            session_epoch: epoch,
            applied_generation: self.state.applied,
            facts: Some(facts),
            heartbeat_wish: None,
            can_tell_holdings: true,
        };
        // A refusal or an unavailable database just means another try later.
        if let Ok(Attach::Attached(attached)) =
            control.node_attach(self.node_id, &self.serial, &hello).await
        {
            self.sent = self.state.applied;
            self.told.clear();
            if attached.is_asked && !self.tell_holdings(control, &attached).await {
                return;
            }
            self.session = Some(attached);
        }
    }

    /// Says everything that is held, and lets go of what the server does not know. False when the server
    /// could not take it.
    async fn tell_holdings(&mut self, control: &Control, attached: &Attached) -> bool {
        let runs = self.state.runs().map(|(run, _)| run).collect();
        let holdings = Holdings { runs, reports: self.state.all_reports() };
        let Ok(acks) = control.node_holdings(attached, &holdings).await else { return false };
        for ack in acks {
            let Some(held) = self.state.by_run(ack.run_id) else { continue };
            let (placement, is_task) = (held.placement, held.origin.is_none());
            match ack.is_unknown {
                false => {
                    self.write(Record::Acknowledged { run: ack.run_id, generation: ack.generation })
                }
                true => {
                    self.alive.remove(&ack.run_id);
                    self.disowned += 1;
                    self.write(match is_task {
                        true => Record::Forgotten { placement },
                        false => Record::Dropped { run: ack.run_id, is_untold: false },
                    });
                }
            }
        }
        true
    }

    pub fn disconnect(&mut self) {
        self.session = None;
    }

    pub fn heartbeat(&self, control: &Control) {
        if let Some(session) = self.session.as_ref().filter(|_| !self.is_cut_off) {
            control.node_heartbeat(session, self.state.applied, None, None);
        }
    }

    /// Takes what the server has for this node; the message may be lost or come twice.
    pub async fn pull(&mut self, control: &Control, random: &mut Random) {
        if self.session.is_none() || self.is_cut_off {
            return;
        }
        let Ok(Some(batch)) = control.node_desired(self.node_id, self.sent).await else { return };
        self.sent = batch.to;
        if random.chance(10) {
            return;
        }
        let times = if random.chance(10) { 2 } else { 1 };
        for _ in 0..times {
            match self.state.judge(batch.from, batch.to, batch.assignments.clone()) {
                Acceptance::Write(record) => self.write(record),
                Acceptance::Known => {}
                Acceptance::Gap => self.disconnect(),
            }
        }
    }

    /// Does what is to be done, and may crash at any point of it.
    pub fn act(&mut self, now: Timestamp, random: &mut Random, truth: &mut Truth) {
        if !self.is_up {
            return;
        }
        for run in std::mem::take(&mut self.unstarted) {
            self.execute(run, now, truth);
            self.note_start(run);
        }
        let placements: Vec<PlacementId> = self.state.held.keys().copied().collect();
        for placement in placements {
            while let Some(action) = self.next_action(placement, now) {
                match action {
                    Action::Start { run, record } => {
                        self.write(record);
                        if random.chance(5) {
                            return self.crash();
                        }
                        self.execute(run, now, truth);
                        if random.chance(5) {
                            return self.crash();
                        }
                        self.note_start(run);
                    }
                    Action::Stop { runs } => {
                        for run in runs {
                            self.stop(run, now, truth);
                        }
                        break;
                    }
                    Action::Freeze { run } => {
                        self.freeze(run, true);
                        if random.chance(5) {
                            return self.crash();
                        }
                        self.note_frozen(run, true);
                    }
                    Action::Thaw { run } => {
                        self.freeze(run, false);
                        if random.chance(5) {
                            return self.crash();
                        }
                        self.note_frozen(run, false);
                    }
                    Action::Write(record) => self.write(record),
                }
            }
        }
    }

    fn next_action(&mut self, placement: PlacementId, now: Timestamp) -> Option<Action> {
        let boot_id = self.boot_id();
        let fresh_run = self.ids.fresh();
        let moment = Moment { wall: now, mono: mono(now), boot_id: &boot_id, fresh_run };
        self.state.action_for(placement, moment, &mut self.volatile)
    }

    fn freeze(&mut self, run: RunId, is_frozen: bool) {
        if let Some(process) = self.alive.get_mut(&run) {
            process.is_frozen = is_frozen;
        }
    }

    fn note_frozen(&mut self, run: RunId, is_frozen: bool) {
        if let Some(record) = self.state.frozen_record(run, is_frozen) {
            self.write(record);
        }
    }

    /// How many programs are frozen.
    pub fn frozen(&self) -> usize {
        self.alive.values().filter(|process| process.is_frozen).count()
    }

    fn stop(&mut self, run: RunId, now: Timestamp, truth: &mut Truth) {
        if let Some(process) = self.alive.get_mut(&run) {
            process.is_stopping = true;
        } else if self.state.by_run(run).is_some() && !self.started.contains_key(&run) {
            // Begun, but never executed (a crash in between): executed now, then stopped.
            self.execute(run, now, truth);
            self.note_start(run);
        }
    }

    /// The executor: refuses a run whose program was executed before.
    fn execute(&mut self, run: RunId, now: Timestamp, truth: &mut Truth) {
        if self.started.contains_key(&run) {
            return;
        }
        self.next_pid += 1;
        self.started.insert(run, (self.next_pid, now));
        let placement = self.state.by_run(run).map(|held| held.placement);
        let process = Process {
            placement,
            pid: self.next_pid,
            since: now,
            is_stopping: false,
            is_frozen: false,
        };
        self.alive.insert(run, process);
        *truth.executed.entry(run).or_default() += 1;
    }

    fn note_start(&mut self, run: RunId) {
        if let Some((pid, since)) = self.started.get(&run).copied()
            && let Some(record) = self.state.running_record(run, pid, since)
        {
            self.write(record);
        }
    }

    /// Some programs end; those asked to stop always do.
    pub fn run_programs(&mut self, now: Timestamp, random: &mut Random, truth: &mut Truth) {
        let ending: Vec<(RunId, bool)> = self
            .alive
            .iter()
            .filter(|(run, process)| {
                process.is_stopping
                    || !process.is_frozen && !self.is_lasting(**run) && random.chance(30)
            })
            .map(|(run, process)| (*run, process.is_stopping))
            .collect();
        for (run, is_stopping) in ending {
            let code = i32::try_from(random.below(3)).unwrap_or_default();
            let exit = if is_stopping {
                Exit {
                    reason: ExitReason::Stopped,
                    code: None,
                    signal: Some(15),
                    message: None,
                    time: now,
                }
            } else {
                Exit {
                    reason: ExitReason::Exited,
                    code: Some(code),
                    signal: None,
                    message: None,
                    time: now,
                }
            };
            truth.ended.insert(run, exit.clone());
            let process = self.alive.remove(&run);
            self.exits.insert(run, exit.clone());
            // An agent that is down finds the exit status on disk when it comes back.
            if self.is_up
                && let Some(process) = process
                && let Some(record) =
                    self.state.exit_record(run, Some(process.since), Some(process.pid), exit)
            {
                self.write(record);
                self.state.note_end(run, now, mono(now), &mut self.volatile);
            }
        }
    }

    /// In calm times a program that is to run for ever does.
    fn is_lasting(&self, run: RunId) -> bool {
        let held = self.state.placement_of(run);
        self.is_calm && held.is_some_and(|held| held.assignment.spec.mode == Mode::Forever)
    }

    /// Sends what was not acknowledged; the report or its acknowledgement may be lost.
    pub async fn report(&mut self, control: &Control, random: &mut Random) {
        if !self.is_up || self.is_cut_off || self.session.is_none() {
            return;
        }
        if random.chance(20) {
            let late = std::mem::take(&mut self.delayed);
            if control.node_report(self.node_id, &late).await.is_err() {
                return;
            }
        }
        let reports = self.state.reports();
        if random.chance(30) {
            self.delayed.clone_from(&reports);
        }
        if reports.is_empty() || random.chance(10) {
            return;
        }
        let Ok(acks) = control.node_report(self.node_id, &reports).await else { return };
        if random.chance(15) {
            return;
        }
        for ack in acks {
            let run = ack.run_id;
            let is_task = self.state.by_run(run).is_some_and(|held| held.origin.is_none());
            assert!(!(ack.is_unknown && is_task), "the server does not know run {run}");
            self.write(Record::Acknowledged { run, generation: ack.generation });
        }
    }

    /// Says how services stand, where that is news; it or its acknowledgement may be lost, or come
    /// again long after.
    pub async fn report_statuses(&mut self, control: &Control, random: &mut Random) {
        if !self.is_up || self.is_cut_off || self.session.is_none() {
            return;
        }
        if random.chance(20) {
            let late = std::mem::take(&mut self.delayed_statuses);
            if control.node_status(self.node_id, &late).await.is_err() {
                return;
            }
        }
        let reports = self.statuses();
        if random.chance(30) {
            self.delayed_statuses.clone_from(&reports);
        }
        if reports.is_empty() || random.chance(10) {
            return;
        }
        let Ok(acks) = control.node_status(self.node_id, &reports).await else { return };
        if random.chance(15) {
            return;
        }
        for ack in acks {
            let Some((status, generation, is_taken)) = self.told.get_mut(&ack.placement_id) else {
                continue;
            };
            if *generation != ack.generation {
                continue;
            }
            *is_taken = true;
            let is_removed = status.phase == Phase::Removed;
            assert!(is_removed || !ack.is_unknown, "the server lost {}", ack.placement_id);
            if is_removed {
                self.write(Record::Forgotten { placement: ack.placement_id });
                self.told.remove(&ack.placement_id);
                self.volatile.forget(ack.placement_id);
            }
        }
    }

    fn statuses(&mut self) -> Vec<StatusReport> {
        let mut reports = Vec::new();
        for (placement, held) in &self.state.held {
            let Some(status) = self.state.status(held, &self.volatile) else { continue };
            // What is removed is forgotten once that is known, so everything else is told before.
            if status.phase == Phase::Removed && !held.runs.is_empty() {
                continue;
            }
            let is_known =
                self.told.get(placement).is_some_and(|(told, _, taken)| *taken && *told == status);
            if is_known {
                continue;
            }
            self.statuses += 1;
            let number = (self.state.session_epoch.get() << 24) + self.statuses;
            let generation = Generation::from_u64(number);
            self.told.insert(*placement, (status.clone(), generation, false));
            reports.push(StatusReport { placement_id: *placement, generation, status });
        }
        reports
    }

    /// The agent process dies; programs go on.
    pub fn crash(&mut self) {
        self.is_up = false;
        self.unstarted.clear();
        self.session = None;
        self.volatile = Volatile::default();
        self.told.clear();
    }

    /// The machine loses power: programs are cut off.
    pub fn reboot(&mut self, truth: &mut Truth) {
        self.crash();
        for (run, _) in std::mem::take(&mut self.alive) {
            truth.vanished.insert(run, ());
        }
        self.boot += 1;
    }

    /// The agent starts again from its disk.
    pub fn start(&mut self, now: Timestamp) {
        if self.is_up {
            return;
        }
        let before = self.state.applied;
        self.state = AgentState::default();
        for record in &self.disk {
            self.state.apply(record);
        }
        assert_eq!(self.state.applied, before, "a restart changes nothing that was accepted");
        self.is_up = true;
        let runs: Vec<RunId> = self.state.runs().map(|(run, _)| run).collect();
        for run in runs {
            let finding = self.find(run);
            if let Some(record) = self.state.recover(run, finding.clone(), &self.boot_id(), now) {
                self.write(record);
                if self.state.by_run(run).is_some_and(|held| held.is_over()) {
                    self.state.note_end(run, now, mono(now), &mut self.volatile);
                }
            } else if finding == Finding::NeverStarted {
                self.start_again(run);
            }
        }
    }

    /// What recovery leaves in `Starting` was certainly never executed: the performer starts it.
    fn start_again(&mut self, run: RunId) {
        let is_begun =
            self.state.by_run(run).is_some_and(|held| matches!(held.local, Local::Starting { .. }));
        if is_begun {
            self.unstarted.push(run);
        }
    }

    fn find(&self, run: RunId) -> Finding {
        if let Some(process) = self.alive.get(&run) {
            return Finding::Live { pid: process.pid, since: process.since };
        }
        let started = self.started.get(&run).copied();
        let (pid, since) = (started.map(|(pid, _)| pid), started.map(|(_, since)| since));
        if let Some(exit) = self.exits.get(&run) {
            return Finding::Exited { started: since, pid, exit: exit.clone() };
        }
        match started {
            Some(_) => Finding::Vanished { started: since, pid, why: "the node rebooted".into() },
            None => Finding::NeverStarted,
        }
    }
}

fn mono(now: Timestamp) -> Duration {
    now.since(Timestamp::EPOCH)
}
