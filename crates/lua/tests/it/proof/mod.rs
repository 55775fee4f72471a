//! That every function of every module is really carried out by some test.
//!
//! What proves a function is one of three things. Its example calls it: that is seen, not believed, because the
//! modules of an example are watched (watch.luau) while it runs; a call within a function that nobody calls counts for
//! nothing. An example that only shows what it would run (`show_only`) is done again, against a program of that name
//! that writes down its words (`replay`): they have to be the same ones, and none in check mode. What changes a machine
//! has a case (`cases`): it is checked, applied, and applied again on a machine that is a directory and a few programs.

mod cases;
mod replay;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

use hostler_lua::body::{Input, Performer};
use hostler_lua::modules::services::LocalServices;
use hostler_lua::modules::{Acting, Described, Module, Sink, Stream, all};
use hostler_lua::{Bundle, Given};
use hostler_model::workflow::StepEnd;

use crate::system::reach::a_tunnel_is_there_until_it_is_closed;

const WATCH: &str = include_str!("watch.luau");

/// Modules whose objects the language keeps closed: that their methods are called is read in the text of an example
/// that went well.
const CLOSED: [&str; 2] = ["goroutine", "io"];

/// Modules that are another one under a second name.
const ALIASES: [(&str, &str); 4] = [
    ("k8s", "kubernetes"),
    ("kubectl", "kubernetes"),
    ("notification", "notifications"),
    ("notify", "notifications"),
];

/// Functions that a test of their own carries out, and which one.
const TESTED: [(&str, fn()); 2] = [
    ("ssh.create_tunnel", a_tunnel_is_there_until_it_is_closed),
    ("ssh.close_tunnel", a_tunnel_is_there_until_it_is_closed),
];

/// What an example is watched for.
#[derive(Clone, Copy)]
enum Mode {
    Look,
    Apply,
    Check,
}

struct Kept(RefCell<Vec<String>>);

impl Sink for Kept {
    fn say(&self, _: Stream, text: &str) {
        self.0.borrow_mut().extend(text.lines().map(str::to_owned));
    }
}

/// Runs an example in an empty directory below one that may have programs in its `bin`, with its module watched: the
/// lines it said, and how it failed.
fn watched(
    folder: &Path,
    module: &str,
    example: &str,
    mode: Mode,
) -> (Vec<String>, Option<String>) {
    let word = match mode {
        Mode::Look => "look",
        Mode::Apply => "apply",
        Mode::Check => "check",
    };
    let text = format!(
        "local watch = (function(...) {WATCH} end)('{word}')\nlocal {module} = watch('{module}', {module})\n{example}"
    );
    let [work, home, shared] = ["desk", "home", "shared"].map(|name| folder.join(name));
    for folder in [&work, &home, &shared] {
        let _it_may_not_be_there = std::fs::remove_dir_all(folder);
        std::fs::create_dir(folder).unwrap();
    }
    let sink = Rc::new(Kept(RefCell::default()));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", folder.join("bin").display());
    let acting = Rc::new(Acting {
        workdir: work.clone(),
        environment: BTreeMap::from([
            ("PATH".to_owned(), path),
            ("HOME".to_owned(), home.to_string_lossy().into_owned()),
        ]),
        secrets: BTreeMap::new(),
        sink: Rc::clone(&sink) as Rc<dyn Sink>,
        check: matches!(mode, Mode::Check),
        exported: RefCell::default(),
        services: Rc::new(LocalServices::new(&shared).with_stack("example")),
    });
    let bundle = Bundle { name: "example.lua".into(), text, files: BTreeMap::new() };
    let performer = match Performer::new(bundle, &Given::default()) {
        Ok(performer) => performer,
        Err(error) => return (Vec::new(), Some(error.to_string())),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = tokio::task::LocalSet::new()
        .block_on(&runtime, performer.step("example", "main", Input::default(), acting));
    let error = (result.end != StepEnd::Succeeded).then_some(result.message);
    (sink.0.borrow().clone(), error)
}

/// What the lines with a word before them say.
fn after<'a>(said: &'a [String], word: &str) -> Vec<&'a str> {
    said.iter().filter_map(|line| line.strip_prefix(word)).collect()
}

fn full(module: &Module, function: &Described) -> String {
    format!("{}.{}", module.name, function.name)
}

/// Whether the example of a function carries it out; an error where what it says is not true.
fn is_exemplified(module: &Module, function: &Described) -> Result<bool, String> {
    let folder = tempfile::tempdir().unwrap();
    let (said, error) = watched(folder.path(), module.name, function.example, Mode::Look);
    if let Some(error) = error {
        return Err(format!("{}: {error}\n{}", full(module, function), function.example));
    }
    let called = after(&said, "called ");
    Ok(match function.name.split_once(':') {
        None => called.contains(&full(module, function).as_str()),
        Some((_, method)) => {
            called.contains(&format!("{}:{method}", module.name).as_str())
                || CLOSED.contains(&module.name)
                    && function.example.contains(&format!(":{method}"))
                    && !function.example.starts_with("local function")
        }
    })
}

#[test]
fn every_function_has_an_example() {
    for module in all() {
        for function in module.functions {
            assert!(!function.example.is_empty(), "{} has no example", full(module, function));
        }
    }
}

#[test]
fn every_example_is_true_and_every_function_is_proven() {
    let tested = TESTED.iter().map(|(name, _)| *name);
    let cases: BTreeSet<&str> = cases::functions().chain(tested).collect();
    let mut described = BTreeSet::new();
    let (mut bare, mut wrong) = (Vec::new(), Vec::new());
    for module in all() {
        for function in module.functions {
            let name = full(module, function);
            let exemplified = is_exemplified(module, function).unwrap_or_else(|error| {
                wrong.push(error);
                false
            });
            let alias = ALIASES.iter().find(|(alias, _)| *alias == module.name);
            let is_proven = match alias {
                Some((_, of)) => all().any(|module| {
                    module.name == *of
                        && module.functions.iter().any(|known| known.name == function.name)
                }),
                None => cases.contains(name.as_str()) || exemplified,
            };
            if !is_proven {
                bare.push(name.clone());
            }
            described.insert(name);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(
        bare.is_empty(),
        "no test carries these out; let their example call them, or add a case: {bare:#?}"
    );
    let unknown: Vec<&str> = cases.into_iter().filter(|name| !described.contains(*name)).collect();
    assert!(unknown.is_empty(), "cases of functions that nobody describes: {unknown:?}");
}
