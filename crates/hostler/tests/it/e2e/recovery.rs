//! What becomes of workloads when processes crash, numbers of processes come around again, or a node is
//! silent; and what a server hears of a node in the meantime. Named after the sections of the document
//! that describes Master Control.

use std::collections::BTreeSet;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::rig::{
    Agent, Alone, BINARY, Cli, DEADLINE, Process, Rig, Server, birth, command, is_root, is_running,
    kill, skipped, until,
};

#[test]
fn error_handling_and_recovery_process_crashes() {
    let rig = Rig::new();
    let text = "workloads:
        - {name: web, mode: forever, command: [sleep, '100000'], restart: {delay: 0s}}
        - {name: once, command: [sleep, '100000']}
        - {name: thrice, mode: {times: 3}, command: [sh, -c, 'kill -SEGV $$'], restart: {delay: 10ms}}";
    let alone = Alone::start(&rig, &[("all.yaml", text)]);
    for number in 1..=5 {
        let pid = alone.pid("web");
        kill(pid, Signal::KILL);
        until("its place is taken", || {
            let web = alone.list().remove("web")?;
            (web["status"]["phase"] == "running" && web["launched"] == number + 1).then_some(())
        });
        assert!(!is_running(pid));
    }
    kill(alone.pid("once"), Signal::KILL);
    let once = alone.wait_phase("once", "failed");
    assert_eq!(once["launched"], 1, "its mode says that no other follows: {once}");
    let thrice = alone.wait_phase("thrice", "completed");
    assert_eq!(thrice["launched"], 3, "{thrice}");
    let runs = alone.json(&["history", "thrice"])["items"].as_array().unwrap().clone();
    assert!(runs.iter().all(|run| run["exit"]["signal"] == 11), "{runs:?}");
    let runs = alone.json(&["history", "web"])["items"].as_array().unwrap().clone();
    assert!(runs.len() == 5 && runs.iter().all(|run| run["exit"]["signal"] == 9), "{runs:?}");
}

#[test]
fn error_handling_and_recovery_memory_limit_exceeded() {
    let rig = Rig::new();
    let text = "workloads:
        - {name: neighbour, mode: forever, command: [sleep, '100000']}
        - {name: hog, limits: {memory: 32MiB}, command: [tail, /dev/zero]}";
    let alone = Alone::start(&rig, &[("all.yaml", text)]);
    let born = birth(alone.pid("neighbour"));
    let hog = alone.wait_phase("hog", "failed");
    let exit = &hog["status"]["lastExit"];
    let is_refused = exit["reason"] == "exited" && exit["code"] == 1;
    assert!(exit["reason"] == "out-of-memory" || is_refused, "{hog}");
    assert_eq!(birth(alone.pid("neighbour")), born);
}

/// In a namespace of its own, where numbers of processes can be chosen: an agent and its workload are
/// killed with everything that knows of them, somebody else gets the workload's number, and another
/// agent begins.
const REUSE: &str = r#"
set -eu
binary=$1 dir=$2
export HOSTLER_AGENT_DATA_DIR=$dir/alone
up() {
    "$binary" agent up --standalone "$dir/workloads" >> "$dir/logs/inner" 2>&1 &
    agent=$!
    until "$binary" agent ls > "$dir/listed" 2>&1; do sleep 0.05; done
}
runs() { wc -l < "$dir/pids"; }
until_runs() { while [ "$(runs)" -lt "$1" ]; do sleep 0.05; done; }
: > "$dir/pids"
up
until_runs 1
pid=$(head -n 1 "$dir/pids")
shim=$(cut -d ' ' -f 4 "/proc/$pid/stat")
kill -9 "$agent" "$shim" "$pid"
while [ -e "/proc/$pid" ]; do sleep 0.05; done
stranger=0
while [ "$stranger" -ne "$pid" ]; do
    echo $((pid - 1)) > /proc/sys/kernel/ns_last_pid
    setsid sleep 200000 &
    stranger=$!
    [ "$stranger" -eq "$pid" ] || kill -9 "$stranger"
done
alive() {
    if grep -q 200000 "/proc/$pid/cmdline"; then echo "$1: the stranger lives"; else echo "$1: GONE"; fi
}
up
until_runs 2
alive "after the new agent has looked around"
"$binary" agent history web -o json > "$dir/history.json"
"$binary" agent ls -o json > "$dir/list.json"
"$binary" agent restart web > /dev/null
alive "after a restart of the workload"
"$binary" agent stop web > /dev/null
alive "after a stop"
"$binary" agent shutdown --runs stop > /dev/null
wait "$agent" || true
alive "after the agent"
echo "number $pid"
"#;

#[test]
fn error_handling_and_recovery_pid_reuse() {
    if !is_root() {
        return skipped("a namespace of processes needs root");
    }
    let rig = Rig::new();
    std::fs::create_dir(rig.path("workloads")).unwrap();
    let text = format!(
        "{{name: web, mode: forever, command: [sh, -c, 'echo $$ >> {}; exec sleep 100000']}}",
        rig.path("pids").display()
    );
    std::fs::write(rig.path("workloads/web.yaml"), text).unwrap();
    let mut inside = command(&rig, "unshare");
    inside.args(["--pid", "--fork", "--mount-proc", "--kill-child=KILL", "sh", "-c", REUSE, "sh"]);
    inside.arg(BINARY).arg(&rig.dir);
    let mut inside = Process::spawn(&rig, "namespace", inside);
    let (code, _) = inside.wait_within(DEADLINE);
    let said = inside.log();
    assert_eq!(code, 0, "{said}");
    assert_eq!(said.matches("the stranger lives").count(), 4, "{said}");
    let read = |file: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(rig.path(file)).unwrap()).unwrap()
    };
    let stranger: u64 = said.trim().rsplit_once(' ').unwrap().1.parse().unwrap();
    let list = read("list.json");
    assert_ne!(list["items"][0]["pid"], stranger, "it is not taken for the workload: {list}");
    let history = read("history.json");
    let first = history["items"].as_array().unwrap().last().unwrap();
    assert_eq!(first["pid"], stranger, "{history}");
    assert_eq!(first["exit"]["reason"], "vanished", "{history}");
}

const PATIENCE: &str = "heartbeat = \"200ms\"\n[patience]\nstale_after = \"2s\"\noffline_after = \"6s\"\nlost_after = \"10m\"\n";

/// A server that soon notices, with one node.
fn installation(rig: &Rig) -> (Server, Cli<'_>, Agent) {
    let mut server = Server::configured(rig, "server", PATIENCE);
    let cli = server.first_login(rig);
    let agent = Agent::join(rig, &cli, &server, "node-1");
    (server, cli, agent)
}

fn apply(rig: &Rig, cli: &Cli<'_>, text: &str) {
    let file = rig.path("workload.yaml");
    std::fs::write(&file, text).unwrap();
    cli.ok(&["workload", "apply", "-f", file.to_str().unwrap()]);
}

fn placement(cli: &Cli<'_>, name: &str) -> Value {
    cli.json(&["workload", "get", name])["placements"][0].clone()
}

#[track_caller]
fn wait_phase(cli: &Cli<'_>, name: &str, phase: &str) -> Value {
    until(&format!("{name} is {phase}"), || {
        Some(placement(cli, name)).filter(|there| there["phase"] == phase)
    })
}

#[test]
fn error_handling_and_recovery_heartbeat_failures() {
    let rig = Rig::new();
    let (_server, cli, agent) = installation(&rig);
    apply(&rig, &cli, "{name: web, mode: forever, command: [sleep, '100000']}");
    let pid = wait_phase(&cli, "web", "running")["pid"].clone();
    let born = birth(u32::try_from(pid.as_u64().unwrap()).unwrap()).unwrap();
    let seen = || cli.json(&["node", "get", "node-1"])["timeSeen"].clone();
    let before = seen();
    agent.process.signal(Signal::STOP);
    for state in ["stale", "offline"] {
        cli.wait_node("node-1", state);
        assert_eq!(birth(born.0).as_ref(), Some(&born), "its workloads go on");
    }
    agent.process.signal(Signal::CONT);
    cli.wait_node("node-1", "online");
    until("it is heard of again", || (seen() != before).then_some(()));
    assert_eq!(wait_phase(&cli, "web", "running")["pid"], pid);
    assert_eq!(birth(born.0).as_ref(), Some(&born));
    let events = cli.json(&["event", "ls", "--object", "node"]);
    let kinds: Vec<&str> =
        events["items"].as_array().unwrap().iter().map(|e| e["kind"].as_str().unwrap()).collect();
    for kind in ["node.stale", "node.offline", "node.online"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
}

#[test]
fn component_responsibilities_heartbeat_reporter() {
    let rig = Rig::new();
    let (_server, cli, _agent) = installation(&rig);
    apply(
        &rig,
        &cli,
        "workloads:
        - {name: web, mode: forever, version: '1.2', command: [sh, -c, 'echo hello; exec sleep 100000']}
        - {name: fails, command: [sh, -c, 'exit 7']}",
    );
    let web = wait_phase(&cli, "web", "running");
    assert!(web["pid"].is_u64() && web["node"] == "node-1", "{web}");
    assert_eq!(wait_phase(&cli, "fails", "failed")["lastExit"]["code"], 7);
    let node = || cli.json(&["node", "get", "node-1"]);
    let first = until("its load is known", || {
        Some(node()).filter(|node| node["metrics"]["memoryUsed"].is_u64())
    });
    for metric in ["cpuRatio", "load1m", "memoryUsed", "diskUsed", "diskSize", "runsActive"] {
        assert!(first["metrics"][metric].is_number(), "{metric}: {first}");
    }
    assert!(first["agentVersion"].is_string(), "{first}");
    until("it is heard of again and again", || {
        (node()["timeSeen"] != first["timeSeen"]).then_some(())
    });

    // What is asked of a server is done on the node.
    assert_eq!(cli.ok(&["workload", "logs", "web"]), "hello\n");
    cli.ok(&["workload", "stop", "web", "--wait"]);
    assert!(!is_running(u32::try_from(web["pid"].as_u64().unwrap()).unwrap()));
    cli.ok(&["workload", "start", "web", "--wait"]);
    wait_phase(&cli, "web", "running");
}

#[test]
fn data_model_workload_event() {
    let rig = Rig::new();
    let (_server, cli, _agent) = installation(&rig);
    apply(
        &rig,
        &cli,
        "workloads:
        - {name: web, mode: forever, command: [sleep, '100000']}
        - {name: fails, command: [sh, -c, 'exit 7']}
        - {name: works, command: ['true']}",
    );
    wait_phase(&cli, "fails", "failed");
    wait_phase(&cli, "works", "completed");
    wait_phase(&cli, "web", "running");
    cli.ok(&["workload", "stop", "web", "--wait"]);
    let all = || cli.json(&["event", "ls", "--object", "workload"])["items"].clone();
    let wanted = ["workload.started", "workload.failed", "workload.completed", "workload.stopped"];
    let events = until("everything was told", || {
        let events = all();
        let kinds: BTreeSet<&str> =
            events.as_array()?.iter().map(|event| event["kind"].as_str().unwrap()).collect();
        wanted.iter().all(|kind| kinds.contains(kind)).then(|| events.clone())
    });
    for event in events.as_array().unwrap() {
        assert!(event["time"].is_string() && event["object"]["kind"] == "workload", "{event}");
    }
    let failed = events.as_array().unwrap().iter().find(|e| e["kind"] == "workload.failed");
    let failed = failed.unwrap();
    assert_eq!(failed["object"]["name"], "fails", "{failed}");
    assert!(failed["message"].as_str().unwrap().contains("exit code 7"), "{failed}");
}

#[test]
fn data_model_fleet() {
    let rig = Rig::new();
    let (_server, cli, _agent) = installation(&rig);
    apply(
        &rig,
        &cli,
        "workloads:
        - {name: web, mode: forever, version: '1.2', tags: [blue], command: [sleep, '100000']}
        - {name: fails, command: ['false']}",
    );
    wait_phase(&cli, "web", "running");
    wait_phase(&cli, "fails", "failed");
    let node = until("all is known of the node", || {
        let node = cli.json(&["node", "get", "node-1"]);
        let is_known = node["metrics"].is_object() && node["facts"].is_object();
        (is_known && node["state"] == "online").then_some(node)
    });
    assert_eq!(node["name"], "node-1");
    assert!(node["timeSeen"].is_string() && node["timeState"].is_string(), "{node}");
    assert!(node["facts"]["memory"].is_number() && node["facts"]["addresses"].is_array(), "{node}");
    let listed = cli.json(&["workload", "ls"])["items"].as_array().unwrap().clone();
    let phase = |name: &str| {
        let one = listed.iter().find(|one| one["name"] == name).unwrap();
        one["status"]["phase"].clone()
    };
    assert_eq!((phase("web"), phase("fails")), (json!("running"), json!("failed")));
    let web = cli.json(&["workload", "get", "web"]);
    assert_eq!((&web["spec"]["version"], &web["spec"]["tags"][0]), (&json!("1.2"), &json!("blue")));
}
