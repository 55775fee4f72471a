//! Backups of the whole control plane: made from one moment of a database that goes on working, and put
//! into an empty database of either kind.
//!
//! [`create`] reads a snapshot of the store and writes the file that `hostler_backup` knows; nothing is
//! held but a few pieces. [`restore`] reads such a file twice: first to its end, so that nothing is touched
//! for the sake of a file that is damaged, then into the database, which is compared with the file before it
//! is released to servers. A restore that was cut off leaves a mark, and no server starts on it.
//!
//! A backup needs the master keys that its rows are sealed with. They are written into it only where it is
//! sealed itself, with something else than they are; and only by who has them in a file anyway, or whose
//! server was told so: they are never handed out over the API.
//!
//! What is old in a backup must not come to life again: who was logged in, who held a lease, what was to be
//! used once. Nodes may know more than the database does now; [`crate::node_holdings`] says how they agree.

mod create;
mod restore;
mod shelf;
mod stream;

pub use create::{Made, NewBackup, Sealing, create};
pub use restore::{Restored, drill, restore};
pub use shelf::{Kept, Shelf};
pub use stream::BackupStream;
pub(crate) use stream::stream;

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("the database cannot be used")]
    Store(#[from] hostler_store::Error),
    #[error("the file cannot be used")]
    File(#[from] hostler_backup::Error),
    #[error("the key cannot be used")]
    Key(#[from] hostler_trust::seal::Error),
    #[error("the backup has nowhere to go: who asked for it went away")]
    Gone,
    #[error(
        "this database was only half restored, and is nothing to make a backup of; restore it first"
    )]
    HalfRestored,
    #[error("this database is empty: there is nothing to make a backup of")]
    Nothing,
    #[error(
        "the database is not empty ({}); restore into an empty one, or say --force to lose what is there",
        .0.join(", ")
    )]
    Occupied(Vec<String>),
    #[error(
        "servers work on this database ({}); stop them all, and restore then: one that was killed counts for half a minute",
        .0.join(", ")
    )]
    Alive(Vec<String>),
    #[error("the database holds tables that are not Hostler's ({}); restore into another", .0.join(", "))]
    Foreign(Vec<String>),
    #[error(
        "the backup has schema {found}, and this version of Hostler knows only up to {known}; restore it with a newer Hostler"
    )]
    SchemaTooNew { found: u64, known: u64 },
    #[error(
        "table `{0}` of the backup is not as this version of Hostler makes it; restore it with the version that made it"
    )]
    OtherShape(String),
    #[error(
        "table `{0}` is not what the backup says after it was restored; nothing starts on this database; try again, with another copy of the backup"
    )]
    Differs(String),
    #[error(
        "the backup would be sealed with the master key that is in it; give another key, or leave the master key out"
    )]
    OwnKey,
    #[error(
        "the master key is only written into a backup that is sealed; give a key or a passphrase"
    )]
    KeysInPlain,
    #[error("{} cannot be {verb}", path.display())]
    Disk {
        verb: &'static str,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the installation cannot be prepared after the restore")]
    Settle(#[from] hostler_model::Error),
}

impl BackupError {
    pub(crate) fn disk(
        verb: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> BackupError {
        let path = path.into();
        move |source| BackupError::Disk { verb, path, source }
    }
}

impl From<BackupError> for hostler_model::Error {
    fn from(error: BackupError) -> hostler_model::Error {
        use hostler_model::{Code, Error};
        match error {
            BackupError::Store(error) => error.into(),
            BackupError::Settle(error) => error,
            BackupError::Gone | BackupError::Disk { .. } => {
                Error::unavailable("the backup could not be written", error)
            }
            BackupError::HalfRestored
            | BackupError::Nothing
            | BackupError::Occupied(_)
            | BackupError::Alive(_)
            | BackupError::Foreign(_)
            | BackupError::SchemaTooNew { .. }
            | BackupError::OtherShape(_)
            | BackupError::OwnKey
            | BackupError::KeysInPlain => {
                Error::new(Code::Conflict, error.to_string(), "look at `hostler help backup`")
                    .with_source(error)
            }
            BackupError::File(_) | BackupError::Key(_) | BackupError::Differs(_) => {
                Error::internal(error)
            }
        }
    }
}
