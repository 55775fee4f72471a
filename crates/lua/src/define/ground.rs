//! What a definition stands on: an interpreter with everything in it that a file may ask for, in which nothing of the
//! file has run yet.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

use mlua::{Lua, Value};

use super::globals::{self, Collected};
use super::imports::Imports;
use super::{Given, Remark, defines};
use crate::diagnose::{Mistake, Mistakes, from_error};
use crate::limits::Limits;
use crate::missing::Text;
use crate::modules;
use crate::source::{Bundle, Library};
use crate::stage::Scene;
use crate::vm::{self, Deadline};

pub(super) struct Ground {
    pub lua: Lua,
    pub deadline: Deadline,
    pub scene: Rc<Scene>,
    pub collected: Collected,
    /// What is asked for and not there.
    pub missing: Vec<Remark>,
    pub text: String,
    /// When it has to be done.
    pub until: Option<Instant>,
    limits: Limits,
    name: String,
    library: Rc<Library>,
}

impl Ground {
    pub fn new(
        name: &str,
        text: &str,
        library: Rc<Library>,
        given: &Given,
        unknown: &BTreeSet<String>,
        until: Option<Instant>,
    ) -> Result<Ground, Mistakes> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let limits = given.limits.unwrap_or(Limits::DEFINITION);
        let imports = Rc::new(Imports::new(name, Rc::clone(&library)));
        let gathered = imports.gather(text);
        let mut scene = None;
        let mut collected = None;
        let made = vm::new(limits, |lua| {
            scene = Some(Scene::install(lua)?);
            modules::install(lua, &gathered.texts)?;
            collected = Some(globals::install(lua, imports, given, &gathered.texts)?);
            Ok(())
        });
        let (lua, deadline) =
            made.map_err(|error| told(from_error(&error, name), name, text, &library))?;
        let collected = collected.expect("it was installed");
        collected.hand_over();
        let scene = scene.expect("it was installed");
        scene.missing.take_for_unknown(unknown);
        lua.set_app_data(Text(text.to_owned()));
        let until = until.or(limits.time.map(|time| Instant::now() + time));
        deadline.set(until);
        Ok(Ground {
            lua,
            deadline,
            until,
            limits,
            scene,
            collected,
            missing: gathered.missing,
            text: text.to_owned(),
            name: name.to_owned(),
            library,
        })
    }

    /// Runs the main file from its top. Then there is as much time again to read what it said.
    pub fn run(&self) -> Result<mlua::Result<Value>, Mistakes> {
        let main = globals::load(&self.lua, &self.name, &self.text);
        let main = main.map_err(|error| self.failed(&error))?;
        let is_alone = !["import", "require"].iter().any(|word| self.text.contains(word));
        if is_alone && !defines(&self.text) {
            self.scene.gives_up_with(self.deadline.clone());
        }
        let ran = main.call::<Value>(());
        self.deadline.set(self.limits.time.map(|time| Instant::now() + time));
        Ok(ran)
    }

    /// What is not there and made it fail.
    pub fn blamed(&self, error: &mlua::Error) -> Option<String> {
        self.scene.missing.blamed(&self.lua, &from_error(error, &self.name))
    }

    pub fn failed(&self, error: &mlua::Error) -> Mistakes {
        let mistake = self.scene.missing.explain(&self.lua, from_error(error, &self.name));
        told(mistake, &self.name, &self.text, &self.library)
    }

    /// The text, and that of everything that was used.
    pub fn bundle(&self) -> Bundle {
        Bundle { name: self.name.clone(), text: self.text.clone(), files: self.library.used() }
    }
}

fn told(mistake: Mistake, name: &str, text: &str, library: &Library) -> Mistakes {
    let source = if mistake.place.file == name {
        Some(text.to_owned())
    } else {
        library.text(&mistake.place.file)
    };
    let told = source.map_or(mistake.clone(), |source| mistake.with_text(&source));
    Mistakes(vec![told], Vec::new())
}
