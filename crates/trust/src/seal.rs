//! Data sealed at rest: XChaCha20-Poly1305 under the installation's master key.
//!
//! A sealed value is `version (1) | key id (4) | nonce (24) | ciphertext and tag`. The key id is a
//! hash of the key: it tells "sealed with another key" from "damaged". What the value belongs to (its
//! table and row, say) is passed as associated data, so that a value copied to another row does not
//! open.
//!
//! The master key is 32 bytes, kept as base64 in a file that only its owner can read. It is created
//! once, atomically: a crash leaves either no key or a whole one, and of two servers that start
//! together one creates and both load the same.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hostler_model::KeyId;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::lock::LockKind;
use crate::secret::{SecretString, fill_random};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the sealed value is damaged or belongs elsewhere")]
    Damaged,
    #[error("the sealed value has version {0}, which this release does not know; upgrade Hostler")]
    UnknownVersion(u8),
    #[error(
        "the value was sealed with another master key; start with the key file it was made with"
    )]
    OtherKey,
    #[error("the value is too large to seal")]
    TooLarge,
    #[error("this is not the key, or not the passphrase, that it was sealed with")]
    WrongKey,
    #[error("it was sealed with {}", match .0 { LockKind::Passphrase => "a passphrase, not with a key file", LockKind::Key => "a key file, not with a passphrase" })]
    OtherLock(LockKind),
    #[error("the passphrase cannot be used: {0}")]
    Passphrase(&'static str),
    #[error("a master key is 32 bytes in base64 (44 characters)")]
    NotAKey,
    #[error("{} is readable by others; run `chmod 600` on it, and consider the key known", .0.display())]
    FileIsOpen(PathBuf),
    #[error("{} does not hold a master key (32 bytes in base64)", .0.display())]
    FileIsDamaged(PathBuf),
    #[error("cannot {verb} the master key file {}", path.display())]
    File {
        verb: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

const VERSION: u8 = 1;
const KEY_ID_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;
const HEADER_BYTES: usize = 1 + KEY_ID_BYTES;

/// The key under which secrets are sealed. Cleared from memory on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct MasterKey([u8; 32]);

impl MasterKey {
    pub fn generate() -> MasterKey {
        let mut key = MasterKey([0; 32]);
        fill_random(&mut key.0);
        key
    }

    pub fn from_bytes(bytes: [u8; 32]) -> MasterKey {
        MasterKey(bytes)
    }

    /// The key as text, for its file or a secret store.
    pub fn to_base64(&self) -> SecretString {
        SecretString::new(STANDARD.encode(self.0))
    }

    /// Reads the key from its file, which must belong to nobody else.
    pub fn load(path: &Path) -> Result<MasterKey, Error> {
        let failed = |verb| move |source| Error::File { verb, path: path.to_owned(), source };
        let file = File::open(path).map_err(failed("open"))?;
        refuse_open_file(&file, path)?;
        let text = Zeroizing::new(io::read_to_string(file).map_err(failed("read"))?);
        text.parse().map_err(|_| Error::FileIsDamaged(path.to_owned()))
    }

    /// Reads the key from a file whose directory is private, such as a systemd credential.
    pub fn load_credential(path: &Path) -> Result<MasterKey, Error> {
        let failed = |source| Error::File { verb: "read", path: path.to_owned(), source };
        let text = Zeroizing::new(std::fs::read_to_string(path).map_err(failed)?);
        text.parse().map_err(|_| Error::FileIsDamaged(path.to_owned()))
    }

    /// Which key this is, without telling anything of it.
    pub fn id(&self) -> KeyId {
        let [_, id @ ..] = self.header();
        KeyId::from_bytes(id)
    }

    /// Which key a value was sealed with, as far as it says.
    pub fn sealed_with(sealed: &[u8]) -> Option<KeyId> {
        let ([_, id @ ..], _) = sealed.split_first_chunk::<HEADER_BYTES>()?;
        Some(KeyId::from_bytes(*id))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads the key from its file, or creates both.
    pub fn load_or_create(path: &Path) -> Result<MasterKey, Error> {
        match MasterKey::load(path) {
            Err(Error::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                MasterKey::generate().create_file(path).map_err(|source| Error::File {
                    verb: "create",
                    path: path.to_owned(),
                    source,
                })?;
                MasterKey::load(path)
            }
            loaded => loaded,
        }
    }

    /// Writes the key beside its place and links it there; whoever comes second changes nothing.
    fn create_file(&self, path: &Path) -> io::Result<()> {
        let mut random = [0; 8];
        fill_random(&mut random);
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let draft = folder.join(format!(".master-key-{}", URL_SAFE_NO_PAD.encode(random)));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)
            .and_then(|mut file| {
                file.write_all(format!("{}\n", self.to_base64().expose()).as_bytes())?;
                file.sync_all()
            })
            .and_then(|()| match std::fs::hard_link(&draft, path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                linked => linked,
            });
        // The draft goes whether or not it was linked; a leftover would only be litter.
        let _ = std::fs::remove_file(&draft);
        written?;
        File::open(folder)?.sync_all()
    }

    /// Seals `plaintext` for the place that `belongs_to` names.
    pub fn seal(&self, plaintext: &[u8], belongs_to: &[u8]) -> Result<Vec<u8>, Error> {
        let mut nonce = [0; NONCE_BYTES];
        fill_random(&mut nonce);
        let header = self.header();
        let ciphertext = self
            .cipher()
            .encrypt(
                &XNonce::from(nonce),
                Payload { msg: plaintext, aad: &[&header, belongs_to].concat() },
            )
            .map_err(|_| Error::TooLarge)?;
        Ok([&header[..], &nonce, &ciphertext].concat())
    }

    /// Opens what was sealed for the same place with the same key.
    pub fn open(&self, sealed: &[u8], belongs_to: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let (header, rest) = sealed.split_first_chunk::<HEADER_BYTES>().ok_or(Error::Damaged)?;
        if header[0] != VERSION {
            return Err(Error::UnknownVersion(header[0]));
        }
        if *header != self.header() {
            return Err(Error::OtherKey);
        }
        let (nonce, ciphertext) = rest.split_first_chunk::<NONCE_BYTES>().ok_or(Error::Damaged)?;
        self.cipher()
            .decrypt(
                &XNonce::from(*nonce),
                Payload { msg: ciphertext, aad: &[header, belongs_to].concat() },
            )
            .map(Zeroizing::new)
            .map_err(|_| Error::Damaged)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.0.into())
    }

    fn header(&self) -> [u8; HEADER_BYTES] {
        let id = blake3::derive_key("hostler.master-key-id.v1", &self.0);
        let mut header = [VERSION; HEADER_BYTES];
        header[1..].copy_from_slice(&id[..KEY_ID_BYTES]);
        header
    }
}

/// A secret in a file that others can read is none. Only plain files have permissions that count.
pub(crate) fn refuse_open_file(file: &File, path: &Path) -> Result<(), Error> {
    let about = file.metadata().map_err(|source| Error::File {
        verb: "look at",
        path: path.to_owned(),
        source,
    })?;
    match about.is_file() && about.mode() & 0o077 != 0 {
        true => Err(Error::FileIsOpen(path.to_owned())),
        false => Ok(()),
    }
}

impl FromStr for MasterKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<MasterKey, Error> {
        let bytes = STANDARD_NO_PAD
            .decode(text.trim().trim_end_matches('='))
            .map(Zeroizing::new)
            .map_err(|_| Error::NotAKey)?;
        bytes.as_slice().try_into().map(MasterKey).map_err(|_| Error::NotAKey)
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey([secret])")
    }
}
