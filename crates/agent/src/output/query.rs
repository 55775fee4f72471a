//! What somebody wants to see of an output.

use hostler_model::Timestamp;
use regex::bytes::Regex;

use super::line::LineRef;
use super::{Level, Streams, structured};

/// Everything that is said must hold; the default asks for everything.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Lines that began at this time or later.
    pub since: Option<Timestamp>,
    /// Lines that began before this time, or at it.
    pub until: Option<Timestamp>,
    /// Lines in which this is found; a line is seen whole, without its newline.
    pub grep: Option<Regex>,
    /// Lines in which it is not found instead.
    pub invert: bool,
    pub streams: Streams,
    /// Structured lines of this level or graver; lines that name no level are not among them.
    pub level: Option<Level>,
    /// The last so many of the lines for which all of this holds.
    pub tail: Option<usize>,
}

impl Query {
    /// Whether only some lines are wanted, by what they say.
    pub(super) fn has_filter(&self) -> bool {
        self.grep.is_some() || self.level.is_some()
    }

    pub(super) fn has_range(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }

    pub(super) fn is_in_range(&self, time: Timestamp) -> bool {
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time <= until)
    }

    pub(super) fn matches(&self, line: &LineRef<'_>) -> bool {
        self.streams.contains(line.stream)
            && self.is_in_range(line.time)
            && self.grep.as_ref().is_none_or(|grep| grep.is_match(line.bytes) != self.invert)
            && self.level.is_none_or(|wanted| {
                structured::fields(line.bytes)
                    .and_then(|fields| fields.level)
                    .is_some_and(|level| level >= wanted)
            })
    }
}
