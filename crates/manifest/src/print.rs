//! Workloads as files: tidy, with defaults left out, and read back as the same.
//!
//! A field is left out when reading without it gives the same spec, so what is left out can never
//! differ from what reading fills in. Texts that another YAML reader could take for something else are
//! quoted, and braces that would make the file a template are escaped.

use hostler_model::{Bytes, Name, WorkloadSpec};
use serde_json::{Map, Value};

use crate::scalar::{Meaning, meaning};

/// Lists that fit into this many characters stay on their line.
const LINE: usize = 72;

/// A file with this one workload.
pub fn to_yaml(name: &Name, spec: &WorkloadSpec) -> String {
    let mut out = format!("name: {}\n", scalar(&Value::String(name.to_string())));
    let fields = friendly(without_defaults(spec));
    mapping(&mut out, &fields, 0);
    out
}

fn without_defaults(spec: &WorkloadSpec) -> Map<String, Value> {
    let mut whole = serde_json::to_value(spec).expect("a spec is made of what JSON has");
    let is_same = |value: &Value| {
        serde_json::from_value::<WorkloadSpec>(value.clone()).is_ok_and(|read| read == *spec)
    };
    if is_same(&whole) {
        prune(&mut whole, &mut Vec::new(), &is_same);
    }
    match whole {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

#[derive(Clone)]
enum Turn {
    Key(String),
    Item(usize),
}

fn inside<'a>(value: &'a mut Value, path: &[Turn]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, turn| match turn {
        Turn::Key(key) => value.get_mut(key),
        Turn::Item(at) => value.get_mut(at),
    })
}

/// Mappings whose keys are the user's own.
const OWN_KEYS: [&str; 3] = ["env", "params", "selector"];

fn prune(whole: &mut Value, path: &mut Vec<Turn>, is_same: &dyn Fn(&Value) -> bool) {
    let turns: Vec<Turn> = match inside(whole, path) {
        Some(Value::Object(fields)) => fields.keys().cloned().map(Turn::Key).collect(),
        Some(Value::Array(items)) if items.iter().any(Value::is_object) => {
            (0..items.len()).map(Turn::Item).collect()
        }
        _ => return,
    };
    for turn in turns {
        if let Turn::Key(key) = &turn {
            let Some(Value::Object(fields)) = inside(whole, path) else {
                return;
            };
            let before = fields.clone();
            fields.shift_remove(key);
            if is_same(whole) {
                continue;
            }
            if let Some(Value::Object(fields)) = inside(whole, path) {
                *fields = before;
            }
        }
        let is_own = matches!(&turn, Turn::Key(key) if OWN_KEYS.contains(&key.as_str()));
        if !is_own {
            path.push(turn);
            prune(whole, path, is_same);
            path.pop();
        }
    }
}

/// Sizes as people write them.
fn friendly(mut fields: Map<String, Value>) -> Map<String, Value> {
    for (below, key) in [
        ("limits", "memory"),
        ("limits", "memoryHigh"),
        ("resources", "memory"),
        ("logs", "maxBytes"),
    ] {
        let Some(value) = fields.get_mut(below).and_then(|value| value.get_mut(key)) else {
            continue;
        };
        let Some(bytes) = value.as_u64().map(Bytes::new) else {
            continue;
        };
        let text = bytes.to_string();
        if text.parse::<Bytes>() == Ok(bytes) {
            *value = Value::String(text);
        }
    }
    fields
}

fn mapping(out: &mut String, fields: &Map<String, Value>, indent: usize) {
    for (i, (key, value)) in fields.iter().enumerate() {
        if i > 0 || indent == 0 || out.ends_with('\n') {
            out.push_str(&" ".repeat(indent));
        }
        out.push_str(&scalar(&Value::String(key.clone())));
        out.push(':');
        below(out, value, indent);
    }
}

/// What comes after `key:`.
fn below(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            out.push('\n');
            mapping(out, fields, indent + 2);
        }
        Value::Array(items) if !items.is_empty() => match one_line(items, indent) {
            Some(line) => out.push_str(&format!(" {line}\n")),
            None => {
                out.push('\n');
                list(out, items, indent + 2);
            }
        },
        other => leaf(out, other, indent + 2),
    }
}

fn list(out: &mut String, items: &[Value], indent: usize) {
    for item in items {
        out.push_str(&" ".repeat(indent));
        out.push('-');
        match item {
            Value::Object(fields) if !fields.is_empty() => {
                out.push(' ');
                mapping(out, fields, indent + 2);
            }
            Value::Array(items) if !items.is_empty() => match one_line(items, indent) {
                Some(line) => out.push_str(&format!(" {line}\n")),
                None => {
                    out.push('\n');
                    list(out, items, indent + 2);
                }
            },
            other => leaf(out, other, indent + 2),
        }
    }
}

fn one_line(items: &[Value], indent: usize) -> Option<String> {
    let mut words = Vec::new();
    for item in items {
        match item {
            Value::Object(_) | Value::Array(_) => return None,
            Value::String(text) if literal(text).is_some() => return None,
            other => words.push(scalar(other)),
        }
    }
    let line = format!("[{}]", words.join(", "));
    (line.chars().count() + indent <= LINE).then_some(line)
}

fn leaf(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(text) => match literal(text) {
            Some(mark) => {
                out.push_str(&format!(" {mark}\n"));
                for line in text.lines() {
                    let margin = if line.is_empty() { 0 } else { indent };
                    out.push_str(&format!("{}{line}\n", " ".repeat(margin)));
                }
            }
            None => out.push_str(&format!(" {}\n", scalar(value))),
        },
        Value::Object(_) => out.push_str(" {}\n"),
        Value::Array(_) => out.push_str(" []\n"),
        other => out.push_str(&format!(" {}\n", scalar(other))),
    }
}

/// The mark of a block of lines, for a text that reads well as one.
fn literal(text: &str) -> Option<&'static str> {
    let is_plain_line =
        |line: &str| line.chars().all(is_printable) && line.trim_end() == line && !has_braces(line);
    let is_block = text.trim_end_matches('\n').contains('\n')
        && !text.starts_with([' ', '\n'])
        && !text.ends_with("\n\n")
        && text.split('\n').all(is_plain_line);
    is_block.then_some(if text.ends_with('\n') { "|" } else { "|-" })
}

fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
        && u32::from(c) & 0xfffe != 0xfffe
}

/// What begins a template.
fn has_braces(text: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark))
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if is_word(text) => text.clone(),
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// Whether a text needs no quotes, for any reader of YAML.
fn is_word(text: &str) -> bool {
    let is_taken = ["yes", "no", "on", "off", "y", "n", "true", "false", "null"]
        .iter()
        .any(|word| word.eq_ignore_ascii_case(text));
    let looks_like_number = text.bytes().all(|b| b.is_ascii_digit() || b"_.:+-eE".contains(&b))
        || text.starts_with("0x")
        || text.starts_with("0o");
    let inner = |c: char| c.is_ascii_alphanumeric() || "_./+=-@".contains(c);
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "_./".contains(c))
        || text.starts_with('-') && text[1..].starts_with(|c: char| c.is_ascii_alphabetic())
        || text.starts_with("--") && text[2..].starts_with(|c: char| c.is_ascii_alphabetic());
    starts_well
        && text.chars().all(inner)
        && !is_taken
        && !looks_like_number
        && meaning(text) == Meaning::Text(text)
        && ![".inf", ".nan"].iter().any(|word| word.eq_ignore_ascii_case(text))
}

fn quoted(text: &str) -> String {
    if text.chars().all(is_printable) && !text.contains('\'') && !has_braces(text) {
        return format!("'{text}'");
    }
    let mut out = "\"".to_owned();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '{' if chars.peek().is_some_and(|next| "{%#".contains(*next)) => {
                out.push_str("\\x7b");
            }
            c if is_printable(c) => out.push(c),
            c if u32::from(c) <= 0xffff => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    out + "\""
}
