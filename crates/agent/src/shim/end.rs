//! What a shim does once the program has ended.
//!
//! First the output gets to its end. Usually that is immediate (both pipes close with the program);
//! when a descendant still holds a pipe it gets a short while, or, after a stop, what is left of the
//! grace. Then everything the program left behind is killed, and only then is the exit written: a
//! run that is over has no processes.
//!
//! `exit.json` is synced only when no agent heard of the exit, since an agent that did makes it
//! durable itself. Should it be impossible to write (a full disk), the shim stays until either it
//! can be written or an agent says that it has recorded it: an exit status is never lost while
//! somebody may still come for it.

use std::time::Duration;

use hostler_model::{Exit, ExitReason};

use super::{Cause, Shim};
use crate::rundir;
use crate::sys::{self, Children, Ended};
use crate::wire::kind;

/// How long a descendant that holds a pipe may be silent, and go on at most.
const QUIET: Duration = Duration::from_millis(200);
const DRAIN_MAX: Duration = Duration::from_secs(2);
/// How long the kernel may take to end what was killed.
const KILL_MAX: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_secs(1);

impl Shim {
    pub(super) fn end(mut self, ended: Ended) {
        let time = sys::now();
        self.pass_gate();
        sys::reap(ended.pid);
        // A shell turns the death of what it ran into a code of its own.
        let was_killed = ended.signal == Some(nix::libc::SIGKILL) || ended.code == Some(137);
        let had_oom_kill = was_killed && self.cgroup.as_ref().is_some_and(|c| c.had_oom_kill());
        if self.cause.is_some() {
            self.wait_for_descendants();
        } else {
            self.drain(DRAIN_MAX);
        }
        self.kill_descendants();
        self.drain(QUIET);
        self.output.finish(&self.run);

        let reason = match (&self.failure, self.cause) {
            (Some(_), _) => ExitReason::StartFailed,
            (None, Some(Cause::Stopped)) => ExitReason::Stopped,
            (None, Some(Cause::TimedOut)) => ExitReason::TimedOut,
            (None, None) if had_oom_kill => ExitReason::OutOfMemory,
            (None, None) => ExitReason::Exited,
        };
        let has_status = reason != ExitReason::StartFailed;
        let exit = Exit {
            reason,
            code: ended.code.filter(|_| has_status),
            signal: ended.signal.filter(|_| has_status),
            message: self.failure.take(),
            time,
        };
        self.hand_over(&exit);
        if let Some(cgroup) = &self.cgroup {
            cgroup.remove();
        }
    }

    fn drain(&mut self, limit: Duration) {
        let deadline = sys::boottime() + limit;
        while self.stdout.is_some() || self.stderr.is_some() {
            if !self.pump_once(QUIET.min(limit)) || sys::boottime() > deadline {
                break;
            }
        }
    }

    /// They were signalled with the program; they have the rest of the grace to end in order.
    fn wait_for_descendants(&mut self) {
        let deadline = self.kills_at.unwrap_or_default();
        loop {
            match sys::children() {
                Children::None => return,
                Children::Ended(stray) => sys::reap(stray.pid),
                Children::Running => {
                    let left = deadline.saturating_sub(sys::boottime());
                    if left.is_zero() {
                        return;
                    }
                    self.pump_or_child(left);
                }
            }
        }
    }

    /// Every orphan of the run is our child (we are the subreaper), so killing children until there
    /// are none ends the whole tree even where there is no cgroup.
    fn kill_descendants(&mut self) {
        let deadline = sys::boottime() + KILL_MAX;
        loop {
            match sys::children() {
                Children::None => return,
                Children::Ended(stray) => sys::reap(stray.pid),
                Children::Running => {
                    if let Some(cgroup) = &self.cgroup {
                        let _ = cgroup.kill();
                    }
                    for pid in own_children() {
                        let _ = sys::signal_child(pid, nix::libc::SIGKILL);
                    }
                    if sys::boottime() > deadline {
                        return;
                    }
                    self.pump_or_child(Duration::from_millis(50));
                }
            }
        }
    }

    fn hand_over(&mut self, exit: &Exit) {
        let bytes = serde_json::to_vec(exit).expect("an exit is plain data");
        let written = self.run.write(rundir::EXIT, &bytes);
        if written.is_ok() && self.listener.is_some() {
            self.run.remove(rundir::SOCKET);
        }
        let told = self.links.tell(kind::EXITED, &bytes);
        match written {
            Ok(_) if told > 0 => {}
            Ok(file) => {
                let _ = self.run.sync(&file);
            }
            Err(_) => self.hold(bytes),
        }
    }

    /// Keeps the exit in memory for as long as it can be kept nowhere else.
    fn hold(&mut self, bytes: Vec<u8>) {
        self.farewell = Some(bytes);
        while !self.attend_once(RETRY) {
            let bytes = self.farewell.as_deref().unwrap_or_default();
            match self.run.write(rundir::EXIT, bytes) {
                Ok(file) => {
                    let _ = self.run.sync(&file);
                    break;
                }
                // The directory has been removed: nobody will come.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => break,
                Err(_) => {}
            }
        }
        self.run.remove(rundir::SOCKET);
    }
}

/// The children of this process, by number; they keep it until we reap them.
fn own_children() -> Vec<u32> {
    let me = std::process::id();
    if let Ok(list) = std::fs::read_to_string(format!("/proc/self/task/{me}/children")) {
        return list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    }
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, after_name) = stat.rsplit_once(')')?;
        after_name.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| parent(*pid) == Some(me))
        .collect()
}
