//! Requests that are large, deep, slow or many.

use std::time::{Duration, Instant};

use axum::body::Body;
use hostler_server::http::ConnectionLimits;
use http::{Method, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{Open, PATIENCE, counted, goes_on, memory, refusals, until_counted};
use crate::world::World;

const TASKS: &str = "/api/v1/projects/default/tasks";
const SLOW: &str = "hostler_connections_refused_total{listener=\"http\",reason=\"slow\"}";

async fn post(world: &World, text: String) -> crate::world::Reply {
    let request = Request::builder()
        .method(Method::POST)
        .uri(TASKS)
        .header("authorization", format!("Bearer {}", world.admin))
        .header("content-type", "application/json")
        .body(Body::from(text))
        .unwrap();
    world.send(request).await
}

#[tokio::test]
async fn a_json_bomb_is_refused() {
    let world = World::new().await;
    let before = memory();
    let begun = Instant::now();
    let deep = |open: &str, close: &str, times: usize| {
        format!("{{\"spec\": {}0{}}}", open.repeat(times), close.repeat(times))
    };
    for (name, text) in [
        ("lists", deep("[", "]", 400_000)),
        ("objects", deep("{\"a\":", "}", 150_000)),
        ("never closed", "[".repeat(1_000_000)),
        ("number", format!("{{\"spec\": 1{}}}", "0".repeat(1_000_000))),
        ("exponent", "{\"spec\": 1e999999999}".to_owned()),
    ] {
        let reply = post(&world, text).await;
        assert!(["malformed", "invalid"].contains(&reply.code().as_str()), "{name}");
        assert!(reply.bytes.len() < 10_000, "{name} is not repeated in the answer");
    }
    let keys: String = (0..60_000).map(|n| format!("\"k{n}\": 0, ")).collect();
    let reply = post(&world, format!("{{{keys}\"spec\": {{}}}}")).await;
    assert_eq!(reply.code(), "invalid");
    let key = "k".repeat(900_000);
    let reply = post(&world, format!("{{\"{key}\": 0}}")).await;
    assert_eq!(reply.code(), "invalid");
    assert!(begun.elapsed() < PATIENCE, "it took {:?}", begun.elapsed());
    assert!(memory() < before + (300 << 10), "from {before} to {} KiB", memory());
    assert!(refusals(&world, "task_submit").await >= 7);
    goes_on(&world).await;
}

#[tokio::test]
async fn a_body_without_end_is_refused_before_it_fills_the_memory() {
    let world = World::new().await;
    let open = Open::start(&world, ConnectionLimits::default()).await;
    let before = memory();
    let head = format!(
        "POST {TASKS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        world.admin
    );
    let mut stream = open.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.split();
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x1_0000));
    let flood = async {
        for _ in 0..4000 {
            if writer.write_all(chunk.as_bytes()).await.is_err() {
                return;
            }
        }
        panic!("256 MiB were taken");
    };
    let mut heard = vec![0; 64];
    let (read, ()) =
        tokio::time::timeout(PATIENCE, async { tokio::join!(reader.read(&mut heard), flood) })
            .await
            .expect("the connection ends");
    let heard = String::from_utf8_lossy(&heard[..read.unwrap_or(0)]).into_owned();
    assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 413 "), "{heard}");
    assert!(memory() < before + (128 << 10), "from {before} to {} KiB", memory());
    assert!(refusals(&world, "task_submit").await >= 1);
    goes_on(&world).await;
    open.end().await;
}

#[tokio::test]
async fn huge_headers_are_refused() {
    let world = World::new().await;
    let open = Open::start(&world, ConnectionLimits::default()).await;
    let malformed = "hostler_connections_refused_total{listener=\"http\",reason=\"malformed\"}";
    let before = counted(&world, malformed).await;
    let many: String = (0..5000).map(|n| format!("X-{n}: a\r\n")).collect();
    for text in [
        format!("GET /livez HTTP/1.1\r\nHost: x\r\nX-Large: {}\r\n\r\n", "a".repeat(200_000)),
        format!("GET /livez HTTP/1.1\r\nHost: x\r\n{many}\r\n"),
        format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(200_000)),
        format!("{} / HTTP/1.1\r\nHost: x\r\n\r\n", "A".repeat(200_000)),
    ] {
        let heard = open.say(text.as_bytes()).await;
        assert!(heard.is_empty() || heard.starts_with("HTTP/1.1 4"), "{heard}");
    }
    until_counted(&world, malformed, before + 4).await;
    goes_on(&world).await;
    open.end().await;
}

/// Who connects and says nothing, or a word every now and then, does not keep a place for ever.
#[tokio::test]
async fn slow_clients_are_left() {
    let world = World::new().await;
    let limits =
        ConnectionLimits { head_time: Duration::from_millis(300), ..ConnectionLimits::default() };
    let open = Open::start(&world, limits).await;
    let before = counted(&world, SLOW).await;
    let beginnings: [&[u8]; 5] =
        [b"", b"P", b"PRI * HTTP/2.0\r\n", b"GET /livez HT", b"GET /livez HTTP/1.1\r\nHost: x\r\n"];
    let mut streams = Vec::new();
    for beginning in beginnings {
        let mut stream = open.connect().await;
        stream.write_all(beginning).await.unwrap();
        streams.push(stream);
    }
    goes_on(&world).await;
    for (stream, beginning) in streams.iter_mut().zip(beginnings) {
        let mut heard = Vec::new();
        let closed = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut heard)).await;
        let shown = String::from_utf8_lossy(beginning);
        assert!(closed.is_ok(), "{shown:?} holds its connection");
        assert!(!heard.starts_with(b"HTTP/1.1 2"), "{shown:?}");
    }
    until_counted(&world, SLOW, before + beginnings.len() as u64).await;
    goes_on(&world).await;
    open.end().await;
}

#[tokio::test]
async fn one_address_cannot_take_every_connection_and_it_shows() {
    let world = World::new().await;
    let limits = ConnectionLimits { per_source: 3, ..ConnectionLimits::default() };
    let open = Open::start(&world, limits).await;
    let crowd = "hostler_connections_refused_total{listener=\"http\",reason=\"crowd\"}";
    let before = counted(&world, crowd).await;
    let mut held = Vec::new();
    for _ in 0..3 {
        let mut stream = open.connect().await;
        stream.write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut some = [0; 12];
        stream.read_exact(&mut some).await.unwrap();
        assert_eq!(&some, b"HTTP/1.1 200");
        held.push(stream);
    }
    assert_eq!(open.say(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n").await, "");
    until_counted(&world, crowd, before + 1).await;
    goes_on(&world).await;
    open.end().await;
}
