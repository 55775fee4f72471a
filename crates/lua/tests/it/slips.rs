//! What is missing, of the wrong kind, or not text: told with its name and its place, and lost for nobody.

use std::collections::BTreeMap;

use hostler_lua::{Definition, Given, Mistakes, NoFiles, define};
use hostler_model::workflow::Act;
use serde_json::json;

use crate::modules::run;

fn tried(text: &str) -> Result<Definition, Mistakes> {
    define("w.sloth", text, Box::new(NoFiles), &Given::default())
}

fn remarks(text: &str) -> Vec<String> {
    let defined = tried(text).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"));
    defined.remarks.iter().map(ToString::to_string).collect()
}

fn mistakes(text: &str) -> Vec<String> {
    let found = tried(text).expect_err(text);
    let first = |text: String| text.lines().next().unwrap_or_default().to_owned();
    found.0.iter().map(|mistake| first(mistake.to_string())).collect()
}

fn strict(text: &str) -> usize {
    let given = Given { strict: true, ..Given::default() };
    define("w.sloth", text, Box::new(NoFiles), &given).map_or_else(|wrong| wrong.0.len(), |_| 0)
}

const TASKS: &str = "local a = task('a'):command('true') local c = task('c'):command('true')\n";

#[test]
fn nothing_in_a_list_is_a_mistake() {
    let hole = |field: &str, at: usize| {
        format!("w.sloth:2: `{field}`: item {at} is nil; is a name misspelt, or made later?")
    };
    for (text, field, at) in [
        ("workflow.define('w'):tasks({ a, typo_b, c })", "tasks", 2),
        ("workflow.define('w'):tasks({ typo_b, a, c })", "tasks", 1),
        ("workflow.define('w'):tasks(a, typo_b, c)", "tasks", 2),
        ("workflow.define('w', { tasks = { a, typo_b, c } })", "tasks", 2),
        ("workflow.define('w', { tasks = { a, { typo_b, c } } })", "tasks", 1),
        ("workflow.define('w'):tasks({ a, c:depends_on({ typo, a }) })", "depends_on", 1),
        ("workflow.define('w'):tasks({ a, c:depends_on(typo) })", "depends_on", 1),
        ("workflow.define('w'):tasks({ a, c:depends_on(a, typo) })", "depends_on", 2),
        ("workflow.define('w'):tasks({ a, c:next_if_fail({ typo, a }) })", "next_if_fail", 1),
        (
            "workflow.define('w', { tasks = { a, { name = 'd', command = 'x', needs = { nil, a } } } })",
            "depends_on",
            1,
        ),
        ("workflow.define('w'):tasks({ parallel({ a, typo_b, c }) })", "tasks", 2),
        ("workflow.define('w'):tasks({ chain(a, typo_b, c) })", "tasks", 2),
    ] {
        let found = mistakes(&format!("{TASKS}{text}"));
        assert_eq!(found, [hole(field, at)], "{text}");
    }
    // The last of a list leaves no hole: that the name is not there is told.
    let last = format!("{TASKS}workflow.define('w'):tasks({{ a, typo_b }})");
    assert_eq!(remarks(&last), ["w.sloth:2: there is no `typo_b`"]);
    assert_eq!(strict(&last), 1);
    let near = "local build_app = task('a'):command('true')\nworkflow.define('w'):tasks({ build_app, biuld_app })";
    assert_eq!(remarks(near), ["w.sloth:2: there is no `biuld_app`; did you mean `build_app`?"]);
}

#[test]
fn what_is_looked_for_or_made_later_is_no_slip() {
    let text = "settings = settings or { n = 1 }\nif jit then error('no') end\nlocal unpack = unpack or table.unpack\nlocal trim = string.trim or string.lower\nworkflow.define(trim('W') .. settings.n):tasks({ task('t'):command('true') })";
    assert_eq!(remarks(text), Vec::<String>::new());
    assert_eq!(tried(text).unwrap().workflows[0].name, "w1");
}

#[test]
fn values_of_the_wrong_kind_are_told() {
    let task =
        |said: &str| format!("workflow.define('w'):tasks({{ task('t'):command('true'){said} }})");
    for (said, words) in [
        (
            ":on_success('echo')",
            "`on_success` of a task is a string, which has no effect; give a function",
        ),
        (
            ":on_failure(42)",
            "`on_failure` of a task is a number, which has no effect; give a function",
        ),
        (":pre_hook('x')", "`before` of a task is a string, which has no effect; give a function"),
        (
            ":env('A=b')",
            "`env` of a task takes a name and a value, or a table of them; `A=b` has no effect",
        ),
        (":params('x')", "`params` of a task is a string, which has no effect; give a table"),
        (":workdir(42)", "`workdir` of a task is a number, which has no effect; give a text"),
        (":user({})", "`user` of a task is a table, which has no effect; give a text"),
        (
            ":compensate(7)",
            "`compensate` of a task is a number, which has no effect; give a function or a line for the shell",
        ),
        (":async('yes')", "`async` of a task is a string, which has no effect; say true or false"),
        (
            ":on_success(print):on_success(print)",
            "a second `on_success` of a task replaces the first",
        ),
    ] {
        assert_eq!(remarks(&task(said)), [format!("w.sloth:1: {words}")], "{said}");
        assert_eq!(strict(&task(said)), 1, "{said}");
    }
    let plain = "task('t'):command('true')";
    for (said, words) in [
        (
            ":on_complete('x')",
            "`on_complete` of a workflow is a string, which has no effect; give a function",
        ),
        (":config('x')", "`config` of a workflow takes a table; a string has no effect"),
        (
            ":config({ max_parallel_tasks = 'many' })",
            "`max_parallel_tasks` of a config is \"many\", which has no effect; give a whole number of at least 1",
        ),
        (
            ":config({ max_parallel_tasks = 0 })",
            "`max_parallel_tasks` of a config is 0, which has no effect; give a whole number of at least 1",
        ),
        (
            ":config({ fail_fast = 'yes' })",
            "`fail_fast` of a config is a string, which has no effect; say true or false",
        ),
        (
            ":config({ retry_policy = 'sometimes' })",
            "`retry_policy` of a config is \"sometimes\", which has no effect; say fixed, linear or exponential, or give a table",
        ),
        (
            ":config({ env = 'A=b' })",
            "`env` of a config is a string, which has no effect; give a table",
        ),
        (":tasks({ 'x' })", "`tasks` has a string, which is no task; it is left out"),
    ] {
        let text = format!("workflow.define('w'):tasks({{ {plain} }}){said}");
        assert_eq!(remarks(&text), [format!("w.sloth:1: {words}")], "{said}");
        assert_eq!(strict(&text), 1, "{said}");
    }
}

#[test]
fn a_graph_is_not_lost_with_what_nobody_knows() {
    let graph = "\nlocal t = task('t'):command('true')\nworkflow.define('w'):tasks({ t })";
    for (text, told) in [
        ("core.log.info('x') utils.setup({ a = core.name .. 'b' })", &["core", "utils"][..]),
        ("local r = validate(values) if not r.ok then print(r) end", &["validate"]),
        ("perf.warm_up('x'):stop()", &["perf.warm_up"]),
        ("security.sandbox({}) security.policy('p')", &["security.sandbox", "security.policy"]),
        ("workflow.from_template('x', {})", &["workflow.from_template"]),
        ("reliability.frobnicate(1)", &["reliability.frobnicate"]),
        ("circuit.create('x', { limit = 3 }):call(print)", &["circuit"]),
        ("saga.create('x'):step('a', print)", &["a saga is given with its steps"]),
        (
            "local x = data.json_decode(fs.read('x')).a.b .. strings.upper(env.x or 'y')",
            &["fs.read"],
        ),
        ("local n = tonumber(exec.run('nproc').stdout) + 1 local m = n * 2 .. 'x'", &["exec.run"]),
        (
            "package.path = package.path .. ';./?.lua' print(debug.traceback()) collectgarbage()",
            &[],
        ),
        ("local d = debug.getinfo(1, 'Sl').currentline assert(d == 1)", &[]),
    ] {
        let text = format!("{text}{graph}");
        let defined = tried(&text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
        let (name, steps) = (&defined.workflows[0].name, defined.workflows[0].steps.len());
        assert_eq!((name.as_str(), steps), ("w", 1), "{text}");
        let remarks: Vec<String> = defined.remarks.iter().map(ToString::to_string).collect();
        for told in told {
            let is_told = remarks.iter().any(|remark| remark.contains(told));
            assert!(is_told, "{text}: {remarks:?}");
        }
    }
}

#[test]
fn a_slip_in_a_word_of_the_language_is_a_mistake() {
    for (text, told) in [
        (
            "workflo.define('w')\nworkflow.define('v')",
            "w.sloth:1:1: attempt to index nil with 'define': there is no `workflo`; did you mean `workflow`?",
        ),
        (
            "local t = taks('t')\nworkflow.define('v'):tasks({ t })",
            "w.sloth:1:11: attempt to call a nil value: there is no `taks`; did you mean `task`?",
        ),
        (
            "workflow.defin('w')",
            "w.sloth:1:1: attempt to call a nil value: there is no `workflow.defin`; did you mean `workflow.define`?",
        ),
    ] {
        assert_eq!(mistakes(text), [told], "{text}");
    }
}

#[test]
fn a_value_that_was_not_given_is_named() {
    let text = "local t = task('t')\n  :command('run ' .. values.image)\nworkflow.define('w'):tasks({ t })";
    assert_eq!(
        mistakes(text),
        [
            "w.sloth:2:22: attempt to concatenate string with nil: `values.image` has no value; give it with --set image=… or in a file of values"
        ]
    );
    let deep = "workflow.define('w' .. values.web.tag):tasks({ task('t'):command('true') })";
    let given = Given { values: json!({ "web": { "image": "x" } }), ..Given::default() };
    let told = define("w.sloth", deep, Box::new(NoFiles), &given).unwrap_err().to_string();
    assert!(told.contains("`values.web.tag` has no value; give it with --set web.tag=…"), "{told}");
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    let text = "workflow.define('w'):tasks({ task('t'):command('echo \\255'):env({ A = 'x\\255', B = 1 }):tags({ 't\\255' }) })";
    let defined = tried(text).unwrap();
    let step = &defined.workflows[0].steps[0];
    assert_eq!(step.act, Act::Command("echo \u{fffd}".to_owned()));
    assert_eq!((step.env["A"].as_str(), step.tags[0].as_str()), ("x\u{fffd}", "t\u{fffd}"));
    let said = run(
        "print('a\\255', setmetatable({}, { __tostring = function() return 'b\\255' end }))\nlog.info('c\\255')\nlog.error('d\\255')\nprint(exec.run('printf \\255').stdout)\nprint(secrets.get('f\\255', 'g\\255'))",
    );
    let said = said.unwrap_or_else(|error| panic!("{error}"));
    let expected = ["a\u{fffd}\tb\u{fffd}", "c\u{fffd}", "error: d\u{fffd}"];
    assert_eq!(said[..3], expected);
}

#[test]
fn names_are_one_line_of_a_length_that_can_be_read() {
    let named = |name: &str| {
        let text = format!("workflow.define('w'):tasks({{ task({name}):command('true') }})");
        tried(&text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
    };
    assert_eq!(named("'build the app (1)'"), "");
    assert_eq!(named("string.rep('é', 200)"), "");
    assert!(named("string.rep('x', 201)").contains("is longer than 200 letters"));
    assert!(named("'a\\nb'").contains("the name of a task, `a\\nb`, has more than one line"));
    assert!(tried("workflow.define('a\\tb')").unwrap_err().to_string().contains("a workflow"));
}

#[test]
fn a_shell_is_named_without_what_it_is_given() {
    let shell = |said: &str| {
        tried(&format!("workflow.define('w'):tasks({{ task('t'):command('x'):shell('{said}') }})"))
            .map(|defined| defined.workflows[0].steps[0].shell.clone().unwrap_or_default())
            .map_err(|wrong| wrong.to_string())
    };
    assert_eq!(shell("bash"), Ok("bash".to_owned()));
    assert_eq!(shell("bash -c"), Ok("bash".to_owned()));
    assert!(shell("bash -e -c").unwrap_err().contains("without `-e`"));
}

#[test]
fn what_a_body_asks_for_in_vain_is_named() {
    for (text, told) in [
        ("exec.rnu('true')", "there is no `exec.rnu`; did you mean `exec.run`?"),
        ("local x = 1\nprin(x)", "there is no `prin`; did you mean `print`?"),
        ("exec.run('true' .. values.flag)", "`values.flag` has no value"),
    ] {
        let told_by = run(text).unwrap_err();
        assert!(told_by.contains(told), "{text}: {told_by}");
    }
    assert_eq!(run("if exec.rnu or rnu then print('no') end"), Ok(Vec::new()));
    assert_eq!(run("print(data.json_encode({ 1 }))"), Ok(vec!["[1]".to_owned()]));
    assert_eq!(run("print(select('#', json.decode('1')))"), Ok(vec!["1".to_owned()]));
}

#[test]
fn what_a_body_gives_back_has_an_end() {
    let body = |give: &str| {
        let text = format!(
            "local t = {{}} for i = 1, 50 do t = {{ t, t }} end local s = {{ n = 1 }} s.s = s\n{give}"
        );
        run(&text)
    };
    let begun = std::time::Instant::now();
    for give in ["export({ t = t })", "log.table(t)", "event.dispatch('x', t)"] {
        assert!(body(give).unwrap_err().contains("too much memory"), "{give}");
    }
    let raised = body("error(t)").unwrap_err();
    assert!(raised.len() < 200, "{raised}");
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    assert_eq!(body("log.table(s)"), Ok(vec!["{\n  \"n\": 1\n}".to_owned()]));
}

#[test]
fn imports_are_found_beside_the_main_file_too() {
    let files = BTreeMap::from([
        (
            "lib/a.lua".to_owned(),
            "return { b = require('lib.b').name, c = import('c').name, d = import('d').name }"
                .to_owned(),
        ),
        ("lib/b.lua".to_owned(), "return { name = 'b' }".to_owned()),
        ("c.lua".to_owned(), "return { name = 'c' }".to_owned()),
        ("d.lua".to_owned(), "return { name = 'outer' }".to_owned()),
        ("lib/d.lua".to_owned(), "return { name = 'd' }".to_owned()),
    ]);
    let text = "local a = import('lib/a.lua')\nworkflow.define(a.b .. a.c .. a.d):tasks({ task('t'):command('true') })";
    let defined = define("w.sloth", text, Box::new(files), &Given::default()).unwrap();
    assert_eq!(defined.workflows[0].name, "bcd");
    assert_eq!(defined.remarks, []);
}

#[test]
fn what_is_exported_at_the_top_is_told_by_its_name() {
    let text = "export({ a = 1 })\nworkflow.define('w'):tasks({ task('t'):command('true') })";
    assert!(
        remarks(text)[0].starts_with("w.sloth:1: `export` does nothing"),
        "{:?}",
        remarks(text)
    );
}
