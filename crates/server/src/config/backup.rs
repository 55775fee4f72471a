//! `[backup]`: the backups that a server makes by itself.

use std::path::PathBuf;

use hostler_control::BackupConfig;
use hostler_model::Span;
use serde::Deserialize;

use super::{ConfigError, Kind, Setting};

settings! {
    /// The backups that a server makes by itself.
    BackupSection BACKUP_SETTINGS {
        /// Where they are put. It is made where it is not there, for nobody else to read; better on another disk, and copied to another machine.
        directory: Option<PathBuf> = None, Kind::Text, "nowhere: none are made";
        /// How often one is made; with several servers by one of those that have a directory.
        every: Span = Span::from_secs(86_400), Kind::Text, "1d";
        /// How many are kept in the directory; older ones are removed.
        keep: u32 = 7, Kind::Number, "7";
        /// File with the key that they are sealed with, 32 bytes in base64, mode 0600. Not the master key. Keep a copy elsewhere: without it they are worth nothing.
        key_file: Option<PathBuf> = None, Kind::Text, "must be set, or `plain`";
        /// Do not seal them: whoever reads the file then reads everything but what is sealed with the master key.
        plain: bool = false, Kind::Flag, "false";
        /// Write the master key into them, so that a file and its key are enough to restore everything.
        master_key: bool = false, Kind::Flag, "false";
        /// Leave out images, and files that tasks left.
        without_content: bool = false, Kind::Flag, "false";
    }
}

impl BackupSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |setting, problem: &str| {
            Err(ConfigError::Setting { setting, problem: problem.to_owned() })
        };
        if self.directory.is_none() {
            return Ok(());
        }
        if self.every < Span::from_secs(60) {
            return wrong("backup.every", "it is at least 1m");
        }
        if self.keep == 0 {
            return wrong("backup.keep", "it is at least 1");
        }
        match (&self.key_file, self.plain) {
            (None, false) => wrong(
                "backup.key_file",
                "backups hold everything: name a file with a key, made with `(umask 077; head -c 32 /dev/urandom | base64 > backup.key)`, or say `plain = true`",
            ),
            (Some(_), true) => wrong("backup.plain", "there is a key file too; choose one"),
            (None, true) if self.master_key => {
                wrong("backup.master_key", "it is only written into backups that are sealed")
            }
            _ => Ok(()),
        }
    }

    pub(super) fn control(&self) -> Option<BackupConfig> {
        Some(BackupConfig {
            directory: self.directory.clone()?,
            every: self.every.duration(),
            keep: self.keep as usize,
            key_file: self.key_file.clone(),
            has_master_key: self.master_key,
            has_content: !self.without_content,
        })
    }
}
