//! What every answer and every request has to put up with: headers, budgets, secrets in addresses.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::StreamExt as _;
use hostler_server::http::{Rate, Rates};
use http::{Method, Request};
use serde_json::json;

use crate::world::{World, request};

#[tokio::test]
async fn every_answer_is_protected() {
    let world = World::new().await;
    for path in ["/", "/docs", "/api/v1/whoami", "/api/v1/nothing", "/no/such/file.js"] {
        let reply = world.get(path).await;
        let policy = reply.header("content-security-policy");
        assert!(policy.contains("default-src '") && policy.contains("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{path}: {policy}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(reply.header("x-frame-options"), "DENY", "{path}");
        assert_eq!(reply.header("referrer-policy"), "no-referrer", "{path}");
    }
}

#[tokio::test]
async fn a_token_in_an_address_is_refused_and_told() {
    let world = World::new().await;
    let secret = world.account("robot", Some("viewer"), None).await;
    for path in [
        format!("/api/v1/whoami?token={secret}"),
        format!("/api/v1/events?id={secret}"),
        format!("/?access_token={secret}"),
    ] {
        for credential in [None, Some(secret.as_str())] {
            let reply = world.send(request(Method::GET, &path, credential, None)).await;
            assert_eq!(reply.status, 400, "{path}");
            assert_eq!(reply.code(), "malformed");
            let problem = reply.json();
            assert!(problem["hint"].as_str().unwrap().contains("hostler token rm"), "{problem}");
            assert!(!String::from_utf8_lossy(&reply.bytes).contains(&secret));
        }
    }
    let events = world.get("/api/v1/events?kind=token.exposed").await.json();
    assert_eq!(events["items"].as_array().unwrap().len(), 6, "{events}");
    let entries = world.get("/api/v1/audit?action=token.exposed").await.json();
    assert_eq!(entries["items"][0]["actor"]["name"], "robot", "{entries}");
    let whole = format!("{events}{entries}");
    assert!(!whole.contains(&secret));

    let dead = hostler_trust::SecretToken::generate(hostler_trust::TokenKind::Personal);
    let path = format!("/api/v1/whoami?token={}", dead.expose());
    assert_eq!(world.get(&path).await.code(), "malformed");
    let after = world.get("/api/v1/events?kind=token.exposed").await.json();
    assert_eq!(after["items"].as_array().unwrap().len(), 6, "a dead one is no news");
}

#[tokio::test]
async fn guessing_tokens_in_addresses_is_slowed_down() {
    let rates = Rates { login_source: Rate::new(2.0, 0.01), ..Rates::default() };
    let world = World::with_rates(rates).await;
    let guess = || {
        let token = hostler_trust::SecretToken::generate(hostler_trust::TokenKind::Personal);
        format!("/api/v1/whoami?token={}", token.expose())
    };
    for _ in 0..2 {
        assert_eq!(world.get(&guess()).await.code(), "malformed");
    }
    assert_eq!(world.get(&guess()).await.code(), "rate-limited");
}

#[tokio::test]
async fn an_address_has_a_budget_whatever_it_presents() {
    let rates = Rates { source: Rate::new(3.0, 0.01), ..Rates::default() };
    let world = World::with_rates(rates).await;
    for _ in 0..3 {
        let wrong = request(Method::GET, "/api/v1/whoami", Some("hst_pat_wrong"), None);
        assert_eq!(world.send(wrong).await.code(), "unauthenticated");
    }
    let reply = world.get("/api/v1/whoami").await;
    assert_eq!(reply.code(), "rate-limited");
    assert!(reply.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(world.get("/livez").await.status, 200);
}

/// A body that begins and never ends.
fn endless() -> Body {
    let first = futures::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"{"))]);
    Body::from_stream(first.chain(futures::stream::pending()))
}

fn slow_post(world: &World) -> Request<Body> {
    Request::builder()
        .method(Method::POST)
        .uri("/api/v1/projects")
        .header("authorization", format!("Bearer {}", world.admin))
        .header("content-type", "application/json")
        .body(endless())
        .unwrap()
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_given_up() {
    let rates = Rates { body_time: Duration::from_millis(200), ..Rates::default() };
    let world = World::with_rates(rates).await;
    let reply = world.send(slow_post(&world)).await;
    assert_eq!(reply.code(), "malformed");
    assert!(reply.json()["detail"].as_str().unwrap().contains("did not arrive in time"));
    assert_eq!(world.post("/api/v1/projects", json!({ "name": "lab" })).await.status, 201);
}

#[tokio::test]
async fn so_many_requests_of_one_principal_are_worked_on_at_once() {
    let rates = Rates { at_once: 2, body_time: Duration::from_millis(1500), ..Rates::default() };
    let world = World::with_rates(rates).await;
    let other = world.account("robot", Some("viewer"), None).await;
    let slow = async {
        let both = (world.send(slow_post(&world)), world.send(slow_post(&world)));
        tokio::join!(both.0, both.1)
    };
    let meanwhile = async {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(1);
        loop {
            let reply = world.get("/api/v1/whoami").await;
            if reply.status == 429 {
                break;
            }
            assert!(tokio::time::Instant::now() < deadline, "nobody was refused");
            tokio::task::yield_now().await;
        }
        world.call_as(&other, Method::GET, "/api/v1/whoami", None).await
    };
    let (slow, others) = tokio::join!(slow, meanwhile);
    assert_eq!(others.status, 200, "others are served");
    assert_eq!((slow.0.code(), slow.1.code()), ("malformed".to_owned(), "malformed".to_owned()));
    assert_eq!(world.get("/api/v1/whoami").await.status, 200);
}
