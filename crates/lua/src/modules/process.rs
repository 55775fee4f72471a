//! Programs that a body starts.
//!
//! Each is the head of a process group of its own. Whoever waits for it and goes away (a timeout, a cancelled
//! execution) takes the whole group with it. What it prints is kept up to a bound; what is beyond that is counted.
//!
//! Programs are looked up here, where they are to run, and started by their paths: otherwise the standard library copies
//! the whole process for each (`fork`) instead of lending it (`vfork`).

mod plain;

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::rc::Rc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::{Acting, Sink, Stream};

/// What carries lines out where nobody says another.
pub(crate) const SHELL: &str = "/bin/sh";
/// The most that is kept of each stream.
const KEPT: usize = 16 << 20;

/// How long one listens to what somebody outside the group of a program that was killed holds open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What to run, and how.
#[derive(Default)]
pub(crate) struct Order {
    pub program: Vec<OsString>,
    pub workdir: PathBuf,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    pub input: Option<Vec<u8>>,
    pub timeout: Option<Duration>,
    /// Who is told what it prints, line by line.
    pub echo: Option<Rc<dyn Sink>>,
    /// How long others that it left behind may hold its streams open after its end; nothing is until they close them.
    pub linger: Option<Duration>,
}

/// How it ended.
#[derive(Default)]
pub(crate) struct Ended {
    pub status: Option<ExitStatus>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Bytes that were printed and not kept.
    pub lost: u64,
    pub is_timeout: bool,
}

impl Ended {
    /// As shells say it: 128 and the signal, 124 for a timeout.
    pub fn code(&self) -> i32 {
        use std::os::unix::process::ExitStatusExt;
        match self.status {
            _ if self.is_timeout => 124,
            Some(status) => status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
            None => 1,
        }
    }
    pub fn is_success(&self) -> bool {
        self.code() == 0
    }
}

/// Kills the group when it is dropped before the end.
struct Group(Option<Pid>);

impl Group {
    fn kill(&mut self) {
        if let Some(pid) = self.0.take() {
            let _it_may_be_gone = kill_process_group(pid, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Order {
    /// A line for the shell.
    pub fn shell(shell: &str, line: &str) -> Order {
        Order { program: vec![shell.into(), "-c".into(), line.into()], ..Order::default() }
    }

    /// Where a step runs and what it sees.
    pub fn prepare(&mut self, on: &Acting) {
        self.workdir.clone_from(&on.workdir);
        let pairs = on.environment.iter().map(|(name, value)| (name.into(), value.into()));
        self.environment = pairs.collect();
    }

    /// What is run, for people.
    pub fn line(&self) -> String {
        let words: Vec<_> = self.program.iter().map(|word| word.to_string_lossy()).collect();
        match words.as_slice() {
            [_, flag, line] if flag == "-c" => line.clone().into_owned(),
            words => words.join(" "),
        }
    }

    /// The words of a line for the shell that needs none.
    fn plain(&self) -> Option<Vec<OsString>> {
        match self.program.as_slice() {
            [shell, flag, line] if shell == SHELL && flag == "-c" => plain::words(line.to_str()?),
            _ => None,
        }
    }

    fn spawn(&self) -> std::io::Result<Child> {
        self.start_with(|mut command| command.kill_on_drop(true).spawn())
    }

    /// Starts it for somebody who looks after it himself.
    pub fn started(&self) -> std::io::Result<std::process::Child> {
        self.start_with(|command| command.into_std().spawn())
    }

    fn start_with<T>(&self, start: impl Fn(Command) -> std::io::Result<T>) -> std::io::Result<T> {
        let found = |name: &OsStr| plain::found(name, &self.workdir, &self.environment);
        if let Some(words) = self.plain()
            && !self.workdir.as_os_str().is_empty()
            && !plain::is_changed(&self.environment)
            && let Some(path) = found(&words[0])
        {
            let mut command = self.command(path.as_os_str(), &words);
            if let Some(place) = plain::whereabouts(&self.workdir, &self.environment) {
                command.env("PWD", place);
            }
            if let Ok(child) = start(command) {
                return Ok(child);
            }
        }
        let name = self.program.first().ok_or_else(|| {
            std::io::Error::new(std::io::ErrorKind::InvalidInput, "there is no program")
        })?;
        let path = found(name);
        let program = path.as_ref().map_or(name.as_os_str(), |path| path.as_os_str());
        start(self.command(program, &self.program))
    }

    fn command(&self, program: &OsStr, words: &[OsString]) -> Command {
        let mut command = Command::new(program);
        if let Some((name, arguments)) = words.split_first() {
            command.arg0(name).args(arguments);
        }
        command
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if !self.workdir.as_os_str().is_empty() {
            command.current_dir(&self.workdir);
        }
        command
    }

    /// Runs it to its end, or to the end of its time.
    pub async fn run(self) -> std::io::Result<Ended> {
        Box::pin(self.start()?.end()).await
    }

    /// Starts it; whoever drops what is given kills it.
    pub fn start(self) -> std::io::Result<Started> {
        let child = self.spawn()?;
        let group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
        Ok(Started { order: self, child, group })
    }
}

/// A program that runs.
pub(crate) struct Started {
    order: Order,
    child: Child,
    group: Group,
}

impl Started {
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Its end, or the end of its time.
    pub async fn end(self) -> std::io::Result<Ended> {
        self.end_unless(std::future::pending()).await
    }

    /// The same; it is killed when somebody asks for that.
    pub async fn end_unless(mut self, asked: impl Future<Output = ()>) -> std::io::Result<Ended> {
        let input = self.order.input.take();
        let (echo, linger) = (self.order.echo.as_ref(), self.order.linger);
        let time = self.order.timeout;
        let is_timeout = {
            let mut collect = pin!(collect(&mut self.child, input, echo, linger));
            let late = async move {
                match time {
                    Some(time) => tokio::time::sleep(time).await,
                    None => std::future::pending().await,
                }
            };
            let is_timeout = tokio::select! {
                ended = &mut collect => {
                    // Nothing of the group is left when its head has ended and its streams are closed by all.
                    self.group.0 = None;
                    return ended;
                }
                () = late => true,
                () = asked => false,
            };
            self.group.kill();
            if let Ok(ended) = tokio::time::timeout(LAST_WORDS, collect).await {
                return ended.map(|ended| Ended { is_timeout, ..ended });
            }
            is_timeout
        };
        let status = self.child.wait().await.ok();
        Ok(Ended { status, stdout: Vec::new(), stderr: Vec::new(), lost: 0, is_timeout })
    }
}

async fn collect(
    child: &mut Child,
    input: Option<Vec<u8>>,
    echo: Option<&Rc<dyn Sink>>,
    linger: Option<Duration>,
) -> std::io::Result<Ended> {
    let stdin = child.stdin.take();
    let feed = async move {
        if let (Some(mut stdin), Some(input)) = (stdin, input) {
            let _it_may_not_read_all = stdin.write_all(&input).await;
        }
    };
    let (mut out, mut err) = (Kept::default(), Kept::default());
    let streams = {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (out, err) = (&mut out, &mut err);
        async move {
            let ((), out, err) = tokio::join!(
                feed,
                out.keep(stdout, Stream::Out, echo),
                err.keep(stderr, Stream::Error, echo),
            );
            out.and(err)
        }
    };
    let (closed, ended) = tokio::sync::oneshot::channel();
    let streams = async move {
        match linger {
            None => streams.await,
            Some(time) => tokio::select! {
                done = streams => done,
                () = async { let _ended = ended.await; tokio::time::sleep(time).await; } => Ok(()),
            },
        }
    };
    let wait = async {
        let status = child.wait().await;
        let _nobody_may_listen = closed.send(());
        status
    };
    let (streams, status) = tokio::join!(streams, wait);
    streams?;
    Ok(Ended {
        status: Some(status?),
        stdout: out.bytes,
        stderr: err.bytes,
        lost: out.lost + err.lost,
        is_timeout: false,
    })
}

/// What is kept of a stream.
#[derive(Default)]
pub(crate) struct Kept {
    pub bytes: Vec<u8>,
    pub lost: u64,
}

impl Kept {
    async fn keep(
        &mut self,
        stream: Option<impl AsyncRead + Unpin>,
        kind: Stream,
        echo: Option<&Rc<dyn Sink>>,
    ) -> std::io::Result<()> {
        let Some(mut stream) = stream else { return Ok(()) };
        let mut lines = Lines::default();
        let mut buffer = Vec::with_capacity(16 << 10);
        loop {
            buffer.clear();
            let read = stream.read_buf(&mut buffer).await?;
            if let Some(sink) = echo {
                lines.take(&buffer[..read], |line| sink.say(kind, line));
            }
            if read == 0 {
                return Ok(());
            }
            self.add(&buffer[..read]);
        }
    }

    pub fn add(&mut self, piece: &[u8]) {
        let room = KEPT.saturating_sub(self.bytes.len()).min(piece.len());
        self.bytes.extend_from_slice(&piece[..room]);
        self.lost += u64::try_from(piece.len() - room).unwrap_or(u64::MAX);
    }
}

/// Cuts what comes in pieces into lines; a line without an end is cut when it is long, or when nothing follows.
#[derive(Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    const LONGEST: usize = 64 << 10;

    pub fn take(&mut self, piece: &[u8], mut say: impl FnMut(&str)) {
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(&rest[..end]);
            say(&String::from_utf8_lossy(&self.begun));
            self.begun.clear();
            rest = &rest[end + 1..];
        }
        self.begun.extend_from_slice(rest);
        if !self.begun.is_empty() && (piece.is_empty() || self.begun.len() > Self::LONGEST) {
            say(&String::from_utf8_lossy(&self.begun));
            self.begun.clear();
        }
    }
}
