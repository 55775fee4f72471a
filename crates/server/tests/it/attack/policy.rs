//! What may run is judged wherever it comes in: submitted, in a batch, as an array, applied, applied again.

use axum::body::Body;
use http::{Method, Request};
use serde_json::{Value, json};

use super::{goes_on, problems, refusals};
use crate::world::World;

const PROJECT: &str = "/api/v1/projects/default";

/// Specs that nobody may have.
fn forbidden() -> Vec<(&'static str, Value)> {
    let contained = |more: Value| {
        let mut container = json!({ "image": "alpine" });
        for (key, value) in more.as_object().unwrap() {
            container[key] = value.clone();
        }
        json!({ "runtime": "container", "command": ["true"], "container": container })
    };
    vec![
        ("no command", json!({ "command": [] })),
        ("an unknown field", json!({ "command": ["true"], "hostPid": true })),
        ("a capability", contained(json!({ "capAdd": ["SYS_ADMIN"] }))),
        ("the engine's body", contained(json!({ "HostConfig": { "Privileged": true } }))),
        ("a device", contained(json!({ "devices": ["/dev/sda"] }))),
        ("a namespace of the host", contained(json!({ "pid": "host" }))),
        ("a NUL", json!({ "command": ["a\u{0}b"] })),
        ("a variable that is none", json!({ "command": ["true"], "env": { "A=B": "x" } })),
    ]
}

#[tokio::test]
async fn the_same_policy_holds_wherever_a_spec_comes_in() {
    let world = World::new().await;
    let workload = format!("{PROJECT}/workloads/web");
    let fine = json!({ "mode": "forever", "command": ["true"] });
    let applied = world.call(Method::PUT, &workload, Some(fine)).await;
    assert_eq!(applied.status, 200, "{}", applied.json());
    let seen = world.get(&workload).await;
    let (etag, before) = (seen.header("etag").to_owned(), seen.json());
    for (name, spec) in forbidden() {
        let one = json!({ "spec": spec });
        let bodies = [
            ("tasks", one.clone()),
            ("task-batches", json!({ "tasks": [{ "spec": { "command": ["true"] } }, one] })),
            ("task-arrays", json!({ "spec": spec, "range": "1-2" })),
        ];
        for (way, body) in bodies {
            let reply = world.post(&format!("{PROJECT}/{way}"), body).await;
            assert_eq!(reply.code(), "invalid", "{name} as {way}");
        }
        let fresh = format!("{PROJECT}/workloads/fresh");
        let reply = world.call(Method::PUT, &fresh, Some(spec.clone())).await;
        assert_eq!(reply.code(), "invalid", "{name} applied");
        let again = Request::builder()
            .method(Method::PUT)
            .uri(&workload)
            .header("authorization", format!("Bearer {}", world.admin))
            .header("content-type", "application/json")
            .header("if-match", &etag)
            .body(Body::from(spec.to_string()))
            .unwrap();
        assert_eq!(world.send(again).await.code(), "invalid", "{name} applied again");
    }
    assert_eq!(world.get(&workload).await.json()["spec"], before["spec"]);
    let tasks = world.get(&format!("{PROJECT}/tasks")).await.json();
    assert_eq!(tasks["items"], json!([]), "of a batch nothing is taken, or all");
    assert!(refusals(&world, "workload_apply").await >= 16);
    goes_on(&world).await;
}

/// What an engine can do is said in our words: no path of a request is passed on to one.
#[tokio::test]
async fn no_endpoint_passes_a_path_on() {
    let world = World::new().await;
    for endpoint in hostler_api::all() {
        assert!(!endpoint.path.contains('*'), "{} takes any path", endpoint.name);
    }
    let before = problems(&world, "").await;
    let paths = [
        "/v1.43/containers/json",
        "/containers/create",
        "/api/v1/nodes/n/docker/containers/json",
        "/api/v1/nodes/n/containers/x/../../../containers/json",
        "/api/v1/nodes/n/containers/x/exec",
    ];
    for path in paths {
        let reply = world.call(Method::POST, path, Some(json!({}))).await;
        assert!(reply.status.is_client_error(), "{path}: {}", reply.status);
    }
    assert_eq!(problems(&world, "").await, before + paths.len() as u64);
    goes_on(&world).await;
}
