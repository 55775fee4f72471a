//! What a node has, and how much of it is in use.

use std::collections::BTreeMap;

use hostler_api::node::{NodeHeldView, NodeView};
use hostler_model::{Facts, GpuFact, GpuMetrics, Timestamp};
use serde::Serialize;

use super::rows::node_state;
use super::{Cell, Column, Show, column, wide};

/// A node as `node ls --resources` shows it, with what is reserved of it.
#[derive(Clone, Debug, Serialize)]
pub struct NodeResources {
    #[serde(flatten)]
    pub node: NodeView,
    pub held: Option<NodeHeldView>,
}

impl Show for NodeResources {
    const KIND: &'static str = NodeView::KIND;
    const COLUMNS: &'static [Column] = &[
        column("NAME"),
        column("STATE"),
        column("PLACED"),
        column("CORES"),
        column("MEMORY"),
        column("DISK"),
        wide("OWN CPUS"),
        wide("NUMA"),
        column("GPUS"),
    ];
    fn id(&self) -> String {
        self.node.id()
    }
    fn name(&self) -> String {
        Show::name(&self.node)
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        let (facts, held) = (self.node.facts.as_ref(), self.held.as_ref());
        let metrics = self.node.metrics.as_ref();
        let of = |held: Option<String>, all: Option<String>| match (held, all) {
            (Some(held), Some(all)) => Some(format!("{held} of {all}")),
            (_, all) => all,
        };
        let disk = metrics.map(|m| m.disk_size).filter(|size| !size.is_zero());
        vec![
            Cell::new(&self.node.name),
            node_state(&self.node),
            held.map(|held| held.placements).into(),
            of(held.map(|h| h.cores.to_string()), facts.map(|f| f.cores.to_string())).into(),
            of(held.map(|h| h.memory.to_string()), facts.map(|f| f.memory.to_string())).into(),
            of(held.map(|h| h.disk.to_string()), disk.map(|size| size.to_string())).into(),
            held.filter(|h| !h.cpus.is_empty()).map(|h| h.cpus.clone()).into(),
            facts.filter(|f| !f.numa.is_empty()).map(|f| f.numa.len()).into(),
            facts.filter(|f| !f.gpus.is_empty()).map(|f| gpus(f, held)).into(),
        ]
    }
}

/// How many of each model, how much of them is reserved, and how many are out of service.
fn gpus(facts: &Facts, held: Option<&NodeHeldView>) -> String {
    let mut models: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for GpuFact { model, memory, .. } in &facts.gpus {
        *models.entry((model, memory.to_string())).or_default() += 1;
    }
    let words = models.iter().map(|((model, memory), count)| format!("{count} {model} {memory}"));
    let words: Vec<String> = words.collect();
    let shares = held.iter().flat_map(|held| &held.gpus).map(|gpu| gpu.share);
    let given = shares.fold(0.0, |sum, share| sum + share);
    let mut words = vec![format!("{given} of {}", words.join(", "))];
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
