//! Taking a node out of work, gently and with a deadline.

use crate::rig::{Barrier, Rig, Server, is_running, until};

#[test]
fn a_cordoned_node_takes_nothing_new_and_a_drained_one_becomes_empty() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    let barrier = Barrier::new(&rig, "barrier");
    cli.submit("runs", &format!("{}; exit 0", barrier.wait()));
    let pid = cli.wait_pid("runs");

    cli.ok(&["node", "cordon", "local", "--reason", "new disk on monday"]);
    cli.ok(&["task", "submit", "--name", "waits", "--", "true"]);
    let why = until("the reason is known", || {
        let why = cli.ok(&["explain", "waits"]);
        why.contains("the node is cordoned").then_some(why)
    });
    assert!(why.contains("the node is cordoned: new disk on monday"), "{why}");
    assert!(why.contains("uncordon"), "{why}");
    assert_eq!(cli.task("waits")["status"]["state"], "pending");
    assert!(is_running(pid));
    cli.ok(&["node", "uncordon", "local"]);
    cli.wait_state("waits", "completed");

    let drain = ["node", "drain", "local", "--reason", "kernel update", "--no-wait"];
    let operation = cli.json(&drain)["id"].as_str().unwrap().to_owned();
    cli.run(&["operation", "wait", &operation, "--timeout", "1s"]).must(9);
    let shown = cli.json(&["operation", "get", &operation]);
    assert_eq!(
        (&shown["state"], &shown["plan"]["kind"]),
        (&"running".into(), &"node-drain".into())
    );
    cli.ok(&["task", "submit", "--name", "next", "--", "true"]);
    assert_eq!(cli.task("runs")["status"]["state"], "running");
    barrier.open();
    cli.run(&["operation", "wait", &operation, "--timeout", "50s"]).must(0);
    assert_eq!(cli.task("runs")["status"]["state"], "completed");
    assert_eq!(cli.task("next")["status"]["state"], "pending");

    cli.ok(&["node", "uncordon", "local"]);
    cli.wait_state("next", "completed");
}

#[test]
fn after_its_deadline_a_drain_stops_what_is_left_and_a_cancelled_one_leaves_it() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    cli.ok(&[
        "task",
        "submit",
        "--name",
        "stubborn",
        "--grace",
        "1s",
        "--",
        "sh",
        "-c",
        "trap '' TERM; while :; do sleep 1; done",
    ]);
    let pid = cli.wait_pid("stubborn");

    let open = cli.json(&["node", "drain", "local", "--no-wait"]);
    let open = open["id"].as_str().unwrap();
    cli.ok(&["operation", "cancel", open, "--yes"]);
    cli.run(&["operation", "wait", open, "--timeout", "50s"]).must(4);
    assert_eq!(cli.json(&["operation", "get", open])["state"], "cancelled");
    assert!(is_running(pid));
    cli.ok(&["node", "uncordon", "local"]);

    cli.run(&["node", "drain", "local", "--deadline", "1s"]).must(0);
    let task = cli.task("stubborn");
    assert_eq!(task["status"]["state"], "killed", "{task}");
    assert_eq!(task["status"]["exit"]["signal"], 9, "{task}");
    assert!(!is_running(pid));
    let operations = cli.json(&["operation", "ls"]);
    let states: Vec<&str> = operations["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| operation["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["succeeded", "cancelled"]);
}
