//! A timeline on the real binary: what was applied, changed, run, crashed, restarted by a schedule and stopped by a person is
//! there in order, and events of one's own go where all others go.

use serde_json::Value;

use crate::rig::{Agent, Cli, Rig, Server, until};

fn entries(cli: &Cli<'_>, words: &[&str]) -> Vec<Value> {
    let told = cli.json(&[&["timeline"], words].concat());
    told["items"].as_array().unwrap().iter().rev().cloned().collect()
}

fn what(entry: &Value) -> &str {
    entry["what"].as_str().unwrap()
}

/// Whether these are there in this order, whatever is between them.
fn has_in_order(entries: &[Value], wanted: &[&str]) -> bool {
    let mut left = wanted.iter().peekable();
    for entry in entries {
        left.next_if(|next| **next == what(entry));
    }
    left.peek().is_none()
}

#[test]
fn everything_that_touched_a_workload_is_there_in_order() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let _agent = Agent::join(&rig, &cli, &server, "node-1");
    let apply = |text: &str| {
        let path = rig.path("web.yaml");
        std::fs::write(&path, text).unwrap();
        let file = path.to_str().unwrap();
        cli.ok(&["workload", "apply", "-f", file, "--wait", "--timeout", "60s"]);
    };
    // The first run ends badly, and the next one stays.
    let once = rig.path("once");
    let script =
        format!("test -e {0} && exec sleep 100000; touch {0}; sleep 1; exit 3", once.display());
    let file =
        |tags: &str| format!("name: web\nmode: forever\ncommand: [sh, -c, '{script}']\n{tags}");
    apply(&file(""));
    until("it crashed and runs again", || {
        let runs = cli.json(&["workload", "history", "web"]);
        let runs = runs["items"].as_array().unwrap().clone();
        let is_so =
            runs.len() == 2 && runs[0]["state"] == "running" && runs[1]["state"] == "exited";
        is_so.then_some(())
    });
    apply(&file("tags: [blue]\n"));
    cli.ok(&["schedule", "add", "nightly", "--cron", "@daily", "restart", "web"]);
    cli.ok(&["schedule", "run", "nightly"]);
    until("it runs anew", || {
        let entries = entries(&cli, &["workload/web"]);
        let started = entries
            .iter()
            .filter(|one| what(one).starts_with("workload."))
            .filter(|one| matches!(what(one), "workload.started" | "workload.restarted"));
        (started.count() >= 3).then_some(())
    });
    cli.ok(&["workload", "stop", "web", "--wait", "--timeout", "60s"]);
    let wanted = [
        "workload.created",
        "workload.placed",
        "workload.started",
        "run.ended",
        "workload.restarted",
        "workload.changed",
        "fire.done",
        "workload.restart-requested",
        "workload.stop-requested",
        "workload.stopped",
    ];
    let told = until("everything is told, in order", || {
        let told = entries(&cli, &["workload/web"]);
        has_in_order(&told, &wanted).then_some(told)
    });
    let crashed = told.iter().find(|one| what(one) == "run.ended").unwrap();
    let message = crashed["message"].as_str().unwrap();
    assert!(message.contains("node-1") && message.contains('3'), "{crashed}");
    let stop = told.iter().find(|one| what(one) == "workload.stop-requested").unwrap();
    assert_eq!(stop["actor"]["name"], "admin", "{stop}");
    let restart = told.iter().find(|one| what(one) == "workload.restart-requested").unwrap();
    assert!(restart["cause"].as_str().unwrap().starts_with("fire/"), "{restart}");

    let shown = cli.ok(&["timeline", "web", "--source", "run,fire"]);
    assert!(shown.contains("fire.done") && !shown.contains("workload.created"), "{shown}");
    assert_eq!(entries(&cli, &["web", "--limit", "2"]).len(), 2);
    let schedule = entries(&cli, &["schedule/nightly"]);
    assert!(has_in_order(&schedule, &["schedule.created", "fire.done"]), "{schedule:?}");
    let node = entries(&cli, &["node/node-1"]);
    assert!(has_in_order(&node, &["node.joined", "node.online"]), "{node:?}");
    let none = cli.run(&["timeline", "wbe"]).must(3);
    assert!(none.err.contains("workload/web"), "{}", none.err);
}

#[test]
fn events_of_ones_own_are_told_listed_exported_and_make_a_timeline() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let _agent = Agent::join(&rig, &cli, &server, "node-1");
    let said = cli.run(&["event", "emit", "deploy", "-m", "3.2 is out", "--payload", r#"{"n":1}"#]);
    assert!(said.must(0).err.contains("told"));
    cli.ok(&["event", "emit", "custom.deploy.done"]);
    for (words, hint) in [
        (&["event", "emit", "a b"][..], "no name of an event"),
        (&["event", "emit", "x", "--payload", "{"], "is not JSON"),
    ] {
        let refused = cli.run(words).must(2);
        assert!(refused.err.contains(hint), "{}", refused.err);
    }
    let large = rig.path("large.json");
    std::fs::write(&large, format!("\"{}\"", "x".repeat(20_000))).unwrap();
    let refused = cli.run(&["event", "emit", "x", "--payload-file", large.to_str().unwrap()]);
    assert!(refused.err.contains("16384") && refused.code != 0, "{}", refused.err);

    let listed = cli.json(&["event", "ls", "--kind", "custom.deploy"]);
    assert_eq!(listed["items"][0]["payload"]["n"], 1, "{listed}");
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let about = cli.json(&["event", "ls", "--object", "custom/deploy.done", "--since", "1h"]);
    assert_eq!(about["items"][0]["kind"], "custom.deploy.done", "{about}");

    let export = cli.ok(&["event", "export"]);
    let events: Vec<Value> =
        export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<u64> = events.iter().map(|one| one["sequence"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected, "everything, in order, without a gap");
    let last = numbers.last().unwrap().to_string();
    cli.ok(&["event", "emit", "later"]);
    let rest = cli.ok(&["event", "export", "--after", &last, "--kind", "custom.later"]);
    assert_eq!(rest.lines().count(), 1, "{rest}");
    let told = entries(&cli, &["custom/deploy"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["message"], "3.2 is out");
}
