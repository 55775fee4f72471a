//! TLS of the public listener, with certificates that can be replaced while it runs.
//!
//! Server certificates live for days and are renewed by themselves; an operator's certificate for
//! browsers comes from files and is read again when they change. A handshake uses the newest; connections
//! that exist keep theirs.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use hostler_trust::certificate::Identity;
use hostler_trust::tls::{Error, server_public_faces};
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
        Ok(ServerTls::of(public_config(std::slice::from_ref(identity), None)?))
    }

    /// Any configuration, for other listeners that swap theirs as well.
    pub fn of(config: ServerConfig) -> ServerTls {
        ServerTls(Arc::new(RwLock::new(Arc::new(config))))
    }

    /// Uses another certificate from the next handshake on.
    pub fn replace_public(&self, identity: &Identity) -> Result<(), Error> {
        self.replace(public_config(std::slice::from_ref(identity), None)?);
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

/// The certificates of the public listener: the installation's, and perhaps an operator's for browsers.
#[derive(Debug)]
pub struct PublicFaces {
    tls: ServerTls,
    faces: Mutex<Faces>,
}

#[derive(Clone, Debug)]
struct Faces {
    ours: Vec<Identity>,
    shown: Option<Identity>,
}

impl PublicFaces {
    /// `ours` in the order of [`server_public_faces`].
    pub fn new(ours: Vec<Identity>, shown: Option<Identity>) -> Result<PublicFaces, Error> {
        let tls = ServerTls::of(public_config(&ours, shown.as_ref())?);
        Ok(PublicFaces { tls, faces: Mutex::new(Faces { ours, shown }) })
    }

    pub fn tls(&self) -> ServerTls {
        self.tls.clone()
    }

    /// Uses other certificates of the installation from the next handshake on.
    pub fn replace_ours(&self, ours: Vec<Identity>) -> Result<(), Error> {
        self.change(|faces| Faces { ours, ..faces })
    }

    /// Uses another certificate of the operator from the next handshake on. One that cannot be used
    /// changes nothing.
    pub fn replace_shown(&self, shown: Identity) -> Result<(), Error> {
        self.change(|faces| Faces { shown: Some(shown), ..faces })
    }

    fn change(&self, change: impl FnOnce(Faces) -> Faces) -> Result<(), Error> {
        let mut faces = self.faces.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(faces.clone());
        self.tls.replace(public_config(&changed.ours, changed.shown.as_ref())?);
        *faces = changed;
        Ok(())
    }
}

fn public_config(ours: &[Identity], shown: Option<&Identity>) -> Result<ServerConfig, Error> {
    let mut config = server_public_faces(ours, shown)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}
