//! Every function of every module is described, and what its example says is true.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use hostler_lua::body::{Input, Performer};
use hostler_lua::modules::services::LocalServices;
use hostler_lua::modules::{Acting, Sink, Stream, all};
use hostler_lua::{Bundle, Given};
use hostler_model::workflow::StepEnd;

struct Kept(RefCell<Vec<String>>);

impl Sink for Kept {
    fn say(&self, _: Stream, text: &str) {
        self.0.borrow_mut().push(text.to_owned());
    }
}

/// Runs a text as a script in an empty directory.
pub fn run(text: &str) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    let shared = tempfile::tempdir().unwrap();
    let sink = Rc::new(Kept(RefCell::default()));
    let path = std::env::var("PATH").unwrap_or_default();
    let environment = BTreeMap::from([
        ("PATH".to_owned(), path),
        ("HOME".to_owned(), folder.path().to_string_lossy().into_owned()),
    ]);
    let acting = Rc::new(Acting {
        workdir: folder.path().to_owned(),
        environment,
        secrets: BTreeMap::new(),
        sink: Rc::clone(&sink) as Rc<dyn Sink>,
        check: false,
        exported: RefCell::default(),
        services: Rc::new(LocalServices::new(shared.path()).with_stack("example")),
    });
    let bundle = Bundle { name: "example.lua".into(), text: text.into(), files: BTreeMap::new() };
    let performer = Performer::new(bundle, &Given::default()).map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let local = tokio::task::LocalSet::new();
    let result =
        local.block_on(&runtime, performer.step("example", "main", Input::default(), acting));
    if result.end == StepEnd::Succeeded {
        Ok(sink.0.borrow().clone())
    } else {
        Err(format!("{}: {}", result.end, result.message))
    }
}

#[test]
fn every_example_is_true() {
    let mut wrong = Vec::new();
    for module in all() {
        for function in module.functions.iter().filter(|function| !function.example.is_empty()) {
            if let Err(error) = run(function.example) {
                wrong.push(format!(
                    "{}.{}: {error}\n{}",
                    module.name, function.name, function.example
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_function_is_described_and_every_described_one_is_there() {
    for module in all() {
        let described: Vec<&str> = module.functions.iter().map(|function| function.name).collect();
        let text = format!(
            "local names = {{}} for name, value in pairs({0}) do if type(value) == 'function' then table.insert(names, name) end end table.sort(names) print(table.concat(names, ' '))",
            module.name
        );
        let said = run(&text).unwrap_or_else(|error| panic!("{}: {error}", module.name));
        let there: Vec<&str> = said[0].split(' ').filter(|name| !name.is_empty()).collect();
        for name in &described {
            // `register.file` stands for a function in a table of the module.
            assert!(
                name.contains('.') || name.contains(':') || there.contains(name),
                "{}.{name} is described and not there",
                module.name
            );
        }
        for name in there {
            assert!(
                described.contains(&name) || STANDARD.contains(&module.name),
                "{}.{name} is there and not described",
                module.name
            );
        }
    }
}

/// Modules that add to a library of the language.
const STANDARD: [&str; 2] = ["math", "os"];
