//! An execution on the server, as people watch it: what its steps print, and how they stand.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use hostler_api::workflow::{
    ExecutionCancel, ExecutionGet, ExecutionPath, ExecutionStepView, ExecutionView,
};
use hostler_flow::{Report, StepReport};
use hostler_model::workflow::{ExecutionOutcome, Standing, StepEnd};
use hostler_model::{Timestamp, WorkloadId};
use tokio::signal::unix::{SignalKind, signal};

use super::super::{Cx, DONE, Link, NONE};
use super::outputs::Outputs;
use super::progress::{chart, time};
use crate::exit;
use crate::failure::Outcome;

const LOOK_FIRST: Duration = Duration::from_millis(100);
const LOOK_LATER: Duration = Duration::from_secs(1);

/// Tells what happens until it is over. Interrupting asks for its end once, and stops watching the second time.
pub async fn follow(cx: &Cx, link: &Link, begun: ExecutionView) -> Outcome {
    let path = ExecutionPath { project: link.project.clone(), execution: begun.id };
    let spinner = cx.ui.spinner("");
    if cx.is_for_people() {
        spinner.aside(|| cx.ui.say(&format!("execution {}", begun.id)));
    }
    let mut seen = Seen::default();
    let mut outputs = Outputs::new(cx, link);
    let mut found = begun;
    let (mut wait, mut is_interrupted) = (LOOK_FIRST, false);
    let mut interrupt = signal(SignalKind::interrupt())?;
    loop {
        outputs.look(&found);
        let told = seen.news(&found);
        if cx.is_for_people() {
            spinner.aside(|| told.iter().for_each(|line| cx.ui.say(line)));
        }
        let running = found.steps.iter().filter(|s| matches!(s.standing, Standing::Running { .. }));
        let names: Vec<&str> = running.map(|step| step.name.as_str()).take(6).collect();
        spinner.message(names.join(", "));
        if found.state == "ended" {
            break;
        }
        wait = if told.is_empty() { (wait * 2).min(LOOK_LATER) } else { LOOK_FIRST };
        let mut pause = std::pin::pin!(super::super::pause(wait));
        loop {
            tokio::select! {
                biased;
                Some(()) = interrupt.recv() => {
                    if is_interrupted {
                        return Ok(exit::INTERRUPTED);
                    }
                    is_interrupted = true;
                    link.client.call::<ExecutionCancel>(&path, &NONE, &NONE).await?;
                    spinner.aside(|| cx.ui.say("asked to end; once more stops watching"));
                    break;
                }
                () = &mut pause => break,
                () = outputs.next(&spinner) => {}
            }
        }
        found = link.client.call::<ExecutionGet>(&path, &NONE, &NONE).await?;
    }
    outputs.rest(&spinner).await;
    drop(spinner);
    ended(cx, &found)
}

/// What was told.
#[derive(Default)]
struct Seen {
    steps: BTreeMap<String, (Standing, u32)>,
    /// Tasks that undo steps, and whether their end was told.
    undoing: BTreeMap<WorkloadId, bool>,
}

impl Seen {
    /// What changed since the last look.
    fn news(&mut self, found: &ExecutionView) -> Vec<String> {
        let mut told = news(&mut self.steps, found);
        for step in &found.steps {
            for task in step.tasks.iter().rev().filter(|task| task.kind == "undo") {
                let before = self.undoing.insert(task.id, task.end.is_some());
                if before.is_none() {
                    told.push(format!("↺ undoing {}", step.name));
                }
                match task.end.as_deref().filter(|_| before != Some(true)) {
                    Some("succeeded") => told.push(format!("↺ {} undone", step.name)),
                    Some(end) => told.push(format!("✗ {} could not be undone: {end}", step.name)),
                    None => {}
                }
            }
        }
        told
    }
}

fn news(seen: &mut BTreeMap<String, (Standing, u32)>, found: &ExecutionView) -> Vec<String> {
    let mut told = Vec::new();
    for step in &found.steps {
        let now = (step.standing, step.tries);
        if seen.insert(step.name.clone(), now) == Some(now) {
            continue;
        }
        match step.standing {
            Standing::Ended(_) | Standing::Skipped(_) => told.push(line(step)),
            Standing::Resting { attempt, .. } => {
                told.push(format!("↻ {}: {}; try {attempt} follows", step.name, step.message));
            }
            Standing::Running { .. } if step.approval.is_some() && step.tasks.is_empty() => {
                told.push(format!("… {}: {}", step.name, step.message));
            }
            Standing::Waiting | Standing::Running { .. } => {}
        }
    }
    told
}

/// A step in one line.
fn line(step: &ExecutionStepView) -> String {
    let mark = match step.standing {
        Standing::Ended(StepEnd::Succeeded) => "✓",
        Standing::Ended(StepEnd::Skipped) | Standing::Skipped(_) => "-",
        Standing::Ended(_) => "✗",
        Standing::Running { .. } => "▶",
        Standing::Resting { .. } => "↻",
        Standing::Waiting => "·",
    };
    let mut line = format!("{mark} {}", step.name);
    if step.standing != Standing::Ended(StepEnd::Succeeded) {
        let _ = write!(line, " {}", step.status);
    } else if step.changed == Some(false) {
        line.push_str(" unchanged");
    }
    if step.is_undone {
        line.push_str(" (undone)");
    }
    match step.standing {
        Standing::Skipped(reason) => {
            let _ = write!(line, ": {}", reason.words());
        }
        _ if step.message.is_empty() => {}
        _ => {
            let _ = write!(line, ": {}", step.message);
        }
    }
    let nodes: Vec<&str> = step
        .tasks
        .iter()
        .filter(|task| task.number == step.tries && task.kind == "try")
        .filter_map(|task| task.node.as_deref())
        .collect();
    if !nodes.is_empty() {
        let _ = write!(line, " [{}]", nodes.join(", "));
    }
    if let (Some(began), Some(ended)) = (step.time_started, step.time_ended) {
        let _ = write!(line, " ({})", time(ended.since(began)));
    }
    line
}

/// How an execution stands, for people.
pub fn standing(found: &ExecutionView) -> String {
    let status = found.outcome.as_deref().unwrap_or(&found.state);
    let mut text = format!("{} version {}: {status}", found.workflow, found.version);
    let _ = write!(text, "\nexecution {} by {}", found.id, found.created_by);
    for step in &found.steps {
        let _ = write!(text, "\n  {}", line(step));
    }
    if !found.outputs.is_null() {
        let _ = write!(text, "\noutputs: {}", found.outputs);
    }
    text
}

fn millis(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.since(from).as_millis()).unwrap_or(u64::MAX)
}

fn report(found: &ExecutionView, outcome: ExecutionOutcome) -> Report {
    let begun = found.time_created;
    let step = |step: &ExecutionStepView| StepReport {
        name: step.name.clone(),
        status: step.status.clone(),
        message: step.message.clone(),
        attempts: step.tries,
        began: step.time_started.map(|at| millis(begun, at)),
        duration: step.time_started.zip(step.time_ended).map(|(from, to)| millis(from, to)),
        changed: step.changed,
        output: serde_json::Value::Null,
    };
    Report {
        workflow: found.workflow.clone(),
        status: outcome,
        duration: found.time_ended.map_or(0, |ended| millis(begun, ended)),
        tasks: found.steps.iter().map(step).collect(),
        outputs: found.outputs.clone(),
        stack: None,
    }
}

fn ended(cx: &Cx, found: &ExecutionView) -> Outcome {
    let outcome = found.outcome.as_deref().and_then(|outcome| outcome.parse().ok());
    let outcome = outcome.unwrap_or(ExecutionOutcome::Failed);
    if cx.is_for_people() {
        cx.ui.say(&chart(&report(found, outcome)));
        if outcome != ExecutionOutcome::Succeeded {
            let id = found.id;
            cx.ui.say(&format!(
                "`hostler workflow logs {id}` prints what it printed, `hostler workflow retry {id}` does again what failed"
            ));
        }
        if !found.outputs.is_null() {
            cx.ui.say(&format!("outputs: {}", found.outputs));
        }
    } else {
        cx.one(found)?;
    }
    Ok(match outcome {
        ExecutionOutcome::Succeeded => DONE,
        ExecutionOutcome::Failed => exit::Code::Unhealthy.number(),
        ExecutionOutcome::TimedOut => exit::Code::TimedOut.number(),
        ExecutionOutcome::Cancelled => exit::INTERRUPTED,
    })
}
