use axum::Json;
use axum::extract::Query;
use axum::routing::get;
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, exited, refusal, task, unsettled};

fn tasks() -> Vec<Value> {
    vec![
        task(3, "waits", unsettled("pending")),
        task(
            2,
            "runs-for-long",
            json!({
                "state": "running", "message": "running on web-1", "isStopping": true, "node": "web-1",
                "pid": 4711, "timeStarted": "2026-01-31T11:57:30Z",
            }),
        ),
        task(1, "broke", exited(Some(3), None)),
    ]
}

fn node(n: u128, name: &str, state: &str) -> Value {
    json!({
        "id": uuid::Uuid::from_u128(n), "name": name, "labels": { "disk": "ssd", "zone": "b" }, "state": state,
        "cordon": if n == 2 { json!({ "reason": "new disk", "isDraining": true, "time": "2026-01-31T10:00:00Z" }) } else { Value::Null },
        "facts": { "hostname": name, "os": "Debian 12", "kernel": "6.1", "architecture": "x86_64", "cores": 8, "cpuModel": "fast",
            "memory": 17_179_869_184_u64, "addresses": ["10.0.0.1"], "cgroup": "v2", "isRoot": true, "timezone": "Europe/Berlin",
            "disks": [{ "mount": "/", "size": 1_073_741_824, "available": 536_870_912 }], "isMetered": true,
            "temperatures": [{ "sensor": "cpu-thermal", "celsius": 48.3, "critical": 110 }],
            "diskHealth": [{ "device": "mmcblk0", "kind": "emmc", "model": "DG4016", "lifeUsed": 90, "spare": "normal" }] },
        "metrics": { "load1m": 0.5, "cpuRatio": 0.25, "memoryUsed": 1_073_741_824, "runsActive": 2, "temperature": 51.25,
            "writes": { "today": 52_428_800, "budget": 209_715_200 } },
        "agentVersion": "0.1.0", "generation": 5, "desiredGeneration": 9, "appliedGeneration": 8,
        "timeCreated": "2026-01-01T00:00:00Z", "timeSeen": "2026-01-31T11:59:58Z", "timeState": "2026-01-30T00:00:00Z",
    })
}

async fn world() -> World {
    let explain = json!({
        "state": "pending", "summary": "no node has room",
        "nodes": [
            { "node": "web-1", "isFitting": false, "reasons": ["needs 0.5 cores, 0.1 free", "label disk=ssd is missing"], "labels": {} },
            { "node": "db", "isFitting": true, "reasons": [], "labels": {} },
        ],
        "hints": ["add a node with `hostler node token create`"],
    });
    let event = json!({
        "sequence": 12, "kind": "task.created", "time": "2026-01-31T11:55:00Z", "object": { "kind": "task", "id": "x", "name": "broke" },
        "actor": { "kind": "user", "name": "ada" }, "message": "task broke was submitted by ada",
    });
    let run = json!({
        "id": uuid::Uuid::from_u128(77), "attempt": 1, "nodeId": uuid::Uuid::from_u128(1), "given": { "cores": 2, "memory": 1_073_741_824, "cpus": "2-3", "numa": 0, "gpus": [{ "index": 1, "share": 0.25 }] }, "state": "exited", "pid": 4711,
        "exit": { "reason": "exited", "code": 3, "time": "2026-01-31T11:58:00Z" }, "timeCreated": "2026-01-31T11:56:00Z",
    });
    let router = axum::Router::new()
        .route(
            "/api/v1/projects/default/tasks",
            get(|| async { Json(json!({ "items": tasks() })) }),
        )
        .route("/api/v1/projects/default/tasks/{task}", get(|| async { Json(tasks()[2].clone()) }))
        .route("/api/v1/projects/default/tasks/{task}/explain", get(|| async { Json(explain) }))
        .route(
            "/api/v1/projects/default/tasks/{task}/runs",
            get(move || async move { Json(json!({ "items": [run] })) }),
        )
        .route("/api/v1/projects/empty/tasks", get(|| async { Json(json!({ "items": [] })) }))
        .route(
            "/api/v1/nodes",
            get(|| async {
                Json(json!({ "items": [node(1, "web-1", "online"), node(2, "db", "online")] }))
            }),
        )
        .route("/api/v1/nodes/{node}", get(|| async { Json(node(2, "db", "online")) }))
        .route("/api/v1/events", get(move || async move { Json(json!({ "items": [event] })) }))
        .fallback(|| async { refusal(Code::NoSuchRoute, "there is no such path") });
    World::new(router).await
}

async fn shown(world: &World, words: &[&str]) -> String {
    let ran = world.hostler(words).await;
    assert_eq!(ran.code, 0, "{words:?}: {}", ran.err);
    assert_eq!(ran.err, "", "{words:?}");
    ran.text()
}

#[tokio::test]
async fn lists_in_every_format() {
    let world = world().await;
    let mut text = String::new();
    for format in [
        "table",
        "wide",
        "jsonl",
        "name",
        "jsonpath={.items[*].status.state}",
        "template={{ name }} is {{ status.state | upper }}",
        "json",
        "yaml",
    ] {
        let out = shown(&world, &["task", "ls", "-o", format]).await;
        text.push_str(&format!("===== -o {format} =====\n{out}"));
    }
    text.push_str(&format!("===== --quiet =====\n{}", shown(&world, &["task", "ls", "-q"]).await));
    for format in ["table", "wide"] {
        text.push_str(&format!(
            "===== nodes -o {format} =====\n{}",
            shown(&world, &["node", "ls", "-o", format]).await
        ));
    }
    text.push_str(&format!(
        "===== runs =====\n{}",
        shown(&world, &["task", "runs", "broke"]).await
    ));
    text.push_str(&format!("===== events =====\n{}", shown(&world, &["event", "ls"]).await));
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn what_is_for_machines_parses() {
    let world = world().await;
    let expected = json!({ "items": tasks() });
    let json: Value =
        serde_json::from_str(&shown(&world, &["task", "list", "-o", "json"]).await).unwrap();
    let yaml: Value =
        serde_saphyr::from_str(&shown(&world, &["task", "ls", "-o", "yaml"]).await).unwrap();
    let jsonl = shown(&world, &["task", "ls", "-o", "jsonl"]).await;
    let jsonl: Vec<Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json["items"].as_array().unwrap(), &jsonl);
    assert_eq!(json["items"][2]["name"], expected["items"][2]["name"]);
    assert_eq!(yaml["items"][2]["status"], json["items"][2]["status"]);
    let limited = shown(&world, &["task", "ls", "--limit", "1", "-o", "name"]).await;
    assert_eq!(limited, "task/waits\n");
}

#[tokio::test]
async fn single_objects_and_descriptions() {
    let world = world().await;
    let mut text = String::new();
    for words in [
        "task get broke",
        "task get task/broke -o table",
        "task describe broke",
        "task explain waits",
        "node describe db",
    ] {
        let words: Vec<_> = words.split(' ').collect();
        text.push_str(&format!("===== {} =====\n{}", words.join(" "), shown(&world, &words).await));
    }
    insta::assert_snapshot!(text);
    assert!(
        world
            .requests()
            .iter()
            .any(|request| request == "GET /api/v1/projects/default/tasks/broke")
    );
}

#[tokio::test]
async fn an_empty_list_is_no_data() {
    let world = world().await;
    let ran = world.hostler(&["task", "ls", "-p", "empty"]).await;
    assert_eq!((ran.code, ran.text().as_str(), ran.err.as_str()), (0, "", "no tasks\n"));
    let ran = world.hostler(&["task", "ls", "-p", "empty", "-o", "json"]).await;
    assert_eq!(ran.text(), "{\n  \"items\": []\n}\n");
}

#[tokio::test]
async fn figures_over_time_in_every_form() {
    let view = json!({
        "serverId": uuid::Uuid::from_u128(9),
        "times": ["2026-01-31T11:59:30Z", "2026-01-31T11:59:40Z", "2026-01-31T11:59:50Z"],
        "seconds": [10.0, 10.0, 10.0],
        "series": [
            { "name": "nodes.online", "unit": "count", "values": [3.0, 2.0, 3.0] },
            { "name": "memory.used", "unit": "bytes", "values": [1_073_741_824.0, 536_870_912.0, 0.0] },
            { "name": "queue.wait", "unit": "seconds", "values": [null, 0.25, null] },
            { "name": "gpu.used", "unit": "count", "values": [null, null, null] },
        ],
    });
    let router = axum::Router::new().route(
        "/api/v1/metrics/history",
        get(|Query(query): Query<Value>| async move {
            assert_eq!(query["since"], "2026-01-31T11:00:00.000000Z");
            Json(view)
        }),
    );
    let world = World::new(router).await;
    let mut text = String::new();
    for words in [&["metrics"][..], &["metrics", "-o", "json"], &["metrics", "-q"]] {
        let ran = world.hostler(words).await;
        text.push_str(&format!("===== {} =====\n{}{}", words.join(" "), ran.text(), ran.err));
    }
    insta::assert_snapshot!(text);
    world.hostler(&["metrics", "nodes.online", "queue.wait"]).await;
    let asked = world.seen.lock().unwrap().last().unwrap().what.clone();
    assert!(asked.contains("series=nodes.online%2Cqueue.wait"), "{asked}");
}

#[tokio::test]
async fn refusals_are_told_with_their_codes() {
    let router = axum::Router::new().route(
        "/api/v1/nodes",
        get(|Query(query): Query<Value>| async move {
            let code: Code =
                query["selector"].as_str().unwrap().strip_prefix("code=").unwrap().parse().unwrap();
            refusal(code, "it will not be")
        }),
    );
    let world = World::new(router).await;
    let mut text = String::new();
    for code in Code::ALL.iter().filter(|code| **code != Code::Unavailable) {
        let ran = world.hostler(&["node", "ls", "-l", &format!("code={code}")]).await;
        assert_eq!(ran.text(), "");
        text.push_str(&format!("===== exit {} =====\n{}", ran.code, ran.err));
    }
    insta::assert_snapshot!(text);
}

#[tokio::test]
async fn trouble_on_the_way_is_told() {
    let mut world = World::unknown(axum::Router::new()).await;
    let ran = world.hostler(&["node", "ls"]).await;
    let mut text = format!("===== nothing known: exit {} =====\n{}", ran.code, ran.err);
    let address = world.fake.address.clone();
    let ran = world.hostler(&["node", "ls", "--address", &address]).await;
    text.push_str(&format!("===== nothing pinned: exit {} =====\n{}", ran.code, ran.err));
    world.save("local", None);
    let other = crate::fake::Fake::start(axum::Router::new()).await;
    let first = std::mem::replace(&mut world.fake, other);
    drop(first);
    let ran = world.hostler(&["node", "ls"]).await;
    let err = ran.err.replace(&address, "https://SERVER");
    text.push_str(&format!("===== nobody there: exit {} =====\n{err}", ran.code));
    insta::assert_snapshot!(text);
}
