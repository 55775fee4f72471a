//! Every task has an owner, and the process stops in order.
//!
//! [`Shutdown`] is the root: it owns one group of tasks per [`Phase`]. [`Tasks`] is a handle to such
//! a group, and [`Tasks::spawn`] is the only place in the project where a task is started. A task has
//! a name; a panic in it is caught, logged as ERROR with that name and counted; its policy
//! ([`OnError`]) says whether its failure ends the process in an orderly way.
//!
//! Stopping is cooperative and ordered. The phases are cancelled one after the other, in the order in
//! which they are declared, and each is awaited before the next is cancelled, so that nobody uses
//! something that has already gone: the store is closed after everything that writes to it.
//!
//! 1. One grace period covers all phases together. When it is used up, the tasks still running in
//!    the phase at hand are aborted (dropped at their next await) and named in the log; each later
//!    phase is still cancelled in its turn and gets a tenth of the grace period.
//! 2. While a phase is awaited, the log says every second which tasks it waits for.
//! 3. A task started after its phase was cancelled still runs (it finds its token cancelled); one
//!    started after its phase was awaited is dropped without being polled.
//!
//! Nothing here is needed for correctness: the process may be killed at any time, and what must
//! survive is in rows or in the ledger. An orderly stop only makes it quick and quiet.

mod tasks;

pub(crate) use tasks::panic_text;
pub use tasks::{OnError, Panicked, RunningTask, TaskHandle, TaskOutcome, Tasks};

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::Serialize;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::clock::Clock;
use tasks::Group;

hostler_model::labels! {
    /// The order of stopping: listeners first, the store last.
    pub enum Phase ("shutdown phase") {
        Listeners = "listeners",
        Sessions = "sessions",
        Reconcilers = "reconcilers",
        Operations = "operations",
        Store = "store",
    }
}

/// How a shutdown went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShutdownReport {
    /// Tasks that did not end in time and were dropped.
    pub aborted: Vec<String>,
    /// Panics since the process started.
    pub panics: u64,
}

impl ShutdownReport {
    pub fn is_clean(&self) -> bool {
        self.aborted.is_empty() && self.panics == 0
    }
}

/// The root of all tasks of a process; cheap to clone.
#[derive(Clone)]
pub struct Shutdown(Arc<Root>);

struct Root {
    clock: Clock,
    request: Arc<Request>,
    groups: Vec<Arc<Group>>,
}

/// The wish to stop, with the first reason given.
#[derive(Default)]
pub(crate) struct Request {
    token: CancellationToken,
    reason: OnceLock<String>,
}

impl Request {
    fn make(&self, reason: String) {
        if self.reason.set(reason).is_ok() {
            info!(reason = self.reason.get(), "shutdown requested");
        }
        self.token.cancel();
    }
}

/// How often a slow shutdown says what it waits for.
const COMPLAIN_EVERY: Duration = Duration::from_secs(1);
const NAMES_LOGGED_MAX: usize = 16;

impl Shutdown {
    pub fn new(clock: Clock) -> Shutdown {
        let request = Arc::new(Request::default());
        let groups = Phase::ALL
            .iter()
            .map(|phase| Arc::new(Group::new(*phase, clock.clone(), request.clone())))
            .collect();
        Shutdown(Arc::new(Root { clock, request, groups }))
    }

    /// The handle for starting tasks that belong to `phase`.
    pub fn tasks(&self, phase: Phase) -> Tasks {
        Tasks::of(self.group(phase))
    }

    /// Asks for the process to stop. The first reason is kept; later ones change nothing.
    pub fn request(&self, reason: impl Into<String>) {
        self.0.request.make(reason.into());
    }

    /// Resolves when a stop was asked for; whoever runs the process then calls [`Shutdown::run`].
    pub async fn requested(&self) {
        self.0.request.token.cancelled().await;
    }

    pub fn is_requested(&self) -> bool {
        self.0.request.token.is_cancelled()
    }

    /// Why the stop was asked for, once it was.
    pub fn reason(&self) -> Option<String> {
        self.0.request.reason.get().cloned()
    }

    /// Turns the first SIGTERM or SIGINT into a request to stop; later ones change nothing.
    pub fn listen_for_signals(&self) -> std::io::Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let request = self.0.request.clone();
        self.tasks(Phase::Listeners).spawn_until_cancelled("signals", OnError::Log, async move {
            let name = tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
            };
            request.make(format!("received {name}"));
        });
        Ok(())
    }

    /// Stops everything in order, within `grace`. Also the way to stop without a request.
    pub async fn run(&self, grace: Duration) -> ShutdownReport {
        self.request("stopping");
        let clock = &self.0.clock;
        let deadline = clock.instant() + grace;
        let mut aborted = Vec::new();
        for group in &self.0.groups {
            group.cancel();
            let left = deadline.saturating_sub(clock.instant()).max(grace / 10);
            aborted.extend(self.finish(group, left).await);
        }
        let report = ShutdownReport { aborted, panics: self.panics() };
        info!(aborted = report.aborted.len(), panics = report.panics, "shutdown complete");
        report
    }

    /// Every task that has not ended, for `hostler debug tasks`.
    pub fn running(&self) -> Vec<RunningTask> {
        self.0.groups.iter().flat_map(|group| group.running()).collect()
    }

    /// How many tasks have panicked since the process started.
    pub fn panics(&self) -> u64 {
        self.0.groups.iter().map(|group| group.panics()).sum()
    }

    fn group(&self, phase: Phase) -> &Arc<Group> {
        &self.0.groups[phase as usize]
    }

    async fn finish(&self, group: &Group, time_allowed: Duration) -> Vec<String> {
        let clock = &self.0.clock;
        let deadline = clock.instant() + time_allowed;
        loop {
            let left = deadline.saturating_sub(clock.instant());
            if left.is_zero() && !group.is_empty() {
                break;
            }
            let slice = left.min(COMPLAIN_EVERY);
            if clock.timeout(slice, group.ended()).await.is_ok() {
                return Vec::new();
            }
            let waiting = group.running();
            if !waiting.is_empty() {
                warn!(
                    phase = %group.phase(),
                    count = waiting.len(),
                    tasks = %names(&waiting),
                    "shutdown is waiting"
                );
            }
        }
        let stuck = group.abort();
        if !stuck.is_empty() {
            warn!(
                phase = %group.phase(),
                count = stuck.len(),
                tasks = %names(&stuck),
                "tasks did not end in time and were dropped"
            );
        }
        stuck.into_iter().map(|task| task.name).collect()
    }
}

fn names(tasks: &[RunningTask]) -> String {
    let mut names: Vec<&str> =
        tasks.iter().take(NAMES_LOGGED_MAX).map(|task| task.name.as_str()).collect();
    if tasks.len() > NAMES_LOGGED_MAX {
        names.push("and more");
    }
    names.join(", ")
}
