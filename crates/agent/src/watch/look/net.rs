//! Ports, and certificates that servers show.

use std::sync::Arc;
use std::time::Duration;

use hostler_base::Clock;
use hostler_engine::watch::Seen;
use hostler_model::{CertificateWatch, PortWatch};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How long somebody may take to answer.
const ANSWER: Duration = Duration::from_secs(3);
const HANDSHAKE: Duration = Duration::from_secs(10);

async fn addresses(
    clock: &Clock,
    host: &str,
    port: u16,
) -> Result<Vec<std::net::SocketAddr>, String> {
    let looked = clock.timeout(HANDSHAKE, tokio::net::lookup_host((host, port))).await;
    let found = looked.map_err(|late| format!("{host} cannot be looked up: {late}"))?;
    Ok(found.map_err(|error| format!("{host} cannot be looked up: {error}"))?.collect())
}

pub(super) async fn port(clock: &Clock, watch: &PortWatch) -> Result<Seen, String> {
    for address in addresses(clock, &watch.host, watch.port).await? {
        if let Ok(Ok(_)) = clock.timeout(ANSWER, TcpStream::connect(address)).await {
            return Ok(Seen::Port(true));
        }
    }
    Ok(Seen::Port(false))
}

/// Nothing is said to the server, and nothing it says is believed but when its certificate ends.
pub(super) async fn certificate(clock: &Clock, watch: &CertificateWatch) -> Result<Seen, String> {
    let address = &watch.address;
    let (host, port) =
        watch.host_and_port().ok_or_else(|| format!("{address} is not HOST:PORT"))?;
    let name = ServerName::try_from(host.to_owned()).map_err(|e| format!("{address}: {e}"))?;
    let (config, captured) =
        hostler_trust::tls::anyone().map_err(|e| hostler_base::chain(&e).to_string())?;
    let shake = async {
        let stream = TcpStream::connect((host, port)).await?;
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.map(drop)
    };
    let shaken = clock.timeout(HANDSHAKE, shake).await;
    // A server that wants a certificate of ours has shown its own by then.
    if let Some(leaf) = captured.chain().first() {
        let ends = hostler_trust::certificate::expiry(leaf);
        return ends.map(Seen::Certificate).map_err(|e| format!("{address}: {e}"));
    }
    Err(match shaken {
        Ok(Ok(())) => format!("{address} shows no certificate"),
        Ok(Err(error)) => format!("{address}: {error}"),
        Err(late) => format!("{address}: {late}"),
    })
}
