//! Workflows on the command line: carried out, killed, and gone on with.

use serde_json::Value;

use crate::rig::{Cli, Rig, until};

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
