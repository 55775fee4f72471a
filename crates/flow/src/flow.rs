//! The loop: does what the course of an execution says, and tells it what happened.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostler_engine::workflow::{Action, Course, Options, Standing};
use hostler_lua::body::{Detached, Input, Performer, carry_out};
use hostler_lua::modules::{Acting, Stream};
use hostler_lua::{Bundle, Given};
use hostler_model::Span;
use hostler_model::workflow::{
    Act, ExecutionOutcome, Handler, Step, StepEnd, StepResult, Workflow,
};
use serde_json::{Map, Value as Json, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{Id, JoinSet};

use crate::artifacts::Artifacts;
use crate::journal::{Journal, Line, Past};
use crate::report::{Report, StepReport};
use crate::run::{Answer, FlowError, Observer, Setup, Told};
use crate::stage;

/// How much longer than its time a body may take that nobody can interrupt.
const STUCK: Duration = Duration::from_secs(1);

pub(crate) struct Flow {
    /// For what is called around steps and around the whole; steps have interpreters of their own.
    performer: Rc<Performer>,
    bundle: Arc<Bundle>,
    given: Arc<Given>,
    workflow: Rc<Workflow>,
    setup: Setup,
    journal: Option<Journal>,
    artifacts: Option<Rc<Artifacts>>,
    observer: Rc<dyn Observer>,
    began: Instant,
    steps: Vec<StepReport>,
    exported: Map<String, Json>,
    tasks: JoinSet<StepResult>,
    jobs: BTreeMap<Id, Job>,
    /// Says to a try that it is not wanted any more.
    stops: BTreeMap<usize, oneshot::Sender<()>>,
    /// Tries that are being stopped, with how they are reported.
    stopping: BTreeMap<usize, StepEnd>,
}

/// What a task of the set is about.
#[derive(Clone, Copy)]
enum Job {
    Try { step: usize, attempt: u32, since: Instant },
    Undo { step: usize },
}

impl Flow {
    pub fn new(
        performer: Rc<Performer>,
        workflow: Workflow,
        setup: Setup,
        journal: Option<Journal>,
        observer: Rc<dyn Observer>,
    ) -> Flow {
        let named = |step: &Step| StepReport { name: step.name.clone(), ..StepReport::default() };
        Flow {
            steps: workflow.steps.iter().map(named).collect(),
            exported: Map::new(),
            began: Instant::now(),
            tasks: JoinSet::new(),
            jobs: BTreeMap::new(),
            stops: BTreeMap::new(),
            stopping: BTreeMap::new(),
            artifacts: journal.as_ref().map(|journal| Rc::new(Artifacts::new(journal.folder()))),
            bundle: Arc::new(performer.definition().bundle.clone()),
            given: Arc::new(Given {
                values: setup.values.clone(),
                env: setup.environment.clone(),
                now: setup.now,
                ..Given::default()
            }),
            workflow: Rc::new(workflow),
            performer,
            setup,
            journal,
            observer,
        }
    }

    fn now(&self) -> Span {
        Span::from_millis(millis(self.began.elapsed()))
    }

    fn note(&mut self, line: impl FnOnce() -> Line) -> Result<(), FlowError> {
        match &mut self.journal {
            Some(journal) => Ok(journal.write(&line())?),
            None => Ok(()),
        }
    }

    /// The course of a new execution, or of one that began in another process.
    pub async fn begin(
        &mut self,
        options: Options,
        past: Option<Past>,
    ) -> Result<(Course, Vec<Action>), FlowError> {
        self.observer.told(&Told::Began { workflow: &self.workflow });
        if let Some(past) = past {
            let over = self.recall(&past)?;
            return Ok(Course::resume(Workflow::clone(&self.workflow), options, &over, self.now()));
        }
        let bundle = Box::new(self.performer.definition().bundle.clone());
        let (workflow, values, only) =
            (self.workflow.name.clone(), self.setup.values.clone(), self.setup.only.clone());
        let (seed, now) = (self.setup.seed, self.setup.now);
        self.note(|| Line::Began { workflow, bundle, values, only, seed, now })?;
        self.around_all(Handler::Start, &[]).await;
        Ok(Course::begin(Workflow::clone(&self.workflow), options))
    }

    /// What is known of the steps of an execution that began before.
    fn recall(&mut self, past: &Past) -> Result<BTreeMap<usize, Standing>, FlowError> {
        let mut over = BTreeMap::new();
        for i in 0..self.steps.len() {
            let name = self.steps[i].name.clone();
            let uncertain = || {
                StepResult::new(
                    StepEnd::Uncertain,
                    "it was under way when its process ended; whether it was done is not known",
                )
            };
            let result = match (past.results.get(&name), past.open.get(&name)) {
                (Some(result), None) => result.clone(),
                (_, Some(attempt)) => {
                    let (step, attempt, result) = (name, *attempt, Box::new(uncertain()));
                    let told = (*result).clone();
                    self.note(|| Line::Ended { step, attempt, result })?;
                    told
                }
                (None, None) => continue,
            };
            let is_done_again = match result.end {
                StepEnd::Cancelled => true,
                StepEnd::Uncertain => self.setup.repeat_uncertain,
                end => end.is_failure() && self.setup.repeat_failed,
            };
            if !is_done_again {
                over.insert(i, Standing::Ended(result.end));
                self.observer.told(&Told::Ended { step: i, result: &result, time: Duration::ZERO });
                self.record(i, result);
            }
        }
        Ok(over)
    }

    fn record(&mut self, step: usize, result: StepResult) {
        if let Json::Object(entries) = result.exported {
            self.exported.extend(entries);
        }
        let report = &mut self.steps[step];
        report.status = result.end.label().to_owned();
        report.message = result.message;
        report.changed = result.changed;
        report.output = result.output;
    }

    pub async fn go(
        mut self,
        mut course: Course,
        mut actions: Vec<Action>,
        stop: impl Future<Output = ()>,
    ) -> Result<Report, FlowError> {
        let mut stop = std::pin::pin!(stop);
        let mut is_stopped = false;
        loop {
            while !actions.is_empty() {
                let mut more = Vec::new();
                for action in actions {
                    more.extend(self.perform(&mut course, action).await?);
                }
                actions = more;
            }
            if let Some(outcome) = course.outcome() {
                return self.finish(outcome).await;
            }
            let wait =
                course.next_due().map(|at| at.duration().saturating_sub(self.now().duration()));
            let rest = async {
                match wait {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = &mut stop, if !is_stopped => {
                    is_stopped = true;
                    actions = course.cancel(self.now());
                }
                Some(done) = self.tasks.join_next_with_id() => {
                    let (id, result) = done.unwrap_or_else(|error| {
                        let defect = if error.is_cancelled() { String::new() } else { error.to_string() };
                        (error.id(), StepResult::new(StepEnd::Failed, defect))
                    });
                    actions = self.over(&mut course, id, result).await?;
                }
                () = rest => actions = course.tick(self.now()),
            }
        }
    }

    async fn perform(
        &mut self,
        course: &mut Course,
        action: Action,
    ) -> Result<Vec<Action>, FlowError> {
        match action {
            Action::Start { step, attempt } => return self.start(course, step, attempt).await,
            Action::Stop { step, end } => {
                if self.stops.remove(&step).is_some() {
                    self.stopping.insert(step, end);
                }
            }
            Action::Skip { step, reason } => {
                let name = self.steps[step].name.clone();
                self.note(|| Line::Skipped { step: name, reason })?;
                "skipped".clone_into(&mut self.steps[step].status);
                reason.label().clone_into(&mut self.steps[step].message);
                self.observer.told(&Told::Skipped { step, reason });
                let result = StepResult::new(StepEnd::Skipped, reason.label());
                self.around(step, Handler::Skip, &result).await;
            }
            Action::Again { step, attempt, at } => {
                let wait = at.duration().saturating_sub(self.now().duration());
                let message = self.steps[step].message.clone();
                self.observer.told(&Told::Again { step, attempt, wait, message: &message });
                let result = StepResult::new(StepEnd::Failed, message);
                self.around(step, Handler::Retry, &result).await;
            }
            Action::Undo { step } => return Ok(self.undo(course, step)),
            Action::Finish { .. } => {}
        }
        Ok(Vec::new())
    }

    async fn start(
        &mut self,
        course: &mut Course,
        step: usize,
        attempt: u32,
    ) -> Result<Vec<Action>, FlowError> {
        let definition = &self.workflow.steps[step];
        let refused = match (self.observer.asked(definition), &definition.act) {
            (Answer::Skip, _) => Some(StepResult::new(StepEnd::Skipped, "somebody said so")),
            (Answer::Abort, _) => Some(StepResult::new(StepEnd::Aborted, "somebody said so")),
            (Answer::Run, Act::Approval(_)) => match self.observer.agrees(definition) {
                Some(true) => None,
                Some(false) => Some(StepResult::new(StepEnd::Failed, "it was not agreed to")),
                None => Some(StepResult::new(
                    StepEnd::Failed,
                    "it waits for somebody to agree, and nobody can be asked here; run it on a terminal or with --approve",
                )),
            },
            (Answer::Run, _) => None,
        };
        let name = definition.name.clone();
        self.note(|| Line::Started { step: name, attempt })?;
        self.observer.told(&Told::Started { step, attempt });
        let began = millis(self.began.elapsed());
        self.steps[step].attempts = attempt;
        self.steps[step].began.get_or_insert(began);
        if self.workflow.handlers.contains(&Handler::StepStart) {
            let name = json!(self.steps[step].name);
            self.around_all(Handler::StepStart, &[name]).await;
        }
        let since = Instant::now();
        match refused {
            Some(result) => self.ended(course, step, attempt, since, result).await,
            None => {
                let (stop, stopped) = oneshot::channel();
                let handle = self.tasks.spawn_local(self.attempt(step, attempt, stopped));
                self.jobs.insert(handle.id(), Job::Try { step, attempt, since });
                self.stops.insert(step, stop);
                Ok(Vec::new())
            }
        }
    }

    /// One try of a step, from the artifacts that it needs to those that it leaves.
    fn attempt(
        &self,
        step: usize,
        attempt: u32,
        stopped: oneshot::Receiver<()>,
    ) -> impl Future<Output = StepResult> + 'static {
        let workflow = Rc::clone(&self.workflow);
        let artifacts = self.artifacts.clone();
        let on = self.acting(step);
        let work =
            if is_plain(&workflow.steps[step]) { None } else { Some(self.detached(step, attempt)) };
        let observer = Rc::clone(&self.observer);
        async move {
            let definition = &workflow.steps[step];
            let on = match on {
                Ok(on) => on,
                Err(message) => return StepResult::new(StepEnd::Failed, message),
            };
            if let Some(artifacts) = &artifacts {
                for name in &definition.consumes {
                    if let Err(message) = artifacts.place(name, &on.workdir) {
                        return StepResult::new(StepEnd::Failed, message);
                    }
                }
            }
            let mut result = match work {
                Some(work) => on_a_thread(work, step, &observer, stopped).await,
                None => tokio::select! {
                    result = carry_out(definition, &on) => result,
                    _ = stopped => StepResult::new(StepEnd::Cancelled, "it was stopped"),
                },
            };
            if result.end == StepEnd::Succeeded
                && let Some(artifacts) = &artifacts
                && !definition.artifacts.is_empty()
                && let Err(message) = artifacts.keep(&on.workdir, &definition.artifacts)
            {
                result = StepResult { end: StepEnd::Failed, message, ..result };
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

    fn acting(&self, step: usize) -> Result<Rc<Acting>, String> {
        let definition = &self.workflow.steps[step];
        stage::acting(&self.workflow, Some((step, definition)), &self.setup, &self.observer)
    }

    fn input(&self, step: usize, attempt: u32) -> Input {
        let names = &self.workflow.steps[step].depends_on;
        let found = names.iter().filter_map(|name| {
            let i = self.workflow.position(name)?;
            Some((name.clone(), self.steps[i].output.clone()))
        });
        Input { params: Map::new(), deps: found.collect(), attempt }
    }

    /// A task of the set is over.
    async fn over(
        &mut self,
        course: &mut Course,
        id: Id,
        result: StepResult,
    ) -> Result<Vec<Action>, FlowError> {
        match self.jobs.remove(&id) {
            Some(Job::Try { step, attempt, since }) => {
                self.stops.remove(&step);
                let result = match self.stopping.remove(&step) {
                    Some(StepEnd::TimedOut) => {
                        let time = self.workflow.steps[step].timeout.unwrap_or_default();
                        StepResult::new(StepEnd::TimedOut, format!("it took longer than {time}"))
                    }
                    Some(end) => StepResult::new(end, "it was stopped"),
                    None if result.end == StepEnd::Failed && self.is_late(step, since) => {
                        StepResult { end: StepEnd::TimedOut, ..result }
                    }
                    None => result,
                };
                self.ended(course, step, attempt, since, result).await
            }
            Some(Job::Undo { step }) => {
                let (name, end) = (self.steps[step].name.clone(), result.end);
                self.note(|| Line::Undone { step: name, end })?;
                self.observer.told(&Told::Undone { step, result: &result });
                Ok(course.undone(step, self.now()))
            }
            None => Ok(Vec::new()),
        }
    }

    fn is_late(&self, step: usize, since: Instant) -> bool {
        let timeout = self.workflow.steps[step].timeout;
        timeout.is_some_and(|timeout| since.elapsed() > timeout.duration() + STUCK)
    }

    async fn ended(
        &mut self,
        course: &mut Course,
        step: usize,
        attempt: u32,
        since: Instant,
        result: StepResult,
    ) -> Result<Vec<Action>, FlowError> {
        let name = self.steps[step].name.clone();
        self.note(|| Line::Ended { step: name, attempt, result: Box::new(result.clone()) })?;
        let time = since.elapsed();
        self.steps[step].duration = Some(millis(time));
        self.record(step, result.clone());
        let actions = course.ended(step, result.end, self.now());
        let is_again = actions
            .iter()
            .any(|action| matches!(action, Action::Again { step: other, .. } if *other == step));
        if !is_again {
            self.observer.told(&Told::Ended { step, result: &result, time });
        }
        if result.end == StepEnd::TimedOut {
            self.around(step, Handler::Timeout, &result).await;
        }
        if self.workflow.handlers.contains(&Handler::StepComplete) && !is_again {
            let arguments = [json!(self.steps[step].name), json!(result.end == StepEnd::Succeeded)];
            self.around_all(Handler::StepComplete, &arguments).await;
        }
        Ok(actions)
    }

    fn undo(&mut self, course: &mut Course, step: usize) -> Vec<Action> {
        self.observer.told(&Told::Undoing { step });
        let on = match self.acting(step) {
            Ok(on) => on,
            Err(message) => {
                self.observer.told(&Told::Warned { text: &message });
                return course.undone(step, self.now());
            }
        };
        let (performer, workflow) = (Rc::clone(&self.performer), Rc::clone(&self.workflow));
        let (input, output) = (self.input(step, 1), self.steps[step].output.clone());
        let handle = self.tasks.spawn_local(async move {
            let name = &workflow.steps[step].name;
            performer.compensate(&workflow.name, name, &output, input, on).await
        });
        self.jobs.insert(handle.id(), Job::Undo { step });
        Vec::new()
    }

    /// Calls what a step wants called; what goes wrong there is only told.
    async fn around(&self, step: usize, handler: Handler, result: &StepResult) {
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
    async fn around_all(&self, handler: Handler, arguments: &[Json]) {
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

    async fn finish(mut self, outcome: ExecutionOutcome) -> Result<Report, FlowError> {
        let mut outputs = match self.performer.definition().outputs.clone() {
            Json::Object(entries) => entries,
            _ => Map::new(),
        };
        outputs.extend(std::mem::take(&mut self.exported));
        let report = Report {
            workflow: self.workflow.name.clone(),
            status: outcome,
            duration: millis(self.began.elapsed()),
            tasks: std::mem::take(&mut self.steps),
            outputs: if outputs.is_empty() { Json::Null } else { Json::Object(outputs) },
            stack: self.workflow.stack.clone(),
        };
        let is_success = outcome == ExecutionOutcome::Succeeded;
        let handler = if is_success { Handler::Success } else { Handler::Failure };
        if !self.workflow.handlers.is_empty() {
            let results = report.by_name();
            self.around_all(handler, std::slice::from_ref(&results)).await;
            self.around_all(Handler::Complete, &[json!(is_success), results]).await;
        }
        self.note(|| Line::Finished { outcome })?;
        if let Some(journal) = &self.journal {
            journal.sync()?;
        }
        Ok(report)
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

/// Whether a step is nothing but a program.
fn is_plain(step: &Step) -> bool {
    matches!(step.act, Act::Command(_) | Act::Program(_))
        && step.run_if.is_empty()
        && step.abort_if.is_empty()
        && step.health_check.is_none()
        && step.handlers.is_empty()
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
