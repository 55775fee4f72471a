//! An execution on the server, as people watch it: what its steps print, and how they stand.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use hostler_api::workflow::{
    ExecutionCancel, ExecutionGet, ExecutionPath, ExecutionPhaseView, ExecutionStepView,
    ExecutionView,
};
use hostler_flow::{Report, StepReport};
use hostler_model::workflow::{
    CareEnd, CareKind, CareStanding, ExecutionOutcome, Standing, StepEnd,
};
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
        let mut names: Vec<&str> = phases(&found).filter_map(busy).collect();
        names.extend(running.map(|step| step.name.as_str()).take(6));
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
    /// What was said of what is done for the stack.
    phases: BTreeMap<CareKind, String>,
    /// Tasks that undo steps, and whether their end was told.
    undoing: BTreeMap<WorkloadId, bool>,
}

impl Seen {
    /// What changed since the last look.
    fn news(&mut self, found: &ExecutionView) -> Vec<String> {
        let (mut told, mut last) = (Vec::new(), Vec::new());
        for phase in phases(found).filter(|phase| is_worth_telling(phase)) {
            let line = phase_line(phase);
            if self.phases.insert(phase.phase, line.clone()).as_ref() == Some(&line) {
                continue;
            }
            let is_first = CareKind::BEFORE.contains(&phase.phase)
                && phase.standing.end() != Some(CareEnd::Released);
            if is_first { told.push(line) } else { last.push(line) }
        }
        told.extend(news(&mut self.steps, found));
        told.extend(last);
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

fn phases(found: &ExecutionView) -> impl Iterator<Item = &ExecutionPhaseView> {
    found.stack.iter().flat_map(|stack| &stack.phases)
}

/// What is being done for a stack, in a word.
fn busy(phase: &ExecutionPhaseView) -> Option<&'static str> {
    matches!(phase.standing, CareStanding::Running { .. }).then_some(phase.phase.label())
}

/// What ended, and what waits for something.
fn is_worth_telling(phase: &ExecutionPhaseView) -> bool {
    match phase.standing {
        CareStanding::Waiting => false,
        CareStanding::Running { .. } => !phase.message.is_empty(),
        CareStanding::Held { .. } => true,
        CareStanding::Ended { end, .. } => end != CareEnd::Skipped,
    }
}

/// A phase in one line.
fn phase_line(phase: &ExecutionPhaseView) -> String {
    let mark = match phase.standing {
        CareStanding::Held { .. } => "✓",
        CareStanding::Running { .. } => "…",
        CareStanding::Waiting => "·",
        CareStanding::Ended { end, .. } => match end {
            CareEnd::Succeeded | CareEnd::Released => "✓",
            CareEnd::Warned => "!",
            CareEnd::Skipped => "-",
            CareEnd::Failed | CareEnd::Lost => "✗",
        },
    };
    let status = match phase.standing.end() {
        Some(CareEnd::Succeeded) => "",
        _ => phase.status.as_str(),
    };
    let mut line = format!("{mark} {}", phase.phase);
    for (before, words) in [(" ", status), (": ", phase.message.as_str())] {
        if !words.is_empty() {
            line.push_str(before);
            line.push_str(words);
        }
    }
    line
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
    if let Some(stack) = &found.stack {
        let _ = write!(text, "\nstack {}", stack.name);
        for phase in &stack.phases {
            let _ = write!(text, "\n  {}", phase_line(phase));
        }
        text.push_str("\nsteps");
    }
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
        stack: found.stack.as_ref().map(|stack| stack.name.to_string()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(kind: CareKind, standing: CareStanding, message: &str) -> ExecutionPhaseView {
        let (status, message) = (standing.label().to_owned(), message.to_owned());
        ExecutionPhaseView { phase: kind, status, standing, message }
    }

    #[test]
    fn a_phase_is_a_line_and_what_is_worth_it_is_told() {
        let at = Timestamp::default();
        let ended = |end| CareStanding::Ended { since: at, at, end };
        let running = CareStanding::Running { since: at, until: at };
        for (kind, standing, message, line, is_told) in [
            (CareKind::Lock, CareStanding::Waiting, "", "· lock waiting", false),
            (CareKind::Lock, running, "", "… lock running", false),
            (CareKind::Lock, running, "held by ada", "… lock running: held by ada", true),
            (CareKind::Lock, ended(CareEnd::Lost), "why", "✗ lock lost: why", true),
            (
                CareKind::Drift,
                ended(CareEnd::Warned),
                "a differs",
                "! drift warned: a differs",
                true,
            ),
            (CareKind::Snapshot, ended(CareEnd::Succeeded), "kept", "✓ snapshot: kept", true),
            (CareKind::Rollback, ended(CareEnd::Skipped), "", "- rollback skipped", false),
        ] {
            let phase = phase(kind, standing, message);
            assert_eq!((phase_line(&phase).as_str(), is_worth_telling(&phase)), (line, is_told));
        }
    }
}
