//! A command that runs while a lock is held: it gets our terminal, our signals, and ends with us.
//!
//! In the foreground of a terminal it stays in our process group, because only that can read what is typed; the
//! terminal tells it of Ctrl-C by itself. Everywhere else it gets a group of its own, so that what it started
//! ends with it.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};

use crate::exit;
use crate::failure::Failure;

/// Signals that are passed on.
const PASSED: [Signal; 6] =
    [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::USR1, Signal::USR2];

pub(super) struct Running {
    child: Child,
    pid: Option<Pid>,
    has_group: bool,
}

/// A command that could not be started, and the code that a shell would exit with.
pub(super) struct NotStarted {
    pub code: u8,
    pub failure: Failure,
}

impl NotStarted {
    fn of(program: &str, error: &io::Error) -> NotStarted {
        NotStarted {
            code: if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 },
            failure: Failure::told(
                exit::Code::Failure,
                format!("`{program}` cannot be run: {error}"),
                "look at the command after `--`",
            ),
        }
    }

    /// What can be known before anybody waits for a lock: that there is no such program.
    pub(super) fn foreseen(command: &[String], path: &OsStr) -> Option<NotStarted> {
        let program = command.first().map_or("", String::as_str);
        let is_there = match program.contains('/') {
            true => Path::new(program).exists(),
            false => std::env::split_paths(path).any(|dir| dir.join(program).is_file()),
        };
        let missing = io::Error::from_raw_os_error(rustix::io::Errno::NOENT.raw_os_error());
        (!is_there).then(|| NotStarted::of(program, &missing))
    }
}

/// Whether a terminal sends its signals to us.
fn is_foreground() -> bool {
    let group = rustix::process::getpgrp();
    rustix::termios::tcgetpgrp(std::io::stdin()).is_ok_and(|foreground| foreground == group)
}

impl Running {
    pub(super) fn start(
        command: &[String],
        environment: &[(&str, String)],
    ) -> Result<Running, NotStarted> {
        let (program, arguments) = match command {
            [program, arguments @ ..] => (program.as_str(), arguments),
            [] => ("", [].as_slice()),
        };
        let has_group = !is_foreground();
        let mut process = Command::new(program);
        process.args(arguments).kill_on_drop(true);
        process.envs(environment.iter().map(|(name, value)| (name, value)));
        if has_group {
            process.process_group(0);
        }
        let child = process.spawn().map_err(|error| NotStarted::of(program, &error))?;
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Running { child, pid, has_group })
    }

    /// Cancel-safe.
    pub(super) async fn ended(&mut self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// As far as it is still there.
    pub(super) fn send(&self, signal: Signal) {
        let Some(pid) = self.pid.filter(|_| self.child.id().is_some()) else { return };
        let _gone = match self.has_group {
            true => kill_process_group(pid, signal),
            false => kill_process(pid, signal),
        };
    }

    /// Passes on what we were told, unless the terminal has told it already.
    pub(super) fn pass_on(&self, signal: Signal) {
        if self.has_group || (signal != Signal::INT && signal != Signal::QUIT) {
            self.send(signal);
        }
    }
}

/// What is sent to us.
pub(super) struct Signals(Vec<(Signal, tokio::signal::unix::Signal)>);

impl Signals {
    pub(super) fn listen() -> std::io::Result<Signals> {
        let one = |of: &Signal| Ok((*of, signal(SignalKind::from_raw(of.as_raw()))?));
        PASSED.iter().map(one).collect::<std::io::Result<_>>().map(Signals)
    }

    pub(super) async fn next(&mut self) -> Signal {
        let waits = self.0.iter_mut().map(|(of, stream)| {
            Box::pin(async move {
                if stream.recv().await.is_none() {
                    std::future::pending::<()>().await;
                }
                *of
            })
        });
        futures::future::select_all(waits).await.0
    }
}

/// Resolves when we are asked to end; with the number of the signal.
pub(super) async fn interrupted() -> u8 {
    let Ok(mut signals) = Signals::listen() else {
        return std::future::pending().await;
    };
    loop {
        let signal = signals.next().await;
        if ![Signal::USR1, Signal::USR2].contains(&signal) {
            return u8::try_from(signal.as_raw()).unwrap_or_default();
        }
    }
}

/// As a shell says it.
pub(super) fn code_of(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_known_before_it_is_started() {
        let foreseen = |program: &str| {
            let path = OsStr::new("/no/such/place:/bin:/usr/bin");
            NotStarted::foreseen(&[program.to_owned()], path).map(|it| (it.code, it.failure))
        };
        for there in ["sh", "/bin/sh", "/"] {
            assert!(foreseen(there).is_none(), "{there}");
        }
        for missing in ["nosuchcmd", "/no/such/program", "./nosuch", ""] {
            let (code, failure) = foreseen(missing).unwrap();
            assert_eq!(code, 127, "{missing}");
            assert!(failure.render(false).contains("cannot be run: No such file"), "{missing}");
        }
    }
}
