//! The agent's side of running things: asynchronous, and free to die at any moment.
//!
//! A [`Runner`] keeps one executor process alive, has it start runs, and holds one socket to every
//! shim. Everything a run is lies in its directory and its shim; the runner only remembers whom it is
//! connected to, so that dropping it (or killing the agent) loses nothing, and a new runner on the
//! same data directory finds it all again with [`Runner::recover`].
//!
//! Promises to the caller:
//! - a run id is executed at most once, whatever is killed and however often it is asked for;
//! - after `Ok` from [`Runner::start_run`], and for every run that [`Runner::recover`] found live,
//!   exactly one [`RunExited`] comes; after an error none does;
//! - nothing is forgotten on disk until [`Runner::forget`].

mod attend;
mod executor;
mod follow;
mod settle;
mod spare;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_model::{Exit, Name, RunId, Span, StopSignal, Timestamp, WorkloadSpec};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::output::{Limits, Reader, Start, Streams};
use crate::rundir::{self, Login, Request};
use crate::wire::{Command, Identity, StartOrder};
use attend::{Attendant, Reply};
use settle::Settled;

pub use executor::ExecutorError;
pub use follow::Follower;

/// How long a shim may take to greet an agent; one that takes longer is attended to all the same.
const HELLO: Duration = Duration::from_secs(5);
/// How many exits may wait to be taken before shims' news wait too.
const EXITS_QUEUED: usize = 1024;

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
}

impl Config {
    pub fn new(data_dir: impl Into<PathBuf>) -> Config {
        Config {
            executor: "/proc/self/exe".into(),
            executor_args: vec!["executor".into()],
            data_dir: data_dir.into(),
            output: Limits::default(),
        }
    }
}

/// One run to start.
#[derive(Clone, Debug)]
pub struct StartRun {
    pub run_id: RunId,
    pub spec: WorkloadSpec,
    pub task: Name,
    pub project: Name,
    pub node: Name,
    /// Added to the environment after the spec's own.
    pub env: BTreeMap<String, String>,
}

/// A program that runs, or ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    pub pid: u32,
    pub time: Timestamp,
}

impl From<Identity> for Started {
    fn from(identity: Identity) -> Started {
        Started { pid: identity.pid, time: identity.time }
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

/// A run that was on disk when the runner began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    pub run_id: RunId,
    pub state: RecoveredState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveredState {
    /// It runs; the runner is connected to its shim again.
    Live(Started),
    /// It ended while nobody looked. [`hostler_model::ExitReason::Vanished`] when its shim died with
    /// it or the node rebooted; what was left of it has been killed.
    Exited { exit: Exit, started: Option<Started> },
    /// It was prepared, in this boot, and certainly never executed: it may be started.
    NeverStarted,
}

#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error("the data directory {} cannot be used; check that it exists and that the agent may write there", path.display())]
    DataDir {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the executor does not start")]
    Executor(#[from] ExecutorError),
    #[error("the kernel's boot id cannot be read; is /proc mounted?")]
    BootId(#[source] io::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("run {0} was started before and is never started twice; recover it instead")]
    AlreadyStarted(RunId),
    /// It has its exit on disk like any other run; no [`RunExited`] follows.
    #[error("the program could not be started: {}", exit.message.as_deref().unwrap_or("no reason known"))]
    Failed { exit: Exit },
    #[error("{0}; it may be tried again")]
    Refused(String),
    #[error(
        "the run's directory cannot be prepared; free space or rights on the data directory are the usual causes"
    )]
    Prepare(#[source] io::Error),
    #[error("no executor could be started within {} s; nothing can be started until it can, see the agent's log", executor::PATIENCE.as_secs())]
    ExecutorGone,
    #[error("the agent is shutting down; the next one can start the run")]
    ShuttingDown,
}

#[derive(Debug, thiserror::Error)]
pub enum StopError {
    #[error("run {0} is not running here")]
    NotRunning(RunId),
}

#[derive(Debug, thiserror::Error)]
pub enum ForgetError {
    #[error("run {0} is still running; stop it first")]
    Running(RunId),
    #[error("the directory of run {run_id} cannot be removed")]
    Io {
        run_id: RunId,
        #[source]
        source: io::Error,
    },
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
    executor: watch::Sender<Option<Arc<executor::Link>>>,
    live: Mutex<HashMap<RunId, Handle>>,
    spares: spare::Spares,
    exits: mpsc::Sender<RunExited>,
    cancel: CancellationToken,
    tasks: TaskTracker,
}

/// How to reach the task that attends to a run.
struct Handle {
    commands: mpsc::Sender<Command>,
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

    /// Enters a run that is about to be attended to; `None` when it is already.
    fn enter(self: &Arc<Self>, run_id: RunId, order: Option<StartOrder>) -> Option<Entered> {
        let (commands, asked) = mpsc::channel(16);
        let (notices, output) = watch::channel(0);
        let (reply, answer) = oneshot::channel();
        match self.live().entry(run_id) {
            std::collections::hash_map::Entry::Occupied(_) => return None,
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(Handle { commands, output, ended: None })
            }
        };
        let attendant = Attendant::new(self.clone(), run_id, order, asked, notices, reply);
        Some(Entered { attendant, answer })
    }

    /// What is on record of its start.
    async fn started(&self, run_id: RunId) -> io::Result<Option<Started>> {
        let path = self.runs.join(run_id.to_string());
        blocking(move || settle::started_at(&path)).await
    }

    async fn settle(&self, run_id: RunId) -> io::Result<Settled> {
        let path = self.runs.join(run_id.to_string());
        let boot_id = self.boot_id.clone();
        blocking(move || settle::settle(&path, &boot_id)).await
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
        let (exits, news) = mpsc::channel(EXITS_QUEUED);
        let shared = Arc::new(Shared {
            runs,
            boot_id,
            login: own_login(),
            executor: watch::Sender::new(Some(launched.link.clone())),
            live: Mutex::default(),
            spares: spare::Spares::default(),
            exits,
            cancel: CancellationToken::new(),
            tasks: TaskTracker::new(),
            config,
        });
        shared.tasks.spawn(executor::keep(shared.clone(), launched));
        let inner = Arc::new(Inner { shared });
        Ok((Runner { inner }, news))
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.inner.shared
    }

    /// Starts a run, once. Goes on by itself when the caller stops waiting.
    pub async fn start_run(&self, start: StartRun) -> Result<Started, StartError> {
        let run_id = start.run_id;
        let shared = self.shared();
        let order = StartOrder {
            run_id,
            timeout_ms: start.spec.timeout.map_or(0, Span::millis),
            signal: start.spec.stop.signal.number(),
            grace_ms: start.spec.stop.grace.millis(),
            segment_bytes: shared.config.output.segment_bytes,
            segments_max: shared.config.output.segments_max,
        };
        let Entered { attendant, answer } =
            shared.enter(run_id, Some(order)).ok_or(StartError::AlreadyStarted(run_id))?;
        let request = request(shared, start);
        shared.tasks.spawn(attendant.start(request));
        match answer.await {
            Ok(Reply::Running(started)) => Ok(started),
            Ok(Reply::Ended { exit, .. }) => Err(StartError::Failed { exit }),
            Ok(Reply::NotStarted(e)) => Err(e),
            Err(_) => Err(StartError::ShuttingDown),
        }
    }

    /// Everything on disk that this runner is not attending to yet, attending to what lives. To be
    /// called once after [`Runner::start`], before anything is started.
    pub async fn recover(&self) -> io::Result<Vec<Recovered>> {
        let shared = self.shared();
        let runs = shared.runs.clone();
        let found = blocking(move || settle::list(&runs)).await?;
        let mut recovered = Vec::with_capacity(found.len());
        for run_id in found {
            match self.recover_one(run_id).await {
                Ok(state) => recovered.extend(state.map(|state| Recovered { run_id, state })),
                Err(error) => tracing::error!(run = %run_id, %error, "run cannot be examined"),
            }
        }
        Ok(recovered)
    }

    /// The same for one run; `None` when it lives and is attended to already.
    pub async fn recover_one(&self, run_id: RunId) -> io::Result<Option<RecoveredState>> {
        let shared = self.shared();
        let Some(Entered { attendant, answer }) = shared.enter(run_id, None) else {
            let ended = shared.live().get(&run_id).and_then(|h| h.ended.clone());
            return Ok(
                ended.map(|Ended { exit, started }| RecoveredState::Exited { exit, started })
            );
        };
        match shared.settle(run_id).await {
            Ok(Settled::Live(stream)) => {
                shared.tasks.spawn(attendant.resume(stream));
            }
            Ok(Settled::Stuck { started }) => {
                shared.tasks.spawn(attendant.search());
                let state = started.map(RecoveredState::Live);
                return state.map(Some).ok_or_else(|| io::ErrorKind::TimedOut.into());
            }
            Ok(Settled::Ended { exit, started }) => {
                return Ok(Some(RecoveredState::Exited { exit, started }));
            }
            Ok(Settled::NeverStarted) => return Ok(Some(RecoveredState::NeverStarted)),
            Err(e) => return Err(e),
        }
        let Ok(answer) = tokio::time::timeout(HELLO, answer).await else {
            let started = shared.started(run_id).await?;
            let state = started.map(RecoveredState::Live);
            return state.map(Some).ok_or_else(|| io::ErrorKind::TimedOut.into());
        };
        Ok(match answer {
            Ok(Reply::Running(started)) => Some(RecoveredState::Live(started)),
            Ok(Reply::Ended { exit, started }) => Some(RecoveredState::Exited { exit, started }),
            Ok(Reply::NotStarted(_)) => Some(RecoveredState::NeverStarted),
            Err(_) => None,
        })
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
        let command = Command::Stop { signal: signal.number(), grace_ms: grace.millis() };
        let sent = commands.send(command).await;
        sent.map_err(|_| StopError::NotRunning(run_id))
    }

    /// Removes everything of a run that is over. To be called when its exit is recorded elsewhere.
    pub async fn forget(&self, run_id: RunId) -> Result<(), ForgetError> {
        let attended = match self.shared().live().get(&run_id) {
            Some(handle) if handle.ended.is_none() => return Err(ForgetError::Running(run_id)),
            Some(handle) => Some((handle.commands.clone(), handle.output.clone())),
            None => None,
        };
        if let Some((commands, mut output)) = attended {
            let _ = commands.send(Command::Recorded).await;
            let gone = async { while output.changed().await.is_ok() {} };
            let _ = tokio::time::timeout(Duration::from_secs(5), gone).await;
        }
        let path = self.run_dir(run_id);
        let shared = self.shared().clone();
        blocking(move || settle::remove(&path, &shared.spares)).await.map_err(|source| match source
            .kind()
        {
            io::ErrorKind::ResourceBusy => ForgetError::Running(run_id),
            _ => ForgetError::Io { run_id, source },
        })
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
    }
}

fn request(shared: &Shared, start: StartRun) -> Request {
    let mut env = start.spec.env;
    env.extend(start.env);
    env.extend([
        ("HOSTLER_TASK".to_owned(), start.task.to_string()),
        ("HOSTLER_PROJECT".to_owned(), start.project.to_string()),
        ("HOSTLER_NODE".to_owned(), start.node.to_string()),
        ("HOSTLER_RUN".to_owned(), start.run_id.to_string()),
    ]);
    Request {
        run_id: start.run_id,
        boot_id: shared.boot_id.clone(),
        argv: start.spec.command,
        env,
        workdir: start.spec.workdir,
        user: start.spec.user.filter(|name| *name != shared.login.name),
        login: shared.login.clone(),
    }
}

fn own_login() -> Login {
    let uid = nix::unistd::Uid::effective();
    match nix::unistd::User::from_uid(uid) {
        Ok(Some(user)) => Login::of(&user),
        Ok(None) | Err(_) => {
            Login { name: uid.to_string(), home: "/".to_owned(), shell: "/bin/sh".to_owned() }
        }
    }
}
