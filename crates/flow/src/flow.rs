//! The loop: does what the course of an execution says, and tells it what happened.

mod around;
mod attempt;
mod end;
mod others;
mod programs;
mod recall;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hostler_engine::workflow::{Action, Course, Options, missing};
use hostler_lua::body::{Performer, Variables};
use hostler_lua::{Bundle, Given};
use hostler_model::Span;
use hostler_model::workflow::{Act, Handler, Step, StepEnd, StepResult, Workflow};
use serde_json::{Map, Value as Json, json};
use tokio::sync::{Notify, oneshot};
use tokio::task::{Id, JoinSet};

use crate::artifacts::Artifacts;
use crate::caller::{Caller, Reply};
use crate::crew::Crew;
use crate::journal::{Journal, Line, Past};
use crate::leftover::{self, EXECUTION, STEP, UNDOING};
use crate::report::{Report, StepReport};
use crate::run::{Answer, FlowError, Observer, Others, Setup, Told};
use crate::stage;

/// How much longer than its time a body may take that nobody can interrupt.
const STUCK: Duration = Duration::from_secs(1);

pub(crate) struct Flow {
    performer: Rc<Performer>,
    /// Who calls what is called around steps and around the whole; steps have interpreters of their own.
    caller: Rc<Caller>,
    /// What is being called.
    calls: JoinSet<Reply>,
    /// Steps of other users.
    others: Others,
    /// Rings when nobody waits any more for what is called.
    sent_away: Rc<Notify>,
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
    /// For steps that are nothing but programs.
    crew: Crew,
    /// What all programs see.
    variables: Arc<Variables>,
    tasks: JoinSet<StepResult>,
    jobs: BTreeMap<Id, Job>,
    /// Says to a try that it is not wanted any more.
    stops: BTreeMap<usize, oneshot::Sender<()>>,
    /// Tries that are being stopped, with how they are reported.
    stopping: BTreeMap<usize, StepEnd>,
}

/// How a try ended, besides its result.
struct Over {
    attempt: u32,
    since: Instant,
    /// Another try may end otherwise.
    is_worth: bool,
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
        mut setup: Setup,
        journal: Option<Journal>,
        others: Others,
        observer: Rc<dyn Observer>,
    ) -> Flow {
        for inherited in [STEP, UNDOING] {
            setup.environment.remove(inherited);
        }
        if let Some(journal) = &journal {
            setup.environment.insert(EXECUTION.to_owned(), journal.id());
        }
        let bundle = Arc::new(performer.definition().bundle.clone());
        let given = Arc::new(Given {
            values: setup.values.clone(),
            env: setup.environment.clone(),
            now: setup.now,
            ..Given::default()
        });
        let places = programs::places(&workflow, &setup);
        let named = |step: &Step| StepReport { name: step.name.clone(), ..StepReport::default() };
        Flow {
            steps: workflow.steps.iter().map(named).collect(),
            exported: Map::new(),
            began: Instant::now(),
            crew: Crew::new(usize::try_from(places).unwrap_or(usize::MAX)),
            variables: Arc::new(programs::variables(&stage::environment(&workflow, None, &setup))),
            tasks: JoinSet::new(),
            jobs: BTreeMap::new(),
            stops: BTreeMap::new(),
            stopping: BTreeMap::new(),
            artifacts: journal
                .as_ref()
                .map(|journal| journal.folder().join("artifacts"))
                .or_else(|| setup.artifacts.clone())
                .map(|folder| Rc::new(Artifacts::new(folder, setup.consumed.clone()))),
            caller: Caller::new(Arc::clone(&bundle), Arc::clone(&given)),
            calls: JoinSet::new(),
            others,
            sent_away: Rc::default(),
            bundle,
            given,
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

    fn note<'a>(&mut self, line: impl FnOnce() -> Line<'a>) -> Result<(), FlowError> {
        match &self.journal {
            Some(journal) => Ok(journal.write(&line())?),
            None => Ok(()),
        }
    }

    /// The course of a new execution, or of one that began in another process.
    pub async fn begin(
        &mut self,
        options: Options,
        past: Option<Past>,
        stop: &mut (impl Future<Output = ()> + Unpin),
    ) -> Result<(Course, Vec<Action>, bool), FlowError> {
        self.observer.told(&Told::Began { workflow: &self.workflow });
        if let Some(past) = past {
            let (over, undone) = self.recall(&past)?;
            let (workflow, now) = (self.planned(), self.now());
            let (course, actions) = Course::resume(workflow, options, &over, &undone, now);
            return Ok((course, actions, false));
        }
        let bundle = Box::new(self.performer.definition().bundle.clone());
        let (workflow, values, only) =
            (self.workflow.name.clone(), self.setup.values.clone(), self.setup.only.clone());
        let (seed, now) = (self.setup.seed, self.setup.now);
        self.note(|| Line::Began { workflow, bundle, values, only, seed, now })?;
        let (is_stopped, is_wanted) = self.first(stop).await;
        let options = Options { is_cancelled: is_stopped || !is_wanted, ..options };
        let (workflow, now) = (self.planned(), self.now());
        let (course, actions) = Course::resume(workflow, options, &[], &BTreeSet::new(), now);
        Ok((course, actions, is_stopped))
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
        mut stop: impl Future<Output = ()> + Unpin,
        mut is_stopped: bool,
    ) -> Result<Report, FlowError> {
        loop {
            while !actions.is_empty() {
                let mut more = Vec::new();
                for action in actions {
                    more.extend(self.perform(&mut course, action)?);
                }
                actions = more;
            }
            if let Some(outcome) = course.outcome() {
                return self.finish(outcome, &mut stop, is_stopped).await;
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
                news = self.crew.news() => actions = self.heard(&mut course, news)?,
                Some(done) = self.tasks.join_next_with_id() => {
                    let (id, result) = done.unwrap_or_else(|error| {
                        let defect = if error.is_cancelled() { String::new() } else { error.to_string() };
                        (error.id(), StepResult::new(StepEnd::Failed, defect))
                    });
                    actions = self.over(&mut course, id, result)?;
                }
                Some(_) = self.calls.join_next() => {}
                () = rest => actions = course.tick(self.now()),
            }
        }
    }

    fn perform(&mut self, course: &mut Course, action: Action) -> Result<Vec<Action>, FlowError> {
        match action {
            Action::Start { step, attempt } => return self.start(course, step, attempt),
            Action::Stop { step, end } => {
                if self.stops.remove(&step).is_some() || self.crew.stop(step) {
                    self.stopping.insert(step, end);
                }
            }
            Action::Skip { step, reason } => {
                let name = self.steps[step].name.clone();
                self.note(|| Line::Skipped { step: name, reason })?;
                "skipped".clone_into(&mut self.steps[step].status);
                reason.words().clone_into(&mut self.steps[step].message);
                self.observer.told(&Told::Skipped { step, reason });
                let result = Flow::skipped(reason);
                self.around(step, Handler::Skip, &result);
            }
            Action::Again { step, attempt, at } => {
                let wait = at.duration().saturating_sub(self.now().duration());
                let message = self.steps[step].message.clone();
                self.observer.told(&Told::Again { step, attempt, wait, message: &message });
                let result = StepResult::new(StepEnd::Failed, message);
                self.around(step, Handler::Retry, &result);
            }
            Action::Undo { step } => return self.undo(course, step),
            Action::Finish { .. } => {}
        }
        Ok(Vec::new())
    }

    fn start(
        &mut self,
        course: &mut Course,
        step: usize,
        attempt: u32,
    ) -> Result<Vec<Action>, FlowError> {
        let definition = &self.workflow.steps[step];
        let mut refused = match (self.observer.asked(definition), &definition.act) {
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
        if refused.is_none()
            && let Some(why) = self.missing(course, step)
        {
            let result = StepResult::new(StepEnd::Failed, why);
            self.steps[step].attempts = attempt;
            let name = self.steps[step].name.clone();
            self.note(|| Line::Started { step: name, attempt })?;
            self.begun(step, Instant::now());
            let last = self.workflow.steps[step].retry.retries.saturating_add(1);
            self.around_try(step, Handler::Failure, &result, last);
            let over = Over { attempt, since: Instant::now(), is_worth: false };
            return self.settled(course, step, over, result);
        }
        let mut errand = None;
        if refused.is_none() && self.is_for_crew(step) {
            match self.errand(step, attempt) {
                Ok(made) => errand = Some(made),
                Err(message) => refused = Some(StepResult::new(StepEnd::Failed, message)),
            }
        }
        self.steps[step].attempts = attempt;
        if errand.is_none() {
            let name = self.steps[step].name.clone();
            self.note(|| Line::Started { step: name, attempt })?;
            self.begun(step, Instant::now());
        }
        let since = Instant::now();
        if let Some(errand) = errand {
            match self.crew.send(errand) {
                Ok(()) => return Ok(Vec::new()),
                Err(error) => {
                    let message = format!("no thread can be had: {error}");
                    refused = Some(StepResult::new(StepEnd::Failed, message));
                }
            }
        }
        match refused {
            Some(result) => {
                if result.end == StepEnd::Skipped {
                    self.around(step, Handler::Skip, &result);
                }
                self.ended(course, step, attempt, since, result)
            }
            None => {
                let (stop, stopped) = oneshot::channel();
                let before = self.before(step, attempt);
                let handle = if self.is_others(step) {
                    let work = self.attempt_of_other(step, attempt, stopped, before);
                    self.tasks.spawn_local(work)
                } else {
                    self.tasks.spawn_local(self.attempt(step, attempt, stopped, before))
                };
                self.jobs.insert(handle.id(), Job::Try { step, attempt, since });
                self.stops.insert(step, stop);
                Ok(Vec::new())
            }
        }
    }

    /// A step has begun.
    fn begun(&mut self, step: usize, at: Instant) {
        let attempt = self.steps[step].attempts;
        self.observer.told(&Told::Started { step, attempt });
        let began = millis(at.saturating_duration_since(self.began));
        self.steps[step].began.get_or_insert(began);
    }

    /// A task of the set is over.
    fn over(
        &mut self,
        course: &mut Course,
        id: Id,
        result: StepResult,
    ) -> Result<Vec<Action>, FlowError> {
        match self.jobs.remove(&id) {
            Some(Job::Try { step, attempt, since }) => {
                self.stops.remove(&step);
                self.tried(course, step, attempt, since, result)
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

    /// A try is over.
    fn tried(
        &mut self,
        course: &mut Course,
        step: usize,
        attempt: u32,
        since: Instant,
        result: StepResult,
    ) -> Result<Vec<Action>, FlowError> {
        let stopping = self.stopping.remove(&step);
        // One of another user sees to its own time.
        let is_late = result.end == StepEnd::TimedOut && self.is_others(step);
        if let Some(journal) = self.journal.as_ref().filter(|_| stopping.is_some() || is_late) {
            leftover::kill(&journal.id(), &self.steps[step].name);
        }
        let result = match stopping {
            // It was faster, and only its handler was not.
            Some(_) if matches!(result.end, StepEnd::Succeeded | StepEnd::Skipped) => result,
            Some(StepEnd::TimedOut) => {
                let time = self.workflow.steps[step].timeout.unwrap_or_default();
                StepResult::new(StepEnd::TimedOut, format!("it took longer than {time}"))
            }
            Some(end) => StepResult::new(end, "it was stopped"),
            None if result.end == StepEnd::Failed
                && self.is_late(step, since)
                && !self.is_others(step) =>
            {
                StepResult { end: StepEnd::TimedOut, ..result }
            }
            None => result,
        };
        self.ended(course, step, attempt, since, result)
    }

    fn is_late(&self, step: usize, since: Instant) -> bool {
        let timeout = self.workflow.steps[step].timeout;
        timeout.is_some_and(|timeout| since.elapsed() > timeout.duration() + STUCK)
    }

    /// What a step needs of others and is not there.
    fn missing(&self, course: &Course, step: usize) -> Option<String> {
        let artifacts = self.artifacts.as_ref()?;
        let is_left = |name: &str| artifacts.has(name);
        let standing = |other| course.standing(other);
        missing(&self.workflow, &self.workflow.steps[step], is_left, standing)
    }

    fn ended(
        &mut self,
        course: &mut Course,
        step: usize,
        attempt: u32,
        since: Instant,
        result: StepResult,
    ) -> Result<Vec<Action>, FlowError> {
        self.settled(course, step, Over { attempt, since, is_worth: true }, result)
    }

    fn settled(
        &mut self,
        course: &mut Course,
        step: usize,
        over: Over,
        mut result: StepResult,
    ) -> Result<Vec<Action>, FlowError> {
        if let Some(scrub) = &self.setup.scrub {
            scrub.result(&mut result);
        }
        let (name, attempt) = (self.steps[step].name.clone(), over.attempt);
        let kept = Box::new(Cow::Borrowed(&result));
        self.note(|| Line::Ended { step: name, attempt, result: kept })?;
        let time = over.since.elapsed();
        self.steps[step].duration = Some(millis(time));
        self.record(step, result.clone());
        let actions = match over.is_worth {
            true => course.ended(step, result.end, self.now()),
            false => course.given_up(step, result.end, self.now()),
        };
        let is_again = actions
            .iter()
            .any(|action| matches!(action, Action::Again { step: other, .. } if *other == step));
        if !is_again {
            self.observer.told(&Told::Ended { step, result: &result, time });
        }
        if result.end == StepEnd::TimedOut {
            self.around(step, Handler::Timeout, &result);
            self.around(step, Handler::Failure, &result);
        }
        if self.workflow.handlers.contains(&Handler::StepComplete) && !is_again {
            let is_success = json!(result.end == StepEnd::Succeeded);
            let arguments = vec![json!(self.steps[step].name), is_success];
            self.around_all(Handler::StepComplete, arguments);
        }
        Ok(actions)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
