//! What a cluster manager for tasks gets wrong when it has no queue, forgets what it promised, or
//! believes what it was told last: each is tried on the real binary.
//!
//! `docs/conformance/kohakuriver-tasks.md` says which test answers which weakness.

use std::path::Path;

use serde_json::{Value, json};

use crate::rig::{Agent, Barrier, Cli, Rig, Server, is_running, until};

/// Whole cores of the only node.
fn cores(cli: &Cli<'_>) -> u64 {
    let nodes = cli.json(&["node", "ls"]);
    let cores = nodes["items"][0]["facts"]["cores"].as_f64().unwrap();
    format!("{cores:.0}").parse().unwrap()
}

/// Cores that are reserved, for all projects.
fn held(cli: &Cli<'_>) -> f64 {
    let queue = cli.json(&["queue"]);
    queue["items"].as_array().unwrap().iter().map(|line| line["cores"].as_f64().unwrap()).sum()
}

#[track_caller]
fn nothing_is_held(cli: &Cli<'_>) {
    until("nothing is held any more", || (held(cli) == 0.0).then_some(()));
}

/// A task that wants every core there is.
fn submit_whole(cli: &Cli<'_>, name: &str, script: &str, more: &[&str]) {
    let all = cores(cli).to_string();
    let words = ["task", "submit", "--name", name, "--cores", &all];
    cli.ok(&[&words, more, &["--", "sh", "-c", script]].concat());
}

fn submit_file(rig: &Rig, cli: &Cli<'_>, tasks: &[Value]) {
    let file = rig.path("tasks.json");
    std::fs::write(&file, json!({ "tasks": tasks }).to_string()).unwrap();
    cli.ok(&["task", "submit", "-f", file.to_str().unwrap()]);
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_burst_waits_its_turn_and_all_of_it_runs() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    let (room, seen) = (rig.path("room"), rig.path("seen"));
    std::fs::create_dir(&room).unwrap();
    let cores = cores(&cli);
    let count = 10 * cores;
    let script = format!(
        "touch {0}/$$; ls {0} | wc -l >> {1}; sleep 0.05; rm {0}/$$",
        room.display(),
        seen.display()
    );
    let one = |n| {
        let spec = json!({ "command": ["sh", "-c", script], "resources": { "cores": 1 } });
        json!({ "name": format!("burst-{n}"), "spec": spec })
    };
    submit_file(&rig, &cli, &(0..count).map(one).collect::<Vec<_>>());
    let names: Vec<String> = (0..count).map(|n| format!("burst-{n}")).collect();
    let words: Vec<&str> = ["wait"].into_iter().chain(names.iter().map(String::as_str)).collect();
    cli.ok(&words);
    let seen: Vec<u64> = lines(&seen).iter().map(|line| line.trim().parse().unwrap()).collect();
    assert_eq!(seen.len() as u64, count, "every one of them ran, once");
    assert!(seen.iter().all(|together| *together <= cores), "{seen:?} on {cores} cores");
    nothing_is_held(&cli);
}

struct Apart<'a> {
    rig: &'a Rig,
    server: Server,
    agent: Agent,
    cli: Cli<'a>,
    gate: Barrier,
}

impl<'a> Apart<'a> {
    fn new(rig: &'a Rig) -> Apart<'a> {
        let mut server = Server::alone(rig, "server", None);
        let cli = server.first_login(rig);
        let agent = Agent::join(rig, &cli, &server, "node-1");
        Apart { rig, server, agent, cli, gate: Barrier::new(rig, "gate") }
    }

    /// A task with every core, which ends with 3 when the gate is opened.
    fn begin(&self) -> u32 {
        submit_whole(&self.cli, "long", &format!("{}; exit 3", self.gate.wait()), &[]);
        self.cli.wait_pid("long")
    }

    fn let_end(&self, pid: u32) {
        until("the task has ended", || {
            self.gate.open();
            (!is_running(pid)).then_some(())
        });
    }

    /// The end is known as it was, and what it held is somebody else's.
    fn is_known(&self) {
        let ended = self.cli.wait_state("long", "failed");
        assert_eq!(ended["status"]["exit"]["code"], 3, "{ended}");
        submit_whole(&self.cli, "next", "exit 0", &[]);
        self.cli.wait_state("next", "completed");
        nothing_is_held(&self.cli);
    }
}

#[test]
fn what_ends_while_the_server_is_away_is_known_and_its_cores_are_free() {
    let rig = Rig::new();
    let mut apart = Apart::new(&rig);
    let pid = apart.begin();
    apart.server.process.kill();
    apart.let_end(pid);
    apart.server.restart(apart.rig);
    apart.is_known();
}

#[test]
fn what_ends_while_the_agent_is_away_is_known_and_its_cores_are_free() {
    let rig = Rig::new();
    let mut apart = Apart::new(&rig);
    let pid = apart.begin();
    apart.agent.process.kill();
    apart.let_end(pid);
    apart.agent.restart(apart.rig);
    apart.is_known();
}

#[test]
fn a_kill_right_after_the_submit_leaves_no_process_and_no_core() {
    const TASKS: usize = 16;
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    let pids = rig.path("pids");
    let name = |n: usize| format!("brief-{n}");
    for n in 0..TASKS {
        cli.submit(&name(n), &format!("echo $$ >> {}; exec sleep 100000", pids.display()));
        cli.ok(&["task", "kill", &name(n), "--grace", "100ms", "--yes"]);
    }
    for n in 0..TASKS {
        cli.wait_state(&name(n), "killed");
    }
    nothing_is_held(&cli);
    let left: Vec<String> =
        lines(&pids).into_iter().filter(|pid| is_running(pid.parse().unwrap())).collect();
    assert_eq!(left, [""; 0], "what is said to be killed runs nowhere");
}

#[test]
fn a_paused_task_keeps_its_cores_until_it_has_gone_on_and_ended() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    let gate = Barrier::new(&rig, "gate");
    submit_whole(&cli, "first", &format!("{}; exit 0", gate.wait()), &[]);
    cli.wait_pid("first");
    let all = held(&cli);
    cli.ok(&["task", "pause", "first"]);
    cli.wait_state("first", "paused");
    submit_whole(&cli, "second", "exit 0", &[]);
    let why = cli.json(&["task", "explain", "second"]).to_string();
    assert!(why.contains("are free"), "{why}");
    assert_eq!(
        (held(&cli), cli.task("second")["status"]["state"].as_str()),
        (all, Some("pending"))
    );
    cli.ok(&["task", "resume", "first"]);
    cli.wait_state("first", "running");
    assert_eq!(
        (held(&cli), cli.task("second")["status"]["state"].as_str()),
        (all, Some("pending"))
    );
    until("the first has ended", || {
        gate.open();
        (cli.task("first")["status"]["state"] == "completed").then_some(())
    });
    cli.wait_state("second", "completed");
    nothing_is_held(&cli);
}

/// 137 is what a shell says of SIGKILL, whoever sent it.
#[test]
fn killed_by_a_signal_is_not_out_of_memory() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    cli.submit("signal", "kill -9 $$");
    cli.submit("code", "exit 137");
    let signal = cli.wait_state("signal", "failed");
    assert_eq!(signal["status"]["exit"]["signal"], 9, "{signal}");
    let code = cli.wait_state("code", "failed");
    assert_eq!(code["status"]["exit"]["code"], 137, "{code}");
}

#[test]
fn tasks_are_tried_again_ordered_chained_and_limited_in_time() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    let (tries, order, gate) = (rig.path("tries"), rig.path("order"), Barrier::new(&rig, "gate"));
    let submit = |words: &[&str], script: &str| {
        cli.ok(&[&["task", "submit"], words, &["--", "sh", "-c", script]].concat());
    };
    let shaky = format!("echo x >> {0}; [ $(wc -l < {0}) -ge 3 ]", tries.display());
    submit(&["--name", "shaky", "--retries", "4", "--retry-delay", "50ms"], &shaky);
    assert_eq!(cli.wait_state("shaky", "completed")["attempts"], 3);

    submit(&["--name", "slow", "--timeout", "300ms", "--grace", "100ms"], "sleep 100000");
    let slow = cli.wait_state("slow", "failed");
    assert_eq!(slow["status"]["exit"]["reason"], "timed-out", "{slow}");

    submit_whole(&cli, "block", &format!("{}; exit 0", gate.wait()), &[]);
    cli.wait_pid("block");
    let say = |name: &str| format!("echo {name} >> {}", order.display());
    submit_whole(&cli, "low", &say("low"), &["--priority", "-5"]);
    submit_whole(&cli, "high", &say("high"), &["--priority", "5"]);
    submit_whole(&cli, "late", &say("late"), &["--start-within", "300ms"]);
    submit(&["--name", "after-both", "--after", "low", "--after", "high:any"], &say("after-both"));
    submit(&["--name", "if-failed", "--after", "high:fail"], &say("if-failed"));
    let late = cli.wait_state("late", "failed");
    assert_eq!(late["status"]["exit"]["reason"], "given-up", "{late}");
    until("the way is free", || {
        gate.open();
        (cli.task("block")["status"]["state"] == "completed").then_some(())
    });
    cli.wait_state("after-both", "completed");
    let never = cli.wait_state("if-failed", "failed");
    assert_eq!(never["status"]["exit"]["reason"], "given-up", "{never}");
    assert_eq!(lines(&order), ["high", "low", "after-both"]);
    cli.ok(&["task", "retry", "late"]);
    cli.wait_state("late", "completed");
    nothing_is_held(&cli);
}

#[test]
fn nobody_sees_starts_pauses_or_kills_a_task_without_saying_who_they_are() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    cli.submit("long", "exec sleep 100000");
    let pid = cli.wait_pid("long");
    let nobody = server.https();
    let tasks = "/api/v1/projects/default/tasks";
    for (method, path) in [
        ("POST", tasks.to_owned()),
        ("POST", format!("{tasks}/long/kill")),
        ("POST", format!("{tasks}/long/pause")),
        ("GET", format!("{tasks}/long")),
        ("GET", format!("{tasks}/long/logs")),
        ("DELETE", format!("{tasks}/long")),
        ("GET", "/api/v1/queue".to_owned()),
        ("GET", "/api/v1/node-holdings".to_owned()),
    ] {
        nobody.request(method, &path, &[], b"").problem(401, "unauthenticated");
    }
    assert_eq!(cli.wait_pid("long"), pid);
}

#[test]
fn a_token_ends_with_its_time_and_the_record_says_who_did_what() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    cli.ok(&["user", "create", "robot", "--service"]);
    cli.ok(&["project", "grant", "default", "robot", "user"]);
    let words = ["token", "create", "brief", "--user", "robot", "--role", "user", "--ttl", "3s"];
    let robot = cli.token(cli.json(&words)["secret"].as_str().unwrap());
    robot.ok(&["task", "submit", "--name", "mine", "--", "true"]);
    until("the token has ended", || {
        let tried = robot.run(&["task", "get", "mine"]);
        assert!([0, 6].contains(&tried.code), "{tried:?}");
        (tried.code == 6).then_some(())
    });
    robot.run(&["task", "submit", "--", "true"]).must(6);
    let record = cli.json(&["audit", "ls", "--action", "task.create"]);
    let entries = record["items"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{record}");
    assert_eq!(entries[0]["actor"]["name"], "robot", "{record}");
    assert_eq!(entries[0]["object"]["name"], "mine", "{record}");
    assert_eq!(cli.json(&["audit", "verify"])["isIntact"], true);
}
