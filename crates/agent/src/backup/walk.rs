//! The walk over what is to be kept: from one open directory to the next, never through a link, so that whoever may
//! write below the paths cannot lead it elsewhere.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hostler_model::node_backup::{
    BACKUP_TROUBLES_MAX, BackupEntry, BackupPath, BackupTrouble, EntryKind, LinkTarget,
};
use hostler_model::{NodeBackupSpec, node_backup::path_within};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::pattern::Patterns;
use super::{Failure, Progress, read};

/// How deep directories are followed; each level is an open one.
const DEPTH_MAX: usize = 500;
/// The most of what the attributes of one entry have.
const ATTRIBUTES_MAX: usize = 256 << 10;
/// File systems that are made up by the kernel: what is in them is no content.
const MADE_UP: &[i64] = &[
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x1cd1,      // devpts
    0x7363_6673, // securityfs
    0x6165_676c, // pstore
];

/// Who takes what is found.
pub(super) trait Take {
    /// Bytes of files, one after the other. An error ends the walk.
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure>;
    fn entry(&mut self, entry: &BackupEntry) -> Result<(), Failure>;
}

/// What a walk met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Met {
    pub files: u64,
    pub directories: u64,
    pub links: u64,
    pub bytes: u64,
    pub changed: u64,
    pub vanished: u64,
    pub unreadable: u64,
    pub special: u64,
    pub troubles: Vec<BackupTrouble>,
}

impl Met {
    fn trouble(&mut self, path: &[u8], why: impl Into<String>) {
        if self.troubles.len() < BACKUP_TROUBLES_MAX {
            let path = format!("/{}", String::from_utf8_lossy(path));
            self.troubles.push(BackupTrouble { path, why: why.into() });
        }
    }

    /// Something could not be read, or is not there any more.
    fn missed(&mut self, path: &[u8], error: &io::Error) {
        if error.kind() == io::ErrorKind::NotFound {
            self.vanished += 1;
            self.trouble(path, "it vanished before it was read");
        } else {
            self.unreadable += 1;
            self.trouble(path, error.to_string());
        }
    }
}

/// Where the walk is.
struct Place<'a> {
    dir: BorrowedFd<'a>,
    name: &'a CStr,
    /// Without the `/` in front.
    path: Vec<u8>,
    /// Of the file system that is not left; none where all are entered.
    device: Option<u64>,
    depth: usize,
}

struct Walk<'a, T> {
    patterns: Patterns,
    cross: bool,
    progress: &'a Progress,
    take: &'a mut T,
    met: Met,
    /// Files with several names, by device and number.
    several: HashMap<(u64, u64), BackupPath>,
    position: u64,
}

/// Reads everything that a spec names.
pub(super) fn walk<T: Take>(
    spec: &NodeBackupSpec,
    progress: &Progress,
    take: &mut T,
) -> Result<Met, Failure> {
    let paths = spec.paths.iter().map(|path| settled(path));
    let mut paths = paths.collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    paths.dedup();
    let is_below = |path: &Vec<u8>, above: &Vec<u8>| {
        path != above
            && (above.is_empty()
                || (path.starts_with(above) && path.get(above.len()) == Some(&b'/')))
    };
    let all = paths.clone();
    paths.retain(|path| !all.iter().any(|above| is_below(path, above)));
    let mut walk = Walk {
        patterns: Patterns::new(&spec.exclude),
        cross: spec.cross_filesystems,
        progress,
        take,
        met: Met::default(),
        several: HashMap::new(),
        position: 0,
    };
    for path in paths {
        walk.begin(path)?;
    }
    Ok(walk.met)
}

/// Where a path really is, but for what it is itself: links on the way are followed once, here.
fn settled(path: &str) -> Result<Vec<u8>, Failure> {
    use std::os::unix::ffi::OsStrExt as _;
    let within = path_within(path);
    let whole = [b"/", within.as_slice()].concat();
    let whole = Path::new(std::ffi::OsStr::from_bytes(&whole));
    let nothing = |error: io::Error| Failure::Refused(format!("{path} cannot be kept: {error}"));
    whole.symlink_metadata().map_err(nothing)?;
    let (Some(above), Some(name)) = (whole.parent(), whole.file_name()) else {
        return Ok(Vec::new());
    };
    let real = above.canonicalize().map_err(nothing)?.join(name);
    Ok(real.as_os_str().as_bytes()[1..].to_vec())
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl<T: Take> Walk<'_, T> {
    fn begin(&mut self, path: Vec<u8>) -> Result<(), Failure> {
        let shown = format!("/{}", String::from_utf8_lossy(&path));
        let refused = |error: Errno| Failure::Refused(format!("{shown} cannot be kept: {error}"));
        let (above, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(at) => ([b"/", &path[..at]].concat(), path[at + 1..].to_vec()),
            None => (b"/".to_vec(), path.clone()),
        };
        let above = CString::new(above).map_err(|_| Failure::Refused(shown.clone()))?;
        let dir = rustix::fs::open(&above, DIRECTORY, Mode::empty()).map_err(refused)?;
        let device = |stat: &Stat| (!self.cross).then_some(stat.st_dev);
        if name.is_empty() {
            let stat = rustix::fs::fstat(&dir).map_err(refused)?;
            let device = device(&stat);
            return self.below(dir, &[], device, 0);
        }
        let name = CString::new(name).map_err(|_| Failure::Refused(shown.clone()))?;
        let stat = rustix::fs::statat(&dir, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(refused)?;
        let device = device(&stat);
        self.visit(Place { dir: dir.as_fd(), name: &name, path, device, depth: 0 })
    }

    fn visit(&mut self, place: Place<'_>) -> Result<(), Failure> {
        if self.progress.is_stopped() {
            return Err(Failure::Stopped);
        }
        let Ok(path) = BackupPath::new(place.path.clone()) else {
            self.met.unreadable += 1;
            self.met.trouble(&place.path, "its path is too long");
            return Ok(());
        };
        let found = rustix::fs::statat(place.dir, place.name, AtFlags::SYMLINK_NOFOLLOW);
        let visited = match found {
            Err(error) => Err(Missed::Error(error.into())),
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => self.directory(place, path.clone()),
                FileType::RegularFile => self.file(&place, path.clone()),
                FileType::Symlink => self.link(&place, path.clone(), &stat),
                _ => {
                    self.met.special += 1;
                    self.met.trouble(path.bytes(), "it is neither a file, a directory nor a link");
                    Ok(())
                }
            },
        };
        match visited {
            Err(Missed::Error(error)) => {
                self.met.missed(path.bytes(), &error);
                Ok(())
            }
            Err(Missed::End(failure)) => Err(failure),
            Ok(()) => Ok(()),
        }
    }

    fn directory(&mut self, place: Place<'_>, path: BackupPath) -> Result<(), Missed> {
        let dir = rustix::fs::openat(place.dir, place.name, DIRECTORY, Mode::empty())?;
        let stat = rustix::fs::fstat(&dir)?;
        self.met.directories += 1;
        let entry = self.entry(path.clone(), EntryKind::Directory, &stat, Some(dir.as_fd()));
        self.take.entry(&entry).map_err(Missed::End)?;
        if place.device.is_some_and(|device| device != stat.st_dev) {
            return Ok(());
        }
        if place.depth >= DEPTH_MAX {
            self.met.unreadable += 1;
            self.met.trouble(path.bytes(), "it is too deep; what is below is not kept");
            return Ok(());
        }
        self.below(dir, path.bytes(), place.device, place.depth + 1).map_err(Missed::End)
    }

    /// What is in a directory, by name.
    fn below(
        &mut self,
        dir: OwnedFd,
        path: &[u8],
        device: Option<u64>,
        depth: usize,
    ) -> Result<(), Failure> {
        let names = match names(&dir) {
            Ok(Some(names)) => names,
            Ok(None) => return Ok(()),
            Err(error) => {
                self.met.missed(path, &error.into());
                return Ok(());
            }
        };
        for name in names {
            let below = match path.is_empty() {
                true => name.to_bytes().to_vec(),
                false => [path, b"/", name.to_bytes()].concat(),
            };
            if !self.patterns.fits(&below) {
                self.visit(Place { dir: dir.as_fd(), name: &name, path: below, device, depth })?;
            }
        }
        Ok(())
    }

    fn link(&mut self, place: &Place<'_>, path: BackupPath, stat: &Stat) -> Result<(), Missed> {
        let target = rustix::fs::readlinkat(place.dir, place.name, Vec::new())?;
        let Some(target) = LinkTarget::new(target.into_bytes()) else {
            return Err(Missed::Error(io::Error::from(io::ErrorKind::InvalidData)));
        };
        self.met.links += 1;
        let entry = self.entry(path, EntryKind::Link { target }, stat, None);
        self.take.entry(&entry).map_err(Missed::End)
    }

    fn file(&mut self, place: &Place<'_>, path: BackupPath) -> Result<(), Missed> {
        let (file, stat) = read::open(place.dir, place.name)?;
        let number = (stat.st_dev, stat.st_ino);
        if stat.st_nlink > 1
            && let Some(known) = self.several.get(&number)
        {
            let kind = EntryKind::Same { path: known.clone() };
            let entry = self.entry(path, kind, &stat, Some(file.as_fd()));
            self.met.files += 1;
            return self.take.entry(&entry).map_err(Missed::End);
        }
        let at = self.position;
        let (take, position, progress) = (&mut *self.take, &mut self.position, self.progress);
        let read = read::read(&file, &stat, |bytes| {
            if progress.is_stopped() {
                return Err(Failure::Stopped);
            }
            *position += bytes.len() as u64;
            progress.add(0, bytes.len() as u64);
            take.bytes(bytes)
        })?;
        if read.is_changed {
            self.met.changed += 1;
            self.met.trouble(path.bytes(), "it changed while it was read");
        }
        if stat.st_nlink > 1 {
            self.several.insert(number, path.clone());
        }
        self.met.files += 1;
        self.met.bytes += read.stored;
        self.progress.add(1, 0);
        let kind = EntryKind::File {
            size: read.size,
            at,
            stored: read.stored,
            digest: read.digest,
            extents: read.extents,
        };
        let entry = self.entry(path, kind, &stat, Some(file.as_fd()));
        self.take.entry(&entry).map_err(Missed::End)
    }

    fn entry(
        &mut self,
        path: BackupPath,
        kind: EntryKind,
        stat: &Stat,
        file: Option<BorrowedFd<'_>>,
    ) -> BackupEntry {
        let attributes = match file.map(attributes) {
            Some(Ok(attributes)) => attributes,
            Some(Err(Errno::NOTSUP)) | None => BTreeMap::new(),
            Some(Err(error)) => {
                self.met.trouble(path.bytes(), format!("its attributes cannot be read: {error}"));
                BTreeMap::new()
            }
        };
        let nanos = u32::try_from(stat.st_mtime_nsec).unwrap_or_default();
        BackupEntry {
            path,
            kind,
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            modified: (stat.st_mtime, nanos),
            attributes,
        }
    }
}

/// Why something is not kept.
pub(super) enum Missed {
    /// The walk goes on.
    Error(io::Error),
    /// It does not.
    End(Failure),
}

impl From<Errno> for Missed {
    fn from(error: Errno) -> Missed {
        Missed::Error(error.into())
    }
}

impl From<io::Error> for Missed {
    fn from(error: io::Error) -> Missed {
        Missed::Error(error)
    }
}

/// The names in a directory, in order; none of a file system that is made up.
fn names(dir: &OwnedFd) -> Result<Option<Vec<CString>>, Errno> {
    let kind = rustix::fs::fstatfs(dir)?.f_type;
    if MADE_UP.contains(&kind) {
        return Ok(None);
    }
    let mut names = Vec::new();
    for found in Dir::read_from(dir)? {
        let name = found?.file_name().to_owned();
        if !matches!(name.to_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(Some(names))
}

/// Extended attributes by name, in base64.
fn attributes(file: BorrowedFd<'_>) -> Result<BTreeMap<String, String>, Errno> {
    let mut names = vec![0; 64 << 10];
    let length = rustix::fs::flistxattr(file, &mut names[..])?;
    let (mut found, mut size) = (BTreeMap::new(), 0);
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let Ok(name) = std::str::from_utf8(name) else { continue };
        let mut value = vec![0; 64 << 10];
        let length = match rustix::fs::fgetxattr(file, name, &mut value[..]) {
            Ok(length) => length,
            Err(Errno::NODATA) => continue,
            Err(error) => return Err(error),
        };
        size += name.len() + length;
        if size > ATTRIBUTES_MAX {
            return Err(Errno::TOOBIG);
        }
        found.insert(name.to_owned(), STANDARD.encode(&value[..length]));
    }
    Ok(found)
}
