//! Event hooks: what is sent, what is shown, and the exit code of a test that fails.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use serde_json::{Value, json};

use crate::world::World;

/// What the server was sent: which generation it was to be, and the body.
type Sent = Arc<Mutex<Vec<(Option<String>, Value)>>>;

fn hook() -> Value {
    json!({
        "id": "0192f3c4-0000-7000-8000-000000000007", "name": "tell", "project": "default",
        "spec": {
            "on": ["task.failed"], "filter": "payload.exitCode > 1",
            "action": { "webhook": { "url": "https://ops.example/in?key=1" } },
        },
        "summary": "event to https://ops.example", "isEnabled": true, "owner": "ada",
        "deliveries": { "ready": 2, "dead": 1 }, "generation": 4,
        "timeCreated": "2026-01-31T10:00:00Z", "timeModified": "2026-01-31T11:00:00Z",
    })
}

fn delivery(state: &str) -> Value {
    json!({
        "id": "hook/0192f3c4-0000-7000-8000-000000000007/41", "sequence": 41, "state": state,
        "attempts": 3, "note": "the call was answered with status 503", "status": 503,
        "event": { "kind": "task.failed", "object": { "kind": "task", "name": "web" } },
        "timeCreated": "2026-01-31T11:59:00Z",
    })
}

async fn world() -> (World, Sent) {
    let sent = Sent::default();
    let one = "/api/v1/projects/default/hooks/tell";
    let keep = |answer: fn() -> Value| {
        post(move |State(sent): State<Sent>, body: Bytes| async move {
            let body = serde_json::from_slice(&body).unwrap_or_default();
            sent.lock().unwrap().push((None, body));
            Json(answer())
        })
    };
    let router = axum::Router::new()
        .route(
            "/api/v1/projects/default/hooks",
            get(|| async { Json(json!({ "items": [hook()] })) }),
        )
        .route(
            one,
            get(|| async { Json(hook()) })
                .put(|State(sent): State<Sent>, headers: HeaderMap, body: Bytes| async move {
                    let seen = headers.get("if-match").map(|v| v.to_str().unwrap().to_owned());
                    sent.lock().unwrap().push((seen, serde_json::from_slice(&body).unwrap()));
                    Json(hook())
                })
                .delete(|| async { StatusCode::NO_CONTENT }),
        )
        .route(
            &format!("{one}/deliveries"),
            get(|| async { Json(json!({ "items": [delivery("dead")] })) }),
        )
        .route(&format!("{one}/replay"), keep(|| json!({ "count": 2 })))
        .route(&format!("{one}/discard"), keep(|| json!({ "count": 1 })))
        .route(&format!("{one}/disable"), keep(hook))
        .route(
            &format!("{one}/test"),
            keep(|| json!({ "isMatch": false, "isDone": false, "note": "no answer" })),
        )
        .with_state(sent.clone());
    (World::new(router).await, sent)
}

#[tokio::test]
async fn a_hook_is_made_from_flags_and_from_a_file() {
    let (world, sent) = world().await;
    let words = [
        "hook",
        "add",
        "tell",
        "--on",
        "task.failed,node.*",
        "--filter",
        "payload.exitCode > 1",
        "--webhook",
        "https://ops.example/in",
        "--format",
        "slack",
        "--sign",
        "hook-key",
        "--header",
        "X-Team=ops",
        "--attempts",
        "3",
        "--on-dead",
        "block",
        "--time-limit",
        "5s",
    ];
    let set = world.hostler(&words).await;
    assert_eq!(set.code, 0, "{}", set.err);
    let (seen, body) = sent.lock().unwrap().pop().unwrap();
    assert_eq!(seen.as_deref(), Some("\"4\""), "one that is there is changed as it was seen");
    assert_eq!(
        body,
        json!({
            "on": ["task.failed", "node.*"], "filter": "payload.exitCode > 1",
            "action": { "webhook": {
                "url": "https://ops.example/in", "format": "slack", "sign": "hook-key",
                "headers": { "X-Team": "ops" },
            } },
            "retry": { "attempts": 3, "min": "1s", "max": "1h", "giveUpAfter": "1d" },
            "timeLimit": "5s", "onDead": "block",
        })
    );
    let file = world.home.path().join("hook.yaml");
    std::fs::write(&file, "on: ['*']\naction:\n  workload: { name: web, verb: restart }\n")
        .unwrap();
    let set = world.hostler(&["hook", "add", "tell", "--file", file.to_str().unwrap()]).await;
    assert_eq!(set.code, 0, "{}", set.err);
    let (_, body) = sent.lock().unwrap().pop().unwrap();
    assert_eq!(body["action"], json!({ "workload": { "name": "web", "verb": "restart" } }));

    let nothing = world.hostler(&["hook", "add", "tell", "--on", "*"]).await;
    assert_eq!(nothing.code, 2);
    assert!(nothing.err.contains("what does the hook do?"), "{}", nothing.err);
    let wrong = ["hostler", "hook", "add", "tell", "--on", "task.faild", "--webhook", "https://a"];
    let wrong = hostler_cli::parse_from(wrong).unwrap_err().to_string();
    assert!(wrong.contains("did you mean `task.failed`?"), "{wrong}");
}

#[tokio::test]
async fn hooks_and_deliveries_are_shown() {
    let (world, sent) = world().await;
    let listed = world.hostler(&["hook", "ls"]).await.text();
    assert!(listed.contains("event to https://ops.example") && listed.contains("tell"), "{listed}");
    let shown = world.hostler(&["hook", "show", "tell"]).await;
    for words in ["payload.exitCode > 1", "ada", "dead", "10s"] {
        assert!(shown.text().contains(words), "{words} in {}", shown.text());
    }
    assert!(shown.err.contains("hostler hook replay tell --all"), "{}", shown.err);
    let dead = world.hostler(&["hook", "dead", "tell"]).await.text();
    assert!(dead.contains("503") && dead.contains("task/web"), "{dead}");
    assert!(world.requests().iter().any(|line| line.contains("state=dead")));
    let replayed = world.hostler(&["hook", "replay", "tell", "--all"]).await;
    assert!(replayed.err.contains("2 dead letters will be delivered again"), "{}", replayed.err);
    assert_eq!(sent.lock().unwrap().pop().unwrap().1, json!({}));
    let gone = world.hostler(&["hook", "dead", "tell", "--discard", "41", "--yes"]).await;
    assert_eq!(gone.code, 0, "{}", gone.err);
    assert_eq!(sent.lock().unwrap().pop().unwrap().1, json!({ "sequence": 41 }));
    assert_eq!(world.hostler(&["hook", "disable", "tell"]).await.code, 0);
    assert_eq!(world.hostler(&["hook", "rm", "tell", "--yes"]).await.code, 0);
}

#[tokio::test]
async fn a_test_that_fails_is_told_with_a_code() {
    let (world, sent) = world().await;
    let test = world.hostler(&["hook", "test", "tell", "--event", "41"]).await;
    assert_eq!(test.code, 4);
    assert!(test.err.contains("not delivered: no answer"), "{}", test.err);
    assert!(test.err.contains("would not have taken this event"), "{}", test.err);
    assert_eq!(sent.lock().unwrap().pop().unwrap().1, json!({ "sequence": 41 }));
    let json = world.hostler(&["hook", "test", "tell", "--event", "41", "-o", "json"]).await;
    let told: Value = serde_json::from_slice(&json.out).unwrap();
    assert_eq!((json.code, told["isDone"].as_bool()), (4, Some(false)));
}
