//! What a server does about a schedule when it looks at it: everything that is due, at once.
//!
//! An agent starts one run and asks again; a server looks at hundreds of schedules in one transaction, so it
//! asks each of them until nothing more comes. The same decision decides, one fire at a time.

use std::time::Duration;

use hostler_model::{Overlap, Timestamp};

use super::{Fire, FireLog, Skipped, Timetable};

/// What to do about a schedule now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// What is begun, the earliest first.
    pub starts: Vec<Start>,
    /// What will not be begun.
    pub missed: Vec<Skipped>,
    pub log: FireLog,
    /// When to look again.
    pub due: Option<Timestamp>,
    /// When the next fire is begun, as far as is known.
    pub next: Option<Timestamp>,
}

/// A fire that is begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    pub fire: Fire,
    /// What goes on is stopped first.
    pub is_replacing: bool,
    /// It comes later than it was to, because it was missed or had to wait.
    pub is_late: bool,
}

/// Up to here a fire is on time.
const PROMPT: Duration = Duration::from_secs(60);
/// How long something that waits for what runs can go unnoticed.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

impl Timetable {
    /// Everything that is due. `is_running` says whether what was begun before still goes on.
    pub fn turn(&self, log: &FireLog, now: Timestamp, is_running: bool) -> Turn {
        let mut is_running = is_running && self.overlap != Overlap::Allow;
        let mut turn = Turn {
            starts: Vec::new(),
            missed: Vec::new(),
            log: log.clone(),
            due: None,
            next: None,
        };
        loop {
            let was_waiting = turn.log.is_waiting();
            let decision = self.decide(&turn.log, now, is_running);
            (turn.log, turn.due, turn.next) = (decision.log, decision.wake, decision.next);
            turn.missed.extend(decision.skipped);
            let Some(time) = decision.start else { break };
            let fire = self.fire(time);
            let is_replacing = decision.stop_running;
            let is_late = was_waiting || now.since(fire.start) > PROMPT;
            turn.starts.push(Start { fire, is_replacing, is_late });
            is_running = self.overlap != Overlap::Allow;
        }
        turn.starts.sort_by_key(|start| start.fire.time);
        if turn.log.is_waiting() {
            let again = now.plus(LOOK_AGAIN);
            turn.due = Some(turn.due.map_or(again, |due| due.min(again)));
        }
        turn
    }
}
