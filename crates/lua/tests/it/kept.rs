//! Modules that a server keeps: asked for by name, brought by whoever runs the definition, and pinned.

use std::collections::BTreeMap;

use hostler_lua::body::Performer;
use hostler_lua::{Bundle, Definition, Given, Mistakes, NoFiles, ROUNDS, Shelf, define, module};
use hostler_model::workflow::ModuleAsk;

/// What a server keeps: versions by name, the newest last.
type Kept = BTreeMap<&'static str, Vec<Bundle>>;

fn bring<F: hostler_lua::Files>(kept: &Kept, shelf: &Shelf<F>) -> bool {
    let asked = shelf.asked();
    for ask in &asked {
        let versions = kept.get(ask.name.as_str()).map_or(&[][..], Vec::as_slice);
        let number = ask.version.map_or(versions.len(), |version| version as usize);
        let found = number.checked_sub(1).and_then(|at| versions.get(at));
        shelf.put(ask.clone(), found.map(|bundle| (u32::try_from(number).unwrap(), bundle)));
    }
    !asked.is_empty()
}

fn defined(
    kept: &Kept,
    files: BTreeMap<String, String>,
    text: &str,
) -> Result<Definition, Mistakes> {
    let shelf = Shelf::new(files);
    for _ in 0..ROUNDS {
        let found = define("w.sloth", text, Box::new(shelf.clone()), &Given::default());
        if !bring(kept, &shelf) {
            return found;
        }
    }
    panic!("it asks for ever");
}

fn keep(kept: &mut Kept, name: &'static str, text: &str) {
    let shelf = Shelf::new(NoFiles);
    let file = format!("{name}.lua");
    let bundle = loop {
        let found = module(name, &file, text, Box::new(shelf.clone()), &Given::default());
        if !bring(kept, &shelf) {
            break found.unwrap().0;
        }
    };
    kept.entry(name).or_default().push(bundle);
}

fn names(found: &Definition) -> (String, Vec<String>) {
    let modules = found.bundle.modules().iter().map(ToString::to_string).collect();
    (found.workflows[0].name.clone(), modules)
}

fn nothing() -> BTreeMap<String, String> {
    BTreeMap::new()
}

#[test]
fn the_newest_is_meant_unless_a_version_is_named_and_a_module_keeps_its_own() {
    let mut kept = Kept::new();
    keep(&mut kept, "note", "return { name = 'note1' }");
    keep(&mut kept, "web", "return { name = 'web1+' .. require('note').name }");
    keep(&mut kept, "note", "return { name = 'note2' }");
    let flow = "workflow.define(require('web').name .. require('note').name .. require('note@1').name):tasks({ task('t'):command('true') })";
    let found = defined(&kept, nothing(), flow).unwrap();
    let modules = ["note@1", "note@2", "web@1"].map(str::to_owned).to_vec();
    assert_eq!(names(&found), ("web1+note1note2note1".to_owned(), modules));

    keep(&mut kept, "note", "return { name = 'note3' }");
    let bundle = found.bundle.clone();
    let again = define("w.sloth", &bundle.text, Box::new(bundle.files), &Given::default()).unwrap();
    assert_eq!(again.workflows[0].name, "web1+note1note2note1", "what was pinned stays");
    assert_eq!(again.bundle, found.bundle);

    let beside = BTreeMap::from([("note.lua".to_owned(), "return { name = 'mine' }".to_owned())]);
    let found = defined(&kept, beside, flow).unwrap();
    assert_eq!(
        found.workflows[0].name, "web1+note1minenote1",
        "what is beside the file comes first"
    );
}

#[test]
fn a_version_is_loaded_once_wherever_it_is_asked_for() {
    let mut kept = Kept::new();
    keep(&mut kept, "note", "return {}");
    keep(&mut kept, "web", "return { note = require('note') }");
    let text = "local same = require('web').note == require('note') workflow.define(tostring(same)):tasks({ task('t'):command('true') })";
    assert_eq!(defined(&kept, nothing(), text).unwrap().workflows[0].name, "true");
}

#[test]
fn what_bodies_ask_for_is_there_when_they_run() {
    let mut kept = Kept::new();
    keep(&mut kept, "greet", "return { hello = function() return strings.upper('hello') end }");
    let text = "task('t'):command(function() return true, require('greet').hello() .. require('lib.near') end):build()";
    let beside = BTreeMap::from([("lib/near.lua".to_owned(), "return '!'".to_owned())]);
    let found = defined(&kept, beside, text).unwrap();
    assert_eq!(found.bundle.files.len(), 3, "{:?}", found.bundle.files);
    let performer = Performer::new(found.bundle, &Given::default()).unwrap();
    assert_eq!(performer.definition().bundle.modules()[0].to_string(), "greet@1");
}

#[test]
fn what_is_not_found_is_told_with_where_it_was_looked_for() {
    let mut kept = Kept::new();
    keep(&mut kept, "web", "return {}");
    let told = |text: &str| defined(&kept, nothing(), text).unwrap_err().to_string();
    let missing = told("require('wibble.wobble')");
    for part in [
        "w.sloth:1",
        "there is no module `wibble.wobble`",
        "wibble/wobble.lua",
        "the project keeps",
        "hostler workflow module push wibble.wobble.lua",
    ] {
        assert!(missing.contains(part), "{part}: {missing}");
    }
    let missing = told("require('web@2')");
    assert!(missing.contains("hostler workflow module ls --versions web"), "{missing}");
    let alone = define("w.sloth", "require('wibble')", Box::new(NoFiles), &Given::default());
    let alone = alone.unwrap_err().to_string();
    assert!(alone.contains("no server was asked"), "{alone}");
    let later =
        "workflow.define('w'):tasks({ task('t'):command(function()\nrequire('wibble') end) })";
    let found = defined(&kept, nothing(), later).unwrap();
    let remark = found.remarks.first().unwrap().to_string();
    assert!(remark.starts_with("w.sloth:2: there is no module `wibble`"), "{remark}");
}

#[test]
fn a_module_cannot_reach_out_of_itself_nor_be_called_like_one_of_ours() {
    let mut kept = Kept::new();
    keep(&mut kept, "web", "return pcall(import, '../main.lua') or pcall(require, 'secret')");
    let beside = BTreeMap::from([
        ("main.lua".to_owned(), "return 1".to_owned()),
        ("secret.lua".to_owned(), "return 1".to_owned()),
    ]);
    let text = "workflow.define(tostring(require('web'))):tasks({ task('t'):command('true') })";
    assert_eq!(defined(&kept, beside, text).unwrap().workflows[0].name, "false");
    for name in ["exec", "string"] {
        let told = module(name, "x.lua", "return {}", Box::new(NoFiles), &Given::default());
        assert!(told.unwrap_err().to_string().contains("--name"), "{name}");
    }
}

#[test]
fn a_module_is_judged_when_it_is_kept() {
    let judged = |text: &str, strict| {
        let given = Given { strict, ..Given::default() };
        module("m", "m.lua", text, Box::new(NoFiles), &given)
    };
    let odd = |text: &str| judged(text, false).unwrap().1[0].to_string();
    assert!(odd("local x = 1").contains("returns nothing"));
    assert!(odd("exec.run('true') return {}").contains("does nothing while a module is loaded"));
    assert!(judged("local x = 1", true).is_err());
    assert!(judged("return {", false).unwrap_err().to_string().starts_with("m.lua:1"));
    assert!(judged("\nerror('boom')", false).unwrap_err().to_string().contains("m.lua:2"));
}

#[test]
fn nobody_is_asked_for_more_than_enough() {
    let shelf = Shelf::new(NoFiles);
    let text = "for i = 1, 600 do pcall(require, 'm' .. i) end";
    define("w.sloth", text, Box::new(shelf.clone()), &Given::default()).unwrap();
    assert_eq!(shelf.asked().len(), 256);
    assert_eq!(ModuleAsk::of("m1").unwrap().version, None);
}
