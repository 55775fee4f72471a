//! Placement: gives waiting tasks to nodes, a batch at a time.
//!
//! Snapshot, decision and writes happen in one serialisable transaction, so that two servers can never
//! give the same room away twice.

use std::collections::BTreeMap;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::place::{self, Ask, NodeOffer};
use hostler_model::{
    Desired, Error, EventKind, Generation, NodeId, Placement as Record, PlacementId, Resources,
    Run, RunId, RunState, TaskEvent, Workload,
};
use hostler_store::{Conn, Tx};
use serde::Serialize;

use super::pass;
use crate::{Control, service_object};

pub(super) struct Placement {
    control: Control,
}

/// What a pass of placement did.
#[derive(Debug, Default, Serialize)]
pub struct PlacementReport {
    pub looked_at: usize,
    pub placed: usize,
}

impl Placement {
    pub(super) fn new(control: Control) -> Placement {
        Placement { control }
    }
}

impl Reconciler for Placement {
    const NAME: &'static str = "placement";
    const DESCRIPTION: &'static str = "gives waiting tasks to nodes";
    type Report = PlacementReport;

    async fn reconcile(&mut self) -> Pass<PlacementReport> {
        pass(
            self.control
                .place_pending()
                .await
                .map(|(report, is_full)| Pass::done(report).again_if(is_full)),
        )
    }
}

impl Control {
    /// One pass of placement; says whether there may be more to do at once.
    pub async fn place_pending(&self) -> Result<(PlacementReport, bool), Error> {
        let limit = self.config.placement_batch;
        // The common case costs one indexed read.
        if self.store.read().await?.workload_pending(1).await?.is_empty() {
            return Ok((PlacementReport::default(), false));
        }
        let (looked_at, nodes, workloads) = self
            .store
            .tx("placement", |tx| {
                Box::pin(async move {
                    let pending = tx.workload_pending(limit).await?;
                    let mut offers = offers(tx).await?;
                    let asks: Vec<Ask> = pending.iter().map(ask).collect();
                    let decisions = place::place(&asks, &mut offers);
                    let mut by_node: BTreeMap<NodeId, Vec<&Workload>> = BTreeMap::new();
                    for decision in &decisions {
                        let workload = pending.iter().find(|w| w.id == decision.workload_id);
                        by_node.entry(decision.node_id).or_default().extend(workload);
                    }
                    let names: BTreeMap<NodeId, String> =
                        offers.iter().map(|o| (o.id, o.name.to_string())).collect();
                    self.write_placements(tx, &by_node, &names).await?;
                    let workloads: Vec<_> = decisions.iter().map(|d| d.workload_id).collect();
                    Ok::<_, Error>((
                        pending.len(),
                        by_node.into_keys().collect::<Vec<_>>(),
                        workloads,
                    ))
                })
            })
            .await?;
        for node in nodes {
            self.links.wake(node);
        }
        let placed = workloads.len();
        if placed > 0 {
            self.notify_waiters(workloads);
            self.feed.ring();
        }
        let is_full = looked_at >= limit as usize && placed > 0;
        Ok((PlacementReport { looked_at, placed }, is_full))
    }

    async fn write_placements(
        &self,
        tx: &mut Tx<'_>,
        by_node: &BTreeMap<NodeId, Vec<&Workload>>,
        names: &BTreeMap<NodeId, String>,
    ) -> Result<(), Error> {
        let now = self.now();
        let mut placements: Vec<(Record, Resources)> = Vec::new();
        let mut assigned_all = Vec::new();
        let mut runs = Vec::new();
        let mut events = Vec::new();
        for (node_id, workloads) in by_node {
            let count = workloads.len() as u64;
            let Some(newest) = tx.node_desired_bump(*node_id, count).await? else { continue };
            let mut generation = newest.get() - count;
            for workload in workloads {
                generation += 1;
                let placement_id: PlacementId = self.ids.fresh();
                let run_id: RunId = self.ids.fresh();
                let Ok(state) = workload
                    .state
                    .apply(workload.desired, TaskEvent::Placed { placement: placement_id })
                else {
                    continue;
                };
                let assigned = Workload {
                    state,
                    generation: workload.generation.next(),
                    time_modified: now,
                    ..(*workload).clone()
                };
                assigned_all.push(assigned);
                let placement = Record {
                    id: placement_id,
                    workload_id: workload.id,
                    project_id: workload.project_id,
                    node_id: *node_id,
                    run_id,
                    desired: Desired::Run,
                    desired_generation: Generation::from_u64(generation),
                    stop_grace: None,
                    is_released: false,
                    time_created: now,
                    time_modified: now,
                };
                placements.push((placement, workload.spec.resources));
                runs.push(Run {
                    id: run_id,
                    placement_id,
                    workload_id: workload.id,
                    project_id: workload.project_id,
                    node_id: *node_id,
                    attempt: 1,
                    state: RunState::Assigned,
                    report_generation: Generation::ZERO,
                    time_created: now,
                    time_started: None,
                    time_ended: None,
                });
                let message = format!(
                    "given to node {}",
                    names.get(node_id).map(String::as_str).unwrap_or_default()
                );
                events.push(self.event(
                    EventKind::TaskAssigned,
                    Some(workload.project_id),
                    &service_object(workload),
                    self.system_actor(),
                    message,
                ));
            }
        }
        if placements.is_empty() {
            return Ok(());
        }
        tx.workload_save_batch(&assigned_all).await?;
        tx.placement_insert_batch(&placements).await?;
        tx.run_insert_batch(&runs).await?;
        tx.journal_append(&events, &[]).await?;
        Ok(())
    }
}

fn ask(workload: &Workload) -> Ask {
    Ask {
        workload_id: workload.id,
        resources: workload.spec.resources,
        rules: workload.spec.placement.clone(),
    }
}

/// Every node that is not removed, with what is used of it.
pub(crate) async fn offers(read: &mut Conn) -> Result<Vec<NodeOffer>, Error> {
    let usage: BTreeMap<NodeId, _> =
        read.placement_usage().await?.into_iter().map(|u| (u.node_id, u)).collect();
    let nodes = read.node_list_all_present().await?;
    let zero = Resources { cores: hostler_model::Cores::ZERO, memory: hostler_model::Bytes::ZERO };
    Ok(nodes
        .into_iter()
        .map(|node| NodeOffer {
            id: node.id,
            used: usage
                .get(&node.id)
                .map_or(zero, |u| Resources { cores: u.cores, memory: u.memory }),
            runs: usage.get(&node.id).map_or(0, |u| u.placements),
            capacity: node
                .facts
                .as_ref()
                .map_or(zero, |f| Resources { cores: f.cores, memory: f.memory }),
            name: node.name,
            labels: node.labels,
            state: node.state,
            cordon: node.cordon.map(|c| c.reason),
        })
        .collect())
}
