//! Real connections: TLS, protocols, a new certificate, an orderly end.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use hostler_base::{Clock, OnError, Phase, Shutdown};
use hostler_model::ServerId;
use hostler_server::http::{ConnectionLimits, serve_http};
use hostler_server::tls::ServerTls;
use hostler_trust::certificate::Identity;
use hostler_trust::{Authority, tls};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use uuid::Uuid;

struct Running {
    address: SocketAddr,
    authority: Authority,
    tls: ServerTls,
    shutdown: Shutdown,
    /// Says when a slow request began.
    began: mpsc::Receiver<()>,
}

fn identity(authority: &Authority) -> Identity {
    let id = ServerId::from_uuid(Uuid::from_u128(7));
    let valid = Duration::from_secs(3600);
    let names = ["127.0.0.1".to_owned()];
    authority.issue_server(id, &names, Clock::system().now(), valid).unwrap().1
}

async fn start(limits: ConnectionLimits) -> Running {
    let authority = Authority::create(Clock::system().now(), "Test").unwrap();
    let tls = ServerTls::public(&identity(&authority)).unwrap();
    let shutdown = Shutdown::new(Clock::system());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (begin, began) = mpsc::channel(1);
    let stop = shutdown.clone();
    let slow = move || async move {
        let _ = begin.send(()).await;
        stop.requested().await;
        "finished"
    };
    let router = Router::new().route("/", get(|| async { "hello" })).route("/slow", get(slow));
    let tasks = shutdown.tasks(Phase::Listeners);
    let (own, server_tls) = (tasks.clone(), tls.clone());
    tasks.spawn("http", OnError::Shutdown, async move {
        serve_http(router, listener, Some(server_tls), limits, &own, Clock::system()).await;
    });
    Running { address, authority, tls, shutdown, began }
}

impl Running {
    fn client(&self) -> reqwest::Client {
        let mut config = tls::client(self.authority.certificate(), None).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        reqwest::Client::builder().use_preconfigured_tls(config).no_proxy().build().unwrap()
    }

    fn url(&self, path: &str) -> String {
        format!("https://{}{path}", self.address)
    }
}

#[tokio::test]
async fn both_protocols_are_spoken_over_tls() {
    let running = start(ConnectionLimits::default()).await;
    let reply = running.client().get(running.url("/")).send().await.unwrap();
    assert_eq!(reply.version(), http::Version::HTTP_2);
    assert_eq!(reply.text().await.unwrap(), "hello");
    let config = tls::client(running.authority.certificate(), None).unwrap();
    let connector = tokio_rustls::TlsConnector::from(std::sync::Arc::new(config));
    let stream = TcpStream::connect(running.address).await.unwrap();
    let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
    let mut stream = connector.connect(name, stream).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("HTTP/1.1 200") && text.ends_with("hello"), "{text}");
    assert!(running.shutdown.run(Duration::from_secs(10)).await.is_clean());
}

#[tokio::test]
async fn plain_text_is_not_answered() {
    let running = start(ConnectionLimits::default()).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    assert!(!bytes.starts_with(b"HTTP"));
    running.shutdown.run(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn a_new_certificate_is_used_without_a_restart() {
    let running = start(ConnectionLimits::default()).await;
    let other = Authority::create(Clock::system().now(), "Other").unwrap();
    let old = running.client();
    assert!(old.get(running.url("/")).send().await.is_ok());
    running.tls.replace_public(&identity(&other)).unwrap();
    assert!(old.get(running.url("/")).send().await.is_ok(), "what is open goes on");
    assert!(running.client().get(running.url("/")).send().await.is_err());
    let config = tls::client(other.certificate(), None).unwrap();
    let fresh =
        reqwest::Client::builder().use_preconfigured_tls(config).no_proxy().build().unwrap();
    assert!(fresh.get(running.url("/")).send().await.is_ok());
    running.shutdown.run(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn what_is_being_served_is_finished_before_the_end() {
    let mut running = start(ConnectionLimits::default()).await;
    let request = running.client().get(running.url("/slow")).send();
    let watch = async {
        running.began.recv().await.unwrap();
        running.shutdown.run(Duration::from_secs(20)).await
    };
    let (reply, report) = tokio::join!(request, watch);
    assert_eq!(reply.unwrap().text().await.unwrap(), "finished");
    assert!(report.is_clean(), "{report:?}");
    assert!(TcpStream::connect(running.address).await.is_err());
}

#[tokio::test]
async fn one_source_cannot_take_every_connection() {
    let running =
        start(ConnectionLimits { total: 10, per_source: 2, ..ConnectionLimits::default() }).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let client = running.client();
        assert!(client.get(running.url("/")).send().await.is_ok());
        held.push(client);
    }
    assert!(running.client().get(running.url("/")).send().await.is_err());
    for client in &held {
        assert!(client.get(running.url("/")).send().await.is_ok());
    }
    running.shutdown.run(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn a_refusal_reaches_a_caller_that_still_writes_its_body() {
    let world = crate::world::World::new().await;
    let shutdown = Shutdown::new(Clock::system());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let tasks = shutdown.tasks(Phase::Listeners);
    let (own, router) = (tasks.clone(), world.router.clone());
    tasks.spawn("http", OnError::Shutdown, async move {
        let limits = ConnectionLimits::default();
        serve_http(router, listener, None, limits, &own, Clock::system()).await;
    });
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut client, connection) = h2::client::handshake(stream).await.unwrap();
    tasks.spawn_until_cancelled("client", OnError::Log, async move {
        let _ = connection.await;
        Ok::<(), std::convert::Infallible>(())
    });
    let request = http::Request::post("https://server.example/api/v1/projects/default/tasks")
        .header("authorization", format!("Bearer {}", world.admin))
        .header("content-type", "application/json")
        .body(())
        .unwrap();
    let (response, mut writer) = client.send_request(request, false).unwrap();
    let part = bytes::Bytes::from(vec![b' '; 64 << 10]);
    let write = async |writer: &mut h2::SendStream<bytes::Bytes>, parts: usize| {
        for _ in 0..parts {
            let mut left = part.clone();
            while !left.is_empty() {
                writer.reserve_capacity(left.len());
                let room = std::future::poll_fn(|cx| writer.poll_capacity(cx)).await;
                let room = room.expect("the stream is open").expect("and not reset");
                writer.send_data(left.split_to(room.min(left.len())), false).unwrap();
            }
        }
    };
    let (response, ()) = tokio::join!(response, write(&mut writer, 20));
    let response = response.unwrap();
    assert_eq!(response.status(), 413);
    let length: usize = response.headers()["content-length"].to_str().unwrap().parse().unwrap();
    let mut reader = response.into_body();
    let mut answer = Vec::new();
    while answer.len() < length {
        answer.extend_from_slice(&reader.data().await.unwrap().unwrap());
    }
    let problem: serde_json::Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(problem["code"], "too-large", "{problem}");

    write(&mut writer, 100).await;
    writer.send_data(bytes::Bytes::new(), true).unwrap();
    assert!(reader.data().await.is_none_or(|data| data.unwrap().is_empty()));
    assert!(reader.trailers().await.unwrap().is_none(), "and the stream ends without a reset");
    assert!(shutdown.run(Duration::from_secs(10)).await.is_clean());
}
