//! Steps into a directory that somebody else may write to: from one open directory to the next, never
//! through a symbolic link, never up.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use nix::unistd::{Gid, Uid};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

pub const DEPTH_MAX: usize = 256;

/// Whose new files are.
pub type Owner = Option<(Uid, Gid)>;

/// The parts of a path that stays inside; `Err` says in words why it does not.
pub fn parts(path: &Path) -> Result<Vec<CString>, String> {
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => parts.push(c_string(name)?),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => {
                return Err(format!("{} is an absolute path", path.display()));
            }
            Component::ParentDir => {
                return Err(format!("{} leads out of the directory", path.display()));
            }
        }
    }
    if parts.len() > DEPTH_MAX {
        return Err(format!("{} is too deep", path.display()));
    }
    Ok(parts)
}

pub fn c_string(name: &OsStr) -> Result<CString, String> {
    let bad = |_| "a name has a NUL character".to_owned();
    CString::new(name.as_bytes()).map_err(bad)
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

pub fn open_dir(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, DIRECTORY, Mode::empty())?)
}

/// One step down.
pub fn enter(dir: impl AsFd, name: &CString) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(dir, name, DIRECTORY, Mode::empty())?)
}

/// One step down, into a directory that is made where there is none.
pub fn enter_or_make(dir: impl AsFd, name: &CString, owner: Owner) -> io::Result<OwnedFd> {
    let is_new = match rustix::fs::mkdirat(&dir, name, Mode::RWXU) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(e) => return Err(e.into()),
    };
    let entered = enter(&dir, name)?;
    if is_new {
        rustix::fs::fchmod(&entered, Mode::from_raw_mode(0o755))?;
        give(&entered, owner)?;
    }
    Ok(entered)
}

/// The directory that these parts name, made where there is none.
pub fn descend(root: impl AsFd, parts: &[CString], owner: Owner) -> io::Result<OwnedFd> {
    let mut at = root.as_fd().try_clone_to_owned()?;
    for name in parts {
        at = enter_or_make(&at, name, owner)?;
    }
    Ok(at)
}

pub fn give(file: impl AsFd, owner: Owner) -> io::Result<()> {
    match owner {
        Some((uid, gid)) => Ok(nix::unistd::fchown(file, Some(uid), Some(gid))?),
        None => Ok(()),
    }
}

/// A new file in place of whatever file or link has the name; never through one.
pub fn create(dir: impl AsFd, name: &CString) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || rustix::fs::openat(&dir, name, flags, Mode::RUSR | Mode::WUSR);
    let made = match open() {
        Err(Errno::EXIST) => {
            remove(&dir, name)?;
            open()
        }
        made => made,
    };
    Ok(File::from(made?))
}

/// Removes a file or a link; a directory stays, and is an error.
pub fn remove(dir: impl AsFd, name: &CString) -> io::Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(e) => Err(e.into()),
    }
}
