//! From text to documents.
//!
//! A text is JSON, or else YAML in the sense of its version 1.1 ([`scalar`]): the meaning that words had when
//! templates were defined. A document is bounded: in bytes of text, in values (with its aliases counted), and
//! in depth, so that everything else may walk it by recursion.

mod scalar;
mod yaml;

use serde_json::Value;

use crate::diagnostic::{Diagnostic, Diagnostics, Fault};
use crate::function::python;
use crate::place::Path;
use crate::value::{Data, Node};

/// The largest template that is read, in characters.
pub const TEMPLATE_SIZE: usize = 524_288;

/// What a document may be made of at most.
pub(crate) const VALUES: usize = 200_000;
pub(crate) const NESTING: usize = 100;

/// What is read: messages differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Template,
    Environment,
}

/// A document, and what is odd about it.
#[derive(Clone, Debug)]
pub struct Document {
    pub root: Node,
    pub warnings: Diagnostics,
}

/// Reads a text that is called `name`. Nothing at all is an empty mapping.
pub fn text(kind: Kind, name: &str, text: &str) -> Result<Document, Diagnostics> {
    within_size(kind, text.chars().count())
        .and_then(|()| match serde_json::from_str::<Value>(text) {
            Ok(value) => json_text(kind, text, &value),
            Err(_) => yaml::read(kind, name, text),
        })
        .and_then(|document| mapping(kind, document))
        .map_err(|wrong| wrong.in_file(name, Some(text)))
        .map(|Document { root, warnings }| Document {
            root,
            warnings: warnings.in_file(name, Some(text)),
        })
}

/// Reads bytes, whatever they are.
pub fn bytes(kind: Kind, name: &str, bytes: &[u8]) -> Result<Document, Diagnostics> {
    match std::str::from_utf8(bytes) {
        Ok(found) => text(kind, name, found),
        Err(_) => {
            let wrong = format(kind, name, "it is not UTF-8");
            Err(Diagnostics::from(wrong).in_file(name, None))
        }
    }
}

/// Takes plain data as a document.
pub fn value(kind: Kind, name: &str, value: &Value) -> Result<Document, Diagnostics> {
    let size = match kind {
        Kind::Template => python::json(value, false).len(),
        Kind::Environment => 0,
    };
    within_size(kind, size)
        .and_then(|()| within_bounds(kind, value))
        .and_then(|()| {
            let root = Node::from_json(value);
            mapping(kind, Document { root, warnings: Diagnostics::new() })
        })
        .map_err(|wrong| wrong.in_file(name, None))
}

/// JSON keeps its own meaning; its places are those that YAML, of which it is a part, sees.
fn json_text(kind: Kind, text: &str, value: &Value) -> Result<Document, Diagnostics> {
    within_bounds(kind, value)?;
    let mut root = Node::from_json(value);
    if let Ok(seen) = yaml::read(kind, "", text) {
        adopt_places(&mut root, &seen.root);
    }
    Ok(Document { root, warnings: Diagnostics::new() })
}

fn adopt_places(node: &mut Node, seen: &Node) {
    node.place = seen.place;
    match (&mut node.data, &seen.data) {
        (Data::List(items), Data::List(others)) => {
            items.iter_mut().zip(others).for_each(|(item, other)| adopt_places(item, other));
        }
        (Data::Map(entries), Data::Map(_)) => {
            for entry in entries {
                if let Some(other) = seen.entry(&entry.key) {
                    entry.place = other.place;
                    adopt_places(&mut entry.node, &other.node);
                }
            }
        }
        _ => {}
    }
}

fn within_size(kind: Kind, size: usize) -> Result<(), Diagnostics> {
    if size <= TEMPLATE_SIZE {
        return Ok(());
    }
    let what = match kind {
        Kind::Template => "Template",
        Kind::Environment => "Environment",
    };
    let message = format!(
        "Request limit exceeded: {what} size ({size} bytes) exceeds maximum allowed size \
         ({TEMPLATE_SIZE} bytes)."
    );
    Err(Diagnostic::new(Fault::LimitExceeded, &Path::root(), message).into())
}

fn within_bounds(kind: Kind, value: &Value) -> Result<(), Diagnostics> {
    let mut left = VALUES;
    match is_within(value, &mut left, NESTING) {
        true => Ok(()),
        false => Err(too_much(kind).into()),
    }
}

fn is_within(value: &Value, left: &mut usize, depth: usize) -> bool {
    let (Some(rest), Some(below)) = (left.checked_sub(1), depth.checked_sub(1)) else {
        return false;
    };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| is_within(item, left, below)),
        Value::Object(entries) => entries.values().all(|entry| is_within(entry, left, below)),
        _ => true,
    }
}

pub(crate) fn too_much(kind: Kind) -> Diagnostic {
    let what = match kind {
        Kind::Template => "Template",
        Kind::Environment => "Environment",
    };
    let message = format!(
        "Request limit exceeded: {what} has more than {VALUES} values with its aliases counted, \
         or is nested deeper than {NESTING}."
    );
    Diagnostic::new(Fault::LimitExceeded, &Path::root(), message)
}

fn mapping(kind: Kind, document: Document) -> Result<Document, Diagnostics> {
    let Document { root, warnings } = document;
    match root.data {
        Data::Map(_) => Ok(Document { root, warnings }),
        Data::Null => Ok(Document { root: Node { data: Data::Map(Vec::new()), ..root }, warnings }),
        _ => {
            let message = match kind {
                Kind::Template => {
                    "Template not in valid format: The template is not a JSON object or YAML mapping."
                }
                Kind::Environment => {
                    "Environment not in valid format: The environment is not a valid YAML mapping \
                     data type."
                }
            };
            let found = format!("this is {}", root.kind());
            let wrong = Diagnostic::new(Fault::InvalidFormat, &Path::root(), message);
            Err(wrong.at(root.place).hint(found).into())
        }
    }
}

/// A text that cannot be read.
pub(crate) fn format(kind: Kind, name: &str, detail: &str) -> Diagnostic {
    let message = match kind {
        Kind::Template => {
            let name = if name.is_empty() { "[root stack]" } else { name };
            format!("Template not in valid format: Error parsing template {name} {detail}")
        }
        Kind::Environment => format!("Environment not in valid format: {detail}"),
    };
    Diagnostic::new(Fault::InvalidFormat, &Path::root(), message)
}
