//! Files and directories: by what the file system says of them. Nothing but a plain file is ever read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use hostler_engine::watch::Seen;
use hostler_model::{DirectoryWatch, FileWatch, WATCHED_ENTRIES_MAX};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::mark;
use crate::files::pattern::fits;

/// The most that is read of a file to see whether it was changed.
const HASHED_MAX: u64 = 64 << 20;
const CERTIFICATE_MAX: u64 = 4 << 20;
/// Names that are looked through to find those that fit.
const SCANNED_MAX: usize = 10 * WATCHED_ENTRIES_MAX;
const DEPTH_MAX: usize = 64;

/// What a file looked like when it was read, and the mark of what was in it.
pub(super) type Hashed = (u64, u64);

fn problem(path: &str) -> impl Fn(Errno) -> String {
    move |errno| format!("{path}: {errno}")
}

/// A mark of what is known of a file without reading it. Its time of status counts only where it says whether it has
/// to be read again.
fn look(stat: &Stat, has_status: bool) -> u64 {
    let mut hash = blake3::Hasher::new();
    let times = [stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or_default()];
    for number in [i64::from(stat.st_mode), stat.st_size].into_iter().chain(times) {
        hash.update(&number.to_le_bytes());
    }
    hash.update(&stat.st_ino.to_le_bytes());
    if has_status {
        hash.update(&stat.st_ctime.to_le_bytes());
        hash.update(&stat.st_ctime_nsec.to_le_bytes());
    }
    mark(&hash.finalize())
}

pub(super) fn file(watch: &FileWatch, hashed: &mut Option<Hashed>) -> Result<Seen, String> {
    let stat = match rustix::fs::stat(watch.path.as_str()) {
        Ok(stat) => stat,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Seen::File(None)),
        Err(errno) => return Err(problem(&watch.path)(errno)),
    };
    if !watch.hash {
        return Ok(Seen::File(Some(look(&stat, false))));
    }
    let now = look(&stat, true);
    if let Some((known, mark)) = hashed
        && *known == now
    {
        return Ok(Seen::File(Some(*mark)));
    }
    let Some(bytes) = open_plain(&watch.path, HASHED_MAX)? else { return Ok(Seen::File(None)) };
    let mut hash = blake3::Hasher::new();
    let read = hash.update_reader(bytes.take(HASHED_MAX));
    read.map_err(|error| format!("{}: {error}", watch.path))?;
    let mark = mark(&hash.finalize());
    *hashed = Some((now, mark));
    Ok(Seen::File(Some(mark)))
}

/// A plain file of no more than so many bytes. What is not plain is never opened for long: a pipe would be waited
/// for, and a device be set in motion.
fn open_plain(path: &str, most: u64) -> Result<Option<File>, String> {
    let is_plain = |stat: &Stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    let wrong = || format!("{path} is not a plain file, and is not read");
    match rustix::fs::stat(path) {
        Ok(stat) if !is_plain(&stat) => return Err(wrong()),
        Ok(_) => {}
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(errno) => return Err(problem(path)(errno)),
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(errno) => return Err(problem(path)(errno)),
    };
    let stat = rustix::fs::fstat(&file).map_err(problem(path))?;
    if !is_plain(&stat) {
        return Err(wrong());
    }
    if u64::try_from(stat.st_size).unwrap_or_default() > most {
        return Err(format!("{path} is larger than {} MiB, and is not read", most >> 20));
    }
    Ok(Some(File::from(file)))
}

pub(super) fn certificate(path: &str) -> Result<Seen, String> {
    let Some(file) = open_plain(path, CERTIFICATE_MAX)? else {
        return Err(format!("{path} is not there"));
    };
    let mut pem = Vec::new();
    file.take(CERTIFICATE_MAX).read_to_end(&mut pem).map_err(|e| format!("{path}: {e}"))?;
    let ends = hostler_trust::certificate::first_expiry(&pem);
    ends.map(Seen::Certificate).map_err(|error| format!("{path}: {error}"))
}

/// What is found below a directory.
struct Found<'a> {
    watch: &'a DirectoryWatch,
    entries: BTreeMap<String, u64>,
    scanned: usize,
}

pub(super) fn entries(watch: &DirectoryWatch) -> Result<Seen, String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut found = Found { watch, entries: BTreeMap::new(), scanned: 0 };
    match rustix::fs::open(watch.path.as_str(), flags, Mode::empty()) {
        Ok(top) => found.walk(&top, Path::new(""), 0)?,
        Err(Errno::NOENT) => {}
        Err(errno) => return Err(problem(&watch.path)(errno)),
    }
    Ok(Seen::Entries(found.entries))
}

impl Found<'_> {
    fn walk(&mut self, dir: &OwnedFd, at: &Path, depth: usize) -> Result<(), String> {
        let path = self.watch.path.clone();
        if depth > DEPTH_MAX {
            return Err(format!("{path} is too deep"));
        }
        for entry in Dir::read_from(dir.as_fd()).map_err(problem(&path))? {
            let entry = entry.map_err(problem(&path))?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            self.scanned += 1;
            if self.scanned > SCANNED_MAX {
                return Err(format!("{path} has more than {SCANNED_MAX} entries"));
            }
            let shown = name.to_string_lossy();
            let below = at.join(&*shown);
            let is_wanted = self.watch.pattern.is_empty() || fits(&self.watch.pattern, &shown);
            let is_directory = match entry.file_type() {
                FileType::Directory => true,
                FileType::Unknown => self.watch.recursive,
                _ => false,
            };
            if is_wanted {
                // What went in between is not there.
                let Ok(stat) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else {
                    continue;
                };
                // The times of a directory are those of what is in it.
                let mark = match FileType::from_raw_mode(stat.st_mode) {
                    FileType::Directory => 0,
                    _ => look(&stat, false),
                };
                self.entries.insert(below.display().to_string(), mark);
                if self.entries.len() > WATCHED_ENTRIES_MAX {
                    return Err(format!(
                        "{path} has more than {WATCHED_ENTRIES_MAX} entries to watch"
                    ));
                }
            }
            if is_directory && self.watch.recursive {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                match rustix::fs::openat(dir, name, flags, Mode::empty()) {
                    Ok(inner) => self.walk(&inner, &below, depth + 1)?,
                    Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
                    Err(errno) => return Err(format!("{path}/{}: {errno}", below.display())),
                }
            }
        }
        Ok(())
    }
}
