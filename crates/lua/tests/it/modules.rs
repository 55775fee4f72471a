//! Every function of every module is described. That what examples say is true is seen in `proof`.

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
        ("HOME".to_owned(), shared.path().to_string_lossy().into_owned()),
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

/// Prints the names of the functions of a module, also of those in its tables: `run`, `register.file`.
const NAMES: &str = "local seen = {}
local function gather(prefix, from)
  if seen[from] then return end
  seen[from] = true
  for name, value in pairs(from) do
    if type(name) ~= 'string' or name:sub(1, 1) == '_' then continue end
    if type(value) == 'function' then print(prefix .. name)
    elseif type(value) == 'table' then gather(prefix .. name .. '.', value) end
  end
end
gather('', MODULE)";

#[test]
fn every_function_is_described_and_every_described_one_is_there() {
    let mut wrong = Vec::new();
    for module in all() {
        let described: Vec<&str> = module.functions.iter().map(|function| function.name).collect();
        let said = run(&NAMES.replace("MODULE", module.name))
            .unwrap_or_else(|error| panic!("{}: {error}", module.name));
        let there: Vec<&str> = said.iter().flat_map(|line| line.lines()).collect();
        // `channel:send` is a method of an object: that it is there is seen when its example calls it.
        for name in described.iter().filter(|name| !name.contains(':') && !there.contains(name)) {
            wrong.push(format!("{}.{name} is described and not there", module.name));
        }
        for name in there.iter().filter(|name| !described.contains(name)) {
            if !STANDARD.contains(&module.name) && !name.starts_with(borrowed(module.name)) {
                wrong.push(format!("{}.{name} is there and not described", module.name));
            }
        }
        let twice =
            described.iter().enumerate().filter(|(at, name)| described[..*at].contains(name));
        wrong.extend(twice.map(|(_, name)| format!("{}.{name} is described twice", module.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The beginning of names in a module that are described with another: what watches is in `watcher`.
fn borrowed(module: &str) -> &'static str {
    if module == "event" { "register." } else { "nothing" }
}

/// Modules that add to a library of the language.
const STANDARD: [&str; 2] = ["math", "os"];
