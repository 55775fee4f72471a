//! Several files as one environment.
//!
//! The later file wins, except where a file says of a parameter that its values are to be put together
//! (`parameter_merge_strategies`); how, its declaration says. Files must agree about that.

use std::collections::BTreeMap;

use serde_json::{Map, Number, Value};

use super::{DEFAULTS, Environment, PARAMETERS};
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::python;
use crate::parameter::ParameterSchema;
use crate::place::Path;
use crate::schema::Kind;
use crate::template::Files;
use crate::value::{Entry, Node};

/// How the values of a parameter in several files become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    #[default]
    Overwrite,
    Merge,
    DeepMerge,
}

impl Strategy {
    pub const ALL: [Strategy; 3] = [Strategy::Overwrite, Strategy::Merge, Strategy::DeepMerge];

    pub fn name(self) -> &'static str {
        match self {
            Strategy::Overwrite => "overwrite",
            Strategy::Merge => "merge",
            Strategy::DeepMerge => "deep_merge",
        }
    }

    fn read(word: &Value) -> Option<Strategy> {
        Strategy::ALL.into_iter().find(|one| word.as_str() == Some(one.name()))
    }
}

/// The strategies that a file names; what is not known counts as the default.
pub(super) fn strategies(node: &Node, wrong: &mut Diagnostics) -> Map<String, Value> {
    let entries = node.as_map().unwrap_or_default();
    for entry in entries {
        let value = entry.node.to_json();
        if Strategy::read(&value).is_none() {
            let word = python::text(&value);
            let message = format!("`{word}` is no way of merging; the default is taken");
            let path = Path::of([super::STRATEGIES, &entry.key]);
            let found = Diagnostic::new(Fault::Warning, &path, message).at(entry.node.place);
            wrong.push(found.meant(&word, Strategy::ALL.map(Strategy::name)));
        }
    }
    entries.iter().map(|entry: &Entry| (entry.key.clone(), entry.node.to_json())).collect()
}

/// What a file wants for a parameter, when it says so itself, another file did, or it has a default.
fn wanted(
    name: &str,
    strategies: &Map<String, Value>,
    agreed: &BTreeMap<String, Strategy>,
) -> Strategy {
    let default = strategies.get("default").and_then(Strategy::read).unwrap_or_default();
    match strategies.get(name) {
        Some(word) => Strategy::read(word).unwrap_or(default),
        None => agreed.get(name).copied().unwrap_or(default),
    }
}

/// Merges files into an environment, one after the other.
pub(super) fn files(
    into: &mut Environment,
    names: &[String],
    files: &Files,
    schemas: &[ParameterSchema],
) -> Result<(), Diagnostics> {
    let mut wrong = Diagnostics::new();
    let mut agreed = BTreeMap::new();
    for name in names {
        let Some(text) = files.get(name) else {
            let message =
                format!("No content found in the \"files\" section for environment: {name}");
            let found = Diagnostic::new(Fault::InvalidFormat, &Path::root(), message);
            wrong.push(found.meant(name, files.keys().map(String::as_str)));
            continue;
        };
        match Environment::from_text(name, text) {
            Ok(found) => {
                let mut merger = Merger { name, schemas, agreed: &mut agreed, wrong: &mut wrong };
                merger.merge(into, found);
            }
            Err(found) => wrong.extend(found),
        }
    }
    wrong.or(())
}

struct Merger<'a> {
    name: &'a str,
    schemas: &'a [ParameterSchema],
    agreed: &'a mut BTreeMap<String, Strategy>,
    wrong: &'a mut Diagnostics,
}

impl Merger<'_> {
    fn merge(&mut self, into: &mut Environment, found: Environment) {
        let strategies = &found.merge_strategies;
        self.section(PARAMETERS, &mut into.parameters, &found.parameters, strategies, &found);
        let defaults = &mut into.parameter_defaults;
        self.section(DEFAULTS, defaults, &found.parameter_defaults, strategies, &found);
        into.registry.merge(&found.registry);
        into.event_sinks.extend(found.event_sinks);
        for name in found.encrypted_param_names {
            if !into.encrypted_param_names.contains(&name) {
                into.encrypted_param_names.push(name);
            }
        }
        into.places.extend(found.places);
        into.warnings.extend(found.warnings);
    }

    fn section(
        &mut self,
        section: &str,
        old: &mut Map<String, Value>,
        new: &Map<String, Value>,
        strategies: &Map<String, Value>,
        found: &Environment,
    ) {
        if old.is_empty() {
            old.extend(new.clone());
            for (name, _) in new.iter().filter(|(_, value)| !value.is_null()) {
                self.agree(section, name, strategies, found);
            }
            return;
        }
        for (name, value) in new {
            let Some(schema) = self.schemas.iter().find(|schema| schema.name == *name) else {
                old.entry(name.clone()).or_insert_with(|| value.clone());
                continue;
            };
            if value.is_null() {
                continue;
            }
            let strategy = self.agree(section, name, strategies, found);
            let merged = match (strategy, old.get(name).filter(|old| !old.is_null())) {
                (Strategy::Overwrite, _) | (_, None) => Ok(value.clone()),
                (strategy, Some(old)) => {
                    together(schema.kind, old, value, strategy == Strategy::DeepMerge)
                }
            };
            match merged {
                Ok(merged) => {
                    old.insert(name.clone(), merged);
                }
                Err(()) => {
                    let strategy = Strategy::Merge.name();
                    let message =
                        format!("Invalid merge strategy '{strategy}' for parameter '{name}'.");
                    self.say(Fault::MergeInvalid, section, name, message, found);
                }
            }
        }
    }

    /// Files must want the same.
    fn agree(
        &mut self,
        section: &str,
        name: &str,
        strategies: &Map<String, Value>,
        found: &Environment,
    ) -> Strategy {
        if !self.schemas.iter().any(|schema| schema.name == name) {
            return Strategy::Overwrite;
        }
        let wanted = wanted(name, strategies, self.agreed);
        let agreed = *self.agreed.entry(name.to_owned()).or_insert(wanted);
        if agreed != wanted {
            let message = format!(
                "Conflicting merge strategy '{}' for parameter '{name}' in file '{}'.",
                wanted.name(),
                self.name
            );
            self.say(Fault::MergeConflict, section, name, message, found);
        }
        agreed
    }

    fn say(
        &mut self,
        fault: Fault,
        section: &str,
        name: &str,
        message: String,
        found: &Environment,
    ) {
        let path = Path::of([section, name]);
        let mut wrong = Diagnostic::new(fault, &path, message);
        if let Some((file, place, text)) = found.places.get(&path.to_string()) {
            file.clone_into(&mut wrong.file);
            wrong.place = Some(*place);
            wrong.text.clone_from(text);
        }
        self.wrong.push(wrong);
    }
}

/// Two values of a parameter as one.
fn together(kind: Kind, old: &Value, new: &Value, is_deep: bool) -> Result<Value, ()> {
    match kind {
        Kind::Map | Kind::Any => match (parsed(old), parsed(new)) {
            (Value::Object(old), Value::Object(new)) => Ok(maps(old, new, is_deep).into()),
            (Value::Array(mut old), Value::Array(new)) => {
                old.extend(new);
                Ok(Value::Array(old))
            }
            (old, new) if python::is_true(&old) && !python::is_true(&new) => Ok(old),
            (_, new) => Ok(new),
        },
        Kind::List => Ok(lists(old, new)),
        Kind::String => Ok(format!("{}{}", python::text(old), python::text(new)).into()),
        Kind::Number | Kind::Integer => sum(old, new).ok_or(()),
        Kind::Boolean => Err(()),
    }
}

fn parsed(value: &Value) -> Value {
    let read = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    read.unwrap_or_else(|| value.clone())
}

fn lists(old: &Value, new: &Value) -> Value {
    let items = |value: &Value| match value {
        Value::Array(items) => items.clone(),
        other => python::text(other).split(',').map(Value::from).collect(),
    };
    match (old, new) {
        (old, new) if !python::is_true(old) => new.clone(),
        (Value::String(old), Value::String(new)) => format!("{old},{new}").into(),
        (old, new) => Value::Array([items(old), items(new)].concat()),
    }
}

fn maps(mut old: Map<String, Value>, new: Map<String, Value>, is_deep: bool) -> Map<String, Value> {
    for (key, value) in new {
        let merged = match (old.get(&key).filter(|_| is_deep), value) {
            (_, Value::Null) => continue,
            (Some(Value::Object(before)), Value::Object(after)) => {
                maps(before.clone(), after, true).into()
            }
            (Some(before), Value::Array(after)) if python::is_true(before) => {
                lists(before, &Value::Array(after))
            }
            (Some(Value::String(before)), Value::String(after)) => {
                format!("{before}{after}").into()
            }
            (_, value) => value,
        };
        old.insert(key, merged);
    }
    old
}

fn sum(old: &Value, new: &Value) -> Option<Value> {
    let number = |value: &Value| crate::schema::number(value).ok();
    let (old, new) = (number(old)?, number(new)?);
    if let (Some(old), Some(new)) = (old.as_i64(), new.as_i64()) {
        return old.checked_add(new).map(Value::from);
    }
    Number::from_f64(old.as_f64()? + new.as_f64()?).map(Value::Number)
}
