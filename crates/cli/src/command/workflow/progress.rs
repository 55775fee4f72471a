//! What people see of an execution: a line when a step ends; on a terminal, below those, what runs and for how long, and
//! how many are left; and a chart at the end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hostler_flow::{Answer, Observer, Report, Told};
use hostler_lua::modules::Stream;
use hostler_model::workflow::{SkipReason, Step, StepEnd};

use super::super::Cx;
use crate::output::lines;
use crate::ui::{Spinner, Ui};

/// Tells a person, and asks them.
pub struct Telling {
    ui: Rc<Ui>,
    is_document: bool,
    is_asking: RefCell<bool>,
    approved: Vec<String>,
    names: RefCell<Vec<String>>,
    board: Arc<Mutex<Board>>,
    spinner: Spinner,
}

/// What is shown while it runs.
#[derive(Default)]
struct Board {
    running: BTreeMap<usize, Line>,
    all: usize,
    done: usize,
    skipped: usize,
    failed: usize,
    began: Option<Instant>,
}

struct Line {
    name: String,
    attempt: u32,
    since: Instant,
}

impl Board {
    /// The most steps that have a line.
    const SHOWN: usize = 8;

    fn draw(&self, now: Instant) -> String {
        const TURNS: [char; 8] = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠧', '⠇', '⠏'];
        let Some(began) = self.began else { return String::new() };
        let since = |begun: Instant| now.saturating_duration_since(begun);
        let turn = usize::try_from(since(began).as_millis() / 120).unwrap_or(0) % TURNS.len();
        let mut drawn = String::new();
        for line in self.running.values().take(Self::SHOWN) {
            let _ = write!(drawn, "{} {}", TURNS[turn], lines(&line.name));
            if line.attempt > 1 {
                let _ = write!(drawn, " (try {})", line.attempt);
            }
            let _ = writeln!(drawn, "  {}", time(since(line.since)));
        }
        let more = self.running.len().saturating_sub(Self::SHOWN);
        if more > 0 {
            let _ = writeln!(drawn, "  and {more} more");
        }
        let _ = write!(drawn, "{} of {} done", self.done, self.all);
        for (count, what) in [(self.skipped, "skipped"), (self.failed, "failed")] {
            if count > 0 {
                let _ = write!(drawn, ", {count} {what}");
            }
        }
        let _ = write!(drawn, "  {}", time(since(began)));
        drawn
    }
}

impl Telling {
    pub fn new(cx: &Cx, is_asking: bool, approved: Vec<String>) -> Telling {
        let board: Arc<Mutex<Board>> = Arc::default();
        let drawn = Arc::clone(&board);
        let draw = move || locked(&drawn).draw(Instant::now());
        Telling {
            is_document: !cx.is_for_people(),
            is_asking: RefCell::new(is_asking),
            approved,
            names: RefCell::default(),
            board,
            spinner: if is_asking { Spinner::none() } else { cx.ui.board(draw) },
            ui: Rc::clone(&cx.ui),
        }
    }

    fn name(&self, step: usize) -> String {
        self.names.borrow()[step].clone()
    }

    pub fn say(&self, text: &str) {
        self.spinner.aside(|| self.ui.say(text));
    }
}

fn locked(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
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
                let mut board = locked(&self.board);
                board.all = workflow.steps.len();
                board.began = Some(Instant::now());
            }
            Told::Started { step, attempt } => {
                let line =
                    Line { name: self.name(*step), attempt: *attempt, since: Instant::now() };
                locked(&self.board).running.insert(*step, line);
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
                locked(&self.board).running.remove(step);
                self.say(&format!(
                    "↻ {}: {message}; try {attempt} in {}",
                    self.name(*step),
                    time(*wait)
                ));
            }
            Told::Ended { step, result, time: took } => {
                {
                    let mut board = locked(&self.board);
                    board.running.remove(step);
                    match result.end {
                        StepEnd::Succeeded => board.done += 1,
                        StepEnd::Skipped => board.skipped += 1,
                        _ => board.failed += 1,
                    }
                }
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
                locked(&self.board).skipped += 1;
                if *reason != SkipReason::NotSelected {
                    self.say(&format!("- {} skipped: {}", self.name(*step), reason.words()));
                }
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

    fn is_asking(&self) -> bool {
        *self.is_asking.borrow()
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
    fn a_board_shows_what_runs_and_what_is_left() {
        let began = Instant::now();
        let after = |seconds: u64| began + Duration::from_secs(seconds);
        let line = |name: &str, attempt| Line { name: name.into(), attempt, since: after(1) };
        let mut board = Board { all: 12, done: 2, began: Some(began), ..Board::default() };
        assert_eq!(board.draw(after(2)), "2 of 12 done  2.0 s");
        board.running.insert(3, line("build", 1));
        board.running.insert(4, line("test", 2));
        board.failed = 1;
        let drawn = board.draw(after(3));
        let lines: Vec<&str> = drawn
            .lines()
            .map(|line| line.trim_start_matches(['⠋', '⠙', '⠸', '⠴', '⠦', '⠧', '⠇', '⠏']))
            .collect();
        assert_eq!(
            lines,
            [" build  2.0 s", " test (try 2)  2.0 s", "2 of 12 done, 1 failed  3.0 s"]
        );
        for step in 10..20 {
            board.running.insert(step, line("x", 1));
        }
        assert!(board.draw(after(3)).contains("  and 4 more"));
    }

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
