//! Locks over HTTP: one id, one hold, however often it is asked for.

use http::Method;
use serde_json::{Value, json};

use crate::world::{Reply, World};

const LOCKS: &str = "/api/v1/projects/default/locks";
const FIRST: &str = "0192f3c4-0000-7000-8000-000000000001";
const SECOND: &str = "0192f3c4-0000-7000-8000-000000000002";

async fn ask(world: &World, method: Method, path: &str, body: Option<Value>) -> Reply {
    world.call(method, &format!("{LOCKS}/{path}"), body).await
}

async fn acquire(world: &World, lock: &str, id: &str, body: Value) -> Reply {
    ask(world, Method::PUT, &format!("{lock}/holds/{id}"), Some(body)).await
}

#[tokio::test]
async fn a_lock_is_acquired_renewed_and_released() {
    let world = World::new().await;
    let held = acquire(&world, "db%2Fmigrate", FIRST, json!({})).await;
    assert_eq!(held.status, 200, "{}", held.json());
    let held = held.json();
    assert_eq!((&held["outcome"], &held["lock"]), (&json!("held"), &json!("db/migrate")));
    assert_eq!((&held["hold"]["token"], &held["hold"]["ttl"]), (&json!(1), &json!("30s")));
    let again = acquire(&world, "db%2Fmigrate", FIRST, json!({ "wait": "1s" })).await.json();
    assert_eq!(again["hold"]["token"], 1, "asking again finds the same");

    let busy = acquire(&world, "db%2Fmigrate", SECOND, json!({})).await.json();
    assert_eq!((&busy["outcome"], &busy["hold"]), (&json!("busy"), &Value::Null));
    let waits = acquire(&world, "db%2Fmigrate", SECOND, json!({ "wait": "0s" })).await.json();
    assert_eq!((&waits["outcome"], &waits["before"]), (&json!("waiting"), &json!(0)));
    assert_eq!(waits["holders"][0]["id"], FIRST);

    let renewed =
        ask(&world, Method::POST, &format!("db%2Fmigrate/holds/{FIRST}/renew"), Some(json!({})))
            .await;
    assert_eq!((renewed.status.as_u16(), &renewed.json()["token"]), (200, &json!(1)));
    let path = format!("db%2Fmigrate/holds/{FIRST}");
    for _ in 0..2 {
        assert_eq!(ask(&world, Method::DELETE, &path, None).await.status, 204);
    }
    let shown = world.get(&format!("{LOCKS}/db%2Fmigrate")).await.json();
    assert_eq!(shown["holders"][0]["id"], SECOND);
    assert_eq!(
        (&shown["past"][0]["id"], &shown["past"][0]["end"]),
        (&json!(FIRST), &json!("released"))
    );
    let listed = world.get(LOCKS).await.json();
    assert_eq!(listed["items"][0]["name"], "db/migrate");
    let forced = json!({ "reason": "a test" });
    let forced = ask(&world, Method::POST, "db%2Fmigrate/force-release", Some(forced)).await;
    assert_eq!((forced.status.as_u16(), &forced.json()["held"]), (200, &json!(0)));
    assert_eq!(world.get(LOCKS).await.json()["items"], json!([]));
    assert_eq!(world.get(&format!("{LOCKS}?all=true")).await.json()["items"][0]["token"], 2);
}

#[tokio::test]
async fn what_cannot_be_is_refused_with_where_it_is() {
    let world = World::new().await;
    for (lock, id, body, status) in [
        ("a%20b", FIRST, json!({}), 400),
        ("a%2F%2Fb", FIRST, json!({}), 400),
        ("deploy", "not-an-id", json!({}), 400),
        ("deploy", FIRST, json!({ "ttl": "0s" }), 422),
        ("deploy", FIRST, json!({ "ttl": "365d" }), 422),
        ("deploy", FIRST, json!({ "slots": 0 }), 422),
        ("deploy", FIRST, json!({ "wait": "1h" }), 422),
        ("deploy", FIRST, json!({ "holder": { "why": "x".repeat(257) } }), 422),
        ("deploy", FIRST, json!({ "colour": "red" }), 422),
    ] {
        let reply = acquire(&world, lock, id, body.clone()).await;
        assert_eq!(reply.status.as_u16(), status, "{lock} {id} {body}: {}", reply.json());
        assert!(!reply.json()["hint"].as_str().unwrap().is_empty());
    }
    let renew = format!("deploy/holds/{FIRST}/renew");
    assert_eq!(ask(&world, Method::POST, &renew, Some(json!({}))).await.status, 404);
    assert_eq!(
        ask(&world, Method::DELETE, &format!("deploy/holds/{FIRST}"), None).await.status,
        404
    );
}
