//! What is wrong with a control plane: observations in, findings out.
//!
//! Every check says something: that all is well, or what is not, why that matters, how it was seen and what
//! to do next. Limits are constants beside the check that uses them. What could not be observed is no
//! observation, and no finding.

mod database;
mod fleet;
mod record;
#[cfg(test)]
mod tests;
mod work;

use std::time::Duration;

use hostler_model::{Finding, NodeState, Severity, Timestamp};

/// Everything that was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    pub now: Timestamp,
    pub database: Database,
    pub disks: Vec<Disk>,
    pub servers: Vec<Server>,
    pub nodes: Vec<Node>,
    /// Nodes that have not said what they hold since a restore.
    pub nodes_waited_for: u64,
    pub authority_expires: Option<Timestamp>,
    pub reconcilers: Vec<Reconciler>,
    pub operations: Vec<Operation>,
    /// When the execution that has waited longest to be carried on was due.
    pub execution_due: Option<Timestamp>,
    pub queue: Queue,
    pub keys: Keys,
    pub audit: Audit,
    pub backup: Backup,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Database {
    /// `sqlite` or `postgres`.
    pub kind: String,
    pub latency: Duration,
    /// What it takes the time to be; absent where it has no clock of its own.
    pub clock: Option<Timestamp>,
    pub size: u64,
    /// Of the write-ahead log, where that is a file.
    pub log_size: Option<u64>,
    pub schema: u64,
    pub schema_known: u64,
    pub is_read_only: bool,
    /// How far the slowest replica is behind, where that can be known.
    pub replica_lag: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Disk {
    /// What is kept there.
    pub what: String,
    pub path: String,
    pub size: u64,
    pub free: u64,
    pub inodes: u64,
    pub inodes_free: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    pub name: String,
    pub version: String,
    pub time_seen: Timestamp,
    pub is_current: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub name: String,
    pub state: NodeState,
    pub time_seen: Option<Timestamp>,
    /// How far its clock is ahead of ours, in milliseconds; behind when negative.
    pub clock_skew_ms: Option<i64>,
    pub certificate_expires: Option<Timestamp>,
    pub disk_used: Option<f64>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Reconciler {
    pub name: String,
    pub period: Duration,
    pub time_last_started: Option<Timestamp>,
    pub is_running: bool,
    pub consecutive_errors: u64,
    pub panics: u64,
    pub error: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    pub id: String,
    pub kind: String,
    pub time_modified: Timestamp,
    /// Some server carries it on.
    pub has_owner: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    pub waiting: u64,
    /// Since when the first of them could have been placed.
    pub oldest: Option<Timestamp>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Keys {
    /// Master keys that secrets are sealed with and that this server does not have.
    pub lacking: Vec<String>,
    /// Values that are still sealed with a former key.
    pub former: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Audit {
    /// Why the chain does not fit, where it does not.
    pub broken: Option<String>,
    /// Entries after the last anchor, and its time.
    pub unanchored: u64,
    pub time_anchored: Option<Timestamp>,
    /// How often the chain is to be anchored.
    pub anchor_interval: Duration,
    /// Sinks that cannot be told, and why.
    pub sinks: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Backup {
    /// Where the file of the last good one should be and is not, as far as it can be seen.
    pub missing: Option<String>,
    /// A server makes them by itself.
    pub is_scheduled: bool,
    pub is_overdue: bool,
    pub every: Duration,
    pub time_last_good: Option<Timestamp>,
    pub problem: Option<String>,
}

/// Looks at everything, in the order in which things depend on each other.
pub fn examine(seen: &Observations) -> Vec<Finding> {
    let mut findings = Vec::new();
    for check in [
        database::database,
        database::schema,
        database::clock,
        database::disks,
        record::keys,
        fleet::servers,
        work::reconcilers,
        fleet::authority,
        fleet::nodes,
        fleet::node_certificates,
        fleet::node_clocks,
        work::operations,
        work::queue,
        record::audit,
        record::sinks,
        record::backup,
    ] {
        findings.extend(check(seen));
    }
    findings
}

/// Looks at disks alone.
pub fn examine_disks(disks: &[Disk]) -> Vec<Finding> {
    disks.iter().flat_map(database::disk).collect()
}

/// The worst there is.
pub fn worst(findings: &[Finding]) -> Severity {
    findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Ok)
}

fn warn(check: &str, what: impl Into<String>) -> Finding {
    Finding::new(check, Severity::Warning, what)
}

fn critical(check: &str, what: impl Into<String>) -> Finding {
    Finding::new(check, Severity::Critical, what)
}

/// So many and what: `1 node`, `3 nodes`.
fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A time that a person can take in.
fn length(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{}ms", time.as_millis()),
        seconds @ 1..120 => format!("{seconds}s"),
        seconds @ 120..7200 => format!("{}m", seconds / 60),
        seconds @ 7200..172_800 => format!("{}h", seconds / 3600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

/// How far two clocks are apart.
fn apart(a: Timestamp, b: Timestamp) -> Duration {
    a.since(b).max(b.since(a))
}
