use axum::Json;
use axum::routing::get;
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, refusal, task};

/// A task of an array that says everything a task can say.
fn rich() -> Value {
    let status = json!({
        "state": "running", "message": "running on gpu-1", "isStopping": false, "node": "gpu-1", "pid": 4711,
        "timeStarted": "2026-01-31T11:57:00Z",
    });
    let mut task = task(1, "train-7", status);
    task["array"] = json!({ "array": uuid::Uuid::from_u128(500), "index": 7 });
    task["attempts"] = json!(2);
    task["timeReady"] = json!("2026-01-31T11:55:30Z");
    task["spec"] = json!({
        "runtime": "container", "command": ["python", "train.py", "--rate", "0.1 0.2"], "tags": ["trainer"],
        "container": { "image": "team/train:3", "pull": "missing", "network": "none", "entrypoint": ["tini", "--"],
            "mounts": [{ "source": "/srv/data", "target": "/data", "readOnly": true }, { "source": "/out", "target": "/out" }] },
        "limits": { "memory": "16GiB", "cpu": 4 },
        "resources": { "cores": 4, "exclusive": true, "memory": "8GiB", "disk": "1GiB", "numa": "any",
            "gpus": { "count": 2, "share": 0.5, "model": "A100", "memory": "40GiB" } },
        "placement": { "selector": { "zone": "a" }, "constraints": ["kernel >= 6.1", "label.disk in (ssd, nvme)"],
            "prefer": ["gpu.model = H100"], "apart": ["web"], "strategy": "spread", "over": "rack" },
        "queue": { "priority": 10, "after": [{ "task": "fetch" }, { "task": "check", "on": "any" }], "delay": "5m",
            "startWithin": "1h", "retry": { "times": 3, "delay": "10s", "on": ["failed", "lost"] }, "preemptible": true },
    });
    task
}

fn array(range: &str, is_gang: bool) -> Value {
    json!({
        "id": uuid::Uuid::from_u128(500), "name": "train", "project": "default", "spec": { "command": ["x"] },
        "range": range, "isGang": is_gang, "isStopping": false, "size": 8, "unsettled": 8, "unsuccessful": 0,
        "counts": { "running": 8 }, "createdBy": "ada", "generation": 1, "timeCreated": "2026-01-31T11:50:00Z",
    })
}

async fn described(array: Option<Value>) -> String {
    let explain =
        json!({ "state": "running", "summary": "it runs on gpu-1", "nodes": [], "hints": [] });
    let run = |n: u128, attempt: u32, state: &str, end: Value| {
        json!({
            "id": uuid::Uuid::from_u128(n), "attempt": attempt, "nodeId": uuid::Uuid::from_u128(1), "given": { "cores": 2, "memory": 1_073_741_824, "cpus": "2-3", "numa": 0, "gpus": [{ "index": 1, "share": 0.25 }] }, "state": state,
            "exit": if end.is_null() { Value::Null } else { json!({ "reason": "out-of-memory", "time": end }) },
            "timeCreated": "2026-01-31T11:56:00Z", "timeStarted": "2026-01-31T11:56:00Z", "timeEnded": end,
        })
    };
    let runs = json!({ "items": [
        run(78, 2, "running", Value::Null), run(77, 1, "exited", json!("2026-01-31T11:56:40Z")),
    ] });
    let project = "/api/v1/projects/default";
    let router = axum::Router::new()
        .route(&format!("{project}/tasks/{{task}}"), get(|| async { Json(rich()) }))
        .route(&format!("{project}/tasks/{{task}}/explain"), get(|| async { Json(explain) }))
        .route(&format!("{project}/tasks/{{task}}/runs"), get(|| async { Json(runs) }))
        .route(
            &format!("{project}/task-arrays/{{array}}"),
            get(|| async move {
                use axum::response::IntoResponse;
                let gone = || refusal(Code::NotFound, "there is no such array");
                array.map_or_else(gone, |array| Json(array).into_response())
            }),
        )
        .route("/api/v1/events", get(|| async { Json(json!({ "items": [] })) }));
    let ran = World::new(router).await.hostler(&["task", "describe", "train-7"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    ran.text()
}

#[tokio::test]
async fn a_task_tells_everything_it_asks_for() {
    insta::assert_snapshot!(described(Some(array("1-8%2", false))).await);
}

#[tokio::test]
async fn a_seat_is_that_of_an_array_a_gang_or_of_something_gone() {
    let gang = described(Some(array("0-7", true))).await;
    assert!(gang.contains("train (rank 7 of a gang of 8)\n"), "{gang}");
    let gone = described(None).await;
    assert!(gone.contains(&format!("{} (index 7)\n", uuid::Uuid::from_u128(500))), "{gone}");
}
