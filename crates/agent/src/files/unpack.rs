//! Unpacks tar archives (plain, gzip, zstd) by our own rules.
//!
//! What may be in one: directories, plain files, symbolic links that stay inside, and further names of
//! files that it has brought itself. Everything else (devices, pipes, sparse files, names that are
//! absolute or lead out) is refused, and with it the archive. A link may go up only before it goes down:
//! every `..` then stands for a directory that is really above it, whatever other links there are; and a
//! link has no second name, which could be at another depth. Set-user-id bits, owners and times of an
//! archive mean nothing here. How much it may become is bounded by bytes and by entries, counted as they
//! come, so that a small archive of something endless ends early; names and other headers are bounded
//! too.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode};
use tar::{Archive, Entry, EntryType};

use super::inner::{self, Owner};

const HEADER_MAX: u64 = 64 << 10;
const PATH_MAX: usize = 4096;

/// How much an archive may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub bytes: u64,
    pub entries: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { bytes: 256 << 30, entries: 2_000_000 }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// In words.
    #[error("the archive cannot be unpacked: {0}")]
    Refused(String),
    #[error("the archive cannot be unpacked")]
    Io(#[from] io::Error),
}

fn refused<T>(why: impl Into<String>) -> Result<T, UnpackError> {
    Err(UnpackError::Refused(why.into()))
}

/// Unpacks an archive into an open directory.
pub fn unpack(
    mut archive: File,
    into: impl AsFd,
    owner: Owner,
    bounds: Bounds,
) -> Result<(), UnpackError> {
    let mut magic = [0; 4];
    let known = read_up_to(&mut archive, &mut magic)?;
    archive.rewind()?;
    let file = io::BufReader::with_capacity(256 << 10, archive);
    let plain: Box<dyn Read> = match &magic[..known] {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::stream::read::Decoder::with_buffer(file)?),
        _ => Box::new(file),
    };
    Unpacking { into: into.as_fd().try_clone_to_owned()?, owner, left: bounds }.all(plain)
}

fn read_up_to(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while read < buffer.len() {
        match file.read(&mut buffer[read..])? {
            0 => break,
            n => read += n,
        }
    }
    Ok(read)
}

struct Unpacking {
    into: OwnedFd,
    owner: Owner,
    left: Bounds,
}

/// What headers before an entry say about it.
#[derive(Default)]
struct Said {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
}

impl Unpacking {
    fn all(mut self, plain: impl Read) -> Result<(), UnpackError> {
        // Twice the bytes leaves room for headers and padding.
        let within = plain.take(self.left.bytes.saturating_mul(2).saturating_add(1 << 20));
        let mut archive = Archive::new(within);
        let mut said = Said::default();
        let mut is_any = false;
        for entry in archive.entries()?.raw(true) {
            let mut entry = entry?;
            is_any = true;
            self.left.entries = match self.left.entries.checked_sub(1) {
                Some(left) => left,
                None => return refused("it has too many entries"),
            };
            match entry.header().entry_type() {
                EntryType::GNULongName => said.path = Some(header(&mut entry)?),
                EntryType::GNULongLink => said.link = Some(header(&mut entry)?),
                EntryType::XHeader => read_pax(&mut entry, &mut said)?,
                EntryType::XGlobalHeader => {}
                kind => self.one(&mut entry, kind, std::mem::take(&mut said))?,
            }
        }
        if is_any { Ok(()) } else { refused("there is nothing in it, or it is no tar archive") }
    }

    fn one(
        &mut self,
        entry: &mut Entry<'_, impl Read>,
        kind: EntryType,
        said: Said,
    ) -> Result<(), UnpackError> {
        let path = said.path.unwrap_or_else(|| entry.path_bytes().into_owned());
        let path = as_path(&path)?;
        let parts = inner::parts(&path).map_err(UnpackError::Refused)?;
        let mode = entry.header().mode()? & 0o777;
        let Some((name, parents)) = parts.split_last() else {
            // The directory itself.
            return match kind {
                EntryType::Directory => Ok(()),
                _ => refused(format!("{} is no name for a file", path.display())),
            };
        };
        let parent = match inner::descend(&self.into, parents, self.owner) {
            Err(e) if is_link(&e) => {
                return refused(format!("{} goes through a link or a file", path.display()));
            }
            parent => parent?,
        };
        let link = || {
            let given = said.link.or_else(|| entry.link_name_bytes().map(|l| l.into_owned()));
            let given = given.filter(|link| !link.is_empty());
            given.ok_or_else(|| UnpackError::Refused(format!("{} has no target", path.display())))
        };
        match kind {
            EntryType::Directory => {
                let made = match inner::enter_or_make(&parent, name, self.owner) {
                    Err(e) if is_link(&e) => {
                        return refused(format!("{} is something else already", path.display()));
                    }
                    made => made?,
                };
                Ok(rustix::fs::fchmod(&made, Mode::from_raw_mode(mode | 0o700))
                    .map_err(io::Error::from)?)
            }
            EntryType::Regular | EntryType::Continuous => {
                let size = entry.header().entry_size()?;
                self.left.bytes = match self.left.bytes.checked_sub(size) {
                    Some(left) => left,
                    None => return refused("it has too many bytes"),
                };
                let mut file = inner::create(&parent, name)?;
                let copied = io::copy(entry, &mut file)?;
                if copied != size {
                    return refused(format!("it breaks off in {}", path.display()));
                }
                rustix::fs::fchmod(&file, Mode::from_raw_mode(mode)).map_err(io::Error::from)?;
                Ok(inner::give(&file, self.owner)?)
            }
            EntryType::Symlink => {
                let target = as_path(&link()?)?;
                check_target(parents.len(), &target).map_err(|why| {
                    UnpackError::Refused(format!(
                        "the link {} to {} {why}",
                        path.display(),
                        target.display()
                    ))
                })?;
                inner::remove(&parent, name)?;
                rustix::fs::symlinkat(&target, &parent, name).map_err(io::Error::from)?;
                if let Some((uid, gid)) = self.owner {
                    let flags = nix::fcntl::AtFlags::AT_SYMLINK_NOFOLLOW;
                    let given = nix::unistd::fchownat(
                        &parent,
                        name.as_c_str(),
                        Some(uid),
                        Some(gid),
                        flags,
                    );
                    given.map_err(io::Error::from)?;
                }
                Ok(())
            }
            EntryType::Link => {
                let target = as_path(&link()?)?;
                let target = inner::parts(&target).map_err(UnpackError::Refused)?;
                let Some((other, others)) = target.split_last() else {
                    return refused(format!("{} is a link to nothing", path.display()));
                };
                let from = self.find(others, &path)?;
                let found = rustix::fs::statat(&from, other, AtFlags::SYMLINK_NOFOLLOW);
                let kind = found.map(|stat| FileType::from_raw_mode(stat.st_mode));
                if kind != Ok(FileType::RegularFile) {
                    return refused(format!(
                        "{} is a link to what is no file inside",
                        path.display()
                    ));
                }
                inner::remove(&parent, name)?;
                rustix::fs::linkat(&from, other, &parent, name, AtFlags::empty())
                    .map_err(io::Error::from)?;
                Ok(())
            }
            kind => refused(format!(
                "{} is neither a file, a directory nor a link (type {:?})",
                path.display(),
                char::from(kind.as_byte())
            )),
        }
    }

    fn find(&self, parts: &[std::ffi::CString], path: &Path) -> Result<OwnedFd, UnpackError> {
        let mut at = self.into.try_clone()?;
        for name in parts {
            at = match inner::enter(&at, name) {
                Ok(entered) => entered,
                Err(_) => {
                    return refused(format!("{} is a link to nothing inside", path.display()));
                }
            };
        }
        Ok(at)
    }
}

fn is_link(e: &io::Error) -> bool {
    matches!(
        e.raw_os_error().map(rustix::io::Errno::from_raw_os_error),
        Some(rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR)
    )
}

/// A symbolic link stays inside when it goes no higher than it is deep, and only before it goes down.
fn check_target(depth: usize, target: &Path) -> Result<(), &'static str> {
    let mut depth = depth;
    let mut is_going_down = false;
    for component in target.components() {
        match component {
            Component::Normal(_) => is_going_down = true,
            Component::CurDir => {}
            Component::ParentDir if is_going_down => return Err("goes up after it went down"),
            Component::ParentDir => {
                depth = depth.checked_sub(1).ok_or("leads out of the directory")?;
            }
            Component::RootDir | Component::Prefix(_) => return Err("is absolute"),
        }
    }
    Ok(())
}

fn as_path(bytes: &[u8]) -> Result<PathBuf, UnpackError> {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    if bytes.is_empty() || bytes.len() > PATH_MAX {
        return refused("a name in it is empty or too long");
    }
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

/// The whole of a header that is an entry of its own.
fn header(entry: &mut Entry<'_, impl Read>) -> Result<Vec<u8>, UnpackError> {
    if entry.header().entry_size()? > HEADER_MAX {
        return refused("a header in it is too long");
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// `length key=value\n`, any number of them.
fn read_pax(entry: &mut Entry<'_, impl Read>, said: &mut Said) -> Result<(), UnpackError> {
    let bytes = header(entry)?;
    let broken = || UnpackError::Refused("a header in it is broken".to_owned());
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let space = rest.iter().position(|byte| *byte == b' ').ok_or_else(broken)?;
        let length = std::str::from_utf8(&rest[..space]).ok().and_then(|text| text.parse().ok());
        let length: usize =
            length.filter(|n| (space + 2..=rest.len()).contains(n)).ok_or_else(broken)?;
        let pair = &rest[space + 1..length - 1];
        let equals = pair.iter().position(|byte| *byte == b'=').ok_or_else(broken)?;
        let (key, value) = (&pair[..equals], &pair[equals + 1..]);
        match key {
            b"path" => said.path = Some(value.to_vec()),
            b"linkpath" => said.link = Some(value.to_vec()),
            b"size" => return refused("a file in it is larger than 8 GiB"),
            key if key.starts_with(b"GNU.sparse.") => return refused("it has sparse files"),
            _ => {}
        }
        rest = &rest[length..];
    }
    Ok(())
}

#[cfg(test)]
#[path = "unpack_tests.rs"]
mod tests;
