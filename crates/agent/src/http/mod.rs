//! The local HTTP API, off unless configured: the door for programs that speak HTTP, in the paths and
//! words of Master Control's client daemon, and metrics for Prometheus.
//!
//! Every request but `GET /api/health` needs the bearer token, which is compared in constant time; who
//! has none learns nothing, not even which paths there are. Nothing is encrypted, so it belongs on the
//! loopback address; another one is allowed and warned of. Requests are small, and whoever is slow to
//! send one is cut off. A crash loses a request and nothing else.

mod routes;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hostler_base::{OnError, Tasks};
use hostler_trust::SecretString;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::door::Door;
use routes::Routes;
pub(crate) use routes::reading;

/// How long a request's head, and its body, may take to come.
const SLOW: Duration = Duration::from_secs(10);
const CONNECTIONS_MAX: usize = 64;

/// How the HTTP API is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpConfig {
    pub address: SocketAddr,
    pub token: SecretString,
}

/// A socket that is listened on, so that nothing is begun where it cannot be.
pub(crate) struct Listening {
    listener: TcpListener,
    token: SecretString,
}

pub(crate) async fn listen(config: HttpConfig) -> io::Result<Listening> {
    let listener = TcpListener::bind(config.address).await?;
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        tracing::warn!(%address, "http api can be reached from other machines, and is not encrypted");
    }
    tracing::info!(%address, "http api listens");
    Ok(Listening { listener, token: config.token })
}

/// Serves until `tasks` stops.
pub(crate) fn serve(listening: Listening, door: Door, tasks: &Tasks) {
    let Listening { listener, token } = listening;
    let (scope, routes) = (tasks.clone(), Arc::new(Routes::new(door, token)));
    tasks.spawn_until_cancelled("http api", OnError::Log, async move {
        let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        while let Ok(place) = room.clone().acquire_owned().await {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let routes = routes.clone();
                    scope.spawn_until_cancelled("http request", OnError::Log, async move {
                        attend(stream, routes).await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "http api refused a connection");
                    routes.door().clock().sleep(Duration::from_secs(1)).await;
                }
            }
        }
    });
}

async fn attend(stream: TcpStream, routes: Arc<Routes>) {
    let service = service_fn(move |request| {
        let routes = routes.clone();
        async move { Ok::<_, Infallible>(routes.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SLOW)
        .max_buf_size(64 * 1024)
        .serve_connection(TokioIo::new(stream), service);
    // Whoever asked may go at any time.
    let _ = connection.await;
}
