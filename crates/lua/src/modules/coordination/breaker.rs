//! A circuit breaker: when something keeps failing, nobody asks it for a while.
//!
//! Closed lets everything through. After so many failures in a row it is open: nothing goes through until its time is
//! over. Then it is half open: one try at a time, until enough of them went well (closed) or one failed (open again).

use std::time::{Duration, Instant};

use hostler_model::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    Open { until: Instant },
    HalfOpen { is_trying: bool },
}

impl State {
    pub const fn label(self) -> &'static str {
        match self {
            State::Closed => "closed",
            State::Open { .. } => "open",
            State::HalfOpen { .. } => "half-open",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Failures in a row that open it.
    pub max_failures: usize,
    /// How long it stays open.
    pub timeout: Duration,
    /// Successes in a row that close it again.
    pub success_threshold: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Breaker {
    pub state: State,
    pub requests: u64,
    pub total_success: u64,
    pub total_failures: u64,
    pub consecutive_success: usize,
    pub consecutive_failures: usize,
    pub last_success: Option<Timestamp>,
    pub last_failure: Option<Timestamp>,
}

impl Default for Breaker {
    fn default() -> Breaker {
        Breaker {
            state: State::Closed,
            requests: 0,
            total_success: 0,
            total_failures: 0,
            consecutive_success: 0,
            consecutive_failures: 0,
            last_success: None,
            last_failure: None,
        }
    }
}

impl Breaker {
    /// Lets somebody through, or says for how long not.
    pub fn admit(&mut self, now: Instant) -> Result<(), Duration> {
        match self.state {
            State::Open { until } if now < until => return Err(until - now),
            State::HalfOpen { is_trying: true } => return Err(Duration::ZERO),
            State::Open { .. } => {
                self.consecutive_success = 0;
                self.state = State::HalfOpen { is_trying: true };
            }
            State::HalfOpen { is_trying: false } => {
                self.state = State::HalfOpen { is_trying: true };
            }
            State::Closed => {}
        }
        self.requests += 1;
        Ok(())
    }

    /// Takes note of how it went.
    pub fn record(&mut self, is_success: bool, now: Instant, wall: Timestamp, settings: Settings) {
        if is_success {
            self.total_success += 1;
            self.consecutive_success += 1;
            self.consecutive_failures = 0;
            self.last_success = Some(wall);
        } else {
            self.total_failures += 1;
            self.consecutive_failures += 1;
            self.consecutive_success = 0;
            self.last_failure = Some(wall);
        }
        self.state = match self.state {
            State::HalfOpen { .. } if !is_success => State::Open { until: now + settings.timeout },
            State::HalfOpen { .. } if self.consecutive_success >= settings.success_threshold => {
                State::Closed
            }
            State::HalfOpen { .. } => State::HalfOpen { is_trying: false },
            State::Closed if self.consecutive_failures >= settings.max_failures => {
                State::Open { until: now + settings.timeout }
            }
            state => state,
        };
    }

    /// Somebody who was let through went away without an answer.
    pub fn forget(&mut self) {
        if let State::HalfOpen { is_trying } = &mut self.state {
            *is_trying = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: Settings =
        Settings { max_failures: 2, timeout: Duration::from_secs(10), success_threshold: 2 };

    #[test]
    fn it_opens_after_failures_in_a_row_and_closes_after_successes_in_a_row() {
        let began = Instant::now();
        let at = |seconds: u64| began + Duration::from_secs(seconds);
        let mut breaker = Breaker::default();
        let mut tried = |second: u64, is_success: bool| {
            let admitted = breaker.admit(at(second)).is_ok();
            if admitted {
                breaker.record(is_success, at(second), Timestamp::EPOCH, SETTINGS);
            }
            (admitted, breaker.state.label())
        };
        for (second, is_success, expected) in [
            (0, false, (true, "closed")),
            (0, true, (true, "closed")),
            (1, false, (true, "closed")),
            (1, false, (true, "open")),
            (2, true, (false, "open")),
            (10, true, (false, "open")),
            (11, false, (true, "open")),
            (20, true, (false, "open")),
            (21, true, (true, "half-open")),
            (21, true, (true, "closed")),
            (21, false, (true, "closed")),
        ] {
            assert_eq!(tried(second, is_success), expected, "at {second}");
        }
    }

    #[test]
    fn half_open_lets_one_through_at_a_time() {
        let now = Instant::now();
        let mut breaker = Breaker { state: State::Open { until: now }, ..Breaker::default() };
        assert!(breaker.admit(now).is_ok());
        assert!(breaker.admit(now).is_err());
        breaker.forget();
        assert!(breaker.admit(now).is_ok());
    }
}
