//! Workflows on the command line: carried out, killed, and gone on with.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::rig::{Cli, Rig, is_running, until};

fn write(rig: &Rig, name: &str, text: &str) -> String {
    let path = rig.path(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn example(rig: &Rig, name: &str) -> String {
    let path = format!("{}/../../examples/workflows/{name}", env!("CARGO_MANIFEST_DIR"));
    write(rig, name, &std::fs::read_to_string(path).unwrap())
}

fn status(report: &Value, step: &str) -> String {
    let tasks = report["tasks"].as_array().unwrap();
    let found = tasks.iter().find(|task| task["name"] == step).unwrap();
    found["status"].as_str().unwrap().to_owned()
}

#[test]
fn the_examples_do_what_they_say() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let release = example(&rig, "release.sloth");
    cli.ok(&["workflow", "validate", "--strict", &release]);
    let report = cli.json(&["run", &release]);
    assert_eq!(report["status"], "succeeded", "{report}");
    assert_eq!(report["outputs"]["digest"].as_str().map(str::len), Some(64), "{report}");
    assert_eq!(report["tasks"][1]["message"], "it says works");
    let recover = example(&rig, "recover.lua");
    let ended = cli.run(&["run", &recover, "-o", "json"]).must(4);
    let report: Value = serde_json::from_str(&ended.text()).unwrap();
    let found = ["breaks", "mends", "never"].map(|step| status(&report, step));
    assert_eq!(found, ["failed", "succeeded", "skipped"]);
    assert!(cli.ok(&["workflow", "graph", &release]).contains("pack  ← test, lint"));
    assert!(cli.ok(&["workflow", "graph", &release, "--format", "svg"]).starts_with("<svg"));
}

#[test]
fn values_are_given_and_mistakes_are_told_with_their_line() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let file = write(
        &rig,
        "v.sloth",
        "workflow.define('v'):tasks({ task('t'):command('echo ' .. values.image.tag .. ' ' .. values.image.name) })",
    );
    let values = write(&rig, "v.yaml", "image: { name: web, tag: v1 }\n");
    let said = cli.ok(&["run", &file, "--values", &values, "--set", "image.tag=v2"]);
    assert_eq!(said, "t | v2 web\n");
    let told = cli.run(&["run", &file]).must(2).err;
    assert!(told.contains("v.sloth:1:") && told.contains("attempt to index nil"), "{told}");
    let wrong = write(&rig, "wrong.sloth", "local a = 1\nlocal b nope\n");
    let told = cli.run(&["run", &wrong]).must(2).err;
    assert!(told.contains("wrong.sloth:2:") && told.contains('^'), "{told}");
    let away = write(
        &rig,
        "away.sloth",
        "workflow.define('a'):tasks({ task('t'):delegate_to('web-1'):command('true') })",
    );
    assert!(cli.run(&["run", &away]).must(2).err.contains("--here"));
    cli.ok(&["run", &away, "--here"]);
}

#[test]
fn a_retry_begins_where_somebody_says() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let log = rig.path("log");
    let text = format!(
        "local function t(n, d) return task(n):command('echo '..n..' >> {0}'):depends_on(d):build() end\n\
         workflow.define('f'):tasks({{ t('a', {{}}), t('b', {{'a'}}), t('c', {{'b'}}), t('d', {{'a'}}) }})",
        log.display()
    );
    let file = write(&rig, "f.sloth", &text);
    let id = cli.json(&["run", &file, "-j", "1"])["execution"].as_str().unwrap().to_owned();
    let told = cli.run(&["workflow", "retry", &id, "--from", "bb"]).must(3).err;
    assert!(told.contains("has no task `bb`"), "{told}");
    assert!(cli.run(&["workflow", "retry", &id, "--detach"]).must(2).err.contains("--detach"));
    cli.ok(&["workflow", "retry", &id, "--from", "b"]);
    let mut done: Vec<String> =
        std::fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(&done[4..], ["b", "c"]);
    done.truncate(4);
    done.sort();
    assert_eq!(done, ["a", "b", "c", "d"]);
}

#[test]
fn what_was_not_chosen_is_not_asked_for_and_what_was_refused_leaves_nothing() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let text = "workflow.define('w'):tasks({ task('build'):command('true'), task('ship'):delegate_to('web-1'):command('true'):depends_on('build') })";
    let file = write(&rig, "w.sloth", text);
    cli.run(&["run", &file]).must(2);
    cli.run(&["run", &file, "--task", "shop"]).must(2);
    let report = cli.json(&["run", &file, "--task", "build"]);
    assert_eq!(report["status"], "succeeded");
    let known = cli.json(&["workflow", "executions"]);
    assert_eq!(known.as_array().unwrap().len(), 1, "{known}");
}

#[test]
fn what_a_server_carries_out_refuses_what_only_this_machine_can() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    for flag in ["--here", "--interactive", "--no-journal", "--check", "--strict"] {
        let told = cli.run(&["workflow", "run", "kept", flag]).must(2).err;
        assert!(told.contains(flag), "{told}");
    }
    let told = cli.run(&["workflow", "run", "kept", "--workflow", "other"]).must(2).err;
    assert!(told.contains("named by itself"), "{told}");
}

#[test]
fn several_workflows_are_a_list_however_many_were_begun() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let text = "workflow.define('one'):tasks({ task('t'):command('false') })\nworkflow.define('two'):tasks({ task('t'):command('true') })";
    let file = write(&rig, "two.sloth", text);
    let ended = cli.run(&["run", &file, "-o", "json"]).must(4);
    assert!(ended.err.contains("1 more workflows of the file were not begun"), "{}", ended.err);
    let report: Value = serde_json::from_str(&ended.text()).unwrap();
    assert_eq!(report.as_array().unwrap().len(), 1, "{report}");
}

#[test]
fn what_was_killed_goes_on_and_nothing_is_done_twice() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let log = rig.path("log");
    let gate = rig.path("gate");
    let file = write(
        &rig,
        "k.sloth",
        &format!(
            "workflow.define('k'):tasks(chain({{\n  task('first'):command('echo first >> {log}'),\n  task('waits'):command('echo waits >> {log}; while [ ! -e {gate} ]; do sleep 0.05; done'),\n  task('last'):command(function() exec.run('echo last >> {log}') end),\n}}))",
            log = log.display(),
            gate = gate.display()
        ),
    );
    let mut running = cli.spawn("run", &["run", &file]);
    let lines = || std::fs::read_to_string(&log).unwrap_or_default();
    until("the second step runs", || lines().contains("waits").then_some(()));
    running.kill();
    let executions = cli.json(&["workflow", "executions"]);
    assert_eq!(executions[0]["status"], "unfinished", "{executions}");
    let id = executions[0]["id"].as_str().unwrap();
    let ended = cli.run(&["workflow", "resume", id, "-o", "json"]).must(4);
    let report: Value = serde_json::from_str(&ended.text()).unwrap();
    let found = ["first", "waits", "last"].map(|step| status(&report, step));
    assert_eq!(found, ["succeeded", "uncertain", "skipped"]);
    assert_eq!(lines(), "first\nwaits\n");
    std::fs::write(&gate, "").unwrap();
    let report = cli.json(&["workflow", "resume", id, "--repeat-uncertain"]);
    assert_eq!(report["status"], "succeeded", "{report}");
    assert_eq!(lines(), "first\nwaits\nwaits\nlast\n");
}

/// A workflow whose second step writes its number and then waits for a gate.
fn gated(rig: &Rig) -> String {
    let text = format!(
        "workflow.define('g'):tasks(chain({{\n  task('first'):command('true'),\n  task('waits'):command(function() return exec.run('echo $$ >> {pids}; while [ ! -e {gate} ]; do sleep 0.05; done').success end),\n}}))",
        pids = rig.path("pids").display(),
        gate = rig.path("gate").display()
    );
    write(rig, "g.sloth", &text)
}

fn numbers(rig: &Rig, count: usize) -> Vec<u32> {
    until("its program runs", || {
        let text = std::fs::read_to_string(rig.path("pids")).unwrap_or_default();
        let numbers: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
        (numbers.len() >= count).then_some(numbers)
    })
}

#[test]
fn what_is_left_of_a_killed_execution_never_runs_beside_its_repetition() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let mut running = cli.spawn("run", &["run", &gated(&rig)]);
    let first = numbers(&rig, 1)[0];
    let id = cli.json(&["workflow", "executions"])[0]["id"].as_str().unwrap().to_owned();
    let busy = cli.run(&["workflow", "resume", &id, "--repeat-uncertain"]).must(5);
    assert!(busy.err.contains("another process"), "{}", busy.err);
    running.kill();
    assert!(is_running(first), "nobody was left to end it");

    let told = cli.run(&["workflow", "resume", &id]).must(4).err;
    assert!(told.contains("✗ waits uncertain") && told.contains("still runs"), "{told}");
    assert!(told.contains(&first.to_string()) && told.contains("--repeat-uncertain"), "{told}");
    assert!(is_running(first));

    let mut running = cli.spawn("retry", &["workflow", "retry", &id, "--repeat-uncertain"]);
    let second = numbers(&rig, 2)[1];
    assert!(!is_running(first), "it was ended before the step began again");
    running.line(&["`waits` still ran", &first.to_string()]);
    assert!(is_running(second));
    std::fs::write(rig.path("gate"), "").unwrap();
    assert_eq!(running.wait_within(Duration::from_secs(60)).0, 0, "{}", running.log());
}

#[test]
fn who_is_told_to_end_takes_everything_with_it() {
    for signal in [Signal::TERM, Signal::INT] {
        let rig = Rig::new();
        let cli = Cli::new(&rig);
        let mut running = cli.spawn("run", &["run", &gated(&rig)]);
        let first = numbers(&rig, 1)[0];
        running.signal(signal);
        assert_eq!(running.wait_within(Duration::from_secs(60)).0, 130, "{}", running.log());
        until("its program has ended", || (!is_running(first)).then_some(()));
        let executions = cli.json(&["workflow", "executions"]);
        assert_eq!(executions[0]["status"], "cancelled", "{executions}");
    }
}
