//! Who this node is: `<data>/identity/`, made by joining, kept fresh by renewal.
//!
//! | file | content |
//! |---|---|
//! | `key.pem` | the node's private key; made here, never leaves |
//! | `cert.pem` | the certificate for it, leaf first |
//! | `ca.pem` | the authority that servers must be of; two while one takes the other's place |
//! | `node.json` | id, name, and where servers listen for agents |
//!
//! The directory has mode 0700, its files 0600. A new identity is written whole beside the old one
//! and takes its place in one step, so a crash leaves either of the two. A renewal keeps the key and
//! replaces `cert.pem` alone, atomically; other authorities to trust replace `ca.pem` alone, likewise.
//! A renewal that comes after another identity took the place is refused: a certificate never lands
//! beside a key it is not for.

use std::path::{Path, PathBuf};

use hostler_base::fs;
use hostler_model::{Name, NodeId, Timestamp};
use hostler_trust::certificate::{self, PeerCertificate, PeerIdentity};
use hostler_trust::{AuthorityBundle, NodeKey, SecretString, authority};
use rustix::fs::{CWD, RenameFlags};
use serde::{Deserialize, Serialize};

const FOLDER: &str = "identity";
const DRAFT: &str = "identity.new";
const KEY: &str = "key.pem";
const CERTIFICATE: &str = "cert.pem";
const AUTHORITY: &str = "ca.pem";
const NODE: &str = "node.json";

#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error(
        "{} has no identity; join first with `hostler agent join <ticket> --server <address>`",
        .0.display()
    )]
    Absent(PathBuf),
    #[error("{} is missing or damaged; join again with `--force` to replace the identity", path.display())]
    Damaged {
        path: PathBuf,
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    #[error("the certificate is for {found}, but this node is {expected}")]
    Foreign { expected: NodeId, found: PeerIdentity },
    #[error("the certificate is not for this node's key")]
    OtherKey(#[source] hostler_trust::tls::Error),
    #[error("the identity on disk is another by now; restart the agent to use it")]
    Replaced,
    #[error("the certificate cannot be used")]
    Certificate(#[source] certificate::Error),
    #[error("the node's key cannot be used; join again with `--force`")]
    Key(#[source] authority::Error),
    #[error("the identity cannot be stored")]
    Store(#[from] fs::Error),
    #[error("the identity cannot be put in its place at {}", path.display())]
    Place {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

/// `node.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeRecord {
    pub node_id: NodeId,
    pub name: Name,
    /// Where servers listen for agents, `host:port`.
    pub servers: Vec<String>,
}

/// A node's identity, as loaded.
#[derive(Clone, Debug)]
pub struct Identity {
    pub node: NodeRecord,
    pub authority: AuthorityBundle,
    pub certificate: PeerCertificate,
    tls: certificate::Identity,
}

impl Identity {
    /// Whether the data directory has an identity, usable or not.
    pub fn exists(data_dir: &Path) -> bool {
        data_dir.join(FOLDER).exists()
    }

    pub fn load(data_dir: &Path) -> Result<Identity, IdentityError> {
        let folder = data_dir.join(FOLDER);
        if !folder.exists() {
            return Err(IdentityError::Absent(data_dir.to_owned()));
        }
        let node_path = folder.join(NODE);
        let node = serde_json::from_str(&read(&node_path)?).map_err(|e| damaged(&node_path, e))?;
        let authority_path = folder.join(AUTHORITY);
        let authority = AuthorityBundle::from_pem(&read(&authority_path)?)
            .map_err(|e| damaged(&authority_path, e))?;
        let tls = certificate::Identity {
            chain_pem: read(&folder.join(CERTIFICATE))?,
            key_pem: SecretString::new(read(&folder.join(KEY))?),
        };
        Identity::new(node, authority, tls)
    }

    /// Puts the parts together; refuses what does not fit.
    pub fn new(
        node: NodeRecord,
        authority: impl Into<AuthorityBundle>,
        tls: certificate::Identity,
    ) -> Result<Identity, IdentityError> {
        let authority = authority.into();
        let certificate = tls.certificate().map_err(IdentityError::Certificate)?;
        if certificate.identity != PeerIdentity::Node(node.node_id) {
            return Err(IdentityError::Foreign {
                expected: node.node_id,
                found: certificate.identity,
            });
        }
        let identity = Identity { node, authority, certificate, tls };
        identity.client_config().map_err(IdentityError::OtherKey)?;
        Ok(identity)
    }

    /// Writes the identity, in the place of any other.
    pub fn store(&self, data_dir: &Path) -> Result<(), IdentityError> {
        let (folder, draft) = (data_dir.join(FOLDER), data_dir.join(DRAFT));
        let place = |source: std::io::Error| IdentityError::Place { path: folder.clone(), source };
        remove_dir(&draft).map_err(place)?;
        fs::create_dir(&draft, 0o700)?;
        let files = [
            (KEY, self.tls.key_pem.expose()),
            (CERTIFICATE, &self.tls.chain_pem),
            (AUTHORITY, &self.authority.pem()),
            (NODE, &node_json(&self.node)),
        ];
        for (name, text) in files {
            fs::write_atomic(&draft.join(name), text.as_bytes(), 0o600)?;
        }
        if folder.exists() {
            rustix::fs::renameat_with(CWD, &draft, CWD, &folder, RenameFlags::EXCHANGE)
                .map_err(|e| place(e.into()))?;
            remove_dir(&draft).map_err(place)?;
        } else {
            std::fs::rename(&draft, &folder).map_err(place)?;
        }
        std::fs::File::open(data_dir).and_then(|parent| parent.sync_all()).map_err(place)
    }

    /// This identity with a newer certificate for the same key, stored.
    pub fn renew(&self, data_dir: &Path, chain_pem: String) -> Result<Identity, IdentityError> {
        let tls = certificate::Identity { chain_pem, key_pem: self.tls.key_pem.clone() };
        let renewed = Identity::new(self.node.clone(), self.authority.clone(), tls)?;
        self.check_in_place(data_dir)?;
        let path = data_dir.join(FOLDER).join(CERTIFICATE);
        fs::write_atomic(&path, renewed.tls.chain_pem.as_bytes(), 0o600)?;
        Ok(renewed)
    }

    /// This identity with other authorities that servers may be of, stored.
    pub fn with_authority(
        &self,
        data_dir: &Path,
        authority: AuthorityBundle,
    ) -> Result<Identity, IdentityError> {
        self.check_in_place(data_dir)?;
        let path = data_dir.join(FOLDER).join(AUTHORITY);
        fs::write_atomic(&path, authority.pem().as_bytes(), 0o600)?;
        Ok(Identity { authority, ..self.clone() })
    }

    /// This identity with what the server says of the node and of where servers are, stored.
    pub fn with_node(
        &self,
        data_dir: &Path,
        name: Name,
        servers: Vec<String>,
    ) -> Result<Identity, IdentityError> {
        self.check_in_place(data_dir)?;
        let node = NodeRecord { node_id: self.node.node_id, name, servers };
        let path = data_dir.join(FOLDER).join(NODE);
        fs::write_atomic(&path, node_json(&node).as_bytes(), 0o600)?;
        Ok(Identity { node, ..self.clone() })
    }

    /// A request for a new certificate for the same key.
    pub fn csr_pem(&self) -> Result<String, IdentityError> {
        NodeKey::from_pem(&self.tls.key_pem)
            .and_then(|key| key.csr_pem())
            .map_err(IdentityError::Key)
    }

    /// For connections to servers of this node's authority.
    pub fn client_config(&self) -> Result<rustls::ClientConfig, hostler_trust::tls::Error> {
        hostler_trust::tls::client_of(&self.authority, Some(&self.tls))
    }

    /// When to ask for a new certificate: after about two thirds of its life. `random` is uniform in
    /// `[0, 1)` and spreads the nodes that joined together.
    pub fn time_renewal(&self, random: f64) -> Timestamp {
        let certificate = &self.certificate;
        let life = certificate.time_expires.since(certificate.time_begins);
        certificate.time_begins.plus(life.mul_f64(0.63 + 0.07 * random.clamp(0.0, 1.0)))
    }

    fn check_in_place(&self, data_dir: &Path) -> Result<(), IdentityError> {
        let folder = data_dir.join(FOLDER);
        let key = read(&folder.join(KEY))?;
        if key == self.tls.key_pem.expose() { Ok(()) } else { Err(IdentityError::Replaced) }
    }
}

fn node_json(node: &NodeRecord) -> String {
    serde_json::to_string_pretty(node).expect("names and addresses always serialise") + "\n"
}

fn read(path: &Path) -> Result<String, IdentityError> {
    std::fs::read_to_string(path).map_err(|e| damaged(path, e))
}

fn damaged(path: &Path, source: impl std::error::Error + Send + Sync + 'static) -> IdentityError {
    IdentityError::Damaged { path: path.to_owned(), source: Some(Box::new(source)) }
}

fn remove_dir(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_trust::Authority;
    use std::os::unix::fs::PermissionsExt;
    use std::time::Duration;
    use uuid::Uuid;

    const NOW: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);
    const DAY: Duration = Duration::from_hours(24);

    fn make(authority: &Authority, key: &NodeKey, n: u128, now: Timestamp) -> Identity {
        let node = NodeRecord {
            node_id: NodeId::from_uuid(Uuid::from_u128(n)),
            name: "alpha".parse().unwrap(),
            servers: vec!["127.0.0.1:7444".into()],
        };
        let issued = authority.sign_node(&key.csr_pem().unwrap(), node.node_id, now, DAY).unwrap();
        Identity::new(node, authority.certificate().clone(), key.identity(issued.chain_pem))
            .unwrap()
    }

    #[test]
    fn an_identity_is_stored_whole_private_and_replaced_in_one_step() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        assert!(matches!(Identity::load(data), Err(IdentityError::Absent(_))));
        let authority = Authority::create(NOW, "test").unwrap();
        let first = make(&authority, &NodeKey::generate().unwrap(), 1, NOW);
        first.store(data).unwrap();
        let loaded = Identity::load(data).unwrap();
        assert_eq!(loaded.node, first.node);
        for name in [KEY, CERTIFICATE, AUTHORITY, NODE] {
            let meta = std::fs::metadata(data.join(FOLDER).join(name)).unwrap();
            assert_eq!(meta.permissions().mode() & 0o777, 0o600, "{name}");
        }

        let second = make(&authority, &NodeKey::generate().unwrap(), 2, NOW);
        second.store(data).unwrap();
        assert_eq!(Identity::load(data).unwrap().node.node_id, second.node.node_id);
        assert!(!data.join(DRAFT).exists());

        let chain = first.tls.chain_pem.clone();
        assert!(matches!(first.renew(data, chain), Err(IdentityError::Replaced)));
    }

    #[test]
    fn a_renewal_keeps_the_key_and_refuses_what_is_not_ours() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        let authority = Authority::create(NOW, "test").unwrap();
        let key = NodeKey::generate().unwrap();
        let identity = make(&authority, &key, 1, NOW);
        identity.store(data).unwrap();
        let later = NOW.plus(DAY / 2);
        assert!(identity.time_renewal(0.0) > later && identity.time_renewal(1.0) < NOW.plus(DAY));

        let sign = |csr: &str, n: u128| {
            let id = NodeId::from_uuid(Uuid::from_u128(n));
            authority.sign_node(csr, id, later, DAY).unwrap().chain_pem
        };
        let renewed = identity.renew(data, sign(&identity.csr_pem().unwrap(), 1)).unwrap();
        assert!(renewed.certificate.time_expires > identity.certificate.time_expires);
        assert_eq!(Identity::load(data).unwrap().certificate, renewed.certificate);

        let foreign = identity.renew(data, sign(&identity.csr_pem().unwrap(), 9));
        assert!(matches!(foreign, Err(IdentityError::Foreign { .. })));
        let other = NodeKey::generate().unwrap();
        let mixed = identity.renew(data, sign(&other.csr_pem().unwrap(), 1));
        assert!(matches!(mixed, Err(IdentityError::OtherKey(_))));
        assert_eq!(Identity::load(data).unwrap().certificate, renewed.certificate);
    }

    #[test]
    fn another_authority_is_trusted_beside_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        let (old, new) =
            (Authority::create(NOW, "old").unwrap(), Authority::create(NOW, "new").unwrap());
        let identity = make(&old, &NodeKey::generate().unwrap(), 1, NOW);
        identity.store(data).unwrap();
        let both = AuthorityBundle::new(new.certificate().clone(), [old.certificate().clone()]);
        let told = identity.with_authority(data, both.clone()).unwrap();
        assert_eq!(told.authority, both);
        let loaded = Identity::load(data).unwrap();
        assert_eq!(loaded.authority, both);
        assert_eq!(loaded.certificate, identity.certificate);
        make(&new, &NodeKey::generate().unwrap(), 2, NOW).store(data).unwrap();
        let late = identity.with_authority(data, both);
        assert!(matches!(late, Err(IdentityError::Replaced)));
    }

    #[test]
    fn a_damaged_identity_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let authority = Authority::create(NOW, "test").unwrap();
        make(&authority, &NodeKey::generate().unwrap(), 1, NOW).store(folder.path()).unwrap();
        std::fs::write(folder.path().join(FOLDER).join(NODE), "{").unwrap();
        let error = Identity::load(folder.path()).unwrap_err();
        assert!(error.to_string().contains("--force"), "{error}");
    }
}
