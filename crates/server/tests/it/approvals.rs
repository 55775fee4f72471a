//! Approvals over HTTP: policies, what is refused and what it says, and breaking the glass.

use http::Method;
use serde_json::json;

use crate::world::{Reply, World, request};

const POLICIES: &str = "/api/v1/projects/one/approval-policies";
const WEB: &str = "/api/v1/projects/one/workloads/web";

async fn apply(world: &World, token: &str, command: &str, headers: &[(&str, &str)]) -> Reply {
    let body = json!({ "command": [command], "mode": "forever" });
    let mut request = request(Method::PUT, WEB, Some(token), Some(body));
    for (name, value) in headers {
        let name: http::HeaderName = name.parse().unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
    }
    world.send(request).await
}

#[tokio::test]
async fn what_needs_an_approval_is_refused_with_the_next_step() {
    let world = World::new().await;
    world.project("one").await;
    let ada = world.account("ada", None, Some(("one", "user"))).await;
    let olga = world.account("olga", None, Some(("one", "operator"))).await;
    let path = format!("{POLICIES}/eyes");
    let rule = json!({ "verbs": ["workload.apply"] });
    let refused = world.call_as(&ada, Method::PUT, &path, Some(rule.clone())).await;
    assert_eq!(refused.code(), "forbidden");
    let made = world.call(Method::PUT, &path, Some(rule)).await;
    assert_eq!(made.status, 200, "{}", made.json());
    assert_eq!(made.json()["rule"]["requestTtl"], "1d");
    let wrong = json!({ "verbs": ["node.drain"] });
    let wrong = world.call(Method::PUT, &format!("{POLICIES}/nodes"), Some(wrong)).await;
    assert_eq!(wrong.code(), "invalid");
    assert_eq!(wrong.json()["errors"][0]["pointer"], "/verbs/0");

    let held = apply(&world, &ada, "serve", &[]).await;
    assert_eq!((held.status.as_u16(), held.code().as_str()), (409, "approval-required"));
    let mine = world.call_as(&ada, Method::GET, "/api/v1/approvals?mine=true", None).await.json();
    let id = mine["items"][0]["id"].as_str().unwrap().to_owned();
    assert!(held.json()["hint"].as_str().unwrap().contains(&id));
    let one = format!("/api/v1/approvals/{id}");
    let digest = mine["items"][0]["digest"].clone();
    let own = world.call_as(&ada, Method::POST, &format!("{one}/approve"), Some(json!({}))).await;
    assert_eq!(own.code(), "forbidden");
    let by_robot =
        world.call_as(&olga, Method::POST, &format!("{one}/approve"), Some(json!({}))).await;
    assert_eq!(by_robot.code(), "forbidden", "the accounts of this world are for programs");
    let stranger = world.account("eve", None, None).await;
    assert_eq!(world.call_as(&stranger, Method::GET, &one, None).await.code(), "not-found");
    assert_eq!(mine["items"][0]["verb"], "workload.apply");
    assert!(digest.as_str().unwrap().len() == 64);

    let both = [("hostler-approval", id.as_str()), ("hostler-break-glass", "now")];
    assert_eq!(apply(&world, &ada, "serve", &both).await.code(), "malformed");
    let no_id = [("hostler-approval", "none")];
    assert_eq!(apply(&world, &ada, "serve", &no_id).await.code(), "malformed");
    let early = [("hostler-approval", id.as_str())];
    assert_eq!(apply(&world, &ada, "serve", &early).await.code(), "approval-required");
    let glass = [("hostler-break-glass", "the house is on fire")];
    assert_eq!(apply(&world, &ada, "serve", &glass).await.code(), "forbidden");
    let admin = world.admin.clone();
    assert_eq!(apply(&world, &admin, "serve", &glass).await.status, 200);
    let events = world.get("/api/v1/events?kind=approval.break-glass").await.json();
    assert_eq!(events["items"].as_array().unwrap().len(), 1, "{events}");

    let back = world.call_as(&ada, Method::POST, &format!("{one}/withdraw"), None).await;
    assert_eq!((back.status.as_u16(), &back.json()["state"]), (200, &json!("withdrawn")));
    let etag = world.get(&path).await.header("etag").to_owned();
    let mut remove = request(Method::DELETE, &path, Some(&admin), None);
    remove.headers_mut().insert("if-match", etag.parse().unwrap());
    assert_eq!(world.send(remove).await.status, 204);
}
