//! Schedules over HTTP: what is made, shown, refused and hidden.

use http::Method;
use serde_json::{Value, json};

use crate::world::World;

const PATH: &str = "/api/v1/projects/one/schedules";

fn nightly() -> Value {
    json!({
        "cron": "0 3 * * *",
        "timezone": "Europe/Berlin",
        "target": { "task": { "spec": { "command": ["true"], "env": { "TOKEN": "s3cret" } } } },
    })
}

#[tokio::test]
async fn a_schedule_is_made_shown_paused_run_and_removed() {
    let world = World::new().await;
    world.project("one").await;
    let owner = world.account("owner", None, Some(("one", "user"))).await;
    let call = async |method: Method, path: &str, body: Option<Value>| {
        world.call_as(&owner, method, &format!("{PATH}{path}"), body).await
    };
    let made = call(Method::PUT, "/nightly", Some(nightly())).await;
    assert_eq!(made.status, 200, "{}", made.json());
    let made = made.json();
    assert_eq!((&made["owner"], &made["kind"]), (&json!("owner"), &json!("task")));
    assert_eq!(made["timing"], "0 3 * * * Europe/Berlin");
    assert_eq!(call(Method::PUT, "/nightly", Some(nightly())).await.status, 200, "the same again");
    let mut other = nightly();
    other["cron"] = json!("0 4 * * *");
    let taken = call(Method::PUT, "/nightly", Some(other.clone())).await;
    assert_eq!(taken.code(), "already-exists");
    let next = call(Method::GET, "/nightly/next?count=2", None).await.json();
    let local = next["items"][1]["local"].as_str().unwrap().to_owned();
    assert!(local.contains(" 03:00:00 CE"), "{local}");
    let preview = "/api/v1/projects/one/schedule-preview?count=1";
    let preview = world.call_as(&owner, Method::POST, preview, Some(other)).await.json();
    assert!(preview["items"][0]["local"].as_str().unwrap().contains(" 04:00:00 "), "{preview}");
    let paused = call(Method::POST, "/nightly/pause", Some(json!({ "reason": "disk" }))).await;
    assert_eq!(paused.json()["pause"]["by"], "owner");
    assert!(paused.json()["timeNext"].is_null());
    let resumed = call(Method::POST, "/nightly/resume", None).await;
    assert!(resumed.json()["timeNext"].is_string());
    let ran = call(Method::POST, "/nightly/run", None).await.json();
    assert_eq!((&ran["state"], &ran["cause"]), (&json!("done"), &json!("manual")), "{ran}");
    assert_eq!(ran["object"]["kind"], "task");
    let history = call(Method::GET, "/nightly/history", None).await.json();
    assert_eq!(history["items"].as_array().unwrap().len(), 1, "{history}");
    assert_eq!(call(Method::DELETE, "/nightly", None).await.status, 204);
    assert_eq!(call(Method::GET, "/nightly", None).await.code(), "not-found");
}

#[tokio::test]
async fn a_wrong_expression_is_marked_at_its_place() {
    let world = World::new().await;
    let mut wrong = nightly();
    wrong["cron"] = json!("0 3 32 * *");
    let path = "/api/v1/projects/default/schedules/x";
    let refused = world.call(Method::PUT, path, Some(wrong)).await;
    assert_eq!(refused.code(), "invalid");
    let detail = refused.json()["errors"][0]["detail"].as_str().unwrap().to_owned();
    assert!(detail.ends_with("\n  0 3 32 * *\n      ^^"), "{detail}");
}

#[tokio::test]
async fn what_a_schedule_carries_is_hidden_from_those_who_may_not_see_it() {
    let world = World::new().await;
    world.project("one").await;
    let owner = world.account("owner", None, Some(("one", "user"))).await;
    let at = format!("{PATH}/nightly");
    assert_eq!(world.call_as(&owner, Method::PUT, &at, Some(nightly())).await.status, 200);
    for (role, sees) in [("viewer", false), ("user", false), ("operator", true)] {
        let token = world.account(&format!("a-{role}"), None, Some(("one", role))).await;
        for path in [PATH, at.as_str()] {
            let text = world.call_as(&token, Method::GET, path, None).await.json().to_string();
            assert_eq!(text.contains("s3cret"), sees, "{role} {path}");
        }
        let ran = world.call_as(&token, Method::POST, &format!("{at}/run"), None).await;
        assert_eq!(ran.status == 200, role == "operator", "{role}: {}", ran.json());
    }
}
