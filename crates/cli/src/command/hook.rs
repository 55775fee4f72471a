//! Event hooks.

use std::path::Path;

use hostler_api::ProjectPath;
use hostler_api::hook::{
    DeadLetterBody, DeadLetterReply, DeliveryQuery, HookDeliveryList, HookDisable, HookDiscard,
    HookEnable, HookGet, HookList, HookPath, HookRemove, HookReplay, HookSet, HookTest,
    HookTestBody, HookTestView, HookView, ProjectHookDeliveryList, ProjectHookDisable,
    ProjectHookDiscard, ProjectHookEnable, ProjectHookGet, ProjectHookList, ProjectHookPath,
    ProjectHookRemove, ProjectHookReplay, ProjectHookSet, ProjectHookTest,
};
use hostler_model::workflow::ExecutionOptions;
use hostler_model::{
    Code, DeliveryState, EventHookSpec, Generation, HookAction, HookRetry, LuaAction, TaskAction,
    WebhookAction, WebhookFormat, WorkflowAction, WorkloadSpec,
};

use super::{Cx, DONE, Link, NONE, PAGE, again_if_stale, bare};
use crate::args::{HookAddArgs, HookArgs, HookCommand, HookPlace, ListArgs};
use crate::exit::Code as Exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Description};

/// A call of the hooks of a project, or of the whole installation.
macro_rules! call {
    ($link:expr, $place:expr, $hook:expr, $global:ident, $project:ident, $query:expr, $body:expr) => {
        match $place.global {
            true => $link.client.call::<$global>(&anywhere($hook), $query, $body).await,
            false => $link.client.call::<$project>(&in_project($link, $hook), $query, $body).await,
        }
    };
}

pub async fn perform(cx: &Cx, command: HookCommand) -> Outcome {
    let link = &cx.link()?;
    match command {
        HookCommand::Add(args) => add(cx, link, *args).await,
        HookCommand::Ls { place, list } => {
            let query = list.page();
            if place.global {
                return cx.list::<HookList, _>(link, &NONE, &query, list.limit).await;
            }
            let path = ProjectPath { project: link.project.clone() };
            cx.list::<ProjectHookList, _>(link, &path, &query, list.limit).await
        }
        HookCommand::Show(args) => show(cx, link, &args).await,
        HookCommand::Rm { hooks, place } => {
            cx.ui.confirm(&format!("Remove {}?", hooks.join(", ")))?;
            for hook in &hooks {
                let name = bare("hook", hook);
                again_if_stale(async || remove(link, place, name).await).await?;
                cx.ui.say(&format!("hook {name} removed"));
            }
            Ok(DONE)
        }
        HookCommand::Enable(HookArgs { hook, place }) => {
            let hook = bare("hook", &hook);
            let now = call!(link, place, hook, HookEnable, ProjectHookEnable, &NONE, &NONE)?;
            cx.changed(&now, "enabled")
        }
        HookCommand::Disable(HookArgs { hook, place }) => {
            let hook = bare("hook", &hook);
            let now = call!(link, place, hook, HookDisable, ProjectHookDisable, &NONE, &NONE)?;
            cx.changed(&now, "disabled")
        }
        HookCommand::Test { hook: HookArgs { hook, place }, event } => {
            let (hook, body) = (bare("hook", &hook), HookTestBody { sequence: event });
            let test = call!(link, place, hook, HookTest, ProjectHookTest, &NONE, &body)?;
            tested(cx, &test)
        }
        HookCommand::Log { hook, state, list } => log(cx, link, &hook, state, list).await,
        HookCommand::Dead { hook, discard, discard_all, list } => {
            if discard.is_none() && !discard_all {
                return log(cx, link, &hook, Some(DeliveryState::Dead), list).await;
            }
            let (name, body) = (bare("hook", &hook.hook), DeadLetterBody { sequence: discard });
            cx.ui.confirm(&format!("Forget what {name} could not deliver?"))?;
            let place = hook.place;
            let gone = call!(link, place, name, HookDiscard, ProjectHookDiscard, &NONE, &body)?;
            letters(cx, &gone, "discarded")
        }
        HookCommand::Replay { hook: HookArgs { hook, place }, event, all: _ } => {
            let (hook, body) = (bare("hook", &hook), DeadLetterBody { sequence: event });
            let put = call!(link, place, hook, HookReplay, ProjectHookReplay, &NONE, &body)?;
            letters(cx, &put, "will be delivered again")
        }
    }
}

fn in_project(link: &Link, hook: &str) -> ProjectHookPath {
    ProjectHookPath { project: link.project.clone(), hook: hook.to_owned() }
}

fn anywhere(hook: &str) -> HookPath {
    HookPath { hook: hook.to_owned() }
}

async fn get(link: &Link, place: HookPlace, hook: &str) -> Result<HookView, hostler_client::Error> {
    call!(link, place, hook, HookGet, ProjectHookGet, &NONE, &NONE)
}

async fn remove(link: &Link, place: HookPlace, hook: &str) -> Result<(), hostler_client::Error> {
    let seen = Generation::from_u64(get(link, place, hook).await?.generation);
    let client = &link.client;
    match place.global {
        true => client.call_if_match::<HookRemove>(&anywhere(hook), &NONE, &NONE, seen).await?,
        false => {
            let path = in_project(link, hook);
            client.call_if_match::<ProjectHookRemove>(&path, &NONE, &NONE, seen).await?
        }
    };
    Ok(())
}

fn document<T: serde::Serialize>(cx: &Cx, item: &T) -> Outcome {
    if let Some(format) = cx.ui.format() {
        output::document(&cx.ui, format, item)?;
    }
    Ok(DONE)
}

fn letters(cx: &Cx, reply: &DeadLetterReply, words: &str) -> Outcome {
    if !cx.is_for_people() {
        return document(cx, reply);
    }
    cx.ui.say(&match reply.count {
        1 => format!("1 dead letter {words}"),
        count => format!("{count} dead letters {words}"),
    });
    Ok(DONE)
}

fn tested(cx: &Cx, test: &HookTestView) -> Outcome {
    let done = if test.is_done { DONE } else { Exit::Unhealthy.number() };
    if !cx.is_for_people() {
        document(cx, test)?;
        return Ok(done);
    }
    if !test.is_match {
        cx.ui.warn("the hook would not have taken this event by itself");
    }
    cx.ui.say(&match test.is_done {
        true => format!("delivered: {}", test.note),
        false => format!("not delivered: {}", test.note),
    });
    Ok(done)
}

async fn log(
    cx: &Cx,
    link: &Link,
    hook: &HookArgs,
    state: Option<DeliveryState>,
    list: ListArgs,
) -> Outcome {
    let ListArgs { limit, filter } = list;
    let query = DeliveryQuery { state, filter, limit: PAGE, cursor: None };
    let name = bare("hook", &hook.hook);
    match hook.place.global {
        true => cx.list::<HookDeliveryList, _>(link, &anywhere(name), &query, limit).await,
        false => {
            let path = in_project(link, name);
            cx.list::<ProjectHookDeliveryList, _>(link, &path, &query, limit).await
        }
    }
}

async fn show(cx: &Cx, link: &Link, args: &HookArgs) -> Outcome {
    let hook = get(link, args.place, bare("hook", &args.hook)).await?;
    if !cx.is_for_people() || cx.ui.is_quiet() {
        return cx.one(&hook);
    }
    let spec = &hook.spec;
    let on: Vec<String> = spec.on.iter().map(ToString::to_string).collect();
    let mut text = Description::default();
    text.pair("Name", hook.name.to_string())
        .pair("Description", spec.description.clone())
        .pair("Project", hook.project.as_ref().map(ToString::to_string))
        .pair("Acts in", spec.project.as_ref().map(ToString::to_string))
        .pair("Enabled", (if hook.is_enabled { "yes" } else { "no" }).to_owned())
        .pair("Owner", hook.owner.clone())
        .pair("On", on.join(", "))
        .pair("Filter", spec.filter.clone())
        .pair("Action", hook.summary.clone())
        .pair("At once", spec.at_once.to_string())
        .pair("Tries", spec.retry.attempts.to_string())
        .pair("Gives up after", spec.retry.give_up_after.to_string())
        .pair("Time limit", spec.time_limit().to_string())
        .pair("After a dead letter", spec.on_dead.to_string());
    text.section("Deliveries");
    for (state, count) in &hook.deliveries {
        text.pair(state.label(), count.to_string());
    }
    cx.ui.data(text.render().as_bytes())?;
    if hook.deliveries.contains_key(&DeliveryState::Dead) {
        let name = &hook.name;
        cx.ui.say(&format!(
            "see `hostler hook dead {name}`, and `hostler hook replay {name} --all`"
        ));
    }
    Ok(DONE)
}

async fn add(cx: &Cx, link: &Link, args: HookAddArgs) -> Outcome {
    let (place, name) = (args.place, args.name.clone());
    let spec = match &args.file {
        Some(file) => from_file(cx, file)?,
        None => from_flags(cx, args)?,
    };
    let (client, spec, name) = (&link.client, &spec, name.as_str());
    let change = again_if_stale(async || {
        let seen = match get(link, place, name).await {
            Ok(hook) => Some(Generation::from_u64(hook.generation)),
            Err(error) if error.is(Code::NotFound) => None,
            Err(error) => return Err(error),
        };
        match (place.global, seen) {
            (true, Some(seen)) => {
                client.call_if_match::<HookSet>(&anywhere(name), &NONE, spec, seen).await
            }
            (true, None) => client.call::<HookSet>(&anywhere(name), &NONE, spec).await,
            (false, Some(seen)) => {
                let path = in_project(link, name);
                client.call_if_match::<ProjectHookSet>(&path, &NONE, spec, seen).await
            }
            (false, None) => {
                client.call::<ProjectHookSet>(&in_project(link, name), &NONE, spec).await
            }
        }
    });
    cx.changed(&change.await?, "set")
}

fn from_file(cx: &Cx, file: &Path) -> Result<EventHookSpec, Failure> {
    let text = text(cx, file)?;
    serde_saphyr::from_str(&text).map_err(|error| {
        let words = format!("{} is not a hook: {error}", file.display());
        Failure::usage(words, "docs/hooks.md shows one")
    })
}

fn text(cx: &Cx, file: &Path) -> Result<String, Failure> {
    if file == Path::new("-") {
        return cx.ui.input_all();
    }
    std::fs::read_to_string(file).map_err(|error| {
        Failure::usage(format!("{} cannot be read: {error}", file.display()), "name a file of text")
    })
}

fn from_flags(cx: &Cx, args: HookAddArgs) -> Result<EventHookSpec, Failure> {
    let action = action(cx, &args)?;
    let mut retry = HookRetry::default();
    retry.attempts = args.attempts.unwrap_or(retry.attempts);
    retry.give_up_after = args.give_up_after.unwrap_or(retry.give_up_after);
    Ok(EventHookSpec {
        description: args.description,
        on: args.on,
        filter: args.filter,
        action,
        project: args.acts_in,
        at_once: args.at_once.unwrap_or(20),
        retry,
        time_limit: args.time_limit,
        on_dead: args.on_dead.unwrap_or_default(),
        loop_depth: args.loop_depth.unwrap_or(3),
    })
}

fn action(cx: &Cx, args: &HookAddArgs) -> Result<HookAction, Failure> {
    let options = ExecutionOptions { delegate_to: args.nodes.clone(), ..Default::default() };
    if args.webhook.is_some() || args.webhook_secret.is_some() {
        let template = args.template.as_deref().map(|file| text(cx, file)).transpose()?;
        return Ok(HookAction::Webhook(Box::new(WebhookAction {
            url: args.webhook.clone().unwrap_or_default(),
            url_secret: args.webhook_secret.clone(),
            headers: args.headers.iter().cloned().collect(),
            bearer: args.bearer.clone(),
            sign: args.sign.clone(),
            format: match template {
                Some(_) => WebhookFormat::Template,
                None => args.format.unwrap_or_default(),
            },
            template: template.unwrap_or_default(),
            to: args.to.clone(),
        })));
    }
    if let Some(file) = &args.lua {
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
        return Ok(HookAction::Lua(Box::new(LuaAction {
            file: name.unwrap_or_else(|| "hook.lua".to_owned()),
            text: text(cx, file)?,
            options,
            version: 0,
        })));
    }
    if let Some(workflow) = &args.workflow {
        return Ok(HookAction::Workflow(WorkflowAction {
            name: workflow.clone(),
            version: None,
            values: serde_json::Value::Null,
            options,
        }));
    }
    if args.command.is_empty() {
        return Err(Failure::usage(
            "what does the hook do?",
            "give --webhook, --webhook-secret, --lua, --workflow, or -- and a command",
        ));
    }
    let spec = WorkloadSpec { command: args.command.clone(), ..WorkloadSpec::default() };
    Ok(HookAction::Task(Box::new(TaskAction { name: None, spec })))
}
