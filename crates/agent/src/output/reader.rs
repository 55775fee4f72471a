//! The reading side: from any position, in batches, told of every gap.
//!
//! A reader holds no lock and may lag, stop and start again from a [`Position`]. It sees only whole
//! frames. When the segment it stands in has been deleted it goes on with the oldest one left and
//! reports the gap, with the number of bytes where it knows how far it had got. The same goes for a
//! segment that is damaged, or that lost its end in a power cut.
//!
//! Calls block on the file system only; asynchronous callers use `Runner::follow`.

use std::io;
use std::path::{Path, PathBuf};

use hostler_model::Timestamp;

use super::segment::{self, Segment};
use super::{
    FRAME_HEADER, FrameHeader, FrameKind, PAYLOAD_MAX, Place, Position, SEGMENT_HEADER, Stream,
    tail,
};
use crate::rundir;

/// Which streams to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Streams {
    #[default]
    Both,
    Only(Stream),
}

impl Streams {
    pub fn contains(self, stream: Stream) -> bool {
        match self {
            Streams::Both => true,
            Streams::Only(only) => only == stream,
        }
    }
}

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the oldest output that is kept.
    Beginning,
    /// Where an earlier batch ended.
    At(Position),
    /// With the last so many bytes of the chosen streams.
    TailBytes(u64),
    /// With the last so many lines of the chosen streams; an unfinished last line counts as one.
    TailLines(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub stream: Stream,
    /// When the shim read it.
    pub time: Timestamp,
    /// Where it begins.
    pub position: Position,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    Output(Frame),
    /// Output is missing here; how many bytes (of both streams), where that is known.
    Gap {
        bytes: Option<u64>,
    },
}

/// Some output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    pub items: Vec<Item>,
    /// Where to go on.
    pub position: Position,
    /// The run is over and this is all.
    pub is_end: bool,
}

pub struct Reader {
    dir: PathBuf,
    streams: Streams,
    position: Position,
    /// Bytes of the first frame that were asked to be left out.
    skip: u64,
    /// Output up to `position`, where known.
    seen: Option<u64>,
    segment: Option<Segment>,
    /// Whether a batch ends with the segment it is read from.
    stops_between: bool,
}

impl Reader {
    /// Opens the output of the run whose directory is given.
    pub fn open(dir: &Path, start: Start, streams: Streams) -> io::Result<Reader> {
        let mut reader = Reader {
            dir: dir.to_owned(),
            streams,
            position: Position::default(),
            skip: 0,
            seen: None,
            segment: None,
            stops_between: false,
        };
        match start {
            Start::Beginning => {}
            Start::At(position) => reader.position = position,
            Start::TailBytes(bytes) => reader.go_to(tail::bytes(dir, streams, bytes)?),
            Start::TailLines(lines) => reader.go_to(tail::lines(dir, streams, lines)?),
        }
        Ok(reader)
    }

    /// A reader whose batches come from one segment each.
    pub(super) fn segmentwise(dir: &Path, at: Position, streams: Streams) -> io::Result<Reader> {
        let reader = Reader::open(dir, Start::At(at), streams)?;
        Ok(Reader { stops_between: true, ..reader })
    }

    /// Goes on at the beginning of another segment; what lies between is passed over, not missing.
    pub(super) fn jump_to(&mut self, segment: u32) {
        self.position = Position { segment, offset: 0 };
        self.skip = 0;
        self.seen = None;
        self.segment = None;
    }

    fn go_to(&mut self, place: Place) {
        self.position = place.position;
        self.skip = place.skip;
    }

    pub fn position(&self) -> Position {
        self.position
    }

    /// How many bytes of the chosen streams are left out from the position on.
    pub fn skip(&self) -> u64 {
        self.skip
    }

    /// What there is from here on, about `limit` bytes at most (at least one frame when there is
    /// one). An empty batch that is not the end means: nothing yet.
    pub fn read(&mut self, limit: usize) -> io::Result<Batch> {
        let is_over = self.dir.join(rundir::EXIT).exists();
        let mut items = Vec::new();
        let mut taken = 0;
        let mut has_more = true;
        let mut buffer = Vec::new();
        let before = self.position.segment;
        while has_more && taken < limit {
            has_more = if self.open_segment(&mut items)? {
                let window = limit.clamp(FRAME_HEADER + PAYLOAD_MAX, 1 << 20);
                let got = self.take_frames(&mut buffer, window, limit, &mut taken, &mut items)?;
                got || self.next_segment(&mut buffer, window, limit, &mut taken, &mut items)?
            } else {
                false
            };
            if self.stops_between && self.position.segment != before {
                break;
            }
        }
        Ok(Batch { items, position: self.position, is_end: is_over && !has_more })
    }

    /// Opens the segment at the position, or the oldest later one; false when there is none.
    fn open_segment(&mut self, items: &mut Vec<Item>) -> io::Result<bool> {
        if self.segment.as_ref().is_some_and(|open| open.number() == self.position.segment) {
            return Ok(true);
        }
        loop {
            let wanted = self.position.segment;
            let there = segment::list(&self.dir)?;
            let Some(number) = there.iter().copied().find(|n| *n >= wanted) else {
                return Ok(false);
            };
            let Some(mut segment) = Segment::open(&self.dir, number)? else {
                continue;
            };
            let Some(header) = segment.header()? else {
                if there.last() == Some(&number) {
                    return Ok(false);
                }
                self.position = Position { segment: number + 1, offset: 0 };
                continue;
            };
            if number != wanted {
                self.skip = 0;
                self.position = Position { segment: number, offset: 0 };
            }
            if self.position.offset < SEGMENT_HEADER as u64 {
                let expected = if wanted == 0 { Some(0) } else { self.seen };
                match expected {
                    Some(seen) if header.base > seen => {
                        items.push(Item::Gap { bytes: Some(header.base - seen) });
                    }
                    None if number != wanted => items.push(Item::Gap { bytes: None }),
                    _ => {}
                }
                self.position.offset = SEGMENT_HEADER as u64;
                self.seen = Some(header.base);
            }
            self.segment = Some(segment);
            return Ok(true);
        }
    }

    /// Takes whole frames from the open segment; false when there was none.
    fn take_frames(
        &mut self,
        buffer: &mut Vec<u8>,
        window: usize,
        limit: usize,
        taken: &mut usize,
        items: &mut Vec<Item>,
    ) -> io::Result<bool> {
        let Some(segment) = &mut self.segment else {
            return Ok(false);
        };
        buffer.resize(window, 0);
        let available = segment.read_at(buffer, self.position.offset)?;
        let mut rest = &buffer[..available];
        let mut any = false;
        while *taken < limit
            && let Some((header, payload)) = FrameHeader::split(rest)
        {
            any = true;
            let position = self.position;
            rest = &rest[FRAME_HEADER + header.length..];
            self.position.offset += (FRAME_HEADER + header.length) as u64;
            match header.kind {
                FrameKind::Gap => {
                    let bytes = payload.try_into().map(u64::from_le_bytes).ok();
                    self.seen = self.seen.zip(bytes).map(|(seen, n)| seen.saturating_add(n));
                    items.push(Item::Gap { bytes });
                }
                FrameKind::Output(stream) => {
                    self.seen = self.seen.map(|seen| seen.saturating_add(header.length as u64));
                    if self.streams.contains(stream) {
                        let skip = usize::try_from(std::mem::take(&mut self.skip)).unwrap_or(0);
                        let bytes = payload.get(skip..).unwrap_or_default().to_vec();
                        *taken += bytes.len() + FRAME_HEADER;
                        if bytes.is_empty() {
                            continue;
                        }
                        let time = header.time;
                        items.push(Item::Output(Frame { stream, time, position, bytes }));
                    }
                }
            }
        }
        Ok(any)
    }

    /// The open segment has no more: when a later one exists, looks once again (a segment is complete
    /// once its successor is there) and goes on with that. False when there is nothing more.
    fn next_segment(
        &mut self,
        buffer: &mut Vec<u8>,
        window: usize,
        limit: usize,
        taken: &mut usize,
        items: &mut Vec<Item>,
    ) -> io::Result<bool> {
        let here = self.position.segment;
        if !segment::list(&self.dir)?.into_iter().any(|n| n > here) {
            return Ok(false);
        }
        if !self.take_frames(buffer, window, limit, taken, items)? {
            self.position = Position { segment: here + 1, offset: 0 };
            self.segment = None;
        }
        Ok(true)
    }
}
