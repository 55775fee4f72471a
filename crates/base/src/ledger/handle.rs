//! The shared handle: many callers, one owner, one sync for all who wait.
//!
//! The owner is a task. It takes what has queued up, writes it in one go and syncs once, on a
//! blocking thread; everyone in the batch gets the answer of that sync. While a sync is under way the
//! next batch gathers, so the busier it is, the larger the batches are. A request that was queued is
//! carried out even if its caller has gone. When its phase is cancelled the owner refuses new
//! requests, commits those queued, and ends.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, oneshot};

use super::journal::{Frames, encode_all};
use super::{Error, Journal};
use crate::shutdown::{OnError, Panicked, Tasks};

/// Requests that may wait; more callers wait for their turn to queue.
const QUEUE_MAX: usize = 1024;
/// Bytes after which a batch is committed though more is queued.
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The ledger, for async code; cheap to clone.
pub struct Ledger<R> {
    queue: mpsc::Sender<Request>,
    size: Arc<Size>,
    _record: PhantomData<fn(R)>,
}

struct Request {
    kind: Kind,
    frames: Frames,
    done: oneshot::Sender<Result<(), Error>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Append,
    Jot,
    Rewrite,
}

#[derive(Default)]
struct Size {
    bytes: AtomicU64,
    records: AtomicU64,
    commits: AtomicU64,
}

/// How large the ledger is, to decide when to compact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LedgerSize {
    pub bytes: u64,
    pub records: u64,
    /// Syncs since the ledger was started.
    pub commits: u64,
}

impl<R: Serialize + DeserializeOwned + Send + 'static> Ledger<R> {
    /// Gives the journal to a task of its own. `tasks` is the group of the phase that stops last.
    pub fn start(journal: Journal<R>, tasks: &Tasks) -> Ledger<R> {
        let (queue, requests) = mpsc::channel(QUEUE_MAX);
        let size = Arc::new(Size::default());
        size.store(&journal);
        let owner = Owner { journal, requests, size: size.clone(), tasks: tasks.clone() };
        tasks.spawn("ledger", OnError::Shutdown, owner.run());
        Ledger { queue, size, _record: PhantomData }
    }

    /// Appends records; they are durable, all of them, when this returns `Ok`. If the caller goes
    /// away in between, they may or may not be.
    pub async fn append(&self, records: Vec<R>) -> Result<(), Error> {
        if records.is_empty() {
            return Ok(());
        }
        self.request(Kind::Append, encode_all(&records)?).await
    }

    /// Writes records without syncing them: when this returns `Ok` they survive the death of this
    /// process, and that of the machine from the next `append` or `sync` that succeeds.
    pub async fn jot(&self, records: Vec<R>) -> Result<(), Error> {
        if records.is_empty() {
            return Ok(());
        }
        self.request(Kind::Jot, encode_all(&records)?).await
    }

    /// Makes durable what was jotted.
    pub async fn sync(&self) -> Result<(), Error> {
        self.request(Kind::Append, Frames::default()).await
    }

    /// Replaces everything by `records`. They must include what earlier appends said: whoever owns
    /// the state awaits its appends before it calls this.
    pub async fn rewrite(&self, records: Vec<R>) -> Result<(), Error> {
        self.request(Kind::Rewrite, encode_all(&records)?).await
    }

    pub fn size(&self) -> LedgerSize {
        LedgerSize {
            bytes: self.size.bytes.load(Ordering::Relaxed),
            records: self.size.records.load(Ordering::Relaxed),
            commits: self.size.commits.load(Ordering::Relaxed),
        }
    }

    async fn request(&self, kind: Kind, frames: Frames) -> Result<(), Error> {
        let (done, answer) = oneshot::channel();
        let request = Request { kind, frames, done };
        self.queue.send(request).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

impl<R> Clone for Ledger<R> {
    fn clone(&self) -> Ledger<R> {
        Ledger { queue: self.queue.clone(), size: self.size.clone(), _record: PhantomData }
    }
}

impl Size {
    fn store<R>(&self, journal: &Journal<R>) {
        self.bytes.store(journal.bytes(), Ordering::Relaxed);
        self.records.store(journal.records(), Ordering::Relaxed);
    }
}

struct Owner<R> {
    journal: Journal<R>,
    requests: mpsc::Receiver<Request>,
    size: Arc<Size>,
    tasks: Tasks,
}

impl<R: Send + 'static> Owner<R> {
    async fn run(mut self) -> Result<(), Panicked> {
        let token = self.tasks.token();
        loop {
            // Cancelled: take no more requests, but go on until those queued are committed.
            let first = tokio::select! {
                request = self.requests.recv() => request,
                () = token.cancelled(), if !self.requests.is_closed() => {
                    self.requests.close();
                    continue;
                }
            };
            let Some(first) = first else { return Ok(()) };
            let batch = self.gather(first);
            let is_synced = batch.iter().any(|request| request.kind != Kind::Jot);
            let (mut journal, size) = (self.journal, self.size.clone());
            let committed = self
                .tasks
                .run_blocking("ledger commit", move || {
                    let answers = commit(&mut journal, batch);
                    size.store(&journal);
                    size.commits.fetch_add(is_synced.into(), Ordering::Relaxed);
                    for (done, result) in answers {
                        // A caller that has gone does not need the answer.
                        let _ = done.send(result);
                    }
                    journal
                })
                .await;
            self.journal = committed?;
        }
    }

    /// Takes what is queued behind `first`, up to a limit.
    fn gather(&mut self, first: Request) -> Vec<Request> {
        let mut bytes = first.frames.bytes.len();
        let mut batch = vec![first];
        while bytes < BATCH_BYTES_MAX
            && let Ok(next) = self.requests.try_recv()
        {
            bytes += next.frames.bytes.len();
            batch.push(next);
        }
        batch
    }
}

type Answer = (oneshot::Sender<Result<(), Error>>, Result<(), Error>);

fn commit<R>(journal: &mut Journal<R>, batch: Vec<Request>) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(batch.len());
    let mut appends = Vec::new();
    for request in batch {
        match request.kind {
            Kind::Append => appends.push(request),
            Kind::Jot => {
                answers.extend(commit_appends(journal, std::mem::take(&mut appends)));
                answers.push((request.done, journal.jot(request.frames)));
            }
            Kind::Rewrite => {
                answers.extend(commit_appends(journal, std::mem::take(&mut appends)));
                answers.push((request.done, journal.rewrite_bytes(&request.frames)));
            }
        }
    }
    answers.extend(commit_appends(journal, appends));
    answers
}

/// One write and one sync for all; where that fails, each on its own, so that a record that does not
/// fit on the disk does not take those with it that do.
fn commit_appends<R>(journal: &mut Journal<R>, appends: Vec<Request>) -> Vec<Answer> {
    if appends.len() > 1 {
        let mut all = Frames::default();
        for append in &appends {
            all.extend(&append.frames);
        }
        if journal.write(&all).and_then(|()| journal.sync()).is_ok() {
            return appends.into_iter().map(|append| (append.done, Ok(()))).collect();
        }
    }
    appends
        .into_iter()
        .map(|append| {
            let result = journal.write(&append.frames).and_then(|()| journal.sync());
            (append.done, result)
        })
        .collect()
}
