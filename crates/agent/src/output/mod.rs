//! The output of a run: numbered segment files of frames, written by its shim, read by anybody.
//!
//! `out.000001`, `out.000002`, … lie in the run's directory. A segment begins with a header (magic,
//! version, which streams begin a line with it, how many bytes the run had written before it) and
//! continues with frames: stream, time, length, bytes. A frame is what one read of a pipe gave, so
//! the order within a stream is exact and between streams as close as the kernel tells.
//!
//! The amount is bounded three times over. The shim (`writer`) begins the next segment when one is
//! full, a day old, or the clock was set back, and deletes its oldest when they take too much room.
//! The agent packs closed segments (`pack`) and, over all runs, enforces what a workload and the node
//! may keep (`keeper`). What cannot be written (a full disk) is dropped and counted, and a gap frame
//! says so as soon as that can be written. Where the project has a share of this node's disk, every writer
//! asks its account (`account`), and the agent sees to it that the oldest goes first (`accounts`). The program never waits for any of this, and readers are
//! told of every gap: a segment says how much came before it, so whatever is missing shows.
//!
//! Reading comes in three layers: frames by position (`reader`), lines that match a query
//! (`line_reader`), and the runs of a workload (`workload`, places in it `log_cursor`). All of them
//! read both forms of a segment (`segment`) and can go on from a cursor.
//!
//! A shim killed in the middle of a write leaves half a frame at the end of the last segment; readers
//! stop before it. Frames are never changed once whole.

mod account;
mod accounts;
mod backwards;
mod follow;
mod keeper;
mod line;
mod line_reader;
mod log_cursor;
mod pack;
mod query;
mod reader;
mod segment;
mod structured;
mod tail;
mod workload;
mod writer;

#[cfg(test)]
mod tests;

pub(crate) use account::Account;
pub(crate) use accounts::{Accounts, Share};
pub use follow::WorkloadFollower;
pub use keeper::{Keeper, KeptWorkload, Pass};
pub use line::{LINE_MAX, Line};
pub use line_reader::{
    BadCursor, LineBatch, LineCursor, LineEntry, LineItem, LineReader, Progress,
};
pub use log_cursor::LogCursor;
pub use pack::{Packed, compress_closed};
pub use query::Query;
pub use reader::{Batch, Frame, Item, Reader, Start, Streams};
pub use structured::{Fields, Level};
pub use workload::{LogBatch, LogEntry, LogItem, Mark, RunLog, WorkloadReader};
pub use writer::Limits;
pub(crate) use writer::Writer;

use hostler_model::Timestamp;

hostler_model::labels! {
    /// Which of the program's outputs.
    pub enum Stream ("stream") {
        Stdout = "stdout",
        Stderr = "stderr",
    }
}

impl Stream {
    const fn index(self) -> usize {
        match self {
            Stream::Stdout => 0,
            Stream::Stderr => 1,
        }
    }
}

/// A place between two frames. Ordered as the output was written.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Position {
    /// Number of the segment; segments count from 1, and 0 is before them all.
    pub segment: u32,
    /// Bytes from the beginning of the file.
    pub offset: u64,
}

/// A place within a frame: where the frame begins, and how many bytes of its output lie before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    position: Position,
    skip: u64,
}

impl Place {
    const fn at(position: Position) -> Place {
        Place { position, skip: 0 }
    }

    /// Behind everything in the frame that ends at `position`, where no frame begins.
    const fn just_before(position: Position) -> Place {
        let offset = position.offset.saturating_sub(1);
        Place::at(Position { offset, ..position })
    }
}

const MAGIC: [u8; 4] = *b"HOUT";
const VERSION: u16 = 1;
const SEGMENT_HEADER: usize = 16;
const FRAME_HEADER: usize = 16;
/// The most one frame carries.
const PAYLOAD_MAX: usize = 64 * 1024;

/// The first segment; many runs have only this one.
pub(crate) const FIRST: &str = "out.000001";

const PACKED: &str = ".gz";

fn segment_name(number: u32) -> String {
    format!("out.{number:06}")
}

fn packed_name(number: u32) -> String {
    format!("out.{number:06}{PACKED}")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Plain,
    Packed,
}

fn segment_number(name: &str) -> Option<(u32, Form)> {
    let rest = name.strip_prefix("out.")?;
    let (digits, form) = match rest.strip_suffix(PACKED) {
        Some(digits) => (digits, Form::Packed),
        None => (rest, Form::Plain),
    };
    Some((digits.parse().ok()?, form))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SegmentHeader {
    /// Output of the run before this segment, in bytes.
    base: u64,
    /// Which streams are known to begin a line here, rather than to go on with one.
    begins_line: [bool; 2],
}

impl SegmentHeader {
    fn encode(self) -> [u8; SEGMENT_HEADER] {
        let mut bytes = [0; SEGMENT_HEADER];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
        bytes[6] = u8::from(self.begins_line[0]) | u8::from(self.begins_line[1]) << 1;
        bytes[8..].copy_from_slice(&self.base.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8; SEGMENT_HEADER]) -> Option<SegmentHeader> {
        let is_known = bytes[..4] == MAGIC && bytes[4..6] == VERSION.to_le_bytes();
        is_known.then(|| SegmentHeader {
            base: u64::from_le_bytes(bytes[8..].try_into().unwrap_or_default()),
            begins_line: [bytes[6] & 1 != 0, bytes[6] & 2 != 0],
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    Output(Stream),
    /// The payload is the number of bytes dropped, as eight bytes.
    Gap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameHeader {
    kind: FrameKind,
    length: usize,
    time: Timestamp,
}

impl FrameHeader {
    fn encode(self) -> [u8; FRAME_HEADER] {
        let mut bytes = [0; FRAME_HEADER];
        bytes[0] = match self.kind {
            FrameKind::Output(Stream::Stdout) => 1,
            FrameKind::Output(Stream::Stderr) => 2,
            FrameKind::Gap => 3,
        };
        let length = u32::try_from(self.length).unwrap_or(0);
        bytes[4..8].copy_from_slice(&length.to_le_bytes());
        bytes[8..].copy_from_slice(&self.time.micros().to_le_bytes());
        bytes
    }

    /// `None` when the bytes are not the beginning of a frame.
    fn decode(bytes: &[u8]) -> Option<FrameHeader> {
        let bytes: &[u8; FRAME_HEADER] = bytes.get(..FRAME_HEADER)?.try_into().ok()?;
        let kind = match bytes[0] {
            1 => FrameKind::Output(Stream::Stdout),
            2 => FrameKind::Output(Stream::Stderr),
            3 => FrameKind::Gap,
            _ => return None,
        };
        let length = u32::from_le_bytes(bytes[4..8].try_into().ok()?);
        let length = usize::try_from(length).ok().filter(|n| *n <= PAYLOAD_MAX)?;
        let micros = i64::from_le_bytes(bytes[8..].try_into().ok()?);
        Some(FrameHeader { kind, length, time: Timestamp::from_micros(micros) })
    }

    /// The first frame in `bytes`; `None` when it is not whole.
    fn split(bytes: &[u8]) -> Option<(FrameHeader, &[u8])> {
        let header = FrameHeader::decode(bytes)?;
        Some((header, bytes.get(FRAME_HEADER..FRAME_HEADER + header.length)?))
    }
}
