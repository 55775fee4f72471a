//! Sinks of audit entries: everything arrives, in order, at least once, whoever fails meanwhile.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostler_base::reconcile::Reconciler as _;
use hostler_control::{
    AuditConfig, AuditSink, AuditSinkReport, ControlConfig, EventQuery, NewTask,
};
use hostler_egress::{Egress, Options, Policy};
use hostler_model::{AuditChain, AuditRecord, EventKind, Limit, WorkloadSpec};
use hostler_store::{OpenOptions, Store};
use hostler_testkit::World;

fn sink(name: &str, to: &str) -> AuditSink {
    AuditSink {
        name: name.to_owned(),
        to: to.parse().unwrap(),
        token_file: None,
        facility: 13,
        batch: 4,
    }
}

async fn world(sinks: Vec<AuditSink>, allow: &[&str]) -> World {
    let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    let policy = Policy {
        allow: allow.iter().map(|text| text.parse().unwrap()).collect(),
        ..Policy::default()
    };
    let config = ControlConfig {
        audit: AuditConfig { sinks, ..AuditConfig::default() },
        egress: Egress::new(Options { policy, ..Options::default() }),
        ..ControlConfig::default()
    };
    World::configured(store, 5, config).await
}

async fn act(world: &World, times: usize) {
    for _ in 0..times {
        let task = NewTask { name: None, spec: WorkloadSpec::command(["true"]) };
        world.control.task_submit(&world.cx, &world.project, vec![task]).await.unwrap();
    }
}

async fn pass(world: &World) -> AuditSinkReport {
    let pass = world.control.audit_sink_reconciler().reconcile().await;
    assert_eq!(pass.error, None);
    pass.report
}

async fn lag(world: &World) -> u64 {
    world.control.audit_sinks().await.unwrap()[0].lag
}

async fn events(world: &World, kind: EventKind) -> usize {
    let query = EventQuery { kind: Some(kind.into()), ..EventQuery::default() };
    let page = world.control.event_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap();
    page.items.len()
}

/// Lines of entries that follow each other from the first, with nothing missing and nothing twice.
fn follow(lines: &[String]) -> u64 {
    let mut chain = AuditChain::default();
    for line in lines.iter().filter(|line| !line.starts_with("{\"anchor\"")) {
        let record: AuditRecord = serde_json::from_str(line).unwrap();
        chain.follow(&record.entry().unwrap()).unwrap();
    }
    chain.count
}

/// A collector that answers with a status of the test's choice and keeps what it accepted.
struct Collector {
    port: u16,
    status: Arc<AtomicU16>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Collector {
    fn start() -> Collector {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let collector =
            Collector { port, status: Arc::new(AtomicU16::new(200)), requests: Arc::default() };
        let (status, requests) = (Arc::clone(&collector.status), Arc::clone(&collector.requests));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let Some(request) = read_request(&mut stream) else { continue };
                let code = status.load(Ordering::SeqCst);
                if code < 300 {
                    requests.lock().unwrap().push(request);
                }
                let answer = format!("HTTP/1.1 {code} Said\r\nContent-Length: 0\r\n\r\n");
                let _gone = stream.write_all(answer.as_bytes());
            }
        });
        collector
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/in?key=s3cret", self.port)
    }

    fn lines(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let bodies = requests.iter().map(|request| request.split_once("\r\n\r\n").unwrap().1);
        bodies.flat_map(|body| body.lines().map(str::to_owned)).collect()
    }
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let (mut bytes, mut part) = (Vec::new(), [0; 8192]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
            });
            if body.len() >= length.unwrap_or(0usize) {
                return Some(text);
            }
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&part[..n]),
        }
    }
}

#[tokio::test]
async fn a_collector_gets_everything_once_and_anchors_too() {
    let collector = Collector::start();
    let token = std::env::temp_dir().join(format!("hostler-sink-{}", collector.port));
    std::fs::write(&token, "s3cret-token\n").unwrap();
    let target = AuditSink { token_file: Some(token.clone()), ..sink("siem", &collector.url()) };
    let world = world(vec![target], &["127.0.0.1"]).await;
    act(&world, 10).await;
    let before = lag(&world).await;
    assert!(before >= 10);
    let report = pass(&world).await;
    assert_eq!((report.delivered, report.failing), (before, vec![]));
    assert_eq!(lag(&world).await, 0);
    assert_eq!(follow(&collector.lines()), before);
    assert_eq!(pass(&world).await.delivered, 0);

    let anchor = world.control.audit_anchor_create(&world.cx).await.unwrap();
    pass(&world).await;
    pass(&world).await;
    let anchors: Vec<_> =
        collector.lines().into_iter().filter(|line| line.starts_with("{\"anchor\"")).collect();
    assert_eq!(anchors.len(), 1);
    assert!(anchors[0].contains(&format!("\"sequence\":{}", anchor.sequence)));
    let first = collector.requests.lock().unwrap()[0].clone();
    assert!(first.contains("authorization: Bearer s3cret-token\r\n"), "{first}");
    assert!(first.contains("content-type: application/x-ndjson"), "{first}");
    let shown = world.control.audit_sinks().await.unwrap().remove(0);
    assert!(!format!("{shown:?}").contains("s3cret"), "{shown:?}");
    std::fs::remove_file(token).unwrap();
}

#[tokio::test]
async fn a_collector_that_fails_is_tried_again_and_misses_nothing() {
    let collector = Collector::start();
    let world = world(vec![sink("siem", &collector.url())], &["127.0.0.1"]).await;
    act(&world, 5).await;
    collector.status.store(503, Ordering::SeqCst);
    let mut feed = world.control.audit_sink_reconciler();
    for _ in 0..5 {
        let report = feed.reconcile().await.report;
        assert_eq!((report.delivered, report.failing), (0, vec!["siem".to_owned()]));
        world.advance(Duration::from_secs(400));
    }
    let detail = world.control.audit_sinks().await.unwrap().remove(0);
    assert!(detail.problem.unwrap().contains("status 503"));
    assert_eq!(events(&world, EventKind::AuditSinkTrouble).await, 1);
    collector.status.store(200, Ordering::SeqCst);
    let all = lag(&world).await;
    assert_eq!(feed.reconcile().await.report.delivered, all);
    assert_eq!(follow(&collector.lines()), all);
    assert_eq!(events(&world, EventKind::AuditSinkWell).await, 1);
    assert_eq!(world.control.audit_sinks().await.unwrap()[0].problem, None);
}

#[tokio::test]
async fn a_sink_that_failed_is_left_alone_for_a_while() {
    let collector = Collector::start();
    let world = world(vec![sink("siem", &collector.url())], &["127.0.0.1"]).await;
    act(&world, 1).await;
    collector.status.store(500, Ordering::SeqCst);
    let mut feed = world.control.audit_sink_reconciler();
    feed.reconcile().await;
    collector.status.store(200, Ordering::SeqCst);
    assert_eq!(feed.reconcile().await.report.delivered, 0, "it is not due yet");
    world.advance(Duration::from_secs(3));
    assert!(feed.reconcile().await.report.delivered > 0);
}

#[tokio::test]
async fn another_server_goes_on_where_the_first_one_was() {
    let collector = Collector::start();
    let mut world = world(vec![sink("siem", &collector.url())], &["127.0.0.1"]).await;
    act(&world, 6).await;
    pass(&world).await;
    world.restart_server().await;
    act(&world, 6).await;
    assert_eq!(pass(&world).await.delivered, 0, "the first one's lease lives");
    world.advance(Duration::from_secs(61));
    pass(&world).await;
    assert_eq!(lag(&world).await, 0);
    let count = follow(&collector.lines());
    assert_eq!(count, world.store.read().await.unwrap().audit_head().await.unwrap().0);
}

#[tokio::test]
async fn a_sink_inside_has_to_be_allowed() {
    let collector = Collector::start();
    let world = world(vec![sink("siem", &collector.url())], &[]).await;
    act(&world, 1).await;
    assert_eq!(pass(&world).await.failing, ["siem"]);
    let problem = world.control.audit_sinks().await.unwrap().remove(0).problem.unwrap();
    let entry = format!("add `127.0.0.1:{}` to `egress.allow`", collector.port);
    assert!(problem.contains(&entry), "{problem}");
    assert!(!problem.contains("s3cret"), "{problem}");
    assert!(collector.lines().is_empty());
}

#[tokio::test]
async fn one_sink_that_fails_does_not_keep_another_from_its_entries() {
    let (good, bad) = (Collector::start(), Collector::start());
    bad.status.store(500, Ordering::SeqCst);
    let sinks = vec![sink("bad", &bad.url()), sink("good", &good.url())];
    let world = world(sinks, &["127.0.0.1"]).await;
    act(&world, 9).await;
    let report = pass(&world).await;
    assert_eq!(report.failing, ["bad"]);
    assert_eq!(follow(&good.lines()), report.delivered);
}

/// The messages in a stream of counted frames.
fn frames(mut bytes: &[u8]) -> Vec<String> {
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let space = bytes.iter().position(|b| *b == b' ').unwrap();
        let length: usize = std::str::from_utf8(&bytes[..space]).unwrap().parse().unwrap();
        let (message, rest) = bytes[space + 1..].split_at(length);
        messages.push(String::from_utf8(message.to_vec()).unwrap());
        bytes = rest;
    }
    messages
}

/// What follows the head of a syslog message.
fn content(message: &str) -> String {
    assert!(message.starts_with("<109>1 2026-"), "{message}");
    let words: Vec<&str> = message.splitn(8, ' ').collect();
    assert_eq!(words[2..5], ["sim", "hostler", "-"], "{message}");
    words[7].to_owned()
}

#[tokio::test]
async fn syslog_over_tcp_is_framed_and_taken_completely() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("syslog+tcp://{}", listener.local_addr().unwrap());
    let received: Arc<Mutex<Vec<u8>>> = Arc::default();
    let kept = Arc::clone(&received);
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let mut bytes = Vec::new();
            let mut stream = stream.unwrap();
            if number == 0 {
                // Dies in the middle, with something unread: the kernel resets the connection.
                let _some = stream.read(&mut [0; 10]);
                continue;
            }
            if stream.read_to_end(&mut bytes).is_ok() {
                kept.lock().unwrap().extend(bytes);
            }
        }
    });
    let world = world(vec![sink("log", &to)], &["127.0.0.1"]).await;
    act(&world, 9).await;
    let mut feed = world.control.audit_sink_reconciler();
    assert_eq!(feed.reconcile().await.report.failing, ["log"]);
    world.advance(Duration::from_secs(400));
    let report = feed.reconcile().await.report;
    assert!(report.failing.is_empty() && report.delivered >= 9, "{report:?}");
    let lines: Vec<String> =
        frames(&received.lock().unwrap()).iter().map(|message| content(message)).collect();
    assert_eq!(follow(&lines), report.delivered);
}

#[tokio::test]
async fn syslog_over_udp_and_the_local_socket() {
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let path: PathBuf =
        std::env::temp_dir().join(format!("hostler-log-{}", udp.local_addr().unwrap().port()));
    let local = UnixDatagram::bind(&path).unwrap();
    local.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let sinks = vec![
        sink("net", &format!("syslog+udp://{}", udp.local_addr().unwrap())),
        sink("local", &format!("syslog+unix:{}", path.display())),
    ];
    let world = world(sinks, &["127.0.0.1"]).await;
    act(&world, 3).await;
    let count = lag(&world).await;
    assert!(pass(&world).await.failing.is_empty());
    let mut part = [0; 65_536];
    let mut lines = (Vec::new(), Vec::new());
    for _ in 0..count {
        let length = udp.recv(&mut part).unwrap();
        lines.0.push(content(std::str::from_utf8(&part[..length]).unwrap()));
        let length = local.recv(&mut part).unwrap();
        lines.1.push(content(std::str::from_utf8(&part[..length]).unwrap()));
    }
    assert_eq!((follow(&lines.0), follow(&lines.1)), (count, count));
    std::fs::remove_file(path).unwrap();
}
