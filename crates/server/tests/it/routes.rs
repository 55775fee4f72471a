//! Paths, methods, pages and headers.

use http::Method;
use serde_json::json;

use crate::world::{World, request};

#[tokio::test]
async fn every_answer_is_protected() {
    let world = World::new().await;
    for (path, status) in [
        ("/api/v1/whoami", 401),
        ("/livez", 200),
        ("/", 200),
        ("/docs", 200),
        ("/api/v1/none", 404),
    ] {
        let reply = world.send(request(Method::GET, path, None, None)).await;
        assert_eq!(reply.status, status, "{path}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(reply.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(reply.header("referrer-policy"), "no-referrer", "{path}");
        let policy = reply.header("content-security-policy");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert!(!reply.header("x-request-id").is_empty(), "{path}");
        if path.starts_with("/api/") {
            assert_eq!(reply.header("cache-control"), "no-store", "{path}");
        }
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_problems() {
    let world = World::new().await;
    for path in [
        "/api",
        "/api/",
        "/api/v1",
        "/api/v2/nodes",
        "/api/v1/nodes/",
        "/api/v1//nodes",
        "/api/v1/%6eodes",
        "/api/v1/nodes/a/b/c",
        "/api/v1/nodes;x=1",
        "/missing.js",
    ] {
        assert_eq!(world.get(path).await.code(), "no-such-route", "{path}");
    }
    let reply = world.call(Method::PUT, "/api/v1/nodes", Some(json!({}))).await;
    assert_eq!(reply.code(), "method-not-allowed");
    assert_eq!(reply.header("allow"), "GET, HEAD");
    let reply = world.call(Method::OPTIONS, "/api/v1/projects/default", None).await;
    assert_eq!(reply.code(), "method-not-allowed");
    assert_eq!(reply.header("allow"), "DELETE, GET, HEAD, PATCH");
    assert_eq!(reply.headers.get("access-control-allow-origin"), None);
    assert_eq!(world.call(Method::POST, "/", None).await.code(), "no-such-route");
    let trace = Method::from_bytes(b"BREW").unwrap();
    assert_eq!(world.call(trace, "/api/v1/nodes", None).await.code(), "method-not-allowed");
}

#[tokio::test]
async fn names_in_paths_are_decoded_once() {
    let world = World::new().await;
    for path in [
        "/api/v1/nodes/..%2f..%2fusers",
        "/api/v1/nodes/%252e%252e",
        "/api/v1/nodes/a%2Fb",
        "/api/v1/nodes/%E2%9C%93",
        "/api/v1/projects/default/tasks/..%2F..%2Fprojects",
    ] {
        let reply = world.get(path).await;
        assert_eq!(reply.code(), "not-found", "{path}");
    }
    assert_eq!(world.get("/api/v1/projects/%64efault").await.status, 200);
    assert_eq!(world.get("/api/v1/projects/%2564efault").await.code(), "not-found");
    for path in ["/api/v1/nodes/%ff", "/api/v1/nodes/a%00b"] {
        assert_eq!(world.get(path).await.code(), "malformed", "{path}");
    }
    let token = world.account("ada", None, Some(("default", "viewer"))).await;
    for path in [
        "/api/v1/projects/%ff",
        "/api/v1/projects/default%00",
        "/api/v1/projects/default%2F..%2Fdefault",
    ] {
        let reply = world.call_as(&token, Method::GET, path, None).await;
        assert_eq!(reply.code(), "not-found", "{path}");
    }
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let world = World::new().await;
    for path in ["/livez", "/api/v1/whoami", "/docs"] {
        let get = world.get(path).await;
        let head = world.call(Method::HEAD, path, None).await;
        assert_eq!(head.status, get.status, "{path}");
        assert!(head.bytes.is_empty(), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
    }
}

#[tokio::test]
async fn the_installation_says_how_it_is() {
    let world = World::new().await;
    let ready = world.send(request(Method::GET, "/readyz", None, None)).await;
    assert_eq!(ready.status, 200);
    assert_eq!(
        ready.json()["checks"],
        json!({ "database": "ok", "schema": "ok", "shutdown": "ok" })
    );
    let version = world.send(request(Method::GET, "/version", None, None)).await.json();
    assert_eq!(version["needsSetup"], true);
    assert_eq!(version["apiVersion"], "v1");
    world.stopping.cancel();
    let ready = world.send(request(Method::GET, "/readyz", None, None)).await;
    assert_eq!(ready.status, 503);
    assert!(ready.json()["status"].as_str().unwrap().contains("stopping"));
    assert_eq!(world.send(request(Method::GET, "/livez", None, None)).await.status, 200);
}

#[tokio::test]
async fn a_database_that_is_away_is_said() {
    let world = World::new().await;
    world.control.store().close().await;
    let ready = world.send(request(Method::GET, "/readyz", None, None)).await;
    assert_eq!(ready.status, 503);
    assert_eq!(ready.json()["checks"]["database"], "does not answer");
}

#[tokio::test]
async fn the_contract_is_served_and_documented() {
    let world = World::new().await;
    let served = world.send(request(Method::GET, "/openapi.json", None, None)).await;
    assert_eq!(served.json(), hostler_api::openapi::document());
    let page = world.send(request(Method::GET, "/docs", None, None)).await;
    let text = String::from_utf8(page.bytes).unwrap();
    for part in ["/docs/docs.js", "/docs/docs.css"] {
        assert!(text.contains(part));
        let reply = world.send(request(Method::GET, part, None, None)).await;
        assert_eq!(reply.status, 200);
        let mut again = request(Method::GET, part, None, None);
        again.headers_mut().insert("if-none-match", reply.header("etag").parse().unwrap());
        assert_eq!(world.send(again).await.status, 304);
    }
    assert!(!text.contains("<script>") && !text.contains(" style=") && !text.contains("onload="));
}

#[tokio::test]
async fn pages_of_the_dashboard_lead_to_its_start() {
    let world = World::new().await;
    for path in ["/", "/nodes", "/tasks/some-task", "/index.html"] {
        let reply = world.send(request(Method::GET, path, None, None)).await;
        assert_eq!(reply.status, 200, "{path}");
        assert_eq!(reply.header("content-type"), "text/html; charset=utf-8", "{path}");
        assert_eq!(reply.header("cache-control"), "no-cache", "{path}");
    }
    for path in ["/../Cargo.toml", "/..%2fCargo.toml", "/assets/none.js", "/%2e%2e/Cargo.toml"] {
        let reply = world.send(request(Method::GET, path, None, None)).await;
        assert_eq!(reply.status, 404, "{path}");
    }
}

#[tokio::test]
async fn large_answers_are_compressed_when_asked() {
    let world = World::new().await;
    let mut request = request(Method::GET, "/openapi.json", None, None);
    request.headers_mut().insert("accept-encoding", "gzip".parse().unwrap());
    let reply = world.send(request).await;
    assert_eq!(reply.header("content-encoding"), "gzip");
    assert_eq!(reply.bytes[..2], [0x1f, 0x8b]);
}

#[tokio::test]
async fn metrics_need_a_viewer_and_count_requests() {
    let world = World::new().await;
    assert_eq!(
        world.send(request(Method::GET, "/metrics", None, None)).await.code(),
        "unauthenticated"
    );
    world.get("/api/v1/nodes").await;
    let reply = world.get("/metrics").await;
    assert!(reply.header("content-type").starts_with("application/openmetrics-text"));
    let text = String::from_utf8(reply.bytes).unwrap();
    let line =
        "hostler_http_requests_total{endpoint=\"node_list\",method=\"GET\",status=\"2xx\"} 1";
    assert!(text.contains(line), "{text}");
    assert!(text.contains("hostler_store_commits_total"));
    let router = hostler_server::http::metrics_router(world.app.clone());
    let own = tower::ServiceExt::oneshot(router, request(Method::GET, "/metrics", None, None))
        .await
        .unwrap();
    assert_eq!(own.status(), 200);
}

#[tokio::test]
async fn made_objects_say_where_they_are() {
    let world = World::new().await;
    for (path, body) in [
        ("/api/v1/projects", json!({ "name": "one" })),
        ("/api/v1/users", json!({ "name": "bot", "kind": "service" })),
        ("/api/v1/tokens", json!({ "name": "t", "role": "viewer" })),
        ("/api/v1/projects/default/tasks", json!({ "spec": { "command": ["true"] } })),
    ] {
        let made = world.post(path, body).await;
        assert_eq!(made.status, 201, "{path}");
        let found = world.get(made.header("location")).await;
        assert_eq!(found.status, 200, "{path}");
    }
}

#[tokio::test]
async fn joining_is_shown_as_a_command() {
    let world = World::new().await;
    let made = world
        .post("/api/v1/join-tokens", json!({ "name": "web-1", "labels": { "zone": "a" } }))
        .await;
    assert_eq!(made.status, 201, "{}", made.json());
    let made = made.json();
    let command = made["command"].as_str().unwrap();
    assert!(command.contains(made["ticket"].as_str().unwrap()), "{command}");
    assert!(command.contains("--server https://server.example:7443 --name web-1"), "{command}");
    assert_eq!(made["token"]["state"], "unused");
    let id = made["token"]["id"].as_str().unwrap();
    assert_eq!(
        world.call(Method::DELETE, &format!("/api/v1/join-tokens/{id}"), None).await.status,
        204
    );
    let listed = world.get("/api/v1/join-tokens").await.json();
    assert_eq!(listed["items"][0]["state"], "revoked");
    let bad = json!({ "token": "x", "name": "web-1", "csr": "x" });
    let refused = world.send(request(Method::POST, "/api/v1/join", None, Some(bad))).await;
    assert_eq!(refused.code(), "unauthenticated");
}
