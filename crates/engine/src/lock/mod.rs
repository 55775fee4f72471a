//! Locks: who is granted what, and in which order.
//!
//! Everything that can happen to a lock is one of three things: somebody *asks* ([`acquire`]), somebody is
//! *gone* ([`free`]: released, withdrew, expired, was forced), or nothing changes but that somebody was heard
//! of (a renewal, which is no decision). Each takes the lock's own row, which counts who holds and who waits,
//! the hold that it is about, and those who are next in the queue; so nothing depends on how many wait.
//!
//! What always holds: never more holders than slots; a slot is free only when nobody waits; grants go in the
//! order of arrival; tokens only grow. The clock that is passed in is written down for people and decides
//! nothing: when somebody is gone is decided by [`Watch`], which counts silence by a clock that cannot jump.

mod watch;

#[cfg(test)]
mod tests;

use hostler_model::{
    Generation, LOCK_PAST_MAX, LOCK_WAITERS_MAX, Lock, LockEnd, LockForced, LockHold, LockHoldId,
    LockHolder, LockOutcome, PastHold, PrincipalId, Span, Timestamp,
};

pub use watch::{Silent, Watch};

/// What somebody asks for.
#[derive(Clone, Debug)]
pub struct Ask {
    pub id: LockHoldId,
    pub principal_id: PrincipalId,
    pub by: String,
    pub holder: LockHolder,
    pub slots: u32,
    pub ttl: Span,
    /// Whether it wants a place in the queue.
    pub can_wait: bool,
}

/// A change of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Insert(LockHold),
    /// With the generation that it had.
    Update(LockHold, Generation),
    Delete(LockHoldId),
}

/// What becomes of the lock and of its holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<T> {
    /// Absent where the lock's own row stays as it is.
    pub lock: Option<Lock>,
    pub changes: Vec<Change>,
    pub answer: T,
}

/// Why somebody can neither hold nor wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The id belongs to somebody else, or to another lock.
    NotYours,
    /// The hold of this id is over.
    Over(Box<PastHold>),
    /// Those who use the lock now agreed on another number of slots.
    OtherSlots(u32),
    /// As many wait as may.
    QueueFull,
}

/// How somebody is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Going {
    /// By its own will: a holder releases, who waits withdraws.
    Left,
    /// It was not heard of for too long.
    Silent,
    Forced(LockForced),
}

/// What became of somebody who is gone, and of those who waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freed {
    /// Absent where it had only waited.
    pub past: Option<PastHold>,
    pub granted: Vec<LockHold>,
}

/// Somebody asks for the lock. `own` is the hold with the id that was asked with, should there be one. Asking
/// again is being heard of: it renews a hold and keeps a place.
pub fn acquire(
    lock: &Lock,
    own: Option<&LockHold>,
    ask: &Ask,
    now: Timestamp,
) -> Result<Decision<(LockOutcome, Option<LockHold>)>, Refusal> {
    if let Some(own) = own {
        if own.lock_id != lock.id || own.principal_id != ask.principal_id {
            return Err(Refusal::NotYours);
        }
        let heard = LockHold {
            ttl: ask.ttl,
            is_taken: own.is_held(),
            generation: own.generation.next(),
            time_renewed: now,
            ..own.clone()
        };
        let outcome = if own.is_held() { LockOutcome::Held } else { LockOutcome::Waiting };
        let changes = vec![Change::Update(heard.clone(), own.generation)];
        return Ok(Decision { lock: None, changes, answer: (outcome, Some(heard)) });
    }
    if let Some(past) = lock.past_of(ask.id) {
        return Err(match past.principal_id == ask.principal_id {
            true => Refusal::Over(Box::new(past.clone())),
            false => Refusal::NotYours,
        });
    }
    if !lock.is_idle() && lock.slots != ask.slots {
        return Err(Refusal::OtherSlots(lock.slots));
    }
    let is_free = lock.held < ask.slots && lock.waiting == 0;
    if !is_free && !ask.can_wait {
        return Ok(Decision { lock: None, changes: vec![], answer: (LockOutcome::Busy, None) });
    }
    if !is_free && lock.waiting >= LOCK_WAITERS_MAX {
        return Err(Refusal::QueueFull);
    }
    let mut after = Lock {
        slots: ask.slots,
        place_last: lock.place_last + 1,
        generation: lock.generation.next(),
        time_modified: now,
        ..lock.clone()
    };
    let mut hold = LockHold {
        id: ask.id,
        lock_id: lock.id,
        principal_id: ask.principal_id,
        by: ask.by.clone(),
        holder: ask.holder.clone(),
        place: after.place_last,
        token: None,
        is_taken: false,
        ttl: ask.ttl,
        generation: Generation::FIRST,
        time_asked: now,
        time_granted: None,
        time_renewed: now,
    };
    let outcome = if is_free {
        grant(&mut after, &mut hold, now);
        hold.is_taken = true;
        LockOutcome::Held
    } else {
        after.waiting += 1;
        LockOutcome::Waiting
    };
    let changes = vec![Change::Insert(hold.clone())];
    Ok(Decision { lock: Some(after), changes, answer: (outcome, Some(hold)) })
}

/// Some are gone, all for the same reason. `next` are those who have waited longest, without them: at least as
/// many as holders are gone, or all that there are.
pub fn free(
    lock: &Lock,
    gone: &[LockHold],
    next: &[LockHold],
    going: &Going,
    now: Timestamp,
) -> Decision<Vec<Freed>> {
    let mut after = Lock { generation: lock.generation.next(), time_modified: now, ..lock.clone() };
    let mut changes = Vec::with_capacity(gone.len() * 2);
    let mut next = next.iter();
    let mut answer = Vec::with_capacity(gone.len());
    for hold in gone {
        changes.push(Change::Delete(hold.id));
        let past = over(hold, going, now);
        match &past {
            Some(past) => {
                after.held = after.held.saturating_sub(1);
                after.past.insert(0, past.clone());
                after.past.truncate(LOCK_PAST_MAX);
            }
            None => after.waiting = after.waiting.saturating_sub(1),
        }
        let mut granted = Vec::new();
        while after.held < after.slots
            && let Some(waiter) = next.next()
        {
            let mut hold = LockHold { generation: waiter.generation.next(), ..waiter.clone() };
            after.waiting = after.waiting.saturating_sub(1);
            grant(&mut after, &mut hold, now);
            changes.push(Change::Update(hold.clone(), waiter.generation));
            granted.push(hold);
        }
        answer.push(Freed { past, granted });
    }
    Decision { lock: Some(after), changes, answer }
}

fn grant(lock: &mut Lock, hold: &mut LockHold, now: Timestamp) {
    lock.held += 1;
    lock.token_last += 1;
    hold.token = Some(lock.token_last);
    hold.time_granted = Some(now);
    hold.is_taken = false;
}

/// What is remembered of a hold that has ended; nothing of one that only waited.
fn over(hold: &LockHold, going: &Going, now: Timestamp) -> Option<PastHold> {
    let (end, forced) = match going {
        Going::Left => (LockEnd::Released, None),
        Going::Silent => (LockEnd::Expired, None),
        Going::Forced(forced) => (LockEnd::Forced, Some(forced.clone())),
    };
    Some(PastHold {
        id: hold.id,
        principal_id: hold.principal_id,
        by: hold.by.clone(),
        holder: hold.holder.clone(),
        token: hold.token?,
        time_granted: hold.time_granted.unwrap_or(hold.time_asked),
        time_ended: now,
        end,
        forced,
    })
}
