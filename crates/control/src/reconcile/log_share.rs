//! Divides what projects may keep of their output between nodes (`hostler_engine::log_share` says how).
//!
//! A node is told its shares together with what it should run, and says with its heartbeats which are in
//! force and what it keeps. Every node has a share of every project that has a quota, of nothing where there
//! is nothing: so what is on a node from before there was a quota is counted too. A node that is to run
//! something of a project it has no room for is given some before it is told of that.
//!
//! Shares are written only in transactions that have read all of a project's: of two servers that divide at
//! the same time, or one that divides and one that gives a node its first, one is sent back.

use std::collections::{BTreeSet, HashMap, HashSet};

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_engine::log_share::{Holder, divide, first};
use hostler_model::{
    Bytes, Error, Generation, LogGrant, LogShare, Name, Node, NodeId, OutputKept, ProjectId,
};
use hostler_store::{Conn, Tx};
use serde::Serialize;

use super::pass;
use crate::Control;

pub(super) struct LogShares {
    control: Control,
}

/// What dividing did.
#[derive(Debug, Default, Serialize)]
pub struct LogShareReport {
    /// That have a quota, or had one.
    pub projects: usize,
    pub changed: usize,
}

impl LogShares {
    pub(super) fn new(control: Control) -> LogShares {
        LogShares { control }
    }
}

impl Reconciler for LogShares {
    const NAME: &'static str = "log_share";
    const DESCRIPTION: &'static str =
        "divides what projects may keep of their output between nodes";
    type Report = LogShareReport;

    async fn reconcile(&mut self) -> Pass<LogShareReport> {
        pass(self.control.divide_logs().await.map(Pass::done))
    }
}

/// What is to be written of a project's shares.
#[derive(Default)]
struct Changes {
    /// Other amounts; the numbers are still to come.
    granted: Vec<(LogShare, Bytes)>,
    /// In force now.
    acknowledged: Vec<LogShare>,
    gone: Vec<LogShare>,
}

impl Changes {
    fn count(&self) -> usize {
        self.granted.len() + self.acknowledged.len() + self.gone.len()
    }
}

/// What a node says that it keeps of a project.
fn kept_on<'a>(node: &'a Node, project: &Name) -> Option<&'a OutputKept> {
    let metrics = node.lease.as_ref()?.metrics.as_ref()?;
    metrics.outputs.iter().find(|kept| kept.project == *project)
}

async fn look(conn: &mut Conn, project: ProjectId) -> Result<Changes, Error> {
    let found = conn.project_get(project).await?;
    let shares = conn.log_share_of_project(project).await?;
    let limited = found.and_then(|project| Some((project.name, project.quota.logs?)));
    let Some((name, quota)) = limited else {
        return Ok(Changes { gone: shares, ..Changes::default() });
    };
    let nodes = conn.node_list_all_present().await?;
    let busy: HashSet<NodeId> = conn.placement_nodes_of(project).await?.into_iter().collect();
    let mut known: HashMap<NodeId, LogShare> =
        shares.into_iter().map(|share| (share.node_id, share)).collect();
    let (mut held, mut holders) = (Vec::new(), Vec::new());
    for node in &nodes {
        let before = known.remove(&node.id);
        let kept = kept_on(node, &name);
        let mut share = before.clone().unwrap_or(LogShare {
            project_id: project,
            node_id: node.id,
            granted: Bytes::ZERO,
            ceiling: Bytes::ZERO,
            generation: Generation::ZERO,
        });
        if let Some(kept) = kept {
            share = share.acknowledged(kept.generation);
        }
        holders.push(Holder {
            node_id: node.id,
            granted: share.granted.get(),
            ceiling: share.ceiling.get(),
            is_wanted: busy.contains(&node.id) || kept.is_none_or(|kept| !kept.bytes.is_zero()),
        });
        held.push((before, share));
    }
    let mut changes = Changes { gone: known.into_values().collect(), ..Changes::default() };
    for ((before, share), granted) in held.into_iter().zip(divide(quota.get(), &holders)) {
        let granted = Bytes::new(granted);
        if before.is_none() || granted != share.granted {
            changes.granted.push((share, granted));
        } else if before.as_ref() != Some(&share) {
            changes.acknowledged.push(share);
        }
    }
    Ok(changes)
}

async fn perform(tx: &mut Tx<'_>, project: ProjectId) -> Result<usize, Error> {
    let changes = look(tx, project).await?;
    let count = changes.count();
    for share in &changes.acknowledged {
        tx.log_share_put(share).await?;
    }
    for (share, granted) in &changes.granted {
        if let Some(generation) = tx.node_desired_bump(share.node_id, 1).await? {
            tx.log_share_put(&share.regranted(*granted, generation)).await?;
        }
    }
    for share in &changes.gone {
        tx.log_share_delete(share).await?;
        tx.node_desired_bump(share.node_id, 1).await?;
    }
    Ok(count)
}

/// Gives a node something of what is free, where it has nothing.
async fn begin(tx: &mut Tx<'_>, project: ProjectId, node: NodeId) -> Result<(), Error> {
    let found = tx.project_get(project).await?;
    let Some(quota) = found.and_then(|project| project.quota.logs) else { return Ok(()) };
    let shares = tx.log_share_of_project(project).await?;
    let known = shares.iter().find(|share| share.node_id == node);
    let held = shares.iter().fold(0, |sum: u64, share| sum.saturating_add(share.ceiling.get()));
    let granted = Bytes::new(first(quota.get(), held));
    if known.is_some_and(|share| !share.granted.is_zero() || granted.is_zero()) {
        return Ok(());
    }
    if let Some(generation) = tx.node_desired_bump(node, 1).await? {
        let share = match known {
            Some(share) => share.regranted(granted, generation),
            None => LogShare {
                project_id: project,
                node_id: node,
                granted,
                ceiling: granted,
                generation,
            },
        };
        tx.log_share_put(&share).await?;
    }
    Ok(())
}

impl Control {
    /// Divides what every project with a quota may keep, as far as that has changed.
    pub async fn divide_logs(&self) -> Result<LogShareReport, Error> {
        let mut read = self.store.read().await?;
        let limited = read.log_quotas().await?.into_iter().map(|(project, ..)| project);
        let mut projects: BTreeSet<ProjectId> = limited.collect();
        projects.extend(read.log_share_projects().await?);
        let mut report = LogShareReport { projects: projects.len(), changed: 0 };
        let mut due = Vec::new();
        for project in projects {
            if look(&mut read, project).await?.count() > 0 {
                due.push(project);
            }
        }
        drop(read);
        for project in due {
            report.changed += self
                .store
                .tx("log_share", |tx| Box::pin(async move { perform(tx, project).await }))
                .await?;
        }
        Ok(report)
    }

    /// What a node is told of its shares, when it is told to run something of the projects `begun`.
    pub(crate) async fn log_grants(
        &self,
        node: NodeId,
        quotas: &[(ProjectId, Name, Bytes)],
        begun: &[ProjectId],
    ) -> Result<Vec<LogGrant>, Error> {
        let mut shares = self.store.read().await?.log_share_of_node(node).await?;
        let has_room = |project: &ProjectId| {
            let its = |share: &&LogShare| share.project_id == *project;
            shares.iter().find(its).is_some_and(|share| !share.granted.is_zero())
        };
        if !begun.iter().all(has_room) {
            shares = self
                .store
                .tx("log_share_begin", |tx| {
                    Box::pin(async move {
                        for project in begun {
                            begin(tx, *project, node).await?;
                        }
                        Ok::<_, Error>(tx.log_share_of_node(node).await?)
                    })
                })
                .await?;
        }
        let grants = quotas.iter().filter_map(|(project, name, _)| {
            let share = shares.iter().find(|share| share.project_id == *project)?;
            Some(LogGrant {
                project_name: name.clone(),
                bytes: share.granted,
                generation: share.generation,
            })
        });
        Ok(grants.collect())
    }
}
