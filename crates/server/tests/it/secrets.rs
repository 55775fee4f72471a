//! Secrets over HTTP: in as bytes, out where they are asked for by name, and nowhere else.

use axum::body::Body;
use http::{Method, Request};
use serde_json::{Value, json};

use crate::world::{Reply, World};

const SECRETS: &str = "/api/v1/projects/default/secrets";
const CANARY: &[u8] = b"canary \xff\0 value";
/// The same, as an answer has it.
const CANARY_BASE64: &str = "Y2FuYXJ5IP8AIHZhbHVl";

async fn put_as(world: &World, token: &str, path: &str, bytes: &[u8]) -> Reply {
    let between = if path.contains('?') { '&' } else { '?' };
    let path = match path.contains("environment=") {
        true => path.to_owned(),
        false => format!("{path}{between}environment=default"),
    };
    let request = Request::builder()
        .method(Method::PUT)
        .uri(path)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/octet-stream")
        .body(Body::from(bytes.to_vec()))
        .unwrap();
    world.send(request).await
}

async fn put(world: &World, path: &str, bytes: &[u8]) -> Reply {
    put_as(world, &world.admin, path, bytes).await
}

fn has_canary(reply: &Reply) -> bool {
    let holds = |needle: &[u8]| reply.bytes.windows(needle.len()).any(|part| part == needle);
    holds(CANARY) || holds(CANARY_BASE64.as_bytes())
}

#[tokio::test]
async fn a_value_comes_back_only_where_it_is_read() {
    let world = World::new().await;
    let db = format!("{SECRETS}/db");
    let set = put(&world, &db, CANARY).await;
    assert_eq!(set.status, 200, "{}", set.json());
    assert_eq!((&set.json()["version"], &set.json()["reference"]), (&json!(1), &json!("db")));
    assert_eq!(put(&world, &db, CANARY).await.json()["version"], 1);
    assert_eq!(put(&world, &db, b"another").await.json()["version"], 2);
    assert_eq!(put(&world, &db, CANARY).await.json()["version"], 3);
    let made = put(&world, &format!("{db}?environment=prod"), b"of prod").await.json();
    assert_eq!(made["reference"], "prod/db");
    let made = world.post(&format!("{SECRETS}/key/generate"), json!({ "bytes": 32 })).await;
    assert_eq!(made.status, 200, "{}", made.json());

    let read = world.get(&format!("{db}/value")).await;
    assert_eq!(
        (&read.json()["version"], &read.json()["value"]),
        (&json!(3), &json!(CANARY_BASE64))
    );
    assert_eq!(read.header("cache-control"), "no-store");
    let read = world.get(&format!("{db}/value?version=2")).await.json();
    assert_eq!(read["value"], "YW5vdGhlcg==");
    let read = world.get(&format!("{db}/value?environment=prod")).await.json();
    assert_eq!(read["value"], "b2YgcHJvZA==");

    let listed = world.get(SECRETS).await.json();
    let names: Vec<&Value> =
        listed["items"].as_array().unwrap().iter().map(|item| &item["reference"]).collect();
    assert_eq!(names, ["db", "key", "prod/db"]);
    let listed = world.get(&format!("{SECRETS}?environment=prod")).await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let versions = world.get(&format!("{db}/versions?limit=2")).await.json();
    assert_eq!(versions["items"][0]["isCurrent"], true);
    assert_eq!(versions["items"][1]["version"], 2);
    assert!(versions["nextCursor"].is_string());

    let left = world.call(Method::DELETE, &format!("{db}/versions/3"), None).await;
    assert_eq!((left.status.as_u16(), &left.json()["version"]), (200, &json!(2)));
    assert_eq!(world.get(&format!("{db}/value?version=3")).await.code(), "not-found");
    assert_eq!(world.call(Method::DELETE, &db, None).await.status, 204);
    assert_eq!(world.get(&db).await.code(), "not-found");
    for path in [
        SECRETS.to_owned(),
        format!("{SECRETS}/db?environment=prod"),
        "/api/v1/events".to_owned(),
        "/api/v1/audit".to_owned(),
        "/metrics".to_owned(),
    ] {
        let reply = world.get(&path).await;
        assert_eq!(reply.status, 200, "{path}");
        assert!(!has_canary(&reply), "{path}");
    }
    let actions = world.get("/api/v1/audit?action=secret.read").await.json();
    assert_eq!(actions["items"].as_array().unwrap().len(), 3, "{actions}");
}

#[tokio::test]
async fn mistakes_are_refused_without_repeating_the_value() {
    let world = World::new().await;
    let db = format!("{SECRETS}/db");
    assert_eq!(put(&world, &db, b"").await.code(), "invalid");
    assert_eq!(put(&world, &db, &vec![b'x'; (64 << 10) + 1]).await.code(), "too-large");
    assert_eq!(put(&world, &format!("{db}?mustExist=true"), b"v").await.code(), "not-found");
    assert_eq!(put(&world, &format!("{SECRETS}/Not-A-Name"), CANARY).await.status, 400);
    for path in
        [format!("{db}?environment=No+Name"), format!("{db}?unknown=1"), format!("{SECRETS}/a%2Fb")]
    {
        let reply = put(&world, &path, CANARY).await;
        assert!(reply.status.is_client_error() && !has_canary(&reply), "{path}");
    }
    let body = Some(json!({ "value": "canary" }));
    let unplaced = world.call(Method::PUT, &db, body.clone()).await;
    assert!(unplaced.status.is_client_error());
    let typed = world.call(Method::PUT, &format!("{db}?environment=default"), body).await;
    assert_eq!(typed.code(), "unsupported-media-type");
    let made = world.post(&format!("{SECRETS}/key/generate"), json!({ "bytes": 8 })).await;
    assert_eq!(made.code(), "invalid");
    assert_eq!(world.get(&format!("{db}/value")).await.code(), "not-found");
}

#[tokio::test]
async fn reading_is_for_operators_and_using_for_users() {
    let world = World::new().await;
    world.project("lab").await;
    let (mine, theirs) = ("/api/v1/projects/lab/secrets", "/api/v1/projects/default/secrets");
    assert_eq!(put(&world, &format!("{mine}/db"), CANARY).await.status, 200);
    assert_eq!(put(&world, &format!("{theirs}/db"), CANARY).await.status, 200);
    let viewer = world.account("vera", None, Some(("lab", "viewer"))).await;
    let user = world.account("uli", None, Some(("lab", "user"))).await;
    let operator = world.account("olga", None, Some(("lab", "operator"))).await;
    let get = async |token: &str, path: &str| {
        let reply = world.call_as(token, Method::GET, path, None).await;
        assert!(!has_canary(&reply) || reply.status == 200);
        reply.status.as_u16()
    };
    for (token, list, read) in [(&viewer, 200, 403), (&user, 200, 403), (&operator, 200, 200)] {
        assert_eq!(get(token, mine).await, list);
        assert_eq!(get(token, &format!("{mine}/db/versions")).await, list);
        assert_eq!(get(token, &format!("{mine}/db/value")).await, read);
        assert_eq!(get(token, theirs).await, 404, "another project is not there for them");
        assert_eq!(get(token, &format!("{theirs}/db/value")).await, 404);
    }
    assert_eq!(put_as(&world, &viewer, &format!("{mine}/own"), b"v").await.status, 403);
    assert_eq!(put_as(&world, &user, &format!("{mine}/own"), b"v").await.status, 200);
    assert_eq!(put_as(&world, &user, &format!("{mine}/db"), b"v").await.code(), "forbidden");
    let task = json!({ "spec": {
        "command": ["true"], "secrets": [{ "secret": "db", "env": "DB" }],
    } });
    let tasks = "/api/v1/projects/lab/tasks";
    let used = world.call_as(&user, Method::POST, tasks, Some(task)).await;
    assert_eq!(used.status, 201, "{}", used.json());
    assert!(!has_canary(&used));
    let refused = world.call_as(&operator, Method::POST, "/api/v1/secrets/rewrap", None).await;
    assert_eq!(refused.status, 403);
    let done = world.call(Method::POST, "/api/v1/secrets/rewrap", None).await.json();
    assert_eq!((&done["rewrapped"], &done["left"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn a_link_names_a_vault_of_the_configuration() {
    let world = World::new().await;
    let vaults = world.get("/api/v1/projects/default/vaults").await;
    assert_eq!((vaults.status.as_u16(), &vaults.json()["items"]), (200, &json!([])));
    let path = format!("{SECRETS}/db/link");
    let body = json!({ "provider": "corp", "path": "db/app", "field": "password" });
    let refused = world.call(Method::PUT, &path, Some(body)).await;
    assert_eq!(refused.code(), "invalid", "{}", refused.json());
    assert_eq!(refused.json()["errors"][0]["pointer"], "/provider");
    let up = json!({ "provider": "corp", "path": "db/../../other" });
    let refused = world.call(Method::PUT, &path, Some(up)).await;
    assert!(refused.status.is_client_error(), "{}", refused.json());
    assert_eq!(world.get(&format!("{SECRETS}/db")).await.code(), "not-found");
}
