//! What happened to a stack, for programs that wait by reading it again and again.

use std::collections::HashMap;

use hostler_control::StackEventQuery;
use hostler_model::StackId;
use hostler_model::stack::{STACK_DEPTH_MAX, Stack, StackEvent, StackStatus};
use serde_json::{Value, json};

use super::call::{Call, Gathering};
use super::fault::Fault;
use super::here::{Here, escaped, link};
use super::query::Query;
use super::reply::Reply;
use super::stack::stack_of;
use super::stack_list::status;
use super::view;

/// What events are chosen by: of a status with its action both are meant.
fn asked(query: &Query) -> Result<Option<StackEventQuery>, Fault> {
    let texts = |name: &str| query.all(name).into_iter().map(str::to_owned).collect::<Vec<_>>();
    let mut actions: Vec<String> =
        query.all("resource_action").iter().map(|action| action.to_ascii_lowercase()).collect();
    let mut statuses: Vec<StackStatus> = Vec::new();
    let given = query.all("resource_status");
    for text in &given {
        if let Some(found) = status(text) {
            statuses.push(found);
        } else if let Some((action, rest)) = text.split_once('_')
            && let Some(found) = status(rest)
        {
            actions.push(action.to_ascii_lowercase());
            statuses.push(found);
        }
    }
    if statuses.is_empty() && !given.is_empty() {
        return Ok(None);
    }
    let depth = query.number("nested_depth")?.unwrap_or(0).min(STACK_DEPTH_MAX);
    Ok(Some(StackEventQuery {
        depth,
        names: texts("resource_name"),
        kinds: texts("resource_type"),
        actions,
        statuses,
        resources_only: false,
        is_descending: query.is_descending(false)?,
    }))
}

/// Stacks by id, for addresses of what happened below the one that was asked about.
struct Stacks<'c> {
    call: &'c Call,
    known: HashMap<StackId, Stack>,
}

impl Stacks<'_> {
    async fn get(&mut self, id: StackId) -> Result<Option<&Stack>, Fault> {
        if !self.known.contains_key(&id) {
            let (cx, project) = (self.call.cx(), self.call.project());
            let found = self.call.control().stack_resolve(cx, project, &id.to_string()).await;
            match found.map_err(Fault::from) {
                Ok(stack) => drop(self.known.insert(id, stack)),
                Err(fault) if fault.is_missing() => return Ok(None),
                Err(fault) => return Err(fault),
            }
        }
        Ok(self.known.get(&id))
    }
}

fn shown(here: &Here, event: &StackEvent, of: &Stack, root: Option<&Stack>) -> Value {
    let stack = here.stack(of);
    let resource = format!("{stack}/resources/{}", escaped(&event.name));
    let mut links = vec![
        link("self", format!("{resource}/events/{}", event.id)),
        link("resource", resource),
        link("stack", stack),
    ];
    links.extend(root.map(|root| link("root_stack", here.stack(root))));
    let own = event.resource_id.is_none().then(|| of.id.to_string());
    json!({
        "id": event.id,
        "links": links,
        "event_time": view::time(event.time),
        "logical_resource_id": event.name,
        "resource_name": event.name,
        "physical_resource_id": own.or_else(|| event.physical.clone()).unwrap_or_default(),
        "resource_status": format!("{}_{}", event.status.action(), event.status.status()),
        "resource_status_reason": event.reason,
    })
}

async fn events(call: &Call, stack: &Stack, query: &StackEventQuery) -> Result<Vec<Value>, Fault> {
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let id = stack.id.to_string();
    let mut found = Gathering::new(call.query.limit()?, call.query.get("marker"));
    while let Some(page) = found.next() {
        let page = control.stack_events(cx, project, &id, query, page).await?;
        found.take(page);
    }
    let found = found.all();
    let mut stacks = Stacks { call, known: HashMap::from([(stack.id, stack.clone())]) };
    let root = (query.depth > 0).then_some(stack);
    let mut all = Vec::with_capacity(found.len());
    for event in &found {
        if let Some(of) = stacks.get(event.stack_id).await? {
            all.push(shown(&call.here, event, of, root));
        }
    }
    Ok(all)
}

pub(super) async fn list(call: Call) -> Result<Reply, Fault> {
    let stack = stack_of(&call).await?;
    let all = match asked(&call.query)? {
        Some(query) => events(&call, &stack, &query).await?,
        None => Vec::new(),
    };
    Ok(Reply::ok(json!({ "events": all })))
}

pub(super) async fn list_of_resource(call: Call) -> Result<Reply, Fault> {
    let stack = stack_of(&call).await?;
    let all = match asked(&call.query)? {
        Some(query) => {
            let names = vec![call.part("resource").to_owned()];
            events(&call, &stack, &StackEventQuery { names, depth: 0, ..query }).await?
        }
        None => Vec::new(),
    };
    match all.is_empty() {
        true => {
            let resource = call.part("resource");
            Err(Fault::nothing(format!("No events found for resource {resource}")))
        }
        false => Ok(Reply::ok(json!({ "events": all }))),
    }
}

pub(super) async fn show(call: Call) -> Result<Reply, Fault> {
    let stack = stack_of(&call).await?;
    let given = call.part("event");
    let missing = || Fault::nothing(format!("No event {given} found"));
    let id = given.parse().map_err(|_| missing())?;
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let event = control.stack_event_get(cx, project, &stack.id.to_string(), id).await?;
    if event.name != call.part("resource") {
        return Err(missing());
    }
    let mut out = shown(&call.here, &event, &stack, None);
    out["resource_type"] = json!(event.kind);
    out["resource_properties"] = event.properties.unwrap_or_else(|| json!({}));
    Ok(Reply::ok(json!({ "event": out })))
}
