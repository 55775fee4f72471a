//! `import` and `require`: other files by their path from the file that asks, or else from the main one, modules of ours
//! by name, and modules that a server keeps.
//!
//! What a text asks for by a name that is written out is looked for before anything runs ([`Imports::gather`]), so that
//! it is there when a body asks for it, and what it mentions of our own modules is too.

use std::collections::BTreeSet;
use std::rc::Rc;

use hostler_model::suggest::nearest;
use hostler_model::workflow::{ModuleAsk, Place};
use mlua::{Lua, Result, Value};

use super::Remark;
use super::globals::load;
use crate::modules;
use crate::source::{Library, folder_of, identity, resolve};
use crate::stage::{Scene, caller};
use crate::wants::{Want, Word, wants};

const IMPORTED: [&str; 4] = ["", ".sloth", ".lua", ".luau"];
const REQUIRED: [&str; 5] = [".lua", ".luau", ".sloth", "/init.lua", "/init.luau"];
/// Tables that every file has without asking.
const LANGUAGE: [&str; 8] =
    ["bit32", "buffer", "coroutine", "math", "os", "string", "table", "utf8"];

/// Whether a name means something of the language, which no module of a user's can be called.
pub(crate) fn is_taken(name: &str) -> bool {
    LANGUAGE.contains(&name) || modules::is_known(name)
}

pub(crate) struct Imports {
    main: String,
    library: Rc<Library>,
}

/// What was found before anything ran.
#[derive(Default)]
pub(crate) struct Gathered {
    /// Every text that may run, one after the other.
    pub texts: String,
    /// What is asked for and not there.
    pub missing: Vec<Remark>,
}

impl Imports {
    pub fn new(main: &str, library: Rc<Library>) -> Imports {
        Imports { main: main.to_owned(), library }
    }

    /// Looks for everything that a text and whatever it imports ask for by name.
    pub fn gather(&self, text: &str) -> Gathered {
        let mut gathered = Gathered { texts: text.to_owned(), ..Gathered::default() };
        let mut seen = BTreeSet::new();
        let mut left = vec![(String::new(), text.to_owned())];
        let mut is_open = false;
        while let Some((from, text)) = left.pop() {
            let wants = wants(&text);
            is_open |= wants.is_open;
            for want in wants.named {
                if want.word == Word::Require && LANGUAGE.contains(&want.name.as_str()) {
                    continue;
                }
                if let Some((path, text)) = self.find(&from, want.word, &want.name) {
                    if seen.insert(identity(&path).to_owned()) {
                        gathered.texts.push('\n');
                        gathered.texts.push_str(&text);
                        left.push((path, text));
                    }
                } else if !(want.word == Word::Require && modules::is_known(&want.name)) {
                    gathered.missing.push(self.missed(&from, &want));
                }
            }
        }
        if is_open {
            for name in modules::names() {
                gathered.texts.push('\n');
                gathered.texts.push_str(name);
            }
        }
        gathered
    }

    fn missed(&self, from: &str, want: &Want) -> Remark {
        let file = if from.is_empty() { self.main.clone() } else { from.to_owned() };
        let place = Place { file, line: want.line };
        let detail = match want.word {
            Word::Import => no_file(&want.name),
            Word::Require => self.no_module(&want.name),
        };
        Remark { place, detail }
    }

    /// The name and the text of what a file asks for; nothing for modules of ours.
    fn find(&self, from: &str, word: Word, name: &str) -> Option<(String, String)> {
        let beside = |name: &str, endings: &[&str]| {
            // What is not beside the file that asks may be beside the main one.
            [from, folder_of(from)].iter().find_map(|from| {
                endings.iter().find_map(|ending| {
                    let path = resolve(from, &format!("{name}{ending}"))?;
                    let text = self.library.text(&path)?;
                    Some((path, text))
                })
            })
        };
        if word == Word::Import {
            return beside(name, &IMPORTED);
        }
        let path = name.replace('.', "/");
        beside(&path, &REQUIRED)
            .or_else(|| beside(&format!("modules/{path}"), &REQUIRED))
            .or_else(|| self.kept(from, name))
    }

    fn kept(&self, from: &str, name: &str) -> Option<(String, String)> {
        if is_taken(name) {
            return None;
        }
        let path = self.library.module(from, &ModuleAsk::of(name)?)?;
        let text = self.library.text(&path)?;
        Some((path, text))
    }

    pub fn install(self: Rc<Imports>, lua: &Lua) -> Result<()> {
        let loaded = lua.create_table()?;
        let run = {
            let imports = Rc::clone(&self);
            move |lua: &Lua, word: Word, name: &str| -> Result<Option<Value>> {
                let from = caller(lua).file;
                let from = if from == imports.main { "" } else { from.as_str() };
                let Some((path, text)) = imports.find(from, word, name) else { return Ok(None) };
                let key = identity(&path);
                if let Value::Table(done) = loaded.get::<Value>(key)? {
                    return Ok(Some(done.get("value")?));
                }
                let value: Value = load(lua, &path, &text)?.call(())?;
                let done = lua.create_table()?;
                done.set("value", &value)?;
                loaded.set(key, done)?;
                Ok(Some(value))
            }
        };
        let run = Rc::new(run);
        let globals = lua.globals();
        globals.set("import", {
            let run = Rc::clone(&run);
            lua.create_function(move |lua, name: String| {
                let found = run(lua, Word::Import, &name)?;
                found.ok_or_else(|| mlua::Error::runtime(no_file(&name)))
            })?
        })?;
        globals.set(
            "require",
            lua.create_function(move |lua, name: String| {
                let there = || lua.globals().get::<Value>(name.as_str());
                if let module @ Value::Table(_) = Scene::of(lua).missing.quietly(there)? {
                    return Ok(module);
                }
                if let Some(value) = run(lua, Word::Require, &name)? {
                    return Ok(value);
                }
                if modules::is_known(&name) {
                    return modules::load(lua, &name);
                }
                Err(mlua::Error::runtime(self.no_module(&name)))
            })?,
        )
    }

    /// Says where was looked, and what to do.
    fn no_module(&self, name: &str) -> String {
        let path = name.replace('.', "/");
        let places =
            format!("looked for {path}.lua and {path}/init.lua beside the file and below modules/");
        if let Some(meant) = nearest(name, modules::names()) {
            return format!("there is no module `{name}`; did you mean `{meant}`? {places}");
        }
        let Some(ask) = ModuleAsk::of(name) else {
            return format!("there is no module `{name}`; {places}");
        };
        let file = format!("{}.lua", ask.name);
        match (self.library.shelf(), ask.version) {
            (None, _) => format!(
                "there is no module `{name}`; {places}, and no server was asked: put it there, or log in to a server that keeps it (`hostler workflow module push {file}`)"
            ),
            (Some(shelf), Some(version)) => format!(
                "there is no module `{name}`; {places}, and {shelf} for version {version} of `{}`: `hostler workflow module ls --versions {}` lists them",
                ask.name, ask.name
            ),
            (Some(shelf), None) => format!(
                "there is no module `{name}`; {places}, and {shelf}: put it there, or keep it with `hostler workflow module push {file}`"
            ),
        }
    }
}

fn no_file(name: &str) -> String {
    format!(
        "there is no file `{name}` beside this one; paths are relative to the file that imports or to the main one, and stay below that"
    )
}
