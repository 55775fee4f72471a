//! `event`: telling that something happened.

use std::os::unix::fs::PermissionsExt;

use mlua::{IntoLuaMulti, Lua, MultiValue, Result, Value};
use serde_json::{Value as Json, json};

use super::{Described, Installer, Module, acting, services, watcher};
use crate::value::to_json;

pub(crate) const MODULE: Module = Module {
    name: "event",
    about: "Telling that something happened: whoever has a hook for that type of event is called. `event.register` is the same as `watcher.register`.",
    functions: &[
        Described {
            name: "dispatch",
            signature: "(type[, data]) -> true, id | false, error",
            about: "Tells that something happened. The type is words of letters, digits, `_` and `-` with dots between.",
            example: "assert(event.dispatch('deploy.started', { version = '1.2' }))\nlocal ok, err = event.dispatch('not a type')\nassert(not ok and err:find('type'))",
        },
        Described {
            name: "dispatch_custom",
            signature: "(name, message) -> true, id | false, error",
            about: "Tells an event of the type `custom` with a name and a message, which can be a text or a table.",
            example: "assert(event.dispatch_custom('notify_team', 'deployed'))",
        },
        Described {
            name: "dispatch_file",
            signature: "(type, path[, watcher]) -> true, id | false, error",
            about: "Tells what happened to a file: `file.created`, `file.modified`, `file.deleted` or `file.renamed`.",
            example: "assert(event.dispatch_file('file.created', 'a.txt'))\nassert(not event.dispatch_file('file.eaten', 'a.txt'))",
        },
    ],
    install,
};

const OF_FILES: [&str; 4] = ["file.created", "file.modified", "file.deleted", "file.renamed"];

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("dispatch", |lua, (kind, data): (String, Value)| async move {
        let data = if data.is_nil() { json!({}) } else { to_json(&data)? };
        dispatch(&lua, &kind, data).await
    })?;
    module.act_async("dispatch_custom", |lua, (name, message): (String, Value)| async move {
        dispatch(&lua, "custom", json!({ "name": name, "message": to_json(&message)? })).await
    })?;
    module.act_async(
        "dispatch_file",
        |lua, (kind, path, watcher): (String, String, Option<String>)| async move {
            if !OF_FILES.contains(&kind.as_str()) {
                let told =
                    format!("`{kind}` is no event of a file; use one of {}", OF_FILES.join(", "));
                return (false, told).into_lua_multi(&lua);
            }
            dispatch(&lua, &kind, file(&kind, &path, watcher).await).await
        },
    )?;
    watcher::install_register(module)
}

async fn dispatch(lua: &Lua, kind: &str, data: Json) -> Result<MultiValue> {
    if !is_type(kind) {
        let told = format!("`{kind}` is no type of an event; write it like deploy.started");
        return (false, told).into_lua_multi(lua);
    }
    match services().event_dispatch(kind, data).await {
        Ok(id) => (true, id).into_lua_multi(lua),
        Err(error) => (false, error.to_string()).into_lua_multi(lua),
    }
}

fn is_type(kind: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    kind.len() <= 128 && kind.split('.').all(is_word)
}

async fn file(kind: &str, path: &str, watcher: Option<String>) -> Json {
    let path = acting().path(path);
    let operation = kind.trim_start_matches("file.");
    let mut file = json!({ "path": path.to_string_lossy(), "operation": operation });
    if let Ok(found) = tokio::fs::metadata(&path).await {
        file["size"] = found.len().into();
        file["mode"] = format!("{:04o}", found.permissions().mode() & 0o7777).into();
    }
    match watcher {
        Some(watcher) => json!({ "file": file, "watcher": watcher }),
        None => json!({ "file": file }),
    }
}
