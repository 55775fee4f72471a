//! What a definition stands on: an interpreter with everything in it that a file may ask for, in which nothing of the
//! file has run yet.

use std::rc::Rc;
use std::time::Instant;

use mlua::{Lua, Value};

use super::globals::{self, Collected};
use super::imports::Imports;
use super::{Given, Remark, defines};
use crate::diagnose::{Mistakes, from_error};
use crate::limits::Limits;
use crate::modules;
use crate::source::{Bundle, Files, Library};
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
    name: String,
    library: Rc<Library>,
}

impl Ground {
    pub fn new(
        name: &str,
        text: &str,
        files: Box<dyn Files>,
        given: &Given,
    ) -> Result<Ground, Mistakes> {
        let library = Rc::new(Library::new(files));
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let limits = given.limits.unwrap_or(Limits::DEFINITION);
        let imports = Rc::new(Imports::new(name, Rc::clone(&library)));
        let gathered = imports.gather(text);
        let mut scene = None;
        let mut collected = None;
        let made = vm::new(limits, |lua| {
            scene = Some(Scene::install(lua)?);
            modules::install(lua, &gathered.texts)?;
            collected = Some(globals::install(lua, imports, given)?);
            Ok(())
        });
        let (lua, deadline) = made.map_err(|error| told(&error, name, text, &library))?;
        let collected = collected.expect("it was installed");
        collected.hand_over();
        Ok(Ground {
            lua,
            deadline,
            scene: scene.expect("it was installed"),
            collected,
            missing: gathered.missing,
            text: text.to_owned(),
            name: name.to_owned(),
            library,
        })
    }

    /// Runs the main file from its top.
    pub fn run(&self) -> Result<mlua::Result<Value>, Mistakes> {
        let main = globals::load(&self.lua, &self.name, &self.text);
        let main = main.map_err(|error| self.failed(&error))?;
        let is_alone = !["import", "require"].iter().any(|word| self.text.contains(word));
        if is_alone && !defines(&self.text) {
            self.scene.gives_up_with(self.deadline.clone());
        }
        let ran = main.call::<Value>(());
        self.deadline.set(None::<Instant>);
        Ok(ran)
    }

    pub fn failed(&self, error: &mlua::Error) -> Mistakes {
        told(error, &self.name, &self.text, &self.library)
    }

    /// The text, and that of everything that was used.
    pub fn bundle(&self) -> Bundle {
        Bundle { name: self.name.clone(), text: self.text.clone(), files: self.library.used() }
    }
}

fn told(error: &mlua::Error, name: &str, text: &str, library: &Library) -> Mistakes {
    let mistake = from_error(error, name);
    let source = if mistake.place.file == name {
        Some(text.to_owned())
    } else {
        library.text(&mistake.place.file)
    };
    let told = source.map_or(mistake.clone(), |source| mistake.with_text(&source));
    Mistakes(vec![told], Vec::new())
}
