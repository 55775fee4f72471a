//! What is not called: names that lead inside, names that change their mind, numbers in disguise.

use hostler_egress::{Error, Limits, Request};

use crate::world::*;

async fn refused(door: &hostler_egress::Egress, url: &str) -> String {
    let error = door.send(Request::get(url).unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }) && error.is_refusal(), "{url}: {error:?}");
    error.to_string()
}

#[tokio::test]
async fn what_is_inside_is_refused_however_it_is_written() {
    let server = Server::saying(ok("never"));
    let (door, port) = (door(&[]), server.port);
    for host in [
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "127.0.0.1.",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "localhost",
        "LOCALHOST",
        "①②⑦.⓪.⓪.①",
    ] {
        refused(&door, &format!("http://{host}:{port}/")).await;
    }
    for host in ["10.0.0.1", "192.168.1.1", "169.254.169.254", "[fd00:ec2::254]", "100.64.0.1"] {
        refused(&door, &format!("http://{host}/latest/meta-data/")).await;
    }
    assert!(server.seen().is_empty());
    assert_eq!(door.counts().refused, 22);
}

#[tokio::test]
async fn the_error_says_how_to_allow_it() {
    let names =
        Names::of(&[("vault.example", &["10.9.8.7"]), ("odd.example", &["169.254.169.254"])]);
    let door = door_with(&[], Some(names), Limits::default());
    let text = refused(&door, "https://vault.example/v1/secret?token=abc").await;
    assert!(text.contains("vault.example leads to 10.9.8.7, which is a private address"), "{text}");
    assert!(text.contains("add `vault.example:443` to `egress.allow`"), "{text}");
    assert!(!text.contains("token"), "{text}");
    let text = refused(&door, "http://odd.example:81/").await;
    assert!(text.contains("add `169.254.169.254:81` to `egress.allow`"), "{text}");
    let text = refused(&door, "http://[fd00::1]/").await;
    assert!(text.contains("add `[fd00::1]:80` to `egress.allow`"), "{text}");
}

#[tokio::test]
async fn one_bad_address_among_good_ones_is_enough() {
    let names = Names::of(&[("mixed.example", &["8.8.8.8 10.0.0.1"])]);
    let door = door_with(&[], Some(names), Limits::default());
    assert!(refused(&door, "http://mixed.example/").await.contains("10.0.0.1"));
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_asked_once() {
    let server = Server::saying(ok("pinned"));
    let names = Names::of(&[("rebind.example", &["127.0.0.1", "169.254.169.254"])]);
    let door = door_with(&["127.0.0.1"], Some(names.clone()), Limits::default());
    let url = format!("http://rebind.example:{}/", server.port);
    let answer = door.send(Request::get(&url).unwrap()).await.unwrap();
    assert_eq!(&answer.body[..], b"pinned");
    assert_eq!(names.asked(), 1);
    assert!(server.seen()[0].contains(&format!("host: rebind.example:{}", server.port)));
    refused(&door, &url).await;
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn names_and_ports_are_allowed_one_by_one() {
    let server = Server::saying(ok("inside"));
    let port = server.port;
    let entry = format!("localhost:{port}");
    let door = door(&[&entry]);
    let good = format!("http://localhost:{port}/");
    assert_eq!(&door.send(Request::get(&good).unwrap()).await.unwrap().body[..], b"inside");
    refused(&door, &format!("http://127.0.0.1:{port}/")).await;
    refused(&door, "http://localhost:1/").await;
}

#[tokio::test]
async fn other_connections_go_through_the_same_door() {
    let server = Server::saying(ok("x"));
    let closed = door(&[]);
    assert!(closed.dial("127.0.0.1", server.port).await.unwrap_err().is_refusal());
    assert!(closed.dial_tls("localhost", server.port).await.unwrap_err().is_refusal());
    assert!(closed.datagram_address("0x7f.1", 514).await.unwrap_err().is_refusal());
    let open = door(&["127.0.0.1"]);
    open.dial("127.0.0.1", server.port).await.unwrap();
    assert_eq!(open.datagram_address("127.0.0.1", 514).await.unwrap().port(), 514);
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_no_refusal() {
    let door = door_with(&[], Some(Names::of(&[])), Limits::default());
    let error = door.send(Request::get("http://gone.example/").unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::Lookup { .. }) && !error.is_refusal());
    assert_eq!((door.counts().failed, door.counts().refused), (1, 0));
}
