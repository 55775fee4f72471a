//! What happens to a stack, streamed as it happens.

use http::Method;
use serde_json::{Value, json};

use crate::stacks::{Bench, TEMPLATE, body, items};

const EVENTS: &str = "/api/v1/projects/one/stacks/web/events";

/// Of a message: what it is about and how that stands.
fn told(message: &Value) -> String {
    let event = &message["object"];
    let name = event["resource"].as_str().unwrap_or("web");
    let word = |field: &str| event[field].as_str().unwrap_or_default().to_owned();
    format!("{name} {} {}", word("action"), word("status"))
}

#[tokio::test]
async fn a_stack_is_watched_from_its_first_event_to_its_last() {
    let mut bench = Bench::new().await;
    bench.post("", body("web", TEMPLATE)).await;
    let admin = bench.world.admin.clone();
    let mut watch = bench.world.open(&admin, &format!("{EVENTS}?watch=true")).await;
    let first = watch.next().await.unwrap();
    assert_eq!(
        (&first["type"], told(&first).as_str()),
        (&json!("ADDED"), "web create in-progress")
    );
    let mark = watch.next().await.unwrap();
    assert_eq!((&mark["type"], &mark["cursor"]), (&json!("BOOKMARK"), &first["object"]["id"]));
    bench.settle().await;
    let mut seen = vec![first];
    while told(seen.last().unwrap()) != "web create complete" {
        let message = watch.next().await.unwrap();
        assert_eq!(message["cursor"], message["object"]["id"]);
        seen.push(message);
    }
    let listed = bench.get("/web/events").await;
    let streamed: Vec<&Value> = seen.iter().map(|message| &message["object"]).collect();
    assert_eq!(items(&listed).iter().collect::<Vec<_>>(), streamed);

    let middle = seen[2]["cursor"].as_str().unwrap();
    for path in [format!("watch=true&cursor={middle}"), format!("watch=true&after={middle}")] {
        let mut again = bench.world.open(&admin, &format!("{EVENTS}?{path}")).await;
        assert_eq!(again.next().await.unwrap(), seen[3]);
    }
    let one = format!("{EVENTS}?watch=true&resource=second&status=complete");
    let mut one = bench.world.open(&admin, &one).await;
    assert_eq!(told(&one.next().await.unwrap()), "second create complete");
    assert_eq!(one.next().await.unwrap()["type"], "BOOKMARK");

    assert_eq!(bench.call(Method::DELETE, "/web", None).await.status, 200);
    bench.settle().await;
    let mut last = watch.next().await.unwrap();
    assert_eq!(told(&last), "web delete in-progress");
    while told(&last) != "web delete complete" {
        last = watch.next().await.unwrap();
    }
}

#[tokio::test]
async fn where_a_watch_cannot_begin_is_said() {
    let mut bench = Bench::new().await;
    bench.made("web", TEMPLATE).await;
    let unknown = "/web/events?watch=true&cursor=0192f3c4-0000-7000-8000-000000000001";
    for (path, code) in [
        ("/web/events?watch=true&cursor=p.abc", "malformed"),
        (unknown, "cursor-gone"),
        ("/none/events?watch=true", "not-found"),
    ] {
        assert_eq!(bench.call(Method::GET, path, None).await.code(), code, "{path}");
    }
    let stranger = bench.world.account("eve", None, None).await;
    let path = format!("{EVENTS}?watch=true");
    let refused = bench.world.call_as(&stranger, Method::GET, &path, None).await;
    assert_eq!(refused.code(), "not-found");
}
