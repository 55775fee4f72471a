//! Whether and when a call is tried again. Pure: the random number is passed in.
//!
//! What is retried: anything when no connection came about; a refusal with `unavailable`; and a
//! connection lost after sending, for calls that may be repeated (GET, PUT, DELETE, and POSTs, which
//! carry a key). A PATCH whose answer was lost is not repeated: it may have been done, and would then
//! fail as stale.

use std::time::Duration;

use hostler_model::Code;
use http::Method;

use crate::Error;

/// How patient single calls are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// All tries together, the first included.
    pub attempts: u32,
    /// Wait before the first retry; doubles with each.
    pub delay_min: Duration,
    pub delay_max: Duration,
}

impl Default for RetryPolicy {
    /// Rides over a server's restart of about two seconds.
    fn default() -> RetryPolicy {
        RetryPolicy {
            attempts: 5,
            delay_min: Duration::from_millis(100),
            delay_max: Duration::from_secs(2),
        }
    }
}

impl RetryPolicy {
    /// One try only.
    pub const NONE: RetryPolicy =
        RetryPolicy { attempts: 1, delay_min: Duration::ZERO, delay_max: Duration::ZERO };

    /// How long to wait before try number `attempt + 1`; `random` is uniform in `[0, 1)`. `None` is
    /// enough.
    pub(crate) fn delay(
        &self,
        attempt: u32,
        retry_after: Option<Duration>,
        random: f64,
    ) -> Option<Duration> {
        if attempt >= self.attempts {
            return None;
        }
        let ceiling = self
            .delay_min
            .saturating_mul(2u32.saturating_pow(attempt.saturating_sub(1)))
            .min(self.delay_max);
        let delay = ceiling.mul_f64(0.5 + random / 2.0);
        Some(delay.max(retry_after.unwrap_or_default()))
    }
}

/// How far a try came before it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// No connection: the server knows nothing of it.
    Nothing,
    /// It was sent; whether it was carried out is not known.
    Sent,
    /// The server answered.
    Answer,
}

pub(crate) fn is_worth_repeating(method: &Method, reached: Reached, error: &Error) -> bool {
    match reached {
        Reached::Nothing => matches!(error, Error::Unreachable { .. }),
        Reached::Sent => matches!(error, Error::Unreachable { .. }) && *method != Method::PATCH,
        Reached::Answer => error.is(Code::Unavailable),
    }
}

/// Uniform in `[0, 1)`, from the randomness of an id.
pub(crate) fn random() -> f64 {
    let (_, low) = uuid::Uuid::new_v4().as_u64_pair();
    f64::from(u32::try_from(low & 0xffff_ffff).unwrap_or(0)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lost() -> Error {
        Error::Unreachable { address: String::new(), source: "gone".into() }
    }

    fn problem(code: Code) -> Error {
        Error::Problem(Box::new(hostler_api::Problem {
            kind: String::new(),
            title: String::new(),
            status: 503,
            detail: String::new(),
            code,
            hint: String::new(),
            request_id: String::new(),
            errors: Vec::new(),
        }))
    }

    #[test]
    fn only_what_is_safe_is_repeated() {
        let methods = [Method::GET, Method::PUT, Method::DELETE, Method::POST, Method::PATCH];
        for method in &methods {
            assert!(is_worth_repeating(method, Reached::Nothing, &lost()), "{method}");
            assert!(is_worth_repeating(method, Reached::Answer, &problem(Code::Unavailable)));
            assert!(!is_worth_repeating(method, Reached::Answer, &problem(Code::NodeUnreachable)));
            assert!(!is_worth_repeating(method, Reached::Answer, &problem(Code::Internal)));
            let repeated = is_worth_repeating(method, Reached::Sent, &lost());
            assert_eq!(repeated, *method != Method::PATCH, "{method}");
        }
    }

    proptest! {
        #[test]
        fn delays_are_bounded_and_end(random in 0.0f64..1.0, attempt in 1u32..20, after in 0u64..5000) {
            let policy = RetryPolicy::default();
            let after = Duration::from_millis(after);
            match policy.delay(attempt, Some(after), random) {
                None => prop_assert!(attempt >= policy.attempts),
                Some(delay) => {
                    prop_assert!(attempt < policy.attempts);
                    prop_assert!(delay >= after);
                    prop_assert!(delay <= policy.delay_max.max(after));
                }
            }
        }
    }
}
