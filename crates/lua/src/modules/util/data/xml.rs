//! XML: an element with attributes, text and children as an object, one with text alone as the text.

use roxmltree::{Document, Node, ParsingOptions};
use serde_json::{Map, Value as Json};

/// How deep elements may lie in each other, and how many there may be.
const DEEPEST: usize = 64;
const MOST_NODES: u32 = 1_000_000;

pub(super) fn read(text: &str) -> Result<Json, String> {
    let options =
        ParsingOptions { allow_dtd: false, nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)
        .map_err(|error| format!("it is no XML: {error}"))?;
    let root = document.root_element();
    let mut object = Map::new();
    object.insert(name_of(root), element(root, 0)?);
    Ok(Json::Object(object))
}

fn name_of(node: Node<'_, '_>) -> String {
    let tag = node.tag_name();
    let prefix = tag.namespace().and_then(|namespace| node.lookup_prefix(namespace));
    match prefix {
        Some(prefix) if !prefix.is_empty() => format!("{prefix}:{}", tag.name()),
        _ => tag.name().to_owned(),
    }
}

fn element(node: Node<'_, '_>, depth: usize) -> Result<Json, String> {
    if depth > DEEPEST {
        return Err(format!("it is no XML for a table: it is deeper than {DEEPEST}"));
    }
    let mut object = Map::new();
    for attribute in node.attributes() {
        object.insert(format!("@{}", attribute.name()), Json::String(attribute.value().to_owned()));
    }
    let mut text = String::new();
    for child in node.children() {
        if child.is_element() {
            add(&mut object, name_of(child), element(child, depth + 1)?);
        } else if child.is_text() {
            text.push_str(child.text().unwrap_or_default());
        }
    }
    if object.is_empty() {
        return Ok(Json::String(text));
    }
    if !text.trim().is_empty() {
        object.insert("#text".to_owned(), Json::String(text.trim().to_owned()));
    }
    Ok(Json::Object(object))
}

/// The second of a name makes a list of both.
fn add(object: &mut Map<String, Json>, name: String, value: Json) {
    match object.get_mut(&name) {
        None => {
            object.insert(name, value);
        }
        Some(Json::Array(several)) => several.push(value),
        Some(one) => *one = Json::Array(vec![one.take(), value]),
    }
}

pub(super) fn write(json: &Json, root: &str) -> Result<String, String> {
    let mut text = String::new();
    match json {
        Json::Array(_) => put(&mut text, root, &serde_json::json!({ "item": json }))?,
        json => put(&mut text, root, json)?,
    }
    Ok(text)
}

/// How long a text of XML becomes by the names of its elements, which each item of a list repeats.
pub(super) fn length(json: &Json, name: usize) -> usize {
    let tags = 2 * name + 5;
    match json {
        Json::Array(items) => {
            items.iter().fold(0, |sum, item| sum.saturating_add(length(item, name)))
        }
        Json::Object(entries) => entries
            .iter()
            .fold(tags, |sum, (key, value)| sum.saturating_add(length(value, key.len()))),
        _ => tags,
    }
}

fn put(text: &mut String, name: &str, json: &Json) -> Result<(), String> {
    if let Json::Array(items) = json {
        return items.iter().try_for_each(|item| put(text, name, item));
    }
    check(name)?;
    text.push('<');
    text.push_str(name);
    match json {
        Json::Object(entries) => {
            for (key, value) in entries {
                if let Some(attribute) = key.strip_prefix('@') {
                    check(attribute)?;
                    text.push_str(&format!(" {attribute}=\"{}\"", escaped(&plain(value))));
                }
            }
            text.push('>');
            for (key, value) in entries {
                match key.as_str() {
                    "#text" => text.push_str(&escaped(&plain(value))),
                    key if key.starts_with('@') => {}
                    key => put(text, key, value)?,
                }
            }
        }
        value => {
            text.push('>');
            text.push_str(&escaped(&plain(value)));
        }
    }
    text.push_str(&format!("</{name}>"));
    Ok(())
}

fn plain(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn check(name: &str) -> Result<(), String> {
    let is_first = |c: char| c.is_alphabetic() || c == '_';
    let is_next = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    if name.starts_with(is_first) && name.chars().all(is_next) {
        return Ok(());
    }
    Err(format!(
        "`{name}` cannot be the name of an element of XML; use letters, digits, `_` and `-`"
    ))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(c),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}
