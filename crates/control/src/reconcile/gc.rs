//! Lets go of what is old: events, ended tasks and executions, runs and places that services left behind,
//! idempotency keys, expired sessions, and content that nothing needs.

use std::time::Duration;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::{Error, TallyKind, Timestamp};
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
const BATCH: u32 = 200;

pub(super) struct Gc {
    control: Control,
}

#[derive(Default, Serialize)]
pub(super) struct Report {
    is_holder: bool,
    events: u64,
    tasks: usize,
    executions: u64,
    runs: u64,
    placements: u64,
    keys: u64,
    sessions: u64,
    ways_in: u64,
    blobs: u64,
    chunks: u64,
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
                    let (pruned, runs) = tx.service_run_prune(BATCH).await?;
                    let left =
                        tx.service_placements_left_before(now.minus(retention), BATCH).await?;
                    report.placements = tx.service_placement_delete_batch(&left).await?;
                    report.runs = runs;
                    tx.blob_use_delete_left(BATCH).await?;
                    tx.blob_grant_delete_expired(now).await?;
                    tx.approval_delete_before(now.minus(retention), BATCH).await?;
                    let unused = now.minus(control.config.blobs.retention);
                    report.blobs = tx.blob_delete_unused(unused, BATCH).await?;
                    report.chunks = tx.chunk_delete_unused(now.minus(CHUNK_KEEP), BATCH).await?;
                    let removed = [report.executions, report.blobs, report.chunks];
                    report.is_full = [report.tasks, pruned, left.len()]
                        .into_iter()
                        .any(|count| count >= BATCH as usize)
                        || removed.into_iter().any(|count| count >= u64::from(BATCH));
                    Ok::<_, Error>(report)
                })
            })
            .await?;
        let is_full = report.is_full;
        Ok(Pass::done(report).again_if(is_full))
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
