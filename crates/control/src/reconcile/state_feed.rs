//! Notices changes of state that other servers wrote, and tells those who watch here.

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::Error;
use serde::Serialize;

use super::pass;
use crate::Control;

/// Batches of the log that are read at once.
const BATCH: u32 = 32;

pub struct StateTail {
    control: Control,
}

#[derive(Debug, Default, Serialize)]
pub struct StateTailReport {
    /// The newest revision.
    pub revision: u64,
    /// Batches of other servers.
    pub read: usize,
}

impl Control {
    pub fn state_feed_reconciler(&self) -> StateTail {
        StateTail { control: self.clone() }
    }
}

impl StateTail {
    async fn look(&self) -> Result<Pass<StateTailReport>, Error> {
        let feed = &self.control.state.feed;
        let mut read = self.control.store.read().await?;
        let revision = read.state_head().await?.revision;
        feed.begin(revision);
        let known = feed.last();
        if revision <= known {
            return Ok(Pass::done(StateTailReport { revision, read: 0 }));
        }
        let batches = read.state_log_after(known, BATCH).await?;
        drop(read);
        let count = batches.len();
        // The log may have been cut before this server came to it: those who watch find out there.
        feed.skip_to(batches.first().map_or(revision + 1, |batch| batch.first));
        for batch in batches {
            feed.push(batch);
        }
        let is_full = count >= BATCH as usize;
        Ok(Pass::done(StateTailReport { revision, read: count }).again_if(is_full))
    }
}

impl Reconciler for StateTail {
    const NAME: &'static str = "state_feed";
    const DESCRIPTION: &'static str = "notices changes of state through other servers";
    type Report = StateTailReport;

    async fn reconcile(&mut self) -> Pass<StateTailReport> {
        pass(self.look().await)
    }
}
