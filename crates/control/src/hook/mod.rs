//! What a hook does with an event: one try of a delivery, and looking at what a try began.
//!
//! Everything is an [`Action`] that is carried out like any other, in the name of who wrote the hook, with
//! their rights as they are at that moment. What hooks add is the event: in the body of a webhook, in the environment of a
//! task, in the values of a workflow, and as the argument of `on_event` in a Lua file, which is kept as a
//! workflow of one step.
//!
//! A webhook is done when it was answered. Whatever runs is followed until it is over, so that the next event
//! about the same object finds it done. What ran and failed is not run again by the hook: tasks and
//! workflows have retries of their own. What could not be begun is tried again.

mod body;

use hostler_engine::hook::Tried;
use hostler_model::{
    Action, Error, EventHook, HookAction, HookDelivery, LuaAction, Name, Permission, Project,
    ProjectId, Scope, Span, TaskAction, WorkflowAction,
};
use serde_json::{Value, json};

use crate::{ActionFailure, Control, Order, standings};

pub(crate) use body::check as check_template;

/// The workflow that the Lua file of a hook is kept as.
pub(crate) fn lua_workflow(hook: &Name) -> String {
    format!("hook:{hook}")
}

impl Control {
    /// Where a hook acts.
    pub(crate) async fn hook_project(&self, hook: &EventHook) -> Result<Project, Error> {
        let mut read = self.store.read().await?;
        let found = match (hook.scope, &hook.spec.project) {
            (Scope::Project(id), _) => read.project_get(id).await?,
            (Scope::Global, Some(name)) => read.project_by_name(name).await?,
            (Scope::Global, None) => None,
        };
        found.ok_or_else(|| {
            Error::not_found(
                "project",
                hook.spec.project.as_ref().map_or("of the hook", Name::as_str),
            )
        })
    }

    /// Does once what a delivery is there for.
    pub(crate) async fn hook_try(&self, hook: &EventHook, delivery: &HookDelivery) -> Tried {
        let key = match (&hook.spec.action, delivery.attempts) {
            (HookAction::Webhook(_), _) | (_, 0) => delivery.key(),
            (_, attempts) => format!("{}/{attempts}", delivery.key()),
        };
        match self.hook_do(hook, &delivery.event, key).await {
            Ok(tried) => tried,
            Err(failure) => {
                let error = &failure.error;
                let why = match error.hint.is_empty() {
                    true => error.detail.clone(),
                    false => format!("{}; {}", error.detail, error.hint),
                };
                Tried::Failed { why, status: failure.status, is_final: !failure.is_passing }
            }
        }
    }

    pub(crate) async fn hook_do(
        &self,
        hook: &EventHook,
        event: &Value,
        key: String,
    ) -> Result<Tried, ActionFailure> {
        let project = &self.hook_project(hook).await?;
        let order = |action| Order {
            mandate: hook.mandate,
            project,
            action,
            key: key.clone(),
            cause: format!("hook {}", hook.name),
            consent: None,
        };
        let permission = match hook.scope {
            Scope::Project(_) => Permission::HookWrite,
            Scope::Global => Permission::HookGlobal,
        };
        let plain = with_event(&hook.name, &hook.spec.action, event);
        let caller = self.action_caller(&order(&plain), permission).await?;
        let mut action = plain.clone();
        if let HookAction::Webhook(it) = &hook.spec.action {
            let url = match &it.url_secret {
                None => it.url.clone(),
                Some(secret) => {
                    let cx = crate::Cx { caller, request: order(&plain).request()? };
                    self.action_secret_text(&cx, project, secret).await?
                }
            };
            let body = body::render(hook, it, &self.with_project_name(event).await?);
            let body = body.map_err(unfilled)?;
            action = Action::Http(Box::new(it.call(url, body, hook.spec.time_limit())));
        }
        let outcome = self.action_perform(&order(&action)).await?;
        let note = match (&outcome.object, outcome.status) {
            (_, Some(status)) => format!("answered with {status}"),
            (Some(object), _) => format!("{} {}", object.kind, object.name),
            (None, None) => String::new(),
        };
        match outcome.object {
            Some(made) if goes_on(&action) => Ok(Tried::Begun { made }),
            _ => Ok(Tried::Done { note, status: outcome.status }),
        }
    }

    /// Receivers know projects by their names; an event has the id.
    async fn with_project_name(&self, event: &Value) -> Result<Value, Error> {
        let mut event = event.clone();
        let id = event["project"].as_str().and_then(|id| id.parse::<ProjectId>().ok());
        if let Some(id) = id
            && let Some(project) = self.store.read().await?.project_get(id).await?
        {
            event["projectName"] = json!(project.name);
        }
        Ok(event)
    }

    /// Looks at what a delivery began; what takes too long is stopped.
    pub(crate) async fn hook_look(
        &self,
        hook: &EventHook,
        delivery: &HookDelivery,
    ) -> Result<Tried, Error> {
        let Some(made) = &delivery.made else {
            return Ok(lost("it is not known what was begun"));
        };
        let found = {
            let mut read = self.store.read().await?;
            standings(&mut read, &[made]).await?
        };
        let Some(standing) = found.get(&(made.kind, made.id.clone())) else {
            return Ok(lost(&format!("the {} {} is gone", made.kind, made.name)));
        };
        let words = format!("{} {} is {}", made.kind, made.name, standing.state);
        if standing.is_over {
            return Ok(match standing.is_good {
                Some(true) => Tried::Done { note: words, status: None },
                _ => lost(&words),
            });
        }
        let limit = hook.spec.time_limit();
        let begun = delivery.time_begun.unwrap_or(delivery.time_created);
        if self.now() < begun.plus(limit.duration()) {
            return Ok(Tried::Goes);
        }
        let project = &self.hook_project(hook).await?;
        let action = with_event(&hook.name, &hook.spec.action, &delivery.event);
        let order = Order {
            mandate: hook.mandate,
            project,
            action: &action,
            key: format!("{}/stop", delivery.key()),
            cause: format!("hook {}", hook.name),
            consent: None,
        };
        let stopped = match self.action_stop(&order, made).await {
            Ok(()) => "and was stopped".to_owned(),
            Err(error) => format!("and could not be stopped: {}", error.detail),
        };
        Ok(lost(&format!("the {} {} ran longer than {limit} {stopped}", made.kind, made.name)))
    }
}

/// What ran is not run again.
fn lost(why: &str) -> Tried {
    Tried::Failed { why: why.to_owned(), status: None, is_final: true }
}

fn unfilled(error: minijinja::Error) -> Error {
    Error::conflict(
        format!("the template cannot be filled in: {}", body::words(&error)),
        "change the template of the hook",
    )
}

/// Whether what an action makes is over later.
fn goes_on(action: &Action) -> bool {
    use hostler_model::OperationAction as Operation;
    match action {
        Action::Task(_) | Action::Workflow(_) => true,
        Action::Operation(it) => {
            !matches!(it, Operation::NodeCordon { .. } | Operation::NodeUncordon { .. })
        }
        Action::Workload(_) | Action::Http(_) => false,
    }
}

/// An action that knows of the event.
pub(crate) fn with_event(hook: &Name, action: &HookAction, event: &Value) -> Action {
    match action {
        HookAction::Lua(it) => lua(hook, it, event),
        HookAction::Webhook(it) => {
            Action::Http(Box::new(it.call(it.url.clone(), String::new(), Span::from_secs(1))))
        }
        HookAction::Task(it) => Action::Task(Box::new(task(it, event))),
        HookAction::Workflow(it) => {
            let mut it = it.clone();
            it.values = values(it.values, event);
            Action::Workflow(it)
        }
        HookAction::Workload(it) => Action::Workload(it.clone()),
        HookAction::Operation(it) => Action::Operation(it.clone()),
    }
}

fn lua(hook: &Name, it: &LuaAction, event: &Value) -> Action {
    Action::Workflow(WorkflowAction {
        name: lua_workflow(hook),
        version: Some(it.version),
        values: values(Value::Null, event),
        options: it.options.clone(),
    })
}

/// The event as Lua sees it: as everywhere, and as files know it that were written for Sloth Runner.
fn values(given: Value, event: &Value) -> Value {
    let mut seen = event.clone();
    seen["type"] = event["kind"].clone();
    seen["timestamp"] = event["time"].clone();
    seen["data"] = event.get("payload").cloned().unwrap_or_else(|| json!({}));
    let mut values = match given {
        Value::Object(values) => values,
        _ => serde_json::Map::new(),
    };
    values.insert("event".to_owned(), seen);
    Value::Object(values)
}

fn task(it: &TaskAction, event: &Value) -> TaskAction {
    let mut it = it.clone();
    let text = |at: &str| match event.pointer(at) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let known = [
        ("EVENT", event.to_string()),
        ("EVENT_SEQUENCE", text("/sequence")),
        ("EVENT_KIND", text("/kind")),
        ("EVENT_MESSAGE", text("/message")),
        ("EVENT_OBJECT_KIND", text("/object/kind")),
        ("EVENT_OBJECT_ID", text("/object/id")),
        ("EVENT_OBJECT_NAME", text("/object/name")),
    ];
    for (name, value) in known {
        it.spec.env.insert(name.to_owned(), value);
    }
    it
}
