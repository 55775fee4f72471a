//! A control plane of one process: an authority, a listener for agents over mutual TLS, and sessions
//! that tests hold in their hands. And an agent that can be killed without ceremony.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use hostler_agent::identity::{Identity, NodeRecord};
use hostler_agent::local::{self, LocalStatus};
use hostler_agent::{AgentConfig, AgentError};
use hostler_base::{Clock, Shutdown};
use hostler_model::{
    Assignment, Desired, ExitReason, Generation, NodeId, PlacementId, Report, ReportState, RunId,
    ServerId, WorkloadId, WorkloadSpec,
};
use hostler_proto::v1::agent_link_server::{AgentLink, AgentLinkServer};
use hostler_proto::v1::{self, agent_message, server_message};
use hostler_proto::{assignment_to_message, parse_report};
use hostler_trust::{Authority, NodeKey, PeerIdentity, certificate};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::task::TaskTracker;
use tonic::transport::server::Connected;
use tonic::{Request, Response, Status, Streaming};
use uuid::Uuid;

use crate::support::DEADLINE;

pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(DEADLINE, future).await {
        Ok(value) => value,
        Err(_) => panic!("in vain waited for {what}"),
    }
}

/// The authority and where its servers are.
pub struct Installation {
    pub authority: Authority,
    pub node_id: NodeId,
    pub clock: Clock,
}

impl Installation {
    pub fn new() -> Installation {
        let clock = Clock::system();
        Installation {
            authority: Authority::create(clock.now(), "test").unwrap(),
            node_id: NodeId::from_uuid(Uuid::new_v4()),
            clock,
        }
    }

    /// Makes the data directory that of a node that has joined.
    pub fn join(&self, data: &Path, servers: &[String]) {
        self.join_for(data, servers, Duration::from_hours(24));
    }

    pub fn join_for(&self, data: &Path, servers: &[String], valid_for: Duration) {
        let key = NodeKey::generate().unwrap();
        let chain = self.sign(&key.csr_pem().unwrap(), valid_for);
        let node = NodeRecord {
            node_id: self.node_id,
            name: "alpha".parse().unwrap(),
            servers: servers.to_vec(),
        };
        Identity::new(node, self.authority.certificate().clone(), key.identity(chain))
            .unwrap()
            .store(data)
            .unwrap();
    }

    pub fn sign(&self, csr: &str, valid_for: Duration) -> String {
        self.authority.sign_node(csr, self.node_id, self.clock.now(), valid_for).unwrap().chain_pem
    }

    pub fn server_identity(&self) -> certificate::Identity {
        let id = ServerId::from_uuid(Uuid::new_v4());
        let day = Duration::from_hours(24);
        let names = ["localhost".to_owned()];
        self.authority.issue_server(id, &names, self.clock.now(), day).unwrap().1
    }
}

/// A server that agents can dial.
pub struct FakeServer {
    pub address: String,
    sessions: mpsc::Receiver<FakeSession>,
    stop: tokio_util::sync::CancellationToken,
}

/// One agent's session, from the server's side. Heartbeats are answered by themselves.
pub struct FakeSession {
    pub hello: v1::Hello,
    pub serial: String,
    /// Set to leave heartbeats unanswered.
    pub is_silent: Arc<AtomicBool>,
    /// Heartbeats that were answered.
    pub beats: Arc<AtomicU64>,
    /// The last measurements that came with one.
    pub metrics: Arc<Mutex<String>>,
    out: mpsc::Sender<Result<v1::ServerMessage, Status>>,
    inbox: mpsc::Receiver<agent_message::Body>,
    /// Received, not looked at yet.
    reports: VecDeque<Report>,
}

struct Link {
    sessions: mpsc::Sender<FakeSession>,
    tasks: TaskTracker,
}

impl FakeServer {
    pub async fn start(installation: &Installation) -> FakeServer {
        FakeServer::start_at(installation, "127.0.0.1:0").await
    }

    pub async fn start_at(installation: &Installation, listen: &str) -> FakeServer {
        let mut config = hostler_trust::tls::server_mutual(
            &installation.server_identity(),
            installation.authority.certificate(),
        )
        .unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind(listen).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, sessions) = mpsc::channel(16);
        let (accepted, incoming) = mpsc::channel(16);
        let tasks = TaskTracker::new();
        let stop = tokio_util::sync::CancellationToken::new();
        let accept = async move {
            while let Ok((tcp, _)) = listener.accept().await {
                if let Ok(stream) = acceptor.accept(tcp).await {
                    let _ = accepted.send(Ok::<_, std::io::Error>(Io(stream))).await;
                }
            }
        };
        tasks.spawn(stop.clone().run_until_cancelled_owned(accept));
        let link = Link { sessions: sender, tasks: tasks.clone() };
        let gzip = tonic::codec::CompressionEncoding::Gzip;
        let link = AgentLinkServer::new(link).accept_compressed(gzip).send_compressed(gzip);
        let serve = tonic::transport::Server::builder()
            .add_service(link)
            .serve_with_incoming(ReceiverStream::new(incoming));
        tasks.spawn(stop.clone().run_until_cancelled_owned(async move {
            let _ = serve.await;
        }));
        FakeServer { address, sessions, stop }
    }

    /// The next agent to say hello, not answered yet.
    pub async fn greeted(&mut self) -> FakeSession {
        soon("a session", self.sessions.recv()).await.unwrap()
    }

    /// The next agent to say hello, welcomed.
    pub async fn session(&mut self) -> FakeSession {
        let session = self.greeted().await;
        session.welcome(&[]).await;
        session
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

#[tonic::async_trait]
impl AgentLink for Link {
    type SessionStream = ReceiverStream<Result<v1::ServerMessage, Status>>;

    async fn resolve_image(
        &self,
        _: Request<v1::ResolveImageRequest>,
    ) -> Result<Response<v1::ResolveImageReply>, Status> {
        Ok(Response::new(v1::ResolveImageReply::default()))
    }

    async fn session(
        &self,
        request: Request<Streaming<v1::AgentMessage>>,
    ) -> Result<Response<Self::SessionStream>, Status> {
        let serial = request.extensions().get::<Serial>().unwrap().0.clone();
        let mut messages = request.into_inner();
        let first = messages.message().await?.and_then(|first| first.body);
        let Some(agent_message::Body::Hello(hello)) = first else {
            return Err(Status::invalid_argument("no hello"));
        };
        let (out, replies) = mpsc::channel(64);
        let (deliver, inbox) = mpsc::channel(1024);
        let acks = out.clone();
        let is_silent = Arc::new(AtomicBool::new(false));
        let silent = is_silent.clone();
        let beats = Arc::new(AtomicU64::new(0));
        let beaten = beats.clone();
        let metrics = Arc::new(Mutex::new(String::new()));
        let measured = metrics.clone();
        self.tasks.spawn(async move {
            loop {
                let message = tokio::select! {
                    () = deliver.closed() => return,
                    message = messages.message() => message,
                };
                let Ok(Some(message)) = message else { return };
                match message.body {
                    Some(agent_message::Body::Heartbeat(_)) if silent.load(Ordering::Relaxed) => {}
                    Some(agent_message::Body::Heartbeat(beat)) => {
                        let ack = v1::HeartbeatAck { applied_generation: beat.applied_generation };
                        let body = Some(server_message::Body::HeartbeatAck(ack));
                        let _ = acks.send(Ok(v1::ServerMessage { body })).await;
                        if !beat.metrics_json.is_empty() {
                            *measured.lock().unwrap() = beat.metrics_json;
                        }
                        beaten.fetch_add(1, Ordering::Relaxed);
                    }
                    Some(body) => {
                        let _ = deliver.send(body).await;
                    }
                    None => {}
                }
            }
        });
        let reports = VecDeque::new();
        let session = FakeSession { hello, serial, is_silent, beats, metrics, out, inbox, reports };
        let _ = self.sessions.send(session).await;
        Ok(Response::new(ReceiverStream::new(replies)))
    }
}

impl FakeSession {
    pub async fn welcome(&self, addresses: &[String]) {
        let welcome = v1::Welcome {
            server_id: "a-server".into(),
            heartbeat_interval_ms: 200,
            node_name: "alpha".into(),
            agent_addresses: addresses.to_vec(),
            keeps_facts: true,
            ..v1::Welcome::default()
        };
        self.say(server_message::Body::Welcome(welcome)).await;
    }

    pub async fn say(&self, body: server_message::Body) {
        let message = v1::ServerMessage { body: Some(body) };
        self.out.send(Ok(message)).await.expect("the session lives");
    }

    pub async fn next(&mut self) -> agent_message::Body {
        soon("a message", self.inbox.recv()).await.expect("the session lives")
    }

    /// Resolves when the agent has let go.
    pub async fn ended(&mut self) {
        soon("the session to end", async { while self.inbox.recv().await.is_some() {} }).await;
    }

    pub async fn desire(&self, from: u64, to: u64, assignments: &[Assignment]) {
        let desired = v1::Desired {
            from_generation: from,
            to_generation: to,
            placements: assignments.iter().map(assignment_to_message).collect(),
            log_shares: None,
        };
        self.say(server_message::Body::Desired(desired)).await;
    }

    /// What became durable; reports that come before it are kept.
    pub async fn applied(&mut self) -> u64 {
        loop {
            match self.next().await {
                agent_message::Body::Applied(applied) => return applied.generation,
                agent_message::Body::Reports(reports) => self.keep(reports),
                _ => {}
            }
        }
    }

    fn keep(&mut self, reports: v1::Reports) {
        let reports = reports.reports.into_iter();
        self.reports.extend(reports.map(|report| parse_report(report).unwrap()));
    }

    /// The next report that satisfies; those before it are dropped.
    pub async fn report_that(&mut self, fits: impl Fn(&Report) -> bool) -> Report {
        loop {
            while let Some(report) = self.reports.pop_front() {
                if fits(&report) {
                    return report;
                }
            }
            if let agent_message::Body::Reports(reports) = self.next().await {
                self.keep(reports);
            }
        }
    }

    pub async fn running(&mut self, run: RunId) -> u32 {
        let is_running =
            |r: &Report| r.run_id == run && matches!(r.state, ReportState::Running { .. });
        match self.report_that(is_running).await.state {
            ReportState::Running { pid, .. } => pid,
            ReportState::Paused { .. } | ReportState::Exited { .. } => unreachable!(),
        }
    }

    pub async fn exited(&mut self, run: RunId) -> Report {
        self.report_that(|r| r.run_id == run && matches!(r.state, ReportState::Exited { .. })).await
    }

    pub async fn ack(&self, report: &Report) {
        self.ack_as(report.run_id, report.generation, false).await;
    }

    pub async fn ack_as(&self, run: RunId, generation: Generation, unknown: bool) {
        let ack = v1::ReportAck { run_id: run.to_string(), generation: generation.get(), unknown };
        let acks = v1::ReportAcks { acks: vec![ack] };
        self.say(server_message::Body::ReportAcks(acks)).await;
    }
}

pub fn assignment(generation: u64, spec: WorkloadSpec) -> Assignment {
    Assignment {
        placement_id: PlacementId::from_uuid(Uuid::new_v4()),
        run_id: Some(RunId::from_uuid(Uuid::new_v4())),
        desired: Desired::Run,
        generation: Generation::from_u64(generation),
        workload_id: WorkloadId::from_uuid(Uuid::new_v4()),
        workload_name: "a-task".parse().unwrap(),
        project_name: "default".parse().unwrap(),
        spec,
        grace: None,
        reservation: hostler_model::Reservation::default(),
        seat: None,
        trace: None,
        revision: Generation::FIRST,
    }
}

pub fn stopped(generation: u64, assignment: &Assignment) -> Assignment {
    Assignment {
        desired: Desired::Stop,
        generation: Generation::from_u64(generation),
        ..assignment.clone()
    }
}

pub fn exit_of(report: &Report) -> (ExitReason, Option<i32>) {
    match &report.state {
        ReportState::Exited { exit, .. } => (exit.reason, exit.code),
        ReportState::Running { .. } | ReportState::Paused { .. } => panic!("it runs"),
    }
}

/// An agent on a runtime of its own, so that it can be killed.
pub struct Agent {
    pub data: PathBuf,
    shutdown: Shutdown,
    runtime: Option<tokio::runtime::Runtime>,
    done: Option<tokio::task::JoinHandle<Result<(), AgentError>>>,
}

pub fn agent_config(data: &Path) -> AgentConfig {
    AgentConfig {
        executor_args: vec![],
        ..AgentConfig::new(data, env!("CARGO_BIN_EXE_hostler-test-executor"))
    }
}

impl Agent {
    pub fn start(data: &Path) -> Agent {
        Agent::start_with(agent_config(data))
    }

    pub fn start_with(config: AgentConfig) -> Agent {
        Agent::start_at(config, Clock::system())
    }

    pub fn start_at(config: AgentConfig, clock: Clock) -> Agent {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let shutdown = Shutdown::new(clock.clone());
        let (data, stop) = (config.data_dir.clone(), shutdown.clone());
        let done =
            runtime.handle().spawn(async move { hostler_agent::run(config, clock, &stop).await });
        Agent { data, shutdown, runtime: Some(runtime), done: Some(done) }
    }

    /// As `kill -9` would: nothing is finished, nothing is said.
    pub fn kill(mut self) {
        if let Some(runtime) = self.runtime.take() {
            let end = move || runtime.shutdown_timeout(DEADLINE);
            std::thread::spawn(end).join().unwrap();
        }
    }

    /// In good order.
    pub async fn stop(mut self) -> Result<(), AgentError> {
        self.shutdown.request("the test is over");
        let done = self.done.take().unwrap();
        let result = soon("the agent to stop", done).await.unwrap();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        result
    }

    /// Waits until the local status satisfies.
    pub async fn status_that(
        &self,
        what: &str,
        fits: impl Fn(&LocalStatus) -> bool,
    ) -> LocalStatus {
        soon(what, async {
            loop {
                if let Ok(status) = local::query(&self.data, &Clock::system()).await
                    && fits(&status)
                {
                    return status;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Ends what a test's runs left, however the test ended.
pub struct Data(pub tempfile::TempDir);

impl Data {
    pub fn new() -> Data {
        Data(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Data {
    fn drop(&mut self) {
        end_runs(self.path());
    }
}

pub fn end_runs(data: &Path) {
    for entry in std::fs::read_dir(data.join("runs")).into_iter().flatten().flatten() {
        let Ok(text) = std::fs::read_to_string(entry.path().join("started.json")) else {
            continue;
        };
        if entry.path().join("exit.json").exists() {
            continue;
        }
        let record: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        if let Some(path) = record["cgroup"].as_str() {
            let _ = std::fs::write(Path::new(path).join("cgroup.kill"), "1");
        }
    }
}

/// Who the client is.
#[derive(Clone)]
pub struct Serial(String);

/// A TLS connection that tonic can serve.
struct Io(TlsStream<TcpStream>);

impl Connected for Io {
    type ConnectInfo = Serial;

    fn connect_info(&self) -> Serial {
        let chain = self.0.get_ref().1.peer_certificates().unwrap();
        let certificate = hostler_trust::PeerCertificate::from_der(&chain[0]).unwrap();
        assert!(matches!(certificate.identity, PeerIdentity::Node(_)));
        Serial(certificate.serial)
    }
}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Io {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
