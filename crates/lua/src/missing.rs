//! What a file asks for that is not there: globals, functions of modules, values.
//!
//! Nothing is what Lua gives for all of these, and what comes of it is told later and without the name: "attempt to call
//! a nil value". So what was asked for in vain is noted with its place, and an error beside it is told with the name and
//! with what was probably meant.
//!
//! A definition that stumbles over such a nothing is not lost: it is run once more, and what was blamed for it
//! ([`Missing::blamed`]) is a value that nobody knows then, with a word of warning. A name that is near to a word of the
//! language is taken for a slip instead.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use hostler_model::suggest::nearest;
use hostler_model::workflow::Place;
use mlua::{Lua, Result, Table, Value};

use crate::diagnose::{Mistake, cut};
use crate::modules;
use crate::stage::{Scene, Stage, caller, unknown};
use crate::value::text;

/// More are not noted.
const MOST: usize = 256;
/// How many lines lie at most between what was asked for and what came of it.
const NEAR: u32 = 2;
/// Globals that files look for to find out where they are.
const ASKED_FOR: &[&str] = &[
    "TaskDefinitions",
    "_ENV",
    "arg",
    "event",
    "getfenv",
    "jit",
    "module",
    "newproxy",
    "on_event",
    "outputs",
    "setfenv",
    "unpack",
];
/// Globals of other programs of this kind, which are no slips of anything.
const ELSEWHERE: &[&str] =
    &["circuit", "core", "flow", "pipeline", "resource", "template", "utils", "validate"];
/// Libraries of the language: files look there for what other versions of it have.
const LANGUAGE: &[&str] =
    &["bit32", "buffer", "coroutine", "math", "os", "string", "table", "utf8"];
/// Tables without which there is no definition: what is not in them is a slip, where it is near.
const DEFINING: &[&str] = &["workflow", "saga"];
/// Words that every file has.
const WORDS: &[&str] = &[
    "task", "workflow", "group", "parallel", "chain", "when", "saga", "values", "secrets",
    "import", "require", "print", "string", "table", "pcall", "error", "assert", "tostring",
    "tonumber", "ipairs", "pairs", "select", "type",
];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    Global(String),
    /// A field of a module.
    Member(&'static str, String),
    /// A path below `values`.
    Value(String),
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Global(name) => write!(f, "{name}"),
            What::Member(module, name) => write!(f, "{module}.{name}"),
            What::Value(path) => write!(f, "values.{path}"),
        }
    }
}

#[derive(Default)]
pub(crate) struct Missing {
    /// In the order in which they were asked for first, with where that was last.
    noted: RefCell<Vec<(What, Place)>>,
    first: RefCell<BTreeMap<What, Place>>,
    /// Somebody else looks: the interpreter, or we.
    is_quiet: Cell<bool>,
    /// What is unknown, as it is written.
    unknown: RefCell<BTreeSet<String>>,
}

impl Missing {
    pub fn take_for_unknown(&self, names: &BTreeSet<String>) {
        self.unknown.borrow_mut().clone_from(names);
    }

    /// Does something that looks for names itself: a chunk that is loaded looks up what it will ask for.
    pub fn quietly<T>(&self, f: impl FnOnce() -> T) -> T {
        let before = self.is_quiet.replace(true);
        let done = f();
        self.is_quiet.set(before);
        done
    }

    /// Where a file asks for it; nothing where no file does.
    fn note(&self, lua: &Lua, what: What) -> bool {
        if self.is_quiet.get() {
            return false;
        }
        let place = caller(lua);
        if place.is_unknown() {
            return false;
        }
        let mut first = self.first.borrow_mut();
        if first.len() < MOST {
            first.entry(what.clone()).or_insert_with(|| place.clone());
        }
        let mut noted = self.noted.borrow_mut();
        noted.retain(|(known, _)| *known != what);
        if noted.len() >= MOST {
            noted.remove(0);
        }
        noted.push((what, place));
        true
    }

    /// What a definition has stumbled over, if that is no slip.
    pub fn blamed(&self, lua: &Lua, mistake: &Mistake) -> Option<String> {
        let what = self.beside(mistake)?;
        let is_slip = match &what {
            What::Global(name) => !ELSEWHERE.contains(&name.as_str()) && meant(lua, name).is_some(),
            What::Member(module, name) => {
                DEFINING.contains(module) && meant_in(lua, module, name).is_some()
            }
            What::Value(_) => true,
        };
        (!is_slip).then(|| what.to_string())
    }

    fn is_unknown(&self, what: &What) -> bool {
        let unknown = self.unknown.borrow();
        !unknown.is_empty() && unknown.contains(&what.to_string())
    }

    /// What a file gets that asks for it.
    fn answer(&self, lua: &Lua, what: What) -> Value {
        let is_unknown = self.is_unknown(&what);
        let is_defining = Scene::of(lua).stage.get() == Stage::Defining;
        match self.note(lua, what) && is_unknown && is_defining {
            true => unknown(lua),
            false => Value::Nil,
        }
    }

    /// What was asked for in vain last where a mistake is that tells of nothing.
    fn beside(&self, mistake: &Mistake) -> Option<What> {
        if !mistake.detail.contains("nil") || !mistake.detail.contains("attempt to") {
            return None;
        }
        let noted = self.noted.borrow();
        let is_near = |place: &Place| {
            place.file == mistake.place.file && place.line.abs_diff(mistake.place.line) <= NEAR
        };
        let near = noted.iter().rev().find(|(_, place)| is_near(place));
        let is_value = |what: &What| matches!(what, What::Value(_));
        let only = || {
            let mut values = noted.iter().filter(|(what, _)| is_value(what));
            values.next().filter(|_| values.next().is_none())
        };
        near.or_else(only).map(|(what, _)| what.clone())
    }

    /// A mistake with the name of what is not there.
    pub fn explain(&self, lua: &Lua, mut mistake: Mistake) -> Mistake {
        if let Some(what) = self.beside(&mistake) {
            let advice = advice(lua, &what);
            mistake.detail = format!("{}: {advice}", mistake.detail);
            mistake.word = Some(what.to_string());
        }
        mistake
    }

    /// What is worth telling although nothing came of it.
    pub fn remarks(&self, lua: &Lua) -> Vec<(Place, String)> {
        let is_worth = |what: &What| match what {
            What::Global(name) => {
                !ASKED_FOR.contains(&name.as_str())
                    && matches!(lua.globals().raw_get(name.as_str()), Ok(Value::Nil))
            }
            What::Member(module, _) => !LANGUAGE.contains(module) || self.is_unknown(what),
            What::Value(_) => false,
        };
        let first = self.first.borrow();
        let told = first.iter().filter(|(what, _)| is_worth(what));
        told.map(|(what, place)| (place.clone(), advice(lua, what))).collect()
    }
}

/// Says that something is not there, and what may have been meant.
fn advice(lua: &Lua, what: &What) -> String {
    match what {
        What::Global(name) => match meant(lua, name) {
            Some(meant) => format!("there is no `{name}`; did you mean `{meant}`?"),
            None => format!("there is no `{name}`"),
        },
        What::Member(module, name) => match meant_in(lua, module, name) {
            Some(meant) => {
                format!("there is no `{module}.{name}`; did you mean `{module}.{meant}`?")
            }
            None => format!("there is no `{module}.{name}`"),
        },
        What::Value(path) => format!(
            "`values.{path}` has no value; give it with --set {path}=… or in a file of values"
        ),
    }
}

/// The word that a global was probably meant to be.
fn meant(lua: &Lua, name: &str) -> Option<String> {
    let mut known: Vec<String> =
        modules::names().chain(WORDS.iter().copied()).map(Into::into).collect();
    known.extend(keys(&lua.globals()));
    if let Some(text) = lua.app_data_ref::<Text>() {
        known.extend(locals(&text.0).map(str::to_owned));
    }
    nearest(name, known.iter().map(String::as_str)).map(str::to_owned)
}

/// The text of the file that is defined.
pub(crate) struct Text(pub String);

/// Names that a text makes local.
fn locals(text: &str) -> impl Iterator<Item = &str> {
    let after = text.match_indices("local ").map(|(at, word)| text[at + word.len()..].trim_start());
    let names = after.map(|rest| rest.strip_prefix("function ").unwrap_or(rest));
    let end =
        |rest: &str| rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    names.map(move |rest| &rest[..end(rest)]).filter(|name| !name.is_empty()).take(1000)
}

fn meant_in(lua: &Lua, module: &str, name: &str) -> Option<String> {
    let scene = Scene::of(lua);
    let table = scene.missing.quietly(|| lua.globals().get::<Value>(module));
    let Ok(Value::Table(table)) = table else { return None };
    nearest(name, keys(&table).iter().map(String::as_str)).map(str::to_owned)
}

fn keys(table: &Table) -> Vec<String> {
    let mut names = Vec::new();
    let _nothing_fails_here = table.for_each(|key: Value, _: Value| {
        if let Value::String(name) = key
            && names.len() < 1000
        {
            names.push(text(&name));
        }
        Ok(())
    });
    names
}

/// Lets the globals tell what they do not have.
pub(crate) fn watch_globals(lua: &Lua) -> Result<()> {
    let meta = lua.create_table()?;
    let index = lua.create_function(|lua, (_, name): (Value, Value)| {
        let Value::String(name) = name else { return Ok(Value::Nil) };
        let what = What::Global(cut(&text(&name), 100));
        Ok(Scene::of(lua).missing.answer(lua, what))
    })?;
    meta.raw_set("__index", index)?;
    lua.globals().set_metatable(Some(meta))
}

/// Lets a module tell what it does not have.
pub(crate) fn watch_module(lua: &Lua, table: &Table, module: &'static str) -> Result<()> {
    let meta = match table.metatable() {
        Some(meta) => meta,
        None => lua.create_table()?,
    };
    if !meta.raw_get::<Value>("__index")?.is_nil() {
        return Ok(());
    }
    let index = lua.create_function(move |lua, (_, name): (Value, Value)| {
        let Value::String(name) = name else { return Ok(Value::Nil) };
        let what = What::Member(module, cut(&text(&name), 100));
        Ok(Scene::of(lua).missing.answer(lua, what))
    })?;
    meta.raw_set("__index", index)?;
    table.set_metatable(Some(meta))
}

/// Notes a value that was not given.
pub(crate) fn no_value(lua: &Lua, path: &str) {
    let _noted = Scene::of(lua).missing.note(lua, What::Value(cut(path, 100)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_locals_are_found() {
        let text = "local a = 1\nlocal function go() end local  b_2, c = 1\nlocal é = 1 local";
        assert_eq!(locals(text).collect::<Vec<_>>(), ["a", "go", "b_2", "é"]);
    }
}
