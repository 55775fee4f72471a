//! Schedules on the real binary: two servers, and one of them is killed while times come every second.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::rig::{Cli, Database, Rig, Server, until};

const SCHEDULES: usize = 10;
const SECONDS: i64 = 6;

fn history(cli: &Cli<'_>, name: &str) -> Vec<Value> {
    cli.json(&["schedule", "history", name])["items"].as_array().unwrap().clone()
}

/// A moment so many seconds from now, on a whole second.
fn in_seconds(seconds: i64) -> String {
    let now = hostler_base::clock::Clock::system().now().micros().div_euclid(1_000_000);
    hostler_model::Timestamp::from_micros((now + seconds) * 1_000_000).to_string()
}

#[test]
fn each_time_comes_once_though_a_server_is_killed() {
    let rig = Rig::new();
    let Some(database) = Database::create(&rig) else { return };
    let mut first = Server::alone(&rig, "first", Some(&database.url));
    let through_first = first.first_login(&rig);
    let second = Server::alone(&rig, "second", Some(&database.url));
    let cli = second.login(&rig, &[]);
    let names: Vec<String> = (0..SCHEDULES).map(|n| format!("s{n}")).collect();
    let (starts, ends) = (in_seconds(5), in_seconds(5 + SECONDS));
    for name in &names {
        let words = [
            "schedule",
            "add",
            name,
            "--every",
            "1s",
            "--starts",
            &starts,
            "--ends",
            &ends,
            "--overlap",
            "allow",
            "--catch-up",
            "all",
            "task",
            "--",
            "true",
        ];
        through_first.ok(&words);
    }
    let shown = cli.json(&["schedule", "show", "s0"]);
    assert_eq!(shown["timing"], "every 1s", "{shown}");
    until("times have come", || (history(&cli, "s0").len() >= 3).then_some(()));
    first.process.kill();
    until("every time has come and is done", || {
        let is_done = |name: &String| {
            let fires = history(&cli, name);
            fires.len() as i64 > SECONDS && fires.iter().all(|fire| fire["state"] == "done")
        };
        names.iter().all(is_done).then_some(())
    });
    let mut made: BTreeSet<String> = BTreeSet::new();
    for name in &names {
        let fires = history(&cli, name);
        let times: BTreeSet<&str> =
            fires.iter().map(|fire| fire["time"].as_str().unwrap()).collect();
        assert_eq!(times.len() as i64, SECONDS + 1, "{fires:?}");
        assert!(times.contains(starts.as_str()) && times.contains(ends.as_str()), "{times:?}");
        for fire in &fires {
            assert!(fire["lateness"].is_string(), "{fire}");
            assert!(made.insert(fire["object"]["id"].as_str().unwrap().to_owned()), "{fire}");
        }
    }
    let tasks: BTreeSet<String> =
        cli.tasks().values().map(|task| task["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(tasks, made, "one task for each time, and none besides");
    assert_eq!(cli.json(&["audit", "verify"])["isIntact"], true);
}

#[test]
fn a_schedule_is_made_seen_and_run_from_the_command_line() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "only", None);
    let cli = server.first_login(&rig);
    let words = ["schedule", "add", "x", "--cron", "0 25 * * *", "restart", "web"];
    let refused = cli.run(&words);
    assert_ne!(refused.code, 0);
    assert!(refused.err.contains("  0 25 * * *\n    ^^\n"), "{}", refused.err);
    let words = [
        "schedule",
        "add",
        "spring",
        "--cron",
        "30 2 29 3 *",
        "--zone",
        "Europe/Berlin",
        "--dry-run",
        "task",
        "--",
        "true",
    ];
    let preview = cli.ok(&words);
    assert!(
        preview.contains("-03-29 02:30:00 CEST") || preview.contains("the clock skips"),
        "{preview}"
    );
    let words = ["schedule", "add", "nightly", "--cron", "@daily", "task", "--", "true"];
    cli.ok(&words);
    assert_eq!(cli.run(&words).must(0).code, 0, "the same again is no mistake");
    let other = ["schedule", "add", "nightly", "--cron", "@hourly", "task", "--", "true"];
    let taken = cli.run(&other);
    assert!(taken.err.contains("exists already"), "{}", taken.err);
    let replaced: Vec<&str> =
        other[..5].iter().copied().chain(["--replace"]).chain(other[5..].iter().copied()).collect();
    cli.ok(&replaced);
    let made = cli.ok(&["schedule", "run", "nightly"]);
    assert!(made.starts_with("nightly-"), "{made}");
    let fires = history(&cli, "nightly");
    assert_eq!((fires.len(), &fires[0]["cause"]), (1, &Value::from("manual")));
    cli.ok(&["schedule", "pause", "nightly", "--reason", "disk"]);
    let listed = cli.ok(&["schedule", "ls"]);
    assert!(listed.contains("paused"), "{listed}");
    cli.ok(&["schedule", "resume", "nightly"]);
    let next = cli.json(&["schedule", "next", "nightly", "-n", "3"]);
    assert_eq!(next["items"].as_array().unwrap().len(), 3);
    cli.ok(&["schedule", "rm", "nightly"]);
    assert_eq!(cli.json(&["schedule", "ls"])["items"], serde_json::json!([]));
}
