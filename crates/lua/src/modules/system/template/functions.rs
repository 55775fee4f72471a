//! What a template computes.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde_json::Value as Json;

/// A value inside a value.
pub(super) fn at(value: &Json, path: &[String]) -> Option<Json> {
    let mut found = value;
    for part in path {
        found = found.get(part)?;
    }
    Some(found).filter(|found| !found.is_null()).cloned()
}

/// A value as it stands in the text.
pub(super) fn shown(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(items) => {
            format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(" "))
        }
        Json::Object(entries) => {
            let entries: BTreeMap<_, _> = entries.iter().collect();
            let entries = entries.iter().map(|(name, value)| format!("{name}:{}", shown(value)));
            format!("map[{}]", entries.collect::<Vec<_>>().join(" "))
        }
        other => other.to_string(),
    }
}

/// Everything is, but nothing, no, zero and what is empty.
pub(super) fn is_true(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::Bool(answer) => *answer,
        Json::Number(number) => number.as_f64() != Some(0.0),
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(entries) => !entries.is_empty(),
    }
}

/// What a `range` goes over: a list, or the values of names in their order.
pub(super) fn items(value: Option<&Json>, text: &str) -> Result<Vec<(Json, Json)>, String> {
    match value {
        None | Some(Json::Null) => Ok(Vec::new()),
        Some(Json::Array(items)) => {
            Ok(items.iter().enumerate().map(|(at, item)| (at.into(), item.clone())).collect())
        }
        Some(Json::Object(entries)) => {
            let entries: BTreeMap<_, _> = entries.iter().collect();
            Ok(entries
                .into_iter()
                .map(|(name, item)| (name.as_str().into(), item.clone()))
                .collect())
        }
        Some(_) => Err(format!("`{text}` is no list")),
    }
}

fn order(a: &Json, b: &Json) -> Option<Ordering> {
    match (a, b) {
        (Json::String(a), Json::String(b)) => Some(a.cmp(b)),
        (Json::Number(a), Json::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        (a, b) => (a == b).then_some(Ordering::Equal),
    }
}

pub(super) fn call(name: &str, values: Vec<Option<Json>>) -> Result<Json, String> {
    let is_asked = |value: &Option<Json>| value.as_ref().is_some_and(is_true);
    match (name, values.as_slice()) {
        ("default", [other, value]) => {
            let chosen = if is_asked(value) { value } else { other };
            return chosen.clone().ok_or_else(|| "`default` needs a value".to_owned());
        }
        ("not", [value]) => return Ok(Json::Bool(!is_asked(value))),
        ("and", [_, ..]) => {
            let chosen = values.iter().find(|value| !is_asked(value)).or(values.last());
            return Ok(chosen.cloned().flatten().unwrap_or(Json::Null));
        }
        ("or", [_, ..]) => {
            let chosen = values.iter().find(|value| is_asked(value)).or(values.last());
            return Ok(chosen.cloned().flatten().unwrap_or(Json::Null));
        }
        _ => {}
    }
    let values: Option<Vec<Json>> = values.into_iter().collect();
    let values = values.ok_or_else(|| format!("`{name}` is given something that has no value"))?;
    let text = |value: &Json| Json::String(shown(value));
    Ok(match (name, values.as_slice()) {
        ("upper", [value]) => shown(value).to_uppercase().into(),
        ("lower", [value]) => shown(value).to_lowercase().into(),
        ("title", [value]) => titled(&shown(value)).into(),
        ("trim", [value]) => shown(value).trim().into(),
        ("quote", [value]) => quoted(&shown(value)).into(),
        ("squote", [value]) => format!("'{}'", shown(value)).into(),
        ("replace", [old, new, value]) => shown(value).replace(&shown(old), &shown(new)).into(),
        ("contains", [part, value]) => shown(value).contains(&shown(part)).into(),
        ("join", [Json::Array(items), between]) | ("join", [between, Json::Array(items)]) => {
            items.iter().map(shown).collect::<Vec<_>>().join(&shown(between)).into()
        }
        ("indent", [Json::Number(by), value]) => {
            let space =
                " ".repeat(usize::try_from(by.as_u64().unwrap_or(0)).unwrap_or(0).min(1000));
            let lines = shown(value);
            let lines = lines.split('\n').map(|line| format!("{space}{line}"));
            lines.collect::<Vec<_>>().join("\n").into()
        }
        ("toJson", [value]) => value.to_string().into(),
        ("len", [Json::Array(items)]) => items.len().into(),
        ("len", [Json::Object(entries)]) => entries.len().into(),
        ("len", [Json::String(text)]) => text.len().into(),
        ("index", [value, keys @ ..]) => {
            let mut found = value;
            for key in keys {
                let inner = match key {
                    Json::Number(at) => {
                        at.as_u64().and_then(|at| found.get(usize::try_from(at).ok()?))
                    }
                    key => found.get(shown(key)),
                };
                found = inner.ok_or_else(|| format!("`index` finds nothing at {}", shown(key)))?;
            }
            found.clone()
        }
        ("print", values) => values.iter().map(shown).collect::<String>().into(),
        ("printf", [format, values @ ..]) => printf(&shown(format), values)?.into(),
        ("eq", [first, others @ ..]) => {
            others.iter().any(|other| order(first, other) == Some(Ordering::Equal)).into()
        }
        ("ne", [a, b]) => (order(a, b) != Some(Ordering::Equal)).into(),
        ("lt", [a, b]) => (order(a, b) == Some(Ordering::Less)).into(),
        ("gt", [a, b]) => (order(a, b) == Some(Ordering::Greater)).into(),
        ("le", [a, b]) => matches!(order(a, b), Some(Ordering::Less | Ordering::Equal)).into(),
        ("ge", [a, b]) => matches!(order(a, b), Some(Ordering::Greater | Ordering::Equal)).into(),
        ("toString", [value]) => text(value),
        (name, _) if KNOWN.contains(&name) => {
            return Err(format!("`{name}` cannot be used with what it is given"));
        }
        (name, _) => {
            return Err(format!("there is no function `{name}`; write `.{name}` for a value"));
        }
    })
}

const KNOWN: [&str; 24] = [
    "default", "not", "and", "or", "upper", "lower", "title", "trim", "quote", "squote", "replace",
    "contains", "join", "indent", "toJson", "len", "index", "printf", "ne", "lt", "gt", "le", "ge",
    "toString",
];

fn titled(text: &str) -> String {
    let mut is_first = true;
    let letters = text.chars().flat_map(|c| {
        let made = if is_first { c.to_uppercase().collect::<Vec<_>>() } else { vec![c] };
        is_first = !c.is_alphanumeric();
        made
    });
    letters.collect()
}

fn quoted(text: &str) -> String {
    Json::String(text.to_owned()).to_string()
}

fn printf(format: &str, values: &[Json]) -> Result<String, String> {
    let mut made = String::new();
    let mut values = values.iter();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            made.push(c);
            continue;
        }
        let verb = chars.next().ok_or("`printf` ends with a `%`")?;
        if verb == '%' {
            made.push('%');
            continue;
        }
        let value = values.next().ok_or("`printf` has more `%` than values")?;
        match verb {
            's' | 'd' | 'v' => made.push_str(&shown(value)),
            'q' => made.push_str(&quoted(&shown(value))),
            other => return Err(format!("`printf` knows %s, %d, %v, %q and %%, not %{other}")),
        }
    }
    Ok(made)
}
