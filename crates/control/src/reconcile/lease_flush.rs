//! Writes down which nodes were heard of, all at once, and closes sessions that were fenced.

use std::collections::HashSet;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::{Error, NodeId, WorkloadUsage};
use serde::Serialize;

use super::pass;
use crate::Control;

pub(super) struct LeaseFlush {
    control: Control,
}

/// What a flush of leases did.
#[derive(Debug, Default, Serialize)]
pub struct LeaseReport {
    pub renewed: usize,
    pub fenced: usize,
}

impl LeaseFlush {
    pub(super) fn new(control: Control) -> LeaseFlush {
        LeaseFlush { control }
    }
}

impl Reconciler for LeaseFlush {
    const NAME: &'static str = "lease_flush";
    const DESCRIPTION: &'static str = "renews the leases of all nodes heard of, in one write";
    type Report = LeaseReport;

    async fn reconcile(&mut self) -> Pass<LeaseReport> {
        pass(self.control.flush_leases().await.map(Pass::done))
    }
}

impl Control {
    pub async fn flush_leases(&self) -> Result<LeaseReport, Error> {
        let heard = self.leases.take();
        if heard.is_empty() {
            return Ok(LeaseReport::default());
        }
        let heard_ref = &heard;
        let written = self
            .store
            .tx("node_lease_renew", |tx| {
                Box::pin(async move {
                    let now = self.now();
                    let renewed = tx.node_lease_renew_batch(self.server_id, now, heard_ref).await?;
                    let told = heard_ref.iter().filter(|heard| renewed.contains(&heard.node_id));
                    let told = told.filter_map(|heard| Some((heard.node_id, heard.usage.clone()?)));
                    let told: Vec<(NodeId, Vec<WorkloadUsage>)> = told.collect();
                    tx.node_usage_put_batch(now, &told).await?;
                    Ok::<_, Error>(renewed)
                })
            })
            .await;
        let renewed: HashSet<NodeId> = match written {
            Ok(renewed) => renewed.into_iter().collect(),
            Err(error) => {
                // Heard is heard: the next pass writes it.
                heard.into_iter().for_each(|renewal| self.leases.hear(renewal));
                return Err(error);
            }
        };
        let mut fenced = 0;
        for renewal in heard.iter().filter(|renewal| !renewed.contains(&renewal.node_id)) {
            fenced += 1;
            if let Some(link) = self.links.get(renewal.node_id) {
                link.close("another session of this node took over", true);
            }
        }
        Ok(LeaseReport { renewed: renewed.len(), fenced })
    }
}
