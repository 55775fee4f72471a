//! `[backup_store.NAME]`: where backups of nodes can be kept besides the database.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hostler_control::ObjectStoreConfig;
use hostler_model::BackupStore;
use serde::Deserialize;

use super::{ConfigError, Kind, Setting};

settings! {
    /// An object store that speaks S3, for backups of nodes. What is kept there is sealed before it leaves. Every server has to have the same ones.
    BackupStoreSection BACKUP_STORE_SETTINGS {
        /// Where it is: `https://host:port`, without a path. What is not public has to be in `egress.allow`.
        endpoint: String = String::new(), Kind::Text, "must be set";
        /// The bucket, which has to be there.
        bucket: String = String::new(), Kind::Text, "must be set";
        /// The region that requests are signed for.
        region: String = "us-east-1".to_owned(), Kind::Text, "us-east-1";
        /// What comes before the names of objects, such as `hostler/`.
        prefix: String = String::new(), Kind::Text, "empty";
        /// Id of the key that requests are signed with.
        access_key: String = String::new(), Kind::Text, "must be set";
        /// File with the secret part of the key, read for every request.
        secret_key_file: PathBuf = PathBuf::new(), Kind::Text, "must be set";
        /// File with the certificates of its authority, in PEM form: then only these are believed.
        authorities: Option<PathBuf> = None, Kind::Text, "as for every call";
    }
}

impl BackupStoreSection {
    /// For the application, or what is wrong: the key, and why.
    fn read(&self, name: &str) -> Result<ObjectStoreConfig, (&'static str, String)> {
        let wrong = |key, problem: &str| (key, format!("`{name}`: {problem}"));
        let store: BackupStore =
            name.parse().map_err(|error| wrong("backup_store", &format!("{error}")))?;
        if store.is_server() {
            return Err(wrong("backup_store", "`server` is the database; take another name"));
        }
        let endpoint = self.endpoint.trim_end_matches('/');
        let is_origin = endpoint
            .strip_prefix("https://")
            .or_else(|| endpoint.strip_prefix("http://"))
            .is_some_and(|host| !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']));
        if !is_origin || hostler_egress::Request::get(endpoint).is_err() {
            let problem = "write `https://host:port`, without a path";
            return Err(wrong("backup_store.endpoint", problem));
        }
        let is_plain = |text: &str| {
            text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        };
        if self.bucket.is_empty() || !is_plain(&self.bucket) || self.bucket.starts_with('.') {
            return Err(wrong("backup_store.bucket", "name the bucket"));
        }
        if self.region.is_empty() || !is_plain(&self.region) {
            return Err(wrong("backup_store.region", "name the region"));
        }
        let mut parts = self.prefix.split('/');
        if !parts.all(|part| is_plain(part) && part != "." && part != "..")
            || self.prefix.starts_with('/')
            || self.prefix.contains("//")
        {
            let problem = "letters, digits, `-`, `_` and `.`, with a `/` in between";
            return Err(wrong("backup_store.prefix", problem));
        }
        if self.access_key.is_empty() || !self.access_key.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(wrong("backup_store.access_key", "name the key"));
        }
        if self.secret_key_file.as_os_str().is_empty() {
            let problem = "name the file with the secret part of the key";
            return Err(wrong("backup_store.secret_key_file", problem));
        }
        let authorities_pem = match &self.authorities {
            Some(path) => Some(
                std::fs::read(path)
                    .map_err(|_| wrong("backup_store.authorities", "it cannot be read"))?,
            ),
            None => None,
        };
        Ok(ObjectStoreConfig {
            name: store,
            endpoint: endpoint.to_owned(),
            bucket: self.bucket.clone(),
            region: self.region.clone(),
            prefix: self.prefix.clone(),
            access_key: self.access_key.clone(),
            secret_key_file: self.secret_key_file.clone(),
            authorities_pem,
        })
    }
}

pub(super) fn check(stores: &BTreeMap<String, BackupStoreSection>) -> Result<(), ConfigError> {
    for (name, section) in stores {
        section
            .read(name)
            .map_err(|(setting, problem)| ConfigError::Setting { setting, problem })?;
    }
    Ok(())
}

/// What was checked, for the application.
pub(super) fn control(stores: &BTreeMap<String, BackupStoreSection>) -> Vec<ObjectStoreConfig> {
    stores.iter().filter_map(|(name, section)| section.read(name).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ServerConfig;

    fn read(text: &str) -> Result<Vec<ObjectStoreConfig>, String> {
        let config: ServerConfig = toml::from_str(text).unwrap();
        check(&config.backup_store).map_err(|error| error.to_string())?;
        Ok(control(&config.backup_store))
    }

    const FINE: &str = "endpoint = 'https://s3.example:9000/'\nbucket = 'b'\naccess_key = 'k'\nsecret_key_file = '/s'\n";

    #[test]
    fn a_store_is_read() {
        let found = read(&format!("[backup_store.s3]\n{FINE}prefix = 'hostler/x/'")).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name.as_str(), "s3");
        assert_eq!(found[0].endpoint, "https://s3.example:9000");
        assert_eq!(
            (found[0].region.as_str(), found[0].prefix.as_str()),
            ("us-east-1", "hostler/x/")
        );
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn what_is_wrong_with_a_store_is_told_by_its_key() {
        let without = |key: &str| {
            let lines = FINE.lines().filter(|line| !line.starts_with(key));
            format!("[backup_store.s3]\n{}\n", lines.collect::<Vec<_>>().join("\n"))
        };
        for (text, key) in [
            (format!("[backup_store.server]\n{FINE}"), "`backup_store`"),
            (format!("[backup_store.Bad]\n{FINE}"), "`backup_store`"),
            (without("endpoint"), "`backup_store.endpoint`"),
            (without("bucket"), "`backup_store.bucket`"),
            (without("access_key"), "`backup_store.access_key`"),
            (without("secret_key_file"), "`backup_store.secret_key_file`"),
            (format!("[backup_store.s3]\n{FINE}prefix = '../x'"), "`backup_store.prefix`"),
            (format!("[backup_store.s3]\n{FINE}prefix = '/x'"), "`backup_store.prefix`"),
            (format!("[backup_store.s3]\n{FINE}region = ''"), "`backup_store.region`"),
            (
                format!("[backup_store.s3]\n{FINE}authorities = '/none'"),
                "`backup_store.authorities`",
            ),
        ] {
            let why = read(&text).unwrap_err();
            assert!(why.starts_with(key), "{text}: {why}");
        }
    }
}
