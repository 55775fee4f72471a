//! `lock run` and `lock lead`: a command that runs only while a lock is held.
//!
//! One loop does everything: it renews, passes signals on, and watches the clock. What it may rely on is its
//! [`Lease`]; when that runs out, or the server says that the lock is gone, the command is asked to stop and
//! then killed.

use std::time::Duration;

use hostler_api::lock::{LockHoldPath, LockRelease, LockRenew, LockRenewBody};
use hostler_client::Error;
use hostler_model::LockName;
use rustix::process::Signal;

use super::super::{Cx, NONE};
use super::acquire::{self, Held, Waited};
use super::child::{NotStarted, Running, Signals, code_of};
use super::is_lost;
use super::lease::Lease;
use crate::args::{LockLeadArgs, LockRunArgs, LockWishArgs, OnLost};
use crate::exit;
use crate::failure::{Failure, Outcome};

/// How long a command may take to stop when the lock is certainly gone.
const STOP_GRACE: Duration = Duration::from_secs(5);
/// The clock is looked at so often, as no timer counts while a machine sleeps.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How a command ended.
enum End {
    /// By itself, with this code.
    Done(u8),
    /// The lock was lost.
    Lost(String),
}

pub async fn run(cx: &Cx, args: LockRunArgs) -> Outcome {
    let lock = &args.lock.lock;
    if let Some(code) = foreseen(cx, &args.command) {
        return Ok(code);
    }
    let holder = acquire::this_holder(&args.wish.why, &args.command);
    let link = cx.link()?;
    let held = match acquire::hold(cx, &link, lock, &args.wish, args.wait, holder).await? {
        Waited::Held(held) => *held,
        Waited::Interrupted(code) => return Ok(code),
    };
    match under(cx, held, &args.wish, &args.command, args.on_lost).await? {
        End::Done(code) => Ok(code),
        End::Lost(why) => Err(Failure::told(
            exit::Code::Lost,
            format!("lock {lock} was lost, and the command was stopped: {why}"),
            format!(
                "look at what it left, then run it again; `hostler lock show {lock}` says who holds it"
            ),
        )),
    }
}

pub async fn lead(cx: &Cx, args: LockLeadArgs) -> Outcome {
    let lock: &LockName = &args.lock.lock;
    let wish = LockWishArgs { slots: 1, ttl: args.ttl, why: args.why };
    if let Some(code) = foreseen(cx, &args.command) {
        return Ok(code);
    }
    loop {
        let holder = acquire::this_holder(&wish.why, &args.command);
        let link = cx.link()?;
        let held = match acquire::hold(cx, &link, lock, &wish, None, holder).await? {
            Waited::Held(held) => *held,
            Waited::Interrupted(code) => return Ok(code),
        };
        cx.ui.say(&format!("leads {lock}, token {}", held.token));
        match under(cx, held, &wish, &args.command, OnLost::Stop).await? {
            End::Done(code) => return Ok(code),
            End::Lost(why) => cx.ui.warn(&format!("{lock} is led by somebody else: {why}")),
        }
    }
}

/// Nobody waits for the sake of a command that cannot be run.
fn foreseen(cx: &Cx, command: &[String]) -> Option<u8> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let NotStarted { code, failure } = NotStarted::foreseen(command, &path)?;
    cx.ui.fail(&failure);
    Some(code)
}

/// Runs a command while the lock is held, and releases it.
async fn under(
    cx: &Cx,
    held: Held,
    wish: &LockWishArgs,
    command: &[String],
    on_lost: OnLost,
) -> Result<End, Failure> {
    let environment = [
        ("HOSTLER_LOCK_NAME", held.path.lock.to_string()),
        ("HOSTLER_LOCK_HOLD", held.path.hold.to_string()),
        ("HOSTLER_LOCK_TOKEN", held.token.to_string()),
    ];
    let lease = Lease::new(wish.ttl.duration(), held.since);
    let end = match Running::start(command, &environment) {
        Ok(running) => watch(cx, &held.path, lease, running, on_lost).await,
        Err(NotStarted { code, failure }) => {
            cx.ui.fail(&failure);
            Ok(End::Done(code))
        }
    };
    if !matches!(end, Ok(End::Lost(_))) {
        release(cx, &held.path).await;
    }
    end
}

async fn release(cx: &Cx, path: &LockHoldPath) {
    let released = match cx.link() {
        Ok(link) => link.client.call::<LockRelease>(path, &NONE, &NONE).await.err(),
        Err(_) => None,
    };
    if let Some(error) = released.filter(|error| !is_lost(error)) {
        let text = format!("lock {} could not be released: {error}; it ends by itself", path.lock);
        cx.ui.warn(&text);
    }
}

/// What is known of the lock while the command runs.
enum Hold {
    Sure,
    /// It is or will be lost; the command is killed then.
    Ending {
        why: String,
        kill_at: Duration,
    },
    /// It is lost, and nobody minds.
    Gone,
}

async fn watch(
    cx: &Cx,
    path: &LockHoldPath,
    mut lease: Lease,
    mut running: Running,
    on_lost: OnLost,
) -> Result<End, Failure> {
    let clock = &cx.environment.clock;
    let mut signals = Signals::listen().map_err(|error| Failure::Other(error.into()))?;
    let mut hold = Hold::Sure;
    let mut trouble: Option<String> = None;
    let mut renew_at = lease.renew_at();
    loop {
        let now = clock.instant();
        let mut gone: Option<String> = None;
        let next = match &hold {
            Hold::Sure if now >= lease.stop_at() => {
                let why =
                    trouble.clone().unwrap_or_else(|| "it could not be renewed in time".into());
                gone = Some(why);
                now
            }
            Hold::Sure => renew_at.min(lease.stop_at()),
            Hold::Ending { kill_at, .. } if now >= *kill_at => {
                running.send(Signal::KILL);
                now + LOOK_EVERY
            }
            Hold::Ending { kill_at, .. } => *kill_at,
            Hold::Gone => now + LOOK_EVERY,
        };
        if gone.is_none() {
            let is_due = matches!(hold, Hold::Sure) && now >= renew_at;
            let rest = next.saturating_sub(now).min(LOOK_EVERY);
            let patience = lease.patience().min(lease.stop_at().saturating_sub(now));
            tokio::select! {
                status = running.ended() => {
                    let status = status.map_err(|error| Failure::Other(error.into()))?;
                    return Ok(match hold {
                        Hold::Ending { why, .. } => End::Lost(why),
                        Hold::Sure | Hold::Gone => End::Done(code_of(status)),
                    });
                }
                signal = signals.next() => running.pass_on(signal),
                renewed = renew(cx, path, patience), if is_due => match renewed {
                    Ok(()) => {
                        lease.renewed(now);
                        renew_at = lease.renew_at();
                        trouble = None;
                    }
                    Err(error) if is_lost(&error) => gone = Some(error.to_string()),
                    Err(error) => {
                        trouble = Some(error.to_string());
                        renew_at = clock.instant() + lease.again_after();
                    }
                },
                () = tokio::time::sleep(rest), if !is_due => {}
            }
        }
        if let Some(why) = gone {
            hold = match on_lost {
                OnLost::Continue => {
                    cx.ui.warn(&format!(
                        "lock {} was lost, and the command goes on: {why}",
                        path.lock
                    ));
                    Hold::Gone
                }
                OnLost::Stop => {
                    cx.ui.warn(&format!(
                        "lock {} is being lost; the command is stopped: {why}",
                        path.lock
                    ));
                    running.send(Signal::TERM);
                    let kill_at = lease.kill_at().min(clock.instant() + STOP_GRACE);
                    Hold::Ending { why, kill_at }
                }
            };
        }
    }
}

/// One attempt. What runs with an identity gets a new token from time to time, so the way to the server is
/// looked up every time.
async fn renew(cx: &Cx, path: &LockHoldPath, patience: Duration) -> Result<(), Error> {
    let link = cx.link().map_err(|failure| Error::Setup(failure.render(false).into()))?;
    let client = link.client.with_timeout(patience);
    client.call::<LockRenew>(path, &NONE, &LockRenewBody::default()).await.map(drop)
}
