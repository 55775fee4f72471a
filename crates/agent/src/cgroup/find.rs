//! Where cgroups can be made: what is mounted, and whether a part of it was given to us.

use std::path::{Path, PathBuf};

/// What a node has mounted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mounts {
    /// Version 2, alone or beside version 1.
    pub unified: Option<PathBuf>,
    /// Version 1: each controller with where it is.
    pub old: Vec<(String, PathBuf)>,
}

pub fn mounts() -> Mounts {
    parse_mounts(&std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
}

/// The controllers of version 1 that we have a use for.
const OLD: [&str; 5] = ["memory", "cpu", "pids", "blkio", "cpuset"];

fn parse_mounts(text: &str) -> Mounts {
    let mut mounts = Mounts::default();
    for line in text.lines() {
        let Some((before, after)) = line.split_once(" - ") else { continue };
        let Some(point) = before.split(' ').nth(4) else { continue };
        let mut after = after.split(' ');
        let (kind, options) = (after.next(), after.nth(1).unwrap_or_default());
        match kind {
            Some("cgroup2") if mounts.unified.is_none() => mounts.unified = Some(point.into()),
            Some("cgroup") => {
                let controllers = options.split(',').filter(|option| OLD.contains(option));
                mounts.old.extend(controllers.map(|name| (name.to_owned(), point.into())));
            }
            _ => {}
        }
    }
    mounts
}

/// Where a process is, from what `/proc/PID/cgroup` says: in the hierarchies of version 1 where those
/// have the controllers, else in that of version 2.
pub fn places(text: &str, mounts: &Mounts) -> Vec<PathBuf> {
    let below = |mount: &Path, path: &str| mount.join(path.trim_start_matches('/'));
    let lines = || text.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    if !mounts.old.is_empty() {
        let of = |name: &str| {
            lines().find(|(names, _)| names.split(',').any(|one| one == name)).map(|(_, path)| path)
        };
        let old = mounts.old.iter().filter_map(|(name, mount)| Some(below(mount, of(name)?)));
        return old.collect();
    }
    let unified = mounts.unified.iter();
    let own = || lines().find(|(names, _)| names.is_empty()).map(|(_, path)| path);
    unified.filter_map(|mount| Some(below(mount, own()?))).collect()
}

/// Where this process and its siblings go, so that their cgroup can hand controllers down.
pub const LEAF: &str = "agent";

/// A slice of this name belongs to the agent inside it, as a whole.
const SLICE: &str = "hostler.slice";

/// A part of the unified hierarchy that a service manager has given to us.
#[derive(Debug, PartialEq, Eq)]
pub struct Given {
    pub dir: PathBuf,
    /// Whether we live in it ourselves, or only below it.
    pub is_home: bool,
}

pub fn given(mount: &Path) -> Option<Given> {
    let own = own_cgroup(&std::fs::read_to_string("/proc/self/cgroup").ok()?)?;
    let own = mount.join(own.trim_start_matches('/'));
    candidates(&own).into_iter().find(|given| match given.is_home {
        true => is_delegated(&given.dir),
        false => rustix::fs::access(&given.dir, rustix::fs::Access::WRITE_OK).is_ok(),
    })
}

/// What may have been given, best first: the slice around our unit, our unit.
fn candidates(own: &Path) -> Vec<Given> {
    let above = own.parent().filter(|_| own.ends_with(LEAF));
    let slice = above.unwrap_or(own).parent().filter(|dir| dir.ends_with(SLICE));
    let slice = slice.map(|dir| Given { dir: dir.to_owned(), is_home: false });
    let homes = [Some(own), above].into_iter().flatten();
    let homes = homes.map(|dir| Given { dir: dir.to_owned(), is_home: true });
    slice.into_iter().chain(homes).collect()
}

fn own_cgroup(text: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix("0::")).map(str::to_owned)
}

/// The mark that systemd leaves on what it has delegated.
fn is_delegated(dir: &Path) -> bool {
    ["user.delegate", "trusted.delegate"].iter().any(|name| {
        let mut value = [0_u8; 8];
        rustix::fs::getxattr(dir, *name, &mut value)
            .is_ok_and(|length| value[..length].starts_with(b"1"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hybrid_unified_and_old_mounts_are_told_apart() {
        let hybrid = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/devices rw,relatime - cgroup cgroup rw,devices
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
        let old = |name: &str, at: &str| (name.to_owned(), PathBuf::from(at));
        let found = parse_mounts(hybrid);
        assert_eq!(found.unified.as_deref(), Some(Path::new("/sys/fs/cgroup/unified")));
        assert_eq!(
            found.old,
            [old("cpu", "/sys/fs/cgroup/cpu,cpuacct"), old("memory", "/sys/fs/cgroup/memory")]
        );
        let unified =
            "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
        let found = parse_mounts(unified);
        assert_eq!(found.unified.as_deref(), Some(Path::new("/sys/fs/cgroup")));
        assert!(found.old.is_empty());
        assert_eq!(parse_mounts("nonsense\n1 2 - \n"), Mounts::default());
    }

    #[test]
    fn a_process_is_found_where_its_controllers_are() {
        let text = "9:name=systemd:/d/x\n5:cpu,cpuacct:/d/c\n4:memory:/d/x\n0::/elsewhere\n";
        let old = |name: &str| (name.to_owned(), PathBuf::from(format!("/c/{name}")));
        let hybrid = Mounts { unified: Some("/u".into()), old: vec![old("memory"), old("cpu")] };
        let found = [PathBuf::from("/c/memory/d/x"), PathBuf::from("/c/cpu/d/c")];
        assert_eq!(places(text, &hybrid), found);
        let unified = Mounts { unified: Some("/u".into()), old: vec![] };
        assert_eq!(places(text, &unified), [PathBuf::from("/u/elsewhere")]);
        assert_eq!(places("", &unified), Vec::<PathBuf>::new());
    }

    #[test]
    fn the_own_cgroup_is_that_of_the_unified_hierarchy() {
        let text = "4:memory:/a\n1:name=systemd:/b\n0::/system.slice/hostler.service\n";
        assert_eq!(own_cgroup(text).as_deref(), Some("/system.slice/hostler.service"));
        assert_eq!(own_cgroup("4:memory:/a\n"), None);
    }

    #[test]
    fn our_slice_comes_before_our_unit() {
        let found = |own: &str| -> Vec<(String, bool)> {
            let found = candidates(Path::new(own)).into_iter();
            found.map(|given| (given.dir.display().to_string(), given.is_home)).collect()
        };
        let slice = ("/c/hostler.slice".to_owned(), false);
        let unit = ("/c/hostler.slice/a.service".to_owned(), true);
        let leaf = ("/c/hostler.slice/a.service/agent".to_owned(), true);
        assert_eq!(found("/c/hostler.slice/a.service"), [slice.clone(), unit.clone()]);
        assert_eq!(found("/c/hostler.slice/a.service/agent"), [slice, leaf, unit]);
        let other = ("/c/system.slice/a.service".to_owned(), true);
        assert_eq!(found("/c/system.slice/a.service"), [other]);
    }
}
