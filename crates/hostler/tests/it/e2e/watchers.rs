//! Watchers as people meet them: a file and a port of a node are watched, a hook hears of it, and nothing is lost or
//! told twice while the server is gone and the agent dies.

use std::fs;
use std::net::TcpListener;

use super::approvals::webhook;
use crate::rig::{Agent, Cli, Rig, Server, until};

/// What was told of a watcher so far, oldest first.
fn told(cli: &Cli<'_>, watcher: &str) -> Vec<String> {
    let filter = format!("object.name == \"{watcher}\" and kind startsWith \"watcher.\"");
    let listed = cli.json(&["event", "ls", "--filter", &filter]);
    let items = listed.get("items").unwrap_or(&listed).as_array().unwrap().clone();
    let mut found: Vec<(u64, String)> = Vec::new();
    for event in items {
        let kind = event["kind"].as_str().unwrap();
        let condition = event["payload"]["condition"].as_str().unwrap_or_default();
        if matches!(kind, "watcher.fired" | "watcher.cleared" | "watcher.trouble") {
            found.push((event["sequence"].as_u64().unwrap(), format!("{kind} {condition}")));
        }
    }
    found.sort();
    found.into_iter().map(|(_, text)| text).collect()
}

fn state(cli: &Cli<'_>, watcher: &str) -> String {
    let shown = cli.json(&["watcher", "show", watcher]);
    shown["nodes"][0]["state"].as_str().unwrap_or_default().to_owned()
}

/// It has looked once: what happens from here on is told.
fn looks(cli: &Cli<'_>, watcher: &str, seen: &str) {
    until("the node has looked", || {
        let shown = cli.json(&["watcher", "show", watcher]);
        (shown["nodes"][0]["seen"] == seen).then_some(())
    });
}

#[test]
fn a_file_and_a_port_are_watched_while_servers_and_agents_die() {
    let rig = Rig::new();
    let (hook_port, heard) = webhook();
    let settings = format!("[egress]\nallow = ['127.0.0.1:{hook_port}']\n");
    let mut server = Server::configured(&rig, "server", &settings);
    let admin = server.first_login(&rig);
    let mut agent = Agent::join(&rig, &admin, &server, "node-1");

    let file = rig.path("watched");
    let path = file.display().to_string();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let wrong = admin.run(&["watcher", "add", "x", "--log", "/etc/shadow", "--pattern", "("]);
    assert!(wrong.must(2).err.contains("only files below /var/log are read"));
    admin.ok(&["watcher", "add", "file", "--file", &path, "--interval", "1s"]);
    admin.ok(&[
        "watcher",
        "add",
        "port",
        "--port",
        &port,
        "--interval",
        "1s",
        "--on-node",
        "node-1",
    ]);
    let url = format!("http://127.0.0.1:{hook_port}/in");
    admin.ok(&[
        "hook",
        "add",
        "tell",
        "--on",
        "watcher.fired",
        "--filter",
        "object.name == \"port\"",
        "--webhook",
        &url,
    ]);
    looks(&admin, "file", "not there");
    looks(&admin, "port", "open");
    assert_eq!(state(&admin, "port"), "looking");

    fs::write(&file, "one").unwrap();
    until("the file is told", || (told(&admin, "file") == ["watcher.fired created"]).then_some(()));
    drop(listener);
    let event = until("the hook hears", || heard.lock().unwrap().first().cloned());
    assert_eq!(event["payload"]["condition"], "closed", "{event}");
    assert_eq!(event["payload"]["node"], "node-1");
    assert_eq!(event["object"]["kind"], "watcher");

    // The server dies; the node goes on looking, and so does the agent that takes its place.
    server.process.kill();
    fs::write(&file, "another").unwrap();
    let folder = agent.data_dir.join("watchers");
    let spool = || {
        let files = fs::read_dir(&folder).into_iter().flatten().flatten();
        files.filter_map(|it| fs::read_to_string(it.path()).ok()).collect::<Vec<_>>().join("\n")
    };
    until("the change is kept", || spool().contains("\"changed\"").then_some(()));
    agent.process.kill();
    fs::remove_file(&file).unwrap();
    agent.restart(&rig);
    until("what happened meanwhile is kept", || spool().contains("\"removed\"").then_some(()));
    server.restart(&rig);
    let all = ["watcher.fired created", "watcher.fired changed", "watcher.fired removed"];
    until("all of it is told", || (told(&admin, "file").len() >= 3).then_some(()));
    assert_eq!(told(&admin, "file"), all, "each once");
    assert_eq!(told(&admin, "port"), ["watcher.fired closed"], "not again");

    admin.ok(&["watcher", "disable", "file"]);
    until("it looks no more", || (state(&admin, "file") == "off").then_some(()));
    let table = admin.ok(&["watcher", "ls"]);
    assert!(table.contains("file") && table.contains("disabled"), "{table}");
    admin.ok(&["watcher", "rm", "file", "port", "--yes"]);
    assert!(admin.ok(&["watcher", "ls", "-o", "name"]).is_empty());
    until("nothing is kept of them", || (!spool().contains("127.0.0.1")).then_some(()));
    assert_eq!(heard.lock().unwrap().len(), 1);
}
