//! The wall clock, for what has to be compared between processes or is read by people. How long something takes is
//! measured with `Instant`.

use std::time::{SystemTime, UNIX_EPOCH};

use hostler_model::Timestamp;

#[expect(
    clippy::disallowed_methods,
    reason = "bodies run where the wall clock is, and TTLs are told by it"
)]
pub(super) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// Seconds since 1970.
#[expect(clippy::cast_precision_loss, reason = "microseconds of this age are far below 2^53")]
pub(super) fn seconds(at: Timestamp) -> f64 {
    at.micros() as f64 / 1e6
}

/// Milliseconds since 1970.
pub(super) fn millis(at: Timestamp) -> f64 {
    seconds(at) * 1e3
}
