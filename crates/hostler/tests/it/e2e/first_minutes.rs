//! What a newcomer does first, as the quickstart says it.

use std::time::Duration;

use rustix::process::Signal;

use crate::rig::{Cli, PASSWORD, Process, Rig, Server, birth, is_running, until};

const KNOWN: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

#[test]
fn a_task_runs_and_its_output_and_end_are_those_of_the_command() {
    let rig = Rig::new();
    let (mut server, cli) = Server::up(&rig);

    let log = server.process.log();
    assert!(log.contains(&format!("Dashboard   {}", server.url())), "{log}");
    assert!(log.contains(&format!("{}/#setup=hst_setup_", server.url())), "{log}");
    assert!(server.setup_code().starts_with("hst_setup_"));

    let done = cli.run(&["run", "--", "sh", "-c", "echo hi; exit 3"]);
    assert_eq!((done.text().as_str(), done.err.as_str(), done.code), ("hi\n", "", 3));
    let killed = cli.run(&["run", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.code, 137, "{killed:?}");
    let both = cli.run(&["run", "--", "sh", "-c", "echo out; echo err >&2"]).must(0);
    assert_eq!((both.text().as_str(), both.err.as_str()), ("out\n", "err\n"));

    let bytes: Vec<u8> = (0..=255).collect();
    let octal: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
    let exact = cli.run(&["run", "--", "printf", &octal]).must(0);
    assert_eq!(exact.out, bytes);
    let much = cli.run(&["run", "--", "seq", "1", "100000"]).must(0);
    let expected: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    assert!(much.text() == expected, "{} of {} bytes", much.out.len(), expected.len());

    let surroundings = cli.run(&["run", "--name", "around", "-e", "SEED=7", "--", "env"]).must(0);
    for line in ["SEED=7", "HOSTLER_TASK=around", "HOSTLER_NODE=local"] {
        assert!(surroundings.text().lines().any(|l| l == line), "{line} {}", surroundings.text());
    }
    let missing = cli.run(&["run", "--", "no-such-program-anywhere"]);
    assert!(missing.code != 0 && missing.err.contains("no-such-program-anywhere"), "{missing:?}");
    let late = cli.run(&["run", "--timeout", "1s", "--", "sleep", "100"]);
    assert!(late.code == 143 && late.err.contains("timed out"), "{late:?}");
    assert_eq!(cli.run(&["audit", "verify"]).code, 0);

    let steps = log.lines().filter(|line| line.contains("schema")).count();
    assert!(steps <= 1, "one line of the schema is enough:\n{log}");
    let place = rig.path("up").display().to_string();
    let looked = cli.run(&["doctor", "--data-dir", &place, "-o", "json"]);
    let said = looked.text();
    assert!(said.contains(&format!("data in {place}/server")), "what `up` keeps is found: {said}");
}

#[test]
fn every_list_and_every_object_is_json_when_asked_for() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    cli.ok(&["run", "--name", "one", "--", "true"]);
    cli.ok(&["project", "create", "lab", "--description", "a lab"]);
    cli.ok(&["user", "create", "robot", "--service", "--role", "viewer"]);
    cli.ok(&["project", "grant", "lab", "robot", "user"]);
    cli.ok(&["token", "create", "laptop", "--role", "user"]);
    cli.ok(&["node", "token", "create", "--name", "later"]);
    let drained = cli.json(&["node", "drain", "local", "--no-wait"]);
    let operation = drained["id"].as_str().unwrap().to_owned();
    cli.ok(&["operation", "wait", &operation]);

    let lists: &[(&[&str], usize)] = &[
        (&["project", "ls"], 2),
        (&["project", "members", "lab"], 1),
        (&["node", "ls"], 1),
        (&["node", "token", "ls"], 2),
        (&["task", "ls"], 1),
        (&["task", "runs", "one"], 1),
        (&["user", "ls"], 2),
        (&["token", "ls"], 2),
        (&["operation", "ls"], 1),
        (&["event", "ls"], 5),
        (&["audit", "ls"], 5),
        (&["server", "ls"], 1),
        (&["debug", "reconcilers"], 5),
        (&["context", "ls"], 1),
    ];
    for (words, least) in lists {
        let listing = cli.json(words);
        let items = listing["items"].as_array().unwrap_or_else(|| panic!("{words:?} {listing}"));
        assert!(items.len() >= *least, "{words:?} {listing}");
    }
    // Its exit code is about this machine too, whose disk may be nearly full.
    let findings = cli.run(&["doctor", "-o", "json"]).text();
    let findings: serde_json::Value = serde_json::from_str(&findings).unwrap();
    assert!(findings["items"].as_array().is_some_and(|items| items.len() >= 5), "{findings}");
    let objects: &[(&[&str], &str)] = &[
        (&["project", "get", "lab"], "/name"),
        (&["node", "get", "local"], "/facts/kernel"),
        (&["task", "get", "one"], "/status/state"),
        (&["task", "explain", "one"], "/summary"),
        (&["user", "get", "robot"], "/name"),
        (&["operation", "get", &operation], "/state"),
        (&["audit", "verify"], "/head"),
        (&["context", "show"], "/address/value"),
        (&["whoami"], "/name"),
        (&["version"], "/server/version"),
    ];
    for (words, pointer) in objects {
        let object = cli.json(words);
        assert!(object.pointer(pointer).is_some_and(|v| v.is_string()), "{words:?} {object}");
    }
}

#[test]
fn shells_complete_the_names_of_what_there_is() {
    let rig = Rig::new();
    let (mut server, cli) = Server::up(&rig);
    cli.ok(&["run", "--name", "build-one", "--", "true"]);
    cli.ok(&["run", "--name", "build-two", "--", "true"]);
    let complete = |words: &[&str]| {
        let shell = cli.with("HOSTLER_COMPLETE", "fish");
        shell.ok(&[&["--", "hostler"], words].concat())
    };
    let tasks = complete(&["task", "get", "build-"]);
    assert!(tasks.contains("build-one") && tasks.contains("build-two"), "{tasks}");
    assert!(complete(&["node", "drain", ""]).contains("local"));
    assert!(complete(&["task", "ls", "-p", "def"]).contains("default"));
    assert!(complete(&["task", "ls", "--context", ""]).contains("local"));

    server.process.kill();
    assert!(!complete(&["task", "get", "b"]).contains("build"));
    assert!(complete(&["task", "de"]).contains("describe"), "flags and verbs need no server");
}

#[test]
fn a_script_can_tell_from_the_exit_code_what_was_wrong() {
    let rig = Rig::new();
    let (mut server, cli) = Server::up(&rig);
    for words in [["task", "get", "nothing"], ["node", "get", "nowhere"], ["user", "get", "nobody"]]
    {
        cli.run(&words).must(3);
    }
    cli.run(&["task", "get", "x", "--context", "unknown"]).must(3);
    cli.run(&["task", "fetch"]).must(2);
    cli.run(&["run", "--memory", "much", "--", "true"]).must(2);
    cli.run(&["task", "submit", "--", ""]).must(2);
    cli.run(&["project", "create", "default"]).must(5);
    cli.token("hst_token_forged").run(&["task", "ls"]).must(6);
    let made = cli.json(&["token", "create", "looker", "--role", "viewer"]);
    let viewer = cli.token(made["secret"].as_str().unwrap());
    viewer.ok(&["task", "ls"]);
    let denied = viewer.run(&["run", "--", "true"]).must(6);
    assert!(denied.err.contains("role"), "{}", denied.err);

    server.process.kill();
    cli.run(&["task", "ls"]).must(8);
}

#[test]
fn the_setup_code_makes_one_admin_and_then_nothing() {
    let rig = Rig::new();
    let (mut server, cli) = Server::up(&rig);
    assert_eq!(cli.json(&["version"])["server"]["needsSetup"], true);
    let (url, code) = (server.url(), server.setup_code());
    let enter = |more: &[&str], password: &str| {
        let words = ["login", &url, "--context", "mine", "--password-stdin", "--name"];
        Cli::new(&rig).run_with(&[&words, more].concat(), password)
    };
    let fingerprint = server.fingerprint.clone();
    let known = ["--fingerprint", fingerprint.as_str()];
    let setup = ["--setup", code.as_str()];

    enter(&[&["admin", "--fingerprint", KNOWN], &setup[..]].concat(), PASSWORD).must(6);
    enter(&[&["admin"], &known[..], &["--setup", "hst_setup_wrong"]].concat(), PASSWORD).must(6);
    enter(&[&["admin"], &known[..], &setup[..]].concat(), PASSWORD).must(0);
    let me = cli.context("mine").json(&["whoami"]);
    assert_eq!((&me["name"], &me["role"]), (&"admin".into(), &"admin".into()));

    let again = enter(&[&["second"], &known[..], &setup[..]].concat(), PASSWORD);
    assert!(again.code == 5 || again.code == 6, "{again:?}");
    assert_eq!(cli.run(&["user", "get", "second"]).code, 3);
    assert_eq!(cli.json(&["version"])["server"]["needsSetup"], false);
    enter(&[&["admin"], &known[..]].concat(), "not the password").must(6);
    enter(&[&["admin"], &known[..]].concat(), PASSWORD).must(0);
    assert_eq!(cli.json(&["audit", "verify"])["isIntact"], true);
}

#[test]
fn ctrl_c_leaves_what_runs_and_the_next_start_finds_it() {
    let rig = Rig::new();
    let (mut server, cli) = Server::up(&rig);
    cli.ok(&["run", "--name", "before", "--", "sh", "-c", "echo kept"]);
    cli.ok(&["task", "submit", "--name", "long", "--", "sleep", "1000"]);
    let pid = cli.wait_pid("long");
    let born = birth(pid).unwrap();
    let node = cli.json(&["node", "get", "local"])["id"].clone();

    server.process.signal(Signal::INT);
    let (code, took) = server.process.wait_within(Duration::from_secs(20));
    assert_eq!(code, 0, "after {took:?}");
    assert_eq!(birth(pid), Some(born.clone()), "the task went with its agent");
    cli.run(&["task", "ls"]).must(8);
    drop(server);

    let (server, cli) = Server::up(&rig);
    assert!(!server.process.log().contains("agent join"), "it joined again");
    assert_eq!(cli.json(&["node", "get", "local"])["id"], node);
    assert_eq!(cli.ok(&["logs", "before"]), "kept\n");
    assert_eq!(cli.wait_pid("long"), pid);
    assert_eq!(birth(pid), Some(born));
    cli.ok(&["task", "kill", "long", "--yes"]);
    assert_eq!(cli.run(&["wait", "long", "--timeout", "50s"]).code, 4);
    assert_eq!(cli.task("long")["status"]["state"], "killed");
    until("the process is gone", || (!is_running(pid)).then_some(()));
    assert_eq!(cli.ok(&["run", "--", "echo", "again"]), "again\n");
}

#[test]
fn ctrl_c_on_run_leaves_the_task_or_stops_it_when_asked_to() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    let begin = |name: &str, more: &[&str]| -> Process {
        let words = [&["run", "--name", name], more, &["--", "sh", "-c", "echo on; sleep 1000"]];
        let mut process = cli.spawn(&format!("run-{name}"), &words.concat());
        process.line(&["on"]);
        process
    };
    let mut leaving = begin("left", &[]);
    leaving.signal(Signal::INT);
    assert_eq!(leaving.wait_within(Duration::from_secs(20)).0, 130);
    assert!(leaving.log().contains("task left goes on"), "{}", leaving.log());
    assert_eq!(cli.task("left")["status"]["state"], "running");

    let mut stopping = begin("stopped", &["--cancel-on-interrupt"]);
    stopping.signal(Signal::INT);
    assert_eq!(stopping.wait_within(Duration::from_secs(30)).0, 143);
    assert_eq!(cli.task("stopped")["status"]["state"], "killed");
}

#[test]
fn whoever_waits_for_a_task_that_waits_is_told_why() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    let words = ["run", "--name", "big", "--cores", "4000", "--", "true"];
    let mut running = cli.spawn("run-big", &words);
    running.line(&["task big:", "cores"]);
    let mut following = cli.spawn("logs-big", &["logs", "-f", "big"]);
    following.line(&["task big:", "cores"]);
    cli.ok(&["task", "kill", "big", "--yes"]);
    assert_ne!(running.wait_within(Duration::from_secs(20)).0, 0);
    following.wait_within(Duration::from_secs(20));
}
