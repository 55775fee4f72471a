//! `delegate_to` as a function: it is called where nothing can be touched, with what is known of the nodes, and names
//! some of them.

use std::time::Instant;

use hostler_model::workflow::{Delegation, Targets};
use mlua::{Function, Table, Value};
use serde_json::Value as Json;

use crate::define::{Given, Live, delegation_of};
use crate::diagnose::from_error;
use crate::limits::Limits;
use crate::source::Bundle;
use crate::value::from_json;

/// Asks the function of a step, or of its workflow, where the step is to run. Nodes are a list of tables with `name`,
/// `labels` and whatever else is known.
pub fn pick(
    bundle: Bundle,
    given: &Given,
    workflow: &str,
    step: &str,
    nodes: &Json,
) -> Result<Delegation, String> {
    let name = bundle.name.clone();
    let live = Live::new(&name, &bundle.text, Box::new(bundle.files), given)
        .map_err(|mistakes| mistakes.to_string())?;
    let told = |error: mlua::Error| from_error(&error, &name).detail;
    let tables =
        [live.steps.get(&(workflow.to_owned(), step.to_owned())), live.workflows.get(workflow)];
    let function = tables.into_iter().flatten().find_map(function_of);
    let function = function.ok_or_else(|| "`delegate_to` is no function".to_owned())?;
    live.deadline
        .set(given.limits.unwrap_or(Limits::DEFINITION).time.map(|time| Instant::now() + time));
    let nodes = from_json(&live.lua, nodes).map_err(told)?;
    let answer: Value = function.call((nodes, step)).map_err(told)?;
    if answer.is_nil() {
        return Err("`delegate_to` named no node".to_owned());
    }
    let fields = live.lua.create_table().map_err(told)?;
    fields.set("delegate_to", answer).map_err(told)?;
    match delegation_of(&live.lua, &fields)? {
        Some(Delegation { targets: Targets::Function, .. }) => {
            Err("`delegate_to` gave another function; give names of nodes".to_owned())
        }
        Some(found) => Ok(found),
        None => Ok(Delegation::default()),
    }
}

fn function_of(fields: &Table) -> Option<Function> {
    match fields.get::<Value>("delegate_to").ok()? {
        Value::Function(function) => Some(function),
        Value::Table(table) => ["select", "choose", "fn", "custom"]
            .into_iter()
            .find_map(|key| table.get::<Option<Function>>(key).ok().flatten()),
        _ => None,
    }
}
