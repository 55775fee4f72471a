//! Resources of stacks: listed, shown, signalled, said to be broken.

use std::collections::HashMap;

use hostler_control::StackResourceDetail;
use hostler_model::StackId;
use hostler_model::stack::{STACK_DEPTH_MAX, Stack};
use serde_json::{Map, Value, json};

use super::body::Body;
use super::call::Call;
use super::fault::Fault;
use super::query::Query;
use super::reply::Reply;
use super::stack::{done, stack_of};
use super::view;

/// What resources can be chosen by.
const FILTERS: [&str; 6] = ["type", "status", "name", "action", "id", "physical_resource_id"];
const OTHERS: [&str; 2] = ["nested_depth", "with_detail"];

/// Every value of each name that is given; a resource is meant that has one of each.
struct Chosen<'q>(Vec<(&'static str, Vec<&'q str>)>);

impl<'q> Chosen<'q> {
    fn of(query: &'q Query) -> Result<Chosen<'q>, Fault> {
        let unknown: Vec<String> = query
            .names()
            .filter(|name| !FILTERS.contains(name) && !OTHERS.contains(name))
            .map(|name| format!("'{name}'"))
            .collect();
        if !unknown.is_empty() {
            return Err(Fault::bad(format!("Invalid filter parameters [{}]", unknown.join(", "))));
        }
        let given = FILTERS.into_iter().map(|name| (name, query.all(name)));
        Ok(Chosen(given.filter(|(_, values)| !values.is_empty()).collect()))
    }

    fn has(&self, detail: &StackResourceDetail) -> bool {
        let row = &detail.row;
        self.0.iter().all(|(name, values)| {
            let is = match *name {
                "type" => row.kind.clone(),
                "status" => row.standing.status.heat(),
                "name" => row.name.clone(),
                "action" => row.standing.action.heat(),
                "id" => row.id.to_string(),
                _ => row.physical.clone().unwrap_or_default(),
            };
            values.contains(&is.as_str())
        })
    }
}

/// The stacks that resources are, by id; each is asked for once.
async fn nested<'a>(
    call: &Call,
    details: impl Iterator<Item = &'a StackResourceDetail>,
) -> Result<HashMap<StackId, Stack>, Fault> {
    let mut found = HashMap::new();
    for id in details.filter_map(|detail| detail.child) {
        let id_text = id.to_string();
        let stack = call.control().stack_resolve(call.cx(), call.project(), &id_text).await;
        match stack.map_err(Fault::from) {
            Ok(stack) => drop(found.insert(id, stack)),
            Err(fault) if fault.is_missing() => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(found)
}

pub(super) async fn list(call: Call) -> Result<Reply, Fault> {
    let stack = stack_of(&call).await?;
    let chosen = Chosen::of(&call.query)?;
    let with_detail = call.query.flag("with_detail", false)?;
    let depth = call.query.number("nested_depth")?.unwrap_or(0).min(STACK_DEPTH_MAX);
    let id = stack.id.to_string();
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let mut all = control.stack_resources(cx, project, &id, depth).await?;
    all.retain(|detail| chosen.has(detail));
    let stacks = nested(&call, all.iter()).await?;
    let views = all.iter().map(|detail| {
        let child = detail.child.and_then(|id| stacks.get(&id));
        view::resource(&call.here, detail, child, with_detail)
    });
    Ok(Reply::ok(json!({ "resources": views.collect::<Vec<_>>() })))
}

async fn detail_of(call: &Call) -> Result<StackResourceDetail, Fault> {
    let id = stack_of(call).await?.id.to_string();
    let resource = call.part("resource");
    Ok(call.control().stack_resource(call.cx(), call.project(), &id, resource).await?)
}

pub(super) async fn show(call: Call) -> Result<Reply, Fault> {
    let detail = detail_of(&call).await?;
    let stacks = nested(&call, std::iter::once(&detail)).await?;
    let child = detail.child.and_then(|id| stacks.get(&id));
    let mut view = view::resource(&call.here, &detail, child, true);
    if let Some(attributes) = view["attributes"].as_object_mut() {
        for asked in call.query.all("with_attr") {
            attributes.entry(asked).or_insert(Value::Null);
        }
    }
    Ok(Reply::ok(json!({ "resource": view })))
}

pub(super) async fn metadata(call: Call) -> Result<Reply, Fault> {
    let metadata = match detail_of(&call).await?.metadata {
        Value::Null => Value::Object(Map::new()),
        metadata => metadata,
    };
    Ok(Reply::ok(json!({ "metadata": metadata })))
}

pub(super) async fn signal(call: Call) -> Result<Reply, Fault> {
    let id = stack_of(&call).await?.id.to_string();
    let body = call.body.clone().unwrap_or_default();
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    control.stack_signal(cx, project, &id, call.part("resource"), &body).await?;
    Ok(done())
}

pub(super) async fn mark(call: Call) -> Result<Reply, Fault> {
    let body = Body(call.map()?);
    let known = ["mark_unhealthy", "resource_status_reason"];
    if let Some(other) = body.0.keys().find(|key| !known.contains(&key.as_str())) {
        let text = format!("Invalid keys in resource mark unhealthy {{'{other}'}}");
        return Err(Fault::bad(text));
    }
    let missing =
        || Fault::bad("Missing mandatory (mark_unhealthy) key from mark unhealthy request");
    let is_unhealthy = body.flag("mark_unhealthy")?.ok_or_else(missing)?;
    let reason = body.text("resource_status_reason")?;
    let id = stack_of(&call).await?.id.to_string();
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let resource = call.part("resource");
    control.stack_mark(cx, project, &id, resource, is_unhealthy, reason).await?;
    Ok(done())
}
