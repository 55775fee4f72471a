//! Placement: gives waiting tasks to nodes, a batch at a time.
//!
//! Snapshot, decision and writes happen in one serialisable transaction, so that two servers can never
//! give the same room, device or quota away twice.
//!
//! A pass looks at a bounded number of tasks: tasks that are alike once, and of those that are not so many
//! that the transaction stays short. Where more wait, the next pass begins with the head of every queue and
//! then goes on where this one stopped, so that nothing is hidden by what is before it. Where that was is
//! only remembered in memory; after a crash looking begins anew.
//!
//! A pass says when the next task may begin, or has waited too long, so that no delay is longer than asked.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use hostler_base::log::record_span;
use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::place::{self, Decision, Preemption};
use hostler_model::{
    Desired, Error, EventKind, Generation, Hindrance, NewEvent, NodeId, Placement as Record,
    PlacementId, Run, RunId, RunPayload, RunState, TaskEvent, Timestamp, TraceContext, Workload,
    WorkloadId,
};
use hostler_store::Tx;
use serde::Serialize;

use super::pass;
use super::scene::{Places, Stage, by_id};
use crate::{Control, service_object};

pub(super) struct Placement {
    control: Control,
    /// Where the last pass stopped looking.
    stopped: Places,
}

/// Tasks of each project that are decided about together: few at first, because a busy fleet has room for
/// few and reading costs more than deciding; more with every part that left room.
const LOOK_FIRST: u32 = 64;
const LOOK_MOST: u32 = 1024;

/// What a pass of placement came to.
struct Placed {
    report: PlacementReport,
    /// Enough was placed for one pass; there may be more.
    is_full: bool,
    stopped: Places,
    /// When something else may be placed or has waited too long.
    due: Option<Timestamp>,
}

/// What a pass of placement did.
#[derive(Debug, Default, Serialize)]
pub struct PlacementReport {
    pub looked_at: usize,
    pub placed: usize,
    /// Asked to give way.
    pub preempted: usize,
    /// Waited longer than they were to.
    pub given_up: usize,
}

impl Placement {
    pub(super) fn new(control: Control) -> Placement {
        Placement { control, stopped: Places::default() }
    }
}

impl Reconciler for Placement {
    const NAME: &'static str = "placement";
    const DESCRIPTION: &'static str = "gives waiting tasks to nodes";
    type Report = PlacementReport;

    async fn reconcile(&mut self) -> Pass<PlacementReport> {
        let stopped = std::mem::take(&mut self.stopped);
        let placed = self.control.place_from(&stopped).await;
        pass(placed.map(|Placed { report, is_full, stopped, due }| {
            let is_more = is_full || !stopped.is_empty();
            self.stopped = stopped;
            Pass::done(report).again_if(is_more).due_at(due)
        }))
    }
}

/// What a pass decided, with the tasks it is about.
#[derive(Default)]
struct Decided {
    report: PlacementReport,
    placed: Vec<(Workload, Decision)>,
    preempt: Vec<Preemption>,
    names: HashMap<NodeId, String>,
    stopped: Places,
    /// What keeps some of the others waiting.
    hindrances: Vec<Hindrance>,
}

impl Decided {
    /// What was placed of that which has a trace.
    fn traced(&self) -> Vec<Traced> {
        let traced = self.placed.iter().filter_map(|(task, decision)| {
            let node = self.names.get(&decision.node_id).cloned().unwrap_or_default();
            Some(Traced {
                trace: task.trace?,
                ready: task.time_ready.unwrap_or(task.time_created),
                attributes: vec![
                    ("hostler.task", task.name.to_string()),
                    ("hostler.node", node),
                    ("hostler.attempt", (task.attempts + 1).to_string()),
                ],
            })
        });
        traced.collect()
    }
}

/// A wait that is over, for its trace.
struct Traced {
    trace: TraceContext,
    ready: Timestamp,
    attributes: Vec<(&'static str, String)>,
}

impl Traced {
    fn record(self, placed: Timestamp) {
        record_span(&self.trace, "placement", self.ready, placed, self.attributes);
    }
}

impl Control {
    /// One pass of placement, from the head of every queue; says whether there may be more to do at once.
    pub async fn place_pending(&self) -> Result<(PlacementReport, bool), Error> {
        let placed = self.place_from(&Places::default()).await?;
        Ok((placed.report, placed.is_full))
    }

    async fn place_from(&self, begin: &Places) -> Result<Placed, Error> {
        let given_up = self.give_up_overdue().await?;
        let now = self.now();
        // The common case costs one indexed read.
        if self.store.read().await?.workload_queue_projects().await?.is_empty() {
            let report = PlacementReport { given_up, ..PlacementReport::default() };
            return Ok(Placed { report, is_full: false, stopped: Places::default(), due: None });
        }
        let asks_why = self.queue_tally.is_time_to_ask(self.clock.instant());
        let (mut report, nodes, changed, stopped, counted) = self
            .store
            .tx("placement", |tx| {
                Box::pin(async move {
                    let mut decided = self.decide(tx, now, begin, asks_why).await?;
                    let mut nodes = self.write_placements(tx, &decided).await?;
                    nodes.extend(self.write_preemptions(tx, &decided).await?);
                    let changed: Vec<WorkloadId> =
                        decided.placed.iter().map(|(task, _)| task.id).collect();
                    let waits = decided.placed.iter().filter(|(task, _)| task.attempts == 0);
                    let waits: Vec<Duration> = waits
                        .map(|(task, _)| now.since(task.time_ready.unwrap_or(task.time_created)))
                        .collect();
                    let counted =
                        (waits, std::mem::take(&mut decided.hindrances), decided.traced());
                    Ok::<_, Error>((decided.report, nodes, changed, decided.stopped, counted))
                })
            })
            .await?;
        self.queue_tally.placed(&counted.0);
        self.queue_tally.left(&counted.1);
        for traced in counted.2 {
            traced.record(now);
        }
        for node in nodes {
            self.links.wake(node);
        }
        if !changed.is_empty() || report.preempted > 0 {
            self.notify_waiters(changed);
            self.feed.ring();
        }
        report.given_up = given_up;
        let is_full = report.placed >= self.config.placement_batch;
        Ok(Placed { report, is_full, stopped, due: self.next_due(now).await? })
    }

    async fn next_due(&self, now: Timestamp) -> Result<Option<Timestamp>, Error> {
        let mut read = self.store.read().await?;
        let ready = read.workload_next_ready(now).await?;
        let give_up = read.workload_next_give_up().await?;
        Ok(ready.into_iter().chain(give_up).min())
    }

    /// Goes through what waits until there is no room left, or enough is placed or looked at: the head of
    /// every queue, then from `begin` on.
    async fn decide(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        begin: &Places,
        asks_why: bool,
    ) -> Result<Decided, Error> {
        let mut stage = Stage::open(tx, now, &self.config.placement).await?;
        let nodes = &stage.scene.nodes;
        let mut decided = Decided {
            names: nodes.iter().map(|node| (node.id, node.name.to_string())).collect(),
            ..Decided::default()
        };
        let mut look = LOOK_FIRST;
        loop {
            let tasks = stage.next(tx, look).await?;
            look = (look * 2).min(LOOK_MOST);
            if tasks.is_empty() {
                return Ok(decided);
            }
            decided.report.looked_at += tasks.len();
            stage.enqueue(tx, &tasks).await?;
            let plan = place::place(&mut stage.scene);
            let mut tasks = by_id(tasks);
            for decision in plan.placed {
                let Some(task) = tasks.remove(&decision.workload_id) else { continue };
                decided.placed.push((task, decision));
            }
            if asks_why && decided.hindrances.is_empty() {
                decided.hindrances = stage.hindrances(&tasks);
            }
            stage.pass_over(tasks.values());
            stage.skip_to(begin);
            decided.report.placed = decided.placed.len();
            decided.report.preempted += plan.preempt.len();
            decided.preempt.extend(plan.preempt);
            let is_enough = decided.report.placed >= self.config.placement_batch;
            if is_enough || !place::has_room(&stage.scene.nodes) {
                return Ok(decided);
            }
            if decided.report.looked_at >= self.config.placement_looks {
                decided.stopped = stage.places();
                return Ok(decided);
            }
        }
    }

    async fn write_placements(
        &self,
        tx: &mut Tx<'_>,
        decided: &Decided,
    ) -> Result<BTreeSet<NodeId>, Error> {
        let mut by_node: BTreeMap<NodeId, Vec<&(Workload, Decision)>> = BTreeMap::new();
        for one in &decided.placed {
            by_node.entry(one.1.node_id).or_default().push(one);
        }
        let mut work = Work::default();
        for (node_id, given) in by_node {
            let count = given.len() as u64;
            let Some(newest) = tx.node_desired_bump(node_id, count).await? else { continue };
            let mut generation = newest.get() - count;
            for (task, decision) in given {
                generation += 1;
                let desired_generation = Generation::from_u64(generation);
                self.place_one(task, decision, desired_generation, &decided.names, &mut work);
            }
            work.nodes.insert(node_id);
        }
        if work.placements.is_empty() {
            return Ok(work.nodes);
        }
        let again: Vec<WorkloadId> =
            work.tasks.iter().filter(|task| task.attempts > 1).map(|task| task.id).collect();
        for task in again {
            self.fence(tx, task, &mut work.nodes).await?;
        }
        tx.workload_save_batch(&work.tasks).await?;
        tx.placement_insert_batch(&work.placements).await?;
        tx.run_insert_batch(&work.runs).await?;
        tx.journal_append(&work.events, &[]).await?;
        Ok(work.nodes)
    }

    fn place_one(
        &self,
        task: &Workload,
        decision: &Decision,
        desired_generation: Generation,
        names: &HashMap<NodeId, String>,
        work: &mut Work,
    ) {
        let now = self.now();
        let placement_id: PlacementId = self.ids.fresh();
        let run_id: RunId = self.ids.fresh();
        let placed = TaskEvent::Placed { placement: placement_id };
        let Ok(state) = task.state.apply(task.desired, placed) else { return };
        let attempts = task.attempts + 1;
        work.tasks.push(Workload {
            state,
            attempts,
            generation: task.generation.next(),
            time_modified: now,
            ..task.clone()
        });
        work.placements.push(Record {
            id: placement_id,
            workload_id: task.id,
            project_id: task.project_id,
            node_id: decision.node_id,
            run_id: Some(run_id),
            desired: Desired::Run,
            desired_generation,
            stop_grace: None,
            reservation: decision.reservation.clone(),
            is_released: false,
            revision: Generation::ZERO,
            status: None,
            status_generation: Generation::ZERO,
            time_created: now,
            time_modified: now,
        });
        work.runs.push(Run {
            id: run_id,
            placement_id,
            workload_id: task.id,
            project_id: task.project_id,
            node_id: decision.node_id,
            attempt: attempts,
            cause: None,
            fire: None,
            state: RunState::Assigned,
            report_generation: Generation::ZERO,
            time_created: now,
            time_started: None,
            time_ended: None,
        });
        let node = names.get(&decision.node_id).map(String::as_str).unwrap_or_default();
        let event = self.event(
            EventKind::TaskAssigned,
            Some(task.project_id),
            &service_object(task),
            self.system_actor(),
            format!("given to node {node}"),
        );
        work.events.push(event.with_payload(RunPayload {
            node: node.parse().ok(),
            run: Some(run_id),
            ..RunPayload::of(&task.spec)
        }));
    }

    /// A task that is tried again somewhere else is stopped wherever it was before: should its node
    /// come back with it, it must not go on there.
    async fn fence(
        &self,
        tx: &mut Tx<'_>,
        task: WorkloadId,
        nodes: &mut BTreeSet<NodeId>,
    ) -> Result<(), Error> {
        for placement in tx.placement_by_workload(task).await? {
            if !placement.is_released && placement.desired != Desired::Stop {
                nodes.extend(self.stop_placement(tx, placement).await?);
            }
        }
        Ok(())
    }

    async fn stop_placement(
        &self,
        tx: &mut Tx<'_>,
        placement: Record,
    ) -> Result<Option<NodeId>, Error> {
        let node = placement.node_id;
        let Some(desired_generation) = tx.node_desired_bump(node, 1).await? else {
            return Ok(None);
        };
        let time_modified = self.now();
        let stopped =
            Record { desired: Desired::Stop, desired_generation, time_modified, ..placement };
        tx.placement_update(&stopped).await?.required("placement", stopped.id)?;
        Ok(Some(node))
    }

    /// Asks those that have to give way to stop; they go back into the queue when they have.
    async fn write_preemptions(
        &self,
        tx: &mut Tx<'_>,
        decided: &Decided,
    ) -> Result<BTreeSet<NodeId>, Error> {
        let mut nodes = BTreeSet::new();
        let mut events: Vec<NewEvent> = Vec::new();
        for preemption in &decided.preempt {
            let Some(task) = tx.workload_get(preemption.victim).await? else { continue };
            let Some(placement) = task.state.placement() else { continue };
            let Some(placement) = tx.placement_get(placement).await? else { continue };
            if placement.is_released || placement.desired == Desired::Stop {
                continue;
            }
            nodes.extend(self.stop_placement(tx, placement).await?);
            let event = self.event(
                EventKind::TaskKillRequested,
                Some(task.project_id),
                &service_object(&task),
                self.system_actor(),
                "gives way to a task of higher priority",
            );
            events.push(event.with_payload(RunPayload::of(&task.spec)));
        }
        if !events.is_empty() {
            tx.journal_append(&events, &[]).await?;
        }
        Ok(nodes)
    }
}

/// What is written for one pass.
#[derive(Default)]
struct Work {
    tasks: Vec<Workload>,
    placements: Vec<Record>,
    runs: Vec<Run>,
    events: Vec<NewEvent>,
    nodes: BTreeSet<NodeId>,
}
