//! The machine that is measured on: what it is, and whether it is quiet.

use std::time::Duration;

use anyhow::Context as _;
use hostler_model::Timestamp;

/// A machine that is busier than this with other things falsifies what is measured.
const BUSY_MAX: f64 = 0.10;
const LOOK: Duration = Duration::from_secs(2);

/// Waits until nothing else uses the processors, or goes on at the deadline; says how busy it was.
pub async fn wait_until_quiet(deadline: Duration) -> anyhow::Result<f64> {
    let begun = tokio::time::Instant::now();
    let mut quiet = 0;
    loop {
        let before = ticks()?;
        tokio::time::sleep(LOOK).await;
        let after = ticks()?;
        let all = (after.0 - before.0).max(1) as f64;
        let busy = 1.0 - (after.1 - before.1) as f64 / all;
        quiet = if busy <= BUSY_MAX { quiet + 1 } else { 0 };
        if quiet == 2 || begun.elapsed() > deadline {
            return Ok(busy);
        }
        if quiet == 0 {
            super::say(&format!("the machine is {:.0} % busy; waiting", busy * 100.0));
        }
    }
}

/// Ticks of all processors: in all, and idle.
fn ticks() -> anyhow::Result<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/stat").context("reading /proc/stat")?;
    let first = text.lines().next().unwrap_or_default();
    let numbers: Vec<u64> =
        first.split_ascii_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
    let idle = numbers.iter().skip(3).take(2).sum();
    Ok((numbers.iter().take(8).sum(), idle))
}

/// What stands above the numbers.
pub fn describe(now: Timestamp, busy: f64) -> anyhow::Result<String> {
    let setting = |name: &str| std::env::var(name).unwrap_or_else(|_| "unknown".to_owned());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = rustix::system::uname();
    let memory = find("/proc/meminfo", "MemTotal:")?;
    let kib: u64 = memory.split_ascii_whitespace().next().unwrap_or("0").parse().unwrap_or(0);
    let lines = [
        ("date", now.to_string()),
        ("commit", format!("`{}`", setting("HOSTLER_BENCH_COMMIT"))),
        ("profile", setting("HOSTLER_BENCH_PROFILE")),
        ("processor", find("/proc/cpuinfo", "model name")?.trim_start_matches([':', ' ']).into()),
        ("cores", cores.to_string()),
        ("memory", format!("{:.1} GiB", kib as f64 / 1024.0 / 1024.0)),
        ("kernel", kernel.release().to_string_lossy().into_owned()),
        ("file system", file_system()),
        ("busy with other things before", format!("{:.0} %", busy * 100.0)),
    ];
    let rows = lines.map(|(name, value)| format!("| {name} | {value} |\n"));
    Ok(format!("| | |\n|---|---|\n{}", rows.concat()))
}

fn find(path: &str, name: &str) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(path).with_context(|| format!("reading {path}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("unknown");
    Ok(line.trim().to_owned())
}

/// Of the temporary directory, where databases and ledgers are written.
fn file_system() -> String {
    let place = std::env::temp_dir();
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let holding = mounts.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (point, kind) = (words.next()?, words.next()?);
        place.starts_with(point).then(|| (point.len(), kind.to_owned()))
    });
    holding.max_by_key(|(length, _)| *length).map_or_else(String::new, |(_, kind)| kind)
}
