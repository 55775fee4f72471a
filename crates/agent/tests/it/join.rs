//! Joining, against a tiny HTTPS server.

use std::path::Path;
use std::sync::Arc;

use hostler_agent::identity::Identity;
use hostler_agent::join::{JoinError, JoinRequest, Joined, join};
use hostler_agent::{AgentConfig, AgentError};
use hostler_base::{Clock, Shutdown};
use hostler_trust::{JoinTicket, SecretToken, TokenKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::fake::{Installation, soon};

/// How the server answers one request.
enum Answer {
    Welcome,
    Problem(u16, &'static str),
}

struct Api {
    installation: Installation,
    listener: TcpListener,
    acceptor: TlsAcceptor,
    ticket: JoinTicket,
}

impl Api {
    async fn new() -> Api {
        let installation = Installation::new();
        let config = hostler_trust::tls::server_public(&installation.server_identity()).unwrap();
        Api {
            listener: TcpListener::bind("127.0.0.1:0").await.unwrap(),
            acceptor: TlsAcceptor::from(Arc::new(config)),
            ticket: JoinTicket {
                token: SecretToken::generate(TokenKind::Join),
                authority: installation.authority.fingerprint(),
            },
            installation,
        }
    }

    fn request(&self, data: &Path) -> JoinRequest {
        JoinRequest {
            ticket: self.ticket.clone(),
            server: format!("https://{}", self.listener.local_addr().unwrap()),
            name: "alpha".parse().unwrap(),
            data_dir: data.to_owned(),
            is_forced: false,
        }
    }

    /// Lets one join happen.
    async fn serve(&self, request: JoinRequest, answer: Answer) -> Result<Joined, JoinError> {
        let clock = Clock::system();
        let server = async {
            let (tcp, _) = self.listener.accept().await.unwrap();
            if let Ok(stream) = self.acceptor.accept(tcp).await {
                self.answer(stream, answer).await;
            }
        };
        let both = Box::pin(async { tokio::join!(join(request, &clock), server) });
        soon("the join", both).await.0
    }

    async fn answer(&self, mut stream: TlsStream<TcpStream>, answer: Answer) {
        let Some(body) = read_body(&mut stream).await else {
            return;
        };
        assert_eq!(body["token"], self.ticket.token.expose());
        assert_eq!(body["name"], "alpha");
        let (status, kind, reply) = match answer {
            Answer::Problem(status, text) => (status, "application/problem+json", text.to_owned()),
            Answer::Welcome => {
                let day = std::time::Duration::from_hours(24);
                let view = serde_json::json!({
                    "nodeId": self.installation.node_id,
                    "certificate": self.installation.sign(body["csr"].as_str().unwrap(), day),
                    "authority": self.installation.authority.certificate_pem(),
                    "agentAddresses": ["127.0.0.1:7444"],
                    "timeExpires": "2030-01-01T00:00:00Z",
                });
                (201, "application/json", view.to_string())
            }
        };
        let head = format!(
            "HTTP/1.1 {status} Whatever\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            reply.len()
        );
        stream.write_all((head + &reply).as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
    }
}

async fn read_body(stream: &mut TlsStream<TcpStream>) -> Option<serde_json::Value> {
    let mut bytes = Vec::new();
    loop {
        let mut some = [0; 4096];
        let n = stream.read(&mut some).await.ok()?;
        if n == 0 {
            return None;
        }
        bytes.extend_from_slice(&some[..n]);
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            assert!(head.starts_with("POST /api/v1/join HTTP/1.1"), "{head}");
            if let Ok(body) = serde_json::from_str(body) {
                return Some(body);
            }
        }
    }
}

#[tokio::test]
async fn a_machine_joins_once_and_again_only_when_forced() {
    let api = Api::new().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("made/by/joining");
    let joined = api.serve(api.request(&data), Answer::Welcome).await.unwrap();
    assert_eq!(joined.node_id, api.installation.node_id);
    let identity = Identity::load(&data).unwrap();
    assert_eq!(identity.node.servers, ["127.0.0.1:7444"]);
    let serial = identity.certificate.serial;

    let again = join(api.request(&data), &Clock::system()).await.unwrap_err();
    assert!(again.to_string().contains("--force"), "{again}");
    let forced = JoinRequest { is_forced: true, ..api.request(&data) };
    api.serve(forced, Answer::Welcome).await.unwrap();
    assert_ne!(Identity::load(&data).unwrap().certificate.serial, serial);
}

#[tokio::test]
async fn refusals_are_shown_as_the_server_words_them() {
    let api = Api::new().await;
    let folder = tempfile::tempdir().unwrap();
    for (status, code, detail) in [
        (401, "unauthenticated", "the join token was used already"),
        (401, "unauthenticated", "the join token has expired"),
        (401, "unauthenticated", "there is no such join token"),
        (409, "conflict", "the join token is for the node `beta`"),
    ] {
        let problem = format!(
            r#"{{"status":{status},"code":"{code}","detail":"{detail}","hint":"make a new one"}}"#
        );
        let problem: &'static str = problem.leak();
        let error = api
            .serve(api.request(folder.path()), Answer::Problem(status, problem))
            .await
            .unwrap_err();
        let text = error.to_string();
        assert!(text.contains(detail) && text.contains("make a new one"), "{text}");
        assert!(!Identity::exists(folder.path()));
    }
    let error =
        api.serve(api.request(folder.path()), Answer::Problem(502, "<html>")).await.unwrap_err();
    assert!(error.to_string().contains("502"), "{error}");
}

#[tokio::test]
async fn nothing_is_sent_to_a_server_of_another_authority() {
    let api = Api::new().await;
    let folder = tempfile::tempdir().unwrap();
    let mut request = api.request(folder.path());
    request.ticket.authority = Installation::new().authority.fingerprint();
    // The server's own assertions would fail if it were sent anything.
    let error = api.serve(request, Answer::Welcome).await.unwrap_err();
    assert!(matches!(error, JoinError::WrongAuthority { .. }), "{error}");
    assert!(!Identity::exists(folder.path()));
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_said_to_be_so() {
    let api = Api::new().await;
    let folder = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let request =
        JoinRequest { server: format!("https://{address}"), ..api.request(folder.path()) };
    let error = join(request, &Clock::system()).await.unwrap_err();
    assert!(matches!(error, JoinError::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn the_place_of_an_agent_without_a_server_is_not_taken_over() {
    let api = Api::new().await;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path();
    let (plain, clock) = (api.request(data), Clock::system());
    let forced = JoinRequest { is_forced: true, ..plain.clone() };
    let run = || async {
        let config = AgentConfig::new(data, "/nonexistent");
        Box::pin(hostler_agent::run(config, clock.clone(), &Shutdown::new(clock.clone()))).await
    };
    std::fs::write(data.join("ledger-standalone"), "").unwrap();
    let lock = std::fs::File::create(data.join("ledger-standalone.lock")).unwrap();
    lock.lock().unwrap();
    for request in [plain.clone(), forced.clone()] {
        let refused = Box::pin(join(request, &clock)).await.unwrap_err();
        assert!(matches!(refused, JoinError::StandaloneRuns(_)), "{refused}");
        assert!(refused.to_string().contains("hostler agent shutdown --data-dir"), "{refused}");
    }
    assert!(matches!(run().await, Err(AgentError::AloneRuns(_))));

    drop(lock);
    let refused = Box::pin(join(plain, &clock)).await.unwrap_err();
    assert!(matches!(refused, JoinError::StandaloneLeft(_)), "{refused}");
    assert!(refused.to_string().contains("--force"), "{refused}");
    assert!(matches!(run().await, Err(AgentError::Alone(_))));
    assert!(!Identity::exists(data));
    api.serve(forced, Answer::Welcome).await.unwrap();
    assert!(Identity::exists(data));
}
