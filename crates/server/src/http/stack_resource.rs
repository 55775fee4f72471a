//! Resources of stacks.

use std::mem;

use hostler_api::stack_resource::{
    STACK_REASON_MAX, StackGraph, StackGraphEdge, StackGraphNode, StackGraphView, StackHookClear,
    StackHookList, StackHookView, StackMark, StackResourceGet, StackResourceList,
    StackResourceView, StackSignal, StackSignalView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::StackResourceDetail;
use hostler_model::stack::{STACK_DEPTH_MAX, StackHook};
use hostler_model::{Diagnostic, Error};
use serde_json::{Map, Value, json};

use super::error::malformed;
use super::gather::Gather;
use super::{Answer, App, Call, page};

/// Where it waits in the traversal that its stack is in.
fn waits_at(detail: &StackResourceDetail) -> impl Iterator<Item = StackHook> + '_ {
    let traversal = detail.stack.traversal;
    let is_waiting = move |standing: &hostler_model::stack::HookStanding| {
        !standing.is_cleared && standing.traversal == traversal
    };
    detail.row.hooks.iter().filter(move |(_, standing)| is_waiting(standing)).map(|(hook, _)| *hook)
}

/// Without what is long.
fn line(detail: StackResourceDetail) -> StackResourceView {
    let hook = waits_at(&detail).next();
    let row = detail.row;
    StackResourceView {
        id: row.id,
        name: row.name,
        kind: row.kind,
        stack: detail.stack.name,
        stack_id: detail.stack.id,
        parent_resource: detail.parent_resource,
        child: detail.child,
        physical: row.physical,
        action: row.standing.action,
        status: row.standing.status,
        reason: row.standing.reason,
        under_way: row.deed.map(|deed| deed.kind),
        hook,
        required_by: detail.required_by,
        deletion_policy: row.deletion_policy,
        description: detail.description,
        time_created: row.time_created,
        time_modified: row.time_modified,
        metadata: Value::Null,
        properties: Value::Null,
        attributes: Map::new(),
    }
}

fn whole(mut detail: StackResourceDetail) -> StackResourceView {
    let (metadata, properties) =
        (mem::take(&mut detail.metadata), mem::take(&mut detail.properties));
    let attributes = mem::take(&mut detail.attributes);
    StackResourceView { metadata, properties, attributes, ..line(detail) }
}

pub(super) fn depth(asked: Option<u32>) -> Result<u32, Error> {
    match asked.unwrap_or_default() {
        depth @ 0..=STACK_DEPTH_MAX => Ok(depth),
        _ => {
            let words = format!("stacks lie at most {STACK_DEPTH_MAX} deep in one another");
            Err(malformed(words, "ask for less"))
        }
    }
}

pub(crate) async fn list(
    app: App,
    call: Call<StackResourceList>,
) -> Result<Answer<Listing<StackResourceView>>, Error> {
    let mut list = Gather::of::<StackResourceList>(&call.query)?;
    let depth = depth(call.query.depth)?;
    let control = app.control();
    let found = control.stack_resources(&call.cx, call.project(), &call.path.stack, depth).await?;
    let key = |one: &StackResourceDetail| format!("{}/{}", one.stack.id, one.row.name);
    while let Some(ask) = list.ask() {
        list.take(page::part(found.clone(), ask.after(), ask.limit, key)?, line)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn get(
    app: App,
    call: Call<StackResourceGet>,
) -> Result<Answer<StackResourceView>, Error> {
    let (control, stack, resource) = (app.control(), &call.path.stack, &call.path.resource);
    let found = control.stack_resource(&call.cx, call.project(), stack, resource).await?;
    Ok(Answer::new(whole(found)))
}

pub(crate) async fn graph(
    app: App,
    call: Call<StackGraph>,
) -> Result<Answer<StackGraphView>, Error> {
    let found =
        app.control().stack_resources(&call.cx, call.project(), &call.path.stack, 0).await?;
    let edge = |to: &str, from: &String| StackGraphEdge { from: from.clone(), to: to.to_owned() };
    let edges = found
        .iter()
        .flat_map(|one| one.required_by.iter().map(move |from| edge(&one.row.name, from)));
    let edges = edges.collect();
    let node = |one: StackResourceDetail| StackGraphNode {
        name: one.row.name,
        kind: one.row.kind,
        action: one.row.standing.action,
        status: one.row.standing.status,
        child: one.child,
    };
    Ok(Answer::new(StackGraphView { nodes: found.into_iter().map(node).collect(), edges }))
}

pub(crate) async fn signal(
    app: App,
    call: Call<StackSignal>,
) -> Result<Answer<StackSignalView>, Error> {
    let (stack, resource, data) = (&call.path.stack, &call.path.resource, &call.body.data);
    if data.get("unset_hook").is_some() {
        let next = "clear it at `.../hooks/{hook}/clear`";
        return Err(malformed("a hook is not cleared by a signal here", next));
    }
    let control = app.control();
    let answer = control.stack_signal(&call.cx, call.project(), stack, resource, data).await?;
    Ok(Answer::new(StackSignalView { answer }))
}

pub(crate) async fn mark(app: App, call: Call<StackMark>) -> Result<Answer<Nothing>, Error> {
    let (stack, resource) = (&call.path.stack, &call.path.resource);
    if call.body.reason.chars().count() > STACK_REASON_MAX {
        let words = format!("a reason has at most {STACK_REASON_MAX} characters");
        return Err(Error::invalid(vec![Diagnostic::new("/reason", words)]));
    }
    let (is_unhealthy, reason) = (call.body.unhealthy, Some(call.body.reason.as_str()));
    let control = app.control();
    control.stack_mark(&call.cx, call.project(), stack, resource, is_unhealthy, reason).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn hooks(
    app: App,
    call: Call<StackHookList>,
) -> Result<Answer<Listing<StackHookView>>, Error> {
    let (control, stack) = (app.control(), &call.path.stack);
    let found = control.stack_resources(&call.cx, call.project(), stack, STACK_DEPTH_MAX).await?;
    let waiting = found.iter().flat_map(|one| {
        waits_at(one).map(move |hook| StackHookView {
            stack: one.stack.name.clone(),
            stack_id: one.stack.id,
            resource: one.row.name.clone(),
            hook,
        })
    });
    Ok(Answer::new(page::whole(waiting.collect(), |hook| hook)))
}

pub(crate) async fn hook_clear(
    app: App,
    call: Call<StackHookClear>,
) -> Result<Answer<Nothing>, Error> {
    let (stack, resource) = (&call.path.stack, &call.path.resource);
    let body = json!({ "unset_hook": call.path.hook });
    app.control().stack_signal(&call.cx, call.project(), stack, resource, &body).await?;
    Ok(Answer::new(Nothing {}))
}
