//! The owner's loop: take inputs, fold, write, act.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use hostler_base::{Clock, Ids};
use hostler_engine::supervise::{Action, AgentState, Local, Moment, Record, Volatile};
use hostler_model::{
    Exit, ExitReason, Generation, Name, PlacementId, ReportState, RunId, Runtime, Span, StopSignal,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::checks::Checks;
pub(super) use super::commit::Batch;
use super::pausing::Pauses;
use super::retain::Retention;
use super::services::Services;
use super::starts::Starts;
use super::{Board, Holdings, Input, Outbox, Parts, Pending};
use crate::config::OnStop;
use crate::health::HealthEvent;
use crate::ledger::{Stopped, Writer};
use crate::runner::{
    PauseError, RecoveredState, RunExited, Runner, StartError, Started, StopError,
};
use crate::status::Status;

/// The most events that share one write.
const BATCH_MAX: usize = 512;
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// When a run whose shim cannot be reached is looked at again.
pub(super) const EXAMINE_AGAIN: Duration = Duration::from_secs(10);
const DRAIN_LOOK: Duration = Duration::from_millis(100);

pub(super) struct Owner {
    pub(super) state: AgentState,
    pub(super) runner: Runner,
    pub(super) boot_id: String,
    pub(super) clock: Clock,
    pub(super) starts: Starts,
    pub(super) retention: Retention,
    pub(super) volatile: Volatile,
    pub(super) services: Services,
    pub(super) checks: Checks,
    pub(super) ids: Ids,
    pub(super) is_alone: bool,
    pub(super) board: Arc<Board>,
    pub(super) writer: Writer,
    inputs: mpsc::Receiver<Input>,
    exits: mpsc::Receiver<RunExited>,
    pub(super) node: Name,
    pub(super) status: Arc<Status>,
    on_stop: OnStop,
    pub(super) outbox: Arc<Outbox>,
    pub(super) pending: Arc<Pending>,
    token: CancellationToken,
    pub(super) jobs: FuturesUnordered<BoxFuture<'static, Done>>,
    /// What waits for the sync of records that are only written, and when that is due.
    pub(super) held_back: Batch,
    pub(super) sync_by: Option<Duration>,
    /// Runs that were asked to stop, and at which generation of their assignment.
    pub(super) stopping: HashMap<RunId, Generation>,
    pub(super) pauses: Pauses,
    /// Runs that live but that the server does not know; they are forgotten when they end.
    pub(super) disowned: HashSet<RunId>,
    /// Everything is being stopped with the agent: nothing is started any more.
    is_draining: bool,
}

/// What the owner had done for it.
pub(super) enum Done {
    Started(RunId, Result<Started, StartError>),
    /// Time to try a start again.
    Due(RunId),
    Examined(RunId, io::Result<Option<RecoveredState>>),
    StopAsked(RunId, Result<(), StopError>),
    /// Frozen, or not any more.
    Frozen(RunId, bool, Result<(), PauseError>),
    Nothing,
}

enum Event {
    Input(Input),
    Exited(RunExited),
    Done(Done),
    Health(HealthEvent),
    /// It is time to look at something.
    Due,
}

impl Owner {
    pub fn new(
        parts: Parts,
        retention: Retention,
        inputs: mpsc::Receiver<Input>,
        outbox: Arc<Outbox>,
        pending: Arc<Pending>,
        board: Arc<Board>,
        token: CancellationToken,
    ) -> Owner {
        parts.status.set_applied(parts.state.applied);
        Owner {
            volatile: Owner::salted(&parts.node_id),
            services: Services::default(),
            checks: Checks::new(&parts.runner, &parts.clock),
            ids: parts.ids,
            is_alone: parts.is_alone,
            board,
            state: parts.state,
            runner: parts.runner,
            boot_id: parts.boot_id,
            clock: parts.clock,
            starts: Starts::default(),
            retention,
            writer: parts.writer,
            inputs,
            exits: parts.exits,
            node: parts.node,
            status: parts.status,
            on_stop: parts.on_stop,
            outbox,
            pending,
            token,
            jobs: FuturesUnordered::new(),
            held_back: Batch::default(),
            sync_by: None,
            stopping: HashMap::new(),
            pauses: Pauses::default(),
            disowned: HashSet::new(),
            is_draining: false,
        }
    }

    pub async fn run(mut self) {
        let mut lived = self.live().await;
        if lived.is_ok() {
            lived = self.settle().await;
        }
        if lived.is_ok() && self.status.on_stop().unwrap_or(self.on_stop) == OnStop::Stop {
            let _ = self.drain().await;
        }
        self.runner.detach().await;
    }

    async fn live(&mut self) -> Result<(), Stopped> {
        self.recover().await?;
        let token = self.token.clone();
        let mut sweep = Box::pin(self.clock.sleep(SWEEP_EVERY));
        loop {
            let due = [self.services.wakes.next(), self.sync_by].into_iter().flatten().min();
            let due = due.map(|at| at.saturating_sub(self.clock.instant()));
            let wake = self.clock.sleep(due.unwrap_or(SWEEP_EVERY));
            let first = tokio::select! {
                () = token.cancelled() => return Ok(()),
                Some(exited) = self.exits.recv() => Event::Exited(exited),
                Some(input) = self.inputs.recv() => Event::Input(input),
                Some(done) = self.jobs.next() => Event::Done(done),
                Some(event) = self.checks.events.recv() => Event::Health(event),
                () = wake, if due.is_some() => Event::Due,
                () = &mut sweep => {
                    self.retention.sweep(self.clock.now());
                    self.audit();
                    sweep = Box::pin(self.clock.sleep(SWEEP_EVERY));
                    let mut batch = self.batch();
                    self.give_up_foundlings(&mut batch);
                    self.commit(batch).await?;
                    continue;
                }
            };
            let events = self.gather(first);
            self.turn(events).await?;
        }
    }

    /// Stops everything that runs, and waits for it.
    async fn drain(&mut self) -> Result<(), Stopped> {
        self.starts = Starts::default();
        self.is_draining = true;
        let mut asked = HashSet::new();
        loop {
            let live = self.runner.live();
            for run in live.iter().filter(|run| asked.insert(**run)) {
                let (signal, grace) = self.stop_policy(*run);
                self.ask_to_stop(*run, signal, grace);
            }
            let first = if live.is_empty() {
                match self.exits.try_recv() {
                    Ok(exited) => Event::Exited(exited),
                    Err(_) => return Ok(()),
                }
            } else {
                let look = self.clock.sleep(DRAIN_LOOK);
                tokio::select! {
                    Some(exited) = self.exits.recv() => Event::Exited(exited),
                    Some(done) = self.jobs.next() => Event::Done(done),
                    () = look => continue,
                }
            };
            let events = self.gather(first);
            self.turn(events).await?;
        }
    }

    /// Takes what has queued up behind the first event, up to a limit.
    fn gather(&mut self, first: Event) -> Vec<Event> {
        let mut events = vec![first];
        while events.len() < BATCH_MAX {
            let next = if let Ok(exited) = self.exits.try_recv() {
                Event::Exited(exited)
            } else if let Some(Some(done)) = self.jobs.next().now_or_never() {
                Event::Done(done)
            } else if let Ok(input) = self.inputs.try_recv() {
                Event::Input(input)
            } else {
                break;
            };
            events.push(next);
        }
        events
    }

    async fn turn(&mut self, events: Vec<Event>) -> Result<(), Stopped> {
        let mut batch = self.batch();
        batch.ended.extend(events.iter().filter_map(|event| match event {
            Event::Exited(exited) => Some(exited.run_id),
            Event::Input(_) | Event::Done(_) | Event::Health(_) | Event::Due => None,
        }));
        for event in events {
            match event {
                Event::Input(Input::Wishes(wishes, reply)) => {
                    self.take_wishes(wishes, reply, &mut batch);
                }
                Event::Input(Input::Acks(acks)) => {
                    for ack in acks {
                        self.take_ack(ack, &mut batch);
                    }
                }
                Event::Input(Input::StatusAcks(acks)) => {
                    for ack in acks {
                        self.take_status_ack(ack, &mut batch);
                    }
                }
                Event::Input(Input::MemoryWarning(placement, warning)) => {
                    self.volatile.of(placement).memory_warning = warning;
                    batch.touched.push(placement);
                }
                Event::Input(Input::Command(placement, command, reply)) => {
                    let is_known = self.take_command(placement, command, &mut batch);
                    batch.commanded.push((reply, is_known));
                }
                Event::Input(Input::OpenSession(reply)) => self.take_session(reply, &mut batch),
                Event::Input(Input::Images(reply)) => {
                    let _ = reply.send(self.images_wanted());
                }
                Event::Input(Input::Holdings(reply)) => {
                    let runs = self.state.runs().map(|(run, _)| run).collect();
                    let _ = reply.send(Holdings { runs, reports: self.state.all_reports() });
                }
                Event::Health(event) => self.take_health(event, &mut batch),
                Event::Due => self.take_due(&mut batch),
                Event::Done(Done::Nothing) => {}
                Event::Exited(exited) => {
                    self.end(exited.run_id, exited.started, exited.exit, &mut batch);
                }
                Event::Done(Done::Started(run, outcome)) => {
                    self.take_start(run, outcome, &mut batch);
                }
                Event::Done(Done::Due(run)) => self.starts.due(run),
                Event::Done(Done::Examined(run, found)) => {
                    self.take_finding(run, found, &mut batch);
                }
                Event::Done(Done::Frozen(run, is_frozen, outcome)) => {
                    self.take_frozen(run, is_frozen, outcome, &mut batch);
                }
                Event::Done(Done::StopAsked(run, outcome)) => {
                    if outcome.is_err() {
                        self.stopping.remove(&run);
                    }
                }
            }
        }
        self.commit(batch).await
    }

    /// Looks after runs that should live but that nobody attends to: their news was lost.
    fn audit(&mut self) {
        let live: HashSet<RunId> = self.runner.live().into_iter().collect();
        for (run, held) in self.state.runs() {
            let is_up = matches!(held.local, Local::Running { .. } | Local::Paused { .. });
            if is_up && !live.contains(&run) {
                self.examine(run, Duration::ZERO);
            }
        }
    }

    pub(super) fn examine(&self, run: RunId, delay: Duration) {
        let (runner, wait) = (self.runner.clone(), self.clock.sleep(delay));
        self.jobs.push(Box::pin(async move {
            wait.await;
            Done::Examined(run, runner.recover_one(run).await)
        }));
    }

    pub(super) fn is_disowned(&self, run: RunId) -> bool {
        self.disowned.contains(&run)
    }

    pub(super) fn touch(&self, run: RunId, batch: &mut Batch) {
        batch.touched.extend(self.state.by_run(run).map(|held| held.placement));
    }

    /// Folds a record in and puts it among those to be written.
    pub(super) fn note(&mut self, record: Record, batch: &mut Batch) {
        let mut also = None;
        match &record {
            Record::Observed { run, generation, state } => {
                batch.observed.insert(*run);
                let is_services = self.state.by_run(*run).is_some_and(|held| held.origin.is_some());
                if self.is_alone && is_services {
                    also = Some(Record::Acknowledged { run: *run, generation: *generation });
                }
                match state {
                    ReportState::Running { .. } if is_services => batch.begun.push(*run),
                    ReportState::Running { .. }
                    | ReportState::Paused { .. }
                    | ReportState::Exited { .. } => {}
                }
            }
            Record::Forgotten { placement } => {
                let runs = self.state.held.get(placement).map(|held| held.runs.clone());
                for run in runs.into_iter().flatten() {
                    self.let_go(run, batch);
                }
            }
            Record::Dropped { run, .. } => self.let_go(*run, batch),
            Record::Accepted { .. }
            | Record::Starting { .. }
            | Record::Launched { .. }
            | Record::Freezing { .. }
            | Record::Fired { .. }
            | Record::Commanded { .. }
            | Record::GaveUp { .. }
            | Record::Acknowledged { .. }
            | Record::Restored { .. }
            | Record::Session { .. } => {}
        }
        self.state.apply(&record);
        if let Record::Observed { run, state: ReportState::Exited { .. }, .. } = &record {
            let (wall, mono) = (self.clock.now(), self.clock.instant());
            self.state.note_end(*run, wall, mono, &mut self.volatile);
        }
        batch.records.push(record);
        if let Some(also) = also {
            self.state.apply(&also);
            batch.records.push(also);
        }
    }

    fn let_go(&self, run: RunId, batch: &mut Batch) {
        let time = match self.state.by_run(run).map(|held| &held.local) {
            Some(Local::Exited { exit, .. }) => exit.time,
            _ => self.clock.now(),
        };
        batch.forgotten.push((run, time));
        batch.observed.remove(&run);
    }

    /// Asks the engine what follows for everything that was touched.
    pub(super) fn decide(&mut self, batch: &mut Batch) {
        self.touch_dependents(batch);
        let mut touched = std::mem::take(&mut batch.touched);
        touched.sort_unstable();
        touched.dedup();
        for placement in touched {
            self.adopt(placement, batch);
            while let Some(action) = self.next_action(placement) {
                match action {
                    Action::Start { .. } if self.is_draining => break,
                    Action::Start { run, record } => {
                        self.note(record, batch);
                        self.pending.insert(run);
                        self.starts.queue(run);
                    }
                    Action::Write(record) => self.note(record, batch),
                    Action::Freeze { run } => {
                        self.want_frozen(run, true, batch);
                        break;
                    }
                    Action::Thaw { run } => {
                        self.want_frozen(run, false, batch);
                        break;
                    }
                    Action::Stop { runs } => {
                        let (waiting, begun): (Vec<_>, Vec<_>) =
                            runs.into_iter().partition(|run| self.starts.withdraw(*run));
                        for run in &waiting {
                            let exit = Exit {
                                reason: ExitReason::Stopped,
                                message: Some("stopped before it ran".to_owned()),
                                ..self.start_failed(String::new())
                            };
                            self.end(*run, None, exit, batch);
                        }
                        for run in begun {
                            self.want_stop(run, batch);
                        }
                        if waiting.is_empty() {
                            break;
                        }
                    }
                }
            }
            self.forget_removed(placement, batch);
            self.settle_service(placement, batch);
        }
    }

    fn next_action(&mut self, placement: PlacementId) -> Option<Action> {
        let boot_id = std::mem::take(&mut self.boot_id);
        let now = Moment {
            wall: self.clock.now(),
            mono: self.clock.instant(),
            boot_id: &boot_id,
            fresh_run: self.ids.fresh(),
        };
        let action = self.state.action_for(placement, now, &mut self.volatile);
        self.boot_id = boot_id;
        action
    }

    /// A run that is being handed over is stopped when that is done. A repeated wish is passed on only
    /// when it is a newer one: it may shorten the grace.
    pub(super) fn want_stop(&mut self, run: RunId, batch: &mut Batch) {
        let Some(held) = self.state.placement_of(run) else {
            return;
        };
        let generation = held.assignment.generation;
        // What has to be fetched first may take long to come; such a start hears of the stop at once.
        let spec = &held.assignment.spec;
        let is_fetched = spec.runtime == Runtime::Container
            || !spec.inputs.is_empty()
            || !spec.secrets.is_empty()
            || spec.identity.is_some();
        let is_too_early = self.starts.is_in_flight(run) && !is_fetched;
        if is_too_early || self.stopping.get(&run) >= Some(&generation) {
            return;
        }
        self.stopping.insert(run, generation);
        let (signal, grace) = self.stop_policy(run);
        batch.stops.push((run, signal, grace));
    }

    pub(super) fn stop_policy(&self, run: RunId) -> (StopSignal, Span) {
        match self.state.placement_of(run) {
            Some(held) => {
                let policy = &held.assignment.spec.stop;
                (policy.signal, held.assignment.grace.unwrap_or(policy.grace))
            }
            None => (StopSignal::Term, Span::from_secs(10)),
        }
    }

    pub(super) fn ask_to_stop(&self, run: RunId, signal: StopSignal, grace: Span) {
        let runner = self.runner.clone();
        self.jobs.push(Box::pin(async move {
            Done::StopAsked(run, runner.stop(run, signal, grace).await)
        }));
    }
}
