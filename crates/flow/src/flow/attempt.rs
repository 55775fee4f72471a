//! One try of a step, from the artifacts that it needs to those that it leaves.
//!
//! It has a thread and an interpreter for itself, unless it is nothing but a program (see `programs`). A try that is
//! not wanted any more takes with it whatever it started.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use hostler_lua::body::{Detached, Input};
use hostler_lua::modules::Stream;
use hostler_model::workflow::{StepEnd, StepResult};
use serde_json::Map;
use tokio::sync::{mpsc, oneshot};

use super::{Flow, STUCK};
use crate::caller::Reply;
use crate::run::{Observer, Told};
use crate::stage;

impl Flow {
    pub(super) fn attempt(
        &self,
        step: usize,
        attempt: u32,
        mut stopped: oneshot::Receiver<()>,
        before: Option<impl Future<Output = Reply> + 'static>,
    ) -> impl Future<Output = StepResult> + 'static {
        let workflow = Rc::clone(&self.workflow);
        let artifacts = self.artifacts.clone();
        let ground = stage::ground(&self.workflow, Some(&workflow.steps[step]), &self.setup);
        let work = self.detached(step, attempt);
        let observer = Rc::clone(&self.observer);
        async move {
            let definition = &workflow.steps[step];
            if let Some(before) = before {
                tokio::select! {
                    _ = before => {}
                    _ = &mut stopped => return StepResult::new(StepEnd::Cancelled, "it was stopped"),
                }
            }
            let workdir = match ground {
                Ok(ground) => ground.workdir,
                Err(message) => return StepResult::new(StepEnd::Failed, message),
            };
            if let Some(artifacts) = &artifacts {
                for name in &definition.consumes {
                    if let Err(message) = artifacts.place(name, &workdir) {
                        return StepResult::new(StepEnd::Failed, message);
                    }
                }
            }
            let mut result = on_a_thread(work, step, &observer, stopped).await;
            if result.end == StepEnd::Succeeded
                && let Some(artifacts) = &artifacts
                && !definition.artifacts.is_empty()
            {
                match artifacts.keep(&workdir, &definition.artifacts) {
                    Ok(missed) => {
                        missed.iter().for_each(|text| observer.told(&Told::Warned { text }));
                    }
                    Err(message) => result = StepResult { end: StepEnd::Failed, message, ..result },
                }
            }
            result
        }
    }

    /// What a thread needs to carry a step out.
    fn detached(&self, step: usize, attempt: u32) -> (Detached, mpsc::Receiver<(Stream, String)>) {
        let definition = &self.workflow.steps[step];
        let (words, heard) = mpsc::channel(256);
        let detached = Detached {
            bundle: Arc::clone(&self.bundle),
            given: Arc::clone(&self.given),
            workflow: self.workflow.name.clone(),
            step: definition.name.clone(),
            input: self.input(step, attempt),
            workdir: stage::workdir(&self.workflow, Some(definition), &self.setup),
            environment: stage::environment(&self.workflow, Some(definition), &self.setup),
            secrets: self.setup.secrets.clone(),
            check: self.setup.check,
            services: self.setup.services.clone(),
            stack: self.workflow.stack.clone(),
            // The engine stops a step in time; this is for what cannot be stopped but by an error.
            deadline: definition.timeout.map(|time| Instant::now() + time.duration() + STUCK),
            say: Box::new(move |stream, text| {
                let _nobody_listens =
                    futures::executor::block_on(words.send((stream, text.to_owned())));
            }),
        };
        (detached, heard)
    }

    pub(super) fn input(&self, step: usize, attempt: u32) -> Input {
        let names = &self.workflow.steps[step].depends_on;
        let found = names.iter().filter_map(|name| {
            let i = self.workflow.position(name)?;
            Some((name.clone(), self.steps[i].output.clone()))
        });
        let elsewhere = self.setup.outputs.clone();
        let deps = elsewhere.into_iter().chain(found).collect();
        Input { params: Map::new(), deps, attempt: attempt + self.setup.tried }
    }
}

/// Carries a step out on a thread, passes its words on, and waits until all of it is over, also when it is stopped.
async fn on_a_thread(
    (work, mut heard): (Detached, mpsc::Receiver<(Stream, String)>),
    step: usize,
    observer: &Rc<dyn Observer>,
    mut stopped: oneshot::Receiver<()>,
) -> StepResult {
    let (mut stop, mut result) = match work.begin() {
        Ok(begun) => begun,
        Err(error) => {
            return StepResult::new(StepEnd::Failed, format!("no thread can be had: {error}"));
        }
    };
    let mut is_stopped = false;
    loop {
        tokio::select! {
            biased;
            Some((stream, text)) = heard.recv() => {
                observer.told(&Told::Said { step: Some(step), stream, text: &text });
            }
            ended = &mut result => {
                return ended.unwrap_or_else(|_| StepResult::new(StepEnd::Failed, "its thread broke: a defect of Hostler"));
            }
            _ = &mut stopped, if !is_stopped => {
                is_stopped = true;
                stop.now();
            }
        }
    }
}
