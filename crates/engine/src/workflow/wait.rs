//! How long a step waits before it is tried again.

use hostler_model::Span;
use hostler_model::workflow::{Backoff, Retry};

const FIRST: u64 = 1_000;
const LONGEST: u64 = 300_000;

/// The wait after the given try failed. The jitter is a function of the execution, the step and the try.
pub fn delay(retry: &Retry, attempt: u32, seed: u64, step: usize) -> Span {
    let first = retry.delay.map_or(FIRST, Span::millis);
    let longest = retry.max_delay.map_or(LONGEST, Span::millis);
    let times = match retry.backoff {
        Backoff::Fixed => 1,
        Backoff::Linear => u64::from(attempt),
        Backoff::Exponential => 1_u64.checked_shl(attempt.saturating_sub(1)).unwrap_or(u64::MAX),
    };
    let base = first.saturating_mul(times).min(longest);
    let part = u64::from(retry.jitter.unwrap_or(0).min(100));
    let most = base / 100 * part + base % 100 * part / 100;
    let extra = if most == 0 { 0 } else { mixed(seed, step, attempt) % (most + 1) };
    Span::from_millis(base.saturating_add(extra).min(longest))
}

/// Splitmix: every bit of what goes in changes about half of what comes out.
fn mixed(seed: u64, step: usize, attempt: u32) -> u64 {
    let step = u64::try_from(step).unwrap_or(u64::MAX);
    let mut x = seed ^ step.rotate_left(32) ^ u64::from(attempt).rotate_left(17);
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(retry: &Retry) -> Vec<u64> {
        (1..=5).map(|attempt| delay(retry, attempt, 7, 3).millis()).collect()
    }

    #[test]
    fn waits_grow_as_the_strategy_says_and_end_at_the_longest() {
        let retry = |backoff| Retry {
            retries: 5,
            backoff,
            delay: Some(Span::from_millis(100)),
            max_delay: Some(Span::from_millis(450)),
            jitter: None,
        };
        assert_eq!(waits(&retry(Backoff::Fixed)), [100, 100, 100, 100, 100]);
        assert_eq!(waits(&retry(Backoff::Linear)), [100, 200, 300, 400, 450]);
        assert_eq!(waits(&retry(Backoff::Exponential)), [100, 200, 400, 450, 450]);
        let far = Retry { backoff: Backoff::Exponential, ..Retry::default() };
        assert_eq!(delay(&far, 200, 0, 0).millis(), LONGEST);
    }

    #[test]
    fn jitter_adds_up_to_its_part_and_differs() {
        let retry = Retry {
            delay: Some(Span::from_millis(1000)),
            jitter: Some(50),
            backoff: Backoff::Fixed,
            ..Retry::default()
        };
        let all: Vec<u64> = (0..100).map(|seed| delay(&retry, 1, seed, 0).millis()).collect();
        assert!(all.iter().all(|ms| (1000..=1500).contains(ms)), "{all:?}");
        assert!(all.iter().collect::<std::collections::BTreeSet<_>>().len() > 50);
    }
}
