//! What follows from how an execution stands. Nothing is written here but content, which nobody sees until a task names
//! it.

mod care;
mod jobs;
mod people;

use std::collections::{BTreeSet, VecDeque};

use hostler_engine::workflow::{Action, Course, Options, Standing};
use hostler_lua::Bundle;
use hostler_model::workflow::{
    Act, Condition, ExecutionJob, ExecutionOutcome, ExecutionState, Handler, JobEnd, JobKind,
    SkipReason, Step, StepArtifact, StepEnd, StepResult, StepTold, Targets,
};
use hostler_model::{
    Approval, Digest, Error, EventKind, ExecutionStepPayload, Generation, Name, NewEvent, Span,
    Workload,
};
use serde_json::Value as Json;

use super::places::{Site, delegation, sites};
use super::scene::{Ended, Scene};
use super::spec::{Wanted, told_at_the_end};
use super::{execution_object, execution_payload, is_well};
use crate::Control;

/// How often a step that waits for people is looked at, should nobody ring.
const LOOK_AGAIN: Span = Span::from_secs(2);

/// What a pass wants to write.
pub(super) struct Change {
    pub scene: Scene,
    /// Of the execution as it was read.
    pub before: Generation,
    /// Steps that are otherwise than they were.
    pub touched: BTreeSet<usize>,
    pub begun: Vec<(ExecutionJob, Workload)>,
    /// Jobs that ended, or are to be stopped.
    pub jobs: Vec<ExecutionJob>,
    pub stopped: Vec<ExecutionJob>,
    pub asked: Vec<Approval>,
    /// Approvals as they were, with how they end.
    pub settled: Vec<(Approval, Approval)>,
    pub events: Vec<NewEvent>,
    /// Content that has to stay for as long as the execution.
    pub held: Vec<Digest>,
}

struct Pass<'c> {
    control: &'c Control,
    change: Change,
    bundle: Option<Bundle>,
    was_finishing: bool,
}

impl Control {
    pub(super) async fn execution_decide(&self, scene: Scene) -> Result<Change, Error> {
        let before = scene.execution.generation;
        let was_finishing = matches!(scene.execution.state, ExecutionState::Finishing(_));
        let change = Change {
            scene,
            before,
            touched: BTreeSet::new(),
            begun: Vec::new(),
            jobs: Vec::new(),
            stopped: Vec::new(),
            asked: Vec::new(),
            settled: Vec::new(),
            events: Vec::new(),
            held: Vec::new(),
        };
        let mut pass = Pass { control: self, change, bundle: None, was_finishing };
        pass.decide().await?;
        Ok(pass.change)
    }
}

/// Whether a step has something to do on a node.
fn needs_node(step: &Step, handlers: &[Handler]) -> bool {
    let asks = |conditions: &[Condition]| {
        conditions.iter().any(|condition| !matches!(condition, Condition::Always(_)))
    };
    !matches!(step.act, Act::Nothing | Act::Approval(_))
        || asks(&step.run_if)
        || asks(&step.abort_if)
        || step.health_check.is_some()
        || !step.handlers.is_empty()
        || handlers.iter().any(|h| matches!(h, Handler::StepStart | Handler::StepComplete))
}

/// What a step that does nothing comes to.
fn nothing_done(step: &Step) -> StepResult {
    let holds = |conditions: &[Condition], answer| conditions.contains(&Condition::Always(answer));
    if holds(&step.abort_if, true) {
        return StepResult::new(StepEnd::Aborted, "its `abort_if` holds: the execution ends");
    }
    if holds(&step.run_if, false) {
        return StepResult::new(StepEnd::Skipped, "its `run_if` does not hold");
    }
    StepResult::new(StepEnd::Succeeded, "")
}

/// What several nodes made of a step.
fn together(ended: &[(&ExecutionJob, &Ended)]) -> StepResult {
    if let [(_, one)] = ended {
        return one.result.clone();
    }
    let well = |end: StepEnd| matches!(end, StepEnd::Succeeded | StepEnd::Skipped);
    let mut exported = serde_json::Map::new();
    for (_, ended) in ended {
        if let Json::Object(entries) = &ended.result.exported {
            exported.extend(entries.clone());
        }
    }
    let bad: Vec<&(&ExecutionJob, &Ended)> =
        ended.iter().filter(|(_, ended)| !well(ended.result.end)).collect();
    let (end, message) = match bad.first() {
        None => (StepEnd::Succeeded, format!("on {} nodes", ended.len())),
        Some((_, first)) => {
            let told = bad.iter().map(|(job, ended)| {
                let node = ended.node.as_ref().or(job.node.as_ref());
                let node = node.map_or("a node", Name::as_str);
                format!("{node}: {}", ended.result.message)
            });
            (first.result.end, told.collect::<Vec<_>>().join("; "))
        }
    };
    let changes: Vec<Option<bool>> = ended.iter().map(|(_, e)| e.result.changed).collect();
    let changed = match changes.contains(&Some(true)) {
        true => Some(true),
        false => changes.iter().all(|c| *c == Some(false)).then_some(false),
    };
    StepResult {
        exported: if exported.is_empty() { Json::Null } else { Json::Object(exported) },
        changed,
        ..StepResult::new(end, message)
    }
}

impl Pass<'_> {
    async fn decide(&mut self) -> Result<(), Error> {
        self.close_jobs();
        self.change.scene.execution.time_due = None;
        self.renew_lock().await?;
        if self.change.scene.execution.state == ExecutionState::Preparing && !self.prepare().await?
        {
            return Ok(());
        }
        if self.change.scene.execution.state == ExecutionState::Beginning && !self.begin().await? {
            return Ok(());
        }
        if self.change.scene.execution.state == ExecutionState::Running {
            self.go_on().await?;
        }
        if let ExecutionState::Settling(outcome) = self.change.scene.execution.state
            && !self.settle(outcome).await?
        {
            return Ok(());
        }
        if let ExecutionState::Finishing(outcome) = self.change.scene.execution.state {
            self.finish(outcome).await?;
        }
        Ok(())
    }

    fn now(&self) -> Span {
        let scene = &self.change.scene;
        let millis = scene.now.micros().saturating_sub(scene.execution.time_begun.micros()) / 1000;
        Span::from_millis(u64::try_from(millis).unwrap_or(0))
    }

    fn look_within(&mut self, span: Span) {
        let at = self.change.scene.now.plus(span.duration());
        let due = &mut self.change.scene.execution.time_due;
        *due = Some(due.map_or(at, |due| due.min(at)));
    }

    fn event(&mut self, kind: EventKind, message: impl Into<String>) {
        let execution = &self.change.scene.execution;
        let (object, actor) = (execution_object(execution), self.control.system_actor());
        let project = Some(execution.project_id);
        let payload = execution_payload(execution);
        let event = self.control.event(kind, project, &object, actor, message);
        self.change.events.push(event.with_payload(payload));
    }

    /// The same of a step; of none when it is about what is called before or after all of them.
    fn step_event(&mut self, kind: EventKind, step: Option<usize>, message: impl Into<String>) {
        let scene = &self.change.scene;
        let execution = &scene.execution;
        let row = step.and_then(|step| scene.steps.get(step));
        let payload = ExecutionStepPayload {
            workflow: Some(execution.workflow.to_string()),
            version: Some(execution.version),
            step: row.map(|row| row.name.clone()),
            attempt: row.map(|row| row.tries),
        };
        let (object, actor) = (execution_object(execution), self.control.system_actor());
        let event = self.control.event(kind, Some(execution.project_id), &object, actor, message);
        self.change.events.push(event.with_payload(payload));
    }

    fn close_jobs(&mut self) {
        let scene = &mut self.change.scene;
        for job in scene.jobs.iter_mut().filter(|job| job.end.is_none()) {
            let Some(ended) = scene.ended.get(&job.workload_id) else { continue };
            job.end = Some(ended.result.end);
            job.message.clone_from(&ended.result.message);
            job.node = ended.node.clone().or(job.node.take());
            job.result = ended.report;
            self.change.held.extend(ended.report.into_iter().chain(ended.archive));
            self.change.jobs.push(job.clone());
        }
    }

    fn jobs(&self, kind: JobKind) -> impl Iterator<Item = &ExecutionJob> {
        self.change.scene.jobs.iter().filter(move |job| job.kind == kind)
    }

    /// Whether what is called first is over.
    async fn begin(&mut self) -> Result<bool, Error> {
        let first = self.jobs(JobKind::Before).next().cloned();
        let is_cancelled = self.is_ending();
        match first {
            None if is_cancelled => {}
            None => {
                let wanted = Wanted { kind: JobKind::Before, step: None, attempt: 1, end: None };
                self.submit(&wanted, None, &self.home()).await?;
                return Ok(false);
            }
            Some(job) if job.end.is_none() => {
                if is_cancelled {
                    self.stop(&job, StepEnd::Cancelled);
                }
                return Ok(false);
            }
            Some(_) => {}
        }
        let scene = &mut self.change.scene;
        scene.execution.state = ExecutionState::Running;
        scene.execution.time_begun = scene.now;
        let said = first.as_ref().filter(|job| job.end != Some(StepEnd::Succeeded));
        let words = said.map(|job| format!("what is called first: {}", job.message));
        if first.as_ref().is_some_and(|job| job.end == Some(StepEnd::Aborted)) {
            scene.execution.is_cancel_requested = true;
        }
        // What is called first had no more time than the whole has.
        if first.is_some_and(|job| job.end == Some(StepEnd::TimedOut))
            && let Some(timeout) = scene.execution.graph.config.timeout
        {
            scene.execution.time_begun = scene.now.minus(timeout.duration());
        }
        if let Some(words) = words {
            self.step_event(EventKind::ExecutionStepEnded, None, words);
        }
        Ok(true)
    }

    /// Where handlers of the whole run: on the first node that was asked for, or anywhere.
    fn home(&self) -> Site {
        let scene = &self.change.scene;
        let graph = &scene.execution.graph;
        let step = Step::default();
        let said = match graph.delegate.as_ref().map(|delegate| &delegate.targets) {
            Some(Targets::Function) => None,
            _ => delegation(&scene.execution, &step),
        };
        said.and_then(|said| sites(&said, &scene.nodes).ok())
            .and_then(|sites| sites.into_iter().next())
            .unwrap_or_else(Site::anywhere)
    }

    fn course(&self) -> (Course, Vec<Action>) {
        let scene = &self.change.scene;
        let mut graph = scene.execution.graph.clone();
        // A step looks after its own time where it runs; what it waits before that does not count.
        for step in &mut graph.steps {
            step.timeout = None;
        }
        let mut known: Vec<usize> = (0..scene.steps.len()).collect();
        known.sort_by_key(|i| (scene.steps[*i].time_ended, *i));
        let known: Vec<(usize, Standing)> =
            known.into_iter().map(|i| (i, scene.steps[i].standing)).collect();
        let undone = (0..scene.steps.len()).filter(|i| scene.steps[*i].is_undone).collect();
        let options = &scene.execution.options;
        let only: BTreeSet<usize> =
            options.only.iter().filter_map(|name| graph.position(name)).collect();
        let open = scene.jobs.iter().filter(|job| job.end.is_none()).count() as u64;
        let room = scene.room.map(|room| u32::try_from(room + open).unwrap_or(u32::MAX));
        let at_once =
            [graph.config.max_parallel, options.at_once, room].into_iter().flatten().min();
        graph.config.max_parallel = at_once;
        let options = Options {
            only: (!only.is_empty()).then_some(only),
            at_once,
            seed: u64::try_from(scene.execution.id.uuid().as_u128() & u128::from(u64::MAX))
                .unwrap_or(0),
            is_cancelled: self.is_ending(),
        };
        Course::resume(graph, options, &known, &undone, self.now())
    }

    async fn go_on(&mut self) -> Result<(), Error> {
        let (mut course, actions) = self.course();
        let now = self.now();
        let mut actions: VecDeque<Action> = actions.into();
        for step in 0..self.change.scene.steps.len() {
            if matches!(self.change.scene.steps[step].standing, Standing::Running { .. })
                && let Some(result) = self.came_to(step).await?
            {
                actions.extend(self.ended(&mut course, step, result));
            }
        }
        let undone: Vec<u32> = self
            .change
            .jobs
            .iter()
            .filter(|job| job.kind == JobKind::Undo && job.end.is_some())
            .filter_map(|job| job.position)
            .collect();
        for position in undone {
            let step = usize::try_from(position).unwrap_or_default();
            if self.jobs(JobKind::Undo).any(|j| j.position == Some(position) && j.end.is_none()) {
                continue;
            }
            self.row(step).is_undone = true;
            actions.extend(course.undone(step, now));
        }
        actions.extend(course.tick(now));
        while let Some(action) = actions.pop_front() {
            actions.extend(self.perform(&mut course, action).await?);
        }
        if self.change.scene.execution.state == ExecutionState::Running {
            if let Some(due) = course.next_due() {
                self.look_within(Span::from_millis(due.millis().saturating_sub(now.millis())));
            }
            if self.change.scene.room.is_some() {
                self.look_within(LOOK_AGAIN);
            }
        }
        Ok(())
    }

    fn row(&mut self, step: usize) -> &mut hostler_model::workflow::ExecutionStep {
        self.change.touched.insert(step);
        &mut self.change.scene.steps[step]
    }

    /// How a step that is under way ended, if it did.
    async fn came_to(&mut self, step: usize) -> Result<Option<StepResult>, Error> {
        let scene = &self.change.scene;
        let row = &scene.steps[step];
        let own: Vec<&ExecutionJob> = scene
            .jobs
            .iter()
            .filter(|job| job.kind == JobKind::Try && job.position == Some(row.position))
            .filter(|job| job.tries == row.tries)
            .collect();
        if own.is_empty() {
            return self.agreed(step).await;
        }
        let ended: Vec<(&ExecutionJob, &Ended)> =
            own.iter().filter_map(|job| Some((*job, scene.ended.get(&job.workload_id)?))).collect();
        if ended.len() < own.len() {
            return Ok(None);
        }
        let result = together(&ended);
        let told = |(job, ended): &(&ExecutionJob, &Ended)| {
            let node = ended.node.clone().or_else(|| job.node.clone());
            Some(StepTold { node, report: ended.report? })
        };
        let results = ended.iter().filter_map(told).collect();
        let artifacts = ended
            .iter()
            .filter_map(|(_, ended)| Some((ended.archive?, &ended.artifacts)))
            .flat_map(|(archive, names)| {
                names.iter().map(move |name| StepArtifact { name: name.clone(), archive })
            })
            .collect();
        let row = self.row(step);
        row.results = results;
        row.artifacts = artifacts;
        Ok(Some(result))
    }

    /// Takes the end of a try in.
    fn ended(&mut self, course: &mut Course, step: usize, result: StepResult) -> Vec<Action> {
        self.settled(course, step, result, true)
    }

    /// The same; another try is not always worth it.
    fn settled(
        &mut self,
        course: &mut Course,
        step: usize,
        result: StepResult,
        is_worth: bool,
    ) -> Vec<Action> {
        let (now, at) = (self.now(), self.change.scene.now);
        let row = self.row(step);
        row.message.clone_from(&result.message);
        row.changed = result.changed;
        row.exported = result.exported;
        let actions = match is_worth {
            true => course.ended(step, result.end, now),
            false => course.given_up(step, result.end, now),
        };
        let standing = course.standing(step);
        let row = self.row(step);
        row.standing = standing;
        if standing.is_over() {
            row.time_ended = Some(at);
            let words = match row.message.as_str() {
                "" => format!("{}: {}", row.name, result.end),
                message => format!("{}: {}: {message}", row.name, result.end),
            };
            self.step_event(EventKind::ExecutionStepEnded, Some(step), words);
        }
        actions
    }

    async fn perform(&mut self, course: &mut Course, action: Action) -> Result<Vec<Action>, Error> {
        match action {
            Action::Start { step, attempt } => {
                let definition = self.change.scene.execution.graph.steps[step].clone();
                let (standing, at) = (course.standing(step), self.change.scene.now);
                let row = self.row(step);
                row.standing = standing;
                row.tries += 1;
                row.time_started.get_or_insert(at);
                row.time_ended = None;
                if let Some(why) = self.lacking(course, &definition) {
                    let result = StepResult::new(StepEnd::Failed, why);
                    return Ok(self.settled(course, step, result, false));
                }
                let begun = match &definition.act {
                    Act::Approval(asked) => {
                        self.ask(step, asked);
                        None
                    }
                    _ if needs_node(&definition, &self.change.scene.execution.graph.handlers) => {
                        self.begin_try(step, &definition, attempt).await?
                    }
                    _ => Some(nothing_done(&definition)),
                };
                return Ok(match begun {
                    Some(result) => self.ended(course, step, result),
                    None => Vec::new(),
                });
            }
            Action::Stop { step, end } => return Ok(self.stop_step(course, step, end)),
            Action::Skip { step, reason } => self.skip(step, reason),
            Action::Again { step, attempt, .. } => {
                let standing = course.standing(step);
                let row = self.row(step);
                row.standing = standing;
                let words = format!("{}: {}; try {attempt} follows", row.name, row.message);
                self.step_event(EventKind::ExecutionStepRetried, Some(step), words);
            }
            Action::Undo { step } => return self.undo(course, step).await,
            Action::Finish { outcome } => {
                let outcome = self.true_outcome(outcome);
                self.change.scene.execution.state = self.after_steps(outcome);
            }
        }
        Ok(Vec::new())
    }

    fn skip(&mut self, step: usize, reason: SkipReason) {
        let at = self.change.scene.now;
        let row = self.row(step);
        row.standing = Standing::Skipped(reason);
        reason.words().clone_into(&mut row.message);
        row.time_ended = Some(at);
        let words = format!("{}: skipped: {}", row.name, reason.words());
        self.step_event(EventKind::ExecutionStepEnded, Some(step), words);
    }

    /// Calls what is called last, and ends it.
    async fn finish(&mut self, outcome: ExecutionOutcome) -> Result<(), Error> {
        let scene = &self.change.scene;
        let handlers = &scene.execution.graph.handlers;
        let ends = [Handler::Success, Handler::Failure, Handler::Complete];
        let is_called = handlers.iter().any(|handler| ends.contains(handler))
            || scene.execution.graph.steps.iter().zip(&scene.steps).any(|(step, row)| {
                step.handlers.contains(&Handler::Skip)
                    && matches!(row.standing, Standing::Skipped(_))
            });
        // What was called before a retry does not count.
        let last = self.jobs(JobKind::After).filter(|_| self.was_finishing);
        let last = last.max_by_key(|job| job.workload_id).cloned();
        match last {
            None if is_called => {
                let end = JobEnd { outcome, steps: told_at_the_end(&self.change.scene.steps) };
                let wanted =
                    Wanted { kind: JobKind::After, step: None, attempt: 1, end: Some(end) };
                let home = self.home();
                return self.submit(&wanted, None, &home).await;
            }
            Some(job) if job.end.is_none() => {
                // Where it was cancelled before, what is called last is called nevertheless.
                let execution = &self.change.scene.execution;
                if execution.is_cancel_requested && outcome != ExecutionOutcome::Cancelled {
                    self.stop(&job, StepEnd::Cancelled);
                }
                return Ok(());
            }
            Some(job) if job.end != Some(StepEnd::Succeeded) => {
                let words = format!("what is called last failed: {}", job.message);
                self.step_event(EventKind::ExecutionStepEnded, None, words);
            }
            None | Some(_) => {}
        }
        self.release_lock().await?;
        let now = self.change.scene.now;
        let execution = &mut self.change.scene.execution;
        execution.state = ExecutionState::Ended(outcome);
        execution.time_ended = Some(now);
        let kind = match is_well(outcome) {
            true => EventKind::ExecutionSucceeded,
            false => EventKind::ExecutionFailed,
        };
        let failure = execution.care.as_ref().and_then(|care| care.failure.clone());
        let words = match failure {
            Some(why) => format!("{}: {why}", outcome.label()),
            None => outcome.label().to_owned(),
        };
        self.event(kind, words);
        Ok(())
    }
}
