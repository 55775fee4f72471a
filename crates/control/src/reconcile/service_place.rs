//! Keeps every service on the nodes its spec asks for.
//!
//! A pass looks at all services, placements and nodes outside any transaction. Where something is to
//! be done, service, placements and nodes are read again and written in one serialisable transaction
//! for that service: two servers that see the same thing do it once. Crashing anywhere leaves rows
//! from which the next pass goes on.
//!
//! A service that is to be removed keeps its rows until every node has said that nothing is left of
//! it, or is removed itself; then they go. A node that is there and does not say so is told again from
//! time to time: one that has forgotten everything answers that nothing is left.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hostler_base::log::record_span;
use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::observe;
use hostler_engine::place::{NodeOffer, Shape};
use hostler_engine::spread::{self, Host, Seat, Standing, Step, Wish};
use hostler_model::{
    Desired, Error, EventKind, Generation, NewEvent, Node, NodeId, NodeState, Placement,
    PlacementId, Reservation, RunPayload, Service, Timestamp, TraceContext, WorkloadId,
};
use hostler_store::{Conn, Tx};
use serde::Serialize;

use super::pass;
use super::scene::offers;
use crate::Control;
use crate::service::workload::object;

/// How long a node that is there may take before it is told again to let go of something.
const TOLD_AGAIN_AFTER: Duration = Duration::from_mins(10);

pub(super) struct ServicePlace {
    control: Control,
    /// Since when nodes were watched without interruption; silence before that is our own.
    watching_since: Timestamp,
    last_pass: Timestamp,
}

/// What a pass of spreading services did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServicePlaceReport {
    pub services: usize,
    /// Placements that were added, told something new, asked to leave, and whose node is gone.
    pub added: usize,
    pub told: usize,
    pub leaving: usize,
    pub released: usize,
    /// Services whose rows are gone.
    pub removed: usize,
}

impl ServicePlace {
    pub(super) fn new(control: Control) -> ServicePlace {
        let now = control.now();
        ServicePlace { control, watching_since: now, last_pass: now }
    }
}

impl Reconciler for ServicePlace {
    const NAME: &'static str = "service_place";
    const DESCRIPTION: &'static str = "keeps services on the nodes their specs ask for";
    type Report = ServicePlaceReport;

    async fn reconcile(&mut self) -> Pass<ServicePlaceReport> {
        let now = self.control.now();
        if now.since(self.last_pass)
            > self.control.config.patience.stale_after.max(Duration::from_secs(5))
        {
            self.watching_since = now;
        }
        let result = self.control.place_services(self.watching_since).await;
        if result.is_ok() {
            self.last_pass = now;
        }
        pass(result.map(Pass::done))
    }
}

/// What became of one service.
#[derive(Default)]
struct Outcome {
    report: ServicePlaceReport,
    nodes: BTreeSet<NodeId>,
    placed: Vec<Placed>,
}

/// A placement of what has a trace: the trace, since when it was to be placed, and what is told of it.
type Placed = (TraceContext, Timestamp, Vec<(&'static str, String)>);

impl Control {
    /// One pass over all services.
    pub async fn place_services(
        &self,
        watching_since: Timestamp,
    ) -> Result<ServicePlaceReport, Error> {
        let mut read = self.store.read().await?;
        let services = read.service_list_all().await?;
        let mut total = ServicePlaceReport { services: services.len(), ..Default::default() };
        if services.is_empty() {
            return Ok(total);
        }
        let mut by_service: BTreeMap<WorkloadId, Vec<Placement>> = BTreeMap::new();
        for placement in read.service_placements_all().await? {
            by_service.entry(placement.workload_id).or_default().push(placement);
        }
        let mut hosts = self.hosts(&mut read, watching_since).await?;
        let settings = &self.config.placement;
        drop(read);
        for service in services {
            let placements = by_service.remove(&service.id).unwrap_or_default();
            let steps = spread::spread(
                &wish(&service),
                &seats(&service, &placements),
                &mut hosts,
                settings,
            );
            let is_gone = service.desired == Desired::Remove && placements.is_empty();
            let is_overdue = placements.iter().any(|p| self.is_overdue(p, &hosts));
            if !steps.is_empty() || is_gone || is_overdue {
                let done = self.place_service(service.id, watching_since).await?;
                total.added += done.added;
                total.told += done.told;
                total.leaving += done.leaving;
                total.released += done.released;
                total.removed += done.removed;
            }
        }
        Ok(total)
    }

    async fn place_service(
        &self,
        id: WorkloadId,
        watching_since: Timestamp,
    ) -> Result<ServicePlaceReport, Error> {
        let Outcome { report, nodes, placed } = self
            .store
            .tx("service_place", |tx| {
                Box::pin(async move {
                    let Some(service) = tx.service_get(id).await? else {
                        return Ok(Outcome::default());
                    };
                    let placements = tx.service_placements(&[id]).await?;
                    let mut hosts = self.hosts(tx, watching_since).await?;
                    let seats = seats(&service, &placements);
                    let settings = &self.config.placement;
                    let steps = spread::spread(&wish(&service), &seats, &mut hosts, settings);
                    let mut work = Work::new(self, &service, &hosts);
                    work.sort(&placements, &steps);
                    let overdue = placements.iter().filter(|p| self.is_overdue(p, &hosts));
                    work.told.extend(overdue.cloned());
                    work.write(tx).await
                })
            })
            .await?;
        for (trace, from, attributes) in placed {
            record_span(&trace, "placement", from, self.now(), attributes);
        }
        for node in nodes {
            self.links.wake(node);
        }
        if report.released > 0 {
            self.wakers.placement.wake();
        }
        self.notify_waiters([id]);
        self.feed.ring();
        Ok(report)
    }

    /// Every node that is not removed, as spreading sees it.
    pub(crate) async fn hosts(
        &self,
        read: &mut Conn,
        watching_since: Timestamp,
    ) -> Result<Vec<Host>, Error> {
        let counts = read.service_counts_by_node().await?;
        let nodes = read.node_list_all_present().await?;
        let mut offers: BTreeMap<NodeId, _> =
            offers(read).await?.into_iter().map(|offer| (offer.id, offer)).collect();
        let mut host = |node: &Node| Host {
            offer: offers.remove(&node.id).unwrap_or_else(|| NodeOffer::of(node)),
            is_draining: node.cordon.as_ref().is_some_and(|cordon| cordon.is_draining),
            is_away: self.is_away(node, watching_since),
            services: counts.get(&node.id).copied().unwrap_or_default(),
        };
        Ok(nodes.iter().map(&mut host).collect())
    }

    fn is_overdue(&self, placement: &Placement, hosts: &[Host]) -> bool {
        let is_online = |host: &&Host| host.offer.state == NodeState::Online;
        placement.desired == Desired::Remove
            && self.now().since(placement.time_modified) >= TOLD_AGAIN_AFTER
            && hosts.iter().filter(is_online).any(|host| host.offer.id == placement.node_id)
    }

    fn is_away(&self, node: &Node, watching_since: Timestamp) -> bool {
        let seen = node.lease.as_ref().map(|lease| lease.time_seen.max(watching_since));
        node.state == NodeState::Offline
            && seen.is_some_and(|seen| self.now().since(seen) >= self.config.replace_after)
    }
}

pub(crate) fn wish(service: &Service) -> Wish {
    Wish {
        workload_id: service.id,
        shape: Shape::of(service.project_id, &service.name, &service.spec),
        desired: service.desired,
        revision: service.revision,
    }
}

pub(crate) fn seats(service: &Service, placements: &[Placement]) -> Vec<Seat> {
    let seat = |placement: &Placement| Seat {
        placement_id: placement.id,
        node_id: placement.node_id,
        desired: placement.desired,
        revision: placement.revision,
        standing: Standing::of(placement.status.as_ref(), service.revision, &service.spec.mode),
    };
    placements.iter().map(seat).collect()
}

/// The steps of one service, sorted by what they write.
struct Work<'a> {
    control: &'a Control,
    service: &'a Service,
    hosts: &'a [Host],
    now: Timestamp,
    added: Vec<Placement>,
    told: Vec<Placement>,
    released: Vec<Placement>,
    events: Vec<NewEvent>,
    placed: Vec<Placed>,
    report: ServicePlaceReport,
}

impl<'a> Work<'a> {
    fn new(control: &'a Control, service: &'a Service, hosts: &'a [Host]) -> Work<'a> {
        Work {
            control,
            service,
            hosts,
            now: control.now(),
            added: Vec::new(),
            told: Vec::new(),
            released: Vec::new(),
            events: Vec::new(),
            placed: Vec::new(),
            report: ServicePlaceReport::default(),
        }
    }

    fn tell(&mut self, kind: EventKind, message: String) {
        let actor = self.control.system_actor();
        let project = Some(self.service.project_id);
        let event = self.control.event(kind, project, &object(self.service), actor, message);
        self.events.push(event.with_payload(RunPayload::of(&self.service.spec)));
    }

    fn node_name(&self, node: NodeId) -> String {
        let host = self.hosts.iter().find(|host| host.offer.id == node);
        host.map_or_else(|| node.to_string(), |host| host.offer.name.to_string())
    }

    fn sort(&mut self, placements: &[Placement], steps: &[Step]) {
        let find = |id: PlacementId| placements.iter().find(|p| p.id == id).cloned();
        for step in steps {
            match step {
                Step::Add { node, reservation } => {
                    self.added.push(self.placement(*node, reservation));
                    let name = self.node_name(*node);
                    let message = format!("given to node {name}");
                    self.placed.extend(self.service.trace.map(|trace| {
                        let workload = self.service.name.to_string();
                        let attributes =
                            vec![("hostler.workload", workload), ("hostler.node", name)];
                        (trace, self.service.time_modified, attributes)
                    }));
                    self.tell(EventKind::WorkloadPlaced, message);
                }
                Step::Tell { placement, desired, revision } => {
                    self.report.told += 1;
                    let (desired, revision) = (*desired, *revision);
                    let told = find(*placement).map(|p| {
                        let reservation = self.reservation(&p);
                        Placement { desired, revision, reservation, ..p }
                    });
                    self.told.extend(told);
                }
                Step::Leave { placement, why } => {
                    let Some(placement) = find(*placement) else { continue };
                    self.report.leaving += 1;
                    let node = self.node_name(placement.node_id);
                    let message = format!("taken from node {node}: {why}");
                    self.tell(EventKind::WorkloadUnplaced, message);
                    self.told.push(Placement { desired: Desired::Remove, ..placement });
                }
                Step::Release { placement } => self.released.extend(find(*placement)),
            }
        }
        self.report.added = self.added.len();
        self.report.released = self.released.len();
    }

    /// What it holds under the present spec. Which cores and devices are its own does not change while it
    /// stays where it is.
    fn reservation(&self, placement: &Placement) -> Reservation {
        let (asked, held) = (&self.service.spec.resources, &placement.reservation);
        if held.is_particular() {
            return held.clone();
        }
        let (cores, memory, disk) = (asked.cores, asked.memory, asked.disk);
        Reservation { cores, memory, disk, ..Reservation::default() }
    }

    fn placement(&self, node_id: NodeId, reservation: &Reservation) -> Placement {
        Placement {
            id: self.control.ids.fresh(),
            workload_id: self.service.id,
            project_id: self.service.project_id,
            node_id,
            run_id: None,
            desired: Desired::Run,
            desired_generation: Generation::ZERO,
            stop_grace: None,
            reservation: reservation.clone(),
            is_released: false,
            revision: self.service.revision,
            status: None,
            status_generation: Generation::ZERO,
            time_created: self.now,
            time_modified: self.now,
        }
    }

    async fn write(mut self, tx: &mut Tx<'_>) -> Result<Outcome, Error> {
        let added = std::mem::take(&mut self.added);
        let told = std::mem::take(&mut self.told);
        let mut nodes = BTreeSet::new();
        let added = self.number(tx, added, &mut nodes).await?;
        let told = self.number(tx, told, &mut nodes).await?;
        tx.placement_insert_batch(&added).await?;
        tx.service_placement_save_batch(&told).await?;
        self.release(tx).await?;
        if self.service.desired == Desired::Remove
            && tx.service_placements(&[self.service.id]).await?.is_empty()
        {
            let (id, generation) = (self.service.id, self.service.generation);
            tx.service_delete(id, generation).await?.required("workload", id)?;
            self.tell(EventKind::WorkloadRemoved, "nothing is left of it".to_owned());
            self.report.removed = 1;
        }
        if !self.events.is_empty() {
            tx.journal_append(&self.events, &[]).await?;
        }
        Ok(Outcome { report: self.report, nodes, placed: self.placed })
    }

    /// Gives each change the next desired generation of its node.
    async fn number(
        &self,
        tx: &mut Tx<'_>,
        placements: Vec<Placement>,
        nodes: &mut BTreeSet<NodeId>,
    ) -> Result<Vec<Placement>, Error> {
        let mut numbered = Vec::with_capacity(placements.len());
        for placement in placements {
            let node = placement.node_id;
            let Some(desired_generation) = tx.node_desired_bump(node, 1).await? else { continue };
            nodes.insert(node);
            let time_modified = self.now;
            numbered.push(Placement { desired_generation, time_modified, ..placement });
        }
        Ok(numbered)
    }

    /// What a removed node held is gone; runs that had not ended are lost.
    async fn release(&mut self, tx: &mut Tx<'_>) -> Result<(), Error> {
        let mut ids = Vec::new();
        let mut lost = Vec::new();
        for placement in std::mem::take(&mut self.released) {
            ids.push(placement.id);
            for run in tx.service_runs_live(placement.id).await? {
                lost.extend(observe::service::lost(&run, "its node was removed", self.now));
            }
            let name = tx.node_get(placement.node_id).await?.map(|node| node.name);
            let name = name.map_or_else(|| placement.node_id.to_string(), |name| name.to_string());
            self.tell(EventKind::WorkloadUnplaced, format!("node {name} was removed"));
        }
        tx.placement_release_batch(&ids, self.now).await?;
        tx.run_save_batch(&lost).await?;
        Ok(())
    }
}
