//! Carries transactions out: whatever waits, as one commit.

use std::collections::{BTreeSet, HashSet};
use std::pin::pin;
use std::sync::atomic::Ordering;

use hostler_engine::state::{Book, Pages, Refusal, Written};
use hostler_model::{
    Actor, Bytes, Code, Diagnostic, Error, Name, ObjectKind, ObjectRef, PrincipalId, ProjectId,
    STATE_TXN_BYTES_MAX, StateAddress, StateAnswer, StateSum, StateTxn,
};
use hostler_store::{Claim, Error as StoreError, Tx};
use tokio::sync::mpsc;

use super::Reply;
use super::known::Known;
use crate::service::quota_exceeded;
use crate::{Control, Idempotency};

/// Transactions of one commit, and bytes of their values, about.
const TOGETHER_MAX: usize = 512;
const BYTES_MAX: usize = STATE_TXN_BYTES_MAX;

/// The promise that a request that comes again is the same one.
#[derive(Clone, Debug)]
pub(crate) struct Once {
    pub(crate) principal: PrincipalId,
    pub(crate) idempotency: Idempotency,
    /// Only what was done because its conditions held counts as carried out.
    pub(crate) only_held: bool,
}

pub(super) enum Job {
    Txn {
        txn: StateTxn,
        by: Actor,
        once: Option<Once>,
    },
    /// Looks at these entries, which ends those whose time has come.
    Expire(Vec<StateAddress>),
}

impl Job {
    fn size(&self) -> usize {
        match self {
            Job::Txn { txn, .. } => txn.size(),
            Job::Expire(_) => 0,
        }
    }
}

pub(super) struct Write {
    pub(super) job: Job,
    pub(super) reply: Reply,
}

/// Why a transaction of a batch is not carried out though the batch is.
#[derive(Debug)]
enum No {
    Refused(Refusal),
    /// It was, when the request came for the first time.
    Done(String),
    KeyReused,
}

type Outcome = Result<StateAnswer, No>;

pub(super) async fn serve(
    control: Control,
    mut queue: mpsc::Receiver<Write>,
    stopping: impl Future<Output = ()>,
) {
    let mut stopping = pin!(stopping);
    let mut waiting = Vec::with_capacity(TOGETHER_MAX);
    let mut known = Known::default();
    loop {
        tokio::select! {
            biased;
            taken = queue.recv_many(&mut waiting, TOGETHER_MAX) => if taken == 0 { return },
            () = stopping.as_mut(), if !queue.is_closed() => queue.close(),
        }
        while !waiting.is_empty() {
            let rest = waiting.split_off(fitting(&waiting));
            carry_out(&control, &mut known, std::mem::replace(&mut waiting, rest)).await;
        }
    }
}

/// How many of them go together: at least one.
fn fitting(waiting: &[Write]) -> usize {
    let mut bytes = 0;
    let fits = waiting.iter().take_while(|write| {
        bytes += write.job.size();
        bytes <= BYTES_MAX
    });
    fits.count().max(1)
}

async fn carry_out(control: &Control, known: &mut Known, writes: Vec<Write>) {
    let tally = &control.state.tally;
    let (jobs, replies): (Vec<Job>, Vec<Reply>) =
        writes.into_iter().map(|write| (write.job, write.reply)).unzip();
    let (jobs, before) = (jobs.as_slice(), &*known);
    let done: Result<(Vec<Outcome>, Learnt), StoreError> = control
        .store
        .tx("state_batch", |tx| Box::pin(async move { batch(control, before, tx, jobs).await }))
        .await;
    let (outcomes, batch) = match done {
        Ok((outcomes, learnt)) => {
            let batch = known.learn(learnt.before, learnt.sums, learnt.written);
            (outcomes, batch)
        }
        Err(error) => {
            *known = Known::default();
            tally.failures.fetch_add(replies.len() as u64, Ordering::Relaxed);
            replies.into_iter().for_each(|reply| reply.send(Err(Error::from(error.clone()))));
            return;
        }
    };
    let failed = outcomes.iter().filter(|outcome| outcome.is_err()).count() as u64;
    tally.failures.fetch_add(failed, Ordering::Relaxed);
    tally.transactions.fetch_add(outcomes.len() as u64 - failed, Ordering::Relaxed);
    if let Some(batch) = batch {
        tally.batches.fetch_add(1, Ordering::Relaxed);
        tally.changes.fetch_add(batch.changes.len() as u64, Ordering::Relaxed);
        let earliest = batch.changes.iter().filter_map(|change| change.time_expires).min();
        if earliest.is_some_and(|time| control.state.due_at(time)) {
            control.wakers.state_expiry.wake();
        }
        if !control.state.feed.push(batch) {
            control.wakers.state_feed.wake();
        }
    }
    for (reply, outcome) in replies.into_iter().zip(outcomes) {
        reply.send(outcome.map_err(told));
    }
}

/// What a batch found and wrote.
struct Learnt {
    /// The revision of the head.
    before: u64,
    sums: Vec<StateSum>,
    written: Written,
}

async fn batch(
    control: &Control,
    known: &Known,
    tx: &mut Tx<'_>,
    jobs: &[Job],
) -> Result<(Vec<Outcome>, Learnt), StoreError> {
    let concerned = Concerned::of(jobs);
    let projects = concerned.places.iter().filter(|(_, name)| name.is_none()).map(|(id, _)| *id);
    let (head, quotas) = tx.state_head_lock(projects).await?;
    let known = known.at(head.revision);
    let (mut rows, mut asked) = (Vec::with_capacity(concerned.plain.len()), Vec::new());
    for at in &concerned.plain {
        match known.and_then(|known| known.row(at)) {
            Some(row) => rows.push(row),
            None => asked.push(at.to_string()),
        }
    }
    if !asked.is_empty() {
        rows.extend(tx.state_rows(&asked, false).await?);
    }
    if !concerned.with_values.is_empty() {
        rows.extend(tx.state_rows(&concerned.with_values, true).await?);
    }
    let (mut sums, mut asked) = (Vec::with_capacity(concerned.places.len()), Vec::new());
    for place in &concerned.places {
        match known.and_then(|known| known.sum(place)) {
            Some(sum) => sums.push(sum.clone()),
            None => asked.push((place.0, place.1.as_ref())),
        }
    }
    if !asked.is_empty() {
        sums.extend(tx.state_sums(asked).await?);
    }
    let found = sums.clone();
    let mut book = Book::open(Pages { head, now: control.now(), rows, sums, quotas });
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs {
        outcomes.push(match job {
            Job::Expire(_) => {
                Ok(StateAnswer { is_held: true, revision: head.revision, results: Vec::new() })
            }
            Job::Txn { txn, by, once: None } => book.perform(txn, by).map_err(No::Refused),
            Job::Txn { txn, by, once: Some(once) } => {
                perform_once(tx, &mut book, txn, by, once).await?
            }
        });
    }
    let written = book.close();
    if let Some(batch) = &written.batch {
        tx.state_write(written.head, &written.rows, &written.sums, batch).await?;
    }
    Ok((outcomes, Learnt { before: head.revision, sums: found, written }))
}

/// A transaction that came with a key: what was done once is not done again.
async fn perform_once(
    tx: &mut Tx<'_>,
    book: &mut Book,
    txn: &StateTxn,
    by: &Actor,
    once: &Once,
) -> Result<Outcome, StoreError> {
    let Once { principal, idempotency, only_held } = once;
    let hash = &idempotency.request_hash;
    match tx.idempotency_find(*principal, &idempotency.key, hash).await? {
        Claim::Fresh => {}
        Claim::Replay(done) => return Ok(Err(No::Done(done.id))),
        Claim::Mismatch => return Ok(Err(No::KeyReused)),
    }
    let outcome = book.perform(txn, by).map_err(No::Refused);
    if let Ok(answer) = &outcome
        && (answer.is_held || !only_held)
    {
        let done = ObjectRef::new(ObjectKind::StateNamespace, answer.revision, "");
        // Nobody else claims it meanwhile: whoever could waits for the head.
        let _fresh =
            tx.idempotency_claim(*principal, &idempotency.key, hash, &done, book.now()).await?;
    }
    Ok(outcome)
}

/// What a batch is about, each once.
#[derive(Default)]
struct Concerned<'j> {
    /// Entries whose values nobody asks for.
    plain: Vec<&'j StateAddress>,
    /// Ids of the others.
    with_values: Vec<String>,
    places: BTreeSet<(ProjectId, Option<Name>)>,
}

impl<'j> Concerned<'j> {
    fn of(jobs: &'j [Job]) -> Concerned<'j> {
        let mut concerned = Concerned::default();
        let mut valued: HashSet<&StateAddress> = HashSet::new();
        let mut all: HashSet<&StateAddress> = HashSet::new();
        for job in jobs {
            match job {
                Job::Txn { txn, .. } => {
                    valued.extend(txn.values_needed());
                    all.extend(txn.addresses());
                }
                Job::Expire(due) => all.extend(due),
            }
        }
        for at in all {
            match valued.contains(at) {
                true => concerned.with_values.push(at.to_string()),
                false => concerned.plain.push(at),
            }
            if !concerned
                .places
                .iter()
                .any(|(id, name)| *id == at.project_id && name.as_ref() == Some(&at.namespace))
            {
                concerned.places.insert((at.project_id, None));
                concerned.places.insert((at.project_id, Some(at.namespace.clone())));
            }
        }
        concerned
    }
}

fn told(no: No) -> Error {
    let refusal = match no {
        No::Refused(refusal) => refusal,
        No::Done(revision) => {
            return Error::conflict(
                format!("this request was carried out before, at revision {revision}"),
                "look at the entries; use a fresh Idempotency-Key to do it again",
            );
        }
        No::KeyReused => {
            return Error::new(
                Code::KeyReused,
                "this Idempotency-Key was used for a different request",
                "use a fresh key for every new request, and the same key only to repeat one",
            );
        }
    };
    let place = refusal.place();
    let pointer = place.map_or_else(String::new, |place| {
        format!("/{}/{}", if place.is_then { "then" } else { "else" }, place.index)
    });
    let words = refusal.to_string();
    match refusal {
        Refusal::Quota { limit, has, more } => {
            let (limit, has, more) = (Bytes::new(limit), Bytes::new(has), Bytes::new(more));
            quota_exceeded("of state", limit, format!("{has}; this is {more} more"))
        }
        Refusal::ProjectGone => Error::new(
            Code::NotFound,
            "the project is gone",
            "list the projects that there are with `hostler project ls`",
        ),
        Refusal::TooLarge { .. } => {
            let mut error = Error::new(
                Code::TooLarge,
                words,
                "take items away first, or spread them over several keys",
            );
            error.errors = vec![Diagnostic::new(pointer, error.detail.clone())];
            error
        }
        Refusal::NotANumber { .. } | Refusal::Overflow { .. } | Refusal::NotAList { .. } => {
            let mut error = Error::conflict(
                words,
                "look at it with `hostler state get`; a put gives it a value that fits",
            );
            error.errors = vec![Diagnostic::new(pointer, error.detail.clone())];
            error
        }
    }
}
