//! What is known of every node and every service: for those who measure. All of it is in rows, so every
//! server says the same; nothing here names a run or a person.

use std::collections::BTreeMap;
use std::time::Duration;

use hostler_engine::figures::FleetSums;
use hostler_model::{
    Bytes, Desired, Error, Name, Node, NodeId, Phase, PlacementStatus, TaskStateKind, Timestamp,
    WorkloadId,
};

use crate::{Control, QueueCounts};

/// What was told longer ago is not how things stand.
const USAGE_KEEP: Duration = Duration::from_secs(180);

/// A node, and when it can prove no longer that it is one.
#[derive(Clone, Debug)]
pub struct FleetNode {
    pub node: Node,
    pub certificate_ends: Option<Timestamp>,
}

/// A service on one node.
#[derive(Clone, Debug)]
pub struct FleetPlacement {
    pub project: Name,
    pub workload: Name,
    pub node: Name,
    /// Absent before its agent has said anything.
    pub status: Option<PlacementStatus>,
    /// Cores and memory, as last told.
    pub usage: Option<(f64, Bytes)>,
}

/// A service, wherever it is.
#[derive(Clone, Debug)]
pub struct FleetService {
    pub project: Name,
    pub workload: Name,
    pub desired: Desired,
    /// Placements in each phase.
    pub phases: BTreeMap<Phase, u64>,
}

/// All services, and all their placements.
#[derive(Clone, Debug, Default)]
pub struct FleetServices {
    pub services: Vec<FleetService>,
    pub placements: Vec<FleetPlacement>,
}

/// What the installation is like at a moment, for its history.
#[derive(Clone, Debug)]
pub struct FleetStanding {
    pub fleet: FleetSums,
    pub tasks: Vec<(TaskStateKind, u64)>,
    /// Tasks that ended since the time that was asked about.
    pub ended: u64,
    pub queue: QueueCounts,
    /// The longest wait for a node since this was last asked, in seconds.
    pub wait_most: f64,
}

impl Control {
    pub async fn fleet_nodes(&self) -> Result<Vec<FleetNode>, Error> {
        let mut read = self.store.read().await?;
        let ends = read.node_certificate_ends().await?;
        let nodes = read.node_list_all_present().await?.into_iter();
        let known =
            nodes.map(|node| FleetNode { certificate_ends: ends.get(&node.id).copied(), node });
        Ok(known.collect())
    }

    pub async fn fleet_services(&self) -> Result<FleetServices, Error> {
        let mut read = self.store.read().await?;
        let nodes = read.node_list_all_present().await?.into_iter();
        let nodes: BTreeMap<NodeId, Name> = nodes.map(|node| (node.id, node.name)).collect();
        let told = read.node_usage_since(self.now().minus(USAGE_KEEP)).await?;
        let mut services: BTreeMap<WorkloadId, FleetService> = BTreeMap::new();
        for known in read.service_names_all().await? {
            let service = FleetService {
                project: known.project_name,
                workload: known.name,
                desired: known.desired,
                phases: BTreeMap::new(),
            };
            services.insert(known.id, service);
        }
        let mut placements = Vec::new();
        for placement in read.service_placements_all().await? {
            let Some(service) = services.get_mut(&placement.workload_id) else { continue };
            let Some(node) = nodes.get(&placement.node_id) else { continue };
            if let Some(status) = &placement.status {
                *service.phases.entry(status.phase).or_default() += 1;
            }
            let mut told = told.get(&placement.node_id).into_iter().flatten();
            let usage = told.rfind(|usage| usage.placement == placement.id);
            placements.push(FleetPlacement {
                project: service.project.clone(),
                workload: service.workload.clone(),
                node: node.clone(),
                status: placement.status,
                usage: usage.map(|usage| (usage.cpu, usage.memory)),
            });
        }
        Ok(FleetServices { services: services.into_values().collect(), placements })
    }

    /// How long tasks waited that this server has placed, and what kept others waiting.
    pub fn queue_counts(&self) -> QueueCounts {
        self.queue_tally.counts()
    }

    /// How the installation stands, and what was done since a time. The longest wait is told once.
    pub async fn fleet_standing(&self, since: Timestamp) -> Result<FleetStanding, Error> {
        let mut read = self.store.read().await?;
        let fleet = FleetSums::of(&read.node_list_all_present().await?);
        let tasks = read.workload_count_by_state().await?;
        let ended = read.workload_count_ended_since(since).await?;
        let (queue, wait_most) = (self.queue_tally.counts(), self.queue_tally.take_most());
        Ok(FleetStanding { fleet, tasks, ended, queue, wait_most })
    }
}
