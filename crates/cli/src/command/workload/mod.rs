//! Workloads.

mod apply;
mod describe;
mod exec;
mod logs;
mod settle;

use hostler_api::workload::{
    WorkloadExplain, WorkloadExplanation, WorkloadGet, WorkloadList, WorkloadListQuery,
    WorkloadNext, WorkloadNextQuery, WorkloadPath, WorkloadRemove, WorkloadRestart,
    WorkloadRunList, WorkloadStart, WorkloadStop, WorkloadUsage, WorkloadUsageQuery, WorkloadView,
};
use hostler_api::{Endpoint, Nothing, ProjectPath};

use super::{Cx, DONE, Link, NONE, PAGE, bare, watch};
use crate::args::{WorkloadCommand, WorkloadListArgs, WorkloadRefs};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Description};
use settle::Aim;

pub async fn perform(cx: &Cx, command: WorkloadCommand) -> Outcome {
    match command {
        WorkloadCommand::Ls(args) => ls(cx, args).await,
        WorkloadCommand::Describe(args) if cx.is_for_people() => {
            describe::describe(cx, &args.workload).await
        }
        WorkloadCommand::Get(args) | WorkloadCommand::Describe(args) => {
            let link = cx.link()?;
            cx.one(&get(&link, &args.workload).await?)
        }
        WorkloadCommand::Apply(args) => apply::apply(cx, args).await,
        WorkloadCommand::Validate(args) => apply::validate(cx, &args.files),
        WorkloadCommand::Start(args) => {
            each::<WorkloadStart>(cx, args, "is asked to run", Aim::Up).await
        }
        WorkloadCommand::Stop(args) => {
            each::<WorkloadStop>(cx, args, "is asked to stop", Aim::Down).await
        }
        WorkloadCommand::Restart(args) => {
            each::<WorkloadRestart>(cx, args, "is asked to restart", Aim::Up).await
        }
        WorkloadCommand::Logs(args) => logs::logs(cx, args).await,
        WorkloadCommand::Exec(args) => exec::exec(cx, args).await,
        WorkloadCommand::History(args) => {
            let link = cx.link()?;
            let path = link.workload(&args.workload.workload);
            let query = args.list.page();
            cx.list::<WorkloadRunList, _>(&link, &path, &query, args.list.limit).await
        }
        WorkloadCommand::Explain(args) => explain(cx, &args.workload).await,
        WorkloadCommand::Next(args) => {
            let link = cx.link()?;
            let path = link.workload(&args.workload.workload);
            let query = WorkloadNextQuery { count: Some(args.count), node: args.node };
            let fires = link.client.call::<WorkloadNext>(&path, &query, &NONE).await?;
            output::list(&cx.ui, cx.now(), &fires.items)?;
            Ok(DONE)
        }
        WorkloadCommand::Usage(args) => {
            let link = cx.link()?;
            let path = link.workload(&args.workload.workload);
            let since = Some(args.since.moment(cx.now()));
            let query = WorkloadUsageQuery { node: args.node, since };
            let samples = link.client.call::<WorkloadUsage>(&path, &query, &NONE).await?;
            output::workload_usage(&cx.ui, cx.now(), samples.items)?;
            Ok(DONE)
        }
        WorkloadCommand::Watch(args) => watch::workloads(cx, args.workload.as_deref()).await,
        WorkloadCommand::Rm(args) => {
            each::<WorkloadRemove>(cx, args, "is being removed", Aim::Gone).await
        }
    }
}

impl Link {
    pub fn workload(&self, name: &str) -> WorkloadPath {
        let workload = bare("workload", name).to_owned();
        WorkloadPath { project: self.project.clone(), workload }
    }
}

async fn get(link: &Link, name: &str) -> Result<WorkloadView, Failure> {
    Ok(link.client.call::<WorkloadGet>(&link.workload(name), &NONE, &NONE).await?)
}

async fn ls(cx: &Cx, args: WorkloadListArgs) -> Outcome {
    let link = cx.link()?;
    let path = ProjectPath { project: link.project.clone() };
    let query = WorkloadListQuery {
        mode: args.mode,
        tag: args.tag,
        phase: args.phase,
        filter: args.list.filter,
        limit: PAGE,
        ..WorkloadListQuery::default()
    };
    cx.list::<WorkloadList, _>(&link, &path, &query, args.list.limit).await
}

/// Asks the same of several workloads, and where wanted waits until it has come about.
async fn each<E>(cx: &Cx, args: WorkloadRefs, what: &str, aim: Aim) -> Outcome
where
    E: Endpoint<Path = WorkloadPath, Query = Nothing, Body = Nothing, Reply = WorkloadView>,
{
    let link = cx.link()?;
    let mut asked = Vec::with_capacity(args.workloads.len());
    for name in &args.workloads {
        let view = link.client.call::<E>(&link.workload(name), &NONE, &NONE).await?;
        if !args.wait.wait {
            cx.changed(&view, what)?;
        }
        asked.push(view);
    }
    match args.wait.wait {
        true => settle::all(cx, &link, asked, aim, args.wait.timeout).await,
        false => Ok(DONE),
    }
}

async fn explain(cx: &Cx, name: &str) -> Outcome {
    let link = cx.link()?;
    let path = link.workload(name);
    let explanation = link.client.call::<WorkloadExplain>(&path, &NONE, &NONE).await?;
    match cx.ui.format() {
        Some(format) => output::document(&cx.ui, format, &explanation)?,
        None => {
            let mut text = Description::default();
            let WorkloadExplanation { phase, summary, .. } = &explanation;
            text.section("").text(format!("workload {} is {phase}: {summary}", path.workload));
            reasons(&mut text, &explanation);
            cx.ui.data(text.render().as_bytes())?;
        }
    }
    Ok(DONE)
}

fn reasons(text: &mut Description, explanation: &WorkloadExplanation) {
    text.section("Nodes");
    for node in &explanation.nodes {
        let verdict = match (&node.standing, node.is_fitting) {
            (Some(standing), _) => standing.clone(),
            (None, true) => "fits".to_owned(),
            (None, false) => node.reasons.join("; "),
        };
        text.pair(node.node.as_str(), verdict);
    }
    text.section("What would help");
    for hint in &explanation.hints {
        text.text(format!("- {hint}"));
    }
}
