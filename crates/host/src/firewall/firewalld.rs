//! firewalld: an open port is a port of the zone, everything else a rich rule, each now and for good.

use super::rule::{Action, Direction, Rule};
use super::{Firewall, Standing};
use crate::call::Call;
use crate::{Host, HostError};

pub(super) fn call<I: IntoIterator<Item: Into<String>>>(args: I) -> Call {
    Call::new("firewall-cmd").args(args).privileged()
}

pub(super) async fn is_at_work(host: &Host) -> Result<bool, HostError> {
    Ok(host.attempt(Call::new("firewall-cmd").arg("--state")).await?.is_success())
}

/// What is added, removed or asked for: `port=80/tcp`, `rich-rule=..`.
fn subjects(rule: &Rule) -> Result<Vec<String>, HostError> {
    rule.refuse(Firewall::Firewalld, true, false)?;
    let m = rule.matched()?;
    if rule.direction == Direction::Out {
        let problem = "zones are about what comes in; use another firewall for what goes out";
        return Err(HostError::invalid("the direction", "out", problem));
    }
    let is_plain = rule.action == Action::Allow && m.from.is_none() && m.to.is_none();
    if let (true, Some(ports), Some(protocol)) = (is_plain, m.ports, &m.protocol) {
        return Ok(vec![format!("port={}/{protocol}", ports.joined('-'))]);
    }
    let families = match m.is_v6 {
        Some(true) => vec!["ipv6"],
        Some(false) => vec!["ipv4"],
        None => vec!["ipv4", "ipv6"],
    };
    let rich = families.into_iter().map(|family| {
        let mut words = vec![format!("rule family=\"{family}\"")];
        words.extend(m.from.map(|from| format!("source address=\"{from}\"")));
        words.extend(m.to.map(|to| format!("destination address=\"{to}\"")));
        match (&m.protocol, m.ports) {
            (Some(protocol), Some(ports)) => {
                let ports = ports.joined('-');
                words.push(format!("port port=\"{ports}\" protocol=\"{protocol}\""));
            }
            (Some(protocol), None) => words.push(format!("protocol value=\"{protocol}\"")),
            _ => {}
        }
        words.push(match rule.action {
            Action::Allow => "accept".to_owned(),
            Action::Deny => "drop".to_owned(),
        });
        format!("rich-rule={}", words.join(" "))
    });
    Ok(rich.collect())
}

pub(super) async fn standing(host: &Host, rule: &Rule) -> Result<Standing, HostError> {
    let zone = rule.zone.as_ref().map(|zone| format!("--zone={zone}"));
    let mut standing = Standing { missing: Vec::new(), extra: Vec::new() };
    for subject in subjects(rule)? {
        for lasting in [None, Some("--permanent".to_owned())] {
            let verb = |verb: &str| {
                let head: Vec<String> = lasting.iter().chain(&zone).cloned().collect();
                call(head).arg(format!("--{verb}-{subject}"))
            };
            let asked = verb("query").answers(&[1]);
            match host.run(asked).await?.is_success() {
                true => standing.extra.push(verb("remove")),
                false => standing.missing.push(verb("add")),
            }
        }
    }
    Ok(standing)
}

pub(super) async fn enable(host: &Host) -> Result<Vec<Call>, HostError> {
    Ok(match is_at_work(host).await? {
        true => Vec::new(),
        false => vec![systemctl("enable")],
    })
}

pub(super) async fn disable(host: &Host) -> Result<Vec<Call>, HostError> {
    Ok(match is_at_work(host).await? {
        true => vec![systemctl("disable")],
        false => Vec::new(),
    })
}

fn systemctl(verb: &str) -> Call {
    Call::new("systemctl").args([verb, "--now", "--", "firewalld.service"]).privileged()
}

pub(super) async fn status(host: &Host) -> Result<String, HostError> {
    let finished = host.attempt(call(["--state"])).await?;
    Ok(format!("{}{}", finished.text(), finished.complaint()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_ports_are_ports_and_the_rest_is_rich() {
        let said = |rule: Rule| subjects(&rule).unwrap();
        assert_eq!(said(Rule::allow_port(80, None)), ["port=80/tcp"]);
        let range = Rule { port_range: Some("10:20".into()), ..Rule::default() };
        assert_eq!(said(range), ["port=10-20/tcp"]);
        assert_eq!(
            said(Rule::allow_from("10.0.0.0/8")),
            ["rich-rule=rule family=\"ipv4\" source address=\"10.0.0.0/8\" accept"]
        );
        let both = said(Rule::deny_port(23, Some("tcp")));
        assert_eq!(both.len(), 2);
        assert_eq!(
            both[1],
            "rich-rule=rule family=\"ipv6\" port port=\"23\" protocol=\"tcp\" drop"
        );
        let rule = Rule {
            action: Action::Deny,
            protocol: Some("icmp".into()),
            to: Some("10.0.0.1".into()),
            ..Rule::default()
        };
        assert_eq!(
            said(rule),
            [
                "rich-rule=rule family=\"ipv4\" destination address=\"10.0.0.1\" protocol value=\"icmp\" drop"
            ]
        );
        let out = Rule { direction: Direction::Out, ..Rule::allow_port(1, None) };
        assert!(subjects(&out).is_err());
    }
}
