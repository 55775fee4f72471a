//! What a shim does once the program has ended.
//!
//! First the output gets to its end. Usually that is immediate (both pipes close with the program);
//! when a descendant still holds a pipe it gets a short while, or, after a stop, what is left of the
//! grace. Then everything the program left behind is killed (and told in the exit, as whoever wrote the
//! program may not know), the `postStop` hook has its turn, and only then is the exit written: a run
//! that is over has no processes.
//!
//! `exit.json` is synced only when no agent heard of the exit, since an agent that did makes it
//! durable itself. Should it be impossible to write (a full disk), the shim stays until either it
//! can be written or an agent says that it has recorded it: an exit status is never lost while
//! somebody may still come for it.
//!
//! Where the run has ended in order the shim lets go of everything before it tells the exit, and says in
//! the same breath that it is free for another run (`idle`).

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use hostler_model::{Exit, ExitReason};

use super::{Cause, Home, Shim, idle, keeper, link};
use crate::sys::{self, Children, Ended};
use crate::wire::{HookKind, kind};
use crate::writes::BLOCK;
use crate::{proc, rundir, secrets};

/// How long a descendant that holds a pipe may be silent, and go on at most.
const QUIET: Duration = Duration::from_millis(200);
const DRAIN_MAX: Duration = Duration::from_secs(2);
/// How long the kernel may take to end what was killed.
const KILL_MAX: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_secs(1);

/// What is left of a shim that is free for another run.
pub struct Rest {
    pub home: Home,
    pub agent: OwnedFd,
    pub hold: idle::Hold,
}

impl Shim {
    pub(super) fn end(mut self, ended: Ended) -> Option<Rest> {
        let time = sys::now();
        self.pass_gate();
        sys::reap(ended.pid);
        self.is_reaped = true;
        self.end_asides();
        let outcome = self.end_container();
        let ended = outcome.as_ref().map_or(ended, |outcome| keeper::ended(ended, outcome));
        self.writers = None;
        if self.cause.is_some() {
            self.wait_for_descendants();
        } else {
            self.drain(DRAIN_MAX);
        }
        self.kills_at = None;
        self.times_out = None;
        let left = self.count_left();
        self.kill_descendants();
        self.drain(QUIET);
        let had_oom_kill = match &outcome {
            Some(outcome) => outcome.is_out_of_memory,
            None => self.confinement.oom_kills() > 0,
        };
        let is_vanished = outcome.as_ref().is_some_and(|outcome| outcome.is_vanished);
        self.run_post_stop(ended);
        self.output.finish(&self.run);
        if let Some(dir) = &self.secrets {
            secrets::remove(dir);
        }
        let is_in_order = left == 0 && !had_oom_kill && self.is_in_order(ended);

        let has_failed = ended.code != Some(0);
        let reason = match (&self.failure, self.cause) {
            (Some(_), _) => ExitReason::StartFailed,
            (None, Some(Cause::Stopped)) => ExitReason::Stopped,
            (None, Some(Cause::TimedOut)) => ExitReason::TimedOut,
            (None, None) if is_vanished => ExitReason::Vanished,
            (None, None) if had_oom_kill && has_failed => ExitReason::OutOfMemory,
            (None, None) => ExitReason::Exited,
        };
        let has_status = reason != ExitReason::StartFailed;
        let of_memory = match reason {
            ExitReason::OutOfMemory if ended.signal != Some(nix::libc::SIGKILL) => had_oom_kill,
            ExitReason::OutOfMemory | ExitReason::StartFailed => false,
            _ => had_oom_kill,
        };
        let of_memory = of_memory.then(|| "a process of it was killed for memory".to_owned());
        let of_left = words_for_left(left).filter(|_| has_status);
        let of_container = outcome.and_then(|outcome| outcome.note);
        let words: Vec<_> = (self.failure.take().into_iter())
            .chain(of_memory)
            .chain(of_left)
            .chain(of_container)
            .collect();
        let exit = Exit {
            reason,
            code: ended.code.filter(|_| has_status),
            signal: ended.signal.filter(|_| has_status),
            message: (!words.is_empty()).then(|| words.join("; ")),
            time,
        };
        let bytes = serde_json::to_vec(&exit).expect("an exit is plain data");
        // `started.json` and `exit.json`.
        self.output.count(2 * BLOCK);
        if is_in_order {
            return self.rest(bytes);
        }
        self.hand_over(bytes);
        self.confinement.remove();
        None
    }

    /// Whether certainly nothing of the run is left that another one could meet.
    fn is_in_order(&self, ended: Ended) -> bool {
        ended.code.is_some()
            && self.cause.is_none()
            && self.failure.is_none()
            && self.asides_made == 0
            && self.stdout.is_none()
            && self.stderr.is_none()
            && self.listener.is_none()
            && self.order.binding.is_none()
            && !self.order.is_container
            && !self.order.has_secrets
    }

    /// Tells the exit, and is free for another run when there is an agent that can use it.
    fn rest(mut self, exit: Vec<u8>) -> Option<Rest> {
        let confinement = std::mem::take(&mut self.confinement);
        if confinement.may_serve_again() {
            self.home.kept = Some(confinement);
        } else {
            confinement.remove();
        }
        let hold = idle::hold(&self.home);
        let Some((hold, agent)) = hold.and_then(|hold| Some((hold, self.links.take_only()?)))
        else {
            self.hand_over(exit);
            return None;
        };
        let Ok(file) = self.run.write(rundir::EXIT, &exit) else {
            drop(hold);
            self.links.add(agent);
            self.hand_over(exit);
            return None;
        };
        self.run.unlock();
        let wrote = self.output.untold(true).unwrap_or(0).to_le_bytes();
        let lost = self.output.lost().to_le_bytes();
        let news = [
            (kind::WROTE, wrote.as_slice()),
            (kind::LOST, lost.as_slice()),
            (kind::EXITED, exit.as_slice()),
            (kind::FREE, &[]),
        ];
        if !link::send_all(&agent, news) {
            let _ = self.run.sync(&file);
            return None;
        }
        Some(Rest { home: self.home, agent, hold })
    }

    /// Processes of the run, now that the program has ended.
    fn count_left(&self) -> usize {
        match (sys::children(), &self.confinement.group) {
            (Children::None, _) => 0,
            (_, Some(group)) => group.count(),
            (_, None) => own_children().len(),
        }
    }

    fn run_post_stop(&mut self, ended: Ended) {
        let hooks = &self.order.hooks;
        let is_wanted = hooks.get(HookKind::PostStop).is_some()
            && (self.failure.is_none() || hooks.get(HookKind::PreStart).is_some());
        let streams = || Ok::<_, io::Error>((super::pipe()?, super::pipe()?));
        if !is_wanted {
            return;
        }
        if let Ok(((stdout, stdout_theirs), (stderr, stderr_theirs))) = streams() {
            (self.stdout, self.stderr) = (Some(stdout), Some(stderr));
            self.writers = Some((stdout_theirs, stderr_theirs));
        }
        let program = Some(ended).filter(|_| self.failure.is_none());
        self.begin_hook(HookKind::PostStop, program);
        self.writers = None;
        while self.is_hook_running(HookKind::PostStop) {
            self.turn();
        }
        self.kill_descendants();
        self.drain(QUIET);
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
                    if let Some(group) = &self.confinement.group {
                        group.kill();
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

    fn hand_over(&mut self, exit: Vec<u8>) {
        let written = self.run.write(rundir::EXIT, &exit);
        if written.is_ok() && self.listener.is_some() {
            self.run.remove(rundir::SOCKET);
        }
        let told = self.links.tell(kind::EXITED, &exit);
        self.tell_written(true);
        match written {
            Ok(_) if told > 0 => {}
            Ok(file) => {
                let _ = self.run.sync(&file);
            }
            Err(_) => self.hold(exit),
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
                Err(e) if e.kind() == io::ErrorKind::NotFound => break,
                Err(_) => {}
            }
        }
        self.run.remove(rundir::SOCKET);
    }
}

fn words_for_left(count: usize) -> Option<String> {
    match count {
        0 => None,
        1 => Some("left 1 process behind, which was ended".to_owned()),
        n => Some(format!("left {n} processes behind, which were ended")),
    }
}

/// The children of this process, by number; they keep it until we reap them.
fn own_children() -> Vec<u32> {
    let me = std::process::id();
    if let Ok(list) = std::fs::read_to_string(format!("/proc/self/task/{me}/children")) {
        return list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    }
    let is_mine = |pid: &u32| proc::stat(*pid).is_some_and(|stat| stat.parent == me);
    proc::all().filter(is_mine).collect()
}
