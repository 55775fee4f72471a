//! Environments: who sees the values, and that nobody writes back what was hidden.

use http::Method;
use serde_json::{Value, json};

use crate::world::World;

const SECRET: &str = "s3cret-of-somebody";

fn spec() -> Value {
    json!({ "command": ["true"], "env": { "TOKEN": SECRET } })
}

/// A project with a user's task, array and workload in it, and callers of all kinds.
async fn world() -> (World, String) {
    let world = World::new().await;
    world.project("one").await;
    let owner = world.account("owner", None, Some(("one", "user"))).await;
    let make = async |method: Method, path: &str, body: Value| {
        let path = format!("/api/v1/projects/one/{path}");
        let made = world.call_as(&owner, method, &path, Some(body)).await;
        assert!(made.status.is_success(), "{}", made.json());
        assert!(made.json().to_string().contains(SECRET), "{path}");
    };
    make(Method::POST, "tasks", json!({ "name": "job", "spec": spec() })).await;
    let array = json!({ "name": "many", "spec": spec(), "range": "1-2" });
    make(Method::POST, "task-arrays", array).await;
    make(Method::PUT, "workloads/web", spec()).await;
    (world, owner)
}

const READS: [&str; 6] =
    ["tasks", "tasks/job", "task-arrays", "task-arrays/many", "workloads", "workloads/web"];

async fn sees(world: &World, token: &str) -> Vec<bool> {
    let mut seen = Vec::new();
    for path in READS {
        let path = format!("/api/v1/projects/one/{path}");
        let reply = world.call_as(token, Method::GET, &path, None).await;
        assert_eq!(reply.status, 200, "{path}: {}", reply.json());
        let text = reply.json().to_string();
        assert!(text.contains("TOKEN"), "{path} shows the name");
        assert_ne!(text.contains(SECRET), text.contains("(hidden)"), "{path}");
        seen.push(text.contains(SECRET));
    }
    seen
}

#[tokio::test]
async fn values_are_for_their_owner_and_for_those_who_may() {
    let (world, owner) = world().await;
    assert_eq!(sees(&world, &owner).await, [true; 6]);
    let cases = [("viewer", false), ("user", false), ("operator", true), ("admin", true)];
    for (role, may) in cases {
        let token = world.account(&format!("a-{role}"), None, Some(("one", role))).await;
        assert_eq!(sees(&world, &token).await, [may; 6], "{role}");
    }
    let read = ["task.read", "workload.read"];
    for (name, more, expected) in [
        ("reads-tasks", "task.env", [true, true, true, true, false, false]),
        ("reads-workloads", "workload.env", [false, false, false, false, true, true]),
    ] {
        let permissions: Vec<&str> = read.into_iter().chain([more]).collect();
        let role = json!({ "name": name, "permissions": permissions });
        assert_eq!(world.post("/api/v1/roles", role).await.status, 201);
        let token = world.account(&format!("b-{name}"), None, Some(("one", name))).await;
        assert_eq!(sees(&world, &token).await, expected, "{name}");
    }
    let admin = world.token(json!({ "name": "x", "can": read })).await;
    assert_eq!(sees(&world, &admin).await, [false; 6]);
    let mine = json!({ "name": "x", "can": read });
    let made = world.call_as(&owner, Method::POST, "/api/v1/tokens", Some(mine)).await;
    let narrow = made.json()["secret"].as_str().unwrap().to_owned();
    assert_eq!(sees(&world, &narrow).await, [false; 6], "a narrow token of the owner");
}

#[tokio::test]
async fn watching_shows_no_more_than_reading() {
    let (world, owner) = world().await;
    let viewer = world.account("v", None, Some(("one", "viewer"))).await;
    let tasks = "/api/v1/projects/one/tasks";
    for (token, may) in [(&viewer, false), (&owner, true)] {
        let mut watch = world.open(token, &format!("{tasks}?watch=true&cursor=0")).await;
        let first = watch.next().await.unwrap();
        let text = first["object"]["spec"]["env"]["TOKEN"].as_str().unwrap().to_owned();
        assert_eq!(text == SECRET, may, "{first}");
    }
}

#[tokio::test]
async fn what_was_hidden_is_not_written_back() {
    let (world, _) = world().await;
    let role = json!({ "name": "blind", "permissions": ["workload.read", "workload.apply", "workload.manage", "task.submit"] });
    assert_eq!(world.post("/api/v1/roles", role).await.status, 201);
    let blind = world.account("blind", None, Some(("one", "blind"))).await;
    let path = "/api/v1/projects/one/workloads/web";
    let read = world.call_as(&blind, Method::GET, path, None).await;
    let spec = read.json()["spec"].clone();
    let mut request = crate::world::request(Method::PUT, path, Some(&blind), Some(spec.clone()));
    let etag = read.header("etag").parse().unwrap();
    request.headers_mut().insert("if-match", etag);
    let refused = world.send(request).await;
    assert_eq!(refused.code(), "invalid");
    assert_eq!(refused.json()["errors"][0]["pointer"], "/env/TOKEN");
    let tasks = "/api/v1/projects/one/tasks";
    let refused = world.call_as(&blind, Method::POST, tasks, Some(json!({ "spec": spec }))).await;
    assert_eq!(refused.code(), "invalid");
    let stored = world.get(path).await.json();
    assert_eq!(stored["spec"]["env"]["TOKEN"], SECRET);
}

#[tokio::test]
async fn output_is_a_permission_of_its_own() {
    let (world, _) = world().await;
    let quiet = ["task.read", "workload.read"];
    let role = json!({ "name": "quiet", "permissions": quiet });
    assert_eq!(world.post("/api/v1/roles", role).await.status, 201);
    let quiet = world.account("quiet", None, Some(("one", "quiet"))).await;
    let viewer = world.account("v", None, Some(("one", "viewer"))).await;
    for path in ["tasks/job/logs", "tasks/job/outputs", "workloads/web/logs"] {
        let path = format!("/api/v1/projects/one/{path}");
        assert_eq!(world.call_as(&quiet, Method::GET, &path, None).await.status, 403, "{path}");
        let read = world.call_as(&viewer, Method::GET, &path, None).await;
        assert_ne!(read.status, 403, "{path}");
    }
}
