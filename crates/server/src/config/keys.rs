//! Where the master key comes from: a file, a systemd credential, or a passphrase; and where former ones
//! are.

use std::path::{Path, PathBuf};

use hostler_trust::{Keyring, MasterKey, keyring};

use super::{ConfigError, ServerConfig};

/// What systemd calls the master key.
const CREDENTIAL: &str = "hostler-master-key";

impl ServerConfig {
    /// The file that holds the master key, where it comes from a file that can be replaced.
    pub fn master_key_to_replace(&self) -> Result<PathBuf, ConfigError> {
        let wrong = |problem: &str| ConfigError::Setting {
            setting: "master_key_file",
            problem: problem.to_owned(),
        };
        if self.master_passphrase_file.is_some() {
            return Err(wrong(
                "the master key comes from a passphrase: put a new one into `master_passphrase_file` and the old one into `master_passphrase_former_file`",
            ));
        }
        match self.credential() {
            Some(_) => Err(wrong(
                "the master key is a systemd credential: replace it there, and put the old key into `data_dir`/master.key.former",
            )),
            None => Ok(self.master_key_path()),
        }
    }

    /// Where systemd has put the master key, if it has and nothing else is said.
    fn credential(&self) -> Option<PathBuf> {
        if self.master_key_file.is_some() {
            return None;
        }
        let folder = std::env::var_os("CREDENTIALS_DIRECTORY").filter(|name| !name.is_empty())?;
        Some(PathBuf::from(folder).join(CREDENTIAL)).filter(|path| path.exists())
    }

    /// Everything that opens what is sealed: the present key, and former ones. The salt is asked for only
    /// where a passphrase is made into a key.
    pub fn keyring(&self, salt: Option<&[u8]>) -> Result<Keyring, ConfigError> {
        let failed = ConfigError::MasterKey;
        let mut former =
            keyring::load_former(&keyring::former_path(&self.master_key_path())).map_err(failed)?;
        let derived = |path: &Path| {
            let passphrase = keyring::read_passphrase(path)?;
            keyring::derive(&passphrase, salt.unwrap_or_default())
        };
        if let Some(path) = &self.master_passphrase_former_file {
            former.push(derived(path).map_err(failed)?);
        }
        let present = match (&self.master_passphrase_file, self.credential()) {
            (Some(path), _) => derived(path).map_err(failed)?,
            (None, Some(path)) => MasterKey::load_credential(&path).map_err(failed)?,
            (None, None) => self.master_key()?,
        };
        Ok(Keyring::new(present, former))
    }

    /// Whether some key is derived from a passphrase.
    pub fn has_passphrase(&self) -> bool {
        self.master_passphrase_file.is_some() || self.master_passphrase_former_file.is_some()
    }
}
