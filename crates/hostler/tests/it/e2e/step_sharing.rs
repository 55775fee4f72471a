//! What steps on nodes share: state, locks and events of their project, through their agents.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::Value;

use crate::rig::{Agent, Cli, Rig, Server, until, until_within};

struct World<'a> {
    cli: Cli<'a>,
    server: Server,
    agents: [Agent; 2],
    rig: &'a Rig,
}

impl World<'_> {
    fn new(rig: &Rig) -> World<'_> {
        let mut server = Server::alone(rig, "server", None);
        let cli = server.first_login(rig);
        let agents = ["node-1", "node-2"].map(|name| Agent::join(rig, &cli, &server, name));
        World { cli, server, agents, rig }
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.rig.path(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn run(&self, name: &str, text: &str) -> Value {
        let file = self.file(name, text);
        let done = self.cli.run(&["workflow", "run", &file, "--remote", "-o", "json"]);
        let told: Value = serde_json::from_slice(&done.out).unwrap_or_default();
        assert_eq!(done.code, 0, "{}{} {told}", done.text(), done.err);
        told
    }

    fn get(&self, key: &str) -> String {
        self.cli.ok(&["state", "get", key]).trim().to_owned()
    }
}

#[test]
fn steps_on_two_nodes_share_state_take_turns_and_tell_what_happened() {
    let rig = Rig::new();
    let world = World::new(&rig);
    let heard = rig.path("heard");
    let script = format!("printf %s \"$EVENT_OBJECT_NAME\" >> {}", heard.display());
    world.cli.ok(&[
        "hook",
        "add",
        "hear",
        "--on",
        "custom.team.counted",
        "--",
        "sh",
        "-c",
        &script,
    ]);
    world.cli.ok(&["state", "set", "greeting", "hello"]);
    let done = world.run(
        "turns.sloth",
        r#"
        local turns = task("turns"):delegate_to({ "node-1", "node-2" }):command(function()
            assert(state.get("greeting") == "hello")
            for _ = 1, 6 do
                local done, why = state.with_lock("turn", function(number)
                    assert(state.compare_swap("inside", nil, os.getenv("HOSTLER_NODE")), "somebody is inside")
                    assert(number > state.get("last", 0), "numbers grow")
                    state.set("last", number)
                    state.increment("count")
                    assert(state.delete("inside"))
                    return true
                end)
                assert(done, why)
                state.increment("all")
                state.list_push("who", os.getenv("HOSTLER_NODE"))
            end
            state.set("table", { a = { 1, "x" } })
            state.set("bytes", "\0\255")
            assert(state.get("bytes") == "\0\255" and state.get("table").a[2] == "x")
            assert(state.set("brief", 1, "10m") and state.ttl("brief") > 500)
            return true
        end):build()
        local tell = task("tell"):depends_on("turns"):command(function()
            assert(#state.keys("b*") == 2, table.concat(state.keys(), " "))
            local ok, id = event.dispatch("team.counted", { message = "all have", count = state.get("count") })
            assert(ok and tonumber(id) > 0, id)
            state.set("workflows/" .. os.getenv("HOSTLER_EXECUTION") .. "/variables", { tag = "v1" })
            assert(state.lock("left"))
            return true
        end):build()
        workflow.define("turns"):tasks({ turns, tell })
        "#,
    );
    assert_eq!((world.get("count"), world.get("all")), ("12".to_owned(), "12".to_owned()));
    assert_eq!(world.get("table"), r#"{"a":[1,"x"]}"#);
    let who: Vec<String> = serde_json::from_str(&world.get("who")).unwrap();
    assert_eq!(who.iter().filter(|node| *node == "node-1").count(), 6);
    assert_eq!(who.len(), 12);
    let entry = world.cli.json(&["state", "get", "count"]);
    let owner = entry["owner"].to_string();
    assert!(owner.contains("project:default:task:turns-turns"), "{owner}");
    let lock = world.cli.json(&["lock", "show", "turn"]);
    assert_eq!(lock["holders"].as_array().map_or(0, Vec::len), 0, "{lock}");
    let variables = format!("workflows/{}/variables", done["id"].as_str().unwrap());
    assert_eq!(world.get(&variables), r#"{"tag":"v1"}"#);
    // A step that ends gives back what it held, without waiting for a TTL.
    let done = world.cli.run(&["lock", "try", "left", "-q"]);
    assert_eq!(done.code, 0, "{}", done.err);
    let told = until("the hook hears it", || {
        std::fs::read_to_string(&heard).ok().filter(|text| !text.is_empty())
    });
    assert_eq!(told, "team.counted");
    // Whoever is not the step itself is somebody else, whatever it says.
    let mut stranger = UnixStream::connect(world.agents[0].data_dir.join("steps.sock")).unwrap();
    stranger.write_all(b"{\"ask\":\"state-get\",\"key\":\"greeting\"}\n").unwrap();
    let mut answer = String::new();
    stranger.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("refused") && answer.contains("only steps of workflows"), "{answer}");
    drop((world.server, world.agents));
}

#[test]
fn a_lock_is_free_when_the_agent_of_its_step_is_dead_and_the_step_goes_on_when_it_is_back() {
    let rig = Rig::new();
    let mut world = World::new(&rig);
    let text = r#"
        local hold = task("hold"):delegate_to("node-1"):command(function()
            assert(state.lock("kept"))
            while not state.exists("go") do time.sleep(0.2) end
            local is_held, why = state.unlock("kept")
            assert(not is_held and why:find("not held"), why)
            return true, "it saw it"
        end):build()
        workflow.define("holds"):tasks({ hold })
    "#;
    let file = world.file("holds.sloth", text);
    let id = world.cli.ok(&["workflow", "run", &file, "--remote", "--detach"]).trim().to_owned();
    until("the step holds the lock", || {
        let shown = world.cli.run(&["lock", "show", "kept", "-o", "json"]);
        let lock: Value = serde_json::from_slice(&shown.out).ok()?;
        lock["holders"].as_array().is_some_and(|holders| holders.len() == 1).then_some(())
    });
    world.agents[0].process.kill();
    let begun = std::time::Instant::now();
    let got = world.cli.run(&["lock", "acquire", "kept", "--wait", "60s", "-q"]);
    assert_eq!(got.code, 0, "{}", got.err);
    assert!(begun.elapsed() > Duration::from_secs(15), "its TTL is not over before");
    world.agents[0].restart(&rig);
    world.cli.wait_node("node-1", "online");
    world.cli.ok(&["state", "set", "go", "1"]);
    until_within(Duration::from_secs(90), "the step sees what others keep, and ends", || {
        let shown = world.cli.json(&["workflow", "show", &id]);
        (shown["outcome"] == "succeeded").then_some(())
    });
}
