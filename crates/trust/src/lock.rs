//! Long streams sealed in pieces: a backup is one.
//!
//! A stream has a key of its own, made from a long-lived key (a file with 32 bytes, or a passphrase by
//! argon2id) and a salt that is made anew for every stream. So pieces can be numbered for nonces: the
//! nonce of a piece is its number and whether it is the last, and no two pieces of two streams ever
//! share a key and a nonce. Pieces that are taken away, repeated or moved, and a stream that ends early,
//! do not open. What the pieces belong to (the head of a file, say) is passed as associated data.
//!
//! A [`Lock`] is what is written beside the stream: how its key is made, the salt, and a few bytes by
//! which a wrong key is told from damage.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::keyring;
use crate::seal::{Error, MasterKey};
use crate::secret::SecretString;

/// What is added to a piece.
pub const TAG_BYTES: usize = 16;
const CHECK_BYTES: usize = 8;

/// What a lock opens with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LockKind {
    Passphrase,
    Key,
}

/// How a stream is sealed, for everybody to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    pub kind: LockKind,
    /// In base64.
    salt: String,
    /// In base64.
    check: String,
}

/// What somebody has to open a lock with.
#[derive(Clone, Debug)]
pub enum LockKey {
    Passphrase(SecretString),
    File(MasterKey),
}

impl LockKey {
    fn kind(&self) -> LockKind {
        match self {
            LockKey::Passphrase(_) => LockKind::Passphrase,
            LockKey::File(_) => LockKind::Key,
        }
    }

    fn stream_key(&self, salt: &[u8]) -> Result<StreamKey, Error> {
        match self {
            LockKey::Passphrase(passphrase) => {
                Ok(StreamKey::derive(&keyring::derive(passphrase, salt)?, salt))
            }
            LockKey::File(key) => Ok(StreamKey::derive(key, salt)),
        }
    }

    /// For a stream that is made now.
    pub fn lock(&self) -> Result<(Lock, StreamKey), Error> {
        let salt = keyring::fresh_salt();
        let key = self.stream_key(&salt)?;
        let lock = Lock {
            kind: self.kind(),
            salt: STANDARD.encode(salt),
            check: STANDARD.encode(key.check()),
        };
        Ok((lock, key))
    }

    /// For a stream that was made before. A key that is not the right one is told from damage.
    pub fn unlock(&self, lock: &Lock) -> Result<StreamKey, Error> {
        if self.kind() != lock.kind {
            return Err(Error::OtherLock(lock.kind));
        }
        let salt = STANDARD.decode(&lock.salt).map_err(|_| Error::Damaged)?;
        if salt.len() != keyring::SALT_BYTES {
            return Err(Error::Damaged);
        }
        let key = self.stream_key(&salt)?;
        match lock.fits(&key) {
            true => Ok(key),
            false => Err(Error::WrongKey),
        }
    }
}

impl Lock {
    /// Whether this is the key that the lock was made with.
    pub fn fits(&self, key: &StreamKey) -> bool {
        self.check == STANDARD.encode(key.check())
    }
}

/// The key of one stream. Cleared from memory on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct StreamKey([u8; 32]);

impl std::fmt::Debug for StreamKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StreamKey([secret])")
    }
}

impl StreamKey {
    fn derive(key: &MasterKey, salt: &[u8]) -> StreamKey {
        let material = Zeroizing::new([key.bytes(), salt].concat());
        StreamKey(blake3::derive_key("hostler.stream-key.v1", &material))
    }

    /// To hand it to whoever seals the stream.
    pub fn to_base64(&self) -> SecretString {
        SecretString::new(STANDARD.encode(self.0))
    }

    pub fn from_base64(text: &str) -> Result<StreamKey, Error> {
        let bytes = STANDARD.decode(text).map(Zeroizing::new).map_err(|_| Error::NotAKey)?;
        bytes.as_slice().try_into().map(StreamKey).map_err(|_| Error::NotAKey)
    }

    fn check(&self) -> [u8; CHECK_BYTES] {
        let whole = blake3::derive_key("hostler.stream-check.v1", &self.0);
        let mut check = [0; CHECK_BYTES];
        check.copy_from_slice(&whole[..CHECK_BYTES]);
        check
    }

    /// Seals the piece of this number.
    pub fn seal(
        &self,
        number: u64,
        is_last: bool,
        belongs_to: &[u8],
        piece: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let payload = Payload { msg: piece, aad: belongs_to };
        self.cipher().encrypt(&nonce(number, is_last), payload).map_err(|_| Error::TooLarge)
    }

    /// Opens the piece of this number.
    pub fn open(
        &self,
        number: u64,
        is_last: bool,
        belongs_to: &[u8],
        sealed: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let payload = Payload { msg: sealed, aad: belongs_to };
        self.cipher().decrypt(&nonce(number, is_last), payload).map_err(|_| Error::Damaged)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(&self.0.into())
    }
}

fn nonce(number: u64, is_last: bool) -> XNonce {
    let mut bytes = [0; 24];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes[8] = u8::from(is_last);
    XNonce::from(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u8) -> LockKey {
        LockKey::File(MasterKey::from_bytes([n; 32]))
    }

    #[test]
    fn a_piece_opens_only_in_its_place() {
        let (lock, ours) = key(1).lock().unwrap();
        let sealed = ours.seal(3, false, b"head", b"piece").unwrap();
        let again = key(1).unlock(&lock).unwrap();
        assert_eq!(again.open(3, false, b"head", &sealed).unwrap(), b"piece");
        assert!(again.open(4, false, b"head", &sealed).is_err());
        assert!(again.open(3, true, b"head", &sealed).is_err());
        assert!(again.open(3, false, b"tail", &sealed).is_err());
        let mut flipped = sealed.clone();
        flipped[0] ^= 1;
        assert!(again.open(3, false, b"head", &flipped).is_err());
    }

    #[test]
    fn two_streams_of_one_key_have_different_keys() {
        let (_, a) = key(1).lock().unwrap();
        let (_, b) = key(1).lock().unwrap();
        let sealed = a.seal(0, true, b"", b"piece").unwrap();
        assert!(b.open(0, true, b"", &sealed).is_err());
    }

    #[test]
    fn another_key_is_told_from_another_kind_and_from_damage() {
        let (lock, _) = key(1).lock().unwrap();
        assert!(matches!(key(2).unlock(&lock), Err(Error::WrongKey)));
        let words = LockKey::Passphrase(SecretString::new("twenty letters at the least"));
        assert!(matches!(words.unlock(&lock), Err(Error::OtherLock(LockKind::Key))));
        let (lock, sealed_with) = words.lock().unwrap();
        assert!(lock.fits(&words.unlock(&lock).unwrap()));
        assert!(lock.fits(&StreamKey::from_base64(sealed_with.to_base64().expose()).unwrap()));
        let other = LockKey::Passphrase(SecretString::new("twenty letters at the most!"));
        assert!(matches!(other.unlock(&lock), Err(Error::WrongKey)));
        let short = LockKey::Passphrase(SecretString::new("short"));
        assert!(matches!(short.lock(), Err(Error::Passphrase(_))));
    }
}
