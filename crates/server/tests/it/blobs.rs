//! Content over HTTP: chunks, blobs, and who may see them.

use axum::body::Body;
use http::{Method, Request};
use serde_json::{Value, json};

use crate::world::{Reply, World};

const CHUNKS: &str = "/api/v1/projects/default/chunks";
const BLOBS: &str = "/api/v1/projects/default/blobs";

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

async fn put_as(world: &World, token: &str, path: &str, kind: &str, bytes: &[u8]) -> Reply {
    let request = Request::builder()
        .method(Method::PUT)
        .uri(path)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", kind)
        .body(Body::from(bytes.to_vec()))
        .unwrap();
    world.send(request).await
}

async fn put(world: &World, path: &str, bytes: &[u8]) -> Reply {
    put_as(world, &world.admin, path, "application/octet-stream", bytes).await
}

async fn put_chunk(world: &World, bytes: &[u8]) {
    let reply = put(world, &format!("{CHUNKS}/{}", digest(bytes)), bytes).await;
    assert_eq!(reply.status, 204);
}

fn body(parts: &[&[u8]]) -> Value {
    let chunk = |part: &&[u8]| json!({ "digest": digest(part), "size": part.len() });
    let chunks: Vec<Value> = parts.iter().map(chunk).collect();
    json!({ "digest": digest(&parts.concat()), "label": "some file", "chunks": chunks })
}

#[tokio::test]
async fn content_is_taken_in_chunks_and_given_back() {
    let world = World::new().await;
    let (one, two) = (vec![1; 70_000], vec![2; 90_000]);
    let parts: [&[u8]; 3] = [&one, &two, &one];
    let asked = json!({ "chunks": [digest(&one), digest(&two)] });
    let missing = world.post(&format!("{CHUNKS}/missing"), asked.clone()).await.json();
    assert_eq!(missing["missing"], asked["chunks"]);
    put_chunk(&world, &one).await;
    let lacking = world.post(BLOBS, body(&parts)).await;
    assert_eq!(lacking.code(), "conflict", "{}", lacking.json());
    put_chunk(&world, &two).await;
    put_chunk(&world, &two).await;
    let missing = world.post(&format!("{CHUNKS}/missing"), asked).await.json();
    assert_eq!(missing["missing"], json!([]));
    let made = world.post(BLOBS, body(&parts)).await;
    assert_eq!(made.status, 201, "{}", made.json());
    let (blob, whole) = (made.json(), parts.concat());
    assert_eq!((&blob["size"], &blob["chunks"]), (&json!(whole.len()), &json!(3)));
    assert_eq!(made.header("location"), format!("{BLOBS}/{}", digest(&whole)));
    assert_eq!(world.post(BLOBS, body(&parts)).await.status, 201, "again changes nothing");
    let path = format!("{BLOBS}/{}", digest(&whole));
    assert_eq!(world.get(&path).await.json()["label"], "some file");
    let content = world.get(&format!("{path}/content")).await;
    assert_eq!(content.header("content-type"), "application/octet-stream");
    assert_eq!(content.header("content-length"), whole.len().to_string());
    assert!(content.bytes == whole);
    for from in [1, 70_000, 100_000, 229_999, 230_000, 500_000] {
        let rest = world.get(&format!("{path}/content?from={from}")).await.bytes;
        assert!(rest == whole[from.min(whole.len())..], "from {from}");
    }
    assert_eq!(world.get(BLOBS).await.json()["items"].as_array().unwrap().len(), 1);
    assert_eq!(world.call(Method::DELETE, &path, None).await.status, 204);
    assert_eq!(world.get(&path).await.code(), "not-found");
    assert_eq!(world.get(&format!("{path}/content")).await.code(), "not-found");
}

#[tokio::test]
async fn what_is_not_what_it_says_is_refused() {
    let world = World::new().await;
    let bytes = b"some bytes".as_slice();
    let path = format!("{CHUNKS}/{}", digest(bytes));
    assert_eq!(put(&world, &path, b"other bytes").await.code(), "invalid");
    assert_eq!(put(&world, &path, b"").await.code(), "invalid");
    assert_eq!(put(&world, &path, &vec![0; (1 << 20) + 1]).await.code(), "too-large");
    let typed = put_as(&world, &world.admin, &path, "application/json", bytes).await;
    assert_eq!(typed.code(), "unsupported-media-type");
    assert_eq!(put(&world, &format!("{CHUNKS}/xyz"), bytes).await.code(), "malformed");
    put_chunk(&world, bytes).await;
    let mut lie = body(&[bytes]);
    lie["digest"] = json!(digest(b"something else"));
    let refused = world.post(BLOBS, lie).await;
    assert_eq!(
        (refused.code().as_str(), &refused.json()["errors"][0]["pointer"]),
        ("invalid", &json!("/digest"))
    );
    let mut size = body(&[bytes]);
    size["chunks"][0]["size"] = json!(11);
    assert_eq!(world.post(BLOBS, size).await.code(), "conflict");
    let mut none = body(&[bytes]);
    none["chunks"][0]["size"] = json!(0);
    assert_eq!(world.post(BLOBS, none).await.code(), "invalid");
    let mut label = body(&[bytes]);
    label["label"] = json!("a\nb");
    assert_eq!(world.post(BLOBS, label).await.code(), "invalid");
    let many: Vec<String> = (0..1001_u32).map(|n| digest(&n.to_le_bytes())).collect();
    let asked = world.post(&format!("{CHUNKS}/missing"), json!({ "chunks": many })).await;
    assert_eq!(asked.code(), "invalid");
    assert_eq!(world.post(BLOBS, body(&[])).await.status, 201, "nothing is something too");
    let empty = format!("{BLOBS}/{}/content", digest(b""));
    assert!(world.get(&empty).await.bytes.is_empty());
}

#[tokio::test]
async fn projects_see_nothing_of_each_other() {
    let world = World::new().await;
    world.project("other").await;
    let bytes = b"a secret".as_slice();
    put_chunk(&world, bytes).await;
    assert_eq!(world.post(BLOBS, body(&[bytes])).await.status, 201);
    let asked = json!({ "chunks": [digest(bytes)] });
    for path in ["/api/v1/projects/other/chunks/missing", "/api/v1/blobs/missing"] {
        let missing = world.post(path, asked.clone()).await.json();
        assert_eq!(missing["missing"], asked["chunks"], "{path}");
    }
    let stolen = world.post("/api/v1/projects/other/blobs", body(&[bytes])).await;
    assert_eq!(stolen.code(), "conflict", "to know a digest is not to have the content");
    let blob = format!("/api/v1/projects/other/blobs/{}", digest(bytes));
    assert_eq!(world.get(&blob).await.code(), "not-found");
    let viewer = json!({ "name": "viewer", "role": "viewer", "project": "default" });
    let viewer = world.token(viewer).await;
    let path = format!("{CHUNKS}/{}", digest(bytes));
    let kind = "application/octet-stream";
    assert_eq!(put_as(&world, &viewer, &path, kind, bytes).await.code(), "forbidden");
    let shared = format!("/api/v1/blobs/chunks/{}", digest(bytes));
    let user = json!({ "name": "user", "role": "user", "project": "default" });
    let user = world.token(user).await;
    assert_eq!(put_as(&world, &user, &shared, kind, bytes).await.code(), "forbidden");
    assert_eq!(put(&world, &shared, bytes).await.status, 204);
}
