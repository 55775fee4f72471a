//! Attacks on whole installations, each in a test that is named after it.
//!
//! Every one of them comes to nothing, and leaves the installation working: others are served, tasks run, and
//! no process has grown without bounds. What is refused is recorded: as an event, an audit entry, what is kept
//! of a run, or a count that a scrape shows. What is only data, however it looks, is not refused, and there is
//! nothing to record.
//! `docs/conformance/threats.md` says which threat each is about; what needs no process of its own is beside
//! the code, above all in `crates/server/tests/it/attack/`.

mod archives;
mod doors;
mod injection;
mod joining;
mod streams;

use crate::rig::{Cli, Https, Server};

/// The most that a server and its agent may occupy after an attack, in KiB.
const MEMORY_MAX: u64 = 600 << 10;

/// A client with the rights of an admin that says what it is told.
fn admin(server: &Server, cli: &Cli<'_>) -> Https {
    let made = cli.json(&["token", "create", "raw", "--role", "admin"]);
    server.https().token(made["secret"].as_str().unwrap())
}

/// The sum of every series of a scrape that begins so.
fn counted(admin: &Https, begin: &str) -> u64 {
    let text = String::from_utf8(admin.get("/metrics").body).unwrap();
    let lines = text.lines().filter(|line| line.starts_with(begin));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

/// How many requests were answered with a problem of this code.
fn problems(admin: &Https, code: &str) -> u64 {
    counted(admin, &format!("hostler_http_refused_total{{code=\"{code}\"}}"))
}

/// How many events of a kind there are.
fn events(cli: &Cli<'_>, kind: &str) -> usize {
    cli.json(&["event", "ls", "--kind", kind])["items"].as_array().unwrap().len()
}

/// What a process occupies, in KiB.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The server answers, keeps its record, and has not grown without bounds.
#[track_caller]
fn serves(server: &mut Server, cli: &Cli<'_>) {
    assert_eq!(server.process.ended(), None, "the server is gone");
    assert_eq!(server.https().get("/livez").status, 200);
    assert_eq!(cli.json(&["audit", "verify"])["isIntact"], true);
    let memory = memory(server.process.pid());
    assert!(memory < MEMORY_MAX, "it occupies {memory} KiB");
}

/// The same, and tasks run.
#[track_caller]
fn goes_on(server: &mut Server, cli: &Cli<'_>) {
    serves(server, cli);
    assert_eq!(cli.ok(&["run", "--", "echo", "still here"]), "still here\n");
}
