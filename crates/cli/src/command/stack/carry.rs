//! What is done to stacks as they are: taken down, paused, signalled, carried elsewhere.

use std::collections::BTreeMap;
use std::path::Path;

use hostler_api::stack::{
    StackCancel, StackCancelBody, StackCreateBody, StackFormBody, StackGet, StackPath, StackRemove,
    StackRemoveQuery, StackView,
};
use hostler_api::stack_plan::{StackPlanBody, StackPlanCreate};
use hostler_api::stack_point::{StackAbandon, StackAdopt, StackAdoptBody, StackExport};
use hostler_api::stack_resource::{
    StackHookClear, StackHookList, StackHookPath, StackHookView, StackMark, StackMarkBody,
    StackSignal, StackSignalBody,
};
use hostler_api::{Endpoint, Nothing};
use hostler_model::stack::StackName;
use serde_json::{Map, Value};

use super::super::{Cx, DONE, NONE};
use super::follow::{Watch, follow};
use super::{form, look, path, plan, project};
use crate::args::{
    StackAdoptArgs, StackAskArgs, StackCancelArgs, StackHookCommand, StackImportArgs,
    StackMarkArgs, StackRemoveArgs, StackSignalArgs,
};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Format};

/// What has no more to say than its name.
pub async fn ask<E>(cx: &Cx, args: StackAskArgs) -> Outcome
where
    E: Endpoint<Path = StackPath, Query = Nothing, Body = Nothing, Reply = StackView>,
{
    let link = cx.link()?;
    let place = path(&link, &args.which.stack);
    let watch = Watch::before(&link, &place.stack).await?;
    let begun = link.client.call::<E>(&place, &NONE, &NONE).await?;
    follow(cx, &link, begun, watch, &args.wait).await
}

pub async fn rm(cx: &Cx, args: StackRemoveArgs) -> Outcome {
    let link = cx.link()?;
    let names = args.stacks.join(", ");
    cx.ui.confirm(&format!("Take down {names} with all objects?"))?;
    let mut code = DONE;
    for stack in &args.stacks {
        let place = path(&link, stack);
        // By its id it is found when it is gone, too.
        let id = link.client.call::<StackGet>(&place, &NONE, &NONE).await?.id.to_string();
        let place = path(&link, &id);
        let watch = Watch::before(&link, &id).await?;
        let force = args.force.then_some(true);
        let query = StackRemoveQuery { force, reason: args.why.message.clone() };
        let begun = link.client.call::<StackRemove>(&place, &query, &NONE).await?;
        code = code.max(follow(cx, &link, begun, watch, &args.wait).await?);
        if code == exit::INTERRUPTED {
            break;
        }
    }
    Ok(code)
}

pub async fn cancel(cx: &Cx, args: StackCancelArgs) -> Outcome {
    let link = cx.link()?;
    let place = path(&link, &args.which.stack);
    let watch = Watch::before(&link, &place.stack).await?;
    let body = StackCancelBody { rollback: !args.no_rollback };
    let begun = link.client.call::<StackCancel>(&place, &NONE, &body).await?;
    if args.no_rollback {
        // It ends as failed: that is what was asked for.
        let code = follow(cx, &link, begun, watch, &args.wait).await?;
        return Ok(if code == exit::Code::Unhealthy.number() { DONE } else { code });
    }
    follow(cx, &link, begun, watch, &args.wait).await
}

pub async fn export(cx: &Cx, stack: &str) -> Outcome {
    let link = cx.link()?;
    let found = link.client.call::<StackExport>(&path(&link, stack), &NONE, &NONE).await?;
    document(cx, &found.document)
}

fn document(cx: &Cx, document: &Value) -> Outcome {
    let format = cx.ui.format().cloned().filter(|_| !cx.is_for_people());
    output::document(&cx.ui, &format.unwrap_or(Format::Json), document)?;
    Ok(DONE)
}

pub async fn abandon(cx: &Cx, stack: &str) -> Outcome {
    let link = cx.link()?;
    let place = path(&link, stack);
    cx.ui.confirm(&format!("Forget stack {} and leave its objects?", place.stack))?;
    let left = link.client.call::<StackAbandon>(&place, &NONE, &NONE).await?;
    cx.ui.say(&format!("stack {} is forgotten; its objects are as they were", place.stack));
    document(cx, &left.document)
}

/// A document of a stack, and what the stack is to be called.
fn read(cx: &Cx, file: &Path, name: Option<StackName>) -> Result<(Value, StackName), Failure> {
    let text = match file == Path::new("-") {
        true => cx.ui.input_all()?,
        false => std::fs::read_to_string(file).map_err(|error| {
            Failure::usage(
                format!("{}: {error}", file.display()),
                "name a file that `hostler stack export` or `abandon` printed",
            )
        })?,
    };
    let document: Value = serde_saphyr::from_str(&text).map_err(|error| {
        Failure::usage(
            format!("{} is not understood: {error}", file.display()),
            "it is what `hostler stack export` or `abandon` printed",
        )
    })?;
    let named = || document.get("name")?.as_str()?.parse().ok();
    let name = name.or_else(named).ok_or_else(|| {
        Failure::usage("what is the stack to be called?", "say it with --name, such as --name web")
    })?;
    Ok((document, name))
}

pub async fn adopt(cx: &Cx, args: StackAdoptArgs) -> Outcome {
    let (document, name) = read(cx, &args.file, args.name)?;
    let options = form::options_of(&document, &args.options)?;
    let link = cx.link()?;
    let body = StackAdoptBody {
        name,
        document,
        form: StackFormBody::default(),
        options,
        reason: args.why.text(),
    };
    let begun = link.client.call::<StackAdopt>(&project(&link), &NONE, &body).await?;
    follow(cx, &link, begun, Watch::of_new(), &args.wait).await
}

pub async fn import(cx: &Cx, args: StackImportArgs) -> Outcome {
    let (document, name) = read(cx, &args.file, args.name)?;
    let part = |name: &str| document.get(name).filter(|value| !value.is_null());
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let none = Map::new();
    let files = part("files").and_then(Value::as_object).unwrap_or(&none);
    let files: BTreeMap<String, String> =
        files.iter().map(|(name, value)| (name.clone(), text(value))).collect();
    let form = StackFormBody {
        template: part("template").map(text),
        environment: part("environment").map(text),
        files,
        ..StackFormBody::default()
    };
    let link = cx.link()?;
    let options = form::options_of(&document, &args.options)?;
    let reason = args.why.text();
    let body = StackPlanBody::Create(StackCreateBody { name, form, options, reason });
    let plan = link.client.call::<StackPlanCreate>(&project(&link), &NONE, &body).await?;
    plan::carry_out(cx, &link, &plan, None, &args.wait).await
}

pub async fn signal(cx: &Cx, args: StackSignalArgs) -> Outcome {
    let text = match (&args.data, &args.data_file) {
        (Some(text), _) => Some(text.clone()),
        (None, Some(file)) if file == Path::new("-") => Some(cx.ui.input_all()?),
        (None, Some(file)) => Some(std::fs::read_to_string(file).map_err(|error| {
            Failure::usage(format!("{}: {error}", file.display()), "name a file with JSON")
        })?),
        (None, None) => None,
    };
    let data = text.map(|text| serde_json::from_str::<Value>(&text)).transpose();
    let data = data.map_err(|error| {
        Failure::usage(
            format!("what it is to be told is no JSON: {error}"),
            "write for example --data '{\"status\": \"SUCCESS\"}'",
        )
    })?;
    let link = cx.link()?;
    let place = look::of_resource(&link, &args.which);
    let body = StackSignalBody { data: data.unwrap_or_default() };
    let told = link.client.call::<StackSignal>(&place, &NONE, &body).await?;
    match cx.ui.format().filter(|_| !cx.is_for_people()) {
        Some(format) => output::document(&cx.ui, format, &told)?,
        None if told.answer.is_null() => {
            cx.ui.say(&format!("{} of stack {} was told", place.resource, place.stack));
        }
        None => cx.ui.line(&output::plain(&told.answer))?,
    }
    Ok(DONE)
}

pub async fn mark(cx: &Cx, args: StackMarkArgs) -> Outcome {
    let link = cx.link()?;
    let place = look::of_resource(&link, &args.which);
    let body = StackMarkBody { unhealthy: !args.reset, reason: args.reason };
    link.client.call::<StackMark>(&place, &NONE, &body).await?;
    let words = match args.reset {
        true => "is well again",
        false => "is not well; the next update puts another in its place",
    };
    cx.ui.say(&format!("{} of stack {} {words}", place.resource, place.stack));
    Ok(DONE)
}

pub async fn hooks(cx: &Cx, command: StackHookCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        StackHookCommand::Ls { which } => {
            let place = path(&link, &which.stack);
            let found = link.client.call::<StackHookList>(&place, &NONE, &NONE).await?;
            output::list(&cx.ui, cx.now(), &found.items)?;
        }
        StackHookCommand::Clear { which, hook } => {
            let place = path(&link, &which.stack);
            let pages = link.client.call::<StackHookList>(&place, &NONE, &NONE).await?;
            let is_meant = |one: &&StackHookView| {
                one.resource == which.resource && hook.is_none_or(|hook| hook == one.hook)
            };
            let waiting: Vec<&StackHookView> = pages.items.iter().filter(is_meant).collect();
            if waiting.is_empty() {
                return Err(Failure::told(
                    exit::Code::NotFound,
                    format!("`{}` of stack {} waits at no such hook", which.resource, place.stack),
                    format!("`hostler stack hook ls {}` shows what waits", place.stack),
                ));
            }
            for one in waiting {
                let at = StackHookPath {
                    project: place.project.clone(),
                    stack: one.stack_id.to_string(),
                    resource: one.resource.clone(),
                    hook: one.hook,
                };
                link.client.call::<StackHookClear>(&at, &NONE, &NONE).await?;
                cx.ui.say(&format!("{} goes on from the hook {}", one.resource, one.hook));
            }
        }
    }
    Ok(DONE)
}
