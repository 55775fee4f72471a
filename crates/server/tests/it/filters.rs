//! Filters of lists: every list asks them, of what it answers and of nothing else.

use hostler_api::filter::lists;
use http::Method;
use serde_json::{Value, json};

use crate::world::{Reply, World};

const SECRET: &str = "s3cret-of-somebody";
const TASKS: &str = "/api/v1/projects/default/tasks";

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

async fn asked(world: &World, token: &str, path: &str, filter: &str) -> Reply {
    let path = format!("{path}?limit=2&filter={}", encoded(filter));
    world.call_as(token, Method::GET, &path, None).await
}

fn names(listing: &Value) -> Vec<String> {
    let items = listing["items"].as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_list_that_takes_a_filter_asks_it() {
    let world = World::new().await;
    for list in lists() {
        let path = list.path.replace("{project}", "default");
        let words: Vec<&str> =
            path.split('/').map(|word| if word.starts_with('{') { "x" } else { word }).collect();
        let refused = asked(&world, &world.admin, &words.join("/"), "no-such-field == 1").await;
        assert_eq!(
            (refused.status.as_u16(), refused.code().as_str()),
            (400, "malformed"),
            "{path}"
        );
        let mistake = &refused.json()["errors"][0];
        assert_eq!(mistake["pointer"], "/query/filter", "{path}");
        let detail = mistake["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("there is no field `no-such-field`\n"), "{path}: {detail}");
        assert!(detail.contains("\n  ^"), "{path}: {detail}");
    }
}

#[tokio::test]
async fn pages_of_what_holds_are_the_whole_of_it() {
    let world = World::new().await;
    for n in 0..23 {
        let tag = if n % 3 == 0 { "blue" } else { "green" };
        let spec = json!({ "command": ["true"], "tags": [tag] });
        let made = world.post(TASKS, json!({ "name": format!("t{n:02}"), "spec": spec })).await;
        assert_eq!(made.status, 201, "{}", made.json());
    }
    let filter = encoded("spec.tags contains \"blue\" and status.state == \"pending\"");
    let (mut cursor, mut seen) = (String::new(), Vec::new());
    loop {
        let page = world.get(&format!("{TASKS}?limit=3&filter={filter}{cursor}")).await.json();
        let held = names(&page);
        assert!(held.len() <= 3, "{held:?}");
        seen.extend(held);
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, ["t21", "t18", "t15", "t12", "t09", "t06", "t03", "t00"]);
    let none = asked(&world, &world.admin, TASKS, "attempts > 0").await.json();
    assert_eq!((names(&none), none["nextCursor"].as_str()), (Vec::new(), None));
}

#[tokio::test]
async fn what_is_hidden_cannot_be_found_out_by_filtering() {
    let world = World::new().await;
    world.project("one").await;
    let owner = world.account("owner", None, Some(("one", "user"))).await;
    let viewer = world.account("viewer", None, Some(("one", "viewer"))).await;
    let spec = || json!({ "command": ["true"], "env": { "TOKEN": SECRET } });
    for (method, path, body) in [
        (Method::POST, "tasks", json!({ "name": "job", "spec": spec() })),
        (Method::POST, "task-arrays", json!({ "name": "many", "spec": spec(), "range": "1-2" })),
        (Method::PUT, "workloads/web", spec()),
    ] {
        let path = format!("/api/v1/projects/one/{path}");
        let made = world.call_as(&owner, method, &path, Some(body)).await;
        assert!(made.status.is_success(), "{}", made.json());
    }
    let exact = format!("name == \"NAME\" and spec.env.TOKEN == {SECRET:?}");
    let questions = [
        exact.as_str(),
        "name == \"NAME\" and spec.env.TOKEN =~ \"^s\"",
        "name == \"NAME\" and spec.env.TOKEN > \"s3\"",
        "name == \"NAME\" and spec.env[\"TOKEN\"] contains \"cret\"",
        "name == \"NAME\" and not (spec.env.TOKEN == \"(hidden)\")",
    ];
    for (list, name) in [("tasks", "job"), ("task-arrays", "many"), ("workloads", "web")] {
        let path = format!("/api/v1/projects/one/{list}");
        for question in questions {
            let filter = question.replace("NAME", name);
            let found = asked(&world, &owner, &path, &filter).await.json();
            assert_eq!(names(&found), [name], "{filter}: it is the owner's");
            let found = asked(&world, &viewer, &path, &filter).await.json();
            assert_eq!(names(&found), Vec::<String>::new(), "{filter}: it is another's");
        }
        let shown = format!("name == \"{name}\" and spec.env.TOKEN == \"(hidden)\"");
        let found = asked(&world, &viewer, &path, &shown).await.json();
        assert_eq!(names(&found), [name], "what is shown can be asked");
    }
}

#[tokio::test]
async fn a_watch_tells_of_what_holds_and_of_what_does_no_more() {
    let world = World::new().await;
    let filter = encoded("name startsWith \"a\" and status.state == \"pending\"");
    let path = format!("{TASKS}?watch=true&filter={filter}");
    let mut watch = world.open(&world.admin, &path).await;
    assert_eq!(watch.next().await.unwrap()["type"], "BOOKMARK");
    let mut ids = Vec::new();
    for name in ["b1", "a1"] {
        let made =
            world.post(TASKS, json!({ "name": name, "spec": { "command": ["true"] } })).await;
        ids.push(made.json()["id"].clone());
    }
    let other = watch.next().await.unwrap();
    assert_eq!(
        (&other["type"], &other["id"], &other["object"]),
        (&json!("DELETED"), &ids[0], &Value::Null)
    );
    let held = watch.next().await.unwrap();
    assert_eq!((&held["type"], &held["object"]["id"]), (&json!("ADDED"), &ids[1]));
    assert_eq!(world.post(&format!("{TASKS}/a1/kill"), json!({})).await.status, 200);
    let over = watch.next().await.unwrap();
    assert_eq!((&over["type"], &over["id"]), (&json!("DELETED"), &ids[1]));
    let refused = world.get(&format!("{TASKS}?watch=true&filter={}", encoded("nam == 1"))).await;
    assert_eq!(refused.code(), "malformed");
}
