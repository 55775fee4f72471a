//! Commands beside the run of a workload, with the descriptors of whoever asked, or with what they
//! print collected.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use hostler_model::{RunId, Span};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use super::Door;
use super::view::{ExecView, Refusal, RefusalCode};
use crate::runner::{Exec, ExecError};

/// What is collected of each stream; the rest is read and dropped.
const COLLECTED_MAX: usize = 1 << 20;

/// What a command printed and how it ended.
pub(crate) struct Collected {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub end: ExecView,
}

/// Where a command reads from and writes to.
pub(crate) struct Descriptors {
    pub stdin: Option<OwnedFd>,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

impl Door {
    /// Runs a command beside the newest run of a workload, to its end. Dropping the future kills it.
    pub(crate) async fn exec(
        &self,
        name: &str,
        argv: Vec<String>,
        timeout: Option<Span>,
        descriptors: Descriptors,
    ) -> Result<ExecView, Refusal> {
        if argv.first().is_none_or(String::is_empty) {
            return Err(Refusal::new(RefusalCode::Malformed, "the command is empty"));
        }
        let run = self.live_run(name).await?;
        tracing::info!(workload = name, %run, program = argv[0], "command is run beside a workload");
        let Descriptors { stdin, stdout, stderr } = descriptors;
        let exec = Exec { argv, env: BTreeMap::new(), stdin, stdout, stderr, timeout };
        match self.parts.runner.exec(run, exec).await {
            Ok(end) => {
                Ok(ExecView { code: end.code, signal: end.signal, is_timed_out: end.is_timed_out })
            }
            Err(ExecError::NotRunning(_)) => Err(not_running(name)),
            Err(error @ (ExecError::TooOld(_) | ExecError::Refused(_) | ExecError::Over(_))) => {
                Err(Refusal::new(RefusalCode::Conflict, error.to_string()))
            }
            Err(error @ ExecError::Io(_)) => Err(Refusal::internal(&error)),
        }
    }

    pub(crate) async fn exec_collected(
        &self,
        name: &str,
        argv: Vec<String>,
        timeout: Option<Span>,
    ) -> Result<Collected, Refusal> {
        let run = self.live_run(name).await?;
        let forms =
            self.parts.runner.forms(run).await.map_err(|error| Refusal::internal(&error))?;
        let pipe = || pipe::pipe().map_err(|error| Refusal::internal(&error));
        let ((out, mut stdout), (err, mut stderr)) = (pipe()?, pipe()?);
        let theirs =
            |end: pipe::Sender| end.into_blocking_fd().map_err(|error| Refusal::internal(&error));
        let descriptors = Descriptors { stdin: None, stdout: theirs(out)?, stderr: theirs(err)? };
        let (end, stdout, stderr) = tokio::join!(
            self.exec(name, argv, timeout, descriptors),
            collect(&mut stdout),
            collect(&mut stderr)
        );
        let (mut stdout, mut stderr) = (stdout, stderr);
        if let Some(forms) = forms {
            (stdout, stderr) = (forms.clean(&stdout), forms.clean(&stderr));
        }
        Ok(Collected { end: end?, stdout, stderr })
    }

    async fn live_run(&self, name: &str) -> Result<RunId, Refusal> {
        let service = self.service(name).await?;
        let live = service.live.filter(|live| live.pid.is_some());
        live.map(|live| live.run).ok_or_else(|| not_running(name))
    }
}

fn not_running(name: &str) -> Refusal {
    Refusal::new(RefusalCode::Conflict, format!("Workload '{name}' is not running"))
}

async fn collect(from: &mut pipe::Receiver) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(read) = from.read(&mut buffer).await
        && read > 0
    {
        let room = COLLECTED_MAX.saturating_sub(kept.len()).min(read);
        kept.extend_from_slice(&buffer[..room]);
    }
    kept
}
