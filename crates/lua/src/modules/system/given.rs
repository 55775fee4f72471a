//! What a function is given: values by position, by name in a table, or both.
//!
//! `takes` says what a function knows: names of positions, and behind a semicolon further names. A list counts as a
//! value, any other table as names. What a function does not know is refused, so that a mistyped name is not
//! silently without effect.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mlua::{MultiValue, Result, Value};
use serde_json::{Map, Value as Json};

use crate::modules::acting;
use crate::value::{kind, text, to_json, words};

pub(super) struct Given {
    function: String,
    values: BTreeMap<String, Value>,
}

impl Given {
    pub fn read(function: String, takes: &str, args: MultiValue) -> Result<Given> {
        let (positions, names) = takes.split_once(';').unwrap_or((takes, ""));
        let positions: Vec<&str> = positions.split_whitespace().collect();
        let mut given = Given { function, values: BTreeMap::new() };
        for (at, value) in args.into_iter().enumerate() {
            match (value, positions.get(at)) {
                (Value::Nil, _) => {}
                (Value::Table(named), _) if named.raw_len() == 0 => {
                    named.for_each(|name: Value, value: Value| {
                        given.values.insert(words(&name)?, value);
                        Ok(())
                    })?;
                }
                (value, Some(name)) => {
                    given.values.insert((*name).to_owned(), value);
                }
                (_, None) => return Err(given.misuse("has been given too many arguments")),
            }
        }
        let known: Vec<&str> = positions.into_iter().chain(names.split_whitespace()).collect();
        match given.values.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(given),
            Some(name) if matches!(name.as_str(), "delegate_to" | "target" | "agent") => {
                let advice = "works where its step runs; say `delegate_to` on the task";
                Err(given.misuse(&format!("has `{name}`, but {advice}")))
            }
            Some(name) => {
                let known = known.join(", ");
                Err(given.misuse(&format!("does not know `{name}`; it knows: {known}")))
            }
        }
    }

    /// That the function was called wrongly.
    pub fn misuse(&self, problem: &str) -> mlua::Error {
        mlua::Error::runtime(format!("{} {problem}", self.function))
    }

    fn wrong(&self, name: &str, wanted: &str, value: &Value) -> mlua::Error {
        self.misuse(&format!("needs {wanted} as `{name}`, not a {}", kind(value)))
    }

    pub fn has(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|value| !value.is_nil())
    }

    pub fn put(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    pub fn value(&self, name: &str) -> Value {
        self.values.get(name).cloned().unwrap_or(Value::Nil)
    }

    /// A text; a number stands for its digits.
    pub fn maybe(&self, name: &str) -> Result<Option<String>> {
        match self.values.get(name) {
            None | Some(Value::Nil) => Ok(None),
            Some(Value::String(found)) => Ok(Some(text(found))),
            Some(number @ (Value::Integer(_) | Value::Number(_))) => Ok(Some(digits(number))),
            Some(other) => Err(self.wrong(name, "a text", other)),
        }
    }

    pub fn text(&self, name: &str) -> Result<String> {
        self.maybe(name)?.ok_or_else(|| self.misuse(&format!("needs `{name}`")))
    }

    /// A path as the step sees it.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        Ok(acting().path(&self.text(name)?))
    }

    pub fn maybe_path(&self, name: &str) -> Result<Option<PathBuf>> {
        Ok(self.maybe(name)?.map(|path| acting().path(&path)))
    }

    pub fn flag(&self, name: &str) -> Result<Option<bool>> {
        match self.values.get(name) {
            None | Some(Value::Nil) => Ok(None),
            Some(Value::Boolean(answer)) => Ok(Some(*answer)),
            Some(other) => Err(self.wrong(name, "true or false", other)),
        }
    }

    pub fn is(&self, name: &str) -> Result<bool> {
        Ok(self.flag(name)?.unwrap_or(false))
    }

    /// A whole number that is not below zero.
    pub fn number<N: TryFrom<u64>>(&self, name: &str) -> Result<Option<N>> {
        let Some(digits) = self.maybe(name)? else { return Ok(None) };
        let number = digits.parse::<u64>().ok().and_then(|number| N::try_from(number).ok());
        let refuse = || {
            self.misuse(&format!("cannot use `{digits}` as `{name}`: it is no number of that kind"))
        };
        number.map(Some).ok_or_else(refuse)
    }

    /// Seconds or milliseconds, whatever the function says, with a fraction.
    pub fn amount(&self, name: &str) -> Result<Option<f64>> {
        let Some(digits) = self.maybe(name)? else { return Ok(None) };
        let number = digits.parse::<f64>().ok().filter(|number| *number >= 0.0);
        let refuse = || self.misuse(&format!("cannot use `{digits}` as `{name}`: it is no number"));
        number.map(Some).ok_or_else(refuse)
    }

    /// A list of texts, where one text stands for a list of one.
    pub fn texts(&self, name: &str) -> Result<Vec<String>> {
        match self.values.get(name) {
            Some(Value::Table(list)) => list
                .sequence_values::<Value>()
                .map(|item| match item? {
                    Value::String(found) => Ok(text(&found)),
                    number @ (Value::Integer(_) | Value::Number(_)) => Ok(digits(&number)),
                    other => Err(self.wrong(name, "a list of texts", &other)),
                })
                .collect(),
            _ => Ok(self.maybe(name)?.into_iter().collect()),
        }
    }

    /// Names with values.
    pub fn map(&self, name: &str) -> Result<Map<String, Json>> {
        match self.values.get(name) {
            None | Some(Value::Nil) => Ok(Map::new()),
            Some(value @ Value::Table(_)) => match to_json(value)? {
                Json::Object(map) => Ok(map),
                _ => Err(self.wrong(name, "names with values", value)),
            },
            Some(other) => Err(self.wrong(name, "names with values", other)),
        }
    }

    /// One of a few words.
    pub fn word(&self, name: &str, words: &[&'static str]) -> Result<Option<&'static str>> {
        let Some(given) = self.maybe(name)? else { return Ok(None) };
        let found = words.iter().find(|word| **word == given).copied();
        let refuse = || {
            self.misuse(&format!(
                "cannot use `{given}` as `{name}`; it knows: {}",
                words.join(", ")
            ))
        };
        found.map(Some).ok_or_else(refuse)
    }
}

fn digits(number: &Value) -> String {
    match to_json(number) {
        Ok(Json::Null) | Err(_) => "nan".to_owned(),
        Ok(number) => number.to_string(),
    }
}
