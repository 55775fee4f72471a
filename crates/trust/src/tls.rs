//! TLS configurations for every connection between Hostler's parts.
//!
//! | who dials | whom | configuration | server presents | client presents |
//! |---|---|---|---|---|
//! | browser, CLI | API | [`server_public`] / [`client`] | leaf + authority | nothing |
//! | agent, server | agent listener | [`server_mutual`] / [`client`] | leaf + authority | its certificate |
//! | joining agent | API | [`server_public`] / [`client_by_fingerprint`] | leaf + authority | nothing |
//! | CLI, first time | API | [`server_public`] / [`first_contact`] | leaf + authority | nothing |
//!
//! Clients trust the installation's authority and nothing else: not the system's authorities, and not
//! host names, which change. Instead the certificate must carry the role of a server, so a node's
//! certificate, though from the same authority, can never pose as one.
//!
//! Sessions between agents and servers are not resumed: every connection proves its certificate
//! again, so a revoked one is of no use. Callers set ALPN. TLS 1.3 everywhere.
//!
//! An operator may give the API listener a certificate that browsers know. Our own clients still want
//! the installation's, and say so: in the handshake they name the authorities they accept
//! ([`OUR_AUTHORITIES`]), which browsers do not. One listener has both and presents what is asked for.
//!
//! While one authority takes the place of another, a server has a certificate of each. Our clients also
//! name the very authorities they trust, by fingerprint; whoever names the new one is shown its
//! certificate, and everybody else that of the old one. So nobody is cut off before the old one is
//! dropped, and nobody has to be told first.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, verify_server_cert_signed_by_trust_anchor};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::{
    ClientHello, NoServerSessionStorage, ParsedCertificate, ResolvesServerCert,
    WebPkiClientVerifier,
};
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, OtherError,
    RootCertStore, ServerConfig, SignatureScheme, SupportedCipherSuite, SupportedProtocolVersion,
    version,
};

use crate::bundle::AuthorityBundle;
use crate::certificate::{
    self, AuthorityCertificate, Fingerprint, Identity, PeerIdentity, peer_identity,
};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the certificate or its key cannot be used")]
    Identity(#[source] certificate::Error),
    #[error("the pinned authority cannot be used; log in again to pin it anew")]
    Authority(#[source] rustls::Error),
    #[error(
        "the operator's certificate and key cannot be used; they must be in PEM form, the leaf first, and belong together"
    )]
    Shown(#[source] rustls::Error),
    #[error("TLS cannot be set up with this certificate and key")]
    Config(#[source] rustls::Error),
    #[error("the check of client certificates cannot be set up")]
    ClientVerifier(#[source] rustls::server::VerifierBuilderError),
    #[error("the server presented no certificate of an authority; is it a Hostler server?")]
    NoAuthority,
    #[error("the server's certificate was not issued by the authority it presented")]
    NotIssued(#[source] rustls::Error),
}

/// The name of every installation's authority in part: an organisation called Hostler, in DER form.
const OUR_AUTHORITIES: &[u8] = b"\x30\x12\x31\x10\x30\x0e\x06\x03\x55\x04\x0a\x0c\x07Hostler";

/// How a client names one authority among those: the same organisation, and the fingerprint.
fn named(fingerprint: &Fingerprint) -> Vec<u8> {
    let mut name = b"\x30\x5d\x31\x10\x30\x0e\x06\x03\x55\x04\x0a\x0c\x07Hostler".to_vec();
    name.extend_from_slice(b"\x31\x49\x30\x47\x06\x03\x55\x04\x03\x0c\x40");
    name.extend_from_slice(fingerprint.hex().as_bytes());
    name
}

static TLS13_ONLY: &[&SupportedProtocolVersion] = &[&version::TLS13];

/// The cryptography used everywhere.
pub fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let SupportedCipherSuite::Tls13(suite) = ring::cipher_suite::TLS13_AES_128_GCM_SHA256 else {
        unreachable!("the suite's own name says that it is of TLS 1.3")
    };
    suite.common.hash_provider.hash(bytes).as_ref().try_into().expect("SHA-256 has 32 bytes")
}

/// For the API listener: anyone may connect and authenticates above TLS.
pub fn server_public(identity: &Identity) -> Result<ServerConfig, Error> {
    server_public_showing(identity, None)
}

/// The same, where whoever does not ask for the installation's own certificate gets the operator's.
pub fn server_public_showing(
    identity: &Identity,
    shown: Option<&Identity>,
) -> Result<ServerConfig, Error> {
    server_public_faces(std::slice::from_ref(identity), shown)
}

/// The same with a certificate of each authority that is trusted. The first is for whoever does not
/// say which it knows, the last for whoever knows them all.
pub fn server_public_faces(
    ours: &[Identity],
    shown: Option<&Identity>,
) -> Result<ServerConfig, Error> {
    Ok(ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(TLS13_ONLY)
        .map_err(Error::Config)?
        .with_no_client_auth()
        .with_cert_resolver(Arc::new(Faces::new(ours, shown)?)))
}

fn certified(
    identity: &Identity,
    wrong: fn(rustls::Error) -> Error,
) -> Result<Arc<CertifiedKey>, Error> {
    let chain = identity.chain().map_err(Error::Identity)?;
    let key = identity.key().map_err(Error::Identity)?;
    CertifiedKey::from_der(chain, key, &provider()).map(Arc::new).map_err(wrong)
}

/// The installation's certificates for its own clients, another for everybody else.
#[derive(Debug)]
struct Faces {
    ours: Vec<Face>,
    shown: Option<Arc<CertifiedKey>>,
}

/// A certificate, and what a client calls its authority.
#[derive(Debug)]
struct Face {
    authority: Vec<u8>,
    key: Arc<CertifiedKey>,
}

impl Faces {
    fn new(ours: &[Identity], shown: Option<&Identity>) -> Result<Faces, Error> {
        let ours = ours
            .iter()
            .map(|identity| {
                let chain = identity.chain().map_err(Error::Identity)?;
                let authority = chain.last().map(|der| named(&Fingerprint::of(der)));
                let key = certified(identity, Error::Config)?;
                Ok(Face { authority: authority.unwrap_or_default(), key })
            })
            .collect::<Result<Vec<Face>, Error>>()?;
        let shown = shown.map(|shown| certified(shown, Error::Shown)).transpose()?;
        Ok(Faces { ours, shown })
    }

    /// What is presented to whoever accepts these authorities.
    fn of(&self, wanted: &[DistinguishedName]) -> Option<Arc<CertifiedKey>> {
        let wants = |name: &[u8]| wanted.iter().any(|one| one.as_ref() == name);
        let first = self.ours.first();
        let known = self.ours.iter().rfind(|face| wants(&face.authority));
        if let Some(face) = known.or(first.filter(|_| wants(OUR_AUTHORITIES))) {
            return Some(Arc::clone(&face.key));
        }
        self.shown.as_ref().or(first.map(|face| &face.key)).map(Arc::clone)
    }
}

impl ResolvesServerCert for Faces {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.of(hello.certificate_authorities().unwrap_or_default())
    }
}

/// For the listener of agents and peers: only certificates of our authority get through. Who it is
/// must still be read from the certificate with [`peer_identity`], and looked up for revocation.
pub fn server_mutual(
    identity: &Identity,
    authority: &AuthorityCertificate,
) -> Result<ServerConfig, Error> {
    server_mutual_faces(std::slice::from_ref(identity), &authority.clone().into())
}

/// The same with a certificate of each authority, and clients of any of them; the order is that of
/// [`server_public_faces`].
pub fn server_mutual_faces(
    ours: &[Identity],
    trusted: &AuthorityBundle,
) -> Result<ServerConfig, Error> {
    let clients =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots(trusted.all())?), provider())
            .build()
            .map_err(Error::ClientVerifier)?;
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(TLS13_ONLY)
        .map_err(Error::Config)?
        .with_client_cert_verifier(clients)
        .with_cert_resolver(Arc::new(Faces::new(ours, None)?));
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// For clients and agents that have pinned the authority.
pub fn client(
    authority: &AuthorityCertificate,
    identity: Option<&Identity>,
) -> Result<ClientConfig, Error> {
    client_of(&authority.clone().into(), identity)
}

/// The same for those that have pinned several, of which one takes the place of another.
pub fn client_of(
    trusted: &AuthorityBundle,
    identity: Option<&Identity>,
) -> Result<ClientConfig, Error> {
    let known: Vec<_> = trusted.all().iter().map(AuthorityCertificate::fingerprint).collect();
    let trust = Trust::Authority(roots(trusted.all())?);
    client_config(ServerRole::new(trust, &known, Captured::default()), identity)
}

/// For a machine that joins: it knows the fingerprint of the authority from its ticket, and learns
/// the authority's certificate, for pinning, from the handshake.
pub fn client_by_fingerprint(fingerprint: Fingerprint) -> Result<(ClientConfig, Captured), Error> {
    let captured = Captured::default();
    let verifier =
        ServerRole::new(Trust::Fingerprint(fingerprint), &[fingerprint], captured.clone());
    Ok((client_config(verifier, None)?, captured))
}

/// Accepts any certificate and remembers it, so that a person can be asked whether to trust the
/// authority. Send no secret over such a connection.
pub fn first_contact() -> Result<(ClientConfig, Captured), Error> {
    first_contact_wanting(None)
}

/// The same, asking for the certificate of one authority should the server have several.
pub fn first_contact_wanting(
    wanted: Option<Fingerprint>,
) -> Result<(ClientConfig, Captured), Error> {
    let captured = Captured::default();
    let verifier = ServerRole::new(Trust::Anyone, wanted.as_slice(), captured.clone());
    Ok((client_config(verifier, None)?, captured))
}

/// Accepts any certificate, of any server in the world, and remembers it: to see when it ends. Send nothing over such
/// a connection, and believe nothing that comes over it.
pub fn anyone() -> Result<(ClientConfig, Captured), Error> {
    let captured = Captured::default();
    let verifier = ServerRole::new(Trust::Anyone, &[], captured.clone());
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&version::TLS13, &version::TLS12])
        .map_err(Error::Config)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok((config, captured))
}

fn client_config(verifier: ServerRole, identity: Option<&Identity>) -> Result<ClientConfig, Error> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(TLS13_ONLY)
        .map_err(Error::Config)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => builder
            .with_client_auth_cert(
                identity.chain().map_err(Error::Identity)?,
                identity.key().map_err(Error::Identity)?,
            )
            .map_err(Error::Config)?,
    };
    config.resumption = Resumption::disabled();
    Ok(config)
}

fn roots(authorities: &[AuthorityCertificate]) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for authority in authorities {
        roots.add(authority.der().clone()).map_err(Error::Authority)?;
    }
    Ok(roots)
}

/// The certificates that a server presented in a handshake.
#[derive(Clone, Debug, Default)]
pub struct Captured(Arc<Mutex<Vec<CertificateDer<'static>>>>);

impl Captured {
    /// The chain as presented, leaf first; empty before a handshake.
    pub fn chain(&self) -> Vec<CertificateDer<'static>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The authority that issued the server's certificate, to show and to pin.
    pub fn authority(&self, now: hostler_model::Timestamp) -> Result<AuthorityCertificate, Error> {
        let chain = self.chain();
        let (leaf, others) = chain.split_first().ok_or(Error::NoAuthority)?;
        let authority = others
            .iter()
            .find_map(|der| AuthorityCertificate::from_der(der).ok())
            .ok_or(Error::NoAuthority)?;
        let now = UnixTime::since_unix_epoch(now.since(hostler_model::Timestamp::EPOCH));
        verify_server(leaf, &roots(std::slice::from_ref(&authority))?, now)
            .map_err(Error::NotIssued)?;
        Ok(authority)
    }

    fn keep(&self, leaf: &CertificateDer<'_>, others: &[CertificateDer<'_>]) {
        let chain =
            std::iter::once(leaf).chain(others).map(|der| der.clone().into_owned()).collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = chain;
    }
}

enum Trust {
    Authority(RootCertStore),
    Fingerprint(Fingerprint),
    Anyone,
}

/// Checks that the peer is a server of the trusted authority.
struct ServerRole {
    trust: Trust,
    captured: Captured,
    algorithms: WebPkiSupportedAlgorithms,
    /// Asks a server for the installation's certificate, should it have another.
    wanted: Vec<DistinguishedName>,
}

impl ServerRole {
    fn new(trust: Trust, known: &[Fingerprint], captured: Captured) -> ServerRole {
        let ours = DistinguishedName::from(OUR_AUTHORITIES.to_vec());
        let known = known.iter().map(|fingerprint| DistinguishedName::from(named(fingerprint)));
        ServerRole {
            trust,
            captured,
            algorithms: ring::default_provider().signature_verification_algorithms,
            wanted: std::iter::once(ours).chain(known).collect(),
        }
    }
}

impl fmt::Debug for ServerRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.trust {
            Trust::Authority(_) => "ServerRole(pinned authority)",
            Trust::Fingerprint(_) => "ServerRole(pinned fingerprint)",
            Trust::Anyone => "ServerRole(first contact)",
        })
    }
}

impl ServerCertVerifier for ServerRole {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match &self.trust {
            Trust::Authority(roots) => verify_server(end_entity, roots, now)?,
            Trust::Fingerprint(fingerprint) => {
                let authority = intermediates
                    .iter()
                    .find(|der| Fingerprint::of(der) == *fingerprint)
                    .ok_or(CertificateError::UnknownIssuer)?;
                let mut roots = RootCertStore::empty();
                roots.add(authority.clone().into_owned())?;
                verify_server(end_entity, &roots, now)?;
            }
            Trust::Anyone => {}
        }
        self.captured.keep(end_entity, intermediates);
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        Some(&self.wanted)
    }
}

/// Issued by the authority itself, valid now, meant for servers, and with the role of one.
fn verify_server(
    leaf: &CertificateDer<'_>,
    roots: &RootCertStore,
    now: UnixTime,
) -> Result<(), rustls::Error> {
    let algorithms = ring::default_provider().signature_verification_algorithms;
    verify_server_cert_signed_by_trust_anchor(
        &ParsedCertificate::try_from(leaf)?,
        roots,
        &[],
        now,
        algorithms.all,
    )?;
    match peer_identity(leaf) {
        Ok(PeerIdentity::Server(_)) => Ok(()),
        Ok(PeerIdentity::Node(_)) => Err(refused(RoleRefused)),
        Err(error) => Err(refused(error)),
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the certificate is a node's, not a server's")]
struct RoleRefused;

fn refused(error: impl std::error::Error + Send + Sync + 'static) -> rustls::Error {
    CertificateError::Other(OtherError(Arc::new(error))).into()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_digest_is_sha256() {
        assert_eq!(
            crate::certificate::hex(&super::sha256(b"abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
