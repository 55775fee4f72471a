//! The agent's durable memory: an append-only journal of records that survives any crash.
//!
//! [`Journal`] is the synchronous core; [`Ledger`] is the handle that async code shares, and commits
//! many callers' records with one sync. Records are read once, at open, in order; the reader folds
//! them into its state. When the journal has grown, [`Journal::rewrite`] replaces it by the records
//! that make up the current state.
//!
//! File: 8 bytes of magic with the version, then frames of `length (u32) | checksum (u32) | JSON`,
//! numbers little-endian. The checksum is the start of BLAKE3 over length and JSON.
//!
//! What holds, whatever happens:
//!
//! 1. A record is on disk before `append` answers. An answer that never comes says nothing: the
//!    record may be there or not. `jot` promises less and is for records that only the death of the
//!    process must not take: it answers when they are written, and the next `append` or `sync` that
//!    succeeds makes them durable. (Should the file have to be cut back in between, they are written
//!    again before anything else.)
//! 2. What is read back is a prefix of what was appended, and contains all that was acknowledged.
//! 3. A torn tail (the crash came in the middle of a write) is cut off at open. Acknowledged records
//!    cannot be in it.
//! 4. A bad frame with good frames behind it is not a torn tail but a broken disk or a foreign hand,
//!    and so is a file that does not begin as a journal does: the file is kept as
//!    `<name>.corrupt-<micros>`, what precedes the damage is used, and the [`Recovery`] says so, for a
//!    human to look.
//! 5. A frame that is intact but cannot be understood (a newer release wrote it) is an error: nothing
//!    is thrown away.
//! 6. When an append fails (disk full, say), the file is cut back to the last acknowledged record, so
//!    nothing half-written remains, and the next append tries anew.
//! 7. One process at a time: a lock file beside the journal is held from open to drop. It is an
//!    `flock`, so processes forked without exec after the open would keep it; fork before.

mod frame;
mod handle;
mod journal;

pub use handle::{Ledger, LedgerSize};
pub use journal::{Journal, Opened, Recovery};

use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "another process{} uses {}; stop it first, or give this one another data directory",
        pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default(),
        path.display()
    )]
    InUse { path: PathBuf, pid: Option<u32> },
    #[error(
        "{} has a format that this release does not know; was it written by a newer one?",
        .0.display()
    )]
    UnknownFormat(PathBuf),
    #[error(
        "the record at byte {offset} of {} cannot be understood; was it written by a newer release?",
        path.display()
    )]
    Undecodable {
        path: PathBuf,
        offset: u64,
        #[source]
        source: serde_json::Error,
    },
    #[error("a record cannot be written as JSON")]
    Encode(#[source] serde_json::Error),
    #[error("a record of {bytes} bytes is larger than the ledger allows ({max})")]
    TooLarge { bytes: usize, max: usize },
    #[error("no space left for {}; free some and it will go on", path.display())]
    DiskFull {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the ledger cannot be read or written")]
    Io(#[source] crate::fs::Error),
    #[error("the ledger is closed: the process is stopping")]
    Closed,
}

impl From<crate::fs::Error> for Error {
    fn from(error: crate::fs::Error) -> Error {
        if error.is_disk_full() {
            Error::DiskFull { path: error.path, source: error.source }
        } else {
            Error::Io(error)
        }
    }
}
