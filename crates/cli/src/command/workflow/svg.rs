//! A workflow as a picture: layers from left to right, dashed where a failure leads.

use hostler_model::workflow::Workflow;

use super::super::drawing::{Drawing, Edge, Node};

pub fn svg(workflow: &Workflow) -> String {
    let node = |name: &String| Node { name: name.clone(), ..Node::default() };
    let nodes = workflow.steps.iter().map(|step| node(&step.name)).collect();
    let mut edges = Vec::new();
    for (after, step) in workflow.steps.iter().enumerate() {
        let good = step.depends_on.iter().map(|name| (name, ""));
        let bad = step.after_failure_of.iter().map(|name| (name, "failure"));
        for (name, label) in good.chain(bad) {
            let before = workflow.position(name);
            edges.extend(before.map(|before| Edge { before, after, label }));
        }
    }
    Drawing { title: workflow.name.clone(), nodes, edges }.svg()
}
