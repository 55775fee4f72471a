//! Lets go of the oldest part of the log of state, and of what is left of entries that it was about.

use std::time::Duration;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::state::{LogMark, Retention, cut};
use hostler_model::Error;
use serde::Serialize;

use super::pass;
use crate::Control;

/// Batches, and rows of entries, that go at once.
const BATCH: u32 = 1000;
const LEASE: Duration = Duration::from_secs(60);

pub struct StateCompact {
    control: Control,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateCompactReport {
    pub is_holder: bool,
    /// Batches of the log that went.
    pub batches: u64,
    /// Entries that were gone, of which nothing is left now.
    pub entries: u64,
}

impl Control {
    pub fn state_compact_reconciler(&self) -> StateCompact {
        StateCompact { control: self.clone() }
    }
}

impl StateCompact {
    async fn compact(&self) -> Result<Pass<StateCompactReport>, Error> {
        let control = &self.control;
        let now = control.now();
        let limits = &control.config.state;
        let retention = Retention { time: limits.log_retention, bytes: limits.log_max.get() };
        let report = control
            .store
            .tx("state_compact", |tx| {
                Box::pin(async move {
                    let until = now.plus(LEASE);
                    if !tx.lease_acquire("state_compact", control.server_id, now, until).await? {
                        return Ok(StateCompactReport::default());
                    }
                    let mut report =
                        StateCompactReport { is_holder: true, ..StateCompactReport::default() };
                    let head = tx.state_head().await?;
                    let oldest = tx.state_log_oldest(BATCH).await?;
                    let marks: Vec<LogMark> = oldest
                        .into_iter()
                        .map(|m| LogMark { last: m.last, time: m.time, logged: m.logged })
                        .collect();
                    if let Some(last) = cut(&marks, head, now, retention) {
                        report.batches = tx.state_log_cut(last).await?;
                    }
                    let first = tx.state_log_first().await?.unwrap_or(head.revision + 1);
                    report.entries = tx.state_forget_gone(first, BATCH).await?;
                    Ok::<_, Error>(report)
                })
            })
            .await?;
        let most = u64::from(BATCH);
        let is_full = report.batches >= most || report.entries >= most;
        Ok(Pass::done(report).again_if(is_full))
    }
}

impl Reconciler for StateCompact {
    const NAME: &'static str = "state_compact";
    const DESCRIPTION: &'static str = "lets go of old changes of state";
    type Report = StateCompactReport;

    async fn reconcile(&mut self) -> Pass<StateCompactReport> {
        pass(self.compact().await)
    }
}
