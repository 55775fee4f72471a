//! Steps on threads of their own.
//!
//! A step whose body is a function has an interpreter and a thread for itself, as it would on a node. It shares nothing
//! with others but what is given to it, computes beside them, and whatever it does, they go on. Who does not want it any
//! more says so: its future is dropped, with every program it started, and a loop that never waits is interrupted.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hostler_model::workflow::{StepEnd, StepResult};
use tokio::sync::oneshot;

use super::{Input, Performer};
use crate::define::Given;
use crate::modules::services::{AbsentServices, Line, LocalServices, RemoteServices, Services};
use crate::modules::{Acting, Sink, Stream};
use crate::source::Bundle;

/// What a thread is to do. Everything in it can leave the thread that asks.
pub struct Detached {
    pub bundle: Arc<Bundle>,
    pub given: Arc<Given>,
    pub workflow: String,
    pub step: String,
    pub input: Input,
    pub workdir: PathBuf,
    pub environment: BTreeMap<String, String>,
    pub secrets: BTreeMap<String, String>,
    pub check: bool,
    /// Where state, locks, events and stacks are kept, and the stack that it is about.
    pub services: Sharing,
    pub stack: Option<String>,
    pub deadline: Option<Instant>,
    /// Called on the thread with every word of the step; it may block.
    pub say: Say,
}

/// Hears every word of a step.
pub type Say = Box<dyn Fn(Stream, &str) + Send>;

struct Voice(Say);

impl Sink for Voice {
    fn say(&self, stream: Stream, text: &str) {
        (self.0)(stream, text);
    }
}

/// Where what steps share is kept.
#[derive(Clone, Default)]
pub enum Sharing {
    /// Nowhere: it is refused.
    #[default]
    Nothing,
    /// In a directory of this machine.
    Folder(PathBuf),
    /// By the installation, which the agent of this node speaks with.
    Agent(Arc<Line>),
}

impl std::fmt::Debug for Sharing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Sharing::Nothing => f.write_str("Nothing"),
            Sharing::Folder(folder) => f.debug_tuple("Folder").field(folder).finish(),
            Sharing::Agent(_) => f.write_str("Agent"),
        }
    }
}

/// What others see too.
pub fn services(sharing: &Sharing, stack: Option<&str>) -> Rc<dyn Services> {
    match (sharing, stack) {
        (Sharing::Nothing, _) => Rc::new(AbsentServices),
        (Sharing::Folder(folder), None) => Rc::new(LocalServices::new(folder)),
        (Sharing::Folder(folder), Some(stack)) => {
            Rc::new(LocalServices::new(folder).with_stack(stack))
        }
        (Sharing::Agent(line), _) => Rc::new(RemoteServices::new(Arc::clone(line))),
    }
}

/// Ends a step on its thread.
pub struct Stop {
    flag: Arc<AtomicBool>,
    cancel: Option<oneshot::Sender<()>>,
}

impl Stop {
    pub fn now(&mut self) {
        self.flag.store(true, Ordering::Release);
        self.cancel.take();
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        self.now();
    }
}

impl Detached {
    /// Begins on a new thread. The second is the result; it comes when everything of the step is over.
    pub fn begin(self) -> std::io::Result<(Stop, oneshot::Receiver<StepResult>)> {
        let (cancel, cancelled) = oneshot::channel();
        let (told, result) = oneshot::channel();
        let flag = Arc::new(AtomicBool::new(false));
        let stop = Stop { flag: Arc::clone(&flag), cancel: Some(cancel) };
        std::thread::Builder::new().name("step".to_owned()).spawn(move || {
            let result = self.carry_out(flag, cancelled);
            let _nobody_waits = told.send(result);
        })?;
        Ok((stop, result))
    }

    fn carry_out(self, flag: Arc<AtomicBool>, cancelled: oneshot::Receiver<()>) -> StepResult {
        let failed = |message: String| StepResult::new(StepEnd::Failed, message);
        let bundle = (*self.bundle).clone();
        let performer = match Performer::stoppable(bundle, &self.given, Arc::clone(&flag)) {
            Ok(performer) => performer,
            Err(mistakes) => return failed(mistakes.to_string()),
        };
        performer.until(self.deadline);
        let on = Rc::new(Acting {
            workdir: self.workdir,
            environment: self.environment,
            secrets: self.secrets,
            sink: Rc::new(Voice(self.say)),
            check: self.check,
            exported: RefCell::default(),
            services: services(&self.services, self.stack.as_deref()),
        });
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return failed(error.to_string()),
        };
        let work = async {
            let mut step = Box::pin(performer.step(&self.workflow, &self.step, self.input, on));
            tokio::select! {
                biased;
                _ = cancelled => {
                    // What waits is woken once more to let go of what it holds, and must not be interrupted in that.
                    flag.store(false, Ordering::Release);
                    performer.until(None);
                    drop(step);
                    let stopped = || StepResult::new(StepEnd::Cancelled, "it was stopped");
                    performer.decided().unwrap_or_else(stopped)
                }
                result = &mut step => result,
            }
        };
        let result = tokio::task::LocalSet::new().block_on(&runtime, work);
        if !matches!(result.end, StepEnd::Succeeded | StepEnd::Skipped) {
            performer.let_go();
        }
        result
    }
}
