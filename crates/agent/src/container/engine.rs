//! The container engine of this node, over its Unix socket.
//!
//! Cheap to clone and free to make: nothing is asked before the first call, and each call finds an engine
//! that was restarted meanwhile. The oldest version of the API that the engine still speaks is used, as
//! nothing newer is needed; so one agent gets on with engines that are years apart.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bollard::errors::Error;
use bollard::models::{ContainerSummary, ContainerSummaryStateEnum};
use bollard::query_parameters::{
    KillContainerOptionsBuilder, ListContainersOptionsBuilder, RemoveContainerOptionsBuilder,
};
use bollard::{ClientVersion, Docker};
use hostler_model::{RunId, Timestamp, image_problem};
use tokio::sync::OnceCell;

use super::{LABEL_DATA, LABEL_RUN, container_name};

/// How long an answer may take that is not a stream.
const ANSWER: Duration = Duration::from_secs(60);
/// Of the API, from the oldest that has everything on.
const MINORS: [usize; 3] = [41, 44, 53];

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(
        "no container engine answers at {}: {why}; install or start Docker on this node, or tell its agent where the engine is",
        socket.display()
    )]
    Away { socket: PathBuf, why: String },
    #[error("{0}")]
    NotFound(String),
    /// It is in use, or in a state in which this cannot be done.
    #[error("{0}")]
    Conflict(String),
    #[error("the container engine refuses: {0}")]
    Refused(String),
    #[error("{0}")]
    Invalid(String),
    #[error("{0}")]
    TimedOut(String),
}

impl EngineError {
    pub fn is_away(&self) -> bool {
        matches!(self, EngineError::Away { .. })
    }

    pub fn is_missing(&self) -> bool {
        matches!(self, EngineError::NotFound(_))
    }
}

/// How a container stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerState {
    pub id: String,
    pub is_running: bool,
    pub is_paused: bool,
    /// It was started, now or before.
    pub was_started: bool,
    pub is_out_of_memory: bool,
    pub exit_code: Option<i32>,
    /// Zero when it does not run.
    pub pid: u32,
    /// What the engine has to say, usually why it could not be started.
    pub error: Option<String>,
}

/// A container in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerRow {
    pub id: String,
    pub name: String,
    pub image: String,
    pub image_id: String,
    pub command: String,
    /// Such as `running`, `exited`, `paused`.
    pub state: String,
    /// In words, such as `Up 3 minutes`.
    pub status: String,
    pub time_created: Timestamp,
    /// The run it belongs to, when it is one of ours.
    pub run_id: Option<RunId>,
    /// The data directory of the agent that made it.
    pub data: Option<String>,
}

#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    socket: PathBuf,
    docker: OnceCell<Docker>,
}

impl Engine {
    pub fn new(socket: impl Into<PathBuf>) -> Engine {
        Engine { inner: Arc::new(Inner { socket: socket.into(), docker: OnceCell::new() }) }
    }

    pub fn socket(&self) -> &Path {
        &self.inner.socket
    }

    /// Whether there can be an engine at all.
    pub fn is_installed(&self) -> bool {
        self.inner.socket.exists()
    }

    /// The engine's own version.
    pub async fn version(&self) -> Result<String, EngineError> {
        let version = self.docker().await?.version().await.map_err(|e| self.error(e))?;
        Ok(version.version.unwrap_or_default())
    }

    pub(super) async fn docker(&self) -> Result<Docker, EngineError> {
        let connected = self.inner.docker.get_or_try_init(|| async {
            let mut refused = None;
            for minor_version in MINORS {
                let version = ClientVersion { major_version: 1, minor_version };
                let socket = self.inner.socket.to_string_lossy();
                let docker = Docker::connect_with_unix(&socket, ANSWER.as_secs(), &version)
                    .map_err(|e| self.error(e))?;
                match docker.version().await {
                    Ok(_) => return Ok(docker),
                    Err(Error::DockerResponseServerError { status_code: 400, message }) => {
                        refused = Some(message);
                    }
                    Err(e) => return Err(self.error(e)),
                }
            }
            Err(EngineError::Refused(refused.unwrap_or_default()))
        });
        connected.await.cloned()
    }

    /// The same for what may take long before the first word comes back.
    pub(super) async fn patient(&self, limit: Duration) -> Result<Docker, EngineError> {
        Ok(self.docker().await?.with_timeout(limit))
    }

    pub(super) fn error(&self, error: Error) -> EngineError {
        match error {
            Error::DockerResponseServerError { status_code: 404, message } => {
                EngineError::NotFound(message)
            }
            Error::DockerResponseServerError { status_code: 409, message } => {
                EngineError::Conflict(message)
            }
            Error::DockerResponseServerError { message, .. } => EngineError::Refused(message),
            Error::DockerStreamError { error } => EngineError::Refused(error),
            Error::RequestTimeoutError => EngineError::TimedOut(format!(
                "the container engine has not answered for {} s",
                ANSWER.as_secs()
            )),
            Error::JsonDataError { message, .. } => EngineError::Refused(format!(
                "its answer is not understood ({message}); is something else listening at {}?",
                self.inner.socket.display()
            )),
            other => EngineError::Away {
                socket: self.inner.socket.clone(),
                why: hostler_base::chain(&other).to_string(),
            },
        }
    }

    /// Every container there is, whoever made it.
    pub async fn containers(&self) -> Result<Vec<ContainerRow>, EngineError> {
        self.list(HashMap::new()).await
    }

    /// Containers that the agent with this mark has made.
    pub(super) async fn own_containers(
        &self,
        data: &str,
    ) -> Result<Vec<ContainerRow>, EngineError> {
        let label = format!("{LABEL_DATA}={data}");
        self.list(HashMap::from([("label".to_owned(), vec![label])])).await
    }

    async fn list(
        &self,
        filters: HashMap<String, Vec<String>>,
    ) -> Result<Vec<ContainerRow>, EngineError> {
        let options = ListContainersOptionsBuilder::default().all(true).filters(&filters).build();
        let listed = self.docker().await?.list_containers(Some(options)).await;
        Ok(listed.map_err(|e| self.error(e))?.into_iter().map(row).collect())
    }

    /// How a container stands; `None` when there is none.
    pub async fn inspect_container(
        &self,
        name: &str,
    ) -> Result<Option<ContainerState>, EngineError> {
        check_container(name)?;
        let found = self.docker().await?.inspect_container(name, None).await;
        let found = match found.map_err(|e| self.error(e)) {
            Ok(found) => found,
            Err(e) if e.is_missing() => return Ok(None),
            Err(e) => return Err(e),
        };
        let state = found.state.unwrap_or_default();
        let started = state.started_at.unwrap_or_default();
        let is_running = state.running.unwrap_or(false);
        Ok(Some(ContainerState {
            id: found.id.unwrap_or_default(),
            is_running,
            is_paused: state.paused.unwrap_or(false),
            was_started: is_running || !(started.is_empty() || started.starts_with("0001-")),
            is_out_of_memory: state.oom_killed.unwrap_or(false),
            exit_code: state.exit_code.and_then(|code| i32::try_from(code).ok()),
            pid: state.pid.and_then(|pid| u32::try_from(pid).ok()).unwrap_or(0),
            error: state.error.filter(|words| !words.is_empty()),
        }))
    }

    /// Removes a container, running or not. It is no mistake when there is none.
    pub async fn remove_container(&self, name: &str) -> Result<(), EngineError> {
        check_container(name)?;
        let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
        let removed = self.docker().await?.remove_container(name, Some(options)).await;
        match removed.map_err(|e| self.error(e)) {
            Err(EngineError::Conflict(words)) if words.contains("already in progress") => Ok(()),
            Err(e) if !e.is_missing() => Err(e),
            _ => Ok(()),
        }
    }

    /// Sends a signal to a container's first process, also when it is frozen.
    pub async fn signal(&self, name: &str, signal: i32) -> Result<(), EngineError> {
        check_container(name)?;
        let docker = self.docker().await?;
        let send = || {
            let signal = signal.to_string();
            let options = KillContainerOptionsBuilder::default().signal(&signal).build();
            docker.kill_container(name, Some(options))
        };
        match send().await.map_err(|e| self.error(e)) {
            Ok(()) => Ok(()),
            Err(e) if e.is_away() || e.is_missing() => Err(e),
            Err(_) => {
                let _ = docker.unpause_container(name).await;
                send().await.map_err(|e| self.error(e))
            }
        }
    }

    /// Freezes or thaws the container of a run. It is no mistake when it is so already.
    pub async fn pause(&self, run_id: RunId, is_paused: bool) -> Result<(), EngineError> {
        let name = container_name(run_id);
        let docker = self.docker().await?;
        let done = match is_paused {
            true => docker.pause_container(&name).await,
            false => docker.unpause_container(&name).await,
        };
        let Err(error) = done else { return Ok(()) };
        match self.inspect_container(&name).await? {
            Some(state) if state.is_paused == is_paused => Ok(()),
            _ => Err(self.error(error)),
        }
    }
}

fn row(found: ContainerSummary) -> ContainerRow {
    let mut labels = found.labels.unwrap_or_default();
    let name = found.names.unwrap_or_default().into_iter().next().unwrap_or_default();
    let created = found.created.unwrap_or(0);
    ContainerRow {
        id: found.id.unwrap_or_default(),
        name: name.trim_start_matches('/').to_owned(),
        image: found.image.unwrap_or_default(),
        image_id: found.image_id.unwrap_or_default(),
        command: found.command.unwrap_or_default(),
        state: found.state.as_ref().map(ContainerSummaryStateEnum::to_string).unwrap_or_default(),
        status: found.status.unwrap_or_default(),
        time_created: Timestamp::from_micros(created.saturating_mul(1_000_000)),
        run_id: labels.remove(LABEL_RUN).and_then(|run| run.parse().ok()),
        data: labels.remove(LABEL_DATA),
    }
}

/// Refuses what is no name or id of a container, before it becomes part of an address.
pub(super) fn check_container(name: &str) -> Result<(), EngineError> {
    let is_good = (1..=255).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    match is_good {
        true => Ok(()),
        false => Err(EngineError::Invalid(format!(
            "`{name}` cannot be a container; names have letters, digits, `-`, `_` and `.`"
        ))),
    }
}

pub(super) fn check_image(name: &str) -> Result<(), EngineError> {
    match image_problem(name) {
        None => Ok(()),
        Some(problem) => {
            Err(EngineError::Invalid(format!("`{name}` cannot be an image: {problem}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_lead_elsewhere() {
        for name in ["hostler-1", "a", "0123456789ab", "a.b_c"] {
            assert!(check_container(name).is_ok(), "{name}");
        }
        for name in ["", "a/b", "../x", "a?force=1", "a#b", "-a", "a b", "a%2fb"] {
            assert!(check_container(name).is_err(), "{name}");
        }
        for name in ["debian:12", "127.0.0.1:5000/a/b:c", "sha256:abc"] {
            assert!(check_image(name).is_ok(), "{name}");
        }
        for name in ["", "../../containers/x", "a//b", "a?x", "/a", "a b"] {
            assert!(check_image(name).is_err(), "{name}");
        }
    }

    #[tokio::test]
    async fn an_engine_that_is_not_there_is_told_so() {
        let dir = tempfile::tempdir().unwrap();
        let engine = Engine::new(dir.path().join("none.sock"));
        let error = engine.containers().await.unwrap_err();
        assert!(error.is_away());
        assert!(error.to_string().contains("none.sock"), "{error}");
        let socket = dir.path().join("dead.sock");
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
        assert!(Engine::new(socket).version().await.unwrap_err().is_away());
    }
}
