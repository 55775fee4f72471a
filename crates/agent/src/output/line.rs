//! Lines, put together from frames.
//!
//! A frame is what one read of a pipe gave, so a line may begin in one frame and end in another, in
//! another segment even, with frames of the other stream between. [`Assembler`] keeps the unfinished
//! line of each stream and hands over every line when it ends: lines come in the order in which they
//! ended, with the time at which they began.
//!
//! Memory is bounded: of a line longer than [`LINE_MAX`] the beginning is kept and the rest counted.
//! The bytes of a line are never altered.

use hostler_model::Timestamp;

use super::structured::{self, Fields};
use super::{Place, Position, Stream, Streams};

/// The most that is kept of a line.
pub const LINE_MAX: usize = 1 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub stream: Stream,
    /// When the frame in which it begins was read by the shim.
    pub time: Timestamp,
    /// Without the newline; the first [`LINE_MAX`] bytes of it.
    pub bytes: Vec<u8>,
    /// How long it really is.
    pub length: u64,
    /// False when its beginning may be missing, because it follows a gap.
    pub has_start: bool,
    /// False when no newline has come (yet): the program ended, or output is missing behind it.
    pub has_end: bool,
}

impl Line {
    /// Whether only its beginning is kept.
    pub fn is_cut(&self) -> bool {
        self.length > self.bytes.len() as u64
    }

    /// What to show behind a line that was cut.
    pub fn cut_words(&self) -> Option<String> {
        let missing = self.length - self.bytes.len() as u64;
        (missing > 0).then(|| format!("… ({missing} more bytes in this line)"))
    }

    pub fn is_json(&self) -> bool {
        self.fields().is_some()
    }

    /// What a structured line (a JSON object) says under the usual names; `None` for other lines.
    pub fn fields(&self) -> Option<Fields> {
        structured::fields(&self.bytes)
    }
}

/// A line where it lies.
pub(super) struct LineRef<'a> {
    pub stream: Stream,
    pub time: Timestamp,
    pub bytes: &'a [u8],
    pub length: u64,
    pub has_start: bool,
    pub has_end: bool,
    /// Behind its newline.
    pub end: Place,
    /// Where to begin reading to see everything that was unfinished when this line ended.
    pub resume: Place,
}

impl LineRef<'_> {
    pub fn to_line(&self) -> Line {
        Line {
            stream: self.stream,
            time: self.time,
            bytes: self.bytes.to_vec(),
            length: self.length,
            has_start: self.has_start,
            has_end: self.has_end,
        }
    }
}

/// A line that has begun.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub start: Place,
    end: Place,
    time: Timestamp,
    bytes: Vec<u8>,
    length: u64,
    has_start: bool,
}

impl Pending {
    fn grow(&mut self, piece: &[u8], end: Place) {
        let room = LINE_MAX - self.bytes.len();
        self.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        self.length += piece.len() as u64;
        self.end = end;
    }

    /// Puts what comes behind it in the output at its end.
    pub fn join(&mut self, later: &Pending) {
        let room = LINE_MAX - self.bytes.len();
        self.bytes.extend_from_slice(&later.bytes[..later.bytes.len().min(room)]);
        self.length += later.length;
        self.end = later.end;
    }
}

#[derive(Default)]
struct Slot {
    pending: Option<Pending>,
    /// The next line follows a gap.
    is_after_gap: bool,
    /// A line ended, or a gap made one end.
    has_break: bool,
}

#[derive(Default)]
pub(super) struct Assembler {
    slots: [Slot; 2],
}

/// A piece of one stream's output.
pub(super) struct Piece<'a> {
    pub stream: Stream,
    pub time: Timestamp,
    /// Of its frame.
    pub position: Position,
    pub bytes: &'a [u8],
    /// So many bytes of it are to be left out.
    pub skip: u64,
}

impl Assembler {
    /// With lines that have begun before.
    pub fn primed(pending: [Option<Pending>; 2]) -> Assembler {
        Assembler { slots: pending.map(|pending| Slot { pending, ..Slot::default() }) }
    }

    pub fn push(&mut self, piece: &Piece<'_>, each: &mut dyn FnMut(LineRef<'_>)) {
        let index = piece.stream.index();
        let mut from = usize::try_from(piece.skip).unwrap_or(usize::MAX).min(piece.bytes.len());
        while from < piece.bytes.len() {
            let rest = &piece.bytes[from..];
            let newline = rest.iter().position(|byte| *byte == b'\n');
            let text = &rest[..newline.unwrap_or(rest.len())];
            let next = from + newline.map_or(rest.len(), |length| length + 1);
            let start = Place { position: piece.position, skip: from as u64 };
            let end = Place { position: piece.position, skip: next as u64 };
            let other = self.slots[1 - index].pending.as_ref().map(|pending| pending.start);
            let slot = &mut self.slots[index];
            let has_start = !slot.is_after_gap;
            if newline.is_none() {
                let pending = slot.pending.get_or_insert_with(|| Pending {
                    start,
                    end,
                    time: piece.time,
                    bytes: Vec::new(),
                    length: 0,
                    has_start,
                });
                slot.is_after_gap = false;
                pending.grow(text, end);
                return;
            }
            let resume = other.map_or(end, |start| start.min(end));
            slot.has_break = true;
            slot.is_after_gap = false;
            match slot.pending.take() {
                Some(mut pending) => {
                    pending.grow(text, end);
                    each(pending.line(piece.stream, true, resume));
                }
                None => each(LineRef {
                    stream: piece.stream,
                    time: piece.time,
                    bytes: &text[..text.len().min(LINE_MAX)],
                    length: text.len() as u64,
                    has_start,
                    has_end: true,
                    end,
                    resume,
                }),
            }
            from = next;
        }
    }

    /// Output is missing before `at`: lines that have begun stay unfinished.
    pub fn gap(&mut self, at: Position, each: &mut dyn FnMut(LineRef<'_>)) {
        self.flush(at, each);
        for slot in &mut self.slots {
            slot.is_after_gap = true;
            slot.has_break = true;
        }
    }

    /// Hands over the lines that have begun and not ended before `at`. They end there, one after the
    /// other, behind every line that really ended.
    pub fn flush(&mut self, at: Position, each: &mut dyn FnMut(LineRef<'_>)) {
        let mut unfinished: Vec<_> = [Stream::Stdout, Stream::Stderr]
            .into_iter()
            .filter_map(|stream| Some((stream, self.slots[stream.index()].pending.take()?)))
            .collect();
        unfinished.sort_by_key(|(_, pending)| pending.end);
        let starts: Vec<_> = unfinished.iter().map(|(_, pending)| pending.start).collect();
        let mut end = Place::just_before(at);
        for (i, (stream, pending)) in unfinished.iter().enumerate() {
            let later = starts[i + 1..].iter().copied().min();
            end.skip += 1;
            let line = pending.line(*stream, false, later.unwrap_or(Place::at(at)));
            each(LineRef { end, ..line });
        }
    }

    /// Where the oldest unfinished line begins.
    pub fn earliest(&self) -> Option<Place> {
        self.slots.iter().filter_map(|slot| Some(slot.pending.as_ref()?.start)).min()
    }

    /// Whether a line has begun at such a time and not ended.
    pub fn has_begun(&self, is_wanted: impl Fn(Timestamp) -> bool) -> bool {
        self.slots.iter().flat_map(|slot| &slot.pending).any(|pending| is_wanted(pending.time))
    }

    /// What is known at the end of a segment about a line of `stream` that goes on behind it.
    pub fn trace(&mut self, stream: Stream) -> Trace {
        let slot = &mut self.slots[stream.index()];
        match (slot.pending.take(), slot.has_break) {
            (Some(pending), true) => Trace::BeginsHere(pending),
            (Some(pending), false) => Trace::GoesThrough(pending),
            (None, true) => Trace::EndsHere,
            (None, false) => Trace::Unknown,
        }
    }
}

pub(super) enum Trace {
    BeginsHere(Pending),
    /// All of the stream's output is one piece of it.
    GoesThrough(Pending),
    /// There is none: the last line ended.
    EndsHere,
    /// The stream has no output here.
    Unknown,
}

impl Pending {
    fn line(&self, stream: Stream, has_end: bool, resume: Place) -> LineRef<'_> {
        LineRef {
            stream,
            time: self.time,
            bytes: &self.bytes,
            length: self.length,
            has_start: self.has_start,
            has_end,
            end: self.end,
            resume,
        }
    }

    pub fn lose_start(&mut self) {
        self.has_start = false;
    }
}

/// The streams that are wanted, as pieces know them.
pub(super) fn wanted(streams: Streams) -> impl Iterator<Item = Stream> {
    [Stream::Stdout, Stream::Stderr].into_iter().filter(move |stream| streams.contains(*stream))
}
