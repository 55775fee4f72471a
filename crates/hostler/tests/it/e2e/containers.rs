//! Tasks in containers of a real engine, from the command line to the engine and back, and what must not
//! matter to them: the death of their agent, and of the engine.
//!
//! Where there is no engine (`HOSTLER_TEST_DOCKER`), these tests say so and do nothing.

use std::path::PathBuf;

use hostler_agent::container::ContainerRow;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::rig::{Agent, Cli, Docker, IMAGE, OwnEngine, Rig, Server, until};

pub(super) struct World<'a> {
    pub rig: &'a Rig,
    pub cli: Cli<'a>,
    pub docker: Docker,
    pub agent: Agent,
    pub server: Server,
    /// Containers may mount it.
    shelf: PathBuf,
}

impl<'a> World<'a> {
    pub fn new(rig: &'a Rig, docker: Docker) -> World<'a> {
        World::so(rig, docker, &[])
    }

    /// The same with more options for its agent.
    pub fn so(rig: &'a Rig, docker: Docker, more: &[&str]) -> World<'a> {
        let shelf = rig.path("shelf");
        std::fs::create_dir(&shelf).unwrap();
        let mut server = Server::alone(rig, "server", None);
        let cli = server.first_login(rig);
        let socket = docker.socket();
        let options = ["--engine", &socket, "--allow-mount", shelf.to_str().unwrap()];
        let options = [&options[..], more].concat();
        let agent = Agent::join_so(rig, &cli, &server, "node-1", &options);
        World { rig, cli, docker, agent, server, shelf }
    }

    fn shared(rig: &'a Rig) -> Option<World<'a>> {
        Some(World::new(rig, Docker::shared(rig)?))
    }

    /// Submits a script in the image of the tests, with whatever else the spec is to say.
    pub fn submit(&self, name: &str, script: &str, more: &Value) {
        let mut spec = json!({
            "runtime": "container",
            "command": ["sh", "-c", script],
            "container": { "image": IMAGE, "pull": "never", "network": "none" },
            "resources": { "cores": 0.1 },
        });
        merge(&mut spec, more);
        let file = self.rig.path("task.json");
        let tasks = json!({ "tasks": [{ "name": name, "spec": spec }] });
        std::fs::write(&file, tasks.to_string()).unwrap();
        self.cli.ok(&["task", "submit", "-f", file.to_str().unwrap()]);
    }

    /// Counts until the gate is opened, then says `done` and ends with 6.
    fn submit_counting(&self, name: &str) {
        let script = "i=0; while [ ! -e /shelf/go ]; do i=$((i+1)); echo $i; sleep 0.02; done; echo done; exit 6";
        let mount = json!({ "source": self.shelf, "target": "/shelf", "readOnly": true });
        self.submit(name, script, &json!({ "container": { "mounts": [mount] } }));
        self.cli.wait_pid(name);
        self.has_said_more(name, 0);
    }

    fn open_gate(&self) {
        std::fs::write(self.shelf.join("go"), "").unwrap();
    }

    fn said(&self, name: &str) -> usize {
        self.cli.ok(&["logs", name]).lines().count()
    }

    pub fn has_said_more(&self, name: &str, than: usize) {
        until(&format!("{name} has said more"), || (self.said(name) > than).then_some(()));
    }

    pub fn the_container(&self) -> ContainerRow {
        let mut found = self.docker.containers();
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    /// Every number once, in order, and the end; in one run.
    fn counted_whole(&self, name: &str) {
        let text = self.cli.ok(&["logs", name]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.last(), Some(&"done"), "{text}");
        for (n, line) in lines[..lines.len() - 1].iter().enumerate() {
            assert_eq!(*line, (n + 1).to_string());
        }
        self.ran_once(name);
    }

    fn ran_once(&self, name: &str) {
        let runs = self.cli.json(&["task", "runs", name]);
        assert_eq!(runs["items"].as_array().unwrap().len(), 1, "{runs}");
    }

    /// Why a task could not be started.
    #[track_caller]
    pub fn start_failure(&self, name: &str) -> String {
        let task = self.cli.wait_state(name, "failed");
        let exit = &task["status"]["exit"];
        assert_eq!(exit["reason"], "start-failed", "{task}");
        exit["message"].as_str().unwrap().to_owned()
    }
}

fn merge(into: &mut Value, more: &Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more.clone(),
    }
}

#[test]
fn a_task_in_an_image_has_what_was_asked_for_and_says_how_it_ended() {
    let rig = Rig::new();
    let Some(world) = World::shared(&rig) else { return };
    let engine = world.cli.wait_node("node-1", "online")["facts"]["containerEngine"].clone();
    assert!(engine.as_str().unwrap().starts_with("docker "), "{engine}");
    let script = "id -un; pwd; echo \"$GREETING\"; ulimit -n; cat /etc/inside; \
                  cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes; \
                  echo oops >&2; exit 7";
    let more = json!({
        "user": "worker",
        "workdir": "/tmp",
        "env": { "GREETING": "two\nlines" },
        "limits": { "memory": "64MiB", "files": 123, "pids": 50, "cpu": 0.5 },
    });
    world.submit("all", script, &more);
    let task = world.cli.wait_state("all", "failed");
    let exit = &task["status"]["exit"];
    assert_eq!((&exit["reason"], &exit["code"]), (&json!("exited"), &json!(7)), "{task}");
    let out = world.cli.ok(&["logs", "all", "--stream", "stdout"]);
    assert_eq!(out, "worker\n/tmp\ntwo\nlines\n123\nyes\n67108864\n");
    let err = world.cli.run(&["logs", "all", "--stream", "stderr"]).must(0);
    assert!(err.err.contains("oops") || err.text().contains("oops"), "{err:?}");
    world.submit("fine", "true", &json!({}));
    world.cli.wait_state("fine", "completed");
    world.docker.nothing_is_left();
}

#[test]
fn a_container_that_needs_too_much_memory_is_killed_for_that() {
    let rig = Rig::new();
    let Some(world) = World::shared(&rig) else { return };
    world.submit("hungry", "tail /dev/zero", &json!({ "limits": { "memory": "16MiB" } }));
    let task = world.cli.wait_state("hungry", "killed_oom");
    assert_eq!(task["status"]["exit"]["reason"], "out-of-memory", "{task}");
    world.submit("signal", "kill -9 $$", &json!({ "limits": { "memory": "64MiB" } }));
    let task = world.cli.wait_state("signal", "failed");
    assert_eq!(task["status"]["exit"]["reason"], "exited", "{task}");
    world.docker.nothing_is_left();
}

#[test]
fn what_cannot_be_had_or_may_not_be_seen_is_told() {
    let rig = Rig::new();
    let Some(world) = World::shared(&rig) else { return };
    world.submit("unknown", "true", &json!({ "container": { "image": "hostler-test/none:1" } }));
    let why = world.start_failure("unknown");
    assert!(why.contains("hostler-test/none:1 is not on this node"), "{why}");
    assert!(why.contains("pull policy is never"), "{why}");

    let shelf = &world.shelf;
    std::fs::create_dir(shelf.join("fine")).unwrap();
    std::os::unix::fs::symlink("/etc", shelf.join("out")).unwrap();
    std::os::unix::fs::symlink(world.docker.socket(), shelf.join("engine")).unwrap();
    let data = world.agent.data_dir.display().to_string();
    let socket = world.docker.socket();
    let below = |name: &str| shelf.join(name).display().to_string();
    for (name, source, words) in [
        ("other", "/etc".to_owned(), "may not be mounted"),
        ("link", below("out"), "may not be mounted"),
        ("root", "/".to_owned(), "never"),
        ("kernel", "/proc".to_owned(), "never"),
        ("data", data, "never"),
        ("socket", socket.clone(), "never"),
        ("socket-link", below("engine"), "never"),
        ("around", PathBuf::from(&socket).parent().unwrap().display().to_string(), "never"),
    ] {
        let mount = json!({ "source": source, "target": "/seen" });
        world.submit(name, "true", &json!({ "container": { "mounts": [mount] } }));
        let why = world.start_failure(name);
        assert!(why.contains(words), "{source}: {why}");
    }
    world.submit("privileged", "true", &json!({ "container": { "privileged": true } }));
    let why = world.start_failure("privileged");
    assert!(why.contains("privileged"), "{why}");
    let mount = json!({ "source": below("fine"), "target": "/seen" });
    let more = json!({ "container": { "mounts": [mount] } });
    world.submit("fine", "echo hello > /seen/file", &more);
    world.cli.wait_state("fine", "completed");
    assert_eq!(std::fs::read_to_string(shelf.join("fine/file")).unwrap(), "hello\n");
    world.docker.nothing_is_left();
}

#[test]
fn an_agent_that_is_killed_finds_its_container_again() {
    let rig = Rig::new();
    let Some(mut world) = World::shared(&rig) else { return };
    world.submit_counting("long");
    let before = world.the_container();
    let pid = world.cli.wait_pid("long");
    for _ in 0..2 {
        world.agent.process.kill();
        assert_eq!(world.the_container().id, before.id);
        world.agent.restart(world.rig);
        world.cli.wait_node("node-1", "online");
        world.has_said_more("long", world.said("long"));
    }
    assert_eq!(world.cli.wait_pid("long"), pid);
    assert_eq!(world.the_container().id, before.id);
    world.agent.process.kill();
    world.open_gate();
    until("the container has ended", || world.docker.containers().is_empty().then_some(()));
    world.agent.restart(world.rig);
    let task = world.cli.wait_state("long", "failed");
    assert_eq!(task["status"]["exit"]["code"], 6, "{task}");
    world.counted_whole("long");
    world.docker.nothing_is_left();
}

#[test]
fn a_container_is_killed_when_its_task_is() {
    let rig = Rig::new();
    let Some(world) = World::shared(&rig) else { return };
    let deaf = "trap '' TERM; echo up; while :; do sleep 0.1; done";
    world.submit("deaf", deaf, &json!({}));
    world.submit(
        "polite",
        "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.1; done",
        &json!({}),
    );
    for name in ["deaf", "polite"] {
        world.has_said_more(name, 0);
        world.cli.ok(&["task", "kill", name, "--grace", "2s", "--yes"]);
    }
    let task = world.cli.wait_state("polite", "killed");
    assert_eq!(task["status"]["exit"]["code"], 3, "{task}");
    assert_eq!(world.cli.ok(&["logs", "polite"]), "up\nbye\n");
    world.cli.wait_state("deaf", "killed");
    world.submit("frozen", "echo up; sleep 100000", &json!({}));
    world.has_said_more("frozen", 0);
    world.cli.ok(&["task", "pause", "frozen"]);
    world.cli.wait_state("frozen", "paused");
    world.cli.ok(&["task", "kill", "frozen", "--grace", "100ms", "--yes"]);
    world.cli.wait_state("frozen", "killed");
    world.docker.nothing_is_left();
}

#[test]
fn an_engine_that_restarts_is_survived_when_it_lets_containers_live() {
    let rig = Rig::new();
    let Some(mut engine) = OwnEngine::start(&rig, true) else { return };
    let world = World::new(&rig, Docker::at(&rig, &engine.socket()));
    world.submit_counting("long");
    let before = world.the_container();
    for signal in [Signal::TERM, Signal::KILL] {
        engine.stop(signal);
        engine.start_again(&rig);
        world.has_said_more("long", world.said("long"));
    }
    assert_eq!(world.the_container().id, before.id);
    world.open_gate();
    let task = world.cli.wait_state("long", "failed");
    assert_eq!(task["status"]["exit"]["code"], 6, "{task}");
    world.counted_whole("long");
    world.docker.nothing_is_left();
}

#[test]
fn an_engine_that_takes_its_containers_along_is_told_of_and_used_again() {
    let rig = Rig::new();
    let Some(mut engine) = OwnEngine::start(&rig, false) else { return };
    let world = World::new(&rig, Docker::at(&rig, &engine.socket()));
    world.submit_counting("long");
    engine.stop(Signal::TERM);
    engine.start_again(&rig);
    let task = world.cli.wait_state("long", "failed");
    let exit = &task["status"]["exit"];
    assert!(exit["message"].as_str().is_some_and(|why| why.contains("restarted")), "{task}");
    world.ran_once("long");
    world.submit("next", "echo next", &json!({}));
    world.cli.wait_state("next", "completed");
    world.docker.nothing_is_left();
}
