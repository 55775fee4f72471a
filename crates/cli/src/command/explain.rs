//! Why a task is where it is, and what codes mean.

use hostler_api::task::{Explanation, TaskExplain};
use hostler_model::Code;

use super::{Cx, DONE, NONE};
use crate::codes;
use crate::failure::Outcome;
use crate::output::{self, Description};

pub async fn explain(cx: &Cx, what: &str) -> Outcome {
    match what.parse::<Code>() {
        Ok(code) => {
            cx.ui.data(codes::explanation(code).as_bytes())?;
            Ok(DONE)
        }
        Err(_) => task(cx, what).await,
    }
}

pub async fn task(cx: &Cx, name: &str) -> Outcome {
    let link = cx.link()?;
    let path = link.task(name);
    let explanation = link.client.call::<TaskExplain>(&path, &NONE, &NONE).await?;
    match cx.ui.format() {
        Some(format) => output::document(&cx.ui, format, &explanation)?,
        None => cx.ui.data(render(&path.task, &explanation).as_bytes())?,
    }
    Ok(DONE)
}

pub(crate) fn render(name: &str, explanation: &Explanation) -> String {
    let mut text = Description::default();
    text.section("").text(format!("task {name} is {}: {}", explanation.state, explanation.summary));
    text.section("Nodes");
    for node in &explanation.nodes {
        let verdict = match (node.is_fitting, node.reasons.as_slice()) {
            (true, []) => "fits".to_owned(),
            (true, reasons) => format!("fits; {}", reasons.join("\n")),
            (false, reasons) => reasons.join("\n"),
        };
        text.pair(node.node.as_str(), verdict);
    }
    text.section("What would help");
    for hint in &explanation.hints {
        text.text(format!("- {hint}"));
    }
    if let Some(trace) = &explanation.trace {
        text.section("").text(format!("trace {trace}"));
    }
    text.render()
}
