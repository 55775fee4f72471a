//! The supervisor: the one owner of the agent's state, and the hands of what `engine::supervise`
//! decides.
//!
//! Everything that happens is an input: wishes of the server, its acknowledgements, ends of runs,
//! outcomes of starts. The owner takes all that have queued up, folds what follows from them into its
//! state, makes the records durable with one write, and only then acts: answers the session, starts
//! and stops runs, hands reports out. While a write is under way the next inputs gather, so the busier
//! the agent is, the larger the batches are. Nothing is done per run that was not touched.
//!
//! What holds:
//!
//! 1. Nothing is started, stopped, answered or reported that is not on disk, with one exception: the
//!    next run of a `forever` service starts when its record is written, and the sync follows at once
//!    (`commit` has the argument). When the disk is full the owner waits with what it has, everything
//!    queues up behind it (every queue is bounded), and runs that live go on living.
//! 2. A run is handed to the runner only after its `Starting` or `Launched` record; a run that the
//!    runner says was started before is recovered, never started again.
//! 3. A crash at any point is repaired by the start of the next agent (`recover`): the ledger says what
//!    was intended, the runs' directories say what happened.
//! 4. Reports are levels, not events: the outbox holds at most one per run, always the newest.
//!
//! Directories of ended runs are kept for their output (`retain`) and removed in the order in which
//! their runs were forgotten.

mod board;
mod checks;
mod commit;
mod owner;
mod pausing;
mod recover;
mod retain;
mod services;
mod starts;
mod take;

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostler_base::{Clock, Ids, OnError, Tasks};
use hostler_engine::supervise::{AgentState, Command};
use hostler_model::{
    Assignment, Generation, ImageRef, Name, NodeId, PlacementId, Report, RunId, StatusReport,
};
use tokio::sync::{Notify, futures::Notified, mpsc, oneshot, watch};

use crate::config::OnStop;
use crate::ledger::Writer;
use crate::runner::{RunExited, Runner};
use crate::status::Status;
use crate::usage::UsageBook;
pub(crate) use board::{Board, ServiceView};
use owner::Owner;
use retain::Retention;

const INPUTS_QUEUED: usize = 256;

/// An assignment whose spec this release cannot read.
pub(crate) struct Unreadable {
    pub assignment: Assignment,
    pub problem: String,
}

/// What the server said of one report.
pub(crate) struct Ack {
    pub run: RunId,
    pub generation: Generation,
    /// The server has no such run.
    pub is_unknown: bool,
}

/// What the server wants, from one generation to another.
pub(crate) struct Wishes {
    pub from: Generation,
    pub to: Generation,
    pub assignments: Vec<Assignment>,
    pub unreadable: Vec<Unreadable>,
}

/// What the server said of how one placement stands.
pub(crate) struct StatusAck {
    pub placement: PlacementId,
    pub generation: Generation,
    /// The server has no such placement.
    pub is_unknown: bool,
}

pub(crate) enum Input {
    Wishes(Wishes, oneshot::Sender<Taken>),
    Acks(Vec<Ack>),
    StatusAcks(Vec<StatusAck>),
    /// A service's memory runs short, or no longer does.
    MemoryWarning(PlacementId, Option<String>),
    /// The answer says whether there is such a service.
    Command(PlacementId, Command, oneshot::Sender<bool>),
    OpenSession(oneshot::Sender<Opening>),
    /// Which images that the installation keeps are asked for here.
    Images(oneshot::Sender<Vec<ImageRef>>),
    Holdings(oneshot::Sender<Holdings>),
}

/// Every run that is held, and what is to be said of those of which there is something.
#[derive(Debug, Default)]
pub(crate) struct Holdings {
    pub runs: Vec<RunId>,
    pub reports: Vec<Report>,
}

/// What became of the server's wishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// On disk up to this generation.
    Durable(Generation),
    /// Something before them is missing.
    Gap,
}

/// How a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    pub epoch: Generation,
    pub applied: Generation,
}

/// The agent is stopping.
#[derive(Debug, thiserror::Error)]
#[error("the supervisor has ended; the agent is stopping")]
pub(crate) struct SupervisorGone;

/// The way to the supervisor; cheap to clone.
#[derive(Clone)]
pub(crate) struct Supervisor {
    inputs: mpsc::Sender<Input>,
    outbox: Arc<Outbox>,
    pending: Arc<Pending>,
    board: Arc<Board>,
    book: Arc<UsageBook>,
    status: Arc<Status>,
}

/// What a supervisor needs.
pub(crate) struct Parts {
    pub state: AgentState,
    pub writer: Writer,
    pub runner: Runner,
    pub exits: mpsc::Receiver<RunExited>,
    pub node_id: NodeId,
    pub node: Name,
    pub boot_id: String,
    pub clock: Clock,
    pub ids: Ids,
    /// No server is ever told anything.
    pub is_alone: bool,
    pub status: Arc<Status>,
    pub keep_runs: usize,
    pub keep_for: std::time::Duration,
    pub on_stop: OnStop,
}

impl Supervisor {
    /// Repairs what a crash left, then goes on in a task of its own. It stops with `tasks`.
    pub fn start(parts: Parts, tasks: &Tasks) -> Supervisor {
        let (inputs, taken) = mpsc::channel(INPUTS_QUEUED);
        let supervisor = Supervisor {
            inputs,
            outbox: Arc::default(),
            pending: Arc::default(),
            board: Arc::default(),
            book: Arc::default(),
            status: parts.status.clone(),
        };
        let (retention, doomed) = Retention::new(parts.keep_runs, parts.keep_for);
        tasks.spawn_until_cancelled(
            "janitor",
            OnError::Log,
            retain::clear_away(parts.runner.clone(), doomed),
        );
        let owner = Owner::new(
            parts,
            retention,
            taken,
            supervisor.outbox.clone(),
            supervisor.pending.clone(),
            supervisor.board.clone(),
            tasks.token(),
        );
        tasks.spawn("supervisor", OnError::Shutdown, owner.run());
        supervisor
    }

    /// Gives the server's wishes over. The receiver answers when they are durable.
    pub async fn wish(&self, wishes: Wishes) -> Result<oneshot::Receiver<Taken>, SupervisorGone> {
        let (reply, answer) = oneshot::channel();
        self.give(Input::Wishes(wishes, reply)).await?;
        Ok(answer)
    }

    pub async fn acknowledge(&self, acks: Vec<Ack>) -> Result<(), SupervisorGone> {
        self.give(Input::Acks(acks)).await
    }

    /// Numbers a new session, durably, and puts every report that the server has not acknowledged
    /// into the outbox.
    pub async fn open_session(&self) -> Result<Opening, SupervisorGone> {
        let (reply, answer) = oneshot::channel();
        self.give(Input::OpenSession(reply)).await?;
        answer.await.map_err(|_| SupervisorGone)
    }

    pub async fn acknowledge_statuses(&self, acks: Vec<StatusAck>) -> Result<(), SupervisorGone> {
        self.give(Input::StatusAcks(acks)).await
    }

    pub async fn warn_of_memory(
        &self,
        placement: PlacementId,
        warning: Option<String>,
    ) -> Result<(), SupervisorGone> {
        self.give(Input::MemoryWarning(placement, warning)).await
    }

    /// Does what somebody on the node wants; answers once that is durable, and false when there is no
    /// such service.
    pub async fn command(
        &self,
        placement: PlacementId,
        command: Command,
    ) -> Result<bool, SupervisorGone> {
        let (reply, answer) = oneshot::channel();
        self.give(Input::Command(placement, command, reply)).await?;
        answer.await.map_err(|_| SupervisorGone)
    }

    /// Which images that the installation keeps are asked for by what is on this node.
    pub async fn images_wanted(&self) -> Result<Vec<ImageRef>, SupervisorGone> {
        let (reply, answer) = oneshot::channel();
        self.give(Input::Images(reply)).await?;
        answer.await.map_err(|_| SupervisorGone)
    }

    /// Everything that is held, for a server whose database was put back.
    pub async fn holdings(&self) -> Result<Holdings, SupervisorGone> {
        let (reply, answer) = oneshot::channel();
        self.give(Input::Holdings(reply)).await?;
        answer.await.map_err(|_| SupervisorGone)
    }

    /// Why nothing can be written down now, when that is so.
    pub fn ledger_problem(&self) -> Option<String> {
        self.status.known().ledger_problem
    }

    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    /// What everything used.
    pub fn book(&self) -> &UsageBook {
        &self.book
    }

    /// Resolves when the run is not waiting to be started (any more).
    pub async fn not_pending(&self, run: RunId) {
        let mut changes = self.pending.changes.subscribe();
        while self.pending.lock().contains(&run) {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    async fn give(&self, input: Input) -> Result<(), SupervisorGone> {
        self.inputs.send(input).await.map_err(|_| SupervisorGone)
    }
}

/// Reports on their way to the server: durable, not yet sent in the present session.
#[derive(Default)]
pub(crate) struct Outbox {
    waiting: Mutex<Waiting>,
    filled: Notify,
}

#[derive(Default)]
struct Waiting {
    runs: BTreeMap<RunId, Report>,
    statuses: BTreeMap<PlacementId, StatusReport>,
}

impl Outbox {
    /// Resolves when something was put in since the last time this resolved.
    pub fn filled(&self) -> Notified<'_> {
        self.filled.notified()
    }

    pub fn take(&self, max: usize) -> Vec<Report> {
        take_some(&mut self.lock().runs, max)
    }

    pub fn take_statuses(&self, max: usize) -> Vec<StatusReport> {
        take_some(&mut self.lock().statuses, max)
    }

    pub fn is_empty(&self) -> bool {
        let waiting = self.lock();
        waiting.runs.is_empty() && waiting.statuses.is_empty()
    }

    fn put(&self, some: Vec<Report>) {
        if some.is_empty() {
            return;
        }
        self.lock().runs.extend(some.into_iter().map(|report| (report.run_id, report)));
        self.filled.notify_one();
    }

    fn put_statuses(&self, some: Vec<StatusReport>) {
        if some.is_empty() {
            return;
        }
        self.lock().statuses.extend(some.into_iter().map(|report| (report.placement_id, report)));
        self.filled.notify_one();
    }

    fn refill(&self, reports: Vec<Report>, statuses: Vec<StatusReport>) {
        *self.lock() = Waiting::default();
        self.put(reports);
        self.put_statuses(statuses);
    }

    fn remove(&self, run: RunId) {
        self.lock().runs.remove(&run);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take_some<K: Ord, V>(waiting: &mut BTreeMap<K, V>, max: usize) -> Vec<V> {
    let mut taken = Vec::with_capacity(max.min(waiting.len()));
    while taken.len() < max
        && let Some((_, report)) = waiting.pop_first()
    {
        taken.push(report);
    }
    taken
}

/// Runs that are to be started and are not yet known to have been.
#[derive(Default)]
struct Pending {
    runs: Mutex<HashSet<RunId>>,
    changes: watch::Sender<()>,
}

impl Pending {
    fn insert(&self, run: RunId) {
        self.lock().insert(run);
    }

    fn remove(&self, run: RunId) {
        if self.lock().remove(&run) {
            self.changes.send_replace(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<RunId>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
