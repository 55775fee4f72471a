use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, refusal};

fn placement(node: &str, phase: &str) -> Value {
    json!({
        "id": uuid::Uuid::from_u128(9), "node": node, "nodeState": "online", "desired": "run", "phase": phase,
        "pid": 4711, "run": uuid::Uuid::from_u128(77), "runs": 3, "failures": 1, "missed": 0, "revision": 2,
        "reason": "exit code 1", "since": "2026-01-31T11:57:00Z",
        "lastExit": { "reason": "exited", "code": 1, "time": "2026-01-31T11:56:00Z" },
    })
}

fn workload(n: u128, name: &str, phase: &str, mode: Value) -> Value {
    json!({
        "id": uuid::Uuid::from_u128(n), "name": name, "project": "default",
        "spec": { "mode": mode, "command": ["serve", "--port", "80"], "env": { "A": "1" }, "tags": ["blue", "shop"] },
        "desired": "run", "revision": 2, "generation": 5,
        "status": { "phase": phase, "ready": 1, "wanted": 1, "health": "healthy", "restarts": 2,
            "next": if n == 2 { json!("2026-02-01T03:00:00Z") } else { Value::Null } },
        "placements": [placement("web-1", if phase == "removing" { "stopping" } else { phase })],
        "createdBy": "ada", "timeCreated": "2026-01-30T12:00:00Z", "timeModified": "2026-01-31T11:55:00Z",
    })
}

fn workloads() -> Vec<Value> {
    let schedule = json!({ "schedule": { "cron": "0 3 * * *", "timezone": "Europe/Berlin" } });
    let mut backoff = workload(3, "broken", "backoff", json!("forever"));
    backoff["status"]["reason"] = json!("exit code 1");
    backoff["status"]["ready"] = json!(0);
    backoff["status"]["health"] = Value::Null;
    backoff["placements"] =
        json!((1..=5).map(|n| placement(&format!("web-{n}"), "backoff")).collect::<Vec<_>>());
    vec![
        backoff,
        workload(2, "nightly", "idle", schedule),
        workload(1, "web", "running", json!("forever")),
    ]
}

fn usage() -> Vec<Value> {
    let sample = |n: u32| {
        json!({
            "time": format!("2026-01-31T11:{n:02}:00Z"), "seconds": 60, "cpu": f64::from(n) / 40.0, "memory": n << 20,
            "diskRead": 0, "diskWritten": 1536.0, "netReceived": 10_000.0, "netSent": 250.0, "diskUsed": 5_u64 << 30,
            "temperature": 41.5, "pids": 3,
        })
    };
    (1..=3).map(|n| sample(n * 10)).collect()
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn data(node: Option<&str>, stream: &str, bytes: &[u8]) -> String {
    let mut line = json!({
        "type": "data", "stream": stream, "time": "2026-01-31T12:00:00Z", "data": STANDARD.encode(bytes),
        "cursor": format!("{}=c1", node.unwrap_or("web-1")),
    });
    if let Some(node) = node {
        line["node"] = node.into();
    }
    format!("{line}\n")
}

/// Bodies that were put, with the generation they were for.
type Applied = Arc<Mutex<Vec<(String, Option<String>, Value)>>>;

async fn world() -> (World, Applied) {
    let applied = Applied::default();
    let kept = Arc::clone(&applied);
    let apply = move |Path(name): Path<String>, headers: HeaderMap, Json(body): Json<Value>| async move {
        let if_match = headers.get("if-match").map(|v| v.to_str().unwrap().to_owned());
        kept.lock().unwrap().push((name.clone(), if_match, body));
        if name == "forbidden" {
            return refusal(Code::Forbidden, "the workload belongs to bob");
        }
        Json(workload(4, &name, "running", json!("forever"))).into_response()
    };
    let find = |Path(name): Path<String>| async move {
        let all = workloads();
        let is_it = |view: &&Value| view["name"] == name.as_str() || view["id"] == name.as_str();
        let made = [workload(4, "fresh", "running", json!("forever"))];
        match all.iter().chain(&made).find(is_it) {
            Some(view) => Json(view.clone()).into_response(),
            None => refusal(Code::NotFound, "there is no such workload"),
        }
    };
    let logs = || async {
        let mark = json!({ "type": "mark", "node": "web-1", "detail": "run 3 began", "cursor": "web-1=c0", "time": "2026-01-31T12:00:00Z" });
        let gap = json!({ "type": "gap", "node": "web-2", "detail": "5 bytes" });
        let end = json!({ "type": "end", "complete": true });
        [
            line(&mark),
            data(Some("web-1"), "stdout", b"out \xff\n"),
            data(Some("web-2"), "stderr", b"err\n"),
            line(&gap),
            line(&end),
        ]
        .concat()
        .into_response()
    };
    let exec = |Json(body): Json<Value>| async move {
        let end = match body["command"][0].as_str().unwrap() {
            "kill" => json!({ "type": "exit", "signal": 9, "isTimedOut": true }),
            "lost" => json!({ "type": "broken", "detail": "the connection to the node was lost" }),
            "refuse" => return refusal(Code::Conflict, "it has no process"),
            _ => json!({ "type": "exit", "code": 7, "isTimedOut": false }),
        };
        let stdin = body["stdin"].as_str().map(|text| STANDARD.decode(text).unwrap());
        let echo = stdin.unwrap_or_else(|| b"hello\n".to_vec());
        [data(None, "stdout", &echo), data(None, "stderr", b"no\n"), line(&end)]
            .concat()
            .into_response()
    };
    let explain = json!({
        "phase": "backoff", "summary": "it is on 1 of 2 nodes, and no other node fits now",
        "nodes": [
            { "node": "web-1", "labels": {}, "standing": "backoff: exit code 1", "isFitting": true, "reasons": [] },
            { "node": "db", "labels": {}, "isFitting": false, "reasons": ["label disk=ssd is missing"] },
        ],
        "hints": ["add a node"],
    });
    let run = json!({
        "id": uuid::Uuid::from_u128(77), "node": "web-1", "number": 3, "cause": "restart", "state": "exited",
        "exit": { "reason": "exited", "code": 3, "time": "2026-01-31T11:58:00Z" },
        "timeStarted": "2026-01-31T11:57:00Z", "timeEnded": "2026-01-31T11:58:30Z",
    });
    let event = json!({
        "sequence": 12, "kind": "workload.started", "time": "2026-01-31T11:55:00Z", "object": { "kind": "workload", "id": "x", "name": "web" },
        "actor": { "kind": "node", "name": "web-1" }, "message": "run 3 began on web-1",
    });
    let changed = |verb: &'static str| {
        post(move || async move {
            let mut view = workload(1, "web", "running", json!("forever"));
            if verb == "stop" {
                view["desired"] = json!("stop");
            }
            Json(view)
        })
    };
    let removed = || async {
        let mut view = workload(1, "web", "removing", json!("forever"));
        view["desired"] = json!("remove");
        (axum::http::StatusCode::ACCEPTED, Json(view))
    };
    let one = "/api/v1/projects/default/workloads/{workload}";
    let router = axum::Router::new()
        .route("/api/v1/projects/default/workloads", get(|| async { Json(json!({ "items": workloads() })) }))
        .route(one, get(find).put(apply).delete(removed))
        .route(&format!("{one}/logs"), get(logs))
        .route(&format!("{one}/exec"), post(exec))
        .route(&format!("{one}/explain"), get(|| async { Json(explain) }))
        .route(&format!("{one}/runs"), get(move || async move { Json(json!({ "items": [run] })) }))
        .route(&format!("{one}/next"), get(|| async { Json(json!({ "items": [
            { "time": "2026-02-01T03:00:00Z", "start": "2026-02-01T03:04:05Z", "nodes": ["web-1"] },
            { "time": "2026-02-02T03:00:00Z", "start": "2026-02-02T03:00:00Z", "nodes": ["a", "b", "c", "d", "e"] },
            { "time": "2026-02-03T03:00:00Z", "nodes": [] },
        ] })) }))
        .route(&format!("{one}/usage"), get(|| async { Json(json!({ "items": usage() })) }))
        .route("/api/v1/nodes/web-1/usage", get(|| async { Json(json!({ "items": usage() })) }))
        .route(&format!("{one}/start"), changed("start"))
        .route(&format!("{one}/stop"), changed("stop"))
        .route(&format!("{one}/restart"), changed("restart"))
        .route("/api/v1/events", get(move || async move { Json(json!({ "items": [event] })) }))
        .fallback(|| async { refusal(Code::NotFound, "there is no such route") });
    (World::new(router).await, applied)
}

async fn said(world: &World, words: &str) -> String {
    let ran = world.hostler(&words.split(' ').collect::<Vec<_>>()).await;
    let mut text = format!("$ hostler {words}\n{}", String::from_utf8_lossy(&ran.out));
    if !ran.err.is_empty() {
        text.push_str(&format!("[stderr] {}", ran.err.trim_end().replace('\n', "\n[stderr] ")));
        text.push('\n');
    }
    if ran.code != 0 {
        text.push_str(&format!("[exit {}]\n", ran.code));
    }
    text
}

#[tokio::test]
async fn workloads_in_every_form() {
    let (world, _) = world().await;
    let mut text = String::new();
    for words in [
        "workload ls",
        "workload ls -o wide",
        "workload ls -o name",
        "workload get web",
        "workload get web -o jsonpath={.status.phase}",
        "workload get none",
        "workload show web",
        "workload explain broken",
        "workload history web",
        "workload history web -o wide",
        "workload next nightly --count 2",
        "workload usage web",
        "workload usage web --node web-1 --since 10m -o jsonl",
        "node usage web-1 -o wide",
        "workload start web",
        "workload stop web",
        "workload restart workload/web",
        "workload rm web",
        "workload rm web -q",
    ] {
        text.push_str(&said(&world, words).await);
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn filters_and_pages_are_asked_of_the_server() {
    let (world, _) = world().await;
    world
        .hostler(&[
            "workload",
            "ls",
            "--mode",
            "forever",
            "--tag",
            "a b",
            "--phase",
            "partly-running",
        ])
        .await;
    let asked = world.requests().pop().unwrap();
    for part in ["mode=forever", "tag=a+b", "phase=partly-running", "limit=1000"] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
    world
        .hostler(&[
            "workload",
            "logs",
            "web",
            "--since",
            "1h",
            "--until",
            "2026-01-31T11:30:00Z",
            "--grep",
            "x|y",
            "-n",
            "5",
            "--node",
            "web-1",
        ])
        .await;
    let asked = world.requests().pop().unwrap();
    for part in [
        "since=2026-01-31T11%3A00%3A00",
        "until=2026-01-31T11%3A30%3A00",
        "grep=x%7Cy",
        "tail=5",
        "node=web-1",
    ] {
        assert!(asked.contains(part), "{part} in {asked}");
    }
}

#[tokio::test]
async fn logs_are_bytes_with_their_nodes() {
    let (world, _) = world().await;
    let ran = world.hostler(&["workload", "logs", "web"]).await;
    assert_eq!((ran.code, ran.out.as_slice()), (0, &b"[web-1] out \xff\n"[..]));
    assert_eq!(
        ran.err,
        "[web-1] --- run 3 began\n[web-2] err\nwarning: [web-2] output is missing here: 5 bytes\n"
    );
    let ran = world.hostler(&["workload", "logs", "web", "-t", "-q"]).await;
    assert!(ran.out.starts_with(b"2026-01-31T12:00:00"), "{:?}", ran.text());
    let ran = world.hostler(&["workload", "logs", "web", "-o", "jsonl"]).await;
    assert_eq!(String::from_utf8(ran.out).unwrap().lines().count(), 5);
}

#[tokio::test]
async fn commands_end_as_they_ended() {
    let (world, _) = world().await;
    let ran = world.hostler(&["workload", "exec", "web", "--", "sh", "-c", "exit 7"]).await;
    assert_eq!((ran.code, ran.out.as_slice(), ran.err.as_str()), (7, &b"hello\n"[..], "no\n"));
    let ran = world.hostler_with(&["workload", "exec", "web", "-i", "--", "cat"], "given").await;
    assert_eq!(ran.out, b"given");
    let ran = world.hostler(&["workload", "exec", "web", "--timeout", "1s", "--", "kill"]).await;
    assert_eq!(ran.code, 137);
    assert!(ran.err.contains("took longer"), "{}", ran.err);
    let ran = world.hostler(&["workload", "exec", "web", "--", "lost"]).await;
    assert_eq!(ran.code, 8, "{}", ran.err);
    let ran = world.hostler(&["workload", "exec", "web", "--", "refuse"]).await;
    assert_eq!(ran.code, 5, "{}", ran.err);
    let ran = world.hostler(&["workload", "exec", "web", "-o", "jsonl", "--", "a"]).await;
    assert_eq!((ran.code, String::from_utf8(ran.out).unwrap().lines().count()), (7, 3));
}

#[tokio::test]
async fn applying_shows_what_changes_and_sends_only_that() {
    let (world, applied) = world().await;
    let files = world.home.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let write = |name: &str, text: &str| std::fs::write(files.join(name), text).unwrap();
    write(
        "web.yaml",
        "name: web\nmode: forever\ncommand: [serve, --port, '81']\nenv: {A: '1'}\ntags: [blue, shop]\n",
    );
    write(
        "fresh.yaml",
        "name: fresh\nmode: forever\ncommand: [a]\ndepends: [{workload: nightly}]\n",
    );
    write(
        "nightly.yaml",
        "name: nightly\nmode: {schedule: {cron: '0 3 * * *', timezone: Europe/Berlin}}\ncommand: [serve, --port, '80']\nenv: {A: '1'}\ntags: [blue, shop]\n",
    );
    let path = files.to_str().unwrap();
    let planned = world.hostler(&["workload", "apply", "-f", path, "--dry-run"]).await;
    assert_eq!(
        (planned.code, planned.text().as_str()),
        (10, "+ fresh\n~ web: command[2] \"80\" -> \"81\"\n"),
        "{}",
        planned.err
    );
    let planned =
        world.hostler(&["workload", "apply", "-f", path, "--dry-run", "-o", "json"]).await;
    let document: Value = serde_json::from_str(&planned.text()).unwrap();
    assert_eq!(
        (&document["added"], &document["unchanged"]),
        (&json!(["fresh"]), &json!(["nightly"]))
    );
    assert!(applied.lock().unwrap().is_empty());

    let ran = world.hostler(&["workload", "apply", "-f", path]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(
        ran.err,
        "+ fresh\n~ web: command[2] \"80\" -> \"81\"\nworkload fresh created\nworkload nightly unchanged\nworkload web changed\n"
    );
    {
        let sent = applied.lock().unwrap();
        let sent: Vec<(&str, Option<&str>)> =
            sent.iter().map(|(name, if_match, _)| (name.as_str(), if_match.as_deref())).collect();
        assert_eq!(sent, [("fresh", None), ("web", Some("\"5\""))]);
    }
    let waited =
        world.hostler(&["workload", "apply", "-f", path, "--wait", "--timeout", "5s"]).await;
    assert_eq!(waited.code, 0, "{}", waited.err);
    assert!(waited.err.contains("workload fresh is running"), "{}", waited.err);
}

#[tokio::test]
async fn one_that_is_refused_does_not_hold_up_the_rest() {
    let (world, applied) = world().await;
    let input = "workloads:\n- {name: forbidden, command: [a]}\n- {name: fresh, command: [a]}\n";
    let ran = world.hostler_with(&["workload", "apply", "-f", "-"], input).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    assert!(
        ran.err.contains("workload forbidden was not applied")
            && ran.err.contains("belongs to bob"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("workload fresh created"), "{}", ran.err);
    assert_eq!(applied.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn files_that_are_wrong_are_refused_whole() {
    let (world, applied) = world().await;
    let input = "name: Web\nmode: forevr\ncommand: []\n---\nname: fresh\ncommand: [a]\ndepends: [{workload: nobody}]\n";
    let ran = world.hostler_with(&["workload", "apply", "-f", "-"], input).await;
    assert_eq!(ran.code, 2);
    insta::assert_snapshot!(ran.err);
    assert!(applied.lock().unwrap().is_empty());
    let before = world.requests().len();
    let ran = world.hostler_with(&["workload", "validate", "-"], input).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    let ran = world.hostler_with(&["workload", "validate", "-", "-o", "json"], input).await;
    let report: Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(
        (ran.code, report["mistakes"].as_array().unwrap().len() >= 3),
        (2, true),
        "{report}"
    );
    let ran = world
        .hostler_with(
            &["workload", "validate", "-"],
            "name: a\ncommand: [a]\ndepends: [{workload: other}]\n",
        )
        .await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "1 workload, no mistakes\n"));
    assert_eq!(world.requests().len(), before, "validating asks nobody");
    let ran = world.hostler_with(&["workload", "apply", "-f", "-"], "# nothing\n").await;
    assert_eq!(ran.code, 2, "{}", ran.err);
}

#[tokio::test]
async fn waiting_tells_how_it_came_out() {
    let (world, _) = world().await;
    let ran = world.hostler(&["workload", "restart", "web", "--wait"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "workload web is running\n"));
    let ran = world.hostler(&["workload", "stop", "web", "--wait", "--timeout", "300ms"]).await;
    assert_eq!(ran.code, 4, "it was started again meanwhile: {}", ran.err);
    let ran = world.hostler(&["workload", "rm", "web", "--wait", "--timeout", "300ms"]).await;
    assert_eq!(ran.code, 9, "{}", ran.err);
}
