//! Names that can stand in account files and on command lines, and dates as `/etc/shadow` counts them.

use crate::HostError;

/// Longer names do not fit into what records logins.
const NAME_MAX: usize = 32;

/// Whether a new user can have this name everywhere; says in words why not.
pub fn validate_username(name: &str) -> Result<(), HostError> {
    let refuse = |problem: &str| Err(HostError::invalid("the user name", name, problem));
    let body = name.strip_suffix('$').unwrap_or(name);
    let is_first = |c: char| c.is_ascii_lowercase() || c == '_';
    if body.is_empty() {
        return refuse("it is empty");
    }
    if name.len() > NAME_MAX {
        return refuse("it has more than 32 characters");
    }
    if !body.starts_with(is_first) {
        return refuse("it must begin with a lower-case letter or an underscore");
    }
    if !body.chars().all(|c| is_first(c) || c.is_ascii_digit() || c == '-') {
        return refuse("only lower-case letters, digits, `_` and `-` are allowed");
    }
    Ok(())
}

/// A name that is what it says: no option, no second field, no path. Wider than [`validate_username`],
/// because what is there already may have been made by others.
pub(crate) fn account_name<'a>(what: &'static str, name: &'a str) -> Result<&'a str, HostError> {
    let is_bad = |c: char| c.is_whitespace() || c.is_control() || ":,/\"'`".contains(c);
    if name.is_empty() || name.len() > 256 || name.starts_with(['-', '+', '~']) {
        return Err(HostError::invalid(what, name, "it must begin with a letter or a digit"));
    }
    if name.contains(is_bad) {
        let problem = "it must not have spaces, colons, commas, slashes or quotes";
        return Err(HostError::invalid(what, name, problem));
    }
    Ok(name)
}

/// A text that is one field of an account.
pub(crate) fn field<'a>(what: &'static str, text: &'a str) -> Result<&'a str, HostError> {
    match text.contains(|c: char| c == ':' || c.is_control()) {
        true => Err(HostError::invalid(what, text, "it must not have colons or line breaks")),
        false => Ok(text),
    }
}

/// A path that is one field of an account.
pub(crate) fn path_field<'a>(what: &'static str, text: &'a str) -> Result<&'a str, HostError> {
    match text.starts_with('/') {
        true => field(what, text),
        false => Err(HostError::invalid(what, text, "it must be an absolute path")),
    }
}

/// Days since 1970 of `YYYY-MM-DD`; `None` for an empty text or `never`.
pub(crate) fn expiry_days(text: &str) -> Result<Option<i64>, HostError> {
    if text.is_empty() || text == "never" {
        return Ok(None);
    }
    let refuse = || HostError::invalid("the expiry", text, "write `YYYY-MM-DD`, or `never`");
    let bytes = text.as_bytes();
    let is_shaped = bytes.len() == 10
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    if !is_shaped {
        return Err(refuse());
    }
    let number = |from: usize, to: usize| text[from..to].parse::<i64>().map_err(|_| refuse());
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    if !(1..=12).contains(&month) || day < 1 || day > month_days(year, month) {
        return Err(refuse());
    }
    Ok(Some(days_since_1970(year, month, day)))
}

fn month_days(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0;
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Years are counted from March, so that the leap day is the last of one.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_names_are_judged() {
        for name in ["ann", "_apt", "a1-b_c", "host$", &"a".repeat(32)] {
            assert!(validate_username(name).is_ok(), "{name}");
        }
        for name in ["", "$", "1a", "-a", "Ann", "a b", "a:b", "ä", "a.b", &"a".repeat(33)] {
            assert!(validate_username(name).is_err(), "{name}");
        }
    }

    #[test]
    fn names_that_could_be_something_else_are_refused() {
        for name in ["ann", "Ann.Smith", "ann@corp", "1000", "CORP\\ann", "ä"] {
            assert!(account_name("the user", name).is_ok(), "{name}");
        }
        for name in ["", "-r", "+a", "a b", "a:b", "a,b", "../a", "a\nb", "a'b", "~a"] {
            assert!(account_name("the user", name).is_err(), "{name}");
        }
        assert!(field("the comment", "Ann, room 5").is_ok());
        assert!(field("the comment", "a:b").is_err());
        assert!(path_field("the shell", "/bin/sh").is_ok());
        assert!(path_field("the shell", "sh").is_err());
    }

    #[test]
    fn days_are_counted_as_shadow_does() {
        for (text, days) in [
            ("1970-01-01", 0),
            ("1970-12-31", 364),
            ("2000-02-29", 11_016),
            ("2024-03-01", 19_783),
            ("2038-01-19", 24_855),
            ("1969-12-31", -1),
        ] {
            assert_eq!(expiry_days(text).unwrap(), Some(days), "{text}");
        }
        assert_eq!(expiry_days("").unwrap(), None);
        assert_eq!(expiry_days("never").unwrap(), None);
        for text in ["2024-13-01", "2023-02-29", "2024-1-1", "tomorrow", "2024-01-00", "20240101"] {
            assert!(expiry_days(text).is_err(), "{text}");
        }
    }
}
