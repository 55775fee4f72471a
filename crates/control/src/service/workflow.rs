//! Workflows that are kept, and beginning an execution of one.
//!
//! A file is defined here, in the sandbox, once when it is kept and once with the values of every execution. Nothing else
//! of it ever runs in a server. Modules of the project that it asks for become part of it when it is kept.

use std::sync::atomic::Ordering;

use hostler_lua::{Bundle, Definition, Given, define};
use hostler_model::suggest::nearest;
use hostler_model::workflow::{
    Execution, ExecutionOptions, ExecutionState, ExecutionStep, Handler, Workflow, WorkflowVersion,
};
use hostler_model::{
    BlobScope, Code, Diagnostic, Error, EventKind, Generation, Limit, ObjectKind, ObjectRef, Page,
    Permission, Project, SecretUse, Timestamp, VersionPayload, WorkloadSpec,
};
use serde_json::{Value as Json, json};

use super::approval_gate::{Deed, What};
use super::execution::ExecutionDetail;
use super::module::{check_bundle, check_bundle_size, wrong};
use super::secret_use::check_secrets;
use super::task::Names;
use crate::execution::{execution_object, execution_payload, secret_file};
use crate::{Control, Cx, audit_state};

pub(super) const BUNDLE_MAX: usize = 4 << 20;
const NAME_MAX: usize = 128;
const STEPS_MAX: usize = 10_000;
const VALUES_MAX: usize = 1 << 20;

/// A file to be kept.
#[derive(Clone, Debug)]
pub struct NewWorkflow {
    pub bundle: Bundle,
    /// What it is looked at with.
    pub values: Json,
    pub is_strict: bool,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Pushed {
    pub workflows: Vec<WorkflowDetail>,
    pub warnings: Vec<String>,
}

/// A version with who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowDetail {
    pub version: WorkflowVersion,
    pub created_by: String,
}

/// An execution to be begun.
#[derive(Clone, Debug, Default)]
pub struct NewExecution {
    pub version: Option<u32>,
    pub values: Json,
    pub options: ExecutionOptions,
}

fn workflow_object(version: &WorkflowVersion) -> ObjectRef {
    ObjectRef::new(ObjectKind::Workflow, version.id, &version.name)
}

impl Control {
    /// Keeps a file: every workflow in it gets a version.
    pub async fn workflow_push(
        &self,
        cx: &Cx,
        project: &Project,
        new: NewWorkflow,
    ) -> Result<Pushed, Error> {
        check_bundle(&new.bundle)?;
        check_values(&new.values)?;
        let now = self.now();
        let given = Given {
            values: new.values,
            now: seconds(now),
            strict: new.is_strict,
            ..Given::default()
        };
        let Bundle { name, text, files } = new.bundle;
        let work = move |files| define(&name, &text, files, &given);
        let definition = self.with_modules(project, files, work).await?;
        look(&definition)?;
        check_bundle_size(&definition.bundle)?;
        let modules = definition.bundle.modules();
        let bundle = self.bundle_keep(cx, project, &definition.bundle).await?;
        let scope = BlobScope::Project(project.id);
        let version = |graph: &Workflow| WorkflowVersion {
            id: self.ids.fresh(),
            project_id: project.id,
            name: graph.name.clone(),
            version: 0,
            bundle,
            file: definition.bundle.name.clone(),
            graph: graph.clone(),
            modules: modules.clone(),
            created_by: cx.caller.principal_id,
            time_created: now,
        };
        let fresh: Vec<WorkflowVersion> = definition.workflows.iter().map(version).collect();
        let fresh = &fresh;
        let kept = self
            .store
            .tx("workflow_push", |tx| {
                Box::pin(async move {
                    let mut kept = Vec::with_capacity(fresh.len());
                    for one in fresh {
                        let was = tx.workflow_version_get(project.id, &one.name, None).await?;
                        let version = tx.workflow_version_insert(one).await?;
                        if version.id == one.id {
                            tx.blob_use(&[(scope, bundle, version.id.to_string())], now).await?;
                            let object = workflow_object(&version);
                            let words = format!("version {}", version.version);
                            let kind = EventKind::WorkflowPushed;
                            let event = self
                                .event(kind, Some(project.id), &object, cx.actor(), words)
                                .with_payload(VersionPayload {
                                    version: Some(version.version),
                                    bundle: Some(bundle),
                                });
                            let detail = json!({
                                "version": version.version,
                                "bundle": bundle,
                                "modules": version.modules,
                            });
                            let was = was.as_ref().map(audit_state::workflow);
                            let audit = self
                                .audit(cx, "workflow.push", &object, Some(project.id), detail)
                                .with_states(was.as_ref(), Some(&audit_state::workflow(&version)));
                            tx.journal_append(&[event], &[audit]).await?;
                        }
                        kept.push(version);
                    }
                    Ok::<_, Error>(kept)
                })
            })
            .await?;
        self.feed.ring();
        let warnings = definition.remarks.iter().map(ToString::to_string).collect();
        let mut workflows = Vec::with_capacity(kept.len());
        let mut read = self.store.read().await?;
        let mut names = Names::default();
        for version in kept {
            let created_by = names.principal(&mut read, version.created_by).await?;
            workflows.push(WorkflowDetail { version, created_by });
        }
        Ok(Pushed { workflows, warnings })
    }

    pub async fn workflow_list(
        &self,
        project: &Project,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<WorkflowDetail>, Error> {
        let mut read = self.store.read().await?;
        let page = read.workflow_list(project.id, after, limit).await?;
        self.workflow_details(page).await
    }

    pub async fn workflow_versions(
        &self,
        project: &Project,
        name: &str,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<WorkflowDetail>, Error> {
        self.workflow_get(project, name, None).await?;
        let page = {
            let mut read = self.store.read().await?;
            read.workflow_versions(project.id, name, after, limit).await?
        };
        self.workflow_details(page).await
    }

    async fn workflow_details(
        &self,
        page: Page<WorkflowVersion>,
    ) -> Result<Page<WorkflowDetail>, Error> {
        let mut read = self.store.read().await?;
        let mut names = Names::default();
        let mut items = Vec::with_capacity(page.items.len());
        for version in page.items {
            let created_by = names.principal(&mut read, version.created_by).await?;
            items.push(WorkflowDetail { version, created_by });
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn workflow_get(
        &self,
        project: &Project,
        name: &str,
        version: Option<u32>,
    ) -> Result<WorkflowDetail, Error> {
        let mut read = self.store.read().await?;
        let Some(found) = read.workflow_version_get(project.id, name, version).await? else {
            let all = read.workflow_list(project.id, None, Limit::LARGEST).await?;
            let meant = nearest(name, all.items.iter().map(|known| known.name.as_str()));
            return Err(match (version, meant) {
                (None, Some(meant)) => Error::new(
                    Code::NotFound,
                    format!("there is no workflow `{name}`"),
                    format!("did you mean `{meant}`?"),
                ),
                _ => Error::not_found("workflow", name),
            });
        };
        let created_by = Names::default().principal(&mut read, found.created_by).await?;
        Ok(WorkflowDetail { version: found, created_by })
    }

    /// The text of a version.
    pub async fn workflow_source(
        &self,
        project: &Project,
        name: &str,
        version: Option<u32>,
    ) -> Result<Bundle, Error> {
        let found = self.workflow_get(project, name, version).await?.version;
        self.workflow_bundle(project, &found).await
    }

    async fn workflow_bundle(
        &self,
        project: &Project,
        version: &WorkflowVersion,
    ) -> Result<Bundle, Error> {
        let bundle = self.bundle_read(project, version.bundle).await?;
        bundle.ok_or_else(|| Error::not_found("text of the workflow", &version.name))
    }

    /// Removes a workflow with all its versions.
    pub async fn workflow_remove(
        &self,
        cx: &Cx,
        project: &Project,
        name: &str,
    ) -> Result<(), Error> {
        let found = self.workflow_get(project, name, None).await?.version;
        let object = workflow_object(&found);
        let words = "removed with all its versions";
        let kind = EventKind::WorkflowRemoved;
        let event = &[self
            .event(kind, Some(project.id), &object, cx.actor(), words)
            .with_payload(VersionPayload { version: Some(found.version), bundle: None })];
        let audit = &[self
            .audit(cx, "workflow.remove", &object, Some(project.id), json!({}))
            .with_states(Some(&audit_state::workflow(&found)), None)];
        self.store
            .tx("workflow_remove", |tx| {
                Box::pin(async move {
                    if tx.workflow_remove(project.id, name).await? > 0 {
                        tx.journal_append(event, audit).await?;
                    }
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.feed.ring();
        Ok(())
    }

    /// Begins an execution.
    pub async fn workflow_run(
        &self,
        cx: &Cx,
        project: &Project,
        name: &str,
        new: NewExecution,
    ) -> Result<ExecutionDetail, Error> {
        let version = self.workflow_get(project, name, new.version).await?.version;
        check_values(&new.values)?;
        let now = self.now();
        let bundle = self.workflow_bundle(project, &version).await?;
        let given = Given { values: new.values.clone(), now: seconds(now), ..Given::default() };
        let definition = defined(bundle, given).await?;
        look(&definition)?;
        let graph = definition.workflows.into_iter().find(|known| known.name == version.name);
        let graph = graph.ok_or_else(|| {
            Error::conflict(
                format!("with these values the file does not define `{}`", version.name),
                "give other values, or have the file define it always",
            )
        })?;
        check_options(&graph, &new.options)?;
        let care = self.execution_care(cx, project, &graph, &new.options).await?;
        let execution = Execution {
            id: self.ids.fresh(),
            project_id: project.id,
            workflow: version.name.clone(),
            version: version.version,
            bundle: version.bundle,
            state: match graph.handlers.contains(&Handler::Start) {
                _ if care.as_ref().is_some_and(|care| !care.phases.is_empty()) => {
                    ExecutionState::Preparing
                }
                true => ExecutionState::Beginning,
                false => ExecutionState::Running,
            },
            care,
            graph,
            values: new.values,
            options: new.options,
            is_cancel_requested: false,
            trace: cx.request.trace,
            generation: Generation::FIRST,
            created_by: cx.caller.principal_id,
            time_created: now,
            time_modified: now,
            time_begun: now,
            time_due: Some(now),
            time_ended: None,
        };
        self.execution_begin(cx, project, &execution).await
    }

    async fn execution_begin(
        &self,
        cx: &Cx,
        project: &Project,
        execution: &Execution,
    ) -> Result<ExecutionDetail, Error> {
        let spec = &like_its_tasks(execution);
        let deed = Deed {
            verb: Permission::WorkflowRun,
            project: Some(project),
            name: execution.workflow.clone(),
            what: What::Plain(json!({
                "workflow": execution.workflow,
                "bundle": execution.bundle,
                "values": execution.values,
                "options": execution.options,
            })),
            specs: vec![spec],
            node: None,
        };
        let pass = &self.approval_pass(cx, &deed).await?;
        let object = execution_object(execution);
        let words = format!("version {}", execution.version);
        let kind = EventKind::ExecutionCreated;
        let events = [self
            .event(kind, Some(project.id), &object, cx.actor(), words)
            .with_payload(execution_payload(execution))];
        let detail = json!({ "version": execution.version, "options": execution.options });
        let audit = [self
            .audit(cx, "execution.create", &object, Some(project.id), detail)
            .with_states(None, Some(&audit_state::execution(execution)))];
        let steps: Vec<ExecutionStep> = execution
            .graph
            .steps
            .iter()
            .enumerate()
            .map(|(i, step)| {
                ExecutionStep::new(execution.id, u32::try_from(i).unwrap_or(u32::MAX), &step.name)
            })
            .collect();
        let (steps, object, events, audit) = (&steps, &object, &events, &audit);
        let made = self
            .store
            .tx("execution_begin", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return made.id.parse().map_err(Error::internal);
                    }
                    check_secrets(tx, project, [("/options".to_owned(), spec)]).await?;
                    tx.execution_insert(execution, steps).await?;
                    let scope = BlobScope::Project(project.id);
                    let holder = execution.id.to_string();
                    tx.blob_use(&[(scope, execution.bundle, holder)], execution.time_created)
                        .await?;
                    self.approval_use(tx, cx, pass).await?;
                    tx.journal_append(events, audit).await?;
                    Ok::<_, Error>(execution.id)
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.has_executions.store(true, Ordering::Relaxed);
        self.wakers.execution.wake();
        self.feed.ring();
        self.execution_get(project, made).await
    }
}

/// A spec that stands for the tasks of an execution where somebody asks about them.
fn like_its_tasks(execution: &Execution) -> WorkloadSpec {
    let mut spec = WorkloadSpec { tags: vec!["workflow".to_owned()], ..WorkloadSpec::default() };
    spec.secrets = execution
        .options
        .secrets
        .iter()
        .map(|secret| SecretUse {
            secret: secret.clone(),
            env: None,
            file: Some(secret_file(secret)),
        })
        .collect();
    spec
}

pub(super) fn seconds(time: Timestamp) -> i64 {
    time.micros().div_euclid(1_000_000)
}

/// Defines a file in a thread of its own, because it computes.
async fn defined(bundle: Bundle, given: Given) -> Result<Definition, Error> {
    let work = move || define(&bundle.name, &bundle.text, Box::new(bundle.files), &given);
    let defined = tokio::task::spawn_blocking(work).await.map_err(Error::internal)?;
    defined.map_err(wrong)
}

fn look(definition: &Definition) -> Result<(), Error> {
    let mut problems = Vec::new();
    let is_name = |name: &str| {
        (1..=NAME_MAX).contains(&name.len()) && !name.contains(|c: char| c.is_control() || c == '/')
    };
    for workflow in &definition.workflows {
        if !is_name(&workflow.name) {
            let text = format!(
                "`{}`: a workflow's name has 1 to {NAME_MAX} printable characters without `/`",
                workflow.name
            );
            problems.push(Diagnostic::new("/bundle", text));
        }
        if workflow.steps.len() > STEPS_MAX {
            let text = format!("`{}` has more than {STEPS_MAX} tasks", workflow.name);
            problems.push(Diagnostic::new("/bundle", text));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
}

fn check_values(values: &Json) -> Result<(), Error> {
    let wrong = |text: &str| Err(Error::invalid(vec![Diagnostic::new("/values", text)]));
    if !matches!(values, Json::Null | Json::Object(_)) {
        return wrong("values are an object");
    }
    if values.to_string().len() > VALUES_MAX {
        return wrong("values have at most 1 MiB; give large content as a blob");
    }
    Ok(())
}

fn check_options(graph: &Workflow, options: &ExecutionOptions) -> Result<(), Error> {
    let mut problems = Vec::new();
    for (i, name) in options.only.iter().enumerate() {
        if graph.position(name).is_none() {
            let meant = nearest(name, graph.steps.iter().map(|step| step.name.as_str()));
            let text = match meant {
                Some(meant) => format!("there is no task `{name}`; did you mean `{meant}`?"),
                None => format!("there is no task `{name}`"),
            };
            problems.push(Diagnostic::new(format!("/options/only/{i}"), text));
        }
    }
    if options.at_once == Some(0) {
        problems.push(Diagnostic::new("/options/atOnce", "at least one step runs at once"));
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
}
