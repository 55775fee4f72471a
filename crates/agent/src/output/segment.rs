//! One segment file, in either of its two forms: plain, as its shim wrote it (`out.000007`), or packed
//! with gzip by the agent once it was closed (`out.000007.gz`).
//!
//! Both are read the same way, by offset into the plain form, so a [`Position`] stays good when a
//! segment is packed, and a reader that has the plain file open goes on with it after it is gone.
//! While both are there the plain one counts: it is older, and on disk for certain.
//!
//! A packed segment that is damaged (a power cut) ends where the damage begins; what is missing shows
//! as a gap, since the next segment says how much output came before it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

use flate2::read::GzDecoder;
use hostler_model::Timestamp;

use super::{
    FRAME_HEADER, FrameHeader, FrameKind, PAYLOAD_MAX, Position, SEGMENT_HEADER, SegmentHeader,
    Stream, packed_name, segment_name, segment_number,
};

const UNPACK: usize = 64 * 1024;

/// The numbers of the segments that are there, ascending.
pub fn list(dir: &Path) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        found
            .extend(entry?.file_name().to_str().and_then(segment_number).map(|(number, _)| number));
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

pub struct Segment {
    number: u32,
    content: Content,
}

enum Content {
    Plain(File),
    Packed(Box<Unpacker>),
}

impl Segment {
    /// `None` when there is no such segment (any more).
    pub fn open(dir: &Path, number: u32) -> io::Result<Option<Segment>> {
        if let Some(file) = open_file(&dir.join(segment_name(number)))? {
            return Ok(Some(Segment { number, content: Content::Plain(file) }));
        }
        let Some(file) = open_file(&dir.join(packed_name(number)))? else {
            return Ok(None);
        };
        let content = Content::Packed(Box::new(Unpacker::new(file)?));
        Ok(Some(Segment { number, content }))
    }

    pub fn number(&self) -> u32 {
        self.number
    }

    /// Fills the buffer from `offset` on, as far as the segment goes.
    pub fn read_at(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match &mut self.content {
            Content::Plain(file) => read_some_at(file, buffer, offset),
            Content::Packed(unpacker) => unpacker.read_at(buffer, offset),
        }
    }

    /// `None` when the header is not whole.
    pub fn header(&mut self) -> io::Result<Option<SegmentHeader>> {
        let mut bytes = [0; SEGMENT_HEADER];
        if self.read_at(&mut bytes, 0)? < SEGMENT_HEADER {
            return Ok(None);
        }
        let header = SegmentHeader::decode(&bytes).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "an output segment has an unknown format; it is from another version",
            )
        })?;
        Ok(Some(header))
    }

    /// When its first frame was written, and when it was last written to; `None` without frames.
    pub fn times(&mut self) -> io::Result<Option<(Timestamp, Timestamp)>> {
        let mut bytes = [0; FRAME_HEADER];
        let length = self.read_at(&mut bytes, SEGMENT_HEADER as u64)?;
        let Some(first) = FrameHeader::decode(&bytes[..length]) else {
            return Ok(None);
        };
        let file = match &self.content {
            Content::Plain(file) => file,
            Content::Packed(unpacker) => &unpacker.file,
        };
        Ok(Some((first.time, modified(&file.metadata()?))))
    }
}

/// When a file was last written to.
pub fn modified(metadata: &std::fs::Metadata) -> Timestamp {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Timestamp::EPOCH.plus(since.unwrap_or_default())
}

/// A frame in place.
pub struct RawFrame<'a> {
    pub position: Position,
    pub kind: FrameKind,
    pub time: Timestamp,
    pub payload: &'a [u8],
}

impl RawFrame<'_> {
    pub fn stream(&self) -> Option<Stream> {
        match self.kind {
            FrameKind::Output(stream) => Some(stream),
            FrameKind::Gap => None,
        }
    }

    /// Where the next one begins.
    pub fn end(&self) -> Position {
        let size = (FRAME_HEADER + self.payload.len()) as u64;
        Position { offset: self.position.offset + size, ..self.position }
    }

    /// How many bytes of output it stands for, where it says so.
    pub fn output_bytes(&self) -> Option<u64> {
        match self.kind {
            FrameKind::Output(_) => Some(self.payload.len() as u64),
            FrameKind::Gap => self.payload.try_into().map(u64::from_le_bytes).ok(),
        }
    }
}

/// Walks the whole frames of one segment; `None` when it is not there or has no header.
pub fn walk(
    dir: &Path,
    number: u32,
    mut each: impl FnMut(RawFrame<'_>) -> ControlFlow<()>,
) -> io::Result<Option<SegmentHeader>> {
    let Some(mut segment) = Segment::open(dir, number)? else {
        return Ok(None);
    };
    let Some(segment_header) = segment.header()? else {
        return Ok(None);
    };
    let mut buffer = vec![0; 4 * (FRAME_HEADER + PAYLOAD_MAX)];
    let mut offset = SEGMENT_HEADER as u64;
    loop {
        let available = segment.read_at(&mut buffer, offset)?;
        let mut rest = &buffer[..available];
        let before = offset;
        while let Some((header, payload)) = FrameHeader::split(rest) {
            let size = FRAME_HEADER + header.length;
            let position = Position { segment: number, offset };
            let frame = RawFrame { position, kind: header.kind, time: header.time, payload };
            if each(frame).is_break() {
                return Ok(Some(segment_header));
            }
            rest = &rest[size..];
            offset += size as u64;
        }
        if offset == before {
            return Ok(Some(segment_header));
        }
    }
}

fn open_file(path: &Path) -> io::Result<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

fn read_some_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
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

/// Reads a packed file by offset. Cheap for reads that go forward and overlap a little, which is how
/// frames are read; what lies before the last offset is forgotten.
struct Unpacker {
    file: File,
    decoder: GzDecoder<File>,
    /// Unpacked bytes from `start` on.
    window: Vec<u8>,
    start: u64,
    is_done: bool,
}

impl Unpacker {
    fn new(file: File) -> io::Result<Unpacker> {
        let decoder = GzDecoder::new(file.try_clone()?);
        Ok(Unpacker { file, decoder, window: Vec::new(), start: 0, is_done: false })
    }

    fn read_at(&mut self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset < self.start {
            self.restart()?;
        }
        loop {
            let passed = usize::try_from(offset - self.start).unwrap_or(usize::MAX);
            let passed = passed.min(self.window.len());
            self.window.drain(..passed);
            self.start += passed as u64;
            let is_there = self.start == offset && self.window.len() >= buffer.len();
            if is_there || self.is_done {
                break;
            }
            self.unpack_more()?;
        }
        let length = self.window.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.window[..length]);
        Ok(length)
    }

    fn restart(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.decoder = GzDecoder::new(self.file.try_clone()?);
        self.window.clear();
        self.start = 0;
        self.is_done = false;
        Ok(())
    }

    fn unpack_more(&mut self) -> io::Result<()> {
        let length = self.window.len();
        self.window.resize(length + UNPACK, 0);
        let got = self.decoder.read(&mut self.window[length..]);
        self.window.truncate(length + *got.as_ref().unwrap_or(&0));
        match got {
            Ok(0) => self.is_done = true,
            Ok(_) => {}
            Err(e) => match e.kind() {
                io::ErrorKind::Interrupted => {}
                io::ErrorKind::InvalidData
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::UnexpectedEof => self.is_done = true,
                _ => return Err(e),
            },
        }
        Ok(())
    }
}
