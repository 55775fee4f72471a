//! iptables: rules in chains of our own, which the machine's chains jump to first. A rule without an
//! address is in both versions of IP, where the machine has both.

use std::path::PathBuf;

use super::rule::{Action, Direction, Rule};
use super::{Firewall, Standing};
use crate::call::Call;
use crate::files::File;
use crate::plan::{Plan, Primitive};
use crate::{Host, HostError};

/// The machine's chain, ours, and which way it is for.
const CHAINS: [(&str, &str, Direction); 2] =
    [("INPUT", "HOSTLER-IN", Direction::In), ("OUTPUT", "HOSTLER-OUT", Direction::Out)];

pub(super) fn call<I: IntoIterator<Item: Into<String>>>(program: &str, args: I) -> Call {
    Call::new(program).args(["-w", "10"]).args(args).privileged()
}

fn programs(host: &Host, is_v6: Option<bool>) -> Vec<&'static str> {
    match is_v6 {
        Some(true) => vec!["ip6tables"],
        Some(false) => vec!["iptables"],
        None if host.has("ip6tables") => vec!["iptables", "ip6tables"],
        None => vec!["iptables"],
    }
}

async fn succeeds(host: &Host, call: Call) -> Result<bool, HostError> {
    Ok(host.run(call.answers(&[1, 2, 3])).await?.is_success())
}

fn conditions(rule: &Rule) -> Result<Vec<String>, HostError> {
    let m = rule.matched()?;
    let mut words = Vec::new();
    let mut tell = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
    if let Some(protocol) = &m.protocol {
        let is_icmp6 = protocol == "icmpv6";
        tell("-p", if is_icmp6 { "ipv6-icmp".to_owned() } else { protocol.clone() });
    }
    if let Some(from) = m.from {
        tell("-s", from.to_string());
    }
    if let Some(to) = m.to {
        tell("-d", to.to_string());
    }
    if let Some(ports) = m.ports {
        tell("--dport", ports.joined(':'));
    }
    if let Some(comment) = &rule.comment {
        words.extend(["-m", "comment", "--comment"].map(str::to_owned));
        words.push(comment.clone());
    }
    let target = match rule.action {
        Action::Allow => "ACCEPT",
        Action::Deny => "DROP",
    };
    words.extend(["-j", target].map(str::to_owned));
    Ok(words)
}

pub(super) async fn standing(host: &Host, rule: &Rule) -> Result<Standing, HostError> {
    rule.refuse(Firewall::Iptables, false, true)?;
    let conditions = conditions(rule)?;
    let ours = CHAINS.iter().find(|(_, _, direction)| *direction == rule.direction);
    let chain = match (&rule.chain, ours) {
        (Some(chain), _) => chain.as_str(),
        (None, Some((_, ours, _))) => ours,
        (None, None) => "INPUT",
    };
    let mut standing = Standing { missing: Vec::new(), extra: Vec::new() };
    for program in programs(host, rule.matched()?.is_v6) {
        let with = |flag: &str| call(program, [flag, chain]).args(conditions.clone());
        if succeeds(host, with("-C")).await? {
            standing.extra.push(with("-D"));
            continue;
        }
        if rule.chain.is_none() {
            standing.missing.extend(own_chain(host, program, rule.direction).await?);
        }
        standing.missing.push(with("-A"));
    }
    Ok(standing)
}

/// What is missing for our chain to be there and to be asked.
async fn own_chain(
    host: &Host,
    program: &str,
    direction: Direction,
) -> Result<Vec<Call>, HostError> {
    let mut calls = Vec::new();
    for (theirs, ours, _) in CHAINS.iter().filter(|(_, _, way)| *way == direction) {
        if !succeeds(host, call(program, ["-n", "-L", *ours])).await? {
            calls.push(call(program, ["-N", *ours]));
        }
        if !succeeds(host, call(program, ["-C", *theirs, "-j", *ours])).await? {
            calls.push(call(program, ["-I", *theirs, "1", "-j", *ours]));
        }
    }
    Ok(calls)
}

pub(super) async fn enable(host: &Host) -> Result<Vec<Call>, HostError> {
    let mut calls = Vec::new();
    for program in programs(host, None) {
        for (_, _, direction) in CHAINS {
            calls.extend(own_chain(host, program, direction).await?);
        }
    }
    Ok(calls)
}

pub(super) async fn disable(host: &Host) -> Result<Vec<Call>, HostError> {
    let mut calls = Vec::new();
    for program in programs(host, None) {
        for (theirs, ours, _) in CHAINS {
            if succeeds(host, call(program, ["-C", theirs, "-j", ours])).await? {
                calls.push(call(program, ["-D", theirs, "-j", ours]));
            }
        }
    }
    Ok(calls)
}

pub(super) async fn flush(host: &Host) -> Result<Vec<Call>, HostError> {
    let mut calls = Vec::new();
    for program in programs(host, None) {
        for (_, ours, _) in CHAINS {
            let listed = host.run(call(program, ["-S", ours]).answers(&[1, 2, 3])).await?;
            if listed.text().lines().any(|line| line.starts_with("-A ")) {
                calls.push(call(program, ["-F", ours]));
            }
        }
    }
    Ok(calls)
}

pub(super) async fn status(host: &Host) -> Result<String, HostError> {
    let is_asked = succeeds(host, call("iptables", ["-C", "INPUT", "-j", "HOSTLER-IN"])).await?;
    let state = if is_asked { "enabled" } else { "disabled" };
    let listed = host.ask(call("iptables", ["-n", "-v", "-L"])).await?;
    Ok(format!("rules of hostler: {state}\n{listed}"))
}

/// Where the distribution's own service loads rules from.
fn saved_at(host: &Host, program: &str) -> Result<PathBuf, HostError> {
    let is_red_hat = host.path("/etc/sysconfig")?.is_dir();
    Ok(PathBuf::from(match (is_red_hat, program) {
        (true, "ip6tables") => "/etc/sysconfig/ip6tables",
        (true, _) => "/etc/sysconfig/iptables",
        (false, "ip6tables") => "/etc/iptables/rules.v6",
        (false, _) => "/etc/iptables/rules.v4",
    }))
}

/// Without what is different each time: comments have the time, and counters move.
fn settled(rules: &str) -> String {
    let lines = rules.lines().filter(|line| !line.starts_with('#'));
    let still = lines.map(|line| match (line.starts_with(':'), line.rsplit_once(" [")) {
        (true, Some((chain, _))) => format!("{chain} [0:0]\n"),
        _ => format!("{line}\n"),
    });
    still.collect()
}

pub(super) async fn save(host: &Host) -> Result<Plan, HostError> {
    let mut plan = Plan::new("rules of iptables last already");
    for program in programs(host, None) {
        let rules = host.ask(Call::new(format!("{program}-save")).privileged()).await?;
        let file = File::with_content(saved_at(host, program)?, settled(&rules).as_str());
        plan = plan.then(file.present(host).await?);
    }
    Ok(plan)
}

pub(super) async fn reload(host: &Host) -> Result<Vec<Call>, HostError> {
    let mut calls = Vec::new();
    for program in programs(host, None) {
        let file = saved_at(host, program)?;
        let at = host.path(&file)?;
        if at.is_file() {
            let rules = crate::files::read(host, &file, crate::files::TEXT_MAX).await?;
            let restore = Call::new(format!("{program}-restore")).privileged();
            calls.push(restore.stdin(rules));
        }
    }
    match calls.is_empty() {
        false => Ok(calls),
        true => Err(HostError::Absent {
            what: "file",
            name: saved_at(host, "iptables")?.display().to_string(),
            next: "save the rules first",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_written_out() {
        let said = |rule: Rule| conditions(&rule).unwrap().join(" ");
        assert_eq!(said(Rule::allow_port(22, None)), "-p tcp --dport 22 -j ACCEPT");
        assert_eq!(said(Rule::deny_from("fd00::/8")), "-s fd00::/8 -j DROP");
        let rule = Rule {
            protocol: Some("udp".into()),
            port_range: Some("10-20".into()),
            to: Some("10.0.0.1".into()),
            comment: Some("a b".into()),
            ..Rule::default()
        };
        let saved = "# now\n*filter\n:INPUT DROP [12:34]\n-A INPUT -m x --y \"[1\" -j A\nCOMMIT\n";
        let still = "*filter\n:INPUT DROP [0:0]\n-A INPUT -m x --y \"[1\" -j A\nCOMMIT\n";
        assert_eq!(settled(saved), still);
        assert_eq!(
            said(rule),
            "-p udp -d 10.0.0.1 --dport 10:20 -m comment --comment a b -j ACCEPT"
        );
    }
}
