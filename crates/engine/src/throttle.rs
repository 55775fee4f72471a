//! How long somebody whose logins fail has to wait.
//!
//! Failures are counted twice: of the name that was tried and of the address that tried it. Each count
//! has a number of failures that cost nothing; every further one doubles the wait, up to a cap. So
//! guessing comes to a few tries an hour, and nobody is locked out for ever: the longest wait is the
//! cap, and a count is forgotten after a quiet time.
//!
//! Who attacks a name from anywhere does not keep its owner out: from an address that the name logged
//! in from before, failures are counted apart ([`TallyKind::Pair`]), and the count of the name does
//! not matter there.
//!
//! An attempt is counted as a failure before the password is looked at, and taken back when it was
//! none ([`counted`], then the store's refund): a hundred attempts at the same moment cannot all pass
//! a check that none of them has changed yet. An attempt that has to wait is not counted, or impatient
//! people would wait for ever.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use hostler_model::{LoginTally, TallyKind, Timestamp};

/// How one count slows down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slope {
    /// Failures that cost nothing.
    pub free: u64,
    /// The wait after the last of them.
    pub first: Duration,
    /// No wait is longer.
    pub cap: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    pub name: Slope,
    pub source: Slope,
    /// A count is forgotten when nothing failed for this long.
    pub forget: Duration,
    /// For how long an address is known to be one of a name's own.
    pub known: Duration,
}

impl Default for Rules {
    fn default() -> Rules {
        let second = Duration::from_secs(1);
        Rules {
            name: Slope { free: 10, first: second, cap: Duration::from_secs(300) },
            source: Slope { free: 30, first: second, cap: Duration::from_secs(300) },
            forget: Duration::from_secs(3600),
            known: Duration::from_secs(30 * 86_400),
        }
    }
}

impl Slope {
    /// How long after so many failures.
    pub fn wait(&self, failures: u64) -> Duration {
        let Some(over) = failures.checked_sub(self.free) else { return Duration::ZERO };
        let factor = 2u32.checked_pow(u32::try_from(over).unwrap_or(u32::MAX));
        factor.map_or(self.cap, |factor| self.first.saturating_mul(factor)).min(self.cap)
    }
}

impl Rules {
    fn slope(&self, kind: TallyKind) -> Slope {
        match kind {
            TallyKind::Source => self.source,
            TallyKind::Name | TallyKind::Pair | TallyKind::Known => self.name,
        }
    }

    fn is_forgotten(&self, tally: &LoginTally, now: Timestamp) -> bool {
        now >= tally.time_last.plus(self.forget)
    }

    /// Whether a name is known from an address.
    pub fn is_known(&self, known: Option<&LoginTally>, now: Timestamp) -> bool {
        known.is_some_and(|known| now < known.time_last.plus(self.known))
    }

    /// How much longer attempts of this tally have to wait.
    pub fn remaining(&self, tally: &LoginTally, now: Timestamp) -> Duration {
        if self.is_forgotten(tally, now) {
            return Duration::ZERO;
        }
        let wait = self.slope(tally.kind).wait(tally.failures);
        wait.saturating_sub(now.since(tally.time_last))
    }

    /// The tally with one attempt more.
    pub fn counted(
        &self,
        tally: Option<LoginTally>,
        kind: TallyKind,
        subject: Vec<u8>,
        now: Timestamp,
    ) -> LoginTally {
        match tally.filter(|tally| !self.is_forgotten(tally, now)) {
            Some(tally) => {
                LoginTally { failures: tally.failures.saturating_add(1), time_last: now, ..tally }
            }
            None => LoginTally { kind, subject, failures: 1, time_last: now, is_told: false },
        }
    }
}

/// One customer's worth of addresses: an IPv4 address, or the /64 of an IPv6 one; anything else as it
/// is.
pub fn network(source: &str) -> String {
    match source.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V6(six)) => {
            let [a, b, c, d, ..] = six.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).to_string()
        }
        Ok(IpAddr::V4(four)) => four.to_string(),
        Err(_) => source.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::from_secs(1_700_000_000 + seconds))
    }

    fn tally(failures: u64, seconds: u64) -> LoginTally {
        let (kind, subject) = (TallyKind::Name, vec![1]);
        LoginTally { kind, subject, failures, time_last: at(seconds), is_told: false }
    }

    #[test]
    fn waits_double_up_to_the_cap() {
        let slope = Slope { free: 3, first: Duration::from_secs(1), cap: Duration::from_secs(60) };
        let waits: Vec<u64> = (0..12).map(|n| slope.wait(n).as_secs()).collect();
        assert_eq!(waits, [0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(slope.wait(u64::MAX), slope.cap);
    }

    #[test]
    fn a_wait_passes_and_a_count_is_forgotten() {
        let rules = Rules::default();
        assert_eq!(rules.remaining(&tally(9, 0), at(0)), Duration::ZERO);
        assert_eq!(rules.remaining(&tally(13, 0), at(0)), Duration::from_secs(8));
        assert_eq!(rules.remaining(&tally(13, 0), at(5)), Duration::from_secs(3));
        assert_eq!(rules.remaining(&tally(13, 0), at(8)), Duration::ZERO);
        assert_eq!(rules.remaining(&tally(99, 0), at(0)), Duration::from_secs(300));
        let next = rules.counted(Some(tally(13, 0)), TallyKind::Name, vec![1], at(3599));
        assert_eq!((next.failures, next.time_last), (14, at(3599)));
        let anew = rules.counted(Some(tally(13, 0)), TallyKind::Name, vec![1], at(3600));
        assert_eq!((anew.failures, anew.is_told), (1, false));
    }

    #[test]
    fn a_known_address_stays_known_for_a_while() {
        let rules = Rules::default();
        assert!(!rules.is_known(None, at(0)));
        assert!(rules.is_known(Some(&tally(0, 0)), at(29 * 86_400)));
        assert!(!rules.is_known(Some(&tally(0, 0)), at(30 * 86_400)));
    }

    #[test]
    fn neighbours_in_a_v6_network_are_one_source() {
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("::ffff:10.0.0.1"), "10.0.0.1");
        assert_eq!(network("test"), "test");
    }

    proptest! {
        /// However somebody tries, nobody ever waits longer than the cap, and never less for having
        /// failed once more.
        #[test]
        fn nobody_waits_for_ever(failures in 0u64..10_000, later in 0u64..10_000) {
            let rules = Rules::default();
            let wait = rules.remaining(&tally(failures, 0), at(later));
            prop_assert!(wait <= rules.name.cap);
            prop_assert!(rules.name.wait(failures) <= rules.name.wait(failures + 1));
            prop_assert_eq!(rules.remaining(&tally(failures, 0), at(later + 300)), Duration::ZERO);
        }
    }
}
