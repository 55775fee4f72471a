//! One cgroup per run: nothing a run leaves behind escapes being ended, and its limits are kept.
//!
//! Where a cgroup v2 hierarchy is mounted (alone, or beside v1 as "hybrid") and we may write to it,
//! every run gets `<root>/hostler/<run id>`, and is born inside. The root is the part that a service
//! manager has delegated to the agent, else the top of the mount. A cgroup that hands controllers down
//! may hold no processes itself, and systemd before 254 can then start nothing in it any more, not even
//! the agent anew. So a service lives in a slice of its own, `hostler.slice`, and runs beside it. Where
//! only the agent's unit is ours, the executor first moves itself and its agent, and nobody else, to
//! `<root>/agent`; shims are born there.
//!
//! Limits go to v2 where it has the controller, else to v1, where each controller has a hierarchy of
//! its own: `<mount>/hostler/<run id>` is made there only for runs that need it, and the child moves
//! itself in before it becomes the program. What neither can do is not an error: it is told in words
//! (`unenforced`), and memory falls back on a limit of each process's address space. Where there are
//! no cgroups at all, callers fall back on the process group and on being the child subreaper.
//!
//! Commands beside the program (hooks, exec) get a cgroup inside the run's, with no controllers of its
//! own: it is there only to end exactly what such a command has started.
//!
//! Making a cgroup and removing it costs more than a short run needs otherwise, so a shim that goes on with
//! another run keeps the one that it has, under its first name, for runs with the same limits (`again`).
//!
//! A service manager that starts the agent anew may take controllers away from what it delegated, and
//! the limits with them; [`renew`] writes them again when a run is found alive. A crash leaves at worst
//! empty directories, which [`end`] and [`sweep`] clear on recovery; what is left of runs that nobody
//! knows any more goes when an executor starts.

mod again;
mod bound;
mod cpuset;
mod find;

use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hostler_model::RunId;
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::wire::{Binding, Bounds};
use crate::{proc, sys};
use bound::{Bound, Version};

use again::Since;
pub use cpuset::renew as renew_binding;

const PARENT: &str = "hostler";
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Of use to every run: accounting, and words for out-of-memory kills. The cpu controller costs every
/// process something, and is put to work with the first run that needs it.
const ALWAYS: [&str; 3] = ["memory", "pids", "io"];

/// Where the cgroups of runs are made.
#[derive(Default)]
pub struct Root {
    unified: Option<Unified>,
    old: Vec<(String, PathBuf)>,
}

struct Unified {
    above: PathBuf,
    parent: Group,
}

impl Root {
    /// Finds the hierarchies and makes our directory in the unified one. For the executor alone.
    pub fn find() -> Root {
        let mounts = find::mounts();
        let unified = mounts.unified.and_then(|mount| {
            let above = match find::given(&mount) {
                Some(given) => {
                    if given.is_home {
                        make_room(&given.dir);
                    }
                    given.dir
                }
                None => mount,
            };
            let parent = Group::make(above.join(PARENT)).ok()?;
            for controller in ALWAYS {
                enable(&above, &parent.path, controller);
            }
            Some(Unified { above, parent })
        });
        let parents = mounts.old.iter().map(|(_, mount)| mount.join(PARENT));
        for parent in parents.chain(unified.as_ref().map(|u| u.parent.path.clone())) {
            clear_stale(&parent);
        }
        Root { unified, old: mounts.old }
    }

    /// What a run is confined to. Never fails: what cannot be had is said.
    pub fn make(&self, run_id: RunId, bounds: &Bounds, binding: &Binding) -> Confinement {
        let name = run_id.to_string();
        let group = self.unified.as_ref().and_then(|unified| unified.parent.make_in(&name).ok());
        let mut made =
            Confinement { group, bounds: *bounds, since: Since::now(), ..Confinement::default() };
        self.bind(binding, &name, &mut made);
        for bound in bound::bounds(bounds) {
            if let Err(why) = self.put_in_force(&bound, &name, &mut made) {
                made.unenforced.push(format!("{}: {why}", bound.name));
                made.is_memory_by_rlimit |= bound.name == "memory";
            }
        }
        made
    }

    fn put_in_force(
        &self,
        bound: &Bound,
        name: &str,
        made: &mut Confinement,
    ) -> Result<(), String> {
        if let (Some(unified), Some(group)) = (&self.unified, &made.group)
            && has_controller(&unified.above, &unified.parent.path, &group.path, bound)
        {
            return write_bound(&group.path, bound, Version::Two);
        }
        let controller = bound.controller(Version::One);
        let mount = self.old.iter().find(|(name, _)| name == controller);
        let dir = mount.and_then(|(_, mount)| make_old(mount, name).ok());
        let Some(dir) = dir else {
            let instead = match bound.name {
                "memory" => "; the address space of each process is limited instead",
                _ => "",
            };
            let controller = bound.controller(Version::Two);
            return Err(format!("this node has no {controller} controller{instead}"));
        };
        if !made.old.contains(&dir) {
            made.old.push(dir.clone());
        }
        write_bound(&dir, bound, Version::One)
    }
}

/// Everything that confines one run.
#[derive(Default)]
pub struct Confinement {
    pub group: Option<Group>,
    /// Directories of version 1, in the hierarchies of controllers that the run needs.
    pub old: Vec<PathBuf>,
    /// Limits that are not in force, in words.
    pub unenforced: Vec<String>,
    pub is_memory_by_rlimit: bool,
    bounds: Bounds,
    since: Since,
}

impl Confinement {
    /// Moves the calling process into the directories of version 1.
    pub fn enter_old(&self) -> io::Result<()> {
        self.old.iter().try_for_each(|dir| std::fs::write(dir.join("cgroup.procs"), "0"))
    }

    /// How often the kernel has killed something in here for memory.
    pub fn oom_kills(&self) -> u64 {
        let unified = self.group.iter().map(|group| group.path.join("memory.events"));
        let old = self.old.iter().map(|dir| dir.join("memory.oom_control"));
        unified.chain(old).map(|file| number_after(&file, "oom_kill ")).sum()
    }

    pub fn remove(&self) {
        if let Some(group) = &self.group {
            group.remove();
        }
        for dir in &self.old {
            remove_tree(dir);
        }
    }
}

/// One directory of the unified hierarchy.
pub struct Group {
    fd: OwnedFd,
    path: PathBuf,
}

impl Group {
    fn make(path: PathBuf) -> io::Result<Group> {
        match std::fs::create_dir(&path) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
        let fd = rustix::fs::open(&path, DIRECTORY, Mode::empty())?;
        Ok(Group { fd, path })
    }

    /// A cgroup inside this one.
    pub fn make_in(&self, name: &str) -> io::Result<Group> {
        match rustix::fs::mkdirat(&self.fd, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(e) => return Err(e.into()),
        }
        let fd = rustix::fs::openat(&self.fd, name, DIRECTORY, Mode::empty())?;
        Ok(Group { fd, path: self.path.join(name) })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the calling process in, for kernels that cannot fork into a cgroup.
    pub fn enter(&self) -> io::Result<()> {
        self.write("cgroup.procs", "0")
    }

    /// Kills everything inside, atomically where the kernel can (from 5.14 on).
    pub fn kill(&self) {
        if self.write("cgroup.kill", "1").is_err() {
            kill_each(&self.path);
        }
    }

    /// Processes inside.
    pub fn count(&self) -> usize {
        processes(&self.path).len()
    }

    /// False when something is still inside.
    pub fn remove(&self) -> bool {
        remove_tree(&self.path)
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, file, flags, Mode::empty())?;
        std::fs::File::from(fd).write_all(text.as_bytes())
    }
}

impl AsFd for Group {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// How old a run has to be for an empty cgroup of it to be nobody's: a shim that is about to put a
/// process into its own takes milliseconds.
const STALE: Duration = Duration::from_secs(600);

/// Removes what is left of runs whose shims were killed and whose records are gone, so that nobody
/// will come for it. The kernel keeps whatever has anything in it.
fn clear_stale(parent: &Path) {
    let now = Duration::from_micros(sys::now().micros().unsigned_abs());
    for dir in inner(parent) {
        let name = dir.file_name().and_then(|name| name.to_str()).map(str::parse::<RunId>);
        let born = match name {
            Some(Ok(run_id)) => run_id.uuid().get_timestamp(),
            _ => None,
        };
        let is_stale = born.is_some_and(|born| {
            let (seconds, nanos) = born.to_unix();
            now.saturating_sub(Duration::new(seconds, nanos)) > STALE
        });
        if is_stale {
            let _ = std::fs::remove_dir(&dir);
        }
    }
}

/// Leaves the delegated cgroup itself free of our processes, so that it can hand controllers down. The
/// agent is moved only out of the cgroup that we are in as well: a parent elsewhere is not it.
fn make_room(given: &Path) {
    let leaf = given.join(find::LEAF);
    let _ = std::fs::create_dir(&leaf);
    let cgroup = |pid: u32| std::fs::read_to_string(format!("/proc/{pid}/cgroup")).ok();
    let me = std::process::id();
    let agent = rustix::process::getppid().and_then(|pid| u32::try_from(pid.as_raw_pid()).ok());
    let agent = agent.filter(|pid| cgroup(*pid) == cgroup(me));
    for pid in agent.into_iter().chain([me]) {
        let _ = std::fs::write(leaf.join("cgroup.procs"), pid.to_string());
    }
}

fn enable(above: &Path, parent: &Path, controller: &str) {
    for dir in [above, parent] {
        let _ = std::fs::write(dir.join("cgroup.subtree_control"), format!("+{controller}"));
    }
}

/// Whether a limit can be kept by version 2 here, trying to make it so.
fn has_controller(above: &Path, parent: &Path, group: &Path, bound: &Bound) -> bool {
    let sign = group.join(bound.sign());
    sign.exists() || {
        enable(above, parent, bound.controller(Version::Two));
        sign.exists()
    }
}

fn make_old(mount: &Path, name: &str) -> io::Result<PathBuf> {
    let dir = mount.join(PARENT).join(name);
    std::fs::create_dir_all(&dir)?;
    Ok(dir)
}

fn write_bound(dir: &Path, bound: &Bound, version: Version) -> Result<(), String> {
    let try_write = |file: &str, text: &str| {
        let mut file = std::fs::OpenOptions::new().write(true).open(dir.join(file))?;
        file.write_all(text.as_bytes())
    };
    for write in bound.writes(version) {
        let written = try_write(write.file, &write.text).or_else(|e| match &write.else_write {
            Some((file, text)) if e.kind() == io::ErrorKind::NotFound => try_write(file, text),
            _ => Err(e),
        });
        match written {
            Err(e) if write.is_needed && e.kind() == io::ErrorKind::NotFound => {
                let controller = bound.controller(version);
                return Err(format!("this node's {controller} controller cannot do that"));
            }
            Err(e) if write.is_needed => return Err(format!("this node refuses it: {e}")),
            _ => {}
        }
    }
    Ok(())
}

/// Puts the limits of a run that was found alive into force again, should they have been lost.
pub fn renew(group: &Path, bounds: &Bounds) {
    let above = group.parent().and_then(|parent| Some((parent.parent()?, parent)));
    let Some((above, parent)) = above.filter(|_| is_ours(group)) else { return };
    for bound in bound::bounds(bounds) {
        if has_controller(above, parent, group, &bound)
            && let Err(why) = write_bound(group, &bound, Version::Two)
        {
            tracing::warn!(cgroup = %group.display(), limit = bound.name, why, "limit not renewed");
        }
    }
}

/// How long the kernel may take to end what was killed.
const PATIENCE: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(5);

/// Ends whatever is left in the cgroups of a run whose shim is gone, and removes them. How many
/// processes there were.
pub fn end<'a>(dirs: impl Iterator<Item = &'a Path>) -> usize {
    let mut most = 0;
    for dir in dirs.filter(|dir| is_ours(dir)) {
        most = most.max(processes(dir).len());
        let deadline = sys::boottime() + PATIENCE;
        loop {
            if std::fs::write(dir.join("cgroup.kill"), "1").is_err() {
                kill_each(dir);
            }
            if remove_tree(dir) || sys::boottime() > deadline {
                break;
            }
            sys::poll(&mut [], Some(STEP));
        }
    }
    most
}

/// Removes what a start that came to nothing may have made.
pub fn sweep(run_id: RunId) {
    let mounts = find::mounts();
    let given = mounts.unified.as_deref().and_then(find::given).map(|given| given.dir);
    let old = mounts.old.into_iter().map(|(_, mount)| mount);
    for root in mounts.unified.into_iter().chain(given).chain(old) {
        remove_tree(&root.join(PARENT).join(run_id.to_string()));
    }
}

/// A path read from disk is used only when it has the shape we give.
fn is_ours(path: &Path) -> bool {
    let mounts = find::mounts();
    let mut points = mounts.unified.into_iter().chain(mounts.old.into_iter().map(|(_, at)| at));
    has_our_shape(path) && points.any(|mount| path.starts_with(mount))
}

fn has_our_shape(path: &Path) -> bool {
    use std::path::Component;
    let name = path.file_name().and_then(|name| name.to_str());
    path.is_absolute()
        && path.components().all(|c| matches!(c, Component::RootDir | Component::Normal(_)))
        && name.is_some_and(|name| name.parse::<RunId>().is_ok())
        && path.parent().is_some_and(|parent| parent.ends_with(PARENT))
}

/// Every process in a cgroup and those inside it.
pub fn processes(dir: &Path) -> Vec<u32> {
    let list = std::fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    let mut found: Vec<u32> =
        list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    for entry in inner(dir) {
        found.extend(processes(&entry));
    }
    found
}

/// The directories in a cgroup. Mostly there are none, which the number of links tells at once.
fn inner(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let has_any = dir.metadata().is_ok_and(|of| of.nlink() != 2);
    let entries = has_any.then(|| std::fs::read_dir(dir)).into_iter().flatten().flatten().flatten();
    entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path())
}

fn kill_each(dir: &Path) {
    for pid in processes(dir) {
        proc::kill_if(pid, |pid| processes(dir).contains(&pid));
    }
}

fn remove_tree(path: &Path) -> bool {
    let rmdir = || rustix::fs::unlinkat(rustix::fs::CWD, path, AtFlags::REMOVEDIR);
    match rmdir() {
        Ok(()) | Err(rustix::io::Errno::NOENT) => return true,
        Err(_) => {}
    }
    for entry in inner(path) {
        remove_tree(&entry);
    }
    rmdir().is_ok()
}

/// The cgroups that count what a process uses.
pub fn of_process(pid: u32) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
    find::places(&text, &find::mounts())
}

/// The number that follows a word in a file of such pairs; zero where there is none.
pub fn number_after(file: &Path, word: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().find_map(|line| line.strip_prefix(word)?.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_our_own_shape_are_touched() {
        let id = "0192f3c4-0000-7000-8000-000000000000";
        for ours in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/x/a.service"] {
            assert!(has_our_shape(Path::new(&format!("{ours}/hostler/{id}"))), "{ours}");
        }
        for other in [
            "/sys/fs/cgroup".to_owned(),
            "/sys/fs/cgroup/hostler".to_owned(),
            "/sys/fs/cgroup/hostler/init.scope".to_owned(),
            format!("/sys/fs/cgroup/system.slice/{id}"),
            format!("/sys/fs/cgroup/hostler/../{id}"),
            format!("hostler/{id}"),
        ] {
            assert!(!has_our_shape(Path::new(&other)), "{other}");
        }
        assert!(!is_ours(Path::new(&format!("/elsewhere/hostler/{id}"))));
    }

    #[test]
    fn a_node_without_controllers_says_so() {
        let bounds = Bounds { memory: 1 << 20, cpu_weight: 50, io_weight: 9, ..Bounds::default() };
        let made = Root::default().make(
            RunId::from_uuid(uuid::Uuid::from_u128(9)),
            &bounds,
            &Binding::default(),
        );
        assert_eq!(
            made.unenforced,
            [
                "memory: this node has no memory controller; the address space of each process is limited instead",
                "cpuWeight: this node has no cpu controller",
                "ioWeight: this node has no io controller",
            ]
        );
        assert!(made.is_memory_by_rlimit && made.group.is_none() && made.old.is_empty());
    }

    #[test]
    fn only_what_is_old_and_ours_is_cleared_away() {
        let parent = tempfile::tempdir().unwrap();
        let seconds = u64::try_from(sys::now().micros() / 1_000_000).unwrap();
        let at = |seconds| {
            let time = uuid::Timestamp::from_unix_time(seconds, 0, 0, 0);
            uuid::Uuid::new_v7(time).to_string()
        };
        let (old, new) = (at(seconds - 3600), at(seconds));
        let full = at(seconds - 7200);
        for name in [&old, &new, &format!("{full}/inner"), "system.slice"] {
            std::fs::create_dir_all(parent.path().join(name)).unwrap();
        }
        clear_stale(parent.path());
        let mut left: Vec<_> = inner(parent.path())
            .map(|dir| dir.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        left.sort_unstable();
        let mut expected = [new, full, "system.slice".to_owned()];
        expected.sort_unstable();
        assert_eq!(left, expected);
    }
}
