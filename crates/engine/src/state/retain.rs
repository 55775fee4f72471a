//! How much of the log is kept.
//!
//! A batch is let go of when it is older than the retention, or when those after it already make up as
//! many bytes as the log may have. Whatever is let go of is older than everything that stays.

use std::time::Duration;

use hostler_model::{StateHead, Timestamp};

/// How long and how large the log may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub time: Duration,
    pub bytes: u64,
}

/// A batch of the log, without what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogMark {
    pub last: u64,
    pub time: Timestamp,
    /// Bytes of the log up to its end, from the beginning of all time.
    pub logged: u64,
}

/// The last revision to let go of, given the oldest batches, oldest first.
pub fn cut(
    oldest: &[LogMark],
    head: StateHead,
    now: Timestamp,
    retention: Retention,
) -> Option<u64> {
    let before = now.minus(retention.time);
    let is_over = |mark: &&LogMark| {
        mark.time < before || head.logged.saturating_sub(mark.logged) >= retention.bytes
    };
    oldest.iter().take_while(is_over).last().map(|mark| mark.last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(last: u64, seconds: i64, logged: u64) -> LogMark {
        LogMark { last, time: Timestamp::from_micros(seconds * 1_000_000), logged }
    }

    #[test]
    fn what_is_old_or_too_much_goes() {
        let log = [mark(3, 10, 100), mark(7, 20, 200), mark(9, 30, 300)];
        let head = StateHead { revision: 9, time: Timestamp::from_micros(30_000_000), logged: 300 };
        let at = |seconds: i64, time: u64, bytes: u64| {
            let retention = Retention { time: Duration::from_secs(time), bytes };
            cut(&log, head, Timestamp::from_micros(seconds * 1_000_000), retention)
        };
        assert_eq!(at(30, 60, 1000), None);
        assert_eq!(at(30, 20, 1000), None, "what is exactly as old stays");
        assert_eq!(at(31, 20, 1000), Some(3));
        assert_eq!(at(100, 20, 1000), Some(9));
        assert_eq!(at(30, 60, 200), Some(3), "two batches have as much as there may be");
        assert_eq!(at(30, 60, 150), Some(3));
        assert_eq!(at(30, 60, 100), Some(7));
        assert_eq!(at(30, 60, 0), Some(9));
        assert_eq!(cut(&[], head, head.time, Retention { time: Duration::ZERO, bytes: 0 }), None);
    }
}
