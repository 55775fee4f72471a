//! Where things are put back: one directory, which nothing leads out of.
//!
//! The list was written by a machine that may be up to anything, and somebody may write below the directory while it
//! is filled. So every parent is opened from the directory down, never through a link, and everything is written
//! beside its place, under a name of the job's own, and takes the place with one step when it is whole.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hostler_blob::Hasher;
use hostler_model::OperationId;
use hostler_model::node_backup::{BackupEntry, BackupPath, LinkTarget};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, ResolveFlags, SeekFrom, Stat, Timespec,
    Timestamps, XattrFlags,
};
use rustix::io::Errno;
use rustix::process::{Gid, Uid};

use super::restore::{Content, Unplaced};
use crate::files::inner;

const PIECE: usize = 256 << 10;
/// Of a directory that is not in the backup, but what is in it is.
const MODE: u32 = 0o755;
const SPECIAL: u32 = 0o6000;

/// What became of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// It was not there.
    Made,
    /// It is what it was then.
    Replaced,
    /// It is there, but not all about it is what it was.
    Flawed(String),
    /// It was left alone, or needs nothing.
    Kept,
    /// With a check: what would be different.
    WouldDiffer(String),
}

pub(super) struct Ground {
    /// Absent where there is nothing, and nothing is to be made.
    root: Option<OwnedFd>,
    overwrite: bool,
    check: bool,
    /// Of what is not in its place yet.
    draft: CString,
    is_root: bool,
}

type Number = (u64, u64);

/// A parent, and the name in it.
struct Spot {
    dir: OwnedFd,
    name: CString,
}

impl Spot {
    fn stat(&self) -> Result<Option<Stat>, Errno> {
        match rustix::fs::statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Ground {
    pub fn open(
        path: &Path,
        is_fresh: bool,
        overwrite: bool,
        check: bool,
        job: OperationId,
    ) -> io::Result<Ground> {
        if !check {
            let mode = if is_fresh { 0o700 } else { MODE };
            std::fs::DirBuilder::new().recursive(true).mode(mode).create(path)?;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = match rustix::fs::open(path, flags, Mode::empty()) {
            Err(Errno::NOENT) if check => None,
            root => Some(root?),
        };
        let draft = CString::new(format!(".hostler-restore-{job}"))?;
        let is_root = rustix::process::geteuid().is_root();
        Ok(Ground { root, overwrite, check, draft, is_root })
    }

    /// Whether there is nothing there yet.
    pub fn is_missing(&self, path: &BackupPath) -> bool {
        let found = self.spot(path).map(|spot| spot.map(|spot| spot.stat()));
        matches!(found, Ok(Some(Ok(None))))
    }

    pub fn overwrites(&self) -> bool {
        self.overwrite
    }

    /// The parent of a path; `None` where there is none and none is to be made.
    fn spot(&self, path: &BackupPath) -> Result<Option<Spot>, String> {
        let Some(root) = &self.root else { return Ok(None) };
        let bytes = path.bytes();
        let (above, name) = match bytes.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&bytes[..at], &bytes[at + 1..]),
            None => (&b""[..], bytes),
        };
        let c_string = |bytes: &[u8]| CString::new(bytes).map_err(|e| e.to_string());
        let name = c_string(name)?;
        if above.is_empty() {
            let dir = root.try_clone().map_err(|e| e.to_string())?;
            return Ok(Some(Spot { dir, name }));
        }
        let above = c_string(above)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let dir = match rustix::fs::openat2(root, &above, flags, Mode::empty(), resolve) {
            Ok(dir) => dir,
            Err(Errno::NOENT) if self.check => return Ok(None),
            // An old kernel, or a parent that is not there: step by step.
            Err(Errno::NOENT | Errno::NOSYS) => self.descend(root, path)?,
            Err(error) => return Err(astray(error)),
        };
        Ok(Some(Spot { dir, name }))
    }

    fn descend(&self, root: &OwnedFd, path: &BackupPath) -> Result<OwnedFd, String> {
        let names: Vec<&[u8]> = path.names().collect();
        let mut dir = root.try_clone().map_err(|e| e.to_string())?;
        for name in &names[..names.len() - 1] {
            let name = CString::new(*name).map_err(|e| e.to_string())?;
            let entered = match self.check {
                true => inner::enter(&dir, &name),
                false => inner::enter_or_make(&dir, &name, None),
            };
            dir = entered.map_err(|error| {
                let number = error.raw_os_error().map(Errno::from_raw_os_error);
                number.map_or_else(|| error.to_string(), astray)
            })?;
        }
        Ok(dir)
    }

    pub fn directory(&self, entry: &BackupEntry) -> Result<Placed, String> {
        let words = |error: Errno| error.to_string();
        let Some(spot) = self.spot(&entry.path)? else { return Ok(missing()) };
        let made = || {
            let mode = Mode::from_raw_mode(0o700);
            rustix::fs::mkdirat(&spot.dir, &spot.name, mode).map_err(words)
        };
        match spot.stat().map_err(words)? {
            None if self.check => Ok(missing()),
            None => made().map(|()| Placed::Made),
            Some(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
                match (self.check, self.differs(&stat, entry)) {
                    (true, Some(why)) => Ok(Placed::WouldDiffer(why)),
                    (false, Some(_)) if self.overwrite => Ok(Placed::Replaced),
                    _ => Ok(Placed::Kept),
                }
            }
            Some(_) if self.check => Ok(Placed::WouldDiffer("it is not a directory".to_owned())),
            Some(_) if self.overwrite => {
                inner::remove(&spot.dir, &spot.name).map_err(|e| e.to_string())?;
                made().map(|()| Placed::Made)
            }
            Some(_) => Err("something that is not a directory is there".to_owned()),
        }
    }

    /// What a directory had is what it has again.
    pub fn finish_directory(&self, entry: &BackupEntry) -> Result<(), String> {
        let Some(spot) = self.spot(&entry.path)? else { return Ok(()) };
        let dir = inner::enter(&spot.dir, &spot.name).map_err(|e| e.to_string())?;
        match self.dress(&dir, entry) {
            None => Ok(()),
            Some(why) => Err(why),
        }
    }

    pub fn link(&self, entry: &BackupEntry, target: &LinkTarget) -> Result<Placed, String> {
        let words = |error: Errno| error.to_string();
        let Some(spot) = self.spot(&entry.path)? else { return Ok(missing()) };
        let found = spot.stat().map_err(words)?;
        if let Some(stat) = &found {
            if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
                let there = rustix::fs::readlinkat(&spot.dir, &spot.name, Vec::new());
                if there.map_err(words)?.as_bytes() == target.bytes() {
                    return Ok(Placed::Kept);
                }
            }
            if let Some(placed) = self.left_alone(stat, "it leads elsewhere") {
                return placed;
            }
        } else if self.check {
            return Ok(missing());
        }
        inner::remove(&spot.dir, &self.draft).map_err(|e| e.to_string())?;
        let target = CString::new(target.bytes()).map_err(|e| e.to_string())?;
        rustix::fs::symlinkat(&target, &spot.dir, &self.draft).map_err(words)?;
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        let owner = rustix::fs::chownat(
            &spot.dir,
            &self.draft,
            Some(Uid::from_raw(entry.uid)),
            Some(Gid::from_raw(entry.gid)),
            flags,
        );
        let timed = rustix::fs::utimensat(&spot.dir, &self.draft, &times(entry), flags);
        let flaw = [owner, timed].into_iter().find_map(Result::err);
        self.settle(&spot, found.is_some(), flaw.map(|error| flawed("its owner or time", error)))
    }

    /// Another name of a file that was put back at `first`, as this very file.
    pub fn same(
        &self,
        entry: &BackupEntry,
        first: &BackupPath,
        number: Number,
    ) -> Result<Placed, String> {
        let words = |error: Errno| error.to_string();
        let Some(spot) = self.spot(&entry.path)? else { return Ok(missing()) };
        let found = spot.stat().map_err(words)?;
        if let Some(stat) = &found {
            if (stat.st_dev, stat.st_ino) == number {
                return Ok(Placed::Kept);
            }
            if let Some(placed) = self.left_alone(stat, "it is another file") {
                return placed;
            }
        } else if self.check {
            return Ok(missing());
        }
        let from = self.spot(first)?.ok_or("the file that it is the same as is not there")?;
        inner::remove(&spot.dir, &self.draft).map_err(|e| e.to_string())?;
        let linked =
            rustix::fs::linkat(&from.dir, &from.name, &spot.dir, &self.draft, AtFlags::empty());
        linked.map_err(words)?;
        let draft = Spot {
            dir: spot.dir.try_clone().map_err(|e| e.to_string())?,
            name: self.draft.clone(),
        };
        let linked = draft.stat().map_err(words)?;
        if linked.is_none_or(|stat| (stat.st_dev, stat.st_ino) != number) {
            inner::remove(&spot.dir, &self.draft).map_err(|e| e.to_string())?;
            return Err("the file that it is the same as was exchanged meanwhile".to_owned());
        }
        self.settle(&spot, found.is_some(), None)
    }

    /// Puts a file back; also says which file is there now, if it is the one that was meant. What is left alone anyway
    /// is compared only if others are to be the same file.
    pub fn file(
        &self,
        entry: &BackupEntry,
        content: &Content<'_>,
        is_shared: bool,
        fill: impl FnOnce(&File) -> Result<(), Unplaced>,
    ) -> Result<(Placed, Option<Number>), Unplaced> {
        let Some(spot) = self.spot(&entry.path).map_err(Unplaced::Never)? else {
            return Ok((missing(), None));
        };
        let io = |error: Errno| Unplaced::from(io::Error::from(error));
        let found = spot.stat().map_err(io)?;
        if let Some(stat) = &found {
            let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
            let why = match is_file && (self.check || self.overwrite || is_shared) {
                true => self.compare(&spot, entry, content)?,
                false => Some("it is not a file".to_owned()),
            };
            let number = (stat.st_dev, stat.st_ino);
            let Some(why) = why else { return Ok((Placed::Kept, Some(number))) };
            if let Some(placed) = self.left_alone(stat, &why) {
                return Ok((placed.map_err(Unplaced::Never)?, None));
            }
        } else if self.check {
            return Ok((missing(), None));
        }
        let file = inner::create(&spot.dir, &self.draft)?;
        let put = fill(&file).and_then(|()| {
            let flaw = self.dress(&file, entry);
            let number = rustix::fs::fstat(&file).map_err(io)?;
            let placed = self.settle(&spot, found.is_some(), flaw).map_err(Unplaced::Never)?;
            Ok((placed, Some((number.st_dev, number.st_ino))))
        });
        if put.is_err() {
            let _ = inner::remove(&spot.dir, &self.draft);
        }
        match put? {
            (Placed::Kept, _) => Ok((Placed::Kept, None)),
            put => Ok(put),
        }
    }

    /// What to say of something that is there and stays.
    fn left_alone(&self, stat: &Stat, why: &str) -> Option<Result<Placed, String>> {
        if self.check {
            return Some(Ok(Placed::WouldDiffer(why.to_owned())));
        }
        if !self.overwrite {
            return Some(Ok(Placed::Kept));
        }
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        is_directory.then(|| Err("a directory is there, which is not removed".to_owned()))
    }

    /// The draft takes its place.
    fn settle(&self, spot: &Spot, was_there: bool, flaw: Option<String>) -> Result<Placed, String> {
        let moved = match self.overwrite {
            true => rustix::fs::renameat(&spot.dir, &self.draft, &spot.dir, &spot.name),
            false => rustix::fs::renameat_with(
                &spot.dir,
                &self.draft,
                &spot.dir,
                &spot.name,
                RenameFlags::NOREPLACE,
            ),
        };
        // A file with several names: both are one already, and nothing was renamed.
        let _ = inner::remove(&spot.dir, &self.draft);
        match (moved, flaw) {
            (Err(Errno::EXIST), _) if !self.overwrite => Ok(Placed::Kept),
            (Err(error), _) => Err(error.to_string()),
            (Ok(()), Some(why)) => Ok(Placed::Flawed(why)),
            (Ok(()), None) if was_there => Ok(Placed::Replaced),
            (Ok(()), None) => Ok(Placed::Made),
        }
    }

    /// Owner, mode, attributes and time; what could not be set. Without its owner a program gets no powers.
    fn dress(&self, file: impl AsFd, entry: &BackupEntry) -> Option<String> {
        let file = file.as_fd();
        let mut flaws = Vec::new();
        let (uid, gid) = (Uid::from_raw(entry.uid), Gid::from_raw(entry.gid));
        let owned = rustix::fs::fchown(file, Some(uid), Some(gid));
        let mode = match owned {
            Ok(()) => entry.mode,
            Err(_) => entry.mode & !SPECIAL,
        };
        flaws.extend(owned.err().map(|error| flawed("its owner", error)));
        for (name, value) in &entry.attributes {
            let set = match STANDARD.decode(value) {
                Ok(value) => rustix::fs::fsetxattr(file, name, &value, XattrFlags::empty()),
                Err(_) => Err(Errno::INVAL),
            };
            flaws.extend(set.err().map(|error| flawed(&format!("its attribute {name}"), error)));
        }
        let set = rustix::fs::fchmod(file, Mode::from_raw_mode(mode));
        flaws.extend(set.err().map(|error| flawed("its mode", error)));
        let timed = rustix::fs::futimens(file, &times(entry));
        flaws.extend(timed.err().map(|error| flawed("its time", error)));
        (!flaws.is_empty()).then(|| flaws.join("; "))
    }

    /// What is different about something that is of the right kind.
    fn differs(&self, stat: &Stat, entry: &BackupEntry) -> Option<String> {
        if stat.st_mode & 0o7777 != entry.mode {
            return Some(format!("its mode is {:o}", stat.st_mode & 0o7777));
        }
        if self.is_root && (stat.st_uid, stat.st_gid) != (entry.uid, entry.gid) {
            return Some(format!("it belongs to {}:{}", stat.st_uid, stat.st_gid));
        }
        let nanos = u32::try_from(stat.st_mtime_nsec).unwrap_or_default();
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        ((stat.st_mtime, nanos) != entry.modified && (is_file || !self.check))
            .then(|| "its time is another".to_owned())
    }

    /// What is different about a file.
    fn compare(
        &self,
        spot: &Spot,
        entry: &BackupEntry,
        content: &Content<'_>,
    ) -> io::Result<Option<String>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&spot.dir, &spot.name, flags, Mode::empty())?);
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(Some("it is not a file".to_owned()));
        }
        let size = u64::try_from(stat.st_size).unwrap_or_default();
        if size != content.size {
            return Ok(Some(format!("it has {size} bytes and not {}", content.size)));
        }
        if !has_content(&file, content)? {
            return Ok(Some("its content is another".to_owned()));
        }
        Ok(self.differs(&stat, entry))
    }

    /// Everything that was put back is on the disk.
    pub fn sync(&self) {
        if let Some(root) = self.root.as_ref().filter(|_| !self.check)
            && let Err(error) = rustix::fs::syncfs(root)
        {
            tracing::warn!(%error, "what was put back may not be on the disk yet");
        }
    }
}

/// Whether a file has these bytes, and nothing in its holes.
fn has_content(file: &File, content: &Content<'_>) -> io::Result<bool> {
    let (mut hasher, mut buffer) = (Hasher::new(), vec![0; PIECE]);
    let mut end = 0;
    for piece in content.pieces() {
        if !is_hole(file, end, piece.at, &mut buffer)? {
            return Ok(false);
        }
        let mut done = 0;
        while done < piece.length {
            let room = usize::try_from(piece.length - done).unwrap_or(PIECE).min(PIECE);
            let got = file.read_at(&mut buffer[..room], piece.at + done)?;
            if got == 0 {
                return Ok(false);
            }
            hasher.update(&buffer[..got]);
            done += got as u64;
        }
        end = piece.at + piece.length;
    }
    Ok(hasher.digest() == content.digest && is_hole(file, end, content.size, &mut buffer)?)
}

/// Whether there is nothing but zeros from here to there.
fn is_hole(file: &File, from: u64, to: u64, buffer: &mut [u8]) -> io::Result<bool> {
    let mut at = from;
    while at < to {
        at = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(Errno::NXIO) => return Ok(true),
            Err(_) => at,
        };
        if at >= to {
            return Ok(true);
        }
        let room = usize::try_from(to - at).unwrap_or(PIECE).min(buffer.len());
        let got = file.read_at(&mut buffer[..room], at)?;
        if got == 0 {
            return Ok(true);
        }
        if buffer[..got].iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        at += got as u64;
    }
    Ok(true)
}

fn missing() -> Placed {
    Placed::WouldDiffer("it is not there".to_owned())
}

fn flawed(what: &str, error: Errno) -> String {
    format!("{what} could not be set: {error}")
}

fn astray(error: Errno) -> String {
    match error {
        Errno::LOOP | Errno::XDEV | Errno::NOTDIR => {
            "a directory above it is a link or something else; nothing is put through it".to_owned()
        }
        error => error.to_string(),
    }
}

fn times(entry: &BackupEntry) -> Timestamps {
    let (seconds, nanos) = entry.modified;
    let time = Timespec { tv_sec: seconds, tv_nsec: i64::from(nanos) };
    Timestamps { last_access: time, last_modification: time }
}
