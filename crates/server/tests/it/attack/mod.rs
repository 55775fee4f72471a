//! Attacks on a server, each in a test that is named after it.
//!
//! Every one of them comes to nothing and leaves the server answering others, and whatever was refused is
//! recorded: as an event or an audit entry where somebody known did it, otherwise as a count that a scrape
//! shows (requests by endpoint and by the code of the problem, connections by the reason).
//! `docs/conformance/threats.md` says which threat each is about; attacks on whole installations are in
//! `crates/hostler/tests/it/attack/`.

mod certificates;
mod forgery;
mod neighbours;
mod policy;
mod smuggling;
mod weight;

use std::net::SocketAddr;
use std::time::Duration;

use hostler_base::{Clock, OnError, Phase, Shutdown};
use hostler_server::http::{ConnectionLimits, serve_http};
use http::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::world::World;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The sum of every series of a scrape that begins so.
pub(crate) async fn counted(world: &World, begin: &str) -> u64 {
    let scraped = world.get("/metrics").await;
    assert_eq!(scraped.status, 200);
    let text = String::from_utf8(scraped.bytes).unwrap();
    let lines = text.lines().filter(|line| line.starts_with(begin));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

/// How many requests to an endpoint were refused.
async fn refusals(world: &World, endpoint: &str) -> u64 {
    let text = String::from_utf8(world.get("/metrics").await.bytes).unwrap();
    let name = format!("hostler_http_requests_total{{endpoint=\"{endpoint}\"");
    let lines = text.lines().filter(|line| line.starts_with(&name) && line.contains("\"4xx\""));
    lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
}

/// How many requests were answered with a problem of this code; of any, where none is given.
async fn problems(world: &World, code: &str) -> u64 {
    let begin = match code {
        "" => "hostler_http_refused_total{".to_owned(),
        code => format!("hostler_http_refused_total{{code=\"{code}\"}}"),
    };
    counted(world, &begin).await
}

/// Waits until what is counted has come to so much.
async fn until_counted(world: &World, begin: &str, least: u64) {
    let begun = std::time::Instant::now();
    while counted(world, begin).await < least {
        assert!(begun.elapsed() < PATIENCE, "{begin} does not come to {least}");
        tokio::task::yield_now().await;
    }
}

/// Others read and write as before.
async fn goes_on(world: &World) {
    assert_eq!(world.get("/livez").await.status, 200);
    assert_eq!(world.get("/api/v1/whoami").await.status, 200);
    let body = json!({ "spec": { "command": ["true"] } });
    let made = world.post("/api/v1/projects/default/tasks", body).await;
    assert_eq!(made.status, 201, "{}", made.json());
    let path = format!("/api/v1/projects/default/tasks/{}", made.json()["id"].as_str().unwrap());
    assert_eq!(world.post(&format!("{path}/kill"), json!({})).await.status, 200);
    assert_eq!(world.call(Method::DELETE, &path, None).await.status, 204);
}

/// What this process occupies, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}

/// A world behind a real listener, without TLS.
struct Open {
    address: SocketAddr,
    shutdown: Shutdown,
}

impl Open {
    async fn start(world: &World, limits: ConnectionLimits) -> Open {
        let shutdown = Shutdown::new(Clock::system());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let tasks = shutdown.tasks(Phase::Listeners);
        let (own, router) = (tasks.clone(), world.router.clone());
        tasks.spawn("http", OnError::Shutdown, async move {
            serve_http(router, listener, None, limits, &own, Clock::system()).await;
        });
        Open { address, shutdown }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Says something, and hears everything until the server closes.
    async fn say(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        let mut heard = Vec::new();
        let exchange = async {
            let (mut reader, mut writer) = stream.split();
            let write = async {
                let _closed_early = writer.write_all(bytes).await;
            };
            let read = async {
                let _reset = reader.read_to_end(&mut heard).await;
            };
            tokio::join!(write, read);
        };
        tokio::time::timeout(PATIENCE, exchange).await.expect("the server closes");
        String::from_utf8_lossy(&heard).into_owned()
    }

    async fn end(self) {
        self.shutdown.run(Duration::from_secs(10)).await;
    }
}
