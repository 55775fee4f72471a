//! The modules that files use: what each function is, and that it is there.
//!
//! A module is a table of functions with a description of each ([`Module`]); the reference is made of the
//! descriptions, and their examples are run as tests. A function is either *pure* (it computes, and works at any time)
//! or it *acts*: it does something to the world, and while a file is defined it does nothing (see `stage`). What acts
//! knows on whose behalf: [`acting`] is the step that runs, with its directory, its environment and where its
//! words go.

mod acting;
mod process;

mod coordination;
mod exec;
mod log;
mod removal;
mod secrets;
mod system;
mod testing;
mod tools;
mod util;

pub use acting::{Acting, Sink, Stream};
pub(crate) use acting::{acting, tasks, with};
pub(crate) use coordination::parallel;
pub use coordination::services;
pub use hostler_host::kept_because;
pub(crate) use process::{Ended, Kept, Lines, Order, SHELL, Started};
pub(crate) use removal::{empty_own, is_own, removable, remove_tree};
pub(crate) use testing::{Tested, verdict};
pub(crate) use util::Exit;

use std::future::Future;
use std::rc::Rc;

use mlua::{FromLuaMulti, IntoLuaMulti, Lua, MultiValue, Result, Table, Value};

use crate::budget::check_length;
use crate::missing;
use crate::ours;
use crate::stage::{Scene, Stage, is_unknown, unknown};

/// A module as it is described.
pub struct Module {
    pub name: &'static str,
    /// What it is for, in a sentence or two.
    pub about: &'static str,
    pub functions: &'static [Described],
    pub(crate) install: fn(&mut Installer<'_>) -> Result<()>,
}

/// A function as it is described.
pub struct Described {
    pub name: &'static str,
    /// Arguments and results: `(path[, mode]) -> boolean | nil, error`.
    pub signature: &'static str,
    pub about: &'static str,
    /// Lua that shows it, and that is run as a test in an empty directory when it is not empty.
    pub example: &'static str,
}

/// Every module, by group.
const GROUPS: [&[&Module]; 5] = [
    &[&exec::MODULE, &log::MODULE, &secrets::MODULE, &testing::MODULE],
    util::MODULES,
    coordination::MODULES,
    system::MODULES,
    tools::MODULES,
];

/// Every module.
pub fn all() -> impl Iterator<Item = &'static Module> {
    GROUPS.into_iter().flatten().copied()
}

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    all().map(|module| module.name)
}

pub(crate) fn is_known(name: &str) -> bool {
    names().any(|known| known == name)
}

/// Makes the modules that a text mentions.
pub(crate) fn install(lua: &Lua, text: &str) -> Result<()> {
    for module in all() {
        if text.contains(module.name) {
            let table = make(lua, module)?;
            lua.globals().set(module.name, table)?;
        }
    }
    if text.contains("assert.") {
        testing::widen_assert(lua)?;
    }
    Ok(())
}

/// Makes a module that was not mentioned, for files that ask for it by a computed name.
pub(crate) fn load(lua: &Lua, name: &str) -> Result<Value> {
    match all().find(|module| module.name == name) {
        Some(module) => Ok(Value::Table(make(lua, module)?)),
        None => Ok(Value::Nil),
    }
}

fn make(lua: &Lua, module: &Module) -> Result<Table> {
    let there = Scene::of(lua).missing.quietly(|| lua.globals().get::<Value>(module.name));
    let table = match there? {
        Value::Table(standard) => standard,
        _ => lua.create_table()?,
    };
    (module.install)(&mut Installer { lua, table: table.clone(), module: module.name })?;
    missing::watch_module(lua, &table, module.name)?;
    Ok(table)
}

/// Puts the functions of a module into its table.
pub(crate) struct Installer<'a> {
    pub lua: &'a Lua,
    pub table: Table,
    module: &'static str,
}

impl Installer<'_> {
    /// A function that only computes. What it makes of something that nobody knows nobody knows either.
    pub fn pure<A: FromLuaMulti, R: IntoLuaMulti>(
        &mut self,
        name: &str,
        f: impl Fn(&Lua, A) -> Result<R> + 'static,
    ) -> Result<()> {
        let instead = |lua: &Lua, _: &str, args: &MultiValue| {
            let is_open = args.iter().any(|value| value.is_table() && is_unknown(lua, value));
            is_open.then(|| unknown(lua))
        };
        self.function(name, instead, f)
    }

    /// The same for what takes whatever it is given.
    pub fn pure_with_any<A: FromLuaMulti, R: IntoLuaMulti>(
        &mut self,
        name: &str,
        f: impl Fn(&Lua, A) -> Result<R> + 'static,
    ) -> Result<()> {
        self.function(name, |_, _, _| None, f)
    }

    /// A function that acts, and is done at once.
    pub fn act<A: FromLuaMulti, R: IntoLuaMulti>(
        &mut self,
        name: &str,
        f: impl Fn(&Lua, A) -> Result<R> + 'static,
    ) -> Result<()> {
        self.function(name, |lua, what, _| Scene::of(lua).deferral(lua, what), f)
    }

    /// The same for what is not worth a word when it does nothing.
    pub fn act_quietly<A: FromLuaMulti, R: IntoLuaMulti>(
        &mut self,
        name: &str,
        f: impl Fn(&Lua, A) -> Result<R> + 'static,
    ) -> Result<()> {
        let is_defining = |lua: &Lua| Scene::of(lua).stage.get() == Stage::Defining;
        self.function(name, move |lua, _, _| is_defining(lua).then_some(Value::Nil), f)
    }

    /// A function that is called unless `instead` has an answer.
    fn function<A: FromLuaMulti, R: IntoLuaMulti>(
        &mut self,
        name: &str,
        instead: impl Fn(&Lua, &str, &MultiValue) -> Option<Value> + 'static,
        f: impl Fn(&Lua, A) -> Result<R> + 'static,
    ) -> Result<()> {
        let what = format!("{}.{name}", self.module);
        let function = self.lua.create_function(move |lua, args: MultiValue| {
            match instead(lua, &what, &args) {
                Some(answer) => answer.into_lua_multi(lua),
                None => match Scene::of(lua).mocked(&what) {
                    Some(values) => Ok(values.sequence_values().collect::<Result<MultiValue>>()?),
                    None => f(lua, taken(&what, args, lua)?)?.into_lua_multi(lua).map(plain),
                },
            }
        })?;
        self.table.raw_set(name, function)
    }

    /// A function that acts, and takes a while in which others go on.
    pub fn act_async<A, F, R>(
        &mut self,
        name: &str,
        f: impl Fn(Lua, A) -> F + Clone + 'static,
    ) -> Result<()>
    where
        A: FromLuaMulti,
        F: Future<Output = Result<R>> + 'static,
        R: IntoLuaMulti,
    {
        let what: Rc<str> = format!("{}.{name}", self.module).into();
        let waiting = {
            let what = Rc::clone(&what);
            self.lua.create_async_function(move |lua, args: MultiValue| {
                let (f, what) = (f.clone(), Rc::clone(&what));
                async move {
                    let args = taken(&what, args, &lua)?;
                    f(lua.clone(), args).await?.into_lua_multi(&lua).map(plain)
                }
            })?
        };
        // While a file is defined nobody can wait: the answer is there before anything is asked, as that of a mock is.
        let instead = self.lua.create_function(move |lua, ()| {
            let scene = Scene::of(lua);
            Ok(match (scene.mocked(&what), scene.deferral(lua, &what)) {
                (_, Some(unknown)) => (Some(false), unknown),
                (Some(values), None) => (Some(true), Value::Table(values)),
                (None, None) => (None, Value::Nil),
            })
        })?;
        let chosen: mlua::Function = ours::ACT.call(self.lua, (instead, waiting))?;
        self.table.raw_set(name, chosen)
    }
}

/// Without the nothing at its end, which `print(f())` would show.
fn plain(mut values: MultiValue) -> MultiValue {
    while values.len() > 1 && values.back().is_some_and(Value::is_nil) {
        values.pop_back();
    }
    values
}

/// What a function is called with; what does not fit is told with its name.
fn taken<A: FromLuaMulti>(what: &str, args: MultiValue, lua: &Lua) -> Result<A> {
    let lengths = args.iter().filter_map(Value::as_string).map(|text| text.as_bytes().len());
    check_length(lua, lengths.sum())?;
    A::from_lua_args(args, 1, Some(what), lua)
}

/// Lets a result be used as the text in one of its fields, as many files do.
pub(crate) fn as_text(lua: &Lua, table: &Table, field: &str) -> Result<()> {
    let meta: Table = ours::TEXT.call(lua, field)?;
    table.set_metatable(Some(meta))
}
