//! One process that a test started, and the log it writes.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Rig, until, until_within};

/// The only place where tests start programs: without a shell, with a bare environment.
#[expect(clippy::disallowed_methods, reason = "these tests are about processes that they start")]
pub fn command(rig: &Rig, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(&rig.dir);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", rig.path("home"));
    command.env("XDG_CONFIG_HOME", rig.path("config"));
    command.env("XDG_DATA_HOME", rig.path("data"));
    command
}

/// Killed when dropped.
pub struct Process {
    child: Child,
    log: PathBuf,
    /// Where in the log this process begins: a later one of the same name goes on in the same file.
    begin: usize,
    status: Option<ExitStatus>,
}

impl Process {
    /// Starts a program whose stdout and stderr go to the log `name`.
    pub fn spawn(rig: &Rig, name: &str, command: Command) -> Process {
        Process::start(rig, name, Stdio::null(), None, command)
    }

    /// Starts a program whose stderr alone goes to the log `name`.
    pub fn spawn_split(rig: &Rig, name: &str, out: File, command: Command) -> Process {
        Process::start(rig, name, Stdio::null(), Some(out), command)
    }

    /// Starts a program that waits for [`Process::tell`].
    pub fn spawn_fed(rig: &Rig, name: &str, command: Command) -> Process {
        Process::start(rig, name, Stdio::piped(), None, command)
    }

    fn start(
        rig: &Rig,
        name: &str,
        input: Stdio,
        out: Option<File>,
        mut command: Command,
    ) -> Process {
        let log = rig.dir.join("logs").join(name);
        let file = File::options().create(true).append(true).open(&log).unwrap();
        let begin = usize::try_from(file.metadata().unwrap().len()).unwrap();
        let out = out.unwrap_or_else(|| file.try_clone().unwrap());
        command.stdin(input).stdout(out).stderr(file);
        Process { child: command.spawn().unwrap(), log, begin, status: None }
    }

    /// Gives a program that was started for it a line on its stdin, and the end of it.
    pub fn tell(&mut self, line: &str) {
        let mut input = self.child.stdin.take().unwrap();
        writeln!(input, "{line}").unwrap();
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn log(&self) -> String {
        let bytes = std::fs::read(&self.log).unwrap();
        String::from_utf8_lossy(bytes.get(self.begin..).unwrap_or_default()).into_owned()
    }

    /// Waits for a line of the log that contains all of these words.
    pub fn line(&mut self, words: &[&str]) -> String {
        until(&format!("the log says {words:?}"), || {
            let found = self.find_line(words);
            if found.is_none()
                && let Some(status) = self.ended()
            {
                let log = self.log();
                return Some(self.find_line(words).unwrap_or_else(|| {
                    panic!("it ended ({status}) before it said {words:?}:\n{log}")
                }));
            }
            found
        })
    }

    pub fn find_line(&self, words: &[&str]) -> Option<String> {
        let has = |line: &&str| words.iter().all(|word| line.contains(word));
        // A line is whole only when it is followed by another or by nothing more to come.
        let log = self.log();
        let whole = log.rfind('\n').map_or("", |end| &log[..end]);
        whole.lines().find(has).map(str::to_owned)
    }

    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.child.try_wait().unwrap();
        }
        self.status
    }

    pub fn signal(&self, signal: Signal) {
        super::kill(self.pid(), signal);
    }

    /// `kill -9`, and nothing left of it.
    pub fn kill(&mut self) {
        if self.ended().is_none() {
            self.signal(Signal::KILL);
            self.status = Some(self.child.wait().unwrap());
        }
    }

    /// Waits for its end; says the exit code, or 128 + signal.
    pub fn wait_within(&mut self, deadline: Duration) -> (i32, Duration) {
        let begun = Instant::now();
        let status = until_within(deadline, "the process ends", || self.ended());
        (code(status), begun.elapsed())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

pub fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}
