//! The certificate authority is replaced while requests, nodes and what runs on them go on.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde_json::Value;

use crate::rig::{Agent, Cli, Database, Rig, Server, until};

/// Waits until the new authority issues, and every node but these has come with a certificate of it.
fn renewed(cli: &Cli<'_>, but: &[&str]) {
    until("every node has renewed", || {
        let shown = cli.json(&["ca", "show"]);
        let waiting = names(&shown);
        (shown["phase"] == "renewing" && waiting == but).then_some(())
    });
}

fn names(shown: &Value) -> Vec<String> {
    let waiting = shown["waiting"].as_array().unwrap();
    waiting.iter().map(|node| node["name"].as_str().unwrap().to_owned()).collect()
}

fn present(cli: &Cli<'_>) -> String {
    cli.json(&["ca", "show"])["present"]["fingerprint"].as_str().unwrap().to_owned()
}

#[test]
fn nobody_notices_that_the_authority_is_replaced() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let mut agent = Agent::join(&rig, &cli, &server, "n1");
    let mut late = Agent::join(&rig, &cli, &server, "n2");
    late.process.kill();
    cli.ok(&["task", "submit", "--name", "long", "--node", "n1", "--", "sleep", "600"]);
    let pid = cli.wait_pid("long");
    let old = present(&cli);
    let ticket = Agent::ticket(&cli, &["--name", "n3"]);

    let (is_over, asked) = (AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let https = server.https();
            while !is_over.load(Ordering::SeqCst) {
                assert_eq!(https.get("/livez").status, 200, "with the old authority pinned");
                cli.ok(&["node", "ls"]);
                asked.fetch_add(1, Ordering::SeqCst);
            }
        });
        cli.ok(&["ca", "rotate"]);
        assert_eq!(cli.run(&["ca", "rotate"]).code, 5, "it is under way");
        renewed(&cli, &["n2"]);
        let refused = cli.run(&["ca", "finish"]);
        assert!(refused.code == 5 && refused.err.contains("n2"), "{refused:?}");
        is_over.store(true, Ordering::SeqCst);
    });
    assert!(asked.load(Ordering::SeqCst) > 3);

    // Who was away comes back with its old certificate, and who has an old ticket joins.
    late.restart(&rig);
    renewed(&cli, &[]);
    let third = rig.path("n3");
    Agent::join_with(&rig, &ticket, &server, "n3", &third).must(0);
    let mut third = Agent::start_with(&rig, "n3", &third, &[]);
    cli.wait_node("n3", "online");

    cli.ok(&["ca", "finish"]);
    let new = present(&cli);
    assert_ne!(old, new);
    assert_eq!(cli.wait_pid("long"), pid, "what runs was not touched");
    server.restart(&rig);
    assert_eq!(server.fingerprint, new);
    agent.restart(&rig);
    third.restart(&rig);
    for node in ["n1", "n2", "n3"] {
        cli.wait_node(node, "online");
    }
    assert_eq!(cli.wait_pid("long"), pid);
    let verdict = cli.json(&["audit", "verify"]);
    assert_eq!(verdict["isIntact"], true, "{verdict}");
}

#[test]
fn who_is_away_for_too_long_is_told_to_join_again() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let mut agent = Agent::join(&rig, &cli, &server, "n1");
    agent.process.kill();
    cli.ok(&["ca", "rotate"]);
    server.restart(&rig);
    renewed(&cli, &["n1"]);
    server.restart(&rig);
    assert_eq!(names(&cli.json(&["ca", "show"])), ["n1"]);
    cli.ok(&["ca", "finish", "--force", "--yes"]);
    server.restart(&rig);

    let mut cut_off = Agent::start_with(&rig, "n1", &agent.data_dir, &[]);
    cut_off.process.line(&["join again", "--force"]);
    cut_off.process.kill();
    let ticket = Agent::ticket(&cli, &["--name", "n1-again"]);
    let (url, dir) = (server.url(), agent.data_dir.to_str().unwrap().to_owned());
    let place = ["--server", &url, "--name", "n1-again", "--data-dir", &dir, "--force"];
    Cli::new(&rig).run_with(&[&["agent", "join", "-"], &place[..]].concat(), &ticket).must(0);
    let _again = Agent::start_with(&rig, "n1", &agent.data_dir, &[]);
    cli.wait_node("n1-again", "online");
}

#[test]
fn two_servers_replace_the_authority_together() {
    let rig = Rig::new();
    let Some(database) = Database::create(&rig) else { return };
    let mut one = Server::alone(&rig, "one", Some(&database.url));
    let cli = one.first_login(&rig);
    let two = Server::alone(&rig, "two", Some(&database.url));
    let other = two.login(&rig, &[]);
    let _first = Agent::join(&rig, &cli, &one, "n1");
    let _second = Agent::join(&rig, &other, &two, "n2");
    cli.ok(&["ca", "rotate"]);
    until("the other server knows", || {
        (other.json(&["ca", "show"])["phase"] != "stable").then_some(())
    });
    renewed(&other, &[]);
    one.restart(&rig);
    other.ok(&["ca", "finish"]);
    until("both have dropped it", || {
        let phases = [&cli, &other].map(|cli| cli.json(&["ca", "show"])["phase"].clone());
        (phases == ["stable", "stable"]).then_some(())
    });
    for cli in [&cli, &other] {
        cli.wait_node("n1", "online");
        cli.wait_node("n2", "online");
        cli.ok(&["run", "--", "true"]);
    }
}
