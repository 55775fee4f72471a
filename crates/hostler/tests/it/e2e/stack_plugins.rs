//! Types of a project's own: pushed, used, changed, looked at, removed, and still right when servers are killed.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::Value;

use crate::rig::{Agent, Cli, Rig, Server, has_python, skipped, until_within};

const LONG: Duration = Duration::from_secs(60);

struct World<'a> {
    server: Server,
    _agent: Agent,
    cli: Cli<'a>,
    rig: &'a Rig,
}

fn example(name: &str) -> String {
    format!("{}/../../examples/stacks/plugins/{name}", env!("CARGO_MANIFEST_DIR"))
}

impl World<'_> {
    fn new(rig: &Rig) -> World<'_> {
        let mut server = Server::alone(rig, "server", None);
        let cli = server.first_login(rig);
        let agent = Agent::join(rig, &cli, &server, "node-1");
        World { server, _agent: agent, cli, rig }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.rig.path(name);
        std::fs::write(&path, text).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
        path.display().to_string()
    }

    fn status(&self, stack: &str) -> String {
        let standing = &self.cli.json(&["stack", "show", stack])["standing"];
        let word = |name: &str| standing[name].as_str().unwrap_or_default().to_owned();
        format!("{} {}", word("action"), word("status"))
    }

    fn resource(&self, stack: &str, name: &str) -> Value {
        self.cli.json(&["stack", "resource", stack, name])
    }
}

fn lines(path: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| Some(line.split_once('\t')?.1.to_owned())).collect()
}

#[test]
fn a_stack_is_made_of_both_kinds_of_plugins_changed_mended_and_removed() {
    if !has_python() {
        return skipped("there is no python3");
    }
    let rig = Rig::new();
    let world = World::new(&rig);
    let cli = &world.cli;
    for file in ["lines.py", "notes.lua"] {
        cli.ok(&["stack", "plugin", "push", &example(file)]);
    }
    let pushed = cli.json(&["stack", "plugin", "show", "lines"]);
    assert_eq!(
        (pushed["version"].as_u64(), pushed["kind"].as_str()),
        (Some(1), Some("executable"))
    );
    // The same again is the same version.
    cli.ok(&["stack", "plugin", "push", &example("lines.py"), "-o", "json"]);
    let all = cli.json(&["stack", "plugin", "versions", "lines"]);
    assert_eq!(all["items"].as_array().unwrap().len(), 1, "{all}");
    assert!(cli.ok(&["stack", "types", "Example::*"]).contains("Example::Note"));
    let line = cli.json(&["stack", "type", "Example::Line"]);
    assert_eq!(line["schema"]["properties"]["text"]["update_allowed"], true, "{line}");

    let folder = rig.path("lists");
    std::fs::create_dir_all(&folder).unwrap();
    let (template, at) = (example("list.yaml"), format!("directory={}", folder.display()));
    let apply = ["stack", "apply", &template, "--name", "list", "-P", &at, "--yes"];
    cli.run(&apply).must(0);
    assert_eq!(lines(&folder.join("lines")), ["buy milk"]);
    assert_eq!(cli.ok(&["stack", "outputs", "list", "length"]), "8\n");
    let note = cli.ok(&["stack", "outputs", "list", "file"]).trim().to_owned();
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "buy milk");
    let reference = world.resource("list", "line")["physicalId"].clone();

    // In place.
    cli.run(&[&apply[..], &["-P", "text=bread"]].concat()).must(0);
    assert_eq!(lines(&folder.join("lines")), ["bread"]);
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "bread");
    assert_eq!(world.resource("list", "line")["physicalId"], reference);

    // Drift is found, and put right.
    std::fs::write(&note, "beer").unwrap();
    let drift = cli.run(&["stack", "drift", "detect", "list"]).must(10);
    assert!(drift.text().contains("note"), "{}", drift.text());
    cli.run(&["stack", "drift", "fix", "list", "--yes"]).must(0);
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "bread");
    std::fs::remove_file(&note).unwrap();
    cli.run(&["stack", "check", "list"]).must(4);

    // What is in use stays.
    let refused = cli.run(&["stack", "plugin", "rm", "lines"]).must(5);
    assert!(refused.err.contains("in use by list"), "{}", refused.err);
    cli.run(&["stack", "rm", "list", "--yes"]).must(0);
    assert!(lines(&folder.join("lines")).is_empty());
    cli.ok(&["stack", "plugin", "rm", "lines"]);
    cli.run(&["stack", "plugin", "show", "lines"]).must(3);
    assert!(!cli.ok(&["stack", "types", "Example::*"]).contains("Example::Line"));
    let refused = cli.run(&["stack", "plan", &template, "-P", &at]);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("Example::Line"), "{}", refused.err);
}

const VERSIONED: &str = r#"return { ["Test::Thing"] = {
	description = "A thing.",
	properties = { path = { type = "string", description = "Where.", required = true },
		text = { type = "string", description = "What.", updatable = true, default = "" } },
	attributes = { made_by = { type = "string", description = "Which version made it." } },
	create = function(ctx, props)
		assert(fs.write(props.path, "VERSION " .. props.text))
		return { reference = props.path, attributes = { made_by = "VERSION" } }
	end,
	update = function(ctx, props)
		assert(fs.write(ctx.prior.reference, "VERSION " .. props.text))
		return { attributes = { made_by = "VERSION" } }
	end,
	delete = function(ctx, props)
		if ctx.prior.reference and fs.exists(ctx.prior.reference) then
			assert(fs.move(ctx.prior.reference, props.path .. ".VERSION"))
		end
	end,
} }"#;

#[test]
fn a_stack_keeps_its_version_until_it_is_updated() {
    let rig = Rig::new();
    let world = World::new(&rig);
    let cli = &world.cli;
    let push = |version: &str| {
        let file = world.file("thing.lua", &VERSIONED.replace("VERSION", version));
        cli.ok(&["stack", "plugin", "push", &file]);
    };
    let stack = |name: &str, text: &str| {
        let path = rig.path(name);
        let body = format!(
            "heat_template_version: 2021-04-16\nresources:\n  thing: {{ type: Test::Thing, properties: {{ path: {}, text: {text} }} }}\n",
            path.display()
        );
        let file = world.file(&format!("{name}.yaml"), &body);
        cli.run(&["stack", "apply", &file, "--name", name, "--yes"]).must(0);
        path
    };
    push("v1");
    let (one, two) = (stack("one", "a"), stack("two", "a"));
    push("v2");
    assert_eq!(std::fs::read_to_string(&one).unwrap(), "v1 a");
    // Both versions are in use after one was updated.
    stack("two", "b");
    assert_eq!(std::fs::read_to_string(&two).unwrap(), "v2 b");
    cli.run(&["stack", "plugin", "rm", "thing", "--version", "1"]).must(5);
    cli.run(&["stack", "plugin", "rm", "thing", "--version", "2"]).must(5);
    cli.run(&["stack", "rm", "one", "--yes"]).must(0);
    assert!(rig.path("one.v1").exists(), "it was removed by the version that made it");
    cli.ok(&["stack", "plugin", "rm", "thing", "--version", "1"]);
    cli.run(&["stack", "rm", "two", "--yes"]).must(0);
    assert!(rig.path("two.v2").exists());
    let versions = cli.json(&["stack", "plugin", "versions", "thing"]);
    assert_eq!(versions["items"][0]["version"], 2, "{versions}");
}

/// Waits in its create for a file, and counts how often it was begun.
const SLOW: &str = r#"#!/bin/sh
read hello
echo '{"id":"hello","reply":"hello","protocol":1,"types":{"Test::Slow":{"description":"Slow.","properties":{"path":{"type":"string","description":"Where.","required":true}}}}}'
read request || exit 0
id=$(printf '%s' "$request" | sed 's/.*"id":"\([^"]*\)".*/\1/')
path=$(printf '%s' "$request" | sed 's/.*"path":"\([^"]*\)".*/\1/')
case "$request" in
*'"verb":"create"'*)
	echo begun >> "$path.begun"
	while [ ! -e "$path.go" ]; do sleep 0.05; done
	echo made >> "$path"
	echo "{\"id\":\"$id\",\"reply\":\"done\",\"reference\":\"$path\"}" ;;
*) rm -f "$path"; echo "{\"id\":\"$id\",\"reply\":\"done\"}" ;;
esac
"#;

#[test]
fn a_call_is_made_once_though_its_server_is_killed_and_ends_when_its_time_is_over() {
    let rig = Rig::new();
    let mut world = World::new(&rig);
    let file = world.file("slow.sh", SLOW);
    world.cli.ok(&["stack", "plugin", "push", &file, "--timeout", "5m"]);
    let at = rig.path("slow-thing");
    let body = format!(
        "heat_template_version: 2021-04-16\nresources:\n  slow: {{ type: Test::Slow, properties: {{ path: {} }} }}\n",
        at.display()
    );
    let template = world.file("slow.yaml", &body);
    world.cli.run(&["stack", "apply", &template, "--name", "slow", "--yes", "--detach"]).must(0);
    let begun = rig.path("slow-thing.begun");
    until_within(LONG, "the plugin to be called", || begun.exists().then_some(()));
    world.server.process.kill();
    world.server.restart(&rig);
    std::fs::write(rig.path("slow-thing.go"), "").unwrap();
    let is_made = || (world.status("slow") == "create complete").then_some(());
    until_within(LONG, "the stack to be made", is_made);
    assert_eq!(std::fs::read_to_string(&begun).unwrap(), "begun\n", "it was called once");
    assert_eq!(std::fs::read_to_string(&at).unwrap(), "made\n");
    world.cli.run(&["stack", "rm", "slow", "--yes"]).must(0);
    assert!(!at.exists());

    // Nobody lets it go on now: it fails, with its name and the task.
    std::fs::remove_file(rig.path("slow-thing.go")).unwrap();
    world.cli.ok(&["stack", "plugin", "push", &file, "--timeout", "1s"]);
    let failed = world.cli.run(&["stack", "apply", &template, "--name", "late", "--yes"]).must(4);
    assert!(failed.err.contains("the plugin slow (version 2)"), "{}", failed.err);
    assert!(failed.err.contains("did not answer within 1 s"), "{}", failed.err);
    world.cli.run(&["stack", "rm", "late", "--yes"]).must(0);
    world.cli.ok(&["stack", "ls"]);
}

#[test]
fn what_is_no_plugin_is_refused() {
    let rig = Rig::new();
    let world = World::new(&rig);
    let cli = &world.cli;
    for (name, text, expected) in [
        ("broken.sh", "#!/bin/sh\necho oops\n", "it wrote what is no document: oops"),
        ("gone.sh", "#!/bin/sh\nexit 7\n", "it ended before it answered"),
        (
            "taken.lua",
            "return { [\"OS::Heat::Value\"] = { description = 'x', create = print, delete = print } }",
            "names that begin with `OS::` are taken",
        ),
        ("empty.lua", "return {}", "a plugin has 1 to 64 types"),
    ] {
        let file = world.file(name, text);
        let refused = cli.run(&["stack", "plugin", "push", &file]);
        assert_ne!(refused.code, 0, "{name}");
        assert!(refused.err.contains(expected), "{name}: {}", refused.err);
        // The kit says the same without a server.
        let tried = cli.run(&["stack", "plugin", "test", &file]).must(1);
        assert!(tried.text().contains(expected), "{name}: {}", tried.text());
    }
    assert!(cli.json(&["stack", "plugin", "ls"])["items"].as_array().unwrap().is_empty());
    let tried = cli.run(&["stack", "plugin", "test", &example("lines.py"), "-o", "json"]).must(0);
    assert!(tried.text().contains("\"crash\""), "{}", tried.text());
}
