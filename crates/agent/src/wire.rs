//! What agent, executor and shims say to each other on one machine.
//!
//! *Agent to executor*: one [`StartOrder`] per datagram, with one descriptor: the shim's end of a
//! stream socket whose other end the agent keeps. Nothing comes back that way but one greeting;
//! every answer about a run comes from its shim, over that socket.
//!
//! *Shim to agent*: [`Event`]s, each a kind, a length and a payload. *Agent to shim*: [`Command`]s of
//! a fixed size. The formats are private to one version of the program plus the shims that older
//! versions left running, so kinds are only ever added.

use hostler_model::{Exit, RunId, Timestamp};

/// Everything a shim must know itself; the rest is in the run's `spec.json`, which only the child reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartOrder {
    pub run_id: RunId,
    /// Zero is none.
    pub timeout_ms: u64,
    pub signal: i32,
    pub grace_ms: u64,
    pub segment_bytes: u64,
    pub segments_max: u32,
}

impl StartOrder {
    pub const SIZE: usize = 48;

    pub fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..16].copy_from_slice(self.run_id.uuid().as_bytes());
        bytes[16..24].copy_from_slice(&self.timeout_ms.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.grace_ms.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.segment_bytes.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.segments_max.to_le_bytes());
        bytes[44..48].copy_from_slice(&self.signal.to_le_bytes());
        bytes
    }

    pub fn decode(bytes: &[u8]) -> Option<StartOrder> {
        let bytes: &[u8; Self::SIZE] = bytes.try_into().ok()?;
        Some(StartOrder {
            run_id: RunId::from_uuid(uuid::Uuid::from_slice(&bytes[..16]).ok()?),
            timeout_ms: u64_at(bytes, 16)?,
            grace_ms: u64_at(bytes, 24)?,
            segment_bytes: u64_at(bytes, 32)?,
            segments_max: u32_at(bytes, 40)?,
            signal: i32::from_le_bytes(bytes[44..48].try_into().ok()?),
        })
    }
}

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

pub mod kind {
    pub const HELLO: u8 = 1;
    pub const STARTED: u8 = 2;
    pub const ALREADY_STARTED: u8 = 3;
    pub const REFUSED: u8 = 4;
    pub const EXITED: u8 = 5;
    pub const OUTPUT: u8 = 6;
}

/// What a shim says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The answer to a connection: whom you have reached.
    Hello(Identity),
    /// The program runs.
    Started(Identity),
    /// This run was started before; nothing was done.
    AlreadyStarted,
    /// The run could not be prepared; nothing was executed.
    Refused(String),
    Exited(Exit),
    /// There is output beyond the position that was asked about.
    Output,
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
        kind::HELLO => Event::Hello(Identity::decode(payload).ok_or(Garbled)?),
        kind::STARTED => Event::Started(Identity::decode(payload).ok_or(Garbled)?),
        kind::ALREADY_STARTED => Event::AlreadyStarted,
        kind::REFUSED => Event::Refused(String::from_utf8_lossy(payload).into_owned()),
        kind::EXITED => Event::Exited(serde_json::from_slice(payload).map_err(|_| Garbled)?),
        kind::OUTPUT => Event::Output,
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
}

impl Command {
    pub const SIZE: usize = 16;

    pub fn encode(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let (op, small, large) = match *self {
            Command::Stop { signal, grace_ms } => (1, signal.to_le_bytes(), grace_ms),
            Command::Watch { segment, offset } => (2, segment.to_le_bytes(), offset),
            Command::Recorded => (3, [0; 4], 0),
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
    fn orders_and_commands_survive_the_wire() {
        let order = StartOrder {
            run_id: RunId::from_uuid(uuid::Uuid::from_u128(77)),
            timeout_ms: 1,
            signal: 15,
            grace_ms: 2,
            segment_bytes: 3,
            segments_max: 4,
        };
        assert_eq!(StartOrder::decode(&order.encode()), Some(order));
        assert_eq!(StartOrder::decode(&[0; 3]), None);
        for command in [
            Command::Stop { signal: 9, grace_ms: u64::MAX },
            Command::Watch { segment: 7, offset: 8 },
            Command::Recorded,
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
}
