//! What a node has, and how much of it is in use.

use std::collections::BTreeMap;

use hostler_api::node::NodeView;
use hostler_model::{Facts, GpuFact, GpuMetrics, NodeMetrics, Timestamp};
use serde::Serialize;

use super::rows::node_state;
use super::{Cell, Column, Show, column, wide};

/// A node as `node ls --resources` shows it; documents are those of the node itself.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct NodeResources(pub NodeView);

impl Show for NodeResources {
    const KIND: &'static str = NodeView::KIND;
    const COLUMNS: &'static [Column] = &[
        column("NAME"),
        column("STATE"),
        column("RUNS"),
        column("CORES"),
        column("MEMORY"),
        column("DISK"),
        wide("NUMA"),
        column("GPUS"),
    ];
    fn id(&self) -> String {
        self.0.id()
    }
    fn name(&self) -> String {
        Show::name(&self.0)
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        let (facts, metrics) = (self.0.facts.as_ref(), self.0.metrics.as_ref());
        let of = |used: Option<String>, all: Option<String>| match (used, all) {
            (Some(used), Some(all)) => Some(format!("{used} of {all}")),
            (_, all) => all,
        };
        let busy = facts.zip(metrics).map(|(facts, metrics)| {
            format!("{:.1}", metrics.cpu_ratio * f64::from(facts.cores.millis()) / 1000.0)
        });
        let memory = metrics.map(|m| m.memory_used.to_string());
        let disk = metrics.filter(|m| !m.disk_size.is_zero());
        vec![
            Cell::new(&self.0.name),
            node_state(&self.0),
            metrics.map(|m| m.runs_active).into(),
            of(busy, facts.map(|f| f.cores.to_string())).into(),
            of(memory, facts.map(|f| f.memory.to_string())).into(),
            disk.map(|m| format!("{} of {}", m.disk_used, m.disk_size)).into(),
            facts.filter(|f| !f.numa.is_empty()).map(|f| f.numa.len()).into(),
            facts.filter(|f| !f.gpus.is_empty()).map(|f| gpus(f, metrics)).into(),
        ]
    }
}

/// How many of each model, how busy they are, and how many are out of service.
fn gpus(facts: &Facts, metrics: Option<&NodeMetrics>) -> String {
    let mut models: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for GpuFact { model, memory, .. } in &facts.gpus {
        *models.entry((model, memory.to_string())).or_default() += 1;
    }
    let mut words: Vec<String> =
        models.iter().map(|((model, memory), count)| format!("{count} {model} {memory}")).collect();
    let busy: Vec<f64> =
        metrics.iter().flat_map(|m| &m.gpus).filter_map(|gpu| gpu.utilisation).collect();
    if !busy.is_empty() {
        words.push(format!("{:.1} busy", busy.iter().sum::<f64>()));
    }
    let broken = facts.gpus.iter().filter(|gpu| gpu.trouble.is_some()).count();
    if broken > 0 {
        words.push(format!("{broken} out of service"));
    }
    words.join(", ")
}

/// What one GPU is and does, in words.
pub fn gpu(fact: &GpuFact, metrics: Option<&GpuMetrics>) -> String {
    let used = metrics.map(|m| format!("{} of {} used", m.memory_used, fact.memory));
    let busy =
        metrics.and_then(|m| m.utilisation).map(|ratio| format!("{:.0}% busy", ratio * 100.0));
    let degrees = metrics.and_then(|m| m.temperature).map(|degrees| format!("{degrees:.0} °C"));
    let watts = metrics.and_then(|m| m.power).map(|watts| format!("{watts:.0} W"));
    let numa = fact.numa.map(|numa| format!("NUMA node {numa}"));
    let memory = used.unwrap_or_else(|| fact.memory.to_string());
    let trouble = fact.trouble.as_ref().map(|trouble| format!("out of service: {trouble}"));
    let words = [Some(fact.model.clone()), Some(memory), busy, degrees, watts, numa, trouble];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
