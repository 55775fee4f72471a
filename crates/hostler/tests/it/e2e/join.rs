//! Who may become a node, and who may stay one.

use crate::rig::{Agent, Output, Rig, Server, until};

#[track_caller]
fn refused(output: &Output, why: &str) {
    assert_eq!(output.code, 1, "{output:?}");
    assert!(output.err.contains(why), "{}", output.err);
}

#[test]
fn only_a_fresh_ticket_of_this_installation_opens_the_door() {
    let rig = Rig::new();
    let other_rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let (_other, other_cli) = Server::up(&other_rig);
    let join = |ticket: &str, name: &str| {
        let output = Agent::join_with(&rig, ticket, &server, name, &rig.path(name));
        if output.code != 0 {
            assert!(!rig.path(name).join("identity").exists(), "an identity without a node");
        }
        output
    };

    let expired = Agent::ticket(&cli, &["--ttl", "1ms"]);
    let tokens = until("the ticket is over", || {
        let tokens = cli.json(&["node", "token", "ls"]);
        (tokens["items"][0]["state"] == "expired").then_some(tokens)
    });
    assert_eq!(tokens["items"].as_array().unwrap().len(), 2);
    refused(&join(&expired, "late"), "expired");

    let once = Agent::ticket(&cli, &[]);
    join(&once, "punctual").must(0);
    refused(&join(&once, "second"), "used already");
    let again = Agent::join_with(&rig, &once, &server, "x", &rig.path("punctual"));
    refused(&again, "--force");

    let foreign = Agent::ticket(&other_cli, &[]);
    refused(&join(&foreign, "stranger"), "is not of the authority that the ticket names");
    let (_, secret) = (foreign.split_once('.').unwrap().1, foreign.split_once('.').unwrap().0);
    let ours = server.fingerprint.trim_start_matches("sha256:");
    refused(
        &join(&format!("{secret}.{ours}"), "stranger"),
        "not a join token of this installation",
    );

    let bound = Agent::ticket(&cli, &["--name", "meant"]);
    refused(&join(&bound, "somebody"), "bound to another node name");
    join(&bound, "meant").must(0);
    let taken = Agent::ticket(&cli, &[]);
    let output = Agent::join_with(&rig, &taken, &server, "meant", &rig.path("elsewhere"));
    refused(&output, "exists already");

    let withdrawn = cli.json(&["node", "token", "create"]);
    cli.ok(&["node", "token", "rm", withdrawn["token"]["id"].as_str().unwrap(), "--yes"]);
    refused(&join(withdrawn["ticket"].as_str().unwrap(), "unwanted"), "revoked");

    for ticket in ["nonsense", "hst_join_x.y", ""] {
        assert_ne!(join(ticket, "nobody").code, 0);
    }
    let nodes = cli.json(&["node", "ls"]);
    let names: Vec<&str> =
        nodes["items"].as_array().unwrap().iter().map(|n| n["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["local", "meant", "punctual"]);
    let events = cli.json(&["event", "ls", "--kind", "join.refused"]);
    assert!(events["items"].as_array().unwrap().len() >= 5, "{events}");
}

#[test]
fn a_removed_node_is_told_to_join_again_and_its_certificate_opens_nothing() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let mut agent = Agent::join(&rig, &cli, &server, "node-1");
    cli.ok(&["task", "submit", "--name", "long", "--", "sleep", "1000"]);
    cli.wait_pid("long");

    cli.ok(&["node", "rm", "node-1", "--yes"]);
    let line = agent.process.line(&["server refuses this node"]);
    assert!(line.contains("the node was removed"), "{line}");
    assert_eq!(cli.task("long")["status"]["state"], "killed");
    assert_eq!(cli.run(&["node", "get", "node-1"]).code, 3);

    agent.restart(&rig);
    let line = agent.process.line(&["server refuses this node"]);
    assert!(line.contains("revoked; join again with a fresh token"), "{line}");
    let status = agent.status(&rig).unwrap();
    assert_eq!(status["isConnected"], false);
    assert!(status["connectionProblem"].as_str().unwrap().contains("join again"), "{status}");

    agent.process.kill();
    let ticket = Agent::ticket(&cli, &[]);
    let (url, dir) = (server.url(), agent.data_dir.to_str().unwrap().to_owned());
    let place = ["--server", &url, "--name", "node-1", "--data-dir", &dir, "--force"];
    cli.run_with(&[&["agent", "join", "-"], &place[..]].concat(), &ticket).must(0);
    agent.restart(&rig);
    cli.wait_node("node-1", "online");
    assert_eq!(cli.ok(&["run", "--", "echo", "back"]), "back\n");
}
