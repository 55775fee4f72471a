//! Modules that drive other programs: what they are called with, and what is made of their answers.
//!
//! Programs here are small scripts on the path of the step that write down how they were called and answer as told.

mod clouds;
mod containers;
mod infrastructure;
mod intelligence;
mod machines;
mod mechanism;
mod repositories;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hostler_lua::body::{Input, Performer};
use hostler_lua::modules::services::LocalServices;
use hostler_lua::modules::{Acting, Sink, Stream};
use hostler_lua::{Bundle, Given};
use hostler_model::workflow::StepEnd;

pub struct Kept(pub RefCell<Vec<String>>);

impl Sink for Kept {
    fn say(&self, _: Stream, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }
}

/// A machine with programs that are not real.
pub struct World {
    pub folder: tempfile::TempDir,
    pub environment: BTreeMap<String, String>,
    pub check: bool,
    pub said: Rc<Kept>,
}

impl World {
    /// A machine with the programs that every machine has.
    pub fn new() -> World {
        let folder = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(folder.path().join("bin")).expect("a directory");
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.path().join("bin").display());
        let home = folder.path().to_string_lossy().into_owned();
        let environment = BTreeMap::from([
            ("PATH".to_owned(), path),
            ("HOME".to_owned(), home),
            ("GIT_CONFIG_COUNT".to_owned(), "2".to_owned()),
            ("GIT_CONFIG_KEY_0".to_owned(), "user.name".to_owned()),
            ("GIT_CONFIG_VALUE_0".to_owned(), "Test".to_owned()),
            ("GIT_CONFIG_KEY_1".to_owned(), "user.email".to_owned()),
            ("GIT_CONFIG_VALUE_1".to_owned(), "test@example.org".to_owned()),
        ]);
        let said = Rc::new(Kept(RefCell::default()));
        World { folder, environment, check: false, said }
    }

    /// One with no program at all.
    pub fn bare() -> World {
        let mut world = World::new();
        world.set("PATH", &world.path("bin").to_string_lossy());
        world
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A program that writes down its words, and then does what the lines of shell say.
    pub fn program(&self, name: &str, lines: &str) {
        let calls = self.path("calls");
        let text = format!(
            "#!/bin/sh\n{{ printf '%s' '{name}'; for word in \"$@\"; do printf '|%s' \"$word\"; done; printf '\\n'; }} >> '{}'\n{lines}\n",
            calls.display()
        );
        write_program(&self.path("bin").join(name), &text);
    }

    /// How programs were called, one a line, the words with bars between them.
    pub fn calls(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("calls")).unwrap_or_default();
        let here = self.folder.path().to_string_lossy().into_owned();
        text.lines().map(|line| line.replace(&here, "~")).collect()
    }

    pub fn acting(&self) -> Rc<Acting> {
        Rc::new(Acting {
            workdir: self.folder.path().to_owned(),
            environment: self.environment.clone(),
            secrets: BTreeMap::new(),
            sink: Rc::clone(&self.said) as Rc<dyn Sink>,
            check: self.check,
            exported: RefCell::default(),
            services: Rc::new(LocalServices::new(self.folder.path().join(".services"))),
        })
    }

    /// Runs the body of a task; what it printed, or how it failed.
    pub fn run(&self, body: &str) -> Result<Vec<String>, String> {
        block_on(self.step(body))
    }

    pub async fn step(&self, body: &str) -> Result<Vec<String>, String> {
        let text = format!(
            "workflow.define('w', {{ tasks = {{ {{ name = 'main', command = function()\n{body}\nreturn true end }} }} }})"
        );
        let before = self.said.0.borrow().len();
        let performer = performer(&text)?;
        let result = performer.step("w", "main", Input::default(), self.acting()).await;
        if result.end == StepEnd::Succeeded {
            Ok(self.said.0.borrow()[before..].to_vec())
        } else {
            Err(result.message)
        }
    }
}

pub fn performer(text: &str) -> Result<Performer, String> {
    let bundle = Bundle { name: "test.lua".into(), text: text.into(), files: BTreeMap::new() };
    Performer::new(bundle, &Given::default()).map_err(|error| error.to_string())
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    tokio::task::LocalSet::new().block_on(&runtime, future)
}

/// Writes it aside and renames it, so that nobody has it open for writing when it is run.
fn write_program(path: &Path, text: &str) {
    let aside = path.with_extension("new");
    std::fs::write(&aside, text).expect("a file");
    std::fs::set_permissions(&aside, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    std::fs::rename(&aside, path).expect("a rename");
}
