//! Directories for helpers, in which only we make names.
//!
//! Each has a mark, a file that whoever made the room holds locked for as long as it lives. A process that was killed lets
//! go of its marks, so whoever makes the next room finds those that nobody holds, and removes them: nothing else below
//! `/tmp` is looked into, and nothing that is not our own.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{FlockOperation, flock};

/// Where rooms are made: where everybody may go.
pub(super) const PLACE: &str = "/tmp";
const PREFIX: &str = "hostler-step-";
const MARK: &str = ".hostler-step";
/// How many rooms are looked at when another is made.
const LOOKED_AT: usize = 1000;

/// A directory for one helper.
pub(super) struct Room {
    path: PathBuf,
    _mark: File,
}

impl Room {
    pub fn make() -> io::Result<Room> {
        let place = Path::new(PLACE);
        sweep(place);
        Room::make_in(place)
    }

    fn make_in(place: &Path) -> io::Result<Room> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = place.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o711).create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            let mut mark = OpenOptions::new();
            let mark = mark.write(true).create_new(true).mode(0o600).open(path.join(MARK))?;
            flock(&mark, FlockOperation::LockExclusive)?;
            return Ok(Room { path, _mark: mark });
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn own(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.path.join(name);
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map(|()| path).map_err(|error| error.to_string())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let _another_time = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes rooms whose makers are dead.
fn sweep(place: &Path) {
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX));
    for entry in named.take(LOOKED_AT) {
        if is_left(&entry.path()) {
            let _another_time = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether a directory is a room of ours that nobody uses any more.
fn is_left(path: &Path) -> bool {
    let own = rustix::process::geteuid().as_raw();
    let is_own = |found: &std::fs::Metadata| found.uid() == own;
    let Ok(room) = path.symlink_metadata() else { return false };
    let at = path.join(MARK);
    let Ok(mark) = at.symlink_metadata() else { return false };
    if !(room.is_dir() && is_own(&room) && mark.is_file() && is_own(&mark)) {
        return false;
    }
    let Ok(mark) = File::open(&at) else { return false };
    flock(&mark, FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_of_the_dead_are_removed_and_nothing_else_is() {
        let place = tempfile::tempdir().unwrap();
        let room = Room::make_in(place.path()).unwrap();
        let left = Room::make_in(place.path()).unwrap();
        let path = left.path().to_owned();
        left.own("out").unwrap();
        std::fs::write(path.join("out/file"), "x").unwrap();
        let Room { _mark, .. } = &*std::mem::ManuallyDrop::new(left);
        // As a process does that is killed.
        flock(_mark, FlockOperation::Unlock).unwrap();
        let named = place.path().join(format!("{PREFIX}of-somebody"));
        std::fs::create_dir(&named).unwrap();
        let link = place.path().join(format!("{PREFIX}link"));
        std::os::unix::fs::symlink(room.path(), &link).unwrap();
        sweep(place.path());
        assert!(!path.exists(), "nobody uses it");
        assert!(room.path().exists(), "it is used");
        assert!(named.exists(), "it has no mark");
        assert!(link.symlink_metadata().is_ok());
        let kept = room.path().to_owned();
        drop(room);
        assert!(!kept.exists());
    }
}
