//! The agent's local socket, `<data>/agent.sock`: one question and one answer per line, both JSON.
//!
//! Whoever may open the socket (mode 0660: the agent's user and group) may ask; nothing can be changed
//! through it. The question `{"ask":"status"}` is answered with [`LocalStatus`], anything else with
//! `{"error": ...}`.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hostler_base::{Clock, OnError, Tasks};
use hostler_model::{Generation, Name, NodeId, Timestamp};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

use crate::runner::Runner;
use crate::status::Status;

pub const SOCKET: &str = "agent.sock";
const LINE_MAX: u64 = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);

/// What an agent says about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalStatus {
    pub node_id: NodeId,
    pub name: Name,
    pub agent_version: String,
    pub pid: u32,
    pub is_connected: bool,
    /// Id of the server that holds the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Since when it is connected, or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_changed: Option<Timestamp>,
    /// Why it is not connected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_problem: Option<String>,
    pub applied_generation: Generation,
    pub runs_active: usize,
    /// Why nothing can be written, and so nothing started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger_problem: Option<String>,
    /// Where a damaged ledger was put aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger_quarantined: Option<String>,
    pub certificate_expires: Timestamp,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
enum Question {
    Status,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Status(Box<LocalStatus>),
    Error(String),
}

#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error("no agent answers in {}; start it with `hostler agent run`", path.display())]
    NotRunning {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the agent's socket in {} may not be opened; ask as root or as the agent's user", .0.display())]
    Forbidden(PathBuf),
    #[error("the agent did not answer within {} s; look into its log", PATIENCE.as_secs())]
    Timeout,
    #[error("the connection with the agent broke")]
    Broken(#[source] io::Error),
    #[error("the agent's answer makes no sense; is it of another release?")]
    Garbled(#[source] serde_json::Error),
    #[error("the agent refused: {0}")]
    Refused(String),
}

/// Asks the agent that uses this data directory how it is.
pub async fn query(data_dir: &Path, clock: &Clock) -> Result<LocalStatus, QueryError> {
    let folder = open_folder(data_dir).map_err(|e| cannot_open(data_dir, e))?;
    let ask = async {
        let stream = UnixStream::connect(socket_path(&folder))
            .await
            .map_err(|e| cannot_open(data_dir, e))?;
        let question = serde_json::to_string(&Question::Status).map_err(QueryError::Garbled)?;
        let (reader, mut writer) = stream.into_split();
        writer.write_all(format!("{question}\n").as_bytes()).await.map_err(QueryError::Broken)?;
        let mut line = String::new();
        BufReader::new(reader.take(LINE_MAX))
            .read_line(&mut line)
            .await
            .map_err(QueryError::Broken)?;
        match serde_json::from_str(&line).map_err(QueryError::Garbled)? {
            Answer::Status(status) => Ok(*status),
            Answer::Error(why) => Err(QueryError::Refused(why)),
        }
    };
    clock.timeout(PATIENCE, ask).await.map_err(|_| QueryError::Timeout)?
}

fn cannot_open(data_dir: &Path, source: io::Error) -> QueryError {
    let path = data_dir.to_owned();
    match source.kind() {
        io::ErrorKind::PermissionDenied => QueryError::Forbidden(path),
        _ => QueryError::NotRunning { path, source },
    }
}

/// Needs no more than the right to pass through.
fn open_folder(data_dir: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(data_dir, flags, Mode::empty())?)
}

/// Short enough for a socket address however deep the data directory lies.
fn socket_path(folder: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd()).into()
}

/// Answers questions.
#[derive(Clone)]
pub(crate) struct Local {
    pub node_id: NodeId,
    pub name: Name,
    pub status: Arc<Status>,
    pub runner: Runner,
    pub clock: Clock,
}

impl Local {
    /// Listens in the data directory. The caller holds its lock, so a socket that is there is a
    /// dead agent's.
    pub fn start(self, data_dir: &Path, tasks: &Tasks) -> io::Result<()> {
        let folder = open_folder(data_dir)?;
        let path = socket_path(&folder);
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o660))?;
        let scope = tasks.clone();
        tasks.spawn("local socket", OnError::Log, async move {
            let token = scope.token();
            let accept = async {
                loop {
                    match listener.accept().await {
                        Ok((stream, _)) => {
                            let local = self.clone();
                            scope.spawn_until_cancelled(
                                "local question",
                                OnError::Log,
                                async move {
                                    let answer = local.answer(stream);
                                    // Whoever asked may have gone, or be too slow.
                                    let _ = local.clock.timeout(PATIENCE, answer).await;
                                },
                            );
                        }
                        Err(error) => {
                            tracing::warn!(%error, "local socket refused a connection");
                            self.clock.sleep(Duration::from_secs(1)).await;
                        }
                    }
                }
            };
            token.run_until_cancelled(accept).await;
            let _ = std::fs::remove_file(socket_path(&folder));
        });
        Ok(())
    }

    async fn answer(&self, stream: UnixStream) -> io::Result<()> {
        let (reader, mut writer) = stream.into_split();
        let mut line = String::new();
        BufReader::new(reader.take(LINE_MAX)).read_line(&mut line).await?;
        let answer = match serde_json::from_str(&line) {
            Ok(Question::Status) => Answer::Status(Box::new(self.status())),
            Err(error) => Answer::Error(format!(
                "the question is not understood, ask {{\"ask\":\"status\"}}: {error}"
            )),
        };
        let answer = serde_json::to_string(&answer).map_err(io::Error::other)?;
        writer.write_all(format!("{answer}\n").as_bytes()).await
    }

    fn status(&self) -> LocalStatus {
        let known = self.status.known();
        let (server, address) = known.connection.server.unzip();
        LocalStatus {
            node_id: self.node_id,
            name: self.name.clone(),
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            is_connected: server.is_some(),
            server,
            address,
            time_changed: known.connection.time_changed,
            connection_problem: known.connection.problem,
            applied_generation: known.applied,
            runs_active: self.runner.live().len(),
            ledger_problem: known.ledger_problem,
            ledger_quarantined: known.quarantined,
            certificate_expires: known.certificate_expires,
        }
    }
}
