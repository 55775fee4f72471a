//! What a stack is made of and gives: template, environment, files, outputs; the whole of it as a document that another stack
//! can be made of; and looking at a template without making anything.

use hostler_control::StackDefinitionDetail;
use serde_json::{Map, Value, json};

use super::body::Body;
use super::call::Call;
use super::fault::Fault;
use super::reply::Reply;
use super::stack::stack_of;
use super::view;

/// What is looked past when a template is validated: who asks may not know every value yet.
const MISSING_PARAMETER: &str = "99001";

async fn definition(call: &Call) -> Result<StackDefinitionDetail, Fault> {
    let id = stack_of(call).await?.id.to_string();
    Ok(call.control().stack_definition_of(call.cx(), call.project(), &id, None).await?)
}

pub(super) async fn template(call: Call) -> Result<Reply, Fault> {
    Ok(Reply::ok(definition(&call).await?.body.template))
}

/// Sections of an environment, each as it is where nothing was said.
fn unsaid() -> Map<String, Value> {
    [
        ("resource_registry", json!({ "resources": {} })),
        ("parameters", json!({})),
        ("parameter_defaults", json!({})),
        ("event_sinks", json!([])),
        ("encrypted_param_names", json!([])),
    ]
    .map(|(name, section)| (name.to_owned(), section))
    .into_iter()
    .collect()
}

pub(super) async fn environment(call: Call) -> Result<Reply, Fault> {
    let stored = definition(&call).await?.body.environment;
    let mut sections = unsaid();
    for (name, section) in &mut sections {
        if let Some(known) = stored.get(name).filter(|known| !known.is_null()) {
            section.clone_from(known);
        }
    }
    Ok(Reply::ok(sections.into()))
}

pub(super) async fn files(call: Call) -> Result<Reply, Fault> {
    Ok(Reply::ok(Value::Object(definition(&call).await?.body.files)))
}

pub(super) async fn outputs(call: Call) -> Result<Reply, Fault> {
    let id = stack_of(&call).await?.id.to_string();
    let outputs = call.control().stack_outputs(call.cx(), call.project(), &id).await?;
    let brief = outputs
        .iter()
        .map(|one| json!({ "output_key": one.name, "description": view::described(one) }));
    Ok(Reply::ok(json!({ "outputs": brief.collect::<Vec<_>>() })))
}

pub(super) async fn output(call: Call) -> Result<Reply, Fault> {
    let id = stack_of(&call).await?.id.to_string();
    let outputs = call.control().stack_outputs(call.cx(), call.project(), &id).await?;
    let key = call.part("key");
    let found = outputs.iter().find(|one| one.name == key);
    let missing = || Fault::absent(format!("Specified output key {key} not found."));
    Ok(Reply::ok(json!({ "output": view::output(found.ok_or_else(missing)?) })))
}

pub(super) async fn export(call: Call) -> Result<Reply, Fault> {
    let id = stack_of(&call).await?.id.to_string();
    Ok(Reply::ok(call.control().stack_export(call.cx(), call.project(), &id).await?))
}

/// The stack is forgotten, and what it has made stays.
pub(super) async fn abandon(call: Call) -> Result<Reply, Fault> {
    let id = stack_of(&call).await?.id.to_string();
    Ok(Reply::ok(call.control().stack_abandon(call.cx(), call.project(), &id).await?))
}

pub(super) async fn validate(call: Call) -> Result<Reply, Fault> {
    let with_nested = call.query.flag("show_nested", false)?;
    let ignored = call.query.words("ignore_errors");
    if let Some(unknown) = ignored.iter().find(|code| *code != MISSING_PARAMETER) {
        return Err(Fault::bad(format!("Invalid codes in ignore_errors : [{unknown}]")));
    }
    let mut form = Body(call.map()?).form()?;
    if form.template.is_null() {
        return Err(Fault::bad("No template specified"));
    }
    form.are_values_left = true;
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let checked = control.stack_check(cx, project, &form, false, with_nested).await;
    Ok(Reply::ok(checked.map_err(|refusal| Fault::from(refusal).of_look())?.summary))
}
