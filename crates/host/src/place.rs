//! A name in an open directory: the only way files are touched here.
//!
//! The directory is opened once and everything goes through it, so that nothing can be put in between.
//! The last part of a path is never followed when it is a symbolic link; whoever wants that resolves
//! the link first ([`resolve`]). A file is replaced as a whole: a draft beside it is written, given its
//! owner and mode, made durable and renamed over it. After a crash there is the old file or the new one,
//! and perhaps a draft (`.<name>.hostler-..`), which is harmless.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use crate::error::io_at;
use crate::{Host, HostError};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
const LINKS_MAX: usize = 40;
const NEW_FILE_MODE: u32 = 0o644;
const NEW_DIRECTORY_MODE: u32 = 0o755;

/// What is told about a file's owner and mode; what is not told stays, or is the usual for a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manner {
    pub mode: Option<u32>,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
}

impl Manner {
    fn give(&self, file: impl AsFd) -> io::Result<()> {
        let stat = rustix::fs::fstat(&file)?;
        let uid = self.uid.filter(|uid| *uid != stat.st_uid);
        let gid = self.gid.filter(|gid| *gid != stat.st_gid);
        if uid.is_some() || gid.is_some() {
            rustix::fs::fchown(&file, uid.map(Uid::from_raw), gid.map(Gid::from_raw))?;
        }
        if let Some(mode) = self.mode {
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(crate) struct Place {
    dir: OwnedFd,
    name: OsString,
    path: PathBuf,
    is_synced: bool,
}

impl Place {
    /// `None` where the directory above is missing.
    pub fn find(path: &Path) -> Result<Option<Place>, HostError> {
        let (parent, name) = split(path)?;
        match rustix::fs::open(parent, DIRECTORY, Mode::empty()) {
            Ok(dir) => Ok(Some(Place { dir, name, path: path.to_owned(), is_synced: true })),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(io_at("opened", parent)(e)),
        }
    }

    /// Makes the directories above where they are missing.
    pub fn make(path: &Path) -> Result<Place, HostError> {
        let (parent, _) = split(path)?;
        make_directories(parent)?;
        match Place::find(path)? {
            Some(place) => Ok(place),
            None => Err(io_at("opened", parent)(Errno::NOENT)),
        }
    }

    /// A name in a directory that is open already.
    pub fn inside(dir: OwnedFd, name: &OsStr, path: PathBuf) -> Place {
        Place { dir, name: name.to_owned(), path, is_synced: true }
    }

    /// The same, for one of many, after which somebody makes all of them durable at once.
    pub fn unsynced(self) -> Place {
        Place { is_synced: false, ..self }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is there; links are not followed.
    pub fn stat(&self) -> Result<Option<Stat>, HostError> {
        match rustix::fs::statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(io_at("looked at", &self.path)(e)),
        }
    }

    /// A plain file there; anything else is an error.
    pub fn stat_file(&self) -> Result<Option<Stat>, HostError> {
        match self.stat()? {
            Some(stat) => self.expect_kind(&stat, FileType::RegularFile).map(|()| Some(stat)),
            None => Ok(None),
        }
    }

    pub fn stat_directory(&self) -> Result<Option<Stat>, HostError> {
        match self.stat()? {
            Some(stat) => self.expect_kind(&stat, FileType::Directory).map(|()| Some(stat)),
            None => Ok(None),
        }
    }

    fn expect_kind(&self, stat: &Stat, wanted: FileType) -> Result<(), HostError> {
        match FileType::from_raw_mode(stat.st_mode) {
            kind if kind == wanted => Ok(()),
            FileType::Symlink => Err(HostError::Link { path: self.path.clone() }),
            kind => Err(HostError::Kind {
                path: self.path.clone(),
                is: kind_words(kind),
                wanted: kind_words(wanted),
            }),
        }
    }

    /// The plain file there, open for reading.
    pub fn open(&self) -> Result<Option<File>, HostError> {
        if self.stat_file()?.is_none() {
            return Ok(None);
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.dir, &self.name, flags, Mode::empty());
        let file = File::from(opened.map_err(io_at("read", &self.path))?);
        let stat = rustix::fs::fstat(&file).map_err(io_at("read", &self.path))?;
        self.expect_kind(&stat, FileType::RegularFile)?;
        Ok(Some(file))
    }

    pub fn read(&self, max: u64) -> Result<Option<Vec<u8>>, HostError> {
        let Some(file) = self.open()? else { return Ok(None) };
        let mut bytes = Vec::new();
        let read = file.take(max + 1).read_to_end(&mut bytes);
        read.map_err(io_at("read", &self.path))?;
        match u64::try_from(bytes.len()).is_ok_and(|len| len <= max) {
            true => Ok(Some(bytes)),
            false => Err(HostError::TooLarge { path: self.path.clone(), max }),
        }
    }

    /// Puts a file with these bytes in place of what is there.
    pub fn replace(&self, bytes: &[u8], manner: Manner) -> Result<(), HostError> {
        self.replace_with(manner, |file| io::Write::write_all(file, bytes))
    }

    /// As [`Place::replace`], from whatever writes the bytes.
    pub fn replace_with(
        &self,
        manner: Manner,
        fill: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> Result<(), HostError> {
        let manner = match self.stat_file()? {
            Some(stat) => Manner {
                mode: Some(manner.mode.unwrap_or(stat.st_mode & 0o7777)),
                uid: Some(manner.uid.unwrap_or(stat.st_uid)),
                gid: Some(manner.gid.unwrap_or(stat.st_gid)),
            },
            None => Manner { mode: Some(manner.mode.unwrap_or(NEW_FILE_MODE)), ..manner },
        };
        let (draft, mut file) = self.draft().map_err(io_at("written", &self.path))?;
        let written = fill(&mut file)
            .and_then(|()| manner.give(&file))
            .and_then(|()| if self.is_synced { Ok(rustix::fs::fsync(&file)?) } else { Ok(()) })
            .and_then(|()| Ok(rustix::fs::renameat(&self.dir, &draft, &self.dir, &self.name)?));
        if written.is_err() {
            let _ = rustix::fs::unlinkat(&self.dir, &draft, AtFlags::empty());
        }
        written.map_err(io_at("written", &self.path))?;
        self.sync()
    }

    fn draft(&self) -> io::Result<(OsString, File)> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let mut draft = OsString::from(".");
            draft.push(short(&self.name));
            draft.push(format!(".hostler-{}-{number}", std::process::id()));
            match rustix::fs::openat(&self.dir, &draft, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => return Ok((draft, File::from(file))),
                Err(Errno::EXIST) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Gives what is there this owner and mode.
    pub fn give(&self, manner: Manner) -> Result<(), HostError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.dir, &self.name, flags, Mode::empty());
        let file = opened.map_err(io_at("opened", &self.path))?;
        manner.give(&file).map_err(io_at("given its owner and mode", &self.path))
    }

    /// A new directory.
    pub fn make_directory(&self, manner: Manner) -> Result<(), HostError> {
        let made = rustix::fs::mkdirat(&self.dir, &self.name, Mode::RWXU);
        made.map_err(io_at("made", &self.path))?;
        let mode = Some(manner.mode.unwrap_or(NEW_DIRECTORY_MODE));
        self.give(Manner { mode, ..manner })?;
        self.sync()
    }

    /// The directory there, which is no link.
    pub fn enter(&self) -> Result<OwnedFd, HostError> {
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        let opened = rustix::fs::openat(&self.dir, &self.name, flags, Mode::empty());
        opened.map_err(io_at("opened", &self.path))
    }

    pub fn link_target(&self) -> Result<PathBuf, HostError> {
        let target = rustix::fs::readlinkat(&self.dir, &self.name, Vec::new());
        let target = target.map_err(io_at("read", &self.path))?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// A symbolic link, in place of a file or link that is there.
    pub fn symlink(&self, target: &Path) -> Result<(), HostError> {
        self.put_aside(|dir, draft| rustix::fs::symlinkat(target, dir, draft))
    }

    /// A second name of another file, in place of a file or link that is there.
    pub fn hard_link(&self, other: &Place) -> Result<(), HostError> {
        self.put_aside(|dir, draft| {
            rustix::fs::linkat(&other.dir, &other.name, dir, draft, AtFlags::empty())
        })
    }

    fn put_aside(
        &self,
        make: impl FnOnce(&OwnedFd, &OsStr) -> rustix::io::Result<()>,
    ) -> Result<(), HostError> {
        let (draft, file) = self.draft().map_err(io_at("made", &self.path))?;
        drop(file);
        let made = rustix::fs::unlinkat(&self.dir, &draft, AtFlags::empty())
            .and_then(|()| make(&self.dir, &draft))
            .and_then(|()| rustix::fs::renameat(&self.dir, &draft, &self.dir, &self.name));
        if made.is_err() {
            let _ = rustix::fs::unlinkat(&self.dir, &draft, AtFlags::empty());
        }
        made.map_err(io_at("made", &self.path))?;
        self.sync()
    }

    /// Removes a file or a link; that it is gone already is fine.
    pub fn remove(&self) -> Result<(), HostError> {
        self.unlink(AtFlags::empty())
    }

    /// Removes a directory that is empty.
    pub fn remove_directory(&self) -> Result<(), HostError> {
        self.unlink(AtFlags::REMOVEDIR)
    }

    fn unlink(&self, flags: AtFlags) -> Result<(), HostError> {
        match rustix::fs::unlinkat(&self.dir, &self.name, flags) {
            Ok(()) => self.sync(),
            Err(Errno::NOENT) => Ok(()),
            Err(Errno::NOTEMPTY) => Err(HostError::NotEmpty { path: self.path.clone() }),
            Err(e) => Err(io_at("removed", &self.path)(e)),
        }
    }

    fn sync(&self) -> Result<(), HostError> {
        if !self.is_synced {
            return Ok(());
        }
        rustix::fs::fsync(&self.dir).map_err(io_at("made durable", &self.path))
    }
}

/// Names have at most 255 bytes; a draft's is longer than its file's.
fn short(name: &OsStr) -> &OsStr {
    OsStr::from_bytes(&name.as_bytes()[..name.len().min(200)])
}

fn split(path: &Path) -> Result<(&Path, OsString), HostError> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok((parent, name.to_owned())),
        _ => {
            let given = path.display().to_string();
            Err(HostError::invalid("the path", given, "it must end with a name"))
        }
    }
}

pub(crate) fn make_directories(path: &Path) -> Result<(), HostError> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(NEW_DIRECTORY_MODE)
        .create(path)
        .map_err(io_at("made", path))
}

pub(crate) fn kind_words(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "something else",
    }
}

/// Where a path leads when links at its end are followed, inside the host's root.
pub(crate) fn resolve(host: &Host, path: &Path) -> Result<PathBuf, HostError> {
    let mut at = path.to_owned();
    for _ in 0..LINKS_MAX {
        let target = match std::fs::read_link(&at) {
            Ok(target) => target,
            Err(_) => return Ok(at),
        };
        let parent = at.parent().unwrap_or(Path::new("/"));
        at = match target.is_absolute() {
            true => host.root().join(target.strip_prefix("/").unwrap_or(&target)),
            false => parent.join(&target),
        };
        if host.root() != Path::new("/") {
            at = lexical(&at);
            if !at.starts_with(host.root()) {
                return Err(HostError::Link { path: path.to_owned() });
            }
        }
    }
    Err(io_at("followed", path)(Errno::LOOP))
}

fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}
