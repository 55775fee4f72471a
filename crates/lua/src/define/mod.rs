//! Defining: from the text of a file to the workflows in it.
//!
//! The file is run from its top in an interpreter that can do nothing but compute. What it says about workflows is
//! collected as plain tables by the builders (builder.luau, which speaks every dialect) and read from there
//! (`read`). A file that defines no workflow is one itself: if it has a function `on_event` or tasks of its own they
//! are its steps, and otherwise the whole of it is its only one.

mod amounts;
mod delegation;
mod globals;
mod ground;
mod imports;
mod kinds;
mod lists;
mod module;
mod read;
mod settings;
mod standard;
mod values;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use hostler_model::workflow::{Act, Place, Step, Workflow};
use mlua::{Lua, Table, Value};
use serde_json::Value as Json;

use crate::budget::too_much;
use crate::diagnose::{Mistake, Mistakes, cut};
use crate::limits::Limits;
use crate::modules::Tested;
use crate::source::{Bundle, Files, Library};
use crate::stage::Scene;
use crate::value::json;
use crate::vm::Deadline;
use ground::Ground;

/// The step that is a whole file.
pub(crate) const SCRIPT: &str = "main";
/// How often a file may stumble over what is not there.
const STUMBLES: usize = 8;
/// How often two names are compared to find out what was meant.
const LOOKS: usize = 100_000;
/// How many workflows one file may define.
const MOST_WORKFLOWS: usize = 10_000;
/// What a file calls at its top that is a test.
const TEST: &str = "test.describe";
/// The step that is a handler of events.
pub(crate) const ON_EVENT: &str = "on_event";

/// What a definition may know.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// What the file sees as `values`.
    pub values: Json,
    /// What `os.getenv` answers while it is defined.
    pub env: BTreeMap<String, String>,
    /// What the clock shows while it is defined, in seconds since 1970.
    pub now: i64,
    /// What is only warned of otherwise is a mistake.
    pub strict: bool,
    pub limits: Option<Limits>,
}

/// Something worth telling that does not stop anybody.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    pub place: Place,
    pub detail: String,
}

impl std::fmt::Display for Remark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.detail)
    }
}

/// What a file defines.
#[derive(Clone, Debug)]
pub struct Definition {
    /// In the order of the file; at least one.
    pub workflows: Vec<Workflow>,
    pub remarks: Vec<Remark>,
    /// The text, and that of what it imports: all that is needed to define it again.
    pub bundle: Bundle,
    /// What the file says about `outputs` at its end.
    pub outputs: Json,
}

/// Runs the definition in a file.
pub fn define(
    name: &str,
    text: &str,
    files: Box<dyn Files>,
    given: &Given,
) -> Result<Definition, Mistakes> {
    Live::new(name, text, files, given).map(|live| live.definition)
}

/// A definition whose interpreter is still there, with its functions.
pub(crate) struct Live {
    pub lua: Lua,
    pub deadline: Deadline,
    pub scene: Rc<Scene>,
    pub definition: Definition,
    /// The tables of the steps, by workflow and step.
    pub steps: BTreeMap<(String, String), Table>,
    /// The tables of the workflows.
    pub workflows: BTreeMap<String, Table>,
}

/// What reading the tables finds.
#[derive(Default)]
pub(crate) struct Notes {
    pub mistakes: Vec<Mistake>,
    pub remarks: Vec<Remark>,
}

impl Notes {
    /// More of a kind are not told to anybody.
    pub const MOST: usize = 1000;

    pub fn remark(&mut self, remark: Remark) {
        if self.remarks.len() < Notes::MOST {
            self.remarks.push(remark);
        }
    }

    pub fn mistake(&mut self, mistake: Mistake) {
        if self.mistakes.len() < Notes::MOST {
            self.mistakes.push(mistake);
        }
    }
}

impl Live {
    pub fn new(
        name: &str,
        text: &str,
        files: Box<dyn Files>,
        given: &Given,
    ) -> Result<Live, Mistakes> {
        let (ground, returned) = Live::run(name, text, files, given)?;
        let mut notes = Notes { remarks: ground.missing.clone(), ..Notes::default() };
        let mut live = Live {
            definition: Definition {
                workflows: Vec::new(),
                remarks: Vec::new(),
                bundle: ground.bundle(),
                outputs: Json::Null,
            },
            lua: ground.lua.clone(),
            deadline: ground.deadline.clone(),
            scene: Rc::clone(&ground.scene),
            steps: BTreeMap::new(),
            workflows: BTreeMap::new(),
        };
        // What is read is thrown away soon, and it is no more than the file has made: nobody need look for garbage.
        live.lua.gc_stop();
        let read = live.collect(&ground.collected, &returned, &mut notes);
        live.lua.gc_restart();
        read.map_err(|error| ground.failed(&error))?;
        live.deadline.set(None);
        live.finish(notes, given.strict)
    }

    /// Runs a file, once more where it stumbled over something that is not there and that is nothing of ours.
    fn run(
        name: &str,
        text: &str,
        files: Box<dyn Files>,
        given: &Given,
    ) -> Result<(Ground, Value), Mistakes> {
        let library = Rc::new(Library::new(files));
        let mut unknown = BTreeSet::new();
        let mut until = None;
        loop {
            let ground = Ground::new(name, text, Rc::clone(&library), given, &unknown, until)?;
            until = until.or(ground.until);
            let error = match ground.run()? {
                Ok(value) => return Ok((ground, value)),
                Err(error) => error,
            };
            if is_script(&ground.text, &ground.scene) && !is_too_large(&error) {
                let _it_will_be_told_when_it_runs = error;
                return Ok((ground, Value::Nil));
            }
            let blamed = if defines(text) { ground.blamed(&error) } else { None };
            if unknown.len() >= STUMBLES || !blamed.is_some_and(|name| unknown.insert(name)) {
                return Err(ground.failed(&error));
            }
        }
    }

    /// Reads everything that the file said about workflows.
    fn collect(
        &mut self,
        collected: &globals::Collected,
        returned: &Value,
        notes: &mut Notes,
    ) -> mlua::Result<()> {
        let said = collected.notes.take();
        notes.mistakes.extend(said.mistakes);
        notes.remarks.extend(said.remarks);
        for (place, detail) in self.scene.missing.remarks(&self.lua) {
            notes.remark(Remark { place, detail });
        }
        let mut reader = read::Reader::new(&self.lua, &collected.fields_of, notes);
        let mut found = Vec::new();
        for raw in collected.registered.sequence_values::<Table>() {
            found.push(reader.workflow(&raw?)?);
            if found.len() >= MOST_WORKFLOWS {
                return Err(too_much());
            }
        }
        let only = found.len() == 1;
        for (at, raw) in collected.registered.sequence_values::<Table>().enumerate() {
            if found[at].0.steps.is_empty() {
                found[at] = reader.adopting(&raw?, &collected.drafted, only)?;
            }
        }
        let globals = self.lua.globals();
        if let Value::Table(groups) = globals.get("TaskDefinitions")? {
            found.extend(reader.legacy(&groups)?);
        }
        if found.is_empty() {
            found.push(self.implied(&mut reader, collected, returned)?);
        }
        if self.scene.deferred.borrow().contains_key(TEST) {
            let tested = found.drain(..).map(|(workflow, _, steps)| (workflow, steps)).collect();
            self.lua.set_app_data(Rc::new(Tested(tested)));
            found.push(self.whole(None)?);
        }
        let stack: Option<String> = collected.stack.borrow().clone();
        for (mut workflow, raw, steps) in found {
            workflow.stack = workflow.stack.or_else(|| stack.clone());
            for (step, raw) in workflow.steps.iter().zip(steps) {
                self.steps.insert((workflow.name.clone(), step.name.clone()), raw);
            }
            self.workflows.insert(workflow.name.clone(), raw);
            self.definition.workflows.push(workflow);
        }
        self.definition.outputs = json(&globals.get::<Value>("outputs")?, &reader.budget)?;
        Ok(())
    }

    /// The workflow that a file is which defines none.
    fn implied(
        &self,
        reader: &mut read::Reader<'_>,
        collected: &globals::Collected,
        returned: &Value,
    ) -> mlua::Result<read::Found> {
        let name = stem(&self.definition.bundle.name);
        let raw = self.lua.create_table()?;
        raw.set("name", name)?;
        if collected.drafted.raw_len() > 0 {
            raw.set("tasks", &collected.drafted)?;
            reader.notes.remarks.push(Remark {
                place: Place { file: self.definition.bundle.name.clone(), line: 1 },
                detail: format!(
                    "its tasks are in no workflow; they are taken as those of `{name}`. Say it: workflow.define(\"{name}\"):tasks({{...}})"
                ),
            });
            return reader.workflow(&raw);
        }
        let handler = match self.lua.globals().get::<Value>(ON_EVENT)? {
            Value::Function(handler) => Some(handler),
            _ => match returned {
                Value::Table(table) => match table.get::<Value>("execute")? {
                    Value::Function(handler) => Some(handler),
                    _ => None,
                },
                _ => None,
            },
        };
        self.whole(handler)
    }

    /// The workflow whose only step is a handler, or the file from its top to its end.
    fn whole(&self, handler: Option<mlua::Function>) -> mlua::Result<read::Found> {
        let name = stem(&self.definition.bundle.name);
        let (raw, step_raw) = (self.lua.create_table()?, self.lua.create_table()?);
        raw.set("name", name)?;
        let act = if handler.is_some() { Act::Function } else { Act::Script };
        let step_name = if handler.is_some() { ON_EVENT } else { SCRIPT };
        step_raw.set("name", step_name)?;
        step_raw.set("command", handler)?;
        let step = Step {
            name: step_name.to_owned(),
            act,
            place: Place { file: self.definition.bundle.name.clone(), line: 1 },
            ..Step::default()
        };
        let workflow = Workflow { name: name.to_owned(), steps: vec![step], ..Workflow::default() };
        Ok((workflow, raw, vec![step_raw]))
    }

    /// Judges the graphs, and tells what was only noticed.
    fn finish(mut self, mut notes: Notes, strict: bool) -> Result<Live, Mistakes> {
        let is_script = self
            .definition
            .workflows
            .iter()
            .any(|workflow| workflow.steps.iter().any(|step| step.act == Act::Script));
        if !is_script {
            for (what, place) in self.scene.deferred.borrow().iter() {
                let what = if what == "export.values" { "export" } else { what };
                notes.remarks.push(Remark {
                    place: place.clone(),
                    detail: format!(
                        "`{what}` does nothing while a workflow is defined; call it in the body of a task"
                    ),
                });
            }
        }
        for workflow in &mut self.definition.workflows {
            forget_most_strangers(workflow);
            for problem in workflow.problems() {
                notes.mistake(Mistake::at(problem.place, cut(&problem.detail, 2000)));
            }
        }
        let mut names = BTreeSet::new();
        for workflow in &self.definition.workflows {
            if !names.insert(workflow.name.as_str()) {
                notes.mistake(Mistake::at(
                    workflow.place.clone(),
                    format!(
                        "two workflows are called `{}`; give one of them another name",
                        workflow.name
                    ),
                ));
            }
        }
        if strict {
            notes.mistakes.extend(
                notes.remarks.drain(..).map(|remark| Mistake::at(remark.place, remark.detail)),
            );
        }
        notes.remarks.sort();
        notes.remarks.dedup();
        if !notes.mistakes.is_empty() {
            notes.mistakes.sort();
            notes.mistakes.dedup();
            return Err(Mistakes(notes.mistakes, notes.remarks));
        }
        self.definition.remarks = notes.remarks;
        Ok(self)
    }
}

/// Leaves only the first of the dependencies that are not there, which is a mistake with any of them: what was meant is
/// looked for among all names, and that takes long where there are many of both.
fn forget_most_strangers(workflow: &mut Workflow) {
    let all = |step: &Step| step.depends_on.len() + step.after_failure_of.len();
    if workflow.steps.iter().map(all).sum::<usize>() * workflow.steps.len() <= LOOKS {
        return;
    }
    let known: BTreeSet<String> = workflow.steps.iter().map(|step| step.name.clone()).collect();
    let mut left = (LOOKS / known.len().max(1)).max(1);
    let mut is_told = |name: &String| {
        let is_known = known.contains(name);
        let is_told = is_known || left > 0;
        left -= usize::from(!is_known && is_told);
        is_told
    };
    for step in &mut workflow.steps {
        step.depends_on.retain(&mut is_told);
        step.after_failure_of.retain(&mut is_told);
    }
}

/// Whether a file that failed is one that acts instead of defining.
fn is_script(text: &str, scene: &Scene) -> bool {
    !defines(text) && !scene.deferred.borrow().is_empty()
}

/// Whether a text has words that define something.
fn defines(text: &str) -> bool {
    let is_own = |at: usize| {
        let line = text[..at].rsplit('\n').next().unwrap_or_default();
        let before = line.trim_end().chars().next_back();
        before.is_none_or(|c| c != '.' && !c.is_alphanumeric() && c != '_')
    };
    text.contains("TaskDefinitions")
        || ["workflow", "task("]
            .iter()
            .any(|word| text.match_indices(word).any(|(at, _)| is_own(at)))
}

fn is_too_large(error: &mlua::Error) -> bool {
    matches!(error, mlua::Error::MemoryError(_))
}

/// The name of a file without its directories and its ending.
fn stem(name: &str) -> &str {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

pub(crate) use amounts::span as span_of;
pub(crate) use delegation::delegation_of;
pub(crate) use globals::load;
pub use module::module;
pub(crate) use read::handler_field;
