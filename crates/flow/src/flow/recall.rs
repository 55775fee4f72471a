//! What is known of an execution that began in another process.
//!
//! Who was under way when that process died is uncertain. A program of it may live on: it is told of, and where the
//! step is done again it is ended first, so that nothing ever runs beside what is left of itself.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use hostler_engine::workflow::Standing;
use hostler_model::workflow::{StepEnd, StepResult};

use super::Flow;
use crate::journal::{Line, Past};
use crate::leftover::{self, Pids, Work};
use crate::run::{FlowError, Told};

const UNCERTAIN: &str = "was under way when its process ended; whether it was done is not known";

/// Steps that are over, and steps that are undone.
type Recalled = (Vec<(usize, Standing)>, BTreeSet<usize>);

impl Flow {
    /// How its steps stand that are not done again, and those that are not undone again.
    pub(super) fn recall(&mut self, past: &Past) -> Result<Recalled, FlowError> {
        let running = self.leftovers(past)?;
        let (failed, uncertain) = (self.setup.repeat_failed, self.setup.repeat_uncertain);
        let (mut over, mut undone) = (Vec::new(), BTreeSet::new());
        let again = self.again();
        for i in 0..self.steps.len() {
            let name = self.steps[i].name.clone();
            let mut result = match (past.results.get(&name), past.open.get(&name)) {
                (Some(result), None) => result.clone(),
                (_, Some(attempt)) => {
                    let result = StepResult::new(StepEnd::Uncertain, format!("it {UNCERTAIN}"));
                    let (step, attempt) = (name.clone(), *attempt);
                    let kept = Box::new(Cow::Borrowed(&result));
                    self.note(|| Line::Ended { step, attempt, result: kept })?;
                    result
                }
                (None, None) => continue,
            };
            if again.contains(&name) && result.end != StepEnd::Uncertain {
                continue;
            }
            let is_done_again = match result.end {
                StepEnd::Cancelled => true,
                StepEnd::Succeeded if past.undoing.contains(&name) => failed && uncertain,
                StepEnd::Succeeded => failed && past.undone.contains(&name),
                StepEnd::Uncertain => uncertain,
                end => failed && end.is_failure(),
            };
            if !is_done_again {
                let is_undoing = !uncertain && past.undoing.contains(&name);
                if is_undoing || past.undone.contains(&name) {
                    undone.insert(i);
                }
                if let Some(pids) = running.get(&Work::Step(name)) {
                    result.message.push_str(&format!("; it still runs ({})", numbers(pids)));
                }
                over.push((i, Standing::Ended(result.end)));
                self.observer.told(&Told::Ended { step: i, result: &result, time: Duration::ZERO });
                self.record(i, result);
            }
        }
        Ok((over, undone))
    }

    /// Steps that are done again because somebody named where to begin.
    fn again(&self) -> BTreeSet<String> {
        let from = self.setup.from.iter();
        let names = from.flat_map(|from| self.workflow.waiting_for(from));
        names.map(str::to_owned).collect()
    }

    /// What still runs of what is uncertain. Where that is done again, it is ended, and nothing is left.
    fn leftovers(&self, past: &Past) -> Result<Pids, FlowError> {
        let is_uncertain =
            |name: &&String| past.results.get(*name).is_some_and(|r| r.end == StepEnd::Uncertain);
        let steps = past.open.keys().chain(past.results.keys().filter(is_uncertain));
        let undoing = past.undoing.iter().cloned().map(Work::Undoing);
        let uncertain: BTreeSet<Work> = steps.cloned().map(Work::Step).chain(undoing).collect();
        let Some(journal) = self.journal.as_ref().filter(|_| !uncertain.is_empty()) else {
            return Ok(Pids::new());
        };
        let warn = |text: String| self.observer.told(&Told::Warned { text: &text });
        if !self.setup.repeat_uncertain {
            let mut running = leftover::running(&journal.id());
            running.retain(|work, _| uncertain.contains(work));
            for work in uncertain.iter().filter(|work| matches!(work, Work::Undoing(_))) {
                let still =
                    running.get(work).map(|pids| format!("; it still runs ({})", numbers(pids)));
                warn(format!("{work} {UNCERTAIN}{}", still.unwrap_or_default()));
            }
            return Ok(running);
        }
        let ended = leftover::end(&journal.id(), &uncertain).map_err(|left| {
            let left = left.iter().map(|(work, pids)| format!("{work} ({})", numbers(pids)));
            FlowError::Leftover(left.collect::<Vec<_>>().join(", "))
        })?;
        for (work, pids) in &ended {
            warn(format!("{work} still ran ({}) and was ended", numbers(pids)));
        }
        Ok(Pids::new())
    }
}

fn numbers(pids: &BTreeSet<u32>) -> String {
    let numbers: Vec<String> = pids.iter().map(u32::to_string).collect();
    format!("pid {}", numbers.join(", "))
}
