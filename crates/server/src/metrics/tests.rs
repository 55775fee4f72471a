use std::time::Duration;

use hostler_base::reconcile::PassOutcome;
use hostler_control::QueueCounts;
use hostler_model::stack::{StackAction, StackStatus};
use hostler_model::{Code, DeliveryState, LoginOutcome, NodeBackupState, NodeState, Timestamp};
use http::{Method, StatusCode};

use super::*;

/// So many that took two seconds each.
fn lengths(count: u64) -> hostler_control::StackLengths {
    let mut buckets = [0; hostler_control::STACK_LENGTH_BOUNDS.len() + 1];
    buckets[3] = count;
    hostler_control::StackLengths { buckets, micros: 2_000_000 * count }
}

fn scraped() -> String {
    let metrics = Metrics::new("1.2.3");
    metrics.http().record("node_list", &Method::GET, StatusCode::OK, Duration::from_millis(3));
    metrics.http().refused(Code::Forbidden);
    metrics.reconciler_observer()("placement", PassOutcome::Error, Duration::from_millis(1));
    metrics.render(&Sample {
        transactions: vec![TransactionSample {
            name: "task_create",
            attempts: 4,
            retries: 1,
            conflicts: 0,
        }],
        nodes: vec![(NodeState::Online, 3)],
        node_backups: vec![(NodeBackupState::Complete, 2)],
        images_tidied: (7, 2),
        logins: vec![(LoginOutcome::Wrong, 4)],
        secrets: hostler_control::SecretCounts {
            read: 5,
            delivered: 6,
            unopened: 1,
            followed: 2,
            lost: 3,
        },
        state: hostler_control::StateCounts {
            transactions: 11,
            changes: 12,
            revision: 13,
            ..Default::default()
        },
        approvals: hostler_control::ApprovalCounts { waiting: 3, denied: 2, ..Default::default() },
        stacks: hostler_control::StackCounts {
            stacks: vec![("create".to_owned(), "failed".to_owned(), 5)],
            passes: 21,
            deeds: 20,
            errors: 2,
            under_way: 3,
            resources: [(("OS::Heat::Value".to_owned(), "failed".to_owned()), 9)].into(),
            drifted: 4,
            oldest: Duration::from_millis(61_900),
            lock_oldest: Duration::from_secs(3601),
            ended: [
                ((StackAction::Update, StackStatus::Complete), lengths(1)),
                ((StackAction::Update, StackStatus::Failed), lengths(3)),
            ]
            .into(),
        },
        watchers: hostler_control::WatcherCounts {
            watchers: 6,
            enabled: 5,
            news: vec![(hostler_model::WatcherWord::Fired, 8)],
            lost: 3,
        },
        schedules: hostler_control::ScheduleCounts {
            schedules: 4,
            paused: 1,
            fires: vec![(hostler_model::schedule::FireState::Done, 7)],
            lateness: vec![5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            lateness_micros: 1_500_000,
        },
        hooks: (
            hostler_control::HookCounts { done: 4, failed: 2, dead: 1 },
            ([(DeliveryState::Dead, 1)].into_iter().collect(), Duration::from_millis(7500)),
        ),
        identities: hostler_control::IdentityCounts { issued: 8, taken: 9, refused: 3 },
        audit_sinks: vec![("siem".to_owned(), 12)],
        backup: (Some(Timestamp::from_micros(1_600_000_000_000_000)), true),
        egress: hostler_egress::Counts { answered: 5, refused: 1, failed: 0 },
        authority_ends: Some(Timestamp::from_micros(1_700_000_000_000_000)),
        queue: QueueCounts {
            waits: [2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            wait_seconds: 20_000.5,
            ..QueueCounts::default()
        },
        is_audit_chain_ok: Some(true),
        ..Sample::default()
    })
}

#[test]
fn what_is_scraped_is_what_is_documented() {
    let text = scraped();
    let scraped: Vec<(String, String)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .map(|rest| {
            let (name, kind) = rest.split_once(' ').unwrap();
            let suffix = match kind {
                "counter" => "_total",
                "info" => "_info",
                _ => "",
            };
            (format!("{name}{suffix}"), kind.to_owned())
        })
        .collect();
    let ours = || CATALOGUE.iter().filter(|metric| metric.page == MetricPage::Server);
    let mut documented: Vec<(String, String)> =
        ours().map(|m| (m.name.to_owned(), m.kind.to_owned())).collect();
    assert!(documented.is_sorted());
    let mut sorted = scraped;
    sorted.sort();
    documented.sort();
    assert_eq!(sorted, documented);
    for metric in ours() {
        for label in metric.labels {
            assert!(text.contains(&format!("{label}=\"")), "{} has no {label}", metric.name);
        }
    }
}

#[test]
fn every_histogram_ends_in_all_that_there_was() {
    let text = scraped();
    let mut ends: std::collections::BTreeMap<String, (String, String)> = Default::default();
    let mut counts: std::collections::BTreeMap<String, String> = Default::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let mut labels: Vec<&str> = labels.trim_end_matches('}').split(',').collect();
        let end = labels.iter().position(|label| label.starts_with("le="));
        let end = end.map(|at| labels.remove(at).trim_start_matches("le=").trim_matches('"'));
        let labels = labels.join(",");
        match (name.strip_suffix("_bucket"), end) {
            (Some(name), Some(end)) => {
                let series = format!("{name}_count{{{labels}}}");
                ends.insert(series, (end.to_owned(), value.to_owned()));
            }
            _ => {
                counts.insert(format!("{name}{{{labels}}}"), value.to_owned());
            }
        }
    }
    let histograms = CATALOGUE.iter().filter(|metric| metric.kind == "histogram");
    for metric in histograms.filter(|metric| metric.page == MetricPage::Server) {
        let name = format!("{}_count", metric.name);
        assert!(ends.keys().any(|series| series.starts_with(&name)), "{name}");
    }
    for (series, (end, value)) in &ends {
        assert_eq!(end, "+Inf", "{series}");
        assert_eq!(counts.get(series), Some(value), "{series}");
    }
}

#[test]
fn values_arrive() {
    let text = scraped();
    for line in [
        "hostler_http_requests_total{endpoint=\"node_list\",method=\"GET\",status=\"2xx\"} 1",
        "hostler_http_refused_total{code=\"forbidden\"} 1",
        "hostler_http_refused_total{code=\"malformed\"} 0",
        "hostler_store_attempts_total{transaction=\"task_create\"} 4",
        "hostler_nodes{state=\"online\"} 3",
        "hostler_node_backups{state=\"complete\"} 2",
        "hostler_node_images_tidied_total{outcome=\"removed\"} 7",
        "hostler_node_images_tidied_total{outcome=\"failed\"} 2",
        "hostler_secrets_total{outcome=\"delivered\"} 6",
        "hostler_state_total{outcome=\"change\"} 12",
        "hostler_state_revision 13",
        "hostler_identity_tokens_total{outcome=\"refused\"} 3",
        "hostler_stacks{action=\"create\",status=\"failed\"} 5",
        "hostler_stacks{action=\"delete\",status=\"in-progress\"} 0",
        "hostler_stack_total{outcome=\"deed\"} 20",
        "hostler_stack_deeds_under_way 3",
        "hostler_stack_resources{type=\"OS::Heat::Value\",status=\"failed\"} 9",
        "hostler_stack_drifted 4",
        "hostler_stack_oldest_seconds 61",
        "hostler_stack_lock_oldest_seconds 3601",
        "hostler_stack_changes_total{action=\"update\",status=\"failed\"} 3",
        "hostler_stack_changes_total{action=\"delete\",status=\"complete\"} 0",
        "hostler_stack_change_duration_seconds_count{action=\"update\"} 4",
        "hostler_stack_change_duration_seconds_sum{action=\"update\"} 8.0",
        "hostler_nodes{state=\"stale\"} 0",
        "hostler_approvals_total{outcome=\"denied\"} 2",
        "hostler_approvals_waiting 3",
        "hostler_hook_deliveries_total{outcome=\"failed\"} 2",
        "hostler_hook_queue{state=\"dead\"} 1",
        "hostler_hook_lag_seconds 7",
        "hostler_backup_last_timestamp_seconds 1600000000",
        "hostler_backup_overdue 1",
        "hostler_logins_total{outcome=\"wrong\"} 4",
        "hostler_logins_total{outcome=\"ok\"} 0",
        "hostler_audit_sink_lag{sink=\"siem\"} 12",
        "hostler_egress_calls_total{outcome=\"refused\"} 1",
        "hostler_reconciler_passes_total{reconciler=\"placement\",outcome=\"error\"} 1",
        "hostler_build_info{version=\"1.2.3\"} 1",
        "hostler_cert_expiry_timestamp_seconds{kind=\"authority\"} 1700000000",
        "hostler_audit_chain_ok 1",
        "hostler_queue_wait_seconds_bucket{le=\"0.05\"} 3",
        "hostler_queue_wait_seconds_bucket{le=\"+Inf\"} 4",
        "hostler_queue_wait_seconds_sum 20000.5",
        "hostler_placement_failures_total{reason=\"gpus\"} 0",
        "hostler_tasks_ended_total{state=\"completed\"} 0",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("hostler_process_resident_memory_bytes 0\n"));
}
