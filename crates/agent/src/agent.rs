//! The whole agent, from its data directory to its last task.
//!
//! Starting: it is found out who the agent is (a node with an identity, or alone), the ledger is opened
//! (its lock keeps a second agent away), the executor started; then the supervisor repairs what a crash
//! left, and wishes begin to come: from the session, which dials out, or from the directory. Without a
//! server the agent does all it did before: it supervises what its ledger says.
//!
//! Stopping: the HTTP API closes, the session ends politely, the supervisor finishes what it has begun to
//! write, the ledger closes, and with it the local socket, which tells to the last how far it is. Runs
//! go on, unless the configuration says otherwise. None of this is needed for correctness: an agent may
//! be killed at any time.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hostler_base::notify::Notifier;
use hostler_base::{Clock, Ids, OnError, Phase, Shutdown, ledger as journal};
use hostler_host::Host;
use hostler_manifest::{Report, Set};
use hostler_model::{Generation, Name, NodeId};
use tokio::sync::watch;

use crate::backup::Backups;
use crate::config::{AgentConfig, OnStop};
use crate::door::{self, Door};
use crate::facts::Looker;
use crate::gpu::Devices;
use crate::housekeeping::Housekeeper;
use crate::identity::{Identity, IdentityError};
use crate::ledger::{self, Opened, Writer};
use crate::local::Local;
use crate::machine::Machine;
use crate::runner::{self, Runner, RunnerError};
use crate::session::{self, Session};
use crate::standalone::{self, DirectorySource, Hangups, Plan, Standalone, Trace};
use crate::status::Status;
use crate::steps::Steps;
use crate::supervisor::{self, Supervisor, Wishes};
use crate::thrift::Thrift;
use crate::usage::Observer;
use crate::watch::Watching;
use crate::writes::Tally;
use crate::{http, join, output, rundir};

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("the data directory cannot be used")]
    DataDir(#[source] hostler_base::fs::Error),
    #[error("this machine's identity cannot be used")]
    Identity(#[from] IdentityError),
    #[error(
        "{} belongs to a node that has joined a server; run that with `hostler agent run`, or give another --data-dir",
        .0.display()
    )]
    Joined(PathBuf),
    #[error(
        "{} belongs to an agent without a server; run that with `hostler agent up --standalone DIR`, or give another --data-dir",
        .0.display()
    )]
    Alone(PathBuf),
    #[error(
        "an agent without a server runs in {path}; stop it with `hostler agent shutdown --data-dir {path}`, or give another --data-dir",
        path = .0.display()
    )]
    AloneRuns(PathBuf),
    /// Nothing runs yet, and the files do not say what should.
    #[error("the workload files in {} cannot be used", directory.display())]
    Files { directory: PathBuf, report: Report },
    #[error("SIGHUP cannot be listened for")]
    Signals(#[source] std::io::Error),
    #[error("the agent's ledger cannot be used")]
    Ledger(#[from] journal::Error),
    #[error("runs cannot be supervised")]
    Runner(#[from] RunnerError),
    #[error("the local socket in {} cannot be made", path.display())]
    Local {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the HTTP API cannot listen on {address}")]
    Http {
        address: SocketAddr,
        #[source]
        source: std::io::Error,
    },
    #[error("the kernel's boot id cannot be read; is /proc mounted?")]
    BootId(#[source] std::io::Error),
}

/// Runs an agent until a stop is requested of `shutdown`, and stops it in good order. `shutdown` is
/// for this agent alone.
pub async fn run(config: AgentConfig, clock: Clock, shutdown: &Shutdown) -> Result<(), AgentError> {
    let (mut grace, on_stop) = (config.stop_grace, config.on_stop);
    let notifier = config.notifier.clone();
    let started = start(config, clock, shutdown).await;
    if let Ok(started) = &started {
        shutdown.requested().await;
        notifier.stopping();
        if started.status.on_stop().unwrap_or(on_stop) == OnStop::Stop {
            grace = grace.max(started.longest_stop());
        }
    }
    shutdown.run(grace).await;
    started.map(|_| ())
}

/// What is asked of a running agent from here.
struct Started {
    status: Arc<Status>,
    supervisor: Supervisor,
}

impl Started {
    /// How long stopping what runs can take, with time to write it down.
    fn longest_stop(&self) -> Duration {
        let services = self.supervisor.board().services();
        let limits = services.iter().map(|one| door::command::stop_limit(one));
        limits.max().unwrap_or_default() + Duration::from_secs(5)
    }
}

/// Where wishes come from.
enum Source {
    Server(Box<Identity>),
    Directory(Box<FromDirectory>),
}

struct FromDirectory {
    config: Standalone,
    node_id: NodeId,
    name: Name,
    plan: Plan,
    read: Result<Set, Report>,
    hangups: Hangups,
}

impl Source {
    fn node(&self) -> (NodeId, Name) {
        match self {
            Source::Server(identity) => (identity.node.node_id, identity.node.name.clone()),
            Source::Directory(from) => (from.node_id, from.name.clone()),
        }
    }
}

/// Finds out who the agent is, and opens its ledger.
fn open(
    data_dir: &Path,
    standalone: Option<Standalone>,
    clock: &Clock,
) -> Result<(Source, Opened), AgentError> {
    let Some(config) = standalone else {
        match standalone::trace(data_dir) {
            Trace::Running => return Err(AgentError::AloneRuns(data_dir.to_owned())),
            Trace::Left if !Identity::exists(data_dir) => {
                return Err(AgentError::Alone(data_dir.to_owned()));
            }
            Trace::Left | Trace::None => {}
        }
        let identity = Identity::load(data_dir)?;
        let opened = ledger::open(data_dir, identity.node.node_id, clock.now())?;
        return Ok((Source::Server(Box::new(identity)), opened));
    };
    if Identity::exists(data_dir) {
        return Err(AgentError::Joined(data_dir.to_owned()));
    }
    let hangups = Hangups::listen().map_err(AgentError::Signals)?;
    let (node_id, name) = standalone::this_node(data_dir).map_err(AgentError::DataDir)?;
    let opened = ledger::open(data_dir, standalone::LEDGER, clock.now())?;
    let (plan, mut read) = (Plan::of(&opened.state), config.load());
    let is_first = plan.is_empty() && opened.quarantined.is_none();
    if let (true, Err(report)) = (is_first, &mut read) {
        let directory = config.directory().to_owned();
        return Err(AgentError::Files { directory, report: report.clone() });
    }
    let from = FromDirectory { config, node_id, name, plan, read, hangups };
    Ok((Source::Directory(Box::new(from)), opened))
}

async fn start(
    config: AgentConfig,
    clock: Clock,
    shutdown: &Shutdown,
) -> Result<Started, AgentError> {
    let data_dir = config.data_dir;
    join::prepare_data_dir(&data_dir).map_err(AgentError::DataDir)?;
    let boot_id = rundir::boot_id().map_err(AgentError::BootId)?;
    let status = Arc::new(Status::default());
    status.set_on_stop(config.on_stop);
    let (source, opened) = open(&data_dir, config.standalone, &clock)?;
    if let Source::Server(identity) = &source {
        status.set_certificate_expires(identity.certificate.time_expires);
    }
    if let Some(path) = &opened.quarantined {
        status.set_quarantined(path.display().to_string());
    }
    let http = match config.http {
        None => None,
        Some(config) => {
            let address = config.address;
            let failed = |source| AgentError::Http { address, source };
            Some(http::listen(config).await.map_err(failed)?)
        }
    };
    let engine = Arc::from(config.containers.socket.as_path());
    let image_retention = config.containers.image_retention;
    let runner_config = runner::Config {
        executor: config.executor_program,
        executor_args: config.executor_args,
        data_dir: data_dir.clone(),
        output: output::Limits::default(),
        containers: config.containers,
        content_cache: config.content_cache,
    };
    let tally = Arc::new(Tally::open(&data_dir, config.write_budget, clock.clone()));
    let (runner, exits) = Runner::start(runner_config).await?;
    if matches!(source, Source::Server(_)) {
        // Before anything is taken up: what is left to be sent waits for the first session.
        runner.blobs().reach().lost();
    }
    runner.count_into(tally.clone());
    runner.accounts().settle_all().await;
    let devices = Arc::new(Devices::new(config.simulated_gpus));
    runner.know_of(devices.clone());
    let (node_id, node) = source.node();
    tracing::info!(%node, %node_id, held = opened.state.held.len(), "agent started");

    let supervisor_tasks = shutdown.tasks(Phase::Operations);
    let writer = Writer::start(
        opened.journal,
        &shutdown.tasks(Phase::Store),
        supervisor_tasks.token(),
        clock.clone(),
        status.clone(),
        tally.clone(),
    )
    .alone(matches!(source, Source::Directory(_)));
    let supervisor = Supervisor::start(
        supervisor::Parts {
            state: opened.state,
            writer,
            runner: runner.clone(),
            exits,
            node_id,
            node: node.clone(),
            boot_id: boot_id.clone(),
            clock: clock.clone(),
            ids: Ids::system(),
            is_alone: matches!(source, Source::Directory(_)),
            status: status.clone(),
            keep_runs: config.keep_runs,
            keep_for: config.keep_for,
            on_stop: config.on_stop,
        },
        &supervisor_tasks,
    );
    let (ready, is_ready) = watch::channel(false);
    supervisor_tasks.spawn_until_cancelled(
        "service manager",
        OnError::Log,
        tell_manager(config.notifier, is_ready.clone(), supervisor.clone(), clock.clone()),
    );
    let observer = Observer {
        clock: clock.clone(),
        runner: runner.clone(),
        supervisor: supervisor.clone(),
        data_dir: data_dir.clone(),
    };
    let housekeeper = Housekeeper {
        clock: clock.clone(),
        runner: runner.clone(),
        supervisor: supervisor.clone(),
        tally: tally.clone(),
    };
    let thrift =
        Thrift { clock: clock.clone(), runner: runner.clone(), supervisor: supervisor.clone() };
    let background = shutdown.tasks(Phase::Sessions);
    let last = shutdown.tasks(Phase::Store);
    let (kept, stopping) = (tally.clone(), last.token());
    last.spawn("writes", OnError::Log, async move { kept.keep(stopping).await });
    let watching = devices.clone().watch(background.clone(), clock.clone());
    background.spawn_until_cancelled("gpus", OnError::Log, watching);
    background.spawn_until_cancelled("thrift", OnError::Log, thrift.run());
    background.spawn_until_cancelled("usage", OnError::Log, observer.run());
    let accounts = runner.accounts().clone().keep(clock.clone());
    background.spawn_until_cancelled("output accounts", OnError::Log, accounts);
    background.spawn_until_cancelled("housekeeping", OnError::Log, housekeeper.run());
    background.spawn_until_cancelled(
        "containers",
        OnError::Log,
        remove_left_containers(runner.clone(), supervisor.clone(), clock.clone()),
    );
    background.spawn_until_cancelled(
        "images",
        OnError::Log,
        tidy_images(runner.clone(), supervisor.clone(), clock.clone(), image_retention),
    );
    let session_tasks = shutdown.tasks(Phase::Sessions);
    let directory = match source {
        Source::Server(identity) => {
            let looked = looked_around(supervisor.clone());
            session_tasks.spawn_until_cancelled("board", OnError::Log, async move {
                looked.await;
                ready.send_replace(true);
            });
            let blobs = runner.blobs().clone();
            let backups = Backups::new(blobs, clock.clone(), &data_dir, session_tasks.clone());
            let (tasks, status_of) = (session_tasks.clone(), status.clone());
            let machine = Machine::new(Host::local(), clock.clone(), status_of, tasks, backups);
            let watching = Watching::start(
                &data_dir,
                Host::local(),
                clock.clone(),
                tally.clone(),
                &session_tasks,
            )
            .await;
            let session = Session::new(session::Parts {
                clock: clock.clone(),
                tasks: session_tasks.clone(),
                data_dir: data_dir.clone(),
                identity: *identity,
                addresses: config.addresses,
                supervisor: supervisor.clone(),
                runner: runner.clone(),
                status: status.clone(),
                boot_id,
                looker: Looker { devices, engine, is_metered: config.is_metered },
                machine,
                watching,
                tally: tally.clone(),
            });
            session_tasks.spawn("session", OnError::Shutdown, session.run());
            None
        }
        Source::Directory(from) => {
            let FromDirectory { config, plan, read, hangups, .. } = *from;
            let directory = Arc::new(DirectorySource::new(config, plan, supervisor.clone()));
            let (source, looked) = (directory.clone(), looked_around(supervisor.clone()));
            session_tasks.spawn_until_cancelled("directory", OnError::Log, async move {
                looked.await;
                let ready = || {
                    ready.send_replace(true);
                };
                source.follow(read, hangups, ready).await;
            });
            Some(directory)
        }
    };
    Steps::new(runner.clone(), clock.clone(), is_ready.clone())
        .start(&data_dir, &shutdown.tasks(Phase::Sessions))
        .map_err(|source| AgentError::Local { path: data_dir.clone(), source })?;
    let door = Door::new(door::Parts {
        node_id,
        node,
        clock,
        shutdown: shutdown.clone(),
        status: status.clone(),
        supervisor: supervisor.clone(),
        runner,
        directory,
        ready: is_ready,
        tally,
        is_metered: config.is_metered,
    });
    Local::new(door.clone())
        .start(&data_dir, &shutdown.tasks(Phase::Store))
        .map_err(|source| AgentError::Local { path: data_dir.clone(), source })?;
    if let Some(listening) = http {
        http::serve(listening, door, &shutdown.tasks(Phase::Listeners));
    }
    Ok(Started { status, supervisor })
}

/// Resolves when the supervisor has repaired what a crash left: it takes wishes then, also this one
/// which wishes for nothing. False when it is gone.
async fn looked_around(supervisor: Supervisor) -> bool {
    let nothing = Wishes {
        from: Generation::ZERO,
        to: Generation::ZERO,
        assignments: Vec::new(),
        unreadable: Vec::new(),
    };
    match supervisor.wish(nothing).await {
        Ok(answer) => answer.await.is_ok(),
        Err(_) => false,
    }
}

/// Removes containers that nothing acts for, once it is known what lives, and then every minute.
async fn remove_left_containers(runner: Runner, supervisor: Supervisor, clock: Clock) {
    looked_around(supervisor).await;
    loop {
        if let Err(error) = runner.sweep_containers().await {
            tracing::debug!(%error, "left containers cannot be removed now");
        }
        clock.sleep(Duration::from_mins(1)).await;
    }
}

/// Removes versions of images that nobody needs: now and then, and when a server says that there may be some.
async fn tidy_images(runner: Runner, supervisor: Supervisor, clock: Clock, keep_for: Duration) {
    let every = (keep_for / 8).clamp(Duration::from_secs(1), Duration::from_hours(1));
    let soon = every.min(Duration::from_mins(1));
    let mut wait = soon;
    looked_around(supervisor.clone()).await;
    loop {
        tokio::select! {
            () = clock.sleep(wait) => {}
            () = runner.images().untidy() => {}
        }
        let Ok(wanted) = supervisor.images_wanted().await else { return };
        wait = match runner.tidy_images(&wanted).await {
            Ok(true) => every,
            Ok(false) => soon,
            Err(error) => {
                tracing::debug!(%error, "images cannot be cleaned up now");
                soon
            }
        };
    }
}

/// Tells the service manager, where there is one, when all that should run is supervised, and from then
/// on that the supervisor goes on answering.
async fn tell_manager(
    notifier: Notifier,
    mut is_ready: watch::Receiver<bool>,
    supervisor: Supervisor,
    clock: Clock,
) {
    if notifier.is_silent() || is_ready.wait_for(|is_ready| *is_ready).await.is_err() {
        return;
    }
    let counted = || match supervisor.board().services().len() {
        1 => "supervises 1 workload".to_owned(),
        count => format!("supervises {count} workloads"),
    };
    notifier.ready(&counted());
    let Some(watchdog) = notifier.watchdog() else { return };
    let answers = || async {
        let is_alive = looked_around(supervisor.clone()).await;
        notifier.status(&counted());
        is_alive
    };
    watchdog.keep(clock, answers).await;
}
