//! A shim whose child is the keeper of a container.
//!
//! The keeper may die while the container lives. Only `container.end` in the run's directory says that
//! the container has ended, so a keeper that is gone without it is replaced, and the next one goes on.
//! When the run is to end and the keeper was killed for it (or there have been too many), a last one makes
//! an end of the container: it is killed, the rest of its output is passed on, its status is written and
//! it is removed.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::child::{self, Place, Role, Streams};
use super::{Shim, fork_into, started};
use crate::container::{BEGUN, END, Outcome, Process};
use crate::rundir;
use crate::sys::{self, Children, Ended};
use crate::wire::{self, Greeting};

/// How many keepers are replaced within [`CALM`] before it is given up.
const REPLACED_MAX: u32 = 10;
const CALM: Duration = Duration::from_mins(1);
/// How long making an end of a container may take.
const END_MAX: Duration = Duration::from_secs(75);

/// What there is to know of a container, and of its keepers.
#[derive(Default)]
pub struct Keeping {
    is_begun: bool,
    inner: Option<Process>,
    /// How many have been replaced lately.
    count: u32,
    last: Duration,
}

impl Keeping {
    /// Counts one more; false when it is one too many.
    fn may_replace(&mut self, now: Duration) -> bool {
        if now.saturating_sub(self.last) > CALM {
            self.count = 0;
        }
        self.count += 1;
        self.last = now;
        self.count <= REPLACED_MAX
    }
}

impl Shim {
    /// The keeper has said which process the container is; true then.
    pub(super) fn take_inner(&mut self, words: &[u8]) -> bool {
        let Some(inner) = Process::from_line(words) else { return false };
        if !std::mem::replace(&mut self.keeping.is_begun, true) {
            self.begin_timeout();
        }
        self.keeping.inner = Some(inner).filter(|inner| inner.pid > 0);
        if let Some(inner) = self.keeping.inner {
            (self.identity.pid, self.identity.start_ticks) = (inner.pid, inner.start_ticks);
        }
        let unenforced = self.confinement.unenforced.clone();
        let identity = self.identity;
        self.greeting = Greeting { identity, version: wire::VERSION, unenforced }.encode();
        self.write_started();
        true
    }

    /// Which child there is now, and which process the container is.
    fn write_started(&self) {
        let mut record = started(&self.home.boot_id, &self.identity, &self.confinement, true);
        let ticks = rundir::start_ticks(self.child).unwrap_or(0);
        (record.pid, record.start_ticks, record.inner) = (self.child, ticks, self.keeping.inner);
        if let Ok(bytes) = serde_json::to_vec(&record) {
            let _ = self.run.write(rundir::STARTED, &bytes);
        }
    }

    /// Starts another keeper where the last one was killed; false when there is nothing to go on with.
    pub(super) fn replace_keeper(&mut self, ended: Ended) -> bool {
        self.pass_gate();
        let is_over = !self.order.is_container
            || !self.is_released
            || self.cause.is_some()
            || self.failure.is_some()
            || self.run.has(END)
            || !self.keeping.may_replace(sys::boottime());
        if is_over {
            return false;
        }
        let Some((pid, gate)) = self.fork_keeper(&Role::Program) else { return false };
        sys::reap(ended.pid);
        self.child = pid;
        let _ = rustix::net::send(&gate, &[1], rustix::net::SendFlags::NOSIGNAL);
        if !self.keeping.is_begun {
            self.gate = Some(gate);
        }
        self.write_started();
        true
    }

    fn fork_keeper(&mut self, role: &Role<'_>) -> Option<(u32, OwnedFd)> {
        let (stdout, stderr) = self.writers.as_ref()?;
        let (gate, theirs) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .ok()?;
        // A cgroup of its own: where everything in one was killed, some kernels kill what is born there.
        self.asides_made = self.asides_made.wrapping_add(1);
        let name = format!("keeper-{}", self.asides_made);
        let group = self.confinement.group.as_ref().and_then(|group| group.make_in(&name).ok());
        match fork_into(&self.home.token, group.as_ref()).ok()? {
            Some(pid) => {
                self.leaving.extend(group);
                Some((pid, gate))
            }
            None => {
                drop(gate);
                let streams =
                    Streams { stdin: None, stdout: stdout.as_fd(), stderr: stderr.as_fd() };
                let place = Place { run: &self.run, confinement: &self.confinement };
                child::become_program(&place, role, streams, theirs)
            }
        }
    }

    /// Makes sure that nothing is left of the container, and says how it ended; `None` for what is none.
    pub(super) fn end_container(&mut self) -> Option<Outcome> {
        if !self.order.is_container {
            return None;
        }
        if !self.run.has(END) && self.run.has(BEGUN) {
            self.have_it_ended();
        }
        let outcome = Outcome::read(&self.run);
        if let Some(failure) = outcome.as_ref().and_then(|outcome| outcome.failure.clone()) {
            self.failure = Some(failure);
        }
        let unknown = || match self.run.has(BEGUN) {
            true => {
                Outcome::vanished("what became of its container is not known; it is removed later")
            }
            false => Outcome::default(),
        };
        Some(outcome.unwrap_or_else(unknown))
    }

    fn have_it_ended(&mut self) {
        let Some((pid, _gate)) = self.fork_keeper(&Role::End) else { return };
        let deadline = sys::boottime() + END_MAX;
        loop {
            match sys::children() {
                Children::None => return,
                Children::Ended(ended) => {
                    sys::reap(ended.pid);
                    if ended.pid == pid {
                        return;
                    }
                }
                Children::Running if sys::boottime() > deadline => {
                    let _ = sys::signal_child(pid, nix::libc::SIGKILL);
                    return;
                }
                Children::Running => self.pump_or_child(Duration::from_millis(200)),
            }
        }
    }
}

/// How the program ended, as far as its container tells.
pub fn ended(keeper: Ended, outcome: &Outcome) -> Ended {
    match outcome.code {
        Some(code) => Ended { code: Some(code), signal: None, ..keeper },
        None => Ended { code: None, signal: keeper.signal, ..keeper },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keepers_are_replaced_but_not_without_end() {
        let mut keeping = Keeping::default();
        let at = Duration::from_secs;
        assert!((0..REPLACED_MAX).all(|n| keeping.may_replace(at(1000 + u64::from(n)))));
        assert!(!keeping.may_replace(at(1020)));
        assert!(keeping.may_replace(at(1200)));
    }

    #[test]
    fn the_containers_status_counts() {
        let keeper = Ended { pid: 7, code: Some(0), signal: None };
        let outcome = Outcome { code: Some(3), ..Outcome::default() };
        assert_eq!(ended(keeper, &outcome).code, Some(3));
        let killed = Ended { code: None, signal: Some(9), ..keeper };
        assert_eq!(ended(killed, &Outcome::default()).signal, Some(9));
        assert_eq!(ended(keeper, &Outcome::default()).code, None);
    }
}
