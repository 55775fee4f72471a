//! Steps of draining and removing a node.

use hostler_engine::observe;
use hostler_engine::spread::Standing;
use hostler_model::{
    Cordon, Desired, Error, EventKind, Node, NodeId, NodePayload, NodeState, ObjectKind, ObjectRef,
    Phase, Timestamp,
};
use serde_json::json;

use super::StepOutcome;
use crate::{Control, audit_state, service_object};

impl Control {
    pub(super) async fn step_cordon(
        &self,
        id: NodeId,
        reason: &str,
        is_draining: bool,
    ) -> Result<StepOutcome, Error> {
        self.node_edit_by_step(id, EventKind::NodeCordoned, reason, |node, now| {
            if node.cordon.as_ref().is_some_and(|c| c.is_draining == is_draining) {
                return false;
            }
            node.cordon = Some(Cordon { reason: reason.to_owned(), time: now, is_draining });
            true
        })
        .await?;
        Ok(StepOutcome::Done("takes no new work".into()))
    }

    /// Waits until nothing is left on the node; after the deadline, stops what is.
    pub(super) async fn step_empty(
        &self,
        id: NodeId,
        deadline: Option<Timestamp>,
    ) -> Result<StepOutcome, Error> {
        let tasks = self.store.read().await?.placement_active_on(id).await?;
        let tasks = tasks.iter().filter(|placement| placement.run_id.is_some()).count();
        let services = self.services_left(id).await?;
        if tasks == 0 && services == 0 {
            self.drain_over(id).await?;
            return Ok(StepOutcome::Done("the node is empty".into()));
        }
        if services > 0 {
            self.wakers.service_place.wake();
        }
        let workloads = match services {
            0 => String::new(),
            count => format!(", and for {count} workloads to leave"),
        };
        if deadline.is_some_and(|deadline| self.now() >= deadline) {
            self.stop_everything(id).await?;
            let text = format!("the deadline is over; stopping {tasks} tasks{workloads}");
            return Ok(StepOutcome::Wait(text));
        }
        Ok(StepOutcome::Wait(format!("waiting for {tasks} tasks to end{workloads}")))
    }

    /// Stops everything on the node; what a node that is away held is declared lost.
    pub(super) async fn step_stop(&self, id: NodeId) -> Result<StepOutcome, Error> {
        let mut read = self.store.read().await?;
        let Some(node) = read.node_get(id).await? else {
            return Ok(StepOutcome::Done("the node is gone".into()));
        };
        let unsettled = read.run_unsettled_on(id).await?.len();
        drop(read);
        let services = self.services_left(id).await?;
        if unsettled == 0 && services == 0 {
            return Ok(StepOutcome::Done("nothing runs on the node".into()));
        }
        if !matches!(node.state, NodeState::Online | NodeState::Stale) {
            let lost = self.runs_lose(id, "its node was removed while it was away").await?;
            return Ok(StepOutcome::Done(format!(
                "the node is {}; {lost} tasks are lost",
                node.state
            )));
        }
        self.stop_everything(id).await?;
        self.wakers.service_place.wake();
        Ok(StepOutcome::Wait(format!("stopping {unsettled} tasks and {services} workloads")))
    }

    /// How many services still have something to leave or to stop on a node that is drained.
    async fn services_left(&self, id: NodeId) -> Result<usize, Error> {
        let mut read = self.store.read().await?;
        let mut left = 0;
        for placement in read.service_placements_on(id).await? {
            let Some(service) = read.service_get(placement.workload_id).await? else { continue };
            let is_bound = service.spec.placement.node.is_some();
            let phase = placement.status.as_ref().map(|status| status.phase);
            let standing =
                Standing::of(placement.status.as_ref(), service.revision, &service.spec.mode);
            let rests = match placement.desired {
                Desired::Remove => false,
                Desired::Stop if is_bound => phase.is_some_and(|p| Phase::SETTLED.contains(&p)),
                Desired::Run | Desired::Pause | Desired::Stop => standing == Standing::Settled,
            };
            left += usize::from(!rests);
        }
        Ok(left)
    }

    pub(super) async fn step_revoke(&self, id: NodeId) -> Result<StepOutcome, Error> {
        let revoked = self
            .store
            .tx("node_revoke", |tx| {
                Box::pin(async move {
                    Ok::<_, Error>(tx.node_certificates_revoke(id, self.now()).await?)
                })
            })
            .await?;
        if let Some(link) = self.links.get(id) {
            link.close("the node was removed", false);
        }
        Ok(StepOutcome::Done(format!("{revoked} certificates revoked")))
    }

    pub(super) async fn step_remove(&self, id: NodeId) -> Result<StepOutcome, Error> {
        self.node_edit_by_step(id, EventKind::NodeRemoved, "removed", |node, now| {
            if node.state == NodeState::Removed {
                return false;
            }
            node.state = NodeState::Removed;
            node.time_state = now;
            true
        })
        .await?;
        Ok(StepOutcome::Done("removed".into()))
    }

    /// The node stays cordoned, but nothing is being moved away any more.
    pub(super) async fn drain_over(&self, id: NodeId) -> Result<(), Error> {
        self.node_edit_by_step(id, EventKind::NodeChanged, "the drain is over", |node, _| {
            match &mut node.cordon {
                Some(cordon) if cordon.is_draining => {
                    cordon.is_draining = false;
                    true
                }
                _ => false,
            }
        })
        .await
    }

    async fn node_edit_by_step(
        &self,
        id: NodeId,
        kind: EventKind,
        message: &str,
        edit: impl Fn(&mut Node, Timestamp) -> bool + Send + Sync,
    ) -> Result<(), Error> {
        let edit = &edit;
        self.store
            .tx("node_edit_by_step", |tx| {
                Box::pin(async move {
                    let Some(mut node) = tx.node_get(id).await? else { return Ok(()) };
                    let (expected, now) = (node.generation, self.now());
                    let before = audit_state::node(&node);
                    if !edit(&mut node, now) {
                        return Ok(());
                    }
                    node.generation = expected.next();
                    node.time_modified = now;
                    tx.node_update(&node, expected).await?.required("node", &node.name)?;
                    let object = ObjectRef::new(ObjectKind::Node, node.id, &node.name);
                    let event = self
                        .event(kind, None, &object, self.system_actor(), message)
                        .with_payload(NodePayload::from(&node));
                    let audit = self
                        .audit_system(kind.label(), &object, None, json!({ "message": message }))
                        .with_states(Some(&before), Some(&audit_state::node(&node)));
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.wakers.service_place.wake();
        self.feed.ring();
        Ok(())
    }

    /// Asks everything on a node to stop.
    async fn stop_everything(&self, id: NodeId) -> Result<(), Error> {
        let is_changed = self
            .store
            .tx("node_stop_everything", |tx| {
                Box::pin(async move {
                    let mut events = Vec::new();
                    for placement in tx.placement_active_on(id).await? {
                        let Some(workload) = tx.workload_get(placement.workload_id).await? else {
                            continue;
                        };
                        let Some(observe::Stop { workload: stopped, placement, events: happened }) =
                            observe::stop(&workload, Some(&placement), None, self.now())
                        else {
                            continue;
                        };
                        self.apply_wish(tx, &stopped, workload.generation, placement).await?;
                        let object = service_object(&workload);
                        for (kind, message) in happened {
                            events.push(self.event(
                                kind,
                                Some(workload.project_id),
                                &object,
                                self.system_actor(),
                                message,
                            ));
                        }
                    }
                    if !events.is_empty() {
                        tx.journal_append(&events, &[]).await?;
                    }
                    Ok::<_, Error>(!events.is_empty())
                })
            })
            .await?;
        if is_changed {
            self.links.wake(id);
            self.feed.ring();
        }
        Ok(())
    }
}
