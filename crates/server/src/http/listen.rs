//! Accepting connections: TLS, limits, and an orderly end.
//!
//! Every connection is a task with an owner. A peer has a fixed time for its TLS handshake, to begin, and
//! for the head of each request, and has to take what it is sent; idle connections are closed; the number of
//! connections is bounded, in
//! all (then new ones wait in the kernel's queue) and per source (then they are closed). When the
//! group is cancelled no connection is accepted any more, those that are idle close, and those that
//! serve something finish it.

use std::collections::HashMap;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use hostler_base::{Clock, OnError, Tasks};
use http::Request;
use hyper::body::Incoming;
use hyper::rt::Executor;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;
use tracing::{debug, warn};

use super::admit::Peer;
use super::beginning::Beginning;
use super::limit::network;
use super::stall::Stalling;
use crate::refusals::{self, Listener, Reason};
use crate::tls::ServerTls;

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
const PING_EVERY: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);
const STREAMS_MAX: u32 = 256;
const HEAD_MAX: u32 = 32 << 10;
/// After a failed accept (out of file descriptors, say), before the next try.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How many connections there may be, and how slow they may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    pub total: usize,
    pub per_source: usize,
    /// For the head of a request to arrive.
    pub head_time: Duration,
    /// For the peer to take some of what waits to be sent.
    pub stall_time: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> ConnectionLimits {
        ConnectionLimits {
            total: 8192,
            per_source: 2048,
            head_time: Duration::from_secs(30),
            stall_time: Duration::from_secs(60),
        }
    }
}

/// Serves `router` on `listener` until `tasks` is cancelled; without `tls` in plain text.
///
/// Returns when the last connection has ended.
pub async fn serve_http(
    router: Router,
    listener: TcpListener,
    tls: Option<ServerTls>,
    limits: ConnectionLimits,
    tasks: &Tasks,
    clock: Clock,
) {
    let connections = tasks.scope();
    let free = Arc::new(Semaphore::new(limits.total));
    let sources = Sources::default();
    let stop = tasks.token();
    loop {
        let accepted = async {
            let permit = free.clone().acquire_owned().await.ok();
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            accepted = accepted => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                warn!(error = %error, "connection could not be accepted");
                clock.sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Some(source) = sources.enter(peer.ip(), limits.per_source) else {
            refusals::count(Listener::Http, Reason::Crowd);
            debug!(%peer, "connection refused, too many from this source");
            continue;
        };
        let (router, tls, scope, clock) =
            (router.clone(), tls.clone(), connections.clone(), clock.clone());
        connections.spawn("http connection", OnError::Log, async move {
            let _held = (permit, source);
            connection(router, stream, peer, tls, limits, (scope, clock)).await;
        });
    }
    drop(listener);
    connections.stop().await;
}

async fn connection(
    router: Router,
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<ServerTls>,
    limits: ConnectionLimits,
    (tasks, clock): (Tasks, Clock),
) {
    let _ = stream.set_nodelay(true);
    let _ = keep_alive(&stream);
    let stream = Stalling::new(stream, limits.stall_time);
    let Some(tls) = tls else {
        return exchange(router, stream, peer, limits, tasks).await;
    };
    match clock.timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
        Ok(Ok(stream)) => exchange(router, stream, peer, limits, tasks).await,
        Ok(Err(error)) => {
            refusals::count(Listener::Http, Reason::Handshake);
            debug!(%peer, %error, "tls handshake failed");
        }
        Err(_) => {
            refusals::count(Listener::Http, Reason::Slow);
            debug!(%peer, "tls handshake took too long");
        }
    }
}

/// The kernel asks a silent peer whether it is there. HTTP/2 asks by itself; a stream over HTTP/1.1 that has
/// nothing to say would otherwise hold the place of somebody who vanished for ever.
fn keep_alive(stream: &TcpStream) -> rustix::io::Result<()> {
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, PING_EVERY)?;
    sockopt::set_tcp_keepintvl(stream, PING_TIMEOUT / 4)?;
    sockopt::set_tcp_keepcnt(stream, 4)
}

async fn exchange(
    router: Router,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    limits: ConnectionLimits,
    tasks: Tasks,
) {
    let mut builder = auto::Builder::new(OwnedExecutor(tasks.clone()));
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(HEAD_MAX as usize * 2);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIMEOUT)
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(HEAD_MAX);
    let service =
        TowerToHyperService::new(router.map_request(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(Peer(peer));
            request
        }));
    let stream = Beginning::new(stream, limits.head_time);
    let mut serving = pin!(builder.serve_connection(TokioIo::new(stream), service));
    let stop = tasks.token();
    let result = tokio::select! {
        result = serving.as_mut() => result,
        () = stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = result {
        if let Some(reason) = refusals::reason_of(&*error) {
            refusals::count(Listener::Http, reason);
        }
        debug!(%peer, error, "connection ended early");
    }
}

/// Runs the streams of an HTTP/2 connection as tasks of its group.
#[derive(Clone)]
struct OwnedExecutor(Tasks);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for OwnedExecutor {
    fn execute(&self, future: F) {
        self.0.spawn("http stream", OnError::Log, future);
    }
}

/// Connections by where they come from.
#[derive(Clone, Default)]
struct Sources(Arc<Mutex<HashMap<IpAddr, usize>>>);

struct Source {
    sources: Sources,
    network: IpAddr,
}

impl Sources {
    fn enter(&self, address: IpAddr, max: usize) -> Option<Source> {
        let network = network(address);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(network).or_default();
        if *count >= max {
            return None;
        }
        *count += 1;
        Some(Source { sources: self.clone(), network })
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let mut counts = self.sources.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.network);
            }
        }
    }
}
