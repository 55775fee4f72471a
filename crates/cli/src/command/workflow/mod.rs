//! `hostler workflow`: files that define workflows, and executions of them on this machine.

mod executions;
mod given;
mod graph;
mod modules;
mod progress;
mod run;
mod svg;
mod validate;

use super::Cx;
use crate::args::WorkflowCommand;
use crate::failure::Outcome;

pub async fn perform(cx: &Cx, command: WorkflowCommand) -> Outcome {
    match command {
        WorkflowCommand::Run(args) => Box::pin(run::run(cx, *args)).await,
        WorkflowCommand::Validate(args) => validate::validate(cx, &args),
        WorkflowCommand::Show(args) => validate::show(cx, &args),
        WorkflowCommand::Graph(args) => graph::graph(cx, &args),
        WorkflowCommand::Executions => executions::list(cx),
        WorkflowCommand::Resume(args) => Box::pin(run::resume(cx, args, false)).await,
        WorkflowCommand::Retry(args) => Box::pin(run::resume(cx, args, true)).await,
        WorkflowCommand::Modules(args) => modules::modules(cx, args.module.as_deref()),
    }
}
