//! A shim between two runs.
//!
//! Making a process and ending it costs more than a short run needs otherwise. So a shim whose run has
//! ended in order stays for a moment and takes another one from the same agent, over the same link. "In
//! order" means that nothing can be left of the run: the program ended by itself, nothing was left
//! behind, nothing else was ever run beside it, its output is at its end, its exit is written, the shim
//! was not bound to processors for it, and the agent that ordered it was there from the beginning. What
//! the next run gets is what a newborn shim would give it: everything that belongs to a run is made anew, but
//! for a cgroup that is as good as new (`cgroup::again`).
//!
//! *Nobody waits in vain.* The agent closes the link when it has no use for the shim, and when it dies;
//! the shim is gone then. It does not wait for long in any case.
//!
//! *The settled state.* Whoever looks at the runs of an agent that died must know that every order it
//! gave has become a live, locked run, or never will. For newborn shims that is what `executor.lock`
//! says. A shim that rests holds a shared `flock` on `runs/`, from before it says that it is free until
//! it has locked the directory of its next run, or is gone. So a new runner, which takes that lock
//! exclusively for a moment, has then outwaited every order that was ever given to a resting shim. An
//! order whose agent has gone meanwhile is dropped, as the executor does.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::Home;
use crate::sys::{self, Slot};
use crate::wire::{AGAIN, Command, StartOrder};

/// The agent is the first to lose patience; see `runner::idle`.
const PATIENCE: Duration = Duration::from_secs(10);

/// Held for as long as the shim may take an order.
pub type Hold = OwnedFd;

/// `None` while a new agent looks around: there is nobody to wait for then.
pub fn hold(home: &Home) -> Option<Hold> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let runs = rustix::fs::openat(&home.runs, ".", flags, Mode::empty()).ok()?;
    rustix::fs::flock(&runs, FlockOperation::NonBlockingLockShared).ok()?;
    Some(runs)
}

/// The next order; `None` when there is none, or nobody any more who wants it.
pub fn next_order(agent: &OwnedFd) -> Option<StartOrder> {
    let mut bytes = [0; AGAIN];
    let mut filled = 0;
    let deadline = sys::boottime() + PATIENCE;
    loop {
        let mut slots = [Slot::reading(Some(agent))];
        if !sys::poll(&mut slots, Some(deadline.saturating_sub(sys::boottime()))) {
            return None;
        }
        match receive(agent, &mut bytes[filled..]) {
            Ok(0) => return None,
            Ok(length) => filled += length,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => return None,
        }
        // What was asked about the last run comes too late.
        while filled >= Command::SIZE && !StartOrder::is_again(&bytes) {
            bytes.copy_within(Command::SIZE..filled, 0);
            filled -= Command::SIZE;
        }
        if filled == AGAIN {
            return StartOrder::decode_again(&bytes).filter(|_| !is_gone(agent));
        }
    }
}

fn receive(agent: &OwnedFd, into: &mut [u8]) -> Result<usize, Errno> {
    rustix::net::recv(agent, into, RecvFlags::DONTWAIT).map(|(length, _)| length)
}

fn is_gone(agent: &OwnedFd) -> bool {
    let mut slots = [Slot::reading(Some(agent))];
    sys::poll(&mut slots, Some(Duration::ZERO));
    slots[0].is_hung_up()
}

/// Waits until no shim of an agent before this one can take an order any more.
pub fn outwait(runs: &OwnedFd, patience: Duration) -> io::Result<bool> {
    let deadline = sys::boottime() + patience;
    loop {
        match rustix::fs::flock(runs, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) if sys::boottime() < deadline => {
                sys::poll(&mut [], Some(Duration::from_millis(2)));
            }
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(e) => return Err(e.into()),
        }
    }
}
