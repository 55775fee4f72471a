//! Arrays as large as people have them: submitted at once, walked page by page, stopped in the middle,
//! and complete whatever dies while they are made.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::rig::{Agent, Cli, Https, Rig, Server, until, until_within};

/// What the server may take more than before.
const GROWTH: u64 = 200 << 20;
/// The binary under test is built for debugging.
const SUBMIT: Duration = Duration::from_secs(15);

fn https(server: &Server, cli: &Cli<'_>) -> Https {
    let name = format!("raw-{}", server.process.pid());
    let made = cli.json(&["token", "create", &name, "--role", "admin"]);
    server.https().token(made["secret"].as_str().unwrap())
}

/// Memory that a process has now.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kib: u64 = line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

/// Goes through the tasks of an array; each page has to come quickly.
fn walk(https: &Https, name: &str) -> Vec<u64> {
    let mut indexes = Vec::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/api/v1/projects/default/tasks?array={name}&limit=1000{cursor}");
        let page = https.get(&path);
        assert_eq!(page.status, 200, "{}", page.json());
        assert!(page.took < Duration::from_secs(5), "a page took {:?}", page.took);
        let page = page.json();
        let items = page["items"].as_array().unwrap();
        indexes.extend(items.iter().map(|task| task["array"]["index"].as_u64().unwrap()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return indexes,
        }
    }
}

fn array(https: &Https, name: &str) -> Value {
    let reply = https.get(&format!("/api/v1/projects/default/task-arrays/{name}"));
    assert_eq!(reply.status, 200, "{}", reply.json());
    reply.json()
}

fn total(array: &Value) -> u64 {
    array["counts"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
}

#[test]
fn a_hundred_thousand_tasks_are_submitted_walked_and_stopped_mid_way() {
    const SIZE: u64 = 100_000;
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let _agent = Agent::join(&rig, &cli, &server, "node-1");
    let https = https(&server, &cli);
    let pid = server.process.pid();
    cli.run(&["run", "--", "true"]).must(0);
    let before = resident(pid);

    let begun = Instant::now();
    cli.ok(&["task", "submit", "--name", "sweep", "--array", "1-100000", "--", "true"]);
    let took = begun.elapsed();
    assert!(took < SUBMIT, "the submit took {took:?}");
    assert_eq!(total(&array(&https, "sweep")), SIZE);

    let mut most = 0;
    let last = "/api/v1/projects/default/tasks/sweep-100000";
    until_within(Duration::from_secs(150), "all of it is made", || {
        most = most.max(resident(pid));
        (https.get(last).status == 200).then_some(())
    });
    assert_eq!(total(&array(&https, "sweep")), SIZE);
    let made = begun.elapsed();
    let seen = walk(&https, "sweep");
    most = most.max(resident(pid));
    println!("submitted in {took:?}, made in {made:?}, walked in {:?}", begun.elapsed() - made);
    assert_eq!(seen.len() as u64, SIZE);
    let unique: BTreeSet<u64> = seen.iter().copied().collect();
    assert_eq!(unique.len(), seen.len(), "no task is shown twice");

    let begun = Instant::now();
    cli.ok(&["task", "array", "kill", "sweep", "--grace", "1s"]);
    let stopped = until("nothing of it is left", || {
        most = most.max(resident(pid));
        Some(array(&https, "sweep")).filter(|now| now["unsettled"] == 0)
    });
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(30), "stopping took {took:?}");
    assert_eq!(total(&stopped), SIZE, "{stopped}");
    let (done, killed) = (&stopped["counts"]["completed"], &stopped["counts"]["killed"]);
    assert_eq!(done.as_u64().unwrap() + killed.as_u64().unwrap(), SIZE, "{stopped}");
    let growth = most.saturating_sub(before);
    println!("{} completed, stopped in {took:?}, {} MB more", done, growth >> 20);
    assert!(growth < GROWTH, "the server grew by {} MB", growth >> 20);
    cli.run(&["run", "--", "true"]).must(0);
    let after = array(&https, "sweep");
    assert_eq!(after["counts"], stopped["counts"], "what was stopped stays so");
}

#[test]
fn an_array_that_is_stopped_while_it_is_made_makes_no_more() {
    const SIZE: u64 = 100_000;
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let https = https(&server, &cli);
    cli.ok(&["task", "submit", "--name", "sweep", "--array", "1-100000", "--", "true"]);
    until("some of it has run", || {
        let now = array(&https, "sweep");
        assert_eq!(total(&now), SIZE, "{now}");
        now["counts"]["completed"].as_u64().filter(|count| *count > 0)
    });
    cli.ok(&["task", "array", "kill", "sweep", "--grace", "1s"]);
    let stopped = until("nothing of it is left", || {
        Some(array(&https, "sweep")).filter(|now| now["unsettled"] == 0)
    });
    assert_eq!(total(&stopped), SIZE, "{stopped}");
    let made = walk(&https, "sweep").len();
    println!("{made} were made");
    cli.run(&["run", "--", "true"]).must(0);
    assert_eq!(walk(&https, "sweep").len(), made, "no more are made");
    assert_eq!(array(&https, "sweep")["counts"], stopped["counts"]);
}

#[test]
fn an_array_is_complete_although_its_server_is_killed_while_it_is_made() {
    const SIZE: u64 = 20_000;
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    cli.ok(&["task", "submit", "--name", "sweep", "--array", "0-19999", "--", "true"]);
    let mut seen = 0;
    for _ in 0..3 {
        server.process.kill();
        server.restart(&rig);
        let https = https(&server, &cli);
        let now = array(&https, "sweep");
        assert_eq!((total(&now), &now["unsettled"]), (SIZE, &SIZE.into()), "{now}");
        let made = until("it goes on", || {
            let made = walk(&https, "sweep").len();
            (made > seen || made as u64 == SIZE).then_some(made)
        });
        assert!(made >= seen, "what was made is there");
        println!("{seen} made before, {made} after");
        seen = made;
    }
    let https = https(&server, &cli);
    let all = until("all of it is made", || {
        Some(walk(&https, "sweep")).filter(|made| made.len() as u64 == SIZE)
    });
    let all: BTreeSet<u64> = all.into_iter().collect();
    assert_eq!(all, (0..SIZE).collect(), "every index, once");
    cli.ok(&["task", "array", "kill", "sweep"]);
    let stopped = array(&https, "sweep");
    assert_eq!(stopped["counts"]["killed"], SIZE, "{stopped}");
    assert_eq!(cli.json(&["audit", "verify"])["isIntact"], true);
}
