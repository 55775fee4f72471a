//! Locks that a step holds.
//!
//! Every lock has a keeper, a task beside the body of the step: it asks for the lock, renews it, and gives it back when
//! it is told so or when nobody is left who could tell it. Whoever waits for the answer may be given up at any moment (a
//! timeout, a cancelled goroutine), and the lock is not lost with them.
//!
//! A lock that was taken without a time is held for a short lease, which its keeper renews for as long as it is held.
//! When the step ends in whatever way, nobody renews it any more, and it is free after the lease. What could not be
//! renewed for a whole lease is lost. A lock with a time of its own ends at that time, exactly.
//!
//! Where there is a queue, whoever waits keeps a place in it, by asking with the same token again; who does not wait any
//! longer gives it back.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use hostler_model::Span;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::services::{Holder, ServiceError, Taken};
use super::{acting, clock, services, tasks};

const LEASE: Span = Span::from_secs(30);
const RENEWAL: Duration = Duration::from_secs(10);
/// How long one question waits in a queue, where there is one.
const QUEUE: Duration = Duration::from_secs(5);
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// What taking a lock leads to: it, or why not.
pub(super) type Outcome = Result<Result<Granted, String>, ServiceError>;
/// Who is told how it went to give a lock back.
type Reply = oneshot::Sender<Result<bool, ServiceError>>;

/// The locks of a step, by name.
#[derive(Default)]
struct Held(RefCell<BTreeMap<String, Lock>>);

/// A lock, and how its keeper is told to give it back; it does so, too, when this is dropped.
struct Lock {
    token: String,
    let_go: oneshot::Sender<Reply>,
}

impl Held {
    fn is(&self, name: &str, token: &str) -> bool {
        self.0.borrow().get(name).is_some_and(|lock| lock.token == token)
    }
    fn forget(&self, name: &str, token: &str) -> Option<Lock> {
        if self.is(name, token) { self.0.borrow_mut().remove(name) } else { None }
    }
}

/// A lock that was just taken, and that is given back when this is dropped.
pub(super) struct Granted {
    held: Rc<Held>,
    name: String,
    token: String,
    /// Larger than that of whoever held the lock before.
    pub fence: u64,
    is_kept: bool,
}

impl Granted {
    /// Leaves it to the step, until it gives it back.
    pub fn keep(mut self) {
        self.is_kept = true;
    }

    /// Gives it back; false when it was lost meanwhile.
    pub async fn release(self) -> Result<bool, ServiceError> {
        let lock = self.held.forget(&self.name, &self.token);
        given_back(lock).await
    }
}

impl Drop for Granted {
    fn drop(&mut self) {
        if !self.is_kept {
            self.held.forget(&self.name, &self.token);
        }
    }
}

/// Takes a lock: at once, within a time, or however long it takes. Says who has it when that did not work out.
pub(super) async fn take(name: &str, ttl: Option<Span>, patience: Option<Duration>) -> Outcome {
    let holder = Holder { token: uuid::Uuid::new_v4().to_string(), who: who() };
    let (mut tell, told) = oneshot::channel();
    let (held, name) = (tasks().kept::<Held>(), name.to_owned());
    tasks().spawn(async move {
        let granted = match wait(&name, &holder, ttl.unwrap_or(LEASE), patience, &mut tell).await {
            Ok(Ok(fence)) => fence,
            Ok(Err(held_by)) => {
                let _whoever_asked_may_be_gone = tell.send(Ok(Err(held_by)));
                return;
            }
            Err(error) => {
                let _whoever_asked_may_be_gone = tell.send(Err(error));
                return;
            }
        };
        let (let_go, asked) = oneshot::channel();
        let token = holder.token;
        held.0.borrow_mut().insert(name.clone(), Lock { token: token.clone(), let_go });
        let granted = Granted {
            held: Rc::clone(&held),
            name: name.clone(),
            token: token.clone(),
            fence: granted,
            is_kept: false,
        };
        // Where nobody waits for it any more, it comes back and is let go of.
        drop(tell.send(Ok(Ok(granted))));
        keep(&held, &name, &token, ttl.is_none(), asked).await;
    });
    told.await.unwrap_or_else(|_| Err(ServiceError::Refused("the step is over".to_owned())))
}

/// Asks for a lock until it is held, or nobody waits for it any longer.
async fn wait(
    name: &str,
    holder: &Holder,
    ttl: Span,
    patience: Option<Duration>,
    tell: &mut oneshot::Sender<Outcome>,
) -> Result<Result<u64, String>, ServiceError> {
    let services = services();
    let over = patience.map(|patience| Instant::now() + patience);
    let (mut pause, mut is_queued) = (SHORTEST_PAUSE, false);
    loop {
        let left = over.map(|over| over.saturating_duration_since(Instant::now()));
        let queue = left.map_or(QUEUE, |left| left.min(QUEUE));
        is_queued |= !queue.is_zero();
        let queue = is_queued.then(|| span(queue));
        let (by, until) = match services.lock_wait(name, holder, ttl, queue).await? {
            Taken::Yes { fence } => return Ok(Ok(fence)),
            Taken::No { who, until } => (who, until),
        };
        let now = Instant::now();
        let is_over = over.is_some_and(|over| now >= over);
        if is_over || tell.is_closed() {
            if is_queued {
                services.lock_release(name, &holder.token).await?;
            }
            return Ok(Err(format!("the lock `{name}` is held by {by} until {until}")));
        }
        let left = until.since(clock::now()).max(SHORTEST_PAUSE);
        let next = now + pause.min(left);
        tokio::select! {
            () = tokio::time::sleep_until(over.map_or(next, |over| next.min(over))) => {}
            () = tell.closed() => {}
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn span(time: Duration) -> Span {
    Span::from_millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// Gives a lock back; false when the step does not hold it.
pub(super) async fn release(name: &str) -> Result<bool, ServiceError> {
    let lock = tasks().kept::<Held>().0.borrow_mut().remove(name);
    given_back(lock).await
}

async fn given_back(lock: Option<Lock>) -> Result<bool, ServiceError> {
    let (reply, answer) = oneshot::channel();
    match lock.map(|lock| lock.let_go.send(reply)) {
        Some(Ok(())) => answer.await.unwrap_or(Ok(false)),
        None | Some(Err(_)) => Ok(false),
    }
}

/// Renews a lock while it is held, and gives it back then.
async fn keep(
    held: &Held,
    name: &str,
    token: &str,
    is_renewed: bool,
    mut asked: oneshot::Receiver<Reply>,
) {
    let mut known = Instant::now();
    let reply = loop {
        if !is_renewed {
            break (&mut asked).await;
        }
        if let Ok(reply) = tokio::time::timeout(RENEWAL, &mut asked).await {
            break reply;
        }
        let begun = Instant::now();
        let is_lost = match services().lock_renew(name, token, LEASE).await {
            Ok(is_held) => {
                known = begun;
                !is_held
            }
            Err(error) => {
                acting().complain(&format!("warning: the lock `{name}`: {error}"));
                known.elapsed() >= LEASE.duration()
            }
        };
        if is_lost {
            acting().complain(&format!("error: the lock `{name}` was lost"));
            held.forget(name, token);
            return;
        }
    };
    let is_released = services().lock_release(name, token).await;
    if let Ok(reply) = reply {
        let _whoever_asked_may_be_gone = reply.send(is_released);
    }
}

/// Who holds a lock, for people.
fn who() -> String {
    let on = acting();
    let node = on.env("HOSTLER_NODE").unwrap_or_else(|| "this machine".to_owned());
    format!("process {} on {node} in {}", std::process::id(), on.workdir.display())
}
