//! Certificates as we read them: whose they are, which role they carry, and when they end.
//!
//! Roles are URI names in the certificate: `spiffe://hostler/server/<id>` and
//! `spiffe://hostler/node/<id>`. Exactly one is expected; a certificate with none or several is
//! nobody's. Host names in certificates are for browsers only and mean nothing between our parts.

use std::fmt;
use std::str::FromStr;

use hostler_model::{NodeId, ServerId, Timestamp};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, alg_id};
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;

use crate::secret::SecretString;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("this is not a certificate in PEM form")]
    NotPem,
    #[error("the certificate cannot be read")]
    Unreadable,
    #[error("this is not the certificate of an authority")]
    NotAnAuthority,
    #[error("the certificate carries no Hostler role; it was not issued by a Hostler server")]
    NoRole,
    #[error("the certificate carries several Hostler roles")]
    SeveralRoles,
    #[error("the certificate names `{0}`, which is not a role this release knows")]
    UnknownRole(String),
}

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PeerIdentity {
    Server(ServerId),
    Node(NodeId),
}

const ROLE_PREFIX: &str = "spiffe://hostler/";

impl PeerIdentity {
    /// The name in the certificate.
    pub fn uri(self) -> String {
        match self {
            PeerIdentity::Server(id) => format!("{ROLE_PREFIX}server/{id}"),
            PeerIdentity::Node(id) => format!("{ROLE_PREFIX}node/{id}"),
        }
    }

    fn from_uri(uri: &str) -> Option<PeerIdentity> {
        let (role, id) = uri.strip_prefix(ROLE_PREFIX)?.split_once('/')?;
        let identity = match role {
            "server" => PeerIdentity::Server(id.parse().ok()?),
            "node" => PeerIdentity::Node(id.parse().ok()?),
            _ => return None,
        };
        (identity.uri() == uri).then_some(identity)
    }
}

impl fmt::Display for PeerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PeerIdentity::Server(id) => write!(f, "server {id}"),
            PeerIdentity::Node(id) => write!(f, "node {id}"),
        }
    }
}

/// A peer's certificate, read. Whether it is to be trusted was decided by the TLS handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerCertificate {
    pub identity: PeerIdentity,
    /// Lowercase hex, as in `model::NodeCertificate`.
    pub serial: String,
    pub time_begins: Timestamp,
    pub time_expires: Timestamp,
}

impl PeerCertificate {
    pub fn from_der(der: &CertificateDer<'_>) -> Result<PeerCertificate, Error> {
        let certificate = parse(der)?;
        Ok(PeerCertificate {
            identity: identity(&certificate)?,
            serial: serial(&certificate),
            time_begins: seconds(certificate.validity().not_before.timestamp()),
            time_expires: seconds(certificate.validity().not_after.timestamp()),
        })
    }

    /// Reads the first certificate of a PEM chain: an agent's own, to know when to rotate it.
    pub fn from_pem(pem: &str) -> Result<PeerCertificate, Error> {
        PeerCertificate::from_der(
            &CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| Error::NotPem)?,
        )
    }
}

/// When a certificate ends, whoever it is of and whoever issued it.
pub fn expiry(der: &CertificateDer<'_>) -> Result<Timestamp, Error> {
    Ok(seconds(parse(der)?.validity().not_after.timestamp()))
}

/// When the first to end of the certificates in a PEM file does.
pub fn first_expiry(pem: &[u8]) -> Result<Timestamp, Error> {
    let mut first = None;
    for der in CertificateDer::pem_slice_iter(pem) {
        let ends = expiry(&der.map_err(|_| Error::NotPem)?)?;
        first = Some(first.map_or(ends, |first: Timestamp| first.min(ends)));
    }
    first.ok_or(Error::NotPem)
}

/// Who a certificate says its owner is.
pub fn peer_identity(der: &CertificateDer<'_>) -> Result<PeerIdentity, Error> {
    identity(&parse(der)?)
}

fn parse<'a>(der: &'a CertificateDer<'_>) -> Result<X509Certificate<'a>, Error> {
    match x509_parser::parse_x509_certificate(der) {
        Ok(([], certificate)) => Ok(certificate),
        _ => Err(Error::Unreadable),
    }
}

fn identity(certificate: &X509Certificate<'_>) -> Result<PeerIdentity, Error> {
    let names = certificate
        .subject_alternative_name()
        .map_err(|_| Error::Unreadable)?
        .ok_or(Error::NoRole)?;
    let mut uris = names.value.general_names.iter().filter_map(|name| match name {
        GeneralName::URI(uri) => Some(*uri),
        _ => None,
    });
    let uri = uris.next().ok_or(Error::NoRole)?;
    if uris.next().is_some() {
        return Err(Error::SeveralRoles);
    }
    PeerIdentity::from_uri(uri).ok_or_else(|| Error::UnknownRole(uri.chars().take(128).collect()))
}

fn serial(certificate: &X509Certificate<'_>) -> String {
    let raw = certificate.raw_serial();
    let start = raw.iter().position(|byte| *byte != 0).unwrap_or(raw.len().saturating_sub(1));
    hex(&raw[start..])
}

fn seconds(unix: i64) -> Timestamp {
    Timestamp::from_micros(unix.saturating_mul(1_000_000))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 of an authority's certificate; printed as `sha256:<hex>`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is `sha256:` followed by 64 hexadecimal digits")]
pub struct ParseFingerprintError;

impl Fingerprint {
    pub fn of(der: &CertificateDer<'_>) -> Fingerprint {
        Fingerprint(crate::tls::sha256(der))
    }

    /// The digits alone.
    pub fn hex(&self) -> String {
        hex(&self.0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Fingerprint {
    type Err = ParseFingerprintError;

    fn from_str(text: &str) -> Result<Fingerprint, ParseFingerprintError> {
        let text = text.trim();
        let digits = text.strip_prefix("sha256:").unwrap_or(text).as_bytes();
        if digits.len() != 64 {
            return Err(ParseFingerprintError);
        }
        let nibble = |digit: u8| char::from(digit).to_digit(16).and_then(|n| u8::try_from(n).ok());
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let (high, low) = (nibble(pair[0]), nibble(pair[1]));
            *byte = high.zip(low).map(|(h, l)| h * 16 + l).ok_or(ParseFingerprintError)?;
        }
        Ok(Fingerprint(bytes))
    }
}

/// The certificate of the installation's authority, as clients and agents pin it.
#[derive(Clone, PartialEq, Eq)]
pub struct AuthorityCertificate {
    der: CertificateDer<'static>,
}

impl AuthorityCertificate {
    pub fn from_der(der: &CertificateDer<'_>) -> Result<AuthorityCertificate, Error> {
        if parse(der)?.is_ca() {
            Ok(AuthorityCertificate { der: der.clone().into_owned() })
        } else {
            Err(Error::NotAnAuthority)
        }
    }

    pub fn from_pem(pem: &str) -> Result<AuthorityCertificate, Error> {
        let der = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|_| Error::NotPem)?;
        AuthorityCertificate::from_der(&der)
    }

    pub fn der(&self) -> &CertificateDer<'static> {
        &self.der
    }

    pub fn pem(&self) -> String {
        pem("CERTIFICATE", &self.der)
    }

    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.der)
    }

    /// After this nothing that it issued is valid.
    pub fn time_expires(&self) -> Timestamp {
        parse(&self.der).map_or(Timestamp::EPOCH, |certificate| {
            seconds(certificate.validity().not_after.timestamp())
        })
    }

    /// Whether this authority signed the statement, for this purpose.
    pub fn has_signed(&self, purpose: &str, statement: &[u8], signature: &[u8]) -> bool {
        let Ok(key) = self.public_key() else { return false };
        let message = self::statement(purpose, statement);
        let known = rustls::crypto::ring::default_provider().signature_verification_algorithms;
        known
            .all
            .iter()
            .filter(|algorithm| {
                algorithm.public_key_alg_id() == alg_id::ECDSA_P256
                    && algorithm.signature_alg_id() == alg_id::ECDSA_SHA256
            })
            .any(|algorithm| algorithm.verify_signature(&key, &message, signature).is_ok())
    }

    pub(crate) fn public_key(&self) -> Result<Vec<u8>, Error> {
        Ok(parse(&self.der)?.public_key().subject_public_key.data.to_vec())
    }
}

impl fmt::Debug for AuthorityCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuthorityCertificate({})", self.fingerprint())
    }
}

/// What is signed for a statement: it begins with words, as no certificate does.
pub(crate) fn statement(purpose: &str, statement: &[u8]) -> Vec<u8> {
    let mut message = format!("hostler statement: {purpose}\n").into_bytes();
    message.extend_from_slice(statement);
    message
}

fn pem(label: &str, der: &[u8]) -> String {
    use base64::Engine;
    let body = base64::engine::general_purpose::STANDARD.encode(der);
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in body.as_bytes().chunks(64) {
        text.extend(line.iter().copied().map(char::from));
        text.push('\n');
    }
    text + &format!("-----END {label}-----\n")
}

/// A certificate chain (leaf first, authority last) with the key that belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    pub chain_pem: String,
    pub key_pem: SecretString,
}

impl Identity {
    pub(crate) fn chain(&self) -> Result<Vec<CertificateDer<'static>>, Error> {
        let chain: Vec<_> = CertificateDer::pem_slice_iter(self.chain_pem.as_bytes())
            .collect::<Result<_, _>>()
            .map_err(|_| Error::NotPem)?;
        if chain.is_empty() { Err(Error::NotPem) } else { Ok(chain) }
    }

    pub(crate) fn key(&self) -> Result<PrivateKeyDer<'static>, Error> {
        PrivateKeyDer::from_pem_slice(self.key_pem.expose().as_bytes()).map_err(|_| Error::NotPem)
    }

    /// Whose certificate this is.
    pub fn certificate(&self) -> Result<PeerCertificate, Error> {
        PeerCertificate::from_pem(&self.chain_pem)
    }
}
