//! Metrics in the Prometheus text format.
//!
//! [`CATALOGUE`] is the list of everything that is measured; what is rendered is checked against it,
//! and the reference page is made from it. Names begin with `hostler_`, units are base units, labels
//! come from fixed sets, so the number of series does not grow with use.
//!
//! Counters that somebody else keeps (the store's, the process's) are copied in when a scrape asks;
//! what needs the database comes in as a [`Sample`].

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hostler_base::reconcile::{Observer, PassOutcome};
use hostler_model::{Code, Desired, LoginOutcome, NodeState, Phase, TaskStateKind};
use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};

/// One metric as documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricDoc {
    /// As scraped, with prefix and suffix.
    pub name: &'static str,
    pub kind: &'static str,
    pub help: &'static str,
    pub labels: &'static [&'static str],
}

macro_rules! catalogue {
    ($($constant:ident = $name:literal $kind:ident [$($label:literal),*] $help:literal;)+) => {
        $(const $constant: MetricDoc = MetricDoc {
            name: $name,
            kind: stringify!($kind),
            help: $help,
            labels: &[$($label),*],
        };)+
        /// Everything that is measured, by name.
        pub const CATALOGUE: &[MetricDoc] = &[$($constant),+];
    };
}

catalogue! {
    APPROVALS = "hostler_approvals_total" counter ["outcome"] "Requests for approvals that were approved, denied, used or expired on this server, and glass that was broken.";
    APPROVALS_WAITING = "hostler_approvals_waiting" gauge [] "Requests for approvals that wait for a decision.";
    AUDIT_SINK_LAG = "hostler_audit_sink_lag" gauge ["sink"] "Audit entries that wait to be delivered to a configured sink.";
    AUTHORITY_EXPIRES = "hostler_authority_expires_seconds" gauge [] "Time until the certificate authority expires.";
    AUTHORITY_WAITING = "hostler_authority_waiting_nodes" gauge [] "Nodes without a certificate of the authority that takes the place of another.";
    BUILD = "hostler_build_info" info ["version"] "The version that is running.";
    CONNECTIONS_REFUSED = "hostler_connections_refused_total" counter ["listener", "reason"] "Connections and peers that this process refused below the API, by why.";
    EGRESS = "hostler_egress_calls_total" counter ["outcome"] "Calls this server made to the outside, by how they ended.";
    EVENTS_HEAD = "hostler_events_head" gauge [] "Sequence number of the newest event.";
    EXECUTIONS = "hostler_executions" gauge ["state"] "Executions of workflows, by state.";
    HTTP_REFUSED = "hostler_http_refused_total" counter ["code"] "Requests that were refused or failed, by the code of the problem.";
    HTTP_DURATION = "hostler_http_request_duration_seconds" histogram ["endpoint"] "Time until a request's answer began.";
    HTTP_REQUESTS = "hostler_http_requests_total" counter ["endpoint", "method", "status"] "Requests, by endpoint and class of status.";
    IDENTITY_TOKENS = "hostler_identity_tokens_total" counter ["outcome"] "Tokens of what runs: given to nodes, taken by the API, or refused by it.";
    LOGINS = "hostler_logins_total" counter ["outcome"] "Passwords and codes that somebody gave, by what came of it.";
    NODE_IMAGES = "hostler_node_images_tidied_total" counter ["outcome"] "Versions of images that agents removed from their nodes by themselves, or could not, as told to this server.";
    NODES = "hostler_nodes" gauge ["state"] "Nodes, by state.";
    PLACEMENTS = "hostler_placements" gauge ["phase"] "Placements of workloads, by how they stand as last heard.";
    PROCESS_CPU = "hostler_process_cpu_seconds_total" counter [] "Processor time this process has used.";
    PROCESS_FILES = "hostler_process_open_files" gauge [] "File descriptors this process holds.";
    PROCESS_MEMORY = "hostler_process_resident_memory_bytes" gauge [] "Memory this process occupies.";
    RECONCILER_DURATION = "hostler_reconciler_duration_seconds" histogram ["reconciler"] "Length of reconciler passes.";
    RECONCILER_PASSES = "hostler_reconciler_passes_total" counter ["reconciler", "outcome"] "Reconciler passes, by how they ended.";
    SECRETS = "hostler_secrets_total" counter ["outcome"] "Values of secrets that were read, given to nodes for a run, could not be opened, were had from a vault (followed), or could not be (lost).";
    SESSIONS = "hostler_sessions" gauge [] "Agents connected to this server.";
    STORE_ATTEMPTS = "hostler_store_attempts_total" counter ["transaction"] "Times a transaction was run.";
    STORE_COMMITS = "hostler_store_commits_total" counter [] "Commits that reached the database.";
    STORE_CONFLICTS = "hostler_store_conflicts_total" counter ["transaction"] "Transactions given up after too many retries.";
    STORE_RETRIES = "hostler_store_retries_total" counter ["transaction"] "Times a transaction was run again after a conflict.";
    TASKS = "hostler_tasks" gauge ["state"] "Tasks, by state.";
    WATCHES = "hostler_watches" gauge [] "Open watch and log streams.";
    WORKLOADS = "hostler_workloads" gauge ["desired"] "Workloads, by what is wanted of them.";
}

/// Everything that is measured, for the reference page.
pub fn catalogue() -> &'static [MetricDoc] {
    CATALOGUE
}

/// `docs/reference/metrics.md`.
pub fn reference_markdown() -> String {
    let mut text = String::from(
        "# Metrics\n\nServed at `/metrics` to callers with the role viewer on the whole installation, and on `metrics_listen` without a credential.\n\n| name | type | labels | meaning |\n|---|---|---|---|\n",
    );
    for metric in CATALOGUE {
        let labels: Vec<String> = metric.labels.iter().map(|l| format!("`{l}`")).collect();
        let (name, kind, help) = (metric.name, metric.kind, metric.help);
        text.push_str(&format!("| `{name}` | {kind} | {} | {help} |\n", labels.join(", ")));
    }
    text
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    endpoint: &'static str,
    method: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CodeLabel {
    code: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndpointLabel {
    endpoint: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReconcilerLabel {
    reconciler: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PassLabels {
    reconciler: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    listener: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SinkLabel {
    sink: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DesiredLabel {
    desired: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PhaseLabel {
    phase: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TransactionLabel {
    transaction: &'static str,
}

/// Counts requests; cheap to clone.
#[derive(Clone)]
pub struct HttpMetrics {
    requests: Family<RequestLabels, Counter>,
    duration: Family<EndpointLabel, Histogram>,
    refused: Family<CodeLabel, Counter>,
}

impl HttpMetrics {
    /// Counts what was answered with a problem.
    pub(crate) fn refused(&self, code: Code) {
        self.refused.get_or_create(&CodeLabel { code: code.label() }).inc();
    }

    pub(crate) fn record(
        &self,
        endpoint: &'static str,
        method: &Method,
        status: StatusCode,
        took: Duration,
    ) {
        let labels =
            RequestLabels { endpoint, method: method_label(method), status: status_class(status) };
        self.requests.get_or_create(&labels).inc();
        self.duration.get_or_create(&EndpointLabel { endpoint }).observe(took.as_secs_f64());
    }
}

fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

fn status_class(status: StatusCode) -> &'static str {
    match status.as_u16() / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

/// What one named transaction has cost so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransactionSample {
    pub name: &'static str,
    pub attempts: u64,
    pub retries: u64,
    pub conflicts: u64,
}

/// What a scrape reads from elsewhere.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    pub transactions: Vec<TransactionSample>,
    pub commits: u64,
    pub nodes: Vec<(NodeState, u64)>,
    pub tasks: Vec<(TaskStateKind, u64)>,
    /// By the label of the state.
    pub executions: Vec<(String, u64)>,
    pub workloads: Vec<(Desired, u64)>,
    pub placements: Vec<(Phase, u64)>,
    pub sessions: u64,
    pub events_head: u64,
    /// Removed from their nodes, and not to be removed.
    pub images_tidied: (u64, u64),
    pub logins: Vec<(LoginOutcome, u64)>,
    pub secrets: hostler_control::SecretCounts,
    pub approvals: hostler_control::ApprovalCounts,
    pub identities: hostler_control::IdentityCounts,
    /// Every configured sink of audit entries, with how many it has not been told of.
    pub audit_sinks: Vec<(String, u64)>,
    pub egress: hostler_egress::Counts,
    /// Seconds until the authority expires, and nodes that have to renew before another is dropped.
    pub authority: (u64, u64),
}

/// All metrics of a server; cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    http: HttpMetrics,
    passes: Family<PassLabels, Counter>,
    pass_duration: Family<ReconcilerLabel, Histogram>,
    attempts: Family<TransactionLabel, Counter>,
    retries: Family<TransactionLabel, Counter>,
    conflicts: Family<TransactionLabel, Counter>,
    commits: Counter,
    node_images: Family<OutcomeLabel, Counter>,
    logins: Family<OutcomeLabel, Counter>,
    secrets: Family<OutcomeLabel, Counter>,
    approvals: Family<OutcomeLabel, Counter>,
    approvals_waiting: Gauge,
    identities: Family<OutcomeLabel, Counter>,
    audit_sink_lag: Family<SinkLabel, Gauge>,
    authority_expires: Gauge,
    authority_waiting: Gauge,
    egress: Family<OutcomeLabel, Counter>,
    refused: Family<RefusalLabels, Counter>,
    nodes: Family<StateLabel, Gauge>,
    tasks: Family<StateLabel, Gauge>,
    executions: Family<StateLabel, Gauge>,
    workloads: Family<DesiredLabel, Gauge>,
    placements: Family<PhaseLabel, Gauge>,
    sessions: Gauge,
    watches: Gauge,
    events_head: Gauge,
    cpu: Counter<f64, AtomicU64>,
    memory: Gauge,
    files: Gauge,
}

impl Metrics {
    pub fn new(version: &str) -> Metrics {
        let mut registry = Registry::default();
        let build = Info::new(vec![("version".to_owned(), version.to_owned())]);
        registry.register(registered(BUILD), help(BUILD), build);
        let http = HttpMetrics {
            requests: add(&mut registry, HTTP_REQUESTS, Family::default()),
            duration: add(
                &mut registry,
                HTTP_DURATION,
                Family::new_with_constructor(durations as fn() -> Histogram),
            ),
            refused: add(&mut registry, HTTP_REFUSED, Family::default()),
        };
        for code in Code::ALL {
            http.refused.get_or_create(&CodeLabel { code: code.label() }).inc_by(0);
        }
        let inner = Inner {
            http,
            passes: add(&mut registry, RECONCILER_PASSES, Family::default()),
            pass_duration: add(
                &mut registry,
                RECONCILER_DURATION,
                Family::new_with_constructor(durations as fn() -> Histogram),
            ),
            attempts: add(&mut registry, STORE_ATTEMPTS, Family::default()),
            retries: add(&mut registry, STORE_RETRIES, Family::default()),
            conflicts: add(&mut registry, STORE_CONFLICTS, Family::default()),
            commits: add(&mut registry, STORE_COMMITS, Counter::default()),
            node_images: add(&mut registry, NODE_IMAGES, Family::default()),
            logins: add(&mut registry, LOGINS, Family::default()),
            secrets: add(&mut registry, SECRETS, Family::default()),
            approvals: add(&mut registry, APPROVALS, Family::default()),
            approvals_waiting: add(&mut registry, APPROVALS_WAITING, Gauge::default()),
            identities: add(&mut registry, IDENTITY_TOKENS, Family::default()),
            audit_sink_lag: add(&mut registry, AUDIT_SINK_LAG, Family::default()),
            authority_expires: add(&mut registry, AUTHORITY_EXPIRES, Gauge::default()),
            authority_waiting: add(&mut registry, AUTHORITY_WAITING, Gauge::default()),
            egress: add(&mut registry, EGRESS, Family::default()),
            refused: add(&mut registry, CONNECTIONS_REFUSED, Family::default()),
            nodes: add(&mut registry, NODES, Family::default()),
            tasks: add(&mut registry, TASKS, Family::default()),
            executions: add(&mut registry, EXECUTIONS, Family::default()),
            workloads: add(&mut registry, WORKLOADS, Family::default()),
            placements: add(&mut registry, PLACEMENTS, Family::default()),
            sessions: add(&mut registry, SESSIONS, Gauge::default()),
            watches: add(&mut registry, WATCHES, Gauge::default()),
            events_head: add(&mut registry, EVENTS_HEAD, Gauge::default()),
            cpu: add(&mut registry, PROCESS_CPU, Counter::default()),
            memory: add(&mut registry, PROCESS_MEMORY, Gauge::default()),
            files: add(&mut registry, PROCESS_FILES, Gauge::default()),
            registry,
        };
        Metrics(Arc::new(inner))
    }

    pub fn http(&self) -> HttpMetrics {
        self.0.http.clone()
    }

    /// For the reconciler driver.
    pub fn reconciler_observer(&self) -> Observer {
        let inner = self.0.clone();
        Arc::new(move |reconciler, outcome, took| {
            let outcome = match outcome {
                PassOutcome::Ok => "ok",
                PassOutcome::Error => "error",
                PassOutcome::Panic => "panic",
            };
            inner.passes.get_or_create(&PassLabels { reconciler, outcome }).inc();
            inner
                .pass_duration
                .get_or_create(&ReconcilerLabel { reconciler })
                .observe(took.as_secs_f64());
        })
    }

    /// Counts a stream for as long as the result lives.
    pub(crate) fn watch_opened(&self) -> OpenWatch {
        self.0.watches.inc();
        OpenWatch(self.0.watches.clone())
    }

    /// The text of a scrape.
    pub fn render(&self, sample: &Sample) -> String {
        self.take_in(sample);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.0.registry)
            .expect("writing to a string cannot fail");
        text
    }

    fn take_in(&self, sample: &Sample) {
        let inner = &self.0;
        for tx in &sample.transactions {
            let label = TransactionLabel { transaction: tx.name };
            for (family, value) in [
                (&inner.attempts, tx.attempts),
                (&inner.retries, tx.retries),
                (&inner.conflicts, tx.conflicts),
            ] {
                family.get_or_create(&label).inner().store(value, Ordering::Relaxed);
            }
        }
        inner.commits.inner().store(sample.commits, Ordering::Relaxed);
        let (removed, failed) = sample.images_tidied;
        for (outcome, count) in [("removed", removed), ("failed", failed)] {
            let label = OutcomeLabel { outcome };
            inner.node_images.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        for outcome in LoginOutcome::ALL {
            let known = sample.logins.iter().find(|(of, _)| of == outcome);
            let label = OutcomeLabel { outcome: outcome.label() };
            let count = known.map_or(0, |(_, count)| *count);
            inner.logins.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        let secrets = sample.secrets;
        for (outcome, count) in [
            ("read", secrets.read),
            ("delivered", secrets.delivered),
            ("unopened", secrets.unopened),
            ("followed", secrets.followed),
            ("lost", secrets.lost),
        ] {
            let label = OutcomeLabel { outcome };
            inner.secrets.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        let approvals = sample.approvals;
        for (outcome, count) in [
            ("approved", approvals.approved),
            ("denied", approvals.denied),
            ("expired", approvals.expired),
            ("used", approvals.used),
            ("break-glass", approvals.broken),
        ] {
            let label = OutcomeLabel { outcome };
            inner.approvals.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        inner.approvals_waiting.set(i64::try_from(approvals.waiting).unwrap_or(i64::MAX));
        let hostler_control::IdentityCounts { issued, taken, refused } = sample.identities;
        for (outcome, count) in [("issued", issued), ("taken", taken), ("refused", refused)] {
            let label = OutcomeLabel { outcome };
            inner.identities.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        for (sink, lag) in &sample.audit_sinks {
            let label = SinkLabel { sink: sink.clone() };
            inner.audit_sink_lag.get_or_create(&label).set(signed(*lag));
        }
        let (expires, waiting) = sample.authority;
        inner.authority_expires.set(signed(expires));
        inner.authority_waiting.set(signed(waiting));
        let hostler_egress::Counts { answered, refused, failed } = sample.egress;
        for (outcome, count) in [("answered", answered), ("refused", refused), ("failed", failed)] {
            let label = OutcomeLabel { outcome };
            inner.egress.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        for (listener, reason, count) in crate::refusals::counts() {
            let label = RefusalLabels { listener: listener.label(), reason: reason.label() };
            inner.refused.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        for state in NodeState::ALL {
            let label = StateLabel { state: state.label() };
            inner.nodes.get_or_create(&label).set(count_of(&sample.nodes, *state));
        }
        for state in TaskStateKind::ALL {
            let label = StateLabel { state: state.label() };
            inner.tasks.get_or_create(&label).set(count_of(&sample.tasks, *state));
        }
        for state in ["beginning", "running", "finishing", "ended"] {
            let known = sample.executions.iter().find(|(label, _)| label == state);
            let count = known.map_or(0, |(_, count)| i64::try_from(*count).unwrap_or(i64::MAX));
            inner.executions.get_or_create(&StateLabel { state }).set(count);
        }
        for desired in Desired::ALL {
            let label = DesiredLabel { desired: desired.label() };
            inner.workloads.get_or_create(&label).set(count_of(&sample.workloads, *desired));
        }
        for phase in Phase::ALL {
            let label = PhaseLabel { phase: phase.label() };
            inner.placements.get_or_create(&label).set(count_of(&sample.placements, *phase));
        }
        inner.sessions.set(signed(sample.sessions));
        inner.events_head.set(signed(sample.events_head));
        let process = Process::read();
        inner.cpu.inner().store(process.cpu_seconds.to_bits(), Ordering::Relaxed);
        inner.memory.set(signed(process.memory));
        inner.files.set(signed(process.files));
    }
}

/// An open stream, counted.
pub(crate) struct OpenWatch(Gauge);

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn add<M: Metric + Clone>(registry: &mut Registry, doc: MetricDoc, metric: M) -> M {
    registry.register(registered(doc), help(doc), metric.clone());
    metric
}

/// The encoder adds the suffix that belongs to the type.
fn registered(doc: MetricDoc) -> &'static str {
    doc.name.trim_end_matches("_total").trim_end_matches("_info")
}

/// The encoder ends every help text with a full stop of its own.
fn help(doc: MetricDoc) -> &'static str {
    doc.help.trim_end_matches('.')
}

fn durations() -> Histogram {
    Histogram::new(exponential_buckets(0.0005, 2.5, 13))
}

fn count_of<S: PartialEq>(counts: &[(S, u64)], state: S) -> i64 {
    signed(counts.iter().filter(|(s, _)| *s == state).map(|(_, n)| n).sum())
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[derive(Default)]
struct Process {
    cpu_seconds: f64,
    memory: u64,
    files: u64,
}

impl Process {
    /// Zero for what the system does not tell.
    fn read() -> Process {
        let memory = std::fs::read_to_string("/proc/self/statm")
            .ok()
            .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok())
            .map_or(0, |pages| pages * rustix::param::page_size() as u64);
        let ticks = std::fs::read_to_string("/proc/self/stat").ok().and_then(|text| {
            let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
            let user: u64 = fields.next()?.parse().ok()?;
            let system: u64 = fields.next()?.parse().ok()?;
            Some(user + system)
        });
        #[expect(clippy::cast_precision_loss, reason = "seconds of processor time fit a float")]
        let cpu_seconds =
            ticks.unwrap_or(0) as f64 / rustix::param::clock_ticks_per_second() as f64;
        let files = std::fs::read_dir("/proc/self/fd").map_or(0, |dir| dir.count() as u64);
        Process { cpu_seconds, memory, files }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            images_tidied: (7, 2),
            logins: vec![(LoginOutcome::Wrong, 4)],
            secrets: hostler_control::SecretCounts {
                read: 5,
                delivered: 6,
                unopened: 1,
                followed: 2,
                lost: 3,
            },
            approvals: hostler_control::ApprovalCounts {
                waiting: 3,
                denied: 2,
                ..Default::default()
            },
            identities: hostler_control::IdentityCounts { issued: 8, taken: 9, refused: 3 },
            audit_sinks: vec![("siem".to_owned(), 12)],
            egress: hostler_egress::Counts { answered: 5, refused: 1, failed: 0 },
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
        let mut documented: Vec<(String, String)> =
            CATALOGUE.iter().map(|m| (m.name.to_owned(), m.kind.to_owned())).collect();
        assert!(documented.is_sorted());
        let mut sorted = scraped;
        sorted.sort();
        documented.sort();
        assert_eq!(sorted, documented);
        for metric in CATALOGUE {
            for label in metric.labels {
                assert!(text.contains(&format!("{label}=\"")), "{} has no {label}", metric.name);
            }
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
            "hostler_node_images_tidied_total{outcome=\"removed\"} 7",
            "hostler_node_images_tidied_total{outcome=\"failed\"} 2",
            "hostler_secrets_total{outcome=\"delivered\"} 6",
            "hostler_identity_tokens_total{outcome=\"refused\"} 3",
            "hostler_nodes{state=\"stale\"} 0",
            "hostler_approvals_total{outcome=\"denied\"} 2",
            "hostler_approvals_waiting 3",
            "hostler_logins_total{outcome=\"wrong\"} 4",
            "hostler_logins_total{outcome=\"ok\"} 0",
            "hostler_audit_sink_lag{sink=\"siem\"} 12",
            "hostler_egress_calls_total{outcome=\"refused\"} 1",
            "hostler_reconciler_passes_total{reconciler=\"placement\",outcome=\"error\"} 1",
            "hostler_build_info{version=\"1.2.3\"} 1",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("hostler_process_resident_memory_bytes 0\n"));
    }
}
