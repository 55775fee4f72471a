//! Modules over HTTP: pushed, read, pinned and removed, by whoever may.

use http::Method;
use serde_json::{Value, json};

use crate::world::World;

const MODULES: &str = "/api/v1/projects/default/modules";
const WORKFLOWS: &str = "/api/v1/projects/default/workflows";

fn module(name: &str, text: &str) -> Value {
    json!({ "name": name, "bundle": { "name": format!("{name}.lua"), "text": text } })
}

#[tokio::test]
async fn a_module_is_kept_read_pinned_and_removed() {
    let world = World::new().await;
    for (text, version) in [("return 'a'", 1), ("return 'a'", 1), ("return 'b'", 2)] {
        let kept = world.post(MODULES, module("web", text)).await;
        assert_eq!(kept.status, 200, "{}", kept.json());
        assert_eq!(kept.json()["module"]["version"], version);
    }
    let listed = world.get(MODULES).await.json();
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let shown = world.get(&format!("{MODULES}/web?version=1")).await.json();
    assert_eq!((&shown["version"], &shown["file"]), (&json!(1), &json!("web.lua")));
    let text = world.get(&format!("{MODULES}/web/source?version=1")).await.json();
    assert_eq!((&text["version"], &text["bundle"]["text"]), (&json!(1), &json!("return 'a'")));
    let versions = world.get(&format!("{MODULES}/web/versions")).await.json();
    assert_eq!(versions["items"][0]["version"], 2);

    let text =
        "workflow.define('w'):tasks({ task(require('web') .. require('web@1')):command('true') })";
    let pushed =
        world.post(WORKFLOWS, json!({ "bundle": { "name": "w.sloth", "text": text } })).await;
    let pushed = pushed.json();
    let pinned = json!([{ "name": "web", "version": 1 }, { "name": "web", "version": 2 }]);
    assert_eq!(pushed["workflows"][0]["modules"], pinned, "{pushed}");
    assert_eq!(pushed["workflows"][0]["graph"]["steps"][0]["name"], "ba");
    let source = world.get(&format!("{WORKFLOWS}/w/source")).await.json();
    assert_eq!(source["files"]["web@2//web.lua"], "return 'b'");

    let path = format!("{MODULES}/web");
    assert_eq!(world.call(Method::DELETE, &path, None).await.status, 204);
    assert_eq!(world.get(&path).await.code(), "not-found");
    assert_eq!(world.get(&format!("{WORKFLOWS}/w")).await.json()["modules"], pinned);
}

#[tokio::test]
async fn what_is_pinned_cannot_be_forged() {
    let world = World::new().await;
    let files = json!({ "web@9//": "web.lua", "web@9//web.lua": "return 'forged'" });
    let text = "workflow.define(require('web@9')):tasks({ task('t'):command('true') })";
    let bundle = json!({ "name": "w.sloth", "text": text, "files": files });
    let refused = world.post(WORKFLOWS, json!({ "bundle": bundle })).await;
    assert_eq!(refused.code(), "invalid");
    assert_eq!(refused.json()["errors"][0]["pointer"], "/bundle/files");
    let refused = world.post(MODULES, json!({ "name": "m", "bundle": bundle })).await;
    assert_eq!(refused.code(), "invalid");
}

#[tokio::test]
async fn who_may_look_may_not_push_and_who_may_push_may_not_remove() {
    let world = World::new().await;
    let viewer = world.account("vera", None, Some(("default", "viewer"))).await;
    let user = world.account("ulla", None, Some(("default", "user"))).await;
    let (path, new) = (format!("{MODULES}/web"), module("web", "return 1"));
    let call = async |who: &str, method: Method, path: &str, body: Option<Value>| {
        world.call_as(who, method, path, body).await.status.as_u16()
    };
    assert_eq!(call(&viewer, Method::POST, MODULES, Some(new.clone())).await, 403);
    assert_eq!(call(&user, Method::POST, MODULES, Some(new)).await, 200);
    assert_eq!(call(&viewer, Method::GET, &path, None).await, 200);
    assert_eq!(call(&user, Method::DELETE, &path, None).await, 403);
}
