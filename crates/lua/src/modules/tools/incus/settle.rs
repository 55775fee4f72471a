//! Making things of Incus be there, with their settings: made where they are not, brought to what is wanted where
//! they are.

use std::collections::BTreeMap;

use mlua::{Lua, Result, Table, Value};
use serde_json::Value as Json;

use super::super::super::acting;
use super::super::tool::settled;
use super::super::usage::word;
use super::{Made, change, named, query};
use crate::value::to_json;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Instance,
    Network,
    Profile,
    Storage,
}

impl Kind {
    pub fn of(name: &str) -> Kind {
        match name {
            "network" => Kind::Network,
            "profile" => Kind::Profile,
            "storage" => Kind::Storage,
            _ => Kind::Instance,
        }
    }

    fn path(self) -> &'static str {
        match self {
            Kind::Instance => "instances",
            Kind::Network => "networks",
            Kind::Profile => "profiles",
            Kind::Storage => "storage-pools",
        }
    }

    /// The words before `set` and `device`.
    fn noun(self) -> &'static str {
        match self {
            Kind::Instance => "config",
            Kind::Network => "network",
            Kind::Profile => "profile",
            Kind::Storage => "storage",
        }
    }
}

type Settings = BTreeMap<String, String>;

/// Settings of an object, in a field of it.
pub(super) fn settings(object: &Table, field: &str) -> Result<Settings> {
    let mut all = Settings::new();
    if let Value::Table(table) = object.raw_get(field)? {
        table.for_each(|key: Value, value: Value| {
            all.insert(word(&key)?, word(&value)?);
            Ok(())
        })?;
    }
    Ok(all)
}

/// Devices of an object by name.
fn devices(object: &Table) -> Result<BTreeMap<String, Settings>> {
    let mut all = BTreeMap::new();
    if let Value::Table(table) = object.raw_get("devices")? {
        table.for_each(|name: String, device: Table| {
            let mut settings = Settings::new();
            device.for_each(|key: Value, value: Value| {
                settings.insert(word(&key)?, word(&value)?);
                Ok(())
            })?;
            all.insert(name, settings);
            Ok(())
        })?;
    }
    Ok(all)
}

/// Makes it be there.
pub(super) async fn create(
    lua: &Lua,
    kind: Kind,
    object: &Table,
    is_started: bool,
) -> Result<Made> {
    let name = named(object)?;
    let there = match query(&format!("/1.0/{}/{name}", kind.path())).await {
        Ok(there) => there,
        Err(why) => return Ok(Err(why)),
    };
    let made = match there {
        Some(there) => adjust(lua, kind, object, &there, is_started).await?,
        None => make(lua, kind, object, is_started).await?,
    };
    if made.is_ok() && !acting().check {
        object.raw_set("created", true)?;
    }
    Ok(made)
}

async fn make(lua: &Lua, kind: Kind, object: &Table, is_started: bool) -> Result<Made> {
    let name = named(object)?;
    let config = settings(object, "config")?;
    let text = |field: &str| object.raw_get::<Option<String>>(field);
    let mut words: Vec<String> = Vec::new();
    let pairs = |words: &mut Vec<String>| {
        words.extend(config.iter().map(|(key, value)| format!("{key}={value}")));
    };
    match kind {
        Kind::Instance => {
            let Some(image) = text("image")? else {
                return Ok(Err(format!(
                    "{name} is not there, and no image says what to make it of"
                )));
            };
            words.extend([if is_started { "launch" } else { "init" }.to_owned(), image, name]);
            if text("type")?.is_some_and(|kind| kind.starts_with('v')) {
                words.push("--vm".to_owned());
            }
            if object.raw_get::<Option<bool>>("ephemeral")? == Some(true) {
                words.push("--ephemeral".to_owned());
            }
            if let Value::Table(profiles) = object.raw_get("profiles")? {
                for profile in profiles.sequence_values::<Value>() {
                    words.extend(["--profile".to_owned(), word(&profile?)?]);
                }
            }
            for (key, value) in &config {
                words.extend(["--config".to_owned(), format!("{key}={value}")]);
            }
            for (device, settings) in devices(object)? {
                for (key, value) in settings {
                    words.extend(["--device".to_owned(), format!("{device},{key}={value}")]);
                }
            }
            return change(lua, words).await;
        }
        Kind::Network => {
            words.extend(["network".to_owned(), "create".to_owned(), name]);
            pairs(&mut words);
            if let Some(of) = text("type")? {
                words.extend(["--type".to_owned(), of]);
            }
        }
        Kind::Storage => {
            let driver = text("driver")?.unwrap_or_else(|| "dir".to_owned());
            words.extend(["storage".to_owned(), "create".to_owned(), name, driver]);
            pairs(&mut words);
        }
        Kind::Profile => words.extend(["profile".to_owned(), "create".to_owned(), name]),
    }
    if let Some(about) = text("description")? {
        words.extend(["--description".to_owned(), about]);
    }
    let made = change(lua, words).await?;
    match &made {
        Ok(table) if kind == Kind::Profile && !table.contains_key("error")? => {
            let made = adjust(lua, kind, object, &Json::Null, false).await?;
            if let Ok(table) = &made {
                table.raw_set("changed", true)?;
            }
            Ok(made)
        }
        _ => Ok(made),
    }
}

/// Brings what is there to what is wanted.
async fn adjust(
    lua: &Lua,
    kind: Kind,
    object: &Table,
    there: &Json,
    is_started: bool,
) -> Result<Made> {
    let name = named(object)?;
    let mut changes: Vec<Vec<String>> = Vec::new();
    let now = |field: &str, key: &str| there.get(field)?.get(key);
    let different: Vec<String> = settings(object, "config")?
        .into_iter()
        .filter(|(key, value)| now("config", key).and_then(Json::as_str) != Some(value))
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if !different.is_empty() {
        let mut words = vec![kind.noun().to_owned(), "set".to_owned(), name.clone()];
        words.extend(different);
        changes.push(words);
    }
    if matches!(kind, Kind::Instance | Kind::Profile) {
        for (device, wanted) in devices(object)? {
            changes.extend(device_words(kind, &name, &device, &wanted, now("devices", &device)));
        }
    }
    let is_running = there.get("status").and_then(Json::as_str) == Some("Running");
    if is_started && !is_running {
        changes.push(vec!["start".to_owned(), name.clone()]);
    }
    let mut last = settled(lua, false, &format!("{name} is as it should be"))?;
    for words in changes {
        match change(lua, words).await? {
            Ok(table) if !table.contains_key("error")? => last = table,
            failed => return Ok(failed),
        }
    }
    Ok(Ok(last))
}

/// What makes a device be as wanted; nothing where it is.
pub(super) fn device_words(
    kind: Kind,
    name: &str,
    device: &str,
    wanted: &Settings,
    there: Option<&Json>,
) -> Option<Vec<String>> {
    let value = |key: &str| there.and_then(|there| there.get(key)).and_then(Json::as_str);
    let different: Vec<String> = wanted
        .iter()
        .filter(|(key, wanted)| value(key) != Some(wanted.as_str()))
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if different.is_empty() {
        return None;
    }
    let mut words: Vec<String> = vec![kind.noun().to_owned(), "device".to_owned()];
    if there.is_some() {
        words.extend(["set".to_owned(), name.to_owned(), device.to_owned()]);
        words.extend(different);
    } else {
        let of = wanted.get("type").cloned().unwrap_or_else(|| "disk".to_owned());
        words.extend(["add".to_owned(), name.to_owned(), device.to_owned(), of]);
        words.extend(different.into_iter().filter(|pair| !pair.starts_with("type=")));
    }
    Some(words)
}

/// A table of settings as it is given to a method.
pub(super) fn given(table: &Table) -> Json {
    to_json(&Value::Table(table.clone())).unwrap_or_default()
}

/// Makes one device of an instance that is there be so.
pub(super) async fn device(lua: &Lua, name: &str, device: &str, wanted: &Json) -> Result<Made> {
    let there = match query(&format!("/1.0/instances/{name}")).await {
        Ok(Some(there)) => there,
        Ok(None) => return Ok(Err(format!("there is no instance {name}"))),
        Err(why) => return Ok(Err(why)),
    };
    let wanted: Settings = wanted
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| {
            (key.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        })
        .collect();
    let now = there.get("devices").and_then(|devices| devices.get(device));
    match device_words(Kind::Instance, name, device, &wanted, now) {
        Some(words) => change(lua, words).await,
        None => Ok(Ok(settled(lua, false, &format!("{device} of {name} is as it should be"))?)),
    }
}
