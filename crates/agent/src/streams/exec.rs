//! A command beside the live run of a placement: what it prints as it prints it, and how it ends.
//!
//! The command feels a slow reader through its pipes. When the stream is cancelled everything here is
//! dropped, and the run's shim kills the command with all it started.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

use hostler_base::Clock;
use hostler_model::{Code, PlacementId, RunId, Span};
use hostler_proto::v1;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;

use super::outlet::{Gone, Outlet};
use super::{End, Failure};
use crate::door::service_of;
use crate::output::Stream as Which;
use crate::runner::{Exec, ExecEnd, ExecError, Runner};
use crate::secrets::Scrub;
use crate::supervisor::Supervisor;

const READ_BYTES: usize = 32 * 1024;
/// How long what a command left behind may keep its output open once it has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

pub(super) async fn send(
    request: v1::ExecRequest,
    runner: &Runner,
    supervisor: &Supervisor,
    clock: &Clock,
    outlet: &mut Outlet,
) -> Result<End, Failure> {
    let run = live_run(&request.placement_id, supervisor)?;
    if request.argv.first().is_none_or(String::is_empty) {
        return Err(Failure::new(Code::Malformed, "the command is empty"));
    }
    let pipes = Pipes::new().map_err(|error| not_begun(&error))?;
    let (mut stdout, mut stderr) = (pipes.stdout, pipes.stderr);
    let stdin = input(&request.stdin).map_err(|error| not_begun(&error))?;
    let exec = Exec {
        argv: request.argv,
        env: BTreeMap::new(),
        stdin,
        stdout: pipes.their_stdout,
        stderr: pipes.their_stderr,
        timeout: request.timeout_ms.map(Span::from_millis),
    };
    tracing::info!(%run, program = exec.argv[0], "command is run beside a workload");
    let forms = runner.forms(run).await.map_err(|error| refused(&error))?;
    let mut scrub = forms.map(|forms| [Scrub::new(forms.clone()), Scrub::new(forms)]);
    let mut running = std::pin::pin!(runner.exec(run, exec));
    let mut ended: Option<ExecEnd> = None;
    let mut last_words = Box::pin(clock.sleep(Duration::ZERO));
    let (mut out, mut err) = (vec![0; READ_BYTES], vec![0; READ_BYTES]);
    let (mut has_out, mut has_err) = (true, true);
    while ended.is_none() || has_out || has_err {
        let sent = tokio::select! {
            read = stdout.read(&mut out), if has_out => {
                let bytes = &out[..read.unwrap_or(0)];
                has_out = !bytes.is_empty();
                let bytes = scrubbed(scrub.as_mut().map(|[out, _]| out), bytes);
                all(outlet, Which::Stdout, &bytes, clock).await
            }
            read = stderr.read(&mut err), if has_err => {
                let bytes = &err[..read.unwrap_or(0)];
                has_err = !bytes.is_empty();
                let bytes = scrubbed(scrub.as_mut().map(|[_, err]| err), bytes);
                all(outlet, Which::Stderr, &bytes, clock).await
            }
            end = &mut running, if ended.is_none() => {
                ended = Some(end.map_err(|error| refused(&error))?);
                last_words = Box::pin(clock.sleep(LAST_WORDS));
                Ok(())
            }
            () = &mut last_words, if ended.is_some() => break,
        };
        if sent.is_err() {
            return Ok(End::Gone);
        }
    }
    Ok(match ended {
        Some(end) => {
            End::Exit { code: end.code, signal: end.signal, is_timed_out: end.is_timed_out }
        }
        None => End::Sent { is_over: true },
    })
}

/// Without secrets; nothing more comes after nothing.
fn scrubbed<'b>(scrub: Option<&mut Scrub>, bytes: &'b [u8]) -> Cow<'b, [u8]> {
    let Some(scrub) = scrub else { return Cow::Borrowed(bytes) };
    let mut clean = Vec::new();
    scrub.feed(bytes, &mut clean);
    if bytes.is_empty() {
        scrub.end(&mut clean);
    }
    Cow::Owned(clean)
}

async fn all(outlet: &mut Outlet, which: Which, bytes: &[u8], clock: &Clock) -> Result<(), Gone> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let now = clock.now().micros();
        let sent = outlet.some(which, now, rest, |_| String::new()).await?;
        rest = &rest[sent..];
    }
    outlet.flush().await
}

fn live_run(placement: &str, supervisor: &Supervisor) -> Result<RunId, Failure> {
    let placement: PlacementId = placement.parse().map_err(|e| Failure::malformed(&e))?;
    let service = service_of(supervisor, placement).ok_or_else(|| {
        Failure::new(Code::Conflict, "the node has nothing of this workload (yet, or any more)")
    })?;
    let live = service.live.filter(|live| live.pid.is_some());
    live.map(|live| live.run).ok_or_else(|| {
        let detail = format!(
            "workload `{}` has no process on this node now: it is {}",
            service.name(),
            service.status.phase
        );
        Failure::new(Code::Conflict, detail)
    })
}

struct Pipes {
    stdout: pipe::Receiver,
    stderr: pipe::Receiver,
    their_stdout: OwnedFd,
    their_stderr: OwnedFd,
}

impl Pipes {
    fn new() -> io::Result<Pipes> {
        let ((out, stdout), (err, stderr)) = (pipe::pipe()?, pipe::pipe()?);
        Ok(Pipes {
            stdout,
            stderr,
            their_stdout: out.into_blocking_fd()?,
            their_stderr: err.into_blocking_fd()?,
        })
    }
}

/// What the command reads, in a file that has no name.
fn input(bytes: &[u8]) -> io::Result<Option<OwnedFd>> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::memfd_create("hostler-stdin", flags)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(Some(file.into()))
}

fn not_begun(error: &io::Error) -> Failure {
    Failure::new(Code::Internal, format!("the command cannot be begun: {error}"))
}

fn refused(error: &ExecError) -> Failure {
    let code = match error {
        ExecError::Io(_) => Code::Internal,
        ExecError::NotRunning(_)
        | ExecError::TooOld(_)
        | ExecError::Refused(_)
        | ExecError::Over(_) => Code::Conflict,
    };
    Failure::new(code, hostler_base::chain(error).to_string())
}
