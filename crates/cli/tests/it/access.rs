use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Json;
use axum::response::IntoResponse;
use axum::routing::{delete, get, post, put};
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, refusal};

fn user(name: &str, is_disabled: bool) -> Value {
    json!({
        "id": uuid::Uuid::from_u128(5), "name": name, "kind": "user", "role": "operator", "isDisabled": is_disabled,
        "generation": 4, "timeCreated": "2026-01-01T00:00:00Z", "timeModified": "2026-01-01T00:00:00Z",
    })
}

#[tokio::test]
async fn changes_name_the_generation_that_was_read_and_follow_a_newer_one() {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let update = move |Json(body): Json<Value>| async move {
        assert_eq!(body, json!({ "isDisabled": true }));
        if counted.fetch_add(1, Ordering::SeqCst) == 0 {
            return refusal(Code::Stale, "it has changed");
        }
        Json(user("ada", true)).into_response()
    };
    let router = axum::Router::new()
        .route("/api/v1/users/{user}", get(|| async { Json(user("ada", false)) }).patch(update));
    let world = World::new(router).await;
    let ran = world.hostler(&["user", "disable", "ada"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "user ada disabled\n"));
    let seen = world.seen.lock().unwrap();
    let patches: Vec<_> = seen.iter().filter(|seen| seen.what.starts_with("PATCH")).collect();
    assert_eq!(patches.len(), 2);
    assert!(patches.iter().all(|patch| patch.if_match.as_deref() == Some("\"4\"")));
}

#[tokio::test]
async fn passwords_come_from_stdin_and_are_never_flags() {
    let create = |Json(body): Json<Value>| async move {
        assert_eq!(body, json!({ "name": "ada", "kind": "user", "password": "correct horse" }));
        (axum::http::StatusCode::CREATED, Json(user("ada", false)))
    };
    let change = |Json(body): Json<Value>| async move {
        assert_eq!(body, json!({ "current": "one", "new": "two" }));
        axum::http::StatusCode::NO_CONTENT
    };
    let router = axum::Router::new()
        .route("/api/v1/users", post(create))
        .route("/api/v1/whoami/password", post(change));
    let world = World::new(router).await;
    let ran =
        world.hostler_with(&["user", "create", "ada", "--password-stdin"], "correct horse\n").await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "user ada created\n"));
    let ran = world.hostler_with(&["user", "passwd", "--password-stdin"], "one\ntwo\n").await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = world.hostler(&["user", "create", "ada"]).await;
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--password-stdin"), "{}", ran.err);
}

#[tokio::test]
async fn secrets_are_data_and_their_story_is_talk() {
    let token = json!({
        "token": { "id": uuid::Uuid::from_u128(6), "name": "laptop", "user": "ada", "role": "user", "isRevoked": false,
            "timeCreated": "2026-01-31T12:00:00Z", "timeExpires": "2026-02-02T12:00:00Z" },
        "secret": "hst_pat_secret",
    });
    let ticket = json!({
        "token": { "id": uuid::Uuid::from_u128(8), "labels": { "disk": "ssd" }, "state": "unused",
            "timeCreated": "2026-01-31T12:00:00Z", "timeExpires": "2026-01-31T13:00:00Z" },
        "ticket": "hst_join_x.abc", "command": "hostler agent join hst_join_x.abc --server https://control:7443",
    });
    let join = |Json(body): Json<Value>| async move {
        assert_eq!(body["labels"], json!({ "disk": "ssd" }));
        (axum::http::StatusCode::CREATED, Json(ticket))
    };
    let router = axum::Router::new()
        .route("/api/v1/tokens", post(|| async { (axum::http::StatusCode::CREATED, Json(token)) }))
        .route("/api/v1/join-tokens", post(join));
    let world = World::new(router).await;
    let ran = world.hostler(&["token", "create", "laptop", "--role", "user"]).await;
    assert_eq!(ran.text(), "hst_pat_secret\n");
    assert_eq!(
        ran.err,
        "token laptop of ada with role user, expires in 2d; it is shown this once:\n"
    );
    let ran = world
        .hostler(&["token", "create", "laptop", "--role", "user", "-o", "jsonpath={.token.id}"])
        .await;
    assert_eq!(ran.text(), format!("{}\n", uuid::Uuid::from_u128(6)));
    let ran = world.hostler(&["node", "token", "create", "--label", "disk=ssd"]).await;
    assert_eq!(ran.text(), "hostler agent join hst_join_x.abc --server https://control:7443\n");
    assert_eq!(ran.err, "run this on the machine; it works once and expires in 1h:\n");
    let ran = world.hostler(&["-q", "node", "token", "create", "--label", "disk=ssd"]).await;
    assert_eq!((ran.text().as_str(), ran.err.as_str()), ("hst_join_x.abc\n", ""));
}

#[tokio::test]
async fn roles_are_given_and_taken() {
    let member = |Json(body): Json<Value>| async move {
        Json(json!({ "user": "ada", "id": uuid::Uuid::from_u128(5), "role": body["role"] }))
    };
    let gone = || async { axum::http::StatusCode::NO_CONTENT };
    let router = axum::Router::new()
        .route("/api/v1/projects/lab/members/ada", put(member).delete(gone))
        .route("/api/v1/tokens/{token}", delete(gone));
    let world = World::new(router).await;
    let ran = world.hostler(&["project", "grant", "lab", "ada", "operator"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "member ada is operator in project lab\n"));
    let ran = world.hostler(&["project", "revoke", "project/lab", "user/ada"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "ada has no role in project lab any more\n"));
    let ran = world.hostler(&["token", "rm", "a", "b"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, "token a revoked\ntoken b revoked\n"));
}

#[tokio::test]
async fn a_node_is_drained_while_somebody_waits() {
    let operation = |state: &str, error: Value| {
        json!({
            "id": uuid::Uuid::from_u128(4), "plan": { "kind": "node-drain", "node": uuid::Uuid::from_u128(1), "reason": "r", "deadline": null },
            "state": state, "steps": [{ "name": "cordon", "state": "succeeded", "message": "", "timeStarted": null, "timeEnded": null }],
            "error": error, "isCancelRequested": false, "createdBy": { "kind": "user", "name": "ada" }, "generation": 1,
            "timeCreated": "2026-01-31T11:00:00Z", "timeModified": "2026-01-31T11:00:00Z",
        })
    };
    let (begun, ended) =
        (operation("running", Value::Null), operation("failed", json!("the node is gone")));
    let router = axum::Router::new()
        .route(
            "/api/v1/nodes/web-1/drain",
            post(|| async { (axum::http::StatusCode::ACCEPTED, Json(begun)) }),
        )
        .route("/api/v1/operations/{operation}", get(|| async { Json(ended) }));
    let world = World::new(router).await;
    let ran = world.hostler(&["node", "drain", "web-1", "--deadline", "5m"]).await;
    assert_eq!(
        (ran.code, ran.err.as_str()),
        (4, "operation node-drain failed: the node is gone\n")
    );
    let ran = world.hostler(&["node", "drain", "web-1", "--no-wait"]).await;
    assert_eq!((ran.code, ran.text()), (0, format!("{}\n", uuid::Uuid::from_u128(4))));
    let ran = world.hostler(&["operation", "ls"]).await;
    assert_eq!(ran.code, 1, "{}", ran.err);
}
