//! A rule, and what it comes down to.

use serde::{Deserialize, Serialize};

use super::Firewall;
use super::address::Net;
use crate::HostError;
use crate::digest::sha256_hex;
use crate::values::one_line;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    #[default]
    Allow,
    /// Without an answer.
    Deny,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    #[default]
    #[serde(alias = "input", alias = "inbound", alias = "incoming")]
    In,
    #[serde(alias = "output", alias = "outbound", alias = "outgoing")]
    Out,
}

/// Which traffic is let through or held up; what is not told does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    #[serde(default)]
    pub action: Action,
    /// `tcp`, `udp`, `sctp`, `icmp`, ..; TCP where there is a port.
    #[serde(default)]
    pub protocol: Option<String>,
    #[serde(default)]
    pub port: Option<u16>,
    /// `first:last` or `first-last`.
    #[serde(default)]
    pub port_range: Option<String>,
    #[serde(default)]
    pub from: Option<String>,
    #[serde(default)]
    pub to: Option<String>,
    /// firewalld only.
    #[serde(default)]
    pub zone: Option<String>,
    /// iptables: a chain of the machine; nftables: `input`, `output` or `forward`.
    #[serde(default)]
    pub chain: Option<String>,
    #[serde(default)]
    pub direction: Direction,
    #[serde(default)]
    pub comment: Option<String>,
    /// The machine's own when left out.
    #[serde(default)]
    pub firewall: Option<Firewall>,
}

/// From the first to the last, which may be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ports {
    pub first: u16,
    pub last: u16,
}

impl Ports {
    pub fn joined(self, separator: char) -> String {
        match self.first == self.last {
            true => self.first.to_string(),
            false => format!("{}{separator}{}", self.first, self.last),
        }
    }
}

/// A rule with everything read.
#[derive(Clone, Debug)]
pub(super) struct Match {
    pub protocol: Option<String>,
    pub ports: Option<Ports>,
    pub from: Option<Net>,
    pub to: Option<Net>,
    /// `None` where it is for both versions of IP.
    pub is_v6: Option<bool>,
}

impl Rule {
    pub fn allow_port(port: u16, protocol: Option<&str>) -> Rule {
        Rule { port: Some(port), protocol: protocol.map(str::to_owned), ..Rule::default() }
    }

    pub fn deny_port(port: u16, protocol: Option<&str>) -> Rule {
        Rule { action: Action::Deny, ..Rule::allow_port(port, protocol) }
    }

    pub fn allow_from(from: impl Into<String>) -> Rule {
        Rule { from: Some(from.into()), ..Rule::default() }
    }

    pub fn deny_from(from: impl Into<String>) -> Rule {
        Rule { action: Action::Deny, ..Rule::allow_from(from) }
    }

    pub(super) fn validate(&self) -> Result<(), HostError> {
        self.matched()?;
        if let Some(comment) = &self.comment {
            one_line("the comment", comment)?;
            if comment.contains(['"', '\'', '\\']) || comment.len() > 100 {
                let problem = "it must have at most 100 bytes and no quotes or backslashes";
                return Err(HostError::invalid("the comment", comment, problem));
            }
        }
        for (what, name) in [("the zone", &self.zone), ("the chain", &self.chain)] {
            let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
            if let Some(name) = name
                && (!name.bytes().all(is_plain)
                    || !(1..=28).contains(&name.len())
                    || name.starts_with('-'))
            {
                let problem = "it must be a name of letters, digits, `_` and `-`";
                return Err(HostError::invalid(what, name, problem));
            }
        }
        Ok(())
    }

    pub(super) fn matched(&self) -> Result<Match, HostError> {
        let ports = self.ports()?;
        let protocol = match (&self.protocol, ports) {
            (Some(protocol), _) => match protocol.to_ascii_lowercase() {
                any if any == "any" || any == "all" => ports.map(|_| "tcp".to_owned()),
                protocol => Some(protocol),
            },
            (None, Some(_)) => Some("tcp".to_owned()),
            (None, None) => None,
        };
        if let Some(protocol) = &protocol {
            let is_name = (1..=12).contains(&protocol.len())
                && protocol.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                && !protocol.starts_with('-');
            let has_ports = ["tcp", "udp", "sctp", "dccp"].contains(&protocol.as_str());
            if !is_name || ports.is_some() && !has_ports {
                let problem = match is_name {
                    true => "it has no ports; leave the port out",
                    false => "write a name such as `tcp`",
                };
                return Err(HostError::invalid("the protocol", protocol, problem));
            }
        }
        let net = |text: &Option<String>| match text.as_deref() {
            None | Some("any") => Ok(None),
            Some(text) => text.parse::<Net>().map(Some),
        };
        let (from, to) = (net(&self.from)?, net(&self.to)?);
        let versions = [from, to].map(|net| net.as_ref().map(Net::is_v6));
        let is_v6 = match versions {
            [Some(from), Some(to)] if from != to => {
                let given = self.to.clone().unwrap_or_default();
                let problem = "it is of another version of IP than where it comes from";
                return Err(HostError::invalid("the address", given, problem));
            }
            [from, to] => from.or(to),
        };
        let is_v6 = match protocol.as_deref() {
            Some("icmp") => Some(false),
            Some("icmpv6" | "ipv6-icmp") => Some(true),
            _ => is_v6,
        };
        if protocol.is_none() && from.is_none() && to.is_none() {
            let problem = "say at least a port, a protocol or an address";
            return Err(HostError::invalid("the rule", self.words(), problem));
        }
        Ok(Match { protocol, ports, from, to, is_v6 })
    }

    fn ports(&self) -> Result<Option<Ports>, HostError> {
        let range = match (&self.port, &self.port_range) {
            (Some(_), Some(range)) => {
                let problem = "a port is given too; keep one";
                return Err(HostError::invalid("the range", range, problem));
            }
            (Some(port), None) => (Some(*port), Some(*port), port.to_string()),
            (None, Some(range)) => {
                let (first, last) = range.split_once([':', '-']).unwrap_or((range, range));
                (first.trim().parse().ok(), last.trim().parse().ok(), range.clone())
            }
            (None, None) => return Ok(None),
        };
        match range {
            (Some(first @ 1..), Some(last), _) if first <= last => Ok(Some(Ports { first, last })),
            (_, _, given) => {
                let problem = "ports are from 1 to 65535, a range is written `8000:8100`";
                Err(HostError::invalid("the port", given, problem))
            }
        }
    }

    /// For people.
    pub fn words(&self) -> String {
        let mut words = vec![match self.action {
            Action::Allow => "allow".to_owned(),
            Action::Deny => "deny".to_owned(),
        }];
        if self.direction == Direction::Out {
            words.push("out".to_owned());
        }
        words.extend(self.protocol.clone());
        words.extend(self.port.map(|port| format!("port {port}")));
        words.extend(self.port_range.as_ref().map(|range| format!("ports {range}")));
        words.extend(self.from.as_ref().map(|from| format!("from {from}")));
        words.extend(self.to.as_ref().map(|to| format!("to {to}")));
        words.extend(self.zone.as_ref().map(|zone| format!("in zone {zone}")));
        words.extend(self.chain.as_ref().map(|chain| format!("in chain {chain}")));
        words.join(" ")
    }

    /// What tells it from other rules, whatever its comment; short enough to stand in one.
    pub(super) fn fingerprint(&self) -> Result<String, HostError> {
        let m = self.matched()?;
        let net = |net: Option<Net>| net.map_or(String::new(), |net| net.to_string());
        let text = format!(
            "{:?}|{:?}|{:?}|{:?}|{}|{}|{:?}",
            self.action,
            self.direction,
            m.protocol,
            m.ports,
            net(m.from),
            net(m.to),
            self.chain,
        );
        Ok(sha256_hex(text.as_bytes())[..16].to_owned())
    }

    /// An error where something is told that this firewall does not have.
    pub(super) fn refuse(
        &self,
        firewall: Firewall,
        has_zones: bool,
        has_chains: bool,
    ) -> Result<(), HostError> {
        let name = firewall.name();
        match (&self.zone, &self.chain) {
            (Some(zone), _) if !has_zones => {
                let problem = format!("{name} has no zones; leave it out");
                Err(HostError::invalid("the zone", zone, problem))
            }
            (_, Some(chain)) if !has_chains => {
                let problem = format!("{name} has no chains of its own; leave it out");
                Err(HostError::invalid("the chain", chain, problem))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read() {
        let rule: Rule = serde_json::from_str(
            r#"{"action": "deny", "protocol": "UDP", "port_range": "8000:8100", "from": "10.1.2.3/8",
                "direction": "outgoing", "comment": "x"}"#,
        )
        .unwrap();
        let read = rule.matched().unwrap();
        assert_eq!(read.protocol.as_deref(), Some("udp"));
        assert_eq!(read.ports, Some(Ports { first: 8000, last: 8100 }));
        assert_eq!(
            (read.from.unwrap().to_string(), read.is_v6),
            ("10.0.0.0/8".into(), Some(false))
        );
        assert_eq!(rule.words(), "deny out UDP ports 8000:8100 from 10.1.2.3/8");
        assert_eq!(Rule::allow_port(80, None).matched().unwrap().protocol.as_deref(), Some("tcp"));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let good = Rule::allow_port(80, None);
        let bad = [
            Rule::default(),
            Rule { port: Some(0), ..Rule::default() },
            Rule { port_range: Some("9:8".into()), ..Rule::default() },
            Rule { port_range: Some("1:99999".into()), ..Rule::default() },
            Rule { port_range: Some("1:2".into()), ..good.clone() },
            Rule { protocol: Some("icmp".into()), ..good.clone() },
            Rule { protocol: Some("-j".into()), ..good.clone() },
            Rule { from: Some("here".into()), ..good.clone() },
            Rule { from: Some("10.0.0.1".into()), to: Some("::1".into()), ..good.clone() },
            Rule { comment: Some("a\"b".into()), ..good.clone() },
            Rule { comment: Some("a\nb".into()), ..good.clone() },
            Rule { chain: Some("-F".into()), ..good.clone() },
            Rule { zone: Some("a b".into()), ..good.clone() },
        ];
        for rule in bad {
            assert!(rule.validate().is_err(), "{rule:?}");
        }
        assert!(good.validate().is_ok());
    }

    #[test]
    fn a_fingerprint_is_of_what_the_rule_does() {
        let print = |rule: &Rule| rule.fingerprint().unwrap();
        let rule = Rule::allow_port(80, None);
        let same = Rule { protocol: Some("TCP".into()), comment: Some("x".into()), ..rule.clone() };
        assert_eq!(print(&rule), print(&same));
        assert_ne!(print(&rule), print(&Rule::deny_port(80, None)));
        assert_ne!(print(&rule), print(&Rule::allow_port(81, None)));
        assert_ne!(print(&rule), print(&Rule { direction: Direction::Out, ..rule.clone() }));
    }
}
