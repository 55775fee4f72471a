//! Workflows on a server: kept there, carried out on nodes, and still right when whoever looks after them is killed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use super::approvals::person;
use crate::rig::{Agent, Cli, Rig, Server, is_root, skipped, until, until_within};

struct World<'a> {
    server: Server,
    agent: Agent,
    cli: Cli<'a>,
    rig: &'a Rig,
}

impl World<'_> {
    fn new(rig: &Rig) -> World<'_> {
        let mut server = Server::alone(rig, "server", None);
        let cli = server.first_login(rig);
        let agent = Agent::join(rig, &cli, &server, "node-1");
        World { server, agent, cli, rig }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.rig.path(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// Carries a file out on the server and waits for its end.
    fn run(&self, name: &str, text: &str, more: &[&str]) -> (i32, Value) {
        let file = self.file(name, text);
        let mut words = vec!["workflow", "run", &file, "--remote", "-o", "json"];
        words.extend(more);
        let done = self.cli.run(&words);
        let told = serde_json::from_slice(&done.out);
        (done.code, told.unwrap_or_else(|_| panic!("{}{}", done.text(), done.err)))
    }

    fn begin(&self, name: &str, text: &str) -> String {
        let file = self.file(name, text);
        self.cli.ok(&["workflow", "run", &file, "--remote", "--detach"]).trim().to_owned()
    }

    fn show(&self, id: &str) -> Value {
        self.cli.json(&["workflow", "show", id])
    }
}

fn steps(execution: &Value) -> BTreeMap<String, String> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let steps = execution["steps"].as_array().unwrap();
    steps.iter().map(|step| (word(&step["name"]), word(&step["status"]))).collect()
}

fn step<'v>(execution: &'v Value, name: &str) -> &'v Value {
    let steps = execution["steps"].as_array().unwrap();
    steps.iter().find(|step| step["name"] == name).unwrap_or_else(|| panic!("{execution}"))
}

#[test]
fn values_outputs_artifacts_and_secrets_reach_the_steps_on_nodes() {
    let rig = Rig::new();
    let world = World::new(&rig);
    world.cli.run_with(&["secret", "set", "db-password", "-"], "hunter22canary").must(0);
    let text = r#"
        local build = task("build"):artifacts({ "out/app.bin" })
            :command("mkdir out && printf bits > out/app.bin && echo built " .. values.tag):build()
        local test = task("test"):depends_on(build):retries(2, "fixed", "10ms")
            :command(function(this, params, deps)
                assert(deps.build.stdout:find("built v2"))
                assert(secrets.get("db-password") == "hunter22canary")
                print("the password is " .. secrets.get("db-password"))
                if params.attempt < 2 then return false, "not yet" end
                return true, "well", { count = 12 }
            end):build()
        local ship = task("ship"):depends_on(test):consumes({ "app.bin" })
            :command(function(this, params, deps)
                export({ bits = fs.read("app.bin"), count = deps.test.count })
            end):build()
        local never = task("never"):run_if(function() return false end):command("false"):build()
        workflow.define("release"):tasks({ build, test, ship, never })
            :on_start(function() log.info("it begins") end)
            :on_complete(function(ok, results) log.info("it is over: " .. tostring(ok)) end)
    "#;
    let more = ["--set", "tag=v2", "--secret", "db-password"];
    let (code, done) = world.run("release.sloth", text, &more);
    assert_eq!((code, &done["outcome"]), (0, &"succeeded".into()), "{done}");
    assert_eq!(done["outputs"]["bits"], "bits");
    assert_eq!(done["outputs"]["count"], 12);
    assert_eq!(step(&done, "test")["tries"], 2);
    assert_eq!(step(&done, "never")["status"], "skipped");
    let id = done["id"].as_str().unwrap();
    let told = world.cli.json(&["workflow", "output", id, "test"]);
    assert_eq!(told[0]["output"]["count"], 12, "{told}");
    let logs = world.cli.run(&["workflow", "logs", id, "test"]).must(0);
    assert!(logs.text().contains("the password is"), "{}", logs.text());
    assert!(!logs.text().contains("hunter22canary"), "{}", logs.text());
    assert_eq!(world.cli.json(&["audit", "verify"])["isIntact"], true);
    let listed = world.cli.json(&["workflow", "ls"]);
    assert_eq!(listed["items"][0]["version"], 1);
    let (_, again) = world.run("release.sloth", text, &more);
    assert_eq!(again["version"], 1, "nothing changed, so there is no new version");
}

#[test]
fn where_a_step_runs_is_what_it_says() {
    let rig = Rig::new();
    let world = World::new(&rig);
    let _second = Agent::join(&rig, &world.cli, &world.server, "node-2");
    world.cli.wait_node("node-2", "online");
    world.cli.ok(&["node", "label", "node-2", "role=web"]);
    let name = "command(function() return true, os.getenv('HOSTLER_NODE') end)";
    let text = format!(
        r#"
        local t = {{}}
        t[1] = task("named"):delegate_to("node-2"):{name}:build()
        t[2] = task("each"):delegate_to({{ "node-1", "node-2" }}):command("echo here"):build()
        t[3] = task("labelled"):delegate_to({{ tags = {{ role = "web" }} }}):{name}:build()
        t[4] = task("chosen"):delegate_to(function(nodes)
            for _, node in ipairs(nodes) do
                if node.labels.role == "web" then return node.name end
            end
        end):{name}:build()
        t[5] = task("fallen"):delegate_to({{ name = "node-9", fallback = "local" }}):command("true"):build()
        t[6] = task("nowhere"):delegate_to("node-9"):command("true"):build()
        t[7] = task("unlabelled"):delegate_to({{ tags = {{ role = "db" }} }}):command("true"):build()
        t[8] = task("told"):depends_on("each"):command(function(_, _, deps)
            assert(deps.each["node-1"].stdout == "here\n" and deps.each["node-2"].stdout == "here\n")
        end):build()
        workflow.define("places"):tasks(t)
        "#
    );
    let (code, done) = world.run("places.sloth", &text, &[]);
    assert_eq!(code, 4, "{done}");
    let node_of = |name: &str| step(&done, name)["tasks"][0]["node"].clone();
    for name in ["named", "labelled", "chosen"] {
        assert_eq!(node_of(name), "node-2", "{name}: {done}");
    }
    assert_eq!(step(&done, "each")["tasks"].as_array().unwrap().len(), 2);
    let expected = [("each", "succeeded"), ("fallen", "succeeded"), ("told", "succeeded")];
    let found = steps(&done);
    for (name, status) in expected {
        assert_eq!(found[name], status, "{name}: {done}");
    }
    let message = |name: &str| step(&done, name)["message"].as_str().unwrap_or_default().to_owned();
    assert!(message("nowhere").contains("did you mean `node-"), "{}", message("nowhere"));
    assert!(message("unlabelled").contains("role=db"), "{}", message("unlabelled"));
}

#[test]
fn what_fails_is_undone_and_done_again_on_request() {
    let rig = Rig::new();
    let world = World::new(&rig);
    let marks = rig.path("marks");
    std::fs::create_dir(&marks).unwrap();
    let mark = |name: &str| marks.join(name).display().to_string();
    let text = format!(
        r#"
        local a = task("a"):command("echo a >> {log}"):compensate("echo undo a >> {log}"):build()
        local b = task("b"):depends_on(a):command("echo b >> {log}"):compensate("echo undo b >> {log}"):build()
        local c = task("c"):depends_on(b):command("test -e {gate}"):build()
        local d = task("d"):depends_on(c):command("echo d >> {log}"):build()
        workflow.define("saga"):tasks({{ a, b, c, d }}):config({{ on_failure = "compensate" }})
        "#,
        log = mark("log"),
        gate = mark("gate"),
    );
    let (code, done) = world.run("saga.sloth", &text, &[]);
    assert_eq!(code, 4, "{done}");
    let log = || std::fs::read_to_string(marks.join("log")).unwrap();
    assert_eq!(log(), "a\nb\nundo b\nundo a\n");
    assert_eq!(steps(&done)["d"], "skipped");
    std::fs::write(marks.join("gate"), "").unwrap();
    let id = done["id"].as_str().unwrap();
    world.cli.run(&["workflow", "retry", id]).must(0);
    assert_eq!(log(), "a\nb\nundo b\nundo a\na\nb\nd\n", "what was undone is done again");
    world.cli.run(&["workflow", "retry", id, "--from", "d"]).must(0);
    assert!(log().ends_with("d\nd\n"), "{}", log());
}

#[test]
fn people_are_waited_for_and_an_execution_ends_when_somebody_says_so() {
    let rig = Rig::new();
    let world = World::new(&rig);
    let text = r#"
        local ok = workflow.approval("sign-off", { message = "ship it?" })
        local ship = task("ship"):depends_on("sign-off"):command("echo shipped"):build()
        workflow.define("gated"):tasks({ ok, ship })
    "#;
    let id = world.begin("gated.sloth", text);
    let waits = until("it waits for people", || {
        let found = world.show(&id);
        step(&found, "sign-off")["approval"].as_str().map(str::to_owned)
    });
    let shown = world.cli.ok(&["workflow", "show", &id]);
    let how = format!("ship it?; waits for somebody to agree: hostler approval approve {waits}");
    assert!(shown.contains(&how), "{shown}");
    let own = world.cli.run(&["approval", "approve", &waits]);
    assert_ne!(own.code, 0, "who asks never agrees: {}", own.err);
    let other = person(&rig, &world.server, &world.cli, "grace", "admin");
    other.ok(&["approval", "deny", &waits, "--reason", "not today"]);
    until("it has failed", || (world.show(&id)["outcome"] == "failed").then_some(()));
    let found = world.show(&id);
    assert!(step(&found, "sign-off")["message"].as_str().unwrap().contains("not today"), "{found}");
    assert_eq!(steps(&found)["ship"], "skipped");

    let id = world.begin("gated.sloth", text);
    let waits = until("it waits for people", || {
        let found = world.show(&id);
        step(&found, "sign-off")["approval"].as_str().map(str::to_owned)
    });
    other.ok(&["approval", "approve", &waits]);
    until("it has succeeded", || (world.show(&id)["outcome"] == "succeeded").then_some(()));
    let found = world.show(&id);
    assert_eq!(step(&found, "sign-off")["message"], "agreed to by grace");

    let slow = r#"
        local a = task("a"):command("sleep 1000"):build()
        local b = task("b"):depends_on(a):command("true"):build()
        workflow.define("slow"):tasks({ a, b })
    "#;
    let id = world.begin("slow.sloth", slow);
    until("it runs", || {
        (world.cli.tasks().values().any(|t| t["status"]["state"] == "running")).then_some(())
    });
    world.cli.ok(&["workflow", "cancel", &id]);
    until("it is over", || (world.show(&id)["outcome"] == "cancelled").then_some(()));
    let found = steps(&world.show(&id));
    assert_eq!((found["a"].as_str(), found["b"].as_str()), ("cancelled", "skipped"));
}

#[test]
fn a_step_runs_as_the_user_that_it_names() {
    if !is_root() {
        return skipped("another user needs root");
    }
    let rig = Rig::new();
    let world = World::new(&rig);
    world.cli.run_with(&["secret", "set", "theirs", "-"], "hunter22canary").must(0);
    let text = r#"
        local line = task("line"):user("nobody"):artifacts({ "who" }):command("id -un | tee who"):build()
        local body = task("body"):user("nobody"):depends_on(line):consumes({ "who" })
            :command(function()
                assert(state.set("by", exec.run("id -un").stdout))
                assert(state.with_lock("l", function() return true end))
                assert(event.dispatch("team.seen", { message = "seen" }))
                assert(secrets.theirs == "hunter22canary", "the secret")
                export({ who = exec.run("id -un; cat who").stdout })
            end):build()
        workflow.define("others"):tasks({ line, body })
    "#;
    let (code, done) = world.run("others.sloth", text, &["--secret", "theirs"]);
    assert_eq!((code, &done["outcome"]), (0, &"succeeded".into()), "{done}");
    assert_eq!(done["outputs"]["who"], "nobody\nnobody\n");
    assert_eq!(world.cli.ok(&["state", "get", "by"]).trim(), "nobody");
}

#[test]
fn what_is_called_first_may_say_no_and_what_is_called_last_ends() {
    let rig = Rig::new();
    let world = World::new(&rig);
    let text = r#"
        workflow.define("unwanted"):tasks({ task("t"):command("true"):build() })
            :on_start(function() return false end)
    "#;
    let (_, done) = world.run("unwanted.sloth", text, &[]);
    assert_eq!(done["outcome"], "cancelled", "{done}");
    assert_eq!(steps(&done)["t"], "skipped", "{done}");
    let text = r#"
        workflow.define("endless"):tasks({ task("t"):command("true"):build() })
            :config({ timeout = "4s" })
            :on_complete(function() while true do pcall(function() while true do end end) end end)
    "#;
    let (_, done) = world.run("endless.sloth", text, &[]);
    assert_eq!(done["outcome"], "succeeded", "{done}");
}

#[test]
fn what_is_wrong_with_a_file_is_told_where_it_is() {
    let rig = Rig::new();
    let world = World::new(&rig);
    for (text, expected) in [
        ("local x = = 1", "bad.sloth:1"),
        (
            "workflow.define('w'):tasks({ task('a'):depends_on('b'):command('true'):build() })",
            "`b`",
        ),
        ("while true do end", "takes too long"),
        ("local s = 'x' while true do s = s .. s end", "memory"),
    ] {
        let file = world.file("bad.sloth", text);
        let pushed = world.cli.run(&["workflow", "push", &file]);
        assert_eq!(pushed.code, 2, "{}", pushed.err);
        assert!(pushed.err.contains(expected), "{expected}: {}", pushed.err);
    }
    let unknown = world.cli.run(&["workflow", "run", "nothing-like-it"]);
    assert_eq!(unknown.code, 3, "{}", unknown.err);
}

#[test]
fn what_steps_print_and_what_is_undone_is_told_while_somebody_waits() {
    let rig = Rig::new();
    let world = World::new(&rig);
    let text = r#"
        local make = task("make"):command("echo made; echo oops >&2"):compensate("echo undoing here"):build()
        local eats = task("eats"):depends_on(make):retries(5, "fixed", 60):consumes({ "nope.txt" })
            :command("true"):build()
        local never = task("never"):depends_on(eats):command("true"):build()
        workflow.define("told"):tasks({ make, eats, never })
    "#;
    let file = world.file("told.sloth", text);
    let ended = world.cli.run(&["workflow", "run", &file, "--remote"]).must(4);
    let out = ended.text();
    assert!(out.contains("make | made\n") && out.contains("make | undoing here\n"), "{out}");
    for line in [
        "make | oops",
        "eats failed: it consumes `nope.txt`, which is not there: no task says",
        "- never skipped: something it depends on did not succeed",
        "\u{21ba} undoing make",
        "\u{21ba} make undone",
    ] {
        assert!(ended.err.contains(line), "{line}: {}", ended.err);
    }
    let known = world.cli.json(&["workflow", "executions"]);
    let id = known["items"][0]["id"].as_str().unwrap();
    let shown = world.cli.ok(&["workflow", "show", id]);
    assert!(shown.contains("make (undone)"), "{shown}");
    let again = world.cli.run(&["workflow", "resume", &id[..30]]).must(4);
    assert!(again.err.contains(id), "{}", again.err);
    world.cli.run(&["workflow", "resume", "01234567-none"]).must(3);
    assert!(world.cli.ok(&["workflow", "graph", "told"]).contains("eats  \u{2190} make"));
    world.cli.ok(&["workflow", "validate", "told"]);
    let wrong = world.cli.run(&["workflow", "graph", "told", "--set", "a=1"]).must(2).err;
    assert!(wrong.contains("as it was when it was pushed"), "{wrong}");
}

/// Two hundred steps, each of which leaves a mark, while server and agent are killed again and again.
#[test]
fn every_step_is_done_once_whoever_is_killed() {
    const STEPS: usize = 200;
    const KILLS: usize = 50;
    let rig = Rig::new();
    let mut world = World::new(&rig);
    let marks = rig.path("marks");
    let mut text = String::from("local t = {}\n");
    for i in 0..STEPS {
        let on = match i {
            0..10 => String::new(),
            _ => format!(":depends_on({{ 's{}', 's{}' }})", i - 10, i - 7 - i % 3),
        };
        let _ = writeln!(
            text,
            "t[{n}] = task('s{i}'){on}:command('echo s{i} >> {marks}; sleep 0.05'):build()",
            n = i + 1,
            marks = marks.display()
        );
    }
    text.push_str("workflow.define('many'):tasks(t):config({ max_parallel_tasks = 8 })\n");
    let id = world.begin("many.sloth", &text);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..KILLS {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let wait = Duration::from_millis(random % 400);
        let begun = std::time::Instant::now();
        until("its moment comes", || (begun.elapsed() >= wait).then_some(()));
        match random % 3 {
            0 => {
                world.server.process.kill();
                world.server.restart(world.rig);
            }
            1 => {
                world.agent.process.kill();
                world.agent.restart(world.rig);
            }
            _ => {
                world.agent.process.kill();
                world.server.process.kill();
                world.agent.restart(world.rig);
                world.server.restart(world.rig);
            }
        }
    }
    let done = until_within(Duration::from_secs(240), "it is over", || {
        let shown = world.cli.run(&["workflow", "show", &id, "-o", "json"]);
        let found: Value = serde_json::from_slice(&shown.out).ok()?;
        (found["state"] == "ended").then_some(found)
    });
    let told = std::fs::read_to_string(&marks).unwrap();
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for line in told.lines() {
        *times.entry(line).or_default() += 1;
    }
    let twice: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "done twice: {twice:?}");
    for (name, status) in steps(&done) {
        match status.as_str() {
            "succeeded" => assert_eq!(times.get(name.as_str()), Some(&1), "{name}"),
            "uncertain" | "skipped" => {}
            other => panic!("{name} is {other}: {}", step(&done, &name)),
        }
    }
    assert_eq!(done["outcome"], "succeeded", "{}", done);
    assert_eq!(world.cli.json(&["audit", "verify"])["isIntact"], true);
}
