//! How long a hold can be relied on. Pure: the time is passed in.
//!
//! All that a holder knows is when it last sent a request that the server granted or renewed; the server's
//! count begins no earlier. So the lock is certainly held for a TTL from then, by a clock that cannot jump and
//! counts while the machine sleeps. It renews at a third of that, asks what it runs to stop at two thirds, and
//! kills it at nine tenths: before anybody else can hold the lock.

use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    ttl: Duration,
    /// When the last request that succeeded was sent.
    renewed: Duration,
}

impl Lease {
    pub(super) fn new(ttl: Duration, renewed: Duration) -> Lease {
        Lease { ttl, renewed }
    }

    pub(super) fn renewed(&mut self, sent: Duration) {
        self.renewed = self.renewed.max(sent);
    }

    pub(super) fn renew_at(&self) -> Duration {
        self.renewed + self.ttl / 3
    }

    pub(super) fn stop_at(&self) -> Duration {
        self.renewed + self.ttl * 2 / 3
    }

    pub(super) fn kill_at(&self) -> Duration {
        self.renewed + self.ttl * 9 / 10
    }

    /// How long to wait for one answer, and between two attempts.
    pub(super) fn patience(&self) -> Duration {
        (self.ttl / 6).clamp(Duration::from_millis(200), Duration::from_secs(10))
    }

    pub(super) fn again_after(&self) -> Duration {
        (self.ttl / 30).clamp(Duration::from_millis(50), Duration::from_secs(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn everything_ends_before_the_ttl_is_over() {
        for ttl in [1, 5, 30, 86_400] {
            let lease = Lease::new(S * ttl, S * 100);
            assert!(lease.renew_at() < lease.stop_at());
            assert!(lease.stop_at() < lease.kill_at());
            assert!(lease.kill_at() < S * 100 + S * ttl);
            let tries = (lease.stop_at() - lease.renew_at()).as_millis()
                / (lease.patience() + lease.again_after()).as_millis();
            assert!(tries >= 1, "a renewal that got no answer is tried again: {ttl}s");
        }
    }

    #[test]
    fn a_late_answer_never_makes_it_shorter() {
        let mut lease = Lease::new(S * 30, S * 100);
        lease.renewed(S * 110);
        assert_eq!(lease.renew_at(), S * 120);
        lease.renewed(S * 105);
        assert_eq!(lease.renew_at(), S * 120);
    }
}
