use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Json;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use base64::Engine;
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, exited, refusal, task, unsettled};

fn line(stream: &str, bytes: &[u8]) -> String {
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    let line = json!({ "type": "data", "stream": stream, "time": "2026-01-31T12:00:00Z", "data": data, "cursor": "1" });
    format!("{line}\n")
}

fn output() -> Response {
    let end = json!({ "type": "end", "complete": true });
    format!("{}{}{end}\n", line("stdout", b"out \xff\n"), line("stderr", b"err")).into_response()
}

/// A server on which a submitted task ends so; the first `refused` questions for output are too early.
async fn world(status: Value, refused: usize) -> World {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let logs = move || async move {
        if counted.fetch_add(1, Ordering::SeqCst) < refused {
            refusal(Code::Conflict, "it has not started")
        } else {
            output()
        }
    };
    let ended = task(1, "job", status);
    let current = move || async move {
        let begun = asked.load(Ordering::SeqCst) >= refused;
        Json(if begun { ended } else { task(1, "job", unsettled("running")) })
    };
    let submit = |Json(body): Json<Value>| async move {
        let name = body["name"].as_str().unwrap_or("job").to_owned();
        (axum::http::StatusCode::CREATED, Json(task(1, &name, unsettled("pending"))))
    };
    let one = "/api/v1/projects/default/tasks/{task}";
    let router = axum::Router::new()
        .route("/api/v1/projects/default/tasks", post(submit))
        .route(one, get(current))
        .route(&format!("{one}/logs"), get(logs))
        .route(
            &format!("{one}/kill"),
            post(|| async { Json(task(1, "job", unsettled("running"))) }),
        )
        .fallback(|| async { refusal(Code::NotFound, "there is no such task") });
    World::new(router).await
}

#[tokio::test]
async fn run_passes_on_bytes_and_codes() {
    let cases = [
        (exited(Some(0), None), 0, ""),
        (exited(Some(3), None), 3, ""),
        (exited(Some(255), None), 255, ""),
        (exited(None, Some(9)), 137, ""),
        (exited(None, None), 1, "warning: task job: failed somehow\n"),
        (
            json!({ "state": "lost", "message": "its node is gone", "isStopping": false }),
            4,
            "warning: task job: its node is gone\n",
        ),
    ];
    for (status, code, talk) in cases {
        let world = world(status.clone(), 0).await;
        let ran = world.hostler(&["run", "--", "sh", "-c", "exit 3"]).await;
        assert_eq!(
            (ran.code, ran.out.as_slice()),
            (code, &b"out \xff\n"[..]),
            "{status}: {}",
            ran.err
        );
        assert_eq!(ran.err, format!("err{talk}"), "{status}");
    }
}

#[tokio::test]
async fn run_waits_for_output_that_is_not_there_yet() {
    let world = world(exited(Some(3), None), 2).await;
    let ran = world.hostler(&["run", "true"]).await;
    assert_eq!((ran.code, ran.out.as_slice()), (3, &b"out \xff\n"[..]), "{}", ran.err);
}

/// A server on which a task waits until somebody has asked why and looks again; until then a question
/// for output is refused, or is not answered.
async fn waiting(is_refusing: bool) -> World {
    let (explained, is_explained) = tokio::sync::watch::channel(false);
    let (begun, mut has_begun) = tokio::sync::watch::channel(false);
    let explain = || async move {
        explained.send_replace(true);
        let node =
            json!({ "node": "web-1", "isFitting": false, "reasons": ["it is full"], "labels": {} });
        Json(json!({ "state": "pending", "summary": "no room", "nodes": [node], "hints": [] }))
    };
    let logs = move || async move {
        if is_refusing && !*has_begun.borrow() {
            return refusal(Code::Conflict, "it has not started");
        }
        has_begun.wait_for(|&has_begun| has_begun).await.unwrap();
        output()
    };
    let current = move || async move {
        begun.send_replace(*is_explained.borrow());
        let status = match *is_explained.borrow() {
            true => exited(Some(0), None),
            false => unsettled("pending"),
        };
        Json(task(1, "job", status))
    };
    let submit =
        || async { (axum::http::StatusCode::CREATED, Json(task(1, "job", unsettled("pending")))) };
    let one = "/api/v1/projects/default/tasks/{task}";
    let router = axum::Router::new()
        .route("/api/v1/projects/default/tasks", post(submit))
        .route(one, get(current))
        .route(&format!("{one}/logs"), get(logs))
        .route(&format!("{one}/explain"), get(explain));
    World::new(router).await
}

#[tokio::test]
async fn whoever_waits_for_a_task_that_waits_is_told_why() {
    let (refusing, silent) = (waiting(true).await, waiting(false).await);
    let (ran, followed) =
        tokio::join!(refusing.hostler(&["run", "make"]), silent.hostler(&["logs", "-f", "job"]));
    for ran in [ran, followed] {
        assert_eq!((ran.code, ran.out.as_slice()), (0, &b"out \xff\n"[..]), "{}", ran.err);
        assert_eq!(ran.err, "task job: no room: it is full\nerr");
    }
}

#[tokio::test]
async fn detached_and_submitted_tasks_give_their_name_as_data() {
    let world = world(exited(Some(0), None), 0).await;
    for words in ["run -d --name build -- make", "task submit --name build -- make"] {
        let ran = world.hostler(&words.split(' ').collect::<Vec<_>>()).await;
        assert_eq!((ran.code, ran.text().as_str()), (0, "build\n"), "{}", ran.err);
    }
    let ran = world.hostler(&["task", "submit", "-q", "--", "make"]).await;
    assert_eq!(ran.text(), format!("{}\n", uuid::Uuid::from_u128(1)));
    let ran = world.hostler(&["task", "submit", "--wait", "--", "make"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "task job: completed somehow\n"));
}

#[tokio::test]
async fn files_are_submitted_from_stdin() {
    let world = world(exited(Some(0), None), 0).await;
    let ran = world
        .hostler_with(
            &["task", "submit", "-f", "-"],
            "name: from-file\nspec: { command: [make] }\n",
        )
        .await;
    assert_eq!((ran.code, ran.text().as_str()), (0, "from-file\n"), "{}", ran.err);
    let ran = world.hostler_with(&["run", "-f", "-"], "spec:\n  comand: [make]\n").await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("comand"), "{}", ran.err);
    let batch = "tasks: [{ spec: { command: [a] } }]";
    let ran = world.hostler_with(&["task", "submit", "--cores", "2", "-f", "-"], batch).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
}

#[tokio::test]
async fn waiting_tells_how_it_ended() {
    let ran = world(exited(Some(0), None), 0).await.hostler(&["wait", "job"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "task job: completed somehow\n"));
    let ran =
        world(exited(Some(3), None), 0).await.hostler(&["task", "wait", "job", "-o", "name"]).await;
    assert_eq!((ran.code, ran.text().as_str()), (4, "task/job\n"));
    let ran =
        world(unsettled("running"), 0).await.hostler(&["wait", "job", "--timeout", "100ms"]).await;
    assert_eq!(ran.code, 9, "{}", ran.err);
    assert!(
        ran.err.starts_with("error: task job has not ended within 100ms\n  hint: it goes on"),
        "{}",
        ran.err
    );
}

#[tokio::test]
async fn logs_are_bytes_or_lines_of_json() {
    let world = world(exited(Some(0), None), 0).await;
    let ran = world.hostler(&["logs", "-f", "job"]).await;
    assert_eq!((ran.code, ran.out.as_slice(), ran.err.as_str()), (0, &b"out \xff\n"[..], "err"));
    let ran = world.hostler(&["task", "logs", "job", "-o", "jsonl"]).await;
    let lines: Vec<Value> =
        ran.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[2]["type"]), (3, &json!("end")));
}

#[tokio::test]
async fn many_at_once_need_a_yes() {
    let world = world(unsettled("running"), 0).await;
    let ran = world.hostler(&["task", "kill", "job"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "task job is being stopped\n"));
    let ran = world.hostler(&["node", "rm", "web-1"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("say --yes if you are sure"), "{}", ran.err);
    let ran = world.hostler_at_terminal(&["node", "rm", "web-1", "--no-input"], "y\n").await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    let ran = world.hostler_at_terminal(&["node", "rm", "web-1"], "n\n").await;
    assert_eq!(ran.code, 1);
    assert!(ran.err.ends_with("[y/N] error: nothing was done\n"), "{}", ran.err);
    let ran = world.hostler_at_terminal(&["node", "rm", "web-1"], "y\n").await;
    assert_eq!(ran.code, 3, "{}", ran.err);
}

#[tokio::test]
async fn watching_shows_the_list_and_then_the_changes() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let list = move |axum::extract::Query(query): axum::extract::Query<Value>| async move {
        if query["watch"] != "true" {
            let items =
                [task(1, "job", unsettled("pending")), task(2, "other", unsettled("pending"))];
            return Json(json!({ "items": items, "watchCursor": "5" })).into_response();
        }
        if counted.fetch_add(1, Ordering::SeqCst) > 0 {
            return refusal(Code::Forbidden, "no longer yours");
        }
        assert_eq!(query["cursor"], "5");
        let message = |cursor: &str, kind: &str, object: Value| {
            let data = json!({ "type": kind, "cursor": cursor, "object": object });
            format!("event: {kind}\ndata: {data}\n\n")
        };
        let text = message("6", "MODIFIED", task(1, "job", unsettled("running")))
            + &message("7", "BOOKMARK", Value::Null)
            + &message("8", "MODIFIED", task(2, "other", unsettled("running")))
            + &format!(
                "event: DELETED\ndata: {}\n\n",
                json!({ "type": "DELETED", "cursor": "9", "id": uuid::Uuid::from_u128(1) })
            );
        text.into_response()
    };
    let world =
        World::new(axum::Router::new().route("/api/v1/projects/default/tasks", get(list))).await;
    let ran = world.hostler(&["task", "watch", "job"]).await;
    assert_eq!(ran.code, 6, "{}", ran.err);
    insta::assert_snapshot!(ran.text());
}
