//! The audit record outside its database: exported, anchored, delivered, and checked without a server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::rig::{Rig, Server, until};

/// A collector that takes everything.
fn collector() -> (u16, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let taken: Arc<Mutex<String>> = Arc::default();
    let kept = Arc::clone(&taken);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut bytes, mut part) = (Vec::new(), [0; 65_536]);
            let body = loop {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if let Some((head, body)) = text.split_once("\r\n\r\n") {
                    let length = head.lines().find_map(|line| {
                        line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
                    });
                    if body.len() >= length.unwrap_or(0usize) {
                        break body.to_owned();
                    }
                }
                match stream.read(&mut part) {
                    Ok(0) | Err(_) => break String::new(),
                    Ok(n) => bytes.extend_from_slice(&part[..n]),
                }
            };
            kept.lock().unwrap().push_str(&body);
            let _gone = stream.write_all(b"HTTP/1.1 204 Taken\r\n\r\n");
        }
    });
    (port, taken)
}

#[test]
fn the_record_can_be_kept_and_checked_elsewhere() {
    let rig = Rig::new();
    let (port, taken) = collector();
    let settings = format!(
        "[egress]\nallow = ['127.0.0.1:{port}']\n[audit]\nanchor_every = 5\n[[audit.sink]]\nname = 'siem'\nto = 'http://127.0.0.1:{port}/in?key=s3cret'\n[[audit.sink]]\nname = 'closed'\nto = 'http://10.255.255.1/'\n"
    );
    let mut server = Server::configured(&rig, "server", &settings);
    let cli = server.first_login(&rig);
    for name in ["lab", "shop", "attic"] {
        cli.ok(&["project", "create", name, "--description", "for a while"]);
    }
    cli.ok(&["project", "rm", "attic", "--yes"]);

    let found = cli.json(&["audit", "search", "--object", "attic", "--since", "1h"]);
    let actions: Vec<&str> =
        found["items"].as_array().unwrap().iter().map(|e| e["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["project.remove", "project.create"]);
    let (removed, created) = (&found["items"][0], &found["items"][1]);
    assert_eq!(removed["digestBefore"], created["digestAfter"], "{found}");
    assert!(removed["digestBefore"].is_string() && removed["digestAfter"].is_null(), "{found}");
    for words in [
        &["audit", "search", "ATTIC", "--kind", "project"][..],
        &["audit", "search", "--project", "attic-was-here", "--object", "attic"],
        &["audit", "search", "--source", "192.0.2.1"],
    ] {
        let run = cli.run(&[words, &["-o", "json"]].concat());
        let count = run.text().matches("\"sequence\"").count();
        let is_first = words.contains(&"ATTIC");
        assert_eq!(count, if is_first { 2 } else { 0 }, "{words:?} {run:?}");
    }

    let made = cli.ok(&["audit", "anchor", "-o", "jsonl"]);
    let anchors = rig.path("anchors.jsonl");
    std::fs::write(&anchors, &made).unwrap();
    let anchors = anchors.to_str().unwrap();
    cli.ok(&["project", "create", "later"]);
    let verdict = cli.json(&["audit", "verify", "--anchor", anchors]);
    assert_eq!(verdict["isIntact"], true, "{verdict}");
    assert!(verdict["anchors"].as_u64().unwrap() >= 2, "{verdict}");

    let lines = cli.ok(&["audit", "export"]);
    let export = rig.path("audit.jsonl");
    std::fs::write(&export, &lines).unwrap();
    let export = export.to_str().unwrap();
    server.process.kill();
    let alone = cli.run(&["audit", "verify", "--file", export, "--anchor", anchors]).must(0);
    assert!(alone.text().contains("all intact") && alone.text().contains("anchor"), "{alone:?}");
    let touched = |name: &str, text: String| {
        let path = rig.path(name);
        std::fs::write(&path, text).unwrap();
        let run = cli.run(&["audit", "verify", "--file", path.to_str().unwrap()]);
        assert_eq!(run.code, 4, "{name} {run:?}");
        run.text()
    };
    let renamed = touched("renamed", lines.replacen("attic", "cellar", 1));
    assert!(renamed.contains("does not match its hash"), "{renamed}");
    let mut fewer: Vec<&str> = lines.lines().collect();
    fewer.remove(2);
    let missing = touched("missing", fewer.join("\n"));
    assert!(missing.contains("entry 3 is missing"), "{missing}");
    let cut = rig.path("cut");
    std::fs::write(&cut, lines.lines().next().unwrap()).unwrap();
    let cut = cli.run(&["audit", "verify", "--file", cut.to_str().unwrap(), "--anchor", anchors]);
    assert!(cut.code == 4 && cut.text().contains("not in the file"), "{cut:?}");
    let nonsense = cli.run(&["audit", "verify", "--file", "/etc/hostname"]);
    assert!(nonsense.code == 2 && nonsense.err.contains("audit export"), "{nonsense:?}");

    server.restart(&rig);
    let sinks = until("the collector has been told everything", || {
        let sinks = cli.json(&["audit", "sinks"]);
        (sinks["items"][0]["lag"] == 0 && sinks["items"][1]["problem"].is_string()).then_some(sinks)
    });
    assert_eq!(sinks["items"][0]["to"], format!("http://127.0.0.1:{port}"), "{sinks}");
    let problem = sinks["items"][1]["problem"].as_str().unwrap();
    assert!(problem.contains("10.255.255.1:80` to `egress.allow`"), "{problem}");
    let told = rig.path("told.jsonl");
    std::fs::write(&told, taken.lock().unwrap().as_str()).unwrap();
    cli.run(&["audit", "verify", "--file", told.to_str().unwrap()]).must(0);
    let trouble = cli.json(&["event", "ls", "--kind", "audit.sink-trouble"]);
    assert_eq!(trouble["items"].as_array().unwrap().len(), 1, "{trouble}");
    assert!(!trouble.to_string().contains("s3cret"));
}
