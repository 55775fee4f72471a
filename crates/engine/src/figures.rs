//! What a fleet has and uses, added up.

use std::collections::BTreeMap;

use hostler_model::{Node, NodeState};

/// The sums over nodes that are online; how many nodes there are is of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetSums {
    pub nodes: BTreeMap<NodeState, u64>,
    /// Cores.
    pub cpu_used: f64,
    pub cpu_total: f64,
    /// Bytes.
    pub memory_used: f64,
    pub memory_total: f64,
    /// GPUs: how many of them are busy, and are there.
    pub gpu_used: f64,
    pub gpu_total: f64,
}

impl FleetSums {
    /// What a node that is not online last said counts for nothing.
    #[expect(clippy::cast_precision_loss, reason = "sums for people need no more than 52 bits")]
    pub fn of(nodes: &[Node]) -> FleetSums {
        let mut sums = FleetSums::default();
        for node in nodes {
            *sums.nodes.entry(node.state).or_default() += 1;
            let Some(facts) = node.facts.as_ref().filter(|_| node.state == NodeState::Online)
            else {
                continue;
            };
            let cores = f64::from(facts.cores.millis()) / 1000.0;
            sums.cpu_total += cores;
            sums.memory_total += facts.memory.get() as f64;
            sums.gpu_total += facts.gpus.len() as f64;
            let Some(metrics) = node.lease.as_ref().and_then(|lease| lease.metrics.as_ref()) else {
                continue;
            };
            sums.cpu_used += metrics.cpu_ratio.clamp(0.0, 1.0) * cores;
            sums.memory_used += metrics.memory_used.get() as f64;
            let busy = metrics.gpus.iter().filter_map(|gpu| gpu.utilisation);
            sums.gpu_used += busy.map(|ratio| ratio.clamp(0.0, 1.0)).sum::<f64>();
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{
        Bytes, Cores, Facts, Generation, GpuFact, GpuMetrics, Labels, NodeId, NodeLease,
        NodeMetrics, ServerId, Timestamp,
    };

    fn node(state: NodeState, metrics: Option<NodeMetrics>) -> Node {
        let id = NodeId::from_uuid(uuid::Uuid::from_u128(1));
        Node {
            id,
            name: "n".parse().unwrap(),
            labels: Labels::default(),
            state,
            cordon: None,
            facts: Some(Facts {
                cores: Cores::from_millis(4000),
                memory: Bytes::new(1000),
                gpus: vec![GpuFact::default(), GpuFact::default()],
                ..Facts::default()
            }),
            agent_version: String::new(),
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
                time_seen: Timestamp::EPOCH,
                metrics,
            }),
        }
    }

    #[test]
    fn only_what_is_there_counts() {
        let metrics = NodeMetrics {
            cpu_ratio: 0.25,
            memory_used: Bytes::new(300),
            gpus: vec![
                GpuMetrics { utilisation: Some(0.5), ..GpuMetrics::default() },
                GpuMetrics { utilisation: None, ..GpuMetrics::default() },
            ],
            ..NodeMetrics::default()
        };
        let sums = FleetSums::of(&[
            node(NodeState::Online, Some(metrics.clone())),
            node(NodeState::Online, None),
            node(NodeState::Offline, Some(metrics)),
        ]);
        assert_eq!(
            sums,
            FleetSums {
                nodes: BTreeMap::from([(NodeState::Online, 2), (NodeState::Offline, 1)]),
                cpu_used: 1.0,
                cpu_total: 8.0,
                memory_used: 300.0,
                memory_total: 2000.0,
                gpu_used: 0.5,
                gpu_total: 4.0,
            }
        );
    }
}
