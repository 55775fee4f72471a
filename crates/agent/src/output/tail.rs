//! Finding where the last bytes or lines of an output begin, newest segment first.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::reader::Streams;
use super::{Place, Position, segment};

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
    for number in segment::list(dir)?.into_iter().rev() {
        let Some(frames) = frames(dir, number, streams)? else {
            continue;
        };
        oldest.position = Position { segment: number, offset: 0 };
        for (position, payload) in frames.into_iter().rev() {
            if let Some(skip) = each(&payload) {
                return Ok(Place { position, skip });
            }
        }
    }
    Ok(oldest)
}

type Frames = Vec<(Position, Vec<u8>)>;

/// The frames of one segment; `None` when it is gone, or only being made.
fn frames(dir: &Path, number: u32, streams: Streams) -> io::Result<Option<Frames>> {
    let mut found = Vec::new();
    let header = segment::walk(dir, number, |frame| {
        if frame.stream().is_some_and(|stream| streams.contains(stream)) {
            found.push((frame.position, frame.payload.to_vec()));
        }
        ControlFlow::Continue(())
    })?;
    Ok(header.map(|_| found))
}
