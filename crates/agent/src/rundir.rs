//! The directory of one run, `<data>/runs/<run id>/`, and what each file in it proves.
//!
//! | file | written by | meaning |
//! |---|---|---|
//! | `spec.json` | agent | what is to be run; readable only by the agent's user |
//! | `ctl.sock` | shim | where another agent attaches, once the first one is gone |
//! | `started.json` | shim, or its child | from here on the program or its first hook may have executed; absent: neither ever has |
//! | `out.000001`… | shim | output; packed as `out.000001.gz` by the agent once closed, see `output` |
//! | `work/` | child, or agent | working directory, when the spec names none |
//! | `outputs.json` | agent | the server has what the run left; see `files` |
//! | `exit.json` | shim | how it ended; written once, never changed |
//! | `container.…` | keeper | how its container stands, when it has one; see `container` |
//!
//! Whoever acts for a run holds an exclusive `flock` on the directory: a shim for as long as it
//! has the run, so that "is its shim alive" is one non-blocking lock attempt and two shims can never act
//! for one run. `started.json` and `exit.json` appear by rename, so they are whole or absent for
//! anybody who looks within the same boot. Nothing is synced on the way to a start: after a power cut
//! `started.json` may be missing although the program ran, which is why a run that was prepared
//! under another boot counts as vanished, never as not started.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use std::collections::BTreeMap;

use hostler_model::{Hooks, Limits, Name, PlacementId, Reservation, RunId, Timestamp};
use rustix::fs::{Access, AtFlags, FlockOperation, Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::container::{Plan, Process};
use crate::files::Files;
use crate::proc;
use crate::secrets::Given;

pub const RUNS: &str = "runs";
pub const SPEC: &str = "spec.json";
pub const STARTED: &str = "started.json";
pub const EXIT: &str = "exit.json";
pub const SOCKET: &str = "ctl.sock";
pub const WORK: &str = "work";

/// The working directory of a run that names none.
pub fn work_of(data_dir: &Path, run_id: RunId) -> std::path::PathBuf {
    data_dir.join(RUNS).join(run_id.to_string()).join(WORK)
}

/// Where a file is written before it gets its name. What lies there means nothing.
pub fn temporary(name: &str) -> String {
    format!(".{name}")
}

/// `spec.json`: everything the child needs to become the program.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    pub run_id: RunId,
    #[serde(default)]
    pub placement_id: Option<PlacementId>,
    /// On whose account its output is kept.
    #[serde(default)]
    pub project: Option<Name>,
    /// Of the boot under which it was prepared.
    pub boot_id: String,
    pub argv: Vec<String>,
    /// Wins over everything the node sets itself.
    pub env: BTreeMap<String, String>,
    pub workdir: Option<String>,
    /// Another user than the agent's.
    pub user: Option<String>,
    /// Another group than the user's own.
    #[serde(default)]
    pub group: Option<String>,
    #[serde(default = "usual_umask")]
    pub umask: u32,
    #[serde(default)]
    pub limits: Limits,
    #[serde(default)]
    pub hooks: Hooks,
    /// Which cores and devices are its own; a container's are in its plan.
    #[serde(default)]
    pub reservation: Reservation,
    /// The agent's own user, for when no other is asked for.
    pub login: Login,
    /// What it finds in its working directory, and what of it is kept.
    #[serde(default, skip_serializing_if = "Files::is_none")]
    pub files: Files,
    /// Names of its secrets, and where they are while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Given>,
    /// The container whose keeper is started in place of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Plan>,
}

/// A command to run beside the program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    pub argv: Vec<String>,
    /// Wins over the run's own.
    pub env: BTreeMap<String, String>,
}

impl Beside {
    /// As a file without a name.
    pub fn file(&self) -> io::Result<OwnedFd> {
        let name = "hostler-exec";
        let mut file = File::from(rustix::fs::memfd_create(name, rustix::fs::MemfdFlags::CLOEXEC)?);
        file.write_all(&serde_json::to_vec(self)?)?;
        Ok(file.into())
    }
}

const fn usual_umask() -> u32 {
    0o022
}

/// What a login would set in the environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Login {
    pub name: String,
    pub home: String,
    pub shell: String,
}

impl Login {
    pub fn of(user: &nix::unistd::User) -> Login {
        Login {
            name: user.name.clone(),
            home: user.dir.to_string_lossy().into_owned(),
            shell: user.shell.to_string_lossy().into_owned(),
        }
    }
}

/// `started.json`: which process the run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartedRecord {
    pub boot_id: String,
    pub pid: u32,
    pub shim_pid: u32,
    pub start_ticks: u64,
    pub time: Timestamp,
    /// Absolute path of its cgroup, where it has one.
    pub cgroup: Option<String>,
    /// Those of version 1, where it needs them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cgroups_old: Vec<String>,
    /// Limits that this node could not put into force, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unenforced: Vec<String>,
    /// The process above is the keeper of a container.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_container: bool,
    /// The container's first process, once it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<Process>,
}

impl StartedRecord {
    /// Every cgroup it has.
    pub fn cgroup_dirs(&self) -> impl Iterator<Item = &Path> {
        self.cgroup.iter().chain(&self.cgroups_old).map(Path::new)
    }
}

/// An open run directory.
pub struct RunDir(OwnedFd);

impl RunDir {
    pub fn open(runs: impl AsFd, run_id: RunId) -> io::Result<RunDir> {
        let name = run_id.to_string();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(RunDir(rustix::fs::openat(runs, name, flags, Mode::empty())?))
    }

    pub fn open_path(path: &Path) -> io::Result<RunDir> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(RunDir(rustix::fs::open(path, flags, Mode::empty())?))
    }

    /// Takes the run for as long as this handle (and copies of it) is open; false when it is taken.
    pub fn try_lock(&self) -> io::Result<bool> {
        match rustix::fs::flock(&self.0, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// Lets go of the run.
    pub fn unlock(&self) {
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }

    pub fn has(&self, name: &str) -> bool {
        rustix::fs::accessat(&self.0, name, Access::EXISTS, AtFlags::empty()).is_ok()
    }

    /// The whole file; `None` when there is none.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = match rustix::fs::openat(&self.0, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        let mut bytes = Vec::new();
        File::from(fd).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Reads a JSON file; `None` when there is none.
    pub fn read_json<T: serde::de::DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        match self.read(name)? {
            Some(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            None => Ok(None),
        }
    }

    /// Writes a file so that it is seen whole or not at all. The open file is for [`RunDir::sync`].
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<File> {
        let file = self.begin(name)?;
        match file.appear(bytes) {
            Ok(()) => Ok(file.file),
            Err(e) => {
                self.remove(&file.temporary);
                Err(e)
            }
        }
    }

    /// A file that is to be seen later, and whole. What lies under its temporary name is written over.
    pub fn begin<'a>(&'a self, name: &'a str) -> io::Result<Begun<'a>> {
        let temporary = temporary(name);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let fd = rustix::fs::openat(&self.0, &temporary, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(Begun { dir: self, name, temporary, file: File::from(fd) })
    }

    /// Makes a file written by [`RunDir::write`] survive a power cut.
    pub fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()?;
        Ok(rustix::fs::fsync(&self.0)?)
    }

    pub fn remove(&self, name: &str) {
        let _ = rustix::fs::unlinkat(&self.0, name, AtFlags::empty());
    }

    /// A path to the control socket that is short enough for a socket address however deep the data
    /// directory lies. Good for as long as this handle is open.
    pub fn socket_path(&self) -> String {
        format!("/proc/self/fd/{}/{SOCKET}", self.0.as_raw_fd())
    }
}

/// A file that has no name yet.
pub struct Begun<'a> {
    dir: &'a RunDir,
    name: &'a str,
    temporary: String,
    file: File,
}

impl Begun<'_> {
    /// Writes it and gives it its name. Allocates nothing.
    pub fn appear(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.file).write_all(bytes)?;
        let length = bytes.len() as u64;
        if u64::try_from(rustix::fs::fstat(&self.file)?.st_size) != Ok(length) {
            rustix::fs::ftruncate(&self.file, length)?;
        }
        Ok(rustix::fs::renameat(self.dir, self.temporary.as_str(), self.dir, self.name)?)
    }
}

impl AsFd for RunDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Opens a file for writing, making it where it is not there. A file that is empty already is not
/// truncated: some file systems take that for a reason to write it out at once when it is closed.
pub fn open_empty(dir: impl AsFd, name: &str) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, name, flags, Mode::RUSR | Mode::WUSR)?;
    if rustix::fs::fstat(&fd)?.st_size != 0 {
        rustix::fs::ftruncate(&fd, 0)?;
    }
    Ok(File::from(fd))
}

/// The kernel's name for this boot.
pub fn boot_id() -> io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// When a process started, in clock ticks since boot; `None` when there is no such process.
pub fn start_ticks(pid: u32) -> Option<u64> {
    proc::stat(pid).map(|stat| stat.start_ticks)
}
