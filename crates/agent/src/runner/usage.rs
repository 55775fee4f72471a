//! What a run uses, read by the agent itself: from its cgroups where they count it, else by adding up
//! what `/proc` says of its processes. A handful of small files for each run, and a single one for a run
//! that has done nothing since it was last looked at.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hostler_model::{Bytes, RunId};

use super::{Runner, Shared, blocking, settle};
use crate::rundir::StartedRecord;
use crate::{cgroup, proc};

/// What a run uses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Processor time so far. Where no cgroup counts it, without that of processes that ended and
    /// were not waited for.
    pub cpu: Duration,
    pub memory: Bytes,
    pub memory_peak: Bytes,
    /// Processes and threads.
    pub pids: u32,
    /// From and to disks, so far.
    pub io_read: Bytes,
    pub io_written: Bytes,
    /// Share of the last ten seconds, in per cent, in which some of it waited for memory.
    pub memory_pressure: Option<f32>,
}

impl Runner {
    /// What a live run uses; `None` when it is not running here.
    pub async fn usage(&self, run_id: RunId) -> Option<Usage> {
        self.usages_of(vec![(run_id, None)]).await.into_iter().next().map(|(_, usage)| usage)
    }

    /// The same of every live run.
    pub async fn usages(&self) -> Vec<(RunId, Usage)> {
        self.usages_of(self.live().into_iter().map(|run| (run, None)).collect()).await
    }

    /// The same of several runs, in one go. Of a run that has used no processor time since an earlier
    /// look nothing else is read: it has done nothing.
    pub async fn usages_of(&self, runs: Vec<(RunId, Option<Usage>)>) -> Vec<(RunId, Usage)> {
        let shared = self.shared().clone();
        let look = move || {
            let everybody = OnceCell::new();
            let each = |(run_id, earlier): (RunId, Option<Usage>)| {
                let record = record_of(&shared, run_id)?;
                Some((run_id, Measured::new(&record, &everybody).usage(earlier)?))
            };
            Ok(runs.into_iter().filter_map(each).collect())
        };
        blocking(look).await.unwrap_or_default()
    }
}

/// Every thread of a live run.
pub(super) fn threads(shared: &Shared, run_id: RunId) -> Vec<u32> {
    let Some(record) = record_of(shared, run_id) else { return Vec::new() };
    let everybody = OnceCell::new();
    let measured = Measured::new(&record, &everybody);
    measured.processes().iter().flat_map(|pid| proc::threads(*pid)).collect()
}

pub(super) fn record_of(shared: &Shared, run_id: RunId) -> Option<Arc<StartedRecord>> {
    let known = match shared.live().get(&run_id) {
        Some(handle) if handle.ended.is_none() => handle.record.clone(),
        _ => return None,
    };
    if let Some(record) = known {
        return Some(record);
    }
    let path = shared.runs.join(run_id.to_string());
    let record = Arc::new(settle::record_at(&path).ok().flatten()?);
    if record.inner.is_some() || !record.is_container {
        shared.live().get_mut(&run_id)?.record = Some(record.clone());
    }
    Some(record)
}

/// A run that is being looked at. What runs in a container is in cgroups that its engine made.
struct Measured<'a> {
    /// The cgroups that count.
    dirs: Vec<PathBuf>,
    /// The one of version 2.
    group: Option<PathBuf>,
    /// The process below which the others are.
    root: u32,
    /// Read once for all runs that have no cgroup.
    everybody: &'a OnceCell<proc::Family>,
    processes: OnceCell<Vec<u32>>,
}

impl<'a> Measured<'a> {
    fn new(record: &StartedRecord, everybody: &'a OnceCell<proc::Family>) -> Measured<'a> {
        let (dirs, group, root) = match record.inner {
            Some(inner) => {
                let dirs = cgroup::of_process(inner.pid);
                let is_second = |dir: &&PathBuf| dir.join("cgroup.controllers").exists();
                let group = dirs.first().filter(is_second).cloned();
                (dirs, group, inner.pid)
            }
            None => {
                let dirs = record.cgroup_dirs().map(Path::to_owned).collect();
                (dirs, record.cgroup.as_deref().map(PathBuf::from), record.shim_pid)
            }
        };
        Measured { dirs, group, root, everybody, processes: OnceCell::new() }
    }

    fn processes(&self) -> &[u32] {
        self.processes.get_or_init(|| match &self.group {
            Some(dir) => cgroup::processes(dir),
            None => self.everybody.get_or_init(proc::Family::read).descendants(self.root),
        })
    }

    fn first(&self, names: &[&str]) -> Option<u64> {
        let files = self.dirs.iter().flat_map(|dir| names.iter().map(|name| dir.join(name)));
        files.map(|file| number(&file)).find_map(|found| found)
    }

    fn cpu(&self) -> Duration {
        let group = self.group.as_ref();
        let counted = group.map(|dir| cgroup::number_after(&dir.join("cpu.stat"), "usage_usec "));
        let counted = counted.or_else(|| self.first(&["cpuacct.usage"]).map(|nanos| nanos / 1000));
        if let Some(micros) = counted.filter(|micros| *micros > 0) {
            return Duration::from_micros(micros);
        }
        let ticks = |pid: &u32| proc::stat(*pid).map_or(0, |stat| stat.cpu_ticks);
        let sum: u64 = self.processes().iter().map(ticks).sum();
        Duration::from_millis(sum * 1000 / rustix::param::clock_ticks_per_second().max(1))
    }

    /// `None` when there are no processes any more.
    fn usage(&self, earlier: Option<Usage>) -> Option<Usage> {
        let cpu = self.cpu();
        if let Some(earlier) = earlier.filter(|earlier| earlier.cpu == cpu) {
            return Some(Usage {
                memory_pressure: earlier.memory_pressure.map(|_| 0.0),
                ..earlier
            });
        }
        let memory = self.first(&["memory.current", "memory.usage_in_bytes"]);
        let peak = self.first(&["memory.peak", "memory.max_usage_in_bytes"]);
        let pids = self.first(&["pids.current"]);
        let io = self.group.as_ref().and_then(|dir| read_io(&dir.join("io.stat")));
        let pressure =
            self.group.as_ref().and_then(|dir| read_pressure(&dir.join("memory.pressure")));

        let is_counted = memory.is_some() && pids.is_some() && io.is_some();
        let added = if is_counted { Added::default() } else { add_up(self.processes())? };
        let memory = memory.unwrap_or(added.memory);
        let (io_read, io_written) = io.unwrap_or((added.io_read, added.io_written));
        Some(Usage {
            cpu,
            memory: Bytes::new(memory),
            memory_peak: Bytes::new(peak.unwrap_or(added.peak).max(memory)),
            pids: pids.map_or(added.threads, |pids| u32::try_from(pids).unwrap_or(u32::MAX)),
            io_read: Bytes::new(io_read),
            io_written: Bytes::new(io_written),
            memory_pressure: pressure,
        })
    }
}

fn number(file: &PathBuf) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn read_io(file: &Path) -> Option<(u64, u64)> {
    Some(parse_io(&std::fs::read_to_string(file).ok()?))
}

/// The sum over all devices.
fn parse_io(text: &str) -> (u64, u64) {
    let sum = |key: &str| {
        text.split_ascii_whitespace()
            .filter_map(|word| word.strip_prefix(key)?.parse::<u64>().ok())
            .fold(0, u64::saturating_add)
    };
    (sum("rbytes="), sum("wbytes="))
}

fn read_pressure(file: &Path) -> Option<f32> {
    parse_pressure(&std::fs::read_to_string(file).ok()?)
}

fn parse_pressure(text: &str) -> Option<f32> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split(' ').find_map(|word| word.strip_prefix("avg10="))?.parse().ok()
}

/// Sums over processes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Added {
    memory: u64,
    peak: u64,
    threads: u32,
    io_read: u64,
    io_written: u64,
}

/// `None` when there are no processes any more.
fn add_up(processes: &[u32]) -> Option<Added> {
    let mut added = Added::default();
    for pid in processes {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok();
        let Some(status) = read("status") else { continue };
        added.add_status(&status);
        let io = read("io").unwrap_or_default();
        added.io_read += after(&io, "read_bytes:");
        added.io_written += after(&io, "write_bytes:");
    }
    (added.threads > 0).then_some(added)
}

impl Added {
    fn add_status(&mut self, status: &str) {
        let resident = after(status, "VmRSS:") << 10;
        self.memory += resident;
        self.peak += resident.max(after(status, "VmHWM:") << 10);
        self.threads += u32::try_from(after(status, "Threads:")).unwrap_or(0);
    }
}

/// The number in the line that begins with a word; zero where there is none.
fn after(text: &str, word: &str) -> u64 {
    let rest = text.lines().find_map(|line| line.strip_prefix(word)).unwrap_or_default();
    rest.split_ascii_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_writes_is_understood() {
        let io = "8:0 rbytes=10 wbytes=20 rios=1 wios=2\n8:16 rbytes=1 wbytes=2 dbytes=9\n";
        assert_eq!(parse_io(io), (11, 22));
        assert_eq!(parse_io(""), (0, 0));
        let pressure = "some avg10=1.25 avg60=0.00 total=5\nfull avg10=9.00 avg60=0 total=1\n";
        assert_eq!(parse_pressure(pressure), Some(1.25));
        assert_eq!(parse_pressure("nonsense"), None);
        let mut added = Added::default();
        added.add_status("Name:\tx\nVmHWM:\t  300 kB\nVmRSS:\t 200 kB\nThreads:\t4\n");
        added.add_status("Name:\tkernel\nThreads:\t1\n");
        assert_eq!((added.memory, added.peak, added.threads), (200 << 10, 300 << 10, 5));
    }
}
