//! Nodes: list, label, cordon, drain, remove.

use std::collections::BTreeMap;

use hostler_model::{
    Cordon, Diagnostic, Error, EventKind, Generation, Labels, Limit, Name, Node, NodeBackup,
    NodeId, NodePayload, NodeState, ObjectKind, ObjectRef, Operation, OperationPayload,
    OperationPlan, OperationState, Page, Permission, Span, Step, label_problem,
};
use serde_json::json;

use super::approval_gate::{Deed, Pass, What};
use super::project::{check_text, settled};
use crate::audit_state;
use crate::{Control, Cx, NodeFilter};

const REASON_LENGTH: std::ops::RangeInclusive<usize> = 1..=500;

impl Control {
    pub async fn node_list(
        &self,
        _: &Cx,
        filter: &NodeFilter,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Node>, Error> {
        let filter =
            hostler_store::NodeFilter { state: filter.state, selector: filter.selector.clone() };
        Ok(self.store.read().await?.node_list(&filter, after, limit).await?)
    }

    pub async fn node_get(&self, _: &Cx, name_or_id: &str) -> Result<Node, Error> {
        self.node_find(name_or_id).await
    }

    pub(super) async fn node_find(&self, name_or_id: &str) -> Result<Node, Error> {
        let mut read = self.store.read().await?;
        let found = match (name_or_id.parse::<NodeId>(), name_or_id.parse::<Name>()) {
            (Ok(id), _) => read.node_get(id).await?,
            (_, Ok(name)) => read.node_by_name(&name).await?,
            _ => None,
        };
        found.ok_or_else(|| Error::not_found("node", name_or_id))
    }

    pub async fn node_update(
        &self,
        cx: &Cx,
        name_or_id: &str,
        labels: Labels,
        expected: Generation,
    ) -> Result<Node, Error> {
        let problems: Vec<_> = labels
            .iter()
            .filter_map(|(k, v)| label_problem(k, v))
            .map(|p| Diagnostic::new("/labels", p))
            .collect();
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let news = News {
            kind: EventKind::NodeChanged,
            action: "node.update",
            message: "labels changed".to_owned(),
            detail: json!({ "labels": labels }),
        };
        self.node_edit(cx, name_or_id, Some(expected), &news, |node| {
            node.labels.clone_from(&labels);
            true
        })
        .await
    }

    pub async fn node_cordon(
        &self,
        cx: &Cx,
        name_or_id: &str,
        reason: String,
    ) -> Result<Node, Error> {
        check_text("/reason", &reason, REASON_LENGTH)?;
        let news = News {
            kind: EventKind::NodeCordoned,
            action: "node.cordon",
            message: reason.clone(),
            detail: json!({ "reason": reason }),
        };
        let now = self.now();
        self.node_edit(cx, name_or_id, None, &news, |node| {
            let is_draining = node.cordon.as_ref().is_some_and(|c| c.is_draining);
            let is_known = node.cordon.as_ref().is_some_and(|c| c.reason == reason);
            node.cordon = Some(Cordon { reason: reason.clone(), time: now, is_draining });
            !is_known
        })
        .await
    }

    pub async fn node_uncordon(&self, cx: &Cx, name_or_id: &str) -> Result<Node, Error> {
        let news = News {
            kind: EventKind::NodeUncordoned,
            action: "node.uncordon",
            message: "takes work again".to_owned(),
            detail: json!({}),
        };
        let node = self
            .node_edit(cx, name_or_id, None, &news, |node| node.cordon.take().is_some())
            .await?;
        self.wakers.placement.wake();
        Ok(node)
    }

    /// Changes a node as it is now, or as the caller expects it to be. `edit` says whether it changed
    /// anything.
    async fn node_edit(
        &self,
        cx: &Cx,
        name_or_id: &str,
        expected: Option<Generation>,
        news: &News,
        edit: impl Fn(&mut Node) -> bool + Send + Sync,
    ) -> Result<Node, Error> {
        let found = self.node_find(name_or_id).await?;
        let object = ObjectRef::new(ObjectKind::Node, found.id, &found.name);
        let event = self.event(news.kind, None, &object, cx.actor(), news.message.clone());
        let audit = self.audit(cx, news.action, &object, None, news.detail.clone());
        let (id, object, event, audit, edit) = (found.id, &object, &event, &audit, &edit);
        let node = self
            .store
            .tx("node_edit", |tx| {
                Box::pin(async move {
                    self.claim(tx, cx, object).await?;
                    let Some(before) = tx.node_get(id).await? else {
                        return Err(Error::not_found("node", id));
                    };
                    require_present(&before)?;
                    if expected.is_some_and(|expected| expected != before.generation) {
                        return Err(Error::stale("node", before.generation));
                    }
                    let mut node = before.clone();
                    if !edit(&mut node) {
                        return Ok(before);
                    }
                    node.generation = before.generation.next();
                    node.time_modified = self.now();
                    let update = tx.node_update(&node, before.generation).await?;
                    settled(update, "node", &node.name)?;
                    let (old, new) = (audit_state::node(&before), audit_state::node(&node));
                    let audit = audit.clone().with_states(Some(&old), Some(&new));
                    let event = event.clone().with_payload(NodePayload::from(&node));
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(node)
                })
            })
            .await?;
        self.wakers.service_place.wake();
        self.feed.ring();
        Ok(node)
    }

    pub async fn node_drain(
        &self,
        cx: &Cx,
        name_or_id: &str,
        reason: String,
        deadline: Option<Span>,
    ) -> Result<Operation, Error> {
        check_text("/reason", &reason, REASON_LENGTH)?;
        let node = self.node_find(name_or_id).await?;
        require_present(&node)?;
        let what = json!({ "node": node.id, "reason": reason, "deadline": deadline });
        let pass = self.approval_pass(cx, &deed(Permission::NodeDrain, &node, what)).await?;
        let deadline = deadline.map(|d| self.now().plus(d.duration()));
        let plan = OperationPlan::NodeDrain { node: node.id, reason, deadline };
        self.node_operation(cx, &node, plan, "node.drain", &pass).await
    }

    pub async fn node_remove(
        &self,
        cx: &Cx,
        name_or_id: &str,
        expected: Generation,
    ) -> Result<Operation, Error> {
        let node = self.node_find(name_or_id).await?;
        require_present(&node)?;
        if node.generation != expected {
            return Err(Error::stale("node", node.generation));
        }
        let what = json!({ "node": node.id });
        let pass = self.approval_pass(cx, &deed(Permission::NodeRemove, &node, what)).await?;
        let plan = OperationPlan::NodeRemove {
            node: node.id,
            reason: format!("removed by {}", cx.caller.name),
        };
        self.node_operation(cx, &node, plan, "node.remove", &pass).await
    }

    pub(super) async fn node_operation(
        &self,
        cx: &Cx,
        node: &Node,
        plan: OperationPlan,
        action: &str,
        pass: &Pass,
    ) -> Result<Operation, Error> {
        self.node_operation_of(cx, node, plan, (action, pass), |_| None).await
    }

    /// The same for one that makes a backup, which is entered with it.
    pub(super) async fn node_operation_with(
        &self,
        cx: &Cx,
        node: &Node,
        plan: OperationPlan,
        (action, pass): (&str, &Pass),
        backup: impl FnOnce(&Operation) -> NodeBackup,
    ) -> Result<Operation, Error> {
        self.node_operation_of(cx, node, plan, (action, pass), |made| Some(backup(made))).await
    }

    async fn node_operation_of(
        &self,
        cx: &Cx,
        node: &Node,
        plan: OperationPlan,
        (action, pass): (&str, &Pass),
        backup: impl FnOnce(&Operation) -> Option<NodeBackup>,
    ) -> Result<Operation, Error> {
        let now = self.now();
        let operation = Operation {
            id: self.ids.fresh(),
            project_id: None,
            steps: plan.steps().iter().map(|name| Step::waiting(name)).collect(),
            plan,
            state: OperationState::Pending,
            error: None,
            is_cancel_requested: false,
            created_by: cx.actor(),
            owner: None,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
            time_ended: None,
        };
        let object = ObjectRef::new(ObjectKind::Operation, operation.id, operation.plan.label());
        let node_object = ObjectRef::new(ObjectKind::Node, node.id, &node.name);
        let message = format!("{} of {}", operation.plan.label(), node.name);
        let event = self
            .event(EventKind::OperationCreated, None, &object, cx.actor(), message)
            .with_payload(OperationPayload::from(&operation));
        let audit = self
            .audit(cx, action, &node_object, None, json!({ "operation": operation.id }))
            .with_states(None, Some(&audit_state::operation(&operation, false)));
        let backup = &backup(&operation);
        let (operation_ref, object, event, audit) = (&operation, &object, &event, &audit);
        let replay = self
            .store
            .tx("node_operation_create", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return Ok(Some(made));
                    }
                    self.approval_use(tx, cx, pass).await?;
                    tx.operation_insert(operation_ref).await?;
                    if let Some(backup) = backup {
                        tx.node_backup_insert(backup).await?;
                    }
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(None)
                })
            })
            .await?;
        if replay.is_none() {
            self.approval_done(cx, pass);
        }
        self.wakers.operation.wake();
        self.feed.ring();
        match replay.and_then(|made| made.id.parse().ok()) {
            Some(id) => self.operation_get(cx, id).await,
            None => Ok(operation),
        }
    }

    /// How many nodes are in each state; for metrics.
    pub async fn node_counts(&self) -> Result<BTreeMap<NodeState, u64>, Error> {
        let mut counts: BTreeMap<NodeState, u64> =
            NodeState::PRESENT.iter().map(|state| (*state, 0)).collect();
        for node in self.store.read().await?.node_list_all_present().await? {
            *counts.entry(node.state).or_default() += 1;
        }
        Ok(counts)
    }
}

/// What is recorded of a change.
struct News {
    kind: EventKind,
    action: &'static str,
    message: String,
    detail: serde_json::Value,
}

/// Something done to a node, for policies of approvals.
pub(super) fn deed(verb: Permission, node: &Node, what: serde_json::Value) -> Deed<'_> {
    Deed {
        verb,
        project: None,
        name: node.name.to_string(),
        what: What::Plain(what),
        specs: Vec::new(),
        node: Some(&node.labels),
    }
}

pub(super) fn require_present(node: &Node) -> Result<(), Error> {
    if node.state == NodeState::Removed {
        return Err(Error::conflict(
            format!("node `{}` was removed", node.name),
            "a machine that should come back joins again with a fresh token",
        ));
    }
    Ok(())
}
