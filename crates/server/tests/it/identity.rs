//! The issuer as others see it.

use hostler_api::Access;
use hostler_control::{ControlConfig, IdentityConfig};
use hostler_model::{PlacementId, Reach, Role, RunId, Timestamp};
use hostler_server::http::Rates;
use http::Method;
use serde_json::json;

use crate::access::{Outcome, outcome, probe};
use crate::node::{WORKLOADS, join, put};
use crate::world::{World, request};

#[tokio::test]
async fn anybody_may_know_the_issuer_and_its_keys() {
    let world = World::new().await;
    let public =
        async |world: &World, path: &str| world.send(request(Method::GET, path, None, None)).await;
    let unset = public(&world, "/.well-known/openid-configuration").await;
    assert_eq!((unset.status.as_u16(), unset.code().as_str()), (404, "not-found"));
    assert!(unset.json()["hint"].as_str().unwrap().contains("[identity]"));
    let keys = public(&world, "/oauth/jwks").await;
    assert_eq!(keys.json(), json!({ "keys": [] }), "none before the first token");
    assert_eq!(keys.header("cache-control"), "public, max-age=300");

    let issuer = Some("https://hostler.example".to_owned());
    let identity = IdentityConfig { issuer, ..IdentityConfig::default() };
    let config = ControlConfig { identity, ..ControlConfig::default() };
    let world = World::configured(Rates::default(), config).await;
    let said = public(&world, "/.well-known/openid-configuration").await.json();
    assert_eq!(said["issuer"], "https://hostler.example");
    assert_eq!(said["jwks_uri"], "https://hostler.example/oauth/jwks");
    assert_eq!(said["id_token_signing_alg_values_supported"], json!(["ES256"]));
}

#[tokio::test]
async fn what_is_no_token_of_ours_is_nobodys() {
    let world = World::new().await;
    for token in ["eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJFUzI1NiIsImtpZCI6IngifQ.e30.AAAA"] {
        let reply = world.call_as(token, Method::GET, "/api/v1/whoami", None).await;
        assert_eq!((reply.status.as_u16(), reply.code().as_str()), (401, "unauthenticated"));
    }
}

/// What runs without a role learns who it is, and is refused by every other endpoint that anybody is refused by;
/// with one, it is a member of its own project and a stranger elsewhere.
#[tokio::test]
async fn a_run_gets_through_where_its_role_does_and_nowhere_else() {
    let world = World::new().await;
    world.project("one").await;
    let (node, _) = join(&world, "n1").await;
    for (name, identity) in [("bare", json!({})), ("reads", json!({ "role": "viewer" }))] {
        let spec = json!({ "mode": "forever", "command": ["true"], "identity": identity });
        assert_eq!(put(&world, name, None, &spec).await.status, 200);
        world.control.place_services(Timestamp::EPOCH).await.unwrap();
        let path = format!("{WORKLOADS}/{name}/placements");
        let placement = world.get(&path).await.json()["items"][0]["id"].clone();
        let placement: PlacementId = placement.as_str().unwrap().parse().unwrap();
        let run = Some(RunId::from_uuid(uuid::Uuid::from_u128(77)));
        let given = world.control.node_identity(node, placement, run, false).await;
        let given = given.unwrap().unwrap();
        let token = given.tokens[0].token.expose();
        let who = world.call_as(token, Method::GET, "/api/v1/whoami", None).await.json();
        assert_eq!((who["name"].as_str(), who["kind"].as_str()), (Some(name), Some("workload")));

        for endpoint in hostler_api::all() {
            let outcome = outcome(&probe(&world, &endpoint, Some(token)).await);
            let is_held = endpoint.permission.is_none_or(|permission| {
                let is_viewers = Role::Viewer.permissions().has(permission);
                name == "reads" && is_viewers && permission.reach() == Reach::Project
            });
            let is_open = match endpoint.access {
                Access::Public => true,
                Access::LoggedIn => is_held,
                Access::Global(_) | Access::Project(_) => false,
            };
            match is_open {
                true => assert_ne!(outcome, Outcome::Unauthenticated, "{}", endpoint.name),
                false => assert_ne!(outcome, Outcome::Allowed, "{name}: {}", endpoint.name),
            }
        }
        let tasks = "/api/v1/projects/default/tasks";
        let expected = if name == "reads" { 200 } else { 404 };
        assert_eq!(world.call_as(token, Method::GET, tasks, None).await.status, expected);
        let submitted = world.call_as(token, Method::POST, tasks, Some(json!({}))).await;
        assert!([403, 404].contains(&submitted.status.as_u16()), "{}", submitted.json());
        let logout = world.call_as(token, Method::POST, "/api/v1/logout", None).await;
        assert_eq!(logout.status, 403);
    }
}

#[tokio::test]
async fn without_a_provider_nobody_logs_in_there() {
    let world = World::new().await;
    let shown = world.send(request(Method::GET, "/api/v1/oidc", None, None)).await;
    assert_eq!((shown.status.as_u16(), shown.json()), (200, json!({})));
    let begun = world.send(request(Method::POST, "/api/v1/oidc/begin", None, None)).await;
    assert_eq!((begun.status.as_u16(), begun.code().as_str()), (404, "not-found"));
    let body = json!({ "ticket": "t", "state": "s", "code": "c", "kind": "cookie" });
    let finish = request(Method::POST, "/api/v1/oidc/finish", None, Some(body));
    assert_eq!(world.send(finish).await.status, 404);
    let listed = world.get("/api/v1/users/local/identities").await.json();
    assert_eq!(listed["items"], json!([]));
    let body = Some(json!({ "issuer": "https://x", "subject": "s" }));
    let gone = world.call(Method::POST, "/api/v1/users/local/identities/remove", body).await;
    assert_eq!((gone.status.as_u16(), gone.code().as_str()), (404, "not-found"));
}
