//! Directories of forgotten runs, kept to be used again.
//!
//! Short runs come and go by the thousand, and on common file systems making and removing files is
//! by far the most expensive part of one: ext4 will not give out a freed inode again for minutes and
//! searches past all of them. So [`Spares::retire`] does not delete the directory of a run but empties
//! it, and [`Spares::take`] gives it to a later one. Its files lie under the temporary names that
//! `RunDir::write` uses, where their presence means nothing; what may be confidential in them, which is
//! what was to be run and what it said, is cut off.
//!
//! A directory leaves `runs/<run id>` in one rename, before anything in it is touched: a crash never
//! leaves a run half forgotten. What is found under a spare's name at the next start is deleted.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};

use crate::output;
use crate::rundir::{self, RunDir};

pub const PREFIX: &str = ".spare-";
const MAX: usize = 256;

#[derive(Default)]
pub struct Spares(Mutex<Vec<PathBuf>>);

impl Spares {
    /// An emptied directory, if there is one.
    pub fn take(&self) -> Option<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Makes the directory of a run go away; `dir` is the locked handle to it.
    pub fn retire(&self, path: &Path, dir: RunDir) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let spare = path.with_file_name(format!("{PREFIX}{name}"));
        let moved = std::fs::rename(path, &spare).or_else(|e| match e.kind() {
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {
                std::fs::remove_dir_all(&spare)?;
                std::fs::rename(path, &spare)
            }
            _ => Err(e),
        });
        match moved {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        }
        let is_wanted = self.len() < MAX && empty(&spare, &dir).is_ok();
        drop(dir);
        if is_wanted {
            let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            free.push(spare);
            return Ok(());
        }
        std::fs::remove_dir_all(&spare)
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// An error means that the directory is better deleted.
fn empty(path: &Path, dir: &RunDir) -> io::Result<()> {
    let unfit = || io::Error::other("not as we make them");
    if rustix::fs::fstat(dir)?.st_mode & 0o777 != 0o700 {
        return Err(unfit());
    }
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().ok_or_else(unfit)?;
        let kept = match name {
            rundir::WORK => {
                empty_scratch(&entry.path())?;
                continue;
            }
            rundir::SPEC => {
                clear(dir, name)?;
                continue;
            }
            // Nobody's secrets, and written over by the next.
            rundir::STARTED | rundir::EXIT => {
                let kept = rundir::temporary(name);
                rustix::fs::renameat(dir, name, dir, kept.as_str())?;
                continue;
            }
            _ if name == output::FIRST => rundir::temporary(output::FIRST),
            _ => {
                dir.remove(name);
                continue;
            }
        };
        clear(dir, name)?;
        rustix::fs::renameat(dir, name, dir, kept.as_str())?;
    }
    Ok(())
}

fn clear(dir: &RunDir, name: &str) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    Ok(rustix::fs::ftruncate(file, 0)?)
}

fn empty_scratch(work: &Path) -> io::Result<()> {
    if std::fs::read_dir(work)?.next().is_none() {
        return Ok(());
    }
    std::fs::remove_dir_all(work)
}
