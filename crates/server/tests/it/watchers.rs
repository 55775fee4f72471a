//! Watchers over HTTP: what is made, shown, refused and hidden.

use http::Method;
use serde_json::{Value, json};

use crate::world::World;

const PATH: &str = "/api/v1/projects/one/watchers";

fn port(port: u16) -> Value {
    json!({ "watch": { "port": { "port": port, "on": ["closed"] } }, "cooldown": "1m" })
}

#[tokio::test]
async fn a_watcher_is_made_shown_disabled_and_removed() {
    let world = World::new().await;
    world.project("one").await;
    let owner = world.account("owner", Some("operator"), None).await;
    let call = async |method: Method, path: &str, body: Option<Value>| {
        world.call_as(&owner, method, &format!("{PATH}{path}"), body).await
    };
    let made = call(Method::PUT, "/web", Some(port(443))).await;
    assert_eq!(made.status, 200, "{}", made.json());
    let made = made.json();
    assert_eq!((&made["owner"], &made["isEnabled"]), (&json!("owner"), &json!(true)));
    assert_eq!(made["summary"], "port 127.0.0.1:443 closed");
    assert_eq!((&made["nodes"], &made["looking"]), (&json!([]), &json!(0)));
    assert_eq!(call(Method::PUT, "/web", Some(port(443))).await.status, 200, "the same again");
    assert_eq!(call(Method::PUT, "/web", Some(port(444))).await.code(), "already-exists");
    let wrong = json!({ "watch": { "cpu": { "above": 120 } } });
    let wrong = call(Method::PUT, "/busy", Some(wrong)).await;
    assert_eq!(wrong.status, 422, "{}", wrong.json());
    assert_eq!(wrong.json()["errors"][0]["pointer"], "/watch/cpu/above");
    let command = json!({ "watch": { "command": { "command": ["true"] } } });
    let refused = call(Method::PUT, "/run", Some(command.clone())).await;
    assert_eq!(refused.code(), "forbidden", "{}", refused.json());
    let run = world.call(Method::PUT, &format!("{PATH}/run"), Some(command)).await;
    assert_eq!(run.status, 200, "an administrator may");
    let disabled = call(Method::POST, "/web/disable", None).await.json();
    assert_eq!(
        (&disabled["isEnabled"], &disabled["hindrance"]),
        (&json!(false), &json!("it is disabled"))
    );
    assert_eq!(call(Method::POST, "/web/enable", None).await.json()["isEnabled"], true);
    assert_eq!(call(Method::POST, "/run/enable", None).await.code(), "forbidden");
    let listed = call(Method::GET, "", None).await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(call(Method::DELETE, "/web", None).await.status, 204);
    assert_eq!(call(Method::GET, "/web", None).await.code(), "not-found");
}

#[tokio::test]
async fn an_operator_of_a_project_alone_looks_at_no_machine() {
    let world = World::new().await;
    world.project("one").await;
    let lena = world.account("lena", None, Some(("one", "operator"))).await;
    let refused = world.call_as(&lena, Method::PUT, &format!("{PATH}/web"), Some(port(1))).await;
    assert_eq!(refused.code(), "forbidden");
    assert!(
        refused.json()["detail"].as_str().unwrap().contains("node.inspect"),
        "{}",
        refused.json()
    );
    let viewer = world.account("viewer", None, Some(("one", "viewer"))).await;
    assert_eq!(world.call_as(&viewer, Method::GET, PATH, None).await.status, 200);
    let stranger = world.account("stranger", None, None).await;
    assert_ne!(world.call_as(&stranger, Method::GET, PATH, None).await.status, 200);
}
