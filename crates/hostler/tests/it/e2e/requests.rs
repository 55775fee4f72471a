//! Requests that no well-made client sends, and requests of those who may not.

use serde_json::{Value, json};

use crate::rig::{Https, Rig, Server};

const TASKS: &str = "/api/v1/projects/default/tasks";

fn pointers(problem: &Value) -> Vec<&str> {
    let errors = problem["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    errors.iter().map(|error| error["pointer"].as_str().unwrap()).collect()
}

#[test]
fn bad_requests_get_problems_that_say_what_is_wrong() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let token = cli.json(&["token", "create", "raw", "--role", "admin"]);
    let https = server.https().token(token["secret"].as_str().unwrap());

    let problem = https.post(TASKS, "{\"spec\": {\"command\": [\"true\"").problem(400, "malformed");
    assert!(problem["detail"].as_str().unwrap().contains("line 1 column"), "{problem}");
    https.post(TASKS, "").problem(400, "malformed");
    https.post(TASKS, "\u{0}").problem(400, "malformed");

    let unknown = json!({ "spec": { "command": ["true"], "stop": { "signl": "SIGTERM" } } });
    let problem = https.post(TASKS, &unknown.to_string()).problem(422, "invalid");
    assert_eq!(pointers(&problem), ["/spec/stop/signl"], "{problem}");
    assert!(problem["errors"][0]["detail"].as_str().unwrap().contains("signl"), "{problem}");
    let wrong = json!({ "name": "Not A Name", "spec": { "command": ["true"] } });
    let problem = https.post(TASKS, &wrong.to_string()).problem(422, "invalid");
    assert_eq!(pointers(&problem), ["/name"], "{problem}");
    let twice = r#"{"spec": {"command": ["true"], "command": ["false"]}}"#;
    let problem = https.post(TASKS, twice).problem(422, "invalid");
    assert_eq!(pointers(&problem), ["/spec/command"], "{problem}");

    let long = "x".repeat(1001);
    let create = json!({ "name": "lab", "description": long }).to_string();
    for (path, body) in [
        ("/api/v1/projects", create.as_str()),
        ("/api/v1/nodes/local/cordon", r#"{"reason": ""}"#),
        ("/api/v1/nodes/local/drain", r#"{"reason": ""}"#),
    ] {
        let problem = https.post(path, body).problem(422, "invalid");
        assert!(["/description", "/reason"].contains(&pointers(&problem)[0]), "{problem}");
    }

    let json_type = ("Content-Type", "application/json");
    let announced = [json_type, ("Content-Length", "2000000")];
    https.request("POST", TASKS, &announced, b"").problem(413, "too-large");
    let body = json!({ "spec": { "command": ["true", "x".repeat(1_200_000)] } }).to_string();
    https.post(TASKS, &body).problem(413, "too-large");
    let plain = [("Content-Type", "text/plain")];
    https.request("POST", TASKS, &plain, b"{}").problem(415, "unsupported-media-type");

    let id = "01920000-0000-7000-8000-000000000000";
    for path in [
        format!("{TASKS}/{id}"),
        format!("{TASKS}/{id}/logs"),
        format!("/api/v1/nodes/{id}"),
        format!("/api/v1/operations/{id}"),
        format!("/api/v1/users/{id}"),
        format!("/api/v1/tokens/{id}"),
        format!("/api/v1/projects/{id}/tasks"),
        format!("{TASKS}/no-such-task"),
        format!("{TASKS}/%F0%9F%90%8E"),
    ] {
        https.get(&path).problem(404, "not-found");
    }
    https.get("/api/v1/nothing").problem(404, "no-such-route");
    https.request("DELETE", TASKS, &[], b"").problem(405, "method-not-allowed");
    https.get(&format!("{TASKS}?limit=0")).problem(400, "malformed");
    https.get(&format!("{TASKS}?colour=red")).problem(400, "malformed");
    https.get(&format!("{TASKS}?cursor=nonsense")).problem(400, "malformed");

    let node = "/api/v1/nodes/local";
    let labels = br#"{"labels": {}}"#;
    https.request("PATCH", node, &[json_type], labels).problem(428, "precondition-required");
    let old = [json_type, ("If-Match", "\"999\"")];
    https.request("PATCH", node, &old, labels).problem(412, "stale");

    let key = [json_type, ("Idempotency-Key", "same-key")];
    let first = br#"{"name": "only-once", "spec": {"command": ["true"]}}"#;
    let made = https.request("POST", TASKS, &key, first);
    let repeated = https.request("POST", TASKS, &key, first);
    assert_eq!((made.status, repeated.status), (201, 201));
    assert_eq!(made.json()["id"], repeated.json()["id"]);
    let other = br#"{"name": "another", "spec": {"command": ["true"]}}"#;
    https.request("POST", TASKS, &key, other).problem(422, "idempotency-key-reused");
    assert_eq!(cli.tasks().len(), 1);
}

/// A refusal that comes before the body was read leaves the connection usable, or says that it is not.
#[test]
fn a_refused_body_does_not_stand_before_the_next_request() {
    let rig = Rig::new();
    let (server, _cli) = Server::up(&rig);
    let https = server.https();
    let body = vec![b'x'; 60_000];
    let head =
        format!("POST {TASKS} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
    let mut talk = https.talk();
    for _ in 0..50 {
        talk.say(head.as_bytes());
        talk.say(&body);
        let refused = talk.hear();
        refused.problem(401, "unauthenticated");
        assert_eq!(refused.header("connection"), None);
        talk.say(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!(talk.hear().status, 200);
    }
    let mut talk = https.talk();
    talk.say(head.as_bytes());
    let refused = talk.hear();
    refused.problem(401, "unauthenticated");
    assert_eq!(refused.header("connection"), Some("close"));
}

#[test]
fn changes_that_name_no_generation_do_not_get_into_each_others_way() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let token = cli.json(&["token", "create", "raw", "--role", "admin"]);
    let https = server.https().token(token["secret"].as_str().unwrap());
    std::thread::scope(|scope| {
        for number in 0..4 {
            let https = https.clone();
            scope.spawn(move || {
                for round in 0..10 {
                    let reason = format!(r#"{{"reason": "{number} in round {round}"}}"#);
                    let cordoned = https.post("/api/v1/nodes/local/cordon", &reason);
                    assert_eq!(cordoned.status, 200, "{}", cordoned.json());
                    let free = https.post("/api/v1/nodes/local/uncordon", "");
                    assert_eq!(free.status, 200, "{}", free.json());
                }
            });
        }
    });
    assert_eq!(cli.json(&["audit", "verify"])["isIntact"], true);
}

#[test]
fn nobody_gets_more_than_their_role_allows() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    cli.ok(&["task", "submit", "--name", "long", "--", "sleep", "1000"]);
    let pid = cli.wait_pid("long");
    let nobody = server.https();
    for path in [TASKS, "/api/v1/nodes", "/api/v1/audit", "/metrics", "/api/v1/whoami"] {
        nobody.get(path).problem(401, "unauthenticated");
    }
    for path in ["/livez", "/readyz", "/version", "/openapi.json"] {
        assert_eq!(nobody.get(path).status, 200, "{path}");
    }

    let made = cli.json(&["token", "create", "looker", "--role", "viewer"]);
    let viewer = cli.token(made["secret"].as_str().unwrap());
    assert_eq!(viewer.task("long")["status"]["state"], "running");
    viewer.ok(&["logs", "long"]);
    for words in [
        &["task", "kill", "long", "--yes"][..],
        &["run", "--", "true"],
        &["node", "cordon", "local"],
        &["node", "token", "create"],
        &["node", "rm", "local", "--yes"],
        &["user", "ls"],
        &["audit", "ls"],
        &["project", "create", "mine"],
        &["token", "create", "more", "--role", "admin"],
    ] {
        let refused = viewer.run(words);
        assert_eq!(refused.code, 6, "{words:?} {refused:?}");
        assert!(refused.err.contains("hint"), "{words:?} {refused:?}");
    }
    assert_eq!(cli.wait_pid("long"), pid);

    cli.ok(&["project", "create", "lab"]);
    cli.ok(&["user", "create", "robot", "--service"]);
    cli.ok(&["project", "grant", "lab", "robot", "user"]);
    let words = ["token", "create", "key", "--user", "robot", "--role", "user"];
    let robot = cli.token(cli.json(&words)["secret"].as_str().unwrap());
    robot.run(&["task", "kill", "long", "--yes"]).must(3);
    robot.ok(&["run", "-p", "lab", "--", "true"]);
    cli.ok(&["user", "disable", "robot"]);
    robot.run(&["task", "ls", "-p", "lab"]).must(6);
    hides_what_is_secret(&server.https(), &server.process.log());
}

/// Whatever is asked for, a refusal does not say what exists, and the log holds no credentials.
fn hides_what_is_secret(nobody: &Https, log: &str) {
    let (there, not_there) =
        (nobody.get("/api/v1/nodes/local"), nobody.get("/api/v1/nodes/nowhere"));
    assert_eq!(there.json()["detail"], not_there.json()["detail"]);
    let secrets = log.lines().filter(|line| line.contains("hst_") && !line.contains("#setup="));
    assert_eq!(secrets.count(), 0, "{log}");
}
