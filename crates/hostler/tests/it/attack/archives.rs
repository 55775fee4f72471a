//! Files that a node unpacks, and directories that it reads, both made by somebody who means harm.

use std::path::Path;

use serde_json::json;

use super::{admin, goes_on, memory};
use crate::rig::{Cli, Rig, Server};

const BLOCK: usize = 512;

/// One entry of a tar archive, with any name, link and size that it likes to claim.
fn entry(name: &str, kind: u8, link: &str, size: u64, content: &[u8]) -> Vec<u8> {
    let mut header = [0_u8; BLOCK];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..107].copy_from_slice(b"0000644");
    header[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    header[156] = kind;
    header[157..157 + link.len()].copy_from_slice(link.as_bytes());
    header[257..263].copy_from_slice(b"ustar\0");
    header[148..156].fill(b' ');
    let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut bytes = header.to_vec();
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
    bytes
}

fn file(name: &str, content: &str) -> Vec<u8> {
    entry(name, b'0', "", content.len() as u64, content.as_bytes())
}

fn link(name: &str, target: &str) -> Vec<u8> {
    entry(name, b'2', target, 0, b"")
}

/// Sends a file; the digest under which the installation keeps it.
fn send(rig: &Rig, cli: &Cli<'_>, name: &str, bytes: &[u8]) -> String {
    let path = rig.path(&format!("{name}.tar"));
    std::fs::write(&path, bytes).unwrap();
    let digests = || -> Vec<String> {
        let listed = cli.json(&["blob", "ls"]);
        let items = listed["items"].as_array().unwrap().iter();
        items.map(|blob| blob["digest"].as_str().unwrap().to_owned()).collect()
    };
    let before = digests();
    let carrier = format!("carries-{name}");
    let source = path.to_str().unwrap();
    cli.ok(&["task", "submit", "--name", &carrier, "--wait", "--input", source, "--", "true"]);
    digests().into_iter().find(|digest| !before.contains(digest)).unwrap()
}

#[test]
fn tar_bombs_and_link_escapes_do_not_leave_the_run() {
    let rig = Rig::new();
    let (mut server, cli) = Server::up(&rig);
    let https = admin(&server, &cli);
    let outside = rig.path("outside");
    std::fs::write(&outside, "untouched").unwrap();
    let target = outside.to_str().unwrap();
    let cases: [(&str, Vec<u8>); 9] = [
        ("absolute", file(target, "x")),
        ("up", file("../../../outside", "x")),
        ("link-out", [link("l", "../../.."), file("l/outside", "x")].concat()),
        ("link-absolute", [link("l", target), file("l", "x"), link("m", target)].concat()),
        ("links-together", [link("here", "."), link("out", "here/../../..")].concat()),
        ("hard-link", entry("h", b'1', target, 0, b"")),
        ("device", entry("d", b'3', "", 0, b"")),
        ("endless", entry("zeros", b'0', "", 0o77_777_777_777, b"")),
        ("names", (0..40).flat_map(|_| entry("n", b'L', "", 4 << 30, b"")).collect()),
    ];
    for (name, bytes) in cases {
        let digest = send(&rig, &cli, name, &bytes);
        let input = json!({ "blob": digest, "path": ".", "unpack": true });
        let body = json!({ "name": name, "spec": { "command": ["true"], "inputs": [input] } });
        let made = https.post("/api/v1/projects/default/tasks", &body.to_string());
        assert_eq!(made.status, 201, "{}", made.json());
        let failed = cli.wait_state(name, "failed");
        let message = failed["status"]["exit"]["message"].as_str().unwrap();
        assert!(message.contains("archive"), "{name}: {message}");
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "untouched", "{name}");
    }
    let recorded = cli.json(&["event", "ls", "--kind", "task.failed"]);
    assert!(recorded["items"].as_array().unwrap().len() >= 9, "{recorded}");
    assert!(memory(server.process.pid()) < super::MEMORY_MAX);
    goes_on(&mut server, &cli);
}

/// Whether any file below holds what only the machine's own list of users has.
fn has_users(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().flatten().any(|entry| match entry.path() {
        path if path.is_dir() => has_users(&path),
        path => String::from_utf8_lossy(&std::fs::read(path).unwrap()).contains("root:x:0"),
    })
}

/// A task points at files of the machine, and swaps what it points with while the agent reads.
#[test]
fn symlink_races_in_outputs_read_nothing_of_the_machine() {
    let rig = Rig::new();
    let (mut server, cli) = Server::up(&rig);
    let still = "ln -s /etc/passwd leak; ln -s /etc dir; mkdir -p a; ln -s /etc a/b; ln -s /proc/self/root r; ln /etc/passwd hard 2>/dev/null; mkfifo pipe; true";
    let keep = ["leak", "dir", "dir/passwd", "a/b/passwd", "r/etc/passwd", "d*/pass*", "pipe"];
    let kept: Vec<&str> = keep.iter().flat_map(|path| ["--keep", *path]).collect();
    let words = ["task", "submit", "--name", "still", "--wait"];
    cli.run(&[&words[..], &kept[..], &["--", "sh", "-c", still]].concat()).must(0);
    let left = cli.json(&["task", "outputs", "still"]);
    let left = left["items"].as_array().unwrap();
    assert_eq!(
        left.len(),
        keep.len(),
        "each has an entry that says why there is nothing: {left:?}"
    );
    for output in left {
        assert!(output["problem"].is_string(), "{output}");
    }
    server.process.line(&["output is not kept", "symbolic link"]);
    let swap = "while true; do mv -T real out; mv -T out real; ln -s /etc out; rm -f out; done";
    let racer = format!(
        "mkdir real; echo mine > real/passwd; (setsid sh -c '{swap}' >/dev/null 2>&1 &) ; sleep 0.2"
    );
    for round in 0..5 {
        let name = format!("race-{round}");
        let words = ["task", "submit", "--name", &name, "--wait", "--keep", "out/passwd", "--keep"];
        cli.run(&[&words[..], &["out", "--", "sh", "-c", &racer]].concat());
        let to = rig.path(&name);
        std::fs::create_dir(&to).unwrap();
        cli.run(&["task", "download", &name, "--to", to.to_str().unwrap()]);
        assert!(!has_users(&to), "round {round}");
        let left = cli.json(&["task", "outputs", &name]);
        for output in left["items"].as_array().unwrap() {
            let (is_kept, has_problem) =
                (output["digest"].is_string(), output["problem"].is_string());
            assert!(is_kept != has_problem, "it is kept, or it says why not: {output}");
        }
    }
    goes_on(&mut server, &cli);
}
