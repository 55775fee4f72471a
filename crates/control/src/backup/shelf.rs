//! The directory in which a server keeps its backups.
//!
//! A backup is written beside its place and renamed when it is whole and on disk, so what has the name of a
//! backup is one. Which ones go is decided by their names alone, the time being part of them; nothing else in
//! the directory is touched.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use hostler_backup::{Head, Opened};
use hostler_model::Timestamp;

use super::BackupError;

const BEGIN: &str = "hostler-";
const END: &str = ".backup";
const DRAFT: &str = ".part";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelf {
    pub directory: PathBuf,
}

/// A file on the shelf.
#[derive(Clone, Debug)]
pub struct Kept {
    pub name: String,
    pub size: u64,
    /// What its head says, or why it cannot be read.
    pub head: Result<Head, String>,
}

impl Shelf {
    pub fn new(directory: impl Into<PathBuf>) -> Shelf {
        Shelf { directory: directory.into() }
    }

    /// `hostler-20260131T120000Z.backup`: sorted by name is sorted by time.
    pub fn name(time: Timestamp) -> String {
        let compact: String = time
            .to_string()
            .split('.')
            .next()
            .unwrap_or_default()
            .chars()
            .filter(|c| c.is_ascii_digit() || *c == 'T')
            .collect();
        format!("{BEGIN}{compact}Z{END}")
    }

    fn is_backup(name: &str) -> bool {
        let middle = name.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
        middle.is_some_and(|middle| {
            middle.len() == 16
                && middle.bytes().enumerate().all(|(at, byte)| match at {
                    8 => byte == b'T',
                    15 => byte == b'Z',
                    _ => byte.is_ascii_digit(),
                })
        })
    }

    /// Makes the directory where it is not there, for nobody else to read.
    pub fn prepare(&self) -> Result<(), BackupError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&self.directory).map_err(BackupError::disk("made", &self.directory))
    }

    /// Where a file is written before it has its name.
    pub fn draft(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}{DRAFT}"))
    }

    /// A new file that only its owner can read.
    pub fn create_file(path: &Path) -> io::Result<fs::File> {
        fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
    }

    /// Gives a file its name, for good.
    pub fn publish(&self, name: &str) -> Result<PathBuf, BackupError> {
        let (draft, place) = (self.draft(name), self.directory.join(name));
        fs::rename(&draft, &place).map_err(BackupError::disk("renamed", &draft))?;
        fs::File::open(&self.directory)
            .and_then(|directory| directory.sync_all())
            .map_err(BackupError::disk("written", &self.directory))?;
        Ok(place)
    }

    fn names(&self) -> Result<Vec<String>, BackupError> {
        let failed =
            |source| BackupError::Disk { verb: "read", path: self.directory.clone(), source };
        let entries = match fs::read_dir(&self.directory) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(failed(e)),
        };
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry.map_err(failed)?.file_name().into_string());
        }
        names.sort();
        Ok(names)
    }

    /// What is there, newest first.
    pub fn list(&self) -> Result<Vec<Kept>, BackupError> {
        let names = self.names()?.into_iter().rev().filter(|name| Self::is_backup(name));
        Ok(names.map(|name| self.look(name)).collect())
    }

    fn look(&self, name: String) -> Kept {
        let path = self.directory.join(&name);
        let size = fs::metadata(&path).map(|about| about.len()).unwrap_or_default();
        let head = fs::File::open(&path)
            .map_err(|error| error.to_string())
            .and_then(|file| Opened::new(file).map_err(|error| error.to_string()))
            .map(|opened| opened.head().clone());
        Kept { name, size, head }
    }

    /// Removes all but the newest, and what was never finished. Says which went.
    pub fn tidy(&self, keep: usize) -> Result<Vec<String>, BackupError> {
        let gone = doomed(&self.names()?, keep);
        for name in &gone {
            let path = self.directory.join(name);
            fs::remove_file(&path).map_err(BackupError::disk("removed", &path))?;
        }
        Ok(gone)
    }
}

/// Of these names, those that go.
fn doomed(names: &[String], keep: usize) -> Vec<String> {
    let is_draft = |name: &&String| name.strip_suffix(DRAFT).is_some_and(Shelf::is_backup);
    let mut whole: Vec<&String> = names.iter().filter(|name| Shelf::is_backup(name)).collect();
    whole.sort();
    let old = whole.iter().rev().skip(keep.max(1)).copied();
    names.iter().filter(is_draft).chain(old).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_time_and_known_again() {
        let time: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        let name = Shelf::name(time);
        assert_eq!(name, "hostler-20260131T120000Z.backup");
        assert!(Shelf::is_backup(&name));
        for other in ["hostler-.backup", "notes.backup", "hostler-20260131T120000Z.backup.part"] {
            assert!(!Shelf::is_backup(other), "{other}");
        }
    }

    #[test]
    fn the_newest_stay_and_nothing_else_is_touched() {
        let names = [
            "hostler-20260101T000000Z.backup",
            "hostler-20260102T000000Z.backup",
            "hostler-20260103T000000Z.backup",
            "hostler-20260104T000000Z.backup.part",
            "readme.txt",
            "hostler.db",
        ]
        .map(str::to_owned);
        assert_eq!(
            doomed(&names, 2),
            ["hostler-20260104T000000Z.backup.part", "hostler-20260101T000000Z.backup"]
        );
        assert_eq!(doomed(&names, 0).len(), 3, "one is always kept");
        assert_eq!(doomed(&names, 9), ["hostler-20260104T000000Z.backup.part"]);
    }
}
