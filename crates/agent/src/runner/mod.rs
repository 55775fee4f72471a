//! The agent's side of running things: asynchronous, and free to die at any moment.
//!
//! A [`Runner`] keeps one executor process alive, has it start runs, and holds one socket to every
//! shim. Everything a run is lies in its directory and its shim; the runner only remembers whom it is
//! connected to, so that dropping it (or killing the agent) loses nothing, and a new runner on the
//! same data directory finds it all again with [`Runner::recover`]. Commands beside a run (`exec`) are
//! carried out by its shim; what it uses (`usage`) is read from the kernel.
//!
//! Promises to the caller:
//! - a run id is executed at most once, whatever is killed and however often it is asked for;
//! - after `Ok` from [`Runner::start_run`], and for every run that [`Runner::recover`] found live,
//!   exactly one [`RunExited`] comes; after an error none does;
//! - nothing is forgotten on disk until [`Runner::forget`].

mod attend;
mod binding;
mod containers;
mod desk;
mod error;
mod exec;
mod executor;
mod files;
mod follow;
mod forget;
mod identity;
mod idle;
mod pool;
mod recover;
mod request;
mod secrets;
mod settle;
mod spare;
mod steps;
mod usage;
mod waits;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use hostler_model::{
    Bytes, Exit, ExitReason, LogPolicy, Name, PlacementId, Reservation, RunId, Runtime, Span,
    StopSignal, Timestamp, WorkloadSpec,
};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use request::STEP;

use crate::blobs::Blobs;
use crate::container::{ContainerConfig, Engine};
use crate::gpu::Devices;
use crate::images::Images;
use crate::output::{Accounts, Limits, Reader, Start, Streams};
use crate::rundir::{self, Login, StartedRecord};
use crate::secrets::Secrets;
use crate::wire::{Bounds, Command, Greeting, HookTimes, Project, StartOrder};
use crate::writes::{Tally, What};
use attend::{Asked, Attendant, Reply};
use pool::Pool;
use request::{own_login, request};
use settle::Settled;
use waits::Waits;

pub use crate::wire::ExecEnd;
pub use error::{ExecError, ForgetError, PauseError, RunnerError, StartError, StopError};
pub use exec::Exec;
pub use executor::ExecutorError;
pub use follow::Follower;
pub use recover::{Recovered, RecoveredState};
pub use usage::Usage;

/// How long a shim may take to greet an agent; one that takes longer is attended to all the same.
const HELLO: Duration = Duration::from_secs(5);
/// How many exits may wait to be taken before shims' news wait too.
const EXITS_QUEUED: usize = 1024;

/// How much content is kept for the next time, unless something else is said.
pub const CONTENT_CACHE: Bytes = Bytes::mib(4 << 10);

/// What a runner needs to know.
#[derive(Clone, Debug)]
pub struct Config {
    /// The program that calls [`crate::executor::executor_main`], with the arguments that make it do
    /// so; `--data-dir <dir>` is added. Usually `/proc/self/exe` and `executor`.
    pub executor: PathBuf,
    pub executor_args: Vec<OsString>,
    /// Where `runs/` and the executor's lock are. Must be traversable by users that runs run as.
    pub data_dir: PathBuf,
    pub output: Limits,
    pub containers: ContainerConfig,
    /// How much content is kept for the next time.
    pub content_cache: Bytes,
}

impl Config {
    pub fn new(data_dir: impl Into<PathBuf>) -> Config {
        Config {
            executor: "/proc/self/exe".into(),
            executor_args: vec!["executor".into()],
            data_dir: data_dir.into(),
            output: Limits::default(),
            containers: ContainerConfig::default(),
            content_cache: CONTENT_CACHE,
        }
    }
}

/// One run to start.
#[derive(Clone, Debug)]
pub struct StartRun {
    pub run_id: RunId,
    /// Remembered with the run, so that it can be told whose it is when nothing else knows.
    pub placement_id: PlacementId,
    pub spec: WorkloadSpec,
    pub task: Name,
    pub project: Name,
    pub node: Name,
    /// Added to the environment after the spec's own.
    pub env: BTreeMap<String, String>,
    /// Which cores and devices are its own.
    pub reservation: Reservation,
}

/// A program that runs, or ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    pub pid: u32,
    pub time: Timestamp,
    /// Limits that this node could not put into force, such as `cpuWeight: this node has no cpu
    /// controller`.
    pub unenforced: Vec<String>,
}

impl From<Greeting> for Started {
    fn from(greeting: Greeting) -> Started {
        let Greeting { identity, unenforced, .. } = greeting;
        Started { pid: identity.pid, time: identity.time, unenforced }
    }
}

impl From<StartedRecord> for Started {
    fn from(record: StartedRecord) -> Started {
        let pid = record.inner.map_or(record.pid, |inner| inner.pid);
        Started { pid, time: record.time, unenforced: record.unenforced }
    }
}

/// News: a run is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunExited {
    pub run_id: RunId,
    pub exit: Exit,
    /// Absent when the program never ran.
    pub started: Option<Started>,
}

/// Starts runs and keeps in touch with them. Cheap to clone; the last clone to go lets all go.
#[derive(Clone)]
pub struct Runner {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.shared.cancel.cancel();
        self.shared.tasks.close();
    }
}

/// What the runner's tasks share.
struct Shared {
    config: Config,
    runs: PathBuf,
    boot_id: String,
    login: Login,
    engine: Engine,
    executor: watch::Sender<Option<Arc<executor::Link>>>,
    live: Mutex<HashMap<RunId, Handle>>,
    spares: spare::Spares,
    idle: idle::Idle,
    desk: desk::Desk<Shared>,
    exits: mpsc::Sender<RunExited>,
    cancel: CancellationToken,
    tasks: TaskTracker,
    /// Where what is written for runs is counted.
    tally: OnceLock<Arc<Tally>>,
    /// The node's GPUs, where anybody looks after them.
    devices: OnceLock<Arc<Devices>>,
    /// Who owns cores.
    pool: Pool,
    blobs: Blobs,
    secrets: Arc<Secrets>,
    images: Images,
    /// What runs wait for.
    waits: Waits,
    /// What is kept of their output, by project.
    accounts: Accounts,
}

/// How to reach the task that attends to a run.
struct Handle {
    commands: mpsc::Sender<Asked>,
    /// What its shim can do, once it has said.
    version: Option<u32>,
    /// What is on record of its start, once somebody has looked.
    record: Option<Arc<StartedRecord>>,
    /// Counts the shim's notices of output; closes when the task ends.
    output: watch::Receiver<u64>,
    /// How it ended, while the task is still winding up.
    ended: Option<Ended>,
}

#[derive(Clone, Debug)]
struct Ended {
    exit: Exit,
    started: Option<Started>,
}

impl Shared {
    fn live(&self) -> MutexGuard<'_, HashMap<RunId, Handle>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, what: What, bytes: u64) {
        if let Some(tally) = self.tally.get() {
            tally.count(what, bytes);
        }
    }

    fn count_lost(&self, lines: u64) {
        if let Some(tally) = self.tally.get() {
            tally.count_lost(lines);
        }
    }

    /// Enters a run that is about to be attended to; `None` when it is already.
    fn enter(self: &Arc<Self>, run_id: RunId, order: Option<StartOrder>) -> Option<Entered> {
        let (commands, asked) = mpsc::channel(16);
        let (notices, output) = watch::channel(0);
        let (reply, answer) = oneshot::channel();
        match self.live().entry(run_id) {
            std::collections::hash_map::Entry::Occupied(_) => return None,
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(Handle { commands, version: None, record: None, output, ended: None })
            }
        };
        let attendant = Attendant::new(self.clone(), run_id, order, asked, notices, reply);
        Some(Entered { attendant, answer })
    }

    /// What is on record of its start.
    async fn started(&self, run_id: RunId) -> io::Result<Option<Started>> {
        let path = self.runs.join(run_id.to_string());
        let record = blocking(move || settle::record_at(&path)).await?;
        Ok(record.map(Started::from))
    }

    async fn settle(&self, run_id: RunId) -> io::Result<Settled> {
        let path = self.runs.join(run_id.to_string());
        let boot_id = self.boot_id.clone();
        let settled = blocking(move || settle::settle(&path, &boot_id)).await?;
        if let Settled::Ended { exit, .. } = &settled
            && exit.reason == ExitReason::Vanished
        {
            self.end_container(run_id).await;
        }
        Ok(settled)
    }
}

struct Entered {
    attendant: Attendant,
    answer: oneshot::Receiver<Reply>,
}

/// Runs file work where it may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) => Err(io::Error::other(e)),
    }
}

impl Runner {
    /// Prepares the data directory and starts the executor. Waits until an executor of an agent
    /// before this one is gone, so that what [`Runner::recover`] sees is settled.
    pub async fn start(config: Config) -> Result<(Runner, mpsc::Receiver<RunExited>), RunnerError> {
        let runs = config.data_dir.join(rundir::RUNS);
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o711);
        builder
            .create(&runs)
            .map_err(|source| RunnerError::DataDir { path: config.data_dir.clone(), source })?;
        let boot_id = rundir::boot_id().map_err(RunnerError::BootId)?;
        let launched = executor::launch(&config).await?;
        executor::outwait_idle(&runs).await?;
        let (exits, news) = mpsc::channel(EXITS_QUEUED);
        let (cancel, tasks) = (CancellationToken::new(), TaskTracker::new());
        let engine = Engine::new(&config.containers.socket);
        let blobs = Blobs::new(&config.data_dir, config.content_cache);
        let shared = Arc::new(Shared {
            accounts: Accounts::new(&config.data_dir, &runs),
            runs,
            boot_id,
            login: own_login(),
            images: Images::new(
                &config.data_dir,
                config.containers.image_retention,
                engine.clone(),
                blobs.clone(),
                tasks.clone(),
                cancel.clone(),
            ),
            engine,
            executor: watch::Sender::new(Some(launched.link.clone())),
            live: Mutex::default(),
            spares: spare::Spares::default(),
            idle: idle::Idle::default(),
            desk: desk::Desk::default(),
            exits,
            cancel,
            tasks,
            tally: OnceLock::new(),
            devices: OnceLock::new(),
            pool: Pool::new(),
            secrets: Arc::new(Secrets::new(&config.data_dir, blobs.clone())),
            blobs,
            waits: Waits::default(),
            config,
        });
        shared.tasks.spawn(executor::keep(shared.clone(), launched));
        shared.tasks.spawn(pool::keep(shared.clone()));
        shared.tasks.spawn(identity::keep(shared.clone()));
        let inner = Arc::new(Inner { shared });
        Ok((Runner { inner }, news))
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.inner.shared
    }

    /// From now on what is written for runs is counted there.
    pub(crate) fn count_into(&self, tally: Arc<Tally>) {
        // Whoever comes second counts into the first one's.
        self.shared().blobs.count_into(tally.clone());
        let _ = self.shared().tally.set(tally);
    }

    /// Starts a run, once. Goes on by itself when the caller stops waiting.
    pub async fn start_run(&self, start: StartRun) -> Result<Started, StartError> {
        let run_id = start.run_id;
        let shared = self.shared();
        let output = match &start.spec.logs {
            policy if *policy == LogPolicy::default() => shared.config.output,
            policy => Limits::of(policy),
        };
        let is_container = start.spec.runtime == Runtime::Container;
        let bounds = match is_container {
            true => Bounds::default(),
            false => Bounds::of(&start.spec.limits),
        };
        let order = StartOrder {
            run_id,
            timeout_ms: start.spec.timeout.map_or(0, Span::millis),
            signal: start.spec.stop.signal.number(),
            grace_ms: start.spec.stop.grace.millis(),
            segment_bytes: output.segment_bytes,
            segments_max: output.segments_max,
            bounds,
            binding: binding::of(&start.reservation, is_container),
            hooks: HookTimes::of(&start.spec.hooks),
            is_container,
            has_secrets: !start.spec.secrets.is_empty() || start.spec.identity.is_some(),
            project: Project::new(&start.project),
        };
        if let Err(error) = shared.accounts.ensure(&start.project) {
            return Err(StartError::Prepare(error));
        }
        shared.know_devices(&start.reservation).await;
        let Entered { attendant, answer } =
            shared.enter(run_id, Some(order)).ok_or(StartError::AlreadyStarted(run_id))?;
        shared.pool.claim(run_id, &start.reservation);
        let mode = start.spec.mode.clone();
        let request = request(shared, start);
        shared.tasks.spawn(attendant.start(request, mode));
        match answer.await {
            Ok(Reply::Running(started)) => {
                shared.keep_off();
                Ok(started)
            }
            Ok(Reply::Ended { exit, .. }) => Err(StartError::Failed { exit }),
            Ok(Reply::NotStarted(e)) => Err(e),
            Err(_) => Err(StartError::ShuttingDown),
        }
    }

    /// What is kept of the output of runs.
    pub(crate) fn accounts(&self) -> &Accounts {
        &self.shared().accounts
    }

    /// Computes on a thread where blocking does no harm.
    pub async fn apart<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        blocking(move || Ok(work())).await.ok()
    }

    /// Asks a run to end; the exit comes as any other. Asking again can only hasten it.
    pub async fn stop(
        &self,
        run_id: RunId,
        signal: StopSignal,
        grace: Span,
    ) -> Result<(), StopError> {
        let commands = match self.shared().live().get(&run_id) {
            Some(handle) if handle.ended.is_none() => handle.commands.clone(),
            _ => return Err(StopError::NotRunning(run_id)),
        };
        self.thaw(run_id).await;
        let command = Command::Stop { signal: signal.number(), grace_ms: grace.millis() };
        let sent = commands.send(command.into()).await;
        sent.map_err(|_| StopError::NotRunning(run_id))
    }

    /// Reads a run's output as it grows, to its end.
    pub fn follow(&self, run_id: RunId, start: Start, streams: Streams) -> Follower {
        Follower::new(self.shared().clone(), run_id, start, streams)
    }

    /// Reads what a run has written so far.
    pub fn output(&self, run_id: RunId, start: Start, streams: Streams) -> io::Result<Reader> {
        Reader::open(&self.run_dir(run_id), start, streams)
    }

    /// Runs that are being started or live, and not known to be over.
    pub fn live(&self) -> Vec<RunId> {
        let live = self.shared().live();
        live.iter()
            .filter(|(_, handle)| handle.ended.is_none())
            .map(|(run_id, _)| *run_id)
            .collect()
    }

    pub fn run_dir(&self, run_id: RunId) -> PathBuf {
        self.shared().runs.join(run_id.to_string())
    }

    pub fn data_dir(&self) -> &Path {
        &self.shared().config.data_dir
    }

    /// Lets go of everything and waits until that is done: the executor ends, runs go on.
    pub async fn detach(self) {
        let shared = self.shared().clone();
        shared.cancel.cancel();
        shared.tasks.close();
        shared.tasks.wait().await;
        shared.idle.close();
    }
}
