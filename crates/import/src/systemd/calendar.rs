//! `OnCalendar` as cron.
//!
//! Most calendar expressions are cron expressions in other words. Those that are not (a year, the
//! third-last day of a month, fractions of a second) are refused with the reason.

/// Five fields, or six with seconds, and the time zone where one is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calendar {
    pub cron: String,
    pub timezone: Option<String>,
}

const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

pub fn read(text: &str) -> Result<Calendar, String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let timezone = match words.last() {
        Some(&zone) if is_timezone(zone) => {
            words.pop();
            Some(zone.to_owned())
        }
        _ => None,
    };
    if let [shorthand] = words.as_slice()
        && let Some(cron) = named(shorthand)
    {
        return Ok(Calendar { cron: cron.to_owned(), timezone });
    }
    let mut weekday = "*".to_owned();
    let mut date = ("*".to_owned(), "*".to_owned());
    let mut time = ("0".to_owned(), "0".to_owned(), "0".to_owned());
    let mut seen = 0;
    for word in words {
        let place = if word.contains(':') {
            time = read_time(word)?;
            3
        } else if word.starts_with(|c: char| c.is_ascii_alphabetic()) {
            weekday = read_weekday(word)?;
            1
        } else {
            date = read_date(word)?;
            2
        };
        if place <= seen {
            return Err(format!("`{text}` is not weekday, date and time in this order"));
        }
        seen = place;
    }
    if seen == 0 {
        return Err("it is empty".to_owned());
    }
    let (month, day) = date;
    if weekday != "*" && day != "*" {
        weekday.insert(0, '+');
    }
    let (hour, minute, second) = time;
    let five = format!("{minute} {hour} {day} {month} {weekday}");
    let cron = if second == "0" { five } else { format!("{second} {five}") };
    Ok(Calendar { cron, timezone })
}

fn is_timezone(word: &str) -> bool {
    word == "UTC" || word.contains('/') && word.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn named(word: &str) -> Option<&'static str> {
    Some(match word {
        "minutely" => "* * * * *",
        "hourly" => "0 * * * *",
        "daily" => "0 0 * * *",
        "weekly" => "0 0 * * 1",
        "monthly" => "0 0 1 * *",
        "yearly" | "annually" => "0 0 1 1 *",
        "quarterly" => "0 0 1 1,4,7,10 *",
        "semiannually" => "0 0 1 1,7 *",
        _ => return None,
    })
}

fn read_weekday(word: &str) -> Result<String, String> {
    let number = |name: &str| {
        let lower = name.to_ascii_lowercase();
        let found = WEEKDAYS.iter().position(|day| lower.len() >= 3 && is_weekday(&lower, day));
        found.map(|index| index + 1).ok_or_else(|| format!("`{name}` is not a weekday"))
    };
    let parts = word.split(',').filter(|part| !part.is_empty()).map(|part| {
        match part.split_once("..").or_else(|| part.split_once('-')) {
            None => Ok((number(part)? % 7).to_string()),
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                Ok(if from <= to { format!("{from}-{to}") } else { format!("{from}-7,1-{to}") })
            }
        }
    });
    Ok(parts.collect::<Result<Vec<_>, String>>()?.join(","))
}

fn is_weekday(given: &str, short: &str) -> bool {
    const FULL: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    given == short || FULL.iter().any(|full| *full == given && full.starts_with(short))
}

fn read_date(word: &str) -> Result<(String, String), String> {
    let last_day = word.strip_suffix("~01").or_else(|| word.strip_suffix("~1"));
    let whole = last_day.map_or_else(|| word.to_owned(), |months| format!("{months}-1"));
    if whole.contains('~') {
        return Err("it counts from the end of the month, which cron cannot say".to_owned());
    }
    let word = whole.as_str();
    let parts: Vec<&str> = word.split('-').collect();
    let (month, day) = match parts.as_slice() {
        [year, month, day] => {
            if *year != "*" {
                return Err(format!("it names a year (`{year}`), which cron cannot say"));
            }
            (month, day)
        }
        [month, day] => (month, day),
        _ => return Err(format!("`{word}` is not a date")),
    };
    let day = component(day, 1, 31)?;
    let day = if last_day.is_some() { "L".to_owned() } else { day };
    Ok((component(month, 1, 12)?, day))
}

fn read_time(word: &str) -> Result<(String, String, String), String> {
    let parts: Vec<&str> = word.split(':').collect();
    let (hour, minute, second) = match parts.as_slice() {
        [hour, minute] => (*hour, *minute, "0"),
        [hour, minute, second] => (*hour, *minute, *second),
        _ => return Err(format!("`{word}` is not a time")),
    };
    if second.contains('.') && !second.contains("..") {
        return Err("it names fractions of a second".to_owned());
    }
    Ok((component(hour, 0, 23)?, component(minute, 0, 59)?, component(second, 0, 59)?))
}

/// `*`, numbers, `a..b`, each with `/step`, joined by commas.
fn component(text: &str, least: u32, most: u32) -> Result<String, String> {
    let wrong = || format!("`{text}` is not a number from {least} to {most}");
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = if is_number { text.parse::<u32>().ok() } else { None };
        number.filter(|n| (least..=most).contains(n)).ok_or_else(wrong)
    };
    let mut parts = Vec::new();
    for part in text.split(',') {
        let (range, step) = part.split_once('/').map_or((part, None), |(r, s)| (r, Some(s)));
        let step = step
            .map(|step| step.parse::<u32>().ok().filter(|step| *step > 0).ok_or_else(wrong))
            .transpose()?;
        let range = match (range, range.split_once("..")) {
            ("*", _) => "*".to_owned(),
            (_, Some((from, to))) => {
                let (from, to) = (number(from)?, number(to)?);
                if from > to {
                    return Err(wrong());
                }
                format!("{from}-{to}")
            }
            (one, None) => match (number(one)?, step) {
                (from, Some(_)) => format!("{from}-{most}"),
                (only, None) => only.to_string(),
            },
        };
        let is_all = range == format!("{least}-{most}");
        let range = if is_all { "*".to_owned() } else { range };
        parts.push(match step {
            Some(1) | None => range,
            Some(step) => format!("{range}/{step}"),
        });
    }
    Ok(parts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendars_become_cron() {
        for (text, expected) in [
            ("daily", "0 0 * * *"),
            ("quarterly", "0 0 1 1,4,7,10 *"),
            ("Mon..Fri 22:30", "30 22 * * 1-5"),
            ("Sat,Sun 20:00", "0 20 * * 6,0"),
            ("Sat..Mon 1:00", "0 1 * * 6-7,1-1"),
            ("Monday *-*-* 06:00:00", "0 6 * * 1"),
            ("*-*-* 02:00:00", "0 2 * * *"),
            ("*-*-01 04:05", "5 4 1 * *"),
            ("*:0/15", "*/15 * * * *"),
            ("*:5/15", "5-59/15 * * * *"),
            ("*-01,07-01", "0 0 1 1,7 *"),
            ("8..18:00/30", "*/30 8-18 * * *"),
            ("*:*:0/10", "*/10 * * * * *"),
            ("12-24 18:00", "0 18 24 12 *"),
            ("Fri *-*-13", "0 0 13 * +5"),
            ("*-*~01 23:00", "0 23 L * *"),
        ] {
            assert_eq!(read(text).unwrap().cron, expected, "{text}");
        }
        let zoned = read("03:00 Europe/Berlin").unwrap();
        assert_eq!(
            (zoned.cron.as_str(), zoned.timezone.as_deref()),
            ("0 3 * * *", Some("Europe/Berlin"))
        );
        assert_eq!(read("03:00 UTC").unwrap().timezone.as_deref(), Some("UTC"));
    }

    #[test]
    fn what_cron_cannot_say_is_refused() {
        for text in ["2026-01-01", "*-*~03", "25:00", "Foo 1:00", "", "1:00 Mon", "*:*:0.5", "x/y"]
        {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
