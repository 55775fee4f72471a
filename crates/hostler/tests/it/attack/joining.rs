//! Becoming a node with a ticket that is somebody else's, or was used already.

use hostler_trust::NodeKey;
use serde_json::{Value, json};

use super::{events, serves};
use crate::rig::{Agent, Cli, Https, Rig, Server};

/// What a machine says to become a node.
fn join(https: &Https, ticket: &str, name: &str) -> (u16, Value) {
    let token = ticket.split('.').next().unwrap();
    let csr = NodeKey::generate().unwrap().csr_pem().unwrap();
    let body = json!({ "token": token, "name": name, "csr": csr });
    let reply = https.post("/api/v1/join", &body.to_string());
    (reply.status, reply.json())
}

fn nodes(cli: &Cli<'_>) -> Vec<String> {
    let listed = cli.json(&["node", "ls"]);
    let items = listed["items"].as_array().unwrap().iter();
    items.map(|node| node["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_join_token_that_is_spent_twice_at_once_lets_one_in() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let ticket = Agent::ticket(&cli, &[]);
    let https = server.https();
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let tries: Vec<_> = (0..16)
            .map(|number| {
                let (https, ticket) = (https.clone(), ticket.clone());
                scope.spawn(move || join(&https, &ticket, &format!("twin-{number}")).0)
            })
            .collect();
        tries.into_iter().map(|tried| tried.join().unwrap()).collect()
    });
    let count = |status: u16| statuses.iter().filter(|got| **got == status).count();
    assert_eq!((count(201), count(401)), (1, 15), "{statuses:?}");
    assert_eq!(nodes(&cli).len(), 1);
    assert_eq!(events(&cli, "join.refused"), 15);
    assert_eq!(events(&cli, "node.joined"), 1);
    serves(&mut server, &cli);
}

/// Neither the ticket nor the name brings an identity back that was taken away.
#[test]
fn a_join_token_is_not_good_again_when_its_node_is_removed() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let https = server.https();
    let ticket = Agent::ticket(&cli, &["--name", "edge"]);
    let (status, first) = join(&https, &ticket, "edge");
    assert_eq!(status, 201, "{first}");
    cli.ok(&["node", "rm", "edge", "--yes"]);
    let (status, again) = join(&https, &ticket, "edge");
    assert_eq!(status, 401, "{again}");
    assert_eq!(again["code"], "unauthenticated");
    assert!(nodes(&cli).is_empty());
    let (status, second) = join(&https, &Agent::ticket(&cli, &["--name", "edge"]), "edge");
    assert_eq!(status, 201, "{second}");
    assert_ne!(first["nodeId"], second["nodeId"], "a name is not an identity");
    assert_eq!(events(&cli, "join.refused"), 1);
    serves(&mut server, &cli);
}
