//! Asking an agent on this machine.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hostler_base::Clock;
use hostler_model::Span;
use rustix::process::{Pid, PidfdFlags};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Take};
use tokio::net::UnixStream;

use super::{Answer, LocalStatus, Question, descriptors, open_folder, socket_path};
use crate::config::OnStop;
use crate::door::view::{ExecView, Refusal};
use crate::sys;

/// The longest answer that is believed.
const LINE_MAX: u64 = 256 << 20;
/// How long an agent may take for what it only has to look up.
const PATIENCE: Duration = Duration::from_secs(15);
/// How often it is looked whether an agent still answers.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    #[error(
        "no agent answers in {}; start it with `hostler agent run`, or with `hostler agent up --standalone DIR`",
        path.display()
    )]
    NotRunning {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the agent's socket in {} may not be opened; ask as root or as the agent's user", .0.display())]
    Forbidden(PathBuf),
    #[error("the agent did not answer within {} s; look into its log", PATIENCE.as_secs())]
    Timeout,
    #[error("the connection with the agent broke; was it stopped?")]
    Broken(#[source] io::Error),
    #[error("the agent's answer makes no sense; is it of another release?")]
    Garbled(#[source] serde_json::Error),
    #[error("{}", .0.detail)]
    Refused(Refusal),
}

/// Asks the agent that uses this data directory how it is.
pub async fn query(data_dir: &Path, clock: &Clock) -> Result<LocalStatus, QueryError> {
    match ask(data_dir, &Question::Status, clock).await?.next().await? {
        Some(Answer::Status(status)) => Ok(*status),
        _ => Err(closed()),
    }
}

/// Asks anything; refusals are errors.
pub async fn ask(
    data_dir: &Path,
    question: &Question,
    clock: &Clock,
) -> Result<Answers, QueryError> {
    send(data_dir, question, &[], clock).await
}

/// Runs a command beside a workload with these descriptors as its stdin, stdout and stderr.
pub async fn exec(
    data_dir: &Path,
    name: &str,
    command: &[String],
    timeout: Option<Span>,
    streams: [BorrowedFd<'_>; 3],
    clock: &Clock,
) -> Result<ExecView, QueryError> {
    let (name, command) = (name.to_owned(), command.to_vec());
    let question = Question::Exec { name, command, timeout };
    match send(data_dir, &question, &streams, clock).await?.next().await? {
        Some(Answer::Exec(end)) => Ok(end),
        _ => Err(closed()),
    }
}

/// Asks the agent to stop; `runs` says what becomes of what runs, where that is not what the agent was
/// started with.
pub async fn shutdown(
    data_dir: &Path,
    runs: Option<OnStop>,
    clock: &Clock,
) -> Result<Stopping, QueryError> {
    let answers = ask(data_dir, &Question::Shutdown { runs }, clock).await?;
    let process = answers.process();
    match answers.only().await? {
        Answer::Shutdown {} => {
            Ok(Stopping { process, data_dir: data_dir.to_owned(), clock: clock.clone() })
        }
        _ => Err(closed()),
    }
}

/// An agent that was asked to stop.
pub struct Stopping {
    process: Option<OwnedFd>,
    data_dir: PathBuf,
    clock: Clock,
}

impl Stopping {
    /// Resolves when its process has ended; where that cannot be seen, when it no longer answers.
    pub async fn ended(self) -> io::Result<()> {
        if let Some(process) = self.process {
            let process = sys::asynchronous(process)?;
            let _ended = process.readable().await?;
            return Ok(());
        }
        while !matches!(
            query(&self.data_dir, &self.clock).await,
            Err(QueryError::NotRunning { .. })
        ) {
            self.clock.sleep(LOOK_AGAIN).await;
        }
        Ok(())
    }
}

/// The answers to a question, one after the other.
pub struct Answers {
    lines: Take<BufReader<UnixStream>>,
    clock: Clock,
    patience: Option<Duration>,
}

impl Answers {
    /// The next one; `None` when there are no more.
    pub async fn next(&mut self) -> Result<Option<Answer>, QueryError> {
        let mut line = String::new();
        self.lines.set_limit(LINE_MAX);
        let read = self.lines.read_line(&mut line);
        let read = match self.patience {
            None => read.await,
            Some(patience) => {
                self.clock.timeout(patience, read).await.map_err(|_| QueryError::Timeout)?
            }
        };
        if read.map_err(QueryError::Broken)? == 0 {
            return Ok(None);
        }
        match serde_json::from_str(&line).map_err(QueryError::Garbled)? {
            Answer::Error(refusal) => Err(QueryError::Refused(refusal)),
            Answer::End {} => Ok(None),
            answer => Ok(Some(answer)),
        }
    }

    /// The process that answers.
    fn process(&self) -> Option<OwnedFd> {
        let pid = self.lines.get_ref().get_ref().peer_cred().ok()?.pid()?;
        rustix::process::pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
    }

    /// The one answer that there is.
    pub async fn only(mut self) -> Result<Answer, QueryError> {
        self.next().await?.ok_or_else(closed)
    }
}

fn closed() -> QueryError {
    QueryError::Broken(io::ErrorKind::UnexpectedEof.into())
}

async fn send(
    data_dir: &Path,
    question: &Question,
    descriptors: &[BorrowedFd<'_>],
    clock: &Clock,
) -> Result<Answers, QueryError> {
    let folder = open_folder(data_dir).map_err(|e| cannot_open(data_dir, e))?;
    let asked = async {
        let mut stream = UnixStream::connect(socket_path(&folder))
            .await
            .map_err(|e| cannot_open(data_dir, e))?;
        let mut line = serde_json::to_vec(question).map_err(QueryError::Garbled)?;
        line.push(b'\n');
        let sent = descriptors::send(&mut stream, &line, descriptors);
        sent.await.map_err(QueryError::Broken)?;
        Ok(stream)
    };
    let stream = clock.timeout(PATIENCE, asked).await.map_err(|_| QueryError::Timeout)??;
    let lines = BufReader::new(stream).take(LINE_MAX);
    Ok(Answers { lines, clock: clock.clone(), patience: patience(question) })
}

/// Absent where the agent itself knows how long it waits, or somebody wants to wait.
fn patience(question: &Question) -> Option<Duration> {
    match question {
        Question::Start { .. }
        | Question::Stop { .. }
        | Question::Restart { .. }
        | Question::Reload
        | Question::Logs(_)
        | Question::Exec { .. } => None,
        Question::Status
        | Question::List
        | Question::Show { .. }
        | Question::History { .. }
        | Question::Next { .. }
        | Question::Metrics
        | Question::Shutdown { .. } => Some(PATIENCE),
    }
}

fn cannot_open(data_dir: &Path, source: io::Error) -> QueryError {
    let path = data_dir.to_owned();
    match source.kind() {
        io::ErrorKind::PermissionDenied => QueryError::Forbidden(path),
        _ => QueryError::NotRunning { path, source },
    }
}
