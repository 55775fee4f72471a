//! What stacks were, are locked by, drift from, depend on, and how they are carried elsewhere.

use serde_json::Value;

use crate::rig::{Cli, Rig, Server};

fn example(name: &str) -> String {
    format!("{}/../../examples/stacks/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn server(rig: &Rig) -> (Server, Cli<'_>) {
    let mut server = Server::alone(rig, "one", None);
    let cli = server.first_login(rig);
    (server, cli)
}

fn greet(cli: &Cli<'_>, name: &str) {
    let name = format!("name={name}");
    cli.ok(&["stack", "apply", &example("hello.yaml"), "-P", &name, "--yes", "-q"]);
}

fn greeting(cli: &Cli<'_>, stack: &str) -> String {
    cli.ok(&["stack", "outputs", stack, "greeting"]).trim().to_owned()
}

fn ids(list: &Value, key: &str) -> Vec<Value> {
    list["items"].as_array().unwrap().iter().map(|one| one[key].clone()).collect()
}

#[test]
fn revisions_and_snapshots_lead_back() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    greet(&cli, "Ada");
    cli.ok(&["stack", "snapshot", "create", "hello", "--name", "before"]);
    greet(&cli, "Grace");
    let history = cli.json(&["stack", "history", "hello"]);
    assert_eq!(ids(&history, "number").first(), Some(&Value::from(2)), "{history}");
    let listed = cli.json(&["stack", "history", "hello", "--limit", "1"]);
    assert_eq!(ids(&listed, "number").len(), 1);
    let one = cli.json(&["stack", "revision", "show", "hello", "v1"]);
    assert_eq!(one["outputs"]["greeting"], "Hello, Ada!", "{one}");
    assert!(one["definition"]["template"]["resources"]["greeting"].is_object());
    let told = cli.run(&["stack", "revision", "compare", "hello", "1", "2"]).must(10).text();
    assert!(told.contains("greeting") && told.contains("Hello, Ada! → Hello, Grace!"), "{told}");
    cli.run(&["stack", "revision", "compare", "hello", "2"]).must(0);
    cli.run(&["stack", "revision", "show", "hello", "77"]).must(3);
    cli.ok(&["stack", "revision", "restore", "hello", "1", "--yes"]);
    assert_eq!(greeting(&cli, "hello"), "Hello, Ada!");
    greet(&cli, "Linus");
    let snapshots = cli.json(&["stack", "snapshot", "ls", "hello"]);
    assert_eq!(ids(&snapshots, "name"), [Value::from("before")]);
    let shown = cli.json(&["stack", "snapshot", "show", "hello", "before"]);
    assert!(shown["resources"]["greeting"].is_object(), "{shown}");
    cli.run(&["stack", "snapshot", "compare", "hello", "before"]).must(10);
    cli.ok(&["stack", "snapshot", "restore", "hello", "before", "--yes"]);
    assert_eq!(greeting(&cli, "hello"), "Hello, Ada!");
    cli.ok(&["stack", "snapshot", "rm", "hello", "before"]);
    cli.run(&["stack", "snapshot", "rm", "hello", "before"]).must(3);
}

#[test]
fn a_lock_keeps_others_out() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    greet(&cli, "Ada");
    assert!(cli.ok(&["stack", "lock", "status", "hello"]).contains("nobody holds"));
    cli.ok(&["user", "create", "ci", "--service", "--role", "admin"]);
    let token = cli.ok(&["token", "create", "t", "--user", "ci", "--role", "admin", "-q"]);
    let other = cli.token(token.trim());
    let hold = other.ok(&["stack", "lock", "acquire", "hello", "--why", "release 42", "-q"]);
    let status = cli.ok(&["stack", "lock", "status", "hello"]);
    assert!(status.contains("release 42") && status.contains("ci"), "{status}");
    assert_eq!(cli.json(&["stack", "lock", "status", "hello"])["isHeld"], true);
    let apply = ["stack", "apply", &example("hello.yaml"), "-P", "name=x", "--yes"];
    let told = cli.run(&apply).must(5).err;
    assert!(told.contains("release 42") || told.contains("ci"), "{told}");
    cli.run(&["stack", "lock", "acquire", "hello"]).must(5);
    cli.run(&["stack", "lock", "acquire", "hello", "--wait", "1s"]).must(9);
    other.ok(&["stack", "lock", "release", "hello", hold.trim()]);
    cli.ok(&apply);
    other.ok(&["stack", "lock", "acquire", "hello"]);
    cli.ok(&["stack", "lock", "force-release", "hello", "--reason", "it is late", "--yes"]);
    cli.ok(&["stack", "lock", "acquire", "hello"]);
    cli.ok(&["stack", "lock", "release", "hello"]);
}

#[test]
fn drift_is_found_and_put_right() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let file = rig.path("note.yaml");
    std::fs::write(&file, "heat_template_version: 2021-04-16\nresources:\n  note:\n    type: Hostler::StateEntry\n    properties: { namespace: notes, key: note, value: as it is }\n").unwrap();
    cli.ok(&["stack", "apply", file.to_str().unwrap(), "--yes"]);
    cli.run(&["stack", "drift", "show", "note"]).must(3);
    cli.run(&["stack", "drift", "detect", "note"]).must(0);
    cli.ok(&["state", "set", "--namespace", "notes", "note", "somebody was here"]);
    let told = cli.run(&["stack", "drift", "detect", "note"]).must(10);
    assert!(told.text().contains("as it is → somebody was here"), "{}", told.text());
    let found = cli.run(&["stack", "drift", "show", "note", "-o", "json"]).must(10).text();
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!((&found["isDrifted"], &found["changed"]), (&Value::Bool(true), &Value::from(1)));
    cli.ok(&["stack", "drift", "fix", "note", "--yes"]);
    assert_eq!(cli.ok(&["state", "get", "--namespace", "notes", "note"]), "as it is");
    cli.run(&["stack", "drift", "detect", "note"]).must(0);
    assert!(cli.run(&["stack", "drift", "fix", "note"]).must(0).err.contains("nothing differs"));
}

#[test]
fn stacks_that_use_others_come_after_them() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    cli.ok(&["stack", "apply", &example("base.yaml"), "--yes"]);
    cli.ok(&["stack", "apply", &example("site.yaml"), "--yes"]);
    assert_eq!(cli.ok(&["stack", "outputs", "site", "address"]), "https://example.org/shop\n");
    assert!(cli.ok(&["stack", "deps", "show", "site"]).contains("site uses base: domain"));
    assert_eq!(cli.json(&["stack", "deps", "show", "base"])["usedBy"][0]["stack"], "site");
    assert!(cli.ok(&["stack", "deps", "graph"]).contains("site  ← base"));
    assert!(cli.ok(&["stack", "deps", "graph", "--format", "svg"]).starts_with("<svg"));
    assert_eq!(cli.ok(&["stack", "deps", "order"]), "base\nsite\n");
    cli.ok(&["stack", "deps", "check"]);
    assert!(cli.run(&["stack", "rm", "base", "--yes"]).must(5).err.contains("site"));
    let all = cli.json(&["stack", "validate", "all"]);
    assert_eq!(ids(&all, "isPassed"), [Value::Bool(true), Value::Bool(true)], "{all}");
    let one = cli.ok(&["stack", "validate", "site"]);
    assert!(one.contains("syntax") && one.contains("dependencies"), "{one}");
    cli.ok(&["stack", "rm", "base", "--force", "--yes"]);
    cli.run(&["stack", "deps", "check"]).must(4);
    cli.run(&["stack", "validate", "site"]).must(4);
}

#[test]
fn a_stack_is_carried_elsewhere() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    greet(&cli, "Ada");
    let before = cli.json(&["stack", "resource", "hello", "password"])["physical"].clone();
    let document = cli.ok(&["stack", "export", "hello"]);
    let parsed: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(parsed["name"], "hello");
    let file = rig.path("hello.json");
    std::fs::write(&file, &document).unwrap();
    let file = file.to_str().unwrap();
    cli.ok(&["stack", "import", file, "--name", "copy", "--yes"]);
    assert_eq!(greeting(&cli, "copy"), "Hello, Ada!");
    let copied = cli.json(&["stack", "resource", "copy", "password"])["physical"].clone();
    assert_ne!(before, copied, "another object was made");
    let left = cli.ok(&["stack", "abandon", "hello", "--yes"]);
    cli.run(&["stack", "show", "hello"]).must(3);
    let words = ["stack", "adopt", "-", "--name", "hello2"];
    let adopted = cli.run_with(&words, &left).must(0);
    assert!(adopted.err.contains("adopt complete"), "{}", adopted.err);
    let after = cli.json(&["stack", "resource", "hello2", "password"])["physical"].clone();
    assert_eq!(before, after, "it is the same object");
    assert_eq!(greeting(&cli, "hello2"), "Hello, Ada!");
    cli.run_with(&["stack", "adopt", "-"], "{}").must(2);
}
