use hostler_model::Fix;

use super::*;

const NOW: i64 = 1_790_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros((NOW + seconds) * 1_000_000)
}

fn node(name: &str, state: NodeState) -> Node {
    Node {
        name: name.to_owned(),
        state,
        time_seen: Some(at(-1)),
        clock_skew_ms: Some(20),
        certificate_expires: Some(at(70_000)),
        disk_used: Some(0.4),
    }
}

fn reconciler(name: &str) -> Reconciler {
    Reconciler {
        name: name.to_owned(),
        period: Duration::from_secs(2),
        time_last_started: Some(at(-1)),
        is_running: false,
        consecutive_errors: 0,
        panics: 0,
        error: None,
    }
}

fn disk() -> Disk {
    Disk {
        what: "database".into(),
        path: "/data".into(),
        size: 100 << 30,
        free: 50 << 30,
        inodes: 1000,
        inodes_free: 900,
    }
}

/// Everything is well.
fn well() -> Observations {
    Observations {
        now: at(0),
        database: Database {
            kind: "sqlite".into(),
            latency: Duration::from_millis(2),
            clock: Some(at(0)),
            size: 1 << 20,
            log_size: Some(1 << 20),
            schema: 15,
            schema_known: 15,
            is_read_only: false,
            replica_lag: None,
        },
        disks: vec![disk()],
        servers: vec![Server {
            name: "a".into(),
            version: "0.1.0".into(),
            time_seen: at(-2),
            is_current: true,
        }],
        nodes: vec![node("n1", NodeState::Online)],
        nodes_waited_for: 0,
        authority_expires: Some(at(86_400 * 3000)),
        reconcilers: vec![reconciler("placement")],
        operations: vec![Operation {
            id: "1".into(),
            kind: "node-drain".into(),
            time_modified: at(-10),
            has_owner: true,
        }],
        execution_due: Some(at(1)),
        queue: Queue { waiting: 3, oldest: Some(at(-5)) },
        keys: Keys::default(),
        audit: Audit {
            broken: None,
            unanchored: 10,
            time_anchored: Some(at(-100)),
            anchor_interval: Duration::from_hours(1),
            sinks: Vec::new(),
        },
        backup: Backup {
            missing: None,
            is_scheduled: true,
            is_overdue: false,
            every: Duration::from_hours(24),
            time_last_good: Some(at(-3600)),
            problem: None,
        },
    }
}

#[test]
fn where_all_is_well_every_check_says_so() {
    let findings = examine(&well());
    assert_eq!(worst(&findings), Severity::Ok, "{findings:#?}");
    assert!(findings.len() >= 12, "{}", findings.len());
}

/// One thing is changed at a time; what is found is that, and nothing else.
#[test]
fn each_trouble_is_found_and_explained() {
    use Severity::{Critical, Notice, Warning};
    type Change = fn(&mut Observations);
    let table: &[(&str, Severity, &str, Change)] = &[
        ("database", Warning, "slow", |o| o.database.latency = Duration::from_millis(400)),
        ("database", Critical, "hardly answers", |o| o.database.latency = Duration::from_secs(3)),
        ("database", Critical, "no writes", |o| o.database.is_read_only = true),
        ("database", Warning, "write-ahead log", |o| o.database.log_size = Some(2 << 30)),
        ("database", Warning, "replica", |o| {
            o.database.replica_lag = Some(Duration::from_secs(90));
        }),
        ("schema", Warning, "this server knows 15", |o| o.database.schema = 16),
        ("schema", Critical, "not 15", |o| o.database.schema = 14),
        ("clock", Warning, "5s apart", |o| o.database.clock = Some(at(-5))),
        ("clock", Critical, "60s apart", |o| o.database.clock = Some(at(60))),
        ("disk", Warning, "fills up", |o| o.disks[0].free = 5 << 30),
        ("disk", Critical, "nearly full", |o| o.disks[0].free = 1 << 30),
        ("disk", Critical, "inodes", |o| o.disks[0].inodes_free = 10),
        ("master key", Critical, "lacks", |o| o.keys.lacking = vec!["ab12".into()]),
        ("master key", Notice, "former", |o| o.keys.former = 4),
        ("servers", Warning, "1 server not heard of", |o| {
            o.servers.push(Server {
                time_seen: at(-500),
                is_current: false,
                ..o.servers[0].clone()
            });
        }),
        ("servers", Notice, "different versions", |o| {
            let other =
                Server { version: "0.2.0".into(), is_current: false, ..o.servers[0].clone() };
            o.servers.push(other);
        }),
        ("reconcilers", Critical, "fail", |o| {
            o.reconcilers[0].consecutive_errors = 3;
            o.reconcilers[0].error = Some("no room".into());
        }),
        ("reconcilers", Critical, "stand still", |o| {
            o.reconcilers[0].time_last_started = Some(at(-600));
        }),
        ("reconcilers", Warning, "panicked", |o| o.reconcilers[0].panics = 1),
        ("authority", Warning, "expires in", |o| o.authority_expires = Some(at(86_400 * 10))),
        ("authority", Critical, "has expired", |o| o.authority_expires = Some(at(-1))),
        ("nodes", Notice, "no node", |o| o.nodes.clear()),
        ("nodes", Critical, "none of 1 node", |o| o.nodes[0].state = NodeState::Offline),
        ("nodes", Warning, "1 node away", |o| o.nodes.push(node("n2", NodeState::Stale))),
        ("nodes", Warning, "disk of 1 node", |o| o.nodes[0].disk_used = Some(0.97)),
        ("nodes", Notice, "restored", |o| o.nodes_waited_for = 2),
        ("node certificates", Warning, "certificate", |o| {
            o.nodes[0].certificate_expires = Some(at(600));
        }),
        ("node clocks", Warning, "clock of 1 node", |o| o.nodes[0].clock_skew_ms = Some(-60_000)),
        ("operations", Warning, "without progress", |o| {
            o.operations[0].time_modified = at(-7200);
            o.operations[0].has_owner = false;
        }),
        ("operations", Warning, "execution", |o| o.execution_due = Some(at(-600))),
        ("queue", Warning, "waited for long", |o| o.queue.oldest = Some(at(-3600))),
        ("audit", Critical, "broken", |o| o.audit.broken = Some("entry 7".into())),
        ("audit", Warning, "not been signed", |o| o.audit.time_anchored = Some(at(-9000))),
        ("audit", Warning, "not been signed", |o| {
            o.audit.time_anchored = None;
            o.audit.unanchored = 500;
        }),
        ("audit sinks", Warning, "1 sink", |o| {
            o.audit.sinks = vec![("siem".into(), "away".into())]
        }),
        ("backup", Notice, "no server makes", |o| o.backup.is_scheduled = false),
        ("backup", Warning, "failed", |o| o.backup.problem = Some("disk full".into())),
        ("backup", Critical, "not there any more", |o| {
            o.backup.missing = Some("/mnt/backups/a.backup".into());
        }),
        ("backup", Critical, "overdue", |o| o.backup.is_overdue = true),
    ];
    for (check, severity, words, change) in table {
        let mut seen = well();
        change(&mut seen);
        let findings = examine(&seen);
        let bad: Vec<&Finding> =
            findings.iter().filter(|finding| finding.severity != Severity::Ok).collect();
        assert_eq!(bad.len(), 1, "{check}, {words}: {bad:#?}");
        assert_eq!((bad[0].check.as_str(), bad[0].severity), (*check, *severity), "{words}");
        assert!(bad[0].what.contains(words), "{words}: {}", bad[0].what);
        assert!(!bad[0].why.is_empty() && !bad[0].next.is_empty(), "{words} says what to do");
        assert_eq!(worst(&findings), *severity);
    }
}

#[test]
fn what_cannot_be_known_is_not_found() {
    let mut seen = well();
    seen.database.clock = None;
    seen.authority_expires = None;
    seen.nodes[0].clock_skew_ms = None;
    seen.nodes[0].certificate_expires = None;
    seen.disks.clear();
    assert_eq!(worst(&examine(&seen)), Severity::Ok);
}

#[test]
fn a_queue_without_nodes_is_worse_and_fixes_are_offered() {
    let mut seen = well();
    seen.nodes[0].state = NodeState::Offline;
    seen.queue.oldest = Some(at(-3600));
    let findings = examine(&seen);
    let queue = findings.iter().find(|finding| finding.check == "queue").unwrap();
    assert_eq!(queue.severity, Severity::Critical);
    seen.backup.is_overdue = true;
    seen.audit.time_anchored = Some(at(-9000));
    let fixes: Vec<Fix> = examine(&seen).into_iter().filter_map(|finding| finding.fix).collect();
    assert_eq!(fixes, [Fix::AuditAnchor, Fix::BackupNow]);
}

#[test]
fn a_removed_node_is_nobodys_trouble_and_a_large_disk_needs_no_share() {
    let mut seen = well();
    seen.nodes.push(node("old", NodeState::Removed));
    seen.disks[0] = Disk { size: 10 << 40, free: 100 << 30, ..disk() };
    assert_eq!(worst(&examine(&seen)), Severity::Ok);
}
