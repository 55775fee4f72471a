//! Placement: gives waiting tasks to nodes, a batch at a time.
//!
//! Snapshot, decision and writes happen in one serialisable transaction, so that two servers can never
//! give the same room away twice.

use std::collections::BTreeMap;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::place::{self, Ask, NodeOffer};
use hostler_model::{
    Desired, Error, EventKind, Generation, Node, NodeId, Placement as Record, PlacementId,
    Resources, Run, RunId, RunState, TaskEvent, Workload,
};
use hostler_store::{Conn, NodeUsage, Tx};
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
        // The common case costs one indexed read.
        if self.store.read().await?.workload_pending(None, 1).await?.is_empty() {
            return Ok((PlacementReport::default(), false));
        }
        let (report, given) = self
            .store
            .tx("placement", |tx| {
                Box::pin(async move {
                    let mut offers = offers(tx).await?;
                    let (report, given) = self.decide(tx, &mut offers).await?;
                    let names: BTreeMap<NodeId, String> =
                        offers.iter().map(|o| (o.id, o.name.to_string())).collect();
                    self.write_placements(tx, &given, &names).await?;
                    Ok::<_, Error>((report, given))
                })
            })
            .await?;
        for node in given.keys() {
            self.links.wake(*node);
        }
        if report.placed > 0 {
            self.notify_waiters(given.values().flatten().map(|workload| workload.id));
            self.feed.ring();
        }
        let is_full = report.placed >= self.config.placement_batch;
        Ok((report, is_full))
    }

    /// Goes through what waits, oldest first, until there is no room left or enough is placed. What
    /// cannot be placed anywhere never keeps what comes after it from being looked at.
    async fn decide(
        &self,
        tx: &mut Tx<'_>,
        offers: &mut [NodeOffer],
    ) -> Result<(PlacementReport, BTreeMap<NodeId, Vec<Workload>>), Error> {
        const FIRST_LOOK: u32 = 64;
        const NEXT_LOOKS: u32 = 512;
        let mut report = PlacementReport::default();
        let mut given: BTreeMap<NodeId, Vec<Workload>> = BTreeMap::new();
        let mut after = None;
        let mut look = FIRST_LOOK;
        loop {
            let pending = tx.workload_pending(after, look).await?;
            let is_last = pending.len() < look as usize;
            after = pending.last().map(|workload| workload.id);
            report.looked_at += pending.len();
            let asks: Vec<Ask> = pending.iter().map(ask).collect();
            let decisions = place::place(&asks, offers);
            report.placed += decisions.len();
            // Decisions come in the order of the asks.
            let mut pending = pending.into_iter();
            for decision in &decisions {
                let workload = pending.find(|workload| workload.id == decision.workload_id);
                given.entry(decision.node_id).or_default().extend(workload);
            }
            let is_enough = report.placed >= self.config.placement_batch;
            if is_last || is_enough || (decisions.is_empty() && !place::has_room(offers)) {
                return Ok((report, given));
            }
            look = NEXT_LOOKS;
        }
    }

    async fn write_placements(
        &self,
        tx: &mut Tx<'_>,
        by_node: &BTreeMap<NodeId, Vec<Workload>>,
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
                    ..workload.clone()
                };
                assigned_all.push(assigned);
                let placement = Record {
                    id: placement_id,
                    workload_id: workload.id,
                    project_id: workload.project_id,
                    node_id: *node_id,
                    run_id: Some(run_id),
                    desired: Desired::Run,
                    desired_generation: Generation::from_u64(generation),
                    stop_grace: None,
                    is_released: false,
                    revision: Generation::ZERO,
                    status: None,
                    status_generation: Generation::ZERO,
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
                    cause: None,
                    fire: None,
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
    let usage = usage(read).await?;
    let nodes = read.node_list_all_present().await?;
    Ok(nodes.iter().map(|node| offer(node, &usage)).collect())
}

pub(super) async fn usage(read: &mut Conn) -> Result<BTreeMap<NodeId, NodeUsage>, Error> {
    Ok(read.placement_usage().await?.into_iter().map(|u| (u.node_id, u)).collect())
}

pub(super) fn offer(node: &Node, usage: &BTreeMap<NodeId, NodeUsage>) -> NodeOffer {
    let zero = Resources { cores: hostler_model::Cores::ZERO, memory: hostler_model::Bytes::ZERO };
    let used = usage.get(&node.id);
    NodeOffer {
        id: node.id,
        used: used.map_or(zero, |u| Resources { cores: u.cores, memory: u.memory }),
        runs: used.map_or(0, |u| u.placements),
        capacity: node
            .facts
            .as_ref()
            .map_or(zero, |f| Resources { cores: f.cores, memory: f.memory }),
        name: node.name.clone(),
        labels: node.labels.clone(),
        state: node.state,
        cordon: node.cordon.as_ref().map(|c| c.reason.clone()),
    }
}
