//! The pages about nodes and workloads. Series come and go with what they are about, so each page is built
//! anew whenever it is asked for.
//!
//! What a node last said of its load is shown while it is online or has just become quiet; of one that is
//! offline only that is shown, when it was last heard of, and until when its certificate lasts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use hostler_control::{FleetNode, FleetServices};
use hostler_model::{
    Desired, ExitReason, Facts, GpuMetrics, Health, Node, NodeMetrics, NodeState, Phase, Timestamp,
};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::catalogue::*;

type Labels = Vec<(&'static str, String)>;
type Gauges = Family<Labels, Gauge<f64, AtomicU64>>;
type Counters = Family<Labels, Counter<u64>>;

/// A page that is being written.
#[derive(Default)]
struct Page {
    gauges: BTreeMap<&'static str, (MetricDoc, Gauges)>,
    counters: BTreeMap<&'static str, (MetricDoc, Counters)>,
}

impl Page {
    fn gauge(&mut self, doc: MetricDoc, labels: Labels, value: f64) {
        let (_, family) = self.gauges.entry(doc.name).or_insert((doc, Gauges::default()));
        family.get_or_create(&labels).set(value);
    }

    fn gauge_if(&mut self, doc: MetricDoc, labels: &Labels, value: Option<f64>) {
        if let Some(value) = value {
            self.gauge(doc, labels.clone(), value);
        }
    }

    fn counter(&mut self, doc: MetricDoc, labels: Labels, value: u64) {
        let (_, family) = self.counters.entry(doc.name).or_insert((doc, Counters::default()));
        family.get_or_create(&labels).inner().store(value, Ordering::Relaxed);
    }

    fn text(self) -> String {
        let mut registry = Registry::default();
        for (doc, family) in self.gauges.into_values() {
            registry.register(doc.name, help(doc), family);
        }
        for (doc, family) in self.counters.into_values() {
            registry.register(registered(doc), help(doc), family);
        }
        let mut text = String::new();
        encode(&mut text, &registry).expect("writing to a string cannot fail");
        text
    }
}

/// `/metrics/nodes`
pub(crate) fn nodes(nodes: &[FleetNode]) -> String {
    let mut page = Page::default();
    for FleetNode { node, certificate_ends } in nodes {
        let of = || vec![("node", node.name.to_string())];
        page.gauge(NODE_UP, of(), flag(node.state == NodeState::Online));
        page.gauge(NODE_SCHEDULABLE, of(), flag(node.is_schedulable()));
        let seen = node.lease.as_ref().map(|lease| seconds(lease.time_seen));
        page.gauge_if(NODE_SEEN, &of(), seen);
        if let Some(ends) = certificate_ends {
            let labels = vec![("kind", "node".to_owned()), ("node", node.name.to_string())];
            page.gauge(NODE_CERT_EXPIRY, labels, seconds(*ends));
        }
        if let Some(facts) = &node.facts {
            machine(&mut page, node, facts);
        }
        let is_heard = matches!(node.state, NodeState::Online | NodeState::Stale);
        let metrics = node.lease.as_ref().and_then(|lease| lease.metrics.as_ref());
        if let Some(metrics) = metrics.filter(|_| is_heard) {
            load(&mut page, node, metrics);
        }
    }
    page.text()
}

fn machine(page: &mut Page, node: &Node, facts: &Facts) {
    let of = || vec![("node", node.name.to_string())];
    page.gauge(NODE_CORES, of(), f64::from(facts.cores.millis()) / 1000.0);
    page.gauge(NODE_MEMORY, of(), number(facts.memory.get()));
    let words = [
        ("node", node.name.to_string()),
        ("version", node.agent_version.clone()),
        ("os", facts.os.clone()),
        ("arch", facts.architecture.clone()),
    ];
    page.gauge(NODE_INFO, words.into(), 1.0);
    for gpu in &facts.gpus {
        page.gauge(GPU_MEMORY, gpu_labels(node, gpu.index), number(gpu.memory.get()));
    }
}

fn load(page: &mut Page, node: &Node, metrics: &NodeMetrics) {
    let of = vec![("node", node.name.to_string())];
    for (doc, value) in [
        (NODE_CPU, metrics.cpu_ratio),
        (NODE_LOAD, metrics.load_1m),
        (NODE_MEMORY_USED, number(metrics.memory_used.get())),
        (NODE_DISK, number(metrics.disk_size.get())),
        (NODE_DISK_USED, number(metrics.disk_used.get())),
        (NODE_UPTIME, number(metrics.uptime_seconds)),
        (NODE_RUNS, f64::from(metrics.runs_active)),
        (AGENT_MEMORY, number(metrics.agent_memory.get())),
    ] {
        page.gauge(doc, of.clone(), value);
    }
    page.gauge_if(NODE_TEMPERATURE, &of, metrics.temperature);
    page.counter(LOG_GAPS, of.clone(), metrics.gap_lines);
    if let Some(writes) = &metrics.writes {
        page.counter(AGENT_WRITTEN, of.clone(), writes.total.get());
        let budget = writes.budget.map(|budget| number(budget.get()).max(1.0));
        page.gauge_if(AGENT_BUDGET, &of, budget.map(|budget| number(writes.today.get()) / budget));
    }
    for gpu in &metrics.gpus {
        let GpuMetrics { index, utilisation, memory_used, temperature, power, errors, .. } = *gpu;
        let labels = gpu_labels(node, index);
        page.gauge_if(GPU_USED, &labels, utilisation);
        page.gauge_if(GPU_TEMPERATURE, &labels, temperature);
        page.gauge_if(GPU_POWER, &labels, power);
        page.gauge(GPU_MEMORY_USED, labels.clone(), number(memory_used.get()));
        page.counter(GPU_ERRORS, labels, errors);
    }
}

fn gpu_labels(node: &Node, index: u32) -> Labels {
    vec![("node", node.name.to_string()), ("gpu", index.to_string())]
}

/// How a workload stands on a node, all its placements there together.
#[derive(Default)]
struct OnNode {
    up: u32,
    is_unhealthy: Option<bool>,
    failures: u32,
    missed: u64,
    restarts: BTreeMap<ExitReason, u64>,
    usage: Option<(f64, u64)>,
}

/// `/metrics/workloads`
pub(crate) fn workloads(fleet: &FleetServices) -> String {
    let mut page = Page::default();
    for service in &fleet.services {
        let of = || {
            vec![
                ("project", service.project.to_string()),
                ("workload", service.workload.to_string()),
            ]
        };
        page.gauge(WORKLOAD_WANTED, of(), flag(service.desired == Desired::Run));
        for (phase, count) in &service.phases {
            let mut labels = of();
            labels.push(("phase", phase.label().to_owned()));
            page.gauge(WORKLOAD_PLACEMENTS, labels, number(*count));
        }
    }
    let mut places: BTreeMap<[&str; 3], OnNode> = BTreeMap::new();
    for placement in &fleet.placements {
        let key = [&placement.project, &placement.workload, &placement.node].map(|n| n.as_str());
        let on = places.entry(key).or_default();
        if let Some((cpu, memory)) = placement.usage {
            let before = on.usage.unwrap_or_default();
            on.usage = Some((before.0 + cpu, before.1 + memory.get()));
        }
        let Some(status) = &placement.status else { continue };
        on.up += u32::from(status.phase == Phase::Running);
        on.failures = on.failures.max(status.failures);
        on.missed += status.missed;
        if let Some(health) = status.health {
            let is_unhealthy = health == Health::Unhealthy;
            on.is_unhealthy = Some(on.is_unhealthy.unwrap_or(false) || is_unhealthy);
        }
        for (reason, count) in &status.restarts {
            *on.restarts.entry(*reason).or_default() += count;
        }
    }
    for (key, on) in places {
        place(&mut page, key, &on);
    }
    page.text()
}

fn place(page: &mut Page, [project, workload, node]: [&str; 3], on: &OnNode) {
    let of: Labels = vec![
        ("project", project.to_owned()),
        ("workload", workload.to_owned()),
        ("node", node.to_owned()),
    ];
    page.gauge(WORKLOAD_UP, of.clone(), f64::from(on.up));
    page.gauge(WORKLOAD_FAILURES, of.clone(), f64::from(on.failures));
    page.gauge_if(WORKLOAD_HEALTHY, &of, on.is_unhealthy.map(|is| flag(!is)));
    page.gauge_if(WORKLOAD_CPU, &of, on.usage.map(|(cpu, _)| cpu));
    page.gauge_if(WORKLOAD_MEMORY, &of, on.usage.map(|(_, memory)| number(memory)));
    page.counter(WORKLOAD_MISSED, of.clone(), on.missed);
    for (reason, count) in &on.restarts {
        let mut labels = of.clone();
        labels.push(("reason", reason.label().to_owned()));
        page.counter(WORKLOAD_RESTARTS, labels, *count);
    }
}

fn flag(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

#[expect(clippy::cast_precision_loss, reason = "samples are floating point numbers")]
fn number(number: u64) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "a time needs no more than 52 bits")]
fn seconds(time: Timestamp) -> f64 {
    time.micros() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use hostler_control::{FleetPlacement, FleetService};
    use hostler_model::{
        Bytes, Cores, Generation, GpuFact, NodeId, NodeLease, PlacementStatus, ServerId,
        WriteMetrics,
    };

    use super::*;

    fn node(name: &str, state: NodeState) -> FleetNode {
        let id = NodeId::from_uuid(uuid::Uuid::from_u128(1));
        let metrics = NodeMetrics {
            cpu_ratio: 0.25,
            temperature: Some(40.5),
            gap_lines: 7,
            writes: Some(WriteMetrics {
                today: Bytes::new(50),
                total: Bytes::new(900),
                budget: Some(Bytes::new(100)),
            }),
            gpus: vec![GpuMetrics {
                index: 3,
                utilisation: Some(0.5),
                temperature: Some(60.0),
                power: Some(200.0),
                ..GpuMetrics::default()
            }],
            ..NodeMetrics::default()
        };
        let node = Node {
            id,
            name: name.parse().unwrap(),
            labels: Default::default(),
            state,
            cordon: None,
            facts: Some(Facts {
                cores: Cores::from_millis(4000),
                gpus: vec![GpuFact { index: 3, ..GpuFact::default() }],
                ..Facts::default()
            }),
            agent_version: "1.2.3".to_owned(),
            generation: Generation::ZERO,
            desired_generation: Generation::ZERO,
            time_created: Timestamp::EPOCH,
            time_modified: Timestamp::EPOCH,
            time_state: Timestamp::EPOCH,
            lease: Some(NodeLease {
                node_id: id,
                server_id: ServerId::from_uuid(uuid::Uuid::from_u128(2)),
                session_epoch: Generation::ZERO,
                applied_generation: Generation::ZERO,
                time_seen: Timestamp::from_micros(5_000_000),
                metrics: Some(metrics),
            }),
        };
        FleetNode { node, certificate_ends: Some(Timestamp::from_micros(9_500_000)) }
    }

    fn services() -> FleetServices {
        let status = |reason| PlacementStatus {
            health: Some(Health::Healthy),
            missed: 1,
            restarts: BTreeMap::from([(reason, 2)]),
            ..PlacementStatus::new(Phase::Running, Generation::FIRST)
        };
        let placement = |status, usage| FleetPlacement {
            project: "lab".parse().unwrap(),
            workload: "web".parse().unwrap(),
            node: "a".parse().unwrap(),
            status: Some(status),
            usage,
        };
        FleetServices {
            services: vec![FleetService {
                project: "lab".parse().unwrap(),
                workload: "web".parse().unwrap(),
                desired: Desired::Run,
                phases: BTreeMap::from([(Phase::Running, 2)]),
            }],
            placements: vec![
                placement(status(ExitReason::OutOfMemory), Some((0.5, Bytes::new(10)))),
                placement(status(ExitReason::OutOfMemory), Some((0.25, Bytes::new(5)))),
            ],
        }
    }

    #[track_caller]
    fn has(text: &str, line: &str) {
        assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
    }

    #[test]
    fn a_node_says_how_it_is_while_it_is_heard_of() {
        let text = nodes(&[node("a", NodeState::Online), node("b", NodeState::Offline)]);
        for line in [
            "hostler_node_up{node=\"a\"} 1.0",
            "hostler_node_up{node=\"b\"} 0.0",
            "hostler_node_cpu_ratio{node=\"a\"} 0.25",
            "hostler_node_cpu_cores{node=\"b\"} 4.0",
            "hostler_node_last_seen_timestamp_seconds{node=\"b\"} 5.0",
            "hostler_cert_expiry_timestamp_seconds{kind=\"node\",node=\"b\"} 9.5",
            "hostler_log_gap_lines_total{node=\"a\"} 7",
            "hostler_agent_disk_written_bytes_total{node=\"a\"} 900",
            "hostler_agent_write_budget_ratio{node=\"a\"} 0.5",
            "hostler_gpu_utilisation_ratio{node=\"a\",gpu=\"3\"} 0.5",
        ] {
            has(&text, line);
        }
        assert!(!text.contains("hostler_node_cpu_ratio{node=\"b\"}"), "{text}");
        assert!(!text.contains("hostler_log_gap_lines_total{node=\"b\"}"), "{text}");
    }

    #[test]
    fn placements_on_one_node_are_one_series() {
        let text = workloads(&services());
        for line in [
            "hostler_workload_wanted{project=\"lab\",workload=\"web\"} 1.0",
            "hostler_workload_placements{project=\"lab\",workload=\"web\",phase=\"running\"} 2.0",
            "hostler_workload_up{project=\"lab\",workload=\"web\",node=\"a\"} 2.0",
            "hostler_workload_memory_bytes{project=\"lab\",workload=\"web\",node=\"a\"} 15.0",
            "hostler_workload_restarts_total{project=\"lab\",workload=\"web\",node=\"a\",reason=\"out-of-memory\"} 4",
        ] {
            has(&text, line);
        }
        assert_eq!(text.matches("hostler_workload_up{").count(), 1);
    }

    #[test]
    fn what_is_shown_is_what_is_documented() {
        let pages = [
            (MetricPage::Nodes, nodes(&[node("a", NodeState::Online)])),
            (MetricPage::Workloads, workloads(&services())),
        ];
        for (page, text) in pages {
            let documented = || CATALOGUE.iter().filter(|doc| doc.page == page);
            assert!(documented().map(|doc| doc.name).is_sorted());
            for doc in documented() {
                let samples = |line: &&str| line.starts_with(&format!("{}{{", doc.name));
                let found = text.lines().find(samples);
                let found = found.unwrap_or_else(|| panic!("{} is not in\n{text}", doc.name));
                for label in doc.labels {
                    assert!(found.contains(&format!("{label}=\"")), "{found} has no {label}");
                }
            }
            let shown = text.lines().filter(|line| line.starts_with("# TYPE ")).count();
            assert_eq!(shown, documented().count(), "{text}");
        }
        let empty = nodes(&[]);
        assert_eq!(empty, "# EOF\n");
    }
}
