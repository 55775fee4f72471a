//! What can go wrong, in words for whoever asked.

use std::io;
use std::path::PathBuf;

use hostler_model::{Exit, RunId};

use super::executor::{self, ExecutorError};
use crate::container::EngineError;

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
    /// Something that it needs will be there later; it is waited for.
    #[error("{0}; it waits for that")]
    Lacking(String),
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
pub enum PauseError {
    #[error("run {0} is not running here")]
    NotRunning(RunId),
    #[error("run {0} cannot be frozen: this node has no cgroups of version 2 for its runs")]
    NoFreezer(RunId),
    #[error("the run cannot be frozen or thawed")]
    Io(#[source] io::Error),
    #[error("the container cannot be frozen or thawed")]
    Engine(#[from] EngineError),
}

#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    #[error("run {0} is not running here")]
    NotRunning(RunId),
    /// Its shim was born before there was such a thing.
    #[error(
        "run {0} was started by an older version, which cannot run commands beside it; restart the workload"
    )]
    TooOld(RunId),
    #[error("the command could not be run: {0}")]
    Refused(String),
    #[error("run {0} ended before the command did")]
    Over(RunId),
    #[error("the command could not be passed on")]
    Io(#[source] io::Error),
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
