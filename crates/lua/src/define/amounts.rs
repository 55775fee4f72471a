//! Times and counts as files write them.

use hostler_model::Span;
use hostler_model::workflow::Backoff;
use mlua::Value;

use crate::value::{kind, text};

/// A length of time: a number of seconds, or a text such as `90s`, `1h30m`, `1.5h`, `250ms`.
pub(crate) fn span(value: &Value) -> Result<Option<Span>, String> {
    match value {
        Value::Nil => Ok(None),
        Value::Integer(seconds) => seconds_span(*seconds as f64).map(Some),
        Value::Number(seconds) => seconds_span(*seconds).map(Some),
        Value::String(written) => parse(&text(written)).map(Some),
        other => Err(format!(
            "a {} is no length of time; write for example \"30s\" or \"5m\"",
            kind(other)
        )),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it was looked at before"
)]
fn seconds_span(seconds: f64) -> Result<Span, String> {
    let millis = seconds * 1000.0;
    if (0.0..=1e15).contains(&millis) {
        Ok(Span::from_millis(millis.round() as u64))
    } else {
        Err(format!("{seconds} seconds is no length of time"))
    }
}

fn parse(written: &str) -> Result<Span, String> {
    let bad = || {
        format!("`{written}` is no length of time; write for example \"30s\", \"5m\" or \"1h30m\"")
    };
    let mut rest = written.trim();
    if rest.is_empty() {
        return Err(bad());
    }
    if let Ok(seconds) = rest.parse::<f64>() {
        return seconds_span(seconds);
    }
    let mut millis = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(bad)?;
        let number: f64 = rest[..digits].parse().map_err(|_| bad())?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ns" => 1e-6,
            "us" | "µs" => 1e-3,
            "ms" => 1.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1e3,
            "m" | "min" | "mins" | "minute" | "minutes" => 6e4,
            "h" | "hr" | "hour" | "hours" => 3.6e6,
            "d" | "day" | "days" => 8.64e7,
            _ => return Err(bad()),
        };
        rest = rest[letters..].trim_start();
        millis += number * unit;
    }
    seconds_span(millis / 1000.0).map_err(|_| bad())
}

/// A whole number that is not negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it was looked at before"
)]
pub(crate) fn count(value: &Value) -> Option<u32> {
    let number = match value {
        Value::Integer(i) => *i as f64,
        Value::Number(n) => *n,
        Value::String(s) => text(s).trim().parse().ok()?,
        _ => return None,
    };
    (number.fract() == 0.0 && (0.0..=1e6).contains(&number)).then_some(number as u32)
}

/// How the wait between tries grows.
pub(crate) fn backoff(word: &str) -> Option<Backoff> {
    let word = word.to_lowercase();
    let word = word.trim_end_matches("_backoff").trim_end_matches("_delay");
    match word {
        "fixed" | "constant" | "none" => Some(Backoff::Fixed),
        "linear" => Some(Backoff::Linear),
        "exponential" | "exp" => Some(Backoff::Exponential),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_and_go_write_them() {
        for (written, millis) in [
            ("30s", Some(30_000)),
            ("1h30m", Some(5_400_000)),
            ("1.5h", Some(5_400_000)),
            ("250ms", Some(250)),
            ("90", Some(90_000)),
            ("2 minutes", Some(120_000)),
            ("1d", Some(86_400_000)),
            ("soon", None),
            ("", None),
            ("-5s", None),
            ("5 parsecs", None),
        ] {
            assert_eq!(parse(written).ok().map(Span::millis), millis, "{written}");
        }
    }

    #[test]
    fn strategies_have_several_names() {
        assert_eq!(backoff("EXPONENTIAL_BACKOFF"), Some(Backoff::Exponential));
        assert_eq!(backoff("fixed_delay"), Some(Backoff::Fixed));
        assert_eq!(backoff("sometimes"), None);
    }
}
