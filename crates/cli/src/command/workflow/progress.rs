//! What people see of an execution: lines as steps begin and end, what runs on a terminal, and a chart at the end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;
use std::time::Duration;

use hostler_flow::{Answer, Observer, Report, Told};
use hostler_lua::modules::Stream;
use hostler_model::workflow::{SkipReason, Step, StepEnd};

use super::super::Cx;
use crate::ui::{Spinner, Ui};

/// Tells a person, and asks them.
pub struct Telling {
    ui: Rc<Ui>,
    is_document: bool,
    is_asking: RefCell<bool>,
    approved: Vec<String>,
    names: RefCell<Vec<String>>,
    running: RefCell<BTreeMap<usize, String>>,
    spinner: Spinner,
}

impl Telling {
    pub fn new(cx: &Cx, is_asking: bool, approved: Vec<String>) -> Telling {
        Telling {
            is_document: !cx.is_for_people(),
            is_asking: RefCell::new(is_asking),
            approved,
            names: RefCell::default(),
            running: RefCell::default(),
            spinner: if is_asking { Spinner::none() } else { cx.ui.spinner("") },
            ui: Rc::clone(&cx.ui),
        }
    }

    fn name(&self, step: usize) -> String {
        self.names.borrow()[step].clone()
    }

    fn show_running(&self) {
        let running: Vec<String> = self.running.borrow().values().take(6).cloned().collect();
        self.spinner.message(running.join(", "));
    }

    fn say(&self, text: &str) {
        self.spinner.aside(|| self.ui.say(text));
    }
}

/// Seconds as people read them.
pub fn time(time: Duration) -> String {
    let millis = time.as_millis();
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        _ => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1_000),
    }
}

fn mark(end: StepEnd) -> &'static str {
    match end {
        StepEnd::Succeeded => "✓",
        StepEnd::Skipped => "-",
        _ => "✗",
    }
}

impl Observer for Telling {
    fn told(&self, told: &Told<'_>) {
        match told {
            Told::Began { workflow } => {
                *self.names.borrow_mut() =
                    workflow.steps.iter().map(|step| step.name.clone()).collect();
            }
            Told::Started { step, .. } => {
                self.running.borrow_mut().insert(*step, self.name(*step));
                self.show_running();
            }
            Told::Said { step, stream, text } => {
                let line = match step {
                    Some(step) => format!("{} | {text}\n", self.name(*step)),
                    None => format!("{text}\n"),
                };
                self.spinner.aside(|| {
                    let _nobody_listens = if self.is_document || *stream == Stream::Error {
                        self.ui.task_error_data(line.as_bytes())
                    } else {
                        self.ui.task_data(line.as_bytes())
                    };
                });
            }
            Told::Again { step, attempt, wait, message } => {
                self.running.borrow_mut().remove(step);
                self.show_running();
                self.say(&format!(
                    "↻ {}: {message}; try {attempt} in {}",
                    self.name(*step),
                    time(*wait)
                ));
            }
            Told::Ended { step, result, time: took } => {
                self.running.borrow_mut().remove(step);
                self.show_running();
                let mut line = format!("{} {}", mark(result.end), self.name(*step));
                if result.end != StepEnd::Succeeded {
                    let _ = write!(line, " {}", result.end);
                } else if result.changed == Some(false) {
                    line.push_str(" unchanged");
                }
                if !result.message.is_empty() {
                    let _ = write!(line, ": {}", result.message);
                }
                let _ = write!(line, " ({})", time(*took));
                self.say(&line);
            }
            Told::Skipped { step, reason } => {
                let why = match reason {
                    SkipReason::NotSelected => return,
                    SkipReason::Condition => "its condition does not hold",
                    SkipReason::Dependency => "something it depends on did not succeed",
                    SkipReason::NoFailure => "nothing failed that it is there for",
                    SkipReason::Ended => "the execution ended before its turn",
                };
                self.say(&format!("- {} skipped: {why}", self.name(*step)));
            }
            Told::Undoing { step } => self.say(&format!("↺ undoing {}", self.name(*step))),
            Told::Undone { step, result } if result.end != StepEnd::Succeeded => {
                let text = format!("{} could not be undone: {}", self.name(*step), result.message);
                self.spinner.aside(|| self.ui.warn(&text));
            }
            Told::Undone { .. } => {}
            Told::Warned { text } => self.spinner.aside(|| self.ui.warn(text)),
        }
    }

    fn asked(&self, step: &Step) -> Answer {
        if !*self.is_asking.borrow() {
            return Answer::Run;
        }
        loop {
            let prompt =
                format!("{}: run, skip, abort, or run all the rest? [r/s/a/c] ", step.name);
            match self.ui.ask(&prompt).unwrap_or_else(|_| "a".to_owned()).as_str() {
                "r" | "run" | "y" | "" => return Answer::Run,
                "s" | "skip" | "n" => return Answer::Skip,
                "a" | "abort" | "q" => return Answer::Abort,
                "c" | "continue" => {
                    *self.is_asking.borrow_mut() = false;
                    return Answer::Run;
                }
                _ => {}
            }
        }
    }

    fn agrees(&self, step: &Step) -> Option<bool> {
        if self.approved.contains(&step.name) {
            return Some(true);
        }
        if !self.ui.may_ask() {
            return None;
        }
        let message = match &step.act {
            hostler_model::workflow::Act::Approval(approval) if !approval.message.is_empty() => {
                approval.message.clone()
            }
            _ => format!("`{}` waits for somebody to agree", step.name),
        };
        let answer = self.ui.ask(&format!("{message}. Agree? [y/N] ")).ok()?;
        Some(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
    }
}

/// How an execution went: when each step ran, as a chart.
pub fn chart(report: &Report) -> String {
    const WIDE: u64 = 40;
    let whole = report.duration.max(1);
    let longest =
        report.tasks.iter().map(|task| task.name.chars().count()).max().unwrap_or(0).min(40);
    let mut drawn = format!(
        "{}: {} in {}\n",
        report.workflow,
        report.status,
        time(Duration::from_millis(report.duration))
    );
    for task in &report.tasks {
        let (Some(began), Some(took)) = (task.began, task.duration) else { continue };
        let before = began * WIDE / whole;
        let length = (took * WIDE / whole).max(1).min(WIDE - before.min(WIDE - 1));
        let bar: String =
            std::iter::repeat_n(' ', usize::try_from(before.min(WIDE - 1)).unwrap_or(0))
                .chain(std::iter::repeat_n('█', usize::try_from(length).unwrap_or(1)))
                .collect();
        let name: String = task.name.chars().take(40).collect();
        let _ =
            writeln!(drawn, "  {name:<longest$}  {bar:<40}  {}", time(Duration::from_millis(took)));
    }
    drawn.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use hostler_flow::StepReport;
    use hostler_model::workflow::ExecutionOutcome;

    use super::*;

    #[test]
    fn a_chart_shows_when_each_ran() {
        let step = |name: &str, began: u64, duration: u64| StepReport {
            name: name.into(),
            began: Some(began),
            duration: Some(duration),
            ..StepReport::default()
        };
        let report = Report {
            workflow: "release".into(),
            status: ExecutionOutcome::Succeeded,
            duration: 4_000,
            tasks: vec![step("build", 0, 2_000), step("ship", 2_000, 2_000)],
            outputs: serde_json::Value::Null,
            stack: None,
        };
        let drawn = chart(&report);
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines[0], "release: succeeded in 4.0 s");
        assert!(lines[1].starts_with("  build  ████████████████████ "));
        assert!(lines[2].starts_with("  ship                       ███"));
    }
}
