//! Constraints that are known by a name and look at nothing but the value.
//!
//! What looks at a cloud (flavors, images, networks) is asked of the caller ([`CustomConstraints`]); where there is no cloud to
//! ask, every value keeps to it. Any other name that nobody knows is never kept to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hostler_model::Cron;
use jiff::tz::TimeZoneDatabase;
use serde_json::Value;

use super::constraint::Checks;
use super::instant;
use crate::function::python;

/// The constraints that are known here.
pub const GENERIC: [&str; 13] = [
    "cron_expression",
    "dns_domain",
    "dns_name",
    "expiration",
    "ip_addr",
    "ip_or_cidr",
    "iso_8601",
    "json_string",
    "mac_addr",
    "net_cidr",
    "rel_dns_name",
    "test_constr",
    "timezone",
];

/// Services of a cloud, whose names constraints begin with that look for what there is in it.
const CLOUD: [&str; 20] = [
    "aodh",
    "barbican",
    "blazar",
    "cinder",
    "designate",
    "glance",
    "heat",
    "ironic",
    "keystone",
    "magnum",
    "manila",
    "mistral",
    "monasca",
    "neutron",
    "nova",
    "octavia",
    "sahara",
    "trove",
    "zaqar",
    "zun",
];

/// The most characters a full name of a host has.
const NAME_LENGTH: usize = 255;
const LABEL_LENGTH: usize = 63;

pub(crate) fn check(name: &str, value: &Value, checks: &Checks<'_>) -> Result<(), String> {
    let shown = python::text(value);
    if let Some(found) = checks.custom.and_then(|custom| custom.check(name, value)) {
        return found;
    }
    let is_empty = matches!(value, Value::Null) || value.as_str() == Some("");
    let found = match name {
        "cron_expression" | "dns_domain" | "expiration" | "json_string" | "rel_dns_name"
        | "timezone" | "dns_name"
            if is_empty =>
        {
            Ok(())
        }
        "test_constr" => Ok(()),
        "ip_addr" => ip_addr(value).map_err(|()| "Invalid IP address".to_owned()),
        "mac_addr" if is_mac(&shown) => Ok(()),
        "mac_addr" => Err("Invalid MAC address.".to_owned()),
        "net_cidr" => cidr(&shown).map_err(|why| format!("Invalid net cidr {why}")),
        "ip_or_cidr" if shown.contains('/') => cidr(&shown),
        "ip_or_cidr" => ip_addr(value).map_err(|()| format!("{shown} is not a valid IP or CIDR")),
        "dns_name" => dns_name(&shown).map_err(|why| format(&shown, &why)),
        "dns_domain" => dns_name(&shown).map_err(|why| format(&shown, &why)).and_then(|()| {
            let is_absolute = shown.ends_with('.');
            is_absolute.then_some(()).ok_or_else(|| format!("'{shown}' must end with '.'."))
        }),
        "rel_dns_name" => relative_name(&shown),
        "iso_8601" => match instant::parse(&shown) {
            Some(_) => Ok(()),
            None => return Err(format!("Error validating value '{shown}'")),
        },
        "cron_expression" => cron(&shown).map_err(|why| format!("Invalid CRON expression: {why}")),
        "timezone" => timezone(&shown).map_err(|why| format!("Invalid timezone: {why}")),
        "expiration" => expiration(&shown, checks)
            .map_err(|why| format!("Expiration {shown} is invalid: {why}")),
        "json_string" => match value.as_str().map(serde_json::from_str::<Value>) {
            Some(Ok(_)) => Ok(()),
            Some(Err(why)) => Err(format!("JSON string {shown} is invalid: {why}")),
            None => Err(format!("JSON string {shown} is invalid: it is not a text")),
        },
        _ if name.split_once('.').is_some_and(|(service, _)| CLOUD.contains(&service)) => Ok(()),
        _ => return Err(format!("\"{shown}\" does not validate {name} (constraint not found)")),
    };
    found.map_err(|why| format!("Error validating value '{shown}': {why}"))
}

fn format(name: &str, why: &str) -> String {
    format!("'{name}' not in valid format. Reason: {why}")
}

/// Addresses are written in full: what is short, or has zeros in front, means different things to different
/// readers.
fn ip_addr(value: &Value) -> Result<(), ()> {
    let found = value.as_str().and_then(|text| text.parse::<IpAddr>().ok());
    found.map(|_| ()).ok_or(())
}

fn cidr(text: &str) -> Result<(), String> {
    let invalid = || format!("'{text}' is not a valid IP subnet");
    let Some((address, length)) = text.split_once('/') else {
        return match text.parse::<IpAddr>() {
            Ok(IpAddr::V4(_)) => Err(recommended(text, &format!("{text}/32"))),
            Ok(IpAddr::V6(_)) => Err(recommended(text, &format!("{text}/128"))),
            Err(_) => Err(invalid()),
        };
    };
    if let (Ok(address), Ok(mask)) = (address.parse::<Ipv4Addr>(), length.parse::<Ipv4Addr>()) {
        let ones = mask.to_bits().leading_ones();
        let is_mask = ones == mask.to_bits().count_ones();
        let other = format!("{address}/{ones}");
        return Err(if is_mask { recommended(text, &other) } else { invalid() });
    }
    let most = match (address.parse::<Ipv4Addr>(), address.parse::<Ipv6Addr>()) {
        (Ok(_), _) => 32,
        (_, Ok(_)) => 128,
        _ => {
            return Err(abbreviated(address, length)
                .map_or_else(invalid, |other| recommended(text, &other)));
        }
    };
    let is_plain = length.bytes().all(|b| b.is_ascii_digit());
    match length.parse::<u8>() {
        Ok(bits) if is_plain && bits <= most && bits.to_string() == length => Ok(()),
        Ok(bits) if is_plain && bits <= most => {
            Err(recommended(text, &format!("{address}/{bits}")))
        }
        _ => Err(invalid()),
    }
}

/// `10.0/16` in full.
fn abbreviated(address: &str, length: &str) -> Option<String> {
    let missing =
        3_usize.checked_sub(address.matches('.').count()).filter(|missing| *missing > 0)?;
    let full = format!("{address}{}", ".0".repeat(missing));
    let bits = length.parse::<u8>().ok().filter(|bits| *bits <= 32)?;
    full.parse::<Ipv4Addr>().ok().map(|address| format!("{address}/{bits}"))
}

fn recommended(given: &str, other: &str) -> String {
    format!("'{given}' isn't a recognized IP subnet cidr, '{other}' is recommended")
}

/// The ways of writing 48 bits: six, three or two groups, or none at all.
fn is_mac(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|b| b.is_ascii_hexdigit());
    let groups = |sign: char, count: usize, least: usize, most: usize| {
        let parts: Vec<&str> = text.split(sign).collect();
        let fits = |part: &&str| (least..=most).contains(&part.len()) && is_hex(part);
        parts.len() == count && parts.iter().all(fits)
    };
    [':', '-'].into_iter().any(|sign| groups(sign, 6, 1, 2) || groups(sign, 2, 5, 6))
        || [':', '-', '.'].into_iter().any(|sign| groups(sign, 3, 1, 4))
        || (matches!(text.len(), 11 | 12) && is_hex(text))
}

fn dns_name(text: &str) -> Result<(), String> {
    let name = text.strip_suffix('.').unwrap_or(text);
    if name.len() > NAME_LENGTH {
        return Err(format!("'{name}' exceeds the {NAME_LENGTH} character FQDN limit"));
    }
    let labels: Vec<&str> = name.split('.').collect();
    for label in &labels {
        if label.is_empty() {
            return Err("Encountered an empty component.".to_owned());
        }
        if label.starts_with('-') || label.ends_with('-') {
            return Err(format!("Name '{label}' must not start or end with a hyphen."));
        }
        let is_fine = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if label.len() > LABEL_LENGTH || !label.bytes().all(is_fine) {
            return Err(format!(
                "Name '{label}' must be 1-{LABEL_LENGTH} characters long, each of which can only \
                 be alphanumeric or a hyphen."
            ));
        }
    }
    match labels.last() {
        Some(last) if text.ends_with('.') && labels.len() > 1 && is_digits(last) => {
            Err(format!("TLD '{last}' must not be all numeric."))
        }
        _ => Ok(()),
    }
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

fn relative_name(text: &str) -> Result<(), String> {
    if text.ends_with('.') {
        return Err(format!("'{text}' is a FQDN. It should be a relative domain name."));
    }
    if text.len() > NAME_LENGTH - 3 {
        return Err(format!(
            "'{text}' contains '{}' characters. Adding a domain name will cause it to exceed the \
             maximum length of a FQDN of '{NAME_LENGTH}'.",
            text.len()
        ));
    }
    dns_name(text).map_err(|why| format(text, &why))
}

/// Five fields, or six of which the last are seconds.
fn cron(text: &str) -> Result<(), String> {
    let mut fields: Vec<&str> = text.split_whitespace().collect();
    if fields.len() == 6 {
        fields.rotate_right(1);
    }
    fields.join(" ").parse::<Cron>().map(|_| ()).map_err(|why| why.to_string())
}

fn timezone(text: &str) -> Result<(), String> {
    let known = TimeZoneDatabase::bundled();
    match known.get(text) {
        Ok(zone) if zone.iana_name() == Some(text) || text == "UTC" => Ok(()),
        _ => Err(format!("'No time zone found with key {text}'")),
    }
}

fn expiration(text: &str, checks: &Checks<'_>) -> Result<(), String> {
    let time = instant::parse(text.trim()).ok_or("it is not a time")?;
    match checks.now {
        Some(now) if time <= now => Err("Expiration time is out of date.".to_owned()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn is_fine(name: &str, value: &Value) -> bool {
        let now = "2026-11-15T00:00:00Z".parse().ok();
        check(name, value, &Checks { now, ..Checks::default() }).is_ok()
    }

    #[test]
    fn constraints_know_what_they_want() {
        let long_label = "a".repeat(64);
        let long_name = format!("{}a", "abcdefg.".repeat(32));
        let cases: &[(&str, &[&str], &[&str])] = &[
            (
                "cron_expression",
                &["* * * * *", "*/5 0 1 1 0", "", "@daily", "0 3 * * mon-fri", "0 0 * * * 30"],
                &["* * * *", "61 * * * *", "every day", "@reboot"],
            ),
            (
                "dns_name",
                &["", "a", "a.b", "a.b.", "x1-y", "1.2.3"],
                &["A", "-a", "a-", "a..b", ".", "a_b", "a.1.", &long_label, &long_name],
            ),
            ("dns_domain", &["", "example.org."], &["example.org", "Example.org."]),
            ("rel_dns_name", &["", "www", "a.b"], &["www.", "-x", &long_name]),
            (
                "ip_addr",
                &["10.0.0.1", "::1", "fe80::1", "::ffff:1.2.3.4"],
                &["", "10.0.0", "010.0.0.1", "10.0.0.256", "1", "::g", "10.0.0.1 ", "10.0.0.1/8"],
            ),
            (
                "net_cidr",
                &["10.0.0.0/8", "10.0.0.5/24", "::/0", "2001:db8::/32", "0.0.0.0/0"],
                &[
                    "",
                    "10.0.0.0",
                    "10.0/16",
                    "10.0.0.0/33",
                    "10.0.0.0/08",
                    "10.0.0.0/-1",
                    "::/129",
                    "10.0.0.0/255.0.0.0",
                    "x/8",
                ],
            ),
            ("ip_or_cidr", &["10.0.0.1", "10.0.0.0/8", "::1"], &["", "10.0.0", "10.0.0.0/40"]),
            (
                "mac_addr",
                &[
                    "00:1b:77:49:54:fd",
                    "00-1B-77-49-54-FD",
                    "0:1b:77:49:54:fd",
                    "001b.7749.54fd",
                    "001B774954FD",
                    "08002b:010203",
                ],
                &[
                    "",
                    "00:1b:77:49:54",
                    "00:1b:77:49:54:fg",
                    "00:1b:77:49:54:fd:00",
                    "g01b774954fd",
                ],
            ),
            ("iso_8601", &["2026-11-15T07:29:29Z", "2026-11-15"], &["", "soon"]),
            (
                "timezone",
                &["", "UTC", "Europe/Berlin", "Asia/Kolkata"],
                &["europe/berlin", "Mars/Base", "local"],
            ),
            ("json_string", &["", "{}", "[1, \"a\"]", "1"], &["{", "{'a': 1}"]),
            (
                "expiration",
                &["", "2026-11-15T00:00:01Z", "2030-01-01"],
                &["2026-11-15T00:00:00Z", "2001-01-01", "later"],
            ),
            ("test_constr", &["1"], &[]),
            ("neutron.network", &["net", ""], &[]),
            ("shop.network", &[], &["net"]),
        ];
        for (name, fine, wrong) in cases {
            for value in *fine {
                assert!(is_fine(name, &json!(value)), "{name} {value}");
            }
            for value in *wrong {
                assert!(!is_fine(name, &json!(value)), "{name} {value}");
            }
        }
        assert_eq!(
            GENERIC.iter().filter(|name| !cases.iter().any(|case| case.0 == **name)).count(),
            0
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (name, value, expected) in [
            ("ip_addr", "x", "Error validating value 'x': Invalid IP address"),
            ("mac_addr", "x", "Error validating value 'x': Invalid MAC address."),
            (
                "net_cidr",
                "10.0/16",
                "Error validating value '10.0/16': Invalid net cidr '10.0/16' isn't a recognized \
                 IP subnet cidr, '10.0.0.0/16' is recommended",
            ),
            ("dns_domain", "a.b", "Error validating value 'a.b': 'a.b' must end with '.'."),
            ("iso_8601", "x", "Error validating value 'x'"),
            ("shop.key", "k", "\"k\" does not validate shop.key (constraint not found)"),
        ] {
            assert_eq!(check(name, &json!(value), &Checks::default()), Err(expected.to_owned()));
        }
    }

    proptest! {
        #[test]
        fn no_value_is_too_strange(at in 0..GENERIC.len(), text in "[0-9a-z.:/+@* TZ-]{0,40}|\\PC{0,20}") {
            let _ = is_fine(GENERIC[at], &json!(text));
        }

        #[test]
        fn addresses_are_addresses(v4: u32, v6: u128, bits in 0..=32_u8) {
            let (v4, v6) = (Ipv4Addr::from(v4), Ipv6Addr::from(v6));
            prop_assert!(is_fine("ip_addr", &json!(v4.to_string())));
            prop_assert!(is_fine("ip_addr", &json!(v6.to_string())));
            let nets = [("net_cidr", format!("{v4}/{bits}")), ("ip_or_cidr", format!("{v6}/{bits}"))];
            for (name, net) in nets {
                prop_assert!(is_fine(name, &json!(net)), "{} {}", name, net);
            }
        }
    }
}
