//! How long to wait before trying again.
//!
//! Exponential with full jitter between `min` and a ceiling that doubles with every failure up to
//! `max`, so that a thousand agents that lost the same server do not come back in the same second.
//! It never gives up: after enough failures it stays at `max`. It starts over after the thing it
//! guards was healthy for `healthy_after`; a single success does not count, or a program that
//! crashes after two seconds would be restarted at full speed for ever.
//!
//! Pure: the random number is passed in ([`Backoff::delay`]); [`Backoff::next_delay`] draws one.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backoff {
    min: Duration,
    max: Duration,
    healthy_after: Duration,
    failures: u32,
}

impl Backoff {
    /// `max` below `min` is taken as `min`.
    pub fn new(min: Duration, max: Duration, healthy_after: Duration) -> Backoff {
        Backoff { min, max: max.max(min), healthy_after, failures: 0 }
    }

    /// The same, after so many failures.
    #[must_use]
    pub fn after(self, failures: u32) -> Backoff {
        Backoff { failures, ..self }
    }

    /// Failures since the last reset.
    pub fn failures(&self) -> u32 {
        self.failures
    }

    /// Counts a failure and says how long to wait; `random` is uniform in `[0, 1)`.
    pub fn delay(&mut self, random: f64) -> Duration {
        let ceiling = self.ceiling();
        self.failures = self.failures.saturating_add(1);
        let random = if random.is_finite() { random.clamp(0.0, 1.0) } else { 0.5 };
        self.min + (ceiling - self.min).mul_f64(random)
    }

    /// [`delay`](Backoff::delay) with a random number of its own.
    pub fn next_delay(&mut self) -> Duration {
        self.delay(rand::random())
    }

    /// The longest wait that the next failure can cause.
    pub fn ceiling(&self) -> Duration {
        let factor = 2u32.saturating_pow(self.failures.saturating_add(1));
        self.min.saturating_mul(factor).clamp(self.min, self.max)
    }

    /// Says how long the guarded thing was healthy; starts over when that was long enough.
    pub fn healthy_for(&mut self, length: Duration) {
        if length >= self.healthy_after {
            self.reset();
        }
    }

    pub fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn millis(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    proptest! {
        #[test]
        fn every_delay_lies_between_min_and_max(
            min in 0u64..10_000, max in 0u64..1_000_000, randoms in prop::collection::vec(0.0f64..1.0, 1..80),
        ) {
            let mut backoff = Backoff::new(millis(min), millis(max), millis(1));
            let mut ceiling_before = Duration::ZERO;
            for random in randoms {
                let ceiling = backoff.ceiling();
                prop_assert!(ceiling >= ceiling_before);
                ceiling_before = ceiling;
                let delay = backoff.delay(random);
                prop_assert!(delay >= millis(min));
                prop_assert!(delay <= ceiling);
                prop_assert!(delay <= millis(max.max(min)));
            }
        }
    }

    #[test]
    fn the_ceiling_doubles_up_to_max_and_resets_only_after_health() {
        let mut backoff = Backoff::new(millis(100), millis(1000), millis(5000));
        let ceilings: Vec<_> = (0..6)
            .map(|_| {
                let ceiling = backoff.ceiling();
                backoff.delay(0.0);
                ceiling.as_millis()
            })
            .collect();
        assert_eq!(ceilings, [200, 400, 800, 1000, 1000, 1000]);
        backoff.healthy_for(millis(4999));
        assert_eq!(backoff.failures(), 6);
        backoff.healthy_for(millis(5000));
        assert_eq!(backoff.ceiling(), millis(200));
    }

    #[test]
    fn nonsense_randomness_does_no_harm() {
        let mut backoff = Backoff::new(millis(1), Duration::MAX, millis(1));
        for random in [f64::NAN, f64::INFINITY, -3.0, 7.0] {
            assert!(backoff.delay(random) >= millis(1));
        }
    }
}
