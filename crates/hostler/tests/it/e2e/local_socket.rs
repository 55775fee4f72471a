//! Who may ask an agent on its own machine: its user, and whom its user lets.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use crate::rig::{Agent, Rig, Server, command, is_root, skipped, until};

const NOBODY: u32 = 65_534;
/// One of every kind of verb; none of them can do harm here.
const VERBS: &[&[&str]] = &[
    &["status"],
    &["ls"],
    &["show", "web"],
    &["start", "web"],
    &["stop", "web"],
    &["restart", "web"],
    &["history", "web"],
    &["next", "web"],
    &["logs", "web"],
    &["exec", "web", "--", "true"],
    &["reload"],
    &["metrics"],
    &["shutdown"],
];

/// Runs `hostler agent` as a user; whether it was answered at all.
fn is_answered(rig: &Rig, binary: &Path, uid: Option<u32>, words: &[&str], data: &Path) -> bool {
    let mut asking = command(rig, binary);
    asking.arg("agent").args(&words[..1]).arg("--data-dir").arg(data).args(&words[1..]);
    if let Some(uid) = uid {
        asking.uid(uid).gid(uid);
    }
    let said = asking.output().unwrap();
    let told = String::from_utf8_lossy(&said.stderr).to_lowercase();
    !told.contains("may not be opened")
}

#[test]
fn nobody_else_on_the_machine_is_answered_by_an_agent() {
    if !is_root() {
        return skipped("to be somebody else needs root");
    }
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let mut agent = Agent::join(&rig, &cli, &server, "n1");
    // Everything on the way is open, so that nothing but the socket is in it.
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(&rig.dir, 0o755);
    open(&agent.data_dir, 0o755);
    let binary = rig.path("hostler");
    std::fs::copy(crate::rig::BINARY, &binary).unwrap();
    open(&binary, 0o755);

    let socket = agent.data_dir.join("agent.sock");
    let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
    for words in VERBS {
        let answered = is_answered(&rig, &binary, Some(NOBODY), words, &agent.data_dir);
        assert!(!answered, "{words:?}");
    }
    let pid = agent.process.pid();
    assert!(crate::rig::is_running(pid), "nobody has stopped it");

    assert!(is_answered(&rig, &binary, None, &["restart", "web"], &agent.data_dir));
    let line = agent.process.line(&["asked for on the local socket", "restart"]);
    assert!(line.contains("uid=Some(0)"), "{line}");
    // What keeps others out is the socket's mode and nothing else on the way.
    open(&socket, 0o666);
    until("it is the mode that counts", || {
        is_answered(&rig, &binary, Some(NOBODY), &["status"], &agent.data_dir).then_some(())
    });
}
