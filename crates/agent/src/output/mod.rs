//! The output of a run: numbered segment files of frames, written by its shim, read by anybody.
//!
//! `out.000001`, `out.000002`, … lie in the run's directory. A segment begins with a header (magic,
//! version, how many bytes the run had written before it) and continues with frames: stream, time,
//! length, bytes. A frame is what one read of a pipe gave, so the order within a stream is exact and
//! between streams as close as the kernel tells.
//!
//! The amount is bounded: when a segment is full the next one begins, and when there are too many the
//! oldest is deleted. What cannot be written (a full disk) is dropped and counted, and a gap frame
//! says so as soon as that can be written. The program never waits for any of this. Readers are told
//! of gaps of both kinds.
//!
//! A shim killed in the middle of a write leaves half a frame at the end of the last segment; readers
//! stop before it. Frames are never changed once whole.

mod reader;
mod tail;
mod writer;

pub use reader::{Batch, Frame, Item, Reader, Start, Streams};
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

const MAGIC: [u8; 4] = *b"HOUT";
const VERSION: u32 = 1;
const SEGMENT_HEADER: usize = 16;
const FRAME_HEADER: usize = 16;
/// The most one frame carries.
const PAYLOAD_MAX: usize = 64 * 1024;

/// The first segment; many runs have only this one.
pub(crate) const FIRST: &str = "out.000001";

fn segment_name(number: u32) -> String {
    format!("out.{number:06}")
}

fn segment_number(name: &str) -> Option<u32> {
    name.strip_prefix("out.")?.parse().ok()
}

/// The header of a segment: what came before it, in bytes of output.
fn segment_header(base: u64) -> [u8; SEGMENT_HEADER] {
    let mut bytes = [0; SEGMENT_HEADER];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4..8].copy_from_slice(&VERSION.to_le_bytes());
    bytes[8..].copy_from_slice(&base.to_le_bytes());
    bytes
}

fn segment_base(bytes: &[u8]) -> Option<u64> {
    let bytes = bytes.get(..SEGMENT_HEADER)?;
    let is_known = bytes[..4] == MAGIC && bytes[4..8] == VERSION.to_le_bytes();
    is_known.then(|| u64::from_le_bytes(bytes[8..].try_into().unwrap_or_default()))
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
}
