//! The authorities that are trusted: one as a rule, two while one takes the place of the other.
//!
//! The first is the one that stays. On disk and on the wire a bundle is PEM, one certificate after
//! the other, so that a bundle of one is what a single authority always was.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::certificate::{AuthorityCertificate, Error, Fingerprint};

/// The certificates of trusted authorities; never none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorityBundle(Vec<AuthorityCertificate>);

impl AuthorityBundle {
    /// The one that stays, and those that are trusted besides.
    pub fn new(
        first: AuthorityCertificate,
        others: impl IntoIterator<Item = AuthorityCertificate>,
    ) -> AuthorityBundle {
        let mut all = vec![first];
        for other in others {
            if !all.contains(&other) {
                all.push(other);
            }
        }
        AuthorityBundle(all)
    }

    pub fn from_pem(pem: &str) -> Result<AuthorityBundle, Error> {
        let mut read = Vec::new();
        for der in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let der = der.map_err(|_| Error::NotPem)?;
            read.push(AuthorityCertificate::from_der(&der)?);
        }
        let mut read = read.into_iter();
        let first = read.next().ok_or(Error::NotPem)?;
        Ok(AuthorityBundle::new(first, read))
    }

    pub fn pem(&self) -> String {
        self.0.iter().map(AuthorityCertificate::pem).collect()
    }

    pub fn first(&self) -> &AuthorityCertificate {
        &self.0[0]
    }

    pub fn all(&self) -> &[AuthorityCertificate] {
        &self.0
    }

    pub fn has(&self, fingerprint: Fingerprint) -> bool {
        self.0.iter().any(|authority| authority.fingerprint() == fingerprint)
    }

    /// Few letters by which two bundles are told apart: a hint, never a proof.
    pub fn mark(&self) -> String {
        let marks: Vec<String> =
            self.0.iter().map(|authority| authority.fingerprint().hex()[..16].to_owned()).collect();
        marks.join("+")
    }

    /// Whether one of them signed the statement, for this purpose.
    pub fn has_signed(&self, purpose: &str, statement: &[u8], signature: &[u8]) -> bool {
        self.0.iter().any(|authority| authority.has_signed(purpose, statement, signature))
    }
}

impl From<AuthorityCertificate> for AuthorityBundle {
    fn from(authority: AuthorityCertificate) -> AuthorityBundle {
        AuthorityBundle(vec![authority])
    }
}
