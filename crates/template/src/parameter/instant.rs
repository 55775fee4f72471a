//! Points in time as ISO 8601 writes them, read as generously as clients are used to: dashes and colons may
//! be missing, so may everything after the year, and a comma may be a point. Without a zone it is UTC.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use regex::{Captures, Regex};

static SHAPE: LazyLock<Regex> = LazyLock::new(|| {
    let date = r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?|(\d{2})(\d{2}))?";
    let time = r"(\d{2})(?::?(\d{2})(?::?(\d{1,2})(?:[.,](\d+))?)?)?";
    let zone = r"(Z|([-+])(\d{2}):?(\d{2})?)?";
    Regex::new(&format!("^{date}(?:[ T]{time}{zone})?$")).expect("the pattern is a constant")
});

/// The time that a text says.
pub fn parse(text: &str) -> Option<Timestamp> {
    let found = SHAPE.captures(text)?;
    let whole = |at: usize| found.get(at).and_then(|part| part.as_str().parse::<i16>().ok());
    let small = |at: usize, or: i8| whole(at).map_or(Some(or), |value| i8::try_from(value).ok());
    let has_day = found.get(3).or(found.get(5)).is_some();
    if found.get(6).is_some() && !has_day {
        return None;
    }
    let month = if found.get(4).is_some() { small(4, 1)? } else { small(2, 1)? };
    let day = if found.get(5).is_some() { small(5, 1)? } else { small(3, 1)? };
    let date = Date::new(whole(1)?, month, day).ok()?;
    let time = Time::new(small(6, 0)?, small(7, 0)?, small(8, 0)?, nanoseconds(&found)).ok()?;
    let civil = DateTime::from_parts(date, time);
    offset(&found)?.to_timestamp(civil).ok()
}

fn nanoseconds(found: &Captures<'_>) -> i32 {
    let digits = found.get(9).map_or("", |part| part.as_str());
    let nine: String = digits.chars().chain("000000000".chars()).take(9).collect();
    nine.parse().unwrap_or(0)
}

fn offset(found: &Captures<'_>) -> Option<Offset> {
    let Some(hours) = found.get(12) else { return Some(Offset::UTC) };
    let hours: i32 = hours.as_str().parse().ok()?;
    let minutes: i32 = found.get(13).map_or(Some(0), |part| part.as_str().parse().ok())?;
    let sign = if found.get(11).is_some_and(|sign| sign.as_str() == "-") { -1 } else { 1 };
    Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_generously() {
        for (text, expected) in [
            ("2026-11-15T07:29:29Z", "2026-11-15T07:29:29Z"),
            ("2026-11-15 07:29:29", "2026-11-15T07:29:29Z"),
            ("2026-11-15T07:29:29.5+01:00", "2026-11-15T06:29:29.5Z"),
            ("2026-11-15T07:29:29,25-0130", "2026-11-15T08:59:29.25Z"),
            ("20261115T072929Z", "2026-11-15T07:29:29Z"),
            ("2026-11-15T07", "2026-11-15T07:00:00Z"),
            ("2026-11-15", "2026-11-15T00:00:00Z"),
            ("20261115", "2026-11-15T00:00:00Z"),
            ("2026-11", "2026-11-01T00:00:00Z"),
            ("2026", "2026-01-01T00:00:00Z"),
        ] {
            assert_eq!(
                parse(text).map(|found| found.to_string()),
                Some(expected.to_owned()),
                "{text}"
            );
        }
        for text in [
            "",
            "today",
            "2026-13-01",
            "2026-02-30",
            "2026-11T10:00",
            "2026-11-15T25:00",
            "1",
            "2026-11-15T07:29:29Zx",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
