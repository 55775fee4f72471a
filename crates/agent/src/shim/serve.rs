//! The shim's loop while the program runs: output, stops, the timeout, agents that come and go, and
//! the ends of what runs beside it.
//!
//! The loop ends when the program has ended. It has not been reaped then, and is not until every
//! signal that goes to its process group has been sent: its number cannot be taken by another.
//!
//! When nothing has happened for a while the shim gives back what memory it took to begin, or to move
//! output: most runs live long and say little, and there may be hundreds of them.

use std::os::fd::OwnedFd;
use std::time::Duration;

use super::{Cause, Shim, aside, link};
use crate::output::Stream;
use crate::sys::{self, Alarm, Children, Ended, Slot};
use crate::wire::{Command, HookKind, kind};

const STDOUT: usize = 0;
const STDERR: usize = 1;
const GATE: usize = 2;
const CHILDREN: usize = 3;
const LISTENER: usize = 4;
const ALARM: usize = 5;
const LINKS: usize = 6;

const EXECS: usize = LINKS + link::MAX;
const SLOTS: usize = EXECS + aside::EXECS_MAX;

/// How long nothing has to happen before memory is given back: after the start, and after output.
pub(super) const REST_AFTER_START: Duration = Duration::from_secs(1);
const REST_AFTER_OUTPUT: Duration = Duration::from_secs(10);

impl Shim {
    /// Lets the prepared child become the program. Should it be dead already, its death is seen like
    /// any other.
    pub(super) fn release(&mut self) {
        self.is_released = true;
        if let Some(gate) = &self.gate {
            let _ = rustix::net::send(gate, &[1], rustix::net::SendFlags::NOSIGNAL);
        }
        if !self.order.is_container {
            self.begin_timeout();
        }
        let hooks = &self.order.hooks;
        let has_hooks = hooks.get(HookKind::PostStart).or(hooks.get(HookKind::PreStop)).is_some();
        if !has_hooks && !self.order.is_container {
            self.writers = None;
        }
        self.set_alarm();
    }

    /// From now on its time runs.
    pub(super) fn begin_timeout(&mut self) {
        if self.order.timeout_ms > 0 && self.cause.is_none() {
            let limit = Duration::from_millis(self.order.timeout_ms);
            self.times_out = Some(sys::boottime().saturating_add(limit));
            self.set_alarm();
        }
    }

    pub(super) fn serve(&mut self) -> Ended {
        if let Some(ended) = self.reap_strays() {
            return ended;
        }
        loop {
            if let Some(ended) = self.turn() {
                return ended;
            }
        }
    }

    /// Waits for something to happen and sees to it. The program's end, when it has come.
    pub(super) fn turn(&mut self) -> Option<Ended> {
        let patience = self.open_door().or(self.rests_after);
        let mut slots = self.slots();
        if !sys::poll(&mut slots, patience) && self.rests_after.take().is_some() {
            self.tell_written(true);
            if self.output.rest() {
                sys::give_back_heap();
            }
            self.home.stack.rest();
            sys::give_back_text_and_stack(&self.home.token);
        }
        self.end_abandoned(&slots[EXECS..]);
        if slots[STDOUT].is_ready() {
            self.pump(Stream::Stdout);
        }
        if slots[STDERR].is_ready() {
            self.pump(Stream::Stderr);
        }
        if slots[GATE].is_ready() && self.pass_gate() {
            self.begin_hook(HookKind::PostStart, None);
        }
        self.attend(&slots);
        if slots[ALARM].is_ready() {
            self.ring();
        }
        if slots[CHILDREN].is_ready() {
            drain(&self.home.children);
            return self.reap_strays();
        }
        None
    }

    fn slots(&self) -> [Slot; SLOTS] {
        let mut slots = [Slot::EMPTY; SLOTS];
        slots[STDOUT] = Slot::reading(self.stdout.as_ref());
        slots[STDERR] = Slot::reading(self.stderr.as_ref());
        slots[GATE] = Slot::reading(self.gate.as_ref());
        slots[CHILDREN] = Slot::reading(Some(&self.home.children));
        slots[LISTENER] = Slot::reading(self.listener.as_ref());
        slots[ALARM] = Slot::reading(self.alarm.as_ref());
        slots[LINKS..EXECS].copy_from_slice(&self.links.slots());
        slots[EXECS..].copy_from_slice(&self.exec_slots());
        slots
    }

    /// Moves what one stream has ready, up to one frame, into the output.
    pub(super) fn pump(&mut self, stream: Stream) {
        let pipe = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let Some(open) = pipe else { return };
        match self.output.pump(&self.run, stream, open) {
            Ok(0) => *pipe = None,
            Ok(_) => {
                self.rests_after = Some(REST_AFTER_OUTPUT);
                self.links.tell_output(self.output.position());
                self.tell_written(false);
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(_) => *pipe = None,
        }
    }

    /// Tells the agent what was written to disk since it was last told; when there is none, the next.
    pub(super) fn tell_written(&mut self, is_all: bool) {
        if let Some(bytes) = self.output.untold(is_all)
            && self.links.tell(kind::WROTE, &bytes.to_le_bytes()) > 0
        {
            self.output.told(bytes);
        }
        let lost = self.output.lost();
        if lost > 0 && self.links.tell(kind::LOST, &lost.to_le_bytes()) > 0 {
            self.output.told_lost(lost);
        }
    }

    /// The child became the program (end of file), or says why it could not, or was killed before it
    /// was let go. True when it became the program now.
    pub(super) fn pass_gate(&mut self) -> bool {
        let Some(gate) = self.gate.take() else {
            return false;
        };
        let mut words = [0; super::child::MESSAGE_MAX];
        let mut length = 0;
        while let Ok(n) =
            rustix::io::retry_on_intr(|| rustix::io::read(&gate, &mut words[length..]))
        {
            if n == 0 {
                break;
            }
            length += n;
        }
        let words = &words[..length];
        let is_program = match self.order.is_container {
            true => self.is_released && self.take_inner(words),
            false => self.is_released && words.is_empty(),
        };
        if is_program {
            self.tell_started();
        } else if !words.is_empty() {
            self.failure = Some(String::from_utf8_lossy(words).into_owned());
        }
        is_program
    }

    fn tell_started(&mut self) {
        self.links.tell(kind::STARTED, &self.greeting);
    }

    /// The child needed no gate, and is the program.
    pub(super) fn has_become_program(&mut self) {
        self.tell_started();
        self.begin_hook(HookKind::PostStart, None);
    }

    /// New agents, and what the old ones ask. True when one says it has recorded the exit.
    fn attend(&mut self, slots: &[Slot]) -> bool {
        if slots[LISTENER].is_ready() {
            self.welcome();
        }
        let mut stops = Vec::new();
        let mut execs = Vec::new();
        let mut is_recorded = false;
        self.links.receive(&slots[LINKS..EXECS], |command, fds| match command {
            Command::Stop { signal, grace_ms } => stops.push((signal, grace_ms)),
            Command::Exec { timeout_ms } => execs.push((timeout_ms, fds)),
            Command::Recorded => is_recorded = true,
            Command::Watch { .. } => {}
        });
        for (signal, grace_ms) in stops {
            self.stop(Cause::Stopped, signal, grace_ms);
        }
        for (timeout_ms, fds) in execs {
            self.begin_exec(timeout_ms, fds);
        }
        self.links.tell_output(self.output.position());
        is_recorded
    }

    /// Listens for agents when there is none; says when to try again where that fails.
    fn open_door(&mut self) -> Option<Duration> {
        if self.listener.is_none() && self.links.is_empty() {
            match super::listen(&self.run) {
                Ok(listener) => self.listener = Some(listener),
                Err(_) => return Some(Duration::from_secs(1)),
            }
        }
        None
    }

    fn welcome(&mut self) {
        use rustix::net::SocketFlags;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        while let Some(listener) = &self.listener
            && let Ok(socket) = rustix::net::accept_with(listener, flags)
        {
            let is_greeted = link::send(&socket, kind::HELLO, &self.greeting)
                && (self.farewell.as_ref())
                    .is_none_or(|exit| link::send(&socket, kind::EXITED, exit));
            if is_greeted && self.links.add(socket) {
                self.tell_written(true);
            }
        }
    }

    fn ring(&mut self) {
        let now = sys::boottime();
        if self.kills_at.is_some_and(|at| at <= now) {
            self.kill_all();
            self.kills_at = Some(now + Duration::from_secs(1));
        }
        if self.times_out.is_some_and(|at| at <= now) {
            self.times_out = None;
            self.stop(Cause::TimedOut, self.order.signal, self.order.grace_ms);
        }
        self.end_overdue(now);
        self.set_alarm();
    }

    /// Asks the program to end: first its hook, then the signal, and at last it is no longer asked.
    /// The first cause stays; a later request can only bring the end nearer.
    fn stop(&mut self, cause: Cause, signal: i32, grace_ms: u64) {
        let is_at_once = signal == nix::libc::SIGKILL && grace_ms == 0;
        if self.is_reaped {
            if is_at_once {
                self.kill_asides();
            }
            return;
        }
        self.cause.get_or_insert(cause);
        self.times_out = None;
        let waiting = self.stop_waiting.take();
        self.stop_waiting =
            Some((signal, waiting.map_or(grace_ms, |(_, earlier)| earlier.min(grace_ms))));
        let may_wait = !is_at_once && self.is_program();
        let is_waiting = may_wait
            && (self.is_hook_running(HookKind::PreStop)
                || !std::mem::replace(&mut self.is_pre_stop_over, true)
                    && self.begin_hook(HookKind::PreStop, None));
        if !is_waiting {
            self.deliver_stop();
        }
        self.set_alarm();
    }

    /// The hook, if there was one, has had its turn.
    pub(super) fn deliver_stop(&mut self) {
        let Some((signal, grace_ms)) = self.stop_waiting.take() else { return };
        let kills_at = sys::boottime().saturating_add(Duration::from_millis(grace_ms));
        self.kills_at = Some(self.kills_at.map_or(kills_at, |at| at.min(kills_at)));
        if signal == nix::libc::SIGKILL || !self.is_program() {
            self.kill_all();
        } else if sys::signal_group_of_child(self.child, signal).is_err() {
            let _ = sys::signal_child(self.child, signal);
        }
        self.set_alarm();
    }

    /// Whether the child has become the program. Before that it ignores signals, and there is
    /// nobody yet who could make anything of them.
    fn is_program(&mut self) -> bool {
        let mut slots = [Slot::reading(self.gate.as_ref())];
        if sys::poll(&mut slots, Some(Duration::ZERO)) {
            self.pass_gate();
        }
        self.gate.is_none()
    }

    fn kill_all(&mut self) {
        if let Some(group) = &self.confinement.group {
            group.kill();
        }
        self.kill_asides();
        let _ = sys::signal_group_of_child(self.child, nix::libc::SIGKILL);
        let _ = sys::signal_child(self.child, nix::libc::SIGKILL);
    }

    pub(super) fn set_alarm(&mut self) {
        let next =
            [self.times_out, self.kills_at, self.asides_deadline()].into_iter().flatten().min();
        self.alarm = next.and_then(|when| {
            let alarm = self.alarm.take().or_else(|| Alarm::new().ok())?;
            alarm.set(when).ok()?;
            Some(alarm)
        });
    }

    /// Reaps adopted orphans and what ran beside the program; that itself is only looked at.
    fn reap_strays(&mut self) -> Option<Ended> {
        let program = loop {
            match sys::children() {
                Children::Ended(ended) if ended.pid == self.child && !self.is_reaped => {
                    break Some(ended);
                }
                Children::Ended(other) => self.take_ended(other),
                Children::Running | Children::None => break None,
            }
        };
        self.clear_leaving();
        program
    }

    /// Waits for output alone; false when there was none for `quiet`.
    pub(super) fn pump_once(&mut self, quiet: Duration) -> bool {
        let mut slots = [Slot::reading(self.stdout.as_ref()), Slot::reading(self.stderr.as_ref())];
        let any = sys::poll(&mut slots, Some(quiet));
        if slots[STDOUT].is_ready() {
            self.pump(Stream::Stdout);
        }
        if slots[STDERR].is_ready() {
            self.pump(Stream::Stderr);
        }
        any
    }

    /// Waits for output or an ended child, at most `limit`.
    pub(super) fn pump_or_child(&mut self, limit: Duration) {
        let mut slots = [
            Slot::reading(self.stdout.as_ref()),
            Slot::reading(self.stderr.as_ref()),
            Slot::reading(Some(&self.home.children)),
        ];
        sys::poll(&mut slots, Some(limit));
        if slots[STDOUT].is_ready() {
            self.pump(Stream::Stdout);
        }
        if slots[STDERR].is_ready() {
            self.pump(Stream::Stderr);
        }
        if slots[2].is_ready() {
            drain(&self.home.children);
        }
    }

    /// Serves agents after the end, at most `limit`; true when one has recorded the exit.
    pub(super) fn attend_once(&mut self, limit: Duration) -> bool {
        self.open_door();
        let mut slots = [Slot::EMPTY; SLOTS];
        slots[LISTENER] = Slot::reading(self.listener.as_ref());
        slots[LINKS..EXECS].copy_from_slice(&self.links.slots());
        sys::poll(&mut slots, Some(limit));
        self.attend(&slots)
    }
}

fn drain(events: &OwnedFd) {
    let mut bytes = [0; 512];
    while rustix::io::read(events, &mut bytes).is_ok_and(|n| n > 0) {}
}
