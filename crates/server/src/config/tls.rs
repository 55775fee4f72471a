//! `[tls]`: what browsers see of this server.

use std::path::PathBuf;

use hostler_model::Span;
use serde::Deserialize;

use super::{ConfigError, Kind, Setting};
use crate::operator_tls::OperatorFiles;

settings! {
    /// The certificate that browsers see. Hostler's own clients and agents go on using that of the installation.
    TlsSection TLS_SETTINGS {
        /// File with a certificate chain for browsers, in PEM form, the leaf first. Read again when it changes, and on SIGHUP.
        certificate: Option<PathBuf> = None, Kind::Text, "none";
        /// File with the private key that belongs to it.
        key: Option<PathBuf> = None, Kind::Text, "none";
        /// How long browsers that trust the certificate refuse plain HTTP to this host, on every port (HSTS); `0s` to not ask for that.
        hsts: Span = Span::from_secs(365 * 86_400), Kind::Text, "365d";
    }
}

impl TlsSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match (&self.certificate, &self.key) {
            (Some(_), None) => Err(ConfigError::Setting {
                setting: "tls.key",
                problem: "a certificate needs its key".to_owned(),
            }),
            (None, Some(_)) => Err(ConfigError::Setting {
                setting: "tls.certificate",
                problem: "a key needs its certificate".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    pub fn files(&self) -> Option<OperatorFiles> {
        let (certificate, key) = self.certificate.clone().zip(self.key.clone())?;
        Some(OperatorFiles { certificate, key })
    }

    /// The header that asks browsers to stay with HTTPS.
    pub fn hsts_header(&self) -> Option<String> {
        let seconds = self.hsts.duration().as_secs();
        (seconds > 0).then(|| format!("max-age={seconds}"))
    }
}
