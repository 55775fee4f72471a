//! A directory, an observer that remembers, and executions in it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use hostler_flow::{FlowError, Journal, Observer, Past, Report, Setup, Told, run};
use hostler_lua::body::{Performer, Sharing};
use hostler_lua::{Bundle, Given};
use hostler_model::workflow::Step;

/// Remembers what it was told, in words.
#[derive(Default)]
pub struct Memory {
    pub told: RefCell<Vec<String>>,
    names: RefCell<Vec<String>>,
    pub agrees: Option<bool>,
}

impl Memory {
    pub fn lines(&self) -> Vec<String> {
        self.told.borrow().clone()
    }
    pub fn has(&self, line: &str) -> bool {
        self.told.borrow().iter().any(|told| told == line)
    }
}

impl Observer for Memory {
    fn told(&self, told: &Told<'_>) {
        let name = |step: usize| self.names.borrow()[step].clone();
        let line = match told {
            Told::Began { workflow } => {
                *self.names.borrow_mut() =
                    workflow.steps.iter().map(|step| step.name.clone()).collect();
                return;
            }
            Told::Started { step, attempt } => format!("start {}#{attempt}", name(*step)),
            Told::Said { step: Some(step), text, .. } => format!("{}: {text}", name(*step)),
            Told::Said { step: None, text, .. } => format!("workflow: {text}"),
            Told::Again { step, attempt, .. } => format!("again {}#{attempt}", name(*step)),
            Told::Ended { step, result, .. } => format!("end {} {}", name(*step), result.end),
            Told::Skipped { step, reason } => format!("skip {} {reason}", name(*step)),
            Told::Undoing { step } => format!("undo {}", name(*step)),
            Told::Undone { step, result } => format!("undone {} {}", name(*step), result.end),
            Told::Warned { text } => format!("warn {text}"),
        };
        self.told.borrow_mut().push(line);
    }
    fn agrees(&self, _: &Step) -> Option<bool> {
        self.agrees
    }
}

pub struct World {
    folder: tempfile::TempDir,
    pub memory: Rc<Memory>,
    pub setup: Setup,
}

impl World {
    pub fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let setup = Setup {
            workdir: folder.path().to_owned(),
            services: Sharing::Folder(folder.path().join(".services")),
            environment: BTreeMap::from([(
                "PATH".into(),
                std::env::var("PATH").unwrap_or_default(),
            )]),
            at_once: 8,
            ..Setup::default()
        };
        World { folder, memory: Rc::default(), setup }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
    /// Where its journal is. What runs carries its name, so it is nobody else's.
    pub fn execution(&self) -> PathBuf {
        let own = self.folder.path().file_name().unwrap_or_default();
        self.folder.path().join("executions").join(own)
    }
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn performer(&self, text: &str) -> Rc<Performer> {
        let bundle = Bundle { name: "w.sloth".into(), text: text.into(), files: BTreeMap::new() };
        let given = Given { values: self.setup.values.clone(), ..Given::default() };
        Rc::new(Performer::new(bundle, &given).unwrap_or_else(|mistakes| panic!("{mistakes}")))
    }

    /// Carries out the first workflow of a text.
    pub fn run(&self, text: &str) -> Result<Report, FlowError> {
        self.run_until(text, std::future::pending())
    }

    pub fn run_until(
        &self,
        text: &str,
        stop: impl Future<Output = ()>,
    ) -> Result<Report, FlowError> {
        let journal = Journal::create(&self.execution()).ok();
        self.carry_out(self.performer(text), journal.map(|journal| (journal, None)), stop)
    }

    /// Goes on with what is in the journal.
    pub fn resume(&self) -> Result<Report, FlowError> {
        let (journal, past) = Journal::open(&self.execution())?;
        let performer = self.performer(&past.bundle.text.clone());
        self.carry_out(performer, Some((journal, Some(past))), std::future::pending())
    }

    pub fn past(&self) -> Past {
        Past::of(&self.execution()).unwrap()
    }

    fn carry_out(
        &self,
        performer: Rc<Performer>,
        journal: Option<(Journal, Option<Past>)>,
        stop: impl Future<Output = ()>,
    ) -> Result<Report, FlowError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let local = tokio::task::LocalSet::new();
        let name = performer.definition().workflows[0].name.clone();
        let observer: Rc<dyn Observer> = Rc::clone(&self.memory) as Rc<dyn Observer>;
        local.block_on(&runtime, run(performer, &name, self.setup.clone(), journal, observer, stop))
    }
}

pub fn status<'a>(report: &'a Report, step: &str) -> &'a str {
    &report.tasks.iter().find(|task| task.name == step).unwrap().status
}
