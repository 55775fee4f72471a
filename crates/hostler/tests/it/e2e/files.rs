//! Files of tasks: sent from here, found by the task wherever it runs, left by it and fetched back; with
//! the agent and the server killed in the middle.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::rig::{Agent, Barrier, Cli, Docker, IMAGE, Rig, Server, is_root, skipped, until};

/// Bytes that cannot be packed, from a number.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut bytes: Vec<u8> = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend(next());
    }
    bytes.truncate(length);
    bytes
}

fn write(rig: &Rig, path: &str, bytes: &[u8]) -> String {
    let path = rig.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path.display().to_string()
}

fn outputs(cli: &Cli<'_>, task: &str) -> Vec<Value> {
    cli.json(&["task", "outputs", task])["items"].as_array().unwrap().clone()
}

fn blobs(cli: &Cli<'_>) -> Vec<Value> {
    cli.json(&["blob", "ls"])["items"].as_array().unwrap().clone()
}

fn download(cli: &Cli<'_>, rig: &Rig, task: &str) -> PathBuf {
    let to = rig.path(&format!("fetched-{task}"));
    cli.ok(&["task", "download", task, "--to", to.to_str().unwrap()]);
    to
}

#[test]
fn files_go_with_a_task_and_come_back() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    let large = noise(7, 5 << 20);
    let file = write(&rig, "in/large.bin", &large);
    let script = write(&rig, "in/work.sh", b"#!/bin/sh\ncat tree/deep/text; cat tree/link\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    write(&rig, "in/tree/deep/text", b"from below");
    symlink("deep/text", rig.path("in/tree/link")).unwrap();
    let tree = rig.path("in/tree").display().to_string();
    let placed = format!("{file}:data/copy.bin");
    let program = "./work.sh && mkdir -p out/a && cp data/copy.bin out/a/same.bin && echo hi > out/b.txt && echo one > x1.log && echo two > x2.log && ln -s /etc/passwd out/leak";
    let words =
        ["task", "submit", "--name", "both", "--wait", "--input", &placed, "--input", &script];
    let more = ["--input", &tree, "--keep", "out", "--keep", "x*.log", "--keep", "data/copy.bin"];
    let rest = ["--keep", "nothing", "--", "sh", "-c", program];
    cli.run(&[&words[..], &more, &rest].concat()).must(0);
    assert_eq!(cli.ok(&["logs", "both"]).trim(), "from belowfrom below");
    let left = outputs(&cli, "both");
    let names: Vec<&str> = left.iter().map(|output| output["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["data/copy.bin", "nothing", "out", "x1.log", "x2.log"]);
    assert_eq!(left[1]["problem"], "there is no such file");
    assert_eq!((&left[2]["isArchive"], &left[0]["size"]), (&json!(true), &json!(large.len())));
    let to = download(&cli, &rig, "both");
    assert_eq!(fs::read(to.join("data/copy.bin")).unwrap(), large);
    assert_eq!(fs::read_to_string(to.join("x2.log")).unwrap(), "two\n");
    let tar = fs::read(to.join("out.tar")).unwrap();
    let holds = |text: &str| tar.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(holds("a/same.bin") && holds("leak") && holds("/etc/passwd"));
    assert!(!holds("root:x:0"), "a link is kept as a link");
    assert!(!to.join("nothing").exists());

    let before = blobs(&cli).len();
    let again = ["run", "--input", &file, "--", "sha256sum", "large.bin"];
    cli.run(&again).must(0);
    assert_eq!(blobs(&cli).len(), before, "what is there is not sent again");
}

#[test]
fn what_cannot_be_is_refused_with_the_reason() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let made = cli.json(&["token", "create", "raw", "--role", "admin"]);
    let https = server.https().token(made["secret"].as_str().unwrap());
    let unknown = "ab".repeat(32);
    let body = json!({ "spec": { "command": ["true"], "inputs": [
        { "blob": unknown, "path": "x" }, { "blob": unknown, "path": "../x" },
    ] } });
    let tasks = "/api/v1/projects/default/tasks";
    let problem = https.post(tasks, &body.to_string()).problem(422, "invalid");
    assert_eq!(problem["errors"][0]["pointer"], "/spec/inputs/1/path", "{problem}");
    let body =
        json!({ "spec": { "command": ["true"], "inputs": [{ "blob": unknown, "path": "x" }] } });
    let problem = https.post(tasks, &body.to_string()).problem(422, "invalid");
    assert_eq!(problem["errors"][0]["pointer"], "/spec/inputs/0/blob", "{problem}");

    let bad = write(&rig, "bad.tar", b"this is no archive");
    cli.ok(&["task", "submit", "--name", "first", "--wait", "--input", &bad, "--", "true"]);
    let digest = blobs(&cli)[0]["digest"].as_str().unwrap().to_owned();
    let spec =
        json!({ "command": ["true"], "inputs": [{ "blob": digest, "path": ".", "unpack": true }] });
    let body = json!({ "name": "bad", "spec": spec });
    assert_eq!(https.post(tasks, &body.to_string()).status, 201);
    let failed = cli.wait_state("bad", "failed");
    let message = failed["status"]["exit"]["message"].as_str().unwrap();
    assert!(message.contains("archive"), "{message}");

    cli.run(&["blob", "rm", &digest]).must(5);
    for task in ["first", "bad"] {
        cli.ok(&["task", "rm", task]);
    }
    cli.ok(&["blob", "rm", &digest]);
    assert!(blobs(&cli).is_empty());
}

#[test]
fn outputs_survive_the_agent_and_the_server() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let mut agent = Agent::join(&rig, &cli, &server, "node-1");
    let bytes = noise(3, 3 << 20);
    let file = write(&rig, "input.bin", &bytes);
    let barrier = Barrier::new(&rig, "go");
    let program = format!("{}; cp input.bin output.bin; echo done", barrier.wait());
    let words = ["task", "submit", "--name", "long", "--input", &file, "--keep", "output.bin"];
    cli.ok(&[&words[..], &["--", "sh", "-c", &program]].concat());
    cli.wait_state("long", "running");
    server.process.kill();
    barrier.open();
    let run = until("the run has ended while there is no server", || {
        let found = find(&agent.data_dir.join("runs"), "exit.json")?;
        Some(found.parent().unwrap().to_owned())
    });
    agent.process.kill();
    agent.restart(&rig);
    assert!(!run.join("outputs.json").exists());
    server.restart(&rig);
    cli.wait_state("long", "completed");
    let left = outputs(&cli, "long");
    assert_eq!((left.len(), &left[0]["size"]), (1, &json!(bytes.len())), "{left:?}");
    let to = download(&cli, &rig, "long");
    assert_eq!(fs::read(to.join("output.bin")).unwrap(), bytes);
}

fn find(dir: &Path, name: &str) -> Option<PathBuf> {
    let mut entries = fs::read_dir(dir).ok()?.flatten();
    entries.find_map(|entry| Some(entry.path().join(name)).filter(|path| path.exists()))
}

#[test]
fn two_nodes_fetch_what_they_need_and_nothing_else() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let agents = ["node-1", "node-2"].map(|name| Agent::join(&rig, &cli, &server, name));
    let first = noise(1, 4 << 20);
    let mut second = first.clone();
    second.splice(1_000_000..1_000_000, b"a small change".iter().copied());
    let files = [write(&rig, "one.bin", &first), write(&rig, "two.bin", &second)];
    for (i, file) in files.iter().enumerate() {
        for node in ["node-1", "node-2"] {
            let input = format!("{file}:data.bin");
            let length = [&first, &second][i].len().to_string();
            let program = format!("test $(stat -c %s data.bin) = {length}");
            let words = ["run", "--node", node, "--input", &input, "--", "sh", "-c", &program];
            cli.run(&words).must(0);
        }
    }
    for agent in &agents {
        let chunks = agent.data_dir.join("blobs/chunks");
        let kept =
            fs::read_dir(chunks).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
        let kept: u64 = kept.sum();
        let alike = first.len() as u64 + (2 << 20);
        assert!(kept < alike, "{kept} bytes are kept of two files that are nearly the same");
        assert_eq!(fs::read_dir(agent.data_dir.join("blobs/files")).unwrap().count(), 0);
    }
}

#[test]
fn a_task_in_a_container_finds_and_leaves_files_too() {
    let rig = Rig::new();
    let Some(docker) = Docker::shared(&rig) else { return };
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let _agent = Agent::join_so(&rig, &cli, &server, "node-1", &["--engine", &docker.socket()]);
    let file = write(&rig, "words.txt", b"from outside");
    let program = "pwd; cat words.txt; mkdir out; cp words.txt out/copy; echo inside > left.txt";
    for (name, more) in [("as-root", vec![]), ("as-other", vec!["--user", "1000"])] {
        let words = ["task", "submit", "--name", name, "--wait", "--input", &file];
        let kept = ["--keep", "left.txt", "--keep", "out", "--image", IMAGE, "--pull", "never"];
        let run = ["--network", "none", "--", "sh", "-c", program];
        cli.run(&[&words[..], &kept, &more, &run].concat()).must(0);
        assert_eq!(cli.ok(&["logs", name]), "/hostler/work\nfrom outside", "{name}");
        let to = download(&cli, &rig, name);
        assert_eq!(fs::read_to_string(to.join("left.txt")).unwrap(), "inside\n", "{name}");
        assert!(to.join("out.tar").exists(), "{name}");
    }
}

#[test]
fn what_a_start_waits_for_is_told_with_what_stands_in_its_way() {
    if !is_root() {
        return skipped("a file system of its own needs root");
    }
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    rig.mount_small("node-1", "8m");
    let _agent = Agent::join(&rig, &cli, &server, "node-1");
    let large = write(&rig, "large.bin", &noise(5, 12 << 20));
    cli.ok(&["task", "submit", "--name", "too-large", "--input", &large, "--", "true"]);
    let told = until("it is told what is in the way", || {
        let told = cli.json(&["task", "explain", "too-large"]);
        let trouble = told["readiness"]["trouble"].as_str().unwrap_or_default().to_owned();
        (trouble.contains("space") && !told["readiness"]["total"].is_null()).then_some(told)
    });
    let readiness = &told["readiness"];
    assert_eq!(readiness["what"], "input large.bin", "{told}");
    assert_eq!(readiness["total"], 12 << 20, "{told}");
    assert!(readiness["timeSince"].is_string(), "{told}");
    let summary = told["summary"].as_str().unwrap();
    assert!(summary.contains("input large.bin is being fetched"), "{summary}");
    assert!(cli.ok(&["task", "show", "too-large"]).contains("input large.bin is being fetched"));
    let failed = cli.wait_state("too-large", "failed");
    let message = failed["status"]["exit"]["message"].as_str().unwrap();
    assert!(message.contains("No space left"), "{message}");
    assert!(cli.json(&["task", "explain", "too-large"])["readiness"].is_null());
}
