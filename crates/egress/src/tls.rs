//! Whom to believe out there: the authorities this machine knows, and those the operator adds.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::Error;

/// For calls over `https`. Host names are checked; versions are TLS 1.3 and 1.2.
pub(crate) fn config(
    authorities_pem: Option<&[u8]>,
    is_machine_believed: bool,
) -> Result<Arc<ClientConfig>, Error> {
    let mut roots = RootCertStore::empty();
    if is_machine_believed {
        let found = rustls_native_certs::load_native_certs();
        for error in &found.errors {
            tracing::debug!(%error, "some of the machine's authorities cannot be read");
        }
        roots.add_parsable_certificates(found.certs);
    }
    if let Some(pem) = authorities_pem {
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| Error::TlsSetup(error.into()))?;
            roots.add(certificate).map_err(|error| Error::TlsSetup(error.into()))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::TlsSetup(error.into()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}
