//! Loading: files in, a whole set or a report of everything that is wrong out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hostler_model::Name;

use crate::folder;
use crate::master_control;
use crate::mistake::{Mistake, Notes, Report};
use crate::ours::{self, Written};
use crate::parse::parse;
use crate::relations;
use crate::set::{Item, Set, Source};
use crate::template::{self, Context};
use crate::tree::{Entry, Node, Value};

/// Loads every workload file of a folder.
pub fn load_dir(path: &Path) -> Result<Set, Report> {
    Loader::new().dir(path)
}

/// Loads one workload file.
pub fn load_file(path: &Path) -> Result<Set, Report> {
    Loader::new().file(path)
}

/// Loads a text; `name` stands for the file in what is said about it.
pub fn load_str(name: &str, text: &str) -> Result<Set, Report> {
    Loader::new().str(name, text)
}

/// How files are loaded.
#[derive(Clone, Debug)]
pub struct Loader {
    env: BTreeMap<String, String>,
    known: BTreeSet<Name>,
    is_open: bool,
    home: Option<String>,
}

impl Default for Loader {
    fn default() -> Loader {
        Loader::new()
    }
}

/// A text that was read, and the workloads found in it.
#[derive(Default)]
pub(crate) struct Batch {
    pub texts: Vec<Text>,
    pub found: Vec<Found>,
    pub mistakes: Vec<Mistake>,
    /// Names that stand in documents which could not be read at all.
    pub lost: BTreeSet<String>,
}

pub(crate) struct Text {
    pub file: String,
    pub text: String,
    pub caution: &'static str,
}

pub(crate) struct Found {
    /// Number of the text.
    pub text: usize,
    pub written: Written,
}

impl Text {
    pub fn notes(&self) -> Notes<'_> {
        Notes { caution: self.caution, ..Notes::new(&self.file, &self.text) }
    }
}

impl Loader {
    /// Templates see the environment of this process.
    pub fn new() -> Loader {
        let pairs = std::env::vars_os();
        let env = pairs.filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
        Loader { env: env.collect(), known: BTreeSet::new(), is_open: false, home: None }
    }

    /// Templates see this as `env`.
    #[must_use]
    pub fn env(mut self, env: BTreeMap<String, String>) -> Loader {
        self.env = env;
        self
    }

    /// Workloads that exist besides those in the files, and can be depended on.
    #[must_use]
    pub fn known(mut self, names: impl IntoIterator<Item = Name>) -> Loader {
        self.known.extend(names);
        self
    }

    /// Dependencies on workloads that are not in the files are not looked at.
    #[must_use]
    pub fn open(mut self) -> Loader {
        self.is_open = true;
        self
    }

    /// Working directory of workloads in Master Control's form, which has no field for it.
    #[must_use]
    pub fn home(mut self, dir: impl Into<String>) -> Loader {
        self.home = Some(dir.into());
        self
    }

    /// Loads every workload file of a folder.
    pub fn dir(&self, path: &Path) -> Result<Set, Report> {
        let found = folder::walk(path);
        let mut batch = Batch { mistakes: found.mistakes, ..Batch::default() };
        let context = self.context(path, &mut batch);
        for file in &found.files {
            self.read(file, &context, &mut batch);
        }
        self.finish(batch)
    }

    /// Loads one workload file. Templates in it see the `vars.yaml` beside it.
    pub fn file(&self, path: &Path) -> Result<Set, Report> {
        let mut batch = Batch::default();
        let context = self.context(path.parent().unwrap_or(Path::new("")), &mut batch);
        self.read(path, &context, &mut batch);
        self.finish(batch)
    }

    /// Loads a text; `name` stands for the file in what is said about it.
    pub fn str(&self, name: &str, text: &str) -> Result<Set, Report> {
        let mut batch = Batch::default();
        let context = Context { env: self.env.clone(), ..Context::default() };
        if text.len() > folder::FILE_MAX {
            batch.mistakes.push(folder::too_large(Path::new(name)));
        } else {
            self.text(name, text.to_owned(), &context, &mut batch);
        }
        self.finish(batch)
    }

    fn context(&self, dir: &Path, batch: &mut Batch) -> Context {
        let mut context = Context { env: self.env.clone(), ..Context::default() };
        for name in ["vars.yaml", "vars.yml"] {
            let path = dir.join(name);
            if !path.exists() {
                continue;
            }
            let file = path.display().to_string();
            let found = folder::read(&path)
                .map_err(|mistake| vec![mistake])
                .and_then(|text| template::variables(&file, &text, ""));
            match found {
                Ok(more) => context.shared.extend(more),
                Err(mistakes) => batch.mistakes.extend(mistakes),
            }
        }
        context
    }

    fn read(&self, path: &Path, context: &Context, batch: &mut Batch) {
        match folder::read(path) {
            Ok(text) => self.text(&path.display().to_string(), text, context, batch),
            Err(mistake) => batch.mistakes.push(mistake),
        }
    }

    fn text(&self, file: &str, text: String, context: &Context, batch: &mut Batch) {
        let mut read = Text { file: file.to_owned(), text, caution: "" };
        if template::is_template(&read.text) {
            match template::render(file, &read.text, context, folder::FILE_MAX) {
                Ok(filled) => {
                    if filled.lines().count() != read.text.lines().count() {
                        read.caution = "lines are counted after the templates were filled in";
                    }
                    read.text = filled;
                }
                Err(mistakes) => {
                    batch.lost.extend(names_in(&read.text));
                    return batch.mistakes.extend(mistakes);
                }
            }
        }
        let mut notes = read.notes();
        let stream = parse(&read.text, &mut notes);
        if stream.is_broken {
            batch.lost.extend(names_in(&read.text));
        }
        let number = batch.texts.len();
        for document in stream.documents {
            let workloads = split(document, &mut notes).into_iter();
            batch.found.extend(workloads.map(|node| {
                let written = match node.get("run_mode") {
                    Some(_) => master_control::read(node, self.home.as_deref(), &mut notes),
                    None => ours::read(node, &mut notes),
                };
                Found { text: number, written }
            }));
        }
        batch.mistakes.append(&mut notes.found);
        batch.texts.push(read);
    }

    fn finish(&self, mut batch: Batch) -> Result<Set, Report> {
        relations::check(&mut batch, &self.known, self.is_open);
        if !batch.mistakes.is_empty() {
            return Err(Report::new(batch.mistakes));
        }
        let mut set = Set::default();
        for Found { text, written } in batch.found {
            if let (Some(name), Some(spec)) = (written.name, written.spec) {
                let file = batch.texts[text].file.clone();
                let source = Source { file, line: written.name_place.line };
                set.workloads.insert(name, Item { spec, source });
            }
        }
        Ok(set)
    }
}

/// The workloads of a document: itself, or those in its list.
fn split(mut document: Node, notes: &mut Notes<'_>) -> Vec<Node> {
    let Value::Map(entries) = &mut document.value else {
        let hint = "write `name: …` and the other fields, or a list below `workloads:`";
        if document.value != Value::Lost {
            notes.at(document.place, "a workload file holds a mapping", hint);
        }
        return Vec::new();
    };
    entries.retain(|entry| entry.key != "vars" && !entry.key.starts_with("x-"));
    if entries.is_empty() {
        return Vec::new();
    }
    let Some(list) = document.take("workloads") else {
        return vec![document];
    };
    if let Value::Map(rest) = &document.value {
        for Entry { key, place, .. } in rest {
            let hint = "only `vars` and fields that begin with `x-` do";
            notes.at(*place, format!("`{key}` does not belong beside `workloads`"), hint);
        }
    }
    match list.node.value {
        Value::List(items) => items.into_iter().filter_map(|item| workload(item, notes)).collect(),
        Value::Lost => Vec::new(),
        _ if list.node.is_nothing() => Vec::new(),
        _ => {
            let hint = "write each workload after `- `";
            notes.at(list.node.place, "`workloads` must be a list", hint);
            Vec::new()
        }
    }
}

fn workload(mut item: Node, notes: &mut Notes<'_>) -> Option<Node> {
    match &mut item.value {
        Value::Map(entries) => entries.retain(|entry| !entry.key.starts_with("x-")),
        Value::Lost => return None,
        _ => {
            let hint = "write `name: …` and the other fields after `- `";
            notes.at(item.place, "a workload is a mapping", hint);
            return None;
        }
    }
    Some(item)
}

/// What looks like a name in a text that is not YAML, so that nobody is told it does not exist.
fn names_in(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| {
        let line = line.trim_start().trim_start_matches("- ").trim_start();
        let name = line.strip_prefix("name:")?.trim().trim_matches(['"', '\'']);
        ours::as_name(name).map(|name| name.to_string())
    })
}
