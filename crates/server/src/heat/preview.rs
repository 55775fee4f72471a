//! What a stack would be, and what would change, without anything being done.

use hostler_control::{StackAsk, StackPreviewChanges, StackPreviewResource, StackResourceDetail};
use hostler_model::stack::{Stack, StackChangeKind, StackResourceChange};
use hostler_template::template::{OutputSection, Template};
use serde_json::{Map, Value, json};

use super::body::Body;
use super::call::Call;
use super::fault::Fault;
use super::here::{Here, link};
use super::reply::Reply;
use super::stack::stack_of;
use super::view;

/// What stands in the place of an id that there is not.
const NOBODY: &str = "None";

/// Which stack something is of, as Heat names it inside.
fn identity(here: &Here, name: &str, id: &str, path: &str) -> Value {
    json!({ "tenant": here.tenant(), "stack_name": name, "stack_id": id, "path": path })
}

/// A resource that is not there yet.
fn planned(here: &Here, name: &str, id: &str, resource: &StackPreviewResource) -> Value {
    let path = format!("/resources/{}", resource.name);
    json!({
        "updated_time": Value::Null,
        "creation_time": Value::Null,
        "resource_name": resource.name,
        "physical_resource_id": "",
        "resource_action": "INIT",
        "resource_status": "COMPLETE",
        "resource_status_reason": "",
        "resource_type": resource.kind,
        "resource_identity": identity(here, name, id, &path),
        "stack_identity": identity(here, name, id, ""),
        "stack_name": name,
        "required_by": resource.required_by,
        "description": resource.description,
        "metadata": resource.metadata,
        "properties": resource.properties,
        "attributes": {},
    })
}

/// Resources of a stack; those of a stack below it are a list in their place.
fn planned_all(here: &Here, name: &str, resources: &[StackPreviewResource]) -> Vec<Value> {
    let one = |resource: &StackPreviewResource| match &resource.nested {
        None => planned(here, name, NOBODY, resource),
        Some(below) => Value::Array(planned_all(here, &format!("{name}-{}", resource.name), below)),
    };
    resources.iter().map(one).collect()
}

/// A resource that is there, as it is.
fn present(here: &Here, detail: &StackResourceDetail) -> Value {
    let (row, stack) = (&detail.row, &detail.stack);
    let (name, id) = (stack.name.as_str(), stack.id.to_string());
    let path = format!("/resources/{}", row.name);
    let mut out = json!({
        "updated_time": view::time(row.time_modified),
        "creation_time": view::time(row.time_created),
        "resource_name": row.name,
        "physical_resource_id": row.physical.as_deref().unwrap_or_default(),
        "resource_action": row.standing.action.heat(),
        "resource_status": row.standing.status.heat(),
        "resource_status_reason": row.standing.reason,
        "resource_type": row.kind,
        "resource_identity": identity(here, name, &id, &path),
        "stack_identity": identity(here, name, &id, ""),
        "stack_name": name,
        "required_by": detail.required_by,
        "description": detail.description,
        "metadata": detail.metadata,
        "properties": detail.properties,
        "attributes": detail.attributes,
    });
    if let Some(parent) = &detail.parent_resource {
        out["parent_resource"] = json!(parent);
    }
    out
}

/// Outputs that there would be; none has a value yet.
fn outputs_of(template: &Value) -> Vec<Value> {
    let template = Template::from_value("template", template);
    let outputs = template.map(|template| template.outputs).unwrap_or_default();
    let output = |output: &OutputSection| {
        let description = output.description.as_deref().unwrap_or("No description given");
        json!({ "output_key": output.name, "description": description, "output_value": Value::Null })
    };
    outputs.iter().map(output).collect()
}

pub(super) async fn create(call: Call) -> Result<Reply, Fault> {
    let body = Body(call.map()?);
    let form = body.form()?;
    let outputs = outputs_of(&form.template);
    let (name, options) = (body.name()?, body.options()?);
    let ask = StackAsk { name, form, options, left: None, reason: String::new() };
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let preview = control.stack_preview_create(cx, project, ask).await?;
    let stack = &preview.stack;
    let mut parameters = preview.parameters.clone();
    parameters.insert("OS::stack_id".to_owned(), json!(NOBODY));
    let name = stack.name.as_str();
    let mut out = view::base(&call.here, stack, cx.caller.name.as_str(), &parameters);
    out.insert("id".to_owned(), json!(NOBODY));
    out.insert("links".to_owned(), json!([link("self", call.here.named(name, NOBODY))]));
    let resources = planned_all(&call.here, name, &preview.resources);
    out.insert("outputs".to_owned(), json!(outputs));
    out.insert("resources".to_owned(), json!(resources));
    Ok(Reply::ok(json!({ "stack": out })))
}

/// In which of Heat's lists a change stands.
fn list_of(change: StackChangeKind) -> Option<&'static str> {
    Some(match change {
        StackChangeKind::Unchanged => "unchanged",
        StackChangeKind::Update => "updated",
        StackChangeKind::Replace => "replaced",
        StackChangeKind::Create | StackChangeKind::Adopt => "added",
        StackChangeKind::Delete | StackChangeKind::Forget => "deleted",
        StackChangeKind::Impossible => return None,
    })
}

fn listed(here: &Here, stack: &Stack, told: &StackPreviewChanges) -> Result<Value, Fault> {
    let mut lists: Map<String, Value> = ["unchanged", "updated", "replaced", "added", "deleted"]
        .map(|name| (name.to_owned(), json!([])))
        .into_iter()
        .collect();
    for change in &told.changes.resources {
        let Some(name) = list_of(change.change) else {
            return Err(Fault::invalid(change.reason.clone()));
        };
        if let Some(Value::Array(list)) = lists.get_mut(name) {
            list.extend(entry(here, stack, told, change));
        }
    }
    Ok(Value::Object(lists))
}

fn entry(
    here: &Here,
    stack: &Stack,
    told: &StackPreviewChanges,
    change: &StackResourceChange,
) -> Option<Value> {
    let is_it = |detail: &&StackResourceDetail| {
        let of = change.path.last().map(String::as_str);
        detail.row.name == change.name && detail.parent_resource.as_deref() == of
    };
    if let Some(detail) = told.resources.iter().find(is_it) {
        return Some(present(here, detail));
    }
    let found = added(&told.added, &change.path, &change.name)?;
    Some(planned(here, stack.name.as_str(), &stack.id.to_string(), found))
}

/// One of those that are not there yet, by the resources above it and its name.
fn added<'a>(
    all: &'a [StackPreviewResource],
    path: &[String],
    name: &str,
) -> Option<&'a StackPreviewResource> {
    match path.split_first() {
        None => all.iter().find(|one| one.name == name),
        Some((first, rest)) => {
            let above = all.iter().find(|one| one.name == *first)?;
            added(above.nested.as_deref().unwrap_or_default(), rest, name)
        }
    }
}

pub(super) async fn update(call: Call, is_patch: bool) -> Result<Reply, Fault> {
    let with_nested = call.query.flag("show_nested", false)?;
    let stack = stack_of(&call).await?;
    let edit = Body(call.map()?).edit(is_patch)?;
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let id = stack.id.to_string();
    let told = control.stack_preview_update(cx, project, &id, edit, with_nested).await?;
    Ok(Reply::ok(json!({ "resource_changes": listed(&call.here, &stack, &told)? })))
}
