//! Wakes sessions whose node has something to learn that another server wrote.

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::Error;
use serde::Serialize;

use super::pass;
use crate::Control;

pub(super) struct NodeFeed {
    control: Control,
}

#[derive(Default, Serialize)]
pub(super) struct Report {
    sessions: usize,
    behind: usize,
}

impl NodeFeed {
    pub(super) fn new(control: Control) -> NodeFeed {
        NodeFeed { control }
    }

    async fn look(&self) -> Result<Report, Error> {
        let sessions = self.control.links.count();
        if sessions == 0 {
            return Ok(Report::default());
        }
        let behind = self.control.store.read().await?.node_behind(self.control.server_id).await?;
        for node in &behind {
            self.control.links.wake(*node);
        }
        Ok(Report { sessions, behind: behind.len() })
    }
}

impl Reconciler for NodeFeed {
    const NAME: &'static str = "node_feed";
    const DESCRIPTION: &'static str =
        "wakes sessions of nodes that are behind what they should run";
    type Report = Report;

    async fn reconcile(&mut self) -> Pass<Report> {
        pass(self.look().await.map(Pass::done))
    }
}
