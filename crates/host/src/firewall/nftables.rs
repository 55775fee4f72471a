//! nftables: rules in a table of our own. Each carries its fingerprint in its comment, by which it is
//! found again however nft prints it. A table that is disabled is dormant: its rules stay.

use super::rule::{Action, Direction, Rule};
use super::{Firewall, Standing};
use crate::call::Call;
use crate::files::File;
use crate::plan::{Plan, Primitive};
use crate::{Host, HostError};

const FAMILY: &str = "inet";
const TABLE: &str = "hostler";
const CHAINS: [&str; 3] = ["input", "output", "forward"];
const SAVED: &str = "/etc/nftables.d/hostler.nft";

pub(super) fn call<I: IntoIterator<Item: Into<String>>>(args: I) -> Call {
    Call::new("nft").args(args).privileged()
}

/// The table with the handles of its rules; `None` where there is none.
async fn table(host: &Host) -> Result<Option<String>, HostError> {
    let asked = call(["-a", "list", "table", FAMILY, TABLE]);
    let (argv, max) = (asked.argv(), asked.output_max);
    let finished = host.attempt(asked).await?;
    if finished.is_success() {
        return match finished.is_cut {
            true => Err(HostError::TooMuch { argv, max }),
            false => Ok(Some(finished.text())),
        };
    }
    match finished.complaint().contains("No such file or directory") {
        true => Ok(None),
        false => Err(HostError::failed(argv, finished.code, &finished.stderr)),
    }
}

fn chain(rule: &Rule) -> Result<&str, HostError> {
    rule.refuse(Firewall::Nftables, false, true)?;
    match (rule.chain.as_deref(), rule.direction) {
        (Some(chain), _) => {
            let known = CHAINS.into_iter().find(|known| chain.eq_ignore_ascii_case(known));
            let problem = "the chains of `inet hostler` are input, output and forward";
            known.ok_or_else(|| HostError::invalid("the chain", chain, problem))
        }
        (None, Direction::In) => Ok("input"),
        (None, Direction::Out) => Ok("output"),
    }
}

fn words(rule: &Rule, mark: &str) -> Result<Vec<String>, HostError> {
    let m = rule.matched()?;
    let mut words = Vec::new();
    let family = match m.is_v6 {
        Some(true) => "ip6",
        _ => "ip",
    };
    for (word, net) in [("saddr", m.from), ("daddr", m.to)] {
        if let Some(net) = net {
            words.extend([family.to_owned(), word.to_owned(), net.to_string()]);
        }
    }
    match (m.protocol.as_deref(), m.ports) {
        (Some(protocol), Some(ports)) => {
            words.extend([protocol, "dport"].map(str::to_owned));
            words.push(ports.joined('-'));
        }
        (Some(protocol), None) => {
            let protocol = if protocol == "icmpv6" { "ipv6-icmp" } else { protocol };
            words.extend(["meta", "l4proto", protocol].map(str::to_owned));
        }
        (None, _) => {}
    }
    words.push(match rule.action {
        Action::Allow => "accept".to_owned(),
        Action::Deny => "drop".to_owned(),
    });
    let comment = match &rule.comment {
        Some(comment) => format!("\"{mark} {comment}\""),
        None => format!("\"{mark}\""),
    };
    words.extend(["comment".to_owned(), comment]);
    Ok(words)
}

/// The handle of the rule whose comment begins with the mark.
fn handle(table: &str, mark: &str) -> Option<String> {
    let line = table.lines().find(|line| {
        let comment = line.split_once("comment \"").map_or("", |(_, comment)| comment);
        comment.strip_prefix(mark).is_some_and(|rest| rest.starts_with([' ', '"']))
    })?;
    let (_, handle) = line.rsplit_once("# handle ")?;
    Some(handle.trim().to_owned()).filter(|handle| handle.bytes().all(|b| b.is_ascii_digit()))
}

pub(super) async fn standing(host: &Host, rule: &Rule) -> Result<Standing, HostError> {
    let chain = chain(rule)?;
    let mark = format!("hostler:{}", rule.fingerprint()?);
    let found = table(host).await?;
    if let Some(handle) = found.as_deref().and_then(|table| handle(table, &mark)) {
        let extra = vec![call(["delete", "rule", FAMILY, TABLE, chain, "handle", &handle])];
        return Ok(Standing { missing: Vec::new(), extra });
    }
    let mut missing = if found.is_none() { base() } else { Vec::new() };
    missing.push(call(["add", "rule", FAMILY, TABLE, chain]).args(words(rule, &mark)?));
    Ok(Standing { missing, extra: Vec::new() })
}

/// The table and its chains, which let everything through by themselves.
fn base() -> Vec<Call> {
    let mut calls = vec![call(["add", "table", FAMILY, TABLE])];
    for chain in CHAINS {
        let hook = format!("{{ type filter hook {chain} priority -5 ; policy accept ; }}");
        calls.push(call(["add", "chain", FAMILY, TABLE, chain, &hook]));
    }
    calls
}

fn is_dormant(table: &str) -> bool {
    table.lines().any(|line| line.trim() == "flags dormant")
}

pub(super) async fn enable(host: &Host) -> Result<Vec<Call>, HostError> {
    Ok(match table(host).await? {
        None => base(),
        Some(table) if is_dormant(&table) => vec![call(["add", "table", FAMILY, TABLE])],
        Some(_) => Vec::new(),
    })
}

pub(super) async fn disable(host: &Host) -> Result<Vec<Call>, HostError> {
    Ok(match table(host).await? {
        Some(table) if !is_dormant(&table) => {
            vec![call(["add", "table", FAMILY, TABLE, "{ flags dormant ; }"])]
        }
        _ => Vec::new(),
    })
}

pub(super) async fn flush(host: &Host) -> Result<Vec<Call>, HostError> {
    let has_rules = table(host).await?.is_some_and(|table| table.contains("comment \"hostler:"));
    Ok(match has_rules {
        true => vec![call(["flush", "table", FAMILY, TABLE])],
        false => Vec::new(),
    })
}

pub(super) async fn status(host: &Host) -> Result<String, HostError> {
    Ok(match table(host).await? {
        None => "rules of hostler: none\n".to_owned(),
        Some(table) if is_dormant(&table) => format!("rules of hostler: disabled\n{table}"),
        Some(table) => format!("rules of hostler: enabled\n{table}"),
    })
}

/// The file replaces the table when it is loaded. It is loaded at boot where `/etc/nftables.conf`
/// includes it.
pub(super) async fn save(host: &Host) -> Result<Plan, HostError> {
    let listed = host.ask(call(["list", "table", FAMILY, TABLE])).await?;
    let head = format!("table {FAMILY} {TABLE}\ndelete table {FAMILY} {TABLE}\n");
    let file = File::with_content(SAVED, format!("{head}{listed}").as_str());
    file.present(host).await
}

pub(super) async fn reload(host: &Host) -> Result<Vec<Call>, HostError> {
    match host.path(SAVED)?.is_file() {
        true => Ok(vec![call(["-f", SAVED])]),
        false => {
            let (name, next) = (SAVED.to_owned(), "save the rules first");
            Err(HostError::Absent { what: "file", name, next })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_written_out() {
        let said = |rule: Rule| words(&rule, "hostler:1").unwrap().join(" ");
        assert_eq!(said(Rule::allow_port(22, None)), "tcp dport 22 accept comment \"hostler:1\"");
        let rule = Rule {
            action: Action::Deny,
            from: Some("fd00::/8".into()),
            protocol: Some("udp".into()),
            port_range: Some("1:2".into()),
            comment: Some("why".into()),
            ..Rule::default()
        };
        assert_eq!(said(rule), "ip6 saddr fd00::/8 udp dport 1-2 drop comment \"hostler:1 why\"");
        let ping = Rule { protocol: Some("icmp".into()), ..Rule::default() };
        assert_eq!(said(ping), "meta l4proto icmp accept comment \"hostler:1\"");
    }

    #[test]
    fn handles_are_found_by_the_mark() {
        let table = "table inet hostler { # handle 3\n chain input { # handle 1\n\
                     tcp dport 22 accept comment \"hostler:ab why\" # handle 7\n\
                     tcp dport 23 drop comment \"hostler:abc\" # handle 8\n}\n}\n";
        assert_eq!(handle(table, "hostler:ab").as_deref(), Some("7"));
        assert_eq!(handle(table, "hostler:abc").as_deref(), Some("8"));
        assert_eq!(handle(table, "hostler:a"), None);
    }

    #[test]
    fn chains_are_those_of_the_table() {
        let with = |chain: &str| Rule { chain: Some(chain.into()), ..Rule::allow_port(1, None) };
        assert_eq!(chain(&with("FORWARD")).unwrap(), "forward");
        assert!(chain(&with("prerouting")).is_err());
        assert_eq!(chain(&Rule::allow_port(1, None)).unwrap(), "input");
    }
}
