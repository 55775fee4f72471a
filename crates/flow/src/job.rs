//! One job of an execution that a server carries out: in the working directory of a task, without a server.
//!
//! A try of a step is an execution of its own here, of a workflow with nothing but that step: so it is begun, timed,
//! stopped and told of as everywhere. What the engine decides about the whole (the order, further tries, what is
//! skipped) is not repeated; the server does that.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use hostler_lua::body::{Input, Performer, Sharing};
use hostler_lua::modules::Stream;
use hostler_lua::modules::services::Line;
use hostler_lua::{Bundle, Given};
use hostler_model::Span;
use hostler_model::workflow::{
    Handler, JobEnd, JobKind, JobOrder, JobReport, OnFailure, Retry, Step, StepEnd, StepResult,
    Workflow, WorkflowConfig,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json, json};

use crate::another::{Word, tell};
use crate::artifacts::Artifacts;
use crate::caller::{Call, Caller, NOT_WANTED, Reply, What};
use crate::leftover::EXECUTION;
use crate::run::{Observer, Setup, Told, carry};
use crate::scrub::Scrub;
use crate::stage;

/// How long what is called may take to end when it is not wanted any more.
const LET_GO: Duration = Duration::from_secs(2);

/// Does what the working directory says, writes what came of it there, and says whether it went well. What people
/// are told of it has no value of a secret in it: `scrub` makes what takes them out.
/// Where it cannot even begin, the report says why, if it can be written.
pub async fn perform_job(
    workdir: &Path,
    environment: BTreeMap<String, String>,
    scrub: impl FnOnce(&BTreeMap<String, String>) -> Scrub,
    stop: impl Future<Output = ()>,
) -> Result<bool, String> {
    let done = performed(workdir, environment, scrub, stop).await;
    if let Err(message) = &done {
        let result = StepResult::new(StepEnd::Failed, format!("it could not begin: {message}"));
        let _it_is_said_besides = write(workdir, result, Vec::new(), Json::Null);
    }
    done
}

async fn performed(
    workdir: &Path,
    environment: BTreeMap<String, String>,
    scrub: impl FnOnce(&BTreeMap<String, String>) -> Scrub,
    stop: impl Future<Output = ()>,
) -> Result<bool, String> {
    let order: JobOrder = read(workdir, JobOrder::ORDER)?;
    let bundle: Bundle = read(workdir, JobOrder::BUNDLE)?;
    let given = Given {
        values: order.values.clone(),
        env: environment.clone(),
        now: order.now,
        ..Given::default()
    };
    let caller = Caller::new(Arc::new(bundle.clone()), Arc::new(given.clone()));
    let performer = Performer::new(bundle, &given).map_err(|mistakes| mistakes.to_string())?;
    let setup = setup(workdir, &order, environment)?;
    let scrub = scrub(&setup.secrets);
    let job = Job {
        performer: Rc::new(performer),
        caller,
        order,
        setup,
        watch: Rc::default(),
        is_stopped: Cell::new(false),
        is_beside: false,
    };
    let mut result = job.perform(stop).await;
    scrub.result(&mut result);
    if let Sharing::Agent(line) = &job.setup.services {
        line.let_go().await;
    }
    let is_well = matches!(result.end, StepEnd::Succeeded | StepEnd::Skipped);
    let kept = Artifacts::new(workdir.join(JobOrder::ARTIFACTS), Vec::new());
    let outputs = job.performer.definition().outputs.clone();
    write(workdir, result, kept.names(), outputs)?;
    Ok(is_well)
}

fn write(
    workdir: &Path,
    result: StepResult,
    artifacts: Vec<String>,
    outputs: Json,
) -> Result<(), String> {
    let report = JobReport { result, artifacts, outputs };
    let text = serde_json::to_vec(&report).map_err(|error| error.to_string())?;
    let place = workdir.join(JobOrder::REPORT);
    std::fs::write(&place, text).map_err(|error| format!("{}: {error}", place.display()))
}

/// Does a part of an execution of this machine, as the user that this process has become.
pub(crate) async fn perform_beside(
    order: JobOrder,
    bundle: Bundle,
    given: &Given,
    setup: Setup,
    stop: impl Future<Output = ()>,
) -> Result<StepResult, String> {
    let caller = Caller::new(Arc::new(bundle.clone()), Arc::new(given.clone()));
    let performer = Performer::new(bundle, given).map_err(|mistakes| mistakes.to_string())?;
    let (workflows, watch) = (&performer.definition().workflows, Rc::new(Watch::beside()));
    let workflow = workflows.iter().find(|known| known.name == order.workflow);
    if let Some((workflow, step)) = workflow.and_then(|w| Some((w, w.step(&order.step)?))) {
        let place = stage::made_workdir(workflow, Some(step), &setup)?;
        if let Err(error) = place.join(".").metadata() {
            let place = place.display();
            return Err(format!("it cannot go to {place}: {error}; give the step a `workdir`"));
        }
    }
    let (performer, is_stopped) = (Rc::new(performer), Cell::new(false));
    let job = Job { performer, caller, order, setup, watch, is_stopped, is_beside: true };
    let result = job.perform(stop).await;
    if let Sharing::Agent(line) = &job.setup.services {
        line.let_go().await;
    }
    Ok(result)
}

fn read<T: DeserializeOwned>(workdir: &Path, name: &str) -> Result<T, String> {
    let path = workdir.join(name);
    let text = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn setup(
    workdir: &Path,
    order: &JobOrder,
    environment: BTreeMap<String, String>,
) -> Result<Setup, String> {
    let inside = |name: &str| workdir.join(JobOrder::FOLDER).join(name);
    let mut outputs: BTreeMap<String, Json> = BTreeMap::new();
    for file in &order.results {
        let report: JobReport = read(&workdir.join(JobOrder::FOLDER), &file.file)?;
        match &file.node {
            None => drop(outputs.insert(file.step.clone(), report.result.output)),
            Some(node) => {
                let all = outputs.entry(file.step.clone()).or_insert_with(|| json!({}));
                if let Json::Object(by_node) = all {
                    by_node.insert(node.clone(), report.result.output);
                }
            }
        }
    }
    let folder = environment.get("HOSTLER_SECRETS").map(PathBuf::from);
    let mut secrets = BTreeMap::new();
    for (name, file) in &order.secrets {
        let path = folder.clone().unwrap_or_default().join(file);
        let value = std::fs::read_to_string(&path)
            .map_err(|error| format!("the secret `{name}` cannot be read: {error}"))?;
        secrets.insert(name.clone(), value);
    }
    let mut environment = environment;
    let services = match environment.remove(JobOrder::SOCKET) {
        Some(socket) => Sharing::Agent(Arc::new(Line::new(socket))),
        None => Sharing::Nothing,
    };
    environment.insert(EXECUTION.to_owned(), order.execution.to_string());
    Ok(Setup {
        workdir: workdir.to_owned(),
        environment,
        secrets,
        services,
        at_once: 1,
        is_here: true,
        values: order.values.clone(),
        now: order.now,
        artifacts: Some(workdir.join(JobOrder::ARTIFACTS)),
        consumed: order.consumed.iter().map(|name| inside(name)).collect(),
        outputs,
        tried: order.attempt.saturating_sub(1),
        ..Setup::default()
    })
}

struct Job {
    performer: Rc<Performer>,
    caller: Rc<Caller>,
    order: JobOrder,
    setup: Setup,
    watch: Rc<Watch>,
    is_stopped: Cell<bool>,
    /// An execution of this machine has it done, and calls what is called around the whole itself.
    is_beside: bool,
}

/// Prints what is said, and remembers how it ended.
#[derive(Default)]
struct Watch {
    result: RefCell<Option<StepResult>>,
    /// It is printed for an execution of this machine, word by word.
    is_beside: bool,
}

impl Watch {
    fn beside() -> Watch {
        Watch { is_beside: true, ..Watch::default() }
    }

    fn pass_on(told: &Told<'_>) {
        match told {
            Told::Said { stream, text, .. } => {
                let (is_error, text) = (*stream == Stream::Error, (*text).to_owned());
                tell(&Word::Said { is_error, text });
            }
            Told::Warned { text } => tell(&Word::Warned { text: (*text).to_owned() }),
            _ => {}
        }
    }
}

impl Observer for Watch {
    fn told(&self, told: &Told<'_>) {
        if let Told::Ended { result, .. } = told {
            *self.result.borrow_mut() = Some((*result).clone());
        }
        if self.is_beside {
            return Watch::pass_on(told);
        }
        let line = |to: &mut dyn std::io::Write, text: &str| {
            let _nobody_reads = to.write_all(format!("{text}\n").as_bytes());
        };
        match told {
            Told::Said { stream: Stream::Out, text, .. } => line(&mut std::io::stdout(), text),
            Told::Said { stream: Stream::Error, text, .. } | Told::Warned { text } => {
                line(&mut std::io::stderr(), text);
            }
            Told::Ended { result, .. }
                if result.end != StepEnd::Succeeded && !result.message.is_empty() =>
            {
                line(&mut std::io::stderr(), &result.message);
            }
            _ => {}
        }
    }

    /// Who is here was let through by people before.
    fn agrees(&self, _: &Step) -> Option<bool> {
        Some(true)
    }
}

impl Job {
    async fn perform(&self, stop: impl Future<Output = ()>) -> StepResult {
        let name = &self.order.workflow;
        let found = self.performer.definition().workflows.iter().find(|known| known.name == *name);
        let Some(mut workflow) = found.cloned() else {
            return StepResult::new(StepEnd::Failed, format!("there is no workflow `{name}`"));
        };
        workflow.stack = self.order.stack.clone().or(workflow.stack);
        // What is done for a stack is done by the server around the whole.
        workflow.config = WorkflowConfig {
            require_lock: false,
            create_snapshot: false,
            validate_before: false,
            detect_drift: false,
            on_failure: OnFailure::Stop,
            ..workflow.config
        };
        if self.order.kind == JobKind::Try {
            return self.attempt(workflow, stop).await;
        }
        let work = async {
            match self.order.kind {
                JobKind::Before | JobKind::Try => self.first(&workflow).await,
                JobKind::After => self.last(&workflow).await,
                JobKind::Undo => self.undo(&workflow).await,
            }
        };
        let mut work = std::pin::pin!(work);
        tokio::select! {
            result = &mut work => return result,
            () = stop => {}
        }
        // What runs is ended with its programs before this process is.
        self.is_stopped.set(true);
        self.caller.hang_up();
        let _whatever_it_says = tokio::time::timeout(LET_GO, work).await;
        StepResult::new(StepEnd::Cancelled, "it was stopped")
    }

    async fn attempt(&self, mut workflow: Workflow, stop: impl Future<Output = ()>) -> StepResult {
        let Some(position) = workflow.position(&self.order.step) else {
            let (workflow, step) = (&workflow.name, &self.order.step);
            return StepResult::new(StepEnd::Failed, format!("`{workflow}` has no task `{step}`"));
        };
        let mut stop = std::pin::pin!(stop);
        let retried = self.retried(&workflow, &workflow.steps[position]);
        tokio::select! {
            () = retried => {}
            () = &mut stop => {
                self.caller.hang_up();
                return StepResult::new(StepEnd::Cancelled, "it was stopped");
            }
        }
        let step = Step {
            depends_on: Vec::new(),
            after_failure_of: Vec::new(),
            retry: Retry::default(),
            delegate: None,
            background: false,
            may_fail: false,
            compensation: None,
            // This process is that user.
            user: None,
            ..workflow.steps.swap_remove(position)
        };
        workflow.steps = vec![step];
        workflow.delegate = None;
        workflow.config.timeout = None;
        workflow.config.clean_workdir = false;
        workflow
            .handlers
            .retain(|handler| matches!(handler, Handler::StepStart | Handler::StepComplete));
        if self.is_beside {
            workflow.handlers.clear();
        }
        let observer: Rc<dyn Observer> = Rc::clone(&self.watch) as Rc<dyn Observer>;
        let performer = Rc::clone(&self.performer);
        let (setup, others) = (self.setup.clone(), BTreeMap::new());
        let work = carry(performer, workflow, setup, None, others, observer, stop);
        let done = Box::pin(work).await;
        match (done, self.watch.result.take()) {
            (Err(error), _) => StepResult::new(StepEnd::Failed, error.to_string()),
            (Ok(_), Some(result)) => result,
            (Ok(_), None) => StepResult::new(StepEnd::Cancelled, "it was stopped"),
        }
    }

    /// Tells a step that it is tried again.
    async fn retried(&self, workflow: &Workflow, step: &Step) {
        if self.order.attempt < 2 || !step.handlers.contains(&Handler::Retry) {
            return;
        }
        let failed = StepResult::new(StepEnd::Failed, self.order.before.clone());
        self.step_handler(workflow, step, Handler::Retry, &failed).await;
    }

    async fn step_handler(
        &self,
        workflow: &Workflow,
        step: &Step,
        handler: Handler,
        result: &StepResult,
    ) {
        let what = What::Step {
            step: step.name.clone(),
            handler,
            result: result.clone(),
            input: self.input(),
        };
        if let Err((_, message)) = self.called(workflow, Some(step), what, None).await {
            let text = format!("`{}`, {handler}: {message}", step.name);
            self.watch.told(&Told::Warned { text: &text });
        }
    }

    /// Has something called; how it ended where it did not go well, in words.
    async fn called(
        &self,
        workflow: &Workflow,
        step: Option<&Step>,
        what: What,
        limit: Option<Duration>,
    ) -> Result<Reply, (StepEnd, String)> {
        if self.is_stopped.get() {
            return Err((StepEnd::Cancelled, "it was stopped".to_owned()));
        }
        let limit = limit.unwrap_or_else(|| workflow.handler_time(step).duration());
        let ground = stage::ground(workflow, step, &self.setup)
            .map_err(|message| (StepEnd::Failed, message))?;
        let observer: Rc<dyn Observer> = Rc::clone(&self.watch) as Rc<dyn Observer>;
        let call = Call { workflow: workflow.name.clone(), what, ground, limit };
        let answer = self.caller.call(call, step.map(|_| 0), &observer).await;
        match answer.complaint(limit) {
            None => Ok(answer),
            Some(message) => Err((answer.undone(limit).end, message)),
        }
    }

    fn input(&self) -> Input {
        Input { params: Map::new(), deps: self.setup.outputs.clone(), attempt: self.order.attempt }
    }

    async fn undo(&self, workflow: &Workflow) -> StepResult {
        let Some(step) = workflow.step(&self.order.step) else {
            return StepResult::new(StepEnd::Failed, "the step is not there");
        };
        let what = What::Undo {
            step: step.name.clone(),
            output: self.setup.outputs.get(&step.name).cloned().unwrap_or(Json::Null),
            input: self.input(),
        };
        let limit = workflow.undo_time(step).duration();
        match self.called(workflow, Some(step), what, Some(limit)).await {
            Ok(answer) => answer.undone(Duration::ZERO),
            Err((end, message)) => StepResult::new(end, message),
        }
    }

    /// What is called first has no more time than the whole.
    async fn first(&self, workflow: &Workflow) -> StepResult {
        let limit = workflow.config.timeout.map(Span::duration);
        self.call(workflow, Handler::Start, Vec::new(), limit).await
    }

    /// What is called last: what was skipped is told so, then the workflow learns how it ended.
    async fn last(&self, workflow: &Workflow) -> StepResult {
        let Some(JobEnd { outcome, steps }) = &self.order.end else {
            return StepResult::new(StepEnd::Failed, "it was not told how the execution ended");
        };
        // One that was tried has been told where it ran.
        for ended in steps.iter().filter(|step| step.status == "skipped" && step.attempts == 0) {
            if let Some(step) = workflow.step(&ended.name)
                && step.handlers.contains(&Handler::Skip)
            {
                let result = StepResult::new(StepEnd::Skipped, ended.message.clone());
                self.step_handler(workflow, step, Handler::Skip, &result).await;
            }
        }
        if self.is_beside {
            return StepResult::new(StepEnd::Succeeded, "");
        }
        let results: Map<String, Json> = steps
            .iter()
            .map(|step| {
                let mut told = json!({
                    "name": step.name,
                    "status": step.status,
                    "message": step.message,
                    "attempts": step.attempts,
                });
                if let Some(output) = self.setup.outputs.get(&step.name) {
                    told["output"] = output.clone();
                }
                (step.name.clone(), told)
            })
            .collect();
        let is_success = *outcome == hostler_model::workflow::ExecutionOutcome::Succeeded;
        let handler = if is_success { Handler::Success } else { Handler::Failure };
        let results = Json::Object(results);
        let first = self.call(workflow, handler, vec![results.clone()], None).await;
        let arguments = vec![json!(is_success), results];
        let second = self.call(workflow, Handler::Complete, arguments, None).await;
        if first.end == StepEnd::Succeeded { second } else { first }
    }

    async fn call(
        &self,
        workflow: &Workflow,
        handler: Handler,
        arguments: Vec<Json>,
        limit: Option<Duration>,
    ) -> StepResult {
        if !workflow.handlers.contains(&handler) {
            return StepResult::new(StepEnd::Succeeded, "");
        }
        let what = What::Around { handler, arguments };
        match self.called(workflow, None, what, limit).await {
            Ok(reply) if handler == Handler::Start && reply.is_no() => {
                StepResult::new(StepEnd::Aborted, NOT_WANTED)
            }
            Ok(_) => StepResult::new(StepEnd::Succeeded, ""),
            Err((end, message)) => {
                let text = format!("`{}`, {handler}: {message}", workflow.name);
                self.watch.told(&Told::Warned { text: &text });
                StepResult::new(end, text)
            }
        }
    }
}
