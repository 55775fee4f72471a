//! Workloads as their users have them: a file, commands, and what becomes of them when something is
//! away for a while.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::rig::{Agent, Cli, Database, Output, Rig, Server, birth, is_running, until};

/// Words of `hostler workload`.
struct Workloads<'a> {
    cli: Cli<'a>,
    rig: &'a Rig,
}

impl<'a> Workloads<'a> {
    fn new(rig: &'a Rig, cli: &Cli<'a>) -> Workloads<'a> {
        Workloads { cli: cli.clone(), rig }
    }

    fn run(&self, words: &[&str]) -> Output {
        self.cli.run(&[&["workload"], words].concat())
    }

    #[track_caller]
    fn ok(&self, words: &[&str]) -> Output {
        self.run(words).must(0)
    }

    #[track_caller]
    fn json(&self, words: &[&str]) -> Value {
        self.cli.json(&[&["workload"], words].concat())
    }

    fn file(&self, text: &str) -> String {
        let path = self.rig.path("workload.yaml");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[track_caller]
    fn apply(&self, text: &str) -> Output {
        let file = self.file(text);
        self.ok(&["apply", "-f", &file, "--wait", "--timeout", "60s"])
    }

    fn get(&self, name: &str) -> Value {
        self.json(&["get", name])
    }

    #[track_caller]
    fn phase(&self, name: &str, phase: &str) -> Value {
        until(&format!("workload {name} is {phase}"), || {
            Some(self.get(name)).filter(|view| view["status"]["phase"] == phase)
        })
    }

    /// The pid of its only run, once it is under the revision that was asked for.
    #[track_caller]
    fn pid(&self, name: &str) -> u32 {
        until(&format!("workload {name} has a process"), || {
            let view = self.get(name);
            let there = &view["placements"][0];
            let is_current = there["revision"] == view["revision"] && there["phase"] == "running";
            let pid = there["pid"].as_u64().filter(|_| is_current)?;
            u32::try_from(pid).ok()
        })
    }

    fn history(&self, name: &str) -> Vec<Value> {
        self.json(&["history", name])["items"].as_array().unwrap().clone()
    }
}

fn installation(rig: &Rig) -> (Server, Cli<'_>, Agent) {
    let mut server = Server::alone(rig, "server", None);
    let cli = server.first_login(rig);
    let agent = Agent::join(rig, &cli, &server, "node-1");
    (server, cli, agent)
}

const SLEEPER: &str = "name: web\nmode: forever\ncommand: [sleep, '100000']\n";

#[test]
fn a_workload_from_its_file_to_its_end() {
    let rig = Rig::new();
    let (_server, cli, _agent) = installation(&rig);
    let workloads = Workloads::new(&rig, &cli);

    let file = workloads.file("name: web\nmode: forevr\ncommand: [sleep, '1']\n");
    let wrong = workloads.run(&["apply", "-f", &file]).must(2);
    assert!(wrong.err.contains("workload.yaml:2:7"), "{}", wrong.err);
    let file = workloads.file(SLEEPER);
    let planned = workloads.run(&["apply", "-f", &file, "--dry-run"]).must(10);
    assert_eq!(planned.text(), "+ web\n");
    workloads.apply(SLEEPER);
    let first = workloads.pid("web");
    assert!(is_running(first));
    workloads.ok(&["apply", "-f", &file, "--dry-run"]);
    let again = workloads.apply(SLEEPER);
    assert!(again.err.contains("web unchanged"), "{}", again.err);
    assert_eq!(workloads.pid("web"), first);
    let listed = workloads.ok(&["ls"]).text();
    assert!(listed.contains("web") && listed.contains("running"), "{listed}");
    assert!(workloads.ok(&["show", "web"]).text().contains(&format!("pid {first}")));

    workloads.ok(&["restart", "web", "--wait"]);
    let second = workloads.pid("web");
    assert!(second != first && !is_running(first));
    workloads.ok(&["stop", "web", "--wait"]);
    until("it has stopped", || (!is_running(second)).then_some(()));
    assert_eq!(workloads.get("web")["status"]["phase"], "stopped");
    workloads.ok(&["start", "web", "--wait"]);
    let third = workloads.pid("web");
    assert_eq!(workloads.history("web").len(), 3);

    workloads.apply("name: web\nmode: forever\ncommand: [sleep, '200000']\n");
    let fourth = workloads.pid("web");
    assert!(fourth != third && !is_running(third));
    let runs = until("all runs are known", || {
        let runs = workloads.history("web");
        runs.iter().skip(1).all(|run| run["state"] == "exited").then_some(runs)
    });
    let numbers: Vec<u64> = runs.iter().map(|run| run["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [4, 3, 2, 1], "{runs:?}");
    assert_eq!(runs[1]["exit"]["reason"], "stopped");

    workloads.apply("name: web\nmode: forever\ncommand: [sleep, '200000']\ntags: [blue]\n");
    assert_eq!(workloads.pid("web"), fourth);
    let explained = workloads.ok(&["explain", "web"]).text();
    assert!(explained.starts_with("workload web is running"), "{explained}");
    workloads.ok(&["rm", "web", "--wait", "--timeout", "60s"]);
    assert!(!is_running(fourth));
    workloads.run(&["get", "web"]).must(3);
    assert_eq!(cli.json(&["audit", "verify"])["isIntact"], true);
}

#[test]
fn commands_run_beside_a_workload() {
    let rig = Rig::new();
    let (_server, cli, _agent) = installation(&rig);
    let workloads = Workloads::new(&rig, &cli);
    workloads.apply(&format!("{SLEEPER}env: {{ COLOUR: blue }}\n"));
    let said =
        workloads.run(&["exec", "web", "--", "sh", "-c", "echo $COLOUR; echo no >&2; exit 7"]);
    let said = said.must(7);
    assert_eq!((said.text().as_str(), said.err.as_str()), ("blue\n", "no\n"));
    let fed = cli.run_with(&["workload", "exec", "web", "-i", "--", "tr", "a-z", "A-Z"], "shout");
    assert_eq!(fed.must(0).text(), "SHOUT");
    workloads.run(&["exec", "web", "--", "sh", "-c", "kill -9 $$"]).must(137);
    let slow = workloads.run(&["exec", "web", "--timeout", "200ms", "--", "sleep", "60"]).must(137);
    assert!(slow.err.contains("took longer"), "{}", slow.err);
    let missing = workloads.run(&["exec", "web", "--", "no-such-program"]);
    assert_ne!(missing.code, 0);

    let mark = rig.path("mark");
    let script = format!("echo $$ > {}; sleep 100000", mark.display());
    let mut gone = cli.spawn("exec", &["workload", "exec", "web", "--", "sh", "-c", &script]);
    let pid: u32 =
        until("the command runs", || std::fs::read_to_string(&mark).ok()?.trim().parse().ok());
    gone.kill();
    until("the command dies with its connection", || (!is_running(pid)).then_some(()));

    workloads.ok(&["stop", "web", "--wait"]);
    let refused = workloads.run(&["exec", "web", "--", "true"]).must(5);
    assert!(refused.err.contains("no process"), "{}", refused.err);
    let audit = cli.json(&["audit", "ls", "--action", "workload.exec"]);
    assert!(audit["items"].as_array().unwrap().len() >= 6, "{audit}");
}

#[test]
fn output_is_followed_from_one_run_into_the_next() {
    let rig = Rig::new();
    let (_server, cli, _agent) = installation(&rig);
    let workloads = Workloads::new(&rig, &cli);
    let count = rig.path("count");
    let script = format!(
        "n=$(cat {0} 2>/dev/null || echo 0); n=$((n+1)); echo $n > {0}; echo begin $n; echo warn $n >&2; exec sleep 100000",
        count.display()
    );
    workloads.apply(&format!("name: web\nmode: forever\ncommand: [sh, -c, \"{script}\"]\n"));
    let (mut follower, heard) =
        cli.spawn_split("follow", &["workload", "logs", "-f", "web", "--stream", "stdout"]);
    let hears = |line: &str| {
        until(&format!("`{line}` is heard"), || {
            std::fs::read_to_string(&heard).unwrap().contains(line).then_some(())
        });
    };
    hears("begin 1\n");
    workloads.ok(&["restart", "web", "--wait"]);
    hears("begin 2\n");
    workloads.ok(&["restart", "web", "--wait"]);
    hears("begin 3\n");
    assert_eq!(std::fs::read_to_string(&heard).unwrap(), "begin 1\nbegin 2\nbegin 3\n");
    assert!(follower.log().contains("run 2 began"), "{}", follower.log());

    let newest = workloads.ok(&["logs", "web"]);
    assert_eq!(newest.text(), "begin 3\n");
    assert!(newest.err.contains("warn 3\n"), "{}", newest.err);
    let found = workloads.ok(&["logs", "web", "--grep", "begin [12]"]).text();
    assert_eq!(found, "begin 1\nbegin 2\n");
    let tail = workloads.ok(&["logs", "web", "--tail", "2", "--stream", "stdout"]).text();
    assert_eq!(tail, "begin 2\nbegin 3\n");
    assert_eq!(
        workloads
            .ok(&["logs", "web", "--since", "1h", "--stream", "stdout"])
            .text()
            .lines()
            .count(),
        3
    );
    assert_eq!(workloads.ok(&["logs", "web", "--until", "1h"]).text(), "");
    let first = workloads.history("web").last().unwrap()["id"].as_str().unwrap().to_owned();
    assert_eq!(workloads.ok(&["logs", "web", "--run", &first]).text(), "begin 1\n");
    workloads.run(&["logs", "web", "--grep", "("]).must(2);
    workloads.ok(&["rm", "web", "--wait"]);
    let (code, _) = follower.wait_within(crate::rig::DEADLINE);
    assert_eq!(code, 0, "{}", follower.log());
}

#[test]
fn a_workload_that_fails_says_so() {
    let rig = Rig::new();
    let (_server, cli, _agent) = installation(&rig);
    let workloads = Workloads::new(&rig, &cli);
    let file = workloads.file(
        "name: bad\nmode: forever\ncommand: [sh, -c, 'exit 3']\nrestart: { delay: 10ms, attempts: 3 }\n",
    );
    let failed = workloads.run(&["apply", "-f", &file, "--wait", "--timeout", "60s"]).must(4);
    assert!(failed.err.contains("bad"), "{}", failed.err);
    let view = workloads.phase("bad", "failed");
    assert_eq!(view["placements"][0]["lastExit"]["code"], 3, "{view}");
    let events = cli.json(&["event", "ls", "--object", "workload"]);
    let kinds: BTreeSet<&str> =
        events["items"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains("workload.failed") && kinds.contains("workload.restarted"), "{kinds:?}");
    workloads.apply("name: thrice\nmode: { times: 3 }\ncommand: [sh, -c, 'echo once']\n");
    workloads.phase("thrice", "completed");
    assert_eq!(workloads.history("thrice").len(), 3);
    let file =
        workloads.file("name: elsewhere\ncommand: [a]\nmode: forever\nplacement: { node: none }\n");
    let late = workloads.run(&["apply", "-f", &file, "--wait", "--timeout", "500ms"]).must(9);
    assert!(late.err.contains("workload explain elsewhere"), "{}", late.err);
    assert_eq!(workloads.get("elsewhere")["status"]["phase"], "pending");
}

#[test]
fn any_server_reaches_the_workload() {
    let rig = Rig::new();
    let Some(database) = Database::create(&rig) else { return };
    let mut first = Server::alone(&rig, "first", Some(&database.url));
    let through_first = first.first_login(&rig);
    let agent = Agent::join(&rig, &through_first, &first, "node-1");
    let second = Server::alone(&rig, "second", Some(&database.url));
    let through_second = second.login(&rig, &[]);
    let workloads = Workloads::new(&rig, &through_second);
    workloads
        .apply("name: web\nmode: forever\ncommand: [sh, -c, 'echo hello; exec sleep 100000']\n");
    let status = agent.status(&rig).unwrap();
    assert_eq!(status["address"], first.agents.to_string(), "{status}");
    let said = workloads.run(&["exec", "web", "--", "sh", "-c", "cat; echo there; exit 9"]).must(9);
    assert_eq!(said.text(), "there\n");
    assert_eq!(workloads.ok(&["logs", "web"]).text(), "hello\n");
    let (_follower, heard) =
        through_second.spawn_split("follow", &["workload", "logs", "-f", "web"]);
    until("the output is followed through the other server", || {
        std::fs::read_to_string(&heard).unwrap().contains("hello\n").then_some(())
    });
    let https = second.https();
    let token = through_second.json(&["token", "create", "raw", "--role", "admin"]);
    let https = https.token(token["secret"].as_str().unwrap());
    let usage = https.get("/api/v1/nodes/node-1/usage");
    assert_eq!(usage.status, 200);
    let reloaded = through_second.run(&["node", "reload", "node-1"]).must(0);
    assert!(reloaded.err.contains("its machine is as it was"), "{}", reloaded.err);
    let refused = workloads.run(&["exec", "web", "--", "no-such-program"]);
    assert_ne!(refused.code, 0);
}

#[test]
fn a_node_that_is_away_is_said_and_its_workloads_go_on() {
    let rig = Rig::new();
    let patience = "heartbeat = \"200ms\"\n[patience]\nstale_after = \"1s\"\noffline_after = \"3s\"\nlost_after = \"10m\"\n";
    let mut server = Server::configured(&rig, "server", patience);
    let cli = server.first_login(&rig);
    let mut agent = Agent::join(&rig, &cli, &server, "node-1");
    let workloads = Workloads::new(&rig, &cli);
    workloads.apply(SLEEPER);
    let pid = workloads.pid("web");
    let born = birth(pid).unwrap();

    agent.process.kill();
    workloads.phase("web", "unknown");
    let refused = workloads.run(&["exec", "web", "--", "true"]).must(8);
    assert!(refused.err.contains("node-unreachable"), "{}", refused.err);
    workloads.run(&["logs", "web"]).must(8);
    cli.run(&["node", "reload", "node-1"]).must(8);
    assert_eq!(birth(pid).as_ref(), Some(&born));
    agent.restart(&rig);
    workloads.phase("web", "running");
    assert_eq!(workloads.pid("web"), pid);
    assert_eq!(workloads.history("web").len(), 1);
}

#[test]
fn a_server_that_is_away_misses_nothing() {
    let rig = Rig::new();
    let (mut server, cli, _agent) = installation(&rig);
    let workloads = Workloads::new(&rig, &cli);
    let (ran, go_on) = (rig.path("ran"), rig.path("go-on"));
    std::fs::create_dir(&ran).unwrap();
    let script = format!(
        "true > {}/$HOSTLER_RUN; while [ ! -e {} ]; do sleep 0.05; done; exit 5",
        ran.display(),
        go_on.display()
    );
    workloads.apply(&format!(
        "workloads:\n- name: work\n  mode: {{ times: 20 }}\n  command: [sh, -c, '{script}']\n  restart: {{ delay: 1ms, factor: 1 }}\n- name: web\n  mode: forever\n  command: [sleep, '100000']\n"
    ));
    let pid = workloads.pid("web");
    let born = birth(pid).unwrap();
    workloads.phase("work", "running");

    server.process.kill();
    std::fs::write(&go_on, "").unwrap();
    let done = || std::fs::read_dir(&ran).unwrap().count();
    until("all runs were made while no server was there", || (done() >= 20).then_some(()));
    assert_eq!(birth(pid).as_ref(), Some(&born));
    server.restart(&rig);

    let runs = until("every run is known", || {
        let runs = workloads.history("work");
        (runs.len() == 20 && runs.iter().all(|run| run["state"] == "exited")).then_some(runs)
    });
    let known: BTreeSet<String> =
        runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
    let made: BTreeSet<String> = std::fs::read_dir(&ran)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(known, made);
    assert!(runs.iter().all(|run| run["exit"]["code"] == 5), "{runs:?}");
    assert_eq!(workloads.pid("web"), pid);
    assert_eq!(workloads.history("web").len(), 1);
}
