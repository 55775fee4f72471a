//! What can be wrong with a file.

use std::io;
use std::sync::Arc;

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("this is not a backup of Hostler: it does not begin like one")]
    NotABackup,
    #[error(
        "this backup has format {found}, and this version of Hostler knows only up to {known}; use a newer Hostler"
    )]
    Newer { found: u8, known: u8 },
    #[error(
        "the backup ends before its end: it was cut off while it was written or copied; use another copy"
    )]
    Truncated,
    #[error("the backup is damaged {place}; use another copy")]
    Damaged { place: String },
    #[error("the backup is sealed; give its key with --key-file or --passphrase-file")]
    NeedsKey,
    #[error("the backup is not sealed; leave the key out")]
    NeedsNoKey,
    #[error("the backup cannot be opened with this")]
    Key(#[source] Arc<hostler_trust::seal::Error>),
    #[error("what is written into a backup does not fit: {0}")]
    Misuse(String),
    #[error("the backup cannot be read or written")]
    Io(#[source] Arc<io::Error>),
}

impl Error {
    pub(crate) fn damaged(place: impl Into<String>) -> Error {
        Error::Damaged { place: place.into() }
    }

    /// An error that went through code that knows only IO.
    pub(crate) fn from_io(error: io::Error) -> Error {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
            Some(ours) => ours.clone(),
            None if error.kind() == io::ErrorKind::UnexpectedEof => Error::Truncated,
            None => Error::Io(Arc::new(error)),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::other(error)
    }
}

impl From<hostler_trust::seal::Error> for Error {
    fn from(error: hostler_trust::seal::Error) -> Error {
        Error::Key(Arc::new(error))
    }
}
