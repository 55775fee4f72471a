//! Environments: what is said beside a template about the stack to be made of it.
//!
//! Values of parameters, their defaults for everything below, and a registry that says which type stands for
//! which ([`Registry`]). A request brings an environment, or a list of files to be merged into one
//! ([`Environment::of_request`]); a nested stack sees what its parent leaves it ([`Environment::child`]).

mod glob;
mod merge;
mod registry;
mod resolve;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::python;
use crate::parameter::ParameterSchema;
use crate::place::{Path, Place};
use crate::read::{self, Document, Kind};
use crate::template::Files;
use crate::value::{Data, Entry, Node};

pub use glob::glob_match;
pub use merge::Strategy;
pub use registry::{Hook, Registry, RestrictedAction};
pub use resolve::{Provider, Types};

const PARAMETERS: &str = "parameters";
const DEFAULTS: &str = "parameter_defaults";
const REGISTRY: &str = "resource_registry";
const SINKS: &str = "event_sinks";
const ENCRYPTED: &str = "encrypted_param_names";
const STRATEGIES: &str = "parameter_merge_strategies";
const SECTIONS: [&str; 6] = [PARAMETERS, REGISTRY, DEFAULTS, ENCRYPTED, SINKS, STRATEGIES];

/// What is said beside a template.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Environment {
    pub parameters: Map<String, Value>,
    pub parameter_defaults: Map<String, Value>,
    pub registry: Registry,
    pub event_sinks: Vec<Value>,
    /// Of which parameters the stored values are sealed.
    pub encrypted_param_names: Vec<String>,
    pub merge_strategies: Map<String, Value>,
    /// What is odd, and no obstacle.
    pub warnings: Diagnostics,
    /// Where values of parameters were written: by path, the file, the place and the line.
    places: BTreeMap<String, (String, Place, Option<String>)>,
}

impl Environment {
    /// Reads a text, JSON or YAML. `name` is what the file is called, for messages.
    pub fn from_text(name: &str, text: &str) -> Result<Environment, Diagnostics> {
        Environment::strict(name, Some(text), read::text(Kind::Environment, name, text)?)
    }

    /// Reads bytes, whatever they are.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Environment, Diagnostics> {
        let document = read::bytes(Kind::Environment, name, bytes)?;
        Environment::strict(name, std::str::from_utf8(bytes).ok(), document)
    }

    /// Takes plain data; texts are read.
    pub fn from_value(name: &str, value: &Value) -> Result<Environment, Diagnostics> {
        match value {
            Value::String(text) => Environment::from_text(name, text),
            _ => {
                let document = read::value(Kind::Environment, name, value)?;
                Environment::strict(name, None, document)
            }
        }
    }

    /// Takes plain data in the oldest form, too: parameters without a section.
    pub fn from_stored(name: &str, value: &Value) -> Result<Environment, Diagnostics> {
        let is_flat = value.as_object().is_some_and(|entries| {
            !entries.is_empty() && entries.keys().all(|key| !SECTIONS.contains(&key.as_str()))
        });
        match is_flat {
            true => Environment::from_value(name, &json!({PARAMETERS: value})),
            false => Environment::from_value(name, value),
        }
    }

    /// What a request means: the environment in it, or the files that it names one after the other, merged
    /// over the parameters in it. The declarations of parameters say how.
    pub fn of_request(
        environment: Option<&Value>,
        environment_files: &[String],
        files: &Files,
        parameters: &Map<String, Value>,
        schemas: &[ParameterSchema],
    ) -> Result<Environment, Diagnostics> {
        let mut found = match environment.filter(|value| !value.is_null()) {
            Some(value) if environment_files.is_empty() => {
                Environment::from_value("environment", value)?
            }
            _ => Environment::default(),
        };
        for (name, value) in parameters {
            found.give(name, value.clone());
        }
        merge::files(&mut found, environment_files, files, schemas)?;
        Ok(found)
    }

    /// Gives a parameter a value, whatever it had before.
    pub fn give(&mut self, name: &str, value: Value) {
        self.places.remove(&format!("{PARAMETERS}.{name}"));
        self.parameters.insert(name.to_owned(), value);
    }

    fn strict(
        name: &str,
        text: Option<&str>,
        document: Document,
    ) -> Result<Environment, Diagnostics> {
        let Document { root, warnings } = document;
        let mut found = Environment { warnings, ..Environment::default() };
        let mut wrong = Diagnostics::new();
        for entry in root.as_map().unwrap_or_default() {
            found.section(entry, &mut wrong);
        }
        found.remember(name, text, &root);
        let wrong = wrong.in_file(name, text);
        let (warnings, wrong): (Vec<_>, Vec<_>) =
            wrong.into_iter().partition(|one| one.fault == Fault::Warning);
        found.warnings.extend(Diagnostics(warnings));
        Diagnostics(wrong).or(found)
    }

    fn section(&mut self, entry: &Entry, wrong: &mut Diagnostics) {
        let key = entry.key.as_str();
        let path = Path::of([key]);
        let invalid = |message: String| {
            let message = format!("Environment not in valid format: {message}");
            Diagnostic::new(Fault::InvalidFormat, &path, message).at(entry.place)
        };
        if !SECTIONS.contains(&key) {
            let found = invalid(format!("environment has wrong section \"{key}\""));
            wrong.push(found.meant(key, SECTIONS));
            return;
        }
        let is_list = [SINKS, ENCRYPTED].contains(&key);
        match &entry.node.data {
            Data::Null => {
                let found = invalid(format!("environment has empty section \"{key}\""));
                wrong.push(found.hint(format!("remove it, or write `{key}: {{}}`")));
            }
            Data::List(items) if is_list => match key {
                SINKS => self.event_sinks = items.iter().map(Node::to_json).collect(),
                _ => {
                    let names = items.iter().map(|item| python::text(&item.to_json()));
                    self.encrypted_param_names = names.collect();
                }
            },
            Data::Map(entries) if !is_list => match key {
                REGISTRY => self.registry.load(entries, &path, wrong),
                STRATEGIES => self.merge_strategies = merge::strategies(&entry.node, wrong),
                PARAMETERS => self.parameters = object(entries),
                _ => self.parameter_defaults = object(entries),
            },
            _ => {
                let kind = if is_list { "a list" } else { "a mapping" };
                let found = format!("section \"{key}\" must be {kind}, not {}", entry.node.kind());
                wrong.push(invalid(found).at(entry.node.place.or(entry.place)));
            }
        }
    }

    fn remember(&mut self, name: &str, text: Option<&str>, root: &Node) {
        let lines: Vec<&str> = text.map(|text| text.lines().collect()).unwrap_or_default();
        for section in [PARAMETERS, DEFAULTS] {
            let entries = root.get(section).and_then(Node::as_map).unwrap_or_default();
            for entry in entries {
                let Some(place) = entry.node.place.or(entry.place) else { continue };
                let before = place.line.checked_sub(1).and_then(|n| usize::try_from(n).ok());
                let line = before.and_then(|n| lines.get(n)).map(|line| (*line).to_owned());
                let at = (name.to_owned(), place, line);
                self.places.insert(format!("{section}.{}", entry.key), at);
            }
        }
    }

    /// Says of what is wrong with values of parameters where these were written.
    pub fn located(&self, mut wrong: Diagnostics) -> Diagnostics {
        for found in &mut wrong.0 {
            let is_of_value = matches!(
                found.fault,
                Fault::ParameterInvalid | Fault::ParameterUnknown | Fault::ImmutableParameter
            );
            let at = self.places.get(&found.path).or_else(|| {
                let name = found.path.strip_prefix("parameters.")?;
                let is_default = !self.parameters.contains_key(name);
                self.places.get(&format!("{DEFAULTS}.{name}")).filter(|_| is_default)
            });
            if let Some((file, place, text)) = at.filter(|_| is_of_value && found.file.is_empty()) {
                found.file.clone_from(file);
                found.place = Some(*place);
                found.text.clone_from(text);
            }
        }
        wrong
    }

    /// What the user sees of it.
    pub fn to_json(&self) -> Value {
        json!({
            REGISTRY: self.registry.to_json(),
            PARAMETERS: self.parameters,
            DEFAULTS: self.parameter_defaults,
            SINKS: self.event_sinks,
        })
    }

    /// What is kept with a stack.
    pub fn to_stored_json(&self) -> Value {
        let mut out = self.to_json();
        out[ENCRYPTED] = json!(self.encrypted_param_names);
        out
    }

    /// What a nested stack sees: its own parameters, everything else of its parent, and of the registry what
    /// is said about the resource that it is. A template that stands for a type can use the type itself.
    #[must_use]
    pub fn child(
        &self,
        parameters: Map<String, Value>,
        provider: Option<&Provider>,
        resource: &str,
    ) -> Environment {
        let mut registry = self.registry.clone();
        if let Some(Provider::Template { path, .. }) = provider {
            registry.remove(path);
        }
        registry.narrow_to(resource);
        Environment {
            parameters,
            parameter_defaults: self.parameter_defaults.clone(),
            registry,
            event_sinks: self.event_sinks.clone(),
            ..Environment::default()
        }
    }
}

fn object(entries: &[Entry]) -> Map<String, Value> {
    entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect()
}
