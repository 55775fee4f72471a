//! Functions that are a program with words: a table of them is most of a module.
//!
//! A [`Verb`] says how it is called, its usage line (see `usage`), what it gives back and whether it only looks. Its
//! name says where it is: `get` in the module, `rg.delete` in a table of the module, `stack:up` in the objects of a
//! class. What an object has in its fields fills its usage lines, so that `stack:config(key, value)` needs only what
//! the stack does not know.
//!
//! Every call is `f(a, b, { options })` or `f{ a =, b =, options }`. Beside those of the program every one takes
//! `workdir`, `env` (or `envs`), `stdin`, `timeout`, `args` (further words) and `show_only`: with that nothing is run,
//! and the result says in `command` and `argv` what would be. An option that nobody knows is a mistake.

use std::collections::BTreeMap;
use std::rc::Rc;

use mlua::{Lua, MultiValue, Result, Table, Value};
use serde_json::Value as Json;

use super::super::{Described, Ended, Installer, acting};
use super::class::Class;
use super::tool::{Call, Program, failure, one, refused, result, stdout, two, would};
use super::usage::{Source, Unfit, Usage, word};
use crate::value::{from_json, text};

/// What a function gives back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    /// The result, and an error where the program failed.
    Outcome,
    /// The same, with what it says as JSON in `data`.
    Document,
    /// The result twice.
    Twice,
    /// The result, or nothing and an error.
    Done,
    /// True and the output, or false and an error.
    Flag,
    /// The output, or nothing and an error.
    Text,
    /// Its lines.
    Lines,
    /// What it says as JSON.
    Json,
    /// The same for one document in each line.
    JsonLines,
}

/// A function, as data.
pub(super) struct Verb {
    pub name: &'static str,
    pub signature: &'static str,
    pub usage: &'static str,
    pub about: &'static str,
    pub example: &'static str,
    pub gives: Gives,
    /// It changes nothing, and is done in check mode, too.
    pub is_reading: bool,
    /// The order of arguments without names, where it is another than that of the usage line.
    pub takes: &'static [&'static str],
}

impl Verb {
    pub const fn new(
        name: &'static str,
        signature: &'static str,
        usage: &'static str,
        about: &'static str,
        example: &'static str,
    ) -> Verb {
        let gives = Gives::Outcome;
        Verb { name, signature, usage, about, example, gives, is_reading: false, takes: &[] }
    }
    pub const fn gives(mut self, gives: Gives) -> Verb {
        self.gives = gives;
        self
    }
    pub const fn reads(mut self) -> Verb {
        self.is_reading = true;
        self
    }
    pub const fn takes(mut self, takes: &'static [&'static str]) -> Verb {
        self.takes = takes;
        self
    }
}

/// Descriptions of a module: of what is written by hand, and of its verbs.
pub(super) const fn describe<const N: usize>(own: &[Described], verbs: &[Verb]) -> [Described; N] {
    let mut all = [const { Described { name: "", signature: "", about: "", example: "" } }; N];
    let mut i = 0;
    while i < own.len() {
        let Described { name, signature, about, example } = own[i];
        all[i] = Described { name, signature, about, example };
        i += 1;
    }
    while i < N {
        let verb = &verbs[i - own.len()];
        all[i] = Described {
            name: verb.name,
            signature: verb.signature,
            about: verb.about,
            example: verb.example,
        };
        i += 1;
    }
    all
}

/// Options that every function takes.
const COMMON: [&str; 7] = ["workdir", "env", "envs", "stdin", "timeout", "args", "show_only"];

/// The classes of a module by their names.
pub(super) type Classes = BTreeMap<&'static str, Class>;

/// Puts the verbs of a program where their names say.
pub(super) fn install(
    module: &mut Installer<'_>,
    program: &'static Program,
    verbs: &'static [Verb],
) -> Result<Classes> {
    let lua = module.lua;
    let mut classes = Classes::new();
    for verb in verbs {
        let usage = Usage::read(verb.usage).map_err(mlua::Error::runtime)?;
        let mut act = Act {
            verb,
            usage,
            program,
            module: module.table.clone(),
            label: format!("{}.{}", module.module, verb.name),
            class: None,
        };
        let (table, key) = if let Some((class, method)) = verb.name.split_once(':') {
            let class = match classes.get(class) {
                Some(class) => class.clone(),
                None => Class::new(lua, module.module, class)?,
            };
            classes.insert(class.name, class.clone());
            let methods = class.methods.clone();
            act.class = Some(class);
            (methods, method)
        } else if let Some((inner, key)) = verb.name.rsplit_once('.') {
            (nested(lua, &module.table, inner)?, key)
        } else {
            (module.table.clone(), verb.name)
        };
        let act = Rc::new(act);
        let mut installer = Installer { lua, table, module: module.module };
        installer.act_async(key, move |lua, args: MultiValue| {
            let act = Rc::clone(&act);
            async move { act.call(lua, args).await }
        })?;
    }
    Ok(classes)
}

/// Puts verbs of a module into the objects of a class, too.
pub(super) fn methods(
    lua: &Lua,
    class: &Class,
    program: &'static Program,
    verbs: &'static [Verb],
) -> Result<()> {
    for verb in verbs {
        let act = Rc::new(Act {
            verb,
            usage: Usage::read(verb.usage).map_err(mlua::Error::runtime)?,
            program,
            module: class.methods.clone(),
            label: format!("{} {}:{}", class.module, class.name, verb.name),
            class: Some(class.clone()),
        });
        class.installer(lua).act_async(verb.name, move |lua, args: MultiValue| {
            let act = Rc::clone(&act);
            async move { act.call(lua, args).await }
        })?;
    }
    Ok(())
}

/// A table in a table, made where it is not there.
pub(super) fn nested(lua: &Lua, table: &Table, name: &str) -> Result<Table> {
    match table.raw_get::<Value>(name)? {
        Value::Table(inner) => Ok(inner),
        _ => {
            let inner = lua.create_table()?;
            table.raw_set(name, &inner)?;
            Ok(inner)
        }
    }
}

/// A verb that can be called.
struct Act {
    verb: &'static Verb,
    usage: Usage,
    program: &'static Program,
    module: Table,
    label: String,
    class: Option<Class>,
}

/// What a call was given: by its caller, and by its object.
struct Given {
    options: Table,
    object: Option<Table>,
}

impl Source for Given {
    fn value(&self, name: &str) -> Result<Value> {
        match (self.options.raw_get::<Value>(name)?, &self.object) {
            (Value::Nil, Some(object)) => object.raw_get(name),
            (value, _) => Ok(value),
        }
    }
}

impl Act {
    async fn call(&self, lua: Lua, args: MultiValue) -> Result<MultiValue> {
        let given = self.given(&lua, args)?;
        let call = self.order(&given)?;
        if !matches!(given.value("show_only")?, Value::Nil | Value::Boolean(false)) {
            return one(&lua, would(&lua, &call)?);
        }
        if acting().check && !self.verb.is_reading {
            let table = would(&lua, &call)?;
            acting().say(&table.raw_get::<String>("message")?);
            if let (Some(class), Some(object)) = (&self.class, &given.object) {
                class.carry(&lua, object, &table)?;
            }
            return match self.verb.gives {
                Gives::Flag => two(&lua, true, table.raw_get::<String>("message")?),
                Gives::Twice => two(&lua, &table, &table),
                _ => one(&lua, table),
            };
        }
        match call.run().await {
            Err(why) if self.verb.gives == Gives::Flag => two(&lua, false, why),
            Err(why) => refused(&lua, &why),
            Ok(ended) => self.answer(&lua, &given, &ended),
        }
    }

    /// Arguments by their names, whichever way they came.
    fn given(&self, lua: &Lua, mut args: MultiValue) -> Result<Given> {
        let object = match &self.class {
            None => None,
            Some(class) => {
                let name = self.verb.name.rsplit(':').next().unwrap_or_default();
                let (object, rest) = class.receiver(name, args)?;
                args = rest;
                Some(object)
            }
        };
        if let Some(Value::Table(first)) = args.front()
            && first.to_pointer() == self.module.to_pointer()
        {
            args.pop_front();
        }
        let is_asked = |name: &&str| match &object {
            Some(object) => object.raw_get::<Value>(*name).is_ok_and(|value| value.is_nil()),
            None => true,
        };
        let names: Vec<&str> = if self.verb.takes.is_empty() {
            self.usage.required().into_iter().filter(is_asked).collect()
        } else {
            self.verb.takes.to_vec()
        };
        let mut names = names.into_iter();
        let options = lua.create_table()?;
        let mut next = names.next();
        for value in args {
            if let Value::Table(table) = &value
                && table.raw_len() == 0
                && !next.is_some_and(|name| self.is_value(name, table))
            {
                self.take(table, &options)?;
                continue;
            }
            match next {
                Some(name) => options.raw_set(name, value)?,
                None if value.is_nil() => {}
                None => return Err(self.mistake("it takes fewer arguments")),
            }
            next = names.next();
        }
        Ok(Given { options, object })
    }

    /// Whether a table without a list in it is an argument, and not the options.
    fn is_value(&self, name: &str, table: &Table) -> bool {
        table.metatable().is_some()
            || self.usage.takes_table(name) && !table.contains_key(name).unwrap_or(false)
    }

    fn take(&self, from: &Table, options: &Table) -> Result<()> {
        let known = self.usage.names();
        from.for_each(|key: Value, value: Value| {
            let Value::String(name) = &key else {
                return Err(self.mistake("its options are a table with names"));
            };
            let name = text(name);
            if !known.contains(&name.as_str())
                && !self.verb.takes.contains(&name.as_str())
                && !COMMON.contains(&name.as_str())
            {
                return Err(self.unknown(&name, &known));
            }
            options.raw_set(name, value)
        })
    }

    fn unknown(&self, name: &str, known: &[&str]) -> mlua::Error {
        if name == "delegate_to" {
            return self.mistake("it acts where its task runs; give the task `delegate_to`");
        }
        let mut names: Vec<&str> = known.iter().chain(&COMMON).copied().collect();
        names.sort_unstable();
        names.dedup();
        self.mistake(&format!("it does not know `{name}`; it knows {}", names.join(", ")))
    }

    fn mistake(&self, what: &str) -> mlua::Error {
        mlua::Error::runtime(format!("{}{}: {what}", self.label, self.verb.signature))
    }

    fn order(&self, given: &Given) -> Result<Call> {
        let mut words = self.usage.fill(given).map_err(|unfit| match unfit {
            Unfit::Missing(name) => self.mistake(&format!("`{name}` is missing")),
            Unfit::Dash(name, value) => self.mistake(&format!(
                "`{name}` is `{value}`, which {} would take for an option",
                self.program.name
            )),
            Unfit::Lua(error) => error,
        })?;
        let own = self.usage.names();
        let common = |name: &str| match own.contains(&name) {
            true => Ok(Value::Nil),
            false => given.value(name),
        };
        match common("args")? {
            Value::Nil => {}
            Value::Table(more) => {
                for item in more.sequence_values::<Value>() {
                    words.push(word(&item?)?);
                }
            }
            value => words.push(word(&value)?),
        }
        let mut call = Call::new(self.program, words);
        if let Value::String(path) = common("workdir")? {
            call.workdir = acting().path(&text(&path));
        }
        for name in ["env", "envs"] {
            if let Value::Table(more) = common(name)? {
                more.for_each(|name: String, value: Value| {
                    call.environment.insert(name, word(&value)?);
                    Ok(())
                })?;
            }
        }
        if let Some(object) = &given.object
            && let Some(venv) = object.raw_get::<Option<String>>("venv_path")?
        {
            call.enter(&acting().path(&venv));
        }
        if let Value::String(input) = given.value("stdin")? {
            call.input = Some(input.as_bytes().to_vec());
        }
        call.timeout = match common("timeout")? {
            Value::Nil => None,
            value => crate::define::span_of(&value)
                .map_err(|error| self.mistake(&error.to_string()))?
                .map(Into::into),
        };
        Ok(call)
    }

    fn answer(&self, lua: &Lua, given: &Given, ended: &Ended) -> Result<MultiValue> {
        let told = (!ended.is_success()).then(|| failure(self.program, ended));
        let full = || {
            let table = result(lua, self.program, ended)?;
            if !self.verb.is_reading {
                table.raw_set("changed", ended.is_success())?;
            }
            if ended.is_success() {
                table.raw_set("message", stdout(ended))?;
            }
            if let (Some(class), Some(object)) = (&self.class, &given.object) {
                class.carry(lua, object, &table)?;
            }
            Ok::<Table, mlua::Error>(table)
        };
        match (self.verb.gives, told) {
            (Gives::Outcome, told) => two(lua, full()?, told),
            (Gives::Document, told) => {
                let table = full()?;
                if let Ok(json) = serde_json::from_slice::<Json>(&ended.stdout) {
                    table.raw_set("data", from_json(lua, &json)?)?;
                }
                two(lua, table, told)
            }
            (Gives::Twice, _) => {
                let table = full()?;
                two(lua, &table, &table)
            }
            (Gives::Flag, Some(why)) => two(lua, false, why),
            (Gives::Flag, None) => two(lua, true, stdout(ended)),
            (_, Some(why)) => refused(lua, &why),
            (Gives::Done, None) => one(lua, full()?),
            (Gives::Text, None) => one(lua, stdout(ended)),
            (Gives::Lines, None) => one(lua, lua.create_sequence_from(stdout(ended).lines())?),
            (Gives::Json, None) => self.document(lua, &stdout(ended)),
            (Gives::JsonLines, None) => {
                let lines = format!("[{}]", stdout(ended).lines().collect::<Vec<_>>().join(","));
                self.document(lua, &lines)
            }
        }
    }

    fn document(&self, lua: &Lua, text: &str) -> Result<MultiValue> {
        let text = if text.trim().is_empty() { "[]" } else { text };
        match serde_json::from_str::<Json>(text) {
            Ok(json) => one(lua, from_json(lua, &json)?),
            Err(error) => refused(
                lua,
                &format!(
                    "{} was asked for JSON and printed something else: {error}",
                    self.program.name
                ),
            ),
        }
    }
}
