//! Times for people.

use std::time::Duration;

use hostler_model::Timestamp;

/// `5m ago`, `in 3d`; one unit is enough.
pub fn age(time: Timestamp, now: Timestamp) -> String {
    if time > now {
        format!("in {}", span(time.since(now)))
    } else {
        format!("{} ago", span(now.since(time)))
    }
}

/// Relative in tables, absolute (to the second) with `wide`.
pub fn moment(time: Timestamp, now: Timestamp, is_wide: bool) -> String {
    if is_wide { absolute(time) } else { age(time, now) }
}

fn absolute(time: Timestamp) -> String {
    match jiff::Timestamp::from_second(time.micros().div_euclid(1_000_000)) {
        Ok(time) => time.to_string(),
        Err(_) => time.to_string(),
    }
}

/// A length of time in its largest unit.
pub fn span(length: Duration) -> String {
    let seconds = length.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        86_400..31_536_000 => format!("{}d", seconds / 86_400),
        _ => format!("{}y", seconds / 31_536_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_people_say_them() {
        let now = Timestamp::from_micros(1_760_000_000_000_000);
        let before = |seconds| age(now.minus(Duration::from_secs(seconds)), now);
        let cases = [
            (0, "0s ago"),
            (59, "59s ago"),
            (61, "1m ago"),
            (7200, "2h ago"),
            (90_000, "1d ago"),
            (40_000_000, "1y ago"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(before(seconds), expected);
        }
        assert_eq!(age(now.plus(Duration::from_secs(120)), now), "in 2m");
        assert_eq!(moment(now, now, true), "2025-10-09T08:53:20Z");
    }
}
