//! Which stacks use outputs of which.

use std::fmt::Write;

use hostler_api::stack_check::{
    StackDependencies, StackDependenciesView, StackDependencyCheck, StackDependencyCheckQuery,
    StackDependencyGraph, StackDependencyOrder, StackDependencyOrderBody, StackUseView,
};
use hostler_model::stack::{StackCheckLine, StackCheckResult};

use super::super::drawing::{Drawing, Node, Tone};
use super::super::{Cx, DONE, Link, NONE};
use super::{path, project};
use crate::args::{GraphFormat, StackDepsCommand};
use crate::exit;
use crate::failure::Outcome;
use crate::output;

pub async fn perform(cx: &Cx, command: StackDepsCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        StackDepsCommand::Show(args) => {
            let place = path(&link, &args.stack);
            let found = link.client.call::<StackDependencies>(&place, &NONE, &NONE).await?;
            if !cx.is_for_people() || cx.ui.is_quiet() {
                return cx.one(&found);
            }
            cx.ui.data(told(&found).as_bytes())?;
            Ok(DONE)
        }
        StackDepsCommand::Graph { format } => graph(cx, &link, format).await,
        StackDepsCommand::Check => {
            let query = StackDependencyCheckQuery::default();
            let place = project(&link);
            let found = link.client.call::<StackDependencyCheck>(&place, &query, &NONE).await?;
            checked(cx, &found.items)
        }
        StackDepsCommand::Order => order(cx, &link).await,
    }
}

fn checked(cx: &Cx, lines: &[StackCheckLine]) -> Outcome {
    output::list(&cx.ui, cx.now(), lines)?;
    let is_failed = lines.iter().any(|line| line.result == StackCheckResult::Failed);
    Ok(if is_failed { exit::Code::Unhealthy.number() } else { DONE })
}

fn told(found: &StackDependenciesView) -> String {
    let mut text = String::new();
    for (verb, uses) in [("uses", &found.uses), ("is used by", &found.used_by)] {
        for one in uses {
            let _ = writeln!(text, "{} {verb} {}", found.stack, used(one));
        }
    }
    if text.is_empty() {
        let _ = writeln!(text, "{} uses no other stack, and none uses it", found.stack);
    }
    text
}

fn used(one: &StackUseView) -> String {
    let mut text = format!("{}: {}", one.stack, one.outputs.join(", "));
    if !one.is_there {
        text.push_str("  (there is no such stack)");
    } else if !one.missing.is_empty() {
        let _ = write!(text, "  (it does not give {})", one.missing.join(", "));
    }
    text
}

async fn graph(cx: &Cx, link: &Link, format: GraphFormat) -> Outcome {
    let found = link.client.call::<StackDependencyGraph>(&project(link), &NONE, &NONE).await?;
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
        output::document(&cx.ui, format, &found)?;
        return Ok(DONE);
    }
    let mut nodes: Vec<Node> = Vec::new();
    for stack in &found.stacks {
        nodes.push(Node { name: stack.stack.to_string(), ..Node::default() });
    }
    for used in found.stacks.iter().flat_map(|stack| &stack.uses).filter(|used| !used.is_there) {
        let name = used.stack.to_string();
        if !nodes.iter().any(|node| node.name == name) {
            nodes.push(Node { name, note: "is not there".to_owned(), tone: Tone::Bad });
        }
    }
    let needs: Vec<(String, String)> = found
        .stacks
        .iter()
        .flat_map(|stack| {
            stack.uses.iter().map(|on| (stack.stack.to_string(), on.stack.to_string()))
        })
        .collect();
    let needs = needs.iter().map(|(after, before)| (after.as_str(), before.as_str()));
    let drawing = Drawing::of(&link.project, nodes, needs);
    cx.ui.line(drawing.draw(format).trim_end())?;
    if !found.circle.is_empty() {
        cx.ui.warn(&format!("these wait for each other: {}", found.circle.join(" → ")));
    }
    Ok(DONE)
}

async fn order(cx: &Cx, link: &Link) -> Outcome {
    let body = StackDependencyOrderBody { stacks: Vec::new() };
    let found = link.client.call::<StackDependencyOrder>(&project(link), &NONE, &body).await?;
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people() && !cx.ui.is_quiet()) {
        output::document(&cx.ui, format, &found)?;
        return Ok(DONE);
    }
    for name in found.waves.iter().flatten() {
        cx.ui.line(name.as_str())?;
    }
    Ok(DONE)
}
