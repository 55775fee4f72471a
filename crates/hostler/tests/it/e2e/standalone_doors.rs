//! The doors of an agent without a server: its socket in both spellings, its HTTP API, and what can be
//! read of its workloads' output.

use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::rig::{Alone, DEADLINE, Rig, birth, has_python, is_running, skipped, until};

const SLEEPER: &str = "{name: web, mode: forever, command: [sleep, '100000']}";

/// A directory as Master Control has it: modules beside a folder of files.
fn master_control(rig: &Rig) -> Alone<'_> {
    let modules = rig.path("jobs");
    std::fs::create_dir(&modules).unwrap();
    std::fs::write(modules.join("__init__.py"), "").unwrap();
    let module = "import asyncio, sys, time\n\ndef run(greeting='hi', **_):\n    print(greeting, flush=True)\n    time.sleep(100000)\n\nasync def count(upto=2):\n    await asyncio.sleep(0)\n    print('counted', upto, flush=True)\n";
    std::fs::write(modules.join("work.py"), module).unwrap();
    Alone::start(
        rig,
        &[
            (
                "agents.yaml",
                "workloads:\n  - name: hello_agent\n    type: agent\n    run_mode: forever\n    module: jobs.work\n    params: {greeting: 'good day'}\n    restart_delay: 0.1\n    memory_limit_mb: 4096\n    cpu_nice: 5\n    tags: [demo]\n    version: '1.2'\n",
            ),
            (
                "scripts.yaml",
                "name: counter\ntype: script\nrun_mode: n_times\nmax_runs: 2\nmodule: jobs.work\nentry_point: count\nparams: {upto: 3}\nrestart_delay: 0\n",
            ),
            (
                "nightly.yaml",
                "name: nightly\ntype: script\nrun_mode: schedule\nschedule: '0 3 * * *'\nmodule: jobs.work\nentry_point: count\n",
            ),
            ("daemon.yaml", "fleet: {enabled: false}\n"),
        ],
    )
}

#[test]
fn data_model() {
    if !has_python() {
        return skipped("there is no python3");
    }
    let rig = Rig::new();
    let alone = master_control(&rig);
    let status = |name: &str| alone.command(&json!({ "command": "status", "name": name }));
    let counter = until("the counter has counted", || {
        Some(status("counter")).filter(|counter| counter["status"] == "completed")
    });
    assert_eq!(counter["run_count"], 2, "{counter}");
    assert_eq!((&counter["type"], &counter["max_runs"]), (&json!("script"), &json!(2)));
    assert!(counter["pid"].is_null() && counter["last_stopped"].is_string());
    assert_eq!(counter["last_error"], Value::Null);
    let agent = until("the agent runs", || {
        Some(status("hello_agent")).filter(|agent| agent["status"] == "running")
    });
    let expected = json!({
        "name": "hello_agent", "type": "agent", "run_mode": "forever", "module": "jobs.work",
        "entry_point": "run", "tags": ["demo"], "version": "1.2", "memory_limit_mb": 4096,
        "cpu_nice": 5, "run_count": 1, "consecutive_failures": 0,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&agent[field], value, "{field}: {agent}");
    }
    let nightly = status("nightly");
    assert_eq!(
        (&nightly["status"], &nightly["run_mode"]),
        (&json!("registered"), &json!("schedule"))
    );
    assert_eq!(nightly["schedule"], "0 3 * * *");
    let history = alone.json(&["history", "counter"]);
    for run in history["items"].as_array().unwrap() {
        assert_eq!(run["exit"]["code"], 0, "{run}");
        assert!(run["timeStarted"].is_string() && run["duration"].is_string(), "{run}");
    }
    let env = alone.command(&json!({ "command": "workload_env", "name": "hello_agent" }));
    assert_eq!(env["env"]["MCTL_WORKLOAD_NAME"], "hello_agent", "{env}");
    assert_eq!(env["params"], json!({ "greeting": "good day" }));
    until("its words are there", || {
        let said = alone.command(&json!({ "command": "logs", "name": "hello_agent" }));
        (said["lines"] == json!(["good day"])).then_some(())
    });
}

#[test]
fn cli_daemon_communication() {
    let rig = Rig::new();
    let mut alone = Alone::start(&rig, &[("web.yaml", SLEEPER)]);
    let pid = alone.pid("web");
    let socket = std::fs::metadata(alone.data_dir.join("agent.sock")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o660);

    let list = alone.command(&json!({ "command": "list" }));
    assert_eq!(list["status"], "ok");
    let web = &list["workloads"][0];
    let fields =
        ["name", "type", "run_mode", "status", "pid", "run_count", "last_started", "last_error"];
    let present: Vec<&str> = web.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(present, fields);
    assert_eq!((&web["status"], &web["pid"]), (&json!("running"), &json!(pid)));
    let named =
        |command: &str, name: &str| alone.command(&json!({ "command": command, "name": name }));
    let said = |message: &str| json!({ "status": "ok", "message": message });
    assert_eq!(named("start", "web"), said("Workload 'web' is already running"));
    assert_eq!(named("stop", "web"), said("Stopped 'web'"));
    assert!(!is_running(pid));
    assert_eq!(named("stop", "web"), said("Workload 'web' is not running"));
    assert_eq!(named("start", "web"), said("Started 'web'"));
    assert_eq!(named("restart", "web"), said("Started 'web'"));
    let unknown = json!({ "status": "error", "error": "Unknown workload: x" });
    assert_eq!(named("start", "x"), unknown);
    assert_eq!(named("status", "x"), unknown);
    let exec = json!({
        "command": "exec", "name": "web", "exec_command": ["sh", "-c", "echo out; echo err >&2; exit 3"],
    });
    let done = json!({ "status": "ok", "stdout": "out\n", "stderr": "err\n", "exit_code": 3 });
    assert_eq!(alone.command(&exec), done);
    let slow = json!({ "command": "exec", "name": "web", "exec_command": ["sleep", "100000"], "timeout": 0.2 });
    assert_eq!(alone.command(&slow)["status"], "error");
    for command in ["reload", "reload-configs"] {
        let reloaded = alone.command(&json!({ "command": command }));
        assert_eq!(reloaded["changes"]["unchanged"], json!(["web"]), "{reloaded}");
    }
    alone.write("bad.yaml", "name: [");
    let refused = alone.command(&json!({ "command": "reload" }));
    assert_eq!(refused["status"], "error");
    assert!(refused["mistakes"][0]["file"].as_str().unwrap().ends_with("bad.yaml"), "{refused}");
    alone.remove("bad.yaml");

    for (wrong, word) in [
        ("", "not understood"),
        ("rubbish", "not understood"),
        ("{}", "not understood"),
        (r#"{"ask":"fly"}"#, "fly"),
        (r#"{"command":"fly"}"#, "Unknown command: fly"),
        (r#"{"command":"start"}"#, "needs `name`"),
        (r#"{"ask":"exec","name":"web","command":["true"]}"#, "descriptors"),
        (r#"{"ask":"logs","name":"web","grep":"("}"#, "regular expression"),
    ] {
        let answer = alone.ask(wrong);
        assert!(answer.contains("error") && answer.contains(word), "{wrong}: {answer}");
    }
    let ours: Value = serde_json::from_str(&alone.ask(r#"{"ask":"list"}"#)).unwrap();
    assert_eq!(ours["list"][0]["status"]["phase"], "running");

    let last = alone.pid("web");
    assert_eq!(alone.command(&json!({ "command": "shutdown" })), said("Shutting down"));
    assert_eq!(alone.process.wait_within(DEADLINE).0, 0);
    assert!(!is_running(last));
    assert!(!alone.data_dir.join("agent.sock").exists());
    assert_eq!(alone.try_run(&["status"]).code, 8);
}

#[test]
fn cli_daemon_communication_exec() {
    let rig = Rig::new();
    let text = "{name: web, mode: forever, env: {COLOUR: blue}, command: [sleep, '100000']}";
    let alone = Alone::start(&rig, &[("web.yaml", text)]);
    alone.pid("web");
    let cli =
        crate::rig::Cli::new(&rig).with("HOSTLER_AGENT_DATA_DIR", alone.data_dir.to_str().unwrap());
    let script = "echo $COLOUR; cat; echo wrong >&2; exit 42";
    let done = cli.run_with(&["agent", "exec", "web", "--", "sh", "-c", script], "from stdin\n");
    assert_eq!(
        (done.code, done.text().as_str(), done.err.as_str()),
        (42, "blue\nfrom stdin\n", "wrong\n")
    );
    alone.try_run(&["exec", "nobody", "--", "true"]).must(3);
    alone.try_run(&["exec", "web", "--timeout", "200ms", "--", "sleep", "100000"]).must(9);

    let mark = rig.path("mark");
    let script = format!("echo $$ > {}; sleep 100000", mark.display());
    let (mut asker, _) = alone.follow("exec", &["exec", "web", "--", "sh", "-c", &script]);
    let pid: u32 =
        until("the command runs", || std::fs::read_to_string(&mark).ok()?.trim().parse().ok());
    let born = birth(pid).unwrap();
    asker.kill();
    until("the command ends with who asked", || (birth(pid).as_ref() != Some(&born)).then_some(()));
    alone.run(&["stop", "web"]);
    alone.try_run(&["exec", "web", "--", "true"]).must(5);
}

#[test]
fn logging() {
    let rig = Rig::new();
    let text = r#"
workloads:
- name: web
  mode: forever
  command:
  - sh
  - -c
  - |
    printf '{"level":"error","msg":"run %s"}\n' $HOSTLER_RUN_NUMBER
    echo plain $HOSTLER_RUN_NUMBER
    echo wrong >&2
    exec sleep 100000
- {name: other, command: [echo, elsewhere]}
"#;
    let mut alone = Alone::start(&rig, &[("web.yaml", text)]);
    alone.pid("web");
    let lines = |words: &[&str]| -> Vec<String> {
        let said = alone.run(&[&["logs", "web"], words].concat());
        said.lines().map(str::to_owned).collect()
    };
    let first = r#"{"level":"error","msg":"run 1"}"#;
    until("the first run has spoken", || (lines(&[]) == [first, "plain 1"]).then_some(()));
    let (mut follower, seen) = alone.follow("follower", &["logs", "web", "-f", "--tail", "3"]);
    let seen = || std::fs::read_to_string(&seen).unwrap_or_default();
    until("the follower sees the first run", || seen().contains("plain 1").then_some(()));
    alone.run(&["restart", "web"]);
    until("the follower sees the next run", || seen().contains("plain 2").then_some(()));
    assert_eq!(follower.ended(), None);
    assert_eq!(lines(&["--tail", "1", "--stream", "stdout"]), ["plain 2"]);
    assert_eq!(lines(&["--grep", "plain"]), ["plain 1", "plain 2"]);
    assert_eq!(lines(&["--grep", "plain", "--invert", "--stream", "stdout"]).len(), 2);
    assert_eq!(lines(&["--level", "warn"]).len(), 2);
    assert_eq!(lines(&["--since", "1h"]).len(), 4);
    assert!(lines(&["--until", "1h"]).is_empty());
    assert!(lines(&["-t", "--tail", "1", "--stream", "stdout"])[0].starts_with("20"));
    let shown = alone.try_run(&["logs", "web"]).must(0);
    assert!(shown.err.contains("wrong") && shown.err.contains("run 1 ended"), "{}", shown.err);
    let records = alone.run(&["logs", "web", "-o", "jsonl"]);
    let kinds: Vec<Value> = records.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(kinds.iter().any(|record| record["kind"] == "mark"), "{records}");
    assert!(kinds.iter().any(|record| record["stream"] == "stderr"), "{records}");
    assert_eq!(alone.run(&["logs", "other"]), "elsewhere\n");
    alone.try_run(&["logs", "nobody"]).must(3);

    alone.write("web.yaml", "{name: other, command: [echo, elsewhere]}");
    alone.run(&["reload"]);
    assert_eq!(follower.wait_within(DEADLINE).0, 0, "following ends with the workload");
    alone.end(Signal::TERM);
}

#[test]
fn component_responsibilities_client_http_api() {
    let rig = Rig::new();
    let mut alone = Alone::start_with(&rig, &[("web.yaml", SLEEPER)], &["--http", "127.0.0.1:0"]);
    let pid = alone.pid("web");
    let token = Some("open sesame");
    let mut ask = |method: &str, path: &str, token: Option<&str>| -> (u16, Value) {
        let (status, body) = alone.http(method, path, token);
        (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
    };
    let health = ask("GET", "/api/health", None);
    assert_eq!((health.0, &health.1["status"]), (200, &json!("ok")));
    for path in ["/api/list", "/api/status/web", "/metrics", "/", "/api/nothing"] {
        assert_eq!(ask("GET", path, None).0, 401, "{path}");
        assert_eq!(ask("GET", path, Some("open sesam")).0, 401, "{path}");
    }
    assert_eq!(ask("POST", "/api/stop/web", None).0, 401);
    let list = ask("GET", "/api/list", token).1;
    assert_eq!(
        (&list["workloads"][0]["name"], &list["workloads"][0]["pid"]),
        (&json!("web"), &json!(pid))
    );
    let status = ask("GET", "/api/status/web", token).1;
    assert_eq!((&status["status"], &status["run_mode"]), (&json!("running"), &json!("forever")));
    assert_eq!(ask("GET", "/api/status/x", token).0, 404);
    assert_eq!(ask("GET", "/api/nothing", token).0, 404);
    assert_eq!(ask("GET", "/api/start/web", token).0, 405);
    let said =
        |success: bool, message: &str| (200, json!({ "success": success, "message": message }));
    assert_eq!(
        ask("POST", "/api/start/web", token),
        said(false, "Workload 'web' is already running")
    );
    assert_eq!(ask("POST", "/api/stop/web", token), said(true, "Stopped 'web'"));
    assert_eq!(ask("POST", "/api/start/web", token), said(true, "Started 'web'"));
    assert_eq!(ask("POST", "/api/restart/web", token), said(true, "Started 'web'"));
    assert_eq!(ask("POST", "/api/start/x", token).0, 404);
    let logs = ask("GET", "/api/logs/web?lines=5", token);
    assert_eq!(logs, (200, json!({ "name": "web", "lines": [] })));
    assert_eq!(ask("GET", "/api/logs/web?lines=0", token).0, 400);
    let (status, reloaded) = ask("POST", "/api/reload", token);
    assert_eq!((status, &reloaded["success"]), (200, &json!(true)));
    assert_eq!(reloaded["changes"]["unchanged"], json!(["web"]));
    let (status, metrics) = ask("GET", "/metrics", token);
    assert_eq!(status, 200);
    let metrics = metrics.as_str().unwrap().to_owned();
    for sample in [
        "hostler_workload_up{workload=\"web\",project=\"default\"} 1",
        "hostler_workload_memory_bytes{",
        "hostler_agent_memory_bytes ",
    ] {
        assert!(metrics.contains(sample), "{sample}: {metrics}");
    }
    std::fs::write(rig.path("workloads/bad.yaml"), "name: [").unwrap();
    let (status, refused) = ask("POST", "/api/reload", token);
    assert_eq!((status, &refused["success"]), (409, &json!(false)), "{refused}");
}

#[test]
fn component_responsibilities_no_http_api_without_a_token() {
    let rig = Rig::new();
    std::fs::create_dir(rig.path("workloads")).unwrap();
    std::fs::write(rig.path("workloads/web.yaml"), SLEEPER).unwrap();
    let token = rig.path("token");
    std::fs::write(&token, "\n").unwrap();
    let options = ["--http", "127.0.0.1:0", "--http-token-file", token.to_str().unwrap()];
    let mut process = Alone::spawn(&rig, &options.map(str::to_owned));
    assert_ne!(process.wait_within(DEADLINE).0, 0);
    assert!(process.log().contains("needs a token"), "{}", process.log());
    assert!(!rig.path("alone").join("agent.sock").exists());
}
