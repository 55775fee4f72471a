//! The machine's own time zone, which schedules that say `local` follow.
//!
//! It is looked up once, in `TZ` and `/etc/localtime`, when it is first asked for; a machine that says
//! nothing is taken to be in UTC. So what follows it and what servers are told of it agree until the
//! agent is started again.
//!
//! Servers are told its name. A copied zone file has none; then the name in `/etc/timezone` is told,
//! provided that it shows the same time.

use std::sync::LazyLock;

use jiff::ToSpan;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::facts::text;

static LOCAL: LazyLock<TimeZone> = LazyLock::new(TimeZone::system);

pub(crate) fn local() -> TimeZone {
    LOCAL.clone()
}

/// What others know it by; `None` when they would not.
pub(crate) fn name() -> Option<String> {
    name_of(&LOCAL, &text("/etc/timezone"))
}

fn name_of(zone: &TimeZone, noted: &str) -> Option<String> {
    if zone.is_unknown() {
        return Some("UTC".to_owned());
    }
    let known = TimeZoneDatabase::bundled();
    let own = zone.iana_name().filter(|name| known.get(name).is_ok());
    let noted = || {
        let noted = known.get(noted.trim()).ok()?;
        is_alike(zone, &noted).then(|| noted.iana_name().map(str::to_owned))?
    };
    own.map(str::to_owned).or_else(noted)
}

/// Whether both show the same time, week by week for twenty years.
fn is_alike(one: &TimeZone, other: &TimeZone) -> bool {
    let begin = jiff::Timestamp::UNIX_EPOCH + (56 * 8766).hours();
    let mut weeks = (0..52 * 20).map(|week: i64| begin + (week * 168).hours());
    weeks.all(|moment| one.to_offset(moment) == other.to_offset(moment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_told_by_a_name_that_others_know() {
        let named = |name: &str| TimeZoneDatabase::bundled().get(name).unwrap();
        let berlin = named("Europe/Berlin");
        assert_eq!(name_of(&berlin, ""), Some("Europe/Berlin".to_owned()));
        assert_eq!(name_of(&TimeZone::UTC, ""), Some("UTC".to_owned()));
        assert_eq!(name_of(&TimeZone::unknown(), "Asia/Tokyo"), Some("UTC".to_owned()));
        let copied = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        assert_eq!(name_of(&copied, "Europe/Berlin\n"), Some("Europe/Berlin".to_owned()));
        for noted in ["Europe/London", "Nowhere/Land", ""] {
            assert_eq!(name_of(&copied, noted), None, "{noted}");
        }
    }

    #[test]
    fn this_machine_has_one() {
        assert_eq!(local(), local());
        assert!(name().is_none_or(|name| TimeZoneDatabase::bundled().get(&name).is_ok()));
    }
}
