//! What is called around steps and around the whole, and what undoes steps.
//!
//! These share one interpreter, that of the loop. What goes wrong in a handler is told, and changes nothing else.

use std::rc::Rc;

use hostler_engine::workflow::{Action, Course};
use hostler_model::workflow::{Handler, StepResult};
use serde_json::Value as Json;

use super::{Flow, Job};
use crate::journal::Line;
use crate::leftover::UNDOING;
use crate::run::{FlowError, Told};
use crate::stage;

impl Flow {
    pub(super) fn undo(
        &mut self,
        course: &mut Course,
        step: usize,
    ) -> Result<Vec<Action>, FlowError> {
        self.observer.told(&Told::Undoing { step });
        let mut on = match self.acting(step) {
            Ok(on) => on,
            Err(message) => {
                self.observer.told(&Told::Warned { text: &message });
                return Ok(course.undone(step, self.now()));
            }
        };
        if let Some(on) = Rc::get_mut(&mut on) {
            on.environment.insert(UNDOING.to_owned(), "1".to_owned());
        }
        let name = self.steps[step].name.clone();
        self.note(|| Line::Undoing { step: name })?;
        let (performer, workflow) = (Rc::clone(&self.performer), Rc::clone(&self.workflow));
        let (input, output) = (self.input(step, 1), self.steps[step].output.clone());
        let handle = self.tasks.spawn_local(async move {
            let name = &workflow.steps[step].name;
            performer.compensate(&workflow.name, name, &output, input, on).await
        });
        self.jobs.insert(handle.id(), Job::Undo { step });
        Ok(Vec::new())
    }

    /// Calls what a step wants called.
    pub(super) async fn around(&self, step: usize, handler: Handler, result: &StepResult) {
        let definition = &self.workflow.steps[step];
        if !definition.handlers.contains(&handler) {
            return;
        }
        let Ok(on) = self.acting(step) else { return };
        let input = self.input(step, self.steps[step].attempts);
        let called = self
            .performer
            .step_handler(&self.workflow.name, &definition.name, handler, result, input, on)
            .await;
        if let Err(message) = called {
            self.observer.told(&Told::Warned {
                text: &format!("`{}`, {handler}: {message}", definition.name),
            });
        }
    }

    /// Calls what the workflow wants called.
    pub(super) async fn around_all(&self, handler: Handler, arguments: &[Json]) {
        if !self.workflow.handlers.contains(&handler) {
            return;
        }
        let on = match stage::acting(&self.workflow, None, &self.setup, &self.observer) {
            Ok(on) => on,
            Err(message) => return self.observer.told(&Told::Warned { text: &message }),
        };
        let called =
            self.performer.workflow_handler(&self.workflow.name, handler, arguments, on).await;
        if let Err(message) = called {
            self.observer.told(&Told::Warned {
                text: &format!("`{}`, {handler}: {message}", self.workflow.name),
            });
        }
    }
}
