//! Programs that a body starts.
//!
//! Each is the head of a process group of its own. Whoever waits for it and goes away (a timeout, a cancelled
//! execution) takes the whole group with it. What it prints is kept up to a bound; what is beyond that is counted.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use std::rc::Rc;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::{Acting, Sink, Stream};

/// The most that is kept of each stream.
const KEPT: usize = 16 << 20;

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

    fn command(&self) -> std::io::Result<Command> {
        let (program, arguments) = self.program.split_first().ok_or_else(|| {
            std::io::Error::new(std::io::ErrorKind::InvalidInput, "there is no program")
        })?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if !self.workdir.as_os_str().is_empty() {
            command.current_dir(&self.workdir);
        }
        Ok(command)
    }

    /// Runs it to its end, or to the end of its time.
    pub async fn run(mut self) -> std::io::Result<Ended> {
        let mut child = self.command()?.spawn()?;
        let mut group = Group(child.id().and_then(|id| Pid::from_raw(id.cast_signed())));
        let input = self.input.take();
        let timeout = self.timeout;
        let collect = collect(&mut child, input, self.echo.as_ref(), self.linger);
        let ended = match timeout {
            None => Some(collect.await),
            Some(time) => tokio::time::timeout(time, collect).await.ok(),
        };
        match ended {
            Some(ended) => {
                // Nothing of the group is left when its head has ended and its streams are closed by all.
                group.0 = None;
                ended
            }
            None => {
                group.kill();
                let _reaped = child.wait().await;
                Ok(Ended {
                    status: None,
                    stdout: Vec::new(),
                    stderr: Vec::new(),
                    lost: 0,
                    is_timeout: true,
                })
            }
        }
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
struct Kept {
    bytes: Vec<u8>,
    lost: u64,
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
        let mut buffer = vec![0; 16 << 10];
        loop {
            let read = stream.read(&mut buffer).await?;
            if let Some(sink) = echo {
                lines.take(&buffer[..read], |line| sink.say(kind, line));
            }
            if read == 0 {
                return Ok(());
            }
            let room = KEPT.saturating_sub(self.bytes.len()).min(read);
            self.bytes.extend_from_slice(&buffer[..room]);
            self.lost += u64::try_from(read - room).unwrap_or(u64::MAX);
        }
    }
}

/// Cuts what comes in pieces into lines; a line without an end is cut when it is long, or when nothing follows.
#[derive(Default)]
struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    const LONGEST: usize = 64 << 10;

    fn take(&mut self, piece: &[u8], mut say: impl FnMut(&str)) {
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
