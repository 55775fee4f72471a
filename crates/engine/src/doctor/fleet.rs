//! Servers, nodes, and what they prove themselves with.

use std::time::Duration;

use hostler_model::{Finding, NodeState, Severity};

use super::{Node, Observations, count, critical, length, warn};

const SERVER_QUIET: Duration = Duration::from_secs(60);
const AUTHORITY_SOON: Duration = Duration::from_hours(60 * 24);
/// Agents renew at two thirds of a day; one that has this little left could not.
const CERTIFICATE_SOON: Duration = Duration::from_hours(4);
const NODE_SKEW_MS: u64 = 5_000;
const NODE_DISK_FULL: f64 = 0.95;

pub(super) fn servers(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "servers";
    let mut found = Vec::new();
    let quiet: Vec<String> = seen
        .servers
        .iter()
        .filter(|server| !server.is_current && seen.now.since(server.time_seen) >= SERVER_QUIET)
        .map(|server| format!("{}: {} ago", server.name, length(seen.now.since(server.time_seen))))
        .collect();
    if !quiet.is_empty() {
        found.push(
            warn(CHECK, format!("{} not heard of", count(quiet.len(), "server")))
                .why("what it carried on is taken over by others; agents go elsewhere")
                .evidence(quiet)
                .next("start it again, or leave it: it is forgotten after a while"),
        );
    }
    let mut versions: Vec<&str> = seen.servers.iter().map(|s| s.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    if versions.len() > 1 {
        let versions = versions.into_iter().map(str::to_owned);
        found.push(
            Finding::new(CHECK, Severity::Notice, "servers of different versions run together")
                .why("that is meant to last as long as an upgrade does")
                .evidence(versions)
                .next("finish the upgrade: docs/running/upgrade.md"),
        );
    }
    if found.is_empty() {
        found.push(Finding::ok(CHECK, count(seen.servers.len(), "server")));
    }
    found
}

pub(super) fn authority(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "authority";
    let Some(expires) = seen.authority_expires else { return Vec::new() };
    let left = expires.since(seen.now);
    vec![match left {
        _ if expires <= seen.now => critical(CHECK, "the certificate authority has expired")
            .why("no server and no node is trusted any more")
            .evidence([format!("on {expires}")])
            .next("hostler ca rotate"),
        left if left < AUTHORITY_SOON => {
            warn(CHECK, format!("the certificate authority expires in {}", length(left)))
                .why("then no server and no node is trusted any more")
                .evidence([format!("on {expires}")])
                .next("hostler ca rotate")
        }
        _ => Finding::ok(CHECK, format!("valid for {}", length(left))),
    }]
}

pub(super) fn nodes(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "nodes";
    let present: Vec<&Node> =
        seen.nodes.iter().filter(|node| node.state != NodeState::Removed).collect();
    let mut found = Vec::new();
    if present.is_empty() {
        return vec![
            Finding::new(CHECK, Severity::Notice, "there is no node")
                .why("nothing can run")
                .next("hostler node token create"),
        ];
    }
    let online = present.iter().filter(|node| node.state == NodeState::Online).count();
    let away: Vec<String> = present
        .iter()
        .filter(|node| matches!(node.state, NodeState::Stale | NodeState::Offline))
        .map(|node| match node.time_seen {
            Some(time) => format!("{}: heard of {} ago", node.name, length(seen.now.since(time))),
            None => format!("{}: never heard of", node.name),
        })
        .collect();
    if online == 0 {
        found.push(
            critical(CHECK, format!("none of {} is online", count(present.len(), "node")))
                .why("nothing new can run; what runs goes on")
                .evidence(away)
                .next("on a node: systemctl status hostler-agent, and hostler agent status"),
        );
    } else if !away.is_empty() {
        found.push(
            warn(CHECK, format!("{} away", count(away.len(), "node")))
                .why("what runs there goes on, and cannot be changed or watched")
                .evidence(away)
                .next("on the node: systemctl status hostler-agent, and hostler agent status"),
        );
    }
    let full: Vec<String> = present
        .iter()
        .filter_map(|node| Some((node, node.disk_used.filter(|used| *used >= NODE_DISK_FULL)?)))
        .map(|(node, used)| format!("{}: {:.0} % used", node.name, used * 100.0))
        .collect();
    if !full.is_empty() {
        found.push(
            warn(CHECK, format!("the disk of {} is nearly full", count(full.len(), "node")))
                .why("an agent that cannot write its ledger starts nothing")
                .evidence(full)
                .next("hostler node show NODE"),
        );
    }
    if seen.nodes_waited_for > 0 {
        let waited = usize::try_from(seen.nodes_waited_for).unwrap_or(usize::MAX);
        found.push(
            Finding::new(
                CHECK,
                Severity::Notice,
                format!("{} not back since the database was restored", count(waited, "node")),
            )
            .why("they are told nothing before they have said what they hold")
            .next("hostler node ls"),
        );
    }
    if found.is_empty() {
        found.push(Finding::ok(CHECK, format!("{online} of {} online", present.len())));
    }
    found
}

pub(super) fn node_certificates(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "node certificates";
    let ending: Vec<String> = seen
        .nodes
        .iter()
        .filter(|node| node.state == NodeState::Online)
        .filter_map(|node| Some((node, node.certificate_expires?)))
        .filter(|(_, expires)| expires.since(seen.now) < CERTIFICATE_SOON)
        .map(|(node, expires)| format!("{}: {expires}", node.name))
        .collect();
    if ending.is_empty() {
        return Vec::new();
    }
    vec![
        warn(CHECK, format!("{} about to lose their certificate", count(ending.len(), "node")))
            .why("agents renew theirs by themselves long before; these could not")
            .evidence(ending)
            .next(
                "look at the agent's log; a node whose certificate ended joins again with a token",
            ),
    ]
}

pub(super) fn node_clocks(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "node clocks";
    let told: Vec<(&Node, i64)> =
        seen.nodes.iter().filter_map(|node| Some((node, node.clock_skew_ms?))).collect();
    let wrong: Vec<String> = told
        .iter()
        .filter(|(_, skew)| skew.unsigned_abs() >= NODE_SKEW_MS)
        .map(|(node, skew)| {
            let by = length(Duration::from_millis(skew.unsigned_abs()));
            let side = if *skew > 0 { "ahead" } else { "behind" };
            format!("{}: {by} {side}", node.name)
        })
        .collect();
    match (wrong.is_empty(), told.is_empty()) {
        (_, true) => Vec::new(),
        (true, false) => vec![Finding::ok(CHECK, "as the server's")],
        (false, false) => vec![
            warn(CHECK, format!("the clock of {} is wrong", count(wrong.len(), "node")))
                .why("schedules fire at the wrong time there, and certificates seem to be of another day")
                .evidence(wrong)
                .next("set it by NTP: timedatectl set-ntp true"),
        ],
    }
}
