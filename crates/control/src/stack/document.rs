//! Stacks as documents: what is kept of revisions and snapshots, and what is exported, as Heat has it.

use std::collections::HashMap;

use hostler_model::StackResourceId;
use hostler_model::stack::{DefinitionBody, ResourceBody, SnapshotBody, Stack, StackResource};
use serde_json::{Map, Value, json};

use super::scene::Output;
use super::stage::Stage;

/// Resources and outputs as they are.
pub(crate) fn document<'a>(
    rows: impl Iterator<Item = &'a StackResource>,
    bodies: &HashMap<StackResourceId, ResourceBody>,
    outputs: Vec<Output>,
) -> SnapshotBody {
    let mut body = SnapshotBody::default();
    for row in rows.filter(|row| row.replaced_by.is_none()) {
        let Some(known) = bodies.get(&row.id) else { continue };
        let document = json!({
            "name": row.name,
            "resource_id": row.physical,
            "type": row.kind,
            "action": row.standing.action.heat(),
            "status": row.standing.status.heat(),
            "metadata": known.metadata,
            "resource_data": known.data,
            "properties": known.properties,
        });
        body.resources.insert(row.name.clone(), document);
    }
    for output in outputs {
        body.outputs.insert(output.name, output.value.unwrap_or(Value::Null));
    }
    body
}

/// The document of a stack, from what it was made of and its resources.
pub(crate) fn exported(
    stack: &Stack,
    (action, status): (String, String),
    body: &DefinitionBody,
    resources: Map<String, Value>,
) -> Value {
    let mut environment = match &body.environment {
        Value::Object(sections) => sections.clone(),
        _ => Map::new(),
    };
    if !body.parameters.is_empty() {
        let own = environment.entry("parameters").or_insert_with(|| json!({}));
        if let Some(own) = own.as_object_mut() {
            own.extend(body.parameters.clone());
        }
    }
    let tags = (!stack.options.tags.is_empty()).then_some(&stack.options.tags);
    json!({
        "name": stack.name,
        "id": stack.id,
        "action": action,
        "status": status,
        "template": body.template,
        "environment": environment,
        "files": body.files,
        "resources": resources,
        "project_id": stack.project_id,
        "stack_user_project_id": stack.project_id,
        "tags": tags,
        "options": stack.options,
    })
}

/// Resources without what only we keep.
pub(crate) fn as_heat(mut resources: Map<String, Value>) -> Map<String, Value> {
    for resource in resources.values_mut() {
        if let Some(fields) = resource.as_object_mut() {
            fields.shift_remove("properties");
        }
    }
    resources
}

/// A stage as a document, with the documents of what lies below; `bodies` are what its stacks are made of.
pub(crate) fn whole(
    stage: &Stage,
    bodies: &HashMap<hostler_model::StackId, DefinitionBody>,
) -> Value {
    let scene = &stage.scene;
    let own = document(scene.rows.iter(), &scene.bodies, Vec::new());
    let mut resources = as_heat(own.resources);
    for row in scene.rows.iter().filter(|row| row.replaced_by.is_none()) {
        let below = stage.below.get(&row.id).map(|below| whole(below, bodies));
        if let (Some(Value::Object(below)), Some(Value::Object(fields))) =
            (below, resources.get_mut(&row.name))
        {
            let known = std::mem::take(fields);
            fields.extend(below);
            fields.extend(known);
        }
    }
    let nothing = DefinitionBody::default();
    let body = bodies.get(&scene.stack.id).unwrap_or(&nothing);
    let standing = &scene.stack.standing;
    exported(&scene.stack, (standing.action.heat(), standing.status.heat()), body, resources)
}
