use axum::Json;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::routing::{get, post};
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, refusal};

const WEB: &str = "00000000-0000-0000-0000-000000000001";

fn object(kind: &str, name: &str) -> Value {
    json!({ "kind": kind, "id": WEB, "name": name })
}

fn entry(source: &str, what: &str, about: Value, message: &str, id: &str) -> Value {
    let actor = (source == "event").then(|| json!({ "kind": "user", "name": "ada" }));
    json!({
        "time": "2026-01-31T11:55:00Z", "source": source, "what": what, "object": about,
        "message": message, "actor": actor, "cause": (source == "event").then_some("request-1"), "id": id,
    })
}

fn first() -> Value {
    let web = || object("workload", "web");
    json!({
        "object": web(),
        "items": [
            entry("event", "workload.stop-requested", web(), "asked to stop", "44"),
            entry("run", "run.ended", web(), "run 3 on web-1: exited with code 3", WEB),
            entry("node", "node.stale", object("node", "web-1"), "quiet for 12s", "42"),
        ],
        "nextCursor": "p.more",
        "leftOut": [{ "source": "audit", "needs": "audit.read" }],
        "keptSince": "2026-01-01T00:00:00Z",
    })
}

fn second() -> Value {
    let fire =
        entry("fire", "fire.done", object("schedule", "nightly"), "workload web", "fire/1/2");
    json!({ "object": object("workload", "web"), "items": [fire] })
}

async fn world() -> World {
    let of = "/api/v1/projects/default/timeline";
    let event = |name: &str| {
        json!({
            "sequence": 45, "kind": name, "time": "2026-01-31T11:59:00Z", "object": object("custom", "deploy"),
            "actor": { "kind": "user", "name": "ada" }, "message": "3.2 is out", "payload": { "n": 1 },
        })
    };
    let (told, listed) = (event("custom.deploy"), event("custom.deploy"));
    let router = axum::Router::new()
        .route(
            of,
            get(|query: Query<Value>| async move {
                let items = match query["object"].as_str() {
                    Some("web") => vec![object("workload", "web")],
                    Some("twice") => vec![object("workload", "twice"), object("secret", "twice")],
                    _ => vec![],
                };
                Json(json!({ "items": items }))
            }),
        )
        .route(
            &format!("{of}/{{kind}}/{{object}}"),
            get(|query: Query<Value>| async move {
                Json(if query.get("cursor").is_some() { second() } else { first() })
            }),
        )
        .route(
            "/api/v1/nodes/{node}",
            get(|| async { refusal(Code::NotFound, "there is no node") }),
        )
        .route(
            "/api/v1/projects/default/events",
            post(|| async { (StatusCode::CREATED, Json(told)) }),
        )
        .route(
            "/api/v1/events/export",
            get(|query: Query<Value>| async move {
                match query.get("after").and_then(Value::as_str) {
                    Some("1") => refusal(
                        Code::CursorGone,
                        "some of the events that were asked for are not kept any more",
                    ),
                    _ => axum::response::IntoResponse::into_response(Json(
                        json!({ "items": [listed] }),
                    )),
                }
            }),
        );
    World::new(router).await
}

#[tokio::test]
async fn timelines_in_every_form() {
    let world = world().await;
    for words in [
        &["timeline", "workload/web"][..],
        &["timeline", "web", "-o", "wide"],
        &["timeline", "web", "--limit", "2", "-o", "json"],
        &["timeline", "web", "-o", "jsonl"],
        &["timeline", "twice"],
        &["timeline", "nothing"],
    ] {
        let ran = world.hostler(words).await;
        let (words, out) = (words.join(" "), ran.text());
        insta::assert_snapshot!(format!("{words}: {}\n{out}{}", ran.code, ran.err));
    }
}

#[tokio::test]
async fn events_of_ones_own_and_exports() {
    let world = world().await;
    for words in [
        &["event", "emit", "deploy", "-m", "3.2 is out", "--payload", "{\"n\":1}"][..],
        &["event", "emit", "custom.deploy", "-o", "json"],
        &["event", "emit", "deploy", "--payload", "{"],
        &["event", "emit", "deploy", "--payload-file", "/nowhere/at-all"],
        &["event", "export", "--since", "1h"],
        &["event", "export", "--after", "1"],
    ] {
        let ran = world.hostler(words).await;
        let (words, out) = (words.join(" "), ran.text());
        insta::assert_snapshot!(format!("{words}: {}\n{out}{}", ran.code, ran.err));
    }
}
