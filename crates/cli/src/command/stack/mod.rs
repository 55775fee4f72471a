//! `hostler stack`: templates whose objects are made, changed and taken down together.

mod carry;
mod change;
mod deps;
mod drift;
mod files;
mod follow;
mod form;
mod lock;
mod look;
mod plan;
mod plugin;
mod point;
mod validate;

use hostler_api::ProjectPath;
use hostler_api::stack::{StackCheck, StackPath, StackResume, StackSuspend};

use super::{Cx, Link, bare};
use crate::args::StackCommand;
use crate::failure::Outcome;

pub async fn perform(cx: &Cx, command: StackCommand) -> Outcome {
    match command {
        StackCommand::Plan(args) => plan::plan(cx, *args).await,
        StackCommand::Apply(args) => Box::pin(plan::apply(cx, *args)).await,
        StackCommand::Ls(args) => look::ls(cx, args).await,
        StackCommand::Show(args) => look::show(cx, &args.stack).await,
        StackCommand::Events(args) => look::events(cx, args).await,
        StackCommand::Outputs(args) => look::outputs(cx, args).await,
        StackCommand::Resources(args) => look::resources(cx, args).await,
        StackCommand::Resource(args) => look::resource(cx, &args).await,
        StackCommand::Graph(args) => look::graph(cx, args).await,
        StackCommand::Check(args) => carry::ask::<StackCheck>(cx, args).await,
        StackCommand::Drift(command) => Box::pin(drift::perform(cx, command)).await,
        StackCommand::Snapshot(command) => Box::pin(point::snapshots(cx, command)).await,
        StackCommand::Lock(command) => lock::perform(cx, command).await,
        StackCommand::Deps(command) => deps::perform(cx, command).await,
        StackCommand::Validate(args) => validate::validate(cx, args).await,
        StackCommand::History(args) => point::history(cx, args).await,
        StackCommand::Revision(command) => Box::pin(point::revisions(cx, command)).await,
        StackCommand::Export(args) => carry::export(cx, &args.stack).await,
        StackCommand::Import(args) => Box::pin(carry::import(cx, args)).await,
        StackCommand::Adopt(args) => carry::adopt(cx, args).await,
        StackCommand::Abandon(args) => carry::abandon(cx, &args.stack).await,
        StackCommand::Rm(args) => carry::rm(cx, args).await,
        StackCommand::Cancel(args) => carry::cancel(cx, args).await,
        StackCommand::Suspend(args) => carry::ask::<StackSuspend>(cx, args).await,
        StackCommand::Resume(args) => carry::ask::<StackResume>(cx, args).await,
        StackCommand::Signal(args) => carry::signal(cx, args).await,
        StackCommand::MarkUnhealthy(args) => carry::mark(cx, args).await,
        StackCommand::Hook(command) => carry::hooks(cx, command).await,
        StackCommand::Types { pattern } => look::types(cx, pattern).await,
        StackCommand::Type(args) => look::kind(cx, args).await,
        StackCommand::Plugin(command) => Box::pin(plugin::perform(cx, command)).await,
        StackCommand::Editions { version } => look::editions(cx, version).await,
    }
}

fn project(link: &Link) -> ProjectPath {
    ProjectPath { project: link.project.clone() }
}

fn path(link: &Link, stack: &str) -> StackPath {
    StackPath { project: link.project.clone(), stack: bare("stack", stack).to_owned() }
}
