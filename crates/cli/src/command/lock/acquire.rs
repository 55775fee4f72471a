//! Coming to hold a lock: one request after the other, under one id, until it is held or the time is over.
//!
//! Whatever ends the waiting early (the time, a signal, a failure) gives the place in the queue back, so that
//! nobody waits for somebody who is gone.

use std::time::Duration;

use hostler_api::lock::{LockAcquire, LockAcquireBody, LockAcquired, LockHoldPath, LockRelease};
use hostler_base::ids::Ids;
use hostler_client::Error;
use hostler_model::{
    Code, LOCK_WAIT_MAX, LOCK_WAITER_TTL, LockHoldId, LockHolder, LockName, LockOutcome, Span,
};

use super::super::{Cx, Link, NONE, pause};
use super::in_the_way;
use crate::args::LockWishArgs;
use crate::exit;
use crate::failure::{Failure, Outcome};

const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Longer than the server keeps a request.
const ANSWER_MAX: Duration = Duration::from_secs(45);
const COMMAND_MAX: usize = 256;
/// How many answers may take longer than the TTL allows; the first is one that was waited for.
const SLOW_MAX: u32 = 5;

/// A lock that is held, and since when it certainly was: when the request that found it so was sent, by the
/// clock of this machine that cannot jump.
pub(super) struct Held {
    pub path: LockHoldPath,
    pub token: u64,
    pub since: Duration,
    pub answer: LockAcquired,
}

/// How waiting for a lock ended.
pub(super) enum Waited {
    Held(Box<Held>),
    /// Somebody asked us to end; nothing is left behind. With the code to exit with.
    Interrupted(u8),
}

/// Who this is, for others who look.
pub(in crate::command) fn this_holder(why: &str, command: &[String]) -> LockHolder {
    let command: String =
        command.join(" ").chars().filter(|c| !c.is_control()).take(COMMAND_MAX).collect();
    LockHolder {
        host: hostler_base::host::host_name().chars().take(128).collect(),
        pid: Some(std::process::id()),
        command,
        why: why.to_owned(),
    }
}

fn wished(wish: &LockWishArgs, holder: LockHolder, wait: Option<Span>) -> LockAcquireBody {
    LockAcquireBody { slots: wish.slots, ttl: wish.ttl, wait, holder }
}

pub(super) async fn acquire(
    cx: &Cx,
    lock: &LockName,
    wish: &LockWishArgs,
    wait: Option<Span>,
) -> Outcome {
    let link = cx.link()?;
    match hold(cx, &link, lock, wish, wait, this_holder(&wish.why, &[])).await? {
        Waited::Held(held) => held_words(cx, &held),
        Waited::Interrupted(code) => Ok(code),
    }
}

pub(super) async fn attempt(cx: &Cx, lock: &LockName, wish: &LockWishArgs) -> Outcome {
    let link = cx.link()?;
    let id: LockHoldId = Ids::system().fresh();
    let path = LockHoldPath { project: link.project.clone(), lock: lock.clone(), hold: id };
    let body = wished(wish, this_holder(&wish.why, &[]), None);
    let since = cx.environment.clock.instant();
    let answer = link.client.call::<LockAcquire>(&path, &NONE, &body).await?;
    match token(&answer) {
        Some(token) => held_words(cx, &Held { path, token, since, answer }),
        None => Err(Failure::told(
            exit::Code::Conflict,
            format!("lock {lock} is not free: {}", in_the_way(&answer)),
            format!(
                "wait for it with `hostler lock acquire {lock}`, or look: `hostler lock show {lock}`"
            ),
        )),
    }
}

fn held_words(cx: &Cx, held: &Held) -> Outcome {
    let id = held.answer.hold.as_ref().map_or(held.path.hold, |hold| hold.id);
    let words = format!(
        "held, token {}; release it with `hostler lock release {} {id}`",
        held.token, held.path.lock
    );
    cx.changed(&held.answer, &words)
}

fn token(answer: &LockAcquired) -> Option<u64> {
    answer.hold.as_ref()?.token.filter(|_| answer.outcome == LockOutcome::Held)
}

/// Waits until the lock is held; the place in the queue is given back where it comes to nothing.
pub(super) async fn hold(
    cx: &Cx,
    link: &Link,
    lock: &LockName,
    wish: &LockWishArgs,
    wait: Option<Span>,
    holder: LockHolder,
) -> Result<Waited, Failure> {
    let mut path = LockHoldPath {
        project: link.project.clone(),
        lock: lock.clone(),
        hold: Ids::system().fresh(),
    };
    let waited = tokio::select! {
        waited = until_held(cx, link, &mut path, wish, wait, holder) => waited.map(|held| Waited::Held(Box::new(held))),
        signal = super::child::interrupted() => Ok(Waited::Interrupted(128 + signal)),
    };
    if !matches!(waited, Ok(Waited::Held(_))) {
        // At the latest it is gone when its time is over.
        let _place = link.client.call::<LockRelease>(&path, &NONE, &NONE).await;
    }
    waited
}

async fn until_held(
    cx: &Cx,
    link: &Link,
    path: &mut LockHoldPath,
    wish: &LockWishArgs,
    wait: Option<Span>,
    holder: LockHolder,
) -> Result<Held, Failure> {
    let clock = &cx.environment.clock;
    let deadline = wait.map(|wait| clock.instant() + wait.duration());
    let client = link.client.with_timeout(ANSWER_MAX);
    let (mut heard, mut is_known, mut is_told) = (clock.instant(), false, false);
    let mut slow = 0;
    loop {
        let since = clock.instant();
        let left = deadline.map(|deadline| deadline.saturating_sub(since));
        let now = left.map_or(LOCK_WAIT_MAX.duration(), |left| left.min(LOCK_WAIT_MAX.duration()));
        let now = Span::from_millis(u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
        let body = wished(wish, holder.clone(), Some(now));
        match client.call::<LockAcquire>(path, &NONE, &body).await {
            Ok(answer) => {
                if let Some(token) = token(&answer) {
                    // The lock may have been granted at any time since this was sent. Where that is long
                    // ago, asking again says at once that it is held, and counts from then.
                    let took = clock.instant().saturating_sub(since);
                    if took <= wish.ttl.duration() / 3 {
                        return Ok(Held { path: path.clone(), token, since, answer });
                    }
                    slow += 1;
                    if slow > SLOW_MAX {
                        return Err(too_slow(&path.lock, wish.ttl));
                    }
                    is_known = true;
                    continue;
                }
                (heard, is_known) = (clock.instant(), true);
                if left.is_some_and(|left| left <= now.duration()) {
                    return Err(not_in_time(&path.lock, wait, &answer));
                }
                if !std::mem::replace(&mut is_told, true) {
                    let way = in_the_way(&answer);
                    cx.ui.say(&format!("waiting for lock {}: {way}", path.lock));
                }
            }
            // What was waited for came and went while nobody could ask; the place is lost with it.
            Err(error) if is_known && error.is(Code::Conflict) => {
                cx.ui.warn("the place in the queue was lost; waiting anew");
                (path.hold, is_known) = (Ids::system().fresh(), false);
            }
            Err(error) if is_worth_waiting(&error, clock.instant().saturating_sub(heard)) => {
                pause(AGAIN_AFTER).await;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Whether the server may come back before the place in the queue is lost.
fn is_worth_waiting(error: &Error, silent: Duration) -> bool {
    error.is_transient() && silent < LOCK_WAITER_TTL.duration()
}

fn too_slow(lock: &LockName, ttl: Span) -> Failure {
    Failure::told(
        exit::Code::Unreachable,
        format!("the server answers too slowly to hold lock {lock} with a TTL of {ttl}"),
        "take a longer one with --ttl",
    )
}

fn not_in_time(lock: &LockName, wait: Option<Span>, answer: &LockAcquired) -> Failure {
    let wait = wait.unwrap_or_default();
    Failure::told(
        exit::Code::TimedOut,
        format!("lock {lock} was not to be had within {wait}: {}", in_the_way(answer)),
        format!("wait longer with --wait, or look: `hostler lock show {lock}`"),
    )
}
