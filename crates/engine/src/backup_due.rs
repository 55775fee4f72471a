//! When a server makes the next backup by itself.
//!
//! One that succeeded counts for as long as backups are apart. One that failed is tried again soon, and
//! not as fast as it can be; one that nobody has ended is waited for, because it may be large, and given up
//! when it is certain that its server died over it.

use std::time::Duration;

use hostler_model::Timestamp;
use hostler_model::backup::BackupAttempt;

/// After a failure.
pub const RETRY: Duration = Duration::from_mins(5);
/// For one that nobody has ended.
pub const UNENDED: Duration = Duration::from_hours(6);
/// A backup is overdue when it is later than it should be by half of the time between two.
const OVERDUE_DIVISOR: u32 = 2;

/// When the next is due.
pub fn next(
    every: Duration,
    last_good: Option<&BackupAttempt>,
    last: Option<&BackupAttempt>,
    now: Timestamp,
) -> Timestamp {
    let wanted = last_good.map_or(now, |good| good.time_created.plus(every));
    let possible = match last {
        Some(last) if last.time_ended.is_none() => last.time_created.plus(UNENDED),
        Some(last) if last.problem.is_some() => last.time_created.plus(RETRY.min(every)),
        _ => wanted,
    };
    wanted.max(possible)
}

/// Whether the newest that succeeded is older than it should be. `since` is when backups began to be wanted.
pub fn is_overdue(
    every: Duration,
    last_good: Option<Timestamp>,
    since: Timestamp,
    now: Timestamp,
) -> bool {
    now.since(last_good.unwrap_or(since)) > every + every / OVERDUE_DIVISOR
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{BackupId, Digest};
    use uuid::Uuid;

    const HOUR: Duration = Duration::from_hours(1);

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_micros(minutes * 60_000_000)
    }

    fn attempt(minutes: i64, is_ended: bool, is_good: bool) -> BackupAttempt {
        BackupAttempt {
            id: BackupId::from_uuid(Uuid::from_u128(1)),
            server_name: String::new(),
            file: String::new(),
            size: 0,
            digest: is_good.then(|| Digest::from_bytes([1; 32])),
            problem: (is_ended && !is_good).then(|| "disk full".to_owned()),
            time_created: at(minutes),
            time_ended: is_ended.then(|| at(minutes + 1)),
        }
    }

    #[test]
    fn the_next_is_due_when_the_last_is_old_enough() {
        let good = attempt(0, true, true);
        let failed = attempt(60, true, false);
        let open = attempt(60, false, false);
        assert_eq!(next(HOUR, None, None, at(7)), at(7), "the first at once");
        assert_eq!(next(HOUR, Some(&good), Some(&good), at(7)), at(60));
        assert_eq!(next(HOUR, Some(&good), Some(&failed), at(61)), at(65), "again soon");
        assert_eq!(next(HOUR, None, Some(&failed), at(61)), at(65));
        assert_eq!(next(HOUR, Some(&good), Some(&open), at(61)), at(60 + 360), "it may be large");
        let minute = Duration::from_mins(1);
        assert_eq!(next(minute, None, Some(&failed), at(60)), at(61), "not seldomer than wished");
    }

    #[test]
    fn a_backup_that_is_much_too_late_is_overdue() {
        assert!(!is_overdue(HOUR, Some(at(0)), at(0), at(60)));
        assert!(!is_overdue(HOUR, Some(at(0)), at(0), at(90)));
        assert!(is_overdue(HOUR, Some(at(0)), at(0), at(91)));
        assert!(!is_overdue(HOUR, None, at(100), at(110)), "it was only wanted just now");
        assert!(is_overdue(HOUR, None, at(0), at(91)));
    }
}
