//! A service: a placement whose runs the agent makes itself.
//!
//! Counting goes in *rounds*. A round ends when the workload is changed, started or restarted by
//! somebody: what runs from an earlier round is stopped, and how often it ran and failed counts anew.
//! A start of what runs already ends no round and stops nothing; only a schedule, whose next run may
//! be far away, notes that one is wanted as soon as its overlap policy lets it begin.
//! There is one live run at a time, except where a schedule allows runs to overlap.
//!
//! What is stopped together with the agent was stopped by nobody in particular. The next agent goes on
//! as the mode says: `forever` runs again, `times` goes on with the next run (the stopped one counted),
//! a schedule waits for its next time, and `once` is left stopped, because half of what it does may be
//! done; where its restart policy tries failures again, it is run again.
//!
//! Ends are remembered (the last [`HISTORY`] of them) after the server knows them. While no server can
//! be told, at most [`UNTOLD_MAX`] ends are kept for it; older ones are counted instead.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use hostler_model::{
    Assignment, DependencyCondition, Desired, Exit, ExitReason, Health, Mode, Origin, Overlap,
    Phase, RunCause, RunId, Timestamp, WorkloadSpec,
};
use serde::{Deserialize, Serialize};

use super::mode::{is_complete, mix, restart_delay, should_restart};
use super::volatile::Vitals;
use super::{Action, AgentState, Command, Fired, Held, HeldRun, Local, Moment, Record, Volatile};
use crate::schedule::{FireLog, Timetable, workload_salt};

pub const HISTORY: usize = 20;
pub const UNTOLD_MAX: usize = 200;

/// What is remembered of a service besides its assignment and its runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Service {
    /// Runs made, ever.
    pub launched: u64,
    /// Runs made in this round.
    pub counted: u64,
    /// Quick ends in a row, in this round.
    pub streak: u32,
    /// How the last run of this round ended.
    pub last_exit: Option<Exit>,
    pub history: VecDeque<Past>,
    /// Absent where there is no schedule, or it has not been looked at yet.
    pub fires: Option<FireLog>,
    pub missed: u64,
    pub untold: u64,
    /// Runs made because the one before had ended, ever, by how it had.
    pub restarts: BTreeMap<ExitReason, u64>,
    /// Somebody on the node stopped it.
    pub is_down: bool,
    /// Somebody on the node wants a run of it now, whatever its schedule says.
    pub is_asked_for: bool,
    pub gave_up: Option<String>,
    pub(super) round: u64,
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Past {
    pub run: RunId,
    pub origin: Origin,
    pub pid: Option<u32>,
    pub started: Option<Timestamp>,
    pub exit: Exit,
}

impl Service {
    /// Counts a run that is made, and says the how-manieth it is.
    pub(super) fn launch(&mut self, cause: RunCause, fired: Option<&Fired>) -> u64 {
        if let (RunCause::Restart, Some(last)) = (cause, &self.last_exit) {
            *self.restarts.entry(last.reason).or_default() += 1;
        }
        self.launched += 1;
        self.counted += 1;
        self.is_asked_for = false;
        if let Some(fired) = fired {
            self.fires = Some(fired.fires.clone());
            self.missed += fired.missed;
        }
        self.launched
    }

    /// Folds in what is about the service alone.
    pub(super) fn apply(&mut self, record: &Record) {
        match record {
            Record::Fired { fires, missed, .. } if self.fires.as_ref() != Some(fires) => {
                self.fires = Some(fires.clone());
                self.missed += missed;
            }
            Record::Commanded { command: Command::Stop, .. } => {
                self.is_down = true;
                self.is_asked_for = false;
            }
            Record::Commanded { command: Command::Restart, .. } => self.start_anew(),
            Record::GaveUp { why, .. } => self.gave_up = Some(why.clone()),
            _ => {}
        }
    }

    /// Somebody on the node wants it to run; `is_live` when a run of this round does.
    pub(super) fn start(&mut self, mode: &Mode, is_live: bool) {
        match mode {
            _ if self.is_down || !is_live => self.start_anew(),
            Mode::Schedule(schedule) if schedule.overlap == Overlap::Replace => self.start_anew(),
            Mode::Schedule(_) => self.is_asked_for = true,
            Mode::Once | Mode::Forever | Mode::Times(_) => {}
        }
    }

    fn start_anew(&mut self) {
        self.is_down = false;
        self.is_asked_for = true;
        self.begin_round();
    }

    pub(super) fn change(&mut self, old: &Assignment, new: &Assignment) {
        let is_started = old.desired != Desired::Run && new.desired == Desired::Run;
        if new.revision != old.revision || is_started {
            self.is_down = false;
            self.begin_round();
        }
        if new.spec.mode != old.spec.mode {
            self.fires = None;
        }
    }

    fn begin_round(&mut self) {
        self.round += 1;
        self.counted = 0;
        self.streak = 0;
        self.last_exit = None;
        self.gave_up = None;
    }

    /// A run of it has ended.
    pub(super) fn end(
        &mut self,
        spec: &WorkloadSpec,
        id: RunId,
        run: &HeldRun,
        started: Option<Timestamp>,
        exit: &Exit,
    ) {
        if let (Some(origin), Local::Exited { pid, .. }) = (run.origin, &run.local) {
            self.history.push_back(Past {
                run: id,
                origin,
                pid: *pid,
                started,
                exit: exit.clone(),
            });
            while self.history.len() > HISTORY {
                self.history.pop_front();
            }
        }
        if run.round != self.round {
            return;
        }
        self.last_exit = Some(exit.clone());
        let lasted = started.map_or(Duration::ZERO, |started| exit.time.since(started));
        let is_quick = lasted < spec.restart.reset_after.duration();
        let is_failure = !spec.restart.is_success(exit);
        match exit.reason {
            ExitReason::Stopped | ExitReason::Vanished => {}
            _ if is_quick && (is_failure || spec.mode == Mode::Forever) => self.streak += 1,
            _ => self.streak = u32::from(is_failure),
        }
    }

    /// Whether another run follows the last one, apart from times that come by themselves.
    pub(super) fn wants_again(&self, spec: &WorkloadSpec) -> bool {
        let Some(last) = &self.last_exit else { return false };
        match (last.reason, &spec.mode) {
            (ExitReason::Stopped, Mode::Schedule(_)) => false,
            (ExitReason::Stopped | ExitReason::Vanished, Mode::Forever) => true,
            _ => should_restart(&spec.mode, &spec.restart, self.counted, last),
        }
    }

    /// Whether no run follows by itself.
    pub(super) fn is_complete(&self, spec: &WorkloadSpec) -> bool {
        let last = self.last_exit.as_ref();
        is_complete(&spec.mode, &spec.restart, self.counted, last) && !self.wants_again(spec)
    }
}

impl AgentState {
    pub(super) fn service_action(
        &self,
        held: &Held,
        service: &Service,
        now: Moment<'_>,
        volatile: &mut Volatile,
    ) -> Option<Action> {
        if let Some(record) = self.clear_away(held) {
            return Some(Action::Write(record));
        }
        let live: Vec<(RunId, &HeldRun)> = self.live(held).collect();
        if AgentState::wants(held) != Desired::Run {
            return stop(live.iter().map(|(id, _)| *id));
        }
        let earlier = live.iter().filter(|(_, run)| run.round != service.round);
        if let Some(action) = stop(earlier.map(|(id, _)| *id)) {
            return Some(action);
        }
        if service.gave_up.is_some() {
            return None;
        }
        if let Mode::Schedule(schedule) = &held.assignment.spec.mode {
            let may_start = live.is_empty() || schedule.overlap == Overlap::Allow;
            if service.is_asked_for && may_start {
                return self.launch(held, service, now, volatile, RunCause::Start, None);
            }
            if live.is_empty() && service.wants_again(&held.assignment.spec) {
                return self.launch(held, service, now, volatile, RunCause::Restart, None);
            }
            return self.scheduled(held, service, now, volatile, &live);
        }
        if !live.is_empty() || service.is_complete(&held.assignment.spec) {
            return None;
        }
        let cause = match service.counted {
            0 => RunCause::Start,
            _ => RunCause::Restart,
        };
        self.launch(held, service, now, volatile, cause, None)
    }

    /// What need not be held any longer.
    fn clear_away(&self, held: &Held) -> Option<Record> {
        let runs = || held.runs.iter().filter_map(|id| Some((*id, self.by_run(*id)?)));
        if let Some((run, _)) = runs().find(|(_, run)| run.is_done()) {
            return Some(Record::Dropped { run, is_untold: false });
        }
        let over = runs().filter(|(_, run)| run.is_over());
        let (oldest, count) =
            over.fold((None, 0), |(oldest, n), (id, _)| (oldest.or(Some(id)), n + 1));
        let run = oldest.filter(|_| count > UNTOLD_MAX)?;
        Some(Record::Dropped { run, is_untold: true })
    }

    fn launch(
        &self,
        held: &Held,
        service: &Service,
        now: Moment<'_>,
        volatile: &mut Volatile,
        cause: RunCause,
        fired: Option<Fired>,
    ) -> Option<Action> {
        let placement = held.assignment.placement_id;
        if self.missing(held, volatile).is_some() {
            return None;
        }
        if cause == RunCause::Restart {
            let policy = &held.assignment.spec.restart;
            let vitals = volatile.of(placement);
            if vitals.due > now.mono {
                return None;
            }
            let is_failure =
                service.last_exit.as_ref().is_some_and(|exit| !policy.is_success(exit));
            vitals.forget_before(now.mono.saturating_sub(policy.window.duration()));
            if let Some(attempts) = policy.attempts
                && is_failure
                && vitals.restarts.len() >= attempts as usize
            {
                let why = format!("{attempts} restarts within {} did not help", policy.window);
                return Some(Action::Write(Record::GaveUp { placement, why }));
            }
            if let Err(later) = volatile.budget.take(now.mono) {
                volatile.of(placement).put_off(later, now.wall, now.mono);
                return None;
            }
            if is_failure {
                volatile.of(placement).restarts.push_back(now.mono);
            }
        }
        let record = Record::Launched {
            placement,
            run: now.fresh_run,
            boot_id: now.boot_id.to_owned(),
            cause,
            fired,
        };
        Some(Action::Start { run: now.fresh_run, record })
    }

    /// What it waits for before it can be started, in words.
    pub(super) fn missing(&self, held: &Held, volatile: &Volatile) -> Option<String> {
        held.assignment.spec.depends.iter().find_map(|dependency| {
            let other = self.held.values().find(|other| {
                other.assignment.workload_name == dependency.workload
                    && other.assignment.project_name == held.assignment.project_name
            });
            let name = &dependency.workload;
            let Some(other) = other else {
                return Some(format!("{name} is not on this node"));
            };
            let phase = self.phase(other, volatile);
            let is_running =
                self.live(other).any(|(_, run)| matches!(run.local, Local::Running { .. }));
            let is_met = match dependency.condition {
                DependencyCondition::Started => is_running || phase == Phase::Completed,
                DependencyCondition::Healthy => {
                    is_running && volatile.health(other) == Some(Health::Healthy)
                }
                DependencyCondition::Completed => phase == Phase::Completed,
            };
            (!is_met).then(|| format!("{name} is {phase}, not {}", dependency.condition))
        })
    }

    fn scheduled(
        &self,
        held: &Held,
        service: &Service,
        now: Moment<'_>,
        volatile: &mut Volatile,
        live: &[(RunId, &HeldRun)],
    ) -> Option<Action> {
        let placement = held.assignment.placement_id;
        let Some(log) = &service.fires else {
            let fires = FireLog::starting(now.wall);
            return Some(Action::Write(Record::Fired { placement, fires, missed: 0 }));
        };
        let is_held_up = self.missing(held, volatile).is_some();
        let timetable = volatile.timetable(held)?;
        let decision = timetable.decide(log, now.wall, !live.is_empty());
        let vitals = volatile.of(placement);
        vitals.wake = decision.wake;
        vitals.next_fire = decision.next;
        if decision.stop_running {
            return stop(live.iter().map(|(id, _)| *id));
        }
        let missed = decision.skipped.iter().map(|skipped| u64::from(skipped.count)).sum();
        if let Some(fire) = decision.start
            && !is_held_up
        {
            let fired = Some(Fired { fire, fires: decision.log, missed });
            return self.launch(held, service, now, volatile, RunCause::Schedule, fired);
        }
        (decision.log != *log && decision.start.is_none()).then_some(Action::Write(Record::Fired {
            placement,
            fires: decision.log,
            missed,
        }))
    }

    /// Notes when a run's successor is due. To be called once for every end, after it was folded in.
    pub fn note_end(&self, run: RunId, wall: Timestamp, mono: Duration, volatile: &mut Volatile) {
        let Some(held) = self.placement_of(run) else { return };
        if let Some(service) = &held.service
            && let Some(last) = &service.last_exit
        {
            let salt = volatile.salt ^ mix(service.launched);
            let delay = restart_delay(&held.assignment.spec.restart, service.streak, last, salt);
            volatile.of(held.assignment.placement_id).put_off(mono + delay, wall, mono);
        }
    }

    /// What the health checks of a run say; false when that is nothing new.
    pub fn note_health(
        &self,
        run: RunId,
        health: Health,
        why: Option<String>,
        volatile: &mut Volatile,
    ) -> bool {
        let Some(held) = self.placement_of(run) else { return false };
        let vitals = volatile.of(held.assignment.placement_id);
        let news = Some((run, health, why));
        let is_news = vitals.health != news;
        vitals.health = news;
        is_news
    }
}

fn stop(runs: impl Iterator<Item = RunId>) -> Option<Action> {
    let runs: Vec<RunId> = runs.collect();
    (!runs.is_empty()).then_some(Action::Stop { runs })
}

impl Vitals {
    fn put_off(&mut self, due: Duration, wall: Timestamp, mono: Duration) {
        self.due = due;
        self.due_at = Some(wall.plus(due.saturating_sub(mono)));
    }

    fn forget_before(&mut self, time: Duration) {
        while self.restarts.front().is_some_and(|made| *made < time) {
            self.restarts.pop_front();
        }
    }
}

impl Volatile {
    /// The schedule, read once for every text of it. What cannot be read never fires; it was refused
    /// before it came here.
    fn timetable(&mut self, held: &Held) -> Option<&Timetable> {
        let Mode::Schedule(schedule) = &held.assignment.spec.mode else { return None };
        let zone = self.local_zone.clone().unwrap_or(jiff::tz::TimeZone::UTC);
        let salt = workload_salt(self.salt, held.assignment.workload_id);
        let vitals = self.of(held.assignment.placement_id);
        if vitals.timetable.as_ref().is_none_or(|(text, _)| text != schedule) {
            let timetable = Timetable::new(schedule, salt, &zone).ok()?;
            vitals.timetable = Some((schedule.clone(), timetable));
        }
        vitals.timetable.as_ref().map(|(_, timetable)| timetable)
    }

    /// Of the run that lives.
    pub(super) fn health(&self, held: &Held) -> Option<Health> {
        let (run, health, _) = self.get(held.assignment.placement_id)?.health.as_ref()?;
        held.runs.contains(run).then_some(*health)
    }
}
