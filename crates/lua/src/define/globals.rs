//! What a definition sees besides the language and the modules.

use std::cell::RefCell;
use std::rc::Rc;

use hostler_model::suggest::nearest;
use hostler_model::workflow::Place;
use mlua::chunk::ChunkMode;
use mlua::{Function, Lua, Result, Table, Value, Variadic};

use super::imports::Imports;
use super::words;
use super::{Given, Remark};
use crate::modules;
use crate::ours;
use crate::stage::{self, Scene, Stage, caller};
use crate::value::{from_json, text};

/// What the builders collected.
pub(crate) struct Collected {
    pub registered: Table,
    pub drafted: Table,
    pub fields_of: Function,
    pub remarks: Rc<RefCell<Vec<Remark>>>,
    pub stack: Rc<RefCell<Option<String>>>,
    values: Table,
}

impl Collected {
    /// What belongs to the file can be changed by it, unlike what belongs to the language.
    pub fn hand_over(&self) {
        self.values.set_readonly(false);
    }
}

/// Compiles a chunk; a first line that begins with `#` is for the shell.
pub(crate) fn load(lua: &Lua, name: &str, text: &str) -> Result<Function> {
    if let Some(at) = text.find('\0') {
        // The interpreter would take it for the end of the file.
        let line = text[..at].matches('\n').count() + 1;
        let detail = "there is a NUL byte here; a file of Lua is text";
        return Err(mlua::Error::SyntaxError {
            message: format!("{name}:{line}: {detail}"),
            incomplete_input: false,
        });
    }
    let shebang = text.starts_with('#');
    let text = if shebang { format!("--{text}") } else { text.to_owned() };
    lua.load(text).set_name(format!("={name}")).set_mode(ChunkMode::Text).into_function()
}

pub(crate) fn install(lua: &Lua, imports: Rc<Imports>, given: &Given) -> Result<Collected> {
    let globals = lua.globals();
    let remarks: Rc<RefCell<Vec<Remark>>> = Rc::default();
    let built = builders(lua, &remarks)?;
    for name in ["task", "workflow", "group", "parallel", "chain", "when", "saga"] {
        globals.set(name, built.get::<Value>(name)?)?;
    }
    let values = values(lua, given)?;
    globals.set("values", &values)?;
    globals.set("Values", &values)?;
    globals.set("secrets", secrets(lua)?)?;
    let stack = stack_of(lua)?;
    imports.install(lua)?;
    clock(lua, given)?;
    loaders(lua)?;
    Ok(Collected {
        registered: built.get("registered")?,
        drafted: built.get("drafted")?,
        fields_of: built.get("fields_of")?,
        remarks,
        stack,
        values,
    })
}

fn builders(lua: &Lua, remarks: &Rc<RefCell<Vec<Remark>>>) -> Result<Table> {
    let rust = lua.create_table()?;
    rust.set(
        "here",
        lua.create_function(|lua, ()| {
            let place = caller(lua);
            lua.create_table_from([
                ("file", place.file.into_lua_value(lua)?),
                ("line", Value::Number(place.line.into())),
            ])
        })?,
    )?;
    rust.set("unknown_method", {
        let remarks = Rc::clone(remarks);
        lua.create_function(move |_, (kind, name, file, line): (String, String, String, u32)| {
            let known = if kind == "task" { words::TASK } else { words::WORKFLOW };
            let meant = match nearest(&name, known.iter().map(|(word, _)| *word)) {
                Some(meant) => format!("did you mean `:{meant}(..)`?"),
                None => "it has no effect".to_owned(),
            };
            let detail = format!("a {kind} has no method `{name}`; {meant}");
            remarks.borrow_mut().push(Remark { place: Place { file, line }, detail });
            Ok(())
        })?
    })?;
    rust.set(
        "is_acting",
        lua.create_function(|lua, ()| Ok(Scene::of(lua).stage.get() == Stage::Acting))?,
    )?;
    rust.set("parallel", modules::parallel(lua)?)?;
    let aliases = lua.create_table()?;
    for (kind, known) in [("task", words::TASK), ("workflow", words::WORKFLOW)] {
        // What is written as a field is no method.
        let methods =
            known.iter().filter(|(word, _)| !["name", "place", "built", "in_saga"].contains(word));
        aliases.set(kind, lua.create_table_from(methods.map(|(word, field)| (*word, *field)))?)?;
    }
    rust.set("aliases", aliases)?;
    ours::BUILDER.call(lua, rust)
}

trait IntoLuaValue {
    fn into_lua_value(self, lua: &Lua) -> Result<Value>;
}

impl IntoLuaValue for String {
    fn into_lua_value(self, lua: &Lua) -> Result<Value> {
        Ok(Value::String(lua.create_string(self)?))
    }
}

/// `values`: what was given; called with a table it says what holds where nothing was given.
fn values(lua: &Lua, given: &Given) -> Result<Table> {
    let values = match from_json(lua, &given.values)? {
        Value::Table(table) => table,
        _ => lua.create_table()?,
    };
    let meta = lua.create_table()?;
    meta.set(
        "__call",
        lua.create_function(|_, (values, defaults): (Table, Option<Table>)| {
            if let Some(defaults) = defaults {
                below(&values, &defaults)?;
            }
            Ok(values)
        })?,
    )?;
    let index = lua.create_table()?;
    index.set("get", {
        let values = values.clone();
        lua.create_function(move |_, (path, default): (String, Value)| {
            let mut at = Value::Table(values.clone());
            for part in path.split('.') {
                at = match at {
                    Value::Table(table) => table.raw_get(part)?,
                    _ => Value::Nil,
                };
            }
            Ok(if at.is_nil() { default } else { at })
        })?
    })?;
    meta.set("__index", index)?;
    values.set_metatable(Some(meta))?;
    Ok(values)
}

/// Puts defaults below what is there.
fn below(values: &Table, defaults: &Table) -> Result<()> {
    defaults.for_each(|key: Value, value: Value| {
        match (values.raw_get::<Value>(key.clone())?, value) {
            (Value::Nil, value) => values.raw_set(key, value),
            (Value::Table(inner), Value::Table(value)) => below(&inner, &value),
            _ => Ok(()),
        }
    })
}

/// `secrets.name` and `secrets.get("name")`: nobody knows them while a file is defined.
fn secrets(lua: &Lua) -> Result<Table> {
    let secrets = lua.create_table()?;
    secrets.set(
        "get",
        lua.create_function(|lua, (first, second): (Value, Option<Value>)| {
            let name = second.unwrap_or(first).to_string()?;
            let value = secret(lua, &name)?;
            let problem = value.is_nil().then(|| {
                format!("there is no secret `{name}` here; give it with `--secret {name}`")
            });
            Ok((value, problem))
        })?,
    )?;
    let meta = lua.create_table()?;
    meta.set(
        "__index",
        lua.create_function(|lua, (_, name): (Table, Value)| secret(lua, &name.to_string()?))?,
    )?;
    secrets.set_metatable(Some(meta))?;
    Ok(secrets)
}

fn secret(lua: &Lua, name: &str) -> Result<Value> {
    if Scene::of(lua).stage.get() == Stage::Defining {
        return Ok(stage::unknown(lua));
    }
    match modules::acting().secret(name) {
        Some(value) => Ok(Value::String(lua.create_string(value)?)),
        None => Ok(Value::Nil),
    }
}

/// `stack("name")`: the stack that the file is about.
fn stack_of(lua: &Lua) -> Result<Rc<RefCell<Option<String>>>> {
    let named: Rc<RefCell<Option<String>>> = Rc::default();
    let globals = lua.globals();
    let stack = match globals.get::<Value>("stack")? {
        Value::Table(module) => module,
        _ => lua.create_table()?,
    };
    let meta = lua.create_table()?;
    meta.set("__call", {
        let named = Rc::clone(&named);
        lua.create_function(move |_, (itself, name): (Table, Option<String>)| {
            if let Some(name) = name {
                *named.borrow_mut() = Some(name);
            }
            Ok(itself)
        })?
    })?;
    stack.set_metatable(Some(meta))?;
    globals.set("stack", stack)?;
    Ok(named)
}

/// A clock that stands still while a file is defined, so that it is defined the same everywhere.
fn clock(lua: &Lua, given: &Given) -> Result<()> {
    let os: Table = lua.globals().get("os")?;
    let now = given.now;
    let time: Function = os.get("time")?;
    os.set(
        "time",
        lua.create_function(move |lua, table: Option<Table>| match table {
            Some(table) => time.call::<Value>(table),
            None if Scene::of(lua).stage.get() == Stage::Acting => time.call::<Value>(()),
            #[expect(clippy::cast_precision_loss, reason = "seconds are far below 2^53")]
            None => Ok(Value::Number(now as f64)),
        })?,
    )?;
    let date: Function = os.get("date")?;
    os.set(
        "date",
        lua.create_function(move |lua, (format, time): (Option<String>, Option<f64>)| {
            #[expect(clippy::cast_precision_loss, reason = "seconds are far below 2^53")]
            let still = (Scene::of(lua).stage.get() == Stage::Defining).then_some(now as f64);
            let format = format.unwrap_or_else(|| "%c".to_owned());
            match time.or(still) {
                Some(time) => date.call::<Value>((format, time)),
                None => date.call::<Value>(format),
            }
        })?,
    )?;
    let env = given.env.clone();
    os.set(
        "getenv",
        lua.create_function(move |lua, name: String| {
            if Scene::of(lua).stage.get() == Stage::Defining {
                return Ok(env.get(&name).cloned());
            }
            Ok(modules::acting().env(&name))
        })?,
    )
}

/// `load`, `loadstring` and `print`: text only, and no word to anybody while a file is defined.
fn loaders(lua: &Lua) -> Result<()> {
    let globals = lua.globals();
    let load = lua.create_function(|lua, (chunk, name): (Value, Option<String>)| {
        let source = match chunk {
            Value::String(source) => text(&source),
            _ => return Ok((Value::Nil, Some("only text can be loaded".to_owned()))),
        };
        let name = name.unwrap_or_else(|| "=(load)".to_owned());
        let chunk = lua.load(source).set_name(name).set_mode(ChunkMode::Text);
        match chunk.into_function() {
            Ok(function) => Ok((Value::Function(function), None)),
            Err(error) => Ok((Value::Nil, Some(error.to_string()))),
        }
    })?;
    globals.set("load", &load)?;
    globals.set("loadstring", load)?;
    globals.set(
        "print",
        lua.create_function(|lua, values: Variadic<Value>| {
            if Scene::of(lua).stage.get() == Stage::Acting {
                let words = values.iter().map(Value::to_string).collect::<Result<Vec<_>>>()?;
                modules::acting().say(&words.join("\t"));
            }
            Ok(())
        })?,
    )
}
