//! Plans, drift, locks, points in time, documents and checks of stacks over HTTP.

use http::Method;
use serde_json::{Value, json};

use crate::stacks::{Bench, TEMPLATE, body, items, texts};

const LOCK: &str = "/web/lock";

/// A fresh id of a hold.
fn hold(number: u32) -> String {
    format!("00000000-0000-7000-8000-{number:012}")
}

async fn plan(bench: &Bench, wanted: Value) -> Value {
    let made = bench.of_project(Method::POST, "stack-plans", Some(wanted)).await;
    assert_eq!(made.status, 201, "{}", made.json());
    made.json()
}

async fn apply(bench: &Bench, plan: &Value) -> crate::world::Reply {
    let path = format!("stack-plans/{}/apply", plan["id"].as_str().unwrap());
    bench.of_project(Method::POST, &path, None).await
}

fn changes(plan: &Value) -> Vec<String> {
    let resources = plan["changes"]["resources"].as_array().unwrap();
    resources.iter().map(|one| format!("{} {}", one["change"], one["name"])).collect()
}

#[tokio::test]
async fn a_plan_says_what_would_be_done_and_is_applied_once() {
    let mut bench = Bench::new().await;
    let first = plan(&bench, json!({ "create": body("web", TEMPLATE) })).await;
    assert_eq!(
        changes(&first),
        ["\"create\" \"first\"", "\"create\" \"second\"", "\"create\" \"third\""]
    );
    assert!(!first.to_string().contains("s3cret"), "{first}");
    assert_eq!(bench.call(Method::GET, "/web", None).await.code(), "not-found");
    let id = first["id"].as_str().unwrap().to_owned();
    let found = bench.of_project(Method::GET, &format!("stack-plans/{id}"), None).await;
    assert_eq!(found.json(), first);
    let applied = apply(&bench, &first).await;
    assert_eq!(applied.status, 200, "{}", applied.json());
    bench.settle().await;
    assert_eq!(bench.get("/web").await["standing"]["status"], "complete");
    assert_eq!(apply(&bench, &first).await.code(), "conflict", "once");

    let two = json!({ "patch": { "stack": "web", "form": { "parameters": { "word": "two" } } } });
    let (one, other) = (plan(&bench, two.clone()).await, plan(&bench, two).await);
    let resources = one["changes"]["resources"].as_array().unwrap();
    let changed = resources.iter().find(|one| one["name"] == "first").unwrap();
    assert_eq!(
        (
            &changed["change"],
            &changed["properties"][0]["before"],
            &changed["properties"][0]["after"]
        ),
        (&json!("update"), &json!("one"), &json!("two")),
        "{one}"
    );
    assert_eq!(apply(&bench, &one).await.status, 200);
    bench.settle().await;
    assert_eq!(bench.get("/web").await["outputs"][0]["value"], "two");
    assert_eq!(apply(&bench, &other).await.code(), "stale", "the stack has moved");
    let listed = bench.of_project(Method::GET, "stack-plans?stack=web", None).await.json();
    assert!(texts(&listed, "id").contains(&id), "{listed}");
    let unused = format!("stack-plans/{}", other["id"].as_str().unwrap());
    assert_eq!(bench.of_project(Method::DELETE, &unused, None).await.status, 204);
    assert_eq!(bench.of_project(Method::GET, &unused, None).await.code(), "not-found");
    let gone = plan(&bench, json!({ "remove": { "stack": "web" } })).await;
    assert!(changes(&gone).iter().all(|line| line.starts_with("\"delete\"")), "{gone}");
    assert_eq!(apply(&bench, &gone).await.status, 200);
    bench.settle().await;
    assert_eq!(bench.call(Method::GET, "/web", None).await.code(), "not-found");
}

#[tokio::test]
async fn plans_are_for_those_who_may_apply_them() {
    let bench = Bench::new().await;
    let made = plan(&bench, json!({ "create": body("web", TEMPLATE) })).await;
    let viewer = bench.world.account("viewer", None, Some(("one", "viewer"))).await;
    bench.world.project("two").await;
    let stranger = bench.world.account("stranger", None, Some(("two", "admin"))).await;
    let at = |project: &str| {
        format!("/api/v1/projects/{project}/stack-plans/{}", made["id"].as_str().unwrap())
    };
    let seen = bench.world.call_as(&viewer, Method::GET, &at("one"), None).await;
    assert_eq!(seen.status, 200, "{}", seen.json());
    let path = format!("{}/apply", at("one"));
    let refused = bench.world.call_as(&viewer, Method::POST, &path, None).await;
    assert_eq!(refused.code(), "forbidden");
    let elsewhere = bench.world.call_as(&stranger, Method::GET, &at("two"), None).await;
    assert_eq!(elsewhere.code(), "not-found", "a plan of another project is not found");
    let bad = json!({ "restore": { "stack": "web", "point": "yesterday" } });
    let bad = bench.of_project(Method::POST, "stack-plans", Some(bad)).await;
    assert_eq!(
        (bad.code().as_str(), &bad.json()["errors"][0]["pointer"]),
        ("invalid", &json!("/restore/point"))
    );
}

#[tokio::test]
async fn drift_is_looked_for_and_what_was_found_is_shown() {
    let mut bench = Bench::new().await;
    bench.made("web", TEMPLATE).await;
    assert_eq!(bench.call(Method::GET, "/web/drift", None).await.code(), "not-found");
    let found = bench.post("/web/drift", json!({})).await;
    assert_eq!(
        (&found["isDrifted"], &found["isCurrent"]),
        (&json!(false), &json!(true)),
        "{found}"
    );
    let shown = bench.get("/web/drift").await;
    assert_eq!((&shown["items"], &shown["looked"]), (&found["items"], &found["looked"]));
}

#[tokio::test]
async fn a_stack_that_somebody_locked_is_changed_by_nobody_else() {
    let mut bench = Bench::new().await;
    bench.made("web", TEMPLATE).await;
    assert_eq!(bench.get(LOCK).await["isHeld"], false);
    let path = format!("{LOCK}/holds/{}", hold(1));
    let ask = json!({ "ttl": "1m", "holder": { "why": "counting" } });
    let got = bench.call(Method::PUT, &path, Some(ask)).await;
    assert_eq!(got.status, 200, "{}", got.json());
    assert_eq!(got.json()["lock"], "stack/web");
    let status = bench.get(LOCK).await;
    assert_eq!(
        (&status["isHeld"], &status["lock"]["holders"][0]["by"]),
        (&json!(true), &json!("owner"))
    );
    let other = bench.world.account("other", None, Some(("one", "user"))).await;
    let at = "/api/v1/projects/one/stacks/web";
    let refused = bench.world.call_as(&other, Method::DELETE, at, None).await;
    assert_eq!(refused.code(), "conflict");
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("owner") && detail.contains("counting"), "{detail}");
    assert_eq!(bench.post("/web/check", json!({})).await["standing"]["action"], "check");
    bench.settle().await;
    let force = Some(json!({ "reason": "holidays" }));
    let path = format!("{at}/lock/force-release");
    let refused = bench.world.call_as(&other, Method::POST, &path, force.clone()).await;
    assert_eq!(refused.code(), "forbidden");
    let operator = bench.world.account("operator", None, Some(("one", "operator"))).await;
    let forced = bench.world.call_as(&operator, Method::POST, &path, force).await;
    assert_eq!((forced.status.as_u16(), &forced.json()["held"]), (200, &json!(0)));
    let path = format!("{LOCK}/holds/{}", hold(2));
    assert_eq!(bench.call(Method::PUT, &path, Some(json!({}))).await.status, 200);
    let renewed = bench.post(&format!("{path}/renew"), json!({ "ttl": "2m" })).await;
    assert_eq!(renewed["ttl"], "2m");
    assert_eq!(bench.call(Method::DELETE, LOCK, None).await.status, 204);
    assert_eq!(bench.call(Method::DELETE, LOCK, None).await.code(), "conflict");
    assert_eq!(bench.world.call_as(&other, Method::DELETE, at, None).await.status, 200);
}

#[tokio::test]
async fn points_in_time_are_kept_compared_and_gone_back_to() {
    let mut bench = Bench::new().await;
    bench.made("web", TEMPLATE).await;
    let snapshot = bench.post("/web/snapshots", json!({ "name": "before" })).await;
    assert_eq!(snapshot["status"], "in-progress");
    bench.settle().await;
    let id = snapshot["id"].as_str().unwrap().to_owned();
    let kept = bench.get(&format!("/web/snapshots/{id}")).await;
    assert_eq!((&kept["status"], &kept["name"]), (&json!("complete"), &json!("before")), "{kept}");
    assert!(kept["resources"]["first"].is_object(), "{kept}");
    let etag = bench.call(Method::GET, "/web", None).await.header("etag").to_owned();
    let two = json!({ "form": { "parameters": { "word": "two", "secret": "0ther" } } });
    assert_eq!(bench.change(Method::PATCH, "web", &etag, two).await.status, 200);
    bench.settle().await;
    let compared = bench.get("/web/compare?from=v1").await;
    assert_eq!((&compared["from"], &compared["to"]), (&json!("v1"), &json!("now")));
    let names: Vec<_> =
        compared["parameters"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["secret", "word"], "{compared}");
    let text = compared.to_string();
    assert!(!text.contains("s3cret") && !text.contains("0ther"), "{text}");
    let same = bench.get(&format!("/web/compare?from={id}&to=v1")).await;
    assert_eq!(same["parameters"], json!([]), "{same}");
    let bad = bench.call(Method::GET, "/web/compare?from=yesterday", None).await;
    assert_eq!(bad.code(), "malformed");
    let missing = bench.call(Method::GET, "/web/compare?from=v9", None).await;
    assert_eq!(missing.code(), "not-found");
    let back = bench.post("/web/restore", json!({ "point": id })).await;
    assert_eq!(back["standing"]["action"], "restore");
    bench.settle().await;
    let shown = bench.get("/web").await;
    assert_eq!(
        (&shown["standing"]["status"], &shown["outputs"][0]["value"]),
        (&json!("complete"), &json!("one"))
    );
    let path = format!("/web/snapshots/{id}");
    assert_eq!(bench.call(Method::DELETE, &path, None).await.status, 204);
    assert!(items(&bench.get("/web/snapshots").await).is_empty());
}

#[tokio::test]
async fn a_stack_is_abandoned_and_taken_over() {
    let mut bench = Bench::new().await;
    bench.made("web", TEMPLATE).await;
    let physical = bench.get("/web/resources/first").await["physical"].clone();
    let exported = bench.get("/web/export").await;
    assert_eq!(exported["document"]["resources"]["first"]["resource_id"], physical, "{exported}");
    let left = bench.post("/web/abandon", json!({})).await;
    bench.settle().await;
    assert_eq!(bench.call(Method::GET, "/web", None).await.code(), "not-found");
    let ask = json!({ "name": "again", "document": left["document"] });
    let adopted = bench.of_project(Method::POST, "stack-adopt", Some(ask)).await;
    assert_eq!(adopted.status, 201, "{}", adopted.json());
    bench.settle().await;
    let shown = bench.get("/again").await;
    assert_eq!(
        (&shown["standing"]["action"], &shown["standing"]["status"]),
        (&json!("adopt"), &json!("complete")),
        "{shown}"
    );
    assert_eq!(bench.get("/again/resources/first").await["physical"], physical);
}

#[tokio::test]
async fn what_stacks_use_of_each_other_is_shown_and_checked() {
    let mut bench = Bench::new().await;
    bench.made("web", TEMPLATE).await;
    let user = "\
heat_template_version: 2021-04-16
resources:
  word: { type: Hostler::StackOutput, properties: { stack: web, output: out } }
outputs:
  word: { value: { get_attr: [word, value] } }
";
    bench.made("user", user).await;
    assert_eq!(bench.get("/user").await["outputs"][0]["value"], "one");
    let of = bench.get("/user/dependencies").await;
    assert_eq!(
        of["uses"],
        json!([{ "stack": "web", "outputs": ["out"], "isThere": true }]),
        "{of}"
    );
    let graph = bench.of_project(Method::GET, "stack-dependencies", None).await.json();
    assert_eq!(graph["order"], json!([["web"], ["user"]]), "{graph}");
    let asked = Some(json!({ "stacks": ["user", "web"] }));
    let order = bench.of_project(Method::POST, "stack-dependencies/order", asked).await.json();
    assert_eq!(order["waves"], json!([["web"], ["user"]]), "{order}");
    let check = bench.of_project(Method::GET, "stack-dependencies/check?stack=user", None).await;
    assert!(items(&check.json()).iter().all(|line| line["result"] == "passed"), "{}", check.json());
    let refused = bench.call(Method::DELETE, "/web", None).await;
    assert_eq!(refused.code(), "conflict");
    assert!(refused.json()["detail"].as_str().unwrap().contains("user"), "{}", refused.json());
    assert_eq!(bench.call(Method::DELETE, "/web?force=true", None).await.status, 200);
    bench.settle().await;
    let checklist = bench.get("/user/checklist").await;
    assert_eq!(checklist["isPassed"], false, "{checklist}");
    let all = bench.of_project(Method::GET, "stack-checklist", None).await.json();
    assert_eq!(texts(&all, "stack"), ["user"], "{all}");
    let asked = json!({ "name": "fresh", "form": { "template": TEMPLATE } });
    let fresh = bench.of_project(Method::POST, "stack-checklist", Some(asked)).await.json();
    let syntax = fresh["lines"].as_array().unwrap().iter().find(|line| line["check"] == "syntax");
    assert_eq!(syntax.unwrap()["result"], "passed", "{fresh}");
}
