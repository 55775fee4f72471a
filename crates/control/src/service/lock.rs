//! Locks: asking for them, and waiting. How they end is in `lock_end`.
//!
//! What is granted is decided by `engine::lock`, in one transaction with the rows that it was decided from.
//! Who asks chooses the id of its hold. Asking again with the same id finds what was done, so a lost answer
//! costs nothing: not the hold, and not the place in the queue.
//!
//! Who waits is kept on its request for up to half a minute. It is woken by whoever frees the lock on this
//! server, and by `reconcile::lock` when another server did; then it asks again, as anybody could at any time.
//! Nothing in memory is needed to be right: [`LockBells`](crate::lock_bells::LockBells) only save the time until one asks by oneself.
//!
//! Acquiring and releasing is neither audited nor told in events: it is as frequent as work is. The lock
//! remembers who held it last. Taking a lock away is both.

use std::sync::atomic::Ordering;

use hostler_engine::lock::{self as engine, Ask, Change, Decision};
use hostler_model::{
    Code, Error, Generation, LOCKS_MAX, Limit, Lock, LockHold, LockHoldId, LockHolder, LockName,
    LockOutcome, ObjectKind, ObjectRef, Page, Project, Span,
};
use hostler_store::{LockEntered, LockFilter, Tx};

use super::lock_words::{absent, check_ask, contended, left, refused};
use crate::{Control, Cx};

/// How many of those who wait are shown.
const QUEUE_SHOWN: u64 = 100;
/// How often a change is tried again that another one came before.
pub(super) const TRIES: u32 = 5;

/// Somebody wants a lock.
#[derive(Clone, Debug)]
pub struct LockAsk {
    pub id: LockHoldId,
    pub slots: u32,
    pub ttl: Span,
    /// How long to wait now; absent is not wanting to wait at all.
    pub wait: Option<Span>,
    pub holder: LockHolder,
}

/// What became of asking for a lock.
#[derive(Clone, Debug, PartialEq)]
pub struct LockAnswer {
    pub outcome: LockOutcome,
    /// What one has; absent where it is nothing.
    pub hold: Option<LockHold>,
    /// How many wait before it.
    pub before: Option<u64>,
    /// Who holds it instead.
    pub holders: Vec<LockHold>,
}

/// A lock with those who hold it and the first of those who wait.
#[derive(Clone, Debug, PartialEq)]
pub struct LockDetail {
    pub lock: Lock,
    pub holders: Vec<LockHold>,
    pub queue: Vec<LockHold>,
}

pub(crate) fn lock_object(lock: &Lock) -> ObjectRef {
    ObjectRef::new(ObjectKind::Lock, lock.id, &lock.name)
}

/// What became of a question; none when the lock is not there, and whether there may be another was not looked at yet.
type Asked = Option<(LockOutcome, Option<LockHold>)>;

/// What is known of who asks, before it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    New,
    /// New, and the project may have another lock.
    HasRoom,
    /// It has a place in the queue. Should that be gone, it is not given another: it was withdrawn.
    Waits,
}

impl Control {
    pub async fn lock_list(
        &self,
        project: &Project,
        is_used: bool,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<LockDetail>, Error> {
        let mut read = self.store.read().await?;
        let page = read.lock_list(project.id, LockFilter { is_used }, after, limit).await?;
        let used: Vec<_> = page.items.iter().filter(|l| l.held > 0).map(|l| l.id).collect();
        let mut holders = read.lock_holders(&used).await?;
        Ok(page.map(|lock| {
            let (own, others) =
                std::mem::take(&mut holders).into_iter().partition(|h| h.lock_id == lock.id);
            holders = others;
            LockDetail { lock, holders: own, queue: Vec::new() }
        }))
    }

    pub async fn lock_get(&self, project: &Project, name: &LockName) -> Result<LockDetail, Error> {
        let mut read = self.store.read().await?;
        let lock = read.lock_get(project.id, name).await?;
        let lock = lock.ok_or_else(|| absent(name))?;
        let holders = read.lock_holders(&[lock.id]).await?;
        let queue = read.lock_queue(lock.id, QUEUE_SHOWN).await?;
        Ok(LockDetail { lock, holders, queue })
    }

    /// Acquires a lock, or a place in its queue; and waits in it for a while.
    pub async fn lock_acquire(
        &self,
        cx: &Cx,
        project: &Project,
        name: &LockName,
        ask: LockAsk,
    ) -> Result<LockAnswer, Error> {
        check_ask(&ask)?;
        let deadline = self.clock.instant() + ask.wait.unwrap_or_default().duration();
        let mut standing = Standing::New;
        loop {
            let bell = self.lock_bells.listen(ask.id);
            let rung = bell.notified();
            tokio::pin!(rung);
            rung.as_mut().enable();
            let (outcome, hold) = self.lock_ask(cx, project, name, &ask, standing).await?;
            standing = Standing::Waits;
            let left = deadline.saturating_sub(self.clock.instant());
            if outcome != LockOutcome::Waiting || left.is_zero() {
                return self.lock_answer(project, name, outcome, hold).await;
            }
            let is_rung = tokio::select! {
                () = rung => true,
                () = self.clock.sleep(left) => false,
            };
            if !is_rung {
                return self.lock_answer(project, name, outcome, hold).await;
            }
        }
    }

    /// One attempt. A lock that is not there yet is made, where the project may have another.
    async fn lock_ask(
        &self,
        cx: &Cx,
        project: &Project,
        name: &LockName,
        ask: &LockAsk,
        mut standing: Standing,
    ) -> Result<(LockOutcome, Option<LockHold>), Error> {
        let wanted = &Ask {
            id: ask.id,
            principal_id: cx.caller.principal_id,
            by: cx.actor().name,
            holder: ask.holder.clone(),
            slots: ask.slots,
            ttl: ask.ttl,
            can_wait: ask.wait.is_some(),
        };
        for _ in 0..TRIES {
            let asked = self
                .store
                .tx("lock_acquire", |tx| {
                    Box::pin(self.lock_acquire_in(tx, project, name, wanted, standing))
                })
                .await;
            match asked {
                Ok(Some((outcome, hold))) => {
                    let is_new = hold
                        .as_ref()
                        .is_some_and(|hold| hold.is_held() && hold.generation == Generation::FIRST);
                    self.lock_tally.granted.fetch_add(u64::from(is_new), Ordering::Relaxed);
                    return Ok((outcome, hold));
                }
                Ok(None) => {
                    self.lock_room(project).await?;
                    standing = Standing::HasRoom;
                }
                Err(error) if error.code == Code::Stale => {}
                Err(error) => return Err(error),
            }
        }
        Err(contended(name))
    }

    async fn lock_acquire_in(
        &self,
        tx: &mut Tx<'_>,
        project: &Project,
        name: &LockName,
        ask: &Ask,
        standing: Standing,
    ) -> Result<Asked, Error> {
        let now = self.now();
        let before = match tx.lock_get(project.id, name).await? {
            Some(known) => known,
            None if standing == Standing::Waits => return Err(left(name, ask.id)),
            None if standing == Standing::New => return Ok(None),
            None => {
                let floor = tx.lock_floor().await?;
                Lock::fresh(self.ids.fresh(), project.id, name.clone(), floor, now)
            }
        };
        // Mostly it is new; that it is not is seen when it is written.
        if standing != Standing::Waits
            && let Ok(decision) = engine::acquire(&before, None, ask, now)
            && let (Some(lock), [Change::Insert(hold)]) = (&decision.lock, &*decision.changes)
            && enter(tx, &before, lock, hold).await?
        {
            return Ok(Some(decision.answer));
        }
        let own = tx.lock_hold_get(ask.id).await?;
        if own.is_none() && standing == Standing::Waits {
            return Err(left(name, ask.id));
        }
        let decision = engine::acquire(&before, own.as_ref(), ask, now)
            .map_err(|refusal| refused(name, refusal))?;
        keep(tx, &before, &decision).await?;
        Ok(Some(decision.answer))
    }

    async fn lock_room(&self, project: &Project) -> Result<(), Error> {
        let count = self.store.read().await?.lock_count(project.id, LOCKS_MAX).await?;
        if count < LOCKS_MAX {
            return Ok(());
        }
        Err(Error::new(
            Code::QuotaExceeded,
            format!("project `{}` has {LOCKS_MAX} locks, which is as many as it may", project.name),
            "use names again rather than making new ones; what nobody has used for a day is forgotten by itself",
        ))
    }

    async fn lock_answer(
        &self,
        project: &Project,
        name: &LockName,
        outcome: LockOutcome,
        hold: Option<LockHold>,
    ) -> Result<LockAnswer, Error> {
        if outcome == LockOutcome::Held {
            return Ok(LockAnswer { outcome, hold, before: None, holders: Vec::new() });
        }
        let mut read = self.store.read().await?;
        let before = match &hold {
            Some(hold) => Some(read.lock_waiting_before(hold.lock_id, hold.place).await?),
            None => None,
        };
        let holders = match read.lock_get(project.id, name).await? {
            Some(lock) => read.lock_holders(&[lock.id]).await?,
            None => Vec::new(),
        };
        Ok(LockAnswer { outcome, hold, before, holders })
    }
}

/// Writes the first that is heard of a hold; false, and nothing, where there is one with its id already.
async fn enter(
    tx: &mut Tx<'_>,
    before: &Lock,
    after: &Lock,
    hold: &LockHold,
) -> Result<bool, Error> {
    if before.generation == Generation::ZERO {
        if !tx.lock_insert(after).await? {
            return Err(stale(before));
        }
        return Ok(tx.lock_hold_insert(hold).await?);
    }
    match tx.lock_enter(after, before.generation, hold).await? {
        LockEntered::Entered => Ok(true),
        LockEntered::Known => Ok(false),
        LockEntered::Stale => Err(stale(before)),
    }
}

/// Writes what was decided about holds that are known.
pub(super) async fn keep<T>(
    tx: &mut Tx<'_>,
    before: &Lock,
    decision: &Decision<T>,
) -> Result<(), Error> {
    if let (Some(lock), [Change::Delete(id)]) = (&decision.lock, &*decision.changes) {
        return match tx.lock_leave(lock, before.generation, *id).await? {
            true => Ok(()),
            false => Err(stale(before)),
        };
    }
    for change in &decision.changes {
        let is_kept = match change {
            Change::Insert(hold) => tx.lock_hold_insert(hold).await?,
            Change::Update(hold, expected) => {
                tx.lock_hold_update(hold, *expected).await?.is_updated()
            }
            Change::Delete(id) => tx.lock_hold_delete(*id).await?,
        };
        if !is_kept {
            return Err(stale(before));
        }
    }
    match &decision.lock {
        Some(lock) if !tx.lock_update(lock, before.generation).await?.is_updated() => {
            Err(stale(before))
        }
        Some(_) | None => Ok(()),
    }
}

/// Somebody else was faster: it is decided again.
fn stale(lock: &Lock) -> Error {
    Error::stale("lock", lock.generation)
}
