//! What of the node a container may see.
//!
//! A mount is allowed when its source, with every symbolic link resolved, lies below a directory that
//! whoever runs the agent has named; never the kernel's own file systems, never the agent's data, never
//! the engine's socket, nor anything that contains one of these; and only directories and ordinary
//! files. The check is made when the run is prepared, once more immediately before the container is
//! started, and a third time on what the started container really sees (`life`): somebody who may write
//! below an allowed directory could otherwise put a symbolic link there in between.

use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use hostler_model::{Container, Mount};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use serde::{Deserialize, Serialize};

use super::{Plan, SECRETS_TARGET, WORK_TARGET};

/// What an agent allows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    pub allowed: Vec<PathBuf>,
    /// Besides what nobody may mount.
    pub forbidden: Vec<PathBuf>,
    pub allow_privileged: bool,
}

/// Of the kernel, and no business of a container.
const FORBIDDEN: [&str; 3] = ["/proc", "/sys", "/dev"];
/// File systems that are the kernel itself, wherever they are mounted: proc, sysfs, cgroup and cgroup2,
/// debugfs, tracefs, securityfs, bpf, configfs, devpts.
const KERNEL: [u64; 10] = [
    0x9fa0,
    0x6265_6572,
    0x0027_e0eb,
    0x6367_7270,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0xcafe_4a11,
    0x6265_6570,
    0x1cd1,
];

/// A mount that may be made.
pub struct Checked {
    pub source: PathBuf,
    pub target: String,
    pub is_read_only: bool,
    /// Device and inode of the source.
    pub identity: (u64, u64),
}

/// Everything that a container is to see: what its user asked for, and the run's own directory.
pub fn mounts(plan: &Plan) -> Result<Vec<Checked>, String> {
    let mut mounts = check(&plan.spec, &plan.rules)?;
    if let Some(work) = &plan.work {
        let source = std::fs::canonicalize(work)
            .map_err(|e| format!("the run's working directory cannot be used: {e}"))?;
        let identity = look(&source).map_err(|why| format!("{} {why}", source.display()))?;
        let target = WORK_TARGET.to_owned();
        mounts.push(Checked { source, target, is_read_only: false, identity });
    }
    if let Some(secrets) = &plan.secrets {
        let source = secrets.clone();
        let identity = look(&source).map_err(|why| format!("the run's secrets: {why}"))?;
        let target = SECRETS_TARGET.to_owned();
        mounts.push(Checked { source, target, is_read_only: true, identity });
    }
    Ok(mounts)
}

/// Everything about a container that the node's owner has a say in.
fn check(container: &Container, rules: &Rules) -> Result<Vec<Checked>, String> {
    if container.privileged && !rules.allow_privileged {
        return Err("this node runs no privileged containers; its agent would have to allow them"
            .to_owned());
    }
    container.mounts.iter().map(|mount| check_mount(mount, rules)).collect()
}

fn check_mount(mount: &Mount, rules: &Rules) -> Result<Checked, String> {
    let written = Path::new(&mount.source);
    check_words(written).map_err(|why| format!("mount source {}: {why}", mount.source))?;
    check_words(Path::new(&mount.target))
        .and_then(|()| check_target(Path::new(&mount.target)))
        .map_err(|why| format!("mount target {}: {why}", mount.target))?;
    if rules.allowed.is_empty() {
        return Err(format!(
            "{} cannot be mounted: this node's agent allows containers no mounts",
            mount.source
        ));
    }
    let source = std::fs::canonicalize(written)
        .map_err(|e| format!("mount source {} cannot be used on this node: {e}", mount.source))?;
    let shown = match source == written {
        true => mount.source.clone(),
        false => format!("{} (which is {})", mount.source, source.display()),
    };
    if is_forbidden(&source, &rules.forbidden) {
        return Err(format!("{shown} may never be mounted into a container"));
    }
    let is_allowed = (rules.allowed.iter())
        .filter_map(|dir| std::fs::canonicalize(dir).ok())
        .any(|dir| source.starts_with(dir));
    if !is_allowed {
        let allowed: Vec<_> = rules.allowed.iter().map(|dir| dir.display().to_string()).collect();
        let allowed = allowed.join(", ");
        return Err(format!("{shown} may not be mounted; this node's agent allows {allowed}"));
    }
    let identity = look(&source).map_err(|why| format!("{shown} {why}"))?;
    let (target, is_read_only) = (mount.target.clone(), mount.read_only);
    Ok(Checked { source, target, is_read_only, identity })
}

fn check_words(path: &Path) -> Result<(), String> {
    let has_parent = path.components().any(|part| part == Component::ParentDir);
    match (path.is_absolute(), has_parent) {
        (false, _) => Err("an absolute path is needed".to_owned()),
        (true, true) => Err("`..` is not allowed".to_owned()),
        (true, false) => Ok(()),
    }
}

fn check_target(target: &Path) -> Result<(), String> {
    let plain: PathBuf = target.components().collect();
    if plain == Path::new("/") || FORBIDDEN.iter().any(|dir| plain.starts_with(dir)) {
        return Err("this place in a container is the engine's own".to_owned());
    }
    Ok(())
}

/// The path itself, something inside it or something around it is forbidden.
fn is_forbidden(source: &Path, more: &[PathBuf]) -> bool {
    let more = more.iter().flat_map(|path| {
        let resolved = std::fs::canonicalize(path).ok();
        [Some(path.clone()), resolved].into_iter().flatten()
    });
    let mut all = FORBIDDEN.iter().map(PathBuf::from).chain(more);
    all.any(|path| source.starts_with(&path) || path.starts_with(source))
}

/// Device and inode of a directory or file that may be mounted.
fn look(source: &Path) -> Result<(u64, u64), String> {
    let failed = |e: rustix::io::Errno| format!("cannot be examined: {}", std::io::Error::from(e));
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::open(source, flags, Mode::empty()).map_err(failed)?;
    let stat = rustix::fs::fstat(&file).map_err(failed)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory | FileType::RegularFile => {}
        _ => return Err("is neither a directory nor an ordinary file".to_owned()),
    }
    let system = rustix::fs::fstatfs(&file).map_err(failed)?;
    if u64::try_from(system.f_type).is_ok_and(|kind| KERNEL.contains(&kind)) {
        return Err("belongs to the kernel and may never be mounted into a container".to_owned());
    }
    Ok((stat.st_dev, stat.st_ino))
}

/// Whether a started container sees what was checked; true also when it has ended already.
pub fn is_as_checked(pid: u32, checked: &Checked) -> bool {
    let seen = || -> rustix::io::Result<(u64, u64)> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let root: OwnedFd = rustix::fs::open(format!("/proc/{pid}/root"), flags, Mode::empty())?;
        let in_root = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let target = checked.target.trim_start_matches('/');
        let file = rustix::fs::openat2(&root, target, flags, Mode::empty(), in_root)?;
        let stat = rustix::fs::fstat(&file)?;
        Ok((stat.st_dev, stat.st_ino))
    };
    let is_there = || crate::proc::stat(pid).is_some_and(|stat| !stat.is_exiting);
    seen().is_ok_and(|identity| identity == checked.identity) || !is_there()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn mount(source: &Path) -> Mount {
        mount_at(source, "/data")
    }

    fn mount_at(source: &Path, target: &str) -> Mount {
        let source = source.to_str().unwrap().to_owned();
        Mount { source, target: target.to_owned(), read_only: false }
    }

    #[test]
    fn only_what_lies_below_an_allowed_directory_is_mounted() {
        let dir = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(dir.path()).unwrap();
        let (allowed, other) = (base.join("allowed"), base.join("allowed-not"));
        for path in [&allowed, &other, &allowed.join("deep"), &allowed.join("agent")] {
            std::fs::create_dir(path).unwrap();
        }
        std::fs::write(allowed.join("file"), "").unwrap();
        std::fs::write(other.join("secret"), "").unwrap();
        symlink(&other, allowed.join("out")).unwrap();
        symlink(allowed.join("deep"), allowed.join("in")).unwrap();
        symlink("/proc", allowed.join("kernel")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(allowed.join("engine.sock")).unwrap();
        let rules = Rules {
            allowed: vec![allowed.clone(), base.join("not-there")],
            forbidden: vec![allowed.join("agent")],
            allow_privileged: false,
        };
        let fine = [allowed.join("deep"), allowed.join("file"), allowed.join("in")];
        for source in &fine {
            assert!(check_mount(&mount(source), &rules).is_ok(), "{}", source.display());
        }
        let kept = check_mount(&mount(&allowed.join("in")), &rules).map(|checked| checked.source);
        assert_eq!(kept, Ok(allowed.join("deep")));
        let refused = [
            (allowed.clone(), "never"),
            (allowed.join("agent"), "never"),
            (other.clone(), "may not be mounted"),
            (other.join("secret"), "may not be mounted"),
            (allowed.join("out"), "which is"),
            (allowed.join("out/secret"), "may not be mounted"),
            (allowed.join("deep/../../allowed-not"), "`..`"),
            (allowed.join("kernel"), "never"),
            (allowed.join("kernel/self"), "never"),
            (allowed.join("kernel/self/root/etc"), "may not be mounted"),
            (allowed.join("engine.sock"), "neither"),
            (allowed.join("missing"), "cannot be used"),
            ("/".into(), "never"),
            ("/proc/self".into(), "never"),
            ("/sys".into(), "never"),
            ("/dev/null".into(), "never"),
            ("relative".into(), "absolute"),
        ];
        for (source, words) in refused {
            let why = check_mount(&mount(&source), &rules).map(|_| ()).unwrap_err();
            assert!(why.contains(words), "{}: {why}", source.display());
        }
    }

    #[test]
    fn the_engines_socket_is_never_mounted_by_whatever_name() {
        let dir = tempfile::tempdir().unwrap();
        let base = std::fs::canonicalize(dir.path()).unwrap();
        let (allowed, real) = (base.join("allowed"), base.join("allowed/run"));
        std::fs::create_dir_all(&real).unwrap();
        std::fs::create_dir(allowed.join("fine")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(real.join("engine.sock")).unwrap();
        symlink(&real, base.join("var-run")).unwrap();
        symlink(base.join("var-run/engine.sock"), allowed.join("harmless")).unwrap();
        symlink(&real, allowed.join("around")).unwrap();
        let told = base.join("var-run/engine.sock");
        let rules =
            Rules { allowed: vec![base.clone()], forbidden: vec![told], ..Rules::default() };
        for source in ["allowed/run/engine.sock", "var-run/engine.sock", "allowed/harmless"] {
            let why = check_mount(&mount(&base.join(source)), &rules).map(|_| ()).unwrap_err();
            assert!(why.contains("never"), "{source}: {why}");
        }
        for source in ["allowed/run", "var-run", "allowed/around", "allowed", "."] {
            let why = check_mount(&mount(&base.join(source)), &rules).map(|_| ()).unwrap_err();
            assert!(why.contains("never"), "{source}: {why}");
        }
        assert!(check_mount(&mount(&allowed.join("fine")), &rules).is_ok());
    }

    #[test]
    fn some_targets_are_not_for_users() {
        let dir = tempfile::tempdir().unwrap();
        let rules = Rules { allowed: vec![dir.path().to_owned()], ..Rules::default() };
        for target in ["/", "/proc", "/proc/sys", "/sys/fs", "/dev", "//", "/.", "rel", "/a/../b"] {
            assert!(check_mount(&mount_at(dir.path(), target), &rules).is_err(), "{target}");
        }
        assert!(check_mount(&mount_at(dir.path(), "/procession"), &rules).is_ok());
    }

    #[test]
    fn nothing_is_allowed_unless_it_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let why = check_mount(&mount(dir.path()), &Rules::default()).map(|_| ()).unwrap_err();
        assert!(why.contains("no mounts"), "{why}");
        let privileged = Container { privileged: true, ..Container::default() };
        assert!(check(&privileged, &Rules::default()).is_err());
        let rules = Rules { allow_privileged: true, ..Rules::default() };
        assert!(check(&privileged, &rules).is_ok());
    }
}
