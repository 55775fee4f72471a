//! What is secret of stacks, on the real binary: a canary goes in as a hidden parameter and is looked for in everything that a server
//! tells, keeps, sends and writes; and stacks that others have to agree to, on the command line and with Heat's API.

use serde_json::{Value, json};

use super::approvals::{person, webhook};
use super::backup::make_key;
use super::secrets::{CANARY, assert_not_on_disk, has_any, needles};
use crate::rig::{Agent, Cli, Collector, Https, Rig, Server, until};
use rustix::process::Signal;

const TEMPLATE: &str = "heat_template_version: 2021-04-16
parameters:
  key: { type: string, hidden: true }
  word: { type: string, default: open }
resources:
  secret: { type: Hostler::Secret, properties: { name: stack-db, value: { get_param: key } } }
  service:
    type: Hostler::Workload
    properties:
      name: given
      command: [sh, -c, 'echo it is $DB; exec sleep 100000']
      secrets: [{ secret: { get_resource: secret }, env: DB }]
  value:
    type: OS::Heat::Value
    properties: { value: { get: { get_param: key } } }
    metadata: { said: { get_param: key } }
  below: { type: inner.yaml, properties: { given: { get_param: key } } }
  made: { type: OS::Heat::RandomString }
outputs:
  whole: { value: { get_param: key } }
  part: { value: { list_join: ['-', [{ get_param: word }, { get_attr: [below, back] }]] } }
  made: { value: { get_attr: [made, value] } }
";
const INNER: &str = "heat_template_version: 2021-04-16
parameters: { given: { type: string } }
resources:
  in: { type: OS::Heat::TestResource, properties: { value: { get_param: given } }, metadata: { m: { get_param: given } } }
outputs: { back: { value: { get_attr: [in, output] } } }
";
/// What the template has besides, so that it fails and says why.
const FAILING: &str = "  bad:
    type: OS::Heat::Value
    properties: { type: number, value: { get_attr: [value, value, get] } }
  worse:
    type: Hostler::StateEntry
    depends_on: below
    properties: { key: { get_attr: [value, value, get] }, value: x }
outputs:
";

fn write(rig: &Rig, name: &str, text: &str) -> String {
    let path = rig.path(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// A server that speaks Heat's API, and where.
fn heat_server(rig: &Rig, more: &str) -> (Server, Https) {
    let settings = format!(
        "log_filter = 'info,hostler_server=debug,hostler_control=debug'\n{more}\n[stacks.heat]\nenabled = true\nlisten = '127.0.0.1:0'\n"
    );
    let mut server = Server::configured(rig, "server", &settings);
    let line = server.process.line(&["the API of Heat is served"]);
    let address = line.split_once("address=").unwrap().1.split_ascii_whitespace().next().unwrap();
    let heat = Https::new(address.parse().unwrap(), &server.fingerprint);
    (server, heat)
}

fn token(cli: &Cli<'_>, name: &str, role: &str) -> String {
    cli.ok(&["token", "create", name, "--role", role]).trim().to_owned()
}

/// Everything that the command line tells of a stack.
fn told(cli: &Cli<'_>, stack: &str, sinks: &mut Vec<(String, String)>) {
    for words in [
        &["show", stack][..],
        &["outputs", stack],
        &["resources", stack, "--nested", "5"],
        &["resource", stack, "value"],
        &["resource", stack, "below"],
        &["resource", stack, "secret"],
        &["resource", stack, "made"],
        &["events", stack, "--nested", "5"],
        &["history", stack],
        &["snapshot", "ls", stack],
        &["deps", "show", stack],
        &["graph", stack],
    ] {
        let words = [&["stack"], words, &["-o", "json"]].concat();
        let said = cli.run(&words).must(0);
        sinks.push((words.join(" "), format!("{}{}", said.text(), said.err)));
    }
    for words in [&["validate", stack][..], &["drift", "show", stack]] {
        let words = [&["stack"], words, &["-o", "json"]].concat();
        let said = cli.run(&words);
        sinks.push((words.join(" "), format!("{}{}", said.text(), said.err)));
    }
}

/// Everything that Heat's API tells of a stack.
fn heat_told(heat: &Https, stack: &str, id: &str, sinks: &mut Vec<(String, String)>) {
    let one = format!("/v1/default/stacks/{stack}/{id}");
    let parts = [
        "",
        "/template",
        "/environment",
        "/files",
        "/outputs",
        "/outputs/whole",
        "/outputs/part",
        "/resources",
        "/resources?nested_depth=5",
        "/resources/value",
        "/resources/made",
        "/resources/value/metadata",
        "/events",
        "/events?nested_depth=5",
        "/snapshots",
    ];
    let all = ["/v1/default/stacks".to_owned(), "/v1/default/stacks/detail".to_owned()];
    for path in all.into_iter().chain(parts.map(|part| format!("{one}{part}"))) {
        let reply = heat.get(&path);
        assert_eq!(reply.status, 200, "{path}: {}", String::from_utf8_lossy(&reply.body));
        sinks.push((path, String::from_utf8_lossy(&reply.body).into_owned()));
    }
    let path = format!("{one}/export");
    assert_eq!(heat.get(&path).status, 403, "{path}");
}

#[test]
fn a_canary_in_a_stack_is_found_in_no_sink() {
    let rig = Rig::new();
    let (collector, (port, hooked)) = (Collector::start(), webhook());
    let settings =
        format!("otlp_endpoint = '{}'\n[egress]\nallow = ['127.0.0.1:{port}']\n", collector.url());
    let (mut server, heat) = heat_server(&rig, &settings);
    let admin = server.first_login(&rig);
    let _agent = Agent::join(&rig, &admin, &server, "node-1");
    let (seer, doer) = (token(&admin, "seer", "viewer"), token(&admin, "doer", "user"));
    let viewer = Cli::new(&rig).context("server").token(&seer);
    let url = format!("http://127.0.0.1:{port}/in");
    admin.ok(&["hook", "add", "all", "--on", "*", "--webhook", &url]);
    let (file, inner) = (write(&rig, "web.yaml", TEMPLATE), write(&rig, "inner.yaml", INNER));
    assert!(inner.ends_with("inner.yaml"));
    let given = ["--parameter-file", "key=-"];
    let apply = |file: &str, name: &str, more: &[&str]| {
        let first = ["stack", "apply", file, "--name", name, "--yes"];
        admin.run_with(&[&first[..], &given, more].concat(), CANARY)
    };
    let mut sinks = Vec::new();
    let planned =
        admin.run_with(&[&["stack", "plan", &file, "-o", "json"][..], &given].concat(), CANARY);
    sinks.push(("plan".to_owned(), planned.must(10).text()));
    let said = apply(&file, "web", &["-m", "ticket 4711"]).must(0);
    sinks.push((
        "apply of a viewer".to_owned(),
        viewer.run(&["stack", "export", "web"]).must(6).err,
    ));
    assert!(said.err.contains("create complete"), "{}", said.err);
    assert_eq!(admin.ok(&["stack", "outputs", "web", "whole"]).trim_end(), CANARY, "it is there");
    until("the workload was given it", || {
        admin.ok(&["workload", "logs", "given"]).contains("it is [secret:stack-db]").then_some(())
    });
    admin.ok(&["stack", "snapshot", "create", "web", "--name", "kept", "-q"]);
    admin.run(&["stack", "drift", "detect", "web"]).must(0);
    let failing = write(
        &rig,
        "bad.yaml",
        &TEMPLATE
            .replace("outputs:\n", FAILING)
            .replace("stack-db", "other-db")
            .replace("name: given", "name: other"),
    );
    let failed = apply(&failing, "bad", &["-o", "json"]).must(4);
    assert!(failed.err.contains("******") || failed.text().contains("******"), "{}", failed.err);
    sinks.push(("apply".to_owned(), failed.err));
    let wrong = TEMPLATE.replace(
        "{ type: OS::Heat::RandomString }",
        "{ type: OS::Heat::RandomString, properties: { length: { get_param: key } } }",
    );
    let refused = apply(&write(&rig, "wrong.yaml", &wrong), "wrong", &[]).must(2);
    sinks.push(("refusal".to_owned(), refused.err));

    // With Heat's API: made by who may, read by who may only look.
    let body = json!({ "stack_name": "heat", "template": TEMPLATE.replace("stack-db", "heat-db").replace("name: given", "name: heat-given"),
        "files": { "inner.yaml": INNER }, "parameters": { "key": CANARY } });
    let maker = heat.token(&doer);
    let made = maker.post("/v1/default/stacks", &body.to_string());
    assert_eq!(made.status, 201, "{}", String::from_utf8_lossy(&made.body));
    let id = made.json()["stack"]["id"].as_str().unwrap().to_owned();
    until("the stack of Heat is made", || {
        let status = admin.json(&["stack", "show", "heat"])["standing"]["status"].clone();
        (status == "complete").then_some(())
    });
    let preview = json!({ "stack_name": "never", "template": body["template"], "files": body["files"], "parameters": body["parameters"] });
    let reply = maker.post("/v1/default/stacks/preview", &preview.to_string());
    assert_eq!(reply.status, 200);
    sinks.push(("preview".to_owned(), String::from_utf8_lossy(&reply.body).into_owned()));
    heat_told(&heat.token(&seer), "heat", &id, &mut sinks);
    let bad = admin.json(&["stack", "show", "bad"])["id"].as_str().unwrap().to_owned();
    let reply =
        heat.token(&seer).get(&format!("/v1/default/stacks/bad/{bad}/events?nested_depth=5"));
    sinks.push((
        "events of what failed".to_owned(),
        String::from_utf8_lossy(&reply.body).into_owned(),
    ));

    for stack in ["web", "bad", "heat"] {
        told(&viewer, stack, &mut sinks);
    }
    for (one, other) in [("v1", "now"), ("now", "v1")] {
        let path = format!("/api/v1/projects/default/stacks/web/compare?from={one}&to={other}");
        let reply = server.https().token(&seer).get(&path);
        assert_eq!(reply.status, 200);
        sinks.push((path, String::from_utf8_lossy(&reply.body).into_owned()));
    }
    for path in [
        "stacks/web/definition",
        "stacks/web/definition?revision=1",
        "stack-plans",
        "stacks/web/drift",
    ] {
        let reply = server.https().token(&seer).get(&format!("/api/v1/projects/default/{path}"));
        assert_eq!(reply.status, 200, "{path}");
        sinks.push((path.to_owned(), String::from_utf8_lossy(&reply.body).into_owned()));
    }
    for words in [
        &["event", "ls"][..],
        &["audit", "ls"],
        &["hook", "log", "all"],
        &["workload", "get", "given"],
        &["secret", "ls"],
        &["debug", "reconcilers"],
        &["approval", "ls"],
    ] {
        sinks.push((words.join(" "), admin.json(words).to_string()));
    }
    let root = token(&admin, "root", "admin");
    let metrics = server.https().token(&root).get("/metrics").body;
    sinks.push(("metrics".to_owned(), String::from_utf8(metrics).unwrap()));
    until("the hook was told of stacks", || {
        let told = format!("{:?}", hooked.lock().unwrap());
        (told.contains("stack.failed") && told.contains("stack.completed")).then_some(())
    });
    sinks.push(("hooks".to_owned(), format!("{:?}", hooked.lock().unwrap())));
    until("there are traces", || (!collector.all().is_empty()).then_some(()));
    let spans: Vec<String> =
        collector.all().iter().map(|span| format!("{} {:?}", span.name, span.attributes)).collect();
    sinks.push(("traces".to_owned(), spans.join("\n")));
    let needles = needles(CANARY);
    for (what, text) in &sinks {
        assert!(!has_any(text.as_bytes(), &needles), "the secret is in {what}: {text}");
    }
    assert!(sinks.iter().any(|(_, text)| text.contains("******")), "it was hidden somewhere");
    assert!(admin.json(&["stack", "history", "web"])["items"][0]["reason"] == "ticket 4711");

    let backup = rig.path("all.backup").display().to_string();
    let key = make_key(&rig, "backup.key", "Q");
    admin.run(&["backup", "create", &backup, "--key-file", &key]).must(0);
    assert_not_on_disk(&rig, &needles);
    for stack in ["web", "bad", "heat"] {
        admin.ok(&["stack", "rm", stack, "--yes", "-q"]);
    }
    server.process.signal(Signal::ABORT);
    until("the server has crashed", || server.process.ended());
    assert_not_on_disk(&rig, &needles);
}

#[test]
fn a_stack_waits_for_others_on_the_command_line_and_with_heat() {
    let rig = Rig::new();
    let (mut server, heat) = heat_server(&rig, "");
    let admin = server.first_login(&rig);
    let ada = person(&rig, &server, &admin, "ada", "user");
    let olga = person(&rig, &server, &admin, "olga", "operator");
    admin.ok(&[
        "approval",
        "policy",
        "set",
        "stacks",
        "--verb",
        "stack.apply,stack.remove",
        "--exempt",
        "role:admin",
    ]);
    let text = "heat_template_version: 2021-04-16\nparameters: { key: { type: string, hidden: true, default: held-canary } }\nresources: { a: { type: OS::Heat::Value, properties: { value: { get_param: key } } } }\n";
    let file = write(&rig, "web.yaml", text);
    let apply = ["stack", "apply", &file, "--yes", "-m", "ticket 4711"];
    let newest =
        |cli: &Cli<'_>| -> Value { cli.json(&["approval", "ls", "--mine"])["items"][0].clone() };
    let refused = ada.run(&apply).must(7);
    assert!(refused.err.contains("--approval"), "{}", refused.err);
    let asked = newest(&ada);
    let id = asked["id"].as_str().unwrap().to_owned();
    let shown = olga.ok(&["approval", "show", &id]);
    assert!(shown.contains("OS::Heat::Value") && !shown.contains("held-canary"), "{shown}");
    olga.ok(&["approval", "approve", &id]);
    let edited =
        write(&rig, "edited.yaml", &text.replace("OS::Heat::Value", "OS::Heat::TestResource"));
    ada.run(&[
        "stack",
        "apply",
        &edited,
        "--name",
        "web",
        "--yes",
        "-m",
        "ticket 4711",
        "--approval",
        &id,
    ])
    .must(7);
    ada.run(&[&apply[..], &["--approval", &id]].concat()).must(0);
    let history = ada.json(&["stack", "history", "web"]);
    assert_eq!(history["items"][0]["reason"], "ticket 4711", "{history}");

    ada.run(&["stack", "rm", "web", "--yes", "-m", "moved"]).must(7);
    let id = newest(&ada)["id"].as_str().unwrap().to_owned();
    olga.ok(&["approval", "approve", &id]);
    ada.run(&["stack", "rm", "web", "--yes", "-m", "moved", "--approval", &id]).must(0);
    let audit = admin.json(&["audit", "ls"]).to_string();
    assert!(audit.contains("\"reason\":\"moved\""), "{audit}");

    // Programs for Heat cannot name an approval: they ask again.
    let doer = heat.token(&token(&ada, "doer", "user"));
    let body = json!({ "stack_name": "heat", "template": text }).to_string();
    let held = doer.post("/v1/default/stacks", &body);
    assert_eq!(held.status, 403, "{}", String::from_utf8_lossy(&held.body));
    let fault = held.json();
    assert_eq!(fault["error"]["type"], "Forbidden");
    assert!(fault["error"]["message"].as_str().unwrap().contains("needs an approval"), "{fault}");
    assert_eq!(doer.post("/v1/default/stacks", &body).status, 403, "nobody agreed yet");
    let id = newest(&ada)["id"].as_str().unwrap().to_owned();
    olga.ok(&["approval", "approve", &id]);
    let other = body.replace("OS::Heat::Value", "OS::Heat::TestResource");
    assert_eq!(doer.post("/v1/default/stacks", &other).status, 403, "that is something else");
    let made = doer.post("/v1/default/stacks", &body);
    assert_eq!(made.status, 201, "{}", String::from_utf8_lossy(&made.body));
}
