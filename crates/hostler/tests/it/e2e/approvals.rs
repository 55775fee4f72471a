//! Approvals as people meet them: who asks waits, another agrees to exactly that, and everybody is told.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::rig::{Agent, Cli, PASSWORD, Rig, Server, until, until_within};

/// What nobody decides on is looked at every few seconds, once its minute is over.
const EXPIRY: Duration = Duration::from_secs(120);

/// What a webhook was told, in the order in which it came.
pub type Told = Arc<Mutex<Vec<Value>>>;

pub fn webhook() -> (u16, Told) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let told = Told::default();
    let kept = Arc::clone(&told);
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
            if let Ok(body) = serde_json::from_str(&body) {
                kept.lock().unwrap().push(body);
            }
            let _gone = stream.write_all(b"HTTP/1.1 204 Taken\r\n\r\n");
        }
    });
    (port, told)
}

/// A server that tells the webhook everything from now on.
fn installation(rig: &Rig) -> (Server, Cli<'_>, Told) {
    let (port, told) = webhook();
    let settings = format!(
        "[egress]\nallow = ['127.0.0.1:{port}']\n[approvals]\nwebhook = 'http://127.0.0.1:{port}/hook'\n"
    );
    let mut server = Server::configured(rig, "server", &settings);
    let admin = server.first_login(rig);
    let made = admin.json(&["token", "create", "raw", "--role", "admin"]);
    let https = server.https().token(made["secret"].as_str().unwrap());
    let pass = "hostler_reconciler_passes_total{reconciler=\"approval_notice\",outcome=\"ok\"}";
    until("the webhook is known", || {
        let scraped = String::from_utf8(https.get("/metrics").body).unwrap();
        scraped.contains(pass).then_some(())
    });
    (server, admin, told)
}

/// Somebody with a password and a role in the default project, who has logged in.
pub fn person<'a>(
    rig: &'a Rig,
    server: &Server,
    admin: &Cli<'_>,
    name: &str,
    role: &str,
) -> Cli<'a> {
    admin.run_with(&["user", "create", name, "--password-stdin"], PASSWORD).must(0);
    admin.ok(&["project", "grant", "default", name, role]);
    let url = server.url();
    let place = ["login", &url, "--context", name, "--fingerprint", &server.fingerprint];
    let words = [&place[..], &["--name", name, "--password-stdin"]].concat();
    Cli::new(rig).run_with(&words, PASSWORD).must(0);
    Cli::new(rig).context(name)
}

/// The newest request of somebody.
fn newest(cli: &Cli<'_>) -> String {
    let mine = cli.json(&["approval", "ls", "--mine"]);
    mine["items"][0]["id"].as_str().unwrap().to_owned()
}

fn state(cli: &Cli<'_>, id: &str) -> Value {
    cli.json(&["approval", "show", id])["state"].clone()
}

/// What the webhook was told of a request.
fn told_of(told: &Told, id: &str) -> Vec<String> {
    let told = told.lock().unwrap();
    let about = told.iter().filter(|body| body["approval"]["id"] == id);
    about.map(|body| body["kind"].as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn until_told(told: &Told, id: &str, kinds: &[&str]) {
    until(&format!("the webhook is told {kinds:?}"), || (told_of(told, id) == kinds).then_some(()));
}

#[test]
fn a_task_runs_when_others_agreed_and_not_before() {
    let rig = Rig::new();
    let (server, admin, told) = installation(&rig);
    let _agent = Agent::join(&rig, &admin, &server, "n1");
    let ada = person(&rig, &server, &admin, "ada", "user");
    let [olga, otto, oskar] =
        ["olga", "otto", "oskar"].map(|name| person(&rig, &server, &admin, name, "operator"));
    let set = ["approval", "policy", "set"];
    let tasks = ["tasks", "--verb", "task.submit", "--exempt", "role:operator"];
    ada.run(&[&set[..], &tasks[..]].concat()).must(6);
    admin.ok(&[&set[..], &tasks[..]].concat());
    let pairs = ["pairs", "--verb", "task.submit", "--tag", "pair", "--approvals", "2"];
    admin.ok(&[&set[..], &pairs[..]].concat());
    let late = ["late", "--verb", "task.submit", "--tag", "late", "--request-ttl", "1m"];
    admin.ok(&[&set[..], &late[..]].concat());

    // Nobody will decide on this one.
    ada.ok(&["task", "submit", "--name", "late", "--tag", "late", "--", "true"]);
    let forgotten = newest(&ada);

    let words = ["task", "submit", "--name", "held", "--", "echo", "it ran"];
    let submitted = ada.run(&words).must(0);
    assert!(submitted.err.contains("it waits for an approval"), "{}", submitted.err);
    assert_eq!(ada.task("held")["status"]["state"], "pending_approval");
    let id = newest(&ada);
    let why = ada.json(&["task", "explain", "held"]);
    let hints = why["hints"].to_string();
    assert!(hints.contains("whoever has approval.decide (operators)"), "{why}");
    assert!(hints.contains(&format!("hostler approval approve {id}")), "{why}");
    assert!(ada.ok(&["task", "explain", "held"]).contains("policy tasks"));

    let own = ada.run(&["approval", "approve", &id]).must(6);
    assert!(own.err.contains("you asked for it yourself"), "{}", own.err);
    let waiting = olga.json(&["approval", "ls", "--to-decide"]);
    let waiting = waiting["items"].as_array().unwrap();
    let request = waiting.iter().find(|item| item["id"] == id.as_str()).expect("it is listed");
    assert_eq!(request["requestedBy"], "ada", "{request}");
    assert_eq!(request["isDecidable"], true, "{request}");
    let digest = request["digest"].as_str().unwrap();
    let other = "0".repeat(64);
    olga.run(&["approval", "approve", &id, "--digest", &other]).must(5);
    assert_eq!(ada.task("held")["status"]["state"], "pending_approval");
    let decide = ["approval", "approve", &id, "--digest", digest, "--reason", "looks fine"];
    let decided = olga.json(&decide);
    assert_eq!(decided["state"], "used", "{decided}");
    assert_eq!(decided["decisions"][0]["reason"], "looks fine", "{decided}");
    ada.ok(&["wait", "held"]);
    assert_eq!(ada.ok(&["logs", "held"]), "it ran\n");
    olga.run(&["approval", "approve", &id]).must(5);
    until_told(&told, &id, &["approval.requested", "approval.approved", "approval.used"]);

    ada.ok(&["task", "submit", "--name", "denied", "--", "true"]);
    let id = newest(&ada);
    olga.run(&["approval", "deny", &id]).must(2);
    let denied = olga.json(&["approval", "deny", &id, "--reason", "not on a Friday"]);
    assert_eq!(denied["state"], "denied", "{denied}");
    let rejected = ada.task("denied");
    assert_eq!(rejected["status"]["state"], "rejected", "{rejected}");
    let message = rejected["status"]["message"].as_str().unwrap();
    assert!(message.contains("denied by olga: not on a Friday"), "{message}");
    until_told(&told, &id, &["approval.requested", "approval.denied"]);

    // Operators need no approval for tasks, but two of them for these; one's own voice is none.
    olga.ok(&["run", "--", "true"]);
    olga.ok(&["task", "submit", "--name", "both", "--tag", "pair", "--", "true"]);
    let id = newest(&olga);
    olga.run(&["approval", "approve", &id]).must(6);
    assert_eq!(otto.json(&["approval", "approve", &id])["state"], "waiting");
    let twice = otto.run(&["approval", "approve", &id]).must(5);
    assert!(twice.err.contains("another person has to agree too"), "{}", twice.err);
    assert_eq!(olga.task("both")["status"]["state"], "pending_approval");
    assert_eq!(oskar.json(&["approval", "approve", &id])["state"], "used");
    olga.ok(&["wait", "both"]);

    until_within(EXPIRY, "its minute is over", || {
        (state(&ada, &forgotten) == "expired").then_some(())
    });
    let rejected = ada.wait_state("late", "rejected");
    let message = rejected["status"]["message"].as_str().unwrap();
    assert!(message.contains("nobody decided in time"), "{message}");
    olga.run(&["approval", "approve", &forgotten]).must(5);
    until_told(&told, &forgotten, &["approval.requested", "approval.expired"]);
    assert!(!format!("{told:?}").contains("it ran"), "what will run is nobody's business there");
    assert_eq!(admin.json(&["audit", "verify"])["isIntact"], true);
}

#[test]
fn an_approval_is_for_what_was_approved_and_not_for_what_became_of_it() {
    let rig = Rig::new();
    let (server, admin, told) = installation(&rig);
    let ada = person(&rig, &server, &admin, "ada", "user");
    let olga = person(&rig, &server, &admin, "olga", "operator");
    admin.ok(&["approval", "policy", "set", "services", "--verb", "workload.apply"]);
    let file = |name: &str, command: &str| {
        let path = rig.path(name);
        std::fs::write(&path, format!("name: web\nmode: forever\ncommand: [{command}]\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (good, evil) = (file("good.yaml", "serve"), file("evil.yaml", "steal"));
    let apply = |cli: &Cli<'_>, file: &str, more: &[&str]| {
        cli.run(&[&["workload", "apply", "-f", file], more].concat())
    };

    let held = apply(&ada, &good, &[]).must(7);
    let id = newest(&ada);
    assert!(held.err.contains(&format!("--approval {id}")), "{}", held.err);
    apply(&ada, &good, &["--approval", &id]).must(7);
    ada.run(&["workload", "get", "web"]).must(3);
    assert_eq!(olga.json(&["approval", "approve", &id])["state"], "approved");

    let edited = apply(&ada, &evil, &["--approval", &id]).must(7);
    assert!(edited.err.contains("is for something else"), "{}", edited.err);
    let refused = admin.json(&["audit", "ls", "--action", "approval.refuse"]);
    assert_eq!(refused["items"][0]["actor"]["name"], "ada", "{refused}");
    assert_eq!(refused["items"][0]["object"]["id"], id.as_str(), "{refused}");
    apply(&ada, &evil, &[]).must(7);
    let second = newest(&ada);
    assert_ne!(second, id, "what was edited is another request");
    assert_eq!(state(&ada, &second), "waiting");
    let stolen = apply(&olga, &good, &["--approval", &id]).must(3);
    assert!(stolen.err.contains("approval"), "{}", stolen.err);

    apply(&ada, &good, &["--approval", &id]).must(0);
    assert_eq!(ada.json(&["workload", "get", "web"])["spec"]["command"][0], "serve");
    assert_eq!(state(&ada, &id), "used");
    let reason = "the shop is down, nobody else is awake";
    apply(&ada, &evil, &["--break-glass", reason]).must(6);
    apply(&admin, &evil, &["--break-glass", reason]).must(0);
    assert_eq!(ada.json(&["workload", "get", "web"])["spec"]["command"][0], "steal");
    let replayed = apply(&ada, &good, &["--approval", &id]).must(7);
    assert!(replayed.err.contains("is used"), "{}", replayed.err);
    assert_eq!(ada.json(&["workload", "get", "web"])["spec"]["command"][0], "steal");

    let events = admin.json(&["event", "ls", "--kind", "approval.break-glass"]);
    let events = events["items"].as_array().unwrap();
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(events[0]["message"].as_str().unwrap().contains(reason), "{events:?}");
    let entries = admin.json(&["audit", "ls", "--action", "approval.break-glass"]);
    let entries = entries["items"].as_array().unwrap();
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0]["actor"]["name"], "admin", "{entries:?}");
    assert_eq!(entries[0]["detail"]["reason"], reason, "{entries:?}");
    assert!(server.process.log().contains("done without the approval that it needs"));
    until("the webhook is told of the glass", || {
        let told = told.lock().unwrap();
        let loud = told.iter().find(|body| body["kind"] == "approval.break-glass")?;
        assert_eq!(loud["severity"], "warning", "{loud}");
        Some(())
    });
    until_told(&told, &id, &["approval.requested", "approval.approved", "approval.used"]);

    ada.ok(&["approval", "withdraw", &second]);
    assert_eq!(state(&ada, &second), "withdrawn");
    admin.ok(&["approval", "policy", "rm", "services", "--yes"]);
    apply(&ada, &good, &[]).must(0);
    assert_eq!(admin.json(&["audit", "verify"])["isIntact"], true);
}
