//! Whether what runs also works: asking each run its health checks, for as long as it lives.
//!
//! A [`Checker`] watches one run at a time per call of [`Checker::watch`], which gives back a handle
//! and a future. Whoever supervises the run drives the future among its others and keeps the handle
//! as long as the questions should go on. What the answers mean is decided in
//! `hostler_engine::health`; here they are only asked for:
//!
//! - every check has its own timetable on the monotonic clock: the first question soon after the
//!   watch begins, put off by a part of its interval that follows from the run's id (so that hundreds
//!   of runs taken up at once do not ask at once, and the same run asks at the same beat again);
//! - one check is never asked twice at a time; an answer that takes longer than the timeout is bad,
//!   and times that passed meanwhile are left out, not made up for;
//! - a failed connection is bad for its own check and for nothing else;
//! - changes go into a bounded channel and wait there for room: none is lost, and while they wait no
//!   further questions are asked.
//!
//! Between questions a watch is one timer per check. Nothing is kept on disk: after a crash of the
//! agent the next one watches what still runs, beginning with what its ledger knew
//! ([`Subject::before`]). An event of a run whose handle was just dropped may still be in the channel;
//! the receiver ignores runs that it does not watch.

mod ask;
mod log;
mod net;
mod process;

pub(crate) use net::status as http_status;

#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, FuturesUnordered};
use hostler_base::Clock;
use hostler_engine::health::{Change, RunHealth, describe};
use hostler_model::{Health as Known, HealthCheck, OnUnhealthy, RunId};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use ask::{Asker, Round};

/// Runs commands beside a run: as its user, in its directory and its cgroup.
pub trait Beside: Send + Sync {
    /// `Err` when it could not be run at all, which is a bad answer like others: a command that cannot
    /// be found would never give one. Dropping the future ends the command with all it started.
    fn run<'a>(
        &'a self,
        run: RunId,
        argv: &'a [String],
        timeout: Duration,
    ) -> BoxFuture<'a, Result<ExecEnd, String>>;
}

/// How a command beside a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecEnd {
    /// Absent when a signal ended it.
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub is_timed_out: bool,
    /// The last it printed, for people; may be empty.
    pub output: String,
}

/// The output of runs.
pub trait Lines: Send + Sync {
    /// Every line of a run from its beginning, then those to come; ends when the run's output does, or
    /// cannot be read further.
    fn follow(&self, run: RunId) -> BoxStream<'static, Vec<u8>>;
}

/// A run to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub run: RunId,
    pub pid: u32,
    /// When the process started, in clock ticks since boot as `/proc` says: tells it from another that
    /// got its number. `None` when it was gone already.
    pub start_ticks: Option<u64>,
    /// When the run began, on the monotonic clock.
    pub began: Duration,
    /// What was known of its health before. A run that was healthy has passed its start periods, and
    /// its log patterns have matched, also when those lines are no longer kept.
    pub before: Option<Known>,
}

impl Subject {
    /// A run whose process is there, or was a moment ago.
    pub fn new(run: RunId, pid: u32, before: Option<Known>, clock: &Clock) -> Subject {
        let start_ticks = process::read(pid).map(|found| found.start_ticks);
        let now = clock.instant();
        let began = start_ticks.map_or(now, |ticks| process::since_boot(ticks).min(now));
        Subject { run, pid, start_ticks, began, before }
    }
}

/// News of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthEvent {
    pub run: RunId,
    pub health: Health,
    /// What the check that turned bad asks for.
    pub action: Option<Action>,
}

/// How a run is, with words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    Healthy,
    Unhealthy {
        /// In few words, as `http 127.0.0.1:80/`.
        check: String,
        why: String,
    },
}

impl Health {
    /// The same without words, as it is recorded.
    pub fn known(&self) -> Known {
        match self {
            Health::Healthy => Known::Healthy,
            Health::Unhealthy { .. } => Known::Unhealthy,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Stop the run; its restart policy says what comes next.
    Restart,
    /// Run this beside it.
    Hook(Vec<String>),
}

/// How one check stands, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    pub check: String,
    /// `None` before there were enough answers.
    pub health: Option<Known>,
    /// What the last bad answer said, if there ever was one.
    pub complaint: Option<String>,
}

/// Watches runs; cheap to clone.
#[derive(Clone)]
pub struct Checker {
    clock: Clock,
    beside: Arc<dyn Beside>,
    lines: Arc<dyn Lines>,
    events: mpsc::Sender<HealthEvent>,
}

/// Keeps a watch going; dropping it ends the questions, also one that is under way.
#[must_use = "the watch ends when this is dropped"]
pub struct CheckerHandle {
    shared: Arc<Shared>,
    _end: DropGuard,
}

struct Shared {
    checks: Vec<HealthCheck>,
    state: Mutex<RunHealth>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, RunHealth> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CheckerHandle {
    /// `None` before enough answers came, and for a run without checks.
    pub fn health(&self) -> Option<Known> {
        self.shared.state().health()
    }

    /// Each check, in the order of the spec.
    pub fn report(&self) -> Vec<CheckReport> {
        let state = self.shared.state();
        let both = self.shared.checks.iter().zip(state.checks());
        both.map(|(check, state)| CheckReport {
            check: describe(&check.check),
            health: state.health(),
            complaint: state.complaint().map(str::to_owned),
        })
        .collect()
    }
}

impl Checker {
    pub fn new(
        clock: Clock,
        beside: Arc<dyn Beside>,
        lines: Arc<dyn Lines>,
        events: mpsc::Sender<HealthEvent>,
    ) -> Checker {
        Checker { clock, beside, lines, events }
    }

    /// Asks these checks of a run until the handle is dropped. The future ends then, and before when
    /// there is nothing (more) to ask or nobody to tell.
    pub fn watch(
        &self,
        subject: Subject,
        checks: Vec<HealthCheck>,
    ) -> (CheckerHandle, impl Future<Output = ()> + Send + use<>) {
        let state = Mutex::new(RunHealth::resume(checks.len(), subject.before));
        let shared = Arc::new(Shared { checks, state });
        let token = CancellationToken::new();
        let handle = CheckerHandle { shared: shared.clone(), _end: token.clone().drop_guard() };
        let watch = Watch { checker: self.clone(), subject: Arc::new(subject), shared };
        (handle, async move {
            token.run_until_cancelled(watch.ask()).await;
        })
    }
}

struct Watch {
    checker: Checker,
    subject: Arc<Subject>,
    shared: Arc<Shared>,
}

impl Watch {
    async fn ask(self) {
        let mut rounds: FuturesUnordered<_> = self
            .shared
            .checks
            .iter()
            .enumerate()
            .map(|(number, check)| {
                Asker::new(&self.checker, self.subject.clone(), number, check.clone()).next()
            })
            .collect();
        while let Some(Round { asker, answer }) = rounds.next().await {
            let age = self.checker.clock.instant().saturating_sub(self.subject.began);
            let check = asker.check();
            let change = self.shared.state().answer(asker.number(), check, age, answer);
            if let Some(change) = change
                && self.checker.events.send(self.event(change)).await.is_err()
            {
                return;
            }
            if !self.is_settled(&asker) {
                rounds.push(asker.next());
            }
        }
    }

    /// Whether all further answers are known.
    fn is_settled(&self, asker: &Asker) -> bool {
        let is_healthy = || {
            let state = self.shared.state();
            state.checks().get(asker.number()).and_then(|c| c.health()) == Some(Known::Healthy)
        };
        asker.is_good_for_ever() && is_healthy()
    }

    fn event(&self, change: Change) -> HealthEvent {
        let run = self.subject.run;
        let failed = match change {
            Change::Healthy => None,
            Change::Unhealthy { check: number } => {
                let state = self.shared.state();
                let why = state.checks().get(number).and_then(|c| c.complaint()).map(str::to_owned);
                self.shared.checks.get(number).map(|check| (check, why.unwrap_or_default()))
            }
        };
        let Some((check, why)) = failed else {
            tracing::info!(%run, "run is healthy");
            return HealthEvent { run, health: Health::Healthy, action: None };
        };
        let words = describe(&check.check);
        tracing::warn!(%run, check = words, why, "run is unhealthy");
        let action = match &check.on_unhealthy {
            OnUnhealthy::Mark => None,
            OnUnhealthy::Restart => Some(Action::Restart),
            OnUnhealthy::Hook(command) => Some(Action::Hook(command.clone())),
        };
        HealthEvent { run, health: Health::Unhealthy { check: words, why }, action }
    }
}
