//! What is called around steps and around the whole, and what undoes steps.
//!
//! All of it is called by one thread, in order (see `caller`), while the loop goes on. What goes wrong in a handler is
//! told, and changes nothing else. What comes after a handler waits for it: the first step for `on_start`, a try for
//! what is called before it and for `on_retry`, the end for everything.

use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use hostler_engine::workflow::{Action, Course};
use hostler_model::Span;
use hostler_model::workflow::{Handler, StepResult};
use serde_json::{Value as Json, json};
use tokio::task::JoinSet;

use super::{Flow, Job};
use crate::caller::{Call, NOT_WANTED, Reply, What};
use crate::journal::Line;
use crate::leftover::UNDOING;
use crate::run::{FlowError, Observer, Told};
use crate::stage;

impl Flow {
    pub(super) fn undo(
        &mut self,
        course: &mut Course,
        step: usize,
    ) -> Result<Vec<Action>, FlowError> {
        self.observer.told(&Told::Undoing { step });
        if self.is_others(step) {
            let name = self.steps[step].name.clone();
            self.note(|| Line::Undoing { step: name })?;
            let handle = self.tasks.spawn_local(self.undo_of_other(step));
            self.jobs.insert(handle.id(), Job::Undo { step });
            return Ok(Vec::new());
        }
        let definition = &self.workflow.steps[step];
        let mut ground = match stage::ground(&self.workflow, Some(definition), &self.setup) {
            Ok(ground) => ground,
            Err(message) => {
                self.observer.told(&Told::Warned { text: &message });
                return Ok(course.undone(step, self.now()));
            }
        };
        ground.environment.insert(UNDOING.to_owned(), "1".to_owned());
        let name = self.steps[step].name.clone();
        let limit = self.workflow.undo_time(definition).duration();
        self.note(|| Line::Undoing { step: name })?;
        let what = What::Undo {
            step: self.steps[step].name.clone(),
            output: self.steps[step].output.clone(),
            input: self.input(step, 1),
        };
        let call = Call { workflow: self.workflow.name.clone(), what, ground, limit };
        let answer = self.caller.call(call, Some(step), &self.observer);
        let handle = self.tasks.spawn_local(async move { answer.await.undone(limit) });
        self.jobs.insert(handle.id(), Job::Undo { step });
        Ok(Vec::new())
    }

    /// Calls what a step wants called.
    pub(super) fn around(&mut self, step: usize, handler: Handler, result: &StepResult) {
        self.around_try(step, handler, result, self.steps[step].attempts);
    }

    /// The same, as if it were that try.
    pub(super) fn around_try(
        &mut self,
        step: usize,
        handler: Handler,
        result: &StepResult,
        attempt: u32,
    ) {
        let definition = &self.workflow.steps[step];
        if !definition.handlers.contains(&handler) {
            return;
        }
        // What belongs to a try is called with it there.
        if self.is_others(step) {
            if handler == Handler::Skip {
                self.skip_of_other(step, result);
            }
            return;
        }
        let what = What::Step {
            step: definition.name.clone(),
            handler,
            result: result.clone(),
            input: self.input(step, attempt),
        };
        if let Some(call) = self.called(Some(step), what) {
            let text = format!("`{}`, {handler}", definition.name);
            let called = told(call, text, Rc::clone(&self.observer));
            self.calls.spawn_local(called);
        }
    }

    /// Calls what the workflow wants called.
    pub(super) fn around_all(&mut self, handler: Handler, arguments: Vec<Json>) {
        if let Some(called) = self.calling(handler, arguments, None) {
            self.calls.spawn_local(called);
        }
    }

    /// What the workflow wants called has its turn; the future is over when it is.
    pub(super) fn calling(
        &self,
        handler: Handler,
        arguments: Vec<Json>,
        limit: Option<Duration>,
    ) -> Option<impl Future<Output = Reply> + use<>> {
        if !self.workflow.handlers.contains(&handler) {
            return None;
        }
        let mut called = self.call(None, What::Around { handler, arguments })?;
        called.limit = limit.map_or(called.limit, |limit| limit.min(called.limit));
        let text = format!("`{}`, {handler}", self.workflow.name);
        let limit = called.limit;
        let answer = self.caller.call(called, None, &self.observer);
        Some(told((answer, limit), text, Rc::clone(&self.observer)))
    }

    /// What a try waits for: what is called before it, and whatever was called of it before.
    pub(super) fn before(
        &self,
        step: usize,
        attempt: u32,
    ) -> Option<LocalBoxFuture<'static, Reply>> {
        let definition = &self.workflow.steps[step];
        let name = vec![json!(definition.name)];
        if let Some(called) = self.calling(Handler::StepStart, name, None) {
            return Some(called.boxed_local());
        }
        let is_told = attempt > 1 && definition.handlers.contains(&Handler::Retry);
        let turn = is_told.then(|| self.called(Some(step), What::Nothing)).flatten();
        turn.map(|(answer, _)| answer.boxed_local())
    }

    fn called(
        &self,
        step: Option<usize>,
        what: What,
    ) -> Option<(impl Future<Output = Reply> + use<>, Duration)> {
        let call = self.call(step, what)?;
        let limit = call.limit;
        Some((self.caller.call(call, step, &self.observer), limit))
    }

    fn call(&self, step: Option<usize>, what: What) -> Option<Call> {
        let step = step.map(|step| &self.workflow.steps[step]);
        let limit = self.workflow.handler_time(step).duration();
        match stage::ground(&self.workflow, step, &self.setup) {
            Ok(ground) => Some(Call { workflow: self.workflow.name.clone(), what, ground, limit }),
            Err(message) => {
                self.observer.told(&Told::Warned { text: &message });
                None
            }
        }
    }

    /// Calls what is called first, which has no more time than the whole: whether somebody wants it to stop, and
    /// whether it lets the others begin.
    pub(super) async fn first(
        &self,
        stop: &mut (impl Future<Output = ()> + Unpin),
    ) -> (bool, bool) {
        let limit = self.workflow.config.timeout.map(Span::duration);
        let Some(called) = self.calling(Handler::Start, Vec::new(), limit) else {
            return (false, true);
        };
        let mut called = std::pin::pin!(called);
        let mut is_stopped = false;
        let reply = tokio::select! {
            biased;
            reply = &mut called => reply,
            () = stop => {
                is_stopped = true;
                self.caller.hang_up();
                called.await
            }
        };
        let is_wanted = !reply.is_no();
        if !is_wanted {
            let text = format!("`{}`: {NOT_WANTED}", self.workflow.name);
            self.observer.told(&Told::Warned { text: &text });
        }
        (is_stopped, is_wanted)
    }

    /// Waits for everything that was called. Who does not want to wait has it ended.
    pub(super) async fn settle(&mut self, stop: &mut (impl Future<Output = ()> + Unpin)) {
        let Flow { calls, caller, sent_away, .. } = self;
        tokio::select! {
            biased;
            () = all(calls) => return,
            () = stop => {
                caller.hang_up();
                sent_away.notify_waiters();
            }
        }
        all(calls).await;
    }
}

pub(super) async fn all(calls: &mut JoinSet<Reply>) {
    while calls.join_next().await.is_some() {}
}

/// The answer, once it is told what is wrong with it.
async fn told(
    (answer, limit): (impl Future<Output = Reply>, Duration),
    what: String,
    observer: Rc<dyn Observer>,
) -> Reply {
    let answer = answer.await;
    if let Some(complaint) = answer.complaint(limit) {
        observer.told(&Told::Warned { text: &format!("{what}: {complaint}") });
    }
    answer
}
