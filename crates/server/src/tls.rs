//! TLS of the public listener, with a certificate that can be replaced while it runs.
//!
//! Server certificates live for days and are renewed by themselves. A handshake uses the newest one;
//! connections that exist keep theirs.

use std::io;
use std::sync::{Arc, PoisonError, RwLock};

use hostler_trust::certificate::Identity;
use hostler_trust::tls::{Error, server_public};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The present TLS configuration of a listener; cheap to clone, clones share it.
#[derive(Clone, Debug)]
pub struct ServerTls(Arc<RwLock<Arc<ServerConfig>>>);

impl ServerTls {
    /// For browsers and clients, who authenticate above TLS.
    pub fn public(identity: &Identity) -> Result<ServerTls, Error> {
        Ok(ServerTls::of(public_config(identity)?))
    }

    /// Any configuration, for other listeners that swap theirs as well.
    pub fn of(config: ServerConfig) -> ServerTls {
        ServerTls(Arc::new(RwLock::new(Arc::new(config))))
    }

    /// Uses another certificate from the next handshake on.
    pub fn replace_public(&self, identity: &Identity) -> Result<(), Error> {
        self.replace(public_config(identity)?);
        Ok(())
    }

    /// Uses another configuration from the next handshake on.
    pub fn replace(&self, config: ServerConfig) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config);
    }

    pub fn current(&self) -> Arc<ServerConfig> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Performs the server's side of a handshake. Callers limit its time.
    pub async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
    ) -> io::Result<TlsStream<S>> {
        TlsAcceptor::from(self.current()).accept(stream).await
    }
}

fn public_config(identity: &Identity) -> Result<ServerConfig, Error> {
    let mut config = server_public(identity)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
