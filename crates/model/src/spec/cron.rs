//! Cron expressions: five fields, six with seconds first, or a nickname.
//!
//! A `Cron` speaks of the face of a clock, not of moments: it says which times of day on which dates
//! match, in no time zone. What that means where clocks are changed is decided in one place, by the
//! engine's timetable, from `next_after` and `is_interval`.
//!
//! Invariant: what was parsed matches again and again. Fields are checked one by one, so that a
//! mistake names its field, and what can never match (30 February) is refused.

use std::fmt;
use std::str::FromStr;

use jiff::civil::DateTime;

/// A checked cron expression. `Display` gives back what was written.
#[derive(Clone, Debug)]
pub struct Cron {
    text: String,
    pattern: croner::Cron,
    is_interval: bool,
}

/// What is wrong with a cron expression, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CronError {
    #[error("when? write five fields such as `0 3 * * *`, or a nickname such as `@daily`")]
    Empty,
    #[error("a cron expression has at most {LONGEST} characters")]
    TooLong,
    #[error(
        "`@reboot` is no time; what is to run from every start of its node on has mode `forever`"
    )]
    Reboot,
    #[error(
        "`{given}` is no nickname; there are @yearly, @annually, @monthly, @weekly, @daily, \
         @midnight and @hourly"
    )]
    Nickname { given: String },
    #[error(
        "{count} fields; write five (minute hour day month weekday), or six with seconds first"
    )]
    FieldCount { count: usize },
    #[error("{field} `{given}`: allowed are {allowed}")]
    Field { field: CronField, given: String, allowed: &'static str },
    #[error("no day is ever like this; look at the day and the month together")]
    Never,
}

crate::labels! {
    /// A field of a cron expression.
    pub enum CronField ("cron field") {
        Second = "second",
        Minute = "minute",
        Hour = "hour",
        Day = "day",
        Month = "month",
        Weekday = "weekday",
    }
}

const LONGEST: usize = 256;

const NICKNAMES: [(&str, &str); 7] = [
    ("@yearly", "0 0 0 1 1 *"),
    ("@annually", "0 0 0 1 1 *"),
    ("@monthly", "0 0 0 1 * *"),
    ("@weekly", "0 0 0 * * 0"),
    ("@daily", "0 0 0 * * *"),
    ("@midnight", "0 0 0 * * *"),
    ("@hourly", "0 0 * * * *"),
];

const FIELDS: [CronField; 6] = [
    CronField::Second,
    CronField::Minute,
    CronField::Hour,
    CronField::Day,
    CronField::Month,
    CronField::Weekday,
];

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

impl CronError {
    /// The mistake, with the expression below it and a mark where it is.
    pub fn marked(&self, expression: &str) -> String {
        let place = match self {
            CronError::Field { field, .. } => place_of(*field, expression),
            CronError::Empty
            | CronError::TooLong
            | CronError::Reboot
            | CronError::Nickname { .. }
            | CronError::FieldCount { .. }
            | CronError::Never => None,
        };
        let Some((before, width)) = place else { return self.to_string() };
        let shown = expression.replace(char::is_whitespace, " ");
        format!("{self}\n  {shown}\n  {}{}", " ".repeat(before), "^".repeat(width))
    }
}

/// How many characters are before a field, and how many it has.
fn place_of(field: CronField, expression: &str) -> Option<(usize, usize)> {
    let mut rest = expression;
    let mut places = Vec::new();
    while let Some(begin) = rest.find(|c: char| !c.is_whitespace()) {
        let word = rest[begin..].split(char::is_whitespace).next().unwrap_or_default();
        let before = expression.len() - rest.len() + begin;
        places.push((expression[..before].chars().count(), word.chars().count()));
        rest = &rest[begin + word.len()..];
    }
    let index = FIELDS.iter().position(|known| *known == field)?;
    let index = if places.len() == 5 { index.checked_sub(1)? } else { index };
    places.get(index).copied()
}

impl CronField {
    const fn allowed(self) -> &'static str {
        match self {
            CronField::Second | CronField::Minute => {
                "*, 0-59, lists `0,30`, rising ranges `0-29` and steps `*/5`"
            }
            CronField::Hour => "*, 0-23, lists `6,18`, rising ranges `9-17` and steps `*/4`",
            CronField::Day => {
                "*, 1-31, lists, rising ranges, steps, `L` (the last), `15W` (the working day \
                 nearest to the 15th) and `LW`"
            }
            CronField::Month => "*, 1-12 or JAN-DEC, lists, rising ranges and steps",
            CronField::Weekday => {
                "*, 0-7 or SUN-SAT (0 and 7 are Sunday), lists, rising ranges, steps, `5L` (the \
                 last Friday) and `1#2` (the second Monday); a leading `+` asks for day and \
                 weekday both"
            }
        }
    }

    /// Letters that mean something here, beyond the names of months and weekdays.
    fn knows_word(self, word: &str) -> bool {
        match self {
            CronField::Day => ["L", "W", "LW"].contains(&word),
            CronField::Month => MONTHS.contains(&word),
            CronField::Weekday => {
                word == "L" || WEEKDAYS.contains(&word.strip_suffix('L').unwrap_or(word))
            }
            CronField::Second | CronField::Minute | CronField::Hour => false,
        }
    }

    fn accepts(self, given: &str) -> bool {
        let list = given.strip_prefix('+').filter(|_| self == CronField::Weekday);
        let list = list.unwrap_or(given).to_ascii_uppercase();
        list.is_ascii()
            && list.split(',').all(|item| !item.is_empty() && item != "?" || list == "?")
            && !(self == CronField::Weekday && list.split(',').any(|item| item == "L"))
            && list
                .split(|c: char| !c.is_ascii_alphabetic())
                .all(|word| word.is_empty() || self.knows_word(word))
            && self.is_alone_acceptable(&list)
    }

    fn is_alone_acceptable(self, list: &str) -> bool {
        let fields = FIELDS.map(|field| if field == self { list } else { "*" });
        fields.join(" ").parse::<croner::Cron>().is_ok()
    }
}

impl Cron {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it says *how often* rather than *at what time*: one of its second, minute and hour
    /// fields has a `*` or a step, or lists everything.
    pub fn is_interval(&self) -> bool {
        self.is_interval
    }

    /// The first matching face of the clock after this one; none only at the end of time.
    pub fn next_after(&self, face: DateTime) -> Option<DateTime> {
        self.pattern.find_next_occurrence(&whole_second(face)?, false).ok()
    }

    /// The same, but this one counts too.
    pub fn next_from(&self, face: DateTime) -> Option<DateTime> {
        let floor = whole_second(face)?;
        self.pattern.find_next_occurrence(&floor, floor == face).ok()
    }
}

fn whole_second(face: DateTime) -> Option<DateTime> {
    face.with().subsec_nanosecond(0).build().ok()
}

impl FromStr for Cron {
    type Err = CronError;
    fn from_str(text: &str) -> Result<Cron, CronError> {
        let written = text.trim();
        if written.is_empty() {
            return Err(CronError::Empty);
        }
        if written.len() > LONGEST {
            return Err(CronError::TooLong);
        }
        let expression = match written.starts_with('@') {
            true => spelled_out(written)?,
            false => written,
        };
        let mut fields: Vec<&str> = expression.split_whitespace().collect();
        match fields.len() {
            5 => fields.insert(0, "0"),
            6 => {}
            count => return Err(CronError::FieldCount { count }),
        }
        for (field, given) in FIELDS.into_iter().zip(&fields) {
            if !field.accepts(given) {
                let (given, allowed) = ((*given).to_owned(), field.allowed());
                return Err(CronError::Field { field, given, allowed });
            }
        }
        let pattern: croner::Cron = fields.join(" ").parse().map_err(|_| CronError::Never)?;
        let parts = [&pattern.pattern.seconds, &pattern.pattern.minutes, &pattern.pattern.hours];
        let is_interval =
            fields.iter().zip(parts).zip([60, 60, 24]).any(|((given, part), all)| {
                given.contains(['*', '/']) || part.values().len() == all
            });
        let cron = Cron { text: text.to_owned(), pattern, is_interval };
        let has_match = cron.next_from(DateTime::constant(2000, 1, 1, 0, 0, 0, 0)).is_some();
        if has_match { Ok(cron) } else { Err(CronError::Never) }
    }
}

fn spelled_out(nickname: &str) -> Result<&'static str, CronError> {
    if nickname.eq_ignore_ascii_case("@reboot") {
        return Err(CronError::Reboot);
    }
    NICKNAMES
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(nickname))
        .map(|(_, expression)| *expression)
        .ok_or_else(|| CronError::Nickname { given: nickname.to_owned() })
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

impl PartialEq for Cron {
    fn eq(&self, other: &Cron) -> bool {
        self.text == other.text
    }
}

impl Eq for Cron {}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn first_after(cron: &str, face: DateTime) -> DateTime {
        cron.parse::<Cron>().unwrap().next_after(face).unwrap()
    }

    #[test]
    fn matches_are_found() {
        let noon = date(2026, 1, 31).at(12, 0, 0, 0);
        let cases = [
            ("0 3 * * *", date(2026, 2, 1).at(3, 0, 0, 0)),
            ("*/15 * * * *", date(2026, 1, 31).at(12, 15, 0, 0)),
            ("*/20 * * * * *", date(2026, 1, 31).at(12, 0, 20, 0)),
            ("30 0 12 * * *", date(2026, 1, 31).at(12, 0, 30, 0)),
            ("0 0 29 2 *", date(2028, 2, 29).at(0, 0, 0, 0)),
            ("0 0 31 * *", date(2026, 3, 31).at(0, 0, 0, 0)),
            ("0 0 L * *", date(2026, 2, 28).at(0, 0, 0, 0)),
            ("0 0 15W * *", date(2026, 2, 16).at(0, 0, 0, 0)),
            ("0 9 * * mon-fri", date(2026, 2, 2).at(9, 0, 0, 0)),
            ("0 9 * * 7", date(2026, 2, 1).at(9, 0, 0, 0)),
            ("0 9 * * fri#2", date(2026, 2, 13).at(9, 0, 0, 0)),
            ("0 9 * * 5L", date(2026, 2, 27).at(9, 0, 0, 0)),
            ("0 9 13 * FRI", date(2026, 2, 6).at(9, 0, 0, 0)),
            ("0 9 13 * +FRI", date(2026, 2, 13).at(9, 0, 0, 0)),
            ("0 0 1 jan,Jul ?", date(2026, 7, 1).at(0, 0, 0, 0)),
            ("@yearly", date(2027, 1, 1).at(0, 0, 0, 0)),
            ("@Annually", date(2027, 1, 1).at(0, 0, 0, 0)),
            ("@monthly", date(2026, 2, 1).at(0, 0, 0, 0)),
            ("@weekly", date(2026, 2, 1).at(0, 0, 0, 0)),
            ("@daily", date(2026, 2, 1).at(0, 0, 0, 0)),
            ("@midnight", date(2026, 2, 1).at(0, 0, 0, 0)),
            ("@hourly", date(2026, 1, 31).at(13, 0, 0, 0)),
        ];
        for (cron, next) in cases {
            assert_eq!(first_after(cron, noon), next, "{cron}");
            assert_eq!(cron.parse::<Cron>().unwrap().to_string(), cron);
        }
    }

    #[test]
    fn parts_of_a_second_are_neither_early_nor_lost() {
        let cron: Cron = "* * * * * *".parse().unwrap();
        let at = |second, nanos| date(2026, 1, 1).at(0, 0, second, nanos);
        assert_eq!(cron.next_after(at(5, 1)), Some(at(6, 0)));
        assert_eq!(cron.next_from(at(5, 1)), Some(at(6, 0)));
        assert_eq!(cron.next_after(at(5, 0)), Some(at(6, 0)));
        assert_eq!(cron.next_from(at(5, 0)), Some(at(5, 0)));
    }

    #[test]
    fn mistakes_name_their_field() {
        use CronField::{Day, Hour, Minute, Month, Second, Weekday};
        let cases = [
            ("60 * * * *", Minute),
            ("*/0 * * * *", Minute),
            ("5/10 * * * *", Minute),
            ("1,,2 * * * *", Minute),
            ("mon * * * *", Minute),
            ("? * * * *", Minute),
            ("-1 * * * *", Minute),
            ("60 * * * * *", Second),
            ("0 24 * * *", Hour),
            ("0 22-2 * * *", Hour),
            ("0 0 0 * *", Day),
            ("0 0 32 * *", Day),
            ("0 0 XW * *", Day),
            ("0 0 * 13 *", Month),
            ("0 0 * fri *", Month),
            ("0 0 * JANUARY *", Month),
            ("0 0 * * 8", Weekday),
            ("0 0 * * FUN", Weekday),
            ("0 0 * * L", Weekday),
            ("0 0 * * 1#6", Weekday),
            ("0 0 * * ä", Weekday),
            ("0 0 * * +", Weekday),
        ];
        for (text, expected) in cases {
            match text.parse::<Cron>() {
                Err(CronError::Field { field, .. }) => assert_eq!(field, expected, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        let refused = |text: &str| text.parse::<Cron>().unwrap_err();
        assert_eq!(refused("  "), CronError::Empty);
        assert_eq!(refused("@reboot"), CronError::Reboot);
        assert_eq!(refused("@every 5m"), CronError::Nickname { given: "@every 5m".into() });
        assert_eq!(refused("* * * *"), CronError::FieldCount { count: 4 });
        assert_eq!(refused("* * * * * * 2030"), CronError::FieldCount { count: 7 });
        assert_eq!(refused("0 0 30 2 *"), CronError::Never);
        assert_eq!(refused("0 0 31 4,6,9,11 *"), CronError::Never);
        assert_eq!(refused(&"1,".repeat(200)), CronError::TooLong);
        assert!("0 0 30 2 MON".parse::<Cron>().is_ok(), "either the day or the weekday");
    }

    #[test]
    fn intervals_are_told_from_times() {
        for (text, expected) in [
            ("30 2 * * *", false),
            ("0,30 2,3 * * *", false),
            ("0 30 2 * * *", false),
            ("@daily", false),
            ("*/15 2 * * *", true),
            ("0 * * * *", true),
            ("0 */2 * * *", true),
            ("0 0-23 * * *", true),
            ("0-50/10 2 * * *", true),
            ("* 30 2 * * *", true),
            ("@hourly", true),
        ] {
            assert_eq!(text.parse::<Cron>().unwrap().is_interval(), expected, "{text}");
        }
    }
}
