//! What the nodes of a workload are asked over HTTP: output, commands, what was used.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hostler_control::{NodeAsk, OutputItem};
use hostler_model::{Code, Error, Generation, OutputStream, Timestamp};
use serde_json::{Value, json};

use crate::node::{WORKLOADS, join, join_in, put, running, spec};
use crate::world::{Reply, World};

fn lines(reply: &Reply) -> Vec<Value> {
    assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.bytes));
    assert_eq!(reply.header("content-type"), "application/x-ndjson");
    let text = String::from_utf8(reply.bytes.clone()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn said(bytes: &[u8], cursor: &str) -> Result<OutputItem, Error> {
    Ok(OutputItem::Data {
        stream: OutputStream::Stdout,
        time: Timestamp::from_micros(9),
        bytes: bytes.to_vec(),
        cursor: cursor.into(),
    })
}

#[tokio::test]
async fn output_comes_from_the_node_with_cursors_to_go_on_from() {
    let world = World::new().await;
    let (node, link) = join(&world, "n1").await;
    let (placement, run) = running(&world, node).await;
    link.answer(vec![
        Ok(OutputItem::Mark { time: None, words: "run 1 began".into(), cursor: "c0".into() }),
        said(b"one\n", "c1"),
        Ok(OutputItem::Gap("5 bytes".into())),
        Ok(OutputItem::End { complete: true }),
    ]);
    let query = "tail=7&since=2026-01-31T12:00:00Z&grep=a%7Cb&stream=stdout&cursor=n1%3Dc9";
    let got = lines(&world.get(&format!("{WORKLOADS}/web/logs?{query}")).await);
    assert_eq!(got[0]["type"], "mark");
    assert_eq!(
        (&got[1]["data"], &got[1]["cursor"]),
        (&json!(STANDARD.encode("one\n")), &json!("n1=c1"))
    );
    assert_eq!((&got[2]["type"], got[1].get("node")), (&json!("gap"), None));
    assert_eq!(got[3], json!({ "type": "end", "complete": true }));
    let NodeAsk::Placement { placement: asked, run: None, query } = link.asked() else {
        panic!("{:?}", link.asked());
    };
    assert_eq!((asked, query.cursor.as_deref(), query.tail), (placement, Some("c9"), None));
    assert_eq!((query.grep.as_deref(), query.stream), (Some("a|b"), Some(OutputStream::Stdout)));
    assert!(query.since.is_some() && query.until.is_none() && !query.follow);

    link.answer(vec![Ok(OutputItem::End { complete: true })]);
    lines(&world.get(&format!("{WORKLOADS}/web/logs?run={run}&node=n1&tail=3")).await);
    assert!(matches!(link.asked(), NodeAsk::Placement { run: Some(asked), .. } if asked == run));

    link.answer(vec![Err(Error::new(Code::Malformed, "the pattern is wrong", "x"))]);
    assert_eq!(world.get(&format!("{WORKLOADS}/web/logs?grep=(")).await.code(), "malformed");
    link.answer(vec![said(b"x\n", "c2")]);
    let cut = lines(&world.get(&format!("{WORKLOADS}/web/logs")).await);
    assert_eq!(cut.last().unwrap(), &json!({ "type": "end", "complete": false }), "{cut:?}");
    assert_eq!(world.get(&format!("{WORKLOADS}/web/logs?cursor=c1")).await.code(), "malformed");
}

#[tokio::test]
async fn lines_of_several_nodes_name_theirs() {
    let world = World::new().await;
    let (first, second) = (join(&world, "n1").await, join(&world, "n2").await);
    let everywhere = json!({ "mode": "forever", "command": ["a"], "placement": { "every": true } });
    assert_eq!(put(&world, "web", None, &everywhere).await.status, 200);
    world.control.place_services(Timestamp::EPOCH).await.unwrap();
    first.1.answer(vec![said(b"one\n", "c1"), Ok(OutputItem::End { complete: true })]);
    second.1.answer(vec![Err(Error::new(Code::NodeUnreachable, "it is away", "x"))]);
    let got = lines(&world.get(&format!("{WORKLOADS}/web/logs")).await);
    let of = |kind: &str| got.iter().find(|line| line["type"] == kind).unwrap();
    assert_eq!((&of("data")["node"], &of("data")["cursor"]), (&json!("n1"), &json!("n1=c1")));
    assert_eq!((&of("gap")["node"], &of("gap")["detail"]), (&json!("n2"), &json!("it is away")));
    assert_eq!(of("end")["complete"], false);
    let body = json!({ "command": ["a"] });
    assert_eq!(world.post(&format!("{WORKLOADS}/web/exec"), body).await.code(), "conflict");
    for answer in [&first.1, &second.1] {
        answer.answer(vec![Err(Error::new(Code::NodeUnreachable, "it is away", "x"))]);
    }
    assert_eq!(world.get(&format!("{WORKLOADS}/web/logs")).await.code(), "node-unreachable");
}

#[tokio::test]
async fn commands_are_run_on_the_node_and_recorded() {
    let world = World::new().await;
    let (node, link) = join(&world, "n1").await;
    let exec = format!("{WORKLOADS}/web/exec");
    put(&world, "web", None, &spec()).await;
    let nowhere = world.post(&exec, json!({ "command": ["a"] })).await;
    assert_eq!(nowhere.code(), "conflict");
    let (placement, _) = running(&world, node).await;
    link.answer(vec![
        said(b"hello", ""),
        Ok(OutputItem::Exit { code: Some(3), signal: None, is_timed_out: false }),
    ]);
    let body = json!({
        "command": ["sh", "-c", "exit 3"], "stdin": STANDARD.encode("in"), "timeout": "5s", "node": "n1",
    });
    let got = lines(&world.post(&exec, body).await);
    assert_eq!(got[0]["data"], STANDARD.encode("hello"));
    assert_eq!(got[1], json!({ "type": "exit", "code": 3, "isTimedOut": false }));
    let NodeAsk::Exec(asked) = link.asked() else { panic!("{:?}", link.asked()) };
    assert_eq!((asked.placement, asked.stdin.as_slice()), (placement, &b"in"[..]));
    let audit = world.get("/api/v1/audit?action=workload.exec").await.json();
    assert!(audit["items"][0]["detail"].to_string().contains("exit 3"), "{audit}");

    link.answer(vec![Err(Error::conflict("it has no process", "x"))]);
    assert_eq!(world.post(&exec, json!({ "command": ["a"] })).await.code(), "conflict");
    link.answer(vec![said(b"x", "")]);
    let cut = lines(&world.post(&exec, json!({ "command": ["a"] })).await);
    assert_eq!(cut.last().unwrap()["type"], "broken", "{cut:?}");
    for (body, pointer) in [
        (json!({ "command": [] }), "/command"),
        (json!({ "command": ["a", "\u{0}"] }), "/command/1"),
        (json!({ "command": ["a"], "timeout": "0s" }), "/timeout"),
        (json!({ "command": ["a"], "stdin": "?" }), "/stdin"),
    ] {
        let reply = world.post(&exec, body.clone()).await;
        assert_eq!(reply.code(), "invalid", "{body}");
        assert_eq!(reply.json()["errors"][0]["pointer"], pointer, "{body}");
    }
}

#[tokio::test]
async fn a_node_that_is_not_connected_cannot_be_asked() {
    let world = World::new().await;
    let (node, _) = join(&world, "n1").await;
    running(&world, node).await;
    let attached = hostler_control::Attached {
        node_id: node,
        node_name: "n1".parse().unwrap(),
        session_epoch: Generation::FIRST,
        applied_generation: Generation::ZERO,
        is_asked: false,
        heartbeat: std::time::Duration::from_secs(5),
        agent_addresses: Vec::new(),
        authority: None,
    };
    world.control.node_unlink(&attached);
    let exec = world.post(&format!("{WORKLOADS}/web/exec"), json!({ "command": ["a"] })).await;
    assert_eq!(exec.code(), "node-unreachable");
    for path in [
        format!("{WORKLOADS}/web/logs"),
        format!("{WORKLOADS}/web/usage"),
        "/api/v1/nodes/n1/usage".into(),
    ] {
        assert_eq!(world.get(&path).await.code(), "node-unreachable", "{path}");
    }
}

#[tokio::test]
async fn usage_is_what_the_node_has_sampled() {
    let world = World::new().await;
    let (node, link) = join(&world, "n1").await;
    let (placement, _) = running(&world, node).await;
    let sample =
        json!({ "time": "2026-01-31T12:00:00Z", "seconds": 10.0, "cpu": 0.5, "memory": 1024 });
    link.answer(vec![
        said(sample.to_string().as_bytes(), ""),
        Ok(OutputItem::End { complete: true }),
    ]);
    let told = world.get(&format!("{WORKLOADS}/web/usage?since=2026-01-31T11:00:00Z")).await;
    assert_eq!(told.status, 200, "{}", told.json());
    assert_eq!(
        (&told.json()["items"][0]["cpu"], &told.json()["items"][0]["memory"]),
        (&json!(0.5), &json!(1024))
    );
    assert!(
        matches!(link.asked(), NodeAsk::Usage { placement: Some(p), since: Some(_) } if p == placement)
    );
    link.answer(vec![Ok(OutputItem::End { complete: true })]);
    assert_eq!(world.get("/api/v1/nodes/n1/usage").await.json()["items"], json!([]));
    assert!(matches!(link.asked(), NodeAsk::Usage { placement: None, since: None }));
}

#[tokio::test]
async fn the_next_times_follow_from_the_schedule() {
    let world = World::new().await;
    let body = json!({ "command": ["a"], "mode": { "schedule": { "cron": "0 3 * * *" } } });
    put(&world, "backup", None, &body).await;
    let next = world.get(&format!("{WORKLOADS}/backup/next?count=3")).await.json();
    let times: Vec<&str> =
        next["items"].as_array().unwrap().iter().map(|f| f["time"].as_str().unwrap()).collect();
    assert_eq!(times.len(), 3);
    assert!(times.iter().all(|time| time.contains("T03:00:00")), "{times:?}");
    put(&world, "web", None, &spec()).await;
    assert_eq!(world.get(&format!("{WORKLOADS}/web/next")).await.code(), "conflict");
    assert_eq!(world.get(&format!("{WORKLOADS}/backup/next?count=0")).await.code(), "malformed");
    let local = json!({ "command": ["a"], "mode": { "schedule": { "cron": "@daily", "timezone": "local" } } });
    put(&world, "local", None, &local).await;
    assert_eq!(world.get(&format!("{WORKLOADS}/local/next")).await.code(), "conflict");
}

#[tokio::test]
async fn the_next_times_are_those_of_every_node() {
    let world = World::new().await;
    join_in(&world, "berlin", Some("Europe/Berlin")).await;
    join_in(&world, "bonn", Some("Europe/Berlin")).await;
    join_in(&world, "tokyo", Some("Asia/Tokyo")).await;
    let body = |jitter: &str| {
        let schedule = json!({ "cron": "30 3 1 6 *", "timezone": "local", "jitter": jitter });
        json!({ "command": ["a"], "mode": { "schedule": schedule }, "placement": { "every": true } })
    };
    put(&world, "plain", None, &body("0s")).await;
    put(&world, "spread", None, &body("1h")).await;
    world.control.place_services(Timestamp::EPOCH).await.unwrap();
    let next = async |name: &str, query: &str| {
        let listed = world.get(&format!("{WORKLOADS}/{name}/next?{query}")).await.json();
        let items = listed["items"].as_array().unwrap_or_else(|| panic!("{listed}")).clone();
        let text = |value: &Value| value.as_str().unwrap()[5..19].to_owned();
        let row = |fire: &Value| (text(&fire["time"]), text(&fire["start"]), fire["nodes"].clone());
        items.iter().map(row).collect::<Vec<_>>()
    };
    let row = |time: &str, nodes: Value| (time.to_owned(), time.to_owned(), nodes);
    let (tokyo, berlin) = ("05-31T18:30:00", "06-01T01:30:00");
    assert_eq!(
        next("plain", "count=2").await,
        [row(tokyo, json!(["tokyo"])), row(berlin, json!(["berlin", "bonn"]))]
    );
    let only = next("plain", "count=1&node=bonn").await;
    assert_eq!(only, [row(berlin, json!(["bonn"]))]);

    let spread = next("spread", "count=3").await;
    assert!(spread.is_sorted_by_key(|(_, start, _)| start.clone()), "{spread:?}");
    let starts: Vec<&String> = spread.iter().map(|(_, start, _)| start).collect();
    assert!(spread.iter().all(|(time, start, _)| start > time), "{spread:?}");
    assert!(starts[1] != starts[2], "nodes have different shares: {spread:?}");

    join(&world, "old").await;
    world.control.place_services(Timestamp::EPOCH).await.unwrap();
    let unknown = world.get(&format!("{WORKLOADS}/plain/next")).await;
    assert_eq!(unknown.code(), "conflict");
    assert!(unknown.json()["detail"].as_str().unwrap().contains("`old`"), "{}", unknown.json());
    assert_eq!(next("plain", "count=1&node=tokyo").await, [row(tokyo, json!(["tokyo"]))]);
}
