//! What a server does for a connected agent, free of any transport.
//!
//! A session begins with [`Control::node_attach`], which fences older connections by the agent's
//! session epoch, and then only ever does five things: hand out what changed in what the node should
//! run, take reports (`node_report`), hear of devices that fail (`node_gpus`), remember that the node is
//! alive, and renew its certificate.
//! Every one of them may be repeated, by this server or another, without harm.
//!
//! A node whose link is metered is heard of less often. Leases do not show it: the server that holds
//! its session vouches for it in between ([`Control::node_vouch`]), so placement and liveness know
//! nothing of it. Should such a node vanish without its connection breaking, that is noticed later by
//! as much as its heartbeats are longer.
//!
//! Heartbeats cost no write: they are remembered in the [`LeaseBook`] and flushed for all nodes at
//! once by the `lease_flush` reconciler, which also finds out about sessions that were fenced.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hostler_model::{
    Actor, ActorKind, Assignment, Code, Error, EventKind, Facts, Generation, LivenessEvent,
    LogGrant, Name, Node, NodeId, NodeLease, NodeMetrics, NodePayload, NodeState, ObjectKind,
    ObjectRef, ProjectId, WorkloadUsage,
};
use hostler_store::{LeaseRenewal, Tx};

use crate::node_holdings::AHEAD;
use crate::service::authority::DROPPED;
use crate::service::doctor::skew_ms;
use crate::{Control, NodeLink};

/// What an agent says when it connects.
#[derive(Clone, Debug)]
pub struct HelloFacts {
    pub agent_version: String,
    pub session_epoch: Generation,
    pub applied_generation: Generation,
    /// Absent when they are those that the agent has told before.
    pub facts: Option<Facts>,
    /// How seldom the agent would like to be heard of.
    pub heartbeat_wish: Option<Duration>,
    /// The agent can say what it holds.
    pub can_tell_holdings: bool,
}

/// The answer to a connecting agent.
#[derive(Clone, Debug)]
pub enum Attach {
    Attached(Attached),
    /// `may_return`: trying again can help.
    Refused {
        code: Code,
        detail: String,
        may_return: bool,
    },
}

#[derive(Clone, Debug)]
pub struct Attached {
    pub node_id: NodeId,
    pub node_name: Name,
    pub session_epoch: Generation,
    /// What the agent had accepted when it came.
    pub applied_generation: Generation,
    /// It is to say what it holds, and is told nothing before ([`Control::node_holdings`]).
    pub is_asked: bool,
    /// How often the agent is to be heard of.
    pub heartbeat: Duration,
    pub agent_addresses: Vec<String>,
    /// Fingerprint of the authority of the certificate that it came with, where that is known.
    pub authority: Option<String>,
}

/// What changed in what a node should run.
#[derive(Clone, Debug, PartialEq)]
pub struct DesiredBatch {
    pub from: Generation,
    pub to: Generation,
    pub assignments: Vec<Assignment>,
    /// What the node may keep of the output of projects that may not keep all.
    pub log_shares: Vec<LogGrant>,
    /// There is more after `to` already.
    pub is_full: bool,
}

/// Nodes heard of since the last flush.
#[derive(Default)]
pub(crate) struct LeaseBook(Mutex<HashMap<NodeId, LeaseRenewal>>);

impl LeaseBook {
    pub(crate) fn hear(&self, renewal: LeaseRenewal) {
        let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match heard.get_mut(&renewal.node_id) {
            Some(known) if known.session_epoch > renewal.session_epoch => {}
            Some(known) => {
                let metrics = renewal.metrics.or(known.metrics.take());
                let usage = renewal.usage.or(known.usage.take());
                *known = LeaseRenewal { metrics, usage, ..renewal };
            }
            None => {
                heard.insert(renewal.node_id, renewal);
            }
        }
    }

    pub(crate) fn take(&self) -> Vec<LeaseRenewal> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .drain()
            .map(|(_, renewal)| renewal)
            .collect()
    }
}

/// How many placements travel in one message.
const DESIRED_BATCH: u32 = 250;

impl Control {
    /// A node connects with the certificate of this serial number.
    pub async fn node_attach(
        &self,
        node_id: NodeId,
        serial: &str,
        hello: &HelloFacts,
    ) -> Result<Attach, Error> {
        let now = self.now();
        let attached = self
            .store
            .tx("node_attach", |tx| {
                Box::pin(async move {
                    let refuse = |detail: &str, may_return| {
                        Ok(Err(Attach::Refused { code: Code::Unauthenticated, detail: detail.to_owned(), may_return }))
                    };
                    let certificate = tx.node_certificate_get(serial).await?.filter(|c| c.node_id == node_id);
                    let Some(certificate) = certificate else {
                        return refuse("this certificate was not issued to the node; join again with a fresh token", false);
                    };
                    if certificate.time_revoked.is_some() {
                        return refuse("the node's certificate was revoked; join again with a fresh token", false);
                    }
                    if self.is_dropped(&certificate) {
                        return refuse(DROPPED, false);
                    }
                    let node = tx.node_get(node_id).await?.filter(|node| node.state != NodeState::Removed);
                    let Some(node) = node else {
                        return refuse("the node was removed; join again with a fresh token", false);
                    };
                    if hello.facts.is_none() && node.facts.is_none() {
                        let detail = "the node's facts are not known here; connect again and tell them".to_owned();
                        return Ok(Err(Attach::Refused { code: Code::Stale, detail, may_return: true }));
                    }
                    let lease = NodeLease {
                        node_id,
                        server_id: self.server_id,
                        session_epoch: hello.session_epoch,
                        applied_generation: hello.applied_generation,
                        time_seen: now,
                        metrics: node.lease.as_ref().and_then(|lease| lease.metrics.clone()),
                    };
                    if let hostler_store::Attach::Fenced { epoch } = tx.node_lease_attach(&lease).await? {
                        let detail = format!("a newer session ({epoch}) of this node exists; connect again with a larger number");
                        return Ok(Err(Attach::Refused { code: Code::Stale, detail, may_return: true }));
                    }
                    if hello.applied_generation > node.desired_generation {
                        self.catch_up(tx, &node, hello.applied_generation).await?;
                    }
                    let is_asked = tx.node_resync_cause(node_id).await?.is_some();
                    if is_asked && !hello.can_tell_holdings {
                        let detail = "the database was restored, and this agent is too old to say what it holds; upgrade it".to_owned();
                        return Ok(Err(Attach::Refused { code: Code::Conflict, detail, may_return: true }));
                    }
                    let name = node.name.clone();
                    self.greet(tx, node, hello).await?;
                    if certificate.time_presented.is_none() {
                        tx.node_certificate_presented(serial, now).await?;
                    }
                    Ok::<_, Error>(Ok((name, certificate.authority, is_asked)))
                })
            })
            .await?;
        let (node_name, authority, is_asked) = match attached {
            Ok(attached) => attached,
            Err(refused) => return Ok(refused),
        };
        self.feed.ring();
        self.wakers.placement.wake();
        self.wakers.service_place.wake();
        Ok(Attach::Attached(Attached {
            node_id,
            node_name,
            session_epoch: hello.session_epoch,
            applied_generation: hello.applied_generation,
            is_asked,
            heartbeat: self.heartbeat_for(hello.heartbeat_wish),
            agent_addresses: self.agent_addresses().await?,
            authority,
        }))
    }

    /// The agent has accepted more than the database knows of: the database was put back by other means
    /// than ours. Wishes get numbers above what the agent has, and it is asked what it holds.
    async fn catch_up(
        &self,
        tx: &mut Tx<'_>,
        node: &Node,
        applied: Generation,
    ) -> Result<(), Error> {
        tracing::warn!(node = %node.name, applied = applied.get(), known = node.desired_generation.get(), "agent is ahead of the database");
        tx.node_desired_raise(node.id, applied).await?;
        tx.node_resync_insert(node.id, AHEAD, self.now()).await?;
        Ok(())
    }

    /// Numbers everything that a node should run anew, so that it reaches the node again; says how much
    /// that is.
    pub(crate) async fn tell_again(&self, tx: &mut Tx<'_>, node: NodeId) -> Result<u64, Error> {
        let mut count = 0;
        for mut placement in tx.placement_active_on(node).await? {
            if let Some(generation) = tx.node_desired_bump(node, 1).await? {
                placement.desired_generation = generation;
                tx.placement_update(&placement).await?.required("placement", placement.id)?;
                count += 1;
            }
        }
        Ok(count)
    }

    async fn greet(
        &self,
        tx: &mut Tx<'_>,
        mut node: Node,
        hello: &HelloFacts,
    ) -> Result<(), Error> {
        let now = self.now();
        let next = node.state.apply(LivenessEvent::Seen);
        let facts = hello.facts.as_ref().or(node.facts.as_ref()).cloned();
        if next.is_none() && node.facts == facts && node.agent_version == hello.agent_version {
            return Ok(());
        }
        let actor = node_actor(&node.name);
        let mut events = match &facts {
            Some(facts) => self.gpu_events(&node, facts, &actor),
            None => Vec::new(),
        };
        let expected = node.generation;
        node.facts = facts;
        node.agent_version.clone_from(&hello.agent_version);
        node.generation = expected.next();
        node.time_modified = now;
        if let Some(state) = next {
            node.state = state;
            node.time_state = now;
        }
        tx.node_update(&node, expected).await?.required("node", &node.name)?;
        if next.is_some() {
            let object = ObjectRef::new(ObjectKind::Node, node.id, &node.name);
            let message = format!("agent {}", hello.agent_version);
            let payload = NodePayload { state: node.state, labels: node.labels.clone() };
            let event = self.event(EventKind::NodeOnline, None, &object, actor, message);
            events.insert(0, event.with_payload(payload));
        }
        if !events.is_empty() {
            tx.journal_append(&events, &[]).await?;
        }
        Ok(())
    }

    /// How often a node is to be heard of that would like to be heard of seldom: never so seldom that
    /// one lost message makes it look away.
    fn heartbeat_for(&self, wish: Option<Duration>) -> Duration {
        let usual = self.config.heartbeat;
        let longest = usual.max(self.config.patience.offline_after * 2 / 3);
        wish.map_or(usual, |wish| wish.clamp(usual, longest))
    }

    /// Stands in for the heartbeats that a node was allowed to leave out: called as often as they would
    /// have come, for as long as its session is open. Says nothing for it once it is overdue.
    pub fn node_vouch(&self, attached: &Attached, applied: Generation, quiet: Duration) {
        if quiet <= attached.heartbeat + self.config.heartbeat * 2 {
            self.node_heartbeat(attached, applied, None, None);
        }
    }

    /// How often a node is heard of that wishes nothing else.
    pub fn heartbeat(&self) -> Duration {
        self.config.heartbeat
    }

    /// Makes a session known to this process, in place of an older one of the same node.
    pub fn node_link(&self, attached: &Attached, link: Arc<dyn NodeLink>) {
        self.links.insert(attached.node_id, attached.session_epoch, link);
    }

    /// The session is over. The lease stays until it grows old: the agent is probably on its way back.
    pub fn node_unlink(&self, attached: &Attached) {
        self.links.remove(attached.node_id, attached.session_epoch);
    }

    /// The agent is about to leave this session for another; whoever wants to reach it waits a moment.
    pub fn node_change_session(&self, attached: &Attached) {
        self.links.change(attached.node_id, attached.session_epoch);
    }

    pub fn node_heartbeat(
        &self,
        attached: &Attached,
        applied_generation: Generation,
        metrics: Option<NodeMetrics>,
        usage: Option<Vec<WorkloadUsage>>,
    ) {
        let metrics = metrics.map(|metrics| NodeMetrics {
            clock_skew_ms: metrics.time.and_then(|theirs| skew_ms(theirs, self.now())),
            time: None,
            ..metrics
        });
        self.leases.hear(LeaseRenewal {
            node_id: attached.node_id,
            session_epoch: attached.session_epoch,
            applied_generation,
            metrics,
            usage: usage.map(WorkloadUsage::sane),
        });
    }

    /// What the node should know beyond `after`; `None` when nothing changed.
    pub async fn node_desired(
        &self,
        node_id: NodeId,
        after: Generation,
    ) -> Result<Option<DesiredBatch>, Error> {
        let mut read = self.store.read().await?;
        // The generation is read before the rows: every row up to it is then certain to be seen.
        let Some(node) = read.node_get(node_id).await? else { return Ok(None) };
        if node.desired_generation <= after {
            return Ok(None);
        }
        if read.node_resync_cause(node_id).await?.is_some() {
            return Ok(None);
        }
        let entries = read.placement_feed(node_id, after, DESIRED_BATCH).await?;
        let is_full = entries.len() >= DESIRED_BATCH as usize;
        let last =
            entries.last().map_or(Generation::ZERO, |entry| entry.placement.desired_generation);
        let to = if is_full { last } else { last.max(node.desired_generation) };
        let quotas = read.log_quotas().await?;
        drop(read);
        let log_shares = if quotas.is_empty() {
            Vec::new()
        } else {
            let is_told_of = |name: &Name| entries.iter().any(|entry| entry.project_name == *name);
            let begun = quotas.iter().filter(|(_, name, _)| is_told_of(name));
            let begun: Vec<ProjectId> = begun.map(|(project, ..)| *project).collect();
            self.log_grants(node_id, &quotas, &begun).await?
        };
        let assignments = entries
            .into_iter()
            .map(|entry| Assignment {
                placement_id: entry.placement.id,
                run_id: entry.placement.run_id,
                revision: entry.revision,
                desired: entry.placement.desired,
                generation: entry.placement.desired_generation,
                workload_id: entry.placement.workload_id,
                workload_name: entry.workload_name,
                project_name: entry.project_name,
                spec: Arc::unwrap_or_clone(entry.spec),
                grace: entry.placement.stop_grace,
                reservation: entry.placement.reservation,
                seat: entry.seat,
                trace: entry.trace,
            })
            .collect();
        Ok(Some(DesiredBatch { from: after, to, assignments, log_shares, is_full }))
    }
}

pub(crate) fn node_actor(name: &Name) -> Actor {
    Actor { kind: ActorKind::Node, name: name.to_string() }
}
