//! Streams from this node to whoever asked a server for them: output, commands beside runs, what was
//! used, what the machine is, has and does, what its container engine has and does.
//!
//! The server says how many bytes it is ready for (the window) and gives credit as it passes them on;
//! no more is ever on its way. A reader that is slow or gone therefore costs a file handle and one
//! batch, and never holds up anything else of the session. A stream that is cancelled, or whose
//! session ends, is dropped wherever it is; a command that belongs to it dies with it.
//!
//! Every frame of output carries a cursor, from which another stream of the same kind goes on exactly
//! behind it.

mod engine;
mod exec;
mod facts;
mod host;
mod outlet;
mod placement;
mod run;
mod usage;

pub(crate) use outlet::Credit;

use std::io;
use std::sync::Arc;

use hostler_base::{Clock, Tasks};
use hostler_model::Code;
use hostler_proto::v1::{self, stream_open::What};
use tokio::sync::mpsc;

use crate::facts::Looker;
use crate::machine::Machine;
use crate::runner::Runner;
use crate::supervisor::Supervisor;
use outlet::Outlet;

/// Why a stream ends before its time.
#[derive(Debug)]
struct Failure {
    code: Code,
    detail: String,
}

impl Failure {
    fn new(code: Code, detail: impl Into<String>) -> Failure {
        Failure { code, detail: detail.into() }
    }

    fn malformed(problem: &dyn std::fmt::Display) -> Failure {
        Failure::new(Code::Malformed, problem.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        if error.kind() == io::ErrorKind::NotFound {
            Failure::new(Code::NotFound, "the node keeps no output of this run (any more)")
        } else {
            let detail = format!("the output cannot be read on the node: {error}");
            Failure::new(Code::Internal, detail)
        }
    }
}

/// How a stream ended otherwise.
enum End {
    /// All was sent; `is_over` says whether there can be no more.
    Sent { is_over: bool },
    /// The command has ended.
    Exit { code: Option<i32>, signal: Option<i32>, is_timed_out: bool },
    /// The session is gone.
    Gone,
}

/// What a stream works with.
pub(crate) struct Stream {
    pub id: u64,
    pub window: u32,
    pub credit: Arc<Credit>,
    pub outbound: mpsc::Sender<v1::AgentMessage>,
    pub runner: Runner,
    pub supervisor: Supervisor,
    pub clock: Clock,
    pub tasks: Tasks,
    /// The most that is sent of what was used over time.
    pub samples_max: usize,
    pub looker: Looker,
    pub machine: Machine,
}

impl Stream {
    /// Sends everything there is to send, and how it ended.
    pub async fn run(self, what: What) {
        let Stream {
            id,
            window,
            credit,
            outbound,
            runner,
            supervisor,
            clock,
            tasks,
            samples_max,
            looker,
            machine,
        } = self;
        let mut outlet = Outlet::new(id, window, credit, outbound);
        let ended = match what {
            What::Output(request) if request.placement_id.is_empty() => {
                run::send(&request, &runner, &supervisor, &tasks, &mut outlet).await
            }
            What::Output(request) => {
                placement::send(&request, &runner, &supervisor, &clock, &mut outlet).await
            }
            What::Exec(request) => {
                exec::send(request, &runner, &supervisor, &clock, &mut outlet).await
            }
            What::Usage(request) => {
                usage::send(&request, &supervisor, samples_max, &mut outlet).await
            }
            What::Facts(v1::FactsRequest {}) => {
                facts::send(looker, &tasks, &clock, &mut outlet).await
            }
            What::Engine(request) => {
                engine::send(request, &runner, &supervisor, &clock, &mut outlet).await
            }
            What::Host(request) => host::send(request, &machine, &clock, &mut outlet).await,
        };
        let mut end = v1::StreamEnd { stream_id: id, ..v1::StreamEnd::default() };
        match ended {
            Ok(End::Gone) => return,
            Ok(End::Sent { is_over }) => end.complete = is_over,
            Ok(End::Exit { code, signal, is_timed_out }) => {
                end.complete = true;
                end.exit_code = code;
                end.exit_signal = signal;
                end.timed_out = is_timed_out;
            }
            Err(failure) => {
                end.error_code = failure.code.label().to_owned();
                end.error_detail = failure.detail;
            }
        }
        outlet.end(end).await;
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => Ok(result?),
        Err(error) => Err(io::Error::other(error).into()),
    }
}

fn gap_words(bytes: Option<u64>) -> String {
    match bytes {
        Some(bytes) => format!("{bytes} bytes of output are missing here"),
        None => "some output is missing here".to_owned(),
    }
}
