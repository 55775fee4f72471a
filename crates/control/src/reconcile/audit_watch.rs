//! Follows the audit chain as it grows, and from its beginning once a day, so that somebody notices when it
//! is broken without asking.
//!
//! What was followed is remembered by this process: a chain that is written anew, in itself consistent, does
//! not go on where the one went that was seen before. A server that has just started has seen none; anchors
//! are held against the chain by `hostler audit verify`.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::{AuditChain, Error};
use hostler_store::AuditFollow;
use serde::Serialize;

use super::pass;
use crate::Control;

/// When the chain is followed from its beginning again.
const AGAIN_AFTER: Duration = Duration::from_hours(24);

/// What this process knows of the chain: nothing before it was followed to its end.
#[derive(Default)]
pub(crate) struct ChainVerdict(Mutex<Option<bool>>);

impl ChainVerdict {
    pub(crate) fn get(&self) -> Option<bool> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, is_ok: bool) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(is_ok);
    }
}

/// The loop that follows the chain.
pub struct AuditWatch {
    control: Control,
    chain: AuditChain,
    /// How far it was followed the time before.
    before: Option<AuditChain>,
    begun: Duration,
    /// What is wrong, once something is: it stays so until the next time from the beginning.
    problem: Option<String>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditWatchReport {
    /// Entries that hold together so far.
    pub followed: u64,
    pub problem: Option<String>,
}

impl AuditWatch {
    pub(super) fn new(control: Control) -> AuditWatch {
        let begun = control.clock.instant();
        AuditWatch { control, chain: AuditChain::default(), before: None, begun, problem: None }
    }

    async fn follow(&mut self) -> Result<Pass<AuditWatchReport>, Error> {
        let now = self.control.clock.instant();
        if now.saturating_sub(self.begun) >= AGAIN_AFTER {
            self.begun = now;
            let seen = std::mem::take(&mut self.chain);
            self.before = self.problem.take().is_none().then_some(seen).or(self.before.take());
        }
        let mut is_more = false;
        if self.problem.is_none() {
            let mut read = self.control.store.read().await?;
            let followed = read.audit_follow(&mut self.chain, self.before.as_ref()).await?;
            match followed {
                AuditFollow::More => is_more = true,
                AuditFollow::End => self.control.chain_verdict.set(true),
                AuditFollow::Broken(problem) => {
                    let after = self.chain.count;
                    tracing::error!(after, problem, "audit chain is broken");
                    self.control.chain_verdict.set(false);
                    self.problem = Some(problem);
                }
            }
        }
        let report = AuditWatchReport { followed: self.chain.count, problem: self.problem.clone() };
        Ok(Pass::done(report).again_if(is_more))
    }
}

impl Reconciler for AuditWatch {
    const NAME: &'static str = "audit_watch";
    const DESCRIPTION: &'static str = "follows the audit chain, and says when it is broken";
    type Report = AuditWatchReport;

    async fn reconcile(&mut self) -> Pass<AuditWatchReport> {
        pass(self.follow().await)
    }
}

impl Control {
    /// Whether the audit chain holds, once this server has followed all of it.
    pub fn is_audit_chain_ok(&self) -> Option<bool> {
        self.chain_verdict.get()
    }

    pub fn audit_watch_reconciler(&self) -> AuditWatch {
        AuditWatch::new(self.clone())
    }
}
