//! `docs/reference/states.md`: every state machine, drawn by asking its transition function.
//!
//! Nothing here knows a rule: each table and diagram is made by applying every event to every state.
//! The words around it are the essay at the top of the module that defines the states.

use std::fmt::Write as _;
use std::path::Path;

use hostler_model::{
    Desired, Exit, ExitReason, LivenessEvent, NodeState, OperationEvent, OperationState,
    PlacementId, RunEvent, RunId, RunState, RunStateKind, TaskEvent, TaskState, TaskStateKind,
    Timestamp,
};

use super::labels::Docs;

/// One state machine, flattened to labels.
struct Machine {
    title: &'static str,
    source: &'static str,
    enum_name: &'static str,
    states: Vec<&'static str>,
    events: Vec<String>,
    moves: Vec<Move>,
}

struct Move {
    from: &'static str,
    event: String,
    to: &'static str,
}

pub fn page(root: &Path) -> anyhow::Result<String> {
    let mut page = super::heading("States", "the transition functions in `crates/model/src`");
    page.push_str(
        "A state changes only through one function per machine. The tables list every event in every\n\
         state; where a cell is empty the event changes nothing there or is refused, and where it names two\n\
         states, the second is for what was asked to stop.\n",
    );
    for machine in [node(), task(), run(), operation()] {
        machine.render(root, &mut page)?;
    }
    Ok(page)
}

impl Machine {
    fn render(&self, root: &Path, page: &mut String) -> anyhow::Result<()> {
        let docs = Docs::read(root, self.source, self.enum_name, self.states.iter().copied())?;
        write!(page, "\n## {}\n\n", self.title)?;
        page.push_str(&essay(&super::read(root, self.source)?));
        self.diagram(page)?;
        for state in &self.states {
            let text = docs.get(state);
            if !text.is_empty() {
                writeln!(page, "- **{state}**: {text}")?;
            }
        }
        if self.states.iter().any(|state| !docs.get(state).is_empty()) {
            page.push('\n');
        }
        self.table(page)
    }

    fn diagram(&self, page: &mut String) -> anyhow::Result<()> {
        page.push_str("```mermaid\nstateDiagram-v2\n");
        if let Some(first) = self.states.first() {
            writeln!(page, "    [*] --> {first}")?;
        }
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for step in &self.moves {
            if !pairs.contains(&(step.from, step.to)) {
                pairs.push((step.from, step.to));
            }
        }
        for (from, to) in pairs {
            let mut events: Vec<&str> = Vec::new();
            for step in self.moves.iter().filter(|m| m.from == from && m.to == to) {
                if !events.contains(&step.event.as_str()) {
                    events.push(&step.event);
                }
            }
            writeln!(page, "    {from} --> {to}: {}", events.join(", "))?;
        }
        for state in self.states.iter().filter(|state| self.is_final(state)) {
            writeln!(page, "    {state} --> [*]")?;
        }
        page.push_str("```\n\n");
        Ok(())
    }

    fn table(&self, page: &mut String) -> anyhow::Result<()> {
        writeln!(page, "| state | {} |", self.events.join(" | "))?;
        writeln!(page, "|---|{}", "---|".repeat(self.events.len()))?;
        for state in &self.states {
            let cell = |event: &String| {
                let mut targets = Vec::new();
                for step in &self.moves {
                    let is_here = step.from == *state && step.event == *event;
                    if is_here && !targets.contains(&step.to) {
                        targets.push(step.to);
                    }
                }
                targets.join(" or ")
            };
            let cells: Vec<String> = self.events.iter().map(cell).collect();
            writeln!(page, "| **{state}** | {} |", cells.join(" | "))?;
        }
        Ok(())
    }

    fn is_final(&self, state: &str) -> bool {
        !self.moves.iter().any(|m| m.from == state)
    }
}

fn node() -> Machine {
    let states = NodeState::ALL;
    let events = LivenessEvent::ALL;
    Machine {
        title: "Node",
        source: "crates/model/src/node/state.rs",
        enum_name: "NodeState",
        states: states.iter().map(|state| state.label()).collect(),
        events: events.iter().map(ToString::to_string).collect(),
        moves: moves(states, events, |state, event| {
            let to = state.apply(*event)?;
            Some((state.label(), event.to_string(), to.label()))
        }),
    }
}

fn operation() -> Machine {
    let states = OperationState::ALL;
    let events = OperationEvent::ALL;
    Machine {
        title: "Operation",
        source: "crates/model/src/operation/mod.rs",
        enum_name: "OperationState",
        states: states.iter().map(|state| state.label()).collect(),
        events: events.iter().map(ToString::to_string).collect(),
        moves: moves(states, events, |state, event| {
            let to = state.apply(*event)?;
            Some((state.label(), event.to_string(), to.label()))
        }),
    }
}

fn run() -> Machine {
    let states: Vec<RunState> = RunStateKind::ALL.iter().map(|kind| run_in(*kind)).collect();
    let why = || "away".to_owned();
    let time = Timestamp::EPOCH;
    let events = [
        ("started", RunEvent::Started { pid: 1, time }),
        ("paused", RunEvent::Paused { pid: 1, time }),
        ("exited", RunEvent::Exited { exit: exit_zero() }),
        ("lost", RunEvent::Lost { why: why(), time }),
    ];
    Machine {
        title: "Run",
        source: "crates/model/src/workload/run.rs",
        enum_name: "RunStateKind",
        states: RunStateKind::ALL.iter().map(|kind| kind.label()).collect(),
        events: events.iter().map(|(name, _)| (*name).to_owned()).collect(),
        moves: moves(&states, &events, |state, (name, event)| {
            let to = state.apply(event.clone())?;
            Some((state.kind().label(), (*name).to_owned(), to.kind().label()))
        }),
    }
}

fn task() -> Machine {
    let states: Vec<TaskState> = TaskStateKind::ALL.iter().map(|k| task_in(*k)).collect();
    let (placement, run, time) = (placement(), run_id(), Timestamp::EPOCH);
    let exited = |reason, code| TaskEvent::Exited { run, exit: exit(reason, code) };
    let named = [
        ("approved", TaskEvent::Approved),
        ("rejected", TaskEvent::Rejected { why: "no".to_owned(), time }),
        ("placed", TaskEvent::Placed { placement }),
        ("found", TaskEvent::Found { placement }),
        ("returned", TaskEvent::Returned),
        ("started", TaskEvent::Started { placement, run }),
        ("paused", TaskEvent::Paused { placement, run }),
        ("exit 0", exited(ExitReason::Exited, Some(0))),
        ("exit otherwise", exited(ExitReason::Exited, Some(1))),
        ("out of memory", exited(ExitReason::OutOfMemory, None)),
        ("stopped", exited(ExitReason::Stopped, None)),
        ("vanished", exited(ExitReason::Vanished, None)),
        ("requeued", TaskEvent::Requeued),
        ("gave up", TaskEvent::GaveUp { exit: exit(ExitReason::GivenUp, None) }),
        ("cancelled", TaskEvent::Cancelled),
        ("lost", TaskEvent::Lost { why: "away".to_owned(), time }),
    ];
    let mut events = Vec::new();
    for (name, event) in &named {
        events.extend(Desired::ALL.iter().map(|desired| (*name, event, *desired)));
    }
    Machine {
        title: "Task",
        source: "crates/model/src/workload/state.rs",
        enum_name: "TaskStateKind",
        states: TaskStateKind::ALL.iter().map(|kind| kind.label()).collect(),
        events: named.iter().map(|(name, _)| (*name).to_owned()).collect(),
        moves: moves(&states, &events, |state, (name, event, desired)| {
            let to = state.apply(*desired, (*event).clone()).ok()?;
            Some((state.kind().label(), (*name).to_owned(), to.kind().label()))
        }),
    }
}

/// Applies every event to every state.
fn moves<S, E>(
    states: &[S],
    events: &[E],
    apply: impl Fn(&S, &E) -> Option<(&'static str, String, &'static str)>,
) -> Vec<Move> {
    let apply = &apply;
    states
        .iter()
        .flat_map(|state| events.iter().filter_map(move |event| apply(state, event)))
        .map(|(from, event, to)| Move { from, event, to })
        .collect()
}

fn placement() -> PlacementId {
    "00000000-0000-7000-8000-000000000001".parse().expect("a literal UUID")
}

fn run_id() -> RunId {
    "00000000-0000-7000-8000-000000000002".parse().expect("a literal UUID")
}

fn exit(reason: ExitReason, code: Option<i32>) -> Exit {
    Exit { reason, code, signal: None, message: None, time: Timestamp::EPOCH }
}

fn exit_zero() -> Exit {
    exit(ExitReason::Exited, Some(0))
}

fn run_in(kind: RunStateKind) -> RunState {
    let time = Timestamp::EPOCH;
    match kind {
        RunStateKind::Assigned => RunState::Assigned,
        RunStateKind::Running => RunState::Running { pid: 1, since: time },
        RunStateKind::Paused => RunState::Paused { pid: 1, since: time },
        RunStateKind::Exited => RunState::Exited { exit: exit_zero() },
        RunStateKind::Lost => RunState::Lost { why: "away".to_owned(), time },
    }
}

fn task_in(kind: TaskStateKind) -> TaskState {
    let (placement, run, time) = (placement(), run_id(), Timestamp::EPOCH);
    match kind {
        TaskStateKind::PendingApproval => TaskState::PendingApproval,
        TaskStateKind::Rejected => TaskState::Rejected { why: "no".to_owned(), time },
        TaskStateKind::Pending => TaskState::Pending,
        TaskStateKind::Assigning => TaskState::Assigning { placement },
        TaskStateKind::Running => TaskState::Running { placement, run },
        TaskStateKind::Paused => TaskState::Paused { placement, run },
        TaskStateKind::Completed => TaskState::Completed { run, exit: exit_zero() },
        TaskStateKind::Failed => {
            TaskState::Failed { run: Some(run), exit: exit(ExitReason::Exited, Some(1)) }
        }
        TaskStateKind::Killed => TaskState::Killed { run: None, exit: None },
        TaskStateKind::KilledOom => {
            TaskState::KilledOom { run, exit: exit(ExitReason::OutOfMemory, None) }
        }
        TaskStateKind::Stopped => TaskState::Stopped { run, exit: exit(ExitReason::Stopped, None) },
        TaskStateKind::Lost => TaskState::Lost { placement, why: "away".to_owned(), time },
    }
}

/// The prose of a module's opening comment: without its title line and its text drawings.
fn essay(source: &str) -> String {
    let lines = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(|line| line.strip_prefix(' ').unwrap_or(line));
    let mut prose = String::new();
    let mut is_drawing = false;
    for line in lines.skip_while(|line| !line.is_empty()) {
        if line.starts_with("```") {
            is_drawing = !is_drawing;
        } else if !is_drawing {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    let paragraphs: Vec<&str> =
        prose.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()).collect();
    match paragraphs.join("\n\n") {
        text if text.is_empty() => text,
        text => text + "\n\n",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_essay_keeps_prose_and_drops_drawings() {
        let source = "//! Title.\n//!\n//! ```text\n//!  a --> b\n//! ```\n//!\n//! Owner is\n//! x.\nuse y;\n//! no\n";
        assert_eq!(essay(source), "Owner is\nx.\n\n");
        assert_eq!(essay("//! Only a title.\n"), "");
    }

    #[test]
    fn samples_are_of_the_kind_they_stand_for() {
        for kind in TaskStateKind::ALL {
            assert_eq!(task_in(*kind).kind(), *kind);
        }
        for kind in RunStateKind::ALL {
            assert_eq!(run_in(*kind).kind(), *kind);
        }
    }
}
