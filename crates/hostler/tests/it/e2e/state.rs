//! State with the real binary: the command line and its exit codes, what runs, a server that is killed, and two
//! servers on one database.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hostler_api::state::{StateOpBody, StateVerb};
use hostler_client::{Client, ClientConfig};
use hostler_model::default_namespace;
use hostler_trust::SecretString;

use crate::rig::{BINARY, Cli, Database, Rig, Server, until};

fn number(cli: &Cli<'_>, key: &str) -> u64 {
    cli.ok(&["state", "get", key]).trim().parse().unwrap()
}

#[test]
fn the_command_line_does_it_all_and_its_exit_codes_tell() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    let code = |words: &[&str]| cli.run(words).code;
    let state = |words: &[&str]| cli.ok(&[&["state"][..], words].concat());

    state(&["set", "leader", "web-1", "--if-absent"]);
    assert_eq!(state(&["get", "leader"]), "web-1");
    assert_eq!(code(&["state", "set", "leader", "web-2", "--if-absent"]), 5);
    let revision = cli.json(&["state", "get", "leader"])["revision"].to_string();
    state(&["set", "leader", "web-2", "--if-revision", &revision]);
    assert_eq!(code(&["state", "set", "leader", "web-3", "--if-revision", &revision]), 5);
    assert_eq!(code(&["state", "rm", "leader", "--if-revision", &revision]), 5);
    assert_eq!(code(&["state", "get", "nobody"]), 3);
    assert_eq!(code(&["state", "set", "bad\nkey", "x"]), 2);
    cli.run_with(&["state", "set", "-n", "app", "config/db", "-"], "from stdin\n").must(0);
    assert_eq!(state(&["get", "-n", "app", "config/db"]), "from stdin\n");

    let file = rig.path("bytes");
    std::fs::write(&file, b"\0\xff\n").unwrap();
    state(&["set", "bytes", "--file", file.to_str().unwrap()]);
    assert_eq!(cli.json(&["state", "get", "bytes"])["encoding"], "base64");
    std::fs::write(&file, vec![7; (1 << 20) + 1]).unwrap();
    assert_eq!(code(&["state", "set", "bytes", "--file", file.to_str().unwrap()]), 2);

    assert_eq!(state(&["incr", "n"]), "1\n");
    assert_eq!(state(&["incr", "n", "-5"]), "-4\n");
    assert_eq!(code(&["state", "incr", "leader"]), 5);
    assert_eq!(state(&["push", "q", "one", "two"]), "2\n");
    assert_eq!(state(&["push", "q", "--json", "{\"id\": 7}"]), "3\n");
    assert_eq!(state(&["len", "q"]), "3\n");
    assert_eq!(state(&["pop", "q", "--front"]), "one\n");
    assert_eq!(state(&["pop", "q", "--count", "9"]), "{\"id\":7}\ntwo\n");
    assert_eq!(code(&["state", "pop", "q"]), 3);
    assert_eq!(code(&["state", "len", "none"]), 3);
    assert_eq!(state(&["ttl", "leader"]), "never\n");
    state(&["ttl", "leader", "1h"]);
    assert!(state(&["ttl", "leader"]).starts_with("59m59"), "{}", state(&["ttl", "leader"]));
    state(&["ttl", "leader", "never"]);
    let taking = r#"{"compare": [{"if": "absent", "key": "lead"}],
        "then": [{"op": "put", "key": "lead", "value": "a"}],
        "else": [{"op": "get", "key": "lead"}]}"#;
    cli.run_with(&["state", "txn", "-"], taking).must(0);
    let lost = cli.run_with(&["state", "txn", "-"], taking).must(5);
    assert!(lost.text().contains("\"held\": false"), "{}", lost.text());
    assert_eq!(cli.run_with(&["state", "txn", "-"], "{\"then\": 5}").code, 2);

    let history = cli.json(&["state", "history", "leader"]);
    let kinds: Vec<&str> =
        history["items"].as_array().unwrap().iter().map(|i| i["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["touched", "touched", "put", "put"]);
    let listed = cli.json(&["state", "ls", "config/", "-n", "app", "--values"]);
    assert_eq!(listed["items"][0]["value"], "from stdin\n");

    let (mut watch, seen) =
        cli.spawn_split("watch", &["state", "watch", "tick/", "--from", "0", "-o", "json"]);
    state(&["set", "tick/a", "1", "--ttl", "200ms"]);
    until("the watch tells of the end", || {
        let text = std::fs::read_to_string(&seen).unwrap();
        (text.contains("\"put\"") && text.contains("\"expired\"")).then_some(())
    });
    watch.kill();
    assert_eq!(code(&["state", "get", "tick/a"]), 3);

    let spaces = cli.json(&["state", "namespaces"]);
    assert_eq!(spaces["items"][0]["name"], "app");
    state(&["clear", "app", "--yes"]);
    assert_eq!(code(&["state", "clear", "app", "--yes"]), 3);
    assert!(cli.json(&["audit", "ls"]).to_string().contains("state.clear"));
    cli.ok(&["project", "edit", "default", "--quota-state", "200"]);
    let large = "x".repeat(300);
    assert_eq!(code(&["state", "set", "large", &large]), 5);
    let quota = cli.json(&["project", "quota", "default"]);
    let line = quota["items"].as_array().unwrap().iter().find(|l| l["what"] == "state").unwrap();
    assert!(line["used"].as_u64().unwrap() > 0 && line["limit"] == 200, "{line}");
}

#[test]
fn what_runs_writes_state_as_itself() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    cli.ok(&["role", "create", "counter", "--can", "state.read,state.write"]);
    let script =
        format!("{BINARY} state incr runs; {BINARY} state clear default --yes; echo \"$?\"");
    let words = ["task", "submit", "--name", "me", "--wait", "--identity", "counter", "--"];
    cli.run(&[&words[..], &["sh", "-c", &script]].concat()).must(0);
    let said = cli.ok(&["logs", "me"]);
    assert_eq!(said.lines().collect::<Vec<_>>(), ["1", "6"], "{said}");
    let owner = &cli.json(&["state", "get", "runs"])["owner"];
    assert_eq!((owner["kind"].as_str(), owner["name"].as_str()).0, Some("workload"), "{owner}");
}

/// Adds to a counter over streams until told to stop; says how many were answered, and how many nobody knows of.
struct Adders {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicU64>,
    unknown: Arc<AtomicU64>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Adders {
    fn start(configs: &[ClientConfig], count: usize) -> Adders {
        let (stop, answered, unknown) = (Arc::default(), Arc::default(), Arc::default());
        let mut adders = Adders { stop, answered, unknown, threads: Vec::new() };
        for n in 0..count {
            let config = configs[n % configs.len()].clone();
            let (stop, answered, unknown) =
                (adders.stop.clone(), adders.answered.clone(), adders.unknown.clone());
            adders.threads.push(std::thread::spawn(move || {
                let runtime =
                    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(add(config, &stop, &answered, &unknown));
            }));
        }
        adders
    }

    fn wait(&self, more: u64) {
        let goal = self.answered.load(Ordering::SeqCst) + more;
        until("more is answered", || (self.answered.load(Ordering::SeqCst) >= goal).then_some(()));
    }

    fn end(self) -> (u64, u64) {
        self.stop.store(true, Ordering::SeqCst);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        (self.answered.load(Ordering::SeqCst), self.unknown.load(Ordering::SeqCst))
    }
}

async fn add(config: ClientConfig, stop: &AtomicBool, answered: &AtomicU64, unknown: &AtomicU64) {
    let op = || StateOpBody::new(StateVerb::Increment, default_namespace(), "n".parse().unwrap());
    let mut last = 0;
    while !stop.load(Ordering::SeqCst) {
        let client = Client::new(config.clone()).unwrap();
        let Ok(mut caller) = client.state_caller("default").await else {
            tokio::task::yield_now().await;
            continue;
        };
        while !stop.load(Ordering::SeqCst) {
            match caller.call(op(), None).await {
                Ok(answer) => {
                    let number = answer.results[0].number.unwrap();
                    assert!(number > last, "{number} after {last}");
                    last = number;
                    answered.fetch_add(1, Ordering::SeqCst);
                }
                Err(_) => {
                    unknown.fetch_add(1, Ordering::SeqCst);
                    break;
                }
            }
        }
    }
}

pub(super) fn config(server: &Server, cli: &Cli<'_>) -> ClientConfig {
    let token = cli.json(&["token", "create", &server.name, "--role", "admin"]);
    let presented = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(hostler_client::probe(
            &server.url(),
            hostler_base::Clock::system().now(),
            std::time::Duration::from_secs(30),
        ))
        .unwrap();
    let mut config = ClientConfig::new(server.url(), presented.ca_pem);
    config.token = Some(SecretString::new(token["secret"].as_str().unwrap()));
    config
}

/// What was answered is there, and nothing was done twice.
fn check(counted: u64, (answered, unknown): (u64, u64)) {
    assert!(answered > 0);
    assert!(
        (answered..=answered + unknown).contains(&counted),
        "{counted} were counted, {answered} answered, of {unknown} nobody knows"
    );
}

#[test]
fn a_server_that_is_killed_forgets_nothing_that_it_answered() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "one", None);
    let cli = server.first_login(&rig);
    let config = config(&server, &cli);
    let adders = Adders::start(&[config], 4);
    for _ in 0..3 {
        adders.wait(40);
        server.restart(&rig);
    }
    adders.wait(40);
    let told = adders.end();
    check(number(&cli, "n"), told);
    let entry = cli.json(&["state", "get", "n"]);
    assert_eq!(entry["version"].as_u64(), Some(number(&cli, "n")), "each addition is one change");
}

#[test]
fn two_servers_on_one_database_share_it_and_tell_each_other() {
    let rig = Rig::new();
    let Some(database) = Database::create(&rig) else { return };
    let mut one = Server::alone(&rig, "one", Some(&database.url));
    let cli = one.first_login(&rig);
    let mut two = Server::alone(&rig, "two", Some(&database.url));
    let second = two.login(&rig, &[]);
    let configs = [config(&one, &cli), config(&two, &second)];
    let (mut watch, seen) =
        second.spawn_split("watch", &["state", "watch", "--from", "0", "-o", "json"]);
    let adders = Adders::start(&configs, 4);
    adders.wait(60);
    one.restart(&rig);
    adders.wait(60);
    two.process.kill();
    adders.wait(30);
    two.restart(&rig);
    adders.wait(30);
    let told = adders.end();
    let counted = number(&cli, "n");
    check(counted, told);
    assert_eq!(number(&second, "n"), counted);
    until("the watch, which came back by itself, told of all", || {
        let text = std::fs::read_to_string(&seen).unwrap();
        let told = text.lines().filter(|line| line.contains("\"put\"")).count() as u64;
        assert!(told <= counted, "nothing twice");
        (told == counted).then_some(())
    });
    watch.kill();
}
