use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Json;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use base64::Engine;
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, exited, refusal, task, unsettled};

const PROJECT: &str = "/api/v1/projects/default";

fn array(name: &str, range: &str, counts: Value) -> Value {
    let sum = |is_meant: fn(&str) -> bool| {
        let counts = counts.as_object().unwrap().iter();
        counts.filter(|(state, _)| is_meant(state)).map(|(_, n)| n.as_u64().unwrap()).sum::<u64>()
    };
    let unsettled = sum(|state| ["pending", "assigning", "running", "paused"].contains(&state));
    let all = sum(|_| true);
    json!({
        "id": uuid::Uuid::from_u128(500), "name": name, "project": "default",
        "spec": { "command": ["./step"] }, "range": range, "isGang": range == "0-3", "isStopping": false,
        "size": all, "unsettled": unsettled,
        "unsuccessful": all - unsettled - counts["completed"].as_u64().unwrap_or(0),
        "counts": counts, "createdBy": "ada", "generation": 1, "timeCreated": "2026-01-31T11:50:00Z",
    })
}

fn seated(n: u128, index: u32, status: Value) -> Value {
    let mut task = task(n, &format!("sweep-{index}"), status);
    task["array"] = json!({ "array": uuid::Uuid::from_u128(500), "index": index });
    task
}

/// An array of which the tasks have ended when it is asked for the third time.
async fn world(end: Value) -> World {
    let asked = Arc::new(AtomicUsize::new(0));
    let current = move |Path(name): Path<String>| async move {
        if name == "nothing" {
            return refusal(Code::NotFound, "there is no such array");
        }
        let is_over = asked.fetch_add(1, Ordering::SeqCst) >= 2;
        let running = json!({ "completed": 3, "failed": 1, "running": 2, "pending": 4 });
        Json(array("sweep", "1-10%2", if is_over { end } else { running })).into_response()
    };
    let submit = |Json(body): Json<Value>| async move {
        let range = body["range"].as_str().unwrap_or("0-3").to_owned();
        let name = body["name"].as_str().unwrap_or("step").to_owned();
        let counts = json!({ "pending": 10 });
        (StatusCode::CREATED, Json(array(&name, &range, counts)))
    };
    let kill = |Json(body): Json<Value>| async move {
        assert_eq!(body["grace"], "1s");
        Json(array("sweep", "1-10%2", json!({ "killed": 8, "running": 2 })))
    };
    let list = || async {
        Json(json!({ "items": [
            array("sweep", "1-10%2", json!({ "completed": 3, "killed_oom": 1, "running": 2, "pending": 4 })),
            array("train", "0-3", json!({ "paused": 4 })),
            array("done", "7", json!({ "completed": 1 })),
        ] }))
    };
    let tasks = || async {
        Json(json!({ "items": [
            seated(13, 3, unsettled("pending")), seated(12, 2, unsettled("paused")),
            seated(11, 1, json!({ "state": "killed_oom", "message": "out of memory", "isStopping": false, "node": "web-1",
                "timeStarted": "2026-01-31T11:57:30Z", "timeEnded": "2026-01-31T11:58:30Z" })),
            seated(10, 0, exited(Some(0), None)),
        ] }))
    };
    let answer = |state: &'static str| {
        post(move |Path(name): Path<String>| async move { Json(task(1, &name, unsettled(state))) })
    };
    let logs = |Path(name): Path<String>| async move {
        if name.ends_with("0b") {
            return refusal(Code::NodeUnreachable, "web-1 is away");
        }
        let data = base64::engine::general_purpose::STANDARD.encode("hello\n");
        let line = json!({ "type": "data", "stream": "stdout", "time": "2026-01-31T12:00:00Z", "data": data, "cursor": "1" });
        let end = json!({ "type": "end", "complete": true });
        format!("{line}\n{end}\n").into_response()
    };
    let router = axum::Router::new()
        .route(&format!("{PROJECT}/task-arrays"), get(list).post(submit))
        .route(&format!("{PROJECT}/task-arrays/{{array}}"), get(current))
        .route(&format!("{PROJECT}/task-arrays/{{array}}/kill"), post(kill))
        .route(&format!("{PROJECT}/tasks"), get(tasks))
        .route(&format!("{PROJECT}/tasks/{{task}}/pause"), answer("paused"))
        .route(&format!("{PROJECT}/tasks/{{task}}/resume"), answer("running"))
        .route(&format!("{PROJECT}/tasks/{{task}}/retry"), answer("pending"))
        .route(&format!("{PROJECT}/tasks/{{task}}/logs"), get(logs))
        .fallback(|| async { refusal(Code::NoSuchRoute, "there is no such path") });
    World::new(router).await
}

async fn good() -> World {
    world(json!({ "completed": 10 })).await
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[tokio::test]
async fn arrays_in_every_form() {
    let world = good().await;
    let mut text = String::new();
    for line in [
        "task array ls",
        "task array ls -o wide",
        "task array ls -o name",
        "task array get sweep",
        "task array get array/sweep -o jsonpath={.counts.running}",
        "task array tasks sweep",
        "task ls --array sweep -o wide",
        "task array tasks task-array/sweep -o name",
    ] {
        let ran = world.hostler(&words(line)).await;
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}");
        text.push_str(&format!("===== {line} =====\n{}", ran.text()));
    }
    insta::assert_snapshot!(text);
    assert!(world.requests().contains(&format!("GET {PROJECT}/tasks?array=sweep&limit=1000")));
    let ran = world.hostler(&words("task array get nothing")).await;
    assert_eq!(ran.code, 3, "{}", ran.err);
}

#[tokio::test]
async fn arrays_and_gangs_are_submitted_as_one() {
    let world = good().await;
    let ran = world.hostler(&words("task submit --name sweep --array 1-10%2 -- ./step")).await;
    assert_eq!((ran.code, ran.text().as_str()), (0, "sweep\n"), "{}", ran.err);
    let said = "submitted an array of 10 tasks; `hostler task array wait sweep` waits for them\n";
    assert_eq!(ran.err, said);
    let ran = world.hostler(&words("task submit --nodes 4 -o name -- ./step")).await;
    assert_eq!((ran.code, ran.text().as_str()), (0, "task-array/step\n"), "{}", ran.err);
    let file = "name: sweep\nrange: 1-10\nspec: { command: [./step] }\n";
    let ran = world.hostler_with(&words("task submit -q -f -"), file).await;
    assert_eq!(ran.text(), format!("{}\n", uuid::Uuid::from_u128(500)), "{}", ran.err);
    let both = "range: 1-10\nspec: { command: [./step], queue: { nodes: 2 } }\n";
    for (line, file) in [("task submit -f -", both), ("run -f -", file)] {
        let ran = world.hostler_with(&words(line), file).await;
        assert_eq!((ran.code, ran.text().as_str()), (2, ""), "{line}");
        assert!(ran.err.contains("hint: "), "{}", ran.err);
    }
}

#[tokio::test]
async fn waiting_for_an_array_tells_how_many_ended_how() {
    let ran = good().await.hostler(&words("task submit --array 1-10 --wait -- ./step")).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "array sweep: 10 completed\n"), "{}", ran.text());
    let bad = json!({ "completed": 7, "failed": 2, "killed_oom": 1 });
    for line in ["wait array/sweep", "task array wait sweep"] {
        let ran = world(bad.clone()).await.hostler(&words(line)).await;
        assert_eq!((ran.code, ran.err.as_str()), (4, "array sweep: 7 completed, 3 failed\n"));
    }
    let ran =
        world(bad).await.hostler(&words("task array wait sweep -o jsonpath={.unsuccessful}")).await;
    assert_eq!((ran.code, ran.text().as_str()), (4, "3\n"));
    let never = world(json!({ "running": 10 })).await;
    let ran = never.hostler(&words("wait array/sweep --timeout 100ms")).await;
    assert_eq!(ran.code, 9, "{}", ran.err);
    assert!(ran.err.contains("array sweep has not ended within 100ms"), "{}", ran.err);
}

#[tokio::test]
async fn tasks_are_paused_resumed_tried_again_and_killed() {
    let world = good().await;
    for (line, said) in [
        ("task pause a b", "task a is paused\ntask b is paused\n"),
        ("task resume task/a", "task a goes on\n"),
        ("task retry a", "task a is back in the queue\n"),
        ("task kill array/sweep --grace 1s", "task array sweep is being stopped\n"),
        ("task array kill sweep --grace 1s", "task array sweep is being stopped\n"),
    ] {
        let ran = world.hostler(&words(line)).await;
        assert_eq!((ran.code, ran.err.as_str(), ran.text().as_str()), (0, said, ""), "{line}");
    }
    let ran = world.hostler(&words("task retry --array sweep")).await;
    let id = uuid::Uuid::from_u128(11);
    assert_eq!((ran.code, ran.err), (0, format!("task {id} is back in the queue\n")));
    let ran = world.hostler(&words("task pause a -o jsonpath={.status.state}")).await;
    assert_eq!(ran.text(), "paused\n");
}

#[tokio::test]
async fn output_of_an_array_comes_by_index() {
    let ran = good().await.hostler(&words("task array logs sweep")).await;
    assert_eq!((ran.code, ran.text().as_str()), (0, "hello\n"));
    assert!(
        ran.err.starts_with("==> sweep-0 (completed) <==\n==> sweep-1 (killed_oom) <==\n"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("its output cannot be read now"), "{}", ran.err);
}
