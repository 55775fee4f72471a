//! Ends entries of state whose time has come. Nobody sees them any more anyway; this tells who watches, and
//! makes room. It sleeps until the next is due, and is woken when one is written that is due earlier.

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::Error;
use serde::Serialize;

use super::pass;
use crate::Control;

/// Entries that are ended with one commit.
const BATCH: u32 = 500;

pub struct StateExpiry {
    control: Control,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateExpiryReport {
    /// Entries that were due.
    pub due: usize,
}

impl Control {
    pub fn state_expiry_reconciler(&self) -> StateExpiry {
        StateExpiry { control: self.clone() }
    }
}

impl StateExpiry {
    async fn sweep(&self) -> Result<Pass<StateExpiryReport>, Error> {
        let control = &self.control;
        control.state.due_unknown();
        let mut read = control.store.read().await?;
        let now = control.now().max(read.state_head().await?.time);
        let due = read.state_due(now, BATCH).await?;
        if due.is_empty() {
            let next = read.state_next_due().await?;
            drop(read);
            if let Some(next) = next {
                control.state.due_at(next);
            }
            return Ok(Pass::done(StateExpiryReport::default()).due_at(next));
        }
        drop(read);
        let report = StateExpiryReport { due: due.len() };
        control.state_expire(due).await?;
        Ok(Pass::done(report).again_if(true))
    }
}

impl Reconciler for StateExpiry {
    const NAME: &'static str = "state_expiry";
    const DESCRIPTION: &'static str = "ends entries of state whose time has come";
    type Report = StateExpiryReport;

    async fn reconcile(&mut self) -> Pass<StateExpiryReport> {
        pass(self.sweep().await)
    }
}
