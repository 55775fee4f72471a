//! Durations, sizes and signals as other programs write them.

use hostler_model::{Bytes, Cores, Span, StopSignal};

const MICROS_PER_SECOND: f64 = 1_000_000.0;

/// A unit and how many microseconds it has.
type Units = &'static [(&'static [&'static str], f64)];

const GO: Units = &[
    (&["h"], 3_600.0 * MICROS_PER_SECOND),
    (&["m"], 60.0 * MICROS_PER_SECOND),
    (&["s"], MICROS_PER_SECOND),
    (&["ms"], 1_000.0),
    (&["us", "µs"], 1.0),
    (&["ns"], 0.001),
];

const SYSTEMD: Units = &[
    (&["years", "year", "y"], 31_557_600.0 * MICROS_PER_SECOND),
    (&["months", "month", "M"], 2_629_800.0 * MICROS_PER_SECOND),
    (&["weeks", "week", "w"], 604_800.0 * MICROS_PER_SECOND),
    (&["days", "day", "d"], 86_400.0 * MICROS_PER_SECOND),
    (&["hours", "hour", "hr", "h"], 3_600.0 * MICROS_PER_SECOND),
    (&["minutes", "minute", "min", "m"], 60.0 * MICROS_PER_SECOND),
    (&["seconds", "second", "sec", "s", ""], MICROS_PER_SECOND),
    (&["msec", "ms"], 1_000.0),
    (&["usec", "us", "µs", "μs"], 1.0),
];

/// `1m30s`, `1.5h`, `500ms`, as Compose takes them.
pub fn go_span(text: &str) -> Option<Span> {
    span(text, GO)
}

/// `5min 20s`, `90`, `1.5h`; a bare number is seconds.
pub fn systemd_span(text: &str) -> Option<Span> {
    span(text, SYSTEMD)
}

fn span(text: &str, units: Units) -> Option<Span> {
    let mut rest = text.trim();
    let mut micros = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let (number, tail) = leading_number(rest)?;
        let tail = tail.trim_start();
        let letters = tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(letters);
        let (_, size) = units.iter().find(|(names, _)| names.contains(&unit))?;
        micros += number * size;
        rest = tail.trim_start();
    }
    let millis = (micros / 1_000.0).round();
    whole(millis, 1e15).map(Span::from_millis)
}

fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    Some((number.parse().ok()?, rest))
}

fn whole(number: f64, most: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked here"
    )]
    (0.0..=most).contains(&number).then_some(number as u64)
}

/// `512m`, `1.5G`, `2gb`, `64KiB`, `1024`: letters are powers of 1024.
pub fn size(text: &str) -> Option<Bytes> {
    let (number, unit) = leading_number(text.trim())?;
    let unit = unit.trim().to_ascii_lowercase();
    let letter = unit.trim_end_matches('b').trim_end_matches('i');
    let factor = match letter {
        "" if unit != "i" => 1.0,
        "k" => 1024.0,
        "m" => 1024.0 * 1024.0,
        "g" => 1024.0 * 1024.0 * 1024.0,
        "t" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    whole((number * factor).floor(), 9e18).map(Bytes::new)
}

/// Cores, rounded to thousandths.
pub fn cores(number: f64) -> Option<Cores> {
    Cores::from_f64((number * 1000.0).round() / 1000.0)
}

/// CPU shares, of which 1024 are usual, as a weight, of which 100 are.
pub fn weight_of_shares(shares: u32) -> u32 {
    u32::try_from(u64::from(shares) * 100 / 1024).unwrap_or(u32::MAX).clamp(1, 10_000)
}

/// `SIGTERM`, `TERM`, `term` or a number.
pub fn signal(text: &str) -> Option<StopSignal> {
    let text = text.trim().to_ascii_uppercase();
    let bare = text.strip_prefix("SIG").unwrap_or(&text);
    StopSignal::ALL.iter().copied().find(|signal| {
        signal.label() == format!("SIG{bare}") || signal.number().to_string() == bare
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        assert_eq!(go_span("1m30s"), Some(Span::from_secs(90)));
        assert_eq!(go_span("1.5h"), Some(Span::from_secs(5_400)));
        assert_eq!(go_span("250ms"), Some(Span::from_millis(250)));
        assert_eq!(go_span("30"), None);
        assert_eq!(go_span(""), None);
        assert_eq!(systemd_span("5min 20s"), Some(Span::from_secs(320)));
        assert_eq!(systemd_span("90"), Some(Span::from_secs(90)));
        assert_eq!(systemd_span("2 h"), Some(Span::from_secs(7_200)));
        assert_eq!(systemd_span("1w"), Some(Span::from_secs(604_800)));
        assert_eq!(systemd_span("infinity"), None);
        assert_eq!(systemd_span("-1"), None);
        assert_eq!(systemd_span("99999999999y"), None);
    }

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("1024", 1024),
            ("512m", 512 << 20),
            ("1.5G", 3 << 29),
            ("2gb", 2 << 30),
            ("64KiB", 64 << 10),
            ("1T", 1 << 40),
            ("7b", 7),
        ] {
            assert_eq!(size(text), Some(Bytes::new(bytes)), "{text}");
        }
        for text in ["", "x", "50%", "infinity", "-1", "1x", "9999999999T"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn signals_are_read() {
        assert_eq!(signal("SIGINT"), Some(StopSignal::Int));
        assert_eq!(signal("quit"), Some(StopSignal::Quit));
        assert_eq!(signal("9"), Some(StopSignal::Kill));
        assert_eq!(signal("SIGWINCH"), None);
        assert_eq!(weight_of_shares(1024), 100);
        assert_eq!(weight_of_shares(2), 1);
    }
}
