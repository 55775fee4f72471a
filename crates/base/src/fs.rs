//! Careful file writing: what is written is there whole, or not at all.
//!
//! [`write_atomic`] writes a draft beside its target, makes it durable, renames it over the target
//! and makes the rename durable. On a crash the target is either the old or the new content; a draft
//! (`.<name>.draft-...`) may be left behind and is harmless. Modes are set as given, whatever the
//! umask. Every error names the path.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} {}", path.display())]
pub struct Error {
    pub verb: &'static str,
    pub path: PathBuf,
    #[source]
    pub source: io::Error,
}

impl Error {
    pub fn is_disk_full(&self) -> bool {
        is_disk_full(&self.source)
    }
}

/// Whether an operation failed for want of space (or quota), so that it may work later.
pub fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

pub(crate) fn failed(verb: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error { verb, path, source }
}

/// Replaces the file at `path` by one with these bytes and this mode, durably.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Error> {
    let draft = draft_path(path);
    let written = write_draft(&draft, bytes, mode)
        .map_err(failed("write", path))
        .and_then(|()| std::fs::rename(&draft, path).map_err(failed("replace", path)));
    if written.is_err() {
        // The draft is litter now; the error that matters is the first one.
        let _ = std::fs::remove_file(&draft);
    }
    written?;
    sync_parent(path)
}

/// The content of the file, or `None` where there is no such file.
pub fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path)(error)),
    }
}

/// Makes sure that there is a directory at `path` with this mode; creates what is missing above it
/// with the same mode, and leaves existing parents as they are.
pub fn create_dir(path: &Path, mode: u32) -> Result<(), Error> {
    let was_there = path.is_dir();
    DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(path)
        .map_err(failed("create directory", path))?;
    std::fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(failed("set the mode of", path))?;
    if was_there { Ok(()) } else { sync_parent(path) }
}

/// Removes the file at `path`, durably; says whether there was one.
pub fn remove_optional(path: &Path) -> Result<bool, Error> {
    match std::fs::remove_file(path) {
        Ok(()) => sync_parent(path).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed("remove", path)(error)),
    }
}

fn write_draft(draft: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(draft)?;
    file.set_permissions(Permissions::from_mode(mode))?;
    file.write_all(bytes)?;
    file.sync_all()
}

pub(crate) fn draft_path(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".draft-{:016x}", rand::random::<u64>()));
    path.with_file_name(name)
}

/// Makes the creation, renaming or removal of `path` durable.
pub(crate) fn sync_parent(path: &Path) -> Result<(), Error> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    File::open(parent)
        .and_then(|folder| folder.sync_all())
        .map_err(failed("sync directory", parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn files_are_replaced_whole_with_their_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        assert_eq!(read_optional(&path).unwrap(), None);
        write_atomic(&path, b"one", 0o640).unwrap();
        write_atomic(&path, b"two", 0o666).unwrap();
        assert_eq!(read_optional(&path).unwrap().unwrap(), b"two");
        assert_eq!(mode(&path), 0o666);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(remove_optional(&path).unwrap());
        assert!(!remove_optional(&path).unwrap());
    }

    #[test]
    fn directories_are_made_once_and_get_their_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        create_dir(&path, 0o700).unwrap();
        create_dir(&path, 0o750).unwrap();
        assert_eq!(mode(&path), 0o750);
    }

    #[test]
    fn errors_name_the_path_and_leave_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        std::fs::create_dir(&path).unwrap();
        let error = write_atomic(&path, b"x", 0o600).unwrap_err();
        assert!(error.to_string().ends_with("/taken"), "{error}");
        assert!(!error.is_disk_full());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(read_optional(&path).is_err());
    }
}
