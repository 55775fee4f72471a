//! Programs run on this machine.
//!
//! Each gets a small environment of its own: the usual search path, the plain locale so that answers
//! can be read, home, the proxies of the agent, and what the call adds. It leads a process group, which
//! is asked to end when its time is up, and killed soon after, or at once when nobody waits for it any
//! more. What it says is read to the end and kept up to the call's limit. A program that has ended
//! is not waited for because something it left behind still holds its output.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

use crate::HostError;
use crate::call::{Call, Commands, Finished, Running};

const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const INHERITED: &[&str] = &[
    "HOME",
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
];
/// How long output is read after the program has ended.
const AFTER_END: Duration = Duration::from_secs(1);
/// Between being asked to end and being killed.
const GRACE: Duration = Duration::from_secs(5);

/// This machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Commands for System {
    fn run(&self, call: Call) -> Running<'_> {
        Box::pin(run(call))
    }

    fn find(&self, program: &str) -> Option<PathBuf> {
        let candidates = match program.contains('/') {
            true => vec![PathBuf::from(program)],
            false => SEARCH_PATH.split(':').map(|dir| Path::new(dir).join(program)).collect(),
        };
        candidates.into_iter().find(|path| is_executable(path))
    }
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

async fn run(call: Call) -> Result<Finished, HostError> {
    let mut command = Command::new(&call.program);
    command
        .args(&call.args)
        .env_clear()
        .env("PATH", SEARCH_PATH)
        .env("LC_ALL", "C")
        .envs(INHERITED.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .envs(call.env.iter().map(|(name, value)| (name, value)))
        .current_dir("/")
        .stdin(if call.input().is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let started = command.spawn();
    let mut child = started.map_err(|source| HostError::Start { argv: call.argv(), source })?;
    let group = Group::led_by(&child);
    match timeout(call.timeout, finish(&mut child, &call)).await {
        Ok(finished) => {
            group.leave();
            finished
        }
        Err(_) => {
            group.signal(Signal::TERM);
            let _ = timeout(GRACE, child.wait()).await;
            group.signal(Signal::KILL);
            group.leave();
            Err(HostError::Timeout { argv: call.argv(), after: call.timeout })
        }
    }
}

async fn finish(child: &mut Child, call: &Call) -> Result<Finished, HostError> {
    let stdin = child.stdin.take();
    let stdout = child.stdout.take();
    let stderr = child.stderr.take();
    let mut said = (Kept::new(call.output_max), Kept::new(call.output_max));
    let status = {
        let talking = async {
            tokio::join!(feed(stdin, call.input()), said.0.take(stdout), said.1.take(stderr));
        };
        tokio::pin!(talking);
        tokio::select! {
            status = child.wait() => {
                let _ = timeout(AFTER_END, &mut talking).await;
                status
            }
            () = &mut talking => child.wait().await,
        }
    };
    let status = status.map_err(|source| HostError::Start { argv: call.argv(), source })?;
    Ok(Finished {
        code: status.code(),
        stdout: said.0.bytes,
        stderr: said.1.bytes,
        is_cut: said.0.is_cut || said.1.is_cut,
    })
}

/// A program may end without having read everything; that is its own affair.
async fn feed(stdin: Option<ChildStdin>, input: Option<&[u8]>) {
    if let (Some(mut stdin), Some(input)) = (stdin, input) {
        let _ = stdin.write_all(input).await;
        let _ = stdin.shutdown().await;
    }
}

struct Kept {
    bytes: Vec<u8>,
    max: usize,
    is_cut: bool,
}

impl Kept {
    fn new(max: usize) -> Kept {
        Kept { bytes: Vec::new(), max, is_cut: false }
    }

    async fn take(&mut self, from: Option<impl AsyncRead + Unpin>) {
        let Some(mut from) = from else { return };
        let mut buffer = vec![0; 16 << 10];
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            let room = self.max - self.bytes.len();
            self.bytes.extend_from_slice(&buffer[..read.min(room)]);
            self.is_cut |= read > room;
        }
    }
}

/// The processes of one program, killed with it unless it is left.
struct Group(Option<Pid>);

impl Group {
    fn led_by(child: &Child) -> Group {
        Group(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.0 {
            let _ = kill_process_group(leader, signal);
        }
    }

    fn leave(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
