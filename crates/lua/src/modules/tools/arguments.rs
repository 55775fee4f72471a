//! Arguments of functions that are written by hand: `f(a, b, { options })` and `f{ a =, b = }` alike.

use mlua::{Lua, MultiValue, Result, Table, Value};

use super::usage::word;
use crate::value::text;

/// What a function was given, by names.
pub(super) struct Arguments {
    what: &'static str,
    pub table: Table,
}

impl Arguments {
    /// Reads them; `names` are those that can come without their name, in their order.
    pub fn read(
        lua: &Lua,
        what: &'static str,
        args: MultiValue,
        names: &[&str],
    ) -> Result<Arguments> {
        let table = lua.create_table()?;
        let mut names = names.iter();
        for value in args {
            match &value {
                Value::Table(options) if options.raw_len() == 0 => {
                    options.for_each(|key: Value, value: Value| table.raw_set(key, value))?;
                }
                _ => match names.next() {
                    Some(name) => table.raw_set(*name, value)?,
                    None if value.is_nil() => {}
                    None => {
                        return Err(mlua::Error::runtime(format!("{what} takes fewer arguments")));
                    }
                },
            }
        }
        Ok(Arguments { what, table })
    }

    pub fn value(&self, name: &str) -> Result<Value> {
        self.table.raw_get(name)
    }

    /// A text, or nothing.
    pub fn text(&self, name: &str) -> Result<Option<String>> {
        Ok(match self.value(name)? {
            Value::Nil => None,
            value @ (Value::String(_) | Value::Number(_) | Value::Integer(_)) => {
                Some(word(&value)?)
            }
            Value::Boolean(flag) => Some(flag.to_string()),
            value => return Err(self.wrong(name, "a text", &value)),
        })
    }

    /// The first of several names that is there.
    pub fn any(&self, names: &[&str]) -> Result<Option<String>> {
        for name in names {
            if let Some(text) = self.text(name)? {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// A text that must be there, by any of its names.
    pub fn required(&self, names: &[&str]) -> Result<String> {
        self.any(names)?.filter(|text| !text.is_empty()).ok_or_else(|| {
            mlua::Error::runtime(format!("{}: `{}` is missing", self.what, names[0]))
        })
    }

    pub fn flag(&self, name: &str) -> Result<bool> {
        Ok(!matches!(self.value(name)?, Value::Nil | Value::Boolean(false)))
    }

    /// Texts: one, or a list.
    pub fn list(&self, name: &str) -> Result<Vec<String>> {
        match self.value(name)? {
            Value::Nil => Ok(Vec::new()),
            Value::Table(list) => {
                list.sequence_values::<Value>().map(|item| word(&item?)).collect()
            }
            value => Ok(vec![word(&value)?]),
        }
    }

    pub fn number(&self, name: &str) -> Result<Option<f64>> {
        match self.value(name)? {
            Value::Nil => Ok(None),
            Value::Number(number) => Ok(Some(number)),
            #[expect(clippy::cast_precision_loss, reason = "numbers of Luau are such")]
            Value::Integer(number) => Ok(Some(number as f64)),
            Value::String(digits) => match text(&digits).trim().parse() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(self.wrong(name, "a number", &Value::String(digits))),
            },
            value => Err(self.wrong(name, "a number", &value)),
        }
    }

    pub fn wrong(&self, name: &str, expected: &str, value: &Value) -> mlua::Error {
        let what = value.type_name();
        mlua::Error::runtime(format!("{}: `{name}` is {expected}, not a {what}", self.what))
    }

    pub fn mistake(&self, what: &str) -> mlua::Error {
        mlua::Error::runtime(format!("{}: {what}", self.what))
    }
}
