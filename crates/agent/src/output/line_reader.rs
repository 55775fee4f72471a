//! Reading lines that match a query, forwards, from anywhere.
//!
//! A segment that lies outside the wanted time is not read: it begins with its first frame's time and
//! ends with the time of the file, and within it times only grow (see `writer`). The lines that have
//! begun before a segment that *is* read are looked up, so a line is always judged whole, by the time
//! at which it began.
//!
//! Lines come in the order in which they ended, each with a [`LineCursor`] from which another reader
//! goes on behind it, without losing the other stream's line that had begun by then. One call does a
//! bounded amount of work whether anything matches or not; calls block on the file system only.

use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use super::line::{Assembler, Line, LineRef, Piece};
use super::segment::{self, Segment};
use super::{Item, Place, Position, Query, Reader, backwards};
use crate::rundir;

/// Output that is gone through in one call, about.
const WORK_MAX: usize = 8 << 20;
const CHUNK: usize = 256 * 1024;
/// The time of a file is coarser than that of a frame.
const TIME_SLACK: Duration = Duration::from_secs(1);

/// A place between two lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineCursor {
    /// Where the oldest line begins that had not ended there.
    pub(super) resume: Place,
    /// Lines that end here or before have been seen.
    pub(super) done: Place,
}

impl LineCursor {
    pub(super) fn at(place: Place) -> LineCursor {
        LineCursor { resume: place, done: place }
    }
}

impl std::fmt::Display for LineCursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = |f: &mut std::fmt::Formatter<'_>, place: Place| {
            let Position { segment, offset } = place.position;
            write!(f, "{segment}.{offset}.{}", place.skip)
        };
        place(f, self.resume)?;
        if self.done != self.resume {
            f.write_str("-")?;
            place(f, self.done)?;
        }
        Ok(())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one of this node's; begin without one")]
pub struct BadCursor;

impl FromStr for LineCursor {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<LineCursor, BadCursor> {
        let place = |text: &str| {
            let numbers: Vec<u64> =
                text.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| BadCursor)?;
            let &[segment, offset, skip] = numbers.as_slice() else {
                return Err(BadCursor);
            };
            let segment = u32::try_from(segment).map_err(|_| BadCursor)?;
            Ok(Place { position: Position { segment, offset }, skip })
        };
        match text.split_once('-') {
            Some((resume, done)) => Ok(LineCursor { resume: place(resume)?, done: place(done)? }),
            None => Ok(LineCursor::at(place(text)?)),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineItem {
    Line(Line),
    /// Output is missing here; how many bytes (of both streams), where that is known.
    Gap {
        bytes: Option<u64>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEntry {
    pub item: LineItem,
    /// Behind it.
    pub cursor: LineCursor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Read on.
    More,
    /// Nothing more for now: the run goes on.
    Idle,
    /// The run is over and this is all.
    End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineBatch {
    pub entries: Vec<LineEntry>,
    pub progress: Progress,
}

pub struct LineReader {
    dir: PathBuf,
    query: Query,
    reader: Reader,
    assembler: Assembler,
    /// Begin within this frame, not before it.
    resume: Place,
    done: Place,
    /// Segments were passed over: lines that go on from there have to be looked up.
    has_jumped: bool,
}

impl LineReader {
    /// Opens the output of a run at its beginning, or where the query's tail begins.
    pub fn open(dir: &Path, query: Query) -> io::Result<LineReader> {
        let cursor = match query.tail {
            Some(lines) => backwards::tail(dir, &query, lines)?.cursor,
            None => None,
        };
        LineReader::open_at(dir, query, cursor.unwrap_or_default())
    }

    /// Goes on behind what somebody has seen; the query's tail does not matter.
    pub fn open_at(dir: &Path, query: Query, cursor: LineCursor) -> io::Result<LineReader> {
        let reader = Reader::segmentwise(dir, cursor.resume.position, query.streams)?;
        Ok(LineReader {
            dir: dir.to_owned(),
            query,
            reader,
            assembler: Assembler::default(),
            resume: cursor.resume,
            done: cursor.done,
            has_jumped: false,
        })
    }

    /// Up to where frames have been read.
    pub fn position(&self) -> Position {
        self.reader.position()
    }

    /// Behind everything that has been returned.
    pub fn cursor(&self) -> LineCursor {
        let position = self.position();
        let resume = self.assembler.earliest().unwrap_or(Place::at(position));
        LineCursor { resume, done: Place::just_before(position).max(self.done) }
    }

    /// The next lines, of about `limit` bytes. There may be none although there is more.
    pub fn read(&mut self, limit: usize) -> io::Result<LineBatch> {
        let mut found = Found::new(self.done);
        let mut work = 0;
        while found.bytes < limit && work < WORK_MAX {
            self.pass_over()?;
            let before = self.reader.position();
            let batch = self.reader.read(CHUNK)?;
            work += CHUNK;
            for index in 0..batch.items.len() {
                self.take(&batch.items[index..], batch.position, &mut found);
            }
            if batch.is_end {
                found.entries.extend(self.finish());
                return Ok(LineBatch { entries: found.entries, progress: Progress::End });
            }
            if batch.items.is_empty() && batch.position == before {
                return Ok(LineBatch { entries: found.entries, progress: Progress::Idle });
            }
        }
        Ok(LineBatch { entries: found.entries, progress: Progress::More })
    }

    /// The lines that have begun, as far as they go; for when nobody will wait for the rest.
    pub fn finish(&mut self) -> Vec<LineEntry> {
        let mut found = Found::new(self.done);
        let at = self.reader.position();
        self.assembler.flush(at, &mut |line| found.line(&line, &self.query));
        found.entries
    }

    /// Takes the first of the items, of a batch that ends at `end`.
    fn take(&mut self, items: &[Item], end: Position, found: &mut Found) {
        let query = &self.query;
        let mut each = |line: LineRef<'_>| found.line(&line, query);
        match &items[0] {
            Item::Gap { bytes } => {
                let next = items[1..].iter().find_map(|item| match item {
                    Item::Output(frame) => Some(frame.position),
                    Item::Gap { .. } => None,
                });
                let next = next.unwrap_or(end);
                self.assembler.gap(next, &mut each);
                let cursor = LineCursor::at(Place::at(next));
                found.entries.push(LineEntry { item: LineItem::Gap { bytes: *bytes }, cursor });
            }
            Item::Output(frame) => {
                let is_first = frame.position == self.resume.position;
                let piece = Piece {
                    stream: frame.stream,
                    time: frame.time,
                    position: frame.position,
                    bytes: &frame.bytes,
                    skip: if is_first { self.resume.skip } else { 0 },
                };
                self.assembler.push(&piece, &mut each);
            }
        }
    }

    /// At the beginning of a segment: goes past those that have nothing of the wanted time.
    fn pass_over(&mut self) -> io::Result<()> {
        if !self.query.has_range() || self.reader.position().offset != 0 {
            return Ok(());
        }
        let window = Window::new(&self.dir, &self.query)?;
        loop {
            let wanted = self.reader.position().segment;
            let Some(number) = window.segments().iter().copied().find(|n| *n >= wanted) else {
                return Ok(());
            };
            let has_begun = self.assembler.has_begun(|time| self.query.is_in_range(time));
            if !has_begun && !window.may_contain(number)? {
                self.reader.jump_to(number + 1);
                self.assembler = Assembler::default();
                self.has_jumped = true;
                continue;
            }
            if wanted == 0 && window.begins_before(number)? {
                self.reader.jump_to(number);
            }
            if std::mem::take(&mut self.has_jumped) {
                let pending = backwards::pending_before(&self.dir, number, self.query.streams)?;
                self.assembler = Assembler::primed(pending);
            }
            return Ok(());
        }
    }
}

/// What a call has found so far.
struct Found {
    entries: Vec<LineEntry>,
    bytes: usize,
    done: Place,
}

impl Found {
    fn new(done: Place) -> Found {
        Found { entries: Vec::new(), bytes: 0, done }
    }

    fn line(&mut self, line: &LineRef<'_>, query: &Query) {
        if line.end <= self.done || !query.matches(line) {
            return;
        }
        self.bytes += line.bytes.len() + 1;
        let cursor = LineCursor { resume: line.resume, done: line.end };
        self.entries.push(LineEntry { item: LineItem::Line(line.to_line()), cursor });
    }
}

/// Which segments of a run may have something of the wanted time.
pub(super) struct Window<'a> {
    dir: &'a Path,
    query: &'a Query,
    segments: Vec<u32>,
    is_over: bool,
}

impl Window<'_> {
    pub fn new<'a>(dir: &'a Path, query: &'a Query) -> io::Result<Window<'a>> {
        let is_over = dir.join(rundir::EXIT).exists();
        Ok(Window { dir, query, segments: segment::list(dir)?, is_over })
    }

    pub fn segments(&self) -> &[u32] {
        &self.segments
    }

    pub fn is_over(&self) -> bool {
        self.is_over
    }

    pub fn may_contain(&self, number: u32) -> io::Result<bool> {
        let is_closed = self.is_over || self.segments.last() != Some(&number);
        if !self.query.has_range() || !is_closed {
            return Ok(true);
        }
        let Some(mut segment) = Segment::open(self.dir, number)? else {
            return Ok(true);
        };
        let Some((first, last)) = segment.times()? else {
            return Ok(true);
        };
        let last = first.max(last).plus(TIME_SLACK);
        Ok(self.query.since.is_none_or(|since| last >= since)
            && self.query.until.is_none_or(|until| first.minus(TIME_SLACK) <= until))
    }

    /// Whether a line of the segment before, which has something of the wanted time, ends in this one.
    pub fn goes_on(&self, number: u32) -> io::Result<bool> {
        let header = match Segment::open(self.dir, number)? {
            Some(mut segment) => segment.header()?,
            None => None,
        };
        let is_mid_line = header.is_some_and(|header| header.begins_line.contains(&false));
        Ok(is_mid_line && self.segments.contains(&(number - 1)) && self.may_contain(number - 1)?)
    }

    /// Whether what is missing before a segment is before the wanted time.
    fn begins_before(&self, number: u32) -> io::Result<bool> {
        let Some(since) = self.query.since else {
            return Ok(false);
        };
        let times = match Segment::open(self.dir, number)? {
            Some(mut segment) => segment.times()?,
            None => None,
        };
        Ok(times.is_some_and(|(first, _)| first <= since))
    }
}
