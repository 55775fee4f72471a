//! JSON, YAML and TOML, each by way of JSON.

use serde_json::{Map, Number, Value as Json};

#[derive(Clone, Copy, Debug)]
pub(super) enum Format {
    Json,
    PrettyJson,
    Yaml,
    Toml,
}

impl Format {
    pub fn read(self, text: &[u8]) -> Result<Json, String> {
        let utf8 = || std::str::from_utf8(text).map_err(|error| format!("it is no UTF-8: {error}"));
        match self {
            Format::Json | Format::PrettyJson => {
                serde_json::from_slice(text).map_err(|error| format!("it is no JSON: {error}"))
            }
            Format::Yaml => serde_saphyr::from_str::<Option<Json>>(utf8()?)
                .map(|json| json.unwrap_or(Json::Null))
                .map_err(|error| format!("it is no YAML: {error}")),
            Format::Toml => utf8()?
                .parse::<toml::Table>()
                .map(|table| from_toml(toml::Value::Table(table)))
                .map_err(|error| format!("it is no TOML: {error}")),
        }
    }

    /// How many values a text has at most.
    pub fn most(self, text: &[u8]) -> usize {
        let signs: &[u8] = match self {
            Format::Json | Format::PrettyJson => b",[{:",
            Format::Yaml => b",[{:\n?-",
            Format::Toml => b",[{=\n.",
        };
        1 + text.iter().filter(|byte| signs.contains(byte)).count()
    }

    /// How many bytes a value takes at most that no walk through it has seen: TOML says the way to each of its tables.
    pub fn more(self, json: &Json) -> usize {
        match self {
            Format::Toml => paths(json, 0),
            _ => 0,
        }
    }

    pub fn write(self, json: &Json) -> Result<String, String> {
        match self {
            Format::Json => Ok(json.to_string()),
            Format::PrettyJson => {
                serde_json::to_string_pretty(json).map_err(|error| error.to_string())
            }
            Format::Yaml => serde_saphyr::to_string(json).map_err(|error| error.to_string()),
            Format::Toml => match to_toml(json) {
                Some(toml::Value::Table(table)) => {
                    toml::to_string(&table).map_err(|error| error.to_string())
                }
                _ => Err("TOML is a table with names; put the value below one".to_owned()),
            },
        }
    }
}

/// How long the ways to all tables are together.
fn paths(json: &Json, above: usize) -> usize {
    match json {
        Json::Array(items) => {
            items.iter().fold(0, |sum, item| sum.saturating_add(paths(item, above)))
        }
        Json::Object(entries) => entries.iter().fold(above, |sum, (name, value)| {
            sum.saturating_add(paths(value, above + 6 * name.len() + 4))
        }),
        _ => 0,
    }
}

/// Every document of a YAML text.
pub(super) fn documents(text: &[u8]) -> Result<Json, String> {
    let text = std::str::from_utf8(text).map_err(|error| format!("it is no UTF-8: {error}"))?;
    serde_saphyr::from_multiple::<Json>(text)
        .map(Json::Array)
        .map_err(|error| format!("it is no YAML: {error}"))
}

fn from_toml(value: toml::Value) -> Json {
    match value {
        toml::Value::String(text) => Json::String(text),
        toml::Value::Integer(n) => Json::Number(n.into()),
        toml::Value::Float(n) => Number::from_f64(n).map_or(Json::Null, Json::Number),
        toml::Value::Boolean(b) => Json::Bool(b),
        toml::Value::Datetime(when) => Json::String(when.to_string()),
        toml::Value::Array(items) => Json::Array(items.into_iter().map(from_toml).collect()),
        toml::Value::Table(table) => Json::Object(
            table.into_iter().map(|(name, value)| (name, from_toml(value))).collect::<Map<_, _>>(),
        ),
    }
}

fn to_toml(json: &Json) -> Option<toml::Value> {
    Some(match json {
        Json::Null => return None,
        Json::Bool(b) => toml::Value::Boolean(*b),
        Json::Number(n) => match n.as_i64() {
            Some(n) => toml::Value::Integer(n),
            None => toml::Value::Float(n.as_f64()?),
        },
        Json::String(text) => toml::Value::String(text.clone()),
        Json::Array(items) => toml::Value::Array(items.iter().filter_map(to_toml).collect()),
        Json::Object(entries) => toml::Value::Table(
            entries
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), to_toml(value)?)))
                .collect(),
        ),
    })
}
