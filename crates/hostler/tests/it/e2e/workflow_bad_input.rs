//! What people get wrong with workflows, and what programs print that is no text: each has an outcome that says it.

use serde_json::Value;

use crate::rig::{Agent, Cli, Rig, Server};

fn write(rig: &Rig, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = rig.path(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Runs what is refused before anything is done, and says all of these words.
#[track_caller]
fn refuses(cli: &Cli<'_>, words: &[&str], expected: &[&str]) {
    let refused = cli.run(words).must(2);
    assert!(refused.out.is_empty(), "{}", refused.text());
    for word in expected {
        assert!(refused.err.contains(word), "{word} is not in:\n{}", refused.err);
    }
}

fn task<'v>(report: &'v Value, name: &str) -> &'v Value {
    let tasks = report["tasks"].as_array().unwrap();
    tasks.iter().find(|task| task["name"] == name).unwrap_or_else(|| panic!("{report}"))
}

#[test]
fn bad_input_workflow_invalid_lua() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    for (text, place) in [
        ("local a = 1\nlocal b nope\n", "bad.sloth:2:"),
        ("workflow.define('w', nope nope)\n", "bad.sloth:1:"),
        ("local t = task('t')\nt:command('true'):build()\nerror('not today')\n", "bad.sloth:3"),
    ] {
        let file = write(&rig, "bad.sloth", text);
        refuses(&cli, &["run", &file], &[place, "^"]);
        let told = cli.run(&["workflow", "validate", &file]).must(2).text();
        assert!(told.contains(place) && told.contains('^'), "{told}");
    }
    let bytes = write(&rig, "bytes.sloth", b"-- fine\nlocal a = '\xff'\n");
    refuses(&cli, &["run", &bytes], &["bytes.sloth:2", "UTF-8"]);
    refuses(&cli, &["run", "none.sloth"], &["none.sloth", "No such file"]);
}

#[test]
fn bad_input_workflow_values() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let file = write(
        &rig,
        "v.sloth",
        "workflow.define('v'):tasks({ task('t'):command('echo ' .. tostring(values.a)) })",
    );
    refuses(&cli, &["run", &file, "--values", "none.yaml"], &["none.yaml", "No such file"]);
    for (name, text, expected) in [
        ("bad.yaml", &b"a: [1\nb: {"[..], "line 2"),
        ("bad.toml", b"a = \n", "line 1"),
        ("list.yaml", b"- 1\n", "not a map"),
        ("bytes.yaml", b"a: 1\nb: \xff\n", "bytes.yaml:2"),
    ] {
        let values = write(&rig, name, text);
        refuses(&cli, &["run", &file, "--values", &values], &[name, expected]);
    }
    for pair in ["novalue", "=x", "a..b=1", ".a=1", "a.=1"] {
        refuses(&cli, &["run", &file, "--set", pair], &[pair, "--set KEY=VALUE"]);
    }
    assert_eq!(cli.ok(&["run", &file, "--set", "a=b=c"]), "t | b=c\n");
    assert_eq!(cli.ok(&["run", &file, "--set", "a=[1"]), "t | [1\n", "what is no YAML is text");
}

#[test]
fn bad_input_workflow_modules() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let file = write(
        &rig,
        "m.sloth",
        r"workflow.define('m'):tasks({
  task('index'):command(function()
    local x = nil
    return x.field
  end),
  task('says'):command(function() error('out of paper') end),
  task('absent'):command(function() return fs.read('no/such/file') ~= nil, select(2, fs.read('no/such/file')) end),
  task('asserted'):command(function() assert(fs.write('no/such/place', 'x')) end),
  task('argument'):command(function() fs.read({}) end),
  task('program'):command({ 'no-such-program' }),
  task('line'):command('no-such-program'),
  task('table'):command(function() error({ code = 7 }) end),
  task('deep'):command(function() local function f() return f() + 1 end return f() end),
  task('large'):command(function() local t = {} while true do t[#t + 1] = string.rep('x', 65536) .. #t end end),
  task('well'):command('echo well'),
})",
    );
    let ended = cli.run(&["run", &file, "-o", "json"]).must(4);
    let report: Value = serde_json::from_str(&ended.text()).unwrap();
    for (name, expected) in [
        ("index", "m.sloth:4"),
        ("says", "out of paper ("),
        ("absent", "/no/such/file: No such file"),
        ("asserted", "/no/such/place"),
        ("argument", "bad argument #1 to `fs.read`"),
        ("program", "it could not be started: No such file"),
        ("line", "exit code 127"),
        ("table", "\"code\":7"),
        ("deep", "stack overflow ("),
        ("large", "too much memory"),
    ] {
        let found = task(&report, name);
        let message = found["message"].as_str().unwrap_or_default();
        assert_eq!(found["status"], "failed", "{found}");
        assert!(message.contains(expected), "{name}: {message}");
        assert!(ended.err.contains(&format!("✗ {name} failed: ")), "{}", ended.err);
    }
    assert_eq!(task(&report, "well")["status"], "succeeded");
}

#[test]
fn bad_input_workflow_output() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let file = write(
        &rig,
        "o.sloth",
        r"workflow.define('o'):tasks({
  task('large'):command([[head -c 10485760 /dev/zero | tr '\0' x]]),
  task('larger'):command([[head -c 20971520 /dev/zero | tr '\0' y]]),
  task('binary'):command([[printf '\000\001\377\376end']]),
  task('latin'):command([[printf 'caf\351\n' >&2; exit 3]]),
  task('escape'):command([[printf '\033]0;owned\007\033[2J\n']]),
})",
    );
    let ended = cli.run(&["run", &file, "-o", "json"]).must(4);
    let report: Value = serde_json::from_str(&ended.text()).unwrap();
    let printed = |name: &str, stream: &str| {
        task(&report, name)["output"][stream].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(printed("large", "stdout").len(), 10 << 20);
    assert_eq!(printed("larger", "stdout").len(), 16 << 20);
    let lost = "4194304 bytes of what it printed were not kept";
    assert_eq!(task(&report, "larger")["message"], lost);
    assert_eq!(printed("binary", "stdout"), "\0\u{1}\u{fffd}\u{fffd}end");
    assert_eq!(printed("latin", "stderr"), "caf\u{fffd}\n");
    assert_eq!(task(&report, "latin")["message"], "exit code 3");
    assert_eq!(printed("escape", "stdout"), "\u{1b}]0;owned\u{7}\u{1b}[2J\n");
    let id = report["execution"].as_str().unwrap();
    let again = cli.run(&["workflow", "resume", id, "-o", "json"]).must(4);
    let again: Value = serde_json::from_str(&again.text()).unwrap();
    assert_eq!(task(&again, "large")["output"], task(&report, "large")["output"]);
}

#[test]
fn bad_input_workflow_unreachable_places() {
    let rig = Rig::new();
    let file = |rig: &Rig, name: &str, to: &str| {
        let text = format!(
            "workflow.define('a'):tasks({{ task('t'):delegate_to({to}):command('echo here') }})"
        );
        write(rig, name, text)
    };
    let away = file(&rig, "away.sloth", "'node-2'");
    let falls = file(&rig, "falls.sloth", "{ name = 'node-2', fallback = 'local' }");
    let alone = Cli::new(&rig);
    refuses(&alone, &["run", &away], &["node-2", "away.sloth:1", "--here", "fallback"]);
    assert_eq!(alone.ok(&["run", &falls]), "t | here\n");

    let patience = "heartbeat = \"200ms\"\n[patience]\nstale_after = \"1s\"\noffline_after = \"3s\"\nlost_after = \"10m\"\n";
    let mut server = Server::configured(&rig, "server", patience);
    let cli = server.first_login(&rig);
    let _first = Agent::join(&rig, &cli, &server, "node-1");
    let mut second = Agent::join(&rig, &cli, &server, "node-2");
    cli.wait_node("node-2", "online");
    second.process.kill();
    cli.wait_node("node-2", "offline");
    let ended = cli.run(&["run", &away, "-o", "json"]).must(4);
    assert!(ended.text().contains("the node `node-2` cannot be reached"), "{}", ended.text());
    let done = cli.json(&["run", &falls]);
    assert_eq!(done["steps"][0]["tasks"][0]["node"], "node-1", "{done}");

    server.process.kill();
    let refused = cli.run(&["run", &away]).must(8);
    assert!(refused.err.contains("hint:"), "{}", refused.err);
    cli.ok(&["run", &away, "--here"]);
}
