//! A small HTTPS server with the certificate of an authority of its own, and a router the test gives.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use hostler_model::{ServerId, Timestamp};
use hostler_trust::Authority;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

pub struct Fake {
    pub address: String,
    pub ca_pem: String,
    pub fingerprint: String,
    connections: Arc<AtomicUsize>,
    /// Ends the server when dropped.
    _tasks: JoinSet<()>,
}

/// The machine's time, which certificates need.
#[expect(clippy::disallowed_methods, reason = "certificates are checked against the real time")]
pub fn now() -> Timestamp {
    let since =
        std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap();
    Timestamp::EPOCH.plus(since)
}

impl Fake {
    pub async fn start(router: Router) -> Fake {
        Fake::start_refusing(router, 0).await
    }

    /// Closes the first `refused` connections before any handshake.
    pub async fn start_refusing(router: Router, refused: usize) -> Fake {
        let authority = Authority::create(now(), "test").unwrap();
        let id = ServerId::from_uuid(uuid::Uuid::from_u128(7));
        let names = ["127.0.0.1".to_owned()];
        let (_, identity) =
            authority.issue_server(id, &names, now(), Duration::from_secs(3600)).unwrap();
        let mut tls = hostler_trust::tls::server_public(&identity).unwrap();
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(tls));
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = format!("https://{}", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener, acceptor, router, refused, Arc::clone(&connections)));
        Fake {
            address,
            ca_pem: authority.certificate_pem(),
            fingerprint: authority.fingerprint().to_string(),
            connections,
            _tasks: tasks,
        }
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn serve(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    router: Router,
    refused: usize,
    connections: Arc<AtomicUsize>,
) {
    let mut open = JoinSet::new();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        if connections.fetch_add(1, Ordering::SeqCst) < refused {
            drop(stream);
            continue;
        }
        open.spawn(connection(stream, acceptor.clone(), router.clone()));
    }
}

async fn connection(stream: TcpStream, acceptor: TlsAcceptor, router: Router) {
    if let Ok(stream) = acceptor.accept(stream).await {
        let service = TowerToHyperService::new(router);
        let _ended = auto::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }
}
