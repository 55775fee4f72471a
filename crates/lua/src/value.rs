//! Values of Lua as JSON, and back.
//!
//! What crosses between steps, nodes and the database is JSON. A table with the keys 1 to n is a list, an empty table
//! an object (Lua cannot tell), any other an object whose keys are texts. Functions, threads and what only lives in the
//! interpreter are left out. Bytes that are no UTF-8 are replaced as terminals do.

use mlua::{Lua, Result, Table, Value};
use serde_json::{Map, Number, Value as Json};

/// How deep tables may lie in each other.
const DEEPEST: usize = 64;

/// Text of a string, whatever its bytes.
pub(crate) fn text(string: &mlua::LuaString) -> String {
    String::from_utf8_lossy(&string.as_bytes()).into_owned()
}

/// What kind of value it is, in words of Lua.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Integer(_) => "number",
        other => other.type_name(),
    }
}

/// A value as JSON; what has no form there is null.
pub(crate) fn to_json(value: &Value) -> Json {
    at_depth(value, 0).unwrap_or(Json::Null)
}

fn at_depth(value: &Value, depth: usize) -> Option<Json> {
    Some(match value {
        Value::Nil => Json::Null,
        Value::Boolean(b) => Json::Bool(*b),
        Value::Integer(i) => Json::Number((*i).into()),
        Value::Number(n) => number(*n),
        Value::String(s) => Json::String(text(s)),
        Value::LightUserData(p) if p.0.is_null() => Json::Null,
        Value::Table(table) if depth < DEEPEST => table_to_json(table, depth + 1),
        _ => return None,
    })
}

#[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^53 are exact")]
fn number(n: f64) -> Json {
    if n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0 {
        Json::Number((n as i64).into())
    } else {
        Number::from_f64(n).map_or(Json::Null, Json::Number)
    }
}

fn table_to_json(table: &Table, depth: usize) -> Json {
    let length = table.raw_len();
    let mut entries = 0;
    let mut object = Map::new();
    let _nothing_fails_here = table.for_each(|key: Value, value: Value| {
        entries += 1;
        let name = match &key {
            Value::String(s) => text(s),
            Value::Integer(i) => i.to_string(),
            Value::Number(n) => n.to_string(),
            Value::Boolean(b) => b.to_string(),
            _ => return Ok(()),
        };
        if let Some(json) = at_depth(&value, depth) {
            object.insert(name, json);
        }
        Ok(())
    });
    if length > 0 && length == entries {
        let items = (1..=length).map(|i| {
            let value = table.raw_get::<Value>(i).unwrap_or(Value::Nil);
            at_depth(&value, depth).unwrap_or(Json::Null)
        });
        return Json::Array(items.collect());
    }
    object.sort_keys();
    Json::Object(object)
}

/// JSON as a value; null is nil.
pub(crate) fn from_json(lua: &Lua, json: &Json) -> Result<Value> {
    Ok(match json {
        Json::Null => Value::Nil,
        Json::Bool(b) => Value::Boolean(*b),
        Json::Number(n) => Value::Number(n.as_f64().unwrap_or(f64::NAN)),
        Json::String(s) => Value::String(lua.create_string(s)?),
        Json::Array(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (i, item) in items.iter().enumerate() {
                table.raw_set(i + 1, from_json(lua, item)?)?;
            }
            Value::Table(table)
        }
        Json::Object(entries) => {
            let table = lua.create_table_with_capacity(0, entries.len())?;
            for (key, item) in entries {
                table.raw_set(key.as_str(), from_json(lua, item)?)?;
            }
            Value::Table(table)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_lists_or_objects_and_what_has_no_form_is_left_out() {
        let lua = Lua::new();
        for (source, expected) in [
            ("{1, 2, 3}", "[1,2,3]"),
            ("{a = 1.5, b = {true, 'x'}}", r#"{"a":1.5,"b":[true,"x"]}"#),
            ("{}", "{}"),
            ("{1, 2, n = 2}", r#"{"1":1,"2":2,"n":2}"#),
            ("{f = print, a = 1}", r#"{"a":1}"#),
            ("'\\255x'", "\"\u{fffd}x\""),
            ("1/0", "null"),
            ("3", "3"),
        ] {
            let value: Value = lua.load(source).eval().unwrap();
            assert_eq!(to_json(&value).to_string(), expected, "{source}");
        }
        let endless: Value = lua.load("local t = {} t.t = t return t").eval().unwrap();
        assert!(to_json(&endless).to_string().len() < 1000);
    }

    #[test]
    fn json_comes_back_as_it_was() {
        let lua = Lua::new();
        let json = serde_json::json!({"a": [1, 2.5, "x", {"b": false}], "n": 7});
        assert_eq!(to_json(&from_json(&lua, &json).unwrap()), json);
    }
}
