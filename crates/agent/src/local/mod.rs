//! The agent's local socket, `<data>/agent.sock`: one question and one answer, each a line of JSON;
//! where something is followed, many answers. Then it is closed.
//!
//! Whoever may open the socket (mode 0660: the agent's user and group; the group `hostler`, where there
//! is one, for an agent that runs as root) may ask for everything the `door` has, and nobody else for
//! anything. What changes something is in the log, with the user and the process that asked
//! ([`Question::rule`]). There are two
//! spellings. Ours is `{"ask": ...}` ([`Question`]), answered with [`Answer`]s. Master Control's is `{"command": ...}` (`master_control`), answered as its daemon does,
//! so that what was written for it goes on working.
//!
//! `exec` in our spelling takes the descriptors of whoever asks along with the question, so that the
//! command reads and writes where they do; nothing is copied in between, and when they go, the command
//! is killed. A connection that is cut anywhere costs nothing else: verbs that were taken are carried
//! out all the same.
//!
//! The socket is there until the agent has nothing more to stop, so that whoever waits for that can see
//! how far it is. Who asked it to stop knows its process from the connection and waits for its end.

mod client;
mod descriptors;
mod master_control;
mod server;

pub use client::{Answers, QueryError, Stopping, ask, exec, query, shutdown};
pub(crate) use master_control::{is_command, lines};
pub(crate) use server::Local;

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use hostler_model::{Generation, Name, NodeId, Span, Timestamp, WriteMetrics};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::config::OnStop;
use crate::door::LogAsk;
use crate::door::view::{
    Done, ExecView, FireView, LogRecord, PastView, Refusal, Reloaded, WorkloadDetail, WorkloadView,
};

pub const SOCKET: &str = "agent.sock";

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
    /// It is stopping, and this becomes of what runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopping: Option<OnStop>,
    #[serde(default)]
    pub workloads: WorkloadCounts,
    /// Why nothing can be written, and so nothing started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger_problem: Option<String>,
    /// Where a damaged ledger was put aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger_quarantined: Option<String>,
    /// Absent for an agent without a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate_expires: Option<Timestamp>,
    /// What was written to disk today.
    #[serde(default)]
    pub writes: WriteMetrics,
    /// It sends as little as possible.
    #[serde(default)]
    pub is_metered: bool,
    /// Where an agent without a server takes its workloads from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// Why the files there are not what runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory_problem: Option<Refusal>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadCounts {
    pub total: usize,
    pub running: usize,
    pub failed: usize,
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Question {
    Status,
    List,
    Show {
        name: String,
    },
    Start {
        name: String,
    },
    Stop {
        name: String,
    },
    Restart {
        name: String,
    },
    Reload,
    History {
        name: String,
    },
    /// The next times of a schedule.
    Next {
        name: String,
        #[serde(default = "ten")]
        count: usize,
    },
    Logs(LogAsk),
    /// Comes with two or three descriptors: stdout and stderr, or stdin before them.
    Exec {
        name: String,
        command: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<Span>,
    },
    Metrics,
    Shutdown {
        /// What becomes of what runs; as the agent was started when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runs: Option<OnStop>,
    },
}

/// What a verb does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Shows something.
    Look,
    /// Changes something, or runs something: who asked is told in the log.
    Change,
}

impl Question {
    /// The verb and its rule. There is no verb without one.
    pub(crate) fn rule(&self) -> (&'static str, Rule) {
        match self {
            Question::Status => ("status", Rule::Look),
            Question::List => ("list", Rule::Look),
            Question::Show { .. } => ("show", Rule::Look),
            Question::Start { .. } => ("start", Rule::Change),
            Question::Stop { .. } => ("stop", Rule::Change),
            Question::Restart { .. } => ("restart", Rule::Change),
            Question::Reload => ("reload", Rule::Change),
            Question::History { .. } => ("history", Rule::Look),
            Question::Next { .. } => ("next", Rule::Look),
            Question::Logs(_) => ("logs", Rule::Look),
            Question::Exec { .. } => ("exec", Rule::Change),
            Question::Metrics => ("metrics", Rule::Look),
            Question::Shutdown { .. } => ("shutdown", Rule::Change),
        }
    }
}

fn ten() -> usize {
    10
}

/// What is answered: one of these, or for logs many [`Answer::Log`] and then [`Answer::End`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    Status(Box<LocalStatus>),
    List(Vec<WorkloadView>),
    Show(Box<WorkloadDetail>),
    Done(Done),
    Reload(Reloaded),
    History(Vec<PastView>),
    Next(Vec<FireView>),
    Log(LogRecord),
    End {},
    Exec(ExecView),
    Metrics(String),
    Shutdown {},
    Error(Refusal),
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
