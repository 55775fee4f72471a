//! What the functions of a step are called with.

use hostler_model::workflow::{Step, StepResult};
use mlua::{Lua, MultiValue, Result, Table, Value};
use serde_json::Value as Json;

use super::Input;
use crate::modules::acting;
use crate::value::from_json;

/// `this`, `params`, `deps`: see this.luau for who answers for whom.
pub(crate) fn arguments(
    lua: &Lua,
    workflow: &str,
    step: &Step,
    input: &Input,
    output: &Json,
    message: &str,
) -> Result<MultiValue> {
    let on = acting();
    let workdir = on.workdir.to_string_lossy().into_owned();
    let params = lua.create_table()?;
    for (name, value) in step.params.iter().chain(&input.params) {
        params.set(name.as_str(), from_json(lua, value)?)?;
    }
    params.set("task_name", step.name.as_str())?;
    params.set("group_name", workflow)?;
    params.set("workdir", workdir.as_str())?;
    params.set("attempt", input.attempt)?;
    let deps = lua.create_table()?;
    for (name, value) in &input.deps {
        let value = match from_json(lua, value)? {
            Value::Nil => Value::Table(lua.create_table()?),
            value => value,
        };
        deps.set(name.as_str(), value)?;
    }
    let rust = lua.create_table()?;
    rust.set("name", step.name.as_str())?;
    rust.set("workflow", workflow)?;
    rust.set("workdir", workdir)?;
    rust.set("node", on.env("HOSTLER_NODE").unwrap_or_else(|| "local".to_owned()))?;
    rust.set("message", message)?;
    rust.set("params", params)?;
    rust.set("deps", deps)?;
    rust.set("output", from_json(lua, output)?)?;
    for (name, what) in [
        ("ensure", Folder::Ensure),
        ("exists", Folder::Exists),
        ("cleanup", Folder::Cleanup),
        ("recreate", Folder::Recreate),
    ] {
        rust.set(name, lua.create_function(move |_, ()| Ok(what.apply()))?)?;
    }
    crate::ours::THIS.call(lua, rust)
}

/// What can be done with the directory of a step.
#[derive(Clone, Copy)]
enum Folder {
    Ensure,
    Exists,
    Cleanup,
    Recreate,
}

impl Folder {
    fn apply(self) -> bool {
        let path = acting().workdir.clone();
        let clear = || {
            let own = crate::modules::is_own(&path);
            own && (std::fs::remove_dir_all(&path).is_ok() || !path.exists())
        };
        let make = || std::fs::create_dir_all(&path).is_ok();
        match self {
            Folder::Ensure => make(),
            Folder::Exists => path.is_dir(),
            Folder::Cleanup => clear(),
            Folder::Recreate => clear() && make(),
        }
    }
}

/// What a handler of a failure is told: a table that can be used as the text of the error.
pub(super) fn failure(lua: &Lua, step: &str, result: &StepResult) -> Result<Table> {
    let table = lua.create_table()?;
    table.set("error", result.message.as_str())?;
    table.set("message", result.message.as_str())?;
    table.set("task_name", step)?;
    table.set("end", result.end.label())?;
    crate::modules::as_text(lua, &table, "error")?;
    Ok(table)
}
