//! What is asked of locks and cannot be, and the words for it.

use hostler_engine::lock::Refusal;
use hostler_model::{
    Code, Diagnostic, Error, LOCK_SLOTS_MAX, LOCK_TTL, LOCK_WAIT_MAX, LOCK_WAITERS_MAX, LockEnd,
    LockHoldId, LockName, PastHold, Span,
};

use super::lock::LockAsk;

pub(super) fn check_ask(ask: &LockAsk) -> Result<(), Error> {
    let mut problems = ask.holder.problems("/holder");
    if !LOCK_TTL.contains(&ask.ttl) {
        problems.push(ttl_problem(ask.ttl));
    }
    if !(1..=LOCK_SLOTS_MAX).contains(&ask.slots) {
        let text = format!("a lock has 1 to {LOCK_SLOTS_MAX} slots");
        problems.push(Diagnostic::new("/slots", text));
    }
    if ask.wait.is_some_and(|wait| wait > LOCK_WAIT_MAX) {
        let text = format!(
            "one request waits for at most {LOCK_WAIT_MAX}; ask again with the same id to wait longer and keep your place"
        );
        problems.push(Diagnostic::new("/wait", text));
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
}

pub(super) fn check_ttl(ttl: Span) -> Result<(), Error> {
    if LOCK_TTL.contains(&ttl) { Ok(()) } else { Err(Error::invalid(vec![ttl_problem(ttl)])) }
}

fn ttl_problem(ttl: Span) -> Diagnostic {
    let (least, most) = (LOCK_TTL.start(), LOCK_TTL.end());
    let text = format!(
        "a TTL of {ttl} cannot be: take {least} to {most}, and renew it as long as it is needed"
    );
    Diagnostic::new("/ttl", text)
}

pub(super) fn absent(name: &LockName) -> Error {
    Error::new(
        Code::NotFound,
        format!("nobody has used a lock `{name}` lately"),
        "list them with `hostler lock ls --all`; a lock is made by acquiring it",
    )
}

pub(super) fn left(name: &LockName, id: LockHoldId) -> Error {
    Error::conflict(
        format!("the hold {id} waits for lock `{name}` no more: it was withdrawn, or not heard of"),
        "ask anew with a fresh id",
    )
}

pub(super) fn contended(name: &LockName) -> Error {
    Error::new(
        Code::Unavailable,
        format!("too many changes of lock `{name}` at the same time"),
        "try again in a moment",
    )
    .with_retry_after(1)
}

pub(super) fn not_held(name: &LockName, only: Option<LockHoldId>) -> Error {
    let what = match only {
        Some(id) => format!("lock `{name}` is not held by {id}"),
        None => format!("nobody holds lock `{name}`"),
    };
    Error::conflict(what, format!("`hostler lock show {name}` says who holds it and who waits"))
}

pub(super) fn refused(name: &LockName, refusal: Refusal) -> Error {
    match refusal {
        Refusal::NotYours => Error::conflict(
            "this id belongs to a hold of somebody else, or of another lock",
            "choose a fresh id (a UUID) whenever you ask for a lock anew",
        ),
        Refusal::Over(past) => over(name, &past),
        Refusal::OtherSlots(slots) => Error::conflict(
            format!("lock `{name}` has {slots} slots as long as it is in use"),
            format!("ask for it with {slots} slots as the others do, or use another name"),
        ),
        Refusal::QueueFull => Error::new(
            Code::QuotaExceeded,
            format!("{LOCK_WAITERS_MAX} wait for lock `{name}` already, which is as many as may"),
            format!("`hostler lock show {name}` says who holds it; ask again later"),
        ),
    }
}

pub(super) fn over(name: &LockName, past: &PastHold) -> Error {
    let (id, at) = (past.id, past.time_ended);
    let hint = "stop what relied on it: others may hold the lock by now; ask anew with a fresh id";
    match (past.end, &past.forced) {
        (LockEnd::Released, _) => Error::conflict(
            format!("the hold {id} of lock `{name}` was released at {at}"),
            "ask anew with a fresh id",
        ),
        (LockEnd::Expired, _) => Error::conflict(
            format!("the hold {id} of lock `{name}` was not renewed in time and ended at {at}"),
            hint,
        ),
        (LockEnd::Forced, forced) => {
            let (by, reason) = match forced {
                Some(forced) => (forced.by.as_str(), forced.reason.as_str()),
                None => ("somebody", "no reason is known"),
            };
            let words =
                format!("the hold {id} of lock `{name}` was taken away by {by} at {at}: {reason}");
            Error::conflict(words, hint)
        }
    }
}
