//! The synchronous core: one file, one owner.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hostler_model::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::{error, warn};

use super::Error;
use super::frame::{self, End, MAGIC};
use crate::fs::{draft_path, failed, sync_parent};

/// An open journal of records of type `R`.
pub struct Journal<R> {
    path: PathBuf,
    tape: Tape,
    /// What is acknowledged: written and synced.
    synced: Extent,
    /// Written since, waiting for a sync.
    written: Extent,
    /// Of that, what somebody relies on already: it is written again when the file was cut back.
    jotted: Frames,
    /// Something failed; the file must be cut back to `synced` before it is used again.
    is_dirty: bool,
    /// The file was replaced, and a crash might still bring the old one back: nothing may be
    /// acknowledged before its directory is synced.
    is_rename_pending: bool,
    _lock: File,
    _record: PhantomData<fn(R) -> R>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extent {
    bytes: u64,
    records: u64,
}

/// A journal that was just opened, with what it held.
pub struct Opened<R> {
    pub journal: Journal<R>,
    /// In the order in which they were appended.
    pub records: Vec<R>,
    pub recovery: Recovery,
}

/// What opening found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Nothing to repair.
    Clean,
    /// An unfinished write at the end was cut off; nothing acknowledged was in it.
    TornTail { bytes_dropped: u64 },
    /// A bad frame in the middle; the whole file was kept for a human to look at.
    Quarantined {
        kept_as: PathBuf,
        /// Where the bad frame begins.
        offset: u64,
    },
}

impl<R: Serialize + DeserializeOwned> Journal<R> {
    /// Opens or creates the journal at `path` and reads it. `now` names a quarantined file.
    pub fn open(path: &Path, now: Timestamp) -> Result<Opened<R>, Error> {
        let lock = lock(path)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path)
            .map_err(failed("open", path))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read", path))?;
        let scan = frame::scan(&bytes);
        if scan.end == End::Foreign {
            return Err(Error::UnknownFormat(path.to_owned()));
        }
        let records = decode_all::<R>(path, &scan.payloads)?;

        let mut journal = Journal {
            path: path.to_owned(),
            tape: Tape::new(file),
            synced: Extent { bytes: length(scan.good), records: length(records.len()) },
            written: Extent::default(),
            jotted: Frames::default(),
            is_dirty: false,
            is_rename_pending: false,
            _lock: lock,
            _record: PhantomData,
        };
        let recovery = match scan.end {
            End::Corrupt => journal.quarantine(&bytes[..scan.good], length(scan.good), now)?,
            End::Torn => {
                let bytes_dropped = length(bytes.len() - scan.good);
                warn!(path = %path.display(), bytes_dropped, "unfinished write cut off the ledger");
                journal.is_dirty = true;
                Recovery::TornTail { bytes_dropped }
            }
            End::Clean | End::Foreign => Recovery::Clean,
        };
        journal.begin()?;
        Ok(Opened { journal, records, recovery })
    }

    /// Appends records and syncs: when this returns they are durable, all of them; when it fails
    /// none is.
    pub fn append_batch(&mut self, records: &[R]) -> Result<(), Error> {
        self.write(&encode_all(records)?)?;
        self.sync()
    }

    /// Replaces everything by `records`, atomically: after a crash there is the old or the new.
    pub fn rewrite(&mut self, records: &[R]) -> Result<(), Error> {
        self.rewrite_bytes(&encode_all(records)?)
    }
}

impl<R> Journal<R> {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes in the file.
    pub fn bytes(&self) -> u64 {
        self.synced.bytes
    }

    /// Records in the file.
    pub fn records(&self) -> u64 {
        self.synced.records
    }

    /// Writes encoded frames without syncing them.
    pub(super) fn write(&mut self, frames: &Frames) -> Result<(), Error> {
        self.repair()?;
        if let Err(source) = self.tape.write_all(&frames.bytes) {
            self.is_dirty = true;
            let failure = failed("append to", &self.path)(source).into();
            // Nothing half-written may remain; if even this fails, the next write tries it again.
            let _ = self.repair();
            return Err(failure);
        }
        self.written.bytes += length(frames.bytes.len());
        self.written.records += frames.count;
        Ok(())
    }

    /// Writes encoded frames without syncing them, and sees to it that a later sync finds them.
    pub(super) fn jot(&mut self, frames: Frames) -> Result<(), Error> {
        self.write(&frames)?;
        self.jotted.extend(&frames);
        Ok(())
    }

    /// Makes all that was written durable. On failure what was written since the last sync is cut
    /// off: after a failed sync the kernel no longer says which pages reached the disk.
    pub(super) fn sync(&mut self) -> Result<(), Error> {
        if let Err(source) = self.tape.sync() {
            self.is_dirty = true;
            let failure = failed("sync", &self.path)(source).into();
            let _ = self.repair();
            return Err(failure);
        }
        self.settle_rename()?;
        self.synced.bytes += self.written.bytes;
        self.synced.records += self.written.records;
        self.written = Extent::default();
        self.jotted = Frames::default();
        Ok(())
    }

    pub(super) fn rewrite_bytes(&mut self, frames: &Frames) -> Result<(), Error> {
        let draft = draft_path(&self.path);
        let replaced = self.replace(&draft, &frames.bytes);
        if replaced.is_err() {
            // Litter of a rewrite that did not happen.
            let _ = std::fs::remove_file(&draft);
        }
        self.tape = replaced?;
        self.synced =
            Extent { bytes: length(MAGIC.len() + frames.bytes.len()), records: frames.count };
        self.written = Extent::default();
        self.jotted = Frames::default();
        self.is_dirty = false;
        self.is_rename_pending = true;
        self.settle_rename()
    }

    fn settle_rename(&mut self) -> Result<(), Error> {
        if self.is_rename_pending {
            self.tape.sync_parent(&self.path).inspect_err(|_| self.is_dirty = true)?;
            self.is_rename_pending = false;
        }
        Ok(())
    }

    fn replace(&self, draft: &Path, frames: &[u8]) -> Result<Tape, Error> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(draft)
            .map_err(failed("create", draft))?;
        let mut tape = self.tape.successor(file);
        tape.write_all(MAGIC)
            .and_then(|()| tape.write_all(frames))
            .and_then(|()| tape.sync())
            .map_err(failed("write", draft))?;
        std::fs::rename(draft, &self.path).map_err(failed("replace", &self.path))?;
        Ok(tape)
    }

    /// Cuts the file back to what is acknowledged, if something went wrong before.
    fn repair(&mut self) -> Result<(), Error> {
        if self.is_dirty {
            self.tape.cut(self.synced.bytes).map_err(failed("truncate", &self.path))?;
            self.written = Extent::default();
            self.tape.write_all(&self.jotted.bytes).map_err(failed("append to", &self.path))?;
            self.written.bytes = length(self.jotted.bytes.len());
            self.written.records = self.jotted.count;
            self.is_dirty = false;
        }
        Ok(())
    }

    /// Leaves the file ready for appending: repaired, with its magic, positioned at the end.
    fn begin(&mut self) -> Result<(), Error> {
        self.repair()?;
        self.tape.cut(self.synced.bytes).map_err(failed("prepare", &self.path))?;
        if self.synced.bytes == 0 {
            self.tape
                .write_all(MAGIC)
                .and_then(|()| self.tape.sync())
                .map_err(failed("write", &self.path))?;
            self.synced.bytes = length(MAGIC.len());
            sync_parent(&self.path)?;
        }
        Ok(())
    }

    fn quarantine(&mut self, good: &[u8], offset: u64, now: Timestamp) -> Result<Recovery, Error> {
        let mut kept_as = self.path.clone().into_os_string();
        kept_as.push(format!(".corrupt-{}", now.micros()));
        let mut kept_as = PathBuf::from(kept_as);
        while let Err(source) = std::fs::hard_link(&self.path, &kept_as) {
            if source.kind() != io::ErrorKind::AlreadyExists {
                return Err(failed("keep a copy as", &kept_as)(source).into());
            }
            kept_as.as_mut_os_string().push("x");
        }
        let frames = Frames {
            bytes: good.get(MAGIC.len()..).unwrap_or_default().to_vec(),
            count: self.records(),
        };
        self.rewrite_bytes(&frames)?;
        error!(
            path = %self.path.display(),
            kept_as = %kept_as.display(),
            offset,
            records = self.records(),
            "ledger is corrupt, continuing with what precedes the damage"
        );
        Ok(Recovery::Quarantined { kept_as, offset })
    }
}

impl<R> std::fmt::Debug for Journal<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Journal({}, {} bytes)", self.path.display(), self.bytes())
    }
}

/// Encoded records.
#[derive(Default)]
pub(super) struct Frames {
    pub bytes: Vec<u8>,
    pub count: u64,
}

impl Frames {
    pub fn extend(&mut self, more: &Frames) {
        self.bytes.extend_from_slice(&more.bytes);
        self.count += more.count;
    }
}

pub(super) fn encode_all<R: Serialize>(records: &[R]) -> Result<Frames, Error> {
    let mut bytes = Vec::new();
    for record in records {
        frame::encode(&mut bytes, record)?;
    }
    Ok(Frames { bytes, count: length(records.len()) })
}

fn decode_all<R: DeserializeOwned>(
    path: &Path,
    payloads: &[(usize, &[u8])],
) -> Result<Vec<R>, Error> {
    payloads
        .iter()
        .map(|(offset, payload)| {
            serde_json::from_slice(payload).map_err(|source| Error::Undecodable {
                path: path.to_owned(),
                offset: length(*offset),
                source,
            })
        })
        .collect()
}

fn length(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}

/// Takes the lock file beside `path`, which tells others our pid.
fn lock(path: &Path) -> Result<File, Error> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let lock_path = PathBuf::from(name);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&lock_path)
        .map_err(failed("open", &lock_path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
            return Err(Error::InUse { path: path.to_owned(), pid });
        }
        Err(TryLockError::Error(source)) => return Err(failed("lock", &lock_path)(source).into()),
    }
    // The pid is a courtesy to whoever comes second; a full disk must not keep us from starting.
    let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(file)
}

/// The file, with a place for tests to make it fail.
struct Tape {
    file: File,
    #[cfg(test)]
    faults: std::sync::Arc<tests::Faults>,
}

impl Tape {
    fn new(file: File) -> Tape {
        Tape {
            file,
            #[cfg(test)]
            faults: std::sync::Arc::default(),
        }
    }

    fn successor(&self, file: File) -> Tape {
        Tape {
            file,
            #[cfg(test)]
            faults: self.faults.clone(),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        #[cfg(test)]
        self.faults.before_write(&mut self.file, bytes)?;
        self.file.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        #[cfg(test)]
        self.faults.before_sync()?;
        self.file.sync_data()
    }

    fn sync_parent(&self, path: &Path) -> Result<(), crate::fs::Error> {
        #[cfg(test)]
        self.faults.before_directory_sync().map_err(failed("sync directory", path))?;
        sync_parent(path)
    }

    /// Cuts the file to `length` and goes to its end.
    fn cut(&mut self, length: u64) -> io::Result<()> {
        #[cfg(test)]
        self.faults.before_cut()?;
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length)).map(|_| ())
    }
}

#[cfg(test)]
mod tests;
