//! Seeing changes as they happen.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::rig::{Rig, Server, until};

const WATCH: &str = "/api/v1/projects/default/tasks?watch=true";

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn commands_that_watch_show_changes_of_tasks_and_events() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    cli.ok(&["run", "--name", "before", "--", "true"]);
    let (_tasks, tasks) = cli.spawn_split("tasks", &["task", "watch", "-o", "jsonl"]);
    let (_nodes, nodes) = cli.spawn_split("nodes", &["node", "watch", "-o", "jsonl"]);
    let words = ["event", "watch", "--object", "task", "-o", "jsonl"];
    let (mut events_process, events) = cli.spawn_split("events", &words);
    let states = |name: &str| -> Vec<String> {
        let messages = lines(&tasks);
        let of = messages.iter().filter(|m| m["object"]["name"] == name);
        of.map(|m| m["object"]["status"]["state"].as_str().unwrap().to_owned()).collect()
    };
    until("the lists are shown", || {
        (states("before") == ["completed"] && !lines(&nodes).is_empty()).then_some(())
    });
    until("events are shown", || {
        cli.ok(&["run", "--", "true"]);
        (!lines(&events).is_empty()).then_some(())
    });

    cli.run(&["run", "--name", "fails", "--", "false"]).must(1);
    until("the end is seen", || {
        states("fails").last().is_some_and(|state| state == "failed").then_some(())
    });
    let kinds = until("all its events are seen", || {
        let events = lines(&events);
        let of = events.iter().filter(|e| e["object"]["object"]["name"] == "fails");
        let kinds: Vec<String> =
            of.map(|e| e["object"]["kind"].as_str().unwrap().to_owned()).collect();
        kinds.contains(&"task.failed".to_owned()).then_some(kinds)
    });
    assert_eq!(kinds, ["task.created", "task.assigned", "task.started", "task.failed"]);
    cli.ok(&["node", "label", "local", "disk=ssd"]);
    until("the label is seen", || {
        let seen = lines(&nodes);
        seen.iter().any(|m| m["object"]["labels"]["disk"] == "ssd").then_some(())
    });
    assert!(events_process.ended().is_none(), "{}", events_process.log());
}

#[test]
fn a_watch_goes_on_where_it_broke_off_and_misses_nothing() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let token = cli.json(&["token", "create", "raw", "--role", "viewer"]);
    let https = server.https().token(token["secret"].as_str().unwrap());
    let listed = https.get("/api/v1/projects/default/tasks").json();
    let cursor = listed["watchCursor"].as_str().unwrap().to_owned();
    let state_of = |data: &Value| data["object"]["status"]["state"].clone();

    cli.ok(&["run", "--name", "one", "--", "true"]);
    let mut watch = https.watch(&format!("{WATCH}&cursor={cursor}"), &[]);
    let seen = watch.find("one has ended", |event| {
        event.data["object"]["name"] == "one" && state_of(&event.data) == "completed"
    });
    assert!(seen.id.parse::<u64>().unwrap() > cursor.parse::<u64>().unwrap());
    drop(watch);

    cli.ok(&["run", "--name", "two", "--", "true"]);
    let mut watch = https.watch(WATCH, &[("Last-Event-ID", &seen.id)]);
    let again = watch.find("two has ended", |event| {
        assert_ne!(event.data["object"]["name"], "one", "it was seen before");
        state_of(&event.data) == "completed"
    });
    assert_eq!(again.data["object"]["name"], "two");
    cli.ok(&["task", "rm", "one", "--yes"]);
    let gone = watch.find("one is gone", |event| event.kind == "DELETED");
    assert!(gone.data["id"].is_string(), "{gone:?}");
}

#[test]
fn a_watch_ends_when_its_token_is_revoked() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let token = cli.json(&["token", "create", "short", "--role", "viewer"]);
    let (id, secret) = (token["token"]["id"].as_str().unwrap(), token["secret"].as_str().unwrap());
    let mut watch = server.https().token(secret).watch(WATCH, &[]);
    watch.find("the stream has begun", |event| event.kind == "BOOKMARK");
    let mut command = cli.token(secret).spawn("watcher", &["task", "watch", "-o", "jsonl"]);
    cli.ok(&["run", "--name", "one", "--", "true"]);
    command.line(&["completed"]);

    let begun = Instant::now();
    cli.ok(&["token", "rm", id, "--yes"]);
    while watch.next().is_some() {}
    assert!(begun.elapsed() < Duration::from_secs(5), "it went on for {:?}", begun.elapsed());
    let (code, _) = command.wait_within(Duration::from_secs(30));
    assert_eq!(code, 6, "{}", command.log());
}
