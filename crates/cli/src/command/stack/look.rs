//! What stacks are: lists, one in full, what happened, what they give, their graph; and what they can be made of.

use futures::{StreamExt, TryStreamExt};
use hostler_api::stack::{
    StackEventList, StackEventQuery, StackEventView, StackGet, StackList, StackListQuery,
    StackOutputList, StackOutputView, StackView,
};
use hostler_api::stack_resource::{
    StackGraph, StackResourceGet, StackResourceList, StackResourceListQuery, StackResourcePath,
    StackResourceView,
};
use hostler_api::stack_type::{
    StackEditionList, StackEditionView, StackTypeGet, StackTypeList, StackTypeListQuery,
    StackTypePath, StackTypeView,
};
use hostler_api::{WatchKind, WatchMessage};
use hostler_model::Code;
use hostler_model::stack::StackStatus;
use hostler_template::environment::glob_match;
use serde_json::{Map, Value};

use super::super::drawing::{Drawing, Node, Tone};
use super::super::watch::Screen;
use super::super::{Cx, DONE, Link, NONE, PAGE, bare};
use super::{follow, path, project};
use crate::args::{
    StackEventsArgs, StackGraphArgs, StackListArgs, StackOutputsArgs, StackResourceRef,
    StackResourcesArgs, StackTypeArgs,
};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Description, Format, age, moment, plain, short, standing};

pub async fn ls(cx: &Cx, args: StackListArgs) -> Outcome {
    let link = cx.link()?;
    let query = StackListQuery {
        tag: args.tag,
        status: args.status,
        nested: args.nested.then_some(true),
        deleted: args.deleted.then_some(true),
        filter: args.list.filter,
        limit: PAGE,
        ..StackListQuery::default()
    };
    cx.list::<StackList, _>(&link, &project(&link), &query, args.list.limit).await
}

pub async fn show(cx: &Cx, stack: &str) -> Outcome {
    let link = cx.link()?;
    let found = link.client.call::<StackGet>(&path(&link, stack), &NONE, &NONE).await?;
    if !cx.is_for_people() || cx.ui.is_quiet() {
        return cx.one(&found);
    }
    cx.ui.data(described(cx, &found).render().as_bytes())?;
    Ok(DONE)
}

fn described(cx: &Cx, found: &StackView) -> Description {
    let time = |time| format!("{} ({})", moment(time, cx.now(), true), age(time, cx.now()));
    let options = &found.options;
    let mut text = Description::default();
    text.pair("Name", found.name.to_string())
        .pair("Id", found.id.to_string())
        .pair("Description", found.description.clone())
        .pair("Status", standing(&found.standing))
        .pair(
            "Reason",
            Some(&found.standing.reason)
                .filter(|_| found.standing.status != StackStatus::Complete)
                .cloned(),
        )
        .pair("Trouble", found.trouble.clone())
        .pair("Revision", (found.revision > 0).then(|| format!("v{}", found.revision)))
        .pair("In the name of", found.owner.clone())
        .pair("Part of", found.parent.map(|parent| parent.to_string()))
        .pair("Tags", options.tags.join(", "))
        .pair("When it fails", options.is_rollback_enabled.then(|| "undone".to_owned()))
        .pair("Timeout", options.timeout.map(|timeout| timeout.to_string()))
        .pair("Converges", options.converges.then(|| "with every change".to_owned()))
        .pair("Drift", options.drift_every.map(|every| format!("looked for every {every}")))
        .pair("At once", options.at_once.map(|many| many.to_string()))
        .pair("Created", time(found.time_created))
        .pair("Changed", found.time_updated.map(time))
        .pair("Given up", found.time_deadline.map(|at| age(at, cx.now())))
        .pair("Gone", found.time_deleted.map(time));
    pairs(&mut text, "Parameters", &found.parameters);
    text.section("Outputs");
    for output in &found.outputs {
        text.pair(&output.name, Some(given(output)));
    }
    text
}

fn pairs(text: &mut Description, title: &str, values: &Map<String, Value>) {
    text.section(title);
    for (name, value) in values {
        text.pair(name, Some(short(value)));
    }
}

/// What an output gives, or why nothing.
fn given(output: &StackOutputView) -> String {
    match &output.error {
        Some(error) => format!("({error})"),
        None => plain(&output.value),
    }
}

pub async fn outputs(cx: &Cx, args: StackOutputsArgs) -> Outcome {
    let link = cx.link()?;
    let place = path(&link, &args.which.stack);
    let found = link.client.call::<StackOutputList>(&place, &NONE, &NONE).await?.items;
    let Some(name) = args.name else {
        output::list(&cx.ui, cx.now(), &found)?;
        return Ok(DONE);
    };
    let Some(one) = found.iter().find(|one| one.name == name) else {
        return Err(Failure::told(
            exit::Code::NotFound,
            format!("stack {} has no output `{name}`", place.stack),
            format!("`hostler stack outputs {}` lists them", place.stack),
        ));
    };
    if !cx.is_for_people() {
        return cx.one(one);
    }
    if let Some(error) = &one.error {
        return Err(Failure::told(
            exit::Code::Unhealthy,
            format!("the output `{name}` has no value: {error}"),
            format!("look at the resources with `hostler stack resources {}`", place.stack),
        ));
    }
    cx.ui.line(&plain(&one.value))?;
    Ok(DONE)
}

pub async fn resources(cx: &Cx, args: StackResourcesArgs) -> Outcome {
    let link = cx.link()?;
    let depth = Some(args.nested).filter(|depth| *depth > 0);
    let query = StackResourceListQuery { depth, filter: args.filter, limit: PAGE, cursor: None };
    cx.list::<StackResourceList, _>(&link, &path(&link, &args.which.stack), &query, None).await
}

pub fn of_resource(link: &Link, which: &StackResourceRef) -> StackResourcePath {
    StackResourcePath {
        project: link.project.clone(),
        stack: bare("stack", &which.stack).to_owned(),
        resource: bare("resource", &which.resource).to_owned(),
    }
}

pub async fn resource(cx: &Cx, which: &StackResourceRef) -> Outcome {
    let link = cx.link()?;
    let place = of_resource(&link, which);
    let found = link.client.call::<StackResourceGet>(&place, &NONE, &NONE).await?;
    if !cx.is_for_people() || cx.ui.is_quiet() {
        return cx.one(&found);
    }
    cx.ui.data(resource_described(cx, &found).render().as_bytes())?;
    Ok(DONE)
}

fn resource_described(cx: &Cx, found: &StackResourceView) -> Description {
    let time = |time| format!("{} ({})", moment(time, cx.now(), true), age(time, cx.now()));
    let mut text = Description::default();
    text.pair("Name", found.name.clone())
        .pair("Type", found.kind.clone())
        .pair("Stack", found.stack.to_string())
        .pair("Description", found.description.clone())
        .pair("Status", format!("{} {}", found.action, found.status))
        .pair(
            "Reason",
            Some(&found.reason).filter(|_| found.status != StackStatus::Complete).cloned(),
        )
        .pair("Waits at", found.hook.map(|hook| format!("the hook {hook}")))
        .pair("Physical", found.physical.clone())
        .pair("Is the stack", found.child.map(|child| child.to_string()))
        .pair("Needed by", found.required_by.join(", "))
        .pair("When it goes", format!("the object is {}", policy(found)))
        .pair("Created", time(found.time_created))
        .pair("Changed", time(found.time_modified));
    for (title, values) in [("Properties", &found.properties), ("Metadata", &found.metadata)] {
        if let Value::Object(values) = values {
            pairs(&mut text, title, values);
        }
    }
    pairs(&mut text, "Attributes", &found.attributes);
    text
}

fn policy(found: &StackResourceView) -> &'static str {
    use hostler_model::stack::DeletionPolicy;
    match found.deletion_policy {
        DeletionPolicy::Delete => "removed",
        DeletionPolicy::Retain => "left as it is",
        DeletionPolicy::Snapshot => "kept in another form, and removed",
    }
}

pub async fn graph(cx: &Cx, args: StackGraphArgs) -> Outcome {
    let link = cx.link()?;
    let place = path(&link, &args.which.stack);
    let found = link.client.call::<StackGraph>(&place, &NONE, &NONE).await?;
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
        output::document(&cx.ui, format, &found)?;
        return Ok(DONE);
    }
    let node = |it: &hostler_api::stack_resource::StackGraphNode| Node {
        name: it.name.clone(),
        note: match it.status {
            StackStatus::Complete => it.kind.clone(),
            status => format!("{}, {} {status}", it.kind, it.action),
        },
        tone: match it.status {
            StackStatus::InProgress => Tone::Busy,
            StackStatus::Complete => Tone::Good,
            StackStatus::Failed => Tone::Bad,
        },
    };
    let nodes = found.nodes.iter().map(node).collect();
    let needs = found.edges.iter().map(|edge| (edge.from.as_str(), edge.to.as_str()));
    let drawing = Drawing::of(&place.stack, nodes, needs);
    cx.ui.line(drawing.draw(args.format).trim_end())?;
    Ok(DONE)
}

pub async fn events(cx: &Cx, args: StackEventsArgs) -> Outcome {
    let link = cx.link()?;
    let place = path(&link, &args.which.stack);
    let depth = Some(args.nested).filter(|depth| *depth > 0);
    let query = StackEventQuery {
        depth,
        resource: args.resource.clone(),
        newest: args.limit.limit.map(|_| true),
        limit: PAGE,
        ..StackEventQuery::default()
    };
    let pages = link.client.pages::<StackEventList, _>(&place, &query, args.limit.limit)?;
    let mut found: Vec<StackEventView> = pages.try_collect().await?;
    if args.limit.limit.is_some() {
        // The newest, in the order in which they happened.
        found.reverse();
    }
    if !args.follow {
        output::list(&cx.ui, cx.now(), &found)?;
        return Ok(DONE);
    }
    let mut screen = Screen::<StackEventView>::new(cx, false);
    let id = link.client.call::<StackGet>(&place, &NONE, &NONE).await?.id;
    let place = path(&link, &id.to_string());
    let is_meant =
        |event: &StackEventView| args.resource.is_none() || args.resource == event.resource;
    let (mut last, mut is_gone) = (None, false);
    for event in found {
        let (kind, cursor) = (WatchKind::Added, event.id.to_string());
        last = Some(event.id);
        is_gone |= event.stack == id && is_end(&event);
        let told = WatchMessage { kind, cursor, object: Some(event), id: None };
        screen.show(cx, &told, None)?;
    }
    if is_gone {
        return Ok(DONE);
    }
    let mut stream = follow::stream(&link, &place, last, args.nested)?;
    while let Some(message) = stream.next().await {
        let told = match message {
            Ok(told) => told,
            Err(error) if error.is(Code::NotFound) => return Ok(DONE),
            Err(error) => return Err(error.into()),
        };
        let Some(event) = &told.object else { continue };
        let is_gone = event.stack == id && is_end(event);
        if is_meant(event) {
            screen.show(cx, &told, None)?;
        }
        if is_gone {
            return Ok(DONE);
        }
    }
    Ok(DONE)
}

/// Nothing follows when the stack is gone.
fn is_end(event: &StackEventView) -> bool {
    event.resource.is_none() && event.action == "delete" && event.status == StackStatus::Complete
}

pub async fn types(cx: &Cx, pattern: Option<String>) -> Outcome {
    let link = cx.link()?;
    let query = StackTypeListQuery { limit: PAGE, ..StackTypeListQuery::default() };
    let pages = link.client.pages::<StackTypeList, _>(&project(&link), &query, None)?;
    let found: Vec<StackTypeView> = pages.try_collect().await?;
    let is_meant = |one: &StackTypeView| match &pattern {
        None => true,
        Some(pattern) if pattern.contains('*') => glob_match(pattern, &one.name),
        Some(word) => one.name.to_ascii_lowercase().contains(&word.to_ascii_lowercase()),
    };
    let found: Vec<StackTypeView> = found.into_iter().filter(is_meant).collect();
    output::list(&cx.ui, cx.now(), &found)?;
    Ok(DONE)
}

pub async fn kind(cx: &Cx, args: StackTypeArgs) -> Outcome {
    let link = cx.link()?;
    let place = StackTypePath { project: link.project.clone(), kind: args.name };
    let found = link.client.call::<StackTypeGet>(&place, &NONE, &NONE).await?;
    let format = cx.ui.format().cloned().unwrap_or(Format::Yaml);
    match args.template {
        true => output::document(&cx.ui, &format, &found.template)?,
        false if cx.is_for_people() => output::document(&cx.ui, &format, &found.schema)?,
        false => return cx.one(&found),
    }
    Ok(DONE)
}

pub async fn editions(cx: &Cx, version: Option<String>) -> Outcome {
    let link = cx.link()?;
    let place = project(&link);
    let found = link.client.call::<StackEditionList>(&place, &NONE, &NONE).await?.items;
    let Some(version) = version else {
        output::list(&cx.ui, cx.now(), &found)?;
        return Ok(DONE);
    };
    let is_it = |one: &&StackEditionView| {
        one.version == version
            || one.alias.as_ref() == Some(&version)
            || output::Show::name(*one) == version
    };
    let Some(one) = found.iter().find(is_it) else {
        return Err(Failure::told(
            exit::Code::NotFound,
            format!("there is no edition `{version}` of the template language"),
            "`hostler stack editions` lists them",
        ));
    };
    if !cx.is_for_people() {
        return cx.one(one);
    }
    for name in &one.functions {
        cx.ui.line(name)?;
    }
    Ok(DONE)
}
