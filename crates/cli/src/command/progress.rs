//! How far many tasks have come: counts by what matters to a person, how fast, and how long it may take.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use hostler_api::task::ArrayView;
use hostler_model::TaskStateKind;

use crate::output::span;

/// How far back the rate looks.
const WINDOW: Duration = Duration::from_secs(20);

/// Where the tasks of an array stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub completed: u64,
    /// By itself, for memory, or with its node.
    pub failed: u64,
    /// Because somebody wanted it.
    pub killed: u64,
    /// On a node.
    pub running: u64,
    pub paused: u64,
    pub waiting: u64,
}

impl Tally {
    pub fn of(array: &ArrayView) -> Tally {
        let sum = |states: &[TaskStateKind]| count(&array.counts, states);
        let completed = sum(&[TaskStateKind::Completed]);
        let settled = sum(TaskStateKind::SETTLED);
        let killed = sum(&[TaskStateKind::Killed, TaskStateKind::Stopped, TaskStateKind::Rejected]);
        let paused = sum(&[TaskStateKind::Paused]);
        let occupying = sum(TaskStateKind::OCCUPYING);
        Tally {
            completed,
            failed: settled.saturating_sub(completed + killed),
            killed,
            running: occupying.saturating_sub(paused),
            paused,
            waiting: array.size.saturating_sub(settled + occupying),
        }
    }

    pub fn ended(self) -> u64 {
        self.completed + self.failed + self.killed
    }

    /// What there is of each, most telling first.
    pub fn words(self) -> String {
        let parts = [
            (self.completed, "completed"),
            (self.failed, "failed"),
            (self.killed, "killed"),
            (self.running, "running"),
            (self.paused, "paused"),
            (self.waiting, "waiting"),
        ];
        let said = parts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}"));
        said.collect::<Vec<_>>().join(", ")
    }
}

pub fn count(counts: &BTreeMap<String, u64>, states: &[TaskStateKind]) -> u64 {
    states.iter().filter_map(|state| counts.get(state.label())).sum()
}

/// How many ended, over the last seconds.
#[derive(Debug, Default)]
pub struct Speed {
    seen: VecDeque<(Duration, u64)>,
}

impl Speed {
    /// Takes note of how many had ended at a time, and says what follows: tasks a second, and the time left.
    pub fn at(&mut self, time: Duration, ended: u64, left: u64) -> String {
        self.seen.push_back((time, ended));
        while self.seen.len() > 2 && time.saturating_sub(self.seen[1].0) >= WINDOW {
            self.seen.pop_front();
        }
        let (since, before) = self.seen[0];
        let seconds = time.saturating_sub(since).as_secs_f64();
        let more = u32::try_from(ended.saturating_sub(before)).unwrap_or(u32::MAX);
        if seconds < 0.5 || more == 0 {
            return String::new();
        }
        let rate = f64::from(more) / seconds;
        let left = Duration::try_from_secs_f64(left as f64 / rate).unwrap_or(Duration::MAX);
        let rate = if rate < 10.0 { format!("{rate:.1}/s") } else { format!("{rate:.0}/s") };
        format!(", {rate}, {} left", span(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_adds_up() {
        let counts = [
            ("completed", 5),
            ("killed_oom", 1),
            ("lost", 1),
            ("killed", 1),
            ("running", 2),
            ("paused", 1),
        ];
        let counts: BTreeMap<String, u64> =
            counts.into_iter().map(|(state, n)| (state.to_owned(), n)).collect();
        let array = serde_json::json!({
            "id": "0192f3c4-0000-7000-8000-000000000000", "name": "a", "project": "p",
            "spec": { "command": ["x"] }, "range": "1-20", "isGang": false, "isStopping": false, "size": 20,
            "unsettled": 12, "unsuccessful": 3, "counts": counts, "createdBy": "ada", "generation": 1,
            "timeCreated": "2026-01-31T12:00:00Z",
        });
        let tally = Tally::of(&serde_json::from_value(array).unwrap());
        let expected =
            Tally { completed: 5, failed: 2, killed: 1, running: 2, paused: 1, waiting: 9 };
        assert_eq!((tally, tally.ended()), (expected, 8));
        assert_eq!(
            tally.words(),
            "5 completed, 2 failed, 1 killed, 2 running, 1 paused, 9 waiting"
        );
    }

    #[test]
    fn speed_is_that_of_the_last_seconds() {
        let mut speed = Speed::default();
        let seconds = Duration::from_secs;
        assert_eq!(speed.at(seconds(0), 1000, 9000), "");
        assert_eq!(speed.at(seconds(10), 2000, 8000), ", 100/s, 1m left");
        assert_eq!(speed.at(seconds(20), 3000, 600), ", 100/s, 6s left");
        assert_eq!(speed.at(seconds(40), 3010, 590), ", 0.5/s, 19m left");
        assert_eq!(Speed::default().at(seconds(9), 0, 5), "");
    }
}
