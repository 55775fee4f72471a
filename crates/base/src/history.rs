//! A history in memory that forgets detail before it forgets time: ten seconds for an hour, a minute for
//! half a day, a quarter of an hour for a week. Never more than 1,752 samples, whatever happens.
//!
//! Agents keep what their node and its workloads use in it, servers the key figures of the installation.

use std::collections::VecDeque;
use std::time::Duration;

use hostler_model::{FigureSample, Timestamp, UsageSample};

/// How often something is sampled that is kept here.
pub const SAMPLE_EVERY: Duration = Duration::from_secs(10);

/// What a stretch of time was like.
pub trait Sample: Clone {
    /// The end of the stretch.
    fn time(&self) -> Timestamp;
    /// Its length.
    fn seconds(&self) -> f64;
    /// What this and the stretch after it say together.
    #[must_use]
    fn joined(&self, later: &Self) -> Self;
}

impl Sample for UsageSample {
    fn time(&self) -> Timestamp {
        self.time
    }
    fn seconds(&self) -> f64 {
        self.seconds
    }
    fn joined(&self, later: &UsageSample) -> UsageSample {
        UsageSample::joined(self, later)
    }
}

impl Sample for FigureSample {
    fn time(&self) -> Timestamp {
        self.time
    }
    fn seconds(&self) -> f64 {
        self.seconds
    }
    fn joined(&self, later: &FigureSample) -> FigureSample {
        FigureSample::joined(self, later)
    }
}

/// Length of a step, and how many are kept.
const LEVELS: [(Duration, usize); 3] =
    [(SAMPLE_EVERY, 360), (Duration::from_secs(60), 720), (Duration::from_secs(900), 672)];

pub struct History<S> {
    levels: [Level<S>; 3],
}

struct Level<S> {
    kept: VecDeque<S>,
    /// Not long enough yet.
    growing: Option<S>,
}

impl<S> Default for Level<S> {
    fn default() -> Level<S> {
        Level { kept: VecDeque::new(), growing: None }
    }
}

impl<S> Default for History<S> {
    fn default() -> History<S> {
        History { levels: Default::default() }
    }
}

impl<S: Sample> History<S> {
    pub fn push(&mut self, sample: S) {
        for (level, (step, most)) in self.levels.iter_mut().zip(LEVELS) {
            let grown = match level.growing.take() {
                Some(before) => before.joined(&sample),
                None => sample.clone(),
            };
            if grown.seconds() + 0.5 < step.as_secs_f64() {
                level.growing = Some(grown);
                continue;
            }
            level.kept.push_back(grown);
            if level.kept.len() > most {
                level.kept.pop_front();
            }
        }
    }

    /// Everything since a time, in the finest steps that reach back so far.
    pub fn since(&self, time: Timestamp) -> Vec<S> {
        let reaches =
            |level: &&Level<S>| level.kept.front().is_some_and(|first| first.time() <= time);
        let finest = self.levels.iter().find(reaches);
        let longest = || {
            self.levels.iter().max_by_key(|level| {
                let first = level.kept.front().map(S::time);
                (first.is_some(), std::cmp::Reverse(first))
            })
        };
        let level = finest.or_else(longest);
        let kept = level.into_iter().flat_map(|level| &level.kept);
        kept.filter(|sample| sample.time() > time).cloned().collect()
    }

    /// The newest whole sample, as fine as there are.
    pub fn newest(&self) -> Option<&S> {
        self.levels[0].kept.back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::Bytes;

    fn sample(at: u64) -> UsageSample {
        UsageSample {
            time: Timestamp::EPOCH.plus(Duration::from_secs(at)),
            seconds: 10.0,
            cpu: if at.is_multiple_of(20) { 1.0 } else { 0.0 },
            memory: Bytes::new(at),
            ..UsageSample::default()
        }
    }

    #[test]
    fn detail_goes_before_time_does() {
        let mut ring = History::default();
        for step in 1..=10_000 {
            ring.push(sample(step * 10));
        }
        let end = Timestamp::EPOCH.plus(Duration::from_secs(100_000));
        let hour = ring.since(end.minus(Duration::from_secs(3000)));
        assert_eq!((hour.len(), hour[0].seconds), (300, 10.0));
        let morning = ring.since(end.minus(Duration::from_secs(40_000)));
        assert!((660..=670).contains(&morning.len()), "{}", morning.len());
        assert!((morning[0].cpu - 0.5).abs() < 1e-9, "averages");
        assert_eq!(morning[0].memory.get() % 60, 0, "the most of its minute");
        let day = ring.since(Timestamp::EPOCH);
        assert!((105..=111).contains(&day.len()), "{}", day.len());
        let sizes: Vec<usize> = ring.levels.iter().map(|level| level.kept.len()).collect();
        assert_eq!(sizes, [360, 720, 111]);
        assert_eq!(ring.newest().map(Sample::time), Some(end));
    }
}
