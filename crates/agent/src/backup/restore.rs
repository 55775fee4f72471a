//! Putting a backup back: the list is read through once for what files share, then entry by entry.
//!
//! A volume is fetched when the first file needs it, and let go of when one needs another; files are in the order of
//! their bytes, so each is fetched once. Directories get their modes, owners and times last, because what is put
//! into them changes those, and one that may not be written to could not be filled. Which ones were made is written
//! down beside the fresh directories, so that an agent that begins again after a crash knows them from those that
//! were there before.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hostler_base::chain;
use hostler_model::node_backup::{
    BACKUP_TROUBLES_MAX, BackupEntry, BackupPath, BackupTrouble, EntryKind, EntryList, Extent,
    LINE_MAX, path_within,
};
use hostler_model::{
    BackupVolume, Bytes, Digest, OperationId, RestoreOrder, RestoreOutcome, RestoreTo,
};

use super::place::{Ground, Placed};
use super::{Failure, Progress, blocking};
use crate::blobs::{BlobError, BlobFile, Blobs, Wanted, Whose};

const PIECE: usize = 256 << 10;

/// Puts back what an order names. Begun again, it finds what is back already.
pub(super) async fn put_back(
    blobs: &Blobs,
    job: OperationId,
    order: Arc<RestoreOrder>,
    fresh: PathBuf,
    progress: &Arc<Progress>,
) -> Result<RestoreOutcome, Failure> {
    progress.begin("fetching the list");
    let wanted = Wanted { digest: order.manifest.digest, whose: Whose::Restore(job) };
    let list = blobs.fetch(wanted, |_| {}).await?;
    let (blobs, progress) = (blobs.clone(), progress.clone());
    let handle = tokio::runtime::Handle::current();
    blocking(move || {
        let fetch = |volume: &BackupVolume| {
            let wanted = Wanted { digest: volume.digest, whose: Whose::Restore(job) };
            handle.block_on(async {
                tokio::select! {
                    fetched = blobs.fetch(wanted, |_| {}) => fetched.map(Volume::Blob),
                    () = progress.stopped() => Err(BlobError::Away("it was given up".to_owned())),
                }
            })
        };
        let verb = if order.spec.check { "comparing" } else { "putting back" };
        progress.begin(verb);
        let open = || File::open(list.path()).map_err(|e| Failure::Refused(e.to_string()));
        restore(&order, job, fresh, &progress, open, fetch)
    })
    .await
}

/// Where the bytes of a volume are.
pub(super) enum Volume {
    Blob(BlobFile),
    /// A file of somebody else.
    File(PathBuf),
}

impl Volume {
    fn open(&self) -> std::io::Result<File> {
        match self {
            Volume::Blob(blob) => File::open(blob.path()),
            Volume::File(path) => File::open(path),
        }
    }
}

/// The same, with the list and the volumes from wherever they come.
pub(super) fn restore(
    order: &RestoreOrder,
    job: OperationId,
    fresh: PathBuf,
    progress: &Progress,
    open_list: impl Fn() -> Result<File, Failure>,
    fetch: impl FnMut(&BackupVolume) -> Result<Volume, BlobError>,
) -> Result<RestoreOutcome, Failure> {
    let spec = &order.spec;
    let is_fresh = spec.to == RestoreTo::Fresh;
    let fresh_notes = fresh.with_extension("made");
    let directory = match &spec.to {
        RestoreTo::Fresh => fresh,
        RestoreTo::Directory { path } => PathBuf::from(path),
        RestoreTo::InPlace => PathBuf::from("/"),
    };
    let mut sizes = order.volumes.iter().map(|volume| volume.size);
    let total = sizes.try_fold(0, u64::checked_add);
    let total = total.ok_or_else(|| Failure::Refused("no backup is as large".to_owned()))?;
    let ground = Ground::open(&directory, is_fresh, spec.overwrite || is_fresh, spec.check, job);
    let unusable = |error: std::io::Error| {
        Failure::Refused(format!("{} cannot be used: {error}", directory.display()))
    };
    let ground = ground.map_err(unusable)?;
    let made = match spec.check {
        true => Made::default(),
        false => Made::open(&fresh_notes).map_err(unusable)?,
    };
    let mut restore = Restore {
        paths: spec.paths.iter().map(|path| path_within(path)).collect(),
        ground,
        source: Source { volumes: &order.volumes, fetch, open: None, progress },
        shared: HashMap::new(),
        directories: Vec::new(),
        made,
        outcome: RestoreOutcome {
            directory: directory.display().to_string(),
            ..RestoreOutcome::default()
        },
        check: spec.check,
    };
    each(open_list()?, total, |entry| {
        if let EntryKind::Same { path } = entry.kind {
            restore.shared.entry(path).or_insert(Shared::Wanted);
        }
        Ok(())
    })?;
    each(open_list()?, total, |entry| {
        if progress.is_stopped() {
            return Err(Failure::Stopped);
        }
        let bytes = restore.outcome.bytes.get();
        restore.entry(entry)?;
        progress.add(1, restore.outcome.bytes.get() - bytes);
        Ok(())
    })?;
    restore.finish();
    Ok(restore.outcome)
}

/// The directories that this job has made, also before a crash.
#[derive(Default)]
struct Made {
    known: HashSet<BackupPath>,
    notes: Option<File>,
}

impl Made {
    fn open(path: &Path) -> std::io::Result<Made> {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        if let Some(above) = path.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(above)?;
        }
        let mut options = File::options();
        let notes = options.read(true).append(true).create(true).mode(0o600).open(path)?;
        let mut known = HashSet::new();
        for line in BufReader::new(&notes).split(b'\n') {
            // The last line may have been cut off; its directory is made anew.
            known.extend(serde_json::from_slice::<BackupPath>(&line?).ok());
        }
        Ok(Made { known, notes: Some(notes) })
    }

    fn note(&mut self, path: &BackupPath) -> std::io::Result<()> {
        let Some(notes) = &mut self.notes else { return Ok(()) };
        if self.known.insert(path.clone()) {
            let line = serde_json::to_string(path)?;
            notes.write_all(format!("\n{line}\n").as_bytes())?;
        }
        Ok(())
    }
}

/// Nobody asks for the job any more.
pub(super) fn forget_notes(fresh: &Path) {
    match std::fs::remove_file(fresh.with_extension("made")) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(%error, "notes of a restore not removed");
        }
        _ => {}
    }
}

/// Reads a list, believing nothing.
fn each(
    list: File,
    total: u64,
    mut take: impl FnMut(BackupEntry) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let broken = |error: &dyn std::fmt::Display| {
        Failure::Refused(format!("the list of the backup is not one: {error}"))
    };
    let (mut list, mut entries) = (BufReader::new(list), EntryList::new(total));
    let mut line = Vec::new();
    loop {
        line.clear();
        let most = LINE_MAX as u64 + 1;
        let read = list.by_ref().take(most).read_until(b'\n', &mut line);
        if read.map_err(|e| broken(&e))? == 0 {
            return Ok(());
        }
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        take(entries.entry(text).map_err(|e| broken(&chain(&e)))?)?;
    }
}

/// A file that has several names.
enum Shared {
    /// It comes.
    Wanted,
    /// It is not meant itself, but may have to be put where another of its names is.
    Elsewhere(Box<BackupEntry>),
    /// It is there, as this file.
    There { path: BackupPath, number: (u64, u64) },
}

struct Restore<'a, F> {
    paths: Vec<Vec<u8>>,
    ground: Ground,
    source: Source<'a, F>,
    shared: HashMap<BackupPath, Shared>,
    /// Those that were made, or are to be as they were.
    directories: Vec<BackupEntry>,
    made: Made,
    outcome: RestoreOutcome,
    check: bool,
}

impl<F: FnMut(&BackupVolume) -> Result<Volume, BlobError>> Restore<'_, F> {
    fn is_meant(&self, path: &BackupPath) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|above| path.is_in(above))
    }

    fn entry(&mut self, entry: BackupEntry) -> Result<(), Failure> {
        if !self.is_meant(&entry.path) {
            if let Some(shared) = self.shared.get_mut(&entry.path)
                && matches!(entry.kind, EntryKind::File { .. })
            {
                *shared = Shared::Elsewhere(Box::new(entry));
            }
            return Ok(());
        }
        match entry.kind.clone() {
            EntryKind::Directory => {
                let is_known = self.made.known.contains(&entry.path);
                if !is_known && self.ground.is_missing(&entry.path) {
                    let noted = self.made.note(&entry.path);
                    noted.map_err(|error| Failure::Refused(error.to_string()))?;
                }
                let placed = self.ground.directory(&entry);
                let is_ours = match &placed {
                    Ok(Placed::Kept) => self.ground.overwrites() || is_known,
                    placed => placed.is_ok(),
                };
                if is_ours && !self.check {
                    self.directories.push(entry.clone());
                }
                self.note(&entry, placed, |outcome| outcome.directories += 1);
            }
            EntryKind::Link { target } => {
                let placed = self.ground.link(&entry, &target);
                self.note(&entry, placed, |outcome| outcome.links += 1);
            }
            EntryKind::File { .. } => {
                let is_shared = self.shared.contains_key(&entry.path);
                self.file(entry.clone(), is_shared.then(|| entry.path.clone()))?;
            }
            EntryKind::Same { path } => self.same(entry, path)?,
        }
        Ok(())
    }

    /// Another name of a file that came before.
    fn same(&mut self, entry: BackupEntry, first: BackupPath) -> Result<(), Failure> {
        match self.shared.get(&first) {
            Some(Shared::There { path, number }) => {
                let placed = self.ground.same(&entry, path, *number);
                self.note(&entry, placed, |outcome| outcome.files += 1);
                Ok(())
            }
            Some(Shared::Elsewhere(kept)) => {
                let here = BackupEntry { kind: kept.kind.clone(), ..entry };
                self.file(here, Some(first))
            }
            Some(Shared::Wanted) | None => {
                if !self.check {
                    self.failed(&entry, "the file that it is the same as is not there");
                }
                Ok(())
            }
        }
    }

    /// Puts a file back; for those that are the same as `first` too.
    fn file(&mut self, entry: BackupEntry, first: Option<BackupPath>) -> Result<(), Failure> {
        let EntryKind::File { size, at, stored, digest, ref extents } = entry.kind else {
            return Ok(());
        };
        let content = Content { size, at, stored, digest, extents };
        let (source, is_shared) = (&mut self.source, first.is_some());
        let fill = |file: &File| source.copy(&content, file);
        let placed = match self.ground.file(&entry, &content, is_shared, fill) {
            Ok((placed, number)) => {
                if let Some(first) = first {
                    // What is there may be another file, which is left alone; then the next name gets this one.
                    let shared = match number {
                        Some(number) => Shared::There { path: entry.path.clone(), number },
                        None => Shared::Elsewhere(Box::new(entry.clone())),
                    };
                    self.shared.insert(first, shared);
                }
                Ok(placed)
            }
            Err(Unplaced::Later(error)) => return Err(Failure::Blob(error)),
            Err(Unplaced::Stopped) => return Err(Failure::Stopped),
            Err(Unplaced::Never(why)) => Err(why),
        };
        self.note(&entry, placed, |outcome| {
            outcome.files += 1;
            outcome.bytes = Bytes::new(outcome.bytes.get() + stored);
        });
        Ok(())
    }

    fn note(
        &mut self,
        entry: &BackupEntry,
        placed: Result<Placed, String>,
        count: impl FnOnce(&mut RestoreOutcome),
    ) {
        match placed {
            Ok(Placed::Made | Placed::Replaced) => count(&mut self.outcome),
            Ok(Placed::Flawed(why)) => {
                count(&mut self.outcome);
                self.failed(entry, &why);
            }
            Ok(Placed::Kept) => self.outcome.kept += 1,
            Ok(Placed::WouldDiffer(why)) => {
                self.outcome.changed += 1;
                if self.outcome.changes.len() < BACKUP_TROUBLES_MAX {
                    self.outcome.changes.push(BackupTrouble { path: entry.path.to_string(), why });
                }
            }
            Err(why) => self.failed(entry, &why),
        }
    }

    fn failed(&mut self, entry: &BackupEntry, why: &str) {
        self.outcome.failed += 1;
        if self.outcome.troubles.len() < BACKUP_TROUBLES_MAX {
            let (path, why) = (entry.path.to_string(), why.to_owned());
            self.outcome.troubles.push(BackupTrouble { path, why });
        }
    }

    /// Directories get what they had, those inside before those around them; then all of it is on the disk.
    fn finish(&mut self) {
        for entry in std::mem::take(&mut self.directories).into_iter().rev() {
            if let Err(why) = self.ground.finish_directory(&entry) {
                self.failed(&entry, &why);
            }
        }
        self.ground.sync();
    }
}

/// Why a file is not put back.
pub(super) enum Unplaced {
    /// The whole is tried again.
    Later(BlobError),
    /// Nobody wants it any more.
    Stopped,
    Never(String),
}

impl From<std::io::Error> for Unplaced {
    fn from(error: std::io::Error) -> Unplaced {
        Unplaced::Never(error.to_string())
    }
}

/// What a file is to have.
pub(super) struct Content<'a> {
    pub size: u64,
    pub at: u64,
    pub stored: u64,
    pub digest: Digest,
    pub extents: &'a [Extent],
}

impl Content<'_> {
    /// Where its bytes belong.
    pub fn pieces(&self) -> Vec<Extent> {
        match (self.extents.is_empty(), self.stored) {
            (_, 0) => Vec::new(),
            (true, _) => vec![Extent { at: 0, length: self.size }],
            (false, _) => self.extents.to_vec(),
        }
    }
}

type Opened = Result<(File, Volume), String>;

/// The bytes of all files.
struct Source<'a, F> {
    volumes: &'a [BackupVolume],
    fetch: F,
    /// The one at hand, by its number, or why it cannot be had.
    open: Option<(usize, Opened)>,
    progress: &'a Progress,
}

impl<F: FnMut(&BackupVolume) -> Result<Volume, BlobError>> Source<'_, F> {
    /// Writes what a file has to where it belongs, and compares it with its digest.
    fn copy(&mut self, content: &Content<'_>, file: &File) -> Result<(), Unplaced> {
        let (mut hasher, mut from) = (hostler_blob::Hasher::new(), content.at);
        let mut buffer = vec![0; PIECE];
        for piece in content.pieces() {
            let mut done = 0;
            while done < piece.length {
                if self.progress.is_stopped() {
                    return Err(Unplaced::Stopped);
                }
                let room = usize::try_from(piece.length - done).unwrap_or(PIECE).min(PIECE);
                let got = self.read(from, &mut buffer[..room])?;
                hasher.update(&buffer[..got]);
                file.write_all_at(&buffer[..got], piece.at + done)?;
                done += got as u64;
                from += got as u64;
            }
        }
        if hasher.digest() != content.digest {
            return Err(Unplaced::Never("its bytes are not those that were kept".to_owned()));
        }
        Ok(file.set_len(content.size)?)
    }

    /// Some bytes from there on, at least one.
    fn read(&mut self, from: u64, buffer: &mut [u8]) -> Result<usize, Unplaced> {
        let (mut start, mut number) = (0, 0);
        while let Some(volume) = self.volumes.get(number)
            && from >= start + volume.size
        {
            start += volume.size;
            number += 1;
        }
        let beyond = || Unplaced::Never("its bytes are beyond those of the backup".to_owned());
        let volume = self.volumes.get(number).ok_or_else(beyond)?;
        let file = self.volume(number)?;
        let left = usize::try_from(start + volume.size - from).unwrap_or(usize::MAX);
        let room = buffer.len().min(left);
        match file.read_at(&mut buffer[..room], from - start)? {
            0 => Err(Unplaced::Never("its volume is shorter than it says".to_owned())),
            got => Ok(got),
        }
    }

    fn volume(&mut self, number: usize) -> Result<&File, Unplaced> {
        if self.open.as_ref().is_none_or(|(known, _)| *known != number) {
            self.open = None;
            let fetched = match (self.fetch)(&self.volumes[number]) {
                Err(error) if error.is_passing() => return Err(Unplaced::Later(error)),
                Err(error) => Err(chain(&error).to_string()),
                Ok(volume) => volume.open().map(|file| (file, volume)).map_err(|e| e.to_string()),
            };
            self.open = Some((number, fetched));
        }
        match &self.open {
            Some((_, Ok((file, _)))) => Ok(file),
            Some((_, Err(why))) => Err(Unplaced::Never(why.clone())),
            None => Err(Unplaced::Never("its volume is not there".to_owned())),
        }
    }
}
