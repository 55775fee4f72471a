//! Finding where the last bytes or lines of an output begin, newest segment first.

use std::fs::File;
use std::io;
use std::path::Path;

use super::reader::{Streams, read_some_at, segments};
use super::{FRAME_HEADER, FrameHeader, FrameKind, Position, SEGMENT_HEADER, segment_name};

/// A position, and how much of the frame there to leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub position: Position,
    pub skip: u64,
}

pub fn bytes(dir: &Path, streams: Streams, wanted: u64) -> io::Result<Place> {
    let mut left = wanted;
    search(dir, streams, |payload| {
        let length = payload.len() as u64;
        if length >= left {
            return Some(length - left);
        }
        left -= length;
        None
    })
}

pub fn lines(dir: &Path, streams: Streams, wanted: u64) -> io::Result<Place> {
    let mut left = wanted;
    let mut is_last_byte = true;
    search(dir, streams, |payload| {
        if left == 0 && is_last_byte {
            return Some(payload.len() as u64);
        }
        for (i, byte) in payload.iter().enumerate().rev() {
            // The newline at the very end closes the last line, it does not begin another.
            if *byte == b'\n' && !is_last_byte {
                left -= 1;
                if left == 0 {
                    return Some(i as u64 + 1);
                }
            }
            is_last_byte = false;
        }
        None
    })
}

/// Walks the frames of the chosen streams from the last to the first; `each` says where in the
/// payload to begin, once it knows. Without an answer, the beginning it is.
fn search(
    dir: &Path,
    streams: Streams,
    mut each: impl FnMut(&[u8]) -> Option<u64>,
) -> io::Result<Place> {
    let mut oldest = Place::default();
    for number in segments(dir)?.into_iter().rev() {
        let content = match File::open(dir.join(segment_name(number))) {
            Ok(file) => read_whole(&file)?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => break,
            Err(e) => return Err(e),
        };
        oldest.position = Position { segment: number, offset: 0 };
        for (offset, payload) in frames(&content, streams).into_iter().rev() {
            if let Some(skip) = each(payload) {
                return Ok(Place { position: Position { segment: number, offset }, skip });
            }
        }
    }
    Ok(oldest)
}

fn read_whole(file: &File) -> io::Result<Vec<u8>> {
    let size = usize::try_from(file.metadata()?.len()).unwrap_or(0);
    let mut content = vec![0; size];
    let length = read_some_at(file, &mut content, 0)?;
    content.truncate(length);
    Ok(content)
}

fn frames(content: &[u8], streams: Streams) -> Vec<(u64, &[u8])> {
    let mut found = Vec::new();
    let mut at = SEGMENT_HEADER;
    while let Some(header) = content.get(at..).and_then(FrameHeader::decode)
        && let Some(payload) = content.get(at + FRAME_HEADER..at + FRAME_HEADER + header.length)
    {
        if matches!(header.kind, FrameKind::Output(stream) if streams.contains(stream)) {
            found.push((at as u64, payload));
        }
        at += FRAME_HEADER + header.length;
    }
    found
}
