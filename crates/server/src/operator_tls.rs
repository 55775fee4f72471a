//! The operator's own certificate for browsers: two files, read at the start and again when they change
//! or a SIGHUP asks for it. What cannot be used is told and changes nothing: the old one stays.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hostler_base::Clock;
use hostler_base::chain::chain;
use hostler_trust::SecretString;
use hostler_trust::certificate::Identity;
use tokio::signal::unix::{SignalKind, signal};

use crate::tls::PublicFaces;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{} cannot be read; `[tls]` names it", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the certificate in the files of `[tls]` cannot be used")]
    Use(#[source] hostler_trust::tls::Error),
}

/// Where the certificate and its key are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorFiles {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl OperatorFiles {
    pub fn read(&self) -> Result<Identity, FileError> {
        Ok(Identity {
            chain_pem: read(&self.certificate)?,
            key_pem: SecretString::new(read(&self.key)?),
        })
    }

    /// Follows the files for as long as it is polled.
    pub async fn follow(self, faces: Arc<PublicFaces>, mut known: Identity, clock: Clock) {
        let mut hangup = signal(SignalKind::hangup()).ok();
        loop {
            let asked = async {
                match &mut hangup {
                    Some(hangup) => hangup.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = clock.sleep(LOOK_EVERY) => {}
                _ = asked => {}
            }
            match self.refresh(&faces, &known) {
                Ok(None) => {}
                Ok(Some(fresh)) => {
                    known = fresh;
                    tracing::info!("the operator's certificate was replaced");
                }
                Err(error) => {
                    tracing::error!(error = %chain(&error), "the operator's certificate cannot be replaced; the old one stays");
                }
            }
        }
    }

    /// Takes what the files say, if that is something else than before.
    fn refresh(
        &self,
        faces: &PublicFaces,
        known: &Identity,
    ) -> Result<Option<Identity>, FileError> {
        let fresh = self.read()?;
        if fresh == *known {
            return Ok(None);
        }
        faces.replace_shown(fresh.clone()).map_err(FileError::Use)?;
        Ok(Some(fresh))
    }
}

fn read(path: &Path) -> Result<String, FileError> {
    std::fs::read_to_string(path)
        .map_err(|source| FileError::Read { path: path.to_owned(), source })
}
