//! The certificate authority over HTTP: who is told what of it, and how it is replaced.

use hostler_trust::AuthorityBundle;
use http::Method;
use serde_json::json;

use crate::world::{World, request};

const TRUSTED: &str = "/api/v1/authority/trusted";
const HEADER: &str = "hostler-authorities";

#[tokio::test]
async fn every_answer_says_who_is_trusted_and_anybody_may_ask() {
    let world = World::new().await;
    let before = world.control.authorities().mark().to_owned();
    for path in ["/livez", "/", TRUSTED, "/api/v1/whoami", "/api/v1/none"] {
        let reply = world.send(request(Method::GET, path, None, None)).await;
        assert_eq!(reply.header(HEADER), before, "{path}");
    }
    let begun = world.post("/api/v1/authority/rotate", json!({})).await;
    assert_eq!(begun.status, 200, "{}", begun.json());
    assert_eq!(begun.json()["phase"], "spreading");
    assert_ne!(begun.header(HEADER), before, "whoever asked for it hears of it with the answer");
    let trusted = world.send(request(Method::GET, TRUSTED, None, None)).await.json();
    let trusted = AuthorityBundle::from_pem(trusted["certificates"].as_str().unwrap()).unwrap();
    assert_eq!(trusted, world.control.authorities().trusted());
    assert_eq!(trusted.all().len(), 2);
    assert_eq!(trusted.mark(), begun.header(HEADER));
}

#[tokio::test]
async fn steps_that_make_no_sense_are_conflicts_and_steps_that_do_are_recorded() {
    let world = World::new().await;
    for step in ["abort", "finish"] {
        let reply = world.post(&format!("/api/v1/authority/{step}"), json!({})).await;
        assert_eq!(reply.code(), "conflict", "{step}");
    }
    let old = world.get("/api/v1/authority").await.json();
    assert_eq!(old["phase"], "stable");
    assert_eq!(world.post("/api/v1/authority/rotate", json!({})).await.status, 200);
    assert_eq!(world.post("/api/v1/authority/rotate", json!({})).await.code(), "conflict");
    let early = world.post("/api/v1/authority/finish", json!({ "force": true })).await;
    assert_eq!(early.code(), "conflict");
    assert!(!early.header("retry-after").is_empty());
    let back = world.post("/api/v1/authority/abort", json!({})).await.json();
    assert_eq!(back["present"]["fingerprint"], old["present"]["fingerprint"]);
    let done = world.post("/api/v1/authority/finish", json!({})).await;
    assert_eq!(done.status, 200, "{}", done.json());
    assert_eq!(done.json()["retired"][0], back["former"]);
    let audit = world.get("/api/v1/audit?action=authority.*").await.json();
    let actions: Vec<&str> = audit["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["authority.finish", "authority.abort", "authority.rotate"]);
}

#[tokio::test]
async fn projects_have_names_for_whoever_asks_who_they_are() {
    let world = World::new().await;
    world.project("lab").await;
    let token = world.account("ada", None, Some(("lab", "viewer"))).await;
    let me = world.call_as(&token, Method::GET, "/api/v1/whoami", None).await.json();
    assert_eq!(me["projects"][0]["name"], "lab", "{me}");
}
