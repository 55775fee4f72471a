//! Sentences of the document that describes Master Control's daemon, each as a test named after its
//! section. `docs/conformance/master-control.md` says which sentence is shown where.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::rig::{
    Alone, Barrier, DEADLINE, Rig, has_python, is_running, kill, skipped, until, until_within,
};

const SLEEPER: &str = "{name: web, mode: forever, command: [sleep, '100000']}";

fn history(alone: &Alone<'_>, name: &str) -> Vec<Value> {
    alone.json(&["history", name])["items"].as_array().unwrap().clone()
}

#[test]
fn component_responsibilities_orchestrator() {
    let rig = Rig::new();
    let text = "workloads:
        - {name: web, mode: forever, command: [sleep, '100000'], health: [{check: {exec: ['true']}, interval: 200ms}]}
        - {name: api, mode: forever, command: [sleep, '100000'], depends: [{workload: web, condition: healthy}]}
        - {name: tick, mode: {schedule: {cron: '* * * * * *'}}, command: ['true']}";
    let mut alone = Alone::start(&rig, &[("all.yaml", text)]);
    let names: Vec<String> = alone.list().into_keys().collect();
    assert_eq!(names, ["api", "tick", "web"], "the registry is filled");
    let pids = [alone.pid("web"), alone.pid("api")];
    assert!(pids.iter().all(|pid| is_running(*pid)), "runners run");
    assert_eq!(alone.list()["web"]["status"]["health"], "healthy", "checks are asked");
    until("the schedule fires", || (alone.list()["tick"]["launched"] != 0).then_some(()));
    assert!(alone.data_dir.join("agent.sock").exists(), "the socket is open");

    alone.run(&["shutdown", "--runs", "stop"]);
    assert_eq!(alone.process.wait_within(DEADLINE).0, 0, "the process itself ends as well");
    assert!(pids.iter().all(|pid| !is_running(*pid)));
    assert!(!alone.data_dir.join("agent.sock").exists());
}

#[test]
fn component_responsibilities_config_loader() {
    let rig = Rig::new();
    let dir = rig.path("workloads");
    std::fs::create_dir_all(dir.join("deep/deeper")).unwrap();
    std::fs::write(dir.join("deep/deeper/one.yml"), "{name: one, command: ['true']}").unwrap();
    std::fs::write(dir.join("notes.txt"), "{ this is : no [ workload").unwrap();
    std::fs::write(dir.join("web.yaml.orig"), "{ nor is : [ this").unwrap();
    let two = "workloads:\n- {name: two, command: ['true'], tags: [a]}\n- {name: three, command: ['true']}\n";
    let alone = Alone::start(
        &rig,
        &[("two.yaml", two), ("web.yaml", SLEEPER), ("daemon.yaml", "fleet: {enabled: false}\n")],
    );
    let names: Vec<String> = alone.list().into_keys().collect();
    assert_eq!(names, ["one", "three", "two", "web"]);
    let pid = alone.pid("web");
    let spec = alone.json(&["show", "web"])["spec"].clone();
    assert_eq!(spec["command"], json!(["sleep", "100000"]));
    alone.write("web.yaml", "{name: web, mode: forever, command: [sleep, '5']}");
    assert_eq!(alone.json(&["show", "web"])["spec"], spec, "what was read stays as it was read");
    assert_eq!(alone.pid("web"), pid);
}

#[test]
fn component_responsibilities_registry() {
    let rig = Rig::new();
    let each: String = (0..20).map(|n| format!("- {{name: w{n}, command: ['true']}}\n")).collect();
    let alone = Alone::start(&rig, &[("all.yaml", &format!("workloads:\n{each}"))]);
    let look = || -> BTreeSet<usize> {
        let list = || alone.command(&json!({ "command": "list" }))["workloads"].clone();
        (0..60).map(|_| list().as_array().unwrap().len()).collect()
    };
    let seen: BTreeSet<usize> = std::thread::scope(|scope| {
        let lookers: Vec<_> = (0..4).map(|_| scope.spawn(look)).collect();
        for _ in 0..10 {
            alone.write("more.yaml", "{name: more, command: ['true']}");
            assert_eq!(alone.json(&["reload"])["added"], json!(["more"]));
            alone.remove("more.yaml");
            assert_eq!(alone.json(&["reload"])["removed"], json!(["more"]));
        }
        lookers.into_iter().flat_map(|looker| looker.join().unwrap()).collect()
    });
    assert!(seen.iter().all(|count| [20, 21].contains(count)), "{seen:?}");
    until("what was unregistered is gone", || (!alone.list().contains_key("more")).then_some(()));
    assert_eq!(alone.json(&["show", "w7"])["name"], "w7");
    alone.try_run(&["show", "more"]).must(3);
}

#[test]
fn component_responsibilities_runner() {
    let rig = Rig::new();
    let fails = "{name: fails, mode: forever, command: [sh, -c, 'exit 7'], restart: {delay: 100ms, maxDelay: 200ms}}";
    let alone = Alone::start(&rig, &[("web.yaml", SLEEPER), ("fails.yaml", fails)]);
    let pid = alone.pid("web");
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    assert_eq!(words, b"sleep\x00100000\x00", "the pid is the program's own");
    let web = alone.list().remove("web").unwrap();
    assert_eq!(web["launched"], 1);
    assert!(web["timeStarted"].is_string() && web["timeEnded"].is_null(), "{web}");
    let fails = until("it has failed a few times", || {
        let fails = alone.list().remove("fails")?;
        (fails["launched"].as_u64()? >= 3).then_some(fails)
    });
    assert!(fails["status"]["failures"].as_u64().unwrap() >= 2, "{fails}");
    assert!(fails["timeEnded"].is_string(), "{fails}");
    let said = alone.command(&json!({ "command": "status", "name": "fails" }));
    assert_eq!(said["last_error"], "exit code 7", "{said}");
    assert!(said["run_count"].as_u64().unwrap() >= 3 && said["last_stopped"].is_string(), "{said}");
}

#[test]
fn component_responsibilities_resource_limits() {
    let rig = Rig::new();
    let script = "nice; ulimit -n; ulimit -v; exec sleep 100000";
    let one = |name: &str, limits: &str| {
        format!(
            "- {{name: {name}, mode: forever, command: [sh, -c, '{script}'], limits: {limits}}}\n"
        )
    };
    let text = format!("workloads:\n{}{}", one("free", "{}"), one("bound", "{nice: 7, files: 64}"));
    let alone = Alone::start(&rig, &[("all.yaml", &text)]);
    let said = |name: &str| -> Vec<String> {
        alone.pid(name);
        until(&format!("{name} has spoken"), || {
            let said: Vec<String> = alone.run(&["logs", name]).lines().map(str::to_owned).collect();
            (said.len() == 3).then_some(said)
        })
    };
    assert_eq!(said("bound")[..2], ["7", "64"]);
    let free = said("free");
    assert_eq!(
        (free[0].as_str(), free[2].as_str()),
        ("0", "unlimited"),
        "none where none is asked for"
    );
}

#[test]
fn component_responsibilities_scheduler() {
    let rig = Rig::new();
    let tick = "{name: tick, mode: {schedule: {cron: '*/2 * * * * *'}}, command: ['true']}";
    let alone = Alone::start(&rig, &[("tick.yaml", tick)]);
    let next = alone.json(&["next", "tick", "-n", "1"])["items"][0]["time"].clone();
    let fired = until("the time that was foretold has come", || {
        let runs = history(&alone, "tick");
        runs.iter().find(|run| run["fire"] == next).cloned()
    });
    assert_eq!(fired["cause"], "schedule", "{fired}");
    let seconds = next.as_str().unwrap().split([':', '.', 'Z']).nth(2).unwrap().to_owned();
    assert_eq!(seconds.parse::<u32>().unwrap() % 2, 0, "{next}");
    until("it fires again", || (history(&alone, "tick").len() >= 3).then_some(()));
    let fires: Vec<Value> = history(&alone, "tick").iter().map(|run| run["fire"].clone()).collect();
    let distinct: BTreeSet<&str> = fires.iter().map(|fire| fire.as_str().unwrap()).collect();
    assert_eq!(distinct.len(), fires.len(), "{fires:?}");
}

#[test]
fn component_responsibilities_health_checker() {
    if !has_python() {
        return skipped("there is no python3");
    }
    let rig = Rig::new();
    let full = "import time; held = b'x' * (90 << 20); time.sleep(100000)";
    let text = format!(
        "workloads:
        - {{name: once, command: [sleep, '100000']}}
        - {{name: full, mode: forever, limits: {{memory: 100MiB}}, command: [python3, -c, \"{full}\"]}}
        - {{name: ill, mode: forever, command: [sleep, '100000'], restart: {{delay: 0s}}, health: [{{check: {{exec: [test, -e, '{}']}}, interval: 100ms, unhealthyAfter: 2}}]}}",
        rig.path("well").display()
    );
    std::fs::write(rig.path("well"), "").unwrap();
    let alone = Alone::start(&rig, &[("all.yaml", &text)]);
    kill(alone.pid("once"), Signal::KILL);
    let once = alone.wait_phase("once", "failed");
    assert_eq!(once["status"]["lastExit"]["signal"], 9, "{once}");
    assert_eq!(alone.command(&json!({ "command": "status", "name": "once" }))["status"], "failed");

    let ill = alone.pid("ill");
    until("it is well", || (alone.list()["ill"]["status"]["health"] == "healthy").then_some(()));
    std::fs::remove_file(rig.path("well")).unwrap();
    until("what is ill is replaced", || {
        let view = alone.list().remove("ill")?;
        (view["pid"].as_u64()? != u64::from(ill)).then_some(())
    });
    let ended = history(&alone, "ill").pop().unwrap();
    assert_eq!(ended["exit"]["reason"], "unhealthy", "{ended}");

    let warned = until_within(Duration::from_secs(150), "memory runs short", || {
        let full = alone.list().remove("full")?;
        full["status"]["warning"].as_str().map(str::to_owned)
    });
    assert!(warned.contains("% of its limit of 100MiB"), "{warned}");
    assert_eq!(alone.list()["full"]["launched"], 1, "a warning is no end");
}

#[test]
fn component_responsibilities_ipc_server() {
    let rig = Rig::new();
    let talker = "{name: web, mode: forever, command: [sh, -c, 'echo hello; exec sleep 100000']}";
    let mut alone = Alone::start(&rig, &[("web.yaml", talker)]);
    alone.pid("web");
    until("it has spoken", || (alone.run(&["logs", "web"]) == "hello\n").then_some(()));
    let named = |command: &str| json!({ "command": command, "name": "web" });
    for question in [
        json!({ "command": "list" }),
        named("start"),
        named("stop"),
        named("start"),
        named("restart"),
        json!({ "command": "reload-configs" }),
    ] {
        let answer = alone.command(&question);
        assert_eq!(answer["status"], "ok", "{question}: {answer}");
    }
    assert_eq!(alone.command(&named("status"))["status"], "running");
    let logs = || alone.command(&json!({ "command": "logs", "name": "web", "lines": 2 }));
    until("all runs have spoken", || (logs()["lines"] == json!(["hello", "hello"])).then_some(()));
    assert_eq!(alone.command(&json!({ "command": "shutdown" }))["status"], "ok");
    assert_eq!(alone.process.wait_within(DEADLINE).0, 0);
}

#[test]
fn component_responsibilities_database() {
    let rig = Rig::new();
    let text = "workloads:
        - {name: web, mode: forever, command: [sleep, '100000']}
        - {name: thrice, mode: {times: 3}, command: [sh, -c, 'exit 4'], restart: {delay: 10ms}}
        - {name: once, command: [sh, -c, 'exit 5']}";
    let mut alone = Alone::start(&rig, &[("all.yaml", text)]);
    alone.pid("web");
    alone.wait_phase("thrice", "completed");
    alone.wait_phase("once", "failed");
    let books = |alone: &Alone<'_>| {
        let runs = [history(alone, "thrice"), history(alone, "once")];
        (runs, alone.list())
    };
    let before = books(&alone);
    assert_eq!(before.0[0].len(), 3);
    for run in &before.0[0] {
        assert_eq!(run["exit"]["code"], 4, "{run}");
        assert!(run["duration"].is_string() && run["timeStarted"].is_string(), "{run}");
    }
    for _ in 0..3 {
        alone.process.kill();
        alone.again();
        assert_eq!(books(&alone), before, "nothing is lost, and nothing runs again");
    }
}

#[test]
fn data_model_timeout_and_restart_delay() {
    if !has_python() {
        return skipped("there is no python3");
    }
    let rig = Rig::new();
    std::fs::write(rig.path("slow.py"), "import time\ndef run():\n    time.sleep(100000)\n")
        .unwrap();
    let slow = "name: slow\ntype: service\nrun_mode: forever\nmodule: slow\ntimeout: 0.5\nrestart_delay: 0.3\n";
    let alone = Alone::start(&rig, &[("slow.yaml", slow)]);
    let runs = until("it was stopped twice", || {
        Some(history(&alone, "slow")).filter(|runs| runs.len() >= 2)
    });
    for run in &runs {
        assert_eq!(run["exit"]["reason"], "timed-out", "{run}");
    }
    let micros = |time: &Value| -> i64 {
        let time: hostler_model::Timestamp = time.as_str().unwrap().parse().unwrap();
        time.micros()
    };
    let (later, earlier) = (&runs[runs.len() - 2], &runs[runs.len() - 1]);
    let waited = micros(&later["timeStarted"]) - micros(&earlier["timeEnded"]);
    assert!(waited >= 250_000, "{waited} µs between the two");
}

#[test]
fn data_model_workload_state() {
    let rig = Rig::new();
    let (hold, trapped) = (Barrier::new(&rig, "hold"), rig.path("trapped"));
    let text = format!(
        "workloads:
        - {{name: registered, mode: {{schedule: {{cron: '@yearly'}}}}, command: ['true']}}
        - {{name: starting, command: [sleep, '100000'], hooks: {{preStart: {{command: [sh, -c, '{}; true']}}}}}}
        - {{name: running, mode: forever, command: [sleep, '100000']}}
        - {{name: stopping, mode: forever, stop: {{grace: 1h}}, command: [sh, -c, \"trap '' TERM; touch {}; while :; do sleep 0.05; done\"]}}
        - {{name: stopped, mode: forever, command: [sleep, '100000']}}
        - {{name: failed, command: ['false']}}
        - {{name: completed, command: ['true']}}",
        hold.wait(),
        trapped.display(),
    );
    let alone = Alone::start(&rig, &[("all.yaml", &text)]);
    let stopping = alone.pid("stopping");
    until("its trap is set", || trapped.exists().then_some(()));
    alone.pid("stopped");
    alone.run(&["stop", "stopped"]);
    std::thread::scope(|scope| {
        scope.spawn(|| alone.ask(r#"{"command":"stop","name":"stopping"}"#));
        let states =
            ["registered", "starting", "running", "stopping", "stopped", "failed", "completed"];
        for name in states {
            let view = until(&format!("{name} is so"), || {
                let view = alone.command(&json!({ "command": "status", "name": name }));
                (view["status"] == name).then_some(view)
            });
            let has_pid = matches!(name, "running" | "stopping");
            assert!(view["pid"].is_u64() == has_pid || name == "starting", "{view}");
            let is_failed = view["consecutive_failures"] != 0;
            assert_eq!(is_failed, name == "failed", "{view}");
            assert!(view["last_error"].is_string() || name != "failed", "{view}");
            let is_well = matches!(name, "registered" | "running" | "completed");
            assert!(view["last_error"].is_null() || !is_well, "{view}");
        }
        kill(stopping, Signal::KILL);
    });
    until("who waits there goes on", || {
        hold.open();
        (alone.list()["starting"]["status"]["phase"] == "running").then_some(())
    });
}

#[test]
fn run_mode_strategies_forever_unless_stopped_by_hand() {
    let rig = Rig::new();
    let text = "workloads:
        - {name: quits, mode: forever, command: ['true'], restart: {delay: 50ms, maxDelay: 100ms}}
        - {name: counted, mode: {times: 2}, command: [sleep, '100000']}";
    let mut alone = Alone::start(&rig, &[("all.yaml", text)]);
    until("a success is no reason to stop", || {
        (alone.list()["quits"]["launched"].as_u64()? >= 4).then_some(())
    });
    alone.run(&["stop", "quits"]);
    let launched = alone.wait_phase("quits", "stopped")["launched"].clone();
    alone.process.kill();
    alone.again();
    assert_eq!(alone.wait_phase("quits", "stopped")["launched"], launched);
    alone.run(&["start", "quits"]);
    until("it goes on when asked to", || {
        (alone.list()["quits"]["launched"] != launched).then_some(())
    });

    for number in [1, 2] {
        let pid = alone.pid("counted");
        assert_eq!(alone.list()["counted"]["launched"], number);
        kill(pid, Signal::KILL);
        until("that one is over", || (!is_running(pid)).then_some(()));
    }
    let counted = alone.wait_phase("counted", "completed");
    assert_eq!((&counted["launched"], &counted["pid"]), (&json!(2), &Value::Null));
}

#[test]
fn logging_of_the_daemon_is_structured() {
    let rig = Rig::new();
    let alone = Alone::start_with(&rig, &[("web.yaml", SLEEPER)], &["--log-format", "json"]);
    alone.pid("web");
    alone.write("web.yaml", "name: [");
    alone.try_run(&["reload"]).must(2);
    let log = alone.process.log();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        for key in ["ts", "level", "msg", "target"] {
            assert!(line[key].is_string(), "{key}: {line}");
        }
    }
    let mistake = lines.iter().find(|line| line["msg"] == "mistake in a workload file").unwrap();
    assert_eq!((&mistake["level"], &mistake["line"]), (&json!("ERROR"), &json!(1)), "{mistake}");
}
