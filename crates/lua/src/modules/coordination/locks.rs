//! Locks that a step holds.
//!
//! Every lock has a keeper, a task beside the body of the step: it asks for the lock, renews it, and gives it back when
//! it is told so or when nobody is left who could tell it. Whoever waits for the answer may be given up at any moment (a
//! timeout, a cancelled goroutine), and the lock is not lost with them.
//!
//! A lock that was taken without a time is held for a short lease, which its keeper renews for as long as it is held.
//! When the step ends in whatever way, nobody renews it any more, and it is free after the lease. A lock with a time of
//! its own ends at that time, exactly.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use hostler_model::{Span, Timestamp};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::services::{Holder, ServiceError, Taken};
use super::{acting, clock, services, tasks};

const LEASE: Span = Span::from_secs(30);
const RENEWAL: Duration = Duration::from_secs(10);
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

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
pub(super) async fn take(
    name: &str,
    ttl: Option<Span>,
    patience: Option<Duration>,
) -> Result<Result<Granted, String>, ServiceError> {
    let over = patience.map(|patience| Instant::now() + patience);
    let mut pause = SHORTEST_PAUSE;
    loop {
        let (by, until) = match attempt(name, ttl).await? {
            Ok(granted) => return Ok(Ok(granted)),
            Err(other) => other,
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

/// Asks for a lock once; who has it otherwise, and until when.
async fn attempt(
    name: &str,
    ttl: Option<Span>,
) -> Result<Result<Granted, (String, Timestamp)>, ServiceError> {
    let holder = Holder { token: uuid::Uuid::new_v4().to_string(), who: who() };
    let (tell, told) = oneshot::channel();
    let (held, name) = (tasks().kept::<Held>(), name.to_owned());
    tasks().spawn(async move {
        let taken = services().lock_take(&name, &holder, ttl.unwrap_or(LEASE)).await;
        let answer = match taken {
            Ok(Taken::Yes) => {
                let (let_go, asked) = oneshot::channel();
                let token = holder.token;
                let lock = Lock { token: token.clone(), let_go };
                held.0.borrow_mut().insert(name.clone(), lock);
                let (held, name) = (Rc::clone(&held), name.clone());
                let granted = Granted { held, name, token: token.clone(), is_kept: false };
                Ok((granted, token, asked))
            }
            Ok(Taken::No { who, until }) => Err(Ok(Err((who, until)))),
            Err(error) => Err(Err(error)),
        };
        match answer {
            Ok((granted, token, asked)) => {
                // Where nobody waits for it any more, it comes back and is let go of.
                drop(tell.send(Ok(Ok(granted))));
                keep(&held, &name, &token, ttl.is_none(), asked).await;
            }
            Err(no) => {
                let _whoever_asked_may_be_gone = tell.send(no);
            }
        }
    });
    told.await.unwrap_or_else(|_| Err(ServiceError::Refused("the step is over".to_owned())))
}

/// Renews a lock while it is held, and gives it back then.
async fn keep(
    held: &Held,
    name: &str,
    token: &str,
    is_renewed: bool,
    mut asked: oneshot::Receiver<Reply>,
) {
    let reply = loop {
        if !is_renewed {
            break (&mut asked).await;
        }
        if let Ok(reply) = tokio::time::timeout(RENEWAL, &mut asked).await {
            break reply;
        }
        match services().lock_renew(name, token, LEASE).await {
            Ok(true) => {}
            Ok(false) => {
                acting().complain(&format!("error: the lock `{name}` was lost"));
                held.forget(name, token);
                return;
            }
            Err(error) => acting().complain(&format!("warning: the lock `{name}`: {error}")),
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
