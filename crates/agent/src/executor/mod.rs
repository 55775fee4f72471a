//! The executor: a process that forks shims and does nothing else.
//!
//! The agent starts it by running its own program again with a hidden verb, so that it begins with
//! one thread and few pages of its own; shims are forked from it without exec and share those pages.
//! Its standard input is one end of a datagram socket whose other end the agent holds. It reads
//! [`StartOrder`]s there, each with a descriptor for the shim to speak to the agent, and forks.
//!
//! It keeps no state. When the agent goes away (end of file, or a hang-up while orders are still
//! queued: those are dropped, nobody waits for them any more) it exits. When it is killed, shims go
//! on; the agent starts another one and sends again what was not answered.
//!
//! `<data>/executor.lock` is held by the executor, and by each newborn shim until that has locked its
//! own run directory. So whoever gets the lock next knows that every order given before has either
//! become a live, locked run or will never become one: recovery after a crash sees a settled state,
//! and two agents cannot work on one data directory. (For orders given to shims that rest between two
//! runs, a lock on `runs/` says the same; see `shim::idle`.)

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags};

use crate::sys::SingleThreaded;
use crate::wire::StartOrder;
use crate::{cgroup, rundir, shim, sys};

pub const LOCK: &str = "executor.lock";

/// The greeting of an executor that can work; any other text says why it cannot.
pub(crate) const READY: &str = "ready";

/// What a shim inherits.
pub(crate) struct Seat {
    pub token: SingleThreaded,
    /// Released once the shim has its run.
    pub lock: OwnedFd,
    pub runs: OwnedFd,
    pub cgroups: cgroup::Root,
    pub boot_id: String,
}

/// The whole life of an executor: call it first thing in `main`, before any thread exists. Standard
/// input must be the socket that the runner gives to the program it starts.
pub fn executor_main(data_dir: &Path) -> ! {
    let code = match catch_unwind(|| prepare(data_dir)) {
        Ok(Ok((socket, seat))) => serve(socket, seat),
        Ok(Err(_)) | Err(_) => 1,
    };
    sys::exit_now(code)
}

/// Becomes a quiet background process, then says whether it can work.
fn prepare(data_dir: &Path) -> io::Result<(OwnedFd, Seat)> {
    let socket = sys::take_stdin()?;
    sys::close_all_but(socket.as_fd());
    let greet = |text: &str| rustix::net::send(&socket, text.as_bytes(), SendFlags::NOSIGNAL);
    match settle_in(data_dir) {
        Ok(seat) => {
            sys::give_back_text_and_stack(&seat.token);
            greet(READY)?;
            Ok((socket, seat))
        }
        Err(e) => {
            greet(&e.to_string())?;
            Err(e)
        }
    }
}

fn settle_in(data_dir: &Path) -> io::Result<Seat> {
    let token = SingleThreaded::prove()?
        .ok_or_else(|| io::Error::other("the executor must start before any thread"))?;
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    for standard in 0..=2 {
        sys::redirect(null.as_fd(), standard)?;
    }
    sys::reset_signals();
    sys::ignore_signals();
    sys::discard_children(true);
    sys::unblock_signals()?;
    let _ = rustix::process::setsid();
    rustix::thread::set_name(c"hostler-exec")?;
    rustix::process::umask(Mode::from_raw_mode(0o077));

    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC;
    let lock = rustix::fs::open(data_dir.join(LOCK), flags, Mode::RUSR | Mode::WUSR)?;
    let directory = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let runs = rustix::fs::open(data_dir.join(rundir::RUNS), directory, Mode::empty())?;
    std::env::set_current_dir("/")?;
    rustix::io::retry_on_intr(|| rustix::fs::flock(&lock, FlockOperation::LockExclusive))?;
    Ok(Seat { token, lock, runs, cgroups: cgroup::Root::find(), boot_id: rundir::boot_id()? })
}

fn serve(socket: OwnedFd, seat: Seat) -> i32 {
    loop {
        let (order, agent) = match receive(&socket) {
            Ok(Some(received)) => received,
            Ok(None) => return 0,
            Err(_) => return 1,
        };
        let mut slots = [sys::Slot::reading(Some(&socket))];
        sys::poll(&mut slots, Some(std::time::Duration::ZERO));
        if slots[0].is_hung_up() {
            return 0;
        }
        let (Some(order), Some(agent)) = (order, agent) else {
            continue;
        };
        match sys::fork(&seat.token) {
            Ok(Some(_)) => {}
            Ok(None) => {
                drop(socket);
                let lived = catch_unwind(AssertUnwindSafe(|| shim::live(seat, order, agent)));
                return i32::from(lived.is_err());
            }
            Err(e) => shim::refuse(&agent, &format!("the node cannot make a new process: {e}")),
        }
    }
}

type Received = (Option<StartOrder>, Option<OwnedFd>);

/// The next order; `None` at the end.
fn receive(socket: &OwnedFd) -> io::Result<Option<Received>> {
    let mut bytes = [0; StartOrder::SIZE + 1];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(
            socket,
            &mut [IoSliceMut::new(&mut bytes)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        )
    })?;
    if message.bytes == 0 {
        return Ok(None);
    }
    let agent = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut fds) => fds.next(),
        _ => None,
    });
    Ok(Some((StartOrder::decode(&bytes[..message.bytes]), agent)))
}
