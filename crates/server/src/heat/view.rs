//! Records of ours as Heat writes them.

use hostler_control::{StackDetail, StackOutput, StackResourceDetail};
use hostler_model::Timestamp;
use hostler_model::stack::{Stack, StackOptions};
use serde_json::{Map, Value, json};

use super::here::{Here, link};

/// To the second.
pub(super) fn time(time: Timestamp) -> String {
    let text = time.to_string();
    match text.split_once('.') {
        Some((whole, _)) => format!("{whole}Z"),
        None => text,
    }
}

fn some_time(at: Option<Timestamp>) -> Value {
    at.map_or(Value::Null, |at| time(at).into())
}

/// A time that was written as a text, to the second.
pub(super) fn shorter(text: &Value) -> Value {
    match text.as_str().and_then(|text| text.split_once('.')) {
        Some((whole, _)) => format!("{whole}Z").into(),
        None => text.clone(),
    }
}

fn minutes(options: &StackOptions) -> Value {
    options.timeout.map_or(Value::Null, |timeout| timeout.duration().as_secs().div_ceil(60).into())
}

/// As it stands in lists. `is_placed` says which project it is of.
pub(super) fn summary(here: &Here, stack: &Stack, owner: &str, is_placed: bool) -> Value {
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| {
        out.insert(name.to_owned(), value);
    };
    put("id", json!(stack.id));
    put("links", json!([link("self", here.stack(stack))]));
    if is_placed {
        put("project", json!(stack.project_id));
    }
    put("stack_name", json!(stack.name));
    put("description", json!(""));
    put("stack_status", json!(stack.standing.heat()));
    put("stack_status_reason", json!(stack.standing.reason));
    put("creation_time", json!(time(stack.time_created)));
    put("updated_time", some_time(stack.time_updated));
    put("deletion_time", some_time(stack.time_deleted));
    put("stack_owner", json!(owner));
    put("parent", json!(stack.parent.map(|parent| parent.stack_id)));
    put("stack_user_project_id", json!(stack.project_id));
    let tags = &stack.options.tags;
    put("tags", if tags.is_empty() { Value::Null } else { json!(tags) });
    Value::Object(out)
}

/// What every whole view of a stack has, whether it is there or only looked at.
pub(super) fn base(
    here: &Here,
    stack: &Stack,
    owner: &str,
    parameters: &Map<String, Value>,
) -> Map<String, Value> {
    let base = json!({
        "stack_name": stack.name,
        "id": stack.id,
        "links": [link("self", here.stack(stack))],
        "creation_time": time(stack.time_created),
        "updated_time": some_time(stack.time_updated),
        "deletion_time": some_time(stack.time_deleted),
        "notification_topics": [],
        "parameters": parameters,
        "description": stack.description,
        "template_description": stack.description,
        "capabilities": [],
        "disable_rollback": !stack.options.is_rollback_enabled,
        "timeout_mins": minutes(&stack.options),
        "stack_owner": owner,
        "parent": stack.parent.map(|parent| parent.stack_id),
        "stack_user_project_id": stack.project_id,
        "tags": stack.options.tags,
    });
    match base {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

pub(super) fn whole(here: &Here, detail: &StackDetail, with_outputs: bool) -> Value {
    let stack = &detail.stack;
    let mut out = base(here, stack, &detail.owner, &detail.parameters);
    out.insert("stack_status".to_owned(), json!(stack.standing.heat()));
    let reason = match &detail.trouble {
        Some(trouble) => format!("{} ({trouble})", stack.standing.reason),
        None => stack.standing.reason.clone(),
    };
    out.insert("stack_status_reason".to_owned(), json!(reason));
    if with_outputs {
        out.insert("outputs".to_owned(), detail.outputs.iter().map(output).collect());
    }
    Value::Object(out)
}

pub(super) fn output(output: &StackOutput) -> Value {
    let mut out = json!({
        "output_key": output.name,
        "description": described(output),
        "output_value": Value::Null,
    });
    match &output.value {
        Ok(value) => out["output_value"] = value.clone(),
        Err(problem) => out["output_error"] = json!(problem),
    }
    out
}

pub(super) fn described(output: &StackOutput) -> &str {
    output.description.as_deref().unwrap_or("No description given")
}

/// `nested` is the stack that it is.
pub(super) fn resource(
    here: &Here,
    detail: &StackResourceDetail,
    nested: Option<&Stack>,
    with_detail: bool,
) -> Value {
    let row = &detail.row;
    let mut links =
        vec![link("self", here.resource(detail)), link("stack", here.stack(&detail.stack))];
    links.extend(nested.map(|stack| link("nested", here.stack(stack))));
    let mut out = json!({
        "updated_time": time(row.time_modified),
        "creation_time": time(row.time_created),
        "logical_resource_id": row.name,
        "resource_name": row.name,
        "physical_resource_id": row.physical.as_deref().unwrap_or_default(),
        "resource_status": row.standing.heat(),
        "resource_status_reason": row.standing.reason,
        "resource_type": row.kind,
        "links": links,
        "required_by": detail.required_by,
    });
    if let Some(parent) = &detail.parent_resource {
        out["parent_resource"] = json!(parent);
    }
    if with_detail {
        out["description"] = json!(detail.description);
        out["attributes"] = Value::Object(detail.attributes.clone());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_to_the_second() {
        let at: Timestamp = "2026-11-15T07:29:33.123456Z".parse().unwrap();
        assert_eq!(time(at), "2026-11-15T07:29:33Z");
        assert_eq!(shorter(&json!("2026-11-15T07:29:33.123456Z")), json!("2026-11-15T07:29:33Z"));
        assert_eq!(shorter(&Value::Null), Value::Null);
    }
}
