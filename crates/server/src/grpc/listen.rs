//! Accepts connections, shakes hands beside the accept loop, and remembers each peer's certificate.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::Stream;
use hostler_base::shutdown::{OnError, Tasks};
use hostler_trust::PeerCertificate;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::server::TlsStream;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;

use crate::refusals::{self, Listener, Reason};
use crate::tls::ServerTls;

/// Connections that have shaken hands and wait to be served; the loop stops accepting beyond it.
const READY_MAX: usize = 64;
/// Handshakes under way at once.
const HANDSHAKES_MAX: usize = 128;
const HANDSHAKE_TIME: Duration = Duration::from_secs(10);

pub(super) fn incoming(
    listener: TcpListener,
    tls: ServerTls,
    tasks: &Tasks,
) -> impl Stream<Item = io::Result<PeerStream>> + use<> {
    let (ready, receiver) = mpsc::channel(READY_MAX);
    let handshakes = tasks.clone();
    tasks.spawn_until_cancelled("agent_accept", OnError::Shutdown, async move {
        let room = std::sync::Arc::new(tokio::sync::Semaphore::new(HANDSHAKES_MAX));
        loop {
            let Ok(permit) = room.clone().acquire_owned().await else { return };
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file descriptors or the like: wait a moment instead of spinning.
                    tracing::warn!(%error, "agent connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            let (tls, ready) = (tls.clone(), ready.clone());
            handshakes.spawn_until_cancelled("agent_handshake", OnError::Log, async move {
                let _permit = permit;
                match tokio::time::timeout(HANDSHAKE_TIME, shake_hands(stream, &tls)).await {
                    Ok(Ok(stream)) => {
                        // A closed receiver means that the server is going away.
                        let _gone = ready.send(Ok(stream)).await;
                    }
                    Ok(Err(error)) => {
                        refusals::count(Listener::Agents, Reason::Handshake);
                        tracing::debug!(%error, "agent handshake failed");
                    }
                    Err(_) => {
                        refusals::count(Listener::Agents, Reason::Slow);
                        tracing::debug!("agent handshake took too long");
                    }
                }
            });
        }
    });
    ReceiverStream::new(receiver)
}

async fn shake_hands(stream: TcpStream, tls: &ServerTls) -> io::Result<PeerStream> {
    stream.set_nodelay(true)?;
    let stream = tls.accept(stream).await?;
    let certificates = stream.get_ref().1.peer_certificates().unwrap_or_default();
    let certificate =
        certificates.first().ok_or_else(|| io::Error::other("no certificate was presented"))?;
    let peer = PeerCertificate::from_der(certificate).map_err(io::Error::other)?;
    Ok(PeerStream { stream, peer })
}

/// A connection with the certificate of who is at the other end.
pub(super) struct PeerStream {
    stream: TlsStream<TcpStream>,
    peer: PeerCertificate,
}

impl Connected for PeerStream {
    type ConnectInfo = PeerCertificate;
    fn connect_info(&self) -> PeerCertificate {
        self.peer.clone()
    }
}

impl AsyncRead for PeerStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for PeerStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
