//! Looking back from somewhere in an output: how a line began that goes on there, and where the last
//! so many lines that match a query begin.
//!
//! Segments are looked at from the newest to the oldest, each from its beginning to its end, and no
//! further back than necessary. Nothing is kept but counts and the lines that are unfinished: a
//! segment with more matches than are still wanted is gone through a second time to find the one to
//! begin with.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use super::line::{Assembler, LineRef, Pending, Piece, Trace, wanted};
use super::line_reader::{LineCursor, Window};
use super::segment::{self, RawFrame, Segment};
use super::{Place, Position, Query, Stream, Streams};

/// The lines that have begun before a segment and are not finished there.
pub fn pending_before(
    dir: &Path,
    number: u32,
    streams: Streams,
) -> io::Result<[Option<Pending>; 2]> {
    let mut found = [None, None];
    let mut open: Vec<_> = wanted(streams).collect();
    let mut before = number;
    loop {
        let header = match Segment::open(dir, before)? {
            Some(mut segment) => segment.header()?,
            None => None,
        };
        match header {
            Some(header) => open.retain(|stream| !header.begins_line[stream.index()]),
            None => lose_starts(&mut found, &open),
        }
        let is_beginning = header.is_none_or(|header| header.base == 0);
        if open.is_empty() || is_beginning || before <= 1 {
            return Ok(found);
        }
        before -= 1;
        let mut assembler = Assembler::default();
        let walked = segment::walk(dir, before, |frame| {
            feed(&mut assembler, &frame, streams, &mut |_| {});
            ControlFlow::Continue(())
        })?;
        if walked.is_none() {
            lose_starts(&mut found, &open);
            return Ok(found);
        }
        open.retain(|stream| {
            let slot = &mut found[stream.index()];
            match assembler.trace(*stream) {
                Trace::BeginsHere(pending) => {
                    prepend(slot, pending);
                    false
                }
                Trace::GoesThrough(pending) => {
                    prepend(slot, pending);
                    true
                }
                Trace::EndsHere => false,
                Trace::Unknown => true,
            }
        });
    }
}

fn lose_starts(found: &mut [Option<Pending>; 2], open: &[Stream]) {
    for stream in open {
        found[stream.index()].iter_mut().for_each(Pending::lose_start);
    }
}

fn prepend(slot: &mut Option<Pending>, mut earlier: Pending) {
    if let Some(later) = slot.take() {
        earlier.join(&later);
    }
    *slot = Some(earlier);
}

fn feed(
    assembler: &mut Assembler,
    frame: &RawFrame<'_>,
    streams: Streams,
    each: &mut dyn FnMut(LineRef<'_>),
) {
    match frame.stream() {
        None => assembler.gap(frame.end(), each),
        Some(stream) if streams.contains(stream) => {
            let RawFrame { position, time, payload: bytes, .. } = *frame;
            assembler.push(&Piece { stream, time, position, bytes, skip: 0 }, each);
        }
        Some(_) => {}
    }
}

/// Where the last lines that match begin, and how many there are. The last none of a run that goes on
/// begin with the line that is unfinished now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    pub found: usize,
    /// Absent when it is the beginning of the output.
    pub cursor: Option<LineCursor>,
}

pub fn tail(dir: &Path, query: &Query, wanted: usize) -> io::Result<Tail> {
    let mut left = wanted;
    let window = Window::new(dir, query)?;
    let mut is_last = true;
    if wanted == 0 && window.is_over() {
        let behind = window.segments().last().map_or(0, |last| last + 1);
        let end = LineCursor::at(Place::at(Position { segment: behind, offset: 0 }));
        return Ok(Tail { found: 0, cursor: Some(end) });
    }
    for number in window.segments().iter().rev().copied() {
        if left > 0 && !window.may_contain(number)? && !window.goes_on(number)? {
            is_last = false;
            continue;
        }
        let mut matches = 0;
        let end = scan(dir, number, query, is_last, |is_match, _| {
            matches += usize::from(is_match);
            ControlFlow::Continue(())
        })?;
        is_last = false;
        if left == 0 {
            return Ok(Tail { found: wanted, cursor: Some(end) });
        }
        if matches < left {
            left -= matches;
            continue;
        }
        let mut to_pass = matches - left;
        let cursor = scan(dir, number, query, false, |is_match, _| {
            if is_match && to_pass == 0 {
                return ControlFlow::Break(());
            }
            to_pass -= usize::from(is_match);
            ControlFlow::Continue(())
        })?;
        return Ok(Tail { found: wanted, cursor: Some(cursor) });
    }
    Ok(Tail { found: wanted - left, cursor: None })
}

/// Goes through the lines that end in one segment (and those unfinished at its end, when asked to)
/// until `each` has enough. The cursor is before the line at which it stopped, or at the end.
fn scan(
    dir: &Path,
    number: u32,
    query: &Query,
    with_unfinished: bool,
    mut each: impl FnMut(bool, &LineRef<'_>) -> ControlFlow<()>,
) -> io::Result<LineCursor> {
    let mut assembler = Assembler::primed(pending_before(dir, number, query.streams)?);
    let beginning = Place::at(Position { segment: number, offset: 0 });
    let resume = assembler.earliest().unwrap_or(beginning);
    let mut cursor = LineCursor { resume, done: beginning };
    let mut flow = ControlFlow::Continue(());
    segment::walk(dir, number, |frame| {
        feed(&mut assembler, &frame, query.streams, &mut |line| {
            if flow.is_continue() {
                flow = each(query.matches(&line), &line);
                if flow.is_continue() {
                    cursor = LineCursor { resume: line.resume, done: line.end };
                }
            }
        });
        if flow.is_continue() && assembler.earliest().is_none() {
            let length = frame.payload.len() as u64;
            cursor = LineCursor::at(Place { position: frame.position, skip: length });
        }
        flow
    })?;
    if with_unfinished && flow.is_continue() {
        assembler.flush(Position { segment: number + 1, offset: 0 }, &mut |line| {
            let _ = each(query.matches(&line), &line);
        });
    }
    Ok(cursor)
}
