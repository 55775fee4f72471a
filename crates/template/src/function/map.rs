//! Functions over maps.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::python;
use super::{Context, Expr, ResolveError};

/// `map_merge`: the later one wins, and nothing is merged within.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapMerge(pub Expr);

impl MapMerge {
    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let Value::Array(maps) = self.0.value(context)? else {
            let example = "[ { \"key1\": \"val1\" }, { \"key2\": \"val2\" } ]";
            return Err(incorrect(name, example));
        };
        let mut merged = Map::new();
        for map in maps {
            match map {
                Value::Null => {}
                Value::Object(map) => merged.extend(map),
                other => {
                    let (shown, found) = (python::repr_short(&other), python::type_name(&other));
                    return Err(ResolveError::wrong(format!(
                        "Incorrect arguments: Items to merge must be maps. \
                         {shown} is type <class '{found}'> instead of a dict"
                    )));
                }
            }
        }
        Ok(Value::Object(merged))
    }
}

fn incorrect(name: &str, example: &str) -> ResolveError {
    ResolveError::wrong(format!(
        "Incorrect arguments to \"{name}\" should be: \"{name}\" : {example}"
    ))
}

/// `map_replace`: other keys, other values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapReplace(pub Expr);

const REPLACE_EXAMPLE: &str = "[ { \"key1\": \"val1\" }, \
     {\"keys\": {\"key1\": \"key2\"}, \"values\": {\"val1\": \"val2\"}}]";

impl MapReplace {
    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let parts: Option<[Value; 2]> = match self.0.value(context)? {
            Value::Array(items) => items.try_into().ok(),
            _ => None,
        };
        let [map, replacement] = parts.ok_or_else(|| incorrect(name, REPLACE_EXAMPLE))?;
        let map = as_map(name, map)?;
        let mut replacement = as_map(name, replacement)?;
        if replacement.keys().any(|key| key != "keys" && key != "values") {
            return Err(incorrect(name, REPLACE_EXAMPLE));
        }
        let keys = as_map(name, replacement.remove("keys").unwrap_or_default())?;
        let values = as_map(name, replacement.remove("values").unwrap_or_default())?;
        let mut replaced = Map::new();
        for (key, value) in &map {
            let new_key = match keys.get(key) {
                None | Some(Value::Null) => key.clone(),
                Some(Value::Array(_) | Value::Object(_)) => {
                    return Err(incorrect(name, REPLACE_EXAMPLE));
                }
                Some(Value::String(new)) => new.clone(),
                Some(new) => python::json(new, false),
            };
            if new_key != *key || keys.get(key).is_some_and(Value::is_string) {
                let collides = |with: &str| {
                    let message = format!("key replacement {new_key} collides with a key in the");
                    ResolveError::wrong(format!("{message} {with} map"))
                };
                if map.contains_key(&new_key) && new_key != *key {
                    return Err(collides("input"));
                }
                if replaced.contains_key(&new_key) {
                    return Err(collides("output"));
                }
            }
            let new_value = value.as_str().and_then(|text| values.get(text)).unwrap_or(value);
            context.meter.take(new_value)?;
            replaced.insert(new_key, new_value.clone());
        }
        Ok(Value::Object(replaced))
    }
}

fn as_map(name: &str, value: Value) -> Result<Map<String, Value>, ResolveError> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(map) => Ok(map),
        _ => Err(ResolveError::wrong(format!(
            "Incorrect arguments: to \"{name}\", arguments must be a list of maps. \
             Example:  \"{name}\" : {REPLACE_EXAMPLE}"
        ))),
    }
}

/// `Fn::MemberListToMap`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MemberList {
    key_name: String,
    value_name: String,
    pub list: Expr,
}

impl MemberList {
    pub fn read(name: &str, arguments: Expr) -> Result<MemberList, String> {
        let parts: Option<[Expr; 3]> =
            arguments.into_items().ok().and_then(|items| items.try_into().ok());
        let Some([key_name, value_name, list]) = parts else {
            return Err(format!(
                "Wrong Arguments try: \"{{'{name}': ['Name', 'Value', \
                 ['.member.0.Name=key', '.member.0.Value=door']]}}\""
            ));
        };
        let Some(key_name) = key_name.as_text().map(str::to_owned) else {
            return Err(format!("{name} Key Name must be a string"));
        };
        let Some(value_name) = value_name.as_text().map(str::to_owned) else {
            return Err(format!("{name} Value Name must be a string"));
        };
        Ok(MemberList { key_name, value_name, list })
    }

    pub fn resolve(&self, context: &Context<'_>) -> Result<Value, ResolveError> {
        let Value::Array(items) = self.list.value(context)? else {
            return Err(ResolveError::wrong("Member list must be a list"));
        };
        let mut members: BTreeMap<u64, BTreeMap<String, String>> = BTreeMap::new();
        for item in &items {
            let Some(text) = item.as_str() else {
                return Err(ResolveError::wrong("Member list items must be strings"));
            };
            let Some((place, value)) = text.split_once('=') else {
                let message =
                    format!("Member list items must be of the form key=value, not {text}");
                return Err(ResolveError::wrong(message));
            };
            if let Some((number, key)) = member(place) {
                members.entry(number).or_default().insert(key.to_owned(), value.to_owned());
            }
        }
        let mut map = Map::new();
        for mut member in members.into_values() {
            let key = member.get(&self.key_name).cloned();
            if let (Some(key), Some(value)) = (key, member.remove(&self.value_name)) {
                map.insert(key, Value::String(value));
            }
        }
        Ok(Value::Object(map))
    }
}

/// `.member.NUMBER.KEY`
fn member(place: &str) -> Option<(u64, &str)> {
    let (number, key) = place.strip_prefix(".member.")?.split_once('.')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((number.parse().ok().filter(|_| is_number)?, key))
}
