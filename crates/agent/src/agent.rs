//! The whole agent, from its data directory to its last task.
//!
//! Starting: the identity is read, the ledger opened (its lock keeps a second agent away), the executor
//! started; then the supervisor repairs what a crash left, and the session dials out. Without a server
//! the agent does all it did before: it supervises what its ledger says.
//!
//! Stopping: the local socket closes, the session ends politely, the supervisor finishes what it has
//! begun to write, the ledger closes. Runs go on, unless the configuration says otherwise. None of this
//! is needed for correctness: an agent may be killed at any time.

use std::path::PathBuf;
use std::sync::Arc;

use hostler_base::{Clock, OnError, Phase, Shutdown, ledger as journal};

use crate::config::AgentConfig;
use crate::identity::{Identity, IdentityError};
use crate::ledger::{self, Writer};
use crate::local::Local;
use crate::runner::{self, Runner, RunnerError};
use crate::session::{self, Session};
use crate::status::Status;
use crate::supervisor::{self, Supervisor};
use crate::{join, output, rundir};

#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error("the data directory cannot be made")]
    DataDir(#[source] hostler_base::fs::Error),
    #[error("this machine's identity cannot be used")]
    Identity(#[from] IdentityError),
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
    #[error("the kernel's boot id cannot be read; is /proc mounted?")]
    BootId(#[source] std::io::Error),
}

/// Runs an agent until a stop is requested of `shutdown`, and stops it in good order. `shutdown` is
/// for this agent alone.
pub async fn run(config: AgentConfig, clock: Clock, shutdown: &Shutdown) -> Result<(), AgentError> {
    let stop_grace = config.stop_grace;
    let started = start(config, clock, shutdown).await;
    if started.is_ok() {
        shutdown.requested().await;
    }
    shutdown.run(stop_grace).await;
    started
}

async fn start(config: AgentConfig, clock: Clock, shutdown: &Shutdown) -> Result<(), AgentError> {
    let data_dir = config.data_dir;
    join::prepare_data_dir(&data_dir).map_err(AgentError::DataDir)?;
    let identity = Identity::load(&data_dir)?;
    let boot_id = rundir::boot_id().map_err(AgentError::BootId)?;
    let status = Arc::new(Status::default());
    status.set_certificate_expires(identity.certificate.time_expires);

    let opened = ledger::open(&data_dir, identity.node.node_id, clock.now())?;
    if let Some(path) = &opened.quarantined {
        status.set_quarantined(path.display().to_string());
    }
    let runner_config = runner::Config {
        executor: config.executor_program,
        executor_args: config.executor_args,
        data_dir: data_dir.clone(),
        output: output::Limits::default(),
    };
    let (runner, exits) = Runner::start(runner_config).await?;
    let local = Local {
        node_id: identity.node.node_id,
        name: identity.node.name.clone(),
        status: status.clone(),
        runner: runner.clone(),
        clock: clock.clone(),
    };
    local
        .start(&data_dir, &shutdown.tasks(Phase::Listeners))
        .map_err(|source| AgentError::Local { path: data_dir.clone(), source })?;
    tracing::info!(
        node = %identity.node.name,
        node_id = %identity.node.node_id,
        held = opened.state.held.len(),
        "agent started"
    );

    let supervisor_tasks = shutdown.tasks(Phase::Operations);
    let writer = Writer::start(
        opened.journal,
        &shutdown.tasks(Phase::Store),
        supervisor_tasks.token(),
        clock.clone(),
        status.clone(),
    );
    let supervisor = Supervisor::start(
        supervisor::Parts {
            state: opened.state,
            writer,
            runner: runner.clone(),
            exits,
            node: identity.node.name.clone(),
            boot_id: boot_id.clone(),
            clock: clock.clone(),
            status: status.clone(),
            keep_runs: config.keep_runs,
            keep_for: config.keep_for,
            on_stop: config.on_stop,
        },
        &supervisor_tasks,
    );
    let session_tasks = shutdown.tasks(Phase::Sessions);
    let session = Session::new(session::Parts {
        clock,
        tasks: session_tasks.clone(),
        data_dir,
        identity,
        addresses: config.addresses,
        supervisor,
        runner,
        status,
        boot_id,
    });
    session_tasks.spawn("session", OnError::Shutdown, session.run());
    Ok(())
}
