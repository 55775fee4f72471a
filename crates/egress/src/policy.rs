//! Which destinations an installation allows beyond the public ones.
//!
//! A destination is a name, a name with everything below it (`*.corp.example`), an address or a
//! network, each with or without a port. A name allows what it resolves to, as long as that is a
//! private or shared address; who rules over the name rules over where it leads, and not even the
//! operator's own name server should lead to this machine or to a metadata service. Those need the
//! address itself (a metadata service exactly that, not a network around it), except that `localhost`
//! is a fine name for this machine.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::address::{Kind, kind, reached};

/// On which side of the line an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Anybody can reach it.
    Public,
    /// Only called because the installation allows it.
    Inside,
}

/// Something that may be called: `vault.corp.example:8200`, `*.corp.example`, `10.0.0.0/8`,
/// `[fd00::1]:443`, `[fd00::/8]:443`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    to: To,
    /// Any when absent.
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum To {
    Name(String),
    /// Everything below this name.
    Below(String),
    Net {
        address: IpAddr,
        bits: u8,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a destination: write a host name, `*.` and a name, an address or a network such as `10.0.0.0/8`, and a port behind a colon where only that one is meant"
)]
pub struct ParseDestinationError {
    given: String,
}

impl FromStr for Destination {
    type Err = ParseDestinationError;

    fn from_str(text: &str) -> Result<Destination, ParseDestinationError> {
        let text = text.trim();
        parse(text).ok_or_else(|| ParseDestinationError { given: text.chars().take(100).collect() })
    }
}

fn parse(text: &str) -> Option<Destination> {
    let (inner, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (inner, port) = rest.split_once(']')?;
            (inner, Some(port).filter(|port| !port.is_empty()))
        }
        None => match text.find(':') {
            Some(at) if !text[at + 1..].contains(':') => (&text[..at], Some(&text[at..])),
            _ => (text, None),
        },
    };
    let port = match port {
        Some(port) => Some(port.strip_prefix(':')?.parse().ok().filter(|port| *port != 0)?),
        None => None,
    };
    let to = match (inner.split_once('/'), inner.parse::<IpAddr>()) {
        (Some((address, bits)), _) => net(address.parse().ok()?, bits.parse().ok()?)?,
        (None, Ok(address)) => net(address, width(address))?,
        (None, Err(_)) => match inner.strip_prefix("*.") {
            Some(name) => To::Below(host_name(name)?),
            None => To::Name(host_name(inner)?),
        },
    };
    Some(Destination { to, port })
}

fn net(address: IpAddr, bits: u8) -> Option<To> {
    (bits <= width(address)).then_some(To::Net { address, bits })
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn host_name(text: &str) -> Option<String> {
    let name = text.strip_suffix('.').unwrap_or(text);
    let is_name = (1..=253).contains(&name.len())
        && name.split('.').all(|label| {
            !label.is_empty()
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        });
    is_name.then(|| name.to_ascii_lowercase())
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = match &self.to {
            To::Name(name) => name.clone(),
            To::Below(name) => format!("*.{name}"),
            To::Net { address, bits } if *bits == width(*address) => address.to_string(),
            To::Net { address, bits } => format!("{address}/{bits}"),
        };
        match self.port {
            None => f.write_str(&inner),
            Some(port) if inner.contains(':') => write!(f, "[{inner}]:{port}"),
            Some(port) => write!(f, "{inner}:{port}"),
        }
    }
}

impl Destination {
    fn names(&self, host: &str) -> bool {
        match &self.to {
            To::Name(name) => name == host,
            To::Below(name) => {
                host.strip_suffix(name.as_str()).is_some_and(|front| front.ends_with('.'))
            }
            To::Net { .. } => false,
        }
    }

    fn contains(&self, given: IpAddr) -> bool {
        let To::Net { address, bits } = self.to else { return false };
        let shared = |a: u128, b: u128, width: u8| {
            let shift = u32::from(width - bits);
            a.checked_shr(shift).unwrap_or(0) == b.checked_shr(shift).unwrap_or(0)
        };
        match (address, given) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                shared(u128::from(a.to_bits()), u128::from(b.to_bits()), 32)
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => shared(a.to_bits(), b.to_bits(), 128),
            _ => false,
        }
    }

    fn is_one_address(&self) -> bool {
        matches!(self.to, To::Net { address, bits } if bits == width(address))
    }
}

/// What may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Beyond what is public.
    pub allow: Vec<Destination>,
    /// Whether public addresses may be called without being listed.
    pub is_public_allowed: bool,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { allow: Vec::new(), is_public_allowed: true }
    }
}

/// Why an address is not called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It could be allowed by its name or its address.
    ByNameOrAddress(Kind),
    /// It could be allowed by its address.
    ByAddress(Kind),
    Never(Kind),
}

impl Policy {
    /// Whether `address` may be called on `port`. `host` is the name it was found under.
    pub(crate) fn judge(
        &self,
        host: Option<&str>,
        address: IpAddr,
        port: u16,
    ) -> Result<Side, Refusal> {
        let kind = kind(address);
        let side = if kind == Kind::Public { Side::Public } else { Side::Inside };
        let on_port = || self.allow.iter().filter(|d| d.port.is_none_or(|only| only == port));
        let is_address_listed =
            || on_port().any(|d| d.contains(address) || d.contains(reached(address)));
        let is_name_listed = || host.is_some_and(|host| on_port().any(|d| d.names(host)));
        let is_listed = match kind {
            Kind::Nowhere | Kind::Multicast => return Err(Refusal::Never(kind)),
            Kind::Public => self.is_public_allowed || is_address_listed() || is_name_listed(),
            Kind::Private | Kind::Shared => is_address_listed() || is_name_listed(),
            Kind::Loopback => {
                is_address_listed() || host.is_some_and(is_localhost) && is_name_listed()
            }
            Kind::Metadata => on_port().any(|d| {
                d.is_one_address() && (d.contains(address) || d.contains(reached(address)))
            }),
            Kind::LinkLocal | Kind::Tunnel | Kind::Reserved => is_address_listed(),
        };
        match (is_listed, kind) {
            (true, _) => Ok(side),
            (false, Kind::Public | Kind::Private | Kind::Shared) => {
                Err(Refusal::ByNameOrAddress(kind))
            }
            (false, Kind::Loopback) if host.is_some_and(is_localhost) => {
                Err(Refusal::ByNameOrAddress(kind))
            }
            (false, _) => Err(Refusal::ByAddress(kind)),
        }
    }

    /// Whether a public address that turned out to be this machine's own is meant to be called.
    pub(crate) fn lists_address(&self, address: IpAddr, port: u16) -> bool {
        self.allow
            .iter()
            .filter(|d| d.port.is_none_or(|only| only == port))
            .any(|d| d.contains(address) || d.contains(reached(address)))
    }
}

fn is_localhost(host: &str) -> bool {
    host == "localhost" || host.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(allow: &str) -> Policy {
        let allow = allow.split_whitespace().map(|text| text.parse().unwrap()).collect();
        Policy { allow, ..Policy::default() }
    }

    fn ok(policy: &Policy, host: Option<&str>, address: &str, port: u16) -> bool {
        policy.judge(host, address.parse().unwrap(), port).is_ok()
    }

    #[test]
    fn destinations_are_read_and_written() {
        for text in [
            "vault.example",
            "vault.example:8200",
            "*.corp.example",
            "*.corp.example:443",
            "10.0.0.5",
            "10.0.0.5:80",
            "10.0.0.0/8",
            "10.0.0.0/8:443",
            "fd00::1",
            "[fd00::1]:443",
            "fd00::/8",
            "[fd00::/8]:443",
        ] {
            assert_eq!(text.parse::<Destination>().unwrap().to_string(), text);
        }
        assert_eq!("Vault.Example.".parse::<Destination>().unwrap().to_string(), "vault.example");
        for text in [
            "",
            "a b",
            "*",
            "*.",
            "a..b",
            "10.0.0.0/33",
            "fd00::/129",
            "a:0",
            "a:b",
            "a:99999",
            "[fd00::1",
            "[fd00::1]443",
            "http://a",
            "a/8",
            "10.0.0.0/",
        ] {
            assert!(text.parse::<Destination>().is_err(), "{text}");
        }
    }

    #[test]
    fn nothing_inside_is_called_unless_listed() {
        let none = Policy::default();
        assert!(ok(&none, None, "8.8.8.8", 443));
        for address in ["10.0.0.1", "127.0.0.1", "169.254.1.1", "::1", "fd00::1", "100.64.0.1"] {
            assert!(!ok(&none, None, address, 443), "{address}");
            assert!(!ok(&none, Some("a.example"), address, 443), "{address}");
        }
        let some = policy("10.1.0.0/16 fd00::/8 127.0.0.1:8200");
        assert!(ok(&some, None, "10.1.255.1", 1));
        assert!(ok(&some, None, "::ffff:10.1.0.1", 1));
        assert!(ok(&some, None, "64:ff9b::a01:1", 1));
        assert!(!ok(&some, None, "10.2.0.1", 1));
        assert!(ok(&some, None, "fd12::1", 1));
        assert!(ok(&some, None, "127.0.0.1", 8200));
        assert!(!ok(&some, None, "127.0.0.1", 8201));
        assert!(!ok(&some, None, "127.0.0.2", 8200));
    }

    #[test]
    fn a_name_allows_private_addresses_only() {
        let named = policy("vault.example:8200 *.corp.example localhost");
        let vault = Some("vault.example");
        assert!(ok(&named, vault, "10.0.0.1", 8200));
        assert!(ok(&named, vault, "fd00::1", 8200));
        assert!(!ok(&named, vault, "10.0.0.1", 8201));
        assert!(!ok(&named, vault, "127.0.0.1", 8200));
        assert!(!ok(&named, vault, "169.254.169.254", 8200));
        assert!(!ok(&named, vault, "fe80::1", 8200));
        assert!(ok(&named, Some("a.b.corp.example"), "192.168.0.1", 1));
        assert!(!ok(&named, Some("corp.example"), "192.168.0.1", 1));
        assert!(!ok(&named, Some("evilcorp.example"), "192.168.0.1", 1));
        assert!(ok(&named, Some("localhost"), "127.0.0.1", 1));
        assert!(!ok(&named, Some("localhost"), "169.254.169.254", 1));
    }

    #[test]
    fn metadata_needs_its_exact_address_and_some_are_never_called() {
        assert!(!ok(&policy("169.254.0.0/16 0.0.0.0/0"), None, "169.254.169.254", 80));
        assert!(ok(&policy("169.254.0.0/16"), None, "169.254.1.1", 80));
        assert!(ok(&policy("169.254.169.254:80"), None, "169.254.169.254", 80));
        assert!(!ok(&policy("169.254.169.254:80"), None, "169.254.169.254", 81));
        let all = policy("0.0.0.0/0 ::/0");
        for address in ["0.0.0.0", "255.255.255.255", "224.0.0.1", "::", "ff02::1"] {
            assert!(!ok(&all, None, address, 80), "{address}");
        }
        assert!(ok(&all, None, "127.0.0.1", 80));
    }

    #[test]
    fn an_installation_can_be_closed() {
        let closed = Policy { is_public_allowed: false, ..policy("api.example 1.1.1.0/24") };
        assert!(!ok(&closed, None, "8.8.8.8", 443));
        assert!(ok(&closed, None, "1.1.1.1", 443));
        assert!(ok(&closed, Some("api.example"), "8.8.8.8", 443));
    }
}
