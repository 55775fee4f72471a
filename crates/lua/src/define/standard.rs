//! What programs of Lua look for and find changed here: `load`, `print`, `tonumber`, and stand-ins for what would reach
//! out of the language (`package`, `debug`, `collectgarbage`), which only let a file go on that mentions them.

use mlua::chunk::ChunkMode;
use mlua::{Function, Lua, MultiValue, Result, Table, Value, Variadic};

use crate::budget::Budget;
use crate::missing;
use crate::modules;
use crate::stage::{Scene, Stage, caller, is_unknown};
use crate::value::{text, words};

/// The longest text that `load` takes: a program takes many times its length.
const LONGEST: usize = 1 << 20;

/// What is rarely asked for is only there for texts that do.
pub(super) fn install(lua: &Lua, texts: &str) -> Result<()> {
    let globals = lua.globals();
    let load = lua.create_function(load)?;
    globals.set("load", &load)?;
    globals.set("loadstring", load)?;
    globals.set(
        "print",
        lua.create_function(|lua, values: Variadic<Value>| {
            if Scene::of(lua).stage.get() == Stage::Acting {
                modules::acting().say(&joined(&values, "\t")?);
            }
            Ok(())
        })?,
    )?;
    let number: Function = globals.get("tonumber")?;
    globals.set(
        "tonumber",
        lua.create_function(move |lua, args: MultiValue| match args.front() {
            Some(value @ Value::Table(_)) if is_unknown(lua, value) => Ok(value.clone()),
            _ => number.call::<Value>(args),
        })?,
    )?;
    if texts.contains("collectgarbage") {
        globals.set("collectgarbage", lua.create_function(|_, _: MultiValue| Ok(0))?)?;
    }
    if texts.contains("debug") {
        globals.set("debug", debug(lua)?)?;
    }
    missing::watch_module(lua, &globals.get::<Table>("string")?, "string")?;
    let others = ["table.", "coroutine.", "utf8.", "bit32.", "buffer."];
    for name in
        others.iter().filter(|name| texts.contains(*name)).map(|name| &name[..name.len() - 1])
    {
        missing::watch_module(lua, &globals.get::<Table>(name)?, name)?;
    }
    Ok(())
}

/// `package`: what is put there has no effect. It belongs to the file.
pub(super) fn package(lua: &Lua, texts: &str) -> Result<Option<Table>> {
    if !texts.contains("package") {
        return Ok(None);
    }
    let package = lua.create_table()?;
    for name in ["path", "cpath"] {
        package.set(name, "")?;
    }
    for name in ["loaded", "preload"] {
        package.set(name, lua.create_table()?)?;
    }
    package.set("config", "/\n;\n?\n!\n-\n")?;
    lua.globals().set("package", &package)?;
    Ok(Some(package))
}

/// Values as one text.
pub(super) fn joined(values: &[Value], between: &str) -> Result<String> {
    let budget = Budget::default();
    let all = values.iter().map(|value| budget.words(value)).collect::<Result<Vec<_>>>()?;
    Ok(all.join(between))
}

fn load(lua: &Lua, (chunk, name): (Value, Option<String>)) -> Result<(Value, Option<String>)> {
    let source = match chunk {
        Value::String(source) if source.as_bytes().len() > LONGEST => {
            return Ok((Value::Nil, Some("a text of more than 1 MiB cannot be loaded".to_owned())));
        }
        Value::String(source) => text(&source),
        _ => return Ok((Value::Nil, Some("only text can be loaded".to_owned()))),
    };
    let name = name.unwrap_or_else(|| "=(load)".to_owned());
    let chunk = lua.load(source).set_name(name).set_mode(ChunkMode::Text);
    match Scene::of(lua).missing.quietly(|| chunk.into_function()) {
        Ok(function) => Ok((Value::Function(function), None)),
        Err(error) => Ok((Value::Nil, Some(error.to_string()))),
    }
}

fn debug(lua: &Lua) -> Result<Table> {
    let debug = lua.create_table()?;
    debug.set(
        "traceback",
        lua.create_function(|_, message: Option<Value>| match message {
            Some(Value::Nil) | None => Ok(String::new()),
            Some(message) => words(&message),
        })?,
    )?;
    debug.set(
        "getinfo",
        lua.create_function(|lua, _: MultiValue| {
            let place = caller(lua);
            let info = lua.create_table()?;
            info.set("source", format!("@{}", place.file))?;
            info.set("short_src", place.file)?;
            info.set("currentline", place.line)?;
            info.set("what", "Lua")?;
            Ok(info)
        })?,
    )?;
    Ok(debug)
}
