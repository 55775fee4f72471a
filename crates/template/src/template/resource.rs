//! Resources and outputs as they are written.

use super::Version;
use super::section::{EXTERNAL_ID, Words};
use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::python;
use crate::place::{Path, Place};
use crate::value::{Data, Entry, Node};

/// A resource as a template has it. Whatever may contain functions is as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceSection {
    pub name: String,
    /// Where its name stands.
    pub place: Option<Place>,
    pub type_name: String,
    pub type_place: Option<Place>,
    pub properties: Option<Node>,
    pub metadata: Option<Node>,
    pub depends_on: Vec<(String, Option<Place>)>,
    pub update_policy: Option<Node>,
    pub deletion_policy: Option<Node>,
    pub description: String,
    pub external_id: Option<Node>,
    pub condition: Option<Node>,
}

/// An output as a template has it.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSection {
    pub name: String,
    pub place: Option<Place>,
    pub description: Option<String>,
    pub value: Node,
    pub condition: Option<Node>,
}

/// How many letters a name has at most.
const NAME_LENGTH: usize = 255;

fn structure(path: &Path, place: Option<Place>, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Fault::StructureInvalid, path, message).at(place)
}

pub(crate) fn read(
    entry: &Entry,
    version: Version,
    section: &Path,
    wrong: &mut Diagnostics,
) -> Option<ResourceSection> {
    let words = Words::of(version);
    let path = section.key(&entry.key);
    let node = &entry.node;
    let no_type = if version.is_hot() {
        "Each resource must contain a type key."
    } else {
        "Each Resource must contain a Type key."
    };
    let has_some = python::is_true(&node.to_json());
    let Some(entries) = node.as_map().filter(|_| has_some) else {
        let message = match has_some {
            false => no_type.to_owned(),
            true => not_a_map(node, version, "resources"),
        };
        wrong.push(structure(&path, node.place.or(entry.place), message));
        return None;
    };
    name(entry, &path, wrong);
    if version.is_hot() {
        keywords(entries, version, &path, wrong);
    }
    let mut reader = Reader { name: &entry.key, node, path: &path, wrong };
    let Some(kind) = node.get(words.kind) else {
        reader.wrong.push(structure(&path, entry.place, no_type));
        return None;
    };
    let type_name = reader.text(words.kind);
    if type_name.as_deref() == Some("") {
        let message = "Each Resource must contain a Type key.";
        reader.wrong.push(structure(&path.key(words.kind), kind.place, message));
    }
    Some(ResourceSection {
        name: entry.key.clone(),
        place: entry.place,
        type_name: type_name?,
        type_place: kind.place,
        properties: reader.object(words.properties),
        metadata: reader.object(words.metadata),
        depends_on: reader.depends_on(words.depends_on),
        update_policy: reader.object(words.update_policy),
        deletion_policy: reader.text_or_function(words.deletion_policy),
        description: reader.text(words.description).unwrap_or_default(),
        external_id: (version >= Version::Newton)
            .then(|| reader.text_or_function(EXTERNAL_ID))
            .flatten(),
        condition: version.has_conditions().then(|| reader.condition(words.condition)).flatten(),
    })
}

fn name(entry: &Entry, path: &Path, wrong: &mut Diagnostics) {
    if entry.key.contains('/') {
        let found = structure(path, entry.place, "Resource name may not contain \"/\"");
        wrong.push(found);
    }
    if entry.key.chars().count() > NAME_LENGTH {
        let message = format!("Resource name may not be longer than {NAME_LENGTH} characters");
        wrong.push(structure(path, entry.place, message));
    }
}

fn not_a_map(node: &Node, version: Version, section: &str) -> String {
    let kind = python::type_name(&node.to_json());
    match version.is_hot() {
        true => format!(
            "\"{section}\" must contain a map of {} maps. Found a [<class '{kind}'>] instead",
            section.trim_end_matches('s')
        ),
        false => format!("Resources must contain Resource. Found a [<class '{kind}'>] instead"),
    }
}

fn keywords(entries: &[Entry], version: Version, path: &Path, wrong: &mut Diagnostics) {
    let words = Words::of(version);
    let known = [
        words.kind,
        words.properties,
        words.metadata,
        words.depends_on,
        words.deletion_policy,
        words.update_policy,
        words.description,
    ];
    let later = [EXTERNAL_ID, words.condition];
    for entry in entries {
        let key = entry.key.as_str();
        let (message, hint) = match (known.contains(&key), later.contains(&key)) {
            (true, _) => continue,
            (_, true) if version >= Version::Newton => continue,
            (_, true) => (
                format!("Invalid keyword(s) inside a resource definition: {key}"),
                Some(format!(
                    "it needs `heat_template_version: {}` or later",
                    Version::Newton.date()
                )),
            ),
            _ => (format!("\"{key}\" is not a valid keyword inside a resource definition"), None),
        };
        let found = structure(&path.key(key), entry.place, message);
        wrong.push(match hint {
            Some(hint) => found.hint(hint),
            None => found.meant(key, known.into_iter().chain(later)),
        });
    }
}

struct Reader<'a> {
    name: &'a str,
    node: &'a Node,
    path: &'a Path,
    wrong: &'a mut Diagnostics,
}

impl Reader<'_> {
    fn say(&mut self, key: &str, place: Option<Place>, kind: &str) {
        let message = format!("Resource {} {key} type must be {kind}", self.name);
        self.wrong.push(structure(&self.path.key(key), place, message));
    }

    /// The value of a key, when it is one of those that may stand there.
    fn field(&mut self, key: &str, kind: &str, is_fine: fn(&Data) -> bool) -> Option<Node> {
        let entry = self.node.entry(key)?;
        match is_fine(&entry.node.data) {
            true => Some(entry.node.clone()),
            false => {
                self.say(key, entry.node.place.or(entry.place), kind);
                None
            }
        }
    }

    fn object(&mut self, key: &str) -> Option<Node> {
        self.field(key, "object", |data| matches!(data, Data::Map(_)))
    }

    fn text(&mut self, key: &str) -> Option<String> {
        let node = self.field(key, "string", |data| matches!(data, Data::String(_)))?;
        node.as_str().map(str::to_owned)
    }

    fn text_or_function(&mut self, key: &str) -> Option<Node> {
        self.field(key, "string", |data| matches!(data, Data::String(_) | Data::Map(_)))
    }

    fn condition(&mut self, key: &str) -> Option<Node> {
        let is_fine = |data: &Data| matches!(data, Data::String(_) | Data::Bool(_) | Data::Map(_));
        self.field(key, "string_or_boolean", is_fine)
    }

    fn depends_on(&mut self, key: &str) -> Vec<(String, Option<Place>)> {
        let is_fine = |data: &Data| matches!(data, Data::String(_) | Data::List(_));
        let Some(node) = self.field(key, "list or string", is_fine) else { return Vec::new() };
        if let Some(name) = node.as_str() {
            return vec![(name.to_owned(), node.place)];
        }
        let mut names = Vec::new();
        for (at, item) in node.as_list().unwrap_or_default().iter().enumerate() {
            match item.as_str() {
                Some(name) => names.push((name.to_owned(), item.place)),
                None => {
                    let message = format!("Resource {} {key} must be a list of strings", self.name);
                    let path = self.path.key(key).index(at);
                    self.wrong.push(structure(&path, item.place, message));
                }
            }
        }
        names
    }
}

pub(crate) fn read_output(
    entry: &Entry,
    version: Version,
    section: &Path,
    wrong: &mut Diagnostics,
) -> Option<OutputSection> {
    let words = Words::of(version);
    let path = section.key(&entry.key);
    let node = &entry.node;
    let place = node.place.or(entry.place);
    let Some(entries) = node.as_map() else {
        let kind = python::type_name(&node.to_json());
        let message = format!("Output definitions must be a map. Found a {kind} instead");
        wrong.push(Diagnostic::new(Fault::OutputInvalid, &path, message).at(place));
        return None;
    };
    let known = [words.description, words.value, words.condition];
    for odd in entries.iter().filter(|one| !known.contains(&one.key.as_str())) {
        let message = format!("`{}` means nothing in an output", odd.key);
        let found = Diagnostic::new(Fault::Warning, &path.key(&odd.key), message).at(odd.place);
        wrong.push(found.meant(&odd.key, known));
    }
    let Some(value) = node.get(words.value) else {
        let message = format!("Each output definition must contain a {} key.", words.value);
        wrong.push(Diagnostic::new(Fault::OutputInvalid, &path, message).at(entry.place));
        return None;
    };
    let description = node.get(words.description).filter(|node| !node.is_null());
    let condition = node.get(words.condition).filter(|node| !node.is_null());
    Some(OutputSection {
        name: entry.key.clone(),
        place: entry.place,
        description: description.map(|node| python::text(&node.to_json())),
        value: value.clone(),
        condition: condition.filter(|_| version.has_conditions()).cloned(),
    })
}
