//! What a definition sees besides the language and the modules.

use std::cell::RefCell;
use std::rc::Rc;

use hostler_model::suggest::nearest;
use hostler_model::workflow::Place;
use mlua::chunk::ChunkMode;
use mlua::{Function, Lua, Result, Table, Value};

use super::imports::Imports;
use super::values::values;
use super::{Given, Notes, Remark, standard, words};
use crate::diagnose::{Mistake, cut};
use crate::missing;
use crate::modules;
use crate::ours;
use crate::stage::{self, Scene, Stage, caller};
use crate::value::words as shown;

/// What the builders collected.
pub(crate) struct Collected {
    pub registered: Table,
    pub drafted: Table,
    pub fields_of: Function,
    pub notes: Rc<RefCell<Notes>>,
    pub stack: Rc<RefCell<Option<String>>>,
    values: Table,
    package: Option<Table>,
}

impl Collected {
    /// What belongs to the file can be changed by it, unlike what belongs to the language.
    pub fn hand_over(&self) {
        self.values.set_readonly(false);
        if let Some(package) = &self.package {
            package.set_readonly(false);
        }
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
    let chunk = lua.load(text).set_name(format!("={name}")).set_mode(ChunkMode::Text);
    Scene::of(lua).missing.quietly(|| chunk.into_function())
}

pub(crate) fn install(
    lua: &Lua,
    imports: Rc<Imports>,
    given: &Given,
    texts: &str,
) -> Result<Collected> {
    let globals = lua.globals();
    let notes: Rc<RefCell<Notes>> = Rc::default();
    let built = builders(lua, &notes)?;
    for name in ["task", "workflow", "group", "parallel", "chain", "when", "saga"] {
        globals.set(name, built.get::<Value>(name)?)?;
    }
    for name in ["workflow", "saga"].into_iter().filter(|name| texts.contains(name)) {
        missing::watch_module(lua, &globals.get::<Table>(name)?, name)?;
    }
    let values = values(lua, given)?;
    globals.set("values", &values)?;
    globals.set("Values", &values)?;
    globals.set("secrets", secrets(lua)?)?;
    let stack = stack_of(lua)?;
    if texts.contains("stack.") {
        missing::watch_module(lua, &globals.get::<Table>("stack")?, "stack")?;
    }
    imports.install(lua)?;
    clock(lua, given)?;
    standard::install(lua, texts)?;
    let package = standard::package(lua, texts)?;
    missing::watch_globals(lua)?;
    Ok(Collected {
        registered: built.get("registered")?,
        drafted: built.get("drafted")?,
        fields_of: built.get("fields_of")?,
        notes,
        stack,
        values,
        package,
    })
}

fn builders(lua: &Lua, notes: &Rc<RefCell<Notes>>) -> Result<Table> {
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
        let notes = Rc::clone(notes);
        lua.create_function(move |_, (kind, name, file, line): (String, String, String, u32)| {
            let known = if kind == "task" { words::TASK } else { words::WORKFLOW };
            let meant = match nearest(&name, known.iter().map(|(word, _)| *word)) {
                Some(meant) => format!("did you mean `:{meant}(..)`?"),
                None => "it has no effect".to_owned(),
            };
            let detail = format!("a {kind} has no method `{}`; {meant}", cut(&name, 100));
            notes.borrow_mut().remark(Remark { place: Place { file, line }, detail });
            Ok(())
        })?
    })?;
    rust.set("remark", {
        let notes = Rc::clone(notes);
        lua.create_function(move |lua, detail: String| {
            notes.borrow_mut().remark(Remark { place: caller(lua), detail: cut(&detail, 500) });
            Ok(())
        })?
    })?;
    rust.set("mistake", {
        let notes = Rc::clone(notes);
        lua.create_function(move |lua, detail: String| {
            notes.borrow_mut().mistake(Mistake::at(caller(lua), cut(&detail, 500)));
            Ok(())
        })?
    })?;
    rust.set("unknown", stage::unknown(lua))?;
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

/// `secrets.name` and `secrets.get("name")`: nobody knows them while a file is defined.
fn secrets(lua: &Lua) -> Result<Table> {
    let secrets = lua.create_table()?;
    secrets.set(
        "get",
        lua.create_function(|lua, (first, second): (Value, Option<Value>)| {
            let name = shown(&second.unwrap_or(first))?;
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
        lua.create_function(|lua, (_, name): (Table, Value)| secret(lua, &shown(&name)?))?,
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
