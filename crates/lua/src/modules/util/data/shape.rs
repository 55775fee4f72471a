//! Tables in tables: merged, flat, by paths.

use mlua::{Lua, Result, Table, Value};

use crate::budget::{Budget, NODE};
use crate::modules::util::given::Text;
use crate::value::words;

/// How deep tables may lie in each other.
const DEEPEST: usize = 64;

pub(super) fn separator(given: Option<Text>) -> Result<String> {
    let separator = given.map_or_else(|| ".".to_owned(), |text| text.lossy());
    if separator.is_empty() {
        return Err(mlua::Error::runtime("the separator of a path is empty; use `.` or `/`"));
    }
    Ok(separator)
}

fn too_deep(depth: usize) -> Result<()> {
    if depth > DEEPEST {
        return Err(mlua::Error::runtime(format!(
            "the table is deeper than {DEEPEST}; does it contain itself?"
        )));
    }
    Ok(())
}

pub(super) fn merge(
    lua: &Lua,
    budget: &Budget,
    a: &Table,
    b: &Table,
    depth: usize,
) -> Result<Table> {
    let merged = copy(lua, budget, a, depth)?;
    b.for_each(|key: Value, value: Value| {
        budget.take(NODE)?;
        let value = match (merged.raw_get::<Value>(key.clone())?, value) {
            (Value::Table(old), Value::Table(new)) if old.raw_len() == 0 && new.raw_len() == 0 => {
                Value::Table(merge(lua, budget, &old, &new, depth + 1)?)
            }
            (_, Value::Table(new)) => Value::Table(copy(lua, budget, &new, depth + 1)?),
            (_, value) => value,
        };
        merged.raw_set(key, value)
    })?;
    Ok(merged)
}

fn copy(lua: &Lua, budget: &Budget, table: &Table, depth: usize) -> Result<Table> {
    too_deep(depth)?;
    let copied = lua.create_table()?;
    table.for_each(|key: Value, value: Value| {
        budget.take(NODE)?;
        let value = match value {
            Value::Table(inner) => Value::Table(copy(lua, budget, &inner, depth + 1)?),
            value => value,
        };
        copied.raw_set(key, value)
    })?;
    Ok(copied)
}

pub(super) fn flatten(
    budget: &Budget,
    table: &Table,
    above: &str,
    separator: &str,
    flat: &Table,
    depth: usize,
) -> Result<()> {
    too_deep(depth)?;
    table.for_each(|key: Value, value: Value| {
        let key = words(&key)?;
        budget.take(NODE + above.len() + key.len())?;
        let path = if above.is_empty() { key } else { format!("{above}{separator}{key}") };
        match value {
            Value::Table(inner) if !inner.is_empty() => {
                flatten(budget, &inner, &path, separator, flat, depth + 1)
            }
            value => flat.raw_set(path, value),
        }
    })
}

pub(super) fn unflatten(lua: &Lua, table: &Table, separator: &str) -> Result<Table> {
    let deep = lua.create_table()?;
    table.for_each(|key: Value, value: Value| set(lua, &deep, &words(&key)?, value, separator))?;
    Ok(deep)
}

/// A part of a path that is a number is the place in a list.
fn key_of(part: &str) -> Value {
    match part.parse::<u32>() {
        Ok(index) if index > 0 && !part.starts_with('0') => Value::Integer(index.into()),
        _ => Value::Nil,
    }
}

fn inside(table: &Table, part: &str) -> Result<Value> {
    let named: Value = table.get(part)?;
    match (named, key_of(part)) {
        (Value::Nil, index @ Value::Integer(_)) => table.get(index),
        (named, _) => Ok(named),
    }
}

pub(super) fn get(value: Value, path: &str, separator: &str) -> Result<Value> {
    let mut at = value;
    for part in path.split(separator) {
        at = match at {
            Value::Table(table) => inside(&table, part)?,
            _ => return Ok(Value::Nil),
        };
    }
    Ok(at)
}

pub(super) fn set(
    lua: &Lua,
    table: &Table,
    path: &str,
    value: Value,
    separator: &str,
) -> Result<()> {
    let mut at = table.clone();
    let mut parts = path.split(separator).peekable();
    while let Some(part) = parts.next() {
        let key = match (at.raw_get::<Value>(part)?, key_of(part)) {
            (Value::Nil, index @ Value::Integer(_)) => index,
            _ => Value::String(lua.create_string(part)?),
        };
        if parts.peek().is_none() {
            return at.set(key, value);
        }
        at = match at.get::<Value>(key.clone())? {
            Value::Table(inner) => inner,
            _ => {
                let inner = lua.create_table()?;
                at.set(key, &inner)?;
                inner
            }
        };
    }
    Ok(())
}
