//! Stacks: found by name, made, shown, changed, taken down.

use hostler_control::{StackAdopt, StackAsk};
use hostler_model::stack::Stack;
use http::header::LOCATION;
use serde_json::{Value, json};

use super::body::Body;
use super::call::Call;
use super::fault::Fault;
use super::here::{escaped, link};
use super::reply::Reply;
use super::view;

/// How an address of a stack begins that says everything about it.
const ARN: &str = "arn:openstack:heat:";

/// What a request by name is about; the whole name leads to where it is served.
fn named(given: &str) -> &str {
    let tail = given.strip_prefix(ARN).and_then(|rest| rest.split_once(":stacks/"));
    match tail {
        Some((_, rest)) => rest.split('/').nth(1).unwrap_or_default(),
        None => given,
    }
}

async fn moved(call: &Call, name_or_id: &str, part: &str) -> Result<Reply, Fault> {
    let stack = call.control().stack_resolve(call.cx(), call.project(), name_or_id).await?;
    let part = if part.is_empty() { String::new() } else { format!("/{}", escaped(part)) };
    Ok(Reply::found(format!("{}{part}{}", call.here.stack(&stack), call.query.written())))
}

/// Where a stack is that was asked for by name, by id, or by everything.
pub(super) async fn find(call: Call, part: &'static str) -> Result<Reply, Fault> {
    moved(&call, named(call.part("stack")), part).await
}

/// The same for an address whose slashes were not escaped: `arn:…:stacks/NAME/ID`.
pub(super) async fn find_by_arn(call: Call) -> Result<Reply, Fault> {
    let (begin, part) = (call.part("stack"), call.part("part"));
    if begin.starts_with(ARN) && begin.ends_with(":stacks") {
        return moved(&call, part, "").await;
    }
    Err(Fault::nothing("The resource could not be found."))
}

/// The stack that a whole address names.
pub(super) async fn stack_of(call: &Call) -> Result<Stack, Fault> {
    let (name, id) = (call.part("stack"), call.part("id"));
    let found = call.control().stack_resolve(call.cx(), call.project(), id).await;
    let found = found.map_err(Fault::from);
    match found {
        Ok(stack) if stack.name.as_str() == name && stack.id.to_string() == id => Ok(stack),
        Err(fault) if !fault.is_missing() => Err(fault),
        _ => Err(Fault::missing("Stack", name)),
    }
}

pub(super) async fn create(call: Call) -> Result<Reply, Fault> {
    let body = Body(call.map()?);
    let (name, options) = (body.name()?, body.options()?);
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let left = body.0.get("adopt_stack_data").filter(|left| !left.is_null());
    let stack = match left {
        Some(document) => {
            let form = body.form()?;
            let (document, reason) = (document.clone(), String::new());
            let ask = StackAdopt { name, document, form, options, reason };
            control.stack_adopt(cx, project, ask).await?
        }
        None => {
            let (form, reason) = (body.form()?, String::new());
            let ask = StackAsk { name, form, options, left: None, reason };
            control.stack_create(cx, project, ask).await?
        }
    };
    let href = call.here.stack(&stack);
    let body = json!({ "stack": { "id": stack.id, "links": [link("self", href.clone())] } });
    Ok(Reply::created(body).with(LOCATION, href))
}

pub(super) async fn show(call: Call) -> Result<Reply, Fault> {
    let with_outputs = call.query.flag("resolve_outputs", true)?;
    let stack = stack_of(&call).await?;
    let (cx, project) = (call.cx(), call.project());
    let id = stack.id.to_string();
    let detail = call.control().stack_get(cx, project, &id, with_outputs).await?;
    Ok(Reply::ok(json!({ "stack": view::whole(&call.here, &detail, with_outputs) })))
}

pub(super) async fn update(call: Call, is_patch: bool) -> Result<Reply, Fault> {
    let stack = stack_of(&call).await?;
    let edit = Body(call.map()?).edit(is_patch)?;
    let id = stack.id.to_string();
    call.control().stack_update(call.cx(), call.project(), &id, edit).await?;
    Ok(Reply::accepted())
}

pub(super) async fn remove(call: Call) -> Result<Reply, Fault> {
    let stack = stack_of(&call).await?;
    let id = stack.id.to_string();
    call.control().stack_delete(call.cx(), call.project(), &id).await?;
    Ok(Reply::nothing())
}

/// The name of who owns a stack; its id where nobody is there any more.
pub(super) async fn owner(call: &Call, stack: &Stack) -> String {
    let id = stack.mandate.principal.to_string();
    match call.control().user_get(call.cx(), &id).await {
        Ok(user) => user.principal.name.to_string(),
        Err(_) => id,
    }
}

/// `null`, where something was done and nothing is to be said.
pub(super) fn done() -> Reply {
    Reply::ok(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_is_named_in_three_ways() {
        assert_eq!(named("web"), "web");
        assert_eq!(named("arn:openstack:heat::p:stacks/web/0192"), "0192");
        assert_eq!(named("arn:openstack:heat::p:stacks/web"), "");
    }
}
