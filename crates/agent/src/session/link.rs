//! Dialling: TCP, TLS with both certificates, HTTP/2 with keep-alive.

use std::sync::Arc;
use std::time::Duration;

use hostler_proto::v1::agent_link_client::AgentLinkClient;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tonic::codec::CompressionEncoding;
use tonic::transport::{Channel, Endpoint, Uri};

use super::manner::Manner;
use crate::identity::Identity;
use crate::join::server_name;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);
/// Hundreds of assignments with large specs.
const MESSAGE_MAX: usize = 32 * 1024 * 1024;
const WINDOW: u32 = 1024 * 1024;

#[derive(Debug, thiserror::Error)]
pub(crate) enum DialError {
    #[error("`{0}` is not an address of a server; write host:port")]
    Address(String),
    #[error("the node's certificate cannot be used")]
    Identity(#[source] hostler_trust::tls::Error),
    #[error("no connection with the server")]
    Connect(#[source] tonic::transport::Error),
}

/// How TLS says that one side does not know the authority of the other.
const DISTRUST: [&str; 4] = ["UnknownIssuer", "BadSignature", "UnknownCA", "DecryptError"];

/// The words for a problem; with what to do where the two sides do not trust each other.
pub(super) fn told(problem: String) -> String {
    match DISTRUST.iter().any(|sign| problem.contains(sign)) {
        false => problem,
        true => format!(
            "{problem}; the server and this node are not of the same authority: if it was replaced while \
             the node was away, join again with a fresh ticket: `hostler agent join --force`"
        ),
    }
}

/// Connects to a server as this node.
pub(crate) async fn channel(
    address: &str,
    identity: &Identity,
    manner: Manner,
) -> Result<Channel, DialError> {
    let mut config = identity.client_config().map_err(DialError::Identity)?;
    config.alpn_protocols = vec![b"h2".to_vec()];
    let tls = TlsConnector::from(Arc::new(config));
    let target = address.to_owned();
    let connector = tower::service_fn(move |_: Uri| {
        let (tls, target) = (tls.clone(), target.clone());
        async move {
            let tcp = TcpStream::connect(&target).await?;
            tcp.set_nodelay(true)?;
            let stream = tls.connect(server_name(&target), tcp).await?;
            Ok::<_, std::io::Error>(TokioIo::new(stream))
        }
    });
    Endpoint::from_shared(format!("http://{address}"))
        .map_err(|_| DialError::Address(address.to_owned()))?
        .connect_timeout(CONNECT_TIMEOUT)
        .http2_keep_alive_interval(manner.keep_alive)
        .keep_alive_timeout(KEEP_ALIVE_TIMEOUT)
        .keep_alive_while_idle(true)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .connect_with_connector(connector)
        .await
        .map_err(DialError::Connect)
}

/// The same, to talk.
pub(super) async fn dial(
    address: &str,
    identity: &Identity,
    manner: Manner,
) -> Result<AgentLinkClient<Channel>, DialError> {
    let client = AgentLinkClient::new(channel(address, identity, manner).await?)
        .max_decoding_message_size(MESSAGE_MAX)
        .max_encoding_message_size(MESSAGE_MAX);
    Ok(if manner.is_compressed {
        client
            .send_compressed(CompressionEncoding::Gzip)
            .accept_compressed(CompressionEncoding::Gzip)
    } else {
        client
    })
}
