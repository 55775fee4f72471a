//! Workloads over HTTP: applied, listed, changed, removed.

use axum::body::Body;
use hostler_control::OutputItem;
use hostler_model::{Generation, Phase, PlacementStatus};
use http::{Method, Request};
use serde_json::{Value, json};

use crate::node::{WORKLOADS, join, put, running, spec, stand};
use crate::world::{Reply, World};

#[tokio::test]
async fn applying_makes_changes_and_repeats() {
    let world = World::new().await;
    let made = put(&world, "web", None, &spec()).await;
    assert_eq!(made.status, 200, "{}", made.json());
    let etag = made.header("etag").to_owned();
    assert_eq!(made.json()["status"]["phase"], "pending");
    assert_eq!((&made.json()["revision"], &made.json()["generation"]), (&json!(1), &json!(1)));

    for same in [None, Some(etag.as_str())] {
        let again = put(&world, "web", same, &spec()).await;
        assert_eq!((again.status.as_u16(), again.header("etag")), (200, etag.as_str()), "{same:?}");
    }
    let mut other = spec();
    other["command"] = json!(["sleep", "200"]);
    assert_eq!(put(&world, "web", None, &other).await.code(), "precondition-required");
    assert_eq!(put(&world, "web", Some("\"9\""), &other).await.code(), "stale");
    assert_eq!(put(&world, "web", Some("9"), &other).await.code(), "malformed");
    let changed = put(&world, "web", Some(&etag), &other).await;
    assert_eq!(changed.status, 200);
    assert_eq!(
        (&changed.json()["revision"], &changed.json()["generation"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(put(&world, "web", Some(&etag), &spec()).await.code(), "stale");

    let mut tagged = other.clone();
    tagged["tags"] = json!(["blue"]);
    let tag = changed.header("etag").to_owned();
    let tagged = put(&world, "web", Some(&tag), &tagged).await.json();
    assert_eq!((&tagged["revision"], &tagged["generation"]), (&json!(2), &json!(3)));
    assert_eq!(put(&world, "other", Some("\"1\""), &spec()).await.code(), "not-found");
    let by_id = format!("{WORKLOADS}/{}", tagged["id"].as_str().unwrap());
    assert_eq!(world.get(&by_id).await.json()["name"], "web");
}

#[tokio::test]
async fn what_is_wrong_is_named() {
    let world = World::new().await;
    for (body, pointer) in [
        (json!({ "command": [] }), "/command"),
        (json!({ "command": ["a"], "comand": 1 }), "/comand"),
        (json!({ "command": ["a"], "mode": { "times": 0 } }), "/mode/times"),
        (
            json!({ "command": ["a"], "mode": { "schedule": { "cron": "x" } } }),
            "/mode/schedule/cron",
        ),
        (json!({ "command": ["a"], "placement": { "count": 0 } }), "/placement/count"),
    ] {
        let reply = put(&world, "web", None, &body).await;
        assert_eq!(reply.code(), "invalid", "{body}");
        assert_eq!(reply.json()["errors"][0]["pointer"], pointer, "{body}: {}", reply.json());
    }
    let reply = put(&world, "Not%20A%20Name", None, &spec()).await;
    assert_eq!(reply.code(), "malformed");
    assert_eq!(reply.json()["errors"][0]["pointer"], "/path/workload");
    assert_eq!(world.get(WORKLOADS).await.json()["items"], json!([]));
    for query in ["mode=never", "phase=odd", "limit=0", "cursor=x", "watch=yes", "nope=1"] {
        assert_eq!(world.get(&format!("{WORKLOADS}?{query}")).await.code(), "malformed", "{query}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let world = World::new().await;
    let none = format!("{WORKLOADS}/none");
    for tail in ["", "/runs", "/placements", "/logs", "/explain", "/next", "/usage"] {
        let reply = world.get(&format!("{none}{tail}")).await;
        assert_eq!(reply.code(), "not-found", "{tail}");
    }
    for tail in ["/start", "/stop", "/restart"] {
        let reply = world.call(Method::POST, &format!("{none}{tail}"), None).await;
        assert_eq!(reply.code(), "not-found", "{tail}");
    }
    let reply = world.post(&format!("{none}/exec"), json!({ "command": ["a"] })).await;
    assert_eq!(reply.code(), "not-found");
    assert_eq!(world.call(Method::DELETE, &none, None).await.code(), "not-found");
    for tail in ["usage", "workloads"] {
        assert_eq!(world.get(&format!("/api/v1/nodes/none/{tail}")).await.code(), "not-found");
    }
    put(&world, "web", None, &spec()).await;
    assert_eq!(world.get(&format!("{WORKLOADS}/web/logs?node=none")).await.code(), "not-found");
    let run = uuid::Uuid::from_u128(1);
    assert_eq!(world.get(&format!("{WORKLOADS}/web/logs?run={run}")).await.code(), "not-found");
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let world = World::new().await;
    for (name, mode, tag) in [
        ("a", json!("forever"), "x"),
        ("b", json!({ "schedule": { "cron": "0 3 * * *" } }), "x"),
        ("c", json!("forever"), "y"),
    ] {
        let body = json!({ "mode": mode, "command": ["a"], "tags": [tag] });
        assert_eq!(put(&world, name, None, &body).await.status, 200, "{name}");
    }
    let names = |listing: Value| -> Vec<String> {
        let items = listing["items"].as_array().unwrap().clone();
        items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    for (query, expected) in [
        ("", vec!["a", "b", "c"]),
        ("?mode=forever", vec!["a", "c"]),
        ("?tag=x", vec!["a", "b"]),
        ("?tag=x&mode=schedule", vec!["b"]),
        ("?phase=pending", vec!["a", "b", "c"]),
        ("?phase=running", vec![]),
        ("?limit=2", vec!["a", "b"]),
    ] {
        let listing = world.get(&format!("{WORKLOADS}{query}")).await.json();
        assert_eq!(names(listing), expected, "{query}");
    }
    let first = world.get(&format!("{WORKLOADS}?limit=2")).await.json();
    let cursor = first["nextCursor"].as_str().unwrap();
    let rest = world.get(&format!("{WORKLOADS}?limit=2&cursor={cursor}")).await.json();
    assert_eq!((names(rest.clone()), &rest["nextCursor"]), (vec!["c".to_owned()], &Value::Null));
}

#[tokio::test]
async fn how_it_stands_follows_from_what_its_node_says() {
    let world = World::new().await;
    let (node, _) = join(&world, "n1").await;
    let (placement, run) = running(&world, node).await;
    let view = world.get(&format!("{WORKLOADS}/web")).await.json();
    assert_eq!(view["status"]["phase"], "running", "{view}");
    assert_eq!((&view["status"]["ready"], &view["status"]["wanted"]), (&json!(1), &json!(1)));
    let there = &view["placements"][0];
    assert_eq!((&there["node"], &there["pid"]), (&json!("n1"), &json!(4711)), "{view}");
    assert_eq!(there["run"], json!(run));
    let runs = world.get(&format!("{WORKLOADS}/web/runs")).await.json();
    assert_eq!(
        (&runs["items"][0]["number"], &runs["items"][0]["cause"]),
        (&json!(1), &json!("start"))
    );

    let mut sick = PlacementStatus::new(Phase::Backoff, Generation::FIRST);
    sick.reason = Some("exit code 1".into());
    sick.failures = 2;
    sick.runs = 3;
    stand(&world, node, placement, 2, sick).await;
    let view = world.get(&format!("{WORKLOADS}/web")).await.json();
    assert_eq!(view["status"]["phase"], "backoff");
    assert_eq!(
        (&view["status"]["restarts"], &view["status"]["reason"]),
        (&json!(2), &json!("exit code 1"))
    );
    let explained = world.get(&format!("{WORKLOADS}/web/explain")).await.json();
    assert_eq!(explained["phase"], "backoff");
    assert!(
        explained["nodes"][0]["standing"].as_str().unwrap().contains("exit code 1"),
        "{explained}"
    );

    for (verb, phase) in [("stop", "stopping"), ("start", "backoff"), ("restart", "backoff")] {
        let reply = world.call(Method::POST, &format!("{WORKLOADS}/web/{verb}"), None).await;
        assert_eq!(reply.status, 200, "{}", reply.json());
        assert_eq!(reply.json()["status"]["phase"], phase, "{verb}");
    }
    let removed = world.call(Method::DELETE, &format!("{WORKLOADS}/web"), None).await;
    assert_eq!(removed.status, 202);
    assert_eq!(removed.json()["status"]["phase"], "removing");
    let again = world.call(Method::DELETE, &format!("{WORKLOADS}/web"), None).await;
    assert_eq!(again.status, 202);
    assert_eq!(
        world.call(Method::POST, &format!("{WORKLOADS}/web/start"), None).await.code(),
        "conflict"
    );
    let audit = world.get("/api/v1/audit").await.json();
    let actions: Vec<&str> =
        audit["items"].as_array().unwrap().iter().map(|e| e["action"].as_str().unwrap()).collect();
    for action in ["workload.apply", "workload.stop", "workload.restart", "workload.remove"] {
        assert!(actions.contains(&action), "{action}: {actions:?}");
    }
}

#[tokio::test]
async fn a_node_tells_what_is_on_it() {
    let world = World::new().await;
    let (node, _) = join(&world, "n1").await;
    assert_eq!(world.get("/api/v1/nodes/n1/workloads").await.json()["items"], json!([]));
    let (placement, run) = running(&world, node).await;
    let mut short = PlacementStatus::new(Phase::Running, Generation::FIRST);
    short.warning = Some("memory runs short".into());
    stand(&world, node, placement, 2, short).await;
    let listed = world.get("/api/v1/nodes/n1/workloads").await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
    let found = &listed["items"][0];
    assert_eq!((&found["project"], &found["workload"]), (&json!("default"), &json!("web")));
    let there = &found["placement"];
    assert_eq!((&there["phase"], &there["run"]), (&json!("running"), &json!(run)));
    assert_eq!(there["warning"], "memory runs short");
    let member = world.account("ada", None, Some(("default", "viewer"))).await;
    let path = "/api/v1/nodes/n1/workloads";
    assert_eq!(world.call_as(&member, Method::GET, path, None).await.code(), "forbidden");
}

async fn post_with_key(world: &World, path: &str, key: &str, body: Option<Value>) -> Reply {
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header("authorization", format!("Bearer {}", world.admin))
        .header("idempotency-key", key);
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    world.send(request.body(body).unwrap()).await
}

#[tokio::test]
async fn a_repeated_request_has_one_effect() {
    let world = World::new().await;
    let (node, link) = join(&world, "n1").await;
    running(&world, node).await;
    let restart = format!("{WORKLOADS}/web/restart");
    let first = post_with_key(&world, &restart, "k1", None).await.json();
    let again = post_with_key(&world, &restart, "k1", None).await.json();
    assert_eq!((&first["revision"], &again["revision"]), (&json!(2), &json!(2)));
    let other = post_with_key(&world, &restart, "k2", None).await.json();
    assert_eq!(other["revision"], 3);
    let stop = format!("{WORKLOADS}/web/stop");
    assert_eq!(post_with_key(&world, &stop, "k2", None).await.code(), "idempotency-key-reused");

    let exec = format!("{WORKLOADS}/web/exec");
    let body = json!({ "command": ["true"] });
    link.answer(vec![Ok(OutputItem::Exit { code: Some(0), signal: None, is_timed_out: false })]);
    assert_eq!(post_with_key(&world, &exec, "k3", Some(body.clone())).await.status, 200);
    assert_eq!(post_with_key(&world, &exec, "k3", Some(body)).await.code(), "conflict");
    assert_eq!(link.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn only_owners_and_operators_change_it() {
    let world = World::new().await;
    put(&world, "web", None, &spec()).await;
    let user = world.account("ada", None, Some(("default", "user"))).await;
    let path = format!("{WORKLOADS}/web");
    assert_eq!(world.call_as(&user, Method::GET, &path, None).await.status, 200);
    for tail in ["/start", "/stop", "/restart"] {
        let reply = world.call_as(&user, Method::POST, &format!("{path}{tail}"), None).await;
        assert_eq!(reply.code(), "forbidden", "{tail}");
    }
    let body = Some(json!({ "command": ["a"] }));
    let reply = world.call_as(&user, Method::POST, &format!("{path}/exec"), body).await;
    assert_eq!(reply.code(), "forbidden");
    assert_eq!(world.call_as(&user, Method::DELETE, &path, None).await.code(), "forbidden");
    let own = format!("{WORKLOADS}/own");
    assert_eq!(world.call_as(&user, Method::PUT, &own, Some(spec())).await.status, 200);
    assert_eq!(world.call_as(&user, Method::DELETE, &own, None).await.status, 202);
}

#[tokio::test]
async fn watching_tells_of_changes() {
    let world = World::new().await;
    let head = world.get(WORKLOADS).await.json()["watchCursor"].as_str().unwrap().to_owned();
    let path = format!("{WORKLOADS}?watch=true&cursor={head}&mode=forever");
    let mut watch = world.open(&world.admin, &path).await;
    put(&world, "web", None, &spec()).await;
    let mut next = async || loop {
        let message = watch.next().await.unwrap();
        if message["type"] != "BOOKMARK" {
            return message;
        }
    };
    let added = next().await;
    assert_eq!((&added["type"], &added["object"]["name"]), (&json!("ADDED"), &json!("web")));
    world.call(Method::POST, &format!("{WORKLOADS}/web/stop"), None).await;
    let changed = next().await;
    assert_eq!(
        (&changed["type"], &changed["object"]["desired"]),
        (&json!("MODIFIED"), &json!("stop"))
    );
}
