//! Becoming a node: a ticket in, an identity out.
//!
//! The ticket carries the fingerprint of the authority, and the TLS handshake fails unless the
//! server's certificate was issued by exactly that authority; only then is the token sent. The key is
//! made here and stays here. Nothing is written before the server has agreed, and then the identity
//! appears whole, so a join that fails can simply be repeated (with a new ticket, if the server had
//! already taken the old one: a token is good for one node).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hostler_base::Clock;
use hostler_model::{Name, NodeId};
use hostler_trust::{AuthorityBundle, Fingerprint, JoinTicket, NodeKey, authority};
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::identity::{Identity, IdentityError, NodeRecord};
use crate::standalone::{self, Trace};

const PATH: &str = "/api/v1/join";
const PORT: u16 = 7443;
const TIMEOUT: Duration = Duration::from_secs(30);
const ANSWER_MAX: usize = 256 * 1024;

/// What a person asks for.
#[derive(Clone, Debug)]
pub struct JoinRequest {
    pub ticket: JoinTicket,
    /// The API's address, `https://host[:port]` or `host[:port]`.
    pub server: String,
    pub name: Name,
    pub data_dir: PathBuf,
    /// Replace an identity that is there already, and leave behind what ran without a server.
    pub is_forced: bool,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    pub node_id: NodeId,
    pub name: Name,
    pub agent_addresses: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    #[error(
        "{} has an identity already; `--force` replaces it, and this machine then joins as a new node",
        .0.display()
    )]
    AlreadyJoined(PathBuf),
    #[error(
        "an agent without a server runs in {path}; join with another --data-dir, or stop it first with \
         `hostler agent shutdown --data-dir {path}`",
        path = .0.display()
    )]
    StandaloneRuns(PathBuf),
    #[error(
        "{} is of an agent without a server (`hostler agent up --standalone`); join with another \
         --data-dir, or with `--force` to give up what it ran: what still runs of it is stopped",
        .0.display()
    )]
    StandaloneLeft(PathBuf),
    #[error("`{0}` is not an address of a server; write for example https://hostler.example:7443")]
    Address(String),
    #[error("{address} cannot be reached; is the server running, and does a firewall allow it?")]
    Unreachable {
        address: String,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "the server at {address} is not of the authority that the ticket names ({expected}); nothing \
         was sent. Check the address, or make a new ticket on the right server"
    )]
    WrongAuthority {
        address: String,
        expected: Fingerprint,
        #[source]
        source: std::io::Error,
    },
    #[error("no secure connection with {address} came about; is it the API of a Hostler server?")]
    Handshake {
        address: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{detail} ({code}); {hint}")]
    Refused { code: String, detail: String, hint: String },
    #[error("the connection with {address} broke before an answer came; try again")]
    Broken {
        address: String,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    #[error("no answer from {address} within {} s; try again", TIMEOUT.as_secs())]
    Timeout { address: String },
    #[error("the server's answer makes no sense; is its release older than this one?")]
    Answer(#[source] serde_json::Error),
    #[error("the server answered with another authority than it presented; nothing was stored")]
    AuthorityChanged,
    #[error("the server's certificate for this node cannot be read")]
    AuthorityUnreadable(#[source] hostler_trust::certificate::Error),
    #[error("no key could be made")]
    Key(#[source] authority::Error),
    #[error("TLS cannot be set up")]
    Tls(#[source] hostler_trust::tls::Error),
    #[error(transparent)]
    Identity(#[from] IdentityError),
    #[error("the data directory cannot be made")]
    DataDir(#[source] hostler_base::fs::Error),
}

/// The body of the request; its contract is `api::node::JoinBody`.
#[derive(Serialize)]
struct Body<'a> {
    token: &'a str,
    name: &'a Name,
    csr: &'a str,
}

/// The answer; its contract is `api::node::JoinView`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct View {
    node_id: NodeId,
    certificate: String,
    authority: String,
    agent_addresses: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    code: String,
    detail: String,
    hint: String,
}

/// Joins and stores the identity.
pub async fn join(request: JoinRequest, clock: &Clock) -> Result<Joined, JoinError> {
    let has_joined = Identity::exists(&request.data_dir);
    match standalone::trace(&request.data_dir) {
        Trace::Running => return Err(JoinError::StandaloneRuns(request.data_dir)),
        _ if request.is_forced => {}
        _ if has_joined => return Err(JoinError::AlreadyJoined(request.data_dir)),
        Trace::Left => return Err(JoinError::StandaloneLeft(request.data_dir)),
        Trace::None => {}
    }
    let address = host_and_port(&request.server)?;
    let key = NodeKey::generate().map_err(JoinError::Key)?;
    let csr = key.csr_pem().map_err(JoinError::Key)?;
    let exchange = Box::pin(exchange(&request, &address, &csr));
    let view = match clock.timeout(TIMEOUT, exchange).await {
        Ok(view) => view?,
        Err(_) => return Err(JoinError::Timeout { address }),
    };
    let authority =
        AuthorityBundle::from_pem(&view.authority).map_err(JoinError::AuthorityUnreadable)?;
    if !authority.has(request.ticket.authority) {
        return Err(JoinError::AuthorityChanged);
    }
    let node =
        NodeRecord { node_id: view.node_id, name: request.name, servers: view.agent_addresses };
    let identity = Identity::new(node, authority, key.identity(view.certificate))?;
    prepare_data_dir(&request.data_dir).map_err(JoinError::DataDir)?;
    identity.store(&request.data_dir)?;
    let NodeRecord { node_id, name, servers } = identity.node;
    Ok(Joined { node_id, name, agent_addresses: servers })
}

/// The data directory must be traversable by the users that runs run as; what is secret in it has
/// rights of its own. One that exists is left as it is.
pub(crate) fn prepare_data_dir(path: &Path) -> Result<(), hostler_base::fs::Error> {
    if path.is_dir() { Ok(()) } else { hostler_base::fs::create_dir(path, 0o711) }
}

fn host_and_port(server: &str) -> Result<String, JoinError> {
    let bad = || JoinError::Address(server.chars().take(200).collect());
    let rest = server.trim().trim_end_matches('/');
    let rest = rest.strip_prefix("https://").unwrap_or(rest);
    let uri: Uri = format!("https://{rest}").parse().map_err(|_| bad())?;
    if uri.path() != "/" || uri.query().is_some() || rest.contains('@') {
        return Err(bad());
    }
    let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(bad)?;
    Ok(format!("{host}:{}", uri.port_u16().unwrap_or(PORT)))
}

async fn exchange(request: &JoinRequest, address: &str, csr: &str) -> Result<View, JoinError> {
    let stream = connect(address, request.ticket.authority).await?;
    let broken = |source: Box<dyn std::error::Error + Send + Sync>| JoinError::Broken {
        address: address.to_owned(),
        source,
    };
    let body = Body { token: request.ticket.token.expose(), name: &request.name, csr };
    let body = serde_json::to_vec(&body).map_err(|e| broken(e.into()))?;
    let message = Request::post(PATH)
        .header(header::HOST, address)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, application/problem+json")
        .header(header::USER_AGENT, concat!("hostler-agent/", env!("CARGO_PKG_VERSION")))
        .body(Full::new(bytes::Bytes::from(body)))
        .map_err(|e| broken(e.into()))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|e| broken(e.into()))?;
    let answer = async {
        let answer = sender.send_request(message).await?;
        let status = answer.status();
        let bytes = Limited::new(answer.into_body(), ANSWER_MAX).collect().await?.to_bytes();
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>((status, bytes))
    };
    let (status, bytes) = drive(connection, answer).await.map_err(broken)?;
    if status.is_success() {
        serde_json::from_slice(&bytes).map_err(JoinError::Answer)
    } else {
        Err(refused(status, &bytes))
    }
}

/// Polls the connection for as long as the answer takes.
async fn drive<T>(
    connection: impl Future<Output = hyper::Result<()>>,
    answer: impl Future<Output = T>,
) -> T {
    tokio::pin!(answer);
    tokio::pin!(connection);
    tokio::select! {
        biased;
        answer = &mut answer => answer,
        _ = &mut connection => answer.await,
    }
}

async fn connect(address: &str, authority: Fingerprint) -> Result<TlsStream<TcpStream>, JoinError> {
    let unreachable = |source| JoinError::Unreachable { address: address.to_owned(), source };
    let (mut config, _) =
        hostler_trust::tls::client_by_fingerprint(authority).map_err(JoinError::Tls)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let tcp = TcpStream::connect(address).await.map_err(unreachable)?;
    TlsConnector::from(Arc::new(config)).connect(server_name(address), tcp).await.map_err(
        |source| {
            let address = address.to_owned();
            if is_certificate_refused(&source) {
                JoinError::WrongAuthority { address, expected: authority, source }
            } else {
                JoinError::Handshake { address, source }
            }
        },
    )
}

/// Names mean nothing between our parts; this one is only for whoever routes by it.
pub(crate) fn server_name(address: &str) -> ServerName<'static> {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    ServerName::try_from(host.to_owned())
        .or_else(|_| ServerName::try_from("hostler"))
        .expect("`hostler` is a valid name")
}

fn is_certificate_refused(error: &std::io::Error) -> bool {
    error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).is_some_and(|inner| {
        matches!(
            inner,
            rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented
        )
    })
}

fn refused(status: StatusCode, bytes: &[u8]) -> JoinError {
    let problem: Problem = serde_json::from_slice(bytes).unwrap_or_default();
    let or = |text: String, otherwise: &str| {
        if text.is_empty() { otherwise.to_owned() } else { text }
    };
    JoinError::Refused {
        code: or(problem.code, status.as_str()),
        detail: or(problem.detail, "the server refused, without saying why"),
        hint: or(problem.hint, "make a new ticket with `hostler node token create`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_people_write_them() {
        for (given, expected) in [
            ("https://hostler.example:7443", "hostler.example:7443"),
            ("https://hostler.example/", "hostler.example:7443"),
            ("10.0.0.1", "10.0.0.1:7443"),
            ("[fd00::1]:9000", "[fd00::1]:9000"),
        ] {
            assert_eq!(host_and_port(given).unwrap(), expected, "{given}");
        }
        for given in ["", "http://x", "https://x/path", "https://user@x", "a b"] {
            assert!(matches!(host_and_port(given), Err(JoinError::Address(_))), "{given}");
        }
    }

    #[test]
    fn server_names_come_from_addresses() {
        assert!(matches!(server_name("[fd00::1]:7444"), ServerName::IpAddress(_)));
        assert!(matches!(server_name("node.example:1"), ServerName::DnsName(_)));
        assert!(matches!(server_name("not a name"), ServerName::DnsName(_)));
    }
}
