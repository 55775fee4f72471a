//! State on a server: the desk that transactions are handed in at, and the feed that tells of changes.
//!
//! Transactions of all callers go into one bounded queue. One task ([`writer`]) takes whatever waits and
//! carries it out as *one* transaction of the database: it takes the head row, reads the entries concerned
//! (but for those that it wrote itself a moment ago: [`known`]), lets `engine::state` decide one transaction
//! after the other, writes what that says and one row of the log. So a commit, which is what durability costs,
//! is shared by everybody who came while the one before it was under way; and each is answered after the
//! commit that it is part of. What only reads one entry does not go through the writer: another task
//! ([`reader`]) asks for what waits with one statement, which begins after the question came in, so that a
//! read sees every commit that was answered before it.
//!
//! There is no event and no audit entry for a change of an entry: the journal is for what people and the
//! system do, and would be swamped by counters. The log of the state itself says who changed what, for as
//! long as it is kept. What empties a namespace is audited (`service::state`).
//!
//! A crash loses what was not committed, and nobody was told of it. A commit whose answer got lost is told
//! as such, and never repeated by itself.
//!
//! The [`feed`] has the newest batches in memory. Own commits are put there at once; those of other servers
//! are noticed by the `state_feed` reconciler. Who watches takes from it, and reads the log where it is
//! further behind; who is behind the log is told so.

pub(crate) mod feed;
mod known;
mod reader;
mod writer;

pub use feed::{StateFollower, StateSeen};
pub(crate) use writer::Once;

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hostler_base::shutdown::{OnError, Tasks};
use hostler_model::{Actor, Code, Error, StateAct, StateAddress, StateAnswer, StateTxn, Timestamp};
use tokio::sync::{mpsc, oneshot};

use crate::{Control, Cx};
use feed::StateFeed;
use reader::Read;
use writer::{Job, Write};

/// Transactions and reads that may wait.
const WAITING_MAX: usize = 4096;
/// Requests of one port that are not answered yet, at most.
pub const STATE_IN_FLIGHT_MAX: usize = 256;

/// What was done with state since this server started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateCounts {
    /// Transactions that were carried out.
    pub transactions: u64,
    /// Transactions that were refused, or failed.
    pub failures: u64,
    /// Entries that were changed.
    pub changes: u64,
    /// Commits, each of which has some of them.
    pub batches: u64,
    /// Entries that were read.
    pub reads: u64,
    /// The newest revision that this server knows of.
    pub revision: u64,
}

#[derive(Default)]
pub(crate) struct Tally {
    transactions: AtomicU64,
    failures: AtomicU64,
    changes: AtomicU64,
    batches: AtomicU64,
    reads: AtomicU64,
}

type Queues = (mpsc::Receiver<Write>, mpsc::Receiver<Read>);

/// Where transactions and reads are handed in.
pub(crate) struct StateDesk {
    writes: mpsc::Sender<Write>,
    reads: mpsc::Sender<Read>,
    /// Until the tasks are started that serve them.
    queues: Mutex<Option<Queues>>,
    pub(crate) feed: StateFeed,
    tally: Tally,
    /// When the next entry expires, in microseconds, as far as is known; what comes earlier wakes.
    next_due: AtomicI64,
}

impl StateDesk {
    pub(crate) fn new() -> StateDesk {
        let (writes, write_queue) = mpsc::channel(WAITING_MAX);
        let (reads, read_queue) = mpsc::channel(WAITING_MAX);
        StateDesk {
            writes,
            reads,
            queues: Mutex::new(Some((write_queue, read_queue))),
            feed: StateFeed::new(),
            tally: Tally::default(),
            next_due: AtomicI64::new(i64::MAX),
        }
    }

    /// From now on everything that expires is news.
    pub(crate) fn due_unknown(&self) {
        self.next_due.store(i64::MAX, Ordering::SeqCst);
    }

    /// The next entry expires then; true when that is earlier than was known.
    pub(crate) fn due_at(&self, time: Timestamp) -> bool {
        self.next_due.fetch_min(time.micros(), Ordering::SeqCst) > time.micros()
    }
}

/// How a request at a port is answered: with its number.
pub type StateReply = (u64, Result<StateAnswer, Error>);

/// Who is told what became of a request.
pub(crate) enum Reply {
    One(oneshot::Sender<Result<StateAnswer, Error>>),
    Numbered(u64, mpsc::Sender<StateReply>),
}

impl Reply {
    /// Whoever asked may be gone; and a port never has more under way than its channel takes.
    fn send(self, answer: Result<StateAnswer, Error>) {
        match self {
            Reply::One(sender) => drop(sender.send(answer)),
            Reply::Numbered(id, sender) => drop(sender.try_send((id, answer))),
        }
    }
}

/// One caller's way to the desk, for any number of requests that are answered as they are done.
pub struct StatePort {
    control: Control,
    by: Actor,
    replies: mpsc::Sender<StateReply>,
}

impl StatePort {
    /// Hands a transaction in; waits while there is no room. The caller sees to it that no more than
    /// [`STATE_IN_FLIGHT_MAX`] are under way.
    pub async fn send(&self, id: u64, txn: StateTxn) -> Result<(), Error> {
        let reply = Reply::Numbered(id, self.replies.clone());
        self.control.state_hand_in(txn, self.by.clone(), None, reply).await
    }
}

impl Control {
    /// Starts what serves the desk.
    pub fn state_start(&self, tasks: &Tasks) {
        let queues = self.state.queues.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((writes, reads)) = queues else {
            tracing::warn!("the state desk was started twice");
            return;
        };
        let stopping = || {
            let token = tasks.token();
            async move { token.cancelled().await }
        };
        let writing = writer::serve(self.clone(), writes, stopping());
        tasks.spawn("state writer", OnError::Shutdown, writing);
        let reading = reader::serve(self.clone(), reads, stopping());
        tasks.spawn("state reader", OnError::Shutdown, reading);
    }

    /// A way to the desk for one caller, and where its answers come.
    pub fn state_port(&self, cx: &Cx) -> (StatePort, mpsc::Receiver<StateReply>) {
        let (replies, receiver) = mpsc::channel(STATE_IN_FLIGHT_MAX);
        (StatePort { control: self.clone(), by: cx.actor(), replies }, receiver)
    }

    pub fn state_counts(&self) -> StateCounts {
        let tally = &self.state.tally;
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        StateCounts {
            transactions: of(&tally.transactions),
            failures: of(&tally.failures),
            changes: of(&tally.changes),
            batches: of(&tally.batches),
            reads: of(&tally.reads),
            revision: self.state.feed.last(),
        }
    }

    /// A transaction of our own, which may have more operations than those of others.
    pub(crate) async fn state_transact_large(
        &self,
        txn: StateTxn,
        by: Actor,
    ) -> Result<StateAnswer, Error> {
        let (sender, receiver) = oneshot::channel();
        let job = Job::Txn { txn, by, once: None };
        let write = Write { job, reply: Reply::One(sender) };
        self.state.writes.send(write).await.map_err(|_| stopping())?;
        receiver.await.map_err(|_| stopping())?
    }

    /// Carries a transaction out and waits for what becomes of it.
    pub(crate) async fn state_transact(
        &self,
        txn: StateTxn,
        by: Actor,
        once: Option<Once>,
    ) -> Result<StateAnswer, Error> {
        let (sender, receiver) = oneshot::channel();
        self.state_hand_in(txn, by, once, Reply::One(sender)).await?;
        receiver.await.map_err(|_| stopping())?
    }

    /// Makes changes of entries whose time has come.
    pub(crate) async fn state_expire(&self, due: Vec<StateAddress>) -> Result<(), Error> {
        let (sender, receiver) = oneshot::channel();
        let write = Write { job: Job::Expire(due), reply: Reply::One(sender) };
        self.state.writes.send(write).await.map_err(|_| stopping())?;
        receiver.await.map_err(|_| stopping())?.map(drop)
    }

    async fn state_hand_in(
        &self,
        txn: StateTxn,
        by: Actor,
        once: Option<Once>,
        reply: Reply,
    ) -> Result<(), Error> {
        let problems = txn.problems();
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        match lone_get(txn) {
            Ok(at) => {
                let read = Read { at, reply };
                self.state.reads.send(read).await.map_err(|_| stopping())
            }
            Err(txn) => {
                let write = Write { job: Job::Txn { txn, by, once }, reply };
                self.state.writes.send(write).await.map_err(|_| stopping())
            }
        }
    }
}

/// The entry that is read, if nothing else is done.
fn lone_get(mut txn: StateTxn) -> Result<StateAddress, StateTxn> {
    let is_lone = txn.compares.is_empty()
        && matches!(txn.then.as_slice(), [op] if matches!(op.act, StateAct::Get));
    match txn.then.pop() {
        Some(op) if is_lone => Ok(op.at),
        op => {
            txn.then.extend(op);
            Err(txn)
        }
    }
}

fn stopping() -> Error {
    Error::new(Code::Unavailable, "this server is stopping", "try again; another server takes it")
        .with_retry_after(1)
}
