//! Reading requests: what is refused, how, and with which pointer.

use axum::body::Body;
use http::{Method, Request};
use serde_json::{Value, json};

use crate::world::{Reply, World};

async fn send_raw(
    world: &World,
    path: &str,
    content_type: Option<&str>,
    body: impl Into<Body>,
) -> Reply {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header("authorization", format!("Bearer {}", world.admin));
    if let Some(content_type) = content_type {
        request = request.header("content-type", content_type);
    }
    world.send(request.body(body.into()).unwrap()).await
}

const TASKS: &str = "/api/v1/projects/default/tasks";
const JSON: Option<&str> = Some("application/json");

#[tokio::test]
async fn mistakes_in_bodies_are_named() {
    let world = World::new().await;
    for (body, pointer) in [
        (json!({ "spec": { "command": ["a"], "comand": 1 } }), "/spec/comand"),
        (json!({ "spec": { "command": ["a"] }, "extra": 1 }), "/extra"),
        (json!({ "spec": { "command": "a" } }), "/spec/command"),
        (json!({ "spec": { "command": ["a"], "timeout": "soon" } }), "/spec/timeout"),
        (json!({ "spec": { "command": ["a"], "stop": ["SIGTERM", "1s"] } }), "/spec/stop"),
        (json!({ "spec": { "command": [] } }), "/spec/command"),
        (json!({ "spec": { "command": ["a\u{0}"] } }), "/spec/command/0"),
        (json!({ "name": "Not A Name", "spec": { "command": ["a"] } }), "/name"),
        (json!([]), ""),
    ] {
        let reply = world.post(TASKS, body.clone()).await;
        assert_eq!(reply.code(), "invalid", "{body}");
        assert_eq!(reply.json()["errors"][0]["pointer"], pointer, "{body}: {}", reply.json());
    }
    let batch =
        json!({ "tasks": [{ "spec": { "command": ["a"] } }, { "spec": { "command": [""] } }] });
    let reply = world.post("/api/v1/projects/default/task-batches", batch).await;
    assert_eq!(reply.json()["errors"][0]["pointer"], "/tasks/1/spec/command");
    assert_eq!(world.get(TASKS).await.json()["items"], json!([]));
}

#[tokio::test]
async fn what_cannot_be_read_is_malformed() {
    let world = World::new().await;
    for body in ["{", "", "{\"spec\":{}} trailing", "{\"spec\": \u{1F600}}", "nul"] {
        let reply = send_raw(&world, TASKS, JSON, body).await;
        assert_eq!(reply.code(), "malformed", "{body}");
    }
    let reply = send_raw(&world, TASKS, JSON, "{\n  \"spec\": oops\n}").await;
    assert!(reply.json()["detail"].as_str().unwrap().contains("line 2 column"), "{}", reply.json());
    let reply = send_raw(&world, TASKS, JSON, b"{\"name\":\"\xff\"}".to_vec()).await;
    assert_eq!(reply.code(), "malformed");
    let reply =
        send_raw(&world, TASKS, JSON, r#"{"spec":{"command":["a"],"command":["b"]}}"#).await;
    assert_eq!(reply.code(), "invalid");
    assert_eq!(reply.json()["errors"][0]["pointer"], "/spec/command");
    let reply =
        send_raw(&world, TASKS, JSON, r#"{"spec":{"command":["a"],"env":{"A":"1","A":"2"}}}"#)
            .await;
    assert_eq!(reply.json()["errors"][0]["pointer"], "/spec/env/A");
}

#[tokio::test]
async fn bodies_are_json_and_not_too_large() {
    let world = World::new().await;
    let body = || json!({ "spec": { "command": ["a"] } }).to_string();
    for kind in [
        None,
        Some("text/plain"),
        Some("application/x-www-form-urlencoded"),
        Some("application/json; charset=latin1"),
    ] {
        assert_eq!(
            send_raw(&world, TASKS, kind, body()).await.code(),
            "unsupported-media-type",
            "{kind:?}"
        );
    }
    let reply = send_raw(&world, TASKS, Some("Application/JSON; charset=UTF-8"), body()).await;
    assert_eq!(reply.status, 201);
    let large = json!({ "spec": { "command": ["a", "x".repeat(1 << 20)] } }).to_string();
    assert_eq!(send_raw(&world, TASKS, JSON, large.clone()).await.code(), "too-large");
    let chunks = futures::stream::iter(vec![Ok::<_, std::io::Error>(large.into_bytes())]);
    assert_eq!(send_raw(&world, TASKS, JSON, Body::from_stream(chunks)).await.code(), "too-large");
    let batch = json!({ "tasks": [{ "spec": { "command": ["a", "x".repeat(900 << 10)] } }, { "spec": { "command": ["a", "x".repeat(900 << 10)] } }] });
    let reply = world.post("/api/v1/projects/default/task-batches", batch).await;
    assert_eq!(reply.status, 201, "{}", reply.json()["detail"]);
}

#[tokio::test]
async fn a_body_where_none_belongs_is_refused() {
    let world = World::new().await;
    let reply = world.call(Method::POST, "/api/v1/logout", Some(json!({ "all": true }))).await;
    assert_eq!(reply.code(), "invalid");
    assert_eq!(world.get("/api/v1/whoami").await.status, 200);
    assert_eq!(world.call(Method::POST, "/api/v1/logout", Some(json!({}))).await.status, 204);
}

#[tokio::test]
async fn wrong_parameters_are_malformed() {
    let world = World::new().await;
    for query in [
        "limit=0",
        "limit=1001",
        "limit=ten",
        "limit=1&limit=2",
        "limit=1&%6cimit=2",
        "nope=1",
        "cursor=abc",
        "cursor=12",
        "state=sleeping",
        "watch=yes",
        "selector=zone",
        "selector=a%3D1,a%3D2",
        "state=%ff",
        "cursor=%00",
        "limit=%2",
    ] {
        let reply = world.get(&format!("/api/v1/nodes?{query}")).await;
        assert_eq!(reply.code(), "malformed", "{query}");
    }
    let reply = world.get("/api/v1/nodes?limit=ten").await;
    assert_eq!(reply.json()["errors"][0]["pointer"], "/query/limit");
    assert_eq!(world.get("/api/v1/nodes?watch=true&cursor=p.YQ").await.code(), "malformed");
    assert_eq!(world.get("/api/v1/projects/default/tasks/x?wait=61s").await.code(), "malformed");
    assert_eq!(world.get("/api/v1/nodes?limit=5&state=online&selector=zone%3Da").await.status, 200);
}

async fn with_header(
    world: &World,
    method: Method,
    path: &str,
    header: (&str, &str),
    body: Value,
) -> Reply {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {}", world.admin))
        .header("content-type", "application/json")
        .header(header.0, header.1);
    world.send(request.body(Body::from(body.to_string())).unwrap()).await
}

#[tokio::test]
async fn changes_name_the_state_they_change() {
    let world = World::new().await;
    world.project("one").await;
    let path = "/api/v1/projects/one";
    let patch = |text: &str| json!({ "description": text });
    let reply = world.call(Method::PATCH, path, Some(patch("a"))).await;
    assert_eq!(reply.code(), "precondition-required");
    for bad in ["1", "W/\"1\"", "*", "\"x\"", "\"\"", "\"1\", \"2\"", "\"1234567890123456789\""] {
        let reply = with_header(&world, Method::PATCH, path, ("if-match", bad), patch("a")).await;
        assert_eq!(reply.code(), "malformed", "{bad}");
    }
    let etag = world.get(path).await.header("etag").to_owned();
    let reply = with_header(&world, Method::PATCH, path, ("if-match", &etag), patch("a")).await;
    assert_eq!(reply.status, 200);
    assert_ne!(reply.header("etag"), etag);
    assert_eq!(reply.json()["description"], "a");
    let reply = with_header(&world, Method::PATCH, path, ("if-match", &etag), patch("b")).await;
    assert_eq!(reply.code(), "stale");
    assert_eq!(world.get(path).await.json()["description"], "a");
}

#[tokio::test]
async fn a_repeated_post_has_one_effect() {
    let world = World::new().await;
    let key = ("idempotency-key", "0d9c2c6c");
    let body = json!({ "spec": { "command": ["a"] } });
    let first = with_header(&world, Method::POST, TASKS, key, body.clone()).await;
    assert_eq!(first.status, 201, "{}", first.json());
    let again = with_header(&world, Method::POST, TASKS, key, body.clone()).await;
    assert_eq!(again.status, 201);
    assert_eq!(first.json()["id"], again.json()["id"]);
    let other =
        with_header(&world, Method::POST, TASKS, key, json!({ "spec": { "command": ["b"] } }))
            .await;
    assert_eq!(other.code(), "idempotency-key-reused");
    assert_eq!(world.get(TASKS).await.json()["items"].as_array().unwrap().len(), 1);
    let long = "k".repeat(256);
    for bad in ["", "a b", long.as_str()] {
        let reply =
            with_header(&world, Method::POST, TASKS, ("idempotency-key", bad), body.clone()).await;
        assert_eq!(reply.code(), "malformed", "{bad}");
    }
}

#[tokio::test]
async fn request_ids_are_kept_when_they_are_plain() {
    let world = World::new().await;
    let path = "/api/v1/whoami";
    let reply =
        with_header(&world, Method::GET, path, ("x-request-id", "abc-1.2:3"), json!({})).await;
    assert_eq!(reply.header("x-request-id"), "abc-1.2:3");
    for odd in ["a b", "<script>", &"x".repeat(129)] {
        let reply = with_header(&world, Method::GET, path, ("x-request-id", odd), json!({})).await;
        assert_ne!(reply.header("x-request-id"), odd);
        assert_eq!(reply.header("x-request-id").len(), 36);
    }
}

#[tokio::test]
async fn lists_are_walked_by_cursor() {
    let world = World::new().await;
    for n in 0..5 {
        world.project(&format!("p{n}")).await;
    }
    let mut seen = Vec::new();
    let mut path = "/api/v1/projects?limit=2".to_owned();
    loop {
        let page = world.get(&path).await.json();
        seen.extend(
            page["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|p| p["name"].as_str().unwrap().to_owned()),
        );
        match page["nextCursor"].as_str() {
            Some(cursor) => path = format!("/api/v1/projects?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen, ["default", "p0", "p1", "p2", "p3", "p4"]);
}
