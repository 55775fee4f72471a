//! An entry of an archive, judged.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::HostError;
use crate::error::io_at;

const DEPTH_MAX: usize = 256;
const PATH_MAX: usize = 4096;

/// Why an archive is not unpacked.
#[derive(Debug)]
pub(super) enum Refusal {
    Words(String),
    Io(io::Error),
    Host(HostError),
}

impl Refusal {
    pub fn new(words: impl Into<String>) -> Refusal {
        Refusal::Words(words.into())
    }

    pub fn at(self, archive: &Path) -> HostError {
        match self {
            Refusal::Words(problem) => HostError::Archive { path: archive.to_owned(), problem },
            Refusal::Io(source) => {
                let problem = match source.kind() {
                    io::ErrorKind::UnexpectedEof => "it breaks off; fetch it again".to_owned(),
                    io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                        format!("{source}; fetch it again")
                    }
                    io::ErrorKind::Other => source.to_string(),
                    _ => return io_at("unpacked", archive)(source),
                };
                HostError::Archive { path: archive.to_owned(), problem }
            }
            Refusal::Host(error) => error,
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal::Io(error)
    }
}

impl From<HostError> for Refusal {
    fn from(error: HostError) -> Refusal {
        Refusal::Host(error)
    }
}

/// A path that stays inside, as its names. At least one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Parts(Vec<OsString>);

impl Parts {
    /// `Err` for what is absolute, leads out or is nothing.
    pub fn of(path: &Path) -> Result<Parts, Refusal> {
        let shown = path.display();
        let mut parts = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => parts.push(name.to_owned()),
                Component::CurDir => {}
                Component::ParentDir => {
                    return Err(Refusal::new(format!("{shown} leads out of the directory")));
                }
                Component::RootDir | Component::Prefix(_) => {
                    return Err(Refusal::new(format!("{shown} is an absolute path")));
                }
            }
        }
        match parts.len() {
            0 => Err(Refusal::new("an entry has no name")),
            1..=DEPTH_MAX => Ok(Parts(parts)),
            _ => Err(Refusal::new(format!("{shown} is too deep"))),
        }
    }

    pub fn split(&self) -> (&OsStr, &[OsString]) {
        let (name, parents) = self.0.split_last().expect("there is at least one name");
        (name, parents)
    }

    pub fn path(&self) -> PathBuf {
        self.0.iter().collect()
    }
}

/// Bytes of an archive as a path.
pub(super) fn as_path(bytes: &[u8]) -> Result<PathBuf, Refusal> {
    let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    match bytes.is_empty() || bytes.len() > PATH_MAX {
        true => Err(Refusal::new("a name in it is empty or too long")),
        false => Ok(PathBuf::from(OsStr::from_bytes(bytes))),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Directory,
    File,
    /// Where it leads, judged by [`check_target`].
    Link(PathBuf),
    /// A further name of a file of the archive.
    Name(Parts),
}

impl What {
    pub fn word(&self) -> String {
        match self {
            What::Directory => "directory".to_owned(),
            What::File => "file".to_owned(),
            What::Link(target) => format!("link to {}", target.display()),
            What::Name(parts) => format!("name of {}", parts.path().display()),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub parts: Parts,
    pub what: What,
    pub mode: u32,
}

/// A link stays inside when it goes no higher than it is deep, and only before it goes down: every `..`
/// then stands for a directory that is really above it, whatever other links there are.
pub(super) fn check_target(parts: &Parts, target: &Path) -> Result<(), Refusal> {
    let mut depth = parts.split().1.len();
    let mut is_going_down = false;
    let refuse = |why: &str| {
        let (from, to) = (parts.path(), target.display());
        Err(Refusal::new(format!("the link {} to {to} {why}", from.display())))
    };
    for component in target.components() {
        match component {
            Component::Normal(_) => is_going_down = true,
            Component::CurDir => {}
            Component::ParentDir if is_going_down => return refuse("goes up after it went down"),
            Component::ParentDir => match depth.checked_sub(1) {
                Some(higher) => depth = higher,
                None => return refuse("leads out of the directory"),
            },
            Component::RootDir | Component::Prefix(_) => return refuse("is absolute"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_stay_inside_are_parts() {
        for path in ["a", "a/b", "./a", "a/./b/"] {
            assert!(Parts::of(Path::new(path)).is_ok(), "{path}");
        }
        for path in ["", ".", "/a", "../a", "a/../b", "a/.."] {
            assert!(Parts::of(Path::new(path)).is_err(), "{path}");
        }
    }

    #[test]
    fn links_stay_inside() {
        let parts = Parts::of(Path::new("a/b/link")).unwrap();
        for target in ["c", "./c/d", "../c", "../../c"] {
            assert!(check_target(&parts, Path::new(target)).is_ok(), "{target}");
        }
        for target in ["/c", "../../../c", "c/../d", "../c/.."] {
            assert!(check_target(&parts, Path::new(target)).is_err(), "{target}");
        }
    }
}
