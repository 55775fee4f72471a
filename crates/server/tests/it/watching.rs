//! Watch streams and task output.

use hostler_model::{
    Actor, ActorKind, EventKind, NewEvent, Node, NodeId, NodeState, ObjectKind, ObjectRef,
    Timestamp,
};
use http::Method;
use serde_json::json;

use crate::node::{WORKLOADS, join, running};
use crate::world::World;

const TASKS: &str = "/api/v1/projects/default/tasks";

async fn submit(world: &World, name: &str) -> String {
    let body = json!({ "name": name, "spec": { "command": ["true"] } });
    let made = world.post(TASKS, body).await;
    assert_eq!(made.status, 201, "{}", made.json());
    made.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_watch_after_a_list_misses_nothing() {
    let world = World::new().await;
    submit(&world, "before").await;
    let list = world.get(TASKS).await.json();
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    let cursor = list["watchCursor"].as_str().unwrap().to_owned();
    let between = submit(&world, "between").await;
    let mut watch = world.open(&world.admin, &format!("{TASKS}?watch=true&cursor={cursor}")).await;
    let first = watch.next().await.unwrap();
    assert_eq!((&first["type"], &first["object"]["id"]), (&json!("ADDED"), &json!(between)));
    assert_eq!(watch.next().await.unwrap()["type"], "BOOKMARK");
    let path = format!("{TASKS}/{between}/kill");
    assert_eq!(world.post(&path, json!({})).await.status, 200);
    let killed = watch.next().await.unwrap();
    assert_eq!(
        (&killed["type"], &killed["object"]["status"]["state"]),
        (&json!("MODIFIED"), &json!("killed"))
    );
    let resume = killed["cursor"].as_str().unwrap().to_owned();
    assert_eq!(world.call(Method::DELETE, &format!("{TASKS}/{between}"), None).await.status, 204);
    let gone = watch.next().await.unwrap();
    assert_eq!((&gone["type"], &gone["id"]), (&json!("DELETED"), &json!(between)));
    let mut again = world.open(&world.admin, &format!("{TASKS}?watch=true&cursor={resume}")).await;
    assert_eq!(again.next().await.unwrap(), gone);
}

#[tokio::test]
async fn a_watch_shows_only_what_the_caller_may_see() {
    let world = World::new().await;
    world.project("one").await;
    world.project("two").await;
    let token = world.account("ada", None, Some(("one", "viewer"))).await;
    let mut watch = world.open(&token, "/api/v1/events?watch=true").await;
    assert_eq!(watch.next().await.unwrap()["type"], "BOOKMARK");
    let body = || json!({ "spec": { "command": ["true"] } });
    assert_eq!(world.post("/api/v1/projects/two/tasks", body()).await.status, 201);
    assert_eq!(world.post("/api/v1/projects/one/tasks", body()).await.status, 201);
    let seen = watch.next().await.unwrap();
    assert_eq!(seen["object"]["kind"], "task.created");
    let one = world.get("/api/v1/projects/one").await.json();
    assert_eq!(seen["object"]["project"], one["id"]);
    let nodes = world.call_as(&token, Method::GET, "/api/v1/nodes?watch=true", None).await;
    assert_eq!(nodes.code(), "forbidden");
}

#[tokio::test]
async fn revoking_a_token_ends_its_streams() {
    let world = World::new().await;
    let token = world.account("ada", Some("viewer"), None).await;
    let mut events = world.open(&token, "/api/v1/events?watch=true").await;
    assert_eq!(events.next().await.unwrap()["type"], "BOOKMARK");
    assert_eq!(world.call_as(&token, Method::POST, "/api/v1/logout", None).await.status, 204);
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn a_changed_role_ends_the_streams_of_its_holder() {
    let world = World::new().await;
    let token = world.account("ada", None, Some(("default", "viewer"))).await;
    let mut watch = world.open(&token, &format!("{TASKS}?watch=true")).await;
    assert_eq!(watch.next().await.unwrap()["type"], "BOOKMARK");
    let path = "/api/v1/projects/default/members/ada";
    assert_eq!(world.call(Method::DELETE, path, None).await.status, 204);
    submit(&world, "secret").await;
    assert_eq!(watch.next().await, None);
}

#[tokio::test]
async fn streams_end_when_the_server_stops_and_are_bounded() {
    let world = World::new().await;
    let mut open = Vec::new();
    for _ in 0..4 {
        open.push(world.open(&world.admin, "/api/v1/events?watch=true").await);
    }
    assert_eq!(world.get("/api/v1/events?watch=true").await.code(), "rate-limited");
    open.pop();
    open.push(world.open(&world.admin, "/api/v1/nodes?watch=true").await);
    world.stopping.cancel();
    for mut watch in open {
        while watch.next().await.is_some() {}
    }
}

#[tokio::test]
async fn a_browser_resumes_by_the_last_event_it_saw() {
    let world = World::new().await;
    submit(&world, "one").await;
    let two = submit(&world, "two").await;
    let listed = world.get("/api/v1/events").await.json();
    let newest = listed["items"][0]["sequence"].as_u64().unwrap();
    let path = format!("{TASKS}?watch=true&cursor=0");
    let mut request = crate::world::request(Method::GET, &path, Some(&world.admin), None);
    let last = (newest - 1).to_string();
    request.headers_mut().insert("last-event-id", last.parse().unwrap());
    world.stopping.cancel();
    let text = String::from_utf8(world.send(request).await.bytes).unwrap();
    assert_eq!(text.matches("event: ADDED").count(), 1, "{text}");
    assert!(text.contains(&two), "{text}");
}

#[tokio::test]
async fn output_of_a_task_that_never_ran_is_empty_and_complete() {
    let world = World::new().await;
    let id = submit(&world, "quiet").await;
    let pending = world.get(&format!("{TASKS}/{id}/logs")).await;
    assert_eq!(pending.header("content-type"), "application/x-ndjson");
    assert_eq!(pending.json(), json!({ "type": "end", "complete": false }));
    assert_eq!(world.post(&format!("{TASKS}/{id}/kill"), json!({})).await.status, 200);
    let killed = world.get(&format!("{TASKS}/{id}/logs?follow=true")).await;
    assert_eq!(killed.json(), json!({ "type": "end", "complete": true }));
    assert_eq!(world.get(&format!("{TASKS}/none/logs")).await.code(), "not-found");
    assert_eq!(world.get(&format!("{TASKS}/{id}/logs?stream=both")).await.code(), "malformed");
}

#[tokio::test]
async fn following_a_task_that_waits_begins_the_answer_and_ends_with_it() {
    let world = World::new().await;
    let id = submit(&world, "waiting").await;
    let path = format!("{TASKS}/{id}/logs?follow=true");
    let kill = format!("{TASKS}/{id}/kill");
    let (logs, killed) = tokio::join!(world.get(&path), world.post(&kill, json!({})));
    assert_eq!(killed.status, 200);
    assert_eq!(logs.json(), json!({ "type": "end", "complete": true }));
}

#[tokio::test]
async fn waiting_for_a_task_answers_when_it_ends() {
    let world = World::new().await;
    let id = submit(&world, "short").await;
    let wait = format!("{TASKS}/{id}?wait=60s");
    let kill = format!("{TASKS}/{id}/kill");
    let (waited, killed) = tokio::join!(world.get(&wait), world.post(&kill, json!({})));
    assert_eq!(killed.status, 200);
    assert_eq!(waited.json()["status"]["state"], "killed");
    let other = submit(&world, "long").await;
    let waited = world.get(&format!("{TASKS}/{other}?wait=10ms")).await;
    assert_eq!(waited.json()["status"]["state"], "pending");
    assert_eq!(waited.json()["status"]["isStopping"], false);
}

#[tokio::test]
async fn a_cursor_older_than_what_is_kept_is_gone() {
    let world = World::new().await;
    for name in ["one", "two", "three"] {
        submit(&world, name).await;
    }
    let far = world.control.clock().now().plus(std::time::Duration::from_secs(60));
    world
        .control
        .store()
        .tx("test_compact", |tx| Box::pin(async move { tx.event_compact(far, 1).await }))
        .await
        .unwrap();
    let reply = world.get(&format!("{TASKS}?watch=true&cursor=1")).await;
    assert_eq!(reply.code(), "cursor-gone");
    let cursor = world.get(TASKS).await.json()["watchCursor"].as_str().unwrap().to_owned();
    let mut watch = world.open(&world.admin, &format!("{TASKS}?watch=true&cursor={cursor}")).await;
    assert_eq!(watch.next().await.unwrap()["type"], "BOOKMARK");
}

#[tokio::test]
async fn streams_are_not_held_back_by_compression() {
    let world = World::new().await;
    let id = submit(&world, "plain").await;
    world.stopping.cancel();
    for path in ["/api/v1/events?watch=true".to_owned(), format!("{TASKS}/{id}/logs")] {
        let mut request = crate::world::request(Method::GET, &path, Some(&world.admin), None);
        request.headers_mut().insert("accept-encoding", "gzip".parse().unwrap());
        let reply = world.send(request).await;
        assert_eq!(
            (reply.status.as_u16(), reply.headers.get("content-encoding")),
            (200, None),
            "{path}"
        );
    }
}

/// What liveness writes, without waiting for it.
async fn becomes(world: &World, node: NodeId, state: NodeState) {
    let kind = match state {
        NodeState::Online => EventKind::NodeOnline,
        _ => EventKind::NodeOffline,
    };
    let written = world.control.store().tx("test_node_state", |tx| {
        Box::pin(async move {
            let before = tx.node_get(node).await?.unwrap();
            let after = Node { state, generation: before.generation.next(), ..before.clone() };
            assert!(tx.node_update(&after, before.generation).await?.is_updated());
            let event = NewEvent {
                kind,
                project_id: None,
                object: ObjectRef::new(ObjectKind::Node, node, &after.name),
                actor: Actor { kind: ActorKind::System, name: "test".into() },
                message: "test".into(),
                payload: None,
                correlation: None,
                time: Timestamp::EPOCH,
            };
            tx.journal_append(&[event], &[]).await
        })
    });
    written.await.unwrap();
}

#[tokio::test]
async fn a_workload_is_told_of_when_its_node_is_heard_of_no_more_and_again() {
    let world = World::new().await;
    let (node, _) = join(&world, "n1").await;
    running(&world, node).await;
    world.project("other").await;
    let token = world.account("ada", None, Some(("default", "viewer"))).await;
    let mut watch = world.open(&token, &format!("{WORKLOADS}?watch=true")).await;
    assert_eq!(watch.next().await.unwrap()["type"], "BOOKMARK");
    for (to, phase) in [(NodeState::Offline, "unknown"), (NodeState::Online, "running")] {
        becomes(&world, node, to).await;
        let told = watch.next().await.unwrap();
        assert_eq!((&told["type"], &told["object"]["name"]), (&json!("MODIFIED"), &json!("web")));
        assert_eq!(told["object"]["status"]["phase"], phase);
    }
    let mut elsewhere =
        world.open(&world.admin, "/api/v1/projects/other/workloads?watch=true&cursor=0").await;
    assert_eq!(elsewhere.next().await.unwrap()["type"], "BOOKMARK");
}
