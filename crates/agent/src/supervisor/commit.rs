//! From a decision to its consequences: what was decided is made durable, and only then acted on.
//!
//! There is one exception, because a sync takes as long as everything else about a restart together.
//! The next run of a `forever` service is handed to the runner as soon as its `Launched` record is
//! *written*; the sync follows within [`SYNC_WITHIN`], usually together with the news that the run
//! runs, and everything else that the batch asks for (answers, reports, what is shown, what is
//! forgotten) waits for that sync as ever. What that means:
//!
//! - The agent dies, at any instant: what was written is in the kernel's hands, and the next agent
//!   reads it. Nothing differs from a sync.
//! - The machine dies before the sync: the ledger may end before the exit of the last run and the
//!   launch of its successor. Neither was told to anybody. Nothing runs any more, the successor's id is
//!   never used again (ids are made afresh, and its directory names another boot), and a `forever`
//!   service gets its next run as after any reboot. Its history and its count of runs are short by what
//!   was lost, which is at most what happened within those milliseconds.
//!
//! Whatever counts on a record being there is synced first: tasks, `once` and `times` (the number of
//! runs is the promise), schedules (each time at most once), wishes of a server and of people. A batch
//! that has any of that in it is treated as a whole.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use futures::FutureExt;
use hostler_engine::supervise::{AgentState, Held, Local, Record};
use hostler_model::{
    Assignment, Mode, Name, Origin, PlacementId, RunId, Span, StopSignal, Timestamp,
};
use tokio::sync::oneshot;
use tracing::Instrument;

use super::owner::{Done, Owner};
use super::{Opening, Taken};
use crate::ledger::Stopped;
use crate::runner::StartRun;

/// How long something may be written and not yet durable.
const SYNC_WITHIN: Duration = Duration::from_millis(50);

/// What follows from some events: what to write, and what to do once that is durable.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) records: Vec<Record>,
    /// Placements to look for actions of.
    pub(super) touched: Vec<PlacementId>,
    /// Runs with something new to report.
    pub(super) observed: BTreeSet<RunId>,
    pub(super) forgotten: Vec<(RunId, Timestamp)>,
    pub(super) stops: Vec<(RunId, StopSignal, Span)>,
    /// Runs to be frozen, or to be let go on.
    pub(super) pauses: Vec<(RunId, bool)>,
    pub(super) examine: Vec<(RunId, Duration)>,
    pub(super) delays: Vec<(RunId, Duration)>,
    pub(super) taken: Vec<(oneshot::Sender<Taken>, Taken)>,
    pub(super) opened: Vec<oneshot::Sender<Opening>>,
    pub(super) commanded: Vec<(oneshot::Sender<bool>, bool)>,
    /// Services that were looked at.
    pub(super) settled: BTreeSet<PlacementId>,
    /// Runs that began to run, whose checks are to be asked.
    pub(super) begun: Vec<RunId>,
    /// Runs whose end is among the events.
    pub(super) ended: HashSet<RunId>,
}

impl Batch {
    /// Whether anybody or anything but runs that are to start waits for it.
    fn is_waited_for(&self) -> bool {
        let Batch { taken, opened, commanded, stops, pauses, examine, delays, .. } = self;
        !(taken.is_empty()
            && opened.is_empty()
            && commanded.is_empty()
            && stops.is_empty()
            && pauses.is_empty()
            && examine.is_empty()
            && delays.is_empty())
    }
}

/// Whether runs may start while this record is written but not durable.
fn may_be_late(record: &Record, state: &AgentState) -> bool {
    match record {
        Record::Observed { .. } | Record::Acknowledged { .. } | Record::Dropped { .. } => true,
        Record::Launched { placement, fired: None, .. } => {
            state.held.get(placement).is_some_and(|held| held.assignment.spec.mode == Mode::Forever)
        }
        Record::Launched { .. }
        | Record::Accepted { .. }
        | Record::Starting { .. }
        | Record::Freezing { .. }
        | Record::Fired { .. }
        | Record::Commanded { .. }
        | Record::GaveUp { .. }
        | Record::Forgotten { .. }
        | Record::Session { .. }
        | Record::Restored { .. } => false,
    }
}

impl Owner {
    /// A batch to add to: what waits for a sync, if anything does.
    pub(super) fn batch(&mut self) -> Batch {
        Batch { ended: HashSet::new(), ..std::mem::take(&mut self.held_back) }
    }

    fn may_start_first(&self, records: &[Record], batch: &Batch) -> bool {
        let is_in_time = self.sync_by.is_none_or(|by| self.clock.instant() < by);
        is_in_time
            && self.starts.is_any_waiting()
            && !batch.is_waited_for()
            && records.iter().all(|record| may_be_late(record, &self.state))
    }

    /// Makes durable what waits for a sync, and does what waits for that.
    pub(super) async fn settle(&mut self) -> Result<(), Stopped> {
        if self.sync_by.is_none() {
            return Ok(());
        }
        self.sync_by = Some(Duration::ZERO);
        let batch = self.batch();
        self.commit(batch).await
    }

    /// Makes the batch durable, then does what it says.
    pub(super) async fn commit(&mut self, mut batch: Batch) -> Result<(), Stopped> {
        self.decide(&mut batch);
        ended_traced(&batch.ended, &self.state, &self.node);
        let records = std::mem::take(&mut batch.records);
        if self.may_start_first(&records, &batch) {
            self.writer.jot(records).await?;
            self.hand_over_starts();
            self.sync_by.get_or_insert(self.clock.instant() + SYNC_WITHIN);
            self.held_back = batch;
            return Ok(());
        }
        self.writer.write(records).await?;
        self.sync_by = None;
        self.status.set_applied(self.state.applied);
        for (reply, taken) in batch.taken {
            // A session that has ended does not need the answer.
            let _ = reply.send(taken);
        }
        for (reply, is_known) in batch.commanded {
            let _ = reply.send(is_known);
        }
        for (run, time) in batch.forgotten {
            self.outbox.remove(run);
            self.pending.remove(run);
            self.stopping.remove(&run);
            self.pauses.forget(run);
            self.disowned.remove(&run);
            self.services.condemned.remove(&run);
            self.retention.keep(run, time);
        }
        if !self.is_alone {
            let reports = batch.observed.iter();
            let reports = reports.filter_map(|run| self.state.by_run(*run)?.report(*run));
            self.outbox.put(reports.collect());
        }
        self.tell_statuses(batch.settled);
        for reply in batch.opened {
            let statuses = self.all_statuses();
            self.outbox.refill(self.state.reports(), statuses);
            let opening = Opening { epoch: self.state.session_epoch, applied: self.state.applied };
            let _ = reply.send(opening);
        }
        self.retention.sweep(self.clock.now());
        for (run, signal, grace) in batch.stops {
            self.ask_to_stop(run, signal, grace);
        }
        for (run, is_frozen) in batch.pauses {
            self.ask_to_freeze(run, is_frozen);
        }
        for (run, delay) in batch.examine {
            self.examine(run, delay);
        }
        for (run, delay) in batch.delays {
            let wait = self.clock.sleep(delay);
            self.jobs.push(wait.map(move |()| Done::Due(run)).boxed());
        }
        for run in batch.begun {
            self.begin_checks(run);
        }
        self.hand_over_starts();
        self.writer.compact_if_grown(&self.state).await;
        Ok(())
    }

    fn hand_over_starts(&mut self) {
        while let Some(run) = self.starts.next() {
            let Some(held) = self.state.placement_of(run) else {
                self.starts.done(run);
                continue;
            };
            let origin = self.state.by_run(run).and_then(|held| held.origin);
            let start = StartRun {
                run_id: run,
                placement_id: held.assignment.placement_id,
                spec: held.assignment.spec.clone(),
                task: held.assignment.workload_name.clone(),
                project: held.assignment.project_name.clone(),
                node: self.node.clone(),
                env: about(origin, &held.assignment),
                reservation: held.assignment.reservation.clone(),
            };
            let span = start_span(held, run, &self.node);
            let runner = self.runner.clone();
            let started = async move { Done::Started(run, runner.start_run(start).await) };
            self.jobs.push(started.instrument(span).boxed());
        }
    }
}

/// What a service's run, or a task of an array, can know of itself.
fn about(origin: Option<Origin>, assignment: &Assignment) -> BTreeMap<String, String> {
    let mut env = BTreeMap::new();
    let mut set = |key: &str, value: String| env.insert(key.to_owned(), value);
    if let Some(origin) = origin {
        set("HOSTLER_RUN_NUMBER", origin.number.to_string());
        set("HOSTLER_RUN_CAUSE", origin.cause.to_string());
        if let Some(fire) = origin.fire {
            set("HOSTLER_FIRE_TIME", fire.to_string());
        }
    }
    if let Some(seat) = assignment.seat {
        set("HOSTLER_ARRAY", seat.array.to_string());
        set("HOSTLER_ARRAY_INDEX", seat.index.to_string());
    }
    if let Some(trace) = assignment.trace
        && !assignment.spec.env.contains_key(TRACEPARENT)
    {
        set(TRACEPARENT, trace.to_string());
    }
    env
}

/// Where programs look for the trace that they are part of.
const TRACEPARENT: &str = "TRACEPARENT";

/// From the order to start a run until its program runs, with everything that has to be there first.
fn start_span(held: &Held, run: RunId, node: &Name) -> tracing::Span {
    let Assignment { trace: Some(trace), workload_name, .. } = &held.assignment else {
        return tracing::Span::none();
    };
    let span = tracing::info_span!("start", task = %workload_name, %run, %node);
    hostler_base::log::continue_trace(&span, trace);
    span
}

/// Adds the runs that have ended to their traces, as their shims saw them.
fn ended_traced(ended: &HashSet<RunId>, state: &AgentState, node: &Name) {
    for run in ended {
        let trace = state.placement_of(*run).and_then(|held| held.assignment.trace);
        let local = state.by_run(*run).map(|held| &held.local);
        let (Some(trace), Some(Local::Exited { started, exit, .. })) = (trace, local) else {
            continue;
        };
        let attributes = vec![
            ("hostler.run", run.to_string()),
            ("hostler.node", node.to_string()),
            ("hostler.exit", exit.to_string()),
        ];
        let started = started.unwrap_or(exit.time);
        hostler_base::log::record_span(&trace, "run", started, exit.time, attributes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_engine::schedule::FireLog;
    use hostler_engine::supervise::{Command, Fired};
    use hostler_model::{
        Desired, Generation, ReportState, RunCause, Schedule, WorkloadId, WorkloadSpec,
    };
    use uuid::Uuid;

    fn placement(n: u128) -> PlacementId {
        PlacementId::from_uuid(Uuid::from_u128(n))
    }

    fn service(n: u128, mode: Mode) -> Assignment {
        Assignment {
            placement_id: placement(n),
            run_id: None,
            desired: Desired::Run,
            generation: Generation::FIRST,
            workload_id: WorkloadId::from_uuid(Uuid::from_u128(n)),
            workload_name: "w".parse().unwrap(),
            project_name: "default".parse().unwrap(),
            spec: WorkloadSpec { mode, ..WorkloadSpec::command(["true".to_owned()]) },
            grace: None,
            reservation: hostler_model::Reservation::default(),
            seat: None,
            trace: None,
            revision: Generation::FIRST,
        }
    }

    fn launched(n: u128, fired: Option<Fired>) -> Record {
        let run = RunId::from_uuid(Uuid::from_u128(100 + n));
        let (placement, boot_id) = (placement(n), "b".to_owned());
        Record::Launched { placement, run, boot_id, cause: RunCause::Restart, fired }
    }

    #[test]
    fn only_what_runs_forever_may_start_before_the_sync() {
        let schedule: Schedule = serde_json::from_str(r#"{"cron": "* * * * *"}"#).unwrap();
        let modes = [Mode::Forever, Mode::Once, Mode::Times(3), Mode::Schedule(schedule)];
        let services = (1..).zip(modes).map(|(n, mode)| service(n, mode));
        let accepted =
            Record::Accepted { generation: Generation::FIRST, assignments: services.collect() };
        let mut state = AgentState::default();
        state.apply(&accepted);

        let run = RunId::from_uuid(Uuid::from_u128(101));
        let since = Timestamp::EPOCH;
        let running = ReportState::Running { pid: 1, since };
        let fires = FireLog::starting(since);
        let fired = Fired { fire: since, fires: fires.clone(), missed: 0 };
        let placement = placement(1);
        let generation = Generation::FIRST;
        let table = [
            (launched(1, None), true),
            (launched(2, None), false),
            (launched(3, None), false),
            (launched(4, None), false),
            (launched(5, None), false),
            (launched(1, Some(fired)), false),
            (Record::Observed { run, generation, state: running }, true),
            (Record::Acknowledged { run, generation }, true),
            (Record::Dropped { run, is_untold: false }, true),
            (accepted, false),
            (Record::Starting { run, boot_id: "b".to_owned() }, false),
            (Record::Fired { placement, fires, missed: 0 }, false),
            (Record::Commanded { placement, command: Command::Start }, false),
            (Record::GaveUp { placement, why: String::new() }, false),
            (Record::Forgotten { placement }, false),
            (Record::Session { epoch: generation }, false),
        ];
        for (record, expected) in table {
            assert_eq!(may_be_late(&record, &state), expected, "{record:?}");
        }
    }

    #[test]
    fn whoever_waits_is_answered_only_after_the_sync() {
        let mut batch = Batch { settled: [placement(1)].into(), ..Batch::default() };
        batch.begun.push(RunId::from_uuid(Uuid::from_u128(1)));
        assert!(!batch.is_waited_for());
        let (reply, _answer) = oneshot::channel();
        batch.commanded.push((reply, true));
        assert!(batch.is_waited_for());
    }
}
