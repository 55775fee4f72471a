use std::sync::{Arc, Mutex};

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::get;
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, refusal};

/// What the server was sent: the query and the bytes.
type Sent = Arc<Mutex<Vec<(Value, Vec<u8>)>>>;

fn secret(name: &str, environment: &str, version: u32) -> Value {
    let reference = match environment {
        "default" => name.to_owned(),
        other => format!("{other}/{name}"),
    };
    json!({
        "id": uuid::Uuid::from_u128(3), "environment": environment, "name": name, "reference": reference,
        "source": "kept", "version": version, "createdBy": "ada",
        "timeCreated": "2026-01-31T10:00:00Z", "timeModified": "2026-01-31T11:55:00Z",
    })
}

fn versions() -> Value {
    let by = json!({ "kind": "user", "name": "ada" });
    json!({ "items": [
        { "version": 3, "isCurrent": true, "isDestroyed": false, "size": 20, "createdBy": by, "timeCreated": "2026-01-31T11:55:00Z" },
        { "version": 2, "isCurrent": false, "isDestroyed": false, "size": 8, "createdBy": by, "timeCreated": "2026-01-31T11:00:00Z" },
        { "version": 1, "isCurrent": false, "isDestroyed": true, "size": 8, "createdBy": by, "timeCreated": "2026-01-31T10:00:00Z", "timeDestroyed": "2026-01-31T11:50:00Z" },
    ] })
}

async fn world() -> (World, Sent) {
    let sent = Sent::default();
    let (of, value) =
        ("/api/v1/projects/default/secrets/db", "/api/v1/projects/default/secrets/db/value");
    let read =
        json!({ "environment": "default", "name": "db", "version": 3, "value": "aHVudGVyMg==" });
    let router = axum::Router::new()
        .route(
            "/api/v1/projects/default/secrets",
            get(|| async {
                Json(
                    json!({ "items": [secret("db", "default", 3), secret("tls-key", "prod", 12)] }),
                )
            }),
        )
        .route(
            of,
            get(|| async { Json(secret("db", "default", 3)) })
                .put(
                    |State(sent): State<Sent>, Query(query): Query<Value>, body: Bytes| async move {
                        sent.lock().unwrap().push((query, body.to_vec()));
                        Json(secret("db", "default", 4))
                    },
                )
                .delete(|| async { StatusCode::NO_CONTENT }),
        )
        .route(
            "/api/v1/projects/default/secrets/none",
            get(|| async { refusal(Code::NotFound, "there is no secret `none`") }),
        )
        .route(
            &format!("{of}/link"),
            axum::routing::put(|State(sent): State<Sent>, Json(body): Json<Value>| async move {
                let mut linked = secret("db", "default", 0);
                linked["source"] = json!("linked");
                linked["link"] = body.clone();
                linked.as_object_mut().unwrap().remove("version");
                sent.lock().unwrap().push((body, Vec::new()));
                Json(linked)
            }),
        )
        .route(
            "/api/v1/projects/default/vaults",
            get(|| async {
                Json(json!({ "items": [
                    { "name": "corp", "kind": "hashicorp", "prefix": "teams/default/" },
                ] }))
            }),
        )
        .route(value, get(move || async move { Json(read).into_response() }))
        .route(&format!("{of}/versions"), get(|| async { Json(versions()) }))
        .with_state(sent.clone());
    (World::new(router).await, sent)
}

#[tokio::test]
async fn secrets_in_every_form() {
    let (world, _) = world().await;
    let mut shown = String::new();
    for words in [
        &["secret", "ls"][..],
        &["secret", "ls", "-o", "wide"],
        &["secret", "ls", "-o", "name"],
        &["secret", "versions", "db"],
        &["secret", "versions", "db", "-o", "jsonpath={.items[*].version}"],
        &["secret", "get", "db"],
        &["secret", "get", "db", "-o", "json"],
        &["secret", "rm", "db", "--yes"],
    ] {
        let ran = world.hostler(words).await;
        let (out, err) = (ran.text(), ran.err.clone());
        shown += &format!("$ hostler {} -> {}\n{out}{err}\n", words.join(" "), ran.code);
    }
    insta::assert_snapshot!(shown);
}

#[tokio::test]
async fn values_come_from_files_and_stdin_and_never_from_arguments() {
    let (world, sent) = world().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("value");
    std::fs::write(&file, b"\0 from a file\n").unwrap();
    let file = file.to_str().unwrap();
    let ran = world.hostler(&["secret", "set", "db", "--file", file]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.text().contains("version 4") || ran.err.contains("version 4"), "{}", ran.err);
    let ran = world.hostler(&["secret", "rotate", "db", "--file", file]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = sent.lock().unwrap().clone();
    let environment = json!({ "environment": "default" });
    assert_eq!(told[0], (environment, b"\0 from a file\n".to_vec()), "as it is");
    assert_eq!(told[1].0, json!({ "environment": "default", "mustExist": "true" }));

    for (words, why) in [
        (&["secret", "set", "db", "hunter2"][..], "never an argument"),
        (&["secret", "set", "db"], "no value is given"),
        (&["secret", "set", "db:3", "--file", file], "never changed"),
        (&["secret", "set", "db", "--file", "/not/there"], "cannot be read"),
        (&["secret", "set", "db", "--file", "/dev/null"], "the value is empty"),
    ] {
        let ran = world.hostler(words).await;
        assert_eq!(ran.code, 2, "{words:?}: {}", ran.err);
        assert!(ran.err.contains(why) && !ran.err.contains("hunter2"), "{words:?}: {}", ran.err);
    }
    let ran = world.hostler(&["secret", "rotate", "none", "--file", file]).await;
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert_eq!(sent.lock().unwrap().len(), 2, "nothing else was sent");
}

#[tokio::test]
async fn a_secret_is_linked_to_a_path_in_a_vault() {
    let (world, sent) = world().await;
    let whole = json!({ "provider": "corp", "path": "db/app", "field": "password", "version": 3 });
    for words in [
        &["--path", "db/app", "--field", "password", "--version", "3"][..],
        &["--path", "db/app#password@3"],
        &["--path", "db/app#password", "--version", "3"],
    ] {
        let line = [&["secret", "link", "db", "--provider", "corp"][..], words].concat();
        let ran = world.hostler(&line).await;
        assert_eq!(ran.code, 0, "{line:?}: {}", ran.err);
        assert!(format!("{}{}", ran.text(), ran.err).contains("linked to corp:db/app#password@3"));
        assert_eq!(sent.lock().unwrap().pop().unwrap().0, whole, "{line:?}");
    }
    for (words, why) in [
        (&["--path", "../other"][..], "no `..`"),
        (&["--path", "a#b", "--field", "c"], "named once"),
        (&["--path", "a@1", "--version", "2"], "named once"),
    ] {
        let line = [&["secret", "link", "db", "--provider", "corp"][..], words].concat();
        let ran = world.hostler(&line).await;
        assert_eq!(ran.code, 2, "{line:?}: {}", ran.err);
        assert!(ran.err.contains(why), "{line:?}: {}", ran.err);
    }
    let ran = world.hostler(&["secret", "link", "db:3", "--provider", "corp", "--path", "a"]).await;
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert_eq!(sent.lock().unwrap().len(), 0, "nothing else was sent");
    let ran = world.hostler(&["secret", "vaults"]).await;
    assert!(ran.text().contains("corp") && ran.text().contains("teams/default/"), "{}", ran.err);
    let ran = world.hostler(&["secret", "vaults", "-o", "json"]).await;
    assert!(ran.text().contains("\"kind\": \"hashicorp\""), "{}", ran.text());
}
