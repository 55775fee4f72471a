//! Mounted file systems and what fills them.
//!
//! What the kernel mounts for itself (`proc`, `cgroup`, ..) is left out, and each device is told once, where it is
//! mounted first. File systems of a network are named and not measured: one whose server is gone would hold up
//! whoever asks it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::io_at;
use crate::plan::blocking;
use crate::{Host, HostError};

const MOUNTS_MAX: usize = 256;
const PSEUDO: &[&str] = &[
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "sysfs",
    "tracefs",
];
const NETWORK: &[&str] =
    &["9p", "afs", "ceph", "cifs", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3"];
/// The most files that are looked at, and the longest that is looked.
const ENTRIES_MAX: u64 = 2_000_000;
const TIME_MAX: Duration = Duration::from_secs(20);
const DEPTH_MAX: usize = 256;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mount {
    pub point: String,
    pub device: String,
    pub filesystem: String,
    pub size: u64,
    pub free: u64,
    /// To everybody: without what is reserved for root.
    pub available: u64,
    pub inodes: u64,
    pub inodes_free: u64,
    pub is_read_only: bool,
}

/// What is mounted, by its place; each device once.
pub async fn mounts(host: &Host) -> Result<Vec<Mount>, HostError> {
    let (table, root) = (host.path("/proc/self/mountinfo")?, host.root().to_owned());
    blocking(move || {
        let text = std::fs::read(&table).map_err(io_at("read", &table))?;
        let mut found = parse(&String::from_utf8_lossy(&text));
        for mount in &mut found {
            let is_remote = NETWORK.contains(&mount.filesystem.as_str())
                || mount.filesystem.starts_with("fuse.");
            let at = root.join(mount.point.trim_start_matches('/'));
            if !is_remote && let Ok(stat) = rustix::fs::statvfs(&at) {
                let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
                mount.size = bytes(stat.f_blocks);
                mount.free = bytes(stat.f_bfree);
                mount.available = bytes(stat.f_bavail);
                mount.inodes = stat.f_files;
                mount.inodes_free = stat.f_ffree;
            }
        }
        Ok(found)
    })
    .await
}

/// The lines of `/proc/self/mountinfo`.
pub(crate) fn parse(text: &str) -> Vec<Mount> {
    let mut seen = HashSet::new();
    let mut found: Vec<(String, Mount)> = text.lines().filter_map(line).collect();
    // Of one device, the mount nearest to the root stands for all.
    found.sort_by(|(_, a), (_, b)| (a.point.len(), &a.point).cmp(&(b.point.len(), &b.point)));
    found.retain(|(number, _)| seen.insert(number.clone()));
    found.truncate(MOUNTS_MAX);
    let mut mounts: Vec<Mount> = found.into_iter().map(|(_, mount)| mount).collect();
    mounts.sort_by(|a, b| a.point.cmp(&b.point));
    mounts
}

fn line(line: &str) -> Option<(String, Mount)> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ');
    let (number, point) = (fields.nth(2)?, fields.nth(1)?);
    let options = fields.next()?;
    let mut fields = after.split(' ');
    let (filesystem, device) = (fields.next()?, fields.next()?);
    let shared = fields.next().unwrap_or_default();
    if PSEUDO.contains(&filesystem) {
        return None;
    }
    let is_read_only = [options, shared].iter().any(|all| all.split(',').any(|one| one == "ro"));
    let mount = Mount {
        point: unescaped(point),
        device: unescaped(device),
        filesystem: filesystem.to_owned(),
        is_read_only,
        ..Mount::default()
    };
    Some((number.to_owned(), mount))
}

/// The kernel writes spaces, tabs, line breaks and backslashes as `\040` and the like.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'\\').then(|| after.get(..3)).flatten();
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A file, or a directory with everything in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Tree {
    /// What it takes of the disk.
    pub size: u64,
    pub path: PathBuf,
    pub is_directory: bool,
    pub files: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Largest {
    /// The largest first.
    pub trees: Vec<Tree>,
    /// What was not looked at, in words.
    pub note: Option<String>,
}

/// What is largest below a directory, on its file system. Links are not followed; a file with several names
/// counts once.
pub async fn largest(host: &Host, path: &str, most: usize) -> Result<Largest, HostError> {
    let root = host.path(path)?;
    let prefix = host.root().to_owned();
    blocking(move || {
        let about = std::fs::symlink_metadata(&root).map_err(io_at("looked at", &root))?;
        if !about.is_dir() {
            return Err(HostError::Kind { path: root, is: "no directory", wanted: "a directory" });
        }
        let mut walk = Walk {
            device: about.dev(),
            most,
            until: Instant::now() + TIME_MAX,
            entries: 0,
            unread: 0,
            is_cut: false,
            linked: HashSet::new(),
            top: BinaryHeap::new(),
        };
        walk.directory(&root, 0);
        Ok(walk.result(&prefix))
    })
    .await
}

struct Walk {
    device: u64,
    most: usize,
    until: Instant,
    entries: u64,
    unread: u64,
    is_cut: bool,
    linked: HashSet<u64>,
    top: BinaryHeap<Reverse<Tree>>,
}

impl Walk {
    /// Size and number of files of everything in it.
    fn directory(&mut self, path: &Path, depth: usize) -> (u64, u64) {
        let Ok(entries) = std::fs::read_dir(path) else {
            self.unread += 1;
            return (0, 0);
        };
        let (mut size, mut files) = (0, 0);
        for entry in entries.flatten() {
            self.entries += 1;
            let is_late = self.entries.is_multiple_of(1000) && Instant::now() > self.until;
            if self.entries > ENTRIES_MAX || is_late {
                self.is_cut = true;
            }
            if self.is_cut {
                break;
            }
            let path = entry.path();
            let Ok(about) = std::fs::symlink_metadata(&path) else { continue };
            if about.dev() != self.device {
                continue;
            }
            let is_directory = about.is_dir();
            let (mut own, mut inside) = (about.blocks().saturating_mul(512), 1);
            if is_directory && depth < DEPTH_MAX {
                let (below, count) = self.directory(&path, depth + 1);
                own += below;
                inside = count;
            } else if about.nlink() > 1 && !self.linked.insert(about.ino()) {
                continue;
            }
            size += own;
            files += inside;
            self.note(Tree { size: own, path, is_directory, files: inside });
        }
        (size, files)
    }

    fn note(&mut self, tree: Tree) {
        self.top.push(Reverse(tree));
        if self.top.len() > self.most {
            self.top.pop();
        }
    }

    fn result(self, prefix: &Path) -> Largest {
        let shown = |tree: Tree| match tree.path.strip_prefix(prefix) {
            Ok(path) => Tree { path: Path::new("/").join(path), ..tree },
            Err(_) => tree,
        };
        let mut trees: Vec<Tree> = self.top.into_iter().map(|Reverse(tree)| shown(tree)).collect();
        trees.sort_by(|a, b| b.cmp(a));
        let note = match (self.is_cut, self.unread) {
            (true, _) => Some(format!(
                "only {} files were looked at within {} s; name a directory further below",
                self.entries,
                TIME_MAX.as_secs()
            )),
            (false, 0) => None,
            (false, count) => Some(format!("{count} directories cannot be read by the agent")),
        };
        Largest { trees, note }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_once_for_each_device() {
        let text = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
23 22 0:21 / /proc rw - proc proc rw\n\
24 22 8:1 /home /srv/a\\040b rw - ext4 /dev/sda1 rw\n\
25 22 7:1 / /snap/x ro,nodev - squashfs /dev/loop1 ro\n\
26 22 8:2 / /mnt/a\\134b rw - xfs /dev/disk\\011x rw\n\
27 22 0:40 / /net rw - nfs4 server:/x rw\n\
broken line\n";
        let found = parse(text);
        let points: Vec<&str> = found.iter().map(|mount| mount.point.as_str()).collect();
        assert_eq!(points, ["/", "/mnt/a\\b", "/net", "/snap/x"]);
        assert_eq!(found[1].device, "/dev/disk\tx");
        assert_eq!(
            found.iter().map(|m| m.is_read_only).collect::<Vec<_>>(),
            [false, false, false, true]
        );
    }

    #[test]
    fn escapes_that_are_none_stay() {
        for (text, plain) in
            [("a\\040b", "a b"), ("a\\", "a\\"), ("a\\9zz", "a\\9zz"), ("\\777x", "\\777x")]
        {
            assert_eq!(unescaped(text), plain);
        }
    }
}
