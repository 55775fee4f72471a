use axum::Json;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hostler_model::Code;
use serde_json::{Value, json};

use crate::world::{World, refusal};

fn train() -> Value {
    json!({
        "id": uuid::Uuid::from_u128(3), "name": "train", "version": 3, "reference": "hostler://train:3",
        "digest": "ab".repeat(32), "size": 1_288_490_188_u64, "origin": "a stream",
        "createdBy": { "kind": "user", "name": "ada" }, "timeCreated": "2026-01-31T11:55:00.000000Z",
    })
}

async fn world(nodes: fn() -> Response) -> World {
    let router =
        axum::Router::new().route("/api/v1/images/{image}", get(|| async { Json(train()) })).route(
            "/api/v1/images/{image}/nodes",
            get(move |Path(image): Path<String>| async move {
                assert_eq!(image, "train:3", "the nodes are asked for the version that is shown");
                nodes()
            }),
        );
    World::new(router).await
}

#[tokio::test]
async fn a_version_is_shown_with_the_nodes_that_have_it_to_who_may_know() {
    let told = || {
        let items = json!([
            { "node": "gpu-1", "isHere": true }, { "node": "gpu-2", "isHere": false },
            { "node": "gpu-3", "problem": "the node is offline" }, { "node": "gpu-4", "isHere": true },
        ]);
        Json(json!({ "items": items })).into_response()
    };
    let ran = world(told).await.hostler(&["image", "show", "train", "-o", "json"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let shown: Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!((&shown["name"], &shown["version"]), (&json!("train"), &json!(3)), "{shown}");
    assert_eq!(shown["nodes"][2]["problem"], "the node is offline", "{shown}");
    let ran = world(told).await.hostler(&["image", "show", "train", "-o", "table"]).await;
    assert!(ran.text().contains("gpu-1,gpu-4"), "{}", ran.text());

    let ran = world(|| refusal(Code::Forbidden, "operators may ask")).await;
    let ran = ran.hostler(&["image", "show", "train", "-o", "json"]).await;
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let shown: Value = serde_json::from_str(&ran.text()).unwrap();
    assert_eq!(shown, train());
    let ran = world(|| refusal(Code::Internal, "it is broken")).await;
    assert_ne!(ran.hostler(&["image", "show", "train"]).await.code, 0);
}
