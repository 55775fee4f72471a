//! Every dialect gives the same graphs, and every mistake is told at its place.

use hostler_lua::{Definition, Given, NoFiles, define};
use hostler_model::workflow::{Act, Backoff, Condition, Handler, OnFailure, Targets};

fn defined(text: &str) -> Definition {
    define("w.sloth", text, Box::new(NoFiles), &Given::default())
        .unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

fn mistakes(text: &str) -> Vec<String> {
    let found = define("w.sloth", text, Box::new(NoFiles), &Given::default()).unwrap_err();
    found
        .0
        .iter()
        .map(|mistake| mistake.to_string().lines().next().unwrap_or_default().to_owned())
        .collect()
}

fn remarks(text: &str) -> Vec<String> {
    defined(text).remarks.iter().map(ToString::to_string).collect()
}

#[test]
fn dialects_give_the_same_graph() {
    let fluent = r#"
local a = task("a"):command("echo a"):timeout("30s"):build()
local b = task("b"):depends_on({a}):command(function() end):retries(2, "linear"):build()
workflow.define("w"):description("d"):version("1.0"):tasks({a, b}):config({ timeout = "5m", max_parallel_tasks = 2 })"#;
    let table = r#"
workflow.define("w", { description = "d", version = "1.0", config = { timeout = 300, max_parallel_tasks = 2 }, tasks = {
  { name = "a", command = "echo a", timeout = "30s" },
  { name = "b", depends_on = "a", command = function() end, retries = 2, retry_strategy = "linear" } } })"#;
    let call = r#"
workflow({ name = "w", description = "d", version = "1.0", config = { timeout = "5m", max_parallel_tasks = 2 }, tasks = {
  { name = "a", run = "echo a", timeout = 30 },
  { name = "b", depends_on = { "a" }, run = function() end, retries = { max = 2, strategy = "linear" } } } })"#;
    let legacy = r#"
TaskDefinitions = { w = { description = "d", version = "1.0", config = { timeout = "300s", max_parallel_tasks = "2" }, tasks = {
  { name = "a", command = "echo a", timeout = "30s" },
  { name = "b", depends_on = { "a" }, command = function() end, retries = 2, retry_strategy = "linear" } } } }"#;
    let plain = |text: &str| {
        let mut workflow = defined(text).workflows.remove(0);
        workflow.place = Default::default();
        for step in &mut workflow.steps {
            step.place = Default::default();
        }
        workflow
    };
    let expected = plain(fluent);
    assert_eq!(expected.steps[0].act, Act::Command("echo a".into()));
    assert_eq!(expected.steps[1].act, Act::Function);
    assert_eq!(expected.steps[1].depends_on, ["a"]);
    assert_eq!(
        (expected.steps[1].retry.retries, expected.steps[1].retry.backoff),
        (2, Backoff::Linear)
    );
    assert_eq!(expected.config.max_parallel, Some(2));
    for (name, text) in [("table", table), ("call", call), ("legacy", legacy)] {
        assert_eq!(plain(text), expected, "{name}");
    }
}

#[test]
fn every_method_of_a_task_is_understood() {
    let definition = defined(
        r#"
local t = task("t")
  :description("d"):command(function() end):workdir("/tmp/x"):user("nobody"):timeout("1m30s")
  :delegate_to({ tags = { "web", "zone=eu" }, strategy = "round_robin", fallback = "local" })
  :depends_on("u"):depends_on({ "v" }):retries(3, "exponential", "2s"):max_retry_delay("1m"):retry_jitter(20):async(true)
  :artifacts({ "*.txt", "out/*" }):artifacts("more"):consumes("in.txt")
  :run_if(function() return true end):abort_if("test -f stop"):condition("true")
  :pre_hook(function() end):post_hook(function() end):on_success(function() end):on_failure(function() end)
  :on_timeout(function() end):on_retry(function() end):on_skip(function() end)
  :env({ A = "1" }):env("B", 2):params({ who = "me", n = 3 }):tags({ "ci" }):shell("bash")
  :health_check("curl -f localhost"):next_if_fail("v"):compensate("undo"):continue_on_error(true)
  :build()
workflow.define("w"):tasks({ task("u"):command("true"), task("v"):command("true"), t })"#,
    );
    assert_eq!(definition.remarks, []);
    let step = definition.workflows[0].step("t").unwrap();
    assert_eq!(step.depends_on, ["u", "v"]);
    assert_eq!(step.after_failure_of, ["v"]);
    assert_eq!(step.timeout.unwrap().millis(), 90_000);
    assert_eq!(step.retry.delay.unwrap().millis(), 2_000);
    assert_eq!((step.retry.retries, step.retry.jitter), (3, Some(20)));
    assert_eq!(step.artifacts, ["*.txt", "out/*", "more"]);
    assert_eq!(step.run_if.len() + step.abort_if.len(), 2 + usize::from(step.run_if.len() == 2));
    assert_eq!(step.abort_if, [Condition::Command("test -f stop".into())]);
    assert_eq!(step.env.get("B").map(String::as_str), Some("2"));
    assert_eq!(step.params["n"], 3);
    assert_eq!(step.handlers.len(), 7);
    assert!(
        step.background
            && step.may_fail
            && step.compensation.is_some()
            && step.health_check.is_some()
    );
    let delegation = step.delegate.as_ref().unwrap();
    assert!(
        matches!(&delegation.targets, Targets::Labels(labels) if labels["web"] == "true" && labels["zone"] == "eu")
    );
    assert!(delegation.fallback);
}

#[test]
fn every_method_of_a_workflow_is_understood() {
    let definition = defined(
        r#"
local f = function() end
workflow.define("w"):description("d"):version("2"):tasks({ task("t"):command("true") })
  :config({ timeout = "1h", fail_fast = true, on_failure = "rollback", require_lock = true, create_snapshot = true, validate_before = true, detect_drift = true, env = { A = "x" } })
  :on_start(f):on_complete(f):on_task_start(f):on_task_complete(f):on_success(f):on_failure(f)
  :delegate_to("any"):metadata({ team = "core" }):build()"#,
    );
    assert_eq!(definition.remarks, []);
    let workflow = &definition.workflows[0];
    let config = &workflow.config;
    assert!(
        config.fail_fast
            && config.require_lock
            && config.create_snapshot
            && config.validate_before
            && config.detect_drift
    );
    assert_eq!(config.on_failure, OnFailure::Rollback);
    assert_eq!(workflow.handlers.len(), 6);
    assert!(workflow.handlers.contains(&Handler::StepComplete));
    assert_eq!(workflow.delegate.as_ref().unwrap().targets, Targets::Any);
    assert_eq!(workflow.metadata["team"], "core");
}

#[test]
fn where_a_task_runs_is_said_in_many_ways() {
    let targets = |written: &str| {
        let text = format!(
            "workflow.define('w', {{ tasks = {{ {{ name = 't', command = 'true', delegate_to = {written} }} }} }})"
        );
        defined(&text).workflows[0].steps[0]
            .delegate
            .as_ref()
            .map(|delegation| delegation.targets.clone())
    };
    assert_eq!(targets("'web-01'"), Some(Targets::Nodes(vec!["web-01".into()])));
    assert_eq!(targets("{ 'a', 'b' }"), Some(Targets::Nodes(vec!["a".into(), "b".into()])));
    assert_eq!(
        targets("{ address = '10.0.0.1:50051' }"),
        Some(Targets::Nodes(vec!["10.0.0.1:50051".into()]))
    );
    assert_eq!(targets("'any'"), Some(Targets::Any));
    assert_eq!(targets("'local'"), None);
    assert_eq!(targets("function() return 'x' end"), Some(Targets::Function));
    assert!(
        matches!(targets("'tag:gpu'"), Some(Targets::Labels(labels)) if labels["gpu"] == "true")
    );
    assert!(matches!(targets("{ tags = { 'gpu' }, all = true }"), Some(Targets::All(_))));
    let missing = "workflow.define('w', { tasks = { { name = 't', command = 'true', delegate_to = values.host } } })";
    assert_eq!(defined(missing).workflows[0].steps[0].delegate, None);
    let missing =
        "workflow.define('w'):tasks({ task('t'):command('true'):delegate_to(values.host) })";
    assert!(remarks(missing)[0].contains("is a value missing?"), "{:?}", remarks(missing));
}

#[test]
fn tasks_are_combined() {
    let steps = |expression: &str| {
        let text = format!(
            "local function t(n) return task(n):command('true') end\nworkflow.define('w'):tasks({{ {expression} }})"
        );
        let definition = defined(&text);
        definition.workflows[0]
            .steps
            .iter()
            .map(|step| format!("{}<{}", step.name, step.depends_on.join("+")))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(steps("chain({ t('a'), t('b'), t('c') })"), "a< b<a c<b");
    assert_eq!(steps("parallel({ t('a'), t('b') }), t('c')"), "a< b< c<");
    assert_eq!(
        steps("chain({ t('a'), parallel({ t('b'), t('c') }), t('d') })"),
        "a< b<a c<a d<b+c"
    );
    assert_eq!(steps("workflow.sequence(t('a'), t('b'))"), "a< b<a");
    assert_eq!(steps("when('test -f x', t('a'))"), "a<");
    assert_eq!(
        steps(
            "workflow.saga('s', { { name = 'a', action = 'true', compensate = 'true' }, { name = 'b', action = 'true' } })"
        ),
        "a< b<a"
    );
    assert_eq!(
        steps("workflow.approval('ok', { message = 'go?' }), t('a'):depends_on('ok')"),
        "ok< a<ok"
    );
}

#[test]
fn a_file_without_a_workflow_is_one() {
    let tasks = defined("task('a'):command('true'):build()");
    assert_eq!((tasks.workflows[0].name.as_str(), tasks.workflows[0].steps.len()), ("w", 1));
    assert_eq!(tasks.remarks.len(), 1);
    let script = defined("print('x')\nexec.run('true')");
    assert_eq!(script.workflows[0].steps[0].act, Act::Script);
    let hook = defined("function on_event(event) return true end");
    assert_eq!(
        (hook.workflows[0].steps[0].name.as_str(), &hook.workflows[0].steps[0].act),
        ("on_event", &Act::Function)
    );
    let empty = defined("workflow({ name = 'x' })\ntask({ name = 'a', run = 'true' })");
    assert_eq!((empty.workflows[0].name.as_str(), empty.workflows[0].steps.len()), ("x", 1));
}

#[test]
fn tasks_in_a_table_are_named_by_their_keys() {
    let text = "workflow.define('w', { tasks = { b = task({ command = 'true', depends_on = 'a' }), a = { command = 'true' } } })";
    let steps: Vec<String> =
        defined(text).workflows[0].steps.iter().map(|step| step.name.clone()).collect();
    assert_eq!(steps, ["a", "b"]);
    assert_eq!(
        mistakes("workflow.define('w'):tasks({ task({ command = 'true' }) })"),
        ["w.sloth:1: a task has no name; give it one: name = \"build\""]
    );
}

#[test]
fn values_have_defaults_and_are_given() {
    let given =
        Given { values: serde_json::json!({ "image": { "tag": "v2" } }), ..Given::default() };
    let text = "values({ image = { name = 'web', tag = 'v1' }, n = 1 })\nworkflow.define(values.image.name .. ':' .. values.image.tag .. ' ' .. values.n .. ' ' .. values.get('image.tag')):tasks({ task('t'):command('true') })";
    let found = define("w.sloth", text, Box::new(NoFiles), &given).unwrap();
    assert_eq!(found.workflows[0].name, "web:v2 1 v2");
}

#[test]
fn every_mistake_is_told_with_its_line() {
    assert_eq!(
        mistakes(
            r#"local a = task("a")
  :command(7)
  :timeout("soon")
  :retries("many", "sometimes")
  :build()
workflow.define("w"):tasks({ a, task("b"):depends_on("aa"):command("true"), task("b"):command("true") })
workflow.define("w"):tasks({ task("x"):depends_on("y"):command("true"), task("y"):depends_on("x"):command("true") })"#
        ),
        [
            "w.sloth:1: `retries` is a string; say how often, as in :retries(3, \"exponential\")",
            "w.sloth:1: `sometimes` is no way to wait between tries; there are fixed, linear and exponential",
            "w.sloth:1: `timeout`: `soon` is no length of time; write for example \"30s\", \"5m\" or \"1h30m\"",
            "w.sloth:1: the command of `a` is a number; give a function or a line for the shell",
            "w.sloth:6: `b` depends on `aa`, which is not there; `w` has no task of that name",
            "w.sloth:6: two tasks of `w` are called `b` (the other one: w.sloth:6); give one of them another name",
            "w.sloth:7: these tasks wait for each other: x → y → x; one of them has to go first",
            "w.sloth:7: two workflows are called `w`; give one of them another name",
        ]
    );
}

#[test]
fn what_is_not_lua_is_shown_with_a_mark() {
    let found =
        define("w.sloth", "local a = 1\nlocal b nope\n", Box::new(NoFiles), &Given::default())
            .unwrap_err();
    let told = found.to_string();
    assert!(told.starts_with("w.sloth:2:"), "{told}");
    assert!(told.contains("\n    local b nope\n") && told.trim_end().ends_with('^'), "{told}");
    let found =
        define("w.sloth", "local t = nil\nlocal x = t.field", Box::new(NoFiles), &Given::default())
            .unwrap_err();
    assert!(found.to_string().starts_with("w.sloth:2:"), "{found}");
}

#[test]
fn what_is_not_known_is_told_and_strict_makes_it_a_mistake() {
    let text =
        "workflow.define('w'):tasks({ task('t'):comand('true'):frobnicate():command('true') })";
    assert_eq!(
        remarks(text),
        [
            "w.sloth:1: a task has no method `comand`; did you mean `:command(..)`?",
            "w.sloth:1: a task has no method `frobnicate`; it has no effect",
        ]
    );
    let strict = Given { strict: true, ..Given::default() };
    assert_eq!(define("w.sloth", text, Box::new(NoFiles), &strict).unwrap_err().0.len(), 2);
    let text =
        "workflow.define('w', { tasks = { { name = 't', comand = 'x', command = 'true' } } })";
    assert_eq!(remarks(text), ["w.sloth:1: a task has no `comand`; did you mean `command`?"]);
}

#[test]
fn what_is_only_noticed_is_told_beside_mistakes() {
    let text = "local a = task('a'):command('true'):colour('red'):build()
local b = task('b'):depends_on('none'):command('true'):build()
workflow.define('w'):tasks({ a, b })";
    let found = define("w.sloth", text, Box::new(NoFiles), &Given::default()).unwrap_err();
    assert_eq!(found.0.len(), 1, "{found}");
    assert_eq!(found.1.len(), 1, "{found}");
    assert!(found.to_string().contains("\nwarning: w.sloth:1: "), "{found}");
}

#[test]
fn a_file_is_text_to_its_end() {
    let found = mistakes("workflow.define('w')\n-- \0\nerror('behind it')");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("w.sloth:2") && found[0].contains("NUL"), "{found:?}");
}

#[test]
fn a_script_that_only_speaks_of_workflows_is_a_script() {
    let script = defined("local r = sloth.workflow.list{ show_only = true }\nlog.info(r)");
    assert_eq!(script.workflows.len(), 1);
    assert_eq!(script.workflows[0].steps[0].act, Act::Script);
    assert!(remarks("workflow.define('w')").iter().any(|remark| remark.contains("no tasks")));
}
