//! Doors that should not be there, and doors that should not open.

use std::collections::BTreeSet;

use serde_json::json;

use super::{counted, goes_on, serves};
use crate::rig::{Agent, Rig, Server, pids};

/// Sockets of a process that wait for somebody to connect, as `/proc/net` has them.
fn listening(pid: u32) -> Vec<String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = entries.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let own: BTreeSet<String> = links
        .filter_map(|link| {
            let link = link.to_str()?.to_owned();
            Some(link.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect();
    let mut found = Vec::new();
    // A TCP socket that listens is in state 0A; a UDP socket that nobody is the peer of, in 07.
    for (table, state) in [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")] {
        let text = std::fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if fields.len() > 9 && fields[3] == state && own.contains(fields[9]) {
                found.push(format!("{table} {}", fields[1]));
            }
        }
    }
    found
}

#[test]
fn an_agent_listens_on_nothing() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let agent = Agent::join(&rig, &cli, &server, "node-1");
    cli.ok(&["task", "submit", "--name", "long", "--", "sleep", "1000"]);
    let task = cli.wait_pid("long");
    assert_eq!(listening(server.process.pid()).len(), 2, "the server has its two doors");
    let dir = agent.data_dir.to_str().unwrap();
    let of_agent = pids().into_iter().filter(|pid| {
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(dir)
    });
    let looked_at: Vec<u32> =
        of_agent.chain([agent.process.pid(), agent.executor(), task]).collect();
    assert!(looked_at.len() >= 4, "{looked_at:?}");
    for pid in looked_at {
        assert_eq!(listening(pid), [""; 0], "process {pid} of the agent listens");
    }
    goes_on(&mut server, &cli);
}

#[test]
fn there_is_no_default_credential() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let https = server.https();
    for (name, password) in [
        ("admin", "admin"),
        ("admin", "password"),
        ("admin", ""),
        ("root", "root"),
        ("hostler", "hostler"),
    ] {
        let body = json!({ "name": name, "password": password, "kind": "token" });
        let reply = https.post("/api/v1/login", &body.to_string());
        assert!((400..500).contains(&reply.status), "{name}: {}", reply.status);
    }
    for token in ["admin", "hst_pat_admin", "null", "undefined", "0"] {
        assert_eq!(https.token(token).get("/api/v1/whoami").status, 401, "{token}");
    }
    let guess = json!({ "code": "hst_setup_0000", "name": "eve", "password": "a horse, a lantern", "kind": "token" });
    let guessed = https.post("/api/v1/setup", &guess.to_string()).status;
    assert!((400..500).contains(&guessed), "{guessed}");
    let code = server.setup_code();
    let cli = server.first_login(&rig);
    let again =
        json!({ "code": code, "name": "eve", "password": "a horse, a lantern", "kind": "token" });
    let refused = https.post("/api/v1/setup", &again.to_string());
    assert!((400..500).contains(&refused.status), "the code works once: {}", refused.status);
    let users = cli.json(&["user", "ls"]);
    let names: Vec<&str> = users["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|user| user["name"].as_str().unwrap())
        .collect();
    assert!(!names.contains(&"eve"), "{names:?}");
    let admin = super::admin(&server, &cli);
    assert!(counted(&admin, "hostler_logins_total{outcome=\"wrong\"}") >= 1);
    serves(&mut server, &cli);
}

/// A flood of handshakes that come to nothing, and of connections that say nothing.
#[test]
fn connections_that_come_to_nothing_cost_nothing() {
    let rig = Rig::new();
    let mut server = Server::configured(&rig, "server", "[limits]\nhead_time = '1s'\n");
    let cli = server.first_login(&rig);
    let admin = super::admin(&server, &cli);
    let refused = "hostler_connections_refused_total";
    let before = counted(&admin, refused);
    for address in [server.api, server.agents] {
        for _ in 0..100 {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            std::io::Write::write_all(&mut stream, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        }
    }
    let silent: Vec<_> = (0..50).map(|_| admin.talk()).collect();
    assert_eq!(admin.get("/api/v1/whoami").status, 200, "others are served meanwhile");
    crate::rig::until("they are counted", || {
        (counted(&admin, refused) >= before + 200).then_some(())
    });
    drop(silent);
    serves(&mut server, &cli);
}
