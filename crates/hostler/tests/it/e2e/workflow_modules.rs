//! Modules that a project keeps: used where a workflow is defined and in bodies on a node, and pinned.

use std::path::PathBuf;

use serde_json::Value;

use crate::rig::{Agent, Cli, Rig, Server};

const FLOW: &str = r#"
local greet = require("greet")
local hello = task(greet.name):command(function()
    local again = require("greet")
    export({ said = again.hello(), first = require("greet@1").hello() })
    return true, again.hello()
end):build()
workflow.define("hello"):tasks({ hello })
"#;

fn module(version: u32) -> String {
    format!(
        r#"local words = require("lib.words")
return {{
    name = "greet-{version}",
    hello = function() return strings.upper("v{version} " .. words) end,
}}
"#
    )
}

struct Files<'a>(&'a Rig);

impl Files<'_> {
    fn write(&self, name: &str, text: &str) -> String {
        let path: PathBuf = self.0.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

fn run(cli: &Cli<'_>, words: &[&str]) -> Value {
    let mut all = vec!["workflow", "run"];
    all.extend(words);
    all.extend(["-o", "json"]);
    let done = cli.run(&all).must(0);
    serde_json::from_slice(&done.out).unwrap()
}

fn told(execution: &Value) -> (&str, &str, &str) {
    assert_eq!(execution["outcome"], "succeeded", "{execution}");
    let outputs = &execution["outputs"];
    (
        execution["steps"][0]["name"].as_str().unwrap(),
        outputs["said"].as_str().unwrap(),
        outputs["first"].as_str().unwrap(),
    )
}

#[test]
fn a_workflow_goes_on_with_the_modules_that_it_was_pushed_with() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let _agent = Agent::join(&rig, &cli, &server, "node-1");
    let files = Files(&rig);
    files.write("modules/lib/words.lua", "return 'well met'");
    let greet = files.write("modules/greet.lua", &module(1));
    let flow = files.write("flows/hello.sloth", FLOW);

    let missing = cli.run(&["workflow", "push", &flow]);
    assert_eq!(missing.code, 2, "{}", missing.err);
    for part in ["hello.sloth:2", "there is no module `greet`", "workflow module push greet.lua"] {
        assert!(missing.err.contains(part), "{part}: {}", missing.err);
    }

    let pushed = cli.json(&["workflow", "module", "push", &greet]);
    assert_eq!(pushed["items"][0]["version"], 1, "{pushed}");
    let pushed = cli.json(&["workflow", "module", "push", &greet]);
    assert_eq!(pushed["items"][0]["version"], 1, "nothing changed");
    let kept = cli.json(&["workflow", "push", &flow]);
    assert_eq!(kept["items"][0]["modules"][0]["name"], "greet", "{kept}");
    let first = run(&cli, &["hello"]);
    assert_eq!(told(&first), ("greet-1", "V1 WELL MET", "V1 WELL MET"));

    files.write("modules/greet.lua", &module(2));
    cli.ok(&["workflow", "module", "push", &greet]);
    let again = run(&cli, &["hello", "--version", "1"]);
    assert_eq!(told(&again), ("greet-1", "V1 WELL MET", "V1 WELL MET"), "it was pinned");
    let second = run(&cli, &[&flow, "--remote"]);
    assert_eq!(second["version"], 2);
    assert_eq!(told(&second), ("greet-2", "V2 WELL MET", "V1 WELL MET"));
    let shown = cli.ok(&["workflow", "show", "hello"]);
    assert!(shown.contains("version 2, with greet@1, greet@2"), "{shown}");

    let text = cli.ok(&["workflow", "module", "show", "greet", "--version", "1"]);
    assert_eq!(text.trim_end(), module(1).trim_end());
    let versions = cli.json(&["workflow", "module", "ls", "--versions", "greet"]);
    assert_eq!(versions["items"].as_array().unwrap().len(), 2, "{versions}");
    cli.ok(&["workflow", "module", "rm", "greet"]);
    assert_eq!(cli.run(&["workflow", "module", "show", "greet"]).code, 3);
    let after = run(&cli, &["hello", "--version", "2"]);
    assert_eq!(told(&after).0, "greet-2", "what was kept has its own copy");
    assert_eq!(cli.json(&["audit", "verify"])["isIntact"], true);
}

#[test]
fn a_module_is_found_in_its_own_project_only_and_without_a_server_it_is_told() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let files = Files(&rig);
    files.write("modules/lib/words.lua", "return 'well met'");
    let greet = files.write("modules/greet.lua", &module(1));
    let flow = files.write("flows/hello.sloth", FLOW);
    cli.ok(&["project", "create", "theirs"]);
    cli.ok(&["workflow", "module", "push", &greet, "-p", "theirs"]);
    let missing = cli.run(&["workflow", "push", &flow]);
    assert_eq!(missing.code, 2, "{}", missing.err);
    assert!(missing.err.contains("there is no module `greet`"), "{}", missing.err);
    assert_eq!(cli.json(&["workflow", "module", "ls"])["items"], Value::Array(Vec::new()));
    cli.ok(&["workflow", "push", &flow, "-p", "theirs"]);
    let wrong = cli.run(&["workflow", "validate", &flow, "-p", "default"]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    cli.ok(&["workflow", "validate", &flow, "-p", "theirs"]);

    let here = cli.run(&["run", &flow, "-p", "theirs", "-o", "json"]).must(0);
    let here: Value = serde_json::from_slice(&here.out).unwrap();
    assert_eq!(here["outputs"]["said"], "V1 WELL MET", "{here}");

    let elsewhere = Rig::new();
    let alone = Cli::new(&elsewhere);
    let nowhere = alone.run(&["run", &flow]);
    assert_eq!(nowhere.code, 2, "{}", nowhere.err);
    for part in ["no server was asked", "greet.lua", "hostler workflow module push"] {
        assert!(nowhere.err.contains(part), "{part}: {}", nowhere.err);
    }
    let beside = "return { name = 'near', hello = function() return 'here' end }";
    files.write("flows/greet.lua", beside);
    let near = FLOW.replace("greet@1", "greet");
    let near = files.write("flows/near.sloth", &near);
    let near = alone.run(&["run", &near, "-o", "json"]).must(0);
    let near: Value = serde_json::from_slice(&near.out).unwrap();
    assert_eq!(near["outputs"]["said"], "here", "{near}");
}
