//! Layouts of times as Go writes them: by the example of Mon Jan 2 15:04:05 MST 2006.

use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

/// Layouts that have names.
const NAMED: [(&str, &str); 14] = [
    ("ANSIC", "Mon Jan _2 15:04:05 2006"),
    ("DateOnly", "2006-01-02"),
    ("DateTime", "2006-01-02 15:04:05"),
    ("Kitchen", "3:04PM"),
    ("RFC1123", "Mon, 02 Jan 2006 15:04:05 MST"),
    ("RFC1123Z", "Mon, 02 Jan 2006 15:04:05 -0700"),
    ("RFC3339", "2006-01-02T15:04:05Z07:00"),
    ("RFC3339Nano", "2006-01-02T15:04:05.999999999Z07:00"),
    ("RFC822", "02 Jan 06 15:04 MST"),
    ("RFC822Z", "02 Jan 06 15:04 -0700"),
    ("RFC850", "Monday, 02-Jan-06 15:04:05 MST"),
    ("Stamp", "Jan _2 15:04:05"),
    ("TimeOnly", "15:04:05"),
    ("UnixDate", "Mon Jan _2 15:04:05 MST 2006"),
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// A piece of a layout.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Piece<'a> {
    Year,
    ShortYear,
    MonthName,
    ShortMonthName,
    Month {
        is_padded: bool,
    },
    DayName,
    ShortDayName,
    Day {
        pad: Pad,
    },
    DayOfYear,
    Hour,
    Hour12 {
        is_padded: bool,
    },
    Minute {
        is_padded: bool,
    },
    Second {
        is_padded: bool,
    },
    Half {
        is_upper: bool,
    },
    /// So many digits behind a point; zeros at the end may be left out.
    Fraction {
        digits: usize,
        is_short: bool,
    },
    Zone,
    Offset {
        has_colon: bool,
        has_minutes: bool,
        is_z: bool,
    },
    Text(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Pad {
    No,
    Zero,
    Space,
}

/// The words of the example, longer ones before those they begin with.
const WORDS: [(&str, Piece<'static>); 28] = [
    ("2006", Piece::Year),
    ("06", Piece::ShortYear),
    ("January", Piece::MonthName),
    ("Jan", Piece::ShortMonthName),
    ("Monday", Piece::DayName),
    ("Mon", Piece::ShortDayName),
    ("MST", Piece::Zone),
    ("002", Piece::DayOfYear),
    ("01", Piece::Month { is_padded: true }),
    ("02", Piece::Day { pad: Pad::Zero }),
    ("_2", Piece::Day { pad: Pad::Space }),
    ("03", Piece::Hour12 { is_padded: true }),
    ("04", Piece::Minute { is_padded: true }),
    ("05", Piece::Second { is_padded: true }),
    ("15", Piece::Hour),
    ("PM", Piece::Half { is_upper: true }),
    ("pm", Piece::Half { is_upper: false }),
    ("-07:00", Piece::Offset { has_colon: true, has_minutes: true, is_z: false }),
    ("-0700", Piece::Offset { has_colon: false, has_minutes: true, is_z: false }),
    ("-07", Piece::Offset { has_colon: false, has_minutes: false, is_z: false }),
    ("Z07:00", Piece::Offset { has_colon: true, has_minutes: true, is_z: true }),
    ("Z0700", Piece::Offset { has_colon: false, has_minutes: true, is_z: true }),
    ("Z07", Piece::Offset { has_colon: false, has_minutes: false, is_z: true }),
    ("1", Piece::Month { is_padded: false }),
    ("2", Piece::Day { pad: Pad::No }),
    ("3", Piece::Hour12 { is_padded: false }),
    ("4", Piece::Minute { is_padded: false }),
    ("5", Piece::Second { is_padded: false }),
];

fn pieces(layout: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = layout;
    while let Some(first) = rest.chars().next() {
        if let Some((word, piece)) = WORDS.iter().find(|(word, _)| rest.starts_with(word)) {
            pieces.push(*piece);
            rest = &rest[word.len()..];
        } else if let Some((piece, length)) = fraction(rest) {
            pieces.push(piece);
            rest = &rest[length..];
        } else {
            let (text, after) = rest.split_at(first.len_utf8());
            pieces.push(Piece::Text(text));
            rest = after;
        }
    }
    pieces
}

fn fraction(rest: &str) -> Option<(Piece<'static>, usize)> {
    let digits = rest.strip_prefix(['.', ','])?;
    let digit = digits.chars().next().filter(|digit| matches!(digit, '0' | '9'))?;
    let count = digits.len() - digits.trim_start_matches(digit).len();
    let ends = !digits[count..].starts_with(|c: char| c.is_ascii_digit());
    (ends && count <= 9)
        .then_some((Piece::Fraction { digits: count, is_short: digit == '9' }, count + 1))
}

fn named(layout: &str) -> &str {
    NAMED.iter().find(|(name, _)| *name == layout).map_or(layout, |(_, layout)| layout)
}

/// A moment as a layout says.
pub(super) fn shown(when: &Zoned, layout: &str) -> Result<String, String> {
    let layout = named(layout);
    if layout.contains('%') {
        return jiff::fmt::strtime::format(layout, when)
            .map_err(|error| format!("the layout `{layout}` cannot be used: {error}"));
    }
    Ok(pieces(layout).into_iter().map(|piece| show(piece, when)).collect())
}

fn show(piece: Piece<'_>, when: &Zoned) -> String {
    let two = |number: i8, is_padded: bool| {
        if is_padded { format!("{number:02}") } else { number.to_string() }
    };
    let month = MONTHS.get(usize::from(when.month().unsigned_abs()) - 1).copied().unwrap_or("");
    let day = usize::from(when.weekday().to_sunday_zero_offset().unsigned_abs());
    let day = DAYS.get(day).copied().unwrap_or("");
    let hour = when.hour();
    match piece {
        Piece::Year => format!("{:04}", when.year()),
        Piece::ShortYear => format!("{:02}", when.year().rem_euclid(100)),
        Piece::MonthName => month.to_owned(),
        Piece::ShortMonthName => month[..3].to_owned(),
        Piece::Month { is_padded } => two(when.month(), is_padded),
        Piece::DayName => day.to_owned(),
        Piece::ShortDayName => day[..3].to_owned(),
        Piece::Day { pad: Pad::Space } => format!("{:2}", when.day()),
        Piece::Day { pad } => two(when.day(), pad == Pad::Zero),
        Piece::DayOfYear => format!("{:03}", when.day_of_year()),
        Piece::Hour => two(hour, true),
        Piece::Hour12 { is_padded } => two(if hour % 12 == 0 { 12 } else { hour % 12 }, is_padded),
        Piece::Minute { is_padded } => two(when.minute(), is_padded),
        Piece::Second { is_padded } => two(when.second(), is_padded),
        Piece::Half { is_upper: true } => if hour < 12 { "AM" } else { "PM" }.to_owned(),
        Piece::Half { is_upper: false } => if hour < 12 { "am" } else { "pm" }.to_owned(),
        Piece::Fraction { digits, is_short } => {
            let nanoseconds = format!("{:09}", when.subsec_nanosecond());
            let kept = &nanoseconds[..digits];
            let kept = if is_short { kept.trim_end_matches('0') } else { kept };
            if kept.is_empty() { String::new() } else { format!(".{kept}") }
        }
        Piece::Zone => when.strftime("%Z").to_string(),
        Piece::Offset { is_z: true, .. } if when.offset().is_zero() => "Z".to_owned(),
        Piece::Offset { has_colon, has_minutes, .. } => {
            let seconds = when.offset().seconds();
            let sign = if seconds < 0 { '-' } else { '+' };
            let (hours, minutes) = (seconds.abs() / 3600, seconds.abs() / 60 % 60);
            match (has_minutes, has_colon) {
                (false, _) => format!("{sign}{hours:02}"),
                (true, true) => format!("{sign}{hours:02}:{minutes:02}"),
                (true, false) => format!("{sign}{hours:02}{minutes:02}"),
            }
        }
        Piece::Text(text) => text.to_owned(),
    }
}

/// The moment of a text; where it says no zone, in the one that is given.
pub(super) fn read(text: &str, layout: &str, zone: &TimeZone) -> Result<Timestamp, String> {
    let layout = named(layout);
    if layout.contains('%') {
        let bad = |error: jiff::Error| format!("`{text}` is not written as `{layout}`: {error}");
        let parsed = jiff::fmt::strtime::parse(layout, text).map_err(bad)?;
        return match parsed.to_timestamp() {
            Ok(moment) => Ok(moment),
            Err(_) => {
                let date = parsed.to_date().map_err(bad)?;
                let time = parsed.to_time().unwrap_or_default();
                moment(DateTime::from_parts(date, time), zone)
            }
        };
    }
    let mut reader = Reader { rest: text, ..Reader::default() };
    for piece in pieces(layout) {
        if reader.take(piece).is_none() {
            return Err(format!(
                "`{text}` is not written as `{layout}`: it does not fit at `{}`",
                reader.rest
            ));
        }
    }
    if !reader.rest.is_empty() {
        return Err(format!("`{text}` goes on behind what `{layout}` says: `{}`", reader.rest));
    }
    reader.moment(zone).map_err(|why| format!("`{text}` is no moment: {why}"))
}

fn moment(when: DateTime, zone: &TimeZone) -> Result<Timestamp, String> {
    zone.to_timestamp(when).map_err(|error| error.to_string())
}

#[derive(Default)]
struct Reader<'a> {
    rest: &'a str,
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
    day_of_year: Option<i16>,
    hour: i8,
    minute: i8,
    second: i8,
    nanosecond: i32,
    is_afternoon: Option<bool>,
    offset: Option<i32>,
}

impl<'a> Reader<'a> {
    fn take(&mut self, piece: Piece<'_>) -> Option<()> {
        match piece {
            Piece::Year => self.year = Some(self.number(4, 4)?),
            Piece::ShortYear => {
                let year: i16 = self.number(2, 2)?;
                self.year = Some(if year < 69 { 2000 + year } else { 1900 + year });
            }
            Piece::MonthName => self.month = Some(self.word(&MONTHS, false)?),
            Piece::ShortMonthName => self.month = Some(self.word(&MONTHS, true)?),
            Piece::DayName => drop(self.word(&DAYS, false)?),
            Piece::ShortDayName => drop(self.word(&DAYS, true)?),
            Piece::Month { is_padded } => self.month = Some(self.two(is_padded)?),
            Piece::Day { pad } => {
                self.rest = self.rest.trim_start_matches(' ');
                self.day = Some(self.two(pad == Pad::Zero)?);
            }
            Piece::DayOfYear => self.day_of_year = Some(self.number(3, 3)?),
            Piece::Hour => self.hour = self.two(true)?,
            Piece::Hour12 { is_padded } => self.hour = self.two(is_padded)?,
            Piece::Minute { is_padded } => self.minute = self.two(is_padded)?,
            Piece::Second { is_padded } => {
                self.second = self.two(is_padded)?;
                // Go takes a fraction behind the seconds whether the layout has one or not.
                if self.rest.starts_with('.') {
                    self.fraction()?;
                }
            }
            Piece::Fraction { .. } => {
                if self.rest.starts_with(['.', ',']) {
                    self.fraction()?;
                }
            }
            Piece::Half { .. } => {
                let (half, rest) = self.rest.split_at_checked(2)?;
                self.is_afternoon = Some(match half.to_ascii_lowercase().as_str() {
                    "am" => false,
                    "pm" => true,
                    _ => return None,
                });
                self.rest = rest;
            }
            Piece::Zone => {
                let end = self.rest.find(|c: char| !c.is_ascii_alphabetic());
                let (zone, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                if zone.is_empty() {
                    return None;
                }
                if matches!(zone, "UTC" | "GMT" | "Z") {
                    self.offset = Some(0);
                }
                self.rest = rest;
            }
            Piece::Offset { has_colon, has_minutes, is_z } => {
                self.offset(has_colon, has_minutes, is_z)?;
            }
            Piece::Text(text) => self.rest = self.rest.strip_prefix(text)?,
        }
        Some(())
    }

    fn number<N: std::str::FromStr>(&mut self, least: usize, most: usize) -> Option<N> {
        let digits = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        if digits < least {
            return None;
        }
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number.parse().ok()
    }

    fn two(&mut self, is_padded: bool) -> Option<i8> {
        self.number(if is_padded { 2 } else { 1 }, 2)
    }

    fn word(&mut self, words: &[&str], is_short: bool) -> Option<i8> {
        for (i, word) in words.iter().enumerate() {
            let word = if is_short { &word[..3] } else { word };
            let begin = self.rest.get(..word.len());
            if begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word)) {
                self.rest = &self.rest[word.len()..];
                return i8::try_from(i + 1).ok();
            }
        }
        None
    }

    fn fraction(&mut self) -> Option<()> {
        let digits: &'a str = self.rest.get(1..)?;
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return None;
        }
        let (fraction, rest) = digits.split_at(count);
        self.nanosecond = format!("{:0<9.9}", fraction).parse().ok()?;
        self.rest = rest;
        Some(())
    }

    fn offset(&mut self, has_colon: bool, has_minutes: bool, is_z: bool) -> Option<()> {
        if let (true, Some(rest)) = (is_z, self.rest.strip_prefix('Z')) {
            self.rest = rest;
            self.offset = Some(0);
            return Some(());
        }
        let sign = match self.rest.as_bytes().first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.rest = &self.rest[1..];
        let hours: i32 = self.number(2, 2)?;
        let minutes: i32 = if has_minutes {
            if has_colon {
                self.rest = self.rest.strip_prefix(':')?;
            }
            self.number(2, 2)?
        } else {
            0
        };
        self.offset = Some(sign * (hours * 3600 + minutes * 60));
        Some(())
    }

    fn moment(&self, zone: &TimeZone) -> Result<Timestamp, String> {
        let hour = match self.is_afternoon {
            Some(true) if self.hour < 12 => self.hour + 12,
            Some(false) if self.hour == 12 => 0,
            _ => self.hour,
        };
        let told = |error: jiff::Error| error.to_string();
        let year = self.year.unwrap_or(1970);
        let date = match self.day_of_year {
            Some(day) => Date::new(year, 1, 1)
                .and_then(|date| date.with().day_of_year(day).build())
                .map_err(told)?,
            None => {
                Date::new(year, self.month.unwrap_or(1), self.day.unwrap_or(1)).map_err(told)?
            }
        };
        let time = jiff::civil::Time::new(hour, self.minute, self.second, self.nanosecond)
            .map_err(told)?;
        let when = DateTime::from_parts(date, time);
        match self.offset {
            Some(seconds) => {
                let offset = Offset::from_seconds(seconds).map_err(told)?;
                moment(when, &offset.to_time_zone())
            }
            None => moment(when, zone),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_back() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let when: Timestamp = "2024-07-09T05:06:07.089Z".parse().unwrap();
        for (layout, expected, exact) in [
            ("2006-01-02 15:04:05", "2024-07-09 07:06:07", false),
            ("RFC3339", "2024-07-09T07:06:07+02:00", false),
            ("RFC3339Nano", "2024-07-09T07:06:07.089+02:00", true),
            ("Mon, 2 Jan 2006 3:4:5.000 pm -0700", "Tue, 9 Jul 2024 7:6:7.089 am +0200", true),
            ("ANSIC", "Tue Jul  9 07:06:07 2024", false),
            ("Monday, 02-January-06 15h04m05", "Tuesday, 09-July-24 07h06m07", false),
            ("20060102150405", "20240709070607", false),
            ("2006 002 15:04:05.999999", "2024 191 07:06:07.089", true),
            ("%Y-%m-%d %H:%M:%S", "2024-07-09 07:06:07", false),
        ] {
            let text = shown(&when.to_zoned(zone.clone()), layout).unwrap();
            assert_eq!(text, expected, "{layout}");
            let back = read(&text, layout, &zone).unwrap();
            assert_eq!(back.as_second(), when.as_second(), "{layout}");
            if exact {
                assert_eq!(back, when, "{layout}");
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_told_and_never_panics() {
        for (text, layout) in [
            ("2024-13-01", "2006-01-02"),
            ("2024-02-30", "DateOnly"),
            ("", "2006"),
            ("2024x", "2006"),
            ("é", "MST"),
            ("ö1", "Jan"),
            ("+é", "Z07:00"),
            ("12é", "3PM"),
            (".", "05"),
            ("x", "%Y"),
        ] {
            assert!(read(text, layout, &TimeZone::UTC).is_err(), "{text} as {layout}");
        }
    }
}
