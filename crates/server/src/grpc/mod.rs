//! The listener for agents and peers: mutual TLS, gRPC, nothing else.
//!
//! Who speaks is decided by the certificate alone: nodes may open a session for themselves, servers
//! may ask for a relay, and neither may do the other's. Content has a service of its own (`blobs`).

mod asks;
mod blobs;
mod listen;
mod peers;
mod relay;
mod secrets;
mod session;
mod steps;
mod streams;

#[doc(hidden)]
pub mod fuzz;

use std::time::Duration;

use hostler_base::shutdown::Tasks;
use hostler_control::Control;
use hostler_model::{Code, Error, NodeId};
use hostler_proto::v1::agent_link_server::AgentLinkServer;
use hostler_proto::v1::blob_link_server::BlobLinkServer;
use hostler_proto::v1::peer_link_server::PeerLinkServer;
use hostler_proto::v1::secret_link_server::SecretLinkServer;
use hostler_proto::v1::step_link_server::StepLinkServer;
use hostler_trust::{PeerCertificate, PeerIdentity};
use tokio::net::TcpListener;
use tonic::Status;
use tonic::codec::CompressionEncoding;

pub use peers::Peers;

use crate::refusals::{self, Listener, Reason};
use crate::tls::ServerTls;

/// Longer than the longest time between two heartbeats, so that an agent with a metered link need not
/// answer in between. Sessions find out themselves when an agent falls silent.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(75);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(15);
/// Largest message; a desired batch of specs with large environments must fit.
const MESSAGE_MAX: usize = 64 << 20;

/// Serves agents and peers until the tasks are cancelled.
pub async fn serve_agents(
    control: Control,
    listener: TcpListener,
    tls: ServerTls,
    tasks: Tasks,
) -> Result<(), tonic::transport::Error> {
    let incoming = listen::incoming(listener, tls, &tasks);
    let sessions = session::AgentLinkService::new(control.clone(), tasks.clone());
    let blobs = blobs::BlobLinkService::new(control.clone());
    let secrets = secrets::SecretLinkService::new(control.clone());
    let steps = steps::StepLinkService::new(control.clone());
    let relay = relay::PeerLinkService::new(control);
    tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE_EVERY))
        .http2_keepalive_timeout(Some(KEEP_ALIVE_TIMEOUT))
        .initial_stream_window_size(1 << 20)
        .initial_connection_window_size(2 << 20)
        .add_service(
            AgentLinkServer::new(sessions)
                .accept_compressed(CompressionEncoding::Gzip)
                .send_compressed(CompressionEncoding::Gzip)
                .max_decoding_message_size(MESSAGE_MAX)
                .max_encoding_message_size(MESSAGE_MAX),
        )
        .add_service(
            BlobLinkServer::new(blobs)
                .max_decoding_message_size(MESSAGE_MAX)
                .max_encoding_message_size(MESSAGE_MAX),
        )
        .add_service(SecretLinkServer::new(secrets))
        .add_service(StepLinkServer::new(steps))
        .add_service(
            PeerLinkServer::new(relay)
                .max_decoding_message_size(MESSAGE_MAX)
                .max_encoding_message_size(MESSAGE_MAX),
        )
        .serve_with_incoming_shutdown(incoming, tasks.token().cancelled_owned())
        .await
}

/// The certificate of whoever made a request.
fn peer<T>(request: &tonic::Request<T>) -> Result<PeerCertificate, Status> {
    request
        .extensions()
        .get::<PeerCertificate>()
        .cloned()
        .ok_or_else(|| Status::unauthenticated("the connection has no certificate"))
}

fn node_of(certificate: &PeerCertificate) -> Result<NodeId, Status> {
    match certificate.identity {
        PeerIdentity::Node(id) => Ok(id),
        PeerIdentity::Server(_) => Err(wrong_role(certificate, "only nodes open sessions")),
    }
}

/// Whether the certificate of a node still speaks for it; looked at anew with every call, because a
/// connection may outlive a node's membership.
async fn admit(
    control: &Control,
    node: NodeId,
    certificate: &PeerCertificate,
) -> Result<(), Error> {
    let admitted = control.node_admit(node, &certificate.serial).await;
    if let Err(error) = &admitted {
        note_unknown(certificate, error.code, &error.detail);
    }
    admitted
}

/// Counts a certificate of ours that speaks for nobody, if that is why its peer is refused.
fn note_unknown(certificate: &PeerCertificate, code: Code, why: &str) {
    if code == Code::Unauthenticated {
        refusals::count(Listener::Agents, Reason::Unknown);
        tracing::warn!(peer = %certificate.identity, why, "certificate that speaks for nobody refused");
    }
}

/// Refuses a node what is not its own, and counts it.
fn not_its_own(words: String) -> Status {
    note_foreign(1);
    Status::permission_denied(words)
}

/// Counts what a node asked for, or spoke of, that is not its own.
fn note_foreign(times: usize) {
    (0..times).for_each(|_| refusals::count(Listener::Agents, Reason::Foreign));
}

/// Refuses a peer whose certificate is of another kind, and counts it: no part of ours ever asks so.
fn wrong_role(certificate: &PeerCertificate, why: &'static str) -> Status {
    refusals::count(Listener::Agents, Reason::Role);
    tracing::warn!(peer = %certificate.identity, why, "certificate of another role refused");
    Status::permission_denied(why)
}
