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
        "dofile",
        "loadfile",
        "newproxy",
        "getfenv",
        "setfenv",
        "debug.getregistry",
        "debug.getupvalue",
        "debug.sethook",
        "package.loadlib",
        "package.loaders",
    ] {
        let found = answer(name);
        assert_eq!(found, "nil", "{name}");
    }
    assert_eq!(answer("collectgarbage('count') + collectgarbage()"), "0");
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

/// Things that are small in Lua and large, or without end, for whoever walks through them.
const SNAKES: &[&str] = &[
    "local t = {} t.t = t",
    "local t = {} t[1] = t",
    "local t = {} t[1] = t t[2] = t",
    "local t = {} t.names = t t.nodes = t t.name = nil",
    "local t = {} t.a = t t.b = t t.c = { t, t }",
    "local t = {} for i = 1, 40 do t = { t, t } end",
    "local t = {} for i = 1, 40 do t = { a = t, b = t } end",
    "local t = { 'x' } for i = 1, 60 do t = { a = t, b = { t, t } } end",
    "local t = {} for i = 1, 2000 do t = { t } end",
    "local t = {} for i = 1, 2000 do t = { nodes = t } end",
    "local t = setmetatable({}, { __index = function(t) return t end })",
    "local t = setmetatable({}, { __index = function(t) while true do end end })",
    "local t = setmetatable({}, { __index = function(t, k) return { t, t, name = k } end })",
    "local s, t = string.rep('x', 2e6), {} for i = 1, 1000 do t[i] = s end",
    "local s, t = string.rep('x', 2e6), {} for i = 1, 1000 do t['k' .. i] = s end",
    "local s, t = string.rep('x', 2e6), {} for i = 1, 1000 do t[i] = { name = s .. i, command = s } end",
    "local e, t = {}, {} for i = 1, 3e5 do t[i] = e end",
];

/// Everything that takes a table of the file, `t`.
const MOUTHS: &[&str] = &[
    "values(t)",
    "values(t) values(t)",
    "values({ a = t, b = t }) values({ a = t, b = t })",
    "workflow.define('w'):tasks(t)",
    "workflow.define('w', { tasks = t })",
    "workflow.define('w'):tasks({ task('a'):command('true'):depends_on(t) })",
    "workflow.define('w'):tasks({ { name = 'a', command = 'true', needs = t, next_if_fail = t } })",
    "workflow.define('w'):tasks({ task('a'):command('true'):next_if_fail(t) })",
    "workflow.define('w'):tasks({ task('a'):command('true'):delegate_to(t) })",
    "workflow.define('w'):delegate_to(t):tasks({ task('a'):command('true') })",
    "workflow.define('w'):delegate_to('any', t):tasks({ task('a'):command('true'):target_tags(t) })",
    "workflow.define('w'):metadata(t):tasks({ task('a'):command('true'):params(t):env(t):tags(t):artifacts(t) })",
    "workflow.define('w'):config(t):tasks({ task('a'):run_if(t):abort_if(t):retries(t):command(t) })",
    "workflow.define('w'):tasks({ task('a', t), task(t), workflow.approval('ok', t), task('b'):uses(t) })",
    "outputs = t workflow.define('w'):tasks({ task('a'):command('true') })",
    "TaskDefinitions = t",
    "TaskDefinitions = { w = t, v = { tasks = t } }",
    "workflow.define('w'):tasks({ parallel(t), chain(t), when('true', t), saga('s', t) })",
    "workflow.define('w'):tasks({ task('a'):place(t) }) workflow.define(t) workflow(t) group('g', t)",
    "data.json_encode(t) json.encode(t) data.json_pretty(t) data.to_json(t, true)",
    "data.yaml_encode(t) data.toml_encode(t) data.xml_encode(t) data.csv_generate(t)",
    "data.toml_encode({ t = t }) data.xml_encode({ t = t }, string.rep('x', 1000))",
    "data.deep_merge(t, t) data.deep_merge({ a = t }, { a = t })",
    "data.flatten(t) data.unflatten(t) data.flatten({ a = t }, string.rep('x', 1e5))",
    "strings.join(t, 'x') strings.join(t, string.rep('x', 1e6))",
    "print(t) log.table(t) log.info(t) export(t) export({ t = t })",
    "math.sum(t) math.median(t) string.format('%s', t) tostring(t)",
    "fs.join(table.unpack(t)) strings.trim(t) crypto.sha256(t) error(t)",
    "test.describe('x', function() end) test.mock('exec.run', t) exec.run(t) http.get(t)",
    "for k in pairs(t) do secrets.get(k) end",
];

#[test]
fn tables_without_end_are_walked_to_an_end() {
    for snake in SNAKES {
        for mouth in MOUTHS {
            let began = Instant::now();
            let before = resident();
            let _either_is_well = defined(&format!("{snake} {mouth}"));
            let (took, more) = (began.elapsed(), resident().saturating_sub(before));
            assert!(took < Duration::from_secs(5), "{snake} {mouth}: {took:?}");
            assert!(more < 400 << 20, "{snake} {mouth}: {} MiB", more >> 20);
        }
    }
}

/// How much memory the process has.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status.split_whitespace().nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4096
}

#[test]
fn texts_that_grow_are_stopped_before_they_are_made() {
    let large = "local a = string.rep('a', 1e6) ";
    for text in [
        "strings.replace(a, 'a', a)",
        "strings.replace(a, '', a)",
        "strings.pad_left('x', 1e9)",
        "strings.pad_right('x', 2^53, a)",
        "strings.replace_regex(string.rep('a', 6e4), 'a', a)",
        "strings.replace_regex(string.rep('a', 6e4), '(a*)', string.rep('$1', 1e5))",
        "strings.join(table.create(1000, a), a)",
        "strings.match(a, '(a?){1000}')",
        "data.csv_generate(table.create(1000, table.create(1000, a)))",
        "data.json_decode('[' .. string.rep('[],', 2e6) .. '[]]')",
        "data.yaml_decode('[' .. string.rep('[],', 2e6) .. '[]]')",
        "data.toml_decode('a=[' .. string.rep('[],', 2e6) .. '[]]')",
        "data.csv_parse(string.rep(',', 4e6))",
        "data.xml_decode('<a>' .. string.rep('<b/>', 1e6) .. '</a>')",
        "strings.upper(string.rep('a', 6e6))",
        "crypto.hex_encode(string.rep('a', 6e6))",
        "load(string.rep('x=1 ', 1e6))()",
        "local t = task('t') while true do t[a](t) end",
        "local t = task('t') local i = 0 while true do i += 1 t['m' .. i .. a](t) end",
        "while true do local x = exec[a .. tostring({})] local y = _G[a .. tostring({})] end",
        "local r = {} for i = 1, 1e5 do r[i] = exec.run end while true do r[1](a) end",
    ] {
        let began = Instant::now();
        let before = resident();
        let stopped = defined(&format!("{large} {text}\nworkflow.define('w'):tasks({{}})"));
        let more = resident().saturating_sub(before);
        assert!(stopped.is_err(), "{text}");
        assert!(began.elapsed() < Duration::from_secs(5), "{text}: {:?}", began.elapsed());
        assert!(more < 400 << 20, "{text}: {} MiB", more >> 20);
    }
}

#[test]
fn what_is_wrong_very_often_is_not_told_for_ever() {
    let many = |line: &str| {
        format!("local n = {{}} for i = 1, 3000 do n[i] = {line} end workflow.define('w'):tasks(n)")
    };
    for text in [
        many("task('t' .. i):command('true'):depends_on('u' .. i)"),
        many("{ name = 't' .. i, command = 'true', comand = 1, [string.rep('x', 500) .. i] = 2 }"),
        many("task('t' .. i):command(7)"),
        many("task('t'):command('true')"),
        many("{ name = 't' .. i, command = 'true', depends_on = 't' .. (i + 1) }"),
        "for i = 1, 3000 do workflow.define('w') end".to_owned(),
    ] {
        let began = Instant::now();
        let told = defined(&text).map_or_else(|wrong| wrong.to_string(), |_| String::new());
        assert!(began.elapsed() < Duration::from_secs(5), "{text}: {:?}", began.elapsed());
        assert!(told.len() < 4 << 20, "{text}: {}", told.len());
    }
}

#[test]
fn what_the_language_does_by_itself_ends_too() {
    for text in [
        "table.move({}, 1, 2^31 - 2, 1)",
        "table.move({ 1 }, 1, 2^30, 2, {})",
        "while true do string.rep('', 1e9) end",
        "table.concat(table.create(1e6, string.rep('x', 1e6)))",
        "local t = {} for i = 1, 200 do t = setmetatable({}, { __index = t, __newindex = t }) end t.x = 1 while t do t.x = t.x end",
        "local function f() return import('a.lua') end f()",
        "string.format('%99999999d', 1)",
        "local s = '' for i = 1, 250 do s = s .. '(' end load(s)() load(string.rep('(', 1e5) .. '1')()",
        "load('return ' .. string.rep('{', 5e5))()",
        "load(string.rep('if true then ', 7e4))()",
        "load('return ' .. string.rep('-', 5e5) .. '1')() error('none of it')",
    ] {
        let began = Instant::now();
        assert!(defined(text).is_err(), "{text}");
        assert!(began.elapsed() < Duration::from_secs(8), "{text}: {:?}", began.elapsed());
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
