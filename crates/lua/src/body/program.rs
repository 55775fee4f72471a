//! Steps that are nothing but programs: each is run by a thread, from its start to its end.
//!
//! Starting a program keeps whoever starts it waiting until the program is itself, and that takes longer than all that
//! is done besides for a short one. Whoever has many of them to run therefore has threads do it, one program at a time
//! each: everything that a thread needs for one is in a [`Program`], and somebody else holds its [`Grip`].
//!
//! The thread lets go of its program's number only in the grip, and who does not want the program any more kills it only
//! through the grip: nobody else is ever hit.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostler_model::workflow::{Step, StepEnd, StepResult};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::command;
use crate::modules::{Ended, Kept, Lines, Order, Stream};

/// How much is read at a time.
const PIECE: usize = 16 << 10;
/// How often one who only listens to what a program left behind looks whether somebody still wants it.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Names and values.
pub type Variables = Vec<(OsString, OsString)>;

/// What a thread needs to run the program of a step.
pub struct Program {
    words: Vec<OsString>,
    workdir: PathBuf,
    /// What every program of the execution sees, and what this one sees besides.
    shared: Arc<Variables>,
    own: Variables,
}

/// What the thread that runs a program shares with whoever wants it.
#[derive(Clone, Default)]
pub struct Grip(Arc<Mutex<Hold>>);

#[derive(Clone, Copy, Default, PartialEq)]
enum Hold {
    #[default]
    Before,
    Running(Pid),
    Unwanted,
    Over,
}

impl Grip {
    fn hold(&self) -> MutexGuard<'_, Hold> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_unwanted(&self) -> bool {
        *self.hold() == Hold::Unwanted
    }

    /// The program does not start any more, or ends with everything in its group.
    pub fn kill(&self) {
        let mut hold = self.hold();
        if let Hold::Running(pid) = *hold {
            let _it_may_be_gone = kill_process_group(pid, Signal::KILL);
        }
        if *hold != Hold::Over {
            *hold = Hold::Unwanted;
        }
    }
}

impl Program {
    /// The program of a step that is one.
    pub fn of(
        step: &Step,
        workdir: PathBuf,
        shared: Arc<Variables>,
        own: Variables,
    ) -> Option<Program> {
        let words = command::order(step)?.program;
        Some(Program { words, workdir, shared, own })
    }

    /// What is run, for people.
    pub fn line(&self) -> String {
        Order { program: self.words.clone(), ..Order::default() }.line()
    }

    /// Runs it to its end. What it prints is said line by line, as it comes; `begin` is asked right before it starts.
    pub fn run(
        self,
        grip: &Grip,
        begin: impl FnOnce() -> Result<(), String>,
        mut say: impl FnMut(Stream, &str),
    ) -> StepResult {
        let Program { words, workdir, shared, own } = self;
        let mut environment = Variables::clone(&shared);
        environment.extend(own);
        let order = Order { program: words, workdir, environment, ..Order::default() };
        let stopped = || StepResult::new(StepEnd::Cancelled, "it was stopped");
        if grip.is_unwanted() {
            return stopped();
        }
        if let Err(message) = begin() {
            return StepResult::new(StepEnd::Failed, message);
        }
        let begun = {
            let mut hold = grip.hold();
            if *hold == Hold::Unwanted {
                return stopped();
            }
            let begun = order.started();
            if let Ok(child) = &begun {
                *hold = Pid::from_raw(child.id().cast_signed()).map_or(Hold::Over, Hold::Running);
            }
            begun
        };
        command::told(begun.and_then(|child| carried(child, grip, &mut say)))
    }
}

fn carried(mut child: Child, grip: &Grip, say: &mut impl FnMut(Stream, &str)) -> io::Result<Ended> {
    let heard = listen(&mut child, grip, say);
    let status = let_go(&mut child, grip);
    let [stdout, stderr] = heard?;
    Ok(Ended {
        status: Some(status?),
        lost: stdout.lost + stderr.lost,
        stdout: stdout.bytes,
        stderr: stderr.bytes,
        is_timeout: false,
    })
}

fn let_go(child: &mut Child, grip: &Grip) -> io::Result<ExitStatus> {
    let mut hold = grip.hold();
    let status = child.wait();
    *hold = Hold::Over;
    status
}

/// Takes what a program prints until it has ended and nobody holds its streams any more.
fn listen(
    child: &mut Child,
    grip: &Grip,
    say: &mut impl FnMut(Stream, &str),
) -> io::Result<[Kept; 2]> {
    const KINDS: [Stream; 2] = [Stream::Out, Stream::Error];
    let mut streams = [
        child.stdout.take().map(OwnedFd::from).map(File::from),
        child.stderr.take().map(OwnedFd::from).map(File::from),
    ];
    let mut kept = [Kept::default(), Kept::default()];
    let mut lines = [Lines::default(), Lines::default()];
    let pid = Pid::from_raw(child.id().cast_signed()).ok_or(io::ErrorKind::NotFound)?;
    let mut end = Some(pidfd_open(pid, PidfdFlags::empty())?);
    let mut buffer = [0; PIECE];
    while end.is_some() || streams.iter().any(Option::is_some) && !grip.is_unwanted() {
        let ready = ready(&streams, end.as_ref())?;
        for i in [0, 1] {
            let Some(stream) = streams[i].as_mut().filter(|_| ready[i]) else { continue };
            let read = stream.read(&mut buffer)?;
            kept[i].add(&buffer[..read]);
            lines[i].take(&buffer[..read], |line| say(KINDS[i], line));
            if read == 0 {
                streams[i] = None;
            }
        }
        if ready[2] {
            end = None;
        }
    }
    for i in [0, 1] {
        lines[i].take(&[], |line| say(KINDS[i], line));
    }
    Ok(kept)
}

/// Which of the streams has something to say, and whether the program has ended.
fn ready(streams: &[Option<File>; 2], end: Option<&OwnedFd>) -> io::Result<[bool; 3]> {
    let open = [
        streams[0].as_ref().map(AsFd::as_fd),
        streams[1].as_ref().map(AsFd::as_fd),
        end.map(AsFd::as_fd),
    ];
    let asked = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
    let mut polled: Vec<PollFd<'_>> = open.iter().flatten().copied().map(asked).collect();
    match poll(&mut polled, end.is_none().then_some(&LOOK)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut answers = polled.iter().map(|fd| !fd.revents().is_empty());
    Ok(open.map(|fd| fd.is_some() && answers.next().unwrap_or(false)))
}
