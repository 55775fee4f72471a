//! What a definition must not be able to do, and how soon it is stopped.

use std::time::{Duration, Instant};

use hostler_lua::{Definition, Given, Limits, Mistakes, NoFiles, define};

fn defined(text: &str) -> Result<Definition, Mistakes> {
    let limits = Limits { memory: 32 << 20, time: Some(Duration::from_millis(300)) };
    let given = Given { limits: Some(limits), ..Given::default() };
    define("w.sloth", text, Box::new(NoFiles), &given)
}

/// Defines it, and says what the first workflow is called.
fn answer(expression: &str) -> String {
    let text =
        format!("workflow.define(tostring({expression})):tasks({{ task('t'):command('true') }})");
    match defined(&text) {
        Ok(definition) => definition.workflows[0].name.clone(),
        Err(mistakes) => format!("error: {mistakes}"),
    }
}

#[test]
fn nothing_reaches_out_of_the_language() {
    for name in [
        "debug",
        "package",
        "dofile",
        "loadfile",
        "collectgarbage",
        "newproxy",
        "getfenv",
        "setfenv",
    ] {
        assert_eq!(answer(name), "nil", "{name}");
    }
    for name in [
        "os.exit",
        "os.execute",
        "os.remove",
        "os.rename",
        "os.tmpname",
        "os.setlocale",
        "string.dump",
    ] {
        let found = answer(&format!("type({name})"));
        // What acts is there in bodies; while a file is defined it does nothing.
        assert!(found == "nil" || found == "function", "{name}: {found}");
    }
}

#[test]
fn what_acts_does_nothing_while_a_file_is_defined() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let text = format!(
        "local r = exec.run('touch {0}')\nlocal s = exec.run({{'touch', '{0}'}}).stdout .. 'x'\nworkflow.define('w'):tasks({{ task('t'):command('true') }})",
        mark.display()
    );
    let definition = defined(&text).unwrap();
    assert!(!mark.exists());
    assert_eq!(definition.remarks.len(), 1, "{:?}", definition.remarks);
    assert!(
        definition.remarks[0].to_string().starts_with("w.sloth:1: `exec.run` does nothing"),
        "{}",
        definition.remarks[0]
    );
}

#[test]
fn bytecode_is_not_loaded() {
    assert_eq!(answer(r#"select(1, load("\27Lua")) == nil"#), "true");
    assert_eq!(answer(r#"select(1, loadstring("\2\3\4")) == nil"#), "true");
    assert_eq!(answer("load('return 6 * 7')()"), "42");
    assert!(defined("\u{1b}Lua").is_err());
}

#[test]
fn libraries_and_metatables_cannot_be_changed() {
    for text in [
        "string.format = nil",
        "getmetatable('').__index = {}",
        "getmetatable('').__index.upper = nil",
        "table.insert = nil",
        "setmetatable(string, {})",
        "rawset(string, 'x', 1)",
        "exec.run = function() end",
        "setmetatable(task('t'), {})",
        "os.time = nil",
    ] {
        assert!(defined(text).is_err(), "{text}");
    }
    assert_eq!(answer("getmetatable(exec.run('x'))"), "locked");
}

#[test]
fn loops_recursion_and_patterns_end_in_time() {
    for text in [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do pcall(error) end",
        "repeat xpcall(function() while true do end end, function() while true do end end) until false",
        "local function f() return f() end f()",
        "local function f() f() return 1 end f()",
        "local co = coroutine.wrap(function() while true do end end) co()",
        "while true do local co = coroutine.create(function() while true do end end) coroutine.resume(co) end",
        "local t = setmetatable({}, { __index = function(t, k) while true do end end }) local x = t.a",
        "local t = setmetatable({}, { __index = function(t, k) return t[k] end }) local x = t.a",
        "for _ in function() return 1 end do end",
        "table.sort({3, 2, 1, 5, 4}, function() while true do end end)",
        "string.find(string.rep('a', 200000), string.rep('a?', 200000) .. string.rep('a', 200000))",
        "string.find(string.rep('a', 5000), '.-.-.-.-.-.-b')",
        "string.gsub(string.rep('a', 100), '.', function() while true do end end)",
        "string.rep('x', 1e9)",
    ] {
        let began = Instant::now();
        let stopped = defined(text);
        assert!(stopped.is_err(), "{text}");
        assert!(began.elapsed() < Duration::from_secs(5), "{text}: {:?}", began.elapsed());
    }
}

#[test]
fn memory_is_bounded() {
    for text in [
        "local t = {} while true do t[#t + 1] = string.rep('x', 1000) .. #t end",
        "local s = 'x' while true do s = s .. s end",
        "local t = {} for i = 1, 1e9 do t[i] = i end",
        "local t = table.create(1e9, 1)",
        "local b = buffer.create(1e9)",
        "local t = {} while true do t = { t, t } local u = {} for i = 1, 1e5 do u[i] = {} end t[3] = u end",
        "local t = {} while true do table.insert(t, coroutine.create(function() end)) end",
        "local s = string.format('%s', string.rep('x', 2e8))",
    ] {
        let began = Instant::now();
        let stopped = defined(text);
        assert!(stopped.is_err(), "{text}");
        assert!(began.elapsed() < Duration::from_secs(5), "{text}: {:?}", began.elapsed());
    }
}

#[test]
fn others_go_on_while_one_is_stopped() {
    let bad = std::thread::spawn(|| {
        defined("while true do pcall(function() while true do end end) end").is_err()
    });
    for _ in 0..20 {
        assert_eq!(answer("1 + 1"), "2");
    }
    assert!(bad.join().unwrap());
}

#[test]
fn a_definition_is_the_same_everywhere() {
    let text = "workflow.define('w-' .. os.time() .. os.date('!%Y', os.time()) .. tostring(os.getenv('SECRET'))):tasks({ task('t'):command('true') })";
    let given = Given { now: 1_700_000_000, ..Given::default() };
    let name = |given: &Given| {
        define("w.sloth", text, Box::new(NoFiles), given).unwrap().workflows[0].name.clone()
    };
    assert_eq!(name(&given), "w-17000000002023nil");
    assert_eq!(name(&given), name(&given));
}

#[test]
fn imports_stay_below_the_main_file() {
    let files = std::collections::BTreeMap::from([(
        "lib/a.lua".to_owned(),
        "return { name = 'a' }".to_owned(),
    )]);
    let defined = |text: &str| define("w.sloth", text, Box::new(files.clone()), &Given::default());
    assert!(
        defined("workflow.define(import('lib/a.lua').name):tasks({ task('t'):command('true') })")
            .is_ok()
    );
    assert!(
        defined("workflow.define(require('lib.a').name):tasks({ task('t'):command('true') })")
            .is_ok()
    );
    for text in [
        "import('../../etc/passwd')",
        "import('/etc/passwd')",
        "import('lib/../../x')",
        "require('..etc')",
    ] {
        let told = defined(text).unwrap_err().to_string();
        assert!(told.contains("there is no"), "{told}");
    }
}

#[test]
fn a_script_that_waits_for_ever_is_known_for_one_at_once() {
    let limits = Limits { memory: 32 << 20, time: Some(Duration::from_secs(60)) };
    let given = Given { limits: Some(limits), ..Given::default() };
    let text = "while not fs.exists('done') do time.sleep(1) end print('done')";
    let begun = Instant::now();
    let found = define("w.lua", text, Box::new(NoFiles), &given).unwrap();
    assert_eq!(found.workflows[0].steps[0].name, "main");
    assert!(begun.elapsed() < Duration::from_secs(30), "it took {:?}", begun.elapsed());
    let text = "repeat local r = exec.run('false') until r == nil";
    assert!(define("w.lua", text, Box::new(NoFiles), &given).is_ok());
}
