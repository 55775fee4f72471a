//! Schedules as cron reads them.

use std::ops::RangeInclusive;

use crate::HostError;

const WORDS: &[&str] =
    &["@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
const MONTHS: &[&str] =
    &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

struct Field {
    what: &'static str,
    range: RangeInclusive<u32>,
    /// Names that stand for numbers, from the first of the range.
    names: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { what: "minute", range: 0..=59, names: &[] },
    Field { what: "hour", range: 0..=23, names: &[] },
    Field { what: "day of the month", range: 1..=31, names: &[] },
    Field { what: "month", range: 1..=12, names: MONTHS },
    Field { what: "day of the week", range: 0..=7, names: DAYS },
];

/// Whether cron understands it; the error says which field is wrong.
pub fn validate_schedule(schedule: &str) -> Result<(), HostError> {
    let refuse = |problem: String| Err(HostError::invalid("the schedule", schedule, problem));
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if schedule.contains(['\n', '\r', '\0']) {
        return refuse("it must be one line".to_owned());
    }
    match fields.as_slice() {
        [word] if word.starts_with('@') => match WORDS.contains(&word.to_lowercase().as_str()) {
            true => Ok(()),
            false => refuse(format!("the words are {}", WORDS.join(", "))),
        },
        fields if fields.len() == FIELDS.len() => {
            for (text, field) in fields.iter().zip(&FIELDS) {
                if !field.accepts(text) {
                    return refuse(format!("`{text}` is no {}", field.what));
                }
            }
            Ok(())
        }
        _ => refuse("write five fields, or a word such as `@daily`".to_owned()),
    }
}

impl Field {
    fn accepts(&self, text: &str) -> bool {
        text.split(',').all(|part| self.accepts_part(part))
    }

    fn accepts_part(&self, part: &str) -> bool {
        let (span, step) = match part.split_once('/') {
            Some((span, step)) => (span, Some(step)),
            None => (part, None),
        };
        let is_step =
            |step: &str| number(step).is_some_and(|step| step >= 1 && step <= *self.range.end());
        if !step.is_none_or(is_step) {
            return false;
        }
        match span.split_once('-') {
            _ if span == "*" => true,
            Some((from, to)) => {
                matches!((self.value(from), self.value(to)), (Some(a), Some(b)) if a <= b)
            }
            None => step.is_none() && self.value(span).is_some(),
        }
    }

    fn value(&self, text: &str) -> Option<u32> {
        let named = self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let value = match named {
            Some(at) => u32::try_from(at).ok()? + self.range.start(),
            None => number(text)?,
        };
        self.range.contains(&value).then_some(value)
    }
}

fn number(text: &str) -> Option<u32> {
    let is_digits = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| is_digits)
}

/// With single spaces, as it is written and compared.
pub(super) fn normal(schedule: &str) -> String {
    schedule.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Divides a line of a crontab into schedule and command; `None` for what is no entry.
pub(super) fn split_entry(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let count = if line.starts_with('@') { 1 } else { FIELDS.len() };
    let mut rest = line;
    let mut fields = Vec::new();
    for _ in 0..count {
        let (field, after) = rest.split_once(char::is_whitespace)?;
        fields.push(field);
        rest = after.trim_start();
    }
    let schedule = fields.join(" ");
    (!rest.is_empty() && validate_schedule(&schedule).is_ok()).then(|| (schedule, rest.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_are_judged() {
        for good in [
            "* * * * *",
            "0 3 * * *",
            "*/15 0-6/2 1,15 jan-MAR mon",
            "0 0 31 12 7",
            "  5   5 * *   sun,wed ",
            "@daily",
            "@REBOOT",
        ] {
            assert!(validate_schedule(good).is_ok(), "{good}");
        }
        for (bad, says) in [
            ("", "five fields"),
            ("* * * *", "five fields"),
            ("* * * * * *", "five fields"),
            ("60 * * * *", "no minute"),
            ("* 24 * * *", "no hour"),
            ("* * 0 * *", "no day of the month"),
            ("* * * 13 *", "no month"),
            ("* * * * 8", "no day of the week"),
            ("5-1 * * * *", "no minute"),
            ("*/0 * * * *", "no minute"),
            ("5/2 * * * *", "no minute"),
            (",1 * * * *", "no minute"),
            ("+1 * * * *", "no minute"),
            ("@noon", "the words are"),
            ("* * * * *\n0", "one line"),
        ] {
            let text = validate_schedule(bad).unwrap_err().to_string();
            assert!(text.contains(says), "{bad}: {text}");
        }
    }

    #[test]
    fn lines_are_divided() {
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(split_entry("0 3 * * * /bin/a  b"), pair("0 3 * * *", "/bin/a  b"));
        assert_eq!(split_entry(" @daily\t/bin/a"), pair("@daily", "/bin/a"));
        for line in ["", "MAILTO=x", "PATH=/bin a b c d e", "0 3 * * *", "@daily", "0 3 * * x /a"] {
            assert_eq!(split_entry(line), None, "{line}");
        }
    }
}
