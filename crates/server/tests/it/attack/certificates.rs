//! Certificates in the wrong hands, at the wrong door, from the wrong authority, or too late.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hostler_base::{Clock, OnError, Phase, Shutdown};
use hostler_model::NodeId;
use hostler_server::grpc::serve_agents;
use hostler_server::http::{ConnectionLimits, serve_http};
use hostler_server::tls::ServerTls;
use hostler_trust::certificate::Identity;
use hostler_trust::{Authority, NodeKey, tls};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use uuid::Uuid;

use super::{PATIENCE, counted, goes_on, until_counted};
use crate::world::World;

const HOUR: Duration = Duration::from_secs(3600);
const HANDSHAKE: &str =
    "hostler_connections_refused_total{listener=\"agents\",reason=\"handshake\"}";
const ROLE: &str = "hostler_connections_refused_total{listener=\"agents\",reason=\"role\"}";
const UNKNOWN: &str = "hostler_connections_refused_total{listener=\"agents\",reason=\"unknown\"}";
const PERMISSION_DENIED: &str = "7";

/// Both listeners of a server, with TLS as they have it.
struct Doors {
    agents: SocketAddr,
    api: SocketAddr,
    shutdown: Shutdown,
}

fn server_identity(world: &World) -> Identity {
    let authority = world.control.authority();
    let names = ["127.0.0.1".to_owned()];
    let now = Clock::system().now();
    authority.issue_server(world.control.server_id(), &names, now, HOUR).unwrap().1
}

impl Doors {
    async fn open(world: &World) -> Doors {
        let identity = server_identity(world);
        let mut mutual =
            tls::server_mutual(&identity, world.control.authority().certificate()).unwrap();
        mutual.alpn_protocols = vec![b"h2".to_vec()];
        let shutdown = Shutdown::new(Clock::system());
        let bind = || TcpListener::bind("127.0.0.1:0");
        let (agents, api) = (bind().await.unwrap(), bind().await.unwrap());
        let addresses = (agents.local_addr().unwrap(), api.local_addr().unwrap());
        let sessions = shutdown.tasks(Phase::Sessions);
        let (control, own) = (world.control.clone(), sessions.clone());
        sessions.spawn("agents", OnError::Shutdown, async move {
            serve_agents(control, agents, ServerTls::of(mutual), own).await
        });
        let listeners = shutdown.tasks(Phase::Listeners);
        let (router, own) = (world.router.clone(), listeners.clone());
        let public = ServerTls::public(&identity).unwrap();
        listeners.spawn("api", OnError::Shutdown, async move {
            let limits = ConnectionLimits::default();
            serve_http(router, api, Some(public), limits, &own, Clock::system()).await;
        });
        Doors { agents: addresses.0, api: addresses.1, shutdown }
    }

    /// Calls a method of the agents' listener; the gRPC status, or why there is none.
    async fn call(
        &self,
        world: &World,
        identity: Option<&Identity>,
        method: &str,
    ) -> Result<String, String> {
        let mut config = tls::client(world.control.authority().certificate(), identity).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
        let asked = async {
            let stream = TcpStream::connect(self.agents).await.map_err(|e| e.to_string())?;
            let stream = connector.connect(name, stream).await.map_err(|e| e.to_string())?;
            ask(stream, method).await
        };
        tokio::time::timeout(PATIENCE, asked).await.expect("an answer, or an end")
    }
}

async fn ask(
    stream: tokio_rustls::client::TlsStream<TcpStream>,
    method: &str,
) -> Result<String, String> {
    let words = |error: h2::Error| error.to_string();
    let (mut client, connection) = h2::client::handshake(stream).await.map_err(words)?;
    let request = http::Request::post(format!("https://localhost/hostler.agent.v1.{method}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .unwrap();
    let talk = async {
        let (response, mut writer) = client.send_request(request, false).map_err(words)?;
        writer.send_data(Bytes::from_static(&[0; 5]), true).map_err(words)?;
        let response = response.await.map_err(words)?;
        let status = response.headers().get("grpc-status").ok_or("it was answered")?;
        Ok::<String, String>(status.to_str().unwrap().to_owned())
    };
    tokio::select! {
        talked = talk => talked,
        ended = connection => Err(format!("the connection ended: {ended:?}")),
    }
}

/// A node of its own, as it would be if it were stolen.
async fn stolen(world: &World, name: &str) -> Identity {
    let made = world.post("/api/v1/join-tokens", json!({ "name": name })).await.json();
    let token = made["ticket"].as_str().unwrap().split('.').next().unwrap().to_owned();
    let key = NodeKey::generate().unwrap();
    let body = json!({ "token": token, "name": name, "csr": key.csr_pem().unwrap() });
    let joined = world.post("/api/v1/join", body).await.json();
    key.identity(joined["certificate"].as_str().unwrap())
}

fn signed(authority: &Authority, now: hostler_model::Timestamp) -> Identity {
    let key = NodeKey::generate().unwrap();
    let id = NodeId::from_uuid(Uuid::from_u128(4711));
    let issued = authority.sign_node(&key.csr_pem().unwrap(), id, now, HOUR).unwrap();
    key.identity(issued.chain_pem)
}

#[tokio::test]
async fn a_node_certificate_does_not_do_what_servers_do() {
    let world = World::new().await;
    let doors = Doors::open(&world).await;
    let node = stolen(&world, "stolen").await;
    let before = counted(&world, ROLE).await;
    let asked = doors.call(&world, Some(&node), "PeerLink/Relay").await;
    assert_eq!(asked.as_deref(), Ok(PERMISSION_DENIED));
    assert_eq!(counted(&world, ROLE).await, before + 1);
    goes_on(&world).await;
    doors.shutdown.run(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn a_server_certificate_does_not_do_what_nodes_do() {
    let world = World::new().await;
    let doors = Doors::open(&world).await;
    let server = server_identity(&world);
    let before = counted(&world, ROLE).await;
    let methods =
        ["AgentLink/Session", "AgentLink/ResolveImage", "SecretLink/FetchSecrets", "StepLink/Ask"];
    for method in methods {
        let asked = doors.call(&world, Some(&server), method).await;
        assert_eq!(asked.as_deref(), Ok(PERMISSION_DENIED), "{method}");
    }
    assert_eq!(counted(&world, ROLE).await, before + methods.len() as u64);
    goes_on(&world).await;
    doors.shutdown.run(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn a_certificate_of_another_authority_or_none_or_an_expired_one_opens_nothing() {
    let world = World::new().await;
    let doors = Doors::open(&world).await;
    let now = Clock::system().now();
    let foreign = Authority::create(now, "Hostler").unwrap();
    let foreign_node = signed(&foreign, now);
    let expired = signed(&world.control.authority(), now.minus(48 * HOUR));
    let early = signed(&world.control.authority(), now.plus(48 * HOUR));
    let before = counted(&world, HANDSHAKE).await;
    for (name, identity) in [
        ("another authority", Some(&foreign_node)),
        ("none", None),
        ("expired", Some(&expired)),
        ("not valid yet", Some(&early)),
    ] {
        let asked = doors.call(&world, identity, "AgentLink/ResolveImage").await;
        assert!(asked.is_err(), "{name}: {asked:?}");
    }
    until_counted(&world, HANDSHAKE, before + 4).await;
    goes_on(&world).await;
    doors.shutdown.run(Duration::from_secs(10)).await;
}

/// Signed by the right authority, but no row knows it: as after a node was removed.
#[tokio::test]
async fn a_certificate_that_nobody_knows_speaks_for_nobody() {
    let world = World::new().await;
    let doors = Doors::open(&world).await;
    let ghost = signed(&world.control.authority(), Clock::system().now());
    let before = counted(&world, UNKNOWN).await;
    let methods =
        ["AgentLink/ResolveImage", "SecretLink/FetchSecrets", "StepLink/Ask", "BlobLink/FetchBlob"];
    for method in methods {
        let asked = doors.call(&world, Some(&ghost), method).await;
        assert!(asked.as_ref().is_ok_and(|status| status != "0"), "{method}: {asked:?}");
    }
    assert_eq!(counted(&world, UNKNOWN).await, before + methods.len() as u64);
    goes_on(&world).await;
    doors.shutdown.run(Duration::from_secs(10)).await;
}

#[tokio::test]
async fn a_node_certificate_is_no_credential_of_the_api() {
    let world = World::new().await;
    let doors = Doors::open(&world).await;
    let node = stolen(&world, "stolen").await;
    let authority = world.control.authority();
    for identity in [node, server_identity(&world)] {
        let config = tls::client(authority.certificate(), Some(&identity)).unwrap();
        let client =
            reqwest::Client::builder().use_preconfigured_tls(config).no_proxy().build().unwrap();
        for path in ["whoami", "nodes", "nodes/stolen", "audit", "projects/default/tasks"] {
            let url = format!("https://{}/api/v1/{path}", doors.api);
            assert_eq!(client.get(&url).send().await.unwrap().status(), 401, "{path}");
        }
        let url = format!("https://{}/api/v1/nodes/stolen", doors.api);
        assert_eq!(client.delete(&url).send().await.unwrap().status(), 401);
    }
    assert!(super::refusals(&world, "node_remove").await >= 2);
    goes_on(&world).await;
    doors.shutdown.run(Duration::from_secs(10)).await;
}
