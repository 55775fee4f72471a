//! One cgroup per run, so that nothing a run leaves behind can escape being ended.
//!
//! Where a cgroup v2 hierarchy is mounted (alone, or beside v1 as "hybrid") and we may write to it,
//! every run gets `<mount>/hostler/<run id>`. The child is born inside. Where there is none, callers
//! fall back on the process group and on being the child subreaper; nothing here is an error.
//!
//! A crash leaves at worst an empty directory, which [`remove`] clears on recovery.

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use hostler_model::RunId;
use rustix::fs::{AtFlags, Mode, OFlags};

const MOUNTS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
const PARENT: &str = "hostler";
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The directory all runs' cgroups are made in.
pub struct Root {
    path: PathBuf,
    fd: OwnedFd,
}

impl Root {
    /// Finds the hierarchy and makes our directory in it; `None` when we cannot have one.
    pub fn find() -> Option<Root> {
        let mount =
            MOUNTS.iter().map(Path::new).find(|mount| mount.join("cgroup.controllers").exists())?;
        let path = mount.join(PARENT);
        match std::fs::create_dir(&path) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return None,
            _ => {}
        }
        // Accounting is a gift where it can be had: out-of-memory kills then show in memory.events.
        let _ = std::fs::write(path.join("cgroup.subtree_control"), "+memory");
        let fd = rustix::fs::open(&path, DIRECTORY, Mode::empty()).ok()?;
        Some(Root { path, fd })
    }

    /// A fresh cgroup for a run; `None` when it cannot be made.
    pub fn make(&self, run_id: RunId) -> Option<Cgroup> {
        let name = run_id.to_string();
        match rustix::fs::mkdirat(&self.fd, name.as_str(), Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(_) => return None,
        }
        let fd = rustix::fs::openat(&self.fd, name.as_str(), DIRECTORY, Mode::empty()).ok()?;
        Some(Cgroup { fd, path: self.path.join(name) })
    }
}

pub struct Cgroup {
    fd: OwnedFd,
    path: PathBuf,
}

impl Cgroup {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the calling process in, for kernels that cannot fork into a cgroup.
    pub fn enter(&self) -> io::Result<()> {
        self.write("cgroup.procs", "0")
    }

    /// Kills everything inside, atomically. An error means the kernel cannot (before 5.14).
    pub fn kill(&self) -> io::Result<()> {
        self.write("cgroup.kill", "1")
    }

    /// Whether the kernel has killed something in here for memory.
    pub fn had_oom_kill(&self) -> bool {
        std::fs::read_to_string(self.path.join("memory.events")).is_ok_and(|text| {
            text.lines()
                .filter_map(|line| line.strip_prefix("oom_kill "))
                .any(|count| count.trim() != "0")
        })
    }

    pub fn remove(&self) {
        remove_tree(&self.path);
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, file, flags, Mode::empty())?;
        std::fs::File::from(fd).write_all(text.as_bytes())
    }
}

impl AsFd for Cgroup {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Ends whatever is left in the cgroup of a run whose shim is gone.
pub fn kill(path: &Path) {
    if is_ours(path) {
        let _ = std::fs::write(path.join("cgroup.kill"), "1");
    }
}

/// Removes the cgroup of a run whose shim is gone; false when something is still inside.
pub fn remove(path: &Path) -> bool {
    !is_ours(path) || remove_tree(path)
}

/// A path read from disk is used only when it has the shape we give.
fn is_ours(path: &Path) -> bool {
    let is_run = path
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.parse::<RunId>().is_ok());
    let parent = path.parent();
    is_run && MOUNTS.iter().any(|mount| parent == Some(&Path::new(mount).join(PARENT)))
}

fn remove_tree(path: &Path) -> bool {
    let rmdir = || rustix::fs::unlinkat(rustix::fs::CWD, path, AtFlags::REMOVEDIR);
    match rmdir() {
        Ok(()) | Err(rustix::io::Errno::NOENT) => return true,
        Err(_) => {}
    }
    let Ok(entries) = std::fs::read_dir(path) else {
        return false;
    };
    for entry in entries.flatten() {
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            remove_tree(&entry.path());
        }
    }
    rmdir().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_our_own_shape_are_touched() {
        let id = "0192f3c4-0000-7000-8000-000000000000";
        assert!(is_ours(Path::new(&format!("/sys/fs/cgroup/hostler/{id}"))));
        assert!(is_ours(Path::new(&format!("/sys/fs/cgroup/unified/hostler/{id}"))));
        for other in ["/sys/fs/cgroup", "/sys/fs/cgroup/hostler", "/sys/fs/cgroup/system.slice/x"] {
            assert!(!is_ours(Path::new(other)), "{other}");
        }
        assert!(!is_ours(Path::new(&format!("/sys/fs/cgroup/hostler/../{id}"))));
    }
}
