//! The certificate of a server, looked at whether it is to be believed or not.
//!
//! The connection is only made to look: the verdict of the real verifier is written down instead of ending it,
//! nothing is sent over it, and it is closed after the handshake.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mlua::{Lua, Result, Table};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

use super::reach::connect;
use crate::modules::util::given::Answer;
use crate::modules::util::web::roots;

/// What was seen.
#[derive(Debug, Default)]
struct Seen {
    certificate: Option<CertificateDer<'static>>,
    objection: Option<String>,
}

/// Asks the real verifier and notes what it says.
#[derive(Debug)]
struct Witness {
    verifier: Option<Arc<WebPkiServerVerifier>>,
    schemes: Vec<SignatureScheme>,
    seen: Mutex<Seen>,
}

impl Witness {
    fn note(&self, certificate: &CertificateDer<'_>, objection: Option<String>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.certificate = Some(certificate.clone().into_owned());
        seen.objection = objection;
    }
}

impl ServerCertVerifier for Witness {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        let objection = match &self.verifier {
            Some(verifier) => verifier
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
                .err()
                .map(|error| error.to_string()),
            None => Some("the machine knows no authorities".to_owned()),
        };
        self.note(end_entity, objection);
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let provider = rustls::crypto::ring::default_provider();
        let known = &provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let provider = rustls::crypto::ring::default_provider();
        let known = &provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

pub(super) async fn check(
    lua: &Lua,
    host: &str,
    port: u16,
    timeout: Duration,
) -> Result<Answer<Table>> {
    match look(host, port, timeout).await {
        Ok((seen, protocol)) => told(lua, &seen, protocol),
        Err(why) => Ok((None, Some(why))),
    }
}

async fn look(
    host: &str,
    port: u16,
    timeout: Duration,
) -> std::result::Result<(Seen, String), String> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| format!("`{host}` cannot be a host; give it a name or an address"))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiServerVerifier::builder_with_provider(roots(), Arc::clone(&provider)).build().ok();
    let schemes = provider.signature_verification_algorithms.supported_schemes();
    let witness = Arc::new(Witness { verifier, schemes, seen: Mutex::default() });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::clone(&witness) as Arc<dyn ServerCertVerifier>)
        .with_no_client_auth();
    let stream = connect(host, port, timeout).await?;
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let stream = tokio::time::timeout(timeout, connector.connect(name, stream))
        .await
        .map_err(|_| format!("{host} port {port}: no handshake in time"))?
        .map_err(|error| format!("{host} port {port}: {error}"))?;
    let protocol = match stream.get_ref().1.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_3) => "TLS 1.3".to_owned(),
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLS 1.2".to_owned(),
        other => format!("{other:?}"),
    };
    drop(stream);
    let seen = std::mem::take(&mut *witness.seen.lock().unwrap_or_else(PoisonError::into_inner));
    Ok((seen, protocol))
}

fn told(lua: &Lua, seen: &Seen, protocol: String) -> Result<Answer<Table>> {
    let Some(bytes) = &seen.certificate else {
        return Ok((None, Some("the server showed no certificate".to_owned())));
    };
    let certificate = match X509Certificate::from_der(bytes) {
        Ok((_, certificate)) => certificate,
        Err(error) => return Ok((None, Some(format!("the certificate cannot be read: {error}")))),
    };
    let names: Vec<String> = certificate
        .subject_alternative_name()
        .ok()
        .flatten()
        .map(|names| names.value.general_names.iter().filter_map(shown).collect())
        .unwrap_or_default();
    let validity = certificate.validity();
    let now = UnixTime::now().as_secs();
    let table = lua.create_table()?;
    table.set("valid", seen.objection.is_none())?;
    table.set("error", seen.objection.as_deref())?;
    table.set("subject", certificate.subject().to_string())?;
    table.set("issuer", certificate.issuer().to_string())?;
    table.set("names", lua.create_sequence_from(names)?)?;
    table.set("serial", certificate.raw_serial_as_string())?;
    table.set("not_before", validity.not_before.timestamp())?;
    table.set("not_after", validity.not_after.timestamp())?;
    let left = validity.not_after.timestamp() - i64::try_from(now).unwrap_or(i64::MAX);
    table.set("days_left", left.div_euclid(86_400))?;
    table.set("protocol", protocol)?;
    Ok((Some(table), None))
}

fn shown(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match bytes.len() {
            4 => Some(std::net::IpAddr::from(<[u8; 4]>::try_from(*bytes).ok()?).to_string()),
            16 => Some(std::net::IpAddr::from(<[u8; 16]>::try_from(*bytes).ok()?).to_string()),
            _ => None,
        },
        _ => None,
    }
}
