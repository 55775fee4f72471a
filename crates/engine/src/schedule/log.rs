//! What became of a schedule's fires, small enough to be written before every start.
//!
//! Invariants: `handled` is sorted, its stretches do not touch, there are at most [`STRETCHES`], and
//! what is in one stays in one. When there would be too many, the two with the least between them
//! become one: that may cost a fire that never came, and never starts one twice.

use hostler_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::Timetable;
use super::timetable::before;

/// Remembers what became of a schedule's fires. A schedule whose cron expression or time zone is
/// changed gets a new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FireLog {
    /// Fires up to here are behind us, started or not.
    pub(super) decided: Timestamp,
    /// Fires that were started, or left out because the last run still went on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) handled: Vec<Stretch>,
    /// Missed fires that are started one after the other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) waiting: Option<Stretch>,
}

/// All fires from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stretch {
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
}

pub(super) const STRETCHES: usize = 16;

impl FireLog {
    /// For a schedule that begins now: nothing earlier is due.
    pub fn starting(now: Timestamp) -> FireLog {
        FireLog { decided: now, handled: Vec::new(), waiting: None }
    }

    /// Whether missed fires wait for the running one to end.
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// The schedule goes on from now, because the time it had reached means nothing.
    pub(super) fn go_on_from(&mut self, now: Timestamp) {
        self.decided = now;
        self.waiting = self
            .waiting
            .filter(|waiting| waiting.first <= now)
            .map(|waiting| Stretch { last: waiting.last.min(now), ..waiting });
    }

    fn stretch_around(&self, time: Timestamp) -> Option<Stretch> {
        let after = self.handled.partition_point(|stretch| stretch.first <= time);
        self.handled[..after].last().copied().filter(|stretch| time <= stretch.last)
    }

    fn join_the_closest(&mut self) {
        let waiting = self.waiting;
        let cost = |pair: &[Stretch]| {
            let is_waited_for =
                waiting.is_some_and(|wait| wait.first < pair[1].first && pair[0].last < wait.last);
            (is_waited_for, pair[1].first.since(pair[0].last))
        };
        let closest =
            self.handled.windows(2).enumerate().min_by_key(|(_, pair)| cost(pair)).map(|(i, _)| i);
        if let Some(i) = closest {
            self.handled[i].last = self.handled[i + 1].last;
            self.handled.remove(i + 1);
        }
    }
}

impl Timetable {
    /// The first fire after this that was not handled yet.
    pub(super) fn open_after(&self, log: &FireLog, after: Timestamp) -> Option<Timestamp> {
        let mut after = after;
        loop {
            let time = self.time_after(after)?;
            match log.stretch_around(time) {
                None => return Some(time),
                Some(stretch) => after = stretch.last,
            }
        }
    }

    /// The latest fire in `(after, until]` that was not handled yet.
    pub(super) fn last_open(
        &self,
        log: &FireLog,
        after: Timestamp,
        until: Timestamp,
    ) -> Option<Timestamp> {
        let mut until = until;
        loop {
            let time = self.last_time(after, until)?;
            match log.stretch_around(time) {
                None => return Some(time),
                Some(stretch) => until = before(stretch.first),
            }
        }
    }

    /// The first of a stretch's fires that was not handled yet, with the rest of the stretch.
    pub(super) fn open_in(&self, log: &FireLog, stretch: Stretch) -> Option<Stretch> {
        self.open_after(log, before(stretch.first))
            .filter(|first| *first <= stretch.last)
            .map(|first| Stretch { first, ..stretch })
    }

    pub(super) fn note_handled(&self, log: &mut FireLog, time: Timestamp) {
        if log.stretch_around(time).is_some() {
            return;
        }
        let at = log.handled.partition_point(|stretch| stretch.first <= time);
        log.handled.insert(at, Stretch { first: time, last: time });
        for left in [at, at.wrapping_sub(1)] {
            let pair = log.handled.get(left).zip(log.handled.get(left.wrapping_add(1)));
            let follows = pair.is_some_and(|(one, other)| {
                self.time_after(one.last).is_some_and(|next| next >= other.first)
            });
            if follows {
                log.handled[left].last = log.handled[left + 1].last;
                log.handled.remove(left + 1);
            }
        }
        while log.handled.len() > STRETCHES {
            log.join_the_closest();
        }
    }
}
