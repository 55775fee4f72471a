//! The reconciler driver: loops that make the world match the rows, forever.
//!
//! A [`Reconciler`] is one idempotent function. The [`Driver`] runs it once at registration, then
//! again whenever its period has passed or its [`Waker`] was used.
//!
//! 1. A reconciler takes no input. Being woken only means "look sooner"; it re-reads the rows and
//!    does the same whoever woke it, so a lost wake costs at most one period.
//! 2. One pass at a time per process. Other servers may run the same reconciler at the same moment;
//!    conditional writes make that harmless.
//! 3. The period is counted from the end of a pass, with ±10 % of jitter, so slow passes are delayed
//!    and never burst, and servers drift apart.
//!    A pass that knows when something is due earlier says so ([`Pass::due_at`]), and the next begins then.
//! 4. No retries inside a pass: an error is kept in the status and the next pass tries again. A pass
//!    that filled its batch says so ([`Pass::again`]) and runs again at once, unless it failed.
//! 5. A panic is caught, logged as ERROR, counted, and the reconciler runs again after a backoff. It
//!    keeps its value, so what it holds in memory must be a cache that any pass can rebuild.
//! 6. A pass under way is not cut short by a shutdown; the grace period does that if it must.
//!
//! On a crash nothing is lost: the next process starts with a full pass.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use hostler_model::{Span, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use tracing::{Instrument, error, warn};

use crate::backoff::Backoff;
use crate::clock::Clock;
use crate::shutdown::{OnError, Tasks, panic_text};

/// One loop that makes the world match the rows.
pub trait Reconciler: Send + 'static {
    /// `noun_verb`, unique in a process.
    const NAME: &'static str;
    /// One sentence for people who look at `hostler debug reconcilers`.
    const DESCRIPTION: &'static str;
    /// What a pass did, shown as JSON in the status.
    type Report: Serialize + Default + Send;

    fn reconcile(&mut self) -> impl Future<Output = Pass<Self::Report>> + Send;
}

/// The result of one pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass<R> {
    pub report: R,
    /// The batch was full: there is more to do right now.
    pub again: bool,
    /// There will be something to do at this time, should the period not be over before.
    pub due: Option<Timestamp>,
    /// What went wrong, with its causes. What was done before it stays done and is in the report.
    pub error: Option<String>,
}

impl<R> Pass<R> {
    pub fn done(report: R) -> Pass<R> {
        Pass { report, again: false, due: None, error: None }
    }

    pub fn failed(report: R, error: &(dyn std::error::Error + 'static)) -> Pass<R> {
        let error = Some(crate::chain::chain(error).to_string());
        Pass { report, again: false, due: None, error }
    }

    /// Asks for another pass at once when `is_full`.
    #[must_use]
    pub fn again_if(mut self, is_full: bool) -> Pass<R> {
        self.again = is_full;
        self
    }

    /// Says when the next pass is to begin at the latest.
    #[must_use]
    pub fn due_at(mut self, due: Option<Timestamp>) -> Pass<R> {
        self.due = due;
        self
    }
}

/// Makes a reconciler look sooner; cheap to clone, and can be made before the reconciler exists.
#[derive(Clone, Default)]
pub struct Waker(Arc<Bell>);

#[derive(Default)]
struct Bell {
    notify: Notify,
    count: AtomicU64,
}

impl Waker {
    pub fn new() -> Waker {
        Waker::default()
    }

    /// Never blocks; any number of wakes before the next pass begins cause one pass.
    pub fn wake(&self) {
        self.0.count.fetch_add(1, Ordering::Relaxed);
        self.0.notify.notify_one();
    }

    /// How often it was used.
    pub fn count(&self) -> u64 {
        self.0.count.load(Ordering::Relaxed)
    }

    /// For tests of the code that wakes: whether a wake is pending; takes it.
    pub fn take_pending(&self) -> bool {
        self.woken().now_or_never().is_some()
    }

    async fn woken(&self) {
        self.0.notify.notified().await;
    }
}

impl std::fmt::Debug for Waker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Waker(woken {} times)", self.count())
    }
}

/// What one reconciler is doing and what it last did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Status {
    pub name: String,
    pub description: String,
    pub period: Span,
    pub activity: Activity,
    /// Passes begun since the process started.
    pub passes: u64,
    /// How often it was asked to look sooner.
    pub woken: u64,
    pub time_last_started: Option<Timestamp>,
    /// Length of the last pass that ended.
    pub duration_last: Option<Span>,
    /// What the last pass said it did; null before the first one ended.
    pub report_last: serde_json::Value,
    /// Why the last pass failed; absent when it did not.
    pub error_last: Option<String>,
    /// Failed passes since the last good one.
    pub consecutive_errors: u64,
    pub panics: u64,
}

/// What a reconciler is doing now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Activity {
    /// Waiting for its period or a wake.
    Idle,
    Running {
        since: Timestamp,
    },
    /// It panicked and waits before running again.
    Backoff {
        until: Timestamp,
    },
    /// The process is shutting down.
    Stopped,
}

/// How a pass ended, for metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassOutcome {
    Ok,
    Error,
    Panic,
}

/// Called after every pass with the reconciler's name, how it ended and how long it took.
pub type Observer = Arc<dyn Fn(&'static str, PassOutcome, Duration) + Send + Sync>;

/// Runs reconcilers and knows their status; cheap to clone.
#[derive(Clone)]
pub struct Driver {
    tasks: Tasks,
    clock: Clock,
    observer: Option<Observer>,
    registered: Arc<Mutex<Vec<Registered>>>,
}

struct Registered {
    status: Arc<Mutex<Status>>,
    waker: Waker,
}

const PANIC_BACKOFF_MIN: Duration = Duration::from_secs(1);
const PANIC_BACKOFF_MAX: Duration = Duration::from_secs(60);
/// This long without a panic, and the backoff starts over.
const PANIC_FORGOTTEN_AFTER: Duration = Duration::from_mins(10);
const JITTER: f64 = 0.1;
/// What is due already waits this long: a pass that could not deal with it must not spin.
const REST_MIN: Duration = Duration::from_millis(5);

impl Driver {
    /// `tasks` is the group of the phase in which reconcilers stop.
    pub fn new(tasks: Tasks, clock: Clock) -> Driver {
        Driver { tasks, clock, observer: None, registered: Arc::default() }
    }

    /// Where its reconcilers run, and what stops with them.
    pub fn tasks(&self) -> &Tasks {
        &self.tasks
    }

    /// Reports the length of every pass, for metrics.
    #[must_use]
    pub fn with_observer(mut self, observer: Observer) -> Driver {
        self.observer = Some(observer);
        self
    }

    /// Starts `reconciler`: one pass now, then one per `period` and one per (coalesced) wake.
    pub fn register<R: Reconciler>(&self, reconciler: R, period: Duration, waker: Waker) {
        let status = Arc::new(Mutex::new(Status {
            name: R::NAME.to_owned(),
            description: R::DESCRIPTION.to_owned(),
            period: Span::from_millis(u64::try_from(period.as_millis()).unwrap_or(u64::MAX)),
            activity: Activity::Idle,
            passes: 0,
            woken: 0,
            time_last_started: None,
            duration_last: None,
            report_last: serde_json::Value::Null,
            error_last: None,
            consecutive_errors: 0,
            panics: 0,
        }));
        self.registered().push(Registered { status: status.clone(), waker: waker.clone() });
        let mut lane = Lane {
            reconciler,
            period,
            waker,
            status,
            clock: self.clock.clone(),
            observer: self.observer.clone(),
            backoff: Backoff::new(PANIC_BACKOFF_MIN, PANIC_BACKOFF_MAX, PANIC_FORGOTTEN_AFTER),
            last_panic: None,
        };
        let token = self.tasks.token();
        self.tasks.spawn(R::NAME, OnError::Log, async move {
            while !token.is_cancelled() {
                let next = lane.pass().await;
                if token.run_until_cancelled(lane.rest(next)).await.is_none() {
                    break;
                }
            }
            lane.status().activity = Activity::Stopped;
        });
    }

    /// The status of every reconciler, in order of registration.
    pub fn statuses(&self) -> Vec<Status> {
        self.registered()
            .iter()
            .map(|registered| Status {
                woken: registered.waker.count(),
                ..locked(&registered.status).clone()
            })
            .collect()
    }

    /// The waker of the reconciler called `name`, for `hostler debug reconcilers wake`.
    pub fn waker(&self, name: &str) -> Option<Waker> {
        self.registered()
            .iter()
            .find(|registered| locked(&registered.status).name == name)
            .map(|registered| registered.waker.clone())
    }

    fn registered(&self) -> MutexGuard<'_, Vec<Registered>> {
        locked(&self.registered)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One reconciler with all that its loop needs.
struct Lane<R> {
    reconciler: R,
    period: Duration,
    waker: Waker,
    status: Arc<Mutex<Status>>,
    clock: Clock,
    observer: Option<Observer>,
    backoff: Backoff,
    last_panic: Option<Duration>,
}

enum Next {
    AtOnce,
    /// When the period is over or so much time has passed, whichever is sooner.
    Period(Option<Duration>),
    After(Duration),
}

impl<R: Reconciler> Lane<R> {
    async fn pass(&mut self) -> Next {
        let started = self.clock.instant();
        let number = self.begin();
        let span = tracing::debug_span!("reconcile", reconciler = R::NAME, pass = number);
        let outcome =
            AssertUnwindSafe(self.reconciler.reconcile()).catch_unwind().instrument(span).await;
        let length = self.clock.instant().saturating_sub(started);
        let (next, kind) = match outcome {
            Ok(pass) => self.ended(pass, length),
            Err(panic) => (self.panicked(panic_text(panic.as_ref()), length), PassOutcome::Panic),
        };
        if let Some(observer) = &self.observer {
            observer(R::NAME, kind, length);
        }
        next
    }

    /// Waits until the next pass is due.
    async fn rest(&mut self, next: Next) {
        match next {
            Next::AtOnce => tokio::task::yield_now().await,
            Next::Period(due) => {
                let period = jittered(self.period, rand::random::<f64>());
                let sleep = self.clock.sleep(due.map_or(period, |due| period.min(due)));
                tokio::select! {
                    () = sleep => {}
                    () = self.waker.woken() => {}
                }
            }
            Next::After(delay) => self.clock.sleep(delay).await,
        }
    }

    fn begin(&self) -> u64 {
        let now = self.clock.now();
        let mut status = self.status();
        status.passes += 1;
        status.time_last_started = Some(now);
        status.activity = Activity::Running { since: now };
        status.passes
    }

    fn ended(&mut self, pass: Pass<R::Report>, length: Duration) -> (Next, PassOutcome) {
        let report = serde_json::to_value(&pass.report).unwrap_or_else(
            |error| serde_json::json!({ "error": format!("report is not JSON: {error}") }),
        );
        let mut status = self.status();
        status.activity = Activity::Idle;
        status.duration_last = Some(span(length));
        status.report_last = report;
        match &pass.error {
            None => status.consecutive_errors = 0,
            Some(error) => {
                status.consecutive_errors += 1;
                warn!(
                    reconciler = R::NAME,
                    consecutive = status.consecutive_errors,
                    error,
                    "reconciler pass failed"
                );
            }
        }
        status.error_last = pass.error;
        let is_ok = status.error_last.is_none();
        let next = match (is_ok, pass.again, pass.due) {
            (true, true, _) => Next::AtOnce,
            (true, false, Some(due)) => {
                Next::Period(Some(due.since(self.clock.now()).max(REST_MIN)))
            }
            _ => Next::Period(None),
        };
        let kind = if is_ok { PassOutcome::Ok } else { PassOutcome::Error };
        (next, kind)
    }

    fn panicked(&mut self, text: &str, length: Duration) -> Next {
        let now = self.clock.instant();
        if let Some(before) = self.last_panic.replace(now) {
            self.backoff.healthy_for(now.saturating_sub(before));
        }
        let delay = self.backoff.next_delay();
        let until = self.clock.now().plus(delay);
        let mut status = self.status();
        status.activity = Activity::Backoff { until };
        status.duration_last = Some(span(length));
        status.error_last = Some(format!("panicked: {text}"));
        status.consecutive_errors += 1;
        status.panics += 1;
        error!(
            reconciler = R::NAME,
            panics = status.panics,
            panic = text,
            retry_in_ms = span(delay).millis(),
            "reconciler panicked"
        );
        Next::After(delay)
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        locked(&self.status)
    }
}

fn span(length: Duration) -> Span {
    Span::from_millis(u64::try_from(length.as_millis()).unwrap_or(u64::MAX))
}

/// `period` ± 10 %; `random` is uniform in `[0, 1)`.
fn jittered(period: Duration, random: f64) -> Duration {
    period.mul_f64(1.0 + JITTER * (2.0 * random - 1.0))
}
