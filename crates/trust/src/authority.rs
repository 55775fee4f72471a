//! The installation's certificate authority.
//!
//! Every installation has one of its own, made when its first server starts. It signs servers (for
//! TLS on both sides) and nodes (as clients only), and nothing else; it cannot have authorities below
//! it. All keys are ECDSA on P-256.
//!
//! 1. What a certificate says is decided here. Of a signing request only the public key is used, and
//!    only after its signature has proved that the requester holds the private key.
//! 2. Nothing outlives the authority: a certificate ends with it at the latest.
//! 3. Certificates begin five minutes early, so that machines whose clocks differ a little can talk.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use hostler_model::{NodeId, ServerId, Timestamp};
use rcgen::string::Ia5String;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateSigningRequestParams, DistinguishedName,
    DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, PublicKeyData, SanType, SerialNumber, SubjectPublicKeyInfo,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateSigningRequestDer, DnsName};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::prelude::FromDer;

use crate::certificate::{self, AuthorityCertificate, Fingerprint, Identity, PeerIdentity, hex};
use crate::secret::{SecretString, fill_random};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the authority's certificate cannot be used")]
    Certificate(#[source] certificate::Error),
    #[error("the private key cannot be read; it must be an ECDSA P-256 key in PEM form")]
    Key(#[source] rcgen::Error),
    #[error("the private key does not belong to the authority's certificate")]
    KeyMismatch,
    #[error("the signing request cannot be read; it must be PKCS #10 in PEM form")]
    RequestUnreadable,
    #[error("the signature of the signing request is wrong")]
    RequestSignature(#[source] rcgen::Error),
    #[error("the signing request has a key that is not ECDSA P-256; make one with the agent")]
    RequestKey,
    #[error("`{0}` is neither a DNS name nor an IP address; correct the server's names")]
    Name(String),
    #[error("the authority has expired; nothing can be signed until it is replaced")]
    Expired,
    #[error("the certificate could not be made")]
    Signing(#[source] rcgen::Error),
}

/// How long an authority lives.
pub const AUTHORITY_VALID_FOR: Duration = Duration::from_hours(24 * 3652);
const SKEW_ALLOWED: Duration = Duration::from_mins(5);

/// The certificate authority with its private key.
pub struct Authority {
    certificate: AuthorityCertificate,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate that was just issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The certificate, then the authority's.
    pub chain_pem: String,
    /// Lowercase hex.
    pub serial: String,
    pub time_begins: Timestamp,
    pub time_expires: Timestamp,
}

impl Authority {
    /// A new authority. `name` is for people who look at certificates.
    pub fn create(now: Timestamp, name: &str) -> Result<Authority, Error> {
        let key = generate_key()?;
        let mut params = params(now, now.plus(AUTHORITY_VALID_FOR), name);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key).map_err(Error::Signing)?;
        Authority::assemble(
            AuthorityCertificate::from_der(certificate.der()).map_err(Error::Certificate)?,
            key,
        )
    }

    pub fn from_pem(certificate_pem: &str, key_pem: &SecretString) -> Result<Authority, Error> {
        let certificate =
            AuthorityCertificate::from_pem(certificate_pem).map_err(Error::Certificate)?;
        let key = read_key(key_pem)?;
        if certificate.public_key().map_err(Error::Certificate)? != key.der_bytes() {
            return Err(Error::KeyMismatch);
        }
        Authority::assemble(certificate, key)
    }

    fn assemble(certificate: AuthorityCertificate, key: KeyPair) -> Result<Authority, Error> {
        let issuer = Issuer::from_ca_cert_der(certificate.der(), key).map_err(Error::Signing)?;
        Ok(Authority { certificate, issuer })
    }

    pub fn certificate(&self) -> &AuthorityCertificate {
        &self.certificate
    }

    pub fn certificate_pem(&self) -> String {
        self.certificate.pem()
    }

    /// The private key, to be sealed before it is stored.
    pub fn key_pem(&self) -> SecretString {
        SecretString::new(self.issuer.key().serialize_pem())
    }

    pub fn fingerprint(&self) -> Fingerprint {
        self.certificate.fingerprint()
    }

    /// A key and a certificate for a server. `names` are the DNS names and IP addresses under which
    /// browsers reach it; agents and clients do not look at them.
    pub fn issue_server(
        &self,
        server_id: ServerId,
        names: &[String],
        now: Timestamp,
        valid_for: Duration,
    ) -> Result<(Issued, Identity), Error> {
        let key = generate_key()?;
        let mut sans = Vec::with_capacity(names.len());
        for name in names {
            sans.push(host_name(name)?);
        }
        let usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        let issued =
            self.sign(PeerIdentity::Server(server_id), sans, usages, &key, now, valid_for)?;
        let identity = Identity {
            chain_pem: issued.chain_pem.clone(),
            key_pem: SecretString::new(key.serialize_pem()),
        };
        Ok((issued, identity))
    }

    /// Signs a node's request. Whether it may have a certificate was decided by the caller.
    pub fn sign_node(
        &self,
        csr_pem: &str,
        node_id: NodeId,
        now: Timestamp,
        valid_for: Duration,
    ) -> Result<Issued, Error> {
        let key = requested_key(csr_pem)?;
        let usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(PeerIdentity::Node(node_id), Vec::new(), usages, &key, now, valid_for)
    }

    /// Signs a statement of the installation's own, such as "the audit chain stood here". The purpose
    /// is part of what is signed, and what is signed can never be read as a certificate.
    pub fn sign_statement(&self, purpose: &str, statement: &[u8]) -> Result<Vec<u8>, Error> {
        let message = certificate::statement(purpose, statement);
        rcgen::SigningKey::sign(self.issuer.key(), &message).map_err(Error::Signing)
    }

    fn sign(
        &self,
        identity: PeerIdentity,
        mut sans: Vec<SanType>,
        usages: Vec<ExtendedKeyUsagePurpose>,
        key: &impl PublicKeyData,
        now: Timestamp,
        valid_for: Duration,
    ) -> Result<Issued, Error> {
        let end = now.plus(valid_for).min(self.certificate.time_expires());
        if end <= now {
            return Err(Error::Expired);
        }
        let mut serial = [0; 16];
        fill_random(&mut serial);
        // Positive, and of full length: the top bits of a serial number are 01.
        serial[0] = serial[0] & 0x3f | 0x40;

        sans.push(SanType::URI(ia5(&identity.uri())?));
        let mut params = params(now, end, &identity.to_string());
        params.serial_number = Some(SerialNumber::from_slice(&serial));
        params.subject_alt_names = sans;
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = usages;
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(key, &self.issuer).map_err(Error::Signing)?;
        Ok(Issued {
            chain_pem: certificate.pem() + &self.certificate_pem(),
            serial: hex(&serial),
            time_begins: whole_seconds(now.minus(SKEW_ALLOWED)),
            time_expires: whole_seconds(end),
        })
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authority({})", self.fingerprint())
    }
}

/// A node's private key: made on the node, never leaves it.
pub struct NodeKey(KeyPair);

impl NodeKey {
    pub fn generate() -> Result<NodeKey, Error> {
        generate_key().map(NodeKey)
    }

    pub fn from_pem(pem: &SecretString) -> Result<NodeKey, Error> {
        read_key(pem).map(NodeKey)
    }

    pub fn pem(&self) -> SecretString {
        SecretString::new(self.0.serialize_pem())
    }

    /// A signing request. It names nobody: the server decides whose certificate it will be.
    pub fn csr_pem(&self) -> Result<String, Error> {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.serialize_request(&self.0).and_then(|request| request.pem()).map_err(Error::Signing)
    }

    /// The key together with the certificate that was issued for it.
    pub fn identity(&self, chain_pem: impl Into<String>) -> Identity {
        Identity { chain_pem: chain_pem.into(), key_pem: self.pem() }
    }
}

impl fmt::Debug for NodeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NodeKey([secret])")
    }
}

fn generate_key() -> Result<KeyPair, Error> {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(Error::Signing)
}

fn read_key(pem: &SecretString) -> Result<KeyPair, Error> {
    KeyPair::from_pkcs8_pem_and_sign_algo(pem.expose(), &PKCS_ECDSA_P256_SHA256).map_err(Error::Key)
}

/// The public key of a request whose signature is right.
fn requested_key(csr_pem: &str) -> Result<SubjectPublicKeyInfo, Error> {
    let der = CertificateSigningRequestDer::from_pem_slice(csr_pem.as_bytes())
        .map_err(|_| Error::RequestUnreadable)?;
    let (rest, request) =
        X509CertificationRequest::from_der(&der).map_err(|_| Error::RequestUnreadable)?;
    if !rest.is_empty() {
        return Err(Error::RequestUnreadable);
    }
    let key = SubjectPublicKeyInfo::from_der(request.certification_request_info.subject_pki.raw)
        .map_err(|_| Error::RequestKey)?;
    if key.algorithm() != &PKCS_ECDSA_P256_SHA256 {
        return Err(Error::RequestKey);
    }
    CertificateSigningRequestParams::from_der(&der).map_err(Error::RequestSignature)?;
    Ok(key)
}

fn params(now: Timestamp, end: Timestamp, common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    let epoch = rcgen::date_time_ymd(1970, 1, 1);
    params.not_before = epoch + since_epoch(now.minus(SKEW_ALLOWED));
    params.not_after = epoch + since_epoch(end);
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, "Hostler");
    params.distinguished_name.push(DnType::CommonName, common_name);
    params
}

fn host_name(name: &str) -> Result<SanType, Error> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(SanType::IpAddress(address));
    }
    if DnsName::try_from(name).is_err() {
        return Err(Error::Name(name.chars().take(256).collect()));
    }
    ia5(name).map(SanType::DnsName)
}

fn ia5(text: &str) -> Result<Ia5String, Error> {
    Ia5String::try_from(text).map_err(Error::Signing)
}

/// Certificates know whole seconds, and nothing here happens before 1970.
fn since_epoch(time: Timestamp) -> Duration {
    Duration::from_secs(time.since(Timestamp::EPOCH).as_secs())
}

fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::EPOCH.plus(since_epoch(time))
}
