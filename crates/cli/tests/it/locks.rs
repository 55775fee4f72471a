use axum::Json;
use axum::http::StatusCode;
use axum::routing::{get, post, put};
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, refusal};

const HOLD: &str = "00000000-0000-0000-0000-000000000005";

fn hold(n: u128, by: &str, token: Option<u64>) -> Value {
    let granted = token.map(|_| "2026-01-31T11:50:00Z");
    json!({
        "id": uuid::Uuid::from_u128(n), "token": token, "by": by, "ttl": "30s",
        "holder": { "host": format!("web-{n}"), "pid": 70 + n, "command": "./deploy.sh", "why": "release 42" },
        "timeAsked": "2026-01-31T11:45:00Z", "timeGranted": granted, "timeRenewed": "2026-01-31T11:59:55Z",
    })
}

fn past(n: u128, end: &str, forced: Value) -> Value {
    json!({
        "id": uuid::Uuid::from_u128(n), "token": n, "by": "bob", "holder": {}, "end": end, "forced": forced,
        "timeGranted": "2026-01-31T10:00:00Z", "timeEnded": "2026-01-31T11:30:00Z",
    })
}

fn lock() -> Value {
    let forced = json!({ "by": "olga", "reason": "it hangs" });
    json!({
        "id": uuid::Uuid::from_u128(3), "name": "db/migrate", "slots": 1, "held": 1, "waiting": 2, "token": 7,
        "holders": [hold(1, "ada", Some(7))], "queue": [hold(2, "ben", None), hold(3, "cid", None)],
        "past": [past(6, "forced", forced), past(5, "expired", Value::Null), past(4, "released", Value::Null)],
        "timeCreated": "2026-01-31T10:00:00Z", "timeModified": "2026-01-31T11:50:00Z",
    })
}

async fn world() -> World {
    let of = "/api/v1/projects/default/locks/{lock}";
    let busy =
        json!({ "outcome": "busy", "lock": "db/migrate", "holders": [hold(1, "ada", Some(7))] });
    let router = axum::Router::new()
        .route(
            "/api/v1/projects/default/locks",
            get(|| async { Json(json!({ "items": [lock()] })) }),
        )
        .route(of, get(|| async { Json(lock()) }))
        .route(&format!("{of}/force-release"), post(|| async { Json(lock()) }))
        .route(
            &format!("{of}/holds/{{hold}}"),
            put(move |body: Json<Value>| async move {
                match body.get("wait") {
                    None => Json(busy),
                    Some(_) => Json(json!({
                        "outcome": "held", "lock": "db/migrate", "hold": hold(5, "ada", Some(8)),
                    })),
                }
            })
            .delete(|| async { StatusCode::NO_CONTENT }),
        )
        .route(
            &format!("{of}/holds/{{hold}}/renew"),
            post(|| async {
                refusal(Code::Conflict, "the hold was not renewed in time and ended at noon")
            }),
        );
    World::new(router).await
}

#[tokio::test]
async fn locks_in_lists_and_in_full() {
    let world = world().await;
    insta::assert_snapshot!(world.hostler(&["lock", "ls"]).await.text());
    insta::assert_snapshot!(world.hostler(&["lock", "ls", "-o", "wide"]).await.text());
    insta::assert_snapshot!(world.hostler(&["lock", "show", "db/migrate"]).await.text());
    let json = world.hostler(&["lock", "show", "db/migrate", "-o", "json"]).await;
    assert!(json.text().contains("\"queue\""), "{}", json.text());
}

#[tokio::test]
async fn verbs_of_locks_say_what_became_of_them() {
    let world = world().await;
    for words in [
        &["lock", "acquire", "db/migrate"][..],
        &["lock", "acquire", "db/migrate", "-q"],
        &["lock", "try", "db/migrate"],
        &["lock", "release", "db/migrate", HOLD],
        &["lock", "renew", "db/migrate", HOLD],
        &["lock", "force-release", "db/migrate", "--reason", "it hangs"],
        &["-y", "lock", "force-release", "db/migrate", "--reason", "it hangs"],
    ] {
        let ran = world.hostler(words).await;
        let (words, out) = (words.join(" "), ran.text());
        insta::assert_snapshot!(format!("{words}: {}\n{out}{}", ran.code, ran.err));
    }
    let sent = world.requests().join("\n");
    assert!(sent.contains("/locks/db%2Fmigrate/holds/"), "{sent}");
}
