//! A command inside a container, with the descriptors of whoever asked for it.
//!
//! The engine cannot end such a command. So when this process is asked to stop (SIGTERM), it kills the
//! command's process itself; when it is killed outright, the command goes on until the container ends.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, OwnedFd};

use bollard::container::LogOutput;
use bollard::exec::{StartExecOptions, StartExecResults};
use bollard::models::ExecConfig;
use futures::StreamExt;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::signal::unix::{SignalKind, signal};

use super::engine::{Engine, EngineError};
use super::keeper::Gate;
use crate::rundir::Beside;
use crate::sys;

/// Carries a command out to its end; the code to exit with.
pub async fn run(engine: &Engine, name: &str, command: Option<OwnedFd>, gate: Gate) -> i32 {
    let beside = match command.ok_or(std::io::ErrorKind::NotFound.into()).and_then(read) {
        Ok(beside) => beside,
        Err(e) => {
            gate.tell(&format!("the command cannot be read: {e}"));
            return 127;
        }
    };
    match begin(engine, name, beside).await {
        Ok(begun) => {
            drop(gate);
            begun.attend(engine).await
        }
        Err(e) => {
            gate.tell(&e.to_string());
            127
        }
    }
}

fn read(file: OwnedFd) -> std::io::Result<Beside> {
    let mut file = File::from(file);
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

struct Begun {
    id: String,
    output: std::pin::Pin<
        Box<dyn futures::Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>,
    >,
    input: std::pin::Pin<Box<dyn AsyncWrite + Send>>,
}

async fn begin(engine: &Engine, name: &str, beside: Beside) -> Result<Begun, EngineError> {
    let docker = engine.docker().await?;
    let env = beside.env.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let config = ExecConfig {
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        tty: Some(false),
        env: Some(env),
        cmd: Some(beside.argv),
        ..ExecConfig::default()
    };
    let made = docker.create_exec(name, config).await.map_err(|e| engine.error(e))?;
    let options = StartExecOptions { detach: false, tty: false, output_capacity: None };
    match docker.start_exec(&made.id, Some(options)).await.map_err(|e| engine.error(e))? {
        StartExecResults::Attached { output, input } => Ok(Begun { id: made.id, output, input }),
        StartExecResults::Detached => {
            Err(EngineError::Refused("the command was started without its output".to_owned()))
        }
    }
}

impl Begun {
    async fn attend(mut self, engine: &Engine) -> i32 {
        let asked = async {
            match signal(SignalKind::terminate()) {
                Ok(mut signal) => signal.recv().await,
                Err(_) => std::future::pending().await,
            }
        };
        let copied = copy_out(&mut self.output);
        let mut copied = std::pin::pin!(copied);
        let mut asked = std::pin::pin!(asked);
        let mut fed = std::pin::pin!(feed(self.input));
        let mut is_fed = false;
        loop {
            tokio::select! {
                () = &mut copied => break,
                () = &mut fed, if !is_fed => is_fed = true,
                _ = &mut asked => {
                    kill(engine, &self.id).await;
                    return 128 + nix::libc::SIGTERM;
                }
            }
        }
        exit_code(engine, &self.id).await
    }
}

/// Copies standard input in, and closes at its end.
async fn feed(mut input: std::pin::Pin<Box<dyn AsyncWrite + Send>>) {
    let mut stdin = tokio::io::stdin();
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(length) = stdin.read(&mut bytes).await
        && length > 0
    {
        if input.write_all(&bytes[..length]).await.is_err() || input.flush().await.is_err() {
            break;
        }
    }
    let _ = input.shutdown().await;
}

async fn copy_out(
    output: &mut (impl futures::Stream<Item = Result<LogOutput, bollard::errors::Error>> + Unpin),
) {
    let (mut stdout, mut stderr) = (tokio::io::stdout(), tokio::io::stderr());
    while let Some(Ok(piece)) = output.next().await {
        let written = match piece {
            LogOutput::StdErr { message } => stderr.write_all(&message).await,
            LogOutput::StdOut { message } | LogOutput::Console { message } => {
                stdout.write_all(&message).await
            }
            LogOutput::StdIn { .. } => Ok(()),
        };
        if written.is_err() {
            break;
        }
    }
    let _ = stdout.flush().await;
    let _ = stderr.flush().await;
}

async fn exit_code(engine: &Engine, id: &str) -> i32 {
    let Ok(docker) = engine.docker().await else { return 1 };
    for _ in 0..100 {
        match docker.inspect_exec(id).await {
            Ok(found) if found.running == Some(true) => {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
            Ok(found) => {
                let code = found.exit_code.and_then(|code| i32::try_from(code).ok());
                return code.unwrap_or(1);
            }
            Err(_) => return 1,
        }
    }
    1
}

async fn kill(engine: &Engine, id: &str) {
    let Ok(docker) = engine.docker().await else { return };
    let found = docker.inspect_exec(id).await.ok().filter(|found| found.running == Some(true));
    let pid = found.and_then(|found| u32::try_from(found.pid?).ok()).filter(|pid| *pid > 0);
    let pidfd = pid.and_then(|pid| {
        let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
        rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
    });
    let is_same = docker.inspect_exec(id).await.is_ok_and(|found| found.running == Some(true));
    if let Some(pidfd) = pidfd.filter(|_| is_same) {
        let _ = sys::kill_by_pidfd(pidfd.as_fd());
    }
}
