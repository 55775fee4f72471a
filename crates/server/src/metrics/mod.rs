//! Metrics in the OpenMetrics text format, on three pages.
//!
//! - `/metrics` is about one server: what it did since it started, and how the installation stands in
//!   numbers. Its labels come from fixed sets, so the number of series does not grow with use.
//! - `/metrics/nodes` and `/metrics/workloads` (`fleet`) have series for every node, and for every service
//!   on every node. All of it is in rows, so every server says the same: one is asked, not all. They are
//!   pages of their own because they grow with the fleet. Nothing names a run or a person.
//!
//! `CATALOGUE` is the list of everything that is measured; what is rendered is checked against it,
//! and the reference page is made from it. Names begin with `hostler_`, units are base units.
//!
//! Counters that somebody else keeps (the store's, the process's) are copied in when a scrape asks;
//! what needs the database comes in as a [`Sample`].

mod catalogue;
mod fleet;
mod latency;
mod lateness;
mod process;
mod stacks;
mod waits;

pub use catalogue::{CATALOGUE, MetricDoc, MetricPage, catalogue, reference_markdown};
pub(crate) use fleet::{nodes, workloads};
pub use latency::WAITING;
pub(crate) use latency::{Answered, Latency};

use crate::history::FigureBook;
use catalogue::*;
use process::Process;
use stacks::Stacks;
use waits::Waits;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use hostler_base::reconcile::{Observer, PassOutcome};
use hostler_control::QueueCounts;
use hostler_model::{
    Code, DeliveryState, Desired, LoginOutcome, NodeBackupState, NodeState, Phase, TaskStateKind,
    Timestamp,
};
use http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};

use lateness::Lateness;

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
struct ReasonLabel {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
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

/// Of what may be unknown, and then is absent.
type NoLabels = [(&'static str, &'static str); 0];

/// Counts requests; cheap to clone.
#[derive(Clone)]
pub struct HttpMetrics {
    requests: Family<RequestLabels, Counter>,
    duration: Family<EndpointLabel, Histogram>,
    refused: Family<CodeLabel, Counter>,
    latency: Arc<Latency>,
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
        self.latency.record(endpoint, status, took);
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
    pub node_backups: Vec<(NodeBackupState, u64)>,
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
    pub locks: hostler_control::LockCounts,
    pub state: hostler_control::StateCounts,
    pub approvals: hostler_control::ApprovalCounts,
    pub schedules: hostler_control::ScheduleCounts,
    pub stacks: hostler_control::StackCounts,
    pub watchers: hostler_control::WatcherCounts,
    /// How tries ended here, how many deliveries are in each state, and how long the oldest waits.
    pub hooks: (hostler_control::HookCounts, (hostler_store::DeliveryCounts, Duration)),
    pub identities: hostler_control::IdentityCounts,
    /// Every configured sink of audit entries, with how many it has not been told of.
    pub audit_sinks: Vec<(String, u64)>,
    /// When the newest whole backup was begun, and whether one is overdue.
    pub backup: (Option<Timestamp>, bool),
    pub egress: hostler_egress::Counts,
    /// Seconds until the authority expires, and nodes that have to renew before another is dropped.
    pub authority: (u64, u64),
    /// When the authority, and this server's certificate, expire.
    pub authority_ends: Option<Timestamp>,
    pub server_ends: Option<Timestamp>,
    pub queue: QueueCounts,
    /// Once the whole chain was followed.
    pub is_audit_chain_ok: Option<bool>,
}

/// All metrics of a server; cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    figures: FigureBook,
    /// When this server's certificate expires, in microseconds; zero before there is one.
    server_ends: AtomicI64,
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
    locks: Family<OutcomeLabel, Counter>,
    lock_holds: Family<StateLabel, Gauge>,
    state: Family<OutcomeLabel, Counter>,
    state_revision: Gauge,
    approvals: Family<OutcomeLabel, Counter>,
    approvals_waiting: Gauge,
    schedules: Gauge,
    schedules_paused: Gauge,
    schedule_fires: Family<OutcomeLabel, Counter>,
    schedule_lateness: Lateness,
    stacks: Stacks,
    watchers: Gauge,
    watchers_enabled: Gauge,
    watcher_news: Family<OutcomeLabel, Counter>,
    watcher_lost: Counter,
    hook_deliveries: Family<OutcomeLabel, Counter>,
    hook_lag: Gauge,
    backup_last: Gauge,
    backup_overdue: Gauge,
    hook_queue: Family<StateLabel, Gauge>,
    identities: Family<OutcomeLabel, Counter>,
    audit_sink_lag: Family<SinkLabel, Gauge>,
    authority_expires: Gauge,
    authority_waiting: Gauge,
    egress: Family<OutcomeLabel, Counter>,
    refused: Family<RefusalLabels, Counter>,
    cert_expiry: Family<KindLabel, Gauge>,
    audit_chain_ok: Family<NoLabels, Gauge>,
    waits: Waits,
    placement_failures: Family<ReasonLabel, Counter>,
    tasks_ended: Family<StateLabel, Counter>,
    nodes: Family<StateLabel, Gauge>,
    node_backups: Family<StateLabel, Gauge>,
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
            latency: Arc::default(),
        };
        for code in Code::ALL {
            http.refused.get_or_create(&CodeLabel { code: code.label() }).inc_by(0);
        }
        let inner = Inner {
            http,
            figures: FigureBook::default(),
            server_ends: AtomicI64::new(0),
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
            locks: add(&mut registry, LOCKS, Family::default()),
            lock_holds: add(&mut registry, LOCK_HOLDS, Family::default()),
            state: add(&mut registry, STATE, Family::default()),
            state_revision: add(&mut registry, STATE_REVISION, Gauge::default()),
            approvals: add(&mut registry, APPROVALS, Family::default()),
            approvals_waiting: add(&mut registry, APPROVALS_WAITING, Gauge::default()),
            schedules: add(&mut registry, SCHEDULES, Gauge::default()),
            schedules_paused: add(&mut registry, SCHEDULES_PAUSED, Gauge::default()),
            schedule_fires: add(&mut registry, SCHEDULE_FIRES, Family::default()),
            schedule_lateness: add(&mut registry, SCHEDULE_LATENESS, Lateness::default()),
            stacks: Stacks::new(&mut registry),
            watchers: add(&mut registry, WATCHERS, Gauge::default()),
            watchers_enabled: add(&mut registry, WATCHERS_ENABLED, Gauge::default()),
            watcher_news: add(&mut registry, WATCHER_NEWS, Family::default()),
            watcher_lost: add(&mut registry, WATCHER_LOST, Counter::default()),
            hook_deliveries: add(&mut registry, HOOK_DELIVERIES, Family::default()),
            hook_lag: add(&mut registry, HOOK_LAG, Gauge::default()),
            backup_last: add(&mut registry, BACKUP_LAST, Gauge::default()),
            backup_overdue: add(&mut registry, BACKUP_OVERDUE, Gauge::default()),
            hook_queue: add(&mut registry, HOOK_QUEUE, Family::default()),
            identities: add(&mut registry, IDENTITY_TOKENS, Family::default()),
            audit_sink_lag: add(&mut registry, AUDIT_SINK_LAG, Family::default()),
            authority_expires: add(&mut registry, AUTHORITY_EXPIRES, Gauge::default()),
            authority_waiting: add(&mut registry, AUTHORITY_WAITING, Gauge::default()),
            egress: add(&mut registry, EGRESS, Family::default()),
            refused: add(&mut registry, CONNECTIONS_REFUSED, Family::default()),
            cert_expiry: add(&mut registry, CERT_EXPIRY, Family::default()),
            audit_chain_ok: add(&mut registry, AUDIT_CHAIN_OK, Family::default()),
            waits: add(&mut registry, QUEUE_WAIT, Waits::default()),
            placement_failures: add(&mut registry, PLACEMENT_FAILURES, Family::default()),
            tasks_ended: add(&mut registry, TASKS_ENDED, Family::default()),
            node_backups: add(&mut registry, NODE_BACKUPS, Family::default()),
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

    pub(crate) fn figures(&self) -> &FigureBook {
        &self.0.figures
    }

    /// This server has a certificate until then.
    pub(crate) fn set_server_ends(&self, time: Timestamp) {
        self.0.server_ends.store(time.micros(), Ordering::Relaxed);
    }

    pub(crate) fn server_ends(&self) -> Option<Timestamp> {
        let micros = self.0.server_ends.load(Ordering::Relaxed);
        (micros != 0).then(|| Timestamp::from_micros(micros))
    }

    pub(crate) fn latency(&self) -> &Latency {
        &self.0.http.latency
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
        let locks = sample.locks;
        for (outcome, count) in [
            ("granted", locks.granted),
            ("released", locks.released),
            ("expired", locks.expired),
            ("forced", locks.forced),
            ("place-lost", locks.waiters_lost),
        ] {
            let label = OutcomeLabel { outcome };
            inner.locks.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        for (state, count) in [("held", locks.held), ("waiting", locks.waiting)] {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            inner.lock_holds.get_or_create(&StateLabel { state }).set(count);
        }
        let state = sample.state;
        for (outcome, count) in [
            ("transaction", state.transactions),
            ("failure", state.failures),
            ("change", state.changes),
            ("batch", state.batches),
            ("read", state.reads),
        ] {
            let label = OutcomeLabel { outcome };
            inner.state.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        inner.state_revision.set(i64::try_from(state.revision).unwrap_or(i64::MAX));
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
        let schedules = &sample.schedules;
        inner.schedules.set(signed(schedules.schedules));
        inner.schedules_paused.set(signed(schedules.paused));
        for (state, count) in &schedules.fires {
            let label = OutcomeLabel { outcome: state.label() };
            inner.schedule_fires.get_or_create(&label).inner().store(*count, Ordering::Relaxed);
        }
        inner.schedule_lateness.set(schedules);
        inner.stacks.set(&sample.stacks);
        let watchers = &sample.watchers;
        inner.watchers.set(signed(watchers.watchers));
        inner.watchers_enabled.set(signed(watchers.enabled));
        for (word, count) in &watchers.news {
            let label = OutcomeLabel { outcome: word.label() };
            inner.watcher_news.get_or_create(&label).inner().store(*count, Ordering::Relaxed);
        }
        inner.watcher_lost.inner().store(watchers.lost, Ordering::Relaxed);
        let (tries, (queue, lag)) = &sample.hooks;
        for (outcome, count) in
            [("done", tries.done), ("failed", tries.failed), ("dead", tries.dead)]
        {
            let label = OutcomeLabel { outcome };
            inner.hook_deliveries.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        for state in DeliveryState::ALL {
            let count = queue.get(state).copied().unwrap_or_default();
            let label = StateLabel { state: state.label() };
            inner.hook_queue.get_or_create(&label).set(signed(count));
        }
        inner.hook_lag.set(signed(lag.as_secs()));
        let (last, is_overdue) = sample.backup;
        inner.backup_last.set(last.map_or(0, |time| time.micros() / 1_000_000));
        inner.backup_overdue.set(i64::from(is_overdue));
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
        self.take_in_work(sample);
        for state in NodeState::ALL {
            let label = StateLabel { state: state.label() };
            inner.nodes.get_or_create(&label).set(count_of(&sample.nodes, *state));
        }
        for state in NodeBackupState::ALL {
            let label = StateLabel { state: state.label() };
            let count = count_of(&sample.node_backups, *state);
            inner.node_backups.get_or_create(&label).set(count);
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

    fn take_in_work(&self, sample: &Sample) {
        let inner = &self.0;
        for (kind, ends) in [("authority", sample.authority_ends), ("server", sample.server_ends)] {
            if let Some(ends) = ends {
                inner.cert_expiry.get_or_create(&KindLabel { kind }).set(ends.micros() / 1_000_000);
            }
        }
        if let Some(is_ok) = sample.is_audit_chain_ok {
            inner.audit_chain_ok.get_or_create(&[]).set(i64::from(is_ok));
        }
        inner.waits.set(&sample.queue);
        for (hindrance, count) in sample.queue.failures() {
            let label = ReasonLabel { reason: hindrance.label() };
            inner.placement_failures.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        for state in TaskStateKind::SETTLED {
            let count = sample.queue.ended.get(state).copied().unwrap_or(0);
            let label = StateLabel { state: state.label() };
            inner.tasks_ended.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
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

fn durations() -> Histogram {
    Histogram::new(exponential_buckets(0.0005, 2.5, 13))
}

fn count_of<S: PartialEq>(counts: &[(S, u64)], state: S) -> i64 {
    signed(counts.iter().filter(|(s, _)| *s == state).map(|(_, n)| n).sum())
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
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
            approvals: hostler_control::ApprovalCounts {
                waiting: 3,
                denied: 2,
                ..Default::default()
            },
            stacks: hostler_control::StackCounts {
                stacks: vec![("create".to_owned(), "failed".to_owned(), 5)],
                passes: 21,
                deeds: 20,
                errors: 2,
                under_way: 3,
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
}
