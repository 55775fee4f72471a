//! What the kernel says of processes.

use anyhow::Context as _;

/// Memory of one process, in KiB.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Resident, pages shared with others counted in full.
    pub rss: u64,
    /// Resident, shared pages divided by the number of processes that share them.
    pub pss: u64,
    /// Resident and backed by no file.
    pub anonymous: u64,
    /// The most that was ever resident.
    pub peak: u64,
}

pub fn memory(pid: u32) -> anyhow::Result<Memory> {
    let status = read(pid, "status")?;
    let rollup = read(pid, "smaps_rollup")?;
    Ok(Memory {
        rss: field(&status, "VmRSS:"),
        pss: field(&rollup, "Pss:"),
        anonymous: field(&status, "RssAnon:"),
        peak: field(&status, "VmHWM:"),
    })
}

/// The most that was ever resident, in KiB.
pub fn peak(pid: u32) -> anyhow::Result<u64> {
    Ok(field(&read(pid, "status")?, "VmHWM:"))
}

fn read(pid: u32, file: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(format!("/proc/{pid}/{file}"))
        .with_context(|| format!("process {pid} has gone"))
}

fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_ascii_whitespace().next()?.parse().ok()).unwrap_or_default()
}

/// The fields of `stat` after the name.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_ascii_whitespace().map(str::to_owned).collect())
}

pub fn parent(pid: u32) -> Option<u32> {
    stat(pid)?.get(1)?.parse().ok()
}

pub fn is_running(pid: u32) -> bool {
    stat(pid).is_some_and(|fields| fields[0] != "Z" && fields[0] != "X")
}

/// Seconds of processor time of a process, and of those of its children that it has waited for.
pub fn cpu_seconds(pid: u32) -> f64 {
    let fields = stat(pid).unwrap_or_default();
    let ticks: u64 = fields.iter().skip(11).take(4).filter_map(|f| f.parse::<u64>().ok()).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

pub fn pids() -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

pub fn name(pid: u32) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    text.trim().to_owned()
}
