//! Takes what agents say: of runs, and of how the placements of services stand.
//!
//! A batch is one transaction with a handful of statements, however long it is; what its reports do is
//! decided in memory before anything is written. An agent is answered only once everything is in the
//! database, so it may repeat itself and so may the network.

use std::collections::{BTreeMap, HashMap};

use hostler_engine::observe::{self, Outcome};
use hostler_model::{
    Actor, ActorKind, Desired, Error, EventKind, Generation, NewEvent, NodeId, ObjectKind,
    ObjectRef, Phase, Placement, PlacementId, PlacementStatus, PrincipalId, ProjectId, Report,
    ReportState, Run, RunId, RunPayload, StatusReport, TaskStateKind, Timestamp, Workload,
    WorkloadId,
};
use hostler_store::{Account, RUNS_KEPT, RunContext, ServicePlacement, Tx, Used};

use crate::ends::Moved;
use crate::{Control, service_object};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportAck {
    pub run_id: RunId,
    pub generation: Generation,
    /// There is no such run (for this node); the agent may let go of it.
    pub is_unknown: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusAck {
    pub placement_id: PlacementId,
    pub generation: Generation,
    /// There is no such placement (for this node); the agent may let go of it.
    pub is_unknown: bool,
}

const UNTOLD: &str = "its node let go of it before its end was told";

impl Control {
    /// Takes an agent's reports. Answered only once they are in the database.
    pub async fn node_report(
        &self,
        node_id: NodeId,
        reports: &[Report],
    ) -> Result<Vec<ReportAck>, Error> {
        if reports.is_empty() {
            return Ok(Vec::new());
        }
        let (acks, changed, released, follow) = self
            .store
            .tx("node_report", |tx| {
                Box::pin(async move {
                    let (made, given): (Vec<&Report>, Vec<&Report>) =
                        reports.iter().partition(|report| report.origin.is_some());
                    let ids: Vec<RunId> = given.iter().map(|report| report.run_id).collect();
                    let known = tx.run_context(&ids).await?;
                    let mut services = Services::read(tx, &made).await?;
                    let before: HashMap<WorkloadId, TaskStateKind> = known
                        .iter()
                        .map(|context| (context.workload.id, context.workload.state.kind()))
                        .collect();
                    let mut known: HashMap<RunId, RunContext> =
                        known.into_iter().map(|context| (context.run.id, context)).collect();
                    let actor = actor(tx, node_id).await?;
                    let mut news = News::default();
                    let mut acks = Vec::with_capacity(reports.len());
                    for report in reports {
                        let (run_id, generation) = (report.run_id, report.generation);
                        if report.origin.is_some() {
                            let is_unknown =
                                !self.service_take(&mut services, node_id, report, &actor, &mut news);
                            acks.push(ReportAck { run_id, generation, is_unknown });
                            continue;
                        }
                        let context = known.get_mut(&report.run_id).filter(|context| {
                            context.run.node_id == node_id
                                && context.run.placement_id == report.placement_id
                        });
                        let is_unknown = context.is_none();
                        match context {
                            Some(context) => self.report_take(context, report, &actor, &mut news),
                            None => {
                                tracing::warn!(%node_id, %run_id, "report about a run that is not this node's");
                            }
                        }
                        acks.push(ReportAck { run_id, generation, is_unknown });
                    }
                    news.write(tx, self.now()).await?;
                    let follow = self.follow_ends(tx, news.moved(&before)).await?;
                    let made = news.made.values().map(|run| run.workload_id);
                    let changed: Vec<WorkloadId> =
                        news.workloads.keys().copied().chain(made).collect();
                    Ok::<_, Error>((acks, changed, !news.released.is_empty(), follow))
                })
            })
            .await?;
        if released {
            self.wakers.placement.wake();
        }
        self.after_ends(follow);
        if !changed.is_empty() {
            self.notify_waiters(changed);
            self.feed.ring();
        }
        Ok(acks)
    }

    /// Applies one report to what is known, in memory; `news` is written once for the whole batch.
    fn report_take(
        &self,
        context: &mut RunContext,
        report: &Report,
        actor: &Actor,
        news: &mut News,
    ) {
        // Another report of this batch may have changed the task.
        if let Some(changed) = news.workloads.get(&context.workload.id) {
            context.workload = changed.clone();
        }
        let RunContext { run, placement, workload } = &*context;
        let change = match observe::report(run, placement, workload, report, self.now()) {
            Outcome::Known => return,
            Outcome::Changed(change) => *change,
        };
        if change.placement.is_released && !placement.is_released {
            news.released.push(placement.id);
            news.account(&change.run, placement, workload);
        }
        let object = service_object(workload);
        let project = Some(workload.project_id);
        let payload = RunPayload {
            node: actor.name.parse().ok(),
            run: Some(run.id),
            tags: workload.spec.tags.clone(),
            ..RunPayload::default()
        };
        news.events.extend(change.events.into_iter().map(|(kind, message)| {
            let payload = payload.clone();
            let payload = match &report.state {
                ReportState::Exited { exit, .. } if tells_of_an_end(kind) => payload.ended(exit),
                _ => payload,
            };
            self.event(kind, project, &object, actor.clone(), message).with_payload(payload)
        }));
        news.runs.insert(run.id, change.run.clone());
        if let Some(mut changed) = change.workload {
            // However many reports of a batch move a task on, its row is written once.
            let is_first = !news.workloads.contains_key(&changed.id);
            if !is_first {
                changed.generation = workload.generation;
            }
            context.workload = changed.clone();
            news.workloads.insert(changed.id, changed);
        }
        context.run = change.run;
        context.placement = change.placement;
    }

    /// Applies a report about a run that the agent made; false when it is about no placement of the
    /// node's.
    fn service_take(
        &self,
        services: &mut Services,
        node_id: NodeId,
        report: &Report,
        actor: &Actor,
        news: &mut News,
    ) -> bool {
        let seat = services.placements.get(&report.placement_id);
        let Some(seat) = seat.filter(|seat| seat.placement.node_id == node_id) else {
            return false;
        };
        let known = services.runs.get(&report.run_id);
        if known.is_some_and(|run| run.placement_id != report.placement_id) {
            return false;
        }
        let newest = services.newest.entry(report.placement_id).or_default();
        let oldest = (*newest + 1).saturating_sub(RUNS_KEPT);
        let now = self.now();
        let change = observe::service::report(known, &seat.placement, oldest, report, now);
        if let Some(change) = change {
            *newest = change.run.attempt.max(*newest);
            news.tell(self, seat, actor, change.events);
            news.made.insert(change.run.id, change.run.clone());
            services.runs.insert(change.run.id, change.run);
        }
        true
    }

    /// Takes how the placements of services stand on a node. Answered only once it is in the database.
    pub async fn node_status(
        &self,
        node_id: NodeId,
        reports: &[StatusReport],
    ) -> Result<Vec<StatusAck>, Error> {
        if reports.is_empty() {
            return Ok(Vec::new());
        }
        let (acks, changed, released) = self
            .store
            .tx("node_status", |tx| {
                Box::pin(async move {
                    let ids: Vec<PlacementId> = reports.iter().map(|r| r.placement_id).collect();
                    let mut known = seats(tx, &ids).await?;
                    let actor = actor(tx, node_id).await?;
                    let mut news = News::default();
                    let mut acks = Vec::with_capacity(reports.len());
                    for report in reports {
                        let (placement_id, generation) = (report.placement_id, report.generation);
                        let seat = known.get_mut(&placement_id);
                        let seat = seat.filter(|seat| seat.placement.node_id == node_id);
                        let is_unknown = seat.is_none();
                        if let Some(seat) = seat {
                            self.status_take(seat, report, &actor, &mut news);
                        }
                        acks.push(StatusAck { placement_id, generation, is_unknown });
                    }
                    // Nothing is left there: a run whose end was not told will not be told of any more.
                    for placement in &news.released {
                        for run in tx.service_runs_live(*placement).await? {
                            let lost = observe::service::lost(&run, UNTOLD, self.now());
                            news.runs.extend(lost.map(|run| (run.id, run)));
                        }
                    }
                    news.write(tx, self.now()).await?;
                    let changed = news.standing.keys().filter_map(|id| known.get(id));
                    let changed: Vec<WorkloadId> =
                        changed.map(|seat| seat.placement.workload_id).collect();
                    Ok::<_, Error>((acks, changed, !news.released.is_empty()))
                })
            })
            .await?;
        if released {
            self.wakers.placement.wake();
            self.wakers.service_place.wake();
        }
        if !changed.is_empty() {
            self.notify_waiters(changed);
            self.feed.ring();
        }
        Ok(acks)
    }

    fn status_take(
        &self,
        seat: &mut ServicePlacement,
        report: &StatusReport,
        actor: &Actor,
        news: &mut News,
    ) {
        let placement = &mut seat.placement;
        if report.generation <= placement.status_generation {
            return;
        }
        let events = observe::service::status(placement.status.as_ref(), &report.status);
        placement.status = Some(report.status.clone());
        placement.status_generation = report.generation;
        let is_gone = placement.desired == Desired::Remove && report.status.phase == Phase::Removed;
        if is_gone && !placement.is_released {
            placement.is_released = true;
            news.released.push(placement.id);
        }
        news.standing.insert(placement.id, (report.generation, report.status.clone()));
        news.tell(self, seat, actor, events);
    }
}

/// Whether it tells of how a run ended; one report can tell that it began, too.
const fn tells_of_an_end(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::TaskCompleted
            | EventKind::TaskFailed
            | EventKind::TaskKilled
            | EventKind::TaskLost
            | EventKind::TaskOom
            | EventKind::TaskRetried
            | EventKind::TaskStopped
    )
}

/// What is known of services that a batch of reports speaks of.
#[derive(Default)]
struct Services {
    placements: HashMap<PlacementId, ServicePlacement>,
    runs: HashMap<RunId, Run>,
    /// The number of the newest run of each placement.
    newest: BTreeMap<PlacementId, u32>,
}

impl Services {
    async fn read(tx: &mut Tx<'_>, reports: &[&Report]) -> Result<Services, Error> {
        if reports.is_empty() {
            return Ok(Services::default());
        }
        let runs: Vec<RunId> = reports.iter().map(|report| report.run_id).collect();
        let mut placements: Vec<PlacementId> = reports.iter().map(|r| r.placement_id).collect();
        placements.sort_unstable();
        placements.dedup();
        let runs = tx.service_runs_get(&runs).await?;
        Ok(Services {
            placements: seats(tx, &placements).await?,
            runs: runs.into_iter().map(|run| (run.id, run)).collect(),
            newest: tx.service_runs_newest(&placements).await?,
        })
    }
}

async fn seats(
    tx: &mut Tx<'_>,
    ids: &[PlacementId],
) -> Result<HashMap<PlacementId, ServicePlacement>, Error> {
    let found = tx.service_placement_context(ids).await?;
    Ok(found.into_iter().map(|seat| (seat.placement.id, seat)).collect())
}

async fn actor(tx: &mut Tx<'_>, node_id: NodeId) -> Result<Actor, Error> {
    let name = tx.node_get(node_id).await?.map(|node| node.name.to_string());
    Ok(Actor { kind: ActorKind::Node, name: name.unwrap_or_else(|| node_id.to_string()) })
}

/// What a batch of reports changes.
#[derive(Default)]
struct News {
    runs: BTreeMap<RunId, Run>,
    released: Vec<PlacementId>,
    workloads: BTreeMap<WorkloadId, Workload>,
    /// Runs that agents made.
    made: BTreeMap<RunId, Run>,
    standing: BTreeMap<PlacementId, (Generation, PlacementStatus)>,
    used: BTreeMap<(ProjectId, PrincipalId, i64), Used>,
    events: Vec<NewEvent>,
}

impl News {
    /// Tasks that are in another state than before.
    fn moved(&self, before: &HashMap<WorkloadId, TaskStateKind>) -> Vec<Moved> {
        let moved = self.workloads.values().filter_map(|task| {
            let before = *before.get(&task.id)?;
            (before != task.state.kind()).then(|| Moved { before, task: task.clone() })
        });
        moved.collect()
    }

    /// Counts what a run of a task used: what was reserved, for as long as it was.
    fn account(&mut self, run: &Run, placement: &Placement, task: &Workload) {
        const DAY: i64 = 86_400_000_000;
        let (Some(started), Some(ended)) = (run.time_started, run.time_ended) else { return };
        let millis = |length: std::time::Duration| u64::try_from(length.as_millis()).unwrap_or(0);
        let ran = millis(ended.since(started));
        let held = &placement.reservation;
        let gpus: u64 = held.gpus.iter().map(|gpu| u64::from(gpu.share.millis())).sum();
        let key = (task.project_id, task.created_by, ended.micros().div_euclid(DAY));
        *self.used.entry(key).or_default() += Used {
            tasks: 1,
            core_milliseconds: ran * u64::from(held.cores.millis()) / 1000,
            gpu_milliseconds: ran * gpus / 1000,
            memory_mib_seconds: ran * (held.memory.get() >> 20) / 1000,
            wait_milliseconds: millis(started.since(task.time_ready.unwrap_or(task.time_created))),
            run_milliseconds: ran,
        };
    }

    fn tell(
        &mut self,
        control: &Control,
        seat: &ServicePlacement,
        actor: &Actor,
        events: Vec<(EventKind, String)>,
    ) {
        let placement = &seat.placement;
        let object =
            ObjectRef::new(ObjectKind::Workload, placement.workload_id, &seat.workload_name);
        let project = Some(placement.project_id);
        let payload = RunPayload { node: actor.name.parse().ok(), ..RunPayload::default() };
        self.events.extend(events.into_iter().map(|(kind, message)| {
            control
                .event(kind, project, &object, actor.clone(), message)
                .with_payload(payload.clone())
        }));
    }

    async fn write(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<(), Error> {
        let runs: Vec<Run> = self.runs.values().cloned().collect();
        let workloads: Vec<Workload> = self.workloads.values().cloned().collect();
        tx.run_save_batch(&runs).await?;
        tx.placement_release_batch(&self.released, now).await?;
        tx.workload_save_batch(&workloads).await?;
        let made: Vec<Run> = self.made.values().cloned().collect();
        tx.service_run_put_batch(&made).await?;
        let standing: Vec<_> = self
            .standing
            .iter()
            .map(|(id, (generation, status))| (*id, *generation, status.clone()))
            .collect();
        tx.service_status_save_batch(&standing).await?;
        let lines: Vec<Account> = self
            .used
            .iter()
            .map(|((project_id, principal_id, day), used)| Account {
                project_id: *project_id,
                principal_id: *principal_id,
                day: *day,
                used: *used,
            })
            .collect();
        tx.account_add(&lines).await?;
        if !self.events.is_empty() {
            tx.journal_append(&self.events, &[]).await?;
        }
        Ok(())
    }
}
