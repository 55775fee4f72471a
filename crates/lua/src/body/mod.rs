//! Bodies of tasks: what a step does, where it runs.
//!
//! A [`Performer`] has the file defined once more and its functions at hand. Whatever waits (a program, a request, a
//! sleep) lets other coroutines of the step go on. Who asked for a step and does not want it any more drops the future;
//! programs that it started are killed with it. A step that must not be in the way of others gets a thread and an
//! interpreter for itself ([`Detached`]).
//!
//! Every function is called alike, `f(this, params, deps)`, and files that were written for the older
//! `f(params, deps)` or `f(params, output)` find what they look for, because `this` answers for `params` and `params`
//! answers for the output and the dependencies.

mod command;
mod limit;
mod outcome;
mod program;
mod this;
mod thread;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hostler_model::workflow::{
    Act, Compensation, Condition, Handler, Step, StepEnd, StepResult, Workflow,
};
use mlua::{Function, MultiValue, Table, Value};
use serde_json::{Map, Value as Json};

use crate::define::{Definition, Given, Live};
use crate::diagnose::{Mistakes, from_error};
use crate::limits::Limits;
use crate::modules::{Acting, Exit, acting, with};
use crate::source::Bundle;
use crate::stage::Stage;
use crate::value::{from_json, to_json};

pub use command::carry_out;
pub(crate) use outcome::of_return;
pub use program::{Grip, Program, Sign, Variables};
pub(crate) use this::arguments;
pub use thread::{Detached, Say, Sharing, Stop, services};

/// What a step is given besides its definition.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub params: Map<String, Json>,
    /// Outputs of what it depends on, by name.
    pub deps: BTreeMap<String, Json>,
    /// Which try it is, from 1.
    pub attempt: u32,
}

/// A defined file whose steps can be carried out.
pub struct Performer {
    live: Live,
    /// How the step ended that is only being told of it still.
    decided: RefCell<Option<StepResult>>,
}

impl Performer {
    /// Defines a bundle again, to act.
    pub fn new(bundle: Bundle, given: &Given) -> Result<Performer, Mistakes> {
        Performer::stoppable(bundle, given, Arc::default())
    }

    /// The same, so that whoever sets the flag interrupts what it computes.
    pub fn stoppable(
        bundle: Bundle,
        given: &Given,
        stop: Arc<AtomicBool>,
    ) -> Result<Performer, Mistakes> {
        let given = Given { limits: Some(given.limits.unwrap_or(Limits::BODY)), ..given.clone() };
        let live = Live::new(&bundle.name, &bundle.text, Box::new(bundle.files), &given)?;
        live.scene.stage.set(Stage::Acting);
        live.deadline.stop_with(stop);
        Ok(Performer { live, decided: RefCell::default() })
    }

    /// What computes longer is interrupted.
    pub fn until(&self, at: Option<Instant>) {
        self.live.deadline.set(at);
    }

    /// Drops what nobody waits for any more. What was interrupted while it waited holds the interpreter that holds it.
    pub fn let_go(&self) {
        let _it_is_over_anyway = self.live.lua.gc_collect();
    }

    /// How the step ended, where nothing but a handler of it was left when it was stopped.
    pub(crate) fn decided(&self) -> Option<StepResult> {
        self.decided.take()
    }

    pub fn definition(&self) -> &Definition {
        &self.live.definition
    }

    fn workflow(&self, name: &str) -> Option<&Workflow> {
        self.live.definition.workflows.iter().find(|workflow| workflow.name == name)
    }

    /// Carries out one try of a step, with what is around it.
    pub async fn step(
        &self,
        workflow: &str,
        step: &str,
        input: Input,
        on: Rc<Acting>,
    ) -> StepResult {
        let found = self.workflow(workflow).and_then(|workflow| workflow.step(step));
        let table = self.live.steps.get(&(workflow.to_owned(), step.to_owned()));
        let (Some(found), Some(table)) = (found, table) else {
            return StepResult::new(StepEnd::Failed, format!("`{workflow}` has no task `{step}`"));
        };
        let call = Call { performer: self, workflow, step: found, table, input };
        let mut result = with(Rc::clone(&on), call.carry_out()).await;
        result.exported = exported(&on);
        result
    }

    /// Calls what a step wants called around it; says whether there was something to call.
    pub async fn step_handler(
        &self,
        workflow: &str,
        step: &str,
        handler: Handler,
        result: &StepResult,
        input: Input,
        on: Rc<Acting>,
    ) -> Result<bool, String> {
        let found = self.workflow(workflow).and_then(|workflow| workflow.step(step));
        let table = self.live.steps.get(&(workflow.to_owned(), step.to_owned()));
        let (Some(found), Some(table)) = (found, table) else { return Ok(false) };
        let call = Call { performer: self, workflow, step: found, table, input };
        with(on, call.handle(handler, result)).await
    }

    /// Undoes a step.
    pub async fn compensate(
        &self,
        workflow: &str,
        step: &str,
        output: &Json,
        input: Input,
        on: Rc<Acting>,
    ) -> StepResult {
        let found = self.workflow(workflow).and_then(|workflow| workflow.step(step));
        let table = self.live.steps.get(&(workflow.to_owned(), step.to_owned()));
        let (Some(found), Some(table)) = (found, table) else {
            return StepResult::new(StepEnd::Failed, format!("`{workflow}` has no task `{step}`"));
        };
        match &found.compensation {
            None => StepResult::new(StepEnd::Skipped, "nothing undoes it"),
            Some(Compensation::Command(line)) => command::line(found, line, &on).await,
            Some(Compensation::Function) => {
                let call = Call { performer: self, workflow, step: found, table, input };
                with(on, call.undo(output)).await
            }
        }
    }

    /// Calls what the workflow wants called; arguments are JSON.
    pub async fn workflow_handler(
        &self,
        workflow: &str,
        handler: Handler,
        arguments: &[Json],
        on: Rc<Acting>,
    ) -> Result<Option<Json>, String> {
        let Some(table) = self.live.workflows.get(workflow) else { return Ok(None) };
        let lua = &self.live.lua;
        let field = crate::define::handler_field(handler, true);
        let Ok(Value::Function(function)) = table.get::<Value>(field) else { return Ok(None) };
        let mut values = MultiValue::new();
        for argument in arguments {
            values.push_back(from_json(lua, argument).map_err(|error| self.told(&error))?);
        }
        let answer: mlua::Result<Value> = with(on, function.call_async(values)).await;
        answer.and_then(|value| to_json(&value)).map(Some).map_err(|error| self.told(&error))
    }

    /// An error of a body, for people.
    fn told(&self, error: &mlua::Error) -> String {
        let mut mistake = from_error(error, &self.live.definition.bundle.name);
        mistake.detail = crate::vm::raised(&self.live.lua, mistake.detail);
        let mistake = self.live.scene.missing.explain(&self.live.lua, mistake);
        if mistake.place.is_unknown() {
            mistake.detail
        } else {
            format!("{} ({})", mistake.detail, mistake.place)
        }
    }
}

fn exported(on: &Acting) -> Json {
    let entries = on.exported.borrow();
    if entries.is_empty() { Json::Null } else { Json::Object(entries.clone()) }
}

/// One try of a step.
struct Call<'a> {
    performer: &'a Performer,
    workflow: &'a str,
    step: &'a Step,
    table: &'a Table,
    input: Input,
}

impl Call<'_> {
    async fn carry_out(&self) -> StepResult {
        match self.conditions().await {
            Ok(None) => {}
            Ok(Some(result)) => return self.told_of(result).await,
            Err(message) => return self.told_of(StepResult::new(StepEnd::Failed, message)).await,
        }
        let mut result = self.act().await;
        if result.end == StepEnd::Succeeded
            && let Some(check) = &self.step.health_check
        {
            match self.holds(check, "health_check").await {
                Ok(true) => {}
                Ok(false) => {
                    result = StepResult {
                        message: "its health check says no".to_owned(),
                        end: StepEnd::Failed,
                        ..result
                    }
                }
                Err(message) => {
                    result = StepResult {
                        message: format!("its health check: {message}"),
                        end: StepEnd::Failed,
                        ..result
                    }
                }
            }
        }
        self.told_of(result).await
    }

    /// Tells the step how it ended.
    async fn told_of(&self, result: StepResult) -> StepResult {
        let handler = match result.end {
            StepEnd::Succeeded => Handler::Success,
            StepEnd::Failed => Handler::Failure,
            StepEnd::Skipped => Handler::Skip,
            _ => return result,
        };
        let known = StepResult { exported: exported(&acting()), ..result.clone() };
        self.performer.decided.replace(Some(known));
        let told = self.handle(handler, &result);
        // With a time of its own the step is ended when that is over, and its handler with it.
        let told = match self.step.timeout {
            Some(_) => told.await,
            None => self.performer.within(Workflow::HANDLER_TIME.duration(), told).await,
        };
        if let Err(message) = told {
            acting().complain(&format!("error: the handler of `{}`: {message}", self.step.name));
        }
        result
    }

    /// What its conditions make of it, if they do.
    async fn conditions(&self) -> Result<Option<StepResult>, String> {
        for (i, condition) in self.step.abort_if.iter().enumerate() {
            if self.holds_nth(condition, "abort_if", i).await? {
                return Ok(Some(StepResult::new(
                    StepEnd::Aborted,
                    "its `abort_if` holds: the execution ends",
                )));
            }
        }
        for (i, condition) in self.step.run_if.iter().enumerate() {
            if !self.holds_nth(condition, "run_if", i).await? {
                return Ok(Some(StepResult::new(StepEnd::Skipped, "its `run_if` does not hold")));
            }
        }
        Ok(None)
    }

    async fn holds(&self, condition: &Condition, field: &str) -> Result<bool, String> {
        self.holds_nth(condition, field, 0).await
    }

    async fn holds_nth(
        &self,
        condition: &Condition,
        field: &str,
        nth: usize,
    ) -> Result<bool, String> {
        match condition {
            Condition::Always(answer) => Ok(*answer),
            Condition::Command(line) => {
                let ended = command::quiet(self.step, line, &acting())
                    .await
                    .map_err(|error| error.to_string())?;
                Ok(ended.is_success())
            }
            Condition::Function => {
                let value: Value =
                    self.table.get(field).map_err(|error| self.performer.told(&error))?;
                let function = match value {
                    Value::Function(function) => Some(function),
                    Value::Table(list) if list.raw_len() > 0 => {
                        list.get::<Option<Function>>(nth + 1).ok().flatten()
                    }
                    Value::Table(table) => table.get::<Option<Function>>("command").ok().flatten(),
                    _ => None,
                };
                let Some(function) = function else { return Ok(true) };
                let values =
                    self.arguments(&Json::Null, "").map_err(|error| self.performer.told(&error))?;
                let answer: Value = function
                    .call_async(values)
                    .await
                    .map_err(|error| self.performer.told(&error))?;
                Ok(!matches!(answer, Value::Nil | Value::Boolean(false)))
            }
        }
    }

    async fn act(&self) -> StepResult {
        if let Err(message) = self.around("before", &Json::Null).await {
            return StepResult::new(StepEnd::Failed, format!("before it began: {message}"));
        }
        let result = match &self.step.act {
            Act::Nothing | Act::Approval(_) => StepResult::new(StepEnd::Succeeded, ""),
            Act::Command(_) | Act::Program(_) => command::carry_out(self.step, &acting()).await,
            Act::Function => self.call_command().await,
            Act::Script => self.run_script().await,
        };
        if result.end != StepEnd::Succeeded {
            return result;
        }
        match self.around("after", &result.output).await {
            Ok(()) => result,
            Err(message) => StepResult {
                end: StepEnd::Failed,
                message: format!("after it ended: {message}"),
                ..result
            },
        }
    }

    async fn call_command(&self) -> StepResult {
        let told =
            |error: &mlua::Error| StepResult::new(StepEnd::Failed, self.performer.told(error));
        let function: Function = match self.table.get("command") {
            Ok(function) => function,
            Err(error) => return told(&error),
        };
        let values = match self.arguments(&Json::Null, "") {
            Ok(values) => values,
            Err(error) => return told(&error),
        };
        match function.call_async::<MultiValue>(values).await {
            Ok(returned) => outcome::of_return(&returned),
            Err(error) => self.ending(&error),
        }
    }

    async fn run_script(&self) -> StepResult {
        let live = &self.performer.live;
        let bundle = &live.definition.bundle;
        let main = match crate::define::load(&live.lua, &bundle.name, &bundle.text) {
            Ok(main) => main,
            Err(error) => return StepResult::new(StepEnd::Failed, self.performer.told(&error)),
        };
        match main.call_async::<MultiValue>(()).await {
            Ok(_) => match crate::modules::verdict() {
                None => StepResult::new(StepEnd::Succeeded, ""),
                Some(words) => StepResult::new(StepEnd::Failed, words),
            },
            Err(error) => self.ending(&error),
        }
    }

    /// How a body ended that raised an error; one that ended itself may have gone well.
    fn ending(&self, error: &mlua::Error) -> StepResult {
        match error.downcast_ref::<Exit>() {
            Some(Exit { code: 0 }) => StepResult::new(StepEnd::Succeeded, ""),
            _ => StepResult::new(StepEnd::Failed, self.performer.told(error)),
        }
    }

    /// Calls a hook; what it returns as false, or raises, is an error.
    async fn around(&self, field: &str, output: &Json) -> Result<(), String> {
        let Ok(Value::Function(function)) = self.table.get::<Value>(field) else { return Ok(()) };
        let told = |error: mlua::Error| self.performer.told(&error);
        let mut values = self.arguments(output, "").map_err(told)?;
        if !output.is_null() {
            values.truncate(2);
            values.push_back(from_json(&self.performer.live.lua, output).map_err(told)?);
        }
        let returned: MultiValue = function.call_async(values).await.map_err(told)?;
        let result = outcome::of_return(&returned);
        if result.end == StepEnd::Succeeded {
            return Ok(());
        }
        Err(if result.message.is_empty() { "the hook said no".to_owned() } else { result.message })
    }

    async fn handle(&self, handler: Handler, result: &StepResult) -> Result<bool, String> {
        // A step has failed when no try is left.
        if handler == Handler::Failure && self.input.attempt <= self.step.retry.retries {
            return Ok(false);
        }
        let field = crate::define::handler_field(handler, false);
        let told = |error: mlua::Error| self.performer.told(&error);
        let Ok(Value::Function(function)) = self.table.get::<Value>(field) else {
            return Ok(false);
        };
        let lua = &self.performer.live.lua;
        let mut values = self.arguments(&result.output, &result.message).map_err(told)?;
        let third = if handler == Handler::Success {
            from_json(lua, &result.output).map_err(told)?
        } else {
            this::failure(lua, &self.step.name, result).map(Value::Table).map_err(told)?
        };
        values.truncate(2);
        values.push_back(match third {
            Value::Nil => Value::Table(lua.create_table().map_err(told)?),
            third => third,
        });
        function.call_async::<MultiValue>(values).await.map_err(told)?;
        Ok(true)
    }

    async fn undo(&self, output: &Json) -> StepResult {
        let told =
            |error: &mlua::Error| StepResult::new(StepEnd::Failed, self.performer.told(error));
        let function: Function = match self.table.get("compensate") {
            Ok(function) => function,
            Err(error) => return told(&error),
        };
        let values = match self.arguments(output, "") {
            Ok(values) => values,
            Err(error) => return told(&error),
        };
        match function.call_async::<MultiValue>(values).await {
            Ok(returned) => outcome::of_return(&returned),
            Err(error) => self.ending(&error),
        }
    }

    /// What a handler of events is called with: a parameter of its step, or a value of the execution. It is
    /// a global too, for files that look for it there.
    fn event(&self) -> mlua::Result<Option<Value>> {
        let lua = &self.performer.live.lua;
        let event = match self.input.params.get("event") {
            Some(event) => from_json(lua, event)?,
            None => match lua.globals().get::<Value>("values")? {
                Value::Table(values) => values.get::<Value>("event")?,
                _ => Value::Nil,
            },
        };
        if event.is_nil() {
            return Ok(None);
        }
        lua.globals().set("event", &event)?;
        Ok(Some(event))
    }

    /// `this`, `params`, `deps`.
    fn arguments(&self, output: &Json, message: &str) -> mlua::Result<MultiValue> {
        if self.step.name == crate::define::ON_EVENT
            && let Some(event) = self.event()?
        {
            return Ok(MultiValue::from_vec(vec![event]));
        }
        this::arguments(
            &self.performer.live.lua,
            self.workflow,
            self.step,
            &self.input,
            output,
            message,
        )
    }
}
