//! The questions that every mode answers: is there to be another run, has it done what it was there
//! for, and how long is it to wait.

use std::time::Duration;

use hostler_model::{Exit, ExitReason, Mode, RestartOn, RestartPolicy};

/// After `runs` runs, of which the last ended like this, and unless it was stopped by hand: does
/// another one follow?
///
/// | mode | another one |
/// |---|---|
/// | forever | always, or as the restart policy says |
/// | times(n) | while there were fewer than n |
/// | schedule | never (the next time comes by itself), but a failed one is tried again where the policy says so |
/// | once | never, but a failed one is tried again where the policy says so |
pub fn should_restart(mode: &Mode, policy: &RestartPolicy, runs: u64, last: &Exit) -> bool {
    match (mode, policy.on(mode)) {
        (Mode::Times(n), _) => runs < u64::from(*n),
        (_, RestartOn::Never) => false,
        (Mode::Forever, RestartOn::Always) => true,
        (Mode::Forever, RestartOn::Failure)
        | (Mode::Once | Mode::Schedule(_), RestartOn::Always | RestartOn::Failure) => {
            !policy.is_success(last)
        }
    }
}

/// Has it done what it was there for? `last` is the end of its last run.
///
/// | mode | complete |
/// |---|---|
/// | forever | never; with another restart policy, after an end that no run follows |
/// | times(n) | after n runs |
/// | schedule | never |
/// | once | after an end that no run follows |
pub fn is_complete(mode: &Mode, policy: &RestartPolicy, runs: u64, last: Option<&Exit>) -> bool {
    let Some(last) = last else { return false };
    match mode {
        Mode::Schedule(_) => false,
        Mode::Once | Mode::Forever | Mode::Times(_) => !should_restart(mode, policy, runs, last),
    }
}

/// Where nothing is to be waited for and runs still end quickly, the second wait is this long.
const LEAST: Duration = Duration::from_millis(100);

/// How long to wait before the next run. `streak` counts quick ends in a row; `salt` varies the wait,
/// the same salt always in the same way.
pub fn restart_delay(policy: &RestartPolicy, streak: u32, last: &Exit, salt: u64) -> Duration {
    let is_ours = matches!(last.reason, ExitReason::Stopped | ExitReason::Vanished);
    if is_ours {
        return Duration::ZERO;
    }
    let first = policy.delay.duration();
    let longest = policy.max_delay.duration().max(first);
    let wait = match streak {
        0 | 1 => first,
        more => {
            let grown = policy.factor.saturating_pow(more - 1);
            first.max(LEAST).saturating_mul(grown).min(longest.max(LEAST))
        }
    };
    let spread = wait / 100 * u32::from(policy.jitter.min(100));
    let part = u32::try_from(mix(salt) % 2001).unwrap_or_default();
    (wait + spread * part / 1000).saturating_sub(spread)
}

/// A number that looks like no other, made from a number.
pub(crate) fn mix(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{Schedule, Span, Timestamp};
    use proptest::prelude::*;

    fn exit(code: i32) -> Exit {
        Exit {
            reason: ExitReason::Exited,
            code: Some(code),
            signal: None,
            message: None,
            time: Timestamp::from_micros(0),
        }
    }

    /// The table of the seed's section Run Mode Strategies.
    #[test]
    fn run_mode_strategies() {
        let usual = RestartPolicy::default();
        let cron = Mode::Schedule(Schedule::new("* * * * *"));
        for code in [0, 1] {
            let end = exit(code);
            for runs in [1, 2, 3, 100] {
                assert!(should_restart(&Mode::Forever, &usual, runs, &end));
                assert!(!is_complete(&Mode::Forever, &usual, runs, Some(&end)));
                assert_eq!(should_restart(&Mode::Times(3), &usual, runs, &end), runs < 3);
                assert_eq!(is_complete(&Mode::Times(3), &usual, runs, Some(&end)), runs >= 3);
                assert!(!should_restart(&cron, &usual, runs, &end));
                assert!(!is_complete(&cron, &usual, runs, Some(&end)));
            }
            assert!(!should_restart(&Mode::Once, &usual, 1, &end));
            assert!(is_complete(&Mode::Once, &usual, 1, Some(&end)));
        }
        assert!(!is_complete(&Mode::Once, &usual, 0, None));
    }

    #[test]
    fn the_policy_says_which_ends_count() {
        let retry = RestartPolicy {
            on: Some(RestartOn::Failure),
            success_codes: vec![3],
            ..RestartPolicy::default()
        };
        let cron = Mode::Schedule(Schedule::new("* * * * *"));
        for mode in [&Mode::Forever, &Mode::Once, &cron] {
            assert!(!should_restart(mode, &retry, 1, &exit(0)), "{mode:?}");
            assert!(!should_restart(mode, &retry, 1, &exit(3)), "{mode:?}");
            assert!(should_restart(mode, &retry, 1, &exit(1)), "{mode:?}");
        }
        let never = RestartPolicy { on: Some(RestartOn::Never), ..RestartPolicy::default() };
        assert!(!should_restart(&Mode::Forever, &never, 1, &exit(1)));
        assert!(is_complete(&Mode::Forever, &never, 1, Some(&exit(1))));
    }

    #[test]
    fn waits_grow_to_a_limit_and_nothing_is_waited_for_after_a_stop() {
        let policy = RestartPolicy { jitter: 0, ..RestartPolicy::default() };
        let waits: Vec<u64> =
            (0..12).map(|n| restart_delay(&policy, n, &exit(1), 7).as_secs()).collect();
        assert_eq!(waits, [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        let stopped = Exit { reason: ExitReason::Stopped, ..exit(0) };
        assert_eq!(restart_delay(&policy, 9, &stopped, 7), Duration::ZERO);
        let at_once = RestartPolicy { delay: Span::from_millis(0), jitter: 0, ..policy };
        let waits: Vec<_> =
            (0..5).map(|n| restart_delay(&at_once, n, &exit(1), 7).as_millis()).collect();
        assert_eq!(waits, [0, 0, 200, 400, 800]);
    }

    proptest! {
        #[test]
        fn waits_stay_within_the_jitter(streak in 0u32..80, salt: u64, jitter in 0u8..=100) {
            let plain = RestartPolicy { jitter: 0, ..RestartPolicy::default() };
            let wait = restart_delay(&plain, streak, &exit(1), salt);
            let policy = RestartPolicy { jitter, ..plain };
            let varied = restart_delay(&policy, streak, &exit(1), salt);
            let most = wait / 100 * u32::from(jitter);
            prop_assert!(varied <= wait + most && varied + most >= wait);
            prop_assert_eq!(varied, restart_delay(&policy, streak, &exit(1), salt));
        }
    }
}
