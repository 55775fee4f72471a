//! What supervision knows that is not worth a write: it is found out again by the next agent.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use hostler_model::{Health, PlacementId, RunId, Schedule, Timestamp};
use jiff::tz::TimeZone;

use crate::schedule::Timetable;

/// When it is, and in which boot.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    pub wall: Timestamp,
    /// Never goes back.
    pub mono: Duration,
    pub boot_id: &'a str,
    /// An id for a run, used up when one is made.
    pub fresh_run: RunId,
}

/// All of it.
#[derive(Debug, Default)]
pub struct Volatile {
    placements: BTreeMap<PlacementId, Vitals>,
    pub(super) budget: StartBudget,
    /// For schedules in the node's own time; UTC when absent.
    pub(super) local_zone: Option<TimeZone>,
    /// Tells nodes apart, so that their waits and jitters differ.
    pub(super) salt: u64,
}

/// Of one placement.
#[derive(Debug, Default)]
pub struct Vitals {
    /// When it may be started again.
    pub(super) due: Duration,
    /// The same on the wall's clock, for people.
    pub(super) due_at: Option<Timestamp>,
    /// When its schedule starts it next.
    pub(super) next_fire: Option<Timestamp>,
    /// When restarts were made, as far back as the policy's window goes.
    pub(super) restarts: VecDeque<Duration>,
    /// Of its run that is checked.
    pub(super) health: Option<(RunId, Health, Option<String>)>,
    /// Memory that runs short.
    pub memory_warning: Option<String>,
    /// Limits of the present run that the node cannot put into force.
    pub unenforced: Vec<String>,
    /// What its start waits for, in words.
    pub lacking: Option<String>,
    pub(super) timetable: Option<(Schedule, Timetable)>,
    /// When it is to be looked at again, on the wall's clock.
    pub(super) wake: Option<Timestamp>,
}

impl Vitals {
    pub(super) fn warning(&self) -> Option<String> {
        let all: Vec<&str> =
            self.memory_warning.iter().chain(&self.unenforced).map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

impl Volatile {
    pub fn new(salt: u64, local_zone: TimeZone) -> Volatile {
        Volatile { salt, local_zone: Some(local_zone), ..Volatile::default() }
    }

    pub fn of(&mut self, placement: PlacementId) -> &mut Vitals {
        self.placements.entry(placement).or_default()
    }

    pub fn get(&self, placement: PlacementId) -> Option<&Vitals> {
        self.placements.get(&placement)
    }

    pub fn forget(&mut self, placement: PlacementId) {
        self.placements.remove(&placement);
    }
}

/// How many restarts a node makes: many at once, but not many for long. What cannot be paid for now
/// is put off, so that a thousand programs that keep failing do not take the machine from the rest.
#[derive(Debug)]
pub(super) struct StartBudget {
    left: f64,
    counted: Duration,
}

const BURST: f64 = 250.0;
const PER_SECOND: f64 = 25.0;

impl Default for StartBudget {
    fn default() -> StartBudget {
        StartBudget { left: BURST, counted: Duration::ZERO }
    }
}

impl StartBudget {
    /// Takes one restart out; the error says when there will be one.
    pub fn take(&mut self, now: Duration) -> Result<(), Duration> {
        let gained = now.saturating_sub(self.counted).as_secs_f64() * PER_SECOND;
        self.left = (self.left + gained).min(BURST);
        self.counted = now;
        if self.left >= 1.0 {
            self.left -= 1.0;
            Ok(())
        } else {
            Err(now + Duration::from_secs_f64((1.0 - self.left) / PER_SECOND))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_that_keep_failing_are_held_back() {
        let mut budget = StartBudget::default();
        let mut made = 0;
        let mut now = Duration::ZERO;
        while now < Duration::from_secs(60) {
            match budget.take(now) {
                Ok(()) => made += 1,
                Err(later) => {
                    assert!(later > now);
                    now = later;
                }
            }
        }
        assert!((1700..=1760).contains(&made), "{made}");
    }
}
