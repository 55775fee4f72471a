//! Steps that are nothing but programs: what the crew is given, and what it tells.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use hostler_engine::workflow::{Action, Course};
use hostler_lua::body::{Program, Variables};
use hostler_model::workflow::{Act, Handler, Step, StepEnd, StepResult, Workflow};

use super::Flow;
use crate::crew::{Errand, News};
use crate::journal::Line;
use crate::leftover::STEP;
use crate::run::{FlowError, Setup, Told};
use crate::stage;

/// How many steps run at once.
pub(super) fn places(workflow: &Workflow, setup: &Setup) -> u32 {
    workflow.config.max_parallel.unwrap_or(setup.at_once).max(1)
}

pub(super) fn variables(environment: &BTreeMap<String, String>) -> Variables {
    environment.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

impl Flow {
    /// The workflow as the engine sees it. Where nothing but programs is to be run, and nobody can see that a step was
    /// given to the crew before its turn, it may have as many wait there as run.
    pub(super) fn planned(&self) -> Workflow {
        let mut planned = Workflow::clone(&self.workflow);
        let config = &planned.config;
        let is_unseen = config.timeout.is_none()
            && !config.fail_fast
            && !planned.handlers.contains(&Handler::StepStart)
            && !self.observer.is_asking();
        let is_alike = |step: &Step| is_plain(step) && step.timeout.is_none() && !step.background;
        // Whoever carries out a step for another user looks after its time.
        for other in self.others.keys() {
            planned.steps[*other].timeout = None;
        }
        if is_unseen
            && self.others.is_empty()
            && !self.setup.check
            && planned.steps.iter().all(is_alike)
        {
            let places = places(&self.workflow, &self.setup);
            planned.config.max_parallel = Some(places.saturating_mul(2));
        }
        planned
    }

    pub(super) fn is_for_crew(&self, step: usize) -> bool {
        let has_first = self.workflow.handlers.contains(&Handler::StepStart);
        is_plain(&self.workflow.steps[step])
            && !self.setup.check
            && !has_first
            && !self.is_others(step)
    }

    /// What the crew needs for a step, once the artifacts that it needs are in place.
    pub(super) fn errand(&self, step: usize, attempt: u32) -> Result<Errand, String> {
        let definition = &self.workflow.steps[step];
        let workdir = stage::made_workdir(&self.workflow, Some(definition), &self.setup)?;
        if let Some(artifacts) = &self.artifacts {
            for name in &definition.consumes {
                artifacts.place(name, &workdir)?;
            }
        }
        let (shared, own) = if definition.env.is_empty() {
            (Arc::clone(&self.variables), vec![(STEP.into(), definition.name.clone().into())])
        } else {
            let seen = stage::environment(&self.workflow, Some(definition), &self.setup);
            (Arc::default(), variables(&seen))
        };
        let program = Program::of(definition, workdir, shared, own)
            .ok_or_else(|| "there is no program".to_owned())?;
        let line = Line::Started { step: definition.name.clone(), attempt };
        let note = self.journal.as_ref().map(|journal| journal.note(&line));
        Ok(Errand { step, attempt, program, note, background: definition.background })
    }

    /// The crew tells something.
    pub(super) fn heard(
        &mut self,
        course: &mut Course,
        news: News,
    ) -> Result<Vec<Action>, FlowError> {
        match news {
            News::Began { step, at } => self.has_begun(step, at),
            News::Said { step, stream, text } => {
                self.observer.told(&Told::Said { step: Some(step), stream, text: &text });
            }
            News::Ended { step, began, result } => {
                if let Some(at) = began {
                    self.has_begun(step, at);
                }
                if let Some(over) = self.crew.over(step) {
                    let result = self.left(step, result);
                    return self.tried(course, step, over.attempt, over.since, result);
                }
            }
        }
        Ok(Vec::new())
    }

    fn has_begun(&mut self, step: usize, at: Instant) {
        self.crew.began(step, at);
        self.begun(step, at);
    }

    /// The same result, once the artifacts that the step leaves are kept.
    fn left(&self, step: usize, result: StepResult) -> StepResult {
        let definition = &self.workflow.steps[step];
        let Some(artifacts) = &self.artifacts else { return result };
        if result.end != StepEnd::Succeeded || definition.artifacts.is_empty() {
            return result;
        }
        let workdir = stage::workdir(&self.workflow, Some(definition), &self.setup);
        match artifacts.keep(&workdir, &definition.artifacts) {
            Ok(missed) => {
                missed.iter().for_each(|text| self.observer.told(&Told::Warned { text }));
                result
            }
            Err(message) => StepResult { end: StepEnd::Failed, message, ..result },
        }
    }
}

/// Whether a step is nothing but a program.
fn is_plain(step: &Step) -> bool {
    matches!(step.act, Act::Command(_) | Act::Program(_))
        && step.run_if.is_empty()
        && step.abort_if.is_empty()
        && step.health_check.is_none()
        && step.handlers.is_empty()
}
