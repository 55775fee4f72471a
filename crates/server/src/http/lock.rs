//! Locks.

use hostler_api::lock::{
    LockAcquire, LockAcquired, LockDetailView, LockForceRelease, LockGet, LockHoldView, LockList,
    LockPastView, LockRelease, LockRenew, LockView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{LockAnswer, LockAsk, LockDetail};
use hostler_model::{Error, LockHold, LockName, PastHold};

use super::gather::Gather;
use super::{Answer, App, Call};

pub(super) fn held(hold: LockHold) -> LockHoldView {
    LockHoldView {
        id: hold.id,
        token: hold.token,
        by: hold.by,
        holder: hold.holder,
        ttl: hold.ttl,
        time_asked: hold.time_asked,
        time_granted: hold.time_granted,
        time_renewed: hold.time_renewed,
    }
}

fn past(past: PastHold) -> LockPastView {
    LockPastView {
        id: past.id,
        token: past.token,
        by: past.by,
        holder: past.holder,
        end: past.end,
        forced: past.forced,
        time_granted: past.time_granted,
        time_ended: past.time_ended,
    }
}

pub(super) fn detail(LockDetail { lock, holders, queue }: LockDetail) -> LockDetailView {
    LockDetailView {
        queue: queue.into_iter().map(held).collect(),
        past: lock.past.into_iter().map(past).collect(),
        lock: LockView {
            id: lock.id,
            name: lock.name,
            slots: lock.slots,
            held: lock.held,
            waiting: lock.waiting,
            token: lock.token_last,
            holders: holders.into_iter().map(held).collect(),
            time_created: lock.time_created,
            time_modified: lock.time_modified,
        },
    }
}

pub(super) fn acquired(lock: LockName, answer: LockAnswer) -> LockAcquired {
    LockAcquired {
        outcome: answer.outcome,
        lock,
        hold: answer.hold.map(held),
        before: answer.before,
        holders: answer.holders.into_iter().map(held).collect(),
    }
}

pub(crate) async fn list(
    app: App,
    call: Call<LockList>,
) -> Result<Answer<Listing<LockView>>, Error> {
    let mut list = Gather::of::<LockList>(&call.query)?;
    let is_used = !call.query.all.unwrap_or_default();
    let (control, project) = (app.control(), call.project());
    while let Some(ask) = list.ask() {
        let found = control.lock_list(project, is_used, ask.after(), ask.limit).await?;
        list.take(found, |lock| detail(lock).lock)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn get(app: App, call: Call<LockGet>) -> Result<Answer<LockDetailView>, Error> {
    Ok(Answer::new(detail(app.control().lock_get(call.project(), &call.path.lock).await?)))
}

pub(crate) async fn acquire(
    app: App,
    call: Call<LockAcquire>,
) -> Result<Answer<LockAcquired>, Error> {
    let ask = LockAsk {
        id: call.path.hold,
        slots: call.body.slots,
        ttl: call.body.ttl,
        wait: call.body.wait,
        holder: call.body.holder.clone(),
    };
    let lock = call.path.lock.clone();
    let answer = app.control().lock_acquire(&call.cx, call.project(), &lock, ask).await?;
    Ok(Answer::new(acquired(lock, answer)))
}

pub(crate) async fn renew(app: App, call: Call<LockRenew>) -> Result<Answer<LockHoldView>, Error> {
    let (lock, hold) = (&call.path.lock, call.path.hold);
    let renewed =
        app.control().lock_renew(&call.cx, call.project(), lock, hold, call.body.ttl).await?;
    Ok(Answer::new(held(renewed)))
}

pub(crate) async fn release(app: App, call: Call<LockRelease>) -> Result<Answer<Nothing>, Error> {
    let (lock, hold) = (&call.path.lock, call.path.hold);
    app.control().lock_release(&call.cx, call.project(), lock, hold).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn force_release(
    app: App,
    call: Call<LockForceRelease>,
) -> Result<Answer<LockDetailView>, Error> {
    let (lock, only, reason) = (&call.path.lock, call.body.hold, &call.body.reason);
    let left =
        app.control().lock_force_release(&call.cx, call.project(), lock, only, reason).await?;
    Ok(Answer::new(detail(left)))
}
