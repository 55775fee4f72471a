//! Where the server of a data directory listens, kept beside its data while it runs, so that `hostler doctor`
//! looks where the server is and not where a configuration says it would be.
//!
//! It is taken back when the server ends in order. After a crash it stays, and says where a server should be.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use hostler_base::{chain, fs};
use serde::{Deserialize, Serialize};

const FILE: &str = "listening.json";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listening {
    pub api: SocketAddr,
    pub agents: SocketAddr,
}

impl Listening {
    /// What the server of a data directory wrote; absent where none did, or it cannot be read.
    pub fn read(data_dir: &Path) -> Option<Listening> {
        let bytes = fs::read_optional(&data_dir.join(FILE)).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    /// Writes it. A server works without it, so that it cannot is only told.
    pub(crate) fn keep(self, data_dir: &Path) -> Kept {
        let path = data_dir.join(FILE);
        let text = serde_json::to_vec(&self).unwrap_or_default();
        if let Err(error) = fs::write_atomic(&path, &text, 0o600) {
            tracing::warn!(error = %chain(&error), "where this server listens could not be written");
        }
        Kept(path)
    }
}

/// The file while its server runs.
pub(crate) struct Kept(PathBuf);

impl Kept {
    pub(crate) fn take_back(&self) {
        if let Err(error) = fs::remove_optional(&self.0) {
            tracing::warn!(error = %chain(&error), "where this server listened could not be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_read_until_it_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Listening::read(dir.path()), None);
        let api = "127.0.0.1:1234".parse().unwrap();
        let listening = Listening { api, agents: "[::1]:5".parse().unwrap() };
        let kept = listening.keep(dir.path());
        assert_eq!(Listening::read(dir.path()), Some(listening));
        std::fs::write(dir.path().join(FILE), "{").unwrap();
        assert_eq!(Listening::read(dir.path()), None);
        kept.take_back();
        kept.take_back();
        assert_eq!(Listening::read(dir.path()), None);
    }
}
