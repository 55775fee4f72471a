//! The owner's loop: take inputs, fold, write, act.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use hostler_base::Clock;
use hostler_engine::supervise::{Action, AgentState, Local, Record};
use hostler_model::{
    Exit, ExitReason, Generation, Name, PlacementId, RunId, Span, StopSignal, Timestamp,
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::retain::Retention;
use super::starts::Starts;
use super::{Input, Opening, Outbox, Parts, Pending, Taken};
use crate::config::OnStop;
use crate::ledger::{Stopped, Writer};
use crate::runner::{RecoveredState, RunExited, Runner, StartError, StartRun, Started, StopError};
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
    writer: Writer,
    inputs: mpsc::Receiver<Input>,
    exits: mpsc::Receiver<RunExited>,
    node: Name,
    status: Arc<Status>,
    on_stop: OnStop,
    outbox: Arc<Outbox>,
    pub(super) pending: Arc<Pending>,
    token: CancellationToken,
    jobs: FuturesUnordered<BoxFuture<'static, Done>>,
    /// Runs that were asked to stop, and at which generation of their assignment.
    stopping: HashMap<RunId, Generation>,
    /// Runs that live but that the server does not know; they are forgotten when they end.
    pub(super) disowned: HashSet<RunId>,
}

/// What the owner had done for it.
pub(super) enum Done {
    Started(RunId, Result<Started, StartError>),
    /// Time to try a start again.
    Due(RunId),
    Examined(RunId, io::Result<Option<RecoveredState>>),
    StopAsked(RunId, Result<(), StopError>),
}

enum Event {
    Input(Input),
    Exited(RunExited),
    Done(Done),
}

/// What follows from some events: what to write, and what to do once that is durable.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) records: Vec<Record>,
    /// Placements to look for actions of.
    pub(super) touched: Vec<PlacementId>,
    /// Runs with something new to report.
    observed: BTreeSet<RunId>,
    forgotten: Vec<(RunId, Timestamp)>,
    pub(super) stops: Vec<(RunId, StopSignal, Span)>,
    pub(super) examine: Vec<(RunId, Duration)>,
    pub(super) delays: Vec<(RunId, Duration)>,
    pub(super) taken: Vec<(oneshot::Sender<Taken>, Taken)>,
    pub(super) opened: Vec<oneshot::Sender<Opening>>,
    /// Runs whose end is among the events.
    pub(super) ended: HashSet<RunId>,
}

impl Owner {
    pub fn new(
        parts: Parts,
        retention: Retention,
        inputs: mpsc::Receiver<Input>,
        outbox: Arc<Outbox>,
        pending: Arc<Pending>,
        token: CancellationToken,
    ) -> Owner {
        parts.status.set_applied(parts.state.applied);
        Owner {
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
            stopping: HashMap::new(),
            disowned: HashSet::new(),
        }
    }

    pub async fn run(mut self) {
        let lived = self.live().await;
        if lived.is_ok() && self.on_stop == OnStop::Stop {
            let _ = self.drain().await;
        }
        self.runner.detach().await;
    }

    async fn live(&mut self) -> Result<(), Stopped> {
        self.recover().await?;
        let token = self.token.clone();
        let mut sweep = Box::pin(self.clock.sleep(SWEEP_EVERY));
        loop {
            let first = tokio::select! {
                () = token.cancelled() => return Ok(()),
                Some(exited) = self.exits.recv() => Event::Exited(exited),
                Some(input) = self.inputs.recv() => Event::Input(input),
                Some(done) = self.jobs.next() => Event::Done(done),
                () = &mut sweep => {
                    self.retention.sweep(self.clock.now());
                    self.audit();
                    sweep = Box::pin(self.clock.sleep(SWEEP_EVERY));
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
        let mut batch = Batch::default();
        batch.ended.extend(events.iter().filter_map(|event| match event {
            Event::Exited(exited) => Some(exited.run_id),
            Event::Input(_) | Event::Done(_) => None,
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
                Event::Input(Input::OpenSession(reply)) => self.take_session(reply, &mut batch),
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
        for held in self.state.held.values() {
            let run = held.assignment.run_id;
            if matches!(held.local, Local::Running { .. }) && !live.contains(&run) {
                self.examine(run, Duration::ZERO);
            }
        }
    }

    fn examine(&self, run: RunId, delay: Duration) {
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
        let held = self.state.by_run(run);
        batch.touched.extend(held.map(|held| held.assignment.placement_id));
    }

    /// Folds a record in and puts it among those to be written.
    pub(super) fn note(&mut self, record: Record, batch: &mut Batch) {
        match &record {
            Record::Observed { run, .. } => {
                batch.observed.insert(*run);
            }
            Record::Forgotten { placement } => {
                if let Some(held) = self.state.held.get(placement) {
                    let run = held.assignment.run_id;
                    let time = match &held.local {
                        Local::Exited { exit, .. } => exit.time,
                        Local::Waiting | Local::Starting { .. } | Local::Running { .. } => {
                            self.clock.now()
                        }
                    };
                    batch.forgotten.push((run, time));
                    batch.observed.remove(&run);
                }
            }
            Record::Accepted { .. }
            | Record::Starting { .. }
            | Record::Acknowledged { .. }
            | Record::Session { .. } => {}
        }
        self.state.apply(&record);
        batch.records.push(record);
    }

    /// Asks the engine what follows for everything that was touched.
    fn decide(&mut self, batch: &mut Batch) {
        let now = self.clock.now();
        let mut touched = std::mem::take(&mut batch.touched);
        touched.sort_unstable();
        touched.dedup();
        for placement in touched {
            while let Some(action) = self.state.action_for(placement, now) {
                match action {
                    Action::Start { assignment } => {
                        let run = assignment.run_id;
                        let boot_id = self.boot_id.clone();
                        self.note(Record::Starting { run, boot_id }, batch);
                        self.pending.insert(run);
                        self.starts.queue(run);
                    }
                    Action::Write(record) => self.note(record, batch),
                    Action::Stop { run } if self.starts.withdraw(run) => {
                        let exit = Exit {
                            reason: ExitReason::Stopped,
                            message: Some("stopped before it ran".to_owned()),
                            ..self.start_failed(String::new())
                        };
                        self.end(run, None, exit, batch);
                    }
                    Action::Stop { run } => {
                        self.want_stop(run, batch);
                        break;
                    }
                }
            }
        }
    }

    /// A run that is being handed over is stopped when that is done. A repeated wish is passed on only
    /// when it is a newer one: it may shorten the grace.
    pub(super) fn want_stop(&mut self, run: RunId, batch: &mut Batch) {
        let Some(held) = self.state.by_run(run) else {
            return;
        };
        let generation = held.assignment.generation;
        if self.starts.is_in_flight(run) || self.stopping.get(&run) >= Some(&generation) {
            return;
        }
        self.stopping.insert(run, generation);
        let (signal, grace) = self.stop_policy(run);
        batch.stops.push((run, signal, grace));
    }

    fn stop_policy(&self, run: RunId) -> (StopSignal, Span) {
        match self.state.by_run(run) {
            Some(held) => {
                let policy = &held.assignment.spec.stop;
                (policy.signal, held.assignment.grace.unwrap_or(policy.grace))
            }
            None => (StopSignal::Term, Span::from_secs(10)),
        }
    }

    /// Makes the batch durable, then does what it says.
    pub(super) async fn commit(&mut self, mut batch: Batch) -> Result<(), Stopped> {
        self.decide(&mut batch);
        self.writer.write(std::mem::take(&mut batch.records)).await?;
        self.status.set_applied(self.state.applied);
        for (reply, taken) in batch.taken {
            // A session that has ended does not need the answer.
            let _ = reply.send(taken);
        }
        for (run, time) in batch.forgotten {
            self.outbox.remove(run);
            self.pending.remove(run);
            self.stopping.remove(&run);
            self.disowned.remove(&run);
            self.retention.keep(run, time);
        }
        let reports = batch.observed.iter();
        let reports = reports.filter_map(|run| self.state.by_run(*run)?.report());
        self.outbox.put(reports.collect());
        for reply in batch.opened {
            self.outbox.refill(self.state.reports());
            let opening = Opening { epoch: self.state.session_epoch, applied: self.state.applied };
            let _ = reply.send(opening);
        }
        self.retention.sweep(self.clock.now());
        for (run, signal, grace) in batch.stops {
            self.ask_to_stop(run, signal, grace);
        }
        for (run, delay) in batch.examine {
            self.examine(run, delay);
        }
        for (run, delay) in batch.delays {
            let wait = self.clock.sleep(delay);
            self.jobs.push(wait.map(move |()| Done::Due(run)).boxed());
        }
        self.hand_over_starts();
        self.writer.compact_if_grown(&self.state).await;
        Ok(())
    }

    fn ask_to_stop(&self, run: RunId, signal: StopSignal, grace: Span) {
        let runner = self.runner.clone();
        self.jobs.push(Box::pin(async move {
            Done::StopAsked(run, runner.stop(run, signal, grace).await)
        }));
    }

    fn hand_over_starts(&mut self) {
        while let Some(run) = self.starts.next() {
            let Some(held) = self.state.by_run(run) else {
                self.starts.done(run);
                continue;
            };
            let start = StartRun {
                run_id: run,
                spec: held.assignment.spec.clone(),
                task: held.assignment.workload_name.clone(),
                project: held.assignment.project_name.clone(),
                node: self.node.clone(),
                env: Default::default(),
            };
            let runner = self.runner.clone();
            self.jobs
                .push(Box::pin(async move { Done::Started(run, runner.start_run(start).await) }));
        }
    }
}
