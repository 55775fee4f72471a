//! The decision: a timetable, a log and the wall clock in; one start at most, and the new log, out.

use std::time::Duration;

use hostler_model::{CatchUp, Overlap, Timestamp};

use super::log::Stretch;
use super::timetable::before;
use super::{Fire, FireLog, Timetable};

/// What to do about a schedule now. The log is written first, then the rest is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The fire to start, named by its time.
    pub start: Option<Timestamp>,
    /// What runs is to be stopped, because the new start replaces it.
    pub stop_running: bool,
    /// Fires that will not be started, for people to know.
    pub skipped: Vec<Skipped>,
    /// When to ask again, on the wall clock. To be asked earlier as well: when a run has ended, when
    /// the clock was set, and after a sleep.
    pub wake: Option<Timestamp>,
    /// When the next fire is started; nothing is known of that without a clock.
    pub next: Option<Timestamp>,
    /// To be written, where it differs from the old one, before anything is done.
    pub log: FireLog,
}

/// Fires left out for one reason, from the first to the last of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub why: Skip,
    pub first: Timestamp,
    pub last: Timestamp,
    /// How many; counting stops at a thousand.
    pub count: u32,
}

/// Why a fire is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The last run still goes on.
    Overlap,
    /// Its time passed while nothing could be started, and it is not caught up with.
    Missed,
    /// More would wait to be caught up with than may (a hundred, where nothing else is said).
    TooMany,
}

/// 2020-01-01: a clock before it has not been set.
const SENSIBLE: Timestamp = Timestamp::from_micros(1_577_836_800_000_000);
/// Late by no more than this is on time.
const PROMPT: Duration = Duration::from_secs(60);
const RETRY_WITHOUT_CLOCK: Duration = Duration::from_secs(60);
/// A clock that goes back by more than the window was wrong; the window counts within these.
const BACK: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(86_400));
const COUNTED: u32 = 1000;

impl Timetable {
    pub fn decide(&self, log: &FireLog, now: Timestamp, is_running: bool) -> Decision {
        let mut decision = Decision {
            start: None,
            stop_running: false,
            skipped: Vec::new(),
            wake: None,
            next: None,
            log: log.clone(),
        };
        if now < SENSIBLE {
            decision.wake = Some(now.plus(RETRY_WITHOUT_CLOCK));
            return decision;
        }
        let is_back = log.decided.since(now) > self.window.clamp(BACK.0, BACK.1);
        if log.decided < SENSIBLE || is_back {
            decision.log.go_on_from(now);
        }
        if let Some(latest) = self.latest_due(&decision.log, now) {
            self.take_due(&mut decision, latest, now, is_running);
        }
        self.give_up_waiting(&mut decision, now);
        if decision.start.is_none() && !is_running {
            self.start_waiting(&mut decision);
        }
        decision.next =
            self.open_after(&decision.log, decision.log.decided).map(|time| self.fire(time).start);
        decision.wake = decision.next;
        decision
    }

    /// The latest fire that should have been started by now, of those that are still open.
    fn latest_due(&self, log: &FireLog, now: Timestamp) -> Option<Fire> {
        let earliest = self.fire(self.open_after(log, log.decided)?);
        if earliest.start > now {
            return None;
        }
        let latest = self.fire(self.last_open(log, log.decided, now)?);
        if latest.start <= now {
            return Some(latest);
        }
        let previous = self.last_open(log, log.decided, before(latest.time))?;
        Some(self.fire(previous))
    }

    fn take_due(&self, decision: &mut Decision, latest: Fire, now: Timestamp, is_running: bool) {
        let since = std::mem::replace(&mut decision.log.decided, latest.time);
        let late = now.since(latest.start);
        let is_first = self.open_after(&decision.log, since) == Some(latest.time);
        let has_line = decision.log.is_waiting() || !is_first;
        let is_own_turn = match self.catch_up {
            CatchUp::None => late <= PROMPT,
            CatchUp::One => late <= PROMPT.max(self.window),
            CatchUp::All => late <= PROMPT && !(self.is_in_turn() && has_line),
        };
        let missed_until = if is_own_turn { before(latest.time) } else { latest.time };
        if self.catch_up == CatchUp::All {
            self.line_up(decision, since, missed_until, now);
        } else {
            self.skip(decision, Skip::Missed, since, missed_until);
        }
        if is_own_turn {
            self.start_or_skip(decision, latest.time, is_running);
        }
    }

    fn start_or_skip(&self, decision: &mut Decision, time: Timestamp, is_running: bool) {
        if self.overlap == Overlap::Queue && (is_running || decision.log.is_waiting()) {
            return self.queue(decision, time, is_running);
        }
        if is_running && self.overlap == Overlap::Forbid {
            let why = Skip::Overlap;
            decision.skipped.push(Skipped { why, first: time, last: time, count: 1 });
        } else {
            decision.start = Some(time);
            decision.stop_running = is_running && self.overlap == Overlap::Replace;
        }
        self.note_handled(&mut decision.log, time);
    }

    /// It waits until what runs has ended, if it is the only one to wait; what has waited goes first.
    fn queue(&self, decision: &mut Decision, time: Timestamp, is_running: bool) {
        if !is_running {
            self.start_waiting(decision);
        }
        match decision.log.waiting {
            None => decision.log.waiting = Some(Stretch { first: time, last: time }),
            Some(_) => {
                let why = Skip::Overlap;
                decision.skipped.push(Skipped { why, first: time, last: time, count: 1 });
                self.note_handled(&mut decision.log, time);
            }
        }
    }

    /// Whether fires that cannot be started at once come one after the other.
    fn is_in_turn(&self) -> bool {
        matches!(self.overlap, Overlap::Forbid | Overlap::Queue)
    }

    /// Fires in `(after, until]` join what waits; the latest hundred of all stay.
    fn line_up(&self, decision: &mut Decision, after: Timestamp, until: Timestamp, now: Timestamp) {
        let Some(first) = self.open_after(&decision.log, after).filter(|time| *time <= until)
        else {
            return;
        };
        let first = decision.log.waiting.map_or(first, |waiting| waiting.first.min(first));
        decision.log.waiting = Some(Stretch { first, last: until });
        self.give_up_waiting(decision, now);
        let Some(line) = decision.log.waiting else { return };
        if self.count(&decision.log, before(line.first), line.last, self.limit + 1) <= self.limit {
            return;
        }
        let mut kept = line.last;
        for nth in 0..self.limit {
            let until = if nth == 0 { line.last } else { before(kept) };
            kept = self.last_open(&decision.log, before(line.first), until).unwrap_or(kept);
        }
        self.skip(decision, Skip::TooMany, before(line.first), before(kept));
        decision.log.waiting = Some(Stretch { first: kept, ..line });
    }

    /// What has waited for longer than the window is skipped.
    fn give_up_waiting(&self, decision: &mut Decision, now: Timestamp) {
        let Some(line) = decision.log.waiting else { return };
        let edge = now.minus(self.window);
        if edge <= line.first {
            return;
        }
        let first_kept = self
            .last_time(before(line.first), edge)
            .filter(|time| self.fire(*time).start >= edge)
            .unwrap_or(edge);
        self.skip(decision, Skip::Missed, before(line.first), before(first_kept).min(line.last));
        decision.log.waiting = Some(Stretch { first: first_kept, ..line })
            .filter(|rest| rest.first <= rest.last)
            .and_then(|rest| self.open_in(&decision.log, rest));
    }

    fn start_waiting(&self, decision: &mut Decision) {
        let Some(line) =
            decision.log.waiting.and_then(|waiting| self.open_in(&decision.log, waiting))
        else {
            decision.log.waiting = None;
            return;
        };
        decision.start = Some(line.first);
        self.note_handled(&mut decision.log, line.first);
        decision.log.waiting = self.open_in(&decision.log, line);
    }

    fn skip(&self, decision: &mut Decision, why: Skip, after: Timestamp, until: Timestamp) {
        let log = &decision.log;
        let Some(first) = self.open_after(log, after).filter(|time| *time <= until) else { return };
        let last = self.last_open(log, after, until).unwrap_or(first);
        let count = self.count(log, after, until, COUNTED);
        decision.skipped.push(Skipped { why, first, last, count });
    }

    fn count(&self, log: &FireLog, after: Timestamp, until: Timestamp, most: u32) -> u32 {
        let (mut count, mut after) = (0, after);
        while count < most {
            match self.open_after(log, after).filter(|time| *time <= until) {
                Some(time) => (count, after) = (count + 1, time),
                None => break,
            }
        }
        count
    }
}
