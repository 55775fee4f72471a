//! What only the nodes of a workload can answer: its output, commands beside it, what it uses.

use hostler_model::{
    Code, Desired, Diagnostic, Error, NodeId, Permission, Project, Run, RunId, Span, Timestamp,
};
use serde_json::json;

use super::task::require_own;
use super::workload::object;
use super::workload_caller::require_as_much;
use crate::{
    Control, Cx, ExecAsk, NodeAsk, OutputQuery, OutputReceiver, PlacementDetail, Stateless,
    WorkloadDetail,
};

/// A command to run beside a workload.
#[derive(Clone, Debug)]
pub struct NewExec {
    pub argv: Vec<String>,
    /// Name or id.
    pub node: Option<String>,
    pub stdin: Vec<u8>,
    pub timeout: Option<Span>,
}

const TIMEOUT_MAX: Span = Span::from_secs(86_400);

impl Control {
    /// Opens the output of a workload on one of its nodes, over its runs or of one of them.
    pub async fn placement_output(
        &self,
        placement: &PlacementDetail,
        run: Option<RunId>,
        query: OutputQuery,
    ) -> Result<OutputReceiver, Error> {
        let (placement, node) = (placement.placement.id, placement.placement.node_id);
        self.node_open(node, NodeAsk::Placement { placement, run, query }).await
    }

    /// One of its runs.
    pub async fn workload_run(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        run: RunId,
    ) -> Result<Run, Error> {
        let detail = self.workload_get(cx, project, name_or_id).await?;
        let found = self.store.read().await?.service_runs_get(&[run]).await?;
        let of = |found: &Run| found.workload_id == detail.service.id;
        found.into_iter().find(of).ok_or_else(|| {
            Error::new(
                Code::NotFound,
                format!("workload `{}` has no run `{run}`", detail.service.name),
                "list them with `hostler workload history`",
            )
        })
    }

    /// Which node is meant.
    pub async fn node_of(&self, _: &Cx, name_or_id: &str) -> Result<NodeId, Error> {
        Ok(self.node_find(name_or_id).await?.id)
    }

    /// Runs a command beside a workload's live run. It is recorded before it is begun; when the
    /// receiver is dropped, the command is killed.
    pub async fn workload_exec(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        new: NewExec,
    ) -> Result<OutputReceiver, Error> {
        let problems = problems(&new);
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let detail = self.workload_get(cx, project, name_or_id).await?;
        let service = &detail.service;
        require_own(
            cx,
            project,
            "workload",
            Permission::WorkloadManage,
            service.created_by,
            &detail.created_by,
        )?;
        let chosen = self.chosen(&detail, new.node.as_deref()).await?;
        let object = object(service);
        let audit = self.audit(
            cx,
            Stateless::WorkloadExec,
            &object,
            Some(project.id),
            json!({ "command": new.argv, "node": chosen.node }),
        );
        let (object, audit) = (&object, &audit);
        self.store
            .tx("workload_exec", |tx| {
                Box::pin(async move {
                    require_as_much(tx, cx, project, &service.spec).await?;
                    if self.claim(tx, cx, object).await?.is_some() {
                        return Err(Error::conflict(
                            "an earlier request with this Idempotency-Key ran the command already",
                            "use a fresh key to run it again",
                        ));
                    }
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        let placement = chosen.placement.id;
        let ask = ExecAsk { placement, argv: new.argv, stdin: new.stdin, timeout: new.timeout };
        self.node_open(chosen.placement.node_id, NodeAsk::Exec(ask)).await
    }

    /// What a workload has used over time on one of its nodes, as one JSON document an item.
    pub async fn workload_usage(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        node: Option<&str>,
        since: Option<Timestamp>,
    ) -> Result<OutputReceiver, Error> {
        let detail = self.workload_get(cx, project, name_or_id).await?;
        let chosen = self.chosen(&detail, node).await?;
        self.usage(chosen.placement.node_id, Some(chosen.placement.id), since).await
    }

    /// The placement on the node that was named, or the only one.
    pub(super) async fn chosen<'a>(
        &self,
        detail: &'a WorkloadDetail,
        node: Option<&str>,
    ) -> Result<&'a PlacementDetail, Error> {
        let name = &detail.service.name;
        if let Some(node) = node {
            let node = self.node_find(node).await?;
            let here = detail.placements.iter().find(|p| p.placement.node_id == node.id);
            return here.ok_or_else(|| {
                Error::conflict(
                    format!("workload `{name}` is not on node `{}`", node.name),
                    "`hostler workload get` shows where it is",
                )
            });
        }
        let there = |p: &&PlacementDetail| p.placement.desired != Desired::Remove;
        let placements: Vec<&PlacementDetail> = detail.placements.iter().filter(there).collect();
        match placements.as_slice() {
            [only] => Ok(only),
            [] => Err(Error::conflict(
                format!("workload `{name}` is on no node"),
                "`hostler workload explain` says why",
            )),
            several => Err(Error::conflict(
                format!("workload `{name}` is on {} nodes", several.len()),
                "name one of them with --node (`node` in the request)",
            )),
        }
    }
}

fn problems(new: &NewExec) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    if new.argv.first().is_none_or(String::is_empty) {
        let detail = "the command is empty; give a program and its arguments";
        problems.push(Diagnostic::new("/command", detail));
    }
    for (i, word) in new.argv.iter().enumerate().filter(|(_, word)| word.contains('\0')) {
        let detail = format!("an argument of {} characters contains NUL", word.chars().count());
        problems.push(Diagnostic::new(format!("/command/{i}"), detail));
    }
    if new.timeout.is_some_and(|timeout| timeout.is_zero() || timeout > TIMEOUT_MAX) {
        problems.push(Diagnostic::new("/timeout", "a timeout is at most 1d, and not zero"));
    }
    problems
}
