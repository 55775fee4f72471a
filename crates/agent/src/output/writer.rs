//! The writing side, inside a shim: one buffer, taken when output comes and let go when none has come
//! for a while; one file open.
//!
//! A segment is closed by beginning the next: when it is full, when it is a day old (so that age
//! limits take effect for programs that say little), and when the clock was set back (so that within
//! a segment times only grow, and a search can tell from outside whether it has anything). Room for
//! the next is made by deleting the oldest until what is on disk, packed or not, is within bounds.
//! Nothing is renamed, copied or truncated on the way: what was written stays where it is.
//!
//! Whatever the disk refuses is dropped, counted, and told in a gap frame once there is room again.

use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use hostler_model::{LogPolicy, Timestamp};
use rustix::fs::AtFlags;

use super::{
    Account, FIRST, FRAME_HEADER, FrameHeader, FrameKind, PAYLOAD_MAX, Position, SEGMENT_HEADER,
    SegmentHeader, Stream, packed_name, segment_name,
};
use crate::rundir::{self, RunDir};
use crate::secrets::{Forms, Scrub};
use crate::sys;

/// A segment that is older is not written to any more.
const SEGMENT_AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// A clock that goes back by less was not set back.
const CLOCK_SLACK: Duration = Duration::from_secs(1);
/// So much is written before an agent is told of it in between.
const UNTOLD_MIN: u64 = 16 << 10;
/// Segments of a run, however small they are.
const SEGMENTS_MAX: u32 = 1024;
const SEGMENT_BYTES_MIN: u64 = (SEGMENT_HEADER + 2 * (FRAME_HEADER + PAYLOAD_MAX)) as u64;
const SEGMENT_BYTES_MAX: u64 = 4 << 20;
/// Where the project has a share, a segment is not more than an eighth of it, or this.
const SEGMENT_BYTES_SMALL: u64 = 4 << 10;

/// How much output of a run is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// A segment is not made larger than this.
    pub segment_bytes: u64,
    /// So many full segments may be on disk; the oldest beyond that are deleted. There can be more
    /// of them when they are packed or were closed early.
    pub segments_max: u32,
}

impl Default for Limits {
    /// 64 MiB in 16 segments of 4 MiB.
    fn default() -> Limits {
        Limits { segment_bytes: SEGMENT_BYTES_MAX, segments_max: 16 }
    }
}

impl Limits {
    /// What a single run of a workload may keep: all that the workload may. Less than two segments
    /// of a size that is worth a file is not possible.
    pub fn of(policy: &LogPolicy) -> Limits {
        let bytes = policy.max_bytes.get();
        let segment_bytes = (bytes / 16).clamp(SEGMENT_BYTES_MIN, SEGMENT_BYTES_MAX);
        let segments_max = u32::try_from(bytes / segment_bytes).unwrap_or(u32::MAX);
        Limits { segment_bytes, segments_max }.sane()
    }

    /// A segment holds at least one frame, and there are at least two segments, so that there is
    /// always something to read.
    fn sane(self) -> Limits {
        Limits {
            segment_bytes: self.segment_bytes.max(SEGMENT_BYTES_MIN),
            segments_max: self.segments_max.max(2),
        }
    }

    fn total(self) -> u64 {
        self.segment_bytes.saturating_mul(self.segments_max.into())
    }
}

pub struct Writer {
    limits: Limits,
    age_max: Duration,
    buffer: Vec<u8>,
    /// What the project may keep here.
    account: Option<Account>,
    /// Takes secrets out of each stream, where there are any.
    scrubs: Option<Box<[Scrub; 2]>>,
    file: Option<File>,
    /// When the open segment was begun, on the boot clock.
    begun: Duration,
    /// Of the last frame.
    time: Timestamp,
    /// The oldest segment that may still be there.
    oldest: u32,
    /// Where the next frame goes.
    position: Position,
    /// Which streams are in the middle of a line.
    is_mid_line: [bool; 2],
    /// Output so far, with what was dropped.
    total: u64,
    /// Bytes dropped that no gap frame tells of yet.
    dropped: u64,
    /// Lines dropped of which no agent knows yet.
    lost: u64,
    /// Bytes that went to disk, with all that belongs to them, and those of which no agent knows yet.
    written: u64,
    untold: u64,
}

impl Writer {
    pub fn new(limits: Limits) -> Writer {
        Writer {
            limits: limits.sane(),
            age_max: SEGMENT_AGE_MAX,
            buffer: Vec::new(),
            account: None,
            scrubs: None,
            file: None,
            begun: Duration::ZERO,
            time: Timestamp::EPOCH,
            oldest: 1,
            position: Position::default(),
            is_mid_line: [false; 2],
            total: 0,
            dropped: 0,
            lost: 0,
            written: 0,
            untold: 0,
        }
    }

    /// What is written from now on has none of these secrets in it.
    #[must_use]
    pub fn scrubbing(self, forms: Option<Arc<Forms>>) -> Writer {
        let scrubs = forms.map(|forms| Box::new([Scrub::new(forms.clone()), Scrub::new(forms)]));
        Writer { scrubs, ..self }
    }

    /// Keeps only what there is room for in this account.
    #[must_use]
    pub fn counted(self, account: Option<Account>) -> Writer {
        Writer { account, ..self }
    }

    /// The end of what is written.
    pub fn position(&self) -> Position {
        self.position
    }

    /// Moves what `pipe` has ready into the output; 0 at its end. Never fails for reasons of the
    /// disk: such output is dropped and counted.
    pub fn pump(
        &mut self,
        run: &RunDir,
        stream: Stream,
        pipe: impl AsFd,
    ) -> rustix::io::Result<usize> {
        if self.buffer.capacity() == 0 {
            self.buffer.reserve_exact(FRAME_HEADER + PAYLOAD_MAX);
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(&[0; FRAME_HEADER]);
        let space = rustix::buffer::spare_capacity(&mut self.buffer);
        let length = rustix::io::read(pipe, space)?;
        if self.scrubs.is_some() {
            self.keep_scrubbed(run, stream, length == 0);
        } else if length > 0 {
            self.keep(run, stream, length);
        }
        Ok(length)
    }

    /// Writes what is left of the buffer's output without secrets; all of it, at the end of the stream.
    fn keep_scrubbed(&mut self, run: &RunDir, stream: Stream, is_end: bool) {
        let Some(scrubs) = &mut self.scrubs else { return };
        let (scrub, mut clean) = (&mut scrubs[stream.index()], Vec::new());
        scrub.feed(&self.buffer[FRAME_HEADER.min(self.buffer.len())..], &mut clean);
        if is_end {
            scrub.end(&mut clean);
        }
        for part in clean.chunks(PAYLOAD_MAX) {
            self.buffer.clear();
            self.buffer.extend_from_slice(&[0; FRAME_HEADER]);
            self.buffer.extend_from_slice(part);
            self.keep(run, stream, part.len());
        }
        self.buffer.clear();
    }

    /// Writes the buffer, which has room for the header in front of the output.
    fn keep(&mut self, run: &RunDir, stream: Stream, length: usize) {
        self.report_gap(run);
        let header = FrameHeader { kind: FrameKind::Output(stream), length, time: sys::now() };
        self.buffer[..FRAME_HEADER].copy_from_slice(&header.encode());
        let frame = std::mem::take(&mut self.buffer);
        let is_kept = self.dropped == 0 && self.append(run, header.time, &frame);
        self.is_mid_line[stream.index()] = frame.last() != Some(&b'\n');
        self.total += length as u64;
        if !is_kept {
            self.dropped += length as u64;
            let ends = frame[FRAME_HEADER..].iter().filter(|byte| **byte == b'\n').count();
            self.lost += ends as u64;
        }
        self.buffer = frame;
    }

    /// Counts what was written to disk for the run.
    pub fn count(&mut self, bytes: u64) {
        self.written += bytes;
        self.untold += bytes;
    }

    /// What to tell an agent of what was written: all of it, or only when that is a good deal, so that
    /// a program that prints without end is not told of all the time.
    pub fn untold(&self, is_all: bool) -> Option<u64> {
        let least = if is_all { 1 } else { (self.written / 64).max(UNTOLD_MIN) };
        Some(self.untold).filter(|untold| *untold >= least)
    }

    /// An agent knows of so much more.
    pub fn told(&mut self, bytes: u64) {
        self.untold = self.untold.saturating_sub(bytes);
    }

    /// Lines that were dropped and that no agent knows of.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// An agent knows of so many more.
    pub fn told_lost(&mut self, lines: u64) {
        self.lost = self.lost.saturating_sub(lines);
    }

    /// Lets go of the buffer until there is output again; false when there is none.
    pub fn rest(&mut self) -> bool {
        std::mem::take(&mut self.buffer).capacity() > 0
    }

    /// Writes what was held back, and says what was dropped at the very end, when that is possible by now.
    pub fn finish(&mut self, run: &RunDir) {
        self.buffer.clear();
        for stream in [Stream::Stdout, Stream::Stderr] {
            self.keep_scrubbed(run, stream, true);
        }
        self.report_gap(run);
    }

    fn report_gap(&mut self, run: &RunDir) {
        if self.dropped == 0 {
            return;
        }
        let header = FrameHeader { kind: FrameKind::Gap, length: 8, time: sys::now() };
        let mut frame = [0; FRAME_HEADER + 8];
        frame[..FRAME_HEADER].copy_from_slice(&header.encode());
        frame[FRAME_HEADER..].copy_from_slice(&self.dropped.to_le_bytes());
        if self.append(run, header.time, &frame) {
            self.dropped = 0;
        }
    }

    /// Writes one frame whole, or leaves the file as it was.
    fn append(&mut self, run: &RunDir, time: Timestamp, frame: &[u8]) -> bool {
        let size = frame.len() as u64;
        if self.needs_segment(time, size) && !self.begin_segment(run) {
            return false;
        }
        let has_room = self.take_room(run, size, self.position.segment)
            || self.give_up_segment(run, size) && self.take_room(run, size, self.position.segment);
        if !has_room {
            return false;
        }
        let is_written = match &self.file {
            None => false,
            Some(file) => {
                let written = rustix::io::retry_on_intr(|| rustix::io::write(file, frame));
                if written != Ok(frame.len()) {
                    let _ = rustix::fs::ftruncate(file, self.position.offset);
                }
                written == Ok(frame.len())
            }
        };
        self.room_used(if is_written { 0 } else { size });
        if is_written {
            self.position.offset += size;
            self.time = time;
            self.count(size);
        }
        is_written
    }

    /// Takes room for so much in the project's account, which is held then; as long as there is none, the
    /// oldest segments of the run before this one make way.
    fn take_room(&mut self, run: &RunDir, size: u64, before: u32) -> bool {
        loop {
            let Some(account) = &mut self.account else { return true };
            if account.take(size) {
                return true;
            }
            if account.share().is_some_and(|share| size > share) || !self.drop_oldest(run, before) {
                return false;
            }
        }
    }

    /// Lets others have the account.
    fn room_used(&mut self, unused: u64) {
        if let Some(account) = &mut self.account {
            account.done(unused);
        }
    }

    /// Removes the oldest segment before this one; false when there is none.
    fn drop_oldest(&mut self, run: &RunDir, before: u32) -> bool {
        while self.oldest < before {
            let number = self.oldest;
            self.oldest += 1;
            if size_on_disk(run, number) > 0 {
                self.remove(run, number);
                return true;
            }
        }
        false
    }

    /// The last that can make way is the segment that is written to. True when there is another.
    fn give_up_segment(&mut self, run: &RunDir, size: u64) -> bool {
        let Some(share) = self.account.as_ref().and_then(Account::share) else { return false };
        let has_frames = self.position.offset > SEGMENT_HEADER as u64;
        if !has_frames || size + SEGMENT_HEADER as u64 > share {
            return false;
        }
        self.file = None;
        let number = self.position.segment;
        self.remove(run, number);
        self.oldest = number + 1;
        self.begin_segment(run)
    }

    fn remove(&mut self, run: &RunDir, number: u32) {
        let remove = || {
            run.remove(&segment_name(number));
            run.remove(&packed_name(number));
        };
        match &mut self.account {
            None => remove(),
            Some(account) => account.remove(|| {
                let bytes = size_on_disk(run, number);
                remove();
                bytes
            }),
        }
    }

    /// How large a segment may become.
    fn segment_bytes(&self) -> u64 {
        let share = self.account.as_ref().and_then(Account::share);
        let part = share.map_or(u64::MAX, |share| (share / 8).max(SEGMENT_BYTES_SMALL));
        self.limits.segment_bytes.min(part)
    }

    fn needs_segment(&self, time: Timestamp, size: u64) -> bool {
        let is_full = self.position.offset + size > self.segment_bytes();
        let has_frames = self.position.offset > SEGMENT_HEADER as u64;
        let is_old = || sys::boottime().saturating_sub(self.begun) > self.age_max;
        let is_set_back = time.plus(CLOCK_SLACK) < self.time;
        self.file.is_none() || has_frames && (is_full || is_set_back || is_old())
    }

    fn begin_segment(&mut self, run: &RunDir) -> bool {
        let number = self.position.segment + 1;
        self.file = None;
        self.make_room(run, number);
        let name = segment_name(number);
        if !self.take_room(run, SEGMENT_HEADER as u64, number) {
            return false;
        }
        let is_begun = self.make_segment(run, number, &name);
        self.room_used(if is_begun { 0 } else { SEGMENT_HEADER as u64 });
        is_begun
    }

    /// Makes the file, for which there is room.
    fn make_segment(&mut self, run: &RunDir, number: u32, name: &str) -> bool {
        if name == FIRST {
            // One may be left from an earlier user of the directory.
            let _ = rustix::fs::renameat(run, rundir::temporary(FIRST), run, FIRST);
        }
        let Ok(file) = rundir::open_empty(run, name) else {
            return false;
        };
        let header = SegmentHeader {
            base: self.total - self.dropped,
            begins_line: self.is_mid_line.map(|is_mid_line| !is_mid_line),
        };
        if rustix::io::write(&file, &header.encode()) != Ok(SEGMENT_HEADER) {
            run.remove(name);
            return false;
        }
        self.count(SEGMENT_HEADER as u64);
        self.file = Some(file);
        self.begun = sys::boottime();
        self.position = Position { segment: number, offset: SEGMENT_HEADER as u64 };
        true
    }

    /// Deletes the oldest segments until another one fits.
    fn make_room(&mut self, run: &RunDir, number: u32) {
        let mut kept: u64 = (self.oldest..number).map(|n| size_on_disk(run, n)).sum();
        let allowed = self.limits.total().saturating_sub(self.limits.segment_bytes);
        while self.oldest < number {
            let size = size_on_disk(run, self.oldest);
            if size > 0 && kept <= allowed && number - self.oldest < SEGMENTS_MAX {
                return;
            }
            self.remove(run, self.oldest);
            kept = kept.saturating_sub(size);
            self.oldest += 1;
        }
    }
}

/// Of a segment in whichever form; 0 when it is not there.
fn size_on_disk(run: &RunDir, number: u32) -> u64 {
    [segment_name(number), packed_name(number)]
        .iter()
        .find_map(|name| rustix::fs::statat(run, name.as_str(), AtFlags::empty()).ok())
        .and_then(|stat| u64::try_from(stat.st_size).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::tests::shelf::{Shelf, stdout_text};
    use crate::output::{Item, Reader, Start, Streams, compress_closed, segment};
    use hostler_model::{Bytes, Span};

    #[test]
    fn an_old_segment_is_closed_when_next_written() {
        let mut shelf = Shelf::new(Limits::default());
        shelf.say("one\n");
        shelf.say("two\n");
        assert_eq!(segment::list(shelf.path()).unwrap(), [1]);
        shelf.writer.age_max = Duration::ZERO;
        shelf.say("three\n");
        shelf.say("four\n");
        assert_eq!(segment::list(shelf.path()).unwrap(), [1, 2, 3]);
        assert_eq!(stdout_text(shelf.path()), "one\ntwo\nthree\nfour\n");
    }

    #[test]
    fn what_is_written_is_told_in_steps_that_grow() {
        let mut shelf = Shelf::new(Limits::default());
        shelf.say("little\n");
        assert_eq!(shelf.writer.untold(false), None);
        let little = shelf.writer.untold(true).unwrap();
        assert_eq!(little, std::fs::metadata(shelf.path().join(FIRST)).unwrap().len());
        shelf.writer.told(little);
        assert_eq!(shelf.writer.untold(true), None);
        let (mut steps, mut told) = (0, little);
        for _ in 0..400 {
            shelf.say(&"x".repeat(10_000));
            if let Some(bytes) = shelf.writer.untold(false) {
                shelf.writer.told(bytes);
                (steps, told) = (steps + 1, told + bytes);
            }
        }
        assert!((50..=150).contains(&steps), "{steps}");
        let all = shelf.writer.written;
        assert_eq!(told + shelf.writer.untold(true).unwrap_or(0), all);
        assert!(all > 4_000_000 && all < 4_100_000, "{all}");
    }

    #[test]
    fn secrets_are_not_written_whatever_the_pieces() {
        let mut shelf = Shelf::new(Limits::default());
        let forms = Forms::of([("db", &b"hunter2!"[..])]).map(Arc::new);
        shelf.writer = Writer::new(Limits::default()).scrubbing(forms);
        for part in ["a hun", "ter", "2! b\nhunter", "2? hunt"] {
            shelf.say(part);
        }
        shelf.frame(Stream::Stderr, b"hunter2!");
        shelf.writer.finish(&shelf.run);
        let (mut reader, mut text) =
            (Reader::open(shelf.path(), Start::Beginning, Streams::Both).unwrap(), Vec::new());
        for item in reader.read(1 << 16).unwrap().items {
            if let Item::Output(frame) = item {
                text.extend_from_slice(&frame.bytes);
            }
        }
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "a [secret:db] b\nhunter2? [secret:db]hunt");
        assert_eq!(stdout_text(shelf.path()), "a [secret:db] b\nhunter2? hunt");
        for entry in std::fs::read_dir(shelf.path()).unwrap() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap();
            assert!(!bytes.windows(8).any(|part| part == b"hunter2!"));
        }
    }

    #[test]
    fn a_clock_that_is_set_back_begins_a_segment() {
        let mut shelf = Shelf::new(Limits::default());
        shelf.say("one\n");
        shelf.writer.time = shelf.writer.time.plus(Duration::from_secs(60));
        shelf.say("two\n");
        shelf.say("three\n");
        assert_eq!(segment::list(shelf.path()).unwrap(), [1, 2]);
        assert_eq!(stdout_text(shelf.path()), "one\ntwo\nthree\n");
    }

    #[test]
    fn small_segments_are_kept_beyond_the_number_of_full_ones() {
        let mut shelf = Shelf::new(Limits { segment_bytes: 0, segments_max: 2 });
        shelf.writer.age_max = Duration::ZERO;
        for i in 0..40 {
            shelf.say(&format!("{i}\n"));
        }
        assert_eq!(segment::list(shelf.path()).unwrap().len(), 40);
        for _ in 0..16 {
            shelf.say(&"x".repeat(60_000));
        }
        assert!(segment::list(shelf.path()).unwrap()[0] > 40);
        let disk: u64 = (1..100).map(|n| size_on_disk(&shelf.run, n)).sum();
        assert!(disk <= shelf.writer.limits.total(), "{disk}");
    }

    #[test]
    fn packed_segments_take_less_of_the_room_and_are_deleted_in_their_turn() {
        let mut shelf = Shelf::new(Limits { segment_bytes: 0, segments_max: 4 });
        let chunk = "all work and no play\n".repeat(3000);
        for _ in 0..24 {
            shelf.say(&chunk);
            compress_closed(shelf.path()).unwrap();
        }
        assert_eq!(segment::list(shelf.path()).unwrap()[0], 1);
        assert_eq!(stdout_text(shelf.path()), chunk.repeat(24));
        let noise: String =
            (0..6_000_u32).map(|i| format!("{:08x}\n", i.wrapping_mul(2_654_435_761))).collect();
        for _ in 0..100 {
            shelf.say(&noise);
            compress_closed(shelf.path()).unwrap();
        }
        let mut reader = Reader::open(shelf.path(), Start::Beginning, Streams::Both).unwrap();
        let items = reader.read(1 << 16).unwrap().items;
        assert!(matches!(items[0], Item::Gap { bytes: Some(n) } if n > 0), "{:?}", items[0]);
        assert!(!shelf.path().join("out.000001.gz").exists());
    }

    #[test]
    fn a_policy_becomes_limits() {
        let limits = |bytes| {
            Limits::of(&LogPolicy { max_bytes: Bytes::new(bytes), max_age: Span::from_secs(1) })
        };
        assert_eq!(Limits::of(&LogPolicy::default()), Limits::default());
        assert_eq!(limits(64 << 10), Limits { segment_bytes: SEGMENT_BYTES_MIN, segments_max: 2 });
        assert_eq!(limits(1 << 30), Limits { segment_bytes: 4 << 20, segments_max: 256 });
        for bytes in [1 << 18, 1 << 20, 50_000_000, 1 << 40] {
            assert!(limits(bytes).total() <= bytes.max(2 * SEGMENT_BYTES_MIN), "{bytes}");
        }
    }
}
