//! The database goes away for a while, and comes back.

use std::time::{Duration, Instant};

use crate::rig::{Agent, Barrier, Database, Proxy, Rig, Server, birth, until};

const AWAY: Duration = Duration::from_secs(20);
const TASKS: &str = "/api/v1/projects/default/tasks";

#[test]
fn a_server_without_its_database_says_so_and_catches_up_afterwards() {
    let rig = Rig::new();
    let Some(database) = Database::create(&rig) else { return };
    let wire = Proxy::new(&database);
    let mut server = Server::alone(&rig, "server", Some(&wire.url));
    let cli = server.first_login(&rig);
    let agent = Agent::join(&rig, &cli, &server, "node-1");
    let token = cli.json(&["token", "create", "raw", "--role", "admin"]);
    let https = server.https().token(token["secret"].as_str().unwrap());
    let (during, after) = (Barrier::new(&rig, "during"), Barrier::new(&rig, "after"));
    cli.submit("during", &format!("{}; echo ended alone; exit 51", during.wait()));
    cli.submit("after", &format!("{}; exit 52", after.wait()));
    let born = [cli.wait_pid("during"), cli.wait_pid("after")].map(|pid| birth(pid).unwrap());

    wire.cut();
    let begun = Instant::now();
    until("the task has ended", || {
        during.open();
        birth(born[0].0).is_none().then_some(())
    });
    let mut asked = 0;
    until("it was away for long enough", || {
        let refused = https.get(TASKS);
        refused.problem(503, "unavailable");
        assert!(refused.took < Duration::from_secs(10), "{:?}", refused.took);
        let again: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&again), "{again}");
        assert_eq!(https.get("/livez").status, 200);
        assert_ne!(https.get("/readyz").status, 200);
        asked += 1;
        (begun.elapsed() > AWAY).then_some(())
    });
    assert!(asked >= 2, "asked {asked} times in {:?}", begun.elapsed());
    assert!(server.process.ended().is_none());
    assert_eq!(birth(born[1].0).as_ref(), Some(&born[1]));
    let refused = https.post(TASKS, r#"{"name": "never", "spec": {"command": ["true"]}}"#);
    refused.problem(503, "unavailable");

    wire.mend();
    let back = Instant::now();
    until("it answers again", || (https.get("/readyz").status == 200).then_some(()));
    let ended = cli.wait_state("during", "failed");
    assert_eq!(ended["status"]["exit"]["code"], 51, "{ended}");
    println!("caught up {:?} after the database was back", back.elapsed());
    cli.wait_node("node-1", "online");
    until("the node can be asked again", || {
        let logs = cli.run(&["logs", "during"]);
        (logs.code == 0).then(|| assert_eq!(logs.text(), "ended alone\n"))
    });
    assert_eq!(cli.wait_pid("after"), born[1].0);
    assert!(!cli.tasks().contains_key("never"));
    assert_eq!(cli.run(&["run", "--", "sh", "-c", "exit 53"]).code, 53);
    until("the other task has ended", || {
        after.open();
        Some(cli.task("after")).filter(|task| task["status"]["exit"]["code"] == 52)
    });
    assert_eq!(cli.json(&["audit", "verify"])["isIntact"], true);
    drop(agent);
}

#[test]
fn a_server_that_starts_before_its_database_waits_for_it() {
    let rig = Rig::new();
    let Some(database) = Database::create(&rig) else { return };
    let wire = Proxy::new(&database);
    wire.cut();
    let mut process = Server::spawn_alone(&rig, "server", Some(&wire.url));
    let line = process.line(&["waiting for the database"]);
    assert!(!line.contains("hostler:"), "the password is in the log: {line}");
    assert!(process.ended().is_none());
    wire.mend();
    process.line(&["server started"]);
    process.line(&["/#setup="]);
}
