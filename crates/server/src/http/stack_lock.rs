//! Locks of stacks.

use hostler_api::Nothing;
use hostler_api::lock::{LockAcquired, LockDetailView, LockHoldView};
use hostler_api::stack_lock::{
    StackLockAcquire, StackLockForceRelease, StackLockGet, StackLockRelease, StackLockRenew,
    StackLockView,
};
use hostler_control::LockAsk;
use hostler_model::Error;

use super::lock::{acquired, detail, held};
use super::{Answer, App, Call};

pub(crate) async fn get(
    app: App,
    call: Call<StackLockGet>,
) -> Result<Answer<StackLockView>, Error> {
    let stack = &call.path.stack;
    let lock = app.control().stack_lock_status(&call.cx, call.project(), stack).await?;
    let lock = lock.map(detail);
    let is_held = lock.as_ref().is_some_and(|found| found.lock.held > 0);
    Ok(Answer::new(StackLockView { is_held, lock }))
}

pub(crate) async fn acquire(
    app: App,
    call: Call<StackLockAcquire>,
) -> Result<Answer<LockAcquired>, Error> {
    let ask = LockAsk {
        id: call.path.hold,
        slots: call.body.slots,
        ttl: call.body.ttl,
        wait: call.body.wait,
        holder: call.body.holder.clone(),
    };
    let (control, stack) = (app.control(), &call.path.stack);
    let answer = control.stack_lock_acquire(&call.cx, call.project(), stack, ask).await?;
    let lock = control.stack_lock_status(&call.cx, call.project(), stack).await?;
    let lock = lock.ok_or_else(|| Error::not_found("lock", format!("stack/{stack}")))?;
    Ok(Answer::new(acquired(lock.lock.name, answer)))
}

pub(crate) async fn renew(
    app: App,
    call: Call<StackLockRenew>,
) -> Result<Answer<LockHoldView>, Error> {
    let (stack, hold, ttl) = (&call.path.stack, call.path.hold, call.body.ttl);
    let control = app.control();
    let renewed = control.stack_lock_renew(&call.cx, call.project(), stack, hold, ttl).await?;
    Ok(Answer::new(held(renewed)))
}

pub(crate) async fn release(
    app: App,
    call: Call<StackLockRelease>,
) -> Result<Answer<Nothing>, Error> {
    let (stack, hold) = (&call.path.stack, call.query.hold);
    app.control().stack_lock_release(&call.cx, call.project(), stack, hold).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn force_release(
    app: App,
    call: Call<StackLockForceRelease>,
) -> Result<Answer<LockDetailView>, Error> {
    let (stack, reason) = (&call.path.stack, &call.body.reason);
    let control = app.control();
    let left = control.stack_lock_force_release(&call.cx, call.project(), stack, reason).await?;
    Ok(Answer::new(detail(left)))
}
