//! What examples cannot show of the modules that compute and move bytes.

mod database;
mod files;
mod network;
mod values;
mod web;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

use hostler_lua::body::{Input, Performer};
use hostler_lua::modules::services::LocalServices;
use hostler_lua::modules::{Acting, Sink, Stream};
use hostler_lua::{Bundle, Given};
use hostler_model::workflow::{StepEnd, StepResult};

#[derive(Default)]
struct Kept(RefCell<Vec<(Stream, String)>>);

impl Sink for Kept {
    fn say(&self, stream: Stream, text: &str) {
        self.0.borrow_mut().push((stream, text.to_owned()));
    }
}

/// A directory in which steps run, and what they see.
struct World {
    folder: tempfile::TempDir,
    environment: BTreeMap<String, String>,
    check: bool,
    said: Rc<Kept>,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let environment = BTreeMap::from([("PATH".to_owned(), path)]);
        World { folder, environment, check: false, said: Rc::default() }
    }

    fn checking() -> World {
        World { check: true, ..World::new() }
    }

    fn with(mut self, name: &str, value: &str) -> World {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    /// A program of the step that is a script of ours.
    fn with_program(self, name: &str, script: &str) -> World {
        use std::os::unix::fs::PermissionsExt;
        let bin = self.folder.path().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(bin.join(name), mode).unwrap();
        let path = format!("{}:{}", bin.display(), self.environment["PATH"]);
        self.with("PATH", &path)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn acting(&self) -> Rc<Acting> {
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

    fn said(&self) -> Vec<String> {
        self.said.0.borrow().iter().map(|(_, text)| text.clone()).collect()
    }

    fn complaints(&self) -> Vec<String> {
        let said = self.said.0.borrow();
        let errors = said.iter().filter(|(stream, _)| *stream == Stream::Error);
        errors.map(|(_, text)| text.clone()).collect()
    }

    async fn step(&self, text: &str) -> StepResult {
        performer(text).step("example", "main", Input::default(), self.acting()).await
    }

    /// Runs a script that has to go well.
    fn run(&self, text: &str) {
        alone(async {
            let result = self.step(text).await;
            assert_eq!(result.end, StepEnd::Succeeded, "{}\n{text}", result.message);
        });
    }

    /// Runs a script that has to fail, and gives why.
    fn fail(&self, text: &str) -> String {
        alone(async {
            let result = self.step(text).await;
            assert_eq!(result.end, StepEnd::Failed, "{text}");
            result.message
        })
    }
}

fn performer(text: &str) -> Performer {
    let bundle = Bundle { name: "example.lua".into(), text: text.into(), files: BTreeMap::new() };
    Performer::new(bundle, &Given::default()).unwrap()
}

/// Runs something as bodies of steps are run, for a minute at most.
fn alone<T>(f: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        tokio::time::timeout(Duration::from_secs(60), f).await.expect("it takes too long")
    })
}

/// Waits for a condition.
async fn eventually(mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("it never came to hold");
}
