use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::routing::get;
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, refusal};

fn project(name: &str, weight: u32, quota: Value) -> Value {
    json!({
        "id": uuid::Uuid::from_u128(9), "name": name, "description": "", "weight": weight, "quota": quota,
        "generation": 4, "timeCreated": "2026-01-01T00:00:00Z", "timeModified": "2026-01-01T00:00:00Z",
    })
}

fn queue() -> Value {
    let task = |n: u128, name: &str| {
        json!({
            "id": uuid::Uuid::from_u128(n), "name": name, "position": n, "priority": 0,
            "timeReady": "2026-01-31T11:00:00Z", "reason": "waits for 2 GPUs, no node has more than 1 free",
        })
    };
    json!({ "projects": [
        {
            "project": "lab", "weight": 2, "quota": { "cores": 64, "gpus": 8, "tasks": 1000, "workloads": 50, "logs": 8_589_934_592_u64 },
            "workloads": 12, "logs": 3_221_225_472_u64,
            "counts": { "pending": 120, "pending_approval": 1, "running": 16, "assigning": 2, "paused": 1 },
            "cores": 18.5, "memory": 34_359_738_368_u64, "gpus": 3.5,
            "next": [task(1, "train"), task(2, "sweep-17"), task(3, "sweep-18"), task(4, "sweep-19"), task(5, "sweep-20"), task(6, "sweep-21")],
        },
        { "project": "default", "weight": 1, "quota": {}, "counts": {}, "cores": 0, "memory": 0, "gpus": 0, "next": [] },
    ] })
}

fn accounts(query: &Value) -> Value {
    let line = |project: &str, user: &str, tasks: u64| {
        json!({
            "project": project, "user": user, "tasks": tasks, "coreHours": 12.3456, "gpuHours": 0.5,
            "memoryGibHours": 99.0, "waitSecondsMean": 75.0, "runHours": 3.2,
        })
    };
    match query["project"].as_str() {
        Some(only) => json!({ "items": [line(only, "ada", 7)] }),
        None => json!({ "items": [line("lab", "ada", 7), line("default", "bob", 12_345)] }),
    }
}

/// What was asked to be changed.
type Changes = Arc<Mutex<Vec<Value>>>;

fn held() -> Value {
    json!({ "items": [{
        "id": uuid::Uuid::from_u128(1), "node": "web-1", "placements": 3, "cores": 6.5, "memory": 17_179_869_184_u64, "disk": 0,
        "cpus": "8-11", "numa": [{ "index": 1, "cores": 4, "memory": 8_589_934_592_u64 }], "gpus": [{ "index": 0, "share": 0.5 }],
    }] })
}

async fn world() -> (World, Changes) {
    let changes = Changes::default();
    let (made, patched) = (Arc::clone(&changes), Arc::clone(&changes));
    let create = move |Json(body): Json<Value>| async move {
        made.lock().unwrap().push(body.clone());
        (StatusCode::CREATED, Json(project(body["name"].as_str().unwrap(), 1, json!({}))))
    };
    let update = move |Json(body): Json<Value>| async move {
        patched.lock().unwrap().push(body);
        Json(project("lab", 3, json!({})))
    };
    let node = json!({
        "id": uuid::Uuid::from_u128(1), "name": "web-1", "labels": {}, "state": "online",
        "facts": { "cores": 16, "memory": 68_719_476_736_u64,
            "numa": [{ "index": 0, "cpus": "0-7" }, { "index": 1, "cpus": "8-15" }],
            "gpus": [{ "index": 0, "model": "A100", "memory": 42_949_672_960_u64 }, { "index": 1, "model": "A100", "memory": 42_949_672_960_u64, "numa": 1, "trouble": "Xid 79" }] },
        "metrics": { "cpuRatio": 0.25, "memoryUsed": 17_179_869_184_u64, "diskUsed": 1_073_741_824, "diskSize": 10_737_418_240_u64, "runsActive": 2,
            "gpus": [{ "index": 0, "utilisation": 0.75, "memoryUsed": 1_073_741_824, "temperature": 61.4, "power": 250.0 }] },
        "agentVersion": "0.1.0", "generation": 5, "desiredGeneration": 9, "appliedGeneration": 8,
        "timeCreated": "2026-01-01T00:00:00Z", "timeState": "2026-01-30T00:00:00Z",
    });
    let bare = json!({
        "id": uuid::Uuid::from_u128(2), "name": "new", "labels": {}, "state": "joined", "agentVersion": "",
        "generation": 1, "desiredGeneration": 0, "appliedGeneration": 0,
        "timeCreated": "2026-01-01T00:00:00Z", "timeState": "2026-01-30T00:00:00Z",
    });
    let router = axum::Router::new()
        .route("/api/v1/queue", get(|| async { Json(queue()) }))
        .route(
            "/api/v1/accounts",
            get(|Query(query): Query<Value>| async move { Json(accounts(&query)) }),
        )
        .route(
            "/api/v1/projects",
            get(|| async {
                Json(json!({ "items": [project("lab", 2, json!({ "cores": 64, "memory": 1_073_741_824, "tasks": 1000 }))] }))
            })
            .post(create),
        )
        .route(
            "/api/v1/projects/{project}",
            get(|| async { Json(project("lab", 2, json!({ "cores": 64, "gpus": 8 }))) }).patch(update),
        )
        .route("/api/v1/node-holdings", get(|| async { Json(held()) }))
        .route("/api/v1/nodes", get(move || async move { Json(json!({ "items": [node, bare] })) }))
        .fallback(|| async { refusal(Code::NoSuchRoute, "there is no such path") });
    (World::new(router).await, changes)
}

#[tokio::test]
async fn queue_accounts_and_resources_in_every_form() {
    let (world, _) = world().await;
    let mut text = String::new();
    for line in [
        "queue",
        "queue -o wide",
        "queue -p lab -o yaml",
        "queue -o name",
        "account",
        "account -p lab --from 2026-01-01 --to 2026-01-31 -o json",
        "project ls",
        "node ls --resources",
        "node ls --resources -o wide",
        "node ls --resources -o jsonpath={.items[*].facts.cores}",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = world.hostler(&words).await;
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}");
        text.push_str(&format!("===== {line} =====\n{}", ran.text()));
    }
    insta::assert_snapshot!(text);
    let asked = "GET /api/v1/accounts?project=lab&from=2026-01-01&to=2026-01-31";
    assert!(world.requests().iter().any(|request| request == asked), "{:?}", world.requests());
}

#[tokio::test]
async fn weight_and_quota_are_set_one_by_one() {
    let (world, changes) = world().await;
    for line in [
        "project create big --weight 2 --quota-cores 1.5",
        "project create small",
        "project set lab --weight 3",
        "project edit lab --quota-gpus none --quota-memory 1GiB",
        "project edit lab --quota-cores 64 --description x",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = world.hostler(&words).await;
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
    }
    let expected = [
        json!({ "name": "big", "description": "", "weight": 2, "quota": { "cores": 1.5 } }),
        json!({ "name": "small", "description": "" }),
        json!({ "weight": 3 }),
        json!({ "quota": { "cores": 64, "memory": 1_073_741_824 } }),
        json!({ "description": "x" }),
    ];
    assert_eq!(*changes.lock().unwrap(), expected);
    let wrong =
        ["project set lab", "project set lab --weight 0", "project set lab --quota-cores much"];
    for line in wrong {
        let words = ["hostler"].into_iter().chain(line.split(' '));
        assert!(hostler_cli::parse_from(words).is_err(), "{line}");
    }
    let days = ["account --from yesterday", "account --to 2026-02-30"];
    for line in days {
        let words = ["hostler"].into_iter().chain(line.split(' '));
        let mistake = hostler_cli::parse_from(words).unwrap_err().to_string();
        assert!(mistake.contains("write it as 2026-01-31"), "{mistake}");
    }
}

#[tokio::test]
async fn what_a_project_holds_is_shown_against_its_quotas() {
    let (world, _) = world().await;
    let ran = world.hostler(&["project", "quota", "lab"]).await;
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines: Vec<Vec<String>> = (ran.text().lines())
        .map(|line| line.split_whitespace().map(str::to_owned).collect())
        .collect();
    assert_eq!(lines[0], ["WHAT", "USED", "QUOTA"]);
    assert_eq!(lines[1], ["cores", "18.5", "64"]);
    assert_eq!(lines[2], ["memory", "32GiB", "-"]);
    assert_eq!(lines[4], ["tasks", "140", "1000"]);
    assert_eq!(lines[5], ["workloads", "12", "50"]);
    assert_eq!(lines[7], ["blobs", "0B", "-"]);
    assert_eq!(lines[8], ["logs", "3GiB", "8GiB"]);
    let ran = world.hostler(&["project", "quota", "lab", "-o", "json"]).await;
    let shown: Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(shown["items"][4], json!({ "what": "workloads", "used": 12, "limit": 50 }));
    assert_eq!(shown["items"][5], json!({ "what": "secrets", "used": 0 }));
}
