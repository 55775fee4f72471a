//! One message that two readers would cut differently.
//!
//! Behind each of these stands another whole request, made with the credential of an admin: if any of
//! the bytes were taken for a request of their own, a project would come into being.

use hostler_server::http::ConnectionLimits;
use http::Method;
use serde_json::json;

use super::{Open, PATIENCE, counted, goes_on, problems, refusals, until_counted};
use crate::world::World;

const MALFORMED: &str = "hostler_connections_refused_total{listener=\"http\",reason=\"malformed\"}";

/// The request that must not be seen.
fn hidden(world: &World) -> String {
    let body = json!({ "name": "smuggled" }).to_string();
    format!(
        "POST /api/v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        world.admin,
        body.len()
    )
}

async fn assert_nothing_came_of_it(world: &World) {
    assert_eq!(world.get("/api/v1/projects/smuggled").await.status, 404);
    let entries = world.get("/api/v1/audit?action=project.create").await.json();
    assert!(!entries.to_string().contains("smuggled"), "{entries}");
    goes_on(world).await;
}

#[tokio::test]
async fn header_smuggling_with_two_lengths_is_refused() {
    let world = World::new().await;
    let open = Open::start(&world, ConnectionLimits::default()).await;
    let (before, hidden) = (counted(&world, MALFORMED).await, hidden(&world));
    let heads = [
        "Content-Length: 0\r\nContent-Length: 4",
        "Content-Length: 4\r\nContent-Length: 0",
        "Content-Length: 0, 4",
        "Content-Length: +0",
        "Content-Length: -1",
        "Content-Length: 0x0",
        "Content-Length: 99999999999999999999999",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: identity",
        "Transfer-Encoding : chunked",
        "Content-Length : 0",
    ];
    for head in heads {
        let text = format!("POST /api/v1/login HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n{hidden}");
        let heard = open.say(text.as_bytes()).await;
        assert!(heard.starts_with("HTTP/1.1 400 "), "{head}: {heard}");
        assert_eq!(heard.matches("HTTP/1.1 ").count(), 1, "{head}: {heard}");
    }
    let old = format!("POST /api/v1/login HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n{hidden}");
    assert!(open.say(old.as_bytes()).await.contains(" 400 "), "HTTP/1.0 has no chunks");
    until_counted(&world, MALFORMED, before + heads.len() as u64 + 1).await;
    assert_nothing_came_of_it(&world).await;
    open.end().await;
}

/// The chunks decide, as the standard has it, and the connection ends with them.
#[tokio::test]
async fn header_smuggling_behind_chunks_is_not_seen() {
    let world = World::new().await;
    let open = Open::start(&world, ConnectionLimits::default()).await;
    let (before, hidden) = (refusals(&world, "login").await, hidden(&world));
    let heads = [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
        "Content-Length: 400\r\nTransfer-Encoding: chunked",
    ];
    for head in heads {
        let begin = format!("POST /api/v1/login HTTP/1.1\r\nHost: x\r\n{head}\r\n\r\n");
        let heard = open.say(format!("{begin}0\r\n\r\n{hidden}").as_bytes()).await;
        assert!(heard.starts_with("HTTP/1.1 4"), "{head}: {heard}");
        assert_eq!(heard.matches("HTTP/1.1 ").count(), 1, "{head}: {heard}");
    }
    assert_eq!(refusals(&world, "login").await, before + heads.len() as u64);
    assert_nothing_came_of_it(&world).await;
    open.end().await;
}

#[tokio::test]
async fn header_smuggling_with_folds_and_control_characters_is_refused() {
    let world = World::new().await;
    let open = Open::start(&world, ConnectionLimits::default()).await;
    let (before, hidden) = (counted(&world, MALFORMED).await, hidden(&world));
    let heads: [&[u8]; 6] = [
        b"X-First: a\r\n continued: b",
        b"X-First: a\r\n\tcontinued: b",
        b"X-Null: a\0b",
        b"X-Return: a\rContent-Length: 9",
        b"X Space: a",
        b": nameless",
    ];
    for head in heads {
        let mut bytes = b"GET /livez HTTP/1.1\r\nHost: x\r\n".to_vec();
        bytes.extend(head);
        bytes.extend(b"\r\n\r\n");
        bytes.extend(hidden.as_bytes());
        let heard = open.say(&bytes).await;
        let shown = String::from_utf8_lossy(head);
        assert!(heard.starts_with("HTTP/1.1 400 "), "{shown}: {heard}");
        assert_eq!(heard.matches("HTTP/1.1 ").count(), 1, "{shown}: {heard}");
    }
    until_counted(&world, MALFORMED, before + heads.len() as u64).await;
    assert_nothing_came_of_it(&world).await;
    open.end().await;
}

#[tokio::test]
async fn chunks_that_lie_about_their_size_are_refused() {
    let world = World::new().await;
    let open = Open::start(&world, ConnectionLimits::default()).await;
    let begin = format!(
        "POST /api/v1/projects HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        world.admin
    );
    let body = json!({ "name": "smuggled" }).to_string();
    // It is answered, or the connection is cut off, and each of the two is counted.
    let noted = async || counted(&world, MALFORMED).await + problems(&world, "malformed").await;
    for lie in [
        format!("fffffffffffffffff\r\n{body}\r\n0\r\n\r\n"),
        format!("-5\r\n{body}\r\n0\r\n\r\n"),
        format!("{:x};{}\r\n{body}\r\n0\r\n\r\n", body.len(), "e".repeat(40_000)),
        format!("{:x}\r\n{body}and more\r\n0\r\n\r\n", body.len()),
    ] {
        let before = noted().await;
        let heard = open.say(format!("{begin}{lie}").as_bytes()).await;
        assert!(!heard.contains("HTTP/1.1 2"), "{heard}");
        let begun = std::time::Instant::now();
        while noted().await == before {
            assert!(begun.elapsed() < PATIENCE, "nobody noted it: {heard}");
            tokio::task::yield_now().await;
        }
    }
    assert_nothing_came_of_it(&world).await;
    open.end().await;
}

#[tokio::test]
async fn two_credentials_are_none() {
    let world = World::new().await;
    let open = Open::start(&world, ConnectionLimits::default()).await;
    let admin = &world.admin;
    for twice in [
        format!("Authorization: Bearer {admin}\r\nAuthorization: Bearer hst_pat_x"),
        format!("Authorization: Bearer {admin}\r\nCookie: hostler_session=hst_ses_x"),
        "Cookie: hostler_session=a\r\nCookie: hostler_session=b".to_owned(),
        "Cookie: hostler_session=a; hostler_session=b".to_owned(),
    ] {
        let text = format!(
            "DELETE /api/v1/projects/default HTTP/1.1\r\nHost: x\r\n{twice}\r\nConnection: close\r\n\r\n"
        );
        let heard = open.say(text.as_bytes()).await;
        assert!(heard.starts_with("HTTP/1.1 400 "), "{twice}: {heard}");
    }
    assert!(refusals(&world, "project_remove").await >= 4);
    assert_eq!(world.call(Method::GET, "/api/v1/projects/default", None).await.status, 200);
    goes_on(&world).await;
    open.end().await;
}
