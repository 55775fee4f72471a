//! Stacks on the command line: planned, applied, looked at, interrupted, refused and taken down.

use rustix::process::Signal;
use serde_json::Value;

use crate::rig::{Cli, Rig, Server, until};

fn write(rig: &Rig, name: &str, text: &str) -> String {
    let path = rig.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn example(name: &str) -> String {
    format!("{}/../../examples/stacks/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A template whose resource `slow` takes so long to be made.
fn slow(seconds: &str, more: &str) -> String {
    format!(
        "heat_template_version: 2021-04-16\nresources:\n  quick: {{ type: OS::Heat::Value, properties: {{ value: 1 }} }}\n  slow:\n    type: OS::Heat::TestResource\n    depends_on: quick\n    properties: {{ value: a, wait_secs: {seconds}{more} }}\n"
    )
}

fn server(rig: &Rig) -> (Server, Cli<'_>) {
    let mut server = Server::alone(rig, "one", None);
    let cli = server.first_login(rig);
    (server, cli)
}

fn status(cli: &Cli<'_>, stack: &str) -> String {
    let standing = &cli.json(&["stack", "show", stack])["standing"];
    let word = |name: &str| standing[name].as_str().unwrap().to_owned();
    format!("{} {}", word("action"), word("status"))
}

fn names(list: &Value) -> Vec<&str> {
    list["items"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn a_stack_is_planned_made_looked_at_changed_and_taken_down() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let hello = example("hello.yaml");
    let planned = cli.run(&["stack", "plan", &hello]).must(10);
    assert!(planned.text().contains("+ create greeting (OS::Heat::Value)"), "{}", planned.text());
    assert!(cli.json(&["stack", "ls"])["items"].as_array().unwrap().is_empty(), "nothing was done");
    // Nobody can be asked here.
    assert!(cli.run(&["stack", "apply", &hello]).must(2).err.contains("--yes"));
    let applied = cli.run(&["stack", "apply", &hello, "--yes"]).must(0);
    for word in ["✓ greeting created", "create complete, revision v1", "greeting = Hello, world!"]
    {
        assert!(applied.err.contains(word), "{word} is not in:\n{}", applied.err);
    }
    assert_eq!(cli.ok(&["stack", "outputs", "hello", "greeting"]), "Hello, world!\n");
    assert_eq!(names(&cli.json(&["stack", "outputs", "hello"])), ["greeting", "password_length"]);
    cli.run(&["stack", "outputs", "hello", "nope"]).must(3);
    assert_eq!(status(&cli, "hello"), "create complete");
    let shown = cli.ok(&["stack", "show", "hello"]);
    assert!(shown.contains("create complete") && shown.contains("Hello, world!"), "{shown}");
    assert_eq!(names(&cli.json(&["stack", "resources", "hello"])), ["password", "greeting"]);
    let one = cli.json(&["stack", "resource", "hello", "greeting"]);
    assert_eq!(one["attributes"]["value"], "Hello, world!", "{one}");
    assert!(cli.ok(&["stack", "resource", "hello", "greeting"]).contains("OS::Heat::Value"));
    let events = cli.json(&["stack", "events", "hello"]);
    let events = events["items"].as_array().unwrap();
    assert_eq!(events.last().unwrap()["reason"], "Stack CREATE completed successfully");
    let newest = cli.json(&["stack", "events", "hello", "--limit", "1"]);
    assert_eq!(newest["items"][0]["id"], events.last().unwrap()["id"]);
    let of_one = cli.json(&["stack", "events", "hello", "--resource", "greeting"]);
    assert!(of_one["items"].as_array().unwrap().len() < events.len());

    // What is as wanted is left alone.
    cli.run(&["stack", "plan", &hello]).must(0);
    assert!(cli.run(&["stack", "apply", &hello]).must(0).err.contains("nothing to do"));
    let change = ["stack", "plan", &hello, "-P", "name=Ada"];
    let plan: Value =
        serde_json::from_str(&cli.run(&[&change[..], &["-o", "json"]].concat()).must(10).text())
            .unwrap();
    let touched = plan["changes"]["resources"].as_array().unwrap().iter();
    let touched: Vec<&str> = touched
        .filter(|one| one["change"] != "unchanged")
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(touched, ["greeting"], "{plan}");
    let late = cli.run(&[&change[..], &["-q"]].concat()).must(10).text();
    let id = plan["id"].as_str().unwrap();
    let applied = cli.run(&["stack", "apply", "--plan", id, "--yes", "-o", "json"]).must(0).text();
    let applied: Value = serde_json::from_str(&applied).unwrap();
    assert_eq!(
        (&applied["revision"], &applied["standing"]["status"]),
        (&Value::from(2), &Value::from("complete"))
    );
    assert_eq!(cli.ok(&["stack", "outputs", "hello", "greeting"]), "Hello, Ada!\n");
    // The other plan was made for what the stack is no more.
    cli.run(&["stack", "apply", "--plan", late.trim(), "--yes"]).must(5);
    cli.run(&["stack", "apply", "--plan", id, "--yes"]).must(5);

    let gone = cli.run(&["stack", "rm", "hello", "--yes"]).must(0);
    assert!(gone.err.contains("stack hello is gone"), "{}", gone.err);
    assert!(cli.json(&["stack", "ls"])["items"].as_array().unwrap().is_empty());
    assert_eq!(names(&cli.json(&["stack", "ls", "--deleted"])), ["hello"]);
    cli.run(&["stack", "rm", "hello", "--yes"]).must(3);
}

#[test]
fn graphs_are_drawn_and_types_are_told() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    cli.ok(&["stack", "apply", &write(&rig, "s.yaml", &slow("0", "")), "--yes", "--tag", "a,b"]);
    let text = cli.ok(&["stack", "graph", "s"]);
    assert!(text.contains("slow  ← quick"), "{text}");
    assert!(cli.ok(&["stack", "graph", "s", "--format", "dot"]).contains("\"quick\" -> \"slow\""));
    let svg = cli.ok(&["stack", "graph", "s", "--format", "svg"]);
    assert!(svg.starts_with("<svg") && svg.contains(">slow</text>"), "{svg}");
    assert_eq!(cli.json(&["stack", "graph", "s"])["edges"][0]["to"], "quick");
    assert_eq!(names(&cli.json(&["stack", "ls", "--tag", "b", "--status", "complete"])), ["s"]);
    assert!(cli.json(&["stack", "ls", "--tag", "c"])["items"].as_array().unwrap().is_empty());
    let types = cli.json(&["stack", "types", "OS::Heat::Random*"]);
    assert_eq!(names(&types), ["OS::Heat::RandomString"]);
    assert!(cli.ok(&["stack", "type", "OS::Heat::RandomString"]).contains("character_classes"));
    let template = cli.json(&["stack", "type", "OS::Heat::RandomString", "--template"]);
    assert!(template["heat_template_version"].is_string(), "{template}");
    assert!(cli.ok(&["stack", "editions"]).contains("2021-04-16"));
    assert!(cli.ok(&["stack", "editions", "2018-08-31"]).lines().any(|line| line == "yaql"));
    cli.run(&["stack", "editions", "1999-01-01"]).must(3);
}

#[test]
fn files_are_sent_along_and_flags_win_over_environments() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let file = example("greetings.yaml");
    let loud = example("greetings/loud.yaml");
    cli.ok(&["stack", "apply", &file, "-e", &loud, "--yes", "-q"]);
    let said = cli.json(&["stack", "outputs", "greetings", "all"]);
    assert_eq!(said["value"][2], "Good morning, guest-2!!!", "{said}");
    assert_eq!(cli.ok(&["stack", "outputs", "greetings", "one"]), "Good morning, linus.\n");
    let nested = cli.json(&["stack", "resources", "greetings", "--nested", "3"]);
    assert!(names(&nested).len() > 5, "{nested}");
    assert!(names(&cli.json(&["stack", "ls", "--nested"])).len() > 1);
    let again = ["stack", "apply", &file, "-e", &loud, "-P", "tone=soft", "--yes"];
    cli.ok(&again);
    let said = cli.json(&["stack", "outputs", "greetings", "all"]);
    assert_eq!(said["value"][0], "Good morning, guest-0.", "flags win: {said}");
    // The same from elsewhere is no change.
    let here = std::path::Path::new(&file).parent().unwrap().canonicalize().unwrap();
    let there = cli.at(&here);
    let same = ["stack", "plan", "greetings.yaml", "-e", "greetings/loud.yaml", "-P", "tone=soft"];
    there.run(&same).must(0);
    let secret = write(&rig, "secret", "sesame\n");
    let template = write(
        &rig,
        "hidden.yaml",
        "heat_template_version: 2021-04-16\nparameters: { key: { type: string, hidden: true } }\nresources: { r: { type: OS::Heat::Value, properties: { value: { get_param: key } } } }\n",
    );
    let given = format!("key={secret}");
    let told = cli.run(&["stack", "apply", &template, "--parameter-file", &given, "--yes"]).must(0);
    let shown = cli.json(&["stack", "show", "hidden"]);
    assert_eq!(shown["parameters"]["key"], "******");
    assert!(!told.err.contains("sesame"), "{}", told.err);
}

#[test]
fn mistakes_are_told_all_at_once_at_their_places() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let wrong = write(
        &rig,
        "wrong.yaml",
        "heat_template_version: 2021-04-16\nresources:\n  a:\n    type: OS::Heat::RandomString\n    properties: { length: 600 }\n  b: { type: OS::Heat::Valu }\noutputs:\n  it: { value: { get_attr: [c, value] } }\n",
    );
    for words in [["stack", "plan", &wrong], ["stack", "apply", &wrong]] {
        let told = cli.run(&words).must(2).err;
        assert!(told.contains("wrong.yaml:5:") && told.contains("wrong.yaml:6:"), "{told}");
        assert!(told.contains("600 is out of range") && told.contains('^'), "{told}");
    }
    let told = cli.run(&["stack", "validate", &wrong]).must(2).text();
    assert!(told.contains("wrong.yaml:5:") && told.contains('^'), "{told}");
    let good = example("regions.yaml");
    let told = cli.run(&["stack", "validate", &wrong, &good, "-o", "json"]).must(2).text();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (&told["items"][0]["isValid"], &told["items"][1]["isValid"]),
        (&Value::Bool(false), &Value::Bool(true))
    );
    let files = write(
        &rig,
        "files.yaml",
        "heat_template_version: 2021-04-16\nresources:\n  a: { type: gone.yaml }\n  b: { type: OS::Heat::Value, properties: { value: { get_file: https://example.org/x } } }\n",
    );
    let told = cli.run(&["stack", "apply", &files]).must(2).err;
    assert!(told.contains("files.yaml:3:14: type: gone.yaml: there is no file"), "{told}");
    assert!(told.contains("files.yaml:4:") && told.contains("it is in a network"), "{told}");
    // Of a template below, with the name that it has here.
    write(
        &rig,
        "below.yaml",
        "heat_template_version: 2021-04-16\nresources: { x: { type: No::Such } }\n",
    );
    let above = write(
        &rig,
        "above.yaml",
        "heat_template_version: 2021-04-16\nresources: { b: { type: below.yaml } }\n",
    );
    let told = cli.run(&["stack", "apply", &above]).must(2).err;
    assert!(told.contains("below.yaml") && !told.contains("file://"), "{told}");
    let circle = write(
        &rig,
        "c.yaml",
        "heat_template_version: 2021-04-16\nresources:\n  a: { type: OS::Heat::None, depends_on: b }\n  b: { type: OS::Heat::None, depends_on: a }\n",
    );
    assert!(cli.run(&["stack", "apply", &circle]).must(2).err.contains("ircular"));
    let odd = ["stack", "apply", &good, "-P", "stage=moon"];
    assert!(cli.run(&odd).must(2).err.contains("stage"));
    cli.run(&["stack", "apply", &good, "-P", "stage"]).must(2);
    cli.run(&["stack", "apply", "/no/such/file.yaml"]).must(2);
    assert!(
        cli.run(&["stack", "apply", &write(&rig, "1.yaml", "x")]).must(2).err.contains("1.yaml")
    );
    assert!(cli.json(&["stack", "ls"])["items"].as_array().unwrap().is_empty());
    cli.run(&["stack", "show", "nope"]).must(3);
}

#[test]
fn every_example_is_right() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let folder = example("");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let path = path.display().to_string();
        let mut words = vec!["stack", "validate", path.as_str()];
        let polite = example("greetings/polite.yaml");
        if path.ends_with("greetings.yaml") {
            words.extend(["-e", polite.as_str()]);
        }
        cli.ok(&words);
        count += 1;
    }
    assert!(count >= 5);
    cli.ok(&["stack", "apply", &example("regions.yaml"), "-P", "stage=production", "--yes"]);
    let names = cli.json(&["stack", "outputs", "regions", "names"]);
    assert_eq!(names["value"], serde_json::json!(["production-north", "production-south"]));
}

#[test]
fn what_fails_is_told_and_undone_where_that_was_chosen() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let bad = write(&rig, "bad.yaml", &slow("0", ", fail: true"));
    let told = cli.run(&["stack", "apply", &bad, "--yes"]).must(4).err;
    assert!(
        told.contains("✗ slow create failed: ") && told.contains("Test Resource failed slow"),
        "{told}"
    );
    assert_eq!(status(&cli, "bad"), "create failed");
    // Mended, the rest is done.
    let good = write(&rig, "bad.yaml", &slow("0", ""));
    cli.ok(&["stack", "apply", &good, "--yes"]);
    assert_eq!(status(&cli, "bad"), "update complete");
    let worse = write(&rig, "bad.yaml", &slow("0", ", fail: true, update_replace_value: x"));
    let told = cli.run(&["stack", "apply", &worse, "--yes", "--rollback"]).must(4).err;
    assert!(told.contains("↩") && told.contains("rollback complete"), "{told}");
    let ended = cli.run(&["stack", "show", "bad", "-o", "json"]).must(0).text();
    assert!(ended.contains("rollback"), "{ended}");
}

#[test]
fn whoever_stops_waiting_stops_nothing() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let file = write(&rig, "long.yaml", &slow("120", ""));
    cli.run(&["stack", "apply", &file, "--yes", "--wait", "1s"]).must(9);
    assert_eq!(status(&cli, "long"), "create in-progress");
    let other = write(&rig, "longer.yaml", &slow("121", ""));
    let mut waiting = cli.spawn("apply", &["stack", "apply", &other, "--yes"]);
    until("it is under way", || {
        let listed = cli.json(&["stack", "ls"]);
        names(&listed).contains(&"longer").then_some(())
    });
    waiting.line(&["✓ quick created"]);
    waiting.signal(Signal::INT);
    waiting.line(&["stack longer goes on"]);
    assert_eq!(waiting.wait_within(crate::rig::DEADLINE).0, 130);
    assert_eq!(status(&cli, "longer"), "create in-progress");
    let said = cli.run(&["stack", "cancel", "longer", "--no-rollback", "--detach"]).must(0).err;
    assert!(said.contains("longer"), "{said}");
    cli.ok(&["stack", "rm", "long", "--yes", "--detach"]);
}

#[test]
fn an_update_is_cancelled_and_undone() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let file = write(&rig, "s.yaml", &slow("0", ""));
    cli.ok(&["stack", "apply", &file, "--yes"]);
    let file = write(
        &rig,
        "s.yaml",
        &slow("0", ", update_replace_value: x, action_wait_secs: { create: 5 }"),
    );
    cli.ok(&["stack", "apply", &file, "--yes", "--detach"]);
    let told = cli.run(&["stack", "cancel", "s"]);
    assert!(told.err.contains("rollback complete"), "{}", told.err);
    assert_eq!(status(&cli, "s"), "rollback complete");
    assert!(cli.run(&["stack", "cancel", "s"]).must(5).err.contains("cancel"));
    cli.ok(&["stack", "suspend", "s"]);
    assert_eq!(status(&cli, "s"), "suspend complete");
    cli.ok(&["stack", "resume", "s"]);
    cli.ok(&["stack", "check", "s"]);
    assert_eq!(status(&cli, "s"), "check complete");
}

#[test]
fn signals_hooks_and_marks_reach_resources() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    cli.ok(&["stack", "apply", &example("handshake.yaml"), "--yes", "--detach"]);
    until("the handle is there", || {
        let listed = cli.json(&["stack", "resources", "handshake"]);
        let all = listed["items"].as_array()?.iter();
        all.clone().find(|one| one["name"] == "handle" && one["status"] == "complete").map(|_| ())
    });
    cli.ok(&[
        "stack",
        "signal",
        "handshake",
        "handle",
        "--data",
        "{\"id\": \"a\", \"data\": \"10.0.0.7\"}",
    ]);
    cli.run(&["stack", "signal", "handshake", "handle", "--data", "nonsense"]).must(2);
    let body = write(&rig, "b.json", "{\"id\": \"b\"}");
    cli.ok(&["stack", "signal", "handshake", "handle", "--data-file", &body]);
    until("both were ready", || (status(&cli, "handshake") == "create complete").then_some(()));
    assert!(cli.ok(&["stack", "outputs", "handshake", "said"]).contains("10.0.0.7"));

    cli.ok(&["stack", "apply", &example("scaling.yaml"), "--yes"]);
    assert_eq!(cli.ok(&["stack", "outputs", "scaling", "size"]), "1\n");
    cli.ok(&["stack", "signal", "scaling", "grow"]);
    until("the group has grown", || {
        (cli.ok(&["stack", "outputs", "scaling", "size"]) == "2\n").then_some(())
    });

    let file = write(&rig, "hooked.yaml", &slow("0", ""));
    cli.ok(&["stack", "apply", &file, "--hook", "pre-create=slow", "--yes", "--detach"]);
    let waiting = until("it waits at the hook", || {
        let listed = cli.json(&["stack", "hook", "ls", "hooked"]);
        listed["items"].as_array()?.first().cloned()
    });
    assert_eq!(
        (&waiting["resource"], &waiting["hook"]),
        (&Value::from("slow"), &Value::from("pre-create"))
    );
    cli.run(&["stack", "hook", "clear", "hooked", "quick"]).must(3);
    cli.ok(&["stack", "hook", "clear", "hooked", "slow"]);
    until("it went on", || (status(&cli, "hooked") == "create complete").then_some(()));
    cli.ok(&["stack", "mark-unhealthy", "hooked", "slow", "--reason", "it smells"]);
    let before = cli.json(&["stack", "resource", "hooked", "slow"])["id"].clone();
    assert_eq!(cli.json(&["stack", "resource", "hooked", "slow"])["status"], "failed");
    cli.ok(&["stack", "apply", &file, "--yes"]);
    let after = cli.json(&["stack", "resource", "hooked", "slow"])["id"].clone();
    assert_ne!(before, after, "another object is in its place");
    cli.ok(&["stack", "mark-unhealthy", "hooked", "quick", "--reason", "no"]);
    cli.ok(&["stack", "mark-unhealthy", "hooked", "quick", "--reset"]);
}

#[test]
fn events_are_followed_until_the_stack_is_gone() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    cli.ok(&["stack", "apply", &write(&rig, "s.yaml", &slow("0", "")), "--yes"]);
    let mut watching = cli.spawn("events", &["stack", "events", "s", "--follow"]);
    watching.line(&["Stack CREATE completed successfully"]);
    cli.ok(&["stack", "rm", "s", "--yes"]);
    watching.line(&["Stack DELETE completed successfully"]);
    assert_eq!(watching.wait_within(crate::rig::DEADLINE).0, 0);
}

#[test]
fn a_project_has_as_many_stacks_as_it_may() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    cli.ok(&["project", "edit", "default", "--quota-stacks", "1"]);
    cli.ok(&["stack", "apply", &example("hello.yaml"), "--yes"]);
    let told =
        cli.run(&["stack", "apply", &example("hello.yaml"), "--name", "two", "--yes"]).must(5);
    assert!(told.err.contains("stacks"), "{}", told.err);
    let shown = cli.json(&["project", "quota", "default"]);
    let lines = shown["items"].as_array().unwrap().iter();
    let line = lines.clone().find(|line| line["what"] == "stacks").unwrap();
    assert_eq!((&line["used"], &line["limit"]), (&Value::from(1), &Value::from(1)));
    cli.ok(&["project", "edit", "default", "--quota-stacks", "none"]);
    cli.ok(&["stack", "apply", &example("hello.yaml"), "--name", "two", "--yes"]);
}
