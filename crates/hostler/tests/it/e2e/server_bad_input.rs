//! What people get wrong with state, schedules, hooks and events on a server: it is told once, with its place and
//! what to do, and nothing is kept of it.

use crate::rig::{Rig, Server};

/// What is written, how it ends, and what is said.
const WRONG: &[(&[&str], i32, &[&str])] = &[
    (&["state", "incr", "word"], 5, &["word", "hint:"]),
    (&["state", "set", "a", "1", "--if-revision", "99"], 3, &["there is no"]),
    (&["state", "set", "", "1"], 2, &["key"]),
    (&["state", "txn", "-"], 2, &["the transaction cannot be read", "hint:"]),
    (&["state", "rm", "nothing"], 3, &["there is no"]),
    (&["schedule", "add", "x", "--cron", "0 25 * * *", "task", "--", "true"], 2, &["hour"]),
    (
        &["schedule", "add", "x", "--every", "1h", "http", "http://10.0.0.1/x"],
        2,
        &["10.0.0.1", "at: /target/http/url"],
    ),
    (
        &["schedule", "add", "x", "--every", "1h", "workflow", "nightly"],
        2,
        &["there is no workflow `nightly`", "hostler workflow push"],
    ),
    (
        &["schedule", "add", "x", "--every", "1h", "restart", "web"],
        2,
        &["there is no workload `web`"],
    ),
    (
        &["schedule", "add", "x", "--every", "1h", "drain", "n9", "--reason", "r"],
        2,
        &["there is no node `n9`"],
    ),
    (
        &["hook", "add", "x", "--on", "task.faild", "--webhook", "https://ops.example/in"],
        2,
        &["did you mean `task.failed`?"],
    ),
    (
        &[
            "hook",
            "add",
            "x",
            "--on",
            "task.failed",
            "--filter",
            "payload.exitcode == 1",
            "--webhook",
            "https://ops.example/in",
        ],
        2,
        &["did you mean `payload.exitCode`?", "at: /filter"],
    ),
    (
        &["hook", "add", "x", "--on", "task.failed", "--webhook", "http://127.0.0.1:1/"],
        2,
        &["127.0.0.1"],
    ),
    (&["event", "ls", "--kind", "lokc.*"], 2, &["did you mean `lock.*`?"]),
    (&["event", "ls", "--kind", "custom"], 2, &["did you mean `custom.*`?"]),
];

#[test]
fn what_is_wrong_is_told_once_and_nothing_is_kept() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "first", None);
    let cli = server.first_login(&rig);
    cli.ok(&["state", "set", "word", "many"]);
    for (words, code, told) in WRONG {
        let said = cli.run_with(words, "no JSON");
        assert_eq!(said.code, *code, "{words:?}\n{}", said.err);
        for part in *told {
            assert!(said.err.contains(part), "{words:?}: {part} is not in\n{}", said.err);
        }
        let mut lines: Vec<&str> = said.err.lines().map(str::trim).collect();
        lines.retain(|line| line.len() > 20);
        let count = lines.len();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), count, "{words:?} says something twice:\n{}", said.err);
    }
    for list in [&["schedule", "ls"][..], &["hook", "ls"]] {
        assert_eq!(cli.json(list)["items"].as_array().unwrap().len(), 0, "{list:?}");
    }
    cli.ok(&["schedule", "add", "tick", "--every", "1h", "task", "--", "true"]);
    let twice = ["schedule", "add", "tick", "--every", "2h", "task", "--", "true"];
    let taken = cli.run(&twice).must(5);
    assert!(taken.err.contains("--replace"), "{}", taken.err);
    cli.ok(&[&twice[..3], &["--replace"], &twice[3..]].concat());
    cli.ok(&["schedule", "pause", "tick", "--reason", "moving house"]);
    let next = cli.run(&["schedule", "next", "tick"]).must(0);
    assert!(next.err.contains("admin paused it (moving house)"), "{}", next.err);
    let all = cli.json(&["event", "ls", "--kind", "schedule.*"]);
    let kinds: Vec<&str> =
        all["items"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["schedule.paused", "schedule.changed", "schedule.created"]);
    let later = cli.run(&["event", "export", "--after", "9999999"]).must(0);
    assert!(later.err.contains("no such events yet"), "{}", later.err);

    let empty = rig.path("empty.token");
    std::fs::write(&empty, "\n").unwrap();
    let said = cli.run(&["whoami", "--token-file", empty.to_str().unwrap()]).must(2);
    assert!(said.err.contains("is empty: a token was expected in it"), "{}", said.err);
    let gone = cli.json(&["state", "rm", "word"]);
    assert_eq!(gone["key"], "word", "{gone}");
    let file = rig.path("a.backup");
    let made = cli.json(&["backup", "create", file.to_str().unwrap(), "--plain"]);
    assert_eq!(made["size"], std::fs::metadata(&file).unwrap().len(), "{made}");
    assert_eq!(made["isSealed"], false);
}
