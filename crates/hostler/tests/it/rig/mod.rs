//! Installations made of real processes.
//!
//! A [`Rig`] is a temporary directory in which everything of a test lives: data, logs, the command
//! line's own files. Ports are chosen by the kernel and read from the log. Nothing is waited for by
//! sleeping: [`until`] asks until a condition holds or a deadline is over.
//!
//! What a test starts ends with it. A [`Process`] is killed when it is dropped; the rig itself goes
//! last, kills whatever still has to do with its directory (executors, shims and tasks outlive their
//! agents by design), removes their cgroups and mounts, and prints every log if the test has failed.

mod agent;
mod alone;
mod barrier;
mod cli;
mod collector;
mod database;
mod docker;
mod https;
mod postgres;
mod process;
mod prometheus;
mod provider;
mod server;

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::mount::{MountFlags, UnmountFlags};
use rustix::process::{Pid, Signal};
use serde_json::Value;

pub use agent::Agent;
pub use alone::Alone;
pub use barrier::Barrier;
pub use cli::{BINARY, Cli, Output, pid_of};
pub use collector::Collector;
pub use database::{Database, Proxy};
pub use docker::{Docker, IMAGE, OwnEngine};
pub use https::{Https, Reply};
pub use postgres::Postgres;
pub use process::{Process, command};
pub use prometheus::Prometheus;
pub use provider::{Provider, Returned};
pub use server::{PASSWORD, Server};

/// How long anything may take on a busy machine.
pub const DEADLINE: Duration = Duration::from_secs(60);
/// How often a condition is looked at.
const PACE: Duration = Duration::from_millis(20);

/// Asks until there is an answer; panics after [`DEADLINE`].
pub fn until<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    until_within(DEADLINE, what, ask)
}

pub fn until_within<T>(deadline: Duration, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begun.elapsed() < deadline, "waited {deadline:?} in vain until {what}");
        std::thread::park_timeout(PACE);
    }
}

/// Everything of one test.
pub struct Rig {
    /// Its real path, as it shows in `/proc`.
    pub dir: PathBuf,
    mounts: Mutex<Vec<PathBuf>>,
    _temporary: tempfile::TempDir,
}

impl Rig {
    pub fn new() -> Rig {
        let temporary = tempfile::Builder::new().prefix("hostler-e2e-").tempdir().unwrap();
        let dir = temporary.path().canonicalize().unwrap();
        std::fs::create_dir(dir.join("logs")).unwrap();
        Rig { dir, mounts: Mutex::default(), _temporary: temporary }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// A file system of its own, as small as asked for. Needs root.
    pub fn mount_small(&self, name: &str, size: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir(&path).unwrap();
        let options = std::ffi::CString::new(format!("size={size},mode=0755")).unwrap();
        rustix::mount::mount("tmpfs", &path, "tmpfs", MountFlags::empty(), options.as_c_str())
            .unwrap();
        self.mounts.lock().unwrap().push(path.clone());
        path
    }

    /// Kills whatever has to do with this rig until there is nothing left.
    fn sweep(&self) {
        let begun = Instant::now();
        loop {
            let left = processes_of(&self.dir);
            if left.is_empty() {
                return;
            }
            for pid in &left {
                kill(*pid, Signal::KILL);
            }
            if begun.elapsed() > Duration::from_secs(20) {
                eprintln!("these processes cannot be ended: {left:?}");
                return;
            }
            std::thread::park_timeout(PACE);
        }
    }

    fn remove_cgroups(&self) {
        let children = |dir: &Path| -> Vec<PathBuf> {
            let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect()
        };
        let mut places = children(&self.dir);
        places.extend(children(&self.dir).iter().map(|place| place.join("agent")));
        for run in places.iter().flat_map(|place| children(&place.join("runs"))) {
            let record = std::fs::read(run.join("started.json")).unwrap_or_default();
            let record: Value = serde_json::from_slice(&record).unwrap_or_default();
            if let Some(cgroup) = record["cgroup"].as_str() {
                let _ = std::fs::remove_dir(cgroup);
            }
        }
    }

    fn print_logs(&self) {
        let entries = std::fs::read_dir(self.dir.join("logs")).into_iter().flatten().flatten();
        let logs: BTreeSet<PathBuf> = entries.map(|entry| entry.path()).collect();
        for log in logs {
            let name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = std::fs::read(&log).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            let lines: Vec<&str> = text.lines().collect();
            let skipped = lines.len().saturating_sub(300);
            eprintln!("----- {name} ({skipped} lines left out)\n{}", lines[skipped..].join("\n"));
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.sweep();
        if std::thread::panicking() {
            self.print_logs();
        }
        self.remove_cgroups();
        for mount in self.mounts.lock().unwrap().iter() {
            let _ = rustix::mount::unmount(mount, UnmountFlags::DETACH);
        }
    }
}

/// Processes that were started in or for a directory, but for this one.
fn processes_of(dir: &Path) -> Vec<u32> {
    let needle = dir.as_os_str().as_bytes();
    let mentions = |bytes: &[u8]| bytes.windows(needle.len()).any(|part| part == needle);
    let read = |pid: u32, file: &str| std::fs::read(format!("/proc/{pid}/{file}"));
    pids()
        .into_iter()
        .filter(|pid| *pid != std::process::id() && !is_zombie(*pid))
        .filter(|pid| {
            let words = ["cmdline", "environ"].map(|file| read(*pid, file).unwrap_or_default());
            let place = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
            words.iter().any(|text| mentions(text)) || place.starts_with(dir)
        })
        .collect()
}

pub fn pids() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The fields of `/proc/PID/stat` after the name; nothing when the process is gone.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_ascii_whitespace().map(str::to_owned).collect())
}

fn is_zombie(pid: u32) -> bool {
    stat(pid).is_none_or(|fields| fields[0] == "Z")
}

/// Tells a process from a later one with the same number. `None` when it does not run any more.
pub fn birth(pid: u32) -> Option<(u32, String)> {
    let fields = stat(pid).filter(|fields| fields[0] != "Z" && fields[0] != "X")?;
    Some((pid, fields[19].clone()))
}

pub fn is_running(pid: u32) -> bool {
    birth(pid).is_some()
}

pub fn kill(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    let _already_gone = rustix::process::kill_process(pid, signal);
}

/// Takes every byte there is, in a file `filler`.
pub fn fill(dir: &Path) {
    use std::io::Write;
    let mut file = std::fs::File::create(dir.join("filler")).unwrap();
    for size in [1 << 16, 1 << 10, 1] {
        while file.write_all(&vec![0; size]).is_ok() {}
    }
    let _ = file.sync_all();
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub fn has_python() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join("python3").exists())
}

/// Says why a test does nothing here.
pub fn skipped(why: &str) {
    println!("SKIPPED: {why}");
}
