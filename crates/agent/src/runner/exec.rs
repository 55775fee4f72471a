//! Commands beside a run: in its cgroup, as its user, in its directory and environment, carried out by
//! its shim, whichever agent started it.
//!
//! The descriptors travel to the shim together with one end of a socket. Its end comes back over that
//! socket; and as soon as our side of it closes, because the future was dropped or the agent died,
//! the shim kills the command with everything it started.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;

use hostler_model::{RunId, Span};
use rustix::fs::{Mode, OFlags};
use tokio::net::UnixStream;

use super::attend::{Asked, Shim};
use super::{ExecEnd, ExecError, Runner};
use crate::rundir::Beside;
use crate::wire::{Command, Event, VERSION_EXEC};

/// A command to run beside a run.
#[derive(Debug)]
pub struct Exec {
    /// Program and arguments, run as they stand; looked up in the run's PATH.
    pub argv: Vec<String>,
    /// Added to the run's environment, and stronger.
    pub env: BTreeMap<String, String>,
    /// Nothing when absent.
    pub stdin: Option<OwnedFd>,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
    /// It is killed when it takes longer.
    pub timeout: Option<Span>,
}

impl Runner {
    /// Runs a command beside a run, to its end. Dropping the future kills it with its descendants. A
    /// shim carries out at most 8 at a time and refuses more.
    pub async fn exec(&self, run_id: RunId, exec: Exec) -> Result<ExecEnd, ExecError> {
        let (commands, version) = match self.shared().live().get(&run_id) {
            Some(handle) if handle.ended.is_none() => (handle.commands.clone(), handle.version),
            _ => return Err(ExecError::NotRunning(run_id)),
        };
        match version {
            Some(version) if version >= VERSION_EXEC => {}
            Some(_) => return Err(ExecError::TooOld(run_id)),
            None => return Err(ExecError::NotRunning(run_id)),
        }
        let (asked, ours) = prepare(exec).map_err(ExecError::Io)?;
        let link = UnixStream::from_std(ours).map_err(ExecError::Io)?;
        commands.send(asked).await.map_err(|_| ExecError::NotRunning(run_id))?;
        let mut link = Shim::new(link);
        loop {
            match link.next().await {
                Some(Event::ExecEnded(end)) => return Ok(end),
                Some(Event::ExecRefused(why)) => return Err(ExecError::Refused(why)),
                Some(_) => {}
                None => return Err(ExecError::Over(run_id)),
            }
        }
    }
}

fn prepare(exec: Exec) -> io::Result<(Asked, StdUnixStream)> {
    let file = Beside { argv: exec.argv, env: exec.env }.file()?;
    let stdin = match exec.stdin {
        Some(stdin) => stdin,
        None => rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?,
    };
    let (ours, theirs) = StdUnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let fds = vec![file, stdin, exec.stdout, exec.stderr, theirs.into()];
    let timeout_ms = exec.timeout.map_or(0, |timeout| timeout.millis().max(1));
    Ok((Asked { command: Command::Exec { timeout_ms }, fds }, ours))
}
