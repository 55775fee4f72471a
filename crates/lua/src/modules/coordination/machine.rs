//! How busy and how full the machine is.

use std::path::Path;
use std::time::Duration;

use mlua::{Lua, Result, Table};

use super::clock;

/// How long the processors are looked at.
const SAMPLE: Duration = Duration::from_millis(100);

const GIB: f64 = 1_073_741_824.0;
const MIB: f64 = 1_048_576.0;

/// Time that the processors spent, and how much of it with nothing to do.
#[derive(Clone, Copy)]
struct Spent {
    all: u64,
    idle: u64,
}

fn parse_stat(text: &str) -> Option<Spent> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; guests are counted in user already
    let all = ticks.iter().take(8).sum();
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some(Spent { all, idle })
}

#[expect(clippy::cast_precision_loss, reason = "amounts for people")]
fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1000.0).round() / 10.0 }
}

/// How busy the processors are, in percent.
pub(super) async fn cpu() -> std::io::Result<f64> {
    let read = async || -> std::io::Result<Spent> {
        let text = tokio::fs::read_to_string("/proc/stat").await?;
        parse_stat(&text).ok_or_else(|| unreadable("/proc/stat"))
    };
    let first = read().await?;
    tokio::time::sleep(SAMPLE).await;
    let second = read().await?;
    let all = second.all.saturating_sub(first.all);
    let idle = second.idle.saturating_sub(first.idle).min(all);
    Ok(share(all - idle, all))
}

fn unreadable(path: &str) -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidData, format!("{path} cannot be understood"))
}

/// Bytes of something, and how many of them are used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Room {
    pub total: u64,
    pub available: u64,
}

impl Room {
    pub fn used(self) -> u64 {
        self.total.saturating_sub(self.available)
    }
    pub fn percent(self) -> f64 {
        share(self.used(), self.total)
    }
}

fn parse_meminfo(text: &str) -> Option<Room> {
    let find = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
    };
    Some(Room { total: find("MemTotal:")?, available: find("MemAvailable:")? })
}

pub(super) async fn memory() -> std::io::Result<Room> {
    let text = tokio::fs::read_to_string("/proc/meminfo").await?;
    parse_meminfo(&text).ok_or_else(|| unreadable("/proc/meminfo"))
}

/// The disk that a path lies on, and what is free of it for anybody.
pub(super) async fn disk(path: &Path) -> std::io::Result<(Room, u64)> {
    let path = path.to_owned();
    let found = tokio::task::spawn_blocking(move || rustix::fs::statvfs(&path)).await;
    let found = found.map_err(std::io::Error::other)??;
    let free = found.f_bavail * found.f_frsize;
    let used = found.f_blocks.saturating_sub(found.f_bfree) * found.f_frsize;
    // What only root may fill counts neither as used nor as free, as `df` sees it.
    Ok((Room { total: used + free, available: free }, found.f_blocks * found.f_frsize))
}

#[expect(clippy::cast_precision_loss, reason = "amounts for people")]
fn amount(bytes: u64, unit: f64) -> f64 {
    (bytes as f64 / unit * 100.0).round() / 100.0
}

pub(super) fn memory_table(lua: &Lua, memory: Room) -> Result<Table> {
    let table = lua.create_table()?;
    table.set("total_mb", amount(memory.total, MIB))?;
    table.set("used_mb", amount(memory.used(), MIB))?;
    table.set("available_mb", amount(memory.available, MIB))?;
    table.set("percent", memory.percent())?;
    Ok(table)
}

pub(super) fn disk_table(lua: &Lua, (disk, size): (Room, u64)) -> Result<Table> {
    let table = lua.create_table()?;
    table.set("total_gb", amount(size, GIB))?;
    table.set("used_gb", amount(disk.used(), GIB))?;
    table.set("free_gb", amount(disk.available, GIB))?;
    table.set("percent", disk.percent())?;
    Ok(table)
}

/// From which percentages on something is a warning, or critical.
const WARNING: f64 = 80.0;
const CRITICAL: f64 = 95.0;

fn judged(percent: f64) -> &'static str {
    match percent {
        percent if percent >= CRITICAL => "critical",
        percent if percent >= WARNING => "warning",
        _ => "healthy",
    }
}

/// How it is with the machine: the worst of its parts, and each of them.
pub(super) async fn health(lua: &Lua) -> Result<Table> {
    let (disk, _) = disk(Path::new("/")).await?;
    let parts =
        [("cpu", cpu().await?), ("memory", memory().await?.percent()), ("disk", disk.percent())];
    let table = lua.create_table()?;
    for (name, percent) in parts {
        let part = lua.create_table()?;
        part.set("status", judged(percent))?;
        part.set("percent", percent)?;
        crate::modules::as_text(lua, &part, "status")?;
        table.set(name, part)?;
    }
    let worst = parts.iter().fold(0.0_f64, |worst, (_, percent)| worst.max(*percent));
    table.set("overall", judged(worst))?;
    table.set("timestamp", clock::seconds(clock::now()))?;
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_is_understood() {
        let spent = parse_stat("cpu  10 0 10 70 10 0 0 0 5 5\ncpu0 1 2 3 4\n").unwrap();
        assert_eq!((spent.all, spent.idle), (100, 80));
        assert!(parse_stat("intr 5").is_none());
        let room =
            parse_meminfo("MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\n").unwrap();
        assert_eq!((room.used(), room.percent()), (750 * 1024, 75.0));
        assert!(parse_meminfo("MemTotal: 1000 kB").is_none());
    }

    #[test]
    fn percentages_are_judged() {
        for (percent, word) in [(0.0, "healthy"), (80.0, "warning"), (95.0, "critical")] {
            assert_eq!(judged(percent), word);
        }
    }
}
