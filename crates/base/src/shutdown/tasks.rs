//! Groups of tasks: starting, naming, catching panics, waiting for the end.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use serde::Serialize;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::{Instrument, debug, error};

use super::{Phase, Request};
use crate::clock::Clock;

/// What the failure of a task means for the process. A panic is a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnError {
    /// It is logged; the others go on.
    Log,
    /// The process cannot do without this task: it is logged and a shutdown is requested.
    Shutdown,
}

/// What a task may return: nothing, or a result whose error is logged with its causes.
pub trait TaskOutcome: Send + 'static {
    fn failure(self) -> Option<String>;
}

impl TaskOutcome for () {
    fn failure(self) -> Option<String> {
        None
    }
}

impl<E: std::error::Error + Send + 'static> TaskOutcome for Result<(), E> {
    fn failure(self) -> Option<String> {
        self.err().map(|error| crate::chain::chain(&error).to_string())
    }
}

/// A task that loops for ever returns `!`, a type that stable Rust can only name in a roundabout way.
impl TaskOutcome for <fn() -> ! as Returns>::Value {
    fn failure(self) -> Option<String> {
        self
    }
}

#[doc(hidden)]
pub trait Returns {
    type Value;
}

impl<T> Returns for fn() -> T {
    type Value = T;
}

/// A task that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct RunningTask {
    pub phase: Phase,
    pub name: String,
    /// How long it has been running, in milliseconds.
    pub age_millis: u64,
}

/// Blocking work panicked (already logged), or the runtime is going away.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` did not finish: it panicked or the process is stopping; the log has the details")]
pub struct Panicked {
    pub name: String,
}

/// All tasks of one phase.
pub(crate) struct Group {
    phase: Phase,
    clock: Clock,
    request: Arc<Request>,
    token: CancellationToken,
    tracker: TaskTracker,
    is_over: AtomicBool,
    panics: AtomicU64,
    next: AtomicU64,
    live: Mutex<BTreeMap<u64, Live>>,
}

struct Live {
    name: Cow<'static, str>,
    since: Duration,
    abort: Option<AbortHandle>,
}

impl Group {
    pub(crate) fn new(phase: Phase, clock: Clock, request: Arc<Request>) -> Group {
        Group {
            phase,
            clock,
            request,
            token: CancellationToken::new(),
            tracker: TaskTracker::new(),
            is_over: AtomicBool::new(false),
            panics: AtomicU64::new(0),
            next: AtomicU64::new(0),
            live: Mutex::new(BTreeMap::new()),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }
    pub(crate) fn panics(&self) -> u64 {
        self.panics.load(Ordering::Relaxed)
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.tracker.is_empty()
    }
    pub(crate) fn cancel(&self) {
        self.token.cancel();
        self.tracker.close();
    }

    /// Resolves when every task has ended; then no more are accepted.
    pub(crate) async fn ended(&self) {
        self.tracker.wait().await;
        self.is_over.store(true, Ordering::SeqCst);
    }

    /// Drops every task that is left and says which they were.
    pub(crate) fn abort(&self) -> Vec<RunningTask> {
        self.is_over.store(true, Ordering::SeqCst);
        let stuck = self.running();
        for live in self.live().values() {
            if let Some(abort) = &live.abort {
                abort.abort();
            }
        }
        stuck
    }

    pub(crate) fn running(&self) -> Vec<RunningTask> {
        let now = self.clock.instant();
        self.live()
            .values()
            .map(|live| RunningTask {
                phase: self.phase,
                name: live.name.to_string(),
                age_millis: u64::try_from(now.saturating_sub(live.since).as_millis())
                    .unwrap_or(u64::MAX),
            })
            .collect()
    }

    fn live(&self) -> MutexGuard<'_, BTreeMap<u64, Live>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(self: &Arc<Self>, name: Cow<'static, str>, trackers: &[TaskTracker]) -> Entry {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.live().insert(id, Live { name, since: self.clock.instant(), abort: None });
        Entry {
            group: self.clone(),
            id,
            _tokens: trackers.iter().map(TaskTracker::token).collect(),
        }
    }

    fn record_panic(&self, name: &str, panic: &(dyn Any + Send), on_error: OnError) {
        self.panics.fetch_add(1, Ordering::Relaxed);
        error!(task = name, phase = %self.phase, panic = panic_text(panic), "task panicked");
        if on_error == OnError::Shutdown {
            self.request.make(format!("task `{name}` panicked"));
        }
    }

    fn record_failure(&self, name: &str, failure: &str, on_error: OnError) {
        error!(task = name, phase = %self.phase, error = failure, "task failed");
        if on_error == OnError::Shutdown {
            self.request.make(format!("task `{name}` failed: {failure}"));
        }
    }
}

/// Membership in a group; leaving is dropping it, however the task ends.
struct Entry {
    group: Arc<Group>,
    id: u64,
    _tokens: Vec<TaskTrackerToken>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.group.live().remove(&self.id);
    }
}

/// A handle for starting tasks of one phase, or of a scope within it; cheap to clone.
#[derive(Clone)]
pub struct Tasks {
    group: Arc<Group>,
    token: CancellationToken,
    /// The group's tracker, and that of every scope down to this one.
    trackers: Vec<TaskTracker>,
}

impl Tasks {
    pub(crate) fn of(group: &Arc<Group>) -> Tasks {
        Tasks {
            group: group.clone(),
            token: group.token.clone(),
            trackers: vec![group.tracker.clone()],
        }
    }

    /// Cancelled when it is this group's turn to stop, or when the scope is cancelled.
    pub fn token(&self) -> CancellationToken {
        self.token.clone()
    }

    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// A part of this group that can be cancelled and awaited on its own (one session, one run).
    #[must_use]
    pub fn scope(&self) -> Tasks {
        let mut trackers = self.trackers.clone();
        trackers.push(TaskTracker::new());
        Tasks { group: self.group.clone(), token: self.token.child_token(), trackers }
    }

    /// Cancels this scope and waits for its tasks, however long they take.
    pub async fn stop(&self) {
        self.token.cancel();
        if let Some(tracker) = self.trackers.last() {
            tracker.close();
            tracker.wait().await;
        }
    }

    /// Starts a task. It should watch [`Tasks::token`] and end soon after it is cancelled.
    pub fn spawn<F>(
        &self,
        name: impl Into<Cow<'static, str>>,
        on_error: OnError,
        future: F,
    ) -> TaskHandle
    where
        F: Future + Send + 'static,
        F::Output: TaskOutcome,
    {
        let name = name.into();
        if self.group.is_over.load(Ordering::SeqCst) {
            debug!(task = %name, phase = %self.group.phase, "task refused, its phase is over");
            return TaskHandle::ended();
        }
        let entry = self.group.enter(name.clone(), &self.trackers);
        let id = entry.id;
        let done = CancellationToken::new();
        let done_guard = done.clone().drop_guard();
        let span = tracing::info_span!(parent: None, "task", task = %name);
        let body = async move {
            let (_done, entry) = (done_guard, entry);
            match AssertUnwindSafe(future).catch_unwind().await {
                Ok(outcome) => {
                    if let Some(failure) = outcome.failure() {
                        entry.group.record_failure(&name, &failure, on_error);
                    }
                }
                Err(panic) => entry.group.record_panic(&name, panic.as_ref(), on_error),
            }
        };
        let abort = spawn_on_runtime(body.instrument(span));
        if let Some(live) = self.group.live().get_mut(&id) {
            live.abort = Some(abort.clone());
        }
        TaskHandle { abort: Some(abort), done }
    }

    /// Starts a task that is simply dropped, at its next await, when it is cancelled.
    pub fn spawn_until_cancelled<F>(
        &self,
        name: impl Into<Cow<'static, str>>,
        on_error: OnError,
        future: F,
    ) -> TaskHandle
    where
        F: Future + Send + 'static,
        F::Output: TaskOutcome,
    {
        let token = self.token.clone();
        self.spawn(name, on_error, async move {
            let outcome = token.run_until_cancelled_owned(future).await;
            Outcome(outcome.and_then(TaskOutcome::failure))
        })
    }

    /// Runs blocking work on a thread of its own. It cannot be cancelled; shutdown waits for it.
    pub async fn run_blocking<T: Send + 'static>(
        &self,
        name: impl Into<Cow<'static, str>>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Panicked> {
        let name = name.into();
        let entry = self.group.enter(name.clone(), &self.trackers);
        let run = move || {
            let _entry = entry;
            std::panic::catch_unwind(AssertUnwindSafe(work))
        };
        match tokio::task::spawn_blocking(run).await {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(panic)) => self.group.record_panic(&name, panic.as_ref(), OnError::Log),
            Err(_) => {}
        }
        Err(Panicked { name: name.into_owned() })
    }
}

struct Outcome(Option<String>);

impl TaskOutcome for Outcome {
    fn failure(self) -> Option<String> {
        self.0
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place where tasks are started")]
fn spawn_on_runtime(body: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(body).abort_handle()
}

/// A started task. Dropping the handle does not end the task.
#[derive(Clone, Debug)]
pub struct TaskHandle {
    abort: Option<AbortHandle>,
    done: CancellationToken,
}

impl TaskHandle {
    fn ended() -> TaskHandle {
        let done = CancellationToken::new();
        done.cancel();
        TaskHandle { abort: None, done }
    }

    /// Drops the task at its next await. Prefer cancelling its scope.
    pub fn abort(&self) {
        if let Some(abort) = &self.abort {
            abort.abort();
        }
    }

    pub fn is_ended(&self) -> bool {
        self.done.is_cancelled()
    }

    /// Resolves when the task has ended, in whatever way.
    pub async fn wait(&self) {
        self.done.cancelled().await;
    }
}

/// The message of a panic, as far as it has one.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&'static str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "(no message)"
    }
}
