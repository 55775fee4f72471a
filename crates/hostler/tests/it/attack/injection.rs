//! Words that want to be something else: lines of a log, commands of a shell, sequences of a terminal.

use serde_json::json;

use super::{goes_on, problems, serves};
use crate::rig::{Rig, Server};

const FORGED: &str = "2026-01-01T00:00:00Z INFO hostler: forged";

#[test]
fn log_injection_stays_in_its_field() {
    let rig = Rig::new();
    let mut server = Server::configured(&rig, "server", "log_filter = 'debug'\n");
    let cli = server.first_login(&rig);
    let https = super::admin(&server, &cli);
    let encoded = "%0d%0a2026-01-01T00:00:00Z%20INFO%20hostler:%20forged%1b%5b2J%c2%9b1A";
    for path in [
        format!("/api/v1/nodes/x{encoded}"),
        format!("/api/v1/projects/x{encoded}/tasks"),
        format!("/x{encoded}"),
        format!("/api/v1/events?kind=x{encoded}"),
    ] {
        let reply = https.get(&path);
        assert!(reply.status < 500, "{path}: {}", reply.status);
    }
    for header in [
        ("User-Agent", "curl\u{1b}[2J"),
        ("User-Agent", "curl\u{9b}1A\u{202e}x"),
        ("X-Request-Id", "a b\u{9b}31m"),
        ("traceparent", "00-\u{9b}-x"),
    ] {
        assert!(https.request("GET", "/api/v1/whoami", &[header], b"").status < 500);
    }
    let evil = format!("x\r\n{FORGED}\u{1b}[2J");
    let refused = || ["malformed", "invalid", "unauthenticated"].map(|c| problems(&https, c));
    let before: u64 = refused().iter().sum();
    let body = json!({ "name": evil, "password": evil, "kind": "token" });
    assert!((400..500).contains(&https.post("/api/v1/login", &body.to_string()).status));
    let project = json!({ "name": "lab", "description": evil });
    https.post("/api/v1/projects", &project.to_string());
    let joining = json!({ "token": "hst_join_x", "name": evil, "csr": evil });
    assert!((400..500).contains(&https.post("/api/v1/join", &joining.to_string()).status));
    let after: u64 = refused().iter().sum();
    assert!(after >= before + 2, "what was refused is counted: {before} and then {after}");

    let log = server.process.log();
    assert!(log.contains("request answered"), "requests are logged here");
    for line in log.lines() {
        assert!(!line.starts_with(FORGED), "{line}");
        let is_obeyed = |letter: char| letter.is_control() && letter != '\t';
        assert!(!line.chars().any(is_obeyed), "{line:?}");
    }
    for words in [&["project", "ls", "-o", "wide"][..], &["event", "ls"], &["audit", "ls"]] {
        let shown = cli.ok(words);
        assert!(!shown.lines().any(|line| line.starts_with(FORGED)), "{shown}");
        assert!(!shown.chars().any(|letter| letter.is_control() && letter != '\n'), "{shown:?}");
    }
    serves(&mut server, &cli);
}

/// What a user wrote is an argument, whatever is in it.
#[test]
fn shell_metacharacters_are_arguments_and_nothing_else() {
    let rig = Rig::new();
    let (mut server, cli) = Server::up(&rig);
    let mark = rig.path("mark");
    let shown = mark.display();
    let words = [
        format!("; touch {shown}"),
        format!("$(touch {shown})"),
        format!("`touch {shown}`"),
        format!("| touch {shown}"),
        format!("a\ntouch {shown}"),
        format!("&& touch {shown} #"),
        format!("'\"; touch {shown} \""),
        "--help".to_owned(),
        "-rf".to_owned(),
        "* ? ~ $HOME ${PATH} %s \\n {{7*7}} ${7*7} <%= 7*7 %>".to_owned(),
    ];
    let given: Vec<&str> = words.iter().map(String::as_str).collect();
    let said = cli.ok(&[&["run", "--", "printf", "%s|"][..], &given[..]].concat());
    assert_eq!(said, words.iter().map(|word| format!("{word}|")).collect::<String>());
    let value = format!("EVIL=$(touch {shown})");
    let said = cli.ok(&["run", "--env", &value, "--", "printenv", "EVIL"]);
    assert_eq!(said, format!("$(touch {shown})\n"));
    let https = super::admin(&server, &cli);
    let before = problems(&https, "invalid");
    let names = ["a;b", "$(x)", "../x", "-x", "a b", "a\nb", "%2e%2e"];
    for name in names {
        let body = json!({ "name": name, "spec": { "command": ["true"] } });
        let reply = https.post("/api/v1/projects/default/tasks", &body.to_string());
        reply.problem(422, "invalid");
    }
    assert_eq!(problems(&https, "invalid"), before + names.len() as u64);
    assert!(!mark.exists(), "something took a word for a command");
    goes_on(&mut server, &cli);
}
