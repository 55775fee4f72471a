//! Tasks that cannot be, cannot run, or should not: each has a clear outcome, and what is in order
//! beside it goes on.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::rig::{Cli, Https, Rig, Server};

const TASKS: &str = "/api/v1/projects/default/tasks";
const BATCHES: &str = "/api/v1/projects/default/task-batches";
const ARRAYS: &str = "/api/v1/projects/default/task-arrays";

fn https(server: &Server, cli: &Cli<'_>) -> (Https, String) {
    let made = cli.json(&["token", "create", "raw", "--role", "admin"]);
    let secret = made["secret"].as_str().unwrap().to_owned();
    (server.https().token(&secret), secret)
}

/// Every mistake that was found: where, and what.
fn mistakes(problem: &Value) -> String {
    let errors = problem["errors"].as_array().cloned().unwrap_or_default();
    let said = errors.iter().map(|error| {
        let word = |field: &str| error[field].as_str().unwrap_or_default().to_owned();
        format!("{} {}", word("pointer"), word("detail"))
    });
    said.collect::<Vec<_>>().join("\n")
}

/// Everything that is said about why a task waits.
fn why(cli: &Cli<'_>, name: &str) -> String {
    cli.json(&["task", "explain", name]).to_string()
}

#[test]
fn impossible_requests_wait_with_the_reason_and_hold_nobody_up() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    let wishes: &[(&str, &[&str], &str)] = &[
        ("cores", &["--cores", "100000"], "cores"),
        ("memory", &["--memory", "1000TiB"], "memory"),
        ("disk", &["--disk", "100000TiB"], "disk"),
        ("gpus", &["--gpus", "1"], "GPU"),
        ("model", &["--gpus", "2,model=H200"], "GPU"),
        ("node", &["--node", "nowhere"], "nowhere"),
        ("numa", &["--target", "local:99"], "NUMA"),
        ("device", &["--target", "local::7"], "GPU"),
        ("label", &["-l", "no=such"], "label no is missing"),
        ("kernel", &["--constraint", "kernel >= 999"], "kernel"),
        ("together", &["--together", "nobody"], "nobody"),
    ];
    for (name, words, _) in wishes {
        cli.ok(&[&["task", "submit", "--name", name], *words, &["--", "true"]].concat());
    }
    assert_eq!(cli.run(&["run", "--", "true"]).code, 0, "what is possible is not held up");
    for (name, _, word) in wishes {
        let said = why(&cli, name);
        assert!(said.contains(word), "{name}: {said}");
        assert_eq!(cli.task(name)["status"]["state"], "pending", "{name}");
    }
    let lines = cli.ok(&["task", "explain", "cores"]);
    assert!(lines.contains("waiting does not help"), "{lines}");
    let soon = ["task", "submit", "--name", "soon", "--gpus", "1", "--start-within", "200ms"];
    cli.ok(&[&soon[..], &["--", "true"]].concat());
    let given_up = cli.wait_state("soon", "failed");
    assert_eq!(given_up["status"]["exit"]["reason"], "given-up", "{given_up}");
    cli.ok(&["task", "kill", "--all", "--yes"]);
    for (name, _, _) in wishes {
        cli.wait_state(name, "killed");
    }
}

#[test]
fn requests_that_contradict_themselves_are_refused_with_every_mistake() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let (https, _) = https(&server, &cli);
    let spec = json!({
        "command": ["true"],
        "resources": { "cores": 1.5, "exclusive": true, "gpus": { "count": 3, "ids": [0, 0] } },
        "queue": { "priority": 5000, "retry": { "times": 5000 }, "startWithin": "0s" },
        "timeout": "0s",
        "env": { "A=B": "x", "HOSTLER_RUN_ID": "mine" },
    });
    let problem = https.post(TASKS, &json!({ "spec": spec }).to_string()).problem(422, "invalid");
    let said = mistakes(&problem);
    for place in [
        "/spec/resources/cores",
        "/spec/resources/gpus",
        "/spec/queue/priority",
        "/spec/queue/retry/times",
        "/spec/queue/startWithin",
        "/spec/timeout",
        "/spec/env/A=B",
        "/spec/env/HOSTLER_RUN_ID",
    ] {
        assert!(said.contains(place), "{place} is not in:\n{said}");
    }
    let service = json!({
        "command": ["true"],
        "mode": "forever",
        "placement": { "count": 4 },
        "queue": { "nodes": 2 },
    });
    let body = json!({ "spec": service }).to_string();
    let said = mistakes(&https.post(TASKS, &body).problem(422, "invalid"));
    for place in ["/spec/mode", "/spec/placement", "/spec/queue/nodes"] {
        assert!(said.contains(place), "{place} is not in:\n{said}");
    }
    for resources in [
        json!({ "cores": -1 }),
        json!({ "memory": "lots" }),
        json!({ "gpus": { "share": 2 } }),
        json!({ "gpus": -1 }),
        json!({ "numa": "some" }),
        json!({ "coers": 1 }),
    ] {
        let body = json!({ "spec": { "command": ["true"], "resources": resources } });
        let problem = https.post(TASKS, &body.to_string()).problem(422, "invalid");
        assert!(mistakes(&problem).contains("/spec/resources"), "{problem}");
    }
    assert_eq!(cli.tasks().len(), 0);
}

#[test]
fn bad_array_ranges_are_refused_with_the_right_spelling() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let (https, _) = https(&server, &cli);
    for range in [
        "5-1",
        "1-10%0",
        "1-10%",
        "a-b",
        "",
        "1-",
        "-1",
        "1-10:0",
        "1,1",
        "1-5,3-7",
        "1--5",
        "0-9999999",
        "0-4294967295",
        "99999999999",
        "1-10%-1",
        "1;2",
    ] {
        let body = json!({ "range": range, "spec": { "command": ["true"] } }).to_string();
        let problem = https.post(ARRAYS, &body).problem(422, "invalid");
        let said = mistakes(&problem);
        assert!(said.contains("/range"), "{range}: {problem}");
        assert!(said.contains("1-1000%50"), "how to write it: {problem}");
        let flag = format!("--array={range}");
        let refused = cli.run(&["task", "submit", &flag, "--", "true"]).must(2);
        assert!(refused.err.contains("1-1000%50"), "{range}: {}", refused.err);
    }
    let none = json!({ "spec": { "command": ["true"] } }).to_string();
    let problem = https.post(ARRAYS, &none).problem(422, "invalid");
    assert!(mistakes(&problem).contains("a range of indexes is needed"), "{problem}");
    let both = json!({ "range": "1-3", "spec": { "command": ["true"], "queue": { "nodes": 2 } } });
    let problem = https.post(ARRAYS, &both.to_string()).problem(422, "invalid");
    assert!(mistakes(&problem).contains("/spec/queue/nodes"), "{problem}");
    let arrays = cli.json(&["task", "array", "ls"]);
    assert_eq!(arrays["items"].as_array().unwrap().len(), 0);
}

#[test]
fn tasks_that_wait_for_themselves_each_other_or_nobody_are_refused() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let (https, _) = https(&server, &cli);
    let task = |name: &str, after: &[&str]| {
        let after: Vec<Value> = after.iter().map(|task| json!({ "task": task })).collect();
        json!({ "name": name, "spec": { "command": ["true"], "queue": { "after": after } } })
    };
    let problem = https.post(TASKS, &task("a", &["a"]).to_string()).problem(422, "invalid");
    assert!(mistakes(&problem).contains("a → a"), "{problem}");
    let circle = json!({ "tasks": [task("a", &["c"]), task("b", &["a"]), task("c", &["b"]), task("d", &[])] });
    let problem = https.post(BATCHES, &circle.to_string()).problem(422, "invalid");
    assert!(mistakes(&problem).contains("tasks wait for each other"), "{problem}");
    let problem = https.post(TASKS, &task("a", &["nobody"]).to_string()).problem(422, "invalid");
    assert!(mistakes(&problem).contains("there is no task or array `nobody`"), "{problem}");
    let array = json!({ "range": "1-3", "spec": task("", &["nobody"])["spec"] });
    let problem = https.post(ARRAYS, &array.to_string()).problem(422, "invalid");
    assert!(mistakes(&problem).contains("`nobody`"), "{problem}");
    let twice = json!({ "tasks": [task("a", &[]), task("a", &[])] });
    let problem = https.post(BATCHES, &twice.to_string()).problem(422, "invalid");
    assert!(mistakes(&problem).contains("given twice"), "{problem}");
    assert_eq!(cli.tasks().len(), 0, "all or none");

    cli.ok(&["task", "submit", "--name", "bad", "--", "false"]);
    cli.wait_state("bad", "failed");
    let refused = cli.run(&["task", "submit", "--after", "bad", "--", "true"]).must(2);
    assert!(refused.err.contains("`bad` has ended already"), "{}", refused.err);
    cli.ok(&["task", "submit", "--name", "fine", "--after", "bad:fail", "--", "true"]);
    cli.wait_state("fine", "completed");
}

#[test]
fn containers_get_nothing_of_the_node_that_was_not_allowed() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let (https, _) = https(&server, &cli);
    let contained = |container: Value| {
        json!({ "spec": { "runtime": "container", "command": ["true"], "container": container } })
            .to_string()
    };
    for (source, target, place) in [
        ("data", "/data", "source"),
        ("./data", "/data", "source"),
        ("/srv/../etc", "/data", "source"),
        ("/srv/..", "/data", "source"),
        ("/srv", "data", "target"),
        ("/srv", "/data/../../etc", "target"),
        ("/srv:/etc", "/data", "source"),
        ("", "/data", "source"),
    ] {
        let mount = json!({ "source": source, "target": target });
        let body = contained(json!({ "image": "debian:12", "mounts": [mount] }));
        let problem = https.post(TASKS, &body).problem(422, "invalid");
        let said = mistakes(&problem);
        assert!(said.contains(&format!("/spec/container/mounts/0/{place}")), "{source}: {said}");
    }
    for image in ["", "../etc", "a b", "-v", "debian:12;rm", "//x", "UPPER\n"] {
        let problem = https.post(TASKS, &contained(json!({ "image": image })));
        assert!(mistakes(&problem.problem(422, "invalid")).contains("/spec/container/image"));
    }
    // What only the node can judge ends with its reason, or waits with it where there is no engine.
    let asks: &[(&str, Value, &str)] = &[
        ("socket", json!([{ "source": "/var/run/docker.sock", "target": "/s" }]), "mount"),
        ("proc", json!([{ "source": "/proc", "target": "/p" }]), "mount"),
        ("root", json!([{ "source": "/", "target": "/host" }]), "mount"),
        ("unknown", json!([]), "no/such-image"),
    ];
    for (name, mounts, _) in asks {
        let container = json!({ "image": "no/such-image:1", "pull": "never", "mounts": mounts });
        let mut body: Value = serde_json::from_str(&contained(container)).unwrap();
        body["name"] = json!(name);
        assert_eq!(https.post(TASKS, &body.to_string()).status, 201);
    }
    assert_eq!(cli.run(&["run", "--", "true"]).code, 0);
    for (name, _, word) in asks {
        let outcome = crate::rig::until(&format!("{name} is decided"), || {
            let said = why(&cli, name);
            let state = cli.task(name)["status"]["state"].as_str().unwrap().to_owned();
            let is_clear = match state.as_str() {
                "pending" => said.contains("no container engine answers there"),
                "failed" => said.contains(word),
                _ => false,
            };
            is_clear.then_some(state)
        });
        println!("{name}: {outcome}");
    }
}

#[test]
fn environments_arrive_byte_for_byte_or_the_task_says_why_not() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let (https, _) = https(&server, &cli);
    let text = "first\nsecond line\n\n\ttab 'quote' \"double\" $HOME `x` \\n ünï → 馬\r\nend\n";
    let submit = |name: &str, value: &str| {
        let spec = json!({ "command": ["sh", "-c", "printf %s \"$TEXT\"; exit 5"], "env": { "TEXT": value } });
        https.post(TASKS, &json!({ "name": name, "spec": spec }).to_string())
    };
    assert_eq!(submit("lines", text).status, 201);
    cli.wait_state("lines", "failed");
    assert_eq!(cli.ok(&["logs", "lines"]), text);
    let long = "x".repeat(100_000);
    assert_eq!(submit("long", &long).status, 201);
    cli.wait_state("long", "failed");
    assert_eq!(cli.ok(&["logs", "long"]), long);

    // More than the kernel takes in one piece: the node says so, and so does the task.
    assert_eq!(submit("huge", &"x".repeat(1_000_000)).status, 201);
    let huge = cli.wait_state("huge", "failed");
    assert_eq!(huge["status"]["exit"]["reason"], "start-failed", "{}", huge["status"]);
    let said = huge["status"]["exit"]["message"].as_str().unwrap();
    assert!(said.contains("environment are longer than this node allows"), "{said}");
    assert!(said.contains("the variable `TEXT` with 1000005 bytes"), "{said}");
    submit("larger", &"x".repeat(1_200_000)).problem(413, "too-large");
    submit("nul", "a\0b").problem(422, "invalid");
    assert_eq!(cli.run(&["run", "--", "true"]).code, 0);
}

#[test]
fn ten_thousand_submissions_with_one_key_are_one_task() {
    const TIMES: usize = 10_000;
    const CALLERS: usize = 8;
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let (https, secret) = https(&server, &cli);
    let ran = rig.path("ran");
    let script = format!("echo once >> {}", ran.display());
    let body = json!({ "spec": { "command": ["sh", "-c", script] } }).to_string();
    let request = format!(
        "POST {TASKS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {secret}\r\n\
         Content-Type: application/json\r\nIdempotency-Key: only-one\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let seen: Mutex<BTreeSet<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..CALLERS {
            scope.spawn(|| {
                let mut talk = https.talk();
                let mut left = TIMES / CALLERS;
                while left > 0 {
                    talk.say(request.as_bytes());
                    let reply = talk.hear();
                    match reply.status {
                        201 => left -= 1,
                        // Everybody's budget ends somewhere; whoever is told so comes again.
                        429 => std::thread::park_timeout(std::time::Duration::from_millis(50)),
                        _ => panic!("{}", String::from_utf8_lossy(&reply.body)),
                    }
                    let id = reply.json()["id"].as_str().map(str::to_owned);
                    seen.lock().unwrap().extend(id);
                }
            });
        }
    });
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 1, "{seen:?}");
    let tasks = cli.tasks();
    assert_eq!(tasks.len(), 1);
    let name = tasks.keys().next().unwrap();
    cli.wait_state(name, "completed");
    assert_eq!(std::fs::read_to_string(&ran).unwrap(), "once\n");
    assert_eq!(cli.json(&["audit", "verify"])["isIntact"], true);
}
