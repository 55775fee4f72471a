//! Processors and memory of their own, for runs that have some.
//!
//! The shim has bound itself already, and with it everything it starts ([`crate::shim`]); a cgroup
//! keeps a program from choosing others. Where there is no such controller the first has to do, and
//! nothing is said: what was asked for is in force for every program that does not undo it.
//!
//! In version 1 a directory has neither processors nor memory until they are written, and its parent
//! must have them first.

use std::path::{Path, PathBuf};

use super::{Confinement, PARENT, Root, enable, is_ours, make_old};
use crate::wire::Binding;

const CPUS: &str = "cpuset.cpus";
const MEMS: &str = "cpuset.mems";
const CONTROLLER: &str = "cpuset";

impl Root {
    pub(super) fn bind(&self, binding: &Binding, name: &str, made: &mut Confinement) {
        if binding.is_none() {
            return;
        }
        if let (Some(unified), Some(group)) = (&self.unified, &made.group)
            && has_cpuset(&unified.above, &unified.parent.path, &group.path)
        {
            write(&group.path, binding);
            return;
        }
        let mount = self.old.iter().find(|(name, _)| name == CONTROLLER);
        made.old.extend(mount.and_then(|(_, mount)| make_bound(mount, name, binding)));
    }
}

fn has_cpuset(above: &Path, parent: &Path, group: &Path) -> bool {
    let sign = group.join(CPUS);
    sign.exists() || {
        enable(above, parent, CONTROLLER);
        sign.exists()
    }
}

/// A directory of version 1 that processes can enter.
fn make_bound(mount: &Path, name: &str, binding: &Binding) -> Option<PathBuf> {
    let dir = make_old(mount, name).ok()?;
    inherit(mount, &mount.join(PARENT));
    inherit(&mount.join(PARENT), &dir);
    write(&dir, binding);
    let is_ready = [CPUS, MEMS].iter().all(|file| !read(&dir.join(file)).is_empty());
    if !is_ready {
        let _ = std::fs::remove_dir(&dir);
    }
    is_ready.then_some(dir)
}

fn inherit(from: &Path, to: &Path) {
    for file in [CPUS, MEMS] {
        if read(&to.join(file)).is_empty() {
            let _ = std::fs::write(to.join(file), read(&from.join(file)));
        }
    }
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default().trim().to_owned()
}

/// What the node refuses is kept by the shim alone.
fn write(dir: &Path, binding: &Binding) {
    let cpus = binding.cpus();
    if !cpus.is_empty() && !binding.is_cut {
        let _ = std::fs::write(dir.join(CPUS), cpus.to_string());
    }
    if let Some(numa) = binding.numa {
        let _ = std::fs::write(dir.join(MEMS), numa.to_string());
    }
}

/// Puts it into force again for a run that was found alive, should it have been lost.
pub fn renew(group: &Path, binding: &Binding) {
    let above = group.parent().and_then(|parent| Some((parent.parent()?, parent)));
    let Some((above, parent)) = above.filter(|_| !binding.is_none() && is_ours(group)) else {
        return;
    };
    if has_cpuset(above, parent, group) {
        write(group, binding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_version_one_has_everything_before_it_is_entered() {
        let mount = tempfile::tempdir().unwrap();
        std::fs::write(mount.path().join(CPUS), "0-7\n").unwrap();
        std::fs::write(mount.path().join(MEMS), "0-1\n").unwrap();
        let binding = Binding::new(&"2-3".parse().unwrap(), None);
        let dir = make_bound(mount.path(), "run", &binding).unwrap();
        assert_eq!(dir, mount.path().join(PARENT).join("run"));
        assert_eq!(
            (read(&dir.join(CPUS)).as_str(), read(&dir.join(MEMS)).as_str()),
            ("2-3", "0-1")
        );
        let binding = Binding::new(&"0".parse().unwrap(), Some(1));
        let dir = make_bound(mount.path(), "another", &binding).unwrap();
        assert_eq!((read(&dir.join(CPUS)).as_str(), read(&dir.join(MEMS)).as_str()), ("0", "1"));
    }

    #[test]
    fn a_directory_that_cannot_be_entered_is_not_used() {
        let mount = tempfile::tempdir().unwrap();
        let binding = Binding::new(&"0".parse().unwrap(), None);
        assert_eq!(make_bound(mount.path(), "run", &binding), None);
    }
}
