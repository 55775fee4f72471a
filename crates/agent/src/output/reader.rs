//! The reading side: from any position, in batches, told of every gap.
//!
//! A reader holds no lock and may lag, stop and start again from a [`Position`]. It sees only whole
//! frames. When the segment it stands in has been deleted it goes on with the oldest one left and
//! reports the gap, with the number of bytes where it knows how far it had got.
//!
//! Calls block on the file system only; asynchronous callers use `Runner::follow`.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hostler_model::Timestamp;

use super::{
    FRAME_HEADER, FrameHeader, FrameKind, PAYLOAD_MAX, Position, SEGMENT_HEADER, Stream,
    segment_base, segment_name, segment_number, tail,
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
    file: Option<(u32, File)>,
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
            file: None,
        };
        match start {
            Start::Beginning => {}
            Start::At(position) => reader.position = position,
            Start::TailBytes(bytes) => reader.go_to(tail::bytes(dir, streams, bytes)?),
            Start::TailLines(lines) => reader.go_to(tail::lines(dir, streams, lines)?),
        }
        Ok(reader)
    }

    fn go_to(&mut self, place: tail::Place) {
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
        while has_more && taken < limit {
            has_more = if self.open_segment(&mut items)? {
                let window = limit.clamp(FRAME_HEADER + PAYLOAD_MAX, 1 << 20);
                let got = self.take_frames(&mut buffer, window, limit, &mut taken, &mut items)?;
                got || self.next_segment(&mut buffer, window, limit, &mut taken, &mut items)?
            } else {
                false
            };
        }
        Ok(Batch { items, position: self.position, is_end: is_over && !has_more })
    }

    /// Opens the segment at the position, or the oldest later one; false when there is none.
    fn open_segment(&mut self, items: &mut Vec<Item>) -> io::Result<bool> {
        if let Some((number, _)) = &self.file
            && *number == self.position.segment
        {
            return Ok(true);
        }
        loop {
            let wanted = self.position.segment;
            let Some(number) = segments(&self.dir)?.into_iter().find(|n| *n >= wanted) else {
                return Ok(false);
            };
            let file = match File::open(self.dir.join(segment_name(number))) {
                Ok(file) => file,
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(e) => return Err(e),
            };
            let mut header = [0; SEGMENT_HEADER];
            if let Err(e) = file.read_exact_at(&mut header, 0) {
                return match e.kind() {
                    io::ErrorKind::UnexpectedEof => Ok(false),
                    _ => Err(e),
                };
            }
            let base = segment_base(&header).ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "an output segment has an unknown format; it is from another version",
                )
            })?;
            if number != wanted {
                self.skip = 0;
                let missing = match (wanted, self.seen) {
                    (0, _) => Some(base),
                    (_, Some(seen)) => Some(base.saturating_sub(seen)),
                    (_, None) => None,
                };
                if missing != Some(0) {
                    items.push(Item::Gap { bytes: missing });
                }
                self.position = Position { segment: number, offset: 0 };
            }
            if self.position.offset < SEGMENT_HEADER as u64 {
                self.position.offset = SEGMENT_HEADER as u64;
                self.seen = Some(base);
            }
            self.file = Some((number, file));
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
        let Some((_, file)) = &self.file else {
            return Ok(false);
        };
        buffer.resize(window, 0);
        let available = read_some_at(file, buffer, self.position.offset)?;
        let mut rest = &buffer[..available];
        let mut any = false;
        while *taken < limit
            && let Some(header) = FrameHeader::decode(rest)
            && let Some(payload) = rest.get(FRAME_HEADER..FRAME_HEADER + header.length)
        {
            any = true;
            rest = &rest[FRAME_HEADER + header.length..];
            self.position.offset += (FRAME_HEADER + header.length) as u64;
            match header.kind {
                FrameKind::Gap => {
                    let bytes = payload.try_into().map(u64::from_le_bytes).ok();
                    self.seen = self.seen.zip(bytes).map(|(seen, n)| seen + n);
                    items.push(Item::Gap { bytes });
                }
                FrameKind::Output(stream) => {
                    self.seen = self.seen.map(|seen| seen + header.length as u64);
                    if self.streams.contains(stream) {
                        let skip = usize::try_from(std::mem::take(&mut self.skip)).unwrap_or(0);
                        let bytes = payload.get(skip..).unwrap_or_default().to_vec();
                        *taken += bytes.len() + FRAME_HEADER;
                        if bytes.is_empty() {
                            continue;
                        }
                        items.push(Item::Output(Frame { stream, time: header.time, bytes }));
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
        if !segments(&self.dir)?.into_iter().any(|n| n > here) {
            return Ok(false);
        }
        if !self.take_frames(buffer, window, limit, taken, items)? {
            self.position = Position { segment: here + 1, offset: 0 };
            self.file = None;
        }
        Ok(true)
    }
}

/// Fills the buffer from a file as far as the file goes.
pub(super) fn read_some_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// The numbers of the segments that are there, ascending.
pub(super) fn segments(dir: &Path) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        found.extend(entry?.file_name().to_str().and_then(segment_number));
    }
    found.sort_unstable();
    Ok(found)
}
