//! The installation's certificate authorities, as this server holds them.
//!
//! There is one as a rule. While one takes the place of another there are two: the *present* one, which
//! stays, and the *former* one, which goes. Both are trusted, and servers have a certificate of each.
//! Nodes get certificates of the former one until every server has had the time to hear of the present
//! one, and of the present one from then on. Authorities that went are kept as certificates alone:
//! what they signed, such as anchors of the audit chain, can still be held against them.
//!
//! The truth is one row of the settings, with the keys in it sealed. Every server looks at it every few
//! seconds (`reconcile::authority`) and takes over what it says; nothing has to be restarted, and a
//! server that starts in the middle begins with what the row says.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use hostler_model::Timestamp;
use hostler_trust::{
    Authority, AuthorityBundle, AuthorityCertificate, Fingerprint, Keyring, SecretString,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::BootError;
use crate::bootstrap::AUTHORITY;

/// How long servers have to hear of a new authority before anything is issued from it.
pub(crate) const SPREADING: Duration = Duration::from_secs(10);

/// The row.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StoredAuthority {
    pub(crate) certificate_pem: String,
    /// Sealed with the master key.
    pub(crate) key: Vec<u8>,
    /// The one that goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) former: Option<StoredKey>,
    /// From when on nodes get certificates of the present one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time_issues: Option<Timestamp>,
    /// Certificates of those that went, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) retired: Vec<String>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StoredKey {
    pub(crate) certificate_pem: String,
    /// Sealed with the master key.
    pub(crate) key: Vec<u8>,
}

impl StoredAuthority {
    /// One authority and nothing else.
    pub(crate) fn alone(stored: StoredKey) -> StoredAuthority {
        StoredAuthority {
            certificate_pem: stored.certificate_pem,
            key: stored.key,
            former: None,
            time_issues: None,
            retired: Vec::new(),
        }
    }

    pub(crate) fn present(&self) -> StoredKey {
        StoredKey { certificate_pem: self.certificate_pem.clone(), key: self.key.clone() }
    }

    pub(crate) fn set_present(&mut self, stored: StoredKey) {
        self.certificate_pem = stored.certificate_pem;
        self.key = stored.key;
    }
}

impl StoredKey {
    pub(crate) fn seal(authority: &Authority, keyring: &Keyring) -> Result<StoredKey, BootError> {
        let key = keyring
            .seal(authority.key_pem().expose().as_bytes(), AUTHORITY.as_bytes())
            .map_err(|e| BootError::Authority(e.into()))?;
        Ok(StoredKey { certificate_pem: authority.certificate_pem(), key })
    }

    fn open(&self, keyring: &Keyring) -> Result<Authority, BootError> {
        let key =
            keyring.open(&self.key, AUTHORITY.as_bytes()).map_err(BootError::WrongMasterKey)?;
        let key = std::str::from_utf8(&key).map_err(|e| BootError::CorruptAuthority(e.into()))?;
        Authority::from_pem(&self.certificate_pem, &SecretString::new(key))
            .map_err(|e| BootError::CorruptAuthority(e.into()))
    }
}

/// The authorities at one moment.
pub struct AuthoritySet {
    /// The one that stays.
    pub present: Arc<Authority>,
    /// The one that goes, while it does.
    pub former: Option<Arc<Authority>>,
    /// From when on nodes get certificates of the present one.
    pub time_issues: Option<Timestamp>,
    /// Those that went, newest first.
    pub retired: Vec<AuthorityCertificate>,
    mark: String,
    /// The row that this was read from.
    row: Vec<u8>,
}

impl AuthoritySet {
    pub(crate) fn open(row: Vec<u8>, keyring: &Keyring) -> Result<AuthoritySet, BootError> {
        let stored: StoredAuthority =
            serde_json::from_slice(&row).map_err(|e| BootError::CorruptAuthority(e.into()))?;
        let former = stored.former.as_ref().map(|former| former.open(keyring)).transpose()?;
        let retired = stored
            .retired
            .iter()
            .map(|pem| AuthorityCertificate::from_pem(pem))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| BootError::CorruptAuthority(e.into()))?;
        let mut set = AuthoritySet {
            present: Arc::new(stored.present().open(keyring)?),
            former: former.map(Arc::new),
            time_issues: stored.time_issues,
            retired,
            mark: String::new(),
            row,
        };
        set.mark = set.trusted().mark();
        Ok(set)
    }

    /// A few letters that change with who is trusted.
    pub fn mark(&self) -> &str {
        &self.mark
    }

    /// The one that issues to nodes and signs statements.
    pub fn issuing(&self, now: Timestamp) -> &Arc<Authority> {
        match &self.former {
            Some(former) if self.time_issues.is_some_and(|from| now < from) => former,
            _ => &self.present,
        }
    }

    /// The one whose certificates are shown to whoever does not say which authority it knows.
    pub fn familiar(&self) -> &Arc<Authority> {
        self.former.as_ref().unwrap_or(&self.present)
    }

    /// Every authority that servers have a certificate of: the familiar one first, the one that stays
    /// last.
    pub fn serving(&self) -> Vec<Arc<Authority>> {
        self.former.iter().chain([&self.present]).cloned().collect()
    }

    /// Who is trusted; the one that stays comes first.
    pub fn trusted(&self) -> AuthorityBundle {
        let others = self.former.iter().map(|former| former.certificate().clone());
        AuthorityBundle::new(self.present.certificate().clone(), others)
    }

    /// Any authority there is or was.
    pub(crate) fn find(&self, fingerprint: &str) -> Option<&AuthorityCertificate> {
        let living = self.former.iter().chain([&self.present]).map(|one| one.certificate());
        living.chain(&self.retired).find(|one| one.fingerprint().to_string() == fingerprint)
    }

    pub(crate) fn is_of_row(&self, row: &[u8]) -> bool {
        self.row == row
    }
}

impl fmt::Debug for AuthoritySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let former: Option<Fingerprint> = self.former.as_ref().map(|one| one.fingerprint());
        f.debug_struct("AuthoritySet")
            .field("present", &self.present.fingerprint())
            .field("former", &former)
            .field("time_issues", &self.time_issues)
            .finish_non_exhaustive()
    }
}

/// The set as it is now, and a bell for when it changes.
pub(crate) struct Authorities {
    held: RwLock<Arc<AuthoritySet>>,
    changes: watch::Sender<u64>,
}

impl Authorities {
    pub(crate) fn new(set: AuthoritySet) -> Authorities {
        Authorities { held: RwLock::new(Arc::new(set)), changes: watch::Sender::new(0) }
    }

    pub(crate) fn get(&self) -> Arc<AuthoritySet> {
        Arc::clone(&self.held.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn replace(&self, set: AuthoritySet) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(set);
        self.changes.send_modify(|count| *count += 1);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }
}
