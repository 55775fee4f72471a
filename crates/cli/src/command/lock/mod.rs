//! Locks: looking at them, holding them, and running what needs them.

mod acquire;
mod child;
mod lease;
mod run;

pub(super) use acquire::this_holder;

use hostler_api::ProjectPath;
use hostler_api::lock::{
    LockDetailView, LockForceBody, LockForceRelease, LockGet, LockHoldPath, LockList,
    LockListQuery, LockPath, LockRelease, LockRenew, LockRenewBody,
};
use hostler_client::Error;
use hostler_model::{Code, LockEnd, LockName, LockOutcome, Span, Timestamp};

use super::{Cx, DONE, Link, NONE, PAGE};
use crate::args::{LockArg, LockCommand, LockForceArgs, LockHoldArg, LockListArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{Description, age, holder, moment};

pub async fn perform(cx: &Cx, command: LockCommand) -> Outcome {
    match command {
        LockCommand::Ls(args) => ls(cx, args).await,
        LockCommand::Show(args) => show(cx, &args).await,
        LockCommand::Run(args) => run::run(cx, args).await,
        LockCommand::Lead(args) => run::lead(cx, args).await,
        LockCommand::Acquire(args) => {
            acquire::acquire(cx, &args.lock.lock, &args.wish, args.wait).await
        }
        LockCommand::Try(args) => acquire::attempt(cx, &args.lock.lock, &args.wish).await,
        LockCommand::Renew { hold, ttl } => renew(cx, &hold, ttl).await,
        LockCommand::Release(hold) => release(cx, &hold).await,
        LockCommand::ForceRelease(args) => force(cx, args).await,
    }
}

fn lock_path(link: &Link, lock: &LockName) -> LockPath {
    LockPath { project: link.project.clone(), lock: lock.clone() }
}

fn hold_path(link: &Link, hold: &LockHoldArg) -> LockHoldPath {
    LockHoldPath { project: link.project.clone(), lock: hold.lock.clone(), hold: hold.hold }
}

/// Whether the server says that a hold is over, or was never there.
pub(super) fn is_lost(error: &Error) -> bool {
    error.is(Code::Conflict) || error.is(Code::NotFound)
}

fn lost(lock: &LockName, error: &Error) -> Failure {
    Failure::told(
        exit::Code::Lost,
        format!("lock {lock} is not held any more: {error}"),
        error.hint().to_owned(),
    )
}

async fn ls(cx: &Cx, args: LockListArgs) -> Outcome {
    let link = cx.link()?;
    let path = ProjectPath { project: link.project.clone() };
    let query = LockListQuery {
        all: args.all.then_some(true),
        filter: args.list.filter,
        limit: PAGE,
        cursor: None,
    };
    cx.list::<LockList, _>(&link, &path, &query, args.list.limit).await
}

async fn show(cx: &Cx, args: &LockArg) -> Outcome {
    let link = cx.link()?;
    let found = link.client.call::<LockGet>(&lock_path(&link, &args.lock), &NONE, &NONE).await?;
    if !cx.is_for_people() {
        return cx.one(&found);
    }
    cx.ui.data(described(&found, cx.now()).render().as_bytes())?;
    Ok(DONE)
}

pub(super) fn described(found: &LockDetailView, now: Timestamp) -> Description {
    let lock = &found.lock;
    let time = |time: Timestamp| format!("{} ({})", moment(time, now, true), age(time, now));
    let why = |why: &str| match why {
        "" => String::new(),
        why => format!(": {why}"),
    };
    let mut text = Description::default();
    text.pair("Name", lock.name.to_string())
        .pair("Id", lock.id.to_string())
        .pair("Held", format!("{} of {}", lock.held, lock.slots))
        .pair("Waiting", lock.waiting.to_string())
        .pair("Token", lock.token.to_string())
        .pair("Changed", time(lock.time_modified));
    for (at, hold) in lock.holders.iter().enumerate() {
        if at == 0 {
            text.section("Held by");
        }
        let command = &hold.holder.command;
        text.text(format!("{}{}", holder(&hold.by, &hold.holder), why(&hold.holder.why)));
        text.text(format!(
            "  since {}, token {}, heard of {}, TTL {}",
            hold.time_granted.map(time).unwrap_or_default(),
            hold.token.unwrap_or_default(),
            age(hold.time_renewed, now),
            hold.ttl
        ));
        if !command.is_empty() {
            text.text(format!("  runs {command}"));
        }
        text.text(format!("  hold {}", hold.id));
    }
    for (at, hold) in found.queue.iter().enumerate() {
        if at == 0 {
            text.section("Waiting, in this order");
        }
        text.text(format!(
            "{}{}, since {}",
            holder(&hold.by, &hold.holder),
            why(&hold.holder.why),
            age(hold.time_asked, now)
        ));
    }
    for (at, past) in found.past.iter().enumerate() {
        if at == 0 {
            text.section("Before");
        }
        let end = match (past.end, &past.forced) {
            (LockEnd::Forced, Some(forced)) => {
                format!("taken away by {}: {}", forced.by, forced.reason)
            }
            (end, _) => end.to_string(),
        };
        text.text(format!(
            "{:>8}  {}{}, token {}, {end}",
            age(past.time_ended, now),
            holder(&past.by, &past.holder),
            why(&past.holder.why),
            past.token
        ));
    }
    text
}

async fn renew(cx: &Cx, hold: &LockHoldArg, ttl: Option<Span>) -> Outcome {
    let link = cx.link()?;
    let body = LockRenewBody { ttl };
    let renewed = link.client.call::<LockRenew>(&hold_path(&link, hold), &NONE, &body).await;
    match renewed {
        Ok(renewed) => cx.changed(&renewed, &format!("renewed for {}", renewed.ttl)),
        Err(error) if is_lost(&error) => Err(lost(&hold.lock, &error)),
        Err(error) => Err(error.into()),
    }
}

async fn release(cx: &Cx, hold: &LockHoldArg) -> Outcome {
    let link = cx.link()?;
    match link.client.call::<LockRelease>(&hold_path(&link, hold), &NONE, &NONE).await {
        Ok(_) => cx.ui.say(&format!("lock {} released", hold.lock)),
        Err(error) if is_lost(&error) => return Err(lost(&hold.lock, &error)),
        Err(error) => return Err(error.into()),
    }
    Ok(DONE)
}

async fn force(cx: &Cx, args: LockForceArgs) -> Outcome {
    let link = cx.link()?;
    let lock = &args.lock.lock;
    let path = lock_path(&link, lock);
    let found = link.client.call::<LockGet>(&path, &NONE, &NONE).await?;
    let meant = found.lock.holders.iter().filter(|h| args.hold.is_none_or(|id| id == h.id));
    let names: Vec<_> = meant.map(|hold| holder(&hold.by, &hold.holder)).collect();
    if !names.is_empty() {
        cx.ui.confirm(&format!("Take lock {lock} away from {}?", names.join(", ")))?;
    }
    let body = LockForceBody { reason: args.reason, hold: args.hold };
    let left = link.client.call::<LockForceRelease>(&path, &NONE, &body).await?;
    let now_held = match left.lock.holders.as_slice() {
        [] => "nobody holds it now".to_owned(),
        [next, ..] => format!("{} holds it now", holder(&next.by, &next.holder)),
    };
    cx.changed(&left, &format!("taken away; {now_held}"))
}

/// Why a lock is not held: who holds it instead.
pub(super) fn in_the_way(answer: &hostler_api::lock::LockAcquired) -> String {
    let holders = answer.holders.iter().map(|hold| holder(&hold.by, &hold.holder));
    let holders = holders.collect::<Vec<_>>().join(", ");
    match (answer.outcome, holders.is_empty(), answer.before) {
        (LockOutcome::Waiting, false, Some(before @ 1..)) => {
            format!("{holders} holds it, and {before} wait before")
        }
        (_, false, _) => format!("{holders} holds it"),
        (_, true, _) => "somebody else held it a moment ago".to_owned(),
    }
}
