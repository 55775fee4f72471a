//! Executions: list, get, what steps gave, cancel, retry.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use hostler_engine::workflow::Standing;
use hostler_model::suggest::nearest;
use hostler_model::workflow::{
    Execution, ExecutionJob, ExecutionState, ExecutionStep, SkipReason, StackCare, StepEnd,
    StepTold, Workflow,
};
use hostler_model::{Diagnostic, Error, EventKind, ExecutionId, Limit, Page, Permission, Project};
use hostler_store::ExecutionFilter;
use serde_json::{Value as Json, json};

use super::task::{Names, require_own};
use crate::execution::{execution_object, execution_payload};
use crate::{Control, Cx, audit_state};

/// An execution with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct ExecutionDetail {
    pub execution: Execution,
    pub created_by: String,
    /// Nothing in lists.
    pub steps: Vec<ExecutionStep>,
    pub jobs: Vec<ExecutionJob>,
}

impl ExecutionDetail {
    /// What steps gave out, by name.
    pub fn outputs(&self) -> Json {
        let mut all = serde_json::Map::new();
        for step in &self.steps {
            if let Json::Object(entries) = &step.exported {
                all.extend(entries.clone());
            }
        }
        if all.is_empty() { Json::Null } else { Json::Object(all) }
    }
}

/// What is done again of an execution that is over.
#[derive(Clone, Debug, Default)]
pub struct ExecutionRetry {
    pub from: Option<String>,
    pub is_uncertain_too: bool,
}

/// What a step told on one node.
#[derive(Clone, Debug, PartialEq)]
pub struct StepOutput {
    pub node: Option<String>,
    pub end: StepEnd,
    pub message: String,
    pub output: Json,
}

impl Control {
    pub async fn execution_list(
        &self,
        project: &Project,
        workflow: Option<&str>,
        is_open: Option<bool>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<ExecutionDetail>, Error> {
        let mut read = self.store.read().await?;
        let filter = ExecutionFilter { project: project.id, workflow, is_open };
        let page = read.execution_list(filter, after, limit).await?;
        let mut names = Names::default();
        let mut items = Vec::with_capacity(page.items.len());
        for execution in page.items {
            let created_by = names.principal(&mut read, execution.created_by).await?;
            let (steps, jobs) = (Vec::new(), Vec::new());
            items.push(ExecutionDetail { execution, created_by, steps, jobs });
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn execution_get(
        &self,
        project: &Project,
        id: ExecutionId,
    ) -> Result<ExecutionDetail, Error> {
        let mut read = self.store.read().await?;
        let found = read.execution_get(id).await?.filter(|found| found.project_id == project.id);
        let execution = found.ok_or_else(|| Error::not_found("execution", id))?;
        let steps = read.execution_steps(id).await?;
        let jobs = read.execution_jobs(id).await?;
        let created_by = Names::default().principal(&mut read, execution.created_by).await?;
        Ok(ExecutionDetail { execution, created_by, steps, jobs })
    }

    /// What a step told at its end, for every node that it ran on.
    pub async fn execution_output(
        &self,
        project: &Project,
        id: ExecutionId,
        step: &str,
    ) -> Result<Vec<StepOutput>, Error> {
        let detail = self.execution_get(project, id).await?;
        let row = detail.steps.iter().find(|row| row.name == step);
        let row = row.ok_or_else(|| Error::not_found("step", step))?;
        let mut told = Vec::new();
        for StepTold { node, report } in &row.results {
            if let Some(report) = self.job_report(project, *report).await? {
                let result = report.result;
                told.push(StepOutput {
                    node: node.as_ref().map(ToString::to_string),
                    end: result.end,
                    message: result.message,
                    output: result.output,
                });
            }
        }
        Ok(told)
    }

    /// Asks for an execution to end. Asking again, or for one that is over, changes nothing.
    pub async fn execution_cancel(
        &self,
        cx: &Cx,
        project: &Project,
        id: ExecutionId,
    ) -> Result<ExecutionDetail, Error> {
        let before = self.execution_mine(cx, project, id).await?;
        let object = execution_object(&before.execution);
        let (object, now) = (&object, self.now());
        self.store
            .tx("execution_cancel", |tx| {
                Box::pin(async move {
                    self.claim(tx, cx, object).await?;
                    let Some(mut known) = tx.execution_get(id).await? else {
                        return Err(Error::not_found("execution", id));
                    };
                    if known.state.is_over() || known.is_cancel_requested {
                        return Ok(());
                    }
                    let (was, expected) = (audit_state::execution(&known), known.generation);
                    known.is_cancel_requested = true;
                    (known.time_due, known.time_modified) = (Some(now), now);
                    tx.execution_update(&known, expected).await?.required("execution", id)?;
                    let kind = EventKind::ExecutionCancelRequested;
                    let words = "asked to end";
                    let event = self
                        .event(kind, Some(project.id), object, cx.actor(), words)
                        .with_payload(execution_payload(&known));
                    let audit = self
                        .audit(cx, "execution.cancel", object, Some(project.id), json!({}))
                        .with_states(Some(&was), Some(&audit_state::execution(&known)));
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.executions_changed();
        self.execution_get(project, id).await
    }

    /// Has an execution that is over go on with what was not done.
    pub async fn execution_retry(
        &self,
        cx: &Cx,
        project: &Project,
        id: ExecutionId,
        retry: &ExecutionRetry,
    ) -> Result<ExecutionDetail, Error> {
        let before = self.execution_mine(cx, project, id).await?;
        let graph = &before.execution.graph;
        if let Some(from) = &retry.from
            && graph.position(from).is_none()
        {
            let meant = nearest(from, graph.steps.iter().map(|step| step.name.as_str()));
            let text = match meant {
                Some(meant) => format!("there is no task `{from}`; did you mean `{meant}`?"),
                None => format!("there is no task `{from}`"),
            };
            return Err(Error::invalid(vec![Diagnostic::new("/from", text)]));
        }
        let object = execution_object(&before.execution);
        let (object, now) = (&object, self.now());
        self.store
            .tx("execution_retry", |tx| {
                Box::pin(async move {
                    if self.claim(tx, cx, object).await?.is_some() {
                        return Ok(());
                    }
                    let Some(mut known) = tx.execution_get(id).await? else {
                        return Err(Error::not_found("execution", id));
                    };
                    if !known.state.is_over() {
                        return Err(Error::conflict(
                            format!("the execution is {}", known.state.label()),
                            "wait until it is over, or cancel it first",
                        ));
                    }
                    let steps = tx.execution_steps(id).await?;
                    let again = done_again(&known.graph, &steps, retry);
                    if again.is_empty() {
                        return Err(Error::conflict(
                            "there is nothing to do again",
                            "name a step with --from, or allow what is uncertain with --repeat-uncertain",
                        ));
                    }
                    let reset: Vec<ExecutionStep> = steps
                        .iter()
                        .filter(|step| again.contains(&step.position))
                        .map(|step| ExecutionStep {
                            tries: step.tries,
                            ..ExecutionStep::new(id, step.position, &step.name)
                        })
                        .collect();
                    tx.execution_step_save_batch(&reset).await?;
                    let (was, expected) = (audit_state::execution(&known), known.generation);
                    known.care = known.care.as_ref().map(|care| self.care_again(care));
                    known.state = match &known.care {
                        Some(_) => ExecutionState::Preparing,
                        None => ExecutionState::Running,
                    };
                    known.is_cancel_requested = false;
                    (known.time_due, known.time_modified) = (Some(now), now);
                    (known.time_begun, known.time_ended) = (now, None);
                    tx.execution_update(&known, expected).await?.required("execution", id)?;
                    let words = format!("{} steps are done again", reset.len());
                    let kind = EventKind::ExecutionRetried;
                    let event = self
                        .event(kind, Some(project.id), object, cx.actor(), words)
                        .with_payload(execution_payload(&known));
                    let names: Vec<&str> = reset.iter().map(|step| step.name.as_str()).collect();
                    let detail = json!({ "steps": names });
                    let audit = self
                        .audit(cx, "execution.retry", object, Some(project.id), detail)
                        .with_states(Some(&was), Some(&audit_state::execution(&known)));
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.executions_changed();
        self.execution_get(project, id).await
    }

    async fn execution_mine(
        &self,
        cx: &Cx,
        project: &Project,
        id: ExecutionId,
    ) -> Result<ExecutionDetail, Error> {
        let found = self.execution_get(project, id).await?;
        require_own(
            cx,
            project,
            "execution",
            Permission::WorkflowManage,
            found.execution.created_by,
            &found.created_by,
        )?;
        Ok(found)
    }

    fn care_again(&self, care: &StackCare) -> StackCare {
        care.again(self.ids.fresh(), self.ids.fresh())
    }

    fn executions_changed(&self) {
        self.has_executions.store(true, Ordering::Relaxed);
        self.wakers.execution.wake();
        self.feed.ring();
    }

    /// How many executions are in each state; for metrics.
    pub async fn execution_counts(&self) -> Result<Vec<(String, u64)>, Error> {
        Ok(self.store.read().await?.execution_count_by_state().await?)
    }
}

/// Positions of steps that a retry does again: what did not succeed, what was undone, and everything from a step on.
fn done_again(graph: &Workflow, steps: &[ExecutionStep], retry: &ExecutionRetry) -> BTreeSet<u32> {
    let is_left = |step: &ExecutionStep| match step.standing {
        _ if step.is_undone => true,
        Standing::Ended(StepEnd::Succeeded | StepEnd::Skipped) => false,
        Standing::Ended(StepEnd::Uncertain) => retry.is_uncertain_too,
        Standing::Skipped(SkipReason::Condition | SkipReason::NotSelected) => false,
        Standing::Ended(_)
        | Standing::Skipped(_)
        | Standing::Waiting
        | Standing::Running { .. }
        | Standing::Resting { .. } => true,
    };
    let mut found: BTreeSet<u32> =
        steps.iter().filter(|step| is_left(step)).map(|step| step.position).collect();
    let Some(from) = &retry.from else { return found };
    let names = graph.waiting_for(from);
    found.extend(
        steps.iter().filter(|step| names.contains(step.name.as_str())).map(|step| step.position),
    );
    found
}
