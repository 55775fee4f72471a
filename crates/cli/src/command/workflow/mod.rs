//! `hostler workflow`: files that define workflows, executions of them on this machine, and those on the server.

mod executions;
mod fmt;
mod follow;
mod given;
mod graph;
pub(super) mod module;
mod modules;
mod outputs;
mod progress;
mod run;
mod server;
mod svg;
mod validate;

use hostler_model::ExecutionId;

use super::Cx;
use crate::args::{WorkflowCommand, WorkflowResumeArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};

/// What files and flags give a workflow as `values`.
pub fn values_given(
    cx: &Cx,
    files: &[std::path::PathBuf],
    set: &[String],
) -> Result<serde_json::Value, Failure> {
    Ok(given::given(cx, files, set, false)?.values)
}

pub async fn perform(cx: &Cx, command: WorkflowCommand) -> Outcome {
    match command {
        WorkflowCommand::Run(args) => Box::pin(run::run(cx, *args)).await,
        WorkflowCommand::Validate(args) => validate::validate(cx, &args).await,
        WorkflowCommand::Push(args) => server::push(cx, &args).await,
        WorkflowCommand::Ls(args) => server::ls(cx, &args).await,
        WorkflowCommand::Rm { workflows } => server::rm(cx, &workflows).await,
        WorkflowCommand::Show(args) => match given::on_server(&args.file) {
            Some(what) => server::show(cx, what).await,
            None => validate::show(cx, &args).await,
        },
        WorkflowCommand::Graph(args) => graph::graph(cx, &args).await,
        WorkflowCommand::Executions(args) => match cx.link() {
            Ok(link) if !args.here => server::executions(cx, &link, &args).await,
            _ => executions::list(cx, &args),
        },
        WorkflowCommand::Logs(args) => server::print_logs(cx, &args).await,
        WorkflowCommand::Output(args) => server::output(cx, args.execution, &args.step).await,
        WorkflowCommand::Cancel(args) => server::cancel(cx, &args.executions).await,
        WorkflowCommand::Resume(args) => Box::pin(resume(cx, args, false)).await,
        WorkflowCommand::Retry(args) => Box::pin(resume(cx, args, true)).await,
        WorkflowCommand::Fmt(args) => fmt::fmt(cx, &args),
        WorkflowCommand::Modules(args) => modules::modules(cx, args.module.as_deref()),
        WorkflowCommand::Module(command) => module::perform(cx, command).await,
    }
}

/// Goes on with an execution of this machine, or of the server when it is none of this machine's.
async fn resume(cx: &Cx, args: WorkflowResumeArgs, repeat_failed: bool) -> Outcome {
    let here = match executions::find(cx, &args.execution) {
        Ok(_) => return Box::pin(run::resume(cx, args, repeat_failed)).await,
        Err(failure) => failure,
    };
    if here.exit() != exit::Code::NotFound.number() {
        return Err(here);
    }
    match args.execution.parse::<ExecutionId>() {
        Ok(id) => server::resume(cx, id, &args).await,
        Err(_) if cx.link().is_err() => Err(here),
        Err(_) => {
            let id = server::beginning_with(cx, &args.execution).await?;
            server::resume(cx, id, &args).await
        }
    }
}
