//! Lets go of what is old: events, ended tasks and executions, stacks that are gone, what became of the times of schedules, runs and
//! places that services left behind, idempotency keys, expired sessions, locks that nobody uses, deliveries of hooks,
//! and content that nothing needs.

use std::time::Duration;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::{DeliveryState, Error, OnDead, TallyKind, Timestamp};
use hostler_store::Tx;
use serde::Serialize;

use super::pass;
use crate::Control;

/// How long an idempotency key is remembered.
const IDEMPOTENCY_KEEP: Duration = Duration::from_secs(86_400);
/// Events kept however old they are.
const EVENTS_KEEP_MIN: u64 = 10_000;
/// How long a chunk that no blob has waits for one.
const CHUNK_KEEP: Duration = Duration::from_hours(24);
/// How long an invitation is remembered after its end.
const INVITATION_KEEP: Duration = Duration::from_hours(30 * 24);
/// How long a lock that nobody uses is remembered, with those who held it.
const LOCK_KEEP: Duration = Duration::from_hours(24);
/// How long it is remembered what services use on a node that says nothing any more.
const USAGE_KEEP: Duration = Duration::from_hours(24);
const BATCH: u32 = 200;
/// How long deliveries of hooks that were done are remembered...
const HOOK_DONE_KEEP: Duration = Duration::from_hours(7 * 24);
/// ...and how many of each hook at most.
const HOOK_DONE_MAX: u64 = 1000;
/// How long a dead letter waits for somebody.
const HOOK_DEAD_KEEP: Duration = Duration::from_hours(30 * 24);
/// What is kept of the history of each stack.
const STACK_EVENTS_KEEP: u64 = 50_000;
/// How long it is remembered which changes of stacks were planned, after nobody can carry them out any more.
const STACK_PLAN_KEEP: Duration = Duration::from_hours(7 * 24);
/// Deliveries forgotten in one pass, of each kind.
const HOOK_BATCH: u64 = 2000;

pub(super) struct Gc {
    control: Control,
}

#[derive(Default, Serialize)]
pub(super) struct Report {
    is_holder: bool,
    events: u64,
    tasks: usize,
    executions: u64,
    fires: u64,
    runs: u64,
    placements: u64,
    keys: u64,
    sessions: u64,
    ways_in: u64,
    blobs: u64,
    chunks: u64,
    objects: u64,
    locks: u64,
    deliveries: u64,
    stacks: u64,
    stack_events: u64,
    stack_plans: u64,
    #[serde(skip)]
    is_full: bool,
}

/// Invitations and resets that have ended, and logins that failed long ago.
async fn ways_in_forget(control: &Control, tx: &mut Tx<'_>, now: Timestamp) -> Result<u64, Error> {
    let rules = &control.config.login_rules;
    let mut gone = tx.invitation_delete_before(now.minus(INVITATION_KEEP)).await?;
    gone += tx.password_reset_delete_expired(now).await?;
    for kind in TallyKind::ALL {
        let keep = if *kind == TallyKind::Known { rules.known } else { rules.forget };
        gone += tx.login_tally_delete_before(*kind, now.minus(keep)).await?;
    }
    Ok(gone)
}

/// Deliveries of hooks that ended long ago, or beyond what is kept of each, and what hooks began once.
async fn hooks_forget(control: &Control, tx: &mut Tx<'_>, now: Timestamp) -> Result<u64, Error> {
    let hooks = tx.event_hooks_enabled().await?;
    let mut gone = 0;
    for hook in &hooks {
        gone += tx.hook_delivery_prune_done(hook.id, HOOK_DONE_MAX, HOOK_BATCH).await?;
    }
    let old = now.minus(HOOK_DONE_KEEP);
    let done = tx.hook_delivery_delete_before(DeliveryState::Done, old, HOOK_BATCH).await?;
    let old = now.minus(HOOK_DEAD_KEEP);
    let dead = tx.hook_delivery_delete_before(DeliveryState::Dead, old, HOOK_BATCH).await?;
    for line in &dead {
        let hook = hooks.iter().find(|hook| hook.id == line.hook);
        let on_dead = hook.map_or(OnDead::Continue, |hook| hook.spec.on_dead);
        tx.hook_line_advance(line, on_dead, now).await?;
    }
    let begun = now.minus(control.config.task_retention);
    gone += tx.hook_cause_delete_before(begun, BATCH).await?;
    Ok(gone + (done.len() + dead.len()) as u64)
}

impl Gc {
    pub(super) fn new(control: Control) -> Gc {
        Gc { control }
    }

    async fn collect(&self) -> Result<Pass<Report>, Error> {
        let control = &self.control;
        let now = control.now();
        let report = control
            .store
            .tx("gc", |tx| {
                Box::pin(async move {
                    if !tx
                        .lease_acquire(
                            "gc",
                            control.server_id,
                            now,
                            now.plus(Duration::from_secs(120)),
                        )
                        .await?
                    {
                        return Ok(Report::default());
                    }
                    let mut report = Report { is_holder: true, ..Report::default() };
                    report.events = tx
                        .event_compact(now.minus(control.config.event_retention), EVENTS_KEEP_MIN)
                        .await?;
                    report.keys = tx.idempotency_delete_before(now.minus(IDEMPOTENCY_KEEP)).await?;
                    report.sessions = tx.web_session_delete_expired(now).await?;
                    let idle = now.minus(control.config.web_session_idle);
                    report.sessions += tx.web_session_delete_idle(idle).await?;
                    report.ways_in = ways_in_forget(control, tx, now).await?;
                    report.deliveries = hooks_forget(control, tx, now).await?;
                    for id in tx
                        .workload_settled_before(now.minus(control.config.task_retention), BATCH)
                        .await?
                    {
                        if tx.workload_delete(id).await?.is_updated() {
                            report.tasks += 1;
                        }
                    }
                    let retention = control.config.task_retention;
                    report.executions =
                        tx.execution_delete_old(now.minus(retention), BATCH).await?;
                    report.stacks = tx.stack_delete_old(now.minus(retention), BATCH).await?;
                    report.stack_plans =
                        tx.stack_plan_delete_old(now.minus(STACK_PLAN_KEEP), BATCH).await?;
                    report.stack_events = tx.stack_event_trim(STACK_EVENTS_KEEP, BATCH).await?;
                    let old = now.minus(control.config.schedule_retention);
                    let keep = control.config.schedule_history;
                    let (fires, has_fires) = tx.schedule_fire_prune(old, keep, BATCH).await?;
                    report.fires = fires;
                    let (pruned, runs) = tx.service_run_prune(BATCH).await?;
                    let left =
                        tx.service_placements_left_before(now.minus(retention), BATCH).await?;
                    report.placements = tx.service_placement_delete_batch(&left).await?;
                    report.runs = runs;
                    tx.blob_use_delete_left(BATCH).await?;
                    tx.blob_grant_delete_expired(now).await?;
                    tx.node_usage_delete_before(now.minus(USAGE_KEEP)).await?;
                    tx.approval_delete_before(now.minus(retention), BATCH).await?;
                    let unused = now.minus(control.config.blobs.retention);
                    report.blobs = tx.blob_delete_unused(unused, BATCH).await?;
                    report.chunks = tx.chunk_delete_unused(now.minus(CHUNK_KEEP), BATCH).await?;
                    report.locks = tx.lock_delete_idle(now.minus(LOCK_KEEP), BATCH).await?;
                    let removed = [
                        report.executions,
                        report.stacks,
                        report.stack_plans,
                        report.blobs,
                        report.chunks,
                        report.locks,
                        report.deliveries,
                    ];
                    report.is_full = [report.tasks, pruned, left.len()]
                        .into_iter()
                        .any(|count| count >= BATCH as usize)
                        || has_fires
                        || removed.into_iter().any(|count| count >= u64::from(BATCH));
                    Ok::<_, Error>(report)
                })
            })
            .await?;
        let mut report = report;
        if report.is_holder {
            report.objects = control.backup_objects_collect().await?;
        }
        let is_full = report.is_full;
        Ok(Pass::done(report).again_if(is_full))
    }
}

impl Control {
    /// One pass over what is past its retention, now.
    pub async fn collect_now(&self) -> Result<(), Error> {
        Gc::new(self.clone()).collect().await.map(drop)
    }
}

impl Reconciler for Gc {
    const NAME: &'static str = "gc";
    const DESCRIPTION: &'static str = "removes what is past its retention";
    type Report = Report;

    async fn reconcile(&mut self) -> Pass<Report> {
        pass(self.collect().await)
    }
}
