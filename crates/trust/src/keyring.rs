//! The master keys of an installation, and envelopes: values sealed with a key of their own, which is
//! sealed with a master key.
//!
//! There is one present key, with which everything new is sealed, and there may be former ones, which
//! only open. So a master key is replaced without a moment at which something cannot be opened: the new
//! one becomes the present one, what the old one sealed is sealed anew bit by bit (of an envelope only
//! the small key, not the value), and when nothing is left the old one is thrown away.
//!
//! A key comes from a file, from a systemd credential, or from a passphrase by argon2id. The salt of a
//! passphrase is no secret and is kept with what is sealed.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use argon2::{Algorithm, Argon2, Params, Version};
use hostler_model::{Envelope, KeyId};
use zeroize::Zeroizing;

use crate::seal::{Error, MasterKey};
use crate::secret::{SecretBytes, SecretString, fill_random};

/// Of a passphrase.
pub const SALT_BYTES: usize = 16;
/// A passphrase is tried by whoever steals the database, as often as they like.
pub const PASSPHRASE_MIN: usize = 20;

/// The keys that open what is sealed. `Debug` shows their ids.
#[derive(Clone)]
pub struct Keyring {
    present: MasterKey,
    former: Vec<MasterKey>,
}

impl From<MasterKey> for Keyring {
    fn from(present: MasterKey) -> Keyring {
        Keyring { present, former: Vec::new() }
    }
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}

impl Keyring {
    /// Former keys open what they sealed; the present one is not among them.
    pub fn new(present: MasterKey, former: Vec<MasterKey>) -> Keyring {
        let is_other = |key: &MasterKey| key.id() != present.id();
        Keyring { former: former.into_iter().filter(is_other).collect(), present }
    }

    /// Of the key that everything new is sealed with.
    pub fn present_id(&self) -> KeyId {
        self.present.id()
    }

    /// The present one comes first.
    pub fn ids(&self) -> Vec<KeyId> {
        std::iter::once(&self.present).chain(&self.former).map(MasterKey::id).collect()
    }

    /// The keys themselves, for a backup that is sealed with something else; the present one comes first.
    pub fn keys(&self) -> Vec<MasterKey> {
        std::iter::once(&self.present).chain(&self.former).cloned().collect()
    }

    pub fn seal(&self, plaintext: &[u8], belongs_to: &[u8]) -> Result<Vec<u8>, Error> {
        self.present.seal(plaintext, belongs_to)
    }

    /// Opens what any of the keys has sealed for the same place.
    pub fn open(&self, sealed: &[u8], belongs_to: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        let wanted = MasterKey::sealed_with(sealed);
        let key = self.former.iter().find(|key| Some(key.id()) == wanted).unwrap_or(&self.present);
        key.open(sealed, belongs_to)
    }

    /// The same, sealed with the present key; `None` when it is already.
    pub fn reseal(&self, sealed: &[u8], belongs_to: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        if MasterKey::sealed_with(sealed) == Some(self.present_id()) {
            return Ok(None);
        }
        self.present.seal(&self.open(sealed, belongs_to)?, belongs_to).map(Some)
    }

    /// Seals a value with a key of its own.
    pub fn enclose(&self, value: &[u8], belongs_to: &[u8]) -> Result<Envelope, Error> {
        let own = MasterKey::generate();
        Ok(Envelope {
            sealed: own.seal(value, belongs_to)?,
            wrapped_key: self.present.seal(own.bytes(), &of_key(belongs_to))?,
            key_id: self.present_id(),
        })
    }

    /// The value in an envelope that was made for the same place.
    pub fn disclose(&self, envelope: &Envelope, belongs_to: &[u8]) -> Result<SecretBytes, Error> {
        let own = self.open(&envelope.wrapped_key, &of_key(belongs_to))?;
        let own: [u8; 32] = own.as_slice().try_into().map_err(|_| Error::Damaged)?;
        MasterKey::from_bytes(own).open(&envelope.sealed, belongs_to).map(SecretBytes::from)
    }

    /// The envelope's own key, sealed with the present master key; `None` when it is already.
    pub fn rewrap(&self, wrapped_key: &[u8], belongs_to: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        self.reseal(wrapped_key, &of_key(belongs_to))
    }
}

/// A key is not taken for a value.
fn of_key(belongs_to: &[u8]) -> Vec<u8> {
    [belongs_to, b"/key"].concat()
}

/// Random bytes as text that fits everywhere: letters, digits, `-` and `_`.
pub fn random_text(bytes: usize) -> SecretString {
    use base64::Engine;
    let mut random = Zeroizing::new(vec![0; bytes]);
    fill_random(&mut random);
    SecretString::new(base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(&*random))
}

/// For a passphrase that gets its key now.
pub fn fresh_salt() -> [u8; SALT_BYTES] {
    let mut salt = [0; SALT_BYTES];
    fill_random(&mut salt);
    salt
}

/// The key that a passphrase stands for. Takes a good part of a second and 64 MiB, by design.
pub fn derive(passphrase: &SecretString, salt: &[u8]) -> Result<MasterKey, Error> {
    let refused = |_| Error::Passphrase("it cannot be made into a key");
    if passphrase.expose().len() < PASSPHRASE_MIN {
        return Err(Error::Passphrase("it has less than 20 characters"));
    }
    let params = Params::new(64 << 10, 3, 1, Some(32)).map_err(refused)?;
    let mut key = Zeroizing::new([0; 32]);
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(passphrase.expose().as_bytes(), salt, key.as_mut_slice())
        .map_err(refused)?;
    Ok(MasterKey::from_bytes(*key))
}

/// Reads a passphrase: the first line of a file, or of a descriptor such as `/dev/fd/3`.
pub fn read_passphrase(path: &Path) -> Result<SecretString, Error> {
    let failed = |verb| move |source| Error::File { verb, path: path.to_owned(), source };
    let file = File::open(path).map_err(failed("open"))?;
    crate::seal::refuse_open_file(&file, path)?;
    let text = Zeroizing::new(io::read_to_string(file).map_err(failed("read"))?);
    Ok(SecretString::new(text.lines().next().unwrap_or_default()))
}

/// Reads keys that only open, one a line; none where there is no such file.
pub fn load_former(path: &Path) -> Result<Vec<MasterKey>, Error> {
    let failed = |verb| move |source| Error::File { verb, path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(failed("open")(e)),
    };
    crate::seal::refuse_open_file(&file, path)?;
    let text = Zeroizing::new(io::read_to_string(file).map_err(failed("read"))?);
    let keys = text.lines().map(str::trim).filter(|line| !line.is_empty());
    keys.map(|line| line.parse().map_err(|_| Error::FileIsDamaged(path.to_owned()))).collect()
}

/// Where the former keys of a key file are kept.
pub fn former_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".former");
    name.into()
}

/// Puts a new key in the place of the one in a file, and the old one among the former keys beside it:
/// that first, so that no crash loses a key. Gives both, the old one first.
pub fn replace_file(path: &Path) -> Result<(MasterKey, MasterKey), Error> {
    let old = MasterKey::load(path)?;
    let beside = former_path(path);
    let mut former = load_former(&beside)?;
    if !former.iter().any(|key| key.id() == old.id()) {
        former.push(old.clone());
    }
    write_keys(&beside, &former)?;
    let new = MasterKey::generate();
    write_keys(path, std::slice::from_ref(&new))?;
    Ok((old, new))
}

/// Puts keys that came with a backup where a server looks for them. What is there already stays.
pub fn install(path: &Path, present: &MasterKey, former: &[MasterKey]) -> Result<(), Error> {
    if path.exists() {
        return Ok(());
    }
    if !former.is_empty() {
        write_keys(&former_path(path), former)?;
    }
    write_keys(path, std::slice::from_ref(present))
}

fn write_keys(path: &Path, keys: &[MasterKey]) -> Result<(), Error> {
    let failed = |source| Error::File { verb: "write", path: path.to_owned(), source };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let draft = folder.join(format!(".master-key-{}", random_text(8).expose()));
    let write = || {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(&draft)?;
        for key in keys {
            let line = Zeroizing::new(format!("{}\n", key.to_base64().expose()));
            file.write_all(line.as_bytes())?;
        }
        file.sync_all()?;
        std::fs::rename(&draft, path)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(|e| {
        let _ = std::fs::remove_file(&draft);
        failed(e)
    })
}
