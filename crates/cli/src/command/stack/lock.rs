//! The lock of a stack: whoever holds it changes it, and nobody else.

use hostler_api::lock::{LockAcquireBody, LockAcquired};
use hostler_api::stack::StackPath;
use hostler_api::stack_lock::{
    StackLockAcquire, StackLockForceBody, StackLockForceRelease, StackLockGet, StackLockPath,
    StackLockRelease, StackLockReleaseQuery,
};
use hostler_base::ids::Ids;
use hostler_model::{LOCK_WAIT_MAX, LockHoldId, LockOutcome, Span};
use tokio::time::Instant;

use super::super::lock::{described, in_the_way, is_lost, this_holder};
use super::super::wait::deadline;
use super::super::{Cx, DONE, Link, NONE};
use super::path;
use crate::args::{StackLockAcquireArgs, StackLockCommand};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::holder;

pub async fn perform(cx: &Cx, command: StackLockCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        StackLockCommand::Acquire(args) => acquire(cx, &link, args).await,
        StackLockCommand::Status(args) => status(cx, &path(&link, &args.stack), &link).await,
        StackLockCommand::Release { which, hold } => {
            let place = path(&link, &which.stack);
            let query = StackLockReleaseQuery { hold };
            match link.client.call::<StackLockRelease>(&place, &query, &NONE).await {
                Ok(_) => cx.ui.say(&format!("lock of stack {} released", place.stack)),
                Err(error) if hold.is_some() && is_lost(&error) => {
                    return Err(Failure::told(
                        exit::Code::Lost,
                        format!("the lock of stack {} is not held any more: {error}", place.stack),
                        error.hint().to_owned(),
                    ));
                }
                Err(error) => return Err(error.into()),
            }
            Ok(DONE)
        }
        StackLockCommand::ForceRelease { which, reason } => {
            let place = path(&link, &which.stack);
            let found = link.client.call::<StackLockGet>(&place, &NONE, &NONE).await?;
            let holders = found.lock.iter().flat_map(|lock| &lock.lock.holders);
            let names: Vec<_> = holders.map(|hold| holder(&hold.by, &hold.holder)).collect();
            if !names.is_empty() {
                let names = names.join(", ");
                cx.ui.confirm(&format!(
                    "Take the lock of stack {} away from {names}?",
                    place.stack
                ))?;
            }
            let body = StackLockForceBody { reason };
            let left = link.client.call::<StackLockForceRelease>(&place, &NONE, &body).await?;
            cx.changed(&left, "taken away")
        }
    }
}

async fn status(cx: &Cx, place: &StackPath, link: &Link) -> Outcome {
    let found = link.client.call::<StackLockGet>(place, &NONE, &NONE).await?;
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
        crate::output::document(&cx.ui, format, &found)?;
        return Ok(DONE);
    }
    match &found.lock {
        Some(lock) if found.is_held => {
            cx.ui.data(described(lock, cx.now()).render().as_bytes())?;
        }
        _ => cx.ui.line(&format!("nobody holds the lock of stack {}", place.stack))?,
    }
    Ok(DONE)
}

async fn acquire(cx: &Cx, link: &Link, args: StackLockAcquireArgs) -> Outcome {
    let StackPath { project, stack } = path(link, &args.which.stack);
    let hold: LockHoldId = Ids::system().fresh();
    let place = StackLockPath { project, stack, hold };
    let end = deadline(args.wait);
    let waited = tokio::select! {
        waited = until_held(cx, link, &place, &args, end) => waited,
        Ok(()) = tokio::signal::ctrl_c() => Ok(None),
    };
    if let Ok(Some(held)) = &waited {
        let id = held.hold.as_ref().map_or(hold, |hold| hold.id);
        let words =
            format!("held; release it with `hostler stack lock release {} {id}`", place.stack);
        return cx.changed(held, &words);
    }
    // The place in the queue is given back; where that fails it ends by itself.
    let at = path(link, &place.stack);
    let query = StackLockReleaseQuery { hold: Some(hold) };
    let _ends_by_itself = link.client.call::<StackLockRelease>(&at, &query, &NONE).await;
    waited.map(|_| exit::INTERRUPTED)
}

async fn until_held(
    cx: &Cx,
    link: &Link,
    place: &StackLockPath,
    args: &StackLockAcquireArgs,
    end: Option<Instant>,
) -> Result<Option<LockAcquired>, Failure> {
    let spinner = cx.ui.spinner(format!("waiting for the lock of stack {}", place.stack));
    let client = link.client.with_timeout(LOCK_WAIT_MAX.duration() * 2);
    loop {
        let left = end.map(|end| end.saturating_duration_since(Instant::now()));
        let left = left.filter(|left| !left.is_zero());
        let millis = left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX));
        let body = LockAcquireBody {
            slots: 1,
            ttl: args.ttl,
            wait: millis.map(|millis| Span::from_millis(millis).min(LOCK_WAIT_MAX)),
            holder: this_holder(&args.why, &[]),
        };
        let answer = client.call::<StackLockAcquire>(place, &NONE, &body).await?;
        if answer.outcome == LockOutcome::Held {
            return Ok(Some(answer));
        }
        spinner.message(in_the_way(&answer));
        if left.is_none() {
            let code = match args.wait {
                Some(_) => exit::Code::TimedOut,
                None => exit::Code::Conflict,
            };
            let what = format!("the lock of stack {} is not free", place.stack);
            return Err(Failure::told(
                code,
                format!("{what}: {}", in_the_way(&answer)),
                "wait for it with --wait, or look with `hostler stack lock status`",
            ));
        }
    }
}
