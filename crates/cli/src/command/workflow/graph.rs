//! Graphs of workflows: in words, for Graphviz, as a picture.

use std::collections::BTreeMap;
use std::fmt::Write;

use hostler_model::workflow::{Act, Delegation, Step, Workflow, order};

use super::super::{Cx, DONE};
use super::{given, server, svg, validate};
use crate::args::{GraphFormat, WorkflowGraphArgs};
use crate::failure::{Failure, Outcome};

pub async fn graph(cx: &Cx, args: &WorkflowGraphArgs) -> Outcome {
    let drawn = |workflow: &Workflow| {
        let drawn = match args.format {
            GraphFormat::Text => text(workflow),
            GraphFormat::Dot => dot(workflow),
            GraphFormat::Svg => svg::svg(workflow),
        };
        cx.ui.line(drawn.trim_end())
    };
    if let Some(name) = given::on_server(&args.file.file) {
        let is_otherwise = !args.file.values.is_empty() || !args.file.set.is_empty();
        if is_otherwise || args.file.workflow.is_some() || args.file.strict {
            return Err(Failure::usage(
                format!("the graph of `{name}` is as it was when it was pushed"),
                "leave --values, --set, --workflow and --strict out, or give the file",
            ));
        }
        drawn(&server::kept(cx, name).await?)?;
        return Ok(DONE);
    }
    let definition = validate::definition(cx, &args.file).await?;
    for workflow in validate::chosen(&definition, args.file.workflow.as_deref())? {
        drawn(workflow)?;
    }
    Ok(DONE)
}

/// How far each step is from the beginning.
pub fn layers(workflow: &Workflow) -> Vec<Vec<usize>> {
    let position: BTreeMap<&str, usize> =
        workflow.steps.iter().enumerate().map(|(i, step)| (step.name.as_str(), i)).collect();
    let mut layer = vec![0_usize; workflow.steps.len()];
    for i in order(workflow).unwrap_or_default() {
        let step = &workflow.steps[i];
        let before = step.depends_on.iter().chain(&step.after_failure_of);
        let deepest =
            before.filter_map(|name| position.get(name.as_str())).map(|&j| layer[j] + 1).max();
        layer[i] = deepest.unwrap_or(0);
    }
    let mut layers = vec![Vec::new(); layer.iter().max().map_or(0, |deepest| deepest + 1)];
    for (i, at) in layer.into_iter().enumerate() {
        layers[at].push(i);
    }
    layers
}

/// What a step does, in a few words.
pub fn act(step: &Step) -> String {
    let short = |text: &str| {
        let line = text.trim().lines().next().unwrap_or_default();
        let cut: String = line.chars().take(60).collect();
        if cut.len() < text.trim().len() { format!("{cut}…") } else { cut }
    };
    match &step.act {
        Act::Nothing => "nothing".to_owned(),
        Act::Command(line) => format!("$ {}", short(line)),
        Act::Program(words) => format!("$ {}", short(&words.join(" "))),
        Act::Function => format!("function ({})", step.place),
        Act::Script => "the whole file".to_owned(),
        Act::Approval(approval) => format!("waits for {} to agree", approval.count),
    }
}

/// Where a step runs, if it says so.
pub fn place(delegation: &Delegation) -> String {
    let place = &delegation.targets;
    if delegation.fallback { format!("{place}, or here") } else { place.to_string() }
}

fn text(workflow: &Workflow) -> String {
    let mut drawn = format!("{}\n", workflow.name);
    let layers = layers(workflow);
    for (at, layer) in layers.iter().enumerate() {
        let is_last_layer = at + 1 == layers.len();
        for (n, &i) in layer.iter().enumerate() {
            let step = &workflow.steps[i];
            let mark = if is_last_layer && n + 1 == layer.len() { "└─" } else { "├─" };
            let mut line = format!("{mark} {}{}", "   ".repeat(at), step.name);
            let after = |names: &[String]| names.join(", ");
            if !step.depends_on.is_empty() {
                let _ = write!(line, "  ← {}", after(&step.depends_on));
            }
            if !step.after_failure_of.is_empty() {
                let _ = write!(line, "  ← failure of {}", after(&step.after_failure_of));
            }
            if let Some(delegation) = step.delegate.as_ref().or(workflow.delegate.as_ref()) {
                let _ = write!(line, "  @ {}", place(delegation));
            }
            drawn.push_str(&line);
            drawn.push('\n');
        }
    }
    drawn
}

/// What would be done, step by step in an order that works.
pub fn plan(workflow: &Workflow) -> String {
    let mut told = workflow.name.clone();
    if !workflow.version.is_empty() {
        let _ = write!(told, " {}", workflow.version);
    }
    if !workflow.description.is_empty() {
        let _ = write!(told, ": {}", workflow.description);
    }
    told.push('\n');
    for (n, i) in order(workflow).unwrap_or_default().into_iter().enumerate() {
        let step = &workflow.steps[i];
        let _ = writeln!(told, "{:>3}. {}", n + 1, step.name);
        let mut detail = |what: &str| {
            let _ = writeln!(told, "     {what}");
        };
        if !step.description.is_empty() {
            detail(&step.description);
        }
        detail(&act(step));
        if !step.depends_on.is_empty() {
            detail(&format!("after {}", step.depends_on.join(", ")));
        }
        if !step.after_failure_of.is_empty() {
            detail(&format!("only if {} failed", step.after_failure_of.join(" or ")));
        }
        if let Some(delegation) = step.delegate.as_ref().or(workflow.delegate.as_ref()) {
            detail(&format!("on {}", place(delegation)));
        }
        if !step.run_if.is_empty() {
            detail("if its condition holds");
        }
        if step.retry.retries > 0 {
            detail(&format!(
                "tried again up to {} times, {}",
                step.retry.retries, step.retry.backoff
            ));
        }
        if let Some(timeout) = step.timeout {
            detail(&format!("at most {timeout}"));
        }
    }
    told.trim_end().to_owned()
}

fn dot(workflow: &Workflow) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let mut drawn = format!(
        "digraph {} {{\n  rankdir=LR;\n  node [shape=box, style=rounded];\n",
        quoted(&workflow.name)
    );
    for step in &workflow.steps {
        let _ = writeln!(drawn, "  {};", quoted(&step.name));
    }
    for step in &workflow.steps {
        for before in &step.depends_on {
            let _ = writeln!(drawn, "  {} -> {};", quoted(before), quoted(&step.name));
        }
        for before in &step.after_failure_of {
            let _ = writeln!(
                drawn,
                "  {} -> {} [style=dashed, label=\"failure\"];",
                quoted(before),
                quoted(&step.name)
            );
        }
    }
    drawn.push_str("}\n");
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diamond() -> Workflow {
        let step = |name: &str, on: &[&str]| Step {
            name: name.into(),
            depends_on: on.iter().map(|s| (*s).into()).collect(),
            act: Act::Command("true".into()),
            ..Step::default()
        };
        let mut steps = vec![
            step("fetch", &[]),
            step("build", &["fetch"]),
            step("lint", &["fetch"]),
            step("ship", &["build", "lint"]),
        ];
        steps.push(Step {
            name: "tell".into(),
            after_failure_of: vec!["build".into()],
            ..Step::default()
        });
        Workflow { name: "release".into(), steps, ..Workflow::default() }
    }

    #[test]
    fn graphs_are_drawn() {
        assert_eq!(layers(&diamond()), [vec![0], vec![1, 2], vec![3, 4]]);
        assert_eq!(
            text(&diamond()),
            "release\n├─ fetch\n├─    build  ← fetch\n├─    lint  ← fetch\n├─       ship  ← build, lint\n└─       tell  ← failure of build\n"
        );
        assert!(dot(&diamond()).contains("\"build\" -> \"tell\" [style=dashed"));
        let picture = svg::svg(&diamond());
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        assert_eq!(picture.matches("<rect").count(), 5);
        assert_eq!(picture.matches("<path").count(), 5);
    }

    #[test]
    fn a_plan_says_what_would_be_done() {
        assert!(plan(&diamond()).starts_with(
            "release\n  1. fetch\n     $ true\n  2. build\n     $ true\n     after fetch\n"
        ));
    }
}
