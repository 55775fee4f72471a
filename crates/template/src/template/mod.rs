//! Templates: their sections, and what stands in them.
//!
//! Reading goes in two steps. [`Template::read`] takes a text or plain data and checks everything that can be
//! checked without knowing parameters: sections, keywords, declarations. [`Template::load`] takes parameters,
//! decides conditions, and finds the functions in what is left: resources and outputs whose values can be
//! resolved one by one. Both say everything that is wrong at once.

mod graph;
mod group;
mod load;
mod resource;
mod section;
pub mod version;

use std::sync::Arc;

use serde_json::Value;

use crate::condition::ConditionSet;
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::parameter::ParameterSchema;
use crate::place::Path;
use crate::read::{self, Document, Kind};
use crate::value::{Entry, Node};

pub use graph::{Dependency, Graph};
pub use group::ParameterGroup;
pub use load::{DeletionPolicy, Files, Loaded, LoadedOutput, LoadedResource, ParameterScope};
pub use resource::{OutputSection, ResourceSection};
pub use section::Words;
pub use version::Version;

/// The text that something was read from, to show where it is wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Source {
    pub name: String,
    pub text: Option<String>,
}

/// A template of which everything is right that can be known without parameters.
#[derive(Clone, Debug)]
pub struct Template {
    pub version: Version,
    pub parameters: Vec<ParameterSchema>,
    pub parameter_groups: Vec<ParameterGroup>,
    pub conditions: ConditionSet,
    /// What `Fn::FindInMap` finds things in.
    pub mappings: Node,
    pub resources: Vec<ResourceSection>,
    pub outputs: Vec<OutputSection>,
    /// What is odd, and no obstacle.
    pub warnings: Diagnostics,
    /// What is wrong with declarations of parameters; only of a template that was read to be looked at.
    pub mistakes: Diagnostics,
    description: Option<String>,
    root: Arc<Node>,
    source: Arc<Source>,
}

impl Template {
    /// Reads a text, JSON or YAML. `name` is what the file is called, for messages.
    pub fn from_text(name: &str, text: &str) -> Result<Template, Diagnostics> {
        Template::of_text(name, text)?.faultless()
    }

    /// The same for whoever says everything that is wrong: parameters may be declared wrongly.
    pub(crate) fn of_text(name: &str, text: &str) -> Result<Template, Diagnostics> {
        let document = read::text(Kind::Template, name, text)?;
        Template::read(document, Source { name: name.to_owned(), text: Some(text.to_owned()) })
    }

    /// Reads bytes, whatever they are.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Template, Diagnostics> {
        let document = read::bytes(Kind::Template, name, bytes)?;
        let text = String::from_utf8(bytes.to_vec()).ok();
        Template::read(document, Source { name: name.to_owned(), text })?.faultless()
    }

    /// Takes plain data; texts are read, because clients may send templates as such.
    pub fn from_value(name: &str, value: &Value) -> Result<Template, Diagnostics> {
        Template::of_value(name, value)?.faultless()
    }

    /// The same for whoever gives it to a [`crate::validate::Validator`], which says what is wrong with declarations of
    /// parameters together with everything else.
    pub fn of_value(name: &str, value: &Value) -> Result<Template, Diagnostics> {
        match value {
            Value::String(text) => Template::of_text(name, text),
            _ => {
                let document = read::value(Kind::Template, name, value)?;
                Template::read(document, Source { name: name.to_owned(), text: None })
            }
        }
    }

    fn faultless(self) -> Result<Template, Diagnostics> {
        if self.mistakes.is_empty() { Ok(self) } else { Err(self.mistakes) }
    }

    fn read(document: Document, source: Source) -> Result<Template, Diagnostics> {
        let Document { root, warnings } = document;
        let found = match version_of(&root) {
            Ok(version) => section::read(version, &root),
            Err(wrong) => Err((*wrong).into()),
        };
        match found {
            Ok(sections) => {
                let mut all = warnings;
                all.extend(sections.warnings.in_file(&source.name, source.text.as_deref()));
                Ok(Template {
                    version: sections.version,
                    parameters: sections.parameters,
                    parameter_groups: sections.parameter_groups,
                    conditions: sections.conditions,
                    mappings: sections.mappings,
                    resources: sections.resources,
                    outputs: sections.outputs,
                    warnings: all,
                    mistakes: sections.mistakes.in_file(&source.name, source.text.as_deref()),
                    description: sections.description,
                    root: Arc::new(root),
                    source: Arc::new(source),
                })
            }
            Err(wrong) => Err(wrong.in_file(&source.name, source.text.as_deref())),
        }
    }

    /// What the file is called.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// What the template says it is.
    pub fn description(&self) -> &str {
        self.description.as_deref().unwrap_or("No description")
    }

    /// The template as it was written.
    pub fn to_json(&self) -> Value {
        self.root.to_json()
    }

    pub fn words(&self) -> Words {
        Words::of(self.version)
    }

    /// Says where in the file it is, of what does not know it yet.
    pub fn located(&self, mut wrong: Diagnostics) -> Diagnostics {
        for found in wrong.0.iter_mut().filter(|one| one.file.is_empty() && one.place.is_none()) {
            found.place = self.place_of(&found.path);
        }
        wrong.in_file(&self.source.name, self.source.text.as_deref())
    }

    /// Where something stands of which only the written path is known.
    fn place_of(&self, path: &str) -> Option<crate::place::Place> {
        let mut node: &Node = &self.root;
        let mut place = None;
        let mut rest = path;
        while !rest.is_empty() {
            if let Some((index, after)) =
                rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
            {
                let at = index.parse::<usize>().ok();
                node = match node.as_list().zip(at).and_then(|(items, at)| items.get(at)) {
                    Some(item) => item,
                    None => break,
                };
                place = node.place.or(place);
                rest = after;
                continue;
            }
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let entries = node.as_map().unwrap_or_default();
            let is_next = |entry: &&Entry| {
                let after = rest.strip_prefix(entry.key.as_str());
                after.is_some_and(|after| after.is_empty() || after.starts_with(['.', '[']))
            };
            let Some(entry) = entries.iter().filter(is_next).max_by_key(|entry| entry.key.len())
            else {
                break;
            };
            rest = &rest[entry.key.len()..];
            place = entry.node.place.or(entry.place).or(place);
            node = &entry.node;
        }
        place
    }
}

fn version_of(root: &Node) -> Result<Version, Box<Diagnostic>> {
    let keys = ["heat_template_version", "HeatTemplateFormatVersion", "AWSTemplateFormatVersion"];
    let all: Vec<&Entry> = keys.iter().filter_map(|key| root.entry(key)).collect();
    let given: Vec<&&Entry> = all.iter().filter(|entry| entry.node.as_str().is_some()).collect();
    let Some(entry) = given.first().copied().or(all.first()) else {
        let message = "Template not in valid format: Template format version not found.";
        let wrong = Diagnostic::new(Fault::InvalidFormat, &Path::root(), message).at(root.place);
        let near = root.as_map().unwrap_or_default().iter().find_map(|entry| {
            let meant = hostler_model::suggest::nearest(&entry.key, keys)?;
            Some((entry, meant))
        });
        return Err(Box::new(match near {
            Some((entry, meant)) => wrong.at(entry.place).hint(format!("did you mean `{meant}`?")),
            None => wrong.hint(format!("add `heat_template_version: {}`", Version::NEWEST.date())),
        }));
    };
    if given.len() > 1 {
        let names: Vec<&str> = given.iter().map(|entry| entry.key.as_str()).collect();
        let message =
            format!("The template version is invalid: Ambiguous versions ({})", names.join(", "));
        let path = Path::root().key(&given[1].key);
        let wrong = Diagnostic::new(Fault::InvalidVersion, &path, message);
        return Err(Box::new(wrong.at(given[1].place)));
    }
    let word = crate::function::python::text(&entry.node.to_json());
    Version::read(&entry.key, &word).ok_or_else(|| {
        let key = &entry.key;
        let words = Version::words(key);
        let which = if words.len() > 1 { "should be one of" } else { "should be" };
        let known = words.join(", ");
        let message = format!(
            "The template version is invalid: \"{key}: {word}\". \"{key}\" {which}: {known}"
        );
        let wrong = Diagnostic::new(Fault::InvalidVersion, &Path::of([key.as_str()]), message);
        Box::new(wrong.at(entry.node.place).meant(&word, words.iter().copied()))
    })
}
