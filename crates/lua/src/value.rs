//! Values of Lua as JSON, and back.
//!
//! What crosses between steps, nodes and the database is JSON. A table with the keys 1 to n is a list, an empty table
//! an object (Lua cannot tell), any other an object whose keys are texts. Functions, threads and what only lives in the
//! interpreter are left out, and so is a table within itself, or more than 64 deep. Bytes that are no UTF-8 are replaced
//! as terminals do.

use mlua::{Lua, Result, Table, Value};
use serde_json::{Map, Number, Value as Json};

use crate::budget::{Budget, NODE, TABLE};

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

/// A value as a text, as `tostring` says it, whatever its bytes.
pub(crate) fn words(value: &Value) -> Result<String> {
    match value {
        Value::String(string) => Ok(text(string)),
        Value::Table(table) => match table.metatable().map(|meta| meta.raw_get("__tostring")) {
            Some(Ok(Value::Function(shows))) => match shows.call::<Value>(table)? {
                Value::String(string) => Ok(text(&string)),
                _ => Err(mlua::Error::runtime("'__tostring' must return a string")),
            },
            _ => value.to_string(),
        },
        other => other.to_string(),
    }
}

/// A value as JSON; what has no form there is null.
pub(crate) fn to_json(value: &Value) -> Result<Json> {
    json(value, &Budget::default())
}

/// The same, charged to a budget.
pub(crate) fn json(value: &Value, budget: &Budget) -> Result<Json> {
    let mut walk = Walk { budget, above: Vec::new() };
    Ok(walk.value(value)?.unwrap_or(Json::Null))
}

/// The way into a value: the tables that it lies in.
struct Walk<'a> {
    budget: &'a Budget,
    above: Vec<*const std::ffi::c_void>,
}

enum Key {
    Index(usize),
    Name(String),
}

impl Walk<'_> {
    fn value(&mut self, value: &Value) -> Result<Option<Json>> {
        self.budget.take(NODE)?;
        Ok(Some(match value {
            Value::Nil => Json::Null,
            Value::Boolean(b) => Json::Bool(*b),
            Value::Integer(i) => Json::Number((*i).into()),
            Value::Number(n) => number(*n),
            Value::String(s) => Json::String(self.budget.text(s)?),
            Value::LightUserData(p) if p.0.is_null() => Json::Null,
            Value::Table(table) => {
                let itself = table.to_pointer();
                if self.above.len() >= DEEPEST || self.above.contains(&itself) {
                    return Ok(None);
                }
                self.above.push(itself);
                let json = self.table(table);
                self.above.pop();
                json?
            }
            _ => return Ok(None),
        }))
    }

    fn table(&mut self, table: &Table) -> Result<Json> {
        // What is written with an indent is as much longer as it is deep.
        self.budget.take(TABLE + 2 * self.above.len())?;
        let length = table.raw_len();
        let mut count = 0;
        let mut is_list = length > 0;
        let mut entries = Vec::new();
        table.for_each(|key: Value, value: Value| {
            count += 1;
            self.budget.take(2 * self.above.len())?;
            let key = match &key {
                Value::Integer(i) => match usize::try_from(*i) {
                    Ok(index) if (1..=length).contains(&index) => Key::Index(index),
                    _ => Key::Name(i.to_string()),
                },
                Value::String(s) => Key::Name(self.budget.text(s)?),
                Value::Number(n) => Key::Name(n.to_string()),
                Value::Boolean(b) => Key::Name(b.to_string()),
                _ => return Ok(()),
            };
            is_list &= matches!(key, Key::Index(_));
            entries.push((key, self.value(&value)?));
            Ok(())
        })?;
        if is_list && count == length {
            let mut items = vec![Json::Null; length];
            for (key, json) in entries {
                if let (Key::Index(index), Some(json)) = (key, json) {
                    items[index - 1] = json;
                }
            }
            return Ok(Json::Array(items));
        }
        let mut object = Map::new();
        for (key, json) in entries {
            let name = match key {
                Key::Index(index) => index.to_string(),
                Key::Name(name) => name,
            };
            if let Some(json) = json {
                object.insert(name, json);
            }
        }
        object.sort_keys();
        Ok(Json::Object(object))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^53 are exact")]
fn number(n: f64) -> Json {
    if n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0 {
        Json::Number((n as i64).into())
    } else {
        Number::from_f64(n).map_or(Json::Null, Json::Number)
    }
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
            ("{[2] = 'b', [1] = 'a'}", r#"["a","b"]"#),
            ("{print, 1}", "[null,1]"),
            (
                "(function() local t = {a = 1} t.t = t t.l = {t, 2} return t end)()",
                r#"{"a":1,"l":[null,2]}"#,
            ),
        ] {
            let value: Value = lua.load(source).eval().unwrap();
            assert_eq!(to_json(&value).unwrap().to_string(), expected, "{source}");
        }
        let deep = "local t = {} for i = 1, 60 do t = {t} end return t";
        let deep: Value = lua.load(deep).eval().unwrap();
        assert_eq!(to_json(&deep).unwrap().to_string().len(), 122);
        let wide = "local t = {} for i = 1, 40 do t = {a = t, b = {t}} end return t";
        let wide: Value = lua.load(wide).eval().unwrap();
        assert!(to_json(&wide).is_err());
    }

    #[test]
    fn json_comes_back_as_it_was() {
        let lua = Lua::new();
        let json = serde_json::json!({"a": [1, 2.5, "x", {"b": false}], "n": 7});
        assert_eq!(to_json(&from_json(&lua, &json).unwrap()).unwrap(), json);
    }
}
