//! A machine with a card that wears out and a link that is paid for by what it carries.

use crate::rig::{Agent, Rig, Server, until};

const SETTINGS: &str = "heartbeat = \"200ms\"\n[patience]\nstale_after = \"5s\"\noffline_after = \"15s\"\nlost_after = \"10m\"\n";

#[test]
fn a_metered_node_is_heard_of_seldom_stays_online_and_tells_what_it_writes() {
    let rig = Rig::new();
    let mut server = Server::configured(&rig, "server", SETTINGS);
    let cli = server.first_login(&rig);
    let data_dir = rig.path("board");
    let ticket = Agent::ticket(&cli, &["--name", "board"]);
    Agent::join_with(&rig, &ticket, &server, "board", &data_dir).must(0);
    let options = ["--metered", "--write-budget", "64KiB"];
    let mut agent = Agent::start_with(&rig, "board", &data_dir, &options);
    cli.wait_node("board", "online");

    let node = until("its load is told", || {
        let node = cli.json(&["node", "get", "board"]);
        (node["metrics"]["writes"]["budget"] == 65_536).then_some(node)
    });
    assert_eq!(node["facts"]["isMetered"], true, "{node}");
    cli.submit("noise", "head -c 200000 /dev/zero | tr '\\0' x");
    let line = agent.process.line(&["write budget of the day is used up"]);
    assert!(line.contains("WARN"), "{line}");
    cli.wait_state("noise", "completed");
    assert_eq!(cli.ok(&["logs", "noise"]).len(), 200_000, "nothing is dropped for a budget");

    // Longer than a node that says nothing may be, which is what this one does between heartbeats.
    let begun = std::time::Instant::now();
    until("some seconds are over", || (begun.elapsed().as_secs() >= 8).then_some(()));
    let node = cli.json(&["node", "get", "board"]);
    assert_eq!(node["state"], "online", "{node}");
    let told = cli.ok(&["node", "describe", "board"]);
    assert!(told.contains("metered") && !told.contains("quiet for"), "{told}");
    let status = agent.status(&rig).unwrap();
    assert!(status["writes"]["today"].as_u64().unwrap() > 200_000, "{status}");
}
