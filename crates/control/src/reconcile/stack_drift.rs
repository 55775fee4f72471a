//! Looks for drift of the stacks for which that was chosen, each as often as was chosen for it.
//!
//! Every server does it; what was found is kept only by the one that comes first, and only that one tells of it.

use futures::StreamExt;
use hostler_base::chain::chain;
use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::{Error, Limit, StackId, Timestamp};
use hostler_store::{StackFilter, StackOrder};
use serde::Serialize;

use super::pass;
use crate::Control;

/// Stacks that are looked at side by side.
const TOGETHER: usize = 4;

/// The loop that looks for drift.
pub struct StackDriftWatch {
    control: Control,
}

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StackDriftReport {
    /// Stacks for which it was chosen.
    pub chosen: usize,
    pub looked_at: usize,
    pub failed: usize,
}

impl Control {
    /// A reconciler of drift for this server; tests advance it by hand.
    pub fn stack_drift_reconciler(&self) -> StackDriftWatch {
        StackDriftWatch { control: self.clone() }
    }
}

impl Reconciler for StackDriftWatch {
    const NAME: &'static str = "stack-drift";
    const DESCRIPTION: &'static str =
        "looks whether objects of stacks are as their templates say, where that was chosen";
    type Report = StackDriftReport;

    async fn reconcile(&mut self) -> Pass<StackDriftReport> {
        pass(self.look().await)
    }
}

impl StackDriftWatch {
    /// Looks at every stack whose time has come.
    pub async fn look(&mut self) -> Result<Pass<StackDriftReport>, Error> {
        let mut report = StackDriftReport::default();
        let mut next: Option<Timestamp> = None;
        let mut after: Option<String> = None;
        loop {
            let filter = StackFilter { looks_for_drift: true, ..StackFilter::default() };
            let order = StackOrder { keys: &[], is_ascending: true };
            let mut read = self.control.store.read().await?;
            let page = read.stack_list(filter, order, after.as_deref(), Limit::LARGEST).await?;
            let ids: Vec<StackId> = page.items.iter().map(|stack| stack.id).collect();
            let found = read.stack_drift_get_batch(&ids).await?;
            drop(read);
            report.chosen += ids.len();
            let now = self.control.now();
            let mut due = Vec::new();
            for stack in page.items {
                let Some(every) = stack.options.drift_every else { continue };
                let last = found.iter().find(|drift| drift.stack_id == stack.id);
                let time = last.map_or(now, |last| last.time.plus(every.duration()));
                if time > now {
                    next = Some(next.map_or(time, |next| next.min(time)));
                } else if Control::stack_wants_drift(&stack) {
                    due.push(stack);
                }
            }
            let control = &self.control;
            let looks = due
                .iter()
                .map(|stack| async move { (stack.id, control.stack_drift_due(stack).await) });
            let looks: Vec<_> = looks.collect();
            let done: Vec<_> =
                futures::stream::iter(looks).buffer_unordered(TOGETHER).collect().await;
            for (id, looked) in done {
                match looked {
                    Ok(is_kept) => report.looked_at += usize::from(is_kept),
                    Err(error) => {
                        report.failed += 1;
                        tracing::warn!(stack = %id, error = %chain(&error), "drift of a stack cannot be looked for");
                    }
                }
            }
            match page.next {
                Some(more) => after = Some(more),
                None => return Ok(Pass::done(report).due_at(next)),
            }
        }
    }
}
