//! Signs the newest hash of the audit chain after so many entries, or so much time.

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::Error;
use serde::Serialize;

use super::pass;
use crate::Control;

/// The loop that anchors the chain.
pub struct AuditAnchorKeeper {
    control: Control,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditAnchorReport {
    /// The entry that was anchored, when one was due.
    pub anchored: Option<u64>,
}

impl AuditAnchorKeeper {
    pub(super) fn new(control: Control) -> AuditAnchorKeeper {
        AuditAnchorKeeper { control }
    }

    async fn keep(&self) -> Result<Pass<AuditAnchorReport>, Error> {
        let control = &self.control;
        if !self.is_due().await? {
            return Ok(Pass::done(AuditAnchorReport::default()));
        }
        let anchor = control
            .store
            .tx("audit_anchor", |tx| {
                Box::pin(
                    async move { control.audit_anchor_append(tx, control.system_actor()).await },
                )
            })
            .await?;
        control.feed.ring();
        Ok(Pass::done(AuditAnchorReport { anchored: anchor.map(|anchor| anchor.sequence) }))
    }

    async fn is_due(&self) -> Result<bool, Error> {
        let control = &self.control;
        let mut read = control.store.read().await?;
        let (head, _) = read.audit_head().await?;
        let Some(last) = read.audit_anchor_last().await? else { return Ok(head > 0) };
        let fresh = head.saturating_sub(last.sequence);
        let waited = control.now().since(last.time);
        let config = &control.config.audit;
        Ok(fresh >= config.anchor_every || fresh > 0 && waited >= config.anchor_interval)
    }
}

impl Control {
    /// The loop that anchors the chain.
    pub fn audit_anchor_reconciler(&self) -> AuditAnchorKeeper {
        AuditAnchorKeeper::new(self.clone())
    }
}

impl Reconciler for AuditAnchorKeeper {
    const NAME: &'static str = "audit_anchor";
    const DESCRIPTION: &'static str = "signs the newest hash of the audit chain from time to time";
    type Report = AuditAnchorReport;

    async fn reconcile(&mut self) -> Pass<AuditAnchorReport> {
        pass(self.keep().await)
    }
}
