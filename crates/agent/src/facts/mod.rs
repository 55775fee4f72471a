//! What this machine is: collected anew for every session, from files of the kernel, a mount table and
//! the container engine's socket. Devices that have a life of their own are looked after elsewhere
//! (`gpu`).
//!
//! Nothing here can fail: a fact that cannot be found out is left at its default. Everything blocks
//! on the file system, and for at most [`ENGINE_TIMEOUT`] on a container engine; callers run it on a
//! thread of its own.

mod parse;
pub(crate) mod sensors;

pub(crate) use parse::{cpu_times, first_number, meminfo};

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hostler_base::{Clock, Tasks};
use hostler_model::{Bytes, Cores, DiskFact, Facts, GpuFact, NumaFact};

use crate::gpu::Devices;

/// How long a container engine may take to say its version.
const ENGINE_TIMEOUT: Duration = Duration::from_millis(300);
/// How long a driver may take to list its devices; waking one takes seconds.
const DEVICES_TIMEOUT: Duration = Duration::from_secs(8);
/// The most that is read of an engine's answer.
const ANSWER_MAX: u64 = 64 * 1024;
const DISKS_MAX: usize = 64;

/// Looks at this machine, as far as this agent is told of it.
#[derive(Clone)]
pub(crate) struct Looker {
    pub devices: Arc<Devices>,
    /// Where the container engine of this agent listens.
    pub engine: Arc<Path>,
    pub is_metered: bool,
}

impl Looker {
    pub async fn look(&self, tasks: &Tasks, clock: &Clock) -> Facts {
        self.with(Devices::look, tasks, clock).await
    }

    /// The same, with another chance for devices that were out of service.
    pub async fn look_anew(&self, tasks: &Tasks, clock: &Clock) -> Facts {
        self.with(Devices::look_anew, tasks, clock).await
    }

    /// The version of the container engine, where one answers.
    pub async fn look_for_engine(&self, tasks: &Tasks) -> Option<String> {
        let engine = self.engine.clone();
        tasks.run_blocking("engine", move || container_engine(&engine)).await.ok().flatten()
    }

    /// A driver that does not answer in time holds nobody up: its devices are as they were known.
    async fn with(
        &self,
        look: fn(&Devices) -> Vec<GpuFact>,
        tasks: &Tasks,
        clock: &Clock,
    ) -> Facts {
        let devices = self.devices.clone();
        let look = tasks.run_blocking("gpus", move || look(&devices));
        let gpus = match clock.timeout(DEVICES_TIMEOUT, look).await {
            Ok(Ok(gpus)) => gpus,
            Ok(Err(_)) | Err(_) => self.devices.facts(),
        };
        let engine = self.engine.clone();
        let facts = tasks.run_blocking("facts", move || collect(&engine)).await.unwrap_or_default();
        Facts { gpus, is_metered: self.is_metered, ..facts }
    }
}

/// Everything that can be found out about this machine but its devices.
fn collect(engine: &Path) -> Facts {
    let os_release = first_of(&["/etc/os-release", "/usr/lib/os-release"]);
    let memory = text("/proc/meminfo");
    let mounts = text("/proc/self/mounts");
    let uname = rustix::system::uname();
    let words = |value: &std::ffi::CStr| value.to_string_lossy().into_owned();
    Facts {
        hostname: words(uname.nodename()),
        os: parse::os_release(&os_release, "PRETTY_NAME").unwrap_or_default(),
        kernel: words(uname.release()),
        architecture: words(uname.machine()),
        boot_id: text("/proc/sys/kernel/random/boot_id").trim().to_owned(),
        machine_id: text("/etc/machine-id").trim().to_owned(),
        timezone: crate::zone::name(),
        cores: cores(),
        cpu_model: parse::cpu_model(&text("/proc/cpuinfo")).unwrap_or_default(),
        memory: usable_memory(&memory),
        swap: Bytes::new(meminfo(&memory, "SwapTotal").unwrap_or_default()),
        numa: numa(Path::new("/sys/devices/system/node")),
        disks: disks(&mounts),
        addresses: addresses(),
        cgroup: parse::cgroup_kind(&mounts).to_owned(),
        container_engine: container_engine(engine),
        gpus: Vec::new(),
        temperatures: sensors::temperatures(Path::new(sensors::SYS)),
        disk_health: sensors::disk_health(Path::new(sensors::SYS)),
        is_metered: false,
        is_root: rustix::process::geteuid().is_root(),
    }
}

pub(crate) fn text(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn first_of(paths: &[&str]) -> String {
    paths.iter().map(text).find(|content| !content.is_empty()).unwrap_or_default()
}

/// What the scheduler will give to this process: affinity and cgroup quotas are respected.
fn cores() -> Cores {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    Cores::from_millis(u32::try_from(count).unwrap_or(u32::MAX).saturating_mul(1000))
}

/// The machine's memory, or the limit of the container that the agent is in.
fn usable_memory(meminfo_text: &str) -> Bytes {
    let total = meminfo(meminfo_text, "MemTotal").unwrap_or_default();
    let limit = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|path| text(path).trim().parse::<u64>().ok())
        .filter(|limit| *limit > 0);
    Bytes::new(limit.map_or(total, |limit| limit.min(total)))
}

fn numa(folder: &Path) -> Vec<NumaFact> {
    let mut found: Vec<NumaFact> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let index = entry.file_name().to_str()?.strip_prefix("node")?.parse().ok()?;
            Some(NumaFact {
                index,
                cpus: text(entry.path().join("cpulist")).trim().to_owned(),
                memory: Bytes::new(
                    meminfo(&text(entry.path().join("meminfo")), "MemTotal").unwrap_or_default(),
                ),
            })
        })
        .collect();
    found.sort_by_key(|node| node.index);
    found
}

fn disks(mounts: &str) -> Vec<DiskFact> {
    parse::storage_mounts(mounts)
        .into_iter()
        .filter_map(|mount| {
            let space = disk_space(Path::new(&mount.point))?;
            Some(DiskFact {
                mount: mount.point,
                device: mount.device,
                filesystem: mount.filesystem,
                size: space.size,
                available: space.available,
            })
        })
        .take(DISKS_MAX)
        .collect()
}

pub(crate) struct DiskSpace {
    pub size: Bytes,
    pub free: Bytes,
    /// To this process: without what is reserved for root.
    pub available: Bytes,
}

pub(crate) fn disk_space(path: &Path) -> Option<DiskSpace> {
    let stat = rustix::fs::statvfs(path).ok()?;
    let bytes = |blocks: u64| Bytes::new(blocks.saturating_mul(stat.f_frsize));
    Some(DiskSpace {
        size: bytes(stat.f_blocks),
        free: bytes(stat.f_bfree),
        available: bytes(stat.f_bavail),
    })
}

fn addresses() -> Vec<String> {
    let four = parse::ipv4_addresses(&text("/proc/net/fib_trie"));
    let six = parse::ipv6_addresses(&text("/proc/net/if_inet6"));
    four.iter().map(ToString::to_string).chain(six.iter().map(ToString::to_string)).collect()
}

/// Asks an engine for its version; `None` when none listens there or it takes too long.
fn container_engine(socket: &Path) -> Option<String> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(ENGINE_TIMEOUT)).ok()?;
    stream.set_write_timeout(Some(ENGINE_TIMEOUT)).ok()?;
    stream.write_all(b"GET /version HTTP/1.0\r\nHost: engine\r\n\r\n").ok()?;
    let mut answer = Vec::new();
    stream.take(ANSWER_MAX).read_to_end(&mut answer).ok()?;
    parse::container_engine(&String::from_utf8_lossy(&answer))
}

/// The hottest of the machine's sensors, in degrees Celsius.
pub(crate) fn hottest() -> Option<f64> {
    sensors::hottest(Path::new(sensors::SYS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn this_machine_has_the_facts_that_every_machine_has() {
        let facts = collect(Path::new("/nowhere"));
        assert!(facts.cores >= Cores::from_millis(1000));
        assert!(facts.memory > Bytes::mib(64));
        assert_eq!(facts.boot_id.len(), 36);
        assert!(!facts.kernel.is_empty() && !facts.architecture.is_empty());
        assert!(["v2", "hybrid", "v1", "none"].contains(&facts.cgroup.as_str()));
    }

    #[test]
    fn a_silent_container_engine_costs_little_time() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("engine.sock");
        let _listener = UnixListener::bind(&socket).unwrap();
        let begun = std::time::Instant::now();
        assert_eq!(container_engine(&socket), None);
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert_eq!(container_engine(&folder.path().join("absent")), None);
    }

    #[test]
    fn numa_nodes_are_read_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for (index, cpus) in [(1, "4-7\n"), (0, "0-3\n")] {
            let node = folder.path().join(format!("node{index}"));
            std::fs::create_dir(&node).unwrap();
            std::fs::write(node.join("cpulist"), cpus).unwrap();
            std::fs::write(node.join("meminfo"), format!("Node {index} MemTotal: 4 kB\n")).unwrap();
        }
        std::fs::write(folder.path().join("online"), "0-1").unwrap();
        let found = numa(folder.path());
        assert_eq!(found.iter().map(|n| n.cpus.as_str()).collect::<Vec<_>>(), ["0-3", "4-7"]);
        assert_eq!(found[1].memory, Bytes::new(4096));
    }
}
