//! Locks that a step holds.
//!
//! A lock that was taken without a time is held for a short lease, and a keeper beside the step renews it for as long as
//! it is held. When the step ends in whatever way, nobody renews it any more, and it is free after the lease. A lock with a
//! time of its own ends at that time, exactly.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use hostler_model::Span;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::services::{Holder, ServiceError, Taken};
use super::{acting, clock, services, tasks};

const LEASE: Span = Span::from_secs(30);
const RENEWAL: Duration = Duration::from_secs(10);
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// The locks of a step, by name: what only it knows about each.
#[derive(Default)]
struct Held {
    tokens: RefCell<BTreeMap<String, String>>,
    changed: Notify,
}

impl Held {
    fn is(&self, name: &str, token: &str) -> bool {
        self.tokens.borrow().get(name).is_some_and(|held| held == token)
    }
    fn forget(&self, name: &str, token: &str) {
        if self.is(name, token) {
            self.tokens.borrow_mut().remove(name);
            self.changed.notify_waiters();
        }
    }
}

/// Takes a lock: at once, within a time, or however long it takes. Says who has it when that did not work out.
pub(super) async fn take(
    name: &str,
    ttl: Option<Span>,
    patience: Option<Duration>,
) -> Result<Result<(), String>, ServiceError> {
    let services = services();
    let holder = Holder { token: uuid::Uuid::new_v4().to_string(), who: who() };
    let over = patience.map(|patience| Instant::now() + patience);
    let mut pause = SHORTEST_PAUSE;
    loop {
        let (by, until) = match services.lock_take(name, &holder, ttl.unwrap_or(LEASE)).await? {
            Taken::Yes => break,
            Taken::No { who, until } => (who, until),
        };
        let now = Instant::now();
        if over.is_some_and(|over| now >= over) {
            return Ok(Err(format!("the lock `{name}` is held by {by} until {until}")));
        }
        let left = until.since(clock::now()).max(Duration::from_millis(1));
        let next = now + pause.min(left);
        tokio::time::sleep_until(over.map_or(next, |over| next.min(over))).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    let held = tasks().kept::<Held>();
    held.tokens.borrow_mut().insert(name.to_owned(), holder.token.clone());
    if ttl.is_none() {
        tasks().spawn(keep(held, name.to_owned(), holder.token));
    }
    Ok(Ok(()))
}

/// Gives a lock back; false when the step does not hold it.
pub(super) async fn release(name: &str) -> Result<bool, ServiceError> {
    let held = tasks().kept::<Held>();
    let token = held.tokens.borrow_mut().remove(name);
    let Some(token) = token else { return Ok(false) };
    let is_released = services().lock_release(name, &token).await?;
    held.changed.notify_waiters();
    Ok(is_released)
}

/// Gives a lock back when it is dropped, by way of its keeper.
pub(super) struct Guard {
    held: Rc<Held>,
    name: String,
    token: String,
}

impl Guard {
    /// Of a lock that was just taken.
    pub fn of(name: &str) -> Option<Guard> {
        let held = tasks().kept::<Held>();
        let token = held.tokens.borrow().get(name)?.clone();
        Some(Guard { held, name: name.to_owned(), token })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.held.forget(&self.name, &self.token);
    }
}

/// Renews a lock while it is held, and gives it back when somebody let go of it without doing so.
async fn keep(held: Rc<Held>, name: String, token: String) {
    let mut next = Instant::now() + RENEWAL;
    loop {
        let changed = held.changed.notified();
        if !held.is(&name, &token) {
            let _it_ends_by_itself = services().lock_release(&name, &token).await;
            return;
        }
        if tokio::time::timeout_at(next, changed).await.is_ok() {
            continue;
        }
        next = Instant::now() + RENEWAL;
        match services().lock_renew(&name, &token, LEASE).await {
            Ok(true) => {}
            Ok(false) => {
                acting().complain(&format!("error: the lock `{name}` was lost"));
                held.forget(&name, &token);
                return;
            }
            Err(error) => acting().complain(&format!("warning: the lock `{name}`: {error}")),
        }
    }
}

/// Who holds a lock, for people.
fn who() -> String {
    let on = acting();
    let node = on.env("HOSTLER_NODE").unwrap_or_else(|| "this machine".to_owned());
    format!("process {} on {node} in {}", std::process::id(), on.workdir.display())
}
