//! A node that says what a test wants, and a workload on it.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use futures::future::BoxFuture;
use hostler_control::{Attach, HelloFacts, NodeAsk, NodeLink, OutputItem, OutputReceiver};
use hostler_model::{
    Bytes, Cores, Error, Facts, Generation, NodeId, Origin, Phase, PlacementId, PlacementStatus,
    Report, ReportState, RunCause, RunId, StatusReport, Timestamp,
};
use hostler_trust::{NodeKey, PeerCertificate};
use http::{Method, Request};
use serde_json::{Value, json};

use crate::world::{Reply, World};

pub const WORKLOADS: &str = "/api/v1/projects/default/workloads";

/// A connected node; what it is asked is remembered, and answered from a list.
#[derive(Default)]
pub struct Node {
    pub asked: Mutex<Vec<NodeAsk>>,
    answers: Mutex<Vec<Vec<Result<OutputItem, Error>>>>,
}

impl NodeLink for Node {
    fn wake(&self) {}

    fn open(&self, ask: NodeAsk) -> BoxFuture<'_, Result<OutputReceiver, Error>> {
        self.asked.lock().unwrap().push(ask);
        let mut answers = self.answers.lock().unwrap();
        let items = if answers.is_empty() { Vec::new() } else { answers.remove(0) };
        let (sender, receiver) = tokio::sync::mpsc::channel(items.len().max(1));
        for item in items {
            sender.try_send(item).unwrap();
        }
        Box::pin(async move { Ok(receiver) })
    }

    fn close(&self, _: &str, _: bool) {}
}

impl Node {
    pub fn answer(&self, items: Vec<Result<OutputItem, Error>>) {
        self.answers.lock().unwrap().push(items);
    }

    pub fn asked(&self) -> NodeAsk {
        self.asked.lock().unwrap().last().cloned().expect("it was asked something")
    }
}

pub async fn join(world: &World, name: &str) -> (NodeId, Arc<Node>) {
    join_in(world, name, None).await
}

/// Joins a node that says which time zone it is in.
pub async fn join_in(world: &World, name: &str, timezone: Option<&str>) -> (NodeId, Arc<Node>) {
    let made = world.post("/api/v1/join-tokens", json!({ "name": name })).await.json();
    let ticket = made["ticket"].as_str().unwrap();
    let token = ticket.split('.').next().unwrap();
    let csr = NodeKey::generate().unwrap().csr_pem().unwrap();
    let body = json!({ "token": token, "name": name, "csr": csr });
    let joined = world.post("/api/v1/join", body).await.json();
    let certificate = PeerCertificate::from_pem(joined["certificate"].as_str().unwrap()).unwrap();
    let id: NodeId = joined["nodeId"].as_str().unwrap().parse().unwrap();
    let facts = Facts {
        cores: Cores::from_millis(4000),
        memory: Bytes::mib(1024),
        timezone: timezone.map(str::to_owned),
        ..Facts::default()
    };
    let hello = HelloFacts {
        agent_version: "test".into(),
        session_epoch: Generation::FIRST,
        applied_generation: Generation::ZERO,
        facts: Some(facts),
        heartbeat_wish: None,
        can_tell_holdings: true,
    };
    let attached = match world.control.node_attach(id, &certificate.serial, &hello).await.unwrap() {
        Attach::Attached(attached) => attached,
        Attach::Refused { detail, .. } => panic!("{detail}"),
    };
    let node = Arc::new(Node::default());
    world.control.node_link(&attached, Arc::clone(&node) as Arc<dyn NodeLink>);
    (id, node)
}

pub fn spec() -> Value {
    json!({ "mode": "forever", "command": ["sleep", "100"] })
}

pub async fn put(world: &World, name: &str, etag: Option<&str>, body: &Value) -> Reply {
    let mut request = Request::builder()
        .method(Method::PUT)
        .uri(format!("{WORKLOADS}/{name}"))
        .header("authorization", format!("Bearer {}", world.admin))
        .header("content-type", "application/json");
    if let Some(etag) = etag {
        request = request.header("if-match", etag);
    }
    world.send(request.body(Body::from(body.to_string())).unwrap()).await
}

/// Applies `web` and lets the node run it.
pub async fn running(world: &World, node: NodeId) -> (PlacementId, RunId) {
    let applied = put(world, "web", None, &spec()).await;
    assert_eq!(applied.status, 200, "{}", applied.json());
    world.control.place_services(Timestamp::EPOCH).await.unwrap();
    let placement = placement(world).await;
    let run = RunId::from_uuid(uuid::Uuid::from_u128(77));
    let origin =
        Origin { number: 1, cause: RunCause::Start, fire: None, revision: Generation::FIRST };
    let report = Report {
        run_id: run,
        placement_id: placement,
        generation: Generation::FIRST,
        state: ReportState::Running { pid: 4711, since: Timestamp::from_micros(5) },
        origin: Some(origin),
    };
    world.control.node_report(node, &[report]).await.unwrap();
    stand(world, node, placement, 1, PlacementStatus::new(Phase::Running, Generation::FIRST)).await;
    (placement, run)
}

pub async fn placement(world: &World) -> PlacementId {
    let listed = world.get(&format!("{WORKLOADS}/web/placements")).await.json();
    listed["items"][0]["id"].as_str().unwrap().parse().unwrap()
}

pub async fn stand(
    world: &World,
    node: NodeId,
    placement_id: PlacementId,
    generation: u64,
    status: PlacementStatus,
) {
    let generation = Generation::from_u64(generation);
    let report = StatusReport { placement_id, generation, status };
    let acks = world.control.node_status(node, &[report]).await.unwrap();
    assert!(!acks[0].is_unknown);
}
