//! What agent, executor and shims say to each other on one machine.
//!
//! *Agent to executor*: one [`StartOrder`] per datagram, with one descriptor: the shim's end of a
//! stream socket whose other end the agent keeps. Nothing comes back that way but one greeting;
//! every answer about a run comes from its shim, over that socket.
//!
//! *Shim to agent*: [`Event`]s, each a kind, a length and a payload. *Agent to shim*: [`Command`]s of
//! a fixed size. [`Command::Exec`] comes with five descriptors: what to run (a JSON file that only the
//! forked child reads), its standard input, output and error, and a socket over which its end is
//! told. Whoever holds the other end of that socket keeps the command alive.
//!
//! A shim keeps the code it was born with for as long as its run lives, which may be years, so both
//! sides must get on with older and newer ones. The rules: kinds and commands are only ever added and
//! keep their numbers; a payload is only ever extended at its end, and a reader takes what it knows and
//! ignores the rest; what is not known is skipped, with its descriptors closed. What a shim can do is
//! said by the version in its greeting ([`Greeting`], sent with `HELLO` and `STARTED`); a greeting
//! without one is from before there were versions. An agent asks nothing of a shim that its version
//! does not promise, and tells its caller instead that it cannot.
//!
//! | version | what it added |
//! |---|---|
//! | 1 | stop, watch, recorded |
//! | 2 | exec; what could not be enforced, in the greeting |
//! | 3 | what was written to disk |
//! | 4 | free for another run |
//!
//! A shim says `FREE` only to the agent that ordered its run, which is the same program: what an agent
//! sends to it then, an order that follows a word with the number [`Command::AGAIN`], may change freely.

mod order;

pub use order::{AGAIN, Binding, Bounds, HookKind, HookTimes, Project, StartOrder};

use hostler_model::{Exit, Timestamp};

/// Of the shims that this program makes.
pub const VERSION: u32 = 4;
/// The first version that can run commands beside its program.
pub const VERSION_EXEC: u32 = 2;

/// Which process a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub pid: u32,
    pub shim_pid: u32,
    /// Of the process, in clock ticks since boot, as `/proc` says.
    pub start_ticks: u64,
    pub time: Timestamp,
}

impl Identity {
    const SIZE: usize = 24;

    pub fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..4].copy_from_slice(&self.pid.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.shim_pid.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.start_ticks.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.time.micros().to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Identity> {
        Some(Identity {
            pid: u32_at(bytes, 0)?,
            shim_pid: u32_at(bytes, 4)?,
            start_ticks: u64_at(bytes, 8)?,
            time: Timestamp::from_micros(u64_at(bytes, 16)?.cast_signed()),
        })
    }
}

/// A shim's introduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    pub identity: Identity,
    pub version: u32,
    /// Limits that this node could not put into force, in words.
    pub unenforced: Vec<String>,
}

impl Greeting {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.identity.encode().to_vec();
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(self.unenforced.join("\n").as_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Greeting> {
        let words = bytes.get(Identity::SIZE + 4..).unwrap_or_default();
        let words = String::from_utf8_lossy(words);
        Some(Greeting {
            identity: Identity::decode(bytes)?,
            version: u32_at(bytes, Identity::SIZE).unwrap_or(1),
            unenforced: words.lines().map(str::to_owned).collect(),
        })
    }
}

/// How a command beside a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecEnd {
    /// Exit code, when it returned one.
    pub code: Option<i32>,
    /// Signal number, when a signal ended it.
    pub signal: Option<i32>,
    /// It took longer than allowed and was killed.
    pub is_timed_out: bool,
}

impl ExecEnd {
    pub fn encode(&self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[0] = u8::from(self.code.is_some())
            | u8::from(self.signal.is_some()) << 1
            | u8::from(self.is_timed_out) << 2;
        bytes[4..8].copy_from_slice(&self.code.unwrap_or(0).to_le_bytes());
        bytes[8..12].copy_from_slice(&self.signal.unwrap_or(0).to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<ExecEnd> {
        let (code, signal) = (u32_at(bytes, 4)?.cast_signed(), u32_at(bytes, 8)?.cast_signed());
        let has = |bit: u8| bytes[0] & bit != 0;
        Some(ExecEnd {
            code: has(1).then_some(code),
            signal: has(2).then_some(signal),
            is_timed_out: has(4),
        })
    }
}

pub mod kind {
    pub const HELLO: u8 = 1;
    pub const STARTED: u8 = 2;
    pub const ALREADY_STARTED: u8 = 3;
    pub const REFUSED: u8 = 4;
    pub const EXITED: u8 = 5;
    pub const OUTPUT: u8 = 6;
    pub const EXEC_ENDED: u8 = 7;
    pub const EXEC_REFUSED: u8 = 8;
    pub const WROTE: u8 = 9;
    pub const FREE: u8 = 10;
    pub const LOST: u8 = 11;
}

/// What a shim says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The answer to a connection: whom you have reached.
    Hello(Greeting),
    /// The program runs.
    Started(Greeting),
    /// This run was started before; nothing was done.
    AlreadyStarted,
    /// The run could not be prepared; nothing was executed.
    Refused(String),
    Exited(Exit),
    /// There is output beyond the position that was asked about.
    Output,
    /// A command beside the run has ended.
    ExecEnded(ExecEnd),
    /// A command beside the run could not be run.
    ExecRefused(String),
    /// So many bytes were written to disk for the run since this was last told.
    Wrote(u64),
    /// So many lines of output could not be written since this was last told.
    Lost(u64),
    /// Nothing of the run is left, and the shim can take another.
    Free,
    /// From a newer shim.
    Unknown,
}

pub const HEADER: usize = 8;
/// No event is longer; a longer one is not from a shim of ours.
const EVENT_MAX: usize = 64 * 1024;

pub fn event_header(kind: u8, length: usize) -> [u8; HEADER] {
    let mut bytes = [0; HEADER];
    bytes[0] = kind;
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    bytes[4..8].copy_from_slice(&length.to_le_bytes());
    bytes
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the shim sent something that is not an event")]
pub struct Garbled;

/// Takes the first whole event off the front of `buffer`.
pub fn take_event(buffer: &mut Vec<u8>) -> Result<Option<Event>, Garbled> {
    let Some(length) = u32_at(buffer, 4) else {
        return Ok(None);
    };
    let length = usize::try_from(length).map_err(|_| Garbled)?;
    if length > EVENT_MAX {
        return Err(Garbled);
    }
    if buffer.len() < HEADER + length {
        return Ok(None);
    }
    let payload = &buffer[HEADER..HEADER + length];
    let event = match buffer[0] {
        kind::HELLO => Event::Hello(Greeting::decode(payload).ok_or(Garbled)?),
        kind::STARTED => Event::Started(Greeting::decode(payload).ok_or(Garbled)?),
        kind::ALREADY_STARTED => Event::AlreadyStarted,
        kind::REFUSED => Event::Refused(String::from_utf8_lossy(payload).into_owned()),
        kind::EXITED => Event::Exited(serde_json::from_slice(payload).map_err(|_| Garbled)?),
        kind::OUTPUT => Event::Output,
        kind::EXEC_ENDED => Event::ExecEnded(ExecEnd::decode(payload).ok_or(Garbled)?),
        kind::EXEC_REFUSED => Event::ExecRefused(String::from_utf8_lossy(payload).into_owned()),
        kind::WROTE => Event::Wrote(u64_at(payload, 0).ok_or(Garbled)?),
        kind::LOST => Event::Lost(u64_at(payload, 0).ok_or(Garbled)?),
        kind::FREE => Event::Free,
        _ => Event::Unknown,
    };
    buffer.drain(..HEADER + length);
    Ok(Some(event))
}

/// What an agent asks of a shim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Signal the run; when it is still there after the grace, kill it.
    Stop { signal: i32, grace_ms: u64 },
    /// Say once when there is output beyond this position.
    Watch { segment: u32, offset: u64 },
    /// The exit is safe with the agent: a shim that could not write it down may go.
    Recorded,
    /// Run a command beside the program; comes with [`EXEC_FDS`] descriptors. Zero is no timeout.
    Exec { timeout_ms: u64 },
}

/// The command, standard input, output and error, and the socket for its end, in this order.
pub const EXEC_FDS: usize = 5;

impl Command {
    pub const SIZE: usize = 16;
    /// No command: an order follows.
    pub const AGAIN: u8 = 5;

    pub fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let (op, small, large) = match *self {
            Command::Stop { signal, grace_ms } => (1, signal.to_le_bytes(), grace_ms),
            Command::Watch { segment, offset } => (2, segment.to_le_bytes(), offset),
            Command::Recorded => (3, [0; 4], 0),
            Command::Exec { timeout_ms } => (4, [0; 4], timeout_ms),
        };
        bytes[0] = op;
        bytes[4..8].copy_from_slice(&small);
        bytes[8..16].copy_from_slice(&large.to_le_bytes());
        bytes
    }

    /// `None` for what this version does not know; such commands are skipped.
    pub fn decode(bytes: &[u8; Self::SIZE]) -> Option<Command> {
        let small = u32_at(bytes, 4)?;
        let large = u64_at(bytes, 8)?;
        match bytes[0] {
            1 => Some(Command::Stop { signal: small.cast_signed(), grace_ms: large }),
            2 => Some(Command::Watch { segment: small, offset: large }),
            3 => Some(Command::Recorded),
            4 => Some(Command::Exec { timeout_ms: large }),
            _ => None,
        }
    }
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::ExitReason;

    #[test]
    fn commands_survive_the_wire() {
        for command in [
            Command::Stop { signal: 9, grace_ms: u64::MAX },
            Command::Watch { segment: 7, offset: 8 },
            Command::Recorded,
            Command::Exec { timeout_ms: 9 },
        ] {
            assert_eq!(Command::decode(&command.encode()), Some(command));
        }
        assert_eq!(Command::decode(&[200; 16]), None);
    }

    #[test]
    fn events_are_taken_whole_or_not_at_all() {
        let exit = Exit {
            reason: ExitReason::Exited,
            code: Some(3),
            signal: None,
            message: None,
            time: Timestamp::from_micros(5),
        };
        let json = serde_json::to_vec(&exit).unwrap();
        let mut whole = event_header(kind::OUTPUT, 0).to_vec();
        whole.extend_from_slice(&event_header(kind::EXITED, json.len()));
        whole.extend_from_slice(&json);
        let mut buffer = Vec::new();
        let mut seen = Vec::new();
        for byte in whole {
            buffer.push(byte);
            seen.extend(take_event(&mut buffer).unwrap());
        }
        assert_eq!(seen, [Event::Output, Event::Exited(exit)]);
        assert!(buffer.is_empty());
        assert!(take_event(&mut vec![0xff; 16]).is_err());
    }

    fn through(kind: u8, payload: &[u8]) -> Option<Event> {
        let mut buffer = event_header(kind, payload.len()).to_vec();
        buffer.extend_from_slice(payload);
        take_event(&mut buffer).unwrap()
    }

    #[test]
    fn greetings_of_older_and_newer_shims_are_understood() {
        let identity =
            Identity { pid: 1, shim_pid: 2, start_ticks: 3, time: Timestamp::from_micros(4) };
        let greeting = Greeting {
            identity,
            version: VERSION,
            unenforced: vec!["cpu: none here".to_owned(), "pids: nor these".to_owned()],
        };
        let told = through(kind::HELLO, &greeting.encode());
        assert_eq!(told, Some(Event::Hello(greeting)));
        let old = Greeting { identity, version: 1, unenforced: vec![] };
        assert_eq!(through(kind::STARTED, &identity.encode()), Some(Event::Started(old)));
        assert_eq!(through(200, b"who knows"), Some(Event::Unknown));
    }

    #[test]
    fn ends_of_commands_survive_the_wire() {
        for end in [
            ExecEnd { code: Some(-1), signal: None, is_timed_out: false },
            ExecEnd { code: Some(0), signal: None, is_timed_out: false },
            ExecEnd { code: None, signal: Some(9), is_timed_out: true },
        ] {
            let mut longer = end.encode().to_vec();
            longer.push(7);
            assert_eq!(through(kind::EXEC_ENDED, &longer), Some(Event::ExecEnded(end)));
        }
    }
}
