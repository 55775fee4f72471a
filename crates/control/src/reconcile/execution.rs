//! Carries executions of workflows on: those with a job that ended, and those whose time has come.

use std::sync::atomic::Ordering;
use std::time::Duration;

use hostler_base::chain::chain;
use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::{Error, ExecutionId, Timestamp};
use serde::Serialize;

use super::pass;
use crate::Control;

const BATCH: u32 = 256;
/// One that cannot be carried on waits so long before it is tried again.
const REST: Duration = Duration::from_secs(10);

pub(super) struct ExecutionAdvance {
    control: Control,
}

/// What a pass over executions did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExecutionReport {
    pub looked_at: usize,
    pub moved: usize,
    pub failed: usize,
}

impl ExecutionAdvance {
    pub(super) fn new(control: Control) -> ExecutionAdvance {
        ExecutionAdvance { control }
    }
}

impl Reconciler for ExecutionAdvance {
    const NAME: &'static str = "execution";
    const DESCRIPTION: &'static str = "carries executions of workflows on";
    type Report = ExecutionReport;

    async fn reconcile(&mut self) -> Pass<ExecutionReport> {
        let advanced = self.control.advance_executions().await;
        pass(
            advanced.map(|(report, due)| Pass::done(report).again_if(report.moved > 0).due_at(due)),
        )
    }
}

impl Control {
    /// Looks at every execution that wants it; says too when the next one will.
    pub async fn advance_executions(&self) -> Result<(ExecutionReport, Option<Timestamp>), Error> {
        let wanting = self.store.read().await?.execution_wanting(self.now(), BATCH).await?;
        let mut report = ExecutionReport { looked_at: wanting.len(), ..Default::default() };
        for id in wanting {
            match Box::pin(self.execution_advance(id)).await {
                Ok(moved) => report.moved += usize::from(moved),
                Err(error) => {
                    report.failed += 1;
                    tracing::warn!(execution = %id, error = %chain(&error), "execution cannot be carried on");
                    self.execution_postpone(id).await?;
                }
            }
        }
        let (is_any_open, due) = self.store.read().await?.execution_next_due().await?;
        self.has_executions.store(is_any_open, Ordering::Relaxed);
        Ok((report, due))
    }

    async fn execution_postpone(&self, id: ExecutionId) -> Result<(), Error> {
        let at = self.now().plus(REST);
        self.store
            .tx("execution_postpone", |tx| {
                Box::pin(async move {
                    let Some(mut known) = tx.execution_get(id).await? else { return Ok(()) };
                    let expected = known.generation;
                    known.time_due = Some(at);
                    tx.execution_update(&known, expected).await?.required("execution", id)?;
                    Ok::<_, Error>(())
                })
            })
            .await
    }
}
