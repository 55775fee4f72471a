//! `watcher`: what is to be watched on a machine from now on.
//!
//! A registration is read and checked here, and kept by the services. Its id is made of what it says, so that a task that
//! runs again registers nothing new.

use hostler_model::Span;
use mlua::{IntoLuaMulti, Lua, MultiValue, Result, Table, Value};
use serde_json::{Map, Value as Json};

use super::services::{Watcher, digest};
use super::{Described, Installer, Module, acting, services};
use crate::value::{from_json, to_json};

pub(crate) const MODULE: Module = Module {
    name: "watcher",
    about: "What is to be watched on a machine from now on; when its condition holds, an event is told. Every function of `register` takes a table with `when` (one condition or a list of them), `interval` (5s unless told otherwise) and what it is about, and gives the id of the watcher. The same watcher registered twice is one.",
    functions: FUNCTIONS,
    install,
};

const FUNCTIONS: &[Described] = &[
    Described {
        name: "register.file",
        signature: "{ file_path, when = created|changed|deleted|exists, check_hash, recursive, interval } -> id | nil, error",
        about: "A file.",
        example: "local id = watcher.register.file({ file_path = '/etc/hosts', when = { 'changed', 'deleted' }, check_hash = true })\nassert(id and id == watcher.register.file({ file_path = '/etc/hosts', when = { 'changed', 'deleted' }, check_hash = true }))\nlocal none, err = watcher.register.file({ when = { 'changed' } })\nassert(none == nil and err:find('file_path'))",
    },
    Described {
        name: "register.directory",
        signature: "{ directory_path, when = created|changed|deleted|exists, pattern, recursive, interval } -> id | nil, error",
        about: "A directory.",
        example: "assert(watcher.register.directory({ directory_path = '/tmp', when = { 'created' }, pattern = '*.txt', interval = '3s' }))",
    },
    Described {
        name: "register.process",
        signature: "{ process_name, when = created|deleted|exists, interval } -> id | nil, error",
        about: "A process by its name.",
        example: "assert(watcher.register.process({ process_name = 'nginx', when = 'deleted' }))",
    },
    Described {
        name: "register.port",
        signature: "{ port, host, when = created|deleted|exists, interval } -> id | nil, error",
        about: "A port that somebody listens on.",
        example: "assert(watcher.register.port({ port = 443, when = { 'deleted' } }))\nassert(not watcher.register.port({ port = 70000, when = { 'deleted' } }))",
    },
    Described {
        name: "register.service",
        signature: "{ service_name, when = changed|exists|deleted, interval } -> id | nil, error",
        about: "A service of the machine.",
        example: "assert(watcher.register.service({ service_name = 'ssh', when = { 'changed' } }))",
    },
    Described {
        name: "register.cpu",
        signature: "{ threshold, when = above|below, interval } -> id | nil, error",
        about: "How busy the processors are, in percent.",
        example: "assert(watcher.register.cpu({ threshold = 90, when = { 'above' }, interval = '10s' }))",
    },
    Described {
        name: "register.memory",
        signature: "{ threshold, when = above|below, interval } -> id | nil, error",
        about: "How much of the memory is used, in percent.",
        example: "assert(watcher.register.memory({ threshold = 90, when = { 'above' } }))",
    },
    Described {
        name: "register.disk",
        signature: "{ threshold, path = \"/\", when = above|below, interval } -> id | nil, error",
        about: "How full a disk is, in percent.",
        example: "assert(watcher.register.disk({ path = '/', threshold = 80, when = 'above' }))",
    },
    Described {
        name: "register.log",
        signature: "{ log_path, pattern, when = matches|contains, follow, interval } -> id | nil, error",
        about: "Lines of a file that match.",
        example: "assert(watcher.register.log({ log_path = '/var/log/app.log', pattern = 'ERROR|FATAL', when = { 'matches' } }))",
    },
    Described {
        name: "register.command",
        signature: "{ command, when = changed|above|below|matches|contains|increased|decreased, threshold, pattern, interval } -> id | nil, error",
        about: "What a command prints.",
        example: "assert(watcher.register.command({ command = 'cat /proc/loadavg', when = { 'changed' }, interval = '1m' }))",
    },
    Described {
        name: "register.custom",
        signature: "{ name, when, interval, ... } -> id | nil, error",
        about: "Anything else, for who knows how to watch it.",
        example: "assert(watcher.register.custom({ name = 'queue', when = { 'above' }, threshold = 100 }))",
    },
    Described {
        name: "list",
        signature: "() -> { { id, kind, when, interval, ... } }",
        about: "What is watched.",
        example: "local id = watcher.register.port({ port = 22, when = 'deleted' })\nlocal list = watcher.list()\nassert(#list == 1 and list[1].id == id and list[1].kind == 'port' and list[1].port == 22)",
    },
    Described {
        name: "remove",
        signature: "(id) -> boolean",
        about: "Watches something no longer; false when it was not watched.",
        example: "local id = watcher.register.port({ port = 22, when = 'deleted' })\nassert(watcher.remove(id) and not watcher.remove(id) and #watcher.list() == 0)",
    },
];

/// What a kind of watcher needs.
struct Kind {
    name: &'static str,
    /// What it is about; any of these names.
    subject: &'static [&'static str],
    conditions: &'static [&'static str],
}

const PRESENCE: &[&str] = &["created", "changed", "deleted", "exists"];
const LEVEL: &[&str] = &["above", "below"];
const EVERY: &[&str] = &[
    "changed",
    "created",
    "deleted",
    "exists",
    "above",
    "below",
    "matches",
    "contains",
    "increased",
    "decreased",
];

const KINDS: [Kind; 11] = [
    Kind { name: "file", subject: &["file_path", "path"], conditions: PRESENCE },
    Kind { name: "directory", subject: &["directory_path", "path"], conditions: PRESENCE },
    Kind { name: "process", subject: &["process_name", "name"], conditions: PRESENCE },
    Kind { name: "port", subject: &["port"], conditions: PRESENCE },
    Kind { name: "service", subject: &["service_name", "name"], conditions: PRESENCE },
    Kind { name: "cpu", subject: &["threshold"], conditions: LEVEL },
    Kind { name: "memory", subject: &["threshold"], conditions: LEVEL },
    Kind { name: "disk", subject: &["threshold"], conditions: LEVEL },
    Kind {
        name: "log",
        subject: &["log_path", "path"],
        conditions: &["matches", "contains", "changed"],
    },
    Kind { name: "command", subject: &["command"], conditions: EVERY },
    Kind { name: "custom", subject: &["name"], conditions: EVERY },
];

const INTERVAL: Span = Span::from_secs(5);
const SHORTEST: Span = Span::from_millis(100);

fn install(module: &mut Installer<'_>) -> Result<()> {
    install_register(module)?;
    module.act_async("list", |lua, ()| async move {
        match services().watcher_list().await {
            Ok(watchers) => {
                let list = lua.create_table()?;
                for (at, watcher) in watchers.iter().enumerate() {
                    list.raw_set(at + 1, shown(&lua, watcher)?)?;
                }
                list.into_lua_multi(&lua)
            }
            Err(error) => (Value::Nil, error.to_string()).into_lua_multi(&lua),
        }
    })?;
    module.act_async("remove", |lua, id: String| async move {
        match services().watcher_remove(&id).await {
            Ok(answer) => answer.into_lua_multi(&lua),
            Err(error) => (false, error.to_string()).into_lua_multi(&lua),
        }
    })
}

/// Puts the table `register` into a module.
pub(super) fn install_register(module: &mut Installer<'_>) -> Result<()> {
    let register = module.lua.create_table()?;
    let mut inner =
        Installer { lua: module.lua, table: register.clone(), module: "watcher.register" };
    for kind in &KINDS {
        inner.act_async(kind.name, move |lua, settings: Table| async move {
            let watcher = match read(kind, &settings) {
                Ok(watcher) => watcher,
                Err(problem) => {
                    let told = format!("watcher.register.{}: {problem}", kind.name);
                    return (Value::Nil, told).into_lua_multi(&lua);
                }
            };
            register_one(&lua, watcher).await
        })?;
    }
    module.table.raw_set("register", register)
}

async fn register_one(lua: &Lua, watcher: Watcher) -> Result<MultiValue> {
    let id = watcher.id.clone();
    match services().watcher_register(watcher).await {
        Ok(()) => id.into_lua_multi(lua),
        Err(error) => (Value::Nil, error.to_string()).into_lua_multi(lua),
    }
}

fn shown(lua: &Lua, watcher: &Watcher) -> Result<Table> {
    let table = match from_json(lua, &Json::Object(watcher.settings.clone()))? {
        Value::Table(table) => table,
        _ => lua.create_table()?,
    };
    table.set("id", watcher.id.as_str())?;
    table.set("kind", watcher.kind.as_str())?;
    table.set("when", watcher.when.clone())?;
    table.set("interval", watcher.interval.to_string())?;
    Ok(table)
}

/// What a table asks for, or what is wrong with it.
fn read(kind: &Kind, given: &Table) -> std::result::Result<Watcher, String> {
    let get = |name: &str| given.get::<Value>(name).unwrap_or(Value::Nil);
    let interval = crate::define::span_of(&get("interval"))?.unwrap_or(INTERVAL).max(SHORTEST);
    let when = conditions(kind, &get("when"))?;
    let mut settings =
        match to_json(&Value::Table(given.clone())).map_err(|error| error.to_string())? {
            Json::Object(settings) => settings,
            _ => Map::new(),
        };
    settings.retain(|name, _| !matches!(name.as_str(), "when" | "interval"));
    let subject = kind.subject[0];
    let value = kind.subject.iter().find_map(|name| settings.remove(*name));
    let Some(value) = value.filter(|value| *value != Json::String(String::new())) else {
        return Err(format!("it needs `{subject}`"));
    };
    let value = match (subject, value) {
        ("file_path" | "directory_path" | "log_path", Json::String(path)) => {
            Json::String(acting().path(&path).to_string_lossy().into_owned())
        }
        ("port", value) => match value.as_u64() {
            Some(port) if (1..=65535).contains(&port) => value,
            _ => return Err("`port` is a number from 1 to 65535".to_owned()),
        },
        ("threshold", value) if !value.is_number() => {
            return Err("`threshold` is a number of percent".to_owned());
        }
        (_, Json::Array(_) | Json::Object(_) | Json::Bool(_)) => {
            return Err(format!("`{subject}` is a text"));
        }
        (_, value) => value,
    };
    settings.insert(subject.to_owned(), value);
    let has = |name: &str| settings.contains_key(name);
    if when.iter().any(|word| word == "matches" || word == "contains") && !has("pattern") {
        return Err("it needs `pattern`".to_owned());
    }
    if when.iter().any(|word| word == "above" || word == "below") && !has("threshold") {
        return Err("it needs `threshold`".to_owned());
    }
    settings.sort_keys();
    let id = id_of(kind.name, &when, interval, &settings);
    Ok(Watcher { id, kind: kind.name.to_owned(), when, interval, settings })
}

fn conditions(kind: &Kind, given: &Value) -> std::result::Result<Vec<String>, String> {
    let words: Vec<String> = match to_json(given).map_err(|error| error.to_string())? {
        Json::String(word) => vec![word],
        Json::Array(words) => {
            words.iter().map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
        }
        _ => Vec::new(),
    };
    let known = kind.conditions.join(", ");
    if words.is_empty() {
        return Err(format!("it needs `when`: one or several of {known}"));
    }
    match words.iter().find(|word| !kind.conditions.contains(&word.as_str())) {
        Some(word) => Err(format!("`when` knows {known} here, not `{word}`")),
        None => Ok(words),
    }
}

/// A UUID made of what a watcher says.
fn id_of(kind: &str, when: &[String], interval: Span, settings: &Map<String, Json>) -> String {
    let said = Json::Object(settings.clone()).to_string();
    let hex = digest(&[kind, &when.join(","), &interval.to_string(), &said]);
    let bits = u128::from_str_radix(&hex[..32], 16).unwrap_or_default();
    uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid().to_string()
}
