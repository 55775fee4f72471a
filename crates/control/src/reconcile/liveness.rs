//! Liveness: what the silence of nodes means, and what becomes of what ran there.

use std::time::Duration;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::liveness::{self, Verdict, Watched};
use hostler_engine::observe;
use hostler_model::{
    Error, EventKind, Node, NodeId, NodePayload, NodeState, ObjectKind, ObjectRef, Run, RunPayload,
    Timestamp,
};
use hostler_store::Tx;
use serde::Serialize;

use super::pass;
use crate::ends::Moved;
use crate::{Control, service_object};

pub(super) struct Liveness {
    control: Control,
    /// Since when nodes were watched without interruption; silence before that is our own.
    watching_since: Timestamp,
    last_pass: Timestamp,
}

/// What a pass of liveness did.
#[derive(Debug, Default, Serialize)]
pub struct LivenessReport {
    pub nodes: usize,
    pub changed: usize,
    pub runs_lost: usize,
}

impl Liveness {
    pub(super) fn new(control: Control) -> Liveness {
        let now = control.now();
        Liveness { control, watching_since: now, last_pass: now }
    }
}

impl Reconciler for Liveness {
    const NAME: &'static str = "liveness";
    const DESCRIPTION: &'static str =
        "decides from the age of leases which nodes are online, stale or offline";
    type Report = LivenessReport;

    async fn reconcile(&mut self) -> Pass<LivenessReport> {
        let now = self.control.now();
        // A pause as long as a node's patience (a suspended machine, a database away) says nothing about nodes.
        if now.since(self.last_pass)
            > self.control.config.patience.stale_after.max(Duration::from_secs(5))
        {
            self.watching_since = now;
        }
        let result = self.control.judge_nodes(self.watching_since).await;
        if result.is_ok() {
            self.last_pass = now;
        }
        pass(result.map(Pass::done))
    }
}

impl Control {
    pub async fn judge_nodes(&self, watching_since: Timestamp) -> Result<LivenessReport, Error> {
        let nodes = self.store.read().await?.node_list_all_present().await?;
        let watched: Vec<Watched> = nodes
            .iter()
            .map(|node| Watched {
                id: node.id,
                state: node.state,
                time_seen: node.lease.as_ref().map(|lease| lease.time_seen),
            })
            .collect();
        let verdicts = liveness::decide(&watched, watching_since, self.now(), self.config.patience);
        let mut report = LivenessReport { nodes: nodes.len(), ..LivenessReport::default() };
        for verdict in verdicts {
            match verdict {
                Verdict::Change { node, to } => {
                    if let Some(node) = nodes.iter().find(|n| n.id == node) {
                        report.changed += usize::from(self.node_state_change(node, to).await?);
                    }
                }
                Verdict::RunsLost { node } => {
                    report.runs_lost +=
                        self.runs_lose(node, "its node has been away for too long").await?
                }
            }
        }
        report.runs_lost += self.runs_lose_overdue(watching_since).await?;
        Ok(report)
    }

    /// A run that its node has not begun for as long as a node may be away is lost as well, even
    /// when the node is heard of: nothing waits for ever. Should it begin later, it is found again.
    async fn runs_lose_overdue(&self, watching_since: Timestamp) -> Result<usize, Error> {
        const BATCH: u32 = 500;
        let patience = self.config.patience.lost_after;
        if self.now().since(watching_since) < patience {
            return Ok(0);
        }
        let before = self.now().minus(patience);
        let runs = self.store.read().await?.run_assigned_before(before, BATCH).await?;
        self.runs_lose_these(&runs, "its node did not begin it in time").await
    }

    async fn node_state_change(&self, node: &Node, to: NodeState) -> Result<bool, Error> {
        let kind = match to {
            NodeState::Online => EventKind::NodeOnline,
            NodeState::Stale => EventKind::NodeStale,
            NodeState::Offline => EventKind::NodeOffline,
            NodeState::Joined | NodeState::Removed => return Ok(false),
        };
        let changed = Node {
            state: to,
            generation: node.generation.next(),
            time_state: self.now(),
            time_modified: self.now(),
            ..node.clone()
        };
        let object = ObjectRef::new(ObjectKind::Node, node.id, &node.name);
        let quiet =
            node.lease.as_ref().map(|lease| self.now().since(lease.time_seen)).unwrap_or_default();
        let message = match to {
            NodeState::Online => "heard of again".to_owned(),
            _ => format!("quiet for {}s", quiet.as_secs()),
        };
        let payload = NodePayload { state: to, labels: node.labels.clone() };
        let event =
            self.event(kind, None, &object, self.system_actor(), message).with_payload(payload);
        let (changed, event) = (&changed, &event);
        let is_changed = self
            .store
            .tx("node_state_change", |tx| {
                Box::pin(async move {
                    // Another server may have been faster: then there is nothing to do.
                    if !tx.node_update(changed, node.generation).await?.is_updated() {
                        return Ok(false);
                    }
                    tx.journal_append(std::slice::from_ref(event), &[]).await?;
                    Ok::<_, Error>(true)
                })
            })
            .await?;
        if is_changed {
            self.feed.ring();
            self.wakers.placement.wake();
            self.wakers.service_place.wake();
        }
        Ok(is_changed)
    }

    /// Declares everything unsettled on a node lost.
    pub(crate) async fn runs_lose(&self, node: NodeId, why: &str) -> Result<usize, Error> {
        let runs = self.store.read().await?.run_unsettled_on(node).await?;
        self.runs_lose_these(&runs, why).await
    }

    pub(crate) async fn runs_lose_these(&self, runs: &[Run], why: &str) -> Result<usize, Error> {
        if runs.is_empty() {
            return Ok(0);
        }
        let (workloads, follow) = self
            .store
            .tx("runs_lose", |tx| {
                Box::pin(async move {
                    let mut workloads = Vec::new();
                    let mut events = Vec::new();
                    let mut moved = Vec::new();
                    for seen in runs {
                        let found = (
                            tx.run_get(seen.id).await?,
                            tx.placement_get(seen.placement_id).await?,
                            tx.workload_get(seen.workload_id).await?,
                        );
                        // What moved on since it was looked at is not lost.
                        let (Some(run), Some(placement), Some(workload)) = found else { continue };
                        let lost = observe::lost(&run, &placement, &workload, why, self.now());
                        let Some(change) = lost.filter(|_| run == *seen) else { continue };
                        lose_one(tx, &run, &workload, &change).await?;
                        let object = service_object(&workload);
                        let project = Some(workload.project_id);
                        events.extend(change.events.into_iter().map(|(kind, message)| {
                            self.event(kind, project, &object, self.system_actor(), message)
                                .with_payload(RunPayload {
                                    tags: workload.spec.tags.clone(),
                                    ..RunPayload::default()
                                })
                        }));
                        workloads.push(workload.id);
                        let before = workload.state.kind();
                        moved.extend(change.workload.map(|task| Moved { before, task }));
                    }
                    if !events.is_empty() {
                        tx.journal_append(&events, &[]).await?;
                    }
                    let follow = self.follow_ends(tx, moved).await?;
                    Ok::<_, Error>((workloads, follow))
                })
            })
            .await?;
        let count = workloads.len();
        self.after_ends(follow);
        self.wakers.placement.wake();
        self.notify_waiters(workloads);
        self.feed.ring();
        Ok(count)
    }
}

async fn lose_one(
    tx: &mut Tx<'_>,
    run: &Run,
    workload: &hostler_model::Workload,
    change: &observe::Change,
) -> Result<(), Error> {
    tx.run_update(&change.run, run.report_generation).await?.required("run", run.id)?;
    if let Some(changed) = &change.workload {
        tx.workload_update(changed, workload.generation).await?.required("task", workload.id)?;
    }
    Ok(())
}
