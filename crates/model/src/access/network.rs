//! Ranges of addresses, as `10.0.0.0/8` or `2001:db8::/32`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A range of addresses. An address without a length is the range of that address alone; one of IPv4
/// written as IPv6 is one of IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    address: IpAddr,
    length: u8,
}

/// Error of parsing a range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a range of addresses: {problem}")]
pub struct ParseNetworkError {
    given: String,
    problem: &'static str,
}

const fn bits(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// The first `length` bits, the rest zero, in the place where the highest bit comes first.
fn masked(address: IpAddr, length: u8) -> u128 {
    let (value, width) = match address {
        IpAddr::V4(v4) => (u128::from(v4.to_bits()), 32),
        IpAddr::V6(v6) => (v6.to_bits(), 128),
    };
    value.checked_shr(width - u32::from(length)).unwrap_or(0)
}

impl Network {
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        address.is_ipv4() == self.address.is_ipv4()
            && masked(address, self.length) == masked(self.address, self.length)
    }

    /// Whether every address of this range is in the other.
    pub fn is_within(&self, other: &Network) -> bool {
        self.length >= other.length && other.contains(self.address)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}", self.address, self.length))
    }
}

impl FromStr for Network {
    type Err = ParseNetworkError;
    fn from_str(text: &str) -> Result<Network, ParseNetworkError> {
        let wrong = |problem| ParseNetworkError { given: text.chars().take(64).collect(), problem };
        let (address, length) = match text.split_once('/') {
            Some((address, length)) => (address, Some(length)),
            None => (text, None),
        };
        let written: IpAddr =
            address.parse().map_err(|_| wrong("write it as 10.0.0.0/8 or 2001:db8::/32"))?;
        let address = written.to_canonical();
        let length = match length {
            None => bits(address),
            Some(length) => {
                let is_number = !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit());
                let length: u8 = length.parse().ok().filter(|_| is_number).ok_or_else(|| {
                    wrong("its length is a number of bits, such as the 8 of 10.0.0.0/8")
                })?;
                let spare = bits(written) - bits(address);
                length
                    .checked_sub(spare)
                    .filter(|length| *length <= bits(address))
                    .ok_or_else(|| wrong("its length does not fit the address"))?
            }
        };
        let network = Network { address, length };
        let width = u32::from(bits(address) - length);
        let begins = masked(address, length).checked_shl(width).unwrap_or(0);
        if begins != masked(address, bits(address)) {
            return Err(wrong("it has bits behind its length; write the first address of it"));
        }
        Ok(network)
    }
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<'de, str>::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for Network {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Network".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "examples": ["10.0.0.0/8"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    #[test]
    fn ranges_hold_what_they_say() {
        for (range, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.0"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.6"),
            ("0.0.0.0/0", "255.255.255.255", "::1"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"),
            ("::/0", "fe80::1", "127.0.0.1"),
            ("::ffff:10.0.0.0/104", "10.1.2.3", "11.0.0.0"),
            ("10.0.0.0/8", "::ffff:10.1.2.3", "::ffff:11.1.2.3"),
        ] {
            assert!(network(range).contains(inside.parse().unwrap()), "{range} {inside}");
            assert!(!network(range).contains(outside.parse().unwrap()), "{range} {outside}");
        }
        assert!(network("10.1.0.0/16").is_within(&network("10.0.0.0/8")));
        assert!(!network("10.0.0.0/8").is_within(&network("10.1.0.0/16")));
        assert!(!network("::/0").is_within(&network("0.0.0.0/0")));
        assert_eq!(network("::ffff:10.0.0.0/104").to_string(), "10.0.0.0/8");
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "",
            "/",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/+8",
            "10.0.0.0/-1",
            "10.0.0.1/8",
            "::/129",
            "10.0.0/8",
            "host",
            "10.0.0.0/8/8",
            "::ffff:10.0.0.0/8",
            "10.0.0.0/256",
        ] {
            assert!(text.parse::<Network>().is_err(), "{text}");
        }
    }
}
