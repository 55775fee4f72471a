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
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};

use super::command;
use crate::modules::{Ended, Kept, Lines, Order, Stream};

/// How much is read at a time.
const PIECE: usize = 16 << 10;
/// A program that is silent for as long as this is not a short one.
const SHORT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
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

/// What is told of a program while it runs.
pub enum Sign<'a> {
    /// It is not over soon. Told at most once, and not of a program that is silent and short.
    Lasts,
    /// It printed a line.
    Said(Stream, &'a str),
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

    /// Runs it to its end. What it prints is told line by line, as it comes; `begin` is asked right before it starts.
    pub fn run(
        self,
        grip: &Grip,
        begin: impl FnOnce() -> Result<(), String>,
        mut tell: impl FnMut(Sign<'_>),
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
        command::told(begun.and_then(|child| carried(child, grip, &mut tell)))
    }
}

fn carried(mut child: Child, grip: &Grip, tell: &mut impl FnMut(Sign<'_>)) -> io::Result<Ended> {
    let heard = listen(&mut child, grip, tell);
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

/// What is known of a program whose streams are listened to.
enum Watch {
    /// It is taken to be short: its streams tell when it is over.
    Short,
    Runs(OwnedFd),
    Ended,
}

/// Takes what a program prints until it has ended and nobody holds its streams any more.
fn listen(
    child: &mut Child,
    grip: &Grip,
    tell: &mut impl FnMut(Sign<'_>),
) -> io::Result<[Kept; 2]> {
    const KINDS: [Stream; 2] = [Stream::Out, Stream::Error];
    let mut streams = [
        child.stdout.take().map(OwnedFd::from).map(File::from),
        child.stderr.take().map(OwnedFd::from).map(File::from),
    ];
    let mut kept = [Kept::default(), Kept::default()];
    let mut lines = [Lines::default(), Lines::default()];
    let pid = Pid::from_raw(child.id().cast_signed()).ok_or(io::ErrorKind::NotFound)?;
    let mut watch = Watch::Short;
    let mut buffer = [0; PIECE];
    while streams.iter().any(Option::is_some) {
        let ready = ready(&streams, &watch)?;
        for i in [0, 1] {
            let Some(stream) = streams[i].as_mut().filter(|_| ready[i]) else { continue };
            let read = stream.read(&mut buffer)?;
            kept[i].add(&buffer[..read]);
            lines[i].take(&buffer[..read], |line| tell(Sign::Said(KINDS[i], line)));
            if read == 0 {
                streams[i] = None;
            }
        }
        match &watch {
            Watch::Short if ready == [false; 3] || grip.is_unwanted() => {
                tell(Sign::Lasts);
                watch = Watch::Runs(pidfd_open(pid, PidfdFlags::empty())?);
            }
            Watch::Runs(_) if ready[2] => watch = Watch::Ended,
            Watch::Ended if grip.is_unwanted() => break,
            _ => {}
        }
    }
    for i in [0, 1] {
        lines[i].take(&[], |line| tell(Sign::Said(KINDS[i], line)));
    }
    if !matches!(watch, Watch::Ended) {
        await_end(pid)?;
    }
    Ok(kept)
}

/// Waits for the end of a program, which keeps its number: it can be killed meanwhile.
fn await_end(pid: Pid) -> io::Result<()> {
    let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), how))?;
    Ok(())
}

/// Which of the streams has something to say, and whether the program has ended.
fn ready(streams: &[Option<File>; 2], watch: &Watch) -> io::Result<[bool; 3]> {
    let (end, patience) = match watch {
        Watch::Short => (None, Some(&SHORT)),
        Watch::Runs(end) => (Some(end.as_fd()), None),
        Watch::Ended => (None, Some(&LOOK)),
    };
    let open = [streams[0].as_ref().map(AsFd::as_fd), streams[1].as_ref().map(AsFd::as_fd), end];
    let asked = |fd| PollFd::from_borrowed_fd(fd, PollFlags::IN);
    let mut polled: Vec<PollFd<'_>> = open.iter().flatten().copied().map(asked).collect();
    match poll(&mut polled, patience) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut answers = polled.iter().map(|fd| !fd.revents().is_empty());
    Ok(open.map(|fd| fd.is_some() && answers.next().unwrap_or(false)))
}
