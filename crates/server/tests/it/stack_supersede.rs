//! Ten updates of a stack at once, over Hostler's API and over Heat's: the last one that was accepted is what there is, and
//! nothing of those that it overtook. Which one is the last says the traversal, which every accepted update makes one greater.

use futures::future::join_all;
use http::Method;
use serde_json::{Value, json};

use crate::heat::Heat;
use crate::world::request;

const STACK: &str = "/api/v1/projects/one/stacks/web";
const NAMESPACE: &str = "/api/v1/projects/one/state/raced";
const TOGETHER: usize = 10;

/// Entries whose keys and values say of which update they are, one after another; and what takes a while and fails for nobody.
fn template(word: &str) -> Value {
    let mut resources = json!({});
    for i in 0..6 {
        let mut entry = json!({
            "type": "Hostler::StateEntry",
            "properties": { "namespace": "raced", "key": format!("k{i}-{word}"), "value": word },
        });
        if i > 0 {
            entry["depends_on"] = json!(format!("e{}", i - 1));
        }
        resources[format!("e{i}")] = entry;
        resources[format!("{word}-{i}")] = json!({
            "type": "Hostler::StateEntry",
            "properties": { "namespace": "raced", "key": format!("own{i}-{word}"), "value": word },
        });
    }
    resources["t"] = json!({
        "type": "OS::Heat::TestResource",
        "properties": { "value": word, "update_replace": true },
        "depends_on": "e2",
    });
    json!({ "heat_template_version": "2021-04-16", "resources": resources })
}

/// What there is outside, sorted.
async fn outside(heat: &Heat) -> Vec<(String, String)> {
    let path = format!("{NAMESPACE}?limit=100&values=true");
    let listed = heat.world.call_as(&heat.owner, Method::GET, &path, None).await.json();
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let items = listed["items"].as_array().cloned().unwrap_or_default();
    let mut found: Vec<_> =
        items.iter().map(|one| (text(one, "key"), text(one, "value"))).collect();
    found.sort();
    found
}

fn expected(word: &str) -> Vec<(String, String)> {
    let of = |i: usize| [format!("k{i}-{word}"), format!("own{i}-{word}")];
    let mut all: Vec<_> = (0..6).flat_map(of).map(|key| (key, word.to_owned())).collect();
    all.sort();
    all
}

async fn must_be(heat: &mut Heat, word: &str) {
    heat.at_rest(STACK).await;
    let shown = heat.world.call_as(&heat.owner, Method::GET, STACK, None).await.json();
    assert_eq!(shown["standing"]["status"], "complete", "{shown}");
    assert_eq!(outside(heat).await, expected(word));
    let path = format!("{STACK}/resources?limit=1000");
    let rows = heat.world.call_as(&heat.owner, Method::GET, &path, None).await.json();
    let rows = rows["items"].as_array().unwrap();
    assert_eq!(rows.len(), 13, "no row of another update is left: {rows:?}");
    assert!(rows.iter().all(|row| row["status"] == "complete"), "{rows:?}");
}

/// Updates over Hostler's API: each names the stack as it knows it, and asks again when it is another. The traversal that it
/// made, of each.
async fn native(heat: &Heat, word: String) -> (u64, String) {
    let body = json!({ "form": { "template": template(&word).to_string() } });
    loop {
        let known = heat.world.call_as(&heat.owner, Method::GET, STACK, None).await;
        let mut put = request(Method::PUT, STACK, Some(&heat.owner), Some(body.clone()));
        put.headers_mut().insert("if-match", known.header("etag").parse().unwrap());
        let reply = heat.world.send(put).await;
        match reply.status.as_u16() {
            200 => return (reply.json()["traversal"].as_u64().unwrap(), word),
            409 | 412 => {}
            _ => panic!("{}", reply.json()),
        }
    }
}

#[tokio::test]
async fn ten_updates_at_once_leave_the_last_one() {
    let mut heat = Heat::new().await;
    heat.made("web", &template("first")).await;
    must_be(&mut heat, "first").await;
    for round in 0..3 {
        let all = (0..TOGETHER).map(|i| native(&heat, format!("n{round}x{i}")));
        let mut accepted = join_all(all).await;
        accepted.sort();
        let numbers: Vec<u64> = accepted.iter().map(|one| one.0).collect();
        let each = (1..numbers.len()).all(|i| numbers[i] == numbers[i - 1] + 1);
        assert!(numbers.len() == TOGETHER && each, "each is a traversal of its own: {numbers:?}");
        must_be(&mut heat, &accepted[TOGETHER - 1].1).await;
    }
}

#[tokio::test]
async fn ten_updates_at_once_of_heats_api_leave_the_last_one() {
    let mut heat = Heat::new().await;
    let id = heat.made("web", &template("first")).await;
    let path = format!("/stacks/web/{id}");
    for round in 0..3 {
        let put = |i: usize| {
            let word = format!("h{round}x{i}");
            let body = json!({ "template": template(&word) });
            let (heat, path) = (&heat, &path);
            async move {
                // Whoever is told that somebody else was faster asks again, as Heat's clients do.
                loop {
                    let reply = heat.call(Method::PUT, path, Some(body.clone())).await;
                    match reply.status.as_u16() {
                        202 => return,
                        409 => {}
                        _ => panic!("{}", reply.json()),
                    }
                }
            }
        };
        join_all((0..TOGETHER).map(put)).await;
        let before = heat.world.call_as(&heat.owner, Method::GET, STACK, None).await.json();
        let path = format!("{STACK}/definition");
        let wanted = heat.world.call_as(&heat.owner, Method::GET, &path, None).await.json();
        let key = &wanted["template"]["resources"]["e0"]["properties"]["value"];
        let word = key.as_str().unwrap_or_else(|| panic!("{before} {wanted}")).to_owned();
        assert!(word.starts_with(&format!("h{round}x")), "{word}");
        must_be(&mut heat, &word).await;
    }
}

#[tokio::test]
async fn what_is_overtaken_half_way_leaves_nothing() {
    let mut heat = Heat::new().await;
    heat.made("web", &template("first")).await;
    for i in 0..TOGETHER {
        native(&heat, format!("half{i}")).await;
        // As far as one pass goes: some of it is made, some is under way.
        for _ in 0..i % 4 {
            heat.pass().await;
        }
    }
    must_be(&mut heat, &format!("half{}", TOGETHER - 1)).await;
    heat.world.call_as(&heat.owner, Method::DELETE, STACK, None).await;
    heat.at_rest(STACK).await;
    assert_eq!(outside(&heat).await, Vec::new());
}
