//! Moments and lengths of time. No clock lives here: callers pass the time in.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A moment with microsecond resolution: BIGINT in SQL, RFC 3339 on the wire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const EPOCH: Timestamp = Timestamp(0);

    pub const fn from_micros(micros: i64) -> Timestamp {
        Timestamp(micros)
    }
    pub const fn micros(self) -> i64 {
        self.0
    }
    #[must_use]
    pub fn plus(self, length: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(i64::try_from(length.as_micros()).unwrap_or(i64::MAX)))
    }
    #[must_use]
    pub fn minus(self, length: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(i64::try_from(length.as_micros()).unwrap_or(i64::MAX)))
    }
    /// How long after `earlier` this is; zero when it is not after.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
    /// For sentences that people read: to the millisecond, and without zeros at its end.
    pub fn brief(self) -> String {
        match jiff::Timestamp::from_millisecond(self.0.div_euclid(1000)) {
            Ok(time) => time.to_string(),
            Err(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(t) => write!(f, "{t:.6}"),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Timestamp(text.parse::<jiff::Timestamp>()?.as_microsecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(|_| {
            de::Error::custom("expected an RFC 3339 time such as 2026-01-31T12:00:00Z")
        })
    }
}

impl schemars::JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// A length of time as people write it: `500ms`, `30s`, `1m30s`, `2h`, `7d`. Millisecond resolution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

/// Error of parsing a length of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a duration; write for example 500ms, 30s, 1m30s, 2h or 7d")]
pub struct ParseSpanError {
    given: String,
}

impl Span {
    const UNITS: [(&'static str, u64); 5] =
        [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

    pub const fn from_millis(millis: u64) -> Span {
        Span(millis)
    }
    pub const fn from_secs(secs: u64) -> Span {
        Span(secs * 1000)
    }
    pub const fn millis(self) -> u64 {
        self.0
    }
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Duration {
        span.duration()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let mut rest = self.0;
        for (unit, millis) in Self::UNITS {
            let n = rest / millis;
            rest %= millis;
            if n > 0 {
                write!(f, "{n}{unit}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Span {
    type Err = ParseSpanError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || ParseSpanError { given: text.chars().take(32).collect() };
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(bad());
        }
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, tail) = rest.split_at(digits);
            let letters =
                tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_lowercase()).len();
            let (unit, tail) = tail.split_at(letters);
            let number: u64 = number.parse().map_err(|_| bad())?;
            let (_, millis) = Self::UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(bad)?;
            total =
                number.checked_mul(*millis).and_then(|n| total.checked_add(n)).ok_or_else(bad)?;
            rest = tail;
        }
        // About 31,000 years; keeps arithmetic with moments far from overflow.
        if total > 1_000_000_000_000_000 { Err(bad()) } else { Ok(Span(total)) }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for Span {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Span".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^([0-9]{1,9}(d|h|m|s|ms))+$", "examples": ["30s", "1m30s"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_in_a_sentence_has_no_zeros() {
        for (text, brief) in [
            ("2026-11-19T15:26:08.000000Z", "2026-11-19T15:26:08Z"),
            ("2026-11-19T15:26:08.250000Z", "2026-11-19T15:26:08.25Z"),
            ("2026-11-19T15:26:08.000999Z", "2026-11-19T15:26:08Z"),
            ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(text.parse::<Timestamp>().unwrap().brief(), brief);
        }
    }

    #[test]
    fn spans_are_read_as_people_write_them() {
        let cases = [
            ("30s", 30_000),
            ("1m30s", 90_000),
            ("500ms", 500),
            ("2h", 7_200_000),
            ("7d", 604_800_000),
        ];
        for (text, millis) in cases {
            let span: Span = text.parse().unwrap();
            assert_eq!(span.millis(), millis, "{text}");
            assert_eq!(span.to_string(), text);
        }
        for bad in ["", "s", "10", "1x", "-1s", "1 s", "99999999999999999999s"] {
            assert!(bad.parse::<Span>().is_err(), "{bad}");
        }
    }

    #[test]
    fn timestamps_survive_the_wire() {
        let t = Timestamp::from_micros(1_760_000_000_123_456);
        assert_eq!(
            serde_json::from_str::<Timestamp>(&serde_json::to_string(&t).unwrap()).unwrap(),
            t
        );
    }
}
