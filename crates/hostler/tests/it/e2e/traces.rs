//! One request, one trace: from the caller through the server and placement to the agent and the run.

use serde_json::json;

use crate::rig::{Agent, Collector, Rig, Server, until};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

#[test]
fn a_submit_is_one_trace_to_the_end_of_its_run() {
    let rig = Rig::new();
    let collector = Collector::start();
    let settings = format!("otlp_endpoint = '{}'\n", collector.url());
    let mut server = Server::configured(&rig, "server", &settings);
    let admin = server.first_login(&rig);
    let options = ["--otlp", &collector.url()];
    let _agent = Agent::join_so(&rig, &admin, &server, "web-1", &options);
    let secret = admin.ok(&["token", "create", "caller", "--role", "user"]).trim().to_owned();

    let body =
        json!({ "name": "traced", "spec": { "command": ["sh", "-c", "echo $TRACEPARENT"] } });
    let parent = format!("00-{TRACE}-{CALLER}-01");
    let headers = [
        ("traceparent", parent.as_str()),
        ("Content-Type", "application/json"),
        ("Idempotency-Key", "traced-1"),
    ];
    let path = "/api/v1/projects/default/tasks";
    let https = server.https().token(&secret);
    let made = https.request("POST", path, &headers, body.to_string().as_bytes());
    assert_eq!(made.status, 201, "{}", String::from_utf8_lossy(&made.body));
    admin.ok(&["wait", "traced"]);

    // The program was told, and everybody can look it up.
    let printed = admin.ok(&["logs", "traced"]);
    assert!(printed.starts_with(&format!("00-{TRACE}-")), "{printed}");
    assert_eq!(admin.json(&["task", "get", "traced"])["trace"], TRACE);
    assert_eq!(admin.json(&["task", "explain", "traced"])["trace"], TRACE);
    assert!(admin.ok(&["task", "describe", "traced"]).contains(TRACE));

    let wanted = [
        ("hostler-server", "request"),
        ("hostler-server", "placement"),
        ("hostler-agent", "start"),
        ("hostler-agent", "run"),
    ];
    let spans = until("every part of the trace has arrived", || {
        let spans = collector.trace(TRACE);
        let has = |(service, name): &(&str, &str)| {
            spans.iter().any(|span| span.service == *service && span.name == *name)
        };
        wanted.iter().all(has).then_some(spans)
    });
    let of = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let (request, placement, run) = (of("request"), of("placement"), of("run"));
    assert_eq!(request.parent, CALLER, "the caller's own part comes first");
    assert_eq!(placement.attributes["hostler.node"], "web-1");
    assert_eq!(run.attributes["hostler.exit"], "exit code 0");
    for span in [placement, of("start"), run] {
        assert_ne!(span.parent, CALLER, "{span:?}");
        assert_eq!(span.parent, placement.parent, "all of them follow from the request");
        assert!(span.from <= span.to, "{span:?}");
    }
    assert!(placement.from <= run.from, "{spans:?}");

    // Another request is another trace.
    admin.ok(&["run", "--name", "alone", "--", "true"]);
    let other = admin.json(&["task", "get", "alone"]);
    assert_eq!(other["trace"].as_str().map(str::len), Some(32));
    assert_ne!(other["trace"], TRACE);
}

#[test]
fn arrays_and_workloads_go_on_with_the_trace_of_who_asked_for_them() {
    let rig = Rig::new();
    let collector = Collector::start();
    let settings = format!("otlp_endpoint = '{}'\n", collector.url());
    let mut server = Server::configured(&rig, "server", &settings);
    let admin = server.first_login(&rig);
    let options = ["--otlp", &collector.url()];
    let _agent = Agent::join_so(&rig, &admin, &server, "web-1", &options);
    let secret = admin.ok(&["token", "create", "caller", "--role", "user"]).trim().to_owned();
    let https = server.https().token(&secret);

    let array = json!({ "name": "many", "range": "1-2", "spec": { "command": ["true"] } });
    let service = json!({ "command": ["true"], "mode": "forever" });
    let cases = [
        ("a", "POST", "task-arrays", array, 201, 2),
        ("b", "PUT", "workloads/web", service, 201, 1),
    ];
    for (digit, method, path, body, status, runs) in cases {
        let trace = digit.repeat(32);
        let parent = format!("00-{trace}-{CALLER}-01");
        let headers = [
            ("traceparent", parent.as_str()),
            ("Content-Type", "application/json"),
            ("Idempotency-Key", path),
        ];
        let path = format!("/api/v1/projects/default/{path}");
        let headers = if method == "POST" { &headers[..] } else { &headers[..2] };
        let made = https.request(method, &path, headers, body.to_string().as_bytes());
        assert!([status, 200].contains(&made.status), "{}", String::from_utf8_lossy(&made.body));
        let spans = until("every part of the trace has arrived", || {
            let spans = collector.trace(&trace);
            let count = |service: &str, name: &str| {
                spans.iter().filter(|span| span.service == service && span.name == name).count()
            };
            let is_whole = count("hostler-server", "request") == 1
                && count("hostler-server", "placement") >= runs
                && count("hostler-agent", "start") >= runs
                && count("hostler-agent", "run") >= runs;
            is_whole.then_some(spans)
        });
        let placed = spans.iter().find(|span| span.name == "placement").unwrap();
        assert_eq!(placed.attributes["hostler.node"], "web-1");
        for span in spans.iter().filter(|span| span.name != "request") {
            assert_eq!(span.parent, placed.parent, "all of them follow from the request");
        }
    }
}
