//! `values`: what was given; called with a table it says what holds where nothing was given.

use mlua::{Lua, Result, Table, Value};
use serde_json::Value as Json;

use crate::budget::{Budget, NODE};
use crate::define::Given;
use crate::missing;
use crate::value::{from_json, text};

/// How deep values may lie in each other.
const DEEPEST: usize = 64;

pub(super) fn values(lua: &Lua, given: &Given) -> Result<Table> {
    let values = match from_json(lua, &given.values)? {
        Value::Table(table) => table,
        _ => lua.create_table()?,
    };
    watch_below(lua, &values, &given.values, "")?;
    let meta = lua.create_table()?;
    meta.set(
        "__call",
        lua.create_function(|lua, (values, defaults): (Table, Option<Table>)| {
            if let Some(defaults) = defaults {
                below(&values, &defaults, &Budget::of(lua), 0)?;
            }
            Ok(values)
        })?,
    )?;
    let get = {
        let values = values.clone();
        lua.create_function(move |_, (path, default): (String, Value)| {
            let mut at = Value::Table(values.clone());
            for part in path.split('.') {
                at = match at {
                    Value::Table(table) => table.raw_get(part)?,
                    _ => break,
                };
            }
            Ok(if at.is_nil() { default } else { at })
        })?
    };
    meta.set(
        "__index",
        lua.create_function(move |lua, (_, name): (Value, Value)| match name {
            Value::String(name) if name.as_bytes() == *b"get" => Ok(Value::Function(get.clone())),
            Value::String(name) => {
                missing::no_value(lua, &text(&name));
                Ok(Value::Nil)
            }
            _ => Ok(Value::Nil),
        })?,
    )?;
    values.set_metatable(Some(meta))?;
    Ok(values)
}

/// Lets the groups in values tell what they do not have, too.
fn watch_below(lua: &Lua, table: &Table, values: &Json, above: &str) -> Result<()> {
    for (name, value) in values.as_object().into_iter().flatten() {
        if let (Json::Object(_), Value::Table(inner)) = (value, table.raw_get(name.as_str())?) {
            let path = format!("{above}{name}.");
            watch_below(lua, &inner, value, &path)?;
            let meta = lua.create_table()?;
            let index = move |lua: &Lua, (_, name): (Value, Value)| {
                if let Value::String(name) = name {
                    missing::no_value(lua, &format!("{path}{}", text(&name)));
                }
                Ok(Value::Nil)
            };
            meta.raw_set("__index", lua.create_function(index)?)?;
            inner.set_metatable(Some(meta))?;
        }
    }
    Ok(())
}

/// Puts defaults below what is there.
fn below(values: &Table, defaults: &Table, budget: &Budget, depth: usize) -> Result<()> {
    if depth > DEEPEST {
        let detail =
            format!("values lie more than {DEEPEST} deep in each other; is one in itself?");
        return Err(mlua::Error::runtime(detail));
    }
    defaults.for_each(|key: Value, value: Value| {
        budget.take(NODE)?;
        match (values.raw_get::<Value>(key.clone())?, value) {
            (Value::Nil, value) => values.raw_set(key, value),
            (Value::Table(inner), Value::Table(value)) => below(&inner, &value, budget, depth + 1),
            _ => Ok(()),
        }
    })
}
