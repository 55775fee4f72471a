//! Workflows that the server keeps, and executions on its nodes.

use futures::TryStreamExt;
use hostler_api::task::LogsQuery;
use hostler_api::workflow::{
    ExecutionCancel, ExecutionGet, ExecutionList, ExecutionListQuery, ExecutionOutput,
    ExecutionOutputQuery, ExecutionPath, ExecutionRetry, ExecutionRetryBody, ExecutionView,
    WorkflowBundle, WorkflowGet, WorkflowList, WorkflowListQuery, WorkflowPath, WorkflowPush,
    WorkflowPushBody, WorkflowQuery, WorkflowRemove, WorkflowRun, WorkflowRunBody, WorkflowSource,
    WorkflowVersionList, WorkflowView,
};
use hostler_api::{ProjectPath, task::TaskPath};
use hostler_lua::Bundle;
use hostler_model::ExecutionId;
use hostler_model::workflow::{ExecutionOptions, Workflow};
use serde_json::Value as Json;

use super::super::{Cx, DONE, Link, NONE, PAGE, logs};
use super::{follow, given, graph, module, validate};
use crate::args::{
    WorkflowExecutionsArgs, WorkflowListArgs, WorkflowLogsArgs, WorkflowPushArgs,
    WorkflowResumeArgs, WorkflowRunArgs,
};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;

fn project(link: &Link) -> ProjectPath {
    ProjectPath { project: link.project.clone() }
}

fn named(link: &Link, workflow: &str) -> WorkflowPath {
    WorkflowPath { project: link.project.clone(), workflow: workflow.to_owned() }
}

fn path(link: &Link, execution: ExecutionId) -> ExecutionPath {
    ExecutionPath { project: link.project.clone(), execution }
}

pub async fn push(cx: &Cx, args: &WorkflowPushArgs) -> Outcome {
    let link = cx.link()?;
    let given = given::given(cx, &args.values, &args.set, args.strict)?;
    let mut kept = Vec::new();
    for file in &args.files {
        let (name, text) = given::read(&cx.ui, file)?;
        // Whatever is wrong with it is told here, where its lines are.
        let found = validate::defined(cx, &name, file, &text, &given).await?;
        let bundle = found.map_err(|mistakes| given::wrong(&mistakes))?.bundle;
        kept.extend(push_bundle(cx, &link, bundle, given.values.clone(), args.strict).await?);
    }
    if cx.is_for_people() && !cx.ui.is_quiet() {
        for workflow in &kept {
            let (name, version) = (&workflow.name, workflow.version);
            let (steps, with) = (workflow.graph.steps.len(), module::with(&workflow.modules));
            cx.ui.say(&format!("{name}: version {version}, {steps} steps{with}"));
        }
        return Ok(DONE);
    }
    output::list(&cx.ui, cx.now(), &kept)?;
    Ok(DONE)
}

async fn push_bundle(
    cx: &Cx,
    link: &Link,
    bundle: Bundle,
    values: Json,
    strict: bool,
) -> Result<Vec<WorkflowView>, Failure> {
    let body = WorkflowPushBody { bundle: module::sendable(bundle), values, strict };
    let pushed = link.client.call::<WorkflowPush>(&project(link), &NONE, &body).await?;
    for warning in &pushed.warnings {
        cx.ui.warn(warning);
    }
    Ok(pushed.workflows)
}

pub async fn ls(cx: &Cx, args: &WorkflowListArgs) -> Outcome {
    let link = cx.link()?;
    let query = WorkflowListQuery { limit: PAGE, filter: args.list.filter.clone(), cursor: None };
    let limit = args.list.limit;
    match &args.versions {
        Some(name) => {
            cx.list::<WorkflowVersionList, _>(&link, &named(&link, name), &query, limit).await
        }
        None => cx.list::<WorkflowList, _>(&link, &project(&link), &query, limit).await,
    }
}

pub async fn rm(cx: &Cx, workflows: &[String]) -> Outcome {
    let link = cx.link()?;
    for name in workflows {
        link.client.call::<WorkflowRemove>(&named(&link, name), &NONE, &NONE).await?;
        cx.ui.say(&format!("{name}: removed"));
    }
    Ok(DONE)
}

/// A workflow that the server keeps, or an execution there.
pub async fn show(cx: &Cx, what: &str) -> Outcome {
    let link = cx.link()?;
    if let Ok(id) = what.parse::<ExecutionId>() {
        let found = link.client.call::<ExecutionGet>(&path(&link, id), &NONE, &NONE).await?;
        return shown(cx, &found);
    }
    let query = WorkflowQuery { version: None };
    let found = link.client.call::<WorkflowGet>(&named(&link, what), &query, &NONE).await?;
    if cx.is_for_people() {
        cx.ui.line(&graph::plan(&found.graph))?;
        if !found.modules.is_empty() {
            cx.ui.line(&format!("version {}{}", found.version, module::with(&found.modules)))?;
        }
        return Ok(DONE);
    }
    cx.one(&found)
}

fn shown(cx: &Cx, found: &ExecutionView) -> Outcome {
    if !cx.is_for_people() {
        return cx.one(found);
    }
    cx.ui.line(&follow::standing(found))?;
    Ok(DONE)
}

pub async fn executions(cx: &Cx, link: &Link, args: &WorkflowExecutionsArgs) -> Outcome {
    let query = ExecutionListQuery {
        workflow: args.workflow.clone(),
        open: args.open.then_some(true),
        filter: args.list.filter.clone(),
        limit: PAGE,
        cursor: None,
    };
    cx.list::<ExecutionList, _>(link, &project(link), &query, args.list.limit).await
}

/// Carries a workflow out that the server keeps.
pub async fn run(cx: &Cx, args: &WorkflowRunArgs, name: &str, values: Json) -> Outcome {
    let link = cx.link()?;
    if args.dry_run {
        return dry_run(cx, &link, name, args.version).await;
    }
    begin(cx, &link, args, name, args.version, values).await
}

/// As it is kept, with the values of then.
async fn dry_run(cx: &Cx, link: &Link, name: &str, version: Option<u32>) -> Outcome {
    let query = WorkflowQuery { version };
    let found = link.client.call::<WorkflowGet>(&named(link, name), &query, &NONE).await?;
    if !cx.is_for_people() {
        return cx.one(&found);
    }
    cx.ui.line(&graph::plan(&found.graph))?;
    cx.ui.say("nothing was done");
    Ok(DONE)
}

/// Keeps a file, and carries its workflows out.
pub async fn run_file(cx: &Cx, args: &WorkflowRunArgs, bundle: Bundle, values: Json) -> Outcome {
    let link = cx.link()?;
    let kept = push_bundle(cx, &link, bundle, values.clone(), args.file.strict).await?;
    let wanted = args.file.workflow.as_deref();
    let chosen: Vec<&WorkflowView> =
        kept.iter().filter(|one| wanted.is_none_or(|name| one.name == name)).collect();
    if chosen.is_empty() {
        return Err(Failure::usage(
            format!("there is no workflow `{}` in the file", wanted.unwrap_or_default()),
            "`hostler workflow show FILE` lists them",
        ));
    }
    let mut last = DONE;
    for one in chosen {
        let version = Some(one.version);
        last = begin(cx, &link, args, &one.name, version, values.clone()).await?;
        if last != DONE {
            break;
        }
    }
    Ok(last)
}

async fn begin(
    cx: &Cx,
    link: &Link,
    args: &WorkflowRunArgs,
    name: &str,
    version: Option<u32>,
    values: Json,
) -> Outcome {
    let body = WorkflowRunBody {
        version,
        values,
        options: ExecutionOptions {
            only: args.tasks.clone(),
            delegate_to: args.delegate_to.clone(),
            secrets: args.secret.clone(),
            at_once: args.parallel,
            stack: args.stack.clone(),
        },
    };
    let begun = link.client.call::<WorkflowRun>(&named(link, name), &NONE, &body).await?;
    attend(cx, link, begun, args.detach).await
}

/// Waits for an execution, unless nobody wants to.
async fn attend(cx: &Cx, link: &Link, begun: ExecutionView, detach: bool) -> Outcome {
    if !detach {
        return follow::follow(cx, link, begun).await;
    }
    if cx.is_for_people() {
        let id = begun.id;
        cx.ui.line(&id.to_string())?;
        cx.ui.say(&format!("`hostler workflow show {id}` says how it stands"));
        return Ok(DONE);
    }
    cx.one(&begun)
}

/// The one execution on the server whose id begins like this.
pub async fn beginning_with(cx: &Cx, beginning: &str) -> Result<ExecutionId, Failure> {
    /// The newest ones that are looked at.
    const MOST: usize = 10_000;
    let link = cx.link()?;
    let query = ExecutionListQuery { limit: PAGE, ..ExecutionListQuery::default() };
    let pages =
        link.client.pages::<ExecutionList, ExecutionView>(&project(&link), &query, Some(MOST))?;
    let mut pages = std::pin::pin!(pages);
    let mut found = None;
    while let Some(one) = pages.try_next().await? {
        if !one.id.to_string().starts_with(beginning) {
            continue;
        }
        if found.replace(one.id).is_some() {
            return Err(Failure::usage(
                format!("several executions begin with `{beginning}`"),
                "give more of the id; `hostler workflow executions` lists them",
            ));
        }
    }
    found.ok_or_else(|| {
        Failure::told(
            exit::Code::NotFound,
            format!("there is no execution `{beginning}`, here or on the server"),
            "`hostler workflow executions` lists those on the server, with --here those of this machine",
        )
    })
}

/// A workflow as the server keeps it.
pub async fn kept(cx: &Cx, name: &str) -> Result<Workflow, Failure> {
    let link = cx.link()?;
    let query = WorkflowQuery { version: None };
    Ok(link.client.call::<WorkflowGet>(&named(&link, name), &query, &NONE).await?.graph)
}

/// The text of a workflow that the server keeps.
pub async fn source(cx: &Cx, name: &str) -> Result<WorkflowBundle, Failure> {
    let link = cx.link()?;
    let query = WorkflowQuery { version: None };
    Ok(link.client.call::<WorkflowSource>(&named(&link, name), &query, &NONE).await?)
}

/// Waits for an execution that is under way; has one that is over go on.
pub async fn resume(cx: &Cx, id: ExecutionId, args: &WorkflowResumeArgs) -> Outcome {
    if !args.secret.is_empty() {
        return Err(Failure::usage(
            "--secret is for executions of this machine; one on the server has those that it was begun with",
            "leave it out",
        ));
    }
    let link = cx.link()?;
    let found = link.client.call::<ExecutionGet>(&path(&link, id), &NONE, &NONE).await?;
    if found.state != "ended" {
        return attend(cx, &link, found, args.detach).await;
    }
    if found.outcome.as_deref() == Some("succeeded") && args.from.is_none() {
        cx.ui.say("it succeeded already; there is nothing left to do");
        return Ok(DONE);
    }
    let body = ExecutionRetryBody { from: args.from.clone(), uncertain: args.repeat_uncertain };
    let again = link.client.call::<ExecutionRetry>(&path(&link, id), &NONE, &body).await?;
    attend(cx, &link, again, args.detach).await
}

pub async fn cancel(cx: &Cx, executions: &[ExecutionId]) -> Outcome {
    let link = cx.link()?;
    for id in executions {
        let ended = link.client.call::<ExecutionCancel>(&path(&link, *id), &NONE, &NONE).await?;
        match ended.state.as_str() {
            "ended" => cx.ui.say(&format!("{id}: it is over already")),
            _ => cx.ui.say(&format!("{id}: asked to end")),
        }
    }
    Ok(DONE)
}

/// What the tasks of steps printed, in the order of the steps, the newest try of each.
pub async fn print_logs(cx: &Cx, args: &WorkflowLogsArgs) -> Outcome {
    let link = cx.link()?;
    let id = args.execution;
    let found = link.client.call::<ExecutionGet>(&path(&link, id), &NONE, &NONE).await?;
    let wanted = |name: &str| args.step.as_deref().is_none_or(|step| step == name);
    let steps: Vec<_> = found.steps.iter().filter(|step| wanted(&step.name)).collect();
    if steps.is_empty() {
        return Err(Failure::usage(
            format!("the execution has no step `{}`", args.step.as_deref().unwrap_or_default()),
            "`hostler workflow show EXECUTION` lists them",
        ));
    }
    let query = LogsQuery { follow: None, stream: None, tail: None, cursor: None };
    for step in steps {
        let newest = step.tasks.iter().map(|task| task.number).max();
        for task in step.tasks.iter().filter(|task| Some(task.number) == newest) {
            if args.step.is_none() {
                let node = task.node.as_deref().map(|node| format!(" on {node}"));
                cx.ui.say(&format!("== {}{}", step.name, node.unwrap_or_default()));
            }
            let path = TaskPath { project: link.project.clone(), task: task.id.to_string() };
            logs::print(cx, &link.client, &path, &query, || {}).await?;
        }
    }
    Ok(DONE)
}

pub async fn output(cx: &Cx, id: ExecutionId, step: &str) -> Outcome {
    let link = cx.link()?;
    let query = ExecutionOutputQuery { step: step.to_owned() };
    let told = link.client.call::<ExecutionOutput>(&path(&link, id), &query, &NONE).await?;
    let format = cx.ui.format().cloned().filter(|_| !cx.is_for_people());
    output::document(&cx.ui, &format.unwrap_or(output::Format::Json), &told.items)?;
    Ok(DONE)
}
