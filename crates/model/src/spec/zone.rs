//! The time zone of a schedule.
//!
//! Names are looked up in the database built into the binary, never on the machine's disk: a small
//! machine without time zones understands what every other one does, a server accepts exactly what
//! its nodes will, and nothing is read here.

use jiff::tz::{TimeZone, TimeZoneDatabase};

/// A time zone that nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no time zone; {hint}")]
pub struct ZoneError {
    given: String,
    hint: String,
}

impl ZoneError {
    /// For what no machine in particular follows.
    pub(crate) fn nobodys() -> ZoneError {
        let hint = "servers follow this and have none in common; write `UTC` or a name such as `Europe/Berlin`";
        ZoneError { given: "local".to_owned(), hint: hint.to_owned() }
    }
}

/// The zone of this name: `UTC`, `local` for the one given, or a name of the time zone database.
pub(crate) fn zone(name: &str, local: &TimeZone) -> Result<TimeZone, ZoneError> {
    match name {
        "UTC" => return Ok(TimeZone::UTC),
        "local" => return Ok(local.clone()),
        _ => {}
    }
    let known = TimeZoneDatabase::bundled();
    known
        .get(name)
        .map_err(|_| ZoneError { given: name.chars().take(64).collect(), hint: hint(name, &known) })
}

fn hint(given: &str, known: &TimeZoneDatabase) -> String {
    let plain = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    let wanted = plain(given.rsplit('/').next().unwrap_or(given));
    let mut close: Vec<String> = known
        .available()
        .map(|name| name.to_string())
        .filter(|name| {
            let city = plain(name.rsplit('/').next().unwrap_or(name));
            !wanted.is_empty() && (city == wanted || plain(name) == plain(given))
                || wanted.len() > 3 && city.len() > 3 && differs_by_one(&wanted, &city)
        })
        .collect();
    close.sort_unstable_by_key(|name| (!name.contains('/'), name.len(), name.clone()));
    match close.first() {
        Some(name) => format!("did you mean `{name}`?"),
        None => "write `UTC`, `local`, or a name such as `Europe/Berlin`".to_owned(),
    }
}

/// Whether one letter more, less or other makes these the same.
fn differs_by_one(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let rest = (&one[same..], &other[same..]);
    match rest {
        ([_, a @ ..], [_, b @ ..]) if a == b => true,
        ([_, a @ ..], b) | (b, [_, a @ ..]) if a == b => true,
        ([a, b, c @ ..], [d, e, f @ ..]) => a == e && b == d && c == f,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_found_or_hinted_at() {
        let find = |name: &str| zone(name, &TimeZone::UTC);
        for name in ["UTC", "local", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"] {
            assert!(find(name).is_ok(), "{name}");
        }
        for (name, hint) in [
            ("Berlin", "Europe/Berlin"),
            ("Europe/Berlim", "Europe/Berlin"),
            ("america/new-york", "America/New_York"),
            ("New York", "America/New_York"),
            ("Pariss", "Europe/Paris"),
            ("Mars/Olympus", "`UTC`"),
            ("", "`UTC`"),
        ] {
            let said = find(name).unwrap_err().to_string();
            assert!(said.contains(hint), "{said}");
        }
    }
}
