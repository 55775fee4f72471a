//! What the tests of this module share: output made by a real writer, and segments made by hand where
//! times matter.

use std::io::Write;
use std::path::Path;

use hostler_model::Timestamp;
use rustix::pipe::PipeFlags;

use crate::output::{
    FrameHeader, FrameKind, Item, Limits, Reader, SegmentHeader, Start, Stream, Streams, Writer,
    segment_name,
};
use crate::rundir::{self, RunDir};

/// A run's directory with a writer on it.
pub struct Shelf {
    dir: tempfile::TempDir,
    pub run: RunDir,
    pub writer: Writer,
}

impl Shelf {
    pub fn new(limits: Limits) -> Shelf {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::open_path(dir.path()).unwrap();
        Shelf { dir, run, writer: Writer::new(limits) }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// One frame on stdout.
    pub fn say(&mut self, text: &str) {
        self.frame(Stream::Stdout, text.as_bytes());
    }

    pub fn frame(&mut self, stream: Stream, bytes: &[u8]) {
        let (ours, theirs) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC).unwrap();
        assert!(bytes.len() <= 65_536);
        std::fs::File::from(theirs).write_all(bytes).unwrap();
        assert_eq!(self.writer.pump(&self.run, stream, ours).unwrap(), bytes.len());
    }
}

pub fn end(dir: &Path, exit: &str) {
    std::fs::write(dir.join(rundir::EXIT), exit).unwrap();
}

pub const EXIT_ONE: &str = r#"{"reason":"exited","code":1,"time":"2026-01-01T00:00:00Z"}"#;

pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(seconds * 1_000_000)
}

/// Writes a segment whose frames have the given times, in seconds.
pub fn segment(dir: &Path, number: u32, base: u64, begins: bool, frames: &[(Stream, i64, &str)]) {
    let header = SegmentHeader { base, begins_line: [begins; 2] };
    let mut content = header.encode().to_vec();
    for (stream, seconds, text) in frames {
        let header = FrameHeader {
            kind: FrameKind::Output(*stream),
            length: text.len(),
            time: at(*seconds),
        };
        content.extend(header.encode());
        content.extend(text.as_bytes());
    }
    let path = dir.join(segment_name(number));
    std::fs::write(&path, content).unwrap();
    let last = frames.last().map_or(0, |(_, seconds, _)| *seconds);
    set_modified(&path, last);
}

pub fn set_modified(path: &Path, seconds: i64) {
    let since = std::time::Duration::from_secs(u64::try_from(seconds).unwrap());
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + since).unwrap();
}

pub fn stdout_text(dir: &Path) -> String {
    let streams = Streams::Only(Stream::Stdout);
    let mut reader = Reader::open(dir, Start::Beginning, streams).unwrap();
    let mut text = Vec::new();
    loop {
        let batch = reader.read(1 << 20).unwrap();
        if batch.items.is_empty() {
            return String::from_utf8(text).unwrap();
        }
        for item in batch.items {
            match item {
                Item::Output(frame) => text.extend(frame.bytes),
                Item::Gap { bytes } => panic!("a gap of {bytes:?}"),
            }
        }
    }
}
