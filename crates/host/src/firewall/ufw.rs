//! ufw: whether a rule is there is asked by a dry run, which compares as ufw itself does; whether it is
//! at work stands in its configuration, which everybody may read.

use super::rule::{Action, Direction, Rule};
use super::{Firewall, Standing};
use crate::call::Call;
use crate::files::read_text;
use crate::plan::blocking;
use crate::{Host, HostError};

pub(super) fn call<I: IntoIterator<Item: Into<String>>>(args: I) -> Call {
    Call::new("ufw").args(args).privileged()
}

pub(super) async fn is_at_work(host: &Host) -> Result<bool, HostError> {
    let at = host.path("/etc/ufw/ufw.conf")?;
    let text = blocking(move || read_text(&at)).await?.unwrap_or_default();
    Ok(text.lines().any(|line| line.trim().eq_ignore_ascii_case("enabled=yes")))
}

fn words(rule: &Rule) -> Result<Vec<String>, HostError> {
    rule.refuse(Firewall::Ufw, false, false)?;
    let m = rule.matched()?;
    let action = match rule.action {
        Action::Allow => "allow",
        Action::Deny => "deny",
    };
    let direction = match rule.direction {
        Direction::In => "in",
        Direction::Out => "out",
    };
    let any = || "any".to_owned();
    let net = |net: Option<super::address::Net>| net.map_or_else(any, |net| net.to_string());
    let mut words: Vec<String> = [action, direction].map(str::to_owned).to_vec();
    if let Some(protocol) = m.protocol {
        words.extend(["proto".to_owned(), protocol]);
    }
    words.extend(["from".to_owned(), net(m.from), "to".to_owned(), net(m.to)]);
    if let Some(ports) = m.ports {
        words.extend(["port".to_owned(), ports.joined(':')]);
    }
    Ok(words)
}

pub(super) async fn standing(host: &Host, rule: &Rule) -> Result<Standing, HostError> {
    let words = words(rule)?;
    let dry_run = call(["--dry-run"]).args(words.clone());
    let said = host.ask(dry_run).await?;
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let is_there =
        lines.peek().is_some() && lines.all(|line| line.starts_with("Skipping adding existing"));
    let comment = rule.comment.iter().flat_map(|text| ["comment".to_owned(), text.clone()]);
    Ok(match is_there {
        true => {
            Standing { missing: Vec::new(), extra: vec![call(["--force", "delete"]).args(words)] }
        }
        false => Standing { missing: vec![call(words).args(comment)], extra: Vec::new() },
    })
}

pub(super) async fn enable(host: &Host) -> Result<Vec<Call>, HostError> {
    Ok(match is_at_work(host).await? {
        true => Vec::new(),
        false => vec![call(["--force", "enable"])],
    })
}

pub(super) async fn disable(host: &Host) -> Result<Vec<Call>, HostError> {
    Ok(match is_at_work(host).await? {
        true => vec![call(["disable"])],
        false => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_written_out() {
        let said = |rule: Rule| words(&rule).unwrap().join(" ");
        assert_eq!(said(Rule::allow_port(22, None)), "allow in proto tcp from any to any port 22");
        assert_eq!(said(Rule::deny_from("10.0.0.0/8")), "deny in from 10.0.0.0/8 to any");
        let rule = Rule {
            direction: Direction::Out,
            protocol: Some("udp".into()),
            port_range: Some("10-20".into()),
            to: Some("10.0.0.1".into()),
            ..Rule::default()
        };
        assert_eq!(said(rule), "allow out proto udp from any to 10.0.0.1 port 10:20");
        assert!(words(&Rule { zone: Some("x".into()), ..Rule::allow_port(1, None) }).is_err());
        assert!(words(&Rule { chain: Some("x".into()), ..Rule::allow_port(1, None) }).is_err());
    }
}
