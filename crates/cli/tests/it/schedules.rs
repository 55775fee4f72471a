//! Schedules: what flags and files become, and what is shown.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::world::World;

type Sent = Arc<Mutex<Vec<Value>>>;

fn fire(state: &str) -> Value {
    json!({
        "time": "2026-01-31T03:00:00Z", "state": state, "cause": "planned",
        "timePlanned": "2026-01-31T03:00:10Z", "timeBegun": "2026-01-31T03:00:11Z", "lateness": "1s", "count": 1,
        "timeLast": "2026-01-31T03:00:00Z", "tries": 1,
        "object": { "kind": "task", "id": "0192f3c4-0000-7000-8000-000000000001", "name": "nightly-7k2f9ab3" },
        "standing": "completed", "isGood": true,
    })
}

fn missed() -> Value {
    json!({
        "time": "2026-01-30T01:00:00Z", "state": "missed", "cause": "outage",
        "timePlanned": "2026-01-30T01:00:00Z", "timeBegun": "2026-01-30T09:00:00Z", "lateness": "8h", "count": 8,
        "timeLast": "2026-01-30T08:00:00Z", "tries": 0,
    })
}

fn schedule() -> Value {
    json!({
        "id": "0192f3c4-0000-7000-8000-000000000009", "name": "nightly", "owner": "ada", "generation": 3,
        "timing": "0 3 * * * Europe/Berlin", "kind": "task", "summary": "pg_dump -Fc shop",
        "spec": {
            "cron": "0 3 * * *", "timezone": "Europe/Berlin", "jitter": "1m",
            "target": { "task": { "spec": { "command": ["pg_dump", "-Fc", "shop"] } } },
        },
        "timeNext": "2026-02-01T02:00:00Z", "last": fire("done"),
        "timeCreated": "2026-01-01T00:00:00Z", "timeModified": "2026-01-01T00:00:00Z",
    })
}

fn next() -> Value {
    json!({ "items": [
        { "time": "2026-03-28T02:00:00Z", "start": "2026-03-28T02:00:20Z", "local": "Sat 2026-03-28 03:00:00 CET" },
        { "time": "2026-03-29T01:00:00Z", "start": "2026-03-29T01:00:31Z", "local": "Sun 2026-03-29 03:00:00 CEST", "remark": "skipped" },
    ] })
}

async fn world() -> (World, Sent) {
    let sent = Sent::default();
    let all = "/api/v1/projects/default/schedules";
    let one = format!("{all}/nightly");
    let keep = |State(sent): State<Sent>, body: Bytes| async move {
        sent.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
        Json(schedule())
    };
    let router = axum::Router::new()
        .route(all, get(|| async { Json(json!({ "items": [schedule()] })) }))
        .route(
            &one,
            get(|| async { Json(schedule()) })
                .put(keep)
                .delete(|| async { StatusCode::NO_CONTENT }),
        )
        .route(&format!("{one}/pause"), post(keep))
        .route(&format!("{one}/resume"), post(|| async { Json(schedule()) }))
        .route(&format!("{one}/run"), post(|| async { Json(fire("done")) }))
        .route(&format!("{one}/next"), get(|| async { Json(next()) }))
        .route(
            &format!("{one}/history"),
            get(|| async { Json(json!({ "items": [fire("done"), missed()] })) }),
        )
        .route("/api/v1/projects/default/schedule-preview", post(|| async { Json(next()) }))
        .with_state(sent.clone());
    (World::new(router).await, sent)
}

async fn sent_by(words: &[&str]) -> Value {
    let (world, sent) = world().await;
    let ran = world.hostler(words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut all = sent.lock().unwrap();
    all.pop().unwrap()
}

#[tokio::test]
async fn a_task_by_the_clock_is_one_line() {
    let body = sent_by(&[
        "schedule",
        "add",
        "nightly",
        "--cron",
        "0 3 * * *",
        "--zone",
        "Europe/Berlin",
        "--jitter",
        "5m",
        "--overlap",
        "skip",
        "--catch-up",
        "last",
        "task",
        "--cores",
        "2",
        "--",
        "pg_dump",
        "-Fc",
        "shop",
    ])
    .await;
    assert_eq!(body["cron"], "0 3 * * *");
    assert_eq!((&body["timezone"], &body["jitter"]), (&json!("Europe/Berlin"), &json!("5m")));
    assert_eq!((&body["overlap"], &body["catchUp"]), (&json!("forbid"), &json!("one")));
    let task = &body["target"]["task"];
    assert_eq!(task["name"], "nightly", "its tasks are named after it");
    assert_eq!(task["spec"]["command"], json!(["pg_dump", "-Fc", "shop"]));
}

#[tokio::test]
async fn times_are_read_in_the_zone() {
    let words = [
        "schedule",
        "add",
        "nightly",
        "--at",
        "2026-12-01T03:00",
        "--zone",
        "Europe/Berlin",
        "workflow",
        "release",
        "--set",
        "env=prod",
    ];
    let body = sent_by(&words).await;
    assert_eq!(body["at"], "2026-12-01T02:00:00.000000Z");
    assert_eq!(
        body["target"],
        json!({ "workflow": { "name": "release", "values": { "env": "prod" } } })
    );
    let (world, _) = world().await;
    let wrong =
        world.hostler(&["schedule", "add", "nightly", "--at", "soon", "restart", "web"]).await;
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("2026-12-01T03:00"), "{}", wrong.err);
}

#[tokio::test]
async fn every_target_has_a_word() {
    let cases: [(&[&str], Value); 6] = [
        (&["restart", "web"], json!({ "workload": { "name": "web", "verb": "restart" } })),
        (&["stop", "web"], json!({ "workload": { "name": "web", "verb": "stop" } })),
        (
            &["drain", "n1", "--reason", "x", "--deadline", "1h"],
            json!({ "operation": { "nodeDrain": { "node": "n1", "reason": "x", "deadline": "1h" } } }),
        ),
        (&["uncordon", "n1"], json!({ "operation": { "nodeUncordon": { "node": "n1" } } })),
        (
            &["image-sync", "web:3", "--node", "n1"],
            json!({ "operation": { "imageSync": { "image": "web:3", "nodes": ["n1"] } } }),
        ),
        (
            &["http", "https://a.example/x", "-H", "X-Team: ops", "--body", "{}", "--sign", "key"],
            json!({ "http": {
                "url": "https://a.example/x", "headers": { "X-Team": "ops" }, "body": "{}", "sign": "key", "timeout": "30s",
            } }),
        ),
    ];
    for (target, expected) in cases {
        let words: Vec<&str> = ["schedule", "add", "nightly", "--every", "10m"]
            .iter()
            .chain(target)
            .copied()
            .collect();
        let body = sent_by(&words).await;
        assert_eq!((&body["every"], &body["target"]), (&json!("10m"), &expected));
    }
}

#[tokio::test]
async fn a_file_says_the_same_and_flags_win() {
    let (world, sent) = world().await;
    let file = world.home.path().join("nightly.yaml");
    let text =
        "cron: 0 3 * * *\noverlap: queue\ntarget:\n  workload: { name: web, verb: restart }\n";
    std::fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let words = ["schedule", "add", "nightly", "-f", path, "--catch-up", "none", "--replace"];
    let ran = world.hostler(&words).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let body = sent.lock().unwrap().pop().unwrap();
    assert_eq!((&body["overlap"], &body["catchUp"]), (&json!("queue"), &json!("none")));
    assert_eq!(world.seen.lock().unwrap().last().unwrap().if_match.as_deref(), Some("\"3\""));
    std::fs::write(&file, "cron: 0 3 * * *\ntarget: { nothing: {} }\n").unwrap();
    let wrong = world.hostler(&words).await;
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("nothing"), "{}", wrong.err);
    let none = world.hostler(&["schedule", "add", "nightly", "--every", "1m"]).await;
    assert_eq!(none.code, 2);
    assert!(none.err.contains("what is to be done?"), "{}", none.err);
    assert!(
        hostler_cli::parse_from(["hostler", "schedule", "add", "x", "restart", "web"]).is_err()
    );
}

#[tokio::test]
async fn what_there_is_is_shown() {
    let (world, sent) = world().await;
    let mut shown = String::new();
    for words in [
        &["schedule", "ls"][..],
        &["schedule", "ls", "-o", "wide"],
        &["schedule", "show", "nightly"],
        &["schedule", "next", "nightly"],
        &["schedule", "history", "nightly"],
        &["schedule", "add", "x", "--cron", "0 3 * * *", "--dry-run", "restart", "web"],
        &["schedule", "run", "nightly"],
        &["schedule", "resume", "nightly"],
        &["schedule", "rm", "nightly"],
    ] {
        let ran = world.hostler(words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        shown.push_str(&format!("$ hostler {}\n{}{}\n", words.join(" "), ran.text(), ran.err));
    }
    insta::assert_snapshot!(shown);
    let paused = world.hostler(&["schedule", "pause", "nightly", "--reason", "disk"]).await;
    assert_eq!(paused.code, 0, "{}", paused.err);
    assert_eq!(sent.lock().unwrap().pop().unwrap(), json!({ "reason": "disk" }));
    let json = world.hostler(&["schedule", "history", "nightly", "-o", "json"]).await;
    let json: Value = serde_json::from_slice(&json.out).unwrap();
    assert_eq!(json["items"][1]["count"], 8);
}
