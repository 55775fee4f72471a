//! The machines of nodes: looked at and changed through the real binary, one and many at once.

use serde_json::{Value, json};

use crate::rig::{Agent, Cli, Rig, Server, until};

const PATIENCE: &str = "heartbeat = \"200ms\"\n[patience]\nstale_after = \"5s\"\noffline_after = \"6s\"\nlost_after = \"10m\"\n";

fn answer<'a>(told: &'a Value, node: &str) -> &'a Value {
    let items = told["items"].as_array().unwrap();
    items.iter().find(|item| item["node"] == node).unwrap_or_else(|| panic!("{node} in {told}"))
}

fn result(cli: &Cli<'_>, words: &[&str]) -> Value {
    let told = cli.json(words);
    let answer = answer(&told, "local");
    assert_eq!(answer["state"], "ok", "{told}");
    answer["result"].clone()
}

#[test]
fn a_machine_is_looked_at() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);

    // What this machine is depends on where the test runs; that it is told does not.
    let health = cli.run(&["node", "health", "local", "-o", "json"]);
    assert!([0, 4].contains(&health.code), "{}", health.err);
    let health: Value = serde_json::from_slice(&health.out).unwrap();
    let health = &answer(&health, "local")["result"];
    assert!(["ok", "warning", "critical"].contains(&health["level"].as_str().unwrap()));
    assert!(health["vitals"]["cores"].as_u64().unwrap() > 0);
    assert!(health["vitals"]["certificateExpires"].is_string());
    let findings = health["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["about"] != "clock"), "{findings:?}");

    let disks = result(&cli, &["node", "disk", "local"]);
    let mounts = disks["mounts"].as_array().unwrap();
    assert!(mounts.iter().any(|mount| mount["point"] == "/"), "{disks}");
    let big = rig.path("big");
    std::fs::create_dir(&big).unwrap();
    std::fs::write(big.join("large"), vec![1; 2 << 20]).unwrap();
    std::fs::write(big.join("small"), vec![1; 10]).unwrap();
    let largest = ["node", "disk", "local", "--largest", big.to_str().unwrap(), "-n", "1"];
    let found = result(&cli, &largest);
    assert_eq!(found["largest"][0]["path"], json!(big.join("large")));
    assert!(cli.ok(&largest).contains("large"));

    let users = result(&cli, &["node", "users", "ls", "local"]);
    assert_eq!(users["users"][0]["name"], "root");
    let services = result(&cli, &["node", "services", "ls", "local"]);
    assert!(services["init"] == "systemd" || services["note"].is_string(), "{services}");
    let packages = cli.run(&["node", "packages", "ls", "local", "-o", "json"]);
    match packages.code {
        0 => {
            let told: Value = serde_json::from_slice(&packages.out).unwrap();
            assert!(answer(&told, "local")["result"]["total"].as_u64().unwrap() > 0, "{told}");
        }
        _ => assert!(packages.must(4).err.contains("no package manager")),
    }

    for (words, code, why) in [
        (vec!["node", "health"], 2, "which nodes are meant"),
        (vec!["node", "health", "local", "--all"], 2, "say either"),
        (vec!["node", "health", "nobody"], 3, "nobody"),
        (vec!["node", "health", "-l", "zone=moon"], 3, "no node is meant"),
        (vec!["node", "logs", "local", "--file", "/etc/shadow"], 4, "/var/log"),
        (vec!["node", "logs", "local", "--file", "/var/log/../../etc/shadow"], 4, "leads out"),
        (vec!["node", "logs", "local", "--file", "no-such-log"], 4, "no-such-log"),
        (vec!["node", "logs", "local", "--grep", "("], 4, "regular expression"),
        (vec!["node", "disk", "local", "--largest", "relative"], 4, "begins with"),
        (vec!["node", "disk", "local", "--largest", "/nowhere/at/all"], 4, "/nowhere/at/all"),
    ] {
        let refused = cli.run(&words).must(code);
        assert!(refused.err.contains(why), "{words:?}: {}", refused.err);
        assert!(!refused.text().contains("root:"), "{words:?}");
    }
}

#[test]
fn only_the_process_that_is_meant_is_ended_and_everybody_can_know_who_did_it() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    // In the directory of the rig, which ends whatever is left there.
    #[expect(clippy::disallowed_methods, reason = "something to be ended, which is no workload")]
    let mut sleep = std::process::Command::new("sleep");
    let mut child = sleep.arg("86399").current_dir(&rig.dir).spawn().unwrap();
    let pid = child.id().to_string();

    let found = result(&cli, &["node", "processes", "ls", "local", "--filter", "sleep 86399"]);
    let found = found["processes"].as_array().unwrap();
    let seen = found.iter().find(|process| process["pid"] == child.id()).unwrap();
    assert_eq!((&seen["name"], &seen["command"]), (&json!("sleep"), &json!("sleep 86399")));

    let kill = ["node", "processes", "kill", "local", &pid];
    let other = cli.run(&[&kill[..], &["--name", "nginx"]].concat()).must(4);
    assert!(other.err.contains("is `sleep`"), "{}", other.err);
    let checked = cli.run(&[&kill[..], &["--check"]].concat()).must(10);
    assert!(checked.text().contains("would change"), "{}", checked.text());
    assert!(child.try_wait().unwrap().is_none(), "a check does nothing");

    let done = result(&cli, &kill);
    assert_eq!(done["outcome"]["changed"], true);
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    let gone = cli.run(&kill).must(4);
    assert!(gone.err.contains("there is no process"), "{}", gone.err);

    let operation = done["operation"].as_str().unwrap();
    let shown = cli.json(&["operation", "get", operation]);
    assert_eq!(
        (&shown["state"], &shown["plan"]["kind"]),
        (&json!("succeeded"), &json!("node-deed"))
    );
    let events = cli.json(&["event", "ls", "--kind", "node.administered"]);
    let message = events["items"][0]["message"].as_str().unwrap();
    assert!(message.contains("SIGTERM"), "{message}");
    let audit = cli.json(&["audit", "ls"]);
    let entries = audit["items"].as_array().unwrap();
    let of = |action: &str| {
        let found = entries.iter().find(|entry| entry["action"] == action);
        found.unwrap_or_else(|| panic!("{action} in {audit}"))
    };
    assert_eq!(of("node.administer")["detail"]["operation"], operation);
    let outcome = of("node.administered");
    assert_eq!(outcome["detail"]["operation"], operation);
    assert!(outcome["digestBefore"].is_string() && outcome["digestAfter"].is_string(), "{outcome}");
    assert_ne!(outcome["digestBefore"], outcome["digestAfter"]);
    cli.ok(&["audit", "verify"]);
}

#[test]
fn many_are_asked_at_once_and_who_is_away_is_not_waited_for() {
    let rig = Rig::new();
    let mut server = Server::configured(&rig, "server", PATIENCE);
    let cli = server.first_login(&rig);
    let _here = Agent::join(&rig, &cli, &server, "here");
    let mut away = Agent::join(&rig, &cli, &server, "away");
    for node in ["here", "away"] {
        cli.ok(&["node", "label", node, "role=web"]);
    }
    away.process.kill();
    until("the node is known to be away", || {
        let node = cli.json(&["node", "get", "away"]);
        (node["state"] != "online").then_some(())
    });

    let told = cli.run(&["node", "users", "ls", "-l", "role=web", "-o", "json"]).must(8);
    let both: Value = serde_json::from_slice(&told.out).unwrap();
    assert_eq!(answer(&both, "here")["state"], "ok");
    assert_eq!(answer(&both, "away")["state"], "offline");
    assert!(told.err.contains("1 of 2 nodes answered"), "{}", told.err);
    assert!(told.err.contains("away: it is"), "{}", told.err);
    let table = cli.run(&["node", "users", "ls", "--all"]).must(8);
    assert!(table.text().contains("root"), "{}", table.text());

    let user = ["node", "users", "add", "hostler-e2e-nobody", "--all", "--check", "-o", "json"];
    let checked = cli.run(&user).must(10);
    let checked: Value = serde_json::from_slice(&checked.out).unwrap();
    let outcome = &answer(&checked, "here")["result"]["outcome"];
    assert_eq!(outcome["changed"], true, "{checked}");
    assert_eq!(outcome["changes"][0]["what"], "user hostler-e2e-nobody");
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
    assert!(!passwd.contains("hostler-e2e-nobody"), "a check does nothing");

    let failing = cli.run(&["node", "packages", "install", "--on", "here", "--", "-x"]);
    assert_eq!(failing.code, 4, "{}", failing.err);
    assert!(failing.err.contains("does not begin with"), "{}", failing.err);
    let service =
        cli.run(&["node", "services", "restart", "no-such-service-at-all", "--on", "here"]);
    let service = service.must(4);
    assert!(service.err.contains("0 of 1 node answered"), "{}", service.err);
    let failed = cli.json(&["event", "ls", "--kind", "node.administer-failed"]);
    assert_eq!(failed["items"].as_array().unwrap().len(), 1);
}
