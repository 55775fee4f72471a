//! A history that forgets detail before it forgets time: ten seconds for an hour, a minute for half a
//! day, a quarter of an hour for a week. About 90 kB when full.

use std::collections::VecDeque;
use std::time::Duration;

use hostler_model::{Timestamp, UsageSample};

/// Length of a step, and how many are kept.
const LEVELS: [(Duration, usize); 3] = [
    (Duration::from_secs(10), 360),
    (Duration::from_secs(60), 720),
    (Duration::from_secs(900), 672),
];

#[derive(Default)]
pub(crate) struct Ring {
    levels: [Level; 3],
}

#[derive(Default)]
struct Level {
    kept: VecDeque<UsageSample>,
    /// Not long enough yet.
    growing: Option<UsageSample>,
}

impl Ring {
    pub fn push(&mut self, sample: UsageSample) {
        for (level, (step, most)) in self.levels.iter_mut().zip(LEVELS) {
            let grown = match level.growing.take() {
                Some(before) => before.joined(&sample),
                None => sample.clone(),
            };
            if grown.seconds + 0.5 < step.as_secs_f64() {
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
    pub fn since(&self, time: Timestamp) -> Vec<UsageSample> {
        let reaches = |level: &&Level| level.kept.front().is_some_and(|first| first.time <= time);
        let finest = self.levels.iter().find(reaches);
        let longest = || {
            self.levels.iter().max_by_key(|level| {
                let first = level.kept.front().map(|first| first.time);
                (first.is_some(), std::cmp::Reverse(first))
            })
        };
        let level = finest.or_else(longest);
        level.into_iter().flat_map(|level| &level.kept).filter(|s| s.time > time).cloned().collect()
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
        let mut ring = Ring::default();
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
    }
}
