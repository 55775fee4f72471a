//! Who may say what on the agents' listener: every call and every kind of message of the protocol, tried
//! by everybody who could come, over real connections.
//!
//! The lists here are held against `proto/agent.proto`, and what a node may say in its session is a match
//! without a rest: a call or a kind of message without a rule fails here, or does not compile.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hostler_base::{Clock, OnError, Phase, Shutdown};
use hostler_model::{Facts, NodeId, ServerId};
use hostler_proto::PROTOCOL;
use hostler_proto::v1::agent_link_client::AgentLinkClient;
use hostler_proto::v1::blob_link_client::BlobLinkClient;
use hostler_proto::v1::peer_link_client::PeerLinkClient;
use hostler_proto::v1::secret_link_client::SecretLinkClient;
use hostler_proto::v1::step_link_client::StepLinkClient;
use hostler_proto::v1::{self, agent_message::Body as In, server_message::Body as Out};
use hostler_server::grpc::serve_agents;
use hostler_server::tls::ServerTls;
use hostler_trust::certificate::Identity;
use hostler_trust::{Authority, NodeKey, PeerCertificate, tls};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsConnector;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use uuid::Uuid;

use crate::attack::counted;
use crate::node::{join, placement, running};
use crate::world::World;

const PROTO: &str = include_str!("../../../../proto/agent.proto");
const FOREIGN: &str = "hostler_connections_refused_total{listener=\"agents\",reason=\"foreign\"}";
const HOUR: Duration = Duration::from_secs(3600);
const PATIENCE: Duration = Duration::from_secs(20);

/// Whose call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    Nodes,
    Servers,
}

const CALLS: &[(&str, Rule)] = &[
    ("Session", Rule::Nodes),
    ("ResolveImage", Rule::Nodes),
    ("FetchBlob", Rule::Nodes),
    ("FetchChunks", Rule::Nodes),
    ("MissingChunks", Rule::Nodes),
    ("PutChunk", Rule::Nodes),
    ("PutBlob", Rule::Nodes),
    ("PutOutputs", Rule::Nodes),
    ("FetchSecrets", Rule::Nodes),
    ("Ask", Rule::Nodes),
    ("Relay", Rule::Servers),
];

/// What a message in a session can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// Says who speaks and opens the session; only first.
    Opening,
    /// Only the node that the certificate names; it names nothing else.
    Itself,
    /// Names runs or placements, which have to be the node's own.
    OwnRuns,
    /// Names watchers, which have to be the node's own.
    OwnWatchers,
    /// Names streams, which are of this very session.
    OwnStreams,
}

fn reach(message: &In) -> Reach {
    match message {
        In::Hello(_) => Reach::Opening,
        In::Heartbeat(_)
        | In::Applied(_)
        | In::FactsChanged(_)
        | In::ImageNews(_)
        | In::Leaving(_)
        | In::RenewRequest(_) => Reach::Itself,
        In::Reports(_) | In::StatusReports(_) | In::Holdings(_) => Reach::OwnRuns,
        In::WatcherReport(_) => Reach::OwnWatchers,
        In::StreamData(_) | In::StreamEnd(_) => Reach::OwnStreams,
    }
}

fn field(message: &In) -> &'static str {
    match message {
        In::Hello(_) => "hello",
        In::Heartbeat(_) => "heartbeat",
        In::Reports(_) => "reports",
        In::StreamData(_) => "stream_data",
        In::StreamEnd(_) => "stream_end",
        In::RenewRequest(_) => "renew_request",
        In::Applied(_) => "applied",
        In::StatusReports(_) => "status_reports",
        In::FactsChanged(_) => "facts_changed",
        In::ImageNews(_) => "image_news",
        In::Holdings(_) => "holdings",
        In::WatcherReport(_) => "watcher_report",
        In::Leaving(_) => "leaving",
    }
}

/// One message of every kind, about things that are not the speaker's.
fn said(run: &str, placement: &str, watcher: &str) -> Vec<In> {
    let running = v1::report::State::Exited(v1::Exited {
        reason: "exited".into(),
        code: Some(0),
        time_micros: 9,
        ..v1::Exited::default()
    });
    let report = v1::Report {
        run_id: run.to_owned(),
        placement_id: placement.to_owned(),
        generation: 1_000,
        state: Some(running),
        origin: Some(v1::Origin {
            number: 1,
            cause: "start".into(),
            fire_micros: None,
            revision: 1,
        }),
    };
    let plain = v1::Report { origin: None, ..report.clone() };
    let holdings =
        v1::Holdings { run_ids: vec![run.to_owned()], reports: vec![plain.clone()], more: false };
    let status = v1::StatusReport {
        placement_id: placement.to_owned(),
        generation: 1_000,
        status_json: serde_json::to_string(&hostler_model::PlacementStatus::new(
            hostler_model::Phase::Failed,
            hostler_model::Generation::FIRST,
        ))
        .unwrap(),
    };
    let labelled = json!({ "labels": { "gpu": "yes" }, "hostname": "n1" }).to_string();
    vec![
        In::Heartbeat(v1::Heartbeat {
            applied_generation: 1,
            metrics_json: String::new(),
            usage_json: String::new(),
        }),
        In::Reports(v1::Reports { reports: vec![report, plain] }),
        In::StreamData(v1::StreamData { stream_id: 1, frames: Vec::new() }),
        In::StreamEnd(v1::StreamEnd { stream_id: 1, ..v1::StreamEnd::default() }),
        In::RenewRequest(v1::RenewRequest {
            csr_pem: NodeKey::generate().unwrap().csr_pem().unwrap(),
        }),
        In::Applied(v1::Applied { generation: 1 }),
        In::StatusReports(v1::StatusReports { reports: vec![status] }),
        In::FactsChanged(v1::FactsChanged { facts_json: labelled }),
        In::ImageNews(v1::ImageNews { news_json: vec!["{}".into()] }),
        In::Holdings(holdings),
        In::WatcherReport(v1::WatcherReport {
            number: 1,
            generation: 99,
            news_json: vec![
                json!({
                    "watcher": watcher,
                    "sequence": 1,
                    "time": "2026-01-01T00:00:00Z",
                    "told": { "word": "fired", "words": "of somebody else" },
                })
                .to_string(),
            ],
            standings_json: vec![json!({ "watcher": watcher, "revision": 1 }).to_string()],
        }),
        In::Leaving(v1::Leaving {}),
    ]
}

/// The words between two marks of the protocol's file that stand at the beginning of lines.
fn declared(begin: &str, word: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let (_, rest) = PROTO.split_once(begin).expect("the protocol has it");
    let mut words = Vec::new();
    for line in rest.lines().skip(1).map(str::trim) {
        match word(line) {
            Some(found) => words.push(found),
            None if line == "}" => break,
            None => {}
        }
    }
    words
}

#[test]
fn every_call_and_every_kind_of_message_has_a_rule() {
    let calls: Vec<&str> = PROTO
        .lines()
        .filter_map(|line| line.trim().strip_prefix("rpc ")?.split_once('('))
        .map(|(name, _)| name)
        .collect();
    let ruled: Vec<&str> = CALLS.iter().map(|(name, _)| *name).collect();
    assert_eq!(calls, ruled);
    let kinds = declared("message AgentMessage {\n  oneof body {", |line| {
        let (name, number) = line.split_once(" = ")?;
        number.ends_with(';').then(|| name.rsplit(' ').next().unwrap_or(name).to_owned())
    });
    let hello = In::Hello(v1::Hello::default());
    let mut tried: Vec<&str> = said("", "", "").iter().map(field).collect();
    tried.push(field(&hello));
    let mut kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    tried.sort_unstable();
    kinds.sort_unstable();
    assert_eq!(kinds, tried);
    assert_eq!(reach(&hello), Reach::Opening);
}

struct Listener {
    world: World,
    address: SocketAddr,
    _shutdown: Shutdown,
}

async fn listener() -> Listener {
    let world = World::new().await;
    let authority = world.control.authority();
    let own = server(&authority, world.control.server_id());
    let mut config = tls::server_mutual(&own, authority.certificate()).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec()];
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    let shutdown = Shutdown::new(Clock::system());
    let tasks = shutdown.tasks(Phase::Sessions);
    let (control, own_tasks) = (world.control.clone(), tasks.clone());
    tasks.spawn("agents", OnError::Shutdown, async move {
        serve_agents(control, socket, ServerTls::of(config), own_tasks).await
    });
    Listener { world, address, _shutdown: shutdown }
}

fn server(authority: &Authority, id: ServerId) -> Identity {
    authority.issue_server(id, &["127.0.0.1".into()], Clock::system().now(), HOUR).unwrap().1
}

impl Listener {
    /// Joins a node and keeps what only it should have.
    async fn member(&self, name: &str) -> (NodeId, Identity) {
        let made = self.world.post("/api/v1/join-tokens", json!({ "name": name })).await.json();
        let token = made["ticket"].as_str().unwrap().split('.').next().unwrap().to_owned();
        let key = NodeKey::generate().unwrap();
        let body = json!({ "token": token, "name": name, "csr": key.csr_pem().unwrap() });
        let joined = self.world.post("/api/v1/join", body).await.json();
        let id = joined["nodeId"].as_str().unwrap().parse().unwrap();
        (id, key.identity(joined["certificate"].as_str().unwrap()))
    }

    async fn channel(&self, identity: Option<&Identity>) -> Result<Channel, Status> {
        let authority = self.world.control.authority();
        let mut config = tls::client(authority.certificate(), identity).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let (connector, target) = (TlsConnector::from(Arc::new(config)), self.address);
        let connect = tower::service_fn(move |_: http::Uri| {
            let connector = connector.clone();
            async move {
                let stream = TcpStream::connect(target).await?;
                let name = rustls::pki_types::ServerName::try_from("hostler").unwrap();
                Ok::<_, std::io::Error>(TokioIo::new(connector.connect(name, stream).await?))
            }
        });
        Endpoint::from_shared(format!("http://{}", self.address))
            .unwrap()
            .connect_with_connector(connect)
            .await
            .map_err(|error| Status::unavailable(error.to_string()))
    }

    /// Opens a session as somebody; what the server says first.
    async fn open(&self, identity: &Identity, epoch: u64) -> Result<Conversation, Status> {
        let mut client = AgentLinkClient::new(self.channel(Some(identity)).await?);
        let (say, queue) = mpsc::channel(16);
        let facts_json = serde_json::to_string(&Facts::default()).unwrap();
        let hello = v1::Hello {
            protocol: PROTOCOL,
            session_epoch: epoch,
            facts_json,
            tells_holdings: true,
            ..v1::Hello::default()
        };
        say.send(v1::AgentMessage { body: Some(In::Hello(hello)) }).await.unwrap();
        let hear = client.session(ReceiverStream::new(queue)).await?.into_inner();
        Ok(Conversation { say, hear })
    }
}

struct Conversation {
    say: mpsc::Sender<v1::AgentMessage>,
    hear: tonic::Streaming<v1::ServerMessage>,
}

impl Conversation {
    async fn say(&self, body: In) {
        self.say.send(v1::AgentMessage { body: Some(body) }).await.unwrap();
    }

    /// The next thing that the server says; `None` when the session is over.
    async fn next(&mut self) -> Option<Out> {
        let next = tokio::time::timeout(PATIENCE, self.hear.message()).await.expect("an answer");
        next.ok().flatten().and_then(|message| message.body)
    }

    /// The next thing of a kind.
    async fn find<T>(&mut self, wanted: impl Fn(Out) -> Option<T>) -> T {
        loop {
            let said = self.next().await.expect("the session goes on");
            if let Some(found) = wanted(said) {
                return found;
            }
        }
    }
}

/// Calls with nothing in it, so that who gets through is told that it makes no sense.
async fn call(name: &str, channel: Channel) -> Result<(), Status> {
    let mut agents = AgentLinkClient::new(channel.clone());
    let mut blobs = BlobLinkClient::new(channel.clone());
    let mut secrets = SecretLinkClient::new(channel.clone());
    let mut steps = StepLinkClient::new(channel.clone());
    let mut peers = PeerLinkClient::new(channel);
    match name {
        "Session" => {
            let (say, queue) = mpsc::channel(1);
            drop(say);
            agents.session(ReceiverStream::new(queue)).await.map(drop)
        }
        "ResolveImage" => agents.resolve_image(v1::ResolveImageRequest::default()).await.map(drop),
        "FetchBlob" => blobs.fetch_blob(v1::FetchBlobRequest::default()).await.map(drop),
        "FetchChunks" => blobs.fetch_chunks(v1::FetchChunksRequest::default()).await.map(drop),
        "MissingChunks" => {
            blobs.missing_chunks(v1::MissingChunksRequest::default()).await.map(drop)
        }
        "PutChunk" => blobs.put_chunk(v1::PutChunkRequest::default()).await.map(drop),
        "PutBlob" => blobs.put_blob(v1::PutBlobRequest::default()).await.map(drop),
        "PutOutputs" => blobs.put_outputs(v1::PutOutputsRequest::default()).await.map(drop),
        "FetchSecrets" => secrets.fetch_secrets(v1::FetchSecretsRequest::default()).await.map(drop),
        "Ask" => steps.ask(v1::StepRequest::default()).await.map(drop),
        "Relay" => peers.relay(v1::RelayRequest::default()).await.map(drop),
        other => panic!("nobody tries {other}"),
    }
}

/// How far somebody came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    /// To where it is looked at what is asked.
    In,
    /// To where it is looked at who asks.
    Refused,
    /// Not even through the handshake.
    Out,
}

fn came(result: &Result<(), Status>) -> Came {
    match result.as_ref().map_err(Status::code) {
        Ok(()) | Err(Code::InvalidArgument | Code::NotFound | Code::FailedPrecondition) => Came::In,
        Err(Code::PermissionDenied | Code::Unauthenticated) => Came::Refused,
        Err(_) => Came::Out,
    }
}

#[tokio::test]
async fn every_call_is_for_whom_its_rule_says() {
    let listener = listener().await;
    let authority = listener.world.control.authority();
    let (_, right) = listener.member("right").await;
    let (removed_id, removed) = listener.member("revoked").await;
    let now = Clock::system().now();
    let revoked: Result<u64, hostler_store::Error> = listener
        .world
        .control
        .store()
        .tx("revoke", |tx| Box::pin(tx.node_certificates_revoke(removed_id, now)))
        .await;
    assert_eq!(revoked.unwrap(), 1);
    let stranger = Authority::create(Clock::system().now(), "stranger").unwrap();
    let foreign = server(&stranger, ServerId::from_uuid(Uuid::from_u128(1)));
    let peer = server(&authority, ServerId::from_uuid(Uuid::from_u128(2)));
    let key = NodeKey::generate().unwrap();
    // Signed by the authority, but nobody wrote down that it was: a certificate that was made elsewhere.
    let unwritten = authority
        .sign_node(&key.csr_pem().unwrap(), removed_id, Clock::system().now(), HOUR)
        .unwrap();
    let unwritten = key.identity(unwritten.chain_pem);
    for (name, rule) in CALLS {
        let callers = [
            ("nobody", None, Came::Out, Came::Out),
            ("another installation's server", Some(&foreign), Came::Out, Came::Out),
            ("a node", Some(&right), Came::In, Came::Refused),
            ("a revoked node", Some(&removed), Came::Refused, Came::Refused),
            ("an unwritten certificate", Some(&unwritten), Came::Refused, Came::Refused),
            ("a server", Some(&peer), Came::Refused, Came::In),
        ];
        for (who, identity, for_nodes, for_servers) in callers {
            let result = match listener.channel(identity).await {
                Ok(channel) => call(name, channel).await,
                Err(status) => Err(status),
            };
            let expected = match rule {
                Rule::Nodes => for_nodes,
                Rule::Servers => for_servers,
            };
            // A session answers who is no member any more in its own words, below.
            let is_told_later =
                *name == "Session" && expected == Came::Refused && who != "a server";
            let expected = if is_told_later { Came::In } else { expected };
            assert_eq!(came(&result), expected, "{name} by {who}: {result:?}");
        }
    }
    for identity in [&removed, &unwritten] {
        let mut session = listener.open(identity, 1).await.unwrap();
        match session.next().await {
            Some(Out::Refusal(refusal)) => assert!(!refusal.retry, "{}", refusal.detail),
            other => panic!("{other:?}"),
        }
        assert_eq!(session.next().await, None);
    }
}

#[tokio::test]
async fn a_token_of_a_person_opens_nothing_here() {
    let listener = listener().await;
    let token = format!("Bearer {}", listener.world.admin);
    if let Ok(channel) = listener.channel(None).await {
        let mut request = Request::new(v1::ResolveImageRequest::default());
        request.metadata_mut().insert("authorization", token.parse().unwrap());
        let result = AgentLinkClient::new(channel).resolve_image(request).await.map(drop);
        assert_eq!(came(&result), Came::Out, "{result:?}");
    }
    let (id, _) = listener.member("gone").await;
    let (_, thief) = listener.member("thief").await;
    let mut request =
        Request::new(v1::RelayRequest { node_id: id.to_string(), ..Default::default() });
    request.metadata_mut().insert("authorization", token.parse().unwrap());
    let channel = listener.channel(Some(&thief)).await.unwrap();
    let result = PeerLinkClient::new(channel).relay(request).await.map(drop);
    assert_eq!(came(&result), Came::Refused, "{result:?}");
}

/// As when its certificate was renewed.
#[tokio::test]
async fn whoever_asks_a_node_that_changes_sessions_does_not_notice() {
    let listener = listener().await;
    let (_, identity) = listener.member("n1").await;
    let mut first = listener.open(&identity, 1).await.unwrap();
    first.find(|said| matches!(said, Out::Welcome(_)).then_some(())).await;
    let opened = |said| match said {
        Out::StreamOpen(open) => Some(open.stream_id),
        _ => None,
    };
    let facts = |id| {
        let data = serde_json::to_vec(&Facts::default()).unwrap();
        let frame = v1::OutputFrame { kind: 1, data, ..v1::OutputFrame::default() };
        In::StreamData(v1::StreamData { stream_id: id, frames: vec![frame] })
    };
    let reload = || listener.world.post("/api/v1/nodes/n1/reload", json!({}));

    let before = async {
        let asked = first.find(opened).await;
        first.say(In::Leaving(v1::Leaving {})).await;
        first.find(|said| matches!(said, Out::Goodbye(_)).then_some(())).await;
        first.say(facts(asked)).await;
    };
    let (told, ()) = tokio::join!(reload(), before);
    assert_eq!(told.status, 200, "what was asked before is answered: {}", told.json());

    let after = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(first);
        let mut second = listener.open(&identity, 2).await.unwrap();
        let asked = second.find(opened).await;
        second.say(facts(asked)).await;
        second
    };
    let (told, second) = tokio::join!(reload(), after);
    assert_eq!(told.status, 200, "what is asked between is asked next: {}", told.json());

    drop(second);
    let told = async {
        loop {
            let told = reload().await;
            if told.status != 200 {
                return told;
            }
        }
    };
    let told = tokio::time::timeout(PATIENCE, told).await.unwrap();
    assert_eq!(told.code(), "node-unreachable", "who goes without a word is not waited for");
}

/// A watcher that is for one node only, which has its orders.
async fn watcher(listener: &Listener) -> String {
    let spec = json!({ "nodes": ["n1"], "watch": { "port": { "port": 443 } } });
    let path = "/api/v1/projects/default/watchers/theirs";
    let made = listener.world.call(http::Method::PUT, path, Some(spec)).await.json();
    listener.world.control.watcher_orders_give().await.unwrap();
    made["id"].as_str().unwrap().to_owned()
}

/// A stolen certificate of one node, tried on everything of another.
#[tokio::test]
async fn a_node_speaks_for_no_other() {
    let listener = listener().await;
    let world = &listener.world;
    let (victim, _) = join(world, "n1").await;
    let (placement_id, run) = running(world, victim).await;
    let (run, at) = (run.to_string(), placement_id.to_string());
    let (thief_id, thief) = listener.member("thief").await;
    let before = world.get("/api/v1/projects/default/workloads/web/runs").await.json();
    let watcher = watcher(&listener).await;
    let noted = counted(world, FOREIGN).await;

    // As after a restore, so that it is asked what it holds.
    let now = Clock::system().now();
    let waited: Result<(), hostler_store::Error> = world
        .control
        .store()
        .tx("resync", |tx| Box::pin(tx.node_resync_insert(thief_id, "restored", now)))
        .await;
    waited.unwrap();
    let mut session = listener.open(&thief, 7).await.unwrap();
    let welcome = session.next().await;
    assert!(matches!(&welcome, Some(Out::Welcome(w)) if w.asks_holdings), "{welcome:?}");
    for message in said(&run, &at, &watcher) {
        let (kind, reach) = (field(&message), reach(&message));
        session.say(message).await;
        match (kind, reach) {
            ("reports", Reach::OwnRuns) => {
                let acks = session.find(|said| match said {
                    Out::ReportAcks(acks) => Some(acks.acks),
                    _ => None,
                });
                let acks = acks.await;
                assert_eq!(acks.len(), 2);
                assert!(acks.iter().all(|ack| ack.unknown), "{acks:?}");
            }
            ("holdings", Reach::OwnRuns) => {
                let acks = session.find(|said| match said {
                    Out::ReportAcks(acks) => Some(acks.acks),
                    _ => None,
                });
                let acks = acks.await;
                assert!(acks.len() == 1 && acks[0].unknown, "{acks:?}");
            }
            ("status_reports", Reach::OwnRuns) => {
                let acks = session.find(|said| match said {
                    Out::StatusAcks(acks) => Some(acks.acks),
                    _ => None,
                });
                let acks = acks.await;
                assert!(acks.len() == 1 && acks[0].unknown, "{acks:?}");
            }
            ("watcher_report", Reach::OwnWatchers) => {
                let ack = session.find(|said| match said {
                    Out::WatcherAck(ack) => Some(ack.number),
                    _ => None,
                });
                assert_eq!(ack.await, 1, "it need not tell it again");
            }
            ("renew_request", Reach::Itself) => {
                let reply = session.find(|said| match said {
                    Out::RenewReply(reply) => Some(reply),
                    _ => None,
                });
                let renewed = PeerCertificate::from_pem(&reply.await.certificate_pem).unwrap();
                let own = hostler_trust::PeerIdentity::Node(thief_id);
                assert_eq!(renewed.identity, own, "whatever the request says, it is the speaker's");
            }
            (_, Reach::Itself | Reach::OwnStreams) => {}
            other => panic!("nobody knows what comes of {other:?}"),
        }
    }
    // Still there, so everything before it was taken in.
    session.say(In::Heartbeat(v1::Heartbeat::default())).await;
    session.find(|said| matches!(said, Out::HeartbeatAck(_)).then_some(())).await;

    let after = world.get("/api/v1/projects/default/workloads/web/runs").await.json();
    assert_eq!(after, before, "nothing was believed");
    let watched = world.get("/api/v1/projects/default/watchers/theirs").await.json();
    assert_eq!(watched["nodes"][0]["state"], "pending", "{watched}");
    let fired = world.get("/api/v1/events?kind=watcher.fired").await.json();
    assert_eq!(fired["items"], json!([]));
    assert_eq!(placement(world).await, placement_id);
    for name in ["n1", "thief"] {
        let node = world.get(&format!("/api/v1/nodes/{name}")).await.json();
        assert_eq!(node["labels"], json!({}), "{name} has labels that it gave itself");
    }

    let channel = listener.channel(Some(&thief)).await.unwrap();
    let mut secrets = SecretLinkClient::new(channel.clone());
    for only_identity in [false, true] {
        let asked = v1::FetchSecretsRequest {
            placement_id: at.clone(),
            run_id: run.clone(),
            only_identity,
        };
        let refused = secrets.fetch_secrets(asked).await.unwrap_err();
        assert_eq!(refused.code(), Code::PermissionDenied, "{refused:?}");
    }
    let mut steps = StepLinkClient::new(channel.clone());
    let ask_json = br#"{"ask":"state-get","key":"k"}"#.to_vec();
    let asked = v1::StepRequest { placement_id: at.clone(), run_id: run.clone(), ask_json };
    let refused = steps.ask(asked).await.unwrap_err();
    assert_eq!(refused.code(), Code::PermissionDenied, "{refused:?}");
    let mut blobs = BlobLinkClient::new(channel);
    let digest = vec![7; 32];
    let operation = Uuid::from_u128(11).to_string();
    for put_as in [
        v1::put_as::Name::RunId(run.clone()),
        v1::put_as::Name::Grant("of somebody else".into()),
        v1::put_as::Name::BackupId(operation.clone()),
    ] {
        let put_as = Some(v1::PutAs { name: Some(put_as) });
        let missing =
            v1::MissingChunksRequest { put_as: put_as.clone(), digests: vec![digest.clone()] };
        let chunk = v1::PutChunkRequest {
            put_as: put_as.clone(),
            digest: digest.clone(),
            packed: Vec::new(),
        };
        let blob = v1::PutBlobRequest {
            put_as,
            digest: digest.clone(),
            chunks: Vec::new(),
            label: String::new(),
        };
        for result in [
            blobs.missing_chunks(missing).await.map(drop),
            blobs.put_chunk(chunk).await.map(drop),
            blobs.put_blob(blob).await.map(drop),
        ] {
            assert_eq!(result.unwrap_err().code(), Code::PermissionDenied);
        }
    }
    let fetch = v1::FetchBlobRequest {
        digest: digest.clone(),
        run_id: run.clone(),
        restore_id: String::new(),
    };
    let restored = v1::FetchBlobRequest {
        digest: digest.clone(),
        run_id: String::new(),
        restore_id: operation.clone(),
    };
    let outputs = v1::PutOutputsRequest { run_id: run.clone(), outputs: Vec::new() };
    for result in [
        blobs.fetch_blob(fetch).await.map(drop),
        blobs.fetch_blob(restored).await.map(drop),
        blobs.put_outputs(outputs).await.map(drop),
    ] {
        assert_eq!(result.unwrap_err().code(), Code::PermissionDenied);
    }
    for (run_id, restore_id) in [(run.clone(), String::new()), (String::new(), operation.clone())] {
        let blob = digest.clone();
        let digests = vec![digest.clone()];
        let chunks = v1::FetchChunksRequest { blob, run_id, digests, restore_id };
        let refused = match blobs.fetch_chunks(chunks).await {
            Ok(stream) => stream.into_inner().message().await.unwrap_err(),
            Err(status) => status,
        };
        assert_eq!(refused.code(), Code::PermissionDenied);
    }
    let both = v1::FetchBlobRequest { digest, run_id: run, restore_id: operation };
    let refused = blobs.fetch_blob(both).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    // Three reports, news and a standing of a watcher, two questions for secrets, one for what steps share, and
    // fourteen about content.
    assert_eq!(counted(world, FOREIGN).await, noted + 22, "each is counted");
    assert_eq!(world.get("/api/v1/whoami").await.status, 200, "others are answered");
}

#[tokio::test]
async fn a_session_of_the_past_is_refused() {
    let listener = listener().await;
    let (_, node) = listener.member("n1").await;
    let mut newest = listener.open(&node, 9).await.unwrap();
    assert!(matches!(newest.next().await, Some(Out::Welcome(_))));
    for epoch in [8, 9] {
        let mut late = listener.open(&node, epoch).await.unwrap();
        match late.next().await {
            Some(Out::Refusal(refusal)) => assert_eq!(refusal.code, "stale", "{}", refusal.detail),
            other => panic!("{other:?}"),
        }
    }
    newest.say(In::Hello(v1::Hello { session_epoch: 10, ..v1::Hello::default() })).await;
    let refusal = newest.find(|said| match said {
        Out::Refusal(refusal) => Some(refusal),
        _ => None,
    });
    assert_eq!(refusal.await.code, "malformed");
}
