//! What runs beside the program: hooks, and commands that agents ask for.
//!
//! Each has a session, and where there are cgroups a cgroup inside the run's, of its own, so that it
//! can be ended with everything it started and without touching the program. At its end whatever it
//! left behind is killed. (Without cgroups, what has left its session is ended only with the run.)
//!
//! *Hooks* write into the run's output. `preStart` runs while the prepared child waits at its gate:
//! `started.json` is written by then, so that it runs at most once, like the program. `postStart` runs
//! beside the program. `preStop` runs before the stop signal, for at most its own timeout; the grace
//! begins when it is over, so a stop takes at most both together. Being killed without grace means
//! that there is no `preStop`. `postStop` runs when the program and all it left are gone, and delays
//! the exit by at most its timeout; it runs even when the program could not be started if a
//! `preStart` may want to be undone. A failure of `preStart` is the run's; others are noted in its
//! output.
//!
//! *Exec*: agents pass descriptors for input, output and a link. The link tells them the end; when it
//! closes (an agent that died, a caller that gave up) the command is killed.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};

use super::child::{self, Place, Role, Streams};
use super::{Shim, link};
use crate::cgroup::Group;
use crate::output::Stream;
use crate::proc;
use crate::sys::{self, Children, Ended, Slot};
use crate::wire::{EXEC_FDS, ExecEnd, HookKind, kind};

/// More commands than this beside a run are refused.
pub const EXECS_MAX: usize = 8;
/// How long the kernel may take to end what was killed.
const KILL_MAX: Duration = Duration::from_secs(10);
/// How long a keeper may take to end a command in a container.
const ASKED_MAX: Duration = Duration::from_secs(3);

pub struct Aside {
    pid: u32,
    task: Task,
    group: Option<Group>,
    /// Carries the child's words when it could not become the command.
    gate: OwnedFd,
    /// On the boot clock.
    deadline: Option<Duration>,
    is_timed_out: bool,
    /// It is a keeper, which has to end what it started in the container.
    is_keeper: bool,
    is_asked: bool,
}

enum Task {
    Hook(HookKind),
    /// The link; absent when the agent is gone.
    Exec(Option<OwnedFd>),
}

impl Aside {
    fn link(&self) -> Option<&OwnedFd> {
        match &self.task {
            Task::Exec(link) => link.as_ref(),
            Task::Hook(_) => None,
        }
    }

    fn is_exec(&self) -> bool {
        matches!(self.task, Task::Exec(_))
    }

    /// Ends it with everything it started. A keeper gets a moment to do so.
    fn end(&mut self, now: Duration) {
        if self.is_keeper && !std::mem::replace(&mut self.is_asked, true) {
            self.deadline = Some(now + ASKED_MAX);
            let _ = sys::signal_child(self.pid, nix::libc::SIGTERM);
        } else {
            self.deadline = None;
            self.kill();
        }
    }

    fn kill(&self) {
        match &self.group {
            Some(group) => group.kill(),
            None => self.kill_session(),
        }
        let _ = sys::signal_group_of_child(self.pid, nix::libc::SIGKILL);
        let _ = sys::signal_child(self.pid, nix::libc::SIGKILL);
    }

    fn kill_session(&self) {
        let is_inside =
            |pid: u32| proc::stat(pid).is_some_and(|s| s.session == self.pid && s.state != 'Z');
        for pid in proc::all().filter(|pid| is_inside(*pid)) {
            proc::kill_if(pid, is_inside);
        }
    }

    /// Why it could not become the command.
    fn words(&self) -> Option<String> {
        let mut words = [0; child::MESSAGE_MAX];
        let (length, _) = rustix::net::recv(&self.gate, &mut words, RecvFlags::DONTWAIT).ok()?;
        (length > 0).then(|| String::from_utf8_lossy(&words[..length]).into_owned())
    }
}

impl Shim {
    /// Runs a hook; false when there is none. Its end is told to [`Shim::hook_over`].
    pub(super) fn begin_hook(&mut self, kind: HookKind, program: Option<Ended>) -> bool {
        let Some(limit_ms) = self.order.hooks.get(kind) else {
            return false;
        };
        let Some((stdout, stderr)) = self.writers.take() else {
            self.hook_over(kind, Err("it has no place for its output".to_owned()));
            return true;
        };
        let streams = Streams { stdin: None, stdout: stdout.as_fd(), stderr: stderr.as_fd() };
        let begun = self.begin(Task::Hook(kind), limit_ms, &Role::Hook(kind, program), streams);
        self.writers = Some((stdout, stderr));
        if let Err((_, why)) = begun {
            self.hook_over(kind, Err(why));
        }
        true
    }

    /// Runs a command for an agent. Without all of the descriptors there is nobody to answer.
    pub(super) fn begin_exec(&mut self, timeout_ms: u64, fds: Vec<OwnedFd>) {
        let Ok([command, stdin, stdout, stderr, link]) = <[OwnedFd; EXEC_FDS]>::try_from(fds)
        else {
            return;
        };
        let _ = rustix::io::ioctl_fionbio(&link, true);
        let refuse = |link: &OwnedFd, why: &str| {
            link::send(link, kind::EXEC_REFUSED, why.as_bytes());
        };
        if self.is_reaped || self.gate.is_some() || self.failure.is_some() {
            return refuse(&link, "the program is not running");
        }
        if self.asides.iter().filter(|aside| aside.is_exec()).count() >= EXECS_MAX {
            let why = format!("{EXECS_MAX} commands run beside this run already; wait for one");
            return refuse(&link, &why);
        }
        let streams =
            Streams { stdin: Some(stdin.as_fd()), stdout: stdout.as_fd(), stderr: stderr.as_fd() };
        let role = Role::Exec(command.as_fd());
        if let Err((Task::Exec(Some(link)), why)) =
            self.begin(Task::Exec(Some(link)), timeout_ms, &role, streams)
        {
            refuse(&link, &why);
        }
    }

    fn begin(
        &mut self,
        task: Task,
        limit_ms: u64,
        role: &Role<'_>,
        streams: Streams<'_>,
    ) -> Result<(), (Task, String)> {
        self.asides_made = self.asides_made.wrapping_add(1);
        let name = format!("aside-{}", self.asides_made);
        let group = self.confinement.group.as_ref().and_then(|group| group.make_in(&name).ok());
        let forked = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(std::io::Error::from)
        .and_then(|(gate, theirs)| {
            let forked = super::fork_into(&self.home.token, group.as_ref())?;
            Ok((gate, theirs, forked))
        });
        let (gate, pid) = match forked {
            Ok((gate, theirs, None)) => {
                drop(gate);
                let place = Place { run: &self.run, confinement: &self.confinement };
                child::become_program(&place, role, streams, theirs)
            }
            Ok((gate, _, Some(pid))) => (gate, pid),
            Err(e) => {
                self.leaving.extend(group);
                return Err((task, format!("the node cannot make a new process: {e}")));
            }
        };
        let deadline =
            (limit_ms > 0).then(|| sys::boottime().saturating_add(Duration::from_millis(limit_ms)));
        let is_keeper = self.order.is_container;
        self.asides.push(Aside {
            pid,
            task,
            group,
            gate,
            deadline,
            is_timed_out: false,
            is_keeper,
            is_asked: false,
        });
        self.set_alarm();
        Ok(())
    }

    pub(super) fn is_hook_running(&self, kind: HookKind) -> bool {
        self.asides.iter().any(|aside| matches!(aside.task, Task::Hook(k) if k == kind))
    }

    /// One slot for the link of each command.
    pub(super) fn exec_slots(&self) -> [Slot; EXECS_MAX] {
        let mut slots = [Slot::EMPTY; EXECS_MAX];
        let execs = self.asides.iter().filter(|aside| aside.is_exec());
        for (slot, aside) in slots.iter_mut().zip(execs) {
            *slot = Slot::reading(aside.link());
        }
        slots
    }

    /// Ends commands whose agents are gone. To be called with the slots of the same turn, before
    /// anything has ended in it.
    pub(super) fn end_abandoned(&mut self, slots: &[Slot]) {
        let mut is_any = false;
        let execs = self.asides.iter_mut().filter(|aside| aside.is_exec());
        for (aside, slot) in execs.zip(slots) {
            let mut bytes = [0; 64];
            let is_gone = slot.is_ready()
                && aside.link().is_some_and(|link| {
                    match rustix::net::recv(link, &mut bytes, RecvFlags::DONTWAIT) {
                        Ok((length, _)) => length == 0,
                        Err(e) => e != rustix::io::Errno::AGAIN && e != rustix::io::Errno::INTR,
                    }
                });
            if is_gone {
                aside.task = Task::Exec(None);
                aside.end(sys::boottime());
                is_any = true;
            }
        }
        if is_any {
            self.set_alarm();
        }
    }

    /// The earliest time at which one of them has had its time.
    pub(super) fn asides_deadline(&self) -> Option<Duration> {
        self.asides.iter().filter_map(|aside| aside.deadline).min()
    }

    pub(super) fn end_overdue(&mut self, now: Duration) {
        for aside in &mut self.asides {
            if aside.deadline.is_some_and(|at| at <= now) {
                aside.is_timed_out = true;
                aside.end(now);
            }
        }
    }

    pub(super) fn kill_asides(&self) {
        self.asides.iter().for_each(Aside::kill);
    }

    /// A child has ended that is not the program; it is reaped here.
    pub(super) fn take_ended(&mut self, ended: Ended) {
        let Some(at) = self.asides.iter().position(|aside| aside.pid == ended.pid) else {
            return sys::reap(ended.pid);
        };
        let aside = self.asides.swap_remove(at);
        match &aside.group {
            Some(group) if !group.remove() => group.kill(),
            Some(_) => {}
            None => aside.kill_session(),
        }
        sys::reap(ended.pid);
        let words = aside.words();
        let Aside { task, group, is_timed_out, .. } = aside;
        self.leaving.extend(group);
        self.set_alarm();
        match task {
            Task::Exec(None) => {}
            Task::Exec(Some(link)) => match words {
                Some(why) => {
                    link::send(&link, kind::EXEC_REFUSED, why.as_bytes());
                }
                None => {
                    let end = ExecEnd { code: ended.code, signal: ended.signal, is_timed_out };
                    link::send(&link, kind::EXEC_ENDED, &end.encode());
                }
            },
            Task::Hook(kind) => {
                let how = match (words, is_timed_out, ended.code, ended.signal) {
                    (Some(why), ..) => Err(why),
                    (None, true, ..) => Err("it took too long and was killed".to_owned()),
                    (None, false, Some(0), _) => Ok(()),
                    (None, false, Some(code), _) => Err(format!("exit code {code}")),
                    (None, false, None, signal) => {
                        Err(format!("signal {}", signal.unwrap_or_default()))
                    }
                };
                self.hook_over(kind, how);
            }
        }
    }

    /// Directories of commands that were still being ended.
    pub(super) fn clear_leaving(&mut self) {
        self.leaving.retain(|group| !group.remove());
    }

    fn hook_over(&mut self, kind: HookKind, how: Result<(), String>) {
        let words = how.err().map(|why| format!("{} hook failed: {why}", kind.name()));
        match (kind, words) {
            (HookKind::PreStart, None) => self.release(),
            (HookKind::PreStart, Some(why)) => {
                if self.cause.is_none() {
                    self.failure = Some(why);
                }
                self.gate = None;
            }
            (HookKind::PostStart | HookKind::PostStop, None) => {}
            (HookKind::PreStop, None) => self.deliver_stop(),
            (HookKind::PreStop, Some(why)) => {
                // Otherwise it is us who have killed it, with everything else.
                if self.stop_waiting.is_some() {
                    self.note(&why);
                }
                self.deliver_stop();
            }
            (HookKind::PostStart | HookKind::PostStop, Some(why)) => self.note(&why),
        }
    }

    /// A line of our own among the run's output.
    fn note(&mut self, text: &str) {
        let Ok((reader, writer)) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC) else {
            return;
        };
        let line = format!("hostler: {text}\n");
        let _ = rustix::io::write(&writer, line.as_bytes());
        drop(writer);
        let _ = self.output.pump(&self.run, Stream::Stderr, &reader);
        self.links.tell_output(self.output.position());
    }

    /// Ends everything beside the program, which has ended.
    pub(super) fn end_asides(&mut self) {
        self.kill_asides();
        let deadline = sys::boottime() + KILL_MAX;
        while !self.asides.is_empty() && sys::boottime() < deadline {
            match sys::children() {
                Children::None => break,
                Children::Ended(ended) => {
                    self.asides.retain(|aside| aside.pid != ended.pid);
                    sys::reap(ended.pid);
                }
                Children::Running => self.pump_or_child(Duration::from_millis(50)),
            }
        }
        self.asides.clear();
    }
}
