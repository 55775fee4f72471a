//! The directory that is unpacked into: entered name by name, never through a link.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::member::{Member, Parts, Refusal, What};
use crate::HostError;
use crate::error::io_at;
use crate::files::same_bytes;
use crate::place::{Manner, Place};

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC).union(OFlags::NOFOLLOW);

/// How an entry stands to what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Missing,
    Different,
    Same,
}

pub(super) struct Tree {
    root: OwnedFd,
    path: PathBuf,
}

impl Tree {
    /// `None` where there is no such directory.
    pub fn open(path: &Path) -> Result<Option<Tree>, HostError> {
        let flags = DIRECTORY.difference(OFlags::NOFOLLOW);
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(root) => Ok(Some(Tree { root, path: path.to_owned() })),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(io_at("opened", path)(e)),
        }
    }

    pub fn require(path: &Path) -> Result<Tree, HostError> {
        let missing = || io_at("opened", path)(io::Error::from(io::ErrorKind::NotFound));
        Tree::open(path)?.ok_or_else(missing)
    }

    /// Makes all that was written durable.
    pub fn sync(&self) -> Result<(), HostError> {
        rustix::fs::syncfs(&self.root).map_err(io_at("made durable", &self.path))
    }

    /// The directory of these names; `None` where one is missing and none is made.
    fn enter(&self, names: &[OsString], make: Option<Manner>) -> Result<Option<OwnedFd>, Refusal> {
        let mut path = self.path.clone();
        let cloned = self.root.try_clone();
        let mut at = cloned?;
        for name in names {
            path.push(name);
            let entered = match rustix::fs::openat(&at, name, DIRECTORY, Mode::empty()) {
                Err(Errno::NOENT) => match make {
                    None => return Ok(None),
                    Some(manner) => {
                        let manner = Manner { mode: Some(0o755), ..manner };
                        let place = Place::inside(at, name, path.clone()).unsynced();
                        place.make_directory(manner)?;
                        place.enter()?
                    }
                },
                Err(Errno::LOOP | Errno::NOTDIR) => {
                    let shown = path.display();
                    return Err(Refusal::new(format!("{shown} is a link or a file on the way")));
                }
                Err(e) => return Err(io_at("opened", &path)(e).into()),
                Ok(entered) => entered,
            };
            at = entered;
        }
        Ok(Some(at))
    }

    fn place(&self, parts: &Parts, make: Option<Manner>) -> Result<Option<Place>, Refusal> {
        let (name, parents) = parts.split();
        let dir = self.enter(parents, make)?;
        let path = self.path.join(parts.path());
        Ok(dir.map(|dir| Place::inside(dir, OsStr::new(name), path).unsynced()))
    }

    pub fn compare(&self, member: &Member, data: &mut dyn Read) -> Result<State, Refusal> {
        let Some(place) = self.place(&member.parts, None)? else { return Ok(State::Missing) };
        let Some(stat) = place.stat()? else { return Ok(State::Missing) };
        let is_same = match (&member.what, FileType::from_raw_mode(stat.st_mode)) {
            (What::Directory, FileType::Directory) => true,
            (What::File, FileType::RegularFile) => {
                let is_mode = stat.st_mode & 0o7777 == member.mode;
                is_mode
                    && match place.open()? {
                        Some(mut file) => same_bytes(&mut file, data)?,
                        None => false,
                    }
            }
            (What::Link(target), FileType::Symlink) => place.link_target()? == *target,
            (What::Name(other), FileType::RegularFile) => {
                let other = self.place(other, None)?.map(|other| other.stat()).transpose()?;
                other
                    .flatten()
                    .is_some_and(|other| (other.st_dev, other.st_ino) == (stat.st_dev, stat.st_ino))
            }
            (_, FileType::Directory) | (What::Directory, _) => {
                let path = place.path().display();
                return Err(Refusal::new(format!("{path} is something else already")));
            }
            _ => false,
        };
        Ok(if is_same { State::Same } else { State::Different })
    }

    pub fn put(&self, member: &Member, data: &mut dyn Read, manner: Manner) -> Result<(), Refusal> {
        let missing = || Refusal::new("the directory it is unpacked in went away");
        let place = self.place(&member.parts, Some(manner))?.ok_or_else(missing)?;
        let kind = place.stat()?.map(|stat| FileType::from_raw_mode(stat.st_mode));
        let manner = Manner { mode: Some(member.mode), ..manner };
        match &member.what {
            What::Directory if kind == Some(FileType::Directory) => {}
            What::Directory => {
                place.make_directory(Manner { mode: Some(member.mode | 0o700), ..manner })?;
            }
            What::File => {
                if kind.is_some_and(|kind| kind != FileType::RegularFile) {
                    place.remove()?;
                }
                let copied = |file: &mut std::fs::File| io::copy(data, file).map(drop);
                place.replace_with(manner, copied)?;
            }
            What::Link(target) => place.symlink(target)?,
            What::Name(other) => {
                let shown = member.parts.path();
                let refuse =
                    || Refusal::new(format!("{} is a link to no file inside", shown.display()));
                let other = self.place(other, None)?.ok_or_else(refuse)?;
                other.stat_file()?.ok_or_else(refuse)?;
                place.hard_link(&other)?;
            }
        }
        Ok(())
    }

    /// Removes a file or link, or a directory where it is empty.
    pub fn take(&self, parts: &Parts, is_directory: bool) -> Result<(), Refusal> {
        let Some(place) = self.place(parts, None)? else { return Ok(()) };
        match is_directory {
            false => place.remove()?,
            true => match place.remove_directory() {
                Err(HostError::NotEmpty { .. }) => {}
                done => done?,
            },
        }
        Ok(())
    }
}
